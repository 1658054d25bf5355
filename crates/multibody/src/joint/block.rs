//! The building blocks of joints: rows of K in closed form.
//!
//! A marker is a point s and a frame fixed in a body; ρ = R s; e are the axes of the marker of A, b those of B, seen in the world.
//!
//! ```text
//! ȧ = w×a,  ä⁰ = w×(w×a),   D = x_B + ρ_B − x_A − ρ_A,   Ḋ = ẋ_B + w_B×ρ_B − ẋ_A − w_A×ρ_A,   D̈⁰ = w_B×(w_B×ρ_B) − w_A×(w_A×ρ_A)
//! ```
//! ⁰ means v' = 0. Every row holds as K v + k₀ = 0 and K v' + Γ = 0; it is given by its parts for both bodies, (force in the world | torque in the body).
//! Rows stand in the frame of A: then the ones that a loop makes redundant stay the same while it moves, and multipliers have names.

use crate::state::BodyState;
use crate::vector::{
    Matrix3, Vector, add, constant, constants, cross, dot, negative, norm, product, scale, sub, times, transposed,
    transposed_times, zero,
};
use daedal::scalar::Scalar;

/// The part of a row for one body: what a unit multiplier does to it, up to the sign.
#[derive(Clone, Copy, Debug)]
pub struct Wrench<S> {
    /// In the world.
    pub force: Vector<S>,
    /// About the centre of mass, in the body.
    pub torque: Vector<S>,
}

impl<S: Scalar> Wrench<S> {
    /// Nothing.
    pub fn zero() -> Self {
        Wrench { force: zero(), torque: zero() }
    }
    /// s times it.
    pub fn times(self, s: S) -> Self {
        Wrench { force: scale(s, self.force), torque: scale(s, self.torque) }
    }
    /// The sum of two.
    pub fn plus(self, other: Self) -> Self {
        Wrench { force: add(self.force, other.force), torque: add(self.torque, other.torque) }
    }
}

/// One row between two bodies.
#[derive(Clone, Copy, Debug)]
pub struct Row<S> {
    /// g, of a holonomic row.
    pub g: S,
    /// What does not depend on velocities in K v + k₀.
    pub k0: S,
    /// Γ.
    pub gamma: S,
    /// K for A and for B.
    pub parts: [Wrench<S>; 2],
}

impl<S: Scalar> Row<S> {
    /// s times it, s being a number.
    pub fn times(self, s: f64) -> Self {
        let s = S::from(s);
        Row { g: s * self.g, k0: s * self.k0, gamma: s * self.gamma, parts: self.parts.map(|part| part.times(s)) }
    }
    /// The sum of two rows between the same bodies.
    pub fn plus(self, other: Self) -> Self {
        let parts = [self.parts[0].plus(other.parts[0]), self.parts[1].plus(other.parts[1])];
        Row { g: self.g + other.g, k0: self.k0 + other.k0, gamma: self.gamma + other.gamma, parts }
    }
}

/// A point and a frame fixed in a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marker {
    /// In body coordinates, from the centre of mass.
    pub point: Vector<f64>,
    /// Its axes as columns, in the body.
    pub frame: Matrix3<f64>,
}

/// Two bodies with a marker on each, where they are and how they move.
#[derive(Clone, Copy, Debug)]
pub struct Pair<S> {
    /// A and B.
    pub bodies: [BodyState<S>; 2],
    /// ρ of both.
    pub rho: [Vector<S>; 2],
    /// Axes of both markers.
    pub axes: [[Vector<S>; 3]; 2],
    /// D.
    pub D: Vector<S>,
    /// Ḋ.
    pub D1: Vector<S>,
    /// D̈⁰.
    pub D2: Vector<S>,
}

impl<S: Scalar> Pair<S> {
    /// Of two bodies.
    pub fn new(bodies: [BodyState<S>; 2], markers: &[Marker; 2]) -> Self {
        let rho = [0, 1].map(|k| times(&bodies[k].R, constant(markers[k].point)));
        let axes = [0, 1].map(|k| transposed(&product(&bodies[k].R, &constants(&markers[k].frame))));
        let at = [0, 1].map(|k| add(bodies[k].x, rho[k]));
        let velocity = [0, 1].map(|k| add(bodies[k].v, cross(bodies[k].w, rho[k])));
        let inward = [0, 1].map(|k| cross(bodies[k].w, cross(bodies[k].w, rho[k])));
        Pair {
            bodies,
            rho,
            axes,
            D: sub(at[1], at[0]),
            D1: sub(velocity[1], velocity[0]),
            D2: sub(inward[1], inward[0]),
        }
    }

    /// ȧ of an axis fixed in body k.
    pub fn rate(&self, k: usize, a: Vector<S>) -> Vector<S> {
        cross(self.bodies[k].w, a)
    }

    /// A torque in the world as one in body k.
    fn in_body(&self, k: usize, torque: Vector<S>) -> Vector<S> {
        transposed_times(&self.bodies[k].R, torque)
    }

    /// **P**(eᵢ): a·D, a fixed in A.
    pub fn along(&self, i: usize) -> Row<S> {
        let (a, D) = (self.axes[0][i], self.D);
        let a1 = self.rate(0, a);
        let on_A = sub(cross(a, D), cross(self.rho[0], a));
        let parts = [
            Wrench { force: negative(a), torque: self.in_body(0, on_A) },
            Wrench { force: a, torque: self.in_body(1, cross(self.rho[1], a)) },
        ];
        let gamma = dot(a, self.D2) + dot(a1, self.D1) * 2.0 + dot(self.rate(0, a1), D);
        Row { g: dot(a, D), k0: S::from(0.0), gamma, parts }
    }

    /// **O**(eᵢ, bⱼ): a·b, a fixed in A and b in B.
    pub fn angle_between(&self, i: usize, j: usize) -> Row<S> {
        let (a, b) = (self.axes[0][i], self.axes[1][j]);
        let (a1, b1) = (self.rate(0, a), self.rate(1, b));
        let normal = cross(a, b);
        let parts = [
            Wrench { force: zero(), torque: self.in_body(0, normal) },
            Wrench { force: zero(), torque: self.in_body(1, negative(normal)) },
        ];
        let gamma = dot(self.rate(0, a1), b) + dot(a1, b1) * 2.0 + dot(a, self.rate(1, b1));
        Row { g: dot(a, b), k0: S::from(0.0), gamma, parts }
    }

    /// **L**: (D·D − L²)/(2L).
    pub fn distance(&self, length: f64) -> Row<S> {
        let u = self.D.map(|x| x / length);
        let parts = [
            Wrench { force: negative(u), torque: self.in_body(0, negative(cross(self.rho[0], u))) },
            Wrench { force: u, torque: self.in_body(1, cross(self.rho[1], u)) },
        ];
        let g = (dot(self.D, self.D) - length * length) / (2.0 * length);
        Row { g, k0: S::from(0.0), gamma: (dot(self.D1, self.D1) + dot(self.D, self.D2)) / length, parts }
    }

    /// **Θ**: sin(θ − φ) with φ = e₃·D/κ + φ₀(t), where `lead` is 1/κ and `given` is φ₀, φ₀', φ₀''. It needs no counter of turns: the motion
    /// stays on the branch on which it began, where the gradient is 1.
    pub fn turned(&self, lead: f64, given: [S; 3]) -> Row<S> {
        let (sine, cosine, travel) = (self.angle_between(1, 0), self.angle_between(0, 0), self.along(2));
        let speed = dot(self.axes[0][2], self.D1) + dot(self.rate(0, self.axes[0][2]), self.D);
        let phi = travel.g * lead + given[0];
        let phi1 = speed * lead + given[1];
        let phi2 = travel.gamma * lead + given[2];
        let ((s, c), (S0, C0)) = (phi.sin_cos(), (sine.g, cosine.g));
        let rate_of = |i: usize| {
            let (a, b) = (self.axes[0][i], self.axes[1][0]);
            dot(self.rate(0, a), b) + dot(a, self.rate(1, b))
        };
        let (S1, C1) = (rate_of(1), rate_of(0));
        let slope = s * S0 + c * C0;
        let part = |k: usize| {
            let turning = sine.parts[k].times(c).plus(cosine.parts[k].times(-s));
            turning.plus(travel.parts[k].times(-slope * lead))
        };
        let gamma = c * (sine.gamma - phi2 * C0 - phi1 * C1 * 2.0 - phi1.square() * S0)
            - s * (cosine.gamma + phi2 * S0 + phi1 * S1 * 2.0 - phi1.square() * C0);
        Row { g: c * S0 - s * C0, k0: -slope * given[1], gamma, parts: [part(0), part(1)] }
    }

    /// The rate of the angle about an axis a of A: θ' = a·(w_B − w_A), as a row without g; Γ = ȧ·w_B.
    pub fn turning(&self, e3: Vector<S>) -> Row<S> {
        let parts = [
            Wrench { force: zero(), torque: self.in_body(0, negative(e3)) },
            Wrench { force: zero(), torque: self.in_body(1, e3) },
        ];
        let zero = S::from(0.0);
        Row { g: zero, k0: zero, gamma: dot(self.rate(0, e3), self.bodies[1].w), parts }
    }

    /// The angle between two directions that are normal to e₃, in (−π, π].
    pub fn angle(&self) -> S {
        let b1 = self.axes[1][0];
        dot(self.axes[0][1], b1).atan2(dot(self.axes[0][0], b1))
    }
    /// θ'.
    pub fn rate_of_angle(&self) -> S {
        dot(self.axes[0][2], sub(self.bodies[1].w, self.bodies[0].w))
    }
    /// s = e₃·D.
    pub fn travel(&self) -> S {
        dot(self.axes[0][2], self.D)
    }
    /// s' = e₃·(Ḋ − w_A×D).
    pub fn speed(&self) -> S {
        dot(self.axes[0][2], sub(self.D1, cross(self.bodies[0].w, self.D)))
    }
    /// |D|.
    pub fn length(&self) -> S {
        norm(self.D)
    }

    /// The velocity, seen from A, of B's material at a point at `arm` from B's centre, and its rate for v' = 0 where the arm has the rate `arm1`.
    pub fn slip(&self, arm: Vector<S>, arm1: Vector<S>) -> (Vector<S>, Vector<S>) {
        let [A, B] = &self.bodies;
        let from_A = sub(add(B.x, arm), A.x);
        let from_A1 = sub(add(B.v, arm1), A.v);
        let velocity = sub(add(B.v, cross(B.w, arm)), add(A.v, cross(A.w, from_A)));
        (velocity, sub(cross(B.w, arm1), cross(A.w, from_A1)))
    }

    /// The row k·slip for a direction k with the rate k̇.
    pub fn no_slip(&self, k: Vector<S>, k1: Vector<S>, arm: Vector<S>, arm1: Vector<S>) -> Row<S> {
        let (velocity, change) = self.slip(arm, arm1);
        let from_A = sub(add(self.bodies[1].x, arm), self.bodies[0].x);
        let parts = [
            Wrench { force: negative(k), torque: self.in_body(0, negative(cross(from_A, k))) },
            Wrench { force: k, torque: self.in_body(1, cross(arm, k)) },
        ];
        let zero = S::from(0.0);
        Row { g: zero, k0: zero, gamma: dot(k, change) + dot(k1, velocity), parts }
    }
}
