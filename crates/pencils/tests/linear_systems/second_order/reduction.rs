//! Reduction to systems without strangeness: T2.1 to T2.5.

use super::*;

// ---- T2.1 ----------------------------------------------------------------------------------------------------------------

/// T2.1: x₁″ + x₁′ + x₂ = f₁, x₁ = f₂.
#[test]
fn t2_1_only_the_harmless_derivative_keeps_the_index() {
    let M = matrix(&[&[1.0, 0.0], &[0.0, 0.0]]);
    let K = matrix(&[&[0.0, 1.0], &[1.0, 0.0]]);
    let found = local_invariants(&M, &M, &K, &mut Ranks::default()).unwrap();
    assert_eq!(found, TripleInvariants { r: 1, s_mk: 1, u: 1, ..TripleInvariants::default() });
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
    assert_eq!(found, TripleInvariants { r: 1, d2: 1, ..TripleInvariants::default() });
    assert_eq!(strangeness_free(&at, rule()).unwrap().values, values(0, 1, 0, 0, 0, 0));
    let compared = compare_formulations(&at, None, rule()).unwrap();
    assert_eq!(compared.companion, first(0, 2, 0, 0, 0));
}

// ---- T2.3, T2.4 ------------------------------------------------------------------------------------------------------------

/// T2.3.
#[test]
fn t2_3_the_hidden_equations_of_a_coupled_pair_are_found() {
    for t in [0.4, 1.0, 2.5] {
        let at = TripleFormulas(Example323).expand(t, 6).unwrap();
        let found = local_invariants(&at.M()[0], &at.C()[0], &at.K()[0], &mut Ranks::default()).unwrap();
        assert_eq!(found, TripleInvariants { r: 2, s_mk: 1, d2: 1, u: 1, ..TripleInvariants::default() });
        let found = characteristic_values(&at, rule()).unwrap();
        let expected = [([2, 2, 3], [1, 0, 1, 0]), ([4, 5, 6], [0, 1, 0, 1]), ([6, 7, 9], [1, 0, 0, 0])];
        assert_eq!(table(&found), expected);
        assert_eq!(found.values, values(2, 1, 0, 2, 0, 0));
        let reduced = strangeness_free(&at, rule()).unwrap();
        assert_eq!(reduced.values, found.values);
        assert_eq!(reduced.converted, 0);
        assert!(reduced.consistency_residual < 1e-14);

        // the projections of the example, for rows divided by i!
        let array = TripleArray::new(&at, 2).unwrap();
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
    let at = TripleFormulas(Example323).expand(t, 3).unwrap();
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

fn check_trimmed(t: f64, reduced: &StrangenessFreeTriple, f: &[[f64; 4]; 3]) {
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
        let run = |start: &DiscreteStart| {
            discretise(&TripleFormulas(Example323), &formulas, start, 1.0, h, steps as usize, 4, rule()).unwrap()
        };
        let found = run(&DiscreteStart::Values(history));
        assert_eq!(found.values, values(2, 1, 0, 2, 0, 0));
        assert_eq!(found.x.len(), steps as usize + 1);
        let [error, algebraic] = errors(&found.t, &found.x);
        assert!((error - expected).abs() < 0.05 * expected, "{steps}: {error:e}");
        assert!(algebraic < 2e-13, "{steps}: {algebraic:e}");
        // from x and x′ alone
        let x: [Taylor<f64, 2>; 3] = Example323::exact(Taylor::parameter(1.0));
        let at = |k: usize| x.iter().map(|x| x.coefficients[k]).collect();
        let found = run(&DiscreteStart::Point { x: at(0), xdot: at(1) });
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
            let reduced = strangeness_free(&TripleFormulas(Example323).expand(grid(i), 3).unwrap(), rule()).unwrap();
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
    let at = TripleFormulas(Example314).expand(t, 6).unwrap();
    let (M, C, K) = (at.M()[0].clone(), at.C()[0].clone(), at.K()[0].clone());
    let local = |M: &Mat<f64>, C: &Mat<f64>| local_invariants(M, C, &K, &mut Ranks::default()).unwrap();
    let none = TripleInvariants::default();
    assert_eq!(local(&M, &C), TripleInvariants { r: 2, s_ck: 1, d2: 2, u: 1, ..none });
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
    assert_eq!(local(&M, &C1), TripleInvariants { r: 2, d2: 1, s_mk: 1, a: 1, u: 1, ..none });
    let mut M3 = M.clone();
    M3[(0, 0)] = 0.0;
    assert_eq!(local(&M3, &C1), TripleInvariants { r: 1, d2: 1, d1: 1, a: 2, ..none });
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
