//! Drift from the constraints after index reduction: along the index-1 equations
//! g(t) = g₀ + (t − t₀) (G u)₀ and G u = (G u)₀, and errors of the method add up accordingly.
//! Hairer & Wanner, Solving ODEs II, (VII.2.6), theorem 2.1, figure 2.1 and exercise 1 of VII.2.

use super::dormand_prince::{self, DormandPrince};
use super::explicit::{adams_bashforth4, distance, euler, exponent, runge_kutta4};
use super::mechanism::{Mechanism, State, split};
use super::pendulum::{Pendulum, START, closed_form};

/// Right-hand side of the index-1 equations of the pendulum.
fn slope(t: f64, y: &State) -> State {
    Pendulum.slope(t, y)
}

/// |x² + y² − 1| and |x u + y v|.
fn residuals(y: &State) -> [f64; 2] {
    let [g, w] = Pendulum.residuals(0.0, y);
    [2.0 * g, w]
}

/// T9: inconsistent data stay inconsistent, linearly in time.
#[test]
fn inconsistent_data_drift_by_the_law() {
    let start = [1.01, 0.0, 0.02, 0.0];
    let (y, _) = DormandPrince::new(1e-12).integrate(slope, 0.0, start, 2.0, |_, _| {});
    let (q, u) = split(&y);
    let (g, w) = (Pendulum.constraint(0.0, q), Pendulum.velocity_constraint(0.0, q, u));
    // g₀ = (1.01² − 1)/2 = 0.01005, (G u)₀ = 0.0202
    assert!((g - 0.05045).abs() < 1e-9, "{g}");
    assert!((w - 0.0202).abs() < 1e-9, "{w}");
}

/// T8: quadratic drift of the positions and linear drift of the velocities, with the size that the experiment shows.
#[test]
fn dopri5_drifts_quadratically_in_positions_and_linearly_in_velocities() {
    let mut points = Vec::new();
    let (y, cost) = DormandPrince::new(1e-6).integrate(slope, 0.0, START, 100.0, |t, y| points.push((t, *y)));
    println!("{cost:?} {:?} {:e}", residuals(&y), distance(&y, &closed_form(100.0)));
    // 533 accepted and 29 rejected steps
    assert!((cost.accepted as f64 / 533.0 - 1.0).abs() < 0.05, "{cost:?}");
    assert!(cost.rejected < 60, "{cost:?}");
    for (t, position, velocity) in [
        (10.0, 5.7e-5, 6.8e-6),
        (25.0, 4.4e-4, 1.9e-5),
        (50.0, 1.9e-3, 3.9e-5),
        (75.0, 4.3e-3, 6.0e-5),
        (100.0, 7.8e-3, 7.9e-5),
    ] {
        let at = points.iter().find(|point| point.0 >= t).expect("a step after t");
        let [g, w] = residuals(&at.1);
        assert!((0.5..2.0).contains(&(g / position)) && (0.5..2.0).contains(&(w / velocity)), "t = {t}: {g:e} {w:e}");
    }
    for (which, expected) in [(0, 2.0), (1, 1.0)] {
        let late: Vec<_> = points.iter().filter(|p| p.0 > 20.0).map(|p| (p.0, residuals(&p.1)[which])).collect();
        let slope = exponent(&late);
        println!("exponent {slope}");
        assert!((slope - expected).abs() < 0.15, "{slope} where {expected} was expected");
    }
    // the solution itself has lost more than the tolerance
    let error = distance(&y, &closed_form(100.0));
    assert!(error > 1e-3 && error < 1e-1, "{error:e}");
}

/// T17: the explicit Euler method has w' = (1 − h²λ) w − h² v exactly, hence w = −h (y − y₀) + O(h²).
#[test]
fn the_drift_of_explicit_euler_telescopes() {
    let deviations = [0.01, 0.005, 0.0025].map(|h: f64| {
        let (mut y, mut deviation) = (START, 0.0_f64);
        for _ in 0..(20.0 / h).round() as usize {
            let w = y[0] * y[2] + y[1] * y[3];
            let lambda = Pendulum.accelerations(0.0, &y).1;
            let predicted = (1.0 - h * h * lambda) * w - h * h * y[3];
            y = euler(slope, 0.0, &y, h);
            let w = y[0] * y[2] + y[1] * y[3];
            assert!((w - predicted).abs() < 1e-14, "{w} {predicted}");
            deviation = deviation.max((w + h * (y[1] - START[1])).abs());
        }
        deviation / (h * h)
    });
    println!("{deviations:?}");
    // the factor of h² settles
    assert!(deviations.iter().all(|d| (0.5..2.0).contains(&(d / deviations[2]))), "{deviations:?}");
}

/// How residuals grow: largest |x u + y v|, x² + y² − 1 at the end, and the exponents of growth over the last 80 % of the time.
#[derive(Debug)]
struct Growth {
    velocity: f64,
    position: f64,
    exponents: [f64; 2],
}

/// Constant steps up to `end`; residuals are taken as largest so far, so that bounded ones have the exponent 0.
fn growth(end: f64, h: f64, mut step: impl FnMut(&State) -> State) -> Growth {
    let (mut y, mut largest) = (START, [0.0_f64; 2]);
    let mut points = [Vec::new(), Vec::new()];
    let n = (end / h).round() as usize;
    for k in 1..=n {
        y = step(&y);
        let r = residuals(&y);
        for i in 0..2 {
            largest[i] = largest[i].max(r[i]);
            if 5 * k > n {
                points[i].push((k as f64 * h, largest[i]));
            }
        }
    }
    let exponents = [exponent(&points[0]), exponent(&points[1])];
    Growth { velocity: largest[1], position: residuals(&y)[0], exponents }
}

/// Asserts sizes within 15 % and exponents within 0.25.
fn assert_growth(name: &str, growth: &Growth, velocity: f64, position: f64, exponents: [f64; 2]) {
    println!("{name}: {growth:?}");
    assert!((growth.velocity / velocity - 1.0).abs() < 0.15, "{name}: {growth:?}");
    assert!((growth.position / position - 1.0).abs() < 0.15, "{name}: {growth:?}");
    for i in 0..2 {
        assert!((growth.exponents[i] - exponents[i]).abs() < 0.25, "{name}: {growth:?}");
    }
}

#[test]
fn explicit_euler_has_bounded_velocity_residuals() {
    for (h, velocity, position) in [(0.01, 1.0e-2, 0.35), (0.005, 5.0e-3, 0.175), (0.0025, 2.5e-3, 0.088)] {
        let growth = growth(20.0, h, |y| euler(slope, 0.0, y, h));
        assert_growth("Euler", &growth, velocity, position, [1.0, 0.0]);
    }
}

#[test]
fn adams_bashforth_has_bounded_velocity_residuals() {
    for (h, velocity, position) in [(0.1, 1.05e-3, 2.3e-2), (0.05, 6.2e-5, 7.4e-4), (0.025, 3.8e-6, 2.9e-5)] {
        // the exact motion is even in time in q and odd in u; three values before the start
        let mut past = std::array::from_fn(|i| {
            let [x, y, u, v] = closed_form((3 - i) as f64 * h);
            slope(0.0, &[x, y, -u, -v])
        });
        let growth = growth(100.0, h, |y| {
            past = [past[1], past[2], past[3], slope(0.0, y)];
            adams_bashforth4(&past, y, h)
        });
        assert_growth("Adams-Bashforth", &growth, velocity, position, [1.0, 0.0]);
    }
}

#[test]
fn runge_kutta_methods_have_the_generic_growth() {
    for (h, velocity, position) in [(0.1, 7.8e-4, 7.7e-2), (0.05, 4.8e-5, 4.8e-3)] {
        let growth = growth(100.0, h, |y| runge_kutta4(slope, 0.0, y, h));
        assert_growth("Runge-Kutta", &growth, velocity, position, [2.0, 1.0]);
    }
    for (h, velocity, position) in [(0.2, 1.4e-4, 1.4e-2), (0.1, 1.5e-6, 1.4e-4)] {
        let growth = growth(100.0, h, |y| dormand_prince::step(slope, 0.0, y, h, slope(0.0, y)).0);
        assert_growth("Dormand-Prince", &growth, velocity, position, [2.0, 1.0]);
    }
}
