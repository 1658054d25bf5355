//! Chattering, and what hysteresis and dwell time do about it. Wunderlich, thesis (2008), sections 5.4 and 6.4.

use super::support::*;
use daedal::hybrid::{
    Condition, Detection, Hybrid, HybridError, HybridFailure, HybridOptions, HybridSolution, Hysteresis, Mode,
    SwitchingFunction, Transition,
};
use daedal::{Initial, Problem, solve};

/// x' = −1 until x ≤ 0, then x' = `up` until x ≥ 0.
fn relay(method: Method, up: f64, width: f64, dwell: f64) -> Hybrid<'static> {
    let mut hybrid = Hybrid::new();
    let slow = |mode: Mode<'static>| mode.dwell(dwell);
    hybrid.mode(slow(mode("down", &Affine::constant(&[-1.0]), method)));
    hybrid.mode(slow(mode("up", &Affine::constant(&[up]), method)));
    hybrid.transition(Transition::when(0, 1, "x <= 0", |_, x| x[0]).hysteresis(width));
    hybrid.transition(Transition::when(1, 0, "x >= 0", |_, x| -x[0]).hysteresis(width));
    hybrid
}

fn options(detection: Detection) -> HybridOptions {
    HybridOptions { detection, ..HybridOptions::default() }
}

fn solved(hybrid: &Hybrid, tend: f64, options: &HybridOptions) -> Result<HybridSolution, HybridError> {
    solve(&Problem::new(hybrid, Initial::new(0.0, &[0.5]), tend), options, &tolerance(1e-9))
}

#[test]
fn with_a_hysteresis_every_mode_lasts_two_widths_by_the_speed() {
    for method in METHODS {
        for (width, count) in [(0.01, 25), (0.005, 50), (0.002, 125)] {
            let solution = solved(&relay(method, 1.0, width, 0.0), 1.0, &options(Detection::Off)).unwrap();
            assert_eq!(solution.switches.len(), count, "{method:?}, width {width}");
            for (k, switch) in solution.switches.iter().enumerate() {
                let exact = 0.5 + width * (1.0 + 2.0 * k as f64);
                assert!((switch.t - exact).abs() < 1e-8, "{method:?}, switch {k}: {} not {exact}", switch.t);
            }
        }
    }
}

#[test]
fn a_dwell_time_delays_transitions_that_come_true_before_it_is_over() {
    for method in METHODS {
        let solution = solved(&relay(method, 2.0, 0.0, 0.1), 1.75, &options(Detection::Off)).unwrap();
        let wanted: Vec<_> = (0..9)
            .map(|k| {
                let (cycle, half) = (f64::from(k / 2), k % 2);
                if half == 0 { (0.5 + 0.3 * cycle, "down", "up") } else { (0.6 + 0.3 * cycle, "up", "down") }
            })
            .collect();
        expect(&solution, &wanted, 1e-8);
    }
}

#[test]
fn the_dwell_time_bounds_the_number_of_switches() {
    for method in METHODS {
        for dwell in [0.02, 0.01, 0.005] {
            let solution = solved(&relay(method, 1.7, 0.0, dwell), 1.0, &options(Detection::Off)).unwrap();
            let most = 0.5 / dwell + 1.0;
            let count = solution.switches.len() as f64;
            assert!(count <= most && count > 0.5 * most, "{method:?}, dwell time {dwell}: {count} switches");
            assert!(solution.switches.windows(2).all(|s| s[1].t - s[0].t > dwell - 1e-9));
        }
    }
}

#[test]
fn chattering_without_any_width_ends_with_an_error_that_says_so() {
    for method in METHODS {
        let (cause, partial) = stopped(solved(&relay(method, 1.0, 0.0, 0.0), 1.0, &options(Detection::Off)));
        let modes = match &cause {
            HybridFailure::EndlessSwitching { cycle, .. } => cycle,
            HybridFailure::TooManySwitches { modes, .. } => modes,
            _ => panic!("{cause}"),
        };
        assert!(["down", "up"].iter().all(|name| modes.iter().any(|m| m == name)), "{cause}");
        assert!(cause.to_string().contains("hysteresis"), "{cause}");
        assert!((partial.end.t - 0.5).abs() < 1e-3, "{}", partial.end.t);
    }
}

#[test]
fn more_switches_than_allowed_stop_the_run() {
    for method in METHODS {
        let options = HybridOptions { max_switches: 20, ..options(Detection::Off) };
        let (cause, partial) = stopped(solved(&relay(method, 1.0, 0.002, 0.0), 1.0, &options));
        let HybridFailure::TooManySwitches { t, count, modes } = &cause else { panic!("{cause}") };
        assert!((20..=21).contains(count) && (*t - (0.5 + 0.002 * 41.0)).abs() < 5e-3, "{cause}");
        assert!(["down", "up"].iter().all(|name| modes.iter().any(|m| m == name)), "{cause}");
        assert!((20..=21).contains(&partial.switches.len()));
    }
}

/// The relay with functions that slide nowhere, because they contain derivatives.
fn without_sliding(method: Method, width: f64) -> Hybrid<'static> {
    let mut hybrid = Hybrid::new();
    hybrid.mode(mode("down", &Affine::constant(&[-1.0]), method));
    hybrid.mode(mode("up", &Affine::constant(&[1.0]), method));
    for (from, sign) in [(0, 1.0), (1, -1.0)] {
        let g = SwitchingFunction::with_derivatives("g", move |_, x, xdot| sign * x[0] + 0.0 * xdot[0] + width);
        hybrid.transition(Transition::on(from, 1 - from, Condition::of(g)));
    }
    hybrid
}

#[test]
fn three_switches_in_short_succession_are_flagged_and_told() {
    for method in METHODS {
        for (width, chatters) in [(1e-4, true), (6e-4, false)] {
            let published = HybridOptions { chatter_time: Some(1e-3), ..options(Detection::ThreePoints) };
            let solution = solved(&without_sliding(method, width), 0.51, &published).unwrap();
            assert!(solution.switches.len() > 5);
            assert_eq!(solution.switches.iter().any(|s| s.chattering), chatters, "{method:?}, width {width}");
            assert_eq!(
                solution.warnings.iter().any(|w| w.message.contains("short succession")),
                chatters,
                "{:?}",
                solution.warnings
            );
            assert!(!solution.switches[0].chattering && !solution.switches[1].chattering);
        }
    }
}

#[test]
fn the_time_between_switches_that_counts_as_chattering_can_be_set() {
    let hybrid = without_sliding(Method::Radau, 6e-4);
    let options = HybridOptions { chatter_time: Some(2e-3), ..options(Detection::ThreePoints) };
    assert!(solved(&hybrid, 0.51, &options).unwrap().switches.iter().any(|s| s.chattering));
}

/// The relay in another unit of time: everything is `fast` times as fast.
fn in_another_unit(method: Method, fast: f64, width: f64) -> Hybrid<'static> {
    let mut hybrid = Hybrid::new();
    hybrid.mode(mode("down", &Affine::constant(&[-fast]), method));
    hybrid.mode(mode("up", &Affine::constant(&[fast]), method));
    hybrid.transition(Transition::on(0, 1, surface("x <= 0", move |_, x| x[0] + width, move |_, x| x[0] + width)));
    hybrid.transition(Transition::on(1, 0, surface("x >= 0", move |_, x| width - x[0], move |_, x| -x[0] + width)));
    hybrid
}

#[test]
fn a_hysteresis_alternates_whatever_its_width_its_speed_and_the_end_of_the_run() {
    for method in METHODS {
        for fast in [1e-4, 1.0, 1e6] {
            for (width, tend) in [(0.01, 0.9), (0.01, 9.0), (1e-4, 0.51)] {
                let hybrid = in_another_unit(method, fast, width);
                let problem = Problem::new(&hybrid, Initial::new(0.0, &[0.5]), tend / fast);
                let options = HybridOptions::default();
                let solution = solve(&problem, &options, &tolerance(1e-9)).unwrap_or_else(|e| panic!("{}", told(&e)));
                let count = ((tend - 0.5 - width) / (2.0 * width) + 1e-6).floor() as usize + 1;
                assert_eq!(solution.switches.len(), count, "{method:?}, {fast:e}, width {width}, up to {tend}");
                for (k, switch) in solution.switches.iter().enumerate() {
                    let exact = (0.5 + width * (1.0 + 2.0 * k as f64)) / fast;
                    assert!((switch.t - exact).abs() < 1e-6 / fast, "{method:?}, {fast:e}: {} not {exact}", switch.t);
                }
                assert!(solution.warnings.is_empty(), "{:?}", solution.warnings);
            }
        }
    }
}

#[test]
fn a_width_of_zero_slides_and_the_limit_of_another_one_does_if_it_is_asked_for() {
    for fast in [1e-4, 1.0, 1e6] {
        for (width, hysteresis) in [(0.0, Hysteresis::Alternates), (0.01, Hysteresis::Limit)] {
            let hybrid = in_another_unit(Method::Radau, fast, width);
            let problem = Problem::new(&hybrid, Initial::new(0.0, &[0.5]), 2.0 / fast);
            let options = HybridOptions { hysteresis, ..HybridOptions::default() };
            let solution = solve(&problem, &options, &tolerance(1e-9)).unwrap_or_else(|e| panic!("{}", told(&e)));
            assert_eq!(solution.switches.len(), 1, "{fast:e}, width {width}: {:?}", solution.mode_trajectory());
            assert!(solution.modes[solution.end_mode].sliding && solution.end_value("x.0").unwrap().abs() < 1e-9);
        }
    }
}

#[test]
fn very_many_switches_of_a_hysteresis_stop_the_run_with_advice() {
    let hybrid = in_another_unit(Method::Radau, 1.0, 1e-5);
    let problem = Problem::new(&hybrid, Initial::new(0.0, &[0.5]), 2.0);
    let options = HybridOptions { max_switches: 300, ..HybridOptions::default() };
    let (cause, _) = stopped(solve(&problem, &options, &tolerance(1e-9)));
    assert!(matches!(cause, HybridFailure::TooManySwitches { count: 300, .. }), "{cause}");
    assert!(cause.to_string().contains("hysteresis = \"limit\""), "{cause}");
}

#[test]
fn chattering_that_is_lost_in_the_tolerance_is_told_in_every_unit_of_time() {
    for (width, chatters) in [(1e-8, true), (1e-5, false)] {
        for fast in [1e-3, 1.0, 1e5] {
            let mut hybrid = Hybrid::new();
            hybrid.mode(mode("down", &Affine::constant(&[-fast]), Method::Radau));
            hybrid.mode(mode("up", &Affine::constant(&[fast]), Method::Radau));
            for (from, sign) in [(0, 1.0), (1, -1.0)] {
                let g = SwitchingFunction::with_derivatives("g", move |_, x, _| sign * x[0] + width);
                hybrid.transition(Transition::on(from, 1 - from, Condition::of(g)));
            }
            let problem = Problem::new(&hybrid, Initial::new(0.0, &[0.5]), (0.5 + 100.0 * width) / fast);
            let solution = solve(&problem, &HybridOptions::default(), &tolerance(1e-9));
            let solution = solution.unwrap_or_else(|e| panic!("{fast:e}, width {width}: {}", told(&e)));
            assert!(solution.switches.len() > 5, "{fast:e}");
            assert_eq!(solution.switches.iter().any(|s| s.chattering), chatters, "{fast:e}, width {width}");
        }
    }
}

#[test]
fn nothing_is_told_where_chattering_is_not_looked_for() {
    for method in METHODS {
        let solution = solved(&relay(method, 1.0, 1e-4, 0.0), 0.55, &options(Detection::Off)).unwrap();
        assert!(solution.switches.len() > 200);
        assert!(solution.warnings.is_empty(), "{:?}", solution.warnings);
        assert!(solution.modes.iter().all(|m| !m.sliding));
    }
}

#[test]
fn a_bounded_record_keeps_both_ends_and_counts_all() {
    let hybrid = relay(Method::Radau, 1.0, 0.01, 0.0);
    let all = solved(&hybrid, 1.0, &options(Detection::Off)).unwrap();
    let few = solved(&hybrid, 1.0, &HybridOptions { keep_switches: Some(3), ..options(Detection::Off) }).unwrap();
    assert_eq!((all.switch_count, all.switches.len(), all.phases.len()), (25, 25, 26));
    assert_eq!((few.switch_count, few.switches.len(), few.phases.len()), (25, 6, 8));
    assert_eq!(
        (few.switches[..3].to_vec(), few.switches[3..].to_vec()),
        (all.switches[..3].to_vec(), all.switches[22..].to_vec())
    );
    assert_eq!((few.phases[0].t0, few.phases[7].t1), (0.0, 1.0));
    for (few, all) in few.modes.iter().zip(&all.modes) {
        assert_eq!((few.entered, few.time, &few.largest), (all.entered, all.time, &all.largest));
    }
    assert_eq!(all.modes.iter().map(|mode| mode.entered).collect::<Vec<_>>(), [13, 13]);
    assert!((all.modes.iter().map(|mode| mode.time).sum::<f64>() - 1.0).abs() < 1e-12);
}
