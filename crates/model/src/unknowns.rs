//! The unknowns of equations, and where the inputs of their graph come from.

use crate::model::ModelKind;
use daedal::Start;
use daedal::dae::FirstOrder;
use daedal::motion::{Form, Layout};
use std::collections::HashMap;

/// Where the value of an input comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum InputSource {
    Time,
    /// An unknown.
    Unknown(usize),
    /// Its derivative.
    Rate(usize),
    /// A parameter.
    Number(f64),
}

/// Names of the unknowns, and the source of every input; an input without one enters nothing.
pub(crate) fn of(kind: &ModelKind) -> (Vec<String>, Vec<Option<InputSource>>) {
    match kind {
        ModelKind::Motion { formulas, .. } => {
            let layout = Layout::new(formulas.sizes, Form::StrangenessFree, false);
            let names = layout.variable_names(&formulas.names);
            let places: HashMap<&str, usize> = names.iter().enumerate().map(|(k, name)| (name.as_str(), k)).collect();
            let inputs = formulas.graph.inputs().len();
            let variables = inputs - formulas.parameters.len();
            let source = |(i, name): (usize, &str)| match i {
                0 => Some(InputSource::Time),
                i if i < variables => places.get(name).map(|&k| InputSource::Unknown(k)),
                i => formulas.parameters.get(i - variables).map(|(_, value)| InputSource::Number(*value)),
            };
            let sources = formulas.graph.inputs().map(|(name, _)| name).enumerate().map(source).collect();
            (names, sources)
        }
        ModelKind::Dae { formulas, .. } => {
            let first = FirstOrder::new(formulas);
            let mut sources = vec![None; formulas.graph.inputs().len()];
            let mut set = |place: usize, source: InputSource| {
                if let Some(entry) = sources.get_mut(place) {
                    *entry = Some(source);
                }
            };
            set(first.place(first.t), InputSource::Time);
            for (k, &rate) in first.xdot.iter().enumerate() {
                set(first.place(rate), InputSource::Rate(k));
            }
            // derivatives that are unknowns are taken from the state
            for (k, &unknown) in first.x.iter().enumerate() {
                set(first.place(unknown), InputSource::Unknown(k));
            }
            for &(parameter, value) in &first.parameters {
                set(first.place(parameter), InputSource::Number(value));
            }
            (first.names, sources)
        }
        ModelKind::Hybrid(_) => (Vec::new(), Vec::new()),
    }
}

/// What is given about the unknowns at the start, in their order.
pub(crate) fn start(kind: &ModelKind) -> Vec<Start> {
    match kind {
        ModelKind::Motion { formulas, initial, .. } => {
            let layout = Layout::new(formulas.sizes, Form::StrangenessFree, false);
            // blocks have the lengths of the model they were read with
            initial.values(&layout, &[]).unwrap_or_else(|_| vec![Start::Unknown; layout.dim()])
        }
        ModelKind::Dae { formulas, initial, .. } => {
            FirstOrder::new(formulas).origin.iter().map(|&(state, order)| initial.start(state, order)).collect()
        }
        ModelKind::Hybrid(_) => Vec::new(),
    }
}
