//! Systems `[α Wᵀ; W 0] (x; z) = (0; c)` with a sparse W of independent rows: the least x with W x = c, and the smallest singular value of W.
//!
//! The lower part is z = −α (W Wᵀ)⁻¹ c, without W Wᵀ, which one dense column of W would fill. Björck, Numerical Methods for Least Squares Problems, 4.4.
//! Repeated, that is inverse iteration for the smallest singular value σ and its left vector y. It begins with the last y plus a random vector of
//! equal length: from y alone it would never leave a vector that was the smallest one and is not any more.
//!
//! Dependent rows are left out: they keep their places, with zeros instead of W and −1 on the diagonal, so that another choice of them has the same pattern.
//! Or all rows stay and are damped, by −ε on the diagonal: x = Wᵀ(W Wᵀ + ε)⁻¹c is the least solution but for ε/σ².

use super::{Singular, SparseLu, SparseMatrix, dot, norm};

/// Factors for matrices of one pattern, and the vector of the smallest singular value.
pub struct Augmented {
    /// nothing where the pattern leaves no regular matrix
    lu: Option<SparseLu<f64>>,
    /// where the values of W stand, above and below
    upper: Vec<usize>,
    lower: Vec<usize>,
    /// where the diagonal of the rows stands, and which of them are left out; nothing where all rows take part
    diagonal: Vec<usize>,
    left_out: Vec<bool>,
    damping: f64,
    /// (0; c) before, (x; z) after
    b: Vec<f64>,
    n: usize,
    alpha: f64,
    y: Vec<f64>,
    random: u64,
}

impl Augmented {
    /// For matrices of the pattern of W, with α = 1: x is the least one to rounding, and σ is seen down to √ε.
    pub fn new(W: &SparseMatrix) -> Self {
        Self::weighted(W, 1.0)
    }

    /// The same with another α > 0: the last pivot is σ²/α, and σ is seen down to √(α ε), W having size one.
    pub fn weighted(W: &SparseMatrix, alpha: f64) -> Self {
        Self::with_rows_left_out(W, alpha, &[])
    }

    /// The same without rows that depend on the others; which ones may change ([`Augmented::leave_out`]).
    pub fn with_rows_left_out(W: &SparseMatrix, alpha: f64, left_out: &[bool]) -> Self {
        let (m, n) = (W.rows(), W.cols());
        let ones = (0..n).map(|j| (j, j));
        let below = (0..left_out.len()).map(|i| (n + i, n + i));
        let places = ones.chain(W.places().map(|(i, j)| (j, n + i))).chain(W.places().map(|(i, j)| (n + i, j)));
        let (mut lu, positions) = SparseLu::of_places(n + m, &places.chain(below).collect::<Vec<_>>());
        if let Some(lu) = &mut lu {
            positions[..n].iter().for_each(|&k| lu.values[k] = alpha);
        }
        let (upper, others) = positions[n..].split_at(W.values().len());
        let (lower, diagonal) = others.split_at(W.values().len());
        let rows = m - left_out.iter().filter(|left_out| **left_out).count();
        Augmented {
            lu: lu.filter(|_| rows <= n),
            upper: upper.to_vec(),
            lower: lower.to_vec(),
            diagonal: diagonal.to_vec(),
            left_out: left_out.to_vec(),
            damping: 0.0,
            b: vec![0.0; n + m],
            n,
            alpha,
            y: vec![0.0; m],
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }

    /// The same with dependent rows, which are damped ([`Augmented::damp`]).
    pub fn damped(W: &SparseMatrix) -> Self {
        let (m, n) = (W.rows(), W.cols());
        let mut augmented = Self::with_rows_left_out(W, 1.0, &vec![m > n; m]);
        augmented.left_out.fill(false);
        augmented.damping = f64::EPSILON;
        augmented
    }

    /// Set ε.
    pub fn damp(&mut self, epsilon: f64) {
        self.damping = epsilon;
    }

    /// Leave out other rows than before.
    pub fn leave_out(&mut self, rows: &[bool]) {
        self.left_out.copy_from_slice(rows);
        self.forget();
    }

    /// Decompose with the values of W.
    pub fn factor(&mut self, W: &SparseMatrix) -> Result<(), Singular> {
        let Some(lu) = &mut self.lu else { return Err(Singular { column: 0 }) };
        for (places, value) in self.upper.iter().zip(&self.lower).zip(W.values()) {
            (lu.values[*places.0], lu.values[*places.1]) = (*value, *value);
        }
        let mut end = 0;
        for (i, (&place, &left_out)) in self.diagonal.iter().zip(&self.left_out).enumerate() {
            let own = end..end + W.row(i).1.len();
            end = own.end;
            lu.values[place] = if left_out { -1.0 } else { -self.damping };
            if left_out {
                own.for_each(|k| (lu.values[self.upper[k]], lu.values[self.lower[k]]) = (0.0, 0.0));
            }
        }
        lu.factor()
    }

    /// The smallest x with W x = c, for the c that is written.
    pub fn least_norm(&mut self, write: impl FnOnce(&mut [f64])) -> &[f64] {
        let n = self.n;
        self.b[..n].fill(0.0);
        write(&mut self.b[n..]);
        self.left_out.iter().zip(&mut self.b[n..]).filter(|(left_out, _)| **left_out).for_each(|(_, c)| *c = 0.0);
        if let Some(lu) = &mut self.lu {
            lu.solve(&mut self.b);
        }
        &self.b[..n]
    }

    /// c with ‖a − Wᵀc‖ least, for the a that is written: how a is made of the rows that are not left out.
    pub fn coefficients(&mut self, write: impl FnOnce(&mut [f64])) -> &[f64] {
        let n = self.n;
        write(&mut self.b[..n]);
        self.b[n..].fill(0.0);
        if let Some(lu) = &mut self.lu {
            lu.solve(&mut self.b);
        }
        &self.b[n..]
    }

    /// σ by so many iterations, from above.
    pub fn smallest(&mut self, iterations: usize) -> f64 {
        let mut sigma = f64::INFINITY;
        self.disturb();
        for _ in 0..iterations {
            let mut start = std::mem::take(&mut self.y);
            self.least_norm(|c| c.copy_from_slice(&start));
            let z = &self.b[self.n..];
            // z = −α (W Wᵀ)⁻¹ y: its Rayleigh quotient is −α zᵀy/zᵀz
            let length = norm(z);
            sigma = (-self.alpha * dot(z, &start)).max(0.0).sqrt() / length;
            start.iter_mut().zip(z).for_each(|(y, z)| *y = z / length);
            self.y = start;
        }
        sigma
    }

    /// The left singular vector that was found.
    pub fn vector(&self) -> &[f64] {
        &self.y
    }

    /// Begin the next iteration with random numbers alone.
    pub fn forget(&mut self) {
        self.y.fill(0.0);
    }

    /// y ← y + a random vector of the same length.
    fn disturb(&mut self) {
        // of numbers in [−1, 1) with the mean square 1/3
        let length = (3.0 / self.y.len().max(1) as f64).sqrt();
        for y in &mut self.y {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            *y += length * ((self.random >> 11) as f64 / (1_u64 << 52) as f64 - 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Svd;

    /// Rows (…, 1, −1 + 0.1 i, …), the last one nearly the sum of the others.
    fn staircase(m: usize, last: f64) -> SparseMatrix {
        let places = (0..m).flat_map(|i| [(i, i), (i, i + 1)]).collect();
        let mut W = SparseMatrix::new(m, m + 1, places);
        for i in 0..m {
            W.row_mut(i).copy_from_slice(&[1.0, -1.0 + 0.1 * i as f64]);
        }
        W.row_mut(m - 1).copy_from_slice(&[0.0, last]);
        W
    }

    #[test]
    fn the_least_solution_and_the_smallest_singular_value_are_those_of_a_decomposition() {
        for last in [1.0, 1e-3] {
            let W = staircase(5, last);
            let mut svd = Svd::new(5, 6);
            W.places().zip(W.values()).for_each(|((i, j), &w)| svd.A[(i, j)] = w);
            svd.factor().unwrap();
            let mut augmented = Augmented::new(&W);
            augmented.factor(&W).unwrap();
            let sigma = augmented.smallest(40);
            assert!((sigma / svd.sigma(4) - 1.0).abs() < 0.05, "{sigma}, {}", svd.sigma(4));
            let x = augmented.least_norm(|c| c.fill(1.0)).to_vec();
            assert!((0..5).all(|i| (W.row_times(i, &x) - 1.0).abs() < 1e-12));
            // x is orthogonal to the null space
            let along: f64 = (0..6).map(|j| svd.V[(j, 5)] * x[j]).sum();
            assert!(along.abs() < 1e-9, "{along}");
        }
    }

    #[test]
    fn nearly_dependent_rows_are_seen_with_a_small_weight() {
        for last in [1e-6, 1e-9] {
            let W = staircase(5, last);
            let mut augmented = Augmented::weighted(&W, 1e-6);
            augmented.factor(&W).unwrap();
            let sigma = augmented.smallest(20);
            assert!((sigma / last - 1.0).abs() < 0.05, "{sigma} {last}");
        }
        // the third row is the sum of the others but for rounding, at places of all
        let mut W = SparseMatrix::new(3, 4, (0..3).flat_map(|i| (0..4).map(move |j| (i, j))).collect());
        let rows = [[0.3, 1.0, -0.7, 0.1], [1.1, 0.2, 0.4, -0.9]];
        W.row_mut(0).copy_from_slice(&rows[0]);
        W.row_mut(1).copy_from_slice(&rows[1]);
        W.row_mut(2).iter_mut().enumerate().for_each(|(j, w)| *w = 1.7 * rows[0][j] + rows[1][j] / 3.0);
        let mut augmented = Augmented::weighted(&W, 1e-6);
        assert!(augmented.factor(&W).is_err() || augmented.smallest(20) < 1e-10);
    }

    #[test]
    fn rows_that_are_left_out_change_nothing() {
        let few = staircase(5, 0.3);
        // the same with the sum of the first two rows between them, and with a row of zeros at the end
        let places = few.places().map(|(i, j)| (i + usize::from(i > 0), j)).chain([(1, 0), (1, 1), (1, 2), (6, 0)]);
        let mut W = SparseMatrix::new(7, 6, places.collect());
        for (i, k) in [0, 2, 3, 4, 5].into_iter().enumerate() {
            W.row_mut(k).copy_from_slice(few.row(i).1);
        }
        W.row_mut(1).copy_from_slice(&[1.0, 0.0, -0.9]);
        let without = |out: usize| [0, 1, 2, 3, 4, 5, 6].map(|i| i == out || i == 6);
        assert!(Augmented::new(&W).factor(&W).is_err());
        let mut small = Augmented::new(&few);
        small.factor(&few).unwrap();
        let mut augmented = Augmented::with_rows_left_out(&W, 1.0, &without(1));
        augmented.factor(&W).unwrap();
        let x = small.least_norm(|c| c.copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0])).to_vec();
        let same = augmented.least_norm(|c| c.copy_from_slice(&[1.0, 99.0, 2.0, 3.0, 4.0, 5.0, 99.0]));
        assert!(x.iter().zip(same).all(|(x, y)| (x - y).abs() < 1e-12), "{x:?} {same:?}");
        let (sigma, again) = (small.smallest(30), augmented.smallest(30));
        assert!((sigma / again - 1.0).abs() < 1e-3 && augmented.vector()[1] == 0.0, "{sigma} {again}");
        // row 1 is the sum of two others
        let sum = augmented.coefficients(|a| a.copy_from_slice(&[1.0, 0.0, -0.9, 0.0, 0.0, 0.0]));
        assert!(sum.iter().zip([1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]).all(|(c, e)| (c - e).abs() < 1e-12), "{sum:?}");
        // another choice has the same solutions, and another smallest singular value
        augmented.leave_out(&without(2));
        augmented.factor(&W).unwrap();
        let same = augmented.least_norm(|c| c.copy_from_slice(&[1.0, 3.0, 99.0, 3.0, 4.0, 5.0, 0.0]));
        assert!(x.iter().zip(same).all(|(x, y)| (x - y).abs() < 1e-12), "{x:?} {same:?}");
        assert!(augmented.smallest(30) > 0.0 && augmented.vector()[2] == 0.0);
    }

    #[test]
    fn dependent_rows_are_refused() {
        let mut augmented = Augmented::new(&staircase(5, 1.0));
        assert!(augmented.factor(&staircase(5, 0.0)).is_err());
        assert!(augmented.factor(&staircase(5, 1.0)).is_ok());
        // more rows than columns
        let tall = SparseMatrix::new(2, 1, vec![(0, 0), (1, 0)]);
        assert!(Augmented::new(&tall).factor(&tall).is_err());
    }
}
