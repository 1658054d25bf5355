//! LU decomposition with row pivoting, real, complex or of any scalar of a model.

use super::Matrix;
use daedal_scalar::Scalar;
use faer::c64;
use std::ops::{Add, Div, Mul, Sub};

/// Numbers that can be eliminated with.
pub trait Field:
    Copy + From<f64> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
}

impl<T> Field for T where T: Copy + From<f64> + Add<Output = T> + Sub<Output = T> + Mul<Output = T> + Div<Output = T> {}

/// A matrix without an inverse: no pivot in this column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("singular matrix: no pivot in column {column}")]
pub struct Singular {
    /// The column.
    pub column: usize,
}

/// P A = L U of a square matrix.
#[derive(Clone, Debug)]
pub struct Lu<T> {
    /// The matrix before, its factors after [`Lu::factor`].
    pub A: Matrix<T>,
    pivots: Vec<usize>,
}

impl<T: Field> Lu<T> {
    /// Room for an n × n matrix.
    pub fn new(n: usize) -> Self {
        Lu { A: Matrix::zeros(n, n), pivots: vec![0; n] }
    }

    /// Decompose [`Lu::A`] in place; `magnitude` is the size by which pivots are chosen.
    #[inline]
    fn factor_by(&mut self, magnitude: impl Fn(T) -> f64) -> Result<(), Singular> {
        let n = self.A.rows();
        for k in 0..n {
            let pivot = largest_below(&self.A, k, k, n, &magnitude);
            let size = magnitude(self.A[(pivot, k)]);
            if size == 0.0 || !size.is_finite() {
                return Err(Singular { column: k });
            }
            self.pivots[k] = pivot;
            self.A.swap_rows(k, pivot);
            eliminate_below(&mut self.A, k, k, n);
        }
        Ok(())
    }

    /// The sign of det A, from the factors.
    pub fn determinant_is_positive(&self) -> bool
    where
        T: Scalar,
    {
        let swaps = self.pivots.iter().enumerate().filter(|(k, pivot)| k != *pivot).count();
        let negative = (0..self.A.rows()).filter(|&k| self.A[(k, k)].value() < 0.0).count();
        (swaps + negative) % 2 == 0
    }

    /// b ← A⁻¹ b.
    pub fn solve(&self, b: &mut [T]) {
        let n = self.A.rows();
        for k in 0..n {
            b.swap(k, self.pivots[k]);
        }
        for i in 1..n {
            let (solved, rest) = b.split_at_mut(i);
            for (&l, &b) in self.A.row(i).iter().zip(solved.iter()) {
                rest[0] = rest[0] - l * b;
            }
        }
        for i in (0..n).rev() {
            let row = &self.A.row(i)[i..];
            let mut sum = b[i];
            for (&u, &b) in row[1..].iter().zip(&b[i + 1..]) {
                sum = sum - u * b;
            }
            b[i] = sum / row[0];
        }
    }
}

impl<S: Scalar> Lu<S> {
    /// Decompose [`Lu::A`] in place.
    pub fn factor(&mut self) -> Result<(), Singular> {
        self.factor_by(|x| x.value().abs())
    }
}

impl Lu<c64> {
    /// Decompose [`Lu::A`] in place.
    pub fn factor_complex(&mut self) -> Result<(), Singular> {
        self.factor_by(|x| x.re.abs() + x.im.abs())
    }
}

/// Rows that row pivoting chooses from a tall matrix, one per column, in `chosen`; destroys the matrix.
/// Only the columns `0..chosen.len()` take part. `order` is scratch of one entry per row.
pub fn row_pivots(A: &mut Matrix, order: &mut [usize], chosen: &mut [usize]) -> Result<(), Singular> {
    let m = A.rows();
    for (i, o) in order.iter_mut().enumerate() {
        *o = i;
    }
    for k in 0..chosen.len() {
        let pivot = largest_below(A, k, k, m, f64::abs);
        if !(A[(pivot, k)].abs() > 0.0) {
            return Err(Singular { column: k });
        }
        A.swap_rows(k, pivot);
        order.swap(k, pivot);
        eliminate_below(A, k, k, m);
        chosen[k] = order[k];
    }
    Ok(())
}

/// Row i ≥ k with the largest entry in column j.
#[inline]
fn largest_below<T: Field>(A: &Matrix<T>, k: usize, j: usize, m: usize, magnitude: impl Fn(T) -> f64) -> usize {
    let mut best = (k, magnitude(A[(k, j)]));
    for i in k + 1..m {
        let size = magnitude(A[(i, j)]);
        if size > best.1 {
            best = (i, size);
        }
    }
    best.0
}

/// Subtract multiples of row k so that column j vanishes below it; the multipliers stay there.
#[inline]
fn eliminate_below<T: Field>(A: &mut Matrix<T>, k: usize, j: usize, m: usize) {
    for i in k + 1..m {
        let (pivot_row, row) = A.row_pair(k, i);
        let l = row[j] / pivot_row[j];
        row[j] = l;
        for (x, &p) in row[j + 1..].iter_mut().zip(&pivot_row[j + 1..]) {
            *x = *x - l * p;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_and_complex_systems_are_solved() {
        let entries = [[0.0, 2.0, 1.0], [1.0, -1.0, 3.0], [4.0, 0.5, -2.0]];
        let x = [1.0, -2.0, 0.5];
        let mut real = Lu::<f64>::new(3);
        let mut complex = Lu::<c64>::new(3);
        let (mut b, mut z) = ([0.0; 3], [c64::new(0.0, 0.0); 3]);
        for i in 0..3 {
            for j in 0..3 {
                real.A[(i, j)] = entries[i][j];
                complex.A[(i, j)] = c64::new(entries[i][j], 0.5 * entries[j][i]);
                b[i] += entries[i][j] * x[j];
                z[i] += complex.A[(i, j)] * c64::new(x[j], -1.0);
            }
        }
        real.factor().unwrap();
        complex.factor_complex().unwrap();
        real.solve(&mut b);
        complex.solve(&mut z);
        for i in 0..3 {
            assert!((b[i] - x[i]).abs() < 1e-14);
            assert!((z[i] - c64::new(x[i], -1.0)).norm() < 1e-14);
        }
    }

    #[test]
    fn a_singular_matrix_names_its_column() {
        let mut lu = Lu::<f64>::new(2);
        lu.A[(0, 0)] = 1.0;
        lu.A[(1, 0)] = 2.0;
        assert_eq!(lu.factor(), Err(Singular { column: 1 }));
    }

    #[test]
    fn row_pivots_takes_the_largest_rows() {
        let mut A = Matrix::<f64>::zeros(3, 1);
        A[(1, 0)] = -3.0;
        A[(2, 0)] = 1.0;
        let (mut order, mut chosen) = ([0; 3], [0; 1]);
        row_pivots(&mut A, &mut order, &mut chosen).unwrap();
        assert_eq!(chosen, [1]);
    }
}
