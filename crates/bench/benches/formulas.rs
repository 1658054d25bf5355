//! Model files against the same models in Rust: counters and time per step; and how compiling grows with the size of a model.
//!
//! `cargo bench --bench formulas`; one thread, minimum of several runs in turn.

use daedal::graph::{Compiler, Interpreted};
use daedal::motion::{Compiled, Form, Mechanism};
use daedal::{Geoms, Initial, Problem, SolveError, Statistics, solve};
use daedal_bench::options;
use daedal_model::{ModelKind, Model};
use daedal_native::Native;
use daedal_problems::Case;
use std::time::Instant;

fn main() {
    // one size in a process of its own, so that its memory can be told
    if let Ok(links) = std::env::var(LINKS) {
        one_size(links.parse().expect("a number of links"));
        return;
    }
    runs();
    growth();
}

/// Asks for one row of the table of sizes.
const LINKS: &str = "DAEDAL_BENCH_LINKS";

fn read(name: &str, set: &[(String, f64)]) -> (Model, f64) {
    let path = format!("{}/../../models/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("a model file");
    let start = Instant::now();
    let model = Model::read(&path, &text, set).expect("a model without mistakes");
    (model, start.elapsed().as_secs_f64())
}

fn compiled(model: &Model, compiler: impl Compiler + 'static) -> Compiled {
    let ModelKind::Motion { formulas, .. } = &model.kind else { panic!("equations of motion") };
    Compiled::new(formulas, compiler)
}

fn initial(model: &Model) -> Initial {
    let ModelKind::Motion { initial, .. } = &model.kind else { panic!("equations of motion") };
    (**initial).clone()
}

/// Counters, seconds.
fn run(case: &Case, mechanism: &dyn Mechanism, initial: &Initial, tolerance: f64) -> (Statistics, f64) {
    let problem = Problem::new(mechanism, initial.clone(), case.tend);
    let options = options(case, tolerance);
    let start = Instant::now();
    let outcome = solve(&problem, &Geoms::default(), &options);
    let seconds = start.elapsed().as_secs_f64();
    match outcome {
        Ok(solution) => (solution.statistics, seconds),
        Err(SolveError::Stopped { partial, .. }) => (partial.statistics, seconds),
        Err(error) => panic!("{error}"),
    }
}

/// Time per accepted step: Rust, tape, native code.
fn runs() {
    println!(
        "{:<26}{:>9}{:>8}{:>10}{:>12}{:>12}{:>12}{:>12}",
        "model", "tol", "steps", "counters", "Rust μs", "tape ÷", "native ÷", "compile ms"
    );
    let list = [
        ("andrews", 1e-7),
        ("pendulum", 1e-7),
        ("slider-crank", 1e-7),
        ("skateboard-1", 1e-7),
        ("car-axis", 1e-7),
        ("truck", 1e-7),
        ("flexible-slider-crank", 1e-6),
        ("wheelset", 1e-6),
    ];
    for (name, tolerance) in list {
        let case = daedal_bench::case(name).expect("a problem");
        let (model, _) = read(name, &[]);
        let given = initial(&model);
        let tape = compiled(&model, Interpreted);
        let native = compiled(&model, Native);
        let start = Instant::now();
        drop(native.array(Form::StrangenessFree, false));
        let compiling = start.elapsed().as_secs_f64();
        let mut best = [f64::MAX; 3];
        let mut counters = [Statistics::default(); 3];
        // in turn, so that a busy machine slows all of them
        let repeats = if name == "wheelset" { 5 } else { 25 };
        for _ in 0..repeats {
            let systems: [(&dyn Mechanism, &Initial); 3] =
                [(&*case.mechanism, &case.initial), (&tape, &given), (&native, &given)];
            for (k, (mechanism, initial)) in systems.into_iter().enumerate() {
                let (statistics, seconds) = run(&case, mechanism, initial, tolerance);
                counters[k] = statistics;
                best[k] = best[k].min(seconds / statistics.steps as f64);
            }
        }
        let same = if counters[0] == counters[1] && counters[0] == counters[2] { "same" } else { "differ" };
        println!(
            "{name:<26}{tolerance:>9.0e}{:>8}{same:>10}{:>12.2}{:>12.2}{:>12.2}{:>12.2}",
            counters[0].steps,
            1e6 * best[0],
            best[1] / best[0],
            best[2] / best[0],
            1e3 * compiling
        );
    }
}

/// A chain of N links: reading, deriving, compiling, memory.
fn growth() {
    println!(
        "\n{:<8}{:>10}{:>14}{:>14}{:>16}{:>20}",
        "links", "nodes", "reading ms", "deriving ms", "+ compiling ms", "peak of memory MB"
    );
    let own = std::env::current_exe().expect("this program");
    for links in [1, 25, 50, 100, 200, 400] {
        let done = std::process::Command::new(&own).env(LINKS, links.to_string()).status();
        assert!(done.is_ok_and(|status| status.success()), "a chain of {links} links");
    }
}

fn one_size(links: f64) {
    let (model, reading) = read("chain", &[("N".to_string(), links)]);
    let mut best = [f64::MAX; 2];
    let mut nodes = 0;
    for _ in 0..5 {
        let tape = compiled(&model, Interpreted);
        let start = Instant::now();
        nodes = tape.nodes(Form::StrangenessFree, false);
        best[0] = best[0].min(start.elapsed().as_secs_f64());
        drop(tape);
        let native = compiled(&model, Native);
        let start = Instant::now();
        native.nodes(Form::StrangenessFree, false);
        best[1] = best[1].min(start.elapsed().as_secs_f64());
    }
    println!(
        "{links:<8}{nodes:>10}{:>14.2}{:>14.2}{:>16.2}{:>20.1}",
        1e3 * reading,
        1e3 * best[0],
        1e3 * best[1],
        peak()
    );
}

/// Most memory that this process has had, in megabytes.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.split_whitespace().next().and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}
