//! What the benchmarks have in common: the runs, and how to make them.

pub mod peers;

use daedal::method::Decomposition;
use daedal::method::{Method, State, Stepper};
use daedal::motion::{Form, consistent};
use daedal::{Geoms, Options, Problem, Save, Solution, Tolerance, solve};
use daedal_problems::Case;

/// A problem and the tolerance it is solved with.
#[derive(Clone, Copy, Debug)]
pub struct TimedProblem {
    /// Name of the problem.
    pub name: &'static str,
    /// Relative and absolute tolerance.
    pub tolerance: f64,
}

/// The runs that are timed and counted.
pub const RUNS: [TimedProblem; 4] = [
    TimedProblem { name: "pendulum-long", tolerance: 1e-7 },
    TimedProblem { name: "andrews", tolerance: 1e-7 },
    TimedProblem { name: "skateboard-1", tolerance: 1e-7 },
    TimedProblem { name: "wheelset", tolerance: 1e-6 },
];

impl std::fmt::Display for TimedProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} {:e}", self.name, self.tolerance)
    }
}

/// The problem of that name with its default parameters.
pub fn case(name: &str) -> Option<Case> {
    daedal_problems::find(name).map(daedal_problems::ReferenceProblem::case)
}

/// Only the end is kept.
pub fn options(case: &Case, tolerance: f64) -> Options {
    let tolerance = Tolerance::new(tolerance, tolerance);
    Options { tolerance, h0: case.h0, max_steps: 10_000_000, save: Save::End, ..Options::default() }
}

/// GEOMS with these decompositions of the constraints and of the differential part.
pub fn geoms(constraint: Decomposition, differential: Decomposition) -> Geoms {
    Geoms {
        constraint_decomposition: Some(constraint),
        differential_decomposition: Some(differential),
        ..Geoms::default()
    }
}

/// Consistent initial values.
pub fn start(case: &Case) -> State {
    consistent::initialise(&*case.mechanism, &case.initial, Form::StrangenessFree).expect("consistent values").state
}

/// A stepper at the start.
pub fn stepper<'c>(case: &'c Case, method: &Geoms, tolerance: f64) -> Box<dyn Stepper + 'c> {
    method.start(&*case.mechanism, start(case), &options(case, tolerance)).expect("a first decomposition")
}

/// Solve with default options of the method.
pub fn run(case: &Case, tolerance: f64) -> Solution {
    let problem = Problem::new(&*case.mechanism, case.initial.clone(), case.tend);
    solve(&problem, &Geoms::default(), &options(case, tolerance)).expect("a solution")
}

/// Asks a benchmark for one run in a process of its own, so that its instructions can be told.
pub const ONE_RUN: &str = "DAEDAL_BENCH_RUN";

/// Instructions of this program when it is asked for one run; none if valgrind is not installed.
pub fn instructions(asked: &str) -> Option<f64> {
    let own = std::env::current_exe().ok()?;
    let output = std::process::Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(own)
        .env(ONE_RUN, asked)
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}
