//! The stepper of a formulation as a stepper of the mechanism: unknowns of the formulation are not shown, and no step passes a singular
//! configuration silently.

use crate::dae::Dae;
use crate::error::{ConstraintBlock, StepFailure};
use crate::linalg::RankRule;
use crate::method::{Kept, Passage, State, Stepper};
use crate::motion::ReducedArray;
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};

/// ẋ at a consistent point: p' = Zv, v' = a, r' = b; zero for the rest.
pub(super) fn first_rates(
    array: &mut dyn ReducedArray,
    t: f64,
    x: &[f64],
    xdot: &mut [f64],
) -> Result<(), StepFailure> {
    let layout = array.layout().clone();
    let mut rows = vec![0.0; layout.rows()];
    array.evaluate(t, &x[..layout.dim()], &mut rows).map_err(|_| StepFailure::Undefined { t })?;
    xdot[layout.p()].copy_from_slice(&rows[layout.row_kinematics()]);
    xdot[layout.v()].copy_from_slice(&rows[layout.row_acceleration()]);
    xdot[layout.r()].copy_from_slice(&rows[layout.row_dynamic()]);
    Ok(())
}

/// A stepper of a general system whose first unknowns are those of the mechanism.
pub(super) struct MotionStepper<'p> {
    stepper: Box<dyn Stepper + 'p>,
    array: Box<dyn ReducedArray + 'p>,
    /// where K = [GZ; HZ] turns, if its rows are independent
    watch: Option<Passage>,
    /// the invariants, if they are kept
    kept: Option<Kept<'p>>,
    /// why there is no way on
    stopped: Option<StepFailure>,
    state: State,
    segment: Segment,
    all: State,
    rates: Vec<f64>,
    warning: &'static str,
}

impl<'p> MotionStepper<'p> {
    /// Of a stepper with this many unknowns.
    pub fn new(
        stepper: Box<dyn Stepper + 'p>,
        mut array: Box<dyn ReducedArray + 'p>,
        unknowns: usize,
        kept: Option<Kept<'p>>,
        warning: &'static str,
        ranks: RankRule,
    ) -> Self {
        let layout = array.layout().clone();
        let n = layout.dim();
        let all = stepper.state().clone();
        let state = State { t: all.t, x: all.x[..n].to_vec() };
        let segment = stepper.segment().first(n);
        let mut passage = Passage::new(&*array, ranks);
        let watch = passage.begin(&mut *array, state.t, &state.x).then_some(passage);
        MotionStepper {
            array,
            state,
            segment,
            rates: vec![0.0; unknowns],
            all,
            stepper,
            warning,
            watch,
            kept,
            stopped: None,
        }
    }

    /// Take the last step over, unless it passed a singular configuration.
    fn take(&mut self, outcome: Result<(), StepFailure>) -> Result<(), StepFailure> {
        let now = self.stepper.state();
        let n = self.state.x.len();
        if let (Some(passage), true) = (&mut self.watch, now.t > self.state.t)
            && passage.put_at(&mut *self.array, now.t, &now.x[..n])
        {
            self.segment.take_first(self.stepper.segment());
            if let Some((t, sigma)) = passage.singularity(&mut *self.array, &self.segment) {
                let failure = StepFailure::Singularity { t, sigma };
                self.stopped = Some(failure.clone());
                return Err(failure);
            }
        }
        let moved = now.t > self.state.t;
        self.look();
        if let (Some(kept), true) = (&mut self.kept, moved) {
            self.stopped = kept.step(self.state.t, &self.state.x).err();
        }
        if let Some(failure) = &self.stopped {
            return Err(failure.clone());
        }
        outcome.map_err(|failure| self.cause(failure))
    }

    /// Why there is no way on: where the constraints have lost their rank at the point, that is the reason.
    fn cause(&mut self, failure: StepFailure) -> StepFailure {
        let State { t, x } = &self.state;
        let lost = match (&mut self.watch, &failure) {
            (
                Some(passage),
                StepFailure::NewtonDiverged { .. }
                | StepFailure::SingularPencil { .. }
                | StepFailure::StepTooSmall { .. },
            ) => passage.lost(&mut *self.array, *t, x),
            _ => None,
        };
        match (lost, failure) {
            (None, failure) => failure,
            (Some(sigma), StepFailure::StepTooSmall { t, .. }) => StepFailure::Singularity { t, sigma },
            (Some(smallest), _) => StepFailure::RankLoss { t: *t, block: ConstraintBlock::Velocity, smallest },
        }
    }

    fn look(&mut self) {
        let now = self.stepper.state();
        let n = self.state.x.len();
        self.state.t = now.t;
        self.state.x.copy_from_slice(&now.x[..n]);
        self.segment.take_first(self.stepper.segment());
    }
}

impl Stepper for MotionStepper<'_> {
    fn state(&self) -> &State {
        &self.state
    }
    fn segment(&self) -> &Segment {
        &self.segment
    }
    fn advance(&mut self, limit: f64) -> Result<(), StepFailure> {
        if let Some(failure) = &self.stopped {
            return Err(failure.clone());
        }
        let outcome = self.stepper.advance(limit);
        self.take(outcome)
    }
    fn restart(&mut self, at: State) {
        // multipliers of the formulation vanish on solutions
        let n = at.x.len();
        self.all.t = at.t;
        self.all.x[..n].copy_from_slice(&at.x);
        self.all.x[n..].fill(0.0);
        // where multipliers are of index two and more, the equations of a formulation do not tell ẋ at a point
        self.rates.fill(0.0);
        match first_rates(&mut *self.array, at.t, &at.x, &mut self.rates) {
            Ok(()) => self.stepper.restart_along(self.all.clone(), &self.rates),
            Err(_) => self.stepper.restart(self.all.clone()),
        }
        self.look();
        self.stopped = self.kept.as_mut().and_then(|kept| kept.begin(self.state.t, &self.state.x).err());
        if let Some(passage) = &mut self.watch {
            passage.begin(&mut *self.array, self.state.t, &self.state.x);
        }
    }
    fn retake(&mut self, t: f64) -> Result<bool, StepFailure> {
        let outcome = self.stepper.retake(t);
        self.look();
        outcome
    }
    fn watch_between(&mut self) {
        self.stepper.watch_between();
    }
    fn inside(&mut self, t: f64, x: &mut [f64]) {
        self.stepper.inside(t, &mut self.all.x);
        let n = x.len();
        x.copy_from_slice(&self.all.x[..n]);
    }
    fn refine(&mut self) {
        self.stepper.refine();
        self.segment = self.stepper.segment().first(self.state.x.len());
    }
    fn propose(&mut self, h: f64) {
        self.stepper.propose(h);
    }
    fn rates(&mut self, xdot: &mut [f64]) {
        self.stepper.rates(&mut self.rates);
        let n = xdot.len();
        xdot.copy_from_slice(&self.rates[..n]);
    }
    fn system(&mut self) -> Option<&mut dyn Dae> {
        self.stepper.system()
    }
    fn attempts(&self) -> u64 {
        self.stepper.attempts()
    }

    fn statistics(&self) -> Statistics {
        self.stepper.statistics()
    }
    fn residuals(&self) -> Residuals {
        self.stepper.residuals()
    }
    fn undetermined(&self) -> Vec<Vec<f64>> {
        let n = self.state.x.len();
        let shown = |mut combination: Vec<f64>| {
            combination.truncate(n);
            combination
        };
        self.stepper.undetermined().into_iter().map(shown).collect()
    }
    fn proposed_step(&self) -> f64 {
        self.stepper.proposed_step()
    }
    fn decisions(&self) -> String {
        let decisions = self.stepper.decisions();
        match (self.warning, &decisions[..]) {
            ("", _) => decisions,
            (warning, "") => warning.into(),
            (warning, _) => format!("{decisions}; {warning}"),
        }
    }
}
