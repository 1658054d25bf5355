//! The switching functions of a mode along its steps: which statements hold, and when the first transition becomes possible.
//!
//! A function is shifted and turned so that it is positive while its statement keeps its truth. One that lies within rounding and
//! integration errors of zero when the mode is entered is not settled: its statement changes only when it passes the far side of that
//! band. Otherwise the zero that led into the mode would be found again. Between the ends of a step formulas are bounded on the polynomial
//! of the step, and functions that are none are sampled; where the polynomial through the samples comes close to zero its extremum is searched, so that short excursions and
//! touching functions are not overlooked. Wunderlich, thesis (2008), 6.3.

mod bounds;
mod follow;
mod samples;
#[cfg(test)]
mod tests;

use super::condition::{Condition, SwitchingFunction};
use super::root::{first_zero, time_tolerance};
use crate::segment::Segment;
pub use bounds::Bounds;
pub use follow::Became;

/// The whole interval is sampled at least this often.
const RESOLUTION: f64 = 400.0;
/// A function at zero falls if it does so by more than this part of its uncertainty.
const FALLING: f64 = 1e-3;
/// A function with values beyond this part of its size on both sides of a zero jumps there.
const JUMP: f64 = 1e-6;

/// What is watched: a condition, and what counts as its becoming true.
pub trait Guard {
    /// The condition, if it is one that depends on the state.
    fn condition(&self) -> Option<&Condition<'_>>;
    /// The condition counts when its functions have fallen to minus this.
    fn hysteresis(&self) -> f64 {
        0.0
    }
    /// The transition of the system that it belongs to.
    fn transition(&self) -> Option<usize> {
        None
    }
    /// Is a statement that allows equality made true by a function that only touches zero?
    fn touching(&self) -> bool {
        true
    }
}

/// State of a switching function.
#[derive(Clone, Debug)]
struct Watched {
    exit: usize,
    function: usize,
    hysteresis: f64,
    strict: bool,
    /// is it enough that it touches zero?
    touching: bool,
    /// does its statement hold?
    truth: bool,
    /// has it left the band around zero since the mode was entered?
    settled: bool,
    /// width of that band
    band: f64,
    /// largest value so far
    top: f64,
}

impl Watched {
    /// Positive while the statement keeps its truth.
    fn turned(&self, g: f64) -> f64 {
        let g = g + self.hysteresis;
        let offset = if self.settled { 0.0 } else { self.band };
        let turned = if self.truth { offset - g } else { offset + g };
        // a statement that is strict is not made true by zero, one that is not is not made false by it
        if turned == 0.0 && self.strict != self.truth { f64::MIN_POSITIVE } else { turned }
    }

    fn settle(&mut self, g: f64) {
        let g = g + self.hysteresis;
        if !self.settled && if self.truth { g < -self.band } else { g > self.band } {
            self.settled = true;
        }
        self.top = self.top.max(g.abs());
    }
}

/// What was found in a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Fired {
    /// When.
    pub t: f64,
    /// The function that decided.
    pub function: usize,
    /// Ways out whose conditions hold then.
    pub exits: Vec<usize>,
    /// Does the function jump over zero?
    pub jumps: bool,
}

/// A switching function without a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoValue {
    /// When.
    pub t: f64,
    /// Which way out.
    pub exit: usize,
}

/// The switching functions of the mode that is active.
#[derive(Default)]
pub struct Watch {
    watched: Vec<Watched>,
    /// functions and their values at the begin of the step that was looked through
    before: (Vec<Watched>, Vec<f64>),
    /// values of all functions at the left end
    left: Vec<f64>,
    right: Vec<f64>,
    middle: Vec<f64>,
    scratch: [Vec<f64>; 3],
    /// samples of a step: times, values one after the other
    times: Vec<f64>,
    samples: Vec<f64>,
    /// are these Chebyshev points?
    chebyshev: bool,
    /// cells of time that are to be looked at, the next one last
    open: Vec<(f64, f64)>,
    x: Vec<f64>,
    xdot: Vec<f64>,
    /// do functions need ẋ?
    derivatives: bool,
}

/// Where a mode is entered.
#[derive(Clone, Copy)]
pub struct Here<'s> {
    /// Time.
    pub t: f64,
    /// State.
    pub x: &'s [f64],
    /// Its derivative.
    pub xdot: &'s [f64],
    /// rtol |x| + atol of every unknown.
    pub scales: &'s [f64],
    /// Step δ of difference quotients.
    pub probe: f64,
    /// A transition that is watched more closely than the tolerances say.
    pub fine: Option<Fine>,
}

/// A transition whose excursions shrink below the uncertainty of the state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fine {
    /// Which transition of the system.
    pub transition: usize,
    /// Part of the uncertainty that counts.
    pub part: f64,
    /// How exactly times of events are found.
    pub located: f64,
    /// Steps end here: polynomials over much longer ones drown a short excursion in their rounding.
    pub until: f64,
}

/// A change of statements, with everything that changes together.
struct TruthChange {
    t: f64,
    function: usize,
    changed: Vec<bool>,
    jumps: bool,
}

fn function<'c, G: Guard>(exits: &'c [G], watched: &Watched) -> &'c SwitchingFunction<'c> {
    let condition = exits[watched.exit].condition().expect("watched exits have conditions");
    &condition.functions[watched.function]
}

impl Watch {
    /// Begin to watch at a point. `held` are ways out whose functions are not taken as falling through zero here: sliding along their zeros
    /// has just ended.
    pub fn start(&mut self, exits: &[impl Guard], at: Here, held: &[usize]) -> Result<(), NoValue> {
        self.watched.clear();
        self.derivatives = false;
        self.x.resize(at.x.len(), 0.0);
        self.xdot.resize(at.x.len(), 0.0);
        let ahead: Vec<f64> = at.x.iter().zip(at.xdot).map(|(x, d)| x + at.probe * d).collect();
        for exit in 0..exits.len() {
            let Some(condition) = exits[exit].condition() else { continue };
            let hysteresis = exits[exit].hysteresis();
            for (k, g) in condition.functions.iter().enumerate() {
                let value = |t: f64, x: &[f64]| (g.value)(t, x, at.xdot);
                let here = value(at.t, at.x);
                if here.is_nan() {
                    return Err(NoValue { t: at.t, exit });
                }
                self.derivatives |= g.uses_derivatives;
                let now = here + hysteresis;
                let rise = value(at.t + at.probe, &ahead) - here;
                // uncertain because of the state, of time and of rounding
                let slope = if rise.is_finite() { rise.abs() / at.probe } else { 0.0 };
                let uncertain = uncertainty(at.x, at.scales, here, |x| value(at.t, x));
                let state = match at.fine {
                    Some(fine) if exits[exit].transition() == Some(fine.transition) => {
                        (fine.part * uncertain).max(slope * fine.located)
                    }
                    _ => uncertain,
                };
                let band = state + slope * time_tolerance(at.t, 1.0) + 10.0 * f64::EPSILON * hysteresis;
                let mut watched = Watched {
                    exit,
                    function: k,
                    hysteresis,
                    strict: g.strict,
                    touching: !g.strict && exits[exit].touching(),
                    truth: now < 0.0,
                    settled: now.abs() > band,
                    band,
                    top: now.abs(),
                };
                if !watched.settled {
                    watched.truth = rise < -FALLING * band && !held.contains(&exit);
                }
                self.watched.push(watched);
            }
        }
        let count = self.watched.len();
        for buffer in [&mut self.left, &mut self.right, &mut self.middle].into_iter().chain(&mut self.scratch) {
            buffer.resize(count, 0.0);
        }
        for (left, watched) in self.left.iter_mut().zip(&self.watched) {
            *left = (function(exits, watched).value)(at.t, at.x, at.xdot);
        }
        Ok(())
    }

    /// Ways out whose conditions hold.
    pub fn true_exits(&self, exits: &[impl Guard]) -> Vec<usize> {
        self.holding(exits, |_, truth| truth)
    }

    fn holding(&self, exits: &[impl Guard], truth: impl Fn(usize, bool) -> bool) -> Vec<usize> {
        let mut first = 0;
        let mut holding = Vec::new();
        for exit in 0..exits.len() {
            let Some(condition) = exits[exit].condition() else { continue };
            if condition.logic.holds(&|k| truth(first + k, self.watched[first + k].truth)) {
                holding.push(exit);
            }
            first += condition.functions.len();
        }
        holding
    }

    /// Was one of the functions of this exit never far from zero since the mode was entered, compared with its band?
    pub fn stays_near_zero(&self, exit: usize, factor: f64) -> bool {
        self.watched.iter().filter(|w| w.exit == exit).any(|w| w.top <= factor * w.band)
    }

    /// How far the functions of this exit were from zero since the mode was entered: the smallest multiple of their bands.
    pub fn prominence(&self, exit: usize) -> f64 {
        let of = self.watched.iter().filter(|w| w.exit == exit).map(|w| w.top / w.band);
        of.fold(f64::INFINITY, f64::min)
    }

    /// Value of the function that decided, turned so that it has fallen through zero, at a point.
    pub fn turned_at(&self, exits: &[impl Guard], decisive: usize, t: f64, x: &[f64], xdot: &[f64]) -> f64 {
        let watched = &self.watched[decisive];
        watched.turned((function(exits, watched).value)(t, x, xdot))
    }

    /// Forget the step in which something was found: it is made again, and ends earlier.
    pub fn rewind(&mut self) {
        self.watched.clone_from(&self.before.0);
        self.left.clone_from(&self.before.1);
    }

    /// Look through a step for the first time at which a condition becomes true. `length` is that of the whole interval.
    pub fn find(
        &mut self,
        exits: &[impl Guard],
        segment: &Segment,
        length: f64,
        tolerance: Option<f64>,
    ) -> Result<Option<Fired>, NoValue> {
        if self.watched.is_empty() {
            return Ok(None);
        }
        let (t0, h) = (segment.t0, segment.t1 - segment.t0);
        if self.nothing_to_see(exits, segment, length)? {
            return Ok(None);
        }
        let count = self.watched.len();
        let tolerance = tolerance.unwrap_or_else(|| time_tolerance(t0, h));
        self.look_for_extrema(exits, segment);
        if self.nothing_changes() {
            return Ok(None);
        }
        self.before.0.clone_from(&self.watched);
        self.before.1.clone_from(&self.left);
        for k in 1..self.times.len() {
            let (low, high) = (self.times[k - 1], self.times[k]);
            self.right.copy_from_slice(&self.samples[k * count..(k + 1) * count]);
            if let Some(fired) = self.between(exits, segment, (low, high), tolerance) {
                return Ok(Some(fired));
            }
            for (watched, g) in self.watched.iter_mut().zip(&self.right) {
                watched.settle(*g);
            }
            self.left.copy_from_slice(&self.right);
        }
        Ok(None)
    }

    /// The first change in (low, high], with values at the ends in `left` and `right`, that makes a condition true.
    fn between(
        &mut self,
        exits: &[impl Guard],
        segment: &Segment,
        (mut low, high): (f64, f64),
        tolerance: f64,
    ) -> Option<Fired> {
        loop {
            let change = self.first_change(exits, segment, (low, high), tolerance)?;
            let exits_now = self.holding(exits, |j, truth| truth != change.changed[j]);
            if !exits_now.is_empty() {
                let TruthChange { t, function, jumps, .. } = change;
                return Some(Fired { t, function, exits: exits_now, jumps });
            }
            // a statement has changed, but no condition: go on behind it
            low = self.pass(exits, segment, &change);
            if low >= high {
                return None;
            }
        }
    }

    /// The first change of a statement in (low, high], with values at the ends in `left` and `right`.
    fn first_change(
        &mut self,
        exits: &[impl Guard],
        segment: &Segment,
        (low, high): (f64, f64),
        tolerance: f64,
    ) -> Option<TruthChange> {
        let touching =
            |w: &Watched, g: f64| w.turned(g) <= 0.0 || (w.settled && w.touching && !w.truth && w.turned(g) <= w.band);
        let changes = self.watched.iter().zip(&self.right).any(|(w, g)| touching(w, *g));
        if !changes {
            return None;
        }
        let [at_low, at_high, scratch] = &mut self.scratch;
        for (j, w) in self.watched.iter().enumerate() {
            at_low[j] = w.turned(self.left[j]).max(f64::MIN_POSITIVE);
            at_high[j] = w.turned(self.right[j]);
            if at_high[j] > 0.0 && touching(w, self.right[j]) {
                at_high[j] = 0.0;
            }
        }
        let (watched, middle) = (&self.watched, &mut self.middle);
        let (x, xdot, derivatives) = (&mut self.x, &mut self.xdot, self.derivatives);
        let mut turned = |t: f64, values: &mut [f64]| {
            evaluate(exits, watched, segment, (x, xdot), derivatives, t, middle);
            for ((value, w), g) in values.iter_mut().zip(watched).zip(middle.iter()) {
                *value = w.turned(*g);
            }
        };
        let root = first_zero((low, high), at_low, at_high, scratch, tolerance, &mut turned)?;
        let (above, below) = (at_low[root.function], -at_high[root.function]);
        let size = self.left[root.function].abs().max(self.right[root.function].abs());
        let jumps = above.min(below) > JUMP * size;
        // everything that changes together with it
        let count = self.watched.len();
        let changed = (0..count).map(|j| j == root.function || self.scratch[1][j] <= 0.0).collect();
        Some(TruthChange { t: root.t, function: root.function, changed, jumps })
    }

    /// Go on behind a change; its time.
    fn pass(&mut self, exits: &[impl Guard], segment: &Segment, change: &TruthChange) -> f64 {
        for (watched, changed) in self.watched.iter_mut().zip(&change.changed) {
            if *changed {
                watched.truth = !watched.truth;
                watched.settled = false;
            }
        }
        let (x, xdot) = (&mut self.x, &mut self.xdot);
        evaluate(exits, &self.watched, segment, (x, xdot), self.derivatives, change.t, &mut self.left);
        change.t
    }
}

/// By how much a function with this value is uncertain because the state is.
pub(crate) fn uncertainty(x: &[f64], scales: &[f64], here: f64, value: impl Fn(&[f64]) -> f64) -> f64 {
    let mut x = x.to_vec();
    let mut sum = 0.0;
    for (j, scale) in scales.iter().enumerate() {
        let kept = x[j];
        x[j] += scale;
        let change = (value(&x) - here).abs();
        sum += if change.is_finite() { change } else { 0.0 };
        x[j] = kept;
    }
    sum
}

/// Values of all functions at a time of a step.
fn evaluate(
    exits: &[impl Guard],
    watched: &[Watched],
    segment: &Segment,
    (x, xdot): (&mut [f64], &mut [f64]),
    derivatives: bool,
    t: f64,
    values: &mut [f64],
) {
    segment.eval(t, x);
    if derivatives {
        segment.derivative(t, xdot);
    }
    for (value, watched) in values.iter_mut().zip(watched) {
        *value = (function(exits, watched).value)(t, x, xdot);
    }
}
