//! The difference of two formulas without the terms that both have.
//!
//! Formulas are sums Σ cₖ eₖ with numbers cₖ; terms with the same eₖ are taken together. This keeps linear what is linear: the difference of two
//! modes is what jumps, not what they share.

use crate::graph::{Binary, Expr, Graph, Node, Unary};
use std::collections::HashMap;

/// a − b.
pub(in crate::hybrid) fn difference(graph: &mut Graph, a: Expr, b: Expr) -> Expr {
    let mut sum = Sum::default();
    sum.add(graph, a, 1.0);
    sum.add(graph, b, -1.0);
    sum.terms.retain(|(_, c)| *c != 0.0);
    // one term each that share a factor or a denominator
    if let [(x, c), (y, d)] = sum.terms[..]
        && c == -d
        && sum.constant == 0.0
        && let Some((x, y, other, division)) = shared(graph, x, y)
    {
        let rest = difference(graph, x, y);
        return graph.with(|| if division { rest * c / other } else { rest * c * other });
    }
    graph.with(|| {
        let mut total = Expr::from(0.0);
        for (e, c) in sum.terms {
            total += e * c;
        }
        total + sum.constant
    })
}

/// x and y without what they share, that, and is it a denominator?
fn shared(graph: &Graph, x: Expr, y: Expr) -> Option<(Expr, Expr, Expr, bool)> {
    match (graph.node(x), graph.node(y)) {
        (Node::Binary(Binary::Div, x, p), Node::Binary(Binary::Div, y, q)) if p == q => Some((x, y, p, true)),
        (Node::Binary(Binary::Mul, a, b), Node::Binary(Binary::Mul, c, d)) => {
            let pairs = [(a, b, c, d), (a, b, d, c), (b, a, c, d), (b, a, d, c)];
            pairs.into_iter().find(|(p, _, q, _)| p == q).map(|(p, x, _, y)| (x, y, p, false))
        }
        _ => None,
    }
}

/// Σ cₖ eₖ + constant.
#[derive(Default)]
struct Sum {
    terms: Vec<(Expr, f64)>,
    place: HashMap<Expr, usize>,
    constant: f64,
}

impl Sum {
    /// Add c e.
    fn add(&mut self, graph: &Graph, e: Expr, c: f64) {
        let mut open = vec![(e, c)];
        while let Some((e, c)) = open.pop() {
            match graph.node(e) {
                Node::Constant(value) => self.constant += c * value,
                Node::Unary(Unary::Neg, x) => open.push((x, -c)),
                // the first term is looked at first
                Node::Binary(Binary::Add, x, y) => open.extend([(y, c), (x, c)]),
                Node::Binary(Binary::Sub, x, y) => open.extend([(y, -c), (x, c)]),
                Node::Binary(Binary::Mul, x, y) if let Some(factor) = graph.constant(x) => open.push((y, c * factor)),
                Node::Binary(Binary::Mul, x, y) if let Some(factor) = graph.constant(y) => open.push((x, c * factor)),
                _ => {
                    let terms = &mut self.terms;
                    let k = *self.place.entry(e).or_insert_with(|| {
                        terms.push((e, 0.0));
                        terms.len() - 1
                    });
                    terms[k].1 += c;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Scalar;

    #[test]
    fn what_both_have_is_gone() {
        let mut graph = Graph::new();
        let [x, y, z, m] = ["x", "y", "z", "m"].map(|name| graph.input(name));
        let friction = |sign: f64| x * y - z.sin() * sign + x * 3.0 + sign;
        let (a, b) = graph.with(|| (friction(1.0), friction(-1.0)));
        let d = difference(&mut graph, a, b);
        assert_eq!(graph.formula(d), "2 - 2*sin(z)");
        let (a, b) = graph.with(|| (-(friction(1.0) / m), -(friction(-1.0) / m)));
        let d = difference(&mut graph, a, b);
        assert_eq!(graph.depends_on(d), [2, 3]);
        let values = crate::graph::Tape::new(&graph, &[d]).evaluate(&[0.3, 0.7, 0.4, 5.0]);
        assert!((values[0] + (2.0 - 2.0 * 0.4_f64.sin()) / 5.0).abs() < 1e-15, "{values:?}");
    }
}
