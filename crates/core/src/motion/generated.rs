//! The reduced derivative array of an [`EquationsOfMotion`], with Jacobians from [`Dual`] numbers.
//!
//! Where the mass matrix is constant and regular, the accelerations are eliminated: with ρ = M a − f + … the rows gII, hI and v' are
//! taken at a − M⁻¹ρ instead of a, which is the original form of GEOMS. They are affine in a, so that this is the row operation
//! gII − GZ M⁻¹ρ, on values and on Jacobians.

use super::array::finite;
use super::hidden::{Matrices, PositionLevel, Workspace};
use super::{EquationsOfMotion, Form, Layout, ReducedArray, Structure, Undefined};
use crate::linalg::{Lu, Matrix};
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
    Box::new(Generated::new(equations, form, with_invariants))
}

struct Generated<'m, E> {
    equations: &'m E,
    layout: Layout,
    structure: Structure,
    /// M, if constant, with GZ and HZ of the last Jacobian
    level: PositionLevel<f64>,
    mass_known: bool,
    /// a constant regular M, to solve with
    inverse: Option<Inverse>,
    y: Vec<f64>,
    invariants: Vec<f64>,
    /// columns of v, r, w and, where forces depend on them, λ, μ and a
    motion_columns: Vec<usize>,
    values: Workspace<f64, W>,
    derivatives: Workspace<Dual<f64, W>, W>,
    x: Vec<Dual<f64, W>>,
    rows: Vec<Dual<f64, W>>,
    mass_evaluations: u64,
}

/// M⁻¹ of a constant mass matrix.
enum Inverse {
    Diagonal(Vec<f64>),
    Full(Lu<f64>),
}

impl Inverse {
    /// `None` if M is singular.
    fn of(M: &Matrix, diagonal: bool) -> Option<Self> {
        if diagonal {
            let inverse: Vec<f64> = (0..M.rows()).map(|i| 1.0 / M[(i, i)]).collect();
            return inverse.iter().all(|x| x.is_finite()).then_some(Inverse::Diagonal(inverse));
        }
        let mut lu = Lu::new(M.rows());
        lu.A = M.clone();
        lu.factor().is_ok().then_some(Inverse::Full(lu))
    }

    /// y ← M⁻¹ y.
    #[inline]
    fn solve(&self, y: &mut [f64]) {
        match self {
            Inverse::Diagonal(inverse) => y.iter_mut().zip(inverse).for_each(|(y, m)| *y *= m),
            Inverse::Full(lu) => lu.solve(y),
        }
    }
}

impl<'m, E: EquationsOfMotion> Generated<'m, E> {
    fn new(equations: &'m E, form: Form, with_invariants: bool) -> Self {
        let layout = Layout::new(equations.sizes(), form, with_invariants);
        let structure = Structure::of(equations);
        let mut motion_columns: Vec<usize> = layout.v().chain(layout.r()).chain(layout.w()).collect();
        if structure.multipliers_in_forces || structure.constraint_force_by_hand || structure.acceleration_level_by_hand
        {
            motion_columns.extend(layout.lambda().chain(layout.mu()));
        }
        if structure.acceleration_level_by_hand {
            motion_columns.extend(layout.a());
        }
        Generated {
            equations,
            structure,
            level: PositionLevel::new(&layout),
            mass_known: false,
            inverse: None,
            y: vec![0.0; layout.a().len()],
            invariants: vec![0.0; layout.row_invariants().len()],
            motion_columns,
            values: Workspace::new(&layout),
            derivatives: Workspace::new(&layout),
            x: vec![Dual::from(0.0); layout.dim()],
            rows: vec![Dual::from(0.0); layout.rows()],
            layout,
            mass_evaluations: 0,
        }
    }

    /// A constant mass matrix is evaluated once.
    fn know_constant_mass(&mut self, t: f64, x: &[f64]) {
        if !self.mass_known && self.structure.mass.is_constant() {
            let (p, s) = (&x[self.layout.p()], &x[self.layout.s()]);
            self.equations.mass(&super::Position { t, p, s }, &mut self.level.M);
            self.mass_known = true;
            self.mass_evaluations += 1;
            if !self.structure.constraint_force_by_hand && !self.structure.acceleration_level_by_hand {
                self.inverse = Inverse::of(&self.level.M, self.structure.mass.is_diagonal());
            }
        }
    }

    /// Rows gII, hI and v' at a − M⁻¹ρ, with GZ and HZ of the same point.
    fn eliminate_accelerations(&mut self, rows: &mut [f64]) {
        let Some(inverse) = &self.inverse else { return };
        self.y.copy_from_slice(&rows[self.layout.row_dynamics()]);
        inverse.solve(&mut self.y);
        for (row, y) in rows[self.layout.row_acceleration()].iter_mut().zip(&self.y) {
            *row -= y;
        }
        if self.layout.form == Form::StrangenessFree {
            let level = &self.values.level;
            for (matrix, range) in [(&level.GZ, self.layout.row_g2()), (&level.HZ, self.layout.row_h1())] {
                for (k, row) in rows[range].iter_mut().enumerate() {
                    *row -= matrix.row(k).iter().zip(&self.y).map(|(m, y)| m * y).sum::<f64>();
                }
            }
        }
    }

    /// The same for the Jacobian, column by column, with GZ and HZ of [`Generated::level`].
    fn eliminate_acceleration_columns(&mut self, F: &mut Matrix) {
        let Some(inverse) = &self.inverse else { return };
        let (dynamics, acceleration) = (self.layout.row_dynamics(), self.layout.row_acceleration());
        for j in 0..F.cols() {
            for (y, i) in self.y.iter_mut().zip(dynamics.clone()) {
                *y = F[(i, j)];
            }
            if self.y.iter().all(|&y| y == 0.0) {
                continue;
            }
            inverse.solve(&mut self.y);
            for (i, y) in acceleration.clone().zip(&self.y) {
                F[(i, j)] -= y;
            }
            if self.layout.form == Form::StrangenessFree {
                for (matrix, range) in [(&self.level.GZ, self.layout.row_g2()), (&self.level.HZ, self.layout.row_h1())]
                {
                    for (k, i) in range.enumerate() {
                        F[(i, j)] -= matrix.row(k).iter().zip(&self.y).map(|(m, y)| m * y).sum::<f64>();
                    }
                }
            }
        }
    }

    /// Columns of −∂k/∂x, W at a time.
    fn sweep(&mut self, t: f64, x: &[f64], columns: &[usize], position: bool, F: &mut Matrix) {
        for chunk in columns.chunks(W) {
            for (dual, &value) in self.x.iter_mut().zip(x) {
                *dual = Dual::constant(value);
            }
            for (lane, &j) in chunk.iter().enumerate() {
                self.x[j] = Dual::variable(x[j], lane);
            }
            let matrices = match (position, self.mass_known) {
                (false, _) => Matrices::Given(&self.level),
                (true, true) => Matrices::ConstantMass(&self.level.M),
                (true, false) => Matrices::Evaluate,
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
            for (i, row) in self.rows.iter().enumerate() {
                for (lane, &j) in chunk.iter().enumerate() {
                    F[(i, j)] = -row.lanes[lane];
                }
            }
        }
    }
}

impl<E: EquationsOfMotion> ReducedArray for Generated<'_, E> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn evaluate(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined> {
        self.know_constant_mass(t, x);
        let matrices = if self.mass_known {
            Matrices::ConstantMass(&self.level.M)
        } else {
            self.mass_evaluations += 1;
            Matrices::Evaluate
        };
        self.values.rows(self.equations, &self.layout, self.structure.mass, matrices, t, x, rows);
        for (row, e) in rows[self.layout.row_invariants()].iter_mut().zip(&self.invariants) {
            *row -= e;
        }
        self.eliminate_accelerations(rows);
        finite(rows)
    }

    fn jacobian(&mut self, t: f64, x: &[f64], _rows: &[f64], F: &mut Matrix) -> Result<(), Undefined> {
        F.fill(0.0);
        self.know_constant_mass(t, x);
        // M, GZ, HZ: the columns of a, λ, μ
        if !self.mass_known {
            self.level.M.fill(0.0);
            let at = super::Position { t, p: &x[self.layout.p()], s: &x[self.layout.s()] };
            self.equations.mass(&at, &mut self.level.M);
            self.mass_evaluations += 1;
        }
        self.values.constraint_matrices_at(self.equations, &self.layout, t, x);
        std::mem::swap(&mut self.level.GZ, &mut self.values.level.GZ);
        std::mem::swap(&mut self.level.HZ, &mut self.values.level.HZ);
        let (a, lambda, mu) = (self.layout.a(), self.layout.lambda(), self.layout.mu());
        let n = a.len();
        for i in 0..n {
            F.row_mut(i)[a.clone()].iter_mut().zip(self.level.M.row(i)).for_each(|(f, m)| *f = -m);
            F[(self.layout.row_acceleration().start + i, a.start + i)] = -1.0;
        }
        for (matrix, column, row) in
            [(&self.level.GZ, lambda.start, self.layout.row_g2()), (&self.level.HZ, mu.start, self.layout.row_h1())]
        {
            for k in 0..matrix.rows() {
                for j in 0..n {
                    F[(j, column + k)] = -matrix[(k, j)];
                    if !row.is_empty() {
                        F[(row.start + k, a.start + j)] = -matrix[(k, j)];
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
        self.eliminate_acceleration_columns(F);
        finite(F.data())
    }

    fn set_invariants(&mut self, at: &[f64]) {
        self.invariants.copy_from_slice(at);
    }

    fn mass_evaluations(&self) -> u64 {
        self.mass_evaluations
    }
}
