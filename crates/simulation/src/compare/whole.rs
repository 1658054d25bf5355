//! Runs of general systems and of systems with modes: each is a simulation of its own, as `solve` makes it.

use super::clock::Clock;
use super::plan::PlannedRun;
use super::subject::{
    EndPoint, EndValue, MAX_STEPS, References, RunResult, Subject, SwitchHistory, counters, kind, levels, told,
    too_long,
};
use crate::error::Error;
use crate::model::{Model, ModelSystem};
use crate::modes::plan::is_motion;
use crate::modes::table::shown;
use crate::monitor::Progress;
use crate::outcome::{Computed, Outcome, SolverResult};
use crate::settings::{SaveSetting, Settings};
use crate::solve::Simulation;
use crate::tolerances::Tolerances;
use daedal::Ended;
use daedal::hybrid::HybridSolution;
use daedal_model::HybridModel;
use daedal_run::ColumnKind;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// A tolerance at which the method that `auto` takes tells what kind of system it is.
const PROBE: f64 = 1e-5;

/// A general system, or one with modes.
pub struct WholeSubject {
    pub model: Model,
    pub interval: (f64, f64),
    pub h0: Option<f64>,
    /// The longest time of a probe.
    pub patience: Duration,
}

impl Subject for WholeSubject {
    fn run(&self, run: &PlannedRun, timeout: Duration, _: bool) -> RunResult {
        let simulation = match Simulation::new(&self.model, &self.settings(run)) {
            Ok(simulation) => simulation,
            Err(error) => return RunResult::failed(said(&error)),
        };
        let deadline = Instant::now() + timeout;
        let mut watch = StepClock { deadline, first: None, clock: None, last: Instant::now(), steps: 0 };
        let begin = Instant::now();
        let outcome = simulation.run(&mut |progress: &Progress| watch.step(progress));
        let by_the_wall = watch.seconds(begin);
        let seconds = by_the_wall * watch.clock.map_or(1.0, |clock| clock.share());
        let failure = match &outcome.error {
            Some(Error::Interrupted { t }) => Some(too_long(timeout, *t)),
            Some(error) => Some(said(error)),
            None => None,
        };
        let Some(computed) = &outcome.computed else {
            return RunResult { failure: failure.or(Some("nothing was computed".into())), ..RunResult::default() };
        };
        let failure = failure.or_else(|| match &computed.ended {
            Ended::AtEnd => None,
            _ => Some(format!("an event stops it at t = {:.4}", computed.t)),
        });
        let mut undetermined: Vec<String> = Vec::new();
        for (name, _) in computed.undetermined.iter().flatten() {
            if !undetermined.contains(name) {
                undetermined.push(name.clone());
            }
        }
        RunResult {
            failure,
            end: Some(end_point(computed, &outcome.tolerances)),
            counters: Some(counters(&computed.statistics)),
            max_residual: levels(&computed.max_residuals),
            drift: None,
            undetermined,
            chosen: chosen(run, &outcome),
            seconds,
            by_the_wall,
        }
    }

    /// Two methods that have nothing in common but the equations.
    fn references(&self) -> References {
        let with_motion = match &self.model.content.equations {
            ModelSystem::Modes(modes) => modes.model.modes.iter().any(is_motion),
            _ => false,
        };
        if with_motion {
            return References { run: vec![("auto", "auto"), ("radau", "auto")], check: vec![("radau", "auto")] };
        }
        let implicit = ("radau", "auto");
        let explicit = ("dop853", "auto");
        let found = self.run(&PlannedRun::of("auto", None, PROBE), self.patience, false);
        let is_explicit = found.chosen.is_some_and(|chosen| chosen.starts_with("dop") && !chosen.contains(','));
        let check = if is_explicit { vec![explicit, ("bdf", "auto")] } else { vec![("bdf", "auto")] };
        References { run: vec![implicit], check }
    }
}

impl WholeSubject {
    fn settings(&self, run: &PlannedRun) -> Settings {
        let (t0, tend) = self.interval;
        let defaults = &self.model.content.defaults;
        // absolute tolerances far below the relative one belong to the problem
        let ratio = defaults.atol.zip(defaults.rtol).map_or(1.0, |(atol, rtol)| (atol / rtol).min(1.0));
        let modes = self.model.has_modes();
        Settings {
            t0: Some(t0),
            tend: Some(tend),
            method: Some(run.method.to_string()),
            formulation: run.formulation.filter(|form| !modes || *form != "auto").map(String::from),
            rtol: Some(run.tolerance),
            atol: Some(run.tolerance * ratio),
            h0: self.h0,
            max_steps: Some(MAX_STEPS),
            save: SaveSetting::End,
            options: run.options.clone(),
            ..Settings::default()
        }
    }
}

/// Looks at the clock with every step.
struct StepClock {
    deadline: Instant,
    first: Option<Instant>,
    /// from the first step on: what was lost before belongs to no step
    clock: Option<Clock>,
    last: Instant,
    steps: u32,
}

impl StepClock {
    fn step(&mut self, _: &Progress) -> ControlFlow<()> {
        self.clock.get_or_insert_with(Clock::start);
        self.last = Instant::now();
        self.first.get_or_insert(self.last);
        self.steps += 1;
        if self.last > self.deadline { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Time of all steps. What stands before the first one, analysis and initial values, is not known apart from it: it is taken to be as long
    /// as the others.
    fn seconds(&self, begin: Instant) -> f64 {
        match self.first {
            Some(first) if self.steps > 1 => {
                let all = f64::from(self.steps);
                self.last.duration_since(first).as_secs_f64() * all / (all - 1.0)
            }
            _ => begin.elapsed().as_secs_f64(),
        }
    }
}

/// An error with its causes; places in the file say nothing here.
fn said(error: &Error) -> String {
    match error {
        Error::Located { error, .. } => said(error),
        Error::Solve(error) => told(&**error),
        Error::Hybrid(error) => told(&**error),
        error => told(error),
    }
}

/// What was chosen where the run left it open.
fn chosen(run: &PlannedRun, outcome: &Outcome) -> Option<String> {
    let form = outcome.formulation();
    if run.is_auto() {
        return Some(format!("{} {form}", outcome.choice.method));
    }
    let open = run.formulation == Some("auto") && form != "auto" && !outcome.model.has_modes();
    open.then(|| form.to_string())
}

fn end_point(computed: &Computed, tolerances: &Tolerances) -> EndPoint {
    let size = |name: &str| tolerances.of(name) / tolerances.rtol;
    let end = |name: &String, kind: usize, value: f64| EndValue { size: size(name), name: name.clone(), kind, value };
    match &computed.result {
        SolverResult::Single { solution, .. } => {
            let value = |&(j, of): &(usize, ColumnKind)| Some(end(&solution.names[j], kind(of)?, solution.end.x[j]));
            let values = solution.layout.shown.iter().filter_map(value).collect();
            EndPoint { t: solution.end.t, values, switching: None }
        }
        SolverResult::Modes { solution, model, .. } => {
            let mode = &solution.modes[solution.end_mode];
            let kinds = kinds(model, solution);
            let named = mode.unknowns.iter().zip(&solution.end.x);
            let value = |(name, &x): (&String, &f64)| {
                let (_, kind) = kinds.iter().find(|(known, _)| known == name)?;
                Some(end(name, *kind, x))
            };
            let entered = |switch: &daedal::hybrid::Switch| (switch.t, solution.modes[switch.to].name.clone());
            let switching =
                SwitchHistory { mode: mode.name.clone(), switches: solution.switches.iter().map(entered).collect() };
            let values = named.filter_map(value).collect();
            EndPoint { t: solution.end.t, values, switching: Some(switching) }
        }
    }
}

/// Variables that have errors, of all modes that were written; those that are generated for sliding have no others.
fn kinds(model: &HybridModel, solution: &HybridSolution) -> Vec<(String, usize)> {
    let mut all: Vec<(String, usize)> = Vec::new();
    for (mode, names) in model.modes.iter().zip(&solution.modes) {
        for (j, of) in shown(&mode.kind, names.unknowns.len()) {
            if let Some(kind) = kind(of)
                && !all.iter().any(|(known, _)| *known == names.unknowns[j])
            {
                all.push((names.unknowns[j].clone(), kind));
            }
        }
    }
    all
}
