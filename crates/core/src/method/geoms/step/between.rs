//! Values between the steps: the deviation of the polynomial is controlled where they are wanted, and values are ends of shorter steps.

use super::super::regularised::Regularised;
use super::GeomsStep;
use crate::method::between::{KEPT, NEGLIGIBLE, Nodes, SUSPICIOUS, smallest};
use crate::method::collocation::{Prediction, Tableau};
use crate::method::convergence::{Convergence, Outcome};
use crate::segment::Segment;

/// What is needed where values between steps are wanted.
pub(super) struct Between {
    nodes: Nodes,
    /// number of stages that they belong to
    stages: usize,
    /// guess of the largest deviation of an unknown in the last attempt, in tolerances of a step
    deviation: f64,
    /// the longest step that was accepted, or the first that was tried
    longest: f64,
    /// values at the nodes of the polynomial that is kept, relative to the begin of the step
    values: Vec<Vec<f64>>,
    kept: Segment,
    /// is it the polynomial of the last step?
    is_kept: bool,
}

impl GeomsStep<'_> {
    /// Make room.
    pub(super) fn start_between(&mut self) {
        if self.between.is_some() {
            return;
        }
        self.between = Some(Box::new(Between {
            nodes: Nodes::new(self.collocation.tableau().C),
            stages: self.collocation.tableau().stages(),
            deviation: 0.0,
            longest: 0.0,
            values: vec![vec![0.0; self.state.x.len()]; KEPT],
            kept: Segment::with_room(self.state.t, &self.state.x, KEPT),
            is_kept: false,
        }));
    }

    /// Norm of the deviation of the polynomial over the attempt at hand; zero where nobody asks, and where it is no error of the step.
    pub(super) fn deviation(&mut self, h: f64) -> f64 {
        let Some(between) = &mut self.between else { return 0.0 };
        if between.stages != self.collocation.tableau().stages() {
            between.stages = self.collocation.tableau().stages();
            between.nodes = Nodes::new(self.collocation.tableau().C);
        }
        let (t, nodes, stages) = (self.state.t, between.nodes, &self.collocation.stages);
        self.error.iter_mut().enumerate().for_each(|(i, e)| *e = nodes.guess(|j| stages.Z(j)[i]));
        between.deviation = self.collocation.weights.largest(&self.error);
        if between.longest == 0.0 {
            between.longest = h;
        }
        if between.deviation < SUSPICIOUS || h <= smallest(t, between.longest) {
            return 0.0;
        }
        stages.weighted(nodes.value(), &mut self.x);
        self.x.iter_mut().zip(&self.state.x).for_each(|(x, x0)| *x += x0);
        self.counters.residuals += 1;
        if self.array.evaluate(t + nodes.worst() * h, &self.x, &mut self.scratch_rows).is_err() {
            return f64::INFINITY;
        }
        let algebraic = self.layout.algebraic();
        self.bC.copy_from_slice(&self.scratch_rows[..algebraic]);
        self.constraints.transform(&mut self.bC);
        self.collocation.stages.weighted(nodes.rate(), &mut self.x);
        for (i, j) in self.differential_columns().enumerate() {
            self.bD[i] = h * self.scratch_rows[algebraic + i] - self.x[j];
        }
        self.differential.solve_real(&self.constraints, &self.bC, &self.bD, &mut self.zeta);
        self.constraints.substitute(&self.bC, &mut self.zeta, &mut self.error);
        let norm = self.collocation.weights.norm(&self.error);
        if norm.is_nan() { f64::INFINITY } else { norm }
    }

    /// A step was accepted, or the next one begins elsewhere.
    pub(super) fn accepted_between(&mut self, h: f64) {
        if let Some(between) = &mut self.between {
            between.longest = between.longest.max(h);
            between.is_kept = false;
        }
    }

    /// The polynomial over the last step, the better one where it was made.
    pub(super) fn best_segment(&self) -> &Segment {
        match &self.between {
            Some(between) if between.is_kept => &between.kept,
            _ => &self.collocation.segment,
        }
    }

    /// x at a time of the last step, on the constraints of all levels.
    pub(super) fn value_inside(&mut self, t: f64, x: &mut [f64]) {
        if !(self.deviates(t) && self.shorter_step(t)) {
            self.best_segment().eval(t, x);
            self.x.copy_from_slice(x);
        }
        self.correct_inside(t);
        x.copy_from_slice(&self.x);
    }

    /// May the polynomial deviate by more than is left in saved values?
    fn deviates(&self, t: f64) -> bool {
        let (t0, t1) = (self.collocation.segment.t0, self.collocation.segment.t1);
        match &self.between {
            Some(between) if t1 > t0 => {
                let share = between.nodes.share((t - t0) / (t1 - t0));
                share * between.deviation * self.collocation.weights.loosened() > NEGLIGIBLE
            }
            _ => false,
        }
    }

    /// The end of a step from the begin of the last one to `t`, in `self.x`; false if it cannot be made.
    fn shorter_step(&mut self, t: f64) -> bool {
        let h = t - self.collocation.segment.t0;
        let tableau = self.collocation.tableau();
        self.collocation.stages.predict(Prediction::Inside(&self.collocation.segment), h);
        // the factors at hand are those of the constraints; the next step decomposes the differential part anew
        self.collocation.decomposed_for = None;
        self.counters.decompositions += 1;
        let selected = !self.selector_wanted || self.differential.select(&self.constraints, tableau, h).is_ok();
        if !selected || self.differential.decompose(&self.constraints, tableau, h).is_err() {
            return false;
        }
        self.collocation.weights.for_step(h);
        let mut equations = Regularised {
            array: &mut *self.array,
            constraints: &mut self.constraints,
            differential: &mut self.differential,
            rows: &mut self.stage_rows,
        };
        let mut eta = 1.0;
        let collocation = &mut self.collocation;
        // the choice of the order goes by iterations of the run itself
        let (iterations, rate) = (collocation.stages.iterations, collocation.stages.rate);
        let outcome = collocation.stages.iterate(
            &mut equations,
            (collocation.segment.t0, &self.before, h),
            &collocation.weights,
            Convergence::new(collocation.limits, &mut eta),
            &mut eta,
            &mut self.counters,
        );
        (collocation.stages.iterations, collocation.stages.rate) = (iterations, rate);
        let end = collocation.stages.Z(tableau.stages() - 1);
        for ((x, x0), z) in self.x.iter_mut().zip(&self.before).zip(end) {
            *x = x0 + z;
        }
        matches!(outcome, Outcome::Converged { .. })
    }

    /// Replace the polynomial over the last step by one through ends of shorter steps, where it deviates.
    pub(super) fn keep_polynomial(&mut self) {
        let Some(worst) = self.between.as_ref().map(|between| between.nodes.worst()) else { return };
        let (t0, t1) = (self.collocation.segment.t0, self.collocation.segment.t1);
        let c = Tableau::of(KEPT).C;
        if !self.deviates(t0 + (t1 - t0) * worst) {
            return;
        }
        for (k, c) in c.iter().enumerate() {
            if k + 1 == KEPT {
                self.x.copy_from_slice(&self.state.x);
            } else if !self.shorter_step(t0 + c * (t1 - t0)) {
                return;
            }
            let Some(between) = &mut self.between else { return };
            for ((value, x), x0) in between.values[k].iter_mut().zip(&self.x).zip(&self.before) {
                *value = x - x0;
            }
        }
        let Some(between) = &mut self.between else { return };
        let stages: [&[f64]; KEPT] = std::array::from_fn(|k| &between.values[k][..]);
        between.kept.collocation(t0, t1, &self.state.x, c, &stages);
        between.is_kept = true;
    }
}
