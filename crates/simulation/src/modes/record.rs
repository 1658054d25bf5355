//! Points, modes and switches of a run through several modes, in the shape of a run file.

use super::table::{ColumnTable, points, rates_at};
use crate::outcome::Outcome;
use crate::outputs::LastRates;
use crate::record::{RecordedPoints, Stretch};
use daedal::Save;
use daedal::hybrid::{self, HybridSolution};
use daedal_model::HybridModel;
use daedal_run::{
    Continuity, JumpRecord, ModeHistory, ModeRecord, PhaseRecord, RestartRecord, SwitchCause, SwitchRecord,
};

/// One stretch of points for every phase.
pub fn trajectory<'s>(
    outcome: &Outcome,
    solution: &'s HybridSolution,
    rates: &'s LastRates,
    model: &HybridModel,
    with_rates: bool,
) -> RecordedPoints<'s> {
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
    RecordedPoints { table: ColumnTable::new(model, solution), stretches, end_mode, end, end_rates }
}

/// Modes, phases and switches.
pub fn modes(solution: &HybridSolution, table: &ColumnTable) -> ModeHistory {
    let mode = |(k, mode): (usize, &hybrid::ModeNames)| ModeRecord {
        name: mode.name.clone(),
        sliding: mode.sliding,
        unknowns: table.columns_of(k),
        steps: Some(mode.statistics.steps),
        decisions: Some(mode.decisions.clone()).filter(|decisions| !decisions.is_empty()),
    };
    let jump = |jump: &hybrid::Jump| JumpRecord { name: jump.name.clone(), before: jump.before, after: jump.after };
    let switch = |switch: &hybrid::Switch| SwitchRecord {
        t: switch.t,
        from: switch.from,
        to: switch.to,
        condition: switch.condition.clone(),
        kind: kind(switch.kind),
        smoothness: smoothness(switch.smoothness),
        jumps: switch.jumps.iter().map(jump).collect(),
        impulses: switch.impulses.clone(),
        higher_impulses: switch.higher_impulses.clone(),
        restart: switch.repair.as_ref().map(restart),
        chattering: switch.chattering,
    };
    ModeHistory {
        modes: solution.modes.iter().enumerate().map(mode).collect(),
        phases: solution.phases.iter().map(|p| PhaseRecord { mode: p.mode, t0: p.t0, t1: p.t1 }).collect(),
        switches: solution.switches.iter().map(switch).collect(),
    }
}

fn restart(repair: &hybrid::Repair) -> RestartRecord {
    RestartRecord {
        way: repair.restart.name().into(),
        moved: repair.moved.iter().map(|(part, change)| (part.plural().to_string(), *change)).collect(),
        momentum: repair.balance.map(|balance| balance.momentum),
        energy: repair.balance.map(|balance| balance.energy),
    }
}

fn kind(kind: hybrid::SwitchKind) -> SwitchCause {
    match kind {
        hybrid::SwitchKind::Regular => SwitchCause::Condition,
        hybrid::SwitchKind::Immediate => SwitchCause::Immediate,
        hybrid::SwitchKind::Scheduled => SwitchCause::Scheduled,
        hybrid::SwitchKind::SlidingBegins => SwitchCause::SlidingBegins,
        hybrid::SwitchKind::SlidingEnds => SwitchCause::SlidingEnds,
        hybrid::SwitchKind::Accumulation => SwitchCause::Accumulation,
    }
}

fn smoothness(smoothness: hybrid::Smoothness) -> Continuity {
    match smoothness {
        hybrid::Smoothness::Smooth => Continuity::Smooth,
        hybrid::Smoothness::Transfer => Continuity::Transfer,
        hybrid::Smoothness::Restart => Continuity::Restart,
    }
}
