//! Ordinary differential equations with conditions at both ends.

use crate::{error, options, system};
use daedal::scalar::Scalar;
use daedal::{BoundaryProblem, EndCondition, Initial, Save, solve_boundary};

#[test]
fn what_grows_in_both_directions_is_found() {
    // y'' = λ² y, y(0) = 1, y(1) = 2 for λ = 50, where a single shot is off by exp(50)
    let lambda = 50.0_f64;
    let s = system(&["y", "v"], &[], |_, x, xd, _| vec![xd[0] - x[1], xd[1] - x[0] * (lambda * lambda)]);
    let problem = BoundaryProblem::new(&s, Initial::at(0.0).fix("y", 1.0), Initial::at(1.0).fix("y", 2.0));
    let exact = |t: f64| ((lambda * (1.0 - t)).sinh() + 2.0 * (lambda * t).sinh()) / lambda.sinh();
    for tolerance in [1e-4, 1e-7, 1e-10] {
        let found = solve_boundary(&problem, &options(tolerance)).unwrap();
        let off = error(&found, "y", exact);
        assert!(off < tolerance, "{tolerance}: {off}");
        assert_eq!((found.account.needed, found.account.conditions.len()), (2, 2));
    }
}

#[test]
fn the_error_between_the_nodes_meets_the_tolerance_as_well() {
    // y'' = −y, y(0) = 0, y(1) = 1
    let s = system(&["y", "v"], &[], |_, x, xd, _| vec![xd[0] - x[1], xd[1] + x[0]]);
    let problem = BoundaryProblem::new(&s, Initial::at(0.0).fix("y", 0.0), Initial::at(1.0).fix("y", 1.0));
    for tolerance in [1e-3, 1e-6, 1e-9, 1e-12] {
        let found = solve_boundary(&problem, &daedal::Options { save: Save::Dense, ..options(tolerance) }).unwrap();
        let mut x = vec![0.0; 2];
        for k in 0..=1000 {
            let t = f64::from(k) / 1000.0;
            found.solution.eval(t, &mut x).unwrap();
            assert!((x[0] - t.sin() / 1.0_f64.sin()).abs() < tolerance, "{tolerance}: t = {t}");
            assert!((x[1] - t.cos() / 1.0_f64.sin()).abs() < tolerance, "{tolerance}: t = {t}");
        }
    }
}

#[test]
fn a_boundary_layer_gets_its_intervals() {
    // ε y'' + y' + y = 0, y(0) = 0, y(1) = 1
    let eps = 1e-3_f64;
    let s = system(&["y", "v"], &[], |_, x, xd, _| vec![xd[0] - x[1], xd[1] * eps + x[1] + x[0]]);
    let problem = BoundaryProblem::new(&s, Initial::at(0.0).fix("y", 0.0), Initial::at(1.0).fix("y", 1.0));
    let root = (1.0 - 4.0 * eps).sqrt();
    let (a, b) = ((-1.0 + root) / (2.0 * eps), (-1.0 - root) / (2.0 * eps));
    let exact = |t: f64| ((a * t).exp() - (b * t).exp()) / (a.exp() - b.exp());
    let found = solve_boundary(&problem, &options(1e-8)).unwrap();
    assert!(error(&found, "y", exact) < 1e-8);
    let times = &found.solution.times;
    assert!(times[1] - times[0] < 0.01 * (times[times.len() - 1] - times[times.len() - 2]), "{times:?}");
}

/// θ = √(2λ) cosh(θ/4), near a value.
fn bratu(lambda: f64, mut theta: f64) -> f64 {
    for _ in 0..100 {
        let f = theta - (2.0 * lambda).sqrt() * (theta / 4.0).cosh();
        theta -= f / (1.0 - 0.25 * (2.0 * lambda).sqrt() * (theta / 4.0).sinh());
    }
    theta
}

#[test]
fn both_branches_of_bratus_problem_are_found() {
    let s = system(&["y", "v"], &[("lambda", 1.0)], |_, x, xd, p| vec![xd[0] - x[1], xd[1] + p[0] * x[0].exp()]);
    for (top, near) in [(0.1, 1.5), (4.0, 11.0)] {
        let theta = bratu(1.0, near);
        let problem = BoundaryProblem::new(&s, Initial::at(0.0).fix("y", 0.0), Initial::at(1.0).fix("y", 0.0))
            .near("y", move |t| 4.0 * top * t * (1.0 - t))
            .near("v", move |t| 4.0 * top * (1.0 - 2.0 * t));
        let exact = |t: f64| -2.0 * (((t - 0.5) * theta / 2.0).cosh() / (theta / 4.0).cosh()).ln();
        let found = solve_boundary(&problem, &options(1e-9)).unwrap();
        let off = error(&found, "y", exact);
        assert!(off < 1e-8, "{near}: {off}");
        assert_eq!(found.account.guess, "the curves that are given");
    }
}

#[test]
fn an_eigenvalue_is_a_parameter_that_is_found() {
    // y'' + k y = 0, y(0) = y(1) = 0, y'(0) = 1: k = π²
    let s = system(&["y", "v"], &[("k", 8.0)], |_, x, xd, p| vec![xd[0] - x[1], xd[1] + p[0] * x[0]]);
    let problem = BoundaryProblem::new(
        &s,
        Initial::at(0.0).fix("y", 0.0).fix("v", 1.0),
        Initial::at(1.0).fix("y", 0.0).guess("v", -1.0),
    )
    .find("k")
    .near("y", |t| t * (1.0 - t));
    let found = solve_boundary(&problem, &options(1e-9)).unwrap();
    let [(name, k)] = &found.account.found[..] else { panic!("{:?}", found.account) };
    assert_eq!((name.as_str(), found.account.degrees, found.account.needed), ("k", 3, 3));
    assert!((k - std::f64::consts::PI.powi(2)).abs() < 1e-8, "{k}");
}

#[test]
fn the_end_time_is_found() {
    // a body falls from height 1 to the ground in √(2/g)
    let s = system(&["y", "v"], &[("g", 9.81)], |_, x, xd, p| vec![xd[0] - x[1], xd[1] + p[0]]);
    let problem =
        BoundaryProblem::new(&s, Initial::at(0.0).fix("y", 1.0).fix("v", 0.0), Initial::at(0.3).fix("y", 0.0))
            .free_end();
    let found = solve_boundary(&problem, &options(1e-10)).unwrap();
    let exact = (2.0_f64 / 9.81).sqrt();
    assert!((found.account.end.unwrap() - exact).abs() < 1e-10);
    assert_eq!(found.account.needed, 3);
    assert_eq!(found.solution.end.t, found.account.end.unwrap());
}

#[test]
fn conditions_couple_both_ends() {
    // x' = −x + 1 with x(1) = 2 x(0) − 1: x = 1 + c exp(−t), 1 + c/e = 1 + 2c − …
    let s = system(&["x"], &[], |_, x, xd, _| vec![xd[0] + x[0] - 1.0]);
    let problem = BoundaryProblem::new(&s, Initial::at(0.0), Initial::at(1.0)).condition(EndCondition::new(
        "end",
        &["x"],
        |first, last| last[0] - first[0] * 2.0,
    ));
    let found = solve_boundary(&problem, &options(1e-9)).unwrap();
    // 1 + c/e = 2 + 2c
    let c = 1.0 / ((-1.0_f64).exp() - 2.0);
    assert!(error(&found, "x", |t| 1.0 + c * (-t).exp()) < 1e-9);
    assert!(found.account.conditions[0].residual.abs() < 1e-10);
}

#[test]
fn a_run_backward_in_time_gives_the_same_solution() {
    let s = system(&["y", "v"], &[], |t, x, xd, _| vec![xd[0] - x[1], xd[1] + x[0] - t]);
    let there = BoundaryProblem::new(&s, Initial::at(0.0).fix("y", 0.0), Initial::at(2.0).fix("v", 1.0));
    let back = BoundaryProblem::new(&s, Initial::at(2.0).fix("v", 1.0), Initial::at(0.0).fix("y", 0.0));
    // y = t + c sin t with 1 + c cos 2 = 1
    for problem in [there, back] {
        let found = solve_boundary(&problem, &options(1e-9)).unwrap();
        assert!(error(&found, "y", |t| t) < 1e-9);
    }
}

#[test]
fn errors_fall_with_the_tolerance() {
    // y'' = −9 y + exp(t), y(0) = 1, y(2) = 0: the largest error at each tolerance
    let s = system(&["y", "v"], &[], |t, x, xd, _| vec![xd[0] - x[1], xd[1] + x[0] * 9.0 - t.exp()]);
    let problem = BoundaryProblem::new(&s, Initial::at(0.0).fix("y", 1.0), Initial::at(2.0).fix("y", 0.0));
    let a = 0.9;
    let b = (-(2.0_f64.exp()) / 10.0 - a * 6.0_f64.cos()) / 6.0_f64.sin();
    let exact = |t: f64| a * (3.0 * t).cos() + b * (3.0 * t).sin() + t.exp() / 10.0;
    let mut intervals = 0;
    for tolerance in [1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12] {
        let found = solve_boundary(&problem, &daedal::Options { save: Save::Dense, ..options(tolerance) }).unwrap();
        let mut x = vec![0.0; 2];
        let worst = (0..=500).map(|k| {
            let t = f64::from(k) / 250.0;
            found.solution.eval(t, &mut x).unwrap();
            (x[0] - exact(t)).abs() / (1.0 + exact(t).abs())
        });
        let worst = worst.fold(0.0, f64::max);
        assert!(worst < tolerance, "{tolerance}: {worst}");
        assert!(found.account.intervals >= intervals, "{tolerance}: {}", found.account.intervals);
        intervals = found.account.intervals;
    }
    assert!(intervals > 20, "{intervals}");
}

#[test]
fn conditions_at_one_end_are_formulas_of_the_system_as_well() {
    // y(0)² = y'(0) with y' = −y … in the graph of the system: y(0) = −1
    let s = system(&["y"], &[("k", 1.0)], |_, x, xd, p| vec![xd[0] + p[0] * x[0]]);
    let mut traced = s.formulas.clone();
    let (y, rate) = (traced.input(0, 0).unwrap(), traced.input(0, 1).unwrap());
    let residual = traced.graph.with(|| Scalar::square(y) - rate);
    let s = s.of_the_same_kind(&traced);
    for last in [false, true] {
        let ends = [Initial::at(0.0).guess("y", -1.3), Initial::at(1.0).guess("y", -1.3)];
        let [mut start, mut end] = ends;
        let at = if last { &mut end } else { &mut start };
        *at = at.clone().formula("parabola", residual);
        let found = solve_boundary(&BoundaryProblem::new(&s, start, end), &options(1e-9)).unwrap();
        let shift = if last { 1.0 } else { 0.0 };
        assert!(error(&found, "y", |t| -(shift - t).exp()) < 1e-8);
        assert_eq!(found.account.conditions[0].name, "parabola");
    }
}

#[test]
fn a_system_without_degrees_of_freedom_needs_no_condition() {
    let s = system(&["x", "y"], &[], |t, x, xd, _| vec![x[0] - t.sin(), xd[0] - x[1]]);
    let found = solve_boundary(&BoundaryProblem::new(&s, Initial::at(0.0), Initial::at(1.0)), &options(1e-9)).unwrap();
    assert_eq!((found.account.needed, found.account.conditions.len()), (0, 0));
    assert!(error(&found, "y", f64::cos) < 1e-9);
}

#[test]
fn a_check_of_the_equations_agrees() {
    let s = system(&["y", "v"], &[], |_, x, xd, _| vec![xd[0] - x[1], xd[1] + x[0].exp()]);
    let problem = BoundaryProblem::new(&s, Initial::at(0.0).fix("y", 0.0), Initial::at(1.0).fix("y", 0.0));
    let found = solve_boundary(&problem, &daedal::Options { verify: true, ..options(1e-8) }).unwrap();
    let verified = found.solution.verification.unwrap();
    assert!(verified.points > 100 && verified.worst < 1.0 && verified.disagreements.is_empty(), "{verified:?}");
}
