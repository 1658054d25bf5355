//! Mathematical pendulum.
//!
//! ```text
//! p' = v,   m v' = (0, −m g) − 2pλ,   0 = p₁² + p₂² − L²
//! ```
//! A point mass on a massless rod, in Cartesian coordinates. Its energy is an invariant. Steinbrecher (2006), examples 4.1.12
//! and 5.3.1; Steinbrecher (2007), example 4.1; IFToMM library of computational benchmark problems, A01.
//!
//! Erratum: for the period 2 of the long run g is printed as 13.75, rounded from [`G_PERIOD_TWO`].

use crate::{Case, ReferenceProblem, ReferenceValues};
use daedal::Initial;
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Names, Position, Sizes, Velocity};
use daedal::scalar::{Scalar, dot};

/// The pendulum and its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pendulum {
    /// Mass.
    pub m: f64,
    /// Length of the rod.
    pub l: f64,
    /// Acceleration of gravity, along −y.
    pub g: f64,
}

/// Released at the height of the joint, a rod of length 1 has the period 2 with g = (2K(k² = ½))².
pub const G_PERIOD_TWO: f64 = 13.75037163604074565498019;

/// (p, v, λ) at t = 5 from p = (0, −1), v = (2.8, 0) with g = 13.75: elliptic functions in 30 digits.
pub const END_2_8: [f64; 5] =
    [-0.608937263148838, -0.7932183870465956, 1.1640343059827252, -0.8936049341161321, 6.530129232836035];
/// (p, v, λ) at t = 5 from p = (0, −1), v = (2.9, 0) with g = 13.75: elliptic functions in 30 digits.
pub const END_2_9: [f64; 5] =
    [-0.6451917594117689, -0.7640206761515989, 1.0588148486838005, -0.8941362929529634, 6.212926445626725];

/// t and (p, v, λ) of the long run from p = (1, 0), v = 0: elliptic functions in 30 digits. It has the period 2.
pub const LONG: [(f64, [f64; 5]); 7] = [
    (0.1, [0.9976382657414282, -0.06868690361659602, -0.09440241930445684, -1.3711415265185714, 1.4167056768856594]),
    (0.25, [0.9101797211244547, -0.41421356237309503, -1.3980048816155906, -3.0719315079629914, 8.543385628977601]),
    (0.5, [0.0, -1.0, -5.244115108584239, 0.0, 20.62555745406112]),
    (0.75, [-0.9101797211244547, -0.41421356237309503, -1.3980048816155906, 3.0719315079629914, 8.543385628977601]),
    (1.0, [-1.0, 0.0, 0.0, 0.0, 0.0]),
    (1.5, [0.0, -1.0, 5.244115108584239, 0.0, 20.62555745406112]),
    (1000.0, [1.0, 0.0, 0.0, 0.0, 0.0]),
];

/// t and (p, v) of the IFToMM benchmark from p = (−1, 0), v = 0: elliptic functions.
pub const IFTOMM_A01: [(f64, [f64; 4]); 10] = [
    (1.0, [0.9862917511318753, -0.16501085312554117, 0.2969055159163158, 1.7746436411126556]),
    (2.0, [-0.7935661953433217, -0.6084839304437916, -2.102437874436126, 2.7419353930105093]),
    (3.0, [0.1766517899228382, -0.9842734097378926, 4.325368674538742, 0.7762925533433997]),
    (4.0, [0.5775636282486314, -0.8163456714678389, -3.2670865745707705, -2.311460012299246]),
    (5.0, [-0.9423054350437573, -0.3347543384140006, 0.8579042568859491, -2.4149286543704886]),
    (6.0, [0.9994975399393528, -0.03169649278992706, -0.02499575832338751, -0.7882007362367837]),
    (7.0, [-0.9986187791754798, -0.052540782998298716, -0.0533450728427387, 1.0139055506456327]),
    (8.0, [0.9198579831077385, -0.39225156585151255, 1.0881694534505062, 2.551835214621803]),
    (9.0, [-0.49837370905755896, -0.8669623095153627, -3.5756074003064944, 2.0554396686755]),
    (10.0, [-0.2750874625761169, -0.961419205099125, 4.175598100951729, -1.1947490545604753]),
];

const NAMES: [&str; 5] = ["x", "y", "vx", "vy", "lambda.rod"];

impl EquationsOfMotion for Pendulum {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, invariants: 1, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes())
            .motion(&["x", "y"], &["vx", "vy"])
            .constraints(&["rod"], &[])
            .invariants(&["energy"])
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(self.m);
        M[(1, 1)] = S::from(self.m);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[0] = S::from(0.0);
        f[1] = S::from(-self.m * self.g);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = dot(at.p, at.p) - self.l * self.l;
    }
    fn invariant<S: Scalar>(&self, at: &Velocity<S>, e: &mut [S]) {
        e[0] = dot(at.v, at.v) * (0.5 * self.m) + at.p[1] * (self.m * self.g);
    }
}

/// Through the lowest point with a speed that keeps |p₁| < |p₂|.
pub(crate) const BELOW_45_DEGREES: ReferenceProblem = ReferenceProblem {
    name: "pendulum",
    description: "pendulum that swings up to 44 degrees: selectors chosen once",
    source: "Steinbrecher (2006), example 5.3.1, table 5.8",
    parameters: &[("m", 1.0), ("L", 1.0), ("g", 13.75), ("v0", 2.8)],
    build: |x| from_lowest_point(x, &END_2_8),
};

/// The same with a speed that makes |p₁| > |p₂| in every swing.
pub(crate) const ABOVE_45_DEGREES: ReferenceProblem = ReferenceProblem {
    name: "pendulum-2.9",
    description: "pendulum that swings up to 46 degrees: selectors change twelve times",
    source: "Steinbrecher (2006), example 5.3.1, table 5.9",
    parameters: &[("m", 1.0), ("L", 1.0), ("g", 13.75), ("v0", 2.9)],
    build: |x| from_lowest_point(x, &END_2_9),
};

/// 500 periods.
pub(crate) const LONG_RUN: ReferenceProblem = ReferenceProblem {
    name: "pendulum-long",
    description: "pendulum released at the height of its joint, 500 periods",
    source: "Steinbrecher (2006), example 5.3.1; the initial state, which is not printed, follows from the period",
    parameters: &[("m", 1.0), ("L", 1.0), ("g", G_PERIOD_TWO)],
    build: |x| {
        let references = LONG.iter().map(|(t, end)| ReferenceValues::new(*t, &NAMES, end, 1e-12, "elliptic functions"));
        Case {
            mechanism: Box::new(Pendulum { m: x[0], l: x[1], g: x[2] }),
            initial: Initial::motion(0.0, &[x[1], 0.0], &[0.0, 0.0]).multipliers(&[0.0], &[]),
            tend: 1000.0,
            h0: None,
            references: references.collect(),
        }
    },
};

/// Released at the height of the joint, other side.
pub(crate) const IFTOMM: ReferenceProblem = ReferenceProblem {
    name: "iftomm-pendulum",
    description: "pendulum released at the height of its joint, ten seconds",
    source: "IFToMM library of computational benchmark problems, A01",
    parameters: &[("m", 1.0), ("L", 1.0), ("g", 9.81)],
    build: |x| {
        let references =
            IFTOMM_A01.iter().map(|(t, end)| ReferenceValues::new(*t, &NAMES[..4], end, 1e-14, "elliptic functions"));
        Case {
            mechanism: Box::new(Pendulum { m: x[0], l: x[1], g: x[2] }),
            initial: Initial::motion(0.0, &[-x[1], 0.0], &[0.0, 0.0]).multipliers(&[0.0], &[]),
            tend: 10.0,
            h0: None,
            references: references.collect(),
        }
    },
};

fn from_lowest_point(x: &[f64], end: &[f64; 5]) -> Case {
    let (m, l, g, v) = (x[0], x[1], x[2], x[3]);
    Case {
        mechanism: Box::new(Pendulum { m, l, g }),
        initial: Initial::motion(0.0, &[0.0, -l], &[v, 0.0]),
        tend: 5.0,
        h0: Some(0.01),
        references: vec![ReferenceValues::new(5.0, &NAMES, end, 1e-14, "elliptic functions")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, RandomNumbers, close, rank, singular_values};

    #[test]
    fn hidden_constraints_are_those_of_the_book() {
        let model = Pendulum { m: 1.3, l: 0.7, g: 9.0 };
        let (mut bench, mut random) = (Bench::new(&model), RandomNumbers::new(1));
        for _ in 0..20 {
            let mut x = random.vector(bench.layout.dim());
            bench.accelerate(0.0, &mut x);
            let (p, v, lambda) = (&x[bench.layout.p()], &x[bench.layout.v()], x[bench.layout.lambda().start]);
            let g1 = 2.0 * p[0] * v[0] + 2.0 * p[1] * v[1];
            let g2 = 2.0 * v[0] * v[0] + 2.0 * v[1] * v[1]
                - 2.0 * model.g * p[1]
                - 4.0 / model.m * (p[0] * p[0] + p[1] * p[1]) * lambda;
            let rows = bench.rows(0.0, &x);
            close(&rows[bench.layout.row_g1()], &[g1], 1e-14);
            close(&rows[bench.layout.row_g2()], &[g2], 1e-13);
        }
    }

    #[test]
    fn end_states_have_the_energy_of_the_start() {
        let model = Pendulum { m: 1.0, l: 1.0, g: 13.75 };
        for (v, end) in [(2.8, END_2_8), (2.9, END_2_9)] {
            let mut e = [0.0];
            model.invariant(&Velocity { t: 5.0, p: &end[..2], v: &end[2..4], s: &[] }, &mut e);
            close(&e, &[0.5 * v * v - 13.75], 1e-14);
        }
    }

    const UNIT: Pendulum = Pendulum { m: 1.0, l: 1.0, g: 13.75 };

    #[test]
    fn energy_restricts_the_motion_but_for_the_equilibrium() {
        // g, gI, gII and e over (λ, v, p), accelerations eliminated; thesis 4.6.17
        for (angle, rate, expected) in [(0.3, 1.2, 4), (0.3, 0.0, 4), (0.0, 1.2, 4), (0.0, 0.0, 3)] {
            let (sin, cos) = f64::sin_cos(angle);
            let mut bench = Bench::new(&UNIT);
            let mut x = bench.point(&[("p", &[sin, -cos]), ("v", &[rate * cos, rate * sin])]);
            bench.complete(0.0, &mut x);
            let (F, l) = (bench.jacobian(0.0, &x), bench.layout.clone());
            let all = l.row_dynamics().chain(l.row_g()).chain(l.row_g1()).chain(l.row_g2()).chain(l.row_invariants());
            // the accelerations belong to the dynamics
            let rows = all.map(|i| F.row(i).to_vec()).collect();
            assert_eq!(rank(rows), 2 + expected, "angle {angle}, rate {rate}");
        }
    }

    #[test]
    fn selectors_of_the_lowest_point_are_worse_and_worse_conditioned_towards_the_horizontal() {
        // S = (L, 0): the leading matrix of p, v and λ, without what couples them, is diag([S; G], [S; G], GM⁻¹Gᵀ)
        for (height, condition) in [(-1.0, 4.0), (-0.5, 8.8), (-0.1, 45.0), (-0.01, 447.0)] {
            let mut bench = Bench::new(&UNIT);
            let at = bench.point(&[("p", &[f64::sqrt(1.0 - height * height), height])]);
            let (F, l) = (bench.jacobian(0.0, &at), bench.layout.clone());
            let selected = singular_values(&[vec![1.0, 0.0], F.row(l.row_g().start)[l.p()].to_vec()]);
            // M is the identity
            let G = &F.row(l.row_g1().start)[l.v()];
            let multiplier: f64 = G.iter().map(|g| g * g).sum();
            let values = [selected[0], selected[1], multiplier];
            let found = values.iter().fold(0.0_f64, |m, x| m.max(*x)) / values.iter().fold(f64::MAX, |m, x| m.min(*x));
            assert!((found / condition - 1.0).abs() < 1e-2, "{height}: {found}");
        }
    }
}
