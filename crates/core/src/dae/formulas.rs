//! A general system as formulas: what a model file says, or what a Rust model is when it is traced.

use super::Equations;
use crate::graph::{Expr, Graph, Node};

/// Formulas of a general system F(t, x, x', x'', …) = 0.
///
/// The inputs of the graph are t, the states x, their derivatives x', x'', … up to [`levels`](Self::levels), each block with an
/// entry for every state, and the parameters.
#[derive(Clone, Debug, Default)]
pub struct Formulas {
    /// The graph of all formulas.
    pub graph: Graph,
    /// Names of the states.
    pub states: Vec<String>,
    /// Highest derivative of each state in the equations.
    pub orders: Vec<u32>,
    /// Number of blocks of derivatives among the inputs.
    pub levels: u32,
    /// Names and residuals of the equations.
    pub equations: Vec<(String, Expr)>,
    /// Names and numbers of the parameters that are inputs of the graph.
    pub parameters: Vec<(String, f64)>,
    /// Further quantities that are wanted.
    pub outputs: Vec<(String, Expr)>,
    /// Quantities e with e = constant along every solution, that are to be kept.
    pub invariants: Vec<(String, Expr)>,
    /// States that may stay undetermined: they keep their initial values.
    pub free: Vec<String>,
    /// Functions in the equations that are not smooth, with the number of their continuous derivatives.
    pub tables: Vec<(String, usize)>,
    /// Constraints 0 = h(t, x) that are said to follow from the equations: an analysis compares them, no run uses them.
    pub hidden: Vec<(String, Expr)>,
}

impl Formulas {
    /// The formulas of a model, found by evaluating it with expressions.
    pub fn trace<E: Equations>(equations: &E) -> Self {
        let (n, m) = (equations.dim(), equations.rows());
        let states = equations.names();
        let mut graph = Graph::new();
        let t = graph.input("t");
        let x: Vec<Expr> = states.iter().map(|name| graph.input(name)).collect();
        let xdot: Vec<Expr> = states.iter().map(|name| graph.input(format!("{name}'"))).collect();
        let residuals = graph.with(|| {
            let mut r = vec![Expr::from(0.0); m];
            equations.residual(t, &x, &xdot, &mut r);
            r
        });
        let orders = highest_orders(&graph, &residuals, n, 1);
        let equations = equations.row_names().into_iter().zip(residuals).collect();
        Formulas { graph, states, orders, levels: 1, equations, ..Formulas::default() }
    }

    /// The input of a state (order 0) or of one of its derivatives.
    pub fn input(&self, state: usize, order: u32) -> Option<Expr> {
        let n = self.states.len();
        (order <= self.levels)
            .then(|| self.graph.inputs().nth(1 + n * order as usize + state).map(|(_, e)| e))
            .flatten()
    }
}

/// Highest derivative of each state that enters the formulas.
pub fn highest_orders(graph: &Graph, formulas: &[Expr], n: usize, levels: u32) -> Vec<u32> {
    let mut orders = vec![0; n];
    for e in graph.needed(formulas) {
        if let Node::Input(i) = graph.node(e)
            && (1..=n * (levels as usize + 1)).contains(&i)
        {
            let (order, state) = ((i - 1) / n, (i - 1) % n);
            orders[state] = orders[state].max(order as u32);
        }
    }
    orders
}

/// F(t, x, ẋ) = 0 as formulas: derivatives up to the highest but one are unknowns of their own.
///
/// Only derivatives that enter the equations become unknowns: a multiplier stays what it is. The graph is that of the model, with inputs added.
#[derive(Clone, Debug)]
pub struct FirstOrder {
    /// The graph of all formulas.
    pub graph: Graph,
    /// Time.
    pub t: Expr,
    /// Unknowns: the states, then the derivatives that are unknowns.
    pub x: Vec<Expr>,
    /// Their derivatives.
    pub xdot: Vec<Expr>,
    /// Names of the unknowns.
    pub names: Vec<String>,
    /// Which derivative of which state an unknown is.
    pub origin: Vec<(usize, u32)>,
    /// Residuals F.
    pub equations: Vec<Expr>,
    /// Names of the equations.
    pub row_names: Vec<String>,
    /// Parameters: input, number.
    pub parameters: Vec<(Expr, f64)>,
    /// Quantities that are kept: name, formula.
    pub invariants: Vec<(String, Expr)>,
}

impl FirstOrder {
    /// Of a system of any order.
    pub fn new(formulas: &Formulas) -> Self {
        let mut graph = formulas.graph.clone();
        let n = formulas.states.len();
        let inputs: Vec<Expr> = graph.inputs().map(|(_, e)| e).collect();
        let t = inputs[0];
        let place = |state: usize, order: u32| inputs[1 + n * order as usize + state];
        let first_parameter = 1 + n * (formulas.levels as usize + 1);
        let mut system = FirstOrder {
            t,
            x: (0..n).map(|j| place(j, 0)).collect(),
            xdot: Vec::new(),
            names: formulas.states.clone(),
            origin: (0..n).map(|j| (j, 0)).collect(),
            equations: formulas.equations.iter().map(|(_, e)| *e).collect(),
            row_names: formulas.equations.iter().map(|(name, _)| name.clone()).collect(),
            parameters: formulas
                .parameters
                .iter()
                .zip(&inputs[first_parameter..])
                .map(|((_, v), &e)| (e, *v))
                .collect(),
            invariants: formulas.invariants.clone(),
            graph: Graph::new(),
        };
        for j in 0..n {
            // x, x', … up to the highest derivative but one are unknowns
            for order in 1..formulas.orders[j] {
                system.x.push(place(j, order));
                system.names.push(format!("{}{}", formulas.states[j], "'".repeat(order as usize)));
                system.origin.push((j, order));
            }
        }
        for k in 0..system.x.len() {
            let (j, order) = system.origin[k];
            if order + 1 < formulas.orders[j] {
                // the derivative is an unknown: it needs another input, and an equation
                let rate = graph.input(format!("der({})", system.names[k]));
                let next = place(j, order + 1);
                system.xdot.push(rate);
                system.equations.push(graph.with(|| rate - next));
                system.row_names.push(format!("definition of {}'", system.names[k]));
            } else if order < formulas.levels {
                system.xdot.push(place(j, order + 1));
            } else {
                system.xdot.push(graph.input(format!("{}'", system.names[k])));
            }
        }
        system.graph = graph;
        system
    }

    /// Number of unknowns.
    pub fn dim(&self) -> usize {
        self.x.len()
    }

    /// Number of equations.
    pub fn rows(&self) -> usize {
        self.equations.len()
    }

    /// Where a handle of an input stands among the inputs of the graph.
    pub fn place(&self, input: Expr) -> usize {
        match self.graph.node(input) {
            Node::Input(i) => i,
            _ => unreachable!("unknowns and parameters are inputs"),
        }
    }

    /// The same with numbers for the parameters.
    #[must_use]
    pub fn bound(&self) -> Self {
        let mut bound = self.clone();
        let invariants: Vec<Expr> = self.invariants.iter().map(|(_, e)| *e).collect();
        let all = [&self.equations[..], &invariants].concat();
        let all = bound.graph.bind(&all, &self.parameters);
        let (equations, invariants) = all.split_at(self.rows());
        bound.equations = equations.to_vec();
        bound.invariants.iter_mut().zip(invariants).for_each(|((_, e), &new)| *e = new);
        bound
    }

    /// The highest derivative, 0 or 1, of the unknowns in every equation, as (unknown, order) by rising unknown.
    pub fn signature(&self) -> Vec<Vec<(usize, u8)>> {
        let mut column = vec![None; self.graph.inputs().len()];
        for j in 0..self.dim() {
            column[self.place(self.x[j])] = Some((j, 0));
            column[self.place(self.xdot[j])] = Some((j, 1));
        }
        let row = |inputs: Vec<usize>| {
            let mut row: Vec<(usize, u8)> = inputs.into_iter().filter_map(|i| column[i]).collect();
            // the higher one comes first and stays
            row.sort_unstable_by_key(|&(j, order)| (j, std::cmp::Reverse(order)));
            row.dedup_by_key(|entry| entry.0);
            row
        };
        self.graph.dependencies(&self.equations).into_iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Scalar;

    #[test]
    fn only_derivatives_that_enter_become_unknowns() {
        // x'' = −2 x λ, 0 = x² − 1, as a file gives it: two levels of inputs
        let mut graph = Graph::new();
        let inputs = ["t", "x", "lambda", "x'", "lambda'", "x''", "lambda''"].map(|name| graph.input(name));
        let [_, x, lambda, _, _, x2, _] = inputs;
        let residuals = graph.with(|| [x2 + x * lambda * 2.0, x.square() - 1.0]);
        let formulas = Formulas {
            orders: highest_orders(&graph, &residuals, 2, 2),
            graph,
            states: vec!["x".into(), "lambda".into()],
            levels: 2,
            equations: vec![("force".into(), residuals[0]), ("rod".into(), residuals[1])],
            ..Formulas::default()
        };
        assert_eq!(formulas.orders, [2, 0]);
        let first = FirstOrder::new(&formulas);
        assert_eq!(first.names, ["x", "lambda", "x'"]);
        assert_eq!(first.graph.formula(first.equations[2]), "der(x) - x'");
        assert_eq!(first.signature(), [vec![(0, 0), (1, 0), (2, 1)], vec![(0, 0)], vec![(0, 1), (2, 0)]]);
    }
}
