//! (E₁; −A₂), the iteration matrix for steps of length zero, which is regular for systems of index at most one whose rows show all
//! constraints.

use crate::dae::Pencil;
use crate::linalg::rank::REGULAR;
use crate::linalg::{IterationMatrix, RankRule};

/// (E₁; −A₂), decomposed.
pub(crate) struct LeadingMatrix(IterationMatrix<f64>);

impl LeadingMatrix {
    /// Nothing if it is singular to working accuracy: its rows and columns scaled, a solution for a right side of size one is very large.
    pub fn new(pencil: &Pencil, algebraic: Vec<bool>, ranks: RankRule) -> Option<Self> {
        let n = algebraic.len();
        let matrix = |i: usize| if algebraic[i] { &pencil.A } else { &pencil.E };
        let entries: Vec<_> = (0..n).flat_map(|i| matrix(i).row(i).map(move |(j, m)| (i, j, m.abs()))).collect();
        let (mut row, mut column) = (vec![0.0_f64; n], vec![0.0_f64; n]);
        for &(i, _, m) in &entries {
            row[i] = row[i].max(m);
        }
        entries.iter().filter(|(i, ..)| row[*i] > 0.0).for_each(|&(i, j, m)| column[j] = column[j].max(m / row[i]));
        let mut matrix = IterationMatrix::new(pencil, algebraic);
        matrix.decompose(pencil, 1.0, 0.0).ok()?;
        // no special direction
        let mut probe: Vec<f64> = row.iter().enumerate().map(|(i, size)| size * (1.0 + 7.3 * i as f64).sin()).collect();
        matrix.solve(&mut probe);
        let regular = probe.iter().zip(&column).all(|(x, size)| (x * size).abs() * ranks.or(REGULAR) < 1.0);
        regular.then_some(LeadingMatrix(matrix))
    }

    /// b ← (E₁; −A₂)⁻¹ b.
    pub fn solve(&mut self, b: &mut [f64]) {
        self.0.solve(b);
    }
}
