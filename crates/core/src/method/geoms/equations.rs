//! The equations of GEOMS behind the stages: their Jacobian with its ranks, the selector, and what holds at the ends of steps.

use super::regularised::{Regularised, differential_columns};
use super::{Decomposition, Geoms, NewtonPoint, Polish, SelectorUpdate, SlowNewton};
use crate::error::{ConstraintBlock, StepFailure};
use crate::linalg::rank::LOST;
use crate::linalg::{RankGap, Singular};
use crate::method::collocation::{
    Collocation, Discretised, OffStage, PointRate, StageEquations, StageVectors, Tableau, Unsettled,
};
use crate::method::convergence::{Convergence, Limits};
use crate::method::pace::{Failures, first_step};
use crate::method::passage::DensePassage;
use crate::method::weights::Weights;
use crate::method::{Kept, State};
use crate::motion::{Layout, Undefined};
use crate::statistics::{Residuals, Statistics};

pub(super) const BLOCKS: [ConstraintBlock; 3] =
    [ConstraintBlock::Acceleration, ConstraintBlock::Velocity, ConstraintBlock::Position];

/// Constraints whose smallest pivot is this part of its usual size are far from losing rank. Chosen: a step of 60 degrees would be needed to pass
/// the branching point of a slider crank from there.
const USUAL_PART: f64 = 0.5;

/// A reduced derivative array at a point of a solution, followed along a run.
pub(crate) struct GeomsEquations<'p> {
    pub(super) method: Geoms,
    /// the invariants, if they are kept
    pub(super) kept: Option<Kept<'p>>,
    pub(super) layout: Layout,
    pub(super) newton: Regularised<'p>,
    pub(super) passage: DensePassage,
    /// k at the last accepted point, and at another one
    pub(super) rows: Vec<f64>,
    pub(super) other_rows: Vec<f64>,
    // what is at hand
    pub(super) selector_wanted: bool,
    pub(super) pivots: Vec<bool>,
    pub(super) selector_pivots: Vec<bool>,
    pub(super) ranks: [RankGap; 3],
    pub(super) usual: [f64; 3],
    /// why the next step cannot be made
    pub(super) pending: Option<StepFailure>,
    // scratch
    pub(super) x: Vec<f64>,
    pub(super) xi: Vec<f64>,
}

impl GeomsEquations<'_> {
    /// Jacobian and predecomposition, at the left end or at a predicted stage.
    pub(super) fn renew_at(
        &mut self,
        point: NewtonPoint,
        here: &State,
        h: f64,
        collocation: &mut Collocation,
        counters: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let t = here.t;
        let Regularised { array, constraints, .. } = &mut self.newton;
        match point {
            NewtonPoint::Stage(j) => {
                let stage = usize::from(j) - 1;
                for ((x, x0), z) in self.x.iter_mut().zip(&here.x).zip(collocation.stages.Z(stage)) {
                    *x = x0 + z;
                }
                let at = t + collocation.tableau().C[stage] * h;
                counters.residuals += 1;
                let predicted = array.evaluate(at, &self.x, &mut self.other_rows);
                let F = &mut constraints.F;
                if predicted.and_then(|()| array.dense_jacobian(at, &self.x, &self.other_rows, F)).is_err() {
                    // the prediction has left the domain of the model
                    return self.renew_at(NewtonPoint::Left, here, h, collocation, counters);
                }
            }
            NewtonPoint::Left => {
                let known = array.dense_jacobian(t, &here.x, &self.rows, &mut constraints.F);
                known.map_err(|_| StepFailure::Undefined { t })?;
            }
        }
        counters.jacobians += 1;
        self.passage.put_negative(constraints.velocity_rows());
        let ranks = constraints.decompose().map_err(|_| StepFailure::SvdFailed { t })?;
        counters.predecompositions += 1;
        for (q, block) in BLOCKS.into_iter().enumerate() {
            if ranks[q].rank != self.ranks[q].rank {
                let (before, now) = (self.ranks[q].rank, ranks[q].rank);
                let RankGap { kept: smallest, dropped: neglected, .. } = ranks[q];
                return Err(StepFailure::RankChange { t, block, before, now, smallest, neglected });
            }
            self.usual[q] = self.usual[q].max(ranks[q].kept);
        }
        self.ranks = ranks;
        if let Some((t, sigma)) = self.passage.singularity(&mut **array, &collocation.segment) {
            return Err(StepFailure::Singularity { t, sigma });
        }
        collocation.renewed(point == NewtonPoint::Left);
        // does the selector still fit?
        constraints.mark_pivots(&mut self.pivots);
        if self.pivots != self.selector_pivots
            || self.method.selector_update == SelectorUpdate::EveryJacobian
            || self.method.constraint_decomposition == Some(Decomposition::Svd)
        {
            self.selector_wanted = true;
        }
        Ok(())
    }
}

impl GeomsEquations<'_> {
    /// Are constraints about as independent as they usually are? Next to a branching point corrections lead onto either branch.
    fn far_from_singular(&self, ranks: &[RankGap; 3]) -> bool {
        (0..BLOCKS.len()).all(|q| {
            let RankGap { rank, kept, .. } = ranks[q];
            rank == self.ranks[q].rank && (rank == 0 || kept >= USUAL_PART * self.usual[q])
        })
    }
}

impl Discretised for GeomsEquations<'_> {
    fn at_stages(&mut self) -> &mut dyn StageEquations {
        &mut self.newton
    }

    fn judge(&self) -> fn(Limits, &mut f64) -> Convergence {
        match self.method.slow_newton {
            SlowNewton::ShorterStep => Convergence::new,
            SlowNewton::OntoConstraints => Convergence::waiting,
        }
    }

    fn renew(
        &mut self,
        here: &State,
        h: f64,
        collocation: &mut Collocation,
        counters: &mut Statistics,
    ) -> Result<(), StepFailure> {
        if let Some(failure) = self.pending.take() {
            return Err(failure);
        }
        // a stage is known only where it is predicted
        let point = if collocation.extrapolates() { self.method.newton_point } else { NewtonPoint::Left };
        self.renew_at(point, here, h, collocation, counters)
    }

    /// With a new selector, if it is wanted.
    fn decompose(&mut self, tableau: &'static Tableau, h: f64, counters: &mut Statistics) -> Result<(), Singular> {
        let Regularised { constraints, differential, .. } = &mut self.newton;
        if self.selector_wanted {
            counters.selectors += u64::from(differential.selected().is_some());
            differential.select(constraints, tableau, h)?;
            self.selector_pivots.copy_from_slice(&self.pivots);
            self.selector_wanted = false;
        }
        counters.decompositions += 1;
        differential.decompose(constraints, tableau, h)
    }

    fn updates(&self) -> u32 {
        self.method.newton_updates
    }

    fn update(
        &mut self,
        here: &State,
        h: f64,
        collocation: &mut Collocation,
        counters: &mut Statistics,
    ) -> Result<bool, StepFailure> {
        // at the left end the matrix would be the same again: take the middle stage
        let middle = collocation.tableau().stages().div_ceil(2) as u8;
        let point = match self.method.newton_point {
            NewtonPoint::Left => NewtonPoint::Stage(middle),
            point @ NewtonPoint::Stage(_) => point,
        };
        self.renew_at(point, here, h, collocation, counters)?;
        self.selector_wanted = true;
        if self.decompose(collocation.tableau(), h, counters).is_err() {
            return Ok(false);
        }
        collocation.decomposed_for = Some(h);
        counters.newton_updates += 1;
        Ok(true)
    }

    fn repeats_on_constraints(&self) -> bool {
        self.method.slow_newton == SlowNewton::OntoConstraints && self.layout.algebraic() > 0
    }

    fn renew_on_constraints(
        &mut self,
        here: &State,
        h: f64,
        collocation: &mut Collocation,
        counters: &mut Statistics,
    ) -> bool {
        // from here on the matrices are no longer those of the last accepted point
        collocation.renewed(false);
        if !self.far_from_singular(&self.ranks) {
            return false;
        }
        let tableau = collocation.tableau();
        let middle = tableau.stages() / 2;
        for ((x, x0), z) in self.x.iter_mut().zip(&here.x).zip(collocation.stages.Z(middle)) {
            *x = x0 + z;
        }
        let t = here.t + tableau.C[middle] * h;
        counters.residuals += 1;
        counters.jacobians += 1;
        let Regularised { array, constraints, .. } = &mut self.newton;
        let known = array.evaluate(t, &self.x, &mut self.other_rows);
        if known.and_then(|()| array.dense_jacobian(t, &self.x, &self.other_rows, &mut constraints.F)).is_err() {
            return false;
        }
        counters.predecompositions += 1;
        let ranks = constraints.decompose_in_passing();
        if !ranks.is_ok_and(|ranks| self.far_from_singular(&ranks)) {
            return false;
        }
        self.newton.constraints.mark_pivots(&mut self.pivots);
        self.selector_wanted = true;
        if self.decompose(tableau, h, counters).is_err() {
            return false;
        }
        collocation.decomposed_for = Some(h);
        counters.newton_updates += 1;
        true
    }

    fn correction(
        &mut self,
        point: OffStage,
        (t, x, rate, h): PointRate,
        _: &Tableau,
        counters: &mut Statistics,
        xi: &mut [f64],
    ) -> Result<(), Undefined> {
        if point != OffStage::Begin {
            counters.residuals += 1;
            self.newton.array.evaluate(t, x, &mut self.other_rows)?;
        }
        let rows = if point == OffStage::Begin { &self.rows } else { &self.other_rows };
        let (k_C, k_D) = rows.split_at(self.layout.algebraic());
        let k_C = (point == OffStage::Inside).then_some(k_C);
        self.newton.correction(k_C, k_D, rate, h, xi);
        Ok(())
    }

    fn refilters(&self) -> bool {
        self.method.refilter
    }

    /// The next attempt has a new selector.
    fn failed(&mut self) {
        self.selector_wanted = true;
    }

    /// The new point must have finite rows, which the next error estimate needs anyway.
    fn reach(
        &mut self,
        t: f64,
        x: &[f64],
        _: &StageVectors,
        _h: f64,
        counters: &mut Statistics,
    ) -> Result<(), Undefined> {
        counters.residuals += 1;
        self.newton.array.evaluate(t, x, &mut self.other_rows)
    }

    fn accepted(
        &mut self,
        state: &mut State,
        h: f64,
        collocation: &mut Collocation,
        counters: &mut Statistics,
    ) -> Result<(), Unsettled> {
        std::mem::swap(&mut self.rows, &mut self.other_rows);
        if let Err(failure) = self.settle(state, h, collocation, counters) {
            if matches!(failure, StepFailure::Singularity { .. } | StepFailure::Contradiction { .. }) {
                return Err(Unsettled::Step(failure));
            }
            // the point is good, but there is no way on from it
            self.pending = Some(failure);
        }
        collocation.weights.at(&state.x);
        let kept = self.kept.as_mut().map_or(Ok(()), |kept| kept.step(state.t, &state.x));
        kept.map_err(Unsettled::WayOn)
    }

    fn back(&mut self, state: &State, counters: &mut Statistics) -> Result<(), StepFailure> {
        self.pending = None;
        let evaluated = self.newton.array.evaluate(state.t, &state.x, &mut self.rows);
        evaluated.map_err(|_| StepFailure::Undefined { t: state.t })?;
        counters.residuals += 1;
        self.selector_wanted = true;
        self.passage.forget();
        Ok(())
    }

    fn restart(&mut self, state: &State, _: Option<&[f64]>) -> Result<(), StepFailure> {
        self.pending = None;
        self.selector_wanted = true;
        self.newton.constraints.restart();
        self.passage.forget();
        let array = &mut self.newton.array;
        if array.evaluate(state.t, &state.x, &mut self.rows).is_ok() {
            // invariants go on from their new values
            let e = self.layout.row_invariants();
            array.set_invariants(&vec![0.0; e.len()]);
            if array.evaluate(state.t, &state.x, &mut self.rows).is_ok() {
                array.set_invariants(&self.rows[e.clone()]);
                self.rows[e].fill(0.0);
            }
        }
        self.kept.as_mut().map_or(Ok(()), |kept| kept.begin(state.t, &state.x))
    }

    /// The factors at hand are those of the constraints; the next step decomposes the differential part anew.
    fn decompose_inside(&mut self, collocation: &mut Collocation, h: f64) -> Result<(), Singular> {
        collocation.decomposed_for = None;
        let Regularised { constraints, differential, .. } = &mut self.newton;
        if self.selector_wanted {
            differential.select(constraints, collocation.tableau(), h)?;
        }
        differential.decompose(constraints, collocation.tableau(), h)
    }

    fn settle_inside(&mut self, t: f64, x: &mut [f64], counters: &mut Statistics) {
        if self.method.polish != Polish::Off {
            self.correct_inside(t, x, counters);
        }
    }

    fn first_size(&self, x: &[f64], weights: &Weights, [of_x, rates]: [&mut [f64]; 2]) -> f64 {
        self.rates(rates);
        differential_columns(&self.layout).for_each(|j| of_x[j] = x[j]);
        let n = self.layout.differential();
        first_step(weights.norm_among(n, of_x), weights.norm_among(n, rates))
    }

    fn rates(&self, xdot: &mut [f64]) {
        xdot.fill(0.0);
        let k_D = &self.rows[self.layout.algebraic()..];
        differential_columns(&self.layout).zip(k_D).for_each(|(j, k)| xdot[j] = *k);
    }

    /// Why Newton's iteration fails here, as far as the pivots tell.
    fn stuck(&self, t: f64, h: f64, failures: Failures) -> StepFailure {
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

    fn counted(&self, counters: Statistics) -> Statistics {
        Statistics {
            masses: self.newton.array.mass_evaluations(),
            difference_evaluations: self.newton.array.difference_evaluations(),
            ..counters
        }
    }

    fn residuals(&self) -> Residuals {
        self.layout.residuals(&self.rows)
    }

    fn undetermined(&self) -> Vec<Vec<f64>> {
        self.newton.constraints.undetermined()
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
