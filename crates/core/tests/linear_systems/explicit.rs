//! Linear differential-algebraic equations with known answers. T1.1–T1.6 and M6, M7: Wunderlich, thesis (2008); E2, E3, T1, T18: Hairer
//! & Wanner, Solving ODEs II, VII; examples 3.2.16, 3.5.34, 3.5.35, 3.5.60: Steinbrecher, thesis (2006).

use daedal::dae::{CharacteristicValues, Dae, Pencil};
use daedal::error::StepFailure;
use daedal::linalg::{Lu, Matrix, eigenvalues};
use daedal::linear::*;
use daedal::method::bdf::{Bdf, Steps};
use daedal::method::radau::RadauIIa;
use daedal::method::{Integrator, StartFailure, State};
use daedal::scalar::Scalar;
use daedal::{Options, Tolerance};

const TOLERANCE: f64 = 1e-11;

fn matrix(rows: &[&[f64]]) -> Matrix {
    let mut A = Matrix::zeros(rows.len(), rows.first().map_or(0, |row| row.len()));
    for (i, row) in rows.iter().enumerate() {
        A.row_mut(i).copy_from_slice(row);
    }
    A
}

fn values(mu: usize, d: usize, a: usize, v: usize, u: usize) -> CharacteristicValues {
    CharacteristicValues { mu, d, a, v, u }
}

fn product(A: &Matrix, B: &Matrix) -> Matrix {
    let mut C = Matrix::zeros(A.rows(), B.cols());
    for i in 0..A.rows() {
        for k in 0..A.cols() {
            for j in 0..B.cols() {
                C[(i, j)] += A[(i, k)] * B[(k, j)];
            }
        }
    }
    C
}

fn times(A: &Matrix, x: &[f64]) -> Vec<f64> {
    (0..A.rows()).map(|i| A.row(i).iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

fn distance(A: &[f64], B: &[f64]) -> f64 {
    assert_eq!(A.len(), B.len());
    A.iter().zip(B).fold(0.0, |y, (a, b)| y.max((a - b).abs()))
}

/// The values by projections and by the recursion, which must agree.
fn analysed<C: Coefficients>(mut problem: C, t: f64) -> CharacteristicValues {
    let options = RankOptions::default();
    let found = strangeness_free(&mut problem, t, &options).unwrap();
    assert_eq!(invariants_by_recursion(&mut problem, t, &options).unwrap(), found.values);
    // [E₁; A₂] has full row rank, and the reduced pair no strangeness
    let CharacteristicValues { d, a, v, u, .. } = found.values;
    let m = problem.rows();
    let (mut E, mut A) = (Matrix::zeros(m, problem.dim()), Matrix::zeros(m, problem.dim()));
    for i in 0..d {
        E.row_mut(i).copy_from_slice(found.system.E1.row(i));
        A.row_mut(i).copy_from_slice(found.system.A1.row(i));
    }
    for i in 0..a {
        A.row_mut(d + i).copy_from_slice(found.system.A2.row(i));
    }
    let local = local_invariants(&E, &A, TOLERANCE).unwrap();
    assert_eq!(local, LocalInvariants { r: d, a, s: 0, d, u, v });
    found.values
}

fn constant(E: &Matrix, A: &Matrix) -> ConstantCoefficients<()> {
    ConstantCoefficients::new(E.clone(), A.clone(), ())
}

fn constant_values(E: &[&[f64]], A: &[&[f64]]) -> CharacteristicValues {
    analysed(constant(&matrix(E), &matrix(A)), 0.0)
}

/// Equations written for every scalar `S`, at a time `t`.
macro_rules! equations {
    ($name:ident, $m:expr, $n:expr, |$t:ident, $E:ident, $A:ident, $b:ident| $body:block) => {
        #[derive(Clone)]
        struct $name;
        impl LinearEquations for $name {
            fn dim(&self) -> usize {
                $n
            }
            fn rows(&self) -> usize {
                $m
            }
            fn coefficients<S: Scalar>(&self, $t: S, $E: &mut Matrix<S>, $A: &mut Matrix<S>, $b: &mut [S]) $body
        }
    };
}

equations!(FreeBehindRegularPencils, 2, 2, |t, E, A, _b| {
    E[(0, 0)] = -t;
    E[(0, 1)] = t * t;
    E[(1, 0)] = S::from(-1.0);
    E[(1, 1)] = t;
    A[(0, 0)] = S::from(-1.0);
    A[(1, 1)] = S::from(-1.0);
});

#[test]
fn t1_1_regular_frozen_pencils_hide_a_free_unknown() {
    for t in [-1.0, 0.0, 0.5, 3.0] {
        assert_eq!(analysed(Differentiated::new(FreeBehindRegularPencils), t), values(1, 0, 1, 1, 1));
        let mut data = TaylorData::new(2, 2, 0);
        Differentiated::new(FreeBehindRegularPencils).taylor(t, 0, &mut data).unwrap();
        let local = local_invariants(&data.E[0], &data.A[0], TOLERANCE).unwrap();
        assert_eq!(local, LocalInvariants { r: 1, a: 0, s: 1, d: 0, u: 1, v: 0 });
        // det(λE − A) = 1 for every frozen pencil
        assert!(RegularPencil::new(&data.E[0], &data.A[0], TOLERANCE).is_ok());
    }
}

equations!(UniqueBehindSingularPencils, 2, 2, |t, E, A, b| {
    E[(1, 0)] = S::from(1.0);
    E[(1, 1)] = -t;
    A[(0, 0)] = S::from(-1.0);
    A[(0, 1)] = t;
    b[0] = t.sin();
    b[1] = t.exp();
});

#[test]
fn t1_2_singular_frozen_pencils_hide_a_unique_solution() {
    // also example 3.2.16, and M7 with b = (sin t, eᵗ)
    for t in [-0.7_f64, 0.0, 0.4, 2.0] {
        assert_eq!(analysed(Differentiated::new(UniqueBehindSingularPencils), t), values(1, 0, 2, 0, 0));
        let mut data = TaylorData::new(2, 2, 0);
        Differentiated::new(UniqueBehindSingularPencils).taylor(t, 0, &mut data).unwrap();
        let local = local_invariants(&data.E[0], &data.A[0], TOLERANCE).unwrap();
        assert_eq!((local.r, local.a, local.s), (1, 0, 1));
        let refused = RegularPencil::new(&data.E[0], &data.A[0], TOLERANCE);
        assert_eq!(refused.unwrap_err(), PencilError::Singular);
        // any start is projected onto the solution, and the derivative is the solution's
        let mut system =
            Gelda::new(Differentiated::new(UniqueBehindSingularPencils), t, GeldaOptions::default()).unwrap();
        let point = system.consistent(t, &[3.0, -5.0], Keep::LeastChange).unwrap();
        let (x2, x2dot) = (t.exp() - t.cos(), t.exp() + t.sin());
        assert!(distance(&point.x, &[t * x2 + t.sin(), x2]) < 1e-13);
        assert!(distance(&point.xdot, &[x2 + t * x2dot + t.cos(), x2dot]) < 1e-12);
    }
}

#[test]
fn t1_3_one_unknown_in_two_equations_and_two_in_one() {
    assert_eq!(constant_values(&[&[1.0], &[0.0]], &[&[0.0], &[1.0]]), values(1, 0, 1, 1, 0));
    let local = local_invariants(&matrix(&[&[1.0], &[0.0]]), &matrix(&[&[0.0], &[1.0]]), TOLERANCE).unwrap();
    assert_eq!((local.r, local.a, local.s), (1, 0, 1));
    assert_eq!(constant_values(&[&[1.0, 0.0]], &[&[0.0, 1.0]]), values(0, 1, 0, 0, 1));
}

/// M x'' + C x' + K x = f as x' = y, M y' = −C y − K x + f.
fn companion<S: Scalar>(M: [[S; 3]; 3], C: [[S; 3]; 3], K: [[S; 3]; 3], E: &mut Matrix<S>, A: &mut Matrix<S>) {
    for i in 0..3 {
        E[(i, i)] = S::from(1.0);
        A[(i, 3 + i)] = S::from(1.0);
        for j in 0..3 {
            E[(3 + i, 3 + j)] = M[i][j];
            A[(3 + i, 3 + j)] = -C[i][j];
            A[(3 + i, j)] = -K[i][j];
        }
    }
}

equations!(Companion, 6, 6, |t, E, A, b| {
    let (o, i) = (S::from(0.0), S::from(1.0));
    let M = [[t, o, o], [o, i, i], [o, t, t]];
    let C = [[i, o, o], [o, o, o], [o, o, o]];
    let K = [[i, o, o], [o, i, o], [o, t + 1.0, i]];
    companion(M, C, K, E, A);
    // x = (sin t, cos 2t, e^{−t})
    let (x, x1) = ([t.sin(), (t * 2.0).cos(), (-t).exp()], [t.cos(), (t * 2.0).sin() * -2.0, -(-t).exp()]);
    let x2 = [-t.sin(), (t * 2.0).cos() * -4.0, (-t).exp()];
    for r in 0..3 {
        for c in 0..3 {
            b[3 + r] += M[r][c] * x2[c] + C[r][c] * x1[c] + K[r][c] * x[c];
        }
    }
});

#[test]
fn t1_4_the_companion_form_of_example_3_23_has_index_three() {
    for t in [0.5, 1.0, 1.7] {
        assert_eq!(analysed(Differentiated::new(Companion), t), values(3, 2, 4, 0, 0));
    }
    // T2.3: the solution satisfies the reduced system
    let t: f64 = 1.3;
    let found = strangeness_free(&mut Differentiated::new(Companion), t, &RankOptions::default()).unwrap();
    let x = [t.sin(), (2.0 * t).cos(), (-t).exp(), t.cos(), -2.0 * (2.0 * t).sin(), -(-t).exp()];
    let residual = times(&found.system.A2, &x);
    assert!(distance(&residual, &found.system.b2.iter().map(|b| -b).collect::<Vec<f64>>()) < 1e-12);
}

#[test]
fn t1_6_an_inconsistent_start_jumps_and_leaves_an_impulse() {
    let (E, A) = (matrix(&[&[0.0, 1.0], &[0.0, 0.0]]), matrix(&[&[1.0, 0.0], &[0.0, 1.0]]));
    let pencil = RegularPencil::new(&E, &A, TOLERANCE).unwrap();
    assert_eq!(pencil.index(), 2);
    let start = pencil.inconsistent_start(&[5.0, 2.0], &[vec![1.0, 3.0], vec![0.0, 4.0]]).unwrap();
    assert!(distance(&start.value, &[-5.0, -3.0]) < 1e-14);
    assert_eq!(start.impulses.len(), 1);
    assert!(distance(&start.impulses[0], &[-5.0, 0.0]) < 1e-14);
    // derivatives that are needed and not given
    assert!(matches!(
        pencil.inconsistent_start(&[5.0, 2.0], &[vec![1.0, 3.0]]),
        Err(PencilError::Coefficients(CoefficientError::Order { wanted: 1, available: 0 }))
    ));
}

/// Finite part diag(−1, −½), nilpotent blocks of sizes 3 and 1, behind fixed regular P and Q.
fn mixed_pencil() -> (Matrix, Matrix) {
    let (mut E, mut A) = (Matrix::zeros(6, 6), Matrix::zeros(6, 6));
    (E[(0, 0)], E[(1, 1)], E[(2, 3)], E[(3, 4)]) = (1.0, 1.0, 1.0, 1.0);
    (A[(0, 0)], A[(1, 1)]) = (-1.0, -0.5);
    for i in 2..6 {
        A[(i, i)] = 1.0;
    }
    let scramble = |shift: f64| {
        let mut P = Matrix::zeros(6, 6);
        for i in 0..6 {
            for j in 0..6 {
                P[(i, j)] =
                    ((i * i + 3 * j) as f64 * 0.7 + shift * (j + 1) as f64).sin() + if i == j { 2.0 } else { 0.0 };
            }
        }
        P
    };
    let (P, Q) = (scramble(0.3), scramble(1.1));
    (product(&product(&P, &E), &Q), product(&product(&P, &A), &Q))
}

#[test]
fn t1_6_impulses_of_a_pencil_of_index_three_satisfy_their_relations() {
    let (E, A) = mixed_pencil();
    let pencil = RegularPencil::new(&E, &A, TOLERANCE).unwrap();
    assert_eq!((pencil.index(), pencil.finite_dimension()), (3, 2));
    assert_eq!(analysed(constant(&E, &A), 0.0), values(2, 2, 4, 0, 0));
    let b: Vec<Vec<f64>> = (0..3).map(|k| (0..6).map(|i| f64::from(i + 2 * k).cos()).collect()).collect();
    let x: Vec<f64> = (0..6).map(|i| (f64::from(i) * 1.3).sin()).collect();
    let start = pencil.inconsistent_start(&x, &b).unwrap();
    let [c0, c1] = &start.impulses[..] else { panic!("{} impulses", start.impulses.len()) };
    assert!(distance(&times(&E, &start.jump), &times(&A, c0)) < 1e-12);
    assert!(distance(&times(&E, c0), &times(&A, c1)) < 1e-12);
    assert!(distance(&times(&E, c1), &[0.0; 6]) < 1e-12);
    assert!(distance(c1, &[0.0; 6]) > 1e-3);
    // the value is consistent: it stays
    let again = pencil.inconsistent_start(&start.value, &b).unwrap();
    assert!(distance(&again.jump, &[0.0; 6]) < 1e-12);
    // and it satisfies the constraints of the reduced system
    let data = b.clone();
    let mut problem = Supplied::new(6, 6, 2, move |k, _t, e: &mut Matrix, a: &mut Matrix, r: &mut [f64]| {
        if k == 0 {
            let (E, A) = mixed_pencil();
            for i in 0..6 {
                e.row_mut(i).copy_from_slice(E.row(i));
                a.row_mut(i).copy_from_slice(A.row(i));
            }
        }
        r.copy_from_slice(&data[k]);
    });
    let found = strangeness_free(&mut problem, 0.0, &RankOptions::default()).unwrap();
    let residual = times(&found.system.A2, &start.value);
    assert!(distance(&residual, &found.system.b2.iter().map(|b| -b).collect::<Vec<f64>>()) < 1e-12);
}

#[test]
fn drazin_inverse_satisfies_its_three_equations() {
    let (E, A) = mixed_pencil();
    // W = (2E − A)⁻¹E
    let mut lu = Lu::<f64>::new(6);
    for i in 0..6 {
        for j in 0..6 {
            lu.A[(i, j)] = 2.0 * E[(i, j)] - A[(i, j)];
        }
    }
    lu.factor().unwrap();
    let mut W = Matrix::zeros(6, 6);
    for j in 0..6 {
        let mut column: Vec<f64> = (0..6).map(|i| E[(i, j)]).collect();
        lu.solve(&mut column);
        for i in 0..6 {
            W[(i, j)] = column[i];
        }
    }
    let X = drazin_inverse(&W, TOLERANCE).unwrap();
    let (WX, XW) = (product(&W, &X), product(&X, &W));
    assert!(distance(WX.data(), XW.data()) < 1e-11);
    assert!(distance(product(&XW, &X).data(), X.data()) < 1e-10);
    let W3 = product(&product(&W, &W), &W);
    assert!(distance(product(&X, &product(&W3, &W)).data(), W3.data()) < 1e-11);
    // Êᴰ Ê is the projector, whatever λ
    let pencil = RegularPencil::new(&E, &A, TOLERANCE).unwrap();
    let projector = pencil.projector();
    assert!(distance(XW.data(), projector.data()) < 1e-11);
    assert!(distance(product(&projector, &projector).data(), projector.data()) < 1e-11);
    // Êᴰ Â = λ Êᴰ Ê − Êᴰ
    let flow = pencil.flow();
    for i in 0..6 {
        for j in 0..6 {
            assert!((flow[(i, j)] - (2.0 * XW[(i, j)] - X[(i, j)])).abs() < 1e-10);
        }
    }
    let found = eigenvalues(&flow).unwrap();
    assert!((found[0].0 + 1.0).abs() < 1e-10 && (found[1].0 + 0.5).abs() < 1e-10);
    assert!(found[2].0.hypot(found[2].1) < 1e-3);
    // the transformations make both matrices block diagonal
    let (P, X) = pencil.transformations();
    for M in [product(&product(P, &E), X), product(&product(P, &A), X)] {
        for i in 0..4 {
            for j in 4..6 {
                assert!(M[(i, j)].abs() < 1e-11 && M[(j, i)].abs() < 1e-11);
            }
        }
    }
}

#[test]
fn the_explicit_solution_solves_the_equations() {
    // E x' = A x + b with x' by differences of the formula
    let (E, A) = mixed_pencil();
    let pencil = RegularPencil::new(&E, &A, TOLERANCE).unwrap();
    let b = |t: f64, k: usize| -> Vec<f64> {
        (0..6)
            .map(|i| {
                let omega = 0.5 + 0.3 * f64::from(i);
                omega.powi(k as i32) * (omega * t + k as f64 * std::f64::consts::FRAC_PI_2).sin()
            })
            .collect()
    };
    let derivatives = |t: f64, order: usize| Ok((0..=order).map(|k| b(t, k)).collect());
    let start: Vec<f64> = (0..6).map(|i| (f64::from(i) * 1.3).sin()).collect();
    let x = |t: f64| pencil.solution(0.0, &start, t, derivatives).unwrap();
    // the start is made consistent first
    let all: Vec<Vec<f64>> = (0..3).map(|k| b(0.0, k)).collect();
    assert!(distance(&x(0.0), &pencil.consistent(&start, &all).unwrap()) < 1e-14);
    for t in [0.7, 5.0, -2.0] {
        let h = 1e-3;
        let values: Vec<Vec<f64>> = (-2..=2).map(|k| x(t + h * f64::from(k))).collect();
        let xdot: Vec<f64> = (0..6)
            .map(|i| (values[0][i] - 8.0 * values[1][i] + 8.0 * values[3][i] - values[4][i]) / (12.0 * h))
            .collect();
        let right: Vec<f64> = times(&A, &values[2]).iter().zip(&b(t, 0)).map(|(a, b)| a + b).collect();
        assert!(distance(&times(&E, &xdot), &right) < 1e-9, "t = {t}");
    }
    // a scalar problem in closed form: x' = −x + 1, x(0) = 3
    let decay = RegularPencil::new(&matrix(&[&[1.0]]), &matrix(&[&[-1.0]]), TOLERANCE).unwrap();
    let one = |_t: f64, order: usize| Ok((0..=order).map(|k| vec![if k == 0 { 1.0 } else { 0.0 }]).collect());
    let x = decay.solution(0.0, &[3.0], 4.0, one).unwrap();
    assert!((x[0] - (1.0 + 2.0 * (-4.0_f64).exp())).abs() < 1e-14);
}

/// q' = u, M u' = −K q − Gᵀλ with a constraint of n = 2 positions, m = 1.
fn mechanical(form: &str) -> (Matrix, Matrix) {
    let (M, K, G) = ([[2.0, 0.3], [0.3, 1.0]], [[3.0, -1.0], [-1.0, 2.0]], [1.0, 0.7]);
    let n = if form == "Gear–Gupta–Leimkuhler" { 6 } else { 5 };
    let (mut E, mut A) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
    for i in 0..2 {
        if form == "Gear–Gupta–Leimkuhler" {
            // M q' = M u − Gᵀμ, both constraints
            for j in 0..2 {
                E[(i, j)] = M[i][j];
                A[(i, 2 + j)] = M[i][j];
            }
            A[(i, 5)] = -G[i];
            A[(5, 2 + i)] = G[i];
        } else {
            E[(i, i)] = 1.0;
            A[(i, 2 + i)] = 1.0;
        }
        for j in 0..2 {
            E[(2 + i, 2 + j)] = M[i][j];
            A[(2 + i, j)] = -K[i][j];
        }
        A[(2 + i, 4)] = -G[i];
        A[(4, if form == "velocity" { 2 + i } else { i })] = G[i];
    }
    (E, A)
}

/// y' = Ay + Bu, v' = −Aᵀv − Cy, 0 = Bᵀv + Du with four states and two controls.
fn optimal_control(weight: f64) -> (Matrix, Matrix) {
    let (mut E, mut A) = (Matrix::zeros(10, 10), Matrix::zeros(10, 10));
    let a = |i: usize, j: usize| ((i * 5 + j * 3) as f64).sin();
    let b = |i: usize, k: usize| ((i * 2 + k * 7 + 1) as f64).cos();
    for i in 0..4 {
        E[(i, i)] = 1.0;
        E[(4 + i, 4 + i)] = 1.0;
        for j in 0..4 {
            A[(i, j)] = a(i, j);
            A[(4 + i, 4 + j)] = -a(j, i);
        }
        A[(4 + i, i)] = -(1.0 + i as f64);
        for k in 0..2 {
            A[(i, 8 + k)] = b(i, k);
            A[(8 + k, 4 + i)] = b(i, k);
        }
    }
    for k in 0..2 {
        A[(8 + k, 8 + k)] = weight;
    }
    (E, A)
}

#[test]
fn t1_index_table_of_pencils_e2_and_e3() {
    let nilpotent = (
        matrix(&[&[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0], &[0.0, 0.0, 0.0]]),
        matrix(&[&[-1.0, 0.0, 0.0], &[0.0, -1.0, 0.0], &[0.0, 0.0, -1.0]]),
    );
    let table = [
        ("E2, nilpotent block", nilpotent, 3, 0),
        ("position constraint", mechanical("position"), 3, 2),
        ("velocity constraint", mechanical("velocity"), 2, 3),
        ("both constraints", mechanical("Gear–Gupta–Leimkuhler"), 2, 2),
        ("optimal control, D = I", optimal_control(1.0), 1, 8),
        ("optimal control, D = 0", optimal_control(0.0), 3, 4),
    ];
    for (name, (E, A), index, dimension) in table {
        let pencil = RegularPencil::new(&E, &A, TOLERANCE).unwrap();
        assert_eq!((pencil.index(), pencil.finite_dimension()), (index, dimension), "{name}");
        // exercise 4: the recipe gives the same for several c
        for c in [1.3, -0.7, 2.9] {
            assert_eq!(index_by_powers(&E, &A, c, 1e-9).unwrap(), (index, dimension), "{name}, c = {c}");
        }
        let a = E.rows() - dimension;
        assert_eq!(analysed(constant(&E, &A), 0.0), values(index - 1, dimension, a, 0, 0), "{name}");
    }
}

#[test]
fn exercise_1_a_singular_pencil_is_rejected_and_an_eigenvalue_is_told() {
    let (E, A) = (matrix(&[&[1.0, 0.0], &[0.0, 0.0]]), matrix(&[&[0.0, 1.0], &[0.0, 0.0]]));
    assert_eq!(RegularPencil::new(&E, &A, TOLERANCE).unwrap_err(), PencilError::Singular);
    let I = matrix(&[&[1.0, 0.0], &[0.0, 1.0]]);
    assert_eq!(index_by_powers(&I, &I, 1.0, 1e-9).unwrap_err(), PencilError::Eigenvalue { c: 1.0 });
    assert!(matches!(RegularPencil::new(&E, &matrix(&[&[1.0]]), TOLERANCE), Err(PencilError::NotSquare { .. })));
    // a regular E has index 0
    let pencil = RegularPencil::new(&I, &A, TOLERANCE).unwrap();
    assert_eq!((pencil.index(), pencil.finite_dimension()), (0, 2));
}

#[test]
fn t18_one_fullness_of_the_acceleration_system() {
    let acceleration = |M: [[f64; 2]; 2], G: &[[f64; 2]]| {
        let k = G.len();
        let mut X = Matrix::zeros(2 + k, 2 + k);
        for i in 0..2 {
            for j in 0..2 {
                X[(i, j)] = M[i][j];
            }
            for r in 0..k {
                X[(2 + r, i)] = G[r][i];
                X[(i, 2 + r)] = G[r][i];
            }
        }
        is_one_full(&X, 2, 1e-12).unwrap()
    };
    assert!(acceleration([[1.0, 0.0], [0.0, 0.0]], &[[0.0, 1.0]]));
    assert!(acceleration([[1.0, 0.0], [0.0, 1.0]], &[[1.0, 0.0], [1.0, 0.0]]));
    assert!(!acceleration([[1.0, 0.0], [0.0, 0.0]], &[[1.0, 0.0]]));
    // exercise 2 needs M semidefinite
    assert!(!acceleration([[0.0, 1.0], [1.0, 0.0]], &[[1.0, 0.0]]));
}

#[test]
fn checked_results_of_the_characteristic_values() {
    let mut E = Matrix::zeros(4, 4);
    let mut A = Matrix::zeros(4, 4);
    for i in 0..4 {
        A[(i, i)] = 1.0;
        if i < 3 {
            E[(i, i + 1)] = 1.0;
        }
    }
    assert_eq!(analysed(constant(&E, &A), 0.0), values(3, 0, 4, 0, 0));
    // the pendulum, linearised where it hangs: (μ, d, a, v, u) = (2, 2, 3, 0, 0)
    let (E, A) = mechanical("position");
    assert_eq!(analysed(constant(&E, &A), 0.0), values(2, 2, 3, 0, 0));
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
}

equations!(StirredTank, 8, 8, |t, E, A, b| {
    // u' = G(t) u + C p + f₁, 0 = R(t) m + f₂, 0 = Cᵀu + f₃ with n_u = 4, n_m = n_p = 2; unknowns u, m, p
    let C = [[1.0, 0.0], [-1.0, 1.0], [0.5, -1.0], [0.0, 2.0]];
    for i in 0..4 {
        E[(i, i)] = S::from(1.0);
        for j in 0..4 {
            A[(i, j)] = (t * 0.5 + (i * 4 + j) as f64).sin();
        }
        for k in 0..2 {
            A[(i, 6 + k)] = S::from(C[i][k]);
            A[(6 + k, i)] = S::from(C[i][k]);
        }
        b[i] = t.cos();
    }
    A[(4, 4)] = t.sin() + 2.0;
    A[(4, 5)] = t;
    A[(5, 5)] = t.cos() + 3.0;
    b[4] = t;
    b[6] = (t * 2.0).sin();
});

#[test]
fn example_3_5_60_stirred_tank() {
    for t in [0.0, 0.8, 3.0] {
        assert_eq!(analysed(Differentiated::new(StirredTank), t), values(1, 2, 6, 0, 0));
    }
}

equations!(Symmetric, 3, 3, |t, E, A, _b| {
    E[(0, 0)] = S::from(1.0);
    E[(1, 1)] = t;
    A[(0, 2)] = t;
    A[(1, 1)] = S::from(1.0);
    A[(2, 0)] = t;
});

equations!(NotReducible, 6, 6, |t, E, A, _b| {
    for (i, j) in [(0, 2), (2, 0), (1, 3), (3, 1)] {
        E[(i, j)] = t;
    }
    for (i, j) in [(0, 4), (4, 0), (1, 5), (5, 1), (2, 2)] {
        A[(i, j)] = S::from(1.0);
    }
});

equations!(TurningKernel, 3, 3, |t, E, A, _b| {
    let (s, c) = t.sin_cos();
    let (o, i) = (S::from(0.0), S::from(1.0));
    let (p, q, e) = ([c, s, o], [-s, c, o], [o, o, i]);
    for r in 0..3 {
        for k in 0..3 {
            E[(r, k)] = p[r] * p[k] + e[r] * e[k];
            A[(r, k)] = (p[r] * e[k] + e[r] * p[k]) * 2.0 - p[r] * q[k] - q[r] * p[k];
        }
    }
});

#[test]
fn t3_1_to_t3_3_structured_problems_seen_as_general_ones() {
    assert_eq!(analysed(Differentiated::new(Symmetric), 1.2), values(1, 1, 2, 0, 0));
    assert_eq!(analysed(Differentiated::new(NotReducible), 1.2), values(2, 1, 4, 1, 1));
    assert_eq!(analysed(Differentiated::new(TurningKernel), 0.4), values(2, 0, 2, 1, 1));
    // frozen, the index of the last one is only 1
    let mut data = TaylorData::new(3, 3, 0);
    Differentiated::new(TurningKernel).taylor(0.4, 0, &mut data).unwrap();
    assert_eq!(analysed(constant(&data.E[0], &data.A[0]), 0.0).mu, 1);
}

#[test]
fn t2_2_equations_of_tiny_size_are_equations() {
    let e = 1e-17;
    assert_eq!(constant_values(&[&[1.0, 0.0], &[0.0, e]], &[&[0.0, 1.0], &[-e, -e]]), values(0, 2, 0, 0, 0));
}

/// Modes of the boost converter in x = (vC, iL, vS, vD, iR, iS, iD): which of iS, vS and of vD, iD vanish.
fn boost(mode: usize) -> ConstantCoefficients<Vec<Vec<f64>>> {
    let (R, C, L, Vi) = (2.0, 1e-2, 1.0, 48.0);
    let (mut E, mut A) = (Matrix::zeros(7, 7), Matrix::zeros(7, 7));
    let mut b = vec![vec![]; 7];
    (E[(0, 0)], A[(0, 6)], A[(0, 4)]) = (C, 1.0, -1.0);
    (E[(1, 1)], A[(1, 2)]) = (L, 1.0);
    b[1] = vec![-Vi];
    (A[(2, 3)], A[(2, 0)], A[(2, 2)]) = (1.0, 1.0, 1.0);
    (A[(3, 4)], A[(3, 0)]) = (R, -1.0);
    (A[(4, 5)], A[(4, 1)], A[(4, 6)]) = (1.0, 1.0, -1.0);
    let (switch, diode) = [(5, 3), (2, 6), (5, 6), (2, 3)][mode - 1];
    A[(5, switch)] = 1.0;
    A[(6, diode)] = 1.0;
    ConstantCoefficients::new(E, A, b)
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
fn boost_converter_jumps_and_impulses() {
    let jump = |mode: usize, before: [f64; 7]| {
        let mut problem = boost(mode);
        let mut data = TaylorData::new(7, 7, 1);
        problem.taylor(0.0, 1, &mut data).unwrap();
        let pencil = RegularPencil::new(&data.E[0], &data.A[0], TOLERANCE).unwrap();
        assert_eq!(pencil.index(), 2);
        pencil.inconsistent_start(&before, &data.b).unwrap()
    };
    // into mode 4 from vC = 10.18155, iL = 3.95895
    let start = jump(4, [10.18155, 3.95895, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert!(start.value[0].abs() < 1e-12 && (start.value[1] - 3.95895).abs() < 1e-12);
    assert!(distance(&start.impulses[0], &[0.0, 0.0, 0.0, 0.0, 0.0, -0.1018155, -0.1018155]) < 1e-12);
    // into mode 3 with iL = −2.88
    let start = jump(3, [0.0, -2.88, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert!(
        start.value[1].abs() < 1e-12 && (start.value[2] - 48.0).abs() < 1e-10 && (start.value[3] + 48.0).abs() < 1e-10
    );
    assert!(distance(&start.impulses[0], &[0.0, 0.0, 2.88, -2.88, 0.0, 0.0, 0.0]) < 1e-12);
}

#[test]
fn m6_three_ways_to_make_two_velocities_equal() {
    // m₁v₁' = λ, m₂v₂' = −λ, 0 = v₁ − v₂ with m = (1, 3), v = (1, 0)
    let E = matrix(&[&[1.0, 0.0, 0.0], &[0.0, 3.0, 0.0], &[0.0, 0.0, 0.0]]);
    let A = matrix(&[&[0.0, 0.0, 1.0], &[0.0, 0.0, -1.0], &[1.0, -1.0, 0.0]]);
    let mut system = Gelda::new(constant(&E, &A), 0.0, GeldaOptions::default()).unwrap();
    assert_eq!(system.values(), values(1, 1, 2, 0, 0));
    let guess = [1.0, 0.0, 0.0];
    let nearest = system.consistent(0.0, &guess, Keep::LeastChange).unwrap();
    assert!(distance(&nearest.x, &[0.5, 0.5, 0.0]) < 1e-14);
    let kept = system.consistent(0.0, &guess, Keep::DifferentialPart).unwrap();
    assert!(distance(&kept.x, &[0.1, 0.1, 0.0]) < 1e-14, "{:?}", kept.x);
    let pencil = RegularPencil::new(&E, &A, TOLERANCE).unwrap();
    let zero = vec![vec![0.0; 3]; 2];
    let momentum = pencil.inconsistent_start(&guess, &zero).unwrap();
    assert!(distance(&momentum.value, &[0.25, 0.25, 0.0]) < 1e-14);
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
    let Pencil::Dense { E, A } = pencil else { panic!("not dense") };
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
