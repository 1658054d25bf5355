//! One run of a sweep: what it gave at the kept times, or why it gave nothing.

use super::Variation;
use super::gathering::FinishedRun;
use crate::error::Error;
use crate::model::Model;
use crate::monitor::Progress;
use crate::plain::plain;
use crate::settings::Settings;
use crate::solve::Simulation;
use crate::{ErrorKind, Outcome};
use daedal_run::{Ending, Run, SweptRun};
use std::any::Any;
use std::error::Error as _;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// One run; none if it was interrupted.
pub(super) fn one(
    model: &Model,
    variation: &Variation,
    number: usize,
    settings: &Settings,
    times: Option<&[f64]>,
    stop: &AtomicBool,
) -> Option<FinishedRun> {
    let parameters = variation.rows[number].clone();
    let mut watch =
        |_: &Progress| if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let made = catch_unwind(AssertUnwindSafe(|| -> Result<Outcome, Error> {
        let model = model.set_for_numbers(&variation.row(number))?;
        let outcome = Simulation::new(&model, settings)?.run(&mut watch);
        Ok(outcome)
    }));
    let failed = |message: String| FinishedRun {
        run: SweptRun {
            number,
            parameters: parameters.clone(),
            status: Ending::Failure,
            message,
            t_end: f64::NAN,
            steps: 0,
            seconds: None,
            values: Vec::new(),
        },
        columns: Vec::new(),
    };
    let outcome = match made {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => return Some(failed(told(&error))),
        Err(panic) => return Some(failed(format!("a defect of the program: {}", said(&*panic)))),
    };
    if outcome.error.as_ref().is_some_and(|error| error.kind() == ErrorKind::Interrupted) {
        return None;
    }
    let Some(record) = outcome.numbers() else {
        return Some(failed(outcome.error.as_ref().map_or(String::new(), told)));
    };
    let message = outcome.error.as_ref().map(told).or(record.header.message.clone()).unwrap_or_default();
    let run = SweptRun {
        number,
        parameters,
        status: record.header.ended.unwrap_or(Ending::Failure),
        message,
        t_end: outcome.computed.as_ref().map_or(f64::NAN, |computed| computed.t),
        steps: outcome.computed.as_ref().map_or(0, |computed| computed.statistics.steps),
        seconds: Some(outcome.seconds),
        values: kept(&record, times),
    };
    Some(FinishedRun { run, columns: record.columns.into_iter().map(|column| (column.name, column.kind)).collect() })
}

/// The columns at the end, or at given times; NaN where a run did not come.
fn kept(record: &Run, times: Option<&[f64]>) -> Vec<f64> {
    let Some(times) = times else { return record.end.as_ref().map_or(Vec::new(), |end| end.values.clone()) };
    // rows at a switch have the same time: the state behind it counts
    let row = |t: f64| record.times.iter().rposition(|&kept| kept == t);
    let at = |t: f64| record.columns.iter().map(move |column| row(t).map_or(f64::NAN, |k| column.values[k]));
    times.iter().flat_map(|&t| at(t).collect::<Vec<_>>()).collect()
}

/// An error with its causes, in one line.
fn told(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = match error {
        Error::Located { error, .. } => error.source(),
        error => error.source(),
    };
    while let Some(below) = cause {
        let message = below.to_string();
        if !text.ends_with(&message) {
            text = format!("{text}: {message}");
        }
        cause = below.source();
    }
    plain(&text).into_owned()
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_string())
}
