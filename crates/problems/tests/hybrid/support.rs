//! How the problems are run and compared.

use daedal::hybrid::{Detection, Hybrid, HybridError, HybridOptions, HybridSolution, Hysteresis};
use daedal::{Options, Problem, Save, Tolerance, solve};

/// Options with one tolerance.
pub fn tolerance(tol: f64) -> Options {
    Options { tolerance: Tolerance::new(tol, tol), ..Options::default() }
}

/// With polynomials.
pub fn dense(tol: f64) -> Options {
    Options { save: Save::Dense, ..tolerance(tol) }
}

/// How sliding is looked for.
pub fn detection(detection: Detection) -> HybridOptions {
    HybridOptions { detection, ..HybridOptions::default() }
}

/// A hysteresis is a remedy against chattering, as in the published runs: its limit is wanted.
pub fn limit() -> HybridOptions {
    HybridOptions { hysteresis: Hysteresis::Limit, ..HybridOptions::default() }
}

/// A run that must reach its end.
#[track_caller]
pub fn solved(problem: &Problem<Hybrid>, options: &Options, hybrid: &HybridOptions) -> HybridSolution {
    solve(problem, hybrid, options).unwrap_or_else(|error| match error {
        HybridError::Stopped { cause, partial } => {
            panic!("{cause}\n{} switches, the last {:?}", partial.switches.len(), partial.switches.last())
        }
        error => panic!("{error}"),
    })
}

/// Time, mode left and mode entered of all switches, modes counted from 1.
pub fn trajectory(solution: &HybridSolution) -> Vec<(f64, usize, usize)> {
    solution.switches.iter().map(|s| (s.t, s.from + 1, s.to + 1)).collect()
}

/// The switches must be these.
#[track_caller]
pub fn expect(found: &[(f64, usize, usize)], wanted: &[(f64, usize, usize)], accuracy: f64) {
    let same = |(found, wanted): (&(f64, usize, usize), &(f64, usize, usize))| {
        (found.0 - wanted.0).abs() <= accuracy && (found.1, found.2) == (wanted.1, wanted.2)
    };
    let all = found.len() == wanted.len() && found.iter().zip(wanted).all(same);
    let list = |switches: &[(f64, usize, usize)]| {
        switches.iter().take(40).map(|(t, from, to)| format!("{t:.9} {from}→{to}")).collect::<Vec<_>>().join(", ")
    };
    assert!(all, "\nfound  {} {}\nwanted {} {}", found.len(), list(found), wanted.len(), list(wanted));
}

/// Value of an unknown before a switch.
#[track_caller]
pub fn before(solution: &HybridSolution, switch: usize, name: &str) -> f64 {
    let switch = &solution.switches[switch];
    place(solution, switch.from, name).map_or_else(|| panic!("no {name}"), |j| switch.before[j])
}

/// Value of an unknown after a switch.
#[track_caller]
pub fn after(solution: &HybridSolution, switch: usize, name: &str) -> f64 {
    let switch = &solution.switches[switch];
    place(solution, switch.to, name).map_or_else(|| panic!("no {name}"), |j| switch.after[j])
}

fn place(solution: &HybridSolution, mode: usize, name: &str) -> Option<usize> {
    solution.modes[mode].unknowns.iter().position(|n| n == name)
}

/// The two numbers must be equal up to `accuracy`.
#[track_caller]
pub fn close(found: f64, wanted: f64, accuracy: f64) {
    assert!((found - wanted).abs() <= accuracy, "{found} is not {wanted} up to {accuracy:e}");
}
