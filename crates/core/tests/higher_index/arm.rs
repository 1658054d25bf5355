//! A damped arm of two links whose tip moves up and down by a given law: M depends on q, the constraint on t.
//!
//! ```text
//! q = (a, b), u = (c, d),   M = [3 + 2 cos b, 1 + cos b; 1 + cos b, 1],   g = sin a + sin(a + b) − 1/2 − sin(t)/5,
//! f = (sin b (2cd + d²) − 2 cos a − cos(a + b) − c/5,   −sin b c² − cos(a + b) − d/5).
//! ```

use super::mechanism::Mechanism;
use daedal::scalar::Scalar;

/// The arm.
pub struct Arm;

impl Mechanism for Arm {
    fn mass<S: Scalar>(&self, [_, b]: [S; 2]) -> [[S; 2]; 2] {
        let coupling = b.cos() + 1.0;
        [[coupling * 2.0 + 1.0, coupling], [coupling, S::from(1.0)]]
    }
    fn force<S: Scalar>(&self, _: S, [a, b]: [S; 2], [c, d]: [S; 2]) -> [S; 2] {
        [
            b.sin() * (c * d * 2.0 + d.square()) - a.cos() * 2.0 - (a + b).cos() - c / 5.0,
            -b.sin() * c.square() - (a + b).cos() - d / 5.0,
        ]
    }
    fn constraint<S: Scalar>(&self, t: S, [a, b]: [S; 2]) -> S {
        a.sin() + (a + b).sin() - 0.5 - t.sin() / 5.0
    }
}
