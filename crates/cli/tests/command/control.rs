//! `daedal control`, and what `check` says of files with `[control]`.

use crate::support::{code, daedal, directory, json, refused, rows, shipped, stderr, stdout, written};

#[test]
fn the_valve_is_closed_and_the_closed_model_runs() {
    let folder = directory("control-valve");
    let closed = folder.join("closed.toml");
    let closed = closed.to_str().unwrap();
    let output = daedal(&["control", &shipped("valve-servo.toml"), "--feedback", "state", "-o", closed]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let said = stdout(&output);
    for part in ["singular, 1 free direction", "state feedback", "u = ", "+ u_w", "regular, index 1"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let run = daedal(&["solve", closed]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    assert!(stdout(&run).contains("reached the end"));
    // what is closed needs no feedback
    let again = folder.join("again.toml");
    refused_after(
        &["control", closed, "--feedback", "state", "-o", again.to_str().unwrap()],
        "no mode needs a feedback",
    );
    assert!(!again.exists());
}

/// The facts are printed, and then the file is refused.
fn refused_after(arguments: &[&str], said: &str) {
    let output = daedal(arguments);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
}

#[test]
fn the_optimal_course_is_written() {
    let folder = directory("control-course");
    let (csv, html) = (folder.join("course.csv"), folder.join("course.html"));
    let file = shipped("switched-regulator.toml");
    let output = daedal(&["control", &file, "-o", csv.to_str().unwrap(), "-o", html.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let said = stdout(&output);
    for part in ["=== mode strong ===", "=== modes together ===", "best switches", "strong → weak", "cost"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let text = std::fs::read_to_string(&csv).unwrap();
    assert!(text.starts_with("t,x,v,F,u,lambda1,lambda2,lambda3,mode"), "{}", text.lines().next().unwrap());
    let rows = rows(&text);
    assert!((rows[0][1] - 1.0).abs() < 1e-12 && rows.len() > 200);
    // F = gear u in both gears
    assert!((rows[0][3] - 3.0 * rows[0][4]).abs() < 1e-9);
    let last = &rows[rows.len() - 1];
    assert!((last[3] - last[4]).abs() < 1e-9 && last[1].abs() < 0.2);
    assert!(std::fs::read_to_string(&html).unwrap().contains("switched-regulator"));
}

#[test]
fn json_has_what_the_text_says() {
    let output = daedal(&["control", &shipped("sliding-regulator.toml"), "--format", "json"]);
    let object = json(&output);
    assert_eq!(object["systems"][0]["sliding"]["law"]["u"], "-0.95*v");
    assert_eq!(object["systems"][1]["mode"], "forth");
    assert_eq!(object["systems"][0]["controllability"]["complete"], false);
    assert_eq!(object["systems"][0]["controllability"]["reachable"], true);
    assert_eq!(object["optimum"], serde_json::Value::Null);
    let text = stdout(&daedal(&["control", &shipped("sliding-regulator.toml")]));
    for part in ["u = -0.95*v", "u < its equivalent for s > 0", "between back and forth while -1 < -0.95*v < 1"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn check_mentions_control() {
    let text = stdout(&daedal(&["check", &shipped("valve-servo.toml")]));
    assert!(text.contains("\ncontrol\n  inputs            u: complete, reachable, impulses, stabilisable"), "{text}");
    assert!(text.contains("state feedback    makes the system regular with index 1"), "{text}");
    let object = json(&daedal(&["check", &shipped("valve-servo.toml"), "--format", "json"]));
    assert_eq!(object["control"]["controllability"]["impulses"], true);
    let object = json(&daedal(&["check", &shipped("pendulum-dae.toml"), "--format", "json"]));
    assert_eq!(object["control"], serde_json::Value::Null);
    let text = stdout(&daedal(&["check", &shipped("sliding-regulator.toml")]));
    assert!(text.contains("sliding           u = -0.95*v"), "{text}");
}

#[test]
fn what_has_no_answer_is_refused() {
    refused(&["control", "pendulum"], &["nothing can be said about the control of", "no section [control]"]);
    refused(&["control", &shipped("pendulum-dae.toml")], &["no section [control]"]);
    let valve = shipped("valve-servo.toml");
    let folder = directory("control-refused");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_string();
    refused(&["control", &valve, "-o", &path("closed.toml")], &["needs a feedback", "--feedback state"]);
    refused(&["control", &valve, "-o", &path("course.txt")], &["cannot write"]);
    refused_after(&["control", &valve, "-o", &path("course.csv")], "the model has no cost");
    let text = std::fs::read_to_string(&valve).unwrap();
    let blind = written("control-blind.toml", &text.replace("{ flow = \"q\", level = \"h\" }", "[\"h\"]"));
    let said = ["no output feedback", "[E; ZᵀA; C] has rank 1, not 2"];
    refused(&["control", blind.to_str().unwrap(), "--feedback", "output"], &said);
    let dumb = written("control-dumb.toml", &text.replace("outputs = { flow = \"q\", level = \"h\" }\n", ""));
    refused(&["control", dumb.to_str().unwrap(), "--feedback", "output"], &["there are no outputs"]);
    let free = written("control-free.toml", &text.replace("[initial]", "cost = \"h^2\"\n[initial]"));
    refused_after(
        &["control", free.to_str().unwrap(), "-o", &path("course.csv")],
        "there is no optimal course to write",
    );
}

#[test]
fn a_closed_loop_that_is_written_elsewhere_still_has_its_tables() {
    let (here, elsewhere) = (directory("control-table"), directory("control-table-elsewhere"));
    let text = std::fs::read_to_string(shipped("valve-servo.toml")).unwrap();
    let table = "\n[tables.load]\nfile = \"load.csv\"\n[output]\nload_now = \"load(t)\"\n";
    let model = here.join("valve.toml");
    std::fs::write(&model, text + table).unwrap();
    std::fs::write(here.join("load.csv"), "time,load\n0,1\n50,2\n100,1\n200,0\n").unwrap();
    let model = model.to_str().unwrap();
    for folder in [&here, &elsewhere] {
        let closed = folder.join("closed.toml");
        let closed = closed.to_str().unwrap();
        let output = daedal(&["control", model, "--feedback", "state", "-o", closed]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let run = daedal(&["solve", closed]);
        assert_eq!(code(&run), 0, "{}", stderr(&run));
        assert!(stdout(&run).contains("load_now"), "{}", stdout(&run));
    }
    // beside the table it is named as before
    assert!(std::fs::read_to_string(here.join("closed.toml")).unwrap().contains("file = \"load.csv\""));
}
