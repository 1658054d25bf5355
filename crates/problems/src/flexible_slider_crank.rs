//! Slider crank with a flexible connecting rod: slow rotation, fast and stiff vibration.
//!
//! ```text
//! p = (φ₁, φ₂, x₃, q₁ … q₄),   M(p) v' = f(p, v) − Gᵀλ
//! 0 = l₁sin φ₁ + (l₂+q₄)sin φ₂,   0 = x₃ − l₁cos φ₁ − (l₂+q₄)cos φ₂,   0 = φ₁ − Ωt
//! ```
//! The rod bends in two modes q₁, q₂ and stretches in q₃, q₄; its eigenfrequencies are 1277 … 24613 rad/s against 150 rad/s of the
//! crank. Linear beam without damping, initial values for a smooth motion. Simeon (1996); Mazzia and Magherini (2008), Test set for
//! initial value problem solvers, release 2.4, whose software uses π = 3.1415927 and the velocity level of the constraints.

use crate::{Case, ReferenceProblem, ReferenceValues};
use daedal::Initial;
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Names, Position, Sizes};
use daedal::scalar::Scalar;

/// The slider crank and its parameters, in SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlexibleSliderCrank {
    /// Mass of the crank.
    pub m1: f64,
    /// Mass of the rod.
    pub m2: f64,
    /// Mass of the slider.
    pub m3: f64,
    /// Length of the crank.
    pub l1: f64,
    /// Length of the rod.
    pub l2: f64,
    /// Moment of inertia of the crank.
    pub j1: f64,
    /// Moment of inertia of the rod.
    pub j2: f64,
    /// Young's modulus of the rod.
    pub e: f64,
    /// Width of the rod.
    pub b: f64,
    /// Height of the rod.
    pub h: f64,
    /// Density of the rod.
    pub rho: f64,
    /// Acceleration of gravity.
    pub gravity: f64,
    /// Angular velocity of the crank.
    pub omega: f64,
}

impl Default for FlexibleSliderCrank {
    fn default() -> Self {
        FlexibleSliderCrank {
            m1: 0.36,
            m2: 0.151104,
            m3: 0.075552,
            l1: 0.15,
            l2: 0.3,
            j1: 0.002727,
            j2: 0.0045339259,
            e: 200000000000.0,
            b: 0.008,
            h: 0.008,
            rho: 7870.0,
            gravity: 0.0,
            omega: 150.0,
        }
    }
}

/// π as the software behind the reference values has it.
#[allow(clippy::approx_constant)]
pub const PI: f64 = 3.1415927;
/// Initial positions of the smooth motion.
pub const P0: [f64; 7] = [0.0, 0.0, 0.450016933, 0.0, 0.0, 1.03339863e-5, 1.69327969e-5];
/// Initial velocities of the smooth motion.
pub const V0: [f64; 7] = [
    150.0,
    -74.99576703969453,
    -2.68938671997904e-6,
    0.444896112581599,
    0.00463433931923867,
    -1.78591076000055e-6,
    -2.68938671997904e-6,
];
/// Initial accelerations of the smooth motion.
pub const A0: [f64; 7] = [
    0.0,
    -0.001344541576709835,
    -5062.194924490193,
    -6.82972566598631e-5,
    1.813207639590617e-20,
    -4.268463266810281,
    0.2098339029337557,
];
/// Initial multipliers of the smooth motion.
pub const LAMBDA0: [f64; 3] = [-6.552727150584648e-8, 382.4589509350831, -4.635908708561371e-9];
/// (p, v, v') at t = 0.1: MEBDFI with tolerance 1e-14, velocity level of the constraints.
pub const END: [f64; 21] = [
    15.00000000000104,
    -0.331173498825626,
    0.169737332842786,
    0.0001893192899613509,
    2.375751249879174e-5,
    -5.323896770569702e-6,
    -8.363313279112129e-6,
    150.0,
    60.25346755138369,
    -8.753116326670527,
    -0.03005541400289738,
    -0.005500431812571696,
    0.0004974111734266989,
    0.001105560003626645,
    0.0,
    6488.737541276957,
    2167.938629509884,
    33.91137060286523,
    0.1715134772216488,
    -1.422449408912512,
    1.00394642812481,
];
/// λ at t = 0.1: MEBDFI with tolerance 1e-14.
pub const LAMBDA_END: [f64; 3] = [-62.32935833287916, -163.7920993367306, 25.29857947066878];

/// Constants of the flexible rod.
struct Rod {
    Mq: [[f64; 4]; 4],
    Kq: [[f64; 4]; 4],
    /// antisymmetric
    B: [[f64; 4]; 4],
    c1: [f64; 4],
    c2: [f64; 4],
    c12: [f64; 4],
    c21: [f64; 4],
}

impl FlexibleSliderCrank {
    fn rod(&self) -> Rod {
        let FlexibleSliderCrank { l2, e, h, rho, .. } = *self;
        let area = self.b * h;
        // products: integer powers of constants are rounded otherwise by the compiler than by the machine
        let (al, pi2) = (area * l2, PI * PI);
        let pi3 = pi2 * PI;
        let scale = |factor: f64, A: [[f64; 4]; 4]| A.map(|row| row.map(|x| factor * x));
        let bending = pi2 * pi2 / 24.0 * (h / l2).powi(2);
        let (x, y, z) = (16.0 / pi3, 8.0 / pi3 - 1.0 / PI, 0.5 / PI);
        Rod {
            Mq: scale(
                rho * al,
                [[0.5, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0], [0.0, 0.0, 8.0, 1.0], [0.0, 0.0, 1.0, 2.0]],
            ),
            Kq: scale(
                e * area / l2,
                [
                    [bending, 0.0, 0.0, 0.0],
                    [0.0, 16.0 * bending, 0.0, 0.0],
                    [0.0, 0.0, 16.0 / 3.0, -8.0 / 3.0],
                    [0.0, 0.0, -8.0 / 3.0, 7.0 / 3.0],
                ],
            ),
            B: scale(al, [[0.0, 0.0, -x, y], [0.0, 0.0, 0.0, z], [x, 0.0, 0.0, 0.0], [-y, -z, 0.0, 0.0]]),
            c1: [0.0, 0.0, al * 2.0 / 3.0, al / 6.0],
            c2: [al * 2.0 / PI, 0.0, 0.0, 0.0],
            c12: [0.0, 0.0, al * l2 / 3.0, al * l2 / 6.0],
            c21: [al * l2 / PI, -al * l2 * z, 0.0, 0.0],
        }
    }
}

/// cᵀq.
fn along<S: Scalar>(c: &[f64; 4], q: &[S]) -> S {
    q.iter().zip(c).fold(S::from(0.0), |sum, (&q, &c)| sum + q * c)
}

/// A q.
fn times<S: Scalar>(A: &[[f64; 4]; 4], q: &[S]) -> [S; 4] {
    [0, 1, 2, 3].map(|i| along(&A[i], q))
}

impl EquationsOfMotion for FlexibleSliderCrank {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 7, velocities: 7, holonomic: 3, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes())
            .motion(&NAMES[..7], &NAMES[7..14])
            .constraints(&["slider_y", "slider_x", "crank"], &[])
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        let FlexibleSliderCrank { m2, m3, l1, l2, j1, j2, rho, .. } = *self;
        let rod = self.rod();
        let q = &at.p[3..];
        let (s, c) = (at.p[0] - at.p[1]).sin_cos();
        let Mqq = times(&rod.Mq, q);
        M[(0, 0)] = S::from(j1 + m2 * l1 * l1);
        M[(0, 1)] = c * (0.5 * l1 * l2 * m2) + (c * along(&rod.c1, q) + s * along(&rod.c2, q)) * (rho * l1);
        M[(1, 0)] = M[(0, 1)];
        M[(1, 1)] = daedal::scalar::dot(q, &Mqq) + along(&rod.c12, q) * (2.0 * rho) + j2;
        M[(2, 2)] = S::from(m3);
        let Bq = times(&rod.B, q);
        for i in 0..4 {
            // qᵀB = −(B q)ᵀ
            M[(0, 3 + i)] = (c * rod.c2[i] - s * rod.c1[i]) * (rho * l1);
            M[(1, 3 + i)] = (-Bq[i] + rod.c21[i]) * rho;
            for k in 0..2 {
                M[(3 + i, k)] = M[(k, 3 + i)];
            }
            for k in 0..4 {
                M[(3 + i, 3 + k)] = S::from(rod.Mq[i][k]);
            }
        }
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        let FlexibleSliderCrank { m1, m2, l1, l2, rho, gravity, .. } = *self;
        let rod = self.rod();
        let (q, u) = (&at.p[3..], &at.v[3..]);
        let (s, c) = (at.p[0] - at.p[1]).sin_cos();
        let (sin2, cos2) = at.p[1].sin_cos();
        let (w2, w1_square, w2_square) = (at.v[1], at.v[0].square(), at.v[1].square());
        let (c1q, c2q, c1u, c2u) = (along(&rod.c1, q), along(&rod.c2, q), along(&rod.c1, u), along(&rod.c2, u));
        let (Mqq, Kqq, Bu) = (times(&rod.Mq, q), times(&rod.Kq, q), times(&rod.B, u));
        f[0] = at.p[0].cos() * (-0.5 * l1 * gravity * (m1 + 2.0 * m2)) - w2_square * s * (0.5 * l1 * l2 * m2)
            + w2_square * (c * c2q - s * c1q) * (rho * l1)
            - w2 * (c * c1u + s * c2u) * (2.0 * rho * l1);
        // q'ᵀB q' vanishes, as B is antisymmetric
        f[1] = cos2 * (-0.5 * l2 * gravity * m2)
            + w1_square * s * (0.5 * l1 * l2 * m2)
            + w1_square * (s * c1q - c * c2q) * (rho * l1)
            - w2 * (along(&rod.c12, u) * rho + daedal::scalar::dot(u, &Mqq)) * 2.0
            - (cos2 * c1q - sin2 * c2q) * (rho * gravity);
        f[2] = S::from(0.0);
        for i in 0..4 {
            f[3 + i] = w2_square * (Mqq[i] + rho * rod.c12[i])
                + w1_square * (c * rod.c1[i] + s * rod.c2[i]) * (rho * l1)
                + w2 * Bu[i] * (2.0 * rho)
                - (sin2 * rod.c1[i] + cos2 * rod.c2[i]) * (rho * gravity)
                - Kqq[i];
        }
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        let ((s1, c1), (s2, c2)) = (at.p[0].sin_cos(), at.p[1].sin_cos());
        let rod = at.p[6] + self.l2;
        g[0] = s1 * self.l1 + rod * s2;
        g[1] = at.p[2] - c1 * self.l1 - rod * c2;
        g[2] = at.p[0] - at.t * self.omega;
    }
}

const NAMES: [&str; 17] = [
    "phi1",
    "phi2",
    "x3",
    "q1",
    "q2",
    "q3",
    "q4",
    "vphi1",
    "vphi2",
    "vx3",
    "vq1",
    "vq2",
    "vq3",
    "vq4",
    "lambda.slider_y",
    "lambda.slider_x",
    "lambda.crank",
];

pub(crate) const PROBLEM: ReferenceProblem = ReferenceProblem {
    name: "flexible-slider-crank",
    description: "slider crank with a flexible rod, stiff vibration",
    source: "Mazzia and Magherini (2008), Test set for initial value problem solvers",
    parameters: &[("E", 200000000000.0), ("gravity", 0.0)],
    build: |x| {
        let model = FlexibleSliderCrank { e: x[0], gravity: x[1], ..FlexibleSliderCrank::default() };
        // x₃, published to nine digits, makes no force; q₄ = −2e-10 in its place would
        let mut start = P0;
        start[2] = model.l1 + model.l2 + P0[6];
        let source = "MEBDFI with tolerance 1e-14";
        Case {
            mechanism: Box::new(model),
            initial: Initial::motion(0.0, &start, &V0).multipliers(&LAMBDA0, &[]),
            tend: 0.1,
            h0: None,
            references: vec![
                // x₃ carries the 2e-10 of its initial value
                ReferenceValues::new(0.1, &NAMES[..14], &END[..14], 1e-9, source),
                ReferenceValues::new(0.1, &NAMES[14..], &LAMBDA_END, 1e-8, source),
            ],
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, close};
    use daedal::linalg::{Lu, eigenvalues};

    #[test]
    fn published_initial_values_satisfy_all_equations() {
        let model = FlexibleSliderCrank::default();
        let mut bench = Bench::new(&model);
        let at = bench.point(&[("p", &P0), ("v", &V0), ("a", &A0), ("lambda", &LAMBDA0)]);
        let rows = bench.rows(0.0, &at);
        // forces are tens to hundreds of newtons, positions are given to nine digits
        close(&rows[bench.layout.row_dynamics()], &[0.0; 7], 3e-7);
        close(&rows[bench.layout.row_g1()], &[0.0; 3], 1e-13);
        close(&rows[bench.layout.row_g()], &[0.0; 3], 3e-10);
    }

    #[test]
    fn the_rod_has_the_published_eigenfrequencies() {
        let model = FlexibleSliderCrank::default();
        let mut bench = Bench::new(&model);
        // at rest: M a + K q = 0 of the deformations, the rest of the mechanism held
        let rest = bench.point(&[]);
        let F = bench.jacobian(0.0, &rest);
        let block = |rows: usize, columns: usize| -> Vec<Vec<f64>> {
            (3..7).map(|i| (3..7).map(|j| F[(rows + i, columns + j)]).collect()).collect()
        };
        let (row, a, p) = (bench.layout.row_dynamics().start, bench.layout.a().start, bench.layout.p().start);
        let (M, K) = (block(row, a), block(row, p));
        let mut lu = Lu::<f64>::new(4);
        (0..4).for_each(|i| (0..4).for_each(|j| lu.A[(i, j)] = M[i][j]));
        lu.factor().unwrap();
        let mut squares = Matrix::zeros(4, 4);
        for j in 0..4 {
            let mut column: Vec<f64> = (0..4).map(|i| K[i][j]).collect();
            lu.solve(&mut column);
            (0..4).for_each(|i| squares[(i, j)] = column[i]);
        }
        let mut found: Vec<f64> = eigenvalues(&squares).unwrap().iter().map(|(square, _)| square.sqrt()).collect();
        found.sort_by(f64::total_cmp);
        // rad/s, as printed
        let published = [1277.0, 5107.0, 6841.0, 24613.0];
        assert_eq!(found.iter().map(|omega| omega.round()).collect::<Vec<_>>(), published, "{found:?}");
    }

    #[test]
    fn rigid_motion_has_the_published_accelerations() {
        let model = FlexibleSliderCrank::default();
        let mut bench = Bench::new(&model);
        let y0 = [
            0.0,
            0.0,
            0.45,
            0.0,
            0.0,
            0.0,
            0.0,
            150.0,
            -75.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            -3789.473684210526,
            0.0,
            0.0,
            192.4342105263158,
            1273.026315789474,
            0.0,
            286.3023157894737,
            0.0,
        ];
        let blocks = [("p", &y0[..7]), ("v", &y0[7..14]), ("a", &y0[14..21]), ("lambda", &y0[21..])];
        let at = bench.point(&blocks);
        let rows = bench.rows(0.0, &at);
        close(&rows[..bench.layout.algebraic()], &[0.0; 16], 2e-12);
    }

    #[test]
    fn published_end_satisfies_the_equations_it_was_computed_with() {
        let model = FlexibleSliderCrank::default();
        let mut bench = Bench::new(&model);
        let blocks = [("p", &END[..7]), ("v", &END[7..14]), ("a", &END[14..]), ("lambda", &LAMBDA_END[..])];
        let at = bench.point(&blocks);
        let rows = bench.rows(0.1, &at);
        close(&rows[bench.layout.row_dynamics()], &[0.0; 7], 2e-12);
        close(&rows[bench.layout.row_g1()], &[0.0; 3], 1e-13);
    }
}
