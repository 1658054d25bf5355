//! Which rows of a sparse matrix are independent: orthogonal row merging. George & Heath, Solution of sparse linear least squares problems using Givens
//! rotations (1980).
//!
//! ```text
//! A D P = Q R,   rows of A D of length one,   columns P in an order of COLAMD, which bounds the places of R
//! ```
//! Rows are fed one after the other. Each is rotated into the rows of R that begin where it begins, until its first column is that of no row of R:
//! then it stays there as what the rows before it do not span. A row of which nothing is left depends on those before it. So the order of feeding decides which one of
//! dependent rows is dropped. Fed by their first columns, rows stop after few rotations, and the work is linear where R has few places.

use super::{RankGap, SparseMatrix};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::colamd;

/// Entries of unit rows up to this are rounding of the rotations, and are not rotated further. Derived: 45 ε, as many rotations as a row takes part in.
const DUST: f64 = 1e-14;

/// The order of the columns of matrices of one pattern.
pub struct RowMerge {
    /// place of a column in the order of elimination
    place: Vec<u32>,
}

/// What was decided about rows.
#[derive(Clone, Debug, PartialEq)]
pub struct IndependentRows {
    /// Is row i a combination of rows that were fed before it?
    pub dropped: Vec<bool>,
    /// What is left of row i beside them, rows having length one.
    pub remainders: Vec<f64>,
    /// The smallest remainder of a row that was kept, and the largest of one that was not, rows having length one.
    pub gap: RankGap,
}

/// A row with its entries by place.
type Row = Vec<(u32, f64)>;

impl RowMerge {
    /// For matrices of the pattern of A.
    pub fn new(A: &SparseMatrix) -> Self {
        let (m, n) = (A.rows(), A.cols());
        let mut places: Vec<(usize, usize)> = A.places().map(|(i, j)| (j, i)).collect();
        places.sort_unstable();
        let mut starts = vec![0; n + 1];
        for &(j, _) in &places {
            starts[j + 1] += 1;
        }
        (0..n).for_each(|j| starts[j + 1] += starts[j]);
        let rows: Vec<usize> = places.into_iter().map(|(_, i)| i).collect();
        let pattern = SymbolicSparseColMatRef::new_checked(m, n, &starts, None, &rows);
        let (mut order, mut inverse) = (vec![0; n], vec![0; n]);
        let mut memory = MemBuffer::new(colamd::order_scratch::<usize>(m, n, rows.len()));
        let control = colamd::Control::default();
        let found = colamd::order(&mut order, &mut inverse, pattern, control, MemStack::new(&mut memory));
        if found.is_err() {
            // any order is right
            inverse.iter_mut().enumerate().for_each(|(j, place)| *place = j);
        }
        RowMerge { place: inverse.into_iter().map(|place| place as u32).collect() }
    }

    /// Rows by the place of their first column, those of one place in their order.
    pub fn by_first_column(&self, A: &SparseMatrix) -> Vec<usize> {
        let first = |i: usize| A.row(i).0.iter().map(|&j| self.place[j]).min();
        let mut order: Vec<usize> = (0..A.rows()).collect();
        order.sort_by_key(|&i| first(i));
        order
    }

    /// Feed the rows of A D in an order, D = diag(`columns`); remainders up to `tau` do not count.
    pub fn independent(&self, A: &SparseMatrix, columns: &[f64], order: &[usize], tau: f64) -> IndependentRows {
        let (m, n) = (A.rows(), A.cols());
        let mut R: Vec<Row> = vec![Vec::new(); n];
        let mut gap = RankGap { rows: m, cols: n, threshold: tau, ..RankGap::default() };
        let (mut dropped, mut remainders) = (vec![false; m], vec![0.0; m]);
        let mut room = [Vec::new(), Vec::new()];
        for &i in order {
            match feed(&mut R, self.unit_row(A, columns, i), tau, &mut room) {
                Remainder::Kept(size) => {
                    remainders[i] = size;
                    gap.rank += 1;
                    gap.kept = gap.kept.min(size);
                }
                Remainder::Dropped(size) => {
                    (dropped[i], remainders[i]) = (true, size);
                    gap.dropped = gap.dropped.max(size);
                }
            }
        }
        IndependentRows { dropped, remainders, gap }
    }

    /// Row i of A D, of length one, by places; nothing if it vanishes.
    fn unit_row(&self, A: &SparseMatrix, columns: &[f64], i: usize) -> Row {
        let (places, values) = A.row(i);
        let scaled = places.iter().zip(values).map(|(&j, a)| (self.place[j], a * columns[j]));
        let mut row: Row = scaled.filter(|(_, a)| *a != 0.0).collect();
        let largest = row.iter().fold(0.0, |largest: f64, (_, a)| largest.max(a.abs()));
        let length = largest * row.iter().map(|(_, a)| (a / largest).powi(2)).sum::<f64>().sqrt();
        for (_, a) in &mut row {
            *a /= length;
        }
        row.sort_unstable_by_key(|&(place, _)| place);
        row
    }
}

/// What is left of a row.
enum Remainder {
    Kept(f64),
    Dropped(f64),
}

/// Rotate a row into R until it finds a place of its own, or nothing is left of it.
fn feed(R: &mut [Row], mut x: Row, tau: f64, [upper, lower]: &mut [Row; 2]) -> Remainder {
    // squares of what was too small to stay where R has no row
    let mut swept = 0.0;
    loop {
        let Some(&(place, lead)) = x.first() else { return Remainder::Dropped(f64::sqrt(swept)) };
        let r = &mut R[place as usize];
        if !r.is_empty() {
            rotate(r, &x, upper, lower);
            std::mem::swap(r, upper);
            std::mem::swap(&mut x, lower);
        } else if lead.abs() > tau {
            *r = x;
            return Remainder::Kept(lead.abs());
        } else {
            swept += lead * lead;
            x.remove(0);
        }
    }
}

/// (r; x) ← (c s; −s c)(r; x), so that the first entry of x, which stands below that of r, vanishes.
fn rotate(r: &Row, x: &Row, upper: &mut Row, lower: &mut Row) {
    let (a, b) = (r[0].1, x[0].1);
    let length = a.hypot(b);
    let (c, s) = (a / length, b / length);
    upper.clear();
    lower.clear();
    upper.push((r[0].0, length));
    let (mut i, mut k) = (1, 1);
    while i < r.len() || k < x.len() {
        let (at_r, at_x) = (r.get(i).map_or(u32::MAX, |e| e.0), x.get(k).map_or(u32::MAX, |e| e.0));
        let (mut a, mut b) = (0.0, 0.0);
        if at_r <= at_x {
            a = r[i].1;
            i += 1;
        }
        if at_x <= at_r {
            b = x[k].1;
            k += 1;
        }
        let place = at_r.min(at_x);
        upper.push((place, c * a + s * b));
        let below = c * b - s * a;
        if below.abs() > DUST {
            lower.push((place, below));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Svd;
    use proptest::prelude::*;

    /// Remainders of unit rows that do not count.
    const TAU: f64 = 1e-9;

    fn sparse(rows: &[Vec<(usize, f64)>], cols: usize) -> SparseMatrix {
        let places = rows.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |&(j, _)| (i, j)));
        let mut A = SparseMatrix::new(rows.len(), cols, places.collect());
        for (i, row) in rows.iter().enumerate() {
            let entries = row.iter().copied().filter(|(_, a)| *a != 0.0);
            let mut sorted: Vec<(usize, f64)> = entries.collect();
            sorted.sort_unstable_by_key(|&(j, _)| j);
            A.add_to_row(i, 1.0, sorted.into_iter());
        }
        A
    }

    /// Rank and smallest singular value of some unit rows with all entries.
    fn decomposed(A: &SparseMatrix, rows: &[usize]) -> (usize, f64) {
        let mut svd = Svd::new(rows.len(), A.cols());
        for (k, &i) in rows.iter().enumerate() {
            let (columns, values) = A.row(i);
            let length = values.iter().map(|a| a * a).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            columns.iter().zip(values).for_each(|(&j, a)| svd.A[(k, j)] = a / length);
        }
        svd.factor().unwrap();
        (svd.rank(TAU), svd.sigma(rows.len().saturating_sub(1)))
    }

    fn choose(A: &SparseMatrix) -> IndependentRows {
        let merge = RowMerge::new(A);
        merge.independent(A, &vec![1.0; A.cols()], &merge.by_first_column(A), TAU)
    }

    /// As many rows are kept as singular values count, and those are independent.
    fn agrees(A: &SparseMatrix) -> IndependentRows {
        let found = choose(A);
        let kept: Vec<usize> = (0..A.rows()).filter(|&i| !found.dropped[i]).collect();
        let (rank, _) = decomposed(A, &(0..A.rows()).collect::<Vec<_>>());
        assert_eq!((found.gap.rank, kept.len()), (rank, rank));
        assert_eq!(decomposed(A, &kept).0, rank, "the rows that are kept");
        found
    }

    type Point = [f64; 2];

    /// Rows of spatial hinges about z between bars in a plane: three of position, two of tilt; six velocities to a bar, none to the ground.
    fn hinges(centres: &[Point], pins: &[(Option<usize>, usize, Point)]) -> SparseMatrix {
        let mut rows = Vec::new();
        for &(a, b, at) in pins {
            let sides = [a.map(|a| (a, 1.0)), Some((b, -1.0))];
            let mut of = |parts: &dyn Fn(usize, f64, [f64; 2]) -> Vec<(usize, f64)>| {
                let arm = |k: usize| [at[0] - centres[k][0], at[1] - centres[k][1]];
                rows.push(sides.iter().flatten().flat_map(|&(k, sign)| parts(6 * k, sign, arm(k))).collect());
            };
            // v + w × arm, and w along x and y
            of(&|k, s, [_, y]| vec![(k, s), (k + 5, -s * y)]);
            of(&|k, s, [x, _]| vec![(k + 1, s), (k + 5, s * x)]);
            of(&|k, s, [x, y]| vec![(k + 2, s), (k + 3, s * y), (k + 4, -s * x)]);
            of(&|k, s, _| vec![(k + 3, s)]);
            of(&|k, s, _| vec![(k + 4, s)]);
        }
        sparse(&rows, 6 * centres.len())
    }

    fn middle(a: Point, b: Point) -> Point {
        [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])]
    }

    /// Parallelograms side by side: cranks on the ground, couplers between their ends.
    fn ladder(cells: usize) -> SparseMatrix {
        let (foot, end) = (|k: usize| [0.9 * k as f64, 0.0], |k: usize| [0.9 * k as f64 + 0.42, 0.43]);
        let cranks = (0..=cells).map(|k| middle(foot(k), end(k)));
        let couplers = (0..cells).map(|k| middle(end(k), end(k + 1)));
        let centres: Vec<Point> = cranks.chain(couplers).collect();
        let coupler = |k: usize| cells + 1 + k;
        let mut pins: Vec<_> = (0..=cells).map(|k| (None, k, foot(k))).collect();
        pins.extend((0..cells).map(|k| (Some(k), coupler(k), end(k))));
        pins.extend((0..cells).map(|k| (Some(coupler(k)), k + 1, end(k + 1))));
        hinges(&centres, &pins)
    }

    /// A cantilever of bays with one diagonal each, all bars pinned to the first one of a node.
    fn truss(bays: usize) -> SparseMatrix {
        let node = |k: usize, up: usize| (2 * k + up, [k as f64, up as f64]);
        let mut bars = Vec::new();
        for k in 0..bays {
            bars.extend([(node(k, 0), node(k + 1, 0)), (node(k, 1), node(k + 1, 1))]);
            bars.extend([(node(k, 0), node(k + 1, 1)), (node(k + 1, 0), node(k + 1, 1))]);
        }
        let centres: Vec<Point> = bars.iter().map(|(a, b)| middle(a.1, b.1)).collect();
        let mut first: Vec<Option<Option<usize>>> = vec![None; 2 * bays + 2];
        (first[0], first[1]) = (Some(None), Some(None));
        let mut pins = Vec::new();
        for (bar, ends) in bars.iter().enumerate() {
            for (node, at) in [ends.0, ends.1] {
                match first[node] {
                    Some(other) => pins.push((other, bar, at)),
                    None => first[node] = Some(Some(bar)),
                }
            }
        }
        hinges(&centres, &pins)
    }

    #[test]
    fn ladders_have_three_rows_too_many_to_a_cell() {
        for cells in [1, 2, 3, 10] {
            let found = agrees(&ladder(cells));
            assert_eq!((found.gap.rows, found.gap.rows - found.gap.rank), (15 * cells + 5, 3 * cells));
        }
        let found = choose(&ladder(1_000));
        assert_eq!((found.gap.rows - found.gap.rank, found.dropped.iter().filter(|d| **d).count()), (3_000, 3_000));
        assert!(found.gap.dropped < 1e-13 && found.gap.kept > 1e-4, "{:?}", found.gap);
    }

    #[test]
    fn trusses_have_six_rows_too_many_to_a_bay() {
        for bays in [1, 2, 5, 12] {
            let found = agrees(&truss(bays));
            assert_eq!(found.gap.rows - found.gap.rank, 6 * bays);
        }
        let found = choose(&truss(300));
        assert_eq!(found.gap.rows - found.gap.rank, 1_800);
        assert!(found.gap.dropped < 1e-12 && found.gap.kept > 1e-6, "{:?}", found.gap);
    }

    #[test]
    fn the_row_that_is_fed_last_is_dropped_and_rows_that_vanish_always_are() {
        let A = sparse(&[vec![(0, 1.0), (1, 2.0)], vec![(1, 1e6)], vec![(0, 1e-5)], vec![(2, 0.0)]], 3);
        let merge = RowMerge::new(&A);
        for (order, last) in [([0, 1, 2, 3], 2), ([3, 2, 0, 1], 1), ([2, 1, 3, 0], 0)] {
            let found = merge.independent(&A, &[1.0; 3], &order, TAU);
            assert_eq!(found.dropped, [0, 1, 2, 3].map(|i| i == last || i == 3), "{order:?}");
            assert_eq!(found.gap.rank, 2);
        }
        let none = SparseMatrix::new(0, 3, Vec::new());
        assert!(choose(&none).gap.is_full());
    }

    proptest! {
        /// Rows with few entries, and combinations of two or three of them.
        #[test]
        fn as_many_rows_are_kept_as_singular_values_count(
            columns in 3_usize..25,
            rows in prop::collection::vec(prop::collection::vec((0_usize..25, -1.0_f64..1.0), 1..4), 1..12),
            sums in prop::collection::vec((0_usize..12, 0_usize..12, 0_usize..12, -2.0_f64..2.0), 0..8),
            units in prop::collection::vec(-4_i32..5, 20),
        ) {
            let mut all: Vec<Vec<(usize, f64)>> = rows
                .iter()
                .map(|row| row.iter().map(|&(j, a)| (j % columns, a)).collect::<std::collections::BTreeMap<_, _>>())
                .map(|row| row.into_iter().collect())
                .collect();
            for &(a, b, c, factor) in &sums {
                let mut sum = std::collections::BTreeMap::new();
                for (k, weight) in [(a, 1.0), (b, factor), (c, -0.7)] {
                    all[k % rows.len()].iter().for_each(|&(j, x)| *sum.entry(j).or_insert(0.0) += weight * x);
                }
                all.push(sum.into_iter().collect());
            }
            for (row, unit) in all.iter_mut().zip(&units) {
                for (_, a) in row.iter_mut() {
                    *a *= 10.0_f64.powi(*unit);
                }
            }
            let A = sparse(&all, columns);
            let every: Vec<usize> = (0..A.rows()).collect();
            let found = choose(&A);
            // what is neither clearly one nor the other is no test
            let mut svd = Svd::new(A.rows(), A.cols());
            for i in every {
                let length = A.row(i).1.iter().map(|a| a * a).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
                A.row(i).0.iter().zip(A.row(i).1).for_each(|(&j, a)| svd.A[(i, j)] = a / length);
            }
            svd.factor().unwrap();
            let rank = svd.rank(1e-11);
            prop_assume!(rank == svd.rank(1e-5));
            prop_assert_eq!(found.gap.rank, rank);
            let kept: Vec<usize> = (0..A.rows()).filter(|&i| !found.dropped[i]).collect();
            prop_assert_eq!(decomposed(&A, &kept).0, rank);
        }
    }
}
