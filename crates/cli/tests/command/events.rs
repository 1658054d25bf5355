//! Events that are asked for, and runs backward.

use crate::support::{code, daedal, directory, json, refused, rows, shipped, stderr, words};
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
