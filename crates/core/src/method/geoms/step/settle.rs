//! At the end of a step: the constraints of all levels are made to hold, and must agree and keep their rank.

use super::super::{NewtonPoint, Polish};
use super::{BLOCKS, GeomsStep};
use crate::error::StepFailure;

/// Residuals of dropped constraints above this multiple of the tolerance mean that they contradict the others.
const DISAGREEMENT: f64 = 1000.0;
/// Most solves spent on bringing the constraints to rounding.
const MOST_POLISHING: u32 = 6;
/// Most solves for a point inside of a step: the factors at hand are those of another point.
const MOST_CORRECTIONS: u32 = 20;

impl GeomsStep<'_> {
    /// Make the constraints hold at the accepted point, and see whether they agree and keep their rank.
    pub(super) fn settle(&mut self, h: f64) -> Result<(), StepFailure> {
        if self.method.polish != Polish::Off {
            // the Jacobian of the next step serves this one first: then one correction reaches almost rounding
            if self.collocation.jacobian_wanted && self.method.newton_point == NewtonPoint::Left {
                self.renew_jacobian(h, NewtonPoint::Left)?;
            }
            self.polish();
        }
        self.check_agreement()
    }

    /// Correct the accepted point so that the constraints hold, with the factors at hand: C ξ = k_C, free unknowns kept.
    fn polish(&mut self) {
        // corrections below this are not repeated: the next one would be of the size of their square
        let enough = match self.method.polish {
            Polish::Off => return,
            Polish::Once => f64::EPSILON.sqrt(),
            Polish::Rounding => f64::EPSILON,
        };
        let mut last = f64::INFINITY;
        for _ in 0..MOST_POLISHING {
            self.bC.copy_from_slice(&self.rows[..self.layout.algebraic()]);
            self.constraints.transform(&mut self.bC);
            self.zeta.fill(0.0);
            self.constraints.substitute(&self.bC, &mut self.zeta, &mut self.error);
            self.counters.polishing_solves += 1;
            let size = self.error.iter().zip(&self.state.x).fold(0.0_f64, |m, (e, x)| m.max(e.abs() / (1.0 + x.abs())));
            if !(size < 0.5 * last) {
                break;
            }
            for ((x, x0), e) in self.x.iter_mut().zip(&self.state.x).zip(&self.error) {
                *x = x0 + e;
            }
            self.counters.residuals += 1;
            if self.array.evaluate(self.state.t, &self.x, &mut self.scratch_rows).is_err() {
                break;
            }
            std::mem::swap(&mut self.state.x, &mut self.x);
            std::mem::swap(&mut self.rows, &mut self.scratch_rows);
            if size < enough {
                break;
            }
            last = size;
        }
        self.collocation.segment.shift_to(&self.state.x);
    }

    /// Correct `self.x`, a point inside of the last step, so that the constraints hold at its time. The factors at hand are those of another
    /// point: corrections are repeated until they are rounding or do not shrink.
    pub(super) fn correct_inside(&mut self, t: f64) {
        let mut last = f64::INFINITY;
        for _ in 0..MOST_CORRECTIONS {
            if self.method.polish == Polish::Off {
                return;
            }
            self.counters.residuals += 1;
            if self.array.evaluate(t, &self.x, &mut self.scratch_rows).is_err() {
                return;
            }
            self.bC.copy_from_slice(&self.scratch_rows[..self.layout.algebraic()]);
            self.constraints.transform(&mut self.bC);
            self.zeta.fill(0.0);
            self.constraints.substitute(&self.bC, &mut self.zeta, &mut self.error);
            self.counters.polishing_solves += 1;
            let size = self.error.iter().zip(&self.x).fold(0.0_f64, |m, (e, x)| m.max(e.abs() / (1.0 + x.abs())));
            if !(size < 0.5 * last) {
                return;
            }
            self.x.iter_mut().zip(&self.error).for_each(|(x, e)| *x += e);
            if size < f64::EPSILON {
                return;
            }
            last = size;
        }
    }

    /// Constraints that were dropped as redundant must still hold with the others.
    fn check_agreement(&mut self) -> Result<(), StepFailure> {
        if self.ranks.iter().all(|r| r.rank == r.rows) {
            return Ok(());
        }
        self.bC.copy_from_slice(&self.rows[..self.layout.algebraic()]);
        self.constraints.transform(&mut self.bC);
        let (rtol, atol) = self.collocation.weights.pair(self.layout.a().end);
        let most = DISAGREEMENT * (rtol + atol);
        match self.constraints.neglected(&self.bC).find(|(_, r)| r.abs() > most) {
            Some((q, residual)) => Err(StepFailure::Contradiction { t: self.state.t, block: BLOCKS[q], residual }),
            None => Ok(()),
        }
    }
}
