//! Compare methods, formulations and tolerances on one model: a first pass gives results, a second one times.
//!
//! The first pass runs every combination that the catalogue allows, several at a time, and looks at the drift of invariants on the way. The
//! second one repeats the runs that reached the end, each on one thread, and does nothing but run.

mod attempt;
mod plan;
mod pool;
mod reference;
mod timing;

use crate::arguments::{Compare, TableFormat};
use crate::failure::{Failure, print};
use crate::files::{self, Output};
use crate::progress::Tally;
use crate::setup::{Equations, Setup};
use crate::variables::Stopped;
use attempt::{Attempt, Subject};
use daedal::error::BadOption;
use daedal::motion::{Form, Layout, Mechanism, consistent};
use daedal_problems::Case;
use daedal_run::comparison::{Comparison, ConstraintLevels, Counters, Entry, Timing, text};
use daedal_run::{Format, WriteError};
use plan::{Combination, Plan};
use reference::Known;
use std::fmt::Write;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

/// Longest time of a run, in seconds: more is never reached.
const LONGEST: f64 = 1e6;

/// A spread of times that tells of other work on the machine.
const RESTLESS: f64 = 0.5;

/// Compare.
pub fn compare(arguments: &Compare) -> Result<(), Failure> {
    let mut setup = Setup::resolve(&arguments.model)?;
    if let Some(tend) = arguments.tend {
        setup.end_at(tend);
    }
    if setup.tend().is_nan() {
        return Err(Failure::NoInterval { path: arguments.model.name.clone().into() });
    }
    let motion = match &setup.equations {
        Equations::Motion(motion) => motion,
        Equations::General(_) => return Err(not_comparable(&setup, "is a general system ([dae])")),
        Equations::Hybrid(_) => return Err(not_comparable(&setup, "has modes ([modes])")),
    };
    let plan = plan::plan(arguments, &motion.case.mechanism.sizes())?;
    if let Some(path) = arguments.output.iter().find(|path| Format::of(path) == Some(Format::Npz)) {
        return Err(Failure::NoComparison { path: path.clone() });
    }
    let outputs = Output::open_all(&arguments.output, None)?;
    let made = run(setup, plan, arguments)?;
    let written = files::write_comparison(outputs, &made);
    let printed = print(&printed(&made, arguments)?);
    written.and(printed)?;
    if made.succeeded().next().is_some() { Ok(()) } else { Err(Failure::NoneReached { runs: made.runs.len() }) }
}

fn not_comparable(setup: &Setup, is: &'static str) -> Failure {
    Failure::NotComparable { model: setup.name.clone(), is }
}

/// Make all runs.
fn run(setup: Setup, plan: Plan, arguments: &Compare) -> Result<Comparison, Failure> {
    let (t0, tend) = (setup.t0(), setup.tend());
    let h0 = arguments.h0.or(setup.h0());
    let Equations::Motion(motion) = setup.equations else { unreachable!("other models are refused") };
    let references = motion.case.references.clone();
    let subject = Arc::new(subject(motion.case, h0, setup.defaults.hmax)?);
    let jobs = arguments.jobs.map_or_else(|| available_parallelism().map_or(1, usize::from), usize::from);
    let timeout = Duration::from_secs_f64(arguments.timeout.min(LONGEST));
    // what goes wrong in a run is told in the table
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));

    let known = reference::find(&subject, &references, jobs, timeout);
    let tally = Tally::new(plan.runs.len(), "runs");
    let attempts = {
        let subject = Arc::clone(&subject);
        let one = move |run: &Combination| attempt::attempt(&subject, run, timeout);
        pool::all(jobs, plan.runs.clone(), patience(timeout, 1), one, || tally.count())
    };
    drop(tally);
    let attempts: Vec<Attempt> = attempts.into_iter().map(|outcome| outcome.unwrap_or_else(Attempt::lost)).collect();

    let reached: Vec<(Combination, Duration)> = plan
        .runs
        .iter()
        .zip(&attempts)
        .filter(|(_, attempt)| attempt.failure.is_none())
        .map(|(run, attempt)| (*run, attempt.duration))
        .collect();
    let tally = Tally::new(reached.len(), "timed");
    let repeat = arguments.repeat;
    let times = {
        let subject = Arc::clone(&subject);
        let one = move |(run, rough): &(Combination, Duration)| timing::time(&subject, run, *rough, repeat, timeout);
        pool::all(jobs, reached, patience(timeout, repeat.unwrap_or(3) + 1), one, || tally.count())
    };
    drop(tally);
    std::panic::set_hook(hook);

    let mut times = times.into_iter();
    let runs: Vec<Entry> = plan
        .runs
        .iter()
        .zip(&attempts)
        .map(|(run, attempt)| {
            let timed = if attempt.failure.is_none() { times.next().and_then(Result::ok).flatten() } else { None };
            entry(run, attempt, timed.as_ref(), &known, &subject)
        })
        .collect();
    let mut notes = plan.notes;
    notes.extend(restlessness(&runs));
    Ok(Comparison {
        model: setup.name,
        description: setup.description,
        source: setup.source,
        parameters: setup.parameters,
        t0,
        tend,
        command: command(),
        runs,
        reference: known.told,
        timing: Timing { jobs, timeout: arguments.timeout },
        notes,
    })
}

/// Are there times that differ much from one repetition to the next?
fn restlessness(runs: &[Entry]) -> Option<String> {
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

fn subject(case: Case, h0: Option<f64>, hmax: Option<f64>) -> Result<Subject, Failure> {
    let (t0, tend) = (case.initial.t, case.tend);
    if tend < t0 {
        return Err(Stopped::from(BadOption::Backward { t0, tend }).into());
    }
    let mechanism: Arc<dyn Mechanism + Send + Sync> = Arc::from(case.mechanism);
    let start = consistent::initialise(&*mechanism, &case.initial, Form::StrangenessFree).map_err(Stopped::from)?;
    Ok(Subject {
        layout: Layout::new(mechanism.sizes(), Form::StrangenessFree, false),
        mechanism,
        start: start.state,
        tend,
        h0,
        hmax,
    })
}

fn entry(
    run: &Combination,
    attempt: &Attempt,
    timed: Option<&timing::Timed>,
    known: &Known,
    subject: &Subject,
) -> Entry {
    let solution = attempt.solution.as_ref();
    let reached = solution.filter(|_| attempt.failure.is_none());
    Entry {
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

fn printed(made: &Comparison, arguments: &Compare) -> Result<String, Failure> {
    let format = match arguments.format {
        TableFormat::Text => {
            let mut said = text::text(made);
            for path in &arguments.output {
                let _ = write!(said, "\n{} runs in {}\n", made.runs.len(), path.display());
            }
            return Ok(said);
        }
        TableFormat::Csv => Format::Csv,
        TableFormat::Json => Format::Json,
    };
    let mut bytes = Vec::new();
    let unprinted = |cause: WriteError| Failure::Unprinted { cause: std::io::Error::other(cause) };
    made.write(format, &mut bytes).map_err(unprinted)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The command as it was given, for a shell.
fn command() -> String {
    let mut said = "daedal".to_string();
    for argument in std::env::args().skip(1) {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,:".contains(c);
        said.push(' ');
        if !argument.is_empty() && argument.chars().all(plain) {
            said.push_str(&argument);
        } else {
            let _ = write!(said, "'{}'", argument.replace('\'', "'\\''"));
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_differ_much_are_told() {
        let run = |spread| Entry { spread: Some(spread), repeats: 3, ..Entry::default() };
        assert_eq!(restlessness(&[run(0.1), run(0.2), run(0.1), run(2.0)]), None);
        assert!(restlessness(&[run(0.1), run(3.0)]).is_some_and(|said| said.contains("1 of 2")));
        assert_eq!(restlessness(&[Entry { spread: Some(0.0), repeats: 1, ..Entry::default() }]), None);
    }
}
