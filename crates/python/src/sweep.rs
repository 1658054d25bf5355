//! Many runs.

use crate::bytes::of_floats;
use crate::failure::{defect, exception, raised};
use crate::model::{Model, settings};
use crate::watch::Watch;
use daedal_run::SweepFormat;
use daedal_simulation::{SweepSettings, Variation};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Cursor};
use std::path::PathBuf;
use std::sync::Mutex;

/// Runs of one model with many values of its parameters.
#[pyclass(frozen, module = "daedal._native")]
pub struct Sweep(daedal_run::Sweep);

#[pymethods]
impl Sweep {
    /// A file that a sweep was written to.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let said = |error: daedal_run::ReadError| raised(py, "Error", &format!("{}: {error}", path.display()));
        daedal_run::Sweep::read(File::open(&path)?).map(Sweep).map_err(said)
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        daedal_run::Sweep::read(Cursor::new(bytes)).map(Sweep).map_err(|error| raised(py, "Error", &error.to_string()))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        self.0.write(&mut bytes).map_err(|error| defect(py, error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Write it; the ending of the name says how.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let Some(format) = SweepFormat::of(&path) else {
            let said = "the runs of a sweep are written as npz, csv or html";
            return Err(raised(
                py,
                "OptionError",
                &format!("{said}: the name {} must end in one of them", path.display()),
            ));
        };
        let file = BufWriter::new(File::create(path)?);
        self.0.write_as(format, file).map_err(|error| raised(py, "Error", &error.to_string()))
    }

    /// The page, as text.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        let mut bytes = Vec::new();
        self.0.write_as(SweepFormat::Html, &mut bytes).map_err(|error| defect(py, error))?;
        String::from_utf8(bytes).map_err(|error| defect(py, error))
    }

    /// Names, grid, statuses and messages.
    fn object(&self) -> String {
        let sweep = &self.0;
        json!({
            "model": sweep.model,
            "parameters": sweep.parameters,
            "grid": sweep.grid,
            "size": sweep.size,
            "columns": sweep.columns.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "kinds": sweep.columns.iter().map(|(_, kind)| kind.word()).collect::<Vec<_>>(),
            "at_times": sweep.times.is_some(),
            "numbers": sweep.runs.iter().map(|run| run.number).collect::<Vec<_>>(),
            "status": sweep.runs.iter().map(|run| run.status.word()).collect::<Vec<_>>(),
            "message": sweep.runs.iter().map(|run| &run.message).collect::<Vec<_>>(),
            "steps": sweep.runs.iter().map(|run| run.steps).collect::<Vec<_>>(),
            "seconds": sweep.runs.iter().map(|run| run.seconds).collect::<Vec<_>>(),
        })
        .to_string()
    }

    /// The times that were kept.
    fn times<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let times = self.0.times.as_deref().unwrap_or_default();
        of_floats(py, times.len(), times.iter().copied())
    }

    /// How far each run came.
    fn t_end<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        of_floats(py, self.0.runs.len(), self.0.runs.iter().map(|run| run.t_end))
    }

    /// The values of the parameters, run by run.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let count = self.0.runs.len() * self.0.parameters.len();
        of_floats(py, count, self.0.runs.iter().flat_map(|run| run.parameters.iter().copied()))
    }

    /// All values: run by run, time by time, column by column.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let count = self.0.runs.iter().map(|run| run.values.len()).sum();
        of_floats(py, count, self.0.runs.iter().flat_map(|run| run.values.iter().copied()))
    }
}

/// Make many runs. `axes` are those of a grid, or there are `rows` for `names`.
#[pyfunction]
#[allow(clippy::type_complexity, clippy::too_many_arguments)] // a tuple for Python; the arguments of one call
pub fn sweep(
    py: Python<'_>,
    model: &Model,
    names: Vec<String>,
    axes: Option<Vec<Vec<f64>>>,
    rows: Option<Vec<Vec<f64>>>,
    object: &str,
    threads: Option<usize>,
    resume: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Sweep, Option<Py<PyAny>>)> {
    let settings = SweepSettings { run: settings(py, object)?, threads, resume };
    let variation = variation(py, names, axes, rows)?;
    let mut watch = Watch::new(progress);
    let made = py.detach(|| {
        let mut look = |done: usize, of: usize| watch.look(done as f64 / of as f64, done as f64);
        daedal_simulation::sweep(&model.0, &variation, &settings, &mut look)
    });
    let made = made.map_err(|error| exception(py, &error))?;
    let unwritten = made.unwritten.map(|error| exception(py, &error));
    let raised = watch.raised.or(unwritten).map(|error| error.into_value(py).into_any());
    Ok((Sweep(made.sweep), raised))
}

/// Every combination of the values of `axes`, or the `rows`.
fn variation(
    py: Python<'_>,
    names: Vec<String>,
    axes: Option<Vec<Vec<f64>>>,
    rows: Option<Vec<Vec<f64>>>,
) -> PyResult<Variation> {
    let variation = match (axes, rows) {
        (Some(axes), _) => Variation::grid(names.into_iter().zip(axes).collect()),
        (None, rows) => Variation::rows(names, rows.unwrap_or_default()),
    };
    variation.map_err(|error| exception(py, &error))
}

/// Runs of these rows one after the other, for a [`SweepGathering`] elsewhere.
#[pyfunction]
pub fn make_runs(
    py: Python<'_>,
    model: &Model,
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
    object: &str,
) -> PyResult<Sweep> {
    let settings = settings(py, object)?;
    let rows = variation(py, names, None, Some(rows))?;
    let made = py.detach(|| daedal_simulation::make_runs(&model.0, &rows, &settings));
    made.map(Sweep).map_err(|error| exception(py, &error))
}

/// A sweep whose runs are made elsewhere.
#[pyclass(frozen, module = "daedal._native")]
pub struct SweepGathering(Mutex<Option<daedal_simulation::SweepGathering>>);

#[pymethods]
impl SweepGathering {
    #[new]
    fn new(
        py: Python<'_>,
        model: &Model,
        names: Vec<String>,
        axes: Option<Vec<Vec<f64>>>,
        rows: Option<Vec<Vec<f64>>>,
        object: &str,
        resume: Option<PathBuf>,
    ) -> PyResult<Self> {
        let settings = SweepSettings { run: settings(py, object)?, threads: None, resume };
        let variation = variation(py, names, axes, rows)?;
        let made = py.detach(|| daedal_simulation::SweepGathering::new(&model.0, &variation, &settings));
        made.map(|made| SweepGathering(Mutex::new(Some(made)))).map_err(|error| exception(py, &error))
    }

    /// The numbers of the runs that are not there.
    fn missing(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        self.with(py, |gathering| gathering.missing())
    }

    /// The values of the parameters of these runs.
    fn rows(&self, py: Python<'_>, numbers: Vec<usize>) -> PyResult<Vec<Vec<f64>>> {
        self.with(py, |gathering| {
            numbers.iter().filter_map(|&number| gathering.row(number)).map(<[f64]>::to_vec).collect()
        })
    }

    /// Add what `make_runs` made of the rows of these numbers, with how long each took.
    fn add(&self, py: Python<'_>, numbers: Vec<usize>, bytes: &[u8], seconds: Vec<Option<f64>>) -> PyResult<()> {
        let read = daedal_run::Sweep::read(Cursor::new(bytes));
        let mut part = read.map_err(|error| raised(py, "Error", &error.to_string()))?;
        for (run, seconds) in part.runs.iter_mut().zip(seconds) {
            run.seconds = seconds;
        }
        self.with(py, |gathering| gathering.add(part, &numbers))?.map_err(|error| exception(py, &error))
    }

    /// What was gathered. Nothing can be added afterwards.
    fn finish(&self, py: Python<'_>) -> PyResult<Sweep> {
        let mut place = self.0.lock().map_err(|error| defect(py, error))?;
        let gathering = place.take().ok_or_else(|| defect(py, FINISHED))?;
        Ok(Sweep(gathering.outcome().sweep))
    }
}

const FINISHED: &str = "the sweep is finished already";

impl SweepGathering {
    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&mut daedal_simulation::SweepGathering) -> T) -> PyResult<T> {
        let mut place = self.0.lock().map_err(|error| defect(py, error))?;
        place.as_mut().map(work).ok_or_else(|| defect(py, FINISHED))
    }
}
