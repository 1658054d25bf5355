//! Systems that start where coefficients of their hidden constraints vanish: at rest, upright, with a rope that hangs. No term is lost.

use crate::examples::*;
use daedal::dae::analysis::{Scope, analyse};
use daedal::dae::hidden::Role;
use daedal::dae::{Equations, Form, InForm, System, Unknowns};
use daedal::scalar::{Scalar, Taylor};
use daedal::{Initial, Options, Problem, RadauIIa, Save, Solution, SolveError, StepFailure, Tolerance, solve};

example!(
    /// A force F pushes at an angle p: x' = F p, z' = F, p' = u, with x = t⁴/4 and z = t²/2 + t. F = 1 + t, p = t³/(1 + t).
    Angle,
    5,
    5,
    |t, x, d, r| {
        r[0] = d[0] - x[3] * x[2];
        r[1] = d[1] - x[3];
        r[2] = d[2] - x[4];
        r[3] = x[0] - t.powi(4) * 0.25;
        r[4] = x[1] - t.square() * 0.5 - t;
    }
);

example!(
/// x' = F c + p, z' = F, p' = u, with x = sin t, z = t² and a coefficient c that is zero for a long time: here (t/10)⁶⁰.
FlatForLong, 5, 5, |t, x, d, r| {
    r[0] = d[0] - x[3] * (t * 0.1).powi(60) - x[2];
    r[1] = d[1] - x[3];
    r[2] = d[2] - x[4];
    r[3] = x[0] - t.sin();
    r[4] = x[1] - t.square();
});
example!(
/// The same with c = max(0, t − 1)³, and p' = u + p²/10.
ZeroUntilOne, 5, 5, |t, x, d, r| {
    r[0] = d[0] - x[3] * (t - 1.0).max(S::from(0.0)).powi(3) - x[2];
    r[1] = d[1] - x[3];
    r[2] = d[2] - x[4] - x[2].square() * 0.1;
    r[3] = x[0] - t.sin();
    r[4] = x[1] - t.square();
});

const MASS: f64 = 1.2;
const INERTIA: f64 = 0.05;
const GRAVITY: f64 = 9.81;

/// Path of the quadrotor, and of the load of the crane: at rest at t = 0.
fn path<S: Scalar>(t: S) -> [S; 2] {
    [t.powi(5) * 0.05 * (-t).exp(), t.powi(4) * 0.1]
}

example!(
/// A planar quadrotor that hovers at t = 0 and follows a path: x, z, θ, their rates, thrust F and torque τ. Index 5.
Quadrotor, 8, 8, |t, x, d, r| {
    let [px, pz] = path(t);
    r[0] = d[0] - x[3];
    r[1] = d[1] - x[4];
    r[2] = d[2] - x[5];
    r[3] = d[3] * MASS + x[6] * x[2].sin();
    r[4] = d[4] * MASS - x[6] * x[2].cos() + MASS * GRAVITY;
    r[5] = d[5] * INERTIA - x[7];
    r[6] = x[0] - px;
    r[7] = x[1] - pz;
});
example!(
/// A trolley s with a winch: a rope of length L carries a load (x, z) along a path. Unknowns s, L, x, z, their rates, the tension T, forces
/// u of the trolley and w of the winch. Index 5.
Crane, 11, 11, |t, x, d, r| {
    let [px, pz] = path(t);
    let (s, L, X, Z, T) = (x[0], x[1], x[2], x[3], x[8]);
    for k in 0..4 {
        r[k] = d[k] - x[4 + k];
    }
    r[4] = d[4] - x[9] - T * (X - s) / L;
    r[5] = d[5] * 0.1 - x[10] - T;
    r[6] = d[6] + T * (X - s) / L;
    r[7] = d[7] + T * Z / L + GRAVITY;
    r[8] = (X - s).square() + Z.square() - L.square();
    r[9] = X - px;
    r[10] = Z + 2.0 - pz;
});

/// Thrust and torque of the quadrotor: tan θ = −x''/(z'' + g), F = m |(x'', z'' + g)|, τ = I θ''.
fn thrust_and_torque(t: f64) -> [f64; 2] {
    let [px, pz] = path(Taylor::<f64, 5>::parameter(t));
    let second = |p: Taylor<f64, 5>| Taylor::<f64, 3> {
        coefficients: std::array::from_fn(|k| ((k + 1) * (k + 2)) as f64 * p.coefficients[k + 2]),
    };
    let (ax, az) = (second(px), second(pz) + GRAVITY);
    let theta = -(ax / az).atan();
    let thrust = (ax.square() + az.square()).sqrt() * MASS;
    [thrust.coefficients[0], INERTIA * 2.0 * theta.coefficients[2]]
}

/// Forces of trolley and winch: the rope points along (x'', z'' + g), so s = x + x'' (−z)/(z'' + g) …
fn trolley_and_winch(t: f64) -> [f64; 2] {
    let [px, pz] = path(Taylor::<f64, 5>::parameter(t));
    let pz = pz - 2.0;
    let second = |p: Taylor<f64, 5>| Taylor::<f64, 3> {
        coefficients: std::array::from_fn(|k| ((k + 1) * (k + 2)) as f64 * p.coefficients[k + 2]),
    };
    let first = |p: Taylor<f64, 5>| Taylor::<f64, 3> { coefficients: std::array::from_fn(|k| p.coefficients[k]) };
    let (ax, az, x, z) = (second(px), second(pz) + GRAVITY, first(px), first(pz));
    // T (x − s)/L = −x'', T z/L = −(z'' + g)
    let s = x - z * ax / az;
    let L = ((x - s).square() + z.square()).sqrt();
    let T = -(az / z) * L;
    let u = 2.0 * s.coefficients[2] + ax.coefficients[0];
    [u, 0.1 * 2.0 * L.coefficients[2] - T.coefficients[0]]
}

fn run<E: Equations>(
    equations: &E,
    form: Form,
    x: &[f64],
    tend: f64,
) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
    let system = System::of(equations);
    let options = Options { tolerance: Tolerance::new(1e-8, 1e-8), save: Save::Steps, ..Options::default() };
    solve(
        &Problem::new(&system, Initial::new(0.0, x), tend),
        &InForm { form, integrator: &RadauIIa::default() },
        &options,
    )
}

const HOVER: [f64; 8] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, MASS * GRAVITY, 0.0];
const HANGING: [f64; 11] = [0.0, 2.0, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, GRAVITY, 0.0, -GRAVITY];

#[test]
fn a_force_at_an_angle_that_vanishes_at_the_start() {
    for form in [Form::Auto, Form::QuasiLinear, Form::DerivativeArray] {
        let solution = run(&Angle, form, &[0.0, 0.0, 0.0, 1.0, 0.0], 1.0).unwrap();
        assert!((solution.end.x[4] - 1.25).abs() < 1e-6, "{form:?}: {}", solution.end.x[4]);
        for k in 0..solution.len() {
            let (t, x) = (solution.times[k], solution.state(k));
            let u = (3.0 * t.powi(2) * (1.0 + t) - t.powi(3)) / (1.0 + t).powi(2);
            assert!((x[4] - u).abs() < 1e-6, "{form:?}: {t}: {} {u}", x[4]);
        }
    }
}

#[test]
fn the_hidden_constraint_contains_the_derivative_whose_coefficient_vanishes_at_the_start() {
    let system = System::of(&Angle);
    let found = analyse(&system, &Initial::new(0.0, &[0.0, 0.0, 0.0, 1.0, 0.0]), Scope::default()).unwrap();
    let array = found.array.unwrap();
    let derived = array.constraints.iter().find(|c| c.level == 2 && c.role == Role::Constraint).unwrap();
    let formula = array.graph.formula(derived.residual);
    assert!(formula.contains("x.2*x.3'"), "{formula}");
    assert!(array.omitted.is_empty());
    // F' = 1 is known from its own equation: what is told keeps the term, and no derivative
    let last = found.hidden.iter().find(|h| h.level == 2).unwrap();
    assert_eq!(last.formula, "x.3*x.4 - 3*t^2 + x.2");
}

#[test]
fn a_term_that_appears_on_the_way_stops_the_run_unless_the_form_knows_it() {
    let start = [0.0, 0.0, 1.0, 0.0, 0.0];
    let failure = run(&FlatForLong, Form::QuasiLinear, &start, 10.0).unwrap_err();
    let SolveError::Stopped { cause, partial } = failure else { panic!("{failure:?}") };
    assert!(matches!(cause, StepFailure::TermAppears { .. }), "{cause}");
    assert!(cause.to_string().contains("`x.3`") && cause.to_string().contains("array"), "{cause}");
    // c = 1e-5 at t = 8.25
    assert!((7.0..9.0).contains(&partial.end.t), "{}", partial.end.t);
    // p = cos t − 2 t c, u = p'
    let exact = |t: f64| -t.sin() - 122.0 * (t * 0.1).powi(60);
    assert!((partial.end.x[4] - exact(partial.end.t)).abs() < 1e-2, "{:?}", partial.end);
    let solution = run(&FlatForLong, Form::DerivativeArray, &start, 10.0).unwrap();
    assert!((solution.end.x[4] - exact(10.0)).abs() < 1e-5, "{:?}", solution.end);
    // a condition is seen in the formula
    let start = [0.0, 0.0, 1.0, 0.0, -0.1];
    let solution = run(&ZeroUntilOne, Form::Auto, &start, 2.0).unwrap();
    assert!(solution.decisions.contains("formulas were not taken: at t = 0"), "{}", solution.decisions);
    let exact = -2.0_f64.sin() - 2.0 - 12.0 - 0.1 * (2.0_f64.cos() - 4.0).powi(2);
    assert!((solution.end.x[4] - exact).abs() < 1e-5, "{:?}", solution.end);
}

#[test]
fn a_quadrotor_from_hover_has_the_torque_of_its_path() {
    for form in [Form::Auto, Form::QuasiLinear] {
        let solution = run(&Quadrotor, form, &HOVER, 2.0).unwrap();
        assert_eq!(solution.layout.form, Form::QuasiLinear);
        for k in 0..solution.len() {
            let (t, x) = (solution.times[k], solution.state(k));
            let [thrust, torque] = thrust_and_torque(t);
            assert!((x[6] - thrust).abs() < 1e-6 && (x[7] - torque).abs() < 1e-6, "{t}: {} {torque}", x[7]);
        }
    }
}

#[test]
fn a_crane_from_rest_has_the_forces_of_its_path() {
    for form in [Form::Auto, Form::QuasiLinear, Form::DerivativeArray] {
        let solution = run(&Crane, form, &HANGING, 2.0).unwrap();
        for k in 0..solution.len() {
            let (t, x) = (solution.times[k], solution.state(k));
            let [u, w] = trolley_and_winch(t);
            assert!((x[9] - u).abs() < 1e-5 && (x[10] - w).abs() < 1e-5, "{form:?} {t}: {} {u} {} {w}", x[9], x[10]);
        }
    }
}
