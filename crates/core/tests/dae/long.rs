//! Long runs: nobody has to choose states, and every constraint holds to the end.

use crate::examples::{HorizontalPendulum, Pendulum};
use daedal::StepView;
use daedal::dae::{Form, InForm, System, Unknowns};
use daedal::method::Control;
use daedal::{Initial, Options, Problem, RadauIIa, Tolerance, solve, solve_observed};
use std::f64::consts::PI;
use std::ops::ControlFlow;

const G: f64 = 13.75;

/// The complete elliptic integral K(m), by the arithmetic-geometric mean.
fn complete(m: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - m).sqrt());
    while (a - b).abs() > 1e-15 {
        (a, b) = (f64::midpoint(a, b), (a * b).sqrt());
    }
    PI / (2.0 * a)
}

/// From the hanging position with a speed.
fn thrown(speed: f64) -> [f64; 5] {
    [0.0, -1.0, speed, 0.0, 0.5 * (speed * speed + G)]
}

/// A thousand periods: number of passages from right to left, largest residual of all constraints, largest energy error.
fn thousand_periods(speed: f64, period: f64, form: Form) -> (usize, f64, f64) {
    let system = System::of(&Pendulum);
    let start = thrown(speed);
    let initial = Initial::new(0.0, &start);
    let problem = Problem::new(&system, initial, 1000.0 * period);
    let options = Options { tolerance: Tolerance::new(1e-6, 1e-6), max_steps: 1_000_000, ..Options::default() };
    let energy = |x: &[f64]| 0.5 * (x[2].powi(2) + x[3].powi(2)) + G * x[1];
    let (mut lost, mut quadrants) = (0.0_f64, [false; 4]);
    let (mut passages, mut last) = (0, start[0]);
    let mut watch = |step: &StepView<Unknowns>| {
        lost = lost.max((energy(step.x) - energy(&start)).abs());
        passages += usize::from(last > 0.0 && step.x[0] <= 0.0);
        last = step.x[0];
        quadrants[usize::from(step.x[0] > 0.0) + 2 * usize::from(step.x[1] > 0.0)] = true;
        ControlFlow::Continue(())
    };
    let solution =
        solve_observed(&problem, &InForm { form, integrator: &RadauIIa::default() }, &options, &mut [&mut watch])
            .unwrap();
    assert!(quadrants.iter().all(|&seen| seen), "{quadrants:?}");
    let residuals = solution.max_residuals;
    let residual = residuals.hidden.unwrap().max(residuals.constraint.unwrap_or(0.0));
    let steps = solution.statistics.steps;
    println!("{passages} passages, residual {residual:.1e}, energy error {lost:.1e}, {steps} steps");
    (passages, residual, lost)
}

#[test]
fn a_thousand_rotations_through_all_quadrants() {
    // θ'² = 64 − 4 g sin²(θ/2)
    let period = 4.0 / 8.0 * complete(4.0 * G / 64.0);
    let (passages, residual, lost) = thousand_periods(8.0, period, Form::Auto);
    assert!(residual < 1e-5, "{residual:e}");
    assert_eq!(passages, 1000);
    assert!(lost < 0.02, "{lost}");
}

#[test]
fn a_thousand_swings_by_170_degrees() {
    let sine = (85.0_f64).to_radians().sin();
    let period = 4.0 * complete(sine * sine) / G.sqrt();
    let (passages, residual, lost) = thousand_periods(2.0 * G.sqrt() * sine, period, Form::Auto);
    assert!(residual < 1e-5, "{residual:e}");
    // near the upper position the period answers to the energy: three periods are lost
    assert!(passages.abs_diff(1000) <= 6, "{passages}");
    assert!(lost < 0.02, "{lost}");
}

#[test]
fn a_hundred_seconds_keep_every_constraint() {
    let exact =
        [-0.9999740520463562, -0.007203834672683709, -0.0008646903329793774, 0.1200288367684844, 0.02161150401805113];
    let system = System::of(&HorizontalPendulum);
    for form in [Form::QuasiLinear, Form::DerivativeArray] {
        let problem = Problem::new(&system, Initial::new(0.0, &[1.0, 0.0, 0.0, 0.0, 0.0]), 100.0);
        let solution =
            solve(&problem, &InForm { form, integrator: &RadauIIa::default() }, &Options::default()).unwrap();
        let residuals = solution.max_residuals;
        let residual = residuals.hidden.unwrap().max(residuals.constraint.unwrap_or(0.0));
        let error = solution.end.x.iter().zip(exact).map(|(x, e)| (x - e).abs()).fold(0.0, f64::max);
        println!("[0, 100] {form:?}: residual {residual:.1e}, error {error:.1e}, {} steps", solution.statistics.steps);
        assert!(residual < 1e-6, "{form:?}: {residual:e}");
        assert!(error < 1e-4, "{form:?}: {error:e}");
    }
}

#[test]
fn a_rotation_with_fixed_steps_converges_with_order_five() {
    let period = 0.5 * complete(4.0 * G / 64.0);
    let system = System::of(&Pendulum);
    let start = thrown(8.0);
    let problem = Problem::new(&system, Initial::new(0.0, &start), period);
    let method =
        RadauIIa { control: Control::Fixed, newton_tolerance: Some(1e-6), max_newton: 30, ..RadauIIa::default() };
    let error = |steps: f64| {
        let options = Options { h0: Some(period / steps), tolerance: Tolerance::new(1e-8, 1e-8), ..Options::default() };
        let x = solve(&problem, &InForm { form: Form::QuasiLinear, integrator: &method }, &options).unwrap().end.x;
        x.iter().zip(start).map(|(x, e)| (x - e).abs()).fold(0.0, f64::max)
    };
    let errors = [80.0, 160.0, 320.0].map(error);
    let orders: Vec<f64> = errors.windows(2).map(|e| (e[0] / e[1]).log2()).collect();
    println!("rotation, fixed steps: {errors:?}, orders {orders:.2?}");
    assert!(orders.iter().all(|p| (4.6..5.6).contains(p)), "{orders:?}");
}
