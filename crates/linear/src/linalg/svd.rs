//! Singular value decomposition in fixed buffers, by faer.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Mat, Par};

/// The iteration for the singular values did not converge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the singular value decomposition did not converge: the matrix has entries that are not finite")]
pub struct NoConvergence;

/// A = U Σ Vᵀ with square U and V.
pub struct Svd {
    /// The matrix to decompose.
    pub A: Mat<f64>,
    /// Left singular vectors.
    pub U: Mat<f64>,
    /// Right singular vectors.
    pub V: Mat<f64>,
    sigma: faer::Col<f64>,
    memory: MemBuffer,
}

impl std::fmt::Debug for Svd {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Svd").field("sigma", &self.sigma).finish_non_exhaustive()
    }
}

impl Svd {
    /// Room for an m × n matrix.
    pub fn new(m: usize, n: usize) -> Self {
        let full = ComputeSvdVectors::Full;
        Svd {
            A: Mat::zeros(m, n),
            U: Mat::zeros(m, m),
            V: Mat::zeros(n, n),
            sigma: faer::Col::zeros(m.min(n)),
            memory: MemBuffer::new(svd_scratch::<f64>(m, n, full, full, Par::Seq, faer::prelude::default())),
        }
    }

    /// Decompose [`Svd::A`].
    pub fn factor(&mut self) -> Result<(), NoConvergence> {
        // faer adds to what stands in the outputs when it completes the bases
        self.U.fill(0.0);
        self.V.fill(0.0);
        if self.A.nrows() == 0 || self.A.ncols() == 0 {
            // nothing to decompose: every direction is a null direction
            self.U.diagonal_mut().fill(1.0);
            self.V.diagonal_mut().fill(1.0);
            return Ok(());
        }
        svd(
            self.A.as_ref(),
            self.sigma.as_diagonal_mut(),
            Some(self.U.as_mut()),
            Some(self.V.as_mut()),
            Par::Seq,
            MemStack::new(&mut self.memory),
            faer::prelude::default(),
        )
        .map_err(|_| NoConvergence)
    }

    /// Singular value k, in falling order; zero beyond the last.
    pub fn sigma(&self, k: usize) -> f64 {
        if k < self.sigma.nrows() { self.sigma[k] } else { 0.0 }
    }

    /// Number of singular values above `threshold`.
    pub fn rank(&self, threshold: f64) -> usize {
        (0..self.sigma.nrows()).take_while(|&k| self.sigma[k] > threshold).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_multiply_back_and_the_rank_is_counted() {
        let mut svd = Svd::new(2, 3);
        let entries = [[3.0, 1.0, 2.0], [6.0, 2.0, 4.0]];
        for i in 0..2 {
            for j in 0..3 {
                svd.A[(i, j)] = entries[i][j];
            }
        }
        svd.factor().unwrap();
        assert_eq!(svd.rank(1e-12), 1);
        for i in 0..2 {
            for j in 0..3 {
                let back: f64 = (0..2).map(|k| svd.U[(i, k)] * svd.sigma(k) * svd.V[(j, k)]).sum();
                assert!((back - entries[i][j]).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn bases_are_orthonormal_when_the_buffers_are_used_again() {
        let mut svd = Svd::new(1, 2);
        for angle in [0.3_f64, 1.2, -2.0] {
            svd.A[(0, 0)] = angle.cos();
            svd.A[(0, 1)] = angle.sin();
            svd.factor().unwrap();
            let product = svd.V.transpose() * &svd.V;
            assert!((product - Mat::<f64>::identity(2, 2)).norm_max() < 1e-15);
        }
    }
}
