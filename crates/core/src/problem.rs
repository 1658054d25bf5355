//! What is to be solved: a system, its initial values, the interval, events.

use crate::dae::{System, Unknowns};
use crate::error::SolveError;
use crate::event::{Action, Event};
use crate::hybrid::{ActiveMode, Hybrid, HybridError, HybridSolution};
use crate::initial::Initial;
use crate::method::State;
use crate::motion::{Form, Layout, Mechanism, Motion, view};
use crate::solution::Solution;

/// A class of systems: how its unknowns are laid out, and what a run of one of them gives.
pub trait Class {
    /// Says where unknowns stand in a state.
    type Layout;
    /// What a run computes.
    type Solution;
    /// Why it stopped.
    type Error;
}

impl Class for dyn Mechanism + '_ {
    type Layout = Layout;
    type Solution = Solution;
    type Error = SolveError;
}

impl Class for System {
    type Layout = Unknowns;
    type Solution = Solution<Unknowns>;
    type Error = SolveError<Unknowns>;
}

impl Class for Hybrid<'_> {
    type Layout = ActiveMode;
    type Solution = HybridSolution;
    type Error = HybridError;
}

/// What can be solved: every [`Mechanism`], hence all [`EquationsOfMotion`](crate::motion::EquationsOfMotion), a general [`System`], a
/// [`Hybrid`] system.
pub trait Solvable {
    /// The class for which methods are written.
    type Class<'p>: Class + ?Sized
    where
        Self: 'p;
    /// The system as one of its class.
    fn class(&self) -> &Self::Class<'_>;
}

impl<M: Mechanism> Solvable for M {
    type Class<'p>
        = dyn Mechanism + 'p
    where
        M: 'p;
    fn class(&self) -> &(dyn Mechanism + '_) {
        self
    }
}

impl<'m> Solvable for dyn Mechanism + 'm {
    type Class<'p>
        = dyn Mechanism + 'p
    where
        'm: 'p;
    fn class(&self) -> &(dyn Mechanism + '_) {
        self
    }
}

impl<'m> Solvable for dyn Mechanism + Send + Sync + 'm {
    type Class<'p>
        = dyn Mechanism + 'p
    where
        'm: 'p;
    fn class(&self) -> &(dyn Mechanism + '_) {
        self
    }
}

impl Solvable for System {
    type Class<'p> = System;
    fn class(&self) -> &System {
        self
    }
}

impl<'h> Solvable for Hybrid<'h> {
    type Class<'p>
        = Hybrid<'p>
    where
        'h: 'p;
    fn class(&self) -> &Hybrid<'_> {
        self
    }
}

/// An initial value problem; for equations of motion unless S says otherwise.
pub struct Problem<'p, S: ?Sized = dyn Mechanism + 'p> {
    /// The system.
    pub system: &'p S,
    /// What is known at the start.
    pub initial: Initial,
    /// End of the interval.
    pub tend: f64,
    /// Events to look for, in all modes if there are several.
    pub events: Vec<Event<'p>>,
    /// A start that is taken as it is, without a check.
    pub(crate) trusted: Option<State>,
}

impl<'p, S: Class + ?Sized> Problem<'p, S> {
    /// From initial values, which are made consistent first, to tend.
    pub fn new<A: Solvable<Class<'p> = S> + ?Sized>(system: &'p A, initial: Initial, tend: f64) -> Self {
        Problem { system: system.class(), initial, tend, events: Vec::new(), trusted: None }
    }

    /// With an event, such as one that happens where a condition becomes true ([`Event::when`]). Systems with modes look for it in all of
    /// them, which must have the same unknowns; other events belong to single modes.
    #[must_use]
    pub fn event(mut self, event: Event<'p>) -> Self {
        self.events.push(event);
        self
    }
}

/// A class whose events are functions of time and unknowns as they stand.
pub trait Plainly: Class {}
impl Plainly for System {}
impl Plainly for Hybrid<'_> {}

impl<'p, S: Plainly> Problem<'p, S> {
    /// Stop where a function of time and unknowns falls through zero.
    #[must_use]
    pub fn stop_when(self, name: impl Into<String>, function: impl Fn(f64, &[f64]) -> f64 + 'p) -> Self {
        self.event(Event::falls(name, Action::Stop, function))
    }

    /// Write down where a function of time and unknowns falls through zero.
    #[must_use]
    pub fn record_when(self, name: impl Into<String>, function: impl Fn(f64, &[f64]) -> f64 + 'p) -> Self {
        self.event(Event::falls(name, Action::Record, function))
    }
}

impl<'p> Problem<'p> {
    /// Take this state as the start without a check, accelerations included (IVCNSST = 1).
    #[must_use]
    pub fn trust(mut self, state: State) -> Self {
        self.trusted = Some(state);
        self
    }

    /// Stop where a function of the motion falls through zero.
    #[must_use]
    pub fn stop_when(self, name: impl Into<String>, function: impl Fn(&Motion<f64>) -> f64 + 'p) -> Self {
        let function = self.of_motion(function);
        self.event(Event::falls(name, Action::Stop, function))
    }

    /// Write down where a function of the motion falls through zero.
    #[must_use]
    pub fn record_when(self, name: impl Into<String>, function: impl Fn(&Motion<f64>) -> f64 + 'p) -> Self {
        let function = self.of_motion(function);
        self.event(Event::falls(name, Action::Record, function))
    }

    /// A function of the motion as one of time and unknowns.
    fn of_motion(&self, function: impl Fn(&Motion<f64>) -> f64 + 'p) -> impl Fn(f64, &[f64]) -> f64 + 'p {
        let layout = Layout::new(self.system.sizes(), Form::StrangenessFree, false);
        move |t: f64, x: &[f64]| function(&view(&layout, t, x))
    }
}
