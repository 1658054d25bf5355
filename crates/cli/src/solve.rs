//! Simulate a model: the arguments become settings, the outcome files and text.

use crate::arguments::Solve;
use crate::failure::{Failure, print};
use crate::files::{self, Output};
use crate::interrupt::Interrupt;
use crate::progress::Bar;
use crate::statistics;
use crate::summary;
use crate::warnings;
use daedal_run::Run;
use daedal_simulation::{Error, ErrorKind, Outcome, Progress, Simulation};
use std::ops::ControlFlow;

/// Simulate.
pub fn solve(arguments: &Solve) -> Result<(), Failure> {
    let model = arguments.model.load()?;
    if arguments.events.is_some() && !model.has_modes() {
        let given = [("max_switches", arguments.max_switches.is_some()), ("sliding", arguments.sliding.is_some())];
        let given = given.into_iter().chain([("events", true)]).filter(|(_, given)| *given);
        let settings = given.map(|(key, _)| key).collect();
        return Err(Error::NoModes { settings, model: model.name().to_string() }.into());
    }
    let simulation = Simulation::new(&model, &arguments.settings())?;
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
