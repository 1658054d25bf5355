//! Formulas of a general system from formulas whose inputs stand in another order.

use super::formulas::{Formulas, highest_orders};
use crate::graph::{Expr, Graph, Node, Tape};

/// A first-order system in a graph with any inputs; handles tell which of them are time, states, derivatives and parameters.
#[derive(Clone, Debug)]
pub(crate) struct Arrangement {
    pub graph: Graph,
    pub t: Expr,
    pub states: Vec<ArrangedState>,
    /// Name, number and input of each parameter.
    pub parameters: Vec<(String, f64, Expr)>,
    pub equations: Vec<(String, Expr)>,
    pub outputs: Vec<(String, Expr)>,
    pub hidden: Vec<(String, Expr)>,
}

/// A state: its name, its input, and that of its derivative where there is one.
#[derive(Clone, Debug)]
pub(crate) struct ArrangedState {
    pub name: String,
    pub x: Expr,
    pub xdot: Option<Expr>,
}

impl Arrangement {
    /// The same formulas with the inputs t, x, x', parameters, in this order.
    pub fn formulas(&self) -> Formulas {
        let mut graph = Graph::new();
        let place = |input: Expr| match self.graph.node(input) {
            Node::Input(i) => i,
            _ => unreachable!("time, states, derivatives and parameters are inputs"),
        };
        let mut inputs = vec![None; self.graph.inputs().len()];
        inputs[place(self.t)] = Some(graph.input("t"));
        for state in &self.states {
            inputs[place(state.x)] = Some(graph.input(&*state.name));
        }
        for state in &self.states {
            // x' may be a state of its own
            let mut name = format!("{}'", state.name);
            if self.states.iter().any(|other| other.name == name) {
                name = format!("der({})", state.name);
            }
            let derivative = graph.input(name);
            if let Some(xdot) = state.xdot {
                inputs[place(xdot)] = Some(derivative);
            }
        }
        for (name, _, parameter) in &self.parameters {
            inputs[place(*parameter)] = Some(graph.input(&**name));
        }
        let all: Vec<Expr> = self.equations.iter().chain(&self.outputs).chain(&self.hidden).map(|(_, e)| *e).collect();
        let tape = Tape::new(&self.graph, &all);
        let images = graph.with(|| {
            // an input that has no place enters nothing
            let inputs: Vec<Expr> = inputs.iter().map(|e| e.unwrap_or_else(|| Expr::from(0.0))).collect();
            tape.evaluate(&inputs)
        });
        let (equations, others) = images.split_at(self.equations.len());
        let (outputs, hidden) = others.split_at(self.outputs.len());
        let named = |old: &[(String, Expr)], new: &[Expr]| {
            old.iter().zip(new).map(|((name, _), &e)| (name.clone(), e)).collect::<Vec<_>>()
        };
        Formulas {
            orders: highest_orders(&graph, equations, self.states.len(), 1),
            levels: 1,
            states: self.states.iter().map(|state| state.name.clone()).collect(),
            equations: named(&self.equations, equations),
            outputs: named(&self.outputs, outputs),
            hidden: named(&self.hidden, hidden),
            parameters: self.parameters.iter().map(|(name, value, _)| (name.clone(), *value)).collect(),
            graph,
            ..Formulas::default()
        }
    }
}
