//! LU decomposition of sparse matrices of one pattern, by faer, column by column. The order of elimination is found once.
//!
//! The other algorithm of faer, by supernodes, allocates in every decomposition. Vectors are permuted here: element by element, where faer
//! permutes the rows of a matrix.

use super::Singular;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::prelude::ReborrowMut;
use faer::sparse::linalg::lu::simplicial::{
    SimplicialLu, factorize_simplicial_numeric_lu, factorize_simplicial_numeric_lu_scratch,
};
use faer::sparse::linalg::lu::{LuSymbolicParams, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::linalg::triangular_solve::{solve_unit_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::sparse::linalg::{LuError, SupernodalThreshold};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::traits::ComplexField;
use faer::{ColMut, Conj, Par};

/// P A Q = L U of a square matrix with a fixed pattern.
pub struct SparseLu<T> {
    /// Entries in the order of the pattern.
    pub values: Vec<T>,
    pattern: SymbolicSparseColMat<usize>,
    symbolic: SymbolicLu<usize>,
    factors: SimplicialLu<usize, T>,
    /// rows in the order of the pivots, and their places in it
    rows: Vec<usize>,
    places: Vec<usize>,
    memory: MemBuffer,
    permuted: Vec<T>,
    probe: Vec<T>,
}

impl<T: ComplexField + Copy> SparseLu<T> {
    /// Room for an n × n matrix with entries at `places` (row, column), each once, ordered by column, then by row. A pattern that
    /// leaves no regular matrix is refused.
    pub fn new(n: usize, places: &[(usize, usize)]) -> Result<Self, Singular> {
        let mut starts = vec![0; n + 1];
        for &(_, j) in places {
            starts[j + 1] += 1;
        }
        for j in 0..n {
            starts[j + 1] += starts[j];
        }
        let rows = places.iter().map(|&(i, _)| i).collect();
        let pattern = SymbolicSparseColMat::new_checked(n, n, starts, None, rows);
        let params = LuSymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SIMPLICIAL,
            ..faer::prelude::default()
        };
        let symbolic = factorize_symbolic_lu(pattern.as_ref(), params).map_err(|_| Singular { column: 0 })?;
        Ok(SparseLu {
            values: vec![T::zero_impl(); places.len()],
            pattern,
            symbolic,
            factors: SimplicialLu::new(),
            rows: vec![0; n],
            places: vec![0; n],
            memory: MemBuffer::new(factorize_simplicial_numeric_lu_scratch::<usize, T>(n, n)),
            permuted: vec![T::zero_impl(); n],
            probe: vec![T::one_impl(); n],
        })
    }

    /// Decompose the matrix with the entries [`SparseLu::values`].
    pub fn factor(&mut self) -> Result<(), Singular> {
        let A = SparseColMatRef::new(self.pattern.as_ref(), &self.values[..]);
        let (columns, stack) = (self.symbolic.col_perm(), MemStack::new(&mut self.memory));
        let (rows, places) = (&mut self.rows, &mut self.places);
        match factorize_simplicial_numeric_lu(rows, places, &mut self.factors, A, columns, stack) {
            Ok(()) => {}
            Err(LuError::SymbolicSingular { index }) => return Err(Singular { column: index }),
            Err(LuError::Generic(_)) => return Err(Singular { column: 0 }),
        }
        // pivots that are zero are not reported, but no solution is finite then
        let mut probe = std::mem::take(&mut self.probe);
        probe.fill(T::one_impl());
        self.solve(&mut probe);
        let singular = probe.iter().position(|x| !T::is_finite_impl(x));
        self.probe = probe;
        match singular {
            Some(column) => Err(Singular { column }),
            None => Ok(()),
        }
    }

    /// b ← A⁻¹ b.
    pub fn solve(&mut self, b: &mut [T]) {
        self.permuted.iter_mut().zip(&self.rows).for_each(|(permuted, &row)| *permuted = b[row]);
        let (L, U) = (self.factors.l_factor_unsorted(), self.factors.u_factor_unsorted());
        let mut column = ColMut::from_slice_mut(&mut self.permuted).as_mat_mut();
        solve_unit_lower_triangular_in_place(L, Conj::No, column.rb_mut(), Par::Seq);
        solve_upper_triangular_in_place(U, Conj::No, column, Par::Seq);
        let (order, _) = self.symbolic.col_perm().arrays();
        self.permuted.iter().zip(order).for_each(|(x, &column)| b[column] = *x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of a tridiagonal matrix.
    fn places(n: usize) -> Vec<(usize, usize)> {
        (0..n).flat_map(|j| (j.saturating_sub(1)..(j + 2).min(n)).map(move |i| (i, j))).collect()
    }

    #[test]
    fn a_second_difference_is_inverted_again_and_again() {
        let n = 50;
        let places = places(n);
        let mut lu = SparseLu::<f64>::new(n, &places).unwrap();
        for diagonal in [2.0, 3.0] {
            for (value, (i, j)) in lu.values.iter_mut().zip(&places) {
                *value = if i == j { diagonal } else { -1.0 };
            }
            lu.factor().unwrap();
            let x = |i: usize| (i * i % 7) as f64;
            let mut b: Vec<f64> = (0..n)
                .map(|i| diagonal * x(i) - if i > 0 { x(i - 1) } else { 0.0 } - if i + 1 < n { x(i + 1) } else { 0.0 })
                .collect();
            lu.solve(&mut b);
            assert!((0..n).all(|i| (b[i] - x(i)).abs() < 1e-11));
        }
    }

    #[test]
    fn singular_matrices_are_refused() {
        let places = places(3);
        let mut lu = SparseLu::<f64>::new(3, &places).unwrap();
        assert!(lu.factor().is_err());
        // rows 0 and 1 equal
        for (value, place) in lu.values.iter_mut().zip(&places) {
            *value = if place.0 < 2 && place.1 < 2 || *place == (2, 2) { 1.0 } else { 0.0 };
        }
        assert!(lu.factor().is_err());
        lu.values[0] = 2.0;
        assert!(lu.factor().is_ok());
    }
}
