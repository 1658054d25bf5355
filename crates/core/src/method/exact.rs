//! The explicit solution of E ẋ = A x + b(t) with a constant, regular pencil:
//!
//! ```text
//! x(t) = e^{ÊᴰÂ(t−t₀)} ÊᴰÊ x₀ + ∫ e^{ÊᴰÂ(t−s)} Êᴰ b̂(s) ds − (I − ÊᴰÊ) Σᵢ (ÊÂᴰ)ⁱ Âᴰ b̂⁽ⁱ⁾(t)
//! ```
//! Nothing is discretised but b, which is a Taylor polynomial over each piece; where it misses b by too much the piece is made shorter. Values at
//! ends of pieces and at saved times come from the formula, the polynomial between them is compared with it.
//! Kunkel & Mehrmann (2006), 2.2; Wunderlich, thesis (2008), Theorem 2.31.

use super::pace::{Failures, Rules, Try, first_step};
use super::shell::{Attempt, Formula, Shell};
use super::weights::Weights;
use super::{Integrator, StartFailure, State, Stepper};
use crate::dae::{Dae, Form, Point, System};
use crate::error::StepFailure;
use crate::linear::TaylorData;
use crate::options::Options;
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};
use daedal_pencils::{ExplicitFlow, PencilError, RegularPencil};

/// Degree of the polynomials of b.
const DEGREE: usize = 12;
/// The integral of what a polynomial misses of b counts against this part of the tolerance, or against [`ROUNDING`].
const OF_B: f64 = 1e-5;
/// What the polynomial between the ends of a piece misses of the solution counts against this part of the tolerance.
const BETWEEN: f64 = 0.1;
/// What is smaller than this part of the values is rounding, whatever the tolerance.
const ROUNDING: f64 = 2e-14;
/// Steps of the exponential over a piece: every second is a node of the polynomial, others compare.
const STEPS: usize = 16;
/// Nodes of the polynomial.
const NODES: [f64; STEPS / 2] = [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0];
/// Where the polynomial is compared: between the outer nodes, where it deviates most.
const COMPARED: [usize; 2] = [1, STEPS - 1];

/// The explicit solution of linear systems with constant coefficients.
///
/// ```
/// use daedal::prelude::*;
/// use daedal::Exact;
///
/// /// x' = y, 0 = x − sin t, and an oscillator z'' = −z.
/// struct Linear;
/// impl Equations for Linear {
///     fn dim(&self) -> usize { 4 }
///     fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
///         r[0] = xdot[0] - x[1];
///         r[1] = x[0] - t.sin();
///         r[2] = xdot[2] - x[3];
///         r[3] = xdot[3] + x[2];
///     }
/// }
/// let system = System::of(&Linear);
/// let problem = Problem::new(&system, Initial::new(0.0, &[0.0, 1.0, 1.0, 0.0]), 100.0);
/// let solution = solve(&problem, &Exact, &Options::default())?;
/// assert!((solution.end.x[1] - 100.0_f64.cos()).abs() < 1e-13 && (solution.end.x[2] - 100.0_f64.cos()).abs() < 1e-11);
/// # Ok::<(), SolveError<daedal::dae::Unknowns>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exact;

fn outside(why: impl Into<String>) -> StartFailure {
    StartFailure::OutOfClass { method: "exact", why: why.into(), instead: "radau" }
}

impl Integrator for Exact {
    fn start<'p>(
        &self,
        mut system: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        options.check()?;
        let n = system.dim();
        let Some(coefficients) = system.constant_linear() else {
            return Err(outside("its equations are not in the form of a linear system with constant coefficients"));
        };
        let mut data = TaylorData::new(coefficients.rows(), n, DEGREE);
        coefficients.taylor(at.t, DEGREE, &mut data).map_err(|_| StepFailure::Undefined { t: at.t })?;
        let tolerance = options.ranks().of_numbers(n, n);
        let pencil = RegularPencil::new(&data.E[0], &data.A[0], tolerance).map_err(|error| match error {
            PencilError::Singular | PencilError::NotSquare { .. } => {
                outside("its pencil is singular: solutions do not exist or are not unique")
            }
            other => outside(other.to_string()),
        })?;
        if pencil.index() >= DEGREE {
            return Err(outside(format!("its index is {}, beyond the derivatives that can be had", pencil.index())));
        }
        let mut weights = Weights::new(&*system, &options.tolerance)?;
        weights.at(&at.x);
        let state = State { t: at.t, x: at.x };
        let mut pieces = ExplicitPieces {
            order: pencil.index(),
            flow: ExplicitFlow::new(pencil, DEGREE),
            dae: system,
            data,
            before: state.clone(),
            segment: Segment::with_room(state.t, &state.x, NODES.len()),
            state,
            rates: vec![0.0; n],
            weights,
            stages: vec![vec![0.0; n]; NODES.len()],
            compared: vec![vec![0.0; n]; COMPARED.len()],
            x: vec![0.0; n],
            missed: vec![0.0; n],
            counters: Statistics::default(),
        };
        pieces.set_rates()?;
        Ok(Box::new(Shell::new(pieces, Rules::default(), options)))
    }

    fn own_form(&self, system: &System) -> Result<Option<Form>, StartFailure> {
        let structure = system.structure();
        if !structure.linear() {
            return Err(outside("its equations are not linear in the unknowns and their derivatives"));
        }
        if !structure.constant_coefficients() {
            return Err(outside("its coefficients depend on time"));
        }
        if !system.first.invariants.is_empty() {
            return Err(outside("it keeps no invariants"));
        }
        Ok(Some(Form::Linear))
    }
}

/// The solution at the end of a piece.
struct ExplicitPieces<'p> {
    dae: Box<dyn Dae + 'p>,
    flow: ExplicitFlow,
    /// derivatives of b in the nilpotent part of x′
    order: usize,
    data: TaylorData,
    before: State,
    state: State,
    rates: Vec<f64>,
    segment: Segment,
    weights: Weights,
    /// x at the nodes, minus that at the begin
    stages: Vec<Vec<f64>>,
    compared: Vec<Vec<f64>>,
    x: Vec<f64>,
    missed: Vec<f64>,
    counters: Statistics,
}

impl ExplicitPieces<'_> {
    /// Taylor coefficients of b.
    fn inhomogeneity(&mut self, t: f64, order: usize) -> Result<(), StepFailure> {
        self.counters.residuals += 1;
        let coefficients = self.dae.constant_linear().ok_or(StepFailure::Undefined { t })?;
        coefficients.inhomogeneity(t, order, &mut self.data).map_err(|_| StepFailure::Undefined { t })
    }

    /// The flow begins at a point.
    fn begin(&mut self, t: f64) -> Result<(), StepFailure> {
        self.inhomogeneity(t, DEGREE)?;
        self.flow.begin(&self.x, &self.data.b);
        Ok(())
    }

    /// x′ at the state.
    fn set_rates(&mut self) -> Result<(), StepFailure> {
        let t = self.state.t;
        self.x.copy_from_slice(&self.state.x);
        self.begin(t)?;
        self.flow.rewind();
        self.flow.rates(&self.data.b, &mut self.rates);
        Ok(())
    }
}

impl Formula for ExplicitPieces<'_> {
    fn state(&self) -> &State {
        &self.state
    }

    fn segment(&self) -> &Segment {
        &self.segment
    }

    fn first_size(&mut self) -> f64 {
        first_step(self.weights.norm(&self.state.x), self.weights.norm(&self.rates))
    }

    fn attempt(&mut self, tried: &Try) -> Result<Attempt, StepFailure> {
        let &Try { h, t1, .. } = tried;
        let t0 = self.state.t;
        self.x.copy_from_slice(&self.state.x);
        self.begin(t0)?;
        self.counters.decompositions += 1;
        if !self.flow.prepare(h, STEPS) {
            return Ok(Attempt::Failed { factor: 0.25, singular: false });
        }
        let rounding = ROUNDING / self.weights.rtol();
        let (of_b, between) = (OF_B.max(rounding), BETWEEN.max(rounding));
        let mut error = 0.0_f64;
        for step in 1..=STEPS {
            self.flow.step();
            let compared = COMPARED.iter().position(|&other| other == step);
            if step % 2 == 1 && compared.is_none() {
                continue;
            }
            let t = if step == STEPS { t1 } else { t0 + h * step as f64 / STEPS as f64 };
            if self.inhomogeneity(t, self.order).is_err() {
                return Ok(Attempt::Failed { factor: 0.5, singular: false });
            }
            self.flow.missed(t - t0, &self.data.b[0], &mut self.missed);
            error = error.max(h * self.weights.norm(&self.missed) / of_b);
            self.flow.state(&self.data.b, &mut self.x);
            match compared {
                Some(k) => self.compared[k].copy_from_slice(&self.x),
                None => {
                    let stage = &mut self.stages[step / 2 - 1];
                    stage.iter_mut().zip(&self.x).zip(&self.state.x).for_each(|((y, x), x0)| *y = x - x0);
                }
            }
        }
        let stages: [&[f64]; NODES.len()] = std::array::from_fn(|k| &self.stages[k][..]);
        self.segment.collocation(t0, t1, &self.x, &NODES, &stages);
        for (k, step) in COMPARED.into_iter().enumerate() {
            self.segment.eval(t0 + h * step as f64 / STEPS as f64, &mut self.missed);
            self.missed.iter_mut().zip(&self.compared[k]).for_each(|(x, exact)| *x -= exact);
            error = error.max(self.weights.norm_between(&self.missed, &self.state.x, &self.x) / between);
        }
        let factor = 0.8 * error.max(1e-30).powf(-1.0 / NODES.len() as f64);
        if !(error <= 1.0) {
            return Ok(Attempt::Rejected { next: h * factor.clamp(0.1, 0.7) });
        }
        std::mem::swap(&mut self.before, &mut self.state);
        self.state.t = t1;
        self.state.x.copy_from_slice(&self.x);
        self.set_rates()?;
        self.weights.at(&self.state.x);
        let settled = self.dae.accepted(0, t1, &mut self.state.x, &self.rates);
        Ok(Attempt::Accepted { next: (h * factor.clamp(0.5, 8.0)).min(tried.longest), settled })
    }

    fn stuck(&mut self, h: f64, failures: Failures) -> StepFailure {
        let t = self.state.t;
        if failures.attempts > 0 { StepFailure::Undefined { t } } else { StepFailure::StepTooSmall { t, h } }
    }

    fn back(&mut self) -> Result<bool, StepFailure> {
        std::mem::swap(&mut self.before, &mut self.state);
        self.weights.at(&self.state.x);
        self.set_rates()?;
        Ok(true)
    }

    fn restart(&mut self, at: State, _: Option<&[f64]>) -> Result<(), StepFailure> {
        self.state = at;
        self.segment = Segment::with_room(self.state.t, &self.state.x, NODES.len());
        self.dae.jumped(self.state.t, &self.state.x);
        self.weights.at(&self.state.x);
        self.set_rates()
    }

    /// The formula itself.
    fn inside(&mut self, t: f64, x: &mut [f64]) {
        let t0 = self.segment.t0;
        if t <= t0 || t >= self.segment.t1 || self.before.t != t0 {
            return self.segment.eval(t, x);
        }
        self.x.copy_from_slice(&self.before.x);
        let made = self.begin(t0).is_ok() && self.flow.prepare(t - t0, 1) && self.inhomogeneity(t, self.order).is_ok();
        if made {
            self.flow.step();
            self.flow.state(&self.data.b, x);
        } else {
            self.segment.eval(t, x);
        }
    }

    fn rates(&mut self, xdot: &mut [f64]) {
        xdot.copy_from_slice(&self.rates);
    }

    fn system(&mut self) -> Option<&mut dyn Dae> {
        Some(&mut *self.dae)
    }

    fn counters(&self) -> Statistics {
        self.counters
    }

    fn residuals(&self) -> Residuals {
        self.dae.residuals()
    }

    fn decisions(&self) -> String {
        let pencil = self.flow.pencil();
        format!(
            "explicit solution: {} finite eigenvalues by matrix exponentials, index {}; the right-hand side by Taylor polynomials of degree {DEGREE}, each within {OF_B} of the tolerance",
            pencil.finite_dimension(),
            pencil.index()
        )
    }
}
