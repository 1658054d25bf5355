//! Imported robots: the model file that the command writes moves as equations in minimal coordinates do, which are written here once more.

mod arms;
mod deltas;
mod jet;
mod refused;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A robot of this folder.
fn robot(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import").join(name)
}

fn daedal(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_daedal")).args(arguments).output().expect("the command runs")
}

fn succeeds(arguments: &[&str]) -> String {
    let output = daedal(arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {told}");
    told
}

/// A folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("import").join(name);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// The model file of a robot, and the notes of its import.
fn imported(name: &str) -> (String, String) {
    let model = folder(name).join("robot.toml");
    let notes = succeeds(&["import", robot(name).to_str().unwrap(), "-o", model.to_str().unwrap()]);
    (fs::read_to_string(model).expect("the model file"), notes)
}

/// Values at the end of a run of this model.
fn end(name: &str, model: &str, arguments: &[&str]) -> HashMap<String, f64> {
    let (file, run) = (folder(name).join("model.toml"), folder(name).join("run.csv"));
    fs::write(&file, model).expect("a file");
    let exact = ["--rtol", "1e-10", "--atol", "1e-10", "--save", "end"];
    succeeds(&[&["solve", file.to_str().unwrap(), "-o", run.to_str().unwrap()], &exact[..], arguments].concat());
    let table = fs::read_to_string(run).expect("the run");
    let names = table.lines().next().expect("a head").split(',');
    let last = table.lines().last().expect("a row").split(',');
    names.zip(last).filter_map(|(name, value)| Some((name.to_string(), value.parse().ok()?))).collect()
}

/// Do these values agree?
#[track_caller]
fn assert_agrees(found: &HashMap<String, f64>, wanted: &[(&str, f64)]) {
    for (name, wanted) in wanted {
        let value = found.get(*name).unwrap_or_else(|| panic!("{name} is missing: {:?}", found.keys()));
        assert!((value - wanted).abs() < 1e-7, "{name}: {value} instead of {wanted}");
    }
}
