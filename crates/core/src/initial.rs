//! What is said about the start: some values hold, some help, the rest is computed.

use crate::graph::Expr;
use crate::hybrid::Restart;
use crate::motion::consistent::InitialisationError;
use crate::motion::{Layout, Motion};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What is known about one initial value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// It holds, and is not moved.
    Fixed(f64),
    /// It helps: the consistent value nearest to the guesses is taken.
    Guess(f64),
    /// It is to be computed.
    Unknown,
}

/// A further equation that must hold at the start.
#[derive(Clone)]
pub struct Condition {
    /// How messages call it.
    pub name: String,
    /// Its residual.
    pub residual: Residual,
}

/// Residual of a [`Condition`].
#[derive(Clone)]
pub enum Residual {
    /// A function, for equations of motion.
    #[allow(clippy::type_complexity)] // a function, written out where it is called
    Function(Arc<dyn Fn(&Motion<f64>) -> f64 + Send + Sync>),
    /// A formula in the graph of a general system.
    Formula(Expr),
}

impl Condition {
    /// Its value at a point of a motion; formulas have none there.
    pub fn value(&self, at: &Motion<f64>) -> f64 {
        match &self.residual {
            Residual::Function(residual) => residual(at),
            Residual::Formula(_) => f64::NAN,
        }
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Condition").field("name", &self.name).finish_non_exhaustive()
    }
}

/// One unknown, by its name or by its place in the order in which unknowns are shown: p, v, r, w, s, λ, μ of a mechanism.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// By its name.
    Name(String),
    /// By its place.
    Place(usize),
}

impl From<&str> for Unknown {
    fn from(name: &str) -> Self {
        Unknown::Name(name.into())
    }
}

impl From<usize> for Unknown {
    fn from(place: usize) -> Self {
        Unknown::Place(place)
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Unknown::Name(name) => write!(f, "called `{name}`"),
            Unknown::Place(place) => write!(f, "at place {place}, counted from 0"),
        }
    }
}

/// What is known at the start of a run.
///
/// Mechanisms have positions, velocities and further blocks, all other systems states and their derivatives. Values are guesses unless
/// they are fixed, by name or by place; guesses are kept as far as the equations allow, and what is not given is computed.
///
/// ```
/// use daedal::{Initial, Start};
/// // x holds, y is a guess, both velocities are guesses; multipliers and accelerations are computed
/// let initial = Initial::motion(0.0, &[0.6, -0.8], &[0.0, 0.0]).fix("x", 0.6);
/// // a general system with three states, the second of which holds
/// let initial = Initial::new(0.0, &[1.0, 0.0, 0.0]).fix(1, 0.5);
/// assert_eq!(initial.states, [1.0, 0.0, 0.0].map(Start::Guess));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Initial {
    /// Initial time.
    pub t: f64,
    /// States of a general system; of a system with modes the unknowns of its first mode, in the order of its names.
    pub states: Vec<Start>,
    /// Derivatives of the states of orders 1, 2, …; what is not given is unknown.
    pub derivatives: Vec<Vec<Start>>,
    /// Positions of a mechanism.
    pub p: Vec<Start>,
    /// Velocities.
    pub v: Vec<Start>,
    /// Dynamic force elements; all unknown if empty, as all that follow.
    pub r: Vec<Start>,
    /// Auxiliary variables.
    pub w: Vec<Start>,
    /// Contact variables.
    pub s: Vec<Start>,
    /// Multipliers of holonomic constraints.
    pub lambda: Vec<Start>,
    /// Multipliers of nonholonomic constraints.
    pub mu: Vec<Start>,
    /// What is said about single unknowns, instead of what stands above.
    pub single: Vec<(Unknown, Start)>,
    /// Further equations.
    pub conditions: Vec<Condition>,
    /// The first mode, of a system with modes.
    pub mode: usize,
    /// How a state is made consistent in the first mode; as the mode says if absent.
    pub restart: Option<Restart>,
}

/// A block of initial values whose length does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given} initial values given for {block}, where the system has {wanted}")]
pub struct WrongLength {
    /// Which block.
    pub block: &'static str,
    /// How many were given.
    pub given: usize,
    /// How many the system has.
    pub wanted: usize,
}

/// Initial values that do not belong to the system.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadInitial {
    /// Something is said about an unknown that the system does not have.
    #[error("an initial value is given for an unknown {unknown}; the unknowns are {}", known.join(", "))]
    NoSuchUnknown {
        /// Which.
        unknown: Unknown,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A block of another kind of system.
    #[error("initial values are given for {block}, which this kind of system does not have")]
    OtherBlock {
        /// Which block.
        block: &'static str,
    },
    /// A condition for another kind of system.
    #[error(
        "the condition `{name}` is written for another kind of system: functions are for equations of motion, formulas for general systems"
    )]
    OtherCondition {
        /// Its name.
        name: String,
    },
    /// A condition for values that must not move.
    #[error(
        "initial values that are trusted are taken as they are, but the condition `{name}` may need others: leave it out, or do not trust them"
    )]
    TrustedCondition {
        /// Its name.
        name: String,
    },
}

impl Initial {
    /// Guesses for all states of a general system.
    pub fn new(t: f64, states: &[f64]) -> Self {
        Initial { t, states: guesses(states), ..Initial::default() }
    }

    /// Guesses for positions and velocities of a mechanism.
    pub fn motion(t: f64, p: &[f64], v: &[f64]) -> Self {
        Initial { t, p: guesses(p), v: guesses(v), ..Initial::default() }
    }

    /// Guesses for the states of dynamic force elements.
    #[must_use]
    pub fn dynamic(mut self, r: &[f64]) -> Self {
        self.r = guesses(r);
        self
    }

    /// Guesses for the auxiliary variables.
    #[must_use]
    pub fn auxiliary(mut self, w: &[f64]) -> Self {
        self.w = guesses(w);
        self
    }

    /// Guesses for the contact variables.
    #[must_use]
    pub fn contact(mut self, s: &[f64]) -> Self {
        self.s = guesses(s);
        self
    }

    /// Guesses for the multipliers.
    #[must_use]
    pub fn multipliers(mut self, lambda: &[f64], mu: &[f64]) -> Self {
        self.lambda = guesses(lambda);
        self.mu = guesses(mu);
        self
    }

    /// A value that holds.
    #[must_use]
    pub fn fix(self, unknown: impl Into<Unknown>, value: f64) -> Self {
        self.say(unknown, Start::Fixed(value))
    }

    /// A guess.
    #[must_use]
    pub fn guess(self, unknown: impl Into<Unknown>, value: f64) -> Self {
        self.say(unknown, Start::Guess(value))
    }

    /// A value that is to be computed.
    #[must_use]
    pub fn unknown(self, unknown: impl Into<Unknown>) -> Self {
        self.say(unknown, Start::Unknown)
    }

    fn say(mut self, unknown: impl Into<Unknown>, start: Start) -> Self {
        self.single.push((unknown.into(), start));
        self
    }

    /// A further equation that must hold at the start of a motion.
    #[must_use]
    pub fn condition(
        mut self,
        name: impl Into<String>,
        residual: impl Fn(&Motion<f64>) -> f64 + Send + Sync + 'static,
    ) -> Self {
        let residual = Residual::Function(Arc::new(residual));
        self.conditions.push(Condition { name: name.into(), residual });
        self
    }

    /// The same as a formula in the graph of a general system.
    #[must_use]
    pub fn formula(mut self, name: impl Into<String>, residual: Expr) -> Self {
        self.conditions.push(Condition { name: name.into(), residual: Residual::Formula(residual) });
        self
    }

    /// In this mode.
    #[must_use]
    pub fn in_mode(mut self, mode: usize) -> Self {
        self.mode = mode;
        self
    }

    /// With another way to make the state of the first mode consistent.
    #[must_use]
    pub fn restart(mut self, restart: Restart) -> Self {
        self.restart = Some(restart);
        self
    }

    /// Blocks of a mechanism with their names, and whether they must be given.
    fn blocks(&self) -> [(&'static str, &[Start], bool); 7] {
        [
            ("the positions p", &self.p, true),
            ("the velocities v", &self.v, true),
            ("the dynamic force elements r", &self.r, false),
            ("the auxiliary variables w", &self.w, false),
            ("the contact variables s", &self.s, false),
            ("the multipliers lambda", &self.lambda, false),
            ("the multipliers mu", &self.mu, false),
        ]
    }

    /// Does all that is given belong to a mechanism?
    pub(crate) fn is_of_motion(&self) -> Result<(), BadInitial> {
        if !self.states.is_empty() {
            return Err(BadInitial::OtherBlock { block: "states of a general system" });
        }
        self.check_conditions(|residual| matches!(residual, Residual::Function(_)))
    }

    /// Does all that is given belong to a general system?
    pub(crate) fn is_general(&self) -> Result<(), BadInitial> {
        if let Some((block, ..)) = self.blocks().into_iter().find(|(_, given, _)| !given.is_empty()) {
            return Err(BadInitial::OtherBlock { block });
        }
        self.check_conditions(|residual| matches!(residual, Residual::Formula(_)))
    }

    fn check_conditions(&self, fits: impl Fn(&Residual) -> bool) -> Result<(), BadInitial> {
        match self.conditions.iter().find(|condition| !fits(&condition.residual)) {
            Some(other) => Err(BadInitial::OtherCondition { name: other.name.clone() }),
            None => Ok(()),
        }
    }

    /// All values of a mechanism in the order of x, whose names are these; accelerations are unknown.
    pub fn values(&self, layout: &Layout, names: &[String]) -> Result<Vec<Start>, InitialisationError> {
        self.is_of_motion()?;
        let mut values = vec![Start::Unknown; layout.dim()];
        let ranges: [Range<usize>; 7] =
            [layout.p(), layout.v(), layout.r(), layout.w(), layout.s(), layout.lambda(), layout.mu()];
        for ((block, given, required), range) in self.blocks().into_iter().zip(ranges) {
            if given.len() == range.len() {
                values[range].copy_from_slice(given);
            } else if required || !given.is_empty() {
                return Err(WrongLength { block, given: given.len(), wanted: range.len() }.into());
            }
        }
        let said_about = layout.dim() - layout.a().len();
        self.write_single(names, &layout.shown()[..said_about], &mut values)?;
        Ok(values)
    }

    /// All values of the first mode of several, in the order of its names; guesses of what is kept hold.
    pub(crate) fn of_mode(&self, names: &[String], keep: &[String]) -> Result<Vec<Start>, BadInitial> {
        self.is_general()?;
        self.check_conditions(|_| false)?;
        let mut values = self.states.clone();
        values.resize(values.len().max(names.len()), Start::Unknown);
        self.write_single(names, &(0..names.len()).collect::<Vec<_>>(), &mut values)?;
        for (value, name) in values.iter_mut().zip(names) {
            if let Start::Guess(x) = *value
                && keep.contains(name)
            {
                *value = Start::Fixed(x);
            }
        }
        Ok(values)
    }

    /// Write what is said about single unknowns over the rest; `names` are those of all values, `shown` are those about which something can
    /// be said, in their order.
    pub(crate) fn write_single(
        &self,
        names: &[String],
        shown: &[usize],
        values: &mut [Start],
    ) -> Result<(), BadInitial> {
        for (unknown, start) in &self.single {
            let place = match unknown {
                Unknown::Name(name) => shown.iter().copied().find(|&j| names[j] == *name),
                Unknown::Place(place) => shown.get(*place).copied(),
            };
            let Some(place) = place else {
                let known = shown.iter().map(|&j| names[j].clone()).collect();
                return Err(BadInitial::NoSuchUnknown { unknown: unknown.clone(), known });
            };
            values[place] = *start;
        }
        Ok(())
    }
}

fn guesses(values: &[f64]) -> Vec<Start> {
    values.iter().map(|&x| Start::Guess(x)).collect()
}
