//! Holonomic constraints that the kinematics imply: g(p) with dg/dt = G Z v ≡ 0.
//!
//! The norm of a quaternion is the example: p' = Z(p) ω keeps it whatever ω is. Such a constraint restricts positions, but no velocity, so that
//! its hidden constraints are 0 = 0 and its multiplier has no force: it is undetermined, and kept at zero. Where rounding is taken for a
//! gradient, it looks like a constraint that is singular everywhere; so its velocity level is set to zero as a formula.
//!
//! G Z is a sum that cancels, which no rewriting of formulas sees. It is decided at random points: polynomials and other analytic functions that
//! vanish there vanish everywhere, with probability one (Schwartz and Zippel). Functions with branches are not analytic, and are not taken for zero.

use super::Formulas;
use crate::analysis::random::Random;
use crate::graph::{Expr, Graph, Tape};

/// Points at which G Z v must vanish.
const POINTS: usize = 12;
/// Points at which it must have a value, for a decision.
const ENOUGH: usize = 6;
/// Sums below this part of their terms are rounding.
const ROUNDING: f64 = 1e-12;

impl Formulas {
    /// Numbers of the holonomic constraints that the kinematics imply.
    pub fn implied(&self) -> Vec<usize> {
        let at = self.variables();
        // closed forms have no rows of zeros
        if self.kinematics == at.v() || self.holonomic.is_empty() || self.closed.is_some() {
            return Vec::new();
        }
        let mut graph = self.graph.clone();
        (0..self.holonomic.len()).filter(|&k| self.is_implied(&mut graph, k)).collect()
    }

    fn is_implied(&self, graph: &mut Graph, k: usize) -> bool {
        let at = self.variables();
        let g = self.holonomic[k];
        let moving = |e: &Expr| *e == at.t() || at.s().contains(e);
        if graph.needed(&[g]).iter().any(moving) {
            return false;
        }
        let gradient = graph.jacobian(&[g], at.p());
        let terms: Vec<Expr> = graph.with(|| gradient.iter().map(|(_, j, slope)| slope * self.kinematics[j]).collect());
        if terms.is_empty() || graph.has_branches(&terms) || graph.needed(&terms).iter().any(moving) {
            return false;
        }
        let tape = Tape::new(graph, &terms);
        let mut inputs = vec![0.0; graph.inputs().len()];
        let parameters = inputs.len() - self.parameters.len();
        inputs[parameters..].iter_mut().zip(&self.parameters).for_each(|(x, (_, value))| *x = *value);
        let mut seen = 0;
        let mut random = Random::default();
        for _ in 0..POINTS {
            inputs[..parameters].iter_mut().for_each(|x| *x = 2.0 * random.next());
            let values: Vec<f64> = tape.evaluate(&inputs);
            let (sum, size) = values.iter().fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
            if !(size.is_finite() && size > 0.0) {
                continue;
            }
            if sum.abs() > ROUNDING * size {
                return false;
            }
            seen += 1;
        }
        seen >= ENOUGH
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;
    use crate::motion::{EquationsOfMotion, Motion, Position, Sizes, Velocity};
    use crate::scalar::Scalar;

    /// A quaternion with its norm, and one component held.
    struct Quaternion;
    impl EquationsOfMotion for Quaternion {
        fn sizes(&self) -> Sizes {
            Sizes { positions: 4, velocities: 3, holonomic: 3, ..Sizes::default() }
        }
        fn kinematics<S: Scalar>(&self, at: &Velocity<S>, rate: &mut [S]) {
            let (q, w) = (at.p, at.v);
            rate[0] = -(q[1] * w[0] + q[2] * w[1] + q[3] * w[2]) * 0.5;
            rate[1] = (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]) * 0.5;
            rate[2] = (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]) * 0.5;
            rate[3] = (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]) * 0.5;
        }
        fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
            (0..3).for_each(|i| M[(i, i)] = S::from(1.0));
        }
        fn force<S: Scalar>(&self, _: &Motion<S>, _: &mut [S]) {}
        fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
            let square = at.p.iter().fold(S::from(-1.0), |sum, q| sum + q.square());
            g[0] = square;
            g[1] = at.p[1];
            g[2] = (square + 1.0).sqrt() - 1.0;
        }
    }

    #[test]
    fn norms_of_quaternions_are_implied_in_every_form() {
        assert_eq!(Formulas::trace(&Quaternion).implied(), [0, 2]);
    }
}
