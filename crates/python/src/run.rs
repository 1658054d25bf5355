//! What a run gave.

use crate::bytes::of_floats;
use crate::failure::{defect, raised};
use daedal_run::{Column, Format};
use daedal_simulation::Outcome;
use pyo3::prelude::*;
use pyo3::sync::OnceLockExt;
use pyo3::types::PyBytes;
use std::fs::File;
use std::io::{BufWriter, Cursor, Write};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A run, and its polynomials as long as they are known.
#[pyclass(frozen, module = "daedal._native")]
pub struct Run {
    /// Without the moving picture, if the outcome is there.
    data: daedal_run::Run,
    outcome: Option<Mutex<Outcome>>,
    /// With it, once a file or a page is wanted.
    pictured: OnceLock<Option<daedal_run::Run>>,
}

impl Run {
    pub fn new(run: daedal_run::Run, outcome: Option<Outcome>) -> Self {
        Run { data: run, outcome: outcome.map(Mutex::new), pictured: OnceLock::new() }
    }

    /// What is asked of the outcome, if it is there.
    fn of_outcome<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&Outcome) -> T + Send) -> Option<T> {
        let outcome = self.outcome.as_ref()?;
        Some(py.detach(|| work(&outcome.lock().unwrap_or_else(PoisonError::into_inner))))
    }

    fn bytes(&self, py: Python<'_>, format: Format) -> PyResult<Vec<u8>> {
        let whole = self.pictured.get_or_init_py_attached(py, || self.of_outcome(py, Outcome::record).flatten());
        let (whole, mut bytes) = (whole.as_ref().unwrap_or(&self.data), Vec::new());
        py.detach(|| whole.write(format, &mut bytes)).map_err(|error| defect(py, error))?;
        Ok(bytes)
    }
}

#[pymethods]
impl Run {
    /// A run file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let read = py.detach(|| daedal_run::Run::read(&path));
        let run = read.map_err(|error| {
            let cause = std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
            raised(py, "Error", &format!("cannot read the run file {}: {error}{cause}", path.display()))
        })?;
        Ok(Run::new(run, None))
    }

    /// A run from the bytes of an npz file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let run = daedal_run::npz::read(Cursor::new(bytes)).map_err(|error| raised(py, "Error", &error.to_string()))?;
        Ok(Run::new(run, None))
    }

    /// The bytes of an npz file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.bytes(py, Format::Npz)?))
    }

    /// The object of the run file, without times and columns.
    fn object(&self, py: Python<'_>) -> PyResult<String> {
        let without = |column: &Column| Column { values: Vec::new(), ..column.clone() };
        let run = daedal_run::Run {
            header: self.data.header.clone(),
            times: Vec::new(),
            columns: self.data.columns.iter().map(without).collect(),
            steps: self.data.steps.clone(),
            events: self.data.events.clone(),
            end: self.data.end.clone(),
            hybrid: self.data.hybrid.clone(),
            ..daedal_run::Run::default()
        };
        let mut bytes = Vec::new();
        run.write(Format::Json, &mut bytes).map_err(|error| defect(py, error))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.data.columns.iter().map(|column| column.name.as_str()).collect()
    }

    /// Times of the points.
    fn times<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        of_floats(py, self.data.times.len(), self.data.times.iter().copied())
    }

    /// All columns, one after the other.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let columns = &self.data.columns;
        of_floats(
            py,
            columns.len() * self.data.times.len(),
            columns.iter().flat_map(|column| column.values.iter().copied()),
        )
    }

    /// All columns at these times, one time after the other.
    fn at<'py>(&self, py: Python<'py>, times: Vec<f64>) -> PyResult<Bound<'py, PyBytes>> {
        let not_kept =
            "values between the steps are known only to a solution that was made with save=\"dense\" in this process";
        let Some(outcome) = &self.outcome else { return Err(raised(py, "OptionError", not_kept)) };
        let rows = py.detach(|| {
            let outcome = outcome.lock().map_err(|_| "a defect: another evaluation panicked".to_string())?;
            outcome.at(&times).map_err(|error| match error {
                daedal_simulation::NotDense::NotKept => not_kept.to_string(),
                outside @ daedal_simulation::NotDense::Outside { .. } => outside.to_string(),
            })
        });
        let rows = rows.map_err(|said| raised(py, "OptionError", &said))?;
        of_floats(py, rows.iter().map(Vec::len).sum(), rows.into_iter().flatten())
    }

    /// Write a run file, or a page.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let Some(format) = Format::of(&path) else {
            let known = Format::ALL.map(Format::ending).join(", ");
            return Err(raised(py, "OptionError", &format!("the name {} must end in one of {known}", path.display())));
        };
        let bytes = self.bytes(py, format)?;
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(&bytes)?;
        Ok(file.flush()?)
    }

    /// The report page.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        Ok(String::from_utf8_lossy(&self.bytes(py, Format::Html)?).into_owned())
    }

    /// The summary of the command; empty for a run from a file.
    #[getter]
    fn summary(&self, py: Python<'_>) -> String {
        self.of_outcome(py, |outcome| daedal_cli::plain_summary(outcome, &self.data)).unwrap_or_default()
    }

    /// The object of `daedal solve --stats json`; none for a run from a file.
    #[getter]
    fn statistics(&self, py: Python<'_>) -> Option<String> {
        self.of_outcome(py, |outcome| daedal_cli::statistics_object(outcome, Some(&self.data)).to_string())
    }

    /// How long the computation took, where that is known.
    #[getter]
    fn seconds(&self) -> Option<f64> {
        self.data.header.seconds
    }
}
