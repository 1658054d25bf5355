//! What the controller of a hybrid run needs of a mode: consistent states, and a stepper.

mod general;
mod impulses;
mod linear;
mod motion;

use super::error::EnterError;
use super::impulsive::{CoefficientsAt, kept_by_impulses};
use super::options::Restart;
use super::restart::{make_consistent, make_consistent_following, make_consistent_keeping};
use crate::dae::{Dae, Point, System};
use crate::initial::Start;
use crate::linalg::{Mat, RankRule};
use crate::method::{State, Stepper};
use crate::motion::Balance;
use crate::options::Options;
use crate::run::Course;

pub use general::GeneralFlow;
pub use linear::LinearFlow;
pub use motion::MotionFlow;

/// What is known when a mode is entered.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeEntry {
    /// Time.
    pub t: f64,
    /// The unknowns, in the order of [`Flow::names`]: fixed ones must not change, new ones are unknown.
    pub start: Vec<Start>,
    /// How they are made consistent; at the start of a run, if absent, as initial values are.
    pub restart: Option<Restart>,
}

/// Impulses, the factors of δ: multiplier or unknown, impulse.
pub type Impulses = Vec<(String, f64)>;

/// What entering a mode did besides moving the state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entered {
    /// Impulses of constraints that closed, and of the unknowns of linear modes.
    pub impulses: Impulses,
    /// Factors of δ', δ'', …, which linear modes of index three and more have.
    pub higher_impulses: Vec<Impulses>,
    /// What happened to momentum and energy of a mechanism, if velocities changed.
    pub balance: Option<Balance>,
}

/// What kind of unknown it is, for reports about restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its derivative occurs in the equations.
    Differential,
    /// Its derivative does not occur.
    Algebraic,
    /// Position of a mechanism.
    Position,
    /// Velocity of a mechanism.
    Velocity,
    /// Dynamic force element, auxiliary or contact variable of a mechanism.
    Auxiliary,
    /// Not told apart.
    Unknown,
}

impl Part {
    /// Several of them.
    pub fn plural(self) -> &'static str {
        match self {
            Part::Differential => "differential unknowns",
            Part::Algebraic => "algebraic unknowns",
            Part::Position => "positions",
            Part::Velocity => "velocities",
            Part::Auxiliary => "auxiliary variables",
            Part::Unknown => "unknowns",
        }
    }
}

/// Equations with a method that solves them. An implementation makes a state consistent and hands out a stepper at it; the first
/// unknowns of the stepper are those of [`names`](Flow::names), auxiliary ones may follow.
pub trait Flow {
    /// Names of the unknowns.
    fn names(&self) -> Vec<String>;

    /// A stepper at a consistent state, on the first entry.
    fn enter<'f>(
        &'f self,
        entry: &ModeEntry,
        options: &Options,
    ) -> Result<(Box<dyn Stepper + 'f>, Entered), EnterError>;

    /// Move a stepper of this mode to a consistent state, on later entries.
    fn enter_again(
        &self,
        stepper: &mut dyn Stepper,
        entry: &ModeEntry,
        options: &Options,
    ) -> Result<Entered, EnterError>;

    /// What kind of unknown it is; reports about restarts add up by it.
    fn part(&self, _unknown: usize) -> Part {
        Part::Unknown
    }

    /// Is an unknown bookkeeping, such as an acceleration, whose jumps tell nothing?
    fn is_bookkeeping(&self, _unknown: usize) -> bool {
        false
    }

    /// The equations as formulas of a general system, with the same names of unknowns, where they can be had. Sliding modes are
    /// generated from them.
    fn system(&self) -> Option<System> {
        None
    }

    /// What the loop asks of the equations beside their stepper, where they have formulas.
    #[doc(hidden)]
    fn course(&self) -> Option<Box<dyn Course + '_>> {
        None
    }
}

impl ModeEntry {
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
    fn impose(
        &self,
        dae: &mut dyn Dae,
        at: &mut Point,
        names: &[String],
        options: &Options,
        known: &KnownOfRestart,
    ) -> Result<(), EnterError> {
        let Some(restart) = self.restart else { return Ok(()) };
        self.write(&mut at.x);
        let fixed = (0..self.start.len()).filter(|&j| matches!(self.start[j], Start::Fixed(_)));
        let kept: Vec<(usize, &str)> = fixed.map(|j| (j, &*names[j])).collect();
        let pair = |j: usize| {
            let own = names.get(j).and_then(|name| options.tolerance.of(name));
            own.or(options.tolerance.usual()).unwrap_or((1e-7, 1e-7))
        };
        if restart == Restart::Impulse {
            let d = (0..dae.dim()).filter(|&i| !dae.algebraic(i) || dae.invariant(i)).count();
            let mut found = |x: &[f64], xdot: &[f64]| (known.kept)(d, at.t, x, xdot);
            if !known.move_along {
                return make_consistent_keeping(dae, at.t, &mut at.x, &mut at.xdot, &mut found, &kept, options.ranks());
            }
            let scale = |j: usize, x: f64| {
                let (rtol, atol) = pair(j);
                rtol * x.abs() + atol
            };
            return make_consistent_following(
                dae,
                at.t,
                &mut at.x,
                &mut at.xdot,
                &mut found,
                &kept,
                &scale,
                options.ranks(),
            );
        }
        // what is new in the mode may change by any amount
        let weight = |j: usize| match self.start.get(j) {
            None | Some(Start::Unknown) => 0.0,
            _ if restart == Restart::States && !(known.differentiated)(j) => 0.0,
            _ if restart == Restart::Weighted => {
                let (rtol, atol) = pair(j);
                1.0 / (rtol * at.x[j].abs() + atol)
            }
            _ => 1.0,
        };
        let weights: Vec<f64> = (0..at.x.len()).map(weight).collect();
        let weighted = matches!(restart, Restart::LeastChange | Restart::States);
        let restart = if weighted { Restart::Weighted } else { restart };
        make_consistent(dae, at.t, &mut at.x, &mut at.xdot, restart, &kept, &weights, options.ranks())
    }

    /// The same for a stepper that stands somewhere else in the same mode.
    fn impose_again(
        &self,
        stepper: &mut dyn Stepper,
        names: &[String],
        options: &Options,
        known: &KnownOfRestart,
    ) -> Result<(), EnterError> {
        let mut at = Point { t: self.t, x: stepper.state().x.clone(), xdot: vec![0.0; stepper.state().x.len()] };
        stepper.rates(&mut at.xdot);
        if let Some(dae) = stepper.system() {
            self.impose(dae, &mut at, names, options, known)?;
        }
        stepper.restart(State { t: at.t, x: at.x });
        Ok(())
    }
}

/// What the equations tell about restarts.
struct KnownOfRestart<'c> {
    /// Combinations that impulses cannot change, where they are not simply the d rows of the leading matrix: from d, t, x, ẋ.
    #[allow(clippy::type_complexity)] // a function, written out where it is called
    kept: &'c dyn Fn(usize, f64, &[f64], &[f64]) -> Result<Option<Mat<f64>>, EnterError>,
    /// Does the leading matrix depend on unknowns, so that combinations may change along a jump?
    move_along: bool,
    /// Does the derivative of an unknown occur?
    differentiated: &'c dyn Fn(usize) -> bool,
}

/// Combinations that impulses cannot change, by the coefficients at an instant.
fn kept(coefficients: &CoefficientsAt, ranks: RankRule) -> Result<Mat<f64>, EnterError> {
    kept_by_impulses(coefficients, ranks)
        .map_err(|error| EnterError::Impulses { reason: format!("{error}; set rank_tolerance") })
}

/// There must be as many rows as differential equations.
fn counted(rows: Mat<f64>, d: usize) -> Result<Mat<f64>, EnterError> {
    if rows.nrows() == d {
        return Ok(rows);
    }
    let reason = format!(
        "ranks are not clear: {} combinations seem to be kept, but there are {d} differential equations; set rank_tolerance",
        rows.nrows()
    );
    Err(EnterError::Impulses { reason })
}
