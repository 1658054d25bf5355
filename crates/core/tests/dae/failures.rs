//! Where general systems cannot go on: what happened, where, and why; what was computed is kept.

use crate::examples::*;
use daedal::dae::{Equations, Form, InForm, System, Unknowns};
use daedal::method::StartFailure;
use daedal::scalar::Scalar;
use daedal::{Ended, Initial, Options, Problem, RadauIIa, Save, Solution, SolveError, StepFailure, Tolerance, solve};
use std::error::Error;

example!(
    /// A point on two crossing lines, x² = y², that runs through their crossing at t = 1.
    Crossing,
    5,
    5,
    |t, x, d, r| {
        r[0] = d[0] - x[2];
        r[1] = d[1] - x[3];
        r[2] = d[2] + x[0] * x[4];
        r[3] = d[3] - x[1] * x[4];
        r[4] = x[0].square() - x[1].square();
    }
);
example!(
/// (1 − t) x' = 1 − x: the smooth solution 1 + c (1 − t) passes t = 1, where nothing determines x'.
FadingLeading, 1, 1, |t, x, d, r| {
    r[0] = (-t + 1.0) * d[0] - 1.0 + x[0];
});
example!(
/// (1 − t) x' = x: x = 1/(1 − t).
Pole, 1, 1, |t, x, d, r| {
    r[0] = (-t + 1.0) * d[0] - x[0];
});
example!(
/// x' = 1, 0 = (1 − t) z − x: z has a pole.
FadingAlgebraic, 2, 2, |t, x, d, r| {
    r[0] = d[0] - 1.0;
    r[1] = (-t + 1.0) * x[1] - x[0];
});
example!(
/// x' = (1 − t) z + y, y' = x, 0 = x − sin t: index 2 until t = 1, z with a pole.
FadingHidden, 3, 3, |t, x, d, r| {
    r[0] = d[0] - (-t + 1.0) * x[2] - x[1];
    r[1] = d[1] - x[0];
    r[2] = x[0] - t.sin();
});
example!(
/// x x' = −1: x = √(1 − 2t) ends at t = ½.
EndsAtHalf, 1, 1, |t, x, d, r| {
    r[0] = x[0] * d[0] + 1.0;
});
example!(
/// x (x' + 1) = 0: x = 1 − t passes the singular point x = 0.
PassesZero, 1, 1, |t, x, d, r| {
    r[0] = x[0] * (d[0] + 1.0);
});
example!(
/// A pendulum whose rod shrinks to nothing at t = 1.
ShrinkingRod, 5, 5, |t, x, d, r| {
    r[0] = d[0] - x[2];
    r[1] = d[1] - x[3];
    r[2] = d[2] + x[0] * x[4];
    r[3] = d[3] + x[1] * x[4] + 1.0;
    r[4] = x[0].square() + x[1].square() - (-t + 1.0).square();
});
example!(
/// x' = 1 and x = t + max(0, t − 1)³: contradicting after t = 1.
Contradicting, 1, 2, |t, x, d, r| {
    let late = ((t - 1.0).abs() + t - 1.0) * 0.5;
    r[0] = d[0] - 1.0;
    r[1] = x[0] - t - late.powi(3);
});
example!(
/// The same with a square: not linear.
ContradictingSquares, 1, 2, |t, x, d, r| {
    let late = ((t - 1.0).abs() + t - 1.0) * 0.5;
    r[0] = d[0] - 1.0;
    r[1] = x[0].square() - (t + late.powi(3)).square() + x[0] - t - late.powi(3);
});

fn run<E: Equations>(
    equations: &E,
    form: Form,
    x: &[f64],
    tend: f64,
    tolerance: f64,
) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
    let system = System::of(equations);
    let options = Options { tolerance: Tolerance::new(tolerance, tolerance), save: Save::Steps, ..Options::default() };
    solve(
        &Problem::new(&system, Initial::new(0.0, x), tend),
        &InForm { form, integrator: &RadauIIa::default() },
        &options,
    )
}

/// Why and where a run stopped; times are in order, saved points are finite, and the message says where.
fn stopped<E: Equations>(equations: &E, form: Form, x: &[f64], tolerance: f64) -> (StepFailure, Solution<Unknowns>) {
    match run(equations, form, x, 2.0, tolerance) {
        Err(SolveError::Stopped { cause, partial }) => {
            println!("{form:?} {tolerance:e}: {} steps to t = {}: {cause}", partial.statistics.steps, partial.end.t);
            assert!(cause.to_string().contains(&format!("t = {}", cause.time())), "{cause}");
            // where a formula of time has a kink both sides are points
            let points = partial.len() as u64 - partial.statistics.steps;
            assert!(points == 1 || points == 2, "{:?}", partial.times);
            assert!(partial.end.x.iter().all(|x| x.is_finite()));
            (cause, *partial)
        }
        Err(error) => panic!("{form:?} {tolerance:e}: {error:?}"),
        Ok(solution) => panic!("{form:?} {tolerance:e}: passed to {:?}", solution.end),
    }
}

const TOLERANCES: [f64; 3] = [1e-4, 1e-7, 1e-10];

#[test]
fn a_leading_coefficient_that_vanishes_on_the_way_stops_the_run() {
    for tolerance in TOLERANCES {
        let (cause, partial) = stopped(&FadingLeading, Form::Auto, &[1.5], tolerance);
        assert!(matches!(cause, StepFailure::LeadingSingular { .. }), "{cause}");
        // the step that passed ends there
        assert!((partial.end.t - 1.0).abs() < 1e-5 && partial.times[partial.len() - 2] < 1.0, "{:?}", partial.times);
        for k in 0..partial.len() - 1 {
            let exact = 1.5 - 0.5 * partial.times[k];
            assert!((partial.state(k)[0] - exact).abs() < 10.0 * tolerance, "{tolerance:e}: {}", partial.times[k]);
        }
    }
}

#[test]
fn a_state_that_passes_a_zero_of_its_own_coefficient_stops_the_run() {
    for tolerance in TOLERANCES {
        let (cause, partial) = stopped(&PassesZero, Form::Auto, &[1.0], tolerance);
        assert!(matches!(cause, StepFailure::LeadingSingular { .. }), "{cause}");
        assert!(partial.times[partial.len() - 2] < 1.0);
        // example 7.6: c e^t reaches 1 at t = ln 2
        let (cause, partial) = stopped(&NoConstraint, Form::Auto, &[0.5], tolerance);
        assert!(matches!(cause, StepFailure::LeadingSingular { .. }), "{cause}");
        assert!((partial.end.t - 2.0_f64.ln()).abs() < 0.02, "{}", partial.end.t);
        assert!(partial.times[partial.len() - 2] < 2.0_f64.ln());
    }
}

#[test]
fn a_solution_that_ends_stops_the_run_there() {
    for form in [Form::Auto, Form::QuasiLinear, Form::DerivativeArray] {
        for (tolerance, near) in TOLERANCES.into_iter().zip([1e-4, 1e-6, 1e-7]) {
            let (cause, partial) = stopped(&EndsAtHalf, form, &[1.0], tolerance);
            assert!((partial.end.t - 0.5).abs() < near, "{form:?} {tolerance:e}: {}", partial.end.t);
            let told = cause.to_string();
            assert!(told.contains("singular point") || told.contains("the solution ends here"), "{told}");
        }
    }
}

#[test]
fn a_pole_stops_the_run_before_it() {
    for tolerance in TOLERANCES {
        for form in [Form::Auto, Form::Linear, Form::QuasiLinear] {
            let (_, partial) = stopped(&Pole, form, &[1.0], tolerance);
            assert!((0.0..1e-6).contains(&(1.0 - partial.end.t)), "{form:?} {tolerance:e}: {}", partial.end.t);
        }
        for form in [Form::Auto, Form::QuasiLinear, Form::DerivativeArray] {
            let (_, partial) = stopped(&FadingAlgebraic, form, &[0.5, 0.5], tolerance);
            assert!((0.0..1e-6).contains(&(1.0 - partial.end.t)), "{form:?} {tolerance:e}: {}", partial.end.t);
        }
    }
}

#[test]
fn an_index_that_rises_on_the_way_stops_the_run() {
    for tolerance in TOLERANCES {
        for form in [Form::Auto, Form::QuasiLinear, Form::DerivativeArray] {
            let (cause, partial) = stopped(&FadingHidden, form, &[0.0, 0.3, 0.7], tolerance);
            assert!((0.0..1e-6).contains(&(1.0 - partial.end.t)), "{form:?} {tolerance:e}: {}", partial.end.t);
            match cause {
                StepFailure::CharacteristicChange { before, now, .. } => {
                    assert_eq!((before.mu, before.d, before.a), (1, 1, 2));
                    assert_ne!(before, now);
                }
                // a step may end so far behind that ranks are the same again
                cause => assert!(matches!(cause, StepFailure::LeadingSingular { .. }), "{cause}"),
            }
        }
    }
}

#[test]
fn a_rod_that_shrinks_to_nothing_stops_the_run() {
    for form in [Form::Auto, Form::DerivativeArray] {
        for tolerance in TOLERANCES {
            let (cause, partial) = stopped(&ShrinkingRod, form, &[0.0, -1.0, 0.0, 1.0, 1.0], tolerance);
            assert!((0.0..1e-2).contains(&(1.0 - partial.end.t)), "{form:?} {tolerance:e}: {}", partial.end.t);
            assert!(cause.to_string().contains("singular point"), "{cause}");
            // it hangs all the time
            assert!((partial.end.x[1] + 1.0 - partial.end.t).abs() < tolerance, "{:?}", partial.end);
        }
    }
}

#[test]
fn equations_that_begin_to_contradict_each_other_stop_the_run() {
    for tolerance in TOLERANCES {
        for form in [Form::Auto, Form::Linear, Form::QuasiLinear, Form::DerivativeArray] {
            let (cause, partial) = stopped(&Contradicting, form, &[0.0], tolerance);
            assert!(matches!(cause, StepFailure::Contradictory { .. }), "{form:?}: {cause}");
            assert!(partial.times[partial.len() - 2] <= 1.03, "{form:?}: {:?}", partial.times);
        }
        for form in [Form::Auto, Form::QuasiLinear, Form::DerivativeArray] {
            let (cause, partial) = stopped(&ContradictingSquares, form, &[0.0], tolerance);
            assert!(matches!(cause, StepFailure::Contradictory { .. }), "{form:?}: {cause}");
            assert!((1.0..1.2).contains(&partial.end.t), "{form:?} {tolerance:e}: {}", partial.end.t);
        }
    }
}

#[test]
fn the_equations_as_they_stand_are_refused_if_constraints_are_hidden() {
    let failure = run(&Pendulum, Form::Plain, &moving_pendulum(), 1.0, 1e-6).unwrap_err();
    let SolveError::Start(StartFailure::NotPlain { t, values }) = &failure else { panic!("{failure:?}") };
    assert_eq!((*t, values.mu, values.a), (0.0, 2, 3));
    let text = failure.source().unwrap().to_string();
    assert!(text.contains("μ = 2") && text.contains("quasilinear") && text.contains("hidden"), "{text}");
    // redundant equations, too
    let failure = run(&Overdetermined, Form::Plain, &[0.0], 1.0, 1e-6).unwrap_err();
    assert!(matches!(failure, SolveError::Start(StartFailure::NotPlain { .. })), "{failure:?}");
}

#[test]
fn the_linear_form_is_refused_if_equations_are_not_linear() {
    let failure = run(&Pendulum, Form::Linear, &moving_pendulum(), 1.0, 1e-6).unwrap_err();
    let SolveError::Start(cause @ StartFailure::NotLinear) = &failure else { panic!("{failure:?}") };
    assert!(cause.to_string().contains("not linear") && cause.to_string().contains("auto"));
}

#[test]
fn what_was_computed_is_kept() {
    let failure = run(&EndsAtHalf, Form::Auto, &[1.0], 2.0, 1e-8).unwrap_err();
    let text = failure.to_string();
    let SolveError::Stopped { cause, partial } = failure else { panic!("{failure:?}") };
    assert_eq!(text, format!("the run stopped at t = {}", partial.end.t));
    assert_eq!(partial.ended, Ended::ByFailure);
    assert_eq!(partial.len() as u64, partial.statistics.steps + 1);
    assert_eq!(*partial.times.last().unwrap(), partial.end.t);
    for (k, &t) in partial.times.iter().enumerate() {
        let exact = (1.0 - 2.0 * t).max(0.0).sqrt();
        assert!((partial.state(k)[0] - exact).abs() < 1e-4, "{t}: {} {exact}", partial.state(k)[0]);
    }
    assert_eq!(cause.time(), partial.end.t);
}

#[test]
fn a_singular_point_of_the_constraints_that_a_step_passes_stops_the_run() {
    for tolerance in TOLERANCES {
        let (cause, partial) = stopped(&Crossing, Form::QuasiLinear, &[1.0, 1.0, -1.0, -1.0, 0.0], tolerance);
        assert!(matches!(cause, StepFailure::ConstraintsSingular { .. }), "{cause}");
        assert!((cause.time() - 1.0).abs() < 1e-5 && partial.end.t == cause.time(), "{cause}");
    }
}
