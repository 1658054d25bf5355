//! Skateboard: nonholonomic constraints, with steering by leaning.
//!
//! ```text
//! p = (x₁, y₁, x₂, y₂, φ, x₃, y₃, z₃, θ)      front axle, rear axle, heading, skater, bank angle;  ψ = φ − π/2
//! M = diag(m₁, m₁, m₂, m₂, J₁, m₃, m₃, m₃, J₂),   f = −d v − m₃g e₈ − cθ e₉
//! 0 = x₂ + L₁cos φ − x₁,                       0 = y₂ + L₁sin φ − y₁
//! 0 = ½(x₁+x₂) + L₃cos ψ sin θ − x₃,           0 = ½(y₁+y₂) + L₃sin ψ sin θ − y₃,      0 = L₃cos θ − z₃
//! 0 = Aᵢxᵢ' + Bᵢyᵢ'                            Aᵢ = Δx cos γᵢ − Δy sin γᵢ,  Bᵢ = Δx sin γᵢ + Δy cos γᵢ,  γ = π/2 ∓ aθ
//! ```
//! A bank angle θ turns both axles by aθ; they roll without slipping sideways. Five holonomic and two nonholonomic constraints
//! leave four degrees of freedom in position and two in velocity. Steinbrecher (2006), examples 4.1.17 and 5.3.5.
//!
//! Erratum: for set 1 the printed multipliers λ₃ and λ₄ belong to the damping 0.001, the printed damping is 0.01.

use crate::{Case, ReferenceProblem, ReferenceValues};
use daedal::Initial;
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Names, Position, Sizes, Velocity};
use daedal::scalar::Scalar;
use std::f64::consts::FRAC_PI_2;

/// The skateboard with its skater.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skateboard {
    /// Mass of the front axle.
    pub m1: f64,
    /// Mass of the rear axle.
    pub m2: f64,
    /// Mass of the skater.
    pub m3: f64,
    /// Moment of inertia of the heading.
    pub j1: f64,
    /// Moment of inertia of the bank angle.
    pub j2: f64,
    /// Distance of the axles.
    pub l1: f64,
    /// Height of the skater.
    pub l3: f64,
    /// Acceleration of gravity, along −z.
    pub g: f64,
    /// Steering angle per bank angle.
    pub a: f64,
    /// Stiffness against banking.
    pub c: f64,
    /// Damping of all velocities.
    pub d: f64,
}

impl Skateboard {
    /// The skateboard with stiffness c and damping d, and the data that both published sets share.
    pub fn new(c: f64, d: f64) -> Self {
        Skateboard { m1: 1.0, m2: 1.0, m3: 80.0, j1: 0.001, j2: 0.001, l1: 0.5, l3: 1.5, g: 9.81, a: 11.0, c, d }
    }
}

/// Initial positions of both sets.
pub const P0: [f64; 9] = [0.25, 0.0, -0.25, 0.0, 0.0, 0.0, 0.0, 1.5, 0.0];
/// Initial velocities of set 1: c = 0.
pub const V0_SET_1: [f64; 9] = [0.5, 0.0, 0.5, 0.0, 0.0, 0.5, -0.0015, 0.0, 0.001];
/// Initial velocities of set 2: c = 1.
pub const V0_SET_2: [f64; 9] = [5.0, 0.0, 5.0, 0.0, 0.0, 5.0, -0.15, 0.0, 0.1];

/// p, v, λ and μ at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkateboardState {
    /// Positions.
    pub p: [f64; 9],
    /// Velocities.
    pub v: [f64; 9],
    /// Multipliers of the holonomic constraints.
    pub lambda: [f64; 5],
    /// Multipliers of the nonholonomic constraints.
    pub mu: [f64; 2],
}

/// Set 1 with d = 0.01 at t = 100: integrated in minimal coordinates to about 12 digits.
pub const END_SET_1: SkateboardState = SkateboardState {
    p: [
        49.31072675107202,
        -1.3833402347996444,
        48.81256838257706,
        -1.3404655348188508,
        -0.0858548345128953,
        49.061644352438535,
        -1.361940232552535,
        1.4999999995316047,
        2.4990542267432065e-5,
    ],
    v: [
        0.48023992487320105,
        -0.041465521018474824,
        0.48026264969953764,
        -0.04120148272975768,
        -0.0005300288129553205,
        0.4803491586689391,
        -0.04019610889957123,
        2.85291048306819e-8,
        -0.0007610640465061285,
    ],
    lambda: [
        8.868524153130238e-7,
        -2.114091924685134e-5,
        -0.010930128473147603,
        -0.018749461338562624,
        784.7999305143092,
    ],
    mu: [0.01201843775447549, 0.028238824162672326],
};
/// Set 2 with d = 0.005 at t = 10: integrated in minimal coordinates to about 12 digits.
pub const END_SET_2: SkateboardState = SkateboardState {
    p: [
        50.2023801521657,
        -1.516634200713373,
        49.70238734339631,
        -1.5139525633612088,
        -0.005363300416839727,
        49.95240072957384,
        -1.512127117109221,
        1.4999966581556186,
        -0.0021108752125421825,
    ],
    v: [
        4.993477042271992,
        0.08917463647179105,
        4.992233247991727,
        -0.14273151415602925,
        0.463818972114013,
        4.990725873122846,
        -0.14995812939967987,
        0.0002600377079497457,
        0.08212640883654841,
    ],
    lambda: [0.01941019588061079, 0.034513139181724516, 0.5015905632320379, 1.6529465778437114, 784.3780909001421],
    mu: [2.8152757454912294, -15.39314921879105],
};

const POSITIONS: [&str; 9] = ["x1", "y1", "x2", "y2", "phi", "x3", "y3", "z3", "theta"];
const VELOCITIES: [&str; 9] = ["vx1", "vy1", "vx2", "vy2", "vphi", "vx3", "vy3", "vz3", "vtheta"];
const HOLONOMIC: [&str; 5] = ["board_x", "board_y", "skater_x", "skater_y", "skater_z"];
const NONHOLONOMIC: [&str; 2] = ["front", "rear"];

impl EquationsOfMotion for Skateboard {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 9, velocities: 9, holonomic: 5, nonholonomic: 2, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes()).motion(&POSITIONS, &VELOCITIES).constraints(&HOLONOMIC, &NONHOLONOMIC)
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        let Skateboard { m1, m2, m3, j1, j2, .. } = *self;
        for (i, m) in [m1, m1, m2, m2, j1, m3, m3, m3, j2].into_iter().enumerate() {
            M[(i, i)] = S::from(m);
        }
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        for (f, &v) in f.iter_mut().zip(at.v) {
            *f = v * -self.d;
        }
        f[7] = f[7] - self.m3 * self.g;
        f[8] -= at.p[8] * self.c;
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        let [x1, y1, x2, y2, phi, x3, y3, z3, theta] = std::array::from_fn(|i| at.p[i]);
        let ((sin, cos), (sin_psi, cos_psi)) = (phi.sin_cos(), (phi - FRAC_PI_2).sin_cos());
        let (sin_theta, cos_theta) = theta.sin_cos();
        g[0] = x2 + cos * self.l1 - x1;
        g[1] = y2 + sin * self.l1 - y1;
        g[2] = (x1 + x2) * 0.5 + cos_psi * sin_theta * self.l3 - x3;
        g[3] = (y1 + y2) * 0.5 + sin_psi * sin_theta * self.l3 - y3;
        g[4] = cos_theta * self.l3 - z3;
    }
    fn nonholonomic<S: Scalar>(&self, at: &Velocity<S>, h: &mut [S]) {
        let (p, v) = (at.p, at.v);
        let (dx, dy) = (p[0] - p[2], p[1] - p[3]);
        let steering = p[8] * self.a;
        for (i, gamma) in [-steering + FRAC_PI_2, steering + FRAC_PI_2].into_iter().enumerate() {
            let (sin, cos) = gamma.sin_cos();
            h[i] = (dx * cos - dy * sin) * v[2 * i] + (dx * sin + dy * cos) * v[2 * i + 1];
        }
    }
}

/// Without stiffness, 0.5 m/s.
pub(crate) const SET_1: ReferenceProblem = ReferenceProblem {
    name: "skateboard-1",
    description: "slow skateboard without stiffness, nonholonomic",
    source: "Steinbrecher (2006), example 5.3.5, set 1",
    parameters: &[("c", 0.0), ("d", 0.01)],
    build: |x| case(x, &V0_SET_1, 100.0, &END_SET_1),
};

/// With stiffness, 5 m/s.
pub(crate) const SET_2: ReferenceProblem = ReferenceProblem {
    name: "skateboard-2",
    description: "fast skateboard with stiffness, nonholonomic",
    source: "Steinbrecher (2006), example 5.3.5, set 2",
    parameters: &[("c", 1.0), ("d", 0.005)],
    build: |x| case(x, &V0_SET_2, 10.0, &END_SET_2),
};

fn case(x: &[f64], v0: &[f64; 9], tend: f64, end: &SkateboardState) -> Case {
    let multipliers = HOLONOMIC.iter().map(|c| format!("lambda.{c}"));
    let multipliers: Vec<String> = multipliers.chain(NONHOLONOMIC.iter().map(|c| format!("mu.{c}"))).collect();
    let names: Vec<&str> =
        POSITIONS.into_iter().chain(VELOCITIES).chain(multipliers.iter().map(String::as_str)).collect();
    let values: Vec<f64> = end.p.into_iter().chain(end.v).chain(end.lambda).chain(end.mu).collect();
    Case {
        mechanism: Box::new(Skateboard::new(x[0], x[1])),
        initial: Initial::motion(0.0, &P0, v0),
        tend,
        h0: None,
        references: vec![ReferenceValues::new(tend, &names, &values, 1e-10, "integrated in minimal coordinates")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, RandomNumbers, close};

    #[test]
    fn hidden_constraints_are_those_of_the_book() {
        let model = Skateboard::new(1.0, 0.01);
        let Skateboard { l1, l3, a: steering, .. } = model;
        let (mut bench, mut random) = (Bench::new(&model), RandomNumbers::new(6));
        for _ in 0..20 {
            let mut x = random.vector(bench.layout.dim());
            x[bench.layout.p()].iter_mut().for_each(|p| *p *= 0.3);
            bench.accelerate(0.0, &mut x);
            let (p, v, a) = (&x[bench.layout.p()], &x[bench.layout.v()], &x[bench.layout.a()]);
            let (phi, psi, theta) = (p[4], p[4] - FRAC_PI_2, p[8]);
            let G = |w: &[f64]| {
                [
                    w[2] - l1 * phi.sin() * w[4] - w[0],
                    w[3] + l1 * phi.cos() * w[4] - w[1],
                    0.5 * (w[0] + w[2]) + l3 * (psi.cos() * theta.cos() * w[8] - psi.sin() * theta.sin() * w[4]) - w[5],
                    0.5 * (w[1] + w[3]) + l3 * (psi.sin() * theta.cos() * w[8] + psi.cos() * theta.sin() * w[4]) - w[6],
                    -l3 * theta.sin() * w[8] - w[7],
                ]
            };
            let (w, u) = (v[4], v[8]);
            let curvature = [
                -l1 * phi.cos() * w * w,
                -l1 * phi.sin() * w * w,
                l3 * (-psi.cos() * theta.sin() * (w * w + u * u) - 2.0 * psi.sin() * theta.cos() * w * u),
                l3 * (-psi.sin() * theta.sin() * (w * w + u * u) + 2.0 * psi.cos() * theta.cos() * w * u),
                -l3 * theta.cos() * u * u,
            ];
            let g2: Vec<f64> = G(a).iter().zip(curvature).map(|(g, c)| g + c).collect();
            // hI
            let (dx, dy, vdx, vdy) = (p[0] - p[2], p[1] - p[3], v[0] - v[2], v[1] - v[3]);
            let h1 = [(0, -steering), (1, steering)].map(|(i, rate)| {
                let (sin, cos) = (FRAC_PI_2 + rate * theta).sin_cos();
                let (A, B) = (dx * cos - dy * sin, dx * sin + dy * cos);
                A * a[2 * i]
                    + B * a[2 * i + 1]
                    + (vdx * cos - vdy * sin - rate * u * B) * v[2 * i]
                    + (vdx * sin + vdy * cos + rate * u * A) * v[2 * i + 1]
            });
            let g1 = G(v);
            let rows = bench.rows(0.0, &x);
            close(&rows[bench.layout.row_g1()], &g1, 1e-14);
            close(&rows[bench.layout.row_g2()], &g2, 1e-12);
            close(&rows[bench.layout.row_h1()], &h1, 1e-12);
        }
    }

    #[test]
    fn initial_multipliers_are_the_printed_ones_up_to_the_erratum() {
        let cases = [
            (0.0, 0.001, V0_SET_1, [0.0, 4.4e-5, -0.0009634, 6.667e-7, 784.8], [0.01109, -0.01109]),
            (1.0, 0.005, V0_SET_2, [0.0, 0.044, -0.04817, 0.0003333, 783.6], [11.09, -11.09]),
        ];
        for (c, d, v0, lambda, mu) in cases {
            let model = Skateboard::new(c, d);
            let mut bench = Bench::new(&model);
            let mut x = bench.point(&[("p", &P0), ("v", &v0)]);
            bench.complete(0.0, &mut x);
            // four digits are printed
            for (computed, printed) in x[bench.layout.lambda()].iter().zip(lambda) {
                close(&[*computed], &[printed], 5.1e-4 * f64::abs(printed) + 1e-12);
            }
            close(&x[bench.layout.mu()], &mu, 5.1e-4 * f64::abs(mu[0]));
        }
    }
}
