//! A trial run with the defaults of the model, put into the equations as they were written.
//!
//! What an analysis says of a start may be wrong later, and what a form has derived may be wrong altogether. So a check makes some steps,
//! and looks at them with nothing but the equations themselves, as `daedal solve --verify` does.

use crate::error::Error;
use crate::model::Model;
use crate::monitor::Unwatched;
use crate::settings::Settings;
use crate::solve::Simulation;
use crate::verification;
use daedal::StepFailure;
use daedal::Verification;
use daedal::hybrid::HybridFailure;
use daedal_run::WarningRecord;
use serde_json::{Value, json};

/// Most attempts of steps: enough to see what a start does not show, and no long run.
const MOST_STEPS: u64 = 200;

/// What a trial run gave.
pub struct TrialRun {
    /// How far it came.
    pub until: f64,
    /// Why it did not go on, unless its steps were used up.
    pub stopped: Option<String>,
    /// What the equations say about it.
    pub found: Option<Verification>,
}

/// Make one, if the model has an interval and a run can be started; why not is told by the analysis.
pub(super) fn make(model: &Model, t0: Option<f64>) -> Result<Option<TrialRun>, Error> {
    let (start, tend) = model.interval();
    if tend.is_none_or(|tend| tend <= t0.unwrap_or(start)) {
        return Ok(None);
    }
    let settings = Settings { t0, verify: true, max_steps: Some(MOST_STEPS), ..Settings::default() };
    let outcome = Simulation::new(model, &settings)?.run(&mut Unwatched);
    let stopped = outcome.error.and_then(|error| stopped(&error));
    Ok(outcome.computed.map(|found| TrialRun { until: found.t, stopped, found: found.verification }))
}

/// Why a run did not go on, unless its steps were used up.
fn stopped(error: &Error) -> Option<String> {
    match error {
        Error::Located { error, .. } => stopped(error),
        Error::Stopped { cause, .. } if used_up(cause) => None,
        Error::Stopped { cause, .. } => Some(told(&**cause)),
        Error::StoppedInMode { cause, .. } => match &**cause {
            HybridFailure::Step { cause, .. } if used_up(cause) => None,
            cause => Some(told(cause)),
        },
        error => Some(told(error)),
    }
}

/// Were only its steps used up? A kink that is near then is no reason.
fn used_up(cause: &StepFailure) -> bool {
    match cause {
        StepFailure::TooManySteps { .. } => true,
        StepFailure::Jump { cause, .. } => used_up(cause),
        _ => false,
    }
}

/// A reason with its causes.
fn told(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {}", told(cause)))
}

impl TrialRun {
    /// What it says against the model.
    pub(super) fn doubts(&self) -> Vec<WarningRecord> {
        let stopped =
            self.stopped.iter().map(|why| WarningRecord::new(format!("a run with the defaults stops: {why}")));
        stopped.chain(verification::warnings(false, self.found.as_ref())).collect()
    }

    /// For programs.
    pub(super) fn object(&self) -> Value {
        json!({ "until": self.until, "error": self.stopped, "verification": verification::object(self.found.as_ref()) })
    }
}
