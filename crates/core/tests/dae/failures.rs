//! Where general systems cannot go on: what happened, where, and why; what was computed is kept.

use crate::examples::*;
use daedal::dae::{Equations, Form, Initial, Problem, System, Unknowns, solve};
use daedal::method::StartFailure;
use daedal::scalar::Scalar;
use daedal::{Ended, Options, RadauIIa, Save, Solution, SolveError, StepFailure, Tolerance};

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
/// A point on the crossing lines x² = y², which runs into the crossing at t = 1: x, y, u, v, λ.
Crossing, 5, 5, |t, x, d, r| {
    r[0] = d[0] - x[2];
    r[1] = d[1] - x[3];
    r[2] = d[2] + x[0] * x[4];
    r[3] = d[3] - x[1] * x[4];
    r[4] = x[0].square() - x[1].square();
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
    let options =
        Options { tolerance: Tolerance::new(tolerance, tolerance), save: Save::Steps, ..Options::default() };
    solve(&Problem::new(&system, Initial::new(0.0, x), tend), form, &RadauIIa::default(), &options)
}

fn look<E: Equations>(name: &str, equations: &E, forms: &[Form], x: &[f64], tend: f64) {
    for &form in forms {
        for tolerance in [1e-4, 1e-7, 1e-10] {
            match run(equations, form, x, tend, tolerance) {
                Ok(solution) => println!("{name} {form:?} {tolerance:e}: REACHED {:?} in {} steps", solution.end, solution.statistics.steps),
                Err(SolveError::Stopped { cause, partial }) => println!(
                    "{name} {form:?} {tolerance:e}: t = {:.12} x = {:.6?} after {} steps, {} saved: {cause}",
                    partial.end.t, partial.end.x, partial.statistics.steps, partial.len()
                ),
                Err(SolveError::Start(failure)) => println!("{name} {form:?} {tolerance:e}: start: {failure}"),
                Err(error) => println!("{name} {form:?} {tolerance:e}: {error:?}"),
            }
        }
    }
}

#[test]
fn look_at_all() {
    use Form::{Auto, DerivativeArray, Linear, QuasiLinear};
    look("FadingLeading", &FadingLeading, &[Auto, Linear, QuasiLinear, DerivativeArray], &[1.5], 2.0);
    look("Pole", &Pole, &[Auto, Linear, QuasiLinear], &[1.0], 2.0);
    look("FadingAlgebraic", &FadingAlgebraic, &[Auto, Linear, QuasiLinear, DerivativeArray], &[0.5, 0.5], 2.0);
    look("FadingHidden", &FadingHidden, &[Auto, QuasiLinear, DerivativeArray], &[0.0, 0.3, 0.7], 2.0);
    look("EndsAtHalf", &EndsAtHalf, &[Auto, QuasiLinear, DerivativeArray], &[1.0], 2.0);
    look("PassesZero", &PassesZero, &[Auto, QuasiLinear, DerivativeArray], &[1.0], 2.0);
    look("Crossing", &Crossing, &[Auto, DerivativeArray], &[1.0, 1.0, -1.0, -1.0, 0.0], 2.0);
    look("ShrinkingRod", &ShrinkingRod, &[Auto, DerivativeArray], &[0.0, -1.0, 0.0, 1.0, 1.0], 2.0);
    look("ShrinkingRod moving", &ShrinkingRod, &[Auto, DerivativeArray], &[0.6, -0.8, 0.0, 1.25, 1.0], 2.0);
    look("Contradicting", &Contradicting, &[Auto, QuasiLinear, DerivativeArray], &[0.0], 2.0);
    look("ContradictingSquares", &ContradictingSquares, &[Auto, QuasiLinear, DerivativeArray], &[0.0], 2.0);
    look("NoConstraint", &NoConstraint, &[Auto], &[0.5], 2.0);
}

#[test]
fn the_equations_as_they_stand_are_refused_if_constraints_are_hidden() {
    let failure = run(&Pendulum, Form::Plain, &moving_pendulum(), 1.0, 1e-6).unwrap_err();
    let SolveError::Start(StartFailure::NotPlain { t, values }) = &failure else { panic!("{failure:?}") };
    assert_eq!((*t, values.mu, values.a), (0.0, 2, 3));
    let SolveError::Start(cause) = &failure else { unreachable!() };
    let text = cause.to_string();
    println!("{text}");
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
    let _: &StepFailure = &cause;
}
