//! Academic example with every kind of variable: dynamic force elements r, auxiliary w, contact s.
//!
//! ```text
//! p' = v,   v' = (−2p₂, 2v₁ + p₂ + w, r₁ + r₂p₃) − Gᵀλ
//! r' = (2p₂, −2 − 2s₁),   0 = w + 2p₃,   0 = (s₁p₃ − p₁, p₁ − s₂ − p₃)
//! 0 = (s₁s₂ − t p₁, p₂² + p₃² − 1),      G = [−t + s₂/p₃ + s₁, 0, −s₁s₂/p₃ − s₁; 0, 2p₂, 2p₃]
//! ```
//! The exact solution is p = ((1+t)cos t, sin t, cos t). At t = π/2 the contact equations are singular. Steinbrecher (2006),
//! example 5.3.6.

use crate::{Case, ReferenceProblem, ReferenceValues};
use daedal::Initial;
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Position, Sizes};
use daedal::scalar::Scalar;

/// The academic example; it has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Academic;

/// (p, v, r, w, s, λ) at time t.
pub fn exact(t: f64) -> [f64; 13] {
    let (sin, cos) = t.sin_cos();
    let (p, v) = ([(1.0 + t) * cos, sin, cos], [cos - (1.0 + t) * sin, cos, -sin]);
    let (r, w) = ([-2.0 * cos, -4.0 * t - t * t], -2.0 * cos);
    let (s, lambda) = ([1.0 + t, t * cos], [cos, -t]);
    [p[0], p[1], p[2], v[0], v[1], v[2], r[0], r[1], w, s[0], s[1], lambda[0], lambda[1]]
}

const NAMES: [&str; 13] = ["p1", "p2", "p3", "v1", "v2", "v3", "r1", "r2", "w1", "s1", "s2", "lambda1", "lambda2"];

impl EquationsOfMotion for Academic {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 3, velocities: 3, dynamic: 2, auxiliary: 1, contact: 2, holonomic: 2, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        for i in 0..3 {
            M[(i, i)] = S::from(1.0);
        }
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = at.p[1] * -2.0;
        f[1] = at.v[0] * 2.0 + at.p[1] + at.w[0];
        f[2] = at.r[0] + at.r[1] * at.p[2];
    }
    fn dynamic<S: Scalar>(&self, at: &Motion<S>, b: &mut [S]) {
        b[0] = at.p[1] * 2.0;
        b[1] = at.s[0] * -2.0 - 2.0;
    }
    fn auxiliary<S: Scalar>(&self, at: &Motion<S>, d: &mut [S]) {
        d[0] = at.w[0] + at.p[2] * 2.0;
    }
    fn contact<S: Scalar>(&self, at: &Position<S>, c: &mut [S]) {
        c[0] = at.s[0] * at.p[2] - at.p[0];
        c[1] = at.p[0] - at.s[1] - at.p[2];
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.s[0] * at.s[1] - at.t * at.p[0];
        g[1] = at.p[1].square() + at.p[2].square() - 1.0;
    }
}

pub(crate) const PROBLEM: ReferenceProblem = ReferenceProblem {
    name: "academic",
    description: "constructed example with force elements, auxiliary and contact variables",
    source: "Steinbrecher (2006), example 5.3.6",
    parameters: &[],
    build: |_| {
        let start = exact(0.0);
        let reference = |t: f64| ReferenceValues::new(t, &NAMES, &exact(t), 1e-14, "closed form");
        Case {
            mechanism: Box::new(Academic),
            initial: Initial::motion(0.0, &start[..3], &start[3..6])
                .dynamic(&start[6..8])
                .auxiliary(&start[8..9])
                .contact(&start[9..11])
                .multipliers(&start[11..], &[]),
            tend: 1.5,
            h0: None,
            references: vec![reference(1.0), reference(1.5)],
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, RandomNumbers, close};

    #[test]
    fn hidden_constraints_are_those_of_the_book() {
        let (mut bench, mut random) = (Bench::new(&Academic), RandomNumbers::new(7));
        for _ in 0..20 {
            let t = 0.4;
            let mut x = random.vector(bench.layout.dim());
            let place = bench.layout.p();
            x[place.start + 2] += 2.0;
            // the book's formulas use c = 0
            bench.contact(t, &mut x);
            bench.accelerate(t, &mut x);
            let (p, v, s) = (&x[place], &x[bench.layout.v()], &x[bench.layout.s()]);
            let (a, lambda) = (&x[bench.layout.a()], &x[bench.layout.lambda()]);
            let (G11, G13) = (-t + s[1] / p[2] + s[0], -s[0] * s[1] / p[2] - s[0]);
            let (s1, s2) = ((v[0] - s[0] * v[2]) / p[2], v[0] - v[2]);
            let g1 = [G11 * v[0] + G13 * v[2] - p[0], 2.0 * p[1] * v[1] + 2.0 * p[2] * v[2]];
            let g2 = [
                G11 * a[0] + G13 * a[2] - 2.0 * v[0] + 2.0 * s1 * s2 - 2.0 * s[1] * v[2] * s1 / p[2],
                2.0 * (v[1] * v[1] + v[2] * v[2] + p[1] * a[1] + p[2] * a[2]),
            ];
            let (w, r) = (x[bench.layout.w().start], &x[bench.layout.r()]);
            let dynamics = [
                a[0] + 2.0 * p[1] + G11 * lambda[0],
                a[1] - 2.0 * v[0] - p[1] - w + 2.0 * p[1] * lambda[1],
                a[2] - r[0] - r[1] * p[2] + G13 * lambda[0] + 2.0 * p[2] * lambda[1],
            ];
            let rows = bench.rows(t, &x);
            close(&rows[bench.layout.row_g1()], &g1, 1e-14);
            close(&rows[bench.layout.row_g2()], &g2, 1e-14);
            close(&rows[bench.layout.row_dynamics()], &dynamics, 1e-14);
        }
    }

    #[test]
    fn exact_solution_satisfies_all_equations() {
        let mut bench = Bench::new(&Academic);
        for t in [0.0, 0.5, 1.2, 2.0] {
            let x = exact(t);
            let (sin, cos) = t.sin_cos();
            let a = [-2.0 * sin - (1.0 + t) * cos, -sin, -cos];
            let blocks = [("r", &x[6..8]), ("w", &x[8..9]), ("s", &x[9..11]), ("lambda", &x[11..]), ("a", &a[..])];
            let mut all = vec![("p", &x[..3]), ("v", &x[3..6])];
            all.extend(blocks);
            let at = bench.point(&all);
            let rows = bench.rows(t, &at);
            close(&rows[..bench.layout.algebraic()], &[0.0; 12], 1e-13);
            close(&rows[bench.layout.row_dynamic()], &[2.0 * sin, -4.0 - 2.0 * t], 1e-14);
        }
    }

    #[test]
    fn exact_solution_has_the_tabulated_end_values() {
        close(
            &exact(1.5),
            &[
                0.17684300416925727,
                0.9974949866040544,
                0.0707372016677029,
                -2.4230002648424334,
                0.0707372016677029,
                -0.9974949866040544,
                -0.1414744033354058,
                -8.25,
                -0.1414744033354058,
                2.5,
                0.10610580250155435,
                0.0707372016677029,
                -1.5,
            ],
            1e-15,
        );
        close(
            &exact(2.0),
            &[
                -1.248440509641427,
                0.9092974268256817,
                -0.4161468365471424,
                -3.1440391170241875,
                -0.4161468365471424,
                -0.9092974268256817,
                0.8322936730942848,
                -12.0,
                0.8322936730942848,
                3.0,
                -0.8322936730942848,
                -0.4161468365471424,
                -2.0,
            ],
            1e-14,
        );
    }

    #[test]
    fn constraints_have_full_rank_also_where_the_contact_equation_is_singular() {
        // det GGᵀ = 4 (1 + t)² (1 + (1 + t)² sin² t), of the holonomic constraints with s eliminated
        let mut bench = Bench::new(&Academic);
        for t in [0.0, 0.5, 1.2, 1.57, 2.0] {
            let x = exact(t);
            let at = bench.point(&[("p", &x[..3]), ("v", &x[3..6]), ("s", &x[9..11])]);
            let G = bench.constraint_matrix(t, &at);
            let dot = |i: usize, j: usize| (0..3).map(|k| G[i][k] * G[j][k]).sum::<f64>();
            let determinant = dot(0, 0) * dot(1, 1) - dot(0, 1).powi(2);
            let a = 1.0 + t;
            close(&[determinant], &[4.0 * a * a * (1.0 + (a * t.sin()).powi(2))], 1e-11);
        }
    }
}
