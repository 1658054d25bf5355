//! The tree of a formula. Chains of sums and products are flat, so that the depth of a tree is the depth of its brackets.

use crate::source::Span;
use std::rc::Rc;

/// A part of a formula with its place in the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub kind: Kind,
    pub span: Span,
}

/// What a part of a formula is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Number(f64),
    Reference(Reference),
    Negative(Box<Node>),
    /// first ± second ± …, from left to right; `true` subtracts.
    Terms(Box<Node>, Vec<(bool, Node)>),
    /// first ×÷ second ×÷ …, from left to right; `true` divides.
    Factors(Box<Node>, Vec<(bool, Node)>),
    Power(Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
    If(Box<[Node; 3]>),
    /// sum or product over index ranges.
    Over(Fold, Box<Node>, Vec<Range>),
    /// der(name), der(name, order).
    Derivative(Reference, Option<Box<Node>>),
    Compare(Comparison, Box<[Node; 2]>),
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
}

impl Node {
    /// The parts of this part, indices and bounds of ranges among them.
    pub fn children(&self) -> Vec<&Node> {
        match &self.kind {
            Kind::Number(_) => vec![],
            Kind::Reference(reference) => reference.indices.iter().collect(),
            Kind::Derivative(reference, order) => reference.indices.iter().chain(order.as_deref()).collect(),
            Kind::Negative(x) | Kind::Not(x) => vec![x],
            Kind::Terms(first, rest) | Kind::Factors(first, rest) => {
                std::iter::once(first.as_ref()).chain(rest.iter().map(|(_, node)| node)).collect()
            }
            Kind::Power(x, y) => vec![x, y],
            Kind::Call(_, nodes) | Kind::And(nodes) | Kind::Or(nodes) => nodes.iter().collect(),
            Kind::If(nodes) => nodes.iter().collect(),
            Kind::Compare(_, nodes) => nodes.iter().collect(),
            Kind::Over(_, body, ranges) => {
                let bounds = ranges.iter().flat_map(|range| [&range.from, &range.to]);
                std::iter::once(body.as_ref()).chain(bounds).collect()
            }
        }
    }
}

impl Kind {
    /// Is it true or false rather than a number?
    pub fn is_condition(&self) -> bool {
        matches!(self, Kind::Compare(..) | Kind::Not(_) | Kind::And(_) | Kind::Or(_))
    }
}

/// A name, perhaps with the prefix lambda or mu and with indices.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reference {
    /// `x`, `lambda.rod`.
    pub base: String,
    pub indices: Vec<Node>,
    pub span: Span,
}

/// `i in from..to`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Range {
    pub index: Rc<str>,
    pub span: Span,
    pub from: Node,
    pub to: Node,
}

/// A residual, or the two sides of an equation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Equation {
    pub left: Rc<Node>,
    pub right: Option<Rc<Node>>,
}

/// Entries of a list, repeated over index ranges: `x[i], y[i] for i in 1..N`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entries {
    pub entries: Vec<Equation>,
    pub ranges: Vec<Range>,
}

/// A key, repeated over index ranges: `link[i] for i in 1..N`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub name: Reference,
    /// der(x), der(x, 2) as a key of initial values.
    pub derivative: bool,
    pub order: Option<Node>,
    pub ranges: Vec<Range>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    Sum,
    Product,
}

/// Elementary functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Exp,
    Ln,
    Log10,
    Sqrt,
    Abs,
    Sign,
    Atan2,
    Hypot,
    Pow,
    Min,
    Max,
}

/// All functions by name; `log` is another name of `ln`.
pub(crate) const FUNCTIONS: [(&str, Function); 24] = [
    ("sin", Function::Sin),
    ("cos", Function::Cos),
    ("tan", Function::Tan),
    ("asin", Function::Asin),
    ("acos", Function::Acos),
    ("atan", Function::Atan),
    ("sinh", Function::Sinh),
    ("cosh", Function::Cosh),
    ("tanh", Function::Tanh),
    ("asinh", Function::Asinh),
    ("acosh", Function::Acosh),
    ("atanh", Function::Atanh),
    ("exp", Function::Exp),
    ("ln", Function::Ln),
    ("log", Function::Ln),
    ("log10", Function::Log10),
    ("sqrt", Function::Sqrt),
    ("abs", Function::Abs),
    ("sign", Function::Sign),
    ("atan2", Function::Atan2),
    ("hypot", Function::Hypot),
    ("pow", Function::Pow),
    ("min", Function::Min),
    ("max", Function::Max),
];

/// Words with a meaning of their own, beside the functions.
pub(crate) const RESERVED: [&str; 11] = ["t", "pi", "der", "sum", "product", "if", "for", "in", "and", "or", "not"];

impl Function {
    /// Fewest and most arguments.
    pub fn arguments(self) -> (usize, usize) {
        match self {
            Function::Atan2 | Function::Hypot | Function::Pow => (2, 2),
            Function::Min | Function::Max => (2, usize::MAX),
            _ => (1, 1),
        }
    }
}

/// May this word not be a name?
pub(crate) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word) || FUNCTIONS.iter().any(|(name, _)| *name == word)
}
