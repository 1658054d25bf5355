//! Optimality systems of linear-quadratic control, made by `daedal-pencils`, against Riccati's equation.

use crate::{error, options, system};
use daedal::dae::System;
use daedal::graph::Expr;
use daedal::linalg::Mat;
use daedal::{BoundaryProblem, EndCondition, Initial, solve_boundary};
use daedal_pencils::structured::OptimalControl;

fn mat(rows: &[&[f64]]) -> Mat<f64> {
    Mat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

/// E z' = A z with the self-adjoint pair of an optimal control problem.
fn optimality(problem: &OptimalControl, names: &[&str]) -> System {
    let pair = problem.pair().unwrap();
    let n = names.len();
    let sum = |row: usize, of: &Mat<f64>, x: &[Expr]| {
        (0..n).fold(Expr::from(0.0), |sum, j| if of[(row, j)] == 0.0 { sum } else { sum + x[j] * of[(row, j)] })
    };
    system(names, &[], |_, x, xd, _| (0..n).map(|i| sum(i, &pair.E, xd) - sum(i, &pair.A, x)).collect())
}

/// Conditions rows · z = right at the start or at the end.
fn rows(of: &Mat<f64>, names: &[&str], right: &[f64], last: bool) -> Vec<EndCondition> {
    (0..of.nrows())
        .map(|i| {
            EndCondition::new(format!("row {i}"), names, |a, b| {
                let z = if last { b } else { a };
                (0..names.len()).fold(Expr::from(-right[i]), |sum, j| sum + z[j] * of[(i, j)])
            })
        })
        .collect()
}

#[test]
fn t3_5_and_e6_have_their_closed_forms() {
    // x' = u, costs x² + u² over [0, 1.3]; and x² + u²/4 over [0, 1]
    for (weight, tf) in [(1.0, 1.3), (0.25, 1.0)] {
        let number = |x: f64| Mat::full(1, 1, x);
        let problem = OptimalControl {
            E: number(1.0),
            A: number(0.0),
            B: number(1.0),
            Q: number(1.0),
            R: number(weight),
            S: number(0.0),
            E_rate: None,
        };
        let names = ["lambda", "x", "u"];
        let s = optimality(&problem, &names);
        let ends = problem.boundary(&number(1.0)).unwrap();
        let mut boundary = BoundaryProblem::new(&s, Initial::at(0.0), Initial::at(tf));
        boundary.conditions = rows(&ends.start, &names, &[1.0], false);
        boundary.conditions.extend(rows(&ends.end, &names, &[0.0], true));
        let found = solve_boundary(&boundary, &options(1e-10)).unwrap();
        let root = weight.sqrt();
        assert!(error(&found, "x", |t| ((tf - t) / root).cosh() / (tf / root).cosh()) < 1e-9);
        assert!(error(&found, "lambda", |t| root * ((tf - t) / root).sinh() / (tf / root).cosh()) < 1e-9);
        assert_eq!((found.account.degrees, found.account.needed), (2, 2));
        if weight == 0.25 {
            // printed values of E6
            assert!((found.solution.end_value("x").unwrap() - 0.265_802_228_834).abs() < 1e-10);
            assert!((found.solution.state(0)[0] - 0.482_013_790_038).abs() < 1e-10);
        }
    }
}

/// P' = −AᵀP − P A − Q + P B R⁻¹Bᵀ P backward from P(tf) = 0 for two states and one control: P at the start.
fn riccati(A: [[f64; 2]; 2], B: [f64; 2], Q: [[f64; 2]; 2], R: f64, tf: f64) -> [[f64; 2]; 2] {
    let rate = |P: [[f64; 2]; 2]| {
        // in s = tf − t
        let mut out = [[0.0; 2]; 2];
        let PB = [P[0][0] * B[0] + P[0][1] * B[1], P[1][0] * B[0] + P[1][1] * B[1]];
        for i in 0..2 {
            for j in 0..2 {
                out[i][j] =
                    Q[i][j] - PB[i] * PB[j] / R + (0..2).map(|k| A[k][i] * P[k][j] + P[i][k] * A[k][j]).sum::<f64>();
            }
        }
        out
    };
    let add = |P: [[f64; 2]; 2], h: f64, K: [[f64; 2]; 2]| {
        let mut out = P;
        (0..2).for_each(|i| (0..2).for_each(|j| out[i][j] += h * K[i][j]));
        out
    };
    let n = 20_000;
    let h = tf / f64::from(n);
    let mut P = [[0.0; 2]; 2];
    for _ in 0..n {
        let k1 = rate(P);
        let k2 = rate(add(P, 0.5 * h, k1));
        let k3 = rate(add(P, 0.5 * h, k2));
        let k4 = rate(add(P, h, k3));
        P = add(add(add(add(P, h / 6.0, k1), h / 3.0, k2), h / 3.0, k3), h / 6.0, k4);
    }
    P
}

#[test]
fn the_costate_of_an_oscillator_is_riccatis_matrix_times_its_state() {
    let (A, B, Q, R, tf) = ([[0.0, 1.0], [-2.0, 0.3]], [0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]], 0.5, 4.0);
    let problem = OptimalControl {
        E: Mat::identity(2, 2),
        A: mat(&[&A[0], &A[1]]),
        B: mat(&[&[0.0], &[1.0]]),
        Q: mat(&[&Q[0], &Q[1]]),
        R: mat(&[&[R]]),
        S: Mat::zeros(2, 1),
        E_rate: None,
    };
    let names = ["l1", "l2", "x1", "x2", "u"];
    let s = optimality(&problem, &names);
    let ends = problem.boundary(&Mat::identity(2, 2)).unwrap();
    let mut boundary = BoundaryProblem::new(&s, Initial::at(0.0), Initial::at(tf));
    boundary.conditions = rows(&ends.start, &names, &[1.0, -0.5], false);
    boundary.conditions.extend(rows(&ends.end, &names, &[0.0, 0.0], true));
    let found = solve_boundary(&boundary, &options(1e-10)).unwrap();
    assert_eq!(found.account.degrees, 4);
    let (P, z) = (riccati(A, B, Q, R, tf), found.solution.state(0));
    for i in 0..2 {
        assert!((z[i] - P[i][0] * z[2] - P[i][1] * z[3]).abs() < 1e-8, "{z:?}");
    }
    assert!((z[4] + z[1] / R).abs() < 1e-9);
}

#[test]
fn an_optimality_system_of_index_two_has_its_closed_form() {
    // minimise ½∫ x₁² + x₂² + u², x₁' = −x₁ + u + w, x₂' = −x₂ + w, 0 = x₁ + x₂ − 1: with λ = √(3/2)
    // x₁ − ½ = c (cosh λs + sinh λs/λ), p₁ = c sinh λs/λ, s = 1 − t
    let s = system(&["x1", "x2", "w", "u", "p1", "p2", "m"], &[], |_, x, xd, _| {
        vec![
            xd[0] + x[0] - x[3] - x[2],
            xd[1] + x[1] - x[2],
            x[0] + x[1] - 1.0,
            xd[4] - x[4] + x[0] + x[6],
            xd[5] - x[5] + x[1] + x[6],
            x[3] + x[4],
            x[4] + x[5],
        ]
    });
    let problem = BoundaryProblem::new(&s, Initial::at(0.0).fix("x1", 1.0), Initial::at(1.0).fix("p1", 0.0));
    let found = solve_boundary(&problem, &options(1e-10)).unwrap();
    let values = found.solution.layout.values;
    assert_eq!((values.mu, values.d), (1, 2));
    let root = 1.5_f64.sqrt();
    let c = 0.5 / (root.cosh() + root.sinh() / root);
    let p = |t: f64| c * (root * (1.0 - t)).sinh() / root;
    assert!(error(&found, "x1", |t| 0.5 + c * (root * (1.0 - t)).cosh() + p(t)) < 1e-9);
    assert!(error(&found, "p1", p) < 1e-9 && error(&found, "u", |t| -p(t)) < 1e-9);
    assert!(error(&found, "w", |t| 0.5 + 0.5 * p(t)) < 1e-9 && error(&found, "m", |_| -0.5) < 1e-9);
}
