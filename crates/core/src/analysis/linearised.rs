//! All equations at one point: values, derivatives and the matrices of the theory.
//!
//! M = ∂(dynamics)/∂a, GZ = ∂gI/∂v, HZ = ∂(H Z v + h)/∂v. These blocks are the same whether the accelerations are eliminated from
//! gII, hI and v' or not.

use crate::linalg::RankRule;
use crate::linalg::rank::Decomposed;
use crate::motion::consistent::tolerance;
use crate::motion::{Formulas, Layout, Mechanism, Names, ReducedArray, Undefined};
use faer::Mat;
use std::ops::Range;

/// How far positions are moved to look around, relative to 1 + |p|.
pub(super) const STEP: f64 = 1e-2;

/// Rows and Jacobian of the reduced derivative array, invariants included, at a point.
pub(super) struct Linearised {
    pub layout: Layout,
    pub t: f64,
    pub x: Vec<f64>,
    /// k(t, x); invariants with their values
    pub rows: Vec<f64>,
    F: crate::linalg::Matrix,
    /// largest derivative of each row in the columns of its level, here and at points nearby
    usual: Vec<f64>,
    /// how ranks are decided
    pub ranks: RankRule,
}

impl Linearised {
    /// Evaluate at (t, x).
    pub fn at(array: &mut dyn ReducedArray, t: f64, x: &[f64], ranks: RankRule) -> Result<Self, Undefined> {
        let layout = array.layout().clone();
        let mut rows = vec![0.0; layout.rows()];
        array.evaluate(t, x, &mut rows)?;
        let mut F = crate::linalg::Matrix::zeros(layout.rows(), layout.dim());
        array.dense_jacobian(t, x, &rows, &mut F)?;
        let mut at = Linearised { usual: vec![0.0; layout.rows()], layout, t, x: x.to_vec(), rows, F, ranks };
        at.usual = at.sizes();
        Ok(at)
    }

    /// Learn the usual size of derivatives from positions nearby, on no constraint. A constraint that loses its rank here is seen by that.
    pub fn look_around(&mut self, array: &mut dyn ReducedArray) {
        for seed in [1.0, -2.0] {
            let mut x = self.x.clone();
            for (i, j) in (self.layout.s().start..self.layout.p().end).enumerate() {
                x[j] += STEP * (1.0 + x[j].abs()) * (seed + 0.3 * seed * i as f64).sin();
            }
            // a place where the model has no value teaches nothing
            if let Ok(there) = Linearised::at(array, self.t, &x, self.ranks) {
                self.usual.iter_mut().zip(&there.usual).for_each(|(usual, size)| *usual = usual.max(*size));
            }
        }
    }

    /// Largest derivative of each row: rows of velocity level in v, rows of position level in s and p, invariants in all of them.
    fn sizes(&self) -> Vec<f64> {
        let l = &self.layout;
        let columns = |i: usize| match i {
            i if i >= l.row_contact().start => l.s().start..l.p().end,
            i if l.row_invariants().contains(&i) => l.v().start..l.p().end,
            _ => l.v(),
        };
        let size = |i: usize| columns(i).map(|j| self.slope(i, j).abs()).fold(0.0, f64::max);
        (0..self.rows.len()).map(size).collect()
    }

    /// Usual sizes of the derivatives of some rows.
    pub fn usual_sizes(&self, rows: Range<usize>) -> &[f64] {
        &self.usual[rows]
    }

    fn decompose(&self, rows: Range<usize>, cols: Range<usize>) -> Option<Decomposed> {
        Decomposed::with_usual_sizes(&self.block(rows.clone(), cols), self.usual_sizes(rows), self.ranks)
    }

    /// GZ, decomposed.
    pub fn decompose_holonomic(&self) -> Option<Decomposed> {
        self.decompose(self.layout.row_g1(), self.layout.v())
    }

    /// K = [GZ; HZ], decomposed.
    pub fn decompose_constraints(&self) -> Option<Decomposed> {
        self.decompose(self.layout.row_g1().start..self.layout.row_h().end, self.layout.v())
    }

    /// How many invariants are independent of the constraints and of each other. An invariant restricts positions where it does not
    /// restrict velocities, as energy does at rest and the norm of a quaternion everywhere: so all of velocity and position level count as one.
    pub fn independent_invariants(&self) -> Option<usize> {
        let l = &self.layout;
        let (rows, columns) = (l.row_g1().start..l.row_g().end, l.v().start..l.p().end);
        let with = self.decompose(rows.clone(), columns.clone())?.decision.rank;
        let others: Vec<usize> = rows.filter(|row| !l.row_invariants().contains(row)).collect();
        let A = Mat::from_fn(others.len(), columns.len(), |i, j| self.slope(others[i], columns.start + j));
        let sizes: Vec<f64> = others.iter().map(|&row| self.usual[row]).collect();
        let without = Decomposed::with_usual_sizes(&A, &sizes, self.ranks)?.decision.rank;
        Some(with.saturating_sub(without))
    }

    /// ∂(c, g)/∂(s, p), decomposed.
    pub fn decompose_position(&self) -> Option<Decomposed> {
        let l = &self.layout;
        self.decompose(l.row_contact().start..l.row_g().end, l.s().start..l.p().end)
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

    /// K = [GZ; HZ].
    pub fn constraints(&self) -> Mat<f64> {
        self.block(self.layout.row_g1().start..self.layout.row_h().end, self.layout.v())
    }

    /// Largest term of row i, max |∂kᵢ/∂xⱼ xⱼ|.
    pub fn terms(&self, i: usize) -> f64 {
        tolerance(|j| self.slope(i, j), &self.x).1
    }

    /// What a row may leave as residual when it holds: small against its terms and against rounding in its arguments.
    pub fn tolerance(&self, i: usize) -> f64 {
        let constraints = self.layout.row_g().chain(self.layout.row_g1()).map(|k| self.terms(k)).fold(0.0, f64::max);
        tolerance(|j| self.slope(i, j), &self.x).0 + 1e-15 * (1.0 + constraints)
    }
}

/// Names of all constraints, holonomic ones first: the rows of K.
pub(super) fn constraint_names(names: &Names) -> Vec<String> {
    names.holonomic.iter().chain(&names.nonholonomic).cloned().collect()
}

/// Names of the constraints that the kinematics imply.
pub(super) fn implied_names(mechanism: &dyn Mechanism) -> Vec<String> {
    implied_by(mechanism.formulas().as_ref(), mechanism)
}

/// The same with formulas that are known already.
pub(super) fn implied_by(formulas: Option<&Formulas>, mechanism: &dyn Mechanism) -> Vec<String> {
    let implied = formulas.map_or(Vec::new(), Formulas::implied);
    let names = mechanism.names().holonomic;
    implied.into_iter().filter_map(|k| names.get(k).cloned()).collect()
}
