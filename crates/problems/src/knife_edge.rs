//! Knife edge on an incline: a body that cannot slip sideways.
//!
//! ```text
//! p = (x, y, φ),   m x'' = m g − sin φ μ,   m y'' = cos φ μ,   J φ'' = 0,   0 = x' sin φ − y' cos φ
//! ```
//! The blade slides only along (cos φ, sin φ); the slope is along x. Started with spin only, it does not slide down: it returns to
//! its height and drifts across the slope on a cycloid. Neimark and Fufaev (1972), Dynamics of nonholonomic systems.

use crate::{Case, ReferenceProblem, ReferenceValues};
use daedal::Initial;
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Names, Position, Sizes, Velocity};
use daedal::scalar::Scalar;

/// The knife edge and its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnifeEdge {
    /// Mass.
    pub m: f64,
    /// Moment of inertia about the normal of the incline.
    pub j: f64,
    /// Acceleration of gravity along the incline, in direction x.
    pub g: f64,
}

impl KnifeEdge {
    /// (p, v, μ) at time t from p = 0, v = (0, 0, ω).
    pub fn exact(&self, omega: f64, t: f64) -> [f64; 7] {
        let (g, phi) = (self.g, omega * t);
        let (sin, cos) = phi.sin_cos();
        [
            g * sin * sin / (2.0 * omega * omega),
            g * (phi - sin * cos) / (2.0 * omega * omega),
            phi,
            g * sin * cos / omega,
            g * sin * sin / omega,
            omega,
            2.0 * self.m * g * sin,
        ]
    }
}

impl EquationsOfMotion for KnifeEdge {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 3, velocities: 3, nonholonomic: 1, invariants: 1, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes())
            .motion(&["x", "y", "phi"], &["vx", "vy", "omega"])
            .constraints(&[], &["blade"])
            .invariants(&["energy"])
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(self.m);
        M[(1, 1)] = S::from(self.m);
        M[(2, 2)] = S::from(self.j);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[0] = S::from(self.m * self.g);
    }
    fn nonholonomic<S: Scalar>(&self, at: &Velocity<S>, h: &mut [S]) {
        let (sin, cos) = at.p[2].sin_cos();
        h[0] = at.v[0] * sin - at.v[1] * cos;
    }
    fn invariant<S: Scalar>(&self, at: &Velocity<S>, e: &mut [S]) {
        let speed2 = at.v[0].square() + at.v[1].square();
        e[0] = speed2 * (0.5 * self.m) + at.v[2].square() * (0.5 * self.j) - at.p[0] * (self.m * self.g);
    }
}

pub(crate) const PROBLEM: ReferenceProblem = ReferenceProblem {
    name: "knife-edge",
    description: "knife edge on an incline, nonholonomic",
    source: "Neimark and Fufaev (1972), Dynamics of nonholonomic systems",
    parameters: &[("m", 1.0), ("J", 1.0), ("g", 4.905), ("spin", 1.0)],
    build: |x| {
        let (blade, omega) = (KnifeEdge { m: x[0], j: x[1], g: x[2] }, x[3]);
        let names = ["x", "y", "phi", "vx", "vy", "omega", "mu.blade"];
        let reference = |t: f64| ReferenceValues::new(t, &names, &blade.exact(omega, t), 1e-14, "closed form");
        Case {
            mechanism: Box::new(blade),
            initial: Initial::motion(0.0, &[0.0; 3], &[0.0, 0.0, omega]),
            tend: 10.0,
            h0: None,
            references: vec![reference(1.0), reference(10.0)],
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, close};

    #[test]
    fn exact_solution_satisfies_all_equations() {
        let (blade, omega) = (KnifeEdge { m: 1.3, j: 0.4, g: 2.0 }, 1.7);
        let mut bench = Bench::new(&blade);
        let start = bench.point(&[("v", &[0.0, 0.0, omega])]);
        bench.keep_invariants(0.0, &start);
        for t in [0.0, 0.3, 2.0, 7.0] {
            let x = blade.exact(omega, t);
            let (sin, cos) = (2.0 * omega * t).sin_cos();
            let a = [blade.g * cos, blade.g * sin, 0.0];
            let at = bench.point(&[("p", &x[..3]), ("v", &x[3..6]), ("mu", &x[6..]), ("a", &a)]);
            let rows = bench.rows(t, &at);
            close(&rows[..bench.layout.algebraic()], &[0.0; 6], 1e-14);
        }
    }

    #[test]
    fn hidden_constraint_is_the_derivative_of_the_constraint() {
        let blade = KnifeEdge { m: 1.3, j: 0.4, g: 2.0 };
        let mut bench = Bench::new(&blade);
        let (phi, v) = (0.6_f64, [1.0, -2.0, 3.0]);
        let mut at = bench.point(&[("p", &[1.0, 2.0, phi]), ("v", &v), ("mu", &[0.7])]);
        bench.accelerate(0.0, &mut at);
        let a = &at[bench.layout.a()];
        let (sin, cos) = phi.sin_cos();
        let h1 = a[0] * sin - a[1] * cos + (v[0] * cos + v[1] * sin) * v[2];
        let rows = bench.rows(0.0, &at);
        close(&rows[bench.layout.row_h1()], &[h1], 1e-15);
    }
}
