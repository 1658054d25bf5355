//! One run: to the end, to a failure, or until its time is over.

use super::plan::PlannedRun;
use super::pool::Lost;
use crate::model::MotionModel;
use daedal::method::State;
use daedal::motion::{Form, Layout, Mechanism, ReducedArray};
use daedal::{Ended, Initial, Options, Problem, Save, Solution, SolveError, Tolerance, solve_observed};
use daedal::{Observer, StepView};
use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// More attempts than any run makes in its time: the time is what bounds it.
const MAX_STEPS: u64 = 100_000_000;

/// What is compared.
pub struct Subject {
    pub motion: Arc<MotionModel>,
    pub layout: Layout,
    /// Consistent initial values.
    pub start: State,
    pub tend: f64,
    pub h0: Option<f64>,
    pub hmax: Option<f64>,
    pub rank_tolerance: Option<f64>,
}

impl Subject {
    pub fn mechanism(&self) -> &(dyn Mechanism + Send + Sync) {
        self.motion.mechanism()
    }
}

/// What came of a run.
pub struct RunResult {
    /// Why it did not reach the end.
    pub failure: Option<String>,
    /// What was computed, even if the end was not reached.
    pub solution: Option<Solution>,
    /// Largest change of an invariant, where the model has any.
    pub drift: Option<f64>,
    /// How long it took, the look at the invariants included.
    pub duration: Duration,
}

impl RunResult {
    /// There is no result.
    pub fn lost(why: Lost) -> Self {
        let failure = match why {
            Lost::Panicked(said) => format!("internal error: {said}"),
            Lost::Silent(patience) => {
                format!("given up: no step was accepted or refused for {:.0} s", patience.as_secs_f64())
            }
        };
        RunResult { failure: Some(failure), solution: None, drift: None, duration: Duration::ZERO }
    }
}

/// Run once, and watch the invariants.
pub fn attempt(subject: &Subject, run: &PlannedRun, timeout: Duration) -> RunResult {
    let mut drift = Drift::new(subject);
    let begin = Instant::now();
    let outcome = once(subject, run, timeout, drift.as_mut());
    let duration = begin.elapsed();
    let drift = drift.map(|drift| drift.largest).filter(|largest| largest.is_finite());
    let (failure, solution) = match outcome {
        Ok(solution) => match solution.ended {
            Ended::AtEnd => (None, Some(solution)),
            _ => {
                let why = format!("stopped after {:?} s at t = {:.4}", timeout.as_secs_f64(), solution.end.t);
                (Some(why), Some(solution))
            }
        },
        Err(SolveError::Stopped { cause, partial }) => (Some(cause.to_string()), Some(*partial)),
        Err(error) => (Some(told(&error)), None),
    };
    let drift = drift.filter(|_| solution.is_some());
    RunResult { failure, solution, drift, duration }
}

/// Run once, from the consistent initial values, and keep the end only.
pub fn once(
    subject: &Subject,
    run: &PlannedRun,
    timeout: Duration,
    drift: Option<&mut Drift>,
) -> Result<Solution, SolveError> {
    let method = run.entry.with(run.formulation).expect("combinations are those of the catalogue");
    let options = Options {
        tolerance: Tolerance::new(run.tolerance, run.tolerance),
        h0: subject.h0,
        hmax: subject.hmax,
        rank_tolerance: subject.rank_tolerance,
        max_steps: MAX_STEPS,
        save: Save::End,
        verify: false,
    };
    let initial = Initial::motion(subject.start.t, &[], &[]);
    let problem = Problem::new(subject.mechanism(), initial, subject.tend).trust(subject.start.clone());
    let mut deadline = Deadline(Instant::now() + timeout);
    let mut observers: Vec<&mut dyn Observer> = vec![&mut deadline];
    observers.extend(drift.map(|drift| drift as &mut dyn Observer));
    solve_observed(&problem, &*method, &options, &mut observers)
}

/// An error with its causes, each once.
fn told(error: &SolveError) -> String {
    let (mut said, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        let more = error.to_string();
        if !said.ends_with(&more) {
            said = format!("{said}: {more}");
        }
        cause = error.source();
    }
    said
}

/// Stops a run when its time is over.
struct Deadline(Instant);

impl Observer for Deadline {
    fn observe(&mut self, _: &StepView) -> ControlFlow<()> {
        if Instant::now() > self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Watches the invariants: the largest |e − e(t0)| / max(1, |e(t0)|).
pub struct Drift<'s> {
    array: Box<dyn ReducedArray + 's>,
    layout: Layout,
    first: Vec<f64>,
    rows: Vec<f64>,
    largest: f64,
}

impl<'s> Drift<'s> {
    /// None without invariants, or where they have no value.
    fn new(subject: &'s Subject) -> Option<Self> {
        if subject.layout.sizes.invariants == 0 {
            return None;
        }
        let mut array = subject.mechanism().array(Form::StrangenessFree, true);
        let layout = array.layout().clone();
        array.set_invariants(&vec![0.0; layout.sizes.invariants]);
        let mut rows = vec![0.0; layout.rows()];
        array.evaluate(subject.start.t, &subject.start.x, &mut rows).ok()?;
        let first = rows[layout.row_invariants()].to_vec();
        Some(Drift { array, layout, first, rows, largest: 0.0 })
    }
}

impl Observer for Drift<'_> {
    fn observe(&mut self, step: &StepView) -> ControlFlow<()> {
        if self.array.evaluate(step.t, step.x, &mut self.rows).is_ok() {
            for (e, first) in self.rows[self.layout.row_invariants()].iter().zip(&self.first) {
                self.largest = self.largest.max((e - first).abs() / first.abs().max(1.0));
            }
        }
        ControlFlow::Continue(())
    }
}
