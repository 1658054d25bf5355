//! Errors of the library as exceptions of `daedal.errors`.

use daedal_model::Mistakes;
use daedal_simulation::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The exception for an error.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let inner = match error {
        Error::Located { error, .. } => error,
        error => error,
    };
    match inner {
        Error::Model(mistakes) => of_mistakes(py, &daedal_cli::marked_plainly(mistakes), mistakes),
        Error::Event { mistakes, when, .. } => {
            let text = format!("in the condition `{when}` of an event\n{}", daedal_cli::marked_plainly(mistakes));
            of_mistakes(py, &text, mistakes)
        }
        Error::Unreadable { .. } | Error::NotText { .. } => raised(py, "ModelError", &daedal_cli::causes(error)),
        inner => raised(py, class(inner), &daedal_cli::causes(error)),
    }
}

/// A mistake in what is asked for, or a start that cannot be made.
fn class(error: &Error) -> &'static str {
    let speaks_of_start =
        matches!(error, Error::Enter { .. } | Error::SaidTwice { .. } | Error::General(_) | Error::Analysis(_));
    let of_solver = matches!(error, Error::Solve(_) | Error::Hybrid(_) | Error::Boundary(_));
    let text = error.to_string();
    if matches!(error, Error::SweepFolder { .. } | Error::SweepFile { .. } | Error::SweepUnwritten { .. }) {
        return "StorageError";
    }
    match error.kind() {
        ErrorKind::Numerical => "InitialError",
        _ if speaks_of_start || (of_solver && text.contains("initial")) => "InitialError",
        _ => "OptionError",
    }
}

/// An exception of `daedal.errors` with a message.
pub fn raised(py: Python<'_>, class: &str, message: &str) -> PyErr {
    let make = || py.import("daedal.errors")?.getattr(class)?.call1((message,));
    match make() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

fn of_mistakes(py: Python<'_>, text: &str, mistakes: &Mistakes) -> PyErr {
    let make = || {
        let mut list = Vec::new();
        for mistake in mistakes.list() {
            let fields = PyDict::new(py);
            let place = mistakes.line_of(mistake);
            fields.set_item("file", mistakes.file())?;
            fields.set_item("line", place.map(|(line, _)| line))?;
            fields.set_item("column", place.map(|(_, column)| column))?;
            fields.set_item("span", mistake.place().map(|span| (span.offset(), span.offset() + span.len())))?;
            fields.set_item("message", mistake.to_string())?;
            fields.set_item("help", mistake.advice())?;
            list.push(fields);
        }
        py.import("daedal.errors")?.getattr("ModelError")?.call_method1("_of", (text, list))
    };
    match make() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// A text of JSON that cannot be what was meant: the Python half of the package makes it, so this is a defect.
pub fn defect(py: Python<'_>, what: impl std::fmt::Display) -> PyErr {
    raised(py, "Defect", &what.to_string())
}
