//! Dense matrices in row order.

use std::ops::{Index, IndexMut};

/// A dense matrix, stored row by row.
///
/// ```
/// use daedal_linear::linalg::Matrix;
/// let mut M = Matrix::<f64>::zeros(2, 3);
/// M[(1, 2)] = 4.0;
/// assert_eq!(M.row(1), &[0.0, 0.0, 4.0]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix<S = f64> {
    rows: usize,
    cols: usize,
    data: Vec<S>,
}

impl<S: Copy + From<f64>> Matrix<S> {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Matrix { rows, cols, data: vec![S::from(0.0); rows * cols] }
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row i.
    #[inline]
    pub fn row(&self, i: usize) -> &[S] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Row i, to be changed.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [S] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Two different rows, the first to be read, the second to be changed.
    #[inline]
    pub fn row_pair(&mut self, source: usize, target: usize) -> (&[S], &mut [S]) {
        let n = self.cols;
        if source < target {
            let (head, tail) = self.data.split_at_mut(target * n);
            (&head[source * n..(source + 1) * n], &mut tail[..n])
        } else {
            let (head, tail) = self.data.split_at_mut(source * n);
            (&tail[..n], &mut head[target * n..(target + 1) * n])
        }
    }

    /// Exchange two rows.
    #[inline]
    pub fn swap_rows(&mut self, i: usize, k: usize) {
        if i != k {
            let n = self.cols;
            let (low, high) = (i.min(k), i.max(k));
            let (head, tail) = self.data.split_at_mut(high * n);
            head[low * n..(low + 1) * n].swap_with_slice(&mut tail[..n]);
        }
    }

    /// Set every entry.
    pub fn fill(&mut self, value: S) {
        self.data.fill(value);
    }

    /// All entries, row by row.
    #[inline]
    pub fn data_mut(&mut self) -> &mut [S] {
        &mut self.data
    }

    /// All entries, row by row.
    #[inline]
    pub fn data(&self) -> &[S] {
        &self.data
    }
}

impl<S> Index<(usize, usize)> for Matrix<S> {
    type Output = S;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &S {
        debug_assert!(i < self.rows && j < self.cols, "({i}, {j}) of {} × {}", self.rows, self.cols);
        &self.data[i * self.cols + j]
    }
}

impl<S> IndexMut<(usize, usize)> for Matrix<S> {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut S {
        debug_assert!(i < self.rows && j < self.cols, "({i}, {j}) of {} × {}", self.rows, self.cols);
        &mut self.data[i * self.cols + j]
    }
}
