//! Hybrid systems: what looking for events costs where there are none, steps and times of published runs.
//!
//! `cargo bench --bench hybrid`; one thread. Instructions are counted by valgrind if it is installed.

use daedal::dae::Equations;
use daedal::hybrid::{Detection, Hybrid, HybridOptions, HybridSolution, Hysteresis, Mode, Transition};
use daedal::scalar::Scalar;
use daedal::{Options, Problem, Tolerance, solve, Initial};
use daedal_bench::{ONE_RUN, instructions};
use daedal_problems::hybrid::belt::{self, Belt};
use daedal_problems::hybrid::bowed_string::{self, BowedString, Sticking};
use daedal_problems::hybrid::{ModeIntegrator, SlidingBy};
use std::time::Instant;

fn main() {
    // one run in a process of its own, so that its instructions can be told
    if let Ok(asked) = std::env::var(ONE_RUN) {
        let words: Vec<&str> = asked.split_whitespace().collect();
        let [system, functions] = words[..] else { panic!("{ONE_RUN}: system, number of functions") };
        watched(system, functions.parse().expect("a number of functions"));
        return;
    }
    let asked: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let tables: [(&str, fn()); 3] = [("checks", checks), ("belt", sliding_mass), ("string", string)];
    for (name, table) in tables {
        if asked.is_empty() || asked.iter().any(|asked| asked == name) {
            table();
        }
    }
}

fn options(tolerance: f64) -> Options {
    Options { tolerance: Tolerance::new(tolerance, tolerance), max_steps: 10_000_000, ..Options::default() }
}

// ------------------------------------------------------------------- checks

/// The equation of van der Pol.
struct VanDerPol;
impl Equations for VanDerPol {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] - x[1];
        r[1] = xdot[1] - (-x[0].square() + 1.0) * x[1] * 5.0 + x[0];
    }
}

/// Masses on a line, with springs that harden.
struct Line(usize);
impl Equations for Line {
    fn dim(&self) -> usize {
        2 * self.0
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let n = self.0;
        let spring = |d: S| d + d * d * d;
        for i in 0..n {
            let left = if i == 0 { t.sin() } else { x[i - 1] };
            let right = if i + 1 == n { S::from(0.0) } else { x[i + 1] };
            r[i] = xdot[i] - x[n + i];
            r[n + i] = xdot[n + i] - spring(left - x[i]) - spring(right - x[i]);
        }
    }
}

/// A run with switching functions that never become zero.
fn watched(system: &str, functions: usize) -> HybridSolution {
    let mut hybrid = Hybrid::new();
    let (mode, n) = match system {
        "van der Pol" | "vanderpol" => (Mode::equations("only", &VanDerPol), 2),
        _ => (Mode::equations("only", &Line(5)), 10),
    };
    let mode = hybrid.mode(mode);
    for k in 0..functions {
        hybrid.transition(Transition::when(mode, mode, "never", move |_, x| 50.0 - x[k % n]));
    }
    let start: Vec<f64> = (0..n).map(|j| if j == 0 { 2.0 } else { 0.0 }).collect();
    let problem = Problem::new(&hybrid, Initial::new(0.0, &start).in_mode(mode), 200.0);
    solve(&problem, &HybridOptions::default(), &options(1e-7)).expect("a run without events")
}

/// Instructions with and without switching functions.
fn checks() {
    println!(
        "event checks, instructions\n{:<14}{:>10}{:>16}{:>16}{:>10}",
        "system", "functions", "without", "with", "ratio"
    );
    for system in ["vanderpol", "line"] {
        let Some(without) = instructions(&format!("{system} 0")) else {
            println!("no instructions: valgrind is not installed");
            return;
        };
        for functions in [1, 4] {
            let Some(with) = instructions(&format!("{system} {functions}")) else { continue };
            println!("{system:<14}{functions:>10}{without:>16.0}{with:>16.0}{:>10.3}", with / without);
        }
    }
    println!();
}

// --------------------------------------------------------------------- belt

/// A mass on a belt, with sliding.
fn sliding_mass() {
    println!(
        "mass on a belt, with sliding\n{:<10}{:>10}{:>10}{:>10}{:>12}",
        "method", "tolerance", "switches", "steps", "ms"
    );
    for method in ModeIntegrator::ALL {
        for tolerance in [1e-6, 1e-8, 1e-10] {
            let hybrid = Belt::default().system(SlidingBy::Generated, method);
            let problem = Problem::new(&hybrid, Initial::new(0.0, &belt::START), belt::TEND);
            let start = Instant::now();
            let limit = HybridOptions { hysteresis: Hysteresis::Limit, ..HybridOptions::default() };
            let solution = solve(&problem, &limit, &options(tolerance)).expect("a run");
            let ms = 1e3 * start.elapsed().as_secs_f64();
            let (switches, steps) = (solution.switches.len(), solution.statistics.steps);
            println!("{:<10}{tolerance:>10.0e}{switches:>10}{steps:>10}{ms:>12.2}", format!("{method:?}"));
        }
    }
    println!();
}

// ------------------------------------------------------------------- string

/// A bowed string of a hundred pieces, without sliding and with it.
fn string() {
    println!(
        "bowed string, N = 100, 1e-8\n{:<10}{:<12}{:>10}{:>10}{:>10}",
        "method", "sticking", "switches", "steps", "s"
    );
    let string = BowedString::default();
    for method in ModeIntegrator::ALL {
        for (sticking, detection) in [(Sticking::Never, Detection::Off), (Sticking::Sliding, Detection::Condition)] {
            let hybrid = string.system(sticking, method);
            let problem = Problem::new(&hybrid, Initial::new(0.0, &string.start()), bowed_string::TEND);
            let start = Instant::now();
            let how = HybridOptions { detection, ..HybridOptions::default() };
            let solution = solve(&problem, &how, &options(1e-8)).expect("a run");
            let seconds = start.elapsed().as_secs_f64();
            let (switches, steps) = (solution.switches.len(), solution.statistics.steps);
            let (method, sticking) = (format!("{method:?}"), format!("{sticking:?}"));
            println!("{method:<10}{sticking:<12}{switches:>10}{steps:>10}{seconds:>10.2}");
        }
    }
}
