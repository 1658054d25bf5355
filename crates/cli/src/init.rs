//! Consistent initial values, in the shape in which a model takes them.

use crate::arguments::{Init, OutputFormat};
use crate::failure::{Failure, print};
use daedal_run::ColumnKind;
use daedal_simulation::{ConsistentStart, GivenValue, StartDetails, StartSettings, StartValue, initialise};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Find consistent initial values and print them.
pub fn init(arguments: &Init) -> Result<(), Failure> {
    let settings = StartSettings {
        t0: arguments.model.t0,
        fix: arguments.fix.clone(),
        guess: arguments.guess.clone(),
        unknown: arguments.unknown.clone(),
    };
    let start = initialise(&arguments.model.load()?, &settings)?;
    match arguments.format {
        OutputFormat::Text => print(&table(&start)),
        OutputFormat::Json => print(&format!("{:#}\n", object(&start))),
    }
}

/// An `[initial]` table; what is computed anyway as comments.
pub fn table(start: &ConsistentStart) -> String {
    let mut text = format!("# consistent initial values of {} at t = {:?}", start.model, start.t0);
    let moved: Vec<String> = start
        .values
        .iter()
        .filter_map(|value| Some(format!("# moved: {} from {:?} to {:?}\n", value.name, value.moved()?, value.value)))
        .collect();
    match &start.about {
        StartDetails::Motion { iterations, surplus, undetermined_multipliers } => {
            let _ = writeln!(text, "\n# iterations: {iterations}");
            let _ = writeln!(text, "# surplus conditions: {surplus}");
            let _ = writeln!(text, "# undetermined multipliers: {undetermined_multipliers}\n[initial]");
        }
        StartDetails::General { iterations, free, undetermined, unknowns } => {
            let _ = writeln!(text, "\n# iterations: {iterations}");
            let _ = write!(text, "# {} of {unknowns} unknowns can be chosen", free + undetermined);
            if *undetermined > 0 {
                let _ = write!(text, ", {undetermined} of them not only at the start");
            }
            text.push('\n');
            text += &if moved.is_empty() { "# moved: nothing\n".to_string() } else { moved.concat() };
            text.push_str("[initial]\n");
        }
        StartDetails::Mode { name } => {
            let _ = writeln!(text, ", in mode {name}");
            text += &moved.concat();
            let _ = writeln!(text, "[initial]\nmode = {name:?}");
        }
    }
    for (what, fixed) in [("fix", true), ("guess", false)] {
        let listed = start.values.iter().filter(|value| is_listed(value));
        let listed = listed.filter(|value| matches!(value.given, GivenValue::Fixed(_)) == fixed);
        let listed: Vec<String> =
            listed.map(|value| format!("{} = {:?}", key(&value.written()), value.value)).collect();
        if !listed.is_empty() {
            let _ = writeln!(text, "{what} = {{ {} }}", listed.join(", "));
        }
    }
    // accelerations of a mechanism are nobody's initial values
    let without_accelerations = matches!(start.about, StartDetails::Motion { .. });
    for value in start.values.iter().filter(|value| !is_listed(value)) {
        if !(without_accelerations && value.kind == ColumnKind::Acceleration) {
            let _ = writeln!(text, "# {} = {:?}", value.name, value.value);
        }
    }
    text
}

/// Is it part of the state, or a derivative about which something was said?
fn is_listed(value: &StartValue) -> bool {
    !value.follows || (value.kind == ColumnKind::Derivative && value.given != GivenValue::Unknown)
}

/// All of it for programs.
pub fn object(start: &ConsistentStart) -> Value {
    let named = |values: &mut dyn Iterator<Item = &StartValue>| -> Map<String, Value> {
        values.map(|value| (value.name.clone(), json!(value.value))).collect()
    };
    let moved = start
        .values
        .iter()
        .filter_map(|value| Some(json!({ "variable": value.name, "given": value.moved()?, "start": value.value })));
    let parameters: Map<String, Value> =
        start.parameters.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let mut object = Map::new();
    let mut insert = |key: &str, value: Value| object.insert(key.to_string(), value);
    insert("model", json!(start.model));
    insert("parameters", json!(parameters));
    insert("t0", json!(start.t0));
    match &start.about {
        StartDetails::Motion { iterations, surplus, undetermined_multipliers } => {
            insert("iterations", json!(iterations));
            insert("surplus", json!(surplus));
            insert("undetermined_multipliers", json!(undetermined_multipliers));
        }
        StartDetails::General { iterations, free, undetermined, .. } => {
            insert("iterations", json!(iterations));
            insert("free", json!(free));
            insert("undetermined", json!(undetermined));
            insert("moved", moved.collect());
            insert("values", json!(named(&mut start.values.iter().filter(|value| !value.follows))));
            insert("derivatives", json!(named(&mut start.values.iter().filter(|value| value.follows))));
            return Value::Object(object);
        }
        StartDetails::Mode { name } => {
            insert("mode", json!(name));
            insert("moved", moved.collect());
        }
    }
    insert("values", json!(named(&mut start.values.iter())));
    Value::Object(object)
}

/// A name as a key of TOML, quoted where it must be.
fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { name.to_string() } else { format!("{name:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_toml_needs_it() {
        assert_eq!(key("vx_1"), "vx_1");
        assert_eq!(key("body.x"), "\"body.x\"");
    }
}
