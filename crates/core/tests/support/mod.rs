//! Small models that several tests share.
#![allow(dead_code)] // every test uses some of them

use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Names, Position, Sizes, Velocity};
use daedal::scalar::Scalar;
use daedal::{Initial, Options, Save, Tolerance};

/// A point mass on a rod, 0 = p₁² + p₂² − l².
#[derive(Clone, Copy, Debug)]
pub struct Pendulum {
    pub m: f64,
    pub l: f64,
    pub g: f64,
}

/// m = l = 1 with the acceleration of gravity of the published pendulum.
pub const PENDULUM: Pendulum = Pendulum { m: 1.0, l: 1.0, g: 13.75 };

impl EquationsOfMotion for Pendulum {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(self.m);
        M[(1, 1)] = S::from(self.m);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[1] = S::from(-self.m * self.g);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0].square() + at.p[1].square() - self.l * self.l;
    }
}

/// The pendulum with its constraint written twice.
pub struct DoubledPendulum;

impl EquationsOfMotion for DoubledPendulum {
    fn sizes(&self) -> Sizes {
        Sizes { holonomic: 2, ..PENDULUM.sizes() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes()).constraints(&["rod", "copy"], &[])
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        PENDULUM.mass(at, M);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        PENDULUM.force(at, f);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        PENDULUM.holonomic(at, &mut g[..1]);
        g[1] = g[0];
    }
}

/// Slider crank with point masses m₁ = 1, m₂ = 1.8, a crank of length 1 and a rod of length l₂; M depends on p.
/// With l₂ = 1 it folds at p₁ = p₂ = −π/2, where the constraint loses its rank. Steinbrecher (2006), example 5.3.4.
#[derive(Clone, Copy, Debug)]
pub struct SliderCrank {
    pub l2: f64,
}

/// Mass at the end of the rod of the slider crank.
pub const M2: f64 = 1.8;
/// Acceleration of gravity of the slider crank.
pub const GRAVITY: f64 = 9.81;
/// When equal arms fold: quadrature of the energy integral.
pub const FOLDING_TIME: f64 = 1.01388449474473;

impl EquationsOfMotion for SliderCrank {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes()).constraints(&["slider"], &[])
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        let coupling = (at.p[0] + at.p[1]).cos() * (-M2 * self.l2);
        M[(0, 0)] = S::from(1.0 + M2);
        M[(0, 1)] = coupling;
        M[(1, 0)] = coupling;
        M[(1, 1)] = S::from(M2 * self.l2 * self.l2);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        let coupling = (at.p[0] + at.p[1]).sin() * (M2 * self.l2);
        f[0] = at.p[0].cos() * (-(1.0 + M2) * GRAVITY) - coupling * at.v[1].square();
        f[1] = at.p[1].cos() * (M2 * GRAVITY * self.l2) - coupling * at.v[0].square();
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0].sin() - at.p[1].sin() * self.l2;
    }
}

/// All kinds of variables but μ: contact, auxiliary and dynamic ones, with a known solution. Steinbrecher (2006), academic example.
pub struct Academic;

impl EquationsOfMotion for Academic {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 3, velocities: 3, dynamic: 2, auxiliary: 1, contact: 2, holonomic: 2, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        for i in 0..3 {
            M[(i, i)] = S::from(1.0);
        }
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = at.p[1] * -2.0;
        f[1] = at.v[0] * 2.0 + at.p[1] + at.w[0];
        f[2] = at.r[0] + at.r[1] * at.p[2];
    }
    fn dynamic<S: Scalar>(&self, at: &Motion<S>, b: &mut [S]) {
        b[0] = at.p[1] * 2.0;
        b[1] = at.s[0] * -2.0 - 2.0;
    }
    fn auxiliary<S: Scalar>(&self, at: &Motion<S>, d: &mut [S]) {
        d[0] = at.w[0] + at.p[2] * 2.0;
    }
    fn contact<S: Scalar>(&self, at: &Position<S>, c: &mut [S]) {
        c[0] = at.s[0] * at.p[2] - at.p[0];
        c[1] = at.p[0] - at.s[1] - at.p[2];
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.s[0] * at.s[1] - at.t * at.p[0];
        g[1] = at.p[1].square() + at.p[2].square() - 1.0;
    }
    fn invariant<S: Scalar>(&self, _: &Velocity<S>, _: &mut [S]) {}
}

/// Guesses at t = 0 that are the exact solution there.
pub fn academic_start() -> Initial {
    Initial::motion(0.0, &[1.0, 0.0, 1.0], &[1.0, 1.0, 0.0])
        .dynamic(&[-2.0, 0.0])
        .auxiliary(&[-2.0])
        .contact(&[1.0, 0.0])
        .multipliers(&[1.0, 0.0], &[])
}

/// Options with the same relative and absolute tolerance.
pub fn tolerance(tol: f64) -> Options {
    Options { tolerance: Tolerance::new(tol, tol), save: Save::Steps, ..Options::default() }
}

/// Largest difference of two lists of the same length.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Does a message say all of this?
#[track_caller]
pub fn says(message: &str, words: &[&str]) {
    for word in words {
        assert!(message.contains(word), "“{word}” is missing in: {message}");
    }
}
