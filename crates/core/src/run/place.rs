//! The places of a run: the modes of a system and those that are generated for sliding, or a system alone.

use super::course::Course;
use super::exit::{Composite, Exit, Reason, Target};
use super::rearranged::EventOf;
use crate::error::StepFailure;
use crate::event::Event;
use crate::explicit_time::{Crossing, Suspects, Timetable};
use crate::graph::{Expr, Graph};
use crate::hybrid::{
    EnterError, Entered, Flow, GeneralFlow, Hybrid, Mode, ModeEntry, ModeNames, Part, Restart, Trigger,
};
use crate::method::{StartFailure, Stepper};
use crate::options::Options;
use crate::statistics::Statistics;
use crate::verify::{Verification, Verifier};

/// The equations of a place.
pub enum PlaceEquations<'h> {
    /// Those of a mode.
    Given(&'h Mode<'h>),
    /// Those of sliding.
    Generated(Box<GeneralFlow>),
    /// Those of a system without modes, whose stepper stands at a consistent start.
    Alone(&'h dyn Course),
}

impl<'h> PlaceEquations<'h> {
    fn flow(&self) -> Option<&(dyn Flow + 'h)> {
        match self {
            PlaceEquations::Given(mode) => Some(&*mode.flow),
            PlaceEquations::Generated(flow) => Some(&**flow),
            PlaceEquations::Alone(_) => None,
        }
    }

    /// Ask them for something along the run; nothing where they have no formulas.
    fn ask<T>(&self, question: impl FnOnce(&dyn Course) -> T) -> Option<T> {
        match self {
            PlaceEquations::Alone(course) => Some(question(*course)),
            _ => Some(question(&*self.flow()?.course()?)),
        }
    }
}

/// Equations with a stepper, the ways out of them, and those who look at its steps.
pub struct Place<'h> {
    pub name: String,
    pub unknowns: Vec<String>,
    /// unknowns that are not told when they jump
    pub bookkeeping: Vec<usize>,
    pub sliding: bool,
    /// the modes between which it slides
    pub between: Vec<usize>,
    pub equations: PlaceEquations<'h>,
    pub stepper: Option<Box<dyn Stepper + 'h>>,
    /// rtol and atol of every component of a state, auxiliary ones included
    pub tolerances: Vec<(f64, f64)>,
    /// what its formulas know about times, and those of the conditions under which it is left
    pub timetable: Option<Timetable>,
    pub condition_times: Option<Timetable>,
    /// an independent look at every step
    pub verifier: Option<Verifier>,
    pub exits: Vec<Exit<'h>>,
    /// events that do not switch
    pub events: Vec<EventOf<'h>>,
    /// of a generated mode
    pub composite: Option<Composite>,
}

impl<'h> Place<'h> {
    /// A mode of the system, with its events and those that hold in all modes.
    pub fn given(system: &'h Hybrid<'h>, k: usize, everywhere: &'h [Event<'h>]) -> Self {
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
            bookkeeping: (0..unknowns.len()).filter(|&j| mode.flow.is_bookkeeping(j)).collect(),
            sliding: written.is_some(),
            between: written.map(|sliding| vec![sliding.between.0, sliding.between.1]).unwrap_or_default(),
            exits: exits.collect(),
            events: mode.events.iter().chain(everywhere).map(EventOf::Given).collect(),
            ..Place::new(mode.name.clone(), unknowns, PlaceEquations::Given(mode))
        }
    }

    /// Without ways out, not entered yet.
    pub fn new(name: String, unknowns: Vec<String>, equations: PlaceEquations<'h>) -> Self {
        Place {
            name,
            unknowns,
            bookkeeping: Vec::new(),
            sliding: false,
            between: Vec::new(),
            equations,
            stepper: None,
            tolerances: Vec::new(),
            timetable: None,
            condition_times: None,
            verifier: None,
            exits: Vec::new(),
            events: Vec::new(),
            composite: None,
        }
    }

    /// Make a state consistent and put the stepper there.
    pub fn enter(&mut self, entry: &ModeEntry, options: &Options, tend: f64) -> Result<Entered, EnterError> {
        let first = self.stepper.is_none();
        let entered = self.enter_flow(entry, options)?;
        if first {
            let dim = self.at().state().x.len();
            let of = |name: &String| options.tolerance.of(name).unwrap_or_default();
            self.tolerances = self.unknowns.iter().map(of).collect();
            self.tolerances.resize(dim, options.tolerance.usual().unwrap_or_default());
            self.equations
                .ask(|course| course.check(self.at().state(), tend))
                .unwrap_or(Ok(()))
                .map_err(StartFailure::from)?;
            self.look_ahead((entry.t, tend));
            let system = if options.verify { self.equations.flow().and_then(Flow::system) } else { None };
            let verifier = |system| Verifier::new(&system, &self.unknowns, &self.tolerances, tend - entry.t);
            self.verifier = system.map(verifier);
        } else {
            let times = self.timetable.iter_mut().chain(&mut self.condition_times);
            times.for_each(|times| times.begin(entry.t));
        }
        Ok(entered)
    }

    /// Ask formulas about times.
    pub fn look_ahead(&mut self, interval: (f64, f64)) {
        self.timetable = self.equations.ask(|course| course.timetable(interval)).flatten();
        self.condition_times = self.times_of_conditions(interval);
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

    /// The formulas among which the reason of a failure may be.
    pub fn suspects(&self) -> Option<Suspects> {
        self.equations.ask(|course| course.suspects()).flatten()
    }

    /// Bring a state back onto the constraints.
    pub fn restore(&self, t: f64, x: &mut [f64], options: &Options) {
        self.equations.ask(|course| course.restore(t, x, options));
    }

    fn enter_flow(&mut self, entry: &ModeEntry, options: &Options) -> Result<Entered, EnterError> {
        let (mut new, entered) = match (&self.equations, &mut self.stepper) {
            (PlaceEquations::Given(mode), Some(stepper)) => {
                return mode.flow.enter_again(&mut **stepper, entry, options);
            }
            (PlaceEquations::Generated(flow), Some(stepper)) => {
                return flow.enter_again(&mut **stepper, entry, options);
            }
            (PlaceEquations::Given(mode), None) => mode.flow.enter(entry, options)?,
            (PlaceEquations::Generated(flow), None) => {
                (flow.start(entry, options)? as Box<dyn Stepper + 'h>, Entered::default())
            }
            // it is never left
            (PlaceEquations::Alone(_), _) => return Ok(Entered::default()),
        };
        new.watch_between();
        self.stepper = Some(new);
        Ok(entered)
    }

    /// Move the stepper beyond a time where formulas jump.
    pub fn cross(&mut self, crossing: &Crossing, options: &Options) -> Result<(), StepFailure> {
        let Some(stepper) = &mut self.stepper else { return Ok(()) };
        self.equations.ask(|course| course.cross(&mut **stepper, crossing, options)).unwrap_or(Ok(()))
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
        let found = found.unwrap_or_else(|| Verification { unchecked, ..Verification::default() });
        if matches!(self.equations, PlaceEquations::Alone(_)) { found } else { found.of_mode(&self.name) }
    }

    /// What kind of unknown it is.
    pub fn part(&self, unknown: usize) -> Part {
        self.equations.flow().map_or(Part::Unknown, |flow| flow.part(unknown))
    }

    /// How states are made consistent here, unless a transition says otherwise.
    pub fn restart(&self) -> Restart {
        match &self.equations {
            PlaceEquations::Given(mode) => mode.restart,
            // the state is put onto the surface by the smallest change; what is equal to something else follows
            PlaceEquations::Generated(_) | PlaceEquations::Alone(_) => Restart::States,
        }
    }

    /// Names of unknowns that must not change on entry.
    pub fn keep(&self) -> &[String] {
        match &self.equations {
            PlaceEquations::Given(mode) => &mode.keep,
            PlaceEquations::Generated(_) | PlaceEquations::Alone(_) => &[],
        }
    }

    /// No way out for this long.
    pub fn dwell(&self) -> f64 {
        match &self.equations {
            PlaceEquations::Given(mode) => mode.dwell,
            PlaceEquations::Generated(_) | PlaceEquations::Alone(_) => 0.0,
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

    /// Its events, and its stepper.
    pub fn watched(&mut self) -> (&[EventOf<'h>], &mut (dyn Stepper + 'h)) {
        (&self.events, &mut **self.stepper.as_mut().expect("a place that was entered"))
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
