//! Constraints of a system of index at most one with their gradients at a point, and the rows that determine derivatives.
//!
//! Rows without ẋ are constraints, invariants excepted. Where (E₁; −A₂) is singular there are further ones among sums of the other rows:
//! ZᵀG₁ with ZᵀE₁ = 0.

use super::error::EnterError;
use crate::consistent::{LeadingMatrix, Requirements, Terms};
use crate::dae::{Dae, Pencil};
use crate::error::StepFailure;
use crate::linalg::rank::{Decomposed, Scales, Scaling};
use crate::linalg::{Mat, RankRule};

/// Rows with a smaller part of the largest factor are not named in a combination.
const NAMED: f64 = 1e-3;

/// A sum of rows: number and factor of each.
type Combination = Vec<(usize, f64)>;

/// A system at a point.
pub(super) struct LinearisedDae<'d> {
    pub dae: &'d mut dyn Dae,
    pub t: f64,
    /// a guess of ẋ, which follows where constraints are hidden in rows that contain it
    pub xdot: Vec<f64>,
    /// are steps solved with the sparse pencil, E₁ δ = 0?
    pub by_pencil: bool,
    pencil: Pencil,
    /// all rows
    rows: Vec<f64>,
    /// rows that are constraints, or sums of rows that are
    constraints: Vec<Combination>,
    /// rows, or sums of rows, that determine derivatives
    differential: Vec<Combination>,
    /// rows that keep the values of invariants
    invariants: Vec<usize>,
    /// values of the constraints
    values: Vec<f64>,
    /// what the constraints are summed from
    sizes: Vec<f64>,
    /// do the rows show all constraints? Asked at the first point.
    shown: Option<bool>,
    pub ranks: RankRule,
}

impl<'d> LinearisedDae<'d> {
    /// Before the first point.
    pub fn new(dae: &'d mut dyn Dae, t: f64, xdot: &[f64], ranks: RankRule) -> Self {
        LinearisedDae {
            pencil: dae.new_pencil(),
            rows: vec![0.0; dae.dim()],
            dae,
            t,
            xdot: xdot.to_vec(),
            by_pencil: false,
            values: Vec::new(),
            constraints: Vec::new(),
            differential: Vec::new(),
            invariants: Vec::new(),
            sizes: Vec::new(),
            shown: None,
            ranks,
        }
    }

    /// E₁, sums of rows that are constraints left out.
    pub fn leading(&self) -> Mat<f64> {
        self.dense(&self.differential, DerivativePart::Leading)
    }

    /// E₁ of the differential part with undetermined combinations, and gradients of invariants that stand for differential equations.
    pub fn differential_part(&self) -> Mat<f64> {
        let invariants: Vec<Combination> = self.invariants.iter().map(|&i| vec![(i, 1.0)]).collect();
        let E1 = match self.dae.differential_part() {
            Some(E1) => {
                let (d, open) = (E1.rows(), self.dae.undetermined());
                Mat::from_fn(d + open.len(), E1.cols(), |i, j| if i < d { E1[(i, j)] } else { open[i - d][j] })
            }
            None => self.leading(),
        };
        let slopes = self.dense(&invariants, DerivativePart::Slope);
        let d = E1.nrows();
        Mat::from_fn(d + slopes.nrows(), E1.ncols(), |i, j| if i < d { E1[(i, j)] } else { slopes[(i - d, j)] })
    }

    /// Is the pencil sparse, and do its rows show all constraints?
    pub fn sparse(&self) -> bool {
        self.pencil.is_sparse() && self.shown == Some(true)
    }

    /// What a constraint is called.
    pub fn name(&self, constraint: usize) -> String {
        let row = |&(i, _): &(usize, f64)| self.dae.row_name(i).unwrap_or_else(|| format!("row {}", i + 1));
        match &self.constraints[constraint][..] {
            [one] => row(one),
            several => {
                let top = several.iter().map(|(_, factor)| factor.abs()).fold(0.0, f64::max);
                let parts = several.iter().filter(|(_, factor)| factor.abs() > NAMED * top);
                format!("a combination of {}", parts.map(row).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Which rows are algebraic.
    fn flags(&self) -> Vec<bool> {
        (0..self.rows.len()).map(|i| self.dae.algebraic(i)).collect()
    }

    /// Constraints that are sums of rows with ẋ: the left null space of their leading matrix. ẋ follows, so that the other rows hold.
    fn uncover(&mut self, x: &[f64]) -> Result<(), EnterError> {
        let t = self.t;
        let rows: Vec<usize> = self.differential.iter().map(|row| row[0].0).collect();
        let E1 = self.dense(&self.differential, DerivativePart::Leading);
        let scales = Scales::of(&E1, Scaling::Rows);
        let scale = scales.rows.clone();
        let found = Decomposed::scaled(&E1, scales, 0.0, self.ranks).ok_or(StepFailure::SvdFailed { t })?;
        let rank = found.decision.rank;
        if rank == rows.len() {
            return Ok(());
        }
        let change = found.solve(&Mat::from_fn(rows.len(), 1, |i, _| self.rows[rows[i]]));
        self.xdot.iter_mut().enumerate().for_each(|(j, xdot)| *xdot -= change[(j, 0)]);
        self.dae.residual(0, t, x, &self.xdot, &mut self.rows).map_err(|_| StepFailure::Undefined { t })?;
        let U = found.left_vectors();
        let combination = |k: usize| rows.iter().enumerate().map(|(i, &row)| (row, scale[i] * U[(i, k)])).collect();
        self.differential = (0..rank).map(combination).collect();
        self.constraints.extend((rank..rows.len()).map(combination));
        Ok(())
    }

    /// Entries that are not zero of sums of rows: their derivatives with respect to ẋ or x.
    fn each_entry(&self, rows: &[Combination], part: DerivativePart, mut each: impl FnMut(usize, usize, f64)) {
        let (M, sign) = match part {
            DerivativePart::Leading => (&self.pencil.E, 1.0),
            DerivativePart::Slope => (&self.pencil.A, -1.0),
        };
        let mut sums = vec![0.0; self.rows.len()];
        for (i, row) in rows.iter().enumerate() {
            if let [(k, factor)] = row[..] {
                M.row(k).filter(|(_, m)| *m != 0.0).for_each(|(j, m)| each(i, j, sign * factor * m));
                continue;
            }
            sums.fill(0.0);
            for &(k, factor) in row {
                M.row(k).for_each(|(j, m)| sums[j] += sign * factor * m);
            }
            sums.iter().enumerate().filter(|(_, sum)| **sum != 0.0).for_each(|(j, sum)| each(i, j, *sum));
        }
    }

    fn dense(&self, rows: &[Combination], part: DerivativePart) -> Mat<f64> {
        let mut M = Mat::zeros(rows.len(), self.rows.len());
        self.each_entry(rows, part, |i, j, entry| M[(i, j)] += entry);
        M
    }
}

impl Requirements for LinearisedDae<'_> {
    type Failure = EnterError;

    fn linearise(&mut self, x: &[f64]) -> Result<(), EnterError> {
        self.dae.jumped(self.t, x);
        self.dae.pencil(self.t, x, &self.xdot, &mut self.pencil)?;
        let undefined = |_| StepFailure::Undefined { t: self.t };
        self.dae.residual(0, self.t, x, &self.xdot, &mut self.rows).map_err(undefined)?;
        let n = x.len();
        let single = |i: usize| vec![(i, 1.0)];
        let algebraic = (0..n).filter(|&i| self.dae.algebraic(i));
        let (invariants, constraints): (Vec<_>, Vec<_>) = algebraic.partition(|&i| self.dae.invariant(i));
        self.invariants = invariants;
        self.constraints = constraints.into_iter().map(single).collect();
        self.differential = (0..n).filter(|&i| !self.dae.algebraic(i)).map(single).collect();
        let shown = self.shown.unwrap_or_else(|| LeadingMatrix::new(&self.pencil, self.flags(), self.ranks).is_some());
        self.shown = Some(shown);
        if !shown {
            self.uncover(x)?;
        }
        self.values = self.constraints.iter().map(|row| sum(row, &self.rows)).collect();
        let mut terms = vec![Terms::default(); self.values.len()];
        self.each_entry(&self.constraints, DerivativePart::Slope, |i, j, slope| terms[i].add(slope, x[j]));
        self.sizes = terms.iter().zip(&self.values).map(|(terms, value)| terms.size(*value)).collect();
        Ok(())
    }

    fn evaluate(&mut self, x: &[f64]) -> bool {
        let defined = self.dae.residual(0, self.t, x, &self.xdot, &mut self.rows).is_ok();
        self.values.iter_mut().zip(&self.constraints).for_each(|(value, row)| *value = sum(row, &self.rows));
        defined
    }

    fn values(&self) -> &[f64] {
        &self.values
    }

    fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// C = ∂G₂/∂x.
    fn slopes(&self) -> Mat<f64> {
        self.dense(&self.constraints, DerivativePart::Slope)
    }

    /// E₁ δ = 0, C δ = −G₂ with the pencil itself, whose rows show all constraints.
    fn shortcut(&self, _x: &[f64]) -> Option<Vec<f64>> {
        if !self.by_pencil {
            return None;
        }
        let mut step = vec![0.0; self.rows.len()];
        self.constraints.iter().zip(&self.values).for_each(|(row, value)| step[row[0].0] = -value);
        LeadingMatrix::new(&self.pencil, self.flags(), self.ranks)?.solve(&mut step);
        // rows with one derivative hold their unknowns, without rounding
        let mut columns = vec![Vec::new(); self.differential.len()];
        self.each_entry(&self.differential, DerivativePart::Leading, |i, j, _| columns[i].push(j));
        columns.iter().filter(|columns| columns.len() == 1).for_each(|columns| step[columns[0]] = 0.0);
        Some(step)
    }
}

/// Which derivatives of rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DerivativePart {
    /// With respect to ẋ.
    Leading,
    /// With respect to x.
    Slope,
}

fn sum(row: &Combination, values: &[f64]) -> f64 {
    row.iter().map(|&(i, factor)| factor * values[i]).sum()
}
