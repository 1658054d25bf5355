//! The underlying ordinary differential equation `ode`: the algebraic rows are differentiated once more.
//!
//! With k = (M a − f + (GZ)ᵀλ + (HZ)ᵀμ, d, gII, hI, c) and F = −∂k/∂x the rows are, in the order of the unknowns of [`Layout`],
//!
//! ```text
//! −F(t, x) ẋ + ∂k/∂t = 0,   r' = b,   v' = a,   p' = Zv
//! ```
//!
//! so that dk/dt = 0: gIII = 0 and hII = 0 determine λ' and μ'. Every value of x is consistent, and nothing holds the constraints: an
//! error in g grows with t³, one in HZv + h with t². Steinbrecher, thesis (2006), (4.85) and section 4.4. Where time enters the
//! equations ∂k/∂t is a difference quotient of order four, good to about 1e-12 of the size of k.
//!
//! Each residual costs a Jacobian, and each pencil one for every unknown, because A = −∂/∂x (−F ẋ + ∂k/∂t) is differenced: this
//! formulation is here for comparison.

use crate::dae::{Dae, Pencil};
use crate::error::StepFailure;
use crate::linalg::Jacobian;
use crate::method::{StartFailure, State};
use crate::motion::{Form, Layout, Mechanism, ReducedArray, Undefined};
use crate::statistics::Residuals;

/// Step of the quotient in time: ε^(1/5).
const TIME_STEP: f64 = 7.4e-4;

/// The underlying equation at work.
pub(super) struct Underlying<'p> {
    array: Box<dyn ReducedArray + 'p>,
    layout: Layout,
    autonomous: bool,
    rows: Vec<f64>,
    /// ∂k/∂t, and rows at another time
    in_time: Vec<f64>,
    then: Vec<f64>,
    F: Jacobian,
    // residuals and points of a differenced pencil
    here: Vec<f64>,
    moved: Vec<f64>,
    x: Vec<f64>,
    residuals: Residuals,
}

impl<'p> Underlying<'p> {
    pub fn new(mechanism: &'p (dyn Mechanism + '_), at: &State) -> Result<Self, StartFailure> {
        let mut array = mechanism.array(Form::StrangenessFree, false);
        let layout = array.layout().clone();
        let (n, m) = (layout.dim(), layout.rows());
        let mut rows = vec![0.0; m];
        array.evaluate(at.t, &at.x, &mut rows).map_err(|_| StepFailure::Undefined { t: at.t })?;
        Ok(Underlying {
            autonomous: mechanism.structure().autonomous,
            residuals: layout.residuals(&rows),
            F: array.new_jacobian(),
            in_time: vec![0.0; m],
            then: vec![0.0; m],
            here: vec![0.0; n],
            moved: vec![0.0; n],
            x: vec![0.0; n],
            array,
            layout,
            rows,
        })
    }

    /// Rows that are differentiated: (row, row of the array).
    fn differentiated(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let l = &self.layout;
        let rows = l.a().chain(l.w()).chain(l.lambda()).chain(l.mu()).chain(l.s());
        rows.zip(l.row_dynamics().chain(l.row_auxiliary()).chain(l.row_g2()).chain(l.row_h1()).chain(l.row_contact()))
    }

    /// Rows x' − k: (row, row of the array).
    fn stated(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let l = &self.layout;
        let rows = l.r().chain(l.v()).chain(l.p());
        rows.zip(l.row_dynamic().chain(l.row_acceleration()).chain(l.row_kinematics()))
    }

    /// k, F and ∂k/∂t.
    fn evaluate(&mut self, t: f64, x: &[f64]) -> Result<(), Undefined> {
        if !self.autonomous {
            // (8 (k₁ − k₋₁) − (k₂ − k₋₂))/12δ
            let delta = TIME_STEP * t.abs().max(1.0);
            self.in_time.fill(0.0);
            for (steps, factor) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
                self.array.evaluate(t + steps * delta, x, &mut self.then)?;
                for (d, then) in self.in_time.iter_mut().zip(&self.then) {
                    *d += factor / (12.0 * delta) * then;
                }
            }
        }
        self.array.evaluate(t, x, &mut self.rows)?;
        self.array.jacobian(t, x, &self.rows, &mut self.F)
    }
}

impl Dae for Underlying<'_> {
    fn dim(&self) -> usize {
        self.layout.dim()
    }

    fn new_pencil(&self) -> Pencil {
        let n = self.dim();
        // A is differenced column by column
        Pencil::dense(n, n)
    }

    fn algebraic(&self, _: usize) -> bool {
        false
    }

    fn quasilinear(&self) -> bool {
        true
    }

    fn residual(&mut self, _: usize, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        self.evaluate(t, x)?;
        for (row, from) in self.differentiated() {
            r[row] = self.in_time[from] - self.F.row_times(from, xdot);
        }
        for (row, from) in self.stated() {
            r[row] = xdot[row] - self.rows[from];
        }
        Ok(())
    }

    fn pencil(&mut self, t: f64, x: &[f64], xdot: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        let undefined = |_| StepFailure::Undefined { t };
        let Pencil { E, A } = out;
        let (mut here, mut moved) = (std::mem::take(&mut self.here), std::mem::take(&mut self.moved));
        let mut point = std::mem::take(&mut self.x);
        let mut outcome = self.residual(0, t, x, xdot, &mut here).map_err(undefined);
        if outcome.is_ok() {
            E.clear();
            for (row, from) in self.differentiated() {
                E.add_row(row, -1.0, &self.F, from);
            }
            self.stated().for_each(|(row, _)| E.put((row, row), 1.0));
            point.copy_from_slice(x);
            for j in 0..x.len() {
                let mut delta = f64::EPSILON.sqrt() * x[j].abs().max(1.0);
                point[j] = x[j] + delta;
                if self.residual(0, t, &point, xdot, &mut moved).is_err() {
                    // the model may have no value on this side
                    delta = -delta;
                    point[j] = x[j] + delta;
                    outcome = outcome.and(self.residual(0, t, &point, xdot, &mut moved).map_err(undefined));
                }
                A.put_columns(&[j], |i, _| (here[i] - moved[i]) / delta);
                point[j] = x[j];
            }
        }
        (self.here, self.moved, self.x) = (here, moved, point);
        outcome
    }

    fn accepted(&mut self, _: usize, t: f64, x: &mut [f64], _: &[f64]) -> Result<(), StepFailure> {
        self.array.evaluate(t, x, &mut self.rows).map_err(|_| StepFailure::Undefined { t })?;
        self.residuals = self.layout.residuals(&self.rows);
        Ok(())
    }

    fn residuals(&self) -> Residuals {
        self.residuals
    }

    fn in_error_norm(&self, unknown: usize) -> bool {
        // accelerations are bookkeeping
        unknown >= self.layout.a().end
    }
}
