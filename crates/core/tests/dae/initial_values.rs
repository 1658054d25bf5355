//! Consistent initial values: what is fixed holds, guesses are kept where the equations allow. Wunderlich (2008), 5.1 and 5.3.

use crate::examples::*;
use daedal::dae::{
    AnalysisError, Characteristics, Depth, Equations, Form, Formulas, InForm, System, Violated, characterise,
};
use daedal::graph::Interpreted;
use daedal::scalar::Scalar;
use daedal::{Initial, Problem, Start, solve};
use daedal::{Options, RadauIIa, SolveError};

/// The pendulum with names.
struct Named;

impl Equations for Named {
    fn dim(&self) -> usize {
        5
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        Pendulum.residual(t, x, xdot, r);
    }
    fn names(&self) -> Vec<String> {
        ["x", "y", "u", "v", "lambda"].map(String::from).to_vec()
    }
    fn row_names(&self) -> Vec<String> {
        ["x'", "y'", "force x", "force y", "rod"].map(String::from).to_vec()
    }
}

/// The guess of the source.
const GUESS: [f64; 5] = [0.9, -0.3, 0.1, 0.2, 0.0];

fn consistent(initial: &Initial) -> Result<Characteristics, AnalysisError> {
    characterise(&System::of(&Named), initial, Depth::default())
}

/// Position, velocity and acceleration constraint.
fn residuals(x: &[f64]) -> [f64; 3] {
    [
        x[0] * x[0] + x[1] * x[1] - 1.0,
        x[0] * x[2] + x[1] * x[3],
        x[2] * x[2] + x[3] * x[3] - 13.75 * x[1] - 2.0 * (x[0] * x[0] + x[1] * x[1]) * x[4],
    ]
}

fn satisfies(x: &[f64]) {
    assert!(residuals(x).iter().all(|r| r.abs() < 1e-12), "{x:?}: {:?}", residuals(x));
}

#[test]
fn hybrid_5_1_consistent_values_from_a_guess() {
    let found = consistent(&Initial::new(0.0, &GUESS)).unwrap();
    satisfies(found.x());
    println!("5.1: {:?}, {:?}", found.x(), found.fit);
    assert!(found.released && found.fit.iterations <= 10, "{:?}", found.fit);
    let moved = |x: &[f64], of: usize| (0..of).map(|j| (x[j] - GUESS[j]).abs()).fold(0.0, f64::max);
    assert!(moved(found.x(), 5) < 0.4, "{:?}", found.x());
    // a guess of the multiplier counts as much as the others; without it positions and velocities stay closer
    let free = consistent(&Initial::new(0.0, &GUESS).unknown(4)).unwrap();
    println!("5.1 λ unknown: {:?}, {:?}", free.x(), free.fit);
    satisfies(free.x());
    assert!(moved(free.x(), 4) < 0.1, "{:?}", free.x());
    // the derivative is one of the equations
    assert!((found.xdot()[0] - found.x()[2]).abs() < 1e-12);
}

#[test]
fn hybrid_5_3_position_and_velocity_may_be_fixed() {
    let found = consistent(&Initial::new(0.0, &GUESS).fix(0, 0.9).fix(2, 0.1)).unwrap();
    satisfies(found.x());
    assert_eq!((found.x()[0], found.x()[2]), (0.9, 0.1));
    println!("5.3 (x, u): {:?}", found.x());
    // the branch of the guess
    assert!(found.x()[1] < 0.0);
}

#[test]
fn hybrid_5_3_positions_off_the_circle_must_not_be_fixed_both() {
    let error = consistent(&Initial::new(0.0, &GUESS).fix(0, 0.9).fix(1, -0.3)).unwrap_err();
    println!("5.3 (x, y): {error}");
    let AnalysisError::FixedInconsistent { fixed, equations, t } = &error else { panic!("{error:?}") };
    let [Violated { equation, differentiated, residual }] = &equations[..] else { panic!("{error}") };
    assert_eq!(
        (fixed.as_slice(), equation.as_str(), *differentiated, *t),
        (["x".to_string(), "y".into()].as_slice(), "rod", 0, 0.0)
    );
    assert!((residual.abs() - 0.1).abs() < 1e-12, "{residual}");
    assert!(error.to_string().contains("x, y fixed") && error.to_string().contains("`rod`"));
    // on the circle they may
    let found = consistent(&Initial::new(0.0, &GUESS).fix(0, 0.6).fix(1, -0.8)).unwrap();
    satisfies(found.x());
    assert_eq!(found.x()[..2], [0.6, -0.8]);
}

#[test]
fn hybrid_5_3_the_multiplier_alone_may_be_fixed() {
    let found = consistent(&Initial::new(0.0, &GUESS).fix(4, 5.0)).unwrap();
    satisfies(found.x());
    assert_eq!(found.x()[4], 5.0);
    println!("5.3 λ: {:?} {:?}", found.x(), found.fit);
}

#[test]
fn a_fixed_derivative_holds() {
    let mut initial = Initial::new(0.0, &GUESS);
    initial.derivatives = vec![vec![Start::Unknown, Start::Fixed(0.7)]];
    let found = consistent(&initial).unwrap();
    satisfies(found.x());
    println!("y' fixed: {:?}", found.x());
    assert!((found.x()[3] - 0.7).abs() < 1e-12 && found.xdot()[1] == 0.7);
    // y' and v are the same: two numbers contradict, and both are named
    let error = consistent(&initial.fix(3, 0.5)).unwrap_err();
    println!("y', v fixed: {error}");
    let AnalysisError::FixedInconsistent { fixed, .. } = &error else { panic!("{error:?}") };
    assert_eq!(fixed, &["v", "y'"]);
}

#[test]
fn unknown_values_are_computed() {
    let found =
        consistent(&Initial::new(0.0, &GUESS).fix(0, 0.6).guess(1, -0.7).unknown(3).unknown(4).fix(2, 0.4)).unwrap();
    satisfies(found.x());
    println!("unknown: {:?}", found.x());
    let wanted = [0.6, -0.8, 0.4, 0.3, 0.5 * (0.25 + 13.75 * 0.8)];
    assert!(found.x().iter().zip(wanted).all(|(x, w)| (x - w).abs() < 1e-12), "{:?}", found.x());
}

#[test]
fn conditions_at_the_start_hold() {
    let mut formulas = Formulas::trace(&Named);
    let [x, y, u, v] = [0, 1, 2, 3].map(|j| formulas.input(j, 0).unwrap());
    let udot = formulas.input(2, 1).unwrap();
    let (speed, slope, force) = formulas.graph.with(|| (u.square() + v.square() - 1.0, x + y * 0.5, udot + 4.0));
    let system = System::new(&formulas, Interpreted);
    let guess = Initial::new(0.0, &GUESS);
    let initial = guess.clone().formula("speed", speed).formula("slope", slope);
    let found = characterise(&system, &initial, Depth::default()).unwrap();
    println!("conditions: {:?}", found.x());
    satisfies(found.x());
    let z = found.x();
    assert!((z[2].powi(2) + z[3].powi(2) - 1.0).abs() < 1e-12 && (z[0] + 0.5 * z[1]).abs() < 1e-12);
    // a condition on a derivative
    let initial = guess.clone().formula("force", force);
    let found = characterise(&system, &initial, Depth::default()).unwrap();
    println!("condition on u': {:?}", found.x());
    satisfies(found.x());
    assert!((found.xdot()[2] + 4.0).abs() < 1e-12);
    // conditions that contradict what is fixed are told
    let initial = guess.formula("slope", slope).fix(0, 0.9);
    let error = characterise(&system, &initial, Depth::default()).unwrap_err();
    println!("contradiction: {error}");
    assert!(matches!(error, AnalysisError::FixedInconsistent { .. }));
}

#[test]
fn consistent_guesses_are_not_moved_at_all() {
    let x = moving_pendulum();
    let found = consistent(&Initial::new(0.0, &x)).unwrap();
    assert_eq!(found.x(), x);
    assert!(!found.released);
    // through a run, too
    for form in [Form::QuasiLinear, Form::DerivativeArray] {
        let system = System::of(&Named);
        let run = solve(
            &Problem::new(&system, Initial::new(0.0, &x), 0.0),
            &InForm { form, integrator: &RadauIIa::default() },
            &Options::default(),
        );
        assert_eq!(run.unwrap().end.x, x);
    }
}

#[test]
fn wrong_length_is_told() {
    for given in [0, 3, 6] {
        let error = consistent(&Initial::new(0.0, &vec![0.5; given])).unwrap_err();
        assert_eq!(error, AnalysisError::WrongLength { given, wanted: 5 });
        assert_eq!(error.to_string(), format!("{given} initial values given for 5 states"));
    }
    // of systems that need no reduction, too
    let system = System::of(&Circle);
    for given in [1, 3] {
        let initial = Initial::new(0.0, &[1.0, 0.0, 0.0][..given]);
        let run = solve(&Problem::new(&system, initial, 1.0), &RadauIIa::default(), &Options::default());
        assert!(
            matches!(&run, Err(SolveError::Analysis(AnalysisError::WrongLength { wanted: 2, .. }))),
            "{given} values: {:?}",
            run.map(|s| s.end)
        );
    }
}

#[test]
fn values_that_are_not_finite_are_told() {
    for value in [f64::NAN, f64::INFINITY] {
        for initial in [Initial::new(0.0, &GUESS).guess(1, value), Initial::new(0.0, &GUESS).fix(1, value)] {
            let error = consistent(&initial).unwrap_err();
            assert_eq!(error, AnalysisError::NotFinite { name: "y".into() });
        }
    }
    assert!(AnalysisError::NotFinite { name: "y".into() }.to_string().contains("`y` is not finite"));
    let system = System::of(&Circle);
    let initial = Initial::new(0.0, &[f64::NAN, 0.0]);
    let run = solve(&Problem::new(&system, initial, 1.0), &RadauIIa::default(), &Options::default());
    assert!(matches!(run, Err(SolveError::Analysis(AnalysisError::NotFinite { .. }))));
}

example!(
/// 0 = x' − √x.
Root, 1, 1, |t, x, d, r| {
    r[0] = d[0] - x[0].sqrt();
});
example!(
/// 0 = x² + 1: no real root.
NoRoot, 2, 2, |t, x, d, r| {
    r[0] = d[0] - x[1];
    r[1] = x[1].square() + 1.0;
});

#[test]
fn equations_without_a_value_are_told() {
    let error =
        characterise(&System::of(&Root), &Initial::new(0.5, &[-1.0]).fix(0, -1.0), Depth::default()).unwrap_err();
    println!("{error}");
    assert_eq!(error, AnalysisError::Undefined { t: 0.5 });
    assert!(error.to_string().contains("t = 0.5") && error.to_string().contains("no finite value"));
}

#[test]
fn equations_without_a_solution_are_told() {
    let error = characterise(&System::of(&NoRoot), &Initial::new(0.5, &[1.0, 0.7]), Depth::default()).unwrap_err();
    println!("{error}");
    let AnalysisError::Inconsistent { t, equations } = &error else { panic!("{error:?}") };
    let [Violated { equation, differentiated, residual }] = &equations[..] else { panic!("{error}") };
    assert_eq!((*t, equation.as_str(), *differentiated), (0.5, "eq.1", 0));
    assert!(residual.abs() > 1e-3);
    assert!(error.to_string().contains("`eq.1`") && error.to_string().contains("t = 0.5"));
}

#[test]
fn an_index_beyond_the_limit_is_told() {
    let depth = Depth { most: 1, ..Depth::default() };
    let error = characterise(&System::of(&Named), &Initial::new(0.0, &moving_pendulum()), depth).unwrap_err();
    println!("{error}");
    let AnalysisError::IndexNotFound { most, last, equations, .. } = &error else { panic!("{error:?}") };
    assert_eq!((*most, *equations, last.level, last.a), (1, 5, 1, 2));
    assert!(error.to_string().contains("not found up to 1 differentiations"));
}

/// y' = 1, z' = 0, r = w', u = 0.3 z + sin y, w = sin y.
struct Waves;

impl Equations for Waves {
    fn dim(&self) -> usize {
        5
    }
    fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let [y, z, u, w, rate] = [x[0], x[1], x[2], x[3], x[4]];
        r[0] = xdot[0] - 1.0;
        r[1] = xdot[1];
        r[2] = rate - xdot[3];
        r[3] = u - z * 0.3 - y.sin();
        r[4] = w - y.sin();
    }
}

#[test]
fn guesses_are_released_without_running_to_where_they_do_not_help() {
    // u is far off; y could help until sin y is at its top, and would then have to move without bounds
    let guess = [1.13, -0.35, 2.24, 0.9044, 0.55];
    let found = characterise(&System::of(&Waves), &Initial::new(0.0, &guess), Depth::default()).unwrap();
    let x = found.x();
    assert!((x[2] - 0.3 * x[1] - x[0].sin()).abs() < 1e-12 && (x[3] - x[0].sin()).abs() < 1e-12, "{x:?}");
    assert!((x[0] - guess[0]).abs() < 1.0, "{x:?}");
}
