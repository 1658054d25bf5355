//! Conditions that stay watched after they became true, because nothing switches: the events of a run.

use super::{Guard, NoValue, TruthChange, Watch, evaluate, function, uncertainty};
use crate::segment::Segment;

/// A condition that became true.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Became {
    /// When.
    pub t: f64,
    /// Which one.
    pub exit: usize,
    /// The function that decided, among all.
    pub function: usize,
    /// Does its statement hold now? In a negation it does not.
    pub truth: bool,
    /// Does the function jump over zero?
    pub jumps: bool,
}

impl Watch {
    /// Look through a step, up to a time, for all conditions that become true. `length` is that of the whole interval, `tolerances` are
    /// rtol and atol of every unknown.
    pub fn follow(
        &mut self,
        exits: &[impl Guard],
        segment: &Segment,
        (length, until): (f64, f64),
        tolerances: &[(f64, f64)],
    ) -> Result<Vec<Became>, NoValue> {
        let mut became = Vec::new();
        if self.watched.is_empty() {
            return Ok(became);
        }
        let t0 = segment.t0;
        self.before.0.clone_from(&self.watched);
        self.before.1.clone_from(&self.left);
        if self.nothing_to_see(exits, segment, length)? {
            return Ok(became);
        }
        // the state may have another size than where the watch began
        let settled: Vec<bool> = self.watched.iter().map(|w| w.settled).collect();
        self.measure(exits, segment, t0, &settled, tolerances);
        self.look_for_extrema(exits, segment);
        if self.nothing_changes() {
            return Ok(became);
        }
        // nobody steps to these times and looks again: as exact as rounding allows
        let (count, tolerance) = (self.watched.len(), 2.0 * f64::EPSILON * t0.abs().max(segment.t1.abs()));
        for k in 1..self.times.len() {
            let (mut low, high) = (self.times[k - 1], self.times[k]);
            self.right.copy_from_slice(&self.samples[k * count..(k + 1) * count]);
            while low < high
                && let Some(change) = self.first_change(exits, segment, (low, high), tolerance)
            {
                if change.t > until {
                    return Ok(became);
                }
                let before = self.true_exits(exits);
                low = self.pass(exits, segment, &change);
                self.measure(exits, segment, low, &change.changed, tolerances);
                let now = self.true_exits(exits).into_iter().filter(|exit| !before.contains(exit));
                became.extend(now.map(|exit| self.decisive(exit, &change)));
            }
            for (watched, g) in self.watched.iter_mut().zip(&self.right) {
                watched.settle(*g);
            }
            self.left.copy_from_slice(&self.right);
        }
        Ok(became)
    }

    /// A condition with the first of its functions that changed.
    fn decisive(&self, exit: usize, change: &TruthChange) -> Became {
        let own = |j: &usize| self.watched[*j].exit == exit && change.changed[*j];
        let function = (0..self.watched.len()).find(own).unwrap_or(change.function);
        Became { t: change.t, exit, function, truth: self.watched[function].truth, jumps: change.jumps }
    }

    /// Take back that a condition became true at the end of a step: it was the polynomial, not the solution.
    pub fn take_back(&mut self, exits: &[impl Guard], became: &Became, (t, x, xdot): (f64, &[f64], &[f64])) {
        let watched = &mut self.watched[became.function];
        (watched.truth, watched.settled) = (!became.truth, true);
        self.left[became.function] = (function(exits, watched).value)(t, x, xdot);
    }

    /// Value of a function, turned so that it falls through zero where its statement takes a truth.
    pub fn towards(&self, exits: &[impl Guard], became: &Became, t: f64, x: &[f64], xdot: &[f64]) -> f64 {
        let watched = &self.watched[became.function];
        let g = (function(exits, watched).value)(t, x, xdot) + watched.hysteresis;
        if became.truth { g } else { -g }
    }

    /// How uncertain some of the functions are at a time of a step.
    fn measure(&mut self, exits: &[impl Guard], segment: &Segment, t: f64, which: &[bool], tolerances: &[(f64, f64)]) {
        let buffers = (&mut self.x[..], &mut self.xdot[..]);
        evaluate(exits, &self.watched, segment, buffers, self.derivatives, t, &mut self.middle);
        let scales: Vec<f64> = self.x.iter().zip(tolerances).map(|(x, (rtol, atol))| rtol * x.abs() + atol).collect();
        for j in (0..which.len()).filter(|&j| which[j]) {
            let g = function(exits, &self.watched[j]);
            let value = |x: &[f64]| (g.value)(t, x, &self.xdot);
            self.watched[j].band = uncertainty(&self.x, &scales, self.middle[j], value);
        }
    }
}
