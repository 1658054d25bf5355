//! Tolerances of single variables, and what a tolerance cannot see.

use crate::support::{code, daedal, directory, json, refused, statistics, stderr, stdout, written};
use serde_json::{Value, json};
use std::fs;

/// A slow decay of a small amount beside a large one that it does not act on: c(t) = 1e-9 exp(-t/2) cos(20 t).
const SMALL: &str = r#"
[model]
name = "trace"
time = [0, 3]
[dae]
states = ["c", "s", "x"]
equations = ["der(c) = -c/2 - 20*s", "der(s) = 20*c - s/2", "der(x) = -x"]
[initial]
fix = { c = 1e-9, s = 0, x = 1 }
"#;

fn error(object: &Value) -> f64 {
    let exact = 1e-9 * (-1.5_f64).exp() * 60_f64.cos();
    (object["final"]["c"].as_f64().expect("a number") - exact).abs() / 1e-9
}

fn model(name: &str, solve: &str) -> String {
    let text = SMALL.replace("[initial]", &format!("{solve}\n[initial]"));
    written(name, &text).to_str().expect("text").to_string()
}

#[test]
fn a_variable_below_its_tolerance_is_a_warning_in_every_output() {
    let model = model("trace.toml", "");
    let place = directory("blind");
    let (run, page) = (place.join("run.json"), place.join("run.html"));
    let arguments = ["solve", &model, "-o", run.to_str().expect("text"), "-o", page.to_str().expect("text")];
    let output = daedal(&arguments);
    assert_eq!(code(&output), 0);
    assert!(stderr(&output).contains("warning: the tolerance cannot see c (at most 1.0e-9, atol 1.0e-7), s "));
    assert!(stdout(&output).contains(", with 1 warning\n"), "{}", stdout(&output));
    let run: Value = serde_json::from_str(&fs::read_to_string(&run).expect("the file")).expect("JSON");
    let said = run["warnings"][0]["message"].as_str().expect("a text");
    assert!(said.contains("--atol c=") && run["warnings"][0]["t"].is_null(), "{said}");
    assert!(fs::read_to_string(&page).expect("the page").contains("Warning: the tolerance cannot see c"));
    let object = statistics(&[&model]);
    assert_eq!(object["warnings"][0]["message"], said);
    assert!(error(&object) > 0.01, "nothing controls its error: {object}");
}

#[test]
fn variables_have_tolerances_of_their_own_by_file_and_command() {
    let tight = [
        ("atol.toml", "[solve]\natol = { c = 1e-16, s = 1e-16 }"),
        ("atol-rest.toml", "[solve]\nrtol = 1e-7\natol = { \"*\" = 1e-6, c = 1e-16, s = 1e-16 }"),
        ("nominal.toml", "[solve]\nnominal = { c = 1e-9, s = 1e-9 }"),
    ];
    for (name, solve) in tight {
        let object = statistics(&[&model(name, solve)]);
        assert!(error(&object) < 1e-4, "{name}: {object}");
        assert_eq!(object["warnings"], json!([]), "{name}");
        assert!(object["atol_of"]["c"].as_f64().is_some_and(|x| x > 0.9e-16 && x < 1.1e-16), "{name}: {object}");
    }
    let plain = model("trace-command.toml", "");
    let object = statistics(&[&plain, "--atol", "c=1e-16", "--atol", "s=1e-16", "--atol", "1e-8"]);
    assert!(error(&object) < 1e-4 && object["atol"] == 1e-8, "{object}");
    let object = statistics(&[&plain, "--nominal", "c=1e-9", "--nominal", "s=1e-9"]);
    assert!(error(&object) < 1e-4, "{object}");
    // tolerances in a file stand beside its rtol and change with it
    let object = statistics(&[&model("scaled.toml", "[solve]\nrtol = 1e-7\natol = { c = 1e-16 }"), "--rtol", "1e-5"]);
    assert!((object["atol_of"]["c"].as_f64().expect("a number") / 1e-14 - 1.0).abs() < 1e-9, "{object}");
}

#[test]
fn equations_of_motion_and_modes_know_them_as_well() {
    let steps = |arguments: &[&str]| statistics(arguments)["steps"].as_u64().expect("a counter");
    let pendulum = ["pendulum", "--formulation", "psf", "--method", "geoms"];
    let with = |more: &[&'static str]| [&pendulum[..], more].concat();
    assert_eq!(steps(&with(&["--atol", "x=1e-7"])), steps(&with(&[])));
    assert!(steps(&with(&["--atol", "vx=1e-12", "--atol", "vy=1e-12"])) > steps(&with(&[])));
    let switched = SMALL.replace(
        "[initial]",
        "[modes.early]\n[modes.late]\n[[transitions]]\nfrom = \"early\"\nto = \"late\"\nwhen = \"x < 0.5\"\n[initial]\nmode = \"early\"",
    );
    let switched = written("trace-modes.toml", &switched).to_str().expect("text").to_string();
    assert!(
        statistics(&[&switched])["warnings"][0]["message"].as_str().is_some_and(|said| said.contains("cannot see c"))
    );
    let object = statistics(&[&switched, "--atol", "c=1e-16", "--atol", "s=1e-16"]);
    assert!(error(&object) < 1e-4 && object["switches"] == 1 && object["warnings"] == json!([]), "{object}");
}

#[test]
fn names_and_numbers_of_tolerances_are_checked() {
    let plain = model("trace-names.toml", "");
    refused(&["solve", &plain, "--atol", "d=1e-9"], &["there is no variable for --atol d", "known: c, s, x"]);
    refused(
        &["solve", &model("trace-unknown.toml", "[solve]\natol = { cc = 1e-9 }")],
        &["variable for atol cc", "mean c?"],
    );
    let output = daedal(&["solve", &plain, "--atol", "c=-1"]);
    assert_eq!(code(&output), 2);
    let output = daedal(&["solve", &model("trace-nominal.toml", "[solve]\nnominal = 1e-9")]);
    assert!(code(&output) == 2 && stderr(&output).contains("for which variable?"), "{}", stderr(&output));
}

#[test]
fn unused_names_are_told_and_used_ones_are_not() {
    let text = SMALL.replace(
        "[dae]",
        "[parameters]\nk = 2\nleft = 3\nn = 3\nw = [\"i for i in 1..n\"]\n[definitions]\nd = \"k*x\"\ne = \"d + w[1]\"\n[dae]",
    );
    let model = written("unused.toml", &text).to_str().expect("text").to_string();
    let object = json(&daedal(&["solve", &model, "--stats", "json", "--nominal", "c=1e-9", "--nominal", "s=1e-9"]));
    let said: Vec<&str> =
        object["warnings"].as_array().expect("a list").iter().map(|w| w["message"].as_str().expect("a text")).collect();
    assert_eq!(
        said,
        [
            "the parameter `left` (line 7) is not used in any formula",
            "the definition `e` (line 12) is not used in any formula"
        ]
    );
}

/// A curve is cut by the tolerance of its variable: as many points in small units as in large ones.
#[test]
fn curves_of_small_variables_are_as_smooth_as_those_of_large_ones() {
    let points = |size: &str, modes: &str, mode: &str| {
        let name = format!("flat-{size}{}", if modes.is_empty() { "" } else { "-modes" });
        let model = written(
            &format!("{name}.toml"),
            &format!(
                "[model]\nname = \"flat\"\ntime = [0, 3]\n[solve]\nnominal = {{ x = {size}, v = {size} }}\n[dae]\n\
                 states = [\"x\", \"v\"]\nequations = [\"der(x) = v\", \"der(v) = -x\"]\n{modes}[initial]\n{mode}\
                 fix = {{ x = {size}, v = 0 }}\n[output]\ntotal = \"x + v\"\n\
                 drift = \"(x^2 + v^2)/({size})^2 - 1\"\n"
            ),
        );
        let path = directory(&name).join("run.csv");
        let output = daedal(&["solve", model.to_str().expect("text"), "-o", path.to_str().expect("text")]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        fs::read_to_string(&path).expect("the file").lines().count()
    };
    let modes = "[modes.a]\n[modes.b]\n[[transitions]]\nfrom = \"a\"\nto = \"b\"\nwhen = \"t > 5\"\n";
    for (modes, mode) in [("", ""), (modes, "mode = \"a\"\n")] {
        let (large, small) = (points("1", modes, mode), points("1e-9", modes, mode));
        assert!(large.abs_diff(small) <= 2 && (30..60).contains(&large), "{large} and {small}");
    }
}

/// Kinematics in small units move the positions, and a row in small units is verified as any other.
#[test]
fn small_units_are_no_rounding() {
    let text = "[model]\nname = \"small\"\ntime = [0, 1]\n[solve]\nnominal = { x = 1e-12 }\n[motion]\n\
                positions = [\"x\"]\nvelocities = [\"v\"]\nkinematics = [\"1e-12*v\"]\nmass = [\"1\"]\n\
                forces = [\"0\"]\n[initial]\nfix = { x = 0, v = 1 }\n";
    let path = written("small-kinematics.toml", text);
    let object = statistics(&[path.to_str().expect("text"), "--method", "alpha", "--verify"]);
    let x = object["final"]["x"].as_f64().expect("a number");
    assert!((x - 1e-12).abs() < 1e-18, "{object}");
    assert_eq!(object["verification"]["disagreements"], json!([]), "{object}");
}
