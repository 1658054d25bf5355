//! A run as plain data: the steps while they are made, and in the end everything that a run file holds.

use crate::output::{counters, formulation};
use crate::solve::Run;
use daedal::motion::{Layout, Outputs};
use daedal::observer::{Observer, StepView};
use daedal::{Ended, Residuals, Solution, SolveError};
use daedal_run::{Column, End, Event, Header, Kind, Steps};
use std::ops::ControlFlow;

/// Order of Radau IIa with three stages, which every step of GEOMS has.
const ORDER: u32 = 5;

/// Writes down every accepted step.
#[derive(Default)]
pub struct StepRecorder {
    t: Vec<f64>,
    h: Vec<f64>,
    newton: Vec<u64>,
    residuals: Vec<Residuals>,
    /// Newton iterations up to the last step
    solves: u64,
}

impl Observer for StepRecorder {
    fn observe(&mut self, step: &StepView) -> ControlFlow<()> {
        self.t.push(step.t);
        self.h.push(step.segment.t1 - step.segment.t0);
        self.newton.push(step.statistics.solves - self.solves);
        self.solves = step.statistics.solves;
        self.residuals.push(step.residuals);
        ControlFlow::Continue(())
    }
}

impl StepRecorder {
    /// The steps, in the shape of a run file.
    pub fn steps(self) -> Steps {
        let level = |read: fn(&Residuals) -> Option<f64>| {
            let there = self.residuals.iter().any(|residuals| read(residuals).is_some());
            there.then(|| self.residuals.iter().map(|residuals| read(residuals).unwrap_or(f64::NAN)).collect())
        };
        Steps {
            order: vec![ORDER; self.t.len()],
            position: level(|r| r.position),
            velocity: level(|r| r.velocity),
            acceleration: level(|r| r.acceleration),
            invariant: level(|r| r.invariant),
            t: self.t,
            h: self.h,
            newton: Some(self.newton),
        }
    }
}

/// The outputs of a model file at the last point.
pub fn final_outputs(run: &Run, solution: &Solution) -> Vec<(String, f64)> {
    let Some(formulas) = &run.setup.formulas else { return Vec::new() };
    let mut outputs = Outputs::new(formulas);
    let mut values = vec![0.0; outputs.names().len()];
    outputs.evaluate(solution.end.t, &solution.end.x, &mut values);
    outputs.names().iter().cloned().zip(values).collect()
}

/// Everything that a run file holds.
pub fn record(
    run: &Run,
    solution: &Solution,
    steps: Option<Steps>,
    error: Option<&SolveError>,
    seconds: f64,
) -> daedal_run::Run {
    let kinds = kinds(&solution.layout);
    let mut outputs = run.setup.formulas.as_ref().map(Outputs::new);
    let names = outputs.as_ref().map_or_else(Vec::new, |outputs| outputs.names().to_vec());
    // variables, then outputs, in a state x
    let mut values_at = |t: f64, x: &[f64]| {
        let mut values: Vec<f64> = kinds.iter().map(|&(j, _)| x[j]).collect();
        values.resize(kinds.len() + names.len(), 0.0);
        if let Some(outputs) = &mut outputs {
            outputs.evaluate(t, x, &mut values[kinds.len()..]);
        }
        values
    };
    let variables = kinds.iter().map(|&(j, kind)| Column::new(solution.names[j].clone(), kind, Vec::new()));
    let formulas = names.iter().map(|name| Column::new(name.clone(), Kind::Output, Vec::new()));
    let mut columns: Vec<Column> = variables.chain(formulas).collect();
    let mut times = Vec::new();
    for (t, x) in points(solution) {
        times.push(t);
        for (column, value) in columns.iter_mut().zip(values_at(t, x)) {
            column.values.push(value);
        }
    }
    let mut events = Vec::new();
    for event in &solution.events {
        events.push(Event { name: event.name.clone(), t: event.t, state: values_at(event.t, &event.x) });
    }
    let end = End { t: solution.end.t, values: values_at(solution.end.t, &solution.end.x) };
    daedal_run::Run { header: header(run, solution, error, seconds), times, columns, steps, events, end: Some(end) }
}

fn header(run: &Run, solution: &Solution, error: Option<&SolveError>, seconds: f64) -> Header {
    let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let largest = &solution.max_residuals;
    Header {
        model: given(&run.setup.name),
        description: given(&run.setup.description),
        source: given(&run.setup.source),
        parameters: run.setup.parameters.clone(),
        formulation: Some(formulation(run.method.formulation).to_string()),
        method: Some("geoms".to_string()),
        rtol: Some(run.rtol),
        atol: Some(run.atol),
        t0: Some(run.setup.case.initial.t),
        tend: Some(run.setup.case.tend),
        ended: Some(ended(&solution.ended)),
        message: message(solution, error),
        seconds: Some(seconds),
        counters: counters(Some(&solution.statistics)).into(),
        max_residual: daedal_run::Residuals {
            position: largest.position,
            velocity: largest.velocity,
            acceleration: largest.acceleration,
            invariant: largest.invariant,
        },
        undetermined: solution.undetermined.clone(),
        decisions: Some(solution.decisions.clone()).filter(|decisions| !decisions.is_empty()),
    }
}

/// Why the run stopped, if it did.
fn message(solution: &Solution, error: Option<&SolveError>) -> Option<String> {
    match (&solution.ended, error) {
        (_, Some(SolveError::Stopped { cause, .. })) => Some(cause.to_string()),
        (Ended::AtEvent { name }, _) => Some(format!("the event {name} stopped the run")),
        _ => None,
    }
}

/// How the run ended, in the word of run files.
pub fn ended(ended: &Ended) -> daedal_run::Ended {
    match ended {
        Ended::AtEnd => daedal_run::Ended::End,
        Ended::AtEvent { .. } => daedal_run::Ended::Event,
        Ended::ByObserver => daedal_run::Ended::Observer,
        Ended::ByFailure => daedal_run::Ended::Failure,
    }
}

/// Places of the variables in the order p, v, r, w, s, λ, μ, accelerations, and what they are.
fn kinds(layout: &Layout) -> Vec<(usize, Kind)> {
    let kind = |j: usize| {
        let blocks = [
            (layout.p(), Kind::Position),
            (layout.v(), Kind::Velocity),
            (layout.r(), Kind::Dynamic),
            (layout.w(), Kind::Auxiliary),
            (layout.s(), Kind::Contact),
            (layout.lambda(), Kind::Multiplier),
            (layout.mu(), Kind::Multiplier),
            (layout.a(), Kind::Acceleration),
        ];
        blocks.into_iter().find(|(block, _)| block.contains(&j)).map_or(Kind::Variable, |(_, kind)| kind)
    };
    layout.shown().into_iter().map(|j| (j, kind(j))).collect()
}

/// The points that were kept; the last one if only the end was.
fn points(solution: &Solution) -> impl Iterator<Item = (f64, &[f64])> {
    let end = solution.is_empty().then(|| (solution.end.t, &*solution.end.x));
    solution.times.iter().enumerate().map(|(k, &t)| (t, solution.state(k))).chain(end)
}

/// Number of points in the files.
pub fn number_of_points(solution: &Solution) -> usize {
    points(solution).count()
}
