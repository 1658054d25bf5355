//! Switching functions between the ends of a step: samples on the polynomial, and extrema that samples do not show.

use super::{Guard, NoValue, RESOLUTION, Watch, Watched, evaluate, function};
use crate::segment::Segment;

/// Sampling points of a step besides those that a long step needs, on [0, 1]: Chebyshev points, whose interpolation is stable.
pub(super) const NODES: [f64; 5] = [0.0, 0.146_446_609_406_726_24, 0.5, 0.853_553_390_593_273_8, 1.0];
/// Points at which the interpolation is looked at.
const FINE: usize = 17;
/// A function that is this many times larger than its change over a step has no zero in it.
const FAR: f64 = 2.0;
/// Steps of a search for a minimum.
const MOST_SEARCH: u32 = 40;

impl Watch {
    /// Does no statement change in a step, as bounds or sizes tell? Otherwise there are samples.
    pub(super) fn nothing_to_see(
        &mut self,
        exits: &[impl Guard],
        segment: &Segment,
        length: f64,
    ) -> Result<bool, NoValue> {
        let h = segment.t1 - segment.t0;
        let parts = (RESOLUTION * h / length).ceil().min(4096.0) as usize;
        let division = self.divide(exits, segment);
        if division.clear && division.all {
            self.pass_by(exits, segment)?;
            return Ok(true);
        }
        if division.clear && parts < NODES.len() && self.far_from_zero(exits, segment)? {
            return Ok(true);
        }
        if division.clear {
            self.times.clear();
        }
        self.chebyshev = division.clear && parts < NODES.len();
        if !division.all {
            self.add_times(segment, parts);
        }
        self.sample(exits, segment)?;
        Ok(false)
    }

    /// Are all functions much larger than their change over the step, by its ends and its middle? Then go on to its end.
    pub(super) fn far_from_zero(&mut self, exits: &[impl Guard], segment: &Segment) -> Result<bool, NoValue> {
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
    pub(super) fn nothing_changes(&mut self) -> bool {
        let count = self.watched.len();
        let quiet = |(j, w): (usize, &Watched)| {
            let touch = if !w.touching || w.truth { 0.0 } else { w.band };
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

    /// Look at Chebyshev points, too, or at equidistant ones if a long step needs more.
    fn add_times(&mut self, segment: &Segment, parts: usize) {
        let (t0, h) = (segment.t0, segment.t1 - segment.t0);
        if parts < NODES.len() {
            self.times.extend(NODES.iter().map(|s| t0 + s * h));
        } else {
            self.times.extend((0..=parts).map(|k| t0 + h * k as f64 / parts as f64));
        }
        if let Some(last) = self.times.last_mut() {
            *last = segment.t1;
        }
        if !self.chebyshev {
            self.times.sort_unstable_by(f64::total_cmp);
            self.times.dedup();
        }
    }

    /// Values at all times that are looked at.
    fn sample(&mut self, exits: &[impl Guard], segment: &Segment) -> Result<(), NoValue> {
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
    pub(super) fn look_for_extrema(&mut self, exits: &[impl Guard], segment: &Segment) {
        let count = self.watched.len();
        for j in 0..count {
            let found = if self.watched[j].settled {
                let nodes = self.chebyshev && self.times.len() == NODES.len();
                let suspicious = if nodes { self.hidden_valley(j) } else { self.valley(j) };
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
    fn settling(&mut self, exits: &[impl Guard], segment: &Segment, j: usize) -> Option<f64> {
        let watched = self.watched[j].clone();
        let buffers = (&mut self.x[..], &mut self.xdot[..]);
        let mut value = followed(exits, &watched, segment, buffers, self.derivatives);
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
    fn minimum(
        &mut self,
        exits: &[impl Guard],
        segment: &Segment,
        j: usize,
        (mut a, mut b): (f64, f64),
    ) -> Option<f64> {
        const GOLDEN: f64 = 0.381_966_011_250_105_1;
        let watched = self.watched[j].clone();
        let buffers = (&mut self.x[..], &mut self.xdot[..]);
        let mut value = followed(exits, &watched, segment, buffers, self.derivatives);
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
        let touches = watched.touching && !watched.truth && least <= watched.band;
        touches.then_some(t)
    }
}

/// One function along a step, turned.
fn followed(
    exits: &[impl Guard],
    watched: &Watched,
    segment: &Segment,
    (x, xdot): (&mut [f64], &mut [f64]),
    derivatives: bool,
) -> impl FnMut(f64) -> f64 {
    let g = function(exits, watched);
    move |t| {
        segment.eval(t, x);
        if derivatives {
            segment.derivative(t, xdot);
        }
        watched.turned((g.value)(t, x, xdot))
    }
}
