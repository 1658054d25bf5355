//! A chain: many unknowns, few of which meet in an equation.

use daedal::Initial;
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Position, Sizes, Velocity};
use daedal::scalar::Scalar;

/// Point masses in a plane, each on a rod to the one before, with their energy; masses alternate.
pub struct Chain {
    pub links: usize,
}

impl Chain {
    fn mass(i: usize) -> f64 {
        if i.is_multiple_of(2) { 1.0 } else { 0.5 }
    }

    /// Released at rest, neither straight nor level.
    pub fn start(&self) -> Initial {
        let (mut p, mut at) = (Vec::new(), [0.0, 0.0]);
        for i in 0..self.links {
            let angle = 0.3 + 0.4 * (i as f64).sin();
            at = [at[0] + angle.cos(), at[1] - angle.sin()];
            p.extend(at);
        }
        Initial::motion(0.0, &p, &vec![0.0; p.len()])
    }
}

impl EquationsOfMotion for Chain {
    fn sizes(&self) -> Sizes {
        let n = 2 * self.links;
        Sizes { positions: n, velocities: n, holonomic: self.links, invariants: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        (0..2 * self.links).for_each(|i| M[(i, i)] = S::from(Chain::mass(i / 2)));
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        (0..self.links).for_each(|i| f[2 * i + 1] = S::from(-10.0 * Chain::mass(i)));
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        for i in 0..self.links {
            let before = |k: usize| if i == 0 { S::from(0.0) } else { at.p[2 * i - 2 + k] };
            g[i] = (at.p[2 * i] - before(0)).square() + (at.p[2 * i + 1] - before(1)).square() - 1.0;
        }
    }
    fn invariant<S: Scalar>(&self, at: &Velocity<S>, e: &mut [S]) {
        e[0] = (0..self.links).fold(S::from(0.0), |sum, i| {
            let kinetic = (at.v[2 * i].square() + at.v[2 * i + 1].square()) * (0.5 * Chain::mass(i));
            sum + kinetic + at.p[2 * i + 1] * (10.0 * Chain::mass(i))
        });
    }
}
