//! LU decomposition of sparse matrices of one pattern, column by column. Davis, Direct Methods for Sparse Linear Systems, chapters 6, 7.
//!
//! ```text
//! P A Q = L U,   columns in an order Q that keeps L and U sparse,   rows P by size
//! ```
//! The first decomposition looks for pivots, and for the places that fill in behind them (Gilbert and Peierls). The next ones keep both: they
//! are loops over lists, as long as no pivot becomes small beside its column ([`KEPT`]). That is how circuits are simulated, where one pattern
//! is decomposed a thousand times. Q is found by faer: that of COLAMD, which bounds the places for all pivots, or of AMD, which is better where
//! pivots stand on the diagonal; whichever leaves fewer places.

use super::{Shift, Singular};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::{amd, colamd};

/// A pivot is kept while it is at least this part of the largest entry of its column. KLU's tolerance: three of sixteen digits.
const KEPT: f64 = 1e-3;
/// An entry on the diagonal is preferred if it is at least this part of the largest one.
const ON_DIAGONAL: f64 = 0.1;
/// No place, or a row that is no pivot yet.
const NONE: u32 = u32::MAX;

/// P A Q = L U of a square matrix with a fixed pattern.
pub struct SparseLu<T> {
    /// Entries in the order of the pattern.
    pub values: Vec<T>,
    /// entries of column j are those from `starts[j]` to `starts[j + 1]`
    starts: Vec<usize>,
    rows: Vec<u32>,
    /// rows of the entries in the order of pivots
    places: Vec<u32>,
    /// orders of elimination; one of them once a matrix has been decomposed
    orders: Vec<Order>,
    /// are pivots and places of L and U known?
    known: bool,
    /// the row that is the k-th pivot, and k of a row
    pivots: Vec<u32>,
    pivot_of: Vec<u32>,
    /// below the diagonal, which is one
    L: Columns<T>,
    /// above the diagonal
    U: Columns<T>,
    /// 1/u on the diagonal
    inverses: Vec<T>,
    x: Vec<T>,
    search: Search,
}

/// An order of elimination: the k-th column, and whether pivots are wanted on the diagonal.
#[derive(Clone)]
struct Order {
    columns: Vec<u32>,
    diagonal: bool,
}

/// Columns of a triangular matrix.
struct Columns<T> {
    starts: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<T>,
}

/// Depth-first search for the columns of L that a column of A meets.
struct Search {
    /// the last column that met a row
    met: Vec<u32>,
    /// pivots in the order in which they were left: the reverse is an order of elimination
    left: Vec<u32>,
    /// rows without a pivot
    rest: Vec<u32>,
    stack: Vec<(u32, usize)>,
}

/// Why a decomposition ended early.
enum Stop {
    Singular(usize),
    TooManyPlaces,
}

impl<T> Columns<T> {
    fn new(n: usize) -> Self {
        Columns { starts: vec![0; n + 1], rows: Vec::new(), values: Vec::new() }
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.values.clear();
    }

    fn push(&mut self, row: u32, value: T) {
        self.rows.push(row);
        self.values.push(value);
    }

    #[inline]
    fn column(&self, k: usize) -> (&[u32], &[T]) {
        let range = self.starts[k]..self.starts[k + 1];
        (&self.rows[range.clone()], &self.values[range])
    }
}

impl<T: Shift> SparseLu<T> {
    /// Room for an n × n matrix with entries at `places` (row, column), each once, ordered by column, then by row. A pattern that
    /// leaves no regular matrix is refused.
    pub fn new(n: usize, places: &[(usize, usize)]) -> Result<Self, Singular> {
        let mut starts = vec![0; n + 1];
        for &(_, j) in places {
            starts[j + 1] += 1;
        }
        for j in 0..n {
            starts[j + 1] += starts[j];
        }
        let zero = T::from(0.0);
        let mut lu = SparseLu {
            values: vec![zero; places.len()],
            orders: orders(n, places, &starts)?,
            starts,
            rows: places.iter().map(|&(i, _)| i as u32).collect(),
            places: vec![0; places.len()],
            known: false,
            pivots: vec![NONE; n],
            pivot_of: vec![NONE; n],
            L: Columns::new(n),
            U: Columns::new(n),
            inverses: vec![zero; n],
            x: vec![zero; n],
            search: Search { met: vec![NONE; n], left: Vec::new(), rest: Vec::new(), stack: Vec::new() },
        };
        lu.search.left.reserve(n);
        lu.search.rest.reserve(n);
        lu.search.stack.reserve(n);
        Ok(lu)
    }

    /// Room for an n × n matrix with entries at `places` (row, column), each once, in any order, and where each of them stands among the
    /// values. Nothing if the pattern leaves no regular matrix.
    pub fn of_places(n: usize, places: &[(usize, usize)]) -> (Option<Self>, Vec<usize>) {
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_unstable_by_key(|&k| (places[k].1, places[k].0));
        let mut positions = vec![0; places.len()];
        order.iter().enumerate().for_each(|(position, &k)| positions[k] = position);
        let by_column: Vec<_> = order.iter().map(|&k| places[k]).collect();
        (Self::new(n, &by_column).ok(), positions)
    }

    /// Decompose the matrix with the entries [`SparseLu::values`].
    pub fn factor(&mut self) -> Result<(), Singular> {
        if self.known && self.repeat() {
            return Ok(());
        }
        self.known = false;
        self.choose_order()?;
        let places = self.rows.iter().map(|&row| self.pivot_of[row as usize]);
        self.places.iter_mut().zip(places).for_each(|(place, k)| *place = k);
        self.known = true;
        Ok(())
    }

    /// Decompose with new pivots; the first time in every order, of which the best one stays.
    fn choose_order(&mut self) -> Result<(), Singular> {
        let stopped = |stop| match stop {
            Stop::Singular(column) => Singular { column },
            Stop::TooManyPlaces => Singular { column: 0 },
        };
        let (mut best, mut fewest) = (0, usize::MAX);
        let tried = self.orders.len();
        for k in 0..tried {
            match self.decompose(k, fewest) {
                Ok(places) => (best, fewest) = (k, places),
                Err(Stop::TooManyPlaces) => {}
                Err(singular) => return Err(stopped(singular)),
            }
        }
        if best + 1 < tried {
            self.decompose(best, usize::MAX).map_err(stopped)?;
        }
        self.orders.swap(0, best);
        self.orders.truncate(1);
        Ok(())
    }

    /// Decompose in an order, with new pivots. The number of places, if there are fewer than `most`.
    fn decompose(&mut self, order: usize, most: usize) -> Result<usize, Stop> {
        let SparseLu { values, starts, rows, orders, pivots, pivot_of, L, U, inverses, x, search, .. } = self;
        let Order { columns, diagonal } = &orders[order];
        let zero = T::from(0.0);
        pivot_of.fill(NONE);
        search.met.fill(NONE);
        x.fill(zero);
        L.clear();
        U.clear();
        for (k, &j) in columns.iter().enumerate() {
            let range = starts[j as usize]..starts[j as usize + 1];
            search.reach(k as u32, &rows[range.clone()], pivot_of, L);
            rows[range.clone()].iter().zip(&values[range]).for_each(|(&i, &value)| x[i as usize] = value);
            // x ← L⁻¹ x: the upper part is the column of U
            for &p in search.left.iter().rev() {
                let row = pivots[p as usize] as usize;
                let u = std::mem::replace(&mut x[row], zero);
                U.push(p, u);
                let (below, factors) = L.column(p as usize);
                below.iter().zip(factors).for_each(|(&i, &l)| x[i as usize] -= l * u);
            }
            U.starts[k + 1] = U.rows.len();
            // the largest entry of the lower part is the pivot
            let (mut pivot, mut largest) = (NONE, 0.0);
            for &i in &search.rest {
                let size = x[i as usize].magnitude();
                if size > largest {
                    (pivot, largest) = (i, size);
                }
            }
            if !(largest > 0.0 && largest.is_finite()) {
                return Err(Stop::Singular(j as usize));
            }
            let own = j as usize;
            let at_hand = pivot_of[own] == NONE && search.met[own] == k as u32;
            if *diagonal && at_hand && x[own].magnitude() >= ON_DIAGONAL * largest {
                pivot = j;
            }
            let inverse = T::from(1.0) / x[pivot as usize];
            (inverses[k], pivots[k], pivot_of[pivot as usize]) = (inverse, pivot, k as u32);
            for &i in &search.rest {
                let value = std::mem::replace(&mut x[i as usize], zero);
                if i != pivot {
                    L.push(i, value * inverse);
                }
            }
            L.starts[k + 1] = L.rows.len();
            if L.rows.len() + U.rows.len() >= most {
                return Err(Stop::TooManyPlaces);
            }
        }
        // rows of L in the order of pivots, too
        L.rows.iter_mut().for_each(|row| *row = pivot_of[*row as usize]);
        Ok(L.rows.len() + U.rows.len())
    }

    /// Decompose with the pivots of the last time; false if one of them is too small now.
    fn repeat(&mut self) -> bool {
        let SparseLu { values, starts, places, orders, L, U, inverses, x, .. } = self;
        let zero = T::from(0.0);
        x.fill(zero);
        for (k, &j) in orders[0].columns.iter().enumerate() {
            let range = starts[j as usize]..starts[j as usize + 1];
            places[range.clone()].iter().zip(&values[range]).for_each(|(&i, &value)| x[i as usize] = value);
            let above = U.starts[k]..U.starts[k + 1];
            for (&p, value) in U.rows[above.clone()].iter().zip(&mut U.values[above]) {
                let u = std::mem::replace(&mut x[p as usize], zero);
                *value = u;
                let (below, factors) = L.column(p as usize);
                below.iter().zip(factors).for_each(|(&i, &l)| x[i as usize] -= l * u);
            }
            let pivot = std::mem::replace(&mut x[k], zero);
            let inverse = T::from(1.0) / pivot;
            inverses[k] = inverse;
            let mut largest = 0.0_f64;
            let range = L.starts[k]..L.starts[k + 1];
            for (&i, l) in L.rows[range.clone()].iter().zip(&mut L.values[range]) {
                let value = std::mem::replace(&mut x[i as usize], zero);
                largest = largest.max(value.magnitude());
                *l = value * inverse;
            }
            let size = pivot.magnitude();
            if !(size >= KEPT * largest && size > 0.0 && size.is_finite()) {
                return false;
            }
        }
        true
    }

    /// b ← A⁻¹ b.
    pub fn solve(&mut self, b: &mut [T]) {
        let SparseLu { orders, pivots, L, U, inverses, x, .. } = self;
        x.iter_mut().zip(pivots.iter()).for_each(|(x, &row)| *x = b[row as usize]);
        for k in 0..x.len() {
            let y = x[k];
            let (below, factors) = L.column(k);
            below.iter().zip(factors).for_each(|(&i, &l)| x[i as usize] -= l * y);
        }
        for k in (0..x.len()).rev() {
            let y = x[k] * inverses[k];
            x[k] = y;
            let (above, factors) = U.column(k);
            above.iter().zip(factors).for_each(|(&i, &u)| x[i as usize] -= u * y);
        }
        x.iter().zip(&orders[0].columns).for_each(|(x, &column)| b[column as usize] = *x);
    }

    /// Places of L and U beside the diagonal.
    #[cfg(test)]
    fn places(&self) -> usize {
        self.L.rows.len() + self.U.rows.len()
    }
}

impl Search {
    /// The pivots and the rows without pivots that column k, with entries in `rows`, meets.
    fn reach<T>(&mut self, k: u32, rows: &[u32], pivot_of: &[u32], L: &Columns<T>) {
        let Search { met, left, rest, stack } = self;
        left.clear();
        rest.clear();
        for &start in rows {
            if std::mem::replace(&mut met[start as usize], k) == k {
                continue;
            }
            if pivot_of[start as usize] == NONE {
                rest.push(start);
                continue;
            }
            stack.push((pivot_of[start as usize], 0));
            while let Some((p, seen)) = stack.pop() {
                let below = L.column(p as usize).0;
                let deeper = below[seen..].iter().position(|&i| met[i as usize] != k);
                let Some(skipped) = deeper else {
                    left.push(p);
                    continue;
                };
                let next = seen + skipped;
                let row = below[next];
                stack.push((p, next + 1));
                met[row as usize] = k;
                match pivot_of[row as usize] {
                    NONE => rest.push(row),
                    p => stack.push((p, 0)),
                }
            }
        }
    }
}

/// Orders of elimination that are worth a try.
fn orders(n: usize, places: &[(usize, usize)], starts: &[usize]) -> Result<Vec<Order>, Singular> {
    let rows: Vec<usize> = places.iter().map(|&(i, _)| i).collect();
    let pattern = SymbolicSparseColMatRef::new_checked(n, n, starts, None, &rows);
    let (mut order, mut inverse) = (vec![0; n], vec![0; n]);
    let no_order = |_| Singular { column: 0 };
    let columns = |order: &[usize]| order.iter().map(|&j| j as u32).collect();
    let mut memory = MemBuffer::new(colamd::order_scratch::<usize>(n, n, places.len()));
    let control = colamd::Control::default();
    colamd::order(&mut order, &mut inverse, pattern, control, MemStack::new(&mut memory)).map_err(no_order)?;
    let mut orders = vec![Order { columns: columns(&order), diagonal: false }];
    let symmetric = is_symmetric(places);
    if symmetric || places.iter().filter(|(i, j)| i == j).count() == n {
        let mut memory = MemBuffer::new(amd::order_scratch::<usize>(n, places.len()));
        let control = amd::Control::default();
        amd::order(&mut order, &mut inverse, pattern, control, MemStack::new(&mut memory)).map_err(no_order)?;
        let by_degree = Order { columns: columns(&order), diagonal: true };
        // saddle points: a body that many others hang on fills everything in an order that looks at columns alone
        orders.insert(if symmetric { 0 } else { 1 }, by_degree);
    }
    Ok(orders)
}

/// Has the pattern of every row that of its column? Diagonal entries may be missing.
fn is_symmetric(places: &[(usize, usize)]) -> bool {
    let mut turned: Vec<(usize, usize)> = places.iter().map(|&(i, j)| (j, i)).collect();
    turned.sort_unstable_by_key(|&(i, j)| (j, i));
    turned == places
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::c64;

    /// Entries of a tridiagonal matrix.
    fn tridiagonal(n: usize) -> Vec<(usize, usize)> {
        (0..n).flat_map(|j| (j.saturating_sub(1)..(j + 2).min(n)).map(move |i| (i, j))).collect()
    }

    #[test]
    fn a_hub_does_not_fill_the_saddle_point_matrix_of_its_spokes() {
        // hub: unknowns 0 to 2; spoke k: 3 unknowns, then 2 rows that hold it to the hub
        let spokes = 400;
        let n = 3 + 5 * spokes;
        let mut places: Vec<(usize, usize)> = (0..3).map(|j| (j, j)).collect();
        for first in (0..spokes).map(|k| 3 + 5 * k) {
            places.extend((first..first + 3).map(|j| (j, j)));
            for row in [first + 3, first + 4] {
                for j in [0, 1, 2, first, first + 1, first + 2] {
                    places.extend([(row, j), (j, row)]);
                }
            }
        }
        let (lu, positions) = SparseLu::<f64>::of_places(n, &places);
        let mut lu = lu.unwrap();
        let mut state = 3;
        for (&k, &(i, j)) in positions.iter().zip(&places) {
            lu.values[k] = if i == j { 1.0 } else { random(&mut state) };
        }
        lu.factor().unwrap();
        assert!(lu.places() < 20 * n, "{} places, {n} columns", lu.places());
        let ordered: Vec<f64> = positions.iter().map(|&k| lu.values[k]).collect();
        let b: Vec<f64> = (0..n).map(|i| (0.3 * i as f64).sin()).collect();
        let mut x = b.clone();
        lu.solve(&mut x);
        let mut rest = b;
        places.iter().zip(&ordered).for_each(|(&(i, j), a)| rest[i] -= a * x[j]);
        assert!(rest.iter().all(|r| r.abs() < 1e-8));
    }

    /// A generator of numbers between -1 and 1.
    fn random(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// The largest component of A x − b for the solution of A x = b, b = 1, 2, …
    fn defect<T: Shift>(lu: &mut SparseLu<T>, n: usize, places: &[(usize, usize)]) -> f64 {
        let b: Vec<T> = (0..n).map(|i| T::from(1.0 + i as f64)).collect();
        let mut x = b.clone();
        lu.solve(&mut x);
        let mut rest = b;
        for (&a, &(i, j)) in lu.values.iter().zip(places) {
            rest[i] = rest[i] - a * x[j];
        }
        rest.into_iter().map(T::magnitude).fold(0.0, f64::max)
    }

    #[test]
    fn a_second_difference_is_inverted_again_and_again() {
        let n = 50;
        let places = tridiagonal(n);
        let mut lu = SparseLu::<f64>::new(n, &places).unwrap();
        for diagonal in [2.0, 3.0] {
            for (value, (i, j)) in lu.values.iter_mut().zip(&places) {
                *value = if i == j { diagonal } else { -1.0 };
            }
            lu.factor().unwrap();
            assert!(defect(&mut lu, n, &places) < 1e-10);
            // nothing fills in
            assert_eq!(lu.places(), places.len() - n);
        }
    }

    #[test]
    fn random_matrices_are_solved_with_pivots_that_are_kept_and_with_new_ones() {
        let mut seed = 1;
        for n in [1, 2, 7, 40, 120] {
            for _ in 0..20 {
                let mut places: Vec<(usize, usize)> = (0..3 * n)
                    .map(|_| [0, 0].map(|_| (random(&mut seed).abs() * n as f64) as usize).into())
                    // a permuted diagonal makes it regular
                    .chain((0..n).map(|i| ((i + n / 3) % n, i)))
                    .collect();
                places.sort_unstable_by_key(|&(i, j)| (j, i));
                places.dedup();
                let mut lu = SparseLu::<f64>::new(n, &places).unwrap();
                let mut complex = SparseLu::<c64>::new(n, &places).unwrap();
                let first: Vec<f64> = places.iter().map(|_| random(&mut seed)).collect();
                for change in [0.0, 0.01, 1.0] {
                    for (k, value) in first.iter().enumerate() {
                        lu.values[k] = value + change * random(&mut seed);
                        complex.values[k] = c64::new(lu.values[k], random(&mut seed));
                    }
                    lu.factor().unwrap();
                    complex.factor().unwrap();
                    assert!(defect(&mut lu, n, &places) < 1e-6, "{n} {change}");
                    assert!(defect(&mut complex, n, &places) < 1e-6, "{n} {change}");
                }
            }
        }
    }

    #[test]
    fn a_pivot_that_vanishes_is_replaced() {
        // (M Kᵀ; K 0) of a mass on a rod that turns
        let places = [(0, 0), (2, 0), (1, 1), (2, 1), (0, 2), (1, 2)];
        let mut lu = SparseLu::<f64>::new(3, &places).unwrap();
        for k in 0..=100 {
            let (s, c) = (0.1 * f64::from(k)).sin_cos();
            lu.values.copy_from_slice(&[1.0, c, 1.0, s, c, s]);
            lu.factor().unwrap();
            assert!(defect(&mut lu, 3, &places) < 1e-12, "{k}");
        }
    }

    #[test]
    fn singular_matrices_are_refused() {
        let places = tridiagonal(3);
        let mut lu = SparseLu::<f64>::new(3, &places).unwrap();
        assert!(lu.factor().is_err());
        // rows 0 and 1 equal
        for (value, place) in lu.values.iter_mut().zip(&places) {
            *value = if place.0 < 2 && place.1 < 2 || *place == (2, 2) { 1.0 } else { 0.0 };
        }
        assert!(lu.factor().is_err());
        lu.values[0] = 2.0;
        assert!(lu.factor().is_ok());
        lu.values[0] = f64::NAN;
        assert!(lu.factor().is_err());
        lu.values[0] = 2.0;
        assert!(lu.factor().is_ok());
        // a row without an entry
        let mut lu = SparseLu::<f64>::new(2, &[(0, 0), (0, 1)]).unwrap();
        lu.values.fill(1.0);
        assert!(lu.factor().is_err());
    }
}
