//! What is rewritten when a node is made.
//!
//! Constants are folded, neutral elements and zeros vanish, signs move outwards. Nothing is reassociated: for finite numbers the result has
//! the same bits as the formula as it was written, up to the sign of zeros. Two functions are replaced: xᵃ with an integer a up to 64 is a product,
//! x^0.5 is √x. What is gone is the trace of values that are not finite: 0·x is 0, x − x is 0.

use crate::{Binary, Expr, Graph, Node, Unary};

impl Graph {
    /// The node of a number.
    pub fn number(&mut self, value: f64) -> Expr {
        self.node_of(Node::Constant(value))
    }

    /// A function of one argument.
    pub fn unary(&mut self, f: Unary, x: Expr) -> Expr {
        if let Some(value) = self.constant(x) {
            return self.number(f.of(value));
        }
        match (f, self.node(x)) {
            (Unary::Neg, Node::Unary(Unary::Neg, y)) => y,
            (Unary::Neg, Node::Binary(Binary::Sub, a, b)) => self.binary(Binary::Sub, b, a),
            // −(c y) = (−c) y
            (Unary::Neg, Node::Binary(Binary::Mul, a, b)) if self.constant(a).is_some() => {
                let c = self.unary(Unary::Neg, a);
                self.binary(Binary::Mul, c, b)
            }
            (Unary::Cos | Unary::Cosh | Unary::Abs, Node::Unary(Unary::Neg, y)) => self.unary(f, y),
            (Unary::Sin | Unary::Sinh | Unary::Tanh | Unary::Tan | Unary::Atan, Node::Unary(Unary::Neg, y)) => {
                let odd = self.unary(f, y);
                self.unary(Unary::Neg, odd)
            }
            (Unary::Abs, Node::Unary(Unary::Abs | Unary::Sqrt | Unary::Exp | Unary::Cosh, _)) => x,
            _ => self.node_of(Node::Unary(f, x)),
        }
    }

    /// A function of two arguments.
    pub fn binary(&mut self, f: Binary, x: Expr, y: Expr) -> Expr {
        if let (Some(a), Some(b)) = (self.constant(x), self.constant(y)) {
            return self.number(f.of(a, b));
        }
        match f {
            Binary::Add => self.sum(x, y),
            Binary::Sub => self.difference(x, y),
            Binary::Mul => self.product(x, y),
            Binary::Div => self.quotient(x, y),
            Binary::Atan2 => self.node_of(Node::Binary(f, x, y)),
            Binary::Pow => match self.constant(y) {
                Some(a) => self.powf(x, a),
                None => self.node_of(Node::Binary(f, x, y)),
            },
        }
    }

    fn negated(&self, x: Expr) -> Option<Expr> {
        if let Node::Unary(Unary::Neg, y) = self.node(x) { Some(y) } else { None }
    }

    /// The numeric factor and the rest of c·y.
    fn factor(&self, x: Expr) -> Option<(f64, Expr)> {
        match self.node(x) {
            Node::Binary(Binary::Mul, a, b) => self.constant(a).map(|c| (c, b)),
            _ => None,
        }
    }

    fn sum(&mut self, x: Expr, y: Expr) -> Expr {
        if self.constant(x) == Some(0.0) {
            return y;
        }
        if self.constant(y) == Some(0.0) {
            return x;
        }
        if let Some(y) = self.negated(y) {
            return self.difference(x, y);
        }
        if let Some(x) = self.negated(x) {
            return self.difference(y, x);
        }
        if x == y {
            let two = self.number(2.0);
            return self.product(two, x);
        }
        // x + (−c) y = x − c y, which reads better and costs the same
        for (x, y) in [(x, y), (y, x)] {
            if let Some(c) = self.constant(y).filter(|c| *c < 0.0) {
                let positive = self.number(-c);
                return self.difference(x, positive);
            }
            if let Some((c, rest)) = self.factor(y).filter(|(c, _)| *c < 0.0) {
                let positive = self.number(-c);
                let y = self.product(positive, rest);
                return self.difference(x, y);
            }
        }
        self.node_of(Node::Binary(Binary::Add, x, y))
    }

    fn difference(&mut self, x: Expr, y: Expr) -> Expr {
        if self.constant(y) == Some(0.0) {
            return x;
        }
        if self.constant(x) == Some(0.0) {
            return self.unary(Unary::Neg, y);
        }
        if x == y {
            return self.number(0.0);
        }
        if let Some(y) = self.negated(y) {
            return self.sum(x, y);
        }
        // x − c = x + (−c) and x − (−c) y = x + c y
        if let Some(c) = self.constant(y).filter(|c| *c < 0.0) {
            let positive = self.number(-c);
            return self.sum(x, positive);
        }
        if let Some((c, rest)) = self.factor(y).filter(|(c, _)| *c < 0.0) {
            let positive = self.number(-c);
            let y = self.product(positive, rest);
            return self.sum(x, y);
        }
        self.node_of(Node::Binary(Binary::Sub, x, y))
    }

    fn product(&mut self, x: Expr, y: Expr) -> Expr {
        for (c, other) in [(x, y), (y, x)] {
            let Some(value) = self.constant(c) else { continue };
            if value == 0.0 {
                return self.number(0.0);
            }
            if value == 1.0 {
                return other;
            }
            if value == -1.0 {
                return self.unary(Unary::Neg, other);
            }
            if let Some(positive) = self.negated(other) {
                let c = self.number(-value);
                return self.product(c, positive);
            }
            // a power of two moves through without rounding
            if let Some((inner, rest)) =
                self.factor(other).filter(|(inner, _)| power_of_two(value) || power_of_two(*inner))
            {
                let c = self.number(value * inner);
                return self.product(c, rest);
            }
            // constants come first
            return self.node_of(Node::Binary(Binary::Mul, c, other));
        }
        match (self.negated(x), self.negated(y)) {
            (Some(x), Some(y)) => self.product(x, y),
            (Some(z), None) => {
                let product = self.product(z, y);
                self.unary(Unary::Neg, product)
            }
            (None, Some(z)) => {
                let product = self.product(x, z);
                self.unary(Unary::Neg, product)
            }
            (None, None) => self.node_of(Node::Binary(Binary::Mul, x, y)),
        }
    }

    fn quotient(&mut self, x: Expr, y: Expr) -> Expr {
        if self.constant(x) == Some(0.0) || self.constant(y) == Some(1.0) {
            return x;
        }
        if self.constant(y) == Some(-1.0) {
            return self.unary(Unary::Neg, x);
        }
        if let Some(c) = self.constant(y).filter(|c| power_of_two(*c)) {
            let c = self.number(1.0 / c);
            return self.product(c, x);
        }
        match (self.negated(x), self.negated(y)) {
            (Some(x), Some(y)) => self.quotient(x, y),
            (Some(x), None) => {
                let quotient = self.quotient(x, y);
                self.unary(Unary::Neg, quotient)
            }
            (None, Some(y)) => {
                let quotient = self.quotient(x, y);
                self.unary(Unary::Neg, quotient)
            }
            (None, None) => self.node_of(Node::Binary(Binary::Div, x, y)),
        }
    }

    /// xⁿ.
    pub fn powi(&mut self, x: Expr, n: i32) -> Expr {
        if let Some(value) = self.constant(x) {
            return self.number(value.powi(n));
        }
        match n {
            0 => self.number(1.0),
            1 => x,
            2 => self.product(x, x),
            -1 => {
                let one = self.number(1.0);
                self.quotient(one, x)
            }
            _ => match self.negated(x) {
                Some(y) if n % 2 == 0 => self.powi(y, n),
                Some(y) => {
                    let odd = self.powi(y, n);
                    self.unary(Unary::Neg, odd)
                }
                None => self.node_of(Node::Powi(x, n)),
            },
        }
    }

    /// xᵃ with a number a.
    pub fn powf(&mut self, x: Expr, a: f64) -> Expr {
        if let Some(value) = self.constant(x) {
            return self.number(daedal_scalar::Scalar::powf(value, a));
        }
        if a == 0.5 {
            return self.unary(Unary::Sqrt, x);
        }
        if a == a.round() && a.abs() <= 64.0 {
            return self.powi(x, a as i32);
        }
        self.node_of(Node::Powf(x, a))
    }

    /// The second where the first is ≥ 0, the third where it is negative.
    pub fn select(&mut self, c: Expr, yes: Expr, no: Expr) -> Expr {
        if yes == no {
            return yes;
        }
        match self.constant(c) {
            Some(value) if value >= 0.0 => yes,
            Some(value) if value < 0.0 => no,
            // a condition without a value has no result
            Some(_) => self.number(f64::NAN),
            None => self.node_of(Node::Select(c, yes, no)),
        }
    }
}

/// Is multiplication by c exact, unless it overflows?
fn power_of_two(c: f64) -> bool {
    c.is_normal() && c.to_bits().trailing_zeros() >= 52
}
