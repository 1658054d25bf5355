//! Why a boundary value problem was not solved: what, where, and what to try.

use crate::dae::{PrepareError, Unknowns};
use crate::error::BadOption;
use crate::initial::BadInitial;
use crate::method::StartFailure;
use crate::solution::Solution;
use std::fmt;

/// Something with its residual.
#[derive(Clone, Debug, PartialEq)]
pub struct Unmet {
    /// The condition, or the equation.
    pub name: String,
    /// What it is off by.
    pub residual: f64,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} (off by {:.2e})", self.name, self.residual)
    }
}

/// Where an iteration stood that did not converge.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// Iterations of the last attempt.
    pub iterations: u64,
    /// Intervals of its mesh.
    pub intervals: usize,
    /// Largest residual of the collocated equations.
    pub residual: f64,
    /// The equation it belongs to.
    pub equation: String,
    /// Where.
    pub t: f64,
    /// Conditions that are not met.
    pub conditions: Vec<Unmet>,
    /// Did formulas have no value at a trial?
    pub undefined: bool,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Divergence { iterations, intervals, residual, equation, t, conditions, undefined } = self;
        let unmet = if conditions.is_empty() { "none".to_string() } else { list(conditions) };
        let no_value = if *undefined { "; formulas had no finite value on the way" } else { "" };
        write!(
            f,
            "the iteration for the solution does not converge ({iterations} iterations, {intervals} intervals): largest residual of the equations {residual:.2e} in {equation} at t = {t}, of the conditions {unmet}; give better guesses at the ends or a curve, or come from an easier problem{no_value}"
        )
    }
}

/// Why a boundary value problem was not solved.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BoundaryError<L = Unknowns> {
    /// Options that make no sense.
    #[error(transparent)]
    Options(#[from] BadOption),
    /// Values at an end that do not belong to the system.
    #[error(transparent)]
    Given(#[from] BadInitial),
    /// The system has no formulas.
    #[error("a boundary value problem needs formulas; the equations of this system are values only (a black box)")]
    NoFormulas,
    /// Both ends are the same time.
    #[error("both ends of the interval are t = {t}; a boundary value problem needs two different times")]
    NoInterval {
        /// The time.
        t: f64,
    },
    /// A condition speaks of something that the system does not have.
    #[error("the condition `{condition}` speaks of `{name}`; the unknowns are {}", known.join(", "))]
    UnknownName {
        /// Which condition.
        condition: String,
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A parameter that is to be found does not exist.
    #[error("the parameter `{name}` is to be found, but {}", if known.is_empty() { "the system has no parameters".to_string() } else { format!("the parameters are {}", known.join(", ")) })]
    NoSuchParameter {
        /// Its name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The equations could not be brought into a form without hidden constraints, or the start is not consistent.
    #[error("at the start: {}", told(.0))]
    Start(Box<PrepareError>),
    /// What is fixed at the end contradicts the equations there.
    #[error("at the end: {}", told(.0))]
    End(Box<PrepareError>),
    /// Formulas jump in time.
    #[error(
        "at t = {t}: a formula changes its branch ({changed}); boundary value problems need equations that are smooth in time: end the interval there, or make the change smooth"
    )]
    Jumps {
        /// Where.
        t: f64,
        /// What changes.
        changed: String,
    },
    /// Not enough conditions.
    #[error(
        "{} for {needed} that are needed ({}): add {} of them; as it is, {} may be anything",
        counted(*given, "condition", "conditions"), needs(*degrees, *free_end), needed - given, free.join(", ")
    )]
    TooFew {
        /// How many are given.
        given: usize,
        /// How many are needed.
        needed: usize,
        /// Degrees of freedom of the system.
        degrees: usize,
        /// Is the end time to be found?
        free_end: bool,
        /// Values at the ends that can be moved.
        free: Vec<String>,
    },
    /// As many conditions as needed, or more, but they do not determine the solution.
    #[error(
        "the conditions determine {rank} of {needed} degrees of freedom ({}): {}; {} can be moved without changing them; replace one, or give other guesses if the solution found is not the wanted one",
        needs(*degrees, *free_end), dependent(conditions), free.join(", ")
    )]
    Singular {
        /// Rank of their Jacobian.
        rank: usize,
        /// How many are needed.
        needed: usize,
        /// Degrees of freedom of the system.
        degrees: usize,
        /// Is the end time to be found?
        free_end: bool,
        /// Conditions that depend on each other.
        conditions: Vec<String>,
        /// Values at the ends that can be moved.
        free: Vec<String>,
    },
    /// More conditions than needed, which contradict each other or the equations.
    #[error(
        "no solution satisfies all conditions: {} given, {needed} needed, and when all are met as well as possible there is left {}; take one of them out, or correct it",
        given,
        list(conditions)
    )]
    Contradictory {
        /// How many are given.
        given: usize,
        /// How many are needed.
        needed: usize,
        /// Those that are not met.
        conditions: Vec<Unmet>,
        /// What was computed.
        partial: Box<Solution<L>>,
    },
    /// The iteration did not converge.
    #[error("{account}")]
    NotConverged {
        /// Where it stood.
        account: Divergence,
        /// The last curve.
        partial: Box<Solution<L>>,
    },
    /// Formulas have no value along the guess.
    #[error(
        "at t = {t}: the equations have no finite value on the guess of the solution; give other values or a curve there"
    )]
    Undefined {
        /// Where.
        t: f64,
    },
    /// The constraints lose rank on the way.
    #[error(
        "at t = {t}: the constraints lose rank along the solution: a singular point, where it may continue in more than one way; change the conditions so that it does not go there"
    )]
    ConstraintsSingular {
        /// Where.
        t: f64,
    },
    /// The tolerance was not met.
    #[error(
        "{intervals} intervals do not suffice: the error near t = {t} is estimated as {error:.1e} times the tolerance; loosen the tolerance, raise max_steps, or look for a jump or a layer there"
    )]
    TooManyIntervals {
        /// How many were used.
        intervals: usize,
        /// Where the error is largest.
        t: f64,
        /// In units of the tolerance.
        error: f64,
        /// The last curve.
        partial: Box<Solution<L>>,
    },
    /// The end time went to the start.
    #[error(
        "the end time runs into the start (length {length:.1e} of the interval): there is no solution of that kind near the guess; give a better guess of the end time"
    )]
    Collapsed {
        /// What is left of the interval.
        length: f64,
    },
    /// Somebody asked for the end.
    #[error("ended on request")]
    Interrupted,
}

/// A preparation that failed, with its cause.
fn told(error: &PrepareError) -> String {
    let needs = "a boundary value problem needs its hidden constraints as formulas; write derivatives as states of their own, or give other values at the start";
    match error {
        PrepareError::Start(StartFailure::Procedure { t, cause }) => format!("at t = {t}: {cause}; {needs}"),
        PrepareError::Start(StartFailure::Degrees { t, degrees, wanted, .. }) => format!(
            "at t = {t}: {degrees} differential equations are left by the formulas of the hidden constraints, {wanted} by the analysis; {needs}"
        ),
        error => error.to_string(),
    }
}

/// What the number of conditions is made of.
fn needs(degrees: usize, free_end: bool) -> String {
    let freedom = counted(degrees, "degree of freedom", "degrees of freedom");
    format!("{freedom}{}", if free_end { " and the end time" } else { "" })
}

/// A number of things.
pub(super) fn counted(n: usize, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}

fn list(conditions: &[Unmet]) -> String {
    conditions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn dependent(conditions: &[String]) -> String {
    match conditions {
        [] => "some depend on the others".to_string(),
        [one] => format!("{one} restricts nothing"),
        all => format!("{} depend on each other", all.join(", ")),
    }
}

impl<L: Clone> BoundaryError<L> {
    /// What was computed, if anything, by itself.
    pub fn into_partial(self) -> Option<Solution<L>> {
        match self {
            BoundaryError::Contradictory { partial, .. }
            | BoundaryError::NotConverged { partial, .. }
            | BoundaryError::TooManyIntervals { partial, .. } => Some(*partial),
            _ => None,
        }
    }

    /// What was computed, if anything.
    pub fn partial(&self) -> Option<&Solution<L>> {
        match self {
            BoundaryError::Contradictory { partial, .. }
            | BoundaryError::NotConverged { partial, .. }
            | BoundaryError::TooManyIntervals { partial, .. } => Some(partial),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub(super) fn partial_mut(&mut self) -> Option<&mut Solution<L>> {
        match self {
            BoundaryError::Contradictory { partial, .. }
            | BoundaryError::NotConverged { partial, .. }
            | BoundaryError::TooManyIntervals { partial, .. } => Some(partial),
            _ => None,
        }
    }

    /// Is the input at fault, rather than the computation?
    pub fn is_input(&self) -> bool {
        !matches!(
            self,
            BoundaryError::NotConverged { .. }
                | BoundaryError::Contradictory { .. }
                | BoundaryError::Undefined { .. }
                | BoundaryError::ConstraintsSingular { .. }
                | BoundaryError::TooManyIntervals { .. }
                | BoundaryError::Collapsed { .. }
                | BoundaryError::Singular { .. }
                | BoundaryError::Interrupted
        )
    }

    /// The same with another account of where the variables stand in what was computed.
    pub fn map_layout<M>(self, layout: impl FnOnce(&L) -> M) -> BoundaryError<M> {
        let of = |partial: Solution<L>| Box::new(partial.map_layout(layout));
        match self {
            BoundaryError::Options(e) => BoundaryError::Options(e),
            BoundaryError::Given(e) => BoundaryError::Given(e),
            BoundaryError::NoFormulas => BoundaryError::NoFormulas,
            BoundaryError::NoInterval { t } => BoundaryError::NoInterval { t },
            BoundaryError::UnknownName { condition, name, known } => {
                BoundaryError::UnknownName { condition, name, known }
            }
            BoundaryError::NoSuchParameter { name, known } => BoundaryError::NoSuchParameter { name, known },
            BoundaryError::Start(e) => BoundaryError::Start(e),
            BoundaryError::End(e) => BoundaryError::End(e),
            BoundaryError::Jumps { t, changed } => BoundaryError::Jumps { t, changed },
            BoundaryError::TooFew { given, needed, degrees, free_end, free } => {
                BoundaryError::TooFew { given, needed, degrees, free_end, free }
            }
            BoundaryError::Singular { rank, needed, degrees, free_end, conditions, free } => {
                BoundaryError::Singular { rank, needed, degrees, free_end, conditions, free }
            }
            BoundaryError::Contradictory { given, needed, conditions, partial } => {
                BoundaryError::Contradictory { given, needed, conditions, partial: of(*partial) }
            }
            BoundaryError::NotConverged { account, partial } => {
                BoundaryError::NotConverged { account, partial: of(*partial) }
            }
            BoundaryError::Undefined { t } => BoundaryError::Undefined { t },
            BoundaryError::ConstraintsSingular { t } => BoundaryError::ConstraintsSingular { t },
            BoundaryError::TooManyIntervals { intervals, t, error, partial } => {
                BoundaryError::TooManyIntervals { intervals, t, error, partial: of(*partial) }
            }
            BoundaryError::Collapsed { length } => BoundaryError::Collapsed { length },
            BoundaryError::Interrupted => BoundaryError::Interrupted,
        }
    }
}
