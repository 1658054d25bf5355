//! Explicit solutions and nonlinear systems: T2.6 to T2.9.

use super::*;

// ---- T2.6, T2.7 ------------------------------------------------------------------------------------------------------------

/// T2.6.
#[test]
fn t2_6_the_explicit_solution_is_a_polynomial() {
    let M = matrix(&[&[1.0, 0.0, 0.0], &[0.0; 3], &[0.0; 3]]);
    let C = matrix(&[&[0.0, 0.0, 1.0], &[0.0, 1.0, 0.0], &[0.0; 3]]);
    let f = |t: f64, l: usize| -> Vec<Vec<f64>> {
        (0..=l).map(|k| vec![0.0, 0.0, [t, 1.0].get(k).copied().unwrap_or(0.0)]).collect()
    };
    let exact_a = |t: f64| [2.0 * t + t * t / 2.0, t * t / 2.0 + t.powi(3) / 6.0, -t - t * t - t.powi(3) / 6.0];
    let exact_b = |t: f64| [1.0 + t, -1.0 + t, -t];
    let mut random = Random(26);
    for turned in [false, true] {
        let U = if turned { random.orthogonal(3) } else { Mat::identity(3, 3) };
        for (K1, x0, v0, exact) in [
            ([1.0, 0.0, 0.0], [0.0, 0.0, 0.0], 2.0, &exact_a as &dyn Fn(f64) -> [f64; 3]),
            ([1.0, 0.0, 1.0], [1.0, -1.0, 0.0], 1.0, &exact_b),
        ] {
            let K = matrix(&[&K1, &[0.0, 1.0, 1.0], &[1.0, 1.0, 1.0]]);
            // x = U x̃
            let system = ExplicitSolution::new(&(&M * &U), &(&C * &U), &(&K * &U), 2, rule()).unwrap();
            assert_eq!(system.reduced().values, values(0, 1, 1, 1, 0, 0));
            let back = |x: &[f64]| -> Vec<f64> { (U.transpose() * column(x)).iter().copied().collect() };
            let times = [0.0, 0.5, 1.0, 1.5];
            let found = system.solve(f, 0.0, &back(&x0), &back(&[v0, 0.0, 0.0]), &times, 1e-12).unwrap();
            assert!(found.start_defect < 1e-14);
            for (t, x) in times.iter().zip(&found.x) {
                assert!((&U * column(x) - column(&exact(*t))).norm_max() < 1e-11, "t = {t}: {x:?}");
            }
        }
    }
    assert_eq!(exact_a(1.5), [4.125, 1.6875, -4.3125]);
}

/// Xᴰ.
fn drazin(X: &Mat<f64>) -> Mat<f64> {
    let found = daedal_pencils::drazin_inverse(&rows(X), 1e-9).unwrap();
    Mat::from_fn(X.nrows(), X.ncols(), |i, j| found[(i, j)])
}

fn pseudo_inverse(X: &Mat<f64>) -> Mat<f64> {
    let of = Ranks::default().subspaces(X, 0.0).unwrap();
    let inverse = Mat::from_fn(of.rank, of.rank, |i, j| if i == j { 1.0 / of.singular_values[i] } else { 0.0 });
    &of.cokernel * inverse * of.range.transpose()
}

/// T2.7.
#[test]
fn t2_7_products_with_drazin_inverses_agree_with_their_blocks() {
    let mut random = Random(27);
    let mut checked = 0;
    for case in 0..300 {
        let (d2, d1, a) = [(2, 1, 2), (1, 1, 1), (1, 0, 2), (0, 2, 1), (2, 2, 0)][case % 5];
        let n = d2 + d1 + a;
        let block = |random: &mut Random, first: usize, last: usize| {
            let mut X = random.matrix(n, n);
            for i in 0..n {
                if i < first || i >= last {
                    X.get_mut(i, ..).fill(0.0);
                }
            }
            X
        };
        let (M, C, K) = (block(&mut random, 0, d2), block(&mut random, 0, d2 + d1), block(&mut random, 0, n));
        // random data may be close to another structure
        let Ok(system) = ExplicitSolution::new(&M, &C, &K, 1, rule()) else { panic!("case {case}") };
        let leading = system.reduced().leading();
        let condition = Ranks::default().subspaces(&leading, 0.0).unwrap().singular_values;
        if condition[n - 1] < 1e-2 * condition[0] {
            continue;
        }
        assert_eq!(system.reduced().values, values(0, d2, d1, a, 0, 0));
        let (S, H) = system.drazin_products();
        let (E, A) = system.pair();
        let one = Mat::<f64>::identity(n + d2, n + d2);
        for lambda in [1.7, -3.1] {
            let solver = (&E * Scale(lambda) - &A).partial_piv_lu();
            let (hat_E, hat_A) = (solver.solve(&E), solver.solve(&A));
            let of_E = drazin(&hat_E);
            let size = 1.0 + S.norm_max();
            assert!((&of_E * &hat_A - &S).norm_max() < 1e-8 * size * size, "case {case}");
            assert!((&of_E * &hat_E - &H).norm_max() < 1e-8 * size * size, "case {case}");
        }
        assert!((&H * &H - &H).norm_max() < 1e-10 && (a > 0 || (&H - &one).norm_max() < 1e-12));
        check_moore_penrose(&system, &E, d2, d1, a);
        checked += 1;
    }
    assert!(checked > 200, "{checked}");
}

/// The matrix that Lemma 3.38 takes for the Drazin inverse of E is its Moore–Penrose inverse.
fn check_moore_penrose(system: &ExplicitSolution, E: &Mat<f64>, d2: usize, d1: usize, a: usize) {
    let n = d2 + d1 + a;
    let Q = system.frame();
    let reduced = system.reduced();
    let (Q1, Q2) = (Q.get(.., ..d2).to_owned(), Q.get(.., d2..d2 + d1).to_owned());
    let (M, C) = (&reduced.M * Q, E.get(d2.., d2..) * Q);
    let inverse = |X: Mat<f64>| if X.nrows() == 0 { X } else { pseudo_inverse(&X) };
    let M11 = inverse(M.get(..d2, ..d2).to_owned());
    let C22 = inverse(C.get(d2..d2 + d1, d2..d2 + d1).to_owned());
    let (C11, C12) = (C.get(..d2, ..d2).to_owned(), C.get(..d2, d2..d2 + d1).to_owned());
    let C21 = C.get(d2..d2 + d1, ..d2).to_owned();
    let upper =
        beside(&[&(&M11 * (&C12 * &C22 * &C21 - &C11)), &M11, &(&M11 * &C12 * &C22 * Scale(-1.0)), &Mat::zeros(d2, a)]);
    let lower = beside(&[&(&Q1 - &Q2 * &C22 * &C21), &Mat::zeros(n, d2), &(&Q2 * &C22), &Mat::zeros(n, a)]);
    let X = below(&[&upper, &lower]);
    let size = 1.0 + X.norm_max();
    assert!((E * &X * E - E).norm_max() < 1e-9 * size && (&X * E * &X - &X).norm_max() < 1e-9 * size * size);
    let (EX, XE) = (E * &X, &X * E);
    assert!((&EX - EX.transpose()).norm_max() < 1e-9 * size && (&XE - XE.transpose()).norm_max() < 1e-9 * size);
    // it commutes with E only without algebraic equations
    assert_eq!((&EX - &XE).norm_max() > 1e-6, a > 0);
}

// ---- T2.8, T2.9 ------------------------------------------------------------------------------------------------------------

/// Example 3.32: x₁″ = x₁x₂, x₁x₃′ = x₂ − 1, 0 = x₃ − 1.
struct Example332;

impl SecondOrderEquations for Example332 {
    fn rows(&self) -> usize {
        3
    }
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], xddot: &[S], r: &mut [S]) {
        r[0] = xddot[0] - x[0] * x[1];
        r[1] = x[0] * xdot[2] - x[1] + 1.0;
        r[2] = x[2] - 1.0;
    }
}

/// T2.8.
#[test]
fn t2_8_a_nonlinear_system_is_analysed_at_a_point() {
    // x₁ = 2 cosh t + 0.6 sinh t at t = 0
    let guess = Jet { t: 0.0, coefficients: vec![vec![2.0, 1.0, 1.0], vec![0.6, 0.0, 0.0]] };
    let jet = solve_jet(&Example332, &guess, 4, 2, rule()).unwrap();
    assert!((jet.coefficients[2][0] - 1.0).abs() < 1e-13 && (jet.coefficients[3][0] - 0.1).abs() < 1e-13);
    let at = linearise(&Example332, &jet, 4).unwrap();
    let mut ranks = Ranks::default();
    for (level, expected) in [(0, [3, 2, 1]), (1, [6, 4, 3]), (2, [9, 7, 5])] {
        let array = TripleArray::new(&at, level).unwrap();
        let found = [beside(&[array.N(), array.L(), array.M()]), beside(&[array.L(), array.M()]), array.M().clone()]
            .map(|X| ranks.rank(&X, 0.0).unwrap());
        assert_eq!(found, expected, "level {level}");
    }
    // Jacobians given as blocks
    let blocks = |level: usize| {
        // rows times i!, columns of x^(p) divided by p!
        let array = TripleArray::new(&at, level)?;
        let factorial = |k: usize| (1..=k).map(|k| k as f64).product::<f64>();
        let rows = |X: &Mat<f64>| Mat::from_fn(X.nrows(), X.ncols(), |i, j| X[(i, j)] * factorial(i / 3));
        let M = rows(array.M());
        let M = Mat::from_fn(M.nrows(), M.ncols(), |i, j| M[(i, j)] / factorial(j / 3 + 2));
        let g = array.g().iter().enumerate().map(|(i, g)| g * factorial(i / 3)).collect();
        TripleArray::from_blocks(3, M, rows(array.L()), rows(array.N()), g)
    };
    let reduced = strangeness_free_of_arrays((0..4).map(blocks), rule()).unwrap();
    let recursion = characteristic_values_of_arrays((0..4).map(blocks), rule()).unwrap();
    assert_eq!((reduced.values, recursion.values), (values(1, 1, 0, 2, 0, 0), values(1, 1, 0, 2, 0, 0)));
    assert_eq!((recursion.levels[0].c, recursion.levels[1].rho[2]), (1, 6));
    assert!(reduced.repeats_at(&blocks(2).unwrap()).unwrap());
    assert!(reduced.repeats_at(&blocks(1).unwrap()).is_err());
    // Z₂, Z₃ of the example span the found ones
    let both = beside(&[&reduced.Z2, &reduced.Z3]);
    assert!(in_row_space(&both.transpose().to_owned(), &matrix(&[&[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])));
    let Z3 = matrix(&[&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[0.0, 1.0, 0.0, 0.0, 0.0, -2.0]]);
    assert!(in_row_space(&reduced.Z3.transpose().to_owned(), &Z3));
    // derivatives of x₁″ − x₁x₂, x₃ − 1, 1 − x₂
    assert!(in_row_space(&reduced.K3(), &matrix(&[&[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]])));
    let differential = beside(&[&reduced.M1(), &reduced.K.get(..1, ..).to_owned()]);
    assert!(in_row_space(&differential, &matrix(&[&[1.0, 0.0, 0.0, -1.0, -2.0, 0.0]])));
}

/// T2.9, the chain.
#[test]
fn t2_9_forces_that_depend_on_velocities_turn_second_into_first_order() {
    let [M, C, K] = chain(false);
    let compared = compare_formulations(&constant(M, C, K, 6), Some(&[0, 1, 2]), rule()).unwrap();
    assert_eq!(compared.second_order, values(2, 2, 0, 2, 0, 0));
    assert_eq!((compared.partial, compared.companion), (first(2, 4, 3, 0, 0), first(3, 4, 4, 0, 0)));
    assert_eq!(compared.warnings, [FormulationWarning::CompanionRaisesIndex { mu: 2, companion: 3 }]);

    let [M, C, K] = chain(true);
    let at = constant(M, C, K, 6);
    let compared = compare_formulations(&at, None, rule()).unwrap();
    assert_eq!(compared.chosen, [0, 1, 2]);
    assert_eq!(compared.second_order, values(3, 1, 2, 1, 0, 0));
    assert_eq!(characteristic_values(&at, rule()).unwrap().values, compared.second_order);
    assert_eq!((compared.partial, compared.companion), (first(2, 4, 3, 0, 0), first(3, 4, 4, 0, 0)));
    assert_eq!(
        compared.warnings,
        [
            FormulationWarning::ConvertsOrder { unknowns: 1 },
            FormulationWarning::BeyondProvedRange { mu: 3 },
            FormulationWarning::PartialIsLower { mu: 3, partial: 2 }
        ]
    );
}

/// x″ + 2xλ = 0, y″ + 2yλ + 9.81 = 0, x² + y² = 1.
struct Pendulum;

impl SecondOrderEquations for Pendulum {
    fn rows(&self) -> usize {
        3
    }
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, _t: S, x: &[S], _xdot: &[S], xddot: &[S], r: &mut [S]) {
        r[0] = xddot[0] + x[0] * x[2] * 2.0;
        r[1] = xddot[1] + x[1] * x[2] * 2.0 + 9.81;
        r[2] = x[0].square() + x[1].square() - 1.0;
    }
}

/// T2.9, the pendulum.
#[test]
fn t2_9_the_invariants_of_a_pendulum_jump_at_its_turning_points() {
    for (speed, c, q, expected, converted) in [
        (1.1_f64, vec![1, 0, 0, 0], vec![0, 1, 1, 1], values(3, 0, 2, 1, 0, 0), 1),
        (0.0, vec![1, 0, 1], vec![0, 1, 0], values(2, 1, 0, 2, 0, 0), 0),
    ] {
        let (sin, cos) = 0.6_f64.sin_cos();
        let (x, y) = (sin, -cos);
        let (xdot, ydot) = (speed * cos, speed * sin);
        // λ from the second derivative of the constraint, λ′ from its derivative
        let (lambda, lambda_dot) = ((speed * speed - 9.81 * y) / 2.0, -1.5 * 9.81 * ydot);
        let guess = Jet { t: 0.0, coefficients: vec![vec![x, y, lambda], vec![xdot, ydot, lambda_dot]] };
        let jet = solve_jet(&Pendulum, &guess, 6, 2, rule()).unwrap();
        let at = linearise(&Pendulum, &jet, 6).unwrap();
        let found = characteristic_values(&at, rule()).unwrap();
        assert_eq!(found.levels.iter().map(|l| l.c).collect::<Vec<_>>(), c);
        assert_eq!(found.levels.iter().map(|l| l.q).collect::<Vec<_>>(), q);
        let reduced = strangeness_free(&at, rule()).unwrap();
        assert_eq!((found.values, reduced.values, reduced.converted), (expected, expected, converted));
        let next = TripleArray::new(&at, expected.mu + 1).unwrap();
        // at a turning point the next level tells other values: the hypothesis does not hold there
        assert_eq!(reduced.repeats_at(&next).unwrap(), speed != 0.0);
        let partial = partial_first_order(&at, &[0, 1]).unwrap().characteristic_values(rule()).unwrap();
        assert_eq!(partial, first(2, 2, 3, 0, 0));
    }
}
