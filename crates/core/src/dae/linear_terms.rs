//! A formula as a sum of numbers times other formulas, by which two formulas are compared and combinations found: graphs keep the order in
//! which formulas were written.

use crate::graph::{Binary, Expr, Graph, Node, Unary};
use std::collections::BTreeMap;

/// Factors of the formulas that a sum consists of; no formula for the number in it. Zeros are left out.
pub fn linear_terms(graph: &Graph, e: Expr) -> BTreeMap<Option<Expr>, f64> {
    let mut terms = BTreeMap::new();
    for (base, factor) in written_terms(graph, e) {
        *terms.entry(base).or_default() += factor;
    }
    terms.retain(|_, factor| *factor != 0.0);
    terms
}

/// The terms one by one, in the order in which they are written.
pub fn written_terms(graph: &Graph, e: Expr) -> Vec<(Option<Expr>, f64)> {
    let mut terms = Vec::new();
    collect(graph, e, 1.0, &mut terms);
    terms
}

fn collect(graph: &Graph, e: Expr, factor: f64, terms: &mut Vec<(Option<Expr>, f64)>) {
    match graph.node(e) {
        Node::Constant(x) => terms.push((None, factor * x)),
        Node::Unary(Unary::Neg, x) => collect(graph, x, -factor, terms),
        Node::Binary(Binary::Add, x, y) => {
            collect(graph, x, factor, terms);
            collect(graph, y, factor, terms);
        }
        Node::Binary(Binary::Sub, x, y) => {
            collect(graph, x, factor, terms);
            collect(graph, y, -factor, terms);
        }
        Node::Binary(Binary::Mul, x, y) if let Some(c) = graph.constant(x) => collect(graph, y, factor * c, terms),
        Node::Binary(Binary::Mul, x, y) if let Some(c) = graph.constant(y) => collect(graph, x, factor * c, terms),
        Node::Binary(Binary::Div, x, y) if let Some(c) = graph.constant(y) => collect(graph, x, factor / c, terms),
        _ => terms.push((Some(e), factor)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Scalar;

    #[test]
    fn sums_are_equal_whatever_their_order() {
        let mut graph = Graph::new();
        let [t, x] = ["t", "x"].map(|name| graph.input(name));
        let [one, other, none] =
            graph.with(|| [t.sin() * 2.0 - x / 4.0 + 1.0, -(x * 0.25 - 1.0) + t.sin() + t.sin(), t - t]);
        assert_eq!(linear_terms(&graph, one), linear_terms(&graph, other));
        assert_eq!(linear_terms(&graph, one)[&None], 1.0);
        assert!(linear_terms(&graph, none).is_empty());
    }
}
