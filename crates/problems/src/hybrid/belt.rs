//! A mass on a moving belt, held by a spring: stick and slip.
//!
//! ```text
//! x' = v,   m v' = −k x ∓ Fs/(1 + γ |v − w|)        − in mode 1 (v > w), + in mode 2 (v < w)
//! mode 1 → 2 when v − w ≤ −ε,   2 → 1 when v − w ≥ ε
//! sticking:  m v' = −k x − (2λ − 1) Fs,   0 = v − w;   left where |k x| = Fs
//! ```
//! Wunderlich, thesis (2008), section 7.2.3. The friction is printed with the other sign, with which nothing sticks; and v(0) = 1 is printed
//! where the published switches belong to v(0) = 0.

use super::{ModeIntegrator, SlidingBy, names, surface};
use daedal::dae::{Equations, Form, System};
use daedal::hybrid::{Hybrid, Mode, Transition};
use daedal::scalar::Scalar;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Belt {
    /// Mass.
    pub mass: f64,
    /// Stiffness of the spring.
    pub stiffness: f64,
    /// Static friction Fs.
    pub friction: f64,
    /// Speed w of the belt.
    pub speed: f64,
    /// How fast the friction falls with the relative velocity.
    pub gamma: f64,
    /// Half width of the hysteresis.
    pub epsilon: f64,
}

impl Default for Belt {
    fn default() -> Self {
        Belt { mass: 1.0, stiffness: 3.0, friction: 1.0, speed: 0.2, gamma: 3.0, epsilon: 1e-5 }
    }
}

/// x and v at t = 0.
pub const START: [f64; 2] = [0.0, 0.0];
/// End of the published run.
pub const TEND: f64 = 15.0;
/// Largest step of the published run.
pub const HMAX: f64 = 0.1;
/// Switches with sliding: time, mode left, mode entered (3 is sticking). The first is immediate. Integration with a tolerance of 10⁻¹².
pub const WITH_SLIDING: [(f64, usize, usize); 8] = [
    (0.0, 1, 2),
    (0.267592, 2, 3),
    (1.808917, 3, 2),
    (4.448867, 2, 3),
    (6.955508, 3, 2),
    (9.595457, 2, 3),
    (12.102098, 3, 2),
    (14.742047, 2, 3),
];
/// Duration of every slip that begins where sticking ends.
pub const SLIP: f64 = 2.639949;
/// Duration of sticking between them.
pub const STICK: f64 = 2.506641;
/// x, v, λ at t = 15.
pub const END: [f64; 3] = [-0.116404, 0.2, 0.674607];
/// Switches of the published run without sliding, and those of the formula for the rate.
pub const WITHOUT_SLIDING: [f64; 2] = [247709.0, 247822.0];

impl Belt {
    /// The system: modes 1 and 2, numbered 0 and 1, and the sticking one if it is written by hand.
    pub fn system(&self, sliding: SlidingBy, method: ModeIntegrator) -> Hybrid<'static> {
        let mut hybrid = Hybrid::new();
        for (name, sign) in [("ahead", Some(1.0)), ("behind", Some(-1.0)), ("sticking", None)] {
            if sign.is_some() || sliding == SlidingBy::ByHand {
                hybrid.mode(Mode::general(name, System::of(&BeltMode { of: *self, sign }), Form::Auto, method));
            }
        }
        let (ahead, behind, sticking, speed) = (0, 1, 2, self.speed);
        let slower = surface("v <= belt", move |_, x| x[1] - speed, move |_, x| x[1] - speed);
        hybrid.transition(Transition::on(ahead, behind, slower).hysteresis(self.epsilon));
        let faster = surface("v >= belt", move |_, x| speed - x[1], move |_, x| -x[1] + speed);
        hybrid.transition(Transition::on(behind, ahead, faster).hysteresis(self.epsilon));
        if sliding == SlidingBy::ByHand {
            let (k, friction) = (self.stiffness, self.friction);
            hybrid.transition(Transition::when(sticking, ahead, "spring pushes", move |_, x| friction + k * x[0]));
            hybrid.transition(Transition::when(sticking, behind, "spring pulls", move |_, x| friction - k * x[0]));
            hybrid.slide((ahead, behind), sticking);
        }
        hybrid
    }

    /// Number of switches per time without sliding, at a place x where the mass nearly sticks: two per cycle, which lasts
    /// 2ε m (1/(Fs + kx) + 1/(Fs − kx)).
    pub fn chattering_rate(&self, x: f64) -> f64 {
        let spring = self.stiffness * x;
        (self.friction.powi(2) - spring.powi(2)) / (2.0 * self.epsilon * self.mass * self.friction)
    }
}

/// A mode; without a sign, the sticking one.
#[derive(Clone, Copy, Debug)]
pub struct BeltMode {
    /// The parameters.
    pub of: Belt,
    /// Sign of v − w.
    pub sign: Option<f64>,
}

impl Equations for BeltMode {
    fn dim(&self) -> usize {
        if self.sign.is_some() { 2 } else { 3 }
    }
    fn names(&self) -> Vec<String> {
        names(&["x", "v", "lambda"][..self.dim()])
    }
    fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let Belt { mass, stiffness, friction, speed, gamma, .. } = self.of;
        let force = match self.sign {
            // |v − w| = sign (v − w) while the mode lasts, and smooth where it ends
            Some(sign) => ((x[1] - speed) * (gamma * sign) + 1.0).recip() * (-sign * friction),
            None => (x[2] * 2.0 - 1.0) * -friction,
        };
        r[0] = xdot[0] - x[1];
        r[1] = xdot[1] * mass + x[0] * stiffness - force;
        if self.sign.is_none() {
            r[2] = x[1] - speed;
        }
    }
}
