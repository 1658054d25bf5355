//! Looks for events along the steps of a run, whatever is solved and however it is stepped.
//!
//! Conditions are followed as those of transitions are: samples on the polynomial of a step, extrema between them, zeros by secants that
//! keep a bracket. A time that was found on the polynomial is then corrected with values that are as accurate as the method knows
//! them, and the step is made again where the run stops.

use crate::error::StepFailure;
use crate::event::{Action, Event, Happened};
use crate::hybrid::watch::{Became, Here, NoValue, Watch};
use crate::method::Stepper;
use crate::run::rearranged::EventOf;

/// Most repetitions of a step until it ends at an event that stops.
const MOST_REPETITIONS: u32 = 4;
/// Most corrections of a time by values that are more accurate than the polynomial.
const MOST_CORRECTIONS: u32 = 2;
/// The direction of the solution at a start is that over this part of the interval.
const PROBE: f64 = 1e-6;

/// Follows the conditions of events.
#[derive(Default)]
pub(crate) struct Lookout {
    watch: Watch,
    /// rtol and atol of every unknown
    tolerances: Vec<(f64, f64)>,
    /// length of the whole interval
    length: f64,
    /// names of the events that were looked at last, and whether their conditions held
    truths: Vec<(String, bool)>,
    x: Vec<f64>,
    xdot: Vec<f64>,
}

/// What happened in a step.
#[derive(Default)]
pub(crate) struct Seen {
    /// Events in the order of time.
    pub happened: Vec<Happened>,
    /// When the run stops: at the last of them.
    pub stop: Option<f64>,
    /// Was the step made again and is shorter now, although nothing stops?
    pub shortened: bool,
}

impl Lookout {
    /// Over an interval of this length.
    pub fn new(length: f64) -> Self {
        Lookout { length, ..Self::default() }
    }

    /// Begin at the point of a stepper, at the start or behind a jump. What was false before the jump and is true behind it happens here.
    pub fn begin(
        &mut self,
        events: &[EventOf],
        stepper: &mut dyn Stepper,
        tolerances: Vec<(f64, f64)>,
    ) -> Result<Seen, StepFailure> {
        let dim = stepper.state().x.len();
        self.tolerances = tolerances;
        self.x.resize(dim, 0.0);
        self.xdot.resize(dim, 0.0);
        stepper.rates(&mut self.xdot);
        let state = stepper.state();
        let scales: Vec<f64> =
            state.x.iter().zip(&self.tolerances).map(|(x, (rtol, atol))| rtol * x.abs() + atol).collect();
        let here =
            Here { t: state.t, x: &state.x, xdot: &self.xdot, scales: &scales, probe: PROBE * self.length, fine: None };
        self.watch.start(events, here, &[]).map_err(|none| without_value(events, none))?;
        let before = std::mem::take(&mut self.truths);
        self.note(events);
        let mut seen = Seen::default();
        for (event, (name, now)) in events.iter().zip(&self.truths) {
            let was_false = before.iter().any(|(other, truth)| other == name && !truth);
            if *now && was_false {
                seen.add(event, state.t, &state.x, &self.xdot);
            }
        }
        Ok(seen)
    }

    fn note(&mut self, events: &[EventOf]) {
        let holding = self.watch.true_exits(events);
        let names = self.truths.iter().map(|(name, _)| name);
        if !names.eq(events.iter().map(|event| &event.name)) {
            self.truths = events.iter().map(|event| (event.name.clone(), false)).collect();
        }
        self.truths.iter_mut().enumerate().for_each(|(k, (_, truth))| *truth = holding.contains(&k));
    }

    /// The events of the last step, up to a time. Where one of them stops, the step ends there if the method can make it end there.
    pub fn step(&mut self, events: &[EventOf], stepper: &mut dyn Stepper, mut until: f64) -> Result<Seen, StepFailure> {
        let mut seen = Seen::default();
        let (mut found, stop) = loop {
            let interval = (self.length, until);
            let found = self.watch.follow(events, stepper.segment(), interval, &self.tolerances);
            let found = found.map_err(|none| without_value(events, none))?;
            let Some(last) = found.iter().position(|became| events[became.exit].action == Action::Stop) else {
                break (found, None);
            };
            if let Some(t) = self.end_at(events, stepper, &found[last])? {
                break (found[..=last].to_vec(), Some(t));
            }
            // the step had to be shorter: the event comes later
            self.watch.rewind();
            until = until.min(stepper.state().t);
            seen.shortened = true;
        };
        let last = found.len();
        for (i, became) in found.iter_mut().enumerate() {
            let event = &events[became.exit];
            match stop.filter(|_| i + 1 == last) {
                // the one that stops is at the end of the step already
                Some(t) => became.t = t,
                None if !self.correct(events, stepper, became) => {
                    let state = stepper.state();
                    self.watch.take_back(events, became, (state.t, &state.x, &self.xdot));
                    continue;
                }
                None => {}
            }
            stepper.inside(became.t, &mut self.x);
            stepper.segment().derivative(became.t, &mut self.xdot);
            seen.add(event, became.t, &self.x, &self.xdot);
        }
        seen.stop = stop;
        self.note(events);
        Ok(seen)
    }

    /// Newton's method from a zero on the polynomial, with values inside the step and the slope of the polynomial. False if the zero lies behind
    /// the step: the polynomial deviates from the solution, and only it falls through zero here.
    fn correct(&mut self, events: &[EventOf], stepper: &mut dyn Stepper, became: &mut Became) -> bool {
        let (t0, t1) = (stepper.segment().t0, stepper.segment().t1);
        let h = t1 - t0;
        let rounding = 100.0 * f64::EPSILON * (t0.abs() + h);
        let (watch, x, xdot) = (&self.watch, &mut self.x, &mut self.xdot);
        for _ in 0..MOST_CORRECTIONS {
            if became.jumps {
                return true;
            }
            let mut t = became.t;
            stepper.inside(t, x);
            stepper.segment().derivative(t, xdot);
            let value = watch.towards(events, became, t, x, xdot);
            let width = 1e-3 * h;
            let [before, behind] = [(t - width).max(t0), (t + width).min(t1)].map(|t| {
                stepper.segment().eval(t, x);
                stepper.segment().derivative(t, xdot);
                (t, watch.towards(events, became, t, x, xdot))
            });
            let shift = -value * (behind.0 - before.0) / (behind.1 - before.1);
            // a function that only touches zero has no slope there
            if !(shift.abs() > rounding && shift.abs() < 0.1 * h) {
                return true;
            }
            if t + shift > t1 {
                stepper.segment().derivative(t1, xdot);
                if watch.towards(events, became, t1, &stepper.state().x, xdot) > 0.0 {
                    return false;
                }
            }
            t = (t + shift).clamp(t0, t1);
            became.t = t;
        }
        true
    }

    /// Make the last step end at an event that was found on its polynomial. Its time; none if the step had to end before.
    fn end_at(
        &mut self,
        events: &[EventOf],
        stepper: &mut dyn Stepper,
        became: &Became,
    ) -> Result<Option<f64>, StepFailure> {
        let (t0, t1) = (stepper.segment().t0, stepper.segment().t1);
        let (mut t, h) = (became.t, t1 - t0);
        let rounding = 100.0 * f64::EPSILON * (t0.abs() + h);
        // no step is as short as rounding
        if t >= t1 - rounding || t <= t0 + 1e3 * rounding {
            return Ok(Some(t));
        }
        let (watch, x, xdot) = (&self.watch, &mut self.x, &mut self.xdot);
        for _ in 0..MOST_REPETITIONS {
            if !stepper.retake(t)? {
                return Ok(Some(t));
            }
            if stepper.state().t < t {
                return Ok(None);
            }
            if became.jumps {
                break;
            }
            // Newton's method for the function at the end of the step
            let width = 1e-3 * (t - t0);
            stepper.segment().derivative(t, xdot);
            let value = watch.towards(events, became, t, &stepper.state().x, xdot);
            // the slope is that of the polynomial, whose end may be less accurate than the state
            let mut on_polynomial = |t: f64| {
                stepper.segment().eval(t, x);
                stepper.segment().derivative(t, xdot);
                watch.towards(events, became, t, x, xdot)
            };
            let shift = -value * width / (on_polynomial(t) - on_polynomial(t - width));
            // a function that only touches zero has no slope there
            if !(shift.abs() > rounding && shift.abs() < 0.1 * h && t + shift > t0) {
                break;
            }
            // the polynomial deviates from the solution, which reaches zero behind the step
            if t + shift > t1 + rounding {
                return Ok(None);
            }
            t = (t + shift).min(t1);
        }
        Ok(Some(stepper.state().t))
    }
}

impl Seen {
    fn add(&mut self, event: &Event, t: f64, x: &[f64], xdot: &[f64]) {
        let Event { name, action, .. } = event;
        let (x, xdot) = (x.to_vec(), xdot.to_vec());
        self.happened.push(Happened { name: name.clone(), t, x, xdot, action: *action });
        if *action == Action::Stop {
            self.stop = Some(t);
        }
    }

    /// Name of the event that stops.
    pub fn stopped_by(&self) -> Option<String> {
        self.stop.and(self.happened.iter().rfind(|event| event.action == Action::Stop)).map(|event| event.name.clone())
    }
}

fn without_value(events: &[EventOf], none: NoValue) -> StepFailure {
    StepFailure::EventUndefined { t: none.t, event: events[none.exit].name.clone() }
}
