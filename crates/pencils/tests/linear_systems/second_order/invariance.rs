//! Random systems under equivalence, and failures: T2.10.

use super::*;

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
        assert!(reduced.repeats_at(&TripleArray::new(&at, mu + 1).unwrap()).unwrap(), "case {case}");

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
        let start = DiscreteStart::Point { x: chain_motion(0.0, 0), xdot: chain_motion(0.0, 1) };
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
    let expansion = TripleFormulas(Example323).expand(1.2, 7).unwrap();
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
    let at = TripleFormulas(Example323).expand(1.0, 1).unwrap();
    assert_eq!(strangeness_free(&at, rule()).unwrap_err(), SecondOrderError::IndexNotFound { level: 1 });
    assert_eq!(characteristic_values(&at, rule()).unwrap_err(), SecondOrderError::IndexNotFound { level: 1 });
    let refused = TripleFormulas(Example323).expand(1.0, 16);
    assert_eq!(refused, Err(SecondOrderError::TooFewDerivatives { asked: 16, given: 15 }));
    // a point where the mass vanishes
    let formulas = DifferenceFormulas::second_order();
    let start = DiscreteStart::Point { x: vec![1.0], xdot: vec![0.0] };
    let run = |start: &DiscreteStart, h: f64| {
        discretise(&TripleFormulas(SingularInTime), &formulas, start, -1.0, h, 8, 3, rule())
    };
    assert!(matches!(run(&start, 0.25), Err(SecondOrderError::Changed { t, .. }) if t == 0.0));
    assert!(matches!(run(&start, -0.25), Err(SecondOrderError::Impossible { .. })));
    let start = DiscreteStart::Point { x: vec![f64::NAN], xdot: vec![0.0] };
    assert_eq!(run(&start, 0.25), Err(SecondOrderError::NotFinite { what: "x" }));
    let start = DiscreteStart::Values(vec![vec![1.0]]);
    assert!(matches!(run(&start, 0.25), Err(SecondOrderError::Size { what: "the history", .. })));
    // one equation, two unknowns
    let (one, zero) = (matrix(&[&[1.0, 0.0]]), Mat::zeros(1, 2));
    let system = Constant { M: one.clone(), C: zero.clone(), K: one.clone(), f: zero_right_hand_side(1) };
    let start = DiscreteStart::Point { x: vec![0.0; 2], xdot: vec![0.0; 2] };
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
