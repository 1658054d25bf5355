//! E = ∂G/∂ẋ and A = −∂G/∂x of a system G(t, x, ẋ) = 0, so that every method iterates with (γ/h) E − A.

use super::{Jacobian, Matrices, Matrix};
use std::collections::BTreeSet;

/// A matrix pencil (E, A).
#[derive(Clone, Debug)]
pub struct Pencil {
    /// ∂G/∂ẋ.
    pub E: Jacobian,
    /// −∂G/∂x.
    pub A: Jacobian,
}

impl Pencil {
    /// Is E the identity?
    pub fn leading_is_identity(&self) -> bool {
        let one = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
        (0..self.E.rows()).all(|i| self.E[(i, i)] == 1.0 && self.E.row(i).all(|(j, e)| e == one(i, j)))
    }

    /// Zeros, all entries kept.
    pub fn dense(rows: usize, cols: usize) -> Self {
        Pencil { E: Jacobian::dense(rows, cols), A: Jacobian::dense(rows, cols) }
    }

    /// Zeros at places of E and of A; both sparse if that is better for what methods iterate with.
    pub fn of_pattern(n: usize, E: &[(usize, usize)], A: &[(usize, usize)], matrices: Matrices) -> Self {
        let places: BTreeSet<_> = E.iter().chain(A).collect();
        let sparse = matrices.are_sparse(n, n, places.len());
        if sparse { Self::sparse(n, E.to_vec(), A.to_vec()) } else { Self::dense(n, n) }
    }

    /// Zeros at places of E and of A.
    pub fn sparse(n: usize, E: Vec<(usize, usize)>, A: Vec<(usize, usize)>) -> Self {
        Pencil { E: Jacobian::sparse(n, n, E), A: Jacobian::sparse(n, n, A) }
    }

    /// Is only a pattern kept, of both?
    pub fn is_sparse(&self) -> bool {
        self.E.is_sparse() && self.A.is_sparse()
    }

    /// All entries are zero.
    pub fn clear(&mut self) {
        self.E.clear();
        self.A.clear();
    }

    /// Both with all entries, to be written.
    pub fn dense_mut(&mut self) -> [&mut Matrix; 2] {
        [self.E.dense_mut(), self.A.dense_mut()]
    }

    /// (row, column, entry of E, entry of A) for every place that either keeps, row by row.
    pub fn each(&self, mut each: impl FnMut(usize, usize, f64, f64)) {
        for i in 0..self.E.rows() {
            let (mut of_E, mut of_A) = (self.E.row(i).peekable(), self.A.row(i).peekable());
            while let Some(j) = of_E.peek().into_iter().chain(of_A.peek()).map(|entry| entry.0).min() {
                let e = of_E.next_if(|entry| entry.0 == j).map_or(0.0, |entry| entry.1);
                let a = of_A.next_if(|entry| entry.0 == j).map_or(0.0, |entry| entry.1);
                each(i, j, e, a);
            }
        }
    }
}
