//! The analysis of a model with modes as one JSON object. Its keys, stable across versions:
//!
//! ```text
//! model, parameters {name: value}, t0, tend
//! possible          bool: false if the first mode cannot be started (exit code 1)
//! warnings          [text]: what should be looked at, in the file and in every mode
//! first_mode        name
//! modes             [ { name, kind: "motion"|"dae", method, formulation: null|text, dwell, reachable: bool, unknowns [name],
//!                       error: null|text, analysis: null | the object of the mode, as `daedal check` prints it for a model of its kind } ]
//! transitions       [ { from, to, condition, scheduled: bool, priority: null|number, hysteresis, set [name], keep [name],
//!                       restart: null|text, after_accumulation: null|name,
//!                       change: null | { class: 1 … 13, kinds: "none"|"d → a"|…, may_jump: bool, index_rises: bool } } ]
//! sliding           [ { between [name, name], mode: null|name, there: null|condition, back: null|condition, width: null|number } ]
//! ```
//! Modes that are not the first are looked at near the start. `mode` of sliding is the one that is written for it; others are generated.

use super::{Check, ModeChange, ModeCheck, ModesCheck, condition};
use daedal::hybrid::Restart;
use daedal_model::{HybridMode, HybridTransition, HybridTrigger, ModelKind};
use serde_json::{Value, json};

pub fn object(check: &Check, checked: &ModesCheck) -> Value {
    let model = &checked.model;
    let name = |k: usize| &model.modes[k].name;
    let sliding = checked.pairs.iter().map(|pair| {
        json!({
            "between": [name(pair.between.0), name(pair.between.1)],
            "mode": pair.written.map(name),
            "there": pair.surface.as_ref().map(|surface| &surface.0),
            "back": pair.surface.as_ref().map(|surface| &surface.1),
            "width": pair.surface.as_ref().map(|surface| surface.2),
        })
    });
    json!({
        "model": check.model.name(),
        "parameters": check.parameters(),
        "t0": check.t0,
        "tend": check.model.interval().1,
        "possible": checked.modes[model.initial.mode].fault().is_none(),
        "warnings": check.warnings(),
        "first_mode": name(model.initial.mode),
        "modes": model.modes.iter().zip(&checked.modes).map(|(m, found)| mode(m, found)).collect::<Value>(),
        "transitions": model.transitions.iter().zip(&checked.changes).map(|(t, c)| transition(checked, t, c.as_ref())).collect::<Value>(),
        "sliding": sliding.collect::<Value>(),
    })
}

fn mode(mode: &HybridMode, found: &ModeCheck) -> Value {
    json!({
        "name": mode.name,
        "kind": if matches!(mode.kind, ModelKind::Motion { .. }) { "motion" } else { "dae" },
        "method": mode.method.unwrap_or("auto"),
        "formulation": mode.formulation,
        "dwell": mode.dwell,
        "reachable": found.reachable,
        "unknowns": mode.unknowns,
        "error": found.fault(),
        "analysis": found.examined.as_ref().ok().map(Check::bare_object),
    })
}

fn transition(checked: &ModesCheck, transition: &HybridTransition, change: Option<&ModeChange>) -> Value {
    let name = |k: usize| &checked.model.modes[k].name;
    json!({
        "from": name(transition.from),
        "to": name(transition.to),
        "condition": condition(transition),
        "scheduled": matches!(transition.trigger, HybridTrigger::At(_)),
        "priority": transition.priority,
        "hysteresis": transition.hysteresis,
        "set": transition.set.iter().map(|(name, ..)| name).collect::<Vec<_>>(),
        "keep": transition.keep,
        "restart": transition.restart.map(Restart::name),
        "after_accumulation": transition.after_accumulation.map(name),
        "change": change.map(|change| {
            json!({
                "class": change.class,
                "kinds": change.kinds,
                "may_jump": change.may_jump,
                "index_rises": change.index_rises,
            })
        }),
    })
}
