//! A system without modes: one place that is never left, whose stepper starts where the system is consistent already.

use super::course::Course;
use super::place::{Place, PlaceEquations};
use super::rearranged::EventOf;
use super::{Execution, HybridFailure};
use crate::error::{SolveError, StepFailure};
use crate::event::Event;
use crate::hybrid::{ActiveMode, Hybrid, HybridOptions};
use crate::method::{StartFailure, State, Stepper};
use crate::observer::{Observer, StepView};
use crate::options::{Options, Save};
use crate::solution::{Ended, Solution};
use crate::verify::Verifier;
use std::ops::ControlFlow;

/// Coefficients of combinations below this are rounding.
const ROUNDING: f64 = 1e-8;

/// A system with its start.
pub(crate) struct Alone<'a, L> {
    pub layout: &'a L,
    pub names: Vec<String>,
    pub start: State,
    pub tend: f64,
    pub events: &'a [Event<'a>],
    pub course: &'a dyn Course,
    /// rtol and atol of every component of a state
    pub tolerances: Vec<(f64, f64)>,
    pub verifier: Option<Verifier>,
    pub options: &'a Options,
}

impl<'a, L: Clone> Alone<'a, L> {
    /// Start a method and go on to the end.
    pub fn run(
        self,
        method: impl FnOnce() -> Result<Box<dyn Stepper + 'a>, StartFailure>,
        observers: &mut [&mut dyn Observer<L>],
    ) -> Result<Solution<L>, SolveError<L>> {
        let Alone { layout, names, start, tend, events, course, tolerances, verifier, options } = self;
        for observer in &mut *observers {
            observer.begin();
        }
        let (system, hybrid) = (Hybrid::new(), HybridOptions::default());
        let mut place = Place::new(String::new(), names, PlaceEquations::Alone(course));
        (place.tolerances, place.verifier) = (tolerances, verifier);
        place.events = events.iter().map(EventOf::Given).collect();
        let mut run = Execution::new(&system, vec![place], 0, (start.t, tend), options, &hybrid);
        run.record.begin(0, start.t, &start.x, start.x.len());
        let mut stepper = match course.check(&start, tend).map_err(StartFailure::from).and_then(|()| method()) {
            Ok(stepper) => stepper,
            Err(StartFailure::Options(bad)) => return Err(bad.into()),
            Err(StartFailure::Step(cause)) => {
                let partial = Box::new(run.solution(Ended::ByFailure, layout));
                return Err(SolveError::Stopped { cause, partial });
            }
            Err(failure) => return Err(SolveError::Start(failure)),
        };
        // methods whose polynomials are less accurate than their steps make longer ones where nobody looks in between
        let saved_between = matches!(options.save, Save::At(_) | Save::Dense);
        let place = &mut run.places[0];
        if saved_between || !events.is_empty() || place.verifier.is_some() {
            stepper.watch_between();
        }
        place.stepper = Some(stepper);
        place.look_ahead((start.t, tend));
        let mut looking: Vec<InLayout<L>> =
            observers.iter_mut().map(|observer| InLayout { layout, observer: &mut **observer }).collect();
        let mut looking: Vec<&mut dyn Observer<ActiveMode>> =
            looking.iter_mut().map(|one| one as &mut dyn Observer<ActiveMode>).collect();
        match run.make(&mut looking) {
            Ok(ended) => Ok(run.solution(ended, layout)),
            Err(failure) => {
                let partial = Box::new(run.solution(Ended::ByFailure, layout));
                Err(SolveError::Stopped { cause: cause_of(failure), partial })
            }
        }
    }
}

/// What is never left fails in a step only.
fn cause_of(failure: HybridFailure) -> StepFailure {
    match failure {
        HybridFailure::Step { cause, .. } => cause,
        other => StepFailure::Undefined { t: other.time() },
    }
}

impl Execution<'_, '_> {
    /// What was computed in the only phase.
    fn solution<L: Clone>(self, ended: Ended, layout: &L) -> Solution<L> {
        let place = &self.places[0];
        let proposed_step = place.stepper.as_ref().map_or(0.0, |stepper| stepper.proposed_step());
        let vectors = place.stepper.as_ref().map(|stepper| stepper.undetermined()).unwrap_or_default();
        let named = |vector: &Vec<f64>| {
            let terms = place.unknowns.iter().zip(vector).filter(|(_, factor)| factor.abs() > ROUNDING);
            terms.map(|(name, &factor)| (name.clone(), factor)).collect()
        };
        let undetermined = vectors.iter().map(named).collect();
        let methods = place.stepper.as_ref().map(|stepper| stepper.methods()).unwrap_or_default();
        let verified = place.verifier.is_some();
        let mut found = self.finish(ended, verified);
        let (phase, mode) = (found.phases.swap_remove(0), found.modes.swap_remove(0));
        Solution {
            layout: layout.clone(),
            names: mode.unknowns,
            times: phase.times,
            states: phase.states,
            segments: phase.segments,
            events: found.events.into_iter().map(|occurrence| occurrence.event).collect(),
            end: found.end,
            ended: found.ended,
            statistics: found.statistics,
            max_residuals: found.max_residuals,
            largest: mode.largest,
            undetermined,
            decisions: mode.decisions,
            methods,
            proposed_step,
            verification: found.verification,
        }
    }
}

/// Somebody who looks at a run and knows the layout of its states.
struct InLayout<'o, 'i, L> {
    layout: &'o L,
    observer: &'o mut (dyn Observer<L> + 'i),
}

impl<L> Observer<ActiveMode> for InLayout<'_, '_, L> {
    fn observe(&mut self, step: &StepView<ActiveMode>) -> ControlFlow<()> {
        let &StepView { t, x, segment, statistics, residuals, progress, .. } = step;
        self.observer.observe(&StepView { t, x, segment, layout: self.layout, statistics, residuals, progress })
    }
}
