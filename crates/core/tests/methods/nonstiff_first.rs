//! What `auto` does with ordinary differential equations: explicit while they are not stiff.

use daedal::dae::{Form, InForm, Unknowns};
use daedal::method::{NonstiffFirst, Stages};
use daedal::prelude::*;
use daedal::{Ended, Rodas, SolveError, StepFailure};

/// Van der Pol's equation: x' = y, ε y' = (1 − x²) y − x.
struct VanDerPol {
    epsilon: f64,
}

impl OrdinaryEquations for VanDerPol {
    fn dim(&self) -> usize {
        2
    }
    fn rates<S: Scalar>(&self, _: S, x: &[S], f: &mut [S]) {
        f[0] = x[1];
        f[1] = ((S::from(1.0) - x[0].square()) * x[1] - x[0]) / self.epsilon;
    }
}

/// x' = −k(t) (x − cos t) − sin t with a rate k that rises from 1 to 10⁵ around t = 2: x = cos t.
struct Stiffening;

impl OrdinaryEquations for Stiffening {
    fn dim(&self) -> usize {
        1
    }
    fn rates<S: Scalar>(&self, t: S, x: &[S], f: &mut [S]) {
        let rises = ((t - 2.0) * 8.0).tanh() + 1.0;
        f[0] = -(x[0] - t.cos()) * (rises * 5e4 + 1.0) - t.sin();
    }
}

fn options(tolerance: f64) -> Options {
    Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() }
}

fn solved(system: &System, x: &[f64], (t0, tend): (f64, f64), options: &Options) -> Solution<Unknowns> {
    solve(&Problem::new(system, Initial::new(t0, x), tend), &Auto, options).unwrap()
}

fn names(solution: &Solution<Unknowns>) -> Vec<&'static str> {
    solution.methods.iter().map(|(name, _)| *name).collect()
}

#[test]
fn what_is_not_stiff_is_solved_explicitly_by_the_pair_that_suits_the_tolerance() {
    let system = System::explicit(&VanDerPol { epsilon: 1.0 });
    let exact =
        solve(&Problem::new(&system, Initial::new(0.0, &[2.0, 0.0]), 20.0), &RadauIIa::default(), &options(1e-12))
            .unwrap();
    assert!(exact.methods.is_empty(), "a method that was asked for");
    for (tolerance, expected) in [(1e-3, "dopri5"), (1e-4, "dop853"), (1e-6, "dop853"), (1e-10, "dop853")] {
        let solution = solved(&system, &[2.0, 0.0], (0.0, 20.0), &options(tolerance));
        assert_eq!(solution.methods, [(expected, 0.0)]);
        assert_eq!((solution.statistics.jacobians, solution.statistics.solves), (0, 0));
        let error = (solution.end.x[0] - exact.end.x[0]).abs();
        assert!(error < 300.0 * tolerance, "{tolerance:e}: {error:e}");
    }
}

#[test]
fn what_is_stiff_at_the_start_costs_no_explicit_step() {
    let system = System::explicit(&VanDerPol { epsilon: 1e-6 });
    for (tolerance, expected) in [(1e-3, "rodas"), (1e-4, "rodas"), (1e-6, "radau"), (1e-9, "radau")] {
        let start = [2.0, -0.66];
        let solution = solved(&system, &start, (0.0, 2.0), &options(tolerance));
        let problem = Problem::new(&system, Initial::new(0.0, &start), 2.0);
        let asked = if expected == "rodas" {
            solve(&problem, &Rodas::default(), &options(tolerance)).unwrap()
        } else {
            let stages = Stages::chosen(tolerance);
            solve(&problem, &RadauIIa { stages, ..RadauIIa::default() }, &options(tolerance)).unwrap()
        };
        assert_eq!(names(&solution), [expected]);
        assert_eq!((solution.statistics, &solution.end), (asked.statistics, &asked.end));
        let exact = solve(&problem, &RadauIIa::default(), &options(1e-12)).unwrap();
        let error = (solution.end.x[0] - exact.end.x[0]).abs();
        assert!(error < 300.0 * tolerance, "{tolerance:e}: {error:e}");
    }
}

#[test]
fn radau_goes_on_where_the_system_becomes_stiff() {
    let system = System::explicit(&Stiffening);
    for (tolerance, first) in [(1e-3, "dopri5"), (1e-6, "dop853"), (1e-9, "dop853")] {
        let times: Vec<f64> = (1..100).map(|k| 0.1 * f64::from(k)).collect();
        let solution = solved(&system, &[1.0], (0.0, 10.0), &Options { save: Save::At(times), ..options(tolerance) });
        assert_eq!(names(&solution), [first, "radau"]);
        let from = solution.methods[1].1;
        assert!(from > 1.0 && from < 3.0, "{from}");
        assert!(solution.statistics.steps < 600, "{}", solution.statistics);
        for (k, &t) in solution.times.iter().enumerate() {
            let error = (solution.state(k)[0] - t.cos()).abs();
            assert!(error < 100.0 * tolerance, "{tolerance:e} at {t}: {error:e}");
        }
    }
}

#[test]
fn events_and_attempts_are_those_of_both_methods() {
    let system = System::explicit(&Stiffening);
    let problem = Problem::new(&system, Initial::new(0.0, &[1.0]), 10.0).stop_when("zero", |_, x| x[0] + 0.5);
    let solution = solve(&problem, &Auto, &options(1e-8)).unwrap();
    assert!(matches!(solution.ended, Ended::AtEvent { .. }));
    assert!((solution.end.t - (-0.5_f64).acos()).abs() < 1e-6, "{}", solution.end.t);
    // the first attempts are those of the explicit method, and count
    let problem = Problem::new(&system, Initial::new(0.0, &[1.0]), 10.0);
    let all = solve(&problem, &Auto, &options(1e-8)).unwrap().statistics.attempts;
    let bounded = Options { max_steps: all - 3, ..options(1e-8) };
    let Err(SolveError::Stopped { cause, partial }) = solve(&problem, &Auto, &bounded) else { panic!("stops") };
    assert!(matches!(cause, StepFailure::TooManySteps { steps, .. } if steps == all - 3), "{cause}");
    assert_eq!(names(&partial), ["dop853", "radau"]);
}

#[test]
fn backward_in_time_methods_are_told_in_the_time_of_the_run() {
    let system = System::explicit(&VanDerPol { epsilon: 1.0 });
    let solution = solved(&system, &[2.0, 0.0], (3.0, 2.5), &options(1e-6));
    assert_eq!(solution.methods, [("dop853", 3.0)]);
}

/// x' = −y, 0 = y − x.
struct Constrained;

impl Equations for Constrained {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] + x[1];
        r[1] = x[1] - x[0];
    }
}

#[test]
fn other_systems_are_those_of_radau() {
    let system = System::of(&Constrained);
    let problem = Problem::new(&system, Initial::new(0.0, &[1.0, 1.0]), 1.0);
    let solution = solve(&problem, &InForm { form: Form::Auto, integrator: &NonstiffFirst }, &options(1e-6)).unwrap();
    assert_eq!(solution.methods, [("radau", 0.0)]);
    assert!((solution.end.x[0] - (-1.0_f64).exp()).abs() < 1e-6);
}

/// x' = −√x: explicit stages leave the domain where x nears zero.
struct Emptying;

impl OrdinaryEquations for Emptying {
    fn dim(&self) -> usize {
        1
    }
    fn rates<S: Scalar>(&self, _: S, x: &[S], f: &mut [S]) {
        f[0] = -x[0].sqrt();
    }
}

#[test]
fn where_no_method_can_go_on_the_run_stops_and_says_where() {
    let system = System::explicit(&Emptying);
    let problem = Problem::new(&system, Initial::new(0.0, &[1.0]), 3.0);
    let Err(SolveError::Stopped { partial, .. }) = solve(&problem, &Auto, &options(1e-6)) else { panic!("stops") };
    assert_eq!(names(&partial), ["dop853", "radau"]);
    assert!(partial.end.t > 1.9 && partial.end.t < 2.1, "{}", partial.end.t);
}
