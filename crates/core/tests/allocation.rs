//! A step allocates nothing, whatever happens in it.

mod support;

use daedal::dae::{self, Equations, System, Unknowns};
use daedal::graph::Interpreted;
use daedal::method::{Decomposition, Selection};
use daedal::method::{Integrator, Method, State};
use daedal::motion::{Compiled, Form, Formulas, Mechanism, consistent};
use daedal::scalar::Scalar;
use daedal::{Bdf, DormandPrince, Geoms, HalfExplicit, Hedop5, Initial, Options, RadauIIa, Statistics};
use support::{Academic, DoubledPendulum, PENDULUM, SliderCrank, academic_start, tolerance};

/// Advance after a first step and count what is allocated on the way.
fn allocations(
    system: &dyn Mechanism,
    initial: &Initial,
    method: &(impl for<'m> Method<dyn Mechanism + 'm> + std::fmt::Debug),
    options: &Options,
    steps: u32,
) -> (u64, Statistics) {
    let state: State = consistent::initialise(system, initial, Form::StrangenessFree).unwrap().state;
    let mut stepper = method.start(system, state, options).unwrap();
    stepper.advance(1e3).unwrap();
    let mut failure = None;
    let info = allocation_counter::measure(|| {
        for _ in 0..steps {
            if let Err(cause) = stepper.advance(1e3) {
                failure = Some(cause);
                break;
            }
        }
    });
    assert_eq!(failure, None, "{method:?}");
    (info.count_total, stepper.statistics())
}

/// LU, QR and SVD of the constraints with LU and QR of the differential part.
fn methods() -> Vec<Geoms> {
    use Decomposition::{Lu, Qr, Svd};
    let mut list = Vec::new();
    for constraints in [Lu, Qr, Svd] {
        for differential in [Lu, Qr] {
            list.push(Geoms {
                constraint_decomposition: Some(constraints),
                differential_decomposition: Some(differential),
                ..Geoms::default()
            });
        }
    }
    list
}

#[test]
fn steps_with_constant_mass_allocate_nothing() {
    let initial = Initial::motion(0.0, &[0.0, -1.0], &[2.9, 0.0]);
    for method in methods() {
        let (count, statistics) = allocations(&PENDULUM, &initial, &method, &tolerance(1e-7), 400);
        assert_eq!(count, 0, "{method:?}");
        assert!(statistics.steps == 401 && statistics.rejected_error > 0, "{statistics}");
    }
}

#[test]
fn steps_with_failing_newton_iterations_and_changing_pivots_allocate_nothing() {
    let initial = Initial::motion(0.0, &[0.0, -1.0], &[2.9, 0.0]);
    let method = Geoms {
        selection: Selection::Joint,
        constraint_decomposition: Some(Decomposition::Lu),
        ..Geoms::reproduction()
    };
    for updates in [0, 1] {
        let method = Geoms { newton_updates: updates, ..method.clone() };
        let (count, statistics) = allocations(&PENDULUM, &initial, &method, &tolerance(1e-7), 400);
        assert_eq!(count, 0);
        let troubles = statistics.rejected_newton + statistics.newton_updates;
        assert!(troubles > 3, "{statistics:?}");
        assert!(statistics.selectors > troubles + 3, "{statistics:?}");
        assert_eq!(statistics.newton_updates > 0, updates > 0, "{statistics:?}");
    }
}

#[test]
fn steps_with_state_dependent_mass_allocate_nothing() {
    let initial = Initial::motion(0.0, &[0.0, 0.0], &[0.0, 0.0]);
    for method in methods() {
        let (count, statistics) = allocations(&SliderCrank { l2: 3.0 }, &initial, &method, &tolerance(1e-7), 300);
        assert_eq!(count, 0, "{method:?}");
        assert_eq!(statistics.steps, 301);
    }
}

#[test]
fn steps_with_contact_auxiliary_and_dynamic_variables_allocate_nothing() {
    let options = Options { hmax: Some(0.005), ..tolerance(1e-9) };
    for method in methods() {
        let (count, statistics) = allocations(&Academic, &academic_start(), &method, &options, 250);
        assert_eq!(count, 0, "{method:?}");
        assert_eq!(statistics.steps, 251);
    }
}

#[test]
fn steps_with_redundant_constraints_allocate_nothing() {
    let initial = Initial::motion(0.0, &[0.0, -1.0], &[2.9, 0.0]);
    let (count, statistics) = allocations(&DoubledPendulum, &initial, &Geoms::default(), &tolerance(1e-7), 200);
    assert_eq!(count, 0);
    assert_eq!(statistics.steps, 201);
}

#[test]
fn steps_of_compiled_formulas_allocate_nothing() {
    let options = Options { hmax: Some(0.005), ..tolerance(1e-9) };
    let academic = Compiled::new(&Formulas::trace(&Academic), Interpreted);
    let (count, statistics) = allocations(&academic, &academic_start(), &Geoms::default(), &options, 250);
    assert_eq!((count, statistics.steps), (0, 251));
    let slider_crank = Compiled::new(&Formulas::trace(&SliderCrank { l2: 3.0 }), Interpreted);
    let initial = Initial::motion(0.0, &[0.0, 0.0], &[0.0, 0.0]);
    let (count, statistics) = allocations(&slider_crank, &initial, &Geoms::default(), &tolerance(1e-7), 300);
    assert_eq!((count, statistics.steps), (0, 301));
}

#[test]
fn explicit_and_half_explicit_steps_allocate_nothing() {
    let pendulum = Initial::motion(0.0, &[0.0, -1.0], &[2.9, 0.0]);
    let (count, statistics) = allocations(&PENDULUM, &pendulum, &Hedop5::default(), &tolerance(1e-7), 400);
    assert!(count == 0 && statistics.rejected_error > 0, "{count} {statistics}");
    let crank = Initial::motion(0.0, &[0.0, 0.0], &[0.0, 0.0]);
    let model = SliderCrank { l2: 3.0 };
    let compiled = Compiled::new(&Formulas::trace(&model), Interpreted);
    for system in [&model as &dyn Mechanism, &compiled] {
        let (count, statistics) = allocations(system, &crank, &Hedop5::default(), &tolerance(1e-7), 300);
        assert_eq!((count, statistics.steps), (0, 301));
        let (count, statistics) = allocations(system, &crank, &HalfExplicit::default(), &tolerance(1e-7), 300);
        assert_eq!((count, statistics.steps), (0, 301));
        let (count, statistics) = allocations(system, &crank, &DormandPrince::default(), &tolerance(1e-7), 300);
        assert_eq!((count, statistics.steps), (0, 301));
    }
}

/// A transistor amplifier in small: currents with an exponential law, a leading matrix that is constant and singular.
struct Amplifier;
impl Equations for Amplifier {
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let current = ((x[1] - x[2]) * 4.0).exp() - 1.0;
        r[0] = (xdot[1] - xdot[0]) * 0.1 - (x[0] - (t * 3.0).sin());
        r[1] = (xdot[0] - xdot[1]) * 0.1 - x[1] - current * 0.01;
        r[2] = xdot[2] * 0.2 + x[2] - current;
    }
}

/// A leading matrix that moves: (2 + sin x₀) x₀' = x₁, x₁' = −x₀, 0 = x₂ − x₀ x₁.
struct Moving;
impl Equations for Moving {
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = (x[0].sin() + 2.0) * xdot[0] - x[1];
        r[1] = xdot[1] + x[0];
        r[2] = x[2] - x[0] * x[1];
    }
}

/// Diffusion on a line with a source that swings: dense up to 59 points, sparse from 60 on.
struct Diffusion(usize);
impl Equations for Diffusion {
    fn dim(&self) -> usize {
        self.0
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let n = self.0;
        for i in 0..n {
            let left = if i == 0 { t.sin() } else { x[i - 1] };
            let right = if i + 1 == n { S::from(0.0) } else { x[i + 1] };
            r[i] = xdot[i] - (left - x[i] * 2.0 + right) * 10.0 + x[i].square() * x[i];
        }
    }
}

/// A pendulum as a general system of index three: x, y, u, v, λ.
struct Rod;
impl Equations for Rod {
    fn dim(&self) -> usize {
        5
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] - x[2];
        r[1] = xdot[1] - x[3];
        r[2] = xdot[2] + x[0] * x[4];
        r[3] = xdot[3] + x[1] * x[4] + 1.0;
        r[4] = x[0].square() + x[1].square() - 1.0;
    }
}

/// The pendulum twice, with a constraint that says the same again.
struct TwoRods;
impl Equations for TwoRods {
    fn dim(&self) -> usize {
        10
    }
    fn rows(&self) -> usize {
        11
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        Rod.residual(t, &x[..5], &xdot[..5], &mut r[..5]);
        Rod.residual(t, &x[5..], &xdot[5..], &mut r[5..10]);
        r[10] = r[4] + r[9] * 2.0;
    }
}

/// The same for a general system.
fn general<E: Equations>(
    equations: &E,
    form: dae::Form,
    initial: &[f64],
    method: &dyn Integrator,
    steps: u64,
) -> (u64, Statistics, Unknowns) {
    let system = System::of(equations);
    let prepared = dae::prepare(&system, &daedal::Initial::new(0.0, initial), form).unwrap();
    let unknowns = prepared.unknowns;
    let mut stepper = method.start(prepared.dae, prepared.at, &tolerance(1e-7)).unwrap();
    stepper.advance(1e3).unwrap();
    let mut failure = None;
    let info = allocation_counter::measure(|| {
        for _ in 0..steps {
            if let Err(cause) = stepper.advance(1e3) {
                failure = Some(cause);
                break;
            }
        }
    });
    assert_eq!(failure, None);
    (info.count_total, stepper.statistics(), unknowns)
}

fn integrators() -> [(&'static str, Box<dyn Integrator>); 2] {
    [("Radau IIa", Box::new(RadauIIa::default())), ("BDF", Box::new(Bdf::default()))]
}

#[test]
fn steps_of_systems_as_they_stand_allocate_nothing() {
    for (name, method) in integrators() {
        let check = |(count, statistics, unknowns): (u64, Statistics, Unknowns), steps: u64| {
            assert_eq!((count, statistics.steps), (0, steps + 1), "{name}: {} unknowns", unknowns.dim);
            assert_eq!(unknowns.form, dae::Form::Plain);
            assert!(statistics.decompositions > 3, "{name}: {statistics:?}");
        };
        check(general(&Amplifier, dae::Form::Plain, &[0.0, 0.0, 0.0], &*method, 400), 400);
        check(general(&Moving, dae::Form::Plain, &[1.0, 0.5, 0.5], &*method, 400), 400);
        check(general(&Diffusion(45), dae::Form::Plain, &[0.2; 45], &*method, 150), 150);
    }
}

#[test]
fn steps_of_large_sparse_systems_allocate_nothing() {
    for (name, method) in integrators() {
        let (count, statistics, _) = general(&Diffusion(120), dae::Form::Plain, &[0.2; 120], &*method, 150);
        assert_eq!((count, statistics.steps), (0, 151), "{name}");
    }
}

#[test]
fn steps_with_formulas_of_hidden_constraints_allocate_nothing() {
    for (name, method) in integrators() {
        let one = [1.0, 0.0, 0.0, 0.0, 0.0];
        let two = [&one[..], &one].concat();
        for (count, statistics, unknowns) in [
            general(&Rod, dae::Form::QuasiLinear, &one, &*method, 400),
            general(&TwoRods, dae::Form::QuasiLinear, &two, &*method, 400),
        ] {
            assert_eq!((count, statistics.steps), (0, 401), "{name}: {} unknowns", unknowns.dim);
            assert_eq!(unknowns.form, dae::Form::QuasiLinear);
            assert!(statistics.jacobians > 10, "{name}: {statistics:?}");
        }
    }
}

#[test]
fn the_counter_counts() {
    let info = allocation_counter::measure(|| {
        std::hint::black_box(vec![0.0; 3]);
    });
    assert_eq!(info.count_total, 1);
}
