//! Why a question of control has no answer.

use crate::PencilError;
use crate::structured::StructuredError;
use daedal_linear::linalg::{NoConvergence, RankError};

/// Why a question of control has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ControlError {
    /// Equations and states are not equal in number.
    #[error(
        "{equations} equations for {states} states beside the inputs: control theory of this kind needs as many equations as states"
    )]
    NotSquare {
        /// Rows of E.
        equations: usize,
        /// Columns of E.
        states: usize,
    },
    /// Data of the wrong size, not finite, or without symmetry.
    #[error(transparent)]
    Data(#[from] StructuredError),
    /// A rank was not decided.
    #[error(transparent)]
    Rank(#[from] RankError),
    /// The pencil has no solution formula.
    #[error(transparent)]
    Pencil(#[from] PencilError),
    /// No feedback of this kind makes the system regular with index one at most.
    #[error("no {kind} feedback gives a regular system with index one at most: {condition} has rank {rank}, not {n}")]
    NotRegularisable {
        /// "state", "output", "derivative".
        kind: &'static str,
        /// The matrix whose rank is too low.
        condition: &'static str,
        /// Its rank.
        rank: usize,
        /// The rank it must have.
        n: usize,
    },
    /// A feedback was made, but its closed loop is not what it should be.
    #[error(
        "the closed loop is not regular with index one at most: ranks near their thresholds; scale the equations, or choose the tolerance of ranks"
    )]
    Unclear,
    /// R̂ is singular.
    #[error(
        "the optimality conditions have index above one: R̂ has rank {rank} of {size}; a direction of the control costs nothing and meets no constraint"
    )]
    SingularControl {
        /// Rank of R̂.
        rank: usize,
        /// Its size.
        size: usize,
    },
    /// The final cost weighs what is no differential unknown.
    #[error("the final cost contains algebraic unknowns: M must vanish on kernel E")]
    AlgebraicFinalCost,
    /// The differential part of a phase begins with algebraic unknowns of the phase before.
    #[error(
        "phase {phase} starts from algebraic unknowns of the phase before: kernel E of that phase is not in kernel E of this one, and the control could set them by a spike"
    )]
    AlgebraicTransfer {
        /// The phase, from 1.
        phase: usize,
    },
    /// A surface contains algebraic unknowns.
    #[error("the surface of switch {switch} contains algebraic unknowns of the mode that is left")]
    AlgebraicSurface {
        /// The switch, from 1.
        switch: usize,
    },
    /// Times that do not rise.
    #[error("times of start, switches and end must rise")]
    Times,
    /// Phases, times and surfaces do not fit together.
    #[error("{what}: {found} given, {wanted} needed")]
    Count {
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many are needed.
        wanted: usize,
    },
    /// The boundary value problem has no solution, or several.
    #[error("the boundary value problem of the optimality conditions is singular: no optimum, or more than one")]
    NoUniqueOptimum,
    /// Too many pieces are needed.
    #[error(
        "the interval is too long for the rates of the optimality conditions: {unknowns} unknowns of {most} at most"
    )]
    TooLong {
        /// Unknowns of the block system.
        unknowns: usize,
        /// Most that are solved.
        most: usize,
    },
    /// The search for switching times stopped.
    #[error("no optimal switching times were found: {0}")]
    NoTimes(&'static str),
    /// C₁B₁₂ is singular.
    #[error(
        "the input does not cross the surface: C₁B₁₂ has rank {rank} of {size}, so that no input holds the system there (transversality)"
    )]
    NotTransversal {
        /// Rank of C₁B₁₂.
        rank: usize,
        /// Number of surfaces.
        size: usize,
    },
    /// The plant has an index above one.
    #[error("the system has index {index} without control: regularise it by a feedback first")]
    HighIndex {
        /// The index.
        index: usize,
    },
}

impl From<NoConvergence> for ControlError {
    fn from(error: NoConvergence) -> Self {
        ControlError::Rank(error.into())
    }
}
