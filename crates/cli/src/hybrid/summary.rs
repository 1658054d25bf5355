//! What a run through several modes did, for people.

use super::{Made, Run};
use crate::summary::{ending, outputs, residuals, tolerances};
use crate::verification;
use crate::warnings;
use daedal::hybrid::{self, HybridSolution};
use daedal_run::{Hybrid, Kind, Restart, Switch, time};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Rows of the table of switches at its begin and at its end.
pub const SHOWN: usize = 10;
/// Most impulses of a switch.
const IMPULSES: usize = 2;
/// Most characters of a condition.
const CONDITION: usize = 40;

/// Some lines about a run.
pub fn summary(
    run: &Run,
    made: &Made,
    solution: &HybridSolution,
    recorded: &daedal_run::Run,
    paths: &[PathBuf],
) -> String {
    let mut text = String::new();
    heading(&mut text, run);
    let warned = warnings::counted(&made.warnings);
    let _ = writeln!(text, "{} in {:.3} s{warned}", ending(&solution.ended, solution.end.t), made.seconds);
    let _ = writeln!(text, "{}", solution.statistics);
    if let Some(found) = &solution.verification {
        let _ = writeln!(text, "{}", verification::line(found));
    }
    let switches = solution.switch_count;
    for path in paths {
        let _ = if is_table(run, paths, path) {
            writeln!(text, "{switches} switches in {}", path.display())
        } else {
            writeln!(text, "{} points in {}", recorded.times.len(), path.display())
        };
    }
    if let Some(hybrid) = &recorded.hybrid {
        modes(&mut text, solution);
        self::switches(&mut text, hybrid, solution);
    }
    residuals(&mut text, &solution.max_residuals, &run.modes.formulation());
    values(&mut text, recorded);
    text
}

/// Is this file the table of switches? It stands behind those of the run.
fn is_table(run: &Run, paths: &[PathBuf], path: &Path) -> bool {
    run.with_events && paths.last().is_some_and(|last| last == path)
}

fn heading(text: &mut String, run: &Run) {
    let (setup, chosen) = (&run.setup, &run.chosen);
    let colon = if setup.description.is_empty() { "" } else { ": " };
    let _ = writeln!(text, "{}{colon}{}", setup.name, setup.description);
    let (method, form) = (run.modes.method(), run.modes.formulation());
    tolerances(text, &format!("{method}, {form}"), &chosen.tolerances);
    for (name, value) in &setup.changed {
        let _ = write!(text, ", {name} = {value:?}");
    }
    text.push('\n');
}

/// How long and how often each mode was active.
fn modes(text: &mut String, solution: &HybridSolution) {
    let whole: f64 = solution.modes.iter().map(|mode| mode.time).sum();
    let names: Vec<String> = solution.modes.iter().map(|mode| named(mode.sliding, &mode.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(5);
    let _ = writeln!(text, "\n{:<w$}  entered          time   part  steps", "modes", w = width + 2);
    for (name, mode) in names.iter().zip(&solution.modes) {
        let part = if whole > 0.0 { 100.0 * mode.time / whole } else { 0.0 };
        let steps = mode.statistics.steps;
        let _ = writeln!(text, "  {name:<width$}  {:>7}  {:>12.6}  {part:>4.0} %  {steps:>4}", mode.entered, mode.time);
    }
}

fn named(sliding: bool, name: &str) -> String {
    if sliding && !name.contains("(sliding)") { format!("{name} (sliding)") } else { name.to_string() }
}

/// The first and the last switches; those in between may not have been kept.
fn switches(text: &mut String, hybrid: &Hybrid, solution: &HybridSolution) {
    let all = &hybrid.switches;
    let told = match (solution.switch_count, solution.chattering_count) {
        (0, _) => {
            text.push_str("\nno switches\n");
            return;
        }
        (1, _) => "1 switch".to_string(),
        (n, 0) => format!("{n} switches"),
        (n, some) => format!("{n} switches, {some} of them chattering"),
    };
    let _ = writeln!(text, "\n{told}");
    let (first, last) = all.split_at(SHOWN.min(all.len()));
    let shown: Vec<&Switch> = first.iter().chain(&last[last.len().saturating_sub(SHOWN)..]).collect();
    let hidden = solution.switch_count - shown.len() as u64;
    let modes: Vec<String> = shown
        .iter()
        .map(|switch| format!("{} → {}", hybrid.modes[switch.from].name, hybrid.modes[switch.to].name))
        .collect();
    let width = modes.iter().map(|modes| modes.chars().count()).max().unwrap_or(0);
    for (k, (switch, modes)) in shown.iter().zip(&modes).enumerate() {
        if hidden > 0 && k == SHOWN {
            let _ = writeln!(text, "  … {hidden} more");
        }
        let line = format!("  {:<14}  {modes:<width$}  {}", time(switch.t), what(switch));
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// Condition, kind, jumps and impulses of a switch.
fn what(switch: &Switch) -> String {
    let mut text: String = switch.condition.chars().take(CONDITION).collect();
    if text.len() < switch.condition.len() {
        text.push('…');
    }
    if switch.kind != daedal_run::SwitchKind::Condition && switch.kind.word() != text {
        let _ = write!(text, " ({})", switch.kind.word());
    }
    match switch.jumps.len() {
        0 => {}
        n @ 1..=3 => {
            let names: Vec<&str> = switch.jumps[..n].iter().map(|jump| jump.name.as_str()).collect();
            let _ = write!(text, ", jump of {}", names.join(", "));
        }
        n => {
            let _ = write!(text, ", {n} jumps");
        }
    }
    for (name, impulse) in switch.impulses.iter().take(IMPULSES) {
        let _ = write!(text, ", impulse {name} = {impulse:.6}");
    }
    if switch.impulses.len() > IMPULSES {
        let _ = write!(text, ", {} more impulses", switch.impulses.len() - IMPULSES);
    }
    if let Some(restart) = &switch.restart {
        repaired(&mut text, restart);
    }
    text
}

/// What a restart changed: energy where impulses did it, everything where it is no law of physics.
fn repaired(text: &mut String, restart: &Restart) {
    let lawful = restart.way == hybrid::Restart::Impulse.name() || restart.way == hybrid::Restart::Momentum.name();
    if !lawful {
        let moved: Vec<String> = restart.moved.iter().map(|(kind, change)| format!("{kind} by {change:.3e}")).collect();
        let _ = write!(text, ", {} moved {}", restart.way, moved.join(", "));
        if let Some(momentum) = restart.momentum {
            let _ = write!(text, ", momentum by {momentum:.3e}");
        }
    }
    if let Some(energy) = restart.energy {
        let _ = write!(text, ", energy by {energy:.3e}");
    }
}

/// The last point, with the outputs that the last mode has.
fn values(text: &mut String, recorded: &daedal_run::Run) {
    let (Some(end), Some(hybrid)) = (&recorded.end, &recorded.hybrid) else { return };
    let mode = recorded.columns.iter().position(|column| column.kind == Kind::Mode).map(|k| end.values[k] as usize);
    let Some(mode) = mode.and_then(|mode| hybrid.modes.get(mode)) else { return };
    let all = recorded.columns.iter().zip(&end.values);
    let variables: Vec<_> = all.clone().filter(|(c, _)| c.kind != Kind::Mode && c.kind != Kind::Output).collect();
    let width = variables.iter().map(|(column, _)| column.name.chars().count()).max().unwrap_or(0);
    let _ = writeln!(text, "\nfinal values, in mode {}", mode.name);
    for (column, value) in variables {
        let sign = if value.is_sign_negative() && !value.is_nan() { "" } else { " " };
        let there = mode.determines(&column.name);
        let told = if there { format!("{sign}{value:?}") } else { " not in this mode".to_string() };
        let _ = writeln!(text, "  {:<width$}  {told}", column.name);
    }
    let found = all.filter(|(column, _)| column.kind == Kind::Output && mode.determines(&column.name));
    let found: Vec<(String, f64)> = found.map(|(column, &value)| (column.name.clone(), value)).collect();
    outputs(text, &found);
}
