//! Backward differentiation formulas of order 1 to 5 with variable steps, for square systems of index at most one.
//!
//! ```text
//! G(t, x, α x + b) = 0
//! ```
//!
//! where α x + b is the derivative at t of a polynomial through x and the past points, with a leading coefficient α that depends on
//! h and the order only. Brenan, Campbell & Petzold, Numerical Solution of Initial-Value Problems in DAEs (1996), 5.2 (DASSL).
//! The formulas of order above two are not A-stable; for solutions that oscillate with little damping
//! [`RadauIIa`](super::radau::RadauIIa) is the better choice.

mod differences;
mod order;
mod step;

use super::{Integrator, StartFailure, State, Stepper};
use crate::dae::{Dae, Point};
use crate::error::BadOption;
use crate::options::Options;
use step::BdfStep;

/// How step sizes are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Steps {
    /// From the error.
    #[default]
    Variable,
    /// Every step has the size h0 and is accepted; the order rises to the largest allowed.
    Fixed,
}

/// BDF with its options.
#[derive(Clone, Debug, PartialEq)]
pub struct Bdf {
    /// Largest order, 1 to 5.
    pub max_order: usize,
    /// Most Newton iterations.
    pub max_newton: u32,
    /// Newton's iteration stops when its error is this part of the tolerance. What it leaves is noise in the high differences, which
    /// makes the steps smaller: with 0.33, the value of DASSL, a fifth to two fifths more steps for as many evaluations.
    pub newton_tolerance: f64,
    /// A Jacobian is kept while the iteration contracts faster than this.
    pub jacobian_reuse: f64,
    /// How step sizes are chosen.
    pub steps: Steps,
    /// Part of the tolerance that one step may use where steps are variable: errors of steps add up. With 1, as in DASSL, 25 of some
    /// 13,000 answers to random models were off by more than a hundred tolerances, up to 360 (`tests/cross` of the models).
    pub share: f64,
}

impl Default for Bdf {
    fn default() -> Self {
        let steps = Steps::Variable;
        Bdf { max_order: 5, max_newton: 5, newton_tolerance: 0.03, jacobian_reuse: 0.2, steps, share: 0.1 }
    }
}

impl Bdf {
    /// A stepper at a consistent point that knows points of the past, the newest first, and takes the order that they allow.
    pub fn start_with_history<'p>(
        &self,
        system: Box<dyn Dae + 'p>,
        at: Point,
        past: &[State],
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        Ok(Box::new(BdfStep::start_with_history(self, system, at, past, options)?))
    }

    fn check(&self, options: &Options) -> Result<(), BadOption> {
        options.check()?;
        BadOption::positive("newton_tolerance", self.newton_tolerance)?;
        BadOption::between("share", self.share, 0.0, 1.0 + f64::EPSILON, "it must lie between 0 and 1")?;
        let between = BadOption::between;
        between("jacobian_reuse", self.jacobian_reuse, f64::NEG_INFINITY, 1.0, "it must be smaller than 1")?;
        between("max_order", self.max_order as f64, 0.5, 5.5, "orders are 1 to 5")?;
        between("max_newton", f64::from(self.max_newton), 2.5, 1000.5, "3 to 1000 iterations")
    }
}

impl Integrator for Bdf {
    fn start<'p>(
        &self,
        system: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        Ok(Box::new(BdfStep::start(self, system, at, options)?))
    }

    fn largest_index(&self) -> u8 {
        // a change of the step size enters unknowns of index three as an error that does not vanish with it
        match self.steps {
            Steps::Variable => 2,
            Steps::Fixed => 3,
        }
    }
}
