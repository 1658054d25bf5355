//! `daedal init` for general systems.

use crate::support::{daedal, fails, json, shipped, stdout, words, written};
use std::fs;

#[test]
fn consistent_values_can_be_pasted_back() {
    for name in ["pendulum-dae.toml", "pendulum-second-order.toml", "semi-explicit.toml", "transistor-amplifier.toml"] {
        let text = fs::read_to_string(shipped(name)).unwrap();
        let table = stdout(&daedal(&["init", &shipped(name)]));
        let begin = text.find("[initial").unwrap();
        let end = text.find("[output]").unwrap_or(text.len());
        let pasted = written(&format!("pasted-{name}"), &format!("{}{table}\n{}", &text[..begin], &text[end..]));
        let again = stdout(&daedal(&["init", pasted.to_str().unwrap()]));
        let values = |table: &str| {
            let kept = |line: &&str| line.starts_with("fix") || line.starts_with("guess");
            table.lines().filter(kept).map(String::from).collect::<Vec<_>>()
        };
        assert_eq!(values(&again), values(&table));
        assert!(again.contains("# moved: nothing"), "{again}");
    }
}

#[test]
fn moved_guesses_are_named() {
    let text = words(&["init", &shipped("semi-explicit.toml")]);
    assert!(text.contains("# moved: z from -1.0 to -0.99746"), "{text}");
    assert!(text.contains("# 1 of 3 unknowns can be chosen"), "{text}");
    let object = json(&daedal(&["init", &shipped("semi-explicit.toml"), "--format", "json"]));
    assert_eq!((&object["moved"][0]["variable"], &object["moved"][0]["given"]), (&"z".into(), &(-1.0).into()));
    assert_eq!(object["free"], 1);
    let z = object["values"]["z"].as_f64().unwrap();
    assert_eq!(object["moved"][0]["start"], z);
    assert!(object["derivatives"]["der(x1)"].is_f64() && object["derivatives"].get("der(z)").is_none());
}

#[test]
fn what_is_said_on_the_command_line_replaces_the_file() {
    let file = shipped("pendulum-second-order.toml");
    let arguments = ["init", &file, "--fix", "x=0.6", "--guess", "y=-0.7", "--fix", "der(x)=1", "--format", "json"];
    let object = json(&daedal(&arguments));
    let value = |name: &str| object["values"][name].as_f64().unwrap();
    assert_eq!((value("x"), value("der(x)")), (0.6, 1.0));
    assert!((value("y") + 0.8).abs() < 1e-12, "{object}");
    assert!((0.6 - 0.8 * value("der(y)")).abs() < 1e-12, "{object}");
    // the same derivative as the solver calls it
    let primed = json(&daedal(&arguments.map(|argument| if argument == "der(x)=1" { "x'=1" } else { argument })));
    assert_eq!(primed["values"], object["values"]);
    let text = words(&["init", &file, "--unknown", "lambda1"]);
    assert!(text.contains("fix = { x = 0.0, \"der(x)\" = 2.8 }"), "{text}");
}

#[test]
fn impossible_initial_values_are_refused() {
    let file = shipped("pendulum-dae.toml");
    fails(&["init", &file, "--fix", "q=1"], 2, &["no state q", "known: x, der(x), y"]);
    fails(&["init", &file, "--fix", "der(x, 2)=1"], 2, &["no state der(x, 2)"]);
    fails(&["init", &file, "--fix", "x=1", "--guess", "x=2"], 2, &["x is given more than once"]);
    fails(
        &["init", &file, "--fix", "x=0.9", "--fix", "y=0.3"],
        2,
        &["no consistent initial values with x, y fixed", "equation rod (line"],
    );
    // x alone is too large, and y = 0 takes no part
    fails(
        &["init", &file, "--fix", "x=2", "--fix", "y=0"],
        2,
        &["no consistent initial values with x fixed", "equation rod (line"],
    );
    // nothing is fixed: the equations exclude each other
    let text = "[model]\nname = \"no\"\ntime = [0, 1]\n[dae]\nstates = [\"x\"]\nequations = [\"x^2 = -1\"]\n";
    let file = written("no-solution.toml", text);
    let file = file.to_str().unwrap();
    for command in ["init", "solve", "check"] {
        fails(
            &[command, file],
            1,
            &["no consistent initial values", "equation 1 (line 6: x^2 = -1)", "a residual of 1.0e0"],
        );
    }
}
