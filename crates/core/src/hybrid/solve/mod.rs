//! The mode controller: step, look for events, switch, restart.
//!
//! Within a step the equations of the active mode hold even behind an event; the step is then made again up to it. Wunderlich, thesis
//! (2008), 6.4.

mod accumulation;
mod events;
mod locate;
mod sliding;
mod switch;

use super::error::{HybridError, HybridFailure};
use super::flow::Entry;
use super::history::{Accumulation, History};
use super::options::HybridOptions;
use super::place::{Exit, Place};
use super::record::Record;
use super::solution::{HybridSolution, SwitchKind, Warning};
use super::system::Hybrid;
use super::watch::{Fine, Fired, Here, Watch};
use crate::error::{BadOption, StepFailure};
use crate::initial::Initial;
use crate::lookout::Lookout;
use crate::method::State;
use crate::observer::{Observer, StepView};
use crate::options::Options;
use crate::problem::Problem;
use crate::solution::Ended;
use crate::solve::{Solver, check_times};
use crate::statistics::Statistics;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Where an observer stands: the mode that is active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveMode {
    /// Its place in [`HybridSolution::modes`].
    pub mode: usize,
    /// Its name.
    pub name: String,
}

/// Modes that messages show of a cycle.
const SHOWN: usize = 6;
/// Times are the same if they differ by less than this part of what they are added up from: a few roundings, and more than the shortest
/// step of any method.
const SAME_TIME: f64 = 16.0 * f64::EPSILON;

/// ```
/// use daedal::prelude::*;
///
/// /// A ball: height and velocity.
/// struct Ball;
/// impl Equations for Ball {
///     fn dim(&self) -> usize { 2 }
///     fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
///         r[0] = xdot[0] - x[1];
///         r[1] = xdot[1] + 9.81;
///     }
/// }
///
/// let mut system = Hybrid::new();
/// let flying = system.mode(Mode::equations("flying", &Ball));
/// let bounce = Transition::when(flying, flying, "height <= 0", |_, x| x[0]).transfer(|_, old, _, new| new[1] = -0.5 * old[1]);
/// system.transition(bounce);
/// let problem = Problem::new(&system, Initial::new(0.0, &[1.0, 0.0]).in_mode(flying), 1.0);
/// let solution = solve(&problem, &HybridOptions::default(), &Options::default())?;
/// // the fall takes √(2/9.81)
/// assert!((solution.switches[0].t - 0.4515236409857309).abs() < 1e-9);
/// # Ok::<(), daedal::hybrid::HybridError>(())
/// ```
impl<'h> Solver<Hybrid<'h>> for HybridOptions {
    fn solve(
        &self,
        problem: &Problem<Hybrid<'h>>,
        options: &Options,
        observers: &mut [&mut dyn Observer<ActiveMode>],
    ) -> Result<HybridSolution, HybridError> {
        run(problem, options, self, observers)
    }
}

fn run(
    problem: &Problem<Hybrid>,
    options: &Options,
    hybrid: &HybridOptions,
    observers: &mut [&mut dyn Observer<ActiveMode>],
) -> Result<HybridSolution, HybridError> {
    let (t0, mode) = (problem.initial.t, problem.initial.mode);
    if problem.tend < t0 {
        return Err(BadOption::Backward {
            t0,
            tend: problem.tend,
            what: "a system with modes, whose switches do not say where they came from,",
            instead: "solve the equations of one mode without transitions",
        }
        .into());
    }
    if let Some(event) = problem.events.first() {
        let name = &event.name;
        return Err(HybridError::System(format!(
            "the event `{name}` belongs to no mode: give it to modes (`Mode::event`)"
        )));
    }
    check_times(t0, problem.tend, &options.save)?;
    options.check()?;
    let options = &options.over(t0, problem.tend);
    hybrid.check()?;
    problem.system.check(mode)?;
    let Some((rtol, atol)) = options.tolerance.usual() else {
        return Err(HybridError::System(
            "modes may have different unknowns: give one tolerance for all, or tolerances by name, instead of one for each".into(),
        ));
    };
    let system = problem.system;
    let mut run = Run {
        system,
        options,
        hybrid,
        tolerances: (rtol, atol),
        interval: (t0, problem.tend),
        places: (0..system.modes.len()).map(|k| Place::given(system, k)).collect(),
        generated: HashMap::new(),
        opposites: HashMap::new(),
        constant_widths: HashMap::new(),
        active: mode,
        watch: Watch::default(),
        lookout: Lookout::new(problem.tend - t0),
        has_events: system.modes.iter().any(|mode| !mode.events.is_empty()),
        stopped: None,
        fine: None,
        retaken: false,
        attempts: 0,
        entered: t0,
        immediate: Vec::new(),
        history: History::new(system.transitions.len()),
        record: Record::new(&options.save, hybrid.keep_switches, t0),
        here: StateAndRate::default(),
        layout: ActiveMode { mode, name: system.modes[mode].name.clone() },
        stride: 0.0,
        warned: Vec::new(),
        dropped: Vec::new(),
    };
    let outcome = run.begin(&problem.initial).and_then(|()| run.advance(observers));
    let Run { record, mut places, .. } = run;
    match outcome {
        Ok(ended) => Ok(record.finish(&mut places, ended, options.verify)),
        Err(cause) => {
            let partial = Box::new(record.finish(&mut places, Ended::ByFailure, options.verify));
            Err(HybridError::Stopped { cause: Box::new(cause), partial })
        }
    }
}

impl HybridOptions {
    fn check(&self) -> Result<(), BadOption> {
        if let Some(time) = self.chatter_time {
            BadOption::positive("chatter_time", time)?;
        }
        BadOption::positive("probe", self.probe)?;
        if let Some(tolerance) = self.time_tolerance {
            BadOption::positive("time_tolerance", tolerance)?;
        }
        Ok(())
    }
}

impl Hybrid<'_> {
    /// Do all numbers of modes exist?
    fn check(&self, first: usize) -> Result<(), HybridError> {
        let count = self.modes.len();
        let wrong = |what: String, mode: usize| {
            HybridError::System(format!("{what} names mode number {mode}, but there are {count} modes, from 0 on"))
        };
        if first >= count {
            return Err(wrong("the start".into(), first));
        }
        for transition in &self.transitions {
            for mode in
                [Some(transition.from), Some(transition.to), transition.after_accumulation].into_iter().flatten()
            {
                if mode >= count {
                    return Err(wrong(format!("the transition `{}`", transition.name()), mode));
                }
            }
            if !(transition.hysteresis >= 0.0) {
                let name = transition.name();
                return Err(HybridError::System(format!("the hysteresis of `{name}` is negative or not a number")));
            }
        }
        for sliding in &self.sliding {
            for mode in [sliding.between.0, sliding.between.1, sliding.mode] {
                if mode >= count {
                    return Err(wrong("a sliding mode".into(), mode));
                }
            }
        }
        Ok(())
    }
}

/// State and derivative.
#[derive(Clone, Debug, Default)]
struct StateAndRate {
    x: Vec<f64>,
    xdot: Vec<f64>,
}

/// A hybrid run.
struct Run<'r, 'h> {
    system: &'h Hybrid<'h>,
    options: &'r Options,
    hybrid: &'r HybridOptions,
    /// rtol, atol
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
    /// looks for events that do not switch, where modes have some
    lookout: Lookout,
    has_events: bool,
    /// the event that has stopped the run
    stopped: Option<String>,
    /// how closely the transition that accumulates is watched, and where it leads
    fine: Option<(Fine, Accumulation)>,
    /// was the last step that ended at an event made again up to it?
    retaken: bool,
    /// attempts of all modes
    attempts: u64,
    /// when the active mode was entered
    entered: f64,
    /// modes that were entered since time last went on
    immediate: Vec<usize>,
    history: History,
    record: Record,
    /// where the run stands, at an event or at the end of a step
    here: StateAndRate,
    /// what observers see of the active mode
    layout: ActiveMode,
    /// what was proposed before the last step
    stride: f64,
    /// pairs of modes that a warning was about
    warned: Vec<(usize, usize)>,
    /// transitions with a time at which their mode must not be left, which was told
    dropped: Vec<usize>,
}

impl Run<'_, '_> {
    fn name(&self, place: usize) -> String {
        self.places[place].name.clone()
    }

    /// Relative and absolute tolerance of an unknown.
    fn tolerance_of(&self, name: &str) -> (f64, f64) {
        self.options.tolerance.of(name).unwrap_or(self.tolerances)
    }

    fn begin(&mut self, initial: &Initial) -> Result<(), HybridFailure> {
        let (place, t) = (&self.places[self.active], initial.t);
        let start = initial.of_mode(&place.unknowns, place.keep()).map_err(|bad| HybridFailure::Enter {
            t,
            mode: place.name.clone(),
            from: None,
            cause: Box::new(bad.into()),
        })?;
        let entry = Entry { t, start, restart: initial.restart };
        let entered = self.places[self.active].enter(&entry, self.options, self.interval.1);
        let mode = self.name(self.active);
        entered.map_err(|cause| HybridFailure::Enter { t, mode, from: None, cause: Box::new(cause) })?;
        let place = &mut self.places[self.active];
        let unknowns = place.unknowns.len();
        self.record.begin(self.active, t, &place.at().state().x, unknowns);
        self.look_around(&[])
    }

    /// Look at the conditions where a mode was entered; those that hold are followed at once.
    fn look_around(&mut self, held: &[usize]) -> Result<(), HybridFailure> {
        let mut held = held.to_vec();
        loop {
            let place = &mut self.places[self.active];
            let t = place.at().state().t;
            if self.entered != t {
                self.immediate.clear();
                self.entered = t;
            }
            self.immediate.push(self.active);
            self.read_state();
            self.start_watching(&held)?;
            if self.dwells(t) {
                self.tell_dropped(t);
                return self.begin_events();
            }
            let place = &self.places[self.active];
            let due = self.watch.true_exits(&place.exits);
            if due.is_empty() {
                return self.begin_events();
            }
            let count = self.immediate.len() as u32;
            if count > self.hybrid.max_immediate {
                let cycle = self.immediate.iter().rev().take(SHOWN).rev().map(|&k| self.name(k)).collect();
                return Err(HybridFailure::EndlessSwitching { t, count, cycle });
            }
            held = self.switch(&due, t, SwitchKind::Immediate)?;
        }
    }

    /// State and derivative of a mode that was entered.
    fn stand(&mut self, place: usize) -> StateAndRate {
        let stepper = self.places[place].stepper();
        let x = stepper.state().x.clone();
        let mut xdot = vec![0.0; x.len()];
        stepper.rates(&mut xdot);
        StateAndRate { x, xdot }
    }

    /// State and derivative of the active mode.
    fn read_state(&mut self) {
        let stepper = self.places[self.active].stepper();
        self.here.x.clear();
        self.here.x.extend_from_slice(&stepper.state().x);
        self.here.xdot.resize(self.here.x.len(), 0.0);
        stepper.rates(&mut self.here.xdot);
    }

    /// What the tolerances leave open in the state of the active mode.
    fn scales(&self) -> Vec<f64> {
        let unknowns = &self.places[self.active].unknowns;
        let scale = |(j, x): (usize, &f64)| {
            let own = unknowns.get(j).and_then(|name| self.options.tolerance.of(name));
            let (rtol, atol) = own.unwrap_or(self.tolerances);
            rtol * x.abs() + atol
        };
        self.here.x.iter().enumerate().map(scale).collect()
    }

    fn start_watching(&mut self, held: &[usize]) -> Result<(), HybridFailure> {
        let scales = self.scales();
        let place = &self.places[self.active];
        let t = place.at().state().t;
        let (x, xdot, probe, fine) =
            (&self.here.x, &self.here.xdot, self.hybrid.probe, self.fine.map(|(fine, _)| fine));
        let here = Here { t, x, xdot, scales: &scales, probe, fine };
        let started = self.watch.start(&place.exits, here, held);
        started.map_err(|none| HybridFailure::Undefined {
            t: none.t,
            mode: place.name.clone(),
            condition: place.exits[none.exit].name(),
        })
    }

    /// Must the mode not be left yet?
    fn dwells(&self, t: f64) -> bool {
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
    fn tell_dropped(&mut self, t: f64) {
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
    fn limit(&mut self, t: f64) -> f64 {
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
    fn scheduled(&self, before: f64, t: f64) -> Vec<usize> {
        let after = before.max(self.dwell_end().next_down());
        let exits = self.places[self.active].exits.iter().enumerate();
        let due = |exit: &Exit| exit.next_after(after).is_some_and(|time| time <= t);
        exits.filter(|(_, exit)| due(exit)).map(|(k, _)| k).collect()
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
            if limit - before <= SAME_TIME * before.abs() {
                self.skip(before, limit)?;
                continue;
            }
            let dwelling = self.dwells(before);
            let attempts = self.places[mode].at().attempts();
            let stepped = self.places[mode].stepper().advance(limit);
            if let Err(cause) = stepped {
                return Err(self.failed(cause, before));
            }
            self.count(attempts, before)?;
            let proposed = self.places[mode].at().proposed_step();
            let event = if dwelling { None } else { self.first_event()? };
            let (mut t, mut due, kind) = match event {
                None => {
                    let t = self.places[mode].at().state().t;
                    self.read_state();
                    let due = if t >= limit && !self.dwells(t) { self.scheduled(before, t) } else { Vec::new() };
                    (t, due, SwitchKind::Scheduled)
                }
                Some((t, exits)) => (t, exits, SwitchKind::Regular),
            };
            if kind == SwitchKind::Regular && !due.is_empty() && t >= limit {
                due.extend(self.scheduled(before, t));
            }
            if self.find_events(&mut t)? {
                due.clear();
            }
            let residuals = self.places[mode].at().residuals();
            let largest = &mut self.record.solution.max_residuals;
            *largest = largest.max(residuals);
            // before the polynomial of the step is exchanged for one that is kept
            let seen = self.observe(observers, t, (t - t0) / (tend - t0));
            self.record.step(self.places[mode].stepper(), t, &self.here.x);
            self.places[mode].verify(t);
            if seen.is_break() {
                return Ok(Ended::ByObserver);
            }
            if self.stopped.is_some() {
                continue;
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

    /// Attempts are limited over all modes together; `earlier` is how many the active one had made before its last step.
    fn count(&mut self, earlier: u64, before: f64) -> Result<(), HybridFailure> {
        self.attempts += self.places[self.active].at().attempts() - earlier;
        let steps = self.options.max_steps;
        if self.attempts <= steps {
            return Ok(());
        }
        let t = self.places[self.active].at().state().t;
        Err(self.failed(StepFailure::TooManySteps { t, steps }, before))
    }

    /// Go on beyond a time where formulas of the active mode jump, if the run stands there. Switching functions may jump with them.
    fn cross(&mut self, t: f64) -> Result<bool, HybridFailure> {
        let mode = self.active;
        let place = &mut self.places[mode];
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
        let place = &mut self.places[mode];
        if let Err(cause) = place.cross(&crossing, self.options) {
            return Err(self.failed(cause, t));
        }
        self.places[mode].stepper().propose(proposed);
        self.arrive(t, crossing.to)?;
        Ok(true)
    }

    /// Go on to a time that is within rounding of t: no step is so short.
    fn skip(&mut self, t: f64, to: f64) -> Result<(), HybridFailure> {
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

    /// The first event of the last step, which ends there afterwards: its time and the ways out. State and derivative are those of the event.
    fn first_event(&mut self) -> Result<Option<(f64, Vec<usize>)>, HybridFailure> {
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

    /// A step could not be made; what stands of it is kept.
    fn failed(&mut self, cause: StepFailure, before: f64) -> HybridFailure {
        let mode = self.name(self.active);
        let place = &mut self.places[self.active];
        let suspects = if cause.may_be_a_jump() { place.flow().suspects() } else { None };
        let entered = self.entered;
        let cause = match suspects {
            Some(suspects) => suspects.explain(place.stepper(), entered, cause),
            None => cause,
        };
        let t = self.places[self.active].at().state().t;
        if t > before {
            self.read_state();
            self.record.step(self.places[self.active].stepper(), t, &self.here.x);
        }
        HybridFailure::Step { mode, cause }
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
        let statistics = all.fold(Statistics::default(), Statistics::plus);
        let view = StepView {
            t,
            x: &self.here.x,
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
