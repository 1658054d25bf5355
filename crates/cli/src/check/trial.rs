//! A trial run with the defaults of the model, put into the equations as they were written.
//!
//! What an analysis says of a start may be wrong later, and what a form has derived may be wrong altogether. So a check makes some steps,
//! and looks at them with nothing but the equations themselves, as `daedal solve --verify` does.

use super::lines::Text;
use crate::arguments::{Model, Solve};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::setup::{Equations, Setup};
use crate::solve::{Chosen, Run};
use crate::{hybrid, verification};
use daedal::SolveError;
use daedal::StepFailure;
use daedal::hybrid::{HybridError, HybridFailure};
use daedal::verify::Verification;
use daedal_run::Warning;
use serde_json::{Value, json};
use std::error::Error;

/// Most attempts of steps: enough to see what a start does not show, and no long run.
const MOST_STEPS: u64 = 200;

/// What a trial run gave.
pub struct Trial {
    /// How far it came.
    until: f64,
    /// Why it did not go on, unless its steps were used up.
    stopped: Option<String>,
    found: Option<Verification>,
}

/// Make one, if the model has an interval and a run can be started; why not is told by the analysis.
pub fn make(model: &Model) -> Result<Option<Trial>, Failure> {
    let setup = Setup::resolve(model)?;
    if !(setup.tend() > setup.t0()) {
        return Ok(None);
    }
    let arguments = Solve { verify: true, max_steps: Some(MOST_STEPS), ..Solve::default() };
    let chosen = Chosen::resolve(&setup, &arguments)?;
    if matches!(setup.equations, Equations::Hybrid(_)) {
        let (solution, error) = hybrid::attempt(setup, chosen, &arguments)?;
        let stopped = error.as_ref().and_then(|error| match error {
            HybridError::Stopped { cause, .. } => match &**cause {
                HybridFailure::Step { cause: StepFailure::TooManySteps { .. }, .. } => None,
                cause => Some(told(cause)),
            },
            error => Some(told(error)),
        });
        return Ok(solution.map(|solution| Trial { until: solution.end.t, stopped, found: solution.verification }));
    }
    let made = Run::resolve(setup, chosen, &arguments)?.make(&Interrupt::never(), None, None);
    let stopped = made.error().and_then(|error| match error {
        SolveError::Stopped { cause: StepFailure::TooManySteps { .. }, .. } => None,
        SolveError::Stopped { cause, .. } => Some(told(cause)),
        error => Some(told(error)),
    });
    Ok(made.solution().map(|solution| Trial { until: solution.end.t, stopped, found: solution.verification.clone() }))
}

/// A reason with its causes.
fn told(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {}", told(cause)))
}

impl Trial {
    /// What it says against the model.
    pub fn doubts(&self) -> Vec<Warning> {
        let stopped = self.stopped.iter().map(|why| Warning::new(format!("a run with the defaults stops: {why}")));
        stopped.chain(verification::warnings(false, self.found.as_ref())).collect()
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = Text::default();
        text.heading("trial run");
        let ended = if self.stopped.is_some() { "stopped at" } else { "made up to" };
        text.entry(ended, &format!("t = {:?}", self.until));
        match &self.found {
            Some(found) => {
                let (label, said) = verification::entry(found);
                text.entry(label, &said);
            }
            None => text.entry("not verified", "a black box, without formulas to put the solution into"),
        }
        text.into_string()
    }

    /// For programs.
    pub fn object(&self) -> Value {
        json!({ "until": self.until, "error": self.stopped, "verification": verification::object(self.found.as_ref()) })
    }
}
