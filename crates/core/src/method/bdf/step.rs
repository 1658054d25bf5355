//! A step of BDF: prepare, predict, correct, test the error, choose order and step size. Brenan, Campbell & Petzold (1996), 5.2.

use super::differences::{Differences, MOST_ORDER};
use super::order::Estimates;
use super::{Bdf, Steps};
use crate::dae::{Dae, Pencil, Point};
use crate::error::StepFailure;
use crate::linalg::IterationMatrix;
use crate::method::convergence::{Convergence, IterationEnd, IterationVerdict, Limits};
use crate::method::pace::{Failures, Rules, Try};
use crate::method::shell::{Attempt, Formula, Shell};
use crate::method::weights::Weights;
use crate::method::{StartFailure, State, derivative};
use crate::options::Options;
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};

/// Smallest relative tolerance that a share of a larger one may come to: below it Newton's iteration meets rounding.
const SMALLEST_SHARE: f64 = 1e-12;
/// Shortest first step, in units of rounding of time.
const SHORTEST_GUESS: f64 = 100.0;
/// A matrix serves while its leading coefficient is within this factor of the right one.
const MATRIX_REUSE: f64 = 1.3;
/// The rate of contraction tells about the Jacobian only if the leading coefficient is within this factor.
const SAME_COEFFICIENT: f64 = 1.05;
/// Steps beyond the new order itself after which a raised order may be lowered again. The error of the lower order has left a kink in
/// the past, which looks like a large derivative until it has passed out of the differences; who lowers the order because of it is
/// trapped at order one with tiny steps.
const FLUSHED: usize = 2;
/// Step size factor after a failed Newton iteration.
const AFTER_FAILURE: f64 = 0.25;
/// The part of the tolerance that the error of the first step of order one may have, where the one before has shown how large it is. Measured on
/// 395 restarts of the friction bodies at 1e-8, see `docs/src/published-switched.md`.
const FIRST_ERROR: f64 = 0.05;
/// Largest growth that one error tells: what is below its square of the tolerance may be rounding.
const FIRST_GROWTH: f64 = 1e3;
/// η before anything is known about the rate of contraction: at least two iterations, unless the first changes almost nothing.
const UNKNOWN_RATE: f64 = 100.0;
/// The number of the only point at which the system is evaluated.
const STAGE: usize = 0;

/// BDF at work.
pub(crate) type BdfStepper<'p> = Shell<BdfStep<'p>>;

/// BDF at a point of a solution.
pub(crate) struct BdfStep<'p> {
    method: Bdf,
    dae: Box<dyn Dae + 'p>,
    pencil: Pencil,
    matrix: IterationMatrix<f64>,
    differences: Differences,
    // where we are
    state: State,
    xdot: Vec<f64>,
    segment: Segment,
    // norms
    weights: Weights,
    limits: Limits,
    eta: f64,
    order: usize,
    /// the order rises and the step doubles in every step until something fails
    starting: bool,
    /// was a step rejected, and the next higher order not considered since?
    patient: bool,
    /// were points of the past given, which make the differences of the first step?
    has_history: bool,
    /// accepted steps since the order was raised
    at_order: usize,
    error_failures: u32,
    // what is at hand
    jacobian_wanted: bool,
    jacobian_is_here: bool,
    /// leading coefficient α and step size of the matrix
    decomposed_for: Option<(f64, f64)>,
    /// leading coefficient for which the rate of contraction is known
    iterated_with: f64,
    // scratch
    x: Vec<f64>,
    v: Vec<f64>,
    e: Vec<f64>,
    r: Vec<f64>,
    counters: Statistics,
}

impl<'p> BdfStep<'p> {
    /// Start at a consistent point, with order one.
    pub fn start(
        method: &Bdf,
        dae: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<BdfStepper<'p>, StartFailure> {
        let step = Self::new(method, dae, at, options)?;
        Ok(Shell::new(step, rules(method), options))
    }

    fn new(method: &Bdf, mut dae: Box<dyn Dae + 'p>, at: Point, options: &Options) -> Result<Self, StartFailure> {
        method.check(options)?;
        let n = dae.dim();
        assert!(at.x.len() == n && at.xdot.len() == n, "{} and {} values for {n} unknowns", at.x.len(), at.xdot.len());
        let mut weights = Weights::new(&*dae, &options.tolerance)?;
        // noise in high differences of unknowns of index two would hold the order at one
        weights.leave_out(|i| dae.recovered(i));
        if method.steps == Steps::Variable {
            weights.transform(|rtol| (method.share * rtol).max(rtol.min(SMALLEST_SHARE)));
        }
        weights.at(&at.x);
        let mut pencil = dae.new_pencil();
        dae.pencil(at.t, &at.x, &at.xdot, &mut pencil)?;
        let algebraic = (0..n).map(|i| dae.algebraic(i)).collect();
        Ok(BdfStep {
            limits: Limits {
                most: method.max_newton,
                tolerance: method.newton_tolerance,
                default_rate: 0.0,
                rounding: 0.01 * method.newton_tolerance,
            },
            method: method.clone(),
            matrix: IterationMatrix::new(&pencil, algebraic),
            differences: Differences::new(n),
            segment: Segment::with_room(at.t, &at.x, MOST_ORDER),
            dae,
            pencil,
            state: State { t: at.t, x: at.x },
            xdot: at.xdot,
            weights,
            eta: UNKNOWN_RATE,
            order: 1,
            starting: method.steps == Steps::Variable,
            patient: false,
            has_history: false,
            at_order: 0,
            error_failures: 0,
            jacobian_wanted: false,
            jacobian_is_here: true,
            decomposed_for: None,
            iterated_with: 0.0,
            x: vec![0.0; n],
            v: vec![0.0; n],
            e: vec![0.0; n],
            r: vec![0.0; n],
            counters: Statistics { jacobians: 1, ..Statistics::default() },
        })
    }

    /// Start with points of the past, the newest first, and the order that they allow.
    pub fn start_with_history(
        method: &Bdf,
        dae: Box<dyn Dae + 'p>,
        at: Point,
        past: &[State],
        options: &Options,
    ) -> Result<BdfStepper<'p>, StartFailure> {
        let mut step = Self::new(method, dae, at, options)?;
        let here = std::iter::once(&step.state);
        let points: Vec<(f64, &[f64])> =
            here.chain(past).take(method.max_order + 1).map(|state| (state.t, &state.x[..])).collect();
        let [here, before, ..] = points[..] else { return Ok(Shell::new(step, rules(method), options)) };
        step.differences.start_with_history(&points);
        step.order = points.len() - 1;
        (step.starting, step.has_history) = (false, true);
        let h0 = options.h0.or(Some(here.0 - before.0));
        Ok(Shell::new(step, rules(method), &Options { h0, ..options.clone() }))
    }

    /// Newton's iteration with the matrix at hand, or with a new one where that is needed. Nothing where it is singular.
    fn correct(&mut self, h: f64, t1: f64) -> Result<Option<IterationEnd>, StepFailure> {
        let leading = leading_coefficient(self.order, h);
        loop {
            if self.jacobian_wanted {
                self.dae.pencil(self.state.t, &self.state.x, &self.xdot, &mut self.pencil)?;
                self.counters.jacobians += 1;
                (self.jacobian_wanted, self.jacobian_is_here) = (false, true);
                self.decomposed_for = None;
            }
            let serves = |(alpha, _): (f64, f64)| within(leading / alpha, MATRIX_REUSE);
            if !self.decomposed_for.is_some_and(serves) {
                self.counters.decompositions += 1;
                self.decomposed_for = None;
                if self.matrix.decompose(&self.pencil, leading * h, h).is_err() {
                    return Ok(None);
                }
                self.decomposed_for = Some((leading, h));
                self.iterated_with = 0.0;
            }
            if leading != self.iterated_with {
                self.eta = UNKNOWN_RATE;
                self.iterated_with = leading;
            }
            let outcome = self.iterate(leading, t1);
            if matches!(outcome, IterationEnd::Converged { .. }) || self.jacobian_is_here {
                return Ok(Some(outcome));
            }
            // the matrix may be too old: once more with a new one
            self.jacobian_wanted = true;
            self.counters.newton_updates += 1;
        }
    }

    /// Simplified Newton iteration from the predictor: x in `x`, ẋ in `v`, x − predictor in `e`.
    fn iterate(&mut self, leading: f64, t1: f64) -> IterationEnd {
        let (alpha, h) = self.decomposed_for.unwrap_or((leading, 1.0));
        // the best factor for a matrix with another leading coefficient
        let factor = 2.0 / (1.0 + leading / alpha);
        self.differences.predict(self.order, &mut self.x, &mut self.v);
        self.e.fill(0.0);
        let judge = if self.dae.multipliers_lag() { Convergence::patient } else { Convergence::cautious };
        let mut convergence = judge(self.limits, &mut self.eta);
        for newton in 1..=self.limits.most {
            self.counters.residuals += 1;
            if self.dae.residual(STAGE, t1, &self.x, &self.v, &mut self.r).is_err() {
                return IterationEnd::Diverged;
            }
            for (i, r) in self.r.iter_mut().enumerate() {
                *r *= if self.dae.algebraic(i) { -1.0 } else { -h };
            }
            self.matrix.solve(&mut self.r);
            self.counters.solves += 1;
            self.r.iter_mut().for_each(|d| *d *= factor);
            let verdict = convergence.judge(newton, self.weights.norm(&self.r), &mut self.eta);
            if let IterationVerdict::Failed(outcome) = verdict {
                return outcome;
            }
            for (i, d) in self.r.iter().enumerate() {
                self.x[i] += d;
                self.e[i] += d;
                self.v[i] += leading * d;
            }
            if let IterationVerdict::Enough(outcome) = verdict {
                return outcome;
            }
        }
        convergence.exhausted()
    }

    /// Take the corrected values as a step, and choose the next order and step size.
    fn accept(&mut self, tried: &Try, rate: f64, error: f64, mut estimates: Estimates) -> f64 {
        let &Try { h, t1, proposed, longest, .. } = tried;
        let (k, most) = (self.order, self.method.max_order);
        let raised = k > self.differences.last_order();
        if estimates.wanted < k || k == most {
            self.starting = false;
        }
        self.at_order = if raised { 1 } else { self.at_order + 1 };
        if self.at_order <= k + FLUSHED {
            estimates.keep();
        }
        let next;
        if self.method.steps == Steps::Fixed {
            (self.order, next) = ((k + 1).min(most), proposed);
        } else if self.starting {
            // the first steps are guesses: where they were far too short, order one goes on with the step that its error asks for
            let growth = if k == 1 { (FIRST_ERROR / error).sqrt().min(FIRST_GROWTH) } else { 0.0 };
            let order = if growth > 2.0 { 1 } else { k + 1 };
            (self.order, next) = (order, (growth.max(2.0) * h).min(longest));
        } else {
            if estimates.wanted == k && k < most && self.differences.is_constant(k) && !raised {
                estimates.consider_higher(&self.differences, &self.e, &self.weights, &mut self.r);
            }
            // a step that was just changed judges itself too well: it does not grow before it has stood for k steps, and after a
            // rejection not before a higher order has been considered; nor while the order rises
            let steady = self.differences.is_constant(if self.patient { k } else { k - 1 });
            self.patient &= !steady;
            let growth = if steady && estimates.wanted <= k { estimates.growth() } else { estimates.growth().min(1.0) };
            (self.order, next) = (estimates.wanted, (growth * h).min(longest));
        }
        self.differences.update(&self.e, h, k);
        self.differences.write_segment(self.state.t, t1, &mut self.segment);
        self.state.t = t1;
        self.state.x.copy_from_slice(self.differences.phi(0));
        self.xdot.copy_from_slice(&self.v);
        self.weights.at(&self.state.x);
        self.error_failures = 0;
        self.jacobian_is_here = false;
        let comparable = |(alpha, _): (f64, f64)| within(leading_coefficient(k, h) / alpha, SAME_COEFFICIENT);
        self.jacobian_wanted = rate > self.method.jacobian_reuse && self.decomposed_for.is_some_and(comparable);
        next
    }

    /// After a failed error test: a smaller step and a lower order, the third time order one.
    fn reject(&mut self, h: f64, estimates: Estimates) -> f64 {
        (self.starting, self.patient) = (false, true);
        self.error_failures += 1;
        let next;
        (self.order, next) = match self.error_failures {
            1 => (estimates.wanted, estimates.shrinkage() * h),
            2 => (estimates.wanted, 0.25 * h),
            _ => (1, 0.25 * h),
        };
        next
    }
}

/// α = (1 + 1/2 + … + 1/k)/h.
fn leading_coefficient(order: usize, h: f64) -> f64 {
    (1..=order).map(|i| 1.0 / i as f64).sum::<f64>() / h
}

/// Does a ratio lie between 1/factor and factor?
fn within(ratio: f64, factor: f64) -> bool {
    ratio <= factor && ratio * factor >= 1.0
}

/// The first step of order one is tiny, and no short step may be left at the end: each change of the step size costs order.
fn rules(method: &Bdf) -> Rules {
    let variable = method.steps == Steps::Variable;
    Rules { constant: !variable, first_part: 0.001, even_end: variable, starts_small: true, ..Rules::default() }
}

impl Formula for BdfStep<'_> {
    fn state(&self) -> &State {
        &self.state
    }

    fn segment(&self) -> &Segment {
        &self.segment
    }

    /// A step whose change is half of the tolerance, so that the error of order one stays below it.
    fn first_size(&mut self) -> f64 {
        let rate = self.weights.norm(&self.xdot);
        let h = if rate > 0.0 && rate.is_finite() { 0.5 / rate } else { f64::INFINITY };
        // a guess must not be lost in rounding: where it is too long, the error test says so
        h.max(SHORTEST_GUESS * f64::EPSILON * self.state.t.abs())
    }

    fn begin(&mut self, h: f64) {
        if !self.has_history {
            self.differences.start(&self.state.x, &self.xdot, h);
        }
    }

    fn attempt(&mut self, tried: &Try) -> Result<Attempt, StepFailure> {
        let &Try { h, t1, .. } = tried;
        self.weights.for_step(h);
        self.differences.prepare(h, self.order);
        let outcome = match self.correct(h, t1) {
            Ok(outcome) => outcome,
            Err(failure) => {
                self.differences.retreat(h, self.order);
                return Err(failure);
            }
        };
        let Some(IterationEnd::Converged { rate, .. }) = outcome else {
            self.differences.retreat(h, self.order);
            self.starting = false;
            self.jacobian_wanted = !self.jacobian_is_here;
            return Ok(Attempt::Failed { factor: AFTER_FAILURE, singular: outcome.is_none() });
        };
        let estimates = Estimates::new(&self.differences, &self.e, self.order, &self.weights, &mut self.r);
        let error = self.differences.error_constant(self.order) * self.weights.norm(&self.e);
        if !(error <= 1.0) && self.method.steps == Steps::Variable {
            self.differences.retreat(h, self.order);
            return Ok(Attempt::Rejected { next: self.reject(h, estimates) });
        }
        let next = self.accept(tried, rate, error, estimates);
        // an error here belongs to the new point, which stands
        let t0 = self.segment.t0;
        let settled = self.dae.accepted(STAGE, t1, &mut self.state.x, &self.xdot);
        self.differences.correct(&self.state.x);
        self.differences.write_segment(t0, t1, &mut self.segment);
        if self.starting && self.order == 1 {
            self.differences.start(&self.state.x, &self.xdot, next);
        }
        if settled.is_ok() {
            self.jacobian_wanted |= self.dae.wants_pencil();
        }
        Ok(Attempt::Accepted { next, settled })
    }

    fn stuck(&mut self, h: f64, failures: Failures) -> StepFailure {
        failures.of_general(&*self.dae, self.state.t, h)
    }

    fn restart(&mut self, at: State, xdot: Option<&[f64]>) -> Result<(), StepFailure> {
        self.state = at;
        if let Some(xdot) = xdot {
            self.xdot.copy_from_slice(xdot);
        }
        self.segment = Segment::with_room(self.state.t, &self.state.x, MOST_ORDER);
        self.weights.at(&self.state.x);
        self.dae.jumped(self.state.t, &self.state.x);
        let here = (self.state.t, &self.state.x[..]);
        let (pencil, matrix) = (&mut self.pencil, &mut self.matrix);
        let recovered = derivative::recover(&mut *self.dae, pencil, matrix, here, &mut self.xdot);
        self.jacobian_wanted = true;
        self.decomposed_for = None;
        self.error_failures = 0;
        // order one, with a first step that passes its error test; a fixed step is kept
        (self.order, self.has_history) = (1, false);
        if self.method.steps == Steps::Variable {
            (self.starting, self.patient) = (true, false);
        }
        recovered
    }

    fn rates(&mut self, xdot: &mut [f64]) {
        xdot.copy_from_slice(&self.xdot);
    }

    fn system(&mut self) -> Option<&mut dyn Dae> {
        Some(&mut *self.dae)
    }

    fn counters(&self) -> Statistics {
        Statistics { selectors: self.dae.selections(), ..self.counters }
    }

    fn residuals(&self) -> Residuals {
        self.dae.residuals()
    }

    fn undetermined(&self) -> Vec<Vec<f64>> {
        self.dae.undetermined()
    }

    fn decisions(&self) -> String {
        self.dae.decisions()
    }
}
