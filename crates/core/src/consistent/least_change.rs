//! The linear problem: δ with C δ = −F of least movement, in lexicographic order.
//!
//! From the freest class of unknowns to the one that is kept most, the columns of a class are decomposed and what their range does not reach is
//! passed on to the next one. Back again each class takes the smallest change that its equations ask for, given the classes before it. So
//! an equation that holds moves nothing, and one that a free class can satisfy moves no other class. Weights cannot do that: a
//! ratio of 1e5 moved consistent values by 1e-8.
//!
//! Combinations B x that keep their values are unknowns too: B δ + s = 0 with a class of s that is kept more than all others. Where they can be
//! kept, s = 0; otherwise ‖s‖ is the smallest in every step. To go back to B x̃ instead would look for the nearest point of a curved
//! surface, to which Gauss and Newton converge slowly or not at all. Where B and C make a square system it is solved as such.

use super::leading_matrix::LeadingMatrix;
use crate::dae::Pencil;
use crate::linalg::rank::{Scales, Scaling, balance};
use crate::linalg::{Mat, RankRule, Svd};

/// How unknowns may move.
#[derive(Clone, Debug)]
pub(crate) struct Freedom {
    /// Those that must not.
    pub fixed: Vec<usize>,
    /// The others, in classes; what is kept most comes first. The last ones may move by any amount, in units of their own.
    pub classes: Vec<Vec<usize>>,
    /// Units in which movements are least; 1 + |x| if absent.
    pub units: Option<Vec<f64>>,
    /// Combinations that are kept.
    pub kept: Option<KeptRows>,
    /// Singular values above this count, rows having size one.
    pub tau: f64,
    /// Must the equations be independent?
    pub independent: bool,
    /// Are the units of the last class those of [`Scaling::Both`] over its columns? GENDA keeps derivatives that nothing determines at zero in
    /// these units, and a jet with others is moved by it.
    pub equilibrated: bool,
    /// Are equations that may depend on each other damped, by the square of what is left of them (Levenberg & Marquardt; Yamashita & Fukushima 2001)?
    /// Beside a solution such rows look independent, and what would satisfy all of them is wild.
    pub damped: bool,
}

/// Damping relative to the squares of slopes: not more than this far from a solution, and not less, so that it is above rounding.
const MOST_DAMPING: f64 = 1e-4;
const LEAST_DAMPING: f64 = 1e-13;

/// B x = B x̃.
#[derive(Clone, Debug)]
pub(crate) struct KeptRows {
    /// B
    pub B: Mat<f64>,
    /// x̃
    pub start: Vec<f64>,
}

/// A correction.
pub(crate) struct Change {
    /// δ
    pub delta: Vec<f64>,
    /// How many equations the unknowns that may move can satisfy.
    pub rank: usize,
}

impl Freedom {
    /// All that may move.
    pub fn free(&self) -> Vec<usize> {
        self.classes.iter().flatten().copied().collect()
    }

    /// δ from x where F has the slopes C; nothing if singular values are not found.
    pub fn least_change(&self, C: &Mat<f64>, F: &[f64], x: &[f64]) -> Option<Change> {
        let (m, n) = (C.nrows(), C.ncols());
        if let Some(KeptRows { B, start }) = &self.kept
            && self.fixed.is_empty()
            && let Some(delta) = square(B, &back(B, start, x), C, F, self.tau)
        {
            return Some(Change { delta, rank: m });
        }
        let none = Mat::zeros(0, n);
        let B = self.kept.as_ref().map_or(&none, |kept| &kept.B);
        let d = B.nrows();
        let balanced = Balanced::new(C, x, self);
        // rows of B by their own sizes, and s in units that make the largest of its columns one
        let own = |i: usize| (0..n).map(|j| (B[(i, j)] * balanced.columns[j]).abs()).fold(0.0, f64::max);
        let scale: Vec<f64> = (0..d).map(|i| 1.0 / Some(own(i)).filter(|size| *size > 0.0).unwrap_or(1.0)).collect();
        let unit = 1.0 / scale.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let all = Mat::from_fn(m + d, n + d + 1, |i, j| match (i.checked_sub(m), j.checked_sub(n)) {
            (None, None) => balanced.C[(i, j)],
            (Some(k), None) => scale[k] * B[(k, j)] * balanced.columns[j],
            (None, Some(s)) => {
                if s == d {
                    -F[i] * balanced.rows[i]
                } else {
                    0.0
                }
            }
            (Some(k), Some(s)) => {
                if s == k {
                    scale[k] * unit
                } else {
                    0.0
                }
            }
        });
        let kept = [(n..n + d).collect::<Vec<_>>()];
        let classes = kept.iter().filter(|s| !s.is_empty()).chain(&self.classes);
        let left = (0..m).fold(0.0_f64, |most, i| most.max((F[i] * balanced.rows[i]).abs()));
        let damping = if self.damped { left.powi(2).clamp(LEAST_DAMPING, MOST_DAMPING) } else { 0.0 };
        let (delta, rank) = lexicographic(all, &classes.collect::<Vec<_>>(), (self.tau, damping))?;
        let delta = delta.iter().zip(&balanced.columns).map(|(delta, unit)| delta * unit).collect();
        Some(Change { delta, rank: rank - d })
    }
}

/// B (x̃ − x).
fn back(B: &Mat<f64>, start: &[f64], x: &[f64]) -> Vec<f64> {
    (0..B.nrows()).map(|i| (0..x.len()).map(|j| B[(i, j)] * (start[j] - x[j])).sum()).collect()
}

/// Solve in the order of the classes; right sides stand in the last column. How many rows were reached besides.
fn lexicographic(mut rows: Mat<f64>, classes: &[&Vec<usize>], (tau, damping): (f64, f64)) -> Option<(Vec<f64>, usize)> {
    let n = rows.ncols() - 1;
    let mut stages = Vec::new();
    // the freest class first: its columns, and what their range does not reach
    for &columns in classes.iter().rev() {
        let (svd, rank) = decompose(&rows, columns, tau)?;
        let turned = svd.U.transpose() * &rows;
        rows = turned.subrows(rank, rows.nrows() - rank).to_owned();
        stages.push((columns, svd, turned, rank));
    }
    let reached = stages.iter().map(|(.., rank)| rank).sum();
    // back: least movement of each class, given those that are kept more
    let mut delta = vec![0.0; n];
    for (columns, svd, turned, rank) in stages.iter().rev() {
        let mut y = vec![0.0; columns.len()];
        for k in 0..*rank {
            let right = turned[(k, n)] - (0..n).map(|j| turned[(k, j)] * delta[j]).sum::<f64>();
            let sigma = svd.sigma(k) + damping * svd.sigma(0).powi(2) / svd.sigma(k);
            y.iter_mut().enumerate().for_each(|(c, y)| *y += svd.V[(c, k)] * right / sigma);
        }
        columns.iter().zip(y).for_each(|(&j, y)| delta[j] = y);
    }
    Some((delta, reached))
}

/// B δ = b, C δ = −F, if these are as many equations as unknowns, and independent.
fn square(B: &Mat<f64>, b: &[f64], C: &Mat<f64>, F: &[f64], tau: f64) -> Option<Vec<f64>> {
    let (d, n) = (B.nrows(), B.ncols());
    if d + C.nrows() != n {
        return None;
    }
    let mut pencil = Pencil::dense(n, n);
    for j in 0..n {
        (0..d).for_each(|i| pencil.E.put((i, j), B[(i, j)]));
        (d..n).for_each(|i| pencil.A.put((i, j), -C[(i - d, j)]));
    }
    let mut delta: Vec<f64> = b.iter().copied().chain(F.iter().map(|f| -f)).collect();
    let ranks = RankRule { tolerance: Some(tau), ..RankRule::default() };
    LeadingMatrix::new(&pencil, (0..n).map(|i| i >= d).collect(), ranks)?.solve(&mut delta);
    // rows with one entry hold their unknowns, without rounding
    for (i, b) in b.iter().enumerate() {
        let mut entries = (0..n).filter(|&j| B[(i, j)] != 0.0);
        if let (Some(j), None) = (entries.next(), entries.next()) {
            delta[j] = b / B[(i, j)];
        }
    }
    Some(delta)
}

/// R C D with rows, and columns of what may move by any amount, of comparable size; columns of fixed unknowns vanish.
pub(crate) struct Balanced {
    pub C: Mat<f64>,
    pub rows: Vec<f64>,
    pub columns: Vec<f64>,
}

/// Sweeps over rows and columns. Chosen: scales of the reference problems no longer change.
const SWEEPS: usize = 4;

impl Balanced {
    pub fn new(C: &Mat<f64>, x: &[f64], freedom: &Freedom) -> Self {
        let (m, n) = (C.nrows(), C.ncols());
        let usual = || x.iter().map(|x| 1.0 + x.abs()).collect();
        let (mut rows, mut columns) = (vec![1.0; m], freedom.units.clone().unwrap_or_else(usual));
        freedom.fixed.iter().for_each(|&j| columns[j] = 0.0);
        let last = freedom.classes.last().map_or(&[][..], |last| last);
        let scales = freedom.equilibrated.then(|| {
            let scales = Scales::of_entries((m, last.len()), |i, k| C[(i, last[k])], Scaling::Both);
            last.iter().zip(&scales.columns).for_each(|(&j, unit)| columns[j] = *unit);
            scales
        });
        for _ in 0..if scales.is_some() { 1 } else { SWEEPS } {
            let size = |i: usize| (0..n).fold(0.0_f64, |most, j| most.max((C[(i, j)] * columns[j]).abs()));
            let sizes: Vec<f64> = (0..m).map(size).collect();
            let top = sizes.iter().copied().fold(0.0, f64::max);
            rows.iter_mut().zip(sizes).for_each(|(row, size)| *row = balance(size, top));
            let Some(scales) = &scales else {
                for &j in last {
                    let size = (0..m).fold(0.0_f64, |most, i| most.max((C[(i, j)] * rows[i]).abs()));
                    columns[j] = balance(size, 1.0);
                }
                continue;
            };
            // rows that the last class can satisfy have their scales with it
            let reached = |i: &usize| last.iter().any(|&j| C[(*i, j)] != 0.0);
            (0..m).filter(reached).for_each(|i| rows[i] = scales.rows[i]);
        }
        Balanced { C: Mat::from_fn(m, n, |i, j| C[(i, j)] * rows[i] * columns[j]), rows, columns }
    }

    /// Some columns decomposed, with their rank.
    pub fn decompose(&self, columns: &[usize], tau: f64) -> Option<(Svd, usize)> {
        decompose(&self.C, columns, tau)
    }
}

fn decompose(rows: &Mat<f64>, columns: &[usize], tau: f64) -> Option<(Svd, usize)> {
    let mut svd = Svd::new(rows.nrows(), columns.len());
    for (c, &j) in columns.iter().enumerate() {
        (0..rows.nrows()).for_each(|i| svd.A[(i, c)] = rows[(i, j)]);
    }
    svd.factor().ok()?;
    let rank = svd.rank(tau);
    Some((svd, rank))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn freedom(fixed: &[usize], classes: &[&[usize]], kept: Option<KeptRows>) -> Freedom {
        let classes = classes.iter().map(|class| class.to_vec()).collect();
        Freedom {
            fixed: fixed.to_vec(),
            classes,
            units: Some(vec![1.0; 4]),
            kept,
            tau: 1e-12,
            independent: false,
            equilibrated: false,
            damped: false,
        }
    }

    fn product(M: &Mat<f64>, x: &[f64]) -> Vec<f64> {
        (0..M.nrows()).map(|i| (0..M.ncols()).map(|j| M[(i, j)] * x[j]).sum()).collect()
    }

    #[test]
    fn equations_hold_and_what_is_kept_is_as_near_as_possible() {
        let C = faer::mat![[1.0, 2.0, 0.0, -1.0], [1e5, 0.0, 3e5, 0.0]];
        let B = faer::mat![[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0]];
        let kept = Some(KeptRows { B: B.clone(), start: vec![0.0; 4] });
        let found = freedom(&[], &[&[0, 1, 2, 3], &[]], kept).least_change(&C, &[-1.0, 2e5], &[0.0; 4]).unwrap();
        let error = product(&C, &found.delta);
        assert!(found.rank == 2 && (error[0] - 1.0).abs() < 1e-14 && (error[1] + 2e5).abs() < 1e-9);
        // the gradient of ‖B δ‖²/2 lies in the range of Cᵀ
        let gradient = product(&B.transpose().to_owned(), &product(&B, &found.delta));
        let mut svd = Svd::new(2, 4);
        svd.A.copy_from(&C);
        svd.factor().unwrap();
        let along = svd.V.get(.., 2..4).transpose() * Mat::from_fn(4, 1, |j, _| gradient[j]);
        assert!(along.norm_max() < 1e-12, "{along:?}");
    }

    #[test]
    fn the_freest_class_moves_first_and_what_holds_is_not_moved() {
        // x₀ + x₁ = 1 can be satisfied by x₁, x₀ + 1e-3 x₂ = 0 by x₂
        let C = faer::mat![[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1e-3, 0.0]];
        let found = freedom(&[], &[&[0], &[1, 2, 3]], None).least_change(&C, &[-1.0, 2.0], &[0.0; 4]).unwrap();
        assert_eq!(found.delta[0], 0.0);
        assert!((found.delta[1] - 1.0).abs() < 1e-14 && (found.delta[2] + 2e3).abs() < 1e-9 && found.delta[3] == 0.0);
        // x₁ is fixed: x₀ must move, and x₂ follows
        let found = freedom(&[1], &[&[0], &[2, 3]], None).least_change(&C, &[-1.0, 2.0], &[0.0; 4]).unwrap();
        assert!((found.delta[0] - 1.0).abs() < 1e-14 && found.delta[1] == 0.0 && (found.delta[2] + 3e3).abs() < 1e-9);
    }

    #[test]
    fn rows_that_repeat_each_other_are_counted_once() {
        let C = faer::mat![[3.0, 4.0, 0.0, 0.0], [6.0, 8.0, 0.0, 0.0]];
        let found = freedom(&[], &[&[0, 1, 2, 3]], None).least_change(&C, &[-5.0, -10.0], &[0.0; 4]).unwrap();
        assert_eq!(found.rank, 1);
        let found = freedom(&[], &[&[0, 1, 2, 3], &[]], None).least_change(&C, &[-5.0, -10.0], &[0.0; 4]).unwrap();
        assert!((found.delta[0] - 0.6).abs() < 1e-15 && (found.delta[1] - 0.8).abs() < 1e-15);
    }

    #[test]
    fn combinations_are_kept_however_small_their_coefficients_are() {
        // 1e-15 x₀ + 2e-15 x₁ stays while x₀ − x₁ = 1
        let B = faer::mat![[1e-15, 2e-15, 0.0, 0.0]];
        let kept = Some(KeptRows { B, start: vec![0.0; 4] });
        let C = faer::mat![[1.0, -1.0, 0.0, 0.0]];
        let found = freedom(&[], &[&[0, 1, 2, 3], &[]], kept).least_change(&C, &[-1.0], &[0.0; 4]).unwrap();
        assert!((found.delta[0] - 2.0 / 3.0).abs() < 1e-14 && (found.delta[1] + 1.0 / 3.0).abs() < 1e-14);
    }
}
