//! The four subspaces of a matrix with the rank decision behind them: X = U Σ Vᵀ, Golub & Van Loan, 2.5 and 5.5.
//!
//! ```text
//! σ_r > τ · max(σ_1, scale) ≥ σ_{r+1},        τ = max(rows, columns) · ε · 10³ unless chosen
//! range X = U(:, 1..r),  corange X = kernel Xᵀ = U(:, r+1..),  cokernel X = range Xᵀ = V(:, 1..r),  kernel X = V(:, r+1..)
//! ```
//! Every decision is recorded with its gap σ_r / σ_{r+1}, because all characteristic numbers of a DAE rest on them.

use super::{RankGap, RankRule};
use crate::linalg::{NoConvergence, Svd};
use faer::Mat;

/// Why a rank was not decided.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RankError {
    /// An entry is NaN or infinite.
    #[error("a {rows} × {cols} matrix has entries that are not finite; check the data")]
    NotFinite {
        /// Rows.
        rows: usize,
        /// Columns.
        cols: usize,
    },
    /// The singular values do not separate.
    #[error(
        "the rank of a {rows} × {cols} matrix is not decided: singular values {kept:.1e} and {dropped:.1e} lie on both sides of the threshold {threshold:.1e}; scale the equations, or choose the tolerance of ranks",
        rows = .0.rows, cols = .0.cols, kept = .0.kept, dropped = .0.dropped, threshold = .0.threshold
    )]
    Undecided(RankGap),
    /// The singular value decomposition failed.
    #[error(transparent)]
    NoConvergence(#[from] NoConvergence),
}

/// Orthonormal bases of the four subspaces of a matrix, as columns.
#[derive(Clone, Debug)]
pub struct Subspaces {
    /// Rank r.
    pub rank: usize,
    /// σ_1, …, σ_r.
    pub singular_values: Vec<f64>,
    /// Basis of range X, rows × r.
    pub range: Mat<f64>,
    /// Basis of corange X = kernel Xᵀ, rows × (rows − r).
    pub corange: Mat<f64>,
    /// Basis of cokernel X = range Xᵀ, columns × r.
    pub cokernel: Mat<f64>,
    /// Basis of kernel X, columns × (columns − r).
    pub kernel: Mat<f64>,
}

/// Rank decisions by one rule, recorded.
///
/// ```
/// use daedal_linear::linalg::{Mat, Ranks};
/// let X = Mat::from_fn(2, 3, |i, j| ((i + 1) * (j + 1)) as f64);
/// let mut ranks = Ranks::default();
/// let found = ranks.subspaces(&X, 0.0).unwrap();
/// assert_eq!((found.rank, found.kernel.ncols(), found.corange.ncols()), (1, 2, 1));
/// assert!((&X * &found.kernel).norm_max() < 1e-14);
/// assert!(ranks.smallest_gap().unwrap() > 1e10);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranks {
    /// The rule.
    pub rule: RankRule,
    /// All decisions so far, in their order.
    pub decisions: Vec<RankGap>,
}

impl Ranks {
    /// Decisions by this rule, none made yet.
    pub fn new(rule: RankRule) -> Self {
        Ranks { rule, decisions: Vec::new() }
    }

    /// Rank and bases. `scale` is the size of the data from which X was computed: what is rounding against it is zero.
    pub fn subspaces(&mut self, X: &Mat<f64>, scale: f64) -> Result<Subspaces, RankError> {
        let (m, n) = (X.nrows(), X.ncols());
        let (svd, rank) = self.decide(X, scale)?;
        Ok(Subspaces {
            rank,
            singular_values: (0..rank).map(|k| svd.sigma(k)).collect(),
            range: svd.U.get(.., ..rank).to_owned(),
            corange: svd.U.get(.., rank..m).to_owned(),
            cokernel: svd.V.get(.., ..rank).to_owned(),
            kernel: svd.V.get(.., rank..n).to_owned(),
        })
    }

    /// Rank alone.
    pub fn rank(&mut self, X: &Mat<f64>, scale: f64) -> Result<usize, RankError> {
        Ok(self.decide(X, scale)?.1)
    }

    /// The decision with the smallest gap.
    pub fn narrowest(&self) -> Option<RankGap> {
        self.decisions.iter().copied().min_by(|a, b| a.ratio().total_cmp(&b.ratio()))
    }

    /// Its gap.
    pub fn smallest_gap(&self) -> Option<f64> {
        self.narrowest().map(|gap| gap.ratio())
    }

    fn decide(&mut self, X: &Mat<f64>, scale: f64) -> Result<(Svd, usize), RankError> {
        let (m, n) = (X.nrows(), X.ncols());
        if !scale.is_finite() || X.col_iter().any(|column| column.iter().any(|x| !x.is_finite())) {
            return Err(RankError::NotFinite { rows: m, cols: n });
        }
        let mut svd = Svd::new(m, n);
        svd.A.copy_from(X);
        svd.factor()?;
        let gap = RankGap::of(&svd, self.rule.of_numbers(m, n) * svd.sigma(0).max(scale.abs()));
        if gap.is_narrower(self.rule.smallest_gap) {
            return Err(RankError::Undecided(gap));
        }
        self.decisions.push(gap);
        Ok((svd, gap.rank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_span_the_four_subspaces() {
        // rank two: row 2 = row 0 + row 1
        let X = faer::mat![[1.0, 2.0, 0.0, 1.0], [0.0, 1.0, -1.0, 2.0], [1.0, 3.0, -1.0, 3.0]];
        let mut ranks = Ranks::default();
        let found = ranks.subspaces(&X, 0.0).unwrap();
        assert_eq!(found.rank, 2);
        assert!((found.corange.transpose() * &X).norm_max() < 1e-14);
        assert!((&X * &found.kernel).norm_max() < 1e-14);
        let projected = &found.range * found.range.transpose() * &X;
        assert!((projected - &X).norm_max() < 1e-14);
        let projected = &X * &found.cokernel * found.cokernel.transpose();
        assert!((projected - &X).norm_max() < 1e-14);
        assert_eq!(ranks.decisions.len(), 1);
    }

    #[test]
    fn empty_matrices_have_rank_zero_and_whole_kernels() {
        let mut ranks = Ranks::default();
        let found = ranks.subspaces(&Mat::zeros(3, 0), 1.0).unwrap();
        assert_eq!((found.rank, found.corange.ncols(), found.kernel.nrows(), found.range.ncols()), (0, 3, 0, 0));
        assert_eq!((&found.corange - Mat::<f64>::identity(3, 3)).norm_max(), 0.0);
        let found = ranks.subspaces(&Mat::zeros(0, 2), 1.0).unwrap();
        assert_eq!((found.rank, found.kernel.ncols(), found.corange.nrows()), (0, 2, 0));
        let found = ranks.subspaces(&Mat::zeros(2, 2), 0.0).unwrap();
        assert_eq!((found.rank, found.kernel.ncols()), (0, 2));
        // products over an empty inner dimension are zero
        assert_eq!((Mat::<f64>::zeros(3, 0) * Mat::<f64>::zeros(0, 2)).norm_max(), 0.0);
    }

    #[test]
    fn what_is_rounding_against_the_scale_is_zero() {
        let X = faer::mat![[1e-16, 0.0], [0.0, 3e-17]];
        assert_eq!(Ranks::default().rank(&X, 0.0).unwrap(), 2);
        assert_eq!(Ranks::default().rank(&X, 1.0).unwrap(), 0);
    }

    #[test]
    fn singular_values_without_a_gap_and_numbers_that_are_not_finite_are_refused() {
        let X = faer::mat![[1.0, 0.0, 0.0], [0.0, 1e-12, 0.0], [0.0, 0.0, 1e-13]];
        let rule = RankRule { tolerance: Some(5e-13), smallest_gap: 100.0 };
        assert!(matches!(Ranks::new(rule).rank(&X, 0.0), Err(RankError::Undecided(gap)) if gap.rank == 2));
        let X = faer::mat![[f64::NAN]];
        assert_eq!(Ranks::default().rank(&X, 0.0), Err(RankError::NotFinite { rows: 1, cols: 1 }));
    }
}
