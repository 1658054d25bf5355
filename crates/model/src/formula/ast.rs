//! The tree of a formula. Chains of sums and products are flat, so that the depth of a tree is the depth of its brackets.

use crate::source::Span;
use std::rc::Rc;

/// A part of a formula with its place in the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SyntaxNode {
    pub kind: SyntaxKind,
    pub span: Span,
}

/// What a part of a formula is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SyntaxKind {
    Number(f64),
    Reference(NameReference),
    Negative(Box<SyntaxNode>),
    /// first ± second ± …, from left to right; `true` subtracts.
    Terms(Box<SyntaxNode>, Vec<(bool, SyntaxNode)>),
    /// first ×÷ second ×÷ …, from left to right; `true` divides.
    Factors(Box<SyntaxNode>, Vec<(bool, SyntaxNode)>),
    Power(Box<SyntaxNode>, Box<SyntaxNode>),
    Call(ElementaryFunction, Vec<SyntaxNode>),
    If(Box<[SyntaxNode; 3]>),
    /// sum or product over index ranges.
    Over(Fold, Box<SyntaxNode>, Vec<Range>),
    /// der(name), der(name, order).
    Derivative(NameReference, Option<Box<SyntaxNode>>),
    Compare(Relation, Box<[SyntaxNode; 2]>),
    Not(Box<SyntaxNode>),
    And(Vec<SyntaxNode>),
    Or(Vec<SyntaxNode>),
}

impl SyntaxNode {
    /// The parts of this part, indices and bounds of ranges among them.
    pub fn children(&self) -> Vec<&SyntaxNode> {
        match &self.kind {
            SyntaxKind::Number(_) => vec![],
            SyntaxKind::Reference(reference) => reference.indices.iter().collect(),
            SyntaxKind::Derivative(reference, order) => reference.indices.iter().chain(order.as_deref()).collect(),
            SyntaxKind::Negative(x) | SyntaxKind::Not(x) => vec![x],
            SyntaxKind::Terms(first, rest) | SyntaxKind::Factors(first, rest) => {
                std::iter::once(first.as_ref()).chain(rest.iter().map(|(_, node)| node)).collect()
            }
            SyntaxKind::Power(x, y) => vec![x, y],
            SyntaxKind::Call(_, nodes) | SyntaxKind::And(nodes) | SyntaxKind::Or(nodes) => nodes.iter().collect(),
            SyntaxKind::If(nodes) => nodes.iter().collect(),
            SyntaxKind::Compare(_, nodes) => nodes.iter().collect(),
            SyntaxKind::Over(_, body, ranges) => {
                let bounds = ranges.iter().flat_map(|range| [&range.from, &range.to]);
                std::iter::once(body.as_ref()).chain(bounds).collect()
            }
        }
    }
}

impl SyntaxKind {
    /// Is it true or false rather than a number?
    pub fn is_condition(&self) -> bool {
        matches!(self, SyntaxKind::Compare(..) | SyntaxKind::Not(_) | SyntaxKind::And(_) | SyntaxKind::Or(_))
    }
}

/// A name, perhaps with the prefix lambda or mu and with indices.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NameReference {
    /// `x`, `lambda.rod`.
    pub base: String,
    pub indices: Vec<SyntaxNode>,
    pub span: Span,
}

/// `i in from..to`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Range {
    pub index: Rc<str>,
    pub span: Span,
    pub from: SyntaxNode,
    pub to: SyntaxNode,
}

/// A residual, or the two sides of an equation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WrittenEquation {
    pub left: Rc<SyntaxNode>,
    pub right: Option<Rc<SyntaxNode>>,
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
    pub name: NameReference,
    /// der(x), der(x, 2) as a key of initial values.
    pub derivative: bool,
    pub order: Option<SyntaxNode>,
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
pub(crate) enum ElementaryFunction {
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
pub(crate) const FUNCTIONS: [(&str, ElementaryFunction); 24] = [
    ("sin", ElementaryFunction::Sin),
    ("cos", ElementaryFunction::Cos),
    ("tan", ElementaryFunction::Tan),
    ("asin", ElementaryFunction::Asin),
    ("acos", ElementaryFunction::Acos),
    ("atan", ElementaryFunction::Atan),
    ("sinh", ElementaryFunction::Sinh),
    ("cosh", ElementaryFunction::Cosh),
    ("tanh", ElementaryFunction::Tanh),
    ("asinh", ElementaryFunction::Asinh),
    ("acosh", ElementaryFunction::Acosh),
    ("atanh", ElementaryFunction::Atanh),
    ("exp", ElementaryFunction::Exp),
    ("ln", ElementaryFunction::Ln),
    ("log", ElementaryFunction::Ln),
    ("log10", ElementaryFunction::Log10),
    ("sqrt", ElementaryFunction::Sqrt),
    ("abs", ElementaryFunction::Abs),
    ("sign", ElementaryFunction::Sign),
    ("atan2", ElementaryFunction::Atan2),
    ("hypot", ElementaryFunction::Hypot),
    ("pow", ElementaryFunction::Pow),
    ("min", ElementaryFunction::Min),
    ("max", ElementaryFunction::Max),
];

/// Words with a meaning of their own, beside the functions.
pub(crate) const RESERVED: [&str; 11] = ["t", "pi", "der", "sum", "product", "if", "for", "in", "and", "or", "not"];

impl ElementaryFunction {
    /// Fewest and most arguments.
    pub fn arguments(self) -> (usize, usize) {
        match self {
            ElementaryFunction::Atan2 | ElementaryFunction::Hypot | ElementaryFunction::Pow => (2, 2),
            ElementaryFunction::Min | ElementaryFunction::Max => (2, usize::MAX),
            _ => (1, 1),
        }
    }
}

/// May this word not be a name?
pub(crate) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word) || FUNCTIONS.iter().any(|(name, _)| *name == word)
}
