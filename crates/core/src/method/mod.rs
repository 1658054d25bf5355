//! Methods: how equations are advanced in time.

pub(crate) mod bdf;
pub(crate) mod collocation;
pub(crate) mod controller;
mod convergence;
mod derivative;
pub(crate) mod dormand_prince;
pub(crate) mod exact;
pub(crate) mod explicit;
pub(crate) mod extrapolation;
pub(crate) mod generalized_alpha;
pub(crate) mod geoms;
pub(crate) mod gmkssol;
pub(crate) mod half_explicit;
mod kept;
pub(crate) mod local_state_space;
mod nonstiff_first;
mod pace;
pub(crate) mod passage;
pub(crate) mod radau;
pub(crate) mod rosenbrock;
pub(crate) mod runge_kutta;
mod shell;
pub(crate) mod structural;
pub(crate) mod sums;
pub(crate) mod symplectic;
mod weights;

pub use bdf::Steps;
pub use controller::Control;
pub use extrapolation::Basic;
pub use generalized_alpha::{AlphaForm, AlphaStart};
pub use geoms::{Decomposition, Multipliers, NewtonPoint, Polish, Predictor, Selection, SelectorUpdate, SlowNewton};
pub use half_explicit::HalfExplicitFormula;
pub(crate) use kept::Kept;
pub use local_state_space::Chart;
pub use nonstiff_first::NonstiffFirst;
pub use pace::{Failures, Rules, Trust, Try, first_step};
pub(crate) use passage::Passage;
pub use radau::Stages;
pub use runge_kutta::RungeKuttaFamily;
pub use shell::{Attempt, Formula, Shell};
pub use structural::{AtSingular, ProjectedOnto};
pub use symplectic::Composition;
pub use weights::Weights;

use crate::dae::hidden::ProcedureError;
use crate::dae::{CharacteristicValues, Dae, Form, Point, System};
use crate::error::{BadOption, StepFailure};
use crate::linear::ReductionError;
use crate::motion::WrongDeclaration;
use crate::options::Options;
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};

/// A point of a solution; x as the layout of the system orders it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Time.
    pub t: f64,
    /// All unknowns.
    pub x: Vec<f64>,
}

/// Why a method could not be started.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StartFailure {
    /// Options that make no sense.
    #[error(transparent)]
    Options(#[from] BadOption),
    /// The first decomposition failed.
    #[error(transparent)]
    Step(#[from] StepFailure),
    /// The problem lies outside of the class that a method solves.
    #[error("{method} does not solve this problem: {why}; choose the method {instead}")]
    OutOfClass {
        /// Name of the method.
        method: &'static str,
        /// What lies outside.
        why: String,
        /// A method that solves it.
        instead: &'static str,
    },
    /// A black box does not have the structure that it declares.
    #[error(transparent)]
    Declaration(#[from] Box<WrongDeclaration>),
    /// The equations as they stand were asked for, but they need a reduction.
    #[error(
        "at t = {t}: the equations cannot be integrated as they stand ({values}): constraints are hidden, equations redundant or unknowns undetermined; choose the form auto, quasilinear or array"
    )]
    NotPlain {
        /// Time.
        t: f64,
        /// Characteristic values.
        values: CharacteristicValues,
    },
    /// A method takes general systems in one form only.
    #[error("this method takes general systems in the form {form} only; leave the form away, or choose another method")]
    OtherForm {
        /// Its form.
        form: &'static str,
    },
    /// Invariants are given, but the form does not keep them.
    #[error("the form `{form}` does not keep invariants; choose auto or quasilinear, or remove the invariants")]
    Invariants {
        /// Name of the form.
        form: &'static str,
    },
    /// The form for linear systems was asked for.
    #[error(
        "the equations are not linear in the unknowns and their derivatives; choose the form auto, quasilinear or array"
    )]
    NotLinear,
    /// Equations that contradict each other leave no choice for a fixed initial value.
    #[error(
        "the form least-squares moves the fixed initial value of {name} from {given} to {found}; give it as a guess instead"
    )]
    FixedMoves {
        /// Which unknown.
        name: String,
        /// What was given.
        given: f64,
        /// What the equations say.
        found: f64,
    },
    /// Equations that contradict each other, with further conditions at the start.
    #[error("the form least-squares takes no conditions where equations contradict each other; remove {name}")]
    ConditionAside {
        /// Which condition.
        name: String,
    },
    /// A linear system could not be reduced.
    #[error(transparent)]
    Reduction {
        /// Why.
        cause: Box<ReductionError>,
    },
    /// Hidden constraints have no formulas.
    #[error("at t = {t}: {cause}; choose the form array")]
    Procedure {
        /// Time.
        t: f64,
        /// Why.
        cause: ProcedureError,
    },
    /// The formulas of the hidden constraints do not leave the degrees of freedom that the analysis found.
    #[error(
        "at t = {t}: {degrees} differential equations are left by the formulas of the hidden constraints, {wanted} by the analysis, and {open} unknowns stay open, {undetermined} by the analysis; a singular point may be near; choose the form array"
    )]
    Degrees {
        /// Time.
        t: f64,
        /// What the formulas leave.
        degrees: usize,
        /// What the analysis found.
        wanted: usize,
        /// Unknowns that the formulas leave open, auxiliary ones included.
        open: usize,
        /// What the analysis found.
        undetermined: usize,
    },
}

/// A numerical method with its options; P is the class of problem it can take.
pub trait Method<P: ?Sized> {
    /// A stepper at a consistent point.
    fn start<'p>(&self, system: &'p P, at: State, options: &Options) -> Result<Box<dyn Stepper + 'p>, StartFailure>;
}

/// A method for square systems of index at most one.
pub trait Integrator {
    /// A stepper at a consistent point.
    fn start<'p>(
        &self,
        system: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure>;
    /// Largest index of unknowns for which its steps are reliable.
    fn largest_index(&self) -> u8 {
        3
    }
    /// The only form in which it takes a general system, if there is one; an error if it does not take this system in any.
    fn own_form(&self, _system: &System) -> Result<Option<Form>, StartFailure> {
        Ok(None)
    }
}

impl Integrator for Box<dyn Integrator> {
    fn start<'p>(
        &self,
        system: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        (**self).start(system, at, options)
    }
    fn largest_index(&self) -> u8 {
        (**self).largest_index()
    }
    fn own_form(&self, system: &System) -> Result<Option<Form>, StartFailure> {
        (**self).own_form(system)
    }
}

/// A method at work.
///
/// The contract of an implementation:
/// 1. [`advance`](Stepper::advance) makes one accepted step and never passes `limit`;
/// 2. it allocates nothing after the first step;
/// 3. after an error the state is the last accepted one.
pub trait Stepper {
    /// The last accepted point.
    fn state(&self) -> &State;
    /// The polynomial over the last step.
    fn segment(&self) -> &Segment;
    /// One accepted step, never past `limit`.
    fn advance(&mut self, limit: f64) -> Result<(), StepFailure>;
    /// Go on from another consistent point, as after a jump.
    fn restart(&mut self, at: State);
    /// The same where ẋ is known there.
    fn restart_along(&mut self, at: State, _xdot: &[f64]) {
        self.restart(at);
    }
    /// Make the last step again, so that it ends at a time inside of it, or earlier if it must. False if the method cannot: its
    /// polynomial is as accurate as its steps.
    fn retake(&mut self, _t: f64) -> Result<bool, StepFailure> {
        Ok(false)
    }
    /// Values between steps will be asked for. A method whose polynomial is less accurate than its steps makes shorter ones from now on.
    fn watch_between(&mut self) {}
    /// x at a time of the last step, as accurate as the method knows it: the value of its polynomial, or better.
    fn inside(&mut self, t: f64, x: &mut [f64]) {
        self.segment().eval(t, x);
    }
    /// Make the polynomial over the last step as accurate as [`inside`](Stepper::inside), for it will be kept.
    fn refine(&mut self) {}
    /// Try a step of this size next, as after a restart; a method that starts with small steps may ignore it.
    fn propose(&mut self, _h: f64) {}
    /// ẋ at the last accepted point; zero for unknowns whose derivatives the method does not know.
    fn rates(&mut self, xdot: &mut [f64]);
    /// The system that is integrated, where it is a general one.
    fn system(&mut self) -> Option<&mut dyn Dae> {
        None
    }
    /// Attempts so far, which [`Options::max_steps`] bounds.
    fn attempts(&self) -> u64;
    /// Counters so far.
    fn statistics(&self) -> Statistics;
    /// Residuals of all constraint levels at the last accepted point.
    fn residuals(&self) -> Residuals;
    /// The step size proposed for the next step.
    fn proposed_step(&self) -> f64;
    /// Combinations of multipliers that redundant constraints leave undetermined, as vectors over x.
    fn undetermined(&self) -> Vec<Vec<f64>> {
        Vec::new()
    }
    /// What the method decided by itself, for reports.
    fn decisions(&self) -> String {
        String::new()
    }
    /// Names of the methods that were used, each with the time from which on, where they were chosen along the way.
    fn methods(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}
