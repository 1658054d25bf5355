//! `daedal solve` for general systems.

use crate::solve::STATISTICS;
use crate::support::{daedal, directory, fails, json, keys, rows, shipped, statistics, words, written};
use serde_json::Value;
use std::fs;

/// x at the end of the pendulum, from elliptic functions.
const PENDULUM: f64 = -0.608937263148838;

fn value(object: &Value, name: &str) -> f64 {
    object["final"][name].as_f64().unwrap_or_else(|| panic!("{name} in {object}"))
}

#[test]
fn the_pendulum_of_index_three_moves_as_the_mechanism_does() {
    let file = shipped("pendulum-dae.toml");
    let object = statistics(&[&file, "--rtol", "1e-9"]);
    assert_eq!(keys(&object), STATISTICS);
    assert_eq!((&object["method"], &object["formulation"]), (&Value::from("radau"), &Value::from("quasilinear")));
    assert_eq!((&object["ended"], &object["t_end"]), (&Value::from("end"), &Value::from(5.0)));
    assert!((value(&object, "x") - PENDULUM).abs() < 1e-8, "{object}");
    for level in ["constraint", "hidden"] {
        assert!(object["max_residual"][level].as_f64().expect("a number") < 1e-6, "{object}");
    }
    for level in ["position", "velocity", "acceleration", "invariant"] {
        assert_eq!(object["max_residual"][level], Value::Null);
    }
    // what only GEOMS counts
    assert_eq!((&object["masses"], &object["selectors"]), (&Value::Null, &Value::Null));
    assert!(object["jacobians"].as_u64().expect("a counter") > 0);
}

#[test]
fn unknowns_that_are_taken_together_are_told() {
    let file = shipped("second-order-linear.toml");
    let object = statistics(&[&file, "--rtol", "1e-9", "--atol", "1e-9"]);
    let why = object["unknowns"].as_str().expect("a reason");
    assert!(why.ends_with("with der(x2 + x3) as unknown the strangeness index is 2 instead of 3"), "{why}");
    assert!((value(&object, "x2") - 4.0_f64.cos()).abs() < 1e-7, "{object}");
    assert!(object["final"].get("x2'").is_none());
    // a form that is asked for has all derivatives that enter
    let object = statistics(&[&file, "--formulation", "array"]);
    assert!(object.get("unknowns").is_none() && object["final"].get("x2'").is_some(), "{object}");
}

#[test]
fn the_explicit_solution_of_linear_systems_is_a_method() {
    let file = shipped("prescribed-jerk.toml");
    let object = statistics(&[&file, "--method", "exact", "--tend", "3"]);
    assert_eq!((&object["method"], &object["formulation"]), (&Value::from("exact"), &Value::from("linear")));
    assert!((value(&object, "jerk") + 3.0_f64.cos()).abs() < 1e-12, "{object}");
    assert!((value(&object, "y''") + 3.0_f64.cos()).abs() < 1e-10, "{object}");
}

#[test]
fn every_method_takes_every_form_that_fits() {
    let file = shipped("pendulum-dae.toml");
    for method in ["radau", "bdf", "auto"] {
        for form in ["auto", "quasilinear", "array"] {
            let object = statistics(&[&file, "--method", method, "--formulation", form, "--tend", "5"]);
            assert_eq!(object["ended"], "end", "{method}, {form}");
            let taken = if form == "array" { "array" } else { "quasilinear" };
            assert_eq!(object["formulation"], taken, "{method}");
            assert!((value(&object, "x") - PENDULUM).abs() < 1e-5, "{method}, {form}: {object}");
        }
        let object = statistics(&[&shipped("robertson.toml"), "--method", method, "--formulation", "plain"]);
        assert_eq!((&object["ended"], &object["formulation"]), (&Value::from("end"), &Value::from("plain")));
        let object = statistics(&[&shipped("nilpotent.toml"), "--method", method, "--formulation", "linear"]);
        assert_eq!((&object["ended"], &object["formulation"]), (&Value::from("end"), &Value::from("linear")));
    }
}

#[test]
fn kernels_give_the_same_run() {
    let file = shipped("car-axis-dae.toml");
    let run = |kernel: &str| {
        let mut object = statistics(&[&file, "--kernel", kernel, "--tend", "1"]);
        let x = value(&object, "xl");
        object["final"] = Value::Null;
        object["max_residual"] = Value::Null;
        (object, x)
    };
    let (tape, x) = run("tape");
    for kernel in ["auto", "native"] {
        assert_eq!(run(kernel), (tape.clone(), x), "{kernel}");
    }
}

#[test]
fn options_of_the_methods_have_an_effect() {
    let file = shipped("pendulum-dae.toml");
    let count = |options: &[&str], what: &str| {
        let object = statistics(&[&[file.as_str()], options].concat());
        object[what].as_u64().unwrap_or_else(|| panic!("{options:?}: {object}"))
    };
    assert_eq!(count(&["--control", "fixed", "--h0", "0.01"], "steps"), 500);
    let plain = count(&[], "steps");
    assert!(count(&["--hmax", "0.01"], "steps") >= 500);
    assert!(count(&["--safety", "0.3"], "steps") > plain);
    assert!(count(&["--rtol", "1e-4"], "steps") < plain);
    assert!(count(&["--max-newton", "3"], "rejected_newton") > count(&[], "rejected_newton"));
    assert_ne!(count(&["--newton-tolerance", "1e-6"], "solves"), count(&[], "solves"));
    let bdf = ["--method", "bdf", "--rtol", "1e-4"];
    let low = [&bdf[..], &["--max-order", "1"]].concat();
    assert!(count(&low, "steps") > 3 * count(&bdf, "steps"));
    let fresh = [&bdf[..], &["--jacobian-reuse", "-1"]].concat();
    assert!(count(&fresh, "jacobians") > 2 * count(&bdf, "jacobians"));
    // the start and the end of the interval
    let moved = statistics(&[&shipped("prescribed-output.toml"), "--t0", "0.5", "--tend", "0.75"]);
    assert_eq!(moved["t_end"], 0.75);
}

#[test]
fn wishes_of_the_model_give_way_to_options() {
    let text = fs::read_to_string(shipped("pendulum-dae.toml")).unwrap();
    let wished = written("wished.toml", &text.replace("[solve]\n", "[solve]\nformulation = \"array\"\nrtol = 1e-5\n"));
    let file = wished.to_str().unwrap();
    let object = statistics(&[file]);
    assert_eq!((&object["formulation"], &object["rtol"]), (&Value::from("array"), &Value::from(1e-5)));
    assert_eq!(statistics(&[file, "--formulation", "quasilinear"])["formulation"], "quasilinear");
}

#[test]
fn the_summary_tells_residuals_outputs_and_what_is_open() {
    let text = words(&["solve", &shipped("pendulum-dae.toml")]);
    for part in ["radau, quasilinear", "reached the end t = 5.0", "stated", "hidden", "final outputs", "tension"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    let text = words(&["solve", &shipped("redundant-underdetermined.toml")]);
    assert!(text.contains("undetermined combinations of unknowns, which keep their values +1.0000 x3"), "{text}");
    for (form, told) in [("linear", "all"), ("quasilinear", "stated")] {
        let text = words(&["solve", &shipped("nilpotent.toml"), "--formulation", form]);
        assert!(text.contains(&format!("largest residual of the constraints {told}")), "{text}");
    }
    // auxiliary unknowns of the solver are not shown
    let object = statistics(&[&shipped("pendulum-second-order.toml")]);
    let names = ["x", "y", "lambda1", "x'", "y'", "angle", "tension", "energy"];
    assert_eq!(keys(&object["final"]), names);
}

#[test]
fn a_stop_on_the_way_keeps_what_was_computed() {
    let path = directory("general-stop").join("run.csv");
    let file = path.to_str().unwrap();
    let output = daedal(&["solve", &shipped("pendulum-dae.toml"), "--max-steps", "20", "-o", file, "--stats", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let object = json(&output);
    assert_eq!(object["ended"], "failure");
    let points = rows(&fs::read_to_string(&path).unwrap());
    assert!(points.len() > 10, "{}", points.len());
    assert_eq!(object["t_end"], points[points.len() - 1][0]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("max_steps"), "{message}");
}

#[test]
fn invariants_are_kept_where_they_are_named() {
    let text = fs::read_to_string(shipped("pendulum-dae.toml")).unwrap();
    let kept =
        text.replace("[dae.equations]", "[dae.invariants]\nenergy0 = \"m*(vx^2 + vy^2)/2 + m*g*y\"\n[dae.equations]");
    let file = written("pendulum-kept.toml", &kept);
    let file = file.to_str().unwrap();
    let drift = |file: &str| (value(&statistics(&[file, "--rtol", "1e-4"]), "energy") + 9.83).abs();
    assert!(drift(file) < 0.1 * drift(&shipped("pendulum-dae.toml")), "{}", drift(file));
    assert!(statistics(&[file])["max_residual"]["invariant"].as_f64().is_some_and(|residual| residual < 1e-6));
    let told = words(&["check", file]);
    assert!(told.contains("1 invariant") && told.contains("invariant energy0: 0.5*m*"), "{told}");
    assert!(told.contains("= constant"), "{told}");
}

const DECAY: &str = r#"
[model]
name = "decay"
time = [0, 2]
[parameters]
k = 3
[dae]
states = ["x", "y"]
equations = ["der(x) = -k*x", "y = x^2"]
[initial]
fix = { x = 1 }
[output]
slope = "der(x)"
residual = "der(x) + k*x"
both = "der(x) + der(y)"
"#;

#[test]
fn outputs_may_contain_derivatives() {
    let model = written("decay.toml", DECAY);
    let path = directory("decay").join("run.csv");
    let (model, file) = (model.to_str().unwrap(), path.to_str().unwrap());
    for (save, points) in [("steps", None), ("11", Some(11)), ("end", Some(1))] {
        for method in ["radau", "bdf"] {
            let arguments = ["solve", model, "--method", method, "--rtol", "1e-8", "--save", save, "-o", file];
            words(&arguments);
            let text = fs::read_to_string(&path).unwrap();
            assert_eq!(text.lines().next(), Some("t,x,y,slope,residual,both"));
            let points_found = rows(&text);
            assert!(points.is_none_or(|n| n == points_found.len()));
            for row in points_found {
                let [t, x, _, slope, residual, both] = row[..] else { panic!("{row:?}") };
                assert!((x - (-3.0 * t).exp()).abs() < 1e-6, "{method}, {save}: {row:?}");
                // the start has the polynomial of the first step only
                let tolerance = if t == 0.0 { 1e-2 } else { 2e-4 };
                assert!((slope + 3.0 * x).abs() < tolerance, "{method}, {save}: {row:?}");
                assert!(residual.abs() < tolerance, "{method}, {save}: {row:?}");
                assert!((both + 3.0 * x + 6.0 * x * x).abs() < 2.0 * tolerance, "{method}, {save}: {row:?}");
            }
        }
    }
    let object = statistics(&[model, "--rtol", "1e-8"]);
    // Radau IIa satisfies the equations at the end of each step
    assert!(value(&object, "residual").abs() < 1e-8, "{object}");
    // of second order: der(x) is an unknown, der(x, 2) is not
    let second = DECAY
        .replace("\"y\"]", "\"y\", \"z\"]")
        .replace("\"y = x^2\"", "\"y = x^2\", \"der(z, 2) = -z\"")
        .replace("x = 1 ", "x = 1, z = 0, \"der(z)\" = 1 ")
        .replace("both =", "swing = \"der(z, 2) + z\"\nspeed = \"der(z)\"\nboth =");
    let model = written("decay-second.toml", &second);
    let object = statistics(&[model.to_str().unwrap(), "--rtol", "1e-9"]);
    assert!(value(&object, "swing").abs() < 1e-8, "{object}");
    assert!((value(&object, "speed") - 2_f64.cos()).abs() < 1e-7, "{object}");
}

#[test]
fn contradictions_stop_a_run_or_are_left_away() {
    // the first equation says x = t from x = 0 on, the second x = t^2: its constraint stays
    let text = r#"
        [model]
        name = "contradiction"
        time = [0, 2]
        [dae]
        states = ["x", "y"]
        equations = ["der(x) = 1", "x = t^2", "der(y) = x - y"]
        [initial]
        guess = { x = 0 }
        fix = { y = 1 }
    "#;
    let file = written("contradiction.toml", text);
    let file = file.to_str().expect("a name");
    for form in ["auto", "linear"] {
        fails(&["solve", file, "--formulation", form], 1, &["contradict"]);
    }
    let found = statistics(&[file, "--formulation", "least-squares", "--rtol", "1e-9"]);
    assert_eq!(found["formulation"], "least-squares");
    // y = t² − 2t + 2 − e^(−t)
    let expected = [("x", 4.0), ("y", 2.0 - (-2.0_f64).exp())];
    for (name, value) in expected {
        let found = found["final"][name].as_f64().expect("a value");
        assert!((found - value).abs() < 1e-7, "{name} = {found}");
    }
    // what is fixed must not move, and other systems are not linear
    let fixed = written(
        "contradiction-fixed.toml",
        &text.replace("guess = { x = 0 }\n        fix = { y = 1 }", "fix = { x = 1, y = 1 }"),
    );
    fails(&["solve", fixed.to_str().expect("a name"), "--formulation", "least-squares"], 2, &["moves", "x", "guess"]);
    fails(&["solve", &shipped("pendulum-dae.toml"), "--formulation", "least-squares"], 2, &["not linear"]);
    // where nothing contradicts it is the form linear
    let linear = |form: &str| statistics(&[&shipped("nilpotent.toml"), "--formulation", form])["final"].clone();
    assert!(linear("linear").is_object());
    assert_eq!(linear("linear"), linear("least-squares"));
}
