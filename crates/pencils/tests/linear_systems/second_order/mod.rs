//! Linear and nonlinear DAEs of second order: the examples of Wunderlich, thesis (2008), chapter 3, and random systems.

mod invariance;
mod reduction;
mod solutions;

use crate::blocks::{below, beside};
use crate::random::Random;
use daedal::linalg::{Mat, Matrix, RankRule, Ranks};
use daedal::scalar::{Scalar, Taylor};
use daedal_pencils::second_order::*;
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

/// r, a, s, u, v of a pair, with relative tolerance.
fn local_first(E: &Mat<f64>, A: &Mat<f64>) -> (usize, usize, usize, usize, usize) {
    let found = daedal_pencils::local_invariants(&rows(E), &rows(A), 1e-12).unwrap();
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

/// T2.3 with the solution (sin t, cos 2t, e⁻ᵗ).
#[derive(Clone, Copy)]
pub struct Example323;

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

/// M, C, K of a chain of three masses under p₁ + p₂ + p₃ = 0.
pub fn chain(gyroscopic: bool) -> [Mat<f64>; 3] {
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
