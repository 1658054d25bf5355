//! Inputs replaced by numbers or formulas, conditions by other ones.

use crate::{Expr, Graph, Node, Unary};
use rustc_hash::FxHashMap;

impl Graph {
    /// The expressions with some inputs replaced. Everything is simplified anew, so that numbers fold.
    pub fn substitute(&mut self, expressions: &[Expr], by: &[(Expr, Expr)]) -> Vec<Expr> {
        let mut image: FxHashMap<Expr, Expr> = by.iter().copied().collect();
        for e in self.needed(expressions) {
            if image.contains_key(&e) {
                continue;
            }
            let node = self.node(e);
            let new = self.rebuild(e, node, |x| image[&x]);
            image.insert(e, new);
        }
        expressions.iter().map(|e| image[e]).collect()
    }

    /// The expressions with conditions replaced: the sign of c in `if(c >= 0, x, y)` and in `abs(c)` is that of another expression, for the
    /// pairs (c, other) given. So a formula becomes one piece of itself, which is smooth where its pieces meet.
    pub fn with_signs(&mut self, expressions: &[Expr], signs: &[(Expr, Expr)]) -> Vec<Expr> {
        let signs: FxHashMap<Expr, Expr> = signs.iter().copied().collect();
        let mut image: FxHashMap<Expr, Expr> = FxHashMap::default();
        for e in self.needed(expressions) {
            let new = match self.node(e) {
                Node::Select(c, x, y) if signs.contains_key(&c) => self.select(signs[&c], image[&x], image[&y]),
                Node::Unary(Unary::Abs, c) if signs.contains_key(&c) => {
                    let negative = self.negative(image[&c]);
                    self.select(signs[&c], image[&c], negative)
                }
                node => self.rebuild(e, node, |x| image[&x]),
            };
            image.insert(e, new);
        }
        expressions.iter().map(|e| image[e]).collect()
    }

    /// A node with its arguments mapped.
    fn rebuild(&mut self, e: Expr, node: Node, of: impl Fn(Expr) -> Expr) -> Expr {
        match node {
            Node::Constant(_) | Node::Input(_) => e,
            Node::Unary(f, x) => self.unary(f, of(x)),
            Node::Binary(f, x, y) => self.binary(f, of(x), of(y)),
            Node::Powi(x, n) => self.powi(of(x), n),
            Node::Powf(x, a) => self.powf(of(x), a),
            Node::Select(c, x, y) => self.select(of(c), of(x), of(y)),
        }
    }

    /// Numbers for some inputs.
    pub fn bind(&mut self, expressions: &[Expr], values: &[(Expr, f64)]) -> Vec<Expr> {
        let by: Vec<(Expr, Expr)> = values.iter().map(|&(input, value)| (input, self.number(value))).collect();
        self.substitute(expressions, &by)
    }

    /// −x.
    pub fn negative(&mut self, x: Expr) -> Expr {
        self.unary(Unary::Neg, x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use daedal_scalar::Scalar;

    #[test]
    fn numbers_fold_after_substitution() {
        let mut graph = Graph::new();
        let [x, l, k] = ["x", "L", "k"].map(|name| graph.input(name));
        let e = graph.with(|| (x * l + k * x.sin()) / l);
        let bound = graph.bind(&[e], &[(l, 1.0), (k, 0.0)]);
        assert_eq!(bound, [x]);
        assert_eq!(graph.formula(e), "(x*L + k*sin(x))/L");
    }

    #[test]
    fn a_piece_goes_on_where_the_condition_changes() {
        let mut graph = Graph::new();
        let [t, s] = ["t", "s"].map(|name| graph.input(name));
        let (kink, jump) = graph.with(|| {
            let c = t - 5.0;
            (c.abs(), c.select(c * t, Expr::from(0.0)))
        });
        let c = graph.with(|| t - 5.0);
        let pieces = graph.with_signs(&[kink, jump], &[(c, s)]);
        assert_eq!(graph.formula(pieces[0]), "if(s >= 0, t - 5, 5 - t)");
        assert_eq!(graph.formula(pieces[1]), "if(s >= 0, (t - 5)*t, 0)");
    }
}
