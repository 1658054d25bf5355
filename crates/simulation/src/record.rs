//! A run in the shape of a run file, whatever kind of system it is: one stretch of points, or one for every phase in a mode.

use crate::curve::{self, Flatness};
use crate::error::Error;
use crate::modes;
use crate::modes::table::ColumnTable;
use crate::outcome::{Computed, Outcome, SolverResult};
use crate::outputs::{RateRecorder, rates_of};
use crate::plain::plain;
use crate::scene;
use crate::variables::ShownVariables;
use daedal::Segment;
use daedal::hybrid::Occurrence;
use daedal::method::State;
use daedal::{Ended, Residuals, Save, Solution};
use daedal_run::{ChosenPlot, Column, ColumnKind, EventRecord, Header, LastPoint, Run};

/// A point that is kept: time, state, derivative where it is known.
pub type KeptPoint = (f64, Vec<f64>, Option<Vec<f64>>);

/// Points of a run with those who write them into columns.
pub struct RecordedPoints<'s> {
    pub table: ColumnTable,
    pub stretches: Vec<Stretch<'s>>,
    pub end_mode: usize,
    pub end: &'s State,
    pub end_rates: Option<&'s [f64]>,
}

/// Points in one mode, and the polynomials between them.
pub struct Stretch<'s> {
    pub mode: usize,
    pub points: Vec<KeptPoint>,
    pub segments: &'s [Segment],
    /// Number of unknowns; polynomials may have more.
    pub dim: usize,
    /// Points on both sides of the switch behind it, with their modes.
    pub switch: Vec<(usize, KeptPoint)>,
}

impl Stretch<'_> {
    /// State and derivative on the polynomial of a step.
    pub fn inside(&self, segment: &Segment, t: f64) -> (Vec<f64>, Vec<f64>) {
        let mut x = vec![0.0; segment.dim()];
        segment.eval(t, &mut x);
        x.truncate(self.dim);
        (x, rates_of(segment, t))
    }
}

/// The points that are kept, with the polynomials between them.
pub fn points<'s>(outcome: &Outcome, computed: &'s Computed) -> RecordedPoints<'s> {
    match &computed.result {
        SolverResult::Single { solution, rates } => single(outcome, solution, rates.as_ref()),
        SolverResult::Modes { solution, rates, model, with_rates } => {
            modes::record::trajectory(outcome, solution, rates, model, *with_rates)
        }
    }
}

/// Everything that a run file holds; the moving picture only if it is wanted.
pub fn record(outcome: &Outcome, computed: &Computed, with_picture: bool) -> Run {
    let RecordedPoints { mut table, stretches, end_mode, end, end_rates } = points(outcome, computed);
    let mut columns: Vec<Column> =
        table.names.iter().zip(&table.kinds).map(|(name, &kind)| Column::new(name.clone(), kind, Vec::new())).collect();
    if computed.switching.is_some() {
        columns.push(Column::new(table.mode_column(), ColumnKind::Mode, Vec::new()));
    }
    let mut times: Vec<f64> = Vec::new();
    let mut push = |times: &mut Vec<f64>, t: f64, row: &[f64], mode: usize| {
        times.push(t);
        for (column, value) in columns.iter_mut().zip(row.iter().copied().chain([mode as f64])) {
            column.values.push(value);
        }
    };
    let smooth = outcome.save == Save::Dense;
    let mut parts = if smooth { parts(outcome, &stretches, &mut table) } else { Vec::new() }.into_iter();
    for stretch in &stretches {
        let mode = stretch.mode;
        for (k, (t, x, rates)) in stretch.points.iter().enumerate() {
            push(&mut times, *t, table.at(mode, *t, x, rates.as_deref()), mode);
            // the points of a step that its curves need; the next stretch begins with a row of its own
            let (Some(segment), Some(next)) = (stretch.segments.get(k), stretch.points.get(k + 1)) else { continue };
            for t in curve::between((*t, next.0), parts.next().unwrap_or(1)) {
                let (x, rates) = stretch.inside(segment, t);
                push(&mut times, t, table.at(mode, t, &x, Some(&rates)), mode);
            }
        }
        for (mode, (t, x, rates)) in &stretch.switch {
            push(&mut times, *t, table.at(*mode, *t, x, rates.as_deref()), *mode);
        }
    }
    let mut last = table.at(end_mode, end.t, &end.x, end_rates).to_vec();
    // a run that did not come to its end shows how far it came, whatever points were wanted
    let sense = if outcome.interval.1 < outcome.interval.0 { -1.0 } else { 1.0 };
    let reached = times.last().is_some_and(|t| sense * t >= sense * end.t);
    let short = matches!(outcome.save, Save::At(_)) && computed.ended != Ended::AtEnd && !reached;
    if outcome.save == Save::End || short {
        push(&mut times, end.t, &last, end_mode);
    }
    let mut events = Vec::new();
    let mut hybrid = None;
    match &computed.result {
        SolverResult::Single { solution, .. } => {
            for event in &solution.events {
                let state = table.at(0, event.t, &event.x, Some(&event.xdot)).to_vec();
                events.push(EventRecord { name: event.name.clone(), t: event.t, state });
            }
        }
        SolverResult::Modes { solution, .. } => {
            for Occurrence { mode, event } in &solution.events {
                let mut state = table.at(*mode, event.t, &event.x, Some(&event.xdot)).to_vec();
                state.push(*mode as f64);
                events.push(EventRecord { name: event.name.clone(), t: event.t, state });
            }
            last.push(end_mode as f64);
            hybrid = Some(modes::record::modes(solution, &table));
        }
    }
    let end = Some(LastPoint { t: end.t, values: last });
    let plots = plots(outcome, &mut columns);
    let scene = if with_picture { scene::scene(outcome, computed, &stretches).map(Box::new) } else { None };
    let (header, steps) = (header(outcome, computed), outcome.steps.clone());
    Run { header, times, columns, steps, events, end, hybrid, plots, scene }
}

/// The plots that the model asks for; the columns in them get their units.
fn plots(outcome: &Outcome, columns: &mut [Column]) -> Vec<ChosenPlot> {
    let mut chosen = Vec::new();
    for plot in &outcome.model.content.plots {
        for column in columns.iter_mut() {
            let unit = if plot.curves.contains(&column.name) { &plot.unit } else { &None };
            let across = plot.x_unit.as_ref().filter(|_| plot.x.as_ref() == Some(&column.name));
            column.unit = unit.as_ref().or(across).cloned().or(column.unit.take());
        }
        chosen.push(ChosenPlot { title: plot.title.clone(), x: plot.x.clone(), curves: plot.curves.clone() });
    }
    chosen
}

/// The points of a run without modes.
fn single<'s>(
    outcome: &Outcome,
    solution: &'s Solution<ShownVariables>,
    rates: Option<&'s RateRecorder>,
) -> RecordedPoints<'s> {
    let of_points = rates.map(|rates| rates.at(&solution.times)).unwrap_or_default();
    let rate = |k: usize| of_points.get(k).copied().flatten().map(<[f64]>::to_vec);
    let points = (0..solution.len()).map(|k| (solution.times[k], solution.state(k).to_vec(), rate(k))).collect();
    let (segments, dim) = (&solution.segments[..], solution.end.x.len());
    RecordedPoints {
        table: ColumnTable::single(&outcome.model, solution),
        stretches: vec![Stretch { mode: 0, points, segments, dim, switch: Vec::new() }],
        end_mode: 0,
        end: &solution.end,
        end_rates: rates.and_then(|rates| rates.end(solution.end.t)),
    }
}

/// Into how many parts the curves need each step to be cut, one stretch after the other.
fn parts(outcome: &Outcome, stretches: &[Stretch], table: &mut ColumnTable) -> Vec<u32> {
    let tolerances = &outcome.tolerances;
    let columns = table.names.iter().zip(&table.kinds);
    let atol = columns.map(|(name, kind)| (*kind != ColumnKind::Output).then(|| tolerances.of(name)));
    let mut flatness = Flatness::new(tolerances.rtol, atol.collect());
    let all: Vec<(usize, &KeptPoint)> =
        stretches.iter().flat_map(|stretch| stretch.points.iter().map(|point| (stretch.mode, point))).collect();
    for (mode, (t, x, rates)) in &all {
        flatness.see(table.at(*mode, *t, x, rates.as_deref()));
    }
    for (mode, (t, x, rates)) in curve::samples(all.len()).map(|k| all[k]) {
        let weights = table.unknowns(mode).iter().zip(x).map(|(name, x)| tolerances.weight(name, *x));
        let moved = curve::nudged(x, weights);
        let row = table.at(mode, *t, x, rates.as_deref()).to_vec();
        flatness.compare(&row, table.at(mode, *t, &moved, rates.as_deref()));
    }
    let flatness = flatness.ready();
    let mut parts = Vec::new();
    for stretch in stretches {
        for (segment, ends) in stretch.segments.iter().zip(stretch.points.windows(2)) {
            let (t0, t1) = (ends[0].0, ends[1].0);
            parts.push(flatness.parts(|theta| {
                let t = t0 + theta * (t1 - t0);
                let (x, rates) = stretch.inside(segment, t);
                table.at(stretch.mode, t, &x, Some(&rates)).to_vec()
            }));
        }
    }
    curve::limited(&parts)
}

/// What was solved, how, and how it ended.
fn header(outcome: &Outcome, computed: &Computed) -> Header {
    let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let model = &outcome.model.content;
    Header {
        model: given(&model.name),
        description: given(&model.description),
        source: given(&model.citation),
        parameters: parameters(outcome),
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

/// Parameters, with the values of those that were found.
fn parameters(outcome: &Outcome) -> Vec<(String, f64)> {
    let mut parameters = outcome.model.content.parameters.clone();
    for (name, value) in outcome.boundary.iter().flat_map(|account| &account.found) {
        parameters.iter_mut().filter(|(known, _)| known == name).for_each(|(_, of)| *of = *value);
    }
    parameters
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
        (_, Some(Error::Boundary(cause))) => Some(cause.to_string()),
        (Ended::AtEvent { name }, _) => Some(format!("the event {name} stopped the run")),
        _ => None,
    }
}

/// In the shape of a run file.
fn largest_residuals(largest: &Residuals) -> daedal_run::ResidualRecord {
    daedal_run::ResidualRecord {
        position: largest.position,
        velocity: largest.velocity,
        acceleration: largest.acceleration,
        invariant: largest.invariant,
        constraint: largest.constraint,
        hidden: largest.hidden,
    }
}

/// How the run ended, in the word of run files.
fn ended(ended: &Ended) -> daedal_run::Ending {
    match ended {
        Ended::AtEnd => daedal_run::Ending::End,
        Ended::AtEvent { .. } => daedal_run::Ending::Event,
        Ended::ByObserver => daedal_run::Ending::Observer,
        Ended::ByFailure => daedal_run::Ending::Failure,
    }
}
