//! Runs of general systems of any index.

use crate::examples::*;
use daedal::dae::{Equations, Form, Initial, Problem, System, Unknowns, solve};
use daedal::method::controller::Control;
use daedal::{Options, RadauIIa, Solution, Tolerance};

fn run<E: Equations>(equations: &E, form: Form, x: &[f64], tend: f64, tolerance: f64) -> Solution<Unknowns> {
    let system = System::of(equations);
    let problem = Problem::new(&system, Initial::new(0.0, x), tend);
    let options = Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() };
    solve(&problem, form, &RadauIIa::default(), &options).unwrap()
}

#[test]
fn the_pendulum_runs_in_every_form() {
    let x = moving_pendulum();
    let mut ends = Vec::new();
    for form in [Form::QuasiLinear, Form::DerivativeArray] {
        for tolerance in [1e-5, 1e-7, 1e-9] {
            let solution = run(&Pendulum, form, &x, 4.0, tolerance);
            println!(
                "{form:?} {tolerance:e} {} {:?} {:?}",
                solution.statistics, solution.max_residuals, solution.end.x
            );
            ends.push(solution.end.x[..5].to_vec());
        }
    }
}

#[test]
fn fixed_steps_converge_with_order_five_in_every_form() {
    let x = moving_pendulum();
    let system = System::of(&Pendulum);
    let problem = Problem::new(&system, Initial::new(0.0, &x), 1.0);
    let method =
        RadauIIa { control: Control::Fixed, newton_tolerance: Some(1e-9), max_newton: 30, ..RadauIIa::default() };
    let at = |form: Form, h: f64| {
        let options = Options { h0: Some(h), tolerance: Tolerance::new(1e-7, 1e-7), ..Options::default() };
        solve(&problem, form, &method, &options).unwrap().end.x
    };
    let exact = at(Form::QuasiLinear, 0.0025);
    for form in [Form::QuasiLinear, Form::DerivativeArray] {
        let errors: Vec<Vec<f64>> = [0.05, 0.025, 0.0125]
            .iter()
            .map(|&h| at(form, h).iter().zip(&exact).take(5).map(|(a, b)| (a - b).abs()).collect())
            .collect();
        println!("{form:?} {errors:?}");
        for j in 0..5 {
            let order = (errors[0][j] / errors[1][j]).log2();
            println!("{j} {order} {}", (errors[1][j] / errors[2][j]).log2());
        }
    }
}
