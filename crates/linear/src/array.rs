//! The derivative array M z' = N x + g of E ẋ = A x + b in Taylor form: block row i is the i-th derivative divided by i!, block
//! column j belongs to the Taylor coefficient x_[j+1],
//!
//! [M]ᵢⱼ = (j+1) E_[i−j] − A_[i−j−1], [N]ᵢ = A_[i], [g]ᵢ = b_[i], 0 ≤ i, j ≤ ℓ.
//!
//! Ranks are those of the array of derivatives, (2.22)–(2.23) of Wunderlich, thesis (2008); entries grow less.

use super::coefficients::TaylorData;
use super::equilibrate::{equation_factors, equilibrate};
use crate::linalg::Matrix;
use crate::linalg::rank::Scales;

/// The derivative array of one level.
#[derive(Clone, Debug)]
pub struct DerivativeArray {
    level: usize,
    /// (ℓ+1)m × (ℓ+1)n, block lower triangular.
    pub M: Matrix,
    /// (ℓ+1)m × n.
    pub N: Matrix,
    /// (ℓ+1)m.
    pub g: Vec<f64>,
}

impl DerivativeArray {
    /// Room for level ℓ of m equations in n unknowns.
    pub fn new(m: usize, n: usize, level: usize) -> Self {
        let rows = (level + 1) * m;
        DerivativeArray {
            level,
            M: Matrix::zeros(rows, (level + 1) * n),
            N: Matrix::zeros(rows, n),
            g: vec![0.0; rows],
        }
    }

    /// Level ℓ.
    pub fn level(&self) -> usize {
        self.level
    }

    /// Build M, N and g from Taylor coefficients of order ℓ at least.
    pub fn build(&mut self, data: &TaylorData) {
        let (m, n) = (data.E[0].rows(), data.E[0].cols());
        for i in 0..=self.level {
            for p in 0..m {
                let row = self.M.row_mut(i * m + p);
                for j in 0..=i {
                    let block = &mut row[j * n..(j + 1) * n];
                    let factor = (j + 1) as f64;
                    for (x, e) in block.iter_mut().zip(data.E[i - j].row(p)) {
                        *x = factor * e;
                    }
                    if i > j {
                        for (x, a) in block.iter_mut().zip(data.A[i - j - 1].row(p)) {
                            *x -= a;
                        }
                    }
                }
                self.N.row_mut(i * m + p).copy_from_slice(data.A[i].row(p));
            }
        }
        self.build_inhomogeneity(data);
    }

    /// The inflated pair (M, [N 0]) in the unknowns z of M, rows and columns scaled by powers of two so that entries are about one: ranks
    /// do not depend on units. `data` are the Taylor coefficients the array was built from.
    pub fn inflated_pair(&self, data: &TaylorData) -> (Matrix, Matrix) {
        let mut scales = Scales::default();
        equilibrate(self, &equation_factors(data, 0), &mut scales);
        let (height, width, n) = (self.M.rows(), self.M.cols(), self.N.cols());
        let (mut M, mut N) = (Matrix::zeros(height, width), Matrix::zeros(height, width));
        for i in 0..height {
            for j in 0..width {
                M[(i, j)] = scales.rows[i] * self.M[(i, j)] * scales.columns[n + j];
            }
            for j in 0..n {
                N[(i, j)] = scales.rows[i] * self.N[(i, j)] * scales.columns[n + j];
            }
        }
        (M, N)
    }

    /// Build g only.
    pub fn build_inhomogeneity(&mut self, data: &TaylorData) {
        let m = data.E[0].rows();
        for i in 0..=self.level {
            self.g[i * m..(i + 1) * m].copy_from_slice(&data.b[i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Coefficients, Supplied};

    #[test]
    fn a_solution_with_its_taylor_coefficients_solves_the_array() {
        // (1 + t) x' = t² x + b with x = t³ − 2t at t = 0.4: b = (1 + t)(3t² − 2) − t²(t³ − 2t) = −2 − 2t + 3t² + 5t³ − t⁵
        let t: f64 = 0.4;
        let mut problem = Supplied::new(1, 1, 3, |k, t: f64, E: &mut Matrix, A: &mut Matrix, b: &mut [f64]| {
            E[(0, 0)] = [1.0 + t, 1.0, 0.0, 0.0][k];
            A[(0, 0)] = [t * t, 2.0 * t, 2.0, 0.0][k];
            b[0] = [
                -2.0 - 2.0 * t + 3.0 * t * t + 5.0 * t.powi(3) - t.powi(5),
                -2.0 + 6.0 * t + 15.0 * t * t - 5.0 * t.powi(4),
                6.0 + 30.0 * t - 20.0 * t.powi(3),
                30.0 - 60.0 * t * t,
            ][k];
        });
        let mut data = TaylorData::new(1, 1, 3);
        problem.taylor(t, 3, &mut data).unwrap();
        let mut array = DerivativeArray::new(1, 1, 3);
        array.build(&data);
        let x = [t.powi(3) - 2.0 * t, 3.0 * t * t - 2.0, 3.0 * t, 1.0, 0.0];
        for i in 0..4 {
            let left: f64 = (0..4).map(|j| array.M[(i, j)] * x[j + 1]).sum();
            assert!((left - array.N[(i, 0)] * x[0] - array.g[i]).abs() < 1e-14);
        }
    }
}
