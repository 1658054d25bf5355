//! The one size of all steps, where none is given.
//!
//! A step of size h and two of h/2 from the start differ by about (1 − 2⁻ᵖ) C hᵖ⁺¹, the local error C hᵖ⁺¹ being measured in
//! tolerances, over p, v and r. A run over T makes T/h steps, so that its error is about T C hᵖ if local errors add up and are
//! nowhere much larger than at the start. h is such that this is one half.

use super::equations::StructuralEquations;
use super::one_step::{Scheme, Step, Trouble};
use super::projection::{ProjectedOnto, Projection};
use crate::method::State;
use crate::method::weights::Weights;

/// Error of the run, in tolerances, that the step size is chosen for.
const AIM: f64 = 0.5;
/// Fewest steps of a run.
const FEWEST: f64 = 10.0;
/// Smallest first trial, as a part of the run.
const SMALLEST_GUESS: f64 = 1e-4;
/// Most trials.
const MOST: u32 = 16;

/// What is needed for trial steps from the start.
pub(super) struct StepTrial<'t, 'p, S> {
    pub scheme: &'t mut S,
    pub equations: &'t mut StructuralEquations<'p>,
    pub projection: &'t mut Projection,
    pub weights: &'t Weights,
    pub from: &'t State,
    pub xdot: &'t [f64],
}

impl<S: Scheme> StepTrial<'_, '_, S> {
    /// The step size for a run over `span`, beginning with a guess.
    pub fn step_size(mut self, guess: f64, span: f64) -> Result<f64, Trouble> {
        let order = self.scheme.order();
        let most = span / FEWEST;
        // a guess at rest may be so small that only rounding is left of a step
        let mut h = guess.max(SMALLEST_GUESS * span).min(most);
        let mut trouble = None;
        for _ in 0..MOST {
            match self.local_error(h, order) {
                Ok(error) => {
                    trouble = None;
                    let wanted = h * (AIM * h / (span * error)).powf(1.0 / f64::from(order)).clamp(0.1, 10.0);
                    let next = wanted.min(most);
                    let settled = (0.8..1.25).contains(&(next / h));
                    h = next;
                    if settled {
                        break;
                    }
                }
                Err(new) => {
                    trouble = Some(new);
                    h *= 0.25;
                }
            }
        }
        // the size that comes out must be possible
        for _ in 0..MOST {
            match self.after(h, 1) {
                Ok(_) => {
                    trouble = None;
                    break;
                }
                Err(new) => {
                    trouble = Some(new);
                    h *= 0.5;
                }
            }
        }
        self.scheme.forget();
        trouble.map_or(Ok(h), Err)
    }

    /// Error of a step of size h, in tolerances.
    fn local_error(&mut self, h: f64, order: u32) -> Result<f64, Trouble> {
        let whole = self.after(h, 1)?;
        let mut difference = self.after(0.5 * h, 2)?;
        difference.iter_mut().zip(&whole).for_each(|(d, x)| *d -= x);
        let error = self.weights.norm(&difference) / (1.0 - 0.5_f64.powi(order as i32));
        if error.is_finite() { Ok(error.max(f64::MIN_POSITIVE)) } else { Err(Trouble::Diverged) }
    }

    /// The point after some steps from the start.
    fn after(&mut self, h: f64, steps: u32) -> Result<Vec<f64>, Trouble> {
        self.scheme.forget();
        let (mut t, mut x, mut xdot) = (self.from.t, self.from.x.clone(), self.xdot.to_vec());
        for k in 0..steps {
            let mut x1 = x.clone();
            let step = Step { t, t1: t + h, x: &x, h, xdot: &xdot, after_rejection: false, first: k == 0, last: false };
            self.scheme.attempt(self.equations, self.weights, step, &mut x1)?;
            t += h;
            if !self.scheme.own_multipliers() {
                self.projection.stay(self.equations, t, &x1)?;
                self.projection.accelerations(self.equations, t, &mut x1)?;
            }
            self.equations.forces(t, &x1)?;
            let l = self.equations.layout();
            xdot[l.p()].copy_from_slice(self.equations.kinematics());
            xdot[l.r()].copy_from_slice(self.equations.dynamic());
            xdot[l.v()].copy_from_slice(&x1[l.a()]);
            self.scheme.accepted(self.equations, &x1);
            x = x1;
        }
        if self.scheme.own_multipliers() {
            // what lies off the constraints of velocity does not add up
            self.projection.project(self.equations, (t, &mut x), self.weights, ProjectedOnto::All)?;
        }
        Ok(x)
    }
}
