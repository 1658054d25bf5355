//! Values between the steps: the deviation of the polynomial is controlled where they are wanted, and values are ends of shorter steps.

use super::nodes::{KEPT, NEGLIGIBLE, Nodes, SUSPICIOUS, smallest};
use super::{CollocationStep, Discretised, NewtonPath, OffStage, Prediction, StageVectors, Tableau};
use crate::method::convergence::IterationEnd;
use crate::segment::Segment;

/// Below this part of a step unknowns of index two and more are taken from the polynomial, which is off there by a few hundredths of what it
/// is elsewhere: errors of the begin, divided by the length of a shorter step, enter them.
const SHORT: f64 = 0.1;

/// What is needed where values between steps are wanted. Shorter steps have stages of their own, so that the run goes on as if nobody had
/// looked.
pub(crate) struct Between {
    nodes: Nodes,
    stages: StageVectors,
    /// guess of the largest deviation of an unknown in the last attempt, in tolerances of a step
    deviation: f64,
    /// the longest step that was accepted, or the first that was tried
    longest: f64,
    /// values at the nodes of the polynomial that is kept, relative to the begin of the step
    values: Vec<Vec<f64>>,
    kept: Segment,
    /// is it the polynomial of the last step?
    is_kept: bool,
    x: Vec<f64>,
}

impl<E: Discretised> CollocationStep<E> {
    /// Make room.
    pub(crate) fn start_between(&mut self) {
        if self.between.is_some() {
            return;
        }
        let n = self.state.x.len();
        let (tableau, most) = (self.collocation.tableau(), self.collocation.most_stages());
        self.equations.watch_between(most);
        self.between = Some(Box::new(Between {
            nodes: Nodes::new(tableau.C),
            stages: StageVectors::new(n, tableau, most),
            deviation: 0.0,
            longest: 0.0,
            values: vec![vec![0.0; n]; KEPT],
            kept: Segment::with_room(self.state.t, &self.state.x, KEPT),
            is_kept: false,
            x: vec![0.0; n],
        }));
    }

    /// Norm of the deviation of the polynomial over the attempt at hand; zero where nobody asks, and where it is no error of the step.
    pub(super) fn deviation(&mut self, h: f64) -> f64 {
        let Some(between) = &mut self.between else { return 0.0 };
        let (tableau, t) = (self.collocation.tableau(), self.state.t);
        if between.stages.tableau().stages() != tableau.stages() {
            between.nodes = Nodes::new(tableau.C);
            between.stages.change(tableau);
        }
        let nodes = between.nodes;
        for (i, e) in self.error.iter_mut().enumerate() {
            *e = nodes.guess(|j| self.collocation.stages.Z(j)[i]);
        }
        between.deviation = self.collocation.weights.largest(&self.error);
        if between.longest == 0.0 {
            between.longest = h;
        }
        // a system without freedom controls its polynomial anyway
        if between.deviation < SUSPICIOUS || self.equations.without_freedom() || h <= smallest(t, between.longest) {
            return 0.0;
        }
        self.collocation.stages.weighted(nodes.value(), &mut self.x);
        self.x.iter_mut().zip(&self.state.x).for_each(|(x, x0)| *x += x0);
        self.collocation.stages.weighted(nodes.rate(), &mut self.rate);
        self.corrected(OffStage::Inside, t + nodes.worst() * h, h)
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

    /// x at a time of the last step.
    pub(super) fn value_inside(&mut self, t: f64, x: &mut [f64]) {
        if self.deviates(t) && self.shorter_step(t) {
            if let Some(between) = &self.between {
                x.copy_from_slice(&between.x);
            }
        } else {
            self.best_segment().eval(t, x);
        }
        self.equations.settle_inside(t, x, &mut self.counters);
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

    /// The end of a step from the begin of the last one to `t`, in the room of `between`; false if it cannot be made.
    fn shorter_step(&mut self, t: f64) -> bool {
        let Some(between) = &mut self.between else { return false };
        let h = t - self.collocation.segment.t0;
        let tableau = between.stages.tableau();
        self.counters.decompositions += 1;
        if self.equations.decompose_inside(&mut self.collocation, h).is_err() {
            self.equations.looked_back();
            return false;
        }
        between.stages.predict(Prediction::Inside(&self.collocation.segment), h);
        self.collocation.weights.for_step(h);
        let mut eta = 1.0;
        let way = (NewtonPath::Tangential, self.equations.judge()(self.collocation.limits, &mut eta));
        let outcome = between.stages.iterate(
            self.equations.at_stages(),
            (self.collocation.segment.t0, &self.before, h),
            &self.collocation.weights,
            way,
            &mut eta,
            &mut self.counters,
        );
        self.equations.looked_back();
        let end = between.stages.Z(tableau.stages() - 1);
        for ((x, x0), z) in between.x.iter_mut().zip(&self.before).zip(end) {
            *x = x0 + z;
        }
        if h < SHORT * (self.collocation.segment.t1 - self.collocation.segment.t0)
            && self.equations.high_index_from_polynomial()
            && self.collocation.weights.higher_index().next().is_some()
        {
            self.collocation.segment.eval(t, &mut self.x);
            self.collocation.weights.higher_index().for_each(|i| between.x[i] = self.x[i]);
        }
        matches!(outcome, IterationEnd::Converged { .. })
    }

    /// Replace the polynomial over the last step by one through ends of shorter steps, where it deviates.
    pub(super) fn keep_polynomial(&mut self) {
        let (t0, t1) = (self.collocation.segment.t0, self.collocation.segment.t1);
        let C = Tableau::of(KEPT).C;
        if !self.deviates(t0 + (t1 - t0) * self.between.as_ref().map_or(0.0, |between| between.nodes.worst())) {
            return;
        }
        for (k, c) in C[..KEPT - 1].iter().enumerate() {
            if !self.shorter_step(t0 + c * (t1 - t0)) {
                return;
            }
            let Some(between) = &mut self.between else { return };
            for ((value, x), x0) in between.values[k].iter_mut().zip(&between.x).zip(&self.before) {
                *value = x - x0;
            }
        }
        let Some(between) = &mut self.between else { return };
        for ((value, x), x0) in between.values[KEPT - 1].iter_mut().zip(&self.state.x).zip(&self.before) {
            *value = x - x0;
        }
        let stages: [&[f64]; KEPT] = std::array::from_fn(|k| &between.values[k][..]);
        between.kept.collocation(t0, t1, &self.state.x, C, &stages);
        between.is_kept = true;
    }
}
