//! `daedal solve` for models with modes.

use crate::solve::STATISTICS;
use crate::support::{code, daedal, directory, fails, json, keys, rows, shipped, statistics, stderr, words, written};
use serde_json::Value;
use std::fs;

fn value(object: &Value, name: &str) -> f64 {
    object["final"][name].as_f64().unwrap_or_else(|| panic!("{name} in {object}"))
}

/// T2: the pendulum whose rope is cut.
#[test]
fn the_rope_is_cut_and_has_no_force_behind() {
    let object = statistics(&[&shipped("rope-cut.toml"), "--rtol", "1e-9"]);
    let expected: Vec<&str> = STATISTICS.into_iter().chain(["switches", "modes", "end_mode"]).collect();
    assert_eq!(keys(&object), expected);
    assert_eq!(
        (&object["ended"], &object["method"], &object["formulation"]),
        (&"end".into(), &"geoms".into(), &"psf".into())
    );
    assert_eq!((&object["switches"], &object["end_mode"]), (&1.into(), &"free".into()));
    assert!(
        (value(&object, "x") + 0.216621234).abs() < 1e-8 && (value(&object, "y") + 4.517716165).abs() < 1e-8,
        "{object}"
    );
    assert!(object["final"]["lambda.rope"].is_null(), "the last mode has no rope: {object}");
    let time = object["modes"][0]["time"].as_f64().unwrap();
    assert!((time - 0.331797929).abs() < 1e-8, "{object}");
    // counters of GEOMS are there, those of all modes together
    assert!(object["masses"].as_u64().is_some());
    let steps: u64 = object["modes"].as_array().unwrap().iter().map(|mode| mode["steps"].as_u64().unwrap()).sum();
    assert_eq!(object["steps"], steps);
}

#[test]
fn mechanisms_in_modes_take_every_method_that_solves_them() {
    let model = shipped("rope-cut.toml");
    for (method, formulation) in
        [("hedop5", "eom1"), ("mexx", "eom1"), ("radau", "ggl"), ("bdf", "over"), ("tangent", "eom0")]
    {
        let object = statistics(&[&model, "--rtol", "1e-9", "--method", method, "--formulation", formulation]);
        assert_eq!((&object["method"], &object["formulation"]), (&method.into(), &formulation.into()));
        assert_eq!((&object["switches"], &object["end_mode"]), (&1.into(), &"free".into()), "{method}");
        let error = (value(&object, "x") + 0.216621234).abs().max((value(&object, "y") + 4.517716165).abs());
        assert!(error < 1e-7, "{method}: {error:e}");
    }
    // each method takes some formulations only
    fails(&["solve", &model, "--method", "hedop5", "--formulation", "ggl"], 2, &["hedop5", "ggl", "eom1"]);
    // general systems are solved by two
    fails(&["solve", &shipped("thermostat.toml"), "--method", "hedop5"], 2, &["equations of motion", "radau"]);
}

#[test]
fn the_summary_tells_modes_switches_and_values() {
    let text = words(&["solve", &shipped("friction-bodies.toml")]);
    for part in [
        "radau, auto, rtol 1e-8",
        "reached the end t = 10.0",
        "modes entered time part steps forward 3",
        "7 switches",
        "0.9272952180 forward|backward (sliding) → forward alpha >= 1 (sliding ends)",
        "final values, in mode forward|backward (sliding)",
        "final outputs relative",
    ] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    let text = words(&["solve", &shipped("rope-cut.toml")]);
    assert!(text.contains("1 switch 0.33179793") && text.contains("lambda.rope not in this mode vx' 0.0"), "{text}");
}

#[test]
fn long_tables_show_their_ends_and_chattering_is_told() {
    let text = words(&["solve", &shipped("mass-on-belt.toml"), "--sliding", "off", "--tend", "0.28"]);
    assert!(text.contains(" … ") && text.contains(" more 0.279"), "{text}");
    assert_eq!(text.matches(" → ").count(), 20, "{text}");
    let text = words(&["solve", &shipped("mass-on-belt.toml"), "--sliding", "three-points", "--tend", "0.28"]);
    assert!(text.contains("4 switches, 1 of them chattering"), "{text}");
}

#[test]
fn sliding_is_noticed_as_asked_for() {
    let file = shipped("mass-on-belt.toml");
    let switches = |how: &str| statistics(&[&file, "--sliding", how, "--tend", "0.28"])["switches"].as_u64().unwrap();
    // one at the start, and the begin of sliding
    assert_eq!((switches("auto"), switches("condition")), (2, 2));
    let (three, off) = (switches("three-points"), switches("off"));
    assert!(three > 2 && three < 6 && off > 100, "{three} and {off}");
}

#[test]
fn methods_and_forms_apply_to_the_modes_they_fit() {
    let file = shipped("mass-on-belt.toml");
    let object = statistics(&[&file, "--method", "bdf", "--formulation", "array"]);
    assert_eq!((&object["method"], &object["formulation"]), (&"bdf".into(), &"array".into()));
    assert!((value(&object, "x") + 0.116404).abs() < 1e-5, "{object}");
    let object = statistics(&[&shipped("rope-cut.toml"), "--formulation", "p1"]);
    assert_eq!((&object["formulation"], &object["end_mode"]), (&"p1".into(), &"free".into()));
    let orders = |method: &str| {
        let path = directory("hybrid-orders").join(format!("{method}.json"));
        words(&["solve", &file, "--method", method, "-o", path.to_str().unwrap()]);
        let run: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        run["steps"]["order"].as_array().unwrap().iter().map(|k| k.as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert!(orders("radau").iter().all(|&order| order == 5));
    assert!(orders("bdf").iter().any(|&order| order < 3), "restarts begin with order one");
}

#[test]
fn too_many_switches_stop_the_run_and_keep_what_was_computed() {
    let path = directory("hybrid-stop").join("run.csv");
    let file = path.to_str().unwrap();
    let model = shipped("friction-bodies.toml");
    let output = daedal(&["solve", &model, "--sliding", "off", "--max-switches", "20", "-o", file, "--stats", "json"]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let object = json(&output);
    assert_eq!((&object["ended"], &object["switches"]), (&"failure".into(), &20.into()));
    let points = rows(&fs::read_to_string(&path).unwrap());
    assert_eq!(object["t_end"], points[points.len() - 1][0]);
    fails(&["solve", &model, "--sliding", "off", "--max-switches", "20"], 1, &["max_switches", "chattering between"]);
}

#[test]
fn an_accumulation_needs_a_mode_that_follows() {
    let path = directory("hybrid-accumulation").join("run.json");
    let arguments = ["solve", &shipped("bouncing-ball.toml"), "-o", path.to_str().unwrap()];
    fails(&arguments, 1, &["switches accumulate", "after_accumulation"]);
    let run: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(run["ended"], "failure");
    assert!(run["hybrid"]["switches"].as_array().unwrap().len() > 10 && run["times"].as_array().unwrap().len() > 20);
    let object = statistics(&[&shipped("bouncing-ball-rest.toml")]);
    assert_eq!((&object["ended"], &object["end_mode"]), (&"end".into(), &"rest".into()));
}

#[test]
fn outputs_that_differ_between_modes_have_no_value_while_they_slide() {
    let model = r#"
        [model]
        name = "relay"
        time = [0, 2]
        [dae]
        states = ["x"]
        equations = ["der(x) = u"]
        [modes]
        above = { parameters = { u = -1 } }
        below = { parameters = { u = 1 } }
        [[transitions]]
        from = "above"
        to = "below"
        when = "x < 0"
        [[transitions]]
        from = "below"
        to = "above"
        when = "x > 0"
        [initial]
        mode = "below"
        fix = { x = -1 }
        [output]
        shifted = "x + 1"
        push = "u"
    "#;
    let file = written("relay-outputs.toml", model);
    let object = statistics(&[file.to_str().unwrap()]);
    assert!(object["end_mode"].as_str().unwrap().contains("(sliding)"), "{object}");
    assert!((value(&object, "shifted") - 1.0).abs() < 1e-9, "{object}");
    assert!(object["final"]["push"].is_null(), "{object}");
}

#[test]
fn impulses_are_told() {
    let text = words(&["solve", &shipped("dog-clutch.toml")]);
    assert!(text.contains("jump of w1, w2, impulse mu.clutch = 21.869009"), "{text}");
}

#[test]
fn restarts_that_are_no_physics_tell_what_they_changed() {
    let text = fs::read_to_string(shipped("dog-clutch.toml")).unwrap();
    let file = written("clutch-least-change.toml", &text.replace("\"momentum\"", "\"least-change\""));
    let path = directory("hybrid-restart").join("run.json");
    let told = words(&["solve", file.to_str().unwrap(), "-o", path.to_str().unwrap()]);
    assert!(told.contains("least-change moved velocities by 6.834e1"), "{told}");
    assert!(told.contains(", momentum by ") && told.contains(", energy by "), "{told}");
    let run: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let restart = &run["hybrid"]["switches"][0]["restart"];
    assert_eq!((&restart["way"], &restart["moved"][0][0]), (&"least-change".into(), &"velocities".into()));
    assert!(restart["momentum"].as_f64().unwrap() > 1.0 && restart["energy"].as_f64().is_some(), "{restart}");
    // the law of physics is the default, and keeps the momentum
    let file = written("clutch-default.toml", &text.replace("restart = \"momentum\"", ""));
    words(&["solve", file.to_str().unwrap(), "-o", path.to_str().unwrap()]);
    let run: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let restart = &run["hybrid"]["switches"][0]["restart"];
    assert_eq!(restart["way"], "impulse");
    assert!(restart["momentum"].as_f64().unwrap() < 1e-9 && restart["energy"].as_f64().unwrap() < -1.0, "{restart}");
}

#[test]
fn without_files_only_the_ends_of_long_runs_are_kept() {
    let model = shipped("friction-bodies.toml");
    let object = statistics(&[&model, "--sliding", "off"]);
    let path = directory("hybrid-long").join("run.json");
    let kept = statistics(&[&model, "--sliding", "off", "-o", path.to_str().unwrap()]);
    assert_eq!(object["switches"], kept["switches"]);
    assert_eq!((&object["modes"], &object["final"]), (&kept["modes"], &kept["final"]));
    let text = words(&["solve", &model, "--sliding", "off"]);
    assert!(text.contains("395 switches") && text.contains("… 375 more"), "{text}");
}

const SWITCHED: &str = r#"
[model]
name = "switched"
time = [0, 2]
[dae]
states = ["x"]
[modes.grow]
dae.equations = ["der(x) = 1"]
[modes.follow]
dae.states = ["y"]
dae.equations = ["der(x) = -1", "y = x^2"]
[[transitions]]
from = "grow"
to = "follow"
when = "x >= 1"
set = { x = "x + 1" }
[initial]
mode = "grow"
fix = { x = 0 }
[output]
twice = "2*x"
slope = "der(x)"
square = "y + 1"
"#;

#[test]
fn rows_at_a_switch_show_the_jump_and_outputs_wait_for_their_names() {
    let model = written("switched.toml", SWITCHED);
    let path = directory("hybrid-switched").join("run.csv");
    let (model, file) = (model.to_str().unwrap(), path.to_str().unwrap());
    words(&["solve", model, "-o", file]);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().next(), Some("t,x,y,twice,slope,square,mode"));
    let points = rows(&text);
    let at = points.windows(2).position(|pair| pair[0][0] == pair[1][0]).expect("two rows with one time");
    let close = |row: &[f64], expected: [f64; 7]| {
        row.iter().zip(expected).all(|(x, e)| (x - e).abs() < 1e-6 || (x.is_nan() && e.is_nan()))
    };
    let nan = f64::NAN;
    assert!(close(&points[at], [1.0, 1.0, nan, 2.0, 1.0, nan, 0.0]), "{:?}", points[at]);
    assert!(close(&points[at + 1], [1.0, 2.0, 4.0, 4.0, -1.0, 5.0, 1.0]), "{:?}", points[at + 1]);
    assert!(close(&points[points.len() - 1], [2.0, 1.0, 1.0, 2.0, -1.0, 2.0, 1.0]), "{points:?}");
    // the points that were asked for and both sides of the switch, derivatives as well
    words(&["solve", model, "--save", "4", "-o", file]);
    let points = rows(&fs::read_to_string(&path).unwrap());
    let times = [0.0, 2.0 / 3.0, 1.0, 1.0, 4.0 / 3.0, 2.0];
    assert!(points.len() == 6 && points.iter().zip(times).all(|(row, t)| (row[0] - t).abs() < 1e-9), "{points:?}");
    words(&["solve", model, "--save", "5", "-o", file]);
    let mut points = rows(&fs::read_to_string(&path).unwrap());
    // the switch may come a unit of the last place after the point that was asked for
    points.dedup_by(|b, a| (b[0] - a[0]).abs() < 1e-12 && b[6] == a[6]);
    let times = [0.0, 0.5, 1.0, 1.0, 1.5, 2.0];
    assert!(points.len() == 6 && points.iter().zip(times).all(|(row, t)| (row[0] - t).abs() < 1e-12), "{points:?}");
    assert!(
        close(&points[1], [0.5, 0.5, nan, 1.0, 1.0, nan, 0.0])
            && close(&points[2], [1.0, 1.0, nan, 2.0, 1.0, nan, 0.0])
            && close(&points[3], [1.0, 2.0, 4.0, 4.0, -1.0, 5.0, 1.0])
            && close(&points[4], [1.5, 1.5, 2.25, 3.0, -1.0, 3.25, 1.0]),
        "{points:?}"
    );
    words(&["solve", model, "--save", "end", "-o", file]);
    let points = rows(&fs::read_to_string(&path).unwrap());
    assert!(points.len() == 1 && close(&points[0], [2.0, 1.0, 1.0, 2.0, -1.0, 2.0, 1.0]), "{points:?}");
}

#[test]
fn what_a_mode_does_not_have_is_an_empty_cell() {
    let back = SWITCHED
        .replace("[initial]", "[[transitions]]\nfrom = \"follow\"\nto = \"grow\"\nwhen = \"x <= 1.5\"\n[initial]");
    let back = back.replace("when = \"x >= 1\"", "when = \"x >= 1 and t < 1.2\"");
    let model = written("switched-back.toml", &back);
    for save in ["dense", "steps", "7", "end"] {
        let path = directory("hybrid-held").join("run.csv");
        words(&["solve", model.to_str().unwrap(), "--save", save, "-o", path.to_str().unwrap()]);
        let text = fs::read_to_string(&path).unwrap();
        let points = rows(&text);
        let [t, x, y, _, slope, square, mode] = points[points.len() - 1][..] else { panic!("{points:?}") };
        assert_eq!((t, mode), (2.0, 0.0));
        assert!((x - 2.0).abs() < 1e-6 && y.is_nan() && (slope - 1.0).abs() < 1e-6, "{save}: {points:?}");
        assert!(square.is_nan() && !text.contains("NaN"), "{save}: {points:?}");
        assert!(points.iter().all(|row| row[2].is_nan() == (row[6] == 0.0)), "{save}: {points:?}");
    }
}

/// The last step belongs to the mode that was left: what it says of derivatives is nothing about the mode entered.
#[test]
fn a_run_that_ends_with_a_switch_has_no_derivatives_of_the_mode_it_left() {
    let head = "[model]\nname = \"end\"\ntime = [0, 2]\n";
    let same = "[dae]\nstates = [\"x\"]\n[modes.a]\ndae.equations = [\"der(x) = 1\"]\n[modes.b]\n\
                dae.equations = [\"der(x) = 5\"]\n[[transitions]]\nfrom = \"a\"\nto = \"b\"\nat = [1.0]\n\
                [initial]\nmode = \"a\"\nfix = { x = 0 }\n[output]\nrate = \"der(x)\"\n";
    let more = "[modes.a]\ndae = { states = [\"x\"], equations = [\"der(x) = 1\"] }\n[modes.b]\n\
                dae = { states = [\"x\", \"y\"], equations = [\"der(x) = 5\", \"der(y) = 7\"] }\n\
                [[transitions]]\nfrom = \"a\"\nto = \"b\"\nat = [1.0]\nset = { y = 0 }\n\
                [initial]\nmode = \"a\"\nfix = { x = 0 }\n[output]\nrate = \"der(y)\"\n";
    for (name, text) in [("end-same.toml", same), ("end-more.toml", more)] {
        let model = written(name, &format!("{head}{text}"));
        let model = model.to_str().unwrap();
        let run = statistics(&[model, "--tend", "1"]);
        assert_eq!((&run["end_mode"], &run["final"]["rate"]), (&"b".into(), &Value::Null), "{run}");
        // one step further the derivative is that of the mode
        let run = statistics(&[model, "--tend", "1.5"]);
        let rate = run["final"]["rate"].as_f64().unwrap();
        assert!((rate - if name == "end-same.toml" { 5.0 } else { 7.0 }).abs() < 1e-9, "{run}");
    }
}

#[test]
fn a_jump_in_time_inside_of_a_mode_has_two_rows() {
    let model = written(
        "jump-in-mode.toml",
        "[model]\nname = \"jump\"\ntime = [0, 2]\n[dae]\nstates = [\"x\", \"y\"]\n\
         equations = [\"der(x) = y\", \"y = if(t > 1, 10, 0)\"]\n[modes.a]\n[modes.b]\n[[transitions]]\n\
         from = \"a\"\nto = \"b\"\nwhen = \"x > 5\"\n[initial]\nmode = \"a\"\nfix = { x = 0 }\n\
         [output]\nrate = \"der(x)\"\n",
    );
    for save in ["dense", "steps"] {
        let path = directory("hybrid-jump").join("run.csv");
        words(&["solve", model.to_str().unwrap(), "--save", save, "-o", path.to_str().unwrap()]);
        let points = rows(&fs::read_to_string(&path).unwrap());
        for row in &points {
            let jumped = if row[0] > 1.0 { 10.0 } else { 0.0 };
            assert!((row[2] - jumped).abs() < 1e-9 && (row[3] - jumped).abs() < 1e-6, "{save}: {row:?}");
        }
        assert_eq!(points.iter().filter(|row| (row[0] - 1.0).abs() < 1e-9).count(), 2, "{save}: {points:?}");
    }
}

#[test]
fn times_of_switches_are_found_as_exactly_as_asked() {
    let thermostat = shipped("thermostat.toml");
    let final_of = |file: &str, options: &[&str]| {
        let object = statistics(&[&[file, "--tend", "5000", "--rtol", "1e-10"], options].concat());
        object["final"]["T"].as_f64().expect("a temperature")
    };
    let (exact, rough) = (final_of(&thermostat, &[]), final_of(&thermostat, &["--time-tolerance", "1"]));
    // a switch is off by less than a second, in which the room changes by 0.012 K at most
    let off = (rough - exact).abs();
    assert!(off > 1e-7 && off < 0.1, "{off:e}");
    // the file can say it as well
    let with = |key: &str| fs::read_to_string(&thermostat).expect("the model") + "\n[solve]\n" + key + "\n";
    let file = written("rough-thermostat.toml", &with("time_tolerance = 1"));
    let file = file.to_str().expect("a name");
    assert_eq!(final_of(file, &[]), rough);
    assert_ne!(final_of(file, &["--time-tolerance", "1e-9"]), rough);
    let file = written("wrong-thermostat.toml", &with("time_tolerance = 0"));
    fails(&["solve", file.to_str().expect("a name")], 2, &["time_tolerance"]);
    fails(&["solve", "pendulum", "--time-tolerance", "1e-3"], 2, &["has no modes", "time-tolerance"]);
}

/// The impulses that belong to the jumps of the boost converter: −0.1018155 δ in iS and iD where the switch closes first, ±2.88 δ in vS
/// and vD wherever it opens later.
#[test]
fn impulses_of_linear_modes_are_told() {
    let place = directory("linear-impulses");
    let (run, csv) = (place.join("run.json"), place.join("switches.csv"));
    let [run, csv] = [&run, &csv].map(|path| path.to_str().unwrap());
    let text = words(&["solve", &shipped("boost-converter.toml"), "-o", run, "--events", csv]);
    assert!(text.contains("5 jumps, impulse iS = -0.101816, impulse iD = -0.101816"), "{text}");
    let object: Value = serde_json::from_str(&fs::read_to_string(run).unwrap()).unwrap();
    let switches = object["hybrid"]["switches"].as_array().unwrap();
    let impulses = |k: usize| -> Vec<(String, f64)> {
        let all = switches[k]["impulses"].as_array().cloned().unwrap_or_default();
        all.iter().map(|pair| (pair[0].as_str().unwrap().to_string(), pair[1].as_f64().unwrap())).collect()
    };
    let expect = |k: usize, wanted: [(&str, f64); 2]| {
        let found = impulses(k);
        assert_eq!(found.len(), 2, "{k}: {found:?}");
        for ((name, value), (wanted_name, wanted)) in found.iter().zip(wanted) {
            assert!(name == wanted_name && (value - wanted).abs() < 2e-7, "{k}: {found:?}");
        }
    };
    expect(0, [("iS", -0.1018155), ("iD", -0.1018155)]);
    assert!(impulses(1).is_empty() && impulses(3).is_empty());
    for k in [4, 6, 8, 10, 12] {
        expect(k, [("vS", 2.88), ("vD", -2.88)]);
    }
    assert!(fs::read_to_string(csv).unwrap().contains("vS:2.8"));
}

/// x' = v, v' = f, held at x = 0 from x⁻ = 1.5, v⁻ = 0.5: v = −1.5 δ, f = −0.5 δ − 1.5 δ'.
#[test]
fn derivatives_of_impulses_are_told() {
    let text = r#"
        [model]
        name = "held"
        time = [0, 2]
        [modes.free.dae]
        states = ["x", "v", "f"]
        equations = ["der(x) = v", "der(v) = f", "f = 0"]
        [modes.held.dae]
        states = ["x", "v", "f"]
        equations = ["der(x) = v", "der(v) = f", "x = 0"]
        [[transitions]]
        from = "free"
        to = "held"
        when = "t > 1"
        [initial]
        mode = "free"
        fix = { x = 1, v = 0.5 }
    "#;
    let file = written("held.toml", text);
    let run = directory("held").join("run.json");
    let text = words(&["solve", file.to_str().unwrap(), "-o", run.to_str().unwrap()]);
    assert!(text.contains("impulse v = -1.500000, impulse f = -0.500000, 1 more impulses"), "{text}");
    let object: Value = serde_json::from_str(&fs::read_to_string(run).unwrap()).unwrap();
    let higher = &object["hybrid"]["switches"][0]["higher_impulses"];
    let factor = higher[0][0][1].as_f64().unwrap_or_else(|| panic!("{higher}"));
    assert!(higher[0][0][0] == "f" && (factor + 1.5).abs() < 1e-6, "{higher}");
    assert_eq!((higher.as_array().unwrap().len(), higher[0].as_array().unwrap().len()), (1, 1));
}

/// A state that is moved by another way than the equations ask for has no impulses.
#[test]
fn restarts_that_are_no_law_of_physics_have_no_impulses() {
    let text = fs::read_to_string(shipped("boost-converter.toml")).unwrap();
    assert!(text.contains("[[transitions]]"));
    let other = text.replace("[[transitions]]", "[[transitions]]\nrestart = \"least-change\"");
    let file = written("boost-least-change.toml", &other);
    let text = words(&["solve", file.to_str().unwrap()]);
    assert!(text.contains("least-change moved") && !text.contains("impulse"), "{text}");
}
