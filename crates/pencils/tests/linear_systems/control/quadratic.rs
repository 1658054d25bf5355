//! Linear-quadratic optima against closed forms and Riccati's equation.

use super::matrix;
use crate::blocks::{below, beside, put};
use crate::random::Random;
use daedal::linalg::{Mat, RankRule};
use daedal_pencils::control::{ControlError, ControlPhase, OptimalityValues, SwitchedProblem};
use daedal_pencils::structured::OptimalControl;

pub fn plant(E: Mat<f64>, A: Mat<f64>, B: Mat<f64>, Q: Mat<f64>, S: Mat<f64>, R: Mat<f64>) -> OptimalControl {
    OptimalControl { E, A, B, Q, R, S, E_rate: None }
}

pub fn problem(phases: Vec<OptimalControl>, times: Vec<f64>, start: Vec<f64>, M: Mat<f64>) -> SwitchedProblem {
    SwitchedProblem {
        surfaces: vec![None; phases.len() - 1],
        phases: phases.into_iter().map(ControlPhase::homogeneous).collect(),
        times,
        final_linear: vec![0.0; start.len()],
        start,
        final_weight: M,
    }
}

/// Hairer & Wanner, Solving ODEs II, VII.1: y' = u, ½∫ y² + d u² with d = ¼.
#[test]
fn the_scalar_problem_has_its_closed_form() {
    let one = |x: f64| matrix(&[&[x]]);
    let plant = plant(one(1.0), one(0.0), one(1.0), one(1.0), one(0.0), one(0.25));
    let values = OptimalityValues::new(&plant, RankRule::default()).unwrap();
    assert!(values.is_regular() && values.semidefinite && values.strangeness() == Some(0));
    let found = problem(vec![plant], vec![0.0, 1.0], vec![1.0], one(0.0)).solve(RankRule::default()).unwrap();
    assert!((found.at(1.0, 0).unwrap().x[0] - 0.265802228834).abs() < 1e-11);
    assert!((found.at(0.0, 0).unwrap().lambda[0] - 0.482013790038).abs() < 1e-11);
    for t in [0.0, 0.3, 0.77, 1.0] {
        let point = found.at(t, 0).unwrap();
        let exact = (2.0 * (1.0 - t)).cosh() / 2.0_f64.cosh();
        assert!((point.x[0] - exact).abs() < 1e-12 && (point.u[0] + 4.0 * point.lambda[0]).abs() < 1e-11);
    }
    // the cost of an optimum is ½λᵀE x at the start
    assert!((found.cost - 0.5 * 0.482013790038).abs() < 1e-11);
}

/// Hairer & Wanner, VII.1, exercise 8: without a cost of u the conditions have index three.
#[test]
fn a_free_control_is_refused_with_the_rank_of_its_condition() {
    let one = |x: f64| matrix(&[&[x]]);
    let plant = plant(one(1.0), one(0.0), one(1.0), one(1.0), one(0.0), one(0.0));
    let values = OptimalityValues::new(&plant, RankRule::default()).unwrap();
    assert_eq!((values.is_regular(), values.strangeness(), values.pencil.index()), (false, Some(2), 3));
    let refused = problem(vec![plant], vec![0.0, 1.0], vec![1.0], one(0.0)).solve(RankRule::default()).unwrap_err();
    assert_eq!(refused, ControlError::SingularControl { rank: 0, size: 1 });
}

/// P with −Ṗ = AᵀP + PA + Q − (PB + S)R⁻¹(BᵀP + Sᵀ), backward by Runge and Kutta's method, and x forward.
struct Riccati<'p> {
    phases: &'p [OptimalControl],
    times: &'p [f64],
}

impl Riccati<'_> {
    fn rate(plant: &OptimalControl, P: &Mat<f64>) -> (Mat<f64>, Mat<f64>) {
        let OptimalControl { A, B, Q, R, S, .. } = plant;
        let K = solve(R, &(B.transpose() * P + S.transpose()));
        let Ptransposed = A.transpose() * P + P * A + Q - (P * B + S) * &K;
        (Ptransposed, K)
    }

    /// P at the start, and x at the end.
    fn solve(&self, M: &Mat<f64>, x0: &Mat<f64>, steps: usize) -> (Mat<f64>, Mat<f64>) {
        let mut P = M.clone();
        let mut course: Vec<Vec<Mat<f64>>> = Vec::new();
        for (i, plant) in self.phases.iter().enumerate().rev() {
            let h = (self.times[i + 1] - self.times[i]) / steps as f64;
            let mut nodes = vec![P.clone()];
            for _ in 0..steps {
                let f = |P: &Mat<f64>| Self::rate(plant, P).0;
                let k1 = f(&P);
                let k2 = f(&(&P + scaled(&k1, 0.5 * h)));
                let k3 = f(&(&P + scaled(&k2, 0.5 * h)));
                let k4 = f(&(&P + scaled(&k3, h)));
                P = &P + scaled(&(k1 + scaled(&k2, 2.0) + scaled(&k3, 2.0) + k4), h / 6.0);
                nodes.push(P.clone());
            }
            nodes.reverse();
            course.push(nodes);
        }
        course.reverse();
        // two steps of P are one step of x
        let mut x = x0.clone();
        for (i, plant) in self.phases.iter().enumerate() {
            let h = 2.0 * (self.times[i + 1] - self.times[i]) / steps as f64;
            let f = |P: &Mat<f64>, x: &Mat<f64>| (&plant.A - &plant.B * Self::rate(plant, P).1) * x;
            for j in (0..steps).step_by(2) {
                let P = &course[i][j..j + 3];
                let k1 = f(&P[0], &x);
                let k2 = f(&P[1], &(&x + scaled(&k1, 0.5 * h)));
                let k3 = f(&P[1], &(&x + scaled(&k2, 0.5 * h)));
                let k4 = f(&P[2], &(&x + scaled(&k3, h)));
                x = &x + scaled(&(k1 + scaled(&k2, 2.0) + scaled(&k3, 2.0) + k4), h / 6.0);
            }
        }
        (P, x)
    }
}

fn scaled(X: &Mat<f64>, factor: f64) -> Mat<f64> {
    Mat::from_fn(X.nrows(), X.ncols(), |i, j| factor * X[(i, j)])
}

fn solve(A: &Mat<f64>, B: &Mat<f64>) -> Mat<f64> {
    let n = A.nrows();
    let mut lu = daedal::linalg::Lu::<f64>::new(n);
    (0..n).for_each(|i| (0..n).for_each(|j| lu.A[(i, j)] = A[(i, j)]));
    lu.factor().unwrap();
    let mut X = B.clone();
    for j in 0..B.ncols() {
        let mut x: Vec<f64> = (0..n).map(|i| B[(i, j)]).collect();
        lu.solve(&mut x);
        (0..n).for_each(|i| X[(i, j)] = x[i]);
    }
    X
}

/// A weight XᵀX + shift on a part of it.
fn weight(random: &mut Random, n: usize, shift: f64) -> Mat<f64> {
    let X = random.matrix(n, n);
    X.transpose() * &X + scaled(&Mat::identity(n, n), shift)
}

#[test]
fn optima_of_40_random_problems_with_two_modes_are_those_of_riccati() {
    let mut random = Random(557);
    for case in 0..40 {
        let (n, k) = (1 + random.below(3), 1 + random.below(2));
        let mut phase = || {
            let W = weight(&mut random, n + k, 0.2);
            let part = |i: usize, j: usize, r: usize, c: usize| W.get(i..i + r, j..j + c).to_owned();
            plant(
                Mat::identity(n, n),
                random.matrix(n, n),
                random.matrix(n, k),
                part(0, 0, n, n),
                part(0, n, n, k),
                part(n, n, k, k),
            )
        };
        let phases = vec![phase(), phase()];
        let (M, x0) = (weight(&mut random, n, 0.0), random.matrix(n, 1));
        let times = vec![0.0, 0.8, 1.7];
        let (P, x) = Riccati { phases: &phases, times: &times }.solve(&M, &x0, 800);
        let start: Vec<f64> = (0..n).map(|i| x0[(i, 0)]).collect();
        let found = problem(phases, times, start, M).solve(RankRule::default()).unwrap();
        let (begin, end) = (found.at(0.0, 0).unwrap(), found.at(1.7, 1).unwrap());
        let lambda = &P * &x0;
        for i in 0..n {
            assert!((begin.lambda[i] - lambda[(i, 0)]).abs() < 1e-7, "case {case}");
            assert!((end.x[i] - x[(i, 0)]).abs() < 1e-7, "case {case}");
        }
        let cost = 0.5 * (x0.transpose() * &P * &x0)[(0, 0)];
        assert!((found.cost - cost).abs() < 1e-7 * cost.max(1.0), "case {case}: {} {cost}", found.cost);
        // continuity at the switch
        let (before, behind) = (found.at(0.8, 0).unwrap(), found.at(0.8, 1).unwrap());
        for i in 0..n {
            assert!((before.x[i] - behind.x[i]).abs() < 1e-10 && (before.lambda[i] - behind.lambda[i]).abs() < 1e-9);
        }
    }
}

/// A plant with constraints: algebraic unknowns eliminated by hand give an ordinary one with mixed weights.
#[test]
fn constraints_are_eliminated_or_kept_with_the_same_optimum() {
    let mut random = Random(73);
    for case in 0..20 {
        let (d, a, k) = (1 + random.below(2), 1 + random.below(2), 1 + random.below(2));
        let n = d + a;
        let W = weight(&mut random, n + k, 0.2);
        let mut A = random.matrix(n, n);
        (d..n).for_each(|i| A[(i, i)] += 2.0);
        let B = random.matrix(n, k);
        // x₂ = −A₂₂⁻¹(A₂₁x₁ + B₂u): (x, u) = Y (x₁, u)
        let block = |X: &Mat<f64>, i: usize, j: usize, r: usize, c: usize| X.get(i..i + r, j..j + c).to_owned();
        let A22 = block(&A, d, d, a, a);
        let (through, direct) = (solve(&A22, &block(&A, d, 0, a, d)), solve(&A22, &block(&B, d, 0, a, k)));
        let mut Y = Mat::zeros(n + k, d + k);
        put(&mut Y, 0, 0, &Mat::identity(d, d));
        put(&mut Y, d, 0, &scaled(&beside(&[&through, &direct]), -1.0));
        put(&mut Y, n, d, &Mat::identity(k, k));
        let small = Y.transpose() * &W * &Y;
        let A12 = block(&A, 0, d, d, a);
        let reduced = plant(
            Mat::identity(d, d),
            block(&A, 0, 0, d, d) - &A12 * &through,
            block(&B, 0, 0, d, k) - &A12 * &direct,
            block(&small, 0, 0, d, d),
            block(&small, 0, d, d, k),
            block(&small, d, d, k, k),
        );
        let mut E = Mat::zeros(n, n);
        put(&mut E, 0, 0, &Mat::identity(d, d));
        // rows mixed, so that nothing stands where it is expected
        let P = random.orthogonal(n);
        let whole = plant(&P * E, &P * A, &P * B, block(&W, 0, 0, n, n), block(&W, 0, n, n, k), block(&W, n, n, k, k));
        let values = OptimalityValues::new(&whole, RankRule::default()).unwrap();
        assert!(values.is_regular() && values.pencil.index() == 1 && values.size == 2 * a + k);
        let M = weight(&mut random, d, 0.0);
        let mut M_whole = Mat::zeros(n, n);
        put(&mut M_whole, 0, 0, &M);
        let x0 = random.matrix(d, 1);
        let start: Vec<f64> = (0..d).map(|i| x0[(i, 0)]).collect();
        let whole_start: Vec<f64> = start.iter().copied().chain(vec![9.0; a]).collect();
        let small = problem(vec![reduced], vec![0.0, 2.0], start, M).solve(RankRule::default()).unwrap();
        let large = problem(vec![whole], vec![0.0, 2.0], whole_start, M_whole).solve(RankRule::default()).unwrap();
        assert!((small.cost - large.cost).abs() < 1e-9 * small.cost.max(1.0), "case {case}");
        for t in [0.0, 0.9, 2.0] {
            let (a, b) = (small.at(t, 0).unwrap(), large.at(t, 0).unwrap());
            (0..d).for_each(|i| assert!((a.x[i] - b.x[i]).abs() < 1e-9, "case {case}"));
            (0..k).for_each(|i| assert!((a.u[i] - b.u[i]).abs() < 1e-8, "case {case}"));
        }
    }
}

#[test]
fn long_intervals_with_fast_rates_are_solved_where_exponentials_overflow() {
    // e^{60} and e^{−60} in one problem
    let one = |x: f64| matrix(&[&[x]]);
    let plant = plant(one(1.0), one(-3.0), one(1.0), one(1.0), one(0.0), one(1.0));
    let found = problem(vec![plant], vec![0.0, 20.0], vec![1.0], one(0.0)).solve(RankRule::default()).unwrap();
    // stationary: P = −3 + √10
    let P = 10.0_f64.sqrt() - 3.0;
    assert!((found.cost - 0.5 * P).abs() < 1e-12);
    assert!((found.at(1.0, 0).unwrap().x[0] - (-(10.0_f64.sqrt())).exp()).abs() < 1e-12);
}

#[test]
fn a_constant_drive_and_a_linear_cost_are_followed() {
    // x' = u + 1, ½∫ u² + x: λ' = −1, λ(1) = 0, u = −λ = t − 1, x = x₀ + t²/2
    let one = |x: f64| matrix(&[&[x]]);
    let plant = plant(one(1.0), one(0.0), one(1.0), one(0.0), one(0.0), one(1.0));
    let mut problem = problem(vec![plant], vec![0.0, 1.0], vec![2.0], one(0.0));
    problem.phases[0].b = vec![1.0];
    problem.phases[0].linear = vec![1.0, 0.0];
    let found = problem.solve(RankRule::default()).unwrap();
    for t in [0.0, 0.4, 1.0] {
        let point = found.at(t, 0).unwrap();
        assert!((point.u[0] - (t - 1.0)).abs() < 1e-13 && (point.x[0] - (2.0 + 0.5 * t * t)).abs() < 1e-13);
    }
    // ½∫(t − 1)² + ∫(2 + t²/2)
    assert!((found.cost - (1.0 / 6.0 + 2.0 + 1.0 / 6.0)).abs() < 1e-12);
}

#[test]
fn what_is_not_differential_is_not_handed_on() {
    let I = Mat::<f64>::identity(2, 2);
    let half = matrix(&[&[1.0, 0.0], &[0.0, 0.0]]);
    let of = |E: &Mat<f64>| {
        plant(
            E.clone(),
            matrix(&[&[0.0, 1.0], &[0.0, 1.0]]),
            matrix(&[&[0.0], &[1.0]]),
            I.clone(),
            Mat::zeros(2, 1),
            matrix(&[&[1.0]]),
        )
    };
    let zero = Mat::<f64>::zeros(2, 2);
    let solve = |phases: Vec<OptimalControl>, M: &Mat<f64>| {
        let times = (0..=phases.len()).map(|i| i as f64).collect();
        problem(phases, times, vec![1.0, 0.0], M.clone()).solve(RankRule::default())
    };
    assert!(solve(vec![of(&I), of(&half)], &zero).is_ok());
    let refused = solve(vec![of(&half), of(&I)], &zero).unwrap_err();
    assert_eq!(refused, ControlError::AlgebraicTransfer { phase: 2 });
    assert_eq!(solve(vec![of(&half)], &I).unwrap_err(), ControlError::AlgebraicFinalCost);
    let mut wrong = problem(vec![of(&I)], vec![0.0, 0.0], vec![0.0; 2], zero.clone());
    assert_eq!(wrong.solve(RankRule::default()).unwrap_err(), ControlError::Times);
    wrong.times = vec![0.0];
    let told = wrong.solve(RankRule::default()).unwrap_err().to_string();
    assert_eq!(told, "times: 1 given, 2 needed");
    // stacked blocks are what they say
    assert_eq!(below(&[&I, &zero]).nrows(), 4);
}
