//! Runs of a mechanism, all of them from the same consistent initial values.

use super::clock::Clock;
use super::plan::PlannedRun;
use super::subject::{
    EndPoint, EndValue, MAX_STEPS, References, RunResult, Subject, counters, kind, levels, told, too_long,
};
use crate::choice::{PlannedSolver, RunPlan};
use crate::model::{Model, MotionModel};
use crate::settings::Settings;
use crate::variables::ShownVariables;
use daedal::method::State;
use daedal::motion::{Form, Layout, ReducedArray};
use daedal::{Ended, Initial, Options, Problem, Save, SolveError, Tolerance, solve_observed};
use daedal::{Observer, StepView};
use daedal_run::ColumnKind;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A mechanism at its start.
pub struct MotionSubject {
    pub model: Model,
    pub motion: Arc<MotionModel>,
    pub layout: Layout,
    pub names: Vec<String>,
    /// Consistent initial values.
    pub start: State,
    pub tend: f64,
    pub h0: Option<f64>,
    pub hmax: Option<f64>,
    pub rank_tolerance: Option<f64>,
}

impl Subject for MotionSubject {
    fn run(&self, run: &PlannedRun, timeout: Duration, watched: bool) -> RunResult {
        let settings = Settings {
            method: Some(run.method.to_string()),
            formulation: run.formulation.map(String::from),
            rtol: Some(run.tolerance),
            atol: Some(run.tolerance),
            options: run.options.clone(),
            ..Settings::default()
        };
        let interval = (self.start.t, self.tend);
        let plan = match RunPlan::new(&self.model, &settings, interval, self.model.ranks()) {
            Ok(plan) => plan,
            Err(error) => return RunResult::failed(told(&error)),
        };
        let PlannedSolver::Motion { method, formulation, .. } = plan.solver else {
            return RunResult::failed("it is not solved as a mechanism".to_string());
        };
        let options = Options {
            tolerance: Tolerance::new(run.tolerance, run.tolerance),
            h0: self.h0,
            hmax: self.hmax,
            rank_tolerance: self.rank_tolerance,
            max_steps: MAX_STEPS,
            save: Save::End,
            verify: false,
        };
        let initial = Initial::motion(self.start.t, &[], &[]);
        let problem = Problem::new(self.motion.mechanism(), initial, self.tend).trust(self.start.clone());
        let mut drift = watched.then(|| Drift::new(self)).flatten();
        let mut deadline = Deadline(Instant::now() + timeout);
        let clock = Clock::start();
        let outcome = {
            let mut observers: Vec<&mut dyn Observer> = vec![&mut deadline];
            observers.extend(drift.as_mut().map(|drift| drift as &mut dyn Observer));
            solve_observed(&problem, &*method, &options, &mut observers)
        };
        let (seconds, by_the_wall) = clock.seconds();
        let (failure, solution) = match outcome {
            Ok(solution) => match solution.ended {
                Ended::AtEnd => (None, solution),
                _ => (Some(too_long(timeout, solution.end.t)), solution),
            },
            Err(SolveError::Stopped { cause, partial }) => (Some(cause.to_string()), *partial),
            Err(error) => return RunResult::failed(told(&error)),
        };
        let mut undetermined: Vec<String> = Vec::new();
        for (name, _) in solution.undetermined.iter().flatten() {
            if !undetermined.contains(name) {
                undetermined.push(name.clone());
            }
        }
        let shown = ShownVariables::of_motion(&self.layout, formulation).shown;
        let value = |&(j, of): &(usize, ColumnKind)| {
            let (name, value) = (self.names[j].clone(), solution.end.x[j]);
            Some(EndValue { name, kind: kind(of)?, value, size: 1.0 })
        };
        RunResult {
            failure,
            end: Some(EndPoint {
                t: solution.end.t,
                values: shown.iter().filter_map(value).collect(),
                switching: None,
            }),
            counters: Some(counters(&solution.statistics)),
            max_residual: levels(&solution.max_residuals),
            drift: drift.map(|drift| drift.largest).filter(|largest| largest.is_finite()),
            undetermined,
            chosen: run.is_auto().then(|| format!("{} {formulation}", plan.choice.method)),
            seconds,
            by_the_wall,
        }
    }

    /// All of them keep all constraints.
    fn references(&self) -> References {
        References {
            run: vec![("geoms", "psf"), ("radau", "psf")],
            check: vec![("radau", "psf"), ("gmkssol", "psf"), ("radau", "ggl")],
        }
    }
}

/// Stops a run when its time is over.
struct Deadline(Instant);

impl Observer for Deadline {
    fn observe(&mut self, _: &StepView) -> ControlFlow<()> {
        if Instant::now() > self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Watches the invariants: the largest |e − e(t0)| / max(1, |e(t0)|).
struct Drift<'s> {
    array: Box<dyn ReducedArray + 's>,
    layout: Layout,
    first: Vec<f64>,
    rows: Vec<f64>,
    largest: f64,
}

impl<'s> Drift<'s> {
    /// None without invariants, or where they have no value.
    fn new(subject: &'s MotionSubject) -> Option<Self> {
        if subject.layout.sizes.invariants == 0 {
            return None;
        }
        let mut array = subject.motion.mechanism().array(Form::StrangenessFree, true);
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
