//! A run through several modes in the shape of a run file.

use super::table::{Point, Table, inside, points, rates_at};
use crate::curve::{self, Flatness};
use crate::outcome::{Computed, Outcome};
use crate::outputs::LastRates;
use crate::record::header;
use daedal::hybrid::{self, HybridSolution};
use daedal::{Ended, Save};
use daedal_model::HybridModel;
use daedal_run::{Column, End, Hybrid, Jump, Kind, Mode, Phase, Restart, Smoothness, Switch, SwitchKind};
use std::cell::Cell;

/// Everything that a run file holds.
pub fn record(
    outcome: &Outcome,
    computed: &Computed,
    solution: &HybridSolution,
    rates: &LastRates,
    model: &HybridModel,
    with_rates: bool,
) -> daedal_run::Run {
    let table = &mut Table::new(model, solution);
    let last_rates = rates;
    let mut columns: Vec<Column> =
        table.names.iter().zip(&table.kinds).map(|(name, &kind)| Column::new(name.clone(), kind, Vec::new())).collect();
    columns.push(Column::new(table.mode_column(), Kind::Mode, Vec::new()));
    let mut times = Vec::new();
    let reached = Cell::new(f64::NEG_INFINITY);
    let mut push = |t: f64, row: &[f64], mode: usize| {
        times.push(t);
        reached.set(t);
        for (column, value) in columns.iter_mut().zip(row.iter().copied().chain([mode as f64])) {
            column.values.push(value);
        }
    };
    // times that are wanted, where the polynomials were kept instead
    let wanted = match &outcome.save {
        Save::At(times) if with_rates => Some(times.as_slice()),
        _ => None,
    };
    let mut wanted = wanted;
    let kept: Vec<Vec<Point>> = solution.phases.iter().map(|phase| points(phase, wanted.as_mut())).collect();
    let smooth = outcome.save == Save::Dense;
    // points at given times show a switch by the points on both sides of it
    let between = matches!(outcome.save, Save::At(_));
    let mut parts = if smooth { parts(outcome, solution, &kept, table) } else { Vec::new() }.into_iter();
    for (i, (phase, kept)) in solution.phases.iter().zip(&kept).enumerate() {
        for (k, (t, x, rates)) in kept.iter().enumerate() {
            push(*t, table.at(phase.mode, *t, x, rates.as_deref()), phase.mode);
            // the points of a step that its curves need; the next phase begins with a row of its own
            let (Some(segment), Some(next)) = (phase.segments.get(k), kept.get(k + 1)) else { continue };
            for t in curve::between((*t, next.0), parts.next().unwrap_or(1)) {
                let (x, rates) = inside(phase, segment, t);
                push(t, table.at(phase.mode, t, &x, Some(&rates)), phase.mode);
            }
        }
        let switch = solution.switches.get(i).filter(|switch| between && switch.from == phase.mode);
        if let (Some(switch), Some(next)) = (switch, solution.phases.get(i + 1)) {
            let t = switch.t;
            if kept.last().is_none_or(|last| last.0 != t) {
                push(t, table.at(switch.from, t, &switch.before, rates_at(phase, t).as_deref()), switch.from);
            }
            push(t, table.at(switch.to, t, &switch.after, rates_at(next, t).as_deref()), switch.to);
        }
    }
    let (end, mode) = (&solution.end, solution.end_mode);
    let last = table.at(mode, end.t, &end.x, last_rates.at(mode, end)).to_vec();
    // a run that did not come to its end shows how far it came, whatever points were wanted
    let short = between && solution.ended != Ended::AtEnd && reached.get() < end.t;
    if outcome.save == Save::End || short {
        push(end.t, &last, mode);
    }
    let end = End { t: end.t, values: last.into_iter().chain([mode as f64]).collect() };
    daedal_run::Run {
        header: header(outcome, computed),
        times,
        columns,
        steps: outcome.steps.clone(),
        events: Vec::new(),
        end: Some(end),
        hybrid: Some(modes(solution, table)),
    }
}

/// Into how many parts the curves need each step to be cut, one phase after the other.
fn parts(outcome: &Outcome, solution: &HybridSolution, kept: &[Vec<Point>], table: &mut Table) -> Vec<u32> {
    let tolerances = &outcome.tolerances;
    let atol =
        table.names.iter().zip(&table.kinds).map(|(name, kind)| (*kind != Kind::Output).then(|| tolerances.of(name)));
    let mut flatness = Flatness::new(tolerances.rtol, atol.collect());
    let all: Vec<(usize, &Point)> = solution
        .phases
        .iter()
        .zip(kept)
        .flat_map(|(phase, kept)| kept.iter().map(|point| (phase.mode, point)))
        .collect();
    for (mode, (t, x, rates)) in &all {
        flatness.see(table.at(*mode, *t, x, rates.as_deref()));
    }
    for (mode, (t, x, rates)) in curve::samples(all.len()).map(|k| all[k]) {
        let weights = solution.modes[mode].unknowns.iter().zip(x).map(|(name, x)| tolerances.weight(name, *x));
        let row = table.at(mode, *t, x, rates.as_deref()).to_vec();
        flatness.compare(&row, table.at(mode, *t, &curve::nudged(x, weights), rates.as_deref()));
    }
    let flatness = flatness.ready();
    let mut parts = Vec::new();
    for (phase, kept) in solution.phases.iter().zip(kept) {
        for (segment, ends) in phase.segments.iter().zip(kept.windows(2)) {
            let (t0, t1) = (ends[0].0, ends[1].0);
            parts.push(flatness.parts(|theta| {
                let t = t0 + theta * (t1 - t0);
                let (x, rates) = inside(phase, segment, t);
                table.at(phase.mode, t, &x, Some(&rates)).to_vec()
            }));
        }
    }
    curve::limited(&parts)
}

/// Modes, phases and switches.
fn modes(solution: &HybridSolution, table: &Table) -> Hybrid {
    let mode = |(k, mode): (usize, &hybrid::ModeNames)| Mode {
        name: mode.name.clone(),
        sliding: mode.sliding,
        unknowns: table.columns_of(k),
        steps: Some(mode.statistics.steps),
        decisions: Some(mode.decisions.clone()).filter(|decisions| !decisions.is_empty()),
    };
    let jump = |jump: &hybrid::Jump| Jump { name: jump.name.clone(), before: jump.before, after: jump.after };
    let switch = |switch: &hybrid::Switch| Switch {
        t: switch.t,
        from: switch.from,
        to: switch.to,
        condition: switch.condition.clone(),
        kind: kind(switch.kind),
        smoothness: smoothness(switch.smoothness),
        jumps: switch.jumps.iter().map(jump).collect(),
        impulses: switch.impulses.clone(),
        restart: switch.repair.as_ref().map(restart),
        chattering: switch.chattering,
    };
    Hybrid {
        modes: solution.modes.iter().enumerate().map(mode).collect(),
        phases: solution.phases.iter().map(|p| Phase { mode: p.mode, t0: p.t0, t1: p.t1 }).collect(),
        switches: solution.switches.iter().map(switch).collect(),
    }
}

fn restart(repair: &hybrid::Repair) -> Restart {
    Restart {
        way: repair.restart.name().into(),
        moved: repair.moved.iter().map(|(part, change)| (part.plural().to_string(), *change)).collect(),
        momentum: repair.balance.map(|balance| balance.momentum),
        energy: repair.balance.map(|balance| balance.energy),
    }
}

fn kind(kind: hybrid::SwitchKind) -> SwitchKind {
    match kind {
        hybrid::SwitchKind::Regular => SwitchKind::Condition,
        hybrid::SwitchKind::Immediate => SwitchKind::Immediate,
        hybrid::SwitchKind::Scheduled => SwitchKind::Scheduled,
        hybrid::SwitchKind::SlidingBegins => SwitchKind::SlidingBegins,
        hybrid::SwitchKind::SlidingEnds => SwitchKind::SlidingEnds,
        hybrid::SwitchKind::Accumulation => SwitchKind::Accumulation,
    }
}

fn smoothness(smoothness: hybrid::Smoothness) -> Smoothness {
    match smoothness {
        hybrid::Smoothness::Smooth => Smoothness::Smooth,
        hybrid::Smoothness::Transfer => Smoothness::Transfer,
        hybrid::Smoothness::Restart => Smoothness::Restart,
    }
}
