//! Somebody who looks at a run while it is made: progress, and the wish to stop.

use daedal::Statistics;
use daedal::{Observer, StepView};
use std::ops::ControlFlow;

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'s> {
    /// Part of the interval that is done, in [0, 1].
    pub fraction: f64,
    /// Time that was reached.
    pub t: f64,
    /// Counters so far.
    pub statistics: &'s Statistics,
}

/// Sees every accepted step; `Break` ends the run, and what was computed is kept. Closures are monitors.
pub trait Monitor {
    /// A system without modes is consistent, and the method starts.
    fn begin(&mut self) {}

    /// One accepted step.
    fn step(&mut self, progress: &Progress) -> ControlFlow<()>;
}

impl<F: FnMut(&Progress) -> ControlFlow<()>> Monitor for F {
    fn step(&mut self, progress: &Progress) -> ControlFlow<()> {
        self(progress)
    }
}

/// Nobody looks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Monitor for Unwatched {
    fn step(&mut self, _: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// A monitor as the loops of the solver know it.
pub(crate) struct WatchedBy<'m>(pub &'m mut dyn Monitor);

impl<L> Observer<L> for WatchedBy<'_> {
    fn begin(&mut self) {
        self.0.begin();
    }

    fn observe(&mut self, step: &StepView<L>) -> ControlFlow<()> {
        self.0.step(&Progress { fraction: step.progress, t: step.t, statistics: step.statistics })
    }
}
