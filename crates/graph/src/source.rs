//! Formulas as text that, read back operation by operation, gives the same nodes.
//!
//! Texts for people put equal terms together; here nothing is: every operation of the graph is one operation of the text, in the same
//! order. What is used more than once, or is long, has a name of its own, so that no text is long or deep, however large the graph is.

use crate::print::Bond;
use crate::{Binary, Expr, Graph, Listing, Node, Unary};
use std::collections::{HashMap, HashSet};

/// Shared parts of fewer letters are written out.
const SHORT: usize = 16;
/// No text is much longer than this.
const LONG: usize = 96;

impl Graph {
    /// Several formulas; parts get names from `names`, which must be free.
    ///
    /// ```
    /// use daedal_graph::Graph;
    /// use daedal_scalar::Scalar;
    /// let mut graph = Graph::new();
    /// let (x, y) = (graph.input("x"), graph.input("y"));
    /// let e = graph.with(|| (x * y - (y - 0.1) / 3.0) * x.powi(3));
    /// assert_eq!(graph.source(&[e], ["d1".to_string()]).formulas, ["(x*y - (y - 0.1)/3.0)*x^3"]);
    /// ```
    pub fn source(&self, expressions: &[Expr], names: impl IntoIterator<Item = String>) -> Listing {
        let order = self.needed(expressions);
        let mut uses: HashMap<Expr, usize> = HashMap::new();
        for e in order.iter().flat_map(|&e| self.node(e).arguments()).chain(expressions.iter().copied()) {
            *uses.entry(e).or_default() += 1;
        }
        let (mut names, outputs) = (names.into_iter(), expressions.iter().copied().collect::<HashSet<Expr>>());
        let mut texts: HashMap<Expr, (String, Bond)> = HashMap::new();
        let mut definitions = Vec::new();
        for e in order {
            let (mut text, mut bond) = self.written(e, &texts);
            let is_shared = uses.get(&e).is_some_and(|&n| n > 1) && text.len() > SHORT;
            let is_part = !outputs.contains(&e) || uses.get(&e).is_some_and(|&n| n > 1);
            if (is_shared || (text.len() > LONG && is_part))
                && let Some(name) = names.next()
            {
                definitions.push((name.clone(), text));
                (text, bond) = (name, Bond::Atom);
            }
            texts.insert(e, (text, bond));
        }
        Listing { definitions, formulas: expressions.iter().map(|e| texts[e].0.clone()).collect() }
    }

    fn written(&self, e: Expr, texts: &HashMap<Expr, (String, Bond)>) -> (String, Bond) {
        let text = |x: Expr| texts[&x].0.as_str();
        let at_least = |x: Expr, bond: Bond| {
            let (text, own) = &texts[&x];
            if *own >= bond { text.clone() } else { format!("({text})") }
        };
        match self.node(e) {
            Node::Constant(value) if value.is_sign_negative() => (format!("{value:?}"), Bond::Sign),
            Node::Constant(value) => (format!("{value:?}"), Bond::Atom),
            Node::Input(i) => (self.input_name(i).to_string(), Bond::Atom),
            Node::Unary(Unary::Neg, x) => (format!("-{}", at_least(x, Bond::Power)), Bond::Sign),
            Node::Unary(f, x) => (format!("{}({})", f.name().unwrap_or("-"), text(x)), Bond::Atom),
            // chains are read from the left: only what stands on the right needs brackets
            Node::Binary(f @ (Binary::Add | Binary::Sub), x, y) => {
                let sign = if f == Binary::Add { "+" } else { "-" };
                (format!("{} {sign} {}", at_least(x, Bond::Sum), at_least(y, Bond::Product)), Bond::Sum)
            }
            Node::Binary(f @ (Binary::Mul | Binary::Div), x, y) => {
                let sign = if f == Binary::Mul { "*" } else { "/" };
                (format!("{}{sign}{}", at_least(x, Bond::Product), at_least(y, Bond::Power)), Bond::Product)
            }
            Node::Binary(Binary::Atan2, x, y) => (format!("atan2({}, {})", text(x), text(y)), Bond::Atom),
            Node::Binary(Binary::Pow, x, y) => (format!("pow({}, {})", text(x), text(y)), Bond::Atom),
            Node::Powi(x, n) => (raised(x, &n.to_string(), texts), Bond::Power),
            Node::Powf(x, a) => (raised(x, &format!("{a:?}"), texts), Bond::Power),
            Node::Select(c, x, y) => (format!("if({} >= 0, {}, {})", text(c), text(x), text(y)), Bond::Atom),
        }
    }
}

/// A power.
fn raised(x: Expr, exponent: &str, texts: &HashMap<Expr, (String, Bond)>) -> String {
    let (text, bond) = &texts[&x];
    let base = if *bond == Bond::Atom { text.clone() } else { format!("({text})") };
    if exponent.starts_with('-') { format!("{base}^({exponent})") } else { format!("{base}^{exponent}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use daedal_scalar::Scalar;

    fn source(build: impl FnOnce(Expr, Expr) -> Expr) -> String {
        let mut graph = Graph::new();
        let (x, y) = (graph.input("x"), graph.input("y"));
        let e = graph.with(|| build(x, y));
        graph.source(&[e], []).formulas.remove(0)
    }

    #[test]
    fn brackets_stand_where_the_order_of_operations_needs_them() {
        assert_eq!(source(|x, y| x + (y + 1.0)), "x + (y + 1.0)");
        assert_eq!(source(|x, y| x - (y - 1.0) - x), "x - (y - 1.0) - x");
        assert_eq!(source(|x, y| x * (y * x)), "x*(y*x)");
        assert_eq!(source(|x, y| x / y / (x / y)), "x/y/(x/y)");
        assert_eq!(source(|x, y| (x + y) * x), "(x + y)*x");
        assert_eq!(source(|x, y| -(x * y) / 3.0), "-(x*y/3.0)");
        assert_eq!(source(|x, y| x * (-3.0) + y.powi(-3)), "y^(-3) - 3.0*x");
        assert_eq!(source(|x, y| (x * y).powf(1.5).powi(3)), "((x*y)^1.5)^3");
        assert_eq!(source(|x, y| x.select(y, -y).atan2(x)), "atan2(if(x >= 0, y, -y), x)");
    }

    #[test]
    fn equal_terms_are_not_put_together() {
        assert_eq!(source(|x, y| x * y + x * y * x), "x*y + x*y*x");
        assert_eq!(source(|x, _| x * 0.1 + x * 0.1 * 0.3), "0.1*x + 0.3*(0.1*x)");
    }

    #[test]
    fn long_formulas_come_in_parts() {
        let mut graph = Graph::new();
        let x = graph.input("x");
        let e = graph.with(|| (1..5000).fold(x, |e, k| (e + f64::from(k)).sin() * e));
        let listing = graph.source(&[e], (1..).map(|k| format!("d{k}")));
        assert!(listing.definitions.len() > 1000);
        assert!(listing.definitions.iter().map(|(_, text)| text).chain(&listing.formulas).all(|text| text.len() < 300));
    }
}
