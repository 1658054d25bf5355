//! Random linear systems of any order whose characteristic values are known: strangeness-free ones behind unimodular operations.

use crate::random::Random;
use daedal::linalg::Mat;

/// Matrix polynomials A_0, …, A_k in τ.
#[derive(Clone)]
pub struct OrderedSystem(pub Vec<Vec<Mat<f64>>>);

/// Most powers of τ.
pub const POWERS: usize = 9;

fn product(X: &[Mat<f64>], Y: &[Mat<f64>]) -> Vec<Mat<f64>> {
    let mut Z = vec![Mat::zeros(X[0].nrows(), Y[0].ncols()); POWERS];
    for (i, x) in X.iter().enumerate() {
        for (j, y) in Y.iter().enumerate().take(POWERS.saturating_sub(i)) {
            Z[i + j] += x * y;
        }
    }
    Z
}

fn derivative(X: &[Mat<f64>]) -> Vec<Mat<f64>> {
    let mut Y: Vec<Mat<f64>> = X
        .iter()
        .enumerate()
        .skip(1)
        .map(|(k, x)| Mat::from_fn(x.nrows(), x.ncols(), |i, j| x[(i, j)] * k as f64))
        .collect();
    Y.push(Mat::zeros(X[0].nrows(), X[0].ncols()));
    Y
}

impl OrderedSystem {
    /// Strangeness-free with `d[q − 1]` equations x_j⁽q⁾ + lower terms of unknowns of the same and higher orders, a equations x_j = 0.
    pub fn strangeness_free(random: &mut Random, d: &[usize], [a, v, u]: [usize; 3], varying: bool) -> Self {
        let k = d.len();
        let order: Vec<usize> = (1..=k).rev().flat_map(|q| vec![q; d[q - 1]]).chain(vec![0; a]).collect();
        let (m, n) = (order.len() + v, order.len() + u);
        let mut A = vec![vec![Mat::zeros(m, n); POWERS]; k + 1];
        for (i, &q) in order.iter().enumerate().filter(|(_, q)| **q > 0) {
            for p in 0..q {
                for power in 0..if varying { 2 } else { 1 } {
                    for j in (0..order.len()).filter(|&j| order[j] > p).chain(order.len()..n) {
                        A[p][power][(i, j)] = random.real();
                    }
                }
            }
        }
        (0..order.len()).for_each(|i| A[order[i]][0][(i, i)] = 1.0);
        OrderedSystem(A)
    }

    pub fn k(&self) -> usize {
        self.0.len() - 1
    }

    /// Add c Dᵖ(row j) to row i, if the order stays; unimodular for i ≠ j.
    pub fn add_derivative(&mut self, i: usize, j: usize, p: usize, c: f64) -> bool {
        let k = self.k();
        let enters = |A: &Vec<Mat<f64>>| A.iter().any(|X| (0..X.ncols()).any(|col| X[(j, col)] != 0.0));
        let order = (0..=k).rev().find(|&q| enters(&self.0[q]));
        if i == j || order.is_none_or(|order| order + p > k) {
            return false;
        }
        let row = |X: &Mat<f64>| X.get(j..j + 1, ..).to_owned();
        let mut rows: Vec<Vec<Mat<f64>>> = self.0.iter().map(|A| A.iter().map(row).collect()).collect();
        for _ in 0..p {
            // (Σ A_q x⁽q⁾)' = Σ (A_q' + A_{q−1}) x⁽q⁾
            rows = (0..=k)
                .map(|q| {
                    let mut next = derivative(&rows[q]);
                    if q > 0 {
                        next.iter_mut().zip(&rows[q - 1]).for_each(|(x, y)| *x += y);
                    }
                    next
                })
                .collect();
        }
        for (A, row) in self.0.iter_mut().zip(&rows) {
            for (A, x) in A.iter_mut().zip(row) {
                for col in 0..A.ncols() {
                    A[(i, col)] += c * x[(0, col)];
                }
            }
        }
        true
    }

    /// P(τ) from the left, constant Q from the right.
    pub fn turned(&self, P: &[Mat<f64>], Q: &Mat<f64>) -> Self {
        let turn = |A: &Vec<Mat<f64>>| product(P, &A.iter().map(|X| X * Q).collect::<Vec<_>>());
        OrderedSystem(self.0.iter().map(turn).collect())
    }

    /// f of the solution x = Σ x[i] τⁱ.
    pub fn right_hand_side(&self, x: &[Mat<f64>]) -> Vec<Mat<f64>> {
        let mut f = vec![Mat::zeros(self.0[0][0].nrows(), 1); POWERS];
        let mut rate = x.to_vec();
        for A in &self.0 {
            f.iter_mut().zip(product(A, &rate)).for_each(|(f, y)| *f += y);
            rate = derivative(&rate);
        }
        f
    }

    /// Rows and columns.
    pub fn size(&self) -> (usize, usize) {
        (self.0[0][0].nrows(), self.0[0][0].ncols())
    }

    /// Some unimodular operations, at most this many: equations hide behind derivatives of others.
    pub fn hide(&mut self, random: &mut Random, most: usize) {
        let (m, k) = (self.size().0, self.k());
        let (wanted, mut made) = (random.below(most + 1), 0);
        for _ in 0..40 {
            let (i, j, p) = (random.below(m), random.below(m), random.below(k + 1));
            if made < wanted && self.add_derivative(i, j, p, 1.0 + random.below(2) as f64) {
                made += 1;
            }
        }
    }
}

/// A matrix polynomial that is regular near τ = 0.
pub fn regular(random: &mut Random, n: usize, varying: bool) -> Vec<Mat<f64>> {
    let mut P = vec![random.orthogonal(n)];
    if varying {
        P.extend((0..2).map(|_| random.matrix(n, n)));
    }
    P
}
