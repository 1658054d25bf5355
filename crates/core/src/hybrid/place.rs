//! The modes of a run: those of the system, and those that are generated for sliding.

use super::condition::{Condition, SwitchingFunction};
use super::error::EnterError;
use super::flow::{Entered, Entry, Flow, GeneralFlow, Part};
use super::mode::Mode;
use super::options::Restart;
use super::solution::ModeNames;
use super::system::Hybrid;
use super::transition::{Schedule, Trigger};
use crate::error::StepFailure;
use crate::event::Event;
use crate::explicit_time::{Crossing, Timetable};
use crate::graph::{Expr, Graph};
use crate::initial::Start;
use crate::method::Stepper;
use crate::options::Options;
use crate::statistics::Statistics;
use crate::verify::{Verification, Verifier};
use std::cell::RefCell;

/// When a place is left.
pub enum Reason<'h> {
    /// A condition of the system.
    Given(&'h Condition<'h>),
    /// A condition that was made for sliding.
    Made(Condition<'h>),
    /// Given times.
    Times(&'h Schedule),
}

/// Where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A mode of the system, by a transition.
    Mode(usize),
    /// Sliding along one of the surfaces ends on this side.
    Side {
        /// Which surface.
        surface: usize,
        /// 0 or 1.
        side: usize,
    },
    /// The surfaces of the two transitions between which it slides have come apart: they alternate from now on.
    Apart {
        /// Which surface.
        surface: usize,
    },
    /// Another surface is met while sliding: the transitions of all modes that take part.
    Across(Vec<usize>),
}

/// A way out of a place.
pub struct Exit<'h> {
    pub reason: Reason<'h>,
    pub to: Target,
    /// the transition of the system
    pub transition: Option<usize>,
    pub hysteresis: f64,
    pub priority: Option<i32>,
}

impl<'h> Exit<'h> {
    /// Its condition, if it is left by one.
    pub fn condition(&self) -> Option<&Condition<'h>> {
        match &self.reason {
            Reason::Given(condition) => Some(condition),
            Reason::Made(condition) => Some(condition),
            Reason::Times(_) => None,
        }
    }

    /// Its first time after t, if it is left by the clock.
    pub fn next_after(&self, t: f64) -> Option<f64> {
        match &self.reason {
            Reason::Times(schedule) => schedule.next_after(t),
            Reason::Given(_) | Reason::Made(_) => None,
        }
    }

    /// How messages call it.
    pub fn name(&self) -> String {
        match &self.reason {
            Reason::Given(condition) => condition.name.clone(),
            Reason::Made(condition) => condition.name.clone(),
            Reason::Times(Schedule::Times(_)) => "at given times".into(),
            Reason::Times(Schedule::Every { period, .. }) => format!("every {period}"),
        }
    }
}

/// A surface along which a system slides: the transition of the first vertex that crosses it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    pub transition: usize,
    /// the transition back, if the distance between both may change
    pub back: Option<usize>,
    /// the surface is where its function has this value: half of the width of a hysteresis
    pub offset: f64,
}

/// Modes around an intersection of surfaces; bit i of a place in `vertices` tells the side of surface i.
#[derive(Clone, Debug, PartialEq)]
pub struct Composite {
    pub vertices: Vec<usize>,
    pub surfaces: Vec<Sheet>,
}

/// The equations of a place.
pub enum Equations<'h> {
    Given(&'h Mode<'h>),
    Generated(Box<GeneralFlow>),
}

/// A mode of a run.
pub struct Place<'h> {
    pub name: String,
    pub unknowns: Vec<String>,
    /// unknowns that are not told when they jump
    pub bookkeeping: Vec<usize>,
    pub sliding: bool,
    /// the modes between which it slides
    pub between: Vec<usize>,
    pub equations: Equations<'h>,
    pub stepper: Option<Box<dyn Stepper + 'h>>,
    /// what its formulas know about times, and those of the conditions under which it is left
    pub timetable: Option<Timetable>,
    pub condition_times: Option<Timetable>,
    /// an independent look at every step
    pub verifier: Option<Verifier>,
    pub exits: Vec<Exit<'h>>,
    /// events of a generated mode
    pub made_events: Vec<Event<'h>>,
    /// of a generated mode
    pub composite: Option<Composite>,
}

impl<'h> Place<'h> {
    /// A mode of the system.
    pub fn given(system: &'h Hybrid<'h>, k: usize) -> Self {
        let mode = &system.modes[k];
        let exits = system.transitions.iter().enumerate().filter(|(_, transition)| transition.from == k);
        let exits = exits.map(|(j, transition)| Exit {
            reason: match &transition.trigger {
                Trigger::When(condition) => Reason::Given(condition),
                Trigger::At(schedule) => Reason::Times(schedule),
            },
            to: Target::Mode(transition.to),
            transition: Some(j),
            hysteresis: transition.hysteresis,
            priority: transition.priority,
        });
        let unknowns = mode.flow.names();
        let written = system.sliding.iter().find(|sliding| sliding.mode == k);
        Place {
            name: mode.name.clone(),
            bookkeeping: (0..unknowns.len()).filter(|&j| mode.flow.is_bookkeeping(j)).collect(),
            unknowns,
            sliding: written.is_some(),
            between: written.map(|sliding| vec![sliding.between.0, sliding.between.1]).unwrap_or_default(),
            equations: Equations::Given(mode),
            stepper: None,
            timetable: None,
            condition_times: None,
            verifier: None,
            exits: exits.collect(),
            made_events: Vec::new(),
            composite: None,
        }
    }

    /// Make a state consistent and put the stepper there.
    pub fn enter(&mut self, entry: &Entry, options: &Options, tend: f64) -> Result<Entered, EnterError> {
        let first = self.stepper.is_none();
        let entered = self.enter_flow(entry, options)?;
        if first {
            self.timetable = self.flow().timetable((entry.t, tend));
            self.condition_times = self.times_of_conditions((entry.t, tend));
            let system = if options.verify { self.flow().system() } else { None };
            self.verifier = system.map(|system| Verifier::named(&system, &self.unknowns, options, tend - entry.t));
        } else {
            let times = self.timetable.iter_mut().chain(&mut self.condition_times);
            times.for_each(|times| times.begin(entry.t));
        }
        Ok(entered)
    }

    /// What conditions know about times: a pulse in one of them must not lie between steps.
    fn times_of_conditions(&self, interval: (f64, f64)) -> Option<Timetable> {
        let mut graph = Graph::new();
        let t = graph.input("t");
        let x: Vec<Expr> = self.unknowns.iter().map(|name| graph.input(name.clone())).collect();
        let functions = || self.exits.iter().filter_map(Exit::condition).flat_map(|condition| &condition.functions);
        let formulas: Vec<Expr> =
            graph.with(|| functions().filter_map(|g| g.formula.as_ref()).map(|formula| formula(t, &x)).collect());
        Timetable::new(&graph, t, &formulas, interval)
    }

    /// Its equations with the method that solves them.
    pub fn flow(&self) -> &(dyn Flow + 'h) {
        match &self.equations {
            Equations::Given(mode) => &*mode.flow,
            Equations::Generated(flow) => &**flow,
        }
    }

    fn enter_flow(&mut self, entry: &Entry, options: &Options) -> Result<Entered, EnterError> {
        match (&self.equations, &mut self.stepper) {
            (Equations::Given(mode), Some(stepper)) => mode.flow.enter_again(&mut **stepper, entry, options),
            (Equations::Given(mode), stepper) => {
                let (mut new, entered) = mode.flow.enter(entry, options)?;
                new.watch_between();
                *stepper = Some(new);
                Ok(entered)
            }
            (Equations::Generated(flow), Some(stepper)) => flow.enter_again(&mut **stepper, entry, options),
            (Equations::Generated(flow), stepper) => {
                let mut new = flow.start(entry, options)?;
                new.watch_between();
                *stepper = Some(new);
                Ok(Entered::default())
            }
        }
    }

    /// Move the stepper beyond a time where formulas jump.
    pub fn cross(&mut self, crossing: &Crossing, options: &Options) -> Result<(), StepFailure> {
        match (&self.equations, &mut self.stepper) {
            (Equations::Given(mode), Some(stepper)) => mode.flow.cross(&mut **stepper, crossing, options),
            (Equations::Generated(flow), Some(stepper)) => flow.cross(&mut **stepper, crossing, options),
            (_, None) => Ok(()),
        }
    }

    /// Look at the last step, up to a time, with the equations as they were written.
    pub fn verify(&mut self, t: f64) {
        if let (Some(verifier), Some(stepper)) = (&mut self.verifier, &mut self.stepper) {
            verifier.step(&mut **stepper, t);
        }
    }

    /// What that found; modes without formulas are not looked at.
    pub fn verification(&mut self) -> Verification {
        let unchecked = if self.stepper.is_some() { vec!["the equations".to_string()] } else { Vec::new() };
        let found = self.verifier.take().map(Verifier::finish);
        found.unwrap_or_else(|| Verification { unchecked, ..Verification::default() }).of_mode(&self.name)
    }

    /// What kind of unknown it is.
    pub fn part(&self, unknown: usize) -> Part {
        match &self.equations {
            Equations::Given(mode) => mode.flow.part(unknown),
            Equations::Generated(flow) => flow.part(unknown),
        }
    }

    /// How states are made consistent here, unless a transition says otherwise.
    pub fn restart(&self) -> Restart {
        match &self.equations {
            Equations::Given(mode) => mode.restart,
            // the state is put onto the surface by the smallest change
            Equations::Generated(_) => Restart::LeastChange,
        }
    }

    /// Names of unknowns that must not change on entry.
    pub fn keep(&self) -> &[String] {
        match &self.equations {
            Equations::Given(mode) => &mode.keep,
            Equations::Generated(_) => &[],
        }
    }

    /// No way out for this long.
    pub fn dwell(&self) -> f64 {
        match &self.equations {
            Equations::Given(mode) => mode.dwell,
            Equations::Generated(_) => 0.0,
        }
    }

    /// Its stepper, which it has once it was entered.
    pub fn stepper(&mut self) -> &mut (dyn Stepper + 'h) {
        &mut **self.stepper.as_mut().expect("a place that was entered")
    }

    /// The same to look at.
    pub fn at(&self) -> &(dyn Stepper + 'h) {
        &**self.stepper.as_ref().expect("a place that was entered")
    }

    /// Its events that do not switch, and its stepper.
    pub fn watched(&mut self) -> (&[Event<'h>], &mut (dyn Stepper + 'h)) {
        let events = match &self.equations {
            Equations::Given(mode) => &mode.events,
            Equations::Generated(_) => &self.made_events,
        };
        (events, &mut **self.stepper.as_mut().expect("a place that was entered"))
    }

    /// For results.
    pub fn names(&self) -> ModeNames {
        let stepper = self.stepper.as_ref();
        ModeNames {
            name: self.name.clone(),
            unknowns: self.unknowns.clone(),
            sliding: self.sliding,
            between: self.between.clone(),
            decisions: stepper.map(|stepper| stepper.decisions()).unwrap_or_default(),
            statistics: stepper.map_or_else(Statistics::default, |stepper| stepper.statistics()),
            largest: Vec::new(),
            entered: 0,
            time: 0.0,
        }
    }
}

/// Where the names of one list stand in another.
pub fn places_of(names: &[String], among: &[String]) -> Vec<Option<usize>> {
    names.iter().map(|name| among.iter().position(|other| other == name)).collect()
}

/// A switching function of a mode, for a place that orders unknowns in another way.
pub fn rearranged<'h>(function: &'h SwitchingFunction<'h>, places: Vec<Option<usize>>) -> SwitchingFunction<'h> {
    let buffers = RefCell::new((vec![0.0; places.len()], vec![0.0; places.len()]));
    SwitchingFunction {
        name: function.name.clone(),
        value: Box::new(move |t, x, xdot| {
            let (y, ydot) = &mut *buffers.borrow_mut();
            for (k, place) in places.iter().enumerate() {
                (y[k], ydot[k]) = place.map_or((f64::NAN, f64::NAN), |j| (x[j], xdot[j]));
            }
            (function.value)(t, y, ydot)
        }),
        strict: function.strict,
        uses_derivatives: function.uses_derivatives,
        formula: None,
    }
}

/// An event of a mode, for a place that orders unknowns in another way.
pub fn rearranged_event<'h>(event: &'h Event<'h>, places: &[Option<usize>]) -> Event<'h> {
    let Condition { name, functions, logic } = &event.condition;
    let functions = functions.iter().map(|g| rearranged(g, places.to_vec())).collect();
    let condition = Condition { name: name.clone(), functions, logic: logic.clone() };
    Event { name: event.name.clone(), action: event.action, condition, touching: event.touching }
}

/// What is known in a mode from the values of another one with other names; what is new is not a number.
pub fn carried(x: &[f64], names: &[String], wanted: &[String]) -> Vec<f64> {
    places_of(wanted, names).into_iter().map(|place| place.map_or(f64::NAN, |j| x[j])).collect()
}

/// Known values and unknown ones; those that must not change are fixed.
pub fn starts(x: &[f64], names: &[String], keep: &[&[String]]) -> Result<Vec<Start>, EnterError> {
    for name in keep.iter().flat_map(|list| list.iter()) {
        if !names.contains(name) {
            return Err(EnterError::UnknownName { name: name.clone() });
        }
    }
    let start = |(x, name): (&f64, &String)| {
        if x.is_nan() {
            Start::Unknown
        } else if keep.iter().any(|list| list.contains(name)) {
            Start::Fixed(*x)
        } else {
            Start::Guess(*x)
        }
    };
    Ok(x.iter().zip(names).map(start).collect())
}
