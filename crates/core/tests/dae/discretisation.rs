//! Radau IIa with fixed steps on the minimal reduced derivative array: errors and orders. Steinbrecher (2006), 3.5; entries 7.12 and 8.

use crate::examples::*;
use daedal::dae::{Equations, Form, Formulas, InForm, System, Unknowns};
use daedal::graph::Interpreted;
use daedal::method::Control;
use daedal::scalar::Scalar;
use daedal::{Initial, Options, Problem, RadauIIa, Solution, Tolerance, solve};

/// Steps of equal size, iterated to rounding.
fn fixed(system: &System, form: Form, start: &Initial, tend: f64, steps: u32) -> Solution<Unknowns> {
    let method =
        RadauIIa { control: Control::Fixed, newton_tolerance: Some(1e-8), max_newton: 200, ..RadauIIa::default() };
    let options = Options {
        h0: Some((tend - start.t) / f64::from(steps)),
        tolerance: Tolerance::new(1e-9, 1e-9),
        ..Options::default()
    };
    let solution =
        solve(&Problem::new(system, start.clone(), tend), &InForm { form, integrator: &method }, &options).unwrap();
    assert_eq!(solution.statistics.steps, u64::from(steps));
    solution
}

const G: f64 = 13.75;
const SPEED: f64 = 2.8;

/// The start of entry 8: hanging, with speed 2.8.
fn start() -> [f64; 5] {
    [0.0, -1.0, SPEED, 0.0, 0.5 * (SPEED * SPEED + G)]
}

/// x, y, u, v, λ from θ'' = −g sin θ, by Runge and Kutta's method with many steps.
fn by_angle(t: f64) -> [f64; 5] {
    let steps = 40_000;
    let h = t / f64::from(steps);
    let slope = |[theta, omega]: [f64; 2]| [omega, -G * theta.sin()];
    let moved = |s: [f64; 2], k: [f64; 2], h: f64| [s[0] + h * k[0], s[1] + h * k[1]];
    let mut state = [0.0, SPEED];
    for _ in 0..steps {
        let k1 = slope(state);
        let k2 = slope(moved(state, k1, h / 2.0));
        let k3 = slope(moved(state, k2, h / 2.0));
        let k4 = slope(moved(state, k3, h));
        for i in 0..2 {
            state[i] += h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]);
        }
    }
    let ((s, c), omega) = (state[0].sin_cos(), state[1]);
    [s, -c, omega * c, omega * s, 0.5 * (omega * omega + G * c)]
}

/// Errors of positions, velocities, and the multiplier.
fn errors(x: &[f64], exact: &[f64; 5]) -> [f64; 3] {
    let largest = |i: usize, k: usize| (i..k).map(|j| (x[j] - exact[j]).abs()).fold(0.0, f64::max);
    [largest(0, 2), largest(2, 4), largest(4, 5)]
}

fn energy(x: &[f64]) -> f64 {
    0.5 * (x[2].powi(2) + x[3].powi(2)) + G * x[1]
}

/// The pendulum with its energy as a quantity to be kept.
fn with_energy() -> System {
    let mut formulas = Formulas::trace(&Pendulum);
    let [y, u, v] = [1, 2, 3].map(|j| formulas.input(j, 0).unwrap());
    let energy = formulas.graph.with(|| (u.square() + v.square()) * 0.5 + y * G);
    formulas.invariants.push(("energy".into(), energy));
    System::new(&formulas, Interpreted)
}

#[test]
fn entry_8_errors_of_the_pendulum_are_those_of_the_table() {
    let system = System::of(&Pendulum);
    let initial = Initial::new(0.0, &start());
    let rows = [
        (1.0, 10, [1.4e-6, 8.2e-6, 2.2e-5], 9.4e-5),
        (1.0, 20, [3.0e-8, 2.05e-7, 5.5e-7], 3.0e-6),
        (1.0, 40, [3.2e-10, 4.6e-9, 1.2e-8], 9.4e-8),
        (1.0, 80, [f64::INFINITY, 1.1e-10, 3.0e-10], 2.9e-9),
        (4.0, 100, [2.04e-7, 5.03e-7, 1.57e-6], 2.6e-6),
        (4.0, 200, [6.15e-9, 1.39e-8, 4.69e-8], 8.1e-8),
        (4.0, 400, [1.89e-10, 4.08e-10, 1.43e-9], 2.5e-9),
    ];
    for (tend, steps, listed, lost) in rows {
        let solution = fixed(&system, Form::QuasiLinear, &initial, tend, steps);
        let found = errors(&solution.end.x, &by_angle(tend));
        let off = (energy(&solution.end.x) - energy(&start())).abs();
        let residual = solution.max_residuals.hidden.unwrap().max(solution.max_residuals.constraint.unwrap());
        println!(
            "{tend} {steps}: {found:?}, listed {listed:?}, residual {residual:e}, energy {off:e}, listed {lost:e}"
        );
        for (found, listed) in found.into_iter().zip(listed) {
            assert!(found < 3.0 * listed, "t = {tend}, {steps} steps: {found:e}, listed {listed:e}");
            // single unknowns as states are luckier over two periods than combinations
            assert!(tend > 1.0 || listed.is_infinite() || found > listed / 3.0, "{steps} steps: {found:e}, {listed:e}");
        }
        assert!(off < lost, "t = {tend}, {steps} steps: energy {off:e}");
        assert!(residual < 1e-10, "t = {tend}, {steps} steps: {residual:e}");
    }
}

#[test]
fn entry_8_orders_at_four_seconds_are_five() {
    let system = System::of(&Pendulum);
    let exact = by_angle(4.0);
    let at = |steps| errors(&fixed(&system, Form::QuasiLinear, &Initial::new(0.0, &start()), 4.0, steps).end.x, &exact);
    let found = [100, 200, 400].map(at);
    for pair in found.windows(2) {
        let orders: Vec<f64> = (0..3).map(|k| (pair[0][k] / pair[1][k]).log2()).collect();
        println!("orders {orders:.2?}");
        assert!(orders.iter().all(|p| (4.8..5.6).contains(p)), "{orders:?}");
    }
}

#[test]
fn entry_8_the_energy_is_kept_as_an_invariant() {
    let system = with_energy();
    let listed = [(100, [6.3e-8, 1.6e-6, 1.3e-6]), (200, [1.1e-9, 2.8e-8, 2.2e-8]), (400, [2.1e-11, 5.5e-10, 4.3e-10])];
    for (steps, listed) in listed {
        let solution = fixed(&system, Form::QuasiLinear, &Initial::new(0.0, &start()), 4.0, steps);
        let found = errors(&solution.end.x, &by_angle(4.0));
        let off = (energy(&solution.end.x) - energy(&start())).abs();
        println!("{steps}: {found:?}, listed {listed:?}, energy {off:e}, {:?}", solution.max_residuals);
        assert!(off < 1e-13 && solution.max_residuals.invariant.unwrap() < 1e-12, "{steps} steps: energy {off:e}");
        assert!(found.iter().zip(listed).all(|(f, l)| *f < 3.0 * l), "{steps} steps: {found:?}, listed {listed:?}");
        assert!(solution.decisions.contains("1 of 4 differential equations"), "{}", solution.decisions);
    }
}

#[test]
fn entry_8_a_doubled_constraint_changes_nothing() {
    let once = fixed(&System::of(&Pendulum), Form::QuasiLinear, &Initial::new(0.0, &start()), 1.0, 200).end.x;
    let x = start();
    let six = [x[0], x[1], x[2], x[3], x[4], 0.0];
    let system = System::of(&PendulumTwice).free(&["x.5"]);
    let twice = fixed(&system, Form::QuasiLinear, &Initial::new(0.0, &six), 1.0, 200);
    let y = &twice.end.x;
    let moved = (0..4).map(|j| (y[j] - once[j]).abs()).fold(0.0, f64::max);
    let force = (y[4] + 2.0 * y[5] - once[4]).abs();
    println!("doubled: {moved:.1e}, force {force:.1e}, {:?} {:?}", twice.layout.values, twice.undetermined);
    assert!(moved < 1e-12, "{moved:e}");
    assert!(force < 3e-12, "{force:e}");
    assert_eq!(twice.undetermined.len(), 1);
}

#[test]
fn entry_8_example_7_4_on_the_circle() {
    let system = System::of(&Circle);
    for form in [Form::Plain, Form::DerivativeArray] {
        for (steps, listed) in [(5, 1.35e-7), (10, 2.08e-9), (20, 3.25e-11), (40, 5.4e-13)] {
            let x = fixed(&system, form, &Initial::new(0.0, &[1.0, 0.0]), 2.0, steps).end.x;
            let error = (x[0] - 2.0_f64.cos()).abs().max((x[1] - 2.0_f64.sin()).abs());
            println!("7.4 {form:?} {steps}: {error:.2e}, listed {listed:.2e}");
            assert!(error < 1.2 * listed + 1e-12, "{form:?}, {steps} steps: {error:e}, listed {listed:e}");
        }
    }
}

#[test]
fn entry_8_example_7_2_where_the_leading_matrix_may_lose_rank() {
    let system = System::of(&VaryingRank);
    let mut last: Option<f64> = None;
    for (steps, listed) in [(2, 6.5e-6), (4, 1.93e-7), (8, 5.89e-9), (16, 1.82e-10)] {
        let x = fixed(&system, Form::QuasiLinear, &Initial::new(0.0, &[0.5, 1.0, 1.0]), 1.0, steps).end.x;
        let error = (x[0] - 0.5 * 1.0_f64.exp()).abs();
        println!("7.2 {steps}: {error:.2e} listed {listed:.2e}, x2 {:.1e} x3 {:.1e}", x[1] - 1.0, x[2] - 1.0);
        assert!(error < 1.1 * listed && error > 0.9 * listed, "{steps}: {error:e}");
        assert!((x[1] - 1.0).abs() < 1e-13 && (x[2] - 1.0).abs() < 1e-13);
        if let Some(last) = last {
            assert!(((last / error).log2() - 5.04).abs() < 0.1);
        }
        last = Some(error);
    }
}

example!(
/// 7.12: the constraint of 7.5 (ii) differentiated, not kept: what a wrong elimination order solves.
Differentiated, 2, 2, |t, x, d, r| {
    r[0] = d[0] - x[0] - x[1];
    r[1] = x[0] + x[1] - t.cos();
});

#[test]
fn entry_7_12_a_wrong_elimination_order_keeps_an_error_that_ours_corrects() {
    let off = |x: &[f64]| (x[0] - 10.0_f64.sin()).abs();
    let run = |equations: &System, form: Form, error: f64| {
        fixed(equations, form, &Initial::new(0.0, &[error, 1.0 - error]), 10.0, 100)
    };
    let wrong = System::of(&Differentiated);
    let persistent = off(&run(&wrong, Form::Plain, 1e-3).end.x);
    let exact_start = off(&run(&wrong, Form::Plain, 0.0).end.x);
    println!("7.12 bad choice: {persistent:.3e}, exact start {exact_start:.1e}");
    assert!((persistent - 1e-3).abs() < 1e-5, "{persistent:e}");
    assert!((1e-11..1e-8).contains(&exact_start), "{exact_start:e}");
    let right = System::of(&IndexTwoAlgebraic);
    for form in [Form::QuasiLinear, Form::Linear, Form::DerivativeArray] {
        for error in [1e-3, 0.0] {
            let solution = run(&right, form, error);
            println!("7.12 {form:?} {error}: {:.1e}", off(&solution.end.x));
            assert!(off(&solution.end.x) < 1e-13, "{form:?}: {:e}", off(&solution.end.x));
        }
    }
}
