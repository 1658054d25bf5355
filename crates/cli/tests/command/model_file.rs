//! Model files through the command: solved, checked, initialised, and refused with the place of the mistake.

use crate::support::{daedal, fails, shipped, statistics, stderr, stdout, written};
use serde_json::Value;
use std::fs;
use std::path::Path;

const CONTRADICTION: &str = r#"
[model]
name = "contradiction"
time = [0, 1]
[motion]
positions = ["x", "y"]
velocities = ["vx", "vy"]
mass = [1, 1]
forces = [0, -1]
holonomic = { inner = "x^2 + y^2 - 1", outer = "x^2 + y^2 - 2" }
[initial]
guess = { x = 1, y = 0, vx = 0, vy = 0 }
"#;

#[test]
fn andrews_has_the_counters_of_the_rust_model_with_every_kernel() {
    let rust = statistics(&["andrews", "--kernel", "rust", "--method", "geoms"]);
    assert_eq!(rust["steps"], 205);
    let file = shipped("andrews.toml");
    for kernel in ["auto", "native", "tape"] {
        let mut object = statistics(&[&file, "--kernel", kernel, "--method", "geoms"]);
        for (name, value) in object["final"].as_object().unwrap() {
            let exact = rust["final"][name].as_f64().unwrap();
            // accelerations reach 1e7
            assert!(
                (value.as_f64().unwrap() - exact).abs() <= 1e-8 * exact.abs().max(1.0),
                "{name}: {value} and {exact}"
            );
        }
        object["final"] = rust["final"].clone();
        object["max_residual"] = rust["max_residual"].clone();
        assert_eq!(object, rust, "{kernel}");
    }
}

#[test]
fn a_model_file_and_a_reference_problem_give_the_same_run() {
    for name in ["pendulum", "slider-crank-redundant", "academic", "skateboard-1", "truck", "car-axis"] {
        let (mut file, problem) = (statistics(&[&shipped(&format!("{name}.toml"))]), statistics(&[name]));
        // a file may have outputs
        let variables = problem["final"].as_object().unwrap();
        file["final"].as_object_mut().unwrap().retain(|name, _| variables.contains_key(name));
        assert_eq!(file, problem, "{name}");
    }
}

#[test]
fn the_five_bar_linkage_is_checked_with_formulas_and_solved() {
    let file = shipped("five-bar.toml");
    let output = daedal(&["check", &file]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let words: String = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "1 in position, 1 in velocity",
        "drive (holonomic): 0 = phi[1] - Omega*t - start",
        "drive (holonomic, hidden): 0 = omega[1] - Omega",
        "drive (holonomic, hidden): 0 = omega[1]'",
        "0 = l[4]*sin(phi[4])*omega[4] - l[1]*sin(phi[1])*omega[1]",
        "l[1]*(omega[1]^2*cos(phi[1]) + sin(phi[1])*omega[1]')",
    ] {
        assert!(words.contains(said), "“{said}” is missing in: {words}");
    }
    let run = statistics(&[&file]);
    assert_eq!((&run["ended"], &run["t_end"]), (&Value::from("end"), &Value::from(5.0)));
    for level in ["position", "velocity", "acceleration"] {
        assert!(run["max_residual"][level].as_f64().unwrap() < 1e-9, "{level}");
    }
}

#[test]
fn consistent_initial_values_can_be_pasted_back() {
    let text = fs::read_to_string(shipped("five-bar.toml")).unwrap();
    let file = written("five-bar-before.toml", &text);
    let table = stdout(&daedal(&["init", file.to_str().unwrap()]));
    let begin = text.find("[initial]").unwrap();
    let end = text.find("[output]").unwrap();
    let pasted = written("five-bar-pasted.toml", &format!("{}{table}\n{}", &text[..begin], &text[end..]));
    let again = stdout(&daedal(&["init", pasted.to_str().unwrap()]));
    let values = |table: &str| {
        table
            .lines()
            .filter(|line| line.starts_with("fix") || line.starts_with("guess"))
            .map(String::from)
            .collect::<Vec<_>>()
    };
    assert_eq!(values(&again), values(&table));
    assert_eq!(values(&table).len(), 2, "{table}");
}

#[test]
fn wishes_of_the_model_give_way_to_options() {
    let text = fs::read_to_string(shipped("five-bar.toml")).unwrap() + "\n[solve]\nrtol = 1e-4\nhmax = 0.004\n";
    let file = written("five-bar-wishes.toml", &text);
    let file = file.to_str().unwrap();
    let wished = statistics(&[file]);
    assert_eq!((&wished["rtol"], &wished["atol"]), (&Value::from(1e-4), &Value::from(1e-4)));
    assert!(wished["steps"].as_u64().unwrap() >= 1250);
    let told = statistics(&[file, "--rtol", "1e-6", "--hmax", "1"]);
    assert_eq!((&told["rtol"], &told["atol"]), (&Value::from(1e-6), &Value::from(1e-6)));
    assert!(told["steps"].as_u64().unwrap() < 1250);
}

#[test]
fn a_longer_chain_is_one_parameter_away() {
    let run = statistics(&[&shipped("chain.toml"), "--set", "N=3", "--tend", "0.5"]);
    assert_eq!(run["ended"], "end");
    // p, v, λ and accelerations of three links, two outputs
    assert_eq!(run["final"].as_object().unwrap().len(), 3 * 7 + 2);
    let tension = run["final"]["tension"].as_f64().unwrap();
    assert!((tension - 2.0 / 3.0 * run["final"]["lambda.link[1]"].as_f64().unwrap()).abs() < 1e-12);
}

#[test]
fn mistakes_are_marked_in_the_file() {
    let file = written("mistakes.toml", &CONTRADICTION.replace("- 2\"", "- r\"").replace("[0, -1]", "[0, \"-g\"]"));
    fails(
        &["solve", file.to_str().unwrap()],
        2,
        &["2 mistakes", "nothing is called `g`", "mistakes.toml:9:", "nothing is called `r`", "mistakes.toml:10:"],
    );
    let file = written("count.toml", &CONTRADICTION.replace("[0, -1]", "[0]"));
    fails(&["check", file.to_str().unwrap()], 2, &["1 force is given for 2 velocities", "count.toml:9:"]);
    fails(&["solve", &shipped("pendulum.toml"), "--set", "M=2"], 2, &["`M` cannot be set", "`m`"]);
    fails(&["solve", &shipped("pendulum.toml"), "--kernel", "rust"], 2, &["is a model file"]);
}

#[test]
fn files_that_cannot_be_read_are_refused() {
    fails(&["solve", "nowhere.toml"], 2, &["cannot read the model file nowhere.toml"]);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("binary.toml");
    fs::write(&file, [0x5b, 0xff, 0xfe]).unwrap();
    fails(&["check", file.to_str().unwrap()], 2, &["is not text in UTF-8"]);
    let file = written("no-interval.toml", &CONTRADICTION.replace("time = [0, 1]\n", ""));
    fails(&["solve", file.to_str().unwrap()], 2, &["nothing about the interval", "--tend"]);
}

#[test]
fn impossible_models_name_the_equations_to_blame() {
    let file = written("contradiction.toml", CONTRADICTION);
    let file = file.to_str().unwrap();
    fails(&["check", file], 1, &["inner", "outer"]);
    fails(&["solve", file], 2, &["holonomic constraint inner", "holonomic constraint outer", "contradict each other"]);
    // mass and constraints singular together: nothing accelerates y
    let singular = CONTRADICTION
        .replace("mass = [1, 1]", "mass = [1, 0]")
        .replace("{ inner = \"x^2 + y^2 - 1\", outer = \"x^2 + y^2 - 2\" }", "{ wall = \"x - 1\" }");
    let file = written("singular.toml", &singular);
    let file = file.to_str().unwrap();
    fails(&["check", file], 1, &["nothing determines vy'", "dynamics of vy"]);
    fails(&["solve", file], 2, &["dynamics of vy"]);
    // values that are fixed against a constraint
    let fixed = CONTRADICTION
        .replace(", outer = \"x^2 + y^2 - 2\"", "")
        .replace("guess = { x = 1, y = 0, vx = 0, vy = 0 }", "fix = { x = 2.0 }\nguess = { y = 0, vx = 0, vy = 0 }");
    let file = written("fixed.toml", &fixed);
    fails(&["solve", file.to_str().unwrap()], 2, &["holonomic constraint inner", "x"]);
}

#[test]
fn tables_are_read_from_files_beside_the_model() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../measured");
    let model = folder.join("rough-road.toml");
    let end = |file: &Path| {
        let object = statistics(&[file.to_str().expect("a name"), "--rtol", "1e-8"]);
        (object["steps"].clone(), object["final"].clone())
    };
    // the same points in the model itself
    let text = fs::read_to_string(&model).expect("the model");
    let points = fs::read_to_string(folder.join("road.csv")).expect("the road");
    let numbers = points.lines().skip(2).map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        format!("[{}, {}]", fields[0], fields[1])
    });
    let points = format!("points = [{}]", numbers.collect::<Vec<_>>().join(", "));
    let inline = text.replace("file = \"road.csv\"\nargument = \"time\"\nvalue = \"left\"", &points);
    assert!(inline.contains("points"));
    let found = end(&model);
    assert!(found.1["z"].as_f64().is_some_and(|z| z != 0.0), "{found:?}");
    assert_eq!(found, end(&written("inline-road.toml", &inline)));
    // another column is another road
    fs::copy(folder.join("road.csv"), Path::new(env!("CARGO_TARGET_TMPDIR")).join("road.csv")).expect("a copy");
    let right = written("right-road.toml", &text.replace("value = \"left\"", "value = \"right\""));
    assert_ne!(found.1, end(&right).1);
    for (from, to, said) in [
        ("value = \"left\"", "value = \"middle\"", &["no column `middle`", "`time`, `left` and `right`"][..]),
        ("argument = \"time\"\nvalue = \"left\"", "", &["3 columns", "`argument`"]),
        ("road.csv", "rode.csv", &["cannot read `rode.csv`", "folder of the model"]),
        ("file = \"road.csv\"", "file = \"road.csv\"\npoints = [[0, 1], [1, 2]]", &["remove `points` or `file`"]),
        ("file = \"road.csv\"", "", &["`points` or `file`"]),
        ("value = \"left\"", "value = 3", &["`value`", "a string"]),
        ("time = [0.0, 3.0]", "time = [0.0, 4.0]", &["covers 0.0 to 3.0"]),
    ] {
        let file = written("wrong-road.toml", &text.replace(from, to));
        fails(&["solve", file.to_str().expect("a name")], 2, said);
    }
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("bad-road.csv"), "time,left\n0,0\n1,high\n").expect("a file");
    let file = written("bad-road.toml", &text.replace("road.csv", "bad-road.csv"));
    fails(&["solve", file.to_str().expect("a name")], 2, &["`bad-road.csv`: line 3: `high` is not a number"]);
}

/// The force of all constraints is unique where multipliers are not: that of the regular model, −λ G with G = (l1 cos φ1, −l2 cos φ2).
#[test]
fn forces_of_redundant_constraints_are_those_of_the_regular_model() {
    let end =
        |name: &str| statistics(&[&shipped(name), "--tend", "1", "--rtol", "1e-9", "--atol", "1e-9"])["final"].clone();
    let (regular, redundant) = (end("slider-crank.toml"), end("slider-crank-redundant.toml"));
    let value = |object: &Value, name: &str| object[name].as_f64().unwrap_or_else(|| panic!("{name} in {object}"));
    let lambda = value(&regular, "lambda.slider");
    let gradient = [value(&regular, "phi1").cos(), -3.0 * value(&regular, "phi2").cos()];
    for (name, gradient) in ["force.omega1", "force.omega2"].into_iter().zip(gradient) {
        let force = value(&redundant, name);
        assert!((force + lambda * gradient).abs() < 1e-5, "{name}: {force} and {}", -lambda * gradient);
        assert!(force.abs() > 1.0);
    }
    assert!(regular["force.omega1"].is_null(), "{regular}");
    // as every key it is a truth value
    let text = fs::read_to_string(shipped("slider-crank-redundant.toml")).unwrap();
    let wrong = written("forces-wrong.toml", &text.replace("constraint_forces = true", "constraint_forces = 1"));
    fails(&["solve", wrong.to_str().unwrap()], 2, &["constraint_forces", "true or false"]);
    // a file with mistakes elsewhere tells these
    let wrong = written("forces-mistake.toml", &text.replace("forces = [", "forces = [\"nobody\","));
    fails(&["solve", wrong.to_str().unwrap()], 2, &["forces"]);
}

/// The level that is nearest to two gauges is their mean.
#[test]
fn contradicting_gauges_are_met_by_least_squares() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../measured/two-gauges.toml");
    let model = model.to_str().unwrap();
    let found = statistics(&[model, "--rtol", "1e-9", "--atol", "1e-9"]);
    assert_eq!(found["formulation"], "least-squares");
    let level = 2.01 + 10.0_f64.sin();
    for (name, value) in [("level", level), ("inflow", 3.0 * 10.0_f64.cos() + 0.5 * level)] {
        let found = found["final"][name].as_f64().unwrap();
        assert!((found - value).abs() < 1e-8, "{name}: {found} and {value}");
    }
    fails(&["solve", model, "--formulation", "linear"], 1, &["contradict"]);
    fails(&["check", model], 1, &["first", "second", "contradict each other"]);
}
