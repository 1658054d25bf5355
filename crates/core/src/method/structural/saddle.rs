//! The saddle point systems `[M Uᵀ; L 0] (a; λ) = (f; c)`, where the constraint matrices U above and L below may belong to two points.
//!
//! Dense: elimination with row pivoting of `[Uᵀ M; 0 L] (λ; a)`: the columns of λ come first, because only the upper rows have entries there,
//! so that a dense matrix of the size of M alone is left; zeros are passed over. Sparse: [`SparseLu`], which keeps its pivots.
//!
//! Rows that depend on others may be left out of sparse matrices. They keep their places, with zeros in U and L, −1 on the diagonal and λ = 0, so that another
//! choice of them needs no new pattern.

use super::equations::StructuralEquations;
use crate::linalg::{Jacobian, JacobianRef, Matrix, Singular, SparseLu, SparseMatrix};

/// Factors of a saddle point matrix, and room for one right-hand side.
pub struct Saddle {
    factors: Factors,
    /// Right-hand side (f; c) before, (a; λ) after [`Saddle::solve`].
    pub b: Vec<f64>,
    velocities: usize,
}

enum Factors {
    Dense(DenseFactors),
    Sparse(Box<SparseFactors>),
}

impl Saddle {
    /// For matrices of the kind of these equations.
    pub fn of(equations: &StructuralEquations) -> Self {
        match (&equations.M, &equations.K) {
            (Jacobian::Sparse(M), Jacobian::Sparse(K)) => Saddle {
                factors: Factors::Sparse(Box::new(SparseFactors::new(M, K, equations.left_out()))),
                b: vec![0.0; M.rows() + K.rows()],
                velocities: M.rows(),
            },
            (M, K) => Self::dense(M.rows(), K.rows()),
        }
    }

    /// For so many velocities and constraints, all entries kept.
    pub fn dense(velocities: usize, constraints: usize) -> Self {
        let n = velocities + constraints;
        Saddle { factors: Factors::Dense(DenseFactors::new(velocities, n)), b: vec![0.0; n], velocities }
    }

    /// Decompose `[M Kᵀ; K 0]` of the point where the equations stand, without the rows that they leave out.
    #[inline]
    pub fn factor_at(&mut self, equations: &StructuralEquations) -> Result<(), Singular> {
        self.leave_out(equations.left_out());
        self.factor(&equations.M, &equations.K, &equations.K)
    }

    /// Leave out these rows from now on; none, where the list is empty.
    #[inline]
    pub fn leave_out(&mut self, rows: &[bool]) {
        if let Factors::Sparse(factors) = &mut self.factors {
            factors.left_out.copy_from_slice(rows);
        }
    }

    /// Decompose `[M Uᵀ; L 0]`.
    #[inline]
    pub fn factor<'a>(
        &mut self,
        M: impl Into<JacobianRef<'a>>,
        upper: impl Into<JacobianRef<'a>>,
        lower: impl Into<JacobianRef<'a>>,
    ) -> Result<(), Singular> {
        let (n, size) = (self.velocities, self.b.len());
        if size == 0 {
            return Ok(());
        }
        if size - self.number_left_out() > 2 * n {
            // more constraints than velocities
            return Err(Singular { column: n });
        }
        match (&mut self.factors, M.into(), upper.into(), lower.into()) {
            (Factors::Dense(factors), Jacobian::Dense(M), Jacobian::Dense(upper), Jacobian::Dense(lower)) => {
                factors.factor(M, upper, lower)
            }
            (Factors::Sparse(factors), Jacobian::Sparse(M), Jacobian::Sparse(upper), Jacobian::Sparse(lower)) => {
                factors.factor(M, upper, lower)
            }
            (Factors::Dense(factors), M, upper, lower) => factors.factor_entries(M, upper, lower),
            (Factors::Sparse(_), ..) => unreachable!("a dense part of a sparse saddle point matrix"),
        }
    }

    #[inline]
    fn number_left_out(&self) -> usize {
        match &self.factors {
            Factors::Dense(_) => 0,
            Factors::Sparse(factors) => factors.left_out.iter().filter(|left_out| **left_out).count(),
        }
    }

    /// Solve for the right-hand side in [`Saddle::b`].
    #[inline]
    pub fn solve(&mut self) {
        match &mut self.factors {
            Factors::Dense(factors) => factors.solve(&mut self.b),
            Factors::Sparse(factors) => factors.solve(&mut self.b),
        }
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

/// Sparse factors, for matrices of one pattern.
struct SparseFactors {
    /// nothing where the pattern leaves no regular matrix
    lu: Option<SparseLu<f64>>,
    /// where the values of M, Uᵀ and L stand
    M: Vec<usize>,
    upper: Vec<usize>,
    lower: Vec<usize>,
    /// the diagonal of the constraints, and which of them are left out; nothing where none ever is
    diagonal: Vec<usize>,
    left_out: Vec<bool>,
}

impl SparseFactors {
    fn new(M: &SparseMatrix, K: &SparseMatrix, left_out: &[bool]) -> Self {
        let n = M.rows();
        let upper = K.places().map(|(k, j)| (j, n + k));
        let lower = K.places().map(|(k, j)| (n + k, j));
        let diagonal = (0..left_out.len()).map(|k| (n + k, n + k));
        let places: Vec<_> = M.places().chain(upper).chain(lower).chain(diagonal).collect();
        let (lu, positions) = SparseLu::of_places(n + K.rows(), &places);
        let (M, constraints) = positions.split_at(M.values().len());
        let (upper, others) = constraints.split_at(K.values().len());
        let (lower, diagonal) = others.split_at(K.values().len());
        let [M, upper, lower, diagonal] = [M, upper, lower, diagonal].map(<[usize]>::to_vec);
        SparseFactors { lu, M, upper, lower, diagonal, left_out: left_out.to_vec() }
    }

    fn factor(&mut self, M: &SparseMatrix, upper: &SparseMatrix, lower: &SparseMatrix) -> Result<(), Singular> {
        let Some(lu) = &mut self.lu else { return Err(Singular { column: 0 }) };
        for (places, part) in [(&self.M, M), (&self.upper, upper), (&self.lower, lower)] {
            places.iter().zip(part.values()).for_each(|(&k, value)| lu.values[k] = *value);
        }
        let mut end = 0;
        for (k, (&place, &left_out)) in self.diagonal.iter().zip(&self.left_out).enumerate() {
            let own = end..end + lower.row(k).1.len();
            end = own.end;
            lu.values[place] = if left_out { -1.0 } else { 0.0 };
            if left_out {
                own.for_each(|k| (lu.values[self.upper[k]], lu.values[self.lower[k]]) = (0.0, 0.0));
            }
        }
        lu.factor()
    }

    fn solve(&mut self, b: &mut [f64]) {
        let constraints = b.len() - self.left_out.len();
        self.left_out.iter().zip(&mut b[constraints..]).filter(|(left_out, _)| **left_out).for_each(|(_, c)| *c = 0.0);
        if let Some(lu) = &mut self.lu {
            lu.solve(b);
        }
    }
}

/// Dense factors.
struct DenseFactors {
    /// rows one after the other; 1/uₖₖ on the diagonal
    A: Vec<f64>,
    pivots: Vec<usize>,
    velocities: usize,
}

impl DenseFactors {
    fn new(velocities: usize, size: usize) -> Self {
        DenseFactors { A: vec![0.0; size * size], pivots: vec![0; size], velocities }
    }

    fn factor(&mut self, M: &Matrix, upper: &Matrix, lower: &Matrix) -> Result<(), Singular> {
        let (n, size) = (self.velocities, self.pivots.len());
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

    /// The same of matrices of any kind.
    fn factor_entries(&mut self, M: JacobianRef, upper: JacobianRef, lower: JacobianRef) -> Result<(), Singular> {
        let (n, size) = (self.velocities, self.pivots.len());
        let (A, m) = (&mut self.A, size - n);
        A.fill(0.0);
        for i in 0..n {
            M.row(i).for_each(|(j, entry)| A[i * size + m + j] = entry);
        }
        for k in 0..m {
            upper.row(k).for_each(|(j, entry)| A[j * size + k] = entry);
            lower.row(k).for_each(|(j, entry)| A[(n + k) * size + m + j] = entry);
        }
        self.eliminate()
    }

    fn eliminate(&mut self) -> Result<(), Singular> {
        let n = self.pivots.len();
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

    fn solve(&self, b: &mut [f64]) {
        let n = b.len();
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
        let mut saddle = Saddle::dense(3, 1);
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
        // sparse, and sparse parts of a dense one
        let sparse = |A: &Matrix| {
            let places = (0..A.rows()).flat_map(|i| (0..A.cols()).map(move |j| (i, j)));
            let mut S = SparseMatrix::new(A.rows(), A.cols(), places.collect());
            S.values_mut().copy_from_slice(A.data());
            S
        };
        let parts = [&M, &upper, &lower].map(sparse);
        let [M, upper, lower] = parts.each_ref().map(JacobianRef::Sparse);
        let factors = Factors::Sparse(Box::new(SparseFactors::new(&parts[0], &parts[1], &[])));
        let sparse = Saddle { factors, b: vec![0.0; 4], velocities: 3 };
        for mut saddle in [sparse, Saddle::dense(3, 1)] {
            for i in 0..3 {
                saddle.b[i] = M.row_times(i, &a) + upper[(0, i)] * lambda;
            }
            saddle.b[3] = lower.row_times(0, &a);
            saddle.factor(M, upper, lower).unwrap();
            saddle.solve();
            assert!(
                saddle.b.iter().zip(a.iter().chain(&[lambda])).all(|(x, y)| (x - y).abs() < 1e-14),
                "{:?}",
                saddle.b
            );
        }
    }

    #[test]
    fn a_row_that_is_left_out_has_no_multiplier_and_changes_nothing() {
        let mut M = SparseMatrix::new(3, 3, (0..3).map(|i| (i, i)).collect());
        M.values_mut().copy_from_slice(&[2.0, 3.0, 5.0]);
        let mut K = SparseMatrix::new(2, 3, (0..2).flat_map(|i| (0..3).map(move |j| (i, j))).collect());
        K.row_mut(0).copy_from_slice(&[1.0, -2.0, 0.5]);
        K.row_mut(1).copy_from_slice(&[2.0, -4.0, 1.0]);
        let one_of = |out: [bool; 2]| {
            let factors = Factors::Sparse(Box::new(SparseFactors::new(&M, &K, &[true, false])));
            let mut saddle = Saddle { factors, b: vec![1.0, 2.0, 3.0, 0.3, 0.6], velocities: 3 };
            saddle.leave_out(&out);
            let [M, K] = [&M, &K].map(JacobianRef::Sparse);
            saddle.factor(M, K, K).unwrap();
            saddle.solve();
            saddle.b
        };
        let (first, second) = (one_of([true, false]), one_of([false, true]));
        assert!(first[..3].iter().zip(&second).all(|(a, b)| (a - b).abs() < 1e-14), "{first:?} {second:?}");
        assert_eq!((first[3], second[4]), (0.0, 0.0));
        // Kᵀλ is the same
        assert!((2.0 * first[4] - second[3]).abs() < 1e-14);
    }
}
