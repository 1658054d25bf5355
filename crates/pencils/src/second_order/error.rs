//! Why a second-order system was not analysed or solved.

use super::SecondOrderValues;
use daedal_linear::ReductionError;
use daedal_linear::linalg::{NoConvergence, RankError};

/// Why a second-order system was not analysed or solved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SecondOrderError {
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
    #[error("{what} has entries that are not finite; check the data at this point")]
    NotFinite {
        /// Which data.
        what: &'static str,
    },
    /// More derivatives asked for than there are.
    #[error("derivatives up to order {asked} are needed, but only {given} are given or can be computed")]
    TooFewDerivatives {
        /// Order that is needed.
        asked: usize,
        /// Order that is there.
        given: usize,
    },
    /// A rank was not decided.
    #[error(transparent)]
    Rank(#[from] RankError),
    /// A form of first order was not reduced.
    #[error("a form of first order was not analysed")]
    FirstOrder(#[from] ReductionError),
    /// A rank of a form of first order was not decided.
    #[error(
        "a rank of a form of first order is not decided: its singular values separate by a factor {ratio:.1e} only"
    )]
    NarrowGap {
        /// Smallest singular value that counts over the largest that does not.
        ratio: f64,
    },
    /// The levels that are given do not suffice.
    #[error(
        "the strangeness index was not reached up to level {level}: supply more derivatives, or the ranks are not constant near this point"
    )]
    IndexNotFound {
        /// The last level tried.
        level: usize,
    },
    /// What was asked for needs constant coefficients.
    #[error("the coefficients depend on time; this form is known for constant ones only")]
    VariableCoefficients,
    /// What was asked for needs a system that determines its unknowns.
    #[error(
        "{count} unknown(s) are not determined by the equations; this form is known for systems that determine all"
    )]
    FreeUnknowns {
        /// How many.
        count: usize,
    },
    /// The system does not determine its solution.
    #[error("the solution is not determined by the equations ({0}): unknowns without equation remain")]
    Undetermined(SecondOrderValues),
    /// A system that must be regular is not.
    #[error("the system is not regular ({0}): there are redundant equations or free unknowns")]
    NotRegular(SecondOrderValues),
    /// The characteristic values change along the way.
    #[error("at t = {t}: the equations change their nature: {before} before, {now} here")]
    Changed {
        /// Time.
        t: f64,
        /// Values so far.
        before: SecondOrderValues,
        /// Values here.
        now: SecondOrderValues,
    },
    /// Start values contradict the equations.
    #[error("the start values contradict the equations: residual {residual:.1e}")]
    Inconsistent {
        /// Largest residual relative to the data.
        residual: f64,
    },
    /// An unknown whose second derivative occurs has to stay one.
    #[error("x″ of unknown {unknown} occurs in the equations: its derivative has to be among the new unknowns")]
    SecondDerivativeRemains {
        /// The unknown.
        unknown: usize,
    },
    /// Names an unknown that does not exist, or one twice.
    #[error("unknown {unknown} does not exist or is named twice: there are {count}")]
    NoSuchUnknown {
        /// The number given.
        unknown: usize,
        /// How many there are.
        count: usize,
    },
    /// Difference formulas that do not approximate derivatives.
    #[error("the difference formulas are not consistent: moment {moment} of the {derivative} derivative is {value}")]
    Formulas {
        /// "first" or "second".
        derivative: &'static str,
        /// Which moment condition.
        moment: usize,
        /// Its value.
        value: f64,
    },
    /// A step size, count or time that makes no sense.
    #[error("{what} = {value} is impossible")]
    Impossible {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// The iteration matrix has no inverse for this step size.
    #[error("at t = {t}: the matrix of the step is singular for h = {h:.2e}; take a smaller step")]
    SingularStep {
        /// Time.
        t: f64,
        /// Step size.
        h: f64,
    },
    /// An iteration did not converge.
    #[error("{what} did not converge: last change {change:.1e}")]
    NotConverged {
        /// Which iteration.
        what: &'static str,
        /// Last change.
        change: f64,
    },
    /// A decomposition failed.
    #[error(transparent)]
    NoConvergence(#[from] NoConvergence),
}
