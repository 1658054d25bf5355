//! A mode that is a mechanism: constraints that close change velocities by impulses.

use super::{Entered, Flow, ModeEntry, Part};
use crate::catalogue::MotionMethod;
use crate::dae::{self, System};
use crate::hybrid::error::EnterError;
use crate::hybrid::options::Restart;
use crate::initial::{Initial, Start};
use crate::linalg::RankRule;
use crate::method::{State, Stepper};
use crate::motion::{self, Impact, Layout, Mechanism, consistent};
use crate::options::Options;
use crate::run::{Course, CourseOfMotion};
use std::cell::{OnceCell, RefCell};

/// Equations of motion. Every level of constraints is repaired by its own variables. [`Restart::Impulse`] and [`Restart::Momentum`] repair
/// velocities by impulses, [`Restart::Weighted`] by the smallest relative change, the other ways by the smallest change.
pub struct MotionFlow<M> {
    mechanism: M,
    method: Box<dyn MotionMethod>,
    /// made when velocities are first to be repaired
    closing: OnceCell<RefCell<motion::Closing>>,
}

impl<M: Mechanism> MotionFlow<M> {
    /// A mechanism with the method to solve its equations.
    pub fn new(mechanism: M, method: impl MotionMethod + 'static) -> Self {
        MotionFlow { mechanism, method: Box::new(method), closing: OnceCell::new() }
    }

    fn layout(&self) -> Layout {
        Layout::new(self.mechanism.sizes(), motion::Form::StrangenessFree, false)
    }

    /// Consistent values, and what impulses did.
    fn consistent(&self, entry: &ModeEntry, ranks: RankRule) -> Result<(State, Entered), EnterError> {
        let layout = self.layout();
        entry.check(layout.dim())?;
        let block = |range: std::ops::Range<usize>| entry.start[range].to_vec();
        let computed = |range: std::ops::Range<usize>| vec![Start::Unknown; range.len()];
        let mut initial = Initial {
            t: entry.t,
            p: block(layout.p()),
            v: block(layout.v()),
            r: block(layout.r()),
            w: block(layout.w()),
            s: block(layout.s()),
            ..Initial::default()
        };
        // after a transition multipliers are what the new constraints need
        (initial.lambda, initial.mu) = match entry.restart {
            None => (block(layout.lambda()), block(layout.mu())),
            Some(_) => (computed(layout.lambda()), computed(layout.mu())),
        };
        let system: &dyn Mechanism = &self.mechanism;
        let form = motion::Form::StrangenessFree;
        let found = consistent::initialise_by(system, &initial, form, ranks)?;
        let x = &found.state.x;
        let known = |(start, x): (&Start, &f64)| if let Start::Fixed(v) | Start::Guess(v) = start { *v } else { *x };
        let before: Vec<f64> = entry.start[layout.v()].iter().zip(&x[layout.v()]).map(known).collect();
        let restart = match entry.restart {
            None => return Ok((found.state, Entered::default())),
            // nothing was to be changed
            Some(_) if before == x[layout.v()] => return Ok((found.state, Entered::default())),
            Some(restart) => restart,
        };
        let by_impulses = matches!(restart, Restart::Impulse | Restart::Momentum);
        let Some(formulas) = self.mechanism.formulas() else {
            return if by_impulses { Err(EnterError::NoMomentum) } else { Ok((found.state, Entered::default())) };
        };
        let closing = self.closing.get_or_init(|| RefCell::new(motion::Closing::new(&formulas)));
        let mut closing = closing.borrow_mut();
        closing.ranks = ranks;
        let (p, s) = (&x[layout.p()], &x[layout.s()]);
        let Impact { v, impulses } = match restart {
            Restart::Impulse | Restart::Momentum => closing.close(entry.t, p, &before, s)?,
            Restart::Weighted => Impact { v: x[layout.v()].to_vec(), impulses: Vec::new() },
            _ => Impact { v: closing.nearest(entry.t, p, &before, s)?, impulses: Vec::new() },
        };
        let balance = Some(closing.balance(entry.t, p, s, &before, &v)?);
        if restart == Restart::Weighted {
            return Ok((found.state, Entered { balance, ..Entered::default() }));
        }
        initial.p = x[layout.p()].iter().map(|&p| Start::Guess(p)).collect();
        initial.v = v.iter().map(|&v| Start::Guess(v)).collect();
        let found = consistent::initialise_by(system, &initial, form, ranks)?;
        let names = layout.variable_names(&self.mechanism.names());
        let multipliers = names[layout.lambda().start..layout.mu().end].iter().cloned();
        let impulses = multipliers.zip(impulses).filter(|(_, impulse)| *impulse != 0.0).collect();
        Ok((found.state, Entered { impulses, balance, ..Entered::default() }))
    }
}

impl<M: Mechanism> Flow for MotionFlow<M> {
    fn names(&self) -> Vec<String> {
        self.layout().variable_names(&self.mechanism.names())
    }

    fn enter<'f>(
        &'f self,
        entry: &ModeEntry,
        options: &Options,
    ) -> Result<(Box<dyn Stepper + 'f>, Entered), EnterError> {
        let (state, entered) = self.consistent(entry, options.ranks())?;
        let system: &'f (dyn Mechanism + 'f) = &self.mechanism;
        let named = options.for_motion(&self.layout(), &self.names());
        Ok((self.method.start(system, state, named.as_ref().unwrap_or(options))?, entered))
    }

    fn enter_again(
        &self,
        stepper: &mut dyn Stepper,
        entry: &ModeEntry,
        options: &Options,
    ) -> Result<Entered, EnterError> {
        let (state, entered) = self.consistent(entry, options.ranks())?;
        stepper.restart(state);
        Ok(entered)
    }

    fn part(&self, unknown: usize) -> Part {
        let layout = self.layout();
        if layout.p().contains(&unknown) {
            Part::Position
        } else if layout.v().contains(&unknown) {
            Part::Velocity
        } else if layout.lambda().contains(&unknown) || layout.mu().contains(&unknown) {
            Part::Algebraic
        } else {
            Part::Auxiliary
        }
    }

    fn is_bookkeeping(&self, unknown: usize) -> bool {
        self.layout().a().contains(&unknown)
    }

    fn system(&self) -> Option<System> {
        let formulas = dae::Formulas::of_motion(&self.mechanism.formulas()?);
        Some(System::new(&formulas, crate::graph::Interpreted))
    }

    fn course(&self) -> Option<Box<dyn Course + '_>> {
        Some(Box::new(CourseOfMotion(&self.mechanism)))
    }
}
