//! Ranks of sparse matrices by elimination, one set of columns after the other.
//!
//! ```text
//! (A₁ A₂ …)  →  pivots in A₁ and their rows;  the other rows, free of A₁, go on with A₂; …
//! ```
//! The rows that are left after the columns of A₁ are ZᵀA₂ with ZᵀA₁ = 0, without Z. A pivot stands in the column with the fewest entries, in the
//! shortest row whose entry is at least a tenth of the largest one there: Markowitz with threshold pivoting; Duff, Erisman and Reid, Direct Methods for
//! Sparse Matrices, chapter 7. Rows and columns are equilibrated by the sizes that entries are summed from, at the begin of each set of columns, and
//! entries below τ of that size do not count. Large pivots come first, small ones only where nothing else is left, so that what is dropped is a
//! rest that is small in all of its entries, as the small singular values of a dense decomposition are.

use super::equilibrate::balance;
use super::scale_of;
use crate::linalg::{SparseLu, SparseMatrix};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// A pivot is at least this part of the largest entry of its column.
const OF_COLUMN: f64 = 0.1;
/// Pivots are taken in the order of these sizes, entries being about one; at last all that count.
const CLEAR: [f64; 2] = [1e-2, 1e-5];
/// What is left of sums that cancel.
const ROUNDING: f64 = 1e-14;
/// Sweeps of the equilibration. Each halves the logarithms of imbalances.
const SWEEPS: usize = 8;

/// An entry of a row, and the largest of the terms that it was summed from.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SummedEntry {
    column: usize,
    value: f64,
    size: f64,
}

/// A matrix on its way.
#[derive(Clone, Debug)]
pub struct Elimination {
    /// entries by rising column
    rows: Vec<Vec<SummedEntry>>,
    /// rows that held a column at some time, and how many rows without a pivot hold it now
    holders: Vec<Vec<usize>>,
    count: Vec<usize>,
    /// scales of rows and columns
    scales: [Vec<f64>; 2],
    /// are the scales found anew for each set of columns?
    equilibrates: bool,
    /// row and column of every pivot, in their order
    pivots: Vec<(usize, usize)>,
    has_pivot: Vec<bool>,
    taken: Vec<bool>,
    tau: f64,
    /// smallest pivot, and largest entry that did not count
    kept: f64,
    dropped: f64,
    merged: Vec<SummedEntry>,
}

impl Elimination {
    /// Of a matrix whose entries count from τ on.
    pub fn new(A: &SparseMatrix, tau: f64) -> Self {
        let row = |i: usize| {
            let (columns, values) = A.row(i);
            columns.iter().zip(values).map(|(&j, &value)| (j, value)).collect::<Vec<_>>()
        };
        Self::of_rows((0..A.rows()).map(row), A.cols(), tau)
    }

    /// The same from rows of (column, value), columns in any order and each once.
    pub fn of_rows(rows: impl IntoIterator<Item = Vec<(usize, f64)>>, cols: usize, tau: f64) -> Self {
        let entry = |&(column, value): &(usize, f64)| SummedEntry { column, value, size: value.abs() };
        let rows: Vec<Vec<SummedEntry>> = rows
            .into_iter()
            .map(|mut row| {
                row.sort_unstable_by_key(|entry| entry.0);
                row.iter().filter(|entry| entry.1 != 0.0).map(entry).collect()
            })
            .collect();
        let mut holders = vec![Vec::new(); cols];
        for (i, row) in rows.iter().enumerate() {
            for entry in row {
                holders[entry.column].push(i);
            }
        }
        let m = rows.len();
        Elimination {
            count: holders.iter().map(Vec::len).collect(),
            scales: [vec![1.0; m], vec![1.0; cols]],
            equilibrates: true,
            pivots: Vec::new(),
            has_pivot: vec![false; m],
            taken: vec![false; cols],
            tau,
            kept: f64::INFINITY,
            dropped: 0.0,
            merged: Vec::new(),
            rows,
            holders,
        }
    }

    /// The same of rows and columns that are scaled already.
    #[must_use]
    pub fn without_equilibration(self) -> Self {
        Elimination { equilibrates: false, ..self }
    }

    /// Row and column of all pivots so far, in their order.
    pub fn pivots(&self) -> &[(usize, usize)] {
        &self.pivots
    }

    /// How many there are.
    pub fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// Is a row one with a pivot?
    pub fn has_pivot(&self, row: usize) -> bool {
        self.has_pivot[row]
    }

    /// Is a column one with a pivot?
    pub fn is_taken(&self, column: usize) -> bool {
        self.taken[column]
    }

    /// Columns and values of a row as it is now; one with a pivot is as it was then.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.rows[row].iter().map(|entry| (entry.column, entry.value))
    }

    /// The smallest pivot, entries being about one.
    pub fn smallest(&self) -> f64 {
        self.kept
    }

    /// Vectors z with zᵀA = 0, one for each row without a pivot, as (row, factor), its own factor being one; A has the rows that were eliminated, all
    /// of whose columns were asked for. Nothing where the pivots make no regular matrix.
    pub fn left_null_vectors(&self, A: &[Vec<(usize, f64)>]) -> Option<Vec<Vec<(usize, f64)>>> {
        let dependent: Vec<usize> = (0..A.len()).filter(|&i| !self.has_pivot[i]).collect();
        if dependent.is_empty() {
            return Some(Vec::new());
        }
        // A_pqᵀ z_p = −A_iqᵀ with the rows p and the columns q of the pivots
        let r = self.pivots.len();
        let mut place = vec![usize::MAX; self.taken.len()];
        self.pivots.iter().enumerate().for_each(|(k, &(_, j))| place[j] = k);
        let own = |i: usize| A[i].iter().map(|&(j, a)| (place[j], a)).filter(|(k, _)| *k != usize::MAX);
        let entries: Vec<(usize, usize, f64)> =
            self.pivots.iter().enumerate().flat_map(|(p, &(i, _))| own(i).map(move |(q, a)| (q, p, a))).collect();
        let places: Vec<(usize, usize)> = entries.iter().map(|&(q, p, _)| (q, p)).collect();
        let (lu, positions) = SparseLu::of_places(r, &places);
        let mut lu = lu?;
        positions.iter().zip(&entries).for_each(|(&k, entry)| lu.values[k] = entry.2);
        lu.factor().ok()?;
        let mut z = vec![0.0; r];
        let mut vector = |i: usize| {
            z.fill(0.0);
            own(i).for_each(|(q, a)| z[q] = -a);
            lu.solve(&mut z);
            let top = z.iter().fold(1.0_f64, |top, z| top.max(z.abs()));
            let others = self.pivots.iter().zip(&z).filter(|(_, z)| z.abs() > ROUNDING * top);
            [(i, 1.0)].into_iter().chain(others.map(|(&(p, _), &z)| (p, z))).collect::<Vec<_>>()
        };
        Some(dependent.into_iter().map(&mut vector).collect())
    }

    /// Smallest pivot, and largest entry that did not count, entries being about one.
    pub fn sizes(&self) -> [f64; 2] {
        [self.kept, self.dropped]
    }

    /// Smallest pivot over the largest entry that did not count, since the last time that was asked for; infinite where one of them is missing.
    pub fn take_gap(&mut self) -> f64 {
        let gap = if self.dropped > 0.0 && self.kept.is_finite() { self.kept / self.dropped } else { f64::INFINITY };
        (self.kept, self.dropped) = (f64::INFINITY, 0.0);
        gap
    }

    /// Take pivots in these columns from these rows. Entries that do not count, in rows that could have had a pivot, are zero from now on.
    pub fn eliminate(&mut self, rows: impl Fn(usize) -> bool, columns: impl Fn(usize) -> bool) {
        let (usable, wanted) = self.take_pivots(self.tau, rows, columns);
        for i in (0..self.rows.len()).filter(|&i| usable[i] && !self.has_pivot[i]) {
            let (rest, count, [r, c], dropped) = (&mut self.rows[i], &mut self.count, &self.scales, &mut self.dropped);
            rest.retain(|entry| {
                let zero = wanted[entry.column];
                if zero {
                    count[entry.column] -= 1;
                    *dropped = dropped.max(counted(entry, r[i] * c[entry.column]));
                }
                !zero
            });
        }
    }

    /// The same where entries below a threshold stay. Which rows and columns were looked at.
    pub fn take_pivots(
        &mut self,
        threshold: f64,
        rows: impl Fn(usize) -> bool,
        columns: impl Fn(usize) -> bool,
    ) -> (Vec<bool>, Vec<bool>) {
        let usable: Vec<bool> = (0..self.rows.len()).map(|i| !self.has_pivot[i] && rows(i)).collect();
        let wanted: Vec<bool> = (0..self.taken.len()).map(|j| !self.taken[j] && columns(j)).collect();
        if self.equilibrates {
            self.equilibrate(&usable, &wanted);
        }
        for least in [CLEAR[0], CLEAR[1], threshold] {
            let least = least.max(threshold);
            let all = (0..wanted.len()).filter(|&j| wanted[j] && !self.taken[j] && self.count[j] > 0);
            let mut open: BinaryHeap<Reverse<(usize, usize)>> = all.map(|j| Reverse((self.count[j], j))).collect();
            while let Some(Reverse((count, j))) = open.pop() {
                if self.taken[j] || self.count[j] == 0 {
                    continue;
                }
                if self.count[j] > count {
                    open.push(Reverse((self.count[j], j)));
                    continue;
                }
                if let Some(row) = self.pivot_row(j, &usable, least) {
                    self.take(row, j, |column, count| {
                        if wanted[column] {
                            open.push(Reverse((count, column)));
                        }
                    });
                }
            }
        }
        (usable, wanted)
    }

    /// The shortest usable row with a good entry in a column.
    fn pivot_row(&mut self, j: usize, usable: &[bool], least: f64) -> Option<usize> {
        let Elimination { rows, holders, has_pivot, scales: [r, c], .. } = self;
        holders[j].retain(|&i| !has_pivot[i] && find(&rows[i], j).is_some());
        let (mut largest, mut best): (f64, Option<(usize, usize)>) = (0.0, None);
        let entries = |i: usize| find(&rows[i], j).map(|k| rows[i][k]);
        for &i in holders[j].iter().filter(|&&i| usable[i]) {
            let size = entries(i).map_or(0.0, |entry| entry.value.abs() * r[i] * c[j]);
            largest = largest.max(size);
        }
        for &i in holders[j].iter().filter(|&&i| usable[i]) {
            let Some(entry) = entries(i) else { continue };
            let scale = r[i] * c[j];
            let good = entry.value.abs() * scale >= OF_COLUMN * largest && counted(&entry, scale) > least;
            if good && best.is_none_or(|(length, _)| rows[i].len() < length) {
                best = Some((rows[i].len(), i));
            }
        }
        best.map(|(_, i)| i)
    }

    /// Make an entry a pivot, and tell columns that are in fewer rows than before.
    fn take(&mut self, row: usize, j: usize, mut fewer: impl FnMut(usize, usize)) {
        self.pivots.push((row, j));
        (self.has_pivot[row], self.taken[j]) = (true, true);
        let pivot_row = std::mem::take(&mut self.rows[row]);
        let Some(place) = find(&pivot_row, j) else { return };
        let pivot = pivot_row[place];
        self.kept = self.kept.min(counted(&pivot, self.scales[0][row] * self.scales[1][j]));
        for entry in &pivot_row {
            self.count[entry.column] -= 1;
        }
        let others = std::mem::take(&mut self.holders[j]);
        for &i in others.iter().filter(|&&i| i != row) {
            if self.has_pivot[i] {
                continue;
            }
            if let Some(k) = find(&self.rows[i], j) {
                let factor = self.rows[i][k].value / pivot.value;
                self.subtract(i, factor, &pivot_row, j);
            }
        }
        self.count[j] = 0;
        pivot_row.iter().filter(|entry| entry.column != j).for_each(|e| fewer(e.column, self.count[e.column]));
        self.rows[row] = pivot_row;
    }

    /// Row i ← row i − factor × pivot row, without the pivot's column.
    fn subtract(&mut self, i: usize, factor: f64, pivot_row: &[SummedEntry], j: usize) {
        let Elimination { rows, merged, count, holders, .. } = self;
        merged.clear();
        let (mut own, mut other) = (rows[i].iter().peekable(), pivot_row.iter().peekable());
        loop {
            let column = match (own.peek(), other.peek()) {
                (Some(a), Some(b)) => a.column.min(b.column),
                (Some(a), None) => a.column,
                (None, Some(b)) => b.column,
                (None, None) => break,
            };
            let (a, b) = (own.next_if(|e| e.column == column), other.next_if(|e| e.column == column));
            if column == j {
                continue;
            }
            let (value, size) = a.map_or((0.0, 0.0), |a| (a.value, a.size));
            let (subtracted, terms) = b.map_or((0.0, 0.0), |b| (factor * b.value, factor.abs() * b.size));
            let entry = SummedEntry { column, value: value - subtracted, size: size.max(terms) };
            let stays = entry.value.abs() > ROUNDING * entry.size;
            if stays {
                merged.push(entry);
            }
            match (a.is_some(), stays) {
                (true, false) => count[column] -= 1,
                (false, true) => {
                    count[column] += 1;
                    holders[column].push(i);
                }
                _ => {}
            }
        }
        rows[i].clear();
        rows[i].extend_from_slice(merged);
    }

    /// Scales of these rows and columns by the sizes that entries are summed from; powers of two.
    fn equilibrate(&mut self, usable: &[bool], wanted: &[bool]) {
        let Elimination { rows, scales: [r, c], .. } = self;
        let active: Vec<usize> = (0..rows.len()).filter(|&i| usable[i]).collect();
        for &i in &active {
            r[i] = 1.0;
        }
        let (mut row, mut column) = (vec![0.0_f64; rows.len()], vec![0.0_f64; c.len()]);
        for _ in 0..SWEEPS {
            column.fill(0.0);
            let mut top = 0.0_f64;
            for &i in &active {
                row[i] = 0.0;
                for entry in rows[i].iter().filter(|entry| wanted[entry.column]) {
                    let size = r[i] * entry.size * c[entry.column];
                    row[i] = row[i].max(size);
                    column[entry.column] = column[entry.column].max(size);
                }
                top = top.max(row[i]);
            }
            for &i in &active {
                r[i] *= balance(row[i], top).sqrt();
            }
            c.iter_mut().zip(&column).for_each(|(c, &size)| *c *= balance(size, top).sqrt());
        }
        for &i in &active {
            r[i] = scale_of(1.0 / r[i]);
        }
        for c in c.iter_mut() {
            *c = scale_of(1.0 / *c);
        }
    }

    /// Values of the columns with pivots, so that the rows with pivots vanish; those of the other columns are given. A column of right sides has
    /// the value −1.
    pub fn solve(&self, x: &mut [f64]) {
        self.substitute(0..self.pivots.len(), x);
    }

    /// The same of some pivots, in their order; the values of columns with other pivots are given, too.
    pub fn substitute(&self, pivots: Range<usize>, x: &mut [f64]) {
        for &(row, j) in self.pivots[pivots].iter().rev() {
            let (mut sum, mut pivot) = (0.0, 1.0);
            for entry in &self.rows[row] {
                if entry.column == j {
                    pivot = entry.value;
                } else {
                    sum += entry.value * x[entry.column];
                }
            }
            x[j] = -sum / pivot;
        }
    }
}

/// Where a column stands in a row.
fn find(row: &[SummedEntry], column: usize) -> Option<usize> {
    row.binary_search_by_key(&column, |entry| entry.column).ok()
}

/// A scaled entry by what decides whether it counts: against one, or against larger terms that it was summed from.
fn counted(entry: &SummedEntry, scale: f64) -> f64 {
    entry.value.abs() * scale / (entry.size * scale).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(A: &[&[f64]]) -> impl Iterator<Item = Vec<(usize, f64)>> {
        A.iter().map(|row| row.iter().copied().enumerate().collect())
    }

    #[test]
    fn rank_and_gap_are_those_of_the_matrix() {
        let mut full = Elimination::of_rows(rows(&[&[1.0, 2.0], &[1e-8, -1e-8]]), 2, 1e-10);
        full.eliminate(|_| true, |_| true);
        assert_eq!((full.rank(), full.take_gap()), (2, f64::INFINITY));
        let A: [&[f64]; 3] = [&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], &[7.0, 8.0, 9.0 + 1e-12]];
        let mut lost = Elimination::of_rows(rows(&A), 3, 1e-10);
        lost.eliminate(|_| true, |_| true);
        assert_eq!(lost.rank(), 2);
        assert!(lost.take_gap() > 1e9);
    }

    #[test]
    fn units_do_not_matter() {
        for (unit, other) in [(1e9, 1.0), (1e-9, 1e12)] {
            let A: [&[f64]; 3] =
                [&[unit, 2.0 * other, 0.0], &[3.0 * unit, other, unit], &[4.0, 3.0 * other / unit, 1.0]];
            let mut found = Elimination::of_rows(rows(&A), 3, 1e-10);
            found.eliminate(|_| true, |_| true);
            assert_eq!(found.rank(), 2, "{unit:e}");
        }
    }

    #[test]
    fn what_is_left_after_a_set_of_columns_is_free_of_them() {
        // x' = v, and G x' + g = 0: G v + g is left
        let A: [&[f64]; 3] = [&[1.0, 0.0, -5.0, 0.0], &[0.0, 1.0, 0.0, -7.0], &[3.0, 4.0, 0.0, 0.0]];
        let mut found = Elimination::of_rows(rows(&A), 4, 1e-10);
        found.eliminate(|_| true, |j| j < 2);
        assert_eq!(found.rank(), 2);
        let left = (0..3).find(|&i| !found.has_pivot(i)).unwrap();
        let mut left: Vec<f64> = found.row(left).map(|(_, value)| value).collect();
        let first = left[0];
        for x in &mut left {
            *x /= first;
        }
        assert!((left[1] - 28.0 / 15.0).abs() < 1e-15 && left.len() == 2);
        found.eliminate(|_| true, |_| true);
        assert_eq!(found.rank(), 3);
    }

    #[test]
    fn a_long_chain_is_eliminated_without_filling_in() {
        // rows x_i − x_{i+1} for a ring, one of them redundant
        let n = 20_000;
        let ring = (0..n).map(|i| vec![(i, 1.0), ((i + 1) % n, -1.0)]);
        let mut found = Elimination::of_rows(ring, n, 1e-10);
        found.eliminate(|_| true, |_| true);
        assert_eq!(found.rank(), n - 1);
        assert!((0..n).all(|i| found.row(i).count() <= 2));
        let rows: Vec<Vec<(usize, f64)>> = (0..n).map(|i| vec![(i, 1.0), ((i + 1) % n, -1.0)]).collect();
        let null = found.left_null_vectors(&rows).unwrap();
        assert!(null.len() == 1 && null[0].len() == n && null[0].iter().all(|(_, z)| (z - 1.0).abs() < 1e-9));
        // all x are alike
        let mut x = vec![0.0; n];
        let free = (0..n).find(|&j| !found.is_taken(j)).unwrap();
        x[free] = 3.0;
        found.solve(&mut x);
        assert!(x.iter().all(|x| (x - 3.0).abs() < 1e-9));
    }
}
