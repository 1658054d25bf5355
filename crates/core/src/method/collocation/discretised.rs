//! What a step of collocation asks of the equations behind its stages: square systems and overdetermined ones differ here, and nowhere else.

use super::{Collocation, Prediction, StageEquations, StageVectors, Tableau};
use crate::dae::Dae;
use crate::error::StepFailure;
use crate::linalg::Singular;
use crate::method::State;
use crate::method::convergence::{Convergence, Limits};
use crate::method::pace::Failures;
use crate::method::weights::Weights;
use crate::motion::Undefined;
use crate::statistics::{Residuals, Statistics};

/// A point besides the stages at which equations are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OffStage {
    /// The begin of the step, for its error estimate: constraints hold there.
    Begin,
    /// The same, corrected by that estimate.
    NearBegin,
    /// Inside of the step, where its polynomial is least accurate.
    Inside,
}

/// Time, x, h ẋ and h.
pub(crate) type PointRate<'x> = (f64, &'x [f64], &'x [f64], f64);

/// What is wrong with a point that was reached.
pub(crate) enum Unsettled {
    /// The step itself: it is taken back, and the run ends.
    Step(StepFailure),
    /// The way on from there; the point stands.
    WayOn(StepFailure),
}

/// Equations with the linear algebra of their Newton systems.
pub(crate) trait Discretised {
    /// The equations at the stages.
    fn at_stages(&mut self) -> &mut dyn StageEquations;

    /// How Newton's iteration is judged.
    fn judge(&self) -> fn(Limits, &mut f64) -> Convergence {
        Convergence::new
    }

    /// Where it starts, where no polynomial tells.
    fn first_prediction(&self) -> Prediction<'_> {
        Prediction::Zero
    }

    /// A new Jacobian for a step of size h from here.
    fn renew(
        &mut self,
        here: &State,
        h: f64,
        collocation: &mut Collocation,
        counters: &mut Statistics,
    ) -> Result<(), StepFailure>;

    /// Decompose the matrices of a step size.
    fn decompose(&mut self, tableau: &'static Tableau, h: f64, counters: &mut Statistics) -> Result<(), Singular>;

    /// How often matrices are renewed inside of a step whose iteration is slow.
    fn updates(&self) -> u32 {
        0
    }

    /// Renew them. False if that is not possible.
    fn update(
        &mut self,
        _here: &State,
        _h: f64,
        _collocation: &mut Collocation,
        _counters: &mut Statistics,
    ) -> Result<bool, StepFailure> {
        Ok(false)
    }

    /// Is an iteration that is given up repeated on the constraints?
    fn repeats_on_constraints(&self) -> bool {
        false
    }

    /// Renew the matrices at the middle one of stages on the constraints. False if that is not possible.
    fn renew_on_constraints(
        &mut self,
        _here: &State,
        _h: f64,
        _collocation: &mut Collocation,
        _counters: &mut Statistics,
    ) -> bool {
        false
    }

    /// (γE − hA) ξ = −h G(t, x, ẋ): by how much a point is off.
    fn correction(
        &mut self,
        point: OffStage,
        at: PointRate,
        tableau: &Tableau,
        counters: &mut Statistics,
        xi: &mut [f64],
    ) -> Result<(), Undefined>;

    /// Is the error estimate filtered once more in the first step and after rejections, as RADAU5 does?
    fn refilters(&self) -> bool {
        true
    }

    /// Are all equations constraints?
    fn without_freedom(&self) -> bool {
        false
    }

    /// An attempt failed.
    fn failed(&mut self) {}

    /// Evaluate what is needed of the end x of a step, before it is accepted.
    fn reach(
        &mut self,
        t: f64,
        x: &[f64],
        stages: &StageVectors,
        h: f64,
        counters: &mut Statistics,
    ) -> Result<(), Undefined>;

    /// It was accepted: make its constraints hold, take weights for the next step, and see whether there is a way on.
    fn accepted(
        &mut self,
        state: &mut State,
        h: f64,
        collocation: &mut Collocation,
        counters: &mut Statistics,
    ) -> Result<(), Unsettled>;

    /// Back to where the last step began.
    fn back(&mut self, state: &State, counters: &mut Statistics) -> Result<(), StepFailure>;

    /// Begin anew at another point, where this is known of ẋ.
    fn restart(&mut self, state: &State, xdot: Option<&[f64]>) -> Result<(), StepFailure>;

    /// Make room for shorter steps inside of the last one, with up to so many stages.
    fn watch_between(&mut self, _stages: usize) {}

    /// Decompose the matrices of a step inside of the last one.
    fn decompose_inside(&mut self, collocation: &mut Collocation, h: f64) -> Result<(), Singular>;

    /// Are unknowns of index two and more not taken from steps that are very short?
    fn high_index_from_polynomial(&self) -> bool {
        false
    }

    /// That was all: the run goes on.
    fn looked_back(&mut self) {}

    /// Bring a point inside of the last step closer to the constraints.
    fn settle_inside(&mut self, t: f64, x: &mut [f64], counters: &mut Statistics);

    /// A guess of the size of the first step; two vectors of scratch.
    fn first_size(&self, x: &[f64], weights: &Weights, scratch: [&mut [f64]; 2]) -> f64;

    /// ẋ at the last accepted point.
    fn rates(&self, xdot: &mut [f64]);

    /// Why there is no way on.
    fn stuck(&self, t: f64, h: f64, failures: Failures) -> StepFailure;

    /// The system that is integrated, where it is a general one.
    fn system(&mut self) -> Option<&mut dyn Dae> {
        None
    }

    /// With what the equations count themselves.
    fn counted(&self, counters: Statistics) -> Statistics;

    /// Residuals of all constraint levels at the last accepted point.
    fn residuals(&self) -> Residuals;

    /// Combinations of unknowns that are left undetermined.
    fn undetermined(&self) -> Vec<Vec<f64>>;

    /// What was decided, for reports.
    fn decisions(&self) -> String;
}
