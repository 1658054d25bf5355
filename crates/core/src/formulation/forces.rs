//! Forces as accurate as the motion: where multipliers are of index two, steps control h λ only. What is shown is a, w, λ, μ of
//!
//! ```text
//! M a = f − (GZ)ᵀλ − (HZ)ᵀμ,   0 = d,   0 = gII,   0 = hI
//! ```
//! at p, v, r, s of the step. The method goes on with its own values.

use super::selector::{Gradients, Subspace};
use crate::dae::Dae;
use crate::error::{ConstraintBlock, StepFailure};
use crate::linalg::{Lu, Matrix};
use crate::method::between::KEPT;
use crate::method::radau::tableau::Tableau;
use crate::method::{State, Stepper};
use crate::motion::{Form, Mechanism, ReducedArray, Undefined};
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};

/// Most corrections.
const MOST: u32 = 10;
/// A correction below this, relative to 1 + |x|, is the last one: the next would be [`SLOW`] times as large.
const ENOUGH: f64 = 1e-11;
/// A matrix serves at other points while each correction is smaller than the one before by this factor.
const SLOW: f64 = 0.1;

/// The equations of forces at a point of a motion.
struct Forces<'p> {
    array: Box<dyn ReducedArray + 'p>,
    rows: Vec<f64>,
    F: Matrix,
    /// places of a, w, λ, μ, and of their equations
    unknowns: Vec<usize>,
    equations: Vec<usize>,
    /// −∂(equations)/∂(a, w, λ, μ), at some point
    matrix: Lu<f64>,
    is_decomposed: bool,
    /// of the velocity level, and combinations that are redundant, if there are
    gradients: Gradients,
    redundant: Matrix,
    correction: Vec<f64>,
    own: Vec<f64>,
}

impl<'p> Forces<'p> {
    /// At a point where the mechanism is defined.
    fn new(system: &'p (dyn Mechanism + '_), at: &State) -> Result<Self, StepFailure> {
        let undefined = |_| StepFailure::Undefined { t: at.t };
        let mut array = system.array(Form::StrangenessFree, false);
        let l = array.layout().clone();
        let unknowns: Vec<usize> = l.a().chain(l.w()).chain(l.lambda()).chain(l.mu()).collect();
        let equations = l.row_dynamics().chain(l.row_auxiliary()).chain(l.row_g2()).chain(l.row_h1()).collect();
        let (mut rows, mut F) = (vec![0.0; l.rows()], Matrix::zeros(l.rows(), l.dim()));
        array.evaluate(at.t, &at.x, &mut rows).map_err(undefined)?;
        array.jacobian(at.t, &at.x, &rows, &mut F).map_err(undefined)?;
        let constraints = l.row_g1().start..l.row_h().end;
        let mut gradients = Gradients::new(ConstraintBlock::Velocity, constraints.collect(), l.v().collect(), &l.s());
        gradients.take(&F);
        gradients.choose(at.t, true)?;
        let multipliers = l.lambda().len() + l.mu().len();
        Ok(Forces {
            redundant: Matrix::zeros(gradients.dimension(Subspace::Dropped), multipliers),
            gradients,
            rows,
            F,
            matrix: Lu::new(unknowns.len()),
            is_decomposed: false,
            correction: vec![0.0; unknowns.len()],
            own: vec![0.0; l.dim()],
            unknowns,
            equations,
            array,
        })
    }

    /// Write a, w, λ, μ that belong to the rest of x; those of the method stay where there are none. Redundant constraints leave
    /// combinations of multipliers open, which keep their values.
    fn complete(&mut self, t: f64, x: &mut [f64]) {
        self.own.copy_from_slice(x);
        if !self.iterate(t, x).unwrap_or(false) {
            x.copy_from_slice(&self.own);
        }
    }

    fn iterate(&mut self, t: f64, x: &mut [f64]) -> Result<bool, Undefined> {
        let mut last = f64::INFINITY;
        let mut is_of_here = false;
        for _ in 0..MOST {
            self.array.evaluate(t, x, &mut self.rows)?;
            if !self.is_decomposed {
                self.array.jacobian(t, x, &self.rows, &mut self.F)?;
                is_of_here = true;
                if !self.decompose(t) {
                    return Ok(false);
                }
            }
            for (c, &row) in self.correction.iter_mut().zip(&self.equations) {
                *c = self.rows[row];
            }
            self.matrix.solve(&mut self.correction);
            let places = self.unknowns.iter().zip(&self.correction);
            let size = places.clone().fold(0.0_f64, |most, (&j, c)| most.max(c.abs() / (1.0 + x[j].abs())));
            if size <= SLOW * last {
                places.for_each(|(&j, c)| x[j] += c);
                if size <= ENOUGH {
                    return Ok(true);
                }
                last = size;
            } else if is_of_here {
                return Ok(false);
            } else {
                (self.is_decomposed, last) = (false, f64::INFINITY);
            }
        }
        Ok(false)
    }

    /// False where the matrix is singular: the multipliers are not determined there.
    fn decompose(&mut self, t: f64) -> bool {
        for (i, &row) in self.equations.iter().enumerate() {
            for (j, &unknown) in self.unknowns.iter().enumerate() {
                self.matrix.A[(i, j)] = self.F[(row, unknown)];
            }
        }
        // the combinations u of constraints that are redundant hold uᵀ(λ, μ): u uᵀ stands where the saddle has its zeros
        let multipliers = self.redundant.cols();
        if self.redundant.rows() > 0 {
            self.gradients.take(&self.F);
            if self.gradients.choose(t, false).is_err() {
                return false;
            }
            self.gradients.basis(Subspace::Dropped, &mut self.redundant);
        }
        let first = self.unknowns.len() - multipliers;
        for u in (0..self.redundant.rows()).map(|k| self.redundant.row(k)) {
            for (i, ui) in u.iter().enumerate() {
                for (j, uj) in u.iter().enumerate() {
                    self.matrix.A[(first + i, first + j)] -= ui * uj;
                }
            }
        }
        self.is_decomposed = self.matrix.factor().is_ok();
        self.is_decomposed
    }
}

/// A method at work, with forces of the acceleration level.
pub(crate) struct WithForces<'p> {
    stepper: Box<dyn Stepper + 'p>,
    forces: Forces<'p>,
    state: State,
    /// where the last step began
    before: Vec<f64>,
    /// the polynomial through forces of the acceleration level, where it is kept
    kept: Segment,
    is_kept: bool,
    values: Vec<Vec<f64>>,
}

impl<'p> WithForces<'p> {
    pub fn new(stepper: Box<dyn Stepper + 'p>, system: &'p (dyn Mechanism + '_)) -> Result<Self, StepFailure> {
        let state = stepper.state().clone();
        let n = state.x.len();
        Ok(WithForces {
            forces: Forces::new(system, &state)?,
            before: state.x.clone(),
            kept: Segment::with_room(state.t, &state.x, KEPT),
            is_kept: false,
            values: vec![vec![0.0; n]; KEPT],
            state,
            stepper,
        })
    }

    /// Take the last point over.
    fn look(&mut self) {
        let now = self.stepper.state();
        self.state.t = now.t;
        self.state.x.copy_from_slice(&now.x);
        self.is_kept = false;
        self.forces.complete(self.state.t, &mut self.state.x);
    }
}

impl Stepper for WithForces<'_> {
    fn state(&self) -> &State {
        &self.state
    }
    fn segment(&self) -> &Segment {
        if self.is_kept { &self.kept } else { self.stepper.segment() }
    }
    fn advance(&mut self, limit: f64) -> Result<(), StepFailure> {
        self.before.copy_from_slice(&self.state.x);
        let outcome = self.stepper.advance(limit);
        self.look();
        outcome
    }
    fn restart(&mut self, at: State) {
        self.stepper.restart(at);
        self.look();
    }
    fn retake(&mut self, t: f64) -> Result<bool, StepFailure> {
        let outcome = self.stepper.retake(t);
        self.look();
        outcome
    }
    fn watch_between(&mut self) {
        self.stepper.watch_between();
    }
    fn inside(&mut self, t: f64, x: &mut [f64]) {
        self.stepper.inside(t, x);
        self.forces.complete(t, x);
    }
    fn refine(&mut self) {
        let (t0, t1) = (self.stepper.segment().t0, self.stepper.segment().t1);
        let C = Tableau::of(KEPT).C;
        let mut values = std::mem::take(&mut self.values);
        for (value, c) in values.iter_mut().zip(&C[..KEPT - 1]) {
            self.inside(t0 + c * (t1 - t0), value);
        }
        values[KEPT - 1].copy_from_slice(&self.state.x);
        values.iter_mut().for_each(|value| value.iter_mut().zip(&self.before).for_each(|(x, x0)| *x -= x0));
        let stages: [&[f64]; KEPT] = std::array::from_fn(|k| &values[k][..]);
        self.kept.collocation(t0, t1, &self.state.x, C, &stages);
        (self.values, self.is_kept) = (values, true);
    }
    fn propose(&mut self, h: f64) {
        self.stepper.propose(h);
    }
    fn rates(&mut self, xdot: &mut [f64]) {
        self.stepper.rates(xdot);
    }
    fn system(&mut self) -> Option<&mut dyn Dae> {
        self.stepper.system()
    }
    fn statistics(&self) -> Statistics {
        self.stepper.statistics()
    }
    fn residuals(&self) -> Residuals {
        self.stepper.residuals()
    }
    fn undetermined(&self) -> Vec<Vec<f64>> {
        self.stepper.undetermined()
    }
    fn proposed_step(&self) -> f64 {
        self.stepper.proposed_step()
    }
    fn decisions(&self) -> String {
        self.stepper.decisions()
    }
}
