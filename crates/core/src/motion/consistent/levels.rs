//! Consistent initial values of large mechanisms, level by level with sparse matrices.
//!
//! ```text
//! positions:    least δ with g + G δ = 0,           again until g holds to rounding
//! velocities:   least δ with K (v + δ) + k₀ = 0
//! a, λ, μ:      from the dynamic equations, gII and hI
//! ```
//! Changes are measured in units 1 + |x|, and fixed values stay. Where every level has a solution of its own, no level moves the values of
//! another one, and that is the lexicographic least change of the general search. Everything else is left to that search: unknown
//! positions, levels that must move values of others, iterations that do not converge.
//!
//! Redundant constraints are damped, by the square of what is left of them (Levenberg & Marquardt; Yamashita & Fukushima 2001): beside the constraints their
//! rows look independent, and what would satisfy all of them is wild. Where they hold, rows are chosen for accelerations and multipliers, which are then the
//! smallest ones with the same force.

use super::{CONSISTENT, tolerance_of};
use crate::consistent::ROUNDING;
use crate::initial::Start;
use crate::linalg::{Augmented, Jacobian, RankRule, SparseLu, SparseMatrix, dot};
use crate::method::passage::SparseRank;
use crate::method::structural::Redundancy;
use crate::motion::{Layout, Names, ReducedArray};
use std::ops::Range;

/// Most iterations of a level. Chosen: Newton's iteration doubles digits, from guesses that are roughly right.
const MOST: u32 = 30;

/// Damping of redundant constraints, relative to the squares of their slopes: not more than this far from them, and not less, so that it is above rounding.
const MOST_DAMPING: f64 = 1e-4;
const LEAST_DAMPING: f64 = 1e-13;

/// How a level is solved.
#[derive(Clone, Copy, PartialEq)]
enum LevelRows {
    Independent,
    Redundant,
}

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

/// Iterations, and the number of constraints that follow from others.
pub(super) struct Settled {
    pub iterations: u32,
    pub redundant: usize,
}

/// Move x onto the constraints and find accelerations and multipliers; nothing if the general search is needed.
pub(super) fn settle(
    array: &mut dyn ReducedArray,
    names: impl Fn() -> Names,
    t: f64,
    starts: &[Start],
    ranks: RankRule,
    x: &mut [f64],
) -> Option<Settled> {
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
    let given = x.to_vec();
    if let Some(iterations) = levels.move_onto(LevelRows::Independent, x)
        && let Some([_, K]) = levels.matrices(x)
        && SparseRank::of(&K, ranks).is_full()
    {
        let forces = levels.forces(&[], x)?;
        return levels.is_consistent().then_some(Settled { iterations: iterations + forces, redundant: 0 });
    }
    x.copy_from_slice(&given);
    let iterations = levels.move_onto(LevelRows::Redundant, x)?;
    let [M, K] = levels.matrices(x)?;
    let mut chosen = Redundancy::of((&M, &K), names(), ranks)?;
    let forces = levels.forces(chosen.left_out(), x)?;
    chosen.least((&M, &K), &mut x[l.lambda().start..l.mu().end]);
    levels.linearise(x)?;
    let redundant = K.rows() - chosen.rank();
    levels.is_consistent().then_some(Settled { iterations: iterations + forces, redundant })
}

impl Levels<'_> {
    /// Positions and velocities onto their constraints.
    fn move_onto(&mut self, kind: LevelRows, x: &mut [f64]) -> Option<u32> {
        let l = self.layout;
        let positions = self.project(kind, l.row_g(), l.p(), x)?;
        Some(positions + self.project(kind, l.row_g1().start..l.row_h().end, l.v(), x)?)
    }

    /// M and K at x.
    fn matrices(&mut self, x: &[f64]) -> Option<[SparseMatrix; 2]> {
        let [M, GZ, HZ] = self.array.matrices(self.t, x).ok()?;
        let K = Jacobian::stacked(&GZ, &HZ);
        let (Jacobian::Sparse(M), Jacobian::Sparse(K)) = (M, K) else { return None };
        Some([M.clone(), K])
    }

    /// Do all equations hold at the last point?
    fn is_consistent(&self) -> bool {
        (0..self.layout.algebraic()).all(|i| self.rows[i].abs() <= CONSISTENT * self.sizes[i])
    }

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
    fn project(&mut self, kind: LevelRows, rows: Range<usize>, columns: Range<usize>, x: &mut [f64]) -> Option<u32> {
        if rows.is_empty() {
            return Some(0);
        }
        self.linearise(x)?;
        let inside = |&(i, j): &(usize, usize)| rows.contains(&i) && columns.contains(&j);
        let own: Vec<usize> = (0..).zip(self.F.places()).filter(|(_, place)| inside(place)).map(|(k, _)| k).collect();
        let places: Vec<(usize, usize)> = self.F.places().filter(inside).collect();
        let local = places.iter().map(|&(i, j)| (i - rows.start, j - columns.start)).collect();
        let mut W = SparseMatrix::new(rows.len(), columns.len(), local);
        let mut augmented = match kind {
            LevelRows::Independent => Augmented::new(&W),
            LevelRows::Redundant => Augmented::damped(&W),
        };
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
            if kind == LevelRows::Redundant {
                let slopes = (0..W.rows()).map(|i| dot(W.row(i).1, W.row(i).1)).fold(0.0, f64::max);
                augmented.damp(slopes * residual.powi(2).clamp(LEAST_DAMPING, MOST_DAMPING));
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

    /// a, λ and μ, without constraints that are left out, whose multipliers vanish.
    fn forces(&mut self, left_out: &[bool], x: &mut [f64]) -> Option<u32> {
        let (rows, columns) = (self.layout.algebraic_blocks()[0].clone(), 0..self.layout.n1());
        let (first_row, first_column) = (self.layout.row_g2().start, self.layout.lambda().start);
        let out: Vec<usize> = (0..left_out.len()).filter(|&k| left_out[k]).collect();
        let is_out = |k: Option<usize>| k.is_some_and(|k| left_out.get(k) == Some(&true));
        for k in &out {
            x[first_column + k] = 0.0;
        }
        self.linearise(x)?;
        let inside = |&(i, j): &(usize, usize)| rows.contains(&i) && columns.contains(&j);
        let own: Vec<usize> = (0..).zip(self.F.places()).filter(|(_, place)| inside(place)).map(|(k, _)| k).collect();
        let mut places: Vec<_> = self.F.places().filter(inside).map(|(i, j)| (i - rows.start, j)).collect();
        let takes_part: Vec<bool> = places
            .iter()
            .map(|(i, j)| {
                let (row, column) = ((i + rows.start).checked_sub(first_row), j.checked_sub(first_column));
                !is_out(row) && !is_out(column)
            })
            .collect();
        // the diagonal of what is left out may be a place of the pattern already
        let mut diagonal = Vec::new();
        for k in &out {
            let place = (first_row + k - rows.start, first_column + k);
            diagonal.push(places[..own.len()].binary_search(&place).unwrap_or(places.len()));
            if diagonal.last() == Some(&places.len()) {
                places.push(place);
            }
        }
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
            for ((&position, &k), takes_part) in positions.iter().zip(&own).zip(&takes_part) {
                lu.values[position] = if *takes_part { self.F.values()[k] } else { 0.0 };
            }
            for &k in &diagonal {
                lu.values[positions[k]] = 1.0;
            }
            lu.factor().ok()?;
            // −∂k/∂x δ = k
            let mut delta = self.rows[rows.clone()].to_vec();
            for k in &out {
                delta[first_row + k - rows.start] = 0.0;
            }
            lu.solve(&mut delta);
            x[columns.clone()].iter_mut().zip(&delta).for_each(|(x, delta)| *x += delta);
            iterations += 1;
            self.linearise(x)?;
        }
    }
}
