//! The solvers of the source, and what a run with one of them gives.

use daedal::formulation::{Formulated, Formulation};
use daedal::method::State;
use daedal::{Bdf, Options, Problem, Save, Solution, SolveError, Statistics, Tolerance, catalogue, solve};
use daedal_problems::{Case, find};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Name in the source, method, formulation.
pub type Solver = (&'static str, &'static str, &'static str);

pub const RADAU_EOM: Solver = ("RADAU5(EoM)", "radau", "eom");
pub const RADAU_EOM1: Solver = ("RADAU5(EoM1)", "radau", "eom1");
pub const RADAU_EOM0: Solver = ("RADAU5(EoM0)", "radau", "eom0");
pub const RADAU_GGL: Solver = ("RADAU5(GGL)", "radau", "ggl");
pub const GEOMS_PSF: Solver = ("GEOMS(psfEoM)", "geoms", "psf");
pub const GEOMS_PSFI: Solver = ("GEOMS(psfEoM+I)", "geoms", "psf+i");
pub const GEOMS_P1: Solver = ("GEOMS(pEoM1)", "geoms", "p1");
pub const GMKSSOL: Solver = ("GMKSSOL(psfEoM)", "gmkssol", "psf");
pub const ODASSL: Solver = ("ODASSL(oEoM)", "bdf", "over");
pub const DASSL: Solver = ("DASSL(EoM0)", "bdf", "eom0");
pub const HEDOP5: Solver = ("HEDOP5", "hedop5", "eom1");
pub const MEXAX: Solver = ("MEXAX", "mexx", "eom1");
pub const MHERK3: Solver = ("MHERK3", "hem3", "eom1");
pub const MHERK5: Solver = ("MHERK5", "hem5", "eom1");

/// How a run went.
pub struct Outcome {
    /// Where it stopped and why, unless it reached the end.
    pub failure: Option<(f64, String)>,
    pub statistics: Statistics,
    /// Largest errors of p, v, λ, relative to max(1, |x|); absent where nothing is known for this time.
    pub errors: Option<[f64; 3]>,
    /// Largest residuals of position, velocity and acceleration level.
    pub residuals: [Option<f64>; 3],
    pub solution: Option<Solution>,
}

impl Outcome {
    pub fn ended(&self) -> bool {
        self.failure.is_none()
    }

    /// Error of positions and velocities, infinite without an end.
    pub fn error(&self) -> f64 {
        self.errors.filter(|_| self.ended()).map_or(f64::INFINITY, |[p, v, _]| p.max(v))
    }

    pub fn error_of_multipliers(&self) -> f64 {
        self.errors.filter(|_| self.ended()).map_or(f64::INFINITY, |[_, _, lambda]| lambda)
    }

    /// The error, or that there is none.
    pub fn cell(&self) -> String {
        if self.ended() { shown(self.error()) } else { "fails".to_string() }
    }
}

/// An error of one digit; what is larger than a third of the motion says nothing but that its phase is lost.
pub fn shown(error: f64) -> String {
    if error > 0.3 { "lost".to_string() } else { format!("{error:.0e}") }
}

/// A case of a reference problem on [t0, tend], with its own references, whatever the parameters do not change.
pub fn case(name: &str, set: &[(&str, f64)], tend: f64) -> Case {
    let set: Vec<(String, f64)> = set.iter().map(|(name, value)| ((*name).to_string(), *value)).collect();
    let mut case = find(name).expect("a problem").case_with(&set).expect("its parameters");
    case.tend = tend;
    case
}

/// A run with at most so many attempts, from a state that is trusted if there is one.
pub fn run_with(
    case: &Case,
    (_, method, formulation): Solver,
    tolerance: f64,
    max_steps: u64,
    trusted: Option<State>,
) -> Outcome {
    let entry = catalogue::find(method).expect("a method");
    let formulation = Formulation::ALL.into_iter().find(|known| known.name() == formulation).expect("a formulation");
    let method = if method == "bdf" {
        // one step may use the whole tolerance, as in DASSL
        Box::new(Formulated { formulation, integrator: Bdf { share: 1.0, ..Bdf::default() } })
    } else {
        entry.with(formulation).expect("a method for this formulation")
    };
    let options = Options {
        tolerance: Tolerance::new(tolerance, tolerance),
        h0: case.h0,
        max_steps,
        save: Save::End,
        ..Options::default()
    };
    let mut problem = Problem::new(&*case.mechanism, case.initial.clone(), case.tend);
    if let Some(state) = trusted {
        problem = problem.trust(state);
    }
    let (solution, failure) = match solve(&problem, &*method, &options) {
        Ok(solution) => (solution, None),
        Err(SolveError::Stopped { cause, partial }) => {
            let t = partial.end.t;
            (*partial, Some((t, cause.to_string())))
        }
        Err(error) => {
            let failure = Some((case.initial.t, error.to_string()));
            let statistics = Statistics::default();
            return Outcome { failure, statistics, errors: None, residuals: [None; 3], solution: None };
        }
    };
    let largest = solution.max_residuals;
    Outcome {
        failure,
        statistics: solution.statistics,
        errors: errors(case, &solution),
        residuals: [largest.position, largest.velocity, largest.acceleration],
        solution: Some(solution),
    }
}

pub fn run(case: &Case, solver: Solver, tolerance: f64) -> Outcome {
    run_with(case, solver, tolerance, u64::MAX, None)
}

fn errors(case: &Case, solution: &Solution) -> Option<[f64; 3]> {
    let known: Vec<_> =
        case.references.iter().filter(|known| known.t == solution.end.t).flat_map(|k| &k.values).collect();
    if known.is_empty() {
        return None;
    }
    let l = &solution.layout;
    Some([l.p(), l.v(), l.lambda()].map(|block| {
        let pairs = block.filter_map(|j| {
            let (_, exact) = known.iter().find(|(name, _)| *name == solution.names[j])?;
            Some((solution.end.x[j] - exact).abs() / exact.abs().max(1.0))
        });
        pairs.fold(0.0, f64::max)
    }))
}

/// Largest error of positions and velocities at the end.
pub fn error_of(case: &Case, solution: &Solution) -> f64 {
    errors(case, solution).map_or(f64::INFINITY, |[p, v, _]| p.max(v))
}

/// Runs of all solvers with all tolerances, on all cores: one list for each solver.
pub fn sweep<T: Send>(
    solvers: &[Solver],
    exponents: &[i32],
    make: impl Fn(Solver, f64) -> T + Sync,
) -> Vec<(Solver, Vec<T>)> {
    let jobs: Vec<(Solver, f64)> =
        solvers.iter().flat_map(|&s| exponents.iter().map(move |&k| (s, 10_f64.powi(-k)))).collect();
    let found: Vec<Mutex<Option<T>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let k = next.fetch_add(1, Ordering::Relaxed)
                    && k < jobs.len()
                {
                    *found[k].lock().expect("no panic") = Some(make(jobs[k].0, jobs[k].1));
                }
            });
        }
    });
    let mut found = found.into_iter().map(|cell| cell.into_inner().expect("no panic").expect("a run"));
    solvers.iter().map(|&solver| (solver, found.by_ref().take(exponents.len()).collect())).collect()
}

/// Rows `solver | cell of every tolerance`.
pub fn rows<T>(swept: &[(Solver, Vec<T>)], cell: impl Fn(&T) -> String) -> Vec<Vec<String>> {
    swept
        .iter()
        .map(|(solver, runs)| std::iter::once(solver.0.to_string()).chain(runs.iter().map(&cell)).collect())
        .collect()
}
