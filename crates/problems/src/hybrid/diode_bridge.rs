//! Rectifier: a bridge of four ideal diodes between a source u = U sin ωt and a capacitor with a load.
//!
//! ```text
//! C v' = i − v/R        diodes D1 and D4 conduct: 0 = v − u,   D2 and D3 conduct: 0 = v + u,   all block: 0 = i
//! ```
//! While two diodes conduct they tie the capacitor to the source: differentiation index 2, no freedom; while all block the index is 1 and v
//! decays. Diodes stop to conduct where i = 0, which is at tan ωt = −ωRC, and begin again where |u| has risen to v.

use super::{ModeIntegrator, names};
use daedal::dae::{Equations, Form, System};
use daedal::hybrid::{Hybrid, Mode, Transition};
use daedal::scalar::Scalar;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiodeBridge {
    /// Amplitude U of the source.
    pub amplitude: f64,
    /// Frequency f, ω = 2πf.
    pub frequency: f64,
    /// Resistance R of the load.
    pub resistance: f64,
    /// Capacity C.
    pub capacity: f64,
    /// A blocking diode conducts when its voltage is larger than this.
    pub eta: f64,
}

impl Default for DiodeBridge {
    fn default() -> Self {
        DiodeBridge { amplitude: 12.0, frequency: 50.0, resistance: 100.0, capacity: 1e-4, eta: 1e-6 }
    }
}

/// Which diodes conduct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conducting {
    /// Those of the positive half-wave.
    Positive,
    /// Those of the negative half-wave.
    Negative,
    /// None.
    None,
}

impl DiodeBridge {
    /// The system: positive, negative, blocking.
    pub fn system(&self, method: ModeIntegrator) -> Hybrid<'static> {
        let (of, mut hybrid) = (*self, Hybrid::new());
        let mut mode = |name: &str, conducting| {
            hybrid.mode(Mode::general(name, System::of(&Bridge { of, conducting }), Form::Auto, method))
        };
        let positive = mode("positive", Conducting::Positive);
        let negative = mode("negative", Conducting::Negative);
        let blocking = mode("blocking", Conducting::None);
        for (conducting, sign) in [(positive, 1.0), (negative, -1.0)] {
            hybrid.transition(Transition::when(conducting, blocking, "i <= 0", |_, x| x[1]));
            let name = if sign > 0.0 { "u > v + eta" } else { "-u > v + eta" };
            hybrid.transition(Transition::when(blocking, conducting, name, move |t, x| {
                x[0] + of.eta - sign * of.source(t)
            }));
        }
        hybrid
    }

    /// u(t).
    pub fn source(&self, t: f64) -> f64 {
        self.amplitude * (self.omega() * t).sin()
    }

    /// ω.
    pub fn omega(&self) -> f64 {
        std::f64::consts::TAU * self.frequency
    }

    /// Times of the first switches: off, on, off, …, from v = 0 at t = 0 in the positive mode.
    pub fn switches(&self, count: usize) -> Vec<f64> {
        let omega = self.omega();
        // ωt = π − arctan ωRC in every half-wave
        let off = (std::f64::consts::PI - (omega * self.resistance * self.capacity).atan()) / omega;
        let half = std::f64::consts::PI / omega;
        let left = self.source(off);
        // |u| − v − η rises through zero between the end of the half-wave and the next maximum
        let excess = |t: f64| {
            let v = left * (-(t - off) / (self.resistance * self.capacity)).exp();
            -self.source(t) - v - self.eta
        };
        let (mut low, mut high) = (half, 1.5 * half);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if excess(middle) < 0.0 { low = middle } else { high = middle }
        }
        (0..count).map(|k| if k % 2 == 0 { off } else { high } + (k / 2) as f64 * half).collect()
    }
}

/// A mode: v and i.
#[derive(Clone, Copy, Debug)]
pub struct Bridge {
    /// The parameters.
    pub of: DiodeBridge,
    /// Which diodes conduct.
    pub conducting: Conducting,
}

impl Equations for Bridge {
    fn dim(&self) -> usize {
        2
    }
    fn names(&self) -> Vec<String> {
        names(&["v", "i"])
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let source = (t * self.of.omega()).sin() * self.of.amplitude;
        r[0] = xdot[0] * self.of.capacity - x[1] + x[0] / self.of.resistance;
        r[1] = match self.conducting {
            Conducting::Positive => x[0] - source,
            Conducting::Negative => x[0] + source,
            Conducting::None => x[1],
        };
    }
}
