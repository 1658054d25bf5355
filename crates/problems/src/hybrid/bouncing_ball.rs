//! A ball that bounces: y' = v, v' = −g; where y = 0 the velocity becomes −e v.
//!
//! Dropped from the height h it hits the ground at t₁ = √(2h/g) and then after flights that become shorter by e each time, so that
//! infinitely many bounces end at t₁ (1 + e)/(1 − e): the textbook example of switches that accumulate. There the ball comes to rest.

use super::{ModeIntegrator, names};
use daedal::dae::{Equations, Form, System};
use daedal::hybrid::{Hybrid, Mode, Transition};
use daedal::scalar::Scalar;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BouncingBall {
    /// Acceleration of gravity.
    pub g: f64,
    /// Coefficient of restitution.
    pub e: f64,
    /// Height at the start.
    pub height: f64,
}

impl Default for BouncingBall {
    fn default() -> Self {
        BouncingBall { g: 9.81, e: 0.5, height: 1.0 }
    }
}

impl BouncingBall {
    /// The system: flight, and rest if it is wanted.
    pub fn system(&self, rest: bool, method: ModeIntegrator) -> Hybrid<'static> {
        let (of, mut hybrid) = (*self, Hybrid::new());
        let flight = hybrid.mode(Mode::general("flight", System::of(&Flight(of)), Form::Auto, method));
        let mut bounce = Transition::when(flight, flight, "y <= 0", |_, x| x[0]).transfer(move |_, old, _, new| {
            (new[0], new[1]) = (0.0, -of.e * old[1]);
        });
        if rest {
            let rest = hybrid.mode(Mode::general("rest", System::of(&Rest), Form::Auto, method));
            bounce = bounce.after_accumulation(rest);
        }
        hybrid.transition(bounce);
        hybrid
    }

    /// y and v at the start.
    pub fn start(&self) -> [f64; 2] {
        [self.height, 0.0]
    }

    /// Time of bounce k, from 1 on.
    pub fn bounce(&self, k: i32) -> f64 {
        let first = (2.0 * self.height / self.g).sqrt();
        // t₁ + 2 t₁ (e + … + e^(k−1))
        first * (1.0 + 2.0 * (1..k).map(|i| self.e.powi(i)).sum::<f64>())
    }

    /// Where the bounces accumulate.
    pub fn limit(&self) -> f64 {
        (2.0 * self.height / self.g).sqrt() * (1.0 + self.e) / (1.0 - self.e)
    }

    /// y and v at a time before the limit.
    pub fn exact(&self, t: f64) -> [f64; 2] {
        let mut k = 0;
        while self.bounce(k + 1) <= t {
            k += 1;
        }
        if k == 0 {
            return [self.height - 0.5 * self.g * t * t, -self.g * t];
        }
        let (since, v) = (t - self.bounce(k), (2.0 * self.height * self.g).sqrt() * self.e.powi(k));
        [since * (v - 0.5 * self.g * since), v - self.g * since]
    }
}

/// Free flight.
#[derive(Clone, Copy, Debug)]
pub struct Flight(pub BouncingBall);

impl Equations for Flight {
    fn dim(&self) -> usize {
        2
    }
    fn names(&self) -> Vec<String> {
        names(&["y", "v"])
    }
    fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] - x[1];
        r[1] = xdot[1] + self.0.g;
    }
}

/// On the ground: 0 = y, 0 = v.
#[derive(Clone, Copy, Debug)]
pub struct Rest;

impl Equations for Rest {
    fn dim(&self) -> usize {
        2
    }
    fn names(&self) -> Vec<String> {
        names(&["y", "v"])
    }
    fn residual<S: Scalar>(&self, _t: S, x: &[S], _xdot: &[S], r: &mut [S]) {
        r[0] = x[0];
        r[1] = x[1];
    }
}
