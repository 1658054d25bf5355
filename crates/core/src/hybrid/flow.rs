//! What the controller of a hybrid run needs of a mode: consistent states, and a stepper.

use super::error::EnterError;
use super::options::Restart;
use super::restart::make_consistent;
use crate::dae::{self, Dae, Form, Point, PrepareError, System, prepare};
use crate::error::StepFailure;
use crate::explicit_time::{Crossing, Suspects, Timetable, cross_general, cross_motion};
use crate::linear::{Coefficients, Gelda, GeldaOptions, Keep};
use crate::method::geoms::Geoms;
use crate::method::{Integrator, Method, StartFailure, State, Stepper};
use crate::motion::{self, Impact, Layout, Mechanism, Start, consistent};
use crate::options::Options;
use std::cell::{OnceCell, RefCell};

/// What is known when a mode is entered.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Time.
    pub t: f64,
    /// The unknowns, in the order of [`Flow::names`]: fixed ones must not change, new ones are unknown.
    pub start: Vec<Start>,
    /// How they are made consistent; at the start of a run, if absent, as initial values are.
    pub restart: Option<Restart>,
}

/// Impulses of constraints that closed: multiplier, impulse.
pub type Impulses = Vec<(String, f64)>;

/// Equations with a method that solves them. An implementation makes a state consistent and hands out a stepper at it; the first
/// unknowns of the stepper are those of [`names`](Flow::names), auxiliary ones may follow.
pub trait Flow {
    /// Names of the unknowns.
    fn names(&self) -> Vec<String>;

    /// A stepper at a consistent state, on the first entry.
    fn enter<'f>(&'f self, entry: &Entry, options: &Options) -> Result<(Box<dyn Stepper + 'f>, Impulses), EnterError>;

    /// Move a stepper of this mode to a consistent state, on later entries.
    fn enter_again(&self, stepper: &mut dyn Stepper, entry: &Entry, options: &Options) -> Result<Impulses, EnterError>;

    /// Is an unknown bookkeeping, such as an acceleration, whose jumps tell nothing?
    fn is_bookkeeping(&self, _unknown: usize) -> bool {
        false
    }

    /// The equations as formulas of a general system, with the same names of unknowns, where they can be had. Sliding modes are
    /// generated from them.
    fn system(&self) -> Option<System> {
        None
    }

    /// What the equations know about times, where they have formulas.
    #[doc(hidden)]
    fn timetable(&self, _interval: (f64, f64)) -> Option<Timetable> {
        None
    }

    /// Move a stepper of this mode beyond a time where formulas jump.
    #[doc(hidden)]
    fn cross(&self, stepper: &mut dyn Stepper, crossing: &Crossing, _: &Options) -> Result<(), StepFailure> {
        let x = stepper.state().x.clone();
        stepper.restart(State { t: crossing.to, x });
        Ok(())
    }

    /// The formulas among which the reason of a failure may be.
    #[doc(hidden)]
    fn suspects(&self) -> Option<Suspects> {
        None
    }
}

impl Entry {
    fn check(&self, wanted: usize) -> Result<(), EnterError> {
        let given = self.start.len();
        if given == wanted { Ok(()) } else { Err(EnterError::Length { given, wanted }) }
    }

    /// Overwrite what is known.
    fn write(&self, x: &mut [f64]) {
        for (x, start) in x.iter_mut().zip(&self.start) {
            if let Start::Fixed(value) | Start::Guess(value) = start {
                *x = *value;
            }
        }
    }

    /// Make a point consistent whose unknowns hold guesses: known values are written first.
    fn impose(&self, dae: &mut dyn Dae, at: &mut Point, names: &[String], options: &Options) -> Result<(), EnterError> {
        let Some(restart) = self.restart else { return Ok(()) };
        self.write(&mut at.x);
        let fixed = (0..self.start.len()).filter(|&j| matches!(self.start[j], Start::Fixed(_)));
        let kept: Vec<(usize, &str)> = fixed.map(|j| (j, &*names[j])).collect();
        let pair = |j: usize| {
            let own = names.get(j).and_then(|name| options.tolerance.of(name));
            own.or(options.tolerance.usual()).unwrap_or((1e-7, 1e-7))
        };
        // what is new in the mode may change by any amount
        let weight = |j: usize| match self.start.get(j) {
            None | Some(Start::Unknown) => 0.0,
            _ if restart == Restart::Weighted => {
                let (rtol, atol) = pair(j);
                1.0 / (rtol * at.x[j].abs() + atol)
            }
            _ => 1.0,
        };
        let weights: Vec<f64> = (0..at.x.len()).map(weight).collect();
        let restart = if restart == Restart::LeastChange { Restart::Weighted } else { restart };
        make_consistent(dae, at.t, &mut at.x, &mut at.xdot, restart, &kept, &weights)
    }

    /// The same for a stepper that stands somewhere else in the same mode.
    fn impose_again(&self, stepper: &mut dyn Stepper, names: &[String], options: &Options) -> Result<(), EnterError> {
        let mut at = Point { t: self.t, x: stepper.state().x.clone(), xdot: vec![0.0; stepper.state().x.len()] };
        stepper.rates(&mut at.xdot);
        if let Some(dae) = stepper.system() {
            self.impose(dae, &mut at, names, options)?;
        }
        stepper.restart(State { t: at.t, x: at.x });
        Ok(())
    }
}

/// A general system.
pub struct GeneralFlow {
    system: System,
    form: Form,
    integrator: Box<dyn Integrator>,
}

impl GeneralFlow {
    /// A system with the form and the method to solve it.
    pub fn new(system: System, form: Form, integrator: impl Integrator + 'static) -> Self {
        GeneralFlow { system, form, integrator: Box::new(integrator) }
    }

    /// A stepper that does not borrow from the system.
    pub(super) fn start(&self, entry: &Entry, options: &Options) -> Result<Box<dyn Stepper>, EnterError> {
        entry.check(self.system.dim())?;
        let first = &self.system.first;
        let orders = first.origin.iter().map(|(_, order)| *order as usize).max().unwrap_or(0);
        let states = self.system.formulas.states.len();
        let mut blocks = vec![vec![Start::Unknown; states]; orders + 1];
        for (&(state, order), &start) in first.origin.iter().zip(&entry.start) {
            blocks[order as usize][state] = start;
        }
        let derivatives = blocks.split_off(1);
        let states = blocks.pop().unwrap_or_default();
        let initial = dae::Initial { t: entry.t, states, derivatives, conditions: Vec::new() };
        let prepared = prepare(&self.system, &initial, self.form).map_err(|error| match error {
            PrepareError::Analysis(error) => EnterError::Analysis(error),
            PrepareError::Start(failure) => EnterError::Start(failure),
        })?;
        let (mut dae, mut at) = (prepared.dae, prepared.at);
        entry.impose(&mut *dae, &mut at, self.system.names(), options)?;
        let named = options.for_unknowns(self.system.names());
        Ok(self.integrator.start(dae, at, named.as_ref().unwrap_or(options))?)
    }
}

impl Flow for GeneralFlow {
    fn names(&self) -> Vec<String> {
        self.system.names().to_vec()
    }

    fn enter<'f>(&'f self, entry: &Entry, options: &Options) -> Result<(Box<dyn Stepper + 'f>, Impulses), EnterError> {
        Ok((self.start(entry, options)?, Vec::new()))
    }

    fn enter_again(&self, stepper: &mut dyn Stepper, entry: &Entry, options: &Options) -> Result<Impulses, EnterError> {
        entry.check(self.system.dim())?;
        entry.impose_again(stepper, self.system.names(), options)?;
        Ok(Vec::new())
    }

    fn system(&self) -> Option<System> {
        Some(self.system.clone())
    }

    fn timetable(&self, interval: (f64, f64)) -> Option<Timetable> {
        Timetable::of_system(&self.system, interval)
    }

    fn cross(&self, stepper: &mut dyn Stepper, crossing: &Crossing, options: &Options) -> Result<(), StepFailure> {
        cross_general(&self.system, stepper, crossing, options)
    }

    fn suspects(&self) -> Option<Suspects> {
        Some(Suspects::general(&self.system))
    }
}

/// A linear system E ẋ = A x + b.
pub struct LinearFlow<C> {
    names: Vec<String>,
    coefficients: C,
    integrator: Box<dyn Integrator>,
}

impl<C: Coefficients + Clone> LinearFlow<C> {
    /// Coefficients with the names of the unknowns and the method to solve the system.
    pub fn new(names: Vec<String>, coefficients: C, integrator: impl Integrator + 'static) -> Self {
        LinearFlow { names, coefficients, integrator: Box::new(integrator) }
    }
}

impl<C: Coefficients + Clone + 'static> Flow for LinearFlow<C> {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn enter<'f>(&'f self, entry: &Entry, options: &Options) -> Result<(Box<dyn Stepper + 'f>, Impulses), EnterError> {
        entry.check(self.coefficients.dim())?;
        let t = entry.t;
        let reduced = Gelda::new(self.coefficients.clone(), t, GeldaOptions::default());
        let mut gelda = reduced.map_err(|cause| StartFailure::Reduction { cause: Box::new(cause) })?;
        let mut x = vec![0.0; entry.start.len()];
        entry.write(&mut x);
        let mut at = Point { t, xdot: vec![0.0; x.len()], x };
        entry.impose(&mut gelda, &mut at, &self.names, options)?;
        // only its derivative is new now
        let at = gelda.consistent(t, &at.x, Keep::default())?;
        let named = options.for_unknowns(&self.names);
        Ok((self.integrator.start(Box::new(gelda), at, named.as_ref().unwrap_or(options))?, Vec::new()))
    }

    fn enter_again(&self, stepper: &mut dyn Stepper, entry: &Entry, options: &Options) -> Result<Impulses, EnterError> {
        entry.check(self.coefficients.dim())?;
        entry.impose_again(stepper, &self.names, options)?;
        Ok(Vec::new())
    }
}

/// Equations of motion. Every level of constraints is repaired by its own variables. [`Restart::Momentum`] repairs velocities by
/// impulses, [`Restart::Weighted`] by the smallest relative change, the other ways by the smallest change.
pub struct MotionFlow<M> {
    mechanism: M,
    method: Geoms,
    /// made when velocities are first to be repaired
    closing: OnceCell<RefCell<motion::Closing>>,
}

impl<M: Mechanism> MotionFlow<M> {
    /// A mechanism with the method to solve its equations.
    pub fn new(mechanism: M, method: Geoms) -> Self {
        MotionFlow { mechanism, method, closing: OnceCell::new() }
    }

    fn layout(&self) -> Layout {
        Layout::new(self.mechanism.sizes(), motion::Form::StrangenessFree, false)
    }

    /// Consistent values, and impulses.
    fn consistent(&self, entry: &Entry) -> Result<(State, Impulses), EnterError> {
        let layout = self.layout();
        entry.check(layout.dim())?;
        let block = |range: std::ops::Range<usize>| entry.start[range].to_vec();
        let computed = |range: std::ops::Range<usize>| vec![Start::Unknown; range.len()];
        let mut initial = motion::Initial {
            t: entry.t,
            p: block(layout.p()),
            v: block(layout.v()),
            r: block(layout.r()),
            w: block(layout.w()),
            s: block(layout.s()),
            ..motion::Initial::default()
        };
        // after a transition multipliers are what the new constraints need
        (initial.lambda, initial.mu) = match entry.restart {
            None => (block(layout.lambda()), block(layout.mu())),
            Some(_) => (computed(layout.lambda()), computed(layout.mu())),
        };
        let system: &dyn Mechanism = &self.mechanism;
        let form = motion::Form::StrangenessFree;
        let found = consistent::initialise(system, &initial, form)?;
        let x = &found.state.x;
        let known = |(start, x): (&Start, &f64)| if let Start::Fixed(v) | Start::Guess(v) = start { *v } else { *x };
        let before: Vec<f64> = entry.start[layout.v()].iter().zip(&x[layout.v()]).map(known).collect();
        let by_impulses = match entry.restart {
            None | Some(Restart::Weighted) => return Ok((found.state, Vec::new())),
            // nothing was to be changed
            Some(_) if before == x[layout.v()] => return Ok((found.state, Vec::new())),
            Some(restart) => restart == Restart::Momentum,
        };
        let Some(formulas) = self.mechanism.formulas() else {
            return if by_impulses { Err(EnterError::NoMomentum) } else { Ok((found.state, Vec::new())) };
        };
        let closing = self.closing.get_or_init(|| RefCell::new(motion::Closing::new(&formulas)));
        let (p, s) = (&x[layout.p()], &x[layout.s()]);
        let Impact { v, impulses } = if by_impulses {
            closing.borrow_mut().close(entry.t, p, &before, s)?
        } else {
            Impact { v: closing.borrow_mut().nearest(entry.t, p, &before, s)?, impulses: Vec::new() }
        };
        initial.p = x[layout.p()].iter().map(|&p| Start::Guess(p)).collect();
        initial.v = v.iter().map(|&v| Start::Guess(v)).collect();
        let found = consistent::initialise(system, &initial, form)?;
        let names = layout.variable_names(&self.mechanism.names());
        let multipliers = names[layout.lambda().start..layout.mu().end].iter().cloned();
        Ok((found.state, multipliers.zip(impulses).filter(|(_, impulse)| *impulse != 0.0).collect()))
    }
}

impl<M: Mechanism> Flow for MotionFlow<M> {
    fn names(&self) -> Vec<String> {
        self.layout().variable_names(&self.mechanism.names())
    }

    fn enter<'f>(&'f self, entry: &Entry, options: &Options) -> Result<(Box<dyn Stepper + 'f>, Impulses), EnterError> {
        let (state, impulses) = self.consistent(entry)?;
        let system: &'f (dyn Mechanism + 'f) = &self.mechanism;
        let named = options.for_motion(&self.layout(), &self.names());
        Ok((self.method.start(system, state, named.as_ref().unwrap_or(options))?, impulses))
    }

    fn enter_again(&self, stepper: &mut dyn Stepper, entry: &Entry, _: &Options) -> Result<Impulses, EnterError> {
        let (state, impulses) = self.consistent(entry)?;
        stepper.restart(state);
        Ok(impulses)
    }

    fn is_bookkeeping(&self, unknown: usize) -> bool {
        self.layout().a().contains(&unknown)
    }

    fn system(&self) -> Option<System> {
        let formulas = dae::Formulas::of_motion(&self.mechanism.formulas()?);
        Some(System::new(&formulas, crate::graph::Interpreted))
    }

    fn timetable(&self, interval: (f64, f64)) -> Option<Timetable> {
        Timetable::of_motion(&self.mechanism, interval)
    }

    fn cross(&self, stepper: &mut dyn Stepper, crossing: &Crossing, options: &Options) -> Result<(), StepFailure> {
        cross_motion(&self.mechanism, stepper, crossing, options)
    }

    fn suspects(&self) -> Option<Suspects> {
        Suspects::motion(&self.mechanism)
    }
}
