//! Elementary functions that compiled code calls: those of the standard library that `Scalar for f64` uses, so that the bits are the same.

use cranelift_codegen::ir::types::F64;
use cranelift_codegen::ir::{AbiParam, Signature, Type};
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
    /// Sine and cosine of one argument, written to an address.
    SineAndCosine,
}

impl LibraryFunction {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = LibraryFunction> {
        use Unary::{Acos, Asin, Atan, Cos, Cosh, Exp, Ln, Sin, Sinh, Tan, Tanh};
        let unary = [Exp, Ln, Sin, Cos, Tan, Sinh, Cosh, Tanh, Asin, Acos, Atan];
        let others = [LibraryFunction::Atan2, LibraryFunction::Pow, LibraryFunction::SineAndCosine];
        unary.into_iter().map(LibraryFunction::Unary).chain(others)
    }

    /// Its symbol.
    pub(crate) fn name(self) -> &'static str {
        match self {
            LibraryFunction::Unary(f) => f.name().unwrap_or("neg"),
            LibraryFunction::Atan2 => "atan2",
            LibraryFunction::Pow => "pow",
            LibraryFunction::SineAndCosine => "sin_cos",
        }
    }

    /// Arguments and result, into an empty signature.
    pub(crate) fn describe(self, pointer: Type, signature: &mut Signature) {
        let (arguments, result): (&[Type], _) = match self {
            LibraryFunction::Unary(_) => (&[F64], Some(F64)),
            LibraryFunction::Atan2 | LibraryFunction::Pow => (&[F64, F64], Some(F64)),
            LibraryFunction::SineAndCosine => (&[F64, pointer], None),
        };
        signature.params.extend(arguments.iter().map(|&kind| AbiParam::new(kind)));
        signature.returns.extend(result.map(AbiParam::new));
    }

    /// Where it is.
    pub(crate) fn address(self) -> *const u8 {
        type One = extern "C" fn(f64) -> f64;
        type Two = extern "C" fn(f64, f64) -> f64;
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
            LibraryFunction::Atan2 => return atan2 as Two as *const u8,
            LibraryFunction::Pow => return powf as Two as *const u8,
            LibraryFunction::SineAndCosine => return sin_cos as extern "C" fn(f64, &mut [f64; 2]) as *const u8,
        };
        one as *const u8
    }
}

macro_rules! unary {
    ($($name:ident)*) => {
        $(extern "C" fn $name(x: f64) -> f64 {
            daedal_scalar::Scalar::$name(x)
        })*
    };
}
unary!(sqrt abs exp ln sin cos tan sinh cosh tanh asin acos atan);

extern "C" fn neg(x: f64) -> f64 {
    -x
}

extern "C" fn atan2(y: f64, x: f64) -> f64 {
    y.atan2(x)
}

extern "C" fn powf(x: f64, a: f64) -> f64 {
    x.powf(a)
}

extern "C" fn sin_cos(x: f64, both: &mut [f64; 2]) {
    (both[0], both[1]) = x.sin_cos();
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
                let mut both = [0.0; 2];
                // the compiler must not see that the arguments are the same
                sin_cos(black_box(x), &mut both);
                let alone = [sin(black_box(x)), cos(black_box(x))];
                let same = |k: usize| both[k].to_bits() == alone[k].to_bits() || both[k].is_nan() && alone[k].is_nan();
                assert!(same(0) && same(1), "{x:e}");
            }
        }
    }

    #[test]
    fn names_are_different() {
        let names: std::collections::HashSet<&str> = LibraryFunction::all().map(LibraryFunction::name).collect();
        assert_eq!(names.len(), LibraryFunction::all().count());
    }
}
