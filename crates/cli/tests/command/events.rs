//! Events that are asked for, and runs backward.

use crate::support::{code, daedal, directory, json, refused, rows, shipped, statistics, stderr, words, written};
use serde_json::json;
use std::fs;

#[test]
fn conditions_stop_and_record() {
    let model = shipped("pendulum.toml");
    let text = words(&["solve", &model, "--record-when", "y < -0.99", "--stop-when", "x < 0 and vx < 0"]);
    assert!(text.contains("stopped by the event x < 0 and vx < 0 at t = 0.8801"), "{text}");
    assert!(text.contains("2 events 0.8292"), "{text}");
    let output = daedal(&["solve", &model, "--stop-when", "-x > 0.5", "--stats", "json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let object = json(&output);
    assert_eq!((&object["ended"], &object["events"][0]["name"]), (&json!("event"), &json!("-x > 0.5")));
    assert_eq!(object["events"][0]["t"], object["t_end"]);
}

#[test]
fn tables_of_events_have_a_row_for_each() {
    let place = directory("events");
    let path = place.join("events.csv");
    let file = path.to_str().unwrap();
    let text = words(&["solve", &shipped("pendulum-dae.toml"), "--record-when", "x < 0", "--events", file]);
    assert!(text.contains(" events in "), "{text}");
    let table = fs::read_to_string(&path).unwrap();
    assert!(table.starts_with("time,event,x,y,vx,vy,lambda1") && table.lines().count() > 2, "{table}");
    words(&["solve", &shipped("bouncing-ball.toml"), "--tend", "1", "--record-when", "v > 0", "--events", file]);
    let table = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines.iter().any(|line| line.contains(",flight,flight,v > 0,event,smooth,false,,")), "{table}");
}

#[test]
fn conditions_that_make_no_sense_are_marked() {
    let model = shipped("pendulum.toml");
    refused(
        &["solve", &model, "--stop-when", "vxx < 0"],
        &["--stop-when", "nothing is called `vxx`", "did you mean `vx`?"],
    );
    refused(&["solve", &model, "--record-when", "y"], &["--record-when", "a comparison such as x > 0"]);
    refused(&["solve", &model, "--record-when", "y = 0"], &["`=` is not a comparison"]);
}

#[test]
fn a_run_backward_is_written_in_its_order() {
    let path = directory("backward").join("run.csv");
    let page = path.with_extension("html");
    let arguments = ["solve", &shipped("pendulum.toml"), "--t0", "0", "--tend", "-1", "--verify"];
    let files = ["-o", path.to_str().unwrap(), "-o", page.to_str().unwrap()];
    let text = words(&[&arguments[..], &files[..]].concat());
    assert!(text.contains("reached the end t = -1.0"), "{text}");
    let rows = rows(&fs::read_to_string(&path).unwrap());
    assert!(rows.windows(2).all(|pair| pair[1][0] < pair[0][0]) && rows[0][0] == 0.0);
    // the report of the table reads it again
    words(&["report", path.to_str().unwrap(), "-o", page.to_str().unwrap()]);
    refused(&["solve", &shipped("bouncing-ball.toml"), "--tend", "-1"], &["forward in time only"]);
}

/// (6.25): a condition that is an unknown of the system is under error control. Conditions are looked at inside of steps anyway, and a formula
/// is bounded there, so that the same events are found with far fewer of them.
#[test]
fn a_condition_may_be_an_unknown_under_error_control() {
    let plain = r#"
        [model]
        name = "peaks"
        time = [0, 1]
        [dae]
        states = ["x"]
        equations = ["der(x) = 1"]
        [initial]
        fix = { x = 0 }
        [[events]]
        name = "peak"
        when = "sin(100*x^2) > 0.99"
    "#;
    let controlled = plain
        .replace("states = [\"x\"]", "states = [\"x\", \"z\"]")
        .replace("equations = [", "equations = [\"z = sin(100*x^2)\", ")
        .replace("when = \"sin(100*x^2) > 0.99\"", "when = \"z > 0.99\"");
    let run = |name: &str, text: &str| {
        let file = written(name, text);
        let object = statistics(&[file.to_str().unwrap()]);
        (object["steps"].as_u64().unwrap(), words(&["solve", file.to_str().unwrap()]))
    };
    let (few, sampled) = run("peaks.toml", plain);
    let (many, seen) = run("peaks-controlled.toml", &controlled);
    // sin exceeds 0.99 around 100 t² = π/2 + 2πk, sixteen times
    assert!(sampled.contains("16 events") && seen.contains("16 events"), "{sampled} {seen}");
    assert!(many > 5 * few, "{few} and {many} steps");
}
