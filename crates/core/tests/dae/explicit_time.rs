//! Formulas know their times: late disturbances, jumps and kinks in time are met, by every integrator.

use daedal::dae::{Equations, System, Unknowns};
use daedal::method::Integrator;
use daedal::scalar::Scalar;
use daedal::{Bdf, Initial, Options, Problem, RadauIIa, Save, Solution, SolveError, StepFailure, Tolerance, solve};

/// Equations from a function, for any scalar.
macro_rules! equations {
    ($name:ident, $n:expr, |$t:ident, $x:ident, $d:ident, $r:ident| $body:block) => {
        struct $name;
        impl Equations for $name {
            fn dim(&self) -> usize {
                $n
            }
            fn residual<S: Scalar>(&self, $t: S, $x: &[S], $d: &[S], $r: &mut [S]) $body
        }
    };
}

/// One between two times, else zero.
fn between<S: Scalar>(t: S, from: f64, to: f64) -> S {
    let (zero, one) = (S::from(0.0), S::from(1.0));
    // t > from and t < to, as a model file writes it
    (-t + from).select(zero, (t - to).select(zero, one))
}

fn options(tolerance: f64) -> Options {
    Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() }
}

fn run_with<E: Equations>(
    equations: &E,
    x: &[f64],
    tend: f64,
    method: &dyn Integrator,
    options: &Options,
) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
    let system = System::of(equations);
    solve(&Problem::new(&system, Initial::new(0.0, x), tend), method, options)
}

fn run<E: Equations>(equations: &E, x: &[f64], tend: f64, method: &dyn Integrator) -> Solution<Unknowns> {
    run_with(equations, x, tend, method, &options(1e-7)).unwrap()
}

fn cause<E: Equations>(equations: &E, x: &[f64], tend: f64) -> StepFailure {
    match run_with(equations, x, tend, &RadauIIa::default(), &options(1e-7)).unwrap_err() {
        SolveError::Stopped { cause, .. } => cause,
        other => panic!("{other}"),
    }
}

equations!(LatePulse, 2, |t, x, d, r| {
    r[0] = d[0] - x[1];
    r[1] = d[1] - between(t, 5.0, 5.1) * 10.0;
});

#[test]
fn a_late_pulse_is_not_stepped_over() {
    for method in [&RadauIIa::default() as &dyn Integrator, &Bdf::default()] {
        let end = run(&LatePulse, &[0.0, 0.0], 10.0, method).end;
        // 10 · 0.1 and 10 · 0.1²/2 + 4.9
        assert!((end.x[1] - 1.0).abs() < 1e-6 && (end.x[0] - 4.95).abs() < 1e-5, "{:?}", end.x);
    }
}

equations!(LateBump, 2, |t, x, d, r| {
    r[0] = d[0] - x[1];
    r[1] = d[1] - (-((t - 1.33) / 0.02).square()).exp() * 100.0;
});

#[test]
fn a_smooth_late_bump_is_not_stepped_over() {
    // its area 100 · 0.02 √π acts from 1.33 on
    let speed = 2.0 * std::f64::consts::PI.sqrt();
    for method in [&RadauIIa::default() as &dyn Integrator, &Bdf::default()] {
        let end = run(&LateBump, &[0.0, 0.0], 10.0, method).end;
        assert!((end.x[1] - speed).abs() < 1e-4, "{:?}", end.x);
        assert!((end.x[0] - speed * 8.67).abs() < 1e-3, "{:?}", end.x);
    }
}

equations!(Chopped, 1, |t, x, d, r| {
    let on = (-(t * (100.0 * std::f64::consts::PI)).sin() + 0.3).select(S::from(0.0), S::from(100.0));
    r[0] = d[0] + x[0] * 10.0 - on;
});

#[test]
fn a_chopped_voltage_has_its_closed_form() {
    // on from arcsin(0.3)/ω to (π − arcsin(0.3))/ω in each of 50 periods
    let (omega, angle) = (100.0 * std::f64::consts::PI, 0.3_f64.asin());
    let mut i = 0.0;
    for k in 0..50 {
        let begin = 0.02 * f64::from(k);
        let (on, off) = (begin + angle / omega, begin + (std::f64::consts::PI - angle) / omega);
        let decay = |from: f64, to: f64| (-10.0 * (to - from)).exp();
        i *= decay(begin, on);
        i = 10.0 + (i - 10.0) * decay(on, off);
        i *= decay(off, begin + 0.02);
    }
    let solution = run(&Chopped, &[0.0], 1.0, &RadauIIa::default());
    assert!((solution.end.x[0] - i).abs() < 1e-6, "{} instead of {i}", solution.end.x[0]);
    // without the times of the switches it took 1649 steps and 1432 rejections
    let statistics = solution.statistics;
    assert!(statistics.steps < 700 && statistics.rejected_error < 60, "{statistics}");
}

equations!(Mixed, 1, |t, x, d, r| {
    r[0] = d[0] - (-t + 5.0).select(-x[0], x[0] * 0.5);
});

#[test]
fn a_condition_in_time_may_choose_between_formulas_of_the_state() {
    let end = run(&Mixed, &[1.0], 7.0, &RadauIIa::default()).end;
    assert!((end.x[0] - (-5.0_f64 + 1.0).exp()).abs() < 1e-7, "{}", end.x[0]);
}

equations!(FromTheStart, 1, |t, x, d, r| {
    r[0] = d[0] - (-t).select(S::from(1e3), x[0] * 0.0 + 1.0);
});

#[test]
fn a_condition_that_changes_at_the_start_belongs_to_what_follows() {
    let solution = run(&FromTheStart, &[0.0], 2.0, &RadauIIa::default());
    assert!((solution.end.x[0] - 2.0).abs() < 1e-12, "{}", solution.end.x[0]);
    assert_eq!(solution.statistics.rejected_error, 0);
}

equations!(Constrained, 2, |t, x, d, r| {
    // x₂ is the derivative of the prescribed x₁ = |t − 1|
    r[0] = d[0] - x[1];
    r[1] = x[0] - (t - 1.0).abs();
});

#[test]
fn what_stands_under_no_derivative_jumps_with_time() {
    let wanted = Options { save: Save::At(vec![0.5, 1.5]), ..options(1e-7) };
    let solution = run_with(&Constrained, &[1.0, -1.0], 2.0, &RadauIIa::default(), &wanted).unwrap();
    assert!((solution.state(0)[1] + 1.0).abs() < 1e-6 && (solution.state(1)[1] - 1.0).abs() < 1e-6);
}

equations!(Driven, 3, |t, x, d, r| {
    r[0] = d[0] - x[1];
    r[1] = d[1] - x[2];
    r[2] = x[0] - (t - 1.0).abs();
});

#[test]
fn a_kink_that_needs_an_impulse_is_told() {
    let cause = cause(&Driven, &[1.0, -1.0, 0.0], 2.0);
    let StepFailure::Break { t, .. } = &cause else { panic!("{cause}") };
    assert!((t - 1.0).abs() < 1e-12);
    let message = cause.to_string();
    assert!(message.contains("`t - 1`") && message.contains("impulse") && message.contains("transition"), "{message}");
}

equations!(HardStop, 1, |t, x, d, r| {
    r[0] = d[0] - (t - 5.0).select(S::from(7.0), x[0] * 0.0 + 1.0);
});

#[test]
fn a_run_may_end_and_save_where_a_formula_jumps() {
    let wanted = Options { save: Save::At(vec![2.5, 5.0]), ..options(1e-7) };
    let solution = run_with(&HardStop, &[0.0], 5.0, &RadauIIa::default(), &wanted).unwrap();
    assert_eq!((solution.end.t, solution.len()), (5.0, 2));
    assert!((solution.end.x[0] - 5.0).abs() < 1e-12, "{}", solution.end.x[0]);
}

equations!(Friction, 2, |_t, x, d, r| {
    let sign = x[1].select((-x[1]).select(S::from(0.0), S::from(1.0)), S::from(-1.0));
    r[0] = d[0] - x[1];
    r[1] = d[1] + sign * 3.0 + x[0];
});

#[test]
fn a_run_that_fails_where_a_formula_jumps_names_it() {
    let cause = cause(&Friction, &[1.0, 5.0], 10.0);
    let StepFailure::Jump { formula, .. } = &cause else { panic!("{cause}") };
    assert_eq!(formula, "sign(x.1)");
    assert!(cause.to_string().contains("modes"));
}

#[test]
fn a_condition_of_time_is_not_blamed_before_its_time() {
    let few = Options { max_steps: 5, ..options(1e-7) };
    match run_with(&LatePulse, &[0.0, 1.0], 10.0, &RadauIIa::default(), &few).unwrap_err() {
        SolveError::Stopped { cause: StepFailure::TooManySteps { .. }, .. } => {}
        other => panic!("{other:?}"),
    }
}

equations!(Rest, 1, |_t, x, d, r| {
    r[0] = d[0] + x[0];
});

#[test]
fn steps_are_a_tenth_of_the_interval_at_most_unless_told_otherwise() {
    let steps = |hmax: Option<f64>| {
        let options = Options { hmax, ..options(1e-7) };
        run_with(&Rest, &[0.0], 1.0, &RadauIIa::default(), &options).unwrap().statistics.steps
    };
    assert!(steps(None) >= 10 && steps(Some(1e9)) < 10);
}

/// Conditions of time as people write them: c > 0 on pieces of [0, end].
const CONDITIONS: [(usize, f64); 10] =
    [(0, 60.0), (1, 60.0), (2, 20.0), (3, 20.0), (4, 60.0), (5, 60.0), (6, 20.0), (7, 4.0), (8, 100.0), (9, 100.0)];

fn condition<S: Scalar>(number: usize, t: S) -> S {
    let kink = |from: f64| (t - from).select(t - from, S::from(0.0));
    match number {
        0 => t.sin() * (t * 1.3).sin() * (t * 0.7).sin() - 0.8,
        1 => t.sin() + (t * 1.7).sin() - 1.0,
        2 => t.cos().powi(4) - 0.5,
        3 => t.cos().square() - 0.5,
        4 => t.sin() * (t * 1.3).sin() - 0.5,
        5 => t.sin() * (t * 0.3).cos() - 0.5,
        6 => (t * -0.1).exp() * (t * 10.0).sin() - 0.5,
        7 => t.powi(3) - t.square() * 6.0 + t * 11.0 - 6.1,
        // the angle jumps
        8 => t.sin().atan2(t.cos()) - 3.0,
        // two kinks before it begins
        _ => (kink(50.1) + kink(50.15) - 0.15) * (-t + 50.4),
    }
}

/// x' = 10 while the condition holds, y' = 1.
struct While(usize);
impl Equations for While {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, t: S, _: &[S], d: &[S], r: &mut [S]) {
        r[0] = d[0] - condition(self.0, t).select(S::from(10.0), S::from(0.0));
        r[1] = d[1] - 1.0;
    }
}

/// How long a condition holds, by bisection of the cells of a fine grid.
fn duration(number: usize, end: f64) -> f64 {
    let holds = |t: f64| condition(number, t) >= 0.0;
    let cells = 100_000;
    let time = |k: i32| end * f64::from(k) / f64::from(cells);
    let part = |k: i32| {
        let (mut a, mut b) = (time(k), time(k + 1));
        let (first, width) = (holds(a), b - a);
        if first == holds(b) {
            return if first { width } else { 0.0 };
        }
        for _ in 0..60 {
            let middle = 0.5 * (a + b);
            if holds(middle) == first { a = middle } else { b = middle }
        }
        if first { a - time(k) } else { time(k + 1) - a }
    };
    (0..cells).map(part).sum()
}

#[test]
fn conditions_of_time_are_met_and_time_does_not_run_backwards() {
    for (number, end) in CONDITIONS {
        for method in [&RadauIIa::default() as &dyn Integrator, &Bdf::default()] {
            let x = run(&While(number), &[0.0, 0.0], end, method).end.x;
            let exact = 10.0 * duration(number, end);
            assert!((x[0] - exact).abs() < 1e-6, "condition {number}: {} instead of {exact}", x[0]);
            assert!((x[1] - end).abs() < 1e-9, "condition {number}: y = {} at {end}", x[1]);
        }
    }
}

equations!(HiddenPulse, 1, |t, _x, d, r| {
    // bounds see almost nothing of it: sin t cos t − sin(2t)/2 is zero
    let c = t.sin() * t.cos() - (t * 2.0).sin() * 0.5 + 1e-3 - (-((t - 90.0) / 0.01).square()).exp();
    r[0] = d[0] - c.select(S::from(0.0), S::from(10.0));
});

#[test]
fn a_search_that_takes_long_goes_on_later() {
    // exp(−s²) > 1e-3 for |s| < √(3 ln 10)
    let exact = 10.0 * 2.0 * 0.01 * (3.0 * 10.0_f64.ln()).sqrt();
    let x = run(&HiddenPulse, &[0.0], 100.0, &RadauIIa::default()).end.x;
    assert!((x[0] - exact).abs() < 1e-6, "{} instead of {exact}", x[0]);
}

equations!(Denominator, 1, |t, _x, d, r| {
    r[0] = d[0] - S::from(1.0) / (t.square() - t * 10.0 + 25.1);
});

#[test]
fn an_input_whose_bounds_are_infinite_costs_few_steps() {
    let solution = run(&Denominator, &[0.0], 10.0, &RadauIIa::default());
    let exact = 2.0 / 0.1_f64.sqrt() * (5.0 / 0.1_f64.sqrt()).atan();
    assert!((solution.end.x[0] - exact).abs() < 1e-6, "{:?} {exact}", solution.end.x);
    assert!(solution.statistics.steps < 500, "{:?}", solution.statistics);
}
