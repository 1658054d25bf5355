//! Drift from the constraints after index reduction: along the index-1 equations
//! g(t) = g₀ + (t − t₀) (G u)₀ and G u = (G u)₀, and errors of the method add up accordingly.
//! Hairer & Wanner, Solving ODEs II, (VII.2.6), theorem 2.1, figure 2.1 and exercise 1 of VII.2.

use super::mechanism::{Mechanism, Shipped, of_motion, split};
use super::observed::{euclidean_distance, exponent, observed_order};
use super::pendulum::{Pendulum, START, closed_form};
use daedal::formulation::{Formulated, Formulation};
use daedal::method::{ProjectedOnto, Steps};
use daedal::{DormandPrince, Initial, Options, Problem, RadauIIa, Save, Solution, Tolerance, solve};

/// |x² + y² − 1| and |x u + y v|.
fn residuals(x: &[f64]) -> [f64; 2] {
    let [g, w] = Pendulum.residuals(0.0, &of_motion(x));
    [2.0 * g, w]
}

/// The pendulum on [0, 100] by the explicit pair without projection.
fn unprojected(tolerance: f64, h: Option<f64>) -> Solution {
    let pendulum = Shipped(Pendulum);
    let steps = if h.is_some() { Steps::Fixed } else { Steps::Variable };
    let method = DormandPrince { steps, project: ProjectedOnto::Nothing, ..DormandPrince::default() };
    let tolerance = Tolerance::new(tolerance, tolerance);
    let options = Options { tolerance, h0: h, save: Save::Steps, ..Options::default() };
    let problem = Problem::new(&pendulum, Initial::default(), 100.0).trust(pendulum.trusted(0.0, &START));
    solve(&problem, &method, &options).unwrap()
}

/// T9: inconsistent data stay inconsistent, linearly in time.
#[test]
fn inconsistent_data_drift_by_the_law() {
    let pendulum = Shipped(Pendulum);
    let start = pendulum.trusted(0.0, &[1.01, 0.0, 0.02, 0.0]);
    let options = Options { tolerance: Tolerance::new(1e-12, 1e-12), ..Options::default() };
    let method = Formulated { formulation: Formulation::Eom0, integrator: RadauIIa::default() };
    let problem = Problem::new(&pendulum, Initial::default(), 2.0).trust(start);
    let (q, u) = split(&of_motion(&solve(&problem, &method, &options).unwrap().end.x));
    let (g, w) = (Pendulum.constraint(0.0, q), Pendulum.velocity_constraint(0.0, q, u));
    // g₀ = (1.01² − 1)/2 = 0.01005, (G u)₀ = 0.0202
    assert!((g - 0.05045).abs() < 1e-9, "{g}");
    assert!((w - 0.0202).abs() < 1e-9, "{w}");
}

/// Exponents of the growth of both residuals, and their largest values.
fn growth(solution: &Solution, from: f64) -> ([f64; 2], [f64; 2]) {
    let (mut points, mut largest) = ([Vec::new(), Vec::new()], [0.0_f64; 2]);
    for (k, &t) in solution.times.iter().enumerate().skip(1) {
        for (i, r) in residuals(solution.state(k)).into_iter().enumerate() {
            largest[i] = largest[i].max(r);
            if t > from {
                points[i].push((t, largest[i]));
            }
        }
    }
    (points.map(|points| exponent(&points)), largest)
}

/// T8: quadratic drift of the positions and linear drift of the velocities.
#[test]
fn dopri5_drifts_quadratically_in_positions_and_linearly_in_velocities() {
    let (exponents, largest) = growth(&unprojected(1e-6, None), 20.0);
    println!("{exponents:?} {largest:?}");
    assert!((exponents[0] - 2.0).abs() < 0.15 && (exponents[1] - 1.0).abs() < 0.15, "{exponents:?}");
    // with the whole tolerance in a step, as published: 7.8e-3 and 7.9e-5
    assert!(largest[0] < 7.8e-3 && largest[1] < 7.9e-5, "{largest:?}");
}

/// The same with the whole tolerance in a step, as published; the library allows a step a fifth of it.
#[test]
fn the_drift_of_dopri5_has_the_tabulated_sizes() {
    let solution = unprojected(5e-6, None);
    // 533 steps there
    assert!(solution.statistics.steps.abs_diff(533) < 53, "{}", solution.statistics);
    // residuals of another program with another step control, to a factor of two; errors, which oscillate, to a factor of three
    for (t, position, velocity, error) in [
        (10.0, 5.7e-5, 6.8e-6, 7.6e-5),
        (25.0, 4.4e-4, 1.9e-5, 7.4e-4),
        (50.0, 1.9e-3, 3.9e-5, 6.2e-3),
        (75.0, 4.3e-3, 6.0e-5, 1.1e-2),
        (100.0, 7.8e-3, 7.9e-5, 2.4e-2),
    ] {
        let mut largest = [0.0_f64; 2];
        for k in (0..solution.len()).filter(|&k| solution.times[k] <= t) {
            largest.iter_mut().zip(residuals(solution.state(k))).for_each(|(l, r)| *l = l.max(r));
        }
        let last = solution.times.iter().rposition(|time| *time <= t).unwrap();
        let off = euclidean_distance(&of_motion(solution.state(last)), &closed_form(solution.times[last]));
        println!("{t}: {largest:?}, error {off:e}, listed {error:e}");
        assert!((1.0 / 3.0..3.0).contains(&(off / error)), "{t}: {off:e}");
        assert!((0.5..2.0).contains(&(largest[0] / position)), "{t}: {largest:?}");
        assert!((0.5..2.0).contains(&(largest[1] / velocity)), "{t}: {largest:?}");
    }
}

/// Exercise 1 of VII.2, and theorem 2.1: the residuals are of the order of the method, with the sizes of the same formula.
#[test]
fn constant_steps_have_the_generic_growth() {
    let mut sizes = Vec::new();
    for (h, velocity, position) in [(0.2, 1.4e-4, 1.4e-2), (0.1, 1.5e-6, 1.4e-4)] {
        let (exponents, largest) = growth(&unprojected(1e-6, Some(h)), 20.0);
        assert!((exponents[0] - 2.0).abs() < 0.1 && (exponents[1] - 1.0).abs() < 0.1, "{exponents:?}");
        assert!((largest[0] / position - 1.0).abs() < 0.1, "{largest:?}");
        assert!((largest[1] / velocity - 1.0).abs() < 0.1, "{largest:?}");
        sizes.push(largest);
    }
    // the drift is better than the order, which theorem 2.1 promises
    assert!((0..2).all(|i| observed_order(sizes[0][i], sizes[1][i], 2.0) > 4.85));
}
