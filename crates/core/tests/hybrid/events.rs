//! No event is lost, and the earliest one counts. Wunderlich, thesis (2008), section 6.3.

use super::support::*;
use daedal::hybrid::{Condition, Hybrid, HybridOptions, Logic, SwitchKind, SwitchingFunction, Transition};
use daedal::scalar::Scalar;
use daedal::{Ended, Initial, Options, Problem, solve};

#[test]
fn two_conditions_inside_of_one_step_both_happen() {
    for method in METHODS {
        let mut hybrid = clocks(3, method);
        hybrid.transition(above(0, 1, 0.3));
        hybrid.transition(above(1, 2, 0.31));
        let solution = reach(&hybrid, &[0.0], 10.0);
        expect(&solution, &[(0.3, "a", "b"), (0.31, "b", "c")], 1e-10);
        assert!(solution.switches.iter().all(|s| s.kind == SwitchKind::Regular));
        assert!((solution.end_value("x.0").unwrap() - 10.0).abs() < 1e-8);
    }
}

#[test]
fn the_earliest_event_counts_whatever_was_declared_first() {
    for method in METHODS {
        for reversed in [false, true] {
            let mut hybrid = clocks(3, method);
            let mut transitions = vec![above(0, 1, 0.3), above(0, 2, 0.30001)];
            if reversed {
                transitions.reverse();
            }
            for transition in transitions {
                hybrid.transition(transition);
            }
            expect(&reach(&hybrid, &[0.0], 5.0), &[(0.3, "a", "b")], 1e-10);
        }
    }
}

#[test]
fn a_function_that_rises_again_before_another_one_falls_is_not_overlooked() {
    // sin(8x) falls through zero at π/8 and rises at π/4, the other condition comes true at 0.9: all in one step of x' = 1
    for method in METHODS {
        let mut hybrid = clocks(3, method);
        hybrid.transition(above(0, 2, 0.9));
        hybrid.transition(Transition::when(0, 1, "wave", |_, x| (8.0 * x[0]).sin() + 1e-9));
        let solution = reach(&hybrid, &[0.0], 5.0);
        expect(&solution, &[(std::f64::consts::PI / 8.0, "a", "b")], 1e-8);
    }
}

/// 1 until t = 1 with a minimum of 0 or a little else there, as a function of time or through the state x = (t − 1)².
fn touching(method: Method, lift: f64, strict: bool, through_state: bool) -> Vec<f64> {
    let mut hybrid = Hybrid::new();
    hybrid.mode(mode("a", &Affine::ramp(&[-2.0], &[2.0]), method));
    hybrid.mode(mode("b", &Affine::ramp(&[-2.0], &[2.0]), method));
    let mut touch = if through_state {
        SwitchingFunction::new("touch", move |_, x| x[0] + lift)
    } else {
        SwitchingFunction::new("touch", move |t, _| (t - 1.0).powi(2) + lift)
    };
    if strict {
        touch = touch.strict();
    }
    hybrid.transition(Transition::on(0, 1, Condition::of(touch)));
    reach(&hybrid, &[1.0], 3.0).switches.iter().map(|s| s.t).collect()
}

#[test]
fn a_function_of_time_that_touches_zero_makes_the_weak_statement_true() {
    for method in METHODS {
        let times = touching(method, 0.0, false, false);
        assert!(times.len() == 1 && (times[0] - 1.0).abs() < 1e-6, "{method:?}: {times:?}");
    }
}

#[test]
fn a_function_that_touches_zero_does_not_make_the_strict_statement_true() {
    for method in METHODS {
        assert_eq!(touching(method, 0.0, true, false), [] as [f64; 0], "{method:?}");
    }
}

#[test]
fn a_function_that_does_not_reach_zero_makes_nothing_true() {
    for method in METHODS {
        for through_state in [false, true] {
            assert_eq!(touching(method, 1e-3, false, through_state), [] as [f64; 0], "{method:?}");
        }
    }
}

#[test]
fn a_function_that_dips_below_zero_makes_both_statements_true() {
    for method in METHODS {
        for (strict, through_state) in [(false, false), (true, false), (false, true), (true, true)] {
            let times = touching(method, -1e-4, strict, through_state);
            assert!(
                times.len() == 1 && (times[0] - 0.99).abs() < 1e-6,
                "{method:?} {strict} {through_state}: {times:?}"
            );
        }
    }
}

#[test]
fn an_event_at_the_end_of_the_interval_is_an_event() {
    for method in METHODS {
        let mut hybrid = clocks(2, method);
        hybrid.transition(Transition::when(0, 1, "t >= 2", |t, _| 2.0 - t));
        let solution = reach(&hybrid, &[0.0], 2.0);
        expect(&solution, &[(2.0, "a", "b")], 1e-12);
        assert_eq!((solution.end.t, solution.ended), (2.0, Ended::AtEnd));
        assert_eq!(solution.modes[solution.end_mode].name, "b");
    }
}

#[test]
fn an_event_behind_the_end_of_the_interval_is_none() {
    for method in METHODS {
        let mut hybrid = clocks(2, method);
        hybrid.transition(Transition::when(0, 1, "later", |t, _| 2.0 + 1e-9 - t));
        expect(&reach(&hybrid, &[0.0], 2.0), &[], 0.0);
    }
}

#[test]
fn an_event_exactly_at_the_end_of_a_step_happens_once() {
    for method in METHODS {
        let mut hybrid = clocks(3, method);
        // steps of 1/4 end at 1/2 and 3/4
        hybrid.transition(Transition::when(0, 1, "t >= 1/2", |t, _| 0.5 - t));
        hybrid.transition(Transition::when(1, 2, "t >= 3/4", |t, _| 0.75 - t));
        hybrid.transition(Transition::when(2, 1, "never", |t, _| 5.0 + t));
        let options = Options { h0: Some(0.25), hmax: Some(0.25), ..tolerance(1e-3) };
        let solution =
            solve(&Problem::new(&hybrid, Initial::new(0.0, &[0.0]), 2.0), &HybridOptions::default(), &options).unwrap();
        expect(&solution, &[(0.5, "a", "b"), (0.75, "b", "c")], 1e-12);
    }
}

#[test]
fn a_zero_at_a_restart_counts_only_if_the_function_falls() {
    for method in METHODS {
        for (slope, strict, fires) in [(1.0, false, false), (1.0, true, false), (-1.0, false, true), (-1.0, true, true)]
        {
            let mut hybrid = clocks(3, method);
            hybrid.transition(Transition::when(0, 1, "t >= 1/2", |t, _| 0.5 - t));
            let mut from_zero = SwitchingFunction::new("from zero", move |t, _| slope * (t - 0.5));
            if strict {
                from_zero = from_zero.strict();
            }
            hybrid.transition(Transition::on(1, 2, Condition::of(from_zero)));
            let options = Options { h0: Some(0.25), hmax: Some(0.25), ..tolerance(1e-3) };
            let problem = Problem::new(&hybrid, Initial::new(0.0, &[0.0]), 2.0);
            let solution = solve(&problem, &HybridOptions::default(), &options).unwrap();
            let times: Vec<f64> = solution.switches.iter().map(|s| s.t).collect();
            assert_eq!(times.len(), if fires { 2 } else { 1 }, "{method:?} slope {slope}, strict {strict}: {times:?}");
            assert!(
                times.iter().all(|t| (t - 0.5).abs() < 1e-9),
                "{method:?} slope {slope}, strict {strict}: {times:?}"
            );
        }
    }
}

#[test]
fn a_zero_at_the_start_counts_only_if_the_function_falls() {
    for method in METHODS {
        for (slope, fires) in [(1.0, false), (-1.0, true)] {
            let mut hybrid = clocks(2, method);
            hybrid.transition(Transition::when(0, 1, "from zero", move |_, x| slope * x[0]));
            let solution = reach(&hybrid, &[0.0], 2.0);
            assert_eq!(solution.switches.len(), usize::from(fires), "{method:?} slope {slope}");
        }
    }
}

/// Negative for 2·10⁻⁴ around s = 1.
fn dip(s: f64) -> f64 {
    1.0 - 1.0001 * (-((s - 1.0) / 0.01).powi(2)).exp()
}

/// Where it falls through zero.
fn begin_of_dip() -> f64 {
    1.0 - 0.01 * 1.0001_f64.ln().sqrt()
}

#[test]
fn a_short_excursion_in_time_inside_of_a_long_step_is_found() {
    for method in METHODS {
        let mut hybrid = Hybrid::new();
        let slow = Affine { A: vec![vec![-0.1]], ..Affine::constant(&[0.0]) };
        hybrid.mode(mode("a", &slow, method));
        hybrid.mode(mode("b", &slow, method));
        hybrid.transition(Transition::when(0, 1, "dip", |t, _| dip(t)));
        let solution = reach(&hybrid, &[1.0], 3.0);
        expect(&solution, &[(begin_of_dip(), "a", "b")], 1e-8);
    }
}

#[test]
fn in_a_long_run_a_short_excursion_is_found_with_short_steps() {
    for method in METHODS {
        let mut hybrid = clocks(2, method);
        hybrid.transition(Transition::when(0, 1, "dip", |_, x| dip(x[0])));
        let options = Options { hmax: Some(0.005), ..tolerance(1e-9) };
        let problem = Problem::new(&hybrid, Initial::new(0.0, &[0.0]), 100.0);
        let solution = solve(&problem, &HybridOptions::default(), &options).unwrap();
        expect(&solution, &[(begin_of_dip(), "a", "b")], 1e-8);
    }
}

#[test]
fn a_short_excursion_of_a_function_of_the_state_is_found() {
    for method in METHODS {
        let mut hybrid = clocks(2, method);
        hybrid.transition(Transition::when(0, 1, "dip", |_, x| dip(x[0])));
        let solution = reach(&hybrid, &[0.0], 3.0);
        expect(&solution, &[(begin_of_dip(), "a", "b")], 1e-8);
    }
}

#[test]
fn a_short_excursion_through_a_fast_motion_of_the_state_is_found() {
    // x runs over the circle, its first component rises above 1 − 5·10⁻⁵ for 2·10⁻² around every full turn
    struct Circle;
    impl daedal::dae::Equations for Circle {
        fn dim(&self) -> usize {
            2
        }
        fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
            r[0] = d[0] + x[1];
            r[1] = d[1] - x[0];
        }
    }
    for method in METHODS {
        let mut hybrid = Hybrid::new();
        hybrid.mode(mode("a", &Circle, method));
        hybrid.mode(mode("b", &Circle, method));
        hybrid.transition(Transition::when(0, 1, "top", |_, x| 1.0 - 5e-5 - x[0]));
        hybrid.transition(Transition::when(1, 0, "down", |_, x| x[0]));
        let solution = reach(&hybrid, &[-1.0, 0.0], 20.0);
        let pi = std::f64::consts::PI;
        let wanted: Vec<_> = [1.0, 3.0, 5.0]
            .into_iter()
            .flat_map(|k| [(pi * k - (1.0_f64 - 5e-5).acos(), "a", "b"), (pi * (k + 0.5), "b", "a")])
            .collect();
        expect(&solution, &wanted, 1e-5);
    }
}

#[test]
fn a_conjunction_is_true_when_its_last_part_is() {
    for method in METHODS {
        for (first, second) in [(0.3, 0.7), (0.7, 0.3), (0.4, 0.4)] {
            let mut hybrid = clocks(2, method);
            let part = |limit: f64| SwitchingFunction::new(format!("x >= {limit}"), move |_, x| limit - x[0]);
            let both = Condition {
                name: "both".into(),
                functions: vec![part(first), part(second)],
                logic: Logic::All(vec![Logic::Is(0), Logic::Is(1)]),
            };
            hybrid.transition(Transition::on(0, 1, both));
            expect(&reach(&hybrid, &[0.0], 2.0), &[(first.max(second), "a", "b")], 1e-10);
        }
    }
}

#[test]
fn a_disjunction_is_true_when_its_first_part_is() {
    for method in METHODS {
        let mut hybrid = clocks(2, method);
        let part = |limit: f64| SwitchingFunction::new(format!("x >= {limit}"), move |_, x| limit - x[0]);
        let one = Condition {
            name: "one".into(),
            functions: vec![part(0.7), part(0.3)],
            logic: Logic::Any(vec![Logic::Is(0), Logic::Is(1)]),
        };
        hybrid.transition(Transition::on(0, 1, one));
        expect(&reach(&hybrid, &[0.0], 2.0), &[(0.3, "a", "b")], 1e-10);
    }
}

#[test]
fn a_negation_is_true_when_a_function_rises() {
    // not (x ≤ 0.4), from x = 0
    for method in METHODS {
        let mut hybrid = clocks(2, method);
        let not = Condition {
            name: "not x <= 0.4".into(),
            functions: vec![SwitchingFunction::new("x <= 0.4", |_, x| x[0] - 0.4)],
            logic: Logic::Not(Box::new(Logic::Is(0))),
        };
        hybrid.transition(Transition::on(0, 1, not));
        expect(&reach(&hybrid, &[0.0], 2.0), &[(0.4, "a", "b")], 1e-10);
    }
}

#[test]
fn a_conjunction_that_is_true_for_a_moment_inside_of_a_step_is_found() {
    // x ≥ 0.5 and x ≤ 0.5001
    for method in METHODS {
        let mut hybrid = clocks(2, method);
        let window = Condition {
            name: "window".into(),
            functions: vec![
                SwitchingFunction::new("x >= 0.5", |_, x| 0.5 - x[0]),
                SwitchingFunction::new("x <= 0.5001", |_, x| x[0] - 0.5001),
            ],
            logic: Logic::All(vec![Logic::Is(0), Logic::Is(1)]),
        };
        hybrid.transition(Transition::on(0, 1, window));
        expect(&reach(&hybrid, &[0.0], 2.0), &[(0.5, "a", "b")], 1e-10);
    }
}

#[test]
fn a_function_of_the_derivatives_is_seen() {
    // x' = 2(t − 1) reaches 1 at t = 1.5
    for method in METHODS {
        let mut hybrid = Hybrid::new();
        hybrid.mode(mode("a", &Affine::ramp(&[-2.0], &[2.0]), method));
        hybrid.mode(mode("b", &Affine::ramp(&[-2.0], &[2.0]), method));
        let fast = SwitchingFunction::with_derivatives("x' >= 1", |_, _, xdot| 1.0 - xdot[0]);
        hybrid.transition(Transition::on(0, 1, Condition::of(fast)));
        expect(&reach(&hybrid, &[1.0], 3.0), &[(1.5, "a", "b")], 1e-6);
    }
}

/// 0 = x − sin 20t: no freedom, nothing that an error estimate of differential equations could see.
struct Prescribed;
impl daedal::dae::Equations for Prescribed {
    fn dim(&self) -> usize {
        1
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], _: &[S], r: &mut [S]) {
        r[0] = x[0] - (t * 20.0).sin();
    }
}

#[test]
fn events_of_algebraic_unknowns_are_found() {
    for method in METHODS {
        let mut hybrid = Hybrid::new();
        hybrid.mode(mode("a", &Prescribed, method));
        hybrid.mode(mode("b", &Prescribed, method));
        hybrid.transition(Transition::when(0, 1, "up", |_, x| 0.9 - x[0]));
        hybrid.transition(Transition::when(1, 0, "down", |_, x| x[0] + 0.9));
        let solution = reach(&hybrid, &[0.0], 3.0);
        let (first, half) = (0.9_f64.asin() / 20.0, std::f64::consts::PI / 20.0);
        let wanted: Vec<_> = (0..19)
            .map(|k| (first + half * f64::from(k), ["a", "b"][k as usize % 2], ["b", "a"][k as usize % 2]))
            .collect();
        expect(&solution, &wanted, 1e-8);
    }
}

#[test]
fn the_dense_output_of_algebraic_unknowns_is_as_exact_as_the_tolerance() {
    for method in METHODS {
        let mut hybrid = Hybrid::new();
        hybrid.mode(mode("a", &Prescribed, method));
        let options = Options { save: daedal::Save::Dense, ..tolerance(1e-6) };
        let problem = Problem::new(&hybrid, Initial::new(0.0, &[0.0]), 3.0);
        let solution = solve(&problem, &HybridOptions::default(), &options).unwrap();
        let error = |t: f64| (solution.value("x.0", t).unwrap() - (20.0 * t).sin()).abs();
        let worst = (0..=3000).map(|k| error(1e-3 * f64::from(k))).fold(0.0, f64::max);
        println!("{method:?}: {worst:.1e}, {} steps", solution.statistics.steps);
        assert!(worst < 1e-4, "{method:?}: {worst:e} with {} steps", solution.statistics.steps);
    }
}

#[test]
fn a_function_that_is_zero_all_the_time_makes_the_weak_statement_true_and_not_the_strict_one() {
    for method in METHODS {
        for strict in [false, true] {
            let mut hybrid = clocks(3, method);
            hybrid.transition(above(0, 1, 0.5));
            let mut zero = SwitchingFunction::new("0 <= 0", |_, _| 0.0);
            if strict {
                zero = zero.strict();
            }
            hybrid.transition(Transition::on(1, 2, Condition::of(zero)));
            let solution = reach(&hybrid, &[0.0], 1.0);
            assert_eq!(solution.switches.len(), if strict { 1 } else { 2 }, "{method:?}, strict {strict}");
        }
    }
}

#[test]
fn scheduled_times_are_met_exactly() {
    use daedal::hybrid::Schedule;
    for method in METHODS {
        let mut hybrid = clocks(2, method);
        hybrid.transition(Transition::at(0, 1, Schedule::Times(vec![0.1, 0.7])));
        hybrid.transition(Transition::at(1, 0, Schedule::Every { first: 0.3, period: 0.5 }));
        let solution = reach(&hybrid, &[0.0], 1.0);
        let times: Vec<f64> = solution.switches.iter().map(|s| s.t).collect();
        assert_eq!(times, [0.1, 0.3, 0.7, 0.8]);
        assert!(solution.switches.iter().all(|s| s.kind == SwitchKind::Scheduled));
    }
}
