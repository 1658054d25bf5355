//! A string that is bowed: N pieces, its ends held by constraints, dry friction between bow and node c.
//!
//! ```text
//! yb' = vb,  ys' = vs,  mb vb' = fk(t) − F,  ρ vs' = A ys − Gᵀλ + e_c F,  0 = G ys        A = T/Δx² tridiag(1, −2, 1)
//! F = −μF in mode 1 (v_c > vb), +μF in mode 2;   fk = −v₀ Ω sin Ωt
//! sticking:  mb vb' = fk + σ,  ρ vs' = A ys − Gᵀλ − e_c σ,  0 = G ys,  0 = vb − v_c;   while |fk| ≤ μF
//! ```
//! Where the bow takes hold, both velocities become their mean. Wunderlich, thesis (2008), section 7.2.4 (the model of Raman). The friction is
//! printed with the other sign; the sticking mode has d = 2N − 1 and a = 8, printed is 2N and 7.

use super::ModeIntegrator;
use daedal::hybrid::{Condition, Hybrid, Mode, SwitchingFunction, Transition};
use daedal::linalg::Matrix;
use daedal::linear::{ConstantCoefficients, Inhomogeneity};
use daedal::scalar::Scalar;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BowedString {
    /// Number of pieces N.
    pub pieces: usize,
    /// The node c under the bow.
    pub node: usize,
    /// Length.
    pub length: f64,
    /// Tension.
    pub tension: f64,
    /// Density.
    pub density: f64,
    /// Mass of the bow.
    pub bow: f64,
    /// Velocity of the bow at the start, and of the force that moves it.
    pub v0: f64,
    /// Frequency of that force.
    pub omega: f64,
    /// Friction μF.
    pub friction: f64,
    /// Half width of the hysteresis.
    pub epsilon: f64,
}

impl Default for BowedString {
    fn default() -> Self {
        BowedString {
            pieces: 100,
            node: 10,
            length: 0.7,
            tension: 5.5,
            density: 0.5,
            bow: 1.0,
            v0: 0.5,
            omega: 2.0,
            friction: 0.4 * 1.8,
            epsilon: 0.005,
        }
    }
}

/// How the bow takes hold of the string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sticking {
    /// It does not: there are the modes 1 and 2 only.
    Never,
    /// Where the solver finds that the system slides.
    Sliding,
}

/// End of the published run.
pub const TEND: f64 = 6.0;
/// Switches with sliding, N = 100: time, mode left, mode entered (3 is sticking). Modal solution.
pub const WITH_SLIDING: [(f64, usize, usize); 8] = [
    (0.0, 1, 2),
    (0.443782, 2, 1),
    (1.588194, 1, 3),
    (1.972697, 3, 2),
    (3.155172, 2, 3),
    (3.543494, 3, 1),
    (4.720266, 1, 3),
    (5.114290, 3, 2),
];
/// The same with N = 20, c = 2.
pub const COARSE_WITH_SLIDING: [f64; 12] =
    [0.0, 0.44144, 0.44636, 0.44979, 1.59031, 1.97270, 2.05493, 2.05742, 3.14631, 3.54349, 4.72944, 5.11429];
/// Place and velocity of the bow at t = 6 with sliding, N = 100.
pub const END: [f64; 2] = [0.096665, 0.129872];

impl BowedString {
    /// The cheap variant with N = 20 and the bow at the same place.
    pub fn coarse() -> Self {
        BowedString { pieces: 20, node: 2, ..Self::default() }
    }

    /// Names of the unknowns: the bow, the string, the forces at its ends, and in the sticking mode that of the bow.
    pub fn names(&self, sticking: bool) -> Vec<String> {
        let nodes = |letter: &'static str| (0..=self.pieces).map(move |i| format!("{letter}.{i}"));
        let mut names = vec!["yb".to_string(), "vb".to_string()];
        names.extend(nodes("y").chain(nodes("v")));
        names.extend(["left", "right"].map(ToString::to_string));
        if sticking {
            names.push("stick".into());
        }
        names
    }

    /// Where v_c stands.
    pub fn v_c(&self) -> usize {
        3 + self.pieces + self.node
    }

    /// Matrices of a mode; without the friction F, of the sticking one.
    pub fn linear(&self, force: Option<f64>) -> ConstantCoefficients<Bowing> {
        let N = self.pieces;
        let n = 2 * N + 6 + usize::from(force.is_none());
        let (mut E, mut A) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
        let (y, v, ends) = (2, 3 + N, 4 + 2 * N);
        (E[(0, 0)], A[(0, 1)], E[(1, 1)]) = (1.0, 1.0, self.bow);
        let spring = self.tension / (self.length / N as f64).powi(2);
        for i in 0..=N {
            (E[(y + i, y + i)], A[(y + i, v + i)], E[(v + i, v + i)]) = (1.0, 1.0, self.density);
            A[(v + i, y + i)] = -2.0 * spring;
            if i > 0 {
                A[(v + i, y + i - 1)] = spring;
            }
            if i < N {
                A[(v + i, y + i + 1)] = spring;
            }
        }
        for (k, node) in [0, N].into_iter().enumerate() {
            A[(v + node, ends + k)] = -1.0;
            A[(ends + k, y + node)] = 1.0;
        }
        if force.is_none() {
            (A[(1, n - 1)], A[(self.v_c(), n - 1)]) = (1.0, -1.0);
            (A[(n - 1, 1)], A[(n - 1, self.v_c())]) = (1.0, -1.0);
        }
        ConstantCoefficients::new(E, A, Bowing { of: *self, force: force.unwrap_or(0.0) })
    }

    /// fk(t).
    pub fn drive(&self, t: f64) -> f64 {
        -self.v0 * self.omega * (self.omega * t).sin()
    }

    /// The system: modes 1 and 2, numbered 0 and 1, and the sticking one if it is wanted.
    pub fn system(&self, sticking: Sticking, method: ModeIntegrator) -> Hybrid<'static> {
        let (of, c) = (*self, self.v_c());
        let mut hybrid = Hybrid::new();
        for (name, force) in [("ahead", -self.friction), ("behind", self.friction)] {
            let names = self.names(false);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            hybrid.mode(Mode::linear(name, &names, self.linear(Some(force)), method));
        }
        // v_c − vb has passed ∓ε
        let passed = move |mode: usize| {
            let (name, sign) = [("v_c <= vb", 1.0), ("v_c >= vb", -1.0)][mode];
            SwitchingFunction::new(name, move |_, x: &[f64]| sign * (x[c] - x[1]) + of.epsilon)
        };
        hybrid.transition(Transition::on(0, 1, Condition::of(passed(0))));
        hybrid.transition(Transition::on(1, 0, Condition::of(passed(1))));
        if sticking == Sticking::Never {
            return hybrid;
        }
        let names = self.names(true);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let stuck = hybrid.mode(Mode::linear("sticking", &names, self.linear(None), method));
        hybrid.slide_after((0, 1), stuck, move |_, old, _, new| {
            let mean = f64::midpoint(old[1], old[c]);
            (new[1], new[c]) = (mean, mean);
        });
        hybrid.transition(Transition::when(stuck, 0, "fk < -friction", move |t, _| of.drive(t) + of.friction));
        hybrid.transition(Transition::when(stuck, 1, "fk > friction", move |t, _| of.friction - of.drive(t)));
        hybrid
    }

    /// The start: the string at rest, the bow moving; in mode 1, which is left at once.
    pub fn start(&self) -> Vec<f64> {
        let mut x = vec![0.0; 2 * self.pieces + 6];
        x[1] = self.v0;
        x
    }
}

/// The force on the bow, and the friction.
#[derive(Clone, Copy, Debug)]
pub struct Bowing {
    of: BowedString,
    force: f64,
}

impl Inhomogeneity for Bowing {
    fn value<S: Scalar>(&self, t: S, b: &mut [S]) {
        let of = &self.of;
        b[1] = (t * of.omega).sin() * (-of.v0 * of.omega) - self.force;
        b[of.v_c()] = S::from(self.force);
    }
}
