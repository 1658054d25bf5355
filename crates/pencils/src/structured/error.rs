//! Why a structured pair was not accepted or not reduced.

use super::Symmetry;
use daedal_linear::linalg::RankError;

/// Why no reduction keeps the symmetry; the unstructured reduction is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// E₂₂ is singular: the strangeness index is above one, or the pair is singular.
    #[error(
        "E₂₂ has rank {rank} of {d}: no reduction keeps the symmetry (the strangeness index is above one, or the pair is singular)"
    )]
    SingularE22 {
        /// Size of E₂₂.
        d: usize,
        /// Its rank.
        rank: usize,
    },
    /// A skew E₂₂ of odd size is singular.
    #[error("the coupling has odd rank s = {s}: E₂₂ is skew of odd size and singular, no reduction keeps the symmetry")]
    OddCoupling {
        /// Rank of the coupling.
        s: usize,
    },
    /// The kernel of E turns.
    #[error("the kernel of E moves with time: no reduction is known that keeps the symmetry")]
    MovingKernel,
    /// The range of the coupling turns.
    #[error(
        "the range of the coupling between differential and algebraic part moves with time: no reduction is known that keeps the symmetry"
    )]
    MovingCoupling,
}

/// Why a structured pair was not accepted or not reduced.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StructuredError {
    /// Data of the wrong size.
    #[error("{what} has size {found:?}, but {expected:?} fits the rest")]
    Size {
        /// Which data.
        what: &'static str,
        /// Rows and columns that fit.
        expected: (usize, usize),
        /// Rows and columns that are there.
        found: (usize, usize),
    },
    /// NaN or infinity in the data.
    #[error("{what} has entries that are not finite; check the data")]
    NotFinite {
        /// Which data.
        what: &'static str,
    },
    /// A matrix without the symmetry that is asked for.
    #[error("{what} is not {symmetry}: relative defect {defect:.1e}")]
    WrongSymmetry {
        /// Which matrix.
        what: &'static str,
        /// What it should be.
        symmetry: Symmetry,
        /// ‖X ∓ Xᵀ‖ relative to the data.
        defect: f64,
    },
    /// A block that has to be regular is not.
    #[error("the block {what} is singular")]
    Singular {
        /// Which block.
        what: &'static str,
    },
    /// A rank was not decided.
    #[error(transparent)]
    Rank(#[from] RankError),
    /// No reduction keeps the symmetry.
    #[error(transparent)]
    Refused(#[from] Refusal),
}
