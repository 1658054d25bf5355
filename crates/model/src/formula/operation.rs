//! Operations of formulas for any scalar, in the order of arithmetic in which they are written.

use super::ast::Function;
use daedal::scalar::Scalar;

/// One step of a computation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operation {
    Negative,
    Add,
    Subtract,
    Multiply,
    Divide,
    /// xⁿ
    Integer(i32),
    /// xᵃ for a constant a
    Constant(f64),
    /// xʸ
    Power,
    Function(Function),
    /// second argument where the first is ≥ 0, else the third
    Select,
}

impl Operation {
    /// The value for these arguments; `Operation` and parser agree on their number.
    pub fn apply<S: Scalar>(self, x: &[S]) -> S {
        match self {
            Operation::Negative => -x[0],
            Operation::Add => x[0] + x[1],
            Operation::Subtract => x[0] - x[1],
            Operation::Multiply => x[0] * x[1],
            Operation::Divide => x[0] / x[1],
            Operation::Integer(n) => x[0].powi(n),
            Operation::Constant(a) => x[0].powf(a),
            Operation::Power => x[0].pow(x[1]),
            Operation::Select => x[0].select(x[1], x[2]),
            Operation::Function(function) => call(function, x),
        }
    }
}

fn call<S: Scalar>(function: Function, x: &[S]) -> S {
    match function {
        Function::Sin => x[0].sin(),
        Function::Cos => x[0].cos(),
        Function::Tan => x[0].tan(),
        Function::Asin => x[0].asin(),
        Function::Acos => x[0].acos(),
        Function::Atan => x[0].atan(),
        Function::Sinh => x[0].sinh(),
        Function::Cosh => x[0].cosh(),
        Function::Tanh => x[0].tanh(),
        Function::Exp => x[0].exp(),
        Function::Ln => x[0].ln(),
        Function::Sqrt => x[0].sqrt(),
        Function::Abs => x[0].abs(),
        // 1, 0 or −1
        Function::Sign => x[0].select((-x[0]).select(S::from(0.0), S::from(1.0)), S::from(-1.0)),
        Function::Atan2 => x[0].atan2(x[1]),
        Function::Hypot => (x[0].square() + x[1].square()).sqrt(),
        Function::Pow => x[0].pow(x[1]),
        Function::Min => x[1..].iter().fold(x[0], |least, &y| least.min(y)),
        Function::Max => x[1..].iter().fold(x[0], |most, &y| most.max(y)),
    }
}

/// The operation for a power whose exponent is known: an integer power if it is an integer.
pub(crate) fn power(exponent: f64) -> Operation {
    if exponent.fract() == 0.0 && exponent.abs() <= f64::from(i32::MAX) {
        Operation::Integer(exponent as i32)
    } else {
        Operation::Constant(exponent)
    }
}
