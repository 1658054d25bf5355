//! What the controller of a hybrid run needs of a mode: consistent states, and a stepper.

use super::error::EnterError;
use super::options::Restart;
use crate::dae::{self, Form, System};
use crate::linear::Coefficients;
use crate::method::geoms::Geoms;
use crate::method::{Integrator, Stepper};
use crate::motion::{Mechanism, Start};
use crate::options::Options;

/// What is known when a mode is entered.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Time.
    pub t: f64,
    /// The unknowns, in the order of [`Flow::names`].
    pub start: Vec<Start>,
    /// How they are made consistent.
    pub restart: Restart,
}

/// Equations with a method that solves them. An implementation makes a state consistent and hands out a stepper at it; the first
/// unknowns of the stepper are those of [`names`](Flow::names), auxiliary ones may follow.
pub trait Flow {
    /// Names of the unknowns.
    fn names(&self) -> Vec<String>;

    /// A stepper at a consistent state, on the first entry.
    fn enter<'f>(&'f self, entry: &Entry, options: &Options) -> Result<Box<dyn Stepper + 'f>, EnterError>;

    /// Move a stepper of this mode to a consistent state, on later entries.
    fn enter_again(&self, stepper: &mut dyn Stepper, entry: &Entry, options: &Options) -> Result<(), EnterError>;

    /// The equations as formulas of a general system, where they can be had. Sliding modes are generated from them.
    fn formulas(&self) -> Option<dae::Formulas> {
        None
    }
}

/// A general system.
pub struct GeneralFlow {
    system: System,
    form: Form,
    integrator: Box<dyn Integrator>,
}

/// Equations of motion.
pub struct MotionFlow<M> {
    mechanism: M,
    method: Geoms,
}

/// A linear system E ẋ = A x + b.
pub struct LinearFlow<C> {
    names: Vec<String>,
    coefficients: C,
    integrator: Box<dyn Integrator>,
}

impl GeneralFlow {
    /// A system with the form and the method to solve it.
    pub fn new(system: System, form: Form, integrator: impl Integrator + 'static) -> Self {
        GeneralFlow { system, form, integrator: Box::new(integrator) }
    }
}

impl<M: Mechanism> MotionFlow<M> {
    /// A mechanism with the method to solve its equations.
    pub fn new(mechanism: M, method: Geoms) -> Self {
        MotionFlow { mechanism, method }
    }
}

impl<C: Coefficients + Clone> LinearFlow<C> {
    /// Coefficients with the names of the unknowns and the method to solve the system.
    pub fn new(names: Vec<String>, coefficients: C, integrator: impl Integrator + 'static) -> Self {
        LinearFlow { names, coefficients, integrator: Box::new(integrator) }
    }
}

impl Flow for GeneralFlow {
    fn names(&self) -> Vec<String> {
        self.system.names().to_vec()
    }
    fn enter<'f>(&'f self, _: &Entry, _: &Options) -> Result<Box<dyn Stepper + 'f>, EnterError> {
        let _ = (&self.form, &self.integrator);
        todo!()
    }
    fn enter_again(&self, _: &mut dyn Stepper, _: &Entry, _: &Options) -> Result<(), EnterError> {
        todo!()
    }
}

impl<M: Mechanism> Flow for MotionFlow<M> {
    fn names(&self) -> Vec<String> {
        let _ = &self.method;
        crate::motion::Layout::new(self.mechanism.sizes(), crate::motion::Form::StrangenessFree, false)
            .variable_names(&self.mechanism.names())
    }
    fn enter<'f>(&'f self, _: &Entry, _: &Options) -> Result<Box<dyn Stepper + 'f>, EnterError> {
        todo!()
    }
    fn enter_again(&self, _: &mut dyn Stepper, _: &Entry, _: &Options) -> Result<(), EnterError> {
        todo!()
    }
}

impl<C: Coefficients + Clone> Flow for LinearFlow<C> {
    fn names(&self) -> Vec<String> {
        let _ = (&self.coefficients, &self.integrator);
        self.names.clone()
    }
    fn enter<'f>(&'f self, _: &Entry, _: &Options) -> Result<Box<dyn Stepper + 'f>, EnterError> {
        todo!()
    }
    fn enter_again(&self, _: &mut dyn Stepper, _: &Entry, _: &Options) -> Result<(), EnterError> {
        todo!()
    }
}
