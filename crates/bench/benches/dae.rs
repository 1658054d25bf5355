//! General systems: derivative arrays, what looking for hidden constraints costs where there are none, structure against none, sparse
//! against dense, formulas of hidden constraints against the derivative array.
//!
//! `cargo bench --bench dae`; one thread, minimum of several runs in turn. Instructions are counted by valgrind if it is installed.

use daedal::dae::{Dae, Form, InForm, Pencil, Plain, Point, Unknowns, characterise, prepare, self};
use daedal::graph::{Compiler, Expr, Graph, Interpreted, Kernel};
use daedal::linalg::Matrix;
use daedal::method::Integrator;
use daedal::motion::{self, Compiled, Undefined, consistent};
use daedal::{Geoms, Options, Problem, RadauIIa, Residuals, Save, Solution, Statistics, StepFailure, Tolerance, solve};
use daedal_bench::{ONE_RUN, instructions as count};
use daedal_model::{ModelKind, Model};
use daedal_native::Native;
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::Instant;

fn main() {
    // one run in a process of its own, so that its instructions can be told
    if let Ok(asked) = std::env::var(ONE_RUN) {
        one_run(&asked);
        return;
    }
    // names of tables may be given
    let asked: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let tables: [(&str, fn()); 6] = [
        ("array", array),
        ("detection", detection),
        ("instructions", instructions),
        ("structure", structure),
        ("sizes", sizes),
        ("forms", forms),
    ];
    for (name, table) in tables {
        if asked.is_empty() || asked.iter().any(|asked| asked == name) {
            table();
        }
    }
}

// ------------------------------------------------------------------ models

fn read(name: &str) -> Model {
    let path = format!("{}/../../models/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("a model file");
    Model::read(&path, &text, &[]).expect("a model without mistakes")
}

/// A general system with what a run needs.
struct Loaded {
    system: dae::System,
    compiler: Arc<dyn Compiler>,
    initial: daedal::Initial,
    tend: f64,
    options: Options,
}

/// A compiler behind a handle, so that a system and its user have the same one.
struct Handle(Arc<dyn Compiler>);

impl Compiler for Handle {
    fn compile(&self, graph: &Graph, outputs: &[Expr]) -> Box<dyn Kernel> {
        self.0.compile(graph, outputs)
    }
    fn name(&self) -> &'static str {
        self.0.name()
    }
}

impl Loaded {
    fn new(name: &str, compiler: Arc<dyn Compiler>, tolerance: f64) -> Self {
        let model = read(name);
        let ModelKind::Dae { formulas, initial, .. } = &model.kind else { panic!("a general system") };
        let options = Options {
            tolerance: Tolerance::new(tolerance, tolerance),
            h0: model.solve.h0,
            max_steps: 10_000_000,
            save: Save::End,
            ..Options::default()
        };
        let system = dae::System::new(formulas, Handle(compiler.clone()));
        let tend = model.time.expect("an interval").1;
        Loaded { system, compiler, initial: (**initial).clone(), tend, options }
    }

    /// Analysis, kernels, run.
    fn solve(&self, form: Form) -> Solution<Unknowns> {
        let problem = daedal::Problem::new(&self.system, self.initial.clone(), self.tend);
        solve(&problem, &InForm { form, integrator: &RadauIIa::default() }, &self.options).expect("a solution")
    }

    /// Kernels and run of the equations as they stand, from a point that is known.
    fn plainly(&self, at: &Point) -> Statistics {
        self.integrate(Box::new(Plain::new(self.system.structure(), &self.compiler, daedal::linalg::RankRule::default(), daedal::linalg::Matrices::Auto)), at).0
    }

    /// Counters, and time per accepted step without setting up.
    fn integrate(&self, system: Box<dyn Dae>, at: &Point) -> (Statistics, f64) {
        let mut stepper = RadauIIa::default().start(system, at.clone(), &self.options).expect("a start");
        let start = Instant::now();
        while stepper.state().t < self.tend {
            stepper.advance(self.tend).expect("a step");
        }
        let (seconds, statistics) = (start.elapsed().as_secs_f64(), stepper.statistics());
        (statistics, seconds / statistics.steps as f64)
    }

    fn start(&self) -> Point {
        prepare(&self.system, &self.initial, Form::Auto).expect("a consistent start").at
    }
}

/// Hands out kernels that were made before.
struct Kept {
    compiler: Arc<dyn Compiler>,
    kernels: Mutex<HashMap<(usize, Vec<Expr>), Box<dyn Kernel>>>,
}

impl Kept {
    fn new(compiler: Arc<dyn Compiler>) -> Self {
        Kept { compiler, kernels: Mutex::default() }
    }
}

impl Compiler for Kept {
    fn compile(&self, graph: &Graph, outputs: &[Expr]) -> Box<dyn Kernel> {
        // the same graph every time, since a system puts it together in the same way
        let key = (graph.len(), outputs.to_vec());
        let mut kernels = self.kernels.lock().expect("one thread");
        kernels.entry(key).or_insert_with(|| self.compiler.compile(graph, outputs)).duplicate()
    }
    fn name(&self) -> &'static str {
        self.compiler.name()
    }
}

fn compilers() -> [Arc<dyn Compiler>; 2] {
    [Arc::new(Interpreted), Arc::new(Native)]
}

/// Shortest times of runs that take turns, so that a busy machine slows all of them.
fn in_turn<const K: usize>(repeats: usize, mut runs: [&mut dyn FnMut(); K]) -> [f64; K] {
    let mut best = [f64::MAX; K];
    for _ in 0..repeats {
        for (best, run) in best.iter_mut().zip(&mut runs) {
            let start = Instant::now();
            run();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best
}

// ---------------------------------------------------------- derivative array

/// Andrews: the derivative array of level 2 with its Jacobian against ∂F/∂(x, ẋ).
fn array() {
    const CALLS: u32 = 200;
    println!(
        "{:<14}{:<8}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}",
        "array", "kernel", "F' plain", "F' level 0", "F level 2", "F' level 2", "÷ plain", "÷ level 0"
    );
    for compiler in compilers() {
        let loaded = Loaded::new("andrews-dae", compiler, 1e-6);
        let found = characterise(&loaded.system, &loaded.initial, dae::Depth::default()).expect("an analysis");
        let (n, t) = (loaded.system.dim(), found.t);
        let mut jet = found.jet.clone();
        jet.resize(4 * n, 0.0);
        let (mut array, mut first) = (loaded.system.array(), loaded.system.array());
        let (mut F, mut J) = (vec![0.0; 3 * n], Matrix::zeros(3 * n, 4 * n));
        let mut J0 = Matrix::zeros(n, 2 * n);
        let mut plain = Plain::new(loaded.system.structure(), &loaded.compiler, daedal::linalg::RankRule::default(), daedal::linalg::Matrices::Auto);
        let mut pencil = plain.new_pencil();
        let (x, xdot, jet0) = (jet[..n].to_vec(), jet[n..2 * n].to_vec(), jet[..2 * n].to_vec());
        array.evaluate(2, t, &jet, &mut F).expect("a value");
        array.jacobian(2, t, &jet, &mut J).expect("a value");
        first.jacobian(0, t, &jet0, &mut J0).expect("a value");
        let mut array_again = loaded.system.array();
        array_again.jacobian(2, t, &jet, &mut J).expect("a value");
        let times = in_turn(
            500,
            [
                &mut || (0..CALLS).for_each(|_| plain.pencil(t, &x, &xdot, black_box(&mut pencil)).expect("a value")),
                &mut || (0..CALLS).for_each(|_| first.jacobian(0, t, &jet0, black_box(&mut J0)).expect("a value")),
                &mut || (0..CALLS).for_each(|_| array.evaluate(2, t, &jet, black_box(&mut F)).expect("a value")),
                &mut || (0..CALLS).for_each(|_| array_again.jacobian(2, t, &jet, black_box(&mut J)).expect("a value")),
            ],
        );
        let [plain, zero, values, jacobian] = times.map(|time| 1e6 * time / f64::from(CALLS));
        println!(
            "{:<14}{:<8}{plain:>12.3}{zero:>12.3}{values:>12.3}{jacobian:>12.3}{:>12.2}{:>12.2}",
            "Andrews, μs",
            loaded.compiler.name(),
            (values + jacobian) / plain,
            (values + jacobian) / zero
        );
    }
}

// ---------------------------------------------------------------- index one

/// Index one: with the look at the index against the equations as they stand from a known point.
const INDEX_ONE: [&str; 2] = ["transistor-amplifier", "hires"];

fn index_one(name: &str, compiler: Arc<dyn Compiler>, keep: bool) -> Loaded {
    let compiler: Arc<dyn Compiler> = if keep { Arc::new(Kept::new(compiler)) } else { compiler };
    Loaded::new(name, compiler, 1e-6)
}

fn label(keep: bool) -> &'static str {
    if keep { "before" } else { "in time" }
}

fn detection() {
    println!(
        "\n{:<24}{:<8}{:<10}{:>8}{:>12}{:>12}{:>10}{:>14}{:>14}",
        "index one, 1e-6",
        "kernel",
        "compiled",
        "steps",
        "auto μs",
        "plain μs",
        "ratio",
        "preparing μs",
        "Plain::new μs"
    );
    for name in INDEX_ONE {
        for compiler in compilers() {
            for keep in [false, true] {
                let loaded = index_one(name, compiler.clone(), keep);
                let at = loaded.start();
                let (with, without) = (loaded.solve(Form::Auto).statistics, loaded.plainly(&at));
                assert_eq!((with.steps, with.attempts), (without.steps, without.attempts), "{name}: the same run");
                let [auto, plain, preparing, making] = in_turn(
                    40,
                    [
                        &mut || drop(black_box(loaded.solve(Form::Auto))),
                        &mut || {
                            black_box(loaded.plainly(&at));
                        },
                        &mut || drop(black_box(loaded.start())),
                        &mut || drop(black_box(Plain::new(loaded.system.structure(), &loaded.compiler, daedal::linalg::RankRule::default(), daedal::linalg::Matrices::Auto))),
                    ],
                );
                println!(
                    "{name:<24}{:<8}{:<10}{:>8}{:>12.1}{:>12.1}{:>10.3}{:>14.1}{:>14.1}",
                    loaded.compiler.name(),
                    label(keep),
                    with.steps,
                    1e6 * auto,
                    1e6 * plain,
                    auto / plain,
                    1e6 * preparing,
                    1e6 * making
                );
            }
        }
    }
}

/// The same in instructions, which repeat exactly.
fn instructions() {
    println!(
        "\n{:<24}{:<8}{:<10}{:>14}{:>14}{:>10}",
        "index one, 1e-6", "kernel", "compiled", "auto", "plain", "ratio"
    );
    for name in INDEX_ONE {
        for kernel in ["tape", "native"] {
            for keep in [false, true] {
                let count = |what: &str| count(&format!("{name} {kernel} {keep} {what}"));
                let (Some(nothing), Some(auto), Some(plain)) = (count("nothing"), count("auto"), count("plain")) else {
                    println!("no instructions: valgrind is not installed");
                    return;
                };
                let (auto, plain) = (auto - nothing, plain - nothing);
                println!("{name:<24}{kernel:<8}{:<10}{auto:>14.0}{plain:>14.0}{:>10.3}", label(keep), auto / plain);
            }
        }
    }
}

fn one_run(asked: &str) {
    let words: Vec<&str> = asked.split_whitespace().collect();
    let [name, kernel, keep, what] = words[..] else { panic!("{ONE_RUN}: model, kernel, kept, run") };
    let compiler: Arc<dyn Compiler> = if kernel == "native" { Arc::new(Native) } else { Arc::new(Interpreted) };
    let loaded = index_one(name, compiler, keep == "true");
    // everything that is made once is made here, and counted in every run
    let at = loaded.start();
    match what {
        "auto" => drop(black_box(loaded.solve(Form::Auto))),
        "plain" => drop(black_box(loaded.plainly(&at))),
        _ => {}
    }
}

// ---------------------------------------------------------------- structure

/// Equations of motion solved by GEOMS against the same equations without any structure.
fn structure() {
    const TOLERANCE: f64 = 1e-6;
    println!(
        "\n{:<14}{:<10}{:>8}{:>10}{:>12}{:>12}{:>12}{:>12}{:>12}",
        "1e-6, native", "form", "steps", "μs/step", "total μs", "error p, v", "÷ step", "÷ total", "start μs"
    );
    for (name, count) in [("andrews", 14), ("car-axis", 8)] {
        let case = daedal_bench::case(name).expect("a problem");
        let model = read(name);
        let ModelKind::Motion { formulas, initial, .. } = &model.kind else { panic!("equations of motion") };
        let mechanism = Compiled::new(formulas, Native);
        let options = daedal_bench::options(&case, TOLERANCE);
        let problem = Problem::new(&mechanism, (**initial).clone(), case.tend);
        let loaded = Loaded::new(&format!("{name}-dae"), Arc::new(Kept::new(Arc::new(Native))), TOLERANCE);
        let loaded = Loaded { options: options.clone(), ..loaded };
        let reference = case.references.iter().find(|r| r.t == case.tend).expect("a reference at the end");
        let error = |x: Vec<f64>| {
            let each = x.iter().zip(&reference.values).take(count);
            each.fold(0.0_f64, |most, (x, (_, known))| most.max((x - known).abs() / known.abs().max(1.0)))
        };
        let (with, without) =
            (solve(&problem, &Geoms::default(), &options).expect("a solution"), loaded.solve(Form::Auto));
        let [before, geoms, general, start] = in_turn(
            40,
            [
                &mut || drop(black_box(consistent::initialise(&mechanism, initial, motion::Form::StrangenessFree))),
                &mut || drop(black_box(solve(&problem, &Geoms::default(), &options))),
                &mut || drop(black_box(loaded.solve(Form::Auto))),
                &mut || drop(black_box(loaded.start())),
            ],
        );
        let per_step = |time: f64, statistics: Statistics| 1e6 * time / statistics.steps as f64;
        let steps = [per_step(geoms - before, with.statistics), per_step(general - start, without.statistics)];
        println!(
            "{name:<14}{:<10}{:>8}{:>10.2}{:>12.1}{:>12.1e}{:>12}{:>12}{:>12.1}",
            "GEOMS",
            with.statistics.steps,
            steps[0],
            1e6 * geoms,
            error([with.at_end().p, with.at_end().v].concat()),
            "",
            "",
            1e6 * before
        );
        println!(
            "{name:<14}{:<10}{:>8}{:>10.2}{:>12.1}{:>12.1e}{:>12.2}{:>12.2}{:>12.1}",
            without.layout.form.name(),
            without.statistics.steps,
            steps[1],
            1e6 * general,
            error(without.end.x.clone()),
            steps[1] / steps[0],
            general / geoms,
            1e6 * start
        );
    }
}

// -------------------------------------------------------------------- sizes

/// A system with all entries of its pencil.
struct Dense {
    system: Plain,
    sparse: Pencil,
}

impl Dae for Dense {
    fn dim(&self) -> usize {
        self.system.dim()
    }
    fn new_pencil(&self) -> Pencil {
        let n = self.dim();
        Pencil::dense(n, n)
    }
    fn algebraic(&self, row: usize) -> bool {
        self.system.algebraic(row)
    }
    fn quasilinear(&self) -> bool {
        self.system.quasilinear()
    }
    fn residual(&mut self, stage: usize, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        self.system.residual(stage, t, x, xdot, r)
    }
    fn pencil(&mut self, t: f64, x: &[f64], xdot: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        self.system.pencil(t, x, xdot, &mut self.sparse)?;
        let [E, A] = out.dense_mut();
        self.sparse.E.copy_to(E, 0);
        self.sparse.A.copy_to(A, 0);
        Ok(())
    }
    fn accepted(&mut self, stage: usize, t: f64, x: &mut [f64], xdot: &[f64]) -> Result<(), StepFailure> {
        self.system.accepted(stage, t, x, xdot)
    }
    fn residuals(&self) -> Residuals {
        self.system.residuals()
    }
}

/// Time per step without setting up.
fn sizes() {
    println!(
        "\n{:<22}{:<8}{:<8}{:>6}{:>8}{:>12}{:>16}{:>12}{:>12}",
        "1e-6", "kernel", "pencil", "n", "steps", "Jacobians", "decompositions", "solves", "μs/step"
    );
    for (name, repeats) in [("medical-akzo-nobel", 5), ("pollution", 100), ("pleiades", 60)] {
        for compiler in compilers() {
            let loaded = Loaded::new(name, compiler, 1e-6);
            let at = loaded.start();
            for forced in [false, true] {
                let make = || Plain::new(loaded.system.structure(), &loaded.compiler, daedal::linalg::RankRule::default(), daedal::linalg::Matrices::Auto);
                let sparse = make().new_pencil();
                let is_sparse = sparse.is_sparse();
                if forced && !is_sparse {
                    continue;
                }
                let (mut best, mut counters) = (f64::MAX, Statistics::default());
                for _ in 0..if forced { 1 } else { repeats } {
                    let system: Box<dyn Dae> = if forced {
                        Box::new(Dense { system: make(), sparse: sparse.clone() })
                    } else {
                        Box::new(make())
                    };
                    let (statistics, time) = loaded.integrate(system, &at);
                    (best, counters) = (best.min(time), statistics);
                }
                println!(
                    "{name:<22}{:<8}{:<8}{:>6}{:>8}{:>12}{:>16}{:>12}{:>12.2}",
                    loaded.compiler.name(),
                    if is_sparse && !forced { "sparse" } else { "dense" },
                    loaded.system.dim(),
                    counters.steps,
                    counters.jacobians,
                    counters.decompositions,
                    counters.solves,
                    1e6 * best
                );
            }
        }
    }
}

// -------------------------------------------------------------------- forms

/// Formulas of hidden constraints against the derivative array itself.
fn forms() {
    println!(
        "\n{:<14}{:<14}{:>8}{:>12}{:>12}{:>12}{:>12}{:>12}",
        "1e-6, native", "form", "steps", "Jacobians", "start μs", "μs/step", "÷ step", "residual"
    );
    for (name, repeats) in [("pendulum-dae", 20), ("andrews-dae", 10)] {
        let loaded = Loaded::new(name, Arc::new(Kept::new(Arc::new(Native))), 1e-6);
        let mut first = None;
        for form in [Form::QuasiLinear, Form::DerivativeArray] {
            let solution = loaded.solve(form);
            let [total, start] = in_turn(
                repeats,
                [&mut || drop(black_box(loaded.solve(form))), &mut || {
                    assert!(prepare(&loaded.system, &loaded.initial, form).is_ok())
                }],
            );
            let step = 1e6 * (total - start) / solution.statistics.steps as f64;
            let first = *first.get_or_insert(step);
            let residuals = solution.max_residuals;
            println!(
                "{name:<14}{:<14}{:>8}{:>12}{:>12.1}{step:>12.2}{:>12.2}{:>12.1e}",
                form.name(),
                solution.statistics.steps,
                solution.statistics.jacobians,
                1e6 * start,
                step / first,
                residuals.constraint.into_iter().chain(residuals.hidden).fold(0.0, f64::max)
            );
        }
    }
}
