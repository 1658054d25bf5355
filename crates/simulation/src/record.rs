//! A run in the shape of a run file.

use crate::curve::{self, Flatness, Ready};
use crate::error::Error;
use crate::outcome::{Computed, Outcome};
use crate::outputs::{Outputs, Rates};
use crate::plain::plain;
use crate::variables::Variables;
use daedal::segment::Segment;
use daedal::{Ended, Residuals, Save, Solution};
use daedal_run::{Column, End, Event, Header, Kind};

/// Everything that a run file holds.
pub fn record(
    outcome: &Outcome,
    computed: &Computed,
    solution: &Solution<Variables>,
    rates: Option<&Rates>,
) -> daedal_run::Run {
    let of_points = rates;
    let shown = &solution.layout.shown;
    let mut outputs = Outputs::new(&outcome.model, &solution.names);
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
    let at_end = of_points.and_then(|rates| rates.end(solution.end.t));
    let rates = match of_points {
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
    let atol = shown.iter().map(|&(j, _)| Some(outcome.tolerances.of(&solution.names[j])));
    let mut flatness = Flatness::new(outcome.tolerances.rtol, atol.chain(names.iter().map(|_| None)).collect());
    if !solution.segments.is_empty() {
        for (_, row) in &points {
            flatness.see(row);
        }
        for k in curve::samples(points.len()) {
            let (t, x) = (points[k].0, solution.state(k));
            let weights = solution.names.iter().zip(x).map(|(name, x)| outcome.tolerances.weight(name, *x));
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
    if short && matches!(outcome.save, Save::At(_)) {
        push(solution.end.t, &last);
    }
    let end = Some(End { t: solution.end.t, values: last });
    daedal_run::Run {
        header: header(outcome, computed),
        times,
        columns,
        steps: outcome.steps.clone(),
        events,
        end,
        hybrid: None,
    }
}

/// Into how many parts the curves need each step to be cut; none where the polynomials were not kept.
fn parts(
    flatness: &Ready,
    solution: &Solution<Variables>,
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

/// What was solved, how, and how it ended.
pub fn header(outcome: &Outcome, computed: &Computed) -> Header {
    let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let model = &outcome.model.content;
    Header {
        model: given(&model.name),
        description: given(&model.description),
        source: given(&model.citation),
        parameters: model.parameters.clone(),
        formulation: Some(outcome.formulation().to_string()),
        method: Some(outcome.choice.method.clone()),
        rtol: Some(outcome.tolerances.rtol),
        atol: Some(outcome.tolerances.atol),
        atol_of: outcome.tolerances.of.clone(),
        t0: Some(outcome.interval.0),
        tend: Some(outcome.interval.1),
        ended: Some(ended(&computed.ended)),
        message: message(outcome, computed).map(|message| plain(&model.places.told(&message)).into_owned()),
        seconds: Some(outcome.seconds),
        counters: outcome.counters().map(|(name, count)| (name.to_string(), count)).into(),
        max_residual: largest_residuals(&computed.max_residuals),
        undetermined: computed.undetermined.clone(),
        decisions: decisions(outcome, computed),
        warnings: outcome.warnings.clone(),
    }
}

/// What was decided: why this method, and what it decided by itself.
fn decisions(outcome: &Outcome, computed: &Computed) -> Option<String> {
    let choice = &outcome.choice;
    let chosen = (!choice.reasons.is_empty())
        .then(|| format!("{}, {}: {}", choice.method, choice.formulation, choice.reasons.join("; ")));
    let own = Some(computed.decisions.clone()).filter(|decisions| !decisions.is_empty());
    let all: Vec<String> = chosen.into_iter().chain(own).collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

/// Why the run stopped, if it did.
fn message(outcome: &Outcome, computed: &Computed) -> Option<String> {
    let error = outcome.error.as_ref().map(|error| match error {
        Error::Located { error, .. } => error,
        error => error,
    });
    match (&computed.ended, error) {
        (_, Some(Error::Stopped { cause, .. })) => Some(cause.to_string()),
        (_, Some(Error::StoppedInMode { cause, .. })) => Some(cause.to_string()),
        (Ended::AtEvent { name }, _) => Some(format!("the event {name} stopped the run")),
        _ => None,
    }
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
fn points(solution: &Solution<Variables>) -> impl Iterator<Item = (f64, &[f64])> {
    let end = solution.is_empty().then(|| (solution.end.t, &*solution.end.x));
    solution.times.iter().enumerate().map(|(k, &t)| (t, solution.state(k))).chain(end)
}
