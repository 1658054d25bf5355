//! Half-explicit extrapolation, MEXX: a simple half-explicit method with several numbers of substeps, extrapolated to step size zero.
//!
//! Each substep solves one linear system, and its velocities satisfy the velocity constraints at its position; nothing is iterated and no
//! Jacobians of forces are needed, so the method is for motions that are not stiff. The step size and the number of columns, which is the
//! order, follow from the errors. A new point is brought onto the position and the velocity constraints. Lubich, Impact Comput. Sci. Eng. 3
//! (1991); Lubich, Nowak, Pöhle & Engstler, ZIB SC 92-12. The steps are long: where values between them are
//! wanted, they are kept so short that a polynomial through three points shows what happens between them, and values are ends of shorter
//! steps where it is not accurate enough.

mod control;
mod euler;
mod midpoint;
mod tableau;

use super::structural::{Attempt, OneStep, Scheme, Step, StructuralEquations, Trouble};
use super::weights::Weights;
use super::{Method, StartFailure, State, Stepper};
use crate::error::BadOption;
use crate::motion::Mechanism;
use crate::options::Options;
use crate::tolerance::Tolerance;
use control::{Circumstances, ExtrapolationControl, MOST_LINES, OrderVerdict};
use euler::Euler;
use midpoint::Midpoint;
use std::ops::Range;
use tableau::{ExtrapolationTableau, Sequence};

/// Numbers of substeps of MEXX.
const EULER: Sequence = Sequence { numbers: &[2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 30], power: 1 };
/// Even numbers: the sequence of Bulirsch with 2, 4, 6, 8.
const MIDPOINT: Sequence = Sequence { numbers: &[2, 4, 6, 8, 12, 16, 24, 32], power: 2 };

/// Smallest relative tolerance of extrapolation in h. Seven to nine columns add up substeps with weights of a thousand in sum, so that a step
/// is off by 1e-13 whatever its error estimate says; some hundred of them in a mechanism that moves quickly by 1e-9.
const SMALLEST_RTOL: f64 = 1e-10;

/// The method of the substeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Basic {
    /// Half-explicit Euler, extrapolated in h: order k with k columns.
    #[default]
    Euler,
    /// The half-explicit midpoint rule, extrapolated in h²: order 2k with k columns.
    Midpoint,
}

/// Half-explicit extrapolation with its options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mexx {
    /// The method that is extrapolated.
    pub basic: Basic,
    /// Steps of the fixed size h0 with so many columns; both are chosen if absent.
    pub columns: Option<usize>,
}

impl Mexx {
    fn check(&self, options: &Options) -> Result<(), BadOption> {
        let Some(columns) = self.columns else { return self.check_tolerance(&options.tolerance) };
        let (most, expected) = match self.basic {
            Basic::Euler => (EULER.numbers.len(), "from 1 to 12 columns"),
            Basic::Midpoint => (MIDPOINT.numbers.len(), "from 1 to 8 columns of the midpoint rule"),
        };
        if !(1..=most).contains(&columns) {
            return Err(BadOption::OutOfRange { name: "columns", value: columns as f64, expected });
        }
        if options.h0.is_none() {
            let expected = "a fixed number of columns goes with steps of the fixed size h0, which must be given";
            return Err(BadOption::OutOfRange { name: "h0", value: f64::NAN, expected });
        }
        Ok(())
    }

    fn check_tolerance(&self, tolerance: &Tolerance) -> Result<(), BadOption> {
        let value = match tolerance {
            Tolerance::Uniform { rtol, .. } | Tolerance::Named { rtol, .. } => *rtol,
            Tolerance::PerComponent(pairs) => pairs.iter().map(|(rtol, _)| *rtol).fold(1.0, f64::min),
        };
        let expected = "mexx loses smaller tolerances than 1e-10 in rounding; take hedop5, or the midpoint rule";
        if self.basic == Basic::Euler && value < SMALLEST_RTOL {
            return Err(BadOption::OutOfRange { name: "rtol", value, expected });
        }
        Ok(())
    }
}

impl<'m> Method<dyn Mechanism + 'm> for Mexx {
    fn start<'p>(
        &self,
        system: &'p (dyn Mechanism + 'm),
        at: State,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        self.check(options)?;
        let make = |equations: &mut StructuralEquations<'p>| Ok(Extrapolation::new(*self, equations));
        Ok(Box::new(OneStep::start("mexx", system, at, options, make)?))
    }
}

/// ẋ of p, v and r in the first two substeps of a line.
pub(super) struct Rates([Vec<f64>; 2]);

impl Rates {
    fn new(dim: usize) -> Self {
        Rates([vec![0.0; dim], vec![0.0; dim]])
    }

    fn wanted(i: u32) -> bool {
        i < 2
    }

    /// p' and r' at the beginning of substep i, where the equations have been evaluated.
    fn of_positions(&mut self, i: u32, equations: &StructuralEquations) {
        if let Some(rates) = self.0.get_mut(i as usize) {
            let l = equations.layout();
            rates[l.p()].copy_from_slice(equations.kinematics());
            rates[l.r()].copy_from_slice(equations.dynamic());
        }
    }

    /// v' in substep i.
    fn of_velocities(&mut self, i: u32, v: &Range<usize>, a: &[f64]) {
        if let Some(rates) = self.0.get_mut(i as usize) {
            rates[v.clone()].copy_from_slice(a);
        }
    }

    /// Do rates change in one substep of size h by more than twice their size? An explicit method cannot take such steps. Changes below the
    /// tolerance do not count. Hairer, Nørsett & Wanner, Solving ODEs I, II.9.
    fn explode(&mut self, h: f64, weights: &Weights) -> bool {
        let [first, second] = &mut self.0;
        second.iter_mut().zip(first.iter()).for_each(|(second, first)| *second -= first);
        let change = weights.norm(second);
        h * change > 1.0 && change > 2.0 * weights.norm(first)
    }
}

enum Substeps {
    Euler(Euler),
    Midpoint(Midpoint),
}

/// The scheme at work.
struct Extrapolation {
    substeps: Substeps,
    sequence: Sequence,
    columns: Option<usize>,
    control: ExtrapolationControl,
    tableau: ExtrapolationTableau,
    rates: Rates,
    error: Vec<f64>,
}

impl Extrapolation {
    fn new(method: Mexx, equations: &StructuralEquations) -> Self {
        let dim = equations.layout().dim();
        let (substeps, sequence) = match method.basic {
            Basic::Euler => (Substeps::Euler(Euler::new(equations)), EULER),
            Basic::Midpoint => (Substeps::Midpoint(Midpoint::new(equations)), MIDPOINT),
        };
        Extrapolation {
            substeps,
            sequence,
            columns: method.columns,
            control: ExtrapolationControl::new(sequence),
            tableau: ExtrapolationTableau::new(sequence, MOST_LINES, dim),
            rates: Rates::new(dim),
            error: vec![0.0; dim],
        }
    }

    /// Line j of the tableau, counted from 1: x becomes T_jj.
    fn line(
        &mut self,
        equations: &mut StructuralEquations,
        step: &Step,
        j: usize,
        x: &mut [f64],
    ) -> Result<(), Trouble> {
        x.copy_from_slice(step.x);
        let n = self.sequence.numbers[j - 1];
        let over = (step.t, step.h);
        match &mut self.substeps {
            Substeps::Euler(euler) => euler.line(equations, over, n, x, &mut self.rates)?,
            Substeps::Midpoint(midpoint) => midpoint.line(equations, over, n, x, &mut self.rates)?,
        }
        self.tableau.push(x);
        Ok(())
    }
}

impl Scheme for Extrapolation {
    const CHOOSES_CONSTRAINTS: bool = true;

    fn attempt(
        &mut self,
        equations: &mut StructuralEquations,
        weights: &Weights,
        step: Step,
        x1: &mut [f64],
    ) -> Result<Attempt, Trouble> {
        self.tableau.clear();
        if let Some(columns) = self.columns {
            for j in 1..=columns {
                self.line(equations, &step, j, x1)?;
            }
            return Ok(Attempt { accepted: true, next: step.h });
        }
        if step.first && !step.after_rejection {
            self.control.restart(weights.rtol());
        }
        self.control.begin();
        let circumstances =
            Circumstances { H: step.h, after_rejection: step.after_rejection, end: step.first || step.last };
        for j in 1..=self.sequence.numbers.len() {
            self.line(equations, &step, j, x1)?;
            if j <= 2 && self.rates.explode(step.h / f64::from(self.sequence.numbers[j - 1]), weights) {
                return Ok(Attempt { accepted: false, next: 0.5 * step.h });
            }
            if j == 1 {
                continue;
            }
            self.tableau.difference(&mut self.error);
            // √(mean of positions + mean of velocities): the mean of all counts twice
            let error = std::f64::consts::SQRT_2 * weights.norm_between(&self.error, step.x, x1);
            match self.control.judge(j, error, circumstances) {
                OrderVerdict::Continue => {}
                OrderVerdict::Accept(next) => return Ok(Attempt { accepted: true, next }),
                OrderVerdict::Reject(next) => return Ok(Attempt { accepted: false, next }),
            }
        }
        Err(Trouble::Diverged)
    }

    fn shorter(&mut self, equations: &mut StructuralEquations, step: Step, x: &mut [f64]) -> Result<(), Trouble> {
        self.tableau.clear();
        // a shorter step needs no more columns
        for j in 1..=self.control.columns.max(1) {
            self.line(equations, &step, j, x)?;
        }
        Ok(())
    }

    fn fixed(&self) -> bool {
        self.columns.is_some()
    }

    fn long_steps(&self) -> bool {
        true
    }

    fn decisions(&self) -> String {
        match self.columns {
            Some(_) => String::new(),
            None => format!("up to {} columns", self.control.highest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;
    use crate::motion::{EquationsOfMotion, Motion, Position, Sizes};
    use crate::scalar::Scalar;

    /// A pendulum: M = I, f = (0, −1), g = (x² + y² − 1)/2.
    struct Pendulum;

    impl EquationsOfMotion for Pendulum {
        fn sizes(&self) -> Sizes {
            Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
        }
        fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
            M[(0, 0)] = S::from(1.0);
            M[(1, 1)] = S::from(1.0);
        }
        fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
            f[1] = S::from(-1.0);
        }
        fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
            g[0] = (at.p[0].square() + at.p[1].square() - 1.0) * 0.5;
        }
    }

    /// a, λ, v, p at the angle −0.8 with angular velocity 0.9.
    fn start() -> [f64; 7] {
        let (s, c) = (-0.8_f64).sin_cos();
        let lambda = 0.81 - s;
        [-lambda * c, -lambda * s - 1.0, lambda, -0.9 * s, 0.9 * c, c, s]
    }

    /// One step with k columns from the start.
    fn step(basic: Basic, k: usize, H: f64) -> [f64; 7] {
        let mut equations = StructuralEquations::new("mexx", &Pendulum).unwrap();
        let mut scheme = Extrapolation::new(Mexx { basic, columns: Some(k) }, &equations);
        let weights = Weights::of_motion(equations.layout(), &Tolerance::default()).unwrap();
        let (x, mut x1) = (start(), [0.0; 7]);
        let step =
            Step { t: 0.0, t1: H, x: &x, h: H, xdot: &[0.0; 7], after_rejection: false, first: true, last: false };
        assert!(scheme.attempt(&mut equations, &weights, step, &mut x1).unwrap().accepted);
        x1
    }

    /// M4 for the multipliers and accelerations of the substeps themselves.
    #[test]
    fn extrapolated_multipliers_and_accelerations_have_the_order_of_their_column() {
        // the sixth column meets rounding, which the division by h enlarges
        for k in 1..=5 {
            let error = |H: f64| {
                let (x, at) = (step(Basic::Euler, k, H), step(Basic::Midpoint, 7, H));
                // λ = v² − y and a = (0, −1) − λ p on the circle
                let lambda = at[3] * at[3] + at[4] * at[4] - at[6];
                let exact = [-lambda * at[5], -1.0 - lambda * at[6], lambda];
                (0..3).fold(0.0_f64, |most, i| most.max((x[i] - exact[i]).abs()))
            };
            let order = (error(0.1) / error(0.05)).log2();
            assert!((order - k as f64).abs() < 0.3, "{k} columns: order {order}");
        }
    }

    #[test]
    fn one_step_of_both_kinds_ends_at_the_same_point() {
        let [euler, midpoint] = [(Basic::Euler, 12), (Basic::Midpoint, 7)].map(|(basic, k)| step(basic, k, 0.2));
        for i in 3..7 {
            // twelve columns magnify rounding
            assert!((euler[i] - midpoint[i]).abs() < 1e-11, "{euler:?} {midpoint:?}");
        }
    }
}
