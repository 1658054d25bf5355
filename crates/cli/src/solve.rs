//! Simulate a model: the arguments become settings, the outcome files and text.

use crate::arguments::Solve;
use crate::failure::{Failure, print};
use crate::files::{self, Output};
use crate::interrupt::Interrupt;
use crate::progress::Bar;
use crate::summary;
use crate::warnings;
use daedal_run::Run;
use daedal_simulation::{ErrorKind, Outcome, Progress, Simulation, statistics};
use std::ops::ControlFlow;

/// Simulate.
pub fn solve(arguments: &Solve) -> Result<(), Failure> {
    let model = arguments.model.load()?;
    let settings = arguments.settings();
    let has_events = model.has_modes() || model.has_events() || !settings.events.is_empty();
    if let Some(path) = arguments.events.as_ref().filter(|_| !has_events) {
        return Err(Failure::NoEvents { model: model.name().to_string(), path: path.clone() });
    }
    let simulation = Simulation::new(&model, &settings)?;
    let outputs = Output::open_all(&arguments.output, arguments.events.as_ref())?;
    let interrupt = Interrupt::watch();
    let outcome = {
        let mut bar = Bar::new();
        simulation.run(&mut |progress: &Progress| {
            bar.show(progress);
            if interrupt.signal().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    };
    let recorded = outcome.record();
    let written = recorded.as_ref().map_or(Ok(()), |recorded| files::write_all(outputs, recorded));
    let printed = printed(&outcome, recorded.as_ref(), arguments);
    warnings::report(&outcome.warnings);
    let Some(error) = outcome.error else { return written.and(printed) };
    match (error.kind(), interrupt.signal(), &outcome.computed) {
        (ErrorKind::Interrupted, Some(signal), Some(computed)) => {
            let kept = !arguments.output.is_empty();
            written.and(printed).and(Err(Failure::Interrupted { signal, t: computed.t, kept }))
        }
        _ => {
            // the reason of the stop comes last; what went wrong besides must not be lost
            for failure in [written, printed].into_iter().filter_map(Result::err) {
                failure.report();
            }
            Err(error.into())
        }
    }
}

fn printed(outcome: &Outcome, recorded: Option<&Run>, arguments: &Solve) -> Result<(), Failure> {
    let refused = outcome.error.as_ref().is_some_and(|error| error.kind() == ErrorKind::Input);
    match (&outcome.computed, recorded) {
        _ if arguments.stats.is_some() && !refused => print(&format!("{}\n", statistics::object(outcome, recorded))),
        (Some(computed), Some(recorded)) if arguments.stats.is_none() => {
            print(&summary::summary(outcome, computed, recorded, arguments))
        }
        _ => Ok(()),
    }
}
