//! Example 5.45: a switch into a mode without freedom.

use super::support::*;
use daedal::hybrid::{HybridError, HybridFailure, HybridOptions, Smoothness};
use daedal::{Initial, Problem, solve};
use daedal_problems::hybrid::ModeIntegrator;
use daedal_problems::hybrid::no_solution::system;

#[test]
fn example_5_45_jumps_to_zero() {
    for method in ModeIntegrator::ALL {
        let hybrid = system(0.5, &[], method);
        let problem = Problem::new(&hybrid, Initial::new(0.0, &[1.0, -2.0]), 1.0);
        let solution = solved(&problem, &tolerance(1e-9), &HybridOptions::default());
        expect(&trajectory(&solution), &[(0.5, 1, 2)], 0.0);
        close(before(&solution, 0, "x1"), 0.5_f64.exp(), 1e-7);
        close(before(&solution, 0, "x2"), -2.0 * 0.5_f64.exp(), 1e-7);
        assert_eq!(solution.end.x[..2], [0.0, 0.0]);
        assert_eq!(solution.switches[0].smoothness, Smoothness::Restart);
        assert_eq!(solution.switches[0].jumps.len(), 2);
    }
}

#[test]
fn example_5_45_has_a_continuous_solution_from_zero_only() {
    for method in ModeIntegrator::ALL {
        let hybrid = system(0.5, &["x1", "x2"], method);
        let from = |x: &[f64]| {
            solve(&Problem::new(&hybrid, Initial::new(0.0, x), 1.0), &HybridOptions::default(), &tolerance(1e-9))
        };
        let zero = from(&[0.0, 0.0]).unwrap();
        assert_eq!(zero.switches[0].smoothness, Smoothness::Smooth);
        let Err(HybridError::Stopped { cause, partial }) = from(&[1.0, -2.0]) else { panic!() };
        let HybridFailure::Enter { mode, cause: inner, .. } = &*cause else { panic!("{cause}") };
        assert_eq!(mode, "index 1");
        assert!(["x1", "x2"].iter().all(|name| inner.to_string().contains(name)), "{cause}");
        assert_eq!(partial.end.t, 0.5);
        close(partial.end.x[0], 0.5_f64.exp(), 1e-7);
    }
}
