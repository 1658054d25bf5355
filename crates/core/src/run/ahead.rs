//! What is known before a step: from when on a mode may be left, how far a step may go, and where time goes on without one.

use super::Execution;
use super::exit::Exit;
use crate::hybrid::{HybridFailure, SwitchKind, Warning};
use crate::method::State;

/// Times are the same if they differ by less than this part of what they are added up from: a few roundings, and more than the shortest
/// step of any method.
const SAME_TIME: f64 = 16.0 * f64::EPSILON;

/// Is a limit so close that no step leads there?
pub fn is_reached(t: f64, limit: f64) -> bool {
    limit - t <= SAME_TIME * t.abs()
}

impl Execution<'_, '_> {
    /// Must the mode not be left yet?
    pub fn dwells(&self, t: f64) -> bool {
        t < self.dwell_end()
    }

    /// From when on the mode may be left. A time of a schedule within rounding of it is meant to be that time.
    fn dwell_end(&self) -> f64 {
        let place = &self.places[self.active];
        if !(place.dwell() > 0.0) {
            return self.entered;
        }
        let end = self.entered + place.dwell();
        let rounding = SAME_TIME * (self.entered.abs() + place.dwell());
        let after = (end - rounding).max(self.entered);
        let times = place.exits.iter().filter_map(|exit| exit.next_after(after)).filter(|time| *time <= end + rounding);
        times.min_by(f64::total_cmp).unwrap_or(end)
    }

    /// Times of a schedule within the time for which the mode that was entered at t must not be left: nothing happens then, which is told
    /// once for each transition.
    pub fn tell_dropped(&mut self, t: f64) {
        let end = self.dwell_end();
        let place = &self.places[self.active];
        for exit in &place.exits {
            let Some(time) = exit.next_after(t).filter(|time| *time < end && *time <= self.interval.1) else {
                continue;
            };
            if let Some(j) = exit.transition
                && !self.dropped.contains(&j)
            {
                self.dropped.push(j);
                let (mode, name) = (&place.name, exit.name());
                let message = format!(
                    "`{mode}` must not be left before {end}: nothing happens at {time}, a time of the transition `{name}`"
                );
                self.record.solution.warnings.push(Warning { t, message });
            }
        }
    }

    /// The next time at which something happens that is known beforehand.
    pub fn limit(&mut self, t: f64) -> f64 {
        let dwells = Some(self.dwell_end()).filter(|end| t < *end);
        let place = &mut self.places[self.active];
        self.stride = place.at().proposed_step();
        let mut limit = self.interval.1;
        for times in place.timetable.iter_mut().chain(&mut place.condition_times) {
            limit = limit.min(times.limit(t, self.stride));
        }
        if let Some(fine) = self.fine.map(|(fine, _)| fine).filter(|fine| fine.part < 1.0 && fine.until > t) {
            limit = limit.min(fine.until);
        }
        if let Some(end) = dwells {
            return limit.min(end);
        }
        place.exits.iter().filter_map(|exit| exit.next_after(t)).fold(limit, f64::min)
    }

    /// Ways out whose time has come since an earlier one, while the mode may be left.
    pub fn scheduled(&self, before: f64, t: f64) -> Vec<usize> {
        let after = before.max(self.dwell_end().next_down());
        let exits = self.places[self.active].exits.iter().enumerate();
        let due = |exit: &Exit| exit.next_after(after).is_some_and(|time| time <= t);
        exits.filter(|(_, exit)| due(exit)).map(|(k, _)| k).collect()
    }

    /// Go on beyond a time where formulas of the active place jump, if the run stands there, with steps as long as before: one that ends at
    /// a break says little about the size that is possible. Switching functions may jump with the formulas.
    pub fn cross(&mut self, t: f64) -> Result<bool, HybridFailure> {
        let place = &mut self.places[self.active];
        let Some(crossing) =
            place.timetable.as_mut().and_then(|times| times.first_crossing().or_else(|| times.crossing(t)))
        else {
            // a condition may jump by itself
            let Some(crossing) = place.condition_times.as_mut().and_then(|times| times.crossing(t)) else {
                return Ok(false);
            };
            self.skip(t, crossing.to)?;
            return Ok(true);
        };
        let proposed = place.at().proposed_step().max(self.stride);
        // surfaces that jump apart are left before they do
        if let Some(exit) = self.comes_apart(crossing.to) {
            let held = self.switch(&[exit], t, SwitchKind::Regular)?;
            self.look_around(&held)?;
            return Ok(true);
        }
        let place = &mut self.places[self.active];
        if let Err(cause) = place.cross(&crossing, self.options) {
            return Err(self.failed(cause, t));
        }
        place.stepper().propose(proposed);
        self.arrive(t, crossing.to)?;
        Ok(true)
    }

    /// Go on to a time that is within rounding of t: no step is so short.
    pub fn skip(&mut self, t: f64, to: f64) -> Result<(), HybridFailure> {
        let proposed = self.stride;
        let stepper = self.places[self.active].stepper();
        let x = stepper.state().x.clone();
        stepper.restart(State { t: to, x });
        stepper.propose(proposed);
        self.arrive(t, to)
    }

    /// Look around after time went on without a step: conditions may hold now, and times of schedules have passed.
    fn arrive(&mut self, before: f64, t: f64) -> Result<(), HybridFailure> {
        self.read_state();
        self.record.jumped(t, &self.here.x);
        if self.dwells(t) {
            return self.begin_events();
        }
        self.start_watching(&[])?;
        let mut due = self.watch.true_exits(&self.places[self.active].exits);
        due.extend(self.scheduled(before, t));
        if due.is_empty() {
            return self.begin_events();
        }
        let held = self.switch(&due, t, SwitchKind::Regular)?;
        self.look_around(&held)
    }
}
