//! A formulation of one's own: constraints on velocity level whose errors on position level decay, gI + α g = 0.
//! `cargo run -p daedal --example decaying_constraints`

use daedal::dae::{Dae, Pencil};
use daedal::formulation::Row;
use daedal::linalg::Jacobian;
use daedal::method::{StartFailure, State};
use daedal::motion::{Form, Layout, Mechanism, ReducedArray, Undefined};
use daedal::prelude::*;
use daedal::{Residuals, StepFailure};

/// α: errors of the positions decay like exp(−α t).
const DECAY: f64 = 10.0;

/// Its row: what `Formulation::Other` takes.
pub const ROW: Row = Row { name: "decaying", system: |mechanism, at| Ok(Box::new(Decaying::new(mechanism, at)?)) };

/// The system. Its unknowns are those of [`Layout`], and each row stands where the unknown stands that follows from it.
struct Decaying<'p> {
    array: Box<dyn ReducedArray + 'p>,
    layout: Layout,
    /// all rows of the reduced derivative array, and −∂/∂x of them
    rows: Vec<f64>,
    F: Jacobian,
    residuals: Residuals,
}

impl<'p> Decaying<'p> {
    fn new(mechanism: &'p dyn Mechanism, at: &State) -> Result<Self, StartFailure> {
        let mut array = mechanism.array(Form::StrangenessFree, false);
        let layout = array.layout().clone();
        let mut rows = vec![0.0; layout.rows()];
        array.evaluate(at.t, &at.x, &mut rows).map_err(|_| StepFailure::Undefined { t: at.t })?;
        Ok(Decaying { F: array.new_jacobian(), residuals: layout.residuals(&rows), array, layout, rows })
    }

    /// Which rows of the array make up the constraints: (row, row of the array, factor).
    fn constraints(&self) -> impl Iterator<Item = (usize, usize, f64)> + use<> {
        let l = &self.layout;
        let own = l.row_dynamics().chain(l.row_auxiliary()).map(|i| (i, i, 1.0));
        let velocity = l.lambda().zip(l.row_g1()).map(|(row, from)| (row, from, 1.0));
        let position = l.lambda().zip(l.row_g()).map(|(row, from)| (row, from, DECAY));
        let others = l.mu().zip(l.row_h()).chain(l.s().zip(l.row_contact())).map(|(row, from)| (row, from, 1.0));
        own.chain(velocity).chain(position).chain(others)
    }

    /// r' = b, v' = a, p' = Zv: (row, row of the array).
    fn rates(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let l = &self.layout;
        let rates = l.row_dynamic().chain(l.row_acceleration()).chain(l.row_kinematics());
        l.r().chain(l.v()).chain(l.p()).zip(rates)
    }
}

impl Dae for Decaying<'_> {
    fn dim(&self) -> usize {
        self.layout.dim()
    }

    fn new_pencil(&self) -> Pencil {
        Pencil::dense(self.dim(), self.dim())
    }

    fn algebraic(&self, row: usize) -> bool {
        self.rates().all(|(rate, _)| rate != row)
    }

    fn quasilinear(&self) -> bool {
        true
    }

    fn residual(&mut self, _: usize, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        self.array.evaluate(t, x, &mut self.rows)?;
        r.fill(0.0);
        self.constraints().for_each(|(row, from, factor)| r[row] += factor * self.rows[from]);
        self.rates().for_each(|(row, from)| r[row] = xdot[row] - self.rows[from]);
        Ok(())
    }

    fn pencil(&mut self, t: f64, x: &[f64], _: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        let undefined = |_| StepFailure::Undefined { t };
        self.array.evaluate(t, x, &mut self.rows).map_err(undefined)?;
        self.array.jacobian(t, x, &self.rows, &mut self.F).map_err(undefined)?;
        out.clear();
        for (row, from, factor) in self.constraints() {
            out.A.add_row(row, factor, &self.F, from);
        }
        for (row, from) in self.rates() {
            out.E.put((row, row), 1.0);
            out.A.add_row(row, -1.0, &self.F, from);
        }
        Ok(())
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
        !self.layout.a().contains(&unknown)
    }

    fn index(&self, unknown: usize) -> u8 {
        if unknown < self.layout.mu().end { 2 } else { 1 }
    }

    fn recovered(&self, unknown: usize) -> bool {
        self.layout.lambda().contains(&unknown) || self.layout.mu().contains(&unknown)
    }
}

/// A point mass on a rod.
struct Pendulum;

impl EquationsOfMotion for Pendulum {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        (M[(0, 0)], M[(1, 1)]) = (S::from(1.0), S::from(1.0));
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[1] = S::from(-9.81);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0].square() + at.p[1].square() - 1.0;
    }
}

/// The pendulum on a formulation, for ten periods or so.
pub fn run(formulation: Formulation) -> Result<Solution, SolveError> {
    let problem = Problem::new(&Pendulum, Initial::motion(0.0, &[-1.0, 0.0], &[0.0, 0.0]), 20.0);
    let method = Formulated { formulation, integrator: RadauIIa::default() };
    solve(&problem, &method, &Options { tolerance: Tolerance::new(1e-6, 1e-6), ..Options::default() })
}

fn main() -> Result<(), SolveError> {
    for formulation in [Formulation::Eom1, Formulation::Other(ROW)] {
        let solution = run(formulation)?;
        println!("{}: g = {:.1e}", formulation.name(), solution.max_residuals.position.unwrap_or(0.0));
    }
    Ok(())
}
