//! Infinitely many switches in finite time: they are made as long as they can be told from noise, then the state is carried to their limit.
//!
//! The distances of a transition shrink by the same ratio q each time, those to the limit t* with them. Excursions of the switching function
//! shrink like q², below its uncertainty, long before t* is reached to the tolerance. Steps that are made again up to an event resolve
//! them nevertheless: relative to the length of an excursion they become more accurate. So the band within which a function counts as zero
//! shrinks along, until t* − t is below the tolerance, or the time of an event is not known better. States at the events of one
//! transition approach their limit as smoothly as their times: a line through two of them bridges the rest.

use super::Execution;
use super::switch::NOISE;
use crate::hybrid::history::Accumulation;
use crate::hybrid::watch::Fine;

/// Steps are at most this many times as long as the next excursion.
const AHEAD: f64 = 4.0;
/// Nearer than this part of time itself the limit is not told from the present: ratios of distances are lost in the rounding of times.
const DISTINCT: f64 = 1e3 * f64::EPSILON;
/// Times of events are found to this part of time itself at best: that is their rounding.
const LOCATED: f64 = 2.0 * f64::EPSILON;

impl Execution<'_, '_> {
    /// Is it time to cut the switches of a transition short, which has just become due? Otherwise the next excursion is watched as closely as it
    /// needs.
    pub fn accumulates(&mut self, j: usize, exit: usize, t: f64) -> Option<Accumulation> {
        let (fine, last) = self.fine.take().filter(|(fine, _)| fine.transition == j).unzip();
        let Some(found) = self.history.accumulation(j) else {
            // below the usual uncertainty there is no way back to it
            return last.filter(|_| fine.is_some_and(|fine: Fine| fine.part < 1.0));
        };
        let (rtol, q) = (self.tolerances.0, found.ratio);
        let near = found.limit - t <= (rtol * (t - self.interval.0)).max(DISTINCT * t.abs());
        let lost = self.watch.stays_near_zero(exit, NOISE / q.powi(2));
        if near || (lost && (fine.is_some() || !self.retaken)) {
            return Some(found);
        }
        if self.retaken {
            // the next excursion will be twice as large as what would be lost
            let part = self.watch.prominence(exit) * q.powi(4) / (2.0 * NOISE);
            let part = (part * fine.map_or(1.0, |fine| fine.part)).min(1.0);
            let next = (found.limit - t) * (1.0 - q);
            let fine = Fine {
                transition: j,
                part,
                located: self.exactness(t - self.interval.0).max(LOCATED * t.abs()),
                until: t + AHEAD * next,
            };
            self.fine = Some((fine, found));
        }
        None
    }

    /// Carry the state of the active mode to the limit of an accumulation, or to the end of the run. Returns the time.
    pub fn bridge(&mut self, j: usize, accumulation: &Accumulation, t: f64) -> f64 {
        let limit = accumulation.limit.min(self.interval.1);
        let Some((earlier, x)) = self.history.earlier(j, limit - t).filter(|_| limit > t) else { return t };
        if x.len() != self.here.x.len() || earlier >= t {
            return t;
        }
        let before = self.here.x.clone();
        let part = (limit - t) / (t - earlier);
        self.here.x.iter_mut().zip(x).for_each(|(here, x)| *here += part * (*here - x));
        self.record.bridge((t, &before), (limit, &self.here.x));
        limit
    }
}
