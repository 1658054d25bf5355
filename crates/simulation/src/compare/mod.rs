//! Compare methods, formulations and tolerances on one model of any kind: a first pass gives results, a second one times.
//!
//! The first pass runs every combination that the catalogue allows, several at a time, and looks at the drift of invariants on the way. The
//! second one repeats the runs that reached the end, each on one thread, and does nothing but run.

mod clock;
mod motion;
mod plan;
mod pool;
mod reference;
pub mod study;
mod subject;
mod timing;
mod whole;

use crate::error::Error;
use crate::model::{Model, ModelSystem, MotionModel};
use crate::modes::plan::is_motion;
use crate::variables::Stopped;
use daedal::Action;
use daedal::BadOption;
use daedal::Initial;
use daedal::motion::{Form, consistent};
use daedal_run::comparison::{ComparedRun, Comparison, Timing};
use motion::MotionSubject;
use plan::{Compared, ComparisonPlan, PlannedRun};
use reference::{ReferenceState, Switched};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;
use subject::{RunResult, Subject};
use whole::WholeSubject;

/// Longest time of a run, in seconds: more is never reached.
const LONGEST: f64 = 1e6;

/// Least time for a reference, in seconds.
const FOR_REFERENCE: f64 = 40.0;

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
    /// Least time for the search for a reference, in seconds.
    pub reference_time: Option<f64>,
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
            reference_time: None,
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
    settings: &'m ComparisonSettings,
    interval: (f64, f64),
    plan: ComparisonPlan,
}

impl<'m> PlannedComparison<'m> {
    /// Resolve names, and see which combinations are possible.
    pub fn new(model: &'m Model, settings: &'m ComparisonSettings) -> Result<Self, Error> {
        let (t0, tend) = model.interval();
        let tend = settings.tend.or(tend).ok_or_else(|| Error::NoInterval { name: model.source_name() })?;
        let not_comparable = |is, instead| Err(Error::NotComparable { model: model.name().to_string(), is, instead });
        if model.boundary().is_some() {
            return not_comparable("has conditions at its end ([final])", "solve it with several tolerances");
        }
        let plan = match &model.content.equations {
            ModelSystem::Motion(motion) => plan::plan(settings, Compared::Motion(&motion.mechanism().sizes())),
            ModelSystem::General(_) => plan::plan(settings, Compared::General),
            ModelSystem::Modes(modes) => {
                let motion = modes.model.modes.iter().any(is_motion);
                plan::plan(settings, Compared::Modes { motion })
            }
        }?;
        Ok(PlannedComparison { model, settings, interval: (settings.t0.unwrap_or(t0), tend), plan })
    }

    /// Make all runs. What goes wrong in one of them, panics included, is told in its row.
    pub fn run(self, progress: &mut dyn FnMut(Pass)) -> Result<Comparison, Error> {
        let (t0, tend) = self.interval;
        if tend < t0 {
            let (what, instead) = ("a comparison", "solve the model with each method");
            let error: Stopped = BadOption::Backward { t0, tend, what, instead }.into();
            return Err(Error::Solve(Box::new(error)));
        }
        match &self.model.content.equations {
            ModelSystem::Motion(motion) => {
                let subject = Arc::new(self.motion(motion)?);
                Ok(self.compare(&subject, progress))
            }
            ModelSystem::General(_) | ModelSystem::Modes(_) => Ok(self.compare(&Arc::new(self.whole()), progress)),
        }
    }

    fn compare<S: Subject + 'static>(&self, subject: &Arc<S>, progress: &mut dyn FnMut(Pass)) -> Comparison {
        let PlannedComparison { model, settings, plan, .. } = self;
        let ((t0, tend), runs) = (self.interval, &plan.runs);
        let jobs = settings.jobs.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
        let timeout = Duration::from_secs_f64(settings.timeout.min(LONGEST));
        let least = Duration::from_secs_f64(settings.reference_time.unwrap_or(FOR_REFERENCE).min(LONGEST));
        let known = reference::find(subject, &model.references(t0, tend), jobs, (timeout, least));

        let one = {
            let subject = Arc::clone(subject);
            move |run: &PlannedRun| subject.run(run, timeout, true)
        };
        let told = counted(progress, false, runs.len());
        let attempts = pool::all(jobs, runs.clone(), patience(timeout, 1), one, told);
        let attempts: Vec<RunResult> =
            attempts.into_iter().map(|outcome| outcome.unwrap_or_else(RunResult::lost)).collect();

        let both = runs.iter().zip(&attempts).filter(|(_, attempt)| attempt.failure.is_none());
        let reached: Vec<(PlannedRun, f64)> = both.map(|(run, attempt)| (run.clone(), attempt.seconds)).collect();
        let repeat = settings.repeat;
        let one = {
            let subject = Arc::clone(subject);
            move |(run, rough): &(PlannedRun, f64)| timing::time(&*subject, run, *rough, repeat, timeout)
        };
        let told = counted(progress, true, reached.len());
        let times = pool::all(jobs, reached, patience(timeout, repeat.unwrap_or(3) + 1), one, told);

        let mut times = times.into_iter();
        let mut otherwise: Vec<String> = Vec::new();
        let compared: Vec<ComparedRun> = runs
            .iter()
            .zip(&attempts)
            .map(|(run, attempt)| {
                let timed = if attempt.failure.is_none() { times.next().and_then(Result::ok).flatten() } else { None };
                let (row, switched) = entry(run, attempt, timed.as_ref(), &known);
                if switched == Switched::Otherwise {
                    otherwise.push(daedal_run::comparison::text::name(&row));
                }
                row
            })
            .collect();
        let mut notes = plan.notes.clone();
        notes.extend(stops(model, tend));
        notes.extend(choices(runs, &attempts));
        if !otherwise.is_empty() {
            notes.push(format!("other switches than those of the reference: {}", otherwise.join(", ")));
        }
        notes.extend(restlessness(&compared));
        Comparison {
            model: model.name().to_string(),
            description: model.description().to_string(),
            source: model.content.citation.clone(),
            parameters: model.parameters().to_vec(),
            t0,
            tend,
            command: String::new(),
            runs: compared,
            reference: known.told,
            timing: Timing { jobs, timeout: settings.timeout },
            notes,
        }
    }

    fn whole(&self) -> WholeSubject {
        let patience = Duration::from_secs_f64(self.settings.timeout.min(LONGEST));
        WholeSubject { model: self.without_stops(), interval: self.interval, h0: self.settings.h0, patience }
    }

    /// The model without events that would stop a run.
    fn without_stops(&self) -> Model {
        match &self.model.content.equations {
            ModelSystem::General(_) if stops(self.model, self.interval.1).is_some() => self.model.without_events(),
            _ => self.model.clone(),
        }
    }

    fn motion(&self, motion: &Arc<MotionModel>) -> Result<MotionSubject, Error> {
        let (t0, tend) = self.interval;
        let initial = Initial { t: t0, ..motion.initial.clone() };
        let ranks = self.model.ranks();
        let start = consistent::initialise_by(motion.mechanism(), &initial, Form::StrangenessFree, ranks);
        let start = start.map_err(|error| Error::Solve(Box::new(Stopped::from(error))))?.state;
        let defaults = &self.model.content.defaults;
        let (layout, names) = motion.layout();
        Ok(MotionSubject {
            model: self.model.clone(),
            motion: Arc::clone(motion),
            layout,
            names,
            start,
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
) -> (ComparedRun, Switched) {
    let reached = attempt.reached();
    let errors = reached.map(|end| known.errors(end));
    let row = ComparedRun {
        method: run.label.clone(),
        formulation: run.formulation().to_string(),
        tolerance: run.tolerance,
        failure: attempt.failure.clone(),
        t_end: attempt.end.as_ref().map(|end| end.t),
        counters: attempt.counters,
        // a run that could not be repeated keeps the time of the first pass
        seconds: reached.map(|_| timed.map_or(attempt.seconds, |timed| timed.seconds)),
        spread: timed.map(|timed| timed.spread),
        repeats: timed.map_or(0, |timed| timed.repeats),
        error: errors.map(|(errors, _)| errors).unwrap_or_default(),
        max_residual: attempt.max_residual,
        drift: attempt.drift,
    };
    (row, errors.map_or(Switched::Alike, |(_, switched)| switched))
}

/// What runs chose that left it open, each once with its tolerances.
fn choices(runs: &[PlannedRun], attempts: &[RunResult]) -> Vec<String> {
    let mut said: Vec<(String, &str, Vec<String>)> = Vec::new();
    for (run, chosen) in runs.iter().zip(attempts).filter_map(|(run, attempt)| Some((run, attempt.chosen.as_ref()?))) {
        let who = if run.is_auto() { run.label.clone() } else { "the form auto".to_string() };
        let tolerance = format!("{:e}", run.tolerance);
        match said.iter_mut().find(|(known, what, _)| *known == who && what == chosen) {
            Some((_, _, tolerances)) if !tolerances.contains(&tolerance) => tolerances.push(tolerance),
            Some(_) => {}
            None => said.push((who, chosen, vec![tolerance])),
        }
    }
    let all = |who: &str| said.iter().filter(|(other, _, _)| other == who).count() == 1;
    let told = |(who, what, tolerances): &(String, &str, Vec<String>)| {
        let at = if all(who) { String::new() } else { format!(" at {}", tolerances.join(", ")) };
        format!("{who} is {what}{at}")
    };
    said.iter().map(told).collect()
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
