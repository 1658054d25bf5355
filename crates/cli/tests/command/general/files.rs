//! Run files and pages of general systems.

use crate::support::{code, daedal, directory, rows, shipped, stderr, words, written};
use serde_json::{Value, json};
use std::fs;

fn run(arguments: &[&str], name: &str) -> Value {
    let path = directory(name).join("run.json");
    words(&[&["solve"], arguments, &["-o", path.to_str().unwrap()]].concat());
    serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap()
}

fn list(run: &Value, key: &str) -> Vec<f64> {
    let values = run["steps"][key].as_array().unwrap_or_else(|| panic!("{key}"));
    values.iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn a_run_file_holds_states_derivatives_and_both_kinds_of_residuals() {
    let run = run(&[&shipped("pendulum-second-order.toml")], "general-json");
    assert_eq!(run["names"], json!(["x", "y", "lambda1", "x'", "y'", "angle", "tension", "energy"]));
    let kinds = ["state", "state", "state", "derivative", "derivative", "output", "output", "output"];
    assert_eq!(run["kinds"], json!(kinds));
    assert_eq!((&run["method"], &run["formulation"]), (&json!("radau"), &json!("quasilinear")));
    assert_eq!(run["statistics"]["masses"], Value::Null);
    for level in ["constraint", "hidden"] {
        let largest = list(&run, &format!("residual_{level}")).into_iter().fold(0.0, f64::max);
        let told = run["statistics"]["max_residual"][level].as_f64().unwrap();
        assert!(largest <= told && largest > 0.0, "{level}: {largest} and {told}");
    }
    assert_eq!(run["steps"]["residual_position"], Value::Null);
    assert!(list(&run, "order").iter().all(|order| *order == 5.0));
    let states = run["states"].as_array().unwrap();
    assert_eq!(states[states.len() - 1], run["final"]);
}

#[test]
fn the_orders_of_bdf_are_recorded() {
    let run = run(&[&shipped("pendulum-dae.toml"), "--method", "bdf"], "general-bdf");
    let orders = list(&run, "order");
    assert_eq!(orders[0], 1.0);
    assert!(orders.iter().all(|order| (1.0..=5.0).contains(order)) && orders.iter().any(|order| *order > 3.0));
    assert_eq!(run["method"], "bdf");
}

#[test]
fn the_page_of_a_general_system_shows_its_states_and_residuals() {
    let place = directory("general-page");
    let file = |name: &str| place.join(name).to_str().unwrap().to_string();
    let model = shipped("pendulum-second-order.toml");
    words(&["solve", &model, "-o", &file("run.json"), "-o", &file("run.npz"), "-o", &file("run.html")]);
    for ending in ["json", "npz"] {
        let output = daedal(&["report", &file(&format!("run.{ending}")), "-o", &file(&format!("{ending}.html"))]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    }
    let page = fs::read_to_string(file("json.html")).unwrap();
    assert_eq!(page, fs::read_to_string(file("npz.html")).unwrap());
    for part in [
        "<h2>States</h2>",
        "<h2>Derivatives of states</h2>",
        "<h2>Outputs</h2>",
        "<h2>Step size</h2>",
        "<h2>Residuals of the constraints</h2>",
        "\"name\":\"stated constraints\"",
        "\"name\":\"hidden constraints\"",
        "largest residual, hidden constraints",
        "quasilinear",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
    assert!(
        !page.contains("largest residual, position level") && !page.contains("does not say"),
        "levels of a mechanism"
    );
    assert!(fs::read_to_string(file("run.html")).unwrap().contains("computing time"));
}

#[test]
fn undetermined_unknowns_stand_on_the_page() {
    let path = directory("general-open").join("run.html");
    words(&["solve", &shipped("redundant-underdetermined.toml"), "-o", path.to_str().unwrap()]);
    let page = fs::read_to_string(&path).unwrap();
    assert!(page.contains("Undetermined combinations of states") && page.contains("+1.0000 x3"));
}

#[test]
fn what_jumps_in_time_has_two_rows_in_every_file() {
    let model = written(
        "jump-in-time.toml",
        "[model]\nname = \"jump\"\ntime = [0, 2]\n[dae]\nstates = [\"x\", \"y\"]\n\
         equations = [\"der(x) = y\", \"y = if(t > 1, 10, 0)\"]\n[initial]\nfix = { x = 0 }\n\
         [output]\nrate = \"der(x)\"\n",
    );
    let model = model.to_str().unwrap();
    let place = directory("general-jump");
    let file = |name: &str| place.join(name).to_str().unwrap().to_string();
    for save in ["dense", "steps"] {
        let names = ["run.csv", "run.json", "run.npz", "run.html"].map(file);
        words(&["solve", model, "--save", save, "-o", &names[0], "-o", &names[1], "-o", &names[2], "-o", &names[3]]);
        let points = rows(&fs::read_to_string(&names[0]).unwrap());
        for row in &points {
            let jumped = if row[0] > 1.0 { 10.0 } else { 0.0 };
            assert!((row[2] - jumped).abs() < 1e-9 && (row[3] - jumped).abs() < 1e-6, "{save}: {row:?}");
        }
        assert_eq!(points.iter().filter(|row| (row[0] - 1.0).abs() < 1e-9).count(), 2, "{save}: {points:?}");
        // files are read again, with all rows
        for name in &names[1..3] {
            let page = file("page.html");
            words(&["report", name, "-o", &page]);
            assert!(fs::read_to_string(&page).unwrap().contains("html"));
        }
        let run: Value = serde_json::from_str(&fs::read_to_string(&names[1]).unwrap()).unwrap();
        assert_eq!(run["times"].as_array().unwrap().len(), points.len());
    }
}

#[test]
fn derivatives_in_outputs_stand_in_the_rows_of_their_points() {
    let model = written(
        "rate-break.toml",
        "[model]\nname = \"rates\"\ntime = [0, 2]\n[dae]\nstates = [\"x\"]\n\
         equations = [\"der(x) = if(t > 1, 10*t, t)\"]\n[initial]\nfix = { x = 0 }\n[output]\nrate = \"der(x)\"\n",
    );
    for save in ["dense", "steps", "9"] {
        let path = directory("general-rates").join("run.csv");
        words(&["solve", model.to_str().unwrap(), "--save", save, "-o", path.to_str().unwrap()]);
        for row in rows(&fs::read_to_string(&path).unwrap()) {
            let rate = if row[0] > 1.0 { 10.0 * row[0] } else { row[0] };
            assert!((row[2] - rate).abs() < 1e-6, "{save}: {row:?}");
        }
    }
}
