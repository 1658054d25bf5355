//! All equations at one point: values, derivatives and the matrices of the theory.
//!
//! M = ∂(dynamics)/∂a, GZ = ∂gI/∂v, HZ = ∂(H Z v + h)/∂v. These blocks are the same whether the accelerations are eliminated from
//! gII, hI and v' or not.

use crate::motion::consistent::size;
use crate::motion::{Layout, Names, ReducedArray, Undefined};
use faer::Mat;
use std::ops::Range;

/// Rows and Jacobian of the reduced derivative array, invariants included, at a point.
pub(super) struct Linearised {
    pub layout: Layout,
    pub t: f64,
    pub x: Vec<f64>,
    /// k(t, x); invariants with their values
    pub rows: Vec<f64>,
    F: crate::linalg::Matrix,
}

impl Linearised {
    /// Evaluate at (t, x).
    pub fn at(array: &mut dyn ReducedArray, t: f64, x: &[f64]) -> Result<Self, Undefined> {
        let layout = array.layout().clone();
        let mut rows = vec![0.0; layout.rows()];
        array.evaluate(t, x, &mut rows)?;
        let mut F = crate::linalg::Matrix::zeros(layout.rows(), layout.dim());
        array.jacobian(t, x, &rows, &mut F)?;
        Ok(Linearised { layout, t, x: x.to_vec(), rows, F })
    }

    /// ∂k/∂x at some rows and columns.
    pub fn block(&self, rows: Range<usize>, cols: Range<usize>) -> Mat<f64> {
        Mat::from_fn(rows.len(), cols.len(), |i, j| -self.F[(rows.start + i, cols.start + j)])
    }

    /// ∂kᵢ/∂xⱼ.
    pub fn slope(&self, i: usize, j: usize) -> f64 {
        -self.F[(i, j)]
    }

    /// Mass matrix.
    pub fn mass(&self) -> Mat<f64> {
        self.block(self.layout.row_dynamics(), self.layout.a())
    }

    /// GZ.
    pub fn holonomic(&self) -> Mat<f64> {
        self.block(self.layout.row_g1(), self.layout.v())
    }

    /// K = [GZ; HZ].
    pub fn constraints(&self) -> Mat<f64> {
        self.block(self.layout.row_g1().start..self.layout.row_h().end, self.layout.v())
    }

    /// Largest term of row i, max |∂kᵢ/∂xⱼ xⱼ|.
    pub fn terms(&self, i: usize) -> f64 {
        size(|j| self.slope(i, j), &self.x).0
    }

    /// What a row may leave as residual when it holds: small against its terms and against rounding in its arguments.
    pub fn tolerance(&self, i: usize) -> f64 {
        let (terms, rounding) = size(|j| self.slope(i, j), &self.x);
        let constraints = self.layout.row_g().chain(self.layout.row_g1()).map(|k| self.terms(k)).fold(0.0, f64::max);
        1e-9 * terms + 1e-13 * rounding + 1e-15 * (1.0 + constraints)
    }
}

/// Names of all constraints, holonomic ones first: the rows of K.
pub(super) fn constraint_names(names: &Names) -> Vec<String> {
    names.holonomic.iter().chain(&names.nonholonomic).cloned().collect()
}
