//! What can be known about the conditions at both ends of a boundary value problem: it is solved, and its account is told.

use crate::error::Error;
use crate::model::Model;
use crate::monitor::Unwatched;
use crate::outcome::SolverResult;
use crate::settings::{SaveSetting, Settings};
use crate::solve::Simulation;
use daedal::{BoundaryAccount, Verification};
use serde_json::{Value, json};

/// What is known about the conditions at both ends.
pub struct BoundaryCheck {
    /// How the problem was solved.
    pub account: Option<BoundaryAccount>,
    /// Why it was not.
    pub error: Option<String>,
    /// What the equations say about the solution.
    pub found: Option<Verification>,
    /// Where the solution starts, by name; the rest of a check is told there.
    pub start: Vec<(String, f64)>,
}

/// Solve it, if the model has conditions at its end.
pub(super) fn make(model: &Model, t0: Option<f64>) -> Result<Option<BoundaryCheck>, Error> {
    if model.boundary().is_none() {
        return Ok(None);
    }
    let settings = Settings { t0, verify: true, save: SaveSetting::Steps, ..Settings::default() };
    let outcome = Simulation::new(model, &settings)?.run(&mut Unwatched);
    let start = match (outcome.computed.as_ref().map(|found| &found.result), &outcome.boundary) {
        (Some(SolverResult::Single { solution, .. }), Some(_)) if !solution.is_empty() => {
            solution.names.iter().cloned().zip(solution.state(0).iter().copied()).collect()
        }
        _ => Vec::new(),
    };
    let found = outcome.computed.and_then(|found| found.verification);
    let error = outcome.error.map(|error| error.to_string());
    Ok(Some(BoundaryCheck { account: outcome.boundary, error, found, start }))
}

/// An account for programs.
pub fn account_object(account: &BoundaryAccount) -> Value {
    let conditions = account.conditions.iter().map(|c| json!({ "name": c.name, "residual": c.residual }));
    let found: serde_json::Map<String, Value> =
        account.found.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    json!({
        "degrees": account.degrees,
        "needed": account.needed,
        "conditions": conditions.collect::<Vec<_>>(),
        "phase": account.phase,
        "conditioning": account.conditioning,
        "intervals": account.intervals,
        "meshes": account.meshes,
        "iterations": account.iterations,
        "difference": account.difference,
        "guess": account.guess,
        "found": found,
        "end": account.end,
    })
}

impl BoundaryCheck {
    /// For programs.
    pub(super) fn object(&self) -> Value {
        json!({ "account": self.account.as_ref().map(account_object), "error": self.error })
    }
}
