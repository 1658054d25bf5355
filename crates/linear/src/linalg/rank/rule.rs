//! The rule by which ranks are decided, and every threshold that decides one.
//!
//! Rows, and columns where their units do not matter, are equilibrated; then singular values or pivots above τ · (size of the matrix) count.
//! τ depends on how exactly the entries are known. Whoever sets a tolerance replaces all of these τ by one number. The shipped models are
//! solved with the same counters by any single τ from 1e-12 to 1e-8, and with others by 1e-6 (92 of 1,596 ways): what is called chosen lies in that
//! range, or was not measured by itself.

/// τ of square matrices that must only be solvable: a condition of 1e12 leaves four digits of a solution. Derived, from ε = 2.2e-16.
pub const REGULAR: f64 = 1e-12;
/// τ at points that are known to rounding, such as consistent initial values and ends of steps brought onto the constraints. Chosen with
/// GEOMS: between rounding of equations with a condition of 1e5 and dependence that one would write down.
pub const AT_POINT: f64 = 1e-10;
/// τ of derivative arrays. Derived: a jet counts as consistent with scaled residuals up to this.
pub const ON_JET: f64 = 1e-9;
/// What is left of a unit row of a sparse matrix beside the rows before it, at points known to rounding. Derived: a row that is fed last is a sum of
/// rounded rows with coefficients up to 1e5 or so; kept rows of trusses of 300 bays leave 1e-4 and more.
pub const REMAINDER: f64 = 1e-9;
/// τ along a run, where points satisfy the equations no better than the error test asks for and coefficients differ in size. Chosen: two
/// decades above [`AT_POINT`].
pub const ALONG_RUN: f64 = 1e-8;
/// Pivots of constant leading matrices between [`REGULAR`] and this leave a doubt, and singular values are asked instead. Chosen: a
/// decade above [`ALONG_RUN`].
pub const CLEAR_PIVOT: f64 = 1e-7;
/// What is left of a gradient of size one in the span of others, at points beside the start that satisfy the constraints to the same
/// accuracy. Chosen: a decade above [`ALONG_RUN`].
pub const BESIDE_START: f64 = 1e-7;
/// Beside the constraints redundant ones look independent: pivots below this are what that makes of them, where the rank is known. Chosen:
/// what tolerances of steps make of them.
pub const BESIDE_CONSTRAINTS: f64 = 1e-4;
/// Pivots below which an invariant, which may be left out, is left out. Chosen for energies at turning points.
pub const OPTIONAL: f64 = 1e-5;
/// A rank that is known is given up only if a singular value that should count falls below the threshold, or one that should not rises
/// above this. Chosen, far above what tolerances of steps make of zero.
pub const CLEARLY_DIFFERENT: f64 = 1e-3;
/// A smallest singular value or pivot that has fallen to this part of its usual size is a loss of rank, where steps fail or a watch
/// finds no way around. Fitted on the singular configurations of the tests, such as the slider crank with equal arms at tolerances 1e-3 to
/// 1e-11: all are seen, and no regular motion is stopped.
pub const LOST: f64 = 1e-2;
/// The same along a way that is known to a tolerance only, and misses a loss of rank by as much. Fitted on the slider crank with equal arms,
/// which every method must not pass, at tolerances 1e-3 to 1e-11; half of it lets hem5 pass at 1e-10.
pub const PASSED_BY: f64 = 0.02;
/// The same for the gradients of a selector, where steps fail already: whatever the reason is, it is near. Fitted on the slider crank with equal
/// arms, whose projected steps fail at tolerances down to 1e-10 while this much is left.
pub const NEARLY_LOST: f64 = 0.05;
/// Decisions are told as unclear if their gap is below this. Chosen: three digits.
pub const CLEAR_GAP: f64 = 1e3;
/// Decisions about numbers are refused as undecided if their gap is below this. Chosen: two digits.
const DECIDED_GAP: f64 = 100.0;

/// How ranks are decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankRule {
    /// τ of every decision; `None`: as exactly as the entries of the matrix are known.
    pub tolerance: Option<f64>,
    /// Decisions with a gap σ_r / σ_{r+1} below this are refused as undecided, where numbers are all that is known.
    pub smallest_gap: f64,
}

impl Default for RankRule {
    fn default() -> Self {
        RankRule { tolerance: None, smallest_gap: DECIDED_GAP }
    }
}

impl RankRule {
    /// One tolerance for all decisions, whatever their gaps, or the usual rule.
    pub fn of(tolerance: Option<f64>) -> Self {
        let usual = RankRule::default();
        RankRule { tolerance, smallest_gap: if tolerance.is_some() { 1.0 } else { usual.smallest_gap } }
    }

    /// τ: the one that is set, else the usual one of a kind of decision.
    pub fn or(&self, usual: f64) -> f64 {
        self.tolerance.unwrap_or(usual)
    }

    /// τ of a matrix of numbers: max(rows, columns) · ε · 10³ unless set. Derived: the backward error of a singular value decomposition is a
    /// modest multiple of ε, Golub & Van Loan, 5.5.8, with room for the products that a matrix comes from.
    pub fn of_numbers(&self, rows: usize, cols: usize) -> f64 {
        self.or(1e3 * f64::EPSILON * rows.max(cols).max(1) as f64)
    }
}
