//! Does a matrix that must keep its rank lose it between two points?
//!
//! With a right inverse Y of W_old, every matrix on the line from W_old to W_new has full rank where ‖(W_new − W_old) Y‖ < 1 in some norm. That is
//! one elimination for some steps, it does not depend on units, and a loss of rank by an even number, which leaves the signs of
//! determinants as they were, does not pass it. All matrices of a ball around W_old have full rank: steps between points of it need not
//! be looked at. Where the norm is too large the way is walked in pieces that pass. Pieces next to a loss of rank become
//! shorter and shorter: there the smallest singular value decides, and the place is known.

use super::{LOST, PASSED_BY, Scales, Scaling};
use crate::linalg::{Lu, Matrix, Svd, all_finite};

/// Below this norm a piece has passed. Derived: less than one, with room for a way between two points that is not quite a line.
const PASSED: f64 = 0.8;
/// Below this norm a matrix is so near to one whose inverse is at hand that no other is needed. Derived: less than the norm above, for the same
/// reason.
const NEAR: f64 = 0.5;
/// Shortest piece of a step that is looked at.
const SHORTEST: f64 = 1.0 / 65_536.0;
/// Most matrices that are looked at in one step.
const MOST_LOOKS: usize = 400;
/// Only where a singular value falls to this part of both ends is a dip of it looked at more closely.
const SUSPICIOUS: f64 = 0.3;
/// Steps of the golden section around a dip.
const CLOSER: usize = 40;
/// Columns whose entries are smaller parts of the largest ones of their rows are rounding.
const NEGLIGIBLE: f64 = 1e-10;
/// Sweeps of balancing, by Osborne's rule, before a norm is believed to be large.
const SWEEPS: usize = 4;
/// What the rows of a matrix are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Functions along the way.
    Fixed,
    /// Any bases of two spaces, the first one of this dimension.
    Bases(usize),
}

/// The matrix at the last point, and room for the next.
#[derive(Debug)]
pub struct RankWatch {
    rows: Rows,
    /// a matrix near the last one, or that itself
    old: Reference,
    last: Matrix,
    new: Matrix,
    /// units of the columns, for bases
    units: Option<Vec<f64>>,
    /// is the way known to a tolerance only, so that it may miss a loss of rank by as much?
    roughly: bool,
    walk: Walk,
}

/// Room for a walk in pieces.
#[derive(Debug)]
struct Walk {
    here: Reference,
    there: Matrix,
    measure: Measure,
}

/// A matrix with a right inverse.
#[derive(Debug)]
struct Reference {
    W: Matrix,
    /// columns that make a regular part B, all of them where W is square: Y is its inverse, with zeros elsewhere
    columns: Vec<usize>,
    /// Bᵀ, and B⁻¹
    lu: Lu<f64>,
    inverse: Matrix,
    /// for the choice of columns
    eliminated: Matrix,
    taken: Vec<bool>,
    regular: bool,
    product: Matrix,
    blocks: [Lu<f64>; 2],
    column: Vec<f64>,
}

impl RankWatch {
    /// For matrices with r rows and n ≥ r columns.
    pub fn new(r: usize, n: usize, rows: Rows) -> Self {
        let walk = Walk { here: Reference::new(r, n, rows), there: Matrix::zeros(r, n), measure: Measure::new(r, n) };
        let (last, new) = (Matrix::zeros(r, n), Matrix::zeros(r, n));
        RankWatch { rows, old: Reference::new(r, n, rows), last, new, units: None, roughly: false, walk }
    }

    /// The same along ways that are known to a tolerance only: a singular value that falls and rises again is a loss, too.
    pub fn roughly(r: usize, n: usize, rows: Rows) -> Self {
        RankWatch { roughly: true, ..Self::new(r, n, rows) }
    }

    /// The next matrix is a first one.
    pub fn forget(&mut self) {
        self.old.regular = false;
    }

    /// Where the matrix of the next point is written, before [`RankWatch::step`].
    pub fn next_matrix(&mut self) -> &mut Matrix {
        &mut self.new
    }

    /// Take the next matrix for the last one: the same spaces at the last point, with other bases.
    pub fn begin_again(&mut self) {
        self.make_neat();
        self.old.take(&self.new);
        std::mem::swap(&mut self.last, &mut self.new);
    }

    fn make_neat(&mut self) {
        if self.rows != Rows::Fixed {
            let new = &self.new;
            let units = self.units.get_or_insert_with(|| columns_of(new));
            neat(&mut self.new, units, self.rows);
        }
    }

    /// Go on to the next point. `at` gives the matrix at a part s of the way, 0 < s ≤ 1, and tells whether it has a value.
    /// The part of the way at which rank is lost, if it is.
    pub fn step(&mut self, mut at: impl FnMut(f64, &mut Matrix) -> bool) -> Option<f64> {
        self.make_neat();
        let mut distance = if self.old.regular { self.old.distance(&self.new, self.rows) } else { 0.0 };
        if self.rows == Rows::Fixed && self.old.regular {
            // a ball is convex
            if distance < NEAR {
                std::mem::swap(&mut self.last, &mut self.new);
                return None;
            }
            if self.old.W != self.last {
                self.old.take(&self.last);
                distance = self.old.distance(&self.new, self.rows);
            }
        }
        let (units, rows) = (&self.units, self.rows);
        let mut at = |s: f64, W: &mut Matrix| {
            let defined = at(s, W);
            if let Some(units) = units {
                neat(W, units, rows);
            }
            defined
        };
        let lost = if self.old.regular && !(distance < PASSED) {
            // what was written down may be an estimate
            if !at(1.0, &mut self.new) {
                self.old.regular = false;
                return None;
            }
            self.walk.search(&self.old, &self.new, (self.rows, self.roughly), at)
        } else {
            None
        };
        self.old.take(&self.new);
        std::mem::swap(&mut self.last, &mut self.new);
        // a first matrix may be singular, too: behind a jump the equations may be others
        lost.or((!self.old.regular).then_some(1.0))
    }
}

impl Walk {
    /// Walk the way in pieces that pass.
    fn search(
        &mut self,
        old: &Reference,
        new: &Matrix,
        (rows, roughly): (Rows, bool),
        mut at: impl FnMut(f64, &mut Matrix) -> bool,
    ) -> Option<f64> {
        let Walk { here, there, measure } = self;
        here.take(&old.W);
        measure.take(&old.W);
        let usual = measure.smallest(&old.W).min(measure.smallest(new));
        let (mut s, mut piece) = (0.0, 0.5);
        let mut dip = Dip { lowest: f64::INFINITY, at: 0.0, between: (0.0, 1.0) };
        for _ in 0..MOST_LOOKS {
            let end = if s + piece >= 1.0 { 1.0 } else { s + piece };
            if end == 1.0 {
                there.data_mut().copy_from_slice(new.data());
            } else if !at(end, there) {
                return None;
            }
            let passed = here.distance(there, rows) < PASSED;
            if !passed && end - s > SHORTEST {
                piece = 0.5 * (end - s);
                continue;
            }
            let falls = |W: &Matrix, measure: &mut Measure| measure.smallest(W) <= LOST * usual;
            if !passed && (falls(&here.W, measure) || falls(there, measure) || here.turned(there, rows)) {
                return Some(0.5 * (s + end));
            }
            if end == 1.0 {
                return if roughly { dip.deepest(usual, there, measure, at) } else { None };
            }
            if roughly {
                dip.look(measure.smallest(there), s, end);
            }
            here.take(there);
            if !here.regular {
                return Some(end);
            }
            (s, piece) = (end, 2.0 * piece);
        }
        // too much happens in this step to follow it
        if old.turned(new, rows) {
            return Some(s);
        }
        if roughly { dip.deepest(usual, there, measure, at) } else { None }
    }
}

/// The lowest of the smallest singular values that were seen on a way.
struct Dip {
    lowest: f64,
    at: f64,
    /// the points that were looked at before and behind it
    between: (f64, f64),
}

impl Dip {
    /// A value at the end of a piece that begins at s.
    fn look(&mut self, size: f64, s: f64, end: f64) {
        if self.at == s {
            self.between.1 = end;
        }
        if size < self.lowest {
            *self = Dip { lowest: size, at: end, between: (s, 1.0) };
        }
    }

    /// Where it is deepest, if rank is lost there, by the golden section.
    fn deepest(
        mut self,
        usual: f64,
        W: &mut Matrix,
        measure: &mut Measure,
        mut at: impl FnMut(f64, &mut Matrix) -> bool,
    ) -> Option<f64> {
        if self.lowest > SUSPICIOUS * usual {
            return None;
        }
        let mut size = |s: f64| if at(s, W) { measure.smallest(W) } else { f64::INFINITY };
        let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut low, mut high) = self.between;
        for _ in 0..CLOSER {
            let (a, b) = (high - golden * (high - low), low + golden * (high - low));
            let (at_a, at_b) = (size(a), size(b));
            for (s, found) in [(a, at_a), (b, at_b)] {
                if found < self.lowest {
                    (self.lowest, self.at) = (found, s);
                }
            }
            if at_a < at_b { high = b } else { low = a }
        }
        (self.lowest <= PASSED_BY * usual).then_some(self.at)
    }
}

/// Scales of the columns of a matrix.
fn columns_of(W: &Matrix) -> Vec<f64> {
    Scales::of_entries((W.rows(), W.cols()), |i, j| W[(i, j)], Scaling::Both).columns
}

/// Columns in their units, orthonormal bases of both spaces: which ones they were does not count.
fn neat(W: &mut Matrix, units: &[f64], rows: Rows) {
    let Rows::Bases(first) = rows else { return };
    for i in 0..W.rows() {
        W.row_mut(i).iter_mut().zip(units).for_each(|(w, unit)| *w *= unit);
        let begin = if i < first { 0 } else { first };
        // twice is enough
        for k in (begin..i).chain(begin..i) {
            let (done, row) = W.row_pair(k, i);
            let along: f64 = done.iter().zip(row.iter()).map(|(q, w)| q * w).sum();
            row.iter_mut().zip(done).for_each(|(w, q)| *w -= along * *q);
        }
        let size = W.row(i).iter().map(|w| w * w).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        W.row_mut(i).iter_mut().for_each(|w| *w /= size);
    }
}

impl Reference {
    fn new(r: usize, n: usize, rows: Rows) -> Self {
        let first = if let Rows::Bases(first) = rows { first } else { 0 };
        Reference {
            W: Matrix::zeros(r, n),
            columns: (0..r).collect(),
            lu: Lu::new(r),
            inverse: Matrix::zeros(r, r),
            eliminated: Matrix::zeros(r, n),
            taken: vec![false; n],
            regular: false,
            product: Matrix::zeros(r, r),
            blocks: [Lu::new(first), Lu::new(r - first)],
            column: vec![0.0; r],
        }
    }

    fn take(&mut self, W: &Matrix) {
        self.W.data_mut().copy_from_slice(W.data());
        if W.rows() < W.cols() {
            self.choose_columns();
        }
        for (i, &column) in self.columns.iter().enumerate() {
            for j in 0..W.rows() {
                self.lu.A[(i, j)] = W[(j, column)];
            }
        }
        self.regular = self.lu.factor().is_ok();
        if self.regular {
            for i in 0..W.rows() {
                let row = self.inverse.row_mut(i);
                row.fill(0.0);
                row[i] = 1.0;
                self.lu.solve(row);
            }
            // entries of another matrix that are zero are not multiplied with it
            self.regular = all_finite(self.inverse.data());
        }
    }

    /// Elimination with complete pivoting, rows in units of their largest entries.
    fn choose_columns(&mut self) {
        let (r, n, A, taken) = (self.W.rows(), self.W.cols(), &mut self.eliminated, &mut self.taken);
        taken.fill(false);
        for i in 0..r {
            let top = self.W.row(i).iter().fold(f64::MIN_POSITIVE, |top, w| top.max(w.abs()));
            A.row_mut(i).iter_mut().zip(self.W.row(i)).for_each(|(a, w)| *a = w / top);
        }
        for k in 0..r {
            let (mut row, mut column) = (k, k);
            for i in k..r {
                for j in (0..n).filter(|&j| !taken[j]) {
                    if A[(i, j)].abs() > A[(row, column)].abs() || taken[column] {
                        (row, column) = (i, j);
                    }
                }
            }
            self.columns[k] = column;
            taken[column] = true;
            for j in 0..n {
                (A[(k, j)], A[(row, j)]) = (A[(row, j)], A[(k, j)]);
            }
            let pivot = A[(k, column)];
            if pivot == 0.0 {
                continue;
            }
            for i in k + 1..r {
                let factor = A[(i, column)] / pivot;
                (0..n).for_each(|j| A[(i, j)] -= factor * A[(k, j)]);
            }
        }
    }

    /// The norm that must stay below one, balanced.
    fn distance(&mut self, W: &Matrix, rows: Rows) -> f64 {
        let r = W.rows();
        for i in 0..r {
            let (of_W, row) = (W.row(i), self.product.row_mut(i));
            row.fill(0.0);
            for (k, &column) in self.columns.iter().enumerate().filter(|(_, column)| of_W[**column] != 0.0) {
                let w = of_W[column];
                row.iter_mut().zip(self.inverse.row(k)).for_each(|(p, y)| *p += w * y);
            }
        }
        match rows {
            Rows::Fixed => {
                (0..r).for_each(|i| self.product[(i, i)] -= 1.0);
                balanced_norm(&mut self.product)
            }
            Rows::Bases(first) => self.between_spaces(first),
        }
    }

    /// With P = W_new Y in blocks, rows of other bases of the same spaces are those of (I, P₁₁⁻¹P₁₂; P₂₂⁻¹P₂₁, I).
    fn between_spaces(&mut self, first: usize) -> f64 {
        let r = self.product.rows();
        let mut norms = [0.0_f64; 2];
        for (block, norm) in norms.iter_mut().enumerate() {
            let (own, other) = if block == 0 { (0..first, first..r) } else { (first..r, 0..first) };
            let lu = &mut self.blocks[block];
            for (i, row) in own.clone().enumerate() {
                for (j, column) in own.clone().enumerate() {
                    lu.A[(i, j)] = self.product[(row, column)];
                }
            }
            if lu.factor().is_err() {
                return f64::INFINITY;
            }
            let column = &mut self.column[..own.len()];
            let mut sum = 0.0_f64;
            for j in other {
                own.clone().zip(column.iter_mut()).for_each(|(i, c)| *c = self.product[(i, j)]);
                lu.solve(column);
                sum += column.iter().fold(0.0_f64, |top, c| top.max(c.abs()));
            }
            *norm = sum;
        }
        norms[0].max(norms[1])
    }

    /// Has the determinant of a square matrix changed its sign?
    fn turned(&self, W: &Matrix, rows: Rows) -> bool {
        let mut other = Reference::new(W.rows(), W.cols(), rows);
        other.take(W);
        let square = W.rows() == W.cols() && rows == Rows::Fixed;
        square && other.regular && other.lu.determinant_is_positive() != self.lu.determinant_is_positive()
    }
}

/// Largest row sum of |A|, after scaling D⁻¹AD with the diagonal D that makes rows and columns equal.
fn balanced_norm(A: &mut Matrix) -> f64 {
    let n = A.rows();
    let norm = |A: &Matrix| (0..n).map(|i| A.row(i).iter().map(|a| a.abs()).sum::<f64>()).fold(0.0, f64::max);
    let mut found = norm(A);
    for _ in 0..SWEEPS {
        // not a number is not below either
        if found < PASSED || !found.is_finite() {
            break;
        }
        for i in 0..n {
            let off = |k: &usize| *k != i;
            let row: f64 = (0..n).filter(off).map(|k| A[(i, k)].abs()).sum();
            let column: f64 = (0..n).filter(off).map(|k| A[(k, i)].abs()).sum();
            let factor = match (row > 0.0, column > 0.0) {
                (true, true) => (column / row).sqrt(),
                // what has no counterpart can be made as small as one likes
                (true, false) => f64::EPSILON,
                (false, true) => 1.0 / f64::EPSILON,
                (false, false) => continue,
            };
            for k in (0..n).filter(off) {
                A[(i, k)] *= factor;
                A[(k, i)] /= factor;
            }
        }
        found = norm(A);
    }
    found
}

/// Smallest singular values in scales of one of the matrices.
#[derive(Debug)]
struct Measure {
    scales: Scales,
    svd: Svd,
}

impl Measure {
    fn new(r: usize, n: usize) -> Self {
        Measure { scales: Scales::ones(r, n), svd: Svd::new(r, n) }
    }

    /// Take the scales of a matrix.
    fn take(&mut self, W: &Matrix) {
        let Scales { rows, columns, .. } = &mut self.scales;
        rows.fill(1.0);
        columns.fill(1.0);
        self.scales.improve(|i, j| W[(i, j)], Scaling::Both);
        // rounding must not be scaled up
        let top = |i: usize| W.row(i).iter().fold(f64::MIN_POSITIVE, |top, w| top.max(w.abs()));
        for (j, scale) in self.scales.columns.iter_mut().enumerate() {
            if (0..W.rows()).all(|i| W[(i, j)].abs() < NEGLIGIBLE * top(i)) {
                *scale = 0.0;
            }
        }
    }

    fn smallest(&mut self, W: &Matrix) -> f64 {
        let Scales { rows, columns, .. } = &self.scales;
        for i in 0..W.rows() {
            let entries = W.row(i).iter().zip(columns).enumerate();
            entries.for_each(|(j, (w, c))| self.svd.A[(i, j)] = rows[i] * w * c);
        }
        if self.svd.factor().is_ok() { self.svd.sigma(W.rows() - 1) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where W(s) loses rank on the way from s = 0 to 1.
    fn lost(rows: Rows, (r, n): (usize, usize), at: impl Fn(f64, &mut Matrix)) -> Option<f64> {
        let mut watch = RankWatch::new(r, n, rows);
        at(0.0, watch.next_matrix());
        assert_eq!(watch.step(|_, _| panic!("a first matrix")), None);
        at(1.0, watch.next_matrix());
        watch.step(|s, W| {
            at(s, W);
            true
        })
    }

    #[test]
    fn a_loss_of_rank_is_located_by_any_number_and_in_any_units() {
        for units in [1.0_f64, 1e-9, 1e9] {
            for drop in 1..=3 {
                let found = lost(Rows::Fixed, (3, 3), |s, W| {
                    for i in 0..3 {
                        for j in 0..3 {
                            let mixed = 0.3 * (i as f64 - j as f64) * units.powi(j as i32 - i as i32);
                            W[(i, j)] = if i < drop || j < drop { (0.37 - s) * mixed } else { mixed };
                        }
                        W[(i, i)] = if i < drop { 0.37 - s } else { 1.0 };
                    }
                });
                assert!(found.is_some_and(|s| (s - 0.37).abs() < 1e-4), "{units} {drop}: {found:?}");
            }
        }
    }

    #[test]
    fn what_turns_or_grows_keeps_its_rank() {
        let turns = |s: f64, W: &mut Matrix| {
            let (sin, cos) = (3.0 * s).sin_cos();
            W.row_mut(0).copy_from_slice(&[cos, sin]);
            W.row_mut(1).copy_from_slice(&[-sin, cos]);
        };
        assert_eq!(lost(Rows::Fixed, (2, 2), turns), None);
        assert_eq!(
            lost(Rows::Fixed, (1, 2), |s, W| W.row_mut(0).copy_from_slice(&[(3.0 * s).cos(), (3.0 * s).sin()])),
            None
        );
        assert_eq!(lost(Rows::Fixed, (1, 1), |s, W| W[(0, 0)] = 1.0 + 1e6 * s), None);
        // a large entry beside the diagonal of a triangle
        let triangle = |s: f64, W: &mut Matrix| {
            W.row_mut(0).copy_from_slice(&[1.0, 1e8 * s]);
            W.row_mut(1).copy_from_slice(&[0.0, 1.0 + s]);
        };
        assert_eq!(lost(Rows::Fixed, (2, 2), triangle), None);
        // a jump
        assert_eq!(lost(Rows::Fixed, (1, 1), |s, W| W[(0, 0)] = if s < 0.3 { 1.0 } else { 1e3 }), None);
    }

    #[test]
    fn columns_of_any_size_and_rounding_in_others_do_not_matter() {
        // the first and the third column tell the rank, fourteen orders of magnitude apart; the others are rounding
        let found = |vanishes: f64| {
            lost(Rows::Fixed, (2, 4), |s, W| {
                W.row_mut(0).copy_from_slice(&[1e-7 * (1.0 + s), 1e-17 * (9.0 * s).sin(), 2e7, 1e-24]);
                W.row_mut(1).copy_from_slice(&[1e-7 * (vanishes - s), 1e-18, 0.0, 1e-25 * (7.0 * s).cos()]);
            })
        };
        assert_eq!(found(1.5), None);
        assert!(found(0.6).is_some_and(|s| (s - 0.6).abs() < 1e-4), "{:?}", found(0.6));
    }

    #[test]
    fn spaces_that_meet_are_seen_whatever_their_bases() {
        // lines at angles 0 and 2.5 s of the plane: they coincide at s = 0 only, and at 2.5 s = π not on the way
        let lines = |offset: f64| {
            move |s: f64, W: &mut Matrix| {
                let (sin, cos) = (offset + 2.5 * s).sin_cos();
                let sign = if (7.0 * s) as i32 % 2 == 0 { 1.0 } else { -3.0 };
                W.row_mut(0).copy_from_slice(&[sign, 0.0]);
                W.row_mut(1).copy_from_slice(&[-2.0 * sign * cos, -2.0 * sign * sin]);
            }
        };
        assert_eq!(lost(Rows::Bases(1), (2, 2), lines(0.3)), None);
        let met = (std::f64::consts::PI - 1.0) / 2.5;
        let found = lost(Rows::Bases(1), (2, 2), lines(1.0));
        assert!(found.is_some_and(|s| (s - met).abs() < 1e-4), "{found:?} {met}");
    }
}
