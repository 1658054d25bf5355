//! The root finder through whole runs: hard functions, and zeros that cannot be resolved. Wunderlich, thesis (2008), section 6.3.

use super::support::*;
use daedal::hybrid::{HybridOptions, Transition};
use daedal::{Initial, Problem, solve};

/// Time of the only switch of x = t.
fn root(g: impl Fn(f64) -> f64 + 'static, method: Method) -> f64 {
    let mut hybrid = clocks(2, method);
    hybrid.transition(Transition::when(0, 1, "g", move |t, _| g(t)));
    let solution = reach(&hybrid, &[0.0], 1.0);
    assert_eq!(solution.switches.len(), 1, "{:?}", solution.mode_trajectory());
    solution.switches[0].t
}

#[test]
fn hard_functions_have_their_zeros_found_to_rounding() {
    for method in METHODS {
        assert!((root(|t| 0.2 - t.powi(3), method) - 0.2_f64.cbrt()).abs() < 1e-12);
        assert!((root(|t| (-40.0 * t).exp() - 1e-6, method) - 1e6_f64.ln() / 40.0).abs() < 1e-12);
        assert!((root(|t| 1e-3 - t.powi(9), method) - 1e-3_f64.powf(1.0 / 9.0)).abs() < 1e-12);
    }
}

#[test]
fn functions_of_any_size_have_their_zeros_found_to_rounding() {
    for method in METHODS {
        for size in [1e-200, 1e-30, 1e30, 1e200] {
            assert!((root(move |t| size * (0.3 - t), method) - 0.3).abs() < 1e-12, "{method:?}, {size:e}");
        }
    }
}

#[test]
fn steep_functions_have_their_zeros_found_to_rounding() {
    for method in METHODS {
        for width in [1e-3, 1e-5, 1e-7] {
            let t = root(move |t| ((0.3 - t) / width).tanh(), method);
            assert!((t - 0.3).abs() < 1e-12, "{method:?}, width {width:e}: {:e} beside it", t - 0.3);
        }
    }
}

#[test]
fn functions_with_a_vertical_tangent_have_their_zeros_found_to_rounding() {
    for method in METHODS {
        let t = root(|t| (0.3 - t).cbrt(), method);
        assert!((t - 0.3).abs() < 1e-12, "{method:?}: {:e} beside it", t - 0.3);
    }
}

#[test]
fn the_condition_holds_where_a_mode_is_left() {
    for method in METHODS {
        for width in [1.0, 1e-3, 1e-6] {
            let mut hybrid = clocks(2, method);
            let g = move |t: f64| ((0.3 - t) / width).tanh();
            hybrid.transition(Transition::when(0, 1, "g", move |t, _| g(t)));
            let t = reach(&hybrid, &[0.0], 1.0).switches[0].t;
            assert!(g(t) <= 1e-12, "{method:?}, width {width:e}: left at {t} with g = {:e}", g(t));
        }
    }
}

#[test]
fn the_first_of_three_functions_is_returned() {
    for method in METHODS {
        let mut hybrid = clocks(4, method);
        hybrid.transition(Transition::when(0, 1, "0.31", |t, _| 0.31 - t));
        hybrid.transition(Transition::when(0, 2, "0.3", |t, _| 0.3 - t));
        hybrid.transition(Transition::when(0, 3, "never", |t, _| (20.0 * t).cos() + 2.0));
        expect(&reach(&hybrid, &[0.0], 1.0), &[(0.3, "a", "c")], 1e-12);
    }
}

#[test]
fn a_function_that_jumps_below_zero_is_located_at_its_jump() {
    for method in METHODS {
        let mut hybrid = clocks(2, method);
        hybrid.transition(Transition::when(0, 1, "step", |t, _| if t < 0.4 { 1.0 } else { -1.0 }));
        expect(&reach(&hybrid, &[0.0], 1.0), &[(0.4, "a", "b")], 1e-9);
    }
}

#[test]
fn the_time_tolerance_can_be_set() {
    for method in METHODS {
        let mut hybrid = clocks(2, method);
        hybrid.transition(Transition::when(0, 1, "g", |t, _| 0.2 - t.powi(3)));
        let exact = 0.2_f64.cbrt();
        let error = |time_tolerance: Option<f64>| {
            let options = HybridOptions { time_tolerance, ..HybridOptions::default() };
            let solution =
                solve(&Problem::new(&hybrid, Initial::new(0.0, &[0.0]), 1.0), &options, &tolerance(1e-9)).unwrap();
            assert_eq!(solution.switches.len(), 1);
            (solution.switches[0].t - exact).abs()
        };
        assert!(error(None) < 1e-12);
        assert!(error(Some(1e-4)) <= 1e-4);
    }
}
