//! Compare methods, formulations and tolerances on one model: a first pass gives results, a second one times.
//!
//! The first pass runs every combination that the catalogue allows, several at a time, and looks at the drift of invariants on the way. The
//! second one repeats the runs that reached the end, each on one thread, and does nothing but run.

mod attempt;
mod plan;
mod pool;
mod reference;
mod timing;

use crate::error::Error;
use crate::model::{Model, ModelSystem, MotionModel};
use crate::variables::Stopped;
use attempt::{RunResult, Subject};
use daedal::Action;
use daedal::BadOption;
use daedal::Initial;
use daedal::motion::{Form, consistent};
use daedal_run::comparison::{ComparedRun, Comparison, ConstraintLevels, Counters, Timing};
use plan::{ComparisonPlan, PlannedRun};
use reference::ReferenceState;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

/// Longest time of a run, in seconds: more is never reached.
const LONGEST: f64 = 1e6;

/// A spread of times that tells of other work on the machine.
const RESTLESS: f64 = 0.5;

/// What is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComparisonSettings {
    /// Start of the interval.
    pub t0: Option<f64>,
    /// End of the interval.
    pub tend: Option<f64>,
    /// Names of methods, or `all`, which is meant if there are none.
    pub methods: Vec<String>,
    /// Names of formulations, or `all`; if there are none, those that are usual for each method.
    pub formulations: Vec<String>,
    /// Tolerances, relative and absolute.
    pub tolerances: Vec<f64>,
    /// First step size.
    pub h0: Option<f64>,
    /// Runs at the same time; as many as there are processors if absent.
    pub jobs: Option<usize>,
    /// How often each run is timed; 3, and 1 for long runs, if absent.
    pub repeat: Option<u32>,
    /// Longest time of a run, in seconds.
    pub timeout: f64,
}

impl Default for ComparisonSettings {
    fn default() -> Self {
        ComparisonSettings {
            t0: None,
            tend: None,
            methods: Vec::new(),
            formulations: Vec::new(),
            tolerances: (3..=9).map(|k| 10.0_f64.powi(-k)).collect(),
            h0: None,
            jobs: None,
            repeat: None,
            timeout: 10.0,
        }
    }
}

/// How far a comparison has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Are the runs repeated for their times, or made for the first time?
    pub timed: bool,
    /// How many runs are done.
    pub done: usize,
    /// How many there are.
    pub runs: usize,
}

/// Compare; `progress` is called when a pass begins and after each run.
pub fn compare(
    model: &Model,
    settings: &ComparisonSettings,
    progress: &mut dyn FnMut(Pass),
) -> Result<Comparison, Error> {
    PlannedComparison::new(model, settings)?.run(progress)
}

/// A comparison whose runs are known.
pub struct PlannedComparison<'m> {
    model: &'m Model,
    motion: &'m Arc<MotionModel>,
    settings: &'m ComparisonSettings,
    interval: (f64, f64),
    plan: ComparisonPlan,
}

impl<'m> PlannedComparison<'m> {
    /// Resolve names, and see which combinations are possible.
    pub fn new(model: &'m Model, settings: &'m ComparisonSettings) -> Result<Self, Error> {
        let (t0, tend) = model.interval();
        let tend = settings.tend.or(tend).ok_or_else(|| Error::NoInterval { name: model.source_name() })?;
        let not_comparable = |is| Err(Error::NotComparable { model: model.name().to_string(), is });
        let motion = match &model.content.equations {
            _ if model.boundary().is_some() => return not_comparable("has conditions at its end ([final])"),
            ModelSystem::Motion(motion) => motion,
            ModelSystem::General(_) => return not_comparable("is a general system ([dae])"),
            ModelSystem::Modes(_) => return not_comparable("has modes ([modes])"),
        };
        let plan = plan::plan(settings, &motion.mechanism().sizes())?;
        Ok(PlannedComparison { model, motion, settings, interval: (settings.t0.unwrap_or(t0), tend), plan })
    }

    /// Make all runs. What goes wrong in one of them, panics included, is told in its row.
    pub fn run(self, progress: &mut dyn FnMut(Pass)) -> Result<Comparison, Error> {
        let PlannedComparison { model, settings, plan, .. } = &self;
        let ((t0, tend), runs) = (self.interval, &plan.runs);
        let subject = Arc::new(self.subject()?);
        let jobs = settings.jobs.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
        let timeout = Duration::from_secs_f64(settings.timeout.min(LONGEST));
        let known = reference::find(&subject, &model.references(t0, tend), jobs, timeout);

        let one = {
            let subject = Arc::clone(&subject);
            move |run: &PlannedRun| attempt::attempt(&subject, run, timeout)
        };
        let told = counted(progress, false, runs.len());
        let attempts = pool::all(jobs, runs.clone(), patience(timeout, 1), one, told);
        let attempts: Vec<RunResult> =
            attempts.into_iter().map(|outcome| outcome.unwrap_or_else(RunResult::lost)).collect();

        let both = runs.iter().zip(&attempts).filter(|(_, attempt)| attempt.failure.is_none());
        let reached: Vec<(PlannedRun, Duration)> = both.map(|(run, attempt)| (*run, attempt.duration)).collect();
        let repeat = settings.repeat;
        let one = {
            let subject = Arc::clone(&subject);
            move |(run, rough): &(PlannedRun, Duration)| timing::time(&subject, run, *rough, repeat, timeout)
        };
        let told = counted(progress, true, reached.len());
        let times = pool::all(jobs, reached, patience(timeout, repeat.unwrap_or(3) + 1), one, told);

        let mut times = times.into_iter();
        let runs: Vec<ComparedRun> = runs
            .iter()
            .zip(&attempts)
            .map(|(run, attempt)| {
                let timed = if attempt.failure.is_none() { times.next().and_then(Result::ok).flatten() } else { None };
                entry(run, attempt, timed.as_ref(), &known, &subject)
            })
            .collect();
        let mut notes = plan.notes.clone();
        notes.extend(stops(model, tend));
        notes.extend(restlessness(&runs));
        Ok(Comparison {
            model: model.name().to_string(),
            description: model.description().to_string(),
            source: model.content.citation.clone(),
            parameters: model.parameters().to_vec(),
            t0,
            tend,
            command: String::new(),
            runs,
            reference: known.told,
            timing: Timing { jobs, timeout: settings.timeout },
            notes,
        })
    }

    fn subject(&self) -> Result<Subject, Error> {
        let (t0, tend) = self.interval;
        let stopped = |error: Stopped| Error::Solve(Box::new(error));
        if tend < t0 {
            let (what, instead) = ("a comparison", "solve the model with each method");
            return Err(stopped(BadOption::Backward { t0, tend, what, instead }.into()));
        }
        let initial = Initial { t: t0, ..self.motion.initial.clone() };
        let start =
            consistent::initialise_by(self.motion.mechanism(), &initial, Form::StrangenessFree, self.model.ranks());
        let defaults = &self.model.content.defaults;
        Ok(Subject {
            layout: self.motion.layout().0,
            motion: Arc::clone(self.motion),
            start: start.map_err(|error| stopped(error.into()))?.state,
            tend,
            h0: self.settings.h0.or(defaults.h0),
            hmax: defaults.hmax,
            rank_tolerance: self.model.rank_tolerance(),
        })
    }
}

/// Tells that a pass begins, and how many of its runs are done.
fn counted(progress: &mut dyn FnMut(Pass), timed: bool, runs: usize) -> impl FnMut() {
    let mut done = 0;
    progress(Pass { timed, done, runs });
    move || {
        done += 1;
        progress(Pass { timed, done, runs });
    }
}

/// A comparison needs one end for all: methods find the event that would stop a run at times of their own.
fn stops(model: &Model, tend: f64) -> Option<String> {
    let events = model.content.events.list.iter().filter(|event| event.action == Action::Stop);
    let names: Vec<String> = events.map(|event| format!("`{}`", event.name)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "all runs go on to t = {tend}, also where {} would stop a run: events are not compared",
            names.join(", ")
        )
    })
}

/// Are there times that differ much from one repetition to the next?
fn restlessness(runs: &[ComparedRun]) -> Option<String> {
    let spreads: Vec<f64> = runs.iter().filter(|run| run.repeats > 1).filter_map(|run| run.spread).collect();
    let restless = spreads.iter().filter(|spread| **spread > RESTLESS).count();
    (4 * restless > spreads.len()).then(|| {
        let percent = 100.0 * RESTLESS;
        format!(
            "times are not reliable: {restless} of {} spread by more than {percent:.0} %; other work seems to go on",
            spreads.len()
        )
    })
}

/// How long nothing may be heard of a job that makes this many runs.
fn patience(timeout: Duration, runs: u32) -> Duration {
    Duration::from_secs(10) + timeout * (2 * runs)
}

fn entry(
    run: &PlannedRun,
    attempt: &RunResult,
    timed: Option<&timing::Timed>,
    known: &ReferenceState,
    subject: &Subject,
) -> ComparedRun {
    let solution = attempt.solution.as_ref();
    let reached = solution.filter(|_| attempt.failure.is_none());
    ComparedRun {
        method: run.entry.name.to_string(),
        formulation: run.formulation.name().to_string(),
        tolerance: run.tolerance,
        failure: attempt.failure.clone(),
        t_end: solution.map(|solution| solution.end.t),
        counters: solution.map(|solution| &solution.statistics).map(|s| Counters {
            steps: s.steps,
            rejected_error: s.rejected_error,
            rejected_newton: s.rejected_newton,
            residuals: s.residuals,
            jacobians: s.jacobians,
            decompositions: s.decompositions,
            solves: s.solves,
        }),
        // a run that could not be repeated keeps the time of the first pass
        seconds: reached.map(|_| timed.map_or(attempt.duration.as_secs_f64(), |timed| timed.seconds)),
        spread: timed.map(|timed| timed.spread),
        repeats: timed.map_or(0, |timed| timed.repeats),
        error: reached.map(|solution| known.errors(&subject.layout, &solution.end.x)).unwrap_or_default(),
        max_residual: solution.map(|solution| solution.max_residuals).map_or_else(
            ConstraintLevels::default,
            |largest| ConstraintLevels {
                position: largest.position,
                velocity: largest.velocity,
                acceleration: largest.acceleration,
            },
        ),
        drift: attempt.drift,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_differ_much_are_told() {
        let run = |spread| ComparedRun { spread: Some(spread), repeats: 3, ..ComparedRun::default() };
        assert_eq!(restlessness(&[run(0.1), run(0.2), run(0.1), run(2.0)]), None);
        assert!(restlessness(&[run(0.1), run(3.0)]).is_some_and(|said| said.contains("1 of 2")));
        assert_eq!(restlessness(&[ComparedRun { spread: Some(0.0), repeats: 1, ..ComparedRun::default() }]), None);
    }
}
