//! `daedal solve`: what it prints, and with which code it exits.

use crate::support::{code, daedal, directory, fails, json, keys, rows, shipped, statistics, stderr, stdout, written};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

pub const STATISTICS: [&str; 24] = [
    "model",
    "formulation",
    "method",
    "rtol",
    "atol",
    "ended",
    "t_end",
    "steps",
    "rejected_error",
    "rejected_newton",
    "residuals",
    "jacobians",
    "masses",
    "selectors",
    "predecompositions",
    "decompositions",
    "solves",
    "seconds",
    "max_residual",
    "final",
    "atol_of",
    "verification",
    "warnings",
    "events",
];

#[test]
fn statistics_have_exactly_the_agreed_keys_in_order() {
    let output = daedal(&["solve", "pendulum", "--rtol", "1e-9", "--formulation", "psf", "--stats", "json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(output.stderr.is_empty(), "nothing is shown when piped");
    let object = json(&output);
    assert_eq!(keys(&object), STATISTICS);
    assert_eq!(
        keys(&object["max_residual"]),
        ["position", "velocity", "acceleration", "invariant", "constraint", "hidden"]
    );
    assert_eq!(keys(&object["final"]), ["x", "y", "vx", "vy", "lambda.rod", "vx'", "vy'"]);
    assert_eq!(object["model"], "pendulum");
    assert_eq!(object["formulation"], "psf");
    assert_eq!(object["method"], "geoms");
    assert_eq!((&object["rtol"], &object["atol"]), (&Value::from(1e-9), &Value::from(1e-9)));
    assert_eq!(object["ended"], "end");
    assert_eq!(object["t_end"], 5.0);
    assert!(object["steps"].as_u64().expect("a counter") > 50);
    assert_eq!(object["max_residual"]["invariant"], Value::Null);
    let x = object["final"]["x"].as_f64().expect("a number");
    assert!((x + 0.608937263148838).abs() < 1e-8, "{x}");
}

#[test]
fn levels_without_constraints_are_null_and_those_with_are_not() {
    let object = json(&daedal(&["solve", "pendulum", "--formulation", "psf+i", "--stats", "json"]));
    assert!(object["max_residual"]["invariant"].as_f64().expect("an invariant") < 1e-6);
    let object = json(&daedal(&["solve", "skateboard-1", "--tend", "0.1", "--stats", "json"]));
    assert!(object["max_residual"]["velocity"].is_f64());
}

#[test]
fn every_option_of_the_method_is_understood() {
    let options = "--t0 0 --tend 0.5 --atol 1e-6 --h0 1e-3 --hmax 0.1 --max-steps 5000 --decomposition qr --differential qr \
                   --selection joint --selector-update every-jacobian --control classical --predictor zero --newton-point 2 \
                   --newton-updates 1 --max-newton 7 --newton-tolerance 0.01 --jacobian-reuse -1 --safety 0.8 --refilter \
                   --rank-tolerance 1e-9 --polish rounding --multipliers unwanted --method geoms --formulation psf";
    let mut arguments = vec!["solve", "pendulum", "--stats", "json"];
    arguments.extend(options.split_whitespace());
    let output = daedal(&arguments);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(json(&output)["t_end"], 0.5);
    let reproduction = json(&daedal(&["solve", "pendulum", "--reproduction", "--stats", "json"]));
    let default = json(&daedal(&["solve", "pendulum", "--stats", "json"]));
    assert_ne!(reproduction["residuals"], default["residuals"]);
}

#[test]
fn options_of_every_method_have_an_effect() {
    let run = |options: &str| {
        let arguments: Vec<&str> = options.split_whitespace().collect();
        let output = daedal(&[&["solve", "pendulum", "--tend", "1", "--stats", "json"], &arguments[..]].concat());
        assert_eq!(code(&output), 0, "{options}: {}", stderr(&output));
        json(&output)
    };
    let count = |options: &str, what: &str| run(options)[what].as_u64().expect("a count");
    // QUOT1 and QUOT2: where every new size is taken, every step decomposes
    for method in ["geoms", "radau"] {
        let kept =
            |keep: &str| count(&format!("--method {method} --jacobian-reuse 0.5 --keep-step {keep}"), "decompositions");
        assert!(kept("1,1") > kept("0.9,3"), "{method}");
    }
    // FACR and FACL: the first step is short, and the next ones are hardly longer
    for method in ["geoms", "radau", "gmkssol"] {
        let slow = count(&format!("--method {method} --h0 1e-4 --step-ratio 0.2,1.2"), "steps");
        assert!(slow > count(&format!("--method {method} --h0 1e-4"), "steps"), "{method}");
    }
    let gmkssol = |steps: &str| {
        let arguments = ["pendulum", "--tend", "0.3", "--method", "gmkssol", "--selector-steps", steps];
        statistics(&arguments)["selectors"].as_u64().expect("a count")
    };
    assert!(gmkssol("0") < gmkssol("10") && gmkssol("10") < gmkssol("1"));
    assert_eq!(count("--method gmkssol --stages 5 --control fixed --h0 0.05", "steps"), 20);
    for method in ["hem3", "hem4", "hem5", "hedop5", "dopri5", "partition", "tangent"] {
        assert_eq!(count(&format!("--method {method} --control fixed --h0 0.01"), "steps"), 100, "{method}");
        let cautious = count(&format!("--method {method} --safety 0.4"), "steps");
        assert!(cautious > count(&format!("--method {method}"), "steps"), "{method}");
    }
    let drift = |options: &str| run(options)["max_residual"]["position"].as_f64().expect("a residual");
    for method in ["hem3", "hem4", "dopri5"] {
        let (on, beside) =
            (drift(&format!("--method {method}")), drift(&format!("--method {method} --projection none")));
        assert!(on < 1e-12 && beside > 100.0 * on.max(1e-16), "{method}: {on:e} {beside:e}");
    }
    // which level is projected holds to rounding, the other drifts
    let level = |options: &str, level: &str| run(options)["max_residual"][level].as_f64().expect("a residual");
    for method in ["hem4", "hedop5", "dopri5"] {
        let of = |projection: &str, what: &str| level(&format!("--method {method} --projection {projection}"), what);
        assert!(of("positions", "position") < 1e-12, "{method}");
        // half-explicit methods end on the constraints of velocity, up to the change of the positions
        assert!(method != "dopri5" || of("positions", "velocity") > 1e-10, "{method}");
        let (beside, on) = (of("velocities", "position"), of("all", "position"));
        assert!(of("velocities", "velocity") < 1e-12, "{method}");
        assert!(beside > 100.0 * on.max(1e-16), "{method}: {beside:e} {on:e}");
    }
    for (method, stages) in [("gauss", ["1", "3"]), ("radau-ia", ["2", "3"]), ("lobatto-iiic", ["2", "4"])] {
        let steps = |stages: &str| count(&format!("--method {method} --rtol 1e-5 --stages {stages}"), "steps");
        assert!(steps(stages[0]) > steps(stages[1]), "{method}");
        assert_eq!(count(&format!("--method {method} --control fixed --h0 0.01"), "steps"), 100, "{method}");
        // with few stages, where the error and not Newton's iteration decides about steps
        assert!(steps(&format!("{} --safety 0.4", stages[0])) > steps(stages[0]), "{method}");
    }
    for method in ["gauss", "radau-ia"] {
        let beside = drift(&format!("--method {method} --projection none --control fixed --h0 0.02"));
        let on = drift(&format!("--method {method} --control fixed --h0 0.02"));
        assert!(on < 1e-9 && beside > 1e-8, "{method}: {on:e} {beside:e}");
        fails(&["solve", "pendulum", "--method", method, "--projection", "positions"], 2, &[method, "all or none"]);
        fails(&["solve", "pendulum", "--method", method, "--stages", "7"], 2, &["stages", "1, 2 or 3"]);
    }
    fails(&["solve", "pendulum", "--method", "gauss", "--formulation", "eom1"], 2, &["one size", "radau"]);
    fails(&["solve", "pendulum", "--method", "trapezoidal", "--jacobian-reuse", "0.1"], 2, &["jacobian-reuse"]);
    let equal_arms = |options: &str| {
        let arguments: Vec<&str> = options.split_whitespace().collect();
        daedal(&[&["solve", "slider-crank-equal-arms", "--tend", "2"], &arguments[..]].concat())
    };
    for method in ["dopri5", "dop853"] {
        assert_ne!(code(&equal_arms(&format!("--method {method}"))), 0, "{method}");
        let passed = equal_arms(&format!("--method {method} --singular pass"));
        assert!(code(&passed) == 0 && stdout(&passed).contains("1 singular configuration passed"), "{method}");
    }
    fails(&["solve", "pendulum", "--method", "geoms", "--singular", "pass"], 2, &["singular", "geoms"]);
    assert_eq!(count("--method mexx --columns 4 --h0 0.05", "steps"), 20);
    assert_ne!(count("--method mexx --basic euler", "residuals"), count("--method mexx --basic midpoint", "residuals"));
    // an explicit method for ordinary equations, and what it does not know there
    let file = shipped("pleiades.toml");
    let output =
        daedal(&["solve", &file, "--method", "dopri5", "--control", "fixed", "--h0", "0.01", "--stats", "json"]);
    assert_eq!(json(&output)["steps"], 300);
    fails(&["solve", &file, "--method", "dopri5", "--projection", "none"], 2, &["projection", "dopri5"]);
    fails(
        &["solve", "pendulum", "--method", "hedop5", "--control", "radau5"],
        2,
        &["the only --control they know is fixed"],
    );
    fails(&["solve", "pendulum", "--method", "geoms", "--keep-step", "1"], 2, &["2 numbers"]);
    fails(&["solve", "pendulum", "--method", "geoms", "--step-ratio", "2,1"], 2, &["smallest ratio"]);
    // modes pass on what they can
    fails(
        &["solve", &shipped("rope-cut.toml"), "--method", "hedop5", "--safety", "0.5"],
        2,
        &["in modes does not know --safety"],
    );
}

#[test]
fn the_summary_tells_the_end_the_residuals_and_the_error() {
    let output = daedal(&["solve", "pendulum", "--method", "geoms"]);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    for part in ["reached the end t = 5.0", "steps", "acceleration", "lambda.rod", "constraints by LU", "largest error"]
    {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    // the reference holds for the default parameters and the whole interval
    for other in [["--set", "g=9.81"], ["--tend", "4.5"]] {
        let text = stdout(&daedal(&[&["solve", "pendulum"], &other[..]].concat()));
        assert!(!text.contains("largest error"), "{text}");
    }
    let redundant = stdout(&daedal(&["solve", "slider-crank-redundant", "--method", "geoms", "--tend", "0.5"]));
    assert!(redundant.contains("undetermined combinations"), "{redundant}");
}

#[test]
fn a_numerical_stop_exits_with_one_and_keeps_what_was_computed() {
    let path = directory("stop").join("run.csv");
    let file = path.to_str().expect("text");
    let output = daedal(&[
        "solve",
        "slider-crank-equal-arms",
        "--method",
        "geoms",
        "--tend",
        "2",
        "-o",
        file,
        "--stats",
        "json",
    ]);
    let message = stderr(&output);
    assert_eq!(code(&output), 1, "{message}");
    assert!(message.starts_with("error: the run stopped at t = 1.01"), "{message}");
    assert!(message.contains("  because: at t = 1.01") && message.contains("rank"), "{message}");
    assert!(message.contains("singular configuration"), "{message}");
    let object = json(&output);
    assert_eq!(keys(&object), STATISTICS);
    assert_eq!(object["ended"], "failure");
    let points = rows(&fs::read_to_string(&path).expect("the file"));
    assert!(points.len() > 20, "{} points", points.len());
    let last = points[points.len() - 1][0];
    assert!(last > 0.9 && last < 1.0139, "{last}");
    assert_eq!(object["t_end"], last);
}

#[test]
fn running_out_of_steps_is_a_numerical_stop() {
    let output = daedal(&["solve", "pendulum", "--max-steps", "5"]);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("max_steps"), "{}", stderr(&output));
    assert!(stdout(&output).contains("STOPPED at t = "));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daedal"));
    let mut child = command.args(["list", "-v"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
    drop(child.stdout.take());
    let mut message = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut message).expect("text");
    assert!(child.wait().expect("an end").success());
    assert!(message.is_empty(), "{message}");
}

#[test]
fn every_method_solves_equations_of_motion_and_says_so() {
    for entry in daedal::catalogue::all() {
        let formulation = if entry.formulations.contains(&"ggl") { "ggl" } else { entry.formulations[0] };
        let options =
            ["pendulum", "--tend", "0.5", "--rtol", "1e-5", "--method", entry.name, "--formulation", formulation];
        let object = statistics(&options);
        assert_eq!((&object["method"], &object["formulation"]), (&entry.name.into(), &formulation.into()));
        assert_eq!((&object["ended"], &object["t_end"]), (&"end".into(), &0.5.into()), "{}", entry.name);
        let exact = statistics(&["pendulum", "--tend", "0.5", "--rtol", "1e-10"]);
        for name in ["x", "y", "vx", "vy"] {
            let value = |object: &serde_json::Value| object["final"][name].as_f64().expect("a number");
            assert!((value(&object) - value(&exact)).abs() < 1e-2, "{}: {name}", entry.name);
        }
    }
}

#[test]
fn options_reach_the_method_on_equations_of_motion() {
    let with = |more: &[&str]| {
        let options = ["pendulum", "--tend", "0.5", "--method", "bdf", "--formulation", "eom0"];
        statistics(&[&options, more].concat())["steps"].as_u64().expect("steps")
    };
    assert!(with(&["--max-order", "1", "--rtol", "1e-4"]) > 2 * with(&["--rtol", "1e-4"]));
    let said = stdout(&daedal(&["solve", "pendulum", "--tend", "0.1", "--method", "radau", "--formulation", "eom1"]));
    assert!(said.contains("radau, eom1, rtol"), "{said}");
}

#[test]
fn method_and_formulation_are_chosen_with_reasons() {
    let first_lines = |arguments: &[&str]| {
        let output = daedal(&[&["solve"], arguments].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).expect("text");
        text.lines().skip(1).take(2).collect::<Vec<_>>().join("\n")
    };
    for (arguments, told) in [
        (&["pendulum"][..], ["dop853, eom0", "invariants are given"]),
        (&["andrews"], ["dop853, eom0", "not stiff"]),
        (&["andrews", "--rtol", "1e-11"], ["dop853, eom0", "not stiff"]),
        (&["slider-crank-redundant", "--tend", "1"], ["dop853, eom0", "constraints follow from the others"]),
        (&["academic", "--tend", "1"], ["geoms, psf", "contact variables"]),
        (&["andrews", "--method", "auto", "--formulation", "ggl"], ["radau, ggl", "radau takes the formulation ggl"]),
        (&["andrews", "--polish", "off"], ["geoms, psf", "options of geoms are given"]),
        (&["andrews", "--method", "radau", "--formulation", "psf", "--stages", "5"], ["radau, psf", "reached the end"]),
        (&["andrews", "--method", "geoms", "--stages", "auto"], ["geoms, psf", "reached the end"]),
        (
            &["andrews", "--method", "bdf", "--formulation", "baumgarte", "--baumgarte", "50,50,50"],
            ["bdf, baumgarte", "reached the end"],
        ),
    ] {
        let lines = first_lines(arguments);
        assert!(told.iter().all(|told| lines.contains(told)), "{arguments:?}: {lines}");
    }
}

#[test]
fn options_of_formulations_and_stages_are_checked() {
    for (arguments, told) in [
        (&["--method", "radau", "--stages", "4"][..], "stages"),
        (&["--method", "geoms", "--stages", "4"], "stages"),
        (&["--method", "hedop5", "--stages", "5"], "--stages"),
        (&["--method", "radau", "--formulation", "ggl", "--baumgarte", "1,1,1"], "--baumgarte"),
        (&["--method", "radau", "--formulation", "baumgarte", "--baumgarte", "1,1"], "3 numbers"),
        (&["--method", "radau", "--formulation", "baumgarte", "--baumgarte=-1,1,1"], "negative"),
        (&["--method", "alpha", "--rho", "2"], "rho"),
    ] {
        let output = daedal(&[&["solve", "andrews"], arguments].concat());
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(told), "{arguments:?}: {}", stderr(&output));
    }
}

/// Steinbrecher (2002), TU Berlin preprint 742-02, section 6: what formulations make of an inconsistent start with the trapezoidal rule.
#[test]
fn the_circle_experiment_can_be_repeated() {
    let circle = shipped("circle.toml");
    let start = "--set x0=0.0001 --set y0=1.0001 --set vx0=0.999 --set vy0=0.001 --set lambda0=0.0001 --trust-initial \
                 --method trapezoidal --control fixed --h0 0.005 --rtol 1e-8 --max-newton 20";
    let run = |formulation: &str| {
        let arguments: Vec<&str> = start.split_whitespace().collect();
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("circle-{formulation}.json"));
        let written = file.to_str().expect("a name");
        let solve = ["solve", &circle, "--formulation", formulation, "--save", "steps", "-o", written];
        let output = daedal(&[&solve, &arguments[..]].concat());
        let text = fs::read_to_string(&file).unwrap_or_else(|_| panic!("{}", stderr(&output)));
        assert!(
            !stdout(&output).contains("variable steps"),
            "steps of one size are what they should be: {}",
            stdout(&output)
        );
        (code(&output), serde_json::from_str::<Value>(&text).expect("a run"))
    };
    let about = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.01;
    let levels = |formulation: &str| {
        let (code, run) = run(formulation);
        assert_eq!(code, 0, "{formulation}");
        // the largest of all steps
        ["position", "velocity", "acceleration"].map(|level| {
            let list = run["steps"][format!("residual_{level}")].as_array().expect("residuals");
            assert_eq!(list.len(), 1000, "{formulation}");
            list.iter().map(|r| r.as_f64().expect("a residual")).fold(0.0, f64::max)
        })
    };
    // the law: γ₀ + γ₁ t + γ₂ t²/2 and its derivatives
    let [g, g1, g2] = levels("ode");
    assert!(about(g, 0.016213) && about(g1, 0.008767) && about(g2, 0.00220), "{g} {g1} {g2}");
    let [g, g1, g2] = levels("eom0");
    assert!(about(g, 0.011174) && about(g1, 0.0021945) && g2 < 1e-7, "{g} {g1} {g2}");
    // 2γ₁/h + γ₂, with a sign that changes from step to step
    let [g, g1, g2] = levels("eom1");
    assert!(about(g, 2.0575e-4) && g1 < 1e-7 && about(g2, 0.8778), "{g} {g1} {g2}");
    let [g, g1, g2] = levels("psf");
    assert!(g < 1e-8 && g1 < 1e-8 && g2 < 1e-7, "{g} {g1} {g2}");
    // index 3: velocities and multipliers grow until Newton's iteration fails
    let (code, run) = run("eom");
    assert_eq!(code, 1);
    let times = run["steps"]["t"].as_array().expect("times");
    let end = times[times.len() - 1].as_f64().expect("a time");
    assert!((end - 3.5).abs() < 0.2, "{end}");
}

#[test]
fn joints_that_cannot_be_assembled_are_named_with_their_gaps() {
    let bar = |name: &str, from: &str, to: &str| {
        format!("[[bodies]]\nname = \"{name}\"\nbar = {{ from = {from}, to = {to}, width = 0.1 }}\nmass = 1\n")
    };
    let pin = |name: &str, between: &str, at: &str| {
        format!("[[joints]]\nname = \"{name}\"\nkind = \"revolute\"\nbetween = {between}\nat = {at}\n")
    };
    // two bars of one metre from a pin to one that is further away
    let text = [
        "[model]\nname = \"open\"\ntime = [0, 1]\n[world]\nplane = \"xy\"\n".to_string(),
        bar("a", "[0, 0]", "[1, 0]"),
        bar("b", "[1, 0]", "[1, 1]"),
        pin("p", "[\"ground\", \"a\"]", "[0, 0]"),
        pin("q", "[\"a\", \"b\"]", "[1, 0]"),
        pin("r", "[\"b\", \"ground\"]", "[[1, 1], [3, 1]]"),
    ];
    let file = written("open.toml", &text.concat());
    for command in ["solve", "init"] {
        let output = daedal(&[command, file.to_str().unwrap()]);
        let told = stderr(&output);
        assert_ne!(code(&output), 0);
        assert!(told.contains("cannot be assembled") && told.contains("stays open by"), "{told}");
        assert!(["p", "q", "r"].iter().all(|joint| told.contains(&format!("{joint} stays open"))), "{told}");
    }
}
