//! Many runs of a model with other values of its parameters, into files.

use crate::arguments::SweepArguments;
use crate::failure::{Failure, print};
use crate::files::{self, Output};
use crate::interrupt::Interrupt;
use crate::progress::Tally;
use daedal_run::{Sweep, SweepFormat};
use daedal_simulation::{SweepSettings, Variation, sweep as make};
use std::fmt::Write;
use std::ops::ControlFlow;

/// Most runs without an end that are named.
const NAMED: usize = 5;

/// Sweep.
pub fn sweep(arguments: &SweepArguments) -> Result<(), Failure> {
    if let Some(path) = arguments.output.iter().find(|path| SweepFormat::of(path).is_none()) {
        return Err(Failure::NoSweep { path: path.clone() });
    }
    let model = arguments.model.load()?;
    let variation = Variation::grid(arguments.vary.clone())?;
    let settings = SweepSettings {
        run: arguments.settings(),
        threads: arguments.threads.map(usize::from),
        resume: arguments.resume.clone(),
    };
    let outputs = Output::open_all(&arguments.output, None)?;
    let interrupt = Interrupt::watch();
    let tally = Tally::new(variation.len(), "runs");
    let mut shown = 0;
    let found = make(&model, &variation, &settings, &mut |done, _| {
        (shown..done).for_each(|_| tally.count());
        shown = shown.max(done);
        if interrupt.signal().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    drop(tally);
    let swept = &found.sweep;
    let written = files::write_sweep(outputs, swept);
    let printed = print(&text(swept, found.found, arguments));
    written.and(printed)?;
    if let Some(error) = found.unwritten {
        return Err(error.into());
    }
    match interrupt.signal().filter(|_| found.interrupted) {
        Some(signal) => Err(Failure::SweepInterrupted { signal, made: swept.runs.len(), of: swept.size }),
        None if swept.runs.iter().any(|run| run.status.reached()) => Ok(()),
        None => Err(Failure::NoneReached { runs: swept.runs.len() }),
    }
}

/// Some lines about it.
fn text(swept: &Sweep, found: usize, arguments: &SweepArguments) -> String {
    let mut text = String::new();
    let complete = swept.runs.iter().filter(|run| run.status.reached()).count();
    let _ = writeln!(text, "{}: {complete} of {} runs reached the end", swept.model, swept.size);
    if found > 0 {
        let _ = writeln!(text, "{found} of them were found in the folder");
    }
    let stopped: Vec<_> = swept.runs.iter().filter(|run| !run.status.reached()).collect();
    for run in stopped.iter().take(NAMED) {
        let named: Vec<String> =
            swept.parameters.iter().zip(&run.parameters).map(|(name, value)| format!("{name} = {value:?}")).collect();
        let _ = writeln!(text, "  {}: {}", named.join(", "), run.message);
    }
    if stopped.len() > NAMED {
        let _ = writeln!(text, "  and {} more", stopped.len() - NAMED);
    }
    for path in &arguments.output {
        let _ = writeln!(text, "{} runs in {}", swept.runs.len(), path.display());
    }
    text
}
