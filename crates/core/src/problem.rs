//! What is to be solved: a system, its initial values, the interval, events.

use crate::event::{Action, Event};
use crate::motion::{Form, Initial, Layout, Mechanism, Motion, view};

/// An initial value problem for equations of motion.
pub struct Problem<'p> {
    /// The system.
    pub system: &'p dyn Mechanism,
    /// What is known at the start.
    pub initial: Initial,
    /// End of the interval.
    pub tend: f64,
    /// Events to look for.
    pub events: Vec<Event<'p>>,
    /// Are the initial values taken as they are, without a check?
    pub trusted: Option<crate::method::State>,
}

impl<'p> Problem<'p> {
    /// From initial values to tend. They are made consistent first.
    pub fn new(system: &'p dyn Mechanism, initial: Initial, tend: f64) -> Self {
        Problem { system, initial, tend, events: Vec::new(), trusted: None }
    }

    /// Take this state as the start without a check, accelerations included (IVCNSST = 1).
    #[must_use]
    pub fn trust(mut self, state: crate::method::State) -> Self {
        self.trusted = Some(state);
        self
    }

    /// Stop where the function falls through zero.
    #[must_use]
    pub fn stop_when(self, name: impl Into<String>, function: impl Fn(&Motion<f64>) -> f64 + 'p) -> Self {
        self.event(name.into(), Action::Stop, Box::new(function))
    }

    /// Write down where the function falls through zero.
    #[must_use]
    pub fn record_when(self, name: impl Into<String>, function: impl Fn(&Motion<f64>) -> f64 + 'p) -> Self {
        self.event(name.into(), Action::Record, Box::new(function))
    }

    fn event(mut self, name: String, action: Action, function: Box<dyn Fn(&Motion<f64>) -> f64 + 'p>) -> Self {
        let layout = Layout::new(self.system.sizes(), Form::StrangenessFree, false);
        let function = move |t: f64, x: &[f64]| function(&view(&layout, t, x));
        self.events.push(Event::falls(name, action, function));
        self
    }
}
