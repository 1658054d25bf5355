//! The two parts of a regular pencil as matrices: x = X₁z + X₂y, N ż = z + B₁b, ẏ = J y + B₂b.

use super::RegularPencil;
use daedal_linear::linalg::{Mat, Matrix};

/// The nilpotent and the finite part.
pub(crate) struct PencilParts<'p> {
    /// X₁.
    pub infinite: Mat<f64>,
    /// X₂.
    pub finite: Mat<f64>,
    /// y of x.
    pub coordinates: Mat<f64>,
    /// B₁.
    pub of_infinite: Mat<f64>,
    /// B₂.
    pub of_finite: Mat<f64>,
    pub N: &'p Matrix,
    pub J: &'p Matrix,
}

impl RegularPencil {
    pub(crate) fn parts(&self) -> PencilParts<'_> {
        let (k, n) = (self.N.rows(), self.dim());
        let block = |X: &Matrix, rows: std::ops::Range<usize>, cols: std::ops::Range<usize>| {
            Mat::from_fn(rows.len(), cols.len(), |i, j| X[(rows.start + i, cols.start + j)])
        };
        PencilParts {
            infinite: block(&self.X, 0..n, 0..k),
            finite: block(&self.X, 0..n, k..n),
            coordinates: block(&self.X_inverse, k..n, 0..n),
            of_infinite: block(&self.B, 0..k, 0..n),
            of_finite: block(&self.B, k..n, 0..n),
            N: &self.N,
            J: &self.J,
        }
    }
}
