//! The linear problem of [`least_change`](super::least_change) for sparse matrices: δ with C δ = −F of least movement, in lexicographic order.
//!
//! The columns of the freest class are eliminated first; the rows that are left contain the other classes only, and so on. Back again, the rows with
//! pivots of a class are independent, and of their solutions the least one is taken, through [1 Kᵀ; K 0] ([`Augmented`]). That is what singular
//! vectors do for dense matrices, without them; cost and memory are those of two sparse decompositions for each class. Values of the freest class
//! move as they like: those without a pivot stay, and the others follow by substitution.

use super::least_change::{Change, Freedom};
use crate::linalg::rank::{Elimination, Scales, Scaling};
use crate::linalg::{Augmented, SparseMatrix};
use std::ops::Range;

/// Corrections of a least solution: the augmented system sees the squares of singular values.
const REFINEMENTS: usize = 2;

/// Rows of one class with its pivots, as they were before it was eliminated: entries, and right sides in the last column.
struct ClassRows {
    rows: Vec<Vec<(usize, f64)>>,
    pivots: Range<usize>,
    class: usize,
}

impl Freedom {
    /// δ from x where F has the slopes C; nothing if no decomposition is found.
    pub fn least_change_sparse(&self, C: &SparseMatrix, F: &[f64], x: &[f64]) -> Option<Change> {
        let (m, n) = (C.rows(), C.cols());
        let mut class_of: Vec<Option<usize>> = vec![None; n + 1];
        for (class, columns) in self.classes.iter().enumerate() {
            for &j in columns {
                class_of[j] = Some(class);
            }
        }
        let row = |i: usize| {
            let (columns, values) = C.row(i);
            let moving = columns.iter().zip(values).filter(|(j, _)| class_of[**j].is_some());
            moving.map(|(&j, &c)| (j, c)).chain([(n, -F[i])]).collect::<Vec<_>>()
        };
        let is_freest = |class: usize| class > 0 && class + 1 == self.classes.len();
        let mut elimination = Elimination::of_rows((0..m).map(row), n + 1, self.tau);
        let mut stages = Vec::new();
        for class in (0..self.classes.len()).rev().filter(|&class| !self.classes[class].is_empty()) {
            let first = elimination.rank();
            let open = |i: &usize| !elimination.has_pivot(*i) && !is_freest(class);
            let before: Vec<(usize, Vec<(usize, f64)>)> =
                (0..m).filter(open).map(|i| (i, elimination.row(i).collect())).collect();
            elimination.eliminate(|_| true, |j| class_of[j] == Some(class));
            let rows = before.into_iter().filter(|(i, _)| elimination.has_pivot(*i)).map(|(_, row)| row).collect();
            stages.push(ClassRows { rows, pivots: first..elimination.rank(), class });
        }
        let units = self.units.clone().unwrap_or_else(|| x.iter().map(|x| 1.0 + x.abs()).collect());
        let mut delta = vec![0.0; n + 1];
        delta[n] = -1.0;
        for ClassRows { rows, pivots, class } in stages.iter().rev() {
            if is_freest(*class) {
                elimination.substitute(pivots.clone(), &mut delta);
                continue;
            }
            let last = class + 1 == self.classes.len();
            let units = (!last).then_some(&units[..]);
            least(rows, &self.classes[*class], &|j| class_of[j] == Some(*class), units, &mut delta)?;
        }
        delta.truncate(n);
        Some(Change { delta, rank: elimination.rank() })
    }
}

/// The least solution of rows Σ c_j δ_j = 0 over the columns of a class, in these units or equilibrated; the others are given.
fn least(
    rows: &[Vec<(usize, f64)>],
    columns: &[usize],
    own: &dyn Fn(usize) -> bool,
    units: Option<&[f64]>,
    delta: &mut [f64],
) -> Option<()> {
    if rows.is_empty() {
        return Some(());
    }
    let mut place = vec![usize::MAX; delta.len()];
    columns.iter().enumerate().for_each(|(k, &j)| place[j] = k);
    let places = || rows.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |&(j, c)| (i, j, c)));
    let mut K = SparseMatrix::new(
        rows.len(),
        columns.len(),
        places().filter(|(_, j, _)| own(*j)).map(|(i, j, _)| (i, place[j])).collect(),
    );
    for (i, j, c) in places().filter(|(_, j, _)| own(*j)) {
        if let Some(k) = K.position((i, place[j])) {
            K.values_mut()[k] = c;
        }
    }
    let scales = Scales::of_sparse(&K, if units.is_some() { Scaling::Rows } else { Scaling::Both });
    let units: Vec<f64> = columns.iter().zip(&scales.columns).map(|(&j, c)| units.map_or(*c, |u| u[j])).collect();
    (0..rows.len()).for_each(|i| K.scale_row(i, scales.rows[i], &units));
    let mut augmented = Augmented::new(&K);
    augmented.factor(&K).ok()?;
    for _ in 0..=REFINEMENTS {
        let left: Vec<f64> = rows
            .iter()
            .zip(&scales.rows)
            .map(|(row, scale)| -scale * row.iter().map(|&(j, c)| c * delta[j]).sum::<f64>())
            .collect();
        let change = augmented.least_norm(|c| c.copy_from_slice(&left));
        columns.iter().zip(change).zip(&units).for_each(|((&j, y), unit)| delta[j] += unit * y);
    }
    delta.iter().all(|x| x.is_finite()).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    #[test]
    fn sparse_and_dense_changes_agree() {
        // five rows, one of them redundant; one unknown fixed, two classes
        let places = [(0, 0), (0, 1), (1, 1), (1, 2), (1, 4), (2, 0), (2, 3), (3, 5), (3, 2), (4, 1), (4, 2), (4, 4)];
        let values = [1.0, 2.0, -1.0, 0.5, 3.0, 1.5, 0.3, 2.0, 1.0, -2.0, 1.0, 6.0];
        let mut C = SparseMatrix::new(5, 6, places.to_vec());
        let mut dense = Mat::zeros(5, 6);
        for (&place, &value) in places.iter().zip(&values) {
            let k = C.position(place).unwrap();
            C.values_mut()[k] = value;
            dense[place] = value;
        }
        let F = [1.0, -2.0, 0.3, 0.7, -4.0];
        for equilibrated in [false, true] {
            let freedom = Freedom {
                fixed: vec![5],
                classes: vec![vec![0, 2], vec![1, 3, 4]],
                units: None,
                kept: None,
                tau: 1e-10,
                independent: false,
                equilibrated,
                damped: false,
            };
            let x = [0.5, 1.0, -2.0, 0.0, 3.0, 1.0];
            let (a, b) =
                (freedom.least_change(&dense, &F, &x).unwrap(), freedom.least_change_sparse(&C, &F, &x).unwrap());
            assert_eq!((a.rank, b.rank), (4, 4));
            // equations hold in both, and the class that is kept more moves alike
            for delta in [&a.delta, &b.delta] {
                let left = |i: usize| F[i] + (0..6).map(|j| dense[(i, j)] * delta[j]).sum::<f64>();
                assert!((0..5).all(|i| left(i).abs() < 1e-12) && delta[5] == 0.0, "{delta:?}");
            }
            assert!([0, 2].iter().all(|&j| (a.delta[j] - b.delta[j]).abs() < 1e-12), "{:?} {:?}", a.delta, b.delta);
        }
    }
}
