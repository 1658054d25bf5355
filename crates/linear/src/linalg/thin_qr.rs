//! QR decomposition of a tall matrix with the first factor written out.

use super::{Matrix, Singular};

/// A = Q₁ R with Q₁ (m × n) of orthonormal columns.
#[derive(Clone, Debug)]
pub struct ThinQr {
    /// Q₁ᵀ, n × m.
    pub Qt: Matrix,
    /// R, upper triangular n × n.
    pub R: Matrix,
}

impl ThinQr {
    /// Room for an m × n matrix, m ≥ n.
    pub fn new(m: usize, n: usize) -> Self {
        ThinQr { Qt: Matrix::zeros(n, m), R: Matrix::zeros(n, n) }
    }

    /// Decompose Aᵀ given in [`ThinQr::Qt`], by modified Gram–Schmidt done twice, which is orthogonal to rounding.
    pub fn factor(&mut self) -> Result<(), Singular> {
        let n = self.R.rows();
        self.R.fill(0.0);
        for k in 0..n {
            let before = norm(self.Qt.row(k));
            for _ in 0..2 {
                for j in 0..k {
                    let (q, a) = self.Qt.row_pair(j, k);
                    let r: f64 = q.iter().zip(a.iter()).map(|(q, a)| q * a).sum();
                    for (a, q) in a.iter_mut().zip(q) {
                        *a -= r * q;
                    }
                    self.R[(j, k)] += r;
                }
            }
            let size = norm(self.Qt.row(k));
            if !(size > 1e-14 * before) {
                return Err(Singular { column: k });
            }
            self.R[(k, k)] = size;
            for a in self.Qt.row_mut(k) {
                *a /= size;
            }
        }
        Ok(())
    }

    /// b ← R⁻¹ b.
    pub fn solve(&self, b: &mut [f64]) {
        for i in (0..b.len()).rev() {
            let row = self.R.row(i);
            let mut sum = b[i];
            for j in i + 1..b.len() {
                sum -= row[j] * b[j];
            }
            b[i] = sum / row[i];
        }
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_squares_solution_of_a_consistent_tall_system() {
        let A = [[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]];
        let x = [0.7, -1.5];
        let mut qr = ThinQr::new(3, 2);
        for i in 0..3 {
            for j in 0..2 {
                qr.Qt[(j, i)] = A[i][j];
            }
        }
        qr.factor().unwrap();
        let mut b = [0.0; 2];
        for j in 0..2 {
            for i in 0..3 {
                b[j] += qr.Qt[(j, i)] * (A[i][0] * x[0] + A[i][1] * x[1]);
            }
        }
        qr.solve(&mut b);
        assert!((b[0] - x[0]).abs() < 1e-15 && (b[1] - x[1]).abs() < 1e-15);
    }
}
