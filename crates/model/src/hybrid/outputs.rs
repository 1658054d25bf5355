//! Outputs that mean the same in several modes.

use super::model::{HybridMode, HybridModel};
use crate::model::ModelKind;
use crate::unknowns::InputSource;
use daedal::graph::{Expr, Graph, Tape};
use std::collections::HashMap;

impl HybridModel {
    /// Names of the outputs that have the same formula in all of these modes, numbers of parameters included. While a system slides
    /// between modes, only these have a value that follows from the unknowns.
    pub fn shared_outputs(&self, modes: &[usize]) -> Vec<String> {
        let Some((&first, others)) = modes.split_first() else { return Vec::new() };
        // equal formulas become the same node of one graph
        let mut graph = Graph::new();
        let mut inputs = HashMap::new();
        let mut of = |mode: usize| self.modes[mode].outputs_in(&mut graph, &mut inputs);
        let mut shared = of(first);
        for &other in others {
            let found = of(other);
            shared.retain(|output| found.contains(output));
        }
        shared.into_iter().map(|(name, _)| name).collect()
    }
}

impl HybridMode {
    /// The outputs as formulas of another graph, whose inputs have the names of unknowns.
    fn outputs_in(&self, graph: &mut Graph, inputs: &mut HashMap<String, Expr>) -> Vec<(String, Expr)> {
        let (own, outputs) = match &self.kind {
            ModelKind::Motion { formulas, .. } => (&formulas.graph, &formulas.outputs),
            ModelKind::Dae { formulas, .. } => (&formulas.graph, &formulas.outputs),
            ModelKind::Hybrid(_) => return Vec::new(),
        };
        let mut input = |name: String| *inputs.entry(name).or_insert_with_key(|name| graph.input(name.as_str()));
        let mut places: Vec<Result<Expr, f64>> = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            places.push(match source {
                Some(InputSource::Time) => Ok(input("t".into())),
                Some(InputSource::Unknown(k)) => Ok(input(self.unknowns[*k].clone())),
                Some(InputSource::Rate(k)) => Ok(input(format!("der({})", self.unknowns[*k]))),
                Some(InputSource::Number(value)) => Err(*value),
                None => Err(f64::NAN),
            });
        }
        let formulas: Vec<Expr> = outputs.iter().map(|(_, formula)| *formula).collect();
        let tape = Tape::new(own, &formulas);
        let values = graph.with(|| {
            let inputs: Vec<Expr> = places.iter().map(|place| place.unwrap_or_else(Expr::from)).collect();
            tape.evaluate(&inputs)
        });
        outputs.iter().map(|(name, _)| name.clone()).zip(values).collect()
    }
}
