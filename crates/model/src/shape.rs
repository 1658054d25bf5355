//! How a formula depends on the velocities, as far as its structure tells: not at all, linearly, affinely or otherwise.

use crate::formula::operation::Arithmetic;

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
    pub fn of(operation: Arithmetic, x: &[Shape]) -> Shape {
        match operation {
            Arithmetic::Negative => x[0],
            Arithmetic::Add | Arithmetic::Subtract => sum(x[0], x[1]),
            Arithmetic::Multiply => product(x[0], x[1]),
            Arithmetic::Divide if is_free(x[1]) => x[0],
            Arithmetic::Integer(1) => x[0],
            Arithmetic::Integer(0) => Free,
            Arithmetic::Select if is_free(x[0]) => sum_of_branches(x[1], x[2]),
            Arithmetic::Divide
            | Arithmetic::Integer(_)
            | Arithmetic::Constant(_)
            | Arithmetic::Power
            | Arithmetic::Function(_)
            | Arithmetic::Select => elementary(x),
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
    use crate::formula::ast::Elementary;

    #[test]
    fn products_and_sums_keep_what_is_linear() {
        assert_eq!(Shape::of(Arithmetic::Multiply, &[Free, Linear]), Linear);
        assert_eq!(Shape::of(Arithmetic::Divide, &[Linear, Free]), Linear);
        assert_eq!(Shape::of(Arithmetic::Add, &[Linear, Zero]), Linear);
        assert_eq!(Shape::of(Arithmetic::Subtract, &[Linear, Free]), Affine);
        assert_eq!(Shape::of(Arithmetic::Select, &[Free, Linear, Linear]), Linear);
        assert_eq!(Shape::of(Arithmetic::Integer(1), &[Affine]), Affine);
    }

    #[test]
    fn everything_else_is_nonlinear() {
        assert_eq!(Shape::of(Arithmetic::Multiply, &[Linear, Linear]), Nonlinear);
        assert_eq!(Shape::of(Arithmetic::Divide, &[Free, Linear]), Nonlinear);
        assert_eq!(Shape::of(Arithmetic::Integer(2), &[Linear]), Nonlinear);
        assert_eq!(Shape::of(Arithmetic::Function(Elementary::Abs), &[Linear]), Nonlinear);
        assert_eq!(Shape::of(Arithmetic::Select, &[Linear, Free, Free]), Nonlinear);
    }
}
