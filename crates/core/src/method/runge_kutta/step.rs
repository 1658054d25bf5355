//! A step of an implicit Runge–Kutta method: two halves and, for the error, the whole; one where steps have one size.
//!
//! With methods of order q the halves are off by (x₂ − x₁)/(2^q − 1). Solving ODEs I, II.4, (4.4).

use super::ImplicitRungeKutta;
use super::formula::StageFormula;
use super::stages::{Begin, NoPoint, StageSystem, StepEnd};
use crate::dae::{Dae, Point};
use crate::error::StepFailure;
use crate::linalg::IterationMatrix;
use crate::method::convergence::Limits;
use crate::method::dormand_prince::OF_A_STEP;
use crate::method::pace::{Failures, Rules, Try, first_step_of};
use crate::method::shell::{Attempt, Formula, Shell};
use crate::method::structural::{Step, StepSize};
use crate::method::weights::Weights;
use crate::method::{StartFailure, State, derivative};
use crate::options::Options;
use crate::segment::{MOST_DEGREE, Segment};
use crate::statistics::{Residuals, Statistics};

/// Newton increments below this part of the stopping factor may be rounding.
const ROUNDING: f64 = 0.1;
/// Part of the tolerance with which steps of order two are accepted: there are many, and nothing damps their errors. With a fifth of it answers of random
/// mechanisms were off by up to 510 tolerances, with a fiftieth those of random systems by up to 191 (`tests/cross` of the models).
const OF_A_SHORT_STEP: f64 = 0.005;
/// Factor of the step size after a failed iteration.
const AFTER_FAILURE: f64 = 0.5;

/// An implicit Runge–Kutta method at a point of a solution.
pub(super) struct RungeKuttaStep<'p> {
    stages: StageSystem<'p>,
    control: StepSize,
    /// 2^q − 1, or one where orders differ
    agreement: f64,
    /// part of the tolerance that a step may use
    part: f64,
    degree: usize,
    state: State,
    xdot: Vec<f64>,
    before: State,
    xdot_before: Vec<f64>,
    segment: Segment,
    weights: Weights,
    whole: StepEnd,
    halves: [StepEnd; 2],
    error: Vec<f64>,
    /// is the Jacobian not that of this point?
    jacobian_wanted: bool,
    /// is it that of the begin of the last accepted step?
    of_begin: bool,
    /// what ẋ is found with where the stages do not tell it
    of_rates: IterationMatrix<f64>,
    /// nodes of the polynomial, and its values there relative to the begin
    nodes: Vec<f64>,
    values: Vec<Vec<f64>>,
}

impl<'p> RungeKuttaStep<'p> {
    pub fn start(
        method: &ImplicitRungeKutta,
        dae: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Shell<Self>, StartFailure> {
        let n = dae.dim();
        assert!(at.x.len() == n && at.xdot.len() == n, "{} and {} values for {n} unknowns", at.x.len(), at.xdot.len());
        let constrained = (0..n).any(|i| dae.algebraic(i));
        let (family, s) = (method.family, method.stages);
        let order = if constrained { family.order_on_constraints(s) } else { family.order(s) };
        let control = StepSize::new(method.steps, method.safety, order + 1, options)?;
        let mut weights = Weights::new(&*dae, &options.tolerance)?;
        weights.at(&at.x);
        let tolerance = method.newton_tolerance.max(10.0 * f64::EPSILON / weights.rtol());
        let limits = Limits { most: method.max_newton, tolerance, default_rate: 0.0, rounding: ROUNDING * tolerance };
        let formula = StageFormula::new(family, s).map_err(|_| StepFailure::SingularPencil { t: at.t })?;
        let nodes = nodes(&formula.c, control.fixed());
        let mut stages = StageSystem::new(dae, formula, method.project, limits);
        stages.renew(Begin { t: at.t, x: &at.x, xdot: &at.xdot })?;
        let state = State { t: at.t, x: at.x };
        let step = RungeKuttaStep {
            control,
            // beside constraints some unknowns have lower orders than others, which formulas do not tell
            agreement: if constrained { 1.0 } else { 2_f64.powi(order) - 1.0 },
            part: if order <= 2 { OF_A_SHORT_STEP } else { OF_A_STEP },
            degree: (order as usize + 1).min(MOST_DEGREE),
            before: state.clone(),
            xdot_before: at.xdot.clone(),
            segment: Segment::with_room(state.t, &state.x, MOST_DEGREE),
            whole: StepEnd::new(n, s),
            halves: [StepEnd::new(n, s), StepEnd::new(n, s)],
            error: vec![0.0; n],
            jacobian_wanted: false,
            of_begin: false,
            of_rates: IterationMatrix::new(&stages.pencil, stages.algebraic.clone()),
            values: vec![vec![0.0; n]; MOST_DEGREE],
            nodes,
            stages,
            state,
            xdot: at.xdot,
            weights,
        };
        Ok(Shell::new(step, Rules { constant: control.fixed(), ..Rules::default() }, options))
    }

    /// The end of a step of size h from a point in `halves[1]`, by two halves, or of one step in `whole`.
    fn make(&mut self, inside: bool, h: f64) -> Result<(), NoPoint> {
        let (state, xdot) = if inside { (&self.before, &self.xdot_before) } else { (&self.state, &self.xdot) };
        let from = Begin { t: state.t, x: &state.x, xdot };
        let (stages, weights, fixed) = (&mut self.stages, &self.weights, self.control.fixed());
        let mut step = |from: Begin, h: f64, end: &mut StepEnd| {
            let made = stages.step(from, h, weights, end);
            // there is no shorter step to try where steps have one size, and none that ends where it is asked for
            if fixed || inside { made.or_else(|_| stages.step_by_newton(from, h, weights, end)) } else { made }
        };
        if fixed {
            return step(from, h, &mut self.whole);
        }
        let [first, second] = &mut self.halves;
        step(from, 0.5 * h, first)?;
        step(Begin { t: from.t + 0.5 * h, x: &first.x, xdot: &first.xdot }, 0.5 * h, second)
    }

    /// The point that was made.
    fn made(&self) -> &StepEnd {
        if self.control.fixed() { &self.whole } else { &self.halves[1] }
    }

    /// Norm of the error of the halves.
    fn estimate(&mut self, h: f64) -> Result<f64, NoPoint> {
        let from = Begin { t: self.state.t, x: &self.state.x, xdot: &self.xdot };
        self.stages.step(from, h, &self.weights, &mut self.whole)?;
        for (e, (halves, whole)) in self.error.iter_mut().zip(self.halves[1].x.iter().zip(&self.whole.x)) {
            *e = (halves - whole) / self.agreement;
        }
        Ok(self.weights.norm(&self.error) / self.part)
    }

    /// The polynomial through the begin, the stages inside and the end.
    fn interpolate(&mut self, t1: f64) {
        let x1 = if self.control.fixed() { &self.whole.x } else { &self.halves[1].x };
        let n = x1.len();
        let inner = self.stages.formula.c.iter().enumerate().filter(|(_, c)| **c > 0.0 && **c < 1.0);
        let mut values = self.values.iter_mut();
        let [first, second] = &self.halves;
        let steps: [(&[f64], Option<&[f64]>); 2] = if self.control.fixed() {
            [(&self.whole.Z, None); 2]
        } else {
            [(&first.Z, None), (&second.Z, Some(&first.x))]
        };
        let steps = if self.control.fixed() { &steps[..1] } else { &steps[..] };
        for (k, (Z, begin)) in steps.iter().enumerate() {
            for (j, _) in inner.clone() {
                let Some(value) = values.next() else { return };
                for (i, value) in value.iter_mut().enumerate() {
                    *value = Z[j * n + i] + begin.map_or(0.0, |begin| begin[i] - self.state.x[i]);
                }
            }
            let Some(value) = values.next() else { return };
            let end = if k + 1 == steps.len() { x1 } else { &first.x };
            value.iter_mut().enumerate().for_each(|(i, value)| *value = end[i] - self.state.x[i]);
        }
        self.write_segment(t1);
    }

    /// The polynomial through the values at the nodes, over a step from the point at hand.
    fn write_segment(&mut self, t1: f64) {
        let values: [&[f64]; MOST_DEGREE] = std::array::from_fn(|k| &self.values[k][..]);
        let x1 = if self.control.fixed() { &self.whole.x } else { &self.halves[1].x };
        self.segment.collocation(self.state.t, t1, x1, &self.nodes, &values[..self.nodes.len()]);
    }
}

/// Nodes inside of a step and its end, of two halves where steps are made so.
fn nodes(c: &[f64], one_step: bool) -> Vec<f64> {
    let inner = c.iter().copied().filter(|c| *c > 0.0 && *c < 1.0);
    let own: Vec<f64> = inner.chain([1.0]).collect();
    if one_step { own } else { own.iter().map(|c| 0.5 * c).chain(own.iter().map(|c| 0.5 + 0.5 * c)).collect() }
}

impl Formula for RungeKuttaStep<'_> {
    fn state(&self) -> &State {
        &self.state
    }

    fn segment(&self) -> &Segment {
        &self.segment
    }

    fn first_size(&mut self) -> f64 {
        let [of_x, rates] = &mut self.halves;
        first_step_of(&self.stages.pencil, (&self.state.x, &self.xdot), &self.weights, [&mut of_x.x, &mut rates.x])
    }

    fn attempt(&mut self, tried: &Try) -> Result<Attempt, StepFailure> {
        let &Try { h, t1, last, first, after_rejection, .. } = tried;
        if std::mem::take(&mut self.jacobian_wanted) {
            self.of_begin = false;
            self.stages.renew(Begin { t: self.state.t, x: &self.state.x, xdot: &self.xdot })?;
        }
        self.weights.for_step(h);
        let error = match self.make(false, h) {
            Ok(()) if self.control.fixed() => Ok(0.0),
            Ok(()) => self.estimate(h),
            Err(none) => Err(none),
        };
        let error = match error {
            Ok(error) => error,
            Err(NoPoint { singular }) => return Ok(Attempt::Failed { factor: AFTER_FAILURE, singular }),
        };
        let step = Step { t: self.state.t, t1, x: &self.state.x, h, xdot: &self.xdot, after_rejection, first, last };
        let judged = self.control.judge(&step, error);
        if !judged.accepted {
            return Ok(Attempt::Rejected { next: judged.next });
        }
        self.interpolate(t1);
        std::mem::swap(&mut self.before, &mut self.state);
        std::mem::swap(&mut self.xdot_before, &mut self.xdot);
        self.state.t = t1;
        let end = if self.control.fixed() { &self.whole } else { &self.halves[1] };
        self.state.x.copy_from_slice(&end.x);
        self.xdot.copy_from_slice(&end.xdot);
        self.jacobian_wanted = true;
        self.of_begin = !self.stages.by_newton;
        let number = self.stages.formula.stages() + 1;
        let settled = self.stages.dae.accepted(number, t1, &mut self.state.x, &self.xdot);
        self.segment.shift_to(&self.state.x);
        self.weights.at(&self.state.x);
        let next = if self.control.fixed() { tried.proposed } else { judged.next.min(tried.longest) };
        Ok(Attempt::Accepted { next, settled })
    }

    fn stuck(&mut self, h: f64, failures: Failures) -> StepFailure {
        failures.of_general(&*self.stages.dae, self.state.t, h)
    }

    fn back(&mut self) -> Result<bool, StepFailure> {
        std::mem::swap(&mut self.before, &mut self.state);
        std::mem::swap(&mut self.xdot_before, &mut self.xdot);
        self.weights.at(&self.state.x);
        self.jacobian_wanted = true;
        self.of_begin = false;
        Ok(true)
    }

    fn restart(&mut self, at: State, xdot: Option<&[f64]>) -> Result<(), StepFailure> {
        self.state = at;
        if let Some(xdot) = xdot {
            self.xdot.copy_from_slice(xdot);
        }
        self.segment = Segment::with_room(self.state.t, &self.state.x, MOST_DEGREE);
        self.weights.at(&self.state.x);
        self.stages.dae.jumped(self.state.t, &self.state.x);
        self.jacobian_wanted = true;
        self.of_begin = false;
        let here = (self.state.t, &self.state.x[..]);
        let StageSystem { dae, pencil, .. } = &mut self.stages;
        derivative::recover(&mut **dae, pencil, &mut self.of_rates, here, &mut self.xdot)
    }

    /// The end of a step from the same begin.
    fn inside(&mut self, t: f64, x: &mut [f64]) {
        let (t0, t1) = (self.segment.t0, self.segment.t1);
        if !(t > t0 && t < t1) {
            return self.segment.eval(t, x);
        }
        let begin = Begin { t: self.before.t, x: &self.before.x, xdot: &self.xdot_before };
        self.weights.for_step(t - t0);
        let ready = self.of_begin || self.stages.renew(begin).is_ok();
        let made = ready && self.make(true, t - t0).is_ok();
        self.of_begin = ready && !self.stages.by_newton;
        self.stages.dae.looked_back();
        self.jacobian_wanted = true;
        if made {
            x.copy_from_slice(&self.made().x);
            self.stages.dae.settle(t, x);
        } else {
            self.segment.eval(t, x);
        }
    }

    /// The polynomial through ends of shorter steps.
    fn refine(&mut self) {
        let (t0, t1, degree) = (self.segment.t0, self.segment.t1, self.degree);
        let mut nodes = [0.0; MOST_DEGREE];
        let mut values = std::mem::take(&mut self.values);
        for (k, (node, value)) in nodes[..degree].iter_mut().zip(&mut values).enumerate() {
            *node = (k + 1) as f64 / degree as f64;
            if k + 1 == degree {
                value.copy_from_slice(&self.state.x);
            } else {
                self.inside(t0 + *node * (t1 - t0), value);
            }
            value.iter_mut().zip(&self.before.x).for_each(|(value, x0)| *value -= x0);
        }
        let parts: [&[f64]; MOST_DEGREE] = std::array::from_fn(|k| &values[k][..]);
        self.segment.collocation(t0, t1, &self.state.x, &nodes[..degree], &parts[..degree]);
        self.values = values;
    }

    /// Where the stages do not tell ẋ at the end, it is found there.
    fn rates(&mut self, xdot: &mut [f64]) {
        xdot.copy_from_slice(&self.xdot);
        if self.stages.formula.averages || !self.stages.formula.ends_on_stage {
            let StageSystem { dae, pencil, .. } = &mut self.stages;
            let here = (self.state.t, &self.state.x[..]);
            // what has no value there keeps the guess
            let found = derivative::recover(&mut **dae, pencil, &mut self.of_rates, here, xdot);
            if found.is_err() {
                xdot.copy_from_slice(&self.xdot);
            }
            self.jacobian_wanted = true;
            self.of_begin = false;
        }
    }

    fn system(&mut self) -> Option<&mut dyn Dae> {
        Some(&mut *self.stages.dae)
    }

    fn counters(&self) -> Statistics {
        Statistics { selectors: self.stages.dae.selections(), ..self.stages.counters }
    }

    fn residuals(&self) -> Residuals {
        self.stages.dae.residuals()
    }

    fn undetermined(&self) -> Vec<Vec<f64>> {
        self.stages.dae.undetermined()
    }

    fn decisions(&self) -> String {
        self.stages.dae.decisions()
    }
}
