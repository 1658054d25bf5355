//! Runs of general systems of any index.

use crate::examples::*;
use daedal::Bdf;
use daedal::dae::{Equations, Form, InForm, Prepared, System, Unknowns, prepare};
use daedal::method::Control;
use daedal::method::State;
use daedal::method::Steps;
use daedal::{Initial, Options, Problem, RadauIIa, Solution, Tolerance, solve};

fn run<E: Equations>(equations: &E, form: Form, x: &[f64], tend: f64, tolerance: f64) -> Solution<Unknowns> {
    let system = System::of(equations);
    let problem = Problem::new(&system, Initial::new(0.0, x), tend);
    let options = Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() };
    solve(&problem, &InForm { form, integrator: &RadauIIa::default() }, &options).unwrap()
}

/// (x, y, u, v, λ) of the pendulum of E8 at t = 10, by elliptic functions. Hairer & Wanner II, VII.2.
const AT_TEN: [f64; 5] =
    [-0.8115864461913038, -0.5842323513453957, -0.6315291490650176, 0.8772887988410693, 1.752697054036187];

#[test]
fn t7_the_pendulum_has_its_closed_form_in_every_form_and_keeps_every_constraint() {
    for form in [Form::QuasiLinear, Form::DerivativeArray] {
        for tolerance in [1e-5, 1e-7, 1e-9] {
            let solution = run(&HorizontalPendulum, form, &[1.0, 0.0, 0.0, 0.0, 0.0], 10.0, tolerance);
            assert_eq!(solution.layout.form, form);
            let error = solution.end.x.iter().zip(AT_TEN).fold(0.0_f64, |most, (x, e)| most.max((x - e).abs()));
            assert!(error < 100.0 * tolerance, "{form:?} {tolerance:e}: {error:e}");
            let residuals = solution.max_residuals;
            let most = residuals.hidden.unwrap().max(residuals.constraint.unwrap_or(0.0));
            assert!(most < tolerance, "{form:?} {tolerance:e}: residual {most:e}");
        }
    }
}

#[test]
fn fixed_steps_converge_with_order_five_in_all_components_in_every_form() {
    let x = moving_pendulum();
    let system = System::of(&Pendulum);
    let problem = Problem::new(&system, Initial::new(0.0, &x), 1.0);
    let method =
        RadauIIa { control: Control::Fixed, newton_tolerance: Some(1e-6), max_newton: 30, ..RadauIIa::default() };
    let at = |form: Form, h: f64| {
        let options = Options { h0: Some(h), tolerance: Tolerance::new(1e-7, 1e-7), ..Options::default() };
        solve(&problem, &InForm { form, integrator: &method }, &options).unwrap().end.x
    };
    let exact = at(Form::QuasiLinear, 0.0025);
    for form in [Form::QuasiLinear, Form::DerivativeArray] {
        let error = |h: f64| -> Vec<f64> { at(form, h).iter().zip(&exact).map(|(a, b)| (a - b).abs()).collect() };
        let (coarse, fine) = (error(0.05), error(0.025));
        // errors of the velocities cross zero in one of the forms: there all components count together
        let groups: &[(usize, usize)] = if form == Form::QuasiLinear { &[(0, 2), (2, 4), (4, 5)] } else { &[(0, 5)] };
        for &(from, to) in groups {
            let group = from..to;
            let size = |e: &[f64]| e[group.clone()].iter().fold(0.0_f64, |most, e| most.max(*e));
            let order = (size(&coarse) / size(&fine)).log2();
            assert!((4.5..5.7).contains(&order), "{form:?} {group:?}: order {order}");
        }
    }
}

#[test]
fn bdf_of_order_one_two_three_converges_on_the_derivative_array_of_the_pendulum() {
    // hybrid checklist: GENDA on the pendulum, orders 1, 2, 3, constraints at rounding level
    let system = System::of(&HorizontalPendulum);
    let exact = [0.8795481324118892, -0.4758099229427208, -0.464157358850994, -0.8580080373224432, 1.427429768828162];
    for order in 1..=3_usize {
        let error = |steps: f64| {
            let h = 1.0 / steps;
            let method =
                Bdf { max_order: order, steps: Steps::Fixed, newton_tolerance: 1e-5, max_newton: 20, ..Bdf::default() };
            let options = Options { h0: Some(h), tolerance: Tolerance::new(1e-6, 1e-6), ..Options::default() };
            // a first step of order one would leave an error of order two: the past is given
            let start = |k: usize| {
                run(&HorizontalPendulum, Form::QuasiLinear, &[1.0, 0.0, 0.0, 0.0, 0.0], h * k as f64, 1e-12).end
            };
            let past: Vec<State> = (0..order).rev().map(start).collect();
            let initial = Initial::new(h * order as f64, &start(order).x);
            let Prepared { dae, at, .. } = prepare(&system, &initial, Form::DerivativeArray).unwrap();
            let mut stepper = method.start_with_history(dae, at, &past, &options).unwrap();
            while stepper.state().t < 1.0 {
                stepper.advance(1.0).unwrap();
                assert!(stepper.residuals().hidden.unwrap() < 1e-9, "{:?}", stepper.residuals());
            }
            stepper.state().x.iter().zip(exact).fold(0.0_f64, |most, (x, e)| most.max((x - e).abs()))
        };
        let (coarse, fine) = (error(200.0), error(400.0));
        let observed = (coarse / fine).log2();
        println!("BDF of order {order}: {coarse:.2e} {fine:.2e}, order {observed:.2}");
        assert!((observed - order as f64).abs() < 0.4, "order {order}: {observed}");
    }
}
