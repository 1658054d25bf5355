//! Matrices of derivatives, dense or sparse: whoever makes one chooses the kind, whoever reads one need not know it.
//!
//! A pattern is fixed when a matrix is made. Who decomposes densely copies all entries, at the place where it does
//! ([`Jacobian::copy_to`], [`Jacobian::dense_mut`]).

use super::{Matrix, SparseMatrix};
use std::borrow::Borrow;
use std::ops::Index;

/// Matrices with this many columns and more are sparse if few of their entries may differ from zero. Sparse LU decompositions of
/// smaller ones cost as much as dense ones, and so do those of more entries, which fill in.
const SPARSE_FROM: usize = 60;
const SPARSE_SHARE: f64 = 0.15;
/// Derivative arrays of so many unknowns and more are eliminated as sparse matrices; singular values decide about smaller ones, which tell the ranks of
/// nearly dependent equations better.
const ARRAYS_FROM: usize = 150;

/// Which matrices with a known pattern are sparse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Matrices {
    /// Large ones with few entries.
    #[default]
    Auto,
    /// None.
    Dense,
    /// All.
    Sparse,
}

impl Matrices {
    /// Is a matrix of this size with so many entries a sparse one?
    pub fn are_sparse(self, rows: usize, cols: usize, entries: usize) -> bool {
        match self {
            Matrices::Auto => cols >= SPARSE_FROM && entries as f64 <= SPARSE_SHARE * (rows * cols) as f64,
            Matrices::Dense => false,
            Matrices::Sparse => true,
        }
    }

    /// Are derivative arrays of n unknowns, whose equations have so many entries, sparse ones?
    pub fn arrays_are_sparse(self, n: usize, entries: usize) -> bool {
        match self {
            Matrices::Auto => n >= ARRAYS_FROM && self.are_sparse(n, n, entries),
            forced => forced.are_sparse(n, n, entries),
        }
    }

    /// Are M and K of `[M Kᵀ; K 0]` sparse ones, where M has n columns, K has m rows, and all of it so many entries?
    pub fn saddle_is_sparse(self, n: usize, m: usize, entries: usize) -> bool {
        match self {
            Matrices::Auto => n >= SPARSE_FROM && self.are_sparse(n + m, n + m, entries),
            forced => forced.are_sparse(n + m, n + m, entries),
        }
    }
}

/// A matrix of derivatives; its own, or [borrowed](JacobianRef).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Jacobian<D = Matrix, S = SparseMatrix> {
    /// All entries.
    Dense(D),
    /// The entries of a pattern.
    Sparse(S),
}

/// A matrix of derivatives to be read.
pub type JacobianRef<'a> = Jacobian<&'a Matrix, &'a SparseMatrix>;

impl<D: Borrow<Matrix>, S: Borrow<SparseMatrix>> Jacobian<D, S> {
    /// To be read.
    #[inline]
    pub fn view(&self) -> JacobianRef<'_> {
        match self {
            Jacobian::Dense(F) => Jacobian::Dense(F.borrow()),
            Jacobian::Sparse(F) => Jacobian::Sparse(F.borrow()),
        }
    }

    /// Are only the entries of a pattern kept?
    pub fn is_sparse(&self) -> bool {
        matches!(self, Jacobian::Sparse(_))
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        match self.view() {
            Jacobian::Dense(F) => F.rows(),
            Jacobian::Sparse(F) => F.rows(),
        }
    }

    /// Number of columns.
    #[inline]
    pub fn cols(&self) -> usize {
        match self.view() {
            Jacobian::Dense(F) => F.cols(),
            Jacobian::Sparse(F) => F.cols(),
        }
    }

    /// All values that are kept, row by row.
    #[inline]
    pub fn values(&self) -> &[f64] {
        match self.view() {
            Jacobian::Dense(F) => F.data(),
            Jacobian::Sparse(F) => F.values(),
        }
    }

    /// Column and value of the entries of row i that are kept, columns ascending.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (columns, values) = match self.view() {
            Jacobian::Dense(F) => (None, F.row(i)),
            Jacobian::Sparse(F) => (Some(F.row(i).0), F.row(i).1),
        };
        values.iter().enumerate().map(move |(k, &value)| (columns.map_or(k, |columns| columns[k]), value))
    }

    /// Row i times x.
    #[inline]
    pub fn row_times(&self, i: usize, x: &[f64]) -> f64 {
        match self.view() {
            Jacobian::Dense(F) => F.row(i).iter().zip(x).map(|(f, x)| f * x).sum(),
            Jacobian::Sparse(F) => F.row_times(i, x),
        }
    }

    /// y ← y − F x.
    #[inline]
    pub fn subtract_times(&self, x: &[f64], y: &mut [f64]) {
        let F = self.view();
        y.iter_mut().enumerate().for_each(|(i, y)| *y -= F.row_times(i, x));
    }

    /// y ← y + Fᵀ x.
    pub fn add_transposed_times(&self, x: &[f64], y: &mut [f64]) {
        for (i, x) in x.iter().enumerate() {
            self.row(i).for_each(|(j, f)| y[j] += f * x);
        }
    }

    /// Row i with all entries, in `room` unless it is at hand.
    pub fn dense_row<'a>(&'a self, i: usize, room: &'a mut [f64]) -> &'a [f64] {
        match self.view() {
            Jacobian::Dense(F) => F.row(i),
            Jacobian::Sparse(F) => {
                let (columns, values) = F.row(i);
                room.fill(0.0);
                columns.iter().zip(values).for_each(|(&j, &f)| room[j] = f);
                room
            }
        }
    }

    /// Copy all entries to the rows of a matrix of as many columns, from `first` on.
    #[inline]
    pub fn copy_to(&self, out: &mut Matrix, first: usize) {
        match self.view() {
            Jacobian::Dense(F) => out.data_mut()[first * F.cols()..][..F.data().len()].copy_from_slice(F.data()),
            Jacobian::Sparse(F) => F.copy_to(out, first),
        }
    }
}

impl Jacobian {
    /// Zeros, all entries kept.
    pub fn dense(rows: usize, cols: usize) -> Self {
        Jacobian::Dense(Matrix::zeros(rows, cols))
    }

    /// Zeros at these places, in any order.
    pub fn sparse(rows: usize, cols: usize, places: Vec<(usize, usize)>) -> Self {
        Jacobian::Sparse(SparseMatrix::new(rows, cols, places))
    }

    /// One above the other: sparse if both are.
    pub fn stacked<D: Borrow<Matrix>, S: Borrow<SparseMatrix>>(upper: &Jacobian<D, S>, lower: &Jacobian<D, S>) -> Self {
        match (upper.view(), lower.view()) {
            (Jacobian::Sparse(upper), Jacobian::Sparse(lower)) => Jacobian::Sparse(upper.above(lower)),
            (upper, lower) => {
                let mut all = Matrix::zeros(upper.rows() + lower.rows(), upper.cols());
                upper.copy_to(&mut all, 0);
                lower.copy_to(&mut all, upper.rows());
                Jacobian::Dense(all)
            }
        }
    }

    /// Take the values of a matrix of the same kind and pattern.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        match (self, other) {
            (Jacobian::Dense(F), Jacobian::Dense(G)) => F.data_mut().copy_from_slice(G.data()),
            (Jacobian::Sparse(F), Jacobian::Sparse(G)) => F.values_mut().copy_from_slice(G.values()),
            _ => unreachable!("the matrices are of two kinds"),
        }
    }

    /// Is it of the same kind and pattern?
    pub fn has_pattern_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Jacobian::Dense(F), Jacobian::Dense(G)) => (F.rows(), F.cols()) == (G.rows(), G.cols()),
            (Jacobian::Sparse(F), Jacobian::Sparse(G)) => F.has_pattern_of(G),
            _ => false,
        }
    }

    /// Take the rows of a matrix from `first` on; those of a sparse matrix have its pattern there.
    #[inline]
    pub fn take_rows<D: Borrow<Matrix>, S: Borrow<SparseMatrix>>(&mut self, other: &Jacobian<D, S>, first: usize) {
        match (self, other.view()) {
            (Jacobian::Dense(F), other) => other.copy_to(F, first),
            (Jacobian::Sparse(F), Jacobian::Sparse(G)) => F.take_rows(G, first),
            (sparse, Jacobian::Dense(G)) => {
                for i in 0..G.rows() {
                    G.row(i).iter().enumerate().for_each(|(j, &g)| sparse.put((first + i, j), g));
                }
            }
        }
    }

    /// All entries are zero.
    pub fn clear(&mut self) {
        match self {
            Jacobian::Dense(F) => F.fill(0.0),
            Jacobian::Sparse(F) => F.values_mut().fill(0.0),
        }
    }

    /// All entries of row i are zero.
    pub fn clear_row(&mut self, i: usize) {
        match self {
            Jacobian::Dense(F) => F.row_mut(i).fill(0.0),
            Jacobian::Sparse(F) => F.row_mut(i).fill(0.0),
        }
    }

    /// Entry (i, j) ← rowᵢ × entry × columnⱼ.
    pub fn scale(&mut self, rows: &[f64], columns: &[f64]) {
        for (i, row) in rows.iter().enumerate() {
            match self {
                Jacobian::Dense(F) => F.row_mut(i).iter_mut().zip(columns).for_each(|(f, column)| *f *= row * column),
                Jacobian::Sparse(F) => F.scale_row(i, *row, columns),
            }
        }
    }

    /// Write an entry; zeros may be written everywhere.
    #[inline]
    pub fn put(&mut self, place: (usize, usize), value: f64) {
        match self {
            Jacobian::Dense(F) => F[place] = value,
            Jacobian::Sparse(F) => match F.position(place) {
                Some(k) => F.values_mut()[k] = value,
                None => assert!(value == 0.0, "{place:?} is no place of the pattern"),
            },
        }
    }

    /// Write columns: `value(row, k)` into the k-th of them.
    pub fn put_columns(&mut self, columns: &[usize], value: impl Fn(usize, usize) -> f64) {
        for i in 0..self.rows() {
            match self {
                Jacobian::Dense(F) => columns.iter().enumerate().for_each(|(k, &j)| F[(i, j)] = value(i, k)),
                Jacobian::Sparse(_) => columns.iter().enumerate().for_each(|(k, &j)| self.put((i, j), value(i, k))),
            }
        }
    }

    /// Row i ← row i + factor × row k of another one, which may have fewer columns.
    pub fn add_row<D: Borrow<Matrix>, S: Borrow<SparseMatrix>>(
        &mut self,
        i: usize,
        factor: f64,
        other: &Jacobian<D, S>,
        k: usize,
    ) {
        match (self, other.view()) {
            (Jacobian::Dense(F), Jacobian::Dense(G)) => {
                F.row_mut(i).iter_mut().zip(G.row(k)).for_each(|(f, g)| *f += factor * g);
            }
            (Jacobian::Dense(F), sparse) => sparse.row(k).for_each(|(j, g)| F[(i, j)] += factor * g),
            (Jacobian::Sparse(F), other) => F.add_to_row(i, factor, other.row(k)),
        }
    }

    /// The matrix with all entries, to be written; a sparse one becomes dense.
    pub fn dense_mut(&mut self) -> &mut Matrix {
        if let Jacobian::Sparse(F) = self {
            *self = Jacobian::Dense(F.to_dense());
        }
        match self {
            Jacobian::Dense(F) => F,
            Jacobian::Sparse(_) => unreachable!("it was made dense"),
        }
    }

    /// The matrix with all entries.
    pub fn into_dense(self) -> Matrix {
        match self {
            Jacobian::Dense(F) => F,
            Jacobian::Sparse(F) => F.to_dense(),
        }
    }
}

impl<'a> From<&'a Jacobian> for JacobianRef<'a> {
    #[inline]
    fn from(F: &'a Jacobian) -> Self {
        F.view()
    }
}

impl<'a> From<&'a Matrix> for JacobianRef<'a> {
    #[inline]
    fn from(F: &'a Matrix) -> Self {
        Jacobian::Dense(F)
    }
}

impl<D: Borrow<Matrix>, S: Borrow<SparseMatrix>> Index<(usize, usize)> for Jacobian<D, S> {
    type Output = f64;
    #[inline]
    fn index(&self, place: (usize, usize)) -> &f64 {
        match self.view() {
            Jacobian::Dense(F) => &F[place],
            Jacobian::Sparse(F) => F.position(place).map_or(&0.0, |k| &F.values()[k]),
        }
    }
}

/// Where values that come in some order stand in a matrix.
#[derive(Clone, Debug)]
pub struct Entries {
    places: Vec<(usize, usize)>,
    /// among the values of a sparse matrix of one pattern
    positions: Option<Vec<usize>>,
}

impl Entries {
    /// Values at these places of a matrix with this pattern.
    pub fn new(places: Vec<(usize, usize)>, of: &Jacobian) -> Self {
        let positions = match of {
            Jacobian::Dense(_) => None,
            Jacobian::Sparse(F) => places.iter().map(|&place| F.position(place)).collect(),
        };
        Entries { places, positions }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The places, in the order of the values.
    pub fn places(&self) -> &[(usize, usize)] {
        &self.places
    }

    /// Write the first of the values, with a factor, into a matrix; the others are returned. A sparse matrix is of the pattern, if
    /// that was sparse.
    #[inline]
    pub fn write<'v>(&self, factor: f64, values: &'v [f64], F: &mut Jacobian) -> &'v [f64] {
        let (own, rest) = values.split_at(self.places.len());
        match F {
            Jacobian::Dense(F) => self.places.iter().zip(own).for_each(|(&place, value)| F[place] = factor * value),
            Jacobian::Sparse(_) => self.write_sparse(factor, own, F),
        }
        rest
    }

    // apart, so that the loop above is one of the caller
    fn write_sparse(&self, factor: f64, own: &[f64], F: &mut Jacobian) {
        match (F, &self.positions) {
            (Jacobian::Sparse(F), Some(positions)) => {
                debug_assert!(self.places.iter().zip(positions).all(|(&place, &k)| F.position(place) == Some(k)));
                let all = F.values_mut();
                positions.iter().zip(own).for_each(|(&k, value)| all[k] = factor * value);
            }
            (F, _) => self.places.iter().zip(own).for_each(|(&place, value)| F.put(place, factor * value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same matrix dense and sparse.
    fn both() -> [Jacobian; 2] {
        let places = vec![(2, 0), (0, 1), (1, 3), (0, 0), (2, 3)];
        [Jacobian::dense(3, 4), Jacobian::sparse(3, 4, places.clone())].map(|mut F| {
            let entries = Entries::new(places.clone(), &F);
            assert_eq!(entries.write(2.0, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut F), [6.0]);
            F
        })
    }

    #[test]
    fn dense_and_sparse_matrices_are_read_alike() {
        let [dense, sparse] = both();
        assert!(!dense.is_sparse() && sparse.is_sparse());
        let x = [1.0, -2.0, 0.5, 3.0];
        let mut copy = Matrix::zeros(4, 4);
        sparse.copy_to(&mut copy, 1);
        let (mut y, mut z) = ([[1.0; 3]; 2], [[1.0; 4]; 2]);
        for (k, F) in [&dense, &sparse].into_iter().enumerate() {
            F.subtract_times(&x, &mut y[k]);
            F.add_transposed_times(&x[..3], &mut z[k]);
            for i in 0..3 {
                assert_eq!(F.row_times(i, &x), dense.row_times(i, &x));
                assert_eq!(F.dense_row(i, &mut [9.0; 4]), copy.row(1 + i));
                assert!((0..4).all(|j| F[(i, j)] == dense[(i, j)]));
            }
        }
        assert_eq!((y[0], z[0]), (y[1], z[1]));
        assert_eq!(sparse.row(2).collect::<Vec<_>>(), [(0, 2.0), (3, 10.0)]);
        assert_eq!(sparse.clone().into_dense(), dense.into_dense());
    }

    #[test]
    fn rows_are_added_whatever_the_kinds_are() {
        let [dense, sparse] = both();
        let mut sums = Vec::new();
        for target in [Jacobian::dense(1, 5), Jacobian::sparse(1, 5, vec![(0, 0), (0, 1), (0, 3)])] {
            for source in [&dense, &sparse] {
                let mut sum = target.clone();
                sum.add_row(0, 1.0, source, 0);
                sum.add_row(0, -0.5, source, 2);
                sums.push(sum.into_dense());
            }
        }
        assert!(sums.iter().all(|sum| sum.data() == [7.0, 4.0, 0.0, -5.0, 0.0]), "{sums:?}");
        // rows of one matrix, in both directions
        let mut own = SparseMatrix::new(2, 3, vec![(0, 0), (0, 2), (1, 0), (1, 1), (1, 2)]);
        own.values_mut().copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        own.add_own_row(1, 10.0, 0);
        assert_eq!(own.values(), [1.0, 2.0, 13.0, 4.0, 25.0]);
        let mut own = SparseMatrix::new(2, 3, vec![(0, 0), (0, 1), (0, 2), (1, 0), (1, 2)]);
        own.values_mut().copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        own.add_own_row(0, 10.0, 1);
        assert_eq!(own.values(), [41.0, 2.0, 53.0, 4.0, 5.0]);
    }

    #[test]
    fn what_is_written_densely_is_dense() {
        let [dense, mut sparse] = both();
        sparse.put((1, 1), 0.0);
        sparse.put_columns(&[3, 1], |i, k| if k == 0 && i > 0 { 1.0 } else { dense[(i, [3, 1][k])] });
        assert_eq!(sparse.values(), [8.0, 4.0, 1.0, 2.0, 1.0]);
        sparse.dense_mut()[(1, 1)] = 7.0;
        assert!(!sparse.is_sparse() && sparse[(1, 1)] == 7.0 && sparse[(0, 0)] == 8.0);
    }

    #[test]
    fn matrices_are_stacked_and_taken_row_by_row_whatever_the_kinds_are() {
        let [dense, sparse] = both();
        for [upper, lower] in [[&dense, &sparse], [&sparse, &sparse], [&dense, &dense]] {
            let mut all = Jacobian::stacked(upper, lower);
            assert_eq!(all.is_sparse(), upper.is_sparse() && lower.is_sparse());
            assert!((0..6).all(|i| (0..4).all(|j| all[(i, j)] == dense[(i % 3, j)])));
            let again = all.clone();
            all.clear();
            all.take_rows(&dense, 0);
            all.take_rows(&sparse, 3);
            assert_eq!(all, again);
            all.clear();
            all.copy_from(&again);
            assert_eq!(all, again);
        }
    }

    #[test]
    fn large_matrices_with_few_entries_are_sparse() {
        let auto = Matrices::Auto;
        assert!(!auto.are_sparse(SPARSE_FROM - 1, SPARSE_FROM - 1, SPARSE_FROM - 1));
        assert!(auto.are_sparse(SPARSE_FROM, SPARSE_FROM, SPARSE_FROM) && !auto.are_sparse(100, 100, 10_000));
        // a chain of point masses: two entries of M and eight of K and Kᵀ to a link
        assert!(auto.saddle_is_sparse(60, 30, 300) && !auto.saddle_is_sparse(40, 20, 200));
        assert!(Matrices::Sparse.are_sparse(2, 2, 4) && Matrices::Sparse.saddle_is_sparse(2, 1, 6));
        assert!(!Matrices::Dense.are_sparse(100, 100, 100) && !Matrices::Dense.saddle_is_sparse(600, 300, 3_000));
    }
}
