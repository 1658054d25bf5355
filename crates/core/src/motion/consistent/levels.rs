//! Consistent initial values of large mechanisms, level by level with sparse matrices.
//!
//! ```text
//! positions:    least δ with g + G δ = 0,           again until g holds to rounding
//! velocities:   least δ with K (v + δ) + k₀ = 0
//! a, λ, μ:      from the dynamic equations, gII and hI
//! ```
//! Changes are measured in units 1 + |x|, and fixed values stay. Where every level has a solution of its own, no level moves the values of
//! another one, and that is the lexicographic least change of the general search. Everything else is left to that search: unknown
//! positions, redundant constraints, levels that must move values of others, iterations that do not converge.

use super::{CONSISTENT, tolerance_of};
use crate::consistent::ROUNDING;
use crate::initial::Start;
use crate::linalg::{Augmented, Jacobian, RankRule, SparseLu, SparseMatrix};
use crate::method::passage::SparseRank;
use crate::motion::{Layout, ReducedArray};
use std::ops::Range;

/// Most iterations of a level. Chosen: Newton's iteration doubles digits, from guesses that are roughly right.
const MOST: u32 = 30;

/// Rows, slopes and sizes of terms at a point.
struct Levels<'a> {
    array: &'a mut dyn ReducedArray,
    layout: &'a Layout,
    t: f64,
    starts: &'a [Start],
    rows: Vec<f64>,
    /// −∂k/∂x
    F: SparseMatrix,
    /// what each row is summed from
    sizes: Vec<f64>,
}

/// Move x onto the constraints and find accelerations and multipliers. The number of iterations; nothing if the general search is needed.
pub(super) fn settle(
    array: &mut dyn ReducedArray,
    t: f64,
    starts: &[Start],
    ranks: RankRule,
    x: &mut [f64],
) -> Option<u32> {
    let layout = array.layout().clone();
    let l = &layout;
    let sparse = array.new_matrices().iter().all(Jacobian::is_sparse);
    let (Jacobian::Sparse(F), true) = (array.new_jacobian(), sparse) else { return None };
    let given = |j: usize| starts[j] != Start::Unknown;
    let computed = |j: usize| !matches!(starts[j], Start::Fixed(_));
    if l.sizes.contact + l.sizes.auxiliary > 0 || !(l.n1()..l.dim()).all(given) || !(0..l.n1()).all(computed) {
        return None;
    }
    let (rows, sizes) = (vec![0.0; l.rows()], vec![1.0; l.rows()]);
    let mut levels = Levels { array, layout: l, t, starts, rows, F, sizes };
    let positions = levels.project(l.row_g(), l.p(), x)?;
    let velocities = levels.project(l.row_g1().start..l.row_h().end, l.v(), x)?;
    let [_, GZ, HZ] = levels.array.matrices(t, x).ok()?;
    let Jacobian::Sparse(K) = Jacobian::stacked(&GZ, &HZ) else { return None };
    if !SparseRank::of(&K, ranks).is_full() {
        return None;
    }
    let forces = levels.forces(x)?;
    let consistent = (0..l.algebraic()).all(|i| levels.rows[i].abs() <= CONSISTENT * levels.sizes[i]);
    consistent.then_some(positions + velocities + forces)
}

impl Levels<'_> {
    /// Values, slopes and sizes at x; nothing where they are not finite.
    fn linearise(&mut self, x: &[f64]) -> Option<()> {
        self.array.evaluate(self.t, x, &mut self.rows).ok()?;
        let mut F = Jacobian::Sparse(std::mem::replace(&mut self.F, SparseMatrix::new(0, 0, Vec::new())));
        let outcome = self.array.jacobian(self.t, x, &self.rows, &mut F);
        if let Jacobian::Sparse(F) = F {
            self.F = F;
        }
        outcome.ok()?;
        let of = |i: usize| {
            let (columns, slopes) = self.F.row(i);
            tolerance_of(columns.iter().zip(slopes).map(|(&j, &slope)| (slope, x[j])))
        };
        let largest = |rows: Range<usize>| rows.map(|i| of(i).1).fold(0.0, f64::max);
        let constraints = largest(self.layout.row_g()).max(largest(self.layout.row_g1()));
        let sizes = (0..self.layout.algebraic()).map(|i| (of(i).0 + 1e-15 * (1.0 + constraints)) / CONSISTENT);
        self.sizes.iter_mut().zip(sizes).for_each(|(own, size)| *own = size);
        Some(())
    }

    /// The largest residual of some rows, relative to their sizes.
    fn residual(&self, rows: Range<usize>) -> f64 {
        rows.map(|i| self.rows[i].abs() / self.sizes[i]).fold(0.0, f64::max)
    }

    /// Move the values of some columns least so that some rows hold; nothing if they cannot.
    fn project(&mut self, rows: Range<usize>, columns: Range<usize>, x: &mut [f64]) -> Option<u32> {
        if rows.is_empty() {
            return Some(0);
        }
        self.linearise(x)?;
        let inside = |&(i, j): &(usize, usize)| rows.contains(&i) && columns.contains(&j);
        let own: Vec<usize> = (0..).zip(self.F.places()).filter(|(_, place)| inside(place)).map(|(k, _)| k).collect();
        let places: Vec<(usize, usize)> = self.F.places().filter(inside).collect();
        let local = places.iter().map(|&(i, j)| (i - rows.start, j - columns.start)).collect();
        let mut W = SparseMatrix::new(rows.len(), columns.len(), local);
        let mut augmented = Augmented::new(&W);
        // what holds at the given values moves nothing, whatever else has to move
        let holds = |levels: &Self, i: usize| levels.rows[i].abs() <= ROUNDING * levels.sizes[i];
        let given: Vec<bool> = rows.clone().map(|i| holds(self, i)).collect();
        let (mut iterations, mut polished, mut last) = (0, false, f64::INFINITY);
        loop {
            let residual = self.residual(rows.clone());
            let rounding = residual <= ROUNDING;
            if rounding && (iterations == 0 || polished) {
                return Some(iterations);
            }
            if !(residual < last) || iterations == MOST {
                return (residual <= CONSISTENT).then_some(iterations);
            }
            (polished, last) = (rounding, if rounding { f64::INFINITY } else { residual });
            let unit = |j: usize| if let Start::Fixed(_) = self.starts[j] { 0.0 } else { 1.0 + x[j].abs() };
            for (w, (&k, &(_, j))) in W.values_mut().iter_mut().zip(own.iter().zip(&places)) {
                *w = -self.F.values()[k] * unit(j);
            }
            augmented.factor(&W).ok()?;
            let units: Vec<f64> = columns.clone().map(unit).collect();
            let delta = augmented.least_norm(|c| {
                for ((c, i), given) in c.iter_mut().zip(rows.clone()).zip(&given) {
                    *c = if *given && holds(self, i) { 0.0 } else { -self.rows[i] };
                }
            });
            x[columns.clone()]
                .iter_mut()
                .zip(delta.iter().zip(&units))
                .for_each(|(x, (delta, unit))| *x += delta * unit);
            iterations += 1;
            self.linearise(x)?;
        }
    }

    /// a, λ and μ.
    fn forces(&mut self, x: &mut [f64]) -> Option<u32> {
        let (rows, columns) = (self.layout.algebraic_blocks()[0].clone(), 0..self.layout.n1());
        self.linearise(x)?;
        let inside = |&(i, j): &(usize, usize)| rows.contains(&i) && columns.contains(&j);
        let own: Vec<usize> = (0..).zip(self.F.places()).filter(|(_, place)| inside(place)).map(|(k, _)| k).collect();
        let places: Vec<_> = self.F.places().filter(inside).map(|(i, j)| (i - rows.start, j)).collect();
        if rows.len() != columns.len() {
            return None;
        }
        let (lu, positions) = SparseLu::<f64>::of_places(columns.len(), &places);
        let mut lu = lu?;
        let (mut iterations, mut polished, mut last) = (0, false, f64::INFINITY);
        loop {
            let residual = self.residual(rows.clone());
            let rounding = residual <= ROUNDING;
            if rounding && (iterations == 0 || polished) || !(residual < last) || iterations == MOST {
                return (residual <= CONSISTENT).then_some(iterations);
            }
            (polished, last) = (rounding, if rounding { f64::INFINITY } else { residual });
            positions.iter().zip(&own).for_each(|(&position, &k)| lu.values[position] = self.F.values()[k]);
            lu.factor().ok()?;
            // −∂k/∂x δ = k
            let mut delta = self.rows[rows.clone()].to_vec();
            lu.solve(&mut delta);
            x[columns.clone()].iter_mut().zip(&delta).for_each(|(x, delta)| *x += delta);
            iterations += 1;
            self.linearise(x)?;
        }
    }
}
