//! Wheelset on rails: contact variables, friction that depends on the multipliers, a velocity without a position.
//!
//! ```text
//! p = (x, y, z, θ, φ),   v = (p', β),   s = (ψ_R, ξ_R, ψ_L, ξ_L),   M = M(φ), not symmetric
//! 0 = g₂(p, s)                                  wheel and rail have a common tangent plane, per side
//! 0 = g₁(p, s)                                  wheel and rail touch, per side
//! ```
//! A wheelset runs along a straight track at speed v₀; β is the deviation of its spin from v₀/ρ₀, (ψ, ξ) is where a wheel touches.
//! Creep forces in the contacts are saturated by Coulomb friction and depend on the normal forces, hence on λ. Simeon, Führer, Rentrop
//! (1991); Mazzia and Magherini (2008), Test set for initial value problem solvers, release 2.4.
//!
//! The source has the constraint forces +10⁴(∂g₁/∂p)ᵀλ. Here the constraints are −10⁴g₁, so that λ has its values. They are
//! given at position level; the source uses (∂g₁/∂p)v = 0, which is their derivative because ∂g₁/∂s = 0 where g₂ = 0.
//!
//! Errata, decided by the software behind the reference values: two initial values, ψ_R and ξ_R, are printed without their
//! minus sign; the contact variables of the right side come first; the yaw moment of the suspension is −2x_l²c_zθ; creepages use
//! θ/cos δ; π = 3.1415926 in the contact ellipse.

use crate::{Case, ReferenceProblem, ReferenceValues};
use daedal::Initial;
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Names, Position, Sizes, Velocity};
use daedal::scalar::Scalar;

/// The wheelset and its parameters, in SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wheelset {
    /// Mass.
    pub m: f64,
    /// Acceleration of gravity, along −y.
    pub g: f64,
    /// Speed along the track.
    pub v0: f64,
    /// Moment of inertia about the axle.
    pub i1: f64,
    /// Moment of inertia across the axle.
    pub i2: f64,
    /// Lateral stiffness of the suspension.
    pub cx: f64,
    /// Longitudinal stiffness of the suspension.
    pub cz: f64,
    /// Lateral distance of the suspension.
    pub xl: f64,
    /// Cone angle of the wheels.
    pub delta0: f64,
    /// Nominal radius of the wheels.
    pub rho0: f64,
    /// Half the gauge.
    pub a0: f64,
    /// Radius of the rail heads.
    pub rho1: f64,
    /// Coefficient of friction.
    pub mu: f64,
    /// Shear modulus.
    pub shear: f64,
    /// Poisson's ratio.
    pub sigma: f64,
    /// Kalker's coefficients C₁₁, C₂₂ and C₂₃.
    pub kalker: [f64; 3],
    /// Constants ε and ĝ of the contact ellipse.
    pub ellipse: [f64; 2],
}

impl Default for Wheelset {
    fn default() -> Self {
        Wheelset {
            m: 16.08,
            g: 9.81,
            v0: 30.0,
            i1: 0.0605,
            i2: 0.366,
            cx: 6400.0,
            cz: 6400.0,
            xl: 0.19,
            delta0: 0.0262,
            rho0: 0.1,
            a0: 0.1506,
            rho1: 0.06,
            mu: 0.12,
            shear: 79200000000.0,
            sigma: 0.28,
            kalker: [4.72772197, 4.27526987, 1.97203505],
            ellipse: [1.3537956, 0.7115218],
        }
    }
}

/// The constraints are scaled by this number, with opposite sign.
pub const SCALE: f64 = 10000.0;
/// π as the software behind the reference values has it.
#[allow(clippy::approx_constant)]
pub const PI: f64 = 3.1415926;
/// Initial positions; velocities and β are zero.
pub const P0: [f64; 5] = [0.0014941, 4.0089e-7, 1.1241e-6, -0.00028573, 0.00026459];
/// Initial contact variables ψ_R, ξ_R, ψ_L, ξ_L.
pub const S0: [f64; 4] = [-7.412238035766714e-6, -0.1521364296121248, 7.563440639517294e-6, 0.1490635714733819];
/// Initial multipliers of the left and right contact, to five digits.
pub const LAMBDA0: [f64; 2] = [-0.0083593, -0.0074144];
/// Initial accelerations that belong to those multipliers.
pub const A0: [f64; 6] = [
    -1.975258894011285,
    -0.0010898297102811276,
    0.07885508362614259,
    -5.533362821731549,
    -0.3487021489546511,
    -2.132968724380927,
];
/// (p, v, β, ψ_R, ξ_R, ψ_L, ξ_L, λ_L, λ_R) at t = 10: DASSL with tolerance 1e-9.
pub const END: [f64; 17] = [
    0.0086355386965811,
    1.3038281022727e-5,
    -9.3635784016818e-5,
    -0.013642299804033,
    0.0015292895005422,
    -0.076985374142666,
    -0.00025151106429207,
    0.0020541188079539,
    -0.23904837703692,
    -0.013633468454173,
    -0.24421377661131,
    -0.00033666751972196,
    -0.15949425684022,
    0.00037839614386969,
    0.14173214964613,
    -0.010124044903201,
    -0.0056285630573753,
];

const NAMES: [&str; 17] = [
    "x",
    "y",
    "z",
    "theta",
    "phi",
    "vx",
    "vy",
    "vz",
    "vtheta",
    "vphi",
    "beta",
    "psi_R",
    "xi_R",
    "psi_L",
    "xi_L",
    "lambda.left",
    "lambda.right",
];

/// Wheel and rail of one side.
struct WheelSide<S> {
    /// +1 on the left, where ξ > 0, −1 on the right
    sign: f64,
    /// sin and cos of ψ
    psi: (S, S),
    xi: S,
    /// radius R of the wheel and its slope R'
    radius: S,
    slope: f64,
    /// height Γ of the rail and its slope Γ'
    rail: S,
    rail_slope: S,
}

/// Sines and cosines of θ and φ.
#[derive(Clone, Copy)]
struct Turn<S> {
    theta: (S, S),
    phi: (S, S),
}

impl<S: Scalar> Turn<S> {
    fn of(p: &[S]) -> Self {
        Turn { theta: p[3].sin_cos(), phi: p[4].sin_cos() }
    }
}

impl Wheelset {
    /// Left and right.
    fn sides<S: Scalar>(&self, p: &[S], s: &[S]) -> [WheelSide<S>; 2] {
        [self.side(1.0, p, s[2], s[3]), self.side(-1.0, p, s[0], s[1])]
    }

    fn side<S: Scalar>(&self, sign: f64, p: &[S], psi: S, xi: S) -> WheelSide<S> {
        let Turn { theta: (st, ct), phi: (sp, cp) } = Turn::of(p);
        let psi = psi.sin_cos();
        let slope = -sign * self.delta0.tan();
        let radius = xi * slope + (self.rho0 + self.delta0.tan() * self.a0);
        // the rail head is a circle
        let zeta = p[0] + xi * ct * cp + radius * (ct * sp * psi.1 - st * psi.0);
        let offset = zeta * sign - (self.a0 + self.rho1 * self.delta0.sin());
        let root = (-offset.square() + self.rho1 * self.rho1).sqrt();
        let rail = root - (self.rho0 + self.rho1 * self.delta0.cos());
        WheelSide { sign, psi, xi, radius, slope, rail, rail_slope: offset * -sign / root }
    }

    /// Creep force of one side in the directions x, y, z.
    fn creep<S: Scalar>(&self, at: &Motion<S>, side: &WheelSide<S>, delta: S, normal: S) -> [S; 3] {
        let WheelSide { sign, psi: (s_psi, c_psi), xi, radius, slope, .. } = *side;
        let (sp, cp) = Turn::of(at.p).phi;
        let (sd, cd) = delta.sin_cos();
        let (st, ct) = (at.p[3] / cd).sin_cos();
        let [vx, vy, vz, vt, vp, beta] = std::array::from_fn(|i| at.v[i]);
        let omega = beta + self.v0 / self.rho0;
        // sliding velocity
        let (rolling, lift) = (omega * radius, xi * sp - radius * cp * c_psi);
        let r = [
            -(rolling * (st * c_psi + ct * sp * s_psi)) + vx
                - vt * (radius * (st * sp * c_psi + ct * s_psi) + xi * st * cp)
                - vp * ct * lift,
            rolling * cp * s_psi + vy + vp * (xi * cp + radius * sp * c_psi),
            -(rolling * (ct * c_psi - st * sp * s_psi)) + self.v0 + vz
                - vt * (xi * ct * cp + radius * (ct * sp * c_psi - st * s_psi))
                + vp * st * lift,
        ];
        let (a, b, c) = (r[0] - vx * 2.0, r[1] - vy * 2.0, r[2] - vz * 2.0 - 2.0 * self.v0);
        let rolling_speed = (a.square() + b.square() + c.square()).sqrt() * 0.5;
        let along = (st * r[0] + ct * r[2]) / rolling_speed;
        let across = (ct * cd * r[0] + sd * r[1] * sign - st * cd * r[2]) / rolling_speed;
        let spin = (cd * vt - sd * omega * sign) / rolling_speed;
        // half the curvatures of wheel and rail, size of the contact ellipse
        let curvature = radius.recip() * (0.5 / (1.0 + slope * slope).sqrt()) + 0.5 / self.rho1;
        let [eps, g_hat] = self.ellipse;
        let hertz = 3.0 * (1.0 - self.sigma) * eps / (2.0 * PI * self.shear * g_hat.sqrt());
        let size = (normal.abs() * hertz / curvature).powf(1.0 / 3.0);
        // Kalker's creep forces, saturated by friction
        let [c11, c22, c23] = self.kalker.map(|c| c * self.shear);
        let friction = normal * self.mu;
        let saturated = |force: S| -(friction * (force / friction).tanh());
        let t1 = saturated(size.square() * along * c11);
        let t2 = saturated(size.square() * across * c22 + size.powi(3) * spin * c23);
        let square = t1.square() + t2.square();
        let limit = (square - friction.square()).select(friction.abs() / square.sqrt(), S::from(1.0));
        let (t1, t2) = (t1 * limit, t2 * limit);
        [st * t1 + ct * cd * t2, sd * t2 * sign, ct * t1 - st * cd * t2]
    }
}

impl<S: Scalar> WheelSide<S> {
    /// ∂g₁/∂p.
    fn gradient(&self, turn: &Turn<S>) -> [S; 5] {
        let WheelSide { psi: (s_psi, c_psi), xi, radius, rail_slope, .. } = *self;
        let Turn { theta: (st, ct), phi: (sp, cp) } = *turn;
        [
            rail_slope,
            S::from(-1.0),
            S::from(0.0),
            -(rail_slope * (radius * (ct * s_psi + st * sp * c_psi) + xi * st * cp)),
            -(radius * sp * c_psi) - xi * cp + rail_slope * (radius * ct * cp * c_psi - xi * ct * sp),
        ]
    }

    /// Angle of the contact plane.
    fn angle(&self, turn: &Turn<S>) -> S {
        let Turn { theta: (st, ct), phi: (sp, cp) } = *turn;
        let (s_psi, c_psi) = self.psi;
        let n = (cp * self.slope - sp * c_psi) * ct + s_psi * st;
        let d = sp * self.slope + c_psi * cp;
        (n / d * -self.sign).atan()
    }

    /// Moments of a contact force about the axes of θ, φ and the axle.
    fn moments(&self, turn: &Turn<S>, force: &[S; 3]) -> [S; 3] {
        let WheelSide { psi: (s_psi, c_psi), xi, radius, .. } = *self;
        let Turn { theta: (st, ct), phi: (sp, cp) } = *turn;
        let [fx, fy, fz] = *force;
        [
            -(xi * st + radius * s_psi * ct * cp) * fx - radius * s_psi * sp * fy
                + (radius * s_psi * st * cp - xi * ct) * fz,
            -(xi * ct * sp - radius * c_psi * ct * cp) * fx
                + (xi * cp + radius * c_psi * sp) * fy
                + (xi * st * sp - radius * c_psi * st * cp) * fz,
            -(radius * (c_psi * st + s_psi * ct * sp) * fx) + radius * s_psi * cp * fy
                - radius * (c_psi * ct - s_psi * st * sp) * fz,
        ]
    }
}

impl EquationsOfMotion for Wheelset {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 5, velocities: 6, contact: 4, holonomic: 2, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        let mut names =
            Names::numbered(&self.sizes()).motion(&NAMES[..5], &NAMES[5..11]).constraints(&["left", "right"], &[]);
        names.contact = NAMES[11..15].iter().map(ToString::to_string).collect();
        names
    }
    fn kinematics<S: Scalar>(&self, at: &Velocity<S>, pdot: &mut [S]) {
        pdot.copy_from_slice(&at.v[..5]);
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        let (sp, cp) = at.p[4].sin_cos();
        for i in 0..3 {
            M[(i, i)] = S::from(self.m);
        }
        M[(3, 3)] = cp * self.i2;
        M[(4, 4)] = S::from(self.i2);
        M[(5, 3)] = sp * self.i1;
        M[(5, 5)] = S::from(self.i1);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        let turn = Turn::of(at.p);
        let (sp, cp) = turn.phi;
        let [left, right] = self.sides(at.p, at.s);
        // normal forces from the constraint forces along x and y
        let (b_left, b_right) = (left.gradient(&turn), right.gradient(&turn));
        let [wx, wy] = [0, 1].map(|i| (b_left[i] * at.lambda[0] + b_right[i] * at.lambda[1]) * SCALE);
        let (delta_left, delta_right) = (left.angle(&turn), right.angle(&turn));
        let ((sl, cl), (sr, cr)) = (delta_left.sin_cos(), delta_right.sin_cos());
        let determinant = -(delta_left + delta_right).sin();
        let normal_left = (cr * wx - sr * wy) / determinant;
        let normal_right = -(cl * wx + sl * wy) / determinant;
        // creep forces
        let force_left = self.creep(at, &left, delta_left, normal_left);
        let force_right = self.creep(at, &right, delta_right, normal_right);
        let (moments_left, moments_right) = (left.moments(&turn, &force_left), right.moments(&turn, &force_right));
        let creep: [S; 3] = std::array::from_fn(|i| force_left[i] + force_right[i]);
        let moments: [S; 3] = std::array::from_fn(|i| moments_left[i] + moments_right[i]);
        // suspension and inertia
        let (vt, vp, omega) = (at.v[3], at.v[4], at.v[5] + self.v0 / self.rho0);
        let (i1, i2) = (self.i1, self.i2);
        let yaw = at.p[3] * (2.0 * self.xl * self.xl * self.cz);
        f[0] = creep[0] - at.p[0] * (2.0 * self.cx);
        f[1] = creep[1] - self.m * self.g;
        f[2] = creep[2] - at.p[2] * (2.0 * self.cz);
        f[3] = vt * vp * sp * (2.0 * i2 - i1) - omega * vp * i1 + moments[0] - yaw * cp;
        f[4] = omega * vt * cp * i1 + vt.square() * sp * cp * (i1 - i2) + moments[1];
        f[5] = -(vt * vp * cp * i1) + moments[2] - yaw * sp;
    }
    fn contact<S: Scalar>(&self, at: &Position<S>, c: &mut [S]) {
        let Turn { theta: (st, ct), phi: (sp, cp) } = Turn::of(at.p);
        let [left, right] = self.sides(at.p, at.s);
        for (side, c) in [right, left].into_iter().zip(c.chunks_exact_mut(2)) {
            let (s_psi, c_psi) = side.psi;
            let slope = side.slope;
            c[0] = side.rail_slope * (sp * slope + cp * c_psi) + ct * cp * slope - ct * sp * c_psi + st * s_psi;
            c[1] = st * cp * slope - st * sp * c_psi - ct * s_psi;
        }
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        let (sp, cp) = at.p[4].sin_cos();
        for (side, g) in self.sides(at.p, at.s).into_iter().zip(g) {
            let touch = side.rail - at.p[1] - side.xi * sp + side.radius * cp * side.psi.1;
            *g = touch * -SCALE;
        }
    }
}

pub(crate) const PROBLEM: ReferenceProblem = ReferenceProblem {
    name: "wheelset",
    description: "wheelset on a straight track with creep forces",
    source: "Mazzia and Magherini (2008), Test set for initial value problem solvers",
    parameters: &[("v0", 30.0), ("friction", 0.12), ("cx", 6400.0), ("cz", 6400.0)],
    build: |x| Case {
        mechanism: Box::new(Wheelset { v0: x[0], mu: x[1], cx: x[2], cz: x[3], ..Wheelset::default() }),
        initial: Initial::motion(0.0, &P0, &[0.0; 6]).contact(&S0).multipliers(&LAMBDA0, &[]),
        tend: 10.0,
        h0: None,
        references: vec![ReferenceValues::new(10.0, &NAMES, &END, 1e-6, "DASSL with tolerance 1e-9")],
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, close};

    #[test]
    fn published_initial_values_satisfy_the_equations_they_were_made_for() {
        let model = Wheelset::default();
        let mut bench = Bench::new(&model);
        let at = bench.point(&[("p", &P0), ("s", &S0), ("lambda", &LAMBDA0), ("a", &A0)]);
        let rows = bench.rows(0.0, &at);
        // forces of some 100 N, contact to rounding, positions of some 1e-3 m to five digits
        close(&rows[bench.layout.row_dynamics()], &[0.0; 6], 1e-12);
        close(&rows[bench.layout.row_contact()], &[0.0; 4], 1e-15);
        close(&rows[bench.layout.row_g1()], &[0.0; 2], 1e-15);
        close(&rows[bench.layout.row_g()], &[0.0; 2], 6e-10 * SCALE);
    }

    #[test]
    fn touching_is_stationary_in_the_contact_variables() {
        // GZ by the library, which moves s along c = 0, is −10⁴ ∂g₁/∂p
        let model = Wheelset::default();
        let mut bench = Bench::new(&model);
        let mut x = bench.point(&[("p", &[2e-3, 1e-4, 0.0, 3e-3, -2e-3]), ("s", &S0), ("lambda", &LAMBDA0)]);
        bench.contact(0.0, &mut x);
        let (p, s) = (&x[bench.layout.p()], &x[bench.layout.s()]);
        let expected: Vec<Vec<f64>> = model
            .sides(p, s)
            .iter()
            .map(|side| side.gradient(&Turn::of(p)).iter().map(|b| -SCALE * b).chain([0.0]).collect())
            .collect();
        let GZ = bench.constraint_matrix(0.0, &x);
        for (row, expected) in GZ.iter().zip(&expected) {
            close(row, expected, 1e-10);
        }
    }
}
