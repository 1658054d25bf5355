//! Newton's cradle: equal pendulums side by side, φᵢ'' = −(g/l) sin φᵢ; neighbours that meet exchange their velocities.
//!
//! The balls touch at rest, so that the blow of the first one runs through all of them at the same time: a chain of immediate transitions.
//! The last ball flies off to the angle of the first one, and a quarter of a period T later it all happens in reverse. Blows come at T/4,
//! 3T/4, …, with T = 2π √(l/g)/agm(1, cos φ₀/2).

use super::ModeIntegrator;
use daedal::dae::{Equations, Form, System};
use daedal::hybrid::{Condition, Hybrid, Logic, Mode, SwitchingFunction, Transition};
use daedal::scalar::Scalar;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonsCradle {
    /// Number of balls.
    pub balls: usize,
    /// Length of the pendulums.
    pub length: f64,
    /// Acceleration of gravity.
    pub g: f64,
    /// Angle of the first ball at the start, to the left.
    pub angle: f64,
    /// Slower approaches are no impacts.
    pub slowest: f64,
}

impl Default for NewtonsCradle {
    fn default() -> Self {
        NewtonsCradle { balls: 5, length: 0.2, g: 9.81, angle: 0.5, slowest: 1e-4 }
    }
}

impl NewtonsCradle {
    /// The system: one mode, and a transition to itself for every pair of neighbours.
    pub fn system(&self, method: ModeIntegrator) -> Hybrid<'static> {
        let (mut hybrid, n, slowest) = (Hybrid::new(), self.balls, self.slowest);
        let swing = hybrid.mode(Mode::general("swing", System::of(self), Form::Auto, method));
        for i in 0..n - 1 {
            let meet =
                SwitchingFunction::new(format!("phi{} >= phi{}", i + 1, i + 2), move |_, x: &[f64]| x[i + 1] - x[i]);
            let approach =
                SwitchingFunction::new("approach", move |_, x: &[f64]| x[n + i + 1] - x[n + i] + slowest).strict();
            let impact = Condition {
                name: format!("{} hits {}", i + 1, i + 2),
                functions: vec![meet, approach],
                logic: Logic::All(vec![Logic::Is(0), Logic::Is(1)]),
            };
            hybrid.transition(Transition::on(swing, swing, impact).transfer(move |_, old, _, new| {
                (new[n + i], new[n + i + 1]) = (old[n + i + 1], old[n + i]);
            }));
        }
        hybrid
    }

    /// Angles and angular velocities at the start.
    pub fn start(&self) -> Vec<f64> {
        let mut x = vec![0.0; 2 * self.balls];
        x[0] = -self.angle;
        x
    }

    /// Period T of one ball.
    pub fn period(&self) -> f64 {
        let (mut a, mut b): (f64, f64) = (1.0, (0.5 * self.angle).cos());
        while (a - b).abs() > 1e-15 {
            (a, b) = (0.5 * (a + b), (a * b).sqrt());
        }
        std::f64::consts::TAU * (self.length / self.g).sqrt() / a
    }

    /// Energy of all balls by mass and length.
    pub fn energy(&self, x: &[f64]) -> f64 {
        let n = self.balls;
        (0..n).map(|i| 0.5 * self.length * x[n + i].powi(2) + self.g * (1.0 - x[i].cos())).sum()
    }
}

impl Equations for NewtonsCradle {
    fn dim(&self) -> usize {
        2 * self.balls
    }
    fn names(&self) -> Vec<String> {
        let list = |letter: &'static str| (1..=self.balls).map(move |i| format!("{letter}{i}"));
        list("phi").chain(list("w")).collect()
    }
    fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let n = self.balls;
        for i in 0..n {
            r[i] = xdot[i] - x[n + i];
            r[n + i] = xdot[n + i] + x[i].sin() * (self.g / self.length);
        }
    }
}
