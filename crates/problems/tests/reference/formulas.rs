//! Models written in Rust and their formulas, traced and run on tapes of any scalar.

use daedal::motion::{Mechanism, Taped};
use daedal::{Geoms, Options, Problem, SolveError, Statistics, Tolerance, solve};
use daedal_problems::{Case, all};

fn counters(case: &Case, mechanism: &dyn Mechanism, tolerance: f64) -> Statistics {
    let problem = Problem::new(mechanism, case.initial.clone(), case.tend);
    let options = Options { tolerance: Tolerance::new(tolerance, tolerance), h0: case.h0, ..Options::default() };
    match solve(&problem, &Geoms::default(), &options) {
        Ok(solution) => solution.statistics,
        Err(SolveError::Stopped { partial, .. }) => partial.statistics,
        Err(error) => panic!("{error}"),
    }
}

/// Tapes of any scalar do the same arithmetic as the models: every bit agrees, and with it every counter.
#[test]
fn traced_models_run_with_the_same_counters() {
    for problem in all() {
        let mut case = problem.case();
        // a tenth of the long runs: tapes of nested derivatives are slow
        case.tend = case.initial.t + 0.1 * (case.tend - case.initial.t);
        let formulas = case.mechanism.formulas().unwrap_or_else(|| panic!("{} has no formulas", problem.name));
        let taped = Taped::new(&formulas);
        let (own, traced) = (counters(&case, &*case.mechanism, 1e-5), counters(&case, &taped, 1e-5));
        assert_eq!(own, traced, "{}", problem.name);
    }
}
