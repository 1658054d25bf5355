//! Rank decisions with their numbers, and the vectors that belong to them.
//!
//! R A C = U Σ Vᵀ with scales R and C that make rows (and columns, where asked for) comparable. Singular values above
//! τ · max|R A C| count, as in the constraint blocks of GEOMS. Null vectors are brought to reduced echelon form, so that each is the
//! shortest relation between its leading entry and the entries that lead nowhere: a redundant constraint is told by the constraints
//! it repeats.

use crate::linalg::Svd;
use faer::Mat;

/// Singular values below this part of the largest entry count as zero; the default of GEOMS.
pub const RANK_TOLERANCE: f64 = 1e-10;
/// Rows and columns below this part of the largest are rounding, and are not scaled up.
const VANISHING: f64 = 1e-13;
/// Entries of a null vector below this part of its largest one are rounding.
const NEGLIGIBLE: f64 = 1e-8;

/// How a rank was decided.
#[derive(Clone, Debug, PartialEq)]
pub struct RankDecision {
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub cols: usize,
    /// Its rank.
    pub rank: usize,
    /// Singular values of the scaled matrix, falling.
    pub singular_values: Vec<f64>,
    /// Singular values above this count.
    pub threshold: f64,
}

impl RankDecision {
    /// The smallest singular value that counts.
    pub fn smallest_kept(&self) -> Option<f64> {
        self.rank.checked_sub(1).map(|k| self.singular_values[k])
    }

    /// The largest singular value that does not count.
    pub fn largest_dropped(&self) -> Option<f64> {
        self.singular_values.get(self.rank).copied()
    }

    /// Smallest kept over largest dropped: how clear the decision is. `None` if all count or none does.
    pub fn gap(&self) -> Option<f64> {
        Some(self.smallest_kept()? / self.largest_dropped()?)
    }

    /// Largest over smallest singular value of the scaled matrix; `None` unless the rank is full.
    pub fn condition(&self) -> Option<f64> {
        let full = self.rank > 0 && self.rank == self.rows.min(self.cols);
        full.then(|| self.singular_values[0] / self.singular_values[self.rank - 1])
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

/// Things with their factors: Σ factor · name.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// Names and factors; the largest factor is one.
    pub terms: Vec<(String, f64)>,
}

impl Combination {
    /// Names of the things.
    pub fn names(&self) -> Vec<&str> {
        self.terms.iter().map(|(name, _)| name.as_str()).collect()
    }

    pub(crate) fn of(vector: &[f64], names: &[String]) -> Self {
        let terms = vector.iter().zip(names).filter(|(factor, _)| **factor != 0.0);
        Combination { terms: terms.map(|(factor, name)| (name.clone(), *factor)).collect() }
    }
}

impl std::fmt::Display for Combination {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        for (k, (name, factor)) in self.terms.iter().enumerate() {
            let sign = match (k, *factor < 0.0) {
                (0, false) => "",
                (0, true) => "−",
                (_, false) => " + ",
                (_, true) => " − ",
            };
            f.write_str(sign)?;
            if factor.abs() != 1.0 {
                write!(f, "{:.4}·", factor.abs())?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

/// Which scales are chosen before a decomposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scaling {
    /// Rows only: right singular vectors stay orthonormal in the units of the variables.
    Rows,
    /// Rows and columns.
    Both,
}

/// A decomposed matrix.
pub(crate) struct Decomposed {
    pub decision: RankDecision,
    svd: Svd,
    row_scale: Vec<f64>,
    col_scale: Vec<f64>,
}

impl Decomposed {
    /// Scale and decompose; `None` if the iteration for singular values does not converge.
    pub fn of(A: &Mat<f64>, scaling: Scaling) -> Option<Self> {
        let (row_scale, col_scale) = scales(A, scaling);
        Self::scaled(A, row_scale, col_scale, 0.0)
    }

    /// The same with rows of the given usual sizes, which may be larger than here: what has almost vanished is seen to be small.
    pub fn with_usual_sizes(A: &Mat<f64>, sizes: &[f64]) -> Option<Self> {
        let top = sizes.iter().copied().fold(0.0, f64::max);
        let scale = |size: &f64| if *size > VANISHING * top { power_of_two(1.0 / size) } else { 1.0 };
        Self::scaled(A, sizes.iter().map(scale).collect(), vec![1.0; A.ncols()], if top > 0.0 { 1.0 } else { 0.0 })
    }

    /// The same with given scales; `usual` is the size that entries usually have.
    pub fn scaled(A: &Mat<f64>, row_scale: Vec<f64>, col_scale: Vec<f64>, usual: f64) -> Option<Self> {
        let (m, n) = (A.nrows(), A.ncols());
        let mut svd = Svd::new(m, n);
        let mut largest: f64 = usual;
        for i in 0..m {
            for j in 0..n {
                svd.A[(i, j)] = row_scale[i] * A[(i, j)] * col_scale[j];
                largest = largest.max(svd.A[(i, j)].abs());
            }
        }
        svd.factor().ok()?;
        let threshold = RANK_TOLERANCE * largest;
        let singular_values: Vec<f64> = (0..m.min(n)).map(|k| svd.sigma(k)).collect();
        let decision = RankDecision { rows: m, cols: n, rank: svd.rank(threshold), singular_values, threshold };
        Some(Decomposed { decision, svd, row_scale, col_scale })
    }

    /// Without scales, singular values above an absolute threshold counting: for matrices that are equilibrated already.
    pub fn plain(A: &Mat<f64>, threshold: f64) -> Option<Self> {
        let (m, n) = (A.nrows(), A.ncols());
        let mut svd = Svd::new(m, n);
        svd.A.copy_from(A);
        svd.factor().ok()?;
        let singular_values: Vec<f64> = (0..m.min(n)).map(|k| svd.sigma(k)).collect();
        let decision = RankDecision { rows: m, cols: n, rank: svd.rank(threshold), singular_values, threshold };
        Some(Decomposed { decision, svd, row_scale: vec![1.0; m], col_scale: vec![1.0; n] })
    }

    /// Take a rank that is known, unless a singular value that should count is below the threshold, or one that should not is above `limit`.
    pub fn keep_rank(&mut self, known: usize, limit: f64) {
        let sigma = &self.decision.singular_values;
        let lost = known > self.decision.rank;
        let grown = sigma.get(known).is_some_and(|s| *s > limit);
        if !lost && !grown && known <= sigma.len() {
            self.decision.rank = known;
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
        rescaled(echelon(basis), &self.col_scale)
    }

    /// Vectors y with yᵀ A = 0 in echelon form.
    pub fn left_null_vectors(&self) -> Vec<Vec<f64>> {
        let (m, rank) = (self.decision.rows, self.decision.rank);
        let basis = (rank..m).map(|k| (0..m).map(|i| self.svd.U[(i, k)]).collect()).collect();
        rescaled(echelon(basis), &self.row_scale)
    }

    /// A⁺ B: for each column the smallest of the best solutions, both in scaled units.
    pub fn solve(&self, B: &Mat<f64>) -> Mat<f64> {
        let (m, n, rank) = (self.decision.rows, self.decision.cols, self.decision.rank);
        let coefficient = |k: usize, c: usize| {
            (0..m).map(|i| self.svd.U[(i, k)] * self.row_scale[i] * B[(i, c)]).sum::<f64>() / self.svd.sigma(k)
        };
        let reached = Mat::from_fn(rank, B.ncols(), coefficient);
        Mat::from_fn(n, B.ncols(), |j, c| {
            self.col_scale[j] * (0..rank).map(|k| self.svd.V[(j, k)] * reached[(k, c)]).sum::<f64>()
        })
    }
}

/// Powers of two that bring the largest entries of rows, and of columns where asked for, near one.
pub(crate) fn scales(A: &Mat<f64>, scaling: Scaling) -> (Vec<f64>, Vec<f64>) {
    let (m, n) = (A.nrows(), A.ncols());
    let (mut r, mut c) = (vec![1.0; m], vec![1.0; n]);
    let rounds = if scaling == Scaling::Both { 12 } else { 1 };
    for _ in 0..rounds {
        let entry = |i: usize, j: usize| (r[i] * A[(i, j)] * c[j]).abs();
        let row: Vec<f64> = (0..m).map(|i| (0..n).map(|j| entry(i, j)).fold(0.0, f64::max)).collect();
        let col: Vec<f64> = (0..n).map(|j| (0..m).map(|i| entry(i, j)).fold(0.0, f64::max)).collect();
        let top = row.iter().copied().fold(0.0, f64::max);
        let balance = |size: f64| if size > VANISHING * top { 1.0 / size } else { 1.0 };
        if scaling == Scaling::Both {
            r.iter_mut().zip(row).for_each(|(r, size)| *r *= balance(size).sqrt());
            c.iter_mut().zip(col).for_each(|(c, size)| *c *= balance(size).sqrt());
        } else {
            r.iter_mut().zip(row).for_each(|(r, size)| *r *= balance(size));
        }
    }
    for s in r.iter_mut().chain(&mut c) {
        *s = power_of_two(*s);
    }
    (r, c)
}

/// The nearest one: scaling does not round.
fn power_of_two(x: f64) -> f64 {
    x.log2().round().exp2()
}

/// Reduced echelon form of the span of some vectors: each leads with an entry that the others do not have. Late entries lead where
/// they can, so that what was said last is told by what was said before. Vectors that depend on others are left out.
pub(crate) fn echelon(mut vectors: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let top = vectors.iter().flatten().fold(0.0_f64, |top, x| top.max(x.abs()));
    let mut found: Vec<Vec<f64>> = Vec::new();
    loop {
        let size = |v: &Vec<f64>| v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let Some((k, largest)) =
            vectors.iter().map(size).enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, s)| *s > 1e-6 * top)
        else {
            break;
        };
        let mut leader = vectors.swap_remove(k);
        let lead = leader.iter().rposition(|x| x.abs() >= 0.5 * largest).unwrap_or(0);
        let factor = 1.0 / leader[lead];
        for x in &mut leader {
            *x *= factor;
        }
        for other in vectors.iter_mut().chain(&mut found) {
            let factor = other[lead];
            other.iter_mut().zip(&leader).for_each(|(x, y)| *x -= factor * y);
            other[lead] = 0.0;
        }
        found.push(leader);
    }
    found
}

/// Vectors in the units before scaling, the largest entry of each being one, rounding removed.
fn rescaled(vectors: Vec<Vec<f64>>, scale: &[f64]) -> Vec<Vec<f64>> {
    let mut found: Vec<Vec<f64>> = Vec::new();
    for mut vector in vectors {
        let small = NEGLIGIBLE * vector.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        vector.iter_mut().filter(|x| x.abs() < small).for_each(|x| *x = 0.0);
        vector.iter_mut().zip(scale).for_each(|(x, s)| *x *= s);
        found.push(normalised(vector));
    }
    found.sort_by_key(|vector| vector.iter().rposition(|x| *x != 0.0));
    found
}

/// Divided by the largest entry.
pub(crate) fn normalised(mut vector: Vec<f64>) -> Vec<f64> {
    let top = vector.iter().copied().fold(0.0_f64, |m, x| if x.abs() > m.abs() * (1.0 + 1e-12) { x } else { m });
    if top != 0.0 {
        for x in &mut vector {
            *x /= top;
        }
    }
    // ones that are only rounded
    vector.iter_mut().filter(|x| (x.abs() - 1.0).abs() < 1e-10).for_each(|x| *x = x.signum());
    vector
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let found = Decomposed::of(&A, Scaling::Rows).unwrap();
        assert_eq!((found.decision.rank, found.decision.dependent_rows()), (3, 2));
        assert_eq!(found.decision.null_directions(), 1);
        let names: Vec<String> = ["a", "b", "c", "d", "e"].map(String::from).to_vec();
        let told: Vec<Combination> = found.left_null_vectors().iter().map(|y| Combination::of(y, &names)).collect();
        assert_eq!(told.len(), 2);
        assert_eq!(told[0].names(), ["a", "b", "c"]);
        let factors: Vec<f64> = told[0].terms.iter().map(|term| term.1).collect();
        assert!((factors[0] / factors[2] + 2.0).abs() < 1e-9 && (factors[1] / factors[2] - 1.0).abs() < 1e-9);
        assert_eq!(told[1].terms, [("e".to_string(), 1.0)]);
        assert!(found.decision.gap().unwrap() > 1e9);
    }

    #[test]
    fn the_smallest_of_the_best_solutions_is_found() {
        let A = matrix(&[&[1.0, 1.0], &[2.0, 2.0]]);
        let x = Decomposed::of(&A, Scaling::Rows).unwrap().solve(&matrix(&[&[2.0], &[4.0]]));
        assert!((x[(0, 0)] - 1.0).abs() < 1e-14 && (x[(1, 0)] - 1.0).abs() < 1e-14);
    }

    #[test]
    fn a_combination_reads_like_a_sum() {
        let told = Combination { terms: vec![("a".into(), 1.0), ("b".into(), -1.0), ("c".into(), 0.25)] };
        assert_eq!(told.to_string(), "a − b + 0.2500·c");
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
            let found = Decomposed::of(&A, Scaling::Rows).unwrap();
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
