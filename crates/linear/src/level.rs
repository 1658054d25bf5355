//! Work on one level of the derivative array: scales, corange of M, constraints, differential part.

use super::array::DerivativeArray;
use super::strangeness_free::{LeastClear, RankPlace};
use crate::linalg::product::{resize, transposed_product};
use crate::linalg::rank::Scales;
use crate::linalg::{Matrix, NoConvergence, RankGap, RankRule, Svd};

/// Buffers of one level of the derivative array.
pub struct Level {
    pub array: DerivativeArray,
    pub scales: Scales,
    svd_M: Svd,
    svd_B: Svd,
    pub svd_A: Svd,
    pub svd_E: Svd,
    /// R N C
    N: Matrix,
    /// Z₂ᵀN
    A2: Matrix,
    /// R Ẑ₂
    pub Z2: Matrix,
    /// R Ẑ₃
    pub Z3: Matrix,
}

impl Level {
    pub fn new(m: usize, n: usize, level: usize) -> Self {
        let (rows, cols) = ((level + 1) * m, (level + 1) * n);
        Level {
            array: DerivativeArray::new(m, n, level),
            scales: Scales::default(),
            svd_M: Svd::new(rows, cols),
            svd_B: Svd::new(0, n),
            svd_A: Svd::new(0, n),
            svd_E: Svd::new(m, n),
            N: Matrix::zeros(rows, n),
            A2: Matrix::zeros(0, n),
            Z2: Matrix::zeros(rows, 0),
            Z3: Matrix::zeros(rows, 0),
        }
    }

    /// Decompose R M C; returns the norm of R [M N] C.
    pub fn decompose(&mut self) -> Result<f64, NoConvergence> {
        let (rows, n, width) = (self.array.M.rows(), self.array.N.cols(), self.array.M.cols());
        let Scales { rows: R, columns: C, .. } = &self.scales;
        let mut size = 0.0;
        for i in 0..rows {
            for j in 0..width {
                self.svd_M.A[(i, j)] = R[i] * self.array.M[(i, j)] * C[n + j];
            }
            for j in 0..n {
                let entry = R[i] * self.array.N[(i, j)] * C[j];
                self.N[(i, j)] = entry;
                size += entry * entry;
            }
        }
        self.svd_M.factor()?;
        let scale = self.svd_M.sigma(0).max(size.sqrt());
        Ok(if scale > 0.0 { scale } else { 1.0 })
    }

    /// The rank of M: the left singular vectors behind it span corange M. Returns the rank and the norm of the factors.
    pub fn corange(&mut self, rule: RankRule, least_clear: &mut LeastClear) -> Result<(usize, f64), NoConvergence> {
        let scale = self.decompose()?;
        let tolerance = rule.of_numbers(self.array.M.rows(), self.array.M.cols());
        let gap = RankGap::of(&self.svd_M, tolerance * scale);
        least_clear.note(gap.relative_to(scale), RankPlace::DerivativeArray, self.array.level());
        Ok((gap.rank, scale))
    }

    /// a = rank ZᵀN; turns Z into Z₂ and Z₃.
    pub fn split(
        &mut self,
        rank: usize,
        scale: f64,
        rule: RankRule,
        least_clear: &mut LeastClear,
    ) -> Result<usize, NoConvergence> {
        self.constraints(rank)?;
        let tolerance = rule.of_numbers(self.array.M.rows(), self.array.M.cols());
        let gap = RankGap::of(&self.svd_B, tolerance * scale);
        least_clear.note(gap.relative_to(scale), RankPlace::Constraints, self.array.level());
        self.turn(rank, gap.rank);
        Ok(gap.rank)
    }

    /// Decompose B = ẐᵀN with the left null space Ẑ of R M C, whose rank is given.
    pub fn constraints(&mut self, rank: usize) -> Result<(), NoConvergence> {
        let (rows, n) = (self.array.M.rows(), self.array.N.cols());
        let k = rows - rank;
        if self.svd_B.A.nrows() != k {
            self.svd_B = Svd::new(k, n);
        }
        for p in 0..k {
            for j in 0..n {
                self.svd_B.A[(p, j)] = (0..rows).map(|i| self.svd_M.U[(i, rank + p)] * self.N[(i, j)]).sum();
            }
        }
        self.svd_B.factor()
    }

    /// Z₂ = R Ẑ U(:, ..a), Z₃ = R Ẑ U(:, a..).
    pub fn turn(&mut self, rank: usize, a: usize) {
        let rows = self.array.M.rows();
        let k = rows - rank;
        resize(&mut self.Z2, rows, a);
        resize(&mut self.Z3, rows, k - a);
        for i in 0..rows {
            for j in 0..k {
                let z: f64 = (0..k).map(|p| self.svd_M.U[(i, rank + p)] * self.svd_B.U[(p, j)]).sum();
                let z = self.scales.rows[i] * z;
                if j < a {
                    self.Z2[(i, j)] = z;
                } else {
                    self.Z3[(i, j - a)] = z;
                }
            }
        }
    }

    /// d from R₀ E C₁ T with T = kernel of A₂ C₁, C₁ the scales of the columns of ẋ.
    pub fn differential(
        &mut self,
        a: usize,
        E: &Matrix,
        scale: f64,
        rule: RankRule,
        least_clear: &mut LeastClear,
    ) -> Result<usize, NoConvergence> {
        let (m, n) = (E.rows(), E.cols());
        resize(&mut self.A2, a, n);
        transposed_product(&self.Z2, &self.array.N, &mut self.A2);
        let (R, C1) = (&self.scales.rows, &self.scales.columns[n..2 * n]);
        kernel(&mut self.svd_A, &self.A2, C1)?;
        if self.svd_E.A.ncols() != n - a {
            self.svd_E = Svd::new(m, n - a);
        }
        let mut size = 0.0;
        for i in 0..m {
            for j in 0..n - a {
                let product = (0..n).map(|k| E[(i, k)] * C1[k] * self.svd_A.V[(k, a + j)]).sum::<f64>();
                self.svd_E.A[(i, j)] = R[i] * product;
            }
            size += (0..n).map(|k| (R[i] * E[(i, k)] * C1[k]).powi(2)).sum::<f64>();
        }
        self.svd_E.factor()?;
        let scale = scale.max(size.sqrt());
        let gap = RankGap::of(&self.svd_E, rule.of_numbers(m, n) * scale);
        least_clear.note(gap.relative_to(scale), RankPlace::Differential, self.array.level());
        Ok(gap.rank)
    }
}

/// Decompose A diag(columns); the kernel is spanned by the last columns of V. No columns: no scales.
pub fn kernel(svd: &mut Svd, A: &Matrix, columns: &[f64]) -> Result<(), NoConvergence> {
    if (svd.A.nrows(), svd.A.ncols()) != (A.rows(), A.cols()) {
        *svd = Svd::new(A.rows(), A.cols());
    }
    for i in 0..A.rows() {
        for j in 0..A.cols() {
            svd.A[(i, j)] = A[(i, j)] * columns.get(j).copied().unwrap_or(1.0);
        }
    }
    svd.factor()
}
