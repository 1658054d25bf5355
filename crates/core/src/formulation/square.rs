//! The square formulations `eom`, `eom1`, `eom0`, `baumgarte` and `ggl`: constraints of some levels, combined row by row.
//!
//! Unknowns are those of [`Layout`], a, w, λ, μ, r, v, s, p, and for `ggl` the multipliers ϑ behind them. Rows, in the order of the unknowns:
//!
//! ```text
//! M a − f + (GZ)ᵀλ + (HZ)ᵀμ,  d,  α₂ gII + α₁ gI + α₀ g,  β₁ hI + β₀ (HZv + h),  r' − b,  v' − a,  c,  p' − Zv (+ Gᵀϑ),  (g)
//! ```

use super::Formulation;
use crate::dae::{Dae, Pencil};
use crate::error::StepFailure;
use crate::linalg::{Lu, Matrix};
use crate::method::{StartFailure, State};
use crate::motion::{Form, Layout, Mechanism, ReducedArray, Undefined};
use crate::statistics::Residuals;

/// Weights of the levels in a combined row.
#[derive(Clone, Copy)]
struct Levels {
    /// Of g, gI, gII.
    holonomic: [f64; 3],
    /// Of HZv + h, hI.
    nonholonomic: [f64; 2],
    /// Is g a row of its own, with multipliers ϑ?
    ggl: bool,
}

/// A square formulation at work.
pub(super) struct Square<'p> {
    formulation: Formulation,
    levels: Levels,
    array: Box<dyn ReducedArray + 'p>,
    layout: Layout,
    rows: Vec<f64>,
    F: Matrix,
    /// G = ∂g/∂p along c = 0, at the last pencil, where ϑ moves p
    G: Matrix,
    /// factors of c_sᵀ, and a right-hand side
    contact: Lu<f64>,
    column: Vec<f64>,
    residuals: Residuals,
}

impl<'p> Square<'p> {
    pub fn new(
        formulation: Formulation,
        mechanism: &'p (dyn Mechanism + '_),
        at: &State,
    ) -> Result<Self, StartFailure> {
        let levels = match formulation {
            Formulation::Eom => Levels { holonomic: [1.0, 0.0, 0.0], nonholonomic: [1.0, 0.0], ggl: false },
            Formulation::Eom1 => Levels { holonomic: [0.0, 1.0, 0.0], nonholonomic: [1.0, 0.0], ggl: false },
            Formulation::Ggl => Levels { holonomic: [0.0, 1.0, 0.0], nonholonomic: [1.0, 0.0], ggl: true },
            Formulation::Baumgarte(b) => {
                Levels { holonomic: [b.beta * b.beta, 2.0 * b.alpha, 1.0], nonholonomic: [b.delta, 1.0], ggl: false }
            }
            _ => Levels { holonomic: [0.0, 0.0, 1.0], nonholonomic: [0.0, 1.0], ggl: false },
        };
        let mut array = mechanism.array(Form::StrangenessFree, false);
        let layout = array.layout().clone();
        let mut rows = vec![0.0; layout.rows()];
        array.evaluate(at.t, &at.x, &mut rows).map_err(|_| StepFailure::Undefined { t: at.t })?;
        Ok(Square {
            residuals: layout.residuals(&rows),
            F: Matrix::zeros(layout.rows(), layout.dim()),
            G: Matrix::zeros(if levels.ggl { layout.sizes.holonomic } else { 0 }, layout.sizes.positions),
            contact: Lu::new(layout.sizes.contact),
            column: vec![0.0; layout.sizes.contact],
            formulation,
            levels,
            array,
            rows,
            layout,
        })
    }
}

impl Square<'_> {
    /// Fill each row from the rows of the array: `put(row, array row, factor)`.
    fn algebraic_rows(&self, mut put: impl FnMut(usize, usize, f64)) {
        let l = &self.layout;
        for i in l.row_dynamics().chain(l.row_auxiliary()) {
            put(i, i, 1.0);
        }
        for (k, row) in l.lambda().enumerate() {
            for (level, factor) in [l.row_g(), l.row_g1(), l.row_g2()].into_iter().zip(self.levels.holonomic) {
                put(row, level.start + k, factor);
            }
        }
        for (k, row) in l.mu().enumerate() {
            for (level, factor) in [l.row_h(), l.row_h1()].into_iter().zip(self.levels.nonholonomic) {
                put(row, level.start + k, factor);
            }
        }
        for (k, row) in l.s().enumerate() {
            put(row, l.row_contact().start + k, 1.0);
        }
        if self.levels.ggl {
            for (k, row) in l.row_g().enumerate() {
                put(l.dim() + k, row, 1.0);
            }
        }
    }

    /// G = g_p − g_s c_s⁻¹ c_p from the Jacobian at hand.
    fn know_position_gradient(&mut self) {
        let l = &self.layout;
        let contact = l.s().len();
        let (first_p, first_s) = (l.p().start, l.s().start);
        // F holds −∂k/∂x: the signs cancel in g_s c_s⁻¹ c_p up to one
        for (k, row) in l.row_g().enumerate() {
            for j in 0..l.p().len() {
                self.G[(k, j)] = -self.F[(row, first_p + j)];
            }
        }
        if contact == 0 {
            return;
        }
        for i in 0..contact {
            for j in 0..contact {
                // the transpose, for g_s c_s⁻¹
                self.contact.A[(j, i)] = -self.F[(l.row_contact().start + i, first_s + j)];
            }
        }
        if self.contact.factor().is_err() {
            return;
        }
        for (k, row) in l.row_g().enumerate() {
            for (j, b) in self.column.iter_mut().enumerate() {
                *b = -self.F[(row, first_s + j)];
            }
            self.contact.solve(&mut self.column);
            for (i, b) in self.column.iter().enumerate() {
                for j in 0..l.p().len() {
                    self.G[(k, j)] += b * self.F[(l.row_contact().start + i, first_p + j)];
                }
            }
        }
    }

    /// Rows x' − k and the rows of the array that are subtracted: r, v, p.
    fn differential_rows(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let l = &self.layout;
        let columns = l.r().chain(l.v()).chain(l.p());
        columns.zip(l.row_dynamic().chain(l.row_acceleration()).chain(l.row_kinematics()))
    }
}

impl Dae for Square<'_> {
    fn dim(&self) -> usize {
        self.layout.dim() + self.G.rows()
    }

    fn new_pencil(&self) -> Pencil {
        let n = self.dim();
        Pencil::Dense { E: Matrix::zeros(n, n), A: Matrix::zeros(n, n) }
    }

    fn algebraic(&self, row: usize) -> bool {
        let l = &self.layout;
        !(l.r().contains(&row) || l.v().contains(&row) || l.p().contains(&row))
    }

    fn quasilinear(&self) -> bool {
        true
    }

    fn residual(&mut self, _: usize, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        let n = self.layout.dim();
        self.array.evaluate(t, &x[..n], &mut self.rows)?;
        r.fill(0.0);
        self.algebraic_rows(|row, from, factor| {
            if factor != 0.0 {
                r[row] += factor * self.rows[from];
            }
        });
        for (row, from) in self.differential_rows() {
            r[row] = xdot[row] - self.rows[from];
        }
        if self.levels.ggl {
            // p' = Zv − Gᵀϑ
            for (k, theta) in x[n..].iter().enumerate() {
                for (row, g) in self.layout.p().zip(self.G.row(k)) {
                    r[row] += g * theta;
                }
            }
        }
        Ok(())
    }

    fn pencil(&mut self, t: f64, x: &[f64], _: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        let n = self.layout.dim();
        let undefined = |_| StepFailure::Undefined { t };
        self.array.evaluate(t, &x[..n], &mut self.rows).map_err(undefined)?;
        self.array.jacobian(t, &x[..n], &self.rows, &mut self.F).map_err(undefined)?;
        let Pencil::Dense { E, A } = out else { unreachable!("the pencil is dense") };
        E.fill(0.0);
        A.fill(0.0);
        self.algebraic_rows(|row, from, factor| {
            if factor != 0.0 {
                A.row_mut(row)[..n].iter_mut().zip(self.F.row(from)).for_each(|(a, f)| *a += factor * f);
            }
        });
        for (row, from) in self.differential_rows() {
            E[(row, row)] = 1.0;
            A.row_mut(row)[..n].iter_mut().zip(self.F.row(from)).for_each(|(a, f)| *a = -f);
        }
        if self.levels.ggl {
            self.know_position_gradient();
            for k in 0..self.G.rows() {
                for (row, g) in self.layout.p().zip(self.G.row(k)) {
                    A[(row, n + k)] = -g;
                }
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

    fn follows(&self) -> bool {
        true
    }

    fn counts(&self, unknown: usize) -> bool {
        // accelerations are bookkeeping, and so are the multipliers ϑ, which vanish
        unknown >= self.layout.a().end && unknown < self.layout.dim()
    }

    fn recovered(&self, unknown: usize) -> bool {
        unknown < self.layout.mu().end && self.index(unknown) == 2
    }

    fn index(&self, unknown: usize) -> u8 {
        let l = &self.layout;
        let (holonomic, constrained) = (l.sizes.holonomic > 0, l.sizes.holonomic + l.sizes.nonholonomic > 0);
        match self.formulation {
            Formulation::Eom if holonomic && l.v().contains(&unknown) => 2,
            Formulation::Eom if holonomic && unknown < l.mu().end => 3,
            Formulation::Eom | Formulation::Eom1 | Formulation::Ggl
                if constrained && (unknown < l.mu().end || unknown >= l.dim()) =>
            {
                2
            }
            _ => 1,
        }
    }
}
