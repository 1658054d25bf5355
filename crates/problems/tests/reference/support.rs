//! Runs of reference problems, for all tests.
#![allow(dead_code)]

use daedal::{Geoms, Options, Problem, Save, Solution, SolveError, Tolerance, solve};
use daedal_problems::{Case, ReferenceValues, find};

pub fn case(name: &str) -> Case {
    find(name).unwrap_or_else(|| panic!("no problem {name}")).case()
}

pub fn options(tolerance: f64) -> Options {
    Options {
        tolerance: Tolerance::new(tolerance, tolerance),
        save: Save::End,
        max_steps: 100_000_000,
        ..Options::default()
    }
}

pub fn run(case: &Case, tend: f64, method: &Geoms, options: &Options) -> Result<Solution, SolveError> {
    solve(&Problem::new(&*case.mechanism, case.initial.clone(), tend), method, options)
}

/// Largest absolute error of the variables that `counts` accepts.
pub fn error(solution: &Solution, reference: &ReferenceValues, counts: impl Fn(&str) -> bool) -> f64 {
    let values = reference.values.iter().filter(|(name, _)| counts(name));
    values.map(|(name, value)| (solution.end_value(name).unwrap() - value).abs()).fold(0.0, f64::max)
}

pub fn is_motion(name: &str) -> bool {
    !is_multiplier(name) && !name.ends_with('\'')
}

pub fn is_multiplier(name: &str) -> bool {
    name.starts_with("lambda") || name.starts_with("mu")
}

/// Slope of log(error) over log(h), between the first and the last pair.
pub fn order(errors: &[(f64, f64)]) -> f64 {
    let ((h0, e0), (h1, e1)) = (errors[0], errors[errors.len() - 1]);
    (e0 / e1).ln() / (h0 / h1).ln()
}
