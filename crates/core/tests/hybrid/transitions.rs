//! Which transition is taken, and what is told when none can be.

use super::support::*;
use daedal::dae::Equations;
use daedal::hybrid::{EnterError, Hybrid, HybridError, HybridFailure, HybridOptions, Schedule, SwitchKind, Transition};
use daedal::scalar::Scalar;
use daedal::{Initial, Problem, solve};

#[test]
fn simultaneous_transitions_without_priorities_are_refused() {
    for method in METHODS {
        let mut hybrid = clocks(3, method);
        hybrid.transition(above(0, 1, 0.5));
        hybrid.transition(above(0, 2, 0.5));
        let (cause, partial) = stopped(run(&hybrid, &[0.0], 1.0));
        let HybridFailure::Ambiguous { t, mode, transitions } = &cause else { panic!("{cause}") };
        assert!((t - 0.5).abs() < 1e-9 && mode == "a");
        assert_eq!(transitions.len(), 2);
        assert!(transitions[0].contains('b') && transitions[1].contains('c'), "{transitions:?}");
        assert!(cause.to_string().contains("priorities"), "{cause}");
        // what was computed is kept
        assert!((partial.end.t - 0.5).abs() < 1e-9 && partial.switches.is_empty());
    }
}

#[test]
fn the_largest_priority_decides() {
    for method in METHODS {
        for (first, second, winner) in [(1, 2, "c"), (2, 1, "b"), (0, -1, "b")] {
            let mut hybrid = clocks(3, method);
            hybrid.transition(above(0, 1, 0.5).priority(first));
            hybrid.transition(above(0, 2, 0.5).priority(second));
            expect(&reach(&hybrid, &[0.0], 1.0), &[(0.5, "a", winner)], 1e-9);
        }
    }
}

#[test]
fn a_time_and_a_condition_at_the_same_time_need_priorities_as_well() {
    let built = |priorities: Option<(i32, i32)>| {
        let mut hybrid = clocks(3, Method::Radau);
        let mut at = Transition::at(0, 1, Schedule::Times(vec![0.5]));
        let mut when = Transition::when(0, 2, "t >= 0.5", |t, _| 0.5 - t);
        if let Some((first, second)) = priorities {
            (at, when) = (at.priority(first), when.priority(second));
        }
        hybrid.transition(at);
        hybrid.transition(when);
        hybrid
    };
    let (cause, _) = stopped(run(&built(None), &[0.0], 1.0));
    assert!(matches!(cause, HybridFailure::Ambiguous { .. }), "{cause}");
    expect(&reach(&built(Some((2, 1))), &[0.0], 1.0), &[(0.5, "a", "b")], 1e-9);
    expect(&reach(&built(Some((1, 2))), &[0.0], 1.0), &[(0.5, "a", "c")], 1e-9);
}

#[test]
fn equal_priorities_decide_nothing() {
    let mut hybrid = clocks(3, Method::Radau);
    hybrid.transition(above(0, 1, 0.5).priority(1));
    hybrid.transition(above(0, 2, 0.5).priority(1));
    let (cause, _) = stopped(run(&hybrid, &[0.0], 1.0));
    assert!(matches!(cause, HybridFailure::Ambiguous { .. }), "{cause}");
}

#[test]
fn priorities_do_not_matter_for_transitions_at_different_times() {
    for method in METHODS {
        let mut hybrid = clocks(3, method);
        hybrid.transition(above(0, 1, 0.5).priority(-7));
        hybrid.transition(above(0, 2, 0.500001).priority(7));
        expect(&reach(&hybrid, &[0.0], 1.0), &[(0.5, "a", "b")], 1e-9);
    }
}

#[test]
fn a_mode_whose_condition_holds_already_is_left_at_once() {
    for method in METHODS {
        let mut hybrid = clocks(3, method);
        hybrid.transition(above(0, 1, 0.5));
        hybrid.transition(above(1, 2, 0.2));
        let solution = reach(&hybrid, &[0.0], 1.0);
        expect(&solution, &[(0.5, "a", "b"), (0.5, "b", "c")], 1e-9);
        assert_eq!(solution.switches[0].t, solution.switches[1].t);
        assert_eq!(
            (solution.switches[0].kind, solution.switches[1].kind),
            (SwitchKind::Regular, SwitchKind::Immediate)
        );
        let phases: Vec<_> = solution.phases.iter().map(|p| (p.mode, p.t0 == p.t1)).collect();
        assert_eq!(phases, [(0, false), (1, true), (2, false)]);
    }
}

#[test]
fn the_first_mode_may_be_left_at_once() {
    for method in METHODS {
        let mut hybrid = clocks(2, method);
        hybrid.transition(above(0, 1, -1.0));
        let solution = reach(&hybrid, &[0.0], 1.0);
        expect(&solution, &[(0.0, "a", "b")], 0.0);
        assert_eq!(solution.switches[0].kind, SwitchKind::Immediate);
    }
}

#[test]
fn several_transitions_that_hold_on_entry_are_ambiguous() {
    for method in METHODS {
        let mut hybrid = clocks(4, method);
        hybrid.transition(above(0, 1, 0.5));
        hybrid.transition(above(1, 2, 0.2));
        hybrid.transition(above(1, 3, 0.3));
        let (cause, partial) = stopped(run(&hybrid, &[0.0], 1.0));
        let HybridFailure::Ambiguous { mode, transitions, .. } = &cause else { panic!("{cause}") };
        assert_eq!((mode.as_str(), transitions.len()), ("b", 2));
        assert_eq!(partial.switches.len(), 1);
    }
}

#[test]
fn transitions_without_end_are_told_with_their_cycle() {
    for method in METHODS {
        let mut hybrid = clocks(3, method);
        hybrid.transition(above(0, 1, 0.5));
        hybrid.transition(above(1, 2, 0.2));
        hybrid.transition(above(2, 0, 0.2));
        let options = HybridOptions { max_immediate: 12, ..HybridOptions::default() };
        let result = solve(&Problem::new(&hybrid, Initial::new(0.0, &[0.0]), 1.0), &options, &tolerance(1e-9));
        let (cause, partial) = stopped(result);
        let HybridFailure::EndlessSwitching { t, count, cycle } = &cause else { panic!("{cause}") };
        assert!((t - 0.5).abs() < 1e-9 && (12..=14).contains(count), "{cause}");
        assert!(["a", "b", "c"].iter().all(|name| cycle.iter().any(|c| c == name)), "{cycle:?}");
        assert!(!partial.switches.is_empty());
    }
}

#[test]
fn as_many_immediate_transitions_as_allowed_are_made() {
    let mut hybrid = clocks(5, Method::Radau);
    hybrid.transition(above(0, 1, 0.5));
    for k in 1..4 {
        hybrid.transition(above(k, k + 1, 0.2));
    }
    let options = HybridOptions { max_immediate: 3, ..HybridOptions::default() };
    let problem = Problem::new(&hybrid, Initial::new(0.0, &[0.0]), 1.0);
    assert_eq!(solve(&problem, &options, &tolerance(1e-9)).unwrap().switches.len(), 4);
    let options = HybridOptions { max_immediate: 2, ..HybridOptions::default() };
    let (cause, _) = stopped(solve(&problem, &options, &tolerance(1e-9)));
    assert!(matches!(cause, HybridFailure::EndlessSwitching { .. }), "{cause}");
}

#[test]
fn modes_that_do_not_exist_are_refused_before_the_run() {
    let refused = |hybrid: &Hybrid, mode: usize| {
        let result = solve(
            &Problem::new(hybrid, Initial::new(0.0, &[0.0]).in_mode(mode), 1.0),
            &HybridOptions::default(),
            &tolerance(1e-9),
        );
        match result {
            Err(HybridError::System(message)) => message,
            Err(error) => panic!("{}", told(&error)),
            Ok(_) => panic!("not refused"),
        }
    };
    let mut target = clocks(2, Method::Radau);
    target.transition(above(0, 7, 0.5));
    assert!(refused(&target, 0).contains('7') || refused(&target, 0).contains('8'), "{}", refused(&target, 0));
    let mut source = clocks(2, Method::Radau);
    source.transition(above(7, 0, 0.5));
    refused(&source, 0);
    let mut follower = clocks(2, Method::Radau);
    follower.transition(above(0, 1, 0.5).after_accumulation(9));
    refused(&follower, 0);
    let mut sliding = clocks(2, Method::Radau);
    sliding.slide((0, 1), 5);
    refused(&sliding, 0);
    refused(&clocks(2, Method::Radau), 2);
    refused(&Hybrid::new(), 0);
}

#[test]
fn a_start_of_another_length_is_refused() {
    let hybrid = clocks(1, Method::Radau);
    assert!(run(&hybrid, &[0.0, 1.0], 1.0).is_err());
}

/// 0 = x² + 1 has no real solution.
struct Impossible;
impl Equations for Impossible {
    fn dim(&self) -> usize {
        1
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], _: &[S], r: &mut [S]) {
        r[0] = x[0].square() + 1.0;
    }
}

#[test]
fn a_mode_without_consistent_state_is_told_with_the_way_into_it() {
    for method in METHODS {
        let mut hybrid = clocks(1, method);
        hybrid.mode(mode("impossible", &Impossible, method));
        hybrid.transition(above(0, 1, 0.5));
        let (cause, partial) = stopped(run(&hybrid, &[0.0], 1.0));
        let HybridFailure::Enter { t, mode, from, .. } = &cause else { panic!("{cause}") };
        assert!((t - 0.5).abs() < 1e-9 && mode == "impossible");
        assert_eq!(from, &Some(("a".into(), "x >= 0.5".into())));
        // the way to it is kept
        assert_eq!(partial.phases[0].mode, 0);
        assert!((partial.end.t - 0.5).abs() < 1e-9 && (partial.end.x[0] - 0.5).abs() < 1e-8);
    }
}

#[test]
fn a_first_mode_without_consistent_state_is_told() {
    for method in METHODS {
        let mut hybrid = Hybrid::new();
        hybrid.mode(mode("impossible", &Impossible, method));
        let (cause, _) = stopped(run(&hybrid, &[0.0], 1.0));
        assert!(matches!(&cause, HybridFailure::Enter { from: None, mode, .. } if mode == "impossible"), "{cause}");
    }
}

#[test]
fn a_switching_function_without_value_stops_the_run() {
    for method in METHODS {
        for everywhere in [true, false] {
            let mut hybrid = clocks(2, method);
            let g = move |t: f64, _: &[f64]| if everywhere { f64::NAN } else { (0.5 - t).sqrt() + 0.1 };
            hybrid.transition(Transition::when(0, 1, "root", g));
            let (cause, partial) = stopped(run(&hybrid, &[0.0], 2.0));
            let HybridFailure::Undefined { mode, condition, t } = &cause else { panic!("{cause}") };
            assert_eq!((mode.as_str(), condition.as_str()), ("a", "root"));
            assert!(partial.end.t <= 2.0 && *t <= 2.0);
        }
    }
}

#[test]
fn a_transition_that_gives_no_number_stops_the_run() {
    for method in METHODS {
        for value in [f64::NAN, f64::INFINITY] {
            let mut hybrid = clocks(2, method);
            hybrid.transition(above(0, 1, 0.5).transfer(move |_, _, _, new| new[0] = value));
            let (cause, partial) = stopped(run(&hybrid, &[0.0], 1.0));
            let HybridFailure::Transfer { t, from, to, condition, name, value: told } = &cause else {
                panic!("{cause}")
            };
            assert!((t - 0.5).abs() < 1e-9);
            assert_eq!([from, to, condition, name], ["a", "b", "x >= 0.5", "x.0"]);
            assert!(!told.is_finite());
            assert!((partial.end.t - 0.5).abs() < 1e-9);
        }
    }
}

/// x' = 1, y' = −1.
struct Pair;
impl Equations for Pair {
    fn dim(&self) -> usize {
        2
    }
    fn names(&self) -> Vec<String> {
        vec!["x.0".into(), "y".into()]
    }
    fn residual<S: Scalar>(&self, _: S, _: &[S], d: &[S], r: &mut [S]) {
        r[0] = d[0] - 1.0;
        r[1] = d[1] + 1.0;
    }
}

#[test]
fn unknowns_of_the_same_name_are_carried_over_and_new_ones_come_from_the_transition() {
    for method in METHODS {
        let mut hybrid = clocks(1, method);
        hybrid.mode(mode("pair", &Pair, method));
        hybrid.mode(mode("end", &Affine::constant(&[1.0]), method));
        hybrid.transition(above(0, 1, 0.5).transfer(|t, old, _, new| {
            assert!(new[0] == old[0] && new[1].is_nan(), "{new:?}");
            new[1] = 10.0 + t;
        }));
        hybrid.transition(above(1, 2, 0.75));
        let solution = reach(&hybrid, &[0.0], 1.0);
        expect(&solution, &[(0.5, "a", "pair"), (0.75, "pair", "end")], 1e-9);
        let [first, second] = &solution.switches[..] else { panic!() };
        assert_eq!((first.before.len(), first.after.len()), (1, 2));
        assert!((first.after[1] - 10.5).abs() < 1e-9);
        assert!((second.before[1] - 10.25).abs() < 1e-8);
        assert!((solution.end_value("x.0").unwrap() - 1.0).abs() < 1e-8);
    }
}

#[test]
fn unknowns_to_be_kept_must_exist() {
    let mut hybrid = clocks(1, Method::Radau);
    hybrid.mode(mode("b", &Affine::constant(&[1.0]), Method::Radau).keep(&["nobody"]));
    hybrid.transition(above(0, 1, 0.5));
    match run(&hybrid, &[0.0], 1.0) {
        Err(HybridError::System(message)) => assert!(message.contains("nobody"), "{message}"),
        other => {
            let (cause, _) = stopped(other);
            let HybridFailure::Enter { cause, .. } = cause else { panic!("{cause}") };
            assert_eq!(*cause, EnterError::UnknownName { name: "nobody".into() });
        }
    }
}
