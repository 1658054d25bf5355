//! Events that do not switch: they are written down, or stop the run.

use super::Execution;
use crate::hybrid::HybridFailure;

impl Execution<'_, '_> {
    /// Look for events from here on, in the place that is active.
    pub fn begin_events(&mut self) -> Result<(), HybridFailure> {
        if !self.has_events {
            return Ok(());
        }
        let place = &mut self.places[self.active];
        let (tolerances, t) = (place.tolerances.clone(), place.at().state().t);
        let (events, stepper) = place.watched();
        let seen = match self.lookout.begin(events, stepper, tolerances) {
            Ok(seen) => seen,
            Err(cause) => return Err(self.failed(cause, t)),
        };
        self.stopped = seen.stopped_by();
        self.record.events(self.active, place.unknowns.len(), seen.happened);
        Ok(())
    }

    /// Events of the last step, up to t. True if the step ends earlier now: where the run stops, or because it had to be shorter.
    pub fn find_events(&mut self, before: f64, t: &mut f64) -> Result<bool, HybridFailure> {
        if !self.has_events {
            return Ok(false);
        }
        let place = &mut self.places[self.active];
        let (events, stepper) = place.watched();
        let mut seen = match self.lookout.step(events, stepper, *t) {
            Ok(seen) => seen,
            Err(cause) => return Err(self.failed(cause, before)),
        };
        self.stopped = seen.stopped_by();
        let ends_earlier = seen.stop.is_some() || seen.shortened;
        if let (Some(stop), Some(event)) = (seen.stop, seen.happened.last_mut()) {
            *t = stop;
            let dim = stepper.state().x.len();
            self.here.x.resize(dim, 0.0);
            self.here.xdot.resize(dim, 0.0);
            if stepper.state().t == stop {
                self.here.x.copy_from_slice(&stepper.state().x);
            } else {
                stepper.inside(stop, &mut self.here.x);
            }
            stepper.segment().derivative(stop, &mut self.here.xdot);
            place.restore(stop, &mut self.here.x, self.options);
            event.x.copy_from_slice(&self.here.x);
        }
        let unknowns = place.unknowns.len();
        self.record.events(self.active, unknowns, seen.happened);
        if seen.shortened && seen.stop.is_none() {
            *t = self.places[self.active].at().state().t;
            self.read_state();
            self.start_watching(&[])?;
        }
        Ok(ends_earlier)
    }
}
