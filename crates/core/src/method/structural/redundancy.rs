//! Redundant constraints of sparse mechanisms: which rows are left out, and multipliers that do not depend on that.
//!
//! Rows are chosen at consistent points alone: beside the constraints those of a spatial loop look independent. The choice is kept until the smallest singular
//! value of the rows that stay has fallen, and then made again. Rows that are left out must hold because of the others; they are looked at in every accepted
//! point, and at the start beside it, because at a singular configuration rows look dependent that are not.
//! Kᵀλ does not depend on the choice, and what is told of λ is the smallest one with this force.

use crate::error::{ConstraintBlock, StepFailure};
use crate::linalg::rank::{REMAINDER, VANISHING};
use crate::linalg::{IndependentRows, Jacobian, LeastMultipliers, RankGap, RankRule, RowMerge, SparseMatrix};
use crate::method::Passage;
use crate::method::passage::SparseRank;
use crate::motion::Names;

/// Another choice is looked for where the smallest singular value of the rows that stay has fallen to this part of its largest one since the last look, and taken where the old one has less than this
/// part of the new one. With 0.3 the error of a Bennett linkage was two hundred times as large.
const BETTER: f64 = 0.9;
/// Rows of which less than this is left wait for those of which more is left. Chosen: each half a decade.
const LEVELS: [f64; 4] = [0.3, 0.1, 0.03, 0.01];
/// Rows that are left out hold to this, relative to their slopes, and to [`FOLLOWS`] times what is left of the rows that stay. Chosen: the square root of ε, where
/// rounding times the condition of a mechanism of a thousand loops leaves 1e-11.
const HOLDS: f64 = 1e-8;
const FOLLOWS: f64 = 1e3;

/// A choice of rows.
pub(crate) struct Redundancy {
    merge: RowMerge,
    least: LeastMultipliers,
    /// D^{-1/2}, the diagonal of M
    columns: Vec<f64>,
    tau: f64,
    left_out: Vec<bool>,
    names: Vec<String>,
    /// number of holonomic constraints, whose rows come first: a nonholonomic one that repeats them is the one to be left out
    holonomic: usize,
    /// how many rows stay
    rank: usize,
    /// smallest singular value of the rows that stay, its largest one since they were last compared with others
    usual: f64,
}

impl Redundancy {
    /// Choose rows of K at a consistent point; nothing if all are independent, or if no choice of them clearly is.
    pub fn of((M, K): (&SparseMatrix, &SparseMatrix), names: Names, ranks: RankRule) -> Option<Self> {
        let holonomic = names.holonomic.len();
        let names: Vec<String> = names.holonomic.into_iter().chain(names.nonholonomic).collect();
        let merge = RowMerge::new(K);
        let mut chosen = Redundancy {
            least: LeastMultipliers::new(K),
            columns: vec![1.0; K.cols()],
            tau: ranks.or(REMAINDER),
            left_out: vec![false; K.rows()],
            names,
            holonomic,
            rank: K.rows(),
            usual: f64::INFINITY,
            merge,
        };
        let gap = chosen.choose(M, K);
        (!gap.is_full() && SparseRank::without(K, &chosen.left_out, ranks).is_full()).then_some(chosen)
    }

    /// How many rows stay.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Which rows are left out.
    pub fn left_out(&self) -> &[bool] {
        &self.left_out
    }

    /// Choose again at a point that does not continue the last one; another number of independent rows is a failure.
    pub fn begin(&mut self, t: f64, M: &SparseMatrix, K: &SparseMatrix) -> Result<(), StepFailure> {
        let before = self.rank;
        let gap = self.choose(M, K);
        self.usual = f64::INFINITY;
        if gap.rank == before {
            return Ok(());
        }
        let (block, now) = (ConstraintBlock::Velocity, gap.rank);
        Err(StepFailure::RankChange { t, block, before, now, smallest: gap.kept, neglected: gap.dropped })
    }

    fn choose(&mut self, M: &SparseMatrix, K: &SparseMatrix) -> RankGap {
        let found = self.select(M, K);
        (self.left_out, self.rank) = (found.dropped, found.gap.rank);
        found.gap
    }

    /// Rows with large remainders first.
    fn select(&mut self, M: &SparseMatrix, K: &SparseMatrix) -> IndependentRows {
        self.weigh(M);
        let mut order = self.merge.by_first_column(K);
        order.sort_by_key(|&i| i >= self.holonomic);
        for level in LEVELS {
            let small = self.merge.independent(K, &self.columns, &order, level).dropped;
            order.sort_by_key(|&i| (i >= self.holonomic, small[i]));
        }
        self.merge.independent(K, &self.columns, &order, self.tau)
    }

    fn weigh(&mut self, M: &SparseMatrix) {
        for (j, column) in self.columns.iter_mut().enumerate() {
            let mass = M.position((j, j)).map_or(0.0, |k| M.values()[k]);
            *column = if mass > 0.0 { mass.sqrt().recip() } else { 1.0 };
        }
    }

    /// Look for better rows at an accepted point, whose K the passage has gone on to, if the ones that stay have become worse.
    pub fn look_again(&mut self, (M, K): (&SparseMatrix, &SparseMatrix), passage: &mut Passage) {
        let Some(sigma) = passage.smallest() else { return };
        if !self.usual.is_finite() {
            self.usual = sigma;
        }
        if sigma > BETTER * self.usual {
            // beside a singular configuration every choice is poor, and better behind it
            self.usual = self.usual.max(sigma);
            return;
        }
        let found = self.select(M, K);
        self.usual = sigma;
        if found.gap.rank != self.rank || found.dropped == self.left_out {
            return;
        }
        let other = passage.leave_out(&found.dropped);
        if sigma < BETTER * other {
            (self.left_out, self.usual) = (found.dropped, other);
        } else {
            passage.leave_out(&self.left_out);
        }
    }

    /// Do the rows that are left out hold as well as the others do? `levels` are the positions or velocities with the residuals of as many constraints.
    pub fn contradiction(&self, t: f64, K: &Jacobian, levels: [(&[f64], &[f64]); 2]) -> Result<(), StepFailure> {
        let slope = |k: usize| K.row(k).fold(0.0, |largest: f64, (_, entry)| largest.max(entry.abs()));
        let steepest = (0..self.left_out.len()).map(slope).fold(0.0, f64::max);
        for (values, residuals) in levels {
            let size = 1.0 + values.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            let relative = |k: usize| {
                let own = slope(k);
                residuals[k].abs() / (size * if own > VANISHING * steepest { own } else { steepest })
            };
            let rows = || (0..residuals.len()).map(|k| (k, relative(k)));
            let kept = rows().filter(|(k, _)| !self.left_out[*k]).fold(0.0, |most: f64, (_, left)| most.max(left));
            let may_be = HOLDS + FOLLOWS * kept;
            if let Some((k, _)) = rows().find(|&(k, left)| self.left_out[k] && !(left <= may_be)) {
                let constraint = self.names.get(k).cloned().unwrap_or_default();
                return Err(StepFailure::LeftOutFails { t, constraint, residual: residuals[k] });
            }
        }
        Ok(())
    }

    /// λ and μ of the smallest size with the same force.
    pub fn least(&mut self, (M, K): (&SparseMatrix, &SparseMatrix), multipliers: &mut [f64]) {
        self.weigh(M);
        // without factors the multipliers of the rows that stay are as good as any
        let _ = self.least.project(K, &self.columns, multipliers);
    }

    /// For reports.
    pub fn decision(&self) -> String {
        let (all, rank) = (self.left_out.len(), self.rank);
        format!("{} of {all} constraints follow from the others and are left out", all - rank)
    }
}
