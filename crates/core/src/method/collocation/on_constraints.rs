//! Newton's iteration on the constraints, for steps in which that of the linearised ones is given up.
//!
//! One matrix serves all stages of a step. Where a constraint is strongly curved, gradients turn by the angle θ of the step, and what a
//! tangential increment leaves of the constraint of the positions comes back through the forces, multiplied by h²θ² and by the curvature times
//! the multiplier: the iteration contracts for short steps only, although the motion on the constraints does not know of the curvature. With
//! stages that are brought onto the constraints after every increment nothing comes back.

use super::stages::{StageEquations, StageVectors};
use crate::method::sums::transform;
use crate::method::weights::Weights;
use crate::motion::Undefined;
use crate::statistics::Statistics;

/// Corrections below this part of the increment before them are not repeated.
const CLOSE: f64 = 0.1;
/// Predicted stages need not be closer to the constraints than this many tolerances.
const PREDICTED: f64 = 1.0;
/// Most corrections in a row.
const MOST_CORRECTIONS: u32 = 5;

impl StageVectors {
    /// Bring predicted stages onto the constraints.
    pub fn settle_prediction(
        &mut self,
        equations: &mut dyn StageEquations,
        at: (f64, &[f64], f64),
        weights: &Weights,
        statistics: &mut Statistics,
    ) -> Result<(), Undefined> {
        self.dW.fill(0.0);
        self.settle(equations, at, weights, PREDICTED, statistics)
    }

    /// Take the increment at hand and bring the stages back onto the constraints: both together are the increment that counts.
    pub(super) fn update_on_constraints(
        &mut self,
        equations: &mut dyn StageEquations,
        at: (f64, &[f64], f64),
        weights: &Weights,
        statistics: &mut Statistics,
    ) -> Result<(), Undefined> {
        self.update();
        let enough = CLOSE * self.increment(weights);
        self.settle(equations, at, weights, enough, statistics)
    }

    /// Correct the stages, Z ← Z + ξ and W and ΔW with them, until a correction is small enough.
    fn settle(
        &mut self,
        equations: &mut dyn StageEquations,
        at: (f64, &[f64], f64),
        weights: &Weights,
        enough: f64,
        statistics: &mut Statistics,
    ) -> Result<(), Undefined> {
        let (n, s) = (self.n, self.tableau.stages());
        for _ in 0..MOST_CORRECTIONS {
            self.evaluate(equations, at, statistics)?;
            let [xi, shift] = &mut self.onto;
            let (xi, shift) = (&mut xi[..s * n], &mut shift[..s * n]);
            xi.chunks_exact_mut(n).enumerate().for_each(|(j, xi)| equations.beside_constraints(j, xi));
            statistics.polishing_solves += s as u64;
            transform(self.tableau.T_INVERSE, xi, shift);
            self.Z.iter_mut().zip(xi).for_each(|(z, xi)| *z += *xi);
            for ((w, d), shift) in self.W.iter_mut().zip(&mut self.dW).zip(&*shift) {
                *w += shift;
                *d += shift;
            }
            if !(weights.norm_of_stages(shift, s) > enough) {
                break;
            }
        }
        Ok(())
    }
}
