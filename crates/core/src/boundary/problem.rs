//! What is to be solved: a system, what holds at both ends of an interval, what else is to be found.

use super::ends::EndCondition;
use crate::dae::System;
use crate::initial::{Initial, Start};
use crate::motion::Mechanism;
use crate::problem::{Class, Solvable};
use std::sync::Arc;

/// Which unknowns have the same values at both ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Periodic {
    /// None.
    #[default]
    No,
    /// All.
    All,
    /// These.
    Of(Vec<String>),
}

/// A function of time that an unknown may be near to.
pub type GuessCurve = Arc<dyn Fn(f64) -> f64 + Send + Sync>;

/// A boundary value problem.
///
/// What is fixed at the start (`initial`) and at the end (`last`, whose time is that of the end) holds; what is guessed there helps. With the
/// conditions that couple both ends there must be as many as the system has degrees of freedom, hidden constraints regarded: more are
/// allowed if they do not contradict.
///
/// ```
/// use daedal::prelude::*;
/// use daedal::{BoundaryProblem, solve_boundary};
///
/// /// Bratu's problem y'' + λ exp(y) = 0, y(0) = y(1) = 0, for λ = 1.
/// struct Bratu;
/// impl Equations for Bratu {
///     fn dim(&self) -> usize { 2 }
///     fn names(&self) -> Vec<String> { ["y", "v"].map(String::from).to_vec() }
///     fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
///         r[0] = xdot[0] - x[1];
///         r[1] = xdot[1] + x[0].exp();
///     }
/// }
///
/// let system = System::of(&Bratu);
/// let (start, end) = (Initial::at(0.0).fix("y", 0.0), Initial::at(1.0).fix("y", 0.0));
/// let found = solve_boundary(&BoundaryProblem::new(&system, start, end), &Options::default())?;
/// // y'(0) = θ tanh(θ/4) with θ = √2 cosh(θ/4)
/// assert!((found.solution.state(0)[1] - 0.549_352_729).abs() < 1e-6);
/// assert_eq!((found.account.needed, found.account.conditions.len()), (2, 2));
/// # Ok::<(), daedal::BoundaryError>(())
/// ```
pub struct BoundaryProblem<'p, S: ?Sized = dyn Mechanism + 'p> {
    /// The system.
    pub system: &'p S,
    /// What is known at the start, and its time.
    pub initial: Initial,
    /// What is known at the end, and its time, which is a guess if it is to be found.
    pub last: Initial,
    /// Further conditions.
    pub conditions: Vec<EndCondition>,
    /// Unknowns with the same values at both ends.
    pub periodic: Periodic,
    /// Is the end time to be found?
    pub free_end: bool,
    /// Parameters that are to be found, by name; their values are guesses.
    pub find: Vec<String>,
    /// Curves that unknowns may be near to, by name.
    pub near: Vec<(String, GuessCurve)>,
}

impl<'p, S: Class + ?Sized> BoundaryProblem<'p, S> {
    /// From what is known at both ends.
    pub fn new<A: Solvable<Class<'p> = S> + ?Sized>(system: &'p A, initial: Initial, last: Initial) -> Self {
        BoundaryProblem {
            system: system.class(),
            initial,
            last,
            conditions: Vec::new(),
            periodic: Periodic::No,
            free_end: false,
            find: Vec::new(),
            near: Vec::new(),
        }
    }

    /// With all unknowns the same at both ends.
    #[must_use]
    pub fn periodic(mut self) -> Self {
        self.periodic = Periodic::All;
        self
    }

    /// With a condition on values at both ends.
    #[must_use]
    pub fn condition(mut self, condition: EndCondition) -> Self {
        self.conditions.push(condition);
        self
    }

    /// With an end time that is to be found, near that of `last`.
    #[must_use]
    pub fn free_end(mut self) -> Self {
        self.free_end = true;
        self
    }

    /// With a parameter that is to be found; its value is a guess.
    #[must_use]
    pub fn find(mut self, parameter: impl Into<String>) -> Self {
        self.find.push(parameter.into());
        self
    }

    /// An unknown is near a function of time.
    #[must_use]
    pub fn near(mut self, unknown: impl Into<String>, curve: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Self {
        self.near.push((unknown.into(), Arc::new(curve)));
        self
    }
}

/// A problem for a general system, as the solver takes it: what is said about single unknowns has been written to its place.
pub(super) struct General {
    pub system: System,
    pub initial: Initial,
    pub last: Initial,
    pub conditions: Vec<EndCondition>,
    pub periodic: Periodic,
    pub free_end: bool,
    pub find: Vec<String>,
    pub near: Vec<(String, GuessCurve)>,
}

impl General {
    /// Values at an end, one for every unknown of the first-order form.
    pub fn starts(&self, at: &Initial) -> Vec<Start> {
        at.starts(&self.system.first)
    }
}
