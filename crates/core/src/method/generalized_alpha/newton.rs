//! The equations of a step, by simplified Newton iterations to rounding.
//!
//! With aₙ₊₁ ← aₙ₊₁ + δ and η = βh η̂ the unknowns move by v' ← v' + (1−α_m)/(1−α_f) δ, v ← v + γh δ, u ← u + βh² (δ − (GZ)(pₙ)ᵀ δη̂), u = hΔq,
//! p by P δu. Constraint rows are divided by βh² on position and by γh on velocity level: then all blocks of
//!
//! ```text
//! [ (1−α_m)/(1−α_f) M + γh C + βh² K P   (GZ)ᵀ ]      C = −∂f/∂v,  K = ∂(Mv' − f + (GZ)ᵀλ)/∂p
//! [ G P                                  0     ]
//! ```
//! (index 3) keep their size as h → 0. Bottasso, Bauchau & Cardona (2007). The matrix is kept while the iteration converges fast.

use super::lie_group::KinematicFlow;
use super::{AlphaForm, Parameters};
use crate::linalg::{Jacobian, Lu, Matrix};
use crate::method::structural::{Step, StructuralEquations, Trouble};
use crate::motion::Undefined;

/// Most iterations with one matrix.
const MOST: u32 = 25;
/// Most new matrices in a step besides the first.
const RENEWALS: u32 = 8;
/// Corrections of this size that do not become smaller are rounding.
const ROUNDING: f64 = 1e-12;
/// Convergence slower than this asks for a new matrix.
const SLOW: f64 = 0.2;

/// Where a step begins.
pub(super) struct Old {
    /// aₙ
    pub a: Vec<f64>,
    /// vₙ, perturbed at the start
    pub v: Vec<f64>,
    /// GZ at pₙ
    GZ: Matrix,
    /// b at tₙ
    b: Vec<f64>,
}

impl Old {
    pub fn new(equations: &StructuralEquations) -> Self {
        let l = equations.layout();
        let n = l.v().len();
        Old { a: vec![0.0; n], v: vec![0.0; n], GZ: Matrix::zeros(l.lambda().len(), n), b: vec![0.0; l.r().len()] }
    }

    /// All but aₙ from the point x; GZ only in the stabilised form.
    pub fn take(
        &mut self,
        equations: &mut StructuralEquations,
        form: AlphaForm,
        t: f64,
        x: &[f64],
    ) -> Result<(), Undefined> {
        if form == AlphaForm::Stabilised {
            equations.at_position(t, x)?;
            self.GZ.fill(0.0);
            for k in 0..self.GZ.rows() {
                equations.K.row(k).for_each(|(j, entry)| self.GZ[(k, j)] = entry);
            }
        }
        self.v.copy_from_slice(&x[equations.layout().v()]);
        if !self.b.is_empty() {
            equations.forces(t, x)?;
            self.b.copy_from_slice(equations.dynamic());
        }
        Ok(())
    }
}

/// A row of the array that is an equation of the step, and what it is divided by.
#[derive(Clone, Copy)]
struct StepRow {
    row: usize,
    level: RowLevel,
}

#[derive(Clone, Copy, PartialEq)]
enum RowLevel {
    Dynamics,
    /// the state r of that number
    Dynamic(usize),
    Velocity,
    Position,
}

/// Matrix and scratch space.
pub(super) struct Newton {
    rows: Vec<StepRow>,
    lu: Lu<f64>,
    /// step size that the factors belong to
    factored: Option<f64>,
    F: Jacobian,
    /// one of its rows
    row: Vec<f64>,
    P: Matrix,
    /// derivatives of one row by u
    by_u: Vec<f64>,
    correction: Vec<f64>,
    u: Vec<f64>,
    /// number of multipliers η
    stabilised: usize,
}

impl Newton {
    pub fn new(equations: &StructuralEquations, form: AlphaForm) -> Self {
        let l = equations.layout();
        let stabilised = if form == AlphaForm::Stabilised { l.row_g().len() } else { 0 };
        let all = |range: std::ops::Range<usize>, level: RowLevel| range.map(move |row| StepRow { row, level });
        let mut rows: Vec<StepRow> = all(l.row_dynamics(), RowLevel::Dynamics).collect();
        rows.extend(l.row_dynamic().enumerate().map(|(k, row)| StepRow { row, level: RowLevel::Dynamic(k) }));
        rows.extend(all(l.row_g(), RowLevel::Position));
        rows.extend(all(l.row_h(), RowLevel::Velocity));
        rows.extend(all(l.row_g1(), RowLevel::Velocity).take(stabilised));
        let n = rows.len();
        Newton {
            rows,
            lu: Lu::new(n),
            factored: None,
            F: equations.new_jacobian(),
            row: vec![0.0; l.dim()],
            P: Matrix::zeros(l.p().len(), l.v().len()),
            by_u: vec![0.0; l.v().len()],
            correction: vec![0.0; n],
            u: vec![0.0; l.v().len()],
            stabilised,
        }
    }

    /// The matrix does not belong to what follows.
    pub fn forget(&mut self) {
        self.factored = None;
    }

    /// Solve for x₁, which holds the old point before, and aₙ₊₁.
    pub fn solve(
        &mut self,
        equations: &mut StructuralEquations,
        parameters: Parameters,
        (flow, old, step): (&mut KinematicFlow, &Old, Step),
        a1: &mut [f64],
        x1: &mut [f64],
    ) -> Result<(), Trouble> {
        let l = equations.layout().clone();
        let Parameters { alpha_m, alpha_f, beta, gamma } = parameters;
        let (h, t1) = (step.h, step.t1);
        // v' and the multipliers as before
        for (i, a1) in a1.iter_mut().enumerate() {
            let v_dot = step.x[l.a().start + i];
            *a1 = (v_dot - alpha_m * old.a[i]) / (1.0 - alpha_m);
            x1[l.v().start + i] = old.v[i] + h * ((1.0 - gamma) * old.a[i] + gamma * *a1);
            self.u[i] = h * (old.v[i] + h * ((0.5 - beta) * old.a[i] + beta * *a1));
        }
        for (j, b) in l.r().zip(&old.b) {
            x1[j] = step.x[j] + h * b;
        }
        let size = |x: &[f64]| x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let scale = size(&step.x[l.p()]) + h * (size(&old.v) + h * size(&old.a)) + f64::MIN_POSITIVE;
        let scale_r = size(&step.x[l.r()]) + h * size(&old.b) + f64::MIN_POSITIVE;
        let (mut last, mut with_matrix, mut renewals) = (f64::INFINITY, 0, 0);
        loop {
            x1[l.p()].copy_from_slice(&step.x[l.p()]);
            flow.apply(equations, (step.t, h), &self.u, &mut x1[l.p()])?;
            if self.factored != Some(h) {
                self.factor(equations, parameters, (t1, h), (&mut *flow, old, step), x1)?;
                (last, with_matrix) = (f64::INFINITY, 0);
            }
            self.residuals(equations, parameters, (t1, h), (old, step), x1)?;
            self.lu.solve(&mut self.correction);
            equations.statistics.solves += 1;
            // apply the correction
            let multipliers = l.lambda().len() + l.mu().len();
            let (n, states) = (l.v().len(), l.r().len());
            let (delta, rest) = self.correction.split_at(n);
            let (by_r, rest) = rest.split_at(states);
            let (by_lambda, by_eta) = rest.split_at(multipliers);
            let mut moved = 0.0_f64;
            for (i, d) in delta.iter().enumerate() {
                a1[i] += d;
                x1[l.a().start + i] += (1.0 - alpha_m) / (1.0 - alpha_f) * d;
                x1[l.v().start + i] += gamma * h * d;
                let relaxed: f64 = by_eta.iter().enumerate().map(|(k, e)| old.GZ[(k, i)] * e).sum();
                self.u[i] += beta * h * h * (d - relaxed);
                moved = moved.max((beta * h * h * (d - relaxed)).abs()).max((beta * h * h * d).abs());
            }
            moved /= scale;
            for (j, d) in l.r().zip(by_r) {
                x1[j] += d;
                moved = moved.max(d.abs() / scale_r);
            }
            for (j, d) in (l.lambda().start..l.mu().end).zip(by_lambda) {
                x1[j] += d;
            }
            // the next correction would be smaller by the same ratio
            let ratio = moved / last;
            if !moved.is_finite() {
                return Err(Trouble::Diverged);
            }
            if moved * (if with_matrix == 0 { 1.0 } else { ratio }) < f64::EPSILON {
                break;
            }
            if with_matrix > 0 && (ratio > SLOW || with_matrix > MOST) {
                if ratio > 0.5 && moved < ROUNDING {
                    break;
                }
                if renewals >= RENEWALS {
                    return Err(Trouble::Diverged);
                }
                renewals += 1;
                self.factored = None;
            }
            last = moved;
            with_matrix += 1;
        }
        x1[l.p()].copy_from_slice(&step.x[l.p()]);
        flow.apply(equations, (step.t, h), &self.u, &mut x1[l.p()])?;
        Ok(())
    }

    /// Minus the residuals of all equations at x₁, divided as the rows of the matrix.
    fn residuals(
        &mut self,
        equations: &mut StructuralEquations,
        parameters: Parameters,
        (t1, h): (f64, f64),
        (old, step): (&Old, Step),
        x1: &[f64],
    ) -> Result<(), Trouble> {
        let r = equations.layout().r().start;
        let values = equations.rows(t1, x1)?;
        for (c, equation) in self.correction.iter_mut().zip(&self.rows) {
            let value = values[equation.row];
            *c = match equation.level {
                RowLevel::Dynamics => -value,
                RowLevel::Dynamic(k) => step.x[r + k] + 0.5 * h * (old.b[k] + value) - x1[r + k],
                RowLevel::Velocity => -value / (parameters.gamma * h),
                RowLevel::Position => -value / (parameters.beta * h * h),
            };
        }
        Ok(())
    }

    /// The matrix at x₁.
    fn factor(
        &mut self,
        equations: &mut StructuralEquations,
        parameters: Parameters,
        (t1, h): (f64, f64),
        (flow, old, step): (&mut KinematicFlow, &Old, Step),
        x1: &[f64],
    ) -> Result<(), Trouble> {
        let Parameters { alpha_m, alpha_f, beta, gamma } = parameters;
        equations.jacobian(t1, x1, &mut self.F)?;
        let l = equations.layout();
        flow.tangent(equations, &self.u, &step.x[l.p()], &self.F, &mut self.P);
        let n = l.v().len();
        let inner = (1.0 - alpha_m) / (1.0 - alpha_f);
        for (i, equation) in self.rows.iter().enumerate() {
            let derivatives = self.F.dense_row(equation.row, &mut self.row);
            let divisor = match equation.level {
                RowLevel::Dynamics => -1.0,
                RowLevel::Dynamic(_) => 2.0 / h,
                RowLevel::Velocity => -gamma * h,
                RowLevel::Position => -beta * h * h,
            };
            self.by_u.fill(0.0);
            for (k, d) in derivatives[l.p()].iter().enumerate() {
                if *d != 0.0 {
                    self.by_u.iter_mut().zip(self.P.row(k)).for_each(|(sum, P)| *sum += d * P);
                }
            }
            let row = self.lu.A.row_mut(i);
            for j in 0..n {
                let (by_a, by_v) = (derivatives[l.a().start + j], derivatives[l.v().start + j]);
                row[j] = (inner * by_a + gamma * h * by_v + beta * h * h * self.by_u[j]) / divisor;
            }
            let others = l.r().chain(l.lambda()).chain(l.mu());
            for (entry, column) in row[n..].iter_mut().zip(others) {
                *entry = derivatives[column] / divisor;
            }
            for k in 0..self.stabilised {
                let along: f64 = old.GZ.row(k).iter().zip(&self.by_u).map(|(g, d)| g * d).sum();
                let column = row.len() - self.stabilised + k;
                row[column] = -beta * h * h * along / divisor;
            }
            if let RowLevel::Dynamic(k) = equation.level {
                row[n + k] += 1.0;
            }
        }
        equations.statistics.decompositions += 1;
        self.lu.factor().map_err(|_| Trouble::Singular)?;
        self.factored = Some(h);
        Ok(())
    }
}
