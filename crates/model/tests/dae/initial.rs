//! The start that the sources give is consistent with the equations of the files, and rates at the start are those of the sources.

use super::files::{read, residuals, system};
use daedal::Start;

/// F at the given initial states with these derivatives.
fn at_start(name: &str, derivatives: &[f64]) -> Vec<f64> {
    let model = read(name, &[]);
    let (formulas, initial) = system(&model);
    let states = initial.states.iter().map(|start| match start {
        Start::Fixed(value) | Start::Guess(value) => *value,
        Start::Unknown => panic!("{name} gives no initial value of a state"),
    });
    residuals(formulas, initial.t, &[states.collect(), derivatives.to_vec()])
}

fn assert_vanishes(name: &str, residuals: &[f64], bound: f64) {
    for (k, r) in residuals.iter().enumerate() {
        assert!(r.abs() <= bound, "{name}, equation {}: {r:e}", k + 1);
    }
}

#[test]
fn the_transistor_amplifier_starts_consistently() {
    // rates of the source, printed with ten digits
    let rates = [
        51.338_775,
        51.338_775,
        -166.666_666_666_666_7,
        -24.975_766_7,
        -24.975_766_7,
        -83.333_333_333_333_33,
        -10.005_644_53,
        -10.005_644_53,
    ];
    // the first pair of rates follows from node 2, and so on: currents of the order 1e-4, digits 1e-9
    assert_vanishes("transistor-amplifier", &at_start("transistor-amplifier", &rates), 1e-10);
}

#[test]
fn the_ring_modulator_starts_at_rest() {
    for name in ["ring-modulator", "ring-modulator-index-2"] {
        assert_vanishes(name, &at_start(name, &[0.0; 15]), 0.0);
    }
}

#[test]
fn the_squeezing_mechanism_starts_consistently() {
    let mut rates = [0.0; 20];
    // accelerations of the source
    rates[7] = 14_222.443_919_954_114;
    rates[8] = -10_666.832_939_965_585;
    assert_vanishes("andrews-dae", &at_start("andrews-dae", &rates), 1e-14);
}

#[test]
fn the_car_axis_starts_consistently() {
    let rates = [-0.5, 0.0, -0.5, 0.0, 0.0, -1.0, 0.0, -1.0, 0.0, 0.0];
    assert_vanishes("car-axis-dae", &at_start("car-axis-dae", &rates), 1e-17);
}

#[test]
fn examples_without_closed_solution_start_consistently() {
    // guesses of z and w, and the rates that belong to them
    let z = -1.0f64;
    assert_vanishes("semi-explicit", &at_start("semi-explicit", &[1.5 + z, 1.25 + 0.5 * z.sin() + z, 0.0]), 1e-15);
    let (a, b, c, d, w) = (-0.09f64, 0.3, 0.373, 1.0, -0.8);
    let rates = [c + a * b, d - a, w + a.sin(), 2.0 * w - c * d, 0.0];
    assert_vanishes("hessenberg-3", &at_start("hessenberg-3", &rates), 1e-15);
    // φ' = 1.4 cos²φ − 0.7 sin²φ + √(1 − 1.1025 sin² 2φ) on the branch with cos(2.5 z + φ) > 0
    let phi = -0.5f64;
    let rate = 1.4 * phi.cos().powi(2) - 0.7 * phi.sin().powi(2) + (1.0 - 1.1025 * (2.0 * phi).sin().powi(2)).sqrt();
    let rates = [-phi.sin() * rate, phi.cos() * rate, 0.0];
    assert_vanishes("steering-wheel", &at_start("steering-wheel", &rates), 1e-15);
}

/// The right sides of explicit equations y' = f: F is y' − f.
#[test]
fn rates_at_the_start_are_those_of_the_sources() {
    let starts: [(&str, &[(usize, f64)]); 4] = [
        ("hires", &[(1, -1.7093), (2, 1.71)]),
        ("robertson", &[(1, -0.04), (2, 0.04)]),
        // s (y2 − y1 y2 + y1 − q y1²), (−y2 − y1 y2 + y3)/s, w (y1 − y3)
        ("oregonator", &[(1, 77.27 * (1.0 - 8.375e-6)), (2, -1.0 / 77.27), (3, -0.322)]),
        (
            "pollution",
            &[
                (1, 26.6 * 0.2 * 0.04),
                (2, -26.6 * 0.2 * 0.04),
                (3, 0.0175 * 0.04),
                (4, -26.6 * 0.2 * 0.04 - 0.00035 * 0.04 - 0.0175 * 0.04),
                (5, 2.0 * 0.00086 * 0.1 + 0.00013 * 0.01),
                (7, -0.00168 * 0.1),
                (8, 0.00168 * 0.1 + 0.00013 * 0.01),
                (9, -0.00013 * 0.01),
                (10, 0.00013 * 0.01),
                (16, 0.00035 * 0.04),
            ],
        ),
    ];
    for (name, rates) in starts {
        let n = system(&read(name, &[])).0.states.len();
        let mut wanted = vec![0.0; n];
        for &(k, rate) in rates {
            wanted[k - 1] = rate;
        }
        assert_vanishes(name, &at_start(name, &wanted), 1e-14);
    }
}

#[test]
fn the_stars_attract_each_other_by_their_masses() {
    let model = read("pleiades", &[]);
    let (formulas, initial) = system(&model);
    let value = |start: &Start| match start {
        Start::Fixed(value) => *value,
        _ => panic!("everything is fixed"),
    };
    let z: Vec<f64> = initial.states.iter().map(value).collect();
    let rates: Vec<f64> = initial.derivatives[0].iter().map(value).collect();
    assert_eq!(rates[5..7], [1.75, -1.5]);
    assert_eq!(rates[10..12], [-1.25, 1.0]);
    let attraction = |i: usize, part: usize| -> f64 {
        (0..7)
            .filter(|&j| j != i)
            .map(|j| {
                let distance = (z[j] - z[i]).hypot(z[7 + j] - z[7 + i]);
                (j + 1) as f64 * (z[7 * part + j] - z[7 * part + i]) / distance.powi(3)
            })
            .sum()
    };
    let accelerations: Vec<f64> = (0..14).map(|k| attraction(k % 7, k / 7)).collect();
    assert_vanishes("pleiades", &residuals(formulas, 0.0, &[z.clone(), rates, accelerations]), 1e-15);
}

#[test]
fn antibodies_enter_at_the_boundary() {
    // u_1' = α_1 (u_2 − φ)/(2 Δ) + β_1 (φ − 2 u_1 + u_2)/Δ² with φ = 2, later 0
    let model = read("medical-akzo-nobel", &[]);
    let (formulas, _) = system(&model);
    let z = 1.0 / 200.0;
    let (alpha, beta) = (2.0 * f64::powi(z - 1.0, 3) / 16.0, f64::powi(z - 1.0, 4) / 16.0);
    let states: Vec<f64> = (0..400).map(|k| f64::from(k % 2)).collect();
    for (t, phi) in [(0.0, 2.0), (4.99, 2.0), (5.01, 0.0)] {
        let r = residuals(formulas, t, std::slice::from_ref(&states));
        let wanted = -(alpha * -phi / (2.0 * z) + beta * phi / (z * z));
        assert!((r[0] - wanted).abs() < 1e-10, "{} {wanted}", r[0]);
        assert_vanishes("medical-akzo-nobel", &r[1..], 0.0);
    }
}
