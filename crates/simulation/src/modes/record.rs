//! Points, modes and switches of a run through several modes, in the shape of a run file.

use super::table::{Table, points, rates_at};
use crate::outcome::Outcome;
use crate::outputs::LastRates;
use crate::record::{Stretch, Trajectory};
use daedal::Save;
use daedal::hybrid::{self, HybridSolution};
use daedal_model::HybridModel;
use daedal_run::{Hybrid, Jump, Mode, Phase, Restart, Smoothness, Switch, SwitchKind};

/// One stretch of points for every phase.
pub fn trajectory<'s>(
    outcome: &Outcome,
    solution: &'s HybridSolution,
    rates: &'s LastRates,
    model: &HybridModel,
    with_rates: bool,
) -> Trajectory<'s> {
    // times that are wanted, where the polynomials were kept instead
    let (mut wanted, at_times) = match &outcome.save {
        Save::At(times) => (Some(times.as_slice()).filter(|_| with_rates), true),
        _ => (None, false),
    };
    let mut stretches = Vec::new();
    for (i, phase) in solution.phases.iter().enumerate() {
        let points = points(phase, wanted.as_mut());
        let mut both = Vec::new();
        // points at given times show a switch by the points on both sides of it
        let switch = solution.switches.get(i).filter(|switch| at_times && switch.from == phase.mode);
        if let (Some(switch), Some(next)) = (switch, solution.phases.get(i + 1)) {
            let t = switch.t;
            if points.last().is_none_or(|last| last.0 != t) {
                both.push((switch.from, (t, switch.before.clone(), rates_at(phase, t))));
            }
            both.push((switch.to, (t, switch.after.clone(), rates_at(next, t))));
        }
        let dim = solution.modes[phase.mode].unknowns.len();
        stretches.push(Stretch { mode: phase.mode, points, segments: &phase.segments, dim, switch: both });
    }
    let (end, end_mode) = (&solution.end, solution.end_mode);
    let end_rates = rates.at(end_mode, end);
    Trajectory { table: Table::new(model, solution), stretches, end_mode, end, end_rates }
}

/// Modes, phases and switches.
pub fn modes(solution: &HybridSolution, table: &Table) -> Hybrid {
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
