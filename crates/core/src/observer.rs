//! Observers see every accepted step: progress bars, recorders, monitors, early stops.

use crate::motion::{Layout, Motion};
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};
use std::ops::ControlFlow;

/// An accepted step. L says where variables stand in x: [`Layout`] for equations of motion.
#[derive(Debug)]
pub struct StepView<'s, L = Layout> {
    /// Time at its end.
    pub t: f64,
    /// State at its end.
    pub x: &'s [f64],
    /// Polynomial over it.
    pub segment: &'s Segment,
    /// Where the variables stand in x.
    pub layout: &'s L,
    /// Counters so far.
    pub statistics: &'s Statistics,
    /// Residuals of all constraint levels at its end.
    pub residuals: Residuals,
    /// Part of the interval that is done, in [0, 1].
    pub progress: f64,
}

impl StepView<'_> {
    /// The blocks of the state.
    pub fn motion(&self) -> Motion<'_, f64> {
        crate::motion::view(self.layout, self.t, self.x)
    }
}

/// Sees accepted steps; `Break` ends the run.
pub trait Observer<L = Layout> {
    /// A system without modes is consistent, and the method starts; nothing is called where modes switch.
    fn begin(&mut self) {}

    /// One accepted step.
    fn observe(&mut self, step: &StepView<L>) -> ControlFlow<()>;
}

impl<L, F: FnMut(&StepView<L>) -> ControlFlow<()>> Observer<L> for F {
    fn observe(&mut self, step: &StepView<L>) -> ControlFlow<()> {
        self(step)
    }
}
