//! `daedal compare`.

use crate::support::{code, daedal, directory, json, keys, refused, shipped, stderr, stdout};
use serde_json::Value;
use std::fs;

/// Two methods, three tolerances, a short interval.
const SMALL: [&str; 10] = [
    "compare",
    "pendulum",
    "--tend",
    "0.5",
    "--methods",
    "geoms,radau",
    "--formulations",
    "psf+i,ggl",
    "--tolerances",
    "1e-3,1e-5,1e-7",
];

fn small() -> Value {
    let output = daedal(&[&SMALL[..], &["--repeat", "1", "--format", "json"]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    json(&output)
}

fn runs<'v>(value: &'v Value, method: &str, formulation: &str) -> Vec<&'v Value> {
    let all = value["runs"].as_array().expect("a list");
    all.iter().filter(|run| run["method"] == method && run["formulation"] == formulation).collect()
}

#[test]
fn errors_fall_with_the_tolerance_and_work_grows() {
    let value = small();
    for (method, formulation) in [("geoms", "psf+i"), ("radau", "ggl")] {
        let runs = runs(&value, method, formulation);
        assert_eq!(runs.len(), 3, "{method} {formulation}");
        for pair in runs.windows(2) {
            // multipliers of ggl have index 2: their error depends on the last step, which the end of the interval cuts
            let kinds = if formulation == "ggl" { 2 } else { 3 };
            for kind in &["position", "velocity", "multiplier"][..kinds] {
                let error = |run: &Value| run["error"][kind].as_f64().expect("an error");
                assert!(error(pair[1]) < 0.5 * error(pair[0]), "{method} {kind}: {} {}", pair[0], pair[1]);
            }
            assert!(pair[1]["residuals"].as_u64() > pair[0]["residuals"].as_u64());
        }
        assert!(runs.iter().all(|run| run["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0)));
        assert!(runs.iter().all(|run| run["failure"].is_null() && run["t_end"] == 0.5));
    }
    // psf+i keeps the energy, ggl does not
    let drift = |method, formulation| runs(&value, method, formulation)[0]["drift"].as_f64().expect("a drift");
    assert!(drift("geoms", "psf+i") < 1e-8 && drift("radau", "ggl") > 1e-6);
    let source = value["reference"]["source"].as_str().expect("a source");
    assert!(source.contains("geoms psf with tolerance"), "{source}");
    let accuracy = value["reference"]["accuracy"]["position"].as_f64().expect("an accuracy");
    assert!(accuracy < 1e-9, "{accuracy}");
}

#[test]
fn known_values_are_the_reference_where_there_are_any() {
    let value = json(&daedal(&[
        "compare",
        "pendulum",
        "--methods",
        "geoms",
        "--tolerances",
        "1e-4,1e-8",
        "--repeat",
        "1",
        "--format",
        "json",
    ]));
    assert_eq!(value["reference"]["source"], "elliptic functions");
    assert_eq!(value["reference"]["accuracy"]["velocity"], 1e-14);
    assert!(value["runs"][1]["error"]["position"].as_f64().expect("an error") < 1e-5);
}

#[test]
fn the_object_has_all_fields() {
    let value = small();
    let expected = [
        "format",
        "version",
        "model",
        "description",
        "source",
        "parameters",
        "t0",
        "tend",
        "command",
        "reference",
        "timing",
        "notes",
        "runs",
    ];
    assert_eq!(keys(&value), expected);
    assert_eq!((&value["format"], &value["version"]), (&"daedal comparison".into(), &1.into()));
    let expected = [
        "method",
        "formulation",
        "tolerance",
        "failure",
        "t_end",
        "steps",
        "rejected_error",
        "rejected_newton",
        "residuals",
        "jacobians",
        "decompositions",
        "solves",
        "seconds",
        "spread",
        "repeats",
        "error",
        "max_residual",
        "drift",
    ];
    assert_eq!(keys(&value["runs"][0]), expected);
    assert!(value["command"].as_str().is_some_and(|command| command.starts_with("daedal compare pendulum --tend 0.5")));
}

#[test]
fn failures_are_listed_and_do_not_stop_the_others() {
    // the time is over after the first step
    let output = daedal(&[&SMALL[..], &["--timeout", "1e-9"]].concat());
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    assert!(stderr(&output).contains("none of 9 runs reached the end"), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("geoms psf+i 1e-3") && said.contains("stopped after 1e-9 s at t ="), "{said}");
    // without invariants psf+i cannot start
    let output = daedal(&[
        "compare",
        "truck",
        "--tend",
        "0.1",
        "--methods",
        "geoms",
        "--formulations",
        "psf,psf+i",
        "--tolerances",
        "1e-4",
        "--repeat",
        "1",
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("did not reach the end\n  geoms psf+i 1e-4  ") && said.contains("declares none"), "{said}");
}

#[test]
fn bad_names_are_refused_with_a_suggestion() {
    refused(&["compare", "pendulum", "--methods", "geoms,radua"], &["no method radua", "did you mean radau?"]);
    refused(&["compare", "pendulum", "--formulations", "baumgart"], &["did you mean baumgarte?", "ggl"]);
    refused(&["compare", "pendulm"], &["did you mean pendulum?"]);
    refused(&["compare", "pendulum", "--tolerances", "1e-30"], &["a tolerance must lie between"]);
    refused(&["compare", "pendulum", "-o", "table.npz"], &["html, csv or json"]);
    refused(&["compare", "pendulum", "--tend", "-1"], &["before the start"]);
    let said = ["nothing to compare", "geoms is left out", "psf, psf+i, p1"];
    refused(&["compare", "pendulum", "--methods", "geoms", "--formulations", "ggl"], &said);
}

#[test]
fn general_systems_have_errors_of_their_states() {
    let model = shipped("pendulum-dae.toml");
    let output = daedal(&[
        "compare",
        &model,
        "--tend",
        "1",
        "--methods",
        "auto,radau,bdf",
        "--formulations",
        "auto,quasilinear",
        "--tolerances",
        "1e-4,1e-7",
        "--repeat",
        "1",
        "--format",
        "json",
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let value = json(&output);
    for (method, form) in [("auto", "auto"), ("radau", "auto"), ("radau", "quasilinear"), ("bdf", "auto")] {
        let runs = runs(&value, method, form);
        let errors: Vec<f64> = runs.iter().map(|run| run["error"]["state"].as_f64().expect("an error")).collect();
        assert!(errors.len() == 2 && errors[1] < 0.1 * errors[0] && errors[0] < 1e-2, "{method} {form}: {errors:?}");
        let kept = |run: &&Value| run["max_residual"]["hidden"].as_f64().is_some_and(|hidden| hidden < 1e-2);
        assert!(runs.iter().all(kept), "{runs:?}");
    }
    assert!(value["reference"]["check"].as_str().is_some_and(|check| check.contains("bdf")));
    // the table has columns for what there is
    let said = stdout(&daedal(&[
        "compare",
        &model,
        "--tend",
        "1",
        "--methods",
        "radau",
        "--tolerances",
        "1e-4",
        "--repeat",
        "1",
    ]));
    assert!(said.contains("error x") && said.contains("max hidden") && !said.contains("error p"), "{said}");
    assert!(said.contains("the form auto is quasilinear"), "{said}");
    assert!(said.contains("radau plain 1e-4") && said.contains("choose the form auto"), "why it cannot: {said}");
}

#[test]
fn modes_have_errors_of_their_switches() {
    let folder = directory("compare-modes");
    let page = folder.join("a.html").to_str().expect("text").to_string();
    let output = daedal(&[
        "compare",
        &shipped("rope-cut.toml"),
        "--methods",
        "auto,radau",
        "--tolerances",
        "1e-4,1e-7",
        "--repeat",
        "1",
        "-o",
        &page,
        "--format",
        "json",
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let value = json(&output);
    let errors: Vec<f64> =
        runs(&value, "auto", "auto").iter().map(|run| run["error"]["switch"].as_f64().expect("an error")).collect();
    assert!(errors.len() == 2 && errors[1] < 0.1 * errors[0] && errors[0] < 1e-3, "{errors:?}");
    let html = fs::read_to_string(&page).expect("a page");
    assert!(html.contains("Error of switch times against computing time"));
}

#[test]
fn what_cannot_be_compared_is_told() {
    refused(&["compare", &shipped("pendulum-dae.toml"), "--methods", "geoms"], &["no method geoms", "radau"]);
    refused(
        &["compare", &shipped("pendulum-dae.toml"), "--formulations", "psf"],
        &["no formulation psf", "quasilinear"],
    );
    refused(&["compare", "pendulum", "--methods", "radau:stages=6"], &["radau:stages=6", "takes one of 1, 2, 3"]);
    refused(&["study"], &["MODEL"]);
    refused(&["study", "--from", "nothing.json"], &["cannot read the study nothing.json"]);
}

#[test]
fn a_study_compares_auto_with_the_best_at_the_same_error() {
    let folder = directory("study");
    let stored = folder.join("study.json").to_str().expect("text").to_string();
    let model = shipped("circle.toml");
    let output = daedal(&["study", &model, "--tolerances", "1e-4,1e-6", "-o", &stored]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("| circle | mechanism |") && said.contains("dop853 eom0"), "{said}");
    assert_eq!(stdout(&daedal(&["study", "--from", &stored])), said);
    let value: Value = serde_json::from_str(&fs::read_to_string(&stored).expect("a file")).expect("JSON");
    let cell = &value["models"][0]["cells"][0];
    assert!(cell["time"].as_f64().is_some_and(|time| time > 0.0) && cell["others"][0][1].is_number(), "{cell}");
}

#[test]
fn names_that_can_only_mean_one_problem_are_taken_and_told() {
    let output = daedal(&[
        "compare",
        "slider_crank",
        "--tend",
        "0.01",
        "--methods",
        "geoms",
        "--tolerances",
        "1e-4",
        "--repeat",
        "1",
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stderr(&output).contains("slider_crank is taken for the problem slider-crank"));
    assert!(stdout(&output).starts_with("slider-crank: "));
}

#[test]
fn pages_and_tables_are_written() {
    let folder = directory("compare");
    let path = |name: &str| folder.join(name).to_str().expect("text").to_string();
    let (page, table, object) = (path("a.html"), path("a.csv"), path("a.json"));
    let output = daedal(&[&SMALL[..], &["--repeat", "1", "-o", &page, "-o", &table, "-o", &object]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let html = fs::read_to_string(&page).expect("a page");
    for series in ["geoms psf+i", "radau ggl"] {
        assert!(html.contains(&format!("data-series=\"{series}\"")), "{series}");
    }
    for title in ["Error of positions against computing time", "Error of multipliers against evaluations", "Drift of"] {
        assert!(html.contains(title), "{title}");
    }
    assert!(!html.contains("http://") && !html.contains("https://"));
    assert!(html.contains("daedal compare pendulum --tend 0.5"));
    let rows = fs::read_to_string(&table).expect("a table").lines().count();
    let value: Value = serde_json::from_str(&fs::read_to_string(&object).expect("an object")).expect("JSON");
    assert_eq!(rows, 1 + value["runs"].as_array().expect("a list").len());
    // radau takes psf+i as well
    assert_eq!(rows, 1 + 9);
}
