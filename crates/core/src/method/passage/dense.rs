//! Singular configurations between two points, by all entries of K = [GZ; HZ].
//!
//! K is followed along the polynomial of every step by the [watch](RankWatch) over ranks, whatever the number by which its rank
//! drops. Of redundant constraints the combinations U₁ᵀK are followed that were independent where the run began; where these
//! combinations change along the motion they may lose rank alone, so that singular values of all of K have the last word.

use crate::linalg::rank::{AT_POINT, LOST, PASSED_BY, RankWatch, Rows, Scales, Scaling};
use crate::linalg::{JacobianRef, Matrix, RankRule, Svd};
use crate::motion::{Layout, ReducedArray};
use crate::segment::Segment;

/// K along a run, with all entries.
pub struct DensePassage {
    watch: RankWatch,
    ranks: RankRule,
    /// of the rows of K, from where the run began
    scales: Vec<f64>,
    /// rank of K there, and U₁ᵀ if that is less than its rows
    rank: usize,
    combinations: Option<Matrix>,
    /// smallest singular value of K at the start
    usual: f64,
    svd: Svd,
    /// the matrix at hand, with all entries
    K: Matrix,
    x: Vec<f64>,
}

impl DensePassage {
    /// Room for a system.
    pub fn new(layout: &Layout, ranks: RankRule) -> Self {
        let (m, n) = (layout.row_h().end - layout.row_g1().start, layout.v().len());
        DensePassage {
            watch: RankWatch::roughly(m, n, Rows::Fixed),
            ranks,
            scales: vec![1.0; m],
            rank: m,
            combinations: None,
            usual: 0.0,
            svd: Svd::new(m, n),
            K: Matrix::zeros(m, n),
            x: vec![0.0; layout.dim()],
        }
    }

    /// Forget the last K.
    pub fn forget(&mut self) {
        self.watch.forget();
    }

    /// Begin with the rows of K: which of them are independent? False if there are none, and nothing can be seen.
    pub fn follow<'k>(&mut self, rows: impl Iterator<Item = &'k [f64]>) -> bool {
        let (m, n) = (self.svd.A.nrows(), self.svd.A.ncols());
        let rows: Vec<&[f64]> = rows.collect();
        self.scales = Scales::of_entries((m, n), |i, j| rows[i][j], Scaling::Rows).rows;
        fill(&mut self.svd, &self.scales, rows.into_iter());
        self.usual = 0.0;
        if self.svd.factor().is_err() {
            return false;
        }
        self.rank = self.svd.rank(self.ranks.or(AT_POINT) * self.svd.sigma(0));
        self.combinations = (self.rank < m).then(|| {
            let mut combinations = Matrix::zeros(self.rank, m);
            for i in 0..self.rank {
                (0..m).for_each(|k| combinations[(i, k)] = self.svd.U[(k, i)] * self.scales[k]);
            }
            combinations
        });
        self.watch = RankWatch::roughly(self.rank, n, Rows::Fixed);
        self.usual = self.rank.checked_sub(1).map_or(0.0, |last| self.svd.sigma(last));
        self.rank > 0
    }

    /// Begin at a point; false if there are no constraints, and nothing can be seen.
    pub fn begin(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64]) -> bool {
        let known = array.matrices(t, x).map(|matrices| know(&mut self.K, matrices)).is_ok();
        let follows = known && self.follow(rows(&self.K.clone()));
        if self.put_at(array, t, x) {
            self.first();
        }
        follows
    }

    /// The K that was written down is a first one.
    pub fn first(&mut self) {
        self.forget();
        self.watch.step(|_, _| false);
    }

    /// Write down the rows of the next K.
    pub fn put<'k>(&mut self, rows: impl Iterator<Item = &'k [f64]>) {
        reduce(rows, self.combinations.as_ref(), self.watch.next_matrix());
    }

    /// The same from the rows of −K.
    pub fn put_negative<'k>(&mut self, rows: impl Iterator<Item = &'k [f64]>) {
        self.put(rows);
        self.watch.next_matrix().data_mut().iter_mut().for_each(|w| *w = -*w);
    }

    /// The same of a point; false where K has no value.
    pub fn put_at(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64]) -> bool {
        let Ok(matrices) = array.matrices(t, x) else { return false };
        know(&mut self.K, matrices);
        reduce(rows(&self.K), self.combinations.as_ref(), self.watch.next_matrix());
        true
    }

    /// Go on to the K that was written down, at the end of a step. Time and relative size of a vanishing singular value on it, if there is one.
    pub fn singularity(&mut self, array: &mut dyn ReducedArray, segment: &Segment) -> Option<(f64, f64)> {
        let time = |s: f64| segment.t0 + s * (segment.t1 - segment.t0);
        let (x, K, combinations) = (&mut self.x, &mut self.K, self.combinations.as_ref());
        let lost = self.watch.step(|s, W| {
            segment.eval(time(s), x);
            let Ok(matrices) = array.matrices(time(s), x) else { return false };
            know(K, matrices);
            reduce(rows(K), combinations, W);
            true
        });
        let t = time(lost?);
        let [begin, end, there] = [segment.t0, segment.t1, t].map(|t| {
            segment.eval(t, &mut self.x);
            self.smallest(array, t)
        });
        // where a motion comes close to a singularity in many small steps, their ends are close to it, too
        let sigma = there? / begin?.min(end?).max(self.usual);
        (self.combinations.is_none() || sigma < PASSED_BY).then_some((t, sigma))
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
        self.x.copy_from_slice(x);
        let sigma = self.smallest(array, t)? / self.usual;
        (sigma < LOST).then_some(sigma)
    }

    /// Smallest singular value of K at the point in `self.x`.
    fn smallest(&mut self, array: &mut dyn ReducedArray, t: f64) -> Option<f64> {
        know(&mut self.K, array.matrices(t, &self.x).ok()?);
        fill(&mut self.svd, &self.scales, rows(&self.K));
        self.svd.factor().ok()?;
        self.rank.checked_sub(1).map(|last| self.svd.sigma(last))
    }
}

/// K = [GZ; HZ], with all entries.
fn know(K: &mut Matrix, [_, GZ, HZ]: [JacobianRef; 3]) {
    GZ.copy_to(K, 0);
    HZ.copy_to(K, GZ.rows());
}

/// Rows of K.
fn rows(K: &Matrix) -> impl Iterator<Item = &[f64]> {
    (0..K.rows()).map(|k| K.row(k))
}

fn fill<'k>(svd: &mut Svd, scales: &[f64], rows: impl Iterator<Item = &'k [f64]>) {
    for (i, row) in rows.enumerate() {
        row.iter().enumerate().for_each(|(j, k)| svd.A[(i, j)] = scales[i] * k);
    }
}

/// W ← K, or U₁ᵀK.
fn reduce<'k>(rows: impl Iterator<Item = &'k [f64]>, combinations: Option<&Matrix>, W: &mut Matrix) {
    let Some(combinations) = combinations else {
        rows.enumerate().for_each(|(i, row)| W.row_mut(i).copy_from_slice(row));
        return;
    };
    W.fill(0.0);
    for (k, row) in rows.enumerate() {
        for i in 0..W.rows() {
            let factor = combinations[(i, k)];
            W.row_mut(i).iter_mut().zip(row).for_each(|(w, x)| *w += factor * x);
        }
    }
}
