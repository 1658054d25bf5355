//! `daedal init`.

use crate::support::{code, daedal, json, refused, stderr, stdout};

#[test]
fn initial_values_hold_the_constraints_and_what_is_fixed() {
    let arguments = ["init", "pendulum", "--fix", "x=0.6", "--guess", "y=-0.7", "--unknown", "vy", "--format", "json"];
    let output = daedal(&arguments);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let object = json(&output);
    let value = |name: &str| object["values"][name].as_f64().expect("a number");
    assert_eq!(value("x"), 0.6);
    assert!((value("y") + 0.8).abs() < 1e-15);
    assert!((value("x") * value("vx") + value("y") * value("vy")).abs() < 1e-14);
    assert_eq!(object["undetermined_multipliers"], 0);
}

#[test]
fn initial_values_are_printed_as_a_table_that_can_be_given_back() {
    let text = stdout(&daedal(&["init", "pendulum", "--guess", "x=0.3"]));
    assert!(text.lines().any(|line| line == "[initial]"), "{text}");
    let table = text.lines().find_map(|line| line.strip_prefix("guess = { ")?.strip_suffix(" }")).expect("guesses");
    let pairs: Vec<(&str, &str)> = table.split(", ").filter_map(|pair| pair.split_once(" = ")).collect();
    assert_eq!(pairs.iter().map(|pair| pair.0).collect::<Vec<_>>(), ["x", "y", "vx", "vy"]);
    for part in ["# lambda.rod = ", "# iterations: ", "# surplus conditions: 0", "# undetermined multipliers: 0"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    // consistent values are not moved, to the last bit
    let mut again = vec!["init".to_string(), "pendulum".to_string()];
    again.extend(pairs.iter().flat_map(|(name, value)| ["--guess".to_string(), format!("{name}={value}")]));
    let again = stdout(&daedal(&again.iter().map(String::as_str).collect::<Vec<_>>()));
    assert!(again.contains(table), "{again}");
}

#[test]
fn impossible_initial_values_are_refused() {
    refused(&["init", "pendulum", "--fix", "vz=1"], &["no variable vz", "did you mean v", "lambda.rod"]);
    refused(&["init", "pendulum", "--fix", "x=1", "--guess", "x=2"], &["x is given more than once"]);
    refused(&["init", "pendulum", "--fix", "x=1", "--fix", "y=1"], &["no consistent initial values", "contradictory"]);
    refused(&["init", "pendulum", "--unknown", "vx", "--unknown", "vy"], &["underdetermined", "vx"]);
    refused(&["init", "pendulum", "--fix", "x=inf"], &["finite"]);
}
