//! The generalised-α method: orders at the end and in the first steps, M10; what it takes and refuses.

use super::heavy_top::HeavyTop;
use super::problems::{Arm, Pendulum};
use daedal::linalg::Matrix;
use daedal::method::Method;
use daedal::method::{AlphaForm, AlphaStart};
use daedal::motion::consistent::initialise;
use daedal::motion::{EquationsOfMotion, Form, Mechanism, Motion, Position, Sizes, Velocity};
use daedal::scalar::Scalar;
use daedal::{Ended, GeneralizedAlpha, Geoms, Initial, Options, Problem, Save, Solution, SolveError, Tolerance, solve};

const STARTS: [AlphaStart; 4] = [AlphaStart::Naive, AlphaStart::Shifted, AlphaStart::Perturbed, AlphaStart::Both];

fn steps(h: f64) -> Options {
    Options { h0: Some(h), save: Save::Steps, ..Options::default() }
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()))
}

/// The solution of GEOMS with a small tolerance.
fn exact(mechanism: &dyn Mechanism, initial: &Initial, tend: f64, times: Vec<f64>) -> Solution {
    let options = Options { tolerance: Tolerance::new(1e-12, 1e-12), save: Save::At(times), ..Options::default() };
    solve(&Problem::new(mechanism, initial.clone(), tend), &Geoms::default(), &options).unwrap()
}

fn problems() -> [(&'static dyn Mechanism, Initial, [f64; 5]); 2] {
    [(&Pendulum::P1, Pendulum::moving(), Pendulum::AT_ONE), (&Arm::P2, Arm::start(), Arm::AT_ONE)]
}

#[test]
fn the_order_at_the_end_is_two_in_all_variables_however_it_starts() {
    for (mechanism, initial, known) in problems() {
        for form in [AlphaForm::Index3, AlphaForm::Stabilised] {
            for start in STARTS {
                let method = GeneralizedAlpha { rho: 0.8, form, start: Some(start) };
                let errors = [0.01, 0.005].map(|h| {
                    let problem = Problem::new(mechanism, initial.clone(), 1.0);
                    let solution = solve(&problem, &method, &steps(h)).unwrap();
                    let end = solution.at_end();
                    [distance(end.p, &known[..2]), distance(end.v, &known[2..4]), distance(end.lambda, &known[4..])]
                });
                let orders: [f64; 3] = std::array::from_fn(|k| (errors[0][k] / errors[1][k]).log2());
                println!("{form:?} {start:?} {orders:.3?} {:?}", errors[1]);
                assert!(orders.iter().all(|order| (order - 2.0).abs() < 0.1), "{form:?} {start:?}: {orders:?}");
            }
        }
    }
}

/// Largest error of λ in the first 19 steps.
fn transient(mechanism: &dyn Mechanism, initial: &Initial, method: GeneralizedAlpha, h: f64) -> f64 {
    let problem = Problem::new(mechanism, initial.clone(), 20.0 * h);
    let times: Vec<f64> = (1..20).map(|k| f64::from(k) * h).collect();
    let exact = exact(mechanism, initial, 20.0 * h, times);
    let solution = solve(&problem, &method, &steps(h)).unwrap();
    let lambda = solution.layout.lambda();
    (0..19)
        .fold(0.0_f64, |m, k| m.max(distance(&solution.state(k + 1)[lambda.clone()], &exact.state(k)[lambda.clone()])))
}

#[test]
fn multipliers_of_the_first_steps_have_order_two_with_the_right_start_and_order_one_otherwise() {
    for (mechanism, initial, _) in problems() {
        for (form, orders) in [
            (AlphaForm::Index3, [Some(1.0), Some(1.0), Some(1.0), Some(2.0)]),
            (AlphaForm::Stabilised, [Some(1.0), Some(2.0), None, None]),
        ] {
            for (start, expected) in STARTS.into_iter().zip(orders) {
                let Some(expected) = expected else { continue };
                let method = GeneralizedAlpha { rho: 0.8, form, start: Some(start) };
                let errors = [4e-3, 2e-3].map(|h| transient(mechanism, &initial, method, h));
                let order = (errors[0] / errors[1]).log2();
                println!("{form:?} {start:?} {order:.3} {errors:?}");
                assert!((order - expected).abs() < 0.12, "{form:?} {start:?}: {order}");
            }
        }
    }
}

#[test]
fn constraints_hold_to_rounding_on_the_levels_that_are_discretised() {
    let problem = Problem::new(&Arm::P2, Arm::start(), 1.0);
    for form in [AlphaForm::Index3, AlphaForm::Stabilised] {
        let solution =
            solve(&problem, &GeneralizedAlpha { form, ..GeneralizedAlpha::default() }, &steps(0.01)).unwrap();
        let residuals = solution.max_residuals;
        println!("{residuals:?}");
        assert!(residuals.position.unwrap() < 1e-14);
        let velocity = residuals.velocity.unwrap();
        match form {
            AlphaForm::Index3 => assert!(velocity > 1e-8 && velocity < 1e-4),
            AlphaForm::Stabilised => assert!(velocity < 1e-12),
        }
    }
}

/// A skate on an inclined plane with a force that lags behind: p = (x, y, φ), one nonholonomic constraint, one state.
struct Skate {
    contact: usize,
}

impl EquationsOfMotion for Skate {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 3, velocities: 3, dynamic: 1, nonholonomic: 1, contact: self.contact, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(2.0);
        M[(1, 1)] = S::from(2.0);
        M[(2, 2)] = S::from(0.5);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = S::from(3.0);
        f[2] = at.r[0] - at.v[2] * 0.1;
    }
    fn dynamic<S: Scalar>(&self, at: &Motion<S>, b: &mut [S]) {
        b[0] = (at.p[0].sin() - at.r[0]) * 4.0;
    }
    fn nonholonomic<S: Scalar>(&self, at: &Velocity<S>, h: &mut [S]) {
        h[0] = at.p[2].sin() * at.v[0] - at.p[2].cos() * at.v[1];
    }
    fn contact<S: Scalar>(&self, at: &Position<S>, c: &mut [S]) {
        c.iter_mut().zip(at.s).for_each(|(c, &s)| *c = s - at.p[0]);
    }
}

#[test]
fn nonholonomic_constraints_and_states_of_force_elements_have_order_two() {
    let skate = Skate { contact: 0 };
    let initial = Initial::motion(0.0, &[0.0, 0.0, 0.3], &[0.3_f64.cos(), 0.3_f64.sin(), 1.0]).dynamic(&[0.2]);
    let exact = exact(&skate, &initial, 1.0, Vec::new());
    let problem = Problem::new(&skate, initial, 1.0);
    for form in [AlphaForm::Index3, AlphaForm::Stabilised] {
        let method = GeneralizedAlpha { form, ..GeneralizedAlpha::default() };
        let errors = [0.01, 0.005].map(|h| {
            let solution = solve(&problem, &method, &steps(h)).unwrap();
            let (end, exact) = (solution.at_end(), exact.at_end());
            [distance(end.p, exact.p), distance(end.v, exact.v), distance(end.r, exact.r), distance(end.mu, exact.mu)]
        });
        let orders: [f64; 4] = std::array::from_fn(|k| (errors[0][k] / errors[1][k]).log2());
        println!("{form:?} {orders:.3?} {errors:?}");
        assert!(orders.iter().all(|order| (order - 2.0).abs() < 0.1), "{orders:?}");
    }
}

/// A free gyroscope in Cardan angles, whose Z is not affine.
struct Gyroscope;

impl EquationsOfMotion for Gyroscope {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 3, velocities: 3, ..Sizes::default() }
    }
    fn kinematics<S: Scalar>(&self, at: &Velocity<S>, pdot: &mut [S]) {
        let ([_, b, c], [p, q, r]) = ([at.p[0], at.p[1], at.p[2]], [at.v[0], at.v[1], at.v[2]]);
        // R = Rx(a) Ry(b) Rz(c), Ω in the body
        let along = p * c.cos() - q * c.sin();
        pdot[0] = along / b.cos();
        pdot[1] = p * c.sin() + q * c.cos();
        pdot[2] = r - along * b.sin() / b.cos();
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        [1.0, 2.0, 3.0].into_iter().enumerate().for_each(|(k, m)| M[(k, k)] = S::from(m));
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        let [p, q, r] = [at.v[0], at.v[1], at.v[2]];
        f[0] = -(q * r);
        f[1] = r * p * 2.0;
        f[2] = -(p * q);
    }
}

#[test]
fn kinematics_that_are_not_affine_have_order_two() {
    let initial = Initial::motion(0.0, &[0.1, 0.2, 0.3], &[0.5, 1.0, -0.4]);
    let exact = exact(&Gyroscope, &initial, 1.0, Vec::new());
    let problem = Problem::new(&Gyroscope, initial, 1.0);
    let errors = [0.01, 0.005].map(|h| {
        let solution = solve(&problem, &GeneralizedAlpha::default(), &steps(h)).unwrap();
        assert!(solution.decisions.contains("manifold"), "{}", solution.decisions);
        let (end, exact) = (solution.at_end(), exact.at_end());
        [distance(end.p, exact.p), distance(end.v, exact.v)]
    });
    let orders: [f64; 2] = std::array::from_fn(|k| (errors[0][k] / errors[1][k]).log2());
    println!("{orders:.3?} {errors:?}");
    assert!(orders.iter().all(|order| (order - 2.0).abs() < 0.1), "{orders:?}");
}

#[test]
fn what_it_does_not_take_is_refused() {
    let skate = Skate { contact: 1 };
    let initial = Initial::motion(0.0, &[0.0, 0.0, 0.3], &[0.0; 3]).dynamic(&[0.2]).contact(&[0.0]);
    let failure = solve(&Problem::new(&skate, initial, 1.0), &GeneralizedAlpha::default(), &Options::default());
    let Err(SolveError::Start(cause)) = failure else { panic!("not refused") };
    assert!(cause.to_string().contains("contact"), "{cause}");
    let problem = Problem::new(&Pendulum::P1, Pendulum::moving(), 1.0);
    for method in [
        GeneralizedAlpha { rho: 1.0, form: AlphaForm::Index3, start: None },
        GeneralizedAlpha { rho: -0.1, ..GeneralizedAlpha::default() },
        GeneralizedAlpha { rho: f64::NAN, ..GeneralizedAlpha::default() },
    ] {
        assert!(matches!(solve(&problem, &method, &Options::default()), Err(SolveError::Options(_))));
    }
}

#[test]
fn a_step_size_is_chosen_from_the_tolerance() {
    for (mechanism, initial, known) in problems() {
        for tol in [1e-3, 1e-5] {
            for form in [AlphaForm::Index3, AlphaForm::Stabilised] {
                let options = Options { tolerance: Tolerance::new(tol, tol), ..Options::default() };
                let problem = Problem::new(mechanism, initial.clone(), 1.0);
                let method = GeneralizedAlpha { form, ..GeneralizedAlpha::default() };
                let solution = solve(&problem, &method, &options).unwrap();
                let end = solution.at_end();
                let error = distance(end.p, &known[..2]).max(distance(end.v, &known[2..4]));
                println!("{form:?} {tol:.0e} {error:.1e} {} {}", solution.statistics.steps, solution.decisions);
                assert!(error < 10.0 * tol && error > 0.01 * tol, "{error:.1e}");
            }
        }
    }
}

#[test]
fn a_step_made_again_to_an_earlier_end_and_a_restart_keep_the_accuracy() {
    for form in [AlphaForm::Index3, AlphaForm::Stabilised] {
        let method = GeneralizedAlpha { form, ..GeneralizedAlpha::default() };
        let start = initialise(&Arm::P2, &Arm::start(), Form::StrangenessFree).unwrap().state;
        let system: &dyn Mechanism = &Arm::P2;
        let mut stepper = method.start(system, start.clone(), &steps(0.01)).unwrap();
        let lambda = 2..3;
        for _ in 0..50 {
            stepper.advance(1.0).unwrap();
        }
        assert!(stepper.retake(0.4951).unwrap());
        assert_eq!(stepper.state().t, 0.4951);
        for round in 0..2 {
            while stepper.state().t < 1.0 {
                stepper.advance(1.0).unwrap();
            }
            let x = &stepper.state().x;
            let errors = [distance(&x[x.len() - 2..], &Arm::AT_ONE), distance(&x[lambda.clone()], &Arm::AT_ONE[4..])];
            println!("{form:?} {round} {errors:?}");
            assert!(errors.iter().all(|error| *error < 1e-4));
            stepper.restart(start.clone());
        }
    }
}

#[test]
fn nothing_is_allocated_after_the_first_steps() {
    let arm: (&dyn Mechanism, Initial) = (&Arm::P2, Arm::start());
    let top: (&dyn Mechanism, Initial) = (&HeavyTop, HeavyTop::start());
    for (mechanism, initial) in [arm, top] {
        let start = initialise(mechanism, &initial, Form::StrangenessFree).unwrap().state;
        let mut stepper = GeneralizedAlpha::default().start(mechanism, start, &steps(1e-3)).unwrap();
        let mut advance = |n: u32| (0..n).for_each(|_| stepper.advance(1.0).unwrap());
        advance(8);
        let info = allocation_counter::measure(|| advance(20));
        assert_eq!(info.count_total, 0);
    }
}

#[test]
fn dense_output_and_events_are_as_accurate_as_the_steps() {
    let event = |problem: Problem<'static>| problem.stop_when("left", |at| at.p[0] + 0.5);
    let problem = event(Problem::new(&Pendulum::P1, Pendulum::horizontal(), 10.0));
    let tight = Options { tolerance: Tolerance::new(1e-12, 1e-12), ..Options::default() };
    let exact = solve(&problem, &Geoms::default(), &tight).unwrap();
    let errors = [0.02, 0.01].map(|h| {
        let solution = solve(&problem, &GeneralizedAlpha::default(), &steps(h)).unwrap();
        assert!(matches!(solution.ended, Ended::AtEvent { .. }));
        (solution.end_time() - exact.end_time()).abs()
    });
    println!("{errors:?}");
    assert!(errors[0] < 1e-3 && ((errors[0] / errors[1]).log2() - 2.0).abs() < 0.2);
}
