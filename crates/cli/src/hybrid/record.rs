//! A run through several modes in the shape of a run file.

use super::table::{Table, points, rates_at};
use super::{Made, Run};
use crate::output::counters_of;
use crate::record::{ended, largest_residuals};
use daedal::hybrid::{self, HybridError, HybridSolution};
use daedal::{Ended, Save};
use daedal_run::{
    Column, End, Header, Hybrid, Jump, Kind, Mode, Phase, Restart, Smoothness, Steps, Switch, SwitchKind, Warning,
};

/// Everything that a run file holds.
pub fn record(
    run: &Run,
    made: &Made,
    solution: &HybridSolution,
    table: &mut Table,
    steps: Option<Steps>,
) -> daedal_run::Run {
    let mut columns: Vec<Column> =
        table.names.iter().zip(&table.kinds).map(|(name, &kind)| Column::new(name.clone(), kind, Vec::new())).collect();
    columns.push(Column::new(table.mode_column(), Kind::Mode, Vec::new()));
    let mut times = Vec::new();
    let mut push = |t: f64, row: &[f64], mode: usize| {
        times.push(t);
        for (column, value) in columns.iter_mut().zip(row.iter().copied().chain([mode as f64])) {
            column.values.push(value);
        }
    };
    // times that are wanted, where the polynomials were kept instead
    let wanted = match &run.chosen.options.save {
        Save::At(times) if run.with_rates => Some(times.as_slice()),
        _ => None,
    };
    let mut wanted = wanted;
    // points at given times show a switch by the points on both sides of it
    let between = matches!(run.chosen.options.save, Save::At(_));
    for (k, phase) in solution.phases.iter().enumerate() {
        let mut last = None;
        for (t, x, rates) in points(phase, wanted.as_mut()) {
            push(t, table.at(phase.mode, t, &x, rates.as_deref()), phase.mode);
            last = Some(t);
        }
        // what the next modes hold are values at the switch
        if let Some(switch) = solution.switches.get(k).filter(|switch| switch.from == phase.mode) {
            let row = table.at(switch.from, switch.t, &switch.before, rates_at(phase, switch.t).as_deref());
            if between && last != Some(switch.t) {
                push(switch.t, row, switch.from);
            }
            if let Some(next) = solution.phases.get(k + 1).filter(|_| between) {
                let rates = rates_at(next, switch.t);
                push(switch.t, table.at(switch.to, switch.t, &switch.after, rates.as_deref()), switch.to);
            }
        }
    }
    if solution.switch_count > solution.switches.len() as u64 {
        // modes that were left in between, in the order in which they were
        let mut left: Vec<_> =
            solution.modes.iter().enumerate().filter_map(|(k, mode)| Some((k, mode.left.as_ref()?))).collect();
        left.sort_by(|a, b| a.1.0.total_cmp(&b.1.0));
        left.into_iter().for_each(|(k, (t, x))| _ = table.at(k, *t, x, None));
    }
    let (end, mode) = (&solution.end, solution.end_mode);
    let last = table.at(mode, end.t, &end.x, made.rates.end()).to_vec();
    if run.chosen.options.save == Save::End {
        push(end.t, &last, mode);
    }
    let end = End { t: end.t, values: last.into_iter().chain([mode as f64]).collect() };
    daedal_run::Run {
        header: header(run, made, solution),
        times,
        columns,
        steps,
        events: Vec::new(),
        end: Some(end),
        hybrid: Some(modes(solution)),
    }
}

fn header(run: &Run, made: &Made, solution: &HybridSolution) -> Header {
    let (setup, chosen) = (&run.setup, &run.chosen);
    let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let message = match (&made.outcome, &solution.ended) {
        (Err(HybridError::Stopped { cause, .. }), _) => Some(cause.to_string()),
        (_, Ended::AtEvent { name }) => Some(format!("the event {name} stopped the run")),
        _ => None,
    };
    Header {
        model: given(&setup.name),
        description: given(&setup.description),
        source: given(&setup.source),
        parameters: setup.parameters.clone(),
        formulation: Some(run.modes.formulation()),
        method: Some(run.modes.method()),
        rtol: Some(chosen.rtol),
        atol: Some(chosen.atol),
        t0: Some(setup.t0()),
        tend: Some(setup.tend()),
        ended: Some(ended(&solution.ended)),
        message,
        seconds: Some(made.seconds),
        counters: counters_of(run.modes.with_geoms(), Some(&solution.statistics)).into(),
        max_residual: largest_residuals(&solution.max_residuals),
        undetermined: Vec::new(),
        decisions: None,
    }
}

/// Modes, phases, switches and warnings.
fn modes(solution: &HybridSolution) -> Hybrid {
    let mode = |mode: &hybrid::ModeNames| Mode {
        name: mode.name.clone(),
        sliding: mode.sliding,
        unknowns: mode.unknowns.clone(),
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
    let warning = |warning: &hybrid::Warning| Warning { t: warning.t, message: warning.message.clone() };
    Hybrid {
        modes: solution.modes.iter().map(mode).collect(),
        phases: solution.phases.iter().map(|p| Phase { mode: p.mode, t0: p.t0, t1: p.t1 }).collect(),
        switches: solution.switches.iter().map(switch).collect(),
        warnings: solution.warnings.iter().map(warning).collect(),
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
