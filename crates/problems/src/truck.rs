//! Truck of five bodies in the plane, with a joint between chassis and loading area.
//!
//! ```text
//! p = (z₁, z₂, φ₂, z₃, z₄, φ₄, x₅, z₅, φ₅)      rear wheel, chassis, front wheel, cabin, loading area
//! M = diag(m₁, m₂, I₂, m₃, m₄, I₄, m₅, m₅, I₅),   force of an element: F = (k ℓ + d ℓ' + n) ρ/ℓ,  ℓ = |ρ|
//! 0 = loading area point (cc₁, cc₂) − chassis point (ac₁, ac₂)
//! ```
//! Each element between two points, ρ = to − from, pulls `to` with −F and `from` with +F. The truck starts in equilibrium and runs
//! over a hump, first with the front wheel. Eich-Soellner and Führer (1998), Numerical methods in multibody dynamics, constrained
//! truck; numbers as in the public Python program simonschmidt/FMNN-project3.
//!
//! The source writes the constraint forces as +Gᵀλ, hence all multipliers here have the opposite sign.
//! Erratum: the moment of element forces on the chassis has the wrong sign of h₁F_x in that program; here the forces follow from
//! virtual work.

use crate::{Case, ReferenceProblem, ReferenceValues};
use daedal::Initial;
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Names, Position, Sizes};
use daedal::scalar::Scalar;

/// Spring and damper in parallel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForceElement {
    /// Stiffness.
    pub k: f64,
    /// Damping.
    pub d: f64,
    /// Nominal force.
    pub n: f64,
}

/// The truck and its parameters. Points are (x, z) in the frame of their body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truck {
    /// Masses m₁ … m₅ of rear wheel, chassis, front wheel, cabin and loading area.
    pub m: [f64; 5],
    /// Moment of inertia of the chassis.
    pub i2: f64,
    /// Moment of inertia of the cabin.
    pub i4: f64,
    /// Moment of inertia of the loading area.
    pub i5: f64,
    /// Acceleration of gravity, along −z.
    pub g: f64,
    /// Speed of the truck; the hump begins 2 m ahead of the front wheel, which is 4.5 m ahead of the rear wheel.
    pub speed: f64,
    /// Height factor η of the road u = η s⁶ e^(−s), s = t − t₀ ≥ 0.
    pub hump: f64,
    /// Rear tyre (10).
    pub rear_tyre: ForceElement,
    /// Rear suspension (12).
    pub rear: ForceElement,
    /// Front tyre (30).
    pub front_tyre: ForceElement,
    /// Front suspension (23).
    pub front: ForceElement,
    /// Rear suspension of the cabin (24).
    pub cabin_rear: ForceElement,
    /// Front suspension of the cabin (42).
    pub cabin_front: ForceElement,
    /// Support of the loading area (25).
    pub load: ForceElement,
}

impl Default for Truck {
    fn default() -> Self {
        Truck {
            m: [1450.0, 3335.0, 600.0, 1100.0, 11515.0],
            i2: 14313.0,
            i4: 948.0,
            i5: 33000.0,
            g: 9.81,
            speed: 15.0,
            hump: 0.001,
            rear_tyre: ForceElement { k: 4400000.0, d: 600.0, n: -2329145.162 },
            rear: ForceElement { k: 824700.0, d: 21593.0, n: -246872.662 },
            front_tyre: ForceElement { k: 2200000.0, d: 300.0, n: -1147434.838 },
            front: ForceElement { k: 271100.0, d: 38537.0, n: -84924.838 },
            cabin_rear: ForceElement { k: 135700.0, d: 12218.0, n: -127842.88235294 },
            cabin_front: ForceElement { k: 135700.0, d: 12218.0, n: -127208.11764706 },
            load: ForceElement { k: 900000.0, d: 38500.0, n: -854905.94111111 },
        }
    }
}

/// Initial positions: equilibrium.
pub const P0: [f64; 9] = [0.5, 2.0, 0.0, 0.5, 2.9, 0.0, -1.46, 2.9, 0.0];
/// Initial multipliers, with the sign of this crate.
pub const LAMBDA0: [f64; 2] = [0.0, -68056.2088888888];
/// (p, v) at t = 20: integrated in minimal coordinates to about 13 digits.
pub const END: [f64; 18] = [
    0.500180105469416,
    2.00015066752806,
    -1.88454409764482e-5,
    0.500140758487783,
    2.9000988186779,
    -1.87893481949805e-5,
    -1.45998289184394,
    2.90017786613662,
    -1.9041448845098e-5,
    -0.000124848372594672,
    -0.000105111203723303,
    1.2656357136114e-5,
    -9.83544577824925e-5,
    -7.02915797030458e-5,
    1.26214574201623e-5,
    -1.14884957694281e-5,
    -0.000123380108237372,
    1.27862692618754e-5,
];
/// λ at t = 20, with the sign of this crate: integrated in minimal coordinates.
pub const LAMBDA_END: [f64; 2] = [0.76841095239059, -68056.4681485415];

// points where elements and the joint are fixed
const REAR: f64 = -2.06;
const FRONT: f64 = 2.44;
const REAR_SUSPENSION: [f64; 2] = [REAR, -1.34];
const FRONT_SUSPENSION: [f64; 2] = [FRONT, -1.34];
const CABIN_REAR: [[f64; 2]; 2] = [[1.94, 0.0], [-0.8, 0.0]];
const CABIN_FRONT: [[f64; 2]; 2] = [[3.64, 0.0], [0.9, 0.0]];
const LOAD: [[f64; 2]; 2] = [[0.98, 0.0], [2.44, 0.0]];
const JOINT: [[f64; 2]; 2] = [[-3.07, 0.15], [-1.61, -0.75]];

/// A body: its x coordinate where that is fixed, and which coordinates move it.
struct TruckBody {
    x: f64,
    moves: [Option<usize>; 3],
}

const REAR_WHEEL: TruckBody = TruckBody { x: REAR, moves: [None, Some(0), None] };
const CHASSIS: TruckBody = TruckBody { x: 0.0, moves: [None, Some(1), Some(2)] };
const FRONT_WHEEL: TruckBody = TruckBody { x: FRONT, moves: [None, Some(3), None] };
const CABIN: TruckBody = TruckBody { x: CABIN_REAR[0][0] - CABIN_REAR[1][0], moves: [None, Some(4), Some(5)] };
const LOADING_AREA: TruckBody = TruckBody { x: 0.0, moves: [Some(6), Some(7), Some(8)] };

/// A point fixed in a body, or on the road.
struct BodyPoint<'b, S> {
    at: [S; 2],
    velocity: [S; 2],
    /// from the origin of the body
    arm: [S; 2],
    body: Option<&'b TruckBody>,
}

impl TruckBody {
    /// The point with these coordinates in the body.
    fn point<S: Scalar>(&self, p: &[S], v: &[S], local: [f64; 2]) -> BodyPoint<'_, S> {
        let of = |block: &[S], axis: usize, fixed: f64| self.moves[axis].map_or(S::from(fixed), |i| block[i]);
        let (sin, cos) = of(p, 2, 0.0).sin_cos();
        let arm = [cos * local[0] - sin * local[1], sin * local[0] + cos * local[1]];
        let at = [of(p, 0, self.x) + arm[0], of(p, 1, 0.0) + arm[1]];
        let turn = of(v, 2, 0.0);
        let velocity = [of(v, 0, 0.0) - turn * arm[1], of(v, 1, 0.0) + turn * arm[0]];
        BodyPoint { at, velocity, arm, body: Some(self) }
    }
}

impl<S: Scalar> BodyPoint<'_, S> {
    /// Add a force at this point to the generalised forces.
    fn pull(&self, force: [S; 2], f: &mut [S]) {
        let moment = self.arm[0] * force[1] - self.arm[1] * force[0];
        if let Some(body) = self.body {
            for (i, load) in body.moves.into_iter().zip([force[0], force[1], moment]) {
                if let Some(i) = i {
                    f[i] += load;
                }
            }
        }
    }
}

impl ForceElement {
    /// Add the force of an element between two points.
    fn connect<S: Scalar>(&self, from: &BodyPoint<S>, to: &BodyPoint<S>, f: &mut [S]) {
        let rho = [to.at[0] - from.at[0], to.at[1] - from.at[1]];
        let rate = [to.velocity[0] - from.velocity[0], to.velocity[1] - from.velocity[1]];
        let length = (rho[0].square() + rho[1].square()).sqrt();
        let speed = (rho[0] * rate[0] + rho[1] * rate[1]) / length;
        let per_length = (length * self.k + speed * self.d + self.n) / length;
        let force = rho.map(|r| r * per_length);
        from.pull(force, f);
        to.pull(force.map(|x| -x), f);
    }
}

impl Truck {
    /// The road under a wheel at x, which reaches the hump after `distance`.
    fn road<S: Scalar>(&self, t: S, x: f64, distance: f64) -> BodyPoint<'_, S> {
        let s = t - distance / self.speed;
        let zero = S::from(0.0);
        let (height, rate) = (s.powi(6), s.powi(5) * 6.0 - s.powi(6));
        let factor = s.select((-s).exp() * self.hump, zero);
        BodyPoint { at: [S::from(x), height * factor], velocity: [zero, rate * factor], arm: [zero; 2], body: None }
    }
}

impl EquationsOfMotion for Truck {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 9, velocities: 9, holonomic: 2, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes()).motion(&NAMES[..9], &NAMES[9..18]).constraints(&["joint_x", "joint_z"], &[])
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        let [m1, m2, m3, m4, m5] = self.m;
        for (i, m) in [m1, m2, self.i2, m3, m4, self.i4, m5, m5, self.i5].into_iter().enumerate() {
            M[(i, i)] = S::from(m);
        }
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        for (i, m) in [0, 1, 3, 4, 7].into_iter().zip(self.m) {
            f[i] = S::from(-m * self.g);
        }
        let on = |body: &'static TruckBody, local| body.point(at.p, at.v, local);
        let (rear, front) = (on(&REAR_WHEEL, [0.0, 0.0]), on(&FRONT_WHEEL, [0.0, 0.0]));
        self.rear_tyre.connect(&self.road(at.t, REAR, 6.5), &rear, f);
        self.rear.connect(&rear, &on(&CHASSIS, REAR_SUSPENSION), f);
        self.front_tyre.connect(&self.road(at.t, FRONT, 2.0), &front, f);
        self.front.connect(&front, &on(&CHASSIS, FRONT_SUSPENSION), f);
        self.cabin_rear.connect(&on(&CHASSIS, CABIN_REAR[0]), &on(&CABIN, CABIN_REAR[1]), f);
        self.cabin_front.connect(&on(&CHASSIS, CABIN_FRONT[0]), &on(&CABIN, CABIN_FRONT[1]), f);
        self.load.connect(&on(&CHASSIS, LOAD[0]), &on(&LOADING_AREA, LOAD[1]), f);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        let rest = [S::from(0.0); 9];
        let (chassis, load) = (CHASSIS.point(at.p, &rest, JOINT[0]), LOADING_AREA.point(at.p, &rest, JOINT[1]));
        g[0] = load.at[0] - chassis.at[0];
        g[1] = load.at[1] - chassis.at[1];
    }
}

const NAMES: [&str; 20] = [
    "z1",
    "z2",
    "phi2",
    "z3",
    "z4",
    "phi4",
    "x5",
    "z5",
    "phi5",
    "vz1",
    "vz2",
    "vphi2",
    "vz3",
    "vz4",
    "vphi4",
    "vx5",
    "vz5",
    "vphi5",
    "lambda.joint_x",
    "lambda.joint_z",
];

pub(crate) const PROBLEM: ReferenceProblem = ReferenceProblem {
    name: "truck",
    description: "truck of five bodies running over a hump",
    source: "Eich-Soellner and Führer (1998), Numerical methods in multibody dynamics",
    parameters: &[("speed", 15.0), ("hump", 0.001)],
    build: |x| {
        let source = "integrated in minimal coordinates";
        Case {
            mechanism: Box::new(Truck { speed: x[0], hump: x[1], ..Truck::default() }),
            initial: Initial::motion(0.0, &P0, &[0.0; 9]).multipliers(&LAMBDA0, &[]),
            tend: 20.0,
            h0: None,
            references: vec![
                ReferenceValues::new(20.0, &NAMES[..18], &END, 1e-12, source),
                // the digits of p, times stiffness
                ReferenceValues::new(20.0, &NAMES[18..], &LAMBDA_END, 5e-8, source),
            ],
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, close};

    #[test]
    fn truck_starts_in_equilibrium() {
        let truck = Truck::default();
        let mut bench = Bench::new(&truck);
        let at = bench.point(&[("p", &P0), ("lambda", &LAMBDA0)]);
        let rows = bench.rows(0.0, &at);
        // the nominal forces are given to 1e-5 N
        close(&rows[bench.layout.row_dynamics()], &[0.0; 9], 2.5e-5);
    }

    #[test]
    fn hump_is_eleven_centimetres_high() {
        // u = η s⁶ e^(−s) is largest at s = 6
        let truck = Truck::default();
        let top = truck.road(6.0 + 2.0 / 15.0, FRONT, 2.0);
        close(&top.at, &[FRONT, 0.11565], 1e-5);
        close(&top.velocity, &[0.0, 0.0], 1e-15);
        close(&truck.road(0.4, REAR, 6.5).at, &[REAR, 0.0], 0.0);
    }
}
