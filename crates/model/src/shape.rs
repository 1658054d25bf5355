//! How a formula depends on the velocities, as far as its structure tells: not at all, linearly, affinely or otherwise.

use crate::formula::operation::FormulaOperation;

/// Dependence on the velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VelocityShape {
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

use VelocityShape::{Affine, Free, Linear, Nonlinear, Zero};

impl VelocityShape {
    /// Shape of a result from the shapes of the arguments.
    pub fn of(operation: FormulaOperation, x: &[VelocityShape]) -> VelocityShape {
        match operation {
            FormulaOperation::Negative => x[0],
            FormulaOperation::Add | FormulaOperation::Subtract => sum(x[0], x[1]),
            FormulaOperation::Multiply => product(x[0], x[1]),
            FormulaOperation::Divide if is_free(x[1]) => x[0],
            FormulaOperation::Integer(1) => x[0],
            FormulaOperation::Integer(0) => Free,
            FormulaOperation::Select if is_free(x[0]) => sum_of_branches(x[1], x[2]),
            FormulaOperation::Divide
            | FormulaOperation::Integer(_)
            | FormulaOperation::Constant(_)
            | FormulaOperation::Power
            | FormulaOperation::Function(_)
            | FormulaOperation::Select => elementary(x),
        }
    }
}

fn is_free(x: VelocityShape) -> bool {
    matches!(x, Zero | Free)
}

fn elementary(x: &[VelocityShape]) -> VelocityShape {
    if x.iter().all(|x| is_free(*x)) { Free } else { Nonlinear }
}

fn sum(a: VelocityShape, b: VelocityShape) -> VelocityShape {
    match (a, b) {
        (Nonlinear, _) | (_, Nonlinear) => Nonlinear,
        (Zero, x) | (x, Zero) => x,
        (Free, Free) => Free,
        (Linear, Linear) => Linear,
        _ => Affine,
    }
}

/// Either the one or the other, decided without velocities.
fn sum_of_branches(a: VelocityShape, b: VelocityShape) -> VelocityShape {
    if a == b { a } else { sum(a, b) }
}

fn product(a: VelocityShape, b: VelocityShape) -> VelocityShape {
    match (a, b) {
        (Zero, _) | (_, Zero) => Zero,
        (Free, x) | (x, Free) => x,
        _ => Nonlinear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::ast::ElementaryFunction;

    #[test]
    fn products_and_sums_keep_what_is_linear() {
        assert_eq!(VelocityShape::of(FormulaOperation::Multiply, &[Free, Linear]), Linear);
        assert_eq!(VelocityShape::of(FormulaOperation::Divide, &[Linear, Free]), Linear);
        assert_eq!(VelocityShape::of(FormulaOperation::Add, &[Linear, Zero]), Linear);
        assert_eq!(VelocityShape::of(FormulaOperation::Subtract, &[Linear, Free]), Affine);
        assert_eq!(VelocityShape::of(FormulaOperation::Select, &[Free, Linear, Linear]), Linear);
        assert_eq!(VelocityShape::of(FormulaOperation::Integer(1), &[Affine]), Affine);
    }

    #[test]
    fn everything_else_is_nonlinear() {
        assert_eq!(VelocityShape::of(FormulaOperation::Multiply, &[Linear, Linear]), Nonlinear);
        assert_eq!(VelocityShape::of(FormulaOperation::Divide, &[Free, Linear]), Nonlinear);
        assert_eq!(VelocityShape::of(FormulaOperation::Integer(2), &[Linear]), Nonlinear);
        assert_eq!(VelocityShape::of(FormulaOperation::Function(ElementaryFunction::Abs), &[Linear]), Nonlinear);
        assert_eq!(VelocityShape::of(FormulaOperation::Select, &[Linear, Free, Free]), Nonlinear);
    }
}
