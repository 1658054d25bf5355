//! The numbers of one rank decision.

use crate::linalg::Svd;

/// One rank decision with its numbers: singular values, or pivots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankGap {
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub cols: usize,
    /// Its rank.
    pub rank: usize,
    /// What is larger counts.
    pub threshold: f64,
    /// The smallest one that counts, σ_r; infinite for rank zero.
    pub kept: f64,
    /// The largest one that does not, σ_{r+1}; zero for full rank.
    pub dropped: f64,
}

impl Default for RankGap {
    /// Of an empty matrix.
    fn default() -> Self {
        RankGap { rows: 0, cols: 0, rank: 0, threshold: 0.0, kept: f64::INFINITY, dropped: 0.0 }
    }
}

impl RankGap {
    /// The decision by a threshold.
    pub fn of(svd: &Svd, threshold: f64) -> Self {
        let (rows, cols, rank) = (svd.A.nrows(), svd.A.ncols(), svd.rank(threshold));
        let kept = rank.checked_sub(1).map_or(f64::INFINITY, |last| svd.sigma(last));
        RankGap { rows, cols, rank, threshold, kept, dropped: svd.sigma(rank) }
    }

    /// The same numbers relative to a size.
    pub fn relative_to(self, size: f64) -> Self {
        let part = |x: f64| if size > 0.0 { x / size } else { x };
        RankGap { threshold: part(self.threshold), kept: part(self.kept), dropped: part(self.dropped), ..self }
    }

    /// σ_r / σ_{r+1}: how clear the decision is; where one of the two is missing the threshold stands for it.
    pub fn ratio(&self) -> f64 {
        match (self.kept.is_finite(), self.dropped > 0.0) {
            (true, true) => self.kept / self.dropped,
            (true, false) => self.kept / self.threshold,
            (false, true) => self.threshold / self.dropped,
            (false, false) => f64::INFINITY,
        }
    }

    /// σ_r / σ_{r+1}; `None` if all count or none does.
    pub fn between(&self) -> Option<f64> {
        (0 < self.rank && self.rank < self.rows.min(self.cols)).then(|| self.kept / self.dropped)
    }

    /// Do some count and others not, with less than this factor between them?
    pub fn is_narrower(&self, smallest: f64) -> bool {
        self.between().is_some_and(|factor| factor < smallest)
    }

    /// Has every row its own rank?
    pub fn is_full(&self) -> bool {
        self.rank == self.rows
    }
}
