//! A = Q R with the whole of Q, by Householder reflections: what null spaces and stable eliminations need.

use crate::linalg::Matrix;

/// Q R of an m × n matrix, m ≥ n.
pub(super) struct FullQr {
    /// reflections below the diagonal, R on and above it
    A: Matrix,
    /// diagonal of R, and the first entries of the reflections
    diagonal: Vec<f64>,
    heads: Vec<f64>,
}

impl FullQr {
    pub fn of(mut A: Matrix) -> Self {
        let (m, n) = (A.rows(), A.cols());
        let (mut diagonal, mut heads) = (vec![0.0; n], vec![0.0; n]);
        for k in 0..n {
            let size = (k..m).map(|i| A[(i, k)] * A[(i, k)]).sum::<f64>().sqrt();
            if size == 0.0 {
                continue;
            }
            let alpha = if A[(k, k)] > 0.0 { -size } else { size };
            let head = A[(k, k)] - alpha;
            let square = head * head + (k + 1..m).map(|i| A[(i, k)] * A[(i, k)]).sum::<f64>();
            for j in k + 1..n {
                let along = head * A[(k, j)] + (k + 1..m).map(|i| A[(i, k)] * A[(i, j)]).sum::<f64>();
                let factor = 2.0 * along / square;
                A[(k, j)] -= factor * head;
                for i in k + 1..m {
                    A[(i, j)] -= factor * A[(i, k)];
                }
            }
            (diagonal[k], heads[k]) = (alpha, head);
        }
        FullQr { A, diagonal, heads }
    }

    fn reflect(&self, k: usize, b: &mut [f64]) {
        let head = self.heads[k];
        if head == 0.0 {
            return;
        }
        let m = self.A.rows();
        let square = head * head + (k + 1..m).map(|i| self.A[(i, k)] * self.A[(i, k)]).sum::<f64>();
        let along = head * b[k] + (k + 1..m).map(|i| self.A[(i, k)] * b[i]).sum::<f64>();
        let factor = 2.0 * along / square;
        b[k] -= factor * head;
        for i in k + 1..m {
            b[i] -= factor * self.A[(i, k)];
        }
    }

    /// b ← Qᵀ b.
    pub fn transposed_times(&self, b: &mut [f64]) {
        (0..self.A.cols()).for_each(|k| self.reflect(k, b));
    }

    /// b ← Q b.
    pub fn times(&self, b: &mut [f64]) {
        (0..self.A.cols()).rev().for_each(|k| self.reflect(k, b));
    }

    /// b ← R⁻¹ b.
    pub fn solve(&self, b: &mut [f64]) {
        for i in (0..self.A.cols()).rev() {
            let sum = (i + 1..self.A.cols()).map(|j| self.A[(i, j)] * b[j]).sum::<f64>();
            b[i] = (b[i] - sum) / self.diagonal[i];
        }
    }

    /// b ← R⁻ᵀ b.
    pub fn solve_transposed(&self, b: &mut [f64]) {
        for i in 0..self.A.cols() {
            let sum = (0..i).map(|j| self.A[(j, i)] * b[j]).sum::<f64>();
            b[i] = (b[i] - sum) / self.diagonal[i];
        }
    }

    /// Smallest over largest entry of the diagonal of R.
    pub fn quality(&self) -> f64 {
        let sizes = self.diagonal.iter().map(|r| r.abs());
        let top = sizes.clone().fold(0.0, f64::max);
        sizes.fold(1.0, |least, r| if top > 0.0 { f64::min(least, r / top) } else { 0.0 })
    }

    /// Columns n, …, m − 1 of Q: a basis of what is orthogonal to the columns of A.
    pub fn complement(&self) -> Matrix {
        let (m, n) = (self.A.rows(), self.A.cols());
        let mut basis = Matrix::zeros(m, m - n);
        let mut column = vec![0.0; m];
        for j in n..m {
            column.fill(0.0);
            column[j] = 1.0;
            self.times(&mut column);
            (0..m).for_each(|i| basis[(i, j - n)] = column[i]);
        }
        basis
    }
}

/// Aᵀ.
pub(super) fn transposed(A: &Matrix) -> Matrix {
    let mut T = Matrix::zeros(A.cols(), A.rows());
    for i in 0..A.rows() {
        for j in 0..A.cols() {
            T[(j, i)] = A[(i, j)];
        }
    }
    T
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_multiply_back_and_the_complement_is_orthogonal() {
        let mut A = Matrix::zeros(5, 3);
        for i in 0..5 {
            for j in 0..3 {
                A[(i, j)] = ((3 * i + 7 * j + i * j * j) as f64 + 0.3).sin();
            }
        }
        let qr = FullQr::of(A.clone());
        let x = [0.3, -1.0, 2.0];
        let mut b = crate::linalg::times(&A, &x);
        qr.transposed_times(&mut b);
        assert!(b[3].abs() + b[4].abs() < 1e-14);
        qr.solve(&mut b[..3]);
        assert!(b.iter().zip(x).all(|(b, x)| (b - x).abs() < 1e-13));
        let N = qr.complement();
        for j in 0..3 {
            for k in 0..2 {
                assert!((0..5).map(|i| A[(i, j)] * N[(i, k)]).sum::<f64>().abs() < 1e-14);
            }
        }
    }
}
