//! Reference problems are listed.

use crate::support::{code, daedal, json, stdout};

#[test]
fn problems_are_listed_with_their_descriptions() {
    let output = daedal(&["list"]);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    assert!(text.lines().any(|line| line.starts_with("truck ") && line.contains("truck of five bodies")), "{text}");
    let columns: Vec<_> = text.lines().map(|line| line.find("  ")).collect();
    assert!(columns.iter().all(Option::is_some), "{text}");
}

#[test]
fn a_problem_is_told_with_parameters_variables_and_constraints() {
    let text = stdout(&daedal(&["list", "pendulum"]));
    for part in ["g = 13.75", "x, y", "vx, vy", "rod", "energy", "0.0 to 5.0", "Steinbrecher"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    let verbose = stdout(&daedal(&["list", "--verbose"]));
    assert!(verbose.contains(&text));
    let object = json(&daedal(&["list", "pendulum", "--format", "json"]));
    assert_eq!(object["parameters"]["g"], 13.75);
    assert_eq!(object["variables"]["positions"], serde_json::json!(["x", "y"]));
    let all = json(&daedal(&["list", "--format", "json"]));
    assert!(all.as_array().expect("an array").contains(&object));
}
