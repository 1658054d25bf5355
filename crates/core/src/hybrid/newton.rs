//! Newton's method for consistent states: C δ = −G₂ with C = ∂G₂/∂x, and what else steps satisfy.

use super::error::EnterError;
use super::leading_matrix::LeadingMatrix;
use super::linearised::Linearised;
use super::way::WishAt;
use crate::dae::{Dae, Pencil};
use crate::error::StepFailure;
use crate::linalg::rank::{Decomposed, Scales, Scaling};
use crate::linalg::{Mat, RankRule, Svd, constrained_least_squares};

/// Most iterations; a multiple root needs many.
const MOST: usize = 60;
/// Most shortenings of a step.
const SHORTENINGS: u32 = 12;
/// Residuals below this part of what they are summed from are rounding.
const ROUNDING: f64 = 16.0 * f64::EPSILON;
/// Where rounding is larger inside of the rows, residuals below this are accepted when steps do not make them smaller.
const CONSISTENT: f64 = 1e-9;
/// Combinations are kept if they change by less than this part of what the tolerances leave open in them.
const SATISFIED: f64 = 1e-2;

/// What steps satisfy beside the constraints.
pub enum Wish {
    /// They are short, in some units.
    Short,
    /// B (x + δ) is B x̃, or where that is impossible B δ is as small as possible.
    Rows(Mat<f64>),
    /// E₁ δ = 0 with the rows of the sparse pencil at hand.
    Sparse,
}

/// Newton's method at work.
pub struct Newton<'d> {
    pub system: Linearised<'d>,
    /// x̃
    pub start: Vec<f64>,
    kept: &'d [(usize, &'d str)],
    /// components that may change
    free: Vec<usize>,
    pub wish: Wish,
    /// units of the components
    pub units: Vec<f64>,
    /// components that may change by any amount
    pub light: Vec<bool>,
    checked: bool,
}

impl<'d> Newton<'d> {
    pub fn new(dae: &'d mut dyn Dae, t: f64, x: &[f64], kept: &'d [(usize, &'d str)], ranks: RankRule) -> Self {
        let n = x.len();
        Newton {
            system: Linearised::new(dae, t, ranks),
            start: x.to_vec(),
            kept,
            free: (0..n).filter(|j| kept.iter().all(|(k, _)| k != j)).collect(),
            wish: Wish::Short,
            units: vec![1.0; n],
            light: vec![false; n],
            checked: false,
        }
    }

    /// Take x as x̃, with what steps from it satisfy.
    pub fn begin(&mut self, x: &[f64], xdot: &mut [f64], wish: &mut WishAt) -> Result<(), EnterError> {
        self.system.at(x, xdot)?;
        self.wish = wish(self, x, xdot)?;
        self.start.copy_from_slice(x);
        Ok(())
    }

    /// Do steps along Δ satisfy what is wished, up to what the tolerances leave open in each unknown?
    pub fn satisfies(&self, change: &[f64], scales: &[f64]) -> bool {
        let Wish::Rows(B) = &self.wish else { return false };
        (0..B.nrows()).all(|i| {
            let row = |v: &[f64], size: fn(f64) -> f64| (0..B.ncols()).map(|j| size(B[(i, j)] * v[j])).sum::<f64>();
            let moved = row(change, |v| v).abs();
            moved <= SATISFIED * row(scales, f64::abs) || moved <= ROUNDING * row(change, f64::abs)
        })
    }

    /// Does a component count when steps are to be short?
    fn in_error_norm(&self, j: usize) -> bool {
        self.system.dae.in_error_norm(j) && !self.light[j]
    }

    /// Iterate from x; what is wished refers to x̃.
    pub fn solve(&mut self, x: &mut [f64], xdot: &mut [f64]) -> Result<(), EnterError> {
        for _ in 0..MOST {
            let residual = self.system.residual();
            if residual <= ROUNDING {
                return Ok(());
            }
            self.check_kept(residual)?;
            let Some(step) = self.step(x) else { return Err(EnterError::NotConsistent { residual }) };
            if !self.advance(x, xdot, &step, residual)? {
                // rounding inside of the rows may be larger than that of their sums
                return if residual <= CONSISTENT { Ok(()) } else { Err(EnterError::NotConsistent { residual }) };
            }
        }
        let residual = self.system.residual();
        if residual <= CONSISTENT { Ok(()) } else { Err(EnterError::NotConsistent { residual }) }
    }

    /// Take a step, shortened until the residual falls. False if it does not.
    fn advance(&mut self, x: &mut [f64], xdot: &mut [f64], step: &[f64], residual: f64) -> Result<bool, EnterError> {
        let before = x.to_vec();
        let mut factor = 1.0;
        for _ in 0..SHORTENINGS {
            for ((x, before), step) in x.iter_mut().zip(&before).zip(step) {
                *x = before + factor * step;
            }
            if self.system.evaluate(x, xdot) && self.system.residual() <= (1.0 - 0.1 * factor) * residual {
                if self.system.at(x, xdot).is_ok() {
                    return Ok(true);
                }
                // back to the choices of the last point
                self.system.at(&before, xdot)?;
            }
            factor *= 0.5;
        }
        x.copy_from_slice(&before);
        Ok(false)
    }

    /// Components that must not change must leave full rank to the constraints.
    fn check_kept(&mut self, residual: f64) -> Result<(), EnterError> {
        if self.kept.is_empty() || self.checked {
            return Ok(());
        }
        self.checked = true;
        let (t, C) = (self.system.t, self.system.gradients());
        let (scales, ranks) = (Scales::of(&C, Scaling::Both), self.system.ranks);
        let rank = |columns: &[usize]| {
            let C = Mat::from_fn(C.nrows(), columns.len(), |i, k| C[(i, columns[k])]);
            let mut scales = scales.clone();
            scales.columns = columns.iter().map(|&j| scales.columns[j]).collect();
            Decomposed::scaled(&C, scales, 1.0, ranks).map(|found| found.decision.rank)
        };
        let all: Vec<usize> = (0..C.ncols()).collect();
        match (rank(&all), rank(&self.free)) {
            (Some(full), _) if full < C.nrows() => Err(EnterError::NotConsistent { residual }),
            (Some(full), Some(left)) if left < full => {
                Err(EnterError::Kept { names: self.kept.iter().map(|(_, name)| (*name).to_string()).collect() })
            }
            (Some(_), Some(_)) => Ok(()),
            _ => Err(StepFailure::SvdFailed { t }.into()),
        }
    }

    /// What the differential part asks for.
    pub fn differential(&self) -> Wish {
        if self.system.sparse() && self.kept.is_empty() {
            Wish::Sparse
        } else {
            Wish::Rows(self.system.differential_part())
        }
    }

    /// T₂ᵀ: a basis of the kernel of C, without the components that are kept or bookkeeping.
    pub fn tangent(&self) -> Result<Mat<f64>, EnterError> {
        let (t, C) = (self.system.t, self.system.gradients());
        let (a, n) = (C.nrows(), C.ncols());
        let scale = Scales::of(&C, Scaling::Rows).rows;
        let mut svd = Svd::new(a, self.free.len());
        for i in 0..a {
            for (k, &j) in self.free.iter().enumerate() {
                svd.A[(i, k)] = scale[i] * C[(i, j)];
            }
        }
        svd.factor().map_err(|_| StepFailure::SvdFailed { t })?;
        let mut T2 = Mat::zeros(self.free.len().saturating_sub(a), n);
        for i in 0..T2.nrows() {
            for (k, &j) in self.free.iter().enumerate().filter(|(_, j)| self.system.dae.in_error_norm(**j)) {
                T2[(i, j)] = svd.V[(k, a + i)];
            }
        }
        Ok(T2)
    }

    /// δ from x, if the constraints are independent.
    pub fn step(&self, x: &[f64]) -> Option<Vec<f64>> {
        let n = x.len();
        let c = self.system.wanted();
        let (B, units) = match &self.wish {
            Wish::Sparse => match self.system.solve(&c) {
                Some(step) => return Some(step),
                None => (self.system.leading(), None),
            },
            Wish::Rows(B) => (B.clone(), None),
            Wish::Short if (0..n).all(|j| self.in_error_norm(j)) => (Mat::zeros(0, n), Some(&self.units)),
            // bookkeeping and what is light may change by any amount
            Wish::Short => {
                let weight = |j: usize| if self.in_error_norm(j) { 1.0 / self.units[j] } else { 0.0 };
                (Mat::from_fn(n, n, |i, j| if i == j { weight(j) } else { 0.0 }), Some(&self.units))
            }
        };
        let C = self.system.gradients();
        if self.kept.is_empty() {
            // back to B x̃, without the rounding of the steps before
            let b = |i: usize| (0..n).map(|j| B[(i, j)] * (self.start[j] - x[j])).sum();
            let b: Vec<f64> = (0..B.nrows()).map(b).collect();
            if let Some(step) = square_step(&B, &b, &C, &c, self.system.ranks) {
                return Some(step);
            }
        }
        let unit = |j: usize| units.map_or(1.0, |units| units[j]);
        let columns =
            |M: &Mat<f64>| Mat::from_fn(M.nrows(), self.free.len(), |i, k| M[(i, self.free[k])] * unit(self.free[k]));
        let scaled = constrained_least_squares(&columns(&C), &c, &columns(&B), &vec![0.0; B.nrows()]).ok()?;
        let mut step = vec![0.0; n];
        self.free.iter().zip(&scaled).for_each(|(&j, d)| step[j] = d * unit(j));
        Some(step)
    }
}

/// B δ = b, C δ = c, if these are as many equations as unknowns, and independent.
fn square_step(B: &Mat<f64>, b: &[f64], C: &Mat<f64>, c: &[f64], ranks: RankRule) -> Option<Vec<f64>> {
    let (d, n) = (B.nrows(), B.ncols());
    if d + C.nrows() != n {
        return None;
    }
    let mut pencil = Pencil::dense(n, n);
    for j in 0..n {
        (0..d).for_each(|i| pencil.E.put((i, j), B[(i, j)]));
        (d..n).for_each(|i| pencil.A.put((i, j), -C[(i - d, j)]));
    }
    let mut step = [b, c].concat();
    LeadingMatrix::new(&pencil, (0..n).map(|i| i >= d).collect(), ranks)?.solve(&mut step);
    // rows with one entry hold their unknowns, without rounding
    for (i, b) in b.iter().enumerate() {
        let mut entries = (0..n).filter(|&j| B[(i, j)] != 0.0);
        if let (Some(j), None) = (entries.next(), entries.next()) {
            step[j] = b / B[(i, j)];
        }
    }
    Some(step)
}
