//! Stabilisation by 0 = g'' + 2α g' + β² g. With α = β exactly g(t) = (g₀ + (g'₀ + α g₀) t) e^(−αt); the price of large α is a
//! stiff equation. Baumgarte (1972); Hairer & Wanner, Solving ODEs II, (VII.2.7).

use super::arm::Arm;
use super::dormand_prince::{Cost, DormandPrince};
use super::mechanism::{Mechanism, State, split};
use super::pendulum::{Pendulum, START};

/// Right-hand side with α = β.
fn stabilised(mechanism: &impl Mechanism, alpha: f64, t: f64, y: &State) -> State {
    let (a, _) = mechanism.stabilised_accelerations(t, y, alpha, alpha);
    [y[2], y[3], a[0], a[1]]
}

/// g at `end` along the stabilised equations.
fn residual_at(mechanism: &impl Mechanism, alpha: f64, start: State, end: f64) -> f64 {
    let method = DormandPrince::new(1e-12);
    let (y, _) = method.integrate(|t, y| stabilised(mechanism, alpha, t, y), 0.0, start, end, |_, _| {});
    mechanism.constraint(end, split(&y).0)
}

/// T10.
#[test]
fn residuals_decay_by_the_law_of_critical_damping() {
    let g = residual_at(&Pendulum, 3.0, [1.01, 0.0, 0.02, 0.0], 1.0);
    assert!((g - 0.00300713892942).abs() < 1e-9, "{g}");
    assert!((g - (0.01005 + (0.0202 + 3.0 * 0.01005)) * (-3.0_f64).exp()).abs() < 1e-9);
}

/// T10, a constraint that depends on time: the terms with g_t, g_qt, g_tt are there.
#[test]
fn moving_constraints_decay_by_the_same_law() {
    let start = [0.2, 0.3, 0.5, 0.0];
    let (q, u) = split(&start);
    let (g, rate) = (Arm.constraint(0.0, q), Arm.velocity_constraint(0.0, q, u));
    let expected = (g + (rate + 2.0 * g) * 1.5) * (-3.0_f64).exp();
    let computed = residual_at(&Arm, 2.0, start, 1.5);
    assert!((computed - expected).abs() < 1e-9, "{computed} {expected}");
}

/// The table of costs and residuals over [0, 100] with the tolerance 1e-6 and the elementary controller.
#[test]
fn strong_stabilisation_costs_evaluations() {
    let table = [
        (0.0, 3536, 4.3e-3, 8.4e-5),
        (1.0, 3626, 3.1e-6, 2.7e-6),
        (5.0, 8816, 2.1e-7, 1.1e-6),
        (20.0, 26384, 5.4e-8, 1.2e-6),
        (100.0, 96362, 1.7e-8, 2.1e-6),
        (500.0, 357086, 4.0e-9, 2.2e-6),
    ];
    let mut costs: Vec<Cost> = Vec::new();
    for (alpha, evaluations, position, velocity) in table {
        let mut largest = [0.0_f64; 2];
        let method = DormandPrince { tolerance: 1e-6, beta: 0.0 };
        let accept = |t: f64, y: &mut State| {
            let [g, w] = Pendulum.residuals(t, y);
            largest = [largest[0].max(g), largest[1].max(w)];
        };
        let (_, cost) = method.integrate(|t, y| stabilised(&Pendulum, alpha, t, y), 0.0, START, 100.0, accept);
        assert!((cost.evaluations as f64 / f64::from(evaluations) - 1.0).abs() < 0.01, "α = {alpha}: {cost:?}");
        assert!((largest[0] / position - 1.0).abs() < 0.05, "α = {alpha}: {largest:?}");
        assert!((largest[1] / velocity - 1.0).abs() < 0.05, "α = {alpha}: {largest:?}");
        costs.push(cost);
    }
    assert!(costs.windows(2).all(|pair| pair[0].evaluations < pair[1].evaluations));
}
