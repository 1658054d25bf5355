//! Events, observers and what is saved, against closed forms and tight runs.

use crate::support::{PENDULUM, distance, tolerance};
use daedal::Action;
use daedal::StepView;
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Position, Sizes};
use daedal::scalar::Scalar;
use daedal::{Ended, Geoms, Initial, Options, Problem, Save, Solution, solve, solve_observed};
use std::f64::consts::PI;
use std::ops::ControlFlow;

/// K(1/√2), the complete elliptic integral of the first kind.
const K: f64 = 1.854_074_677_301_371_9;

/// A quarter of the period of a pendulum that is let go at 90°.
fn quarter() -> f64 {
    K / PENDULUM.g.sqrt()
}

/// Let go at 90°, on the right.
fn released() -> Initial {
    Initial::motion(0.0, &[1.0, 0.0], &[0.0, 0.0])
}

/// A point mass without forces: p = p₀ + v₀ t, which every polynomial of a step reproduces.
struct Free;

impl EquationsOfMotion for Free {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 1, velocities: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, _: &mut [S]) {}
}

#[test]
fn crossings_of_the_vertical_are_those_of_elliptic_functions() {
    let tend = 12.0 * quarter();
    let problem = Problem::new(&PENDULUM, released(), tend)
        .record_when("to the left", |x| x.p[0])
        .record_when("to the right", |x| -x.p[0]);
    let solution = solve(&problem, &Geoms::default(), &tolerance(1e-11)).unwrap();
    assert_eq!(solution.ended, Ended::AtEnd);
    assert_eq!(solution.events.len(), 6);
    assert_eq!(solution.statistics.events, 6);
    for (k, event) in solution.events.iter().enumerate() {
        // T/4, 3T/4, 5T/4, …, by turns to the left and to the right
        let exact = (2 * k + 1) as f64 * quarter();
        assert!((event.t - exact).abs() < 1e-8, "{} is not {exact}", event.t);
        assert_eq!(event.name, if k % 2 == 0 { "to the left" } else { "to the right" });
        assert_eq!(event.action, Action::Record);
        let p = &event.x[solution.layout.p()];
        assert!(p[0].abs() < 1e-14 && (p[1] + 1.0).abs() < 1e-8);
    }
}

#[test]
fn a_run_stops_at_an_event_with_the_state_on_the_constraint() {
    let problem = Problem::new(&PENDULUM, released(), 10.0).stop_when("vertical", |x| x.p[0]);
    for (tol, error) in [(1e-6, 1e-4), (1e-9, 1e-6), (1e-12, 1e-9)] {
        let options = Options { save: Save::Dense, ..tolerance(tol) };
        let solution = solve(&problem, &Geoms::default(), &options).unwrap();
        assert_eq!(solution.ended, Ended::AtEvent { name: "vertical".into() });
        assert_eq!(solution.events.len(), 1);
        assert_eq!(solution.events[0].action, Action::Stop);
        assert!((solution.end_time() - quarter()).abs() < error);
        let end = solution.at_end();
        // located on the polynomial of the step, then brought back onto the constraints
        assert!(end.p[0].abs() < 1e-14);
        assert!((end.p[0].hypot(end.p[1]) - 1.0).abs() < 1e-14, "{:?} at {tol:e}", end.p);
        assert!((end.p[0] * end.v[0] + end.p[1] * end.v[1]).abs() < 1e-13);
        assert!((end.v[0] + (2.0 * PENDULUM.g).sqrt()).abs() < 10.0 * error);
        // the last saved point is the event
        assert_eq!(solution.times.last(), Some(&solution.end_time()));
        assert_eq!(solution.state(solution.len() - 1), &solution.end.x);
        assert_eq!(solution.end.x, solution.events[0].x);
    }
}

#[test]
fn an_event_exactly_at_the_end_is_found() {
    let problem = Problem::new(&Free, Initial::motion(0.0, &[0.0], &[1.0]), 2.0)
        .record_when("end of time", |x| 2.0 - x.t)
        .stop_when("the same, to stop", |x| 2.0 - x.t);
    let solution = solve(&problem, &Geoms::default(), &tolerance(1e-6)).unwrap();
    let names: Vec<&str> = solution.events.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["end of time", "the same, to stop"]);
    assert!(solution.events.iter().all(|e| e.t == 2.0));
    assert_eq!(solution.end_time(), 2.0);
    assert_eq!(solution.ended, Ended::AtEvent { name: "the same, to stop".into() });
}

#[test]
fn events_behind_the_end_or_before_the_start_are_not_found() {
    let problem = Problem::new(&Free, Initial::motion(0.0, &[0.0], &[1.0]), 2.0)
        .stop_when("behind the end", |x| 2.0 + 1e-12 - x.t)
        .stop_when("zero at the start", |x| -x.t)
        .stop_when("negative from the start", |_| -1.0)
        .stop_when("rising", |x| x.t - 1.0);
    let solution = solve(&problem, &Geoms::default(), &tolerance(1e-6)).unwrap();
    assert!(solution.events.is_empty());
    assert_eq!(solution.ended, Ended::AtEnd);
}

#[test]
fn a_function_that_touches_zero_without_crossing_is_not_an_event() {
    let problem = Problem::new(&Free, Initial::motion(0.0, &[0.0], &[1.0]), 2.0)
        .stop_when("touches from above", |x| (x.p[0] - 1.0 / 3.0).powi(2))
        .stop_when("touches from below", |x| -(x.p[0] - 2.0 / 3.0).powi(2));
    let solution = solve(&problem, &Geoms::default(), &tolerance(1e-6)).unwrap();
    assert!(solution.events.is_empty(), "{:?}", solution.events);
    assert!((solution.at_end().p[0] - 2.0).abs() < 1e-12);
}

#[test]
fn two_events_in_one_step_are_recorded_in_the_order_of_time() {
    let start = Initial::motion(0.0, &[0.0], &[1.0]);
    let options = Options { h0: Some(1.0), ..tolerance(1e-6) };
    let problem = Problem::new(&Free, start.clone(), 1.0)
        .record_when("late", |x| 0.4 - x.p[0])
        .record_when("early", |x| 0.38 - x.p[0])
        .record_when("latest", |x| 0.9 - x.p[0]);
    let solution = solve(&problem, &Geoms::default(), &options).unwrap();
    assert_eq!(solution.statistics.steps, 1);
    let found: Vec<(&str, f64)> = solution.events.iter().map(|e| (e.name.as_str(), e.t)).collect();
    assert_eq!(found.iter().map(|e| e.0).collect::<Vec<_>>(), ["early", "late", "latest"]);
    assert!(distance(&found.iter().map(|e| e.1).collect::<Vec<_>>(), &[0.38, 0.4, 0.9]) < 1e-14);
    // what lies behind a stop in the same step did not happen
    let problem = Problem::new(&Free, start, 1.0)
        .record_when("late", |x| 0.9 - x.p[0])
        .stop_when("stop", |x| 0.5 - x.p[0])
        .record_when("early", |x| 0.1 - x.p[0]);
    let solution = solve(&problem, &Geoms::default(), &options).unwrap();
    let names: Vec<&str> = solution.events.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["early", "stop"]);
    assert!((solution.end_time() - 0.5).abs() < 1e-15);
}

#[test]
fn observers_see_every_step_and_progress_rises_to_one() {
    let problem = Problem::new(&PENDULUM, released(), 2.0);
    let (mut times, mut progress, mut speeds, mut steps) = (vec![0.0], vec![0.0], Vec::new(), 0);
    let mut recorder = |step: &StepView| {
        times.push(step.t);
        progress.push(step.progress);
        speeds.push(step.motion().v[0]);
        steps = step.statistics.steps;
        assert_eq!(step.t, step.segment.t1);
        assert_eq!(step.x[0], step.segment.component(step.t, 0));
        assert!(step.residuals.position.unwrap() < 1e-10);
        assert_eq!(step.residuals.invariant, None);
        ControlFlow::Continue(())
    };
    let mut count = 0;
    let mut counter = |_: &StepView| {
        count += 1;
        ControlFlow::Continue(())
    };
    let solution =
        solve_observed(&problem, &Geoms::default(), &tolerance(1e-8), &mut [&mut recorder, &mut counter]).unwrap();
    assert_eq!(solution.ended, Ended::AtEnd);
    assert_eq!(times, solution.times);
    assert_eq!((steps, count), (solution.statistics.steps, solution.statistics.steps));
    assert!(progress.windows(2).all(|w| w[0] < w[1]));
    assert_eq!(progress.last(), Some(&1.0));
    assert_eq!(speeds.last(), Some(&solution.at_end().v[0]));
}

#[test]
fn an_observer_ends_a_run() {
    let problem = Problem::new(&PENDULUM, released(), 2.0);
    let mut steps = 0;
    let mut last = 0.0;
    let mut ender = |step: &StepView| {
        steps += 1;
        last = step.t;
        if steps == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let solution = solve_observed(&problem, &Geoms::default(), &tolerance(1e-8), &mut [&mut ender]).unwrap();
    assert_eq!(solution.ended, Ended::ByObserver);
    assert_eq!(solution.statistics.steps, 7);
    assert_eq!(solution.len(), 8);
    assert_eq!((steps, last), (7, solution.end_time()));
    assert!(solution.end_time() < 2.0);
}

/// A run far more exact than those it is compared with.
fn tight(times: &[f64]) -> Solution {
    let problem = Problem::new(&PENDULUM, released(), 2.0);
    let options = Options { save: Save::At(times.to_vec()), hmax: Some(2e-3), ..tolerance(1e-13) };
    solve(&problem, &Geoms::default(), &options).unwrap()
}

#[test]
fn the_solution_is_saved_at_exactly_the_requested_times() {
    let problem = Problem::new(&PENDULUM, released(), 2.0);
    let times = vec![0.0, 0.1, 0.1 + 1e-9, 0.5, PI / 2.0, 1.999_999, 2.0];
    let reference = tight(&times);
    let options = Options { save: Save::At(times.clone()), ..tolerance(1e-10) };
    let solution = solve(&problem, &Geoms::default(), &options).unwrap();
    assert_eq!(solution.times, times);
    assert_eq!(reference.times, times);
    for k in 0..times.len() {
        let (a, b) = (solution.motion(k), reference.motion(k));
        assert!(distance(a.p, b.p) < 1e-6, "{} at {}", distance(a.p, b.p), times[k]);
        assert!(distance(a.v, b.v) < 1e-5);
        assert!(distance(a.lambda, b.lambda) < 1e-4);
    }
    assert_eq!(solution.state(6), &solution.end.x);
    assert!(solution.segments.is_empty());
}

#[test]
fn only_the_end_is_kept_if_only_the_end_is_wanted() {
    let problem = Problem::new(&PENDULUM, released(), 2.0).record_when("vertical", |x| x.p[0]);
    let all = solve(&problem, &Geoms::default(), &tolerance(1e-8)).unwrap();
    let options = Options { save: Save::End, ..tolerance(1e-8) };
    let end = solve(&problem, &Geoms::default(), &options).unwrap();
    assert!(end.is_empty() && end.segments.is_empty());
    assert_eq!(end.end, all.end);
    assert_eq!(end.events, all.events);
    assert_eq!(end.statistics, all.statistics);
    assert_eq!(all.len() as u64, all.statistics.steps + 1);
    assert_eq!(end.eval(1.0, &mut [0.0; 7]), None);
}

#[test]
fn dense_output_is_near_a_tight_run_everywhere() {
    let problem = Problem::new(&PENDULUM, released(), 2.0);
    let times: Vec<f64> = (0..=200).map(|k| 0.01 * f64::from(k)).collect();
    let reference = tight(&times);
    let options = Options { save: Save::Dense, ..tolerance(1e-10) };
    let solution = solve(&problem, &Geoms::default(), &options).unwrap();
    assert_eq!(solution.segments.len() as u64, solution.statistics.steps);
    let mut x = vec![0.0; solution.layout.dim()];
    for (k, &t) in times.iter().enumerate() {
        solution.eval(t, &mut x).unwrap();
        let exact = reference.motion(k);
        assert!(distance(&x[solution.layout.p()], exact.p) < 1e-6, "at {t}");
        assert!(distance(&x[solution.layout.v()], exact.v) < 1e-5, "at {t}");
        assert!(distance(&x[solution.layout.lambda()], exact.lambda) < 1e-4, "at {t}");
    }
    // at the ends of steps it is the saved state
    for k in 1..solution.len() {
        solution.eval(solution.times[k], &mut x).unwrap();
        assert!(distance(&x, solution.state(k)) < 1e-14);
    }
    assert_eq!(solution.eval(-0.1, &mut x), None);
    assert_eq!(solution.eval(2.1, &mut x), None);
}

#[test]
fn an_interval_without_length_gives_the_initial_state() {
    let problem = Problem::new(&PENDULUM, released(), 0.0);
    let options = Options { save: Save::At(vec![0.0]), ..tolerance(1e-8) };
    let solution = solve(&problem, &Geoms::default(), &options).unwrap();
    assert_eq!(solution.ended, Ended::AtEnd);
    assert_eq!(solution.times, [0.0]);
    assert_eq!(solution.at_end().p, [1.0, 0.0]);
    assert_eq!(solution.at_end().lambda, [0.0]);
}
