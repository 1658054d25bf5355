//! Radau IIa collocation, whatever equations and linear algebra stand behind its stages: the number of stages, prediction, norms, Newton's
//! iteration and its stopping rule, the size of the next step, and which matrices are at hand. \[HW\] IV.8.

mod between;
mod discretised;
mod error_estimate;
pub(crate) mod nodes;
mod on_constraints;
mod order;
mod stages;
mod step;
pub(crate) mod tableau;

pub(crate) use discretised::{Discretised, OffStage, PointRate, Unsettled};
pub(crate) use order::RAISED_UP_TO;
pub use order::Stages;
pub(crate) use stages::{NewtonPath, Prediction, StageEquations, StagePoints, StageRate, StageVectors, Transformed};
pub(crate) use step::CollocationStep;
pub(crate) use tableau::Tableau;

use super::controller::Controller;
use super::convergence::{Convergence, IterationEnd, Limits};
use super::pace::Try;
use super::weights::Weights;
use crate::segment::{MOST_DEGREE, Segment};
use crate::statistics::Statistics;
use order::OrderControl;

/// Options of a method that concern its collocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StageSettings {
    pub stages: Stages,
    /// Most Newton iterations with three stages.
    pub max_newton: u32,
    pub newton_tolerance: Option<f64>,
    pub jacobian_reuse: f64,
    pub keep_step: (f64, f64),
    /// Newton increments below this part of the tolerance may be rounding.
    pub rounding: f64,
    /// Does Newton's iteration start on the extrapolated polynomial of the last step?
    pub extrapolates: bool,
    /// Rate of contraction up to which the order is raised.
    pub raised_up_to: f64,
}

impl StageSettings {
    /// Most iterations with so many stages, as in RADAU: three less with one stage, five and ten more with five and seven.
    fn most_iterations(&self, stages: usize) -> u32 {
        match stages {
            1 => self.max_newton.saturating_sub(3).max(3),
            5 => self.max_newton + 5,
            7 => self.max_newton + 10,
            _ => self.max_newton,
        }
    }
}

/// Steps of collocation.
pub(crate) struct Collocation {
    settings: StageSettings,
    pub stages: StageVectors,
    order: OrderControl,
    pub controller: Controller,
    pub weights: Weights,
    pub limits: Limits,
    pub eta: f64,
    /// the polynomial over the last step
    pub segment: Segment,
    /// does it lead to the point at hand?
    continues: bool,
    /// is the last step made again?
    inside: bool,
    /// was the number of stages just changed?
    changed: bool,
    /// is the step size that of the last step, so that nothing needs to be decomposed?
    kept: bool,
    /// Is a new Jacobian needed, and is the one at hand that of the last accepted point?
    pub jacobian_wanted: bool,
    pub jacobian_is_here: bool,
    /// the step size that matrices are decomposed for
    pub decomposed_for: Option<f64>,
}

impl Collocation {
    /// At a point whose Jacobian is at hand.
    pub fn new(settings: StageSettings, controller: Controller, weights: Weights, (t, x): (f64, &[f64])) -> Self {
        let (least, most) = settings.stages.range();
        let mut collocation = Collocation {
            stages: StageVectors::new(x.len(), Tableau::of(least), most),
            order: OrderControl::new(settings.stages, settings.raised_up_to),
            controller,
            weights,
            limits: Limits {
                most: settings.max_newton,
                tolerance: 0.0,
                default_rate: settings.jacobian_reuse.abs(),
                rounding: settings.rounding,
            },
            eta: 1.0,
            segment: Segment::with_room(t, x, most),
            continues: false,
            inside: false,
            changed: false,
            kept: false,
            jacobian_wanted: false,
            jacobian_is_here: true,
            decomposed_for: None,
            settings,
        };
        collocation.take_stages(least, x);
        collocation
    }

    /// The method at hand.
    pub fn tableau(&self) -> &'static Tableau {
        self.stages.tableau()
    }

    /// The largest number of stages.
    pub fn most_stages(&self) -> usize {
        self.settings.stages.range().1
    }

    /// There is a new Jacobian, that of the last accepted point or not.
    pub fn renewed(&mut self, is_here: bool) {
        (self.jacobian_wanted, self.jacobian_is_here) = (false, is_here);
        self.decomposed_for = None;
    }

    /// Go on with so many stages: tolerances and limits that belong to them.
    fn take_stages(&mut self, stages: usize, x: &[f64]) {
        let s = stages as f64;
        self.stages.change(Tableau::of(stages));
        // RADAU5's transformation: an error estimate of order s controls a method of order 2s − 1
        self.weights.transform(|rtol| 0.1 * rtol.powf((s + 1.0) / (2.0 * s)));
        self.weights.at(x);
        let rtol = self.weights.rtol();
        let usual = if stages == 1 { 0.03 } else { 0.03_f64.min(rtol.powf((s - 1.0) / (s + 1.0))) };
        self.limits.tolerance = self.settings.newton_tolerance.unwrap_or((10.0 * f64::EPSILON / rtol).max(usual));
        self.limits.most = self.settings.most_iterations(stages);
        (self.controller.max_newton, self.controller.exponent) = (self.limits.most, 1.0 / (s + 1.0));
    }

    /// Choose the number of stages for an attempt with step size h from x.
    pub fn select_stages(&mut self, h: f64, x: &[f64]) {
        let kept = std::mem::take(&mut self.kept);
        if !self.order.is_variable() || self.inside {
            return;
        }
        let before = self.tableau().stages();
        let decomposes = self.jacobian_wanted || self.decomposed_for != Some(h);
        if !(decomposes || kept && self.order.kept(before)) {
            return;
        }
        let last = self.segment.t1 - self.segment.t0;
        let ratio = if last > 0.0 { h / last } else { 1.0 };
        let stages = self.order.select(before, (self.stages.iterations, self.stages.rate), ratio);
        self.changed = stages != before;
        self.controller.new_order = self.changed;
        if self.changed {
            self.take_stages(stages, x);
            self.decomposed_for = None;
        }
    }

    /// Stages where Newton's iteration starts, on the polynomial of the last step if that tells something about this one.
    pub fn predict(&mut self, h: f64, otherwise: Prediction) {
        let prediction = if self.inside {
            Prediction::Inside(&self.segment)
        } else if self.extrapolates() {
            Prediction::Polynomial(&self.segment)
        } else {
            otherwise
        };
        self.stages.predict(prediction, h);
    }

    /// Does Newton's iteration start on the extrapolated polynomial of the last step?
    pub fn extrapolates(&self) -> bool {
        self.continues && !self.inside && !self.changed && self.settings.extrapolates
    }

    /// Newton's iteration from the predicted stages.
    pub fn iterate(
        &mut self,
        equations: &mut dyn StageEquations,
        at: (f64, &[f64], f64),
        judge: fn(Limits, &mut f64) -> Convergence,
        counters: &mut Statistics,
    ) -> IterationEnd {
        let way = (NewtonPath::Tangential, judge(self.limits, &mut self.eta));
        self.stages.iterate(equations, at, &self.weights, way, &mut self.eta, counters)
    }

    /// Predicted stages on the constraints, as far as the matrices at hand lead there. False if the model has no values on the way.
    pub fn settle_prediction(
        &mut self,
        equations: &mut dyn StageEquations,
        at: (f64, &[f64], f64),
        counters: &mut Statistics,
    ) -> bool {
        self.stages.settle_prediction(equations, at, &self.weights, counters).is_ok()
    }

    /// Newton's iteration on the constraints, from the stages at hand. If it fails, nothing remembers it.
    pub fn iterate_on_constraints(
        &mut self,
        equations: &mut dyn StageEquations,
        at: (f64, &[f64], f64),
        judge: fn(Limits, &mut f64) -> Convergence,
        counters: &mut Statistics,
    ) -> IterationEnd {
        let before = (self.eta, self.stages.iterations, self.stages.rate);
        if !self.settle_prediction(equations, at, counters) {
            return IterationEnd::Diverged;
        }
        let way = (NewtonPath::OnConstraints, judge(self.limits, &mut self.eta));
        let outcome = self.stages.iterate(equations, at, &self.weights, way, &mut self.eta, counters);
        if !matches!(outcome, IterationEnd::Converged { .. }) {
            (self.eta, self.stages.iterations, self.stages.rate) = before;
        }
        outcome
    }

    /// What an iteration came to: iterations and rate, or the factor by which the step is to shrink.
    pub fn converged(&mut self, outcome: IterationEnd) -> Result<(u32, f64), f64> {
        match outcome {
            IterationEnd::Converged { iterations, rate } => Ok((iterations, rate)),
            IterationEnd::Diverged => Err(self.failed(0.5)),
            IterationEnd::Slow { excess, iterations } => {
                // shrink so that the iteration would just converge [HW] IV.8
                let left = f64::from(4 + self.limits.most.saturating_sub(1 + iterations));
                let foreseen = 0.8 * excess.clamp(1e-4, 20.0).powf(-1.0 / left);
                Err(self.failed(if iterations >= self.limits.most { 0.5 } else { foreseen }))
            }
        }
    }

    /// An attempt failed; the next one is shorter by this factor, which is returned.
    pub fn failed(&mut self, factor: f64) -> f64 {
        self.order.failed = factor <= 0.5;
        self.decomposed_for = None;
        self.jacobian_wanted = !self.jacobian_is_here;
        factor
    }

    /// An attempt had this error, which is too large. The size of the next one.
    pub fn reject(&mut self, tried: &Try, error: f64, iterations: u32) -> f64 {
        self.jacobian_wanted = !self.jacobian_is_here;
        self.controller.reject(tried.h, error, iterations)
    }

    /// The stages at hand are a step from t to the point x. The size of the next one.
    pub fn accept(&mut self, tried: &Try, (t, x): (f64, &[f64]), error: f64, (iterations, rate): (u32, f64)) -> f64 {
        let &Try { h, t1, last, .. } = tried;
        let s = self.tableau().stages();
        let Z: [&[f64]; MOST_DEGREE] = std::array::from_fn(|j| self.stages.Z(j.min(s - 1)));
        self.segment.collocation(t, t1, x, self.tableau().C, &Z[..s]);
        (self.continues, self.inside, self.changed) = (true, false, false);
        let next = self.controller.accept(tried, error, iterations).min(tried.longest);
        self.jacobian_is_here = false;
        self.jacobian_wanted = rate > self.settings.jacobian_reuse;
        let (least, most) = self.settings.keep_step;
        self.kept = !self.jacobian_wanted && !last && (least..=most).contains(&(next / h));
        if self.kept { h } else { next }
    }

    /// Back to the begin x of the last step, which is to be made again.
    pub fn back(&mut self, x: &[f64]) {
        self.weights.at(x);
        self.inside = true;
        self.jacobian_wanted = true;
    }

    /// Begin anew at another point.
    pub fn restart(&mut self, t: f64, x: &[f64]) {
        (self.continues, self.inside, self.changed, self.kept) = (false, false, false, false);
        self.eta = 1.0;
        self.jacobian_wanted = true;
        self.decomposed_for = None;
        self.controller.forget();
        self.segment = Segment::with_room(t, x, self.most_stages());
        let least = self.order.forget();
        self.take_stages(least, x);
    }
}
