//! General equations of motion, written once for every scalar.
//!
//! ```text
//! p'   = Z(p) v                                          kinematics
//! M v' = f(t,p,v,r,w,s,λ,μ) − (GZ)ᵀ λ − (HZ)ᵀ μ          dynamics
//! r'   = b(t,p,v,r,w,s,λ,μ)                              dynamic force elements
//! 0    = d(t,p,v,r,w,s,λ,μ)                              auxiliary variables w
//! 0    = c(t,p,s)                                        contact variables s
//! 0    = H(t,p,s) Z v + h(t,p,s)                         nonholonomic constraints
//! 0    = g(t,p,s)                                        holonomic constraints,  G = dg/dp along c = 0
//! 0    = e(t,p,v,s) − e(initial)                         invariants
//! ```
//! Steinbrecher (2006), (4.43). The hidden constraints gI, gII, hI are generated.

mod array;
mod black_box;
mod compiled;
pub mod consistent;
pub(crate) mod declared;

mod eliminated;
mod formulas;
mod hamiltonian;
mod hidden;
mod implied;
mod impulse;
mod invariant_rates;
mod kinematics;
mod layout;
mod solved;
mod structure;
mod sweep;
mod symbolic;
mod taped;
mod trusted;

pub use array::{Mechanism, ReducedArray, Undefined};
pub use black_box::{BlackBox, BlackBoxMotion, BlackBoxRows};
pub use compiled::{Compiled, Outputs};
pub use declared::{Declared, WrongDeclaration};
pub use formulas::{ClosedForms, Formulas, Variables};
pub(crate) use hamiltonian::ForceTest;
pub use hamiltonian::Hamiltonian;
pub(crate) use hidden::motion as view;
pub(crate) use impulse::Impact;
pub use impulse::{Balance, Closing};
pub(crate) use invariant_rates::{InvariantRate, InvariantRates};
pub use kinematics::Kinematics;
pub use layout::{Form, Layout, Names, Sizes};
pub use solved::{InvariantSlopes, Solved};
pub use structure::{MassStructure, Structure};
pub use symbolic::HiddenConstraints;
pub use taped::Taped;
pub use trusted::trusted;

use crate::linalg::Matrix;
use crate::scalar::Scalar;

/// Where: what functions of position level may depend on.
#[derive(Clone, Copy, Debug)]
pub struct Position<'x, S> {
    /// Time.
    pub t: S,
    /// Positions.
    pub p: &'x [S],
    /// Contact variables.
    pub s: &'x [S],
}

/// Where and how fast: what functions of velocity level may depend on.
#[derive(Clone, Copy, Debug)]
pub struct Velocity<'x, S> {
    /// Time.
    pub t: S,
    /// Positions.
    pub p: &'x [S],
    /// Velocities.
    pub v: &'x [S],
    /// Contact variables.
    pub s: &'x [S],
}

/// Everything a force may depend on.
#[derive(Clone, Copy, Debug)]
pub struct Motion<'x, S> {
    /// Time.
    pub t: S,
    /// Positions.
    pub p: &'x [S],
    /// Velocities.
    pub v: &'x [S],
    /// States of dynamic force elements.
    pub r: &'x [S],
    /// Auxiliary variables.
    pub w: &'x [S],
    /// Contact variables.
    pub s: &'x [S],
    /// Multipliers of the holonomic constraints.
    pub lambda: &'x [S],
    /// Multipliers of the nonholonomic constraints.
    pub mu: &'x [S],
}

/// What functions of acceleration level may depend on: hidden constraints written by hand.
#[derive(Clone, Copy, Debug)]
pub struct Acceleration<'x, S> {
    /// All variables.
    pub at: Motion<'x, S>,
    /// The accelerations v'.
    pub a: &'x [S],
}

/// Whether a model gives a derived quantity by hand or leaves it to Daedal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivation {
    /// Derive it from the equations.
    Generated,
    /// The model has written it into the output.
    ByHand,
}

/// Equations of motion. Only what a system has needs to be written; sizes left at zero stand for absent blocks.
///
/// The contract of an implementation:
/// 1. every method writes all entries of its output; outputs are zero on entry;
/// 2. no method branches on values: use [`Scalar::select`];
/// 3. `kinematics` is linear and `nonholonomic` affine in v;
/// 4. ∂c/∂s and ∂d/∂w are nonsingular, `[M, (GZ)ᵀ, (HZ)ᵀ; GZ, 0, 0; HZ, 0, 0]` is nonsingular up to redundancy of the constraints;
/// 5. names, where given, are unique.
///
/// ```
/// use daedal::linalg::Matrix;
/// use daedal::motion::{EquationsOfMotion, Motion, Position, Sizes};
/// use daedal::scalar::Scalar;
///
/// struct Pendulum { m: f64, l: f64, g: f64 }
/// impl EquationsOfMotion for Pendulum {
///     fn sizes(&self) -> Sizes { Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() } }
///     fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
///         M[(0, 0)] = S::from(self.m);
///         M[(1, 1)] = S::from(self.m);
///     }
///     fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) { f[1] = S::from(-self.m * self.g); }
///     fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
///         g[0] = at.p[0].square() + at.p[1].square() - self.l * self.l;
///     }
/// }
/// ```
pub trait EquationsOfMotion {
    /// How many variables of each kind.
    fn sizes(&self) -> Sizes;
    /// Names of the variables and constraints; numbered by default.
    fn names(&self) -> Names {
        Names::numbered(&self.sizes())
    }
    /// p' = Z(p) v; p' = v unless overridden.
    fn kinematics<S: Scalar>(&self, at: &Velocity<S>, pdot: &mut [S]) {
        pdot.copy_from_slice(at.v);
    }
    /// Mass matrix M(t, p).
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>);
    /// Forces f without the constraint forces.
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]);
    /// Holonomic constraints g.
    fn holonomic<S: Scalar>(&self, _at: &Position<S>, _g: &mut [S]) {}
    /// Nonholonomic constraints H Z v + h.
    fn nonholonomic<S: Scalar>(&self, _at: &Velocity<S>, _h: &mut [S]) {}
    /// Rates b of the dynamic force elements, r' = b.
    fn dynamic<S: Scalar>(&self, _at: &Motion<S>, _b: &mut [S]) {}
    /// Equations d that define the auxiliary variables w.
    fn auxiliary<S: Scalar>(&self, _at: &Motion<S>, _d: &mut [S]) {}
    /// Equations c that define the contact variables s.
    fn contact<S: Scalar>(&self, _at: &Position<S>, _c: &mut [S]) {}
    /// Invariants e, kept at their initial values.
    fn invariant<S: Scalar>(&self, _at: &Velocity<S>, _e: &mut [S]) {}

    /// (GZ)ᵀλ + (HZ)ᵀμ by hand.
    fn constraint_force<S: Scalar>(&self, _at: &Motion<S>, _force: &mut [S]) -> Derivation {
        Derivation::Generated
    }
    /// gI = dg/dt by hand.
    fn holonomic_velocity<S: Scalar>(&self, _at: &Velocity<S>, _g1: &mut [S]) -> Derivation {
        Derivation::Generated
    }
    /// gII = d²g/dt² by hand, with v' = a.
    fn holonomic_acceleration<S: Scalar>(&self, _at: &Acceleration<S>, _g2: &mut [S]) -> Derivation {
        Derivation::Generated
    }
    /// hI = d(H Z v + h)/dt by hand, with v' = a.
    fn nonholonomic_acceleration<S: Scalar>(&self, _at: &Acceleration<S>, _h1: &mut [S]) -> Derivation {
        Derivation::Generated
    }
}
