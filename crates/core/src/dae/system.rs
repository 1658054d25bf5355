//! What an integrator sees: a square system G(t, x, ẋ) = 0 of index at most one.

use crate::error::StepFailure;
use crate::linalg::{Matrix, Pencil};
use crate::linear::Coefficients;
use crate::motion::Undefined;
use crate::statistics::Residuals;

/// A consistent point with a derivative: G(t, x, ẋ) = 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Time.
    pub t: f64,
    /// All unknowns.
    pub x: Vec<f64>,
    /// Their derivatives.
    pub xdot: Vec<f64>,
}

/// Part of a step over which time is differenced: ∛ε, where rounding and truncation are alike.
const TIME_DIFFERENCE: f64 = 6e-6;

/// A square system G(t, x, ẋ) = 0 of index at most one, at work: it owns its kernels and its scratch space.
///
/// The contract of an implementation:
/// 1. what is chosen (which equations, which combinations of them) changes in [`pencil`](Dae::pencil) only, so that an integrator
///    meets the same system until it asks for a new pencil;
/// 2. `(γ/h) E − A` is regular for small h: rows of E that vanish stand for constraints, and (E₁; A₂) is regular;
/// 3. `residual` allocates nothing.
pub trait Dae {
    /// Number of unknowns and of rows.
    fn dim(&self) -> usize;

    /// A pencil of the right kind and size.
    fn new_pencil(&self) -> Pencil;

    /// Rows that do not contain ẋ. Integrators do not scale them with h.
    fn algebraic(&self, row: usize) -> bool;

    /// Is G linear in ẋ, with ∂G/∂ẋ a function of t and x?
    fn quasilinear(&self) -> bool;

    /// Is G = E ẋ − f(t, x) with a regular E that is made of numbers: an ordinary differential equation?
    fn is_ordinary(&self) -> bool {
        false
    }

    /// Is G = E ẋ − f(t, x) with an E that is made of numbers, regular or not?
    fn constant_leading(&self) -> bool {
        self.is_ordinary()
    }

    /// Do derivatives of constrained unknowns enter with factors that move? What a polynomial through the unknowns has for a derivative is a part
    /// of the equations then, and its error is one of the step.
    fn multiplies_constrained_rates(&self) -> bool {
        false
    }

    /// Has the system formulas for ẋ, made now if it can make some? Where it [is ordinary](Dae::is_ordinary), and nothing is to be solved for.
    fn make_rates(&mut self) -> bool {
        false
    }

    /// ẋ at a point by these formulas.
    fn rates_by_formulas(&mut self, _t: f64, _x: &[f64], _rates: &mut [f64]) -> Result<(), Undefined> {
        Err(Undefined)
    }

    /// Does time not enter?
    fn is_autonomous(&self) -> bool {
        false
    }

    /// ∂G/∂t at a point whose rows G(t, x, 0) are known, for steps of size h: by formulas where the system has some, and else by differences to
    /// later times. Two vectors: zeros, and scratch.
    fn time_slope(
        &mut self,
        (t, x, G): (f64, &[f64], &[f64]),
        h: f64,
        [zeros, ahead]: [&mut [f64]; 2],
        out: &mut [f64],
    ) -> Result<(), Undefined> {
        // (−3 G(t) + 4 G(t + δ) − G(t + 2δ))/(2δ), where what is added to t is what arrives
        let delta = (t + TIME_DIFFERENCE * h) - t;
        if delta == 0.0 {
            return Err(Undefined);
        }
        self.residual(0, t + delta, x, zeros, out)?;
        self.residual(0, t + 2.0 * delta, x, zeros, ahead)?;
        for ((out, ahead), G) in out.iter_mut().zip(ahead).zip(G) {
            *out = (4.0 * (*out - G) - (*ahead - G)) / (2.0 * delta);
        }
        Ok(())
    }

    /// G(t, x, ẋ). `stage` numbers the points at which an integrator evaluates inside of one step, from zero; a system that iterates
    /// on inner unknowns keeps them apart by it.
    fn residual(&mut self, stage: usize, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined>;

    /// E and A at a point of the solution, after a new choice of equations where the system chooses.
    fn pencil(&mut self, t: f64, x: &[f64], xdot: &[f64], out: &mut Pencil) -> Result<(), StepFailure>;

    /// A step to this point was accepted; `stage` is the one that ended there. The system may correct the point by less than the
    /// tolerance, so that its constraints hold. An error stops the run at this point.
    fn accepted(&mut self, stage: usize, t: f64, x: &mut [f64], xdot: &[f64]) -> Result<(), StepFailure>;

    /// Do some unknowns follow others by one iteration of Newton's method, as multipliers follow positions and velocities where
    /// constraints on acceleration level determine them? Only two iterations together contract then.
    fn multipliers_lag(&self) -> bool {
        false
    }
    /// Does the system ask for a new pencil at the accepted point, whatever Newton's iteration says?
    fn wants_pencil(&self) -> bool {
        false
    }

    /// The next point does not continue the last one: what was followed from point to point begins anew here, and invariants take
    /// the values that they have here.
    fn jumped(&mut self, _t: f64, _x: &[f64]) {}

    /// Bring a state inside of the last accepted step closer to the constraints, where the system can.
    fn settle(&mut self, _t: f64, _x: &mut [f64]) {}

    /// Residuals were evaluated at times of the last accepted step: no new step has been tried by that.
    fn looked_back(&mut self) {}

    /// What a row is called, at the point of the last pencil, where the system can tell.
    fn row_name(&self, _row: usize) -> Option<String> {
        None
    }

    /// Is an algebraic row the value of an invariant? It holds by itself after a jump, and is no constraint for the state there.
    fn invariant(&self, _row: usize) -> bool {
        false
    }

    /// E₁ whose product E₁ x is the differential part of a state, at the point of the last pencil; rows of the pencil if absent.
    fn differential_part(&self) -> Option<Matrix> {
        None
    }

    /// Residuals of the constraints at the last accepted point.
    fn residuals(&self) -> Residuals;

    /// Does an unknown count in norms? Bookkeeping does not.
    fn in_error_norm(&self, _unknown: usize) -> bool {
        true
    }

    /// Index of an unknown, 1 unless its system has a higher one: errors of unknowns of index k count h^(k−1) times.
    fn index(&self, _unknown: usize) -> u8 {
        1
    }

    /// Is what is shown of an unknown computed from the others, because it is of index two and less accurate?
    fn recovered(&self, _unknown: usize) -> bool {
        false
    }

    /// Combinations of unknowns that the equations leave undetermined, as vectors over x.
    fn undetermined(&self) -> Vec<Vec<f64>> {
        Vec::new()
    }

    /// Why steps fail at the point of the last pencil, where the system can tell.
    fn cause_of_failure(&self, _t: f64) -> Option<StepFailure> {
        None
    }

    /// E, A and b, where this is a linear system with constant E and A as it was written.
    fn constant_linear(&mut self) -> Option<&mut dyn Coefficients> {
        None
    }

    /// How often selectors were chosen, for statistics.
    fn selections(&self) -> u64 {
        0
    }

    /// What was decided about the equations, for reports.
    fn decisions(&self) -> String {
        String::new()
    }
}
