//! Scales R and C with entries of R A C about one: no rank can be decided while equations or unknowns have different units.
//!
//! Rows and columns are divided by the square roots of their largest entries, a few times over: Ruiz, A scaling algorithm to equilibrate
//! both rows and columns norms in matrices, RAL-TR-2001-034. Rows alone need one division. Scales are powers of two, so that scaling does
//! not round.

use crate::linalg::SparseMatrix;
use faer::Mat;

/// Rows and columns below this part of the largest entry are rounding, and are not scaled up. Derived: 500 ε, what sums leave of terms that
/// cancel.
pub const VANISHING: f64 = 1e-13;
/// Sweeps. Derived: each halves the logarithms of imbalances, so that units up to 1e300 apart come within a factor of two.
const SWEEPS: usize = 12;

/// Which scales are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// Rows only: right singular vectors stay orthonormal in the units of the variables.
    Rows,
    /// Rows and columns.
    Both,
}

/// Scales of a matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scales {
    /// R, one per row.
    pub rows: Vec<f64>,
    /// C, one per column.
    pub columns: Vec<f64>,
    /// largest entries of rows and of columns
    sizes: [Vec<f64>; 2],
}

impl Scales {
    /// None.
    pub fn ones(m: usize, n: usize) -> Self {
        Scales { rows: vec![1.0; m], columns: vec![1.0; n], sizes: [vec![0.0; m], vec![0.0; n]] }
    }

    /// Of a matrix.
    pub fn of(A: &Mat<f64>, scaling: Scaling) -> Self {
        Self::of_entries((A.nrows(), A.ncols()), |i, j| A[(i, j)], scaling)
    }

    /// Of a matrix that is given by its entries.
    pub fn of_entries((m, n): (usize, usize), entry: impl Fn(usize, usize) -> f64, scaling: Scaling) -> Self {
        let mut scales = Self::ones(m, n);
        scales.improve(entry, scaling);
        scales
    }

    /// Of rows whose usual sizes are known, which may be larger than here: what has almost vanished is seen to be small.
    pub fn of_sizes(sizes: &[f64], columns: usize) -> Self {
        let top = sizes.iter().copied().fold(0.0, f64::max);
        let rows = sizes.iter().map(|&size| power_of_two(balance(size, top))).collect();
        Scales { rows, columns: vec![1.0; columns], ..Scales::default() }
    }

    /// Of a sparse matrix.
    pub fn of_sparse(A: &SparseMatrix, scaling: Scaling) -> Self {
        let mut scales = Self::ones(A.rows(), A.cols());
        let Scales { rows: r, columns: c, sizes: [row, column] } = &mut scales;
        for _ in 0..if scaling == Scaling::Both { SWEEPS } else { 1 } {
            row.fill(0.0);
            column.fill(0.0);
            for ((i, j), a) in A.places().zip(A.values()) {
                let size = (r[i] * a * c[j]).abs();
                (row[i], column[j]) = (row[i].max(size), column[j].max(size));
            }
            balanced(scaling, [r, c], [row, column]);
        }
        r.iter_mut().chain(c).for_each(|s| *s = power_of_two(*s));
        scales
    }

    /// Better ones, from those at hand.
    pub fn improve(&mut self, entry: impl Fn(usize, usize) -> f64, scaling: Scaling) {
        let Scales { rows: r, columns: c, sizes: [row, column] } = self;
        let (m, n) = (r.len(), c.len());
        row.resize(m, 0.0);
        column.resize(n, 0.0);
        for _ in 0..if scaling == Scaling::Both { SWEEPS } else { 1 } {
            row.fill(0.0);
            column.fill(0.0);
            for i in 0..m {
                for j in 0..n {
                    let size = (r[i] * entry(i, j) * c[j]).abs();
                    row[i] = row[i].max(size);
                    column[j] = column[j].max(size);
                }
            }
            balanced(scaling, [r, c], [row, column]);
        }
        r.iter_mut().chain(c).for_each(|s| *s = power_of_two(*s));
    }

    /// R A C.
    pub fn scaled(&self, A: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(A.nrows(), A.ncols(), |i, j| self.rows[i] * A[(i, j)] * self.columns[j])
    }
}

/// Scales improved by the largest entries of rows and columns.
fn balanced(scaling: Scaling, [r, c]: [&mut Vec<f64>; 2], [row, column]: [&Vec<f64>; 2]) {
    let top = row.iter().copied().fold(0.0, f64::max);
    if scaling == Scaling::Both {
        r.iter_mut().zip(row).for_each(|(r, &size)| *r *= balance(size, top).sqrt());
        c.iter_mut().zip(column).for_each(|(c, &size)| *c *= balance(size, top).sqrt());
    } else {
        r.iter_mut().zip(row).for_each(|(r, &size)| *r *= balance(size, top));
    }
}

/// What brings a size to one, unless it is rounding against the largest.
pub fn balance(size: f64, top: f64) -> f64 {
    if size > VANISHING * top { 1.0 / size } else { 1.0 }
}

/// The power of two that brings a size near one; one for zero.
pub fn scale_of(size: f64) -> f64 {
    power_of_two(balance(size, size))
}

/// The nearest one; one beyond the range of numbers.
fn power_of_two(x: f64) -> f64 {
    let y = x.log2().round().exp2();
    if y.is_finite() && y > 0.0 { y } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_of_different_units_become_comparable() {
        let A = faer::mat![[1.0, 1e5], [1e-7, 1e-2]];
        let scaled = Scales::of(&A, Scaling::Both).scaled(&A);
        for i in 0..2 {
            for j in 0..2 {
                assert!(scaled[(i, j)] > 0.05 && scaled[(i, j)] < 2.0, "{scaled:?}");
            }
        }
    }

    #[test]
    fn rounding_is_not_scaled_up() {
        let A = faer::mat![[1e3, 0.0], [0.0, 1e-12]];
        let scales = Scales::of(&A, Scaling::Rows);
        assert_eq!((scales.rows[1], scale_of(0.0), scale_of(1e3)), (1.0, 1.0, 1.0 / 1024.0));
    }
}
