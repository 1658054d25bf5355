//! A run as plain data: the steps while they are made, and in the end everything that a run file holds.

use crate::curve::{self, Flatness, Ready};
use crate::output::counters;
use crate::outputs::Outputs;
use crate::plain::plain;
use crate::solve::{Made, Run};
use crate::variables::{Computed, Stopped};
use daedal::observer::{Observer, StepView};
use daedal::segment::Segment;
use daedal::{Ended, Residuals, Save, SolveError};
use daedal_run::{Column, End, Event, Header, Kind, Steps};
use std::ops::ControlFlow;

/// Order of the steps of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The same in every step.
    Fixed(u32),
    /// The degree of the polynomial over the step.
    OfSegment,
    /// 2s − 1, where s is the degree of that polynomial.
    OfStages,
    /// Not known.
    Unknown,
}

/// Writes down every accepted step.
pub struct StepRecorder {
    pub of_method: Order,
    t: Vec<f64>,
    h: Vec<f64>,
    order: Vec<u32>,
    newton: Vec<u64>,
    residuals: Vec<Residuals>,
    /// Newton iterations up to the last step
    solves: u64,
}

impl<L> Observer<L> for StepRecorder {
    fn observe(&mut self, step: &StepView<L>) -> ControlFlow<()> {
        self.t.push(step.t);
        self.h.push(step.segment.t1 - step.segment.t0);
        match self.of_method {
            Order::Fixed(order) => self.order.push(order),
            Order::OfSegment => self.order.push(step.segment.degree() as u32),
            Order::OfStages => self.order.push(2 * step.segment.degree() as u32 - 1),
            Order::Unknown => {}
        }
        self.newton.push(step.statistics.solves.saturating_sub(self.solves));
        self.solves = step.statistics.solves;
        self.residuals.push(step.residuals);
        ControlFlow::Continue(())
    }
}

impl StepRecorder {
    /// Before the first step.
    pub fn new(of_method: Order) -> Self {
        let (t, h, order, newton, residuals) = Default::default();
        StepRecorder { of_method, t, h, order, newton, residuals, solves: 0 }
    }

    /// The steps, in the shape of a run file.
    pub fn steps(self) -> Steps {
        let level = |read: fn(&Residuals) -> Option<f64>| {
            let there = self.residuals.iter().any(|residuals| read(residuals).is_some());
            there.then(|| self.residuals.iter().map(|residuals| read(residuals).unwrap_or(f64::NAN)).collect())
        };
        Steps {
            position: level(|r| r.position),
            velocity: level(|r| r.velocity),
            acceleration: level(|r| r.acceleration),
            invariant: level(|r| r.invariant),
            constraint: level(|r| r.constraint),
            hidden: level(|r| r.hidden),
            t: self.t,
            h: self.h,
            order: (self.of_method != Order::Unknown).then_some(self.order),
            newton: Some(self.newton),
        }
    }
}

/// The outputs of a model file at the last point.
pub fn final_outputs(run: &Run, made: &Made, solution: &Computed) -> Vec<(String, f64)> {
    let mut outputs = Outputs::new(&run.setup, &solution.names);
    let mut values = vec![0.0; outputs.names().len()];
    let rates = made.rates.as_ref().and_then(|rates| rates.end(solution.end.t));
    outputs.evaluate(solution.end.t, &solution.end.x, rates, &mut values);
    outputs.names().iter().cloned().zip(values).collect()
}

/// Everything that a run file holds.
pub fn record(run: &Run, made: &Made, solution: &Computed, steps: Option<Steps>) -> daedal_run::Run {
    let shown = &solution.layout.shown;
    let mut outputs = Outputs::new(&run.setup, &solution.names);
    let names = outputs.names().to_vec();
    // variables, then outputs, in a state x
    let mut values_at = |t: f64, x: &[f64], rates: Option<&[f64]>| {
        let mut values: Vec<f64> = shown.iter().map(|&(j, _)| x[j]).collect();
        values.resize(shown.len() + names.len(), 0.0);
        outputs.evaluate(t, x, rates, &mut values[shown.len()..]);
        values
    };
    let variables = shown.iter().map(|&(j, kind)| Column::new(solution.names[j].clone(), kind, Vec::new()));
    let formulas = names.iter().map(|name| Column::new(name.clone(), Kind::Output, Vec::new()));
    let mut columns: Vec<Column> = variables.chain(formulas).collect();
    let mut times = Vec::new();
    let at_end = made.rates.as_ref().and_then(|rates| rates.end(solution.end.t));
    let rates = match &made.rates {
        Some(_) if solution.is_empty() => vec![at_end],
        Some(rates) => rates.at(&solution.times),
        None => Vec::new(),
    };
    let points: Vec<(f64, Vec<f64>)> =
        points(solution).enumerate().map(|(k, (t, x))| (t, values_at(t, x, rates.get(k).copied().flatten()))).collect();
    let mut push = |t: f64, row: &[f64]| {
        times.push(t);
        for (column, value) in columns.iter_mut().zip(row) {
            column.values.push(*value);
        }
    };
    let atol = shown.iter().map(|&(j, _)| Some(run.tolerances.of(&solution.names[j])));
    let mut flatness = Flatness::new(run.tolerances.rtol, atol.chain(names.iter().map(|_| None)).collect());
    if !solution.segments.is_empty() {
        for (_, row) in &points {
            flatness.see(row);
        }
        for k in curve::samples(points.len()) {
            let (t, x) = (points[k].0, solution.state(k));
            let weights = solution.names.iter().zip(x).map(|(name, x)| run.tolerances.weight(name, *x));
            let moved = values_at(t, &curve::nudged(x, weights), rates.get(k).copied().flatten());
            flatness.compare(&points[k].1, &moved);
        }
    }
    // each step has its point, and those of its polynomial that its curve needs
    let mut inside = |segment: &Segment, t: f64| {
        let (mut x, mut rates) = (vec![0.0; segment.dim()], vec![0.0; segment.dim()]);
        segment.eval(t, &mut x);
        segment.derivative(t, &mut rates);
        values_at(t, &x, Some(&rates))
    };
    let parts = parts(&flatness.ready(), solution, &points, &mut inside);
    for (k, (t, row)) in points.iter().enumerate() {
        push(*t, row);
        if let Some(&parts) = parts.get(k) {
            for t in curve::between((*t, points[k + 1].0), parts) {
                push(t, &inside(&solution.segments[k], t));
            }
        }
    }
    let mut events = Vec::new();
    for event in &solution.events {
        events.push(Event { name: event.name.clone(), t: event.t, state: values_at(event.t, &event.x, None) });
    }
    let last = values_at(solution.end.t, &solution.end.x, at_end);
    // a run that did not come to its end shows how far it came, whatever points were wanted
    let short = solution.ended != Ended::AtEnd && points.last().is_none_or(|(t, _)| *t < solution.end.t);
    if short && matches!(run.options.save, Save::At(_)) {
        push(solution.end.t, &last);
    }
    let end = Some(End { t: solution.end.t, values: last });
    daedal_run::Run { header: header(run, made, solution), times, columns, steps, events, end, hybrid: None }
}

/// Into how many parts the curves need each step to be cut; none where the polynomials were not kept.
fn parts(
    flatness: &Ready,
    solution: &Computed,
    points: &[(f64, Vec<f64>)],
    inside: &mut dyn FnMut(&Segment, f64) -> Vec<f64>,
) -> Vec<u32> {
    let steps = solution.segments.iter().zip(points.windows(2));
    let parts: Vec<f64> = steps
        .map(|(segment, ends)| {
            let (t0, t1) = (ends[0].0, ends[1].0);
            flatness.parts(|theta| inside(segment, t0 + theta * (t1 - t0)))
        })
        .collect();
    curve::limited(&parts)
}

fn header(run: &Run, made: &Made, solution: &Computed) -> Header {
    let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    Header {
        model: given(&run.setup.name),
        description: given(&run.setup.description),
        source: given(&run.setup.source),
        parameters: run.setup.parameters.clone(),
        formulation: Some(solution.layout.formulation.to_string()),
        method: Some(run.method.name().to_string()),
        rtol: Some(run.tolerances.rtol),
        atol: Some(run.tolerances.atol),
        atol_of: run.tolerances.of.clone(),
        t0: Some(run.setup.t0()),
        tend: Some(run.setup.tend()),
        ended: Some(ended(&solution.ended)),
        message: message(solution, made.error()).map(|message| plain(&run.setup.places.told(&message)).into_owned()),
        seconds: Some(made.seconds),
        counters: counters(run, Some(&solution.statistics)).into(),
        max_residual: largest_residuals(&solution.max_residuals),
        undetermined: solution.undetermined.clone(),
        decisions: decisions(run, solution),
        warnings: made.warnings.clone(),
    }
}

/// What was decided: why this method, and what it decided by itself.
fn decisions(run: &Run, solution: &Computed) -> Option<String> {
    let reasons = run.method.reasons();
    let chosen = (!reasons.is_empty())
        .then(|| format!("{}, {}: {}", run.method.name(), run.method.formulation(), reasons.join("; ")));
    let all: Vec<String> =
        chosen.into_iter().chain(Some(solution.decisions.clone()).filter(|d| !d.is_empty())).collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

/// In the shape of a run file.
pub fn largest_residuals(largest: &Residuals) -> daedal_run::Residuals {
    daedal_run::Residuals {
        position: largest.position,
        velocity: largest.velocity,
        acceleration: largest.acceleration,
        invariant: largest.invariant,
        constraint: largest.constraint,
        hidden: largest.hidden,
    }
}

/// Why the run stopped, if it did.
fn message(solution: &Computed, error: Option<&Stopped>) -> Option<String> {
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

/// The points that were kept; the last one if only the end was.
fn points(solution: &Computed) -> impl Iterator<Item = (f64, &[f64])> {
    let end = solution.is_empty().then(|| (solution.end.t, &*solution.end.x));
    solution.times.iter().enumerate().map(|(k, &t)| (t, solution.state(k))).chain(end)
}
