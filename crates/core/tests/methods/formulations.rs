//! Formulations as systems: every one has the same solutions, and keeps the constraints that it states.

use super::problems::{Arm, Pendulum};
use daedal::formulation::{Baumgarte, Formulated, Formulation};
use daedal::motion::Mechanism;
use daedal::{Initial, Options, Problem, RadauIIa, Solution, SolveError, Tolerance, solve};

const SQUARE: [Formulation; 5] = [
    Formulation::Eom,
    Formulation::Eom1,
    Formulation::Eom0,
    Formulation::Baumgarte(Baumgarte { alpha: 5.0, beta: 5.0, delta: 5.0 }),
    Formulation::Ggl,
];

fn run(mechanism: &dyn Mechanism, initial: Initial, tend: f64, formulation: Formulation, tol: f64) -> Solution {
    let problem = Problem::new(mechanism, initial, tend);
    let options = Options { tolerance: Tolerance::new(tol, tol), ..Options::default() };
    let method = Formulated { formulation, integrator: RadauIIa::default() };
    solve(&problem, &method, &options).unwrap()
}

/// Errors of p, v, λ.
fn errors(solution: &Solution, exact: &[f64; 5]) -> [f64; 3] {
    let end = solution.at_end();
    let distance = |x: &[f64], y: &[f64]| x.iter().zip(y).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()));
    [distance(end.p, &exact[..2]), distance(end.v, &exact[2..4]), distance(end.lambda, &exact[4..])]
}

#[test]
fn square_formulations_have_the_solution_of_the_mechanism() {
    for formulation in SQUARE {
        for (mechanism, initial, exact) in [
            (&Pendulum::P1 as &dyn Mechanism, Pendulum::moving(), Pendulum::AT_ONE),
            (&Arm::P2, Arm::start(), Arm::AT_ONE),
        ] {
            let solution = run(mechanism, initial, 1.0, formulation, 1e-9);
            let [p, v, lambda] = errors(&solution, &exact);
            println!("{} {p:.1e} {v:.1e} {lambda:.1e} {}", formulation.name(), solution.statistics);
            let (most_v, most_lambda) = match formulation {
                Formulation::Eom => (1e-5, 1e-2),
                Formulation::Eom1 | Formulation::Ggl => (1e-7, 1e-5),
                _ => (1e-7, 1e-7),
            };
            assert!(p < 1e-7 && v < most_v && lambda < most_lambda, "{}: {p} {v} {lambda}", formulation.name());
        }
    }
}

#[test]
fn tolerances_of_components_are_given_in_the_order_in_which_variables_are_shown() {
    // p and v with 1e-9, the multiplier with 1e-2, and the other way round
    let run = |motion: f64, multiplier: f64| {
        let problem = Problem::new(&Pendulum::P1, Pendulum::moving(), 1.0);
        let pairs = [motion, motion, motion, motion, multiplier].map(|tol| (tol, tol));
        let options = Options { tolerance: Tolerance::PerComponent(pairs.to_vec()), ..Options::default() };
        let method = Formulated { formulation: Formulation::Eom0, integrator: RadauIIa::default() };
        solve(&problem, &method, &options).unwrap()
    };
    let (tight, loose) = (run(1e-9, 1e-2), run(1e-2, 1e-9));
    let motion = |solution: &Solution| {
        let [p, v, _] = errors(solution, &Pendulum::AT_ONE);
        p.max(v)
    };
    assert!(motion(&tight) < 1e-7, "{}", motion(&tight));
    assert!(tight.statistics.steps != loose.statistics.steps);
    let wrong = Options { tolerance: Tolerance::PerComponent(vec![(1e-3, 1e-3); 3]), ..Options::default() };
    let problem = Problem::new(&Pendulum::P1, Pendulum::moving(), 1.0);
    let method = Formulated { formulation: Formulation::Eom0, integrator: RadauIIa::default() };
    assert!(matches!(solve(&problem, &method, &wrong), Err(SolveError::Options(_))));
}
