//! A state on its way onto the constraints, with what steps keep.

use super::error::EnterError;
use super::linearised::LinearisedDae;
use crate::consistent::{
    Balanced, Contradicting, Freedom, KeptRows, Requirements, Stage, correction, largest, residual, solve,
};
use crate::dae::Dae;
use crate::error::StepFailure;
use crate::linalg::rank::REGULAR;
use crate::linalg::{Mat, RankRule};

/// Combinations are kept if they change by less than this part of what the tolerances leave open in them.
const SATISFIED: f64 = 1e-2;
/// Changes below this part of what they are summed from are rounding.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Combinations that steps from a point keep, where the system has been linearised; nothing for the differential part.
pub(super) type KeptAt<'k> = dyn FnMut(&Jumping, &[f64]) -> Result<Option<Mat<f64>>, EnterError> + 'k;

/// A system of index at most one, and how its unknowns may move.
pub(super) struct Jumping<'d> {
    pub system: LinearisedDae<'d>,
    pub freedom: Freedom,
    /// x̃
    start: Vec<f64>,
    /// what must not change, with names
    kept: &'d [(usize, &'d str)],
}

impl<'d> Jumping<'d> {
    /// Steps are short, in units of one, unless something else is said.
    pub fn new(
        dae: &'d mut dyn Dae,
        t: f64,
        x: &[f64],
        xdot: &[f64],
        kept: &'d [(usize, &'d str)],
        ranks: RankRule,
    ) -> Self {
        let fixed: Vec<usize> = kept.iter().map(|(j, _)| *j).collect();
        let mut freedom = Freedom {
            classes: vec![],
            units: Some(vec![1.0; x.len()]),
            kept: None,
            tau: ranks.or(REGULAR),
            independent: true,
            equilibrated: false,
            damped: false,
            fixed,
        };
        let free = (0..x.len()).filter(|j| !freedom.fixed.contains(j));
        // bookkeeping may change by any amount
        let (counted, light) = free.partition(|&j| dae.in_error_norm(j));
        freedom.classes = vec![counted, light];
        Jumping { system: LinearisedDae::new(dae, t, xdot, ranks), freedom, start: x.to_vec(), kept }
    }

    /// Take x as x̃, with what steps from it keep.
    pub fn begin(&mut self, x: &[f64], kept: &mut KeptAt) -> Result<(), EnterError> {
        self.system.linearise(x)?;
        self.start.copy_from_slice(x);
        match kept(self, x)? {
            Some(B) => self.keep(B),
            None => self.keep_differential_part(),
        }
        Ok(())
    }

    /// Keep B x̃.
    pub fn keep(&mut self, B: Mat<f64>) {
        self.system.by_pencil = false;
        self.freedom.kept = Some(KeptRows { B, start: self.start.clone() });
    }

    /// Keep E₁ x̃, by the pencil where that is sparse.
    pub fn keep_differential_part(&mut self) {
        if self.system.sparse() && self.kept.is_empty() {
            self.system.by_pencil = true;
        } else {
            self.keep(self.system.differential_part());
        }
    }

    /// Keep T₂ᵀx̃, T₂ = kernel C where the system has been linearised, without what is kept or bookkeeping.
    pub fn keep_tangent(&mut self) -> Result<(), EnterError> {
        let (C, free) = (self.system.slopes(), self.freedom.free());
        let balanced = Balanced::new(&C, &self.start, &Freedom { classes: vec![], ..self.freedom.clone() });
        let t = self.system.t;
        let (svd, a) = balanced.decompose(&free, self.freedom.tau).ok_or(StepFailure::SvdFailed { t })?;
        let mut T2 = Mat::zeros(free.len() - a, C.ncols());
        for i in 0..T2.nrows() {
            for (k, &j) in free.iter().enumerate().filter(|(_, j)| self.system.dae.in_error_norm(**j)) {
                T2[(i, j)] = svd.V[(k, a + i)];
            }
        }
        self.keep(T2);
        Ok(())
    }

    /// Do steps along Δ keep what they should, up to what the tolerances leave open in each unknown?
    pub fn satisfies(&self, change: &[f64], scales: &[f64]) -> bool {
        let Some(KeptRows { B, .. }) = &self.freedom.kept else { return false };
        (0..B.nrows()).all(|i| {
            let row = |v: &[f64], size: fn(f64) -> f64| (0..B.ncols()).map(|j| size(B[(i, j)] * v[j])).sum::<f64>();
            let moved = row(change, |v| v).abs();
            moved <= SATISFIED * row(scales, f64::abs) || moved <= ROUNDING * row(change, f64::abs)
        })
    }

    /// The step from x, where the system has been linearised.
    pub fn step(&mut self, x: &[f64]) -> Result<Vec<f64>, EnterError> {
        match correction(&self.system, &self.freedom, x, |_| false, &mut None) {
            Some(step) => Ok(step),
            None => Err(self.refusal(x, false)),
        }
    }

    /// Move x onto the constraints.
    pub fn solve(&mut self, x: &mut [f64]) -> Result<(), EnterError> {
        let begin = x.to_vec();
        let mut fit = solve(&mut self.system, &self.freedom, x)?;
        if !fit.consistent() && self.system.by_pencil {
            // where the pencil is singular on the way, what can be kept is
            x.copy_from_slice(&begin);
            self.system.linearise(x)?;
            self.keep(self.system.differential_part());
            fit = solve(&mut self.system, &self.freedom, x)?;
        }
        if fit.consistent() {
            return Ok(());
        }
        let dependent = fit.rank.is_some_and(|rank| rank < self.system.values().len());
        Err(self.refusal(&begin, fit.iterations == 0 && dependent))
    }

    /// Why there is no consistent state near x: components that must not change must leave full rank to the constraints.
    fn refusal(&mut self, x: &[f64], dependent: bool) -> EnterError {
        if let Err(error) = self.system.linearise(x) {
            return error;
        }
        let all = Freedom { fixed: vec![], classes: vec![(0..x.len()).collect()], kept: None, ..self.freedom.clone() };
        let rows = self.system.values().len();
        let change = || all.least_change(&self.system.slopes(), self.system.values(), x);
        let by_kept = dependent && !self.kept.is_empty() && change().is_some_and(|change| change.rank == rows);
        let stage = Stage { rows: 0..rows, free: self.freedom.free() };
        let mut near = x.to_vec();
        let found = Contradicting::near(&mut self.system, &self.freedom, &[stage], &mut near).ok().flatten();
        let (worst, _) = largest(self.system.values(), self.system.sizes());
        let left = self.system.values().get(worst).copied().unwrap_or(0.0);
        // if that is not found, the constraint that is violated most and all that is kept
        let found =
            found.unwrap_or(Contradicting { equations: vec![(worst, left)], fixed: self.freedom.fixed.clone() });
        let taking_part = self.kept.iter().filter(|(j, _)| found.fixed.contains(j));
        let names = taking_part.map(|(_, name)| (*name).to_string()).collect();
        let named = found.equations.iter().filter(|(i, _)| *i < self.system.values().len());
        let equations = named.map(|&(i, left)| (self.system.name(i), left)).collect();
        if by_kept {
            return EnterError::Kept { names, equations };
        }
        EnterError::NotConsistent { residual: residual(&self.system), equations, kept: names }
    }
}
