//! At the end of a step: the constraints of all levels are made to hold, and must agree and keep their rank.

use super::equations::{BLOCKS, GeomsEquations};
use super::{NewtonPoint, Polish};
use crate::error::StepFailure;
use crate::method::State;
use crate::method::collocation::Collocation;
use crate::statistics::Statistics;

/// Residuals of dropped constraints above this multiple of the tolerance mean that they contradict the others.
const DISAGREEMENT: f64 = 1000.0;
/// Most solves spent on bringing the constraints to rounding.
const MOST_POLISHING: u32 = 6;
/// Most solves for a point inside of a step: the factors at hand are those of another point.
const MOST_CORRECTIONS: u32 = 20;

impl GeomsEquations<'_> {
    /// Make the constraints hold at the accepted point, and see whether they agree and keep their rank.
    pub(super) fn settle(
        &mut self,
        state: &mut State,
        h: f64,
        collocation: &mut Collocation,
        counters: &mut Statistics,
    ) -> Result<(), StepFailure> {
        if self.method.polish != Polish::Off {
            // the Jacobian of the next step serves this one first: then one correction reaches almost rounding
            if collocation.jacobian_wanted && self.method.newton_point == NewtonPoint::Left {
                self.renew_at(NewtonPoint::Left, state, h, collocation, counters)?;
            }
            self.polish(state, counters);
        }
        self.check_agreement(state.t, collocation)
    }

    /// Correct the accepted point so that the constraints hold, with the factors at hand: C ξ = k_C, free unknowns kept.
    fn polish(&mut self, state: &mut State, counters: &mut Statistics) {
        // corrections below this are not repeated: the next one would be of the size of their square
        let enough = if self.method.polish == Polish::Once { f64::EPSILON.sqrt() } else { f64::EPSILON };
        let mut last = f64::INFINITY;
        for _ in 0..MOST_POLISHING {
            self.newton.onto_constraints(&self.rows[..self.layout.algebraic()], &mut self.xi);
            counters.polishing_solves += 1;
            let size = size_of(&self.xi, &state.x);
            if !(size < 0.5 * last) {
                break;
            }
            for ((x, x0), xi) in self.x.iter_mut().zip(&state.x).zip(&self.xi) {
                *x = x0 + xi;
            }
            counters.residuals += 1;
            if self.newton.array.evaluate(state.t, &self.x, &mut self.other_rows).is_err() {
                break;
            }
            std::mem::swap(&mut state.x, &mut self.x);
            std::mem::swap(&mut self.rows, &mut self.other_rows);
            if size < enough {
                break;
            }
            last = size;
        }
    }

    /// Correct a point inside of the last step so that the constraints hold at its time. The factors at hand are those of another point:
    /// corrections are repeated until they are rounding or do not shrink.
    pub(super) fn correct_inside(&mut self, t: f64, x: &mut [f64], counters: &mut Statistics) {
        let mut last = f64::INFINITY;
        for _ in 0..MOST_CORRECTIONS {
            counters.residuals += 1;
            if self.newton.array.evaluate(t, x, &mut self.other_rows).is_err() {
                return;
            }
            self.newton.onto_constraints(&self.other_rows[..self.layout.algebraic()], &mut self.xi);
            counters.polishing_solves += 1;
            let size = size_of(&self.xi, x);
            if !(size < 0.5 * last) {
                return;
            }
            x.iter_mut().zip(&self.xi).for_each(|(x, xi)| *x += xi);
            if size < f64::EPSILON {
                return;
            }
            last = size;
        }
    }

    /// Constraints that were dropped as redundant must still hold with the others.
    fn check_agreement(&mut self, t: f64, collocation: &Collocation) -> Result<(), StepFailure> {
        if self.ranks.iter().all(|r| r.rank == r.rows) {
            return Ok(());
        }
        let (rtol, atol) = collocation.weights.pair(self.layout.a().end);
        let most = DISAGREEMENT * (rtol + atol);
        match self.newton.disagreement(&self.rows[..self.layout.algebraic()], most) {
            Some((q, residual)) => Err(StepFailure::Contradiction { t, block: BLOCKS[q], residual }),
            None => Ok(()),
        }
    }
}

/// Largest correction relative to its unknown.
fn size_of(xi: &[f64], x: &[f64]) -> f64 {
    xi.iter().zip(x).fold(0.0_f64, |m, (xi, x)| m.max(xi.abs() / (1.0 + x.abs())))
}
