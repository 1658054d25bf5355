//! Forward derivatives in N directions at once: x + Σ εⱼ xⱼ with εᵢεⱼ = 0.

use super::Scalar;
use std::array::from_fn;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A value with its derivatives in N directions ("lanes").
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<S, const N: usize> {
    /// The value.
    pub value: S,
    /// The derivatives.
    pub lanes: [S; N],
}

impl<S: Scalar, const N: usize> Dual<S, N> {
    /// A number that does not move.
    #[inline]
    pub fn constant(value: S) -> Self {
        Dual { value, lanes: [S::from(0.0); N] }
    }

    /// A number that moves with unit speed in direction `lane`.
    #[inline]
    pub fn variable(value: S, lane: usize) -> Self {
        let mut x = Self::constant(value);
        x.lanes[lane] = S::from(1.0);
        x
    }

    /// f(x) with the derivative f'(x).
    #[inline(always)]
    fn chain(self, f: S, slope: S) -> Self {
        Dual { value: f, lanes: from_fn(|j| self.lanes[j] * slope) }
    }
}

impl<S: Scalar, const N: usize> From<f64> for Dual<S, N> {
    #[inline]
    fn from(value: f64) -> Self {
        Self::constant(S::from(value))
    }
}

impl<S: Scalar, const N: usize> Neg for Dual<S, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Dual { value: -self.value, lanes: from_fn(|j| -self.lanes[j]) }
    }
}

impl<S: Scalar, const N: usize> Add for Dual<S, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, y: Self) -> Self {
        Dual { value: self.value + y.value, lanes: from_fn(|j| self.lanes[j] + y.lanes[j]) }
    }
}

impl<S: Scalar, const N: usize> Sub for Dual<S, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, y: Self) -> Self {
        Dual { value: self.value - y.value, lanes: from_fn(|j| self.lanes[j] - y.lanes[j]) }
    }
}

impl<S: Scalar, const N: usize> Mul for Dual<S, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, y: Self) -> Self {
        Dual { value: self.value * y.value, lanes: from_fn(|j| self.lanes[j] * y.value + self.value * y.lanes[j]) }
    }
}

impl<S: Scalar, const N: usize> Div for Dual<S, N> {
    type Output = Self;
    #[inline]
    fn div(self, y: Self) -> Self {
        // not x · (1/y): the value is that of f64 to the last bit
        let q = self.value / y.value;
        let inverse = y.value.recip();
        Dual { value: q, lanes: from_fn(|j| (self.lanes[j] - q * y.lanes[j]) * inverse) }
    }
}

impl<S: Scalar, const N: usize> Add<f64> for Dual<S, N> {
    type Output = Self;
    #[inline]
    fn add(self, y: f64) -> Self {
        Dual { value: self.value + y, ..self }
    }
}

impl<S: Scalar, const N: usize> Sub<f64> for Dual<S, N> {
    type Output = Self;
    #[inline]
    fn sub(self, y: f64) -> Self {
        Dual { value: self.value - y, ..self }
    }
}

impl<S: Scalar, const N: usize> Mul<f64> for Dual<S, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, y: f64) -> Self {
        Dual { value: self.value * y, lanes: from_fn(|j| self.lanes[j] * y) }
    }
}

impl<S: Scalar, const N: usize> Div<f64> for Dual<S, N> {
    type Output = Self;
    #[inline]
    fn div(self, y: f64) -> Self {
        Dual { value: self.value / y, lanes: from_fn(|j| self.lanes[j] / y) }
    }
}

impl<S: Scalar, const N: usize> AddAssign for Dual<S, N> {
    #[inline]
    fn add_assign(&mut self, y: Self) {
        *self = *self + y;
    }
}

impl<S: Scalar, const N: usize> SubAssign for Dual<S, N> {
    #[inline]
    fn sub_assign(&mut self, y: Self) {
        *self = *self - y;
    }
}

impl<S: Scalar, const N: usize> MulAssign for Dual<S, N> {
    #[inline]
    fn mul_assign(&mut self, y: Self) {
        *self = *self * y;
    }
}

impl<S: Scalar, const N: usize> Scalar for Dual<S, N> {
    #[inline]
    fn value(self) -> f64 {
        self.value.value()
    }

    #[inline]
    fn recip(self) -> Self {
        let y = self.value.recip();
        self.chain(y, -(y * y))
    }

    #[inline]
    fn square(self) -> Self {
        self.chain(self.value.square(), self.value * 2.0)
    }

    #[inline]
    fn sqrt(self) -> Self {
        let y = self.value.sqrt();
        self.chain(y, (y * 2.0).recip())
    }

    #[inline]
    fn exp(self) -> Self {
        let y = self.value.exp();
        self.chain(y, y)
    }

    #[inline]
    fn ln(self) -> Self {
        self.chain(self.value.ln(), self.value.recip())
    }

    #[inline]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = self.value.sin_cos();
        (self.chain(s, c), self.chain(c, -s))
    }

    #[inline]
    fn tan(self) -> Self {
        let y = self.value.tan();
        self.chain(y, y * y + 1.0)
    }

    #[inline]
    fn sinh_cosh(self) -> (Self, Self) {
        let (s, c) = self.value.sinh_cosh();
        (self.chain(s, c), self.chain(c, s))
    }

    #[inline]
    fn tanh(self) -> Self {
        let y = self.value.tanh();
        self.chain(y, -(y * y) + 1.0)
    }

    #[inline]
    fn asin(self) -> Self {
        self.chain(self.value.asin(), (-self.value.square() + 1.0).sqrt().recip())
    }

    #[inline]
    fn acos(self) -> Self {
        self.chain(self.value.acos(), -(-self.value.square() + 1.0).sqrt().recip())
    }

    #[inline]
    fn atan(self) -> Self {
        self.chain(self.value.atan(), (self.value.square() + 1.0).recip())
    }

    #[inline]
    fn atan2(self, x: Self) -> Self {
        // d atan2(y, x) = (x dy − y dx)/(x² + y²)
        let r2 = (self.value.square() + x.value.square()).recip();
        let (gx, gy) = (-(self.value * r2), x.value * r2);
        Dual { value: self.value.atan2(x.value), lanes: from_fn(|j| gy * self.lanes[j] + gx * x.lanes[j]) }
    }

    #[inline]
    fn powi(self, n: i32) -> Self {
        match n {
            0 => Self::from(1.0),
            _ => self.chain(self.value.powi(n), self.value.powi(n - 1) * f64::from(n)),
        }
    }

    #[inline]
    fn powf(self, a: f64) -> Self {
        self.chain(self.value.powf(a), self.value.powf(a - 1.0) * a)
    }

    fn pow(self, y: Self) -> Self {
        // d(xʸ) = xʸ (y/x dx + ln x dy)
        let z = self.value.pow(y.value);
        let (along_x, along_y) = (z * (y.value / self.value), z * self.value.ln());
        Dual { value: z, lanes: from_fn(|j| along_x * self.lanes[j] + along_y * y.lanes[j]) }
    }

    #[inline]
    fn select(self, yes: Self, no: Self) -> Self {
        let condition = self.value;
        let lanes = from_fn(|j| condition.select(yes.lanes[j], no.lanes[j]));
        Dual { value: condition.select(yes.value, no.value), lanes }
    }
}
