//! Characteristic values of mechanisms as quasi-linear systems, level by level. Steinbrecher (2006), 4.1.13 to 4.2.23.

use crate::examples::{example, moving_pendulum};
use daedal::Initial;
use daedal::dae::{Characteristics, Depth, Equations, System, characterise};
use daedal::scalar::Scalar;

/// x = (p, v, λ, μ): p = (x₁, y₁, x₂, y₂, φ, x₃, y₃, z₃, θ), five holonomic and two nonholonomic constraints.
struct Skateboard;

impl Equations for Skateboard {
    fn dim(&self) -> usize {
        25
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
        const MASSES: [f64; 9] = [1.0, 1.0, 1.0, 1.0, 0.001, 80.0, 80.0, 80.0, 0.001];
        const DAMPING: f64 = 0.005;
        let (p, v, lambda, mu) = (&x[..9], &x[9..18], &x[18..23], &x[23..]);
        let ((sin, cos), (s, c), (st, ct)) = (p[4].sin_cos(), p[8].sin_cos(), (p[8] * 11.0).sin_cos());
        let (dx, dy) = (p[0] - p[2], p[1] - p[3]);
        let front = [dx * st - dy * ct, dx * ct + dy * st];
        let rear = [-dx * st - dy * ct, dx * ct - dy * st];
        // (constraint, position, derivative)
        let one = S::from(1.0);
        let half = S::from(0.5);
        let G = [
            (0, 0, -one),
            (0, 2, one),
            (0, 4, -sin * 0.5),
            (1, 1, -one),
            (1, 3, one),
            (1, 4, cos * 0.5),
            (2, 0, half),
            (2, 2, half),
            (2, 4, cos * s * 1.5),
            (2, 8, sin * c * 1.5),
            (2, 5, -one),
            (3, 1, half),
            (3, 3, half),
            (3, 4, sin * s * 1.5),
            (3, 8, -cos * c * 1.5),
            (3, 6, -one),
            (4, 8, -s * 1.5),
            (4, 7, -one),
        ];
        for i in 0..9 {
            r[i] = d[i] - v[i];
            r[9 + i] = d[9 + i] * MASSES[i] + v[i] * DAMPING;
        }
        r[16] = r[16] + 80.0 * 9.81;
        r[17] += p[8];
        for (i, j, derivative) in G {
            r[9 + j] += derivative * lambda[i];
        }
        for k in 0..2 {
            r[9 + k] += front[k] * mu[0];
            r[11 + k] += rear[k] * mu[1];
        }
        r[18] = p[2] + cos * 0.5 - p[0];
        r[19] = p[3] + sin * 0.5 - p[1];
        r[20] = (p[0] + p[2]) * 0.5 + sin * s * 1.5 - p[5];
        r[21] = (p[1] + p[3]) * 0.5 - cos * s * 1.5 - p[6];
        r[22] = c * 1.5 - p[7];
        r[23] = front[0] * v[0] + front[1] * v[1];
        r[24] = rear[0] * v[2] + rear[1] * v[3];
    }
}

example!(
    /// x = (p, v, r, w, s, λ): forces with states of their own, auxiliary and contact variables.
    Academic,
    13,
    13,
    |t, x, d, r| {
        let (p, v, s, lambda) = (&x[..3], &x[3..6], &x[9..11], &x[11..]);
        let (g11, g13) = (s[1] / p[2] + s[0] - t, -(s[1] * s[0] / p[2]) - s[0]);
        for i in 0..3 {
            r[i] = d[i] - v[i];
        }
        r[3] = d[3] + p[1] * 2.0 + g11 * lambda[0];
        r[4] = d[4] - v[0] * 2.0 - p[1] - x[8] + p[1] * lambda[1] * 2.0;
        r[5] = d[5] - x[6] - x[7] * p[2] + g13 * lambda[0] + p[2] * lambda[1] * 2.0;
        r[6] = d[6] - p[1] * 2.0;
        r[7] = d[7] + s[0] * 2.0 + 2.0;
        r[8] = x[8] + p[2] * 2.0;
        r[9] = s[0] * p[2] - p[0];
        r[10] = p[0] - s[1] - p[2];
        r[11] = s[0] * s[1] - t * p[0];
        r[12] = p[1].square() + p[2].square() - 1.0;
    }
);

example!(
    /// x = (x, y, φ, vx, vy, ω, μ): a blade on a slope.
    KnifeEdge,
    7,
    7,
    |t, x, d, r| {
        let (sin, cos) = x[2].sin_cos();
        for i in 0..3 {
            r[i] = d[i] - x[3 + i];
        }
        r[3] = d[3] - 1.0 + sin * x[6];
        r[4] = d[4] - cos * x[6];
        r[5] = d[5];
        r[6] = sin * x[3] - cos * x[4];
    }
);

example!(
    /// x = (p, v, λ) with M = diag(1, 0), 0 = p₂ − p₁² − 1, f = (−p₁, −p₂ − 1): singular masses do not fix the index.
    Massless,
    5,
    5,
    |t, x, d, r| {
        r[0] = d[0] - x[2];
        r[1] = d[1] - x[3];
        r[2] = d[2] + x[0] - x[0] * x[4] * 2.0;
        r[3] = x[1] + 1.0 + x[4];
        r[4] = x[1] - x[0].square() - 1.0;
    }
);

example!(
    /// The pendulum with p' = v − Gᵀθ, v' = f − Gᵀλ − Gᵀτ and g = gI = gII = 0: Führer and Leimkuhler's extension of GGL. x = (p, v, λ, θ, τ).
    PendulumOfAllLevels,
    7,
    7,
    |t, x, d, r| {
        let (p, q, u, v, lambda) = (x[0], x[1], x[2], x[3], x[4]);
        r[0] = d[0] - u + p * x[5] * 2.0;
        r[1] = d[1] - v + q * x[5] * 2.0;
        r[2] = d[2] + p * (lambda + x[6]) * 2.0;
        r[3] = d[3] + q * (lambda + x[6]) * 2.0 + 13.75;
        r[4] = p.square() + q.square() - 1.0;
        r[5] = p * u + q * v;
        r[6] = u.square() + v.square() - q * 13.75 - (p.square() + q.square()) * lambda * 2.0;
    }
);

fn look<E: Equations>(equations: &E, t: f64, x: &[f64], unknown: std::ops::Range<usize>) -> Characteristics {
    let initial = unknown.fold(Initial::new(t, x), Initial::unknown);
    characterise(&System::of(equations), &initial, Depth { confirm: true, ..Depth::default() }).unwrap()
}

/// (ν_c, ν_s, ν_d) and (d, a, v, u).
fn numbers(c: &Characteristics) -> ([Option<usize>; 3], [usize; 4]) {
    let v = c.values;
    ([c.constraint_level(), Some(v.mu), c.differentiation_index()], [v.d, v.a, v.v, v.u])
}

/// Numbers of constraints up to each level.
fn levels(c: &Characteristics) -> Vec<usize> {
    c.levels.iter().map(|level| level.a).collect()
}

#[test]
fn mechanisms_have_as_many_constraints_of_each_level_as_the_theory_says() {
    let mut x = vec![0.25, 0.0, -0.25, 0.0, 0.0, 0.0, 0.0, 1.5, 0.0];
    x.extend([5.0, 0.0, 5.0, 0.0, 0.0, 5.0, -0.15, 0.0, 0.1]);
    x.resize(25, 0.0);
    let c = look(&Skateboard, 0.0, &x, 18..25);
    assert_eq!(levels(&c), [7, 14, 19, 19]);
    assert_eq!(numbers(&c), ([Some(2), Some(2), Some(3)], [6, 19, 0, 0]));
    // the exact solution at t = 0.3
    let (t, (s, k)) = (0.3, 0.3_f64.sin_cos());
    let a = 1.0 + t;
    let x = [a * k, s, k, k - a * s, k, -s, -2.0 * k, -4.0 * t - t * t, -2.0 * k, a, t * k, k, -t];
    let c = look(&Academic, t, &x, 0..0);
    assert_eq!(levels(&c), [5, 7, 9, 9]);
    assert_eq!(numbers(&c), ([Some(2), Some(2), Some(3)], [4, 9, 0, 0]));
    let (s, k) = 0.4_f64.sin_cos();
    let c = look(&KnifeEdge, 0.0, &[0.1, 0.2, 0.4, 1.3 * k, 1.3 * s, 0.7, 0.0], 6..7);
    assert_eq!(levels(&c), [1, 2, 2]);
    assert_eq!(numbers(&c), ([Some(1), Some(1), Some(2)], [5, 2, 0, 0]));
}

#[test]
fn singular_masses_do_not_fix_the_index() {
    let c = look(&Massless, 0.0, &[0.5, 1.25, 0.3, 0.3, -2.25], 0..0);
    assert_eq!(numbers(&c).0, [Some(1), Some(1), Some(2)]);
}

#[test]
fn the_extension_with_all_levels_has_index_two() {
    let x = moving_pendulum();
    let c = look(&PendulumOfAllLevels, 0.0, &[x[0], x[1], x[2], x[3], x[4], 0.0, 0.0], 0..0);
    assert_eq!(numbers(&c).0, [Some(1), Some(1), Some(2)]);
}
