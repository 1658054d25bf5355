//! What is said where there is no solution, or not one.

use crate::{options, system};
use daedal::dae::System;
use daedal::graph::Expr;
use daedal::scalar::Scalar;
use daedal::{BoundaryError, BoundaryProblem, EndCondition, Initial, solve_boundary};

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
        "1 conditions for 2 that are needed (2 degrees of freedom): add 1 of them; as it is, v at the start, y at the end, v at the end may be anything"
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
