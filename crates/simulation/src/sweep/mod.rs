//! Many runs of one model, which differ in the values of parameters: every combination of some values, or a row of values for each run.
//!
//! Runs are made on threads that live as long as the call. What a run gives depends on its row only, so that the number of threads changes no
//! bit. A run that fails has a message, and NaN from its stop on; the others do not notice. Each run is read and compiled with its own numbers.

mod gathering;
mod single;
mod store;
mod variation;

use crate::error::Error;
use crate::model::Model;
use crate::settings::{SaveSetting, Settings};
use daedal_run::Sweep;
use gathering::FinishedRun;
pub use gathering::SweepGathering;
use single::one;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
pub use variation::Variation;

/// How often the caller is asked whether to go on.
const PAUSE: Duration = Duration::from_millis(50);
/// How often finished runs are written to the folder.
const BETWEEN_PARTS: Duration = Duration::from_secs(1);

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
    /// Was it ended before all runs were made?
    pub interrupted: bool,
    /// How many runs were found in the folder.
    pub found: usize,
    /// Why the folder could not be written, as on a full disk. The sweep ends there, and what was made is here all the same.
    pub unwritten: Option<Error>,
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
    let mut gathering = SweepGathering::new(model, variation, settings)?;
    let (run, times) = run_settings(model, &settings.run)?;
    let open = gathering.missing();
    let threads = settings.threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from)).max(1);
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = |sender: Sender<FinishedRun>| {
        while let Some(&number) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
            let made = one(model, variation, number, &run, times.as_deref(), &stop);
            // a run that was interrupted is not made; nobody who listens is no reason to go on
            if made.is_none_or(|made| sender.send(made).is_err()) || stop.load(Ordering::Relaxed) {
                return;
            }
        }
    };
    let total = variation.len();
    let mut kept = Ok(());
    thread::scope(|scope| {
        let (sender, finished) = channel();
        for _ in 0..threads.min(open.len()) {
            let (sender, work) = (sender.clone(), &work);
            scope.spawn(move || work(sender));
        }
        drop(sender);
        let (mut asked, mut saved) = (Instant::now(), Instant::now());
        loop {
            let over = match finished.recv_timeout(PAUSE) {
                Ok(made) => {
                    gathering.push(made);
                    false
                }
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => true,
            };
            if kept.is_ok() && (over || saved.elapsed() > BETWEEN_PARTS) {
                kept = gathering.save();
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
                if progress(gathering.len(), total).is_break() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        }
    });
    if gathering.len() == total {
        let _ = progress(total, total);
    }
    Ok(SweepOutcome { unwritten: kept.err(), ..gathering.outcome() })
}

/// Make these runs one after the other, on this thread: a part of a sweep that is made elsewhere, for [`SweepGathering::add`]. Mistakes that all runs have
/// are failures of the runs here.
pub fn make_runs(model: &Model, rows: &Variation, settings: &Settings) -> Result<Sweep, Error> {
    let (run, times) = run_settings(model, settings)?;
    let never = AtomicBool::new(false);
    let made: Vec<FinishedRun> =
        (0..rows.len()).filter_map(|k| one(model, rows, k, &run, times.as_deref(), &never)).collect();
    Ok(gathering::together(model, rows, times, &made))
}

/// The settings of every run, with the times that are kept; none if the end is.
fn run_settings(model: &Model, settings: &Settings) -> Result<(Settings, Option<Vec<f64>>), Error> {
    let times = times(model, settings)?;
    let run = Settings { save: times.clone().map_or(SaveSetting::End, SaveSetting::At), ..settings.clone() };
    Ok((run, times))
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
