//! Which constraints and which differential equations make a square system: state selection at a point.
//!
//! Gaußian elimination of the constraint gradients C = ∂c/∂y. Unknowns without a rate must be determined by constraints: their columns get
//! pivots first. Auxiliary unknowns, derivatives that became unknowns of their own, come next: what is integrated should be what errors are
//! measured of. Then pivots are chosen level by level among the others: a constraint prefers unknowns that do not appear in
//! constraints of lower levels, so that positions are solved from position constraints, velocities from velocity constraints, and so
//! on. The pivot columns are the dependent unknowns. For every other unknown with a rate its differential equation is taken: then
//! (S_D E; S_C C) is regular. Unknowns without pivot and without rate are undetermined.

use crate::linalg::Matrix;
use crate::linalg::rank::{Elimination, OPTIONAL};

/// A preferred pivot may be this much smaller than the largest one.
const PREFERENCE: f64 = 1e-2;
/// The same for invariants, which see what they prefer now more, now less: an energy sees no velocity at a turning point.
const OPTIONAL_PREFERENCE: f64 = 0.2;

/// What is known about rows and columns beforehand.
#[derive(Clone, Debug)]
pub struct EliminationStages {
    /// Stage of each constraint: the latest of its columns with a rate.
    row_stage: Vec<usize>,
    /// Stage of each unknown: the lowest level of the constraints it enters.
    col_stage: Vec<usize>,
    /// Unknowns with a rate.
    moving: Vec<bool>,
    /// Unknowns from this one on are auxiliary.
    auxiliary: usize,
    /// Rows that may be left out where they depend on the others.
    optional: Vec<bool>,
    count: usize,
}

impl EliminationStages {
    /// From the places of the gradients and the levels of the constraints; definitions have no level.
    pub fn new(
        moving: Vec<bool>,
        auxiliary: usize,
        places: &[(usize, usize)],
        levels: &[Option<usize>],
        optional: Vec<bool>,
    ) -> Self {
        let last = levels.iter().flatten().max().map_or(0, |top| top + 1);
        let mut col_stage = vec![last; moving.len()];
        for &(i, j) in places {
            if let Some(level) = levels[i] {
                col_stage[j] = col_stage[j].min(level);
            }
        }
        let mut row_stage = vec![0; levels.len()];
        for &(i, j) in places.iter().filter(|(_, j)| moving[*j]) {
            row_stage[i] = row_stage[i].max(col_stage[j]);
        }
        EliminationStages { row_stage, col_stage, moving, auxiliary, optional, count: last + 1 }
    }
}

/// The result, with room for the work.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Chosen constraints, in the order of their pivots.
    pub rows: Vec<usize>,
    /// Their pivot columns.
    pub dependent: Vec<usize>,
    /// How many of them are unknowns without a rate.
    pub determined: usize,
    /// Smallest pivot relative to the usual size of its row.
    pub smallest: f64,
    /// Is a column dependent?
    pub taken: Vec<bool>,
    used: Vec<bool>,
    /// usual sizes of rows with respect to unknowns without and with rates
    usual: [Vec<f64>; 2],
}

impl Selection {
    /// Room for m constraints of n unknowns.
    pub fn new(m: usize, n: usize) -> Self {
        Selection {
            rows: Vec::with_capacity(m),
            dependent: Vec::with_capacity(m),
            determined: 0,
            smallest: 1.0,
            taken: vec![false; n],
            used: vec![false; m],
            usual: [vec![0.0; m], vec![0.0; m]],
        }
    }

    /// Choose among the rows that are candidates, where pivots below a part of the usual size of their row count as zero; destroys C.
    pub fn choose(&mut self, C: &mut Matrix, stages: &EliminationStages, candidates: &[bool], zero: f64) {
        self.rows.clear();
        self.dependent.clear();
        self.smallest = 1.0;
        self.taken.fill(false);
        for i in 0..C.rows() {
            self.used[i] = !candidates[i];
            let mut tops = [0.0_f64; 2];
            for (c, &moving) in C.row(i).iter().zip(&stages.moving) {
                let top = &mut tops[usize::from(moving)];
                *top = top.max(c.abs());
            }
            // what was larger once is small now: it shows as a small pivot
            self.usual[0][i] = self.usual[0][i].max(tops[0]);
            self.usual[1][i] = tops[1];
        }
        // unknowns without a rate, from any constraint
        while let Some(pivot) = self.largest(C, stages, 0, &|_| true, &|j| !stages.moving[j])
            && pivot.2 > zero
        {
            self.take(C, pivot);
        }
        self.determined = self.rows.len();
        // derivatives that became unknowns, where a constraint sees them well
        let auxiliary = |j: usize| stages.moving[j] && j >= stages.auxiliary;
        while let Some(pivot) = self.largest(C, stages, 1, &|i| !stages.optional[i], &auxiliary)
            && pivot.2 > PREFERENCE
        {
            self.take(C, pivot);
        }
        // the others, stage by stage
        for stage in 0..stages.count {
            let rows = |i: usize| stages.row_stage[i] == stage && !stages.optional[i];
            while let Some(any) = self.largest(C, stages, 1, &rows, &|j| stages.moving[j]) {
                let latest = |j: usize| stages.moving[j] && stages.col_stage[j] >= stage;
                let preferred = self.largest(C, stages, 1, &rows, &latest);
                let pivot = preferred.filter(|p| p.2 >= PREFERENCE * any.2).unwrap_or(any);
                if pivot.2 <= zero {
                    break;
                }
                self.take(C, pivot);
            }
        }
        // invariants come last: they take what the constraints leave
        while let Some(any) = self.largest(C, stages, 1, &|i| stages.optional[i], &|j| stages.moving[j])
            && any.2 > zero.max(OPTIONAL)
        {
            let latest = |j: usize| stages.moving[j] && stages.col_stage[j] >= stages.row_stage[any.0];
            let preferred = self.largest(C, stages, 1, &|i| i == any.0, &latest);
            let pivot = preferred.filter(|p| p.2 >= OPTIONAL_PREFERENCE * any.2).unwrap_or(any);
            self.take(C, pivot);
        }
    }

    /// Row, column and relative size of the largest entry among rows and columns that are left.
    fn largest(
        &self,
        C: &Matrix,
        stages: &EliminationStages,
        kind: usize,
        rows: &dyn Fn(usize) -> bool,
        columns: &dyn Fn(usize) -> bool,
    ) -> Option<(usize, usize, f64)> {
        debug_assert_eq!(stages.moving.len(), C.cols());
        let mut best: Option<(usize, usize, f64)> = None;
        for i in (0..C.rows()).filter(|&i| !self.used[i] && rows(i)) {
            let usual = self.usual[kind][i];
            for (j, c) in C.row(i).iter().enumerate() {
                let size = c.abs() / usual;
                if size > best.map_or(0.0, |b| b.2) && !self.taken[j] && columns(j) {
                    best = Some((i, j, size));
                }
            }
        }
        best
    }

    /// Make an entry a pivot.
    fn take(&mut self, C: &mut Matrix, (i, j, size): (usize, usize, f64)) {
        self.used[i] = true;
        self.taken[j] = true;
        self.rows.push(i);
        self.dependent.push(j);
        self.smallest = self.smallest.min(size);
        for k in 0..C.rows() {
            if self.used[k] || C[(k, j)] == 0.0 {
                continue;
            }
            let (pivot, row) = C.row_pair(i, k);
            let factor = row[j] / pivot[j];
            for (x, p) in row.iter_mut().zip(pivot) {
                *x -= factor * p;
            }
            row[j] = 0.0;
        }
    }
}

/// A choice by pivots of a sparse elimination: rows and columns ascending.
pub struct SparseChoice {
    /// Chosen constraints.
    pub rows: Vec<usize>,
    /// Their unknowns.
    pub dependent: Vec<usize>,
    /// How many of them are unknowns without a rate.
    pub determined: usize,
}

/// The same preferences for the gradients of many constraints, as rows of (unknown, slope).
pub fn choose_sparse(
    gradients: impl IntoIterator<Item = Vec<(usize, f64)>>,
    stages: &EliminationStages,
    zero: f64,
) -> SparseChoice {
    let EliminationStages { row_stage, col_stage, moving, auxiliary, optional, count } = stages;
    let mut found = Elimination::of_rows(gradients, moving.len(), zero);
    // unknowns without a rate, then derivatives that became unknowns, then the others, stage by stage; invariants last
    found.take_pivots(zero, |_| true, |j| !moving[j]);
    let determined = found.rank();
    found.take_pivots(PREFERENCE, |i| !optional[i], |j| moving[j] && j >= *auxiliary);
    for stage in 0..*count {
        let rows = |i: usize| row_stage[i] == stage && !optional[i];
        found.take_pivots(PREFERENCE, rows, |j| moving[j] && col_stage[j] >= stage);
        found.take_pivots(zero, rows, |j| moving[j]);
    }
    found.take_pivots(zero.max(OPTIONAL), |i| optional[i], |j| moving[j]);
    let (mut rows, mut dependent): (Vec<usize>, Vec<usize>) = found.pivots().iter().copied().unzip();
    rows.sort_unstable();
    dependent.sort_unstable();
    SparseChoice { rows, dependent, determined }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::rank::AT_POINT;

    #[test]
    fn velocities_are_solved_from_velocity_constraints() {
        // unknowns x, y, u, v: 2x x' … with a large velocity, whose derivatives with respect to x, y are larger than those to u, v
        let rows = [[1.2, 1.6, 0.0, 0.0], [80.0, -60.0, 1.2, 1.6]];
        let mut C = Matrix::zeros(2, 4);
        let mut places = Vec::new();
        for i in 0..2 {
            for j in 0..4 {
                C[(i, j)] = rows[i][j];
                if rows[i][j] != 0.0 {
                    places.push((i, j));
                }
            }
        }
        let stages = EliminationStages::new(vec![true; 4], 4, &places, &[Some(0), Some(1)], vec![false; 2]);
        let mut selection = Selection::new(2, 4);
        selection.choose(&mut C, &stages, &[true; 2], AT_POINT);
        assert_eq!((selection.rows.as_slice(), selection.dependent.as_slice()), ([0, 1].as_slice(), [1, 3].as_slice()));
    }

    #[test]
    fn a_state_is_integrated_rather_than_its_derivative() {
        // 5 x + w = 0 with w = x'
        let mut C = Matrix::zeros(1, 2);
        (C[(0, 0)], C[(0, 1)]) = (5.0, 1.0);
        let stages = EliminationStages::new(vec![true; 2], 1, &[(0, 0), (0, 1)], &[Some(0)], vec![false]);
        let mut selection = Selection::new(1, 2);
        selection.choose(&mut C, &stages, &[true], AT_POINT);
        assert_eq!(selection.dependent, [1]);
    }

    #[test]
    fn sparse_choices_have_the_same_preferences() {
        let rows = vec![vec![(0, 1.2), (1, 1.6)], vec![(0, 80.0), (1, -60.0), (2, 1.2), (3, 1.6)]];
        let places: Vec<(usize, usize)> =
            rows.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |&(j, _)| (i, j))).collect();
        let stages = EliminationStages::new(vec![true; 4], 4, &places, &[Some(0), Some(1)], vec![false; 2]);
        let found = choose_sparse(rows, &stages, AT_POINT);
        assert_eq!((found.rows, found.determined), (vec![0, 1], 0));
        assert!(found.dependent[0] < 2 && found.dependent[1] >= 2, "{:?}", found.dependent);
        // 100 x + λ = 0 with a rate for x only
        let stages = EliminationStages::new(vec![true, false], 2, &[(0, 0), (0, 1)], &[Some(0)], vec![false]);
        let found = choose_sparse([vec![(0, 100.0), (1, 1.0)]], &stages, AT_POINT);
        assert_eq!((found.dependent, found.determined), (vec![1], 1));
    }

    #[test]
    fn redundant_rows_are_left_out() {
        let mut C = Matrix::zeros(2, 2);
        for (i, j, value) in [(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 4.0)] {
            C[(i, j)] = value;
        }
        let places = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let stages = EliminationStages::new(vec![true; 2], 2, &places, &[Some(0), Some(0)], vec![false; 2]);
        let mut selection = Selection::new(2, 2);
        selection.choose(&mut C, &stages, &[true; 2], AT_POINT);
        assert_eq!(selection.rows.len(), 1);
    }

    #[test]
    fn unknowns_without_a_rate_are_determined_first() {
        // 100 x + λ = 0, x + 2 λ = 0 with a rate for x only: x must not take the row that λ needs
        let mut C = Matrix::zeros(1, 2);
        C[(0, 0)] = 100.0;
        C[(0, 1)] = 1.0;
        let stages = EliminationStages::new(vec![true, false], 2, &[(0, 0), (0, 1)], &[Some(0)], vec![false]);
        let mut selection = Selection::new(1, 2);
        selection.choose(&mut C, &stages, &[true], AT_POINT);
        assert_eq!((selection.dependent.as_slice(), selection.determined), ([1].as_slice(), 1));
    }
}
