//! All equations at one point: values, derivatives and the matrices of the theory.
//!
//! M = ∂(dynamics)/∂a, GZ = ∂gI/∂v, HZ = ∂(H Z v + h)/∂v. These blocks are the same whether the accelerations are eliminated from
//! gII, hI and v' or not.

use super::decided::{Decided, MassBlocks};
use crate::linalg::rank::{Decomposed, Eliminated, Scaling};
use crate::linalg::{Jacobian, Matrices, RankRule, SparseMatrix};
use crate::method::structural::kinds;
use crate::motion::consistent::tolerance_of;
use crate::motion::{Formulas, Layout, Mechanism, Names, ReducedArray, Undefined};
use faer::Mat;
use std::ops::Range;

/// How far positions are moved to look around, relative to 1 + |p|.
pub(super) const STEP: f64 = 1e-2;
/// From this number of unknowns on, where matrices are sparse, ranks are decided by elimination, no eigenvalues are computed, and no method that
/// decomposes densely is chosen. Chosen: all of it takes half a second, and a step of geoms ten milliseconds.
pub(super) const LARGE: usize = 500;

/// How a system is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Means {
    /// how ranks are decided
    pub ranks: RankRule,
    /// by elimination of sparse matrices?
    pub sparse: bool,
}

impl Means {
    /// Sparse ones for large systems, and where they are asked for.
    pub fn of(mechanism: &dyn Mechanism, array: &dyn ReducedArray, ranks: RankRule) -> Self {
        let wanted = array.layout().dim() >= LARGE || mechanism.matrices() == Matrices::Sparse;
        let sparse = wanted
            && array.new_jacobian().is_sparse()
            && matches!(kinds(array), (Jacobian::Sparse(M), Jacobian::Sparse(_)) if MassBlocks::are_small(&M));
        Means { ranks, sparse }
    }
}

/// Rows and Jacobian of the reduced derivative array, invariants included, at a point.
pub(super) struct Linearised {
    pub layout: Layout,
    pub t: f64,
    pub x: Vec<f64>,
    /// k(t, x); invariants with their values
    pub rows: Vec<f64>,
    F: Jacobian,
    /// largest term of all constraints on positions
    constraint_terms: f64,
    /// largest derivative of each row in the columns of its level, here and at points nearby
    usual: Vec<f64>,
    /// how it is looked at
    pub means: Means,
}

impl Linearised {
    /// Evaluate at (t, x).
    pub fn at(array: &mut dyn ReducedArray, t: f64, x: &[f64], means: Means) -> Result<Self, Undefined> {
        let layout = array.layout().clone();
        let mut rows = vec![0.0; layout.rows()];
        array.evaluate(t, x, &mut rows)?;
        let mut F = if means.sparse { array.new_jacobian() } else { Jacobian::dense(layout.rows(), layout.dim()) };
        array.jacobian(t, x, &rows, &mut F)?;
        let usual = vec![0.0; layout.rows()];
        let mut at = Linearised { usual, layout, t, x: x.to_vec(), rows, F, constraint_terms: 0.0, means };
        at.usual = at.sizes();
        let constraints = at.layout.row_g().chain(at.layout.row_g1());
        at.constraint_terms = constraints.map(|k| at.terms(k)).fold(0.0, f64::max);
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
            if let Ok(there) = Linearised::at(array, self.t, &x, self.means) {
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
        let size = |i: usize| {
            let columns = columns(i);
            self.slopes(i).filter(|(j, _)| columns.contains(j)).map(|(_, slope)| slope.abs()).fold(0.0, f64::max)
        };
        (0..self.rows.len()).map(size).collect()
    }

    /// Usual sizes of the derivatives of some rows.
    pub fn usual_sizes(&self, rows: Range<usize>) -> &[f64] {
        &self.usual[rows]
    }

    /// A block with rows of their usual sizes.
    fn decide(&self, rows: Range<usize>, cols: Range<usize>) -> Option<Decided> {
        let (sizes, ranks) = (self.usual_sizes(rows.clone()), self.means.ranks);
        if self.means.sparse {
            let block = self.sparse_block(rows, cols);
            return Some(Decided::Eliminated(Box::new(Eliminated::with_usual_sizes(&block, sizes, ranks))));
        }
        Decomposed::with_usual_sizes(&self.block(rows, cols), sizes, ranks)
            .map(|found| Decided::Decomposed(Box::new(found)))
    }

    /// A block with rows, or rows and columns, of its own sizes.
    pub fn decide_scaled(&self, rows: Range<usize>, cols: Range<usize>, scaling: Scaling) -> Option<Decided> {
        let ranks = self.means.ranks;
        if self.means.sparse {
            let block = self.sparse_block(rows, cols);
            return Some(Decided::Eliminated(Box::new(Eliminated::of(&block, scaling, ranks))));
        }
        Decomposed::of(&self.block(rows, cols), scaling, ranks).map(|found| Decided::Decomposed(Box::new(found)))
    }

    /// GZ.
    pub fn decide_holonomic(&self) -> Option<Decided> {
        self.decide(self.layout.row_g1(), self.layout.v())
    }

    /// K = [GZ; HZ].
    pub fn decide_constraints(&self) -> Option<Decided> {
        self.decide(self.layout.row_g1().start..self.layout.row_h().end, self.layout.v())
    }

    /// ∂(c, g)/∂(s, p).
    pub fn decide_position(&self) -> Option<Decided> {
        let l = &self.layout;
        self.decide(l.row_contact().start..l.row_g().end, l.s().start..l.p().end)
    }

    /// How many invariants are independent of the constraints and of each other. An invariant restricts positions where it does not
    /// restrict velocities, as energy does at rest and the norm of a quaternion everywhere: so all of velocity and position level count as one.
    pub fn independent_invariants(&self) -> Option<usize> {
        let l = &self.layout;
        let (rows, columns) = (l.row_g1().start..l.row_g().end, l.v().start..l.p().end);
        let with = self.decide(rows.clone(), columns.clone())?.decision().rank;
        let others: Vec<usize> = rows.filter(|row| !l.row_invariants().contains(row)).collect();
        let A = Mat::from_fn(others.len(), columns.len(), |i, j| self.slope(others[i], columns.start + j));
        let sizes: Vec<f64> = others.iter().map(|&row| self.usual[row]).collect();
        let without = Decomposed::with_usual_sizes(&A, &sizes, self.means.ranks)?.decision.rank;
        Some(with.saturating_sub(without))
    }

    /// ∂k/∂x at some rows and columns.
    pub fn block(&self, rows: Range<usize>, cols: Range<usize>) -> Mat<f64> {
        Mat::from_fn(rows.len(), cols.len(), |i, j| -self.F[(rows.start + i, cols.start + j)])
    }

    /// The same with the entries of the pattern.
    pub fn sparse_block(&self, rows: Range<usize>, cols: Range<usize>) -> SparseMatrix {
        let of_row = |i: usize| self.slopes(rows.start + i).filter(|(j, _)| cols.contains(j));
        let places = (0..rows.len()).flat_map(|i| of_row(i).map(move |(j, _)| (i, j)));
        let places = places.map(|(i, j)| (i, j - cols.start)).collect();
        let mut block = SparseMatrix::new(rows.len(), cols.len(), places);
        let values = (0..rows.len()).flat_map(|i| of_row(i).map(|(_, slope)| slope));
        block.values_mut().iter_mut().zip(values).for_each(|(entry, slope)| *entry = slope);
        block
    }

    /// ∂kᵢ/∂xⱼ with their j, ascending: all of them, or those of the pattern.
    pub fn slopes(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.F.row(i).map(|(j, f)| (j, -f))
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
        self.may_remain(i).1
    }

    /// What a row may leave as residual when it holds: small against its terms and against rounding in its arguments.
    pub fn tolerance(&self, i: usize) -> f64 {
        self.may_remain(i).0 + 1e-15 * (1.0 + self.constraint_terms)
    }

    fn may_remain(&self, i: usize) -> (f64, f64) {
        tolerance_of(self.slopes(i).map(|(j, slope)| (slope, self.x[j])))
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
