//! Numbers that models are written for.
//!
//! A model is written once, generic in the scalar: `f64` gives values, [`Dual`] derivatives in several directions at
//! once, [`Taylor`] coefficients along a curve, [`Depends`] the pattern of dependence, [`Interval`] bounds over a whole range. They
//! nest: a `Taylor<Dual<f64, 4>, 3>` carries the derivatives of the coefficients, a `Taylor<Interval, 3>` bounds of them.

mod depends;
mod dual;
mod interval;
mod real;
mod taylor;

pub use depends::Depends;
pub use dual::Dual;
pub use interval::Interval;
pub use taylor::Taylor;

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A number a model can be evaluated with.
///
/// The contract of an implementation:
/// 1. arithmetic and elementary functions act on [`value`](Scalar::value) as they do on `f64`;
/// 2. `From<f64>` gives a constant, whose derivatives vanish;
/// 3. [`select`](Scalar::select) is the only control flow that models use.
///
/// ```
/// use daedal_scalar::{Dual, Scalar};
/// fn kinetic<S: Scalar>(m: f64, v: S) -> S { v.square() * (0.5 * m) }
/// let v = Dual::<f64, 1>::variable(3.0, 0);
/// assert_eq!(kinetic(2.0, v).value, 9.0);
/// assert_eq!(kinetic(2.0, v).lanes[0], 6.0); // m v
/// ```
pub trait Scalar:
    Copy
    + Debug
    + Send
    + Sync
    + 'static
    + From<f64>
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// The number without its derivatives.
    fn value(self) -> f64;
    /// 1/x.
    fn recip(self) -> Self;
    /// x².
    fn square(self) -> Self {
        self * self
    }
    /// √x.
    fn sqrt(self) -> Self;
    /// eˣ.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// (sin x, cos x), cheaper together than apart.
    fn sin_cos(self) -> (Self, Self);
    /// sin x.
    fn sin(self) -> Self {
        self.sin_cos().0
    }
    /// cos x.
    fn cos(self) -> Self {
        self.sin_cos().1
    }
    /// tan x.
    fn tan(self) -> Self {
        let (s, c) = self.sin_cos();
        s / c
    }
    /// (sinh x, cosh x).
    fn sinh_cosh(self) -> (Self, Self);
    /// sinh x.
    fn sinh(self) -> Self {
        self.sinh_cosh().0
    }
    /// cosh x.
    fn cosh(self) -> Self {
        self.sinh_cosh().1
    }
    /// tanh x.
    fn tanh(self) -> Self;
    /// arcsin x.
    fn asin(self) -> Self;
    /// arccos x.
    fn acos(self) -> Self {
        -self.asin() + std::f64::consts::FRAC_PI_2
    }
    /// arctan x.
    fn atan(self) -> Self;
    /// Angle of the point (x, self): `y.atan2(x)`.
    fn atan2(self, x: Self) -> Self;
    /// xⁿ for an integer n.
    fn powi(self, n: i32) -> Self;
    /// xᵃ for a constant a and x > 0.
    fn powf(self, a: f64) -> Self;
    /// xʸ for x > 0.
    fn pow(self, y: Self) -> Self {
        (self.ln() * y).exp()
    }
    /// |x|, with derivative sign(x).
    fn abs(self) -> Self {
        self.select(self, -self)
    }
    /// `yes` where self ≥ 0, `no` where it is negative; a condition that is not a number has no result (NaN).
    fn select(self, yes: Self, no: Self) -> Self;
    /// The larger of two numbers.
    fn max(self, other: Self) -> Self {
        (self - other).select(self, other)
    }
    /// The smaller of two numbers.
    fn min(self, other: Self) -> Self {
        (self - other).select(other, self)
    }
}

/// Sum of products, `Σ aᵢ bᵢ`.
pub fn dot<S: Scalar>(a: &[S], b: &[S]) -> S {
    a.iter().zip(b).fold(S::from(0.0), |sum, (&x, &y)| sum + x * y)
}
