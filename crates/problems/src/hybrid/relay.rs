//! A relay with hysteresis, as of a thermostat: x' = (u − x)/τ with u = 1 until x ≥ high, then u = 0 until x ≤ low.
//!
//! From x = low it is switched off after τ ln((1 − low)/(1 − high)) and on again after a further τ ln(high/low).

use super::{ModeIntegrator, names};
use daedal::dae::{Equations, Form, System};
use daedal::hybrid::{Hybrid, Mode, Transition};
use daedal::scalar::Scalar;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relay {
    /// Time constant τ.
    pub tau: f64,
    /// Where it switches on.
    pub low: f64,
    /// Where it switches off.
    pub high: f64,
}

impl Default for Relay {
    fn default() -> Self {
        Relay { tau: 1.0, low: 0.25, high: 0.75 }
    }
}

impl Relay {
    /// The system: on, off.
    pub fn system(&self, method: ModeIntegrator) -> Hybrid<'static> {
        let (Relay { tau, low, high }, mut hybrid) = (*self, Hybrid::new());
        let mut mode =
            |name: &str, u| hybrid.mode(Mode::general(name, System::of(&Heated { u, tau }), Form::Auto, method));
        let (on, off) = (mode("on", 1.0), mode("off", 0.0));
        hybrid.transition(Transition::when(on, off, "x >= high", move |_, x| high - x[0]));
        hybrid.transition(Transition::when(off, on, "x <= low", move |_, x| x[0] - low));
        hybrid
    }

    /// Times of the first switches from x = low in the mode `on`.
    pub fn switches(&self, count: usize) -> Vec<f64> {
        let heat = self.tau * ((1.0 - self.low) / (1.0 - self.high)).ln();
        let cool = self.tau * (self.high / self.low).ln();
        (0..count).map(|k| (k / 2 + 1) as f64 * heat + k.div_ceil(2) as f64 * cool).collect()
    }
}

/// A mode.
#[derive(Clone, Copy, Debug)]
pub struct Heated {
    /// What x tends to.
    pub u: f64,
    /// Time constant.
    pub tau: f64,
}

impl Equations for Heated {
    fn dim(&self) -> usize {
        1
    }
    fn names(&self) -> Vec<String> {
        names(&["x"])
    }
    fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] * self.tau + x[0] - self.u;
    }
}
