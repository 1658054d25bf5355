//! Operations of formulas for any scalar, in the order of arithmetic in which they are written.

use super::ast::Elementary;
use daedal::scalar::Scalar;

/// One step of a computation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Arithmetic {
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
    Function(Elementary),
    /// second argument where the first is ≥ 0, the third where it is negative
    Select,
}

impl Arithmetic {
    /// The value for these arguments; `Arithmetic` and parser agree on their number.
    pub fn apply<S: Scalar>(self, x: &[S]) -> S {
        match self {
            Arithmetic::Negative => -x[0],
            Arithmetic::Add => x[0] + x[1],
            Arithmetic::Subtract => x[0] - x[1],
            Arithmetic::Multiply => x[0] * x[1],
            Arithmetic::Divide => x[0] / x[1],
            Arithmetic::Integer(n) => x[0].powi(n),
            Arithmetic::Constant(a) => x[0].powf(a),
            Arithmetic::Power => x[0].pow(x[1]),
            Arithmetic::Select => x[0].select(x[1], x[2]),
            Arithmetic::Function(function) => call(function, x),
        }
    }
}

fn call<S: Scalar>(function: Elementary, x: &[S]) -> S {
    match function {
        Elementary::Sin => x[0].sin(),
        Elementary::Cos => x[0].cos(),
        Elementary::Tan => x[0].tan(),
        Elementary::Asin => x[0].asin(),
        Elementary::Acos => x[0].acos(),
        Elementary::Atan => x[0].atan(),
        Elementary::Sinh => x[0].sinh(),
        Elementary::Cosh => x[0].cosh(),
        Elementary::Tanh => x[0].tanh(),
        // sign(x) ln(|x| + √(x² + 1)): no cancellation for negative x
        Elementary::Asinh => {
            let positive = (x[0].abs() + (x[0].square() + 1.0).sqrt()).ln();
            x[0].select(positive, -positive)
        }
        Elementary::Acosh => (x[0] + (x[0].square() - 1.0).sqrt()).ln(),
        Elementary::Atanh => ((x[0] + 1.0) / (-x[0] + 1.0)).ln() * 0.5,
        Elementary::Log10 => x[0].ln() / std::f64::consts::LN_10,
        Elementary::Exp => x[0].exp(),
        Elementary::Ln => x[0].ln(),
        Elementary::Sqrt => x[0].sqrt(),
        Elementary::Abs => x[0].abs(),
        // 1, 0 or −1
        Elementary::Sign => x[0].select((-x[0]).select(S::from(0.0), S::from(1.0)), S::from(-1.0)),
        Elementary::Atan2 => x[0].atan2(x[1]),
        // at the origin its derivative counts as zero: a drag force may begin at rest
        Elementary::Hypot => {
            let square = x[0].square() + x[1].square();
            (-square).select(S::from(0.0), square.sqrt())
        }
        Elementary::Pow => x[0].pow(x[1]),
        Elementary::Min => x[1..].iter().fold(x[0], |least, &y| least.min(y)),
        Elementary::Max => x[1..].iter().fold(x[0], |most, &y| most.max(y)),
    }
}

/// The operation for a power whose exponent is known: an integer power if it is an integer.
pub(crate) fn power(exponent: f64) -> Arithmetic {
    if exponent.fract() == 0.0 && exponent.abs() <= f64::from(i32::MAX) {
        Arithmetic::Integer(exponent as i32)
    } else {
        Arithmetic::Constant(exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use daedal::scalar::Dual;

    #[test]
    fn inverse_functions_undo_what_they_invert() {
        for x in [-3.0, -0.5, 0.0, 0.25, 2.0_f64] {
            let value = |function, x: f64| call(function, &[x]);
            assert!((value(Elementary::Asinh, x.sinh()) - x).abs() < 1e-14);
            assert!((value(Elementary::Acosh, x.cosh()) - x.abs()).abs() < 1e-14);
            assert!((value(Elementary::Atanh, x.tanh()) - x).abs() < 1e-13);
            assert!((value(Elementary::Log10, 10.0_f64.powf(x)) - x).abs() < 1e-15);
        }
    }

    #[test]
    fn the_distance_from_the_origin_has_a_derivative_there() {
        let x = Dual::<f64, 2>::variable(0.0, 0);
        let y = Dual::<f64, 2>::variable(0.0, 1);
        assert_eq!(call(Elementary::Hypot, &[x, y]).lanes, [0.0, 0.0]);
        let (x, y) = (Dual::<f64, 2>::variable(3.0, 0), Dual::<f64, 2>::variable(4.0, 1));
        let [along_x, along_y] = call(Elementary::Hypot, &[x, y]).lanes;
        assert!((along_x - 0.6).abs() < 1e-15 && (along_y - 0.8).abs() < 1e-15);
    }
}
