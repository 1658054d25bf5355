//! What a run did, in numbers. Read by people only: no decision depends on them.

use std::fmt;

/// Counters of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Accepted steps (NACCPT).
    pub steps: u64,
    /// Attempts (NSTEP).
    pub attempts: u64,
    /// Attempts rejected by the error test (NERJCT), counted after the first accepted step.
    pub rejected_error: u64,
    /// Attempts rejected because Newton's iteration failed (NCRJCT).
    pub rejected_newton: u64,
    /// Evaluations of the rows (NEOM), without those for differenced Jacobians.
    pub residuals: u64,
    /// Jacobians (NJAC).
    pub jacobians: u64,
    /// Mass matrices (NMAS).
    pub masses: u64,
    /// Choices of a selector (NSEL).
    pub selectors: u64,
    /// Decompositions that do not depend on the step size (NPDEC).
    pub predecompositions: u64,
    /// Decompositions for a step size, real and complex counted once (NEDEC).
    pub decompositions: u64,
    /// Newton iterations: one real and one complex solve each (NBSUB).
    pub solves: u64,
    /// Newton matrices renewed inside a step.
    pub newton_updates: u64,
    /// Solves that brought the constraints to rounding at the end of a step, or made forces as accurate as the motion.
    pub polishing_solves: u64,
    /// Evaluations for differenced Jacobians.
    pub difference_evaluations: u64,
    /// Events found.
    pub events: u64,
}

impl Statistics {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Statistics {
            steps: self.steps + other.steps,
            attempts: self.attempts + other.attempts,
            rejected_error: self.rejected_error + other.rejected_error,
            rejected_newton: self.rejected_newton + other.rejected_newton,
            residuals: self.residuals + other.residuals,
            jacobians: self.jacobians + other.jacobians,
            masses: self.masses + other.masses,
            selectors: self.selectors + other.selectors,
            predecompositions: self.predecompositions + other.predecompositions,
            decompositions: self.decompositions + other.decompositions,
            solves: self.solves + other.solves,
            newton_updates: self.newton_updates + other.newton_updates,
            polishing_solves: self.polishing_solves + other.polishing_solves,
            difference_evaluations: self.difference_evaluations + other.difference_evaluations,
            events: self.events + other.events,
        }
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "{} steps ({} rejected by the error test, {} by Newton), {} evaluations, {} Jacobians, {} + {} decompositions, {} solves, {} selectors",
            self.steps,
            self.rejected_error,
            self.rejected_newton,
            self.residuals,
            self.jacobians,
            self.predecompositions,
            self.decompositions,
            self.solves,
            self.selectors
        )
    }
}

/// Largest residual of each constraint level; `None` where a level has no rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residuals {
    /// Position level: g and c.
    pub position: Option<f64>,
    /// Velocity level: gI and H Z v + h.
    pub velocity: Option<f64>,
    /// Acceleration level: gII and hI.
    pub acceleration: Option<f64>,
    /// Invariants.
    pub invariant: Option<f64>,
    /// Constraints that a general system states itself.
    pub constraint: Option<f64>,
    /// Constraints that are hidden in a general system.
    pub hidden: Option<f64>,
}

impl Residuals {
    /// The larger of each.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        let larger = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
        Residuals {
            position: larger(self.position, other.position),
            velocity: larger(self.velocity, other.velocity),
            acceleration: larger(self.acceleration, other.acceleration),
            invariant: larger(self.invariant, other.invariant),
            constraint: larger(self.constraint, other.constraint),
            hidden: larger(self.hidden, other.hidden),
        }
    }
}
