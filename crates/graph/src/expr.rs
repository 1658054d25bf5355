//! Handles of nodes, with arithmetic: one more [`Scalar`].

use crate::graph::current;
use crate::{Binary, Node, Unary};
use daedal_scalar::Scalar;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A node of a graph. Arithmetic works inside of [`Graph::with`](crate::Graph::with) and panics elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Expr(u32);

impl Expr {
    pub(crate) fn at(index: usize) -> Self {
        Expr(u32::try_from(index).expect("a graph has fewer than 2³² nodes"))
    }

    /// The node at a place of a graph, for programs that keep handles as numbers; it must be one of its nodes.
    pub fn from_index(index: u32) -> Self {
        Expr(index)
    }

    /// Its place among the nodes of the graph.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn node(self) -> Node {
        current(|graph| graph.node(self))
    }

    pub(crate) fn unary(f: Unary, x: Expr) -> Expr {
        current(|graph| graph.unary(f, x))
    }

    pub(crate) fn binary(f: Binary, x: Expr, y: Expr) -> Expr {
        current(|graph| graph.binary(f, x, y))
    }
}

impl From<f64> for Expr {
    fn from(value: f64) -> Self {
        current(|graph| graph.node_of(Node::Constant(value)))
    }
}

impl Neg for Expr {
    type Output = Self;
    fn neg(self) -> Self {
        Expr::unary(Unary::Neg, self)
    }
}

macro_rules! operator {
    ($operator:ident, $method:ident, $assign:ident, $assign_method:ident) => {
        impl $operator for Expr {
            type Output = Self;
            fn $method(self, y: Self) -> Self {
                Expr::binary(Binary::$operator, self, y)
            }
        }
        impl $operator<f64> for Expr {
            type Output = Self;
            fn $method(self, y: f64) -> Self {
                Expr::binary(Binary::$operator, self, Expr::from(y))
            }
        }
        impl $assign for Expr {
            fn $assign_method(&mut self, y: Self) {
                *self = Expr::binary(Binary::$operator, *self, y);
            }
        }
    };
}
operator!(Add, add, AddAssign, add_assign);
operator!(Sub, sub, SubAssign, sub_assign);
operator!(Mul, mul, MulAssign, mul_assign);

impl Div for Expr {
    type Output = Self;
    fn div(self, y: Self) -> Self {
        Expr::binary(Binary::Div, self, y)
    }
}

impl Div<f64> for Expr {
    type Output = Self;
    fn div(self, y: f64) -> Self {
        self / Expr::from(y)
    }
}

impl Scalar for Expr {
    /// The value of a constant; NaN otherwise, because a formula has no value.
    fn value(self) -> f64 {
        if let Node::Constant(value) = self.node() { value } else { f64::NAN }
    }
    fn recip(self) -> Self {
        Expr::from(1.0) / self
    }
    fn sqrt(self) -> Self {
        Expr::unary(Unary::Sqrt, self)
    }
    fn exp(self) -> Self {
        Expr::unary(Unary::Exp, self)
    }
    fn ln(self) -> Self {
        Expr::unary(Unary::Ln, self)
    }
    fn sin_cos(self) -> (Self, Self) {
        (self.sin(), self.cos())
    }
    fn sin(self) -> Self {
        Expr::unary(Unary::Sin, self)
    }
    fn cos(self) -> Self {
        Expr::unary(Unary::Cos, self)
    }
    fn tan(self) -> Self {
        Expr::unary(Unary::Tan, self)
    }
    fn sinh_cosh(self) -> (Self, Self) {
        (self.sinh(), self.cosh())
    }
    fn sinh(self) -> Self {
        Expr::unary(Unary::Sinh, self)
    }
    fn cosh(self) -> Self {
        Expr::unary(Unary::Cosh, self)
    }
    fn tanh(self) -> Self {
        Expr::unary(Unary::Tanh, self)
    }
    fn asin(self) -> Self {
        Expr::unary(Unary::Asin, self)
    }
    fn acos(self) -> Self {
        Expr::unary(Unary::Acos, self)
    }
    fn atan(self) -> Self {
        Expr::unary(Unary::Atan, self)
    }
    fn atan2(self, x: Self) -> Self {
        Expr::binary(Binary::Atan2, self, x)
    }
    fn powi(self, n: i32) -> Self {
        current(|graph| graph.powi(self, n))
    }
    fn powf(self, a: f64) -> Self {
        current(|graph| graph.powf(self, a))
    }
    fn pow(self, y: Self) -> Self {
        Expr::binary(Binary::Pow, self, y)
    }
    fn abs(self) -> Self {
        Expr::unary(Unary::Abs, self)
    }
    fn select(self, yes: Self, no: Self) -> Self {
        current(|graph| graph.select(self, yes, no))
    }
}
