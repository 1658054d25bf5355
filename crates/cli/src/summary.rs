//! What a run did, for people.

use crate::arguments::{SHOWN_SWITCHES, Solve};
use crate::boundary;
use crate::warnings;
use daedal::dae::Form;
use daedal::hybrid;
use daedal::{Ended, Residuals};
use daedal_problems::ReferenceValues;
use daedal_run::{ColumnKind, EventRecord, ModeHistory, RestartRecord, Run, SwitchRecord, time};
use daedal_simulation::{Computed, Outcome, Switching, Tolerances, verification};
use std::fmt::Write;

/// Most impulses of a switch.
const IMPULSES: usize = 2;
/// Most characters of a condition.
const CONDITION: usize = 40;

/// Some lines about a run that was written to no file.
pub fn plain_summary(outcome: &Outcome, recorded: &Run) -> String {
    let nothing = Solve::default();
    outcome.computed.as_ref().map_or(String::new(), |computed| summary(outcome, computed, recorded, &nothing))
}

/// Some lines about a run.
pub fn summary(outcome: &Outcome, computed: &Computed, recorded: &Run, arguments: &Solve) -> String {
    let mut text = String::new();
    heading(&mut text, outcome);
    let warned = warnings::counted(&outcome.warnings);
    let _ = writeln!(text, "{} in {:.3} s{warned}", ending(&computed.ended, computed.t), outcome.seconds);
    let _ = writeln!(text, "{}", computed.statistics);
    if !computed.decisions.is_empty() {
        let _ = writeln!(text, "{}", computed.decisions);
    }
    let verified = computed.verification.as_ref().map(verification::line);
    if let (Some(_), Some(line)) = (&computed.switching, &verified) {
        let _ = writeln!(text, "{line}");
    }
    for path in &arguments.output {
        let _ = writeln!(text, "{} points in {}", recorded.times.len(), path.display());
    }
    if let (Some(found), Some(hybrid)) = (&computed.switching, &recorded.hybrid) {
        if let Some(path) = &arguments.events {
            let _ = writeln!(text, "{} switches in {}", found.switches, path.display());
        }
        modes(&mut text, found);
        switches(&mut text, hybrid, found);
    } else if let Some(path) = &arguments.events {
        let _ = writeln!(text, "{} in {}", counted(computed.events), path.display());
    }
    events(&mut text, recorded, computed.events);
    residuals(&mut text, &computed.max_residuals, outcome.formulation());
    if computed.switching.is_some() {
        values_of_mode(&mut text, recorded);
        return text;
    }
    if let Some(account) = &outcome.boundary {
        boundary::account(&mut text, account);
    }
    undetermined(&mut text, computed, recorded);
    if let Some(line) = verified {
        let _ = writeln!(text, "\n{line}");
    }
    let reached = computed.ended == Ended::AtEnd;
    let references = if reached { outcome.model.references(outcome.interval.0, computed.t) } else { Vec::new() };
    values(&mut text, recorded, &references);
    largest_error(&mut text, recorded, &references);
    text
}

fn heading(text: &mut String, outcome: &Outcome) {
    let (model, choice) = (&outcome.model, &outcome.choice);
    let colon = if model.description().is_empty() { "" } else { ": " };
    let _ = writeln!(text, "{}{colon}{}", model.name(), model.description());
    let Tolerances { rtol, atol, of } = &outcome.tolerances;
    let _ = write!(text, "{}, {}, rtol {rtol:?}, atol {atol:?}", choice.method, outcome.formulation());
    if !of.is_empty() {
        let own: Vec<String> = of.iter().map(|(name, atol)| format!("{name}: {atol:?}")).collect();
        let _ = write!(text, " ({})", own.join(", "));
    }
    for (name, value) in model.changed() {
        let _ = write!(text, ", {name} = {value:?}");
    }
    text.push('\n');
    if let Some(why) = &choice.unknowns {
        let _ = writeln!(text, "{why}");
    }
    if !choice.reasons.is_empty() {
        let _ = writeln!(text, "chosen because {}", choice.reasons.join("; "));
    }
}

/// How and where a run ended.
fn ending(ended: &Ended, t: f64) -> String {
    match ended {
        Ended::AtEnd => format!("reached the end t = {t:?}"),
        Ended::AtEvent { name } => format!("stopped by the event {name} at t = {t:?}"),
        Ended::ByObserver => format!("interrupted at t = {t:?}"),
        Ended::ByFailure => format!("STOPPED at t = {t:?} before the end"),
    }
}

/// Largest residuals by level.
fn residuals(text: &mut String, largest: &Residuals, form: &str) {
    // the linear form and the derivative array do not tell stated and hidden constraints apart
    let levels = [
        ("position", largest.position),
        ("velocity", largest.velocity),
        ("acceleration", largest.acceleration),
        ("invariant", largest.invariant),
        (
            if [Form::Linear.name(), Form::LeastSquares.name()].contains(&form) { "all" } else { "stated" },
            largest.constraint,
        ),
        (if form == Form::DerivativeArray.name() { "all" } else { "hidden" }, largest.hidden),
    ];
    if levels.iter().all(|(_, residual)| residual.is_none()) {
        return;
    }
    text.push_str("\nlargest residual of the constraints\n");
    for (level, residual) in levels {
        if let Some(residual) = residual {
            let _ = writeln!(text, "  {level:<14}{residual:.2e}");
        }
    }
}

/// Combinations of multipliers that redundant constraints leave open, or of unknowns that a general system does.
fn undetermined(text: &mut String, computed: &Computed, recorded: &Run) {
    if computed.undetermined.is_empty() {
        return;
    }
    let of_motion = recorded.columns.iter().any(|column| column.kind == ColumnKind::Position);
    let what = if of_motion { "multipliers" } else { "unknowns, which keep their values" };
    let _ = writeln!(text, "\nundetermined combinations of {what}");
    for combination in &computed.undetermined {
        let terms: Vec<String> = combination.iter().map(|(name, factor)| format!("{factor:+.4} {name}")).collect();
        let _ = writeln!(text, "  {}", terms.join(" "));
    }
}

/// Names and last values of the columns, outputs or not.
fn last(recorded: &Run, of_outputs: bool) -> Vec<(&String, f64)> {
    let values = recorded.end.as_ref().map_or(&[][..], |end| &end.values);
    let columns = recorded.columns.iter().zip(values);
    let columns = columns.filter(|(column, _)| (column.kind == ColumnKind::Output) == of_outputs);
    columns.map(|(column, value)| (&column.name, *value)).collect()
}

/// A table of the last point, with errors where a reference is known.
fn values(text: &mut String, recorded: &Run, references: &[&ReferenceValues]) {
    let variables = last(recorded, false);
    let widest = variables.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let width = widest.max("final values".len() - 2);
    let column = if references.is_empty() { "" } else { "error" };
    let _ = writeln!(text, "{}", format!("\n{:<w$}   {:<24}{column}", "final values", "", w = width + 2).trim_end());
    for (name, value) in variables {
        // a place for the sign, so that digits stand below each other
        let sign = if value.is_sign_negative() { "" } else { " " };
        let error = known(references, name).map_or(String::new(), |exact| format!("{:.1e}", (value - exact).abs()));
        let line = format!("  {name:<width$}  {:<25}{error}", format!("{sign}{value:?}"));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let found: Vec<(String, f64)> = last(recorded, true).into_iter().map(|(name, x)| (name.clone(), x)).collect();
    outputs(text, &found);
}

/// The outputs of a model file at the last point.
fn outputs(text: &mut String, outputs: &[(String, f64)]) {
    let Some(width) = outputs.iter().map(|(name, _)| name.chars().count()).max() else { return };
    text.push_str("\nfinal outputs\n");
    for (name, value) in outputs {
        let sign = if value.is_sign_negative() && !value.is_nan() { "" } else { " " };
        let _ = writeln!(text, "  {name:<width$}  {sign}{value:?}");
    }
}

fn known(references: &[&ReferenceValues], name: &str) -> Option<f64> {
    references.iter().flat_map(|reference| &reference.values).find(|(known, _)| known == name).map(|&(_, x)| x)
}

/// The largest error relative to max(1, |x|), for each reference, as it is trusted.
fn largest_error(text: &mut String, recorded: &Run, references: &[&ReferenceValues]) {
    let variables = last(recorded, false);
    for reference in references {
        let errors = reference.values.iter().filter_map(|(name, exact)| {
            let (_, value) = variables.iter().find(|(known, _)| *known == name)?;
            Some(((value - exact).abs() / exact.abs().max(1.0), name))
        });
        if let Some((error, name)) = errors.max_by(|a, b| a.0.total_cmp(&b.0)) {
            let ReferenceValues { source, accuracy, .. } = reference;
            let _ = writeln!(
                text,
                "\nlargest error relative to max(1, |x|): {error:.1e} in {name}; reference: {source}, trusted to {accuracy:.0e}"
            );
        }
    }
}

/// How long and how often each mode was active.
fn modes(text: &mut String, found: &Switching) {
    let whole: f64 = found.modes.iter().map(|mode| mode.time).sum();
    let names: Vec<String> = found.modes.iter().map(|mode| named(mode.sliding, &mode.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(5);
    let _ = writeln!(text, "\n{:<w$}  entered          time   part  steps", "modes", w = width + 2);
    for (name, mode) in names.iter().zip(&found.modes) {
        let part = if whole > 0.0 { 100.0 * mode.time / whole } else { 0.0 };
        let steps = mode.steps;
        let _ = writeln!(text, "  {name:<width$}  {:>7}  {:>12.6}  {part:>4.0} %  {steps:>4}", mode.entered, mode.time);
    }
}

fn named(sliding: bool, name: &str) -> String {
    if sliding && !name.contains("(sliding)") { format!("{name} (sliding)") } else { name.to_string() }
}

/// The first and the last switches; those in between may not have been kept.
fn switches(text: &mut String, hybrid: &ModeHistory, found: &Switching) {
    let all = &hybrid.switches;
    let told = match (found.switches, found.chattering) {
        (0, _) => {
            text.push_str("\nno switches\n");
            return;
        }
        (1, _) => "1 switch".to_string(),
        (n, 0) => format!("{n} switches"),
        (n, some) => format!("{n} switches, {some} of them chattering"),
    };
    let _ = writeln!(text, "\n{told}");
    let (first, last) = all.split_at(SHOWN_SWITCHES.min(all.len()));
    let shown: Vec<&SwitchRecord> = first.iter().chain(&last[last.len().saturating_sub(SHOWN_SWITCHES)..]).collect();
    let hidden = found.switches - shown.len() as u64;
    let modes: Vec<String> = shown
        .iter()
        .map(|switch| format!("{} → {}", hybrid.modes[switch.from].name, hybrid.modes[switch.to].name))
        .collect();
    let width = modes.iter().map(|modes| modes.chars().count()).max().unwrap_or(0);
    for (k, (switch, modes)) in shown.iter().zip(&modes).enumerate() {
        if hidden > 0 && k == SHOWN_SWITCHES {
            let _ = writeln!(text, "  … {hidden} more");
        }
        let line = format!("  {:<14}  {modes:<width$}  {}", time(switch.t), what(switch));
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn counted(events: u64) -> String {
    if events == 1 { "1 event".to_string() } else { format!("{events} events") }
}

/// The first and the last events; those in between may not have been kept.
fn events(text: &mut String, recorded: &Run, count: u64) {
    let all = &recorded.events;
    if all.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{}", counted(count));
    let (first, last) = all.split_at(SHOWN_SWITCHES.min(all.len()));
    let shown: Vec<&EventRecord> = first.iter().chain(&last[last.len().saturating_sub(SHOWN_SWITCHES)..]).collect();
    let hidden = count - shown.len() as u64;
    for (k, event) in shown.iter().enumerate() {
        if hidden > 0 && k == SHOWN_SWITCHES {
            let _ = writeln!(text, "  … {hidden} more");
        }
        let _ = writeln!(text, "  {:<14}  {}", time(event.t), event.name);
    }
}

/// Condition, kind, jumps and impulses of a switch.
fn what(switch: &SwitchRecord) -> String {
    let mut text: String = switch.condition.chars().take(CONDITION).collect();
    if text.len() < switch.condition.len() {
        text.push('…');
    }
    if switch.kind != daedal_run::SwitchCause::Condition && switch.kind.word() != text {
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
    for (name, order, factor) in switch.all_impulses().take(IMPULSES) {
        let delta = if order == 0 { String::new() } else { format!(" δ{}", "'".repeat(order)) };
        let _ = write!(text, ", impulse {name}{delta} = {factor:.6}");
    }
    if let more @ 1.. = switch.all_impulses().skip(IMPULSES).count() {
        let _ = write!(text, ", {more} more impulses");
    }
    if let Some(restart) = &switch.restart {
        repaired(&mut text, restart);
    }
    text
}

/// What a restart changed: energy where impulses did it, everything where it is no law of physics.
fn repaired(text: &mut String, restart: &RestartRecord) {
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
fn values_of_mode(text: &mut String, recorded: &Run) {
    let (Some(end), Some(hybrid)) = (&recorded.end, &recorded.hybrid) else { return };
    let mode =
        recorded.columns.iter().position(|column| column.kind == ColumnKind::Mode).map(|k| end.values[k] as usize);
    let Some(mode) = mode.and_then(|mode| hybrid.modes.get(mode)) else { return };
    let all = recorded.columns.iter().zip(&end.values);
    let variables: Vec<_> =
        all.clone().filter(|(c, _)| c.kind != ColumnKind::Mode && c.kind != ColumnKind::Output).collect();
    let width = variables.iter().map(|(column, _)| column.name.chars().count()).max().unwrap_or(0);
    let _ = writeln!(text, "\nfinal values, in mode {}", mode.name);
    for (column, value) in variables {
        let sign = if value.is_sign_negative() && !value.is_nan() { "" } else { " " };
        let there = mode.determines(&column.name);
        let told = if there { format!("{sign}{value:?}") } else { " not in this mode".to_string() };
        let _ = writeln!(text, "  {:<width$}  {told}", column.name);
    }
    let found = all.filter(|(column, _)| column.kind == ColumnKind::Output && mode.determines(&column.name));
    let found: Vec<(String, f64)> = found.map(|(column, &value)| (column.name.clone(), value)).collect();
    outputs(text, &found);
}
