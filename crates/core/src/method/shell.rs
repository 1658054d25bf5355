//! The shell of all methods: limits, attempts, failures, counters, restarts. A method supplies a [`Formula`].

use super::pace::{Failures, Pace, Rules, Try};
use super::{State, Stepper};
use crate::dae::Dae;
use crate::error::StepFailure;
use crate::options::Options;
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};

/// What an attempt came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Attempt {
    /// The formula stands at a new point.
    Accepted {
        /// Size for the next step, not above [`Try::longest`].
        next: f64,
        /// Why there is no way on from the new point, which stands all the same.
        settled: Result<(), StepFailure>,
    },
    /// Its error is too large; the formula stands where it was.
    Rejected {
        /// Size for the next attempt.
        next: f64,
    },
    /// There is no new point; the formula stands where it was.
    Failed {
        /// Factor for the size of the next attempt.
        factor: f64,
        /// Because a matrix was singular?
        singular: bool,
    },
}

/// One step of a method: the point it stands at, and how it tries to leave it.
///
/// The contract of an implementation:
/// 1. [`attempt`](Formula::attempt) leaves the point only if it is accepted;
/// 2. it allocates nothing after the first step;
/// 3. no decision depends on [`counters`](Formula::counters).
pub trait Formula {
    /// The last accepted point.
    fn state(&self) -> &State;
    /// The polynomial over the last step.
    fn segment(&self) -> &Segment;
    /// A guess of the size of the first step from this point.
    fn first_size(&mut self) -> f64;
    /// The first step from this point will have this size, or be shorter.
    fn begin(&mut self, _h: f64) {}
    /// Try a step. An error ends the run.
    fn attempt(&mut self, tried: &Try) -> Result<Attempt, StepFailure>;
    /// Why there is no way on, after failures.
    fn stuck(&mut self, h: f64, failures: Failures) -> StepFailure;
    /// Why steps became too small.
    fn too_small(&mut self, h: f64, failures: Failures) -> StepFailure {
        let t = self.state().t;
        if failures.attempts > 0 { self.stuck(h, failures) } else { StepFailure::StepTooSmall { t, h } }
    }
    /// The size of all steps up to a limit, where the formula plans them.
    fn plan(&mut self, _limit: f64) -> Result<Option<f64>, StepFailure> {
        Ok(None)
    }
    /// The size of the next step if nothing limits it, where `h` is planned.
    fn proposed(&self, h: f64) -> f64 {
        h
    }
    /// Back to where the last step began. False if the formula cannot: its polynomial is as accurate as its steps.
    fn back(&mut self) -> Result<bool, StepFailure> {
        Ok(false)
    }
    /// Go on from another consistent point; `xdot` is what is known about ẋ there. An error is told when the next step is asked for.
    fn restart(&mut self, at: State, xdot: Option<&[f64]>) -> Result<(), StepFailure>;
    /// See [`Stepper::watch_between`].
    fn watch_between(&mut self) {}
    /// See [`Stepper::inside`].
    fn inside(&mut self, t: f64, x: &mut [f64]) {
        self.segment().eval(t, x);
    }
    /// See [`Stepper::refine`].
    fn refine(&mut self) {}
    /// ẋ at the last accepted point.
    fn rates(&mut self, xdot: &mut [f64]);
    /// The system that is integrated, where it is a general one.
    fn system(&mut self) -> Option<&mut dyn Dae> {
        None
    }
    /// What was evaluated, decomposed and solved.
    fn counters(&self) -> Statistics;
    /// Residuals of all constraint levels at the last accepted point.
    fn residuals(&self) -> Residuals;
    /// See [`Stepper::undetermined`].
    fn undetermined(&self) -> Vec<Vec<f64>> {
        Vec::new()
    }
    /// See [`Stepper::decisions`].
    fn decisions(&self) -> String {
        String::new()
    }
}

/// A method at work.
pub struct Shell<F> {
    pub(crate) formula: F,
    pace: Pace,
    /// why there is no way on from the last restart
    pending: Option<StepFailure>,
    /// steps and attempts; the rest is counted by the formula
    statistics: Statistics,
}

impl<F: Formula> Shell<F> {
    /// Before the first step.
    pub fn new(mut formula: F, rules: Rules, options: &Options) -> Self {
        let pace = Pace::new(rules, options, || formula.first_size());
        formula.begin(pace.proposed());
        Shell { formula, pace, pending: None, statistics: Statistics::default() }
    }

    fn begin_anew(&mut self, at: State, xdot: Option<&[f64]>) {
        self.pending = self.formula.restart(at, xdot).err();
        self.pace.restart(|| self.formula.first_size());
        self.formula.begin(self.pace.proposed());
    }

    /// One attempt. True if it was accepted.
    fn attempt(&mut self, limit: f64) -> Result<bool, StepFailure> {
        let t = self.formula.state().t;
        self.statistics.attempts += 1;
        let tried = self.pace.next(t, limit)?;
        if !Pace::moves(t, tried.h) {
            return Err(self.formula.too_small(tried.h, self.pace.failures()));
        }
        let attempt = self.formula.attempt(&tried)?;
        if !self.pace.judge(&tried, &attempt) {
            self.statistics.rejected_newton += 1;
            return Err(self.formula.stuck(tried.h, self.pace.failures()));
        }
        match attempt {
            Attempt::Accepted { settled, .. } => {
                self.statistics.steps += 1;
                settled.map(|()| true)
            }
            Attempt::Rejected { .. } => {
                self.statistics.rejected_error += u64::from(self.statistics.steps > 0);
                Ok(false)
            }
            Attempt::Failed { .. } => {
                self.statistics.rejected_newton += 1;
                Ok(false)
            }
        }
    }
}

impl<F: Formula> Stepper for Shell<F> {
    fn state(&self) -> &State {
        self.formula.state()
    }

    fn segment(&self) -> &Segment {
        self.formula.segment()
    }

    fn advance(&mut self, limit: f64) -> Result<(), StepFailure> {
        if let Some(failure) = &self.pending {
            return Err(failure.clone());
        }
        let way = limit - self.formula.state().t;
        if !(way > 0.0) {
            return Err(StepFailure::StepTooSmall { t: self.formula.state().t, h: way });
        }
        if let Some(h) = self.formula.plan(limit)? {
            self.pace.propose(h);
        } else if let Some(h) = self.pace.settle_guess(way) {
            self.formula.begin(h);
        }
        while !self.attempt(limit)? {}
        Ok(())
    }

    fn restart(&mut self, at: State) {
        self.begin_anew(at, None);
    }

    fn restart_along(&mut self, at: State, xdot: &[f64]) {
        self.begin_anew(at, Some(xdot));
    }

    fn retake(&mut self, t: f64) -> Result<bool, StepFailure> {
        if !self.formula.back()? {
            return Ok(false);
        }
        let proposed = self.pace.proposed();
        self.statistics.steps -= 1;
        self.pace.retake(t - self.formula.state().t);
        self.advance(t)?;
        if self.pace.rules().constant {
            self.pace.propose(proposed);
        }
        Ok(true)
    }

    fn watch_between(&mut self) {
        self.formula.watch_between();
    }

    fn inside(&mut self, t: f64, x: &mut [f64]) {
        self.formula.inside(t, x);
    }

    fn refine(&mut self) {
        self.formula.refine();
    }

    fn propose(&mut self, h: f64) {
        if !self.pace.rules().starts_small {
            self.pace.propose(h);
        }
    }

    fn rates(&mut self, xdot: &mut [f64]) {
        self.formula.rates(xdot);
    }

    fn system(&mut self) -> Option<&mut dyn Dae> {
        self.formula.system()
    }

    fn attempts(&self) -> u64 {
        self.pace.attempts()
    }

    fn statistics(&self) -> Statistics {
        self.statistics.plus(self.formula.counters())
    }

    fn residuals(&self) -> Residuals {
        self.formula.residuals()
    }

    fn proposed_step(&self) -> f64 {
        self.formula.proposed(self.pace.proposed())
    }

    fn undetermined(&self) -> Vec<Vec<f64>> {
        self.formula.undetermined()
    }

    fn decisions(&self) -> String {
        self.formula.decisions()
    }
}
