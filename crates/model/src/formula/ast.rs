//! The tree of a formula. Chains of sums and products are flat, so that the depth of a tree is the depth of its brackets.

use crate::source::Span;
use std::rc::Rc;

/// A part of a formula with its place in the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    pub kind: Term,
    pub span: Span,
}

/// What a part of a formula is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term {
    Number(f64),
    Reference(NameUse),
    Negative(Box<Tree>),
    /// first ± second ± …, from left to right; `true` subtracts.
    Terms(Box<Tree>, Vec<(bool, Tree)>),
    /// first ×÷ second ×÷ …, from left to right; `true` divides.
    Factors(Box<Tree>, Vec<(bool, Tree)>),
    Power(Box<Tree>, Box<Tree>),
    Call(Elementary, Vec<Tree>),
    /// A table of this name at an argument.
    Table(NameUse, Box<Tree>),
    If(Box<[Tree; 3]>),
    /// sum or product over index ranges.
    Over(Fold, Box<Tree>, Vec<Range>),
    /// der(name), der(name, order).
    Derivative(NameUse, Option<Box<Tree>>),
    Compare(Relation, Box<[Tree; 2]>),
    Not(Box<Tree>),
    And(Vec<Tree>),
    Or(Vec<Tree>),
}

impl Tree {
    /// The parts of this part, indices and bounds of ranges among them.
    pub fn children(&self) -> Vec<&Tree> {
        match &self.kind {
            Term::Number(_) => vec![],
            Term::Reference(reference) => reference.indices.iter().collect(),
            Term::Derivative(reference, order) => reference.indices.iter().chain(order.as_deref()).collect(),
            Term::Negative(x) | Term::Not(x) | Term::Table(_, x) => vec![x],
            Term::Terms(first, rest) | Term::Factors(first, rest) => {
                std::iter::once(first.as_ref()).chain(rest.iter().map(|(_, node)| node)).collect()
            }
            Term::Power(x, y) => vec![x, y],
            Term::Call(_, nodes) | Term::And(nodes) | Term::Or(nodes) => nodes.iter().collect(),
            Term::If(nodes) => nodes.iter().collect(),
            Term::Compare(_, nodes) => nodes.iter().collect(),
            Term::Over(_, body, ranges) => {
                let bounds = ranges.iter().flat_map(|range| [&range.from, &range.to]);
                std::iter::once(body.as_ref()).chain(bounds).collect()
            }
        }
    }
}

impl Term {
    /// Is it true or false rather than a number?
    pub fn is_condition(&self) -> bool {
        matches!(self, Term::Compare(..) | Term::Not(_) | Term::And(_) | Term::Or(_))
    }
}

/// A name, perhaps with the prefix lambda or mu and with indices.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NameUse {
    /// `x`, `lambda.rod`.
    pub base: String,
    pub indices: Vec<Tree>,
    pub span: Span,
}

/// `i in from..to`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Range {
    pub index: Rc<str>,
    pub span: Span,
    pub from: Tree,
    pub to: Tree,
}

/// A residual, or the two sides of an equation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WrittenEquation {
    pub left: Rc<Tree>,
    pub right: Option<Rc<Tree>>,
}

/// Entries of a list, repeated over index ranges: `x[i], y[i] for i in 1..N`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RepeatedEntries {
    pub entries: Vec<WrittenEquation>,
    pub ranges: Vec<Range>,
}

/// A key, repeated over index ranges: `link[i] for i in 1..N`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RepeatedKey {
    pub name: NameUse,
    /// der(x), der(x, 2) as a key of initial values.
    pub derivative: bool,
    pub order: Option<Tree>,
    pub ranges: Vec<Range>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
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
pub(crate) enum Elementary {
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
pub(crate) const FUNCTIONS: [(&str, Elementary); 24] = [
    ("sin", Elementary::Sin),
    ("cos", Elementary::Cos),
    ("tan", Elementary::Tan),
    ("asin", Elementary::Asin),
    ("acos", Elementary::Acos),
    ("atan", Elementary::Atan),
    ("sinh", Elementary::Sinh),
    ("cosh", Elementary::Cosh),
    ("tanh", Elementary::Tanh),
    ("asinh", Elementary::Asinh),
    ("acosh", Elementary::Acosh),
    ("atanh", Elementary::Atanh),
    ("exp", Elementary::Exp),
    ("ln", Elementary::Ln),
    ("log", Elementary::Ln),
    ("log10", Elementary::Log10),
    ("sqrt", Elementary::Sqrt),
    ("abs", Elementary::Abs),
    ("sign", Elementary::Sign),
    ("atan2", Elementary::Atan2),
    ("hypot", Elementary::Hypot),
    ("pow", Elementary::Pow),
    ("min", Elementary::Min),
    ("max", Elementary::Max),
];

/// Words with a meaning of their own, beside the functions.
pub(crate) const RESERVED: [&str; 11] = ["t", "pi", "der", "sum", "product", "if", "for", "in", "and", "or", "not"];

impl Elementary {
    /// Fewest and most arguments.
    pub fn arguments(self) -> (usize, usize) {
        match self {
            Elementary::Atan2 | Elementary::Hypot | Elementary::Pow => (2, 2),
            Elementary::Min | Elementary::Max => (2, usize::MAX),
            _ => (1, 1),
        }
    }
}

/// May this word not be a name?
pub(crate) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word) || FUNCTIONS.iter().any(|(name, _)| *name == word)
}
