//! What a run through several modes did, as one JSON object: that of every run, and behind it `switches`, their number; `modes`, a list of
//! `{"name", "sliding", "entered", "time", "steps"}`, `entered` telling how often; and `end_mode`, the name of the last one.

use super::{Made, Run};
use crate::output::{counters_of, of_variables, residuals};
use crate::record::ended;
use crate::verification;
use crate::warnings;
use daedal::Residuals;
use daedal::hybrid::HybridSolution;
use daedal_run::Kind;
use serde_json::{Map, Value, json};

/// The object; nothing but nulls if the run could not start.
pub fn statistics(run: &Run, made: &Made, computed: Option<(&HybridSolution, &daedal_run::Run)>) -> Value {
    let (solution, recorded) = computed.unzip();
    let mut object = Map::new();
    let mut insert = |key: &str, value: Value| object.insert(key.to_string(), value);
    insert("model", json!(run.setup.name));
    insert("formulation", json!(run.modes.formulation()));
    insert("method", json!(run.modes.method()));
    insert("rtol", json!(run.chosen.tolerances.rtol));
    insert("atol", json!(run.chosen.tolerances.atol));
    insert("ended", json!(solution.map_or(daedal_run::Ended::Failure, |s| ended(&s.ended))));
    insert("t_end", json!(solution.map_or(run.setup.t0(), |s| s.end.t)));
    for (name, count) in counters_of(run.modes.with_geoms(), solution.map(|s| &s.statistics)) {
        insert(&name, json!(count));
    }
    insert("seconds", json!(made.seconds));
    insert("max_residual", residuals(&solution.map_or_else(Residuals::default, |s| s.max_residuals)));
    insert("final", recorded.map_or_else(|| json!({}), final_values));
    insert("atol_of", of_variables(&run.chosen.tolerances));
    insert("verification", verification::object(solution.and_then(|s| s.verification.as_ref())));
    insert("warnings", warnings::object(&made.warnings));
    insert("switches", json!(solution.map(|s| s.switch_count)));
    let modes = solution.map(|solution| {
        let modes = solution.modes.iter().map(|mode| {
            json!({
                "name": mode.name,
                "sliding": mode.sliding,
                "entered": mode.entered,
                "time": mode.time,
                "steps": mode.statistics.steps,
            })
        });
        modes.collect::<Value>()
    });
    insert("modes", json!(modes));
    insert("end_mode", json!(solution.map(|s| &s.modes[s.end_mode].name)));
    Value::Object(object)
}

/// Variables and outputs, the mode apart.
fn final_values(recorded: &daedal_run::Run) -> Value {
    let values = recorded.end.as_ref().map_or(&[][..], |end| &end.values);
    let named = recorded.columns.iter().zip(values).filter(|(column, _)| column.kind != Kind::Mode);
    Value::Object(named.map(|(column, value)| (column.name.clone(), json!(value))).collect())
}
