//! Selectors of projected formulations, from singular value decompositions of the gradients of constraints.
//!
//! ```text
//! [U₁ᵀ; U₂ᵀ] G [V₁ V₂] = [Σ 0; 0 0]
//! ```
//!
//! V₂ᵀ selects differential equations: its rows span ker G, so that [V₂ᵀ; G] has full rank, and are orthonormal. U₁ᵀ selects constraints that
//! are independent of each other. The rows of U₂ᵀ are the combinations of multipliers that cause no force. Steinbrecher, thesis (2006),
//! 4.6.9 to 4.6.15 and 5.2. Rows in very different units are brought to one:
//! a rod in nanometres is no redundant one.

use crate::error::{ConstraintBlock, StepFailure};
use crate::linalg::rank::{ALONG_RUN, NEARLY_LOST, VANISHING};
use crate::linalg::{Jacobian, Lu, Matrix, RankRule, Svd};
use std::ops::Range;

/// Rows that are smaller than the largest by more than this are scaled, before small singular values are taken for dependence. Others keep
/// their units, in which undetermined multipliers are smallest.
const OTHER_UNITS: f64 = 1e4;
/// Largest tangent of an angle between the selected and the present ker G, √3: 60 degrees, where σ_min(S K) = 1/2.
const MOST_TANGENT_SQUARED: f64 = 3.0;
/// Gradients that differ by less than this, relative to their size, share a selector.
const EQUAL: f64 = 1e-10;

/// Gradients of some rows with respect to some unknowns, and the subspaces that were chosen for them.
pub(super) struct SelectorGradients {
    block: ConstraintBlock,
    rows: Vec<usize>,
    unknowns: Vec<usize>,
    /// those of the unknowns whose derivatives are known, as places among them
    moving: Vec<usize>,
    /// factors of the rows
    units: Vec<f64>,
    /// with these factors, and up to the sign, which subspaces do not see
    G: Matrix,
    svd: Svd,
    rank: usize,
    ranks: RankRule,
    /// largest of the smallest singular values that count, over all choices
    usual: f64,
    /// U₁ᵀ G V₁ and a column of U₁ᵀ G V₂, for the angle between subspaces
    turned: Lu<f64>,
    column: Vec<f64>,
}

/// A subspace of [`SelectorGradients`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subspace {
    /// U₁: independent combinations of rows.
    Kept,
    /// U₂: combinations of rows that depend on the others.
    Dropped,
    /// V₂: directions that the rows leave free.
    Free,
}

impl SelectorGradients {
    /// Room for the gradients of these rows of the array with respect to these unknowns. Derivatives of the unknowns `still` stand in no
    /// equation.
    pub fn new(
        block: ConstraintBlock,
        rows: Vec<usize>,
        unknowns: Vec<usize>,
        still: &Range<usize>,
        ranks: RankRule,
    ) -> Self {
        let (m, n) = (rows.len(), unknowns.len());
        let moving = (0..n).filter(|&k| !still.contains(&unknowns[k])).collect();
        let (G, svd) = (Matrix::zeros(m, n), Svd::new(m, n));
        let (units, turned) = (vec![1.0; m], Lu::new(0));
        let column = Vec::new();
        SelectorGradients { block, rows, unknowns, moving, units, G, svd, rank: 0, ranks, usual: 0.0, turned, column }
    }

    /// Rows of the array.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Unknowns whose derivatives are known.
    pub fn moving(&self) -> impl Iterator<Item = usize> + '_ {
        self.moving.iter().map(|&k| self.unknowns[k])
    }

    /// Rank at the last choice.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Are rows dropped as redundant?
    pub fn redundant(&self) -> bool {
        self.rank < self.rows.len()
    }

    /// Take the gradients from the Jacobian of the array.
    pub fn take(&mut self, F: &Jacobian) {
        for (i, &row) in self.rows.iter().enumerate() {
            for (g, &j) in self.G.row_mut(i).iter_mut().zip(&self.unknowns) {
                *g = self.units[i] * F[(row, j)];
            }
        }
    }

    /// Factors of rows, if they are needed at the gradients at hand; rows that vanish have none.
    fn bring_to_one_unit(&mut self) {
        let top = |row: &[f64]| row.iter().fold(0.0_f64, |top, g| top.max(g.abs()));
        let most = top(self.G.data());
        for (i, unit) in self.units.iter_mut().enumerate() {
            let size = top(self.G.row(i));
            if size < most / OTHER_UNITS && size > VANISHING * most {
                *unit = most / size;
                self.G.row_mut(i).iter_mut().for_each(|g| *g *= *unit);
            }
        }
    }

    /// The factor of a row.
    pub fn unit(&self, row: usize) -> f64 {
        self.units[row]
    }

    /// Choose subspaces. `first` allows every rank, later ones must keep it.
    pub fn choose(&mut self, t: f64, first: bool) -> Result<(), StepFailure> {
        let (m, n) = (self.rows.len(), self.unknowns.len());
        if first {
            self.bring_to_one_unit();
        }
        for i in 0..m {
            for j in 0..n {
                self.svd.A[(i, j)] = self.G[(i, j)];
            }
        }
        self.svd.factor().map_err(|_| StepFailure::SvdFailed { t })?;
        let largest = self.svd.sigma(0);
        let now = self.svd.rank(self.ranks.or(ALONG_RUN) * largest);
        if first {
            self.rank = now;
            self.turned = Lu::new(now);
            self.column = vec![0.0; now];
        }
        if now != self.rank {
            let relative = |k: usize| if largest > 0.0 { self.svd.sigma(k) / largest } else { 0.0 };
            let (smallest, neglected) = (relative(now.saturating_sub(1)), relative(now));
            return Err(StepFailure::RankChange { t, block: self.block, before: self.rank, now, smallest, neglected });
        }
        self.usual = self.usual.max(self.svd.sigma(now.saturating_sub(1)));
        Ok(())
    }

    /// Has the smallest singular value that counts almost vanished at the gradients at hand?
    pub fn loss(&self, t: f64) -> Option<StepFailure> {
        let mut svd = Svd::new(self.rows.len(), self.unknowns.len());
        for i in 0..self.rows.len() {
            for j in 0..self.unknowns.len() {
                svd.A[(i, j)] = self.G[(i, j)];
            }
        }
        let smallest = if self.rank > 0 && svd.factor().is_ok() { svd.sigma(self.rank - 1) / self.usual } else { 1.0 };
        (smallest < NEARLY_LOST).then_some(StepFailure::RankLoss { t, block: self.block, smallest })
    }

    /// Are these the same gradients?
    pub fn equal(&self, other: &SelectorGradients) -> bool {
        let size = |m: f64, x: &f64| m.max(x.abs());
        let largest = self.G.data().iter().fold(0.0, size);
        let same = |(x, y): (&f64, &f64)| (x - y).abs() <= EQUAL * largest;
        self.G.rows() == other.G.rows()
            && self.G.cols() == other.G.cols()
            && self.G.data().iter().zip(other.G.data()).all(same)
    }

    /// Choose what was chosen for equal gradients.
    pub fn follow(&mut self, other: &SelectorGradients) {
        self.svd.U.copy_from(&other.svd.U);
        self.svd.V.copy_from(&other.svd.V);
        if self.turned.A.rows() != other.rank {
            self.turned = Lu::new(other.rank);
            self.column = vec![0.0; other.rank];
        }
        (self.rank, self.usual) = (other.rank, other.usual);
        self.units.copy_from_slice(&other.units);
    }

    /// Has ker G turned by more than 60 degrees in some direction since the choice?
    ///
    /// Tangents of ker G are V₂ β + V₁ T β with T = −(U₁ᵀ G V₁)⁻¹ U₁ᵀ G V₂, and ‖T‖ is the tangent of the angle; the larger Frobenius norm is
    /// taken for it.
    pub fn strayed(&mut self) -> bool {
        let (r, n) = (self.rank, self.unknowns.len());
        if r == 0 || r == n {
            return false;
        }
        let (U, V, G) = (&self.svd.U, &self.svd.V, &self.G);
        let product = |i: usize, k: usize| -> f64 {
            let along = |row: usize| -> f64 { G.row(row).iter().enumerate().map(|(j, g)| g * V[(j, k)]).sum() };
            (0..G.rows()).map(|row| U[(row, i)] * along(row)).sum()
        };
        for i in 0..r {
            for k in 0..r {
                self.turned.A[(i, k)] = product(i, k);
            }
        }
        if self.turned.factor().is_err() {
            return true;
        }
        let mut sum = 0.0;
        for k in r..n {
            for (i, b) in self.column.iter_mut().enumerate() {
                *b = product(i, k);
            }
            self.turned.solve(&mut self.column);
            sum += self.column.iter().map(|b| b * b).sum::<f64>();
        }
        !(sum <= MOST_TANGENT_SQUARED)
    }

    /// Number of directions in a subspace.
    pub fn dimension(&self, subspace: Subspace) -> usize {
        match subspace {
            Subspace::Kept => self.rank,
            Subspace::Dropped => self.rows.len() - self.rank,
            Subspace::Free => self.unknowns.len() - self.rank,
        }
    }

    /// A basis of a subspace, as rows: of moving unknowns in free directions; the rows themselves where all of them are kept.
    pub fn basis(&self, subspace: Subspace, S: &mut Matrix) {
        let identity = subspace == Subspace::Kept && !self.redundant();
        for k in 0..S.rows() {
            for (i, s) in S.row_mut(k).iter_mut().enumerate() {
                *s = match subspace {
                    Subspace::Kept if identity => f64::from(u8::from(i == k)),
                    Subspace::Kept => self.svd.U[(i, k)] * self.units[i],
                    Subspace::Dropped => self.svd.U[(i, self.rank + k)] * self.units[i],
                    Subspace::Free => self.svd.V[(self.moving[i], self.rank + k)],
                };
            }
            if subspace == Subspace::Dropped && self.units.iter().any(|unit| *unit != 1.0) {
                orthonormalise(S, k);
            }
        }
    }
}

/// Make row k orthogonal to those before it, and of length one.
fn orthonormalise(S: &mut Matrix, k: usize) {
    for j in 0..k {
        let along: f64 = S.row(j).iter().zip(S.row(k)).map(|(a, b)| a * b).sum();
        let (before, row) = S.row_pair(j, k);
        row.iter_mut().zip(before).for_each(|(r, b)| *r -= along * *b);
    }
    let length = S.row(k).iter().map(|s| s * s).sum::<f64>().sqrt();
    S.row_mut(k).iter_mut().for_each(|s| *s /= length);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(G: &[&[f64]]) -> SelectorGradients {
        let (rows, unknowns) = ((0..G.len()).collect(), (0..G[0].len()).collect());
        let mut gradients =
            SelectorGradients::new(ConstraintBlock::Position, rows, unknowns, &(0..0), RankRule::default());
        for (i, row) in G.iter().enumerate() {
            gradients.G.row_mut(i).copy_from_slice(row);
        }
        gradients
    }

    #[test]
    fn a_row_in_a_small_unit_is_no_redundant_one() {
        for (unit, rank) in [(1e-3, 2), (1e-9, 2), (1e-15, 1)] {
            let mut gradients = of(&[&[1.0, 2.0, 0.0], &[0.0, unit, unit]]);
            gradients.choose(0.0, true).unwrap();
            assert_eq!(gradients.rank(), rank, "{unit}");
        }
        // and a redundant one is: what is left out are combinations u of the rows as they are written with uᵀG = 0
        let mut gradients = of(&[&[1.0, 2.0, 0.0], &[1e-9, 2e-9, 0.0]]);
        gradients.choose(0.0, true).unwrap();
        let mut U = Matrix::zeros(1, 2);
        gradients.basis(Subspace::Dropped, &mut U);
        assert!((U[(0, 0)] + 1e-9 * U[(0, 1)]).abs() < 1e-16 && (U[(0, 1)].abs() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn free_directions_are_orthonormal_and_tangential() {
        let G: [&[f64]; 2] = [&[1.0, 2.0, 3.0, 4.0], &[2.0, 4.0, 6.0, 8.0]];
        let mut gradients = of(&G);
        gradients.choose(0.0, true).unwrap();
        assert_eq!((gradients.rank(), gradients.redundant()), (1, true));
        let mut S = Matrix::zeros(gradients.dimension(Subspace::Free), 4);
        gradients.basis(Subspace::Free, &mut S);
        for i in 0..3 {
            for k in 0..3 {
                let product: f64 = (0..4).map(|j| S[(i, j)] * S[(k, j)]).sum();
                assert!((product - f64::from(u8::from(i == k))).abs() < 1e-14);
            }
            assert!((0..4).map(|j| S[(i, j)] * G[0][j]).sum::<f64>().abs() < 1e-13);
        }
        // λ ∝ (2, −1) causes no force
        let mut U2 = Matrix::zeros(1, 2);
        gradients.basis(Subspace::Dropped, &mut U2);
        assert!((U2[(0, 0)] + 2.0 * U2[(0, 1)]).abs() < 1e-15);
    }

    #[test]
    fn a_tangent_that_turned_by_more_than_sixty_degrees_has_strayed() {
        let mut gradients = of(&[&[1.0, 0.0]]);
        gradients.choose(0.0, true).unwrap();
        for (degrees, strayed) in
            [(0.0_f64, false), (59.0, false), (61.0, true), (90.0, true), (119.0, true), (121.0, false)]
        {
            let angle = degrees.to_radians();
            gradients.G.row_mut(0).copy_from_slice(&[angle.cos(), angle.sin()]);
            assert_eq!(gradients.strayed(), strayed, "{degrees}");
        }
    }

    #[test]
    fn a_rank_that_is_almost_lost_is_told() {
        let mut gradients = of(&[&[1.0, 0.0], &[0.0, 0.5]]);
        gradients.choose(0.0, true).unwrap();
        assert!(gradients.loss(0.0).is_none());
        gradients.G.row_mut(1).copy_from_slice(&[1.0, 0.002]);
        let failure = gradients.loss(0.5).unwrap();
        assert!(matches!(failure, StepFailure::RankLoss { t: 0.5, smallest, .. } if smallest < 0.02), "{failure}");
    }

    #[test]
    fn a_changed_rank_is_told() {
        let mut gradients = of(&[&[1.0, 0.0], &[0.0, 1.0]]);
        gradients.choose(0.0, true).unwrap();
        gradients.G.row_mut(1).copy_from_slice(&[1.0, 0.0]);
        let failure = gradients.choose(0.5, false).unwrap_err();
        assert!(matches!(failure, StepFailure::RankChange { t: 0.5, before: 2, now: 1, .. }), "{failure}");
    }
}
