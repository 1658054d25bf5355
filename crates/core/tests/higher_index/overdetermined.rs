//! BDF methods on the overdetermined equations: all constraints hold exactly, the differential equations are relaxed by
//! multipliers μ and η of the size of the local error. Führer & Leimkuhler (1991); Hairer & Wanner, Solving ODEs II, (VII.2.27).
//!
//! ```text
//! M (q − q̂ − hγ u) + hγ (Gᵀ μ + (∂_q(G u))ᵀ η) = 0          g = 0,   G u + g_t = 0
//! M (u − û) − hγ (f − Gᵀ λ) + hγ Gᵀ η = 0                   Γ + G M⁻¹(f − Gᵀ λ) = 0
//! ```

use super::arm::{self, Arm};
use super::explicit::{distance, observed_order};
use super::mechanism::{Mechanism, State, split};
use super::pendulum::{self, Pendulum};
use daedal::linalg::Lu;
use daedal::scalar::{Dual, Scalar};
use std::array::from_fn;

/// γ and the weights of the past values, the latest first: x̂ = Σ wᵢ x_{n−i}, x' ≈ (x − x̂)/(hγ).
const BDF: [(f64, [f64; 5]); 5] = [
    (1.0, [1.0, 0.0, 0.0, 0.0, 0.0]),
    (2.0 / 3.0, [4.0 / 3.0, -1.0 / 3.0, 0.0, 0.0, 0.0]),
    (6.0 / 11.0, [18.0 / 11.0, -9.0 / 11.0, 2.0 / 11.0, 0.0, 0.0]),
    (12.0 / 25.0, [48.0 / 25.0, -36.0 / 25.0, 16.0 / 25.0, -3.0 / 25.0, 0.0]),
    (60.0 / 137.0, [300.0 / 137.0, -300.0 / 137.0, 200.0 / 137.0, -75.0 / 137.0, 12.0 / 137.0]),
];

/// What is kept of the constraints.
#[derive(Clone, Copy, Debug)]
enum Constraints {
    /// Positions, velocities and accelerations.
    All,
    /// Positions and velocities, with η = 0: the equations of Gear, Gupta and Leimkuhler.
    WithoutAcceleration,
}

/// Rows of the step at x = (q, u, λ, μ, η); `past` is (q̂, û) and `gamma` is hγ.
fn rows<S: Scalar>(
    mechanism: &impl Mechanism,
    constraints: Constraints,
    t: f64,
    gamma: f64,
    past: &State,
    x: &[S; 7],
) -> [S; 7] {
    let &[q0, q1, u0, u1, lambda, mu, eta] = x;
    let (q, u, time) = ([q0, q1], [u0, u1], S::from(t));
    let (M, G) = (mechanism.mass(q), mechanism.gradient(time, q));
    let f = mechanism.force(time, q, u);
    // ∂_q (G u + g_t)
    let velocity = mechanism.velocity_constraint(
        Dual::constant(time),
        from_fn(|i| Dual::<S, 2>::variable(q[i], i)),
        u.map(Dual::constant),
    );
    let dq: [S; 2] = from_fn(|i| q[i] - past[i] - u[i] * gamma);
    let du: [S; 2] = from_fn(|i| u[i] - past[2 + i]);
    let force: [S; 2] = from_fn(|i| f[i] - G[i] * lambda);
    let kinematic = |i: usize| M[i][0] * dq[0] + M[i][1] * dq[1] + (G[i] * mu + velocity.lanes[i] * eta) * gamma;
    let dynamic = |i: usize| M[i][0] * du[0] + M[i][1] * du[1] - (force[i] - G[i] * eta) * gamma;
    let det = M[0][0] * M[1][1] - M[0][1] * M[1][0];
    let a = [(M[1][1] * force[0] - M[0][1] * force[1]) / det, (M[0][0] * force[1] - M[1][0] * force[0]) / det];
    let last = match constraints {
        Constraints::All => mechanism.curvature(time, q, u) + G[0] * a[0] + G[1] * a[1],
        Constraints::WithoutAcceleration => eta,
    };
    [kinematic(0), kinematic(1), dynamic(0), dynamic(1), mechanism.constraint(time, q), velocity.value, last]
}

/// One step by Newton's method from the guess x.
fn step(mechanism: &impl Mechanism, constraints: Constraints, t: f64, gamma: f64, past: &State, x: &mut [f64; 7]) {
    for _ in 0..12 {
        let variables = from_fn(|i| Dual::<f64, 7>::variable(x[i], i));
        let r = rows(mechanism, constraints, t, gamma, past, &variables);
        let mut jacobian = Lu::new(7);
        for i in 0..7 {
            for j in 0..7 {
                jacobian.A[(i, j)] = r[i].lanes[j];
            }
        }
        jacobian.factor().expect("a regular system for small steps");
        let mut change: [f64; 7] = from_fn(|i| -r[i].value);
        jacobian.solve(&mut change);
        for i in 0..7 {
            x[i] += change[i];
        }
        if change[..4].iter().all(|c| c.abs() < 1e-14) {
            return;
        }
    }
    panic!("Newton's method did not converge at t = {t}");
}

/// What n steps with exact starting values give on [0, 1].
#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// Largest errors of q, u, λ.
    errors: [f64; 3],
    /// Largest |μ| and |η|.
    multipliers: f64,
    /// Largest residual of positions and velocities, and of accelerations.
    residuals: [f64; 2],
}

/// BDF of order k with n steps over [0, 1].
fn integrate(mechanism: &impl Mechanism, constraints: Constraints, start: &State, k: usize, n: u32) -> Outcome {
    let h = 1.0 / f64::from(n);
    let (gamma, weights) = BDF[k - 1];
    // the latest first
    let mut past: Vec<State> = (0..k).rev().map(|i| mechanism.reference(0.0, start, i as f64 * h)).collect();
    let mut exact = past[0];
    let mut outcome = Outcome { errors: [0.0; 3], multipliers: 0.0, residuals: [0.0; 2] };
    let mut multiplier = mechanism.accelerations((k - 1) as f64 * h, &past[0]).1;
    for step_number in k as u32..=n {
        let t = f64::from(step_number) * h;
        let combined = from_fn(|l| (0..k).map(|i| weights[i] * past[i][l]).sum());
        let [q0, q1, u0, u1] = past[0];
        let mut x = [q0, q1, u0, u1, multiplier, 0.0, 0.0];
        step(mechanism, constraints, t, h * gamma, &combined, &mut x);
        multiplier = x[4];
        let y = [x[0], x[1], x[2], x[3]];
        past.rotate_right(1);
        past[0] = y;
        outcome.multipliers = outcome.multipliers.max(x[5].abs()).max(x[6].abs());
        let [g, w] = mechanism.residuals(t, &y);
        outcome.residuals[0] = outcome.residuals[0].max(g).max(w);
        // λ is the one of the acceleration constraint
        outcome.residuals[1] = outcome.residuals[1].max((mechanism.accelerations(t, &y).1 - multiplier).abs());
        exact = mechanism.reference(t - h, &exact, t);
        let (q, u) = split(&y);
        let (exact_q, exact_u) = split(&exact);
        let lambda = mechanism.accelerations(t, &exact).1;
        let errors = [distance(&q, &exact_q), distance(&u, &exact_u), (multiplier - lambda).abs()];
        outcome.errors = from_fn(|i| outcome.errors[i].max(errors[i]));
    }
    outcome
}

/// Runs every order with 40 and 160 steps and asserts order k in q, u and λ and constraints to rounding.
fn assert_orders(mechanism: &impl Mechanism, constraints: Constraints, start: &State) {
    for k in 1..=5 {
        let [coarse, fine] = [40, 160].map(|n| integrate(mechanism, constraints, start, k, n));
        for i in 0..3 {
            let order = observed_order(coarse.errors[i], fine.errors[i], 4.0);
            assert!((order - k as f64).abs() < 0.4, "k = {k}, component {i}: {order}, {coarse:?}, {fine:?}");
        }
        assert!(coarse.residuals[0].max(fine.residuals[0]) < 1e-13, "{coarse:?} {fine:?}");
        if matches!(constraints, Constraints::All) {
            assert!(coarse.residuals[1].max(fine.residuals[1]) < 1e-12, "{coarse:?} {fine:?}");
        }
        assert!(fine.multipliers < coarse.multipliers, "{coarse:?} {fine:?}");
    }
}

/// T15.
#[test]
fn overdetermined_bdf_has_its_order_on_the_pendulum() {
    assert_orders(&Pendulum, Constraints::All, &pendulum::MOVING);
}

/// T15.
#[test]
fn overdetermined_bdf_has_its_order_on_the_arm() {
    assert_orders(&Arm, Constraints::All, &arm::START);
}

/// T15: without the acceleration constraint the second multiplier is not needed.
#[test]
fn bdf_without_the_acceleration_constraint_has_its_order() {
    assert_orders(&Pendulum, Constraints::WithoutAcceleration, &pendulum::MOVING);
    assert_orders(&Arm, Constraints::WithoutAcceleration, &arm::START);
}

/// T15: μ and η measure the local error.
#[test]
fn multipliers_are_of_the_size_of_the_local_error() {
    let outcome = integrate(&Pendulum, Constraints::All, &pendulum::MOVING, 5, 80);
    assert!(outcome.multipliers < 1e-8 && outcome.multipliers > 1e-11, "{outcome:?}");
    // hγ μ ~ h^(k+1): μ has the order k
    let [coarse, fine] = [40, 80].map(|n| integrate(&Pendulum, Constraints::All, &pendulum::MOVING, 2, n).multipliers);
    assert!((observed_order(coarse, fine, 2.0) - 2.0).abs() < 0.4, "{coarse:e} {fine:e}");
}
