//! Run files, pages and tables of switches of models with modes.

use crate::support::{directory, shipped, words};
use serde_json::{Value, json};
use std::fs;

/// Times of T15.2, found with closed forms.
const STICK_SLIP: [f64; 7] = [0.003759, 0.927295, 2.892451, 4.068888, 6.034043, 7.210481, 9.175636];

#[test]
fn a_run_file_holds_modes_phases_and_switches() {
    let path = directory("hybrid-json").join("run.json");
    words(&["solve", &shipped("friction-bodies.toml"), "-o", path.to_str().unwrap()]);
    let run: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(run["names"], json!(["p1", "p2", "v1", "v2", "alpha", "relative", "momentum", "mode"]));
    assert_eq!(run["kinds"], json!(["state", "state", "state", "state", "auxiliary", "output", "output", "mode"]));
    let hybrid = &run["hybrid"];
    assert_eq!(hybrid["modes"][2]["sliding"], true);
    let switches = hybrid["switches"].as_array().unwrap();
    let times: Vec<f64> = switches.iter().map(|switch| switch["t"].as_f64().unwrap()).collect();
    assert!(
        times.len() == 7 && times.iter().zip(STICK_SLIP).all(|(t, expected)| (t - expected).abs() < 2e-6),
        "{times:?}"
    );
    assert_eq!((&switches[0]["kind"], &switches[1]["kind"]), (&json!("sliding begins"), &json!("sliding ends")));
    assert_eq!(switches[0]["jumps"][0]["name"], "v1");
    // phases follow each other and cover the interval
    let phases = hybrid["phases"].as_array().unwrap();
    assert_eq!((&phases[0]["t0"], &phases[7]["t1"]), (&json!(0.0), &json!(10.0)));
    assert!(phases.windows(2).all(|pair| pair[0]["t1"] == pair[1]["t0"]));
    // the column of modes agrees with them, two rows at each switch
    let (rows, at) = (run["states"].as_array().unwrap(), run["times"].as_array().unwrap());
    for switch in switches {
        let here: Vec<u64> =
            (0..rows.len()).filter(|&k| at[k] == switch["t"]).map(|k| rows[k][7].as_f64().unwrap() as u64).collect();
        assert_eq!(json!(here), json!([switch["from"], switch["to"]]));
    }
    assert_eq!(run["final"], rows[rows.len() - 1]);
}

#[test]
fn the_table_of_switches_has_a_row_for_each() {
    let path = directory("hybrid-events").join("events.csv");
    let text = words(&["solve", &shipped("friction-bodies.toml"), "--events", path.to_str().unwrap()]);
    assert!(text.contains("7 switches in "), "{text}");
    let table = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "time,from,to,condition,kind,smoothness,chattering,jumps,impulses");
    assert_eq!(lines.len(), 8);
    assert!(
        lines[1].contains("forward,forward|backward (sliding),v1 - v2 < -eps,sliding begins,restart,false,v1:-0.00149"),
        "{table}"
    );
    assert!(lines[2].ends_with(",alpha >= 1,sliding ends,smooth,false,,"), "{table}");
}

#[test]
fn pages_and_reports_show_modes_switches_and_a_portrait() {
    let place = directory("hybrid-page");
    let file = |name: &str| place.join(name).to_str().unwrap().to_string();
    let (page, run, archive, again) = (file("run.html"), file("run.json"), file("run.npz"), file("again.html"));
    words(&["solve", &shipped("rope-cut.toml"), "-o", &page, "-o", &run, "-o", &archive]);
    words(&["report", &archive, "-o", &again]);
    for page in [page, again] {
        let text = fs::read_to_string(page).unwrap();
        for part in
            ["<h2>Modes</h2>", "<h2>Switches</h2>", "id=\"portrait\"", "is a gap in its curve", "vx^2 + vy^2 &gt;= c"]
        {
            assert!(text.contains(part), "{part}");
        }
    }
}
