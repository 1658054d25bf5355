//! Two bodies with dry friction between them, one of them driven.
//!
//! ```text
//! p₁' = v₁,  p₂' = v₂,  m₁ v₁' = sin t − μ F s,  m₂ v₂' = μ F s       s = 1 in mode 1, −1 in mode 2
//! mode 1 → 2 when v₁ − v₂ ≤ −ε,   2 → 1 when v₁ − v₂ ≥ ε
//! stuck:   m₁ v₁' = sin t − μ F + λ,  m₂ v₂' = μ F − λ,  0 = v₁ − v₂
//! ```
//! Wunderlich, thesis (2008), section 7.2.2. The stuck mode has d = 3 and a = 2; printed is d = 4 and a = 1.

use super::{ModeIntegrator, SlidingBy, names, surface};
use daedal::dae::{Equations, Form, System};
use daedal::hybrid::{Hybrid, Mode, Transition};
use daedal::linalg::Matrix;
use daedal::linear::{ConstantCoefficients, Inhomogeneity};
use daedal::scalar::Scalar;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionBodies {
    /// Masses.
    pub masses: [f64; 2],
    /// Friction μ F.
    pub friction: f64,
    /// Half width of the hysteresis.
    pub epsilon: f64,
}

impl Default for FrictionBodies {
    fn default() -> Self {
        FrictionBodies { masses: [1.0, 1.0], friction: 0.4, epsilon: 0.003 }
    }
}

/// The start: p₁, p₂, v₁, v₂ at t = 0.
pub const START: [f64; 4] = [1.0, 1.0, 0.0, 0.0];
/// End of the published run.
pub const TEND: f64 = 10.0;
/// Switches with sliding where it is looked for at every switch: time, mode left, mode entered (1, 2, and 3 for stuck). Closed form.
pub const WITH_SLIDING: [(f64, usize, usize); 7] = [
    (0.003759, 1, 3),
    (0.927295, 3, 1),
    (2.892451, 1, 3),
    (4.068888, 3, 2),
    (6.034043, 2, 3),
    (7.210481, 3, 1),
    (9.175636, 1, 3),
];
/// Number of switches without sliding. Closed form.
pub const WITHOUT_SLIDING: usize = 395;
/// p₁, p₂, v₁, v₂, λ at t = 10 with sliding.
pub const END: [f64; 5] = [6.365901, 6.178120, 0.919536, 0.919536, 0.672011];
/// Largest relative velocity, at t = π − arcsin 0.8.
pub const FASTEST: f64 = 0.170398;

/// How the modes are given to the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrictionForm {
    /// Constant matrices.
    Linear,
    /// General equations.
    Equations,
}

impl FrictionBodies {
    /// The system: modes 1 and 2, numbered 0 and 1, and the stuck one if it is written by hand.
    pub fn system(&self, sliding: SlidingBy, modes: FrictionForm, method: ModeIntegrator) -> Hybrid<'static> {
        let mut hybrid = Hybrid::new();
        for (name, sign) in [("forward", 1.0), ("backward", -1.0)] {
            hybrid.mode(self.mode(name, Bodies { of: *self, sign: Some(sign) }, modes, method));
        }
        let (forward, backward) = (0, 1);
        let slower = surface("v1 - v2 <= 0", |_, x| x[2] - x[3], |_, x| x[2] - x[3]);
        hybrid.transition(Transition::on(forward, backward, slower).hysteresis(self.epsilon));
        let faster = surface("v1 - v2 >= 0", |_, x| x[3] - x[2], |_, x| x[3] - x[2]);
        hybrid.transition(Transition::on(backward, forward, faster).hysteresis(self.epsilon));
        if sliding == SlidingBy::ByHand {
            let stuck = hybrid.mode(self.mode("stuck", Bodies { of: *self, sign: None }, modes, method));
            // λ reaches an end of [0, 2μF]
            let [m1, m2] = self.masses;
            let capacity = self.friction * (m1 + m2) / m2;
            hybrid.transition(Transition::when(stuck, forward, "driven forward", move |t, _| capacity - t.sin()));
            hybrid.transition(Transition::when(stuck, backward, "driven backward", move |t, _| capacity + t.sin()));
            hybrid.slide((forward, backward), stuck);
        }
        hybrid
    }

    fn mode(&self, name: &str, bodies: Bodies, modes: FrictionForm, method: ModeIntegrator) -> Mode<'static> {
        match modes {
            FrictionForm::Linear => {
                let names = bodies.names();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                Mode::linear(name, &names, self.linear(bodies.sign), method)
            }
            FrictionForm::Equations => Mode::general(name, System::of(&bodies), Form::Auto, method),
        }
    }

    /// Matrices of a mode; without a sign, of the stuck one.
    pub fn linear(&self, sign: Option<f64>) -> ConstantCoefficients<Drive> {
        let n = if sign.is_some() { 4 } else { 5 };
        let (mut E, mut A) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
        for i in 0..2 {
            (E[(i, i)], A[(i, i + 2)], E[(i + 2, i + 2)]) = (1.0, 1.0, self.masses[i]);
        }
        if sign.is_none() {
            (A[(2, 4)], A[(3, 4)]) = (1.0, -1.0);
            (A[(4, 2)], A[(4, 3)]) = (1.0, -1.0);
        }
        ConstantCoefficients::new(E, A, Drive { friction: sign.unwrap_or(1.0) * self.friction })
    }
}

/// Driving force and friction.
#[derive(Clone, Copy, Debug)]
pub struct Drive {
    friction: f64,
}

impl Inhomogeneity for Drive {
    fn value<S: Scalar>(&self, t: S, b: &mut [S]) {
        b[2] = t.sin() - self.friction;
        b[3] = S::from(self.friction);
    }
}

/// A mode as general equations; without a sign, the stuck one.
#[derive(Clone, Copy, Debug)]
pub struct Bodies {
    /// The parameters.
    pub of: FrictionBodies,
    /// Direction of the sliding.
    pub sign: Option<f64>,
}

impl Equations for Bodies {
    fn dim(&self) -> usize {
        if self.sign.is_some() { 4 } else { 5 }
    }
    fn names(&self) -> Vec<String> {
        names(&["p1", "p2", "v1", "v2", "lambda"][..self.dim()])
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let friction = match self.sign {
            Some(sign) => S::from(sign * self.of.friction),
            None => -x[4] + self.of.friction,
        };
        r[0] = xdot[0] - x[2];
        r[1] = xdot[1] - x[3];
        r[2] = xdot[2] * self.of.masses[0] - t.sin() + friction;
        r[3] = xdot[3] * self.of.masses[1] - friction;
        if self.sign.is_none() {
            r[4] = x[2] - x[3];
        }
    }
}
