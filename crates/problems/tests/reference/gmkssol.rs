//! Projected formulations and GMKSSOL on the reference problems.

use crate::support::{case, error, is_motion, options};
use daedal::formulation::{Formulated, Formulation, Selectors};
use daedal::method::Method;
use daedal::motion::Mechanism;
use daedal::{Bdf, Gmkssol, Problem, RadauIIa, Solution, SolveError, solve};
use daedal_problems::Case;

fn run<M: for<'m> Method<dyn Mechanism + 'm>>(
    case: &Case,
    tend: f64,
    method: &M,
    tolerance: f64,
) -> Result<Solution, SolveError> {
    solve(&Problem::new(&*case.mechanism, case.initial.clone(), tend), method, &options(tolerance))
}

const PSF: Formulation = Formulation::Projected;
const P1: Formulation = Formulation::ProjectedIndexOne(Selectors::EveryJacobian);

fn radau(formulation: Formulation) -> Formulated<RadauIIa> {
    Formulated { formulation, integrator: RadauIIa::default() }
}

#[test]
fn gmkssol_runs_the_redundant_slider_crank_with_the_motion_of_the_regular_one() {
    let case = case("slider-crank-redundant");
    let reference = case.references.last().unwrap();
    assert_eq!(reference.t, 100.0);
    for tolerance in [1e-4, 1e-6, 1e-8] {
        let solution = run(&case, 100.0, &Gmkssol::default(), tolerance).unwrap();
        let error = error(&solution, reference, is_motion);
        println!("{tolerance:e}: {error:.1e} {} {:?}", solution.statistics, solution.max_residuals);
        // 34 periods amplify what single steps leave: GEOMS has the same errors
        assert!(error < 1000.0 * tolerance, "{tolerance:e}: {error:e}");
        assert!(solution.max_residuals.position.unwrap() < tolerance);
        assert_eq!(solution.undetermined.len(), 2);
        for combination in &solution.undetermined {
            assert!(combination.iter().all(|(name, _)| !name.ends_with("slider")), "{combination:?}");
        }
    }
}

#[test]
fn nonholonomic_constraints_and_contact_variables_are_projected() {
    for name in ["skateboard-1", "skateboard-2", "academic", "knife-edge", "lolly", "circle"] {
        let case = case(name);
        let reference = case.references.iter().find(|r| r.t >= 1.0).unwrap();
        // thousands of steps at the sharper one
        let tolerances: &[f64] = if name == "skateboard-2" { &[1e-4] } else { &[1e-4, 1e-6] };
        for &tolerance in tolerances {
            for formulation in [PSF, P1] {
                let solution = run(&case, reference.t, &radau(formulation), tolerance).unwrap();
                let error = error(&solution, reference, is_motion);
                println!("{name} {} {tolerance:e}: {error:.1e} {}", formulation.name(), solution.statistics);
                assert!(error <= 1000.0 * tolerance, "{name} {} at {tolerance:e}: {error:e}", formulation.name());
            }
            let bdf = Formulated { formulation: PSF, integrator: Bdf::default() };
            let solution = run(&case, reference.t, &bdf, tolerance).unwrap();
            let error = error(&solution, reference, is_motion);
            assert!(error <= 1000.0 * tolerance, "{name} with BDF at {tolerance:e}: {error:e}");
        }
    }
}

#[test]
fn the_academic_example_passes_the_singular_contact_equation_when_projected() {
    let exact = daedal_problems::academic::exact(2.0);
    let case = case("academic");
    for k in 1..=9 {
        let tolerance = 10.0_f64.powi(-k);
        let solution = run(&case, 2.0, &radau(PSF), tolerance).unwrap();
        let p = solution.at_end().p;
        let error = (0..3).map(|i| (p[i] - exact[i]).abs()).fold(0.0, f64::max);
        println!("{tolerance:e}: {error:e}");
        assert!(error < 1000.0 * tolerance, "{tolerance:e}: {error:e}");
    }
}

#[test]
fn loop_redundancy_is_handled_with_and_without_invariants() {
    let case = case("double-four-bar");
    let reference = case.references.last().unwrap();
    for formulation in [PSF, P1, Formulation::ProjectedWithInvariants(Selectors::EveryJacobian)] {
        let solution = run(&case, reference.t, &radau(formulation), 1e-6).unwrap();
        let error = error(&solution, reference, is_motion);
        assert!(error < 1e-4, "{}: {error:e}", formulation.name());
        // multipliers are the smallest: they have no part along what is undetermined
        let [combination] = &solution.undetermined[..] else { panic!("{:?}", solution.undetermined) };
        let along: f64 = combination.iter().map(|(name, part)| part * solution.end_value(name).unwrap()).sum();
        let size = solution.at_end().lambda.iter().map(|x| x * x).sum::<f64>().sqrt();
        println!("{}: {along:e} of {size}", formulation.name());
        assert!(size > 1.0 && along.abs() < 1e-6 * size, "{}: {along:e} of {size}", formulation.name());
    }
}

#[test]
fn equal_arms_stop_at_the_singular_point_when_projected() {
    let case = case("slider-crank-equal-arms");
    for k in 4..=10 {
        for selectors in [Selectors::EveryJacobian, Selectors::EverySteps(1), Selectors::EverySteps(10)] {
            let method = Gmkssol { selectors, ..Gmkssol::default() };
            let Err(SolveError::Stopped { cause, partial }) = run(&case, 2.0, &method, 10.0_f64.powi(-k)) else {
                panic!("1e-{k}, {selectors:?} passed the singularity");
            };
            let message = cause.to_string();
            assert!(message.contains("rank") && message.contains("singular"), "1e-{k}, {selectors:?}: {message}");
            // a step that jumps over it is taken back
            assert!((cause.time() - 1.01388).abs() < 0.02, "1e-{k}, {selectors:?}: {message}");
            assert!(partial.end.t > 0.9 && partial.end.t < 1.0139 + 0.02, "1e-{k}, {selectors:?}: {}", partial.end.t);
        }
    }
}

#[test]
fn every_problem_runs_when_projected() {
    for problem in daedal_problems::all().iter().filter(|problem| problem.name != "slider-crank-equal-arms") {
        let case = problem.case();
        let tend = case.tend.min(2.0);
        for formulation in [PSF, P1] {
            let solution = run(&case, tend, &radau(formulation), 1e-5).unwrap_or_else(|error| {
                panic!("{} {}: {error:?}", problem.name, formulation.name());
            });
            let position = solution.max_residuals.position.unwrap_or(0.0);
            assert!(position < 1e-4, "{} {}: {position:e}", problem.name, formulation.name());
        }
    }
}
