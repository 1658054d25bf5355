//! Systems with constraints, hidden ones included.

use crate::{error, options, system};
use daedal::prelude::*;
use daedal::scalar::Scalar;
use daedal::{BoundaryProblem, solve_boundary};

/// A pendulum of length one in absolute coordinates, of index three.
fn pendulum() -> System {
    system(&["x", "y", "u", "v", "lambda"], &[("g", 1.0)], |_, x, xd, p| {
        vec![
            xd[0] - x[2],
            xd[1] - x[3],
            xd[2] + x[0] * x[4],
            xd[3] + x[1] * x[4] + p[0],
            x[0].square() + x[1].square() - 1.0,
        ]
    })
}

/// The same mechanism as equations of motion.
struct Mechanical;
impl EquationsOfMotion for Mechanical {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes()).motion(&["x", "y"], &["u", "v"]).constraints(&["rod"], &[])
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
        M[(1, 1)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[1] = S::from(-1.0);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0].square() + at.p[1].square() - 1.0;
    }
}

/// φ'' = −sin φ by a Runge–Kutta method with small steps: φ and φ' at the end.
fn angle(phi: f64, omega: f64, tend: f64) -> (f64, f64) {
    let n = 20_000;
    let h = tend / f64::from(n);
    let f = |(p, w): (f64, f64)| (w, -p.sin());
    let mut z = (phi, omega);
    for _ in 0..n {
        let k1 = f(z);
        let k2 = f((z.0 + 0.5 * h * k1.0, z.1 + 0.5 * h * k1.1));
        let k3 = f((z.0 + 0.5 * h * k2.0, z.1 + 0.5 * h * k2.1));
        let k4 = f((z.0 + h * k3.0, z.1 + h * k3.1));
        z.0 += h / 6.0 * (k1.0 + 2.0 * k2.0 + 2.0 * k3.0 + k4.0);
        z.1 += h / 6.0 * (k1.1 + 2.0 * k2.1 + 2.0 * k3.1 + k4.1);
    }
    z
}

#[test]
fn a_pendulum_goes_from_one_position_to_another() {
    // φ counted from hanging: from −0.5 to 0.9 in 1.2
    let (from, to, tend) = (-0.5_f64, 0.9_f64, 1.2);
    let s = pendulum();
    let problem = BoundaryProblem::new(
        &s,
        Initial::at(0.0).fix("x", from.sin()).guess("y", -from.cos()),
        Initial::at(tend).fix("x", to.sin()).guess("y", -to.cos()),
    );
    let found = solve_boundary(&problem, &options(1e-9)).unwrap();
    assert_eq!((found.account.degrees, found.account.needed), (2, 2));
    let start = found.solution.state(0);
    let omega = start[2] / from.cos();
    let (end, rate) = angle(from, omega, tend);
    assert!((end - to).abs() < 1e-7, "{end}");
    assert!((found.solution.end.x[2] - rate * to.cos()).abs() < 1e-7);
    assert!(found.solution.max_residuals.constraint.unwrap() < 1e-12);
    assert!(found.solution.max_residuals.hidden.unwrap() < 1e-10);

    // as a mechanism, with positions given twice as often as needed: they agree with the rod
    let problem = BoundaryProblem::new(
        &Mechanical,
        Initial::at(0.0).fix("x", from.sin()).fix("y", -from.cos()),
        Initial::at(tend).fix("x", to.sin()).fix("y", -to.cos()),
    );
    let motion = solve_boundary(&problem, &options(1e-9)).unwrap();
    assert_eq!((motion.account.needed, motion.account.conditions.len()), (2, 4));
    let (a, b) = (motion.solution.motion(0), start);
    assert!((a.v[0] - b[2]).abs() < 1e-8 && (a.v[1] - b[3]).abs() < 1e-8);
    // its own multiplier: half of λ above, since g is not divided by two
    assert!((2.0 * a.lambda[0] - b[4]).abs() < 1e-7, "{} {}", a.lambda[0], b[4]);
    // accelerations stand first in a state
    let whole = motion.solution.state(0);
    assert!((whole[0] + b[0] * b[4]).abs() < 1e-7 && (whole[1] + b[1] * b[4] + 1.0).abs() < 1e-7);
}

#[test]
fn optimal_control_of_a_scalar_equation() {
    // minimise ½ ∫ x² + u², x' = x + u, x(0) = 1: λ' = −x − λ, 0 = u + λ, λ(1) = 0; index one
    let s =
        system(&["x", "lambda", "u"], &[], |_, x, xd, _| vec![xd[0] - x[0] - x[2], xd[1] + x[0] + x[1], x[2] + x[1]]);
    let problem = BoundaryProblem::new(&s, Initial::at(0.0).fix("x", 1.0), Initial::at(1.0).fix("lambda", 0.0));
    let found = solve_boundary(&problem, &options(1e-10)).unwrap();
    // Riccati: λ = p x with p' = p² − 2 p − 1, p(1) = 0; with w = √2: p = 1 + w (1 − c e^{2wt})/(1 + c e^{2wt})…
    let w = 2.0_f64.sqrt();
    let p = |t: f64| (w * (1.0 - t)).sinh() / (w * (w * (1.0 - t)).cosh() - (w * (1.0 - t)).sinh());
    let x = |t: f64| {
        let q = |t: f64| w * (w * (1.0 - t)).cosh() - (w * (1.0 - t)).sinh();
        q(t) / q(0.0)
    };
    assert!(error(&found, "x", x) < 1e-9, "{}", error(&found, "x", x));
    assert!(error(&found, "lambda", |t| p(t) * x(t)) < 1e-9);
    assert!(error(&found, "u", |t| -p(t) * x(t)) < 1e-9);
}

#[test]
fn optimal_control_with_a_state_constraint_is_of_index_two() {
    // x₁' = x₂ + u, x₂' = −x₂, 0 = x₁ − x₂… the control follows from a constraint: minimise nothing, track
    // x' = u, 0 = x − z, z' = −z + w, w' = w with z(0) = 1, w(1) = 1: index two in u
    let s = system(&["x", "z", "w", "u"], &[], |_, x, xd, _| {
        vec![xd[0] - x[3], x[0] - x[1], xd[1] + x[1] - x[2], xd[2] - x[2]]
    });
    let problem = BoundaryProblem::new(&s, Initial::at(0.0).fix("z", 1.0), Initial::at(1.0).fix("w", 1.0));
    let found = solve_boundary(&problem, &options(1e-10)).unwrap();
    let w = |t: f64| (t - 1.0).exp();
    let c = 1.0 - 0.5 * (-1.0_f64).exp();
    let z = |t: f64| 0.5 * w(t) + c * (-t).exp();
    assert_eq!(found.account.degrees, 2);
    assert!(error(&found, "z", z) < 1e-9 && error(&found, "x", z) < 1e-9);
    assert!(error(&found, "u", |t| 0.5 * w(t) - c * (-t).exp()) < 1e-9);
}
