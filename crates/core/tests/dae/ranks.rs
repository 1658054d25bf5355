//! One tolerance decides the ranks of every form.

use daedal::BadOption;
use daedal::dae::analysis::{Scope, analyse};
use daedal::dae::{Depth, Equations, Form, System, characterise};
use daedal::hybrid::{Hybrid, HybridError, HybridOptions, Mode, Schedule, Transition};
use daedal::linalg::RankRule;
use daedal::scalar::Scalar;
use daedal::{Initial, Options, Problem, RadauIIa, SolveError, solve};

/// x' = a − x, 0 = a + b − x, 0 = a + (1 + ε) b − x: two constraints that are almost the same.
struct AlmostOneConstraint;
const EPSILON: f64 = 1e-5;

impl Equations for AlmostOneConstraint {
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] + x[0] - x[1];
        r[1] = x[1] + x[2] - x[0];
        r[2] = x[1] + x[2] * (1.0 + EPSILON) - x[0];
    }
}

/// The same with a constraint that must be differentiated, and is not linear: x' = a, 0 = x² − 1 − b, 0 = x² − 1 − (1 + ε) b.
struct AlmostOneHidden;

impl Equations for AlmostOneHidden {
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] - x[1];
        r[1] = x[0].square() - 1.0 - x[2];
        r[2] = x[0].square() - 1.0 - x[2] * (1.0 + EPSILON);
    }
}

/// Nothing moves.
struct AtRest;

impl Equations for AtRest {
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, _: S, _: &[S], xdot: &[S], r: &mut [S]) {
        r.copy_from_slice(xdot);
    }
}

const LOOSE: Option<f64> = Some(10.0 * EPSILON);

#[test]
fn every_form_obeys_the_tolerance() {
    let (linear, hidden) = (System::of(&AlmostOneConstraint), System::of(&AlmostOneHidden));
    let linear = (&linear, Initial::new(0.0, &[1.0, 1.0, 0.0]), &Form::ALL[..]);
    let hidden =
        (&hidden, Initial::new(0.0, &[1.0, 0.0, 0.0]), &[Form::Auto, Form::QuasiLinear, Form::DerivativeArray][..]);
    for (system, initial, forms) in [linear, hidden] {
        for &form in forms {
            let run = |rank_tolerance: Option<f64>| {
                let options = Options { rank_tolerance, ..Options::default() };
                solve(
                    &Problem::new(system, initial.clone(), 0.1),
                    &daedal::dae::InForm { form, integrator: &RadauIIa::default() },
                    &options,
                )
            };
            for tolerance in [None, Some(EPSILON / 100.0)] {
                let solution = run(tolerance).unwrap_or_else(|error| panic!("{}: {error}", form.name()));
                assert_eq!(solution.layout.values.u, 0);
                assert!((solution.end.x[0] - 1.0).abs() < 1e-9);
            }
            // nothing determines the rest
            let error = run(LOOSE).unwrap_err();
            let told =
                format!("{error}; {}", std::error::Error::source(&error).map_or(String::new(), ToString::to_string));
            assert!(told.contains("nothing determines"), "{}: {told}", form.name());
            for value in [0.0, 1.0, -1.0, f64::NAN] {
                let Err(SolveError::Options(bad)) = run(Some(value)) else { panic!("{value}") };
                assert!(matches!(bad, BadOption::OutOfRange { name: "rank_tolerance", .. }), "{bad}");
            }
        }
    }
}

#[test]
fn modes_obey_the_tolerance() {
    let run = |equations: &System, x: &[f64], rank_tolerance: Option<f64>| {
        let mut system = Hybrid::new();
        let rest = system.mode(Mode::equations("rest", &AtRest));
        let almost = system.mode(Mode::general("almost", equations.clone(), Form::Auto, RadauIIa::default()));
        system.transition(Transition::at(rest, almost, Schedule::Times(vec![0.05])));
        let options = Options { rank_tolerance, ..Options::default() };
        solve(&Problem::new(&system, Initial::new(0.0, x), 0.1), &HybridOptions::default(), &options)
    };
    let systems =
        [(System::of(&AlmostOneConstraint), [1.0, 1.0, 0.0]), (System::of(&AlmostOneHidden), [1.0, 0.0, 0.0])];
    for (system, x) in &systems {
        for tolerance in [None, Some(EPSILON / 100.0)] {
            let solution = run(system, x, tolerance).unwrap();
            assert_eq!(solution.switch_count, 1);
            assert!((solution.end.x[0] - 1.0).abs() < 1e-9);
        }
        let error = run(system, x, LOOSE).unwrap_err();
        let HybridError::Stopped { cause, .. } = &error else { panic!("{error}") };
        assert!(cause.to_string().contains("nothing determines"), "{cause}");
        for value in [0.0, 1.0, -1.0, f64::NAN] {
            let Err(HybridError::Options(bad)) = run(system, x, Some(value)) else { panic!("{value}") };
            assert!(matches!(bad, BadOption::OutOfRange { name: "rank_tolerance", .. }), "{bad}");
        }
    }
}

#[test]
fn analysis_and_initial_values_obey_the_tolerance() {
    let system = System::of(&AlmostOneConstraint);
    let initial = Initial::new(0.0, &[1.0, 1.0, 0.0]);
    for (ranks, open) in [(RankRule::default(), 0), (RankRule::of(LOOSE), 1)] {
        let depth = Depth { ranks, ..Depth::default() };
        assert_eq!(characterise(&system, &initial, depth).unwrap().values.u, open);
        let found = analyse(&system, &initial, Scope { depth, ..Scope::default() }).unwrap();
        assert_eq!(found.at.values.u, open);
    }
}
