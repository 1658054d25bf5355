//! Singular configurations between two points, by the smallest singular vector of a sparse K = [GZ; HZ] with rows of size one.
//!
//! One inverse iteration to an accepted step gives the vector y of the smallest singular value σ at its end. On the straight line from W_old to
//! W_new all of yᵀW Wᵀy stays positive where yᵀW_old W_newᵀy > 0; otherwise the polynomial of the step is walked in pieces that pass,
//! and the smallest singular value decides as it does for dense matrices: at a piece that cannot be made short enough, or where σ
//! falls below [`PASSED_BY`] of both ends. A configuration that is singular in another direction than y, beside a much smaller σ of the whole
//! mechanism, is not seen by this; steps fail there.

use crate::linalg::rank::{AT_POINT, LOST, PASSED_BY, VANISHING, scale_of};
use crate::linalg::{Augmented, Jacobian, RankRule, SparseMatrix};
use crate::motion::{Layout, ReducedArray};
use crate::segment::Segment;

/// Iterations for σ where nothing is known of its vector, and at points of a walk.
const FROM_NOTHING: usize = 20;
const ON_A_WALK: usize = 4;
/// α of the system that decides a rank, so that singular values of 1e-11 are seen.
const WEIGHT: f64 = 1e-6;
/// Shortest piece of a step that is looked at, and most matrices in one step.
const SHORTEST: f64 = 1.0 / 65_536.0;
const MOST_LOOKS: usize = 200;
/// Only where σ falls to this part of both ends is a dip of it looked at more closely, by so many steps of the golden section.
const SUSPICIOUS: f64 = 0.3;
const CLOSER: usize = 40;

/// Is the rank of a sparse matrix its number of rows?
pub(crate) struct SparseRank {
    /// scales of the rows
    scales: Vec<f64>,
    /// the smallest singular value, rows having size one; nothing where a decomposition fails
    smallest: Option<f64>,
    /// singular values below this do not count
    threshold: f64,
}

impl SparseRank {
    /// Of a matrix.
    pub fn of(K: &SparseMatrix, ranks: RankRule) -> Self {
        Self::without(K, &[], ranks)
    }

    /// Of a matrix without some rows; none, where the list is empty.
    pub fn without(K: &SparseMatrix, left_out: &[bool], ranks: RankRule) -> Self {
        let mut augmented = Augmented::with_rows_left_out(K, WEIGHT, left_out);
        let K = &mut K.clone();
        let scales = scales_of(K);
        multiply(K, &scales);
        let smallest = augmented.factor(K).ok().map(|()| augmented.smallest(FROM_NOTHING));
        SparseRank { scales, smallest, threshold: ranks.or(AT_POINT) * bound(K) }
    }

    /// Is it?
    pub fn is_full(&self) -> bool {
        self.scales.is_empty() || self.smallest.is_some_and(|smallest| smallest > self.threshold)
    }
}

/// Scales that make rows of size one.
fn scales_of(K: &SparseMatrix) -> Vec<f64> {
    let sizes: Vec<f64> = (0..K.rows()).map(|i| largest(K.row(i).1)).collect();
    let top = largest(&sizes);
    sizes.iter().map(|&size| if size > VANISHING * top { scale_of(size) } else { 1.0 }).collect()
}

/// ‖K‖ ≤ (‖K‖₁ ‖K‖_∞)^½.
fn bound(K: &SparseMatrix) -> f64 {
    let mut columns = vec![0.0; K.cols()];
    K.places().zip(K.values()).for_each(|((_, j), k)| columns[j] += k.abs());
    let rows = (0..K.rows()).map(|i| K.row(i).1.iter().map(|k| k.abs()).sum::<f64>()).fold(0.0, f64::max);
    (rows * largest(&columns)).sqrt()
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()))
}

/// Rows times their scales.
fn multiply(K: &mut SparseMatrix, scales: &[f64]) {
    for (i, scale) in scales.iter().enumerate() {
        K.row_mut(i).iter_mut().for_each(|k| *k *= scale);
    }
}

/// K along a run, with the entries of a pattern.
pub struct SparsePassage {
    augmented: Augmented,
    ranks: RankRule,
    /// of the rows of K, from where the run began
    scales: Vec<f64>,
    /// W = (scales) K at the last point, at the next, and at points between them
    last: Look,
    next: Look,
    between: [Look; 2],
    /// is there a last point?
    known: bool,
    /// smallest singular value at the start
    usual: f64,
    x: Vec<f64>,
    /// Wᵀy of two matrices
    rows: [Vec<f64>; 2],
}

/// A matrix with its smallest singular value and left vector.
#[derive(Clone)]
struct Look {
    W: Jacobian,
    y: Vec<f64>,
    sigma: f64,
}

impl Look {
    fn take(&mut self, other: &Self) {
        self.W.copy_from(&other.W);
        self.y.copy_from_slice(&other.y);
        self.sigma = other.sigma;
    }

    fn matrix(&self) -> &SparseMatrix {
        match &self.W {
            Jacobian::Sparse(W) => W,
            Jacobian::Dense(_) => unreachable!("it is sparse"),
        }
    }

    fn matrix_mut(&mut self) -> &mut SparseMatrix {
        match &mut self.W {
            Jacobian::Sparse(W) => W,
            Jacobian::Dense(_) => unreachable!("it is sparse"),
        }
    }
}

impl SparsePassage {
    /// Room for matrices of the pattern of K.
    pub fn new(K: SparseMatrix, layout: &Layout, ranks: RankRule) -> Self {
        let (m, n) = (K.rows(), K.cols());
        let look = Look { y: vec![0.0; m], sigma: 0.0, W: Jacobian::Sparse(K) };
        SparsePassage {
            augmented: Augmented::new(look.matrix()),
            ranks,
            scales: vec![1.0; m],
            last: look.clone(),
            next: look.clone(),
            between: [look.clone(), look],
            known: false,
            usual: 0.0,
            x: vec![0.0; layout.dim()],
            rows: [vec![0.0; n], vec![0.0; n]],
        }
    }

    /// How ranks are decided.
    pub fn ranks(&self) -> RankRule {
        self.ranks
    }

    /// Forget the last K.
    pub fn forget(&mut self) {
        self.known = false;
    }

    /// Begin at a point; false if the constraints are not independent there, or there are none.
    pub fn begin(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64]) -> bool {
        self.known = false;
        self.scales.fill(1.0);
        if self.scales.is_empty() || !know(&mut self.last, &self.scales, array, t, x) {
            return false;
        }
        let found = SparseRank::of(self.last.matrix(), self.ranks);
        if !found.is_full() {
            return false;
        }
        self.scales = found.scales;
        multiply(self.last.matrix_mut(), &self.scales);
        self.augmented.forget();
        self.known = measure(&mut self.augmented, &mut self.last, FROM_NOTHING);
        self.usual = self.last.sigma;
        self.known
    }

    /// The same without rows that depend on the others.
    pub fn begin_without(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64], left_out: &[bool]) -> bool {
        self.known = false;
        self.scales.fill(1.0);
        if !know(&mut self.last, &self.scales, array, t, x) {
            return false;
        }
        self.scales = scales_of(self.last.matrix());
        multiply(self.last.matrix_mut(), &self.scales);
        self.augmented = Augmented::with_rows_left_out(self.last.matrix(), 1.0, left_out);
        self.known = measure(&mut self.augmented, &mut self.last, FROM_NOTHING);
        self.usual = self.last.sigma;
        self.known
    }

    /// Go on without other rows than before. The smallest singular value of those that stay, at the last point.
    pub fn leave_out(&mut self, rows: &[bool]) -> f64 {
        let before = self.last.sigma;
        self.augmented.leave_out(rows);
        self.known = measure(&mut self.augmented, &mut self.last, FROM_NOTHING);
        let sigma = if self.known { self.last.sigma } else { 0.0 };
        if before > 0.0 {
            // what is usual for these rows
            self.usual *= sigma / before;
        }
        sigma
    }

    /// The smallest singular value at the last point.
    pub fn smallest(&self) -> Option<f64> {
        self.known.then_some(self.last.sigma)
    }

    /// Write down the next K.
    pub fn put(&mut self, write: impl FnOnce(&mut Jacobian)) {
        write(&mut self.next.W);
        multiply(self.next.matrix_mut(), &self.scales);
    }

    /// The same of a point; false where K has no value.
    pub fn put_at(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64]) -> bool {
        know(&mut self.next, &self.scales, array, t, x)
    }

    /// Let K at a point be the last one.
    pub fn stand(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64]) {
        self.known = self.put_at(array, t, x) && measure(&mut self.augmented, &mut self.next, FROM_NOTHING);
        std::mem::swap(&mut self.last, &mut self.next);
    }

    /// Go on to the K that was written down, at the end of a step. Time and relative size of a vanishing singular value on it, if there is one.
    pub fn singularity(&mut self, array: &mut dyn ReducedArray, segment: &Segment) -> Option<(f64, f64)> {
        if self.scales.is_empty() {
            return None;
        }
        let seen = measure(&mut self.augmented, &mut self.next, 1);
        let known = std::mem::replace(&mut self.known, true);
        let lost = if !seen {
            // no decomposition: the end of the step itself is singular
            Some((1.0, 0.0))
        } else if known && !(passes(&self.last, &self.next, &mut self.rows) && self.next.sigma > LOST * self.usual) {
            self.walk(array, segment)
        } else {
            None
        };
        let ends = self.last.sigma.min(self.next.sigma).max(self.usual);
        std::mem::swap(&mut self.last, &mut self.next);
        lost.map(|(s, sigma)| (segment.t0 + s * (segment.t1 - segment.t0), sigma / ends))
    }

    /// Walk the way from the last K to the next in pieces that pass. The part of the way at which rank is lost, and σ there.
    fn walk(&mut self, array: &mut dyn ReducedArray, segment: &Segment) -> Option<(f64, f64)> {
        let time = |s: f64| segment.t0 + s * (segment.t1 - segment.t0);
        let SparsePassage { augmented, scales, last, next, between: [here, between], x, rows, .. } = self;
        let mut look = |s: f64, look: &mut Look| {
            segment.eval(time(s), x);
            know(look, scales, array, time(s), x) && measure(augmented, look, ON_A_WALK)
        };
        // what was written down may be an estimate, and one iteration is one
        for (s, end) in [(0.0, &mut *last), (1.0, &mut *next)] {
            if !look(s, end) {
                return None;
            }
        }
        let usual = last.sigma.min(next.sigma);
        here.take(last);
        let (mut s, mut piece) = (0.0, 0.5);
        // the lowest σ, where, and the points that were looked at before and behind it
        let (mut lowest, mut at, mut around) = (f64::INFINITY, 0.0, (0.0, 1.0));
        for _ in 0..MOST_LOOKS {
            let end = if s + piece >= 1.0 { 1.0 } else { s + piece };
            if end == 1.0 {
                between.take(next);
            } else if !look(end, between) {
                return Some((end, 0.0));
            }
            if !passes(here, between, rows) {
                if end - s > SHORTEST {
                    piece = 0.5 * (end - s);
                    continue;
                }
                return Some((0.5 * (s + end), here.sigma.min(between.sigma)));
            }
            if end == 1.0 {
                break;
            }
            if at == s {
                around.1 = end;
            }
            if between.sigma < lowest {
                (lowest, at, around) = (between.sigma, end, (s, 1.0));
            }
            std::mem::swap(here, between);
            (s, piece) = (end, 2.0 * piece);
        }
        if lowest > SUSPICIOUS * usual {
            return None;
        }
        // the way is known to a tolerance only, and misses a loss of rank by as much
        let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut low, mut high) = around;
        for _ in 0..CLOSER {
            let places = [high - golden * (high - low), low + golden * (high - low)];
            let found = places.map(|s| if look(s, between) { between.sigma } else { f64::INFINITY });
            for (s, sigma) in places.into_iter().zip(found) {
                if sigma < lowest {
                    (lowest, at) = (sigma, s);
                }
            }
            if found[0] < found[1] { high = places[1] } else { low = places[0] }
        }
        (lowest <= PASSED_BY * usual).then_some((at, lowest))
    }

    /// The same of a way from the point at hand that was not taken.
    pub fn ahead(&mut self, array: &mut dyn ReducedArray, way: &Segment) -> Option<(f64, f64)> {
        let mut x = vec![0.0; self.x.len()];
        way.eval(way.t1, &mut x);
        let passed = if self.put_at(array, way.t1, &x) { self.singularity(array, way) } else { None };
        passed.or_else(|| Some((way.t1, self.lost(array, way.t1, &x)?)))
    }

    /// The smallest singular value of K at a point, relative to the start, if it is so small that no way leads on from there.
    pub fn lost(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64]) -> Option<f64> {
        let there = &mut self.between[0];
        if self.scales.is_empty() || !know(there, &self.scales, array, t, x) {
            return None;
        }
        let seen = measure(&mut self.augmented, there, FROM_NOTHING);
        let sigma = if seen { there.sigma / self.usual } else { 0.0 };
        (sigma < LOST).then_some(sigma)
    }
}

/// W at a point; false where it has no value.
fn know(look: &mut Look, scales: &[f64], array: &mut dyn ReducedArray, t: f64, x: &[f64]) -> bool {
    let Ok([_, GZ, HZ]) = array.matrices(t, x) else { return false };
    look.W.take_rows(&GZ, 0);
    look.W.take_rows(&HZ, GZ.rows());
    multiply(look.matrix_mut(), scales);
    true
}

/// σ and y of W; false if it is singular.
fn measure(augmented: &mut Augmented, look: &mut Look, iterations: usize) -> bool {
    if augmented.factor(look.matrix()).is_err() {
        return false;
    }
    look.sigma = augmented.smallest(iterations);
    look.y.copy_from_slice(augmented.vector());
    true
}

/// yᵀA Bᵀy > 0 for the smallest singular vectors y of both?
fn passes(A: &Look, B: &Look, rows: &mut [Vec<f64>; 2]) -> bool {
    [&A.y, &B.y].into_iter().all(|y| {
        for (row, look) in rows.iter_mut().zip([A, B]) {
            row.fill(0.0);
            look.matrix().add_transposed_times(y, row);
        }
        rows[0].iter().zip(&rows[1]).map(|(a, b)| a * b).sum::<f64>() > 0.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows, and a third that differs from a combination of them by so much.
    fn rows(unit: f64, besides: f64) -> SparseMatrix {
        let mut K = SparseMatrix::new(3, 4, (0..3).flat_map(|i| (0..4).map(move |j| (i, j))).collect());
        let [a, b] = [[0.3, 1.0, -0.7, 0.1], [1.1, 0.2, 0.4, -0.9]];
        K.row_mut(0).copy_from_slice(&a.map(|a| unit * a));
        K.row_mut(1).copy_from_slice(&b);
        K.row_mut(2).iter_mut().enumerate().for_each(|(j, k)| *k = 1.7 * a[j] + b[j] / 3.0);
        K.row_mut(2)[3] += besides;
        K
    }

    #[test]
    fn ranks_do_not_depend_on_units_and_dependence_is_seen_down_to_rounding() {
        let usual = RankRule::default();
        for unit in [1.0, 1e-6, 1e6] {
            assert!(SparseRank::of(&rows(unit, 0.5), usual).is_full());
            assert!(SparseRank::of(&rows(unit, 1e-8), usual).is_full());
            assert!(!SparseRank::of(&rows(unit, 1e-12), usual).is_full());
            assert!(!SparseRank::of(&rows(unit, 0.0), usual).is_full());
        }
        assert!(!SparseRank::of(&rows(1.0, 1e-8), RankRule::of(Some(1e-6))).is_full());
        assert!(SparseRank::of(&SparseMatrix::new(0, 3, Vec::new()), usual).is_full());
    }

    #[test]
    fn a_direction_that_turns_round_does_not_pass() {
        let look = |k: f64| {
            let mut W = SparseMatrix::new(2, 2, vec![(0, 0), (1, 1)]);
            W.values_mut().copy_from_slice(&[1.0, k]);
            let mut look = Look { W: Jacobian::Sparse(W), y: vec![0.0; 2], sigma: 0.0 };
            let mut augmented = Augmented::new(look.matrix());
            assert!(measure(&mut augmented, &mut look, FROM_NOTHING));
            assert!((look.sigma - k.abs()).abs() < 1e-6, "{}", look.sigma);
            look
        };
        let mut rows = [vec![0.0; 2], vec![0.0; 2]];
        assert!(passes(&look(0.2), &look(0.05), &mut rows));
        assert!(!passes(&look(0.2), &look(-0.1), &mut rows));
    }
}
