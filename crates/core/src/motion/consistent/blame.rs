//! Equations that exclude each other.
//!
//! Where the scaled residual r = R F is as small as it can be, rᵀ R ∂F/∂x = 0 over all values that may move: r is a left null
//! vector, and its entries are the equations that contradict each other. What they say about the fixed values shows in rᵀ R ∂F/∂x
//! over the columns of those.
//!
//! The levels are taken one after the other: what positions cannot satisfy is no matter of velocities and multipliers.

use super::{InitialisationError, System};
use crate::linalg::Svd;
use std::ops::Range;

const MOST_ITERATIONS: u32 = 300;
/// The residual is smallest where its projection on the range of the linearisation is below this part of it.
const STATIONARY: f64 = 1e-6;
/// Parts of a null vector below this do not count.
const TAKES_PART: f64 = 1e-3;

impl System<'_> {
    /// Satisfy position level, then velocity level, then everything, as well as possible near x. The first level that cannot be
    /// satisfied is a contradiction; `None` if none was found.
    pub(super) fn nearest(
        &mut self,
        equations: &[String],
        variables: &[String],
    ) -> Result<Option<InitialisationError>, InitialisationError> {
        let l = self.layout;
        let (position, velocity) = (l.row_contact().start..l.row_g().end, l.row_g1().start..l.row_g().end);
        let levels =
            [(position, l.s().start..l.p().end), (velocity, l.v().start..l.p().end), (0..self.F.len(), 0..l.dim())];
        for (rows, columns) in levels {
            let free: Vec<usize> = self.classes.iter().flatten().copied().filter(|j| columns.contains(j)).collect();
            if let Some(scale) = self.minimise(&rows, &free)?
                && !self.satisfied(rows.clone())
            {
                let blame: Vec<f64> = rows.clone().map(|i| scale[i] * self.F[i]).collect();
                return Ok(Some(self.contradiction(rows.start, &blame, &scale, equations, variables)));
            }
        }
        Ok(None)
    }

    /// Make ‖R F‖ over some rows as small as possible near x by moving some values, scales R kept. Levenberg and Marquardt; Nocedal and
    /// Wright (2006), Numerical optimization, 10.3. Gives R if a smallest value was found.
    fn minimise(&mut self, rows: &Range<usize>, free: &[usize]) -> Result<Option<Vec<f64>>, InitialisationError> {
        self.linearise()?;
        let scale = self.row_scale.clone();
        let size = |F: &[f64]| rows.clone().map(|i| (F[i] * scale[i]).powi(2)).sum::<f64>();
        let mut damping = 1e-3;
        for _ in 0..MOST_ITERATIONS {
            self.linearise()?;
            let before = size(&self.F);
            let mut svd = Svd::new(rows.len(), free.len());
            for (k, i) in rows.clone().enumerate() {
                for (c, &j) in free.iter().enumerate() {
                    svd.A[(k, c)] = scale[i] * self.slopes[(i, j)] * (1.0 + self.x[j].abs());
                }
            }
            svd.factor().map_err(|_| self.undefined())?;
            let turned: Vec<f64> = (0..rows.len().min(free.len()))
                .map(|k| rows.clone().enumerate().map(|(m, i)| svd.U[(m, k)] * scale[i] * self.F[i]).sum())
                .collect();
            let slope = turned.iter().enumerate().map(|(k, y)| (y * svd.sigma(k)).powi(2)).sum::<f64>().sqrt();
            if slope <= STATIONARY * svd.sigma(0).max(1.0) * before.sqrt() {
                return Ok(Some(scale));
            }
            // the step −J⁺F, damped until the residual falls
            let start = self.x.clone();
            loop {
                for (c, &j) in free.iter().enumerate() {
                    let step: f64 = turned
                        .iter()
                        .enumerate()
                        .map(|(k, y)| svd.V[(c, k)] * y * svd.sigma(k) / (svd.sigma(k).powi(2) + damping * damping))
                        .sum();
                    self.x[j] = start[j] - step * (1.0 + start[j].abs());
                }
                if self.evaluate().is_ok() && size(&self.F) < before {
                    damping = (damping * 0.25).max(1e-12);
                    break;
                }
                damping *= 4.0;
                if damping > 1e8 {
                    // nothing makes it smaller: rounding
                    self.x = start;
                    self.evaluate()?;
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// The contradiction at a point where the iteration of Gauss and Newton has come to rest.
    pub(super) fn exclusion(&mut self, equations: &[String], variables: &[String]) -> InitialisationError {
        if let Err(undefined) = self.linearise() {
            return undefined;
        }
        let scaled: Vec<f64> = self.F.iter().zip(&self.row_scale).map(|(f, r)| f * r).collect();
        let blame = self.left_null_part(&scaled).unwrap_or(scaled);
        let scale = self.row_scale.clone();
        self.contradiction(0, &blame, &scale, equations, variables)
    }

    /// The equations and fixed values that exclude each other, from a left null vector of R ∂F/∂x that begins at row `first`.
    fn contradiction(
        &self,
        first: usize,
        blame: &[f64],
        scale: &[f64],
        equations: &[String],
        variables: &[String],
    ) -> InitialisationError {
        let largest = blame.iter().fold(0.0_f64, |m, y| m.max(y.abs()));
        let takes_part: Vec<usize> = (0..blame.len()).filter(|&k| blame[k].abs() > TAKES_PART * largest).collect();
        let pull = |j: usize| {
            let slopes = takes_part.iter().map(|&k| blame[k] * scale[first + k] * self.slopes[(first + k, j)]);
            slopes.sum::<f64>().abs() * (1.0 + self.x[j].abs())
        };
        let pulls: Vec<f64> = self.fixed.iter().map(|&j| pull(j)).collect();
        let strongest = pulls.iter().copied().fold(0.0, f64::max);
        let fixed = self.fixed.iter().zip(&pulls).filter(|(_, p)| **p > TAKES_PART * strongest);
        InitialisationError::Contradictory {
            fixed: fixed.map(|(&j, _)| variables[j].clone()).collect(),
            equations: takes_part.iter().map(|&k| (equations[first + k].clone(), self.F[first + k])).collect(),
        }
    }

    /// The part of y that is orthogonal to the range of the linearisation; `None` if it is not most of y.
    fn left_null_part(&self, y: &[f64]) -> Option<Vec<f64>> {
        let rows: Vec<Vec<f64>> = (0..y.len()).map(|i| self.scaled.row(i).to_vec()).collect();
        let free: Vec<usize> = self.classes.iter().flatten().copied().collect();
        let (svd, rank) = self.decompose(&rows, &free)?;
        let mut rest = y.to_vec();
        for k in 0..rank {
            let product: f64 = (0..y.len()).map(|i| svd.U[(i, k)] * y[i]).sum();
            rest.iter_mut().enumerate().for_each(|(i, x)| *x -= product * svd.U[(i, k)]);
        }
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        (norm(&rest) > 0.25 * norm(y)).then_some(rest)
    }
}
