//! Ordinary differential equations, written without a residual.

use super::{Equations, System};
use crate::scalar::Scalar;

/// ẋ = f(t, x), written once for every scalar.
///
/// ```
/// use daedal::prelude::*;
///
/// /// x' = −x
/// struct Decay;
/// impl OrdinaryEquations for Decay {
///     fn dim(&self) -> usize { 1 }
///     fn rates<S: Scalar>(&self, _: S, x: &[S], f: &mut [S]) { f[0] = -x[0]; }
/// }
/// let system = System::explicit(&Decay);
/// let problem = Problem::new(&system, Initial::new(0.0, &[1.0]), 2.0);
/// let solution = solve(&problem, &DormandPrince::default(), &Options::default())?;
/// assert!((solution.end.x[0] - (-2.0_f64).exp()).abs() < 1e-7);
/// # Ok::<(), SolveError<daedal::dae::Unknowns>>(())
/// ```
pub trait OrdinaryEquations {
    /// Number of unknowns.
    fn dim(&self) -> usize;
    /// f(t, x), written into `f`.
    fn rates<S: Scalar>(&self, t: S, x: &[S], f: &mut [S]);
    /// Names of the unknowns, x.0, x.1, … unless given.
    fn names(&self) -> Vec<String> {
        (0..self.dim()).map(|j| format!("x.{j}")).collect()
    }
}

/// ẋ − f(t, x) = 0.
struct Residual<'e, E>(&'e E);

impl<E: OrdinaryEquations> Equations for Residual<'_, E> {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        self.0.rates(t, x, r);
        for (r, &xdot) in r.iter_mut().zip(xdot) {
            *r = xdot - *r;
        }
    }
    fn names(&self) -> Vec<String> {
        self.0.names()
    }
    fn row_names(&self) -> Vec<String> {
        self.0.names().into_iter().map(|name| format!("rate of {name}")).collect()
    }
}

impl System {
    /// From ordinary differential equations ẋ = f(t, x) in Rust, which are traced.
    pub fn explicit<E: OrdinaryEquations>(equations: &E) -> Self {
        System::of(&Residual(equations))
    }
}
