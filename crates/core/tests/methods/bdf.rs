//! M7: BDF with constant steps and exact starting values has order k in p, v and λ, on every formulation.

use super::problems::{Arm, Pendulum};
use daedal::Bdf;
use daedal::dae::Point;
use daedal::formulation::{Formulated, Formulation, Relaxed, Selectors};
use daedal::method::Control;
use daedal::method::Steps;
use daedal::method::{Integrator, State};
use daedal::motion::consistent::initialise;
use daedal::motion::{Form, Layout, Mechanism};
use daedal::{Initial, Options, Problem, RadauIIa, Tolerance, solve};

fn fixed(h: f64, tolerance: f64) -> Options {
    Options { tolerance: Tolerance::new(tolerance, tolerance), h0: Some(h), ..Options::default() }
}

/// x at 0, h, …, count h, by steps of h/4 of order five.
pub fn exact_points(mechanism: &dyn Mechanism, initial: &Initial, h: f64, count: usize) -> Vec<State> {
    let start = initialise(mechanism, initial, Form::StrangenessFree).unwrap().state;
    let method = RadauIIa { control: Control::Fixed, max_newton: 50, ..RadauIIa::default() };
    let system = Formulation::Eom0.system(mechanism, &start).unwrap();
    let at = Point { t: 0.0, xdot: vec![0.0; start.x.len()], x: start.x.clone() };
    let mut stepper = method.start(system, at, &fixed(0.25 * h, 1e-13)).unwrap();
    let mut points = vec![start];
    for _ in 0..count {
        (0..4).for_each(|_| stepper.advance(f64::INFINITY).unwrap());
        points.push(stepper.state().clone());
    }
    points
}

/// Largest errors of p, v and λ in the second half of [0, 1]: at index three λ has its order only after k + 1 steps.
pub fn errors(formulation: Formulation, order: usize, h: f64, mechanism: &dyn Mechanism, exact: &[State]) -> [f64; 3] {
    let system = formulation.system(mechanism, &exact[order]).unwrap();
    let n = system.dim();
    let longer = |state: &State| {
        let mut x = state.x.clone();
        x.resize(n, 0.0);
        State { t: state.t, x }
    };
    let past: Vec<State> = exact[..order].iter().rev().map(longer).collect();
    let method = Bdf { max_order: order, steps: Steps::Fixed, max_newton: 50, ..Bdf::default() };
    let at = Point { t: exact[order].t, x: longer(&exact[order]).x, xdot: vec![0.0; n] };
    let mut stepper = method.start_with_history(system, at, &past, &fixed(h, 1e-13)).unwrap();
    let layout = Layout::new(mechanism.sizes(), Form::StrangenessFree, false);
    let mut largest = [0.0_f64; 3];
    for exact in &exact[order + 1..] {
        stepper.advance(f64::INFINITY).unwrap();
        assert!((stepper.state().t - exact.t).abs() < 1e-12);
        for (largest, block) in largest.iter_mut().zip([layout.p(), layout.v(), layout.lambda()]) {
            for i in block {
                *largest = if exact.t < 0.5 { 0.0 } else { largest.max((stepper.state().x[i] - exact.x[i]).abs()) };
            }
        }
    }
    largest
}

#[test]
fn bdf_has_its_order_on_every_formulation() {
    let formulations = [
        Formulation::Eom,
        Formulation::Eom1,
        Formulation::Eom0,
        Formulation::Underlying,
        Formulation::Ggl,
        Formulation::Overdetermined(Relaxed::DynamicsFirst),
        Formulation::Overdetermined(Relaxed::KinematicsFirst),
        Formulation::Overdetermined(Relaxed::IndexTwo),
        Formulation::ProjectedIndexOne(Selectors::EveryJacobian),
        Formulation::Projected,
    ];
    let problems: [(&dyn Mechanism, Initial, [f64; 5]); 2] =
        [(&Pendulum::P1, Pendulum::moving(), Pendulum::AT_ONE), (&Arm::P2, Arm::start(), Arm::AT_ONE)];
    for (mechanism, initial, at_one) in problems {
        let [largest, large, medium, small] =
            [32, 64, 128, 256].map(|n| (1.0 / n as f64, exact_points(mechanism, &initial, 1.0 / n as f64, n)));
        let layout = Layout::new(mechanism.sizes(), Form::StrangenessFree, false);
        let end = &small.1[256].x;
        let values = layout.p().chain(layout.v()).chain(layout.lambda()).map(|i| end[i]);
        assert!(values.zip(at_one).all(|(x, y)| (x - y).abs() < 1e-11));
        for formulation in formulations {
            for order in 1..=5 {
                // what Newton's iteration leaves of λ, 3e-15/h² at index three, must stay below the errors
                let steps = match order {
                    _ if formulation == Formulation::Underlying => [&medium, &small],
                    5 => [&largest, &large],
                    4 => [&large, &medium],
                    _ => [&medium, &small],
                };
                let [coarse, fine] = steps.map(|(h, exact)| errors(formulation, order, *h, mechanism, exact));
                let orders: [f64; 3] = std::array::from_fn(|i| (coarse[i] / fine[i]).log2());
                println!("{formulation:?} {order}: {orders:.2?} {fine:?}");
                let least = order as f64 - 0.4;
                assert!(
                    orders.iter().all(|o| *o > least && *o < least + 1.2),
                    "{formulation:?}, order {order}: {orders:?}, errors {fine:?}"
                );
            }
        }
    }
}

#[test]
fn variable_steps_on_equations_of_index_three_come_with_a_warning() {
    let options = Options { tolerance: Tolerance::new(1e-4, 1e-4), ..Options::default() };
    let decisions = |formulation: Formulation| {
        let method = Formulated { formulation, integrator: Bdf::default() };
        solve(&Problem::new(&Pendulum::P1 as &dyn Mechanism, Pendulum::moving(), 0.1), &method, &options)
            .unwrap()
            .decisions
    };
    assert!(decisions(Formulation::Eom).contains("not reliable for equations of index 3"));
    assert!(!decisions(Formulation::Ggl).contains("not reliable"));
    assert!(decisions(Formulation::Overdetermined(Relaxed::IndexTwo)).contains("K, D, V"));
}
