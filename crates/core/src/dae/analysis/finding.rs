//! What the analysis of a general system finds worth telling.

use crate::dae::CharacteristicValues;

/// Something worth telling.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Finding {
    /// Structural and numerical index differ.
    #[error(
        "the structural index is {structural}, but the differentiation index is {numerical}: methods that look at the structure only (Pantelides, dummy derivatives) are misled by these equations"
    )]
    StructuralIndexDiffers {
        /// From the pattern.
        structural: usize,
        /// From the ranks.
        numerical: usize,
    },
    /// The system Jacobian of the structural analysis is singular.
    #[error(
        "the structural analysis cannot be trusted: its system Jacobian is singular here, structural index reduction fails"
    )]
    StructureMisleads,
    /// Another result nearby.
    #[error(
        "the result here ({here}) is not that of points nearby ({nearby}): this is a singular point (a rank is lost here), or a constraint has a multiple root"
    )]
    SingularPoint {
        /// At the start.
        here: CharacteristicValues,
        /// Next to it.
        nearby: CharacteristicValues,
    },
    /// Another result on the way.
    #[error("the equations change their nature on the way: {before} at the start, {now} at t = {t}")]
    Changes {
        /// Time.
        t: f64,
        /// At the start.
        before: CharacteristicValues,
        /// There.
        now: CharacteristicValues,
    },
    /// A rank decision that is not clear.
    #[error(
        "a rank decision is not clear: singular values that count and that do not differ by a factor of {gap:.1e} only; scale the equations, check the model for nearly dependent ones, or set rank_tolerance"
    )]
    UnclearRank {
        /// Smallest ratio.
        gap: f64,
    },
    /// The level beyond could not be looked at.
    #[error(
        "the result could not be confirmed with {level} differentiations: derivatives of this order are out of reach numerically (very different time scales), or ranks change"
    )]
    NotConfirmed {
        /// The level that was tried.
        level: usize,
    },
    /// Slow convergence to a consistent point.
    #[error(
        "consistent values were approached slowly ({iterations} iterations): a constraint with a multiple root, or a rank that drops on the constraints"
    )]
    SlowConvergence {
        /// How many.
        iterations: usize,
    },
    /// The trajectory could not be followed.
    #[error("a trajectory could be followed up to t = {t} only: {cause}")]
    Trajectory {
        /// Time that was reached.
        t: f64,
        /// Why.
        cause: String,
    },
    /// Hidden constraints without formulas.
    #[error("the hidden constraints have no simple formulas ({cause}); the derivative array is used instead")]
    NoFormulas {
        /// Why.
        cause: String,
    },
}
