//! Constrained mechanical systems with two positions and one constraint,
//!
//! ```text
//! q' = u,   M(q) u' = f(t, q, u) − Gᵀ λ,   0 = g(t, q),
//! ```
//!
//! and what follows by differentiation: G u + g_t = 0, and the linear system of the accelerations,
//! [M Gᵀ; G 0] (u'; λ) = (f; −Γ) with Γ = g_qq(u, u) + 2 g_qt u + g_tt. Hairer & Wanner, Solving ODEs II, (VII.1.46).

use daedal::linalg::{Lu, Matrix};
use daedal::method;
use daedal::motion::{EquationsOfMotion, Motion, Position, Sizes};
use daedal::scalar::{Dual, Scalar, Taylor};
use std::array::from_fn;

/// Positions and velocities (q₁, q₂, u₁, u₂).
pub type State = [f64; 4];

/// Equations of motion, written once for every scalar.
pub trait Mechanism {
    /// M(q).
    fn mass<S: Scalar>(&self, q: [S; 2]) -> [[S; 2]; 2];
    /// f(t, q, u).
    fn force<S: Scalar>(&self, t: S, q: [S; 2], u: [S; 2]) -> [S; 2];
    /// g(t, q).
    fn constraint<S: Scalar>(&self, t: S, q: [S; 2]) -> S;

    /// G = ∂g/∂q.
    fn gradient<S: Scalar>(&self, t: S, q: [S; 2]) -> [S; 2] {
        self.constraint(Dual::constant(t), from_fn(|i| Dual::<S, 2>::variable(q[i], i))).lanes
    }

    /// G u + g_t, the derivative of g along t + τ, q + τ u.
    fn velocity_constraint<S: Scalar>(&self, t: S, q: [S; 2], u: [S; 2]) -> S {
        self.constraint(Dual::<S, 1>::variable(t, 0), from_fn(|i| Dual { value: q[i], lanes: [u[i]] })).lanes[0]
    }

    /// Γ, the second derivative of g along t + τ, q + τ u.
    fn curvature<S: Scalar>(&self, t: S, q: [S; 2], u: [S; 2]) -> S {
        let along = from_fn(|i| Taylor { coefficients: [q[i], u[i], S::from(0.0)] });
        self.constraint(Taylor::<S, 3>::parameter(t), along).coefficients[2] * 2.0
    }

    /// u' and λ of the index-1 equations.
    fn accelerations(&self, t: f64, y: &State) -> ([f64; 2], f64) {
        let (q, u) = split(y);
        let f = self.force(t, q, u);
        let mut b = [f[0], f[1], -self.curvature(t, q, u)];
        self.saddle_matrix(t, q).solve(&mut b);
        ([b[0], b[1]], b[2])
    }

    /// [M Gᵀ; G 0], decomposed.
    fn saddle_matrix(&self, t: f64, q: [f64; 2]) -> Lu<f64> {
        let (M, G) = (self.mass(q), self.gradient(t, q));
        let mut K = Lu::new(3);
        for i in 0..2 {
            for j in 0..2 {
                K.A[(i, j)] = M[i][j];
            }
            K.A[(i, 2)] = G[i];
            K.A[(2, i)] = G[i];
        }
        K.factor().expect("independent constraints");
        K
    }

    /// |g| and |G u + g_t|.
    fn residuals(&self, t: f64, y: &State) -> [f64; 2] {
        let (q, u) = split(y);
        [self.constraint(t, q).abs(), self.velocity_constraint(t, q, u).abs()]
    }
}

/// The same as equations of motion, for the methods of the library.
pub struct Shipped<M>(pub M);

impl<M: Mechanism> EquationsOfMotion for Shipped<M> {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        let mass = self.0.mass([at.p[0], at.p[1]]);
        (0..4).for_each(|k| M[(k / 2, k % 2)] = mass[k / 2][k % 2]);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f.copy_from_slice(&self.0.force(at.t, [at.p[0], at.p[1]], [at.v[0], at.v[1]]));
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = self.0.constraint(at.t, [at.p[0], at.p[1]]);
    }
}

impl<M: Mechanism> Shipped<M> {
    /// x = (a, λ, v, p) with the accelerations and the multiplier that the acceleration level gives, for a start that is trusted.
    pub fn trusted(&self, t: f64, y: &State) -> method::State {
        let (a, lambda) = self.0.accelerations(t, y);
        method::State { t, x: vec![a[0], a[1], lambda, y[2], y[3], y[0], y[1]] }
    }
}

/// (q, u) of x = (a, λ, v, p).
pub fn of_motion(x: &[f64]) -> State {
    [x[5], x[6], x[3], x[4]]
}

/// q and u.
pub fn split(y: &State) -> ([f64; 2], [f64; 2]) {
    ([y[0], y[1]], [y[2], y[3]])
}
