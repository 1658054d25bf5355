//! Which constraints and which differential equations make a square system: state selection at a point.
//!
//! Gaußian elimination of the constraint gradients C = ∂c/∂y with pivots chosen level by level: a constraint prefers unknowns that do
//! not appear in constraints of lower levels, so that positions are solved from position constraints, velocities from velocity
//! constraints, and so on. The pivot columns are the dependent unknowns. For every other unknown with a rate its differential equation is
//! taken: then (S_D E; S_C C) is regular whatever the rates are. Unknowns without pivot and rate are undetermined.

use crate::linalg::Matrix;

/// A preferred pivot may be this much smaller than the largest one.
const PREFERENCE: f64 = 1e-2;
/// Pivots below this part of a scaled row count as zero.
pub const RANK_TOLERANCE: f64 = 1e-10;
/// Rows that may be dropped (invariants) are dropped below this.
const OPTIONAL_TOLERANCE: f64 = 1e-5;

/// What is known about rows and columns beforehand.
#[derive(Clone, Debug)]
pub struct Structure {
    /// Stage of each constraint: the latest of its columns.
    row_stage: Vec<usize>,
    /// Stage of each unknown: the lowest level of the constraints it enters.
    col_stage: Vec<usize>,
    /// Rows that may be left out where they depend on the others.
    optional: Vec<bool>,
    stages: usize,
}

impl Structure {
    /// From the places of the gradients and the levels of the constraints; definitions have no level.
    pub fn new(
        rows: usize,
        cols: usize,
        places: &[(usize, usize)],
        levels: &[Option<usize>],
        optional: Vec<bool>,
    ) -> Self {
        let last = levels.iter().flatten().max().map_or(0, |top| top + 1);
        let mut col_stage = vec![last; cols];
        for &(i, j) in places {
            if let Some(level) = levels[i] {
                col_stage[j] = col_stage[j].min(level);
            }
        }
        let mut row_stage = vec![0; rows];
        for &(i, j) in places {
            row_stage[i] = row_stage[i].max(col_stage[j]);
        }
        Structure { row_stage, col_stage, optional, stages: last + 1 }
    }
}

/// The result, with room for the work.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Chosen constraints, in the order of their pivots.
    pub rows: Vec<usize>,
    /// Their pivot columns.
    pub dependent: Vec<usize>,
    /// Smallest pivot relative to its scaled row.
    pub smallest: f64,
    /// Is a column dependent?
    pub taken: Vec<bool>,
    used: Vec<bool>,
    scale: Vec<f64>,
}

impl Selection {
    /// Room for m constraints of n unknowns.
    pub fn new(m: usize, n: usize) -> Self {
        Selection {
            rows: Vec::with_capacity(m),
            dependent: Vec::with_capacity(m),
            smallest: 1.0,
            taken: vec![false; n],
            used: vec![false; m],
            scale: vec![1.0; m],
        }
    }

    /// Choose; destroys C.
    pub fn choose(&mut self, C: &mut Matrix, structure: &Structure) {
        let (m, n) = (C.rows(), C.cols());
        self.rows.clear();
        self.dependent.clear();
        self.smallest = 1.0;
        self.taken.fill(false);
        self.used.fill(false);
        for i in 0..m {
            let top = C.row(i).iter().fold(0.0_f64, |top, c| top.max(c.abs()));
            self.scale[i] = if top > 0.0 { 1.0 / top } else { 0.0 };
        }
        for stage in 0..structure.stages {
            loop {
                // the largest entry among preferred columns, and among all
                let (mut preferred, mut any) = ((0, 0, 0.0_f64), (0, 0, 0.0_f64));
                for i in (0..m).filter(|&i| structure.row_stage[i] == stage) {
                    if self.used[i] {
                        continue;
                    }
                    for (j, c) in C.row(i).iter().enumerate() {
                        let size = c.abs() * self.scale[i];
                        if self.taken[j] || size <= any.2 && size <= preferred.2 {
                            continue;
                        }
                        if size > any.2 {
                            any = (i, j, size);
                        }
                        if structure.col_stage[j] >= stage && size > preferred.2 {
                            preferred = (i, j, size);
                        }
                    }
                }
                let (i, j, size) = if preferred.2 >= PREFERENCE * any.2 { preferred } else { any };
                let threshold = if structure.optional[i] { OPTIONAL_TOLERANCE } else { RANK_TOLERANCE };
                if size <= threshold {
                    if size > 0.0 && structure.optional[i] {
                        self.used[i] = true;
                        continue;
                    }
                    break;
                }
                self.used[i] = true;
                self.taken[j] = true;
                self.rows.push(i);
                self.dependent.push(j);
                self.smallest = self.smallest.min(size);
                for k in 0..m {
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
                if self.rows.len() == n {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let structure = Structure::new(2, 4, &places, &[Some(0), Some(1)], vec![false; 2]);
        let mut selection = Selection::new(2, 4);
        selection.choose(&mut C, &structure);
        assert_eq!((selection.rows.as_slice(), selection.dependent.as_slice()), ([0, 1].as_slice(), [1, 3].as_slice()));
    }

    #[test]
    fn redundant_rows_are_left_out() {
        let mut C = Matrix::zeros(2, 2);
        for (i, j, value) in [(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 4.0)] {
            C[(i, j)] = value;
        }
        let places = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let structure = Structure::new(2, 2, &places, &[Some(0), Some(0)], vec![false; 2]);
        let mut selection = Selection::new(2, 2);
        selection.choose(&mut C, &structure);
        assert_eq!(selection.rows.len(), 1);
    }
}
