//! Symmetric and self-adjoint pairs: the examples of Wunderlich, thesis (2008), chapter 4, and random pairs.

use crate::blocks::{beside, put};
use crate::random::Random;
use daedal::dae::CharacteristicValues;
use daedal::linalg::{Mat, Matrix, RankRule, Ranks, eigenvalues};
use daedal::scalar::{Scalar, Taylor};
use daedal_pencils::exponential;
use daedal_pencils::second_order::FirstOrderExpansion;
use daedal_pencils::structured::*;
use faer::linalg::solvers::Solve;
use faer::{Col, Scale};

fn rule() -> RankRule {
    RankRule::default()
}

fn matrix(rows: &[&[f64]]) -> Mat<f64> {
    Mat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

fn diagonal(entries: &[f64]) -> Mat<f64> {
    Mat::from_fn(entries.len(), entries.len(), |i, j| if i == j { entries[i] } else { 0.0 })
}

fn column(x: &[f64]) -> Col<f64> {
    Col::from_fn(x.len(), |i| x[i])
}

fn first(mu: usize, d: usize, a: usize, v: usize, u: usize) -> CharacteristicValues {
    CharacteristicValues { mu, d, a, v, u }
}

/// Values of a constant pair.
fn frozen(pair: &MatrixPair) -> CharacteristicValues {
    FirstOrderExpansion::constant(&pair.E, &pair.A, 6).characteristic_values(rule()).unwrap()
}

/// Coefficients of a pair that are written for every scalar.
trait Moving {
    fn dim(&self) -> usize;
    fn at<S: Scalar>(&self, t: S, E: &mut Matrix<S>, A: &mut Matrix<S>);

    fn expansion(&self, t: f64) -> FirstOrderExpansion {
        let n = self.dim();
        let (mut E, mut A) = (Matrix::<Taylor<f64, 7>>::zeros(n, n), Matrix::zeros(n, n));
        self.at(Taylor::parameter(t), &mut E, &mut A);
        let split =
            |X: &Matrix<Taylor<f64, 7>>| (0..7).map(|k| Mat::from_fn(n, n, |i, j| X[(i, j)].coefficients[k])).collect();
        FirstOrderExpansion { E: split(&E), A: split(&A), b: vec![vec![0.0; n]; 7] }
    }

    fn pair(&self, t: f64) -> (MatrixPair, Mat<f64>) {
        let mut at = self.expansion(t);
        let pair = MatrixPair::new(at.E[0].clone(), at.A[0].clone(), at.E.swap_remove(1)).unwrap();
        (pair, at.A.swap_remove(1))
    }

    fn values(&self, t: f64) -> CharacteristicValues {
        self.expansion(t).characteristic_values(rule()).unwrap()
    }
}

fn sizes(E: &Mat<f64>, A: &Mat<f64>, symmetry: Symmetry) -> [usize; 3] {
    let found = structured_invariants(E, A, symmetry, &mut Ranks::default()).unwrap();
    [found.r, found.a, found.s]
}

fn refused(E: &Mat<f64>, A: &Mat<f64>, symmetry: Symmetry) -> Refusal {
    match structured_reduce(E, A, symmetry, rule()) {
        Err(StructuredError::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

/// Real eigenvalues, rising.
fn real_eigenvalues(X: &Mat<f64>) -> Vec<f64> {
    let mut copy = Matrix::zeros(X.nrows(), X.ncols());
    (0..X.nrows()).for_each(|i| (0..X.ncols()).for_each(|j| copy[(i, j)] = X[(i, j)]));
    let mut found: Vec<f64> = eigenvalues(&copy).unwrap().iter().map(|z| z.0).collect();
    found.sort_by(f64::total_cmp);
    found
}

fn close(found: &[f64], expected: &[f64]) -> bool {
    found.len() == expected.len() && found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-10)
}

/// Example 4.11.
struct Example411;

impl Moving for Example411 {
    fn dim(&self) -> usize {
        3
    }
    fn at<S: Scalar>(&self, t: S, E: &mut Matrix<S>, A: &mut Matrix<S>) {
        (E[(0, 0)], E[(1, 1)]) = (S::from(1.0), t);
        (A[(0, 2)], A[(1, 1)], A[(2, 0)]) = (t, S::from(1.0), t);
    }
}

type Series = Taylor<f64, 3>;

/// T3.1.
#[test]
fn t3_1_a_symmetric_pair_with_constant_kernel_is_reduced_symmetrically() {
    for t in [0.5, 2.0] {
        let (pair, A_rate) = Example411.pair(t);
        assert!(pair.is_symmetric());
        assert_eq!(sizes(&pair.E, &pair.A, Symmetry::Symmetric), [2, 0, 1]);
        assert_eq!(Example411.values(t), first(1, 1, 2, 0, 0));
        let found = variable_conditions(&pair, Some(&A_rate), Symmetry::Symmetric, &mut Ranks::default()).unwrap();
        assert!(found.kernel_constant && found.E22_regular && found.semidefinite);
        assert_eq!(found.coupling_constant, Some(true));
        assert!(found.symmetric_reduction_possible() && found.index_at_most_one_by_semidefiniteness());
        // x = (sin t, t³, eᵗ), b = E x′ − A x
        let s = Series::parameter(t);
        let x = [s.sin(), s * s * s, s.exp()];
        let rate = |x: Series| x.coefficients[1];
        // the last coefficient is not needed
        let along = |x: Series| Series { coefficients: [x.coefficients[1], 2.0 * x.coefficients[2], 0.0] };
        let b = [along(x[0]) - s * x[2], s * along(x[1]) - x[1], -(s * x[0])];
        let (values, rates) = (b.map(|b| b.coefficients[0]).to_vec(), b.map(rate).to_vec());
        let at = MovingPair { pair, A_rate, b: values, b_rate: rates };
        let found = reduce_variable(&at, Symmetry::Symmetric, rule()).unwrap();
        assert_eq!((found.sizes.s, found.sizes.d, found.sizes.a, found.sizes.u), (1, 1, 0, 0));
        // the thesis' system E = diag(0, t, 0), A = [1/t 0 t; 0 1 0; t 0 0], b = (b₁ + b₃′/t, b₂, b₃), up to multiples of its third row
        let (E, A) = (in_x(&found, &found.E), in_x(&found, &found.A));
        let right = found.P.transpose().partial_piv_lu().solve(column(&found.b));
        let b = [at.b[0] + at.b_rate[2] / t, at.b[1], at.b[2]];
        let thesis = matrix(&[&[1.0 / t, 0.0, t], &[0.0, 1.0, 0.0], &[t, 0.0, 0.0]]);
        assert!((E - diagonal(&[0.0, t, 0.0])).norm_max() < 1e-13);
        for i in 0..3 {
            let multiple = (thesis[(i, 0)] - A[(i, 0)]) / t;
            assert!((0..3).all(|j| (A[(i, j)] + multiple * thesis[(2, j)] - thesis[(i, j)]).abs() < 1e-13), "{A:?}");
            assert!((right[i] + multiple * b[2] - b[i]).abs() < 1e-13);
            assert!(i == 0 || multiple.abs() < 1e-13);
        }
        assert!(Symmetry::Symmetric.defect(&found.A) < 1e-14 && Symmetry::Symmetric.defect(&found.E) < 1e-14);
    }
}

/// P⁻ᵀ X P⁻¹: a matrix of the reduced pair in the original unknowns.
fn in_x(found: &VariableReduction, X: &Mat<f64>) -> Mat<f64> {
    let inverse = found.P.partial_piv_lu().solve(Mat::<f64>::identity(X.nrows(), X.nrows()));
    inverse.transpose() * X * &inverse
}

/// Random pairs with variable coefficients behind a constant congruence: kernel E and the range of the coupling stand still.
#[test]
fn random_pairs_with_variable_coefficients_are_reduced_with_their_symmetry() {
    let mut random = Random(411);
    let (mut reduced, mut refusals) = (0, 0);
    for case in 0..300 {
        let symmetry = if case % 2 == 0 { Symmetry::Symmetric } else { Symmetry::Skew };
        let skew = symmetry == Symmetry::Skew;
        let even = |k: usize| if skew { 2 * k } else { k };
        let (s, d, a, u) = (even(random.below(2)), even(random.below(3)), random.below(3), random.below(2));
        let (r, n) = (s + d, 2 * s + d + a + u);
        if n == 0 {
            continue;
        }
        // coefficients of τ⁰, τ¹, τ² of E and A in blocks (s + d, a, s, u)
        let mirror = |X: &Mat<f64>, sign: f64| X + X.transpose() * Scale(sign);
        let Q = random.orthogonal(n);
        let turn = |X: &Mat<f64>| &Q * X * Q.transpose();
        let rank_two = Mat::from_fn(a, a, |i, j| if i == j { 3.0 } else { 0.0 });
        // ±1, or [0 1; −1 0], on the diagonal: E is regular on its range, and so is E₂₂ unless it is made to vanish
        let vanishes = d > 0 && d <= s && case % 10 > 7;
        let along = |i: usize, j: usize| match (skew, i == j, i / 2 == j / 2) {
            (false, true, _) => [2.0, -2.0][i % 2],
            (true, false, true) => [2.0, -2.0][i % 2],
            _ => 0.0,
        };
        let (mut E, mut A) = (Vec::new(), Vec::new());
        for k in 0..3 {
            let mut block = Mat::zeros(n, n);
            let mut leading = mirror(&(random.matrix(r, r) * Scale(0.2)), symmetry.sign());
            if k == 0 {
                leading += Mat::from_fn(r, r, along);
            }
            if vanishes {
                put(&mut leading, s, s, &Mat::zeros(d, d));
                put(&mut leading, 0, s, &Mat::from_fn(s, d, |i, j| if i == j && k == 0 { 1.0 } else { 0.0 }));
                let across = leading.get(..s, s..).transpose() * Scale(symmetry.sign());
                put(&mut leading, s, 0, &across);
            }
            put(&mut block, 0, 0, &leading);
            E.push(block);
            let mut block = Mat::zeros(n, n);
            let top = random.matrix(r, r + a);
            put(&mut block, 0, 0, &top);
            let corner = random.matrix(a, a);
            put(&mut block, r, r, &(if k == 0 { &rank_two + corner * Scale(0.3) } else { corner }));
            // the coupling acts on the first s directions of range E only, plus what the algebraic part does not see
            put(&mut block, 0, r + a, &random.matrix(s, s));
            A.push(mirror(&block, 1.0));
        }
        // the kernel of A on kernel E turns: congruence with I + τK, K skew on kernel E
        let mut K = Mat::zeros(n, n);
        put(&mut K, r, r, &mirror(&random.matrix(n - r, n - r), -1.0));
        let turning = &A[0] * &K - &K * &A[0];
        A[1] += turning;
        if skew {
            // A + ½E′ symmetric
            for k in 0..2 {
                let change = &E[k + 1] * Scale(0.5 * (k + 1) as f64);
                A[k] -= change;
            }
        }
        let (E, A): (Vec<_>, Vec<_>) = (E.iter().map(&turn).collect(), A.iter().map(&turn).collect());
        // a solution, and b = E x′ − A x with its derivative at τ = 0
        let x: Vec<Col<f64>> = (0..3).map(|_| Col::from_fn(n, |_| random.real())).collect();
        let b = &E[0] * &x[1] - &A[0] * &x[0];
        let b_rate = &E[1] * &x[1] + &E[0] * &x[2] * Scale(2.0) - &A[1] * &x[0] - &A[0] * &x[1];
        let pair = MatrixPair::new(E[0].clone(), A[0].clone(), E[1].clone()).unwrap();
        let list = |x: &Col<f64>| x.iter().copied().collect::<Vec<f64>>();
        let at = MovingPair { pair, A_rate: A[1].clone(), b: list(&b), b_rate: list(&b_rate) };
        match reduce_variable(&at, symmetry, rule()) {
            Err(StructuredError::Refused(Refusal::SingularE22 { .. })) => refusals += 1,
            Err(error) => panic!("case {case}: {error}"),
            Ok(found) => {
                let sizes = found.sizes;
                assert_eq!((sizes.s, sizes.d, sizes.a, sizes.u), (s, d, a, u), "case {case}");
                // the symmetry of the pair, with E′ on the differential part
                assert!(symmetry.defect(&found.E) < 1e-12, "case {case}");
                let free = found.P.get(.., s..s + d).to_owned();
                let mut half = found.A.clone();
                if skew {
                    let rate = free.transpose() * &E[1] * &free * Scale(0.5);
                    let whole = half.get(s..s + d, s..s + d).to_owned() + rate;
                    put(&mut half, s, s, &whole);
                }
                assert!(Symmetry::Symmetric.defect(&half) < 1e-11 * (1.0 + half.norm_max()), "case {case}");
                // strangeness-free with d + (a + 2s) equations
                let local = structured_invariants(&found.E, &found.A, symmetry, &mut Ranks::default()).unwrap();
                assert_eq!((local.s, local.r, local.a, local.u), (0, d, a + 2 * s, u), "case {case}");
                // the solution is one of the reduced pair: rows without derivative at once, ξ′ with constant directions
                let inverse = found.P.partial_piv_lu();
                let y = inverse.solve(&x[0]);
                let xi_rate = inverse.solve(&x[1]).get(s..s + d).to_owned();
                let mut residual = &found.A * &y + column(&found.b);
                let leading = found.E.get(s..s + d, s..s + d) * xi_rate;
                (0..d).for_each(|i| residual[s + i] -= leading[i]);
                assert!(residual.norm_max() < 1e-9, "case {case}: {:e}", residual.norm_max());
                reduced += 1;
            }
        }
    }
    assert!(reduced > 200 && refusals > 5, "{reduced} {refusals}");
}

/// Example 4.12 after so many steps of index reduction.
struct Example412 {
    steps: usize,
}

impl Moving for Example412 {
    fn dim(&self) -> usize {
        6
    }
    fn at<S: Scalar>(&self, t: S, E: &mut Matrix<S>, A: &mut Matrix<S>) {
        E[(1, 3)] = t;
        if self.steps < 2 {
            E[(0, 2)] = t;
        }
        if self.steps < 1 {
            (E[(2, 0)], E[(3, 1)]) = (t, t);
        }
        let one = S::from(1.0);
        (A[(0, 4)], A[(4, 0)], A[(1, 5)], A[(5, 1)], A[(2, 2)]) = (one, one, one, one, one);
    }
}

/// T3.2.
#[test]
fn t3_2_an_index_of_two_cannot_be_reduced_symmetrically() {
    let t = 1.7;
    let (pair, A_rate) = Example412 { steps: 0 }.pair(t);
    assert!(pair.is_symmetric());
    assert_eq!(sizes(&pair.E, &pair.A, Symmetry::Symmetric), [4, 0, 2]);
    assert_eq!(Example412 { steps: 0 }.values(t), first(2, 1, 4, 1, 1));
    assert_eq!(Example412 { steps: 1 }.values(t).mu, 1);
    assert_eq!(Example412 { steps: 2 }.values(t), first(0, 1, 4, 1, 1));
    assert!(!Example412 { steps: 2 }.pair(t).0.is_symmetric());
    assert_eq!(refused(&pair.E, &pair.A, Symmetry::Symmetric), Refusal::SingularE22 { d: 2, rank: 0 });
    let found = variable_conditions(&pair, Some(&A_rate), Symmetry::Symmetric, &mut Ranks::default()).unwrap();
    assert!(found.kernel_constant && !found.E22_regular && !found.symmetric_reduction_possible());
    // the equation that vanishes is b₄ + t b₆′ = 0: a left null vector of the array of level one over its right-hand side
    let at = Example412 { steps: 0 }.expansion(t);
    let mut M = Mat::zeros(12, 12);
    put(&mut M, 0, 0, &at.E[0]);
    put(&mut M, 6, 0, &(&at.E[1] - &at.A[0]));
    put(&mut M, 6, 6, &(&at.E[0] * Scale(2.0)));
    let mut N = Mat::zeros(12, 6);
    put(&mut N, 0, 0, &at.A[0]);
    put(&mut N, 6, 0, &at.A[1]);
    let mut z = Col::<f64>::zeros(12);
    (z[3], z[6 + 5]) = (1.0, t);
    assert!((z.transpose() * &M).norm_max() < 1e-15 && (z.transpose() * &N).norm_max() < 1e-15);
}

/// Counterexample to Corollary 4.13: a semidefinite E whose kernel turns.
struct Turning;

impl Moving for Turning {
    fn dim(&self) -> usize {
        3
    }
    fn at<S: Scalar>(&self, t: S, E: &mut Matrix<S>, A: &mut Matrix<S>) {
        let (sin, cos) = t.sin_cos();
        let zero = S::from(0.0);
        let (p, q, e) = ([cos, sin, zero], [-sin, cos, zero], [zero, zero, S::from(1.0)]);
        for i in 0..3 {
            for j in 0..3 {
                E[(i, j)] = p[i] * p[j] + e[i] * e[j];
                A[(i, j)] = (p[i] * e[j] + e[i] * p[j]) * 2.0 - p[i] * q[j] - q[i] * p[j];
            }
        }
    }
}

/// T3.3.
#[test]
fn t3_3_a_turning_kernel_breaks_the_bound_for_semidefinite_pairs() {
    for t in [0.3, 1.9] {
        let (pair, _) = Turning.pair(t);
        assert!(pair.is_symmetric());
        assert_eq!(Turning.values(t), first(2, 0, 2, 1, 1));
        assert_eq!(frozen(&pair).mu, 1);
        let found = variable_conditions(&pair, None, Symmetry::Symmetric, &mut Ranks::default()).unwrap();
        assert!(found.semidefinite && found.E22_regular && !found.kernel_constant);
        assert!(!found.index_at_most_one_by_semidefiniteness() && !found.symmetric_reduction_possible());
        // frozen, the kernel does not turn
        let still = MatrixPair::constant(pair.E, pair.A).unwrap();
        let found = variable_conditions(&still, None, Symmetry::Symmetric, &mut Ranks::default()).unwrap();
        assert!(found.index_at_most_one_by_semidefiniteness());
    }
}

/// T3.4.
#[test]
fn t3_4_a_constrained_gyroscopic_system_is_self_adjoint_and_refused() {
    let M = diagonal(&[2.0, 1.0, 3.0]);
    let C = matrix(&[&[0.0, 1.0, 0.0], &[-1.0, 0.0, 2.0], &[0.0, -2.0, 0.0]]);
    let K = diagonal(&[1.0, 2.0, 3.0]);
    let G = matrix(&[&[1.0, 1.0, 1.0]]);
    let pair = gyroscopic_pair(&M, &C, &K, &G).unwrap();
    assert!(pair.is_self_adjoint() && !pair.is_symmetric());
    assert_eq!(sizes(&pair.E, &pair.A, Symmetry::Skew), [6, 0, 1]);
    assert_eq!(frozen(&pair), first(2, 4, 3, 0, 0));
    assert_eq!(refused(&pair.E, &pair.A, Symmetry::Skew), Refusal::OddCoupling { s: 1 });
    // two constraints: s is even, E₂₂ is singular
    let G = matrix(&[&[1.0, 1.0, 1.0], &[1.0, 0.0, -1.0]]);
    let pair = gyroscopic_pair(&M, &C, &K, &G).unwrap();
    assert!(matches!(refused(&pair.E, &pair.A, Symmetry::Skew), Refusal::SingularE22 { d: 4, rank } if rank <= 2));
    // without constraint: an ODE with a spectrum symmetric to zero
    let pair = gyroscopic_pair(&M, &C, &K, &Mat::zeros(0, 3)).unwrap();
    assert_eq!(frozen(&pair), first(0, 6, 0, 0, 0));
    let found = structured_reduce(&pair.E, &pair.A, Symmetry::Skew, rule()).unwrap();
    let spectrum = real_eigenvalues(&found.state_matrix());
    assert!(spectrum.iter().zip(spectrum.iter().rev()).all(|(x, y)| (x + y).abs() < 1e-10));
    // damping is not skew
    let wrong = gyroscopic_pair(&M, &M, &K, &G);
    assert!(matches!(wrong, Err(StructuredError::WrongSymmetry { what: "C", .. })));
}

fn scalar_control(R: f64) -> OptimalControl {
    let number = |x: f64| Mat::full(1, 1, x);
    OptimalControl {
        E: number(1.0),
        A: number(0.0),
        B: number(1.0),
        Q: number(1.0),
        R: number(R),
        S: number(0.0),
        E_rate: None,
    }
}

/// T3.5.
#[test]
fn t3_5_the_optimal_control_of_an_integrator_is_found_from_the_reduced_pair() {
    let problem = scalar_control(1.0);
    let pair = problem.pair().unwrap();
    assert!(pair.is_self_adjoint());
    assert_eq!(sizes(&pair.E, &pair.A, Symmetry::Skew), [2, 1, 0]);
    assert_eq!(frozen(&pair), first(0, 2, 1, 0, 0));
    let reduced = structured_reduce(&pair.E, &pair.A, Symmetry::Skew, rule()).unwrap();
    let H = reduced.state_matrix();
    assert!(close(&real_eigenvalues(&H), &[-1.0, 1.0]));
    // z = P₂ e^{Ht} y with x(0) = 1, λ(t_f) = 0
    let tf = 1.3;
    let boundary = problem.boundary(&Mat::full(1, 1, 1.0)).unwrap();
    let P2 = reduced.P.get(.., reduced.state()).to_owned();
    let at = |t: f64| &P2 * exponential(&(&H * Scale(t))).unwrap();
    let start = &boundary.start * at(0.0);
    let end = &boundary.end * at(tf);
    let determinant = start[(0, 0)] * end[(0, 1)] - start[(0, 1)] * end[(0, 0)];
    let y = column(&[end[(0, 1)] / determinant, -end[(0, 0)] / determinant]);
    for t in [0.0_f64, 0.4, 1.0, 1.3] {
        let z = at(t) * &y;
        let lambda = (tf - t).sinh() / tf.cosh();
        let exact = column(&[lambda, (tf - t).cosh() / tf.cosh(), -lambda]);
        assert!((z - exact).norm_max() < 1e-12, "t = {t}");
    }
}

/// T3.6.
#[test]
fn t3_6_a_control_without_cost_is_refused() {
    let pair = scalar_control(0.0).pair().unwrap();
    assert!(pair.is_self_adjoint());
    assert_eq!(sizes(&pair.E, &pair.A, Symmetry::Skew), [2, 0, 1]);
    assert_eq!(frozen(&pair), first(2, 0, 3, 0, 0));
    assert_eq!(refused(&pair.E, &pair.A, Symmetry::Skew), Refusal::OddCoupling { s: 1 });
}

/// T3.7.
#[test]
fn t3_7_a_plant_with_a_constraint_is_reduced_if_its_multiplier_has_no_cost() {
    for (alpha, expected) in [(0.0, 2.0_f64.sqrt()), (0.5, 1.5)] {
        let problem = |Q: Mat<f64>| OptimalControl {
            E: diagonal(&[1.0, 0.0, 1.0]),
            A: matrix(&[&[0.0, 1.0, 1.0], &[1.0, 0.0, alpha], &[0.0, 0.0, -1.0]]),
            B: matrix(&[&[0.0], &[0.0], &[1.0]]),
            Q,
            R: Mat::full(1, 1, 1.0),
            S: Mat::zeros(3, 1),
            E_rate: None,
        };
        let pair = problem(diagonal(&[1.0, 0.0, 1.0])).pair().unwrap();
        assert_eq!(sizes(&pair.E, &pair.A, Symmetry::Skew), [4, 1, 2]);
        assert_eq!(frozen(&pair), first(1, 2, 5, 0, 0));
        let reduced = structured_reduce(&pair.E, &pair.A, Symmetry::Skew, rule()).unwrap();
        assert_eq!(reduced.sizes.d, 2);
        assert!(close(&real_eigenvalues(&reduced.state_matrix()), &[-expected, expected]));
        check_reduction(&pair, &reduced, &mut Random(37), "T3.7");
        let pair = problem(Mat::identity(3, 3)).pair().unwrap();
        assert_eq!(sizes(&pair.E, &pair.A, Symmetry::Skew), [4, 2, 1]);
        assert_eq!(frozen(&pair).mu, 2);
        assert_eq!(refused(&pair.E, &pair.A, Symmetry::Skew), Refusal::OddCoupling { s: 1 });
    }
}

/// T3.8.
#[test]
fn t3_8_a_saddle_point_problem_is_reduced() {
    let L = matrix(&[&[2.0, -1.0, 0.0], &[-1.0, 2.0, -1.0], &[0.0, -1.0, 2.0]]);
    let pair = saddle_point_pair(&L, &matrix(&[&[1.0, 1.0, 1.0]])).unwrap();
    assert!(pair.is_symmetric());
    assert_eq!(sizes(&pair.E, &pair.A, Symmetry::Symmetric), [3, 0, 1]);
    assert_eq!(frozen(&pair), first(1, 2, 2, 0, 0));
    let reduced = structured_reduce(&pair.E, &pair.A, Symmetry::Symmetric, rule()).unwrap();
    assert_eq!(reduced.sizes.d, 2);
    assert!(close(&real_eigenvalues(&reduced.state_matrix()), &[-10.0 / 3.0, -2.0]));
    check_reduction(&pair, &reduced, &mut Random(38), "T3.8");
}

/// The reduced pair has the symmetry, no strangeness, the sizes, and the solutions of the original one.
fn check_reduction(pair: &MatrixPair, reduced: &StructuredReduction, random: &mut Random, name: &str) {
    let n = pair.E.nrows();
    let StructuredInvariants { a, s, d, u, .. } = reduced.sizes;
    assert_eq!(reduced.symmetry.defect(&reduced.E), 0.0, "{name}");
    assert_eq!(Symmetry::Symmetric.defect(&reduced.A), 0.0, "{name}");
    let found = structured_invariants(&reduced.E, &reduced.A, reduced.symmetry, &mut Ranks::default()).unwrap();
    assert_eq!((found.r, found.a, found.s, found.u), (d, a + 2 * s, 0, u), "{name}");
    // x = x₀ + x₁t + x₂t², b = E x′ − A x
    let x = random.polynomial(n, 1, 2);
    let b = &pair.E * &x[1] - &pair.A * &x[0];
    let b_rate = &pair.E * &x[2] * Scale(2.0) - &pair.A * &x[1];
    let list = |x: &Mat<f64>| (0..n).map(|i| x[(i, 0)]).collect::<Vec<f64>>();
    let right = reduced.right_hand_side(&list(&b), &list(&b_rate)).unwrap();
    let solver = reduced.P.partial_piv_lu();
    let (y, rate) = (solver.solve(column(&list(&x[0]))), solver.solve(column(&list(&x[1]))));
    let residual = &reduced.E * &rate - &reduced.A * &y - column(&right);
    let size = 1.0 + reduced.A.norm_max() * y.norm_max() + column(&right).norm_max();
    assert!(residual.norm_max() < 1e-10 * size, "{name}: {:e}", residual.norm_max());
}

/// A random matrix X = ε Xᵀ.
fn structured(random: &mut Random, n: usize, symmetry: Symmetry) -> Mat<f64> {
    let X = random.matrix(n, n);
    &X + X.transpose() * Scale(symmetry.sign())
}

/// T3.9.
#[test]
fn t3_9_random_structured_pairs_are_reduced_or_refused_for_a_singular_block() {
    let mut random = Random(39);
    let (mut reduced_pairs, mut refusals, mut odd, mut skipped) = (0, 0, 0, 0);
    for case in 0..500 {
        let symmetry = if case % 2 == 0 { Symmetry::Symmetric } else { Symmetry::Skew };
        let (mut s, d, a, u) = (random.below(3), random.below(4), random.below(3), random.below(2));
        if symmetry == Symmetry::Skew && (s + d) % 2 == 1 {
            s += 1; // rank E is even
        }
        let (r, n) = (s + d, 2 * s + d + a + u);
        if n == 0 {
            continue;
        }
        // a singular E₂₂ with regular E needs s > 0
        let deficient = case % 3 == 0 && s > 0 && d > 0;
        let mut E_r = structured(&mut random, r, symmetry);
        if deficient {
            for k in s..r {
                (E_r[(s, k)], E_r[(k, s)]) = (0.0, 0.0);
            }
        }
        let regular = |X: &Mat<f64>| {
            let of = Ranks::default().subspaces(X, 0.0).unwrap().singular_values;
            of.len() == X.nrows() && of.last().is_none_or(|x| *x > 0.05)
        };
        let E22 = E_r.get(s.., s..).to_owned();
        let singular = deficient || (symmetry == Symmetry::Skew && d % 2 == 1);
        let (Sa, Ss) = (structured(&mut random, a, Symmetry::Symmetric), random.matrix(s, s));
        if !regular(&E_r) || !regular(&Sa) || !regular(&Ss) || (!singular && !regular(&E22)) {
            skipped += 1;
            continue;
        }
        let (mut E, mut A) = (Mat::zeros(n, n), Mat::zeros(n, n));
        put(&mut E, 0, 0, &E_r);
        put(&mut A, 0, 0, &structured(&mut random, r + a, Symmetry::Symmetric));
        put(&mut A, r, r, &Sa);
        put(&mut A, 0, r + a, &Ss);
        put(&mut A, r + a, 0, &Ss.transpose().to_owned());
        // a congruence that is not orthogonal
        let P = random.orthogonal(n) + random.matrix(n, n) * Scale(0.2);
        if !regular(&P) {
            skipped += 1;
            continue;
        }
        let (E, A) = (P.transpose() * &E * &P, P.transpose() * &A * &P);
        let exact = |X: &Mat<f64>, sign: f64| (X + X.transpose() * Scale(sign)) * Scale(0.5);
        let pair = MatrixPair::constant(exact(&E, symmetry.sign()), exact(&A, 1.0)).unwrap();
        assert_eq!(sizes(&pair.E, &pair.A, symmetry), [r, a, s], "case {case}");
        let values = frozen(&pair);
        match structured_reduce(&pair.E, &pair.A, symmetry, rule()) {
            Ok(found) => {
                reduced_pairs += 1;
                assert!(!singular, "case {case}");
                assert_eq!(values, first(usize::from(s > 0), d, a + 2 * s, u, u), "case {case}");
                check_reduction(&pair, &found, &mut random, &format!("case {case}"));
            }
            Err(StructuredError::Refused(refusal)) => {
                refusals += 1;
                assert!(singular, "case {case}");
                odd += usize::from(refusal == Refusal::OddCoupling { s });
                assert!(u > 0 || values.mu >= 2, "case {case}");
            }
            Err(other) => panic!("case {case}: {other}"),
        }
    }
    assert!(reduced_pairs > 150 && refusals > 40 && odd > 10, "{reduced_pairs} {refusals} {odd} {skipped}");
}

/// T3.10.
#[test]
fn t3_10_a_singular_pencil_of_index_one_is_refused() {
    let A = matrix(&[&[0.0, 0.0, 1.0], &[0.0; 3], &[1.0, 0.0, 0.0]]);
    for (sign, symmetry, expected) in [
        (1.0, Symmetry::Symmetric, Refusal::SingularE22 { d: 1, rank: 0 }),
        (-1.0, Symmetry::Skew, Refusal::OddCoupling { s: 1 }),
    ] {
        let E = matrix(&[&[0.0, 1.0, 0.0], &[sign, 0.0, 0.0], &[0.0; 3]]);
        let pair = MatrixPair::constant(E, A.clone()).unwrap();
        assert_eq!(frozen(&pair), first(1, 1, 1, 1, 1));
        assert_eq!(refused(&pair.E, &pair.A, symmetry), expected);
    }
}

/// T3.11.
#[test]
fn t3_11_the_minimal_extension_is_self_adjoint_and_has_the_same_solutions() {
    let (s, d, a, u) = (2, 2, 1, 1);
    let n = 2 * s + d + a + u;
    let mut checked = 0;
    for case in 0..60 {
        let mut random = Random(311 + case);
        // polynomial blocks of degree two in t
        let mut symmetric = |n: usize, symmetry: Symmetry| -> Vec<Mat<f64>> {
            (0..3).map(|_| structured(&mut random, n, symmetry)).collect()
        };
        let (E11, E22) = (symmetric(s, Symmetry::Skew), symmetric(d, Symmetry::Skew));
        let (S11, S22, Sa) =
            (symmetric(s, Symmetry::Symmetric), symmetric(d, Symmetry::Symmetric), symmetric(a, Symmetry::Symmetric));
        let (E12, Ss) = (random.polynomial(s, d, 2), random.polynomial(s, s, 2));
        let x = random.polynomial(n, 1, 4);
        let value = |X: &[Mat<f64>], t: f64| {
            let zero = Mat::<f64>::zeros(X[0].nrows(), X[0].ncols());
            X.iter().rev().fold(zero, |sum, x| sum * Scale(t) + x)
        };
        let rate_of = |X: &[Mat<f64>]| -> Vec<Mat<f64>> {
            X.iter().enumerate().skip(1).map(|(k, x)| x * Scale(k as f64)).collect()
        };
        let rate = |X: &[Mat<f64>], t: f64| value(&rate_of(X), t);
        // self-adjoint A₁₁, A₂₂
        let half = |S: &[Mat<f64>], E: &[Mat<f64>], t: f64| value(S, t) - rate(E, t) * Scale(0.5);
        let full = |t: f64| {
            let (mut E, mut A) = (Mat::zeros(n, n), Mat::zeros(n, n));
            put(&mut E, 0, 0, &value(&E11, t));
            put(&mut E, 0, s, &value(&E12, t));
            put(&mut E, s, 0, &(value(&E12, t).transpose() * Scale(-1.0)));
            put(&mut E, s, s, &value(&E22, t));
            put(&mut A, 0, 0, &half(&S11, &E11, t));
            put(&mut A, 0, s, &(rate(&E12, t) * Scale(-1.0)));
            put(&mut A, s, s, &half(&S22, &E22, t));
            put(&mut A, s + d, s + d, &value(&Sa, t));
            put(&mut A, 0, s + d + a, &value(&Ss, t));
            put(&mut A, s + d + a, 0, &value(&Ss, t).transpose().to_owned());
            (E, A)
        };
        for t in [-0.4, 0.0, 0.7] {
            if value(&E22, t).determinant().abs() < 0.02
                || value(&Ss, t).determinant().abs() < 0.02
                || value(&Sa, t).norm_max() < 0.02
            {
                continue;
            }
            let blocks = SelfAdjointBlocks {
                E11: value(&E11, t),
                E12: value(&E12, t),
                E22: value(&E22, t),
                E11_rate: rate(&E11, t),
                E12_rate: rate(&E12, t),
                E22_rate: rate(&E22, t),
                A11: half(&S11, &E11, t),
                A22: half(&S22, &E22, t),
                algebraic: value(&Sa, t),
                coupling: value(&Ss, t),
                coupling_rate: rate(&Ss, t),
                u,
            };
            // b = E x′ − A x; of b′ only that of the fourth block, b₄ = −Σₛᵀx₁, is used
            let (E, A) = full(t);
            let right = |t: f64| {
                let (E, A) = full(t);
                E * rate(&x, t) - A * value(&x, t)
            };
            let x1: Vec<Mat<f64>> = x.iter().map(|x| x.get(..s, ..).to_owned()).collect();
            let fourth = rate(&Ss, t).transpose() * value(&x1, t) + value(&Ss, t).transpose() * rate(&x1, t);
            let mut b_rate = vec![0.0; n];
            (0..s).for_each(|i| b_rate[s + d + a + i] = -fourth[(i, 0)]);
            let b: Vec<f64> = (0..n).map(|i| right(t)[(i, 0)]).collect();
            let found = minimal_extension(&blocks, &b, &b_rate, rule()).unwrap();

            // identities of the congruence
            let size = (1.0 + found.A11.norm_max() + found.E11.norm_max()).powi(2);
            assert!(Symmetry::Skew.defect(&found.E11) < 1e-12 * size);
            assert!((&found.A12 - found.A21.transpose()).norm_max() < 1e-11 * size);
            let inverse = |t: f64| value(&E22, t).partial_piv_lu().solve(Mat::<f64>::identity(d, d));
            let (F, F_rate) = (inverse(t), inverse(t) * rate(&E22, t) * inverse(t) * Scale(-1.0));
            let (G, G_rate) = (value(&E12, t), rate(&E12, t));
            // (E₁₂E₂₂⁻¹E₂₁)′ with E₂₁ = −E₁₂ᵀ
            let moved = &G_rate * &F * G.transpose() + &G * &F_rate * G.transpose() + &G * &F * G_rate.transpose();
            let E11_rate = rate(&E11, t) + moved;
            let defect = &found.A11 - (&found.A11 + &E11_rate).transpose();
            assert!(defect.norm_max() < 1e-10 * size, "case {case}: {:e}", defect.norm_max());
            // structure and index of the result
            assert!(found.pair.self_adjointness_defect().A < 1e-11);
            let found_sizes =
                structured_invariants(&found.pair.E, &found.pair.A, Symmetry::Skew, &mut Ranks::default());
            let found_sizes = found_sizes.unwrap();
            assert_eq!((found_sizes.r, found_sizes.a, found_sizes.s, found_sizes.u), (d, a + 3 * s, 0, u));
            check_solution(&found, &E, &A, &value(&x, t), &rate(&x, t), s, size);
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked}");
}

/// The solution, transformed and extended by x₆ = x̃₁′, solves the extended pair.
fn check_solution(
    found: &MinimalExtension,
    E: &Mat<f64>,
    A: &Mat<f64>,
    x: &Mat<f64>,
    xdot: &Mat<f64>,
    s: usize,
    size: f64,
) {
    let n = E.nrows();
    assert_eq!((A.nrows(), found.pair.E.nrows()), (n, n + s));
    // x̃ = P⁻¹x; its second block moves with W too, but E₂₂ acts on x̃₂′ = x₂′ + W x₁′ + W′x₁, where
    // E₂₂W′ = Ã₂₁ + A₂₂W
    let d = found.A21.nrows();
    let W = found.P.get(s..s + d, ..s) * Scale(-1.0);
    let mut y = Mat::zeros(n + s, 1);
    put(&mut y, 0, 0, x);
    let second = x.get(s..s + d, ..) + &W * x.get(..s, ..);
    put(&mut y, s, 0, &second);
    // the sign of x₆ follows from 0 = x₆ + b̃₆
    put(&mut y, n, 0, &xdot.get(..s, ..).to_owned());
    let E22 = found.pair.E.get(s..s + d, s..s + d);
    let A22 = found.pair.A.get(s..s + d, s..s + d);
    let turning = (&found.A21 + A22 * &W) * x.get(..s, ..);
    let rate = E22 * (xdot.get(s..s + d, ..) + &W * xdot.get(..s, ..)) + turning;
    let mut left = Mat::zeros(n + s, 1);
    put(&mut left, s, 0, &rate);
    let residual = left - &found.pair.A * &y - Mat::from_fn(n + s, 1, |i, _| found.b[i]);
    assert!(residual.norm_max() < 1e-10 * size, "{:e}", residual.norm_max());
}

/// The structured form of a mechanical system with massless parts, and the full one.
#[test]
fn the_trimmed_companion_of_a_system_with_massless_parts_is_regular() {
    let mut random = Random(384);
    for symmetry in [Symmetry::Symmetric, Symmetry::Skew] {
        for _ in 0..20 {
            let n = 4;
            let X = random.matrix(n, 2);
            let M = &X * X.transpose();
            let mut C = structured(&mut random, n, symmetry);
            if symmetry == Symmetry::Skew {
                // generic and skew: regular on kernel M of dimension two
                C = &C + &C;
            }
            let Y = random.matrix(n, n);
            let K = &Y * Y.transpose() + Mat::<f64>::identity(n, n);
            let built = structured_companion(&M, &C, &K, symmetry, rule()).unwrap();
            assert_eq!(built.pair.E.nrows(), n + 2);
            let fits = match symmetry {
                Symmetry::Symmetric => built.pair.is_symmetric(),
                Symmetry::Skew => built.pair.is_self_adjoint(),
            };
            assert!(fits);
            assert_eq!(frozen(&built.pair), first(0, 6, 0, 0, 0));
            // the full companion leaves v undetermined on kernel M
            let (mut E, mut A) = (Mat::zeros(2 * n, 2 * n), Mat::zeros(2 * n, 2 * n));
            put(&mut E, 0, 0, &beside(&[&C, &M]));
            put(&mut E, n, 0, &(&M * Scale(symmetry.sign())));
            put(&mut A, 0, 0, &(&K * Scale(-1.0)));
            put(&mut A, n, n, &(&M * Scale(symmetry.sign())));
            let full = frozen(&MatrixPair::constant(E, A).unwrap());
            assert_eq!((full.u, full.v), (2, 2));
            // it is an ODE: the reduction changes the unknowns only
            let reduced = structured_reduce(&built.pair.E, &built.pair.A, symmetry, rule()).unwrap();
            assert_eq!(reduced.sizes.d, 6);
        }
    }
}

#[test]
fn blocks_that_do_not_fit_are_told_by_their_names() {
    let zero = |rows: usize, cols: usize| Mat::<f64>::zeros(rows, cols);
    let skew = matrix(&[&[0.0, 1.0], &[-1.0, 0.0]]);
    let blocks = SelfAdjointBlocks {
        E11: zero(1, 1),
        E12: zero(1, 2),
        E22: skew.clone(),
        E11_rate: zero(1, 1),
        E12_rate: zero(1, 2),
        E22_rate: zero(2, 2),
        A11: zero(1, 1),
        A22: Mat::identity(2, 2),
        algebraic: zero(0, 0),
        coupling: Mat::identity(1, 1),
        coupling_rate: zero(1, 1),
        u: 0,
    };
    let run = |blocks: &SelfAdjointBlocks, length: usize| {
        minimal_extension(blocks, &vec![0.0; length], &vec![0.0; length], rule())
    };
    assert_eq!(run(&blocks, 4).unwrap().pair.E.nrows(), 5);
    assert_eq!(run(&blocks, 3), Err(StructuredError::Size { what: "b", expected: (4, 1), found: (3, 1) }));
    let wrong = SelfAdjointBlocks { E22: zero(2, 2), ..blocks.clone() };
    assert_eq!(run(&wrong, 4), Err(StructuredError::Singular { what: "E₂₂" }));
    let wrong = SelfAdjointBlocks { A22: skew.clone(), ..blocks.clone() };
    assert!(matches!(run(&wrong, 4), Err(StructuredError::WrongSymmetry { what: "A₂₂ + ½E₂₂′", .. })));
    let wrong = SelfAdjointBlocks { A11: zero(2, 2), ..blocks };
    assert!(matches!(run(&wrong, 4), Err(StructuredError::Size { what: "A₁₁", .. })));
    // pairs
    let refused = structured_reduce(&skew, &skew, Symmetry::Skew, rule()).unwrap_err();
    assert!(matches!(refused, StructuredError::WrongSymmetry { what: "A", .. }));
    let refused = structured_reduce(&skew, &zero(2, 2), Symmetry::Symmetric, rule()).unwrap_err();
    assert!(matches!(refused, StructuredError::WrongSymmetry { what: "E", .. }));
    let refused = structured_reduce(&skew, &Mat::full(2, 2, f64::NAN), Symmetry::Skew, rule()).unwrap_err();
    assert_eq!(refused, StructuredError::NotFinite { what: "A" });
    let control = OptimalControl { R: zero(2, 2), ..scalar_control(1.0) };
    assert_eq!(control.pair(), Err(StructuredError::Size { what: "R", expected: (1, 1), found: (2, 2) }));
}
