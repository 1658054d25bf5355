//! How a model is solved and compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Errors of a run at the default tolerance 1e-7, over the largest value of their column: a hundred tolerances.
pub const HUNDRED_TOLERANCES: f64 = 1e-5;

/// Values at some times, from another program.
pub struct Reference {
    /// The file in `models/`.
    pub model: &'static str,
    /// How many points are saved at equal distances; the times of the rows are among them.
    pub points: usize,
    /// Names of variables and outputs.
    pub columns: &'static [&'static str],
    /// Time and values.
    pub rows: &'static [(f64, &'static [f64])],
    /// Largest error over the largest value of the column.
    pub allowed: f64,
}

/// What the command wrote.
pub struct Run {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
    /// Times of the switches, and from which mode to which.
    pub switches: Vec<(f64, String, String)>,
}

impl Reference {
    /// Solve the model with its defaults and compare all rows.
    #[track_caller]
    pub fn holds(&self) -> Run {
        let run = solve(self.model, self.points, &[]);
        for (k, name) in self.columns.iter().enumerate() {
            let size = self.rows.iter().fold(0.0, |size: f64, (_, row)| size.max(row[k].abs()));
            for (t, row) in self.rows {
                let (found, wanted) = (run.value(name, *t), row[k]);
                let error = (found - wanted).abs() / if size > 0.0 { size } else { 1.0 };
                assert!(error <= self.allowed, "{}: {name}({t}) = {found}, not {wanted}: error {error:e}", self.model);
            }
        }
        run
    }
}

impl Run {
    /// A value at a saved time.
    #[track_caller]
    pub fn value(&self, name: &str, t: f64) -> f64 {
        let column = self.names.iter().position(|known| known == name);
        let column = column.unwrap_or_else(|| panic!("{name} is not among {:?}", self.names));
        let distance = |row: &&Vec<f64>| (row[0] - t).abs();
        let row = self.rows.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).expect("a row");
        assert!(distance(&row) <= 1e-9 * t.abs(), "nothing is saved at {t}, the next is {}", row[0]);
        row[column]
    }

    /// All saved values.
    #[track_caller]
    pub fn column(&self, name: &str) -> Vec<f64> {
        let column = self.names.iter().position(|known| known == name).expect("a column");
        self.rows.iter().map(|row| row[column]).collect()
    }

    /// The switches are these, at these times.
    #[track_caller]
    pub fn switches_at(&self, expected: &[(f64, &str, &str)], allowed: f64) {
        for (found, (t, from, to)) in self.switches.iter().zip(expected) {
            assert!((found.0 - t).abs() <= allowed, "{found:?} is not at {t}");
            assert_eq!((found.1.as_str(), found.2.as_str()), (*from, *to), "at {t}");
        }
        assert!(self.switches.len() >= expected.len(), "{:?}", self.switches);
    }
}

fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(format!("{name}.toml"))
}

/// `daedal solve` as it comes, with values saved at equal distances and perhaps further arguments.
#[track_caller]
pub fn solve(name: &str, points: usize, further: &[&str]) -> Run {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("practice");
    fs::create_dir_all(&folder).expect("a folder for the test");
    let stem = [&[name], further].concat().join("");
    let (values, events) = (folder.join(format!("{stem}.csv")), folder.join(format!("{stem}-events.csv")));
    let switched = fs::read_to_string(model(name)).expect("the model").contains("[[transitions]]");
    let mut command = Command::new(env!("CARGO_BIN_EXE_daedal"));
    command.arg("solve").arg(model(name)).args(["--save", &points.to_string(), "-o"]).arg(&values).args(further);
    if switched {
        command.arg("--events").arg(&events);
    }
    let output = command.output().expect("the command runs");
    assert_eq!(output.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let (names, rows) = table(&values);
    let switches = if switched { switches(&events) } else { Vec::new() };
    Run { names, rows, switches }
}

/// Names and rows; what a mode does not have is no number.
fn table(path: &Path) -> (Vec<String>, Vec<Vec<f64>>) {
    let text = fs::read_to_string(path).expect("values");
    let mut lines = text.lines();
    let names = lines.next().expect("names").split(',').map(ToString::to_string).collect();
    let row = |line: &str| line.split(',').map(|x| x.parse().unwrap_or(f64::NAN)).collect();
    (names, lines.map(row).collect())
}

fn switches(path: &Path) -> Vec<(f64, String, String)> {
    let text = fs::read_to_string(path).expect("switches");
    let switch = |line: &str| {
        let mut fields = line.split(',').map(ToString::to_string);
        let mut next = || fields.next().expect("time, from, to");
        (next().parse().expect("a time"), next(), next())
    };
    text.lines().skip(1).map(switch).collect()
}

/// Close enough?
#[track_caller]
pub fn near(found: f64, wanted: f64, allowed: f64) {
    assert!((found - wanted).abs() <= allowed, "{found} is not {wanted}");
}
