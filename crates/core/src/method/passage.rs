//! Singular configurations between two points: no step may pass one silently.
//!
//! Let K = [GZ; HZ] be Kₒ at the beginning and Kₙ at the end of a step, and Δ = Kₙ − Kₒ. The constraints keep their rank between, as far
//! as K goes straight, if the change is smaller than K itself for every combination of constraints:
//!
//! ```text
//! |Δᵀy|² < κ (|Kₒᵀy|² + |Kₙᵀy|²)  for all y ≠ 0,      that is   κ (KₒKₒᵀ + KₙKₙᵀ) − ΔΔᵀ  positive definite
//! ```
//! With κ = 1 this is yᵀKₒKₙᵀy > 0: no combination turns by 90°; a smaller κ leaves room for what is not straight. The test does not depend on
//! how constraints are scaled or combined. It sees directions one by one, so that rank may drop by any number, where the sign of det(KₒKₙᵀ) tells
//! odd numbers only. A step that fails is looked at again: in shorter pieces, and then, only if the smallest singular value of K really falls towards
//! zero on its polynomial, there is a singularity.

use crate::linalg::rank::{AT_POINT, LOST};
use crate::linalg::{Matrix, RankRule, Svd};
use crate::motion::{Layout, ReducedArray};
use crate::segment::Segment;

/// κ: K may turn by 60° in a step if it keeps its size.
const CHANGE: f64 = 0.5;
/// Numbers of pieces in which a step is looked at again.
const PIECES: [u32; 4] = [2, 4, 8, 16];
/// Points of a step at which singular values are taken.
const SAMPLES: u32 = 24;
/// Only where a sample is smaller than this, relative to the same, is it looked at more closely.
const SUSPICIOUS: f64 = 0.3;
/// Singular values smaller than this, relative to those at the ends of the step or at the start, mean a singularity.
const SINGULAR: f64 = 0.02;

/// Two matrices K, one after the other.
struct Pair {
    old: Matrix,
    new: Matrix,
    /// K Kᵀ of both, below and on the diagonal
    gram_old: Matrix,
    gram_new: Matrix,
    change: Matrix,
    work: Matrix,
}

impl Pair {
    fn new(m: usize, n: usize) -> Self {
        let (matrix, square) = (Matrix::zeros(m, n), Matrix::zeros(m, m));
        Pair {
            old: matrix.clone(),
            new: matrix.clone(),
            gram_old: square.clone(),
            gram_new: square.clone(),
            change: matrix,
            work: square,
        }
    }

    /// The rows of the next K, each with a factor.
    fn push<'k>(&mut self, rows: impl Iterator<Item = (f64, &'k [f64])>) {
        std::mem::swap(&mut self.old, &mut self.new);
        std::mem::swap(&mut self.gram_old, &mut self.gram_new);
        for (i, (scale, row)) in rows.enumerate() {
            for (new, x) in self.new.row_mut(i).iter_mut().zip(row) {
                *new = scale * x;
            }
        }
        for i in 0..self.new.rows() {
            for k in 0..=i {
                self.gram_new[(i, k)] = dot(self.new.row(i), self.new.row(k));
            }
        }
    }

    /// Does K keep its rank on the straight way from the old one to the new one?
    fn regular(&mut self) -> bool {
        let m = self.new.rows();
        for ((change, new), old) in self.change.data_mut().iter_mut().zip(self.new.data()).zip(self.old.data()) {
            *change = new - old;
        }
        // Cholesky's decomposition, as far as it goes
        for i in 0..m {
            for k in 0..=i {
                let own = CHANGE * (self.gram_old[(i, k)] + self.gram_new[(i, k)]);
                let mut sum = own - dot(self.change.row(i), self.change.row(k));
                sum -= dot(&self.work.row(i)[..k], &self.work.row(k)[..k]);
                if k < i {
                    self.work[(i, k)] = sum / self.work[(k, k)];
                } else if sum > 0.0 {
                    self.work[(i, i)] = sum.sqrt();
                } else {
                    return false;
                }
            }
        }
        true
    }

    /// Is det(old newᵀ) < 0? By elimination with row pivoting.
    fn reversed(&mut self) -> bool {
        let m = self.work.rows();
        for i in 0..m {
            for k in 0..m {
                self.work[(i, k)] = dot(self.old.row(i), self.new.row(k));
            }
        }
        let mut reversed = false;
        for k in 0..m {
            let mut pivot = k;
            for i in k + 1..m {
                if self.work[(i, k)].abs() > self.work[(pivot, k)].abs() {
                    pivot = i;
                }
            }
            if pivot != k {
                self.work.swap_rows(k, pivot);
                reversed = !reversed;
            }
            let d = self.work[(k, k)];
            if d == 0.0 {
                return false;
            }
            reversed ^= d < 0.0;
            for i in k + 1..m {
                let (top, row) = self.work.row_pair(k, i);
                let l = row[k] / d;
                for (x, y) in row[k..].iter_mut().zip(&top[k..]) {
                    *x -= l * y;
                }
            }
        }
        reversed
    }
}

/// The next K of a pair, reduced where constraints are redundant.
fn push<'k>(pair: &mut Pair, independent: &mut Option<Independent>, rows: impl Iterator<Item = (f64, &'k [f64])>) {
    match independent {
        None => pair.push(rows),
        Some(independent) => {
            independent.reduce(rows);
            let reduced = &independent.reduced;
            pair.push((0..reduced.rows()).map(|i| (1.0, reduced.row(i))));
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Rows of K.
fn rows([_, GZ, HZ]: [&Matrix; 3]) -> impl Iterator<Item = (f64, &[f64])> {
    (0..GZ.rows()).map(|k| (1.0, GZ.row(k))).chain((0..HZ.rows()).map(|k| (1.0, HZ.row(k))))
}

/// Independent combinations U₁ᵀK of redundant constraints.
struct Independent {
    /// U₁ᵀ
    combinations: Matrix,
    K: Matrix,
    reduced: Matrix,
}

impl Independent {
    fn reduce<'k>(&mut self, rows: impl Iterator<Item = (f64, &'k [f64])>) {
        for (i, (scale, row)) in rows.enumerate() {
            self.K.row_mut(i).iter_mut().zip(row).for_each(|(k, x)| *k = scale * x);
        }
        self.reduced.fill(0.0);
        for i in 0..self.reduced.rows() {
            for k in 0..self.K.rows() {
                let factor = self.combinations[(i, k)];
                self.reduced.row_mut(i).iter_mut().zip(self.K.row(k)).for_each(|(sum, x)| *sum += factor * x);
            }
        }
    }
}

/// The last matrices [GZ; HZ] of a run.
///
/// Of redundant constraints those combinations are looked at that were independent where the run began. Where these combinations change along the
/// motion, the test fails more often; what decides are singular values of all of K.
pub struct Passage {
    steps: Pair,
    inside: Pair,
    /// rank of K where the run began, and how it is reduced if that is less than its rows
    rank: usize,
    ranks: RankRule,
    independent: Option<Independent>,
    known: bool,
    /// did det(KₒKₙᵀ) change its sign in the last step?
    reversed: bool,
    /// smallest singular value of K at the start, where it is looked at
    usual: f64,
    svd: Svd,
    x: Vec<f64>,
}

impl Passage {
    /// Room for a system.
    pub fn new(layout: &Layout, ranks: RankRule) -> Self {
        let (m, n) = (layout.row_h().end - layout.row_g1().start, layout.v().len());
        Passage {
            steps: Pair::new(m, n),
            inside: Pair::new(m, n),
            rank: m,
            ranks,
            independent: None,
            known: false,
            reversed: false,
            usual: 0.0,
            svd: Svd::new(m, n),
            x: vec![0.0; layout.dim()],
        }
    }

    /// Forget the last K.
    pub fn forget(&mut self) {
        self.known = false;
    }

    /// Begin with the rows of K, each with a factor: which of them are independent? The smallest singular value that counts.
    pub fn follow<'k>(&mut self, rows: impl Iterator<Item = (f64, &'k [f64])>) -> Option<f64> {
        let (m, n) = (self.svd.A.nrows(), self.svd.A.ncols());
        for (i, (scale, row)) in rows.enumerate() {
            row.iter().enumerate().for_each(|(j, k)| self.svd.A[(i, j)] = scale * k);
        }
        self.svd.factor().ok()?;
        self.rank = if m == 0 { 0 } else { self.svd.rank(self.ranks.or(AT_POINT) * self.svd.sigma(0)) };
        self.independent = (self.rank < m).then(|| {
            let mut combinations = Matrix::zeros(self.rank, m);
            for i in 0..self.rank {
                (0..m).for_each(|k| combinations[(i, k)] = self.svd.U[(k, i)]);
            }
            Independent { combinations, K: Matrix::zeros(m, n), reduced: Matrix::zeros(self.rank, n) }
        });
        if self.steps.new.rows() != self.rank {
            (self.steps, self.inside) = (Pair::new(self.rank, n), Pair::new(self.rank, n));
        }
        self.rank.checked_sub(1).map(|last| self.svd.sigma(last))
    }

    /// Remember the rows of K, each with a factor; has it changed so much that it may have lost rank since the last one?
    pub fn turned<'k>(&mut self, rows: impl Iterator<Item = (f64, &'k [f64])>) -> bool {
        let known = std::mem::replace(&mut self.known, true);
        push(&mut self.steps, &mut self.independent, rows);
        let turned = known && !self.steps.regular();
        self.reversed = turned && self.steps.reversed();
        turned
    }

    /// Remember K at a point; may it have lost rank since the last one? Not where K has no value.
    pub fn turned_at(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64]) -> bool {
        let Ok(matrices) = array.matrices(t, x) else { return false };
        self.turned(rows(matrices))
    }

    /// Begin at a point; false if there are no constraints, and nothing can be seen.
    pub fn begin(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64]) -> bool {
        self.forget();
        let smallest = array.matrices(t, x).ok().and_then(|matrices| self.follow(rows(matrices)));
        self.usual = smallest.unwrap_or(0.0);
        self.turned_at(array, t, x);
        smallest.is_some()
    }

    /// The smallest singular value of K at a point, relative to the start, if it is so small that no way leads on from there.
    pub fn lost(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64]) -> Option<f64> {
        self.x.copy_from_slice(x);
        let sigma = self.smallest(array, t)? / self.usual;
        (sigma < LOST).then_some(sigma)
    }

    /// Time and relative size of a vanishing singular value on a step, if there is one.
    pub fn singularity(&mut self, array: &mut dyn ReducedArray, segment: &Segment) -> Option<(f64, f64)> {
        if !self.reversed && self.regular_inside(array, segment)? {
            return None;
        }
        self.vanishing(array, segment)
    }

    /// The same where K is known, or feared, not to be regular.
    pub fn vanishing(&mut self, array: &mut dyn ReducedArray, segment: &Segment) -> Option<(f64, f64)> {
        let time = |k: f64| segment.t0 + (segment.t1 - segment.t0) * k / f64::from(SAMPLES);
        let ends = [segment.t0, segment.t1].map(|t| self.smallest_on(array, segment, t));
        let (begin, end) = (ends[0]?, ends[1]?);
        // where a motion comes close to a singularity in many small steps, their ends are close to it, too
        let ends = begin.min(end).max(self.usual);
        let mut best = (f64::INFINITY, 0.0);
        for k in 0..=SAMPLES {
            let sigma = self.smallest_on(array, segment, time(f64::from(k)))?;
            if sigma < best.0 {
                best = (sigma, f64::from(k));
            }
        }
        if best.0 > SUSPICIOUS * begin.max(end).max(self.usual) {
            return None;
        }
        // golden section around the smallest sample
        let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut low, mut high) = ((best.1 - 1.0).max(0.0), (best.1 + 1.0).min(f64::from(SAMPLES)));
        for _ in 0..40 {
            let (a, b) = (high - golden * (high - low), low + golden * (high - low));
            if self.smallest_on(array, segment, time(a))? < self.smallest_on(array, segment, time(b))? {
                high = b;
            } else {
                low = a;
            }
        }
        let t = time(0.5 * (low + high));
        let sigma = self.smallest_on(array, segment, t)? / ends;
        (sigma < SINGULAR).then_some((t, sigma))
    }

    /// Does K keep its rank on the pieces of a step? No answer where it has no value.
    fn regular_inside(&mut self, array: &mut dyn ReducedArray, segment: &Segment) -> Option<bool> {
        for pieces in PIECES {
            let mut regular = true;
            for k in 0..=pieces {
                let t = segment.t0 + (segment.t1 - segment.t0) * f64::from(k) / f64::from(pieces);
                segment.eval(t, &mut self.x);
                push(&mut self.inside, &mut self.independent, rows(array.matrices(t, &self.x).ok()?));
                regular = k == 0 || self.inside.regular();
                if !regular {
                    break;
                }
            }
            if regular {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Smallest singular value of K at a time of a step.
    fn smallest_on(&mut self, array: &mut dyn ReducedArray, segment: &Segment, t: f64) -> Option<f64> {
        segment.eval(t, &mut self.x);
        self.smallest(array, t)
    }

    /// Smallest singular value of K at the point in `self.x`.
    fn smallest(&mut self, array: &mut dyn ReducedArray, t: f64) -> Option<f64> {
        let matrices = array.matrices(t, &self.x).ok()?;
        for (i, (_, row)) in rows(matrices).enumerate() {
            row.iter().enumerate().for_each(|(j, k)| self.svd.A[(i, j)] = *k);
        }
        self.svd.factor().ok()?;
        self.rank.checked_sub(1).map(|last| self.svd.sigma(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Are both found regular on the way from one matrix to the other, and is the determinant reversed?
    fn step(from: &[&[f64]], to: &[&[f64]]) -> (bool, bool) {
        let mut pair = Pair::new(from.len(), from[0].len());
        pair.push(from.iter().map(|row| (1.0, *row)));
        pair.push(to.iter().map(|row| (1.0, *row)));
        (pair.regular(), pair.reversed())
    }

    #[test]
    fn a_rank_that_drops_by_two_is_seen_though_the_determinant_keeps_its_sign() {
        let (from, to): ([&[f64]; 2], [&[f64]; 2]) =
            ([&[0.1, 1.0, 0.0], &[0.0, 0.1, 1.0]], [&[0.1, -1.0, 0.0], &[0.0, 0.1, -1.0]]);
        assert_eq!(step(&from, &to), (false, false));
        assert_eq!(step(&from[..1], &to[..1]), (false, true));
        assert_eq!(step(&from, &from), (true, false));
    }

    #[test]
    fn the_test_depends_neither_on_scales_nor_on_combinations_of_constraints() {
        for angle in [0.3_f64, 0.9, 1.2, 2.0] {
            let (s, c) = angle.sin_cos();
            let plain = step(&[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0]], &[&[c, 0.0, s], &[0.0, 1.0, 0.0]]);
            // the second row times 1e-6, and added to the first
            let mixed = step(&[&[1.0, 1.0, 0.0], &[0.0, 1e-6, 0.0]], &[&[c, 1.0, s], &[0.0, 1e-6, 0.0]]);
            assert_eq!(plain, mixed, "{angle}");
            assert_eq!(plain.0, angle < 1.04, "{angle}");
        }
    }
}
