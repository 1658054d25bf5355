//! Dense output of one-step methods from what is known at both ends of a step, as powers of σ = (t − t₁)/(t₁ − t₀).
//!
//! Where p' = v: the quintic through p, p' and p'' at both ends, its derivatives for v and a. Otherwise cubics through p, p' and v, v'.
//! r: the cubic through r and r'. With the begin of the step before as a third point all have half as many degrees again: 8 and 5.
//! λ, μ: the cubic through their last four values, of lower degree after a start; it only tells about where they are. What is saved is
//! computed from p and v, and polynomials that are kept go through such values.

use super::hermite::{last_product, through, through_values};
use crate::motion::Layout;
use crate::segment::Segment;

/// Points that multipliers are interpolated from.
const POINTS: usize = 4;
/// Rounding of values that divided differences of ninth order enlarge, relative to them: a last term that is not larger says nothing, and
/// a shorter step would only enlarge its derivative.
const ROUNDING: f64 = 1e4 * f64::EPSILON;

/// The multipliers at the last points, newest first.
#[derive(Clone, Debug)]
pub(super) struct MultiplierHistory {
    times: Vec<f64>,
    values: Vec<Vec<f64>>,
}

/// A point with its derivatives: x as in [`Layout`], and ẋ of its p, v and r.
#[derive(Clone, Copy)]
pub(super) struct End<'x> {
    pub t: f64,
    pub x: &'x [f64],
    pub xdot: &'x [f64],
}

impl MultiplierHistory {
    pub fn new(layout: &Layout, t: f64, x: &[f64]) -> Self {
        let multipliers = &x[layout.lambda().start..layout.mu().end];
        let mut times = Vec::with_capacity(POINTS);
        times.push(t);
        MultiplierHistory { times, values: vec![multipliers.to_vec(); POINTS] }
    }

    /// Begin anew at a point.
    pub fn restart(&mut self, layout: &Layout, t: f64, x: &[f64]) {
        self.times.clear();
        self.times.push(t);
        self.values[0].copy_from_slice(&x[layout.lambda().start..layout.mu().end]);
    }

    /// Forget the newest point: its step is made again.
    pub fn retreat(&mut self) {
        self.times.remove(0);
        self.values.rotate_left(1);
    }

    /// A new point.
    pub fn push(&mut self, layout: &Layout, t: f64, x: &[f64]) {
        self.times.truncate(POINTS - 1);
        self.times.insert(0, t);
        self.values.rotate_right(1);
        self.values[0].copy_from_slice(&x[layout.lambda().start..layout.mu().end]);
    }

    /// Powers of the polynomial through the points for one multiplier, in σ.
    fn powers(&self, h: f64, k: usize) -> [f64; POINTS] {
        let m = self.times.len();
        let mut powers = [0.0; POINTS];
        let mut nodes = [0.0; POINTS];
        for i in 0..m {
            nodes[i] = (self.times[i] - self.times[0]) / h;
            powers[i] = self.values[i][k];
        }
        through_values(&nodes[..m], &mut powers[..m]);
        powers
    }
}

/// Write the polynomial over the step between two points; `plain` if p' = v.
pub(super) fn interpolate(
    segment: &mut Segment,
    layout: &Layout,
    plain: bool,
    ends: [End; 2],
    multipliers: &MultiplierHistory,
) {
    let [from, to] = ends;
    let h = to.t - from.t;
    let n = layout.dim();
    let powers = segment.powers(from.t, to.t);
    powers.fill(0.0);
    let cubic = |powers: &mut [f64], j: usize| {
        let [x0, x1, d0, d1] = [from.x[j], to.x[j], h * from.xdot[j], h * to.xdot[j]];
        let (D, D1) = (x0 - x1 + d1, d0 - d1);
        // x₀ = x₁ − c₁ + c₂ − c₃, d₀ = c₁ − 2c₂ + 3c₃
        let c3 = D1 + 2.0 * D;
        let c2 = D + c3;
        write(powers, (n, j), &[x1, d1, c2, c3]);
    };
    layout.r().for_each(|j| cubic(powers, j));
    if plain {
        for (i, (p, v)) in layout.p().zip(layout.v()).enumerate() {
            let a = layout.a().start + i;
            let (v0, v1) = (h * from.x[v], h * to.x[v]);
            let (a0, a1) = (h * h * from.x[a], h * h * to.x[a]);
            let D = from.x[p] - (to.x[p] - v1 + 0.5 * a1);
            let (D1, D2) = (v0 - v1 + a1, a0 - a1);
            let c3 = -(0.5 * D2 + 4.0 * D1 + 10.0 * D);
            let c5 = c3 + D1 + 4.0 * D;
            let c4 = D + c3 + c5;
            write(powers, (n, p), &[to.x[p], v1, 0.5 * a1, c3, c4, c5]);
        }
    } else {
        layout.p().chain(layout.v()).for_each(|j| cubic(powers, j));
    }
    differentiate(powers, layout, plain, h);
    write_multipliers(powers, layout, h, multipliers);
}

/// The same with a third point, older than both ends. `deviation` becomes the last term of the polynomials of p, v and r where it is largest:
/// their error is smaller as long as terms fall.
pub(super) fn interpolate_back(
    segment: &mut Segment,
    layout: &Layout,
    plain: bool,
    ends: [End; 3],
    multipliers: &MultiplierHistory,
    deviation: &mut [f64],
) {
    let [_, from, to] = ends;
    let h = to.t - from.t;
    let n = layout.dim();
    let nodes = [to, from, ends[0]].map(|end| (end.t - to.t) / h);
    let powers = segment.powers(from.t, to.t);
    powers.fill(0.0);
    deviation.fill(0.0);
    let products = [2, 3].map(|each| last_product(nodes[2], each));
    let rounding = |j: usize| ROUNDING * ends.iter().fold(0.0_f64, |most, end| most.max(end.x[j].abs()));
    let mut quintic = |powers: &mut [f64], j: usize| {
        let taylor = [to, from, ends[0]].map(|end| [end.x[j], h * end.xdot[j], 0.0]);
        let (c, last) = through::<2>(&nodes, &taylor);
        write(powers, (n, j), &c[..6]);
        deviation[j] = (last.abs() * products[0][0] - rounding(j)).max(0.0);
    };
    layout.r().for_each(|j| quintic(powers, j));
    if plain {
        for (i, (p, v)) in layout.p().zip(layout.v()).enumerate() {
            let a = layout.a().start + i;
            let taylor = [to, from, ends[0]].map(|end| [end.x[p], h * end.x[v], 0.5 * h * h * end.x[a]]);
            let (c, last) = through::<3>(&nodes, &taylor);
            write(powers, (n, p), &c);
            deviation[p] = (last.abs() * products[1][0] - rounding(p)).max(0.0);
            deviation[v] = (last.abs() * products[1][1] - rounding(p)).max(0.0) / h;
        }
    } else {
        layout.p().chain(layout.v()).for_each(|j| quintic(powers, j));
    }
    differentiate(powers, layout, plain, h);
    write_multipliers(powers, layout, h, multipliers);
}

/// Points that accelerations and multipliers are interpolated from where their polynomials are to be as accurate as the motion.
pub(super) const SAMPLES: usize = 6;

/// Polynomials of a, λ and μ through values at times that divide the step evenly, from its end to its begin.
pub(super) fn interpolate_samples(segment: &mut Segment, layout: &Layout, samples: &[Vec<f64>; SAMPLES]) {
    let nodes: [f64; SAMPLES] = std::array::from_fn(|i| -(i as f64) / (SAMPLES - 1) as f64);
    let (t0, t1) = (segment.t0, segment.t1);
    let powers = segment.powers(t0, t1);
    for j in layout.a().chain(layout.lambda()).chain(layout.mu()) {
        let mut values: [f64; SAMPLES] = std::array::from_fn(|i| samples[i][j]);
        through_values(&nodes, &mut values);
        // powers of a polynomial of higher degree that stood there
        powers.iter_mut().skip(j).step_by(layout.dim()).for_each(|power| *power = 0.0);
        write(powers, (layout.dim(), j), &values);
    }
}

/// Coefficients of component j of n.
fn write(powers: &mut [f64], (n, j): (usize, usize), c: &[f64]) {
    c.iter().enumerate().for_each(|(k, c)| powers[k * n + j] = *c);
}

/// v = p' where that is so, and a = v'.
fn differentiate(powers: &mut [f64], layout: &Layout, plain: bool, h: f64) {
    let n = layout.dim();
    let terms = powers.len() / n;
    let mut derivative = |of: usize, j: usize| {
        for k in 1..terms {
            powers[(k - 1) * n + j] = k as f64 * powers[k * n + of] / h;
        }
    };
    if plain {
        layout.p().zip(layout.v()).for_each(|(p, v)| derivative(p, v));
    }
    layout.v().zip(layout.a()).for_each(|(v, a)| derivative(v, a));
}

fn write_multipliers(powers: &mut [f64], layout: &Layout, h: f64, multipliers: &MultiplierHistory) {
    for (k, j) in (layout.lambda().start..layout.mu().end).enumerate() {
        write(powers, (layout.dim(), j), &multipliers.powers(h, k));
    }
}
