//! Newton's method for all points of a curve together, damped by the natural level function: a trial is good if the correction that
//! the old Jacobian gives there is shorter. Deuflhard (2004), Newton Methods for Nonlinear Problems, 3.3, NLEQ-ERR.

use super::curve::{Correction, CorrectionMeasure, Curve};
use super::ends::EndConditions;
use super::interval::{CollocatedInterval, LinearisationFailure};
use super::linearised::{CurveResiduals, Determination, LinearisedCurve};
use super::scheme::SymmetricScheme;
use crate::dae::{EquationChoice, RegularisedSystem};

/// Most iterations.
const MOST: u64 = 60;
/// Smallest damping factor.
const SMALLEST: f64 = 1e-6;
/// Corrections below this part of the tolerance are the last.
const SMALL: f64 = 1e-2;
/// Where they do not become smaller any more, this suffices: rounding.
const ROUNDING: f64 = 0.3;
/// Most part by which the length of the interval may change at once.
const MOST_CHANGE: f64 = 0.5;

/// What one solution cost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub iterations: u64,
    pub evaluations: u64,
    pub linearisations: u64,
}

/// A problem that is collocated on one mesh.
pub(super) struct Collocated<'c> {
    pub system: &'c mut RegularisedSystem,
    pub scheme: &'c SymmetricScheme,
    pub conditions: &'c EndConditions,
    pub measure: CorrectionMeasure<'c>,
    /// is the length of the interval unknown?
    pub with_length: bool,
    /// singular values of the conditions below this part of the largest count as zero
    pub tolerance: f64,
    pub cost: &'c mut Cost,
    /// may it go on?
    pub go_on: &'c mut dyn FnMut(u64) -> bool,
}

/// Why there is no solution.
pub(super) enum Stuck {
    /// formulas have no value on the guess
    Failure(LinearisationFailure),
    /// the conditions do not determine a solution here
    Singular {
        determined: Box<Determination>,
    },
    Diverged {
        curve: Box<Curve>,
        iterations: u64,
        residual: f64,
        row: (usize, usize),
        ends: Vec<f64>,
        undefined: bool,
    },
    Collapsed {
        length: f64,
    },
    Interrupted,
}

impl From<LinearisationFailure> for Stuck {
    fn from(failure: LinearisationFailure) -> Self {
        Stuck::Failure(failure)
    }
}

/// A solution on one mesh.
pub(super) struct Converged {
    pub curve: Curve,
    pub determined: Determination,
    pub ends: Vec<f64>,
}

impl Collocated<'_> {
    fn choices(&mut self, curve: &Curve) -> Result<Vec<EquationChoice>, LinearisationFailure> {
        (0..curve.intervals()).map(|i| CollocatedInterval::choose(self.system, curve, i)).collect()
    }

    fn residuals(&mut self, curve: &Curve, choices: &[EquationChoice]) -> Result<CurveResiduals, LinearisationFailure> {
        self.cost.evaluations += 1;
        CurveResiduals::of(self.system, self.scheme, curve, choices, self.conditions)
    }

    fn linearise(
        &mut self,
        curve: &Curve,
        choices: &[EquationChoice],
    ) -> Result<LinearisedCurve, LinearisationFailure> {
        self.cost.linearisations += 1;
        let (system, conditions) = (&mut *self.system, self.conditions);
        LinearisedCurve::at(system, self.scheme, curve, choices, conditions, self.with_length, self.tolerance)
    }

    /// Solve from a guess.
    pub fn solve(&mut self, mut curve: Curve) -> Result<Converged, Stuck> {
        let mut choices = self.choices(&curve)?;
        let mut residuals = self.residuals(&curve, &choices)?;
        // damping factor, last correction and what the old Jacobian said of this point
        let mut factor = 1.0;
        let mut before: Option<(f64, f64)> = None;
        let (mut last, mut undefined) = (f64::INFINITY, false);
        for iteration in 0..MOST {
            self.cost.iterations += 1;
            let mut linearised = self.linearise(&curve, &choices)?;
            let correction = linearised.solve(&curve, &residuals);
            let size = self.measure.local(&curve, &correction);
            if !size.is_finite() {
                undefined = true;
                break;
            }
            let enough = linearised.determined.rank >= linearised.determined.needed;
            if size <= SMALL || (size <= ROUNDING && size > 0.5 * last && factor >= 1.0) {
                let curve = curve.moved(1.0, &correction);
                let residuals = self.residuals(&curve, &choices)?;
                let determined = linearised.determined;
                if !enough {
                    return Err(Stuck::Singular { determined: Box::new(determined) });
                }
                return Ok(Converged { curve, determined, ends: residuals.ends });
            }
            if !enough && iteration == 0 && self.is_linear(&curve, &choices, &mut linearised, &correction) {
                return Err(Stuck::Singular { determined: Box::new(linearised.determined) });
            }
            if !(self.go_on)(self.cost.iterations) {
                return Err(Stuck::Interrupted);
            }
            last = size;
            let sizes = curve.sizes();
            let length = self.measure.global(&curve, &sizes, &correction);
            if let Some((old_length, simplified)) = before.take() {
                // how nonlinear it was between the last two points
                let curvature = simplified / (old_length.max(f64::MIN_POSITIVE));
                factor = (factor / curvature.max(0.1)).clamp(factor, 1.0);
            }
            let most = if correction.length == 0.0 {
                1.0
            } else {
                (MOST_CHANGE * curve.length.abs() / correction.length.abs()).min(1.0)
            };
            if most < SMALLEST && correction.length * curve.length < 0.0 {
                // whatever is left of the interval, the end is wanted on the other side of the start
                return Err(Stuck::Collapsed { length: curve.length });
            }
            factor = factor.min(most);
            let mut accepted = None;
            while factor >= SMALLEST {
                let trial = curve.moved(factor, &correction);
                let Ok(at_trial) = self.residuals(&trial, &choices) else {
                    undefined = true;
                    factor *= 0.5;
                    continue;
                };
                let simplified = linearised.solve(&trial, &at_trial);
                let simple = self.measure.global(&curve, &sizes, &simplified);
                // the part of the simplified correction that a linear problem would not have
                let bent = self.measure.global(&curve, &sizes, &difference(&simplified, 1.0 - factor, &correction));
                let proposed = 0.5 * length * factor * factor / bent.max(f64::MIN_POSITIVE);
                if simple <= (1.0 - 0.25 * factor) * length {
                    // a longer step may be good as well
                    let longer = proposed.min(1.0).min(most);
                    if factor < 1.0 && longer >= 4.0 * factor && accepted.is_none() {
                        accepted = Some((trial, at_trial, simple, factor));
                        factor = longer;
                        continue;
                    }
                    accepted = Some((trial, at_trial, simple, factor));
                    break;
                }
                if accepted.is_some() {
                    break;
                }
                factor = proposed.min(0.5 * factor).max(0.1 * factor);
            }
            let Some((trial, at_trial, simple, taken)) = accepted else { break };
            (curve, residuals, factor) = (trial, at_trial, taken);
            before = Some((length, simple));
            if self.with_length && curve.length.abs() < 1e-8 * (1.0 + curve.t0.abs()) {
                return Err(Stuck::Collapsed { length: curve.length });
            }
            // other equations may be better now, unless it converges
            if taken < 1.0 || size > 1e3 {
                let again = self.choices(&curve)?;
                if again != choices {
                    choices = again;
                    residuals = self.residuals(&curve, &choices)?;
                }
            }
        }
        let (interval, row, residual) = residuals.worst();
        let iterations = self.cost.iterations;
        let curve = Box::new(curve);
        Err(Stuck::Diverged { curve, iterations, residual, row: (interval, row), ends: residuals.ends, undefined })
    }

    /// Does one full correction leave no more than rounding?
    fn is_linear(
        &mut self,
        curve: &Curve,
        choices: &[EquationChoice],
        linearised: &mut LinearisedCurve,
        correction: &Correction,
    ) -> bool {
        let moved = curve.moved(1.0, correction);
        let Ok(residuals) = self.residuals(&moved, choices) else { return false };
        let left = linearised.solve(&moved, &residuals);
        let sizes = moved.sizes();
        let (before, after) =
            (self.measure.global(&moved, &sizes, correction), self.measure.global(&moved, &sizes, &left));
        after <= 1e-6 * before
    }
}

/// a − factor b.
fn difference(a: &Correction, factor: f64, b: &Correction) -> Correction {
    let y = a.y.iter().zip(&b.y).map(|(a, b)| a - factor * b).collect();
    Correction { y, length: a.length - factor * b.length }
}
