//! Regular pencils with known answers. T1.6, M6: Wunderlich, thesis (2008); E2, E3, T1: Hairer & Wanner, Solving ODEs II, VII.

use crate::invariants::analysed;
use crate::linear::*;
use daedal::dae::{Gelda, GeldaOptions, Keep};
use daedal::linalg::{Lu, Matrix, eigenvalues, product, times};
use daedal::linear::*;
use daedal_pencils::{PencilError, RegularPencil, drazin_inverse, index_by_powers};

const TOLERANCE: f64 = 1e-11;

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
pub fn mechanical(form: &str) -> (Matrix, Matrix) {
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
