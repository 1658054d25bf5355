//! Daedal from a model file; time runs from a consistent start to the end.

use super::curve::RunPoint;
use super::problems::{Compared, OwnMethod, PeerProblem};
use daedal_simulation::{
    Error, KernelKind, MethodOptions, Model, ModelSource, Monitor, OptionValue, Progress, Settings, Simulation,
};
use std::ops::ControlFlow;
use std::time::Instant;

/// A model that has been read, and what reading and starting cost.
pub struct LoadedModel {
    /// The model.
    pub model: Model,
    /// Seconds from the file to the model.
    pub reading: f64,
    /// Seconds of the first run until its start was consistent, kernels compiled.
    pub first_start: f64,
    /// The same in a later run, shortest of all.
    pub later_start: f64,
}

/// Where the time goes.
struct Clock {
    consistent: Option<Instant>,
    end: Option<Instant>,
}

impl Monitor for Clock {
    fn begin(&mut self) {
        self.consistent = Some(Instant::now());
    }

    fn step(&mut self, progress: &Progress) -> ControlFlow<()> {
        if progress.fraction >= 1.0 {
            self.end = Some(Instant::now());
        }
        ControlFlow::Continue(())
    }
}

impl LoadedModel {
    /// Read a model file; formulas become native code.
    pub fn load(problem: &PeerProblem) -> Result<Self, Error> {
        let begin = Instant::now();
        let model = ModelSource::load(problem.file())?.model(&[], KernelKind::Native)?;
        let reading = begin.elapsed().as_secs_f64();
        Ok(LoadedModel { model, reading, first_start: 0.0, later_start: f64::INFINITY })
    }

    /// Solve with a tolerance, repeating the run for some time; none if the end is not reached.
    pub fn run(
        &mut self,
        problem: &PeerProblem,
        compared: &[Compared],
        method: OwnMethod,
        (rtol, budget): (f64, f64),
    ) -> Option<RunPoint> {
        let mut options = MethodOptions::default();
        if method.variable {
            options.set("stages", OptionValue::Word("auto".into())).ok()?;
        }
        let settings = Settings {
            method: Some(method.name.to_string()),
            formulation: method.formulation.map(String::from),
            options,
            rtol: Some(rtol),
            atol: Some(rtol * problem.atol),
            max_steps: Some(2_000_000),
            ..Settings::default()
        };
        let mut best: Option<RunPoint> = None;
        let mut spent = 0.0;
        while best.is_none() || spent < budget {
            let begin = Instant::now();
            let mut clock = Clock { consistent: None, end: None };
            let outcome = Simulation::new(&self.model, &settings).ok()?.run(&mut clock);
            let start = clock.consistent?.duration_since(begin).as_secs_f64();
            if self.first_start == 0.0 {
                self.first_start = start;
            }
            self.later_start = self.later_start.min(start);
            if outcome.error.is_some() {
                return None;
            }
            let seconds = clock.end?.duration_since(clock.consistent?).as_secs_f64();
            spent += begin.elapsed().as_secs_f64();
            if best.is_none_or(|best| seconds < best.seconds) {
                let steps = outcome.computed.as_ref().map_or(0, |computed| computed.statistics.steps);
                let run = outcome.record()?;
                let end = run.end.as_ref()?;
                let value = |one: &Compared| {
                    let column = run.columns.iter().position(|column| column.name == one.variable)?;
                    end.values.get(column).copied()
                };
                let values: Vec<f64> = compared.iter().map(value).collect::<Option<_>>()?;
                let error = problem.error(compared, &values)?;
                best = Some(RunPoint { rtol, error, seconds, steps });
            }
        }
        best
    }
}
