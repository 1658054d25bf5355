//! Why a hybrid run could not be made, or stopped.

use super::solution::HybridSolution;
use crate::dae::AnalysisError;
use crate::error::{BadOption, StepFailure};
use crate::initial::BadInitial;
use crate::method::StartFailure;
use crate::motion::consistent::InitialisationError;

/// Why a mode could not be entered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EnterError {
    /// No consistent state of a general system.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// No consistent state of equations of motion.
    #[error(transparent)]
    Initialisation(#[from] InitialisationError),
    /// Initial values of another system.
    #[error(transparent)]
    Given(#[from] BadInitial),
    /// The method could not be started.
    #[error(transparent)]
    Start(#[from] StartFailure),
    /// The state could not be made consistent.
    #[error(transparent)]
    Step(#[from] StepFailure),
    /// A state of another length.
    #[error("{given} values given for {wanted} unknowns")]
    Length {
        /// How many were given.
        given: usize,
        /// How many there are.
        wanted: usize,
    },
    /// A name that is to be kept does not exist.
    #[error("`{name}` is to be kept, but there is no such unknown")]
    UnknownName {
        /// The name.
        name: String,
    },
    /// Components that are to be kept leave no consistent state.
    #[error(
        "{} must not change, but without changing {} {} cannot hold; keep fewer unknowns",
        .names.join(", "), if .names.len() == 1 { "it" } else { "them" }, told(.equations, "the constraints")
    )]
    Kept {
        /// Those that take part.
        names: Vec<String>,
        /// Constraints that they leave unsatisfied, with residuals.
        equations: Vec<(String, f64)>,
    },
    /// The iteration for a consistent state failed.
    #[error(
        "no consistent state near the given one was found (largest residual {residual:.1e}){}{}; start closer to one, or change the state in the transition",
        if .equations.is_empty() { String::new() } else { format!(": {} cannot hold", told(.equations, "")) },
        if .kept.is_empty() { String::new() } else { format!(" while {} must not change", .kept.join(", ")) }
    )]
    NotConsistent {
        /// Largest residual, relative to what its constraint is summed from, where all are met as well as possible.
        residual: f64,
        /// Constraints that exclude each other there, with residuals; none if that was not found.
        equations: Vec<(String, f64)>,
        /// Unknowns that must not change and take part.
        kept: Vec<String>,
    },
    /// What impulses leave alone could not be found.
    #[error(
        "the jump that the equations ask for is not determined: {reason}; say what is to be kept (restart = \"differential\", \"least-change\" or keep), or change the state in the transition"
    )]
    Impulses {
        /// Why.
        reason: String,
    },
    /// Impulses were asked for where they have no meaning.
    #[error("impulses need equations of motion with formulas; choose another way to restart")]
    NoMomentum,
}

/// Equations with their residuals, or something else where there are none.
fn told(equations: &[(String, f64)], otherwise: &str) -> String {
    if equations.is_empty() {
        return otherwise.into();
    }
    let one = |(name, residual): &(String, f64)| format!("{name} (residual {residual:.1e})");
    equations.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Why a hybrid run stopped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HybridFailure {
    /// A step could not be made.
    #[error("in mode `{mode}`: {cause}")]
    Step {
        /// Where.
        mode: String,
        /// Why.
        cause: StepFailure,
    },
    /// A mode could not be entered.
    #[error("at t = {t}: mode `{mode}` cannot be entered{}: {cause}", .from.as_ref().map(|(mode, condition)| format!(" from `{mode}` ({condition})")).unwrap_or_default())]
    Enter {
        /// Time.
        t: f64,
        /// Which mode.
        mode: String,
        /// From which mode, by which condition; none at the start.
        from: Option<(String, String)>,
        /// Why.
        cause: Box<EnterError>,
    },
    /// Several transitions at one time.
    #[error("at t = {t}: several transitions leave mode `{mode}` at the same time: {}; give them priorities, or conditions that exclude each other", .transitions.join("; "))]
    Ambiguous {
        /// Time.
        t: f64,
        /// Which mode.
        mode: String,
        /// "condition → mode" of each.
        transitions: Vec<String>,
    },
    /// Transitions follow each other without end.
    #[error("at t = {t}: {count} transitions without any time in between, the last ones {}; conditions of these modes contradict each other: add a hysteresis, or a mode for what happens here", .cycle.join(" → "))]
    EndlessSwitching {
        /// Time.
        t: f64,
        /// How many.
        count: u32,
        /// The last modes.
        cycle: Vec<String>,
    },
    /// More switches than allowed.
    #[error("at t = {t}: {count} switches made, more than max_switches allows; the system may be chattering between {}: let it slide (a stated hysteresis does with hysteresis = \"limit\"), widen the hysteresis, or raise max_switches", .modes.join(" and "))]
    TooManySwitches {
        /// Time.
        t: f64,
        /// How many.
        count: u64,
        /// The modes of the last switches.
        modes: Vec<String>,
    },
    /// Infinitely many switches in finite time.
    #[error(
        "at t = {t}: switches accumulate: {count} times `{condition}`, at distances that shrink by {ratio:.4} each time; there is no way past t = {limit}; name the mode that follows (after_accumulation), or stop before it"
    )]
    Accumulation {
        /// Time of the last switch.
        t: f64,
        /// Where they accumulate.
        limit: f64,
        /// How many were made.
        count: u64,
        /// Ratio of successive distances.
        ratio: f64,
        /// Condition of the transition.
        condition: String,
    },
    /// A switching function has no value.
    #[error("at t = {t}: `{condition}` of mode `{mode}` has no value (not a number)")]
    Undefined {
        /// Time.
        t: f64,
        /// Which mode.
        mode: String,
        /// Which condition.
        condition: String,
    },
    /// A transition wrote values that are not finite.
    #[error("at t = {t}: the transition from `{from}` to `{to}` ({condition}) gives {name} the value {value}")]
    Transfer {
        /// Time.
        t: f64,
        /// Mode that is left.
        from: String,
        /// Mode that is entered.
        to: String,
        /// Which condition.
        condition: String,
        /// Which unknown.
        name: String,
        /// Its value.
        value: f64,
    },
}

impl HybridFailure {
    /// Where it happened.
    pub fn time(&self) -> f64 {
        match self {
            HybridFailure::Step { cause, .. } => cause.time(),
            HybridFailure::Enter { t, .. }
            | HybridFailure::Ambiguous { t, .. }
            | HybridFailure::EndlessSwitching { t, .. }
            | HybridFailure::TooManySwitches { t, .. }
            | HybridFailure::Accumulation { t, .. }
            | HybridFailure::Undefined { t, .. }
            | HybridFailure::Transfer { t, .. } => *t,
        }
    }
}

/// Why a hybrid run did not reach its end.
#[derive(Debug, thiserror::Error)]
pub enum HybridError {
    /// Options that make no sense.
    #[error(transparent)]
    Options(#[from] BadOption),
    /// The system is not well formed.
    #[error("{0}")]
    System(String),
    /// The run stopped on the way.
    #[error("the run stopped at t = {}", partial.end.t)]
    Stopped {
        /// Why.
        #[source]
        cause: Box<HybridFailure>,
        /// What was computed.
        partial: Box<HybridSolution>,
    },
}
