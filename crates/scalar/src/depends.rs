//! Which variables a result depends on: a value with a set of up to 128 variables.

use super::Scalar;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A value with the set of variables that enter it. Patterns of more than [`Depends::CAPACITY`] variables are found in
/// several sweeps.
///
/// The set is structural: `x − x` depends on x. A product with the constant zero does not.
///
/// ```
/// use daedal_scalar::{Depends, Scalar};
/// let (x, y) = (Depends::variable(1.0, 0), Depends::variable(2.0, 1));
/// let z = x.sin() * 3.0 + Depends::from(0.0) * y;
/// assert!(z.on(0) && !z.on(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depends {
    value: f64,
    set: u128,
}

impl Depends {
    /// How many variables one sweep can follow.
    pub const CAPACITY: usize = 128;

    /// A variable of its own.
    pub fn variable(value: f64, index: usize) -> Self {
        assert!(index < Self::CAPACITY, "variable {index} of at most {}", Self::CAPACITY);
        Depends { value, set: 1 << index }
    }

    /// Does variable `index` enter?
    pub fn on(self, index: usize) -> bool {
        index < Self::CAPACITY && self.set >> index & 1 == 1
    }

    /// Does no variable enter?
    pub fn is_constant(self) -> bool {
        self.set == 0
    }

    /// A structural zero: constant, and zero.
    pub fn is_zero(self) -> bool {
        self.set == 0 && self.value == 0.0
    }

    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Depends { value: f(self.value), set: self.set }
    }

    fn join(self, other: Self, value: f64) -> Self {
        Depends { value, set: self.set | other.set }
    }
}

impl From<f64> for Depends {
    fn from(value: f64) -> Self {
        Depends { value, set: 0 }
    }
}

impl Neg for Depends {
    type Output = Self;
    fn neg(self) -> Self {
        self.map(|x| -x)
    }
}

impl Add for Depends {
    type Output = Self;
    fn add(self, y: Self) -> Self {
        self.join(y, self.value + y.value)
    }
}

impl Sub for Depends {
    type Output = Self;
    fn sub(self, y: Self) -> Self {
        self.join(y, self.value - y.value)
    }
}

impl Mul for Depends {
    type Output = Self;
    fn mul(self, y: Self) -> Self {
        if self.is_zero() || y.is_zero() {
            return Self::from(0.0);
        }
        self.join(y, self.value * y.value)
    }
}

impl Div for Depends {
    type Output = Self;
    fn div(self, y: Self) -> Self {
        if self.is_zero() {
            return self;
        }
        self.join(y, self.value / y.value)
    }
}

impl Add<f64> for Depends {
    type Output = Self;
    fn add(self, y: f64) -> Self {
        self.map(|x| x + y)
    }
}

impl Sub<f64> for Depends {
    type Output = Self;
    fn sub(self, y: f64) -> Self {
        self.map(|x| x - y)
    }
}

impl Mul<f64> for Depends {
    type Output = Self;
    fn mul(self, y: f64) -> Self {
        self * Self::from(y)
    }
}

impl Div<f64> for Depends {
    type Output = Self;
    fn div(self, y: f64) -> Self {
        self.map(|x| x / y)
    }
}

impl AddAssign for Depends {
    fn add_assign(&mut self, y: Self) {
        *self = *self + y;
    }
}

impl SubAssign for Depends {
    fn sub_assign(&mut self, y: Self) {
        *self = *self - y;
    }
}

impl MulAssign for Depends {
    fn mul_assign(&mut self, y: Self) {
        *self = *self * y;
    }
}

impl Scalar for Depends {
    fn value(self) -> f64 {
        self.value
    }
    fn recip(self) -> Self {
        self.map(f64::recip)
    }
    fn sqrt(self) -> Self {
        self.map(f64::sqrt)
    }
    fn exp(self) -> Self {
        self.map(f64::exp)
    }
    fn ln(self) -> Self {
        self.map(f64::ln)
    }
    fn sin_cos(self) -> (Self, Self) {
        (self.map(f64::sin), self.map(f64::cos))
    }
    fn tan(self) -> Self {
        self.map(f64::tan)
    }
    fn sinh_cosh(self) -> (Self, Self) {
        (self.map(f64::sinh), self.map(f64::cosh))
    }
    fn tanh(self) -> Self {
        self.map(f64::tanh)
    }
    fn asin(self) -> Self {
        self.map(f64::asin)
    }
    fn acos(self) -> Self {
        self.map(f64::acos)
    }
    fn atan(self) -> Self {
        self.map(f64::atan)
    }
    fn atan2(self, x: Self) -> Self {
        self.join(x, self.value.atan2(x.value))
    }
    fn powi(self, n: i32) -> Self {
        if n == 0 { Self::from(1.0) } else { self.map(|x| x.powi(n)) }
    }
    fn powf(self, a: f64) -> Self {
        self.map(|x| x.powf(a))
    }
    fn pow(self, y: Self) -> Self {
        self.join(y, self.value.powf(y.value))
    }
    fn select(self, yes: Self, no: Self) -> Self {
        // both branches count: the pattern must hold everywhere
        let value = self.value.select(yes.value, no.value);
        Depends { value, set: self.set | yes.set | no.set }
    }
}
