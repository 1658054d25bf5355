//! A body on the unit circle, for the behaviour of formulations under inconsistent initial values.
//!
//! ```text
//! p' = v,   v' = (−p₁ − 2p₁v₁v₂, −v₁ + 2p₁p₂²) − 2pλ,   0 = p₁² + p₂² − 1
//! ```
//! The exact solution is p = (sin t, cos t), λ = sin t cos t. Steinbrecher (2002), TU Berlin preprint 742-02, section 6.
//!
//! Erratum: the initial residuals printed for the inconsistent start, [`INCONSISTENT`], belong to λ = −0.0001.

use crate::{Case, ReferenceProblem, ReferenceValues};
use daedal::Initial;
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Names, Position, Sizes};
use daedal::scalar::{Scalar, dot};

/// The body on the circle; it has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Circle;

/// (p, v, λ) of the inconsistent start that the preprint studies.
pub const INCONSISTENT: [f64; 5] = [0.0001, 1.0001, 0.999, 0.001, 0.0001];

/// (p, v, λ) at time t.
pub fn exact(t: f64) -> [f64; 5] {
    let (sin, cos) = t.sin_cos();
    [sin, cos, cos, -sin, sin * cos]
}

impl EquationsOfMotion for Circle {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes()).motion(&["x", "y"], &["vx", "vy"]).constraints(&["circle"], &[])
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
        M[(1, 1)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        let (p, v) = (at.p, at.v);
        f[0] = -p[0] - p[0] * v[0] * v[1] * 2.0;
        f[1] = -v[0] + p[0] * p[1].square() * 2.0;
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = dot(at.p, at.p) - 1.0;
    }
}

pub(crate) const PROBLEM: ReferenceProblem = ReferenceProblem {
    name: "circle",
    description: "body on the unit circle with forces that depend on velocity",
    source: "Steinbrecher (2002), TU Berlin preprint 742-02, section 6",
    parameters: &[],
    build: |_| {
        let start = exact(0.0);
        let reference =
            |t: f64| ReferenceValues::new(t, &["x", "y", "vx", "vy", "lambda.circle"], &exact(t), 1e-14, "closed form");
        Case {
            mechanism: Box::new(Circle),
            initial: Initial::motion(0.0, &start[..2], &start[2..4]).multipliers(&start[4..], &[]),
            tend: 5.0,
            h0: None,
            references: vec![reference(1.0), reference(5.0)],
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, RandomNumbers, close};

    /// (g, gI, gII) by hand.
    fn residuals(p: &[f64], v: &[f64], lambda: f64) -> [f64; 3] {
        [
            p[0] * p[0] + p[1] * p[1] - 1.0,
            2.0 * p[0] * v[0] + 2.0 * p[1] * v[1],
            2.0 * v[0] * v[0]
                + 2.0 * v[1] * v[1]
                + 2.0 * p[0] * (-p[0] - 2.0 * p[0] * v[0] * v[1] - 2.0 * p[0] * lambda)
                + 2.0 * p[1] * (-v[0] + 2.0 * p[0] * p[1] * p[1] - 2.0 * p[1] * lambda),
        ]
    }

    #[test]
    fn hidden_constraints_are_those_of_the_preprint() {
        let (mut bench, mut random) = (Bench::new(&Circle), RandomNumbers::new(3));
        for _ in 0..20 {
            let mut x = random.vector(bench.layout.dim());
            bench.accelerate(0.0, &mut x);
            let lambda = x[bench.layout.lambda().start];
            let [g, g1, g2] = residuals(&x[bench.layout.p()], &x[bench.layout.v()], lambda);
            let rows = bench.rows(0.0, &x);
            close(&rows[bench.layout.row_g()], &[g], 1e-15);
            close(&rows[bench.layout.row_g1()], &[g1], 1e-15);
            close(&rows[bench.layout.row_g2()], &[g2], 1e-14);
        }
    }

    #[test]
    fn exact_solution_satisfies_all_equations() {
        let mut bench = Bench::new(&Circle);
        for t in [0.0, 0.9, 4.0] {
            let [x, y, vx, vy, lambda] = exact(t);
            let at = bench.point(&[("p", &[x, y]), ("v", &[vx, vy]), ("lambda", &[lambda]), ("a", &[-x, -y])]);
            let rows = bench.rows(t, &at);
            close(&rows[..bench.layout.algebraic()], &[0.0; 5], 1e-15);
        }
    }

    #[test]
    fn inconsistent_start_has_the_printed_residuals_up_to_the_erratum() {
        let [x, y, vx, vy, lambda] = INCONSISTENT;
        // preprint 742-02, (37)
        close(&residuals(&[x, y], &[vx, vy], -lambda), &[0.00020002, 0.0022, -0.0013956], 1e-7);
        let recomputed = [0.00020002, 0.0022, -0.00219578];
        close(&residuals(&[x, y], &[vx, vy], lambda), &recomputed, 1e-8);
    }
}
