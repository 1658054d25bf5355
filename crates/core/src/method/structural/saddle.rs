//! The saddle point systems `[M Uᵀ; L 0] (a; λ) = (f; c)`, where the constraint matrices U above and L below may belong to two points.
//!
//! Elimination with row pivoting of `[Uᵀ M; 0 L] (λ; a)`: the columns of λ come first, because only the upper rows have entries there, so
//! that a dense matrix of the size of M alone is left; zeros are passed over.

use crate::linalg::{Matrix, Singular};

/// Factors of a saddle point matrix, and room for one right-hand side.
#[derive(Clone, Debug)]
pub struct Saddle {
    /// rows one after the other; 1/uₖₖ on the diagonal
    A: Vec<f64>,
    pivots: Vec<usize>,
    /// Right-hand side (f; c) before, (a; λ) after [`Saddle::solve`].
    pub b: Vec<f64>,
    velocities: usize,
}

impl Saddle {
    /// For so many velocities and constraints.
    pub fn new(velocities: usize, constraints: usize) -> Self {
        let n = velocities + constraints;
        Saddle { A: vec![0.0; n * n], pivots: vec![0; n], b: vec![0.0; n], velocities }
    }

    /// Decompose `[M Uᵀ; L 0]`.
    pub fn factor(&mut self, M: &Matrix, upper: &Matrix, lower: &Matrix) -> Result<(), Singular> {
        let (n, size) = (self.velocities, self.b.len());
        if size == 0 {
            return Ok(());
        }
        if size > 2 * n {
            // more constraints than velocities
            return Err(Singular { column: n });
        }
        let (top, bottom) = self.A.split_at_mut(n * size);
        for (i, row) in top.chunks_exact_mut(size).enumerate() {
            let (left, right) = row.split_at_mut(size - n);
            left.iter_mut().enumerate().for_each(|(k, u)| *u = upper[(k, i)]);
            right.copy_from_slice(M.row(i));
        }
        for (k, row) in bottom.chunks_exact_mut(size).enumerate() {
            let (left, right) = row.split_at_mut(size - n);
            left.fill(0.0);
            right.copy_from_slice(lower.row(k));
        }
        self.eliminate()
    }

    fn eliminate(&mut self) -> Result<(), Singular> {
        let n = self.b.len();
        for k in 0..n {
            // the rows that have entries in this column
            let rows = if k < n - self.velocities { self.velocities } else { n };
            let (mut pivot, mut largest) = (k, 0.0);
            for (i, row) in self.A[k * n..rows * n].chunks_exact(n).enumerate() {
                let size = row[k].abs();
                if size > largest {
                    (pivot, largest) = (k + i, size);
                }
            }
            if !(largest > 0.0 && largest.is_finite()) {
                return Err(Singular { column: k });
            }
            self.pivots[k] = pivot;
            let (head, tail) = self.A[..rows * n].split_at_mut((k + 1) * n);
            let row = &mut head[k * n..];
            if pivot != k {
                let start = (pivot - k - 1) * n;
                row.swap_with_slice(&mut tail[start..start + n]);
            }
            let inverse = 1.0 / row[k];
            row[k] = inverse;
            let right = &row[k + 1..];
            for below in tail.chunks_exact_mut(n) {
                if below[k] == 0.0 {
                    continue;
                }
                let l = below[k] * inverse;
                below[k] = l;
                below[k + 1..].iter_mut().zip(right).for_each(|(x, u)| *x -= l * u);
            }
        }
        Ok(())
    }

    /// Solve for the right-hand side in [`Saddle::b`].
    pub fn solve(&mut self) {
        let n = self.b.len();
        let b = &mut self.b;
        for k in 0..n {
            b.swap(k, self.pivots[k]);
        }
        for i in 1..n {
            let (solved, rest) = b.split_at_mut(i);
            let row = &self.A[i * n..i * n + i];
            rest[0] -= row.iter().zip(solved.iter()).map(|(l, b)| l * b).sum::<f64>();
        }
        for i in (0..n).rev() {
            let (rest, solved) = b.split_at_mut(i + 1);
            let row = &self.A[i * n + i..(i + 1) * n];
            rest[i] = (rest[i] - row[1..].iter().zip(solved.iter()).map(|(u, b)| u * b).sum::<f64>()) * row[0];
        }
        b.rotate_left(n - self.velocities);
    }

    /// The upper part of b.
    pub fn top(&self) -> &[f64] {
        &self.b[..self.velocities]
    }

    /// The lower part of b.
    pub fn bottom(&self) -> &[f64] {
        &self.b[self.velocities..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_with_two_points_and_a_mass_that_vanishes_is_solved() {
        let entries = |rows: usize, cols: usize, values: &[f64]| {
            let mut A = Matrix::<f64>::zeros(rows, cols);
            A.data_mut().copy_from_slice(values);
            A
        };
        let M = entries(3, 3, &[0.0, 0.0, 0.0, 0.0, 2.0, 0.3, 0.0, 0.3, 0.5]);
        let upper = entries(1, 3, &[1.0, -0.5, 2.0]);
        let lower = entries(1, 3, &[0.9, 0.0, 1.5]);
        let (a, lambda) = ([1.0, -2.0, 0.5], 3.0);
        let mut saddle = Saddle::new(3, 1);
        for i in 0..3 {
            saddle.b[i] = (0..3).map(|j| M[(i, j)] * a[j]).sum::<f64>() + upper[(0, i)] * lambda;
        }
        saddle.b[3] = (0..3).map(|j| lower[(0, j)] * a[j]).sum();
        saddle.factor(&M, &upper, &lower).unwrap();
        saddle.solve();
        for (x, y) in saddle.b.iter().zip(a.iter().chain(&[lambda])) {
            assert!((x - y).abs() < 1e-14, "{:?}", saddle.b);
        }
        assert_eq!((saddle.top().len(), saddle.bottom().len()), (3, 1));
        // a constraint without a coefficient
        assert!(saddle.factor(&M, &upper, &Matrix::zeros(1, 3)).is_err());
    }
}
