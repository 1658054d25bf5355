//! Boost converter: a coil, a capacitor with a load, a switch S and an ideal diode D.
//!
//! ```text
//! C vC' = iD − iR,   L iL' = vS − Vi,   0 = vD + vC + vS,   0 = R iR − vC,   0 = iS + iL − iD
//! mode 1: S open, D conducts   0 = iS, 0 = vD        mode 2: S closed, D blocks     0 = vS, 0 = iD
//! mode 3: S open, D blocks     0 = iS, 0 = iD        mode 4: S closed, D conducts   0 = vS, 0 = vD
//! ```
//! Differentiation index 1 in modes 1 and 2; in modes 3 and 4 one differential variable is algebraic and the index is 2. Wunderlich,
//! thesis (2008), example 5.1 and section 7.2.1.
//!
//! Erratum: the diode leaves mode 2 when vD > η, as in mode 3; printed is vD < −η. With the printed sign of Vi the voltage is not boosted.

use super::{ModeIntegrator, names};
use daedal::dae::{Equations, Form, System};
use daedal::hybrid::{Condition, Hybrid, Mode, Schedule, SwitchingFunction, Transition};
use daedal::linalg::Matrix;
use daedal::linear::ConstantCoefficients;
use daedal::scalar::Scalar;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoostConverter {
    /// Voltage of the source.
    pub voltage: f64,
    /// Resistance of the load.
    pub resistance: f64,
    /// Capacity.
    pub capacity: f64,
    /// Inductance.
    pub inductance: f64,
    /// What counts as a current or voltage of the wrong sign.
    pub eta: f64,
    /// How long the switch is open.
    pub open: f64,
    /// How long it is closed.
    pub closed: f64,
}

impl Default for BoostConverter {
    fn default() -> Self {
        BoostConverter {
            voltage: 48.0,
            resistance: 2.0,
            capacity: 1e-2,
            inductance: 1.0,
            eta: 1e-6,
            open: 0.1,
            closed: 0.06,
        }
    }
}

/// Names of the unknowns.
pub const NAMES: [&str; 7] = ["vC", "iL", "vS", "vD", "iR", "iS", "iD"];
/// Where iD stands.
pub const I_D: usize = 6;
/// Where vD stands.
pub const V_D: usize = 3;
/// End of the published run.
pub const TEND: f64 = 1.0;
/// Guess of the published run.
pub const GUESS: [f64; 7] = [10.0; 7];
/// The consistent state of mode 1 nearest to the guess.
pub const NEAREST: [f64; 7] = [20.0 / 9.0, 10.0, -20.0 / 9.0, 0.0, 10.0 / 9.0, 0.0, 10.0];
/// Times of the switches; the third is the diode, with η = 10⁻⁶, from the state nearest to the guess. Closed form.
pub const TIMES: [f64; 13] = [0.1, 0.16, 0.182225017, 0.26, 0.32, 0.42, 0.48, 0.58, 0.64, 0.74, 0.80, 0.90, 0.96];
/// Modes that are entered there, the first being 1.
pub const MODES: [usize; 13] = [4, 1, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3];
/// Time of the diode if vC = iL = 10 are kept at the start.
pub const DIODE_FROM_KEPT: f64 = 0.179460556;

/// How the modes are given to the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConverterForm {
    /// Constant matrices.
    Linear,
    /// General equations.
    Equations,
}

/// Rows of the two elements that switch: which unknowns are zero.
fn zeros(mode: usize) -> [usize; 2] {
    let (v_s, v_d, i_s, i_d) = (2, V_D, 5, I_D);
    [[i_s, v_d], [v_s, i_d], [i_s, i_d], [v_s, v_d]][mode - 1]
}

impl BoostConverter {
    /// Matrices of a mode, 1 to 4.
    pub fn linear(&self, mode: usize) -> ConstantCoefficients<Vec<Vec<f64>>> {
        let (mut E, mut A) = (Matrix::zeros(7, 7), Matrix::zeros(7, 7));
        E[(0, 0)] = self.capacity;
        E[(1, 1)] = self.inductance;
        for (row, column, value) in [
            (0, 6, 1.0),
            (0, 4, -1.0),
            (1, 2, 1.0),
            (2, 3, 1.0),
            (2, 0, 1.0),
            (2, 2, 1.0),
            (3, 4, self.resistance),
            (3, 0, -1.0),
            (4, 5, 1.0),
            (4, 1, 1.0),
            (4, 6, -1.0),
        ] {
            A[(row, column)] = value;
        }
        for (row, unknown) in zeros(mode).into_iter().enumerate() {
            A[(5 + row, unknown)] = 1.0;
        }
        let mut b = vec![vec![0.0]; 7];
        b[1] = vec![-self.voltage];
        ConstantCoefficients::new(E, A, b)
    }

    /// The system; modes 1 to 4 are numbered 0 to 3.
    pub fn system(&self, modes: ConverterForm, method: ModeIntegrator) -> Hybrid<'static> {
        let mut hybrid = Hybrid::new();
        for mode in 1..=4 {
            let name = ["open, conducting", "closed, blocking", "open, blocking", "closed, conducting"][mode - 1];
            hybrid.mode(match modes {
                ConverterForm::Linear => Mode::linear(name, &NAMES, self.linear(mode), method),
                ConverterForm::Equations => {
                    Mode::general(name, System::of(&Circuit { of: *self, mode }), Form::Auto, method)
                }
            });
        }
        let period = self.open + self.closed;
        let (closes, opens) = (Schedule::Every { first: self.open, period }, Schedule::Every { first: period, period });
        for (from, to) in [(0, 2), (3, 1)] {
            let eta = self.eta;
            let reverse = SwitchingFunction::new("iD < -eta", move |_, x| x[I_D] + eta).strict();
            hybrid.transition(Transition::on(from, to, Condition::of(reverse)));
        }
        for (from, to) in [(1, 3), (2, 0)] {
            let eta = self.eta;
            let forward = SwitchingFunction::new("vD > eta", move |_, x| eta - x[V_D]).strict();
            hybrid.transition(Transition::on(from, to, Condition::of(forward)));
        }
        for (from, to) in [(0, 3), (2, 1)] {
            hybrid.transition(Transition::at(from, to, closes.clone()));
        }
        for (from, to) in [(1, 2), (3, 0)] {
            hybrid.transition(Transition::at(from, to, opens.clone()));
        }
        hybrid
    }
}

/// A mode as general equations.
#[derive(Clone, Copy, Debug)]
pub struct Circuit {
    /// The parameters.
    pub of: BoostConverter,
    /// 1 to 4.
    pub mode: usize,
}

impl Equations for Circuit {
    fn dim(&self) -> usize {
        7
    }
    fn names(&self) -> Vec<String> {
        names(&NAMES)
    }
    fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let [v_c, i_l, v_s, v_d, i_r, i_s, i_d] = std::array::from_fn(|j| x[j]);
        r[0] = xdot[0] * self.of.capacity - i_d + i_r;
        r[1] = xdot[1] * self.of.inductance - v_s + self.of.voltage;
        r[2] = v_d + v_c + v_s;
        r[3] = i_r * self.of.resistance - v_c;
        r[4] = i_s + i_l - i_d;
        let [first, second] = zeros(self.mode);
        r[5] = x[first];
        r[6] = x[second];
    }
}
