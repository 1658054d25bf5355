//! A step of collocation: predict, evaluate, decompose, iterate, estimate, accept or reject. One text, whatever [equations](Discretised)
//! stand behind the stages. \[HW\] IV.8; Steinbrecher (2006), Algorithm 5.1.4.

use super::between::Between;
use super::{Collocation, Discretised, Unsettled};
use crate::dae::Dae;
use crate::error::StepFailure;
use crate::method::State;
use crate::method::convergence::IterationEnd;
use crate::method::pace::{Failures, Try};
use crate::method::shell::{Attempt, Formula};
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};

/// Collocation at a point of a solution.
pub(crate) struct CollocationStep<E> {
    pub equations: E,
    pub collocation: Collocation,
    // where we are, and where the last step began
    pub state: State,
    pub before: Vec<f64>,
    /// are errors ignored?
    fixed: bool,
    /// where values between steps are wanted
    pub between: Option<Box<Between>>,
    // scratch
    pub x: Vec<f64>,
    pub rate: Vec<f64>,
    pub error: Vec<f64>,
    pub counters: Statistics,
}

/// Most stages with which an iteration is repeated on the constraints. Measured: with more of them a repetition costs more evaluations than shorter
/// steps, or fewer stages where their number varies (slider crank at 1e-10: 0.95 of those of three stages instead of 0.81).
const REPEATED_UP_TO: usize = 3;

impl<E: Discretised> CollocationStep<E> {
    /// At a consistent point; steps of one size have any error.
    pub fn new(equations: E, collocation: Collocation, state: State, fixed: bool, counters: Statistics) -> Self {
        let zeros = vec![0.0; state.x.len()];
        CollocationStep {
            equations,
            collocation,
            state,
            before: zeros.clone(),
            fixed,
            between: None,
            x: zeros.clone(),
            rate: zeros.clone(),
            error: zeros,
            counters,
        }
    }

    fn iterate(&mut self, h: f64) -> IterationEnd {
        let (judge, at) = (self.equations.judge(), (self.state.t, &self.state.x[..], h));
        self.collocation.iterate(self.equations.at_stages(), at, judge, &mut self.counters)
    }

    /// Newton's iteration, with renewed matrices where that is allowed and may help.
    fn newton(&mut self, h: f64) -> Result<IterationEnd, StepFailure> {
        let mut outcome = self.iterate(h);
        for _ in 0..self.equations.updates() {
            if !matches!(outcome, IterationEnd::Slow { .. })
                || !self.equations.update(&self.state, h, &mut self.collocation, &mut self.counters)?
            {
                break;
            }
            outcome = self.iterate(h);
        }
        let few = self.collocation.tableau().stages() <= REPEATED_UP_TO;
        if matches!(outcome, IterationEnd::Converged { .. }) || !few || !self.equations.repeats_on_constraints() {
            return Ok(outcome);
        }
        let again = self.iterate_on_constraints(h);
        Ok(again.unwrap_or(outcome))
    }

    /// Newton's iteration on the constraints, from predicted stages that are brought there first, if it converges.
    fn iterate_on_constraints(&mut self, h: f64) -> Option<IterationEnd> {
        let CollocationStep { equations, collocation, counters, state, .. } = self;
        let (judge, at) = (equations.judge(), (state.t, &state.x[..], h));
        collocation.predict(h, equations.first_prediction());
        if !collocation.settle_prediction(equations.at_stages(), at, counters)
            || !equations.renew_on_constraints(state, h, collocation, counters)
        {
            return None;
        }
        let outcome = collocation.iterate_on_constraints(equations.at_stages(), at, judge, counters);
        matches!(outcome, IterationEnd::Converged { .. }).then_some(outcome)
    }

    fn failed(&mut self, factor: f64, singular: bool) -> Attempt {
        self.equations.failed();
        Attempt::Failed { factor, singular }
    }
}

impl<E: Discretised> Formula for CollocationStep<E> {
    fn state(&self) -> &State {
        &self.state
    }

    fn segment(&self) -> &Segment {
        self.best_segment()
    }

    fn first_size(&mut self) -> f64 {
        self.x.fill(0.0);
        self.rate.fill(0.0);
        self.equations.first_size(&self.state.x, &self.collocation.weights, [&mut self.x, &mut self.rate])
    }

    fn attempt(&mut self, tried: &Try) -> Result<Attempt, StepFailure> {
        let (t, h) = (self.state.t, tried.h);
        self.collocation.select_stages(h, &self.state.x);
        self.collocation.predict(h, self.equations.first_prediction());
        if self.collocation.jacobian_wanted {
            self.equations.renew(&self.state, h, &mut self.collocation, &mut self.counters)?;
        }
        if self.collocation.decomposed_for != Some(h) {
            if self.equations.decompose(self.collocation.tableau(), h, &mut self.counters).is_err() {
                let factor = self.collocation.failed(0.5);
                return Ok(self.failed(factor, true));
            }
            self.collocation.decomposed_for = Some(h);
        }
        self.collocation.weights.for_step(h);
        let outcome = self.newton(h)?;
        let newton = match self.collocation.converged(outcome) {
            Ok(newton) => newton,
            Err(factor) => return Ok(self.failed(factor, false)),
        };

        let mut error = self.estimate(h, tried.after_rejection);
        if error < 1.0 || self.fixed {
            error = error.max(self.deviation(h));
        }
        if error >= 1.0 && !self.fixed {
            return Ok(Attempt::Rejected { next: self.collocation.reject(tried, error, newton.0) });
        }

        let stages = &self.collocation.stages;
        let last = stages.Z(stages.tableau().stages() - 1);
        for ((x, x0), z) in self.x.iter_mut().zip(&self.state.x).zip(last) {
            *x = x0 + z;
        }
        if self.equations.reach(tried.t1, &self.x, stages, h, &mut self.counters).is_err() {
            let factor = self.collocation.failed(0.5);
            return Ok(self.failed(factor, false));
        }
        let next = self.collocation.accept(tried, (t, &self.x), error, newton);
        self.state.t = tried.t1;
        std::mem::swap(&mut self.before, &mut self.state.x);
        std::mem::swap(&mut self.state.x, &mut self.x);
        let settled = self.equations.accepted(&mut self.state, h, &mut self.collocation, &mut self.counters);
        let settled = match settled {
            Ok(()) => Ok(()),
            Err(Unsettled::WayOn(failure)) => Err(failure),
            Err(Unsettled::Step(failure)) => {
                self.state.t = t;
                std::mem::swap(&mut self.state.x, &mut self.before);
                return Err(failure);
            }
        };
        self.collocation.segment.shift_to(&self.state.x);
        self.accepted_between(h);
        Ok(Attempt::Accepted { next, settled })
    }

    fn stuck(&mut self, h: f64, failures: Failures) -> StepFailure {
        self.equations.stuck(self.state.t, h, failures)
    }

    fn back(&mut self) -> Result<bool, StepFailure> {
        self.state.t = self.collocation.segment.t0;
        self.state.x.copy_from_slice(&self.before);
        self.equations.back(&self.state, &mut self.counters)?;
        self.collocation.back(&self.state.x);
        Ok(true)
    }

    fn restart(&mut self, at: State, xdot: Option<&[f64]>) -> Result<(), StepFailure> {
        self.state = at;
        self.collocation.restart(self.state.t, &self.state.x);
        self.accepted_between(0.0);
        self.equations.restart(&self.state, xdot)
    }

    fn watch_between(&mut self) {
        self.start_between();
    }

    fn inside(&mut self, t: f64, x: &mut [f64]) {
        self.value_inside(t, x);
    }

    fn refine(&mut self) {
        self.keep_polynomial();
    }

    fn rates(&mut self, xdot: &mut [f64]) {
        self.equations.rates(xdot);
    }

    fn system(&mut self) -> Option<&mut dyn Dae> {
        self.equations.system()
    }

    fn counters(&self) -> Statistics {
        self.equations.counted(self.counters)
    }

    fn residuals(&self) -> Residuals {
        self.equations.residuals()
    }

    fn undetermined(&self) -> Vec<Vec<f64>> {
        self.equations.undetermined()
    }

    fn decisions(&self) -> String {
        self.equations.decisions()
    }
}
