//! The one loop: step, look for events, switch, restart.
//!
//! A run goes through places, equations with a stepper each. Systems with modes have a place for every mode and for every way to slide
//! between them; a system without switches is a system with one mode, which is never left. Within a step the equations of the active place
//! hold even behind an event; the step is then made again up to it. Wunderlich, thesis (2008), 6.4.
//!
//! | file | what |
//! | --- | --- |
//! | `place.rs` | equations with a stepper, ways out, events, times, verifier |
//! | `exit.rs` | when a place is left, and where to |
//! | `rearranged.rs` | unknowns of one place in the order of another |
//! | `course.rs` | what the loop asks of equations beside their stepper |
//! | `ahead.rs` | what is known beforehand: how far a step may go, breaks, schedules |
//! | `events.rs` | events that do not switch |
//! | `look_around.rs` | conditions where a place was entered |
//! | `locate.rs` | steps that end where a place is left |
//! | `switch.rs`, `sliding.rs`, `accumulation.rs` | from one place to another |
//! | `record.rs` | what is kept |
//! | `alone.rs` | systems without modes |

mod accumulation;
mod ahead;
mod alone;
mod course;
mod events;
pub(crate) mod exit;
mod locate;
mod look_around;
pub(crate) mod place;
pub(crate) mod rearranged;
mod record;
mod sliding;
mod switch;

pub(crate) use alone::Alone;
pub use course::Course;
pub(crate) use course::{CourseOfMotion, CourseOfSystem};

use crate::error::StepFailure;
use crate::hybrid::history::{Accumulation, History};
use crate::hybrid::watch::{Fine, Watch};
use crate::hybrid::{ActiveMode, Hybrid, HybridFailure, HybridOptions, HybridSolution, ModeEntry, SwitchKind};
use crate::initial::Initial;
use crate::lookout::Lookout;
use crate::observer::{Observer, StepView};
use crate::options::Options;
use crate::solution::Ended;
use crate::statistics::Statistics;
use ahead::is_reached;
use place::Place;
use record::Record;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// State and derivative.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateAndRate {
    x: Vec<f64>,
    xdot: Vec<f64>,
}

/// A run that is being made.
pub(crate) struct Execution<'r, 'h> {
    system: &'h Hybrid<'h>,
    options: &'r Options,
    hybrid: &'r HybridOptions,
    /// rtol, atol of unknowns that are not named
    tolerances: (f64, f64),
    interval: (f64, f64),
    /// the modes of the system, then generated ones
    places: Vec<Place<'h>>,
    /// places of generated modes by their vertices; none where there is no such mode
    generated: HashMap<Vec<usize>, Option<usize>>,
    /// transitions with their opposites and the width between them, where they were last taken
    opposites: HashMap<usize, Option<(usize, f64)>>,
    /// do formulas say that the width between opposite transitions never changes?
    constant_widths: HashMap<(usize, usize), bool>,
    active: usize,
    watch: Watch,
    /// looks for events that do not switch, where places have some
    lookout: Lookout,
    has_events: bool,
    /// the event that has stopped the run
    stopped: Option<String>,
    /// how closely the transition that accumulates is watched, and where it leads
    fine: Option<(Fine, Accumulation)>,
    /// was the last step that ended at an event made again up to it?
    retaken: bool,
    /// attempts of all places
    attempts: u64,
    /// when the active place was entered
    entered: f64,
    /// places that were entered since time last went on
    immediate: Vec<usize>,
    history: History,
    record: Record,
    /// where the run stands, at an event or at the end of a step: read where the place has ways out, or the run stops
    here: StateAndRate,
    /// what observers see of the active place
    layout: ActiveMode,
    /// what was proposed before the last step
    stride: f64,
    /// pairs of modes that a warning was about
    warned: Vec<(usize, usize)>,
    /// transitions with a time at which their mode must not be left, which was told
    dropped: Vec<usize>,
}

impl<'r, 'h> Execution<'r, 'h> {
    /// Before the first place is entered.
    pub fn new(
        system: &'h Hybrid<'h>,
        places: Vec<Place<'h>>,
        first: usize,
        interval: (f64, f64),
        options: &'r Options,
        hybrid: &'r HybridOptions,
    ) -> Self {
        Execution {
            system,
            options,
            hybrid,
            tolerances: options.tolerance.usual().unwrap_or_default(),
            interval,
            generated: HashMap::new(),
            opposites: HashMap::new(),
            constant_widths: HashMap::new(),
            active: first,
            watch: Watch::default(),
            lookout: Lookout::new(interval.1 - interval.0),
            has_events: places.iter().any(|place| !place.events.is_empty()),
            stopped: None,
            fine: None,
            retaken: false,
            attempts: 0,
            entered: interval.0,
            immediate: Vec::new(),
            history: History::new(system.transitions.len()),
            record: Record::new(&options.save, hybrid.keep_switches, interval.0),
            here: StateAndRate::default(),
            layout: ActiveMode { mode: first, name: places[first].name.clone() },
            stride: 0.0,
            warned: Vec::new(),
            dropped: Vec::new(),
            places,
        }
    }

    fn name(&self, place: usize) -> String {
        self.places[place].name.clone()
    }

    /// Relative and absolute tolerance of an unknown.
    fn tolerance_of(&self, name: &str) -> (f64, f64) {
        self.options.tolerance.of(name).unwrap_or(self.tolerances)
    }

    /// Enter the first mode with what is known at the start.
    pub fn enter_first(&mut self, initial: &Initial) -> Result<(), HybridFailure> {
        let (place, t) = (&mut self.places[self.active], initial.t);
        let given = initial.of_mode(&place.unknowns, place.keep()).map_err(Into::into);
        let entry = given.map(|start| ModeEntry { t, start, restart: initial.restart });
        let entered = entry.and_then(|entry| place.enter(&entry, self.options, self.interval.1));
        let mode = place.name.clone();
        entered.map_err(|cause| HybridFailure::Enter { t, mode, from: None, cause: Box::new(cause) })?;
        let x = &place.at().state().x;
        self.record.begin(self.active, t, x, place.unknowns.len());
        Ok(())
    }

    /// From the first place, which has been entered, to the end.
    pub fn make(&mut self, observers: &mut [&mut dyn Observer<ActiveMode>]) -> Result<Ended, HybridFailure> {
        self.record.solution.max_residuals = self.places[self.active].at().residuals();
        self.look_around(&[])?;
        self.advance(observers)
    }

    /// What was computed.
    pub fn finish(self, ended: Ended, verified: bool) -> HybridSolution {
        let Execution { record, mut places, .. } = self;
        record.finish(&mut places, ended, verified)
    }

    fn advance(&mut self, observers: &mut [&mut dyn Observer<ActiveMode>]) -> Result<Ended, HybridFailure> {
        let (t0, tend) = self.interval;
        loop {
            if let Some(name) = self.stopped.take() {
                return Ok(Ended::AtEvent { name });
            }
            let (before, mode) = (self.places[self.active].at().state().t, self.active);
            if before >= tend {
                return Ok(Ended::AtEnd);
            }
            if self.cross(before)? {
                continue;
            }
            let limit = self.limit(before);
            if is_reached(before, limit) {
                self.skip(before, limit)?;
                continue;
            }
            let dwelling = self.dwells(before);
            self.step(before, limit)?;
            let proposed = self.places[mode].at().proposed_step();
            let event = if dwelling { None } else { self.first_event()? };
            let (mut t, mut due, kind) = match event {
                None => {
                    let t = self.places[mode].at().state().t;
                    if self.has_exits() {
                        self.read_state();
                    }
                    let due = if t >= limit && !self.dwells(t) { self.scheduled(before, t) } else { Vec::new() };
                    (t, due, SwitchKind::Scheduled)
                }
                Some((t, exits)) => (t, exits, SwitchKind::Regular),
            };
            if kind == SwitchKind::Regular && !due.is_empty() && t >= limit {
                due.extend(self.scheduled(before, t));
            }
            if self.find_events(before, &mut t)? {
                due.clear();
            }
            let residuals = self.places[mode].at().residuals();
            let largest = &mut self.record.solution.max_residuals;
            *largest = largest.max(residuals);
            // before the polynomial of the step is exchanged for one that is kept
            self.places[mode].verify(t);
            let seen = self.observe(observers, t, (t - t0) / (tend - t0));
            self.write_down(t);
            if self.stopped.is_some() {
                continue;
            }
            if seen.is_break() {
                return Ok(Ended::ByObserver);
            }
            if dwelling && !self.dwells(t) {
                // from now on the mode may be left
                self.start_watching(&[])?;
                due.extend(self.watch.true_exits(&self.places[mode].exits));
            }
            if !due.is_empty() {
                let held = self.switch(&due, t, kind)?;
                self.places[self.active].stepper().propose(proposed);
                self.look_around(&held)?;
            }
        }
    }

    /// One accepted step. Attempts are limited over all places together.
    fn step(&mut self, before: f64, limit: f64) -> Result<(), HybridFailure> {
        let place = &mut self.places[self.active];
        let earlier = place.at().attempts();
        if let Err(cause) = place.stepper().advance(limit) {
            return Err(self.failed(cause, before));
        }
        self.attempts += place.at().attempts() - earlier;
        let steps = self.options.max_steps;
        if self.attempts > steps {
            let t = place.at().state().t;
            return Err(self.failed(StepFailure::TooManySteps { t, steps }, before));
        }
        Ok(())
    }

    /// Can the active place be left?
    fn has_exits(&self) -> bool {
        !self.places[self.active].exits.is_empty()
    }

    /// Keep the last step, up to t.
    fn write_down(&mut self, t: f64) {
        let own = self.has_exits() || self.stopped.is_some();
        let stepper = self.places[self.active].stepper();
        self.record.step(stepper, t, own.then_some(&self.here.x[..]));
    }

    /// There is no way on from the last step, which stands up to where it fails.
    fn failed(&mut self, cause: StepFailure, before: f64) -> HybridFailure {
        let place = &mut self.places[self.active];
        let end = place.at().state().t;
        if end > before {
            if cause.time() > before && cause.time() < end {
                self.here.x.resize(place.at().state().x.len(), 0.0);
                place.stepper().inside(cause.time(), &mut self.here.x);
                self.record.step(place.stepper(), cause.time(), Some(&self.here.x));
            } else {
                self.record.step(place.stepper(), end, None);
            }
        }
        let suspects = if cause.may_be_a_jump() { place.suspects() } else { None };
        let cause = match suspects {
            Some(suspects) => suspects.explain(place.stepper(), self.entered, cause),
            None => cause,
        };
        HybridFailure::Step { mode: place.name.clone(), cause }
    }

    fn observe(&mut self, observers: &mut [&mut dyn Observer<ActiveMode>], t: f64, progress: f64) -> ControlFlow<()> {
        if observers.is_empty() {
            return ControlFlow::Continue(());
        }
        let place = &self.places[self.active];
        if self.layout.mode != self.active {
            self.layout = ActiveMode { mode: self.active, name: place.name.clone() };
        }
        let all = self.places.iter().filter_map(|place| place.stepper.as_ref()).map(|stepper| stepper.statistics());
        let statistics = all.reduce(Statistics::plus).unwrap_or_default();
        let own = self.has_exits() || self.stopped.is_some();
        let view = StepView {
            t,
            x: if own { &self.here.x } else { &place.at().state().x },
            segment: place.at().segment(),
            layout: &self.layout,
            statistics: &statistics,
            residuals: place.at().residuals(),
            progress,
        };
        // all see the step, whoever ends the run
        let mut ended = false;
        for observer in observers.iter_mut() {
            ended |= observer.observe(&view).is_break();
        }
        if ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
