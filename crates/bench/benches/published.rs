//! Which runs of the published comparisons reach their end: slider crank on [0, 10000], singular slider crank, academic example on
//! [0, 2], lolly for several β, and the redundant slider crank with its times. Steinbrecher, thesis (2006), section 5.3.
//!
//! `cargo bench --bench published`, with names of tables behind `--` for some of them, and `3..9` for tolerances from 1e-3 to 1e-9 only. Runs that are not timed are made on all cores; a
//! run that takes longer than a minute, or as many seconds as `DAEDAL_BENCH_LIMIT` says, is given up.

use daedal::catalogue;
use daedal::formulation::{Formulated, Formulation};
use daedal::Geoms;
use daedal::method::Decomposition;
use daedal::{Observer, StepView};
use daedal::{Bdf, Ended, Options, Problem, Save, Solution, SolveError, Tolerance, solve, solve_observed};
use daedal_problems::slider_crank::EXACT;
use daedal_problems::{Case, ReferenceValues, find};
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let tables: [(&str, fn()); 6] = [
        ("slider", slider),
        ("singular", singular),
        ("academic", academic),
        ("lolly", lolly),
        ("pendulum", pendulum),
        ("redundant", redundant),
    ];
    for (name, table) in tables {
        if asked.iter().all(|asked| asked.contains("..")) || asked.iter().any(|asked| asked == name) {
            table();
        }
    }
}

/// A method on a formulation, with the name that the source gives it.
type Solver = (&'static str, &'static str, &'static str);

const RADAU_EOM: Solver = ("RADAU5(EoM)", "radau", "eom");
const RADAU_EOM1: Solver = ("RADAU5(EoM1)", "radau", "eom1");
const RADAU_EOM0: Solver = ("RADAU5(EoM0)", "radau", "eom0");
const RADAU_GGL: Solver = ("RADAU5(GGL)", "radau", "ggl");
const GEOMS_PSF: Solver = ("GEOMS(psfEoM)", "geoms", "psf");
const GEOMS_PSFI: Solver = ("GEOMS(psfEoM+I)", "geoms", "psf+i");
const GEOMS_P1: Solver = ("GEOMS(pEoM1)", "geoms", "p1");
const GMKSSOL: Solver = ("GMKSSOL(psfEoM)", "gmkssol", "psf");
const ODASSL: Solver = ("ODASSL(oEoM)", "bdf", "over");
const DASSL: Solver = ("DASSL(EoM0)", "bdf", "eom0");
const HEDOP5: Solver = ("HEDOP5", "hedop5", "eom1");
const MEXX: Solver = ("MEXAX", "mexx", "eom1");
const MHERK3: Solver = ("MHERK3", "hem3", "eom1");
const MHERK5: Solver = ("MHERK5", "hem5", "eom1");

/// What a run gave.
struct Outcome {
    /// Did it reach the end?
    ended: Result<(), String>,
    /// Where it stopped.
    t: f64,
    steps: u64,
    /// Largest errors of p, v, λ relative to max(1, |x|).
    errors: Option<[f64; 3]>,
    /// Largest residuals of position, velocity, acceleration level.
    residuals: [Option<f64>; 3],
    /// Energy at the end against the start, where the system has an invariant.
    end: Vec<f64>,
}

/// Gives a run up after a while.
struct Patience(Instant);

impl<L> Observer<L> for Patience {
    fn observe(&mut self, _: &StepView<L>) -> ControlFlow<()> {
        if self.0.elapsed() > limit() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn limit() -> Duration {
    let seconds = std::env::var("DAEDAL_BENCH_LIMIT").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(60))
}

fn run(case: &Case, (_, method, formulation): Solver, tolerance: f64) -> Option<Outcome> {
    let entry = catalogue::find(method)?;
    let formulation = Formulation::ALL.into_iter().find(|known| known.name() == formulation)?;
    let method = if method == "bdf" {
        // one step may use the whole tolerance, as in DASSL
        Box::new(Formulated { formulation, integrator: Bdf { share: 1.0, ..Bdf::default() } })
    } else {
        entry.with(formulation).ok()?
    };
    let options = Options {
        tolerance: Tolerance::new(tolerance, tolerance),
        h0: case.h0,
        max_steps: u64::MAX,
        save: Save::End,
        ..Options::default()
    };
    let problem = Problem::new(&*case.mechanism, case.initial.clone(), case.tend);
    let started = Instant::now();
    let outcome = solve_observed(&problem, &*method, &options, &mut [&mut Patience(started)]);
    let refused = |error: SolveError| Outcome {
        ended: Err(chain(&error)),
        t: case.initial.t,
        steps: 0,
        errors: None,
        residuals: [None; 3],
        end: Vec::new(),
    };
    let (solution, ended) = match outcome {
        Ok(solution) if solution.ended == Ended::ByObserver => (solution, Err("given up".to_string())),
        Ok(solution) => (solution, Ok(())),
        Err(SolveError::Stopped { cause, partial }) => (*partial, Err(cause.to_string())),
        Err(error) => return Some(refused(error)),
    };
    let largest = solution.max_residuals;
    Some(Outcome {
        ended,
        t: solution.end.t,
        steps: solution.statistics.steps,
        errors: errors(case, &solution),
        residuals: [largest.position, largest.velocity, largest.acceleration],
        end: solution.end.x.clone(),
    })
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

fn errors(case: &Case, solution: &Solution) -> Option<[f64; 3]> {
    let reference = case.references.iter().find(|reference| reference.t == solution.end.t)?;
    let l = &solution.layout;
    Some([l.p(), l.v(), l.lambda()].map(|block| {
        let pairs = block.filter_map(|j| {
            let (_, exact) = reference.values.iter().find(|(name, _)| *name == solution.names[j])?;
            Some((solution.end.x[j] - exact).abs() / exact.abs().max(1.0))
        });
        pairs.fold(0.0, f64::max)
    }))
}

/// All runs, on all cores, in the order in which they are asked for.
fn all(case: &Case, runs: &[(Solver, f64)]) -> Vec<Option<Outcome>> {
    let next = AtomicUsize::new(0);
    let outcomes: Vec<Mutex<Option<Outcome>>> = runs.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(&(solver, tolerance)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let k = runs.iter().position(|run| *run == (solver, tolerance)).unwrap_or(0);
                    if let Ok(mut place) = outcomes[k].lock() {
                        *place = run(case, solver, tolerance);
                    }
                }
            });
        }
    });
    outcomes.into_iter().map(|outcome| outcome.into_inner().ok().flatten()).collect()
}

/// The exponents that are asked for, among those of a table.
fn asked(all: RangeInclusive<i32>) -> RangeInclusive<i32> {
    let given = std::env::args().find_map(|argument| {
        let (from, to) = argument.split_once("..")?;
        Some((from.parse::<i32>().ok()?, to.parse::<i32>().ok()?))
    });
    given.map_or(all.clone(), |(from, to)| from.max(*all.start())..=to.min(*all.end()))
}

/// Two rows for each solver, with errors and numbers of steps, one column for each tolerance.
fn table(case: &Case, solvers: &[Solver], exponents: RangeInclusive<i32>) {
    let exponents = asked(exponents);
    let runs: Vec<(Solver, f64)> = solvers
        .iter()
        .flat_map(|&solver| exponents.clone().map(move |exponent| (solver, 10.0_f64.powi(-exponent))))
        .collect();
    let outcomes = all(case, &runs);
    print!("{:<18}", "");
    exponents.clone().for_each(|exponent| print!("{:>10}", format!("1e-{exponent}")));
    println!();
    let columns = exponents.count();
    let mut reasons = Vec::new();
    for (solver, row) in solvers.iter().zip(outcomes.chunks(columns)) {
        print!("{:<18}", solver.0);
        for (outcome, (_, tolerance)) in row.iter().zip(&runs) {
            let cell = match outcome {
                None => "-".to_string(),
                Some(Outcome { ended: Ok(()), errors: Some([p, v, _]), .. }) => format!("{:.0e}", p.max(*v)),
                Some(Outcome { ended: Ok(()), .. }) => "end".to_string(),
                Some(outcome) => {
                    let why = outcome.ended.as_ref().err().cloned().unwrap_or_default();
                    reasons.push(format!("{} {tolerance:e}: {why}", solver.0));
                    format!("({:.3})", outcome.t)
                }
            };
            print!("{cell:>10}");
        }
        println!();
        print!("{:<18}", "");
        for outcome in row {
            let steps = outcome.as_ref().map_or(String::new(), |outcome| outcome.steps.to_string());
            print!("{steps:>10}");
        }
        println!();
    }
    reasons.iter().for_each(|reason| println!("  {reason}"));
    println!();
}

fn case(name: &str, set: &[(&str, f64)], tend: f64) -> Case {
    let set: Vec<(String, f64)> = set.iter().map(|(name, value)| ((*name).to_string(), *value)).collect();
    let mut case = find(name).expect("a problem").case_with(&set).expect("its parameters");
    case.tend = tend;
    case
}

fn slider() {
    println!("slider crank, [0, 10000]: largest error of p and v at the end, or where it stopped\n");
    let mut case = case("slider-crank", &[], 10_000.0);
    case.h0 = None;
    case.references.clear();
    for (t, state) in EXACT.iter().filter(|(t, _)| *t == case.tend) {
        let values = ["phi1", "phi2", "omega1", "omega2"].map(String::from).into_iter().zip(*state).collect();
        case.references.push(ReferenceValues { t: *t, values, accuracy: 1e-12, source: "quadrature of the energy integral" });
    }
    let solvers =
        [RADAU_EOM1, RADAU_GGL, GEOMS_PSF, GMKSSOL, GEOMS_P1, ODASSL, DASSL, RADAU_EOM0, RADAU_EOM, HEDOP5, MEXX];
    table(&case, &solvers, 3..=14);
}

fn singular() {
    println!("slider crank with equal arms, [0, 2], tolerance 1e-6: where it stopped\n");
    let case = case("slider-crank-equal-arms", &[], 2.0);
    let solvers = [
        RADAU_EOM1, GEOMS_PSF, GEOMS_P1, GEOMS_PSFI, GMKSSOL, RADAU_EOM0, RADAU_EOM, RADAU_GGL, DASSL, ODASSL, HEDOP5,
        MEXX,
    ];
    table(&case, &solvers, 6..=6);
}

fn academic() {
    for tend in [1.5, 2.0] {
        println!("academic example, [0, {tend}]\n");
        let case = case("academic", &[], tend);
        table(&case, &[DASSL, ODASSL, RADAU_EOM1, RADAU_GGL, GEOMS_P1, GEOMS_PSF, RADAU_EOM0, RADAU_EOM], 1..=14);
    }
}

fn lolly() {
    for beta in [4.0, 6.0, 10.0] {
        println!("lolly, beta = {beta}, [0, 10]\n");
        // the motion does not depend on β
        let references = case("lolly", &[], 10.0).references;
        let case = Case { references, ..case("lolly", &[("beta", beta)], 10.0) };
        let solvers = [
            DASSL, GEOMS_PSFI, GEOMS_PSF, RADAU_EOM1, ODASSL, RADAU_GGL, GMKSSOL, GEOMS_P1, RADAU_EOM0, RADAU_EOM,
            HEDOP5, MEXX, MHERK5, MHERK3,
        ];
        table(&case, &solvers, 4..=12);
    }
}

fn pendulum() {
    println!("pendulum, [0, 1000], tolerance 1e-7: residuals and energy at the end\n");
    let case = case("pendulum-long", &[], 1000.0);
    let solvers = [
        GEOMS_PSFI, GEOMS_PSF, GEOMS_P1, GMKSSOL, RADAU_EOM1, RADAU_GGL, RADAU_EOM0, RADAU_EOM, ODASSL, DASSL, MEXX,
        HEDOP5, MHERK5, MHERK3,
    ];
    let runs: Vec<(Solver, f64)> = solvers.iter().map(|&solver| (solver, 1e-7)).collect();
    println!("{:<18}{:>9}{:>10}{:>10}{:>10}{:>10}{:>10}", "", "steps", "g", "gI", "gII", "energy", "error");
    for (solver, outcome) in solvers.iter().zip(all(&case, &runs)) {
        let Some(outcome) = outcome else { continue };
        if let Err(why) = &outcome.ended {
            println!("{:<18}{:>9} t = {}: {why}", solver.0, outcome.steps, outcome.t);
            continue;
        }
        // E = |v|²/2 + g y, zero at the start: the layout is a, λ, v, p
        let gravity = 13.750_371_636_040_745;
        let x = &outcome.end;
        let energy = 0.5 * (x[3] * x[3] + x[4] * x[4]) + gravity * x[6];
        let level = |k: usize| outcome.residuals[k].map_or("-".to_string(), |r| format!("{r:.1e}"));
        let error = outcome.errors.map_or("-".to_string(), |[p, _, _]| format!("{p:.1e}"));
        println!(
            "{:<18}{:>9}{:>10}{:>10}{:>10}{energy:>10.1e}{error:>10}",
            solver.0,
            outcome.steps,
            level(0),
            level(1),
            level(2)
        );
    }
    println!();
}

/// Times of one thread, the least of five.
fn redundant() {
    println!("slider crank with redundant constraints, [0, 100]: seconds, error of p and v\n");
    let case = case("slider-crank-redundant", &[], 100.0);
    let svd = Geoms { constraint_decomposition: Some(Decomposition::Svd), ..Geoms::default() };
    let gmkssol = catalogue::find("gmkssol").and_then(|entry| entry.with(entry.usual()).ok());
    println!("{:<10}{:>24}{:>24}{:>10}", "", "GEOMS, SVD", "GMKSSOL", "ratio");
    for exponent in 3..=10 {
        let tolerance = 10.0_f64.powi(-exponent);
        let options =
            Options { tolerance: Tolerance::new(tolerance, tolerance), max_steps: u64::MAX, ..Options::default() };
        let problem = Problem::new(&*case.mechanism, case.initial.clone(), case.tend);
        let time = |make: &dyn Fn() -> Option<Solution>| {
            let mut least = f64::INFINITY;
            let mut error = f64::NAN;
            for _ in 0..5 {
                let started = Instant::now();
                let Some(solution) = make() else { return (f64::NAN, f64::NAN) };
                least = least.min(started.elapsed().as_secs_f64());
                error = errors(&case, &solution).map_or(f64::NAN, |[p, v, _]| p.max(v));
            }
            (least, error)
        };
        let (geoms, geoms_error) = time(&|| solve(&problem, &svd, &options).ok());
        let (gmk, gmk_error) = time(&|| solve(&problem, gmkssol.as_deref()?, &options).ok());
        println!(
            "1e-{exponent:<7}{:>24}{:>24}{:>10.2}",
            format!("{geoms:.4} {geoms_error:.0e}"),
            format!("{gmk:.4} {gmk_error:.0e}"),
            gmk / geoms
        );
    }
    println!();
}
