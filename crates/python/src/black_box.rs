//! Equations that are functions of Python, called at every evaluation: what cannot be traced.

use crate::bytes::{floats, of_floats};
use crate::failure::defect;
use crate::model::Model;
use daedal::linalg::Matrix;
use daedal::motion::{
    BlackBox, BlackBoxMotion, BlackBoxRows, Kinematics, Motion, Names, Position, Sizes, Structure, Undefined,
};
use daedal::{Initial, Start};
use daedal_simulation::ProgramModel;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;
use std::sync::{Arc, Mutex, PoisonError};

/// What went wrong in a function of Python. The first exception counts: nothing is called after it.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    fn is_there(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn put(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// The exception, which is forgotten by that: the model can be run again.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Names of all variables and constraints, what is known about the start, and what is declared.
#[derive(Deserialize)]
struct Described {
    name: String,
    description: String,
    parameters: Vec<(String, f64)>,
    interval: (f64, Option<f64>),
    positions: Vec<String>,
    velocities: Vec<String>,
    dynamic: Vec<String>,
    auxiliary: Vec<String>,
    holonomic: Vec<String>,
    nonholonomic: Vec<String>,
    invariants: Vec<String>,
    fix: Vec<(String, f64)>,
    guess: Vec<(String, f64)>,
    plain_kinematics: bool,
}

/// Functions of Python as equations of motion. `rows` takes t and all of p, v, r, w, λ, μ as bytes and gives all rows, `mass` takes t and p and gives M
/// row by row.
struct Called {
    rows: Py<PyAny>,
    mass: Py<PyAny>,
    names: Names,
    plain_kinematics: bool,
    raised: Raised,
}

impl Called {
    /// So many numbers of a function for numbers.
    fn call(&self, function: &Py<PyAny>, (t, blocks): (f64, &[&[f64]]), count: usize) -> Result<Vec<f64>, Undefined> {
        if self.raised.is_there() {
            return Err(Undefined);
        }
        let called = Python::attach(|py| -> PyResult<Vec<f64>> {
            let values = blocks.iter().flat_map(|block| block.iter().copied());
            let values = of_floats(py, blocks.iter().map(|block| block.len()).sum(), values)?;
            let answer = floats(function.call1(py, (t, values))?.cast_bound::<PyBytes>(py)?.as_bytes())?;
            if answer.len() == count {
                Ok(answer)
            } else {
                Err(defect(py, format!("{} numbers for {count}", answer.len())))
            }
        });
        called.map_err(|error| {
            self.raised.put(error);
            Undefined
        })
    }
}

impl BlackBox for Called {
    fn sizes(&self) -> Sizes {
        Sizes {
            positions: self.names.positions.len(),
            velocities: self.names.velocities.len(),
            dynamic: self.names.dynamic.len(),
            auxiliary: self.names.auxiliary.len(),
            contact: 0,
            holonomic: self.names.holonomic.len(),
            nonholonomic: self.names.nonholonomic.len(),
            invariants: self.names.invariants.len(),
        }
    }

    fn names(&self) -> Names {
        self.names.clone()
    }

    fn rows(&self, at: &Motion<f64>, out: &mut BlackBoxRows) -> Result<(), Undefined> {
        let n = self.sizes();
        // what each function gives, and the rows that this form of the equations has of it: all or none
        let mut blocks = [
            (n.velocities, &mut *out.force),
            (n.auxiliary, &mut *out.auxiliary),
            (n.holonomic, &mut *out.holonomic_acceleration),
            (n.nonholonomic, &mut *out.nonholonomic_acceleration),
            (n.holonomic, &mut *out.holonomic_velocity),
            (n.nonholonomic, &mut *out.nonholonomic),
            (n.invariants, &mut *out.invariants),
            (n.holonomic, &mut *out.holonomic),
            (n.dynamic, &mut *out.dynamic),
            (n.positions, &mut *out.kinematics),
        ];
        let count = blocks.iter().map(|(size, _)| size).sum();
        let answer = self.call(&self.rows, (at.t, &[at.p, at.v, at.r, at.w, at.lambda, at.mu]), count)?;
        let mut rest = &answer[..];
        for (size, rows) in &mut blocks {
            let (own, behind) = rest.split_at(*size);
            rows.copy_from_slice(&own[..rows.len()]);
            rest = behind;
        }
        Ok(())
    }

    fn mass(&self, at: &Position<f64>, M: &mut Matrix) -> Result<(), Undefined> {
        let n = self.names.velocities.len();
        let entries = if n == 0 { Vec::new() } else { self.call(&self.mass, (at.t, &[at.p]), n * n)? };
        for (k, entry) in entries.into_iter().enumerate() {
            M[(k / n, k % n)] = entry;
        }
        Ok(())
    }

    fn structure(&self) -> Structure {
        let kinematics = if self.plain_kinematics { Kinematics::Plain } else { Kinematics::General };
        Structure { kinematics, ..Structure::unknown() }
    }
}

/// A model of functions that are called.
pub fn model(py: Python<'_>, described: &str, rows: Py<PyAny>, mass: Py<PyAny>) -> PyResult<Model> {
    let described: Described = serde_json::from_str(described).map_err(|error| defect(py, error))?;
    let raised = Raised::default();
    let names = Names {
        positions: described.positions,
        velocities: described.velocities,
        dynamic: described.dynamic,
        auxiliary: described.auxiliary,
        contact: Vec::new(),
        holonomic: described.holonomic,
        nonholonomic: described.nonholonomic,
        invariants: described.invariants,
    };
    let (p, v) = (vec![Start::Unknown; names.positions.len()], vec![Start::Unknown; names.velocities.len()]);
    let mut initial = Initial { p, v, ..Initial::default() };
    for (name, value) in described.fix {
        initial = initial.fix(&*name, value);
    }
    for (name, value) in described.guess {
        initial = initial.guess(&*name, value);
    }
    let called = Called { rows, mass, names, plain_kinematics: described.plain_kinematics, raised: raised.clone() };
    let program = ProgramModel {
        name: described.name,
        description: described.description,
        parameters: described.parameters,
        interval: described.interval,
        initial,
        mechanism: Box::new(BlackBoxMotion(called)),
    };
    Ok(Model(program.into(), Some(raised)))
}
