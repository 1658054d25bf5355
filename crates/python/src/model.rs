//! Models, and what is done with them.

use crate::black_box::{self, Raised};
use crate::failure::{defect, exception, raised};
use crate::run::Run;
use crate::watch::Watch;
use daedal_run::Format;
use daedal_simulation::options::SCHEMA;
use daedal_simulation::{
    ComparisonSettings, Error, ErrorKind, KernelKind, ModelSource, Progress, Settings, Simulation, StartSettings,
    initialise,
};
use pyo3::prelude::*;
use std::path::PathBuf;

/// A model with its parameters set; what its functions raised, where it calls functions of Python.
#[pyclass(frozen, module = "daedal._native")]
pub struct Model(pub daedal_simulation::Model, pub Option<Raised>);

impl Model {
    fn plain(model: daedal_simulation::Model) -> Self {
        Model(model, None)
    }

    /// An exception of a function goes before whatever followed from it.
    fn exception(&self, py: Python<'_>, error: &Error) -> PyErr {
        self.1.as_ref().and_then(Raised::take).unwrap_or_else(|| exception(py, error))
    }

    /// What a function raised while something went on without its value.
    fn clear(&self) -> PyResult<()> {
        self.1.as_ref().and_then(Raised::take).map_or(Ok(()), Err)
    }
}

#[pymethods]
impl Model {
    /// A model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        daedal_simulation::Model::load(&path).map(Model::plain).map_err(|error| exception(py, &error))
    }

    /// The text of a model file, with its name and the folder of files that it names.
    #[staticmethod]
    fn read(py: Python<'_>, name: String, text: &str, folder: Option<PathBuf>) -> PyResult<Self> {
        let source = ModelSource::Text { name, text: text.into(), folder };
        source.model(&[], KernelKind::default()).map(Model::plain).map_err(|error| exception(py, &error))
    }

    /// A reference problem.
    #[staticmethod]
    fn reference(py: Python<'_>, name: &str) -> PyResult<Self> {
        daedal_simulation::Model::reference(name).map(Model::plain).map_err(|error| exception(py, &error))
    }

    /// A model whose functions are called: what it consists of, its rows, its mass matrix.
    #[staticmethod]
    fn black_box(py: Python<'_>, described: &str, rows: Py<PyAny>, mass: Py<PyAny>) -> PyResult<Self> {
        black_box::model(py, described, rows, mass)
    }

    /// Are its functions called?
    #[getter]
    fn is_black_box(&self) -> bool {
        self.1.is_some()
    }

    /// The same with some parameters changed.
    fn set(&self, py: Python<'_>, values: Vec<(String, f64)>) -> PyResult<Self> {
        self.0.set(&values).map(Model::plain).map_err(|error| exception(py, &error))
    }

    /// The same, evaluated by native code (`native`) or by a tape (`tape`).
    fn with_kernel(&self, py: Python<'_>, kernel: &str) -> PyResult<Self> {
        let kind = serde_json::from_value(kernel.into()).map_err(|_| {
            raised(
                py,
                "OptionError",
                &format!("there is no kernel {kernel}; the kernels are auto, native, tape and rust"),
            )
        })?;
        self.0.with_kernel(kind).map(Model::plain).map_err(|error| exception(py, &error))
    }

    /// How it is evaluated.
    #[getter]
    fn kernel(&self, py: Python<'_>) -> PyResult<String> {
        match serde_json::to_value(self.0.kernel()) {
            Ok(serde_json::Value::String(kind)) => Ok(kind),
            other => Err(defect(py, format!("no name of a kernel: {other:?}"))),
        }
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn description(&self) -> &str {
        self.0.description()
    }

    #[getter]
    fn text(&self) -> Option<&str> {
        self.0.text()
    }

    /// How messages call the file, and the folder of files that it names.
    #[getter]
    fn origin(&self) -> (String, Option<PathBuf>) {
        match self.0.source() {
            ModelSource::Text { name, folder, .. } => (name.clone(), folder.clone()),
            ModelSource::Reference(problem) => (problem.name.to_string(), None),
            ModelSource::Program { name } => (name.clone(), None),
        }
    }

    #[getter]
    fn parameters(&self) -> Vec<(String, f64)> {
        self.0.parameters().to_vec()
    }

    #[getter]
    fn changed(&self) -> Vec<(String, f64)> {
        self.0.changed().to_vec()
    }

    #[getter]
    fn interval(&self) -> (f64, Option<f64>) {
        self.0.interval()
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.names()
    }

    #[getter]
    fn has_modes(&self) -> bool {
        self.0.has_modes()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings().iter().map(ToString::to_string).collect()
    }
}

/// Settings from their object.
pub fn settings(py: Python<'_>, object: &str) -> PyResult<Settings> {
    serde_json::from_str(object).map_err(|error| {
        let text = error.to_string();
        raised(py, "OptionError", text.split(" at line ").next().unwrap_or(&text))
    })
}

/// Solve. Gives the run, or none if it could not be started; why it stopped; the exception that ended it.
#[pyfunction]
#[allow(clippy::type_complexity)] // a tuple for Python
pub fn solve(
    py: Python<'_>,
    model: &Model,
    object: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Run, Option<String>, Option<Py<PyAny>>)> {
    let settings = settings(py, object)?;
    let mut watch = Watch::new(progress);
    let made = py.detach(|| {
        let simulation = Simulation::new(&model.0, &settings)?;
        let outcome = simulation.run(&mut |progress: &Progress| watch.look(progress.fraction, progress.t));
        // the picture is made when somebody looks at it
        let record = outcome.numbers();
        Ok((outcome, record))
    });
    let (outcome, record) = made.map_err(|error: Error| model.exception(py, &error))?;
    let Some(record) = record else {
        return Err(match &outcome.error {
            Some(error) => model.exception(py, error),
            None => defect(py, "a run without values and without an error"),
        });
    };
    let refused = outcome.error.as_ref().filter(|error| error.kind() == ErrorKind::Input);
    if let Some(error) = refused {
        return Err(model.exception(py, error));
    }
    let stopped = outcome.error.as_ref().filter(|error| error.kind() == ErrorKind::Numerical).map(daedal_cli::causes);
    let raised = model.1.as_ref().and_then(Raised::take).or(watch.raised);
    let raised = raised.map(|error| error.into_value(py).into_any());
    Ok((Run::new(record, Some(outcome)), stopped, raised))
}

/// What can be known before a run: its text, its object, and why there is no solution.
#[pyfunction]
pub fn check(py: Python<'_>, model: &Model, t0: Option<f64>) -> PyResult<(String, String, Option<String>)> {
    let made = py.detach(|| {
        let found = daedal_simulation::check::check(&model.0, t0)?;
        let (text, object) = (daedal_cli::check_text(&found), found.object().to_string());
        Ok((text, object, found.into_error().map(|error| daedal_cli::causes(&error))))
    });
    let found = made.map_err(|error: Error| model.exception(py, &error))?;
    model.clear()?;
    Ok(found)
}

/// Consistent initial values: as a table for a model file, and as an object.
#[pyfunction]
pub fn init(py: Python<'_>, model: &Model, object: &str) -> PyResult<(String, String)> {
    let settings: StartSettings = serde_json::from_str(object).map_err(|error| defect(py, error))?;
    let start = py.detach(|| initialise(&model.0, &settings)).map_err(|error| model.exception(py, &error))?;
    model.clear()?;
    let values = serde_json::to_string(&start).map_err(|error| defect(py, error))?;
    Ok((daedal_cli::start_text(&start), values))
}

/// Compare methods: the comparison as text, as an object, and as a page.
#[pyfunction]
pub fn compare(py: Python<'_>, model: &Model, object: &str, said: &str) -> PyResult<(String, String, String)> {
    let settings: ComparisonSettings = serde_json::from_str(object).map_err(|error| {
        let text = error.to_string();
        raised(py, "OptionError", text.split(" at line ").next().unwrap_or(&text))
    })?;
    let made = py.detach(|| daedal_simulation::compare(&model.0, &settings, &mut |_| {}));
    let mut made = made.map_err(|error| model.exception(py, &error))?;
    model.clear()?;
    made.command = said.to_string();
    let written = |format: Format| {
        let mut bytes = Vec::new();
        made.write(format, &mut bytes).map_err(|error| defect(py, error))?;
        Ok::<_, PyErr>(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok((daedal_run::comparison::text::text(&made), written(Format::Json)?, written(Format::Html)?))
}

/// Names of the options of methods, with what they do.
#[pyfunction]
pub fn options() -> Vec<(&'static str, &'static str)> {
    SCHEMA.iter().map(|option| (option.key, option.help)).collect()
}
