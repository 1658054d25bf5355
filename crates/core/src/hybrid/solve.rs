//! The mode controller: step, look for events, switch, restart.
//!
//! Within a step the equations of the active mode hold even behind an event; the step is then made again up to it. Wunderlich, thesis
//! (2008), 6.4.

use super::error::{HybridError, HybridFailure};
use super::flow::{Entry, Impulses};
use super::history::History;
use super::options::{Detection, HybridOptions, Restart};
use super::place::{Composite, Exit, Place, Reason, Surface, Target, carried, starts};
use super::problem::{Hybrid, Problem};
use super::record::{Record, jumps};
use super::slide::{along, beyond, convex_parameters, generate, opposite, side, surface_function};
use super::solution::{HybridSolution, Smoothness, Switch, SwitchKind, Warning};
use super::transition::Transfer;
use super::watch::{Fired, Here, Watch};
use crate::error::{BadOption, StepFailure};
use crate::motion::Start;
use crate::observer::{Observer, StepView};
use crate::options::Options;
use crate::solution::Ended;
use crate::solve::check_times;
use crate::tolerance::Tolerance;
use std::collections::HashMap;

/// Where an observer stands: the mode that is active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveMode {
    /// Its place in [`HybridSolution::modes`].
    pub mode: usize,
    /// Its name.
    pub name: String,
}

/// Times are found to this part of the tolerance, relative to time and step size.
const EXACT: f64 = 1e-4;
/// Most repetitions of a step until it ends at an event.
const MOST_REPETITIONS: u32 = 5;
/// Sliding begins if the convex parameters lie in [0, 1] up to this.
const ROUNDED: f64 = 1e-6;
/// Part of the interval at which an accumulation is cut short.
const ACCUMULATED: f64 = 1e-8;
/// Modes that messages show of a cycle.
const SHOWN: usize = 6;

/// Solve a hybrid problem.
///
/// ```
/// use daedal::dae::Equations;
/// use daedal::hybrid::{Hybrid, HybridOptions, Mode, Problem, Transition, solve};
/// use daedal::scalar::Scalar;
/// use daedal::Options;
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
/// let problem = Problem::new(&system, flying, 0.0, &[1.0, 0.0], 1.0);
/// let solution = solve(&problem, &Options::default(), &HybridOptions::default())?;
/// // the fall takes √(2/9.81)
/// assert!((solution.switches[0].t - 0.4515236409857309).abs() < 1e-9);
/// # Ok::<(), daedal::hybrid::HybridError>(())
/// ```
pub fn solve(problem: &Problem, options: &Options, hybrid: &HybridOptions) -> Result<HybridSolution, HybridError> {
    solve_observed(problem, options, hybrid, &mut [])
}

/// Solve a hybrid problem while observers look on.
pub fn solve_observed(
    problem: &Problem,
    options: &Options,
    hybrid: &HybridOptions,
    observers: &mut [&mut dyn Observer<ActiveMode>],
) -> Result<HybridSolution, HybridError> {
    check_times(problem.t0, problem.tend, &options.save)?;
    hybrid.check()?;
    problem.system.check(problem.mode)?;
    let Tolerance::Uniform { rtol, atol } = options.tolerance else {
        return Err(HybridError::System(
            "modes may have different unknowns: give one tolerance for all instead of one for each".into(),
        ));
    };
    let system = problem.system;
    let mut run = Run {
        system,
        options,
        hybrid,
        tolerances: (rtol, atol),
        interval: (problem.t0, problem.tend),
        places: (0..system.modes.len()).map(|k| Place::given(system, k)).collect(),
        generated: HashMap::new(),
        opposites: HashMap::new(),
        active: problem.mode,
        watch: Watch::default(),
        entered: problem.t0,
        immediate: Vec::new(),
        history: History::new(system.transitions.len()),
        record: Record::new(&options.save, problem.t0),
        x: Vec::new(),
        xdot: Vec::new(),
        warned: Vec::new(),
    };
    let outcome = run.begin(problem).and_then(|()| run.advance(observers));
    let Run { record, places, .. } = run;
    match outcome {
        Ok(ended) => Ok(record.finish(&places, ended)),
        Err(cause) => {
            let partial = Box::new(record.finish(&places, Ended::ByFailure));
            Err(HybridError::Stopped { cause, partial })
        }
    }
}

impl HybridOptions {
    fn check(&self) -> Result<(), BadOption> {
        BadOption::positive("chatter_time", self.chatter_time)?;
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
            for mode in [Some(transition.from), Some(transition.to), transition.after_accumulation].into_iter().flatten()
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
    /// transitions with their opposites and the width between them
    opposites: HashMap<usize, Option<(usize, f64)>>,
    active: usize,
    watch: Watch,
    /// when the active mode was entered
    entered: f64,
    /// modes that were entered since time last went on
    immediate: Vec<usize>,
    history: History,
    record: Record,
    /// state and derivative at an event
    x: Vec<f64>,
    xdot: Vec<f64>,
    /// modes whose chattering was told
    warned: Vec<(usize, usize)>,
}

/// What a switch does with the state.
struct Change<'h> {
    transition: Option<usize>,
    transfer: Option<&'h Transfer<'h>>,
    restart: Option<Restart>,
    keep: &'h [String],
    kind: SwitchKind,
    condition: String,
}

impl<'h> Run<'_, 'h> {
    fn name(&self, place: usize) -> String {
        self.places[place].name.clone()
    }

    fn begin(&mut self, problem: &Problem) -> Result<(), HybridFailure> {
        let (place, t) = (&self.places[self.active], problem.t0);
        let keep = place.keep().to_vec();
        let mut start = problem.start.clone();
        for (start, name) in start.iter_mut().zip(&place.unknowns) {
            if let Start::Guess(x) = start
                && keep.contains(name)
            {
                *start = Start::Fixed(*x);
            }
        }
        let entry = Entry { t, start, restart: problem.restart };
        let entered = self.places[self.active].enter(&entry, self.options);
        let mode = self.name(self.active);
        entered.map_err(|cause| HybridFailure::Enter { t, mode, from: None, cause })?;
        let place = &mut self.places[self.active];
        let unknowns = place.unknowns.len();
        self.record.begin(self.active, t, &place.at().state().x, unknowns);
        self.look_around(&[], None)
    }

    /// Look at the conditions where a mode was entered; those that hold are followed at once.
    fn look_around(&mut self, held: &[usize], mut cause: Option<usize>) -> Result<(), HybridFailure> {
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
                return Ok(());
            }
            let place = &self.places[self.active];
            let due = self.watch.true_exits(&place.exits[..]);
            if due.is_empty() {
                return Ok(());
            }
            let count = self.immediate.len() as u32;
            if count > self.hybrid.max_immediate {
                let cycle = self.immediate.iter().rev().take(SHOWN).rev().map(|&k| self.name(k)).collect();
                return Err(HybridFailure::EndlessSwitching { t, count, cycle });
            }
            // the first switch at this time was told by its cause
            let kind = if cause.take().is_none() { SwitchKind::Immediate } else { SwitchKind::Regular };
            held = self.switch(&due, t, kind)?;
        }
    }

    /// State and derivative of the active mode.
    fn read_state(&mut self) {
        let stepper = self.places[self.active].stepper();
        self.x.clear();
        self.x.extend_from_slice(&stepper.state().x);
        self.xdot.resize(self.x.len(), 0.0);
        stepper.rates(&mut self.xdot);
    }

    fn start_watching(&mut self, held: &[usize]) -> Result<(), HybridFailure> {
        let (rtol, atol) = self.tolerances;
        let scales: Vec<f64> = self.x.iter().map(|x| rtol * x.abs() + atol).collect();
        let place = &self.places[self.active];
        let t = place.at().state().t;
        let here = Here { t, x: &self.x, xdot: &self.xdot, scales: &scales, probe: self.hybrid.probe };
        let started = self.watch.start(&place.exits[..], here, held);
        started.map_err(|none| HybridFailure::Undefined {
            t: none.t,
            mode: place.name.clone(),
            condition: place.exits[none.exit].name(),
        })
    }

    /// Must the mode not be left yet?
    fn dwells(&self, t: f64) -> bool {
        let dwell = self.places[self.active].dwell();
        dwell > 0.0 && t < self.entered + dwell
    }

    /// The next time at which something happens that is known beforehand.
    fn limit(&self, t: f64) -> f64 {
        let place = &self.places[self.active];
        let mut limit = self.interval.1;
        if self.dwells(t) {
            return limit.min(self.entered + place.dwell());
        }
        for exit in &place.exits {
            if let Reason::Times(schedule) = &exit.reason
                && let Some(next) = schedule.next_after(t)
            {
                limit = limit.min(next);
            }
        }
        limit
    }

    /// Ways out whose time has come.
    fn scheduled(&self, before: f64, t: f64) -> Vec<usize> {
        let exits = self.places[self.active].exits.iter().enumerate();
        let due = |exit: &Exit| matches!(&exit.reason, Reason::Times(schedule) if schedule.next_after(before) == Some(t));
        exits.filter(|(_, exit)| due(exit)).map(|(k, _)| k).collect()
    }

    fn advance(&mut self, observers: &mut [&mut dyn Observer<ActiveMode>]) -> Result<Ended, HybridFailure> {
        let (t0, tend) = self.interval;
        loop {
            let (before, mode) = (self.places[self.active].at().state().t, self.active);
            if before >= tend {
                return Ok(Ended::AtEnd);
            }
            let limit = self.limit(before);
            let dwelling = self.dwells(before);
            let stepped = self.places[mode].stepper().advance(limit);
            if let Err(cause) = stepped {
                return Err(self.failed(cause, before));
            }
            let fired = if dwelling { None } else { self.find()? };
            let proposed = self.places[mode].at().proposed_step();
            let (t, mut due, kind) = match fired {
                None => {
                    let t = self.places[mode].at().state().t;
                    self.read_state();
                    let due = if t >= limit && !dwelling { self.scheduled(before, t) } else { Vec::new() };
                    (t, due, SwitchKind::Scheduled)
                }
                Some(fired) => match self.locate(&fired)? {
                    Some(t) => (t, fired.exits, SwitchKind::Regular),
                    // the step ends before the event now
                    None => {
                        self.read_state();
                        (self.places[mode].at().state().t, Vec::new(), SwitchKind::Regular)
                    }
                },
            };
            if kind == SwitchKind::Regular && !due.is_empty() && t >= limit {
                due.extend(self.scheduled(before, t));
            }
            let residuals = self.places[mode].at().residuals();
            let largest = &mut self.record.solution.max_residuals;
            *largest = largest.max(residuals);
            self.record.step(self.places[mode].at().segment(), t, &self.x);
            if self.observe(observers, t, (t - t0) / (tend - t0)).is_break() {
                return Ok(Ended::ByObserver);
            }
            if !due.is_empty() {
                let held = self.switch(&due, t, kind)?;
                self.places[self.active].stepper().propose(proposed);
                self.look_around(&held, None)?;
            } else if dwelling && !self.dwells(t) {
                // from now on the mode may be left
                self.start_watching(&[])?;
                let due = self.watch.true_exits(&self.places[mode].exits[..]);
                if !due.is_empty() {
                    let held = self.switch(&due, t, SwitchKind::Regular)?;
                    self.look_around(&held, None)?;
                }
            }
        }
    }

    /// Look through the last step.
    fn find(&mut self) -> Result<Option<Fired>, HybridFailure> {
        let place = &self.places[self.active];
        let length = self.interval.1 - self.interval.0;
        self.watch.find(&place.exits[..], place.at().segment(), length).map_err(|none| HybridFailure::Undefined {
            t: none.t,
            mode: place.name.clone(),
            condition: place.exits[none.exit].name(),
        })
    }

    /// A step could not be made; what stands of it is kept.
    fn failed(&mut self, cause: StepFailure, before: f64) -> HybridFailure {
        let mode = self.name(self.active);
        let t = self.places[self.active].at().state().t;
        if t > before {
            self.read_state();
            self.record.step(self.places[self.active].at().segment(), t, &self.x);
        }
        HybridFailure::Step { mode, cause }
    }

    /// Make the last step end at an event. Its time, with state and derivative in `x` and `xdot`; none if the step had to be shorter.
    fn locate(&mut self, fired: &Fired) -> Result<Option<f64>, HybridFailure> {
        let place = &mut self.places[self.active];
        let segment = place.at().segment();
        let (t0, t1) = (segment.t0, segment.t1);
        let h = t1 - t0;
        let rounding = self.hybrid.time_tolerance.unwrap_or(100.0 * f64::EPSILON * (t0.abs() + h));
        let exact = rounding.max(EXACT * self.tolerances.0 * t0.abs().max(h));
        let mut t = fired.t;
        self.x.resize(segment.dim(), 0.0);
        self.xdot.resize(segment.dim(), 0.0);
        if t >= t1 - rounding {
            self.read_state();
            return Ok(Some(t1));
        }
        if t - t0 <= 1e3 * rounding {
            // no step is this short; the polynomial is exact so close to its begin
            segment.eval(t, &mut self.x);
            segment.derivative(t, &mut self.xdot);
            return Ok(Some(t));
        }
        for _ in 0..MOST_REPETITIONS {
            let place = &mut self.places[self.active];
            match place.stepper().retake(t) {
                Ok(true) if place.at().state().t == t => {}
                Ok(true) => return Ok(None),
                Ok(false) => {
                    let segment = place.at().segment();
                    segment.eval(t, &mut self.x);
                    segment.derivative(t, &mut self.xdot);
                    return Ok(Some(t));
                }
                Err(cause) => return Err(self.failed(cause, t0)),
            }
            let exits = &place.exits[..];
            let segment = place.at().segment();
            let (near, width) = (place.at().state(), 1e-3 * (t - t0));
            self.x.copy_from_slice(&near.x);
            segment.derivative(t, &mut self.xdot);
            let g = self.watch.turned_at(exits, fired.function, t, &self.x, &self.xdot);
            segment.eval(t - width, &mut self.x);
            segment.derivative(t - width, &mut self.xdot);
            let slope = (g - self.watch.turned_at(exits, fired.function, t - width, &self.x, &self.xdot)) / width;
            let shift = -g / slope;
            // a function that only touches zero has no slope there
            if !(shift.abs() > exact && shift.abs() < 0.1 * h) {
                break;
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

    fn observe(
        &mut self,
        observers: &mut [&mut dyn Observer<ActiveMode>],
        t: f64,
        progress: f64,
    ) -> std::ops::ControlFlow<()> {
        if observers.is_empty() {
            return std::ops::ControlFlow::Continue(());
        }
        let place = &self.places[self.active];
        let layout = ActiveMode { mode: self.active, name: place.name.clone() };
        let all = self.places.iter().filter_map(|place| place.stepper.as_ref()).map(|stepper| stepper.statistics());
        let statistics = all.fold(crate::statistics::Statistics::default(), crate::statistics::Statistics::plus);
        let view = StepView {
            t,
            x: &self.x,
            segment: place.at().segment(),
            layout: &layout,
            statistics: &statistics,
            residuals: place.at().residuals(),
            progress,
        };
        for observer in observers.iter_mut() {
            observer.observe(&view)?;
        }
        std::ops::ControlFlow::Continue(())
    }

    /// Which of several ways out is taken.
    fn choose(&self, due: &[usize], t: f64) -> Result<usize, HybridFailure> {
        let exits = &self.places[self.active].exits;
        let most = due.iter().map(|&k| exits[k].priority).max().flatten();
        let first: Vec<usize> = due.iter().copied().filter(|&k| exits[k].priority == most).collect();
        let plain = |k: usize| {
            let changes = exits[k].transition.is_some_and(|j| self.system.transitions[j].transfer.is_some());
            !changes && exits[k].to == exits[first[0]].to
        };
        if first.len() == 1 || first.iter().all(|&k| plain(k)) {
            return Ok(first[0]);
        }
        let transitions = first.iter().map(|&k| {
            let to = match &exits[k].to {
                Target::Mode(mode) => self.name(*mode),
                Target::Side { .. } => "the end of sliding".into(),
                Target::Across(_) => "another surface".into(),
            };
            format!("`{}` → `{to}`", exits[k].name())
        });
        let transitions = transitions.collect();
        Err(HybridFailure::Ambiguous { t, mode: self.name(self.active), transitions })
    }

    /// Leave the active mode at time t with the state in `x`. Returns ways out of the new mode whose functions are zero because sliding along
    /// them has ended.
    fn switch(&mut self, due: &[usize], t: f64, kind: SwitchKind) -> Result<Vec<usize>, HybridFailure> {
        let count = self.record.solution.switches.len() as u64;
        if count >= self.hybrid.max_switches {
            let last = self.record.solution.switches.last();
            let modes = last.map(|s| vec![self.name(s.from), self.name(s.to)]).unwrap_or_default();
            return Err(HybridFailure::TooManySwitches { t, count, modes });
        }
        let chosen = self.choose(due, t)?;
        let exit = &self.places[self.active].exits[chosen];
        let (condition, to, transition) = (exit.name(), exit.to.clone(), exit.transition);
        let kind = match exit.reason {
            Reason::Times(_) => SwitchKind::Scheduled,
            _ if kind == SwitchKind::Scheduled => SwitchKind::Regular,
            _ => kind,
        };
        match to {
            Target::Mode(to) => self.follow(transition, to, t, kind, condition, chosen).map(|()| Vec::new()),
            Target::Side { surface, side } => self.leave_surface(surface, side, t, condition),
            Target::Across(transitions) => self.cross_while_sliding(&transitions, t, condition).map(|()| Vec::new()),
        }
    }

    /// A transition of the system.
    fn follow(
        &mut self,
        transition: Option<usize>,
        to: usize,
        t: f64,
        kind: SwitchKind,
        condition: String,
        exit: usize,
    ) -> Result<(), HybridFailure> {
        let from = self.active;
        let described = transition.map(|j| &self.system.transitions[j]);
        let transfer = described.and_then(|t| t.transfer.as_ref());
        let restart = described.and_then(|t| t.restart);
        let keep: &[String] = described.map_or(&[], |t| &t.keep);
        let mut change = Change { transition, transfer, restart, keep, kind, condition };
        let chattering = match kind {
            SwitchKind::Regular => self.history.switched(t, transition, self.hybrid.chatter_time),
            _ => false,
        };
        // infinitely many in finite time?
        if let Some(j) = transition
            && kind == SwitchKind::Regular
            && let Some(accumulation) = self.history.accumulation(j)
        {
            let length = self.interval.1 - self.interval.0;
            let near = accumulation.limit - t <= ACCUMULATED * length.max(t.abs());
            if near || self.watch.stays_near_zero(exit, 100.0) {
                let Some(follower) = self.system.transitions[j].after_accumulation else {
                    let (limit, count, ratio) = (accumulation.limit, accumulation.count, accumulation.ratio);
                    return Err(HybridFailure::Accumulation { t, limit, count, ratio, condition: change.condition });
                };
                change.kind = SwitchKind::Accumulation;
                self.history.forget();
                return self.enter(follower, t, &change, chattering).map(|_| ());
            }
        }
        let before = (self.x.clone(), self.xdot.clone());
        let candidate = match (transition, kind) {
            (Some(j), SwitchKind::Regular | SwitchKind::Immediate) => self.sliding_candidate(j, t, chattering),
            _ => None,
        };
        let impulses = self.place(to, t, &change)?;
        if let Some(width) = candidate
            && let Some(j) = transition
            && self.slides(j, to, &before, chattering)
            && self.begin_sliding(from, j, to, width, t, &before, chattering, &change.condition)?
        {
            return Ok(());
        }
        (self.x, self.xdot) = before;
        if self.places[to].at().state().t != t || candidate.is_some() {
            // the attempt to slide has moved something
            self.place(to, t, &change)?;
        }
        self.told(to, t, &change, chattering, impulses);
        Ok(())
    }

    /// Is there an opposite transition, so that the system might slide? The width of the hysteresis between them.
    fn sliding_candidate(&mut self, j: usize, t: f64, chattering: bool) -> Option<f64> {
        match self.hybrid.detection {
            Detection::Off => return None,
            Detection::ThreePoints if !chattering => return None,
            _ => {}
        }
        let opposite = match self.opposites.get(&j) {
            Some(known) => *known,
            None => {
                let found = opposite(self.system, &self.places, j, (t, &self.x));
                self.opposites.insert(j, found);
                found
            }
        };
        let (_, width) = opposite?;
        // only on the surface itself: an immediate transition may happen far from it
        let g = surface_function(self.system, j)?;
        let value = (g.value)(t, &self.x, &self.xdot) + self.system.transitions[j].hysteresis;
        let (rtol, atol) = self.tolerances;
        let scales = self.x.iter().map(|x| rtol * x.abs() + atol).sum::<f64>();
        let near = 100.0 * scales + width + 2.0 * self.system.transitions[j].hysteresis;
        (value.abs() <= near).then_some(width)
    }

    /// Do the solutions on both sides of the surface lead to it? The active mode stands before the switch, the other one has been entered.
    fn slides(&mut self, j: usize, to: usize, before: &(Vec<f64>, Vec<f64>), chattering: bool) -> bool {
        if self.hybrid.detection == Detection::ThreePoints {
            return true;
        }
        let back = self.opposites.get(&j).copied().flatten();
        let (Some(g), Some((back, _))) = (surface_function(self.system, j), back) else { return false };
        let Some(g_back) = surface_function(self.system, back) else { return false };
        let probe = self.hybrid.probe;
        let stepper = self.places[to].stepper();
        let (t, y) = (stepper.state().t, stepper.state().x.clone());
        let mut ydot = vec![0.0; y.len()];
        stepper.rates(&mut ydot);
        let here = along(g, t, &before.0, &before.1, probe);
        // both derivatives of the same function
        let beyond = -along(g_back, t, &y, &ydot, probe);
        (here < 0.0 && beyond > 0.0) || (chattering && self.hybrid.detection == Detection::Both && beyond >= 0.0)
    }

    /// Slide between two modes, if that is possible. The state stays as it was if not.
    #[expect(clippy::too_many_arguments)]
    fn begin_sliding(
        &mut self,
        from: usize,
        j: usize,
        to: usize,
        width: f64,
        t: f64,
        before: &(Vec<f64>, Vec<f64>),
        chattering: bool,
        condition: &str,
    ) -> Result<bool, HybridFailure> {
        (self.x, self.xdot).clone_from(before);
        let pair = |sliding: &&super::problem::SlidingMode| {
            sliding.between == (from, to) || sliding.between == (to, from)
        };
        let written = self.system.sliding.iter().find(pair);
        let place = match written {
            Some(sliding) => Some(sliding.mode),
            None => {
                let offset = 0.5 * width;
                let surfaces = vec![Surface { transition: j, offset }];
                self.generated(&Composite { vertices: vec![from, to], surfaces }, t, chattering)
            }
        };
        let Some(place) = place else { return Ok(false) };
        let change = Change {
            transition: None,
            transfer: written.and_then(|sliding| sliding.transfer.as_ref()),
            restart: None,
            keep: &[],
            kind: SwitchKind::SlidingBegins,
            condition: condition.to_string(),
        };
        self.try_sliding(place, t, &change, chattering)
    }

    /// Enter a mode for sliding; false if it would be left at once.
    fn try_sliding(
        &mut self,
        place: usize,
        t: f64,
        change: &Change<'h>,
        chattering: bool,
    ) -> Result<bool, HybridFailure> {
        let Ok(impulses) = self.place(place, t, change) else { return Ok(false) };
        let state = self.places[place].at().state().x.clone();
        let sliding = match &self.places[place].composite {
            Some(composite) => convex_parameters(composite.surfaces.len()).iter().all(|alpha| {
                let j = self.places[place].unknowns.iter().position(|name| name == alpha);
                j.is_some_and(|j| state[j] >= -ROUNDED && state[j] <= 1.0 + ROUNDED)
            }),
            None => {
                // a mode that was written by hand tells with its own transitions
                let active = std::mem::replace(&mut self.active, place);
                let kept = (std::mem::take(&mut self.x), std::mem::take(&mut self.xdot));
                self.read_state();
                let watching = self.start_watching(&[]);
                let left = self.watch.true_exits(&self.places[place].exits[..]);
                self.active = active;
                (self.x, self.xdot) = kept;
                watching.is_ok() && left.is_empty()
            }
        };
        if sliding {
            self.told(place, t, change, chattering, impulses);
            self.history.forget();
        }
        Ok(sliding)
    }

    /// The generated mode for sliding between modes, made when it is first needed.
    fn generated(&mut self, composite: &Composite, t: f64, chattering: bool) -> Option<usize> {
        if let Some(known) = self.generated.get(&composite.vertices) {
            return *known;
        }
        let made = generate(self.system, &self.places, composite, self.hybrid.combination);
        let place = match made {
            Ok(place) => {
                self.places.push(place);
                Some(self.places.len() - 1)
            }
            Err(reason) => {
                let names: Vec<String> = composite.vertices.iter().map(|&k| format!("`{}`", self.name(k))).collect();
                let message = format!("between {} nothing slides: {reason}", names.join(" and "));
                self.record.solution.warnings.push(Warning { t, message });
                None
            }
        };
        let _ = chattering;
        self.generated.insert(composite.vertices.clone(), place);
        place
    }

    /// Sliding along a surface ends on one of its sides.
    fn leave_surface(
        &mut self,
        surface: usize,
        which: usize,
        t: f64,
        condition: String,
    ) -> Result<Vec<usize>, HybridFailure> {
        let Some(composite) = self.places[self.active].composite.clone() else { return Ok(Vec::new()) };
        let rest = side(self.system, &composite, surface, which);
        let kind = SwitchKind::SlidingEnds;
        let change = Change { transition: None, transfer: None, restart: None, keep: &[], kind, condition };
        let rest = rest.unwrap_or(Composite { vertices: vec![composite.vertices[which << surface]], surfaces: Vec::new() });
        let to = if rest.vertices.len() == 1 {
            rest.vertices[0]
        } else {
            self.generated(&rest, t, false).unwrap_or(rest.vertices[0])
        };
        self.enter(to, t, &change, false)?;
        self.history.forget();
        // the surface that was left is not met again by rounding
        let across: Vec<usize> = composite.vertices.clone();
        let exits = self.places[to].exits.iter().enumerate();
        let held = exits.filter(|(_, exit)| match &exit.to {
            Target::Mode(mode) => across.contains(mode),
            Target::Across(all) => all.iter().any(|&j| across.contains(&self.system.transitions[j].to)),
            Target::Side { .. } => false,
        });
        Ok(held.map(|(k, _)| k).collect())
    }

    /// Another surface is met while sliding: cross it, or slide along both.
    fn cross_while_sliding(&mut self, transitions: &[usize], t: f64, condition: String) -> Result<(), HybridFailure> {
        let Some(composite) = self.places[self.active].composite.clone() else { return Ok(()) };
        let first = transitions[0];
        let kind = SwitchKind::Regular;
        let change = Change { transition: Some(first), transfer: None, restart: None, keep: &[], kind, condition };
        let targets: Vec<usize> = transitions.iter().map(|&j| self.system.transitions[j].to).collect();
        let same = targets.iter().all(|to| *to == targets[0]);
        let before = (self.x.clone(), self.xdot.clone());
        let unknowns = self.places[self.active].unknowns.clone();
        let chattering = self.history.switched(t, Some(first), self.hybrid.chatter_time);
        let other = if same { None } else { beyond(self.system, &composite, transitions) };
        let place = other.as_ref().and_then(|other| self.generated(other, t, chattering));
        let (Some(other), Some(place)) = (other, place) else {
            return self.enter(targets[0], t, &change, chattering).map(|_| ());
        };
        let impulses = self.place(place, t, &change)?;
        // where do the sliding solutions on both sides lead?
        let both = surface_function(self.system, first).is_some_and(|g| {
            let names = &self.places[composite.vertices[0]].unknowns;
            let probe = self.hybrid.probe;
            let rate = |x: &[f64], xdot: &[f64], unknowns: &[String]| {
                let zero = |v: Vec<f64>| v.into_iter().map(|v| if v.is_nan() { 0.0 } else { v }).collect::<Vec<f64>>();
                let (x, xdot) = (zero(carried(x, unknowns, names)), zero(carried(xdot, unknowns, names)));
                along(g, t, &x, &xdot, probe)
            };
            let here = rate(&before.0, &before.1, &unknowns);
            let names_beyond = self.places[place].unknowns.clone();
            let stepper = self.places[place].stepper();
            let y = stepper.state().x.clone();
            let mut ydot = vec![0.0; y.len()];
            stepper.rates(&mut ydot);
            let names = &self.places[composite.vertices[0]].unknowns;
            let zero = |v: Vec<f64>| v.into_iter().map(|v| if v.is_nan() { 0.0 } else { v }).collect::<Vec<f64>>();
            let (y, ydot) = (zero(carried(&y, &names_beyond, names)), zero(carried(&ydot, &names_beyond, names)));
            here < 0.0 && along(g, t, &y, &ydot, probe) > 0.0
        });
        (self.x, self.xdot) = before;
        if both && self.hybrid.detection != Detection::Off {
            let vertices = [&composite.vertices[..], &other.vertices].concat();
            let mut surfaces = composite.surfaces.clone();
            surfaces.push(Surface { transition: first, offset: 0.0 });
            if let Some(corner) = self.generated(&Composite { vertices, surfaces }, t, chattering) {
                let change = Change { kind: SwitchKind::SlidingBegins, condition: change.condition.clone(), ..change };
                if self.try_sliding(corner, t, &change, chattering)? {
                    return Ok(());
                }
            }
            self.place(place, t, &change)?;
        }
        self.told(place, t, &change, chattering, impulses);
        Ok(())
    }

    /// Enter a mode and tell about it.
    fn enter(&mut self, to: usize, t: f64, change: &Change<'h>, chattering: bool) -> Result<(), HybridFailure> {
        let impulses = self.place(to, t, change)?;
        self.told(to, t, change, chattering, impulses);
        Ok(())
    }

    /// Put the stepper of a mode to the state in `x` of the active mode, changed and made consistent.
    fn place(&mut self, to: usize, t: f64, change: &Change<'h>) -> Result<Impulses, HybridFailure> {
        let (old, new) = (&self.places[self.active], &self.places[to]);
        let mut y = carried(&self.x, &old.unknowns, &new.unknowns);
        if let Some(transfer) = change.transfer {
            let known: Vec<bool> = y.iter().map(|y| !y.is_nan()).collect();
            transfer(t, &self.x, &self.xdot, &mut y);
            let wrong = (0..y.len()).find(|&j| y[j].is_infinite() || (y[j].is_nan() && known[j]));
            if let Some(j) = wrong {
                return Err(HybridFailure::Transfer {
                    t,
                    from: old.name.clone(),
                    to: new.name.clone(),
                    condition: change.condition.clone(),
                    name: new.unknowns[j].clone(),
                    value: y[j],
                });
            }
        }
        let from = Some((old.name.clone(), change.condition.clone()));
        let mode = new.name.clone();
        let restart = Some(change.restart.unwrap_or(new.restart()));
        let entered = starts(&y, &new.unknowns, &[new.keep(), change.keep])
            .map(|start| Entry { t, start, restart })
            .and_then(|entry| self.places[to].enter(&entry, self.options));
        entered.map_err(|cause| HybridFailure::Enter { t, mode, from, cause })
    }

    /// The new mode is active now.
    fn told(&mut self, to: usize, t: f64, change: &Change<'h>, chattering: bool, impulses: Impulses) {
        let from = self.active;
        let (old, new) = (&self.places[from], &self.places[to]);
        let after = new.at().state().x[..new.unknowns.len()].to_vec();
        let before = self.x[..old.unknowns.len()].to_vec();
        let (rtol, atol) = self.tolerances;
        let tolerance = |size: f64| 10.0 * (rtol * size + atol);
        let jumps = jumps((&before, &old.unknowns), (&after, &new.unknowns), tolerance);
        let smoothness = if jumps.is_empty() {
            Smoothness::Smooth
        } else if change.transfer.is_some() {
            Smoothness::Transfer
        } else {
            Smoothness::Restart
        };
        if chattering && !self.warned.contains(&(from.min(to), from.max(to))) {
            self.warned.push((from.min(to), from.max(to)));
            let message = format!("the modes `{}` and `{}` switch in short succession", old.name, new.name);
            self.record.solution.warnings.push(Warning { t, message });
        }
        self.record.solution.switches.push(Switch {
            t,
            from,
            to,
            transition: change.transition,
            condition: change.condition.clone(),
            kind: change.kind,
            smoothness,
            jumps,
            impulses,
            chattering,
            before,
            after,
        });
        self.active = to;
        let place = &self.places[to];
        self.record.begin(to, t, &place.at().state().x, place.unknowns.len());
        self.read_state();
    }
}
