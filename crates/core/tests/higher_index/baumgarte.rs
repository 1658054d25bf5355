//! Stabilisation by 0 = g'' + 2α g' + β² g. With α = β exactly g(t) = (g₀ + (g'₀ + α g₀) t) e^(−αt).
//! Baumgarte (1972); Hairer & Wanner, Solving ODEs II, (VII.2.7).

use super::arm::Arm;
use super::mechanism::{Mechanism, Shipped, State, of_motion, split};
use super::pendulum::Pendulum;
use daedal::formulation::{Baumgarte, Formulated, Formulation};
use daedal::motion::EquationsOfMotion;
use daedal::{Initial, Options, Problem, RadauIIa, Tolerance, solve};

/// g at `end` along the stabilised equations with α = β.
fn residual_at<M: Mechanism>(mechanism: M, alpha: f64, start: State, end: f64) -> f64
where
    Shipped<M>: EquationsOfMotion,
{
    let shipped = Shipped(mechanism);
    let formulation = Formulation::Baumgarte(Baumgarte { alpha, beta: alpha, delta: alpha });
    let method = Formulated { formulation, integrator: RadauIIa::default() };
    let options = Options { tolerance: Tolerance::new(1e-12, 1e-12), ..Options::default() };
    let problem = Problem::new(&shipped, Initial::default(), end).trust(shipped.trusted(0.0, &start));
    let y = of_motion(&solve(&problem, &method, &options).unwrap().end.x);
    shipped.0.constraint(end, split(&y).0)
}

/// T10.
#[test]
fn residuals_decay_by_the_law_of_critical_damping() {
    let g = residual_at(Pendulum, 3.0, [1.01, 0.0, 0.02, 0.0], 1.0);
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
    let computed = residual_at(Arm, 2.0, start, 1.5);
    assert!((computed - expected).abs() < 1e-9, "{computed} {expected}");
}
