//! Consistent states: F(x) = 0 near given values.
//!
//! Some values are fixed, the others belong to classes that move one after the other, the freest first, each as little as possible
//! ([`least_change`]). The equations are solved by the method of Gauss and Newton ([`iteration`]). Where that fails the equations and fixed
//! values are found that exclude each other ([`blame`]).
//!
//! | equations | fixed | classes, what is kept most first |
//! | --- | --- | --- |
//! | reduced derivative array of a mechanism, conditions | fixed values | positions, velocities and contact variables, the rest, unknown values |
//! | derivative array of a general system, conditions | fixed values, guesses at first | guesses, unknown values and further derivatives |
//! | constraints of a system of index at most one at a jump | kept unknowns | combinations that are kept, unknowns, new and auxiliary ones |
//! | 0 = A₂ x + b₂ of a linear system | | the differential part if it is kept, unknowns |

mod blame;
mod iteration;
mod leading_matrix;
mod least_change;
mod sparse_change;

pub(crate) use blame::Contradicting;
pub use iteration::Fit;
pub(crate) use iteration::{CONSISTENT, ROUNDING, Stage, correction, largest, residual, solve};
pub(crate) use leading_matrix::LeadingMatrix;
pub(crate) use least_change::{Balanced, Freedom, KeptRows};

use crate::linalg::{Mat, SparseMatrix};

/// Equations F(x) = 0 that a consistent state satisfies.
pub(crate) trait Requirements {
    /// Why there is nothing to linearise.
    type Failure;

    /// Choose rows, where there is a choice, and find F, its derivatives and the sizes of its terms at x.
    fn linearise(&mut self, x: &[f64]) -> Result<(), Self::Failure>;

    /// F by the rows of the last linearisation. False where it has no value.
    fn evaluate(&mut self, x: &[f64]) -> bool;

    /// F where it was evaluated last.
    fn values(&self) -> &[f64];

    /// What each row is summed from at the last linearisation: residuals are judged relative to it.
    fn sizes(&self) -> &[f64];

    /// ∂F/∂x at the last linearisation.
    fn slopes(&self) -> Mat<f64>;

    /// The same, where it is sparse.
    fn sparse_slopes(&self) -> Option<&SparseMatrix> {
        None
    }

    /// The correction at x by faster means, where the equations have them.
    fn shortcut(&self, _x: &[f64]) -> Option<Vec<f64>> {
        None
    }
}

/// The largest of the sums of |a x| of a row with slopes a, of what is left of its value F without them, and of |a|: where all terms vanish,
/// changes of x of size one count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terms {
    sum: f64,
    product: f64,
    largest: f64,
}

impl Terms {
    /// One more slope, with the value of its unknown.
    pub fn add(&mut self, slope: f64, x: f64) {
        self.sum += (slope * x).abs();
        self.product += slope * x;
        self.largest = self.largest.max(slope.abs());
    }

    /// The size of a row with this value.
    pub fn size(&self, value: f64) -> f64 {
        (self.sum + (value - self.product).abs()).max(self.largest).max(f64::MIN_POSITIVE)
    }
}
