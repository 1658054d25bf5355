//! How tests read the files, and the value of their equations at a point.

use daedal::Initial;
use daedal::dae::Formulas;
use daedal::graph::{Expr, Tape};
use daedal_model::{Model, ModelKind};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the model files.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

/// A model file, with some parameters changed.
pub fn read(name: &str, changes: &[(&str, f64)]) -> Model {
    let path = folder().join(format!("{name}.toml"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let changes: Vec<(String, f64)> = changes.iter().map(|&(name, value)| (name.to_string(), value)).collect();
    Model::read(&format!("{name}.toml"), &text, &changes).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()))
}

/// The equations and the start of a general system.
pub fn system(model: &Model) -> (&Formulas, &Initial) {
    match &model.kind {
        ModelKind::Dae { formulas, initial, .. } => (formulas, initial),
        ModelKind::Motion { .. } | ModelKind::Hybrid(_) => panic!("{} is no general system", model.name),
    }
}

/// Inputs of the graph at a time, with states, first derivatives, …; what is not given is zero.
pub fn inputs(formulas: &Formulas, t: f64, jet: &[Vec<f64>]) -> Vec<f64> {
    let n = formulas.states.len();
    let mut inputs = vec![t];
    for order in 0..=formulas.levels as usize {
        match jet.get(order) {
            Some(block) => {
                assert_eq!(block.len(), n);
                inputs.extend(block);
            }
            None => inputs.extend(vec![0.0; n]),
        }
    }
    inputs.extend(formulas.parameters.iter().map(|(_, value)| *value));
    inputs
}

/// F at a time and a jet.
pub fn residuals(formulas: &Formulas, t: f64, jet: &[Vec<f64>]) -> Vec<f64> {
    let equations: Vec<Expr> = formulas.equations.iter().map(|(_, residual)| *residual).collect();
    Tape::new(&formulas.graph, &equations).evaluate(&inputs(formulas, t, jet))
}
