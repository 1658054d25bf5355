//! Formulas for people.

use crate::{Binary, Expr, Graph, Node, Unary};
use std::collections::{HashMap, HashSet};

/// Formulas in which long subexpressions that occur more than once have names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Name and formula of shared subexpressions, in the order they are needed.
    pub definitions: Vec<(String, String)>,
    /// The formulas.
    pub formulas: Vec<String>,
}

/// Shared subexpressions of fewer letters are written out.
const SHORT: usize = 24;

impl Graph {
    /// The formula written out in full.
    pub fn formula(&self, e: Expr) -> String {
        Printer { graph: self, names: HashMap::new() }.text(e).0
    }

    /// Several formulas, with names k1, k2, … for what is long and occurs more than once.
    pub fn listing(&self, expressions: &[Expr]) -> Listing {
        let order = self.needed(expressions);
        let mut uses: HashMap<Expr, usize> = HashMap::new();
        for e in order.iter().flat_map(|&e| self.node(e).arguments()) {
            *uses.entry(e).or_default() += 1;
        }
        let taken: HashSet<&str> = self.inputs().map(|(name, _)| name).collect();
        let mut free = (1..).map(|k| format!("k{k}")).filter(|name| !taken.contains(name.as_str()));
        let mut printer = Printer { graph: self, names: HashMap::new() };
        let mut definitions = Vec::new();
        for e in order {
            // signs and constant factors stay with their users
            if uses.get(&e).is_some_and(|&n| n > 1) && !matches!(self.node(e), Node::Unary(Unary::Neg, _)) {
                let text = printer.text(e).0;
                if text.len() > SHORT
                    && let Some(name) = free.next()
                {
                    printer.names.insert(e, name.clone());
                    definitions.push((name, text));
                }
            }
        }
        let formulas = expressions.iter().map(|&e| printer.text(e).0).collect();
        Listing { definitions, formulas }
    }
}

struct Printer<'g> {
    graph: &'g Graph,
    names: HashMap<Expr, String>,
}

/// How tightly a text holds together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Bond {
    Sum,
    /// A sign in front, where nothing is put together anew.
    Sign,
    Product,
    Power,
    Atom,
}

impl Printer<'_> {
    fn node(&self, e: Expr) -> Option<Node> {
        (!self.names.contains_key(&e)).then(|| self.graph.node(e))
    }

    fn text(&self, e: Expr) -> (String, Bond) {
        let Some(node) = self.node(e) else { return (self.names[&e].clone(), Bond::Atom) };
        match node {
            Node::Constant(value) if value < 0.0 => (number(value), Bond::Sum),
            Node::Constant(value) => (number(value), Bond::Atom),
            Node::Input(i) => (self.graph.input_name(i).to_string(), Bond::Atom),
            Node::Unary(Unary::Neg, _) | Node::Binary(Binary::Add | Binary::Sub, ..) => (self.sum(e), Bond::Sum),
            Node::Unary(f, x) => (format!("{}({})", f.name().unwrap_or("-"), self.text(x).0), Bond::Atom),
            Node::Binary(Binary::Mul | Binary::Div, ..) => self.product(e),
            Node::Binary(f, x, y) => {
                let name = if f == Binary::Atan2 { "atan2" } else { "pow" };
                (format!("{name}({}, {})", self.text(x).0, self.text(y).0), Bond::Atom)
            }
            Node::Powi(x, n) => (self.power(x, f64::from(n)), Bond::Power),
            Node::Powf(x, a) => (self.power(x, a), Bond::Power),
            Node::Select(c, x, y) => {
                (format!("if({} >= 0, {}, {})", self.text(c).0, self.text(x).0, self.text(y).0), Bond::Atom)
            }
        }
    }

    /// In parentheses unless it holds together as tightly as this.
    fn bonded(&self, e: Expr, bond: Bond) -> String {
        let (text, own) = self.text(e);
        if own >= bond { text } else { format!("({text})") }
    }

    fn power(&self, x: Expr, a: f64) -> String {
        let exponent = if a < 0.0 { format!("({})", number(a)) } else { number(a) };
        format!("{}^{exponent}", self.bonded(x, Bond::Atom))
    }

    /// Terms with their signs: along the left side without recursion, for sums may be long.
    fn sum(&self, e: Expr) -> String {
        let (mut terms, mut open) = (Vec::new(), vec![(false, e)]);
        while let Some((minus, e)) = open.pop() {
            match self.node(e) {
                Some(Node::Binary(Binary::Add, x, y)) => open.extend([(minus, y), (minus, x)]),
                Some(Node::Binary(Binary::Sub, x, y)) => open.extend([(!minus, y), (minus, x)]),
                Some(Node::Unary(Unary::Neg, x)) => open.push((!minus, x)),
                _ => terms.push((minus, e)),
            }
        }
        // equal terms are counted
        #[allow(clippy::type_complexity)] // counts of equal terms, used below only
        let (mut places, mut counted): (HashMap<(bool, Expr), usize>, Vec<(bool, Expr, usize)>) = Default::default();
        for (minus, e) in terms {
            let place = *places.entry((minus, e)).or_insert(counted.len());
            if place == counted.len() {
                counted.push((minus, e, 0));
            }
            counted[place].2 += 1;
        }
        let mut terms = counted;
        // a sum begins with a positive term if there is one
        if let Some(first) = terms.iter().position(|(minus, ..)| !minus) {
            terms[..=first].rotate_right(1);
        }
        let mut text = String::new();
        for (mut minus, e, n) in terms {
            let mut term = match self.text(e) {
                // a product with a negative number: its sign is that of the term
                (text, Bond::Sum) if text.starts_with('-') && self.is_product(e) => {
                    minus = !minus;
                    text[1..].to_string()
                }
                (text, bond) if bond >= Bond::Product => text,
                (text, _) => format!("({text})"),
            };
            if n > 1 {
                term = format!("{n}*{term}");
            }
            let sign = match (text.is_empty(), minus) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            text.push_str(sign);
            text.push_str(&term);
        }
        text
    }

    fn is_product(&self, e: Expr) -> bool {
        matches!(self.node(e), Some(Node::Binary(Binary::Mul | Binary::Div, ..)))
    }

    fn product(&self, e: Expr) -> (String, Bond) {
        let (mut above, mut below) = (PowerFactors::default(), PowerFactors::default());
        let mut open = vec![(false, e)];
        while let Some((inverse, e)) = open.pop() {
            match self.node(e) {
                Some(Node::Binary(Binary::Mul, x, y)) => open.extend([(inverse, y), (inverse, x)]),
                Some(Node::Binary(Binary::Div, x, y)) => open.extend([(!inverse, y), (inverse, x)]),
                _ if inverse => below.push(e),
                _ => above.push(e),
            }
        }
        // numbers are one factor, and come first
        let constant = |(e, _): &(Expr, i32)| self.graph.constant(*e);
        let numbers: Vec<f64> = above.0.iter().filter_map(|f| Some(constant(f)?.powi(f.1))).collect();
        let number_first = (!numbers.is_empty()).then(|| numbers.iter().product::<f64>());
        let others = above.0.iter().filter(|f| constant(f).is_none());
        let mut numerator: Vec<String> = others.map(|&(e, n)| self.factor(e, n)).collect();
        match number_first {
            Some(value) if value == -1.0 && !numerator.is_empty() => numerator[0].insert(0, '-'),
            Some(value) => numerator.insert(0, number(value)),
            None => {}
        }
        let denominator: Vec<String> = below.0.iter().map(|&(e, n)| self.factor(e, n)).collect();
        let mut bond = if above.0.len() == 1 && above.0[0].1 > 1 { Bond::Power } else { Bond::Product };
        if numerator.is_empty() {
            numerator.push("1".to_string());
        }
        let mut text = numerator.join("*");
        if text.starts_with('-') {
            bond = Bond::Sum;
        }
        if !denominator.is_empty() {
            bond = bond.min(Bond::Product);
            let single = denominator.len() == 1;
            text = if single {
                format!("{text}/{}", denominator[0])
            } else {
                format!("{text}/({})", denominator.join("*"))
            };
        }
        (text, bond)
    }

    fn factor(&self, e: Expr, n: i32) -> String {
        if n > 1 {
            return self.power(e, f64::from(n));
        }
        match self.graph.constant(e) {
            Some(value) => number(value),
            None => self.bonded(e, Bond::Power),
        }
    }
}

/// Factors in the order they occur, each with its power.
#[derive(Default)]
struct PowerFactors(Vec<(Expr, i32)>);

impl PowerFactors {
    fn push(&mut self, e: Expr) {
        match self.0.iter_mut().find(|(known, _)| *known == e) {
            Some((_, n)) => *n += 1,
            None => self.0.push((e, 1)),
        }
    }
}

/// A number as short as it can be read back.
fn number(value: f64) -> String {
    if value == value.round() && value.abs() < 1e15 { format!("{value:.0}") } else { format!("{value:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use daedal_scalar::Scalar;

    #[test]
    fn formulas_read_as_they_are_written() {
        let mut graph = Graph::new();
        let [x, y, z] = ["x", "y", "z"].map(|name| graph.input(name));
        let written = graph.with(|| {
            [
                (x - (y - z), "x - y + z"),
                ((x + y) * z, "(x + y)*z"),
                (-(x * y) + z, "z - x*y"),
                (x / (y * z), "x/(y*z)"),
                (x / y / z, "x/(y*z)"),
                (x * x * x * 2.0, "2*x^3"),
                ((x + 1.0).powi(-3), "(x + 1)^(-3)"),
                ((-x).exp() * 0.5, "0.5*exp(-x)"),
                (x.atan2(y - 1.0), "atan2(x, y - 1)"),
                ((x * y).square(), "x^2*y^2"),
                (x * -3.0, "-3*x"),
                (x * y + z + x * y, "2*x*y + z"),
                (y - x * 3.0, "y - 3*x"),
                (x.select(y, z), "if(x >= 0, y, z)"),
                (x.pow(y), "pow(x, y)"),
                ((x * -3.0).recip(), "1/(-3*x)"),
            ]
        });
        for (e, text) in written {
            assert_eq!(graph.formula(e), text);
        }
    }

    #[test]
    fn long_shared_parts_get_names() {
        let mut graph = Graph::new();
        let [x, y, k1] = ["x", "y", "k1"].map(|name| graph.input(name));
        let e = graph.with(|| {
            let length = ((x - 1.25).square() + (y - 2.5).square()).sqrt();
            [length * k1, (length - 1.0) / length]
        });
        let listing = graph.listing(&e);
        assert_eq!(listing.definitions, [("k2".into(), "sqrt((x - 1.25)^2 + (y - 2.5)^2)".into())]);
        assert_eq!(listing.formulas, ["k2*k1", "(k2 - 1)/k2"]);
    }
}
