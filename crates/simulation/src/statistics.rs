//! What a run did, as one JSON object; the same keys in the same order in every version. Nothing but nulls if it could not start; `events` is
//! a list of `{"name", "t"}`, behind them `unknowns`, where derivatives are taken together, says why. Behind
//! them, of a run through several modes: `switches`, their number; `modes`, a list of `{"name", "sliding", "entered", "time", "steps"}`, `entered` telling
//! how often; and `end_mode`, the name of the last one. Of a boundary value problem `boundary`: null or `{"degrees", "needed", "conditions" [{"name",
//! "residual"}], "phase", "conditioning", "intervals", "meshes", "iterations", "difference", "guess", "found" {name: value}, "end"}`.

use crate::check::account_object;
use crate::outcome::Outcome;
use crate::verification;
use daedal_run::{ColumnKind, Ending, Run, WarningRecord};
use serde_json::{Map, Value, json};

/// The object.
pub fn object(outcome: &Outcome, recorded: Option<&Run>) -> Value {
    let computed = outcome.computed.as_ref();
    let tolerances = &outcome.tolerances;
    let mut object = Map::new();
    let mut insert = |key: &str, value: Value| object.insert(key.to_string(), value);
    insert("model", json!(outcome.model.name()));
    insert("formulation", json!(outcome.formulation()));
    insert("method", json!(outcome.choice.method));
    insert("rtol", json!(tolerances.rtol));
    insert("atol", json!(tolerances.atol));
    insert("ended", json!(recorded.and_then(|run| run.header.ended).unwrap_or(Ending::Failure)));
    insert("t_end", json!(computed.map_or(outcome.interval.0, |found| found.t)));
    for (name, count) in outcome.counters() {
        insert(name, json!(count));
    }
    insert("seconds", json!(outcome.seconds));
    insert("max_residual", residuals(computed.map(|found| found.max_residuals).unwrap_or_default()));
    insert("final", recorded.map_or_else(|| json!({}), last_values));
    let of: Map<String, Value> = tolerances.of.iter().map(|(name, atol)| (name.clone(), json!(atol))).collect();
    insert("atol_of", Value::Object(of));
    insert("verification", verification::object(computed.and_then(|found| found.verification.as_ref())));
    insert("warnings", warnings(&outcome.warnings));
    insert("events", recorded.map_or_else(|| json!([]), events));
    if let Some(why) = &outcome.choice.unknowns {
        insert("unknowns", json!(why));
    }
    if outcome.model.boundary().is_some() {
        insert("boundary", outcome.boundary.as_ref().map_or(Value::Null, account_object));
    }
    if outcome.model.has_modes() {
        let switching = computed.and_then(|found| found.switching.as_ref());
        insert("switches", json!(switching.map(|found| found.switches)));
        insert("modes", json!(switching.map(|found| &found.modes)));
        insert("end_mode", json!(switching.map(|found| &found.end_mode)));
    }
    Value::Object(object)
}

/// Those of a run: `t` is null for what is about all of it.
fn warnings(warnings: &[WarningRecord]) -> Value {
    warnings.iter().map(|warning| json!({ "t": warning.t, "message": warning.message })).collect()
}

fn residuals(largest: daedal::Residuals) -> Value {
    json!({
        "position": largest.position,
        "velocity": largest.velocity,
        "acceleration": largest.acceleration,
        "invariant": largest.invariant,
        "constraint": largest.constraint,
        "hidden": largest.hidden,
    })
}

/// Names and times, in the order of the run.
fn events(recorded: &Run) -> Value {
    recorded.events.iter().map(|event| json!({ "name": event.name, "t": event.t })).collect()
}

/// Variables and outputs, the mode apart.
fn last_values(recorded: &Run) -> Value {
    let values = recorded.end.as_ref().map_or(&[][..], |end| &end.values);
    let named = recorded.columns.iter().zip(values).filter(|(column, _)| column.kind != ColumnKind::Mode);
    Value::Object(named.map(|(column, value)| (column.name.clone(), json!(value))).collect())
}
