//! Rank decisions of sparse matrices, by elimination: what [`Decomposed`](super::Decomposed) tells of dense ones.
//!
//! Pivots stand for singular values. They tell less of how near a matrix is to one of smaller rank; what is dropped is small in all of its entries.

use super::combination::normalised;
use super::{AT_POINT, Elimination, RankDecision, RankRule, Scales, Scaling};
use crate::linalg::SparseMatrix;

/// Entries of a null vector below this part of its largest one are rounding.
const NEGLIGIBLE: f64 = 1e-8;

/// A sparse matrix with its rank.
pub struct Eliminated {
    /// Its rank, and how clear it is.
    pub decision: RankDecision,
    /// rows of the scaled matrix
    rows: Vec<Vec<(usize, f64)>>,
    scales: Vec<f64>,
    elimination: Elimination,
}

impl Eliminated {
    /// Scale and eliminate.
    pub fn of(A: &SparseMatrix, scaling: Scaling, rule: RankRule) -> Self {
        let rows = match scaling {
            Scaling::Rows => Some(Scales::of_sparse(A, scaling).rows),
            Scaling::Both => None,
        };
        Self::scaled(A, rows, rule)
    }

    /// The same with rows of the given usual sizes, which may be larger than here: what has almost vanished is seen to be small.
    pub fn with_usual_sizes(A: &SparseMatrix, sizes: &[f64], rule: RankRule) -> Self {
        Self::scaled(A, Some(Scales::of_sizes(sizes, 0).rows), rule)
    }

    /// With scales of the rows, or with those of the elimination.
    fn scaled(A: &SparseMatrix, scales: Option<Vec<f64>>, rule: RankRule) -> Self {
        let (m, n, threshold) = (A.rows(), A.cols(), rule.or(AT_POINT));
        let are_given = scales.is_some();
        let scales = scales.unwrap_or_else(|| vec![1.0; m]);
        let row = |i: usize| {
            let (columns, values) = A.row(i);
            columns.iter().zip(values).map(|(&j, a)| (j, scales[i] * a)).collect::<Vec<_>>()
        };
        let rows: Vec<Vec<(usize, f64)>> = (0..m).map(row).collect();
        let mut elimination = Elimination::of_rows(rows.iter().cloned(), n, threshold);
        if are_given {
            elimination = elimination.without_equilibration();
        }
        elimination.eliminate(|_| true, |_| true);
        let [smallest_kept, largest_dropped] = elimination.sizes();
        let rank = elimination.rank();
        let singular_values = Vec::new();
        let decision =
            RankDecision { rows: m, cols: n, rank, singular_values, threshold, smallest_kept, largest_dropped };
        Eliminated { decision, rows, scales, elimination }
    }

    /// Vectors y with yᵀ A = 0, as (row, factor) by rising rows, the largest factor being one; `None` where the pivots make no regular matrix.
    pub fn left_null_vectors(&self) -> Option<Vec<Vec<(usize, f64)>>> {
        let found = self.elimination.left_null_vectors(&self.rows)?;
        let told = |mut vector: Vec<(usize, f64)>| {
            let top = vector.iter().fold(0.0_f64, |top, (_, y)| top.max(y.abs()));
            vector.retain(|(_, y)| y.abs() >= NEGLIGIBLE * top);
            vector.sort_unstable_by_key(|entry| entry.0);
            let factors = normalised(vector.iter().map(|&(i, y)| y * self.scales[i]).collect());
            vector.into_iter().map(|(i, _)| i).zip(factors).collect::<Vec<_>>()
        };
        Some(found.into_iter().map(told).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::rank::Decomposed;
    use faer::Mat;

    fn sparse(A: &Mat<f64>) -> SparseMatrix {
        let places = |i: usize| (0..A.ncols()).filter(move |&j| A[(i, j)] != 0.0).map(move |j| (i, j));
        let mut found = SparseMatrix::new(A.nrows(), A.ncols(), (0..A.nrows()).flat_map(places).collect());
        let values: Vec<f64> = found.places().map(|place| A[place]).collect();
        found.values_mut().copy_from_slice(&values);
        found
    }

    #[test]
    fn dense_and_sparse_decisions_agree() {
        // row 2 = 2 · row 0 − row 1, row 4 vanishes, row 3 stands alone; rows of very different size
        let A = faer::mat![
            [1.0, 2.0, 0.0, 0.0],
            [0.0, 1e4, 0.0, 0.0],
            [2.0, 4.0 - 1e4, 0.0, 0.0],
            [0.0, 0.0, 1e-3, 0.0],
            [0.0, 0.0, 0.0, 1e-18],
        ];
        for scaling in [Scaling::Rows, Scaling::Both] {
            let dense = Decomposed::of(&A, scaling, RankRule::default()).unwrap();
            let found = Eliminated::of(&sparse(&A), scaling, RankRule::default());
            assert_eq!(found.decision.rank, if scaling == Scaling::Rows { 3 } else { dense.decision.rank });
            let vectors = found.left_null_vectors().unwrap();
            assert_eq!(vectors.len(), 5 - found.decision.rank);
            for y in &vectors {
                for j in 0..4 {
                    let terms: Vec<f64> = y.iter().map(|&(i, y)| y * A[(i, j)]).collect();
                    let size = terms.iter().fold(1e-3, |s: f64, x| s.max(x.abs()));
                    assert!(terms.iter().sum::<f64>().abs() <= 1e-12 * size, "{terms:?}");
                }
            }
        }
    }

    #[test]
    fn rows_that_have_almost_vanished_do_not_count() {
        let A = faer::mat![[1.0, 1.0], [1e-12, -1e-12]];
        let count = |sizes: &[f64]| {
            let dense = Decomposed::with_usual_sizes(&A, sizes, RankRule::default()).unwrap().decision.rank;
            let found = Eliminated::with_usual_sizes(&sparse(&A), sizes, RankRule::default()).decision.rank;
            assert_eq!(found, dense);
            found
        };
        assert_eq!((count(&[1.0, 1.0]), count(&[1.0, 1e-12])), (1, 2));
    }
}
