//! Truncated power series x₀ + x₁τ + … + x_{K−1}τ^{K−1} along a curve. \[HW1\] I.8, Griewank & Walther, ch. 13.

use super::Scalar;
use std::array::from_fn;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// K Taylor coefficients; the k-th derivative is k! times the k-th coefficient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taylor<S, const K: usize> {
    /// Coefficients of τ⁰, τ¹, ….
    pub coefficients: [S; K],
}

impl<S: Scalar, const K: usize> Taylor<S, K> {
    /// A number that does not move along the curve.
    #[inline]
    pub fn constant(value: S) -> Self {
        let mut x = [S::from(0.0); K];
        x[0] = value;
        Taylor { coefficients: x }
    }

    /// The curve's own parameter, value + τ.
    #[inline]
    pub fn parameter(value: S) -> Self {
        let mut x = Self::constant(value);
        if K > 1 {
            x.coefficients[1] = S::from(1.0);
        }
        x
    }

    /// y with y' = x' · w given y₀: k yₖ = Σ j xⱼ w_{k−j}, where w is made coefficient by coefficient from y.
    #[inline]
    fn integrate(self, y0: S, mut rate: impl FnMut(usize, &[S; K]) -> S) -> Self {
        let mut y = [S::from(0.0); K];
        y[0] = y0;
        let mut w = [S::from(0.0); K];
        for k in 1..K {
            w[k - 1] = rate(k - 1, &y);
            let mut sum = S::from(0.0);
            for j in 1..=k {
                sum += self.coefficients[j] * w[k - j] * j as f64;
            }
            y[k] = sum / k as f64;
        }
        Taylor { coefficients: y }
    }
}

impl<S: Scalar, const K: usize> From<f64> for Taylor<S, K> {
    #[inline]
    fn from(value: f64) -> Self {
        Self::constant(S::from(value))
    }
}

impl<S: Scalar, const K: usize> Neg for Taylor<S, K> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Taylor { coefficients: from_fn(|k| -self.coefficients[k]) }
    }
}

impl<S: Scalar, const K: usize> Add for Taylor<S, K> {
    type Output = Self;
    #[inline]
    fn add(self, y: Self) -> Self {
        Taylor { coefficients: from_fn(|k| self.coefficients[k] + y.coefficients[k]) }
    }
}

impl<S: Scalar, const K: usize> Sub for Taylor<S, K> {
    type Output = Self;
    #[inline]
    fn sub(self, y: Self) -> Self {
        Taylor { coefficients: from_fn(|k| self.coefficients[k] - y.coefficients[k]) }
    }
}

impl<S: Scalar, const K: usize> Mul for Taylor<S, K> {
    type Output = Self;
    #[inline]
    fn mul(self, y: Self) -> Self {
        let (a, b) = (&self.coefficients, &y.coefficients);
        Taylor {
            coefficients: from_fn(|k| {
                let mut sum = a[0] * b[k];
                for j in 1..=k {
                    sum += a[j] * b[k - j];
                }
                sum
            }),
        }
    }
}

impl<S: Scalar, const K: usize> Div for Taylor<S, K> {
    type Output = Self;
    #[inline]
    fn div(self, y: Self) -> Self {
        // q y = x, coefficient by coefficient
        let inverse = y.coefficients[0].recip();
        let mut q = self.coefficients;
        q[0] = q[0] / y.coefficients[0];
        for k in 1..K {
            for j in 1..=k {
                let t = q[k - j] * y.coefficients[j];
                q[k] -= t;
            }
            q[k] *= inverse;
        }
        Taylor { coefficients: q }
    }
}

impl<S: Scalar, const K: usize> Add<f64> for Taylor<S, K> {
    type Output = Self;
    #[inline]
    fn add(mut self, y: f64) -> Self {
        self.coefficients[0] = self.coefficients[0] + y;
        self
    }
}

impl<S: Scalar, const K: usize> Sub<f64> for Taylor<S, K> {
    type Output = Self;
    #[inline]
    fn sub(mut self, y: f64) -> Self {
        self.coefficients[0] = self.coefficients[0] - y;
        self
    }
}

impl<S: Scalar, const K: usize> Mul<f64> for Taylor<S, K> {
    type Output = Self;
    #[inline]
    fn mul(self, y: f64) -> Self {
        Taylor { coefficients: from_fn(|k| self.coefficients[k] * y) }
    }
}

impl<S: Scalar, const K: usize> Div<f64> for Taylor<S, K> {
    type Output = Self;
    #[inline]
    fn div(self, y: f64) -> Self {
        Taylor { coefficients: from_fn(|k| self.coefficients[k] / y) }
    }
}

impl<S: Scalar, const K: usize> AddAssign for Taylor<S, K> {
    #[inline]
    fn add_assign(&mut self, y: Self) {
        *self = *self + y;
    }
}

impl<S: Scalar, const K: usize> SubAssign for Taylor<S, K> {
    #[inline]
    fn sub_assign(&mut self, y: Self) {
        *self = *self - y;
    }
}

impl<S: Scalar, const K: usize> MulAssign for Taylor<S, K> {
    #[inline]
    fn mul_assign(&mut self, y: Self) {
        *self = *self * y;
    }
}

/// k-th coefficient of a product of two series.
#[inline]
fn cauchy<S: Scalar, const K: usize>(a: &[S; K], b: &[S; K], k: usize) -> S {
    let mut sum = a[0] * b[k];
    for j in 1..=k {
        sum += a[j] * b[k - j];
    }
    sum
}

impl<S: Scalar, const K: usize> Scalar for Taylor<S, K> {
    #[inline]
    fn value(self) -> f64 {
        self.coefficients[0].value()
    }

    #[inline]
    fn recip(self) -> Self {
        Self::from(1.0) / self
    }

    #[inline]
    fn square(self) -> Self {
        let mut y = self * self;
        y.coefficients[0] = self.coefficients[0].square();
        y
    }

    #[inline]
    fn sqrt(self) -> Self {
        // y y = x
        let mut y = [S::from(0.0); K];
        y[0] = self.coefficients[0].sqrt();
        let half = (y[0] * 2.0).recip();
        for k in 1..K {
            let mut sum = self.coefficients[k];
            for j in 1..k {
                sum -= y[j] * y[k - j];
            }
            y[k] = sum * half;
        }
        Taylor { coefficients: y }
    }

    #[inline]
    fn exp(self) -> Self {
        self.integrate(self.coefficients[0].exp(), |k, y| y[k])
    }

    #[inline]
    fn ln(self) -> Self {
        let w = self.recip().coefficients;
        self.integrate(self.coefficients[0].ln(), |k, _| w[k])
    }

    #[inline]
    fn sin_cos(self) -> (Self, Self) {
        // s' = x' c, c' = −x' s
        let x = &self.coefficients;
        let (mut s, mut c) = ([S::from(0.0); K], [S::from(0.0); K]);
        (s[0], c[0]) = x[0].sin_cos();
        for k in 1..K {
            let (mut ds, mut dc) = (S::from(0.0), S::from(0.0));
            for j in 1..=k {
                let xj = x[j] * (j as f64 / k as f64);
                ds += xj * c[k - j];
                dc -= xj * s[k - j];
            }
            (s[k], c[k]) = (ds, dc);
        }
        (Taylor { coefficients: s }, Taylor { coefficients: c })
    }

    #[inline]
    fn tan(self) -> Self {
        // y' = x' (1 + y²)
        self.integrate(self.coefficients[0].tan(), |k, y| {
            let square = cauchy(y, y, k);
            if k == 0 { square + 1.0 } else { square }
        })
    }

    #[inline]
    fn sinh_cosh(self) -> (Self, Self) {
        let x = &self.coefficients;
        let (mut s, mut c) = ([S::from(0.0); K], [S::from(0.0); K]);
        (s[0], c[0]) = x[0].sinh_cosh();
        for k in 1..K {
            let (mut ds, mut dc) = (S::from(0.0), S::from(0.0));
            for j in 1..=k {
                let xj = x[j] * (j as f64 / k as f64);
                ds += xj * c[k - j];
                dc += xj * s[k - j];
            }
            (s[k], c[k]) = (ds, dc);
        }
        (Taylor { coefficients: s }, Taylor { coefficients: c })
    }

    #[inline]
    fn tanh(self) -> Self {
        // y' = x' (1 − y²)
        self.integrate(self.coefficients[0].tanh(), |k, y| {
            let square = cauchy(y, y, k);
            if k == 0 { -square + 1.0 } else { -square }
        })
    }

    #[inline]
    fn asin(self) -> Self {
        let w = (-self.square() + 1.0).sqrt().recip().coefficients;
        self.integrate(self.coefficients[0].asin(), |k, _| w[k])
    }

    #[inline]
    fn acos(self) -> Self {
        let mut y = -self.asin();
        y.coefficients[0] = self.coefficients[0].acos();
        y
    }

    #[inline]
    fn atan(self) -> Self {
        let w = (self.square() + 1.0).recip().coefficients;
        self.integrate(self.coefficients[0].atan(), |k, _| w[k])
    }

    #[inline]
    fn atan2(self, x: Self) -> Self {
        // θ' = (x y' − y x')/(x² + y²)
        let r2 = (self.square() + x.square()).recip();
        let (u, v) = ((x * r2).coefficients, (self * r2).coefficients);
        let mut theta = [S::from(0.0); K];
        theta[0] = self.coefficients[0].atan2(x.coefficients[0]);
        for k in 1..K {
            let mut sum = S::from(0.0);
            for j in 1..=k {
                sum += (self.coefficients[j] * u[k - j] - x.coefficients[j] * v[k - j]) * j as f64;
            }
            theta[k] = sum / k as f64;
        }
        Taylor { coefficients: theta }
    }

    #[inline]
    fn powi(self, n: i32) -> Self {
        // repeated squaring: exact at zero, where the recurrence of powf divides by x₀
        let (mut base, mut left) = (self, n.unsigned_abs());
        let mut y = Self::from(1.0);
        while left > 0 {
            if left & 1 == 1 {
                y *= base;
            }
            left >>= 1;
            if left > 0 {
                base *= base;
            }
        }
        if n < 0 { y.recip() } else { y }
    }

    fn pow(self, y: Self) -> Self {
        // xʸ = x₀^y₀ exp(y ln x − y₀ ln x₀)
        let mut exponent = self.ln() * y;
        exponent.coefficients[0] = S::from(0.0);
        let first = self.coefficients[0].pow(y.coefficients[0]);
        Taylor { coefficients: exponent.exp().coefficients.map(|c| c * first) }
    }

    #[inline]
    fn powf(self, a: f64) -> Self {
        // x y' = a x' y
        let x = &self.coefficients;
        let inverse = x[0].recip();
        let mut y = [S::from(0.0); K];
        y[0] = x[0].powf(a);
        for k in 1..K {
            let mut sum = S::from(0.0);
            for j in 1..=k {
                sum += x[j] * y[k - j] * ((a + 1.0) * j as f64 - k as f64);
            }
            y[k] = sum * inverse / k as f64;
        }
        Taylor { coefficients: y }
    }

    #[inline]
    fn select(self, yes: Self, no: Self) -> Self {
        let condition = self.coefficients[0];
        Taylor { coefficients: from_fn(|k| condition.select(yes.coefficients[k], no.coefficients[k])) }
    }
}
