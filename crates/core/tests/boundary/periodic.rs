//! Periodic solutions.

use crate::{error, options, system};
use daedal::scalar::Scalar;
use daedal::{BoundaryProblem, Initial, solve_boundary};

#[test]
fn a_forced_oscillator_has_its_periodic_solution() {
    // x'' + 0.2 x' + 4 x = cos t: x = a cos t + b sin t
    let s = system(&["x", "v"], &[], |t, x, xd, _| vec![xd[0] - x[1], xd[1] + x[1] * 0.2 + x[0] * 4.0 - t.cos()]);
    let tau = std::f64::consts::TAU;
    let problem = BoundaryProblem::new(&s, Initial::new(0.0, &[0.0, 0.0]), Initial::at(tau)).periodic();
    let found = solve_boundary(&problem, &options(1e-9)).unwrap();
    let n = 9.0 + 0.04;
    assert!(error(&found, "x", |t| (3.0 * t.cos() + 0.2 * t.sin()) / n) < 1e-9);
    assert_eq!((found.account.needed, found.account.phase), (2, false));
}

#[test]
fn duffings_oscillator_repeats_itself() {
    // x'' + 0.2 x' + x + x³ = 0.3 cos 1.2 t, against the amplitude of a long run
    let s = system(&["x", "v"], &[], |t, x, xd, _| {
        vec![xd[0] - x[1], xd[1] + x[1] * 0.2 + x[0] + x[0].powi(3) - (t * 1.2).cos() * 0.3]
    });
    let period = std::f64::consts::TAU / 1.2;
    let problem = BoundaryProblem::new(&s, Initial::new(0.0, &[0.0, 0.0]), Initial::at(period)).periodic();
    let found = solve_boundary(&problem, &options(1e-10)).unwrap();
    let start = found.solution.state(0).to_vec();
    let long = daedal::Problem::new(&s, Initial::new(0.0, &[0.0, 0.0]), 60.0 * period);
    let run = daedal::solve(&long, &daedal::RadauIIa::default(), &options(1e-10)).unwrap();
    for j in 0..2 {
        assert!((run.end.x[j] - start[j]).abs() < 1e-4, "{:?} {start:?}", run.end.x);
        assert!((found.solution.end.x[j] - start[j]).abs() < 1e-9);
    }
}

#[test]
fn the_period_of_van_der_pols_oscillator_is_found() {
    let s = system(&["x", "v"], &[], |_, x, xd, _| {
        vec![xd[0] - x[1], xd[1] - (Scalar::square(x[0]) * -1.0 + 1.0) * x[1] + x[0]]
    });
    let problem = BoundaryProblem::new(&s, Initial::new(0.0, &[2.0, 0.0]), Initial::at(6.0)).periodic().free_end();
    for tolerance in [1e-6, 1e-10] {
        let found = solve_boundary(&problem, &options(tolerance)).unwrap();
        // Hairer, Nørsett, Wanner, I.16; more digits by Andersen, Geer (1982)
        let period = found.account.end.unwrap();
        assert!((period - 6.663_286_859_323_1).abs() < 10.0 * tolerance, "{period}");
        assert!(found.account.phase && !found.account.at_rest);
        assert_eq!((found.account.degrees, found.account.needed), (2, 3));
    }
}

#[test]
fn a_pendulum_of_index_three_swings_periodically() {
    // amplitude 90°: the period is 4 K(1/√2) = 7.416298709205487
    let s = system(&["x", "y", "u", "v", "lambda"], &[], |_, x, xd, _| {
        vec![
            xd[0] - x[2],
            xd[1] - x[3],
            xd[2] + x[0] * x[4],
            xd[3] + x[1] * x[4] + 1.0,
            Scalar::square(x[0]) + Scalar::square(x[1]) - 1.0,
        ]
    });
    let start = Initial::new(0.0, &[1.0, 0.0, 0.0, 0.0, 0.0]).fix("y", 0.0).fix("v", 0.0);
    // fixed amplitude: the period belongs to it, and the velocity of the start is the phase
    let end = Initial::at(7.0).guess("x", 1.0);
    let problem = BoundaryProblem::new(&s, start, end).periodic().free_end();
    let found = solve_boundary(&problem, &options(1e-9)).unwrap();
    let period = found.account.end.unwrap();
    assert!((period - 7.416_298_709_205_487).abs() < 1e-7, "{period}");
    assert!(!found.account.phase);
}
