//! Conditions and inputs of time alone in formulas.

use crate::graph::{Binary, Expr, Graph, Node, Tape, Unary};
use std::collections::HashMap;

/// What enters a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Enters {
    Numbers,
    Time,
    Unknowns,
}

/// Formulas of time alone, each condition replaced by the sign of an input: with signs held they are smooth.
#[derive(Clone, Debug)]
pub(super) struct OfTime {
    /// Conditions c(t; signs), the inner ones first.
    pub conditions: Tape,
    /// Largest formulas of time alone, u(t; signs).
    pub profiles: Tape,
    /// How people read the conditions.
    pub texts: Vec<String>,
    /// Does a condition choose between formulas that contain unknowns?
    pub mixed: Vec<bool>,
    /// Number of profiles.
    pub count: usize,
    /// Where time and the signs stand among the inputs.
    pub time: usize,
    pub first_sign: usize,
    pub inputs: usize,
}

impl OfTime {
    /// Of formulas with numbers for their parameters. None where no condition and no input is a function of time alone.
    pub fn new(graph: &Graph, t: Expr, formulas: &[Expr]) -> Option<Self> {
        let order = graph.needed(formulas);
        if order.binary_search(&t).is_err() {
            return None;
        }
        let enters = what_enters(graph, t, &order);
        let of_time = |e: Expr| enters.get(&e) == Some(&Enters::Time);
        let (mut conditions, mut mixed): (Vec<Expr>, Vec<bool>) = Default::default();
        let mut condition = |c: Expr, unknowns: bool| {
            if !of_time(c) {
                return;
            }
            match conditions.iter().position(|known| *known == c) {
                Some(k) => mixed[k] |= unknowns,
                None => {
                    conditions.push(c);
                    mixed.push(unknowns);
                }
            }
        };
        let mut profiles: Vec<Expr> = formulas.iter().copied().filter(|e| of_time(*e)).collect();
        for &e in &order {
            let node = graph.node(e);
            match node {
                Node::Select(c, ..) => condition(c, !of_time(e)),
                Node::Unary(Unary::Abs, c) => condition(c, false),
                // the angle jumps where y changes its sign on the left
                Node::Binary(Binary::Atan2, y, _) => condition(y, !of_time(e)),
                _ => {}
            }
            if enters[&e] == Enters::Unknowns {
                let decides = if let Node::Select(c, ..) = node { Some(c) } else { None };
                profiles.extend(node.arguments().filter(|x| of_time(*x) && decides != Some(*x)));
            }
        }
        profiles.sort_unstable();
        profiles.dedup();
        // time itself is no news
        profiles.retain(|e| *e != t);
        if conditions.is_empty() && profiles.is_empty() {
            return None;
        }
        let texts = conditions.iter().map(|c| graph.formula(*c)).collect();
        let mut graph = graph.clone();
        let first_sign = graph.inputs().len();
        let signs: Vec<(Expr, Expr)> =
            conditions.iter().enumerate().map(|(k, c)| (*c, graph.input(format!("sign {k}")))).collect();
        let (number, count) = (conditions.len(), profiles.len());
        let all = graph.with_signs(&[conditions, profiles].concat(), &signs);
        let (conditions, profiles) = all.split_at(number);
        let Node::Input(time) = graph.node(t) else { return None };
        Some(OfTime {
            conditions: Tape::new(&graph, conditions),
            profiles: Tape::new(&graph, profiles),
            texts,
            mixed,
            count,
            time,
            first_sign,
            inputs: graph.inputs().len(),
        })
    }
}

fn what_enters(graph: &Graph, t: Expr, order: &[Expr]) -> HashMap<Expr, Enters> {
    let mut enters = HashMap::with_capacity(order.len());
    for &e in order {
        let of = match graph.node(e) {
            Node::Constant(_) => Enters::Numbers,
            Node::Input(_) if e == t => Enters::Time,
            Node::Input(_) => Enters::Unknowns,
            node => node.arguments().map(|x| enters[&x]).max().unwrap_or(Enters::Numbers),
        };
        enters.insert(e, of);
    }
    enters
}
