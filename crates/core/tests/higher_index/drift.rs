//! Drift from the constraints after index reduction: along the index-1 equations
//! g(t) = g₀ + (t − t₀) (G u)₀ and G u = (G u)₀, and errors of the method add up accordingly.
//! Hairer & Wanner, Solving ODEs II, (VII.2.6), theorem 2.1, figure 2.1 and exercise 1 of VII.2.

use super::dormand_prince::{self, DormandPrince};
use super::explicit::{adams_bashforth4, euclidean_distance, euler, exponent, observed_order, runge_kutta4};
use super::mechanism::{Mechanism, State, split};
use super::pendulum::{PERIOD, Pendulum, START, closed_form};

/// Right-hand side of the index-1 equations of the pendulum.
fn slope(t: f64, y: &State) -> State {
    Pendulum.slope(t, y)
}

/// |x² + y² − 1| and |x u + y v|.
fn residuals(y: &State) -> [f64; 2] {
    let [g, w] = Pendulum.residuals(0.0, y);
    [2.0 * g, w]
}

/// T9: inconsistent data stay inconsistent, linearly in time.
#[test]
fn inconsistent_data_drift_by_the_law() {
    let start = [1.01, 0.0, 0.02, 0.0];
    let (y, _) = DormandPrince::new(1e-12).integrate(slope, 0.0, start, 2.0, |_, _| {});
    let (q, u) = split(&y);
    let (g, w) = (Pendulum.constraint(0.0, q), Pendulum.velocity_constraint(0.0, q, u));
    // g₀ = (1.01² − 1)/2 = 0.01005, (G u)₀ = 0.0202
    assert!((g - 0.05045).abs() < 1e-9, "{g}");
    assert!((w - 0.0202).abs() < 1e-9, "{w}");
}

/// T8: quadratic drift of the positions and linear drift of the velocities, with the size that the experiment shows.
#[test]
fn dopri5_drifts_quadratically_in_positions_and_linearly_in_velocities() {
    let mut points = Vec::new();
    let (y, cost) = DormandPrince::new(1e-6).integrate(slope, 0.0, START, 100.0, |t, y| points.push((t, *y)));
    // 533 accepted and 29 rejected steps
    assert!((cost.accepted as f64 / 533.0 - 1.0).abs() < 0.01, "{cost:?}");
    assert!(cost.rejected.abs_diff(29) <= 3, "{cost:?}");
    for (t, position, velocity) in [
        (10.0, 5.7e-5, 6.8e-6),
        (25.0, 4.4e-4, 1.9e-5),
        (50.0, 1.9e-3, 3.9e-5),
        (75.0, 4.3e-3, 6.0e-5),
        (100.0, 7.8e-3, 7.9e-5),
    ] {
        let at = points.iter().find(|point| point.0 >= t).expect("a step after t");
        let [g, w] = residuals(&at.1);
        assert!((g / position - 1.0).abs() < 0.1 && (w / velocity - 1.0).abs() < 0.1, "t = {t}: {g:e} {w:e}");
    }
    for (which, expected) in [(0, 2.0), (1, 1.0)] {
        let late: Vec<_> = points.iter().filter(|p| p.0 > 20.0).map(|p| (p.0, residuals(&p.1)[which])).collect();
        let slope = exponent(&late);
        assert!((slope - expected).abs() < 0.15, "{slope} where {expected} was expected");
    }
    // the solution itself has lost more than the tolerance
    let error = euclidean_distance(&y, &closed_form(100.0));
    assert!((error / 2.4e-2 - 1.0).abs() < 0.1, "{error:e}");
}

/// T17: the explicit Euler method has w' = (1 − h²λ) w − h² v exactly, hence w = −h (y − y₀) + O(h²).
#[test]
fn the_drift_of_explicit_euler_telescopes() {
    let deviations = [0.01, 0.005, 0.0025].map(|h: f64| {
        let (mut y, mut deviation) = (START, 0.0_f64);
        for _ in 0..(20.0 / h).round() as usize {
            let w = y[0] * y[2] + y[1] * y[3];
            let lambda = Pendulum.accelerations(0.0, &y).1;
            let predicted = (1.0 - h * h * lambda) * w - h * h * y[3];
            y = euler(slope, 0.0, &y, h);
            let w = y[0] * y[2] + y[1] * y[3];
            assert!((w - predicted).abs() < 1e-14, "{w} {predicted}");
            deviation = deviation.max((w + h * (y[1] - START[1])).abs());
        }
        deviation / (h * h)
    });
    // the factor of h² settles
    assert!(deviations.iter().all(|d| (0.5..2.0).contains(&(d / deviations[2]))), "{deviations:?}");
}

/// How residuals grow: the largest ones, and the exponents of growth over the last 80 % of the time.
#[derive(Debug)]
struct Growth {
    position: f64,
    velocity: f64,
    exponents: [f64; 2],
}

/// Constant steps up to `end`; exponents are those of the largest residual so far, zero where it is bounded.
fn growth(end: f64, h: f64, mut step: impl FnMut(&State) -> State) -> Growth {
    let (mut y, mut largest) = (START, [0.0_f64; 2]);
    let mut points = [Vec::new(), Vec::new()];
    let n = (end / h).round() as usize;
    for k in 1..=n {
        y = step(&y);
        let r = residuals(&y);
        for i in 0..2 {
            largest[i] = largest[i].max(r[i]);
            if 5 * k > n {
                points[i].push((k as f64 * h, largest[i]));
            }
        }
    }
    Growth { position: largest[0], velocity: largest[1], exponents: [exponent(&points[0]), exponent(&points[1])] }
}

/// Asserts sizes within 10 %.
fn assert_sizes(growth: &Growth, position: f64, velocity: f64) {
    assert!((growth.position / position - 1.0).abs() < 0.1, "{growth:?}");
    assert!((growth.velocity / velocity - 1.0).abs() < 0.1, "{growth:?}");
}

/// Asserts exponents within 0.1.
fn assert_exponents(growth: &Growth, position: f64, velocity: f64) {
    let [p, v] = growth.exponents;
    assert!((p - position).abs() < 0.1 && (v - velocity).abs() < 0.1, "{growth:?}");
}

/// Exercise 1 of VII.2.
#[test]
fn explicit_euler_has_bounded_velocity_residuals() {
    for (h, velocity, position) in [(0.01, 1.0e-2, 0.35), (0.005, 5.0e-3, 0.175), (0.0025, 2.5e-3, 0.088)] {
        let growth = growth(20.0, h, |y| euler(slope, 0.0, y, h));
        assert_sizes(&growth, position, velocity);
        assert_exponents(&growth, 1.0, 0.0);
    }
}

/// Exercise 1 of VII.2: with constant steps the leading error telescopes in multistep methods, too. The linear drift of the
/// positions is of higher order than their oscillation, so it is read from averages over a period.
#[test]
fn adams_bashforth_has_bounded_velocity_residuals() {
    let mut trends = Vec::new();
    for (h, velocity, position) in [(0.1, 1.05e-3, 2.3e-2), (0.05, 6.2e-5, 7.4e-4), (0.025, 3.8e-6, 2.9e-5)] {
        // the exact motion is even in time in q and odd in u; the first of the four is dropped at once
        let mut past = std::array::from_fn(|i| {
            let [x, y, u, v] = closed_form((4 - i) as f64 * h);
            slope(0.0, &[x, y, -u, -v])
        });
        let mut positions = Vec::new();
        let growth = growth(100.0, h, |y| {
            past = [past[1], past[2], past[3], slope(0.0, y)];
            let new = adams_bashforth4(&past, y, h);
            positions.push(new[0] * new[0] + new[1] * new[1] - 1.0);
            new
        });
        assert_sizes(&growth, position, velocity);
        assert!(growth.exponents[1].abs() < 0.1, "{growth:?}");
        let average = |periods: f64| {
            let length = (PERIOD / h).round() as usize;
            let from = (periods * PERIOD / h).round() as usize;
            positions[from..from + length].iter().sum::<f64>() / length as f64
        };
        let [early, middle, late] = [2.0, 7.0, 12.0].map(average);
        let straightness = (late - middle) / (middle - early);
        assert!((straightness - 1.0).abs() < 0.2, "{straightness}");
        trends.push((late - early).abs());
    }
    let order = observed_order(trends[1], trends[2], 2.0);
    assert!((order - 5.0).abs() < 0.15, "{order}");
}

/// Exercise 1 of VII.2, and theorem 2.1: the residuals are of the order of the method.
#[test]
fn runge_kutta_methods_have_the_generic_growth() {
    let mut sizes = Vec::new();
    for (h, velocity, position) in [(0.1, 7.8e-4, 7.7e-2), (0.05, 4.8e-5, 4.8e-3)] {
        let growth = growth(100.0, h, |y| runge_kutta4(slope, 0.0, y, h));
        assert_sizes(&growth, position, velocity);
        assert_exponents(&growth, 2.0, 1.0);
        sizes.push([growth.position, growth.velocity]);
    }
    for i in 0..2 {
        let order = observed_order(sizes[0][i], sizes[1][i], 2.0);
        assert!((order - 4.0).abs() < 0.15, "{order}");
    }
    for (h, velocity, position) in [(0.2, 1.4e-4, 1.4e-2), (0.1, 1.5e-6, 1.4e-4)] {
        let growth = growth(100.0, h, |y| dormand_prince::step(slope, 0.0, y, h, slope(0.0, y)).0);
        assert_sizes(&growth, position, velocity);
        assert_exponents(&growth, 2.0, 1.0);
    }
}
