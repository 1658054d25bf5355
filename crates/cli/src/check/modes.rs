//! The analysis of a model with modes for people: an overview, then every mode by itself.

use super::lines::{ReportText, solvable};
use daedal::hybrid::Hysteresis;
use daedal_model::{HybridTransition, ModelKind};
use daedal_simulation::check::{Check, ModesCheck, SlidingPair, condition, short};
use std::fmt::Write;

pub fn text(check: &Check, checked: &ModesCheck) -> String {
    let (whole, model) = (&check.model, &checked.model);
    let mut text = ReportText::default();
    let colon = if whole.description().is_empty() { "" } else { ": " };
    text.line(&format!("{}{colon}{}", whole.name(), whole.description()));
    let warnings = check.warnings();
    text.line(&conclusion(checked, warnings.len()));
    for (mode, found) in model.modes.iter().zip(&checked.modes) {
        if let Some(fault) = found.fault() {
            text.entry(&format!("in {}", mode.name), &whole.places().told(&fault));
        }
    }
    for warning in &warnings {
        text.entry("warning", warning);
    }

    text.heading("modes");
    for (k, (mode, found)) in model.modes.iter().zip(&checked.modes).enumerate() {
        let kind = if matches!(mode.kind, ModelKind::Motion { .. }) { "equations of motion" } else { "general system" };
        let mut told = format!("{kind}, {} unknowns", mode.unknowns.len());
        if k == model.initial.mode {
            told.push_str(", the first one");
        }
        if model.sliding.iter().any(|sliding| sliding.mode == k) {
            told.push_str(", for sliding");
        }
        if mode.dwell > 0.0 {
            let _ = write!(told, ", stays for {} at least", short(mode.dwell));
        }
        if !found.reachable {
            told.push_str(", NEVER ENTERED: no transition leads there");
        }
        text.entry(&mode.name, &told);
    }

    text.heading("transitions");
    for (transition, change) in model.transitions.iter().zip(&checked.changes) {
        let name = |k: usize| &model.modes[k].name;
        let class = change.map_or_else(String::new, |change| format!("; {change}"));
        text.entry(name(transition.from), &format!("→ {}: {}{class}", name(transition.to), told(checked, transition)));
    }
    if model.transitions.is_empty() {
        text.entry("none", "");
    }

    text.heading("sliding");
    for pair in &checked.pairs {
        let name = |k: usize| &model.modes[k].name;
        let between = format!("between {} and {}", name(pair.between.0), name(pair.between.1));
        text.entry("possible", &format!("{between}, {}", surface(checked, pair)));
    }
    if checked.pairs.is_empty() {
        text.entry("none", "no two modes have transitions there and back over the same surface");
    }

    let mut text = text.into_string();
    for (k, (mode, found)) in model.modes.iter().zip(&checked.modes).enumerate() {
        let place = if k == model.initial.mode { "at the start" } else { "near the start" };
        let _ = writeln!(text, "\n=== mode {}, {place} ===", mode.name);
        match &found.examined {
            // its name stands above already
            Ok(examined) => text.push_str(super::text(examined).split_once('\n').map_or("", |(_, rest)| rest)),
            Err(failure) => {
                let _ = writeln!(text, "nothing could be found out here: {failure}");
            }
        }
    }
    text
}

/// The verdict, when everything is known about all modes.
fn conclusion(checked: &ModesCheck, warnings: usize) -> String {
    let first = checked.model.initial.mode;
    let elsewhere = checked.modes.iter().enumerate().any(|(k, found)| k != first && found.fault().is_some());
    match (checked.modes[first].fault(), elsewhere) {
        (Some(_), _) => "IMPOSSIBLE or singular: the first mode cannot be started".into(),
        (None, true) => solvable(
            "the first mode can be started; near the start no solution was found in other modes, which a run may enter elsewhere",
            warnings,
        ),
        (None, false) => solvable("all modes can be solved near the start", warnings),
    }
}

fn told(checked: &ModesCheck, transition: &HybridTransition) -> String {
    let mut told = condition(transition);
    if transition.hysteresis > 0.0 {
        let _ = write!(told, ", with a hysteresis of {}", short(transition.hysteresis));
    }
    if !transition.set.is_empty() {
        let names: Vec<&str> = transition.set.iter().map(|(name, ..)| name.as_str()).collect();
        let _ = write!(told, "; sets {}", names.join(", "));
    }
    if let Some(how) = transition.restart {
        let _ = write!(told, "; made consistent by {}", how.name());
    }
    if let Some(priority) = transition.priority {
        let _ = write!(told, "; priority {priority}");
    }
    if let Some(mode) = transition.after_accumulation {
        let _ = write!(told, "; after an accumulation {}", checked.model.modes[mode].name);
    }
    told
}

fn surface(checked: &ModesCheck, pair: &SlidingPair) -> String {
    let gap = pair.surface.as_ref().is_some_and(|(_, _, width)| *width > 0.0);
    let mode = match pair.written {
        Some(mode) => format!("in mode {}", checked.model.modes[mode].name),
        None if gap && checked.model.options.hysteresis == Hysteresis::Alternates => {
            "not across a hysteresis: the modes alternate".to_string()
        }
        None => "in a generated mode, where both lead to the surface".to_string(),
    };
    match &pair.surface {
        Some((there, back, width)) if *width > 0.0 => {
            format!("{mode}; {there} and {back} are opposite, {} apart", short(*width))
        }
        Some((there, back, _)) => format!("{mode}; {there} and {back} are opposite"),
        None => mode,
    }
}
