//! `--rank-tolerance`, for every command, method and form.

use crate::support::{code, daedal, fails, json, stderr, stdout, written};

/// Two planes that are almost the same.
const PLANES: &str = r#"
[model]
name = "planes"
time = [0, 0.1]
[solve]
[motion]
positions = ["x", "y", "z"]
velocities = ["vx", "vy", "vz"]
mass = [1, 1, 1]
forces = [0, 0, -9.81]
holonomic = { one = "x", other = "x + 1e-3*y" }
[initial]
guess = { x = 0, y = 0, z = 1, vx = 0, vy = 0, vz = 0 }
"#;

/// Two constraints that are almost the same.
const CONSTRAINTS: &str = r#"
[model]
name = "constraints"
time = [0, 0.1]
[dae]
states = ["x", "a", "b"]
equations = ["der(x) = a - x", "0 = a + b - x", "0 = a + (1 + 1e-5)*b - x"]
[initial]
guess = { x = 1, a = 1, b = 0 }
"#;

#[test]
fn every_command_and_method_takes_it() {
    let file = written("planes.toml", PLANES);
    let file = file.to_str().unwrap();
    let solve = |more: &[&str]| daedal(&[&["solve", file], more].concat());
    for (method, formulation) in
        [("geoms", "psf"), ("radau", "eom"), ("bdf", "p1"), ("hedop5", "eom1"), ("rattle", "eom")]
    {
        let of = ["--method", method, "--formulation", formulation];
        let usual = solve(&of);
        assert_eq!(code(&usual), 0, "{method}: {}", stderr(&usual));
        let loose = solve(&[&of[..], &["--rank-tolerance", "1e-2"]].concat());
        if ["geoms", "bdf"].contains(&method) {
            assert_eq!(code(&loose), 0, "{method}: {}", stderr(&loose));
        } else if method == "hedop5" {
            // it leaves one of them out, which is then seen to say more than the other
            assert!(stderr(&loose).contains("left out because it follows from the others, and does not hold"));
        } else {
            let said = stderr(&loose);
            assert!(said.contains("redundant") && said.contains("set --rank-tolerance"), "{method}: {said}");
        }
    }
    // without a method the choice obeys, too
    let chosen = |more: &[&str]| json(&solve(&[more, &["--stats", "json"]].concat()))["method"].clone();
    assert_ne!(chosen(&[]), chosen(&["--rank-tolerance", "1e-2"]));
    let open = |more: &[&str]| {
        json(&daedal(&[&["init", file, "--format", "json"], more].concat()))["undetermined_multipliers"].clone()
    };
    assert_eq!((open(&[]), open(&["--rank-tolerance", "1e-2"])), (0.into(), 1.into()));
    let told = |more: &[&str]| stdout(&daedal(&[&["check", file], more].concat()));
    assert!(told(&[]).contains("2 of 2"), "{}", told(&[]));
    assert!(told(&["--rank-tolerance", "1e-2"]).contains("1 of 2"));
}

#[test]
fn every_form_takes_it() {
    let file = written("constraints.toml", CONSTRAINTS);
    let file = file.to_str().unwrap();
    for form in ["auto", "plain", "quasilinear", "array", "linear"] {
        let of = ["solve", file, "--formulation", form];
        let usual = daedal(&of);
        assert_eq!(code(&usual), 0, "{form}: {}", stderr(&usual));
        let loose = daedal(&[&of[..], &["--rank-tolerance", "1e-4"]].concat());
        assert!(stderr(&loose).contains("nothing determines"), "{form}: {}", stderr(&loose));
    }
}

#[test]
fn a_model_file_may_say_it() {
    let file = |value: &str| {
        let text = PLANES.replace("[solve]", &format!("[solve]\nrank_tolerance = {value}"));
        written(&format!("planes-{value}.toml"), &text).to_str().unwrap().to_string()
    };
    let told = stdout(&daedal(&["check", &file("1e-2")]));
    assert!(told.contains("1 of 2"), "{told}");
    // the command wins
    let told = stdout(&daedal(&["check", &file("0.02"), "--rank-tolerance", "1e-9"]));
    assert!(told.contains("2 of 2"), "{told}");
    fails(&["check", &file("1.5")], 2, &["rank_tolerance", "between 0 and 1"]);
    fails(&["check", &file("-1")], 2, &["rank_tolerance", "positive"]);
}
