//! Parameters that are to be found: states that do not move, k' = 0.

use super::Formulas;
use super::formulas::highest_orders;
use crate::graph::{Expr, Graph, Tape};

impl Formulas {
    /// The same with some parameters as states behind the others; names that are no parameters are left out.
    #[must_use]
    pub fn with_sought(&self, sought: &[String]) -> Self {
        let is_sought = |name: &String| sought.contains(name);
        let found: Vec<&String> = self.parameters.iter().map(|(name, _)| name).filter(|name| is_sought(name)).collect();
        if found.is_empty() {
            return self.clone();
        }
        let (n, levels) = (self.states.len(), self.levels.max(1));
        let mut graph = Graph::new();
        let t = graph.input("t");
        let mut images = vec![t];
        let mut rates = Vec::new();
        let mut constants = Vec::new();
        for order in 0..=levels {
            let prime = "'".repeat(order as usize);
            let block: Vec<Expr> = self.states.iter().map(|name| graph.input(format!("{name}{prime}"))).collect();
            if order <= self.levels {
                images.extend(block);
            }
            let own: Vec<Expr> = found.iter().map(|name| graph.input(format!("{name}{prime}"))).collect();
            match order {
                0 => constants = own,
                1 => rates = own,
                _ => {}
            }
        }
        let mut parameters = Vec::new();
        for (name, value) in &self.parameters {
            match found.iter().position(|sought| *sought == name) {
                Some(k) => images.push(constants[k]),
                None => {
                    images.push(graph.input(name));
                    parameters.push((name.clone(), *value));
                }
            }
        }
        let lists = [&self.equations, &self.outputs, &self.invariants, &self.hidden];
        let all: Vec<Expr> = lists.iter().flat_map(|list| list.iter().map(|(_, e)| *e)).collect();
        let tape = Tape::new(&self.graph, &all);
        let mut copies = graph.with(|| {
            // what the graph has besides enters nothing
            images.resize(self.graph.inputs().len(), Expr::from(0.0));
            tape.evaluate(&images)
        });
        let mut lists = lists.map(|list| {
            let rest = copies.split_off(list.len());
            let taken = std::mem::replace(&mut copies, rest);
            list.iter().zip(taken).map(|((name, _), e)| (name.clone(), e)).collect::<Vec<_>>()
        });
        let stays = found.iter().zip(&rates).map(|(name, &rate)| (format!("{name} stays"), rate));
        lists[0].extend(stays);
        let [equations, outputs, invariants, hidden] = lists;
        let residuals: Vec<Expr> = equations.iter().map(|(_, e)| *e).collect();
        let states: Vec<String> = self.states.iter().chain(found).cloned().collect();
        let count = states.len();
        debug_assert!(count > n);
        Formulas {
            orders: highest_orders(&graph, &residuals, count, levels),
            graph,
            states,
            levels,
            equations,
            parameters,
            outputs,
            invariants,
            hidden,
            free: self.free.clone(),
            tables: self.tables.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_becomes_a_state_that_does_not_move() {
        let mut graph = Graph::new();
        let [_, x, v, xd, vd, k, m] = ["t", "x", "v", "x'", "v'", "k", "m"].map(|name| graph.input(name));
        let residuals = graph.with(|| [xd - v, m * vd + k * x]);
        let formulas = Formulas {
            orders: vec![1, 1],
            graph,
            states: vec!["x".into(), "v".into()],
            levels: 1,
            equations: vec![("a".into(), residuals[0]), ("b".into(), residuals[1])],
            parameters: vec![("k".into(), 2.0), ("m".into(), 3.0)],
            ..Formulas::default()
        };
        let sought = formulas.with_sought(&["k".to_string()]);
        assert_eq!(sought.states, ["x", "v", "k"]);
        assert_eq!(sought.orders, [1, 1, 1]);
        assert_eq!(sought.parameters, [("m".to_string(), 3.0)]);
        let text: Vec<String> = sought.equations.iter().map(|(_, e)| sought.graph.formula(*e)).collect();
        assert_eq!(text, ["x' - v", "m*v' + k*x", "k'"]);
    }
}
