//! A classical code as a program: tolerances go in, times and end values come out, one line each.

use super::curve::RunPoint;
use super::problems::{Compared, PeerProblem};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A code with the form in which it gets a problem.
#[derive(Clone, Debug)]
pub struct ClassicalCode {
    /// Name of the code.
    pub code: &'static str,
    /// Name of the form; a dash if there is only one.
    pub form: &'static str,
    program: PathBuf,
}

/// Longest time for a ladder in seconds; tolerances that are not done by then have failed.
const PATIENCE: &str = "30";

impl ClassicalCode {
    /// The code of a folder that `peers/setup.sh` has filled.
    pub fn new(folder: &Path, code: &'static str, form: &'static str) -> Self {
        ClassicalCode { code, form, program: folder.join(format!("double-{code}")) }
    }

    /// RADAU5, index 3.
    pub fn title(&self) -> String {
        match self.form.strip_prefix("index") {
            Some(index) => format!("{}, index {index}", self.code.to_uppercase()),
            None if self.form == "ggl" => format!("{}, GGL", self.code.to_uppercase()),
            None => self.code.to_uppercase(),
        }
    }

    /// Solve a problem with each tolerance, repeating each run for some time; none where the code gave up.
    pub fn run(
        &self,
        problem: &PeerProblem,
        compared: &[Compared],
        tolerances: &[f64],
        budget: f64,
    ) -> std::io::Result<Vec<Option<RunPoint>>> {
        if !self.program.exists() {
            return Err(std::io::Error::new(std::io::ErrorKind::NotFound, self.program.display().to_string()));
        }
        let mut child = Command::new("timeout")
            .arg(PATIENCE)
            .arg(&self.program)
            .args([problem.name, self.form])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let ladder: String = tolerances
            .iter()
            .map(|rtol| format!("{rtol:e} {:e} {:e} {budget}\n", rtol * problem.atol, rtol * problem.h0))
            .collect();
        child.stdin.take().expect("a pipe").write_all(ladder.as_bytes())?;
        let output = child.wait_with_output()?;
        // what a code prints where it gives up is no row of numbers
        let text = String::from_utf8_lossy(&output.stdout);
        let rows = text.lines().filter_map(|line| {
            let numbers: Option<Vec<f64>> = line.split_whitespace().map(|text| text.parse().ok()).collect();
            numbers.filter(|numbers| numbers.len() > 7)
        });
        let mut points: Vec<Option<RunPoint>> = rows
            .zip(tolerances)
            .map(|(row, &rtol)| {
                let values: Vec<f64> = compared.iter().map(|one| row[7 + one.place]).collect();
                let error = problem.error(compared, &values).filter(|_| row[1] > 0.0)?;
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a counter")]
                Some(RunPoint { rtol, error, seconds: row[0], steps: row[3] as u64 })
            })
            .collect();
        points.resize(tolerances.len(), None);
        Ok(points)
    }
}
