//! Equations that exclude each other.
//!
//! Where the scaled residual r = R F is as small as it can be, rᵀ R ∂F/∂x = 0 over all values that may move: r is a left null
//! vector, and its entries are the equations that contradict each other. What they say about the fixed values shows in rᵀ R ∂F/∂x
//! over the columns of those.

use super::{InitialisationError, System};
use crate::linalg::Svd;

const MOST_ITERATIONS: u32 = 300;
/// The residual is smallest where its projection on the range of the linearisation is below this part of it.
const STATIONARY: f64 = 1e-6;
/// Parts of a null vector below this do not count.
const TAKES_PART: f64 = 1e-3;

impl System<'_> {
    /// Make ‖R F‖ as small as possible near x, scales kept. Levenberg and Marquardt; [Nocedal, Wright, 10.3]. Says whether a
    /// smallest value was found.
    pub(super) fn minimise(&mut self) -> Result<bool, InitialisationError> {
        self.linearise()?;
        let scale = self.row_scale.clone();
        let size = |F: &[f64]| F.iter().zip(&scale).map(|(f, r)| (f * r).powi(2)).sum::<f64>();
        let free: Vec<usize> = self.classes.iter().flatten().copied().collect();
        let mut damping = 1e-3;
        for _ in 0..MOST_ITERATIONS {
            self.linearise()?;
            let before = size(&self.F);
            let mut svd = Svd::new(self.F.len(), free.len());
            for i in 0..self.F.len() {
                for (c, &j) in free.iter().enumerate() {
                    svd.A[(i, c)] = scale[i] * self.slopes[(i, j)] * (1.0 + self.x[j].abs());
                }
            }
            svd.factor().map_err(|_| self.undefined())?;
            let turned: Vec<f64> = (0..self.F.len().min(free.len()))
                .map(|k| (0..self.F.len()).map(|i| svd.U[(i, k)] * scale[i] * self.F[i]).sum())
                .collect();
            let slope = turned.iter().enumerate().map(|(k, y)| (y * svd.sigma(k)).powi(2)).sum::<f64>().sqrt();
            if slope <= STATIONARY * svd.sigma(0).max(1.0) * before.sqrt() {
                return Ok(true);
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
                    self.x = start;
                    self.evaluate()?;
                    return Ok(false);
                }
            }
        }
        Ok(false)
    }

    /// The equations and fixed values that exclude each other, at a point where the residual is smallest.
    pub(super) fn contradiction(&mut self, equations: &[String], variables: &[String]) -> InitialisationError {
        if let Err(undefined) = self.linearise() {
            return undefined;
        }
        let m = self.F.len();
        let scaled: Vec<f64> = self.F.iter().zip(&self.row_scale).map(|(f, r)| f * r).collect();
        let blame = self.left_null_part(&scaled).unwrap_or(scaled);
        let largest = blame.iter().fold(0.0_f64, |m, y| m.max(y.abs()));
        let takes_part: Vec<usize> = (0..m).filter(|&i| blame[i].abs() > TAKES_PART * largest).collect();
        let pull = |j: usize| {
            let slopes = takes_part.iter().map(|&i| blame[i] * self.row_scale[i] * self.slopes[(i, j)]);
            slopes.sum::<f64>().abs() * (1.0 + self.x[j].abs())
        };
        let pulls: Vec<f64> = self.fixed.iter().map(|&j| pull(j)).collect();
        let strongest = pulls.iter().copied().fold(0.0, f64::max);
        let fixed = self.fixed.iter().zip(&pulls).filter(|(_, p)| **p > TAKES_PART * strongest);
        InitialisationError::Contradictory {
            fixed: fixed.map(|(&j, _)| variables[j].clone()).collect(),
            equations: takes_part.iter().map(|&i| (equations[i].clone(), self.F[i])).collect(),
        }
    }

    /// The part of y that is orthogonal to the range of the linearisation; `None` if it is not most of y.
    fn left_null_part(&self, y: &[f64]) -> Option<Vec<f64>> {
        let rows: Vec<Vec<f64>> = (0..y.len()).map(|i| self.scaled.row(i).to_vec()).collect();
        let free: Vec<usize> = self.classes.iter().flatten().copied().collect();
        let (svd, rank) = super::decompose(&rows, &free)?;
        let mut rest = y.to_vec();
        for k in 0..rank {
            let product: f64 = (0..y.len()).map(|i| svd.U[(i, k)] * y[i]).sum();
            rest.iter_mut().enumerate().for_each(|(i, x)| *x -= product * svd.U[(i, k)]);
        }
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        (norm(&rest) > 0.25 * norm(y)).then_some(rest)
    }
}
