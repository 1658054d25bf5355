//! Many runs of one model, which differ in the values of parameters: every combination of some values, or a row of values for each run.
//!
//! Runs are made on threads that live as long as the call. What a run gives depends on its row only, so that the number of threads changes no
//! bit. A run that fails has a message, and NaN from its stop on; the others do not notice. Each run is read and compiled with its own numbers.

mod store;
mod variation;

use crate::error::Error;
use crate::model::Model;
use crate::monitor::Progress;
use crate::plain::plain;
use crate::settings::{SaveSetting, Settings};
use crate::solve::{Simulation, choose};
use crate::{ErrorKind, Outcome};
use daedal_run::{ColumnKind, Ending, Run, Sweep, SweptRun};
use std::any::Any;
use std::error::Error as _;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use store::SweepStore;
pub use variation::Variation;

/// How often the caller is asked whether to go on.
const PAUSE: Duration = Duration::from_millis(50);

/// How runs are made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepSettings {
    /// The settings of every run; `save` is the end, a number of points, or times.
    pub run: Settings,
    /// Runs at the same time; as many as there are processors if absent.
    pub threads: Option<usize>,
    /// A folder that finished runs are written to, and from which those are taken that are there already.
    pub resume: Option<PathBuf>,
}

/// What a sweep gave.
pub struct SweepOutcome {
    /// The runs that were made, those that were found in a folder included.
    pub sweep: Sweep,
    /// Did the caller end it before all runs were made?
    pub interrupted: bool,
    /// How many runs were found in the folder.
    pub found: usize,
}

/// One finished run, before it is known which columns the others have.
struct FinishedRun {
    run: SweptRun,
    columns: Vec<(String, ColumnKind)>,
}

/// Make all runs. `progress` is told how many of how many are done, on the thread of the caller, twenty times in a second; `Break` ends the sweep.
///
/// ```
/// use daedal_simulation::{Model, SweepSettings, Variation, sweep};
/// use std::ops::ControlFlow;
/// let lengths = Variation::grid(vec![("L".into(), vec![0.5, 1.0, 2.0])])?;
/// let model = Model::reference("pendulum")?;
/// let found = sweep(&model, &lengths, &SweepSettings::default(), &mut |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(found.sweep.runs.len(), 3);
/// assert!(found.sweep.runs.iter().all(|run| run.message.is_empty()));
/// # Ok::<(), daedal_simulation::Error>(())
/// ```
pub fn sweep(
    model: &Model,
    variation: &Variation,
    settings: &SweepSettings,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<SweepOutcome, Error> {
    variation.check(model)?;
    let times = times(model, &settings.run)?;
    let run = Settings { save: times.clone().map_or(SaveSetting::End, SaveSetting::At), ..settings.run.clone() };
    concerns_all(model, variation, &run)?;
    let store = settings.resume.as_ref().map(|folder| SweepStore::open(folder, model, variation, &run)).transpose()?;
    let mut collected = Collected { times, parts: Vec::new() };
    let mut done = vec![false; variation.rows.len()];
    if let Some(store) = &store {
        for part in store.parts()? {
            let mut is_new = |number: usize| done.get_mut(number).is_some_and(|done| !std::mem::replace(done, true));
            let runs = part.runs.iter().filter(|run| is_new(run.number));
            collected.parts.extend(runs.map(|run| FinishedRun { run: run.clone(), columns: part.columns.clone() }));
        }
    }
    let found = collected.parts.len();
    let open: Vec<usize> = (0..done.len()).filter(|&k| !done[k]).collect();
    let threads = settings.threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from)).max(1);
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let times = collected.times.clone();
    let work = |sender: Sender<FinishedRun>| {
        while let Some(&number) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
            let made = one(model, variation, number, &run, times.as_deref(), &stop);
            // a run that was interrupted is not made; nobody who listens is no reason to go on
            if made.is_none_or(|made| sender.send(made).is_err()) || stop.load(Ordering::Relaxed) {
                return;
            }
        }
    };
    let total = variation.rows.len();
    let mut kept = Ok(());
    thread::scope(|scope| {
        let (sender, finished) = channel();
        for _ in 0..threads.min(open.len()) {
            let (sender, work) = (sender.clone(), &work);
            scope.spawn(move || work(sender));
        }
        drop(sender);
        let (mut unsaved, mut asked, mut saved) = (collected.parts.len(), Instant::now(), Instant::now());
        let keep = |collected: &Collected, unsaved: &mut usize| -> Result<(), Error> {
            if let Some(store) = store.as_ref().filter(|_| *unsaved < collected.parts.len()) {
                store.write(&collected.sweep(model, variation, *unsaved))?;
            }
            *unsaved = collected.parts.len();
            Ok(())
        };
        loop {
            let over = match finished.recv_timeout(PAUSE) {
                Ok(made) => {
                    collected.parts.push(made);
                    false
                }
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => true,
            };
            if over || saved.elapsed() > Duration::from_secs(1) {
                kept = keep(&collected, &mut unsaved);
                saved = Instant::now();
            }
            if kept.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            if over {
                return;
            }
            if asked.elapsed() > PAUSE {
                asked = Instant::now();
                if progress(collected.parts.len(), total).is_break() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        }
    });
    kept?;
    let interrupted = stop.load(Ordering::Relaxed) && collected.parts.len() < total;
    if !interrupted {
        let _ = progress(collected.parts.len(), total);
    }
    collected.parts.sort_by_key(|part| part.run.number);
    Ok(SweepOutcome { sweep: collected.sweep(model, variation, 0), interrupted, found })
}

/// The runs that were made up to now.
struct Collected {
    times: Option<Vec<f64>>,
    parts: Vec<FinishedRun>,
}

impl Collected {
    /// Those from this place on. A mode that only some runs enter may bring columns of its own, which have no values in the others.
    fn sweep(&self, model: &Model, variation: &Variation, from: usize) -> Sweep {
        let parts = &self.parts[from..];
        let mut columns: Vec<(String, ColumnKind)> = Vec::new();
        // by number of the run, whatever the order in which they were made
        let mut order: Vec<&FinishedRun> = parts.iter().collect();
        order.sort_by_key(|part| part.run.number);
        for column in order.iter().flat_map(|part| &part.columns) {
            if !columns.iter().any(|(name, _)| *name == column.0) {
                columns.push(column.clone());
            }
        }
        let points = self.times.as_ref().map_or(1, Vec::len);
        let spread = |part: &&FinishedRun| {
            let place = |name: &String| part.columns.iter().position(|(own, _)| own == name);
            let places: Vec<Option<usize>> = columns.iter().map(|(name, _)| place(name)).collect();
            let value = |i: usize, place: &Option<usize>| {
                place.map_or(f64::NAN, |place| part.run.values[i * part.columns.len() + place])
            };
            let values = (0..points).flat_map(|i| places.iter().map(move |place| value(i, place)).collect::<Vec<_>>());
            SweptRun { values: values.collect(), ..part.run.clone() }
        };
        Sweep {
            model: model.name().to_string(),
            parameters: variation.names.clone(),
            grid: variation.grid.clone(),
            size: variation.rows.len(),
            times: self.times.clone(),
            runs: order.iter().map(spread).collect(),
            columns,
        }
    }
}

/// The times that are kept; none if the end is.
fn times(model: &Model, settings: &Settings) -> Result<Option<Vec<f64>>, Error> {
    let (t0, tend) = model.interval();
    let tend = settings.tend.or(tend).ok_or_else(|| Error::NoInterval { name: model.source_name() })?;
    match settings.save.over(settings.t0.unwrap_or(t0), tend) {
        daedal::Save::End => Ok(None),
        daedal::Save::At(times) => Ok(Some(times)),
        daedal::Save::Steps | daedal::Save::Dense => Err(Error::SweepSave),
    }
}

/// A mistake that all runs have is told before any of them is made.
fn concerns_all(model: &Model, variation: &Variation, settings: &Settings) -> Result<(), Error> {
    let first = model.set(&variation.row(0)).and_then(|first| choose(&first, settings));
    match (first, choose(model, settings)) {
        (Err(error), Err(_)) if error.kind() == ErrorKind::Input => Err(error),
        _ => Ok(()),
    }
}

/// One run; none if it was interrupted.
fn one(
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
        let model = model.set(&variation.row(number))?;
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
    let Some(record) = outcome.record() else {
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
