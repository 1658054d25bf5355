//! Bounds of a result over a whole range of arguments: interval arithmetic, rounded outwards.
//!
//! Every operation encloses what it may give for any numbers of its arguments, so that a formula evaluated with an interval of times tells what
//! it *cannot* do in between: be zero, change its sign, change by more than so much. Moore, Interval Analysis (1966).

use super::Scalar;
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// All numbers from `low` to `high`. Both are NaN where there is no value for any of the arguments.
///
/// ```
/// use daedal_scalar::{Interval, Scalar};
/// let t = Interval::new(1.0, 2.0);
/// let y = t.sin() * t - 3.0;
/// assert!(y.high < 0.0 && y.contains(1.5_f64.sin() * 1.5 - 3.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// Elementary functions of the system's library are right to this many units of the last place; theirs is one in practice.
const LIBRARY: f64 = 4.0;

impl Interval {
    /// Nothing is known.
    pub const EVERYTHING: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
    /// There is no value.
    pub const UNDEFINED: Interval = Interval { low: f64::NAN, high: f64::NAN };

    /// From low to high.
    pub fn new(low: f64, high: f64) -> Self {
        Interval { low, high }
    }

    /// high − low.
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// The largest absolute value.
    pub fn magnitude(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// Is a number inside?
    pub fn contains(self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// Is there no value for any argument?
    pub fn is_undefined(self) -> bool {
        self.low.is_nan() || self.high.is_nan()
    }

    /// The smallest interval around both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Bounds of a rounded result.
    fn outward(low: f64, high: f64, units: f64) -> Self {
        let spread = |x: f64| (units * f64::EPSILON * x.abs()).max(f64::MIN_POSITIVE);
        Interval { low: low - spread(low), high: high + spread(high) }
    }

    /// A function that rises.
    fn rising(self, f: impl Fn(f64) -> f64) -> Self {
        Interval::outward(f(self.low), f(self.high), LIBRARY)
    }

    /// Is there an integer k with low ≤ (offset + k) period ≤ high? Rounding counts as yes.
    fn meets(self, offset: f64, period: f64) -> bool {
        let [low, high] = [self.low, self.high].map(|x| x / period - offset);
        let slack = LIBRARY * f64::EPSILON;
        (low - slack * (low.abs() + 1.0)).ceil() <= (high + slack * (high.abs() + 1.0)).floor()
    }

    /// Sine of x + shift, where shift is a part of the period 2π.
    fn wave(self, f: impl Fn(f64) -> f64, maximum: f64) -> Self {
        if !(self.low.is_finite() && self.high.is_finite()) {
            return if self.is_undefined() { self } else { Interval::new(-1.0, 1.0) };
        }
        let (a, b) = (f(self.low), f(self.high));
        let mut hull = Interval::outward(a.min(b), a.max(b), LIBRARY);
        if self.meets(maximum, TAU) {
            hull.high = 1.0;
        }
        if self.meets(maximum + 0.5, TAU) {
            hull.low = -1.0;
        }
        Interval { low: hull.low.max(-1.0), high: hull.high.min(1.0) }
    }
}

/// a + b rounded down or up: exact sums stay as they are.
fn sum(a: f64, b: f64, towards: f64) -> f64 {
    let s = a + b;
    // the rounding error of a sum is a floating-point number (Knuth)
    let part = s - a;
    let error = (a - (s - part)) + (b - part);
    if error == 0.0 || !error.is_finite() {
        s
    } else if (error < 0.0) == (towards < 0.0) {
        s + towards.signum() * (f64::EPSILON * s.abs()).max(f64::MIN_POSITIVE)
    } else {
        s
    }
}

/// a b, where zero times anything is zero.
fn product(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

impl From<f64> for Interval {
    fn from(value: f64) -> Self {
        Interval { low: value, high: value }
    }
}

impl Neg for Interval {
    type Output = Self;
    fn neg(self) -> Self {
        Interval { low: -self.high, high: -self.low }
    }
}

impl Add for Interval {
    type Output = Self;
    fn add(self, y: Self) -> Self {
        Interval { low: sum(self.low, y.low, -1.0), high: sum(self.high, y.high, 1.0) }
    }
}

impl Sub for Interval {
    type Output = Self;
    fn sub(self, y: Self) -> Self {
        self + -y
    }
}

impl Mul for Interval {
    type Output = Self;
    fn mul(self, y: Self) -> Self {
        if self.is_undefined() || y.is_undefined() {
            return Interval::UNDEFINED;
        }
        let zero = Interval::from(0.0);
        if self == zero || y == zero {
            return zero;
        }
        let corners = [
            product(self.low, y.low),
            product(self.low, y.high),
            product(self.high, y.low),
            product(self.high, y.high),
        ];
        let (low, high) = corners.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &c| (l.min(c), h.max(c)));
        Interval::outward(low, high, 1.0)
    }
}

impl Div for Interval {
    type Output = Self;
    fn div(self, y: Self) -> Self {
        self * y.recip()
    }
}

impl Add<f64> for Interval {
    type Output = Self;
    fn add(self, y: f64) -> Self {
        self + Interval::from(y)
    }
}

impl Sub<f64> for Interval {
    type Output = Self;
    fn sub(self, y: f64) -> Self {
        self - Interval::from(y)
    }
}

impl Mul<f64> for Interval {
    type Output = Self;
    fn mul(self, y: f64) -> Self {
        self * Interval::from(y)
    }
}

impl Div<f64> for Interval {
    type Output = Self;
    fn div(self, y: f64) -> Self {
        if y == 0.0 || self.is_undefined() {
            return self / Interval::from(y);
        }
        let (a, b) = (self.low / y, self.high / y);
        if a == 0.0 && b == 0.0 { Interval::from(0.0) } else { Interval::outward(a.min(b), a.max(b), 1.0) }
    }
}

impl AddAssign for Interval {
    fn add_assign(&mut self, y: Self) {
        *self = *self + y;
    }
}

impl SubAssign for Interval {
    fn sub_assign(&mut self, y: Self) {
        *self = *self - y;
    }
}

impl MulAssign for Interval {
    fn mul_assign(&mut self, y: Self) {
        *self = *self * y;
    }
}

impl Scalar for Interval {
    /// A number in the middle.
    fn value(self) -> f64 {
        0.5 * self.low + 0.5 * self.high
    }

    fn recip(self) -> Self {
        if self.low > 0.0 || self.high < 0.0 {
            Interval::outward(1.0 / self.high, 1.0 / self.low, 1.0)
        } else if self.is_undefined() || self == Interval::from(0.0) {
            Interval::UNDEFINED
        } else if self.low == 0.0 {
            Interval::outward(1.0 / self.high, f64::INFINITY, 1.0)
        } else if self.high == 0.0 {
            Interval::outward(f64::NEG_INFINITY, 1.0 / self.low, 1.0)
        } else {
            Interval::EVERYTHING
        }
    }

    fn square(self) -> Self {
        self.powi(2)
    }

    fn sqrt(self) -> Self {
        // what is left of zero has no root
        if !(self.high >= 0.0) {
            return Interval::UNDEFINED;
        }
        let root = Interval { low: self.low.max(0.0), high: self.high }.rising(f64::sqrt);
        Interval { low: root.low.max(0.0), ..root }
    }

    fn exp(self) -> Self {
        let y = self.rising(f64::exp);
        Interval { low: y.low.max(0.0), ..y }
    }

    fn ln(self) -> Self {
        if !(self.high > 0.0) {
            return Interval::UNDEFINED;
        }
        Interval { low: self.low.max(0.0), high: self.high }.rising(f64::ln)
    }

    fn sin_cos(self) -> (Self, Self) {
        (self.wave(f64::sin, 0.25), self.wave(f64::cos, 0.0))
    }

    fn tan(self) -> Self {
        if self.is_undefined() {
            self
        } else if !(self.width() < PI) || self.meets(0.5, PI) {
            Interval::EVERYTHING
        } else {
            self.rising(f64::tan)
        }
    }

    fn sinh_cosh(self) -> (Self, Self) {
        let (least, most) =
            (if self.contains(0.0) { 0.0 } else { self.low.abs().min(self.high.abs()) }, self.magnitude());
        let cosh = Interval::new(least, most).rising(f64::cosh);
        (self.rising(f64::sinh), Interval { low: cosh.low.max(1.0), ..cosh })
    }

    fn tanh(self) -> Self {
        let y = self.rising(f64::tanh);
        Interval { low: y.low.max(-1.0), high: y.high.min(1.0) }
    }

    fn asin(self) -> Self {
        if !(self.low <= 1.0 && self.high >= -1.0) {
            return Interval::UNDEFINED;
        }
        Interval { low: self.low.max(-1.0), high: self.high.min(1.0) }.rising(f64::asin)
    }

    fn acos(self) -> Self {
        // π/2 is rounded, too
        -self.asin() + Interval::outward(FRAC_PI_2, FRAC_PI_2, 1.0)
    }

    fn atan(self) -> Self {
        self.rising(f64::atan)
    }

    fn atan2(self, x: Self) -> Self {
        if self.is_undefined() || x.is_undefined() {
            return Interval::UNDEFINED;
        }
        // the angle jumps across the negative axis
        if self.contains(0.0) && x.low <= 0.0 {
            return Interval::outward(-PI, PI, LIBRARY);
        }
        let corners = [self.low.atan2(x.low), self.low.atan2(x.high), self.high.atan2(x.low), self.high.atan2(x.high)];
        let (low, high) = corners.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &c| (l.min(c), h.max(c)));
        Interval::outward(low, high, LIBRARY)
    }

    fn powi(self, n: i32) -> Self {
        if n < 0 {
            return if n == i32::MIN { Interval::EVERYTHING } else { self.powi(-n).recip() };
        }
        if n == 0 || self.is_undefined() {
            return if n == 0 { Interval::from(1.0) } else { self };
        }
        // repeated squaring: every product is rounded
        let units = 2.0 * f64::from(n.ilog2() + 1);
        let power = |x: f64| x.powi(n);
        let (a, b) = (power(self.low), power(self.high));
        if n % 2 == 1 {
            return if self == Interval::from(0.0) { self } else { Interval::outward(a, b, units) };
        }
        let least = if self.contains(0.0) { 0.0 } else { a.min(b) };
        let y = Interval::outward(least, a.max(b), units);
        Interval { low: y.low.max(0.0), ..y }
    }

    fn powf(self, a: f64) -> Self {
        if !(self.high >= 0.0) {
            return Interval::UNDEFINED;
        }
        let base = Interval { low: self.low.max(0.0), high: self.high };
        let y = if a >= 0.0 { base.rising(|x| x.powf(a)) } else { (-base).rising(|x| (-x).powf(a)) };
        Interval { low: y.low.max(0.0), ..y }
    }

    fn abs(self) -> Self {
        let least = if self.contains(0.0) { 0.0 } else { self.low.abs().min(self.high.abs()) };
        if self.is_undefined() { self } else { Interval::new(least, self.magnitude()) }
    }

    /// What may come of either branch, unless the sign is certain.
    fn select(self, yes: Self, no: Self) -> Self {
        if self.low >= 0.0 {
            yes
        } else if self.high < 0.0 {
            no
        } else if self.is_undefined() {
            self
        } else {
            yes.hull(no)
        }
    }
}
