//! What is found in a step.

use super::*;
use crate::graph::Expr;
use crate::hybrid::condition::Condition;
use crate::run::exit::{Exit, Reason, Target};
use crate::scalar::Scalar;

/// x(t) = t over [0, h].
fn line(h: f64) -> Segment {
    let mut segment = Segment::point(0.0, &[0.0]);
    segment.collocation(0.0, h, &[h], &[0.2, 0.6, 1.0], &[&[0.2 * h], &[0.6 * h], &[h]]);
    segment
}

fn exit(function: SwitchingFunction<'_>) -> Exit<'_> {
    let reason = Reason::Made(Condition::of(function));
    Exit { reason, to: Target::Mode(0), transition: None, hysteresis: 0.0, priority: None }
}

/// What is found in one step over [0, h] from x = 0 with x' = 1.
fn find(exits: &[Exit], h: f64, held: &[usize]) -> Option<Fired> {
    let mut watch = Watch::default();
    let here = Here { t: 0.0, x: &[0.0], xdot: &[1.0], scales: &[1e-9], probe: 1e-5, fine: None };
    watch.start(exits, here, held).unwrap();
    assert!(watch.true_exits(exits).is_empty());
    watch.find(exits, &line(h), 100.0 * h, None).unwrap()
}

#[test]
fn short_excursions_between_samples_are_found() {
    for middle in [0.07, 0.3, 0.62, 0.93] {
        // below zero for a hundredth of the step only
        let g = move |_: f64, x: &[f64]| (x[0] - middle).powi(2) - 2.5e-5;
        let fired = find(&[exit(SwitchingFunction::new("dip", g))], 1.0, &[]).expect("an event");
        assert!((fired.t - (middle - 5e-3)).abs() < 1e-12, "{fired:?}");
    }
}

/// g as a formula.
struct Formula<F>(F);

impl<F: Fn(Expr) -> Expr> Formula<F> {
    fn exit<'f>(self, value: impl Fn(f64) -> f64 + 'f) -> Exit<'f>
    where
        F: 'f,
    {
        let g = SwitchingFunction::new("formula", move |_, x: &[f64]| value(x[0]));
        exit(g.with_formula(Some(move |_: Expr, x: &[Expr]| (self.0)(x[0]))))
    }
}

#[test]
fn no_excursion_of_a_formula_is_overlooked_however_short_it_is() {
    for middle in [0.07, 0.3, 0.62, 0.93] {
        // exp(-1e8 (x - m)²) > ½ for 1.7e-4 of the step
        let g = Formula(move |x: Expr| ((x - middle).square() * -1e8).exp() * -1.0 + 0.5);
        let fired = find(&[g.exit(move |x| 0.5 - (-1e8 * (x - middle).powi(2)).exp())], 1.0, &[]).expect("an event");
        assert!((fired.t - (middle - 2f64.ln().sqrt() * 1e-4)).abs() < 1e-12, "{fired:?}");
    }
    // what touches zero is found as well, and what comes close to it is not
    let touch = |rest: f64| {
        let g = Formula(move |x: Expr| (x - 0.377).square() + rest).exit(move |x| (x - 0.377).powi(2) + rest);
        find(&[g], 1.0, &[])
    };
    assert!((touch(0.0).expect("an event").t - 0.377).abs() < 1e-4);
    assert_eq!(touch(1e-4), None);
}

#[test]
fn all_zeros_of_a_formula_are_found_in_one_step() {
    let exits = [Formula(|x: Expr| (x.square() * 100.0).sin() * -1.0 + 0.99).exit(|x| 0.99 - (100.0 * x * x).sin())];
    let mut watch = Watch::default();
    let here = Here { t: 0.0, x: &[0.0], xdot: &[1.0], scales: &[1e-9], probe: 1e-5, fine: None };
    watch.start(&exits, here, &[]).unwrap();
    let found = watch.follow(&exits, &line(1.0), (1e3, 1.0), &[(0.0, 1e-9)]).unwrap();
    // sin exceeds 0.99 around 100 t² = π/2 + 2πk
    assert_eq!(found.len(), 16);
    for (k, became) in found.iter().enumerate() {
        let t = ((0.99_f64.asin() + std::f64::consts::TAU * k as f64) / 100.0).sqrt();
        assert!((became.t - t).abs() < 1e-12, "{k}: {} {t}", became.t);
    }
}

#[test]
fn touching_counts_unless_the_statement_is_strict() {
    let touch = || SwitchingFunction::new("touch", |_, x: &[f64]| (x[0] - 0.377).powi(2));
    let fired = find(&[exit(touch())], 1.0, &[]).expect("an event");
    assert!((fired.t - 0.377).abs() < 1e-4);
    assert_eq!(find(&[exit(touch().strict())], 1.0, &[]), None);
}

#[test]
fn the_earliest_of_several_is_found_whatever_their_order() {
    let at = |t0: f64| exit(SwitchingFunction::new("later", move |_, x: &[f64]| t0 - x[0]));
    let exits = [at(0.71), at(0.305), at(0.3)];
    let fired = find(&exits, 1.0, &[]).expect("an event");
    assert!(fired.exits == [2] && (fired.t - 0.3).abs() < 1e-12, "{fired:?}");
    // two at the same time are both told
    let fired = find(&[at(0.5), at(0.5)], 1.0, &[]).expect("an event");
    assert_eq!(fired.exits, [0, 1]);
}

#[test]
fn a_function_that_is_zero_at_the_start_is_followed_to_its_next_zero() {
    // rises from zero and comes back, long before the first sample
    let hop = exit(SwitchingFunction::new("hop", |_, x: &[f64]| x[0] * (0.01 - x[0])));
    let fired = find(&[hop], 1.0, &[]).expect("an event");
    assert!((fired.t - 0.01).abs() < 1e-12, "{fired:?}");
    // zero at the end of the step counts
    let fired = find(&[exit(SwitchingFunction::new("end", |_, x: &[f64]| x[0] * (1.0 - x[0])))], 1.0, &[]);
    assert_eq!(fired.expect("an event").t, 1.0);
}

#[test]
fn a_function_that_falls_from_zero_holds_at_once_unless_it_is_held() {
    let falling = [exit(SwitchingFunction::new("falls", |_, x: &[f64]| -x[0]))];
    let mut watch = Watch::default();
    let here = Here { t: 0.0, x: &[0.0], xdot: &[1.0], scales: &[1e-9], probe: 1e-5, fine: None };
    watch.start(&falling, here, &[]).unwrap();
    assert_eq!(watch.true_exits(&falling), [0]);
    watch.start(&falling, here, &[0]).unwrap();
    assert!(watch.true_exits(&falling).is_empty());
    let fired = watch.find(&falling, &line(1.0), 100.0, None).unwrap().expect("an event");
    assert!(fired.t < 1e-8, "{fired:?}");
}

#[test]
fn conditions_wait_for_all_their_statements() {
    let functions = vec![
        SwitchingFunction::new("x > 0.2", |_, x: &[f64]| 0.2 - x[0]),
        SwitchingFunction::new("x > 0.6", |_, x: &[f64]| 0.6 - x[0]),
    ];
    let logic = crate::hybrid::Logic::All(vec![crate::hybrid::Logic::Is(0), crate::hybrid::Logic::Is(1)]);
    let reason = Reason::Made(Condition { name: "both".into(), functions, logic });
    let both = Exit { reason, to: Target::Mode(0), transition: None, hysteresis: 0.0, priority: None };
    let fired = find(&[both], 1.0, &[]).expect("an event");
    assert!((fired.t - 0.6).abs() < 1e-12);
}

#[test]
fn a_jump_over_zero_is_found_and_told() {
    let jump = exit(SwitchingFunction::new("jump", |_, x: &[f64]| if x[0] < 0.4 { 1.0 } else { -1.0 }));
    let fired = find(&[jump], 1.0, &[]).expect("an event");
    assert!(fired.jumps && (fired.t - 0.4).abs() < 1e-12, "{fired:?}");
}

#[test]
fn a_function_without_a_value_is_told() {
    let exits = [exit(SwitchingFunction::new("nothing", |_, x: &[f64]| (0.5 - x[0]).sqrt() + 1.0))];
    let mut watch = Watch::default();
    let here = Here { t: 0.0, x: &[0.0], xdot: &[1.0], scales: &[1e-9], probe: 1e-5, fine: None };
    watch.start(&exits, here, &[]).unwrap();
    assert_eq!(watch.find(&exits, &line(1.0), 100.0, None).unwrap_err().exit, 0);
}
