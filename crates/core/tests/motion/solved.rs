//! Accelerations by formulas against decompositions, and steps that are brought onto invariants.

use super::chain::Chain;
use daedal::graph::Interpreted;
use daedal::method::ProjectedOnto;
use daedal::motion::{Compiled, Formulas, Mechanism};
use daedal::{DormandPrince, Options, Pair, Problem, Solution, SolveError, Tolerance, solve};

const CHAIN: Chain = Chain { links: 2 };

fn run(chain: &dyn Mechanism, pair: Pair, project: ProjectedOnto, tend: f64) -> Result<Solution, SolveError> {
    let problem = Problem::new(chain, CHAIN.start(), tend);
    let options = Options { tolerance: Tolerance::new(1e-7, 1e-7), ..Options::default() };
    solve(&problem, &DormandPrince { project, ..DormandPrince::of(pair) }, &options)
}

#[test]
fn formulas_make_the_steps_of_a_decomposition() {
    let compiled = Compiled::new(&Formulas::trace(&CHAIN), Interpreted);
    for pair in [Pair::Order5, Pair::Order8] {
        for project in [ProjectedOnto::All, ProjectedOnto::Velocities, ProjectedOnto::Positions, ProjectedOnto::Nothing]
        {
            let [formulas, decomposed] =
                [&compiled as &dyn Mechanism, &CHAIN].map(|chain| run(chain, pair, project, 1.0).expect("a motion"));
            let (one, other) = (&formulas.statistics, &decomposed.statistics);
            assert_eq!((one.steps, one.rejected_error), (other.steps, other.rejected_error), "{pair:?} {project:?}");
            let differ = formulas.end.x.iter().zip(&decomposed.end.x).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(differ < 1e-9, "{pair:?} {project:?}: {differ:e}");
            let (one, other) = (formulas.max_residuals, decomposed.max_residuals);
            let close = |a: Option<f64>, b: Option<f64>| (a.unwrap_or(0.0) - b.unwrap_or(0.0)).abs() < 1e-10;
            assert!(close(one.position, other.position) && close(one.velocity, other.velocity), "{one:?} {other:?}");
        }
    }
}

#[test]
fn steps_are_brought_onto_the_energy_also_where_the_motion_begins_at_rest() {
    let compiled = Compiled::new(&Formulas::trace(&CHAIN), Interpreted);
    let energy = |solution: &Solution| {
        let (p, v) = (solution.at_end().p.to_vec(), solution.at_end().v.to_vec());
        0.5 * (v[0] * v[0] + v[1] * v[1]) + 0.25 * (v[2] * v[2] + v[3] * v[3]) + 10.0 * p[1] + 5.0 * p[3]
    };
    let drift = |project| {
        let solution = run(&compiled, Pair::Order8, project, 20.0).expect("a motion");
        // at rest, with both rods at their angles
        let upper = -0.3_f64.sin();
        let first = 10.0 * upper + 5.0 * (upper - (0.3 + 0.4 * 1.0_f64.sin()).sin());
        ((energy(&solution) - first).abs(), solution.max_residuals)
    };
    let (without, _) = drift(ProjectedOnto::All);
    let (with, residuals) = drift(ProjectedOnto::Invariants);
    assert!(without > 1e-9, "{without:e}");
    assert!(with < 1e-12, "{with:e}");
    // next to rest a correction may be given up, and a later step makes up for it: 5e-10 at a tolerance of 1e-7
    assert!(residuals.invariant.is_some_and(|left| left < 1e-8), "{residuals:?}");
    assert!(residuals.position.is_some_and(|left| left < 1e-14), "{residuals:?}");
}

#[test]
fn invariants_without_formulas_are_left_to_geoms() {
    let refused = run(&CHAIN, Pair::Order8, ProjectedOnto::Invariants, 1.0).expect_err("no formulas");
    let refused = format!("{refused:?}");
    assert!(refused.contains("invariants") && refused.contains("geoms"), "{refused}");
}
