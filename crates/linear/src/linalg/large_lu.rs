//! LU decomposition with row pivoting of larger dense matrices, by faer, in fixed buffers.

use super::Singular;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use faer::linalg::triangular_solve::{solve_unit_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::prelude::ReborrowMut;
use faer::traits::ComplexField;
use faer::{ColMut, Mat, Par};

/// P A = L U of a square matrix.
pub struct LargeLu<T> {
    /// The matrix before, its factors after [`LargeLu::factor`].
    pub A: Mat<T>,
    /// row of A that stands in row i of P A, and its inverse
    order: Vec<usize>,
    inverse: Vec<usize>,
    permuted: Vec<T>,
    memory: MemBuffer,
}

impl<T: ComplexField + Copy> LargeLu<T> {
    /// Room for an n × n matrix.
    pub fn new(n: usize) -> Self {
        LargeLu {
            A: Mat::zeros(n, n),
            order: vec![0; n],
            inverse: vec![0; n],
            permuted: vec![T::zero_impl(); n],
            memory: MemBuffer::new(lu_in_place_scratch::<usize, T>(n, n, Par::Seq, faer::prelude::default())),
        }
    }

    /// Decompose [`LargeLu::A`] in place.
    pub fn factor(&mut self) -> Result<(), Singular> {
        let stack = MemStack::new(&mut self.memory);
        let (order, inverse) = (&mut self.order, &mut self.inverse);
        lu_in_place(self.A.as_mut(), order, inverse, Par::Seq, stack, faer::prelude::default());
        let singular = |k: &usize| {
            let size = T::abs1_impl(&self.A[(*k, *k)]);
            // zero, infinite or not a number
            !(size > T::Real::zero_impl() && T::Real::is_finite_impl(&size))
        };
        match (0..self.A.nrows()).find(singular) {
            Some(column) => Err(Singular { column }),
            None => Ok(()),
        }
    }

    /// b ← A⁻¹ b.
    pub fn solve(&mut self, b: &mut [T]) {
        for (permuted, &row) in self.permuted.iter_mut().zip(&self.order) {
            *permuted = b[row];
        }
        b.copy_from_slice(&self.permuted);
        let mut column = ColMut::from_slice_mut(b).as_mat_mut();
        solve_unit_lower_triangular_in_place(self.A.as_ref(), column.rb_mut(), Par::Seq);
        solve_upper_triangular_in_place(self.A.as_ref(), column, Par::Seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::c64;

    #[test]
    fn real_and_complex_systems_are_solved() {
        let n = 40;
        let entry = |i: usize, j: usize| ((3 * i + 7 * j * j + 1) % 13) as f64 - 6.0 + if i == j { 9.0 } else { 0.0 };
        let mut real = LargeLu::<f64>::new(n);
        let mut complex = LargeLu::<c64>::new(n);
        let (mut b, mut z) = (vec![0.0; n], vec![c64::new(0.0, 0.0); n]);
        for i in 0..n {
            for j in 0..n {
                real.A[(i, j)] = entry(i, j);
                complex.A[(i, j)] = c64::new(entry(i, j), 0.5 * entry(j, i));
                b[i] += entry(i, j) * (j as f64 - 5.0);
                z[i] += complex.A[(i, j)] * c64::new(j as f64, -1.0);
            }
        }
        real.factor().unwrap();
        complex.factor().unwrap();
        real.solve(&mut b);
        complex.solve(&mut z);
        for i in 0..n {
            assert!((b[i] - (i as f64 - 5.0)).abs() < 1e-10, "{}", b[i]);
            assert!((z[i] - c64::new(i as f64, -1.0)).norm() < 1e-10);
        }
    }

    #[test]
    fn a_singular_matrix_is_refused() {
        let mut lu = LargeLu::<f64>::new(2);
        lu.A[(0, 0)] = 1.0;
        lu.A[(1, 0)] = 2.0;
        assert_eq!(lu.factor(), Err(Singular { column: 1 }));
    }
}
