//! Events that do not switch: they are written down, or stop the run.

use super::Run;
use crate::hybrid::error::HybridFailure;

impl Run<'_, '_> {
    /// Look for events from here on, in the mode that is active.
    pub fn begin_events(&mut self) -> Result<(), HybridFailure> {
        if !self.has_events {
            return Ok(());
        }
        let (mode, active) = (self.name(self.active), self.active);
        let tolerances = self.place_tolerances();
        let (events, stepper) = self.places[active].watched();
        let seen = self.lookout.begin(events, stepper, tolerances);
        let seen = seen.map_err(|cause| HybridFailure::Step { mode, cause })?;
        self.stopped = seen.stopped_by();
        let unknowns = self.places[active].unknowns.len();
        self.record.events(active, unknowns, seen.happened);
        Ok(())
    }

    /// Events of the last step, up to t. True if the step ends earlier now: where the run stops, or because it had to be shorter.
    pub fn find_events(&mut self, t: &mut f64) -> Result<bool, HybridFailure> {
        if !self.has_events {
            return Ok(false);
        }
        let (mode, active) = (self.name(self.active), self.active);
        let (events, stepper) = self.places[active].watched();
        let seen = self.lookout.step(events, stepper, *t);
        let seen = seen.map_err(|cause| HybridFailure::Step { mode, cause })?;
        self.stopped = seen.stopped_by();
        if let Some(stop) = seen.stop {
            *t = stop;
            let stepper = self.places[active].stepper();
            if stepper.state().t == stop {
                self.read_state();
            } else {
                stepper.inside(stop, &mut self.here.x);
                stepper.segment().derivative(stop, &mut self.here.xdot);
            }
        } else if seen.shortened {
            *t = self.places[active].at().state().t;
            self.read_state();
            self.start_watching(&[])?;
        }
        let unknowns = self.places[active].unknowns.len();
        self.record.events(active, unknowns, seen.happened);
        Ok(seen.stop.is_some() || seen.shortened)
    }

    /// rtol and atol of every unknown of the active mode, auxiliary ones included.
    fn place_tolerances(&self) -> Vec<(f64, f64)> {
        let place = &self.places[self.active];
        let of = |j: usize| place.unknowns.get(j).map_or(self.tolerances, |name| self.tolerance_of(name));
        (0..place.at().state().x.len()).map(of).collect()
    }
}
