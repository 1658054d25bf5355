//! A model through all forms and methods that accept it.

use crate::drawn::Drawn;
use daedal::dae::{Form, InForm, System};
use daedal::formulation::Formulation;
use daedal::hybrid::HybridSolution;
use daedal::motion::{Compiled, consistent};
use daedal::{Options, Save, Tolerance, analysis, catalogue, motion};
use daedal_model::{HybridModel, Methods, Model, ModelKind};
use daedal_native::Native;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

/// Tolerance of all runs.
pub const TOLERANCE: f64 = 1e-7;
/// Errors up to this many tolerances are agreement.
const AGREEMENT: f64 = 100.0;
/// Values are looked at in this many points.
const POINTS: usize = 7;
/// More steps than any of these models needs.
const MOST_STEPS: u64 = 20_000;

/// What one way of solving a model came to.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Form or formulation, and method.
    pub way: String,
    pub outcome: Outcome,
    /// Seconds.
    pub took: f64,
}

#[derive(Clone, Debug)]
pub enum Outcome {
    /// Largest error in tolerances, of which value and when.
    Right(f64),
    Wrong {
        error: f64,
        name: String,
        t: f64,
        found: f64,
        exact: f64,
    },
    Refused(String),
    Panicked(String),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::Right(error) => write!(f, "{}: right, {error:.2} tolerances", self.way),
            Outcome::Wrong { error, name, t, found, exact } => {
                write!(f, "{}: {name}({t}) = {found}, exact {exact}: {error:.3e} tolerances", self.way)
            }
            Outcome::Refused(reason) => write!(f, "{}: refused, {reason}", self.way),
            Outcome::Panicked(message) => write!(f, "{}: panicked, {message}", self.way),
        }
    }
}

impl Answer {
    /// Neither right nor refused?
    pub fn is_wrong(&self) -> bool {
        matches!(self.outcome, Outcome::Wrong { .. } | Outcome::Panicked(_))
    }

    pub fn is_refused(&self) -> bool {
        matches!(self.outcome, Outcome::Refused(_))
    }
}

/// Names with values at times.
type Values = Vec<(f64, Vec<(String, f64)>)>;

/// Seeds from here on are drawn by the thousand, and not given to methods that are there for comparison: these would take longer than all others.
pub const BY_THE_THOUSAND: u64 = 1000;
const FOR_COMPARISON: [&str; 5] = ["trapezoidal", "gauss", "radau-ia", "lobatto-iiic", "dop853"];

/// Solve a model in all ways, or in all but those for comparison.
pub fn examine<D: Drawn>(drawn: &D, seed: u64) -> Vec<Answer> {
    let text = drawn.text();
    let model = match Model::read("random.toml", &text, &[]) {
        Ok(model) => model,
        Err(mistakes) => panic!("{}\n{text}", mistakes.lines()),
    };
    let tend = drawn.tend();
    let mut times: Vec<f64> = (1..POINTS).map(|k| tend * k as f64 / POINTS as f64).collect();
    times.push(tend);
    let options = Options {
        tolerance: Tolerance::new(TOLERANCE, TOLERANCE),
        save: Save::At(times),
        max_steps: MOST_STEPS,
        ..Options::default()
    };
    let mut runs: Ways = match &model.kind {
        ModelKind::Dae { .. } => general(&model, tend, &options),
        ModelKind::Motion { .. } => motion(&model, tend, &options),
        ModelKind::Hybrid(hybrid) => switched(hybrid, tend, &options),
    };
    runs.retain(|(way, _)| seed < BY_THE_THOUSAND || !FOR_COMPARISON.iter().any(|name| way.ends_with(name)));
    let answer = |(way, run): Way| {
        let begin = Instant::now();
        let outcome = judge(drawn, &*run);
        Answer { way, outcome, took: begin.elapsed().as_secs_f64() }
    };
    runs.into_iter().map(answer).collect()
}

fn judge<D: Drawn>(drawn: &D, run: &dyn Fn() -> Result<Values, String>) -> Outcome {
    let values = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(values)) => values,
        Ok(Err(reason)) => return Outcome::Refused(reason),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            return Outcome::Panicked(
                text.or(panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default(),
            );
        }
    };
    // errors count relative to the largest value of an unknown, and to one
    let exact: Vec<_> = values.iter().map(|(t, _)| drawn.exact(*t)).collect();
    let mut worst = Outcome::Right(0.0);
    let mut largest = 0.0;
    for (j, (name, _)) in drawn.exact(0.0).iter().enumerate() {
        let size = exact.iter().fold(1.0_f64, |size, row| size.max(row[j].1.abs()));
        for ((t, found), exact) in values.iter().zip(&exact) {
            let Some((_, found)) = found.iter().find(|(known, _)| known == name) else { continue };
            let error = (found - exact[j].1).abs() / size / TOLERANCE;
            let error = if error.is_nan() { f64::INFINITY } else { error };
            if error > largest {
                largest = error;
                worst = if error <= AGREEMENT {
                    Outcome::Right(error)
                } else {
                    Outcome::Wrong { error, name: name.clone(), t: *t, found: *found, exact: exact[j].1 }
                };
            }
        }
    }
    worst
}

/// A name and the run.
type Way<'m> = (String, Box<dyn Fn() -> Result<Values, String> + 'm>);
type Ways<'m> = Vec<Way<'m>>;

fn reason(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", reason(cause)),
        None => error.to_string(),
    }
}

fn general<'m>(model: &'m Model, tend: f64, options: &'m Options) -> Ways<'m> {
    let ModelKind::Dae { formulas, initial, .. } = &model.kind else { unreachable!("general") };
    let mut ways: Ways = Vec::new();
    for form in Form::ALL {
        for (name, integrator) in catalogue::all().iter().filter_map(|entry| Some((entry.name, entry.integrator?))) {
            let run = move || {
                let system = System::new(formulas, Native);
                let problem = daedal::Problem::new(&system, (**initial).clone(), tend);
                let solution = daedal::solve(&problem, &InForm { form, integrator: &*integrator() }, options)
                    .map_err(|error| reason(&error))?;
                Ok(named(&solution.names, &solution.times, |k| solution.state(k)))
            };
            ways.push((format!("{} {name}", form.name()), Box::new(run)));
        }
    }
    ways
}

fn named<'s>(names: &[String], times: &[f64], state: impl Fn(usize) -> &'s [f64]) -> Values {
    let row = |k: usize| names.iter().cloned().zip(state(k).iter().copied()).collect();
    times.iter().enumerate().map(|(k, t)| (*t, row(k))).collect()
}

/// Formulations that drift off the constraints, the one of index three, and methods with constant steps make no promise that could be
/// held against them.
fn promises(method: &str, formulation: &str) -> bool {
    !matches!(method, "rattle" | "lobatto" | "alpha") && !matches!(formulation, "eom" | "eom0" | "ode" | "baumgarte")
}

fn motion<'m>(model: &'m Model, tend: f64, options: &'m Options) -> Ways<'m> {
    let ModelKind::Motion { formulas, initial, .. } = &model.kind else { unreachable!("motion") };
    let solve = move |method: &str, formulation: Formulation| {
        let mechanism = Compiled::new(formulas, Native);
        let problem = daedal::Problem::new(&mechanism, (**initial).clone(), tend);
        let entry = catalogue::find(method).ok_or("no such method")?;
        let method = entry.with(formulation).map_err(|error| reason(&error))?;
        let solution = daedal::solve(&problem, &*method, options).map_err(|error| reason(&error))?;
        Ok(named(&solution.names, &solution.times, |k| solution.state(k)))
    };
    // as the command does where nothing is asked for
    let chosen = move || {
        let mechanism = Compiled::new(formulas, Native);
        let found = consistent::initialise(&mechanism, initial, motion::Form::StrangenessFree);
        let choice = analysis::choose(&mechanism, &found.map_err(|error| reason(&error))?.state, tend);
        solve(choice.method, choice.formulation)
    };
    let mut ways: Ways = vec![("auto".to_string(), Box::new(chosen))];
    for entry in catalogue::all() {
        for formulation in Formulation::ALL.into_iter().filter(|f| entry.formulations.contains(&f.name())) {
            let of_its_own = matches!(entry.name, "dopri5" | "dop853" | "partition" | "tangent");
            if !of_its_own && !promises(entry.name, formulation.name()) {
                continue;
            }
            let run = move || solve(entry.name, formulation);
            ways.push((format!("{} {}", formulation.name(), entry.name), Box::new(run)));
        }
    }
    ways
}

fn switched<'m>(model: &'m HybridModel, tend: f64, options: &'m Options) -> Ways<'m> {
    let mut ways: Ways = Vec::new();
    for (name, general) in [("radau", "radau"), ("bdf", "bdf")] {
        let run = move || {
            let methods = Methods { general, ..Methods::default() };
            let system = model.build(&(Arc::new(Native) as _), &methods);
            let problem = model.problem(&system, tend);
            let solution = daedal::solve(&problem, &model.options, options).map_err(|error| reason(&error))?;
            Ok(of_phases(&solution))
        };
        ways.push((format!("modes {name}"), Box::new(run)));
    }
    ways
}

fn of_phases(solution: &HybridSolution) -> Values {
    let phases = solution.phases.iter();
    phases.flat_map(|phase| named(&solution.modes[phase.mode].unknowns, &phase.times, |k| phase.state(k))).collect()
}
