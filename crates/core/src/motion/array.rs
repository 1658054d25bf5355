//! The reduced derivative array of equations of motion, in `f64`: what methods see.

use super::{EquationsOfMotion, Form, Formulas, InvariantSlopes, Layout, Names, Sizes, Solved, Structure, sweep};
use crate::linalg::{Jacobian, JacobianRef, Matrices, Matrix};

/// The model has no finite value at this point; a smaller step may avoid it.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the model gives a value that is not finite")]
pub struct Undefined;

/// A system whose reduced derivative array can be evaluated: every [`EquationsOfMotion`], and [`BlackBoxMotion`](super::BlackBoxMotion).
pub trait Mechanism {
    /// How many variables of each kind.
    fn sizes(&self) -> Sizes;
    /// Names of variables and constraints.
    fn names(&self) -> Names;
    /// What is constant, diagonal or absent.
    fn structure(&self) -> Structure;
    /// Which matrices were asked for.
    fn matrices(&self) -> Matrices {
        Matrices::Auto
    }
    /// The equations as formulas, where they can be had.
    fn formulas(&self) -> Option<Formulas>;
    /// The reduced derivative array with its own scratch space.
    fn array<'m>(&'m self, form: Form, with_invariants: bool) -> Box<dyn ReducedArray + 'm>;
    /// The same with sparse matrices and without invariants, where there are such: rows that follow from others can be left out of these.
    fn sparse_array<'m>(&'m self, _form: Form) -> Option<Box<dyn ReducedArray + 'm>> {
        None
    }
}

/// The rows k(t, x) of [`Layout`], with scratch space.
///
/// The contract of an implementation:
/// 1. nothing is allocated after construction;
/// 2. equal inputs give equal outputs;
/// 3. a row that is not finite gives [`Undefined`].
pub trait ReducedArray {
    /// Where the blocks stand.
    fn layout(&self) -> &Layout;
    /// All rows at (t, x).
    fn evaluate(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined>;
    /// Zeros of the kind that suits the array: sparse where it knows a pattern with few entries.
    fn new_jacobian(&self) -> Jacobian {
        Jacobian::dense(self.layout().rows(), self.layout().dim())
    }
    /// Zeros of the kinds of M, GZ and HZ.
    fn new_matrices(&self) -> [Jacobian; 3] {
        let n = self.layout().sizes;
        [n.velocities, n.holonomic, n.nonholonomic].map(|rows| Jacobian::dense(rows, n.velocities))
    }
    /// −∂k/∂x, all rows, at a point where the dynamic equations hold; elsewhere terms of the size of their residual may be missing.
    /// F is a [new one](ReducedArray::new_jacobian), or dense.
    fn jacobian(&mut self, t: f64, x: &[f64], rows: &[f64], F: &mut Jacobian) -> Result<(), Undefined>;
    /// The same with all entries, for who decomposes them densely.
    fn dense_jacobian(&mut self, t: f64, x: &[f64], rows: &[f64], F: &mut Matrix) -> Result<(), Undefined> {
        let mut dense = Jacobian::Dense(std::mem::take(F));
        let outcome = self.jacobian(t, x, rows, &mut dense);
        *F = dense.into_dense();
        outcome
    }
    /// M, GZ and HZ at (t, x).
    fn matrices(&mut self, t: f64, x: &[f64]) -> Result<[JacobianRef<'_>; 3], Undefined>;
    /// M, GZ and HZ at (t, x), and at least the rows g, gI and H Z v + h, where x is at rest: v, a, λ, μ are zero.
    fn at_rest(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<[JacobianRef<'_>; 3], Undefined> {
        self.evaluate(t, x, rows)?;
        self.matrices(t, x)
    }
    /// At least the rows M v' − f + …, b and Z v at (t, x), where a, λ and μ are zero; if `hidden`, gII and hI too, both for v' = 0.
    fn forces(&mut self, t: f64, x: &[f64], hidden: bool, rows: &mut [f64]) -> Result<(), Undefined>;
    /// Make solutions of `[M Kᵀ; K 0]` formulas, whose pivots suit this point; false where there are none, and M and K are to be decomposed.
    fn know_solutions(&mut self, _t: f64, _x: &[f64], _what: &[Solved]) -> Result<bool, Undefined> {
        Ok(false)
    }
    /// a, λ and μ at p, v and r of x, written to x, and the rows b, Z v, gII and hI there, by the formulas of [`ReducedArray::know_solutions`]. False, and nothing
    /// is written, where there are none, or where they are not as good as a decomposition.
    fn accelerations(&mut self, _t: f64, _x: &mut [f64], _rows: &mut [f64]) -> bool {
        false
    }
    /// The correction of p or v, at their places, in the same way.
    fn correction(&mut self, _what: Solved, _t: f64, _x: &[f64], _correction: &mut [f64]) -> bool {
        false
    }
    /// Invariants at p and v of x, and directions that change them, in the same way.
    fn invariant_slopes(&mut self, _t: f64, _x: &[f64], _at: &mut InvariantSlopes) -> bool {
        false
    }
    /// Values e that the invariants are kept at.
    fn set_invariants(&mut self, at: &[f64]);
    /// How often the mass matrix has been evaluated.
    fn mass_evaluations(&self) -> u64;
    /// How often the rows have been evaluated for a differenced Jacobian.
    fn difference_evaluations(&self) -> u64 {
        0
    }
}

impl<E: EquationsOfMotion> Mechanism for E {
    fn sizes(&self) -> Sizes {
        EquationsOfMotion::sizes(self)
    }
    fn names(&self) -> Names {
        EquationsOfMotion::names(self)
    }
    fn structure(&self) -> Structure {
        Structure::of(self)
    }
    fn formulas(&self) -> Option<Formulas> {
        Some(Formulas::trace(self))
    }
    fn array<'m>(&'m self, form: Form, with_invariants: bool) -> Box<dyn ReducedArray + 'm> {
        sweep::array(self, form, with_invariants)
    }
}

/// Are all numbers finite?
pub(crate) fn finite(rows: &[f64]) -> Result<(), Undefined> {
    // a sum is finite only if all terms are, up to overflow of the sum itself
    if rows.iter().map(|x| x * 0.0).sum::<f64>() == 0.0 { Ok(()) } else { Err(Undefined) }
}
