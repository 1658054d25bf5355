//! What can be known about a model before it is solved: text for people, or one JSON object, whose keys `daedal_simulation::check` lists.

mod general;
mod linear;
mod lines;
mod modes;
mod motion;

use crate::arguments::{CheckArguments as Arguments, OutputFormat};
use crate::boundary;
use crate::failure::{Failure, print};
use daedal_simulation::check::{BoundaryCheck, Check, Examined, TrialRun, check as look};
use daedal_simulation::verification;
pub use linear::eigenvalues;
pub use lines::ReportText;

/// Check a model.
pub fn check(arguments: &Arguments) -> Result<(), Failure> {
    let found = look(&arguments.model.load()?, arguments.model.t0)?;
    match arguments.format {
        OutputFormat::Text => print(&whole_text(&found))?,
        OutputFormat::Json => print(&format!("{:#}\n", found.object()))?,
    }
    found.into_error().map_or(Ok(()), |error| Err(error.into()))
}

/// All of it, for people.
pub fn whole_text(found: &Check) -> String {
    let trial = found.trial.as_ref().map_or(String::new(), |trial| found.model.places().told(&of_trial(trial)));
    let boundary = found.boundary.as_ref().map_or(String::new(), of_boundary);
    text(found) + &trial + &boundary
}

/// All but the trial run, for people.
fn text(check: &Check) -> String {
    match &check.examined {
        Examined::Motion(found) => motion::text(check, found),
        Examined::General(found) => general::text(check, found),
        Examined::Modes(found) => modes::text(check, found),
    }
}

/// The conditions at both ends.
fn of_boundary(found: &BoundaryCheck) -> String {
    let mut text = ReportText::default();
    text.heading("conditions at the ends");
    if let Some(account) = &found.account {
        for (label, said) in boundary::lines(account) {
            text.entry(label, &said);
        }
        for condition in &account.conditions {
            text.entry(&format!("off by {:.1e}", condition.residual.abs()), &condition.name);
        }
        for (name, value) in &account.found {
            text.entry("found", &format!("{name} = {value:?}"));
        }
        if let Some(end) = account.end {
            text.entry("found", &format!("t = {end:?} at the end"));
        }
    }
    if let Some(error) = &found.error {
        text.entry("not solved", error);
    }
    if let Some(found) = &found.found {
        let (label, said) = verification::entry(found);
        text.entry(label, &said);
    }
    text.into_string()
}

fn of_trial(trial: &TrialRun) -> String {
    let mut text = ReportText::default();
    text.heading("trial run");
    let ended = if trial.stopped.is_some() { "stopped at" } else { "made up to" };
    text.entry(ended, &format!("t = {:?}", trial.until));
    match &trial.found {
        Some(found) => {
            let (label, said) = verification::entry(found);
            text.entry(label, &said);
        }
        None => text.entry("not verified", "a black box, without formulas to put the solution into"),
    }
    text.into_string()
}
