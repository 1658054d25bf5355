//! Radau IIa at work: predict, evaluate, decompose, iterate, estimate, accept or reject.

use super::RadauIIa;
use super::between::Between;
use super::collocation::{Matrices, Prediction, StageVectors};
use super::order::OrderControl;
use super::tableau::Tableau;
use crate::dae::{Dae, Pencil, Point};
use crate::error::StepFailure;
use crate::method::controller::{Control, Controller};
use crate::method::convergence::{Convergence, Limits, Outcome};
use crate::method::weights::Weights;
use crate::method::{StartFailure, State, Stepper, derivative};
use crate::options::Options;
use crate::segment::{MOST_DEGREE, Segment};
use crate::statistics::{Residuals, Statistics};

/// Failed attempts in a row after which a run stops; twice as many before the first accepted step, whose size may be a guess.
const MOST_FAILURES: u32 = 10;
/// Singular matrices in a row after which a run stops.
const MOST_SINGULAR: u32 = 6;
/// After a failed Newton iteration steps grow at most by this factor, its square, its fourth power, …: a wall is not run into at
/// every second step, and left behind quickly.
const TRUST_GROWTH: f64 = 1.1;
/// Newton increments below this part of the tolerance may be rounding.
const ROUNDING: f64 = 0.01;

/// Radau IIa at a point of a solution.
pub struct RadauStepper<'p> {
    pub(super) method: RadauIIa,
    pub(super) dae: Box<dyn Dae + 'p>,
    pub(super) pencil: Pencil,
    pub(super) matrices: Matrices,
    pub(super) stages: StageVectors,
    order: OrderControl,
    pub(super) controller: Controller,
    // where we are
    pub(super) state: State,
    xdot: Vec<f64>,
    pub(super) segment: Segment,
    extrapolates: bool,
    /// was the number of stages just changed?
    changed: bool,
    /// is the step size that of the last step, so that nothing needs to be decomposed?
    kept: bool,
    /// is the last step made again?
    inside: bool,
    // where the last step began
    pub(super) x_before: Vec<f64>,
    xdot_before: Vec<f64>,
    /// where values between steps are wanted
    pub(super) between: Option<Box<Between>>,
    pub(super) after_rejection: bool,
    /// are all rows constraints?
    pub(super) without_freedom: bool,
    failures: u32,
    singular: u32,
    // norms
    pub(super) weights: Weights,
    pub(super) limits: Limits,
    eta: f64,
    // step sizes
    pub(super) h: f64,
    hmax: f64,
    /// step size that Newton's iteration is trusted with after a failure, and how fast it grows
    trusted: f64,
    trust_growth: f64,
    /// is the first step size a guess?
    guessed: bool,
    max_steps: u64,
    // what is at hand
    jacobian_wanted: bool,
    jacobian_is_here: bool,
    decomposed_for: Option<f64>,
    /// why there is no way on from here
    pending: Option<StepFailure>,
    // scratch
    pub(super) x: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) error: Vec<f64>,
    pub(super) statistics: Statistics,
}

impl<'p> RadauStepper<'p> {
    /// Start at a consistent point.
    pub fn new(
        method: &RadauIIa,
        mut dae: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Self, StartFailure> {
        method.check(options)?;
        let n = dae.dim();
        assert!(at.x.len() == n && at.xdot.len() == n, "{} and {} values for {n} unknowns", at.x.len(), at.xdot.len());
        // RADAU5's transformation: an error estimate of order 3 controls a method of order 5
        let weights = Weights::new(&*dae, &options.tolerance)?;
        let (least, most) = method.stages.range();
        let mut pencil = dae.new_pencil();
        dae.pencil(at.t, &at.x, &at.xdot, &mut pencil)?;
        let algebraic = n > 0 && (0..n).all(|i| dae.algebraic(i));
        let mut stepper = RadauStepper {
            limits: Limits {
                most: method.max_newton,
                tolerance: 0.0,
                default_rate: method.jacobian_reuse.abs(),
                rounding: if method.safeguards { ROUNDING } else { 0.0 },
            },
            controller: Controller::new(method.control, method.safety, method.ratio, method.max_newton),
            matrices: Matrices::new(&*dae, &pencil, most),
            stages: StageVectors::new(&*dae, Tableau::of(least), most),
            order: OrderControl::new(method.stages),
            segment: Segment::with_room(at.t, &at.x, most),
            method: method.clone(),
            dae,
            pencil,
            state: State { t: at.t, x: at.x },
            xdot: at.xdot,
            extrapolates: false,
            changed: false,
            kept: false,
            inside: false,
            x_before: vec![0.0; n],
            xdot_before: vec![0.0; n],
            between: None,
            after_rejection: false,
            without_freedom: algebraic,
            failures: 0,
            singular: 0,
            weights,
            eta: 1.0,
            h: 0.0,
            hmax: options.hmax.unwrap_or(f64::INFINITY),
            trusted: f64::INFINITY,
            trust_growth: TRUST_GROWTH,
            guessed: options.h0.is_none(),
            max_steps: options.max_steps,
            jacobian_wanted: false,
            jacobian_is_here: true,
            decomposed_for: None,
            pending: None,
            x: vec![0.0; n],
            v: vec![0.0; n],
            error: vec![0.0; n],
            statistics: Statistics { jacobians: 1, ..Statistics::default() },
        };
        stepper.take_stages(least);
        stepper.h = options.h0.unwrap_or_else(|| stepper.first_step());
        Ok(stepper)
    }

    /// Go on with so many stages: tolerances and limits that belong to them.
    fn take_stages(&mut self, stages: usize) {
        let s = stages as f64;
        self.stages.change(Tableau::of(stages));
        self.weights.transform(|rtol| 0.1 * rtol.powf((s + 1.0) / (2.0 * s)));
        self.weights.at(&self.state.x);
        let rtol = self.weights.rtol();
        let usual = if stages == 1 { 0.03 } else { 0.03_f64.min(rtol.powf((s - 1.0) / (s + 1.0))) };
        self.limits.tolerance = self.method.newton_tolerance.unwrap_or((10.0 * f64::EPSILON / rtol).max(usual));
        self.limits.most = self.method.most_iterations(stages);
        (self.controller.max_newton, self.controller.exponent) = (self.limits.most, 1.0 / (s + 1.0));
    }

    /// Choose the number of stages for an attempt with step size h.
    fn select_stages(&mut self, h: f64) {
        let before = self.stages.tableau().stages();
        let last = self.segment.t1 - self.segment.t0;
        let ratio = if last > 0.0 { h / last } else { 1.0 };
        let stages = self.order.select(before, (self.stages.iterations, self.stages.rate), ratio);
        self.changed = stages != before;
        self.controller.new_order = self.changed;
        if self.changed {
            self.take_stages(stages);
            self.decomposed_for = None;
        }
    }

    /// A step that changes the differential components by about a hundredth of their size. \[HW1\] II.4.
    fn first_step(&mut self) -> f64 {
        // unknowns whose derivatives stand in no equation do not tell
        self.x.fill(0.0);
        self.v.fill(0.0);
        let mut differential = |j: usize| (self.x[j], self.v[j]) = (self.state.x[j], self.xdot[j]);
        match &self.pencil {
            Pencil::Dense { E, .. } => {
                for j in 0..E.cols() {
                    if (0..E.rows()).any(|i| E[(i, j)] != 0.0) {
                        differential(j);
                    }
                }
            }
            Pencil::Sparse { places, E, .. } => {
                places.iter().zip(E).filter(|(_, e)| **e != 0.0).for_each(|((_, j), _)| differential(*j));
            }
        }
        let (size, rate) = (self.weights.norm(&self.x), self.weights.norm(&self.v));
        let h = if size < 1e-5 || rate < 1e-5 { 1e-6 } else { 0.01 * size / rate };
        h.min(self.hmax)
    }

    /// One attempt with step size h, to `t1`. `Ok(true)` if it was accepted.
    fn attempt(&mut self, h: f64, t1: f64, last: bool) -> Result<bool, StepFailure> {
        let t = self.state.t;
        if self.jacobian_wanted {
            self.dae.pencil(t, &self.state.x, &self.xdot, &mut self.pencil)?;
            self.statistics.jacobians += 1;
            (self.jacobian_wanted, self.jacobian_is_here) = (false, true);
            self.decomposed_for = None;
        }
        self.statistics.attempts += 1;
        if self.statistics.attempts > self.max_steps {
            return Err(StepFailure::TooManySteps { t, steps: self.max_steps });
        }
        if !(0.1 * h > t.abs() * f64::EPSILON) {
            return Err(if self.failures > 0 { self.stuck(h) } else { StepFailure::StepTooSmall { t, h } });
        }
        let kept = std::mem::take(&mut self.kept);
        if self.order.is_variable() && !self.inside {
            let stages = self.stages.tableau().stages();
            if self.decomposed_for != Some(h) || (kept && self.order.kept(stages)) {
                self.select_stages(h);
            }
        }
        if self.decomposed_for != Some(h) {
            self.statistics.decompositions += 1;
            if self.matrices.decompose(&self.pencil, self.stages.tableau(), h).is_err() {
                self.singular += 1;
                self.order.failed = true;
                return self.failed(h, 0.5).map(|()| false);
            }
            self.singular = 0;
            self.decomposed_for = Some(h);
        }
        let prediction = if self.inside {
            Prediction::Inside(&self.segment)
        } else if self.extrapolates && !self.changed {
            Prediction::Polynomial(&self.segment)
        } else if self.dae.quasilinear() {
            Prediction::Zero
        } else {
            Prediction::Line(&self.xdot)
        };
        self.stages.predict(prediction, h);
        self.weights.for_step(h);
        let convergence = self.judge()(self.limits, &mut self.eta);
        let at = (t, &self.state.x[..], h);
        let outcome = self.stages.iterate(
            &mut *self.dae,
            &mut self.matrices,
            at,
            &self.weights,
            convergence,
            &mut self.eta,
            &mut self.statistics,
        );
        let (iterations, rate) = match outcome {
            Outcome::Converged { iterations, rate } => (iterations, rate),
            Outcome::Diverged => {
                self.order.failed = true;
                return self.failed(h, 0.5).map(|()| false);
            }
            Outcome::Slow { excess, iterations } => {
                // shrink so that the iteration would just converge [HW] IV.8
                let left = f64::from(4 + self.limits.most.saturating_sub(1 + iterations));
                let factor =
                    if iterations >= self.limits.most { 0.5 } else { 0.8 * excess.clamp(1e-4, 20.0).powf(-1.0 / left) };
                self.order.failed = factor <= 0.5;
                return self.failed(h, factor).map(|()| false);
            }
        };
        let mut error = self.estimate(h);
        let fixed = self.method.control == Control::Fixed;
        if error < 1.0 || fixed {
            error = error.max(self.deviation(h));
        }
        if error >= 1.0 && !fixed {
            if self.statistics.steps > 0 {
                self.statistics.rejected_error += 1;
            }
            self.failures = 0;
            self.after_rejection = true;
            self.h = self.controller.reject(h, error, iterations);
            self.jacobian_wanted = !self.jacobian_is_here;
            return Ok(false);
        }
        self.accept(h, t1, error, iterations, rate, last);
        // an error here belongs to the new point, which stands
        let settled = self.dae.accepted(self.stages.tableau().stages() - 1, t1, &mut self.state.x, &self.xdot);
        self.segment.shift_to(&self.state.x);
        self.accepted_between(h);
        settled?;
        self.jacobian_wanted |= self.dae.wants_pencil();
        Ok(true)
    }

    /// How Newton's iteration is judged.
    pub(super) fn judge(&self) -> fn(Limits, &mut f64) -> Convergence {
        match self.method.safeguards {
            true if self.dae.follows() => Convergence::patient,
            true => Convergence::cautious,
            false => Convergence::new,
        }
    }

    /// Take the stages at hand as a step.
    fn accept(&mut self, h: f64, t1: f64, error: f64, iterations: u32, rate: f64, last: bool) {
        let (C, s) = (self.stages.tableau().C, self.stages.tableau().stages());
        let Z: [&[f64]; MOST_DEGREE] = std::array::from_fn(|j| self.stages.Z(j.min(s - 1)));
        self.x_before.copy_from_slice(&self.state.x);
        self.xdot_before.copy_from_slice(&self.xdot);
        for (x, z) in self.state.x.iter_mut().zip(Z[s - 1]) {
            *x += z;
        }
        self.segment.collocation(self.state.t, t1, &self.state.x, C, &Z[..s]);
        self.state.t = t1;
        self.stages.derivative(s - 1, h, &mut self.xdot);
        self.weights.at(&self.state.x);
        self.statistics.steps += 1;
        self.failures = 0;
        (self.extrapolates, self.inside, self.changed) = (true, false, false);

        let mut next = self.controller.accept(h, error, iterations, self.after_rejection).min(self.hmax);
        if self.method.control != Control::Fixed && self.method.safeguards {
            self.trusted *= self.trust_growth;
            self.trust_growth *= self.trust_growth;
            next = next.min(self.trusted);
        }
        self.after_rejection = false;
        self.jacobian_is_here = false;
        self.jacobian_wanted = rate > self.method.jacobian_reuse;
        let keep =
            !self.jacobian_wanted && !last && (self.method.keep_step.0..=self.method.keep_step.1).contains(&(next / h));
        self.kept = keep;
        self.h = if keep { h } else { next };
    }

    /// After a failed iteration or decomposition: a smaller step, but not for ever.
    fn failed(&mut self, h: f64, factor: f64) -> Result<(), StepFailure> {
        self.statistics.rejected_newton += 1;
        self.failures += 1;
        let most = if self.statistics.steps == 0 { 2 * MOST_FAILURES } else { MOST_FAILURES };
        if self.failures >= most || self.singular >= MOST_SINGULAR || self.method.control == Control::Fixed {
            return Err(self.stuck(h));
        }
        self.decomposed_for = None;
        self.after_rejection = true;
        // what does not help three times is not enough
        self.h = if self.failures > 3 && self.method.safeguards { factor.min(0.5) } else { factor } * h;
        (self.trusted, self.trust_growth) = (self.h, TRUST_GROWTH);
        self.jacobian_wanted = !self.jacobian_is_here;
        Ok(())
    }

    /// Why there is no way on, after failures.
    fn stuck(&self, h: f64) -> StepFailure {
        let t = self.state.t;
        if let Some(failure) = self.dae.trouble(t) {
            failure
        } else if self.singular > 0 {
            StepFailure::SingularPencil { t }
        } else {
            StepFailure::NewtonDiverged { t, h, failures: self.failures }
        }
    }
}

impl Stepper for RadauStepper<'_> {
    fn state(&self) -> &State {
        &self.state
    }

    fn segment(&self) -> &Segment {
        self.best_segment()
    }

    fn advance(&mut self, limit: f64) -> Result<(), StepFailure> {
        if let Some(failure) = &self.pending {
            return Err(failure.clone());
        }
        if !(limit > self.state.t) {
            return Err(StepFailure::StepTooSmall { t: self.state.t, h: limit - self.state.t });
        }
        if std::mem::take(&mut self.guessed) {
            self.h = self.h.min(0.01 * (limit - self.state.t));
        }
        loop {
            let left = limit - self.state.t;
            let mut h = self.h.min(self.hmax);
            // no last step of the size of rounding
            let last = 1.0001 * h >= left;
            if last {
                h = left;
            }
            let t1 = if last { limit } else { self.state.t + h };
            if self.attempt(h, t1, last)? {
                return Ok(());
            }
        }
    }

    fn restart(&mut self, at: State) {
        self.state = at;
        (self.extrapolates, self.inside, self.guessed) = (false, false, false);
        self.after_rejection = false;
        (self.failures, self.singular) = (0, 0);
        self.eta = 1.0;
        (self.trusted, self.trust_growth) = (f64::INFINITY, TRUST_GROWTH);
        self.jacobian_wanted = true;
        self.decomposed_for = None;
        self.controller.forget();
        (self.changed, self.kept) = (false, false);
        self.segment = Segment::with_room(self.state.t, &self.state.x, self.method.stages.range().1);
        self.accepted_between(0.0);
        let least = self.order.forget();
        self.take_stages(least);
        self.dae.jumped(self.state.t, &self.state.x);
        let here = (self.state.t, &self.state.x[..]);
        let (pencil, matrix) = (&mut self.pencil, &mut self.matrices.real);
        self.pending = derivative::recover(&mut *self.dae, pencil, matrix, here, &mut self.xdot).err();
    }

    fn retake(&mut self, t: f64) -> Result<bool, StepFailure> {
        self.state.t = self.segment.t0;
        self.state.x.copy_from_slice(&self.x_before);
        self.xdot.copy_from_slice(&self.xdot_before);
        self.weights.at(&self.state.x);
        self.inside = true;
        self.jacobian_wanted = true;
        self.h = t - self.state.t;
        self.statistics.steps -= 1;
        self.advance(t).map(|()| true)
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

    fn propose(&mut self, h: f64) {
        (self.h, self.guessed) = (h.min(self.hmax), false);
    }

    fn rates(&mut self, xdot: &mut [f64]) {
        xdot.copy_from_slice(&self.xdot);
    }

    fn system(&mut self) -> Option<&mut dyn Dae> {
        Some(&mut *self.dae)
    }

    fn statistics(&self) -> Statistics {
        Statistics { selectors: self.dae.choices(), ..self.statistics }
    }

    fn residuals(&self) -> Residuals {
        self.dae.residuals()
    }

    fn proposed_step(&self) -> f64 {
        self.h
    }

    fn undetermined(&self) -> Vec<Vec<f64>> {
        self.dae.undetermined()
    }

    fn decisions(&self) -> String {
        self.dae.decisions()
    }
}
