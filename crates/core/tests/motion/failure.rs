//! Every way to fail is reached, and says what happened, where, and what to try.

use crate::support::{
    Academic, DoubledPendulum, FOLDING_TIME, PENDULUM, SliderCrank, academic_start, distance, says, tolerance,
};
use daedal::BadTolerance;
use daedal::formulation::{Formulation, Selectors};
use daedal::linalg::Matrix;
use daedal::method::Control;
use daedal::method::State;
use daedal::method::{Decomposition, NewtonPoint};
use daedal::motion::consistent::InitialisationError;
use daedal::motion::{EquationsOfMotion, Mechanism, Motion, Position, Sizes};
use daedal::scalar::Scalar;
use daedal::{BadOption, ConstraintBlock};
use daedal::{
    Ended, Geoms, Initial, Options, Problem, Save, Solution, SolveError, Start, StepFailure, Tolerance, WrongLength,
    solve,
};
use std::error::Error;

/// A point mass on a line under one force.
#[derive(Clone, Copy)]
enum Particle {
    /// v' = v²: infinite at t = 1/v₀.
    Escapes,
    /// v' = √(1 − t): not a number after t = 1.
    EndsAtOne,
    /// v' = √p: no derivative at p = 0.
    Root,
}

impl EquationsOfMotion for Particle {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 1, velocities: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = match self {
            Particle::Escapes => at.v[0].square(),
            Particle::EndsAtOne => (-at.t + 1.0).sqrt(),
            Particle::Root => at.p[0].sqrt(),
        };
    }
}

/// Two coordinates, the second one held by a constraint c(t) p₂ = 0 that fades, explodes or has no effect.
#[derive(Clone, Copy)]
enum Held {
    /// c falls from 1 to 10⁻⁴ at x = ½, and the force ends at t = 1, which nobody knows before since y might move.
    Fades,
    /// c jumps from 10⁻³ to 10³⁰⁷ where x = cos t falls through cos ½.
    Explodes,
    /// A force λ takes the constraint force away.
    Cancelled,
}

impl EquationsOfMotion for Held {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        // nothing shows that it is constant
        let one = at.p[0].select(S::from(1.0), S::from(1.0));
        (M[(0, 0)], M[(1, 1)]) = (one, one);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        match self {
            Held::Fades => f[0] = (-at.t + 1.0 + at.p[1]).sqrt(),
            Held::Explodes => f[0] = -at.p[0],
            Held::Cancelled => f[1] = at.lambda[0],
        }
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[1]
            * match self {
                Held::Fades => (at.p[0] - 0.5).select(S::from(1e-4), S::from(1.0)),
                Held::Explodes => (-at.p[0] + 0.5_f64.cos()).select(S::from(1e307), S::from(1e-3)),
                Held::Cancelled => S::from(1.0),
            };
    }
}

/// 0 = p₂ twice, the second time with t⁴ added: redundant at the start, contradictory soon.
struct Diverging;

impl EquationsOfMotion for Diverging {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 2, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
        M[(1, 1)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = -at.p[0];
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[1];
        g[1] = at.p[1] + at.t.powi(4);
    }
}

/// Initial values of a pendulum that is let go at 90°.
fn released() -> Initial {
    Initial::motion(0.0, &[1.0, 0.0], &[0.0, 0.0])
}

/// Why a run stopped, and what it had computed until then.
#[track_caller]
fn stopped(
    system: &dyn Mechanism,
    initial: Initial,
    tend: f64,
    method: &Geoms,
    options: &Options,
) -> (StepFailure, Solution) {
    match solve(&Problem::new(system, initial, tend), method, options) {
        Err(error @ SolveError::Stopped { .. }) => {
            let (outer, inner) = (error.to_string(), error.source().expect("a cause").to_string());
            let SolveError::Stopped { cause, partial } = error else { unreachable!() };
            says(&outer, &["stopped", &format!("t = {}", partial.end_time())]);
            says(&inner, &[&format!("at t = {}", cause.time())]);
            assert_eq!(inner, cause.to_string());
            assert_eq!(partial.ended, Ended::ByFailure);
            (cause, *partial)
        }
        other => panic!("{other:?}"),
    }
}

/// Points of the partial solution end where the run ended, and are those of a run to that end.
#[track_caller]
fn is_whole(partial: &Solution) {
    assert_eq!(partial.len() as u64, partial.statistics.steps + 1);
    assert_eq!(partial.times.last(), Some(&partial.end_time()));
    assert_eq!(partial.state(partial.len() - 1), &partial.end.x);
    assert!(partial.times.windows(2).all(|w| w[0] < w[1]));
}

fn with_svd() -> Geoms {
    Geoms { constraint_decomposition: Some(Decomposition::Svd), ..Geoms::default() }
}

fn with_lu() -> Geoms {
    Geoms { constraint_decomposition: Some(Decomposition::Lu), ..Geoms::default() }
}

#[test]
fn redundant_constraints_want_the_svd() {
    for kind in [Decomposition::Lu, Decomposition::Qr] {
        let method = Geoms { constraint_decomposition: Some(kind), ..Geoms::default() };
        let (cause, partial) = stopped(&DoubledPendulum, released(), 1.0, &method, &tolerance(1e-6));
        assert_eq!(cause, StepFailure::Redundant { t: 0.0, block: ConstraintBlock::Position, rank: 1, rows: 2 });
        says(&cause.to_string(), &["position-level constraints", "rank 1 of 2", "redundant", "svd", "remove"]);
        is_whole(&partial);
        assert_eq!(partial.end_time(), 0.0);
    }
    // and it is chosen where nothing is said
    let problem = Problem::new(&DoubledPendulum, released(), 1.0);
    let solution = solve(&problem, &Geoms::default(), &tolerance(1e-6)).unwrap();
    says(&solution.decisions, &["constraints by SVD"]);
    assert_eq!(solution.undetermined.len(), 1);
}

#[test]
fn a_rank_that_changes_stops_the_run() {
    let options = Options { rank_tolerance: Some(0.1), ..tolerance(1e-8) };
    let start = Initial::motion(0.0, &[0.0, 0.0], &[0.0, 0.0]);
    let (cause, partial) = stopped(&SliderCrank { l2: 1.0 }, start, 2.0, &with_svd(), &options);
    let StepFailure::RankChange { t, before, now, smallest, neglected, .. } = cause else { panic!("{cause:?}") };
    assert_eq!((before, now), (3, 2));
    assert!(t < FOLDING_TIME && neglected < 0.1 && smallest > 0.1);
    says(&cause.to_string(), &["rank", "3 before, 2 here", "singular configuration", "geometry", "rank_tolerance"]);
    assert!(partial.len() > 10 && partial.end_time() <= t);
}

#[test]
fn a_singularity_between_two_points_is_not_passed() {
    let start = Initial::motion(0.0, &[0.0, 0.0], &[0.0, 0.0]);
    let (cause, partial) = stopped(&SliderCrank { l2: 1.0 }, start, 2.0, &with_lu(), &tolerance(1e-2));
    let StepFailure::Singularity { t, sigma } = cause else { panic!("{cause:?}") };
    // the time belongs to the motion, which has an error by the tolerance
    assert!((t - FOLDING_TIME).abs() < 2e-3 && sigma < 1e-6, "{t} {sigma:e}");
    says(&cause.to_string(), &["lose rank", "singular value", "more than one way", "stop before it"]);
    assert!(partial.len() > 10);
}

#[test]
fn equal_arms_stop_where_they_fold_whatever_the_tolerance() {
    let start = Initial::motion(0.0, &[0.0, 0.0], &[0.0, 0.0]);
    for exponent in 3..=11 {
        for method in [with_lu(), with_svd()] {
            let options = tolerance(10.0_f64.powi(-exponent));
            let (cause, _) = stopped(&SliderCrank { l2: 1.0 }, start.clone(), 2.0, &method, &options);
            assert!((cause.time() - FOLDING_TIME).abs() < 0.02, "{cause:?}");
            assert!(
                matches!(
                    cause,
                    StepFailure::Singularity { .. }
                        | StepFailure::RankLoss { .. }
                        | StepFailure::RankChange { .. }
                        | StepFailure::NewtonFailed { .. }
                ),
                "{cause:?}"
            );
            says(&cause.to_string(), &["rank"]);
        }
    }
}

#[test]
fn failing_newton_iterations_where_rank_is_lost_say_so() {
    let method = Geoms { jacobian_reuse: -1.0, ..with_lu() };
    let (cause, partial) =
        stopped(&Held::Fades, Initial::motion(0.0, &[0.0, 0.0], &[1.0, 0.0]), 2.0, &method, &tolerance(1e-6));
    let StepFailure::RankLoss { t, smallest, .. } = cause else { panic!("{cause:?}") };
    assert!(t > 0.5 && t <= 1.0 && smallest < 1e-2);
    says(&cause.to_string(), &["lose rank", "Newton's iteration fails", "geometry", "stop before it"]);
    is_whole(&partial);
    assert_eq!(partial.end_time(), t);
}

#[test]
fn multipliers_without_an_effect_are_uneven_redundancy() {
    let (cause, partial) =
        stopped(&Held::Cancelled, Initial::motion(0.0, &[0.0, 0.0], &[1.0, 0.0]), 1.0, &with_svd(), &tolerance(1e-6));
    assert_eq!(cause, StepFailure::UnevenRedundancy { t: 0.0, deficiencies: [1, 0, 0] });
    says(&cause.to_string(), &["[1, 0, 0]", "redundant", "cancel its constraint", "singular configuration", "check"]);
    is_whole(&partial);
}

#[test]
fn constraints_that_stop_agreeing_are_contradictory() {
    let start = Initial::motion(0.0, &[1.0, 0.0], &[0.0, 0.0]);
    let (cause, partial) = stopped(&Diverging, start, 2.0, &Geoms::default(), &tolerance(1e-8));
    let StepFailure::Contradiction { t, residual, .. } = cause else { panic!("{cause:?}") };
    assert!(t > 0.0 && t < 0.5 && residual.abs() > 1e-6, "{cause:?}");
    says(&cause.to_string(), &["dropped as redundant", "contradict", "initial values", "check"]);
    assert!(partial.end_time() <= t);
}

#[test]
fn a_force_that_ends_in_time_has_no_value_there() {
    let (cause, partial) =
        stopped(&Particle::EndsAtOne, Initial::motion(0.0, &[0.0], &[0.0]), 2.0, &Geoms::default(), &tolerance(1e-8));
    let StepFailure::Undefined { t } = cause else { panic!("{cause:?}") };
    assert!((t - 1.0).abs() < 1e-9, "{cause:?}");
    says(&cause.to_string(), &["not finite", "check it at this point"]);
    // v = ⅔ (1 − (1 − t)^{3/2}) until there
    is_whole(&partial);
    assert_eq!(partial.end_time(), t);
    for k in 0..partial.len() {
        let x = partial.motion(k);
        assert!((x.v[0] - 2.0 / 3.0 * (1.0 - (1.0 - x.t).powf(1.5))).abs() < 1e-6);
    }
}

#[test]
fn a_fixed_step_that_is_too_large_fails_at_once() {
    let method = Geoms { control: Control::Fixed, ..Geoms::default() };
    let options = Options { h0: Some(0.5), ..tolerance(1e-6) };
    let (cause, partial) = stopped(&PENDULUM, released(), 10.0, &method, &options);
    assert!(matches!(cause, StepFailure::NewtonFailed { failures: 1, h: 0.5, .. }), "{cause:?}");
    is_whole(&partial);
}

#[test]
fn a_solution_that_escapes_ends_with_steps_lost_in_rounding() {
    let (cause, partial) =
        stopped(&Particle::Escapes, Initial::motion(0.0, &[0.0], &[1.0]), 2.0, &Geoms::default(), &tolerance(1e-7));
    let StepFailure::StepTooSmall { t, h } = cause else { panic!("{cause:?}") };
    assert!((t - 1.0).abs() < 1e-5 && h < 1e-14);
    says(&cause.to_string(), &["step size", "rounding", "tolerance may be too small", "the solution ends here"]);
    is_whole(&partial);
    assert_eq!(partial.end_time(), t);
    // v = 1/(1 − t)
    let middle = partial.motion(partial.len() / 20);
    assert!(middle.v[0] > 2.0 && (middle.v[0] * (1.0 - middle.t) - 1.0).abs() < 1e-5, "{middle:?}");
}

#[test]
fn a_run_stops_after_the_allowed_number_of_attempts() {
    let options = Options { max_steps: 20, ..tolerance(1e-8) };
    let (cause, partial) = stopped(&PENDULUM, released(), 10.0, &Geoms::default(), &options);
    let StepFailure::TooManySteps { t, steps } = cause else { panic!("{cause:?}") };
    assert_eq!(steps, 20);
    says(&cause.to_string(), &["20 attempts", "max_steps", "raise"]);
    is_whole(&partial);
    assert!(partial.end_time() == t && t < 10.0 && partial.statistics.steps <= 20);
    // the points are those of a run that ends there
    let whole = solve(&Problem::new(&PENDULUM, released(), 10.0), &Geoms::default(), &tolerance(1e-8)).unwrap();
    assert_eq!(partial.times, whole.times[..partial.len()]);
    assert_eq!(partial.end.x, whole.state(partial.len() - 1));
    // only what was asked for is kept
    let options = Options { save: Save::At(vec![0.0, 0.01, 9.0]), ..options };
    let (_, partial) = stopped(&PENDULUM, released(), 10.0, &Geoms::default(), &options);
    assert_eq!(partial.times, [0.0, 0.01]);
    assert_eq!(partial.end_time(), t);
}

#[test]
fn a_model_without_a_value_at_the_start_is_undefined() {
    // an infinite derivative, then no value at all
    for x in [[0.0, 1.0, 0.0], [0.0, 1.0, -1.0]] {
        let problem = Problem::new(&Particle::Root, Initial::motion(0.0, &[0.0], &[1.0]), 1.0)
            .trust(State { t: 0.5, x: x.to_vec() });
        let error = solve(&problem, &Geoms::default(), &tolerance(1e-6)).unwrap_err();
        let SolveError::Stopped { cause, partial } = error else { panic!("{error:?}") };
        assert_eq!(cause, StepFailure::Undefined { t: 0.5 });
        says(&cause.to_string(), &["at t = 0.5", "not finite", "check it at this point"]);
        assert_eq!(partial.end_time(), 0.5);
        is_whole(&partial);
    }
}

#[test]
fn a_jacobian_beyond_all_numbers_has_no_svd() {
    let method = Geoms { jacobian_reuse: -1.0, ..with_svd() };
    let (cause, partial) =
        stopped(&Held::Explodes, Initial::motion(0.0, &[1.0, 0.0], &[0.0, 0.0]), 1.0, &method, &tolerance(1e-6));
    let StepFailure::SvdFailed { t } = cause else { panic!("{cause:?}") };
    assert!(t >= 0.5);
    says(&cause.to_string(), &["singular value decomposition", "did not converge", "check the model"]);
    assert!(partial.len() > 2);
}

/// The error of a run that does not start.
#[track_caller]
fn refused(problem: &Problem, method: &Geoms, options: &Options) -> BadOption {
    match solve(problem, method, options) {
        Err(error @ SolveError::Options(_)) => {
            let message = error.to_string();
            let SolveError::Options(bad) = error else { unreachable!() };
            assert_eq!(message, bad.to_string());
            bad
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn impossible_tolerances_are_refused() {
    let problem = Problem::new(&PENDULUM, released(), 1.0);
    let nan = f64::NAN;
    for (rtol, atol) in [
        (0.0, 1e-6),
        (-1e-6, 1e-6),
        (nan, 1e-6),
        (1e-20, 1e-20),
        (2.0, 1e-6),
        (1e-6, 0.0),
        (1e-6, -1.0),
        (1e-6, nan),
        (1e-6, f64::INFINITY),
    ] {
        let options = Options { tolerance: Tolerance::new(rtol, atol), ..Options::default() };
        let bad = refused(&problem, &Geoms::default(), &options);
        assert!(matches!(bad, BadOption::Tolerance(BadTolerance::Impossible { .. })), "{bad:?}");
        says(
            &bad.to_string(),
            &["impossible tolerance", &format!("rtol = {rtol:e}"), &format!("atol = {atol:e}"), "between", "positive"],
        );
    }
}

#[test]
fn tolerances_are_as_many_as_unknowns() {
    let problem = Problem::new(&PENDULUM, released(), 0.1);
    let options =
        |n: usize| Options { tolerance: Tolerance::PerComponent(vec![(1e-6, 1e-6); n]), ..Options::default() };
    for given in [0, 4, 7] {
        let bad = refused(&problem, &Geoms::default(), &options(given));
        assert_eq!(bad, BadOption::Tolerance(BadTolerance::WrongLength { given, wanted: 5 }));
        says(&bad.to_string(), &[&format!("{given} tolerances"), "5 unknowns", "p, v, r, w, s, lambda, mu"]);
    }
    let per_component = solve(&problem, &Geoms::default(), &options(5)).unwrap();
    let uniform = solve(&problem, &Geoms::default(), &tolerance(1e-6)).unwrap();
    assert_eq!(per_component.end, uniform.end);
    let mut list = vec![(1e-6, 1e-6); 5];
    list[3].1 = 0.0;
    let options = Options { tolerance: Tolerance::PerComponent(list), ..Options::default() };
    let bad = refused(&problem, &Geoms::default(), &options);
    assert_eq!(bad, BadOption::Tolerance(BadTolerance::Impossible { rtol: 1e-6, atol: 0.0 }));
}

#[test]
fn numbers_out_of_their_range_are_refused_by_name() {
    let problem = Problem::new(&PENDULUM, released(), 1.0);
    let (d, o) = (Geoms::default(), Options::default());
    let nan = f64::NAN;
    let list: Vec<(&str, &str, Geoms, Options)> = vec![
        ("h0", "positive", d.clone(), Options { h0: Some(-1.0), ..o.clone() }),
        ("h0", "positive", d.clone(), Options { h0: Some(nan), ..o.clone() }),
        ("hmax", "positive", d.clone(), Options { hmax: Some(0.0), ..o.clone() }),
        ("hmax", "finite", d.clone(), Options { hmax: Some(f64::INFINITY), ..o.clone() }),
        ("newton_tolerance", "positive", Geoms { newton_tolerance: Some(0.0), ..d.clone() }, o.clone()),
        ("rank_tolerance", "between 0 and 1", d.clone(), Options { rank_tolerance: Some(-1e-9), ..o.clone() }),
        ("rank_tolerance", "between 0 and 1", d.clone(), Options { rank_tolerance: Some(1.0), ..o.clone() }),
        ("rank_tolerance", "between 0 and 1", d.clone(), Options { rank_tolerance: Some(nan), ..o.clone() }),
        ("safety", "between 0.001 and 1", Geoms { safety: 1.0, ..d.clone() }, o.clone()),
        ("smallest ratio", "between 0 and 1", Geoms { ratio: (1.0, 8.0), ..d.clone() }, o.clone()),
        ("largest ratio", "larger than 1", Geoms { ratio: (0.2, 1.0), ..d.clone() }, o.clone()),
        ("jacobian_reuse", "smaller than 1", Geoms { jacobian_reuse: 1.0, ..d.clone() }, o.clone()),
        ("keep_step from", "between 0 and 1", Geoms { keep_step: (1.1, 1.2), ..d.clone() }, o.clone()),
        ("keep_step to", "at least 1", Geoms { keep_step: (1.0, 0.9), ..d.clone() }, o.clone()),
        ("max_newton", "3 to 1000 iterations", Geoms { max_newton: 2, ..d.clone() }, o.clone()),
        (
            "newton_point",
            "from 1 to their number",
            Geoms { newton_point: NewtonPoint::Stage(4), ..d.clone() },
            o.clone(),
        ),
        (
            "newton_point",
            "from 1 to their number",
            Geoms { newton_point: NewtonPoint::Stage(0), ..d.clone() },
            o.clone(),
        ),
        (
            "differential_decomposition",
            "lu or qr",
            Geoms { differential_decomposition: Some(Decomposition::Svd), ..d.clone() },
            o.clone(),
        ),
        ("a time to save at", "in the interval", d.clone(), Options { save: Save::At(vec![0.5, 1.5]), ..o.clone() }),
        ("a time to save at", "in the interval", d.clone(), Options { save: Save::At(vec![-0.5]), ..o.clone() }),
        ("a time to save at", "in the interval", d.clone(), Options { save: Save::At(vec![nan]), ..o.clone() }),
        ("a time to save at", "must rise", d, Options { save: Save::At(vec![0.9, 0.1]), ..o }),
    ];
    for (name, expected, method, options) in list {
        let bad = refused(&problem, &method, &options);
        assert!(matches!(bad, BadOption::OutOfRange { name: n, .. } if n == name), "{bad:?}");
        says(&bad.to_string(), &[name, "impossible", expected]);
    }
}

#[test]
fn time_runs_forward() {
    for tend in [f64::NAN, f64::INFINITY] {
        let problem = Problem::new(&PENDULUM, Initial::motion(1.0, &[1.0, 0.0], &[0.0, 0.0]), tend);
        let bad = refused(&problem, &Geoms::default(), &Options::default());
        says(&bad.to_string(), &["tend", "finite"]);
    }
}

#[test]
fn invariants_must_be_declared_to_be_kept() {
    let problem = Problem::new(&PENDULUM, released(), 1.0);
    let method = Geoms { formulation: Formulation::ProjectedWithInvariants(Selectors::default()), ..Geoms::default() };
    let bad = refused(&problem, &method, &Options::default());
    assert_eq!(bad, BadOption::NoInvariants);
    says(&bad.to_string(), &["invariants", "declares none", "use psf"]);
}

/// The error of a run without consistent initial values.
#[track_caller]
fn inconsistent(system: &dyn Mechanism, initial: Initial) -> (InitialisationError, String) {
    let error = solve(&Problem::new(system, initial, 1.0), &Geoms::default(), &Options::default()).unwrap_err();
    says(&error.to_string(), &["no consistent initial values"]);
    let message = error.source().expect("a cause").to_string();
    match error {
        SolveError::Initialisation(cause) => {
            assert_eq!(message, cause.to_string());
            (cause, message)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn blocks_of_the_wrong_length_are_named() {
    let guess = |n: usize| vec![Start::Guess(0.0); n];
    let start = academic_start();
    let list = [
        ("the positions p", 3, Initial { p: guess(2), ..start.clone() }, 2),
        ("the positions p", 3, Initial { p: vec![], ..start.clone() }, 0),
        ("the velocities v", 3, Initial { v: guess(4), ..start.clone() }, 4),
        ("the dynamic force elements r", 2, Initial { r: guess(1), ..start.clone() }, 1),
        ("the auxiliary variables w", 1, Initial { w: guess(2), ..start.clone() }, 2),
        ("the contact variables s", 2, Initial { s: guess(3), ..start.clone() }, 3),
        ("the multipliers lambda", 2, Initial { lambda: guess(1), ..start.clone() }, 1),
        ("the multipliers mu", 0, Initial { mu: guess(1), ..start.clone() }, 1),
    ];
    for (block, wanted, initial, given) in list {
        let (cause, message) = inconsistent(&Academic, initial);
        assert_eq!(cause, InitialisationError::WrongLength(WrongLength { block, given, wanted }));
        says(&message, &[&format!("{given} initial values"), block, &format!("has {wanted}")]);
    }
}

#[test]
fn initial_values_that_are_not_numbers_are_named() {
    for value in [f64::NAN, f64::INFINITY] {
        let (cause, message) = inconsistent(&PENDULUM, Initial::motion(0.0, &[1.0, 0.0], &[0.0, value]));
        assert!(matches!(&cause, InitialisationError::NotFinite { name, .. } if name == "v2"));
        says(&message, &["initial value of v2", &value.to_string(), "finite"]);
    }
    // a fixed value, and the time itself
    let mut initial = released();
    initial.p[0] = Start::Fixed(f64::NAN);
    says(&inconsistent(&PENDULUM, initial).1, &["p1", "NaN", "finite"]);
    let problem = Problem::new(&PENDULUM, Initial::motion(f64::NEG_INFINITY, &[1.0, 0.0], &[0.0, 0.0]), 1.0);
    let error = solve(&problem, &Geoms::default(), &Options::default()).unwrap_err();
    let SolveError::Initialisation(InitialisationError::NotFinite { name, .. }) = error else { panic!("{error:?}") };
    assert_eq!(name, "t0");
}

#[test]
fn a_model_without_a_value_near_the_guess_is_undefined() {
    let (cause, message) = inconsistent(&Particle::Root, Initial::motion(0.25, &[-1.0], &[0.0]));
    assert_eq!(cause, InitialisationError::Undefined { t: 0.25 });
    says(&message, &["not finite", "t = 0.25", "check"]);
}

#[test]
fn what_nothing_fixes_is_named() {
    let mut initial = released();
    initial.v = vec![Start::Unknown; 2];
    let (cause, message) = inconsistent(&PENDULUM, initial);
    assert_eq!(cause, InitialisationError::Underdetermined { names: vec!["v2".into()], count: 1 });
    says(&message, &["underdetermined", "v2", "give 1 more value", "condition"]);
}

#[test]
fn what_cannot_be_satisfied_is_named() {
    let mut initial = released();
    initial.p = vec![Start::Fixed(1.0), Start::Fixed(1.0)];
    let (cause, message) = inconsistent(&PENDULUM, initial);
    let InitialisationError::Contradictory { equations, fixed } = cause else { panic!("{cause:?}") };
    assert_eq!(equations, [("holonomic constraint 1".to_string(), 1.0)]);
    assert_eq!(fixed, ["p1", "p2"]);
    says(
        &message,
        &[
            "contradictory",
            "holonomic constraint 1",
            "residual 1.000e0",
            "fixed are p1, p2",
            "make one of them a guess",
        ],
    );
}

#[test]
fn an_iteration_that_goes_in_circles_does_not_converge() {
    // Newton's iteration on sign(v) √|v| jumps from v to −v for ever; shortened steps come near zero, where there is no derivative
    let initial = Initial::motion(0.0, &[0.0], &[1.0]).condition("root", |x| x.v[0].signum() * x.v[0].abs().sqrt());
    let (cause, message) = inconsistent(&Particle::EndsAtOne, initial);
    let InitialisationError::NoConvergence { equation, residual, .. } = cause else { panic!("{cause:?}") };
    assert_eq!(equation, "condition root");
    assert!(residual.abs() > 1e-9);
    says(&message, &["did not converge", "condition root", "residual", "start closer"]);
}

#[test]
fn a_failure_leaves_dense_output_of_what_was_computed() {
    let options = Options { max_steps: 30, save: Save::Dense, ..tolerance(1e-8) };
    let (_, partial) = stopped(&PENDULUM, released(), 10.0, &Geoms::default(), &options);
    is_whole(&partial);
    assert_eq!(partial.segments.len() + 1, partial.len());
    let mut x = vec![0.0; partial.layout.dim()];
    partial.eval(partial.end_time(), &mut x).unwrap();
    assert!(distance(&x, &partial.end.x) < 1e-14);
    assert!(partial.max_residuals.position.unwrap() < 1e-12);
    assert!(partial.proposed_step > 0.0);
}
