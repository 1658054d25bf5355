//! Double four-bar mechanism: three parallel cranks of equal length that carry a platform.
//!
//! ```text
//! M₁₁ = J₁ + m₄L²,  M₂₂ = J₂,  M₃₃ = J₃,  M₄₄ = m₄L₄²/4,  M₁₄ = M₄₁ = ½m₄L L₄cos(φ₁−φ₄)
//! 0 = L(cos φ₁ − cos φ₂) + ½L₄(cos φ₄ − 1),   0 = L(sin φ₁ − sin φ₂) + ½L₄sin φ₄
//! 0 = L(cos φ₁ − cos φ₃) +  L₄(cos φ₄ − 1),   0 = L(sin φ₁ − sin φ₃) +  L₄sin φ₄
//! ```
//! The platform has its mass m₄ in the middle. While the cranks are parallel the four constraints have rank 3: one degree of
//! freedom, and multipliers that are not unique. Where all bars are collinear, φ₁ ∈ {0, π}, the rank drops to 2 and motions
//! branch; the mechanism therefore starts below the joints and swings like a pendulum there. Energy is an invariant.
//! Steinbrecher (2006), example 4.1.16, which prints no parameters.
//!
//! Erratum: the assembled constraints there have the constants ½L₄ and L₄ in the y rows instead of the x rows.

use crate::{Case, ReferenceProblem, ReferenceValues};
use daedal::Initial;
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Names, Position, Sizes, Velocity};
use daedal::scalar::Scalar;

/// The mechanism and its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubleFourBar {
    /// Masses of the cranks, at their ends, and of the platform, in its middle.
    pub m: [f64; 4],
    /// Moments of inertia of the cranks about their joints.
    pub j: [f64; 3],
    /// Length of the cranks.
    pub l: f64,
    /// Length of the platform.
    pub l4: f64,
    /// Acceleration of gravity, along −y.
    pub g: f64,
}

/// (φ, φ') at t = 10 from φ = (−1.2, −1.2, −1.2, 0) at rest with the default parameters.
///
/// The motion is that of a pendulum, (J₁+J₂+J₃+m₄L²) φ'' = −g L (m₁+m₂+m₃+m₄) cos φ: elliptic functions in 30 digits.
pub const END: [f64; 8] = [
    -1.2241629142073128227,
    -1.2241629142073128227,
    -1.2241629142073128227,
    0.0,
    0.40795895688394598866,
    0.40795895688394598866,
    0.40795895688394598866,
    0.0,
];

impl EquationsOfMotion for DoubleFourBar {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 4, velocities: 4, holonomic: 4, invariants: 1, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes())
            .motion(&["phi1", "phi2", "phi3", "phi4"], &["omega1", "omega2", "omega3", "omega4"])
            .constraints(&["middle_x", "middle_y", "end_x", "end_y"], &[])
            .invariants(&["energy"])
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        let DoubleFourBar { m, j, l, l4, .. } = *self;
        let coupling = (at.p[0] - at.p[3]).cos() * (0.5 * m[3] * l * l4);
        M[(0, 0)] = S::from(j[0] + m[3] * l * l);
        M[(1, 1)] = S::from(j[1]);
        M[(2, 2)] = S::from(j[2]);
        M[(3, 3)] = S::from(0.25 * m[3] * l4 * l4);
        M[(0, 3)] = coupling;
        M[(3, 0)] = coupling;
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        let DoubleFourBar { m, l, l4, g, .. } = *self;
        let (p, v) = (at.p, at.v);
        let coupling = (p[0] - p[3]).sin() * (0.5 * m[3] * l * l4);
        f[0] = p[0].cos() * (-g * (m[0] + m[3]) * l) - coupling * v[3].square();
        f[1] = p[1].cos() * (-g * m[1] * l);
        f[2] = p[2].cos() * (-g * m[2] * l);
        f[3] = p[3].cos() * (-0.5 * g * m[3] * l4) + coupling * v[0].square();
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        let DoubleFourBar { l, l4, .. } = *self;
        let [(s1, c1), (s2, c2), (s3, c3), (s4, c4)] = [0, 1, 2, 3].map(|i| at.p[i].sin_cos());
        g[0] = (c1 - c2) * l + (c4 - 1.0) * (0.5 * l4);
        g[1] = (s1 - s2) * l + s4 * (0.5 * l4);
        g[2] = (c1 - c3) * l + (c4 - 1.0) * l4;
        g[3] = (s1 - s3) * l + s4 * l4;
    }
    fn invariant<S: Scalar>(&self, at: &Velocity<S>, e: &mut [S]) {
        let DoubleFourBar { m, j, l, l4, g } = *self;
        let (p, v) = (at.p, at.v);
        let platform =
            v[0].square() * (l * l) + v[3].square() * (0.25 * l4 * l4) + (p[0] - p[3]).cos() * v[0] * v[3] * (l * l4);
        let mut energy = platform * (0.5 * m[3]) + (p[0].sin() * l + p[3].sin() * (0.5 * l4)) * (m[3] * g);
        for i in 0..3 {
            energy += v[i].square() * (0.5 * j[i]) + p[i].sin() * (m[i] * g * l);
        }
        e[0] = energy;
    }
}

pub(crate) const PROBLEM: ReferenceProblem = ReferenceProblem {
    name: "double-four-bar",
    description: "three parallel cranks with a platform: four constraints of rank three",
    source: "Steinbrecher (2006), example 4.1.16, with unit parameters",
    parameters: &[("L", 1.0), ("L4", 2.0), ("m", 1.0), ("m4", 1.0), ("J", 1.0), ("g", 9.81), ("phi0", -1.2)],
    build: |x| {
        let names = ["phi1", "phi2", "phi3", "phi4", "omega1", "omega2", "omega3", "omega4"];
        Case {
            mechanism: Box::new(DoubleFourBar {
                m: [x[2], x[2], x[2], x[3]],
                j: [x[4]; 3],
                l: x[0],
                l4: x[1],
                g: x[5],
            }),
            initial: Initial::motion(0.0, &[x[6], x[6], x[6], 0.0], &[0.0; 4]),
            tend: 10.0,
            h0: None,
            references: vec![ReferenceValues::new(10.0, &names, &END, 1e-13, "elliptic functions")],
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, close, singular_values};

    #[test]
    fn parallel_cranks_move_like_a_pendulum() {
        let case = PROBLEM.case();
        let mut bench = Bench::new(&*case.mechanism);
        let mut x = bench.start(&case);
        bench.complete(0.0, &mut x);
        // 4 φ'' = −4 g cos φ for unit parameters
        let a = -9.81 * (-1.2_f64).cos();
        close(&x[bench.layout.a()], &[a, a, a, 0.0], 1e-14);
    }

    #[test]
    fn rank_is_three_for_parallel_cranks_and_two_for_collinear_bars() {
        for (phi, rank) in [(-1.2, 3), (0.7, 3), (0.0, 2)] {
            let case = PROBLEM.case();
            let mut bench = Bench::new(&*case.mechanism);
            let at = bench.point(&[("p", &[phi, phi, phi, 0.0])]);
            assert_eq!(bench.constraint_rank(0.0, &at), rank, "at phi = {phi}");
        }
    }

    #[test]
    fn beside_the_motion_the_constraints_are_independent() {
        // the smallest singular value of G grows with the distance from the parallelogram, the next one stays
        let case = PROBLEM.case();
        let mut bench = Bench::new(&*case.mechanism);
        let mut sigma = |p: &[f64; 4]| {
            let at = bench.point(&[("p", p)]);
            singular_values(&bench.constraint_matrix(0.0, &at))
        };
        for phi in [-1.2, 1.2, 0.7] {
            let on = sigma(&[phi, phi, phi, 0.0]);
            assert!(on[3] < 1e-15 && (0.4..1.0).contains(&on[2]), "{on:?}");
            for k in 0..3 {
                let slopes = [1e-3, 1e-5].map(|size| {
                    let mut p = [phi, phi, phi, 0.0];
                    p[k] += size;
                    sigma(&p)[3] / size
                });
                assert!(slopes[0] > 0.1 && (slopes[0] / slopes[1] - 1.0).abs() < 1e-2, "{slopes:?}");
            }
        }
    }
}
