//! Events: conditions that become true along a run, which goes on as if nothing had happened, or stops.

use crate::hybrid::{Condition, SwitchingFunction};

/// What to do when an event happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Stop the run there.
    Stop,
    /// Write it down and go on.
    Record,
}

/// A condition on time and state. It happens where it becomes true; what holds at the start happens only after it was false.
pub struct Event<'p> {
    /// How results call it.
    pub name: String,
    /// What to do.
    pub action: Action,
    /// The condition.
    pub condition: Condition<'p>,
    /// Does it happen where a function only touches zero, if its statement allows equality?
    pub touching: bool,
}

impl<'p> Event<'p> {
    /// It happens where a function of time and state, positive until then, falls through zero.
    pub fn falls(name: impl Into<String>, action: Action, function: impl Fn(f64, &[f64]) -> f64 + 'p) -> Self {
        let name = name.into();
        let condition = Condition::of(SwitchingFunction::new(name.clone(), function));
        Event { name, action, condition, touching: false }
    }

    /// It happens where a condition becomes true.
    pub fn when(name: impl Into<String>, action: Action, condition: Condition<'p>) -> Self {
        Event { name: name.into(), action, condition, touching: true }
    }
}

/// An event that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Happened {
    /// Which event.
    pub name: String,
    /// When.
    pub t: f64,
    /// The state there.
    pub x: Vec<f64>,
    /// Its derivative: that of the polynomial over the step, or behind a jump what the method knows.
    pub xdot: Vec<f64>,
    /// Did it stop the run?
    pub action: Action,
}
