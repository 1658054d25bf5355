//! A mode: its equations, how they are solved, and how it is entered.

use super::flow::{Flow, GeneralFlow, LinearFlow, MotionFlow};
use super::options::Restart;
use crate::catalogue::MotionMethod;
use crate::dae::{Equations, Form, System};
use crate::event::Event;
use crate::linear::Coefficients;
use crate::method::Integrator;
use crate::method::radau::RadauIIa;
use crate::motion::Mechanism;

/// Equations that hold for a while.
pub struct Mode<'h> {
    /// Its name.
    pub name: String,
    /// Its equations and the method that solves them.
    pub flow: Box<dyn Flow + 'h>,
    /// How a state is made consistent on entry.
    pub restart: Restart,
    /// Names of unknowns that must not be changed when a state is made consistent.
    pub keep: Vec<String>,
    /// No transition for this long after the mode was entered.
    pub dwell: f64,
    /// Events that do not switch. One of the same name in several modes is the same event: what becomes true by a switch happens then.
    pub events: Vec<Event<'h>>,
}

impl<'h> Mode<'h> {
    /// Anything that can be integrated.
    pub fn new(name: impl Into<String>, flow: impl Flow + 'h) -> Self {
        let (name, flow) = (name.into(), Box::new(flow));
        Mode { name, flow, restart: Restart::default(), keep: Vec::new(), dwell: 0.0, events: Vec::new() }
    }

    /// A general system written in Rust, solved with Radau IIa.
    pub fn equations<E: Equations>(name: impl Into<String>, equations: &E) -> Self {
        Self::general(name, System::of(equations), Form::Auto, RadauIIa::default())
    }

    /// A general system, with the form and the method to solve it.
    pub fn general(name: impl Into<String>, system: System, form: Form, integrator: impl Integrator + 'static) -> Self {
        Self::new(name, GeneralFlow::new(system, form, integrator))
    }

    /// Equations of motion, with any method of the catalogue to solve them.
    pub fn motion(
        name: impl Into<String>,
        mechanism: impl Mechanism + 'h,
        method: impl MotionMethod + 'static,
    ) -> Self {
        Self::new(name, MotionFlow::new(mechanism, method))
    }

    /// A linear system E ẋ = A x + b (GELDA), with the method to solve it.
    pub fn linear(
        name: impl Into<String>,
        names: &[&str],
        coefficients: impl Coefficients + Clone + 'static,
        integrator: impl Integrator + 'static,
    ) -> Self {
        let names = names.iter().map(ToString::to_string).collect();
        Self::new(name, LinearFlow::new(names, coefficients, integrator))
    }

    /// With another way to make states consistent on entry.
    #[must_use]
    pub fn restart(mut self, restart: Restart) -> Self {
        self.restart = restart;
        self
    }

    /// With unknowns that entering must not change.
    #[must_use]
    pub fn keep(mut self, names: &[&str]) -> Self {
        self.keep = names.iter().map(ToString::to_string).collect();
        self
    }

    /// With an event that does not switch.
    #[must_use]
    pub fn event(mut self, event: Event<'h>) -> Self {
        self.events.push(event);
        self
    }

    /// With a time during which it is not left.
    #[must_use]
    pub fn dwell(mut self, time: f64) -> Self {
        self.dwell = time;
        self
    }
}

/// Where an observer stands: the mode that is active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveMode {
    /// Its place in [`HybridSolution::modes`](super::HybridSolution::modes).
    pub mode: usize,
    /// Its name.
    pub name: String,
}
