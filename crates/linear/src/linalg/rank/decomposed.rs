//! Rank decisions with their numbers, and the vectors that belong to them.
//!
//! R A C = U Σ Vᵀ with scales R and C that make rows (and columns, where asked for) comparable. Singular values above
//! τ · max|R A C| count, as in the constraint blocks of GEOMS. Null vectors are brought to reduced echelon form, so that each is the
//! shortest relation between its leading entry and the entries that lead nowhere: a redundant constraint is told by the constraints
//! it repeats.

use super::combination::{echelon, rescaled};
use super::{AT_POINT, RankGap, RankRule, Scales, Scaling};
use crate::linalg::Svd;
use faer::Mat;

/// How a rank was decided.
#[derive(Clone, Debug, PartialEq)]
pub struct RankDecision {
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub cols: usize,
    /// Its rank.
    pub rank: usize,
    /// Singular values of the scaled matrix, falling; empty where pivots of an elimination decided.
    pub singular_values: Vec<f64>,
    /// Singular values or pivots above this count.
    pub threshold: f64,
    /// The smallest one that counts; infinite for rank zero.
    pub smallest_kept: f64,
    /// The largest one that does not; zero for full rank.
    pub largest_dropped: f64,
}

impl RankDecision {
    /// What lies on both sides of the threshold.
    pub fn gap(&self) -> RankGap {
        let RankDecision { rows, cols, rank, threshold, smallest_kept: kept, largest_dropped: dropped, .. } = *self;
        RankGap { rows, cols, rank, threshold, kept, dropped }
    }

    /// The decision by singular values, falling.
    pub fn by_values((rows, cols): (usize, usize), singular_values: Vec<f64>, rank: usize, threshold: f64) -> Self {
        let smallest_kept = rank.checked_sub(1).map_or(f64::INFINITY, |last| singular_values[last]);
        let largest_dropped = singular_values.get(rank).copied().unwrap_or(0.0);
        RankDecision { rows, cols, rank, singular_values, threshold, smallest_kept, largest_dropped }
    }

    /// Is the rank that of a matrix with independent rows or columns?
    pub fn is_full(&self) -> bool {
        self.rank == self.rows.min(self.cols)
    }

    /// Largest over smallest singular value of the scaled matrix; `None` unless the rank is full and singular values are known.
    pub fn condition(&self) -> Option<f64> {
        let largest = self.singular_values.first()?;
        (self.rank > 0 && self.is_full()).then(|| largest / self.smallest_kept)
    }

    /// Rows that depend on the others.
    pub fn dependent_rows(&self) -> usize {
        self.rows - self.rank
    }

    /// Directions that the matrix does not see.
    pub fn null_directions(&self) -> usize {
        self.cols - self.rank
    }
}

/// A decomposed matrix.
pub struct Decomposed {
    /// Its rank, and how clear it is.
    pub decision: RankDecision,
    svd: Svd,
    scales: Scales,
}

impl Decomposed {
    /// Scale and decompose; `None` if the iteration for singular values does not converge.
    pub fn of(A: &Mat<f64>, scaling: Scaling, rule: RankRule) -> Option<Self> {
        Self::scaled(A, Scales::of(A, scaling), 0.0, rule)
    }

    /// The same with rows of the given usual sizes, which may be larger than here: what has almost vanished is seen to be small.
    pub fn with_usual_sizes(A: &Mat<f64>, sizes: &[f64], rule: RankRule) -> Option<Self> {
        let usual = if sizes.iter().any(|size| *size > 0.0) { 1.0 } else { 0.0 };
        Self::scaled(A, Scales::of_sizes(sizes, A.ncols()), usual, rule)
    }

    /// The same with given scales; `usual` is the size that entries usually have.
    pub fn scaled(A: &Mat<f64>, scales: Scales, usual: f64, rule: RankRule) -> Option<Self> {
        let scaled = scales.scaled(A);
        let threshold = rule.or(AT_POINT) * scaled.norm_max().max(usual);
        Some(Decomposed { scales, ..Self::plain(&scaled, threshold)? })
    }

    /// Without scales, singular values above an absolute threshold counting: for matrices that are equilibrated already.
    pub fn plain(A: &Mat<f64>, threshold: f64) -> Option<Self> {
        let (rows, cols) = (A.nrows(), A.ncols());
        let mut svd = Svd::new(rows, cols);
        svd.A.copy_from(A);
        svd.factor().ok()?;
        let singular_values: Vec<f64> = (0..rows.min(cols)).map(|k| svd.sigma(k)).collect();
        let decision = RankDecision::by_values((rows, cols), singular_values, svd.rank(threshold), threshold);
        Some(Decomposed { decision, svd, scales: Scales::ones(rows, cols) })
    }

    /// Take a rank that is known, unless a singular value that should count is below the threshold, or one that should not is above `limit`.
    pub fn keep_rank(&mut self, known: usize, limit: f64) {
        let sigma = &self.decision.singular_values;
        let lost = known > self.decision.rank;
        let grown = sigma.get(known).is_some_and(|s| *s > limit);
        if !lost && !grown && known <= sigma.len() {
            let RankDecision { rows, cols, threshold, .. } = self.decision;
            let singular_values = std::mem::take(&mut self.decision.singular_values);
            self.decision = RankDecision::by_values((rows, cols), singular_values, known, threshold);
        }
    }

    /// All left singular vectors, as columns; those that count come first.
    pub fn left_vectors(&self) -> &Mat<f64> {
        &self.svd.U
    }

    /// Orthonormal basis of {y: yᵀ R A = 0}, as columns.
    pub fn left_basis(&self) -> Mat<f64> {
        let (m, rank) = (self.decision.rows, self.decision.rank);
        self.svd.U.subcols(rank, m - rank).to_owned()
    }

    /// Orthonormal basis of {z: A C z = 0}, as columns.
    pub fn null_basis(&self) -> Mat<f64> {
        let (n, rank) = (self.decision.cols, self.decision.rank);
        Mat::from_fn(n, n - rank, |j, k| self.svd.V[(j, rank + k)])
    }

    /// Vectors z with A z = 0 in echelon form.
    pub fn null_vectors(&self) -> Vec<Vec<f64>> {
        let (n, rank) = (self.decision.cols, self.decision.rank);
        let basis = (rank..n).map(|k| (0..n).map(|j| self.svd.V[(j, k)]).collect()).collect();
        rescaled(echelon(basis), &self.scales.columns)
    }

    /// Vectors y with yᵀ A = 0 in echelon form.
    pub fn left_null_vectors(&self) -> Vec<Vec<f64>> {
        let (m, rank) = (self.decision.rows, self.decision.rank);
        let basis = (rank..m).map(|k| (0..m).map(|i| self.svd.U[(i, k)]).collect()).collect();
        rescaled(echelon(basis), &self.scales.rows)
    }

    /// A⁺ B: for each column the smallest of the best solutions, both in scaled units.
    pub fn solve(&self, B: &Mat<f64>) -> Mat<f64> {
        let (m, n, rank) = (self.decision.rows, self.decision.cols, self.decision.rank);
        let coefficient = |k: usize, c: usize| {
            (0..m).map(|i| self.svd.U[(i, k)] * self.scales.rows[i] * B[(i, c)]).sum::<f64>() / self.svd.sigma(k)
        };
        let reached = Mat::from_fn(rank, B.ncols(), coefficient);
        Mat::from_fn(n, B.ncols(), |j, c| {
            self.scales.columns[j] * (0..rank).map(|k| self.svd.V[(j, k)] * reached[(k, c)]).sum::<f64>()
        })
    }
}

/// Is a square matrix far from a singular one, rows and columns scaled?
pub fn is_regular(A: &Mat<f64>, tolerance: f64) -> bool {
    let scaled = Scales::of(A, Scaling::Both).scaled(A);
    Decomposed::plain(&scaled, tolerance * scaled.norm_max()).is_some_and(|found| found.decision.rank == A.nrows())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::rank::Combination;
    use proptest::prelude::*;

    fn matrix(rows: &[&[f64]]) -> Mat<f64> {
        Mat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
    }

    #[test]
    fn a_redundant_row_is_told_by_the_rows_it_repeats() {
        // row 2 = 2 · row 0 − row 1, row 4 vanishes, row 3 stands alone; rows of very different size
        let A = matrix(&[
            &[1.0, 2.0, 0.0, 0.0],
            &[0.0, 1e4, 0.0, 0.0],
            &[2.0, 4.0 - 1e4, 0.0, 0.0],
            &[0.0, 0.0, 1e-3, 0.0],
            &[0.0, 0.0, 0.0, 1e-18],
        ]);
        let found = Decomposed::of(&A, Scaling::Rows, RankRule::default()).unwrap();
        assert_eq!((found.decision.rank, found.decision.dependent_rows()), (3, 2));
        assert_eq!(found.decision.null_directions(), 1);
        let names: Vec<String> = ["a", "b", "c", "d", "e"].map(String::from).to_vec();
        let told: Vec<Combination> = found.left_null_vectors().iter().map(|y| Combination::of(y, &names)).collect();
        assert_eq!(told.len(), 2);
        assert_eq!(told[0].names(), ["a", "b", "c"]);
        let factors: Vec<f64> = told[0].terms.iter().map(|term| term.1).collect();
        assert!((factors[0] / factors[2] + 2.0).abs() < 1e-9 && (factors[1] / factors[2] - 1.0).abs() < 1e-9);
        assert_eq!(told[1].terms, [("e".to_string(), 1.0)]);
        assert!(found.decision.gap().ratio() > 1e9);
    }

    #[test]
    fn the_smallest_of_the_best_solutions_is_found() {
        let A = matrix(&[&[1.0, 1.0], &[2.0, 2.0]]);
        let x = Decomposed::of(&A, Scaling::Rows, RankRule::default()).unwrap().solve(&matrix(&[&[2.0], &[4.0]]));
        assert!((x[(0, 0)] - 1.0).abs() < 1e-14 && (x[(1, 0)] - 1.0).abs() < 1e-14);
    }

    /// Entry (i, k) of a lower triangle with ones on the diagonal.
    fn unit_triangle(i: usize, k: usize, entries: &[f64]) -> f64 {
        match i.cmp(&k) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Greater => entries[7 * i + k],
        }
    }

    proptest! {
        /// A = L · R with random factors of known rank, rows and columns in random units.
        #[test]
        fn the_rank_of_a_product_is_found_and_its_null_vectors_vanish(
            m in 1_usize..7, n in 1_usize..7, r in 0_usize..5,
            entries in prop::collection::vec(-1.0_f64..1.0, 98),
            units in prop::collection::vec(-3_i32..4, 7),
        ) {
            let r = r.min(m).min(n);
            // unit lower and upper factors with ones on the diagonal have full rank r
            let L = Mat::from_fn(m, r, |i, k| unit_triangle(i, k, &entries));
            let R = Mat::from_fn(r, n, |k, j| unit_triangle(j, k, &entries[49..]));
            let product = &L * &R;
            let A = Mat::from_fn(m, n, |i, j| product[(i, j)] * 10.0_f64.powi(units[i]));
            let found = Decomposed::of(&A, Scaling::Rows, RankRule::default()).unwrap();
            prop_assert_eq!(found.decision.rank, r);
            let left = found.left_null_vectors();
            prop_assert_eq!(left.len(), m - r);
            for y in &left {
                for j in 0..n {
                    let terms: Vec<f64> = (0..m).map(|i| y[i] * A[(i, j)]).collect();
                    let size = terms.iter().fold(1e-12, |s: f64, x| s.max(x.abs()));
                    prop_assert!(terms.iter().sum::<f64>().abs() <= 1e-6 * size, "{:?}", terms);
                }
                // a shortest relation has at most one entry more than the rank
                prop_assert!(y.iter().filter(|x| **x != 0.0).count() <= r + 1);
            }
            let right = found.null_vectors();
            prop_assert_eq!(right.len(), n - r);
        }
    }
}
