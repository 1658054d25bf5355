//! Where a body is and how it moves, seen from the world.

use crate::vector::{IDENTITY, Matrix3, Vector, constants, rotation, times, zero};
use daedal::scalar::Scalar;

/// Pose and velocity of a body: x, R, ẋ and w = Rω.
#[derive(Clone, Copy, Debug)]
pub struct BodyState<S> {
    /// Centre of mass.
    pub x: Vector<S>,
    /// Body → world.
    pub R: Matrix3<S>,
    /// ẋ.
    pub v: Vector<S>,
    /// Angular velocity in the world.
    pub w: Vector<S>,
}

impl<S: Scalar> BodyState<S> {
    /// The ground.
    pub fn ground() -> Self {
        BodyState { x: zero(), R: constants(&IDENTITY), v: zero(), w: zero() }
    }

    /// From p = (x, q) and v = (ẋ, ω).
    pub fn spatial(p: &[S], v: &[S]) -> Self {
        let R = rotation([p[3], p[4], p[5], p[6]]);
        BodyState { x: [p[0], p[1], p[2]], R, v: [v[0], v[1], v[2]], w: times(&R, [v[3], v[4], v[5]]) }
    }

    /// From p = (x, y, φ) and v = p'.
    pub fn planar(p: &[S], v: &[S]) -> Self {
        let ((s, c), o, one) = (p[2].sin_cos(), S::from(0.0), S::from(1.0));
        let R = [[c, -s, o], [s, c, o], [o, o, one]];
        BodyState { x: [p[0], p[1], o], R, v: [v[0], v[1], o], w: [o, o, v[2]] }
    }
}
