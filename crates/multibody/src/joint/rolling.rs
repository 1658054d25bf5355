//! Rolling and knife edges. The plane belongs to A: point o and normal n = e₃ of its marker, tangents e₁, e₂.
//!
//! ```text
//! disc, radius r, axis a = b₃ of B's marker, centre c:  b = n − (n·a)a,  u = b/|b|,  ρ = −r u;    holonomic: n·(c − o) − r|b| = 0
//! sphere:  ρ = −r n;                                   holonomic: n·(c − o) − r = 0
//! rows k = n, t₁, t₂ of the velocity of B's material at c + ρ, seen from A
//! knife edge, blade b = b₁ of B's marker:  ℓ = n×b/|n×b|,  ℓ·Ṗ = 0
//! ```
//! The normal row is the derivative of the holonomic one, because u turns in the body about a only, and a×u is normal to n.

use super::block::{Pair, Row};
use crate::vector::{Vector, add, cross, dot, negative, norm, scale, sub};
use daedal::scalar::Scalar;

/// ρ of a disc: from its centre to where it touches the plane.
pub fn arm<S: Scalar>(pair: &Pair<S>, radius: f64) -> Vector<S> {
    let (n, a) = (pair.axes[0][2], pair.axes[1][2]);
    let b = sub(n, scale(dot(n, a), a));
    scale(norm(b).recip() * -radius, b)
}

/// A thin disc that rolls without slipping: one holonomic row, two others.
pub fn disc<S: Scalar>(pair: &Pair<S>, radius: f64) -> ([Row<S>; 1], [Row<S>; 2]) {
    let ([t1, t2, n], a) = (pair.axes[0], pair.axes[1][2]);
    let (n1, a1) = (pair.rate(0, n), pair.rate(1, a));
    let cosine = dot(n, a);
    let b = sub(n, scale(cosine, a));
    let b1 = sub(sub(n1, scale(dot(n1, a) + dot(n, a1), a)), scale(cosine, a1));
    let size = norm(b);
    let u = scale(size.recip(), b);
    let u1 = scale(size.recip(), sub(b1, scale(dot(u, b1), u)));
    let r = S::from(-radius);
    rows(pair, [t1, t2, n], scale(r, u), scale(r, u1), size * radius)
}

/// A ball that rolls without slipping.
pub fn sphere<S: Scalar>(pair: &Pair<S>, radius: f64) -> ([Row<S>; 1], [Row<S>; 2]) {
    let axes = pair.axes[0];
    let (n, n1) = (axes[2], pair.rate(0, axes[2]));
    let r = S::from(-radius);
    rows(pair, axes, scale(r, n), scale(r, n1), S::from(radius))
}

fn rows<S: Scalar>(
    pair: &Pair<S>,
    [t1, t2, n]: [Vector<S>; 3],
    rho: Vector<S>,
    rho1: Vector<S>,
    height: S,
) -> ([Row<S>; 1], [Row<S>; 2]) {
    let arm = add(pair.rho[1], rho);
    let arm1 = add(pair.rate(1, pair.rho[1]), rho1);
    let row = |k: Vector<S>| pair.no_slip(k, pair.rate(0, k), arm, arm1);
    let normal = Row { g: dot(n, pair.D) - height, ..row(n) };
    ([normal], [row(t1), row(t2)])
}

/// A blade that moves only along itself.
pub fn knife_edge<S: Scalar>(pair: &Pair<S>) -> Row<S> {
    let (n, b) = (pair.axes[0][2], pair.axes[1][0]);
    let m = cross(n, b);
    let m1 = add(cross(pair.rate(0, n), b), cross(n, pair.rate(1, b)));
    let size = norm(m);
    let across = scale(size.recip(), m);
    let across1 = scale(size.recip(), sub(m1, scale(dot(across, m1), across)));
    pair.no_slip(across, across1, pair.rho[1], pair.rate(1, pair.rho[1]))
}

/// The wheel of a planar model on the line through o along e₁, its normal e₂: both rows are holonomic, n·(c − o) = r and e₁·(c − o) + r θ = 0,
/// where θ is the angle that the wheel has turned.
pub fn wheel<S: Scalar>(pair: &Pair<S>, radius: f64, turned: S, start: f64) -> [Row<S>; 2] {
    let normal = pair.along(1);
    let rolled = pair.along(0).plus(pair.turning(pair.axes[0][2]).times(radius));
    let path = dot(pair.axes[0][0], pair.D) + turned * radius;
    [Row { g: normal.g - radius, ..normal }, Row { g: path - start, ..rolled }]
}

/// The velocity of B's material where a ball of this radius touches A's plane, its depth in it, and the place on B from its centre of mass.
pub fn touching<S: Scalar>(pair: &Pair<S>, radius: f64) -> (Vector<S>, S, Vector<S>) {
    let n = pair.axes[0][2];
    let arm = add(pair.rho[1], scale(S::from(radius), negative(n)));
    let (velocity, _) = pair.slip(arm, arm);
    (velocity, -dot(n, pair.D) + radius, arm)
}
