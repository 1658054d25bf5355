//! What is said where there is no solution, or not one.

use crate::{options, system};
use daedal::dae::System;
use daedal::graph::Expr;
use daedal::linalg::Matrix;
use daedal::motion::{BlackBox, BlackBoxMotion, BlackBoxRows, Motion, Position, Sizes, Undefined};
use daedal::scalar::Scalar;
use daedal::{BoundaryError, BoundaryProblem, EndCondition, Initial, Options, solve_boundary};

fn oscillator(k: f64) -> System {
    system(&["y", "v"], &[("k", k)], |_, x, xd, p| vec![xd[0] - x[1], xd[1] + p[0] * x[0]])
}

fn refused(problem: &BoundaryProblem<System>) -> (String, BoundaryError) {
    let error = solve_boundary(problem, &options(1e-8)).unwrap_err();
    (error.to_string(), error)
}

#[test]
fn too_few_conditions_are_counted() {
    let s = oscillator(1.0);
    let problem = BoundaryProblem::new(&s, Initial::at(0.0).fix("y", 0.0), Initial::at(1.0));
    let (text, _) = refused(&problem);
    assert_eq!(
        text,
        "1 condition for 2 that are needed (2 degrees of freedom): add 1 of them; as it is, v at the start, y at the end, v at the end may be anything"
    );
    let none = BoundaryProblem::new(&s, Initial::at(0.0), Initial::at(1.0));
    assert!(matches!(refused(&none).1, BoundaryError::TooFew { given: 0, needed: 2, .. }));
}

#[test]
fn conditions_that_do_not_determine_the_solution_are_named() {
    // y'' + π² y = 0, y(0) = 0, y(1) = 0
    let s = oscillator(std::f64::consts::PI.powi(2));
    let problem = BoundaryProblem::new(&s, Initial::at(0.0).fix("y", 0.0), Initial::at(1.0).fix("y", 0.0));
    let (text, error) = refused(&problem);
    assert!(
        text.starts_with("the conditions determine 1 of 2 degrees of freedom (2 degrees of freedom): y = 0 at the start, y = 0 at the end depend on each other; v at the start, v at the end can be moved"),
        "{text}"
    );
    assert!(matches!(error, BoundaryError::Singular { rank: 1, needed: 2, .. }));
}

#[test]
fn conditions_that_contradict_each_other_are_named() {
    let s = oscillator(1.0);
    let problem =
        BoundaryProblem::new(&s, Initial::at(0.0).fix("y", 0.0).fix("v", 1.0), Initial::at(1.0).fix("y", 1.0));
    let (text, error) = refused(&problem);
    assert!(text.starts_with("no solution satisfies all conditions: 3 given, 2 needed"), "{text}");
    assert!(text.contains("y = 1 at the end (off by "), "{text}");
    assert!(error.partial().is_some());
}

#[test]
fn values_beside_the_constraints_are_refused_at_both_ends() {
    let s = system(&["x", "y", "lambda"], &[], |_, x, xd, _| {
        vec![xd[0] + x[2] * x[0], xd[1] + x[2] * x[1] - x[0], Scalar::square(x[0]) + Scalar::square(x[1]) - 1.0]
    });
    let problem = BoundaryProblem::new(&s, Initial::at(0.0).fix("x", 2.0), Initial::at(1.0));
    let (text, _) = refused(&problem);
    assert!(text.starts_with("at the start: at t = 0: no consistent initial values with x fixed"), "{text}");
    let problem = BoundaryProblem::new(&s, Initial::new(0.0, &[0.6, 0.8, 0.0]), Initial::at(1.0).fix("x", 2.0));
    let (text, _) = refused(&problem);
    assert!(text.starts_with("at the end: at t = 1: no consistent initial values with x fixed"), "{text}");
}

#[test]
fn times_names_and_parameters_are_looked_at() {
    let s = oscillator(1.0);
    let (text, _) = refused(&BoundaryProblem::new(&s, Initial::at(1.0), Initial::at(1.0)));
    assert_eq!(text, "both ends of the interval are t = 1; a boundary value problem needs two different times");
    let (text, _) = refused(&BoundaryProblem::new(&s, Initial::at(0.0).fix("z", 1.0), Initial::at(1.0)));
    assert_eq!(text, "an initial value is given for an unknown called `z`; the unknowns are y, v, y', v'");
    let condition = EndCondition::new("far", &["q"], |first, _| first[0]);
    let (text, _) = refused(&BoundaryProblem::new(&s, Initial::at(0.0), Initial::at(1.0)).condition(condition));
    assert_eq!(text, "the condition `far` speaks of `initial(q)`; the unknowns are y, v");
    let (text, _) = refused(&BoundaryProblem::new(&s, Initial::at(0.0), Initial::at(1.0)).find("m"));
    assert_eq!(text, "the parameter `m` is to be found, but the parameters are k");
}

#[test]
fn a_problem_without_a_solution_does_not_converge_and_says_where() {
    // Bratu's problem has no solution for λ > 3.5138
    let s = system(&["y", "v"], &[], |_, x, xd, _| vec![xd[0] - x[1], xd[1] + x[0].exp() * 5.0]);
    let problem = BoundaryProblem::new(&s, Initial::at(0.0).fix("y", 0.0), Initial::at(1.0).fix("y", 0.0));
    let (text, error) = refused(&problem);
    assert!(text.starts_with("the iteration for the solution does not converge ("), "{text}");
    let partial = error.partial().unwrap();
    assert!(partial.len() > 10 && partial.end.t == 1.0);
}

#[test]
fn formulas_without_a_value_and_jumps_in_time_are_told() {
    let s = system(&["y"], &[], |t, x, xd, _| vec![xd[0] - x[0] * (t * -1.0 + 0.5).sqrt()]);
    let (text, _) = refused(&BoundaryProblem::new(&s, Initial::at(0.0), Initial::at(1.0).fix("y", 1.0)));
    assert!(text.contains("no finite value on the guess"), "{text}");
    let s = system(&["y"], &[], |t, x, xd, _| {
        vec![xd[0] - x[0] * Expr::select(t - 0.5, Expr::from(1.0), Expr::from(-1.0))]
    });
    let (text, _) = refused(&BoundaryProblem::new(&s, Initial::at(0.0), Initial::at(1.0).fix("y", 1.0)));
    assert!(text.contains("a formula changes its branch"), "{text}");
}

#[test]
fn constraints_that_lose_rank_on_the_way_are_told_with_the_time() {
    // x' = −1 through x = 0, where x z = x² says nothing about z
    let s = system(&["x", "z"], &[], |_, x, xd, _| vec![xd[0] + 1.0, x[0] * x[1] - Scalar::square(x[0])]);
    let problem = BoundaryProblem::new(&s, Initial::new(0.0, &[1.0, 1.0]), Initial::at(2.0).fix("x", -1.0));
    let (text, error) = refused(&problem);
    assert!(matches!(error, BoundaryError::ConstraintsSingular { t } if (t - 1.0).abs() < 0.2), "{text}");
    assert!(text.contains("the constraints lose rank along the solution: a singular point"), "{text}");
    assert!(!error.is_input());
}

#[test]
fn a_layer_that_needs_more_intervals_than_allowed_is_told_with_its_place() {
    // y'' = 10⁸ y, y(0) = 1, y(1) = 0: a layer of width 10⁻⁴ at the start
    let s = oscillator(-1e8);
    let problem = BoundaryProblem::new(&s, Initial::at(0.0).fix("y", 1.0), Initial::at(1.0).fix("y", 0.0));
    let few = Options { max_steps: 20, ..options(1e-10) };
    let error = solve_boundary(&problem, &few).unwrap_err();
    let text = error.to_string();
    let BoundaryError::TooManyIntervals { intervals, t, error: size, partial } = &error else { panic!("{text}") };
    assert!(*intervals <= 20 && *t < 0.2 && *size > 1.0 && partial.len() > 2, "{text}");
    assert!(text.contains("intervals do not suffice: the error near t = "), "{text}");
    // with as many as it wants it has its closed form
    let found = solve_boundary(&problem, &options(1e-10)).unwrap();
    assert!(crate::error(&found, "y", |t| (-1e4 * t).exp()) < 1e-8);
}

#[test]
fn an_end_time_that_runs_into_the_start_is_told() {
    // y' = 1, y = 0 at the start, y = −1 at an end behind the start
    let s = system(&["y"], &[], |_, _, xd, _| vec![xd[0] - 1.0]);
    let problem = BoundaryProblem::new(&s, Initial::at(0.0).fix("y", 0.0), Initial::at(1.0).fix("y", -1.0)).free_end();
    let (text, error) = refused(&problem);
    assert!(matches!(error, BoundaryError::Collapsed { length } if length.abs() < 1e-5), "{text}");
    assert!(text.starts_with("the end time runs into the start"), "{text}");
}

/// A free point that gives nothing but values.
struct ValuesOnly;

impl BlackBox for ValuesOnly {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 1, velocities: 1, ..Sizes::default() }
    }
    fn rows(&self, at: &Motion<f64>, out: &mut BlackBoxRows) -> Result<(), Undefined> {
        (out.force[0], out.kinematics[0]) = (-1.0, at.v[0]);
        Ok(())
    }
    fn mass(&self, _: &Position<f64>, M: &mut Matrix) -> Result<(), Undefined> {
        M[(0, 0)] = 1.0;
        Ok(())
    }
}

#[test]
fn a_black_box_has_no_formulas_to_collocate() {
    let point = BlackBoxMotion(ValuesOnly);
    let problem = BoundaryProblem::new(&point, Initial::motion(0.0, &[0.0], &[0.0]), Initial::at(1.0));
    let error = solve_boundary(&problem, &options(1e-6)).unwrap_err();
    assert!(matches!(error, BoundaryError::NoFormulas) && error.is_input());
    assert!(error.to_string().contains("(a black box)"), "{error}");
}
