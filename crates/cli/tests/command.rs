//! The real command: what it prints, what it writes, and with which code it exits.

use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn daedal(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_daedal")).args(arguments).output().expect("the command runs")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("no signal")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("one JSON value on standard output")
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// The command refuses: code 2, nothing on standard output, one error that says all of this.
fn refused(arguments: &[&str], said: &[&str]) {
    let output = daedal(arguments);
    let message = stderr(&output);
    assert_eq!(code(&output), 2, "{arguments:?}: {message}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", stdout(&output));
    assert_eq!(message.matches("error:").count(), 1, "{arguments:?}: {message}");
    for part in said {
        assert!(message.contains(part), "{arguments:?} should say {part:?}: {message}");
    }
}

/// An empty directory of this test.
fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory for the test");
    path
}

fn rows(csv: &str) -> Vec<Vec<f64>> {
    let row = |line: &str| line.split(',').map(|x| x.parse().expect("a number")).collect();
    csv.lines().skip(1).map(row).collect()
}

const STATISTICS: [&str; 20] = [
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
];

#[test]
fn problems_are_listed_with_their_descriptions() {
    let output = daedal(&["list"]);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    assert!(text.lines().any(|line| line.starts_with("truck ") && line.contains("truck of five bodies")), "{text}");
    let columns: Vec<_> = text.lines().map(|line| line.find("  ")).collect();
    assert!(columns.iter().all(Option::is_some), "{text}");
}

#[test]
fn a_problem_is_told_with_parameters_variables_and_constraints() {
    let text = stdout(&daedal(&["list", "pendulum"]));
    for part in ["g = 13.75", "x, y", "vx, vy", "rod", "energy", "0.0 to 5.0", "Steinbrecher"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    let verbose = stdout(&daedal(&["list", "--verbose"]));
    assert!(verbose.contains(&text));
    let object = json(&daedal(&["list", "pendulum", "--format", "json"]));
    assert_eq!(object["parameters"]["g"], 13.75);
    assert_eq!(object["variables"]["positions"], serde_json::json!(["x", "y"]));
    let all = json(&daedal(&["list", "--format", "json"]));
    assert!(all.as_array().expect("an array").contains(&object));
}

#[test]
fn statistics_have_exactly_the_agreed_keys_in_order() {
    let output = daedal(&["solve", "pendulum", "--rtol", "1e-9", "--stats", "json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(output.stderr.is_empty(), "nothing is shown when piped");
    let object = json(&output);
    assert_eq!(keys(&object), STATISTICS);
    assert_eq!(keys(&object["max_residual"]), ["position", "velocity", "acceleration", "invariant"]);
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
fn the_summary_tells_the_end_the_residuals_and_the_error() {
    let output = daedal(&["solve", "pendulum"]);
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
    let redundant = stdout(&daedal(&["solve", "slider-crank-redundant", "--tend", "0.5"]));
    assert!(redundant.contains("undetermined combinations"), "{redundant}");
}

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
    // every step and the start, if nothing is said
    let output = daedal(&["solve", "pendulum", "-o", file, "--stats", "json"]);
    let steps = json(&output)["steps"].as_u64().expect("a counter");
    assert_eq!(rows(&fs::read_to_string(&path).expect("the file")).len() as u64, steps + 1);
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
        "t0",
        "tend",
        "ended",
        "message",
        "decisions",
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
fn a_numerical_stop_exits_with_one_and_keeps_what_was_computed() {
    let path = directory("stop").join("run.csv");
    let file = path.to_str().expect("text");
    let output = daedal(&["solve", "slider-crank-equal-arms", "--tend", "2", "-o", file, "--stats", "json"]);
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
fn unknown_endings_and_double_files_are_refused() {
    refused(&["solve", "pendulum", "-o", "run.txt"], &["txt", "csv, json, npz, html"]);
    refused(&["solve", "pendulum", "-o", "run"], &["no ending"]);
    refused(&["solve", "pendulum", "-o", "run.csv", "-o", "run.csv"], &["twice"]);
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
fn a_table_gives_a_page_that_says_what_is_missing() {
    let place = directory("table");
    let file = place.join("own.csv");
    fs::write(&file, "t,x\n0,1\n1,NaN\n2,3\n").expect("a file");
    // without a name the page stands beside the run
    let output = daedal(&["report", file.to_str().expect("text")]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let page = fs::read_to_string(place.join("own.html")).expect("the page");
    assert!(page.contains("does not say") && page.contains("\"values\":[1.0,null,3.0]"));
}

#[test]
fn a_page_of_a_run_that_stopped_says_why() {
    let path = directory("stopped").join("run.html");
    let file = path.to_str().expect("text");
    let output = daedal(&["solve", "slider-crank-equal-arms", "--tend", "2", "-o", file]);
    assert_eq!(code(&output), 1);
    let page = fs::read_to_string(&path).expect("the page");
    assert!(page.contains("class=\"ending failure\"") && page.contains("singular configuration"));
}

#[test]
fn files_that_are_no_runs_are_refused() {
    let place = directory("malformed");
    let refuse = |name: &str, content: &[u8], said: &[&str]| {
        let file = place.join(name);
        fs::write(&file, content).expect("a file");
        let page = place.join("page.html");
        refused(&["report", file.to_str().expect("text"), "-o", page.to_str().expect("text")], said);
        assert!(!page.exists(), "no page is left behind");
    };
    refuse("cut.json", b"{\"format\":\"daedal run\"", &["cut.json", "cut off"]);
    refuse("other.json", b"{\"format\":\"recipe\",\"version\":1}", &["no run file", "recipe"]);
    refuse("broken.npz", b"PK nothing", &["archive"]);
    refuse("words.csv", b"t,x\n0,1\n1,two\n", &["line 3", "column x", "two"]);
    refuse("short.csv", b"t,x\n0,1\n1\n", &["line 3", "1 cells"]);
    refused(&["report", "run.txt"], &["run.txt", "json, npz or csv"]);
    refused(&["report", "absent.json"], &["absent.json"]);
    refused(&["report", "absent.json", "-o", "page.pdf"], &["page.pdf", "html"]);
}

#[test]
fn unknown_problems_are_refused_with_a_suggestion() {
    for command in ["solve", "init", "list"] {
        refused(&[command, "pendulm"], &["pendulm", "did you mean pendulum?", "truck"]);
    }
    refused(&["solve"], &["MODEL"]);
}

#[test]
fn unknown_parameters_are_refused_with_a_suggestion() {
    refused(&["solve", "truck", "--set", "sped=3"], &["sped", "did you mean speed?", "hump"]);
    refused(&["solve", "truck", "--set", "speed"], &["NAME=VALUE"]);
    refused(&["solve", "truck", "--set", "speed=fast"], &["expected a number"]);
    refused(&["solve", "truck", "--set", "speed=nan"], &["finite"]);
}

#[test]
fn impossible_numbers_are_refused() {
    for option in ["--rtol", "--atol", "--h0", "--hmax", "--newton-tolerance", "--safety", "--rank-tolerance"] {
        for value in ["0", "-1", "nan", "inf"] {
            refused(&["solve", "pendulum", option, value], &[option, "positive and finite"]);
        }
        refused(&["solve", "pendulum", option, "small"], &[option, "expected a number"]);
    }
    for option in ["--t0", "--tend", "--jacobian-reuse"] {
        refused(&["solve", "pendulum", option, "nan"], &[option, "finite"]);
    }
    refused(&["solve", "pendulum", "--rtol", "1e-20"], &["impossible tolerance", "rtol"]);
    refused(&["solve", "pendulum", "--rtol", "2"], &["impossible tolerance"]);
    refused(&["solve", "pendulum", "--tend", "-1"], &["tend = -1", "before the start"]);
    refused(&["solve", "pendulum", "--t0", "6"], &["before the start t0 = 6"]);
    refused(&["solve", "pendulum", "--safety", "2"], &["safety"]);
    refused(&["solve", "pendulum", "--max-newton", "2"], &["--max-newton"]);
    refused(&["solve", "pendulum", "--max-steps", "0"], &["--max-steps"]);
    refused(&["solve", "pendulum", "--save", "1"], &["--save", "steps, end"]);
    refused(&["solve", "truck", "--formulation", "psf+i"], &["invariants"]);
}

#[test]
fn unknown_values_of_options_are_refused_with_the_known_ones() {
    refused(&["solve", "pendulum", "--formulation", "psf+j"], &["psf, psf+i, p1"]);
    refused(&["solve", "pendulum", "--method", "euler"], &["geoms"]);
    refused(&["solve", "pendulum", "--decomposition", "cholesky"], &["auto, lu, qr, svd"]);
    refused(&["solve", "pendulum", "--differential", "svd"], &["auto, lu, qr"]);
    refused(&["solve", "pendulum", "--stats", "yaml"], &["json"]);
    refused(&["solve", "pendulum", "--polsih", "off"], &["--polish"]);
    refused(&["list", "--format", "xml"], &["text, json"]);
}

#[test]
fn initial_values_hold_the_constraints_and_what_is_fixed() {
    let arguments = ["init", "pendulum", "--fix", "x=0.6", "--guess", "y=-0.7", "--unknown", "vy", "--format", "json"];
    let output = daedal(&arguments);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let object = json(&output);
    let value = |name: &str| object["values"][name].as_f64().expect("a number");
    assert_eq!(value("x"), 0.6);
    assert!((value("y") + 0.8).abs() < 1e-15);
    assert!((value("x") * value("vx") + value("y") * value("vy")).abs() < 1e-14);
    assert_eq!(object["undetermined_multipliers"], 0);
}

#[test]
fn initial_values_are_printed_as_a_table_that_can_be_given_back() {
    let text = stdout(&daedal(&["init", "pendulum", "--guess", "x=0.3"]));
    assert!(text.lines().any(|line| line == "[initial]"), "{text}");
    let table = text.lines().find_map(|line| line.strip_prefix("guess = { ")?.strip_suffix(" }")).expect("guesses");
    let pairs: Vec<(&str, &str)> = table.split(", ").filter_map(|pair| pair.split_once(" = ")).collect();
    assert_eq!(pairs.iter().map(|pair| pair.0).collect::<Vec<_>>(), ["x", "y", "vx", "vy"]);
    for part in ["# lambda.rod = ", "# iterations: ", "# surplus conditions: 0", "# undetermined multipliers: 0"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    // consistent values are not moved, to the last bit
    let mut again = vec!["init".to_string(), "pendulum".to_string()];
    again.extend(pairs.iter().flat_map(|(name, value)| ["--guess".to_string(), format!("{name}={value}")]));
    let again = stdout(&daedal(&again.iter().map(String::as_str).collect::<Vec<_>>()));
    assert!(again.contains(table), "{again}");
}

#[test]
fn impossible_initial_values_are_refused() {
    refused(&["init", "pendulum", "--fix", "vz=1"], &["no variable vz", "did you mean v", "lambda.rod"]);
    refused(&["init", "pendulum", "--fix", "x=1", "--guess", "x=2"], &["x is given more than once"]);
    refused(&["init", "pendulum", "--fix", "x=1", "--fix", "y=1"], &["no consistent initial values", "contradictory"]);
    refused(&["init", "pendulum", "--unknown", "vx", "--unknown", "vy"], &["underdetermined", "vx"]);
    refused(&["init", "pendulum", "--fix", "x=inf"], &["finite"]);
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

const CHECKED: [&str; 18] = [
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
    "start",
    "constraints",
    "contact",
    "auxiliary",
    "mass",
    "invariants",
    "time_scales",
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
    assert!(words.contains("look at the warning") && words.contains("may be a singular configuration"), "{words}");
}
