//! How a formula depends on the velocities, as far as its structure tells: not at all, linearly, affinely or otherwise.

use crate::formula::operation::Operation;

/// Dependence on the velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The number 0, which is linear and free.
    Zero,
    /// No velocities.
    Free,
    /// Σ aᵢ vᵢ.
    Linear,
    /// Σ aᵢ vᵢ + b.
    Affine,
    /// Anything else.
    Nonlinear,
}

use Shape::{Affine, Free, Linear, Nonlinear, Zero};

impl Shape {
    /// Shape of a result from the shapes of the arguments.
    pub fn of(operation: Operation, x: &[Shape]) -> Shape {
        match operation {
            Operation::Negative => x[0],
            Operation::Add | Operation::Subtract => sum(x[0], x[1]),
            Operation::Multiply => product(x[0], x[1]),
            Operation::Divide if is_free(x[1]) => x[0],
            Operation::Integer(1) => x[0],
            Operation::Integer(0) => Free,
            Operation::Select if is_free(x[0]) => sum_of_branches(x[1], x[2]),
            Operation::Divide
            | Operation::Integer(_)
            | Operation::Constant(_)
            | Operation::Power
            | Operation::Function(_)
            | Operation::Select => elementary(x),
        }
    }
}

fn is_free(x: Shape) -> bool {
    matches!(x, Zero | Free)
}

fn elementary(x: &[Shape]) -> Shape {
    if x.iter().all(|x| is_free(*x)) { Free } else { Nonlinear }
}

fn sum(a: Shape, b: Shape) -> Shape {
    match (a, b) {
        (Nonlinear, _) | (_, Nonlinear) => Nonlinear,
        (Zero, x) | (x, Zero) => x,
        (Free, Free) => Free,
        (Linear, Linear) => Linear,
        _ => Affine,
    }
}

/// Either the one or the other, decided without velocities.
fn sum_of_branches(a: Shape, b: Shape) -> Shape {
    if a == b { a } else { sum(a, b) }
}

fn product(a: Shape, b: Shape) -> Shape {
    match (a, b) {
        (Zero, _) | (_, Zero) => Zero,
        (Free, x) | (x, Free) => x,
        _ => Nonlinear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::ast::Function;

    #[test]
    fn products_and_sums_keep_what_is_linear() {
        assert_eq!(Shape::of(Operation::Multiply, &[Free, Linear]), Linear);
        assert_eq!(Shape::of(Operation::Divide, &[Linear, Free]), Linear);
        assert_eq!(Shape::of(Operation::Add, &[Linear, Zero]), Linear);
        assert_eq!(Shape::of(Operation::Subtract, &[Linear, Free]), Affine);
        assert_eq!(Shape::of(Operation::Select, &[Free, Linear, Linear]), Linear);
        assert_eq!(Shape::of(Operation::Integer(1), &[Affine]), Affine);
    }

    #[test]
    fn everything_else_is_nonlinear() {
        assert_eq!(Shape::of(Operation::Multiply, &[Linear, Linear]), Nonlinear);
        assert_eq!(Shape::of(Operation::Divide, &[Free, Linear]), Nonlinear);
        assert_eq!(Shape::of(Operation::Integer(2), &[Linear]), Nonlinear);
        assert_eq!(Shape::of(Operation::Function(Function::Abs), &[Linear]), Nonlinear);
        assert_eq!(Shape::of(Operation::Select, &[Linear, Free, Free]), Nonlinear);
    }
}
