//! A step of GEOMS: predict, evaluate, decompose, iterate, estimate, accept or reject. Steinbrecher (2006), Algorithm 5.1.4.

mod between;
mod settle;
mod start;

use super::constraint::ConstraintPart;
use super::differential::DifferentialPart;
use super::regularised::{Regularised, StageRows};
use super::{Decomposition, Geoms, NewtonPoint, SelectorUpdate};
use crate::error::{ConstraintBlock, StepFailure};
use crate::linalg::rank::LOST;
use crate::linalg::{RankGap, Singular};
use crate::method::collocation::{Collocation, Prediction};
use crate::method::controller::Control;
use crate::method::convergence::{Convergence, Outcome};
use crate::method::pace::{Failures, Try, first_step};
use crate::method::shell::{Attempt, Formula, Shell};
use crate::method::{Kept, Passage, State};
use crate::motion::{Layout, ReducedArray};
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};
use between::Between;

/// GEOMS at work.
pub(crate) type GeomsStepper<'p> = Shell<GeomsStep<'p>>;

/// GEOMS at a point of a solution.
pub(crate) struct GeomsStep<'p> {
    method: Geoms,
    /// the invariants, if they are kept
    kept: Option<Kept<'p>>,
    layout: Layout,
    array: Box<dyn ReducedArray + 'p>,
    constraints: ConstraintPart,
    differential: DifferentialPart,
    stage_rows: StageRows,
    collocation: Collocation,
    passage: Passage,
    // where we are
    state: State,
    rows: Vec<f64>,
    /// where values between steps are wanted
    between: Option<Box<Between>>,
    // what is at hand
    selector_wanted: bool,
    pivots: Vec<bool>,
    selector_pivots: Vec<bool>,
    ranks: [RankGap; 3],
    usual: [f64; 3],
    /// why the next step cannot be made
    pending: Option<StepFailure>,
    // scratch
    x: Vec<f64>,
    before: Vec<f64>,
    error: Vec<f64>,
    zeta: Vec<f64>,
    bC: Vec<f64>,
    bD: Vec<f64>,
    scratch_rows: Vec<f64>,
    counters: Statistics,
}

impl GeomsStep<'_> {
    /// Columns of r, v, p, in the order of the differential rows.
    fn differential_columns(&self) -> impl Iterator<Item = usize> + use<> {
        self.layout.r().chain(self.layout.v()).chain(self.layout.p())
    }

    /// Jacobian and predecomposition, at the left end or at a predicted stage.
    fn renew_jacobian(&mut self, h: f64, point: NewtonPoint) -> Result<(), StepFailure> {
        let t = self.state.t;
        let undefined = |_| StepFailure::Undefined { t };
        match point {
            NewtonPoint::Stage(j) => {
                let stage = usize::from(j) - 1;
                for ((x, x0), z) in self.x.iter_mut().zip(&self.state.x).zip(self.collocation.stages.Z(stage)) {
                    *x = x0 + z;
                }
                let at = t + self.collocation.tableau().C[stage] * h;
                self.counters.residuals += 1;
                let F = &mut self.constraints.F;
                let predicted = self.array.evaluate(at, &self.x, &mut self.scratch_rows);
                if predicted.and_then(|()| self.array.dense_jacobian(at, &self.x, &self.scratch_rows, F)).is_err() {
                    // the prediction has left the domain of the model
                    return self.renew_jacobian(h, NewtonPoint::Left);
                }
            }
            NewtonPoint::Left => {
                self.array.dense_jacobian(t, &self.state.x, &self.rows, &mut self.constraints.F).map_err(undefined)?;
            }
        }
        self.counters.jacobians += 1;
        self.passage.put_negative(self.constraints.velocity_rows());
        let ranks = self.constraints.decompose().map_err(|_| StepFailure::SvdFailed { t })?;
        self.counters.predecompositions += 1;
        for (q, block) in BLOCKS.into_iter().enumerate() {
            if ranks[q].rank != self.ranks[q].rank {
                let (before, now) = (self.ranks[q].rank, ranks[q].rank);
                let RankGap { kept: smallest, dropped: neglected, .. } = ranks[q];
                return Err(StepFailure::RankChange { t, block, before, now, smallest, neglected });
            }
            self.usual[q] = self.usual[q].max(ranks[q].kept);
        }
        self.ranks = ranks;
        if let Some((t, sigma)) = self.passage.singularity(&mut *self.array, &self.collocation.segment) {
            return Err(StepFailure::Singularity { t, sigma });
        }
        self.collocation.jacobian_wanted = false;
        self.collocation.jacobian_is_here = point == NewtonPoint::Left;
        self.collocation.decomposed_for = None;
        // does the selector still fit?
        self.constraints.mark_pivots(&mut self.pivots);
        if self.pivots != self.selector_pivots
            || self.method.selector_update == SelectorUpdate::EveryJacobian
            || self.method.constraint_decomposition == Some(Decomposition::Svd)
        {
            self.selector_wanted = true;
        }
        Ok(())
    }

    /// Selector, if wanted, and decomposition for step size h.
    fn decompose(&mut self, h: f64) -> Result<(), Singular> {
        if self.selector_wanted {
            self.counters.selectors += u64::from(self.differential.selected().is_some());
            self.differential.select(&self.constraints, self.collocation.tableau(), h)?;
            self.selector_pivots.copy_from_slice(&self.pivots);
            self.selector_wanted = false;
        }
        self.counters.decompositions += 1;
        self.differential.decompose(&self.constraints, self.collocation.tableau(), h)?;
        self.collocation.decomposed_for = Some(h);
        Ok(())
    }

    fn iterate(&mut self, h: f64) -> Outcome {
        let mut equations = Regularised {
            array: &mut *self.array,
            constraints: &mut self.constraints,
            differential: &mut self.differential,
            rows: &mut self.stage_rows,
        };
        let at = (self.state.t, &self.state.x[..], h);
        self.collocation.iterate(&mut equations, at, Convergence::new, &mut self.counters)
    }

    /// Newton's iteration, with renewed matrices where that is allowed and may help.
    fn newton(&mut self, h: f64) -> Result<Outcome, StepFailure> {
        let mut outcome = self.iterate(h);
        for _ in 0..self.method.newton_updates {
            if !matches!(outcome, Outcome::Slow { .. }) {
                break;
            }
            // at the left end the matrix would be the same again: take the middle stage
            let middle = self.collocation.tableau().stages().div_ceil(2) as u8;
            let point = match self.method.newton_point {
                NewtonPoint::Left => NewtonPoint::Stage(middle),
                point @ NewtonPoint::Stage(_) => point,
            };
            self.renew_jacobian(h, point)?;
            self.selector_wanted = true;
            if self.decompose(h).is_err() {
                break;
            }
            self.counters.newton_updates += 1;
            outcome = self.iterate(h);
        }
        Ok(outcome)
    }

    /// Norm of the error: the real system with bC = 0, bD = h k_D + D Σ εᵢ Zᵢ. \[HW\] IV.8, (8.19).
    fn estimate(&mut self, h: f64, after_rejection: bool) -> f64 {
        let algebraic = self.layout.algebraic();
        self.collocation.stages.weighted(self.collocation.tableau().E, &mut self.x);
        for (i, j) in self.differential_columns().enumerate() {
            self.bD[i] = h * self.rows[algebraic + i] + self.x[j];
        }
        let mut norm = self.estimate_solve();
        if norm >= 1.0 && self.method.refilter && (after_rejection || self.collocation.controller.is_new()) {
            // k_D at x_k + err instead of x_k
            for ((x, x0), e) in self.x.iter_mut().zip(&self.state.x).zip(&self.error) {
                *x = x0 + e;
            }
            self.counters.residuals += 1;
            if self.array.evaluate(self.state.t, &self.x, &mut self.scratch_rows).is_ok() {
                for i in 0..self.bD.len() {
                    self.bD[i] += h * (self.scratch_rows[algebraic + i] - self.rows[algebraic + i]);
                }
                norm = self.estimate_solve();
            }
        }
        norm
    }

    fn estimate_solve(&mut self) -> f64 {
        self.bC.fill(0.0);
        self.differential.solve_real(&self.constraints, &self.bC, &self.bD, &mut self.zeta);
        self.constraints.substitute(&self.bC, &mut self.zeta, &mut self.error);
        self.collocation.weights.norm(&self.error).max(1e-10)
    }

    /// Take the point in `self.x` with its rows in `scratch_rows`. The size of the next step.
    fn accept(&mut self, tried: &Try, error: f64, newton: (u32, f64)) -> f64 {
        let next = self.collocation.accept(tried, (self.state.t, &self.x), error, newton);
        self.state.t = tried.t1;
        self.before.copy_from_slice(&self.state.x);
        std::mem::swap(&mut self.state.x, &mut self.x);
        std::mem::swap(&mut self.rows, &mut self.scratch_rows);
        next
    }

    /// After a failed iteration or decomposition: the next attempt has a new selector.
    fn failed(&mut self, factor: f64) -> Attempt {
        self.selector_wanted = true;
        Attempt::Failed { factor, singular: false }
    }
}

const BLOCKS: [ConstraintBlock; 3] =
    [ConstraintBlock::Acceleration, ConstraintBlock::Velocity, ConstraintBlock::Position];

impl Formula for GeomsStep<'_> {
    fn state(&self) -> &State {
        &self.state
    }

    fn segment(&self) -> &Segment {
        self.best_segment()
    }

    fn first_size(&mut self) -> f64 {
        self.x.fill(0.0);
        self.error.fill(0.0);
        for (i, j) in self.differential_columns().enumerate() {
            (self.x[j], self.error[j]) = (self.state.x[j], self.rows[self.layout.algebraic() + i]);
        }
        let n = self.layout.differential();
        let weights = &self.collocation.weights;
        first_step(weights.norm_among(n, &self.x), weights.norm_among(n, &self.error))
    }

    fn attempt(&mut self, tried: &Try) -> Result<Attempt, StepFailure> {
        if let Some(failure) = self.pending.take() {
            return Err(failure);
        }
        let (t, &Try { h, t1, .. }) = (self.state.t, tried);
        self.collocation.select_stages(h, &self.state.x);
        self.collocation.predict(h, Prediction::Zero);
        if self.collocation.jacobian_wanted {
            // a stage is known only where it is predicted
            let predicted = self.collocation.extrapolates();
            let point = if predicted { self.method.newton_point } else { NewtonPoint::Left };
            self.renew_jacobian(h, point)?;
        }
        if self.collocation.decomposed_for != Some(h) && self.decompose(h).is_err() {
            let factor = self.collocation.failed(0.5);
            return Ok(self.failed(factor));
        }
        self.collocation.weights.for_step(h);
        let outcome = self.newton(h)?;
        let newton = match self.collocation.converged(outcome) {
            Ok(newton) => newton,
            Err(factor) => return Ok(self.failed(factor)),
        };

        let mut error = self.estimate(h, tried.after_rejection);
        let fixed = self.method.control == Control::Fixed;
        if error < 1.0 || fixed {
            error = error.max(self.deviation(h));
        }
        if error >= 1.0 && !fixed || error.is_nan() {
            return Ok(Attempt::Rejected { next: self.collocation.reject(tried, error, newton.0) });
        }

        // the new point must have finite rows, which the next error estimate needs anyway
        let last = self.collocation.stages.Z(self.collocation.tableau().stages() - 1);
        for ((x, x0), z) in self.x.iter_mut().zip(&self.state.x).zip(last) {
            *x = x0 + z;
        }
        self.counters.residuals += 1;
        if self.array.evaluate(t1, &self.x, &mut self.scratch_rows).is_err() {
            let factor = self.collocation.failed(0.5);
            return Ok(self.failed(factor));
        }
        let next = self.accept(tried, error, newton);
        if let Err(failure) = self.settle(h) {
            if matches!(failure, StepFailure::Singularity { .. } | StepFailure::Contradiction { .. }) {
                // the step went wrong: back to its start, whose values are still at hand
                self.state.t = t;
                std::mem::swap(&mut self.state.x, &mut self.before);
                return Err(failure);
            }
            // the point is good, but there is no way on from it
            self.pending = Some(failure);
        }
        self.accepted_between(h);
        self.collocation.weights.at(&self.state.x);
        let settled = self.kept.as_mut().map_or(Ok(()), |kept| kept.step(self.state.t, &self.state.x));
        Ok(Attempt::Accepted { next, settled })
    }

    /// Why Newton's iteration fails here, as far as the pivots tell.
    fn stuck(&mut self, h: f64, failures: Failures) -> StepFailure {
        let t = self.state.t;
        for (q, block) in BLOCKS.into_iter().enumerate() {
            let smallest = if self.usual[q] > 0.0 { self.ranks[q].kept / self.usual[q] } else { 1.0 };
            if smallest < LOST {
                return StepFailure::RankLoss { t, block, smallest };
            }
        }
        let blocks = self.ranks.iter().filter(|r| r.rows > 0);
        let smallest = blocks.fold(1.0, |m: f64, r| m.min(r.kept));
        StepFailure::NewtonFailed { t, h, failures: failures.attempts, smallest }
    }

    fn back(&mut self) -> Result<bool, StepFailure> {
        self.pending = None;
        self.state.t = self.collocation.segment.t0;
        self.state.x.copy_from_slice(&self.before);
        let here = self.state.t;
        let evaluated = self.array.evaluate(here, &self.state.x, &mut self.rows);
        evaluated.map_err(|_| StepFailure::Undefined { t: here })?;
        self.counters.residuals += 1;
        self.collocation.back(&self.state.x);
        self.selector_wanted = true;
        self.passage.forget();
        Ok(true)
    }

    fn restart(&mut self, at: State, _: Option<&[f64]>) -> Result<(), StepFailure> {
        self.state = at;
        self.collocation.restart(self.state.t, &self.state.x);
        self.pending = None;
        self.selector_wanted = true;
        self.constraints.restart();
        self.passage.forget();
        self.accepted_between(0.0);
        if self.array.evaluate(self.state.t, &self.state.x, &mut self.rows).is_ok() {
            // invariants go on from their new values
            let e = self.layout.row_invariants();
            self.array.set_invariants(&vec![0.0; e.len()]);
            if self.array.evaluate(self.state.t, &self.state.x, &mut self.rows).is_ok() {
                self.array.set_invariants(&self.rows[e.clone()]);
                self.rows[e].fill(0.0);
            }
        }
        self.kept.as_mut().map_or(Ok(()), |kept| kept.begin(self.state.t, &self.state.x))
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
        xdot.fill(0.0);
        let algebraic = self.layout.algebraic();
        for (i, j) in self.differential_columns().enumerate() {
            xdot[j] = self.rows[algebraic + i];
        }
    }

    fn counters(&self) -> Statistics {
        Statistics {
            masses: self.array.mass_evaluations(),
            difference_evaluations: self.array.difference_evaluations(),
            ..self.counters
        }
    }

    fn residuals(&self) -> Residuals {
        self.layout.residuals(&self.rows)
    }

    fn undetermined(&self) -> Vec<Vec<f64>> {
        self.constraints.undetermined()
    }

    fn decisions(&self) -> String {
        let name = |d| match d {
            Some(Decomposition::Lu) => "LU",
            Some(Decomposition::Qr) => "QR",
            Some(Decomposition::Svd) => "SVD",
            None => "none",
        };
        format!(
            "constraints by {}, differential part by {}, ranks {:?} of {:?}",
            name(self.method.constraint_decomposition),
            name(self.method.differential_decomposition),
            self.ranks.map(|r| r.rank),
            self.ranks.map(|r| r.rows)
        )
    }
}
