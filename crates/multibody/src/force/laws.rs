//! Forces of single elements in closed form, for every scalar.

use crate::joint::block::Pair;
use crate::joint::rolling::touching;
use crate::vector::{
    Vector, add, constant, cross, dot, negative, product, scale, sub, times, transposed, transposed_times,
};
use daedal::scalar::Scalar;

/// A force in the world with its arm from the centre of mass, and a torque in the world.
#[derive(Clone, Copy, Debug)]
pub struct Acting<S> {
    /// Force.
    pub force: Vector<S>,
    /// Torque about the centre of mass.
    pub torque: Vector<S>,
}

/// A force at `arm` from the centre of mass.
fn at<S: Scalar>(force: Vector<S>, arm: Vector<S>) -> Acting<S> {
    Acting { force, torque: cross(arm, force) }
}

/// F on B at `arm` from its centre, −F on A at the same point.
pub fn act<S: Scalar>(pair: &Pair<S>, force: Vector<S>, arm: Vector<S>, torque: Vector<S>) -> [Acting<S>; 2] {
    let [A, B] = &pair.bodies;
    let from_A = sub(add(B.x, arm), A.x);
    let (mut on_A, mut on_B) = (at(negative(force), from_A), at(force, arm));
    on_A.torque = sub(on_A.torque, torque);
    on_B.torque = add(on_B.torque, torque);
    [on_A, on_B]
}

/// A pull along D, each end at its own point.
pub fn pull<S: Scalar>(pair: &Pair<S>, tension: S) -> [Acting<S>; 2] {
    let force = scale(tension / pair.length(), pair.D);
    [at(force, pair.rho[0]), at(negative(force), pair.rho[1])]
}

/// A bushing, and its energy. Regular below relative rotations of 180°.
pub fn bushing<S: Scalar>(pair: &Pair<S>, [Kt, Ct, Kr, Cr]: &[Vector<f64>; 4]) -> ([Acting<S>; 2], S) {
    let [A, B] = &pair.bodies;
    // columns of the frames, so that rows of the transposed ones are the axes
    let (E, F) = (&pair.axes[0], &pair.axes[1]);
    let weighted = |k: &Vector<f64>, x: Vector<S>| [x[0] * k[0], x[1] * k[1], x[2] * k[2]];
    let travel = times(E, pair.D);
    let speed = times(E, sub(pair.D1, cross(A.w, pair.D)));
    let local = negative(add(weighted(Kt, travel), weighted(Ct, speed)));
    let force = transposed_times(E, local);

    // R_rel = Eᵀ F = I + 2q0 q⃗~ + 2q⃗~², q0 > 0
    let R = product(E, &transposed(F));
    let q0 = (R[0][0] + R[1][1] + R[2][2] + 1.0).sqrt() * 0.5;
    let axial = [R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]];
    let q = axial.map(|x| x / (q0 * 4.0));
    let psi = q.map(|x| x * 2.0);
    let elastic = weighted(Kr, psi);
    // (q0 I + q⃗~)ᵀ y = q0 y − q⃗×y
    let turn = sub(scale(q0, elastic), cross(q, elastic));
    let relative = times(F, sub(B.w, A.w));
    let torque = transposed_times(F, negative(add(turn, weighted(Cr, relative))));
    let energy = (dot(travel, weighted(Kt, travel)) + dot(psi, elastic)) * 0.5;
    (act(pair, force, pair.rho[1], torque), energy)
}

/// A ball on a plane by penalty. Outside of the plane there is no force; inside it never pulls.
pub fn contact<S: Scalar>(pair: &Pair<S>, [radius, k, c, mu, v_s]: [f64; 5]) -> [Acting<S>; 2] {
    let (n, zero) = (pair.axes[0][2], S::from(0.0));
    let (velocity, depth, arm) = touching(pair, radius);
    let closing = -dot(n, velocity);
    let push = (depth * k + closing * c).max(zero);
    let push = depth.select(push, zero);
    let sliding = add(velocity, scale(closing, n));
    // the root of zero has no derivative: below v_s the direction is not normalised
    let square = dot(sliding, sliding);
    let limit = S::from(v_s * v_s);
    let size = (square - limit).select(square, limit).sqrt();
    let friction = scale(-push * mu / size, sliding);
    act(pair, add(scale(push, n), friction), arm, constant([0.0; 3]))
}
