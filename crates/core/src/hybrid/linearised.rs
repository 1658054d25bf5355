//! Constraints of a system of index at most one with their gradients at a point, and the rows that determine derivatives.
//!
//! Rows without ẋ are constraints, invariants excepted. Where (E₁; −A₂) is singular there are further ones among sums of the other rows:
//! ZᵀG₁ with ZᵀE₁ = 0.

use super::error::EnterError;
use super::leading_matrix::LeadingMatrix;
use crate::dae::{Dae, Pencil};
use crate::error::StepFailure;
use crate::linalg::rank::{Decomposed, Scales, Scaling};
use crate::linalg::{Mat, RankRule};

/// A sum of rows: number and factor of each.
type Combination = Vec<(usize, f64)>;

/// A system at a point.
pub(super) struct Linearised<'d> {
    pub dae: &'d mut dyn Dae,
    pub t: f64,
    pencil: Pencil,
    /// all rows
    rows: Vec<f64>,
    /// rows that are constraints, or sums of rows that are
    constraints: Vec<Combination>,
    /// rows, or sums of rows, that determine derivatives
    differential: Vec<Combination>,
    /// rows that keep the values of invariants
    invariants: Vec<usize>,
    /// what the constraints are summed from
    sizes: Vec<f64>,
    /// do the rows show all constraints? Asked at the first point.
    shown: Option<bool>,
    pub ranks: RankRule,
}

impl<'d> Linearised<'d> {
    /// Before the first point.
    pub fn new(dae: &'d mut dyn Dae, t: f64, ranks: RankRule) -> Self {
        Linearised {
            pencil: dae.new_pencil(),
            rows: vec![0.0; dae.dim()],
            dae,
            t,
            constraints: Vec::new(),
            differential: Vec::new(),
            invariants: Vec::new(),
            sizes: Vec::new(),
            shown: None,
            ranks,
        }
    }

    /// Largest residual of the constraints, each relative to what it is summed from.
    pub fn residual(&self) -> f64 {
        let scaled = self.constraints.iter().zip(&self.sizes).map(|(row, size)| (sum(row, &self.rows) / size).abs());
        scaled.fold(0.0, |most, r| if r <= most { most } else { r })
    }

    /// Rows at x, by the choices of the last linearisation. False where they have no value.
    pub fn evaluate(&mut self, x: &[f64], xdot: &[f64]) -> bool {
        self.dae.residual(0, self.t, x, xdot, &mut self.rows).is_ok()
    }

    /// −G₂.
    pub fn wanted(&self) -> Vec<f64> {
        self.constraints.iter().map(|row| -sum(row, &self.rows)).collect()
    }

    /// C = ∂G₂/∂x.
    pub fn gradients(&self) -> Mat<f64> {
        self.dense(&self.constraints, Part::Slope)
    }

    /// E₁, sums of rows that are constraints left out.
    pub fn leading(&self) -> Mat<f64> {
        self.dense(&self.differential, Part::Leading)
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
        let slopes = self.dense(&invariants, Part::Slope);
        let d = E1.nrows();
        Mat::from_fn(d + slopes.nrows(), E1.ncols(), |i, j| if i < d { E1[(i, j)] } else { slopes[(i - d, j)] })
    }

    /// Is the pencil sparse, and do its rows show all constraints?
    pub fn sparse(&self) -> bool {
        self.pencil.is_sparse() && self.shown == Some(true)
    }

    /// E₁ δ = 0, C δ = c with the pencil itself, whose rows show all constraints.
    pub fn solve(&self, c: &[f64]) -> Option<Vec<f64>> {
        let mut step = vec![0.0; self.rows.len()];
        self.constraints.iter().zip(c).for_each(|(row, c)| step[row[0].0] = *c);
        LeadingMatrix::new(&self.pencil, self.flags(), self.ranks)?.solve(&mut step);
        // rows with one derivative hold their unknowns, without rounding
        let mut columns = vec![Vec::new(); self.differential.len()];
        self.each_entry(&self.differential, Part::Leading, |i, j, _| columns[i].push(j));
        columns.iter().filter(|columns| columns.len() == 1).for_each(|columns| step[columns[0]] = 0.0);
        Some(step)
    }

    /// Rows and their derivatives at x.
    pub fn at(&mut self, x: &[f64], xdot: &mut [f64]) -> Result<(), EnterError> {
        let undefined = |_| StepFailure::Undefined { t: self.t };
        self.dae.jumped(self.t, x);
        self.dae.pencil(self.t, x, xdot, &mut self.pencil)?;
        self.dae.residual(0, self.t, x, xdot, &mut self.rows).map_err(undefined)?;
        let n = x.len();
        let single = |i: usize| vec![(i, 1.0)];
        self.constraints.clear();
        self.invariants.clear();
        for i in (0..n).filter(|&i| self.dae.algebraic(i)) {
            if self.dae.invariant(i) {
                self.invariants.push(i);
            } else {
                self.constraints.push(single(i));
            }
        }
        self.differential = (0..n).filter(|&i| !self.dae.algebraic(i)).map(single).collect();
        let shown = self.shown.unwrap_or_else(|| LeadingMatrix::new(&self.pencil, self.flags(), self.ranks).is_some());
        self.shown = Some(shown);
        if !shown {
            self.uncover(x, xdot)?;
        }
        // a row C x + c is summed from the entries of C x, and c; where all of them vanish, changes of x of size one count
        let a = self.constraints.len();
        let (mut sums, mut products, mut tops) = (vec![0.0; a], vec![0.0; a], vec![0.0_f64; a]);
        self.each_entry(&self.constraints, Part::Slope, |i, j, c| {
            sums[i] += (c * x[j]).abs();
            products[i] += c * x[j];
            tops[i] = tops[i].max(c.abs());
        });
        let sizes = self.constraints.iter().zip(sums.iter().zip(&products)).zip(&tops);
        self.sizes = sizes
            .map(|((row, (size, product)), top)| {
                (size + (sum(row, &self.rows) - product).abs()).max(*top).max(f64::MIN_POSITIVE)
            })
            .collect();
        Ok(())
    }

    /// Which rows are algebraic.
    fn flags(&self) -> Vec<bool> {
        (0..self.rows.len()).map(|i| self.dae.algebraic(i)).collect()
    }

    /// Constraints that are sums of rows with ẋ: the left null space of their leading matrix. ẋ follows, so that the other rows hold.
    fn uncover(&mut self, x: &[f64], xdot: &mut [f64]) -> Result<(), EnterError> {
        let t = self.t;
        let rows: Vec<usize> = self.differential.iter().map(|row| row[0].0).collect();
        let E1 = self.dense(&self.differential, Part::Leading);
        let scales = Scales::of(&E1, Scaling::Rows);
        let scale = scales.rows.clone();
        let found = Decomposed::scaled(&E1, scales, 0.0, self.ranks).ok_or(StepFailure::SvdFailed { t })?;
        let rank = found.decision.rank;
        if rank == rows.len() {
            return Ok(());
        }
        let change = found.solve(&Mat::from_fn(rows.len(), 1, |i, _| self.rows[rows[i]]));
        xdot.iter_mut().enumerate().for_each(|(j, xdot)| *xdot -= change[(j, 0)]);
        self.dae.residual(0, t, x, xdot, &mut self.rows).map_err(|_| StepFailure::Undefined { t })?;
        let U = found.left_vectors();
        let combination = |k: usize| rows.iter().enumerate().map(|(i, &row)| (row, scale[i] * U[(i, k)])).collect();
        self.differential = (0..rank).map(combination).collect();
        self.constraints.extend((rank..rows.len()).map(combination));
        Ok(())
    }

    /// Entries that are not zero of sums of rows: their derivatives with respect to ẋ or x.
    fn each_entry(&self, rows: &[Combination], part: Part, mut each: impl FnMut(usize, usize, f64)) {
        let (M, sign) = match part {
            Part::Leading => (&self.pencil.E, 1.0),
            Part::Slope => (&self.pencil.A, -1.0),
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

    fn dense(&self, rows: &[Combination], part: Part) -> Mat<f64> {
        let mut M = Mat::zeros(rows.len(), self.rows.len());
        self.each_entry(rows, part, |i, j, entry| M[(i, j)] += entry);
        M
    }
}

/// Which derivatives of rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// With respect to ẋ.
    Leading,
    /// With respect to x.
    Slope,
}

fn sum(row: &Combination, values: &[f64]) -> f64 {
    row.iter().map(|&(i, factor)| factor * values[i]).sum()
}
