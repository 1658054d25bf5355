//! Linear and nonlinear DAEs of second order: the examples of Wunderlich, thesis (2008), chapter 3, and random systems.

use crate::random::Random;
use daedal::linalg::{Mat, Matrix, RankRule, Ranks, below, beside};
use daedal::scalar::{Scalar, Taylor};
use daedal::second_order::*;
use faer::linalg::solvers::Solve;
use faer::{Col, Scale};

fn rule() -> RankRule {
    RankRule::default()
}

fn matrix(rows: &[&[f64]]) -> Mat<f64> {
    Mat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

fn zero_right_hand_side(m: usize) -> impl Fn(f64, usize) -> Vec<Vec<f64>> {
    move |_, l| vec![vec![0.0; m]; l + 1]
}

fn constant(M: Mat<f64>, C: Mat<f64>, K: Mat<f64>, level: usize) -> Expansion {
    let m = M.nrows();
    Constant { M, C, K, f: zero_right_hand_side(m) }.expand(0.0, level).unwrap()
}

fn values(mu: usize, d2: usize, d1: usize, a: usize, v: usize, u: usize) -> SecondOrderValues {
    SecondOrderValues { mu, d2, d1, a, v, u }
}

fn first(mu: usize, d: usize, a: usize, v: usize, u: usize) -> daedal::dae::CharacteristicValues {
    daedal::dae::CharacteristicValues { mu, d, a, v, u }
}

/// (ρ₁ ρ₂ ρ₃, c, q, σ, τ) of every level.
fn table(found: &CharacteristicTable) -> Vec<([usize; 3], [i64; 4])> {
    found.levels.iter().map(|l| (l.rho, [l.c, l.q, l.sigma, l.tau])).collect()
}

/// Are the rows of the second matrix combinations of the rows of the first?
fn in_row_space(span: &Mat<f64>, rows: &Mat<f64>) -> bool {
    let mut ranks = Ranks::default();
    ranks.rank(span, 0.0).unwrap() == ranks.rank(&below(&[span, rows]), 0.0).unwrap()
}

fn column(x: &[f64]) -> Col<f64> {
    Col::from_fn(x.len(), |i| x[i])
}

fn as_matrix(x: &[f64]) -> Mat<f64> {
    Mat::from_fn(x.len(), 1, |i, _| x[i])
}

// ---- T2.1 ----------------------------------------------------------------------------------------------------------------

/// T2.1: x₁″ + x₁′ + x₂ = f₁, x₁ = f₂.
#[test]
fn t2_1_only_the_harmless_derivative_keeps_the_index() {
    let M = matrix(&[&[1.0, 0.0], &[0.0, 0.0]]);
    let K = matrix(&[&[0.0, 1.0], &[1.0, 0.0]]);
    let found = local_invariants(&M, &M, &K, &mut Ranks::default()).unwrap();
    assert_eq!(found, LocalInvariants { r: 1, s_mk: 1, u: 1, ..LocalInvariants::default() });
    // f = (sin t, e²ᵗ)
    let t: f64 = 0.3;
    let f = |t: f64, l: usize| {
        let quarter = std::f64::consts::FRAC_PI_2;
        (0..=l).map(|k| vec![(t + k as f64 * quarter).sin(), 2.0_f64.powi(k as i32) * (2.0 * t).exp()]).collect()
    };
    let at = Constant { M: M.clone(), C: M.clone(), K: K.clone(), f }.expand(t, 5).unwrap();
    let reduced = strangeness_free(&at, rule()).unwrap();
    assert_eq!(reduced.values, values(2, 0, 0, 2, 0, 0));
    assert_eq!(characteristic_values(&at, rule()).unwrap().values, reduced.values);
    let e = (2.0 * t).exp();
    let x = column(&[e, t.sin() - 2.0 * e - 4.0 * e]);
    assert!((&reduced.K * x - column(&reduced.f)).norm_max() < 1e-13);
    let compared = compare_formulations(&at, Some(&[0]), rule()).unwrap();
    assert_eq!(compared.companion, first(3, 0, 4, 0, 0));
    assert_eq!(compared.partial, first(2, 0, 3, 0, 0));
    assert_eq!(compared.warnings, [FormulationWarning::CompanionRaisesIndex { mu: 2, companion: 3 }]);
    // all derivatives chosen is the companion form
    let compared = compare_formulations(&at, Some(&[0, 1]), rule()).unwrap();
    assert_eq!(compared.partial, compared.companion);
}

// ---- T2.2 ----------------------------------------------------------------------------------------------------------------

/// T2.2: ε x″ + ε x′ + ε x = ε f with ε = 1e−17 is an oscillator, whatever its unit.
#[test]
fn t2_2_a_small_factor_of_an_equation_does_not_matter() {
    let epsilon = Mat::full(1, 1, 1e-17);
    let at = constant(epsilon.clone(), epsilon.clone(), epsilon, 3);
    // unscaled, the companion form seems to be under- and overdetermined
    let wrong = local_first(&companion(&at).E[0], &companion(&at).A[0]);
    assert_eq!(wrong, (1, 0, 0, 1, 1));
    let (scaled, _) = at.equilibrated();
    let found = local_invariants(&scaled.M()[0], &scaled.C()[0], &scaled.K()[0], &mut Ranks::default()).unwrap();
    assert_eq!(found, LocalInvariants { r: 1, d2: 1, ..LocalInvariants::default() });
    assert_eq!(strangeness_free(&at, rule()).unwrap().values, values(0, 1, 0, 0, 0, 0));
    let compared = compare_formulations(&at, None, rule()).unwrap();
    assert_eq!(compared.companion, first(0, 2, 0, 0, 0));
}

/// r, a, s, u, v of a pair, with relative tolerance.
fn local_first(E: &Mat<f64>, A: &Mat<f64>) -> (usize, usize, usize, usize, usize) {
    let found = daedal::linear::local_invariants(&rows(E), &rows(A), 1e-12).unwrap();
    (found.r, found.a, found.s, found.u, found.v)
}

/// The same matrix, stored by rows.
fn rows(X: &Mat<f64>) -> Matrix {
    let mut copy = Matrix::zeros(X.nrows(), X.ncols());
    for i in 0..X.nrows() {
        for j in 0..X.ncols() {
            copy[(i, j)] = X[(i, j)];
        }
    }
    copy
}

// ---- T2.3, T2.4 ------------------------------------------------------------------------------------------------------------

/// T2.3 with the solution (sin t, cos 2t, e⁻ᵗ).
#[derive(Clone, Copy)]
struct Example323;

impl Example323 {
    fn exact<S: Scalar>(t: S) -> [S; 3] {
        [t.sin(), (t * 2.0).cos(), (-t).exp()]
    }
}

impl SecondOrderSystem for Example323 {
    fn rows(&self) -> usize {
        3
    }
    fn dim(&self) -> usize {
        3
    }
    fn coefficients<S: Scalar>(&self, t: S, M: &mut Matrix<S>, C: &mut Matrix<S>, K: &mut Matrix<S>, f: &mut [S]) {
        let one = S::from(1.0);
        M[(0, 0)] = t;
        (M[(1, 1)], M[(1, 2)], M[(2, 1)], M[(2, 2)]) = (one, one, t, t);
        C[(0, 0)] = one;
        (K[(0, 0)], K[(1, 1)], K[(2, 1)], K[(2, 2)]) = (one, one, t + 1.0, one);
        let [x1, x2, x3] = Self::exact(t);
        let second = -x2 * 4.0 + x3;
        f[0] = -t * x1 + t.cos() + x1;
        f[1] = second + x2;
        f[2] = t * second + (t + 1.0) * x2 + x3;
    }
}

/// T2.3.
#[test]
fn t2_3_the_hidden_equations_of_a_coupled_pair_are_found() {
    for t in [0.4, 1.0, 2.5] {
        let at = Formulas(Example323).expand(t, 6).unwrap();
        let found = local_invariants(&at.M()[0], &at.C()[0], &at.K()[0], &mut Ranks::default()).unwrap();
        assert_eq!(found, LocalInvariants { r: 2, s_mk: 1, d2: 1, u: 1, ..LocalInvariants::default() });
        let found = characteristic_values(&at, rule()).unwrap();
        let expected = [([2, 2, 3], [1, 0, 1, 0]), ([4, 5, 6], [0, 1, 0, 1]), ([6, 7, 9], [1, 0, 0, 0])];
        assert_eq!(table(&found), expected);
        assert_eq!(found.values, values(2, 1, 0, 2, 0, 0));
        let reduced = strangeness_free(&at, rule()).unwrap();
        assert_eq!(reduced.values, found.values);
        assert_eq!(reduced.converted, 0);
        assert!(reduced.consistency_residual < 1e-14);

        // the projections of the example, for rows divided by i!
        let array = DerivativeArray::new(&at, 2).unwrap();
        let Z3 = matrix(&[
            &[0.0, -1.0, 0.0, 0.0, -2.0, 0.0, 0.0, -2.0 * t, 2.0],
            &[0.0, -t, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ]);
        let Z2 = matrix(&[&[0.0, -1.0, 0.0, 0.0, -t, 1.0, 0.0, 0.0, 0.0]]);
        assert!((&Z3 * array.M()).norm_max() < 1e-14 && (&Z3 * array.L()).norm_max() < 1e-14);
        assert!((&Z3 * array.N() - matrix(&[&[0.0, -1.0, 0.0], &[0.0, 1.0, 1.0]])).norm_max() < 1e-14);
        assert!((&Z2 * array.M()).norm_max() < 1e-14 && (&Z2 * array.N()).norm_max() < 1e-14);
        assert!((&Z2 * array.L() - matrix(&[&[0.0, 1.0, 1.0]])).norm_max() < 1e-14);
        assert!((reduced.T3[(0, 0)].abs() - 1.0).abs() < 1e-14 && (reduced.Z0[(0, 0)].abs() - 1.0).abs() < 1e-14);

        // the reduced system is the printed one, up to combinations of its algebraic rows
        let f = series_of_f(t);
        let (f2, f3) = (f[1], f[2]);
        let hidden = -f2[0] - 2.0 * f2[1] - t * f2[2] + f3[2];
        let algebraic = matrix(&[&[0.0, -1.0, 0.0, hidden], &[0.0, 1.0, 1.0, -t * f2[0] + f3[0]]]);
        let found = beside(&[&reduced.K3(), &as_matrix(&reduced.f[1..])]);
        assert!(in_row_space(&found, &algebraic));
        let differential =
            beside(&[&reduced.M1(), &reduced.C.get(..1, ..).to_owned(), &reduced.K.get(..1, ..).to_owned()]);
        let differential = beside(&[&differential, &as_matrix(&reduced.f[..1])]);
        let printed = matrix(&[&[t, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, f[0][0]]]);
        assert!(in_row_space(&differential, &printed));
        check_companion(t, &at, &f);
        check_condensed(t, &at, &f);
        check_trimmed(t, &reduced, &f);
    }
}

/// f, f′, f″, f‴ of the three equations.
fn series_of_f(t: f64) -> [[f64; 4]; 3] {
    let at = Formulas(Example323).expand(t, 3).unwrap();
    let factorial = [1.0, 1.0, 2.0, 6.0];
    [0, 1, 2].map(|i| [0, 1, 2, 3].map(|k| at.f()[k][i] * factorial[k]))
}

fn check_companion(t: f64, at: &Expansion, f: &[[f64; 4]; 3]) {
    let compared = compare_formulations(at, None, rule()).unwrap();
    assert_eq!(compared.companion, first(3, 2, 4, 0, 0));
    assert!(compared.warnings.contains(&FormulationWarning::CompanionRaisesIndex { mu: 2, companion: 3 }));
    let x = Example323::exact(Taylor::<f64, 2>::parameter(t));
    let (f2, f3) = (f[1], f[2]);
    // the algebraic equations of the companion form fix x₂′ and x₃′
    let reduced = companion(at).strangeness_free(rule()).unwrap().system;
    let unknowns: Vec<f64> = [1, 0].iter().flat_map(|&k| x.iter().map(move |x| x.coefficients[k])).collect();
    for i in 0..4 {
        let value: f64 = reduced.A2.row(i).iter().zip(&unknowns).map(|(a, x)| a * x).sum();
        assert!((value + reduced.b2[i]).abs() < 1e-11, "{value} {}", reduced.b2[i]);
    }
    assert!((x[1].coefficients[1] - (f2[1] + 3.0 * f2[2] + t * f2[3] - f3[3])).abs() < 1e-12);
    let third = f3[1] - f2[0] - (t + 1.0) * f2[1] - 3.0 * f2[2] - t * f2[3] + f3[3];
    assert!((x[2].coefficients[1] - third).abs() < 1e-12);
}

/// In (x₁, x₂ + x₃, x₃), with t times equation 2 subtracted from equation 3.
fn check_condensed(t: f64, at: &Expansion, f: &[[f64; 4]; 3]) {
    let Q = matrix(&[&[1.0, 0.0, 0.0], &[0.0, 1.0, -1.0], &[0.0, 0.0, 1.0]]);
    let P = matrix(&[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, -t, 1.0]]);
    let [M, C, K] = [at.M(), at.C(), at.K()].map(|X| &P * &X[0] * &Q);
    let close = |X: &Mat<f64>, rows: &[&[f64]]| (X - matrix(rows)).norm_max() < 1e-14;
    assert!(close(&M, &[&[t, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 0.0]]));
    assert!(close(&K, &[&[1.0, 0.0, 0.0], &[0.0, 1.0, -1.0], &[0.0, 1.0, 0.0]]));
    let before = local_invariants(&at.M()[0], &at.C()[0], &at.K()[0], &mut Ranks::default()).unwrap();
    assert_eq!(local_invariants(&M, &C, &K, &mut Ranks::default()).unwrap(), before);
    let [_, x2, x3] = Example323::exact(t);
    let (f2, f3) = (f[1], f[2]);
    assert!((x2 + x3 - (f3[0] - t * f2[0])).abs() < 1e-13);
    // x̃₂ − x̃₃ = x₂
    assert!((x2 - (f2[0] + 2.0 * f2[1] + t * f2[2] - f3[2])).abs() < 1e-12);
}

fn check_trimmed(t: f64, reduced: &StrangenessFree, f: &[[f64; 4]; 3]) {
    let (f2, f3) = (f[1], f[2]);
    let hidden = -f2[0] - 2.0 * f2[1] - t * f2[2] + f3[2];
    // v = ± x₁′ in the frame, a multiple of t x₁′ without
    for (trimmed, growth) in [(reduced.trimmed().unwrap(), 0.0), (reduced.trimmed_without_frame().unwrap(), 1.0)] {
        assert_eq!(local_first(&trimmed.E, &trimmed.A), (2, 2, 0, 0, 0));
        let factor = trimmed.V[(0, 0)];
        assert!(growth > 0.0 || (factor.abs() - 1.0).abs() < 1e-13);
        let mut printed = matrix(&[
            &[t, 1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, f[0][0]],
            &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, hidden],
            &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, -1.0, -t * f2[0] + f3[0]],
            &[0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        ]);
        // t x₁″ = (t v′ − growth · v) / factor
        printed[(0, 0)] /= factor;
        printed[(0, 1)] -= growth;
        printed[(3, 4)] /= factor;
        let found = beside(&[&trimmed.E, &trimmed.A, &as_matrix(&trimmed.b)]);
        assert!(in_row_space(&found, &printed));
    }
}

/// Largest errors of x₁ and of (x₂, x₃).
fn errors(t: &[f64], x: &[Vec<f64>]) -> [f64; 2] {
    let mut errors = [0.0_f64; 2];
    for (t, x) in t.iter().zip(x) {
        let exact = Example323::exact(*t);
        errors[0] = errors[0].max((x[0] - exact[0]).abs());
        errors[1] = errors[1].max((x[1] - exact[1]).abs()).max((x[2] - exact[2]).abs());
    }
    errors
}

/// T2.4: direct discretisation on [1, 2].
#[test]
fn t2_4_the_direct_discretisation_converges_with_order_two_and_keeps_constraints() {
    let formulas = DifferenceFormulas::second_order();
    for (steps, expected) in [(20, 6.4e-4), (40, 1.8e-4), (80, 4.6e-5), (160, 1.2e-5)] {
        let h = 1.0 / f64::from(steps);
        let history = (0..3).map(|i| Example323::exact(1.0 + f64::from(i) * h).to_vec()).collect();
        let run = |start: &Start| {
            discretise(&Formulas(Example323), &formulas, start, 1.0, h, steps as usize, 4, rule()).unwrap()
        };
        let found = run(&Start::Values(history));
        assert_eq!(found.values, values(2, 1, 0, 2, 0, 0));
        assert_eq!(found.x.len(), steps as usize + 1);
        let [error, algebraic] = errors(&found.t, &found.x);
        assert!((error - expected).abs() < 0.05 * expected, "{steps}: {error:e}");
        assert!(algebraic < 2e-13, "{steps}: {algebraic:e}");
        // from x and x′ alone
        let x: [Taylor<f64, 2>; 3] = Example323::exact(Taylor::parameter(1.0));
        let at = |k: usize| x.iter().map(|x| x.coefficients[k]).collect();
        let found = run(&Start::Point { x: at(0), xdot: at(1) });
        let [error, algebraic] = errors(&found.t, &found.x);
        assert!(error < 1.2 * expected && algebraic < 40.0 * h.powi(4), "{steps}: {error:e} {algebraic:e}");
    }
}

/// T2.4: trimmed form with BDF2.
#[test]
fn t2_4_the_trimmed_form_converges_with_bdf2() {
    for (steps, expected) in [(20, 2.4e-4), (40, 6.3e-5), (80, 1.6e-5), (160, 4.2e-6)] {
        let h = 1.0 / f64::from(steps);
        let grid = |i: i32| 1.0 + f64::from(i) * h;
        // values (v, x) with v in the frame e₁
        let exact = |i: i32| {
            let x = Example323::exact(grid(i));
            vec![grid(i).cos(), x[0], x[1], x[2]]
        };
        let mut y = vec![exact(0), exact(1)];
        for i in 2..=steps {
            let reduced = strangeness_free(&Formulas(Example323).expand(grid(i), 3).unwrap(), rule()).unwrap();
            let trimmed = reduced.trimmed().unwrap();
            let sign = trimmed.V[(0, 0)];
            let (now, before) = (&y[i as usize - 1], &y[i as usize - 2]);
            let past = Col::from_fn(4, |k| (if k == 0 { sign } else { 1.0 }) * (-2.0 * now[k] + 0.5 * before[k]) / h);
            let left = &trimmed.E * Scale(1.5 / h) - &trimmed.A;
            let right = column(&trimmed.b) - &trimmed.E * past;
            let mut next: Vec<f64> = left.partial_piv_lu().solve(right).iter().copied().collect();
            next[0] *= sign;
            y.push(next);
        }
        let t: Vec<f64> = (0..=steps).map(grid).collect();
        let x: Vec<Vec<f64>> = y.iter().map(|y| y[1..].to_vec()).collect();
        let [error, algebraic] = errors(&t, &x);
        assert!((error - expected).abs() < 0.05 * expected, "{steps}: {error:e}");
        assert!(algebraic < 1e-13, "{steps}: {algebraic:e}");
    }
}

// ---- T2.5 ----------------------------------------------------------------------------------------------------------------

/// Example 3.14.
struct Example314;

impl SecondOrderSystem for Example314 {
    fn rows(&self) -> usize {
        4
    }
    fn dim(&self) -> usize {
        4
    }
    fn coefficients<S: Scalar>(&self, t: S, M: &mut Matrix<S>, C: &mut Matrix<S>, K: &mut Matrix<S>, f: &mut [S]) {
        let one = S::from(1.0);
        (M[(0, 0)], M[(1, 1)]) = (one, t);
        (C[(0, 3)], C[(1, 0)], C[(2, 2)]) = (t, t, one);
        (K[(2, 0)], K[(3, 2)]) = (one, one);
        (f[0], f[1], f[2], f[3]) = (t.sin(), t * t, (t * 0.5).exp(), t.cos() * t);
    }
}

/// T2.5.
#[test]
fn t2_5_a_chain_of_index_three_is_reduced() {
    let t = 1.3;
    let at = Formulas(Example314).expand(t, 6).unwrap();
    let (M, C, K) = (at.M()[0].clone(), at.C()[0].clone(), at.K()[0].clone());
    let local = |M: &Mat<f64>, C: &Mat<f64>| local_invariants(M, C, &K, &mut Ranks::default()).unwrap();
    let none = LocalInvariants::default();
    assert_eq!(local(&M, &C), LocalInvariants { r: 2, s_ck: 1, d2: 2, u: 1, ..none });
    let found = characteristic_values(&at, rule()).unwrap();
    let expected = [
        ([2, 3, 4], [1, 1, 1, 0]),
        ([5, 6, 8], [1, 0, 1, 0]),
        ([8, 10, 12], [0, 1, 0, 1]),
        ([11, 14, 16], [0, 1, 0, 0]),
    ];
    assert_eq!(table(&found), expected);
    let reduced = strangeness_free(&at, rule()).unwrap();
    assert_eq!((found.values, reduced.values), (values(3, 1, 1, 2, 0, 0), values(3, 1, 1, 2, 0, 0)));
    assert!(reduced.values.beyond_proved_range());
    let warnings = compare_formulations(&at, None, rule()).unwrap().warnings;
    assert!(warnings.contains(&FormulationWarning::BeyondProvedRange { mu: 3 }));
    // triples of the steps of the reduction
    let mut C1 = C.clone();
    C1[(2, 2)] = 0.0;
    assert_eq!(local(&M, &C1), LocalInvariants { r: 2, d2: 1, s_mk: 1, a: 1, u: 1, ..none });
    let mut M3 = M.clone();
    M3[(0, 0)] = 0.0;
    assert_eq!(local(&M3, &C1), LocalInvariants { r: 1, d2: 1, d1: 1, a: 2, ..none });
    // t x₄′ = f₁ − f₃″ + f₄‴, t x₂″ + t x₁′ = f₂, x₁ = f₃ − f₄′, x₃ = f₄
    let f = |i: usize, k: usize| at.f()[k][i] * [1.0, 1.0, 2.0, 6.0][k];
    let all = beside(&[&reduced.M, &reduced.C, &reduced.K, &as_matrix(&reduced.f)]);
    let mut printed = Mat::zeros(4, 13);
    (printed[(0, 4 + 3)], printed[(0, 12)]) = (t, f(0, 0) - f(2, 2) + f(3, 3));
    (printed[(1, 1)], printed[(1, 4)], printed[(1, 12)]) = (t, t, f(1, 0));
    (printed[(2, 8)], printed[(2, 12)]) = (1.0, f(2, 0) - f(3, 1));
    (printed[(3, 8 + 2)], printed[(3, 12)]) = (1.0, f(3, 0));
    // the rows of lower order may be added, x₁′ by the derivative of its equation
    let mut span = Mat::zeros(6, 13);
    span.get_mut(..4, ..).copy_from(&all);
    (span[(4, 4)], span[(4, 12)]) = (1.0, f(2, 1) - f(3, 2));
    (span[(5, 6)], span[(5, 12)]) = (1.0, f(3, 1));
    assert!(in_row_space(&span, &printed));
}

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
    let found = daedal::linear::drazin_inverse(&rows(X), 1e-9).unwrap();
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
        let array = DerivativeArray::new(&at, level).unwrap();
        let found = [beside(&[array.N(), array.L(), array.M()]), beside(&[array.L(), array.M()]), array.M().clone()]
            .map(|X| ranks.rank(&X, 0.0).unwrap());
        assert_eq!(found, expected, "level {level}");
    }
    // Jacobians given as blocks
    let blocks = |level: usize| {
        // rows times i!, columns of x^(p) divided by p!
        let array = DerivativeArray::new(&at, level)?;
        let factorial = |k: usize| (1..=k).map(|k| k as f64).product::<f64>();
        let rows = |X: &Mat<f64>| Mat::from_fn(X.nrows(), X.ncols(), |i, j| X[(i, j)] * factorial(i / 3));
        let M = rows(array.M());
        let M = Mat::from_fn(M.nrows(), M.ncols(), |i, j| M[(i, j)] / factorial(j / 3 + 2));
        let g = array.g().iter().enumerate().map(|(i, g)| g * factorial(i / 3)).collect();
        DerivativeArray::from_blocks(3, M, rows(array.L()), rows(array.N()), g)
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

/// M, C, K of a chain of three masses under p₁ + p₂ + p₃ = 0.
fn chain(gyroscopic: bool) -> [Mat<f64>; 3] {
    let mut M = Mat::zeros(4, 4);
    let mut C = Mat::zeros(4, 4);
    let mut K = Mat::zeros(4, 4);
    for i in 0..3 {
        M[(i, i)] = [2.0, 1.0, 3.0][i];
        K[(i, i)] = [1.0, 2.0, 3.0][i];
        (K[(i, 3)], K[(3, i)]) = (-1.0, 1.0);
    }
    if gyroscopic {
        (C[(0, 1)], C[(1, 0)], C[(1, 2)], C[(2, 1)]) = (1.0, -1.0, 2.0, -2.0);
    }
    [M, C, K]
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
        let next = DerivativeArray::new(&at, expected.mu + 1).unwrap();
        // at a turning point the next level tells other values: the hypothesis does not hold there
        assert_eq!(reduced.repeats_at(&next).unwrap(), speed != 0.0);
        let partial = partial_first_order(&at, &[0, 1]).unwrap().characteristic_values(rule()).unwrap();
        assert_eq!(partial, first(2, 2, 3, 0, 0));
    }
}

// ---- T2.10 ----------------------------------------------------------------------------------------------------------------

/// Coefficients of matrix polynomials in τ.
type Polynomial = Vec<Mat<f64>>;

fn product(X: &Polynomial, Y: &Polynomial) -> Polynomial {
    let mut Z = vec![Mat::zeros(X[0].nrows(), Y[0].ncols()); X.len() + Y.len() - 1];
    for (i, x) in X.iter().enumerate() {
        for (j, y) in Y.iter().enumerate() {
            Z[i + j] += x * y;
        }
    }
    Z
}

fn sum(X: &Polynomial, Y: &Polynomial) -> Polynomial {
    let zero = Mat::zeros(X[0].nrows(), X[0].ncols());
    let get = |X: &Polynomial, k: usize| X.get(k).cloned().unwrap_or_else(|| zero.clone());
    (0..X.len().max(Y.len())).map(|k| get(X, k) + get(Y, k)).collect()
}

fn times(X: &Polynomial, factor: f64) -> Polynomial {
    X.iter().map(|x| x * Scale(factor)).collect()
}

fn derivative(X: &Polynomial) -> Polynomial {
    let zero = Mat::zeros(X[0].nrows(), X[0].ncols());
    let mut Y: Polynomial = X.iter().enumerate().skip(1).map(|(k, x)| x * Scale(k as f64)).collect();
    Y.push(zero);
    Y
}

/// M, C, K as polynomials.
#[derive(Clone)]
struct Triple([Polynomial; 3]);

impl Triple {
    /// A strangeness-free system with these sizes; rows x₁″ + …, x₂′ + …, x₃, 0.
    fn strangeness_free(random: &mut Random, [d2, d1, a, v, u]: [usize; 5]) -> Self {
        let (m, n) = (d2 + d1 + a + v, d2 + d1 + a + u);
        let mut M = vec![Mat::zeros(m, n); 2];
        let (mut C, mut K) = (M.clone(), M.clone());
        let undetermined = d2 + d1 + a..n;
        for degree in 0..2 {
            for i in 0..d2 {
                for j in (0..d2).chain(undetermined.clone()) {
                    C[degree][(i, j)] = random.real();
                }
            }
            for i in 0..d2 + d1 {
                for j in (0..d2 + d1).chain(undetermined.clone()) {
                    K[degree][(i, j)] = random.real();
                }
            }
        }
        (0..d2).for_each(|i| M[0][(i, i)] = 1.0);
        (d2..d2 + d1).for_each(|i| C[0][(i, i)] = 1.0);
        (d2 + d1..d2 + d1 + a).for_each(|i| K[0][(i, i)] = 1.0);
        Triple([M, C, K])
    }

    /// Highest derivative in a row.
    fn order(&self, row: usize) -> Option<usize> {
        (0..3).find(|&p| self.0[p].iter().any(|X| (0..X.ncols()).any(|j| X[(row, j)] != 0.0))).map(|p| 2 - p)
    }

    /// Add c(τ) Dᵏ(row j) to row i, if the order stays two; unimodular for i ≠ j.
    fn add_derivative(&mut self, i: usize, j: usize, k: usize, c: &[f64]) -> bool {
        if i == j || self.order(j).is_none_or(|order| order + k > 2) {
            return false;
        }
        let n = self.0[0][0].ncols();
        let row = |X: &Polynomial| X.iter().map(|x| x.get(j..j + 1, ..).to_owned()).collect::<Polynomial>();
        // [M, C, K] of the row, differentiated k times
        let mut rows = [0, 1, 2].map(|p| row(&self.0[p]));
        for _ in 0..k {
            rows = [sum(&derivative(&rows[0]), &rows[1]), sum(&derivative(&rows[1]), &rows[2]), derivative(&rows[2])];
        }
        let factor: Polynomial = c.iter().map(|&c| Mat::full(1, 1, c)).collect();
        let m = self.0[0][0].nrows();
        for p in 0..3 {
            let added: Polynomial = product(&factor, &rows[p])
                .iter()
                .map(|x| {
                    let mut all = Mat::zeros(m, n);
                    all.get_mut(i..i + 1, ..).copy_from(x);
                    all
                })
                .collect();
            self.0[p] = sum(&self.0[p], &added);
        }
        true
    }

    /// Global equivalence (PMQ, PCQ + 2PMQ′, PKQ + PCQ′ + PMQ″).
    fn transformed(&self, P: &Polynomial, Q: &Polynomial) -> Self {
        let [M, C, K] = &self.0;
        let (Q1, Q2) = (derivative(Q), derivative(&derivative(Q)));
        let inner = [
            product(M, Q),
            sum(&product(C, Q), &times(&product(M, &Q1), 2.0)),
            sum(&sum(&product(K, Q), &product(C, &Q1)), &product(M, &Q2)),
        ];
        Triple(inner.map(|X| product(P, &X)))
    }

    /// Expansion with the right-hand side that a solution makes.
    fn expansion(&self, x: &Polynomial, level: usize) -> Expansion {
        let [M, C, K] = &self.0;
        let x1 = derivative(x);
        let f = sum(&sum(&product(M, &derivative(&x1)), &product(C, &x1)), &product(K, x));
        let cut = |X: &Polynomial| -> Polynomial {
            let zero = Mat::zeros(X[0].nrows(), X[0].ncols());
            (0..=level).map(|k| X.get(k).cloned().unwrap_or_else(|| zero.clone())).collect()
        };
        let f = cut(&f).iter().map(|f| (0..f.nrows()).map(|i| f[(i, 0)]).collect()).collect();
        Expansion::new(cut(M), cut(C), cut(K), f).unwrap()
    }
}

/// I + orthogonal changes: a matrix polynomial that is regular near τ = 0.
fn regular(random: &mut Random, n: usize, varying: bool) -> Polynomial {
    let mut X = vec![random.orthogonal(n)];
    if varying {
        X.extend((0..3).map(|_| random.matrix(n, n)));
    }
    X
}

/// T2.10.
#[test]
fn t2_10_random_systems_keep_their_values_under_unimodular_operations() {
    let mut random = Random(210);
    let mut indices = [0; 8];
    for case in 0..300 {
        let sizes = [random.below(3), random.below(3), random.below(4), random.below(2), random.below(2)];
        let [d2, d1, a, v, u] = sizes;
        let (m, n) = (d2 + d1 + a + v, d2 + d1 + a + u);
        if m == 0 || n == 0 {
            continue;
        }
        let mut triple = Triple::strangeness_free(&mut random, sizes);
        if case % 4 == 3 {
            // a chain of algebraic equations: x_i + D²x_{i+1}
            for i in d2 + d1..(d2 + d1 + a).max(1) - 1 {
                triple.add_derivative(i, i + 1, 1 + random.below(2), &[1.0]);
            }
        }
        let (wanted, mut made) = (random.below(6), 0);
        for _ in 0..60 {
            let (i, j, k) = (random.below(m), random.below(m), random.below(3));
            let c = [1.0 + random.below(2) as f64, random.real()];
            if made < wanted && triple.add_derivative(i, j, k, &c[..=random.below(2)]) {
                made += 1;
            }
        }
        let varying = case % 3 > 0;
        let (P, Q) = (regular(&mut random, m, varying), regular(&mut random, n, varying));
        let turned = triple.transformed(&P, &Q);
        let x = random.polynomial(n, 1, 4);
        let (plain, at) = (triple.expansion(&x, 8), turned.expansion(&x, 8));

        // local invariants and ranks of the arrays are those of the system before P and Q
        let local =
            |at: &Expansion| local_invariants(&at.M()[0], &at.C()[0], &at.K()[0], &mut Ranks::default()).unwrap();
        assert_eq!(local(&plain), local(&at), "case {case}");
        let recursion = characteristic_values(&at, rule()).unwrap();
        assert_eq!(characteristic_values(&plain, rule()).unwrap().levels, recursion.levels, "case {case}");
        let reduced = strangeness_free(&at, rule()).unwrap();
        let SecondOrderValues { mu, .. } = reduced.values;
        assert_eq!(reduced.values, values(mu, d2, d1, a, v, u), "case {case}");
        assert_eq!(recursion.values, reduced.values, "case {case}");
        indices[mu] += 1;

        // the result is strangeness-free, and solutions of the system solve it
        let mut ranks = Ranks::default();
        let found = local_invariants(&reduced.M, &reduced.C, &reduced.K, &mut ranks).unwrap();
        assert!(found.strangeness_free(), "case {case}");
        assert_eq!((found.r, found.d1, found.a, found.v, found.u), (d2, d1, a, v, u), "case {case}");
        assert_eq!(ranks.rank(&reduced.leading(), 0.0).unwrap(), d2 + d1 + a);
        let (x0, x1) = (&x[0], &x[1]);
        let x2 = &x[2] * Scale(2.0);
        let residual = &reduced.M * &x2 + &reduced.C * x1 + &reduced.K * x0 - as_matrix(&reduced.f);
        let size = 1.0 + reduced.K.norm_max() + reduced.C.norm_max() + column(&reduced.f).norm_max();
        assert!(residual.norm_max() < 1e-11 * size, "case {case}: {:e}", residual.norm_max());
        assert!(reduced.consistency_residual < 1e-11, "case {case}");
        assert!(reduced.repeats_at(&DerivativeArray::new(&at, mu + 1).unwrap()).unwrap(), "case {case}");

        // order reduction after index reduction
        for trimmed in [reduced.trimmed().unwrap(), reduced.trimmed_without_frame().unwrap()] {
            let expected = (2 * d2 + d1, a, 0, u, v);
            assert_eq!(local_first(&trimmed.E, &trimmed.A), expected, "case {case}");
        }
    }
    // the operations reach high indices
    assert!(indices[2] > 20 && indices[3] > 5 && indices[4..].iter().sum::<i32>() > 0, "{indices:?}");
}

// ---- solutions of higher index, and failures ----------------------------------------------------------------------------------

/// p = (sin t, cos 2t, −sin t − cos 2t), λ = e⁻ᵗ and f = M x″ + C x′ + K x for the chain.
fn chain_motion(t: f64, k: usize) -> Vec<f64> {
    let turn = k as f64 * std::f64::consts::FRAC_PI_2;
    let (p, q) = ((t + turn).sin(), 2.0_f64.powi(k as i32) * (2.0 * t + turn).cos());
    vec![p, q, -p - q, (-1.0_f64).powi(k as i32) * (-t).exp()]
}

#[test]
fn the_explicit_solution_of_a_constrained_chain_follows_its_motion() {
    for gyroscopic in [false, true] {
        let [M, C, K] = chain(gyroscopic);
        let f = |t: f64, l: usize| -> Vec<Vec<f64>> {
            let x = |k: usize| column(&chain_motion(t, k));
            (0..=l).map(|k| (&M * x(k + 2) + &C * x(k + 1) + &K * x(k)).iter().copied().collect()).collect()
        };
        let system = ExplicitSolution::new(&M, &C, &K, 5, rule()).unwrap();
        let found = system.reduced().values;
        assert_eq!(found, if gyroscopic { values(3, 1, 2, 1, 0, 0) } else { values(2, 2, 0, 2, 0, 0) });
        // as many finite modes as free initial values
        assert_eq!((system.ode_matrix().nrows(), found.free_initial_values()), (4, 4));
        let times = [0.3, 1.0, 2.0];
        let run = system.solve(f, 0.0, &chain_motion(0.0, 0), &chain_motion(0.0, 1), &times, 1e-11).unwrap();
        assert!(run.start_defect < 1e-12);
        for (t, x) in times.iter().zip(&run.x) {
            assert!((column(x) - column(&chain_motion(*t, 0))).norm_max() < 1e-9, "t = {t}");
        }
        // the same system by differences
        let start = Start::Point { x: chain_motion(0.0, 0), xdot: chain_motion(0.0, 1) };
        let system = Constant { M: M.clone(), C: C.clone(), K: K.clone(), f };
        let error = |steps: usize| {
            let h = 1.0 / steps as f64;
            let found =
                discretise(&system, &DifferenceFormulas::second_order(), &start, 0.0, h, steps, 4, rule()).unwrap();
            (column(&found.x[steps]) - column(&chain_motion(1.0, 0))).norm_max()
        };
        let order = (error(40) / error(80)).log2();
        assert!((order - 2.0).abs() < 0.3, "{order}");
    }
}

#[test]
fn a_linear_start_gives_the_taylor_coefficients_of_the_solution() {
    let x = Example323::exact(Taylor::<f64, 6>::parameter(1.2));
    let at = |k: usize| x.iter().map(|x| x.coefficients[k]).collect::<Vec<f64>>();
    let expansion = Formulas(Example323).expand(1.2, 7).unwrap();
    let found = taylor_start(&expansion, values(2, 1, 0, 2, 0, 0), &at(0), &at(1), 5, rule()).unwrap();
    for k in 0..=5 {
        assert!((column(&found[k]) - column(&at(k))).norm_max() < 1e-9, "{k}");
    }
    let mut wrong = at(0);
    wrong[1] += 0.1;
    let refused = taylor_start(&expansion, values(2, 1, 0, 2, 0, 0), &wrong, &at(1), 5, rule());
    assert!(matches!(refused, Err(SecondOrderError::Inconsistent { residual }) if residual > 1e-3));
}

/// t x″ + x = 0.
struct SingularInTime;

impl SecondOrderSystem for SingularInTime {
    fn rows(&self) -> usize {
        1
    }
    fn dim(&self) -> usize {
        1
    }
    fn coefficients<S: Scalar>(&self, t: S, M: &mut Matrix<S>, _C: &mut Matrix<S>, K: &mut Matrix<S>, _f: &mut [S]) {
        M[(0, 0)] = t;
        K[(0, 0)] = S::from(1.0);
    }
}

#[test]
fn failures_are_told_by_their_kind() {
    // too few levels
    let at = Formulas(Example323).expand(1.0, 1).unwrap();
    assert_eq!(strangeness_free(&at, rule()).unwrap_err(), SecondOrderError::IndexNotFound { level: 1 });
    assert_eq!(characteristic_values(&at, rule()).unwrap_err(), SecondOrderError::IndexNotFound { level: 1 });
    let refused = Formulas(Example323).expand(1.0, 16);
    assert_eq!(refused, Err(SecondOrderError::TooFewDerivatives { asked: 16, given: 15 }));
    // a point where the mass vanishes
    let formulas = DifferenceFormulas::second_order();
    let start = Start::Point { x: vec![1.0], xdot: vec![0.0] };
    let run = |start: &Start, h: f64| discretise(&Formulas(SingularInTime), &formulas, start, -1.0, h, 8, 3, rule());
    assert!(matches!(run(&start, 0.25), Err(SecondOrderError::Changed { t, .. }) if t == 0.0));
    assert!(matches!(run(&start, -0.25), Err(SecondOrderError::Impossible { .. })));
    let start = Start::Point { x: vec![f64::NAN], xdot: vec![0.0] };
    assert_eq!(run(&start, 0.25), Err(SecondOrderError::NotFinite { what: "x" }));
    let start = Start::Values(vec![vec![1.0]]);
    assert!(matches!(run(&start, 0.25), Err(SecondOrderError::Size { what: "the history", .. })));
    // one equation, two unknowns
    let (one, zero) = (matrix(&[&[1.0, 0.0]]), Mat::zeros(1, 2));
    let system = Constant { M: one.clone(), C: zero.clone(), K: one.clone(), f: zero_right_hand_side(1) };
    let start = Start::Point { x: vec![0.0; 2], xdot: vec![0.0; 2] };
    let found = discretise(&system, &formulas, &start, 0.0, 0.1, 3, 2, rule());
    assert_eq!(found, Err(SecondOrderError::Undetermined(values(0, 1, 0, 0, 0, 1))));
    let refused = ExplicitSolution::new(&one, &zero, &one, 2, rule()).unwrap_err();
    assert_eq!(refused, SecondOrderError::NotRegular(values(0, 1, 0, 0, 0, 1)));
    // chosen derivatives that do not fit
    let at = constant(one.clone(), zero.clone(), one, 2);
    let refused = |chosen: &[usize]| compare_formulations(&at, Some(chosen), rule()).unwrap_err();
    assert_eq!(refused(&[1]), SecondOrderError::SecondDerivativeRemains { unknown: 0 });
    assert_eq!(refused(&[0, 0]), SecondOrderError::NoSuchUnknown { unknown: 0, count: 2 });
    assert_eq!(refused(&[2]), SecondOrderError::NoSuchUnknown { unknown: 2, count: 2 });
    // x = 1 and x = 2: the values are found, the contradiction is reported
    let (zero, ones) = (Mat::zeros(2, 1), Mat::full(2, 1, 1.0));
    let f = |_: f64, l: usize| (0..=l).map(|k| if k == 0 { vec![1.0, 2.0] } else { vec![0.0, 0.0] }).collect();
    let at = Constant { M: zero.clone(), C: zero, K: ones, f }.expand(0.0, 2).unwrap();
    let found = strangeness_free(&at, rule()).unwrap();
    assert_eq!(found.values, values(0, 0, 0, 1, 1, 0));
    assert!(found.consistency_residual > 0.1);
    // a rank that no tolerance decides
    let M = matrix(&[&[1.0, 0.0, 0.0], &[1.0, 3e-12, 0.0], &[1.0, 0.0, 3e-13]]);
    let at = constant(M.clone(), Mat::zeros(3, 3), Mat::zeros(3, 3), 1);
    let tight = RankRule { tolerance: Some(5e-13), ..rule() };
    assert!(matches!(strangeness_free(&at, tight), Err(SecondOrderError::Rank(_))));
}

#[test]
fn a_unit_of_time_makes_a_stiff_oscillator_an_oscillator() {
    // stiffness 1e14 against a mass of one: in seconds the mass looks like rounding
    let at = constant(Mat::full(1, 1, 1.0), Mat::zeros(1, 1), Mat::full(1, 1, 1e14), 2);
    assert_eq!(strangeness_free(&at, rule()).unwrap().values, values(0, 0, 0, 1, 0, 0));
    let scaled = at.in_time_unit(1e-7).unwrap();
    assert_eq!(strangeness_free(&scaled, rule()).unwrap().values, values(0, 1, 0, 0, 0, 0));
    assert!(at.in_time_unit(0.0).is_err());
}
