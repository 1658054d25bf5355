//! A step of Radau IIa: predict, evaluate, decompose, iterate, estimate, accept or reject.

use super::RadauIIa;
use super::between::Between;
use super::collocation::{Matrices, Prediction, StageVectors};
use super::order::OrderControl;
use super::tableau::Tableau;
use crate::dae::{Dae, Pencil, Point};
use crate::error::StepFailure;
use crate::method::controller::{Control, Controller};
use crate::method::convergence::{Convergence, Limits, Outcome};
use crate::method::pace::{Failures, Rules, Trust, Try, first_step};
use crate::method::shell::{Attempt, Formula, Shell};
use crate::method::weights::Weights;
use crate::method::{StartFailure, State, derivative};
use crate::options::Options;
use crate::segment::{MOST_DEGREE, Segment};
use crate::statistics::{Residuals, Statistics};

/// Newton increments below this part of the tolerance may be rounding.
const ROUNDING: f64 = 0.01;

/// Radau IIa at work.
pub(crate) type RadauStepper<'p> = Shell<RadauStep<'p>>;

/// Radau IIa at a point of a solution.
pub(crate) struct RadauStep<'p> {
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
    /// are all rows constraints?
    pub(super) without_freedom: bool,
    // norms
    pub(super) weights: Weights,
    pub(super) limits: Limits,
    eta: f64,
    // what is at hand
    jacobian_wanted: bool,
    jacobian_is_here: bool,
    decomposed_for: Option<f64>,
    // scratch
    pub(super) x: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) error: Vec<f64>,
    pub(super) counters: Statistics,
}

impl<'p> RadauStep<'p> {
    /// Start at a consistent point.
    pub fn start(
        method: &RadauIIa,
        mut dae: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<RadauStepper<'p>, StartFailure> {
        method.check(options)?;
        let n = dae.dim();
        assert!(at.x.len() == n && at.xdot.len() == n, "{} and {} values for {n} unknowns", at.x.len(), at.xdot.len());
        // RADAU5's transformation: an error estimate of order 3 controls a method of order 5
        let weights = Weights::new(&*dae, &options.tolerance)?;
        let (least, most) = method.stages.range();
        let mut pencil = dae.new_pencil();
        dae.pencil(at.t, &at.x, &at.xdot, &mut pencil)?;
        let algebraic = n > 0 && (0..n).all(|i| dae.algebraic(i));
        let mut step = RadauStep {
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
            without_freedom: algebraic,
            weights,
            eta: 1.0,
            jacobian_wanted: false,
            jacobian_is_here: true,
            decomposed_for: None,
            x: vec![0.0; n],
            v: vec![0.0; n],
            error: vec![0.0; n],
            counters: Statistics { jacobians: 1, ..Statistics::default() },
        };
        step.take_stages(least);
        let constant = method.control == Control::Fixed;
        let trust = if method.safeguards && !constant { Trust::Accelerated } else { Trust::AtOnce };
        let rules = Rules { constant, trust, halves: method.safeguards, ..Rules::default() };
        Ok(Shell::new(step, rules, options))
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

    /// How Newton's iteration is judged.
    pub(super) fn judge(&self) -> fn(Limits, &mut f64) -> Convergence {
        match self.method.safeguards {
            true if self.dae.follows() => Convergence::patient,
            true => Convergence::cautious,
            false => Convergence::new,
        }
    }

    /// Take the stages at hand as a step. The size of the next one.
    fn accept(&mut self, tried: &Try, error: f64, iterations: u32, rate: f64) -> f64 {
        let &Try { h, t1, last, .. } = tried;
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
        (self.extrapolates, self.inside, self.changed) = (true, false, false);

        let next = self.controller.accept(tried, error, iterations).min(tried.longest);
        self.jacobian_is_here = false;
        self.jacobian_wanted = rate > self.method.jacobian_reuse;
        let keep =
            !self.jacobian_wanted && !last && (self.method.keep_step.0..=self.method.keep_step.1).contains(&(next / h));
        self.kept = keep;
        if keep { h } else { next }
    }

    /// After a failed iteration or decomposition.
    fn failed(&mut self, factor: f64, singular: bool) -> Attempt {
        self.decomposed_for = None;
        self.jacobian_wanted = !self.jacobian_is_here;
        Attempt::Failed { factor, singular }
    }
}

impl Formula for RadauStep<'_> {
    fn state(&self) -> &State {
        &self.state
    }

    fn segment(&self) -> &Segment {
        self.best_segment()
    }

    fn first_size(&mut self) -> f64 {
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
        first_step(self.weights.norm(&self.x), self.weights.norm(&self.v))
    }

    fn attempt(&mut self, tried: &Try) -> Result<Attempt, StepFailure> {
        let (t, h) = (self.state.t, tried.h);
        if self.jacobian_wanted {
            self.dae.pencil(t, &self.state.x, &self.xdot, &mut self.pencil)?;
            self.counters.jacobians += 1;
            (self.jacobian_wanted, self.jacobian_is_here) = (false, true);
            self.decomposed_for = None;
        }
        let kept = std::mem::take(&mut self.kept);
        if self.order.is_variable() && !self.inside {
            let stages = self.stages.tableau().stages();
            if self.decomposed_for != Some(h) || (kept && self.order.kept(stages)) {
                self.select_stages(h);
            }
        }
        if self.decomposed_for != Some(h) {
            self.counters.decompositions += 1;
            if self.matrices.decompose(&self.pencil, self.stages.tableau(), h).is_err() {
                self.order.failed = true;
                return Ok(self.failed(0.5, true));
            }
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
            &mut self.counters,
        );
        let (iterations, rate) = match outcome {
            Outcome::Converged { iterations, rate } => (iterations, rate),
            Outcome::Diverged => {
                self.order.failed = true;
                return Ok(self.failed(0.5, false));
            }
            Outcome::Slow { excess, iterations } => {
                // shrink so that the iteration would just converge [HW] IV.8
                let left = f64::from(4 + self.limits.most.saturating_sub(1 + iterations));
                let factor =
                    if iterations >= self.limits.most { 0.5 } else { 0.8 * excess.clamp(1e-4, 20.0).powf(-1.0 / left) };
                self.order.failed = factor <= 0.5;
                return Ok(self.failed(factor, false));
            }
        };
        let mut error = self.estimate(h, tried.after_rejection);
        let fixed = self.method.control == Control::Fixed;
        if error < 1.0 || fixed {
            error = error.max(self.deviation(h));
        }
        if error >= 1.0 && !fixed {
            self.jacobian_wanted = !self.jacobian_is_here;
            return Ok(Attempt::Rejected { next: self.controller.reject(h, error, iterations) });
        }
        let next = self.accept(tried, error, iterations, rate);
        // an error here belongs to the new point, which stands
        let settled = self.dae.accepted(self.stages.tableau().stages() - 1, tried.t1, &mut self.state.x, &self.xdot);
        self.segment.shift_to(&self.state.x);
        self.accepted_between(h);
        if settled.is_ok() {
            self.jacobian_wanted |= self.dae.wants_pencil();
        }
        Ok(Attempt::Accepted { next, settled })
    }

    fn stuck(&mut self, h: f64, failures: Failures) -> StepFailure {
        let t = self.state.t;
        match self.dae.trouble(t) {
            Some(failure) => failure,
            None if failures.singular > 0 => StepFailure::SingularPencil { t },
            None => StepFailure::NewtonDiverged { t, h, failures: failures.attempts },
        }
    }

    fn back(&mut self) -> Result<bool, StepFailure> {
        self.state.t = self.segment.t0;
        self.state.x.copy_from_slice(&self.x_before);
        self.xdot.copy_from_slice(&self.xdot_before);
        self.weights.at(&self.state.x);
        self.inside = true;
        self.jacobian_wanted = true;
        Ok(true)
    }

    fn restart(&mut self, at: State) -> Result<(), StepFailure> {
        self.state = at;
        (self.extrapolates, self.inside) = (false, false);
        self.eta = 1.0;
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
        derivative::recover(&mut *self.dae, pencil, matrix, here, &mut self.xdot)
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
        xdot.copy_from_slice(&self.xdot);
    }

    fn system(&mut self) -> Option<&mut dyn Dae> {
        Some(&mut *self.dae)
    }

    fn counters(&self) -> Statistics {
        Statistics { selectors: self.dae.choices(), ..self.counters }
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
