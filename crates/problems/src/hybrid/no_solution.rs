//! Every mode is regular, and yet the switched system need not have a solution: x' = x, then 0 = x.
//!
//! Mode 1 has index 0, mode 2 index 1 and no freedom: only x = 0 is consistent there, so that a solution without jumps exists only
//! if x is zero at the switch. Wunderlich, thesis (2008), example 5.45: E = I and E = 0, both with A = I after a feedback.

use super::{ModeIntegrator, names};
use daedal::dae::{Equations, Form, System};
use daedal::hybrid::{Hybrid, Mode, Schedule, Transition};
use daedal::scalar::Scalar;

/// A mode: E x' = x with E = I or E = 0.
#[derive(Clone, Copy, Debug)]
pub struct RegularisedMode {
    /// Is E = I?
    pub moves: bool,
}

impl Equations for RegularisedMode {
    fn dim(&self) -> usize {
        2
    }
    fn names(&self) -> Vec<String> {
        names(&["x1", "x2"])
    }
    fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        for i in 0..2 {
            r[i] = if self.moves { xdot[i] - x[i] } else { x[i] };
        }
    }
}

/// The system, which switches at a time; the unknowns named in `keep` must not jump.
pub fn system(switch: f64, keep: &[&str], method: ModeIntegrator) -> Hybrid<'static> {
    let mut hybrid = Hybrid::new();
    let mode = |name: &str, moves| Mode::general(name, System::of(&RegularisedMode { moves }), Form::Auto, method);
    let first = hybrid.mode(mode("index 0", true));
    let second = hybrid.mode(mode("index 1", false).keep(keep));
    hybrid.transition(Transition::at(first, second, Schedule::Times(vec![switch])));
    hybrid
}
