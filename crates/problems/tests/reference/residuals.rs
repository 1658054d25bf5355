//! Constraints of all levels along whole runs.

use crate::support::{case, error, options, run};
use daedal::StepView;
use daedal::formulation::{Formulation, Selectors};
use daedal::method::Polish;
use daedal::{Geoms, Problem, Residuals, Solution, solve_observed};
use std::ops::ControlFlow;

/// The largest residual of position, velocity and acceleration level.
fn largest(r: Residuals) -> f64 {
    [r.position, r.velocity, r.acceleration].into_iter().flatten().fold(0.0, f64::max)
}

/// A run with the largest residuals of its first and of its second half.
fn halves(name: &str, tend: f64, method: &Geoms, tolerance: f64) -> (Solution, f64, f64) {
    let case = case(name);
    let problem = Problem::new(&*case.mechanism, case.initial.clone(), tend);
    let (mut first, mut second) = (0.0_f64, 0.0_f64);
    let mut watch = |step: &StepView| {
        let half = if step.progress < 0.5 { &mut first } else { &mut second };
        *half = half.max(largest(step.residuals));
        ControlFlow::Continue(())
    };
    let solution = solve_observed(&problem, method, &options(tolerance), &mut [&mut watch]).unwrap();
    (solution, first, second)
}

#[test]
fn the_long_pendulum_run_keeps_all_levels_below_a_millionth_without_growth() {
    let (solution, first, second) = halves("pendulum-long", 1000.0, &Geoms::default(), 1e-7);
    println!("{first:e} {second:e} {}", solution.statistics);
    assert!(first < 1e-6 && second < 1e-6, "{first:e} {second:e}");
    assert!(second < 2.0 * first, "{first:e} {second:e}");
}

#[test]
fn the_energy_as_invariant_does_not_drift_and_improves_the_multiplier() {
    let plain = Geoms { polish: Polish::Rounding, ..Geoms::default() };
    let with_energy =
        Geoms { formulation: Formulation::ProjectedWithInvariants(Selectors::default()), ..plain.clone() };
    let reference = case("pendulum-long").references.last().unwrap().clone();
    let tend = reference.t;
    let [a, b] = [plain, with_energy].map(|m| run(&case("pendulum-long"), tend, &m, &options(1e-7)).unwrap());
    let drift = b.max_residuals.invariant.unwrap();
    println!("t = {tend}: drift {drift:e}");
    assert!(drift < 1e-12, "{drift:e}");
    let [ea, eb] = [&a, &b].map(|s| error(s, &reference, crate::support::is_multiplier));
    println!("errors of the multiplier {ea:e} and {eb:e}");
    assert!(eb < ea, "{eb:e} against {ea:e}");
}

#[test]
fn the_iftomm_pendulum_ends_within_two_hundred_millionths_with_its_constraints_at_rounding() {
    let case = case("iftomm-pendulum");
    let reference = case.references.last().unwrap().clone();
    assert_eq!(reference.t, 10.0);
    let energy = Geoms { formulation: Formulation::ProjectedWithInvariants(Selectors::default()), ..Geoms::default() };
    for method in [Geoms::default(), energy.clone()] {
        let solution = run(&case, 10.0, &method, &options(1e-8)).unwrap();
        assert!(largest(solution.max_residuals) <= 1e-9, "{:?}", solution.max_residuals);
    }
    let solution = run(&case, 10.0, &energy, &options(1e-8)).unwrap();
    let distance = (solution.end_value("x").unwrap() - reference.values[0].1)
        .hypot(solution.end_value("y").unwrap() - reference.values[1].1);
    println!("distance {distance:e}");
    assert!(distance <= 2e-8, "{distance:e}");
    // polished, and at tolerances where others stop
    for tolerance in [1e-8, 1e-10, 1e-12] {
        let method = Geoms { polish: Polish::Rounding, ..Geoms::default() };
        let solution = run(&case, 10.0, &method, &options(tolerance)).unwrap();
        let residual = largest(solution.max_residuals);
        assert!(residual <= 1e-13, "{tolerance:e}: {residual:e}");
        let end = error(&solution, &reference, crate::support::is_motion);
        assert!(end <= 300.0 * tolerance, "{tolerance:e}: {end:e}");
    }
}

#[test]
fn every_problem_keeps_its_constraints_far_below_the_tolerance() {
    for problem in daedal_problems::all() {
        if ["slider-crank-equal-arms", "pendulum-long", "skateboard-2", "wheelset"].contains(&problem.name) {
            continue; // singular, long, or with stiff accelerations: looked at elsewhere
        }
        let case = problem.case();
        let solution = run(&case, case.tend.min(10.0), &Geoms::default(), &options(1e-7)).unwrap();
        let r = solution.max_residuals;
        println!("{:24} {r:?}", problem.name);
        assert!(r.position.unwrap_or(0.0) < 1e-10, "{}: {r:?}", problem.name);
        assert!(r.velocity.unwrap_or(0.0) < 1e-8, "{}: {r:?}", problem.name);
    }
}
