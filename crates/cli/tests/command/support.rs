//! How tests run the command and read its answers.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn daedal(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_daedal")).args(arguments).output().expect("the command runs")
}

pub fn code(output: &Output) -> i32 {
    output.status.code().expect("no signal")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("one JSON value on standard output")
}

pub fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// The command refuses: code 2, nothing on standard output, one error that says all of this.
pub fn refused(arguments: &[&str], said: &[&str]) {
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
pub fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory for the test");
    path
}

pub fn rows(csv: &str) -> Vec<Vec<f64>> {
    // a cell without a value is empty
    let cell = |x: &str| if x.is_empty() { f64::NAN } else { x.parse().expect("a number") };
    let row = |line: &str| line.split(',').map(cell).collect();
    csv.lines().skip(1).map(row).collect()
}

/// A shipped model file.
pub fn shipped(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name).to_str().unwrap().to_string()
}

/// A model file of this test.
pub fn written(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path
}

/// The object of `--stats json`, without what depends on the machine.
pub fn statistics(arguments: &[&str]) -> Value {
    let output = daedal(&[&["solve"], arguments, &["--stats", "json"]].concat());
    let mut object: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    object["seconds"] = Value::Null;
    object
}

/// What the command prints, which must succeed; words apart by one space.
#[track_caller]
pub fn words(arguments: &[&str]) -> String {
    let output = daedal(arguments);
    assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
    stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Does it fail with this code, saying all of this?
#[track_caller]
pub fn fails(arguments: &[&str], code: i32, said: &[&str]) {
    let output = daedal(arguments);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{message}");
    assert!(!message.contains("panicked"), "{message}");
    // words of a message may stand on several lines
    let words: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in said {
        assert!(words.contains(said), "“{said}” is missing in: {message}");
    }
}
