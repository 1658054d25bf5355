//! `f64` as a [`Scalar`]: plain values.

use super::Scalar;

impl Scalar for f64 {
    #[inline]
    fn value(self) -> f64 {
        self
    }
    #[inline]
    fn recip(self) -> f64 {
        1.0 / self
    }
    #[inline]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline]
    fn exp(self) -> f64 {
        f64::exp(self)
    }
    #[inline]
    fn ln(self) -> f64 {
        f64::ln(self)
    }
    #[inline]
    fn sin_cos(self) -> (f64, f64) {
        f64::sin_cos(self)
    }
    #[inline]
    fn sin(self) -> f64 {
        f64::sin(self)
    }
    #[inline]
    fn cos(self) -> f64 {
        f64::cos(self)
    }
    #[inline]
    fn tan(self) -> f64 {
        f64::tan(self)
    }
    #[inline]
    fn sinh_cosh(self) -> (f64, f64) {
        (f64::sinh(self), f64::cosh(self))
    }
    #[inline]
    fn tanh(self) -> f64 {
        f64::tanh(self)
    }
    #[inline]
    fn asin(self) -> f64 {
        f64::asin(self)
    }
    #[inline]
    fn acos(self) -> f64 {
        f64::acos(self)
    }
    #[inline]
    fn atan(self) -> f64 {
        f64::atan(self)
    }
    #[inline]
    fn atan2(self, x: f64) -> f64 {
        f64::atan2(self, x)
    }
    #[inline]
    fn powi(self, n: i32) -> f64 {
        f64::powi(self, n)
    }
    #[inline]
    fn powf(self, a: f64) -> f64 {
        // the powers of distances, without a logarithm; native code does the same
        match a {
            1.5 => self * self.sqrt(),
            -1.5 => 1.0 / (self * self.sqrt()),
            _ => f64::powf(self, a),
        }
    }
    #[inline]
    fn pow(self, y: f64) -> f64 {
        f64::powf(self, y)
    }
    #[inline]
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    #[inline]
    fn select(self, yes: f64, no: f64) -> f64 {
        if self >= 0.0 {
            yes
        } else if self < 0.0 {
            no
        } else {
            f64::NAN
        }
    }
}
