//! Consistent states when a mode is entered: which part of a state is kept, and which may change.

use crate::random::Random;
use crate::systems;
use daedal::Bdf;
use daedal::RadauIIa;
use daedal::dae::{Dae, Equations, Form, Formulas, Pencil, Prepared, System, prepare};
use daedal::dae::{Gelda, GeldaOptions, Keep};
use daedal::graph::Interpreted;
use daedal::hybrid::{EnterError, Restart, make_consistent};
use daedal::linalg::{Jacobian, Mat, Matrix, RankRule};
use daedal::linear::ConstantCoefficients;
use daedal::method::{Integrator, State};
use daedal::scalar::Scalar;
use daedal::{Initial, Options, StepFailure};

/// Without kept components and weights.
fn restarted(dae: &mut dyn Dae, guess: &[f64], restart: Restart) -> Result<Vec<f64>, EnterError> {
    keeping(dae, guess, restart, &[])
}

fn keeping(dae: &mut dyn Dae, guess: &[f64], restart: Restart, kept: &[usize]) -> Result<Vec<f64>, EnterError> {
    let names: Vec<String> = kept.iter().map(|j| format!("x.{j}")).collect();
    let kept: Vec<(usize, &str)> = kept.iter().copied().zip(names.iter().map(String::as_str)).collect();
    let mut x = guess.to_vec();
    let mut xdot = vec![0.0; x.len()];
    make_consistent(dae, 0.0, &mut x, &mut xdot, restart, &kept, &vec![1.0; guess.len()], RankRule::default())
        .map(|()| x)
}

fn close(x: &[f64], y: &[f64], tolerance: f64) -> bool {
    x.len() == y.len() && x.iter().zip(y).all(|(x, y)| (x - y).abs() <= tolerance)
}

#[allow(clippy::type_complexity)] // rows as pairs of column and value
fn linear(rows: &[(&[(usize, f64)], &[(usize, f64)], f64)]) -> Gelda<ConstantCoefficients<Vec<Vec<f64>>>> {
    let n = rows.len();
    let (mut E, mut A, mut b) = (Matrix::zeros(n, n), Matrix::zeros(n, n), Vec::new());
    for (i, (e, a, inhomogeneity)) in rows.iter().enumerate() {
        e.iter().for_each(|&(j, value)| E[(i, j)] = value);
        a.iter().for_each(|&(j, value)| A[(i, j)] = value);
        b.push(vec![*inhomogeneity]);
    }
    Gelda::new(ConstantCoefficients::new(E, A, b), 0.0, GeldaOptions::default()).unwrap()
}

/// Boost converter with open switch and conducting diode: (vC, iL, vS, vD, iR, iS, iD). Wunderlich (2008), 7.2.1.
fn boost() -> Gelda<ConstantCoefficients<Vec<Vec<f64>>>> {
    let (Vi, R, C, L) = (48.0, 2.0, 1e-2, 1.0);
    linear(&[
        (&[(0, C)], &[(6, 1.0), (4, -1.0)], 0.0),
        (&[(1, L)], &[(2, 1.0)], -Vi),
        (&[], &[(3, 1.0), (0, 1.0), (2, 1.0)], 0.0),
        (&[], &[(4, R), (0, -1.0)], 0.0),
        (&[], &[(5, 1.0), (1, 1.0), (6, -1.0)], 0.0),
        (&[], &[(5, 1.0)], 0.0),
        (&[], &[(3, 1.0)], 0.0),
    ])
}

#[test]
fn the_boost_converter_starts_where_it_should() {
    let guess = [10.0; 7];
    let x = restarted(&mut boost(), &guess, Restart::LeastChange).unwrap();
    let v = 20.0 / 9.0;
    assert!(close(&x, &[v, 10.0, -v, 0.0, 10.0 / 9.0, 0.0, 10.0], 1e-12), "{x:?}");
    let x = restarted(&mut boost(), &guess, Restart::Differential).unwrap();
    assert!(close(&x, &[10.0, 10.0, -10.0, 0.0, 5.0, 0.0, 10.0], 1e-12), "{x:?}");
    // and what is consistent does not move
    for restart in [Restart::LeastChange, Restart::Differential, Restart::Weighted, Restart::Tangential] {
        assert_eq!(restarted(&mut boost(), &x, restart).unwrap(), x);
    }
    let refused = restarted(&mut boost(), &guess, Restart::Momentum);
    assert_eq!(refused, Err(EnterError::NoMomentum));
}

#[test]
fn weights_say_which_component_moves() {
    // m₁v₁' = λ, m₂v₂' = −λ, v₁ = v₂
    let mut system = linear(&[
        (&[(0, 1.0)], &[(2, 1.0)], 0.0),
        (&[(1, 3.0)], &[(2, -1.0)], 0.0),
        (&[], &[(0, 1.0), (1, -1.0)], 0.0),
    ]);
    let (mut x, mut xdot) = ([1.0, 0.0, 0.0], [0.0; 3]);
    make_consistent(&mut system, 0.0, &mut x, &mut xdot, Restart::Weighted, &[], &[3.0, 1.0, 1.0], RankRule::default())
        .unwrap();
    // (9·1 + 1·0)/10
    assert!(close(&x, &[0.9, 0.9, 0.0], 1e-14), "{x:?}");
    // M6: the least change, and the differential part m₁²v₁ + m₂²v₂
    let x = restarted(&mut system, &[1.0, 0.0, 0.0], Restart::LeastChange).unwrap();
    assert!(close(&x, &[0.5, 0.5, 0.0], 1e-14), "{x:?}");
    let x = restarted(&mut system, &[1.0, 0.0, 0.0], Restart::Differential).unwrap();
    assert!(close(&x, &[0.1, 0.1, 0.0], 1e-14), "{x:?}");
}

/// x' = u, y' = v, u' = −λx, v' = −λy − g, 0 = x² + y² − 1.
struct Pendulum;

impl Equations for Pendulum {
    fn dim(&self) -> usize {
        5
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] - x[2];
        r[1] = xdot[1] - x[3];
        r[2] = xdot[2] + x[4] * x[0];
        r[3] = xdot[3] + x[4] * x[1] + 9.81;
        r[4] = x[0].square() + x[1].square() - 1.0;
    }
}

const FORMS: [Form; 2] = [Form::QuasiLinear, Form::DerivativeArray];
const GUESS: [f64; 5] = [0.9, -0.3, 0.1, 0.2, 0.0];

fn pendulum(form: Form) -> Prepared {
    // at rest, hanging to the side
    let prepared = prepare(&System::of(&Pendulum), &Initial::new(0.0, &[0.8, -0.6, 0.0, 0.0, 5.886]), form).unwrap();
    assert_eq!((prepared.unknowns.form, prepared.at.x.len()), (form, 5));
    prepared
}

/// All three levels of the constraint.
fn pendulum_residual(x: &[f64]) -> f64 {
    let [x, y, u, v, lambda] = x else { return f64::NAN };
    let levels = [x * x + y * y - 1.0, x * u + y * v, u * u + v * v - lambda * (x * x + y * y) - 9.81 * y];
    levels.iter().fold(0.0, |most, r| r.abs().max(most))
}

#[test]
fn a_pendulum_is_put_onto_all_its_constraints() {
    for form in FORMS {
        for restart in [Restart::Differential, Restart::LeastChange, Restart::Weighted, Restart::Tangential] {
            let x = restarted(&mut *pendulum(form).dae, &GUESS, restart).unwrap();
            assert!(pendulum_residual(&x) < 1e-13, "{form:?} {restart:?}: {x:?}, {:e}", pendulum_residual(&x));
            // once more: it stays
            let again = restarted(&mut *pendulum(form).dae, &x, restart).unwrap();
            assert!(close(&x, &again, if form == Form::QuasiLinear { 0.0 } else { 1e-14 }), "{form:?} {restart:?}");
        }
        // an independent pair stays
        let x = restarted(&mut *pendulum(Form::QuasiLinear).dae, &GUESS, Restart::Differential).unwrap();
        assert_eq!(x.iter().zip(&GUESS).filter(|(x, guess)| x == guess).count(), 2, "{x:?}");
    }
}

#[test]
fn what_lies_along_the_constraints_stays() {
    for form in FORMS {
        let near = restarted(&mut *pendulum(form).dae, &GUESS, Restart::LeastChange).unwrap();
        let x = restarted(&mut *pendulum(form).dae, &GUESS, Restart::Tangential).unwrap();
        // gradients at the nearest state, by hand
        let C = Mat::from_fn(3, 5, |i, j| {
            let [x, y, u, v, lambda] = near[..] else { unreachable!() };
            let rows = [
                [x, y, 0.0, 0.0, 0.0],
                [u, v, x, y, 0.0],
                [-2.0 * lambda * x, -2.0 * lambda * y - 9.81, 2.0 * u, 2.0 * v, -1.0],
            ];
            rows[i][j]
        });
        let change = Mat::from_fn(5, 1, |j, _| x[j] - GUESS[j]);
        let kernel = daedal::linalg::Ranks::default().subspaces(&C, 0.0).unwrap().kernel;
        let along = (kernel.transpose() * &change).norm_max();
        assert!(along < 1e-14, "{form:?}: {along:e}");
        // the least change alone does not do it
        let change = Mat::from_fn(5, 1, |j, _| near[j] - GUESS[j]);
        assert!((kernel.transpose() * change).norm_max() > 1e-3);
    }
}

#[test]
fn components_are_kept_if_the_constraints_allow_it() {
    for form in FORMS {
        for restart in [Restart::Differential, Restart::LeastChange, Restart::Tangential] {
            for kept in [&[0, 2][..], &[4]] {
                let x = keeping(&mut *pendulum(form).dae, &GUESS, restart, kept).unwrap();
                assert!(pendulum_residual(&x) < 1e-13, "{form:?} {restart:?} {kept:?}: {x:?}");
                assert!(kept.iter().all(|&j| x[j] == GUESS[j]), "{form:?} {restart:?} {kept:?}: {x:?}");
            }
            let refused = keeping(&mut *pendulum(form).dae, &GUESS, restart, &[0, 1]);
            let Err(EnterError::Kept { names, equations }) = refused else { panic!("{form:?}: {refused:?}") };
            assert_eq!((names, equations.len()), (vec!["x.0".into(), "x.1".into()], 1), "{form:?}");
        }
    }
}

#[test]
fn far_states_are_reached_or_refused() {
    // from far away and the other side
    for guess in [[-3.0, 0.5, 1.0, 4.0, -20.0], [0.01, 0.02, 3.0, -3.0, 100.0], [0.0, 40.0, 0.0, 0.0, 0.0]] {
        let x = restarted(&mut *pendulum(Form::QuasiLinear).dae, &guess, Restart::LeastChange).unwrap();
        assert!(pendulum_residual(&x) < 1e-11, "{guess:?}: {x:?} {:e}", pendulum_residual(&x));
    }
    // x = 3 does not exist on a circle of radius one
    let refused =
        keeping(&mut *pendulum(Form::QuasiLinear).dae, &[3.0, 0.1, 0.0, 0.0, 0.0], Restart::LeastChange, &[0]);
    let Err(EnterError::NotConsistent { residual, equations, kept }) = refused else { panic!("{refused:?}") };
    assert!(residual > 0.1 && equations.len() == 1 && kept == ["x.0"], "{residual} {equations:?} {kept:?}");
    let short = restarted(&mut *pendulum(Form::QuasiLinear).dae, &[1.0; 4], Restart::LeastChange);
    assert_eq!(short, Err(EnterError::Length { given: 4, wanted: 5 }));
    let missing = restarted(&mut boost(), &[f64::NAN; 7], Restart::Differential);
    assert_eq!(missing, Err(EnterError::Step(StepFailure::Undefined { t: 0.0 })));
}

/// x₁' + x₂' = −x₁, twice, the second time with 0 = x₁ − x₂³ added: the rows do not show the constraint.
struct Sum;

impl Equations for Sum {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] + xdot[1] + x[0];
        r[1] = (xdot[0] + xdot[1] + x[0]) * 3.0 + x[0] - x[1] * x[1].square();
    }
}

#[test]
fn constraints_inside_of_rows_with_derivatives_are_found() {
    let system = System::of(&Sum);
    for restart in [Restart::Differential, Restart::LeastChange] {
        let mut plain = prepare(&system, &Initial::new(0.0, &[1.0, 1.0]), Form::Plain).unwrap();
        assert_eq!(plain.unknowns.form, Form::Plain);
        let x = restarted(&mut *plain.dae, &[2.0, 0.5], restart).unwrap();
        assert!((x[0] - x[1].powi(3)).abs() < 1e-14, "{restart:?}: {x:?}");
        if restart == Restart::Differential {
            assert!((x[0] + x[1] - 2.5).abs() < 1e-14, "{x:?}");
        }
    }
}

/// x₁' = x₃, x₂' = −x₁, 0 = x₃³ + x₃ + x₁x₄ − 4, 0 = x₄ + x₂x₃ + 1.
struct Nonlinear;

impl Equations for Nonlinear {
    fn dim(&self) -> usize {
        4
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = x[3] + x[1] * x[2] + 1.0;
        r[1] = xdot[0] - x[2];
        r[2] = x[2] * x[2].square() + x[2] + x[0] * x[3] - 4.0;
        r[3] = xdot[1] * 2.0 + x[0];
    }
}

#[test]
fn sparse_and_dense_rows_give_the_same_states() {
    let guess = [0.3, -0.4, 5.0, 2.0];
    for restart in [Restart::Differential, Restart::LeastChange, Restart::Weighted, Restart::Tangential] {
        for kept in [&[][..], &[2]] {
            let [dense, sparse] = [systems::Form::Dense, systems::Form::Sparse].map(|form| {
                let mut system = systems::Differentiated::new(Nonlinear, &[0, 2], form);
                keeping(&mut system, &guess, restart, kept).unwrap()
            });
            let mut r = [0.0; 4];
            Nonlinear.residual(0.0, &sparse, &[0.0; 4], &mut r);
            assert!(r[0].abs() < 1e-13 && r[2].abs() < 1e-12, "{restart:?} {kept:?}: {r:?}");
            assert!(kept.iter().all(|&j| sparse[j] == guess[j]));
            assert!(close(&dense, &sparse, 1e-12), "{restart:?} {kept:?}: {dense:?} {sparse:?}");
            if restart == Restart::Differential && kept.is_empty() {
                assert_eq!((&dense[..2], &sparse[..2]), (&guess[..2], &guess[..2]));
            }
        }
    }
}

#[test]
fn bookkeeping_changes_as_it_must() {
    // x₁ + x₂ = 4 and x₃ = x₁ − 5 x₂: if x₃ does not count, x₁ and x₂ share the change
    struct Shares;
    impl Equations for Shares {
        fn dim(&self) -> usize {
            3
        }
        fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
            r[0] = xdot[0] + x[0];
            r[1] = x[0] + x[1] - 4.0;
            r[2] = x[2] - x[0] + x[1] * 5.0;
        }
    }
    for restart in [Restart::LeastChange, Restart::Tangential] {
        let mut system = systems::Differentiated::new(Shares, &[1, 2], systems::Form::Dense);
        let all = restarted(&mut system, &[1.0, 1.0, 0.0], restart).unwrap();
        system.bookkeeping = Some(2);
        let x = restarted(&mut system, &[1.0, 1.0, 0.0], restart).unwrap();
        assert!(close(&x, &[2.0, 2.0, -8.0], 1e-14), "{restart:?}: {x:?}");
        assert!((all[0] - 2.0).abs() > 0.5, "{restart:?}: {all:?}");
    }
}

/// Rows with derivatives and constraints of a system at a point.
fn parts(dae: &mut dyn Dae, x: &[f64]) -> (Mat<f64>, Mat<f64>) {
    let mut pencil = dae.new_pencil();
    let n = x.len();
    dae.pencil(0.0, x, &vec![0.0; n], &mut pencil).unwrap();
    let Pencil { E, A } = &pencil;
    let (constraints, rest): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| dae.algebraic(i));
    let pick = |M: &Jacobian, rows: &[usize]| Mat::from_fn(rows.len(), n, |i, j| M[(rows[i], j)]);
    (pick(E, &rest), pick(A, &constraints))
}

#[test]
fn random_linear_systems_keep_their_differential_part_or_move_to_the_nearest_state() {
    let mut random = Random(5);
    let mut jumped = 0;
    for case in 0..40 {
        // E = P diag(I, N) Q, A = P diag(J, I) Q with N nilpotent of index up to three
        let (d, k) = (1 + random.below(3), 1 + random.below(3));
        let n = d + k;
        let (P, Q) = (random.orthogonal(n), random.orthogonal(n));
        let J = random.matrix(d, d);
        let N = |i: usize, j: usize| if j == i + 1 { 1.0 } else { 0.0 };
        let E0 = Mat::from_fn(n, n, |i, j| match (i < d, j < d) {
            (true, true) => f64::from(u8::from(i == j)),
            (false, false) => N(i - d, j - d),
            _ => 0.0,
        });
        let A0 = Mat::from_fn(n, n, |i, j| if i < d && j < d { J[(i, j)] } else { f64::from(u8::from(i == j)) });
        let (E, A) = (&P * E0 * &Q, &P * A0 * &Q);
        let matrix = |M: &Mat<f64>| {
            let mut out = Matrix::zeros(n, n);
            (0..n).for_each(|i| (0..n).for_each(|j| out[(i, j)] = M[(i, j)]));
            out
        };
        let b: Vec<Vec<f64>> = (0..n).map(|_| vec![random.real(), random.real(), random.real()]).collect();
        let coefficients = ConstantCoefficients::new(matrix(&E), matrix(&A), b);
        let mut gelda = Gelda::new(coefficients, 0.0, GeldaOptions::default()).unwrap();
        assert_eq!(gelda.values().a, k);
        let guess: Vec<f64> = (0..n).map(|_| 3.0 * random.real()).collect();
        let column = |x: &[f64]| Mat::from_fn(n, 1, |j, _| x[j]);

        let x = restarted(&mut gelda, &guess, Restart::Differential).unwrap();
        let as_before = gelda.consistent(0.0, &guess, Keep::DifferentialPart).unwrap().x;
        assert!(close(&x, &as_before, 1e-11), "case {case}: {x:?} {as_before:?}");
        let E1 = gelda.differential_part().unwrap();
        let kept = Mat::from_fn(d, n, |i, j| E1[(i, j)]) * (column(&x) - column(&guess));
        assert!(kept.norm_max() < 1e-13, "case {case}");
        let mut r = vec![0.0; n];
        gelda.residual(0, 0.0, &x, &vec![0.0; n], &mut r).unwrap();
        assert!((d..n).all(|i| r[i].abs() < 1e-13), "case {case}: {r:?}");

        // the change is orthogonal to all directions along the constraints
        let x = restarted(&mut gelda, &guess, Restart::LeastChange).unwrap();
        let (_, A2) = parts(&mut gelda, &x);
        let change = column(&x) - column(&guess);
        let kernel = daedal::linalg::Ranks::default().subspaces(&A2, 0.0).unwrap().kernel;
        assert!((kernel.transpose() * &change).norm_max() < 1e-13, "case {case}");
        gelda.residual(0, 0.0, &x, &vec![0.0; n], &mut r).unwrap();
        assert!((d..n).all(|i| r[i].abs() < 1e-13), "case {case}: {r:?}");
        jumped += usize::from(change.norm_max() > 0.1);
    }
    assert!(jumped > 30);
}

#[test]
fn a_kept_component_leaves_the_differential_part_as_near_as_possible() {
    // x₁' = −x₁, x₂' = −x₂, x₁ + x₂ + x₃ = 3 with x₃ kept: the change of (x₁, x₂) is the smallest
    let mut system = linear(&[
        (&[(0, 1.0)], &[(0, -1.0)], 0.0),
        (&[(1, 1.0)], &[(1, -1.0)], 0.0),
        (&[], &[(0, 1.0), (1, 1.0), (2, 1.0)], -3.0),
    ]);
    let x = keeping(&mut system, &[1.0, 2.0, 2.0], Restart::Differential, &[2]).unwrap();
    assert!(close(&x, &[0.0, 1.0, 2.0], 1e-14), "{x:?}");
}

#[test]
fn a_run_goes_on_behind_a_jump_to_the_other_side() {
    let methods: [Box<dyn Integrator>; 2] = [Box::new(RadauIIa::default()), Box::new(Bdf::default())];
    for method in &methods {
        for form in FORMS {
            let Prepared { dae, at, .. } = pendulum(form);
            let mut stepper = method.start(dae, at, &Options::default()).unwrap();
            while stepper.state().t < 0.1 {
                stepper.advance(0.1).unwrap();
            }
            // to the opposite point: the chord passes the singular centre
            let [x, y, u, v, _] = stepper.state().x[..] else { unreachable!() };
            let there = vec![-x, -y, u, v, u * u + v * v + 9.81 * y];
            assert!(pendulum_residual(&there) < 1e-9);
            stepper.restart(State { t: 0.1, x: there.clone() });
            while stepper.state().t < 0.2 {
                stepper.advance(0.2).unwrap();
            }
            let end = &stepper.state().x;
            assert!(pendulum_residual(end) < 1e-9 && (end[0] - there[0]).abs() < 0.3, "{form:?}: {end:?}");
        }
    }
}

/// x x' = 1.
struct Root;

impl Equations for Root {
    fn dim(&self) -> usize {
        1
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = x[0] * xdot[0] - 1.0;
    }
}

#[test]
fn a_jump_over_a_singular_leading_matrix_is_no_passage() {
    let Prepared { dae, at, .. } = prepare(&System::of(&Root), &Initial::new(0.0, &[1.0]), Form::Plain).unwrap();
    let mut stepper = RadauIIa::default().start(dae, at, &Options::default()).unwrap();
    while stepper.state().t < 0.5 {
        stepper.advance(0.5).unwrap();
    }
    stepper.restart(State { t: 0.5, x: vec![-2.0] });
    while stepper.state().t < 1.0 {
        stepper.advance(1.0).unwrap();
    }
    // x² = 4 + 2 (t − 0.5)
    assert!((stepper.state().x[0] + 5.0_f64.sqrt()).abs() < 1e-5);
}

#[test]
fn invariants_take_the_values_of_the_new_state() {
    // a pendulum that keeps its energy
    let mut formulas = Formulas::trace(&Pendulum);
    let [y, u, v] = [1, 2, 3].map(|j| formulas.input(j, 0).unwrap());
    let energy = formulas.graph.with(|| (u.square() + v.square()) * 0.5 + y * 9.81);
    formulas.invariants.push(("energy".into(), energy));
    let energy = |x: &[f64]| 0.5 * (x[2] * x[2] + x[3] * x[3]) + 9.81 * x[1];
    let system = System::new(&formulas, Interpreted);
    let initial = Initial::new(0.0, &[0.8, -0.6, 0.0, 0.0, 5.886]);
    let Prepared { mut dae, at, .. } = prepare(&system, &initial, Form::QuasiLinear).unwrap();
    for restart in [Restart::LeastChange, Restart::Tangential] {
        // the same state as without the invariant
        let x = restarted(&mut *dae, &GUESS, restart).unwrap();
        let without = restarted(&mut *pendulum(Form::QuasiLinear).dae, &GUESS, restart).unwrap();
        assert!(close(&x, &without, 1e-14), "{x:?} {without:?}");
    }
    let x = restarted(&mut *dae, &GUESS, Restart::Differential).unwrap();
    assert!(pendulum_residual(&x) < 1e-13, "{x:?}");
    assert!((energy(&x) - energy(&at.x)).abs() > 1.0);
    let mut stepper = RadauIIa::default().start(dae, at, &Options::default()).unwrap();
    stepper.restart(State { t: 0.0, x: x.clone() });
    while stepper.state().t < 1.0 {
        stepper.advance(1.0).unwrap();
    }
    let lost = (energy(&stepper.state().x) - energy(&x)).abs();
    assert!(lost < 1e-8, "{lost:e}");
}
