//! Ways out of a place: when, and where to.

use crate::hybrid::watch::Guard;
use crate::hybrid::{Condition, Schedule};

/// When a place is left.
pub enum Reason<'h> {
    /// A condition of the system.
    Given(&'h Condition<'h>),
    /// A condition that was made for sliding.
    Made(Condition<'h>),
    /// Given times.
    Times(&'h Schedule),
}

/// Where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A mode of the system, by a transition.
    Mode(usize),
    /// Sliding along one of the surfaces ends on this side.
    Side {
        /// Which surface.
        surface: usize,
        /// 0 or 1.
        side: usize,
    },
    /// The surfaces of the two transitions between which it slides have come apart: they alternate from now on.
    Apart {
        /// Which surface.
        surface: usize,
    },
    /// Another surface is met while sliding: the transitions of all modes that take part.
    Across(Vec<usize>),
}

/// A way out of a place.
pub struct Exit<'h> {
    pub reason: Reason<'h>,
    pub to: Target,
    /// the transition of the system
    pub transition: Option<usize>,
    pub hysteresis: f64,
    pub priority: Option<i32>,
}

impl<'h> Exit<'h> {
    /// Its condition, if it is left by one.
    pub fn condition(&self) -> Option<&Condition<'h>> {
        match &self.reason {
            Reason::Given(condition) => Some(condition),
            Reason::Made(condition) => Some(condition),
            Reason::Times(_) => None,
        }
    }

    /// Its first time after t, if it is left by the clock.
    pub fn next_after(&self, t: f64) -> Option<f64> {
        match &self.reason {
            Reason::Times(schedule) => schedule.next_after(t),
            Reason::Given(_) | Reason::Made(_) => None,
        }
    }

    /// How messages call it.
    pub fn name(&self) -> String {
        match &self.reason {
            Reason::Given(condition) => condition.name.clone(),
            Reason::Made(condition) => condition.name.clone(),
            Reason::Times(Schedule::Times(_)) => "at given times".into(),
            Reason::Times(Schedule::Every { period, .. }) => format!("every {period}"),
        }
    }
}

/// A surface along which a system slides: the transition of the first vertex that crosses it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    pub transition: usize,
    /// the transition back, if the distance between both may change
    pub back: Option<usize>,
    /// the surface is where its function has this value: half of the width of a hysteresis
    pub offset: f64,
}

/// Modes around an intersection of surfaces; bit i of a place in `vertices` tells the side of surface i.
#[derive(Clone, Debug, PartialEq)]
pub struct Composite {
    pub vertices: Vec<usize>,
    pub surfaces: Vec<Sheet>,
}

impl Guard for Exit<'_> {
    fn condition(&self) -> Option<&Condition<'_>> {
        Exit::condition(self)
    }
    fn hysteresis(&self) -> f64 {
        self.hysteresis
    }
    fn transition(&self) -> Option<usize> {
        self.transition
    }
}
