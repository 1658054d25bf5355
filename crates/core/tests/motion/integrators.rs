//! Integrators for square systems of index at most one.

use crate::systems::*;
use daedal::BadOption;
use daedal::Bdf;
use daedal::RadauIIa;
use daedal::dae::{Dae, Equations, Point};
use daedal::method::Control;
use daedal::method::Steps;
use daedal::method::{Integrator, StartFailure, State, Stepper};
use daedal::{Options, StepFailure, Tolerance};

fn dense<E: Equations>(equations: E, algebraic: &[usize]) -> Box<Differentiated<E>> {
    Box::new(Differentiated::new(equations, algebraic, Form::Dense))
}

fn options(rtol: f64, atol: f64, h0: Option<f64>) -> Options {
    Options { tolerance: Tolerance::new(rtol, atol), h0, max_steps: 1_000_000, ..Options::default() }
}

fn both() -> [Box<dyn Integrator>; 2] {
    [Box::new(RadauIIa::default()), Box::new(Bdf::default())]
}

/// A stepper that has arrived at the end.
fn run<'p>(
    method: &dyn Integrator,
    system: Box<dyn Dae + 'p>,
    at: Point,
    tend: f64,
    options: &Options,
) -> Box<dyn Stepper + 'p> {
    let mut stepper = method.start(system, at, options).unwrap();
    advance(&mut *stepper, tend);
    stepper
}

/// Advance to the end and arrive there exactly.
fn advance(stepper: &mut dyn Stepper, tend: f64) {
    while stepper.state().t < tend {
        let before = stepper.state().t;
        stepper.advance(tend).unwrap();
        assert!(stepper.state().t > before);
        assert_eq!((stepper.segment().t0, stepper.segment().t1), (before, stepper.state().t));
    }
    assert_eq!(stepper.state().t, tend);
}

fn absolute(found: &[f64], exact: &[f64]) -> f64 {
    found.iter().zip(exact).map(|(f, e)| (f - e).abs()).fold(0.0, f64::max)
}

/// Errors of both components at t = 2 and, largest in the last step, of the polynomial.
fn errors(mut stepper: Box<dyn Stepper + '_>, solution: fn(f64) -> ([f64; 2], [f64; 2])) -> [f64; 3] {
    advance(&mut *stepper, 2.0);
    let exact = solution(2.0).0;
    let x = &stepper.state().x;
    let segment = stepper.segment();
    let between = (1..10)
        .map(|k| {
            let t = segment.t0 + 0.1 * f64::from(k) * (segment.t1 - segment.t0);
            let mut x = [0.0; 2];
            segment.eval(t, &mut x);
            absolute(&x, &solution(t).0)
        })
        .fold(0.0, f64::max);
    [(x[0] - exact[0]).abs(), (x[1] - exact[1]).abs(), between]
}

fn observed(coarse: [f64; 3], fine: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| (coarse[i] / fine[i]).log2())
}

#[test]
fn radau_has_order_five_in_differential_and_algebraic_components() {
    let method = RadauIIa { control: Control::Fixed, max_newton: 50, ..RadauIIa::default() };
    let fixed = |h| options(1e-13, 1e-13, Some(h));
    let linear = |h: f64| {
        let (x, xdot) = LinearIndexOne::solution(0.0);
        let stepper = method.start(dense(LinearIndexOne, &[1]), point(&x, &xdot), &fixed(h)).unwrap();
        errors(stepper, LinearIndexOne::solution)
    };
    let nonlinear = |h: f64| {
        let (x, xdot) = Nonlinear::solution(0.0);
        let stepper = method.start(dense(Nonlinear, &[1]), point(&x, &xdot), &fixed(h)).unwrap();
        errors(stepper, Nonlinear::solution)
    };
    for orders in [observed(linear(0.2), linear(0.1)), observed(nonlinear(0.2), nonlinear(0.1))] {
        assert!(orders[0] > 4.7 && orders[1] > 4.7, "order 5 is wanted: {orders:?}");
        // the collocation polynomial has order 3: an error of h⁴
        assert!(orders[2] > 3.7, "dense output: {orders:?}");
    }
}

#[test]
fn bdf_has_the_orders_one_to_five() {
    for order in 1..=5 {
        let method = Bdf { max_order: order, steps: Steps::Fixed, max_newton: 50, ..Bdf::default() };
        let run = |h: f64, system: Box<dyn Dae>, solution: fn(f64) -> ([f64; 2], [f64; 2])| {
            let past: Vec<State> =
                (1..=order).map(|j| State { t: -(j as f64) * h, x: solution(-(j as f64) * h).0.to_vec() }).collect();
            let (x, xdot) = solution(0.0);
            let options = options(1e-13, 1e-13, Some(h));
            let stepper = method.start_with_history(system, point(&x, &xdot), &past, &options).unwrap();
            errors(stepper, solution)
        };
        let linear = |h| run(h, dense(LinearIndexOne, &[1]), LinearIndexOne::solution);
        let nonlinear = |h| run(h, dense(Nonlinear, &[1]), Nonlinear::solution);
        for orders in [observed(linear(0.025), linear(0.0125)), observed(nonlinear(0.025), nonlinear(0.0125))] {
            let least = order as f64 - 0.25;
            assert!(orders[0] > least && orders[0] < least + 0.8, "order {order} is wanted: {orders:?}");
            // algebraic components are functions of the others here, and the polynomial has the order of the method
            assert!(orders[2] > least, "dense output of order {order}: {orders:?}");
        }
    }
}

#[test]
fn bdf_with_fixed_steps_raises_its_order_by_itself() {
    let method = Bdf { max_order: 3, steps: Steps::Fixed, ..Bdf::default() };
    let (x, xdot) = LinearIndexOne::solution(0.0);
    let mut stepper =
        method.start(dense(LinearIndexOne, &[1]), point(&x, &xdot), &options(1e-9, 1e-9, Some(0.1))).unwrap();
    for degree in [1, 2, 3, 3] {
        stepper.advance(1.0).unwrap();
        assert_eq!(stepper.segment().degree(), degree);
    }
    assert!((stepper.state().t - 0.4).abs() < 1e-15);
}

#[test]
fn radau_needs_as_many_steps_as_radau5() {
    // accepted steps, attempts, evaluations, Jacobians and decompositions of RADAU5 in the Test Set for IVP Solvers, HIRES
    for (tolerance, h0, published) in [(1e-7, 1e-9, [72, 79, 684, 31, 61]), (1e-10, 1e-12, [202, 203, 1684, 61, 100])] {
        let options = options(tolerance, tolerance, Some(h0));
        let start = point(&Hires::START, &Hires::SLOPE);
        let stepper = run(&RadauIIa::default(), dense(Hires, &[]), start, Hires::TEND, &options);
        let s = stepper.statistics();
        let found = [s.steps, s.attempts, s.residuals, s.jacobians, s.decompositions];
        for (found, published) in found.iter().zip(published) {
            // a second look at first increments costs some evaluations
            assert!(found.abs_diff(published) <= 2 + published / 20, "{s:?}, published {published}");
        }
    }
    // the amplifier: 956 attempts, 740 accepted
    let start = point(&Amplifier::START, &Amplifier::SLOPE);
    let stepper =
        run(&RadauIIa::default(), dense(Amplifier, &[]), start, Amplifier::TEND, &options(1e-5, 1e-5, Some(1e-7)));
    assert!(stepper.statistics().attempts < 1100, "{}", stepper.statistics());
}

#[test]
fn bdf_needs_about_as_many_steps_as_dassl_or_fewer() {
    let bdf = Bdf { share: 1.0, ..Bdf::default() };
    // one step may use the whole tolerance there; steps of DASSL in the Test Set for IVP Solvers: 369, 1252, 1912, and 23859 for the amplifier, where it loses its way
    let hires =
        run(&bdf, dense(Hires, &[]), point(&Hires::START, &Hires::SLOPE), Hires::TEND, &options(1e-7, 1e-7, None));
    let robertson = run(
        &bdf,
        dense(Robertson { conserved: false }, &[]),
        point(&Robertson::START, &Robertson::SLOPE),
        1e11,
        &options(1e-7, 1e-11, None),
    );
    let van_der_pol =
        run(&bdf, dense(VanDerPol, &[]), point(&VanDerPol::START, &VanDerPol::SLOPE), 2.0, &options(1e-7, 1e-7, None));
    let amplifier = run(
        &bdf,
        dense(Amplifier, &[]),
        point(&Amplifier::START, &Amplifier::SLOPE),
        Amplifier::TEND,
        &options(1e-7, 1e-7, None),
    );
    for (stepper, steps) in [(hires, 369), (robertson, 1252), (van_der_pol, 2000), (amplifier, 6500)] {
        assert!(stepper.statistics().steps <= steps, "{} steps wanted: {}", steps, stepper.statistics());
    }
}

#[test]
fn bdf_is_not_trapped_at_low_order() {
    for newton_tolerance in [0.1, 0.03, 0.01, 0.003] {
        let method = Bdf { newton_tolerance, share: 1.0, ..Bdf::default() };
        for (tolerance, most) in [(1e-5, 4000), (1e-6, 5000), (1e-8, 9000)] {
            let start = point(&Amplifier::START, &Amplifier::SLOPE);
            let stepper =
                run(&method, dense(Amplifier, &[]), start, Amplifier::TEND, &options(tolerance, tolerance, None));
            assert!(stepper.statistics().attempts < most, "{tolerance:e}: {}", stepper.statistics());
        }
    }
}

#[test]
fn errors_follow_the_tolerance() {
    for (method, factor) in both().iter().zip([30.0, 100.0]) {
        for tolerance in [1e-5, 1e-7, 1e-9] {
            let system = |name: &str, error: f64| {
                assert!(error < factor * tolerance, "{name} at {tolerance:e}: {error:e}");
            };
            let same = options(tolerance, tolerance, None);
            let start = point(&Amplifier::START, &Amplifier::SLOPE);
            let end = run(&**method, dense(Amplifier, &[]), start, Amplifier::TEND, &same);
            system("amplifier", absolute(&end.state().x, &Amplifier::END));
            let start = point(&Hires::START, &Hires::SLOPE);
            let end = run(&**method, dense(Hires, &[]), start, Hires::TEND, &same);
            system("HIRES", absolute(&end.state().x, &Hires::END));
            let start = point(&VanDerPol::START, &VanDerPol::SLOPE);
            let end = run(&**method, dense(VanDerPol, &[]), start, 2.0, &same);
            system("van der Pol", absolute(&end.state().x, &VanDerPol::END));
            for conserved in [false, true] {
                let algebraic: &[usize] = if conserved { &[2] } else { &[] };
                let start = point(&Robertson::START, &Robertson::SLOPE);
                let options = options(tolerance, 1e-4 * tolerance, None);
                let end = run(&**method, dense(Robertson { conserved }, algebraic), start, 1e11, &options);
                let weighted = end.state().x.iter().zip(&Robertson::END).map(|(f, e)| (f - e).abs() / (1e-4 + e.abs()));
                system("Robertson", weighted.fold(0.0, f64::max));
                if conserved {
                    let sum: f64 = end.state().x.iter().sum();
                    assert!((sum - 1.0).abs() < 1e-15, "the conservation law holds to rounding");
                }
            }
            for lambda in [-1.0, -1e3, -1e8] {
                let (x, xdot) = ProtheroRobinson::solution(0.0);
                let end = run(&**method, dense(ProtheroRobinson { lambda }, &[]), point(&x, &xdot), 3.0, &same);
                system("Prothero and Robinson", absolute(&end.state().x, &ProtheroRobinson::solution(3.0).0));
            }
            let (x, xdot) = Nonlinear::solution(0.0);
            let end = run(&**method, dense(Nonlinear, &[1]), point(&x, &xdot), 2.0, &same);
            system("nonlinear", absolute(&end.state().x, &Nonlinear::solution(2.0).0));
            let end = run(&**method, FullyImplicit::system(), point(&[1.0], &[1.0]), 2.0, &same);
            system("fully implicit", absolute(&end.state().x, &[2.0_f64.exp()]) / 7.0);
        }
    }
}

#[test]
fn constraints_that_stand_in_no_row_alone_are_kept() {
    for seed in 1..=8 {
        for lambda in [[1.0, 0.3], [2.0, 1e5]] {
            for (method, factor) in both().iter().zip([30.0, 100.0]) {
                let mixed = Mixed::new(seed, lambda);
                let (z, zdot) = mixed.solution(0.0);
                let start = Point { t: 0.0, x: mixed.unknowns(z), xdot: mixed.unknowns(zdot) };
                let exact = mixed.unknowns(mixed.solution(2.0).0);
                let end = run(&**method, dense(mixed, &[]), start, 2.0, &options(1e-7, 1e-7, None));
                let error = absolute(&end.state().x, &exact);
                assert!(error < factor * 1e-7, "seed {seed}, {lambda:?}: {error:e}");
                assert!(end.statistics().steps < 600, "{}", end.statistics());
            }
        }
    }
}

#[test]
fn old_jacobians_do_not_spoil_the_error_estimate_of_a_state_dependent_leading_matrix() {
    let steps = |jacobian_reuse| {
        let (x, xdot) = Nonlinear::solution(0.0);
        let method = RadauIIa { jacobian_reuse, ..RadauIIa::default() };
        run(&method, dense(Nonlinear, &[1]), point(&x, &xdot), 2.0, &options(1e-8, 1e-8, None)).statistics()
    };
    let (kept, renewed) = (steps(0.3), steps(-1.0));
    assert!(2 * kept.jacobians < renewed.jacobians, "{kept:?}");
    // the iteration takes longer, for which the controller asks smaller steps
    assert!(2 * kept.steps <= 3 * renewed.steps, "{} and {} steps", kept.steps, renewed.steps);
}

#[test]
fn dense_output_follows_the_tolerance() {
    for (method, factor) in both().iter().zip([100.0, 100.0]) {
        let tolerance = 1e-7;
        let (x, xdot) = Nonlinear::solution(0.0);
        let mut stepper =
            method.start(dense(Nonlinear, &[1]), point(&x, &xdot), &options(tolerance, tolerance, None)).unwrap();
        while stepper.state().t < 2.0 {
            stepper.advance(2.0).unwrap();
            let segment = stepper.segment();
            for k in 0..=4 {
                let t = segment.t0 + 0.25 * f64::from(k) * (segment.t1 - segment.t0);
                let mut x = [0.0; 2];
                segment.eval(t, &mut x);
                assert!(absolute(&x, &Nonlinear::solution(t).0) < factor * tolerance, "at {t}");
            }
        }
    }
}

#[test]
fn steps_end_exactly_at_the_limit_and_respect_hmax_and_h0() {
    for method in both() {
        let (x, xdot) = LinearIndexOne::solution(0.0);
        let options = Options { hmax: Some(0.03), ..options(1e-4, 1e-4, Some(1e-3)) };
        let mut stepper = method.start(dense(LinearIndexOne, &[1]), point(&x, &xdot), &options).unwrap();
        stepper.advance(10.0).unwrap();
        assert!((stepper.state().t - 1e-3).abs() < 1e-15);
        for limit in [0.1, 0.1 + 1e-9, 0.3, 1.0 / 3.0, 1.0] {
            while stepper.state().t < limit {
                stepper.advance(limit).unwrap();
                let segment = stepper.segment();
                assert!(segment.t1 - segment.t0 <= 0.03 * 1.0002);
            }
            assert_eq!(stepper.state().t, limit);
            assert!(absolute(&stepper.state().x, &LinearIndexOne::solution(limit).0) < 1e-3);
        }
    }
}

#[test]
fn sparse_and_dense_matrices_give_the_same_result() {
    // small and large dense matrices
    for cells in [8, 60] {
        for method in both() {
            let end = |form| {
                let diffusion = Diffusion { cells };
                let start = diffusion.start();
                let system = Differentiated::new(diffusion, &[cells], form);
                run(&*method, Box::new(system), start, 0.5, &options(1e-8, 1e-8, Some(1e-6)))
            };
            let (dense, sparse) = (end(Form::Dense), end(Form::Sparse));
            assert_eq!(dense.statistics().steps, sparse.statistics().steps);
            // the flux is as large as the number of cells
            let difference = absolute(&dense.state().x, &sparse.state().x) / cells as f64;
            assert!(difference < 1e-10, "{difference:e}");
            let flux = dense.state().x[cells] - cells as f64 * (0.2 - dense.state().x[cells - 1]);
            assert!(flux.abs() < 1e-10, "{flux:e}");
        }
    }
}

#[test]
fn steps_allocate_nothing() {
    for method in both() {
        let mut van_der_pol = method
            .start(dense(VanDerPol, &[]), point(&VanDerPol::START, &VanDerPol::SLOPE), &options(1e-4, 1e-4, None))
            .unwrap();
        let diffusion = Diffusion { cells: 50 };
        let start = diffusion.start();
        let mut diffusion = method.start(dense(diffusion, &[50]), start, &options(1e-6, 1e-6, None)).unwrap();
        for (stepper, steps) in [(&mut van_der_pol, 200), (&mut diffusion, 30)] {
            stepper.advance(1e2).unwrap();
            let info = allocation_counter::measure(|| {
                for _ in 0..steps {
                    stepper.advance(1e2).unwrap();
                }
            });
            assert_eq!(info.count_total, 0);
        }
        let s = van_der_pol.statistics();
        assert!(s.rejected_error > 0 && s.jacobians > 5, "{s:?}");
    }
}

#[test]
fn a_restart_goes_on_from_another_point() {
    for (method, factor) in both().iter().zip([30.0, 100.0]) {
        let same = options(1e-8, 1e-8, None);
        // the derivative is found again
        let (x, xdot) = LinearIndexOne::solution(0.0);
        let mut stepper = run(&**method, dense(LinearIndexOne, &[1]), point(&x, &xdot), 1.0, &same);
        stepper.restart(State { t: 0.5, x: LinearIndexOne::solution(0.5).0.to_vec() });
        assert_eq!((stepper.state().t, stepper.segment().t1), (0.5, 0.5));
        advance(&mut *stepper, 2.0);
        assert!(absolute(&stepper.state().x, &LinearIndexOne::solution(2.0).0) < factor * 1e-8);

        let mut stepper = run(&**method, FullyImplicit::system(), point(&[1.0], &[1.0]), 1.0, &same);
        stepper.restart(State { t: 0.0, x: vec![-3.0] });
        advance(&mut *stepper, 1.0);
        assert!((stepper.state().x[0] + 3.0 * 1.0_f64.exp()).abs() < 3.0 * factor * 1e-8);

        // a system whose constraints do not show in its rows
        let start = point(&Amplifier::START, &Amplifier::SLOPE);
        let mut stepper = run(&**method, dense(Amplifier, &[]), start, 0.01, &same);
        stepper.restart(State { t: 0.0, x: Amplifier::START.to_vec() });
        advance(&mut *stepper, Amplifier::TEND);
        assert!(absolute(&stepper.state().x, &Amplifier::END) < factor * 1e-8);
    }
}

#[test]
fn unknowns_that_do_not_count_do_not_limit_the_steps() {
    for method in both() {
        let steps = |bookkeeping| {
            let mut system = dense(WithBookkeeping, &[]);
            system.bookkeeping = bookkeeping;
            let start = point(&[1.0, 0.0], &[-1.0, 1000.0]);
            let stepper = run(&*method, system, start, 1.0, &options(1e-6, 1e-6, None));
            assert!((stepper.state().x[0] - (-1.0_f64).exp()).abs() < 1e-4);
            stepper.statistics().steps
        };
        let (ignored, wanted) = (steps(Some(1)), steps(None));
        assert!(10 * ignored < wanted, "{ignored} and {wanted} steps");
    }
}

#[test]
fn a_system_without_values_beyond_a_point_makes_newton_fail() {
    for method in both() {
        let mut system = dense(Pole, &[]);
        system.undefined_after = 0.5;
        let at = Point { t: 0.5, x: vec![1.0], xdot: vec![1.0] };
        let mut stepper = method.start(system, at, &options(1e-6, 1e-6, None)).unwrap();
        let failure = stepper.advance(1.0).unwrap_err();
        assert!(matches!(failure, StepFailure::NewtonDiverged { t: 0.5, failures: 10.., .. }), "{failure}");
        assert_eq!(stepper.state(), &State { t: 0.5, x: vec![1.0] });
    }
}

#[test]
fn the_way_to_the_edge_of_a_model_is_gone_to_the_end() {
    for method in both() {
        let mut system = dense(ProtheroRobinson { lambda: -1.0 }, &[]);
        system.undefined_after = 0.5;
        let (x, xdot) = ProtheroRobinson::solution(0.0);
        let mut stepper = method.start(system, point(&x, &xdot), &options(1e-6, 1e-6, None)).unwrap();
        let failure = loop {
            if let Err(failure) = stepper.advance(1.0) {
                break failure;
            }
        };
        let expected = matches!(failure, StepFailure::NewtonDiverged { .. } | StepFailure::StepTooSmall { .. });
        assert!(expected, "{failure}");
        let state = stepper.state();
        assert!(state.t <= 0.5 && state.t > 0.49, "{}", state.t);
        assert!(absolute(&state.x, &ProtheroRobinson::solution(state.t).0) < 1e-4);
    }
}

#[test]
fn a_pole_makes_the_step_too_small() {
    for method in both() {
        let mut stepper = method.start(dense(Pole, &[]), point(&[1.0], &[1.0]), &options(1e-6, 1e-6, None)).unwrap();
        let failure = loop {
            if let Err(failure) = stepper.advance(2.0) {
                break failure;
            }
        };
        assert!(matches!(failure, StepFailure::StepTooSmall { .. }), "{failure}");
        assert!((stepper.state().t - 1.0).abs() < 1e-3 && stepper.state().x[0] > 1e6, "{:?}", stepper.state());
    }
}

#[test]
fn an_undetermined_unknown_is_a_singular_pencil() {
    for method in both() {
        for form in [Form::Dense, Form::Sparse] {
            let system = Box::new(Differentiated::new(Undetermined, &[1], form));
            let mut stepper =
                method.start(system, point(&[1.0, 0.0], &[-1.0, 0.0]), &options(1e-6, 1e-6, None)).unwrap();
            assert_eq!(stepper.advance(1.0), Err(StepFailure::SingularPencil { t: 0.0 }));
            assert_eq!(stepper.state().x, [1.0, 0.0]);
        }
    }
}

#[test]
fn a_limit_that_is_not_ahead_is_no_step() {
    for method in both() {
        let (x, xdot) = LinearIndexOne::solution(0.0);
        let mut stepper =
            method.start(dense(LinearIndexOne, &[1]), point(&x, &xdot), &options(1e-6, 1e-6, None)).unwrap();
        for limit in [0.0, -1.0] {
            assert_eq!(stepper.advance(limit), Err(StepFailure::StepTooSmall { t: 0.0, h: limit }));
        }
        advance(&mut *stepper, 1.0);
    }
}

#[test]
fn more_attempts_than_allowed_stop_the_run() {
    for method in both() {
        let options = Options { max_steps: 7, ..options(1e-6, 1e-6, None) };
        let mut stepper = method.start(dense(Hires, &[]), point(&Hires::START, &Hires::SLOPE), &options).unwrap();
        let failure = loop {
            if let Err(failure) = stepper.advance(Hires::TEND) {
                break failure;
            }
        };
        assert!(matches!(failure, StepFailure::TooManySteps { steps: 7, t } if t == stepper.state().t));
    }
}

#[test]
fn fixed_steps_stop_where_newton_fails() {
    let radau = RadauIIa { control: Control::Fixed, ..RadauIIa::default() };
    let bdf = Bdf { steps: Steps::Fixed, ..Bdf::default() };
    for method in [&radau as &dyn Integrator, &bdf] {
        let mut system = dense(ProtheroRobinson { lambda: -1.0 }, &[]);
        system.undefined_after = 0.55;
        let (x, xdot) = ProtheroRobinson::solution(0.0);
        let mut stepper = method.start(system, point(&x, &xdot), &options(1e-6, 1e-6, Some(0.1))).unwrap();
        for _ in 0..5 {
            stepper.advance(1.0).unwrap();
        }
        let failure = stepper.advance(1.0).unwrap_err();
        assert!(matches!(failure, StepFailure::NewtonDiverged { failures: 1, .. }), "{failure}");
        assert!((stepper.state().t - 0.5).abs() < 1e-15);
    }
}

#[test]
fn what_the_system_refuses_stops_the_run_at_an_accepted_point() {
    for method in both() {
        let (x, xdot) = LinearIndexOne::solution(0.0);
        let until = |system: Box<Differentiated<LinearIndexOne>>| {
            let mut stepper = method.start(system, point(&x, &xdot), &options(1e-6, 1e-6, None)).unwrap();
            loop {
                if let Err(failure) = stepper.advance(2.0) {
                    let state = stepper.state();
                    assert!(absolute(&state.x, &LinearIndexOne::solution(state.t).0) < 1e-3);
                    assert_eq!(failure.time(), state.t);
                    break (failure, state.t);
                }
            }
        };
        let mut system = dense(LinearIndexOne, &[1]);
        system.refused_after = 0.7;
        let (failure, t) = until(system);
        assert!(matches!(failure, StepFailure::Contradictory { .. }) && t > 0.7);
        let mut system = dense(LinearIndexOne, &[1]);
        system.no_pencil_after = 0.7;
        // linear equations keep their Jacobian unless it is asked for
        let stepper = method.start(system, Point { t: 0.8, x: x.to_vec(), xdot: xdot.to_vec() }, &Options::default());
        assert!(matches!(stepper.err(), Some(StartFailure::Step(StepFailure::Undefined { t: 0.8 }))));
    }
}

#[test]
fn a_pencil_that_fails_on_the_way_stops_the_run() {
    let mut system = dense(Nonlinear, &[1]);
    system.no_pencil_after = 0.7;
    let (x, xdot) = Nonlinear::solution(0.0);
    let method = RadauIIa { jacobian_reuse: -1.0, ..RadauIIa::default() };
    let mut stepper = method.start(system, point(&x, &xdot), &options(1e-6, 1e-6, None)).unwrap();
    let failure = loop {
        if let Err(failure) = stepper.advance(2.0) {
            break failure;
        }
    };
    assert!(stepper.state().t > 0.7);
    assert_eq!(failure, StepFailure::Undefined { t: stepper.state().t });
}

#[test]
fn impossible_options_are_refused() {
    let refused = |method: &dyn Integrator, options: &Options| {
        let start = method.start(dense(Hires, &[]), point(&Hires::START, &Hires::SLOPE), options);
        match start.err() {
            Some(StartFailure::Options(BadOption::OutOfRange { name, .. })) => name,
            Some(StartFailure::Options(BadOption::Tolerance(_))) => "tolerance",
            _ => "nothing",
        }
    };
    let good = options(1e-6, 1e-6, None);
    let (radau, bdf) = (RadauIIa::default(), Bdf::default());
    for method in [&radau as &dyn Integrator, &bdf] {
        assert_eq!(refused(method, &good), "nothing");
        assert_eq!(refused(method, &Options { h0: Some(0.0), ..good.clone() }), "h0");
        assert_eq!(refused(method, &Options { hmax: Some(f64::NAN), ..good.clone() }), "hmax");
        assert_eq!(refused(method, &options(0.0, 1e-6, None)), "tolerance");
        let three = Options { tolerance: Tolerance::PerComponent(vec![(1e-6, 1e-6); 3]), ..good.clone() };
        assert_eq!(refused(method, &three), "tolerance");
    }
    assert_eq!(refused(&RadauIIa { safety: 2.0, ..radau.clone() }, &good), "safety");
    assert_eq!(refused(&RadauIIa { max_newton: 2, ..radau.clone() }, &good), "max_newton");
    assert_eq!(refused(&RadauIIa { newton_tolerance: Some(0.0), ..radau.clone() }, &good), "newton_tolerance");
    assert_eq!(refused(&RadauIIa { jacobian_reuse: 1.0, ..radau.clone() }, &good), "jacobian_reuse");
    assert_eq!(refused(&RadauIIa { ratio: (1.5, 8.0), ..radau }, &good), "smallest ratio");
    assert_eq!(refused(&Bdf { max_order: 6, ..bdf.clone() }, &good), "max_order");
    assert_eq!(refused(&Bdf { max_order: 0, ..bdf.clone() }, &good), "max_order");
    assert_eq!(refused(&Bdf { share: 0.0, ..bdf.clone() }, &good), "share");
    assert_eq!(refused(&Bdf { share: 2.0, ..bdf.clone() }, &good), "share");
    assert_eq!(refused(&Bdf { newton_tolerance: -1.0, ..bdf }, &good), "newton_tolerance");
}

#[test]
fn tolerances_per_component_are_used() {
    let steps = |tolerance| {
        let options = Options { tolerance, ..options(1e-6, 1e-6, None) };
        let start = point(&Hires::START, &Hires::SLOPE);
        run(&RadauIIa::default(), dense(Hires, &[]), start, Hires::TEND, &options).statistics().steps
    };
    let mut list = vec![(1e-4, 1e-4); 8];
    assert_eq!(steps(Tolerance::PerComponent(list.clone())), steps(Tolerance::new(1e-4, 1e-4)));
    list[7] = (1e-9, 1e-9);
    assert!(steps(Tolerance::PerComponent(list)) > 2 * steps(Tolerance::new(1e-4, 1e-4)));
}
