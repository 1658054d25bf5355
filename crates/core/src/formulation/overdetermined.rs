//! The overdetermined formulation `over`: more equations than unknowns, solved with the further ones exactly.
//!
//! F₁(t, x, ẋ) = 0 is a square system and F₂(t, x) = 0 are the constraints that it hides. The discretised equations contradict each
//! other by the discretisation error, so that F₁ is relaxed: the corrections of ODASSL solve
//!
//! ```text
//! [ ∂F₁  A₂ᵀ ] [ δ ]     [ F₁ ]
//! [ A₂   0   ] [ κ ] = − [ F₂ ],    A₂ = ∂F₂/∂x
//! ```
//!
//! Führer & Leimkuhler, Numer. Math. 59 (1991). They are the Newton corrections of the square system F₁ + A₂ᵀκ = 0, F₂ = 0, which is
//! what stands here, with A₂ as it was at the last pencil. Row i of F₁ is relaxed by column i of A₂, so that the order of the rows
//! matters. With rows D: M (v' − a), K: p' − Zv, L: gII and hI, V: gI and HZv + h, P: g
//!
//! | F₁ | F₂ | relaxed |
//! | --- | --- | --- |
//! | D, K, L | P, V | D by ∂F₂/∂p, K by ∂F₂/∂v |
//! | K, D, L | P, V | K by ∂F₂/∂p, D by ∂F₂/∂v |
//! | K, D, V | P | K by ∂g/∂p |
//! | D, K, V | P | D by ∂g/∂p: λ acts on the same rows in the same way, the matrix is singular |
//!
//! In the first order V relaxes D by ∂gI/∂p ~ v, and the acceleration by M⁻¹ as much: on Andrews' mechanism, with masses of 1e-5 and
//! velocities of 1e3, steps of 1e-8 were the consequence. The second order has no such term of any size, and is the usual one.
//!
//! A row HZv + h has no counterpart on position level, which could correct v in its place: it relaxes D by ∂/∂v and K by ∂/∂p always.
//! Contact variables follow p: ∂/∂p is taken along c = 0, and c is not relaxed. Unknowns are those of [`Layout`] and behind them η with
//! η' = κ: written with η' the system has index one where F₁ has, and only η' enters the equations, so that x does not depend on η.

use super::Relaxed;
use crate::dae::{Dae, Pencil};
use crate::error::StepFailure;
use crate::linalg::rank::{REGULAR, is_regular};
use crate::linalg::{Jacobian, Lu, Mat, Matrix, RankRule};
use crate::method::{StartFailure, State};
use crate::motion::{Form, Layout, Mechanism, ReducedArray, Undefined};
use crate::statistics::Residuals;
use std::ops::Range;

/// The relaxed system at work.
pub(super) struct Overdetermined<'p> {
    relaxed: Relaxed,
    array: Box<dyn ReducedArray + 'p>,
    layout: Layout,
    rows: Vec<f64>,
    F: Jacobian,
    /// M at the last pencil, the unit matrix where D is not relaxed
    M: Matrix,
    /// columns of A₂ beside the rows v' − a and p' − Zv
    beside_v: Matrix,
    beside_p: Matrix,
    /// c_s, and c_s⁻¹ c_p column by column
    contact: Lu<f64>,
    slope: Matrix,
    column: Vec<f64>,
    difference: Vec<f64>,
    residuals: Residuals,
}

impl<'p> Overdetermined<'p> {
    pub fn new(
        relaxed: Relaxed,
        mechanism: &'p (dyn Mechanism + '_),
        at: &State,
        ranks: RankRule,
    ) -> Result<Self, StartFailure> {
        let mut array = mechanism.array(Form::StrangenessFree, false);
        let layout = array.layout().clone();
        let n = layout.sizes;
        if dynamics_first(relaxed) && n.holonomic > 0 && n.positions != n.velocities {
            return Err(refused(format!(
                "the rows of {} velocities are relaxed by derivatives with respect to {} positions; relax kinematics first",
                n.velocities, n.positions
            )));
        }
        let mut rows = vec![0.0; layout.rows()];
        array.evaluate(at.t, &at.x, &mut rows).map_err(|_| StepFailure::Undefined { t: at.t })?;
        let further = further(relaxed, &layout).flatten().count();
        let mut system = Overdetermined {
            relaxed,
            residuals: layout.residuals(&rows),
            F: array.new_jacobian(),
            M: Matrix::zeros(n.velocities, n.velocities),
            beside_v: Matrix::zeros(further, n.velocities),
            beside_p: Matrix::zeros(further, n.positions),
            contact: Lu::new(n.contact),
            slope: Matrix::zeros(n.contact, n.positions),
            column: vec![0.0; n.contact],
            difference: vec![0.0; n.velocities],
            array,
            layout,
            rows,
        };
        (0..n.velocities).for_each(|i| system.M[(i, i)] = 1.0);
        system.check(at, ranks)?;
        Ok(system)
    }

    /// Does the limit of the iteration matrix for small steps have an inverse?
    fn check(&mut self, at: &State, ranks: RankRule) -> Result<(), StartFailure> {
        let mut pencil = self.new_pencil();
        let mut x = at.x.clone();
        x.resize(self.dim(), 0.0);
        self.pencil(at.t, &x, &x, &mut pencil)?;
        let Pencil { E, A } = &pencil;
        let (n, n1) = (self.dim(), self.layout.n1());
        let mut limit = Matrix::zeros(n, n);
        for i in 0..n {
            if !self.algebraic(i) {
                (0..n).for_each(|j| limit[(i, j)] = E[(i, j)]);
                if self.is_index_two() {
                    // h a and h λ stay in the limit
                    (0..n1).for_each(|j| limit[(i, j)] -= A[(i, j)]);
                }
            } else if self.is_index_two() && i < self.layout.w().end {
                (0..n1).for_each(|j| limit[(i, j)] = -A[(i, j)]);
            } else {
                (0..n).for_each(|j| limit[(i, j)] = -A[(i, j)]);
            }
        }
        let limit = Mat::from_fn(n, n, |i, j| limit[(i, j)]);
        if is_regular(&limit, ranks.or(REGULAR)) {
            return Ok(());
        }
        Err(refused(match self.relaxed {
            Relaxed::IndexTwoDynamicsFirst => {
                "with rows D, K, V and P besides the equations are singular, because the multiplier of P only repeats λ; relax kinematics"
                    .into()
            }
            _ => "the equations with the multipliers of their further rows are singular at the start: constraints are redundant or \
                  lose rank, or a mass vanishes"
                .into(),
        }))
    }

    fn is_index_two(&self) -> bool {
        matches!(self.relaxed, Relaxed::IndexTwo | Relaxed::IndexTwoDynamicsFirst)
    }

    /// Rows of the array that stand in the rows of λ and of μ.
    fn multiplier_rows(&self) -> (Range<usize>, Range<usize>) {
        let l = &self.layout;
        if self.is_index_two() { (l.row_g1(), l.row_h()) } else { (l.row_g2(), l.row_h1()) }
    }

    /// Pairs of an algebraic row and the row of the array that stands in it.
    fn algebraic_rows(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let l = &self.layout;
        let (holonomic, nonholonomic) = self.multiplier_rows();
        let square = l.a().chain(l.w()).chain(l.lambda()).chain(l.mu()).chain(l.s());
        let from =
            l.row_dynamics().chain(l.row_auxiliary()).chain(holonomic).chain(nonholonomic).chain(l.row_contact());
        square.zip(from).chain((l.dim()..).zip(further(self.relaxed, l).flatten()))
    }

    /// M, and the columns of A₂, from the Jacobian at hand.
    fn know_relaxation(&mut self, t: f64, x: &[f64]) -> Result<(), Undefined> {
        let l = &self.layout;
        if self.relaxed != Relaxed::IndexTwo {
            let [M, _, _] = self.array.matrices(t, x)?;
            M.copy_to(&mut self.M, 0);
        }
        // s' = −c_s⁻¹ c_p p'; F holds −∂k/∂x, and the signs cancel
        let (first_s, first_p, first_c) = (l.s().start, l.p().start, l.row_contact().start);
        let contact = l.s().len();
        if contact > 0 {
            for i in 0..contact {
                for j in 0..contact {
                    self.contact.A[(i, j)] = self.F[(first_c + i, first_s + j)];
                }
            }
            self.contact.factor().map_err(|_| Undefined)?;
            for j in 0..l.p().len() {
                for (i, c) in self.column.iter_mut().enumerate() {
                    *c = self.F[(first_c + i, first_p + j)];
                }
                self.contact.solve(&mut self.column);
                for (i, c) in self.column.iter().enumerate() {
                    self.slope[(i, j)] = *c;
                }
            }
        }
        for (k, from) in further(self.relaxed, l).flatten().enumerate() {
            let crossed = dynamics_first(self.relaxed) && !l.row_h().contains(&from);
            let (by_p, by_v) = if crossed {
                (&mut self.beside_v, &mut self.beside_p)
            } else {
                (&mut self.beside_p, &mut self.beside_v)
            };
            for (j, column) in l.p().enumerate() {
                let along: f64 = (0..contact).map(|i| self.F[(from, first_s + i)] * self.slope[(i, j)]).sum();
                by_p[(k, j)] = along - self.F[(from, column)];
            }
            for (j, column) in l.v().enumerate() {
                by_v[(k, j)] = -self.F[(from, column)];
            }
        }
        Ok(())
    }
}

/// Are the rows of dynamics relaxed by the columns of p, for holonomic constraints?
fn dynamics_first(relaxed: Relaxed) -> bool {
    matches!(relaxed, Relaxed::DynamicsFirst | Relaxed::IndexTwoDynamicsFirst)
}

/// F₂: rows of the array.
fn further(relaxed: Relaxed, l: &Layout) -> impl Iterator<Item = Range<usize>> + use<> {
    let velocity_level = matches!(relaxed, Relaxed::DynamicsFirst | Relaxed::KinematicsFirst);
    let velocity = if velocity_level { [l.row_g1(), l.row_h()] } else { [0..0, 0..0] };
    std::iter::once(l.row_g()).chain(velocity)
}

fn refused(why: String) -> StartFailure {
    StartFailure::OutOfClass { method: "the overdetermined formulation", why, instead: "geoms" }
}

impl Dae for Overdetermined<'_> {
    fn dim(&self) -> usize {
        self.layout.dim() + self.beside_v.rows()
    }

    fn new_pencil(&self) -> Pencil {
        let n = self.dim();
        Pencil::dense(n, n)
    }

    fn algebraic(&self, row: usize) -> bool {
        let l = &self.layout;
        !(l.r().contains(&row) || l.v().contains(&row) || l.p().contains(&row))
    }

    fn quasilinear(&self) -> bool {
        true
    }

    fn residual(&mut self, _: usize, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        let l = &self.layout;
        let n = l.dim();
        self.array.evaluate(t, &x[..n], &mut self.rows)?;
        for (row, from) in self.algebraic_rows() {
            r[row] = self.rows[from];
        }
        for (row, from) in l.r().zip(l.row_dynamic()).chain(l.p().zip(l.row_kinematics())) {
            r[row] = xdot[row] - self.rows[from];
        }
        for ((d, vdot), a) in self.difference.iter_mut().zip(&xdot[l.v()]).zip(&self.rows[l.row_acceleration()]) {
            *d = vdot - a;
        }
        for (i, row) in l.v().enumerate() {
            r[row] = self.M.row(i).iter().zip(&self.difference).map(|(m, d)| m * d).sum();
        }
        for (k, kappa) in xdot[n..].iter().enumerate() {
            for (row, a) in l.v().zip(self.beside_v.row(k)).chain(l.p().zip(self.beside_p.row(k))) {
                r[row] += a * kappa;
            }
        }
        Ok(())
    }

    fn pencil(&mut self, t: f64, x: &[f64], _: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        let n = self.layout.dim();
        let undefined = |_| StepFailure::Undefined { t };
        self.array.evaluate(t, &x[..n], &mut self.rows).map_err(undefined)?;
        self.array.jacobian(t, &x[..n], &self.rows, &mut self.F).map_err(undefined)?;
        self.know_relaxation(t, &x[..n]).map_err(undefined)?;
        out.clear();
        let Pencil { E, A } = out;
        for (row, from) in self.algebraic_rows() {
            A.add_row(row, 1.0, &self.F, from);
        }
        let l = &self.layout;
        for (row, from) in l.r().zip(l.row_dynamic()).chain(l.p().zip(l.row_kinematics())) {
            E.put((row, row), 1.0);
            A.add_row(row, -1.0, &self.F, from);
        }
        for (i, row) in l.v().enumerate() {
            for ((&m, column), from) in self.M.row(i).iter().zip(l.v()).zip(l.row_acceleration()) {
                E.put((row, column), m);
                A.add_row(row, -m, &self.F, from);
            }
        }
        for k in 0..self.beside_v.rows() {
            for (row, a) in l.v().zip(self.beside_v.row(k)).chain(l.p().zip(self.beside_p.row(k))) {
                E.put((row, n + k), *a);
            }
        }
        Ok(())
    }

    fn accepted(&mut self, _: usize, t: f64, x: &mut [f64], _: &[f64]) -> Result<(), StepFailure> {
        let n = self.layout.dim();
        self.array.evaluate(t, &x[..n], &mut self.rows).map_err(|_| StepFailure::Undefined { t })?;
        self.residuals = self.layout.residuals(&self.rows);
        Ok(())
    }

    fn residuals(&self) -> Residuals {
        self.residuals
    }

    fn multipliers_lag(&self) -> bool {
        true
    }

    fn in_error_norm(&self, unknown: usize) -> bool {
        // accelerations are bookkeeping, and so are η, whose derivatives vanish on solutions
        unknown >= self.layout.a().end && unknown < self.layout.dim()
    }

    fn index(&self, unknown: usize) -> u8 {
        if self.is_index_two() && unknown < self.layout.mu().end { 2 } else { 1 }
    }

    fn decisions(&self) -> String {
        match self.relaxed {
            Relaxed::DynamicsFirst => "rows D, K, L with P and V besides: dynamics are relaxed by positions",
            Relaxed::KinematicsFirst => "rows K, D, L with P and V besides: kinematics are relaxed by positions",
            Relaxed::IndexTwo | Relaxed::IndexTwoDynamicsFirst => "rows K, D, V with P besides: kinematics are relaxed",
        }
        .into()
    }
}
