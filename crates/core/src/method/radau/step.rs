//! A step of Radau IIa: predict, evaluate, decompose, iterate, estimate, accept or reject.

use super::RadauIIa;
use super::between::Between;
use super::square::{Matrices, Square};
use crate::dae::{Dae, Pencil, Point};
use crate::error::StepFailure;
use crate::method::collocation::{Collocation, Prediction, RAISED_UP_TO, Settings};
use crate::method::controller::{Control, Controller};
use crate::method::convergence::{Convergence, Limits};
use crate::method::pace::{Failures, Rules, Trust, Try, first_step};
use crate::method::shell::{Attempt, Formula, Shell};
use crate::method::weights::Weights;
use crate::method::{StartFailure, State, derivative};
use crate::options::Options;
use crate::segment::Segment;
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
    pub(super) collocation: Collocation,
    // where we are
    pub(super) state: State,
    xdot: Vec<f64>,
    // where the last step began
    pub(super) x_before: Vec<f64>,
    xdot_before: Vec<f64>,
    /// where values between steps are wanted
    pub(super) between: Option<Box<Between>>,
    /// are all rows constraints?
    pub(super) without_freedom: bool,
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
        let weights = Weights::new(&*dae, &options.tolerance)?;
        let mut pencil = dae.new_pencil();
        dae.pencil(at.t, &at.x, &at.xdot, &mut pencil)?;
        let algebraic = n > 0 && (0..n).all(|i| dae.algebraic(i));
        let settings = Settings {
            stages: method.stages,
            max_newton: method.max_newton,
            newton_tolerance: method.newton_tolerance,
            jacobian_reuse: method.jacobian_reuse,
            keep_step: method.keep_step,
            rounding: if method.safeguards { ROUNDING } else { 0.0 },
            extrapolates: true,
            raised_up_to: RAISED_UP_TO,
        };
        let controller = Controller::new(method.control, method.safety, method.ratio, method.max_newton);
        let step = RadauStep {
            matrices: Matrices::new(&*dae, &pencil, method.stages.range().1),
            collocation: Collocation::new(settings, controller, weights, (at.t, &at.x)),
            method: method.clone(),
            dae,
            pencil,
            state: State { t: at.t, x: at.x },
            xdot: at.xdot,
            x_before: vec![0.0; n],
            xdot_before: vec![0.0; n],
            between: None,
            without_freedom: algebraic,
            x: vec![0.0; n],
            v: vec![0.0; n],
            error: vec![0.0; n],
            counters: Statistics { jacobians: 1, ..Statistics::default() },
        };
        let constant = method.control == Control::Fixed;
        let trust = if method.safeguards && !constant { Trust::Accelerated } else { Trust::AtOnce };
        let rules = Rules { constant, trust, halves: method.safeguards, ..Rules::default() };
        Ok(Shell::new(step, rules, options))
    }

    /// How Newton's iteration is judged.
    pub(super) fn judge(&self) -> fn(Limits, &mut f64) -> Convergence {
        match self.method.safeguards {
            true if self.dae.multipliers_lag() => Convergence::patient,
            true => Convergence::cautious,
            false => Convergence::new,
        }
    }

    /// Take the stages at hand as a step. The size of the next one.
    fn accept(&mut self, tried: &Try, error: f64, newton: (u32, f64)) -> f64 {
        let (last, stages) = (self.collocation.tableau().stages() - 1, &self.collocation.stages);
        self.x_before.copy_from_slice(&self.state.x);
        self.xdot_before.copy_from_slice(&self.xdot);
        for (x, z) in self.state.x.iter_mut().zip(stages.Z(last)) {
            *x += z;
        }
        stages.derivative(last, tried.h, &mut self.xdot);
        let next = self.collocation.accept(tried, (self.state.t, &self.state.x), error, newton);
        self.state.t = tried.t1;
        self.collocation.weights.at(&self.state.x);
        next
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
        let E = &self.pencil.E;
        (0..E.rows()).flat_map(|i| E.row(i)).filter(|(_, e)| *e != 0.0).for_each(|(j, _)| differential(j));
        let weights = &self.collocation.weights;
        first_step(weights.norm(&self.x), weights.norm(&self.v))
    }

    fn attempt(&mut self, tried: &Try) -> Result<Attempt, StepFailure> {
        let (t, h) = (self.state.t, tried.h);
        self.collocation.select_stages(h, &self.state.x);
        if self.collocation.jacobian_wanted {
            self.dae.pencil(t, &self.state.x, &self.xdot, &mut self.pencil)?;
            self.counters.jacobians += 1;
            (self.collocation.jacobian_wanted, self.collocation.jacobian_is_here) = (false, true);
            self.collocation.decomposed_for = None;
        }
        if self.collocation.decomposed_for != Some(h) {
            self.counters.decompositions += 1;
            if self.matrices.decompose(&self.pencil, self.collocation.tableau(), h).is_err() {
                return Ok(Attempt::Failed { factor: self.collocation.failed(0.5), singular: true });
            }
            self.collocation.decomposed_for = Some(h);
        }
        let line = if self.dae.quasilinear() { Prediction::Zero } else { Prediction::Line(&self.xdot) };
        self.collocation.predict(h, line);
        self.collocation.weights.for_step(h);
        let judge = self.judge();
        let mut square = Square { dae: &mut *self.dae, matrices: &mut self.matrices };
        let at = (t, &self.state.x[..], h);
        let outcome = self.collocation.iterate(&mut square, at, judge, &mut self.counters);
        let newton = match self.collocation.converged(outcome) {
            Ok(newton) => newton,
            Err(factor) => return Ok(Attempt::Failed { factor, singular: false }),
        };
        let mut error = self.estimate(h, tried.after_rejection);
        let fixed = self.method.control == Control::Fixed;
        if error < 1.0 || fixed {
            error = error.max(self.deviation(h));
        }
        if error >= 1.0 && !fixed {
            return Ok(Attempt::Rejected { next: self.collocation.reject(tried, error, newton.0) });
        }
        let next = self.accept(tried, error, newton);
        // an error here belongs to the new point, which stands
        let last = self.collocation.tableau().stages() - 1;
        let settled = self.dae.accepted(last, tried.t1, &mut self.state.x, &self.xdot);
        self.collocation.segment.shift_to(&self.state.x);
        self.accepted_between(h);
        if settled.is_ok() {
            self.collocation.jacobian_wanted |= self.dae.wants_pencil();
        }
        Ok(Attempt::Accepted { next, settled })
    }

    fn stuck(&mut self, h: f64, failures: Failures) -> StepFailure {
        failures.of_general(&*self.dae, self.state.t, h)
    }

    fn back(&mut self) -> Result<bool, StepFailure> {
        self.state.t = self.collocation.segment.t0;
        self.state.x.copy_from_slice(&self.x_before);
        self.xdot.copy_from_slice(&self.xdot_before);
        self.collocation.back(&self.state.x);
        Ok(true)
    }

    fn restart(&mut self, at: State, xdot: Option<&[f64]>) -> Result<(), StepFailure> {
        self.state = at;
        if let Some(xdot) = xdot {
            self.xdot.copy_from_slice(xdot);
        }
        self.collocation.restart(self.state.t, &self.state.x);
        self.accepted_between(0.0);
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
