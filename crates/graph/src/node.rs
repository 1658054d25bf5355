//! The nodes of a graph.

use crate::Expr;
use daedal_scalar::Scalar;

/// A function of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// −x.
    Neg,
    /// √x.
    Sqrt,
    /// eˣ.
    Exp,
    /// ln x.
    Ln,
    /// sin x.
    Sin,
    /// cos x.
    Cos,
    /// tan x.
    Tan,
    /// sinh x.
    Sinh,
    /// cosh x.
    Cosh,
    /// tanh x.
    Tanh,
    /// arcsin x.
    Asin,
    /// arccos x.
    Acos,
    /// arctan x.
    Atan,
    /// |x|.
    Abs,
}

/// A function of two arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// x + y.
    Add,
    /// x − y.
    Sub,
    /// x y.
    Mul,
    /// x / y.
    Div,
    /// Angle of the point (y, x), as `f64::atan2`.
    Atan2,
    /// xʸ.
    Pow,
}

/// What a handle stands for. Arguments of a node are older than the node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {
    /// A number.
    Constant(f64),
    /// Input of that number.
    Input(usize),
    /// A function of one argument.
    Unary(Unary, Expr),
    /// A function of two arguments.
    Binary(Binary, Expr, Expr),
    /// xⁿ.
    Powi(Expr, i32),
    /// xᵃ with a number a.
    Powf(Expr, f64),
    /// The second where the first is ≥ 0, the third where it is negative.
    Select(Expr, Expr, Expr),
}

impl Node {
    /// Its arguments.
    pub fn arguments(self) -> impl Iterator<Item = Expr> {
        let arguments = match self {
            Node::Constant(_) | Node::Input(_) => [None; 3],
            Node::Unary(_, x) | Node::Powi(x, _) | Node::Powf(x, _) => [Some(x), None, None],
            Node::Binary(_, x, y) => [Some(x), Some(y), None],
            Node::Select(c, x, y) => [Some(c), Some(x), Some(y)],
        };
        arguments.into_iter().flatten()
    }
}

impl Unary {
    /// Its value, for any scalar.
    #[inline]
    pub fn of<S: Scalar>(self, x: S) -> S {
        match self {
            Unary::Neg => -x,
            Unary::Sqrt => x.sqrt(),
            Unary::Exp => x.exp(),
            Unary::Ln => x.ln(),
            Unary::Sin => x.sin(),
            Unary::Cos => x.cos(),
            Unary::Tan => x.tan(),
            Unary::Sinh => x.sinh(),
            Unary::Cosh => x.cosh(),
            Unary::Tanh => x.tanh(),
            Unary::Asin => x.asin(),
            Unary::Acos => x.acos(),
            Unary::Atan => x.atan(),
            Unary::Abs => x.abs(),
        }
    }

    /// How formulas call it; `None` for the sign.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Unary::Neg => return None,
            Unary::Sqrt => "sqrt",
            Unary::Exp => "exp",
            Unary::Ln => "ln",
            Unary::Sin => "sin",
            Unary::Cos => "cos",
            Unary::Tan => "tan",
            Unary::Sinh => "sinh",
            Unary::Cosh => "cosh",
            Unary::Tanh => "tanh",
            Unary::Asin => "asin",
            Unary::Acos => "acos",
            Unary::Atan => "atan",
            Unary::Abs => "abs",
        })
    }
}

impl Binary {
    /// Its value, for any scalar.
    #[inline]
    pub fn of<S: Scalar>(self, x: S, y: S) -> S {
        match self {
            Binary::Add => x + y,
            Binary::Sub => x - y,
            Binary::Mul => x * y,
            Binary::Div => x / y,
            Binary::Atan2 => x.atan2(y),
            Binary::Pow => x.pow(y),
        }
    }
}
