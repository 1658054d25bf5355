//! A step allocates nothing, whatever happens in it.

mod support;

use daedal::graph::Interpreted;
use daedal::method::geoms::{Decomposition, Selection};
use daedal::method::{Method, State};
use daedal::motion::{Compiled, Form, Formulas, Initial, Mechanism, consistent};
use daedal::{Geoms, Options, Statistics};
use support::{Academic, DoubledPendulum, PENDULUM, SliderCrank, academic_start, tolerance};

/// Advance after a first step and count what is allocated on the way.
fn allocations(
    system: &dyn Mechanism,
    initial: &Initial,
    method: &Geoms,
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
    let initial = Initial::new(0.0, &[0.0, -1.0], &[2.9, 0.0]);
    for method in methods() {
        let (count, statistics) = allocations(&PENDULUM, &initial, &method, &tolerance(1e-7), 400);
        assert_eq!(count, 0, "{method:?}");
        assert!(statistics.steps == 401 && statistics.rejected_error > 0, "{statistics}");
    }
}

#[test]
fn steps_with_failing_newton_iterations_and_changing_pivots_allocate_nothing() {
    let initial = Initial::new(0.0, &[0.0, -1.0], &[2.9, 0.0]);
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
    let initial = Initial::new(0.0, &[0.0, 0.0], &[0.0, 0.0]);
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
    let initial = Initial::new(0.0, &[0.0, -1.0], &[2.9, 0.0]);
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
    let initial = Initial::new(0.0, &[0.0, 0.0], &[0.0, 0.0]);
    let (count, statistics) = allocations(&slider_crank, &initial, &Geoms::default(), &tolerance(1e-7), 300);
    assert_eq!((count, statistics.steps), (0, 301));
}

#[test]
fn the_counter_counts() {
    let info = allocation_counter::measure(|| {
        std::hint::black_box(vec![0.0; 3]);
    });
    assert_eq!(info.count_total, 1);
}
