//! GEOMS: Radau IIa on the reduced derivative array, regularised inside the linear algebra.
//!
//! More equations than unknowns are discretised: all differential equations and the constraints of all levels. In each Newton
//! system the algebraic rows are satisfied exactly (`constraint`) and the differential rows in a selected subspace
//! (`differential`). Steinbrecher (2006), 5.1; (2007). Order 2s − 1 in p, v and λ with s stages, three as published; all constraints hold
//! at every step.

#[allow(clippy::struct_field_names)] // the rank of a block
mod constraint;
mod differential;
mod equations;
mod regularised;
mod settle;
mod start;
#[cfg(test)]
mod tests;

use super::collocation::Stages;
use super::controller::Control;
use super::{Method, StartFailure, State, Stepper};
use crate::error::BadOption;
use crate::formulation::{Formulation, Selectors, WithForces};
use crate::motion::{Form, Mechanism};
use crate::options::Options;

/// How a part of the Newton systems is decomposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decomposition {
    /// LU: full pivoting for the constraints, row selection for the differential part.
    Lu,
    /// QR: column pivoting for the constraints, least squares for the differential part.
    Qr,
    /// SVD: for the constraints only; handles redundancy.
    Svd,
}

/// How differential equations are selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Kinematic and dynamic equations each among themselves: independent of their scaling, order 5.
    #[default]
    Blockwise,
    /// All rows of E₁ compete, as in the original. For comparison with published counters.
    Joint,
}

/// When the selector is chosen anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelectorUpdate {
    /// When the pivoting of the constraints changes, and after a failed Newton iteration.
    #[default]
    Adaptive,
    /// At every Jacobian.
    EveryJacobian,
}

/// Where Newton's iteration starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Predictor {
    /// On the extrapolated polynomial of the last step.
    #[default]
    Extrapolate,
    /// At the last point.
    Zero,
}

/// Where the Newton matrix is evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewtonPoint {
    /// At the left end of the step.
    #[default]
    Left,
    /// At a predicted stage, numbered from 1.
    Stage(u8),
}

/// Are the multipliers wanted with the same accuracy as the motion?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Multipliers {
    /// They count in the error estimate and in Newton's iteration.
    #[default]
    Wanted,
    /// They are computed as far as the motion needs them: larger steps, fewer iterations.
    Unwanted,
}

/// How exactly the constraints hold at the end of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Polish {
    /// As Newton's iteration leaves them, as in the original.
    Off,
    /// One correction with the newest factors, a further one after a large one: far below the tolerance, for one evaluation a step.
    #[default]
    Once,
    /// Corrections down to rounding.
    Rounding,
}

/// What happens in a step whose Newton iteration is given up, after the updates that are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlowNewton {
    /// The step is tried again with a smaller size, as in the original.
    ShorterStep,
    /// The iteration is not given up before its third increment, and then repeated with the matrix of the middle stage on stages that
    /// are brought onto the constraints after every increment: strongly curved constraints cost no shorter steps.
    #[default]
    OntoConstraints,
}

/// GEOMS with its options. The names in the original are given in brackets.
#[derive(Clone, Debug, PartialEq)]
pub struct Geoms {
    /// Which equations (FORM): psf, psf+i or p1.
    pub formulation: Formulation,
    /// Number of stages.
    pub stages: Stages,
    /// Decomposition of the constraints (DECOMPC). Chosen from the problem if absent: SVD for redundant constraints, LU otherwise.
    pub constraint_decomposition: Option<Decomposition>,
    /// Decomposition of the differential part, LU or QR (DECOMPD). Chosen if absent: QR with invariants, LU otherwise.
    pub differential_decomposition: Option<Decomposition>,
    /// How rows are selected.
    pub selection: Selection,
    /// When rows are selected anew (SELCOMP).
    pub selector_update: SelectorUpdate,
    /// Start of Newton's iteration (STARTN).
    pub predictor: Predictor,
    /// Where the Newton matrix is evaluated (NWTMAT).
    pub newton_point: NewtonPoint,
    /// Newton matrices renewed inside a step that converges slowly (NWTUPD).
    pub newton_updates: u32,
    /// What happens when it is too slow nevertheless.
    pub slow_newton: SlowNewton,
    /// Most Newton iterations (NIT) with three stages: three less with one stage, five and ten more with five and seven.
    pub max_newton: u32,
    /// Stopping factor of Newton's iteration (FNEWT), min(0.03, √rtol') if absent, of three stages.
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
    /// Filter the error estimate once more in the first step and after rejections, as RADAU5 does.
    pub refilter: bool,
    /// How exactly the constraints hold at the end of a step.
    pub polish: Polish,
    /// Are the multipliers wanted (COMPLMDA)?
    pub multipliers: Multipliers,
}

impl Default for Geoms {
    fn default() -> Self {
        Geoms {
            formulation: Formulation::Projected,
            stages: Stages::default(),
            constraint_decomposition: None,
            differential_decomposition: None,
            selection: Selection::Blockwise,
            selector_update: SelectorUpdate::Adaptive,
            predictor: Predictor::Extrapolate,
            newton_point: NewtonPoint::Left,
            newton_updates: 0,
            slow_newton: SlowNewton::OntoConstraints,
            max_newton: 10,
            newton_tolerance: None,
            jacobian_reuse: 0.001,
            keep_step: (1.0, 1.2),
            safety: 0.9,
            ratio: (0.2, 8.0),
            control: Control::Radau5,
            refilter: false,
            polish: Polish::Once,
            multipliers: Multipliers::Wanted,
        }
    }
}

impl Geoms {
    /// The setting that reproduces the published counters: joint selection, the predictive controller alone, Newton's iteration on linearised
    /// constraints, no polishing.
    pub fn reproduction() -> Self {
        Geoms {
            selection: Selection::Joint,
            control: Control::Thesis,
            slow_newton: SlowNewton::ShorterStep,
            polish: Polish::Off,
            ..Geoms::default()
        }
    }

    /// Which reduced derivative array the formulation needs.
    pub fn form(&self) -> Form {
        if self.is_of_index_two() { Form::IndexOne } else { Form::StrangenessFree }
    }

    /// pEoM1, without constraints of acceleration level: multipliers of the discretisation converge with order 3 only.
    fn is_of_index_two(&self) -> bool {
        matches!(self.formulation, Formulation::ProjectedIndexOne(_))
    }

    /// Only formulations of which all levels are regularised; selectors are kept as [`Geoms::selector_update`] says.
    fn check_formulation(&self) -> Result<(), StartFailure> {
        match self.formulation {
            Formulation::Projected
            | Formulation::ProjectedIndexOne(Selectors::EveryJacobian)
            | Formulation::ProjectedWithInvariants(Selectors::EveryJacobian) => Ok(()),
            other => {
                let why =
                    format!("it takes the formulations psf, psf+i and p1 with selectors of its own, not {other:?}");
                Err(StartFailure::OutOfClass { method: "geoms", why, instead: "radau" })
            }
        }
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
        if !(3..=1000).contains(&self.max_newton) {
            let value = f64::from(self.max_newton);
            return Err(BadOption::OutOfRange { name: "max_newton", value, expected: "3 to 1000 iterations" });
        }
        if let NewtonPoint::Stage(stage) = self.newton_point
            && !(1..=self.stages.range().0).contains(&usize::from(stage))
        {
            let (name, value) = ("newton_point", f64::from(stage));
            return Err(BadOption::OutOfRange { name, value, expected: "stages are numbered from 1 to their number" });
        }
        if self.differential_decomposition == Some(Decomposition::Svd) {
            let (name, value) = ("differential_decomposition", 3.0);
            return Err(BadOption::OutOfRange { name, value, expected: "the differential part takes lu or qr" });
        }
        Ok(())
    }
}

impl Geoms {
    /// A stepper whose multipliers are those of the discretisation. With pEoM1 they are of lower order than those that are shown otherwise.
    pub fn start_as_discretised<'p>(
        &self,
        system: &'p (dyn Mechanism + '_),
        at: State,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        Ok(Box::new(self.at(system, at, options)?))
    }
}

impl<'m> Method<dyn Mechanism + 'm> for Geoms {
    fn start<'p>(
        &self,
        system: &'p (dyn Mechanism + 'm),
        at: State,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        let stepper = self.start_as_discretised(system, at, options)?;
        Ok(if self.is_of_index_two() {
            Box::new(WithForces::new(stepper, system, &options.tolerance, options.ranks())?)
        } else {
            stepper
        })
    }
}
