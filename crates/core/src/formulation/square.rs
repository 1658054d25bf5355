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
use crate::linalg::{Jacobian, Lu};
use crate::method::{StartFailure, State};
use crate::motion::{Form, Layout, Mechanism, ReducedArray, Undefined};
use crate::statistics::Residuals;

/// Weights of the levels in a combined row.
#[derive(Clone, Copy)]
struct LevelWeights {
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
    levels: LevelWeights,
    array: Box<dyn ReducedArray + 'p>,
    layout: Layout,
    rows: Vec<f64>,
    F: Jacobian,
    /// G = ∂g/∂p along c = 0, at the last pencil, where ϑ moves p
    G: Jacobian,
    /// factors of c_sᵀ, and a right-hand side
    contact: Lu<f64>,
    column: Vec<f64>,
    residuals: Residuals,
    autonomous: bool,
}

impl<'p> Square<'p> {
    pub fn new(
        formulation: Formulation,
        mechanism: &'p (dyn Mechanism + '_),
        at: &State,
    ) -> Result<Self, StartFailure> {
        let levels = match formulation {
            Formulation::Eom => LevelWeights { holonomic: [1.0, 0.0, 0.0], nonholonomic: [1.0, 0.0], ggl: false },
            Formulation::Eom1 => LevelWeights { holonomic: [0.0, 1.0, 0.0], nonholonomic: [1.0, 0.0], ggl: false },
            Formulation::Ggl => LevelWeights { holonomic: [0.0, 1.0, 0.0], nonholonomic: [1.0, 0.0], ggl: true },
            Formulation::Baumgarte(b) => LevelWeights {
                holonomic: [b.beta * b.beta, 2.0 * b.alpha, 1.0],
                nonholonomic: [b.delta, 1.0],
                ggl: false,
            },
            _ => LevelWeights { holonomic: [0.0, 0.0, 1.0], nonholonomic: [0.0, 1.0], ggl: false },
        };
        let mut array = mechanism.array(Form::StrangenessFree, false);
        let layout = array.layout().clone();
        let mut rows = vec![0.0; layout.rows()];
        array.evaluate(at.t, &at.x, &mut rows).map_err(|_| StepFailure::Undefined { t: at.t })?;
        let F = array.new_jacobian();
        Ok(Square {
            residuals: layout.residuals(&rows),
            autonomous: mechanism.structure().autonomous,
            G: position_gradient(&layout, &F, levels.ggl),
            F,
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

/// Zeros of the kind of G: a part of F, unless contact variables fill it in.
fn position_gradient(l: &Layout, F: &Jacobian, wanted: bool) -> Jacobian {
    let (m, n) = (if wanted { l.sizes.holonomic } else { 0 }, l.sizes.positions);
    if l.sizes.contact > 0 || !F.is_sparse() {
        return Jacobian::dense(m, n);
    }
    let of_row = |(k, row)| F.row(row).filter(|(j, _)| l.p().contains(j)).map(move |(j, _)| (k, j - l.p().start));
    Jacobian::sparse(m, n, l.row_g().take(m).enumerate().flat_map(of_row).collect())
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
            for (j, f) in self.F.row(row).filter(|(j, _)| l.p().contains(j)) {
                self.G.put((k, j - first_p), -f);
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
                for (j, g) in self.G.dense_mut().row_mut(k).iter_mut().enumerate() {
                    *g += b * self.F[(l.row_contact().start + i, first_p + j)];
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
        let (n, unknowns) = (self.dim(), self.layout.dim());
        if !self.F.is_sparse() {
            return Pencil::dense(n, n);
        }
        // the places of the rows that are added, and of Gᵀ
        let (mut E, mut A) = (Vec::new(), Vec::new());
        let mut add = |row: usize, from: usize| A.extend(self.F.row(from).map(|(j, _)| (row, j)));
        self.algebraic_rows(|row, from, factor| {
            if factor != 0.0 {
                add(row, from);
            }
        });
        for (row, from) in self.differential_rows() {
            E.push((row, row));
            add(row, from);
        }
        let first_p = self.layout.p().start;
        for k in 0..self.G.rows() {
            A.extend(self.G.row(k).map(|(j, _)| (first_p + j, unknowns + k)));
        }
        Pencil::sparse(n, E, A)
    }

    fn algebraic(&self, row: usize) -> bool {
        let l = &self.layout;
        !(l.r().contains(&row) || l.v().contains(&row) || l.p().contains(&row))
    }

    fn quasilinear(&self) -> bool {
        true
    }

    fn constant_leading(&self) -> bool {
        true
    }

    fn is_autonomous(&self) -> bool {
        self.autonomous
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
            self.G.add_transposed_times(&x[n..], &mut r[self.layout.p()]);
        }
        Ok(())
    }

    fn pencil(&mut self, t: f64, x: &[f64], _: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        let n = self.layout.dim();
        let undefined = |_| StepFailure::Undefined { t };
        self.array.evaluate(t, &x[..n], &mut self.rows).map_err(undefined)?;
        self.array.jacobian(t, &x[..n], &self.rows, &mut self.F).map_err(undefined)?;
        out.clear();
        let Pencil { E, A } = out;
        self.algebraic_rows(|row, from, factor| {
            if factor != 0.0 {
                A.add_row(row, factor, &self.F, from);
            }
        });
        for (row, from) in self.differential_rows() {
            E.put((row, row), 1.0);
            A.add_row(row, -1.0, &self.F, from);
        }
        if self.levels.ggl {
            self.know_position_gradient();
            let first_p = self.layout.p().start;
            for k in 0..self.G.rows() {
                self.G.row(k).for_each(|(j, g)| A.put((first_p + j, n + k), -g));
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
