//! Singular configurations between two points: no step may pass one silently.
//!
//! Where the constraints lose rank on the way, as at a branching point of a mechanism, the matrix K = [GZ; HZ] comes out turned:
//! det(K(old) K(new)ᵀ) < 0. The sign also changes if the constraint normals turn by more than 90° in one step, so the step is looked at
//! again: only if the smallest singular value of K really falls towards zero on its polynomial is there a singularity.

use crate::linalg::{Matrix, Svd};
use crate::motion::{Layout, ReducedArray};
use crate::segment::Segment;

/// The last matrix [GZ; HZ].
pub struct Passage {
    old: Matrix,
    new: Matrix,
    product: Matrix,
    known: bool,
    /// smallest singular value of K at the start, where it is looked at
    usual: f64,
    svd: Svd,
    x: Vec<f64>,
}

/// Singular values of K below this part of the largest count as zero.
const RANK_TOLERANCE: f64 = 1e-10;
/// Points of a step at which singular values are taken.
const SAMPLES: u32 = 24;
/// Only where a sample is smaller than this, relative to the same, is it looked at more closely.
const SUSPICIOUS: f64 = 0.3;
/// Singular values smaller than this, relative to those at the ends of the step or at the start, mean a singularity.
const SINGULAR: f64 = 0.02;

impl Passage {
    /// Room for a system.
    pub fn new(layout: &Layout) -> Self {
        let (m, n) = (layout.row_h().end - layout.row_g1().start, layout.v().len());
        Passage {
            old: Matrix::zeros(m, n),
            new: Matrix::zeros(m, n),
            product: Matrix::zeros(m, m),
            known: false,
            usual: 0.0,
            svd: Svd::new(m, n),
            x: vec![0.0; layout.dim()],
        }
    }

    /// Forget the last K.
    pub fn forget(&mut self) {
        self.known = false;
    }

    /// Remember the rows of K, each with a factor.
    pub fn follow<'k>(&mut self, rows: impl Iterator<Item = (f64, &'k [f64])>) {
        std::mem::swap(&mut self.old, &mut self.new);
        for (i, (scale, row)) in rows.enumerate() {
            for (new, x) in self.new.row_mut(i).iter_mut().zip(row) {
                *new = scale * x;
            }
        }
    }

    /// Remember the rows of K, each with a factor; is it turned against the last one?
    pub fn turned<'k>(&mut self, rows: impl Iterator<Item = (f64, &'k [f64])>) -> bool {
        let known = std::mem::replace(&mut self.known, true);
        self.follow(rows);
        known && self.determinant() < 0.0
    }

    /// det(old newᵀ), by elimination with row pivoting.
    fn determinant(&mut self) -> f64 {
        let m = self.product.rows();
        for i in 0..m {
            for k in 0..m {
                self.product[(i, k)] = self.old.row(i).iter().zip(self.new.row(k)).map(|(a, b)| a * b).sum();
            }
        }
        let mut determinant = 1.0;
        for k in 0..m {
            let mut pivot = k;
            for i in k + 1..m {
                if self.product[(i, k)].abs() > self.product[(pivot, k)].abs() {
                    pivot = i;
                }
            }
            if pivot != k {
                self.product.swap_rows(k, pivot);
                determinant = -determinant;
            }
            let d = self.product[(k, k)];
            determinant *= d;
            if d == 0.0 {
                return 0.0;
            }
            for i in k + 1..m {
                let (top, row) = self.product.row_pair(k, i);
                let l = row[k] / d;
                for (x, y) in row[k..].iter_mut().zip(&top[k..]) {
                    *x -= l * y;
                }
            }
        }
        determinant
    }

    /// Remember K at a point; is it turned against the last one? Not where K has no value.
    pub fn turned_at(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64]) -> bool {
        let Ok([_, GZ, HZ]) = array.matrices(t, x) else { return false };
        self.turned((0..GZ.rows()).map(|k| (1.0, GZ.row(k))).chain((0..HZ.rows()).map(|k| (1.0, HZ.row(k)))))
    }

    /// Begin at a point; false if the constraints are not independent there, and nothing can be seen.
    pub fn begin(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64]) -> bool {
        self.forget();
        self.turned_at(array, t, x);
        let K = &self.new;
        for i in 0..K.rows() {
            K.row(i).iter().enumerate().for_each(|(j, k)| self.svd.A[(i, j)] = *k);
        }
        if self.svd.factor().is_err() || K.rows() == 0 {
            return false;
        }
        self.usual = self.svd.sigma(K.rows() - 1);
        self.usual > RANK_TOLERANCE * self.svd.sigma(0)
    }

    /// Time and relative size of a vanishing singular value on a step, if there is one.
    pub fn singularity(&mut self, array: &mut dyn ReducedArray, segment: &Segment) -> Option<(f64, f64)> {
        let time = |k: f64| segment.t0 + (segment.t1 - segment.t0) * k / f64::from(SAMPLES);
        let ends = [segment.t0, segment.t1].map(|t| self.smallest(array, segment, t));
        let (begin, end) = (ends[0]?, ends[1]?);
        // where a motion comes close to a singularity in many small steps, their ends are close to it, too
        let ends = begin.min(end).max(self.usual);
        let mut best = (f64::INFINITY, 0.0);
        for k in 0..=SAMPLES {
            let sigma = self.smallest(array, segment, time(f64::from(k)))?;
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
            if self.smallest(array, segment, time(a))? < self.smallest(array, segment, time(b))? {
                high = b;
            } else {
                low = a;
            }
        }
        let t = time(0.5 * (low + high));
        let sigma = self.smallest(array, segment, t)? / ends;
        (sigma < SINGULAR).then_some((t, sigma))
    }

    /// Smallest singular value of K at a time of a step.
    fn smallest(&mut self, array: &mut dyn ReducedArray, segment: &Segment, t: f64) -> Option<f64> {
        segment.eval(t, &mut self.x);
        let [_, GZ, HZ] = array.matrices(t, &self.x).ok()?;
        let rows = (0..GZ.rows()).map(|k| GZ.row(k)).chain((0..HZ.rows()).map(|k| HZ.row(k)));
        for (i, row) in rows.enumerate() {
            row.iter().enumerate().for_each(|(j, k)| self.svd.A[(i, j)] = *k);
        }
        self.svd.factor().ok()?;
        Some(self.svd.sigma(self.product.rows().saturating_sub(1)))
    }
}
