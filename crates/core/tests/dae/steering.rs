//! E1: steering a point along the circle, index 2, until g_y f_z loses rank. Hairer & Wanner II, (VII.1.9); entries T2 and T3.

use crate::examples::example;
use daedal::Bdf;
use daedal::dae::{Equations, Form, InForm, System};
use daedal::method::Integrator;
use daedal::scalar::Scalar;
use daedal::{Initial, Options, Problem, RadauIIa, SolveError, Tolerance, solve};

example!(
/// y₁' = 0.7 y₂ + sin 2.5z, y₂' = 1.4 y₁ + cos 2.5z, 0 = y₁² + y₂² − 1.
Steering, 3, 3, |t, x, d, r| {
    let (sine, cosine) = (x[2] * 2.5).sin_cos();
    r[0] = d[0] - x[1] * 0.7 - sine;
    r[1] = d[1] - x[0] * 1.4 - cosine;
    r[2] = x[0].square() + x[1].square() - 1.0;
});

/// Angle −0.5, on the branch cos(2.5z + φ) > 0.
fn start() -> Initial {
    let (s, c) = (-0.5_f64).sin_cos();
    Initial::new(0.0, &[c, s, 0.633350871125])
}

/// Where the index-2 condition fails, from this start.
const SINGULAR: f64 = 0.621962170962;

/// z and the singular times of the start φ = 0 on both branches: 2.5z = 0 and 2.5z = π.
const FROM_ZERO: [(f64, f64); 2] = [(0.0, 0.372489707488), (0.4 * std::f64::consts::PI, 1.477287606907)];

#[test]
fn t2_the_trajectory_has_the_tabulated_values() {
    let table = [
        (0.1, [0.944771483381, -0.327729834146, 0.416710827644]),
        (0.2, [0.993076016972, -0.117473505586, 0.146100360615]),
        (0.3, [0.992783052821, 0.119924184511, -0.149167119786]),
        (0.4, [0.944101677850, 0.329654397636, -0.419295517546]),
    ];
    let system = System::of(&Steering);
    let options = Options { tolerance: Tolerance::new(1e-11, 1e-11), ..Options::default() };
    for form in [Form::Auto, Form::QuasiLinear, Form::DerivativeArray] {
        for (t, listed) in table {
            let solution =
                solve(&Problem::new(&system, start(), t), &InForm { form, integrator: &RadauIIa::default() }, &options)
                    .unwrap();
            let error = solution.end.x.iter().zip(listed).map(|(x, e)| (x - e).abs()).fold(0.0, f64::max);
            println!("T2 {form:?} {t}: {error:.1e}");
            assert!(error < 1e-9, "{form:?} at {t}: {error:e}");
        }
    }
}

#[test]
fn t3_the_run_stops_where_the_index_2_condition_fails() {
    let system = System::of(&Steering);
    let problem = Problem::new(&system, start(), 1.0);
    let methods: [&dyn Integrator; 2] = [&RadauIIa::default(), &Bdf::default()];
    for form in [Form::QuasiLinear, Form::DerivativeArray] {
        for (method, tolerance) in [(0, 1e-5), (0, 1e-8), (0, 1e-11), (1, 1e-8), (1, 1e-11)] {
            let options = Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() };
            let error = solve(&problem, &InForm { form, integrator: methods[method] }, &options).unwrap_err();
            let SolveError::Stopped { cause, partial } = &error else { panic!("{error:?}") };
            println!("T3 {form:?} {method} {tolerance:e}: {:.1e} behind; {cause}", partial.end.t - SINGULAR);
            assert!((partial.end.t - SINGULAR).abs() < 1e-6, "{form:?} {method} {tolerance:e}: {}", partial.end.t);
            assert_eq!(cause.time(), partial.end.t);
            assert!(cause.to_string().contains("singular point"), "{cause}");
            assert!(error.to_string().contains("stopped at t = 0.62196"), "{error}");
        }
    }
}

/// Simpson's rule with this many intervals.
fn quadrature(f: impl Fn(f64) -> f64, to: f64, intervals: u32) -> f64 {
    let h = to / f64::from(intervals);
    let weight = |k: u32| {
        if k == 0 || k == intervals {
            1.0
        } else if k % 2 == 1 {
            4.0
        } else {
            2.0
        }
    };
    (0..=intervals).map(|k| weight(k) * f(f64::from(k) * h)).sum::<f64>() * h / 3.0
}

#[test]
fn t3_both_branches_from_the_angle_zero_end_at_their_singular_times() {
    // φ' = 1.4 cos²φ − 0.7 sin²φ ± √(1 − 1.1025 sin² 2φ), singular at sin 2φ = 1/1.05; φ = φ* − u² takes the root away
    let end = 0.5 * (1.0_f64 / 1.05).asin();
    let time = |sign: f64| {
        let rate = |phi: f64| {
            let (s, c) = phi.sin_cos();
            1.4 * c * c - 0.7 * s * s + sign * (1.0 - 1.1025 * (2.0 * phi).sin().powi(2)).max(0.0).sqrt()
        };
        quadrature(|u| 2.0 * u / rate(end - u * u), end.sqrt(), 4000)
    };
    let system = System::of(&Steering);
    for ((z, singular), sign) in FROM_ZERO.into_iter().zip([1.0, -1.0]) {
        assert!((time(sign) - singular).abs() < 2e-12, "{}", time(sign));
        let problem = Problem::new(&system, Initial::new(0.0, &[1.0, 0.0, z]), 2.0);
        for (form, tolerance) in [(Form::QuasiLinear, 1e-8), (Form::DerivativeArray, 1e-8), (Form::Auto, 1e-10)] {
            let options = Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() };
            let error = solve(&problem, &InForm { form, integrator: &RadauIIa::default() }, &options).unwrap_err();
            let SolveError::Stopped { cause, partial } = &error else { panic!("{error:?}") };
            println!("{form:?} {tolerance:e}: {:.1e} behind; {cause}", partial.end.t - singular);
            assert!((partial.end.t - singular).abs() < 1e-6, "{form:?}: {}", partial.end.t);
            assert!(cause.to_string().contains("singular point"), "{cause}");
        }
    }
}
