//! The result of a run: points, polynomials, events, how it ended, and what it cost.

use crate::event::Happened;
use crate::method::State;
use crate::motion::{Layout, Motion};
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};
use crate::verify::Verification;

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// At the end of the interval.
    AtEnd,
    /// At an event that stops.
    AtEvent {
        /// Its name.
        name: String,
    },
    /// An observer asked for it.
    ByObserver,
    /// By a failure; only in the partial solution of an error.
    ByFailure,
}

/// What a run computed. L says where variables stand in a state: [`Layout`] for equations of motion.
#[derive(Clone, Debug)]
pub struct Solution<L = Layout> {
    /// Where the variables stand in a state.
    pub layout: L,
    /// Names of the variables, in the order of a state.
    pub names: Vec<String>,
    /// Times of the saved points; they fall if the run goes backward.
    pub times: Vec<f64>,
    /// Saved states, one after the other.
    pub(crate) states: Vec<f64>,
    /// Polynomials, if asked for.
    pub segments: Vec<Segment>,
    /// Events, in the order of the run.
    pub events: Vec<Happened>,
    /// The last point.
    pub end: State,
    /// How it ended.
    pub ended: Ended,
    /// Counters.
    pub statistics: Statistics,
    /// Largest residuals at any accepted point.
    pub max_residuals: Residuals,
    /// Largest |x_j| at any accepted point, in the order of a state: what an absolute tolerance is to be compared with.
    pub largest: Vec<f64>,
    /// Combinations of multipliers that redundant constraints leave undetermined: (name, factor) each.
    pub undetermined: Vec<Vec<(String, f64)>>,
    /// What the method decided by itself.
    pub decisions: String,
    /// Names of the methods that were used, each with the time from which on, where they were chosen along the way.
    pub methods: Vec<(&'static str, f64)>,
    /// The step size proposed for going on.
    pub proposed_step: f64,
    /// The independent check, if it was asked for and the system has formulas.
    pub verification: Option<Verification>,
}

impl<L: Clone> Solution<L> {
    /// The same with another account of where the variables stand.
    pub fn map_layout<M>(self, layout: impl FnOnce(&L) -> M) -> Solution<M> {
        Solution {
            layout: layout(&self.layout),
            names: self.names,
            times: self.times,
            states: self.states,
            segments: self.segments,
            events: self.events,
            end: self.end,
            ended: self.ended,
            statistics: self.statistics,
            max_residuals: self.max_residuals,
            largest: self.largest,
            undetermined: self.undetermined,
            decisions: self.decisions,
            methods: self.methods,
            proposed_step: self.proposed_step,
            verification: self.verification,
        }
    }

    /// Change times and states everywhere but in the polynomials.
    pub(crate) fn each_point(&mut self, change: impl Fn(&mut f64, &mut [f64])) {
        let n = self.end.x.len().max(1);
        self.times.iter_mut().zip(self.states.chunks_exact_mut(n)).for_each(|(t, x)| change(t, x));
        self.events.iter_mut().for_each(|event| change(&mut event.t, &mut event.x));
        change(&mut self.end.t, &mut self.end.x);
    }

    /// Number of saved points.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Are there no saved points?
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Saved state k.
    pub fn state(&self, k: usize) -> &[f64] {
        let n = self.end.x.len();
        &self.states[k * n..(k + 1) * n]
    }

    /// Time of the last point.
    pub fn end_time(&self) -> f64 {
        self.end.t
    }

    /// Value of a variable at the last point.
    pub fn end_value(&self, name: &str) -> Option<f64> {
        self.names.iter().position(|n| n == name).map(|j| self.end.x[j])
    }

    /// The state at any time of the run; needs [`Save::Dense`](crate::options::Save::Dense).
    pub fn eval(&self, t: f64, x: &mut [f64]) -> Option<()> {
        // backward in time everything is the other way round
        let sense = if self.times.first().is_some_and(|&t0| self.end.t < t0) { -1.0 } else { 1.0 };
        let before = |a: f64, b: f64| sense * a < sense * b;
        if before(self.end.t, t) {
            return None; // after an event that stopped the run inside a step
        }
        let k = self.segments.partition_point(|s| before(s.t1, t));
        // steps may be apart by rounding, where a formula jumps in time
        let segment = self.segments.get(k).filter(|s| !before(t, s.t0) || k > 0)?;
        segment.eval(if before(t, segment.t0) { segment.t0 } else { t }, x);
        Some(())
    }
}

impl Solution {
    /// The blocks of saved state k.
    pub fn motion(&self, k: usize) -> Motion<'_, f64> {
        crate::motion::view(&self.layout, self.times[k], self.state(k))
    }

    /// The blocks of the last point.
    pub fn at_end(&self) -> Motion<'_, f64> {
        crate::motion::view(&self.layout, self.end.t, &self.end.x)
    }
}
