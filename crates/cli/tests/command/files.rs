//! The files that a run writes.

use crate::support::{code, daedal, directory, json, keys, refused, rows, shipped, stderr, written};
use serde_json::Value;
use std::fs;

#[test]
fn csv_holds_the_names_and_one_row_for_every_point() {
    let path = directory("csv").join("run.csv");
    let file = path.to_str().expect("text");
    assert_eq!(code(&daedal(&["solve", "pendulum", "--save", "11", "-o", file])), 0);
    let text = fs::read_to_string(&path).expect("the file");
    assert_eq!(text.lines().next(), Some("t,x,y,vx,vy,lambda.rod,vx',vy'"));
    let points = rows(&text);
    assert_eq!(points.len(), 11);
    for (k, row) in points.iter().enumerate() {
        assert!((row[0] - 0.5 * k as f64).abs() < 1e-15);
        // between the steps the polynomial holds the constraint up to the tolerance
        assert!((row[1].powi(2) + row[2].powi(2) - 1.0).abs() < 1e-6);
    }
    // a shorter result replaces a longer one completely
    assert_eq!(code(&daedal(&["solve", "pendulum", "--save", "end", "-o", file])), 0);
    let points = rows(&fs::read_to_string(&path).expect("the file"));
    assert_eq!((points.len(), points[0][0]), (1, 5.0));
    // every step and the start, of a method whose steps do not depend on what is kept
    let output = daedal(&["solve", "pendulum", "--method", "hedop5", "--save", "steps", "-o", file, "--stats", "json"]);
    let steps = json(&output)["steps"].as_u64().expect("a counter");
    let at_steps = rows(&fs::read_to_string(&path).expect("the file"));
    assert_eq!(at_steps.len() as u64, steps + 1);
    // with points between them, if nothing is said
    assert_eq!(code(&daedal(&["solve", "pendulum", "--method", "hedop5", "-o", file])), 0);
    let dense = rows(&fs::read_to_string(&path).expect("the file"));
    assert!(dense.len() > at_steps.len() && dense.len() < 10 * at_steps.len(), "{}", dense.len());
    assert!(at_steps.iter().all(|row| dense.contains(row)), "steps are points");
}

#[test]
fn a_curve_is_smooth_however_long_the_steps_are() {
    // a step of order five has no reason to be short on a parabola
    let model = written(
        "parabola.toml",
        "[model]\nname = \"fall\"\ntime = [0, 2]\n[dae]\nstates = [\"y\", \"v\"]\n\
         equations = [\"der(y) = v\", \"der(v) = -9.81\"]\n[initial]\nfix = { y = 20, v = 0 }\n\
         [output]\nenergy = \"v^2/2 + 9.81*y\"\n",
    );
    let path = directory("smooth").join("run.csv");
    let file = path.to_str().expect("text");
    assert_eq!(code(&daedal(&["solve", model.to_str().expect("text"), "-o", file])), 0);
    let points = rows(&fs::read_to_string(&path).expect("the file"));
    for pair in points.windows(2) {
        let middle = 0.5 * (pair[0][0] + pair[1][0]);
        let chord = 0.5 * (pair[0][1] + pair[1][1]);
        assert!((chord - (20.0 - 0.5 * 9.81 * middle * middle)).abs() < 0.03, "{pair:?}");
    }
    assert!(points.iter().all(|row| (row[1] - (20.0 - 0.5 * 9.81 * row[0] * row[0])).abs() < 1e-6));
    assert!(points.iter().all(|row| (row[3] - 9.81 * 20.0).abs() < 1e-6), "outputs as well");
}

#[test]
fn files_are_replaced_whole_and_leave_nothing_beside_them() {
    let place = directory("whole");
    let (path, link) = (place.join("run.csv"), place.join("link.csv"));
    fs::write(&path, "old").expect("a file");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&path, &link).expect("a link");
    #[cfg(not(unix))]
    fs::write(&link, "old").expect("a file");
    assert_eq!(code(&daedal(&["solve", "pendulum", "--save", "3", "-o", link.to_str().expect("text")])), 0);
    assert_eq!(rows(&fs::read_to_string(&link).expect("the file")).len(), 3);
    assert_eq!(fs::read_dir(&place).expect("the directory").count(), 2, "no temporary files");
    #[cfg(unix)]
    assert!(link.is_symlink() && fs::read_to_string(&path).expect("the file").lines().count() == 4);
}

#[test]
fn two_files_are_not_one_under_two_names() {
    let place = directory("same");
    let file = |name: &str| format!("{}/{name}", place.to_str().expect("text"));
    let (plain, dotted) = (file("a.csv"), file("./a.csv"));
    refused(&["solve", "pendulum", "-o", &plain, "-o", &dotted], &["a.csv"]);
    let model = crate::support::shipped("friction-bodies.toml");
    refused(&["solve", &model, "-o", &plain, "--events", &dotted], &["a.csv"]);
    #[cfg(unix)]
    {
        // a link to the file that will be there, and one that leads to it by another one
        let (link, further) = (file("link.csv"), file("further.csv"));
        std::os::unix::fs::symlink("a.csv", &link).expect("a link");
        std::os::unix::fs::symlink("link.csv", &further).expect("a link");
        refused(&["solve", "pendulum", "-o", &plain, "-o", &further], &["further.csv"]);
        assert_eq!(code(&daedal(&["solve", "pendulum", "--save", "3", "-o", &further])), 0);
        let is_link = |path: &String| fs::symlink_metadata(path).expect("the link").is_symlink();
        assert!(is_link(&link) && is_link(&further) && !is_link(&plain));
        assert_eq!(rows(&fs::read_to_string(&plain).expect("the file")).len(), 3);
        // links in a circle lead nowhere
        let circle = file("circle.csv");
        std::os::unix::fs::symlink("circle.csv", &circle).expect("a link");
        assert_ne!(code(&daedal(&["solve", "pendulum", "-o", &circle])), 0);
    }
}

/// Whoever ends a run: what was written down about its last step stands beside the step.
#[cfg(unix)]
#[test]
fn an_interrupted_run_knows_everything_about_its_last_step() {
    use std::process::{Command, Stdio};
    let plain = "[dae]\nstates = [\"x\", \"v\"]\nequations = [\"der(x) = v\", \"der(v) = -x\"]\n";
    let modes = "[modes.a]\n[modes.b]\n[[transitions]]\nfrom = \"a\"\nto = \"b\"\nwhen = \"x > 2\"\n";
    let place = directory("interrupted-rates");
    for (kind, modes, mode) in [("plain", "", ""), ("modes", modes, "mode = \"a\"\n")] {
        let model = written(
            &format!("interrupted-{kind}.toml"),
            &format!(
                "[model]\nname = \"long\"\ntime = [0, 1e7]\n{plain}{modes}[initial]\n{mode}fix = {{ x = 1, v = 0 }}\n\
                 [output]\nrate = \"der(v)\"\n"
            ),
        );
        for save in ["steps", "1000001"] {
            let (path, table) = (place.join("run.json"), place.join("run.csv"));
            let (file, csv) = (path.to_str().expect("text"), table.to_str().expect("text"));
            let run = Command::new(env!("CARGO_BIN_EXE_daedal"))
                .args(["solve", model.to_str().expect("text"), "--max-steps", "1000000000", "--save", save])
                .args(["-o", file, "-o", csv])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the command runs");
            std::thread::sleep(std::time::Duration::from_secs(1));
            let asked = Command::new("kill").args(["-INT", &run.id().to_string()]).status().expect("a signal");
            assert!(asked.success());
            let output = run.wait_with_output().expect("it ends");
            assert_eq!(code(&output), 130, "{}", stderr(&output));
            let run: Value = serde_json::from_str(&fs::read_to_string(&path).expect("the file")).expect("JSON");
            let points = rows(&fs::read_to_string(&table).expect("the file"));
            let last = &points[points.len() - 1];
            assert_eq!(run["t_end"].as_f64(), Some(last[0]), "{kind}, {save}");
            assert!((last[3] + last[1]).abs() < 1e-3, "{kind}, {save}: {last:?}");
            let steps = run["steps"]["t"].as_array().expect("steps");
            assert_eq!(steps[steps.len() - 1], run["t_end"], "{kind}, {save}");
        }
    }
}

/// A run that is asked to stop stops after its step and writes what it has.
#[cfg(unix)]
#[test]
fn an_interrupted_run_writes_everything_that_was_computed() {
    use std::process::{Command, Stdio};
    let place = directory("interrupted");
    let (path, table) = (place.join("run.json"), place.join("run.csv"));
    let (file, csv) = (path.to_str().expect("text"), table.to_str().expect("text"));
    let arguments = ["solve", "pendulum", "--tend", "1e7", "--max-steps", "1000000000", "--save", "steps"];
    let mut run = Command::new(env!("CARGO_BIN_EXE_daedal"))
        .args(arguments)
        .args(["-o", file, "-o", csv])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert!(!path.exists(), "nothing stands where the result will be");
    let asked = Command::new("kill").args(["-TERM", &run.id().to_string()]).status().expect("a signal");
    assert!(asked.success() && run.try_wait().is_ok());
    let output = run.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 143, "{}", stderr(&output));
    assert!(stderr(&output).contains("interrupted by a request to terminate at t = "), "{}", stderr(&output));
    let run: Value = serde_json::from_str(&fs::read_to_string(&path).expect("the file")).expect("JSON");
    assert_eq!(run["ended"], "observer");
    let (times, points) =
        (run["times"].as_array().expect("times"), rows(&fs::read_to_string(&table).expect("the file")));
    assert!(times.len() > 10 && times.len() == points.len(), "{}", times.len());
    assert_eq!(times[times.len() - 1], run["t_end"]);
}

#[test]
fn json_holds_the_whole_run_in_full_precision() {
    let path = directory("json").join("run.json");
    let output =
        daedal(&["solve", "pendulum", "--set", "g=9.81", "-o", path.to_str().expect("text"), "--stats", "json"]);
    assert_eq!(code(&output), 0);
    let run: Value = serde_json::from_str(&fs::read_to_string(&path).expect("the file")).expect("JSON");
    let known = [
        "format",
        "version",
        "model",
        "description",
        "source",
        "parameters",
        "formulation",
        "method",
        "rtol",
        "atol",
        "atol_of",
        "t0",
        "tend",
        "ended",
        "message",
        "decisions",
        "warnings",
        "undetermined",
        "statistics",
        "names",
        "kinds",
        "units",
        "t_end",
        "final",
        "events",
        "times",
        "states",
        "steps",
    ];
    assert_eq!(keys(&run), known);
    assert_eq!((&run["format"], &run["version"]), (&Value::from("daedal run"), &Value::from(1)));
    assert_eq!(run["parameters"]["g"], 9.81);
    assert_eq!(run["ended"], "end");
    assert_eq!(run["kinds"][0], "position");
    assert_eq!(run["final"][0], json(&output)["final"]["x"]);
    let (times, states) = (run["times"].as_array().expect("times"), run["states"].as_array().expect("states"));
    assert_eq!(times.len(), states.len());
    assert_eq!(states[times.len() - 1][0], json(&output)["final"]["x"]);
}

#[test]
fn steps_are_recorded_with_their_sizes_and_residuals() {
    let path = directory("steps").join("run.json");
    let file = path.to_str().expect("text");
    assert_eq!(code(&daedal(&["solve", "pendulum", "--formulation", "psf+i", "--save", "11", "-o", file])), 0);
    let run: Value = serde_json::from_str(&fs::read_to_string(&path).expect("the file")).expect("JSON");
    let list = |key: &str| {
        let values = run["steps"][key].as_array().expect("a list");
        values.iter().map(|x| x.as_f64().expect("a number")).collect::<Vec<f64>>()
    };
    let (t, h) = (list("t"), list("h"));
    assert_eq!(t.len() as u64, run["statistics"]["steps"].as_u64().expect("a counter"));
    assert_eq!(run["times"].as_array().expect("times").len(), 11);
    assert_eq!((t[0], t[t.len() - 1]), (h[0], 5.0));
    assert!(t.windows(2).zip(&h[1..]).all(|(t, h)| t[1] - t[0] == *h));
    assert!(list("order").iter().all(|order| *order == 5.0));
    for level in ["position", "velocity", "acceleration", "invariant"] {
        let largest = list(&format!("residual_{level}")).into_iter().fold(0.0, f64::max);
        let told = run["statistics"]["max_residual"][level].as_f64().expect("a number");
        // the start counts as well
        assert!(largest <= told && largest > 0.0, "{level}: {largest} and {told}");
    }
    assert_eq!(list("newton").iter().sum::<f64>(), run["statistics"]["solves"].as_f64().expect("a counter"));
    // only the end: no steps either
    assert_eq!(code(&daedal(&["solve", "pendulum", "--save", "end", "-o", file])), 0);
    let run: Value = serde_json::from_str(&fs::read_to_string(&path).expect("the file")).expect("JSON");
    assert!(run.get("steps").is_none());
}

#[test]
fn the_same_run_gives_the_same_files_and_the_same_page() {
    let place = directory("files");
    let file = |name: &str| place.join(name).to_str().expect("text").to_string();
    for k in ["1", "2"] {
        let mut arguments: Vec<String> = ["solve", "skateboard-1", "--tend", "0.5"].map(String::from).into();
        for ending in ["csv", "json", "npz", "html"] {
            arguments.extend(["-o".to_string(), file(&format!("{k}.{ending}"))]);
        }
        let output = daedal(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    }
    let read = |name: &str| fs::read(place.join(name)).expect("the file");
    for ending in ["csv", "json", "npz"] {
        assert_eq!(read(&format!("1.{ending}")), read(&format!("2.{ending}")), "{ending}");
    }
    // from either file the page is the same
    for ending in ["json", "npz"] {
        let page = file(&format!("{ending}.html"));
        let output = daedal(&["report", &file(&format!("1.{ending}")), "-o", &page]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    }
    assert_eq!(read("json.html"), read("npz.html"));
    let page = String::from_utf8(read("json.html")).expect("text");
    for part in ["<h1>skateboard-1</h1>", "Reached the end", "Residuals of the constraints", "Final values"] {
        assert!(page.contains(part), "{part} is missing");
    }
    // what the run itself adds is the time that it took
    assert!(String::from_utf8(read("1.html")).expect("text").contains("computing time"));
}

#[test]
fn outputs_of_a_model_file_are_columns_and_belong_to_the_last_point() {
    let path = directory("outputs").join("run.json");
    let file = path.to_str().expect("text");
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/pendulum.toml");
    let output = daedal(&["solve", model, "--save", "11", "-o", file]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let run: Value = serde_json::from_str(&fs::read_to_string(&path).expect("the file")).expect("JSON");
    let place = run["names"].as_array().expect("names").iter().position(|name| name == "angle").expect("the output");
    assert_eq!(run["kinds"][place], "output");
    let value = |j: usize| run["final"][j].as_f64().expect("a number");
    assert_eq!(value(place), value(0).atan2(-value(1)));
    assert_eq!(run["final"], run["states"][10]);
}

#[test]
fn unwritable_output_is_found_before_the_run() {
    let place = directory("unwritable");
    let (good, bad) = (place.join("good.csv"), place.join("missing").join("run.csv"));
    let arguments = ["solve", "pendulum", "-o", good.to_str().expect("text"), "-o", bad.to_str().expect("text")];
    refused(&arguments, &["cannot open", "missing", "  because: "]);
    assert!(!good.exists(), "no empty file is left behind");
    let folder = place.join("folder.csv");
    fs::create_dir(&folder).expect("a directory");
    refused(&["solve", "pendulum", "-o", folder.to_str().expect("text")], &["cannot open"]);
}

#[test]
fn an_existing_file_survives_a_mistake_in_the_options() {
    let path = directory("survives").join("run.csv");
    fs::write(&path, "precious").expect("a file");
    refused(&["solve", "pendulum", "-o", path.to_str().expect("text"), "--safety", "2"], &["safety = 2"]);
    assert_eq!(fs::read_to_string(&path).expect("the file"), "precious");
}

#[test]
fn pictures_for_papers_are_stills_or_curves_and_refused_where_there_is_nothing_to_draw() {
    let path = directory("stills").join("run.svg");
    let file = path.to_str().expect("text");
    // six stills of a model with a picture, one of its end alone
    assert_eq!(code(&daedal(&["solve", &shipped("pendulum.toml"), "-o", file])), 0);
    let stills = fs::read_to_string(&path).expect("the file");
    assert!(stills.matches(">t = ").count() == 6 && stills.contains(">t = 5<"), "{stills}");
    assert_eq!(code(&daedal(&["solve", &shipped("pendulum.toml"), "--save", "end", "-o", file])), 0);
    assert_eq!(fs::read_to_string(&path).expect("the file").matches(">t = ").count(), 1);
    // curves of a model without one
    assert_eq!(code(&daedal(&["solve", "pendulum", "-o", file])), 0);
    let curves = fs::read_to_string(&path).expect("the file");
    assert!(curves.contains(">x</text>") && !curves.contains(">t = "), "{curves}");
    let output = daedal(&["solve", "pendulum", "--save", "end", "-o", file]);
    assert!(code(&output) != 0 && stderr(&output).contains("nothing to draw"), "{}", stderr(&output));
    refused(&["solve", "pendulum", "-o", "run.gif"], &["gif", "svg for stills", "html for the moving picture"]);
}

#[test]
fn a_picture_is_part_of_run_files_and_of_pages_made_from_them() {
    let place = directory("scene");
    let (run, page) = (place.join("run.npz"), place.join("run.html"));
    let (run, page) = (run.to_str().expect("text"), page.to_str().expect("text"));
    let object = place.join("run.json");
    let arguments = ["solve", &shipped("heavy-top-free.toml"), "-o", run, "-o", object.to_str().expect("text")];
    assert_eq!(code(&daedal(&arguments)), 0);
    let scene = &serde_json::from_str::<Value>(&fs::read_to_string(&object).expect("the file")).expect("json")["scene"];
    // three seconds at a fifth of the speed
    assert_eq!((scene["dimension"].as_u64(), scene["frames"]["t"].as_array().map(Vec::len)), (Some(3), Some(901)));
    assert_eq!(code(&daedal(&["report", run, "-o", page])), 0);
    let page = fs::read_to_string(page).expect("the page");
    assert!(page.contains("id=\"mechanism\"") && page.contains("id=\"scene\"") && page.contains("WebGLRenderer:"));
}

#[test]
fn unknown_endings_and_double_files_are_refused() {
    refused(&["solve", "pendulum", "-o", "run.txt"], &["txt", "csv, json, npz, html"]);
    refused(&["solve", "pendulum", "-o", "run"], &["no ending"]);
    refused(&["solve", "pendulum", "-o", "run.csv", "-o", "run.csv"], &["twice"]);
}
