//! What is compared: something that a planned run can be made of, whatever kind of system it is.

use super::plan::PlannedRun;
use super::pool::Lost;
use daedal::{Residuals, Statistics};
use daedal_run::ColumnKind;
use daedal_run::comparison::{ConstraintLevels, Counters, KINDS};
use std::error::Error;
use std::time::Duration;

/// More attempts than any run makes in its time: the time is what bounds it.
pub const MAX_STEPS: u64 = 100_000_000;

/// A model at its start.
pub trait Subject: Send + Sync {
    /// Run once and keep the end; `watched`: look at the invariants as well.
    fn run(&self, run: &PlannedRun, timeout: Duration, watched: bool) -> RunResult;

    /// Runs that serve as a reference, the first that works, and others that check it: names of method and formulation.
    fn references(&self) -> References;
}

/// Ways to a reference, in the order in which they are tried.
pub struct References {
    pub run: Vec<(&'static str, &'static str)>,
    pub check: Vec<(&'static str, &'static str)>,
}

/// What came of a run.
#[derive(Default)]
pub struct RunResult {
    /// Why it did not reach the end.
    pub failure: Option<String>,
    /// The last point, even if it is not the end.
    pub end: Option<EndPoint>,
    pub counters: Option<Counters>,
    pub max_residual: ConstraintLevels,
    /// Largest change of an invariant, where the model has any.
    pub drift: Option<f64>,
    /// Unknowns that nothing determines.
    pub undetermined: Vec<String>,
    /// What was chosen, where that was left open.
    pub chosen: Option<String>,
    /// How long the steps took.
    pub seconds: f64,
    /// The same by the clock on the wall, with all that the machine did beside.
    pub by_the_wall: f64,
}

/// The last point of a run.
pub struct EndPoint {
    pub t: f64,
    /// Variables that have errors.
    pub values: Vec<EndValue>,
    /// Mode and switches, of a model with modes.
    pub switching: Option<SwitchHistory>,
}

/// A variable at the end.
pub struct EndValue {
    pub name: String,
    /// A place in [`KINDS`].
    pub kind: usize,
    pub value: f64,
    /// Its usual size: the absolute tolerance over the relative one.
    pub size: f64,
}

/// What a run through several modes did.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchHistory {
    /// The last mode.
    pub mode: String,
    /// When which mode was entered.
    pub switches: Vec<(f64, String)>,
}

/// The place of a kind of variable in [`KINDS`]; none for those that have no errors of their own.
pub fn kind(of: ColumnKind) -> Option<usize> {
    match of {
        ColumnKind::Position => Some(0),
        ColumnKind::Velocity => Some(1),
        ColumnKind::Multiplier => Some(2),
        ColumnKind::State => Some(3),
        _ => None,
    }
}

/// The place of switch times.
pub const SWITCH_TIMES: usize = KINDS.len() - 1;

impl RunResult {
    /// It could not be made.
    pub fn failed(why: String) -> Self {
        RunResult { failure: Some(why), ..RunResult::default() }
    }

    /// There is no result.
    pub fn lost(why: Lost) -> Self {
        RunResult::failed(match why {
            Lost::Panicked(said) => format!("internal error: {said}"),
            Lost::Silent(patience) => {
                format!("given up: no step was accepted or refused for {:.0} s", patience.as_secs_f64())
            }
        })
    }

    /// The point at the end, if it was reached.
    pub fn reached(&self) -> Option<&EndPoint> {
        self.end.as_ref().filter(|_| self.failure.is_none())
    }
}

/// Counters as a comparison knows them.
pub fn counters(s: &Statistics) -> Counters {
    Counters {
        steps: s.steps,
        rejected_error: s.rejected_error,
        rejected_newton: s.rejected_newton,
        residuals: s.residuals,
        jacobians: s.jacobians,
        decompositions: s.decompositions,
        solves: s.solves,
    }
}

/// Residuals as a comparison knows them.
pub fn levels(largest: &Residuals) -> ConstraintLevels {
    ConstraintLevels {
        position: largest.position,
        velocity: largest.velocity,
        acceleration: largest.acceleration,
        constraint: largest.constraint,
        hidden: largest.hidden,
    }
}

/// What is said of a run that did not end in its time.
pub fn too_long(timeout: Duration, t: f64) -> String {
    format!("stopped after {:?} s at t = {t:.4}", timeout.as_secs_f64())
}

/// An error with its causes, each once.
pub fn told(error: &dyn Error) -> String {
    let (mut said, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        let more = error.to_string();
        if !said.ends_with(&more) {
            said = format!("{said}: {more}");
        }
        cause = error.source();
    }
    said
}
