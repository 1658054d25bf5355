//! Slider crank with point masses, and variants with a singular position and with redundant constraints.
//!
//! ```text
//! M = [ (m₁+m₂)l₁²   −m₂l₁l₂c ]    f = ( −(m₁+m₂)g l₁cos p₁ − m₂l₁l₂ s v₂² )    0 = l₁sin p₁ − l₂sin p₂
//!     [ −m₂l₁l₂c       m₂l₂²  ]        (        m₂g l₂cos p₂ − m₂l₁l₂ s v₁² )    c = cos(p₁+p₂), s = sin(p₁+p₂)
//! ```
//! The crank (length l₁, mass m₁ at its end) drives a rod (length l₂, mass m₂ at its end) whose end slides on the x axis. Its
//! energy is an invariant. With equal arms both fold at p₁ = p₂ = −π/2, where the constraint loses its rank and the motion
//! branches. The redundant model adds two constraints that vanish identically. Steinbrecher (2006), examples 4.1.15 and 5.3.4.

use crate::{Case, ReferenceProblem, ReferenceValues};
use daedal::Initial;
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Names, Position, Sizes, Velocity};
use daedal::scalar::Scalar;

/// The slider crank and its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SliderCrank {
    /// Mass at the end of the crank.
    pub m1: f64,
    /// Mass at the end of the rod.
    pub m2: f64,
    /// Length of the crank.
    pub l1: f64,
    /// Length of the rod.
    pub l2: f64,
    /// Acceleration of gravity, along −y.
    pub g: f64,
}

/// The slider crank with two more constraints that hold identically: three constraints of rank one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedundantSliderCrank {
    /// The mechanism without them.
    pub regular: SliderCrank,
}

/// t and (p, v, λ) from p = v = 0 with l₁ = 1, l₂ = 3: quadrature of the energy integral in 30 digits.
pub const EXACT: [(f64, [f64; 5]); 4] = [
    (
        1.0,
        [
            -2.2025762592586591506,
            -0.27234685470665213825,
            -3.0148023079445818127,
            0.61620808645930184427,
            -14.785599644284854514,
        ],
    ),
    (
        10.0,
        [
            -2.6510555480172854794,
            -0.15768590266863840715,
            -2.7787825503912791877,
            0.82730018014311207222,
            -15.703748938067925437,
        ],
    ),
    (
        100.0,
        [
            -0.3702429132375279448,
            -0.12090833973899138731,
            2.2468182137416240538,
            0.70332551588872356326,
            -19.26354617068308288,
        ],
    ),
    (
        10000.0,
        [
            -1.7799579606339496031,
            -0.33214172434397726992,
            -2.7822085225513807999,
            0.2036987304575009419,
            -16.172106713915148003,
        ],
    ),
];
/// The period of that motion.
pub const PERIOD: f64 = 2.949600354027784224515086;
/// When equal arms, l₁ = l₂ = 1, fold: quadrature of the energy integral.
pub const FOLDING_TIME: f64 = 1.01388449474473;

const NAMES: [&str; 5] = ["phi1", "phi2", "omega1", "omega2", "lambda.slider"];

impl EquationsOfMotion for SliderCrank {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, invariants: 1, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes())
            .motion(&NAMES[..2], &NAMES[2..4])
            .constraints(&["slider"], &[])
            .invariants(&["energy"])
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        let coupling = (at.p[0] + at.p[1]).cos() * -(self.m2 * self.l1 * self.l2);
        M[(0, 0)] = S::from((self.m1 + self.m2) * self.l1 * self.l1);
        M[(0, 1)] = coupling;
        M[(1, 0)] = coupling;
        M[(1, 1)] = S::from(self.m2 * self.l2 * self.l2);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        let SliderCrank { m1, m2, l1, l2, g } = *self;
        let coupling = (at.p[0] + at.p[1]).sin() * (m2 * l1 * l2);
        f[0] = at.p[0].cos() * (-(m1 + m2) * g * l1) - coupling * at.v[1].square();
        f[1] = at.p[1].cos() * (m2 * g * l2) - coupling * at.v[0].square();
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0].sin() * self.l1 - at.p[1].sin() * self.l2;
    }
    fn invariant<S: Scalar>(&self, at: &Velocity<S>, e: &mut [S]) {
        let SliderCrank { m1, m2, l1, l2, g } = *self;
        let (v1, v2) = (at.v[0] * l1, at.v[1] * l2);
        let kinetic =
            v1.square() * (0.5 * (m1 + m2)) + v2.square() * (0.5 * m2) - v1 * v2 * (at.p[0] + at.p[1]).cos() * m2;
        let potential = at.p[0].sin() * ((m1 + m2) * g * l1) - at.p[1].sin() * (m2 * g * l2);
        e[0] = kinetic + potential;
    }
}

impl EquationsOfMotion for RedundantSliderCrank {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 3, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes()).motion(&NAMES[..2], &NAMES[2..4]).constraints(&["slider", "sum_x", "sum_y"], &[])
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        self.regular.mass(at, M);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        self.regular.force(at, f);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        let SliderCrank { l1, l2, .. } = self.regular;
        self.regular.holonomic(at, &mut g[..1]);
        // r₁ + r₂ − r₃ with r₂ = r₁ + rod, r₃ = 2r₁ + rod
        let ((s1, c1), (s2, c2)) = (at.p[0].sin_cos(), at.p[1].sin_cos());
        for (g, (crank, rod)) in g[1..].iter_mut().zip([(c1 * l1, c2 * l2), (s1 * l1, s2 * l2)]) {
            let (r1, r2, r3) = (crank, crank + rod, crank * 2.0 + rod);
            *g = r1 + r2 - r3;
        }
    }
}

/// l₂ = 3 l₁.
pub(crate) const REGULAR: ReferenceProblem = ReferenceProblem {
    name: "slider-crank",
    description: "slider crank falling from the stretched position",
    source: "Steinbrecher (2006), example 5.3.4, set 1",
    parameters: &[("m1", 1.0), ("m2", 1.8), ("l1", 1.0), ("l2", 3.0), ("g", 9.81)],
    build: |x| {
        let model = slider_crank(x);
        let references = EXACT.iter().filter(|(t, _)| *t <= 100.0).map(|(t, state)| reference(*t, 5, state));
        case(Box::new(model), &[-model.m2 * model.g], 100.0, references.collect())
    },
};

/// l₂ = l₁: the solver should stop at [`FOLDING_TIME`].
pub(crate) const EQUAL_ARMS: ReferenceProblem = ReferenceProblem {
    name: "slider-crank-equal-arms",
    description: "slider crank with equal arms, whose constraint loses its rank at t = 1.0139",
    source: "Steinbrecher (2006), example 5.3.4, set 2",
    parameters: &[("m1", 1.0), ("m2", 1.8), ("l1", 1.0), ("l2", 1.0), ("g", 9.81)],
    build: |x| {
        let model = slider_crank(x);
        case(Box::new(model), &[-model.m2 * model.g], 2.0, vec![])
    },
};

/// Three constraints of rank one; the multipliers are not unique.
pub(crate) const REDUNDANT: ReferenceProblem = ReferenceProblem {
    name: "slider-crank-redundant",
    description: "slider crank with two redundant constraints",
    source: "Steinbrecher (2006), example 5.3.4, set 1 with redundant constraints",
    parameters: &[("m1", 1.0), ("m2", 1.8), ("l1", 1.0), ("l2", 3.0), ("g", 9.81)],
    build: |x| {
        let regular = slider_crank(x);
        let references = EXACT.iter().filter(|(t, _)| *t <= 100.0).map(|(t, state)| reference(*t, 4, state));
        let model = RedundantSliderCrank { regular };
        case(Box::new(model), &[-regular.m2 * regular.g, 0.0, 0.0], 100.0, references.collect())
    },
};

fn slider_crank(x: &[f64]) -> SliderCrank {
    SliderCrank { m1: x[0], m2: x[1], l1: x[2], l2: x[3], g: x[4] }
}

/// The first n values of a state, in the order of [`NAMES`].
fn reference(t: f64, n: usize, state: &[f64; 5]) -> ReferenceValues {
    ReferenceValues::new(t, &NAMES[..n], &state[..n], 1e-12, "quadrature of the energy integral in 30 digits")
}

fn case(
    mechanism: Box<dyn daedal::motion::Mechanism + Send + Sync>,
    lambda: &[f64],
    tend: f64,
    references: Vec<ReferenceValues>,
) -> Case {
    let initial = Initial::motion(0.0, &[0.0, 0.0], &[0.0, 0.0]).multipliers(lambda, &[]);
    Case { mechanism, initial, tend, h0: None, references }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, RandomNumbers, close};

    const MODEL: SliderCrank = SliderCrank { m1: 1.0, m2: 1.8, l1: 1.0, l2: 3.0, g: 9.81 };

    #[test]
    fn hidden_constraints_are_those_of_the_book() {
        let SliderCrank { l1, l2, .. } = MODEL;
        let (mut bench, mut random) = (Bench::new(&MODEL), RandomNumbers::new(4));
        for _ in 0..20 {
            let mut x = random.vector(bench.layout.dim());
            bench.accelerate(0.0, &mut x);
            let (p, v, a) = (&x[bench.layout.p()], &x[bench.layout.v()], &x[bench.layout.a()]);
            let (G1, G2) = (l1 * p[0].cos(), -l2 * p[1].cos());
            let g1 = G1 * v[0] + G2 * v[1];
            let g2 = -l1 * p[0].sin() * v[0] * v[0] + l2 * p[1].sin() * v[1] * v[1] + G1 * a[0] + G2 * a[1];
            let rows = bench.rows(0.0, &x);
            close(&rows[bench.layout.row_g1()], &[g1], 1e-14);
            close(&rows[bench.layout.row_g2()], &[g2], 1e-13);
        }
    }

    #[test]
    fn redundant_constraints_vanish_everywhere() {
        let model = RedundantSliderCrank { regular: MODEL };
        let (mut bench, mut random) = (Bench::new(&model), RandomNumbers::new(5));
        let x = random.vector(bench.layout.dim());
        let rows = bench.rows(0.0, &x);
        for levels in [bench.layout.row_g(), bench.layout.row_g1(), bench.layout.row_g2()] {
            close(&rows[levels][1..], &[0.0, 0.0], 1e-15);
        }
    }

    #[test]
    fn motion_starts_with_the_published_accelerations() {
        let mut bench = Bench::new(&MODEL);
        let mut x = bench.start(&REGULAR.case());
        bench.complete(0.0, &mut x);
        close(&x[bench.layout.a()], &[-9.81, -3.27], 1e-14);
        close(&x[bench.layout.lambda()], &[-17.658], 1e-14);
    }
}
