//! `daedal check` and `daedal init` for models with modes.

use crate::support::{daedal, json, keys, shipped, words};
use serde_json::Value;

/// T15.1: μ, d, a of all modes of the converter.
#[test]
fn every_mode_of_the_converter_has_its_own_index() {
    let object = json(&daedal(&["check", &shipped("boost-converter.toml"), "--format", "json"]));
    let expected = [
        "model",
        "parameters",
        "t0",
        "tend",
        "possible",
        "warnings",
        "first_mode",
        "modes",
        "transitions",
        "sliding",
        "trial",
    ];
    assert_eq!(keys(&object), expected);
    let found: Vec<(String, [u64; 3])> = object["modes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mode| {
            let analysis = &mode["analysis"];
            let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{mode}"));
            let values =
                [&analysis["index"]["strangeness"], &analysis["characteristic"]["d"], &analysis["characteristic"]["a"]];
            (mode["name"].as_str().unwrap().to_string(), values.map(number))
        })
        .collect();
    let value = |name: &str| found.iter().find(|(known, _)| known == name).map(|(_, values)| *values);
    assert_eq!(value("open-conducting"), Some([0, 2, 5]));
    assert_eq!(value("closed-blocking"), Some([0, 2, 5]));
    assert_eq!(value("open-blocking"), Some([1, 1, 6]));
    assert_eq!(value("closed-conducting"), Some([1, 1, 6]));
    assert!(object["modes"].as_array().unwrap().iter().all(|mode| mode["reachable"] == true));
    assert_eq!(object["transitions"].as_array().unwrap().iter().filter(|t| t["scheduled"] == true).count(), 4);
}

#[test]
fn pairs_that_can_slide_are_found() {
    let object = json(&daedal(&["check", &shipped("friction-bodies.toml"), "--format", "json"]));
    let sliding = &object["sliding"][0];
    assert_eq!(sliding["between"], serde_json::json!(["forward", "backward"]));
    assert_eq!(sliding["mode"], Value::Null);
    assert!((sliding["width"].as_f64().unwrap() - 0.006).abs() < 1e-12, "{sliding}");
    let object = json(&daedal(&["check", &shipped("mass-on-belt.toml"), "--format", "json"]));
    assert_eq!(object["sliding"][0]["mode"], "stick");
    let text = words(&["check", &shipped("rope-cut.toml")]);
    for part in [
        "all modes can be solved near the start",
        "rope → free: vx^2 + vy^2 >= c",
        "no two modes have transitions there and back",
        "=== mode rope, at the start === the model can be solved",
        "differentiation index 3",
        "=== mode free, near the start ===",
    ] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
}

#[test]
fn init_tells_the_values_from_which_a_run_starts() {
    let object = json(&daedal(&["init", &shipped("boost-converter.toml"), "--format", "json"]));
    assert_eq!(object["mode"], "open-conducting");
    // the least change of the guesses
    let value = |name: &str| object["values"][name].as_f64().unwrap();
    assert!((value("vC") - 20.0 / 9.0).abs() < 1e-12 && (value("iR") - 10.0 / 9.0).abs() < 1e-12, "{object}");
    // and `check` looks at the first mode there
    let checked = json(&daedal(&["check", &shipped("boost-converter.toml"), "--format", "json"]));
    let start = &checked["modes"][0]["analysis"]["start"];
    for name in ["vC", "iL", "vS", "vD", "iR", "iS", "iD"] {
        let at = start["values"][name].as_f64().unwrap();
        assert!((at - value(name)).abs() < 1e-9, "{name}: {at} and {}", value(name));
    }
    let moved = start["moved"].as_array().unwrap();
    let of = |name: &str| moved.iter().find(|moved| moved["variable"] == name);
    let near = |x: &Value, y: f64| (x.as_f64().unwrap() - y).abs() < 1e-9;
    assert!(of("vC").is_some_and(|moved| near(&moved["given"], 10.0) && near(&moved["start"], 20.0 / 9.0)), "{start}");
    assert!(of("iL").is_none(), "{start}");
    let text = words(&["init", &shipped("rope-cut.toml"), "--fix", "x=1"]);
    assert!(text.contains("[initial] mode = \"rope\" fix = { x = 1.0"), "{text}");
    assert!(text.contains("# lambda.rope = 0.0"), "{text}");
}

/// Table 5.1 of the thesis: modes 1 and 2 have d = 2, a = 5, modes 3 and 4 d = 1, a = 6.
#[test]
fn every_transition_has_one_of_the_thirteen_classes() {
    let object = json(&daedal(&["check", &shipped("boost-converter.toml"), "--format", "json"]));
    let mut seen = Vec::new();
    for transition in object["transitions"].as_array().unwrap() {
        let into_index_two = ["open-blocking", "closed-conducting"].contains(&transition["to"].as_str().unwrap());
        let (class, kinds) = if into_index_two { (4, "d → a") } else { (10, "a → d") };
        let change = serde_json::json!({
            "class": class, "kinds": kinds, "may_jump": into_index_two, "index_rises": into_index_two,
        });
        assert_eq!(transition["change"], change, "{transition}");
        seen.push(class);
    }
    assert_eq!(seen.iter().filter(|class| **class == 4).count(), 4);
    assert_eq!(seen.len(), 8);
    // a rope that is cut leaves its multiplier undetermined: d, a, u = 2, 3, 0 becomes 4, 0, 1
    let text = words(&["check", &shipped("rope-cut.toml")]);
    assert!(text.contains("rope → free: vx^2 + vy^2 >= c; class 12 of mode changes (a → d + u)"), "{text}");
    // a clutch that closes: a multiplier appears, and velocities that were free are bound
    let text = words(&["check", &shipped("dog-clutch.toml")]);
    assert!(text.contains("class 8 of mode changes (d + u → a), unknowns that become algebraic may jump"), "{text}");
}
