//! Radau IIa with s = 1, 3, 5 or 7 stages, order 2s − 1, for square systems G(t, x, ẋ) = 0 of index at most one. \[HW\] IV.8.
//!
//! ```text
//! G(t₀ + cⱼh, x₀ + Zⱼ, Ẋⱼ) = 0,   h Ẋ = (A⁻¹ ⊗ I) Z,   x₁ = x₀ + Zₛ
//! ```
//!
//! The last stage is the new point: all constraints that the system states hold there. One text serves ordinary equations,
//! quasi-linear and fully implicit systems, dense and sparse; step size control, reuse of Jacobians and Newton's stopping rule are
//! those of RADAU5, and the choice of the order is that of RADAU. A system is evaluated at the stages 0, …, s − 1, and as stage s at the
//! left end, for the error estimate.
//!
//! Systems of index 2 and 3 are integrated as well if they know the [`index`](crate::dae::Dae::index) of their unknowns: their errors count h and h²
//! times. \[HW\] VII.6. Orders are 2s − 1 in unknowns of index 1 and s in those of index 2 then, and s − 1 in those of index 3.
//!
//! The error estimate watches what the differential equations leave open: an algebraic unknown that follows a quick function of time
//! is right at the ends of steps, but does not shorten them. Where values between steps are wanted its polynomial is watched as well.

mod square;

pub use super::collocation::Stages;

use super::collocation::{Collocation, CollocationStep, RAISED_UP_TO, StageSettings};
use super::controller::{Control, Controller};
use super::pace::{Rules, Trust};
use super::shell::Shell;
use super::weights::Weights;
use super::{Integrator, StartFailure, State, Stepper};
use crate::dae::{Dae, Point};
use crate::error::BadOption;
use crate::options::Options;
use crate::statistics::Statistics;
use square::SquareStages;

/// Newton increments below this part of the tolerance may be rounding.
const ROUNDING: f64 = 0.01;

/// Radau IIa with its options. The names in RADAU5 are given in brackets.
#[derive(Clone, Debug, PartialEq)]
pub struct RadauIIa {
    /// Number of stages (NSMIN, NSMAX).
    pub stages: Stages,
    /// Most Newton iterations (NIT) with three stages: three less with one stage, five and ten more with five and seven.
    pub max_newton: u32,
    /// Stopping factor of Newton's iteration (FNEWT), min(0.03, rtol'^((s−1)/(s+1))) if absent, rtol' = rtol^((s+1)/2s)/10.
    pub newton_tolerance: Option<f64>,
    /// A Jacobian is kept while the iteration contracts faster than this (THET); negative: never.
    pub jacobian_reuse: f64,
    /// The step size is kept if the proposed ratio lies between these (QUOT1, QUOT2).
    pub keep_step: (f64, f64),
    /// Safety factor of the step size control (SAFE).
    pub safety: f64,
    /// Bounds on the ratio of successive step sizes (FACR, FACL).
    pub ratio: (f64, f64),
    /// Step size control (PRED).
    pub control: Control,
    /// Rules that RADAU5 does not have:
    /// a first Newton increment is not trusted because former steps converged quickly, one of the size of rounding is no failure,
    /// steps grow slowly after failures of the iteration, and residuals of constraints are no errors.
    pub safeguards: bool,
}

impl Default for RadauIIa {
    fn default() -> Self {
        RadauIIa {
            stages: Stages::default(),
            max_newton: 7,
            newton_tolerance: None,
            jacobian_reuse: 0.001,
            keep_step: (1.0, 1.2),
            safety: 0.9,
            ratio: (0.2, 8.0),
            control: Control::Radau5,
            safeguards: true,
        }
    }
}

impl RadauIIa {
    /// The setting that reproduces the counters of RADAU5; of RADAU with [`Stages::VARIABLE`].
    pub fn reproduction() -> Self {
        RadauIIa { safeguards: false, ..RadauIIa::default() }
    }

    fn check(&self, options: &Options) -> Result<(), BadOption> {
        options.check()?;
        self.stages.check()?;
        if let Some(tolerance) = self.newton_tolerance {
            BadOption::positive("newton_tolerance", tolerance)?;
        }
        let between = BadOption::between;
        between("safety", self.safety, 0.001, 1.0, "it must lie between 0.001 and 1")?;
        between("smallest ratio", self.ratio.0, 0.0, 1.0, "it must lie between 0 and 1")?;
        between("largest ratio", self.ratio.1, 1.0, f64::INFINITY, "it must be larger than 1")?;
        between("jacobian_reuse", self.jacobian_reuse, f64::NEG_INFINITY, 1.0, "it must be smaller than 1")?;
        between("keep_step from", self.keep_step.0, 0.0, 1.0 + 1e-12, "it must lie between 0 and 1")?;
        between("keep_step to", self.keep_step.1, 1.0 - 1e-12, f64::INFINITY, "it must be at least 1")?;
        between("max_newton", f64::from(self.max_newton), 2.5, 1000.5, "3 to 1000 iterations")
    }
}

impl RadauIIa {
    /// At work, at a consistent point.
    pub(crate) fn at<'p>(
        &self,
        dae: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Shell<CollocationStep<SquareStages<'p>>>, StartFailure> {
        self.check(options)?;
        let n = dae.dim();
        assert!(at.x.len() == n && at.xdot.len() == n, "{} and {} values for {n} unknowns", at.x.len(), at.xdot.len());
        let weights = Weights::new(&*dae, &options.tolerance)?;
        let settings = StageSettings {
            stages: self.stages,
            max_newton: self.max_newton,
            newton_tolerance: self.newton_tolerance,
            jacobian_reuse: self.jacobian_reuse,
            keep_step: self.keep_step,
            rounding: if self.safeguards { ROUNDING } else { 0.0 },
            extrapolates: true,
            raised_up_to: RAISED_UP_TO,
        };
        let controller = Controller::new(self.control, self.safety, self.ratio, self.max_newton);
        let state = State { t: at.t, x: at.x };
        let by_polynomial = self.safeguards && dae.multiplies_constrained_rates();
        let equations = SquareStages::new(dae, &state, at.xdot, self.stages.range().1, self.safeguards)?;
        let collocation = Collocation::new(settings, controller, weights, (state.t, &state.x));
        let constant = self.control == Control::Fixed;
        let counters = Statistics { jacobians: 1, ..Statistics::default() };
        let mut step = CollocationStep::new(equations, collocation, state, constant, counters);
        if by_polynomial {
            step.start_between();
        }
        let trust = if self.safeguards && !constant { Trust::Accelerated } else { Trust::AtOnce };
        let rules = Rules { constant, trust, halves: self.safeguards, ..Rules::default() };
        Ok(Shell::new(step, rules, options))
    }
}

impl Integrator for RadauIIa {
    fn start<'p>(
        &self,
        system: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        Ok(Box::new(self.at(system, at, options)?))
    }
}
