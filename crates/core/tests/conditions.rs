//! Events that are conditions: without modes, and in modes.

use daedal::Initial;
use daedal::dae::{Equations, System};
use daedal::hybrid::{Condition, Hybrid, HybridOptions, HybridSolution, Logic, Mode, SwitchingFunction, Transition};
use daedal::scalar::Scalar;
use daedal::{Action, Event};
use daedal::{Ended, Options, RadauIIa, Save, SolveError, StepFailure};
use std::f64::consts::PI;

/// x' = y, y' = −x.
struct Oscillator;

impl Equations for Oscillator {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] - x[1];
        r[1] = xdot[1] + x[0];
    }
}

/// Three unknowns at rest.
struct Three;

impl Equations for Three {
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, _: S, _: &[S], xdot: &[S], r: &mut [S]) {
        r.copy_from_slice(xdot);
    }
}

/// All statements of these functions hold: g ≤ 0 each, or g < 0 if strict.
fn all<'e>(name: &str, functions: Vec<SwitchingFunction<'e>>) -> Event<'e> {
    let logic = Logic::All((0..functions.len()).map(Logic::Is).collect());
    Event::when(name, Action::Record, Condition { name: name.into(), functions, logic })
}

fn times(events: Vec<Event>, tend: f64) -> Vec<(String, f64)> {
    let system = System::of(&Oscillator);
    let mut problem = daedal::Problem::new(&system, daedal::Initial::new(0.0, &[0.0, 1.0]), tend);
    problem.events = events;
    let solution = daedal::solve(&problem, &RadauIIa::default(), &Options::default()).unwrap();
    assert_eq!(solution.statistics.events as usize, solution.events.len());
    solution.events.iter().map(|event| (event.name.clone(), event.t)).collect()
}

fn close(found: &[(String, f64)], expected: &[(&str, f64)]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((name, t), (other, exact)) in found.iter().zip(expected) {
        assert!(name == other && (t - exact).abs() < 1e-5, "{found:?}");
    }
}

#[test]
fn a_condition_happens_where_it_becomes_true_and_again_after_it_was_false() {
    // x = sin t, y = cos t
    let both = || {
        all(
            "x < 0 and y > 0",
            vec![
                SwitchingFunction::new("x < 0", |_, x| x[0]).strict(),
                SwitchingFunction::new("y > 0", |_, x| -x[1]).strict(),
            ],
        )
    };
    close(&times(vec![both()], 14.0), &[("x < 0 and y > 0", 1.5 * PI), ("x < 0 and y > 0", 3.5 * PI)]);
    // zero at the start and rising: true only when it comes back
    let below = || all("below", vec![SwitchingFunction::new("x <= 0", |_, x| x[0])]);
    close(&times(vec![below()], 14.0), &[("below", PI), ("below", 3.0 * PI)]);
    // true at the start: not before it was false
    let above = all("above", vec![SwitchingFunction::new("y > 0.5", |_, x| 0.5 - x[1]).strict()]);
    close(&times(vec![above], 7.0), &[("above", 5.0 * PI / 3.0)]);
}

#[test]
fn short_excursions_inside_a_step_are_found() {
    let top = all("top", vec![SwitchingFunction::new("x > 0.99999", |_, x| 0.99999 - x[0]).strict()]);
    let width = (1.0_f64 - 0.99999_f64.powi(2)).sqrt();
    close(&times(vec![top], 6.0), &[("top", PI / 2.0 - width)]);
}

#[test]
fn derivatives_may_stand_in_conditions() {
    let falls = SwitchingFunction::with_derivatives("der(x) < 0", |_, _, xdot| xdot[0]).strict();
    close(&times(vec![all("falls", vec![falls])], 6.0), &[("falls", PI / 2.0)]);
}

#[test]
fn a_condition_without_a_value_stops_the_run_with_a_word() {
    let system = System::of(&Oscillator);
    let mut problem = daedal::Problem::new(&system, daedal::Initial::new(0.0, &[0.0, 1.0]), 6.0);
    problem.events.push(all("root", vec![SwitchingFunction::new("sqrt(y) < 0.1", |_, x| x[1].sqrt() - 0.1)]));
    let outcome = daedal::solve(&problem, &RadauIIa::default(), &Options::default());
    let Err(SolveError::Stopped { cause: cause @ StepFailure::EventUndefined { .. }, .. }) = outcome else {
        panic!("{outcome:?}")
    };
    assert!(cause.to_string().contains("`root` has no value"), "{cause}");
}

/// Height and velocity of a ball.
struct Ball;

impl Equations for Ball {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] - x[1];
        r[1] = xdot[1] + 2.0;
    }
}

/// Let go at height 1, with impacts at 1, 2, 2.5, … that halve the speed of 2.
fn ball(events: Vec<Event<'_>>) -> Hybrid<'_> {
    let mut system = Hybrid::new();
    let mut flying = Mode::equations("flying", &Ball);
    flying.events = events;
    let flying = system.mode(flying);
    let bounce = Transition::when(flying, flying, "impact", |_, x| x[0]);
    system.transition(bounce.transfer(|_, old, _, new| (new[0], new[1]) = (0.0, -0.5 * old[1])));
    system
}

fn fly(system: &Hybrid, tend: f64) -> HybridSolution {
    let problem = daedal::Problem::new(system, Initial::new(0.0, &[1.0, 0.0]), tend);
    let options = Options { save: Save::Steps, ..Options::default() };
    daedal::solve(&problem, &HybridOptions::default(), &options).unwrap()
}

#[test]
fn events_in_modes_are_written_down_and_change_nothing() {
    let low = all("low", vec![SwitchingFunction::new("y < 0.19", |_, x| x[0] - 0.19).strict()]);
    let upward = all("upward", vec![SwitchingFunction::new("v > 0", |_, x| -x[1]).strict()]);
    let solution = fly(&ball(vec![low, upward]), 1.9);
    assert_eq!(solution.switch_count, 1);
    let found: Vec<(String, f64)> = solution.events.iter().map(|one| (one.event.name.clone(), one.event.t)).collect();
    // y = t(1 − t) behind the impact at 1; v jumps over zero there
    let height = |part: f64| 1.5 + part * (0.25_f64 - 0.19).sqrt();
    close(&found, &[("low", 0.81_f64.sqrt() + 0.0), ("upward", 1.0), ("low", height(1.0))]);
    assert_eq!((solution.event_count, solution.statistics.events), (3, 4));
    assert!((solution.events[1].event.x[1] - 1.0).abs() < 1e-6, "the state behind the impact");
    let plain = fly(&ball(Vec::new()), 1.9);
    assert!((plain.end_value("x.0").unwrap() - solution.end_value("x.0").unwrap()).abs() < 1e-9);
}

#[test]
fn an_event_stops_a_run_through_modes() {
    let high = SwitchingFunction::new("y > 0.24", |_, x| 0.24 - x[0]).strict();
    let condition = Condition::of(high);
    let solution = fly(&ball(vec![Event::when("high", Action::Stop, condition)]), 5.0);
    // it is higher than that at the start
    assert_eq!(solution.ended, Ended::AtEvent { name: "high".into() });
    assert!((solution.end.t - 1.4).abs() < 1e-7, "{}", solution.end.t);
    assert!((solution.end.x[0] - 0.24).abs() < 1e-9);
    assert_eq!(solution.events.len(), 1);
}

/// The same with a mode for each direction.
fn up_and_down<'h>() -> Hybrid<'h> {
    let mut system = Hybrid::new();
    let [down, up] = ["down", "up"].map(|name| system.mode(Mode::equations(name, &Ball)));
    let bounce = Transition::when(down, up, "impact", |_, x| x[0]);
    system.transition(bounce.transfer(|_, old, _, new| (new[0], new[1]) = (0.0, -0.5 * old[1])));
    system.transition(Transition::when(up, down, "top", |_, x| x[1]));
    system
}

#[test]
fn events_of_the_problem_hold_in_all_modes() {
    let system = up_and_down();
    let high = Condition::of(SwitchingFunction::new("y > 0.24", |_, x| 0.24 - x[0]).strict());
    let problem = daedal::Problem::new(&system, Initial::new(0.0, &[1.0, 0.0]), 5.0);
    let problem = problem.record_when("low", |_, x| x[0] - 0.19).event(Event::when("high", Action::Stop, high));
    let solution = daedal::solve(&problem, &HybridOptions::default(), &Options::default()).unwrap();
    let found: Vec<(String, f64)> = solution.events.iter().map(|one| (one.event.name.clone(), one.event.t)).collect();
    close(&found, &[("low", 0.9), ("high", 1.4)]);
    assert_eq!((solution.events[0].mode, solution.events[1].mode), (0, 1));
    assert_eq!(solution.ended, Ended::AtEvent { name: "high".into() });
}

#[test]
fn events_of_the_problem_need_the_same_unknowns_in_all_modes() {
    let mut system = up_and_down();
    system.mode(Mode::equations("other", &Oscillator));
    system.mode(Mode::equations("larger", &Three));
    let problem = daedal::Problem::new(&system, Initial::new(0.0, &[1.0, 0.0]), 5.0).stop_when("low", |_, x| x[0]);
    let error = daedal::solve(&problem, &HybridOptions::default(), &Options::default()).unwrap_err().to_string();
    assert!(error.contains("`low`") && error.contains("`down` and `larger` have different unknowns"), "{error}");
}

#[test]
fn runs_through_modes_go_forward_only() {
    let system = ball(Vec::new());
    let problem = daedal::Problem::new(&system, Initial::new(0.0, &[1.0, 0.0]), -1.0);
    let error = daedal::solve(&problem, &HybridOptions::default(), &Options::default()).unwrap_err().to_string();
    assert!(error.contains("modes") && error.contains("forward in time only"), "{error}");
}
