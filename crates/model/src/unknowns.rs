//! The unknowns of equations, and where the inputs of their graph come from.

use crate::model::Kind;
use daedal::Start;
use daedal::dae::FirstOrder;
use daedal::motion::{Form, Layout};
use std::collections::HashMap;

/// Where the value of an input comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    Time,
    /// An unknown.
    Unknown(usize),
    /// Its derivative.
    Rate(usize),
    /// A parameter.
    Number(f64),
}

/// Names of the unknowns, and the source of every input; an input without one enters nothing.
pub(crate) fn of(kind: &Kind) -> (Vec<String>, Vec<Option<Source>>) {
    match kind {
        Kind::Motion { formulas, .. } => {
            let layout = Layout::new(formulas.sizes, Form::StrangenessFree, false);
            let names = layout.variable_names(&formulas.names);
            let places: HashMap<&str, usize> = names.iter().enumerate().map(|(k, name)| (name.as_str(), k)).collect();
            let inputs = formulas.graph.inputs().len();
            let variables = inputs - formulas.parameters.len();
            let source = |(i, name): (usize, &str)| match i {
                0 => Some(Source::Time),
                i if i < variables => places.get(name).map(|&k| Source::Unknown(k)),
                i => formulas.parameters.get(i - variables).map(|(_, value)| Source::Number(*value)),
            };
            let sources = formulas.graph.inputs().map(|(name, _)| name).enumerate().map(source).collect();
            (names, sources)
        }
        Kind::Dae { formulas, .. } => {
            let first = FirstOrder::new(formulas);
            let mut sources = vec![None; formulas.graph.inputs().len()];
            let mut set = |place: usize, source: Source| {
                if let Some(entry) = sources.get_mut(place) {
                    *entry = Some(source);
                }
            };
            set(first.place(first.t), Source::Time);
            for (k, &rate) in first.xdot.iter().enumerate() {
                set(first.place(rate), Source::Rate(k));
            }
            // derivatives that are unknowns are taken from the state
            for (k, &unknown) in first.x.iter().enumerate() {
                set(first.place(unknown), Source::Unknown(k));
            }
            for &(parameter, value) in &first.parameters {
                set(first.place(parameter), Source::Number(value));
            }
            (first.names, sources)
        }
        Kind::Hybrid(_) => (Vec::new(), Vec::new()),
    }
}

/// What is given about the unknowns at the start, in their order.
pub(crate) fn start(kind: &Kind) -> Vec<Start> {
    match kind {
        Kind::Motion { formulas, initial, .. } => {
            let layout = Layout::new(formulas.sizes, Form::StrangenessFree, false);
            // blocks have the lengths of the model they were read with
            initial.values(&layout, &[]).unwrap_or_else(|_| vec![Start::Unknown; layout.dim()])
        }
        Kind::Dae { formulas, initial, .. } => {
            FirstOrder::new(formulas).origin.iter().map(|&(state, order)| initial.start(state, order)).collect()
        }
        Kind::Hybrid(_) => Vec::new(),
    }
}
