//! Elementary functions that compiled code calls: those of the standard library that `Scalar for f64` uses, so that the bits are the same.
//!
//! Code calls them as C does on Unix: numbers in the first registers, results there, two of them for sine and cosine.

use daedal_graph::Unary;

/// A function that compiled code calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LibraryFunction {
    /// One number to one number; neither sign, root nor absolute value, which are instructions.
    Unary(Unary),
    /// Angle of a point.
    Atan2,
    /// xᵃ.
    Pow,
    /// Sine and cosine of one argument.
    SineAndCosine,
}

/// Two results, which are returned in two registers.
#[repr(C)]
#[derive(Clone, Copy)]
struct Both(f64, f64);

type One = extern "sysv64" fn(f64) -> f64;
type Two = extern "sysv64" fn(f64, f64) -> f64;

impl LibraryFunction {
    /// Where it is.
    pub(crate) fn address(self) -> usize {
        let one: One = match self {
            LibraryFunction::Unary(f) => match f {
                Unary::Neg => neg,
                Unary::Sqrt => sqrt,
                Unary::Abs => abs,
                Unary::Exp => exp,
                Unary::Ln => ln,
                Unary::Sin => sin,
                Unary::Cos => cos,
                Unary::Tan => tan,
                Unary::Sinh => sinh,
                Unary::Cosh => cosh,
                Unary::Tanh => tanh,
                Unary::Asin => asin,
                Unary::Acos => acos,
                Unary::Atan => atan,
            },
            LibraryFunction::Atan2 => return atan2 as Two as usize,
            LibraryFunction::Pow => return powf as Two as usize,
            LibraryFunction::SineAndCosine => return sin_cos as extern "sysv64" fn(f64) -> Both as usize,
        };
        one as usize
    }
}

macro_rules! unary {
    ($($name:ident)*) => {
        $(extern "sysv64" fn $name(x: f64) -> f64 {
            daedal_scalar::Scalar::$name(x)
        })*
    };
}
unary!(sqrt abs exp ln sin cos tan sinh cosh tanh asin acos atan);

extern "sysv64" fn neg(x: f64) -> f64 {
    -x
}

extern "sysv64" fn atan2(y: f64, x: f64) -> f64 {
    y.atan2(x)
}

extern "sysv64" fn powf(x: f64, a: f64) -> f64 {
    x.powf(a)
}

extern "sysv64" fn sin_cos(x: f64) -> Both {
    let (sin, cos) = x.sin_cos();
    Both(sin, cos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn sine_and_cosine_together_have_the_same_bits() {
        // all magnitudes, both signs, many mantissas
        let mut bits = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..1_000_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let any = f64::from_bits(bits);
            for x in [any, 10.0 * (bits >> 11) as f64 / (1_u64 << 53) as f64 - 5.0] {
                // the compiler must not see that the arguments are the same
                let Both(both_sin, both_cos) = sin_cos(black_box(x));
                let pairs = [(both_sin, sin(black_box(x))), (both_cos, cos(black_box(x)))];
                let same = |(a, b): (f64, f64)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                assert!(pairs.into_iter().all(same), "{x:e}");
            }
        }
    }
}
