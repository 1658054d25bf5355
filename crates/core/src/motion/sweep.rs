//! The rows of an [`EquationsOfMotion`], with Jacobians from [`Dual`] numbers, several columns at a time.

use super::eliminated::{ArrayRows, Eliminated, eliminates};
use super::hidden::{MatrixSource, Workspace};
use super::{EquationsOfMotion, Form, Formulas, Layout, ReducedArray, Structure, Undefined};
use crate::linalg::{Jacobian, JacobianRef, Matrix};
use crate::scalar::Dual;

/// Directions at a time. With eight, models of seven positions need one sweep instead of two, but nested derivatives take
/// several times as long to compile, for no gain in speed; with two, larger models are slower.
const W: usize = 4;

/// The array of a system.
pub(super) fn array<'m, E: EquationsOfMotion>(
    equations: &'m E,
    form: Form,
    with_invariants: bool,
) -> Box<dyn ReducedArray + 'm> {
    let layout = Layout::new(equations.sizes(), form, with_invariants);
    let structure = Structure::of(equations);
    let (eliminated, diagonal) = (eliminates(structure), structure.mass.is_diagonal());
    Box::new(Eliminated::new(Sweeps::new(equations, layout.clone(), structure), layout, eliminated, diagonal))
}

struct Sweeps<'m, E> {
    equations: &'m E,
    layout: Layout,
    structure: Structure,
    M: Matrix,
    mass_known: bool,
    /// holonomic constraints whose hidden ones are 0 = 0
    implied: Vec<usize>,
    /// columns of v, r, w and, where forces depend on them, λ, μ and a
    motion_columns: Vec<usize>,
    values: Workspace<f64, W>,
    derivatives: Workspace<Dual<f64, W>, W>,
    x: Vec<Dual<f64, W>>,
    rows: Vec<Dual<f64, W>>,
    mass_evaluations: u64,
}

impl<'m, E: EquationsOfMotion> Sweeps<'m, E> {
    fn new(equations: &'m E, layout: Layout, structure: Structure) -> Self {
        let mut motion_columns: Vec<usize> = layout.v().chain(layout.r()).chain(layout.w()).collect();
        if structure.multipliers_in_forces || structure.constraint_force_by_hand || structure.acceleration_level_by_hand
        {
            motion_columns.extend(layout.lambda().chain(layout.mu()));
        }
        if structure.acceleration_level_by_hand {
            motion_columns.extend(layout.a());
        }
        Sweeps {
            equations,
            structure,
            M: Matrix::zeros(layout.a().len(), layout.a().len()),
            mass_known: false,
            implied: if structure.kinematics.is_plain() { Vec::new() } else { Formulas::trace(equations).implied() },
            motion_columns,
            values: Workspace::new(&layout),
            derivatives: Workspace::new(&layout),
            x: vec![Dual::from(0.0); layout.dim()],
            rows: vec![Dual::from(0.0); layout.rows()],
            layout,
            mass_evaluations: 0,
        }
    }

    /// M at (t, x); a constant mass matrix is evaluated once.
    fn know_mass(&mut self, t: f64, x: &[f64]) {
        if !self.mass_known {
            self.M.fill(0.0);
            let at = super::Position { t, p: &x[self.layout.p()], s: &x[self.layout.s()] };
            self.equations.mass(&at, &mut self.M);
            self.mass_known = self.structure.mass.is_constant();
            self.mass_evaluations += 1;
        }
    }

    /// GZ, gI and gII of constraints that the kinematics imply are zero: what is computed is rounding.
    fn clear_implied(&mut self, rows: &mut [f64]) {
        for &k in &self.implied {
            self.values.level.GZ.row_mut(k).fill(0.0);
            for level in [self.layout.row_g1(), self.layout.row_g2()] {
                if let Some(row) = rows.get_mut(level).and_then(|level| level.get_mut(k)) {
                    *row = 0.0;
                }
            }
        }
    }

    /// Columns of −∂k/∂x, W at a time.
    fn sweep(&mut self, t: f64, x: &[f64], columns: &[usize], position: bool, F: &mut Jacobian) {
        for chunk in columns.chunks(W) {
            for (dual, &value) in self.x.iter_mut().zip(x) {
                *dual = Dual::constant(value);
            }
            for (lane, &j) in chunk.iter().enumerate() {
                self.x[j] = Dual::variable(x[j], lane);
            }
            let matrices = match (position, self.mass_known) {
                (false, _) => MatrixSource::Given([&self.M, &self.values.level.GZ, &self.values.level.HZ]),
                (true, true) => MatrixSource::ConstantMass(&self.M),
                (true, false) => MatrixSource::Evaluate,
            };
            self.derivatives.rows(
                self.equations,
                &self.layout,
                self.structure.mass,
                matrices,
                Dual::constant(t),
                &self.x,
                &mut self.rows,
            );
            F.put_columns(chunk, |i, lane| -self.rows[i].lanes[lane]);
        }
    }
}

impl<E: EquationsOfMotion> ArrayRows for Sweeps<'_, E> {
    fn evaluate(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined> {
        let matrices = if self.structure.mass.is_constant() {
            self.know_mass(t, x);
            MatrixSource::ConstantMass(&self.M)
        } else {
            self.mass_evaluations += 1;
            MatrixSource::Evaluate
        };
        self.values.rows(self.equations, &self.layout, self.structure.mass, matrices, t, x, rows);
        self.clear_implied(rows);
        Ok(())
    }

    fn jacobian(&mut self, t: f64, x: &[f64], F: &mut Jacobian) -> Result<(), Undefined> {
        // M, GZ, HZ: the columns of a, λ, μ
        self.know_mass(t, x);
        self.values.constraint_matrices_at(self.equations, &self.layout, t, x);
        self.clear_implied(&mut []);
        let (a, lambda, mu) = (self.layout.a(), self.layout.lambda(), self.layout.mu());
        let n = a.len();
        for i in 0..n {
            a.clone().zip(self.M.row(i)).for_each(|(j, m)| F.put((i, j), -m));
            F.put((self.layout.row_acceleration().start + i, a.start + i), -1.0);
        }
        let level = &self.values.level;
        for (matrix, column, row) in
            [(&level.GZ, lambda.start, self.layout.row_g2()), (&level.HZ, mu.start, self.layout.row_h1())]
        {
            for k in 0..matrix.rows() {
                for j in 0..n {
                    F.put((j, column + k), -matrix[(k, j)]);
                    if !row.is_empty() {
                        F.put((row.start + k, a.start + j), -matrix[(k, j)]);
                    }
                }
            }
        }
        // the rest in sweeps, which overwrite columns of a, λ, μ where forces depend on them
        let columns = std::mem::take(&mut self.motion_columns);
        self.sweep(t, x, &columns, false, F);
        self.motion_columns = columns;
        let (first, end) = (self.layout.s().start, self.layout.p().end);
        for start in (first..end).step_by(W) {
            let mut chunk = [0; W];
            let width = W.min(end - start);
            for (k, j) in chunk.iter_mut().enumerate() {
                *j = start + k;
            }
            self.sweep(t, x, &chunk[..width], true, F);
        }
        for &k in &self.implied {
            for level in [self.layout.row_g1(), self.layout.row_g2()] {
                level.skip(k).take(1).for_each(|row| F.clear_row(row));
            }
        }
        Ok(())
    }

    fn evaluate_matrices(&mut self, t: f64, x: &[f64]) -> Result<(), Undefined> {
        self.know_mass(t, x);
        self.values.constraint_matrices_at(self.equations, &self.layout, t, x);
        self.clear_implied(&mut []);
        Ok(())
    }

    fn at_rest(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined> {
        self.know_mass(t, x);
        self.values.at_rest(self.equations, &self.layout, self.structure.autonomous, t, x, rows);
        self.clear_implied(rows);
        Ok(())
    }

    fn forces(&mut self, t: f64, x: &[f64], hidden: bool, rows: &mut [f64]) -> Result<(), Undefined> {
        self.values.forces(self.equations, &self.layout, hidden, t, x, rows);
        self.clear_implied(rows);
        Ok(())
    }

    fn matrices(&self) -> [JacobianRef<'_>; 3] {
        [&self.M, &self.values.level.GZ, &self.values.level.HZ].map(Jacobian::Dense)
    }

    fn mass_evaluations(&self) -> u64 {
        self.mass_evaluations
    }
}
