//! Linear differential-algebraic equations with known answers. M7: Wunderlich, thesis (2008); examples 3.5.34, 3.5.35: Steinbrecher, thesis
//! (2006). More of them, with their pencils and invariants, in `daedal-pencils`.

use crate::linear::*;
use daedal::Bdf;
use daedal::RadauIIa;
use daedal::StepFailure;
use daedal::dae::{CharacteristicValues, Dae, Pencil};
use daedal::dae::{Contradiction, Gelda, GeldaOptions, Keep};
use daedal::linalg::Matrix;
use daedal::linear::*;
use daedal::method::Steps;
use daedal::method::{Integrator, StartFailure, State};
use daedal::scalar::Scalar;
use daedal::{Options, Tolerance};

fn analysed<C: Coefficients>(mut problem: C, t: f64) -> CharacteristicValues {
    strangeness_free(&mut problem, t, &RankOptions::default()).unwrap().values
}

fn constant_values(E: &[&[f64]], A: &[&[f64]]) -> CharacteristicValues {
    analysed(constant(&matrix(E), &matrix(A)), 0.0)
}

#[test]
fn example_5_45_switching_the_leading_matrix_off_leaves_only_zero() {
    let I: &[&[f64]] = &[&[1.0, 0.0], &[0.0, 1.0]];
    let zero: &[&[f64]] = &[&[0.0, 0.0], &[0.0, 0.0]];
    assert_eq!(constant_values(I, I), values(0, 2, 0, 0, 0));
    assert_eq!(constant_values(zero, I), values(0, 0, 2, 0, 0));
    let mut second = Gelda::new(constant(&matrix(zero), &matrix(I)), 0.0, GeldaOptions::default()).unwrap();
    let point = second.consistent(0.0, &[1.0, -2.0], Keep::LeastChange).unwrap();
    assert!(distance(&point.x, &[0.0, 0.0]) < 1e-15 && distance(&point.xdot, &[0.0, 0.0]) < 1e-15);
}

#[test]
fn example_3_5_34_overdetermined() {
    assert_eq!(constant_values(&[&[1.0], &[0.0]], &[&[0.0], &[1.0]]), values(1, 0, 1, 1, 0));
    // level table: rank of [M N], a, redundant rows
    let low = RankOptions { max_index: 0, ..RankOptions::default() };
    let E = matrix(&[&[1.0], &[0.0]]);
    let A = matrix(&[&[0.0], &[1.0]]);
    match strangeness_free(&mut constant(&E, &A), 0.0, &low) {
        Err(ReductionError::IndexNotFound { last, .. }) => assert_eq!((last.a, last.v, last.d), (1, 0, 0)),
        other => panic!("{other:?}"),
    }
    // after one pass x' = 0, x' = 0: no strangeness
    assert_eq!(constant_values(&[&[1.0], &[1.0]], &[&[0.0], &[0.0]]), values(0, 1, 0, 1, 0));
}

/// Example 3.3.4: linearised along (0, 1, 1) the system x₁' = x₁x₂, x₁x₃' = x₂ − 1, 0 = x₃ − 1 of index two has index one.
#[test]
fn example_3_3_4_linearised_where_the_leading_matrix_vanishes() {
    let along = |x1: f64| {
        let E: &[&[f64]] = &[&[1.0, 0.0, 0.0], &[0.0, 0.0, x1], &[0.0, 0.0, 0.0]];
        constant_values(E, &[&[1.0, x1, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]])
    };
    let (singular, beside) = (along(0.0), along(1.3));
    assert_eq!((singular, singular.differentiation_index()), (values(0, 1, 2, 0, 0), Some(1)));
    assert_eq!((beside, beside.differentiation_index()), (values(1, 1, 2, 0, 0), Some(2)));
}

/// (6.25): an equation z = g(ẋ) puts a switching function under error control and may raise the index.
#[test]
fn a_switching_function_of_a_derivative_raises_the_index() {
    // x₁' = x₁ + f₁, 0 = x₂ + f₂, and z = x₂'
    assert_eq!(constant_values(&[&[1.0, 0.0], &[0.0, 0.0]], &[&[1.0, 0.0], &[0.0, 1.0]]), values(0, 1, 1, 0, 0));
    let E: &[&[f64]] = &[&[1.0, 0.0, 0.0], &[0.0, 0.0, 0.0], &[0.0, 1.0, 0.0]];
    assert_eq!(constant_values(E, &[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]]), values(1, 1, 2, 0, 0));
}

#[test]
fn example_3_5_35_redundant_and_underdetermined() {
    let E: &[&[f64]] = &[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 0.0]];
    let A: &[&[f64]] = &[&[0.0, 1.0, 0.0], &[1.0, 0.0, 0.0], &[1.0, 0.0, 0.0]];
    assert_eq!(constant_values(E, A), values(2, 0, 2, 1, 1));
    // level table (a, v, rank E T₂): (1, 0, 1), (2, 0, 0), then (2, 1, 0)
    for (max_index, expected) in [(0, (1, 0, 1)), (1, (2, 0, 0))] {
        let low = RankOptions { max_index, ..RankOptions::default() };
        match strangeness_free(&mut constant(&matrix(E), &matrix(A)), 0.0, &low) {
            Err(ReductionError::IndexNotFound { last, .. }) => assert_eq!((last.a, last.v, last.d), expected),
            other => panic!("{other:?}"),
        }
    }
    // passes of the procedure replace x₁ = 0 by x₁' = 0, and then x₂ = 0 by x₂' = 0: the strangeness index stays
    for row in 0..2 {
        let mut E = matrix(E);
        E[(2, row)] = 1.0;
        let A = matrix(&[A[0], A[1], &[0.0; 3]]);
        assert_eq!(analysed(constant(&E, &A), 0.0), values(2, 0, 2, 1, 1));
    }
}

#[test]
fn boost_converter_values_and_start() {
    for (mode, expected) in
        [(1, values(0, 2, 5, 0, 0)), (2, values(0, 2, 5, 0, 0)), (3, values(1, 1, 6, 0, 0)), (4, values(1, 1, 6, 0, 0))]
    {
        assert_eq!(analysed(boost(mode), 0.0), expected, "mode {mode}");
    }
    let mut system = Gelda::new(boost(1), 0.0, GeldaOptions::default()).unwrap();
    let point = system.consistent(0.0, &[10.0; 7], Keep::LeastChange).unwrap();
    let exact = [20.0 / 9.0, 10.0, -20.0 / 9.0, 0.0, 10.0 / 9.0, 0.0, 10.0];
    assert!(distance(&point.x, &exact) < 1e-12, "{:?}", point.x);
    // reduced dynamics of mode 1: v̇C = (iL − vC/R)/C, i̇L = (−vC − Vi)/L, and the others by their constraints
    let (vC, iL) = ((10.0 - 10.0 / 9.0) / 1e-2, -20.0 / 9.0 - 48.0);
    assert!(distance(&point.xdot, &[vC, iL, -vC, 0.0, vC / 2.0, 0.0, iL]) < 1e-9, "{:?}", point.xdot);
    // keeping the differential part keeps vC and iL
    let kept = system.consistent(0.0, &[10.0; 7], Keep::DifferentialPart).unwrap();
    assert!((kept.x[0] - 10.0).abs() < 1e-12 && (kept.x[1] - 10.0).abs() < 1e-12);
    assert!((kept.x[4] - 5.0).abs() < 1e-12 && (kept.x[6] - 10.0).abs() < 1e-12);
}

#[test]
fn what_is_undetermined_keeps_its_value() {
    // x₁' = x₂: x₂ is free and is held
    let mut system =
        Gelda::new(constant(&matrix(&[&[1.0, 0.0]]), &matrix(&[&[0.0, 1.0]])), 0.0, GeldaOptions::default()).unwrap();
    assert_eq!(system.undetermined().len(), 1);
    assert!((system.undetermined()[0][1].abs() - 1.0).abs() < 1e-14);
    let mut r = [0.0; 2];
    system.residual(0, 0.0, &[1.0, 2.0], &[2.0, 0.0], &mut r).unwrap();
    assert!(distance(&r, &[0.0, 0.0]) < 1e-15);
    system.residual(0, 0.0, &[1.0, 2.0], &[2.0, 0.5], &mut r).unwrap();
    assert!((r[1].abs() - 0.5).abs() < 1e-14);
    let mut pencil = system.new_pencil();
    system.pencil(0.0, &[1.0, 2.0], &[2.0, 0.0], &mut pencil).unwrap();
    let Pencil { E, A } = pencil;
    assert!((E[(0, 0)] * E[(1, 1)]).abs() > 0.9 && A[(1, 1)] == 0.0);
}

equations!(LosesADerivative, 1, 1, |t, E, A, _b| {
    E[(0, 0)] = t - 1.0;
    A[(0, 0)] = S::from(1.0);
});

#[test]
fn a_change_of_the_characteristic_values_stops_the_run() {
    let mut system = Gelda::new(Differentiated::new(LosesADerivative), 0.0, GeldaOptions::default()).unwrap();
    assert!(system.accepted(0, 0.5, &mut [1.0], &[0.0]).is_ok());
    match system.accepted(0, 1.0, &mut [1.0], &[0.0]) {
        Err(StepFailure::CharacteristicChange { t, before, now }) => {
            assert_eq!((t, before, now), (1.0, values(0, 1, 0, 0, 0), values(0, 0, 1, 0, 0)));
        }
        other => panic!("{other:?}"),
    }
    // behind it everything is as before
    assert!(system.accepted(0, 1.5, &mut [1.0], &[0.0]).is_ok());
}

#[test]
fn a_contradiction_stops_the_run_or_is_left_away() {
    // x' = 1 and 0 = x − t hold together, x' = 1 and 0 = x − t² only at t = ½ in their derivatives
    let (E, A) = (matrix(&[&[1.0], &[0.0]]), matrix(&[&[0.0], &[1.0]]));
    let problem = |b: Vec<Vec<f64>>| ConstantCoefficients::new(E.clone(), A.clone(), b);
    let good = vec![vec![1.0], vec![0.0, -1.0]];
    let bad = vec![vec![1.0], vec![0.0, 0.0, -1.0]];
    let mut system = Gelda::new(problem(good), 0.0, GeldaOptions::default()).unwrap();
    assert!(system.accepted(0, 2.0, &mut [2.0], &[1.0]).is_ok());
    assert_eq!(system.residuals().constraint.map(|r| r < 1e-14), Some(true));
    let mut system = Gelda::new(problem(bad.clone()), 0.5, GeldaOptions::default()).unwrap();
    assert!(system.consistent(0.5, &[0.0], Keep::LeastChange).is_ok());
    assert!(matches!(system.accepted(0, 2.0, &mut [4.0], &[1.0]), Err(StepFailure::Contradictory { t: 2.0, .. })));
    let options = GeldaOptions { contradiction: Contradiction::LeastSquares, ..GeldaOptions::default() };
    let mut system = Gelda::new(problem(bad), 0.5, options).unwrap();
    assert!(system.accepted(0, 2.0, &mut [4.0], &[1.0]).is_ok());
}

#[test]
fn derivatives_that_are_missing_are_told() {
    // the nilpotent block of size 3 needs second derivatives; only first ones are supplied
    let mut problem = Supplied::new(3, 3, 1, |k, _t, E: &mut Matrix, A: &mut Matrix, _b: &mut [f64]| {
        if k == 0 {
            (E[(0, 1)], E[(1, 2)]) = (1.0, 1.0);
            (A[(0, 0)], A[(1, 1)], A[(2, 2)]) = (1.0, 1.0, 1.0);
        }
    });
    assert_eq!(
        strangeness_free(&mut problem, 0.0, &RankOptions::default()).unwrap_err(),
        ReductionError::Coefficients(CoefficientError::Order { wanted: 2, available: 1 })
    );
}

#[test]
fn evaluations_do_not_allocate() {
    let mut system = Gelda::new(Differentiated::new(Companion), 1.0, GeldaOptions::default()).unwrap();
    let mut pencil = system.new_pencil();
    let (mut x, xdot, mut r) = ([1.0; 6], [0.5; 6], [0.0; 6]);
    // the first calls may size buffers
    let mut all = |t: f64| {
        system.pencil(t, &x, &xdot, &mut pencil).unwrap();
        for s in 1..4 {
            system.residual(s, t + 0.01 * s as f64, &x, &xdot, &mut r).unwrap();
        }
        system.accepted(3, t + 0.03, &mut x, &xdot).unwrap();
    };
    all(1.0);
    let counted = allocation_counter::measure(|| all(1.03));
    assert_eq!(counted.count_total, 0);
}

fn both() -> [(&'static str, Box<dyn Integrator>); 2] {
    [("Radau", Box::new(RadauIIa::default())), ("BDF", Box::new(Bdf::default()))]
}

fn tolerance(tolerance: f64) -> Options {
    Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() }
}

/// Start from a guess, run to the end; the state there and the largest constraint residual at accepted points.
fn run<C: Coefficients>(
    mut system: Gelda<C>,
    method: &dyn Integrator,
    (t0, guess): (f64, &[f64]),
    tend: f64,
    options: &Options,
) -> Result<(Vec<f64>, f64), StepFailure> {
    let point = system.consistent(t0, guess, Keep::LeastChange)?;
    let mut stepper = match method.start(Box::new(system), point, options) {
        Ok(stepper) => stepper,
        Err(StartFailure::Step(failure)) => return Err(failure),
        Err(error) => panic!("{error}"),
    };
    let mut largest = 0.0_f64;
    while stepper.state().t < tend {
        stepper.advance(tend)?;
        largest = largest.max(stepper.residuals().constraint.unwrap_or(0.0));
    }
    Ok((stepper.state().x.clone(), largest))
}

fn gelda<L: LinearEquations>(equations: L, t0: f64) -> Gelda<Differentiated<L>> {
    Gelda::new(Differentiated::new(equations), t0, GeldaOptions::default()).unwrap()
}

#[test]
fn integrators_solve_the_companion_form_of_index_three() {
    let exact = |t: f64| [t.sin(), (2.0 * t).cos(), (-t).exp(), t.cos(), -2.0 * (2.0 * t).sin(), -(-t).exp()];
    for (name, method) in both() {
        let (x, constraint) = run(gelda(Companion, 1.0), &*method, (1.0, &exact(1.0)), 2.0, &tolerance(1e-9)).unwrap();
        let error = distance(&x, &exact(2.0));
        assert!(error < 1e-7, "{name}: error {error:e}");
        assert!(constraint < 1e-9, "{name}: constraint {constraint:e}");
    }
}

#[test]
fn m7_a_problem_without_differential_part_is_integrated() {
    for (name, method) in both() {
        let system = gelda(UniqueBehindSingularPencils, 0.0);
        let (x, _) = run(system, &*method, (0.0, &[1.0, 1.0]), 3.0, &tolerance(1e-8)).unwrap();
        let x2 = 3.0_f64.exp() - 3.0_f64.cos();
        assert!(distance(&x, &[3.0 * x2 + 3.0_f64.sin(), x2]) < 1e-6, "{name}: {x:?}");
    }
}

equations!(TurningConstraint, 4, 3, |t, E, A, b| {
    // x' = λ (cos t, sin t) + f, the constraint x·(cos t, sin t) = c(t) twice; the solution is (sin 2t, cos 3t, sin t)
    let (s, c) = t.sin_cos();
    let x = [(t * 2.0).sin(), (t * 3.0).cos(), s];
    let xdot = [(t * 2.0).cos() * 2.0, (t * 3.0).sin() * -3.0];
    for (i, direction) in [c, s].into_iter().enumerate() {
        E[(i, i)] = S::from(1.0);
        A[(i, 2)] = direction;
        A[(i, i)] = S::from(-1.0);
        b[i] = xdot[i] - direction * x[2] + x[i];
        for row in 2..4 {
            let factor = (row - 1) as f64;
            A[(row, i)] = direction * factor;
            b[row] -= direction * x[i] * factor;
        }
    }
});

#[test]
fn integrators_follow_a_constraint_that_turns_several_times() {
    assert_eq!(analysed(Differentiated::new(TurningConstraint), 0.3), values(1, 1, 2, 1, 0));
    let exact = |t: f64| [(2.0 * t).sin(), (3.0 * t).cos(), t.sin()];
    for (name, method) in both() {
        let (x, constraint) =
            run(gelda(TurningConstraint, 0.0), &*method, (0.0, &exact(0.0)), 20.0, &tolerance(1e-8)).unwrap();
        let error = distance(&x, &exact(20.0));
        assert!(error < 2e-6, "{name}: error {error:e}");
        // as far as Newton's iteration goes
        assert!(constraint < 1e-7, "{name}: constraint {constraint:e}");
    }
}

#[test]
fn what_is_undetermined_is_held_by_integrators() {
    // x₁' = x₂ with x₂ = 2 held
    for (name, method) in both() {
        let problem = constant(&matrix(&[&[1.0, 0.0]]), &matrix(&[&[0.0, 1.0]]));
        let system = Gelda::new(problem, 0.0, GeldaOptions::default()).unwrap();
        let (x, _) = run(system, &*method, (0.0, &[1.0, 2.0]), 3.0, &tolerance(1e-9)).unwrap();
        assert!(distance(&x, &[7.0, 2.0]) < 1e-7, "{name}: {x:?}");
    }
}

#[test]
fn integrators_stop_where_the_characteristic_values_change() {
    for (name, method) in both() {
        let stopped = run(gelda(LosesADerivative, 0.0), &*method, (0.0, &[1.0]), 1.0, &tolerance(1e-6));
        let change = matches!(stopped, Err(StepFailure::CharacteristicChange { t, .. }) if t > 0.999);
        assert!(change, "{name}: {stopped:?}");
    }
}

#[test]
fn bdf_has_its_order_on_a_problem_of_index_two() {
    let exact = |t: f64| [(2.0 * t).sin(), (3.0 * t).cos(), t.sin()];
    for order in 1..=3 {
        let error = |h: f64| {
            let mut system = gelda(TurningConstraint, 0.0);
            let point = system.consistent(0.0, &exact(0.0), Keep::LeastChange).unwrap();
            let method =
                Bdf { max_order: order, max_newton: 50, newton_tolerance: 1e-4, steps: Steps::Fixed, ..Bdf::default() };
            let options = Options { h0: Some(h), ..tolerance(1e-10) };
            let past: Vec<State> =
                (1..order).map(|k| State { t: -h * k as f64, x: exact(-h * k as f64).to_vec() }).collect();
            let mut stepper = method.start_with_history(Box::new(system), point, &past, &options).unwrap();
            while stepper.state().t < 1.0 {
                stepper.advance(1.0).unwrap();
            }
            distance(&stepper.state().x, &exact(1.0))
        };
        let observed = (error(0.01) / error(0.005)).log2();
        assert!((observed - order as f64).abs() < 0.25, "order {order}: {observed}");
    }
}
