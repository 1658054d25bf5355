//! The native part of the Python package `daedal`: conversions and calls, no logic. What people see is typed Python, in `python/daedal`; objects with
//! many fields cross the border as JSON, arrays of numbers as bytes, which NumPy takes as read-only arrays without a copy.
//!
//! | module | what |
//! | --- | --- |
//! | `model` | models, `solve`, `check`, `init`, `compare` |
//! | `run` | what a run gave |
//! | `sweep` | many runs |
//! | `black_box` | models whose functions are called at every evaluation |
//! | `graph` | expressions of models that are written in Python |
//! | `bytes` | arrays of numbers |
//! | `failure` | errors as exceptions |
//! | `watch` | signals and progress while a run is made |
#![allow(clippy::needless_pass_by_value)] // arguments of functions that Python calls are theirs

mod black_box;
mod bytes;
mod failure;
mod graph;
mod model;
mod run;
mod sweep;
mod watch;

use pyo3::prelude::*;
use std::ffi::OsString;

/// The command; gives its exit code.
#[pyfunction]
fn command(py: Python<'_>, said: Vec<OsString>) -> u8 {
    py.detach(|| daedal_cli::run(&said))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<model::Model>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<sweep::Sweep>()?;
    module.add_class::<sweep::SweepGathering>()?;
    module.add_class::<graph::Graph>()?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(model::solve, module)?)?;
    module.add_function(wrap_pyfunction!(model::check, module)?)?;
    module.add_function(wrap_pyfunction!(model::init, module)?)?;
    module.add_function(wrap_pyfunction!(model::compare, module)?)?;
    module.add_function(wrap_pyfunction!(model::options, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::make_runs, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep, module)?)
}
