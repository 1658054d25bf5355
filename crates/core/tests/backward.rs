//! Integration backward in time, against closed forms and against the way forward.

use daedal::StepView;
use daedal::dae::{self, Equations, System};
use daedal::linalg::Matrix;
use daedal::method::Integrator;
use daedal::motion::{BlackBox, BlackBoxMotion, BlackBoxRows, EquationsOfMotion, Motion, Position, Sizes, Undefined};
use daedal::scalar::Scalar;
use daedal::{
    Bdf, Ended, Geoms, Initial, Options, Problem, RadauIIa, Save, SolveError, Tolerance, solve, solve_observed,
};
use std::ops::ControlFlow;

fn options() -> Options {
    Options { tolerance: Tolerance::new(1e-9, 1e-9), ..Options::default() }
}

/// A point on a circle whose radius is prescribed, under gravity: a rheonomic constraint.
struct Breathing;

impl EquationsOfMotion for Breathing {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        (M[(0, 0)], M[(1, 1)]) = (S::from(1.0), S::from(1.0));
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = at.v[0] * -0.1;
        f[1] = at.v[1] * -0.1 - 9.81;
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        let radius = (at.t * 3.0).sin() * 0.2 + 1.0;
        g[0] = at.p[0].square() + at.p[1].square() - radius.square();
    }
}

#[test]
fn a_prescribed_radius_with_friction_is_gone_through_in_both_ways() {
    let start = Initial::motion(0.5, &[1.0, 0.0], &[0.0, 0.0]);
    let there = solve(&Problem::new(&Breathing, start.clone(), 2.5), &Geoms::default(), &options()).unwrap();
    let times = vec![2.5, 2.0, 1.25, 0.5];
    let options = Options { save: Save::At(times.clone()), verify: true, ..options() };
    let problem = Problem::new(&Breathing, start, 0.5).trust(there.end.clone());
    let back = solve(&problem, &Geoms::default(), &options).unwrap();
    assert_eq!(back.times, times);
    let (first, last) = (back.motion(3), back.at_end());
    assert!((first.p[0].hypot(first.p[1]) - (1.0 + 0.2 * 1.5_f64.sin())).abs() < 1e-10);
    assert!((last.p[1] / last.p[0]).abs() < 1e-6 && last.v[1].abs() < 1e-5, "{:?} {:?}", last.p, last.v);
    let found = back.verification.unwrap();
    assert!(found.points > 20 && found.disagreements.is_empty(), "{found:?}");
}

/// A mass that is pushed from t = 1 on: p'' = 0 before, p'' = 1 behind. The jump of the force is a break in explicit time.
struct Pushed;

impl EquationsOfMotion for Pushed {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 1, velocities: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = S::select(at.t - 1.0, S::from(1.0), S::from(0.0));
    }
}

#[test]
fn a_force_that_jumps_in_time_is_met_from_behind() {
    // from rest at t = 2 back: p = (t − 2)²/2 until 1, then on with v = −1
    let problem = Problem::new(&Pushed, Initial::motion(2.0, &[0.0], &[0.0]), -1.0);
    let options = Options { save: Save::Dense, ..options() };
    let solution = solve(&problem, &Geoms::default(), &options).unwrap();
    assert!(solution.times.iter().any(|t| (t - 1.0).abs() < 1e-12), "{:?}", solution.times);
    let mut x = vec![0.0; solution.layout.dim()];
    for (t, p, v) in [(1.5, 0.125, -0.5), (1.0, 0.5, -1.0), (0.0, 1.5, -1.0), (-1.0, 2.5, -1.0)] {
        solution.eval(t, &mut x).unwrap();
        let (found, speed) = (x[solution.layout.p()][0], x[solution.layout.v()][0]);
        assert!((found - p).abs() < 1e-9 && (speed - v).abs() < 1e-9, "at {t}: {found}, {speed}");
    }
    assert!(solution.eval(2.5, &mut x).is_none() && solution.eval(-1.5, &mut x).is_none());
}

#[test]
fn events_observers_and_progress_see_the_time_of_the_user() {
    let problem = Problem::new(&Pushed, Initial::motion(2.0, &[0.0], &[0.0]), -1.0)
        .record_when("beyond a half", |at| 0.5 - 1e-3 - at.p[0])
        .stop_when("at one", |at| 1.0 - at.p[0]);
    let mut seen: Vec<(f64, f64, f64)> = Vec::new();
    let mut recorder = |step: &StepView| {
        assert_eq!(step.t, step.segment.t1);
        assert!(step.segment.t0 > step.segment.t1);
        seen.push((step.t, step.motion().v[0], step.progress));
        ControlFlow::Continue(())
    };
    let solution = solve_observed(&problem, &Geoms::default(), &options(), &mut [&mut recorder]).unwrap();
    assert_eq!(solution.ended, Ended::AtEvent { name: "at one".into() });
    assert!((solution.end.t - 0.5).abs() < 1e-9, "{}", solution.end.t);
    let times: Vec<f64> = solution.events.iter().map(|event| event.t).collect();
    assert!((times[0] - (2.0 - (2.0 * 0.499_f64).sqrt())).abs() < 1e-8 && times[1] == solution.end.t, "{times:?}");
    assert!((solution.events[1].x[solution.layout.v()][0] + 1.0).abs() < 1e-9);
    assert!(seen.windows(2).all(|s| s[1].0 < s[0].0 && s[1].2 > s[0].2));
    assert!(seen.iter().all(|(t, v, _)| (v - (t - 2.0).max(-1.0)).abs() < 1e-8), "{seen:?}");
}

#[test]
fn times_to_save_at_must_fall() {
    let problem = Problem::new(&Pushed, Initial::motion(2.0, &[0.0], &[0.0]), 0.0);
    for times in [vec![0.5, 1.0], vec![2.5], vec![1.0, -0.5]] {
        let options = Options { save: Save::At(times), ..options() };
        let error = solve(&problem, &Geoms::default(), &options).unwrap_err().to_string();
        assert!(error.contains("the times must fall"), "{error}");
    }
}

/// A jump of a constraint in time.
struct Torn;

impl EquationsOfMotion for Torn {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 1, velocities: 1, holonomic: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, _: &mut [S]) {}
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0] - S::select(at.t - 1.25, S::from(1.0), S::from(0.0));
    }
}

#[test]
fn failures_are_told_in_the_time_of_the_user() {
    let problem = Problem::new(&Torn, Initial::motion(2.0, &[1.0], &[0.0]), 0.0);
    let Err(SolveError::Stopped { cause, partial }) = solve(&problem, &Geoms::default(), &options()) else {
        panic!("a constraint jumps")
    };
    assert!((cause.time() - 1.25).abs() < 1e-9 && (partial.end.t - 1.25).abs() < 1e-9);
    let said = cause.to_string();
    assert!(said.contains("`(-1.25) + t` changes its sign"), "{said}");
}

/// An oscillator with friction that gives only values.
struct Box1;

impl BlackBox for Box1 {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 1, velocities: 1, ..Sizes::default() }
    }
    fn rows(&self, at: &Motion<f64>, out: &mut BlackBoxRows) -> Result<(), Undefined> {
        out.force[0] = -4.0 * at.p[0] - 0.4 * at.v[0];
        out.kinematics[0] = at.v[0];
        Ok(())
    }
    fn mass(&self, _: &Position<f64>, M: &mut Matrix) -> Result<(), Undefined> {
        M[(0, 0)] = 1.0;
        Ok(())
    }
}

#[test]
fn black_boxes_go_backward_too() {
    let system = BlackBoxMotion(Box1);
    // p = e^(−0.2 t) cos(ω t), ω² = 4 − 0.04
    let omega = 3.96_f64.sqrt();
    let exact = |t: f64| {
        let decay = (-0.2 * t).exp();
        (decay * (omega * t).cos(), -decay * (0.2 * (omega * t).cos() + omega * (omega * t).sin()))
    };
    let (p, v) = exact(1.0);
    let problem = Problem::new(&system, Initial::motion(1.0, &[p], &[v]), -2.0);
    let end = solve(&problem, &Geoms::default(), &options()).unwrap();
    let (p, v) = exact(-2.0);
    let found = end.at_end();
    assert!((found.p[0] - p).abs() < 1e-6 && (found.v[0] - v).abs() < 1e-6, "{:?} {:?}", found.p, found.v);
}

fn integrators() -> [Box<dyn Integrator>; 2] {
    [Box::new(RadauIIa::default()), Box::new(Bdf::default())]
}

/// x' = −x + y, 0 = y − t x²/4 − cos t: index one, with friction and time.
struct Driven;

impl Equations for Driven {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] + x[0] - x[1];
        r[1] = x[1] - t * x[0].square() * 0.25 - t.cos();
    }
}

/// A pendulum of index three.
struct Pendulum;

impl Equations for Pendulum {
    fn dim(&self) -> usize {
        5
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] - x[2];
        r[1] = xdot[1] - x[3];
        r[2] = xdot[2] + x[0] * x[4] - t * 0.1;
        r[3] = xdot[3] + x[1] * x[4] + 1.0;
        r[4] = x[0].square() + x[1].square() - 1.0;
    }
}

/// A linear system of index two with coefficients that vary: x₁' = x₂ − t x₁, 0 = x₁ − sin t.
struct Prescribed;

impl Equations for Prescribed {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] - x[1] + t * x[0];
        r[1] = x[0] - t.sin();
    }
}

fn there_and_back(equations: &impl Equations, x0: &[f64], form: dae::Form, bound: f64) {
    let system = System::of(equations);
    for (k, method) in integrators().iter().enumerate() {
        let initial = daedal::Initial::new(0.0, x0);
        let start = solve(
            &daedal::Problem::new(&system, initial.clone(), 0.0),
            &daedal::dae::InForm { form, integrator: &**method },
            &options(),
        )
        .unwrap();
        let there = solve(
            &daedal::Problem::new(&system, initial, 1.5),
            &daedal::dae::InForm { form, integrator: &**method },
            &options(),
        )
        .unwrap();
        let again = daedal::Initial::new(1.5, &there.end.x[..system.dim()]);
        let options = Options { save: Save::Dense, verify: true, ..options() };
        let back = solve(
            &daedal::Problem::new(&system, again, 0.0),
            &daedal::dae::InForm { form, integrator: &**method },
            &options,
        )
        .unwrap_or_else(|error| panic!("{form:?}, method {k}: {error}"));
        let error = start.end.x[..system.dim()].iter().zip(&back.end.x).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(error < bound, "{form:?}, method {k}: {error:.1e}");
        assert!(back.times[0] == 1.5 && back.end.t == 0.0 && back.times.windows(2).all(|t| t[1] <= t[0]));
        assert_eq!(back.verification.unwrap().disagreements, [], "{form:?}, method {k}");
    }
}

#[test]
fn general_systems_go_backward_in_every_form() {
    there_and_back(&Driven, &[0.5, 1.0], dae::Form::Plain, 1e-6);
    there_and_back(&Pendulum, &[1.0, 0.0, 0.0, 0.0, 0.0], dae::Form::QuasiLinear, 1e-5);
    there_and_back(&Pendulum, &[1.0, 0.0, 0.0, 0.0, 0.0], dae::Form::DerivativeArray, 1e-5);
    there_and_back(&Prescribed, &[0.0, 1.0], dae::Form::Linear, 1e-7);
}

/// x' = x²: from x(0) = −1 the solution −1/(1 + t) ends at t = −1.
struct Explosion;

impl Equations for Explosion {
    fn dim(&self) -> usize {
        1
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] - x[0].square();
    }
}

#[test]
fn a_solution_that_ends_backward_says_where() {
    let system = System::of(&Explosion);
    let problem = daedal::Problem::new(&system, daedal::Initial::new(0.0, &[-1.0]), -2.0);
    let method = RadauIIa::default();
    let Err(SolveError::Stopped { cause, partial }) = solve(&problem, &method, &options()) else {
        panic!("the solution ends")
    };
    assert!((cause.time() + 1.0).abs() < 1e-3 && partial.end.t > -1.01 && partial.end.t < -0.9, "{cause}");
    let stopped =
        daedal::Problem::new(&system, daedal::Initial::new(0.0, &[-1.0]), -2.0).stop_when("ten", |_, x| x[0] + 10.0);
    let solution = solve(&stopped, &method, &options()).unwrap();
    assert!((solution.end.t + 0.9).abs() < 1e-8, "{}", solution.end.t);
}
