//! Accelerations and multipliers as formulas: the saddle point system, eliminated once in symbols.
//!
//! ```text
//! [M Kᵀ; K 0] (a; λ, μ) = (f; −Γ),   K = (GZ; HZ)
//! ```
//! Zeros of M and K take no part, and what is constant is a number: a diagonal M leaves the elimination of K M⁻¹Kᵀ. Pivots are chosen at one
//! point, by Markowitz's rule among those that are large enough there. Whether they suit another point the residual tells: a solution of
//! A x = b counts where |A x − b| is rounding in |A| |x| + |b|, as a backward stable one's is (Oettli & Prager 1964); elsewhere whoever asks
//! decomposes A.

use super::symbolic::ArrayEntries;
use crate::graph::{Expr, Graph};
use crate::scalar::Scalar;
use std::collections::BTreeMap;

/// A pivot is at least this part of the largest entry of its column. Chosen, as usual for sparse matrices.
const LARGE_ENOUGH: f64 = 0.1;
/// Most multiplications of an elimination: longer code is not faster than loops. Chosen: a dense matrix of 18 rows has as many.
const MOST_PRODUCTS: usize = 2_000;
/// Largest matrix that is looked at.
const MOST_ROWS: usize = 64;
/// Residuals up to this part of |A| |x| + |b| are rounding.
const ROUNDING: f64 = 450.0 * f64::EPSILON;

/// What `[M Kᵀ; K 0]` is solved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Solved {
    /// Accelerations and multipliers: (f; −Γ) on the right.
    Acceleration,
    /// The correction that leads onto the position constraints, as far as the linearised ones tell: (0; −g).
    Position,
    /// The correction that leads onto the velocity constraints: (0; −(K v + k₀)).
    Velocity,
    /// Directions along the constraints in which invariants e(p, v) change most, in the metric of M: ((e_p Z)ᵀ; 0) and (e_vᵀ; 0) for each of them.
    Invariants,
}

/// Invariants at a point, and directions along the constraints that change them.
#[derive(Clone, Debug, Default)]
pub struct InvariantSlopes {
    /// e.
    pub e: Vec<f64>,
    /// Directions Z u of positions and w of velocities for every invariant, one behind the other.
    pub along: [Vec<f64>; 2],
    /// e_p Z u and e_v w: row i holds how fast invariant i changes in all directions.
    pub slopes: [Vec<f64>; 2],
}

impl InvariantSlopes {
    /// For so many invariants, positions and velocities.
    pub fn new(invariants: usize, positions: usize, velocities: usize) -> Self {
        let zeros = |each: usize| vec![0.0; invariants * each];
        InvariantSlopes {
            e: zeros(1),
            along: [positions, velocities].map(zeros),
            slopes: [zeros(invariants), zeros(invariants)],
        }
    }
}

/// Rows and columns of the pivots, in the order of elimination.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PivotOrder(Vec<(usize, usize)>);

impl PivotOrder {
    /// For a matrix with these entries at a point; none if it is singular, or if there is too much to eliminate.
    pub fn of(size: usize, entries: &[(usize, usize, f64)]) -> Option<Self> {
        if size > MOST_ROWS {
            return None;
        }
        // entries may vanish at this point only
        let mut A: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); size];
        for &(i, j, value) in entries {
            *A[i].entry(j).or_insert(0.0) += value;
        }
        let mut left: Vec<usize> = (0..size).collect();
        let (mut pivots, mut products) = (Vec::with_capacity(size), 0);
        while !left.is_empty() {
            let (mut count, mut largest) = (vec![0; size], vec![0.0_f64; size]);
            for (&j, value) in left.iter().flat_map(|&i| &A[i]) {
                count[j] += 1;
                largest[j] = largest[j].max(value.abs());
            }
            let work = |i: usize, j: usize| (A[i].len() - 1) * (count[j] - 1);
            let candidates = left.iter().flat_map(|&i| A[i].iter().map(move |(&j, value)| (i, j, value.abs())));
            let (row, column, _) = candidates
                .filter(|&(_, j, size)| size > 0.0 && size.is_finite() && size >= LARGE_ENOUGH * largest[j])
                .min_by(|a, b| work(a.0, a.1).cmp(&work(b.0, b.1)).then(b.2.total_cmp(&a.2)))?;
            products += work(row, column);
            if products > MOST_PRODUCTS {
                return None;
            }
            left.retain(|&i| i != row);
            let pivot = A[row].clone();
            for &i in &left {
                let Some(below) = A[i].remove(&column) else { continue };
                let factor = below / pivot[&column];
                for (&j, u) in pivot.iter().filter(|(j, _)| **j != column) {
                    *A[i].entry(j).or_insert(0.0) -= factor * u;
                }
            }
            pivots.push((row, column));
        }
        Some(PivotOrder(pivots))
    }

    /// x of A x = b, then A x − b, then |A| |x| + |b|.
    pub fn solve(&self, graph: &mut Graph, A: &ArrayEntries, b: &[Expr]) -> Vec<Expr> {
        graph.with(|| {
            let x = self.eliminate(A, b.to_vec());
            let (mut residual, mut size) = (b.to_vec(), Vec::with_capacity(b.len()));
            for r in &mut residual {
                *r = -*r;
            }
            size.extend(b.iter().map(|b| b.abs()));
            for &(i, j, entry) in A {
                let product = entry * x[j];
                residual[i] += product;
                size[i] += product.abs();
            }
            [x, residual, size].concat()
        })
    }

    fn eliminate(&self, A: &ArrayEntries, mut b: Vec<Expr>) -> Vec<Expr> {
        let mut rows: Vec<BTreeMap<usize, Expr>> = vec![BTreeMap::new(); b.len()];
        for &(i, j, entry) in A {
            rows[i].entry(j).and_modify(|sum| *sum += entry).or_insert(entry);
        }
        let mut inverses = Vec::with_capacity(b.len());
        for (k, &(row, column)) in self.0.iter().enumerate() {
            let pivot = rows[row].clone();
            let inverse = Expr::from(1.0) / pivot[&column];
            inverses.push(inverse);
            for &(i, _) in &self.0[k + 1..] {
                let Some(below) = rows[i].remove(&column) else { continue };
                let factor = below * inverse;
                for (&j, &u) in pivot.iter().filter(|(j, _)| **j != column) {
                    let product = factor * u;
                    rows[i].entry(j).and_modify(|entry| *entry -= product).or_insert_with(|| -product);
                }
                let of_b = factor * b[row];
                b[i] -= of_b;
            }
        }
        let mut x = b.clone();
        for (&(row, column), inverse) in self.0.iter().zip(inverses).rev() {
            let solved = rows[row].iter().filter(|(j, _)| **j != column);
            x[column] = solved.fold(b[row], |sum, (&j, &u)| sum - u * x[j]) * inverse;
        }
        x
    }
}

/// Are residuals rounding? Solutions have `rows` rows each, one behind the other, of which the first `upper` are equations of forces, the others of
/// accelerations. Elimination mixes rows, so that what counts is the largest size of each kind. Not where any of them is not a number.
#[inline]
pub(super) fn is_rounding(residual: &[f64], size: &[f64], (upper, rows): (usize, usize)) -> bool {
    let small = |residual: &[f64], size: &[f64]| {
        let bound = ROUNDING * size.iter().fold(0.0_f64, |most, s| most.max(*s));
        bound < f64::INFINITY && residual.iter().all(|r| r.abs() <= bound)
    };
    residual
        .chunks_exact(rows.max(1))
        .zip(size.chunks_exact(rows.max(1)))
        .all(|(residual, size)| small(&residual[..upper], &size[..upper]) && small(&residual[upper..], &size[upper..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Tape;

    /// [M Kᵀ; K 0] of three masses and one constraint, whose coefficients are inputs.
    fn solved(at: [f64; 3]) -> (Vec<f64>, impl Fn([f64; 3]) -> Vec<f64>) {
        let mut graph = Graph::new();
        let k: Vec<Expr> = (0..3).map(|i| graph.input(format!("k{i}"))).collect();
        let masses = graph.with(|| [2.0, 0.5, 3.0].map(Expr::from));
        let b = graph.with(|| [1.0, -2.0, 0.5, 0.25].map(Expr::from));
        let mut A: ArrayEntries = (0..3).map(|i| (i, i, masses[i])).collect();
        A.extend((0..3).flat_map(|j| [(3, j, k[j]), (j, 3, k[j])]));
        let values = |at: [f64; 3]| {
            let value = |e: Expr| graph.constant(e).unwrap_or_else(|| at[e.index()]);
            A.iter().map(|&(i, j, e)| (i, j, value(e))).collect::<Vec<_>>()
        };
        let pivots = PivotOrder::of(4, &values(at)).expect("a regular matrix");
        let outputs = pivots.solve(&mut graph, &A, &b);
        let tape = Tape::new(&graph, &outputs);
        let evaluate = move |k: [f64; 3]| tape.evaluate(&k);
        (evaluate(at), evaluate)
    }

    #[test]
    fn formulas_solve_the_system_where_the_pivots_were_chosen_and_elsewhere() {
        let (_, evaluate) = solved([1.0, 0.5, -2.0]);
        for k in [[1.0, 0.5, -2.0], [0.0, 3.0, 0.1], [-1e-3, 0.0, 7.0]] {
            let all = evaluate(k);
            let (x, rest) = all.split_at(4);
            // a = M⁻¹(f − kᵀλ), λ = (k M⁻¹f − c)/(k M⁻¹kᵀ)
            let (m, f) = ([2.0, 0.5, 3.0], [1.0, -2.0, 0.5]);
            let sum = |y: [f64; 3]| (0..3).map(|i| k[i] * y[i] / m[i]).sum::<f64>();
            let lambda = (sum(f) - 0.25) / sum(k);
            assert!((x[3] - lambda).abs() < 1e-13 * lambda.abs().max(1.0), "{x:?} {lambda}");
            (0..3).for_each(|i| assert!((x[i] - (f[i] - k[i] * lambda) / m[i]).abs() < 1e-10, "{k:?}"));
            assert!(is_rounding(&rest[..4], &rest[4..], (3, 4)), "{rest:?}");
        }
        // no constraint is left
        let none = evaluate([0.0; 3]);
        assert!(!is_rounding(&none[4..8], &none[8..], (3, 4)), "{none:?}");
    }

    #[test]
    fn pivots_that_do_not_suit_another_point_are_seen() {
        let entries = |x: f64| [(0, 0, x), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0)];
        let mut graph = Graph::new();
        let x = graph.input("x");
        let one = graph.with(|| Expr::from(1.0));
        let A = vec![(0, 0, x), (0, 1, one), (1, 0, one), (1, 1, one)];
        let b = graph.with(|| [1.0, 3.0].map(Expr::from));
        // the first pivot is that of the largest entry
        let pivots = PivotOrder::of(2, &entries(5.0)).expect("a regular matrix");
        let outputs = pivots.solve(&mut graph, &A, &b);
        let tape = Tape::new(&graph, &outputs);
        let trusted = |x: f64| {
            let all = tape.evaluate(&[x]);
            is_rounding(&all[2..4], &all[4..], (2, 2))
        };
        assert!(trusted(5.0) && trusted(-2.0));
        assert!(!trusted(1e-9) && !trusted(0.0) && !trusted(f64::NAN));
    }

    #[test]
    fn what_is_singular_or_too_much_is_left_to_others() {
        assert_eq!(PivotOrder::of(2, &[(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 4.0)]), None);
        assert_eq!(PivotOrder::of(2, &[(0, 0, 1.0), (0, 1, 2.0)]), None);
        let full = |n: usize| -> Vec<_> {
            (0..n * n).map(|k| (k / n, k % n, if k / n == k % n { 9.0 } else { 1.0 / (k + 1) as f64 })).collect()
        };
        assert!(PivotOrder::of(12, &full(12)).is_some());
        assert_eq!(PivotOrder::of(30, &full(30)), None);
    }
}
