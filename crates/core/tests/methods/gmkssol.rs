//! Projected formulations, and GMKSSOL.

use super::problems::{Arm, Pendulum};
use daedal::formulation::{Formulated, Formulation, Selectors};
use daedal::method::controller::Control;
use daedal::method::{Integrator, Method};
use daedal::motion::{Initial, Mechanism};
use daedal::{Bdf, Options, Problem, RadauIIa, Solution, Tolerance, solve};

const EVERY: Selectors = Selectors::EveryJacobian;
const PROJECTED: [Formulation; 4] = [
    Formulation::Projected,
    Formulation::ProjectedBy(Selectors::EverySteps(10)),
    Formulation::ProjectedBy(Selectors::Constant),
    Formulation::ProjectedIndexOne(EVERY),
];

fn options(tolerance: f64) -> Options {
    Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() }
}

fn run(
    mechanism: &dyn Mechanism,
    initial: Initial,
    tend: f64,
    method: &dyn for<'m> Method<dyn Mechanism + 'm>,
    options: &Options,
) -> Solution {
    solve(&Problem::new(mechanism, initial, tend), method, options).unwrap()
}

/// Errors of p, v, λ.
fn errors(solution: &Solution, exact: &[f64; 5]) -> [f64; 3] {
    let end = solution.end();
    let distance = |x: &[f64], y: &[f64]| x.iter().zip(y).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()));
    [distance(end.p, &exact[..2]), distance(end.v, &exact[2..4]), distance(end.lambda, &exact[4..])]
}

fn solves_both_problems<I: Integrator + Clone>(integrator: &I, tolerance: f64, most: f64) {
    for formulation in PROJECTED {
        let method = Formulated { formulation, integrator: integrator.clone() };
        for (mechanism, initial, exact) in [
            (&Pendulum::P1 as &dyn Mechanism, Pendulum::moving(), Pendulum::AT_ONE),
            (&Arm::P2, Arm::start(), Arm::AT_ONE),
        ] {
            let solution = run(mechanism, initial, 1.0, &method, &options(tolerance));
            let [p, v, lambda] = errors(&solution, &exact);
            println!("{formulation:?} {p:.1e} {v:.1e} {lambda:.1e} {}", solution.statistics);
            println!("  {:?}", solution.residuals);
            println!("  {}", solution.decisions);
            let index_one = matches!(formulation, Formulation::ProjectedIndexOne(_));
            let most_lambda = if index_one { 1e3 * most } else { most };
            assert!(p < most && v < most && lambda < most_lambda, "{formulation:?}: {p} {v} {lambda}");
            let residuals = solution.residuals;
            let levels = [residuals.position, residuals.velocity, residuals.acceleration];
            for (level, residual) in levels.into_iter().enumerate().take(if index_one { 2 } else { 3 }) {
                assert!(residual.unwrap() < tolerance, "{formulation:?}, level {level}: {residual:?}");
            }
        }
    }
}

#[test]
fn projected_formulations_keep_all_levels_with_radau() {
    solves_both_problems(&RadauIIa::default(), 1e-9, 1e-7);
}

#[test]
fn projected_formulations_keep_all_levels_with_bdf() {
    solves_both_problems(&Bdf::default(), 1e-9, 1e-6);
}
