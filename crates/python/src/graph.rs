//! Expressions of models that are written in Python: a graph, and handles of its nodes as numbers.

use crate::bytes::{floats, handles as from_bytes, of_handles};
use crate::failure::raised;
use daedal_graph::{Binary, Expr, Tape, Unary};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

const UNARIES: [(&str, Unary); 14] = [
    ("neg", Unary::Neg),
    ("sqrt", Unary::Sqrt),
    ("exp", Unary::Exp),
    ("ln", Unary::Ln),
    ("sin", Unary::Sin),
    ("cos", Unary::Cos),
    ("tan", Unary::Tan),
    ("sinh", Unary::Sinh),
    ("cosh", Unary::Cosh),
    ("tanh", Unary::Tanh),
    ("asin", Unary::Asin),
    ("acos", Unary::Acos),
    ("atan", Unary::Atan),
    ("abs", Unary::Abs),
];
const BINARIES: [(&str, Binary); 6] = [
    ("add", Binary::Add),
    ("sub", Binary::Sub),
    ("mul", Binary::Mul),
    ("div", Binary::Div),
    ("atan2", Binary::Atan2),
    ("pow", Binary::Pow),
];

fn find<T: Copy>(table: &[(&str, T)], name: &str) -> PyResult<T> {
    let found = table.iter().find(|(known, _)| *known == name);
    found.map(|(_, f)| *f).ok_or_else(|| PyValueError::new_err(format!("there is no operation {name}")))
}

/// Most operations of formulas that are written without definitions.
const LONGEST: usize = 100_000;

/// How many operations formulas have when everything that they share is written out.
fn operations(graph: &daedal_graph::Graph, outputs: &[Expr]) -> usize {
    let mut sizes: HashMap<Expr, usize> = HashMap::new();
    for e in graph.needed(outputs) {
        let own = graph.node(e).arguments().map(|x| sizes.get(&x).copied().unwrap_or(0));
        sizes.insert(e, own.fold(1, usize::saturating_add));
    }
    outputs.iter().fold(0, |sum, e| sum.saturating_add(sizes.get(e).copied().unwrap_or(0)))
}

type Handles<'py> = Bound<'py, PyBytes>;

/// A graph.
#[pyclass(frozen, module = "daedal._native")]
pub struct Graph(Mutex<daedal_graph::Graph>);

impl Graph {
    fn lock(&self) -> PyResult<MutexGuard<'_, daedal_graph::Graph>> {
        self.0.lock().map_err(|_| PyValueError::new_err("the graph was left by a panic"))
    }
}

/// A handle that is one of the graph.
fn handle(graph: &daedal_graph::Graph, index: u32) -> PyResult<Expr> {
    if (index as usize) < graph.len() {
        Ok(Expr::from_index(index))
    } else {
        Err(PyIndexError::new_err("no such node"))
    }
}

fn handles(graph: &daedal_graph::Graph, indices: &[u32]) -> PyResult<Vec<Expr>> {
    indices.iter().map(|&index| handle(graph, index)).collect()
}

fn index(e: Expr) -> u32 {
    e.index() as u32
}

#[pymethods]
impl Graph {
    #[new]
    fn new() -> Self {
        Graph(Mutex::default())
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.lock()?.len())
    }

    fn input(&self, name: String) -> PyResult<u32> {
        Ok(index(self.lock()?.input(name)))
    }

    fn number(&self, value: f64) -> PyResult<u32> {
        Ok(index(self.lock()?.number(value)))
    }

    fn numbers<'py>(&self, py: Python<'py>, values: &[u8]) -> PyResult<Handles<'py>> {
        let mut graph = self.lock()?;
        let made: Vec<u32> = floats(values)?.iter().map(|&value| index(graph.number(value))).collect();
        of_handles(py, &made)
    }

    fn unary(&self, name: &str, x: u32) -> PyResult<u32> {
        let f = find(&UNARIES, name)?;
        let mut graph = self.lock()?;
        let x = handle(&graph, x)?;
        Ok(index(graph.unary(f, x)))
    }

    fn binary(&self, name: &str, x: u32, y: u32) -> PyResult<u32> {
        let f = find(&BINARIES, name)?;
        let mut graph = self.lock()?;
        let (x, y) = (handle(&graph, x)?, handle(&graph, y)?);
        Ok(index(graph.binary(f, x, y)))
    }

    fn powi(&self, x: u32, n: i32) -> PyResult<u32> {
        let mut graph = self.lock()?;
        let x = handle(&graph, x)?;
        Ok(index(graph.powi(x, n)))
    }

    fn powf(&self, x: u32, a: f64) -> PyResult<u32> {
        let mut graph = self.lock()?;
        let x = handle(&graph, x)?;
        Ok(index(graph.powf(x, a)))
    }

    fn select(&self, c: u32, yes: u32, no: u32) -> PyResult<u32> {
        let mut graph = self.lock()?;
        let (c, yes, no) = (handle(&graph, c)?, handle(&graph, yes)?, handle(&graph, no)?);
        Ok(index(graph.select(c, yes, no)))
    }

    /// One function of many arguments.
    fn unaries<'py>(&self, py: Python<'py>, name: &str, x: &[u8]) -> PyResult<Handles<'py>> {
        let f = find(&UNARIES, name)?;
        let mut graph = self.lock()?;
        let x = handles(&graph, &from_bytes(x)?)?;
        of_handles(py, &x.into_iter().map(|x| index(graph.unary(f, x))).collect::<Vec<u32>>())
    }

    /// One function of many pairs of arguments.
    fn binaries<'py>(&self, py: Python<'py>, name: &str, x: &[u8], y: &[u8]) -> PyResult<Handles<'py>> {
        let f = find(&BINARIES, name)?;
        let mut graph = self.lock()?;
        let (x, y) = (handles(&graph, &from_bytes(x)?)?, handles(&graph, &from_bytes(y)?)?);
        of_handles(py, &x.into_iter().zip(y).map(|(x, y)| index(graph.binary(f, x, y))).collect::<Vec<u32>>())
    }

    /// The number that a node is.
    fn constant(&self, x: u32) -> PyResult<Option<f64>> {
        let graph = self.lock()?;
        Ok(graph.constant(handle(&graph, x)?))
    }

    /// The formula for people.
    fn formula(&self, x: u32) -> PyResult<String> {
        let graph = self.lock()?;
        Ok(graph.formula(handle(&graph, x)?))
    }

    /// Names of the inputs that enter.
    fn depends_on(&self, x: u32) -> PyResult<Vec<String>> {
        let graph = self.lock()?;
        let inputs = graph.depends_on(handle(&graph, x)?);
        Ok(inputs.into_iter().map(|i| graph.input_name(i).to_string()).collect())
    }

    /// Definitions and formulas as text that is read back into the same nodes; the names of definitions begin with `prefix`, and there are none without one.
    #[allow(clippy::type_complexity)] // a tuple for Python
    fn source(
        &self,
        py: Python<'_>,
        outputs: Vec<u32>,
        prefix: &str,
    ) -> PyResult<(Vec<(String, String)>, Vec<String>)> {
        let graph = self.lock()?;
        let outputs = handles(&graph, &outputs)?;
        if prefix.is_empty() && operations(&graph, &outputs) > LONGEST {
            let said = format!(
                "a formula that stands by itself has more than {LONGEST} operations when its shared parts are written out; laws of elements, conditions and jumps \
                 are such formulas: make it shorter, or make a variable of what is shared"
            );
            return Err(raised(py, "TraceError", &said));
        }
        let names = (1..).map(|k| format!("{prefix}{k}")).take_while(|_| !prefix.is_empty());
        let listing = graph.source(&outputs, names);
        Ok((listing.definitions, listing.formulas))
    }

    /// d/dt along input' = rate.
    fn total_derivative(&self, outputs: Vec<u32>, flow: Vec<(u32, u32)>) -> PyResult<Vec<u32>> {
        let mut graph = self.lock()?;
        let outputs = handles(&graph, &outputs)?;
        let flow: PyResult<Vec<(Expr, Expr)>> =
            flow.into_iter().map(|(x, y)| Ok((handle(&graph, x)?, handle(&graph, y)?))).collect();
        Ok(graph.total_derivative(&outputs, &flow?).into_iter().map(index).collect())
    }

    /// The entries (row, column, entry) of ∂outputs/∂inputs that are not zero.
    fn jacobian(&self, outputs: Vec<u32>, inputs: Vec<u32>) -> PyResult<Vec<(usize, usize, u32)>> {
        let mut graph = self.lock()?;
        let (outputs, inputs) = (handles(&graph, &outputs)?, handles(&graph, &inputs)?);
        Ok(graph.jacobian(&outputs, &inputs).iter().map(|(i, j, e)| (i, j, index(e))).collect())
    }

    /// Values of outputs for values of all inputs.
    fn evaluate(&self, outputs: Vec<u32>, inputs: Vec<f64>) -> PyResult<Vec<f64>> {
        let graph = self.lock()?;
        let outputs = handles(&graph, &outputs)?;
        if inputs.len() != graph.inputs().len() {
            return Err(PyValueError::new_err(format!("{} values for {} inputs", inputs.len(), graph.inputs().len())));
        }
        Ok(Tape::new(&graph, &outputs).evaluate(&inputs))
    }
}
