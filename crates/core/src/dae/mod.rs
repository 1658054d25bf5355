//! General differential-algebraic equations F(t, x, ẋ) = 0, of any index, square or not.
//!
//! A model is written as [`Equations`], or read from a file. What an integrator sees is a [`Dae`]: a square system of index at most
//! one that has the same solutions and keeps every constraint, the hidden ones included.

pub mod analysis;
mod arrangement;
mod array;
mod characteristics;
mod chord;
mod determined;
mod fallback;
mod formulas;
mod freedom;
mod gelda;
mod genda;
pub mod hidden;
mod high_order;
mod initial;
mod invariance;
mod jet;
mod large;
pub mod levels;
mod linear_array;
mod linear_form;
mod linear_terms;
mod missing;
mod model;
mod of_motion;
mod ordinary;
mod plain;
mod problem;
mod quasilinear;
mod ready;
mod regularised;
mod rows;
mod selection;
mod solve;
mod sought;
mod structural;
mod structure;
mod system;
mod trimmed;
mod watch;

pub use crate::consistent::Fit;
pub use crate::linalg::Pencil;
pub use crate::linear::CharacteristicValues;
pub(crate) use arrangement::{ArrangedState, Arrangement};
pub use array::DerivativeArray;
pub(crate) use array::MOST_LEVELS;
pub use characteristics::{AnalysisError, Bases, Characteristics, Depth, Violated, characterise};
pub use formulas::{FirstOrder, Formulas, highest_orders};
pub use gelda::{Contradiction, Gelda, GeldaOptions, Keep};
pub(crate) use genda::Genda;
pub use high_order::{HighOrderSystem, OrderCoefficients, curve_of_states};
pub use jet::fit_derivatives;
pub use linear_form::FormulaCoefficients;
pub use model::System;
pub use ordinary::OrdinaryEquations;
pub use plain::Plain;
pub(crate) use problem::prepare_by;
pub(crate) use problem::restore;
pub use problem::{Form, PrepareError, Prepared, Unknowns, derivatives, prepare, prepare_at};
pub(crate) use quasilinear::QuasiLinear;
pub(crate) use regularised::{EquationChoice, RegularisedSystem};
pub use solve::InForm;
pub(crate) use solve::refused;
pub use structural::Structural;
pub use structure::Structure;
pub use system::{Dae, Point};
pub use trimmed::TrimmedFormulas;

use crate::scalar::Scalar;

/// F(t, x, ẋ) = 0, written once for every scalar.
///
/// The contract of an implementation:
/// 1. every entry of `r` is written, whatever stood there;
/// 2. control flow depends on numbers of the model only, or is written with [`Scalar::select`];
/// 3. F is as often differentiable as its index asks for.
///
/// ```
/// use daedal::dae::Equations;
/// use daedal::scalar::Scalar;
///
/// /// x' = y, 0 = x² + y² − 1.
/// struct Circle;
/// impl Equations for Circle {
///     fn dim(&self) -> usize { 2 }
///     fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], r: &mut [S]) {
///         r[0] = xdot[0] - x[1];
///         r[1] = x[0].square() + x[1].square() - 1.0;
///     }
/// }
/// let mut r = [0.0; 2];
/// Circle.residual(0.0, &[0.6, 0.8], &[0.8, 0.0], &mut r);
/// assert!(r[0] == 0.0 && r[1].abs() < 1e-15);
/// ```
pub trait Equations {
    /// Number of unknowns.
    fn dim(&self) -> usize;
    /// Number of equations.
    fn rows(&self) -> usize {
        self.dim()
    }
    /// F(t, x, ẋ).
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]);
    /// Names of the unknowns, x.0, x.1, … unless given.
    fn names(&self) -> Vec<String> {
        (0..self.dim()).map(|j| format!("x.{j}")).collect()
    }
    /// Names of the equations, eq.0, eq.1, … unless given.
    fn row_names(&self) -> Vec<String> {
        (0..self.rows()).map(|i| format!("eq.{i}")).collect()
    }
}
