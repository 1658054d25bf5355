//! The switching functions of a mode along its steps: which statements hold, and when the first transition becomes possible.
//!
//! A function is shifted and turned so that it is positive while its statement keeps its truth. One that lies within rounding and
//! integration errors of zero when the mode is entered is not settled: its statement changes only when it passes the far side of that
//! band. Otherwise the zero that led into the mode would be found again. Between the ends of a step functions are sampled on the
//! polynomial; where the polynomial through the samples comes close to zero its extremum is searched, so that short excursions and
//! touching functions are not overlooked. Wunderlich, thesis (2008), 6.3.

use super::condition::SwitchingFunction;
use super::place::Exit;
use super::root::{first_zero, time_tolerance};
use crate::segment::Segment;

/// Sampling points of a step besides those that a long step needs, on [0, 1]: Chebyshev points, whose interpolation is stable.
const NODES: [f64; 5] = [0.0, 0.146_446_609_406_726_24, 0.5, 0.853_553_390_593_273_8, 1.0];
/// The whole interval is sampled at least this often.
const RESOLUTION: f64 = 400.0;
/// Points at which the interpolation is looked at.
const FINE: usize = 17;
/// A function that is this many times larger than its change over a step has no zero in it.
const FAR: f64 = 2.0;
/// A function at zero falls if it does so by more than this part of its uncertainty.
const FALLING: f64 = 1e-3;
/// A function with values beyond this part of its size on both sides of a zero jumps there.
const JUMP: f64 = 1e-6;
/// Steps of a search for a minimum.
const MOST_SEARCH: u32 = 40;

/// State of a switching function.
#[derive(Clone, Debug)]
struct Watched {
    exit: usize,
    function: usize,
    hysteresis: f64,
    strict: bool,
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
    /// values of all functions at the left end
    left: Vec<f64>,
    right: Vec<f64>,
    middle: Vec<f64>,
    scratch: [Vec<f64>; 3],
    /// samples of a step: times, values one after the other
    times: Vec<f64>,
    samples: Vec<f64>,
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
}

fn function<'c>(exits: &'c [Exit], watched: &Watched) -> &'c SwitchingFunction<'c> {
    let condition = exits[watched.exit].condition().expect("watched exits have conditions");
    &condition.functions[watched.function]
}

impl Watch {
    /// Begin to watch at a point. `held` are ways out whose functions are not taken as falling through zero here: sliding along their zeros
    /// has just ended.
    pub fn start(&mut self, exits: &[Exit], at: Here, held: &[usize]) -> Result<(), NoValue> {
        self.watched.clear();
        self.derivatives = false;
        self.x.resize(at.x.len(), 0.0);
        self.xdot.resize(at.x.len(), 0.0);
        let ahead: Vec<f64> = at.x.iter().zip(at.xdot).map(|(x, d)| x + at.probe * d).collect();
        for exit in 0..exits.len() {
            let Some(condition) = exits[exit].condition() else { continue };
            let hysteresis = exits[exit].hysteresis;
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
                let band = self.uncertainty(at, here, &value)
                    + slope * time_tolerance(at.t, 1.0)
                    + 10.0 * f64::EPSILON * hysteresis;
                let mut watched = Watched {
                    exit,
                    function: k,
                    hysteresis,
                    strict: g.strict,
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

    /// By how much a function is uncertain because the state is.
    fn uncertainty(&mut self, at: Here, here: f64, value: &dyn Fn(f64, &[f64]) -> f64) -> f64 {
        self.x.copy_from_slice(at.x);
        let mut sum = 0.0;
        for (j, scale) in at.scales.iter().enumerate() {
            self.x[j] = at.x[j] + scale;
            let change = (value(at.t, &self.x) - here).abs();
            sum += if change.is_finite() { change } else { 0.0 };
            self.x[j] = at.x[j];
        }
        sum
    }

    /// Ways out whose conditions hold.
    pub fn true_exits(&self, exits: &[Exit]) -> Vec<usize> {
        self.holding(exits, |_, truth| truth)
    }

    fn holding(&self, exits: &[Exit], truth: impl Fn(usize, bool) -> bool) -> Vec<usize> {
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

    /// Value of the function that decided, turned so that it has fallen through zero, at a point.
    pub fn turned_at(&self, exits: &[Exit], decisive: usize, t: f64, x: &[f64], xdot: &[f64]) -> f64 {
        let watched = &self.watched[decisive];
        watched.turned((function(exits, watched).value)(t, x, xdot))
    }

    /// Look through a step for the first time at which a condition becomes true. `length` is that of the whole interval.
    pub fn find(
        &mut self,
        exits: &[Exit],
        segment: &Segment,
        length: f64,
        tolerance: Option<f64>,
    ) -> Result<Option<Fired>, NoValue> {
        if self.watched.is_empty() {
            return Ok(None);
        }
        let (t0, h) = (segment.t0, segment.t1 - segment.t0);
        let parts = (RESOLUTION * h / length).ceil().min(4096.0) as usize;
        if parts < NODES.len() && self.far_from_zero(exits, segment)? {
            return Ok(None);
        }
        self.sample(exits, segment, parts)?;
        let count = self.watched.len();
        let tolerance = tolerance.unwrap_or_else(|| time_tolerance(t0, h));
        self.look_for_extrema(exits, segment);
        if self.nothing_changes() {
            return Ok(None);
        }
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

    /// Are all functions much larger than their change over the step, by its ends and its middle? Then go on to its end.
    fn far_from_zero(&mut self, exits: &[Exit], segment: &Segment) -> Result<bool, NoValue> {
        let (x, xdot) = (&mut self.x[..], &mut self.xdot[..]);
        let middle = 0.5 * (segment.t0 + segment.t1);
        evaluate(exits, &self.watched, segment, (x, xdot), self.derivatives, middle, &mut self.middle);
        evaluate(exits, &self.watched, segment, (x, xdot), self.derivatives, segment.t1, &mut self.right);
        let mut far = true;
        for (j, w) in self.watched.iter_mut().enumerate() {
            let [a, b, c] = [self.left[j], self.middle[j], self.right[j]];
            let (least, most) = (a.min(b).min(c), a.max(b).max(c));
            if b.is_nan() || c.is_nan() {
                let t = if b.is_nan() { middle } else { segment.t1 };
                return Err(NoValue { t, exit: w.exit });
            }
            let near = w.turned(least).min(w.turned(most));
            far &= w.settled && near > FAR * (most - least) + w.band;
        }
        if far {
            for (w, g) in self.watched.iter_mut().zip(&self.right) {
                w.top = w.top.max((g + w.hysteresis).abs());
            }
            self.left.copy_from_slice(&self.right);
        }
        Ok(far)
    }

    /// Do all samples leave all statements as they are? Then go on to the end of the step.
    fn nothing_changes(&mut self) -> bool {
        let count = self.watched.len();
        let quiet = |(j, w): (usize, &Watched)| {
            let touch = if w.strict || w.truth { 0.0 } else { w.band };
            w.settled && self.samples.iter().skip(j).step_by(count).all(|g| w.turned(*g) > touch)
        };
        if !self.watched.iter().enumerate().all(quiet) {
            return false;
        }
        for (j, w) in self.watched.iter_mut().enumerate() {
            let sizes = self.samples.iter().skip(j).step_by(count).map(|g| (g + w.hysteresis).abs());
            w.top = sizes.fold(w.top, f64::max);
        }
        let last = self.samples.len() - count;
        self.left.copy_from_slice(&self.samples[last..]);
        true
    }

    /// Values at Chebyshev points, or at equidistant ones if a long step needs more.
    fn sample(&mut self, exits: &[Exit], segment: &Segment, parts: usize) -> Result<(), NoValue> {
        let (t0, h) = (segment.t0, segment.t1 - segment.t0);
        self.times.clear();
        if parts < NODES.len() {
            self.times.extend(NODES.iter().map(|s| t0 + s * h));
        } else {
            self.times.extend((0..=parts).map(|k| t0 + h * k as f64 / parts as f64));
        }
        if let Some(last) = self.times.last_mut() {
            *last = segment.t1;
        }
        let count = self.watched.len();
        self.samples.resize(self.times.len() * count, 0.0);
        self.samples[..count].copy_from_slice(&self.left);
        for k in 1..self.times.len() {
            let t = self.times[k];
            let values = &mut self.samples[k * count..(k + 1) * count];
            evaluate(exits, &self.watched, segment, (&mut self.x, &mut self.xdot), self.derivatives, t, values);
            if let Some(j) = values.iter().position(|g| g.is_nan()) {
                return Err(NoValue { t, exit: self.watched[j].exit });
            }
        }
        Ok(())
    }

    /// Put times at which functions have a minimum close to zero, between samples, among the samples.
    fn look_for_extrema(&mut self, exits: &[Exit], segment: &Segment) {
        let count = self.watched.len();
        for j in 0..count {
            let found = if self.watched[j].settled {
                let suspicious = if self.times.len() == NODES.len() { self.hidden_valley(j) } else { self.valley(j) };
                suspicious.and_then(|around| self.minimum(exits, segment, j, around))
            } else if self.watched[j].turned(self.samples[count + j]) <= 0.0 {
                self.settling(exits, segment, j)
            } else {
                None
            };
            let Some(t) = found else { continue };
            let k = self.times.partition_point(|s| *s < t);
            if self.times.get(k) == Some(&t) {
                continue;
            }
            let buffers = (&mut self.x[..], &mut self.xdot[..]);
            evaluate(exits, &self.watched, segment, buffers, self.derivatives, t, &mut self.middle);
            self.times.insert(k, t);
            self.samples.splice(k * count..k * count, self.middle.iter().copied());
            // the nodes are no longer Chebyshev points; other functions are looked at as in a long step
        }
    }

    /// Around the least value of the polynomial through five Chebyshev points, if it may be zero or less although the samples are positive.
    fn hidden_valley(&self, j: usize) -> Option<(f64, f64)> {
        let count = self.watched.len();
        let g: [f64; 5] = std::array::from_fn(|k| self.watched[j].turned(self.samples[k * count + j]));
        if g.iter().any(|g| *g <= 0.0) {
            return None; // it is found without looking further
        }
        // coefficients of T₀ … T₄ in the points −cos(kπ/4)
        let root = std::f64::consts::SQRT_2;
        let (even, odd) = (g[0] + g[4], g[4] - g[0]);
        let (inner, across) = (g[1] + g[3], g[3] - g[1]);
        let c = [
            (even + 2.0 * inner + 2.0 * g[2]) / 8.0,
            (odd + root * across) / 4.0,
            (even - 2.0 * g[2]) / 4.0,
            (odd - root * across) / 4.0,
            (even - 2.0 * inner + 2.0 * g[2]) / 8.0,
        ];
        let at = |s: f64| {
            let two = 2.0 * s;
            let (mut b1, mut b2) = (0.0, 0.0);
            for c in c[1..].iter().rev() {
                (b1, b2) = (two * b1 - b2 + c, b1);
            }
            s * b1 - b2 + c[0]
        };
        // what a polynomial of higher degree would add
        let doubt = c[4].abs();
        let slack = self.watched[j].band + doubt + 0.1 * (c[2].abs() + c[3].abs()) / FINE as f64;
        if c[0] - c[1].abs() - c[2].abs() - c[3].abs() - c[4].abs() > slack {
            return None; // as almost always
        }
        let point = |k: usize| -1.0 + 2.0 * k as f64 / (FINE - 1) as f64;
        let least = (0..FINE).map(|k| (k, at(point(k)))).min_by(|a, b| a.1.total_cmp(&b.1))?;
        if least.1 > slack {
            return None;
        }
        let time = |s: f64| self.times[0] + (self.times[4] - self.times[0]) * 0.5 * (s + 1.0);
        Some((time(point(least.0.saturating_sub(1))), time(point((least.0 + 1).min(FINE - 1)))))
    }

    /// Around an inner sample that is lower than its neighbours, if the parabola through them comes close to zero.
    fn valley(&self, j: usize) -> Option<(f64, f64)> {
        let count = self.watched.len();
        let turned = |k: usize| self.watched[j].turned(self.samples[k * count + j]);
        (1..self.times.len() - 1).find_map(|k| {
            let [g0, g1, g2] = [turned(k - 1), turned(k), turned(k + 1)];
            if g1 <= 0.0 || g0 < g1 || g2 < g1 {
                return None;
            }
            let [t0, t1, t2] = [self.times[k - 1], self.times[k], self.times[k + 1]];
            let (first, second) = ((g1 - g0) / (t1 - t0), (g2 - g1) / (t2 - t1));
            let curvature = (second - first) / (t2 - t0);
            let slope = (first * (t2 - t1) + second * (t1 - t0)) / (t2 - t0);
            let dip = if curvature > 0.0 { slope * slope / (4.0 * curvature) } else { 0.0 };
            // the parabola of a narrow valley is not to be trusted
            let slack = dip.mul_add(4.0, 0.25 * (g0 - g1).max(g2 - g1)) + self.watched[j].band;
            (g1 <= slack).then_some((t0, t2))
        })
    }

    /// A time before the first sample at which function j has left its band on the side of its statement, to come back before the sample.
    fn settling(&mut self, exits: &[Exit], segment: &Segment, j: usize) -> Option<f64> {
        let watched = self.watched[j].clone();
        let g = function(exits, &watched);
        let (x, xdot, derivatives) = (&mut self.x, &mut self.xdot, self.derivatives);
        let mut value = |t: f64| {
            segment.eval(t, x);
            if derivatives {
                segment.derivative(t, xdot);
            }
            watched.turned((g.value)(t, x, xdot))
        };
        // it lies beyond twice the width of the band then; excursions may be short beside the step
        let (t0, mut part) = (self.times[0], self.times[1] - self.times[0]);
        let mut most = (2.0 * watched.band, None);
        for _ in 0..MOST_SEARCH {
            part *= 0.5;
            let here = value(t0 + part);
            if here > most.0 {
                most = (here, Some(t0 + part));
            } else if most.1.is_some() {
                break;
            }
        }
        most.1
    }

    /// The time of a minimum of function j in [a, b] that makes its statement change: the value is zero or below, or touches zero.
    fn minimum(&mut self, exits: &[Exit], segment: &Segment, j: usize, (mut a, mut b): (f64, f64)) -> Option<f64> {
        const GOLDEN: f64 = 0.381_966_011_250_105_1;
        let watched = self.watched[j].clone();
        let g = function(exits, &watched);
        let (x, xdot, derivatives) = (&mut self.x, &mut self.xdot, self.derivatives);
        let mut value = |t: f64| {
            segment.eval(t, x);
            if derivatives {
                segment.derivative(t, xdot);
            }
            watched.turned((g.value)(t, x, xdot))
        };
        let (mut c, mut d) = (a + GOLDEN * (b - a), b - GOLDEN * (b - a));
        let (mut at_c, mut at_d) = (value(c), value(d));
        for _ in 0..MOST_SEARCH {
            if at_c <= 0.0 {
                return Some(c);
            }
            if at_d <= 0.0 {
                return Some(d);
            }
            if at_c < at_d {
                (b, d, at_d) = (d, c, at_c);
                c = a + GOLDEN * (b - a);
                at_c = value(c);
            } else {
                (a, c, at_c) = (c, d, at_d);
                d = b - GOLDEN * (b - a);
                at_d = value(d);
            }
        }
        let (t, least) = if at_c < at_d { (c, at_c) } else { (d, at_d) };
        let touches = !watched.strict && !watched.truth && least <= watched.band;
        touches.then_some(t)
    }

    /// The first change in (low, high], with values at the ends in `left` and `right`, that makes a condition true.
    fn between(
        &mut self,
        exits: &[Exit],
        segment: &Segment,
        (mut low, high): (f64, f64),
        tolerance: f64,
    ) -> Option<Fired> {
        loop {
            let touching = |w: &Watched, g: f64| {
                w.turned(g) <= 0.0 || (w.settled && !w.strict && !w.truth && w.turned(g) <= w.band)
            };
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
            let changed: Vec<bool> = (0..count).map(|j| j == root.function || self.scratch[1][j] <= 0.0).collect();
            let exits_now = self.holding(exits, |j, truth| truth != changed[j]);
            if !exits_now.is_empty() {
                return Some(Fired { t: root.t, function: root.function, exits: exits_now, jumps });
            }
            // a statement has changed, but no condition: go on behind it
            for (watched, changed) in self.watched.iter_mut().zip(&changed) {
                if *changed {
                    watched.truth = !watched.truth;
                    watched.settled = false;
                }
            }
            low = root.t;
            let (x, xdot) = (&mut self.x, &mut self.xdot);
            evaluate(exits, &self.watched, segment, (x, xdot), self.derivatives, low, &mut self.left);
            if low >= high {
                return None;
            }
        }
    }
}

/// Values of all functions at a time of a step.
fn evaluate(
    exits: &[Exit],
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hybrid::condition::Condition;
    use crate::hybrid::place::{Reason, Target};

    /// x(t) = t over [0, h].
    fn line(h: f64) -> Segment {
        let mut segment = Segment::point(0.0, &[0.0]);
        segment.collocation(0.0, h, &[h], [0.2, 0.6, 1.0], [&[0.2 * h], &[0.6 * h], &[h]]);
        segment
    }

    fn exit(function: SwitchingFunction<'_>) -> Exit<'_> {
        let reason = Reason::Made(Condition::of(function));
        Exit { reason, to: Target::Mode(0), transition: None, hysteresis: 0.0, priority: None }
    }

    /// What is found in one step over [0, h] from x = 0 with x' = 1.
    fn find(exits: &[Exit], h: f64, held: &[usize]) -> Option<Fired> {
        let mut watch = Watch::default();
        let here = Here { t: 0.0, x: &[0.0], xdot: &[1.0], scales: &[1e-9], probe: 1e-5 };
        watch.start(exits, here, held).unwrap();
        assert!(watch.true_exits(exits).is_empty());
        watch.find(exits, &line(h), 100.0 * h, None).unwrap()
    }

    #[test]
    fn short_excursions_between_samples_are_found() {
        for middle in [0.07, 0.3, 0.62, 0.93] {
            // below zero for a hundredth of the step only
            let g = move |_: f64, x: &[f64]| (x[0] - middle).powi(2) - 2.5e-5;
            let fired = find(&[exit(SwitchingFunction::new("dip", g))], 1.0, &[]).expect("an event");
            assert!((fired.t - (middle - 5e-3)).abs() < 1e-12, "{fired:?}");
        }
    }

    #[test]
    fn touching_counts_unless_the_statement_is_strict() {
        let touch = || SwitchingFunction::new("touch", |_, x: &[f64]| (x[0] - 0.377).powi(2));
        let fired = find(&[exit(touch())], 1.0, &[]).expect("an event");
        assert!((fired.t - 0.377).abs() < 1e-4);
        assert_eq!(find(&[exit(touch().strict())], 1.0, &[]), None);
    }

    #[test]
    fn the_earliest_of_several_is_found_whatever_their_order() {
        let at = |t0: f64| exit(SwitchingFunction::new("later", move |_, x: &[f64]| t0 - x[0]));
        let exits = [at(0.71), at(0.305), at(0.3)];
        let fired = find(&exits, 1.0, &[]).expect("an event");
        assert!(fired.exits == [2] && (fired.t - 0.3).abs() < 1e-12, "{fired:?}");
        // two at the same time are both told
        let fired = find(&[at(0.5), at(0.5)], 1.0, &[]).expect("an event");
        assert_eq!(fired.exits, [0, 1]);
    }

    #[test]
    fn a_function_that_is_zero_at_the_start_is_followed_to_its_next_zero() {
        // rises from zero and comes back, long before the first sample
        let hop = exit(SwitchingFunction::new("hop", |_, x: &[f64]| x[0] * (0.01 - x[0])));
        let fired = find(&[hop], 1.0, &[]).expect("an event");
        assert!((fired.t - 0.01).abs() < 1e-12, "{fired:?}");
        // zero at the end of the step counts
        let fired = find(&[exit(SwitchingFunction::new("end", |_, x: &[f64]| x[0] * (1.0 - x[0])))], 1.0, &[]);
        assert_eq!(fired.expect("an event").t, 1.0);
    }

    #[test]
    fn a_function_that_falls_from_zero_holds_at_once_unless_it_is_held() {
        let falling = [exit(SwitchingFunction::new("falls", |_, x: &[f64]| -x[0]))];
        let mut watch = Watch::default();
        let here = Here { t: 0.0, x: &[0.0], xdot: &[1.0], scales: &[1e-9], probe: 1e-5 };
        watch.start(&falling, here, &[]).unwrap();
        assert_eq!(watch.true_exits(&falling), [0]);
        watch.start(&falling, here, &[0]).unwrap();
        assert!(watch.true_exits(&falling).is_empty());
        let fired = watch.find(&falling, &line(1.0), 100.0, None).unwrap().expect("an event");
        assert!(fired.t < 1e-8, "{fired:?}");
    }

    #[test]
    fn conditions_wait_for_all_their_statements() {
        let functions = vec![
            SwitchingFunction::new("x > 0.2", |_, x: &[f64]| 0.2 - x[0]),
            SwitchingFunction::new("x > 0.6", |_, x: &[f64]| 0.6 - x[0]),
        ];
        let logic = crate::hybrid::Logic::All(vec![crate::hybrid::Logic::Is(0), crate::hybrid::Logic::Is(1)]);
        let reason = Reason::Made(Condition { name: "both".into(), functions, logic });
        let both = Exit { reason, to: Target::Mode(0), transition: None, hysteresis: 0.0, priority: None };
        let fired = find(&[both], 1.0, &[]).expect("an event");
        assert!((fired.t - 0.6).abs() < 1e-12);
    }

    #[test]
    fn a_jump_over_zero_is_found_and_told() {
        let jump = exit(SwitchingFunction::new("jump", |_, x: &[f64]| if x[0] < 0.4 { 1.0 } else { -1.0 }));
        let fired = find(&[jump], 1.0, &[]).expect("an event");
        assert!(fired.jumps && (fired.t - 0.4).abs() < 1e-12, "{fired:?}");
    }

    #[test]
    fn a_function_without_a_value_is_told() {
        let exits = [exit(SwitchingFunction::new("nothing", |_, x: &[f64]| (0.5 - x[0]).sqrt() + 1.0))];
        let mut watch = Watch::default();
        let here = Here { t: 0.0, x: &[0.0], xdot: &[1.0], scales: &[1e-9], probe: 1e-5 };
        watch.start(&exits, here, &[]).unwrap();
        assert_eq!(watch.find(&exits, &line(1.0), 100.0, None).unwrap_err().exit, 0);
    }
}
