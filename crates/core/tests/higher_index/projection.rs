//! Projection onto the constraints after each step. Hairer & Wanner, Solving ODEs II, VII.2, (2.10), (2.11).
//!
//! ```text
//! positions:   M(q̃)(q − q̃) + G(q̃)ᵀ μ = 0,   g(q) = 0                    simplified Newton
//! velocities:  M(q)(u − ũ) + G(q)ᵀ μ = 0,   G(q) u + g_t = 0           linear
//! ```

use super::arm::{self, Arm};
use super::dormand_prince::DormandPrince;
use super::explicit::{distance, euclidean_distance, observed_order, runge_kutta4};
use super::mechanism::{Mechanism, State, split};
use super::pendulum::{self, Pendulum};
use super::steering;
use daedal::linalg::Lu;

/// The nearest position on the constraint in the metric of the mass matrix.
pub fn project_position(mechanism: &(impl Mechanism + ?Sized), t: f64, y: &mut State) {
    let (start, _) = split(y);
    let K = mechanism.saddle_matrix(t, start);
    for _ in 0..10 {
        let (q, _) = split(y);
        let change = position_change(mechanism, &K, t, start, q);
        y[0] += change[0];
        y[1] += change[1];
        if change[0].abs().max(change[1].abs()) < 1e-15 {
            return;
        }
    }
}

/// One simplified Newton step, K (Δ; μ) = (−M(q̃)(q − q̃); −g(q)), with the matrix K of the starting point q̃.
fn position_change(
    mechanism: &(impl Mechanism + ?Sized),
    K: &Lu<f64>,
    t: f64,
    start: [f64; 2],
    q: [f64; 2],
) -> [f64; 2] {
    let M = mechanism.mass(start);
    let d = [q[0] - start[0], q[1] - start[1]];
    let row = |i: usize| -M[i][0] * d[0] - M[i][1] * d[1];
    let mut b = [row(0), row(1), -mechanism.constraint(t, q)];
    K.solve(&mut b);
    [b[0], b[1]]
}

/// The nearest velocity on the velocity constraint in the metric of the mass matrix, at a position that stays.
pub fn project_velocity(mechanism: &(impl Mechanism + ?Sized), t: f64, y: &mut State) {
    let (q, u) = split(y);
    let mut b = [0.0, 0.0, -mechanism.velocity_constraint(t, q, u)];
    mechanism.saddle_matrix(t, q).solve(&mut b);
    y[2] += b[0];
    y[3] += b[1];
}

/// A point with its residuals after 100 units of time, and the largest errors on the way.
struct Outcome {
    /// Largest error up to t = 10, 25, 50, 100.
    errors: [f64; 4],
    /// x² + y² − 1 and x u + y v at the end.
    residuals: [f64; 2],
}

/// The experiment of figure VII.2.2: DOPRI5 with the tolerance 1e-6 and something done after each step.
fn experiment(projection: impl Fn(&mut State)) -> Outcome {
    let mut errors = [0.0_f64; 4];
    let accept = |t: f64, y: &mut State| {
        projection(y);
        let exact = pendulum::closed_form(t);
        let error = euclidean_distance(y, &exact);
        for (largest, until) in errors.iter_mut().zip([10.0, 25.0, 50.0, 100.0]) {
            if t <= until {
                *largest = largest.max(error);
            }
        }
    };
    let (y, _) = DormandPrince::new(1e-6).integrate(|t, y| Pendulum.slope(t, y), 0.0, pendulum::START, 100.0, accept);
    let [g, w] = Pendulum.residuals(100.0, &y);
    Outcome { errors, residuals: [2.0 * g, w] }
}

/// T11: projecting positions only does not help, projecting velocities only is almost as good as projecting both.
#[test]
fn velocities_are_what_has_to_be_projected() {
    let none = experiment(|_| {});
    let position = experiment(|y| project_position(&Pendulum, 0.0, y));
    let velocity = experiment(|y| project_velocity(&Pendulum, 0.0, y));
    let both = experiment(|y| {
        project_position(&Pendulum, 0.0, y);
        project_velocity(&Pendulum, 0.0, y);
    });
    let published = [
        [7.6e-5, 7.7e-4, 5.7e-3, 5.3e-2],
        [5.3e-5, 9.3e-4, 8.4e-3, 6.4e-2],
        [2.3e-5, 1.7e-4, 7.2e-4, 2.8e-3],
        [2.2e-5, 1.6e-4, 6.8e-4, 2.7e-3],
    ];
    for (outcome, published) in [&none, &position, &velocity, &both].into_iter().zip(published) {
        for (error, published) in outcome.errors.into_iter().zip(published) {
            assert!((error / published - 1.0).abs() < 0.1, "{error:e} where {published:e} was measured");
        }
    }
    assert!(position.errors[3] > none.errors[3]);
    assert!((velocity.errors[3] / both.errors[3] - 1.0).abs() < 0.1);
    assert!(velocity.errors[3] < 0.1 * none.errors[3] && both.errors[3] < 0.1 * none.errors[3]);
    // residuals: what is projected vanishes; without velocity errors the position residual stays small
    assert!(position.residuals[0] < 1e-14 && (position.residuals[1] / 7.9e-5 - 1.0).abs() < 0.1);
    assert!(velocity.residuals[1] < 1e-14 && (velocity.residuals[0] / 1.5e-5 - 1.0).abs() < 0.1);
    assert!(both.residuals[0] < 1e-14 && both.residuals[1] < 1e-14);
}

/// T12, index 2: the control problem with the Runge-Kutta method of order 4.
#[test]
fn projection_keeps_the_order_in_index_two() {
    let angle = steering::angle_at(-0.5, 0.4);
    let exact = [angle.cos(), angle.sin()];
    let z = steering::control(&exact);
    for projected in [false, true] {
        let runs = [10, 20, 40, 80].map(|n| {
            let h = 0.4 / f64::from(n);
            let mut y = [(-0.5_f64).cos(), (-0.5_f64).sin()];
            for _ in 0..n {
                y = runge_kutta4(|_, y| steering::slope(y), 0.0, &y, h);
                if projected {
                    steering::project(&mut y);
                }
            }
            (distance(&y, &exact), (steering::control(&y) - z).abs(), steering::constraint(&y).abs())
        });
        for pair in runs.windows(2) {
            let orders = [observed_order(pair[0].0, pair[1].0, 2.0), observed_order(pair[0].1, pair[1].1, 2.0)];
            assert!(orders.iter().all(|order| (order - 4.0).abs() < 0.15), "projected {projected}: {orders:?}");
            if !projected {
                // the residual is itself of the order of the method
                let drift = observed_order(pair[0].2, pair[1].2, 2.0);
                assert!((drift - 4.0).abs() < 0.3, "{drift}");
            }
        }
        if projected {
            assert!(runs.iter().all(|run| run.2 < 1e-14));
        } else {
            assert!((runs[3].2 / 3.2e-10 - 1.0).abs() < 0.1, "{:e}", runs[3].2);
        }
    }
}

/// T12, mechanics: the Runge-Kutta method of order 4 with both projections.
#[test]
fn projection_keeps_the_order_in_mechanics() {
    let errors = [10, 20, 40, 80].map(|n| {
        let h = 1.0 / f64::from(n);
        let mut y = arm::START;
        for k in 0..n {
            let t = f64::from(k) * h;
            y = runge_kutta4(|t, y| Arm.slope(t, y), t, &y, h);
            project_position(&Arm, t + h, &mut y);
            project_velocity(&Arm, t + h, &mut y);
            let [g, w] = Arm.residuals(t + h, &y);
            assert!(g < 1e-14 && w < 1e-14);
        }
        let (exact, lambda) = arm::AT_ONE;
        [distance(&y, &exact), (Arm.accelerations(1.0, &y).1 - lambda).abs()]
    });
    for pair in errors[1..].windows(2) {
        for i in 0..2 {
            let order = observed_order(pair[0][i], pair[1][i], 2.0);
            assert!((order - 4.0).abs() < 0.15, "{order}");
        }
    }
}

/// The projection is orthogonal in the metric of the mass matrix: it does not depend on the coordinates.
#[test]
fn projection_does_not_depend_on_affine_coordinates() {
    use daedal::scalar::Scalar;

    /// The arm in coordinates s with q₁ = 2 s₁ + s₂, q₂ = s₂ − s₁ + 1.
    struct Transformed;
    fn back<S: Scalar>(s: [S; 2], one: f64) -> [S; 2] {
        [s[0] * 2.0 + s[1], s[1] - s[0] + one]
    }
    impl Mechanism for Transformed {
        fn mass<S: Scalar>(&self, s: [S; 2]) -> [[S; 2]; 2] {
            // Tᵀ M T
            let M = Arm.mass(back(s, 1.0));
            let columns = [[2.0, -1.0], [1.0, 1.0]];
            columns.map(|a| {
                columns.map(|b| {
                    let row = |i: usize| M[i][0] * b[0] + M[i][1] * b[1];
                    row(0) * a[0] + row(1) * a[1]
                })
            })
        }
        fn force<S: Scalar>(&self, t: S, s: [S; 2], u: [S; 2]) -> [S; 2] {
            let f = Arm.force(t, back(s, 1.0), back(u, 0.0));
            [f[0] * 2.0 - f[1], f[0] + f[1]]
        }
        fn constraint<S: Scalar>(&self, t: S, s: [S; 2]) -> S {
            Arm.constraint(t, back(s, 1.0))
        }
    }
    let mut s: State = [0.3, -0.4, 0.2, 0.1];
    let (q, u) = (back([s[0], s[1]], 1.0), back([s[2], s[3]], 0.0));
    let mut y = [q[0], q[1], u[0], u[1]];
    project_position(&Arm, 0.3, &mut y);
    project_velocity(&Arm, 0.3, &mut y);
    project_position(&Transformed, 0.3, &mut s);
    project_velocity(&Transformed, 0.3, &mut s);
    let (q, u) = (back([s[0], s[1]], 1.0), back([s[2], s[3]], 0.0));
    assert!(distance(&y, &[q[0], q[1], u[0], u[1]]) < 1e-13);
    assert!((Arm.accelerations(0.3, &y).1 - Transformed.accelerations(0.3, &s).1).abs() < 1e-12);
}

/// Simplified Newton converges linearly, with a rate proportional to the distance of the start.
#[test]
fn the_projection_contracts_in_proportion_to_the_distance() {
    let rate = |distance: f64| {
        let start = [arm::START[0] + distance, arm::START[1] + distance];
        let K = Arm.saddle_matrix(0.0, start);
        let (mut q, mut sizes) = (start, Vec::new());
        for _ in 0..3 {
            let change = position_change(&Arm, &K, 0.0, start, q);
            q = [q[0] + change[0], q[1] + change[1]];
            sizes.push(change[0].hypot(change[1]));
        }
        sizes[2] / sizes[1]
    };
    let [far, near] = [0.02, 0.01].map(rate);
    assert!(far < 0.1, "{far}");
    assert!((far / near - 2.0).abs() < 0.1, "{far} {near}");
}
