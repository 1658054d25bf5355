//! Steps that end where a place is left.

use super::Execution;
use crate::hybrid::HybridFailure;
use crate::hybrid::watch::Fired;

/// Times are found to this part of the tolerance, relative to the step size, in which states change.
const EXACT: f64 = 1e-4;
/// Most repetitions of a step until it ends at an event.
const MOST_REPETITIONS: u32 = 5;

impl Execution<'_, '_> {
    /// The first event of the last step, which ends there afterwards: its time and the ways out. State and derivative are those of the event.
    pub fn first_event(&mut self) -> Result<Option<(f64, Vec<usize>)>, HybridFailure> {
        while let Some(fired) = self.find()? {
            if let Some(t) = self.locate(&fired)? {
                return Ok(Some((t, fired.exits)));
            }
            // the step had to be shorter, and ends before the event now
            self.watch.rewind();
        }
        Ok(None)
    }

    /// Look through the last step.
    fn find(&mut self) -> Result<Option<Fired>, HybridFailure> {
        let place = &self.places[self.active];
        let length = self.interval.1 - self.interval.0;
        let tolerance = self.hybrid.time_tolerance;
        self.watch.find(&place.exits, place.at().segment(), length, tolerance).map_err(|none| {
            HybridFailure::Undefined { t: none.t, mode: place.name.clone(), condition: place.exits[none.exit].name() }
        })
    }

    /// How exactly times of events are found by making steps again; `size` is the larger one of time and step.
    pub fn exactness(&self, size: f64) -> f64 {
        EXACT * self.tolerances.0 * size
    }

    /// Make the last step end at an event. Its time, with state and derivative in `x` and `xdot`; none if the step had to be shorter.
    pub fn locate(&mut self, fired: &Fired) -> Result<Option<f64>, HybridFailure> {
        let segment = self.places[self.active].at().segment();
        let (t0, t1) = (segment.t0, segment.t1);
        let h = t1 - t0;
        let rounding = self.hybrid.time_tolerance.unwrap_or(100.0 * f64::EPSILON * (t0.abs() + h));
        // errors of events that accumulate add up like the geometric series of their distances
        let sum = self.fine.map_or(1.0, |(_, accumulation)| 1.0 - accumulation.ratio);
        let exact = (sum * rounding.max(self.exactness(h))).max(2.0 * f64::EPSILON * t1.abs());
        let mut t = fired.t;
        self.here.x.resize(segment.dim(), 0.0);
        self.here.xdot.resize(segment.dim(), 0.0);
        if t >= t1 - rounding {
            self.read_state();
            return Ok(Some(t1));
        }
        if t - t0 <= 1e3 * rounding {
            // no step is this short; the polynomial is exact so close to its begin
            segment.eval(t, &mut self.here.x);
            segment.derivative(t, &mut self.here.xdot);
            return Ok(Some(t));
        }
        for _ in 0..MOST_REPETITIONS {
            let place = &mut self.places[self.active];
            let retaken = place.stepper().retake(t);
            self.retaken = matches!(retaken, Ok(true));
            match retaken {
                Ok(true) if place.at().state().t == t => {}
                Ok(true) => return Ok(None),
                Ok(false) => {
                    let segment = place.at().segment();
                    segment.eval(t, &mut self.here.x);
                    segment.derivative(t, &mut self.here.xdot);
                    return Ok(Some(t));
                }
                Err(cause) => return Err(self.failed(cause, t0)),
            }
            if fired.jumps {
                break;
            }
            let exits = &place.exits;
            let segment = place.at().segment();
            let (near, width) = (place.at().state(), 1e-3 * (t - t0));
            self.here.x.copy_from_slice(&near.x);
            segment.derivative(t, &mut self.here.xdot);
            let g = self.watch.turned_at(exits, fired.function, t, &self.here.x, &self.here.xdot);
            segment.eval(t - width, &mut self.here.x);
            segment.derivative(t - width, &mut self.here.xdot);
            let slope =
                (g - self.watch.turned_at(exits, fired.function, t - width, &self.here.x, &self.here.xdot)) / width;
            let shift = -g / slope;
            // a function that only touches zero has no slope there
            if !(shift.abs() > exact && shift.abs() < 0.1 * h) {
                break;
            }
            // the polynomial deviates from the solution, which reaches zero behind the step: it ends before the event now
            if t + shift > t1 + exact {
                return Ok(None);
            }
            let next = (t + shift).min(t1);
            if next <= t0 || next == t {
                break;
            }
            t = next;
        }
        self.read_state();
        Ok(Some(self.places[self.active].at().state().t))
    }
}
