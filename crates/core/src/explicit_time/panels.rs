//! Panels of time on which inputs u(t) are resolved.
//!
//! A panel of width w is resolved if the polynomial through the K Chebyshev points of it differs from u by a small part of what u changes by there.
//! Bounds of the K-th Taylor coefficient over the whole panel certify that: the error is at most 2 (w/4)ᴷ max |u⁽ᴷ⁾|/K!. A pulse between
//! any points of a coarser panel makes that bound large, so none is missed. Steps have a handful of stages: what a polynomial of this degree
//! does within a step is seen by them.
//!
//! Panels are the cells of repeated halving of a piece: the largest resolved one around a time.

use super::extract::OfTime;
use super::zeros::TapeValues;
use crate::scalar::{Interval, Taylor};

/// K: polynomials have the degree K − 1.
const TERMS: usize = 8;
/// The error of the polynomial, as part of the change of u on the panel. Coarse: what is smaller is the task of the error estimates.
const RESOLVED: f64 = 1e-2;
/// Changes below this part of those over the whole piece do not count: tails of pulses.
const NEGLIGIBLE: f64 = 1e-6;
/// Most halvings for bounds of what u changes by over a whole piece.
const ROUNDS: u32 = 100;
/// Most halvings. Where u is not smooth (√t at zero) panels are as small as that part of their piece.
const MOST_HALVINGS: u32 = 30;

/// From a to b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Panel {
    pub a: f64,
    pub b: f64,
}

impl Panel {
    pub fn width(self) -> f64 {
        self.b - self.a
    }
}

/// Inputs with space for their values.
#[derive(Clone, Debug)]
pub(super) struct Profiles {
    coefficients: TapeValues<Taylor<Interval, { TERMS + 1 }>>,
    bounds: TapeValues<Interval>,
    /// what each of them changes by
    scales: Vec<f64>,
}

impl Profiles {
    pub fn new(of: &OfTime) -> Self {
        Profiles {
            coefficients: TapeValues::new(&of.profiles, of.inputs, of.count),
            bounds: TapeValues::new(&of.profiles, of.inputs, of.count),
            scales: vec![0.0; of.count],
        }
    }

    /// Learn what the inputs change by over a piece.
    pub fn measure(&mut self, of: &OfTime, piece: (f64, f64), signs: &[f64]) {
        let hulls = self.hulls(of, piece, signs);
        for (scale, hull) in self.scales.iter_mut().zip(&hulls) {
            *scale = scale.max(finite(hull.width()));
        }
    }

    /// The largest absolute value of each input in an interval.
    pub fn sizes(&mut self, of: &OfTime, interval: (f64, f64), signs: &[f64]) -> Vec<f64> {
        self.hulls(of, interval, signs).into_iter().map(|hull| finite(hull.magnitude())).collect()
    }

    /// Bounds of each input over an interval: cells whose bounds stick out are halved until they do not, or for some time.
    fn hulls(&mut self, of: &OfTime, (from, to): (f64, f64), signs: &[f64]) -> Vec<Interval> {
        let empty = Interval { low: f64::INFINITY, high: f64::NEG_INFINITY };
        let (mut cells, mut seen): (Vec<(f64, f64, Vec<Interval>)>, _) = (Vec::new(), vec![empty; of.count]);
        let mut open: Vec<(f64, f64)> = vec![(from, to)];
        for _ in 0..ROUNDS {
            for (a, b) in open.drain(..) {
                self.bounds.at(of, &of.profiles, Interval::from(0.5 * (a + b)), signs);
                for (seen, u) in seen.iter_mut().zip(&self.bounds.outputs) {
                    if u.width().is_finite() {
                        *seen = seen.hull(*u);
                    }
                }
                self.bounds.at(of, &of.profiles, Interval::new(a, b), signs);
                cells.push((a, b, self.bounds.outputs.clone()));
            }
            // the cell that sticks out most, relative to the values that were seen
            let excess = |bounds: &[Interval]| {
                let out = bounds.iter().zip(&seen).map(|(u, seen)| {
                    let out = (u.high - seen.high).max(seen.low - u.low);
                    if out > seen.width() { out } else { 0.0 }
                });
                out.fold(0.0, f64::max)
            };
            let worst = (0..cells.len()).max_by(|&i, &j| excess(&cells[i].2).total_cmp(&excess(&cells[j].2)));
            let Some(worst) = worst.filter(|&k| excess(&cells[k].2) > 0.0) else { break };
            let (a, b, _) = cells.swap_remove(worst);
            open.extend([(a, 0.5 * (a + b)), (0.5 * (a + b), b)]);
        }
        let mut hulls = seen.clone();
        for u in cells.iter().flat_map(|(_, _, bounds)| bounds.iter().enumerate()).filter(|(_, u)| !u.is_undefined()) {
            hulls[u.0] = hulls[u.0].hull(*u.1);
        }
        // where bounds tell nothing the values do
        hulls.iter_mut().zip(seen).filter(|(hull, _)| !hull.width().is_finite()).for_each(|(hull, seen)| *hull = seen);
        hulls
    }

    /// The panel of a piece that a time lies in; `level` is a guess of how often the piece is halved, and the answer.
    pub fn panel(&mut self, of: &OfTime, piece: (f64, f64), signs: &[f64], t: f64, level: &mut u32) -> Panel {
        let mut cell = cell_at(piece, t, *level);
        let mut descending = false;
        while *level < MOST_HALVINGS && !self.resolved(of, cell, signs) {
            *level += 1;
            cell = cell_at(piece, t, *level);
            descending = true;
        }
        while *level > 0 && !descending {
            let larger = cell_at(piece, t, *level - 1);
            if !self.resolved(of, larger, signs) {
                break;
            }
            *level -= 1;
            cell = larger;
        }
        cell
    }

    fn resolved(&mut self, of: &OfTime, panel: Panel, signs: &[f64]) -> bool {
        let time = Taylor::parameter(Interval::new(panel.a, panel.b));
        self.coefficients.at(of, &of.profiles, time, signs);
        let factor = 2.0 * (0.25 * panel.width()).powi(TERMS as i32);
        self.coefficients.outputs.iter().zip(&self.scales).all(|(u, scale)| {
            let (change, last) = (u.coefficients[0].width(), u.coefficients[TERMS]);
            let floor = NEGLIGIBLE * scale;
            // what has no value is told by the run
            change <= floor
                || last.is_undefined()
                || factor * last.magnitude() <= RESOLVED * change.min(*scale).max(floor)
        })
    }
}

/// Zero for what is not finite.
fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}

/// The cell around a time after so many halvings.
fn cell_at((from, to): (f64, f64), t: f64, level: u32) -> Panel {
    let parts = f64::from(level).exp2();
    let time = |k: f64| if k >= parts { to } else { from + (to - from) * (k / parts) };
    let mut k = ((t - from) / (to - from) * parts).floor().clamp(0.0, parts - 1.0);
    // rounding
    if time(k + 1.0) <= t && k + 1.0 < parts {
        k += 1.0;
    }
    Panel { a: time(k), b: time(k + 1.0) }
}
