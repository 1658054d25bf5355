//! `daedal check`.

use crate::support::{code, daedal, json, keys, refused, shipped, stderr, stdout, words, written};
use serde_json::Value;

const CHECKED: [&str; 20] = [
    "model",
    "parameters",
    "t0",
    "tend",
    "possible",
    "findings",
    "sizes",
    "index",
    "freedom",
    "equations",
    "definitions",
    "stated_hidden",
    "start",
    "constraints",
    "contact",
    "auxiliary",
    "mass",
    "invariants",
    "time_scales",
    "trial",
];

#[test]
fn a_check_has_exactly_the_agreed_keys_in_order() {
    let output = daedal(&["check", "pendulum", "--format", "json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let object = json(&output);
    assert_eq!(keys(&object), CHECKED);
    assert_eq!((&object["freedom"]["position"], &object["freedom"]["velocity"]), (&Value::from(1), &Value::from(1)));
    assert_eq!((&object["index"]["differentiation"], &object["possible"]), (&Value::from(3), &Value::from(true)));
    assert_eq!(object["start"]["place"], "consistent");
    assert_eq!(object["start"]["values"]["x"], 0.0);
    assert_eq!(object["invariants"][0]["verdict"], "invariant");
    assert_eq!(object["contact"], Value::Null);
    let rank = [
        "rows",
        "cols",
        "rank",
        "singular_values",
        "threshold",
        "smallest_kept",
        "largest_dropped",
        "gap",
        "condition",
    ];
    assert_eq!(keys(&object["constraints"]["all"]), rank);
    let academic = json(&daedal(&["check", "academic", "--format", "json"]));
    assert_eq!(academic["contact"]["undefined"], serde_json::json!([]));
    assert_eq!(academic["time_scales"]["dimension"], 4);
}

#[test]
fn a_check_is_told_in_sections_within_a_hundred_columns() {
    for model in ["pendulum", "skateboard-1", "slider-crank-redundant", "truck", "flexible-slider-crank", "wheelset"] {
        let output = daedal(&["check", model]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let text = stdout(&output);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        for part in ["structure\n", "constraints\n", "initial values", "mass matrix\n", "freedom", "verdict"] {
            assert!(text.contains(part), "{part} is missing: {text}");
        }
    }
    let text = stdout(&daedal(&["check", "slider-crank-redundant"]));
    for part in ["sum_x: holds", "sum_y: holds", "lambda.sum_x", "gap", "counted above"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
}

#[test]
fn an_impossible_model_is_told_with_its_equations_and_exits_with_one() {
    // a pendulum without mass
    let output = daedal(&["check", "pendulum", "--set", "m=0", "--format", "json"]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let object = json(&output);
    assert_eq!(object["possible"], false);
    let finding = object["findings"].as_array().expect("findings").iter().find(|f| f["code"] == "singular_mass");
    let equations = finding.expect("a singular mass")["equations"].to_string();
    assert_eq!(equations, r#"["dynamics of vx"]"#);
    let message = stderr(&output);
    assert!(message.contains("dynamics of vx") && message.contains("has no motion"), "{message}");
}

#[test]
fn a_check_of_nothing_is_refused() {
    refused(&["check", "pendulm"], &["did you mean pendulum?"]);
    refused(&["check", "pendulum", "--format", "xml"], &["text, json"]);
    refused(&["check", "pendulum", "--set", "q=1"], &["q"]);
}

#[test]
fn redundancy_that_may_be_a_singular_configuration_is_a_warning() {
    // all cranks stretched: the rank is two here and three elsewhere
    let output = daedal(&["check", "double-four-bar", "--set", "phi0=0"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let words = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    // and a run does not get away from there unseen
    assert!(words.contains("the model can be solved, but look at the") && words.contains("stops"), "{words}");
    assert!(words.contains("may be a singular configuration"), "{words}");
}

/// A trial run keeps nothing that would have to be written first.
#[cfg(unix)]
#[test]
fn a_check_ends_with_the_first_signal() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};
    // every equation contains every unknown, so that the steps of the trial run take seconds: more of them on a fast machine
    for size in [80, 160, 320] {
        let listed =
            |one: &dyn Fn(usize) -> String, between: &str| (0..size).map(one).collect::<Vec<_>>().join(between);
        let sum = |i: usize| listed(&|j| format!("sin({}*t*x{j})", i + 1), " + ");
        let model = written(
            &format!("slow-check-{size}.toml"),
            &format!(
                "[model]\nname = \"slow\"\ntime = [0, 100]\n[dae]\nstates = [{}]\nequations = [{}]\n[initial]\nfix = {{ {} }}\n",
                listed(&|i| format!("\"x{i}\""), ", "),
                listed(&|i| format!("\"der(x{i}) = {}\"", sum(i)), ", "),
                listed(&|i| format!("x{i} = 1"), ", "),
            ),
        );
        let mut check = Command::new(env!("CARGO_BIN_EXE_daedal"))
            .args(["check", model.to_str().unwrap()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_secs(5));
        if check.try_wait().unwrap().is_some() {
            continue;
        }
        let asked = Command::new("kill").args(["-INT", &check.id().to_string()]).status().unwrap();
        let status = check.wait().unwrap();
        assert!(asked.success() && status.signal() == Some(2), "{status}");
        return;
    }
    panic!("no check lasts five seconds");
}

/// A trial run whose steps are used up beside a kink of a formula has not failed there.
#[test]
fn a_trial_run_that_is_cut_short_beside_a_kink_is_no_warning() {
    for name in ["nand-gate.toml", "two-bit-adder.toml"] {
        let text = words(&["check", &shipped(name)]);
        assert!(text.contains("the model can be solved") && !text.contains("warning"), "{name}: {text}");
    }
}
