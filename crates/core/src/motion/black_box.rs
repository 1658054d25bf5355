//! Equations of motion as a black box: values only, hidden constraints written by hand, Jacobians by finite differences.
//!
//! The interface of the original GEOMS: `eom`, `mass` and, if the user has it, the Jacobian. Steinbrecher (2007), section 3.

use super::array::finite;
use super::hidden::motion;
use super::{Form, Formulas, Layout, Mechanism, Motion, Names, Position, ReducedArray, Sizes, Structure, Undefined};
use crate::linalg::{Jacobian, JacobianRef, Matrix};

/// Right-hand sides and constraints of all levels at one point, to be filled in. Slices have the lengths of their blocks; all are zero on entry.
#[derive(Debug)]
pub struct BlackBoxRows<'o> {
    /// f − (GZ)ᵀλ − (HZ)ᵀμ, so that M v' = force.
    pub force: &'o mut [f64],
    /// d.
    pub auxiliary: &'o mut [f64],
    /// gII, with v' eliminated by the dynamic equations; empty in the s-index-1 form.
    pub holonomic_acceleration: &'o mut [f64],
    /// hI, with v' eliminated; empty in the s-index-1 form.
    pub nonholonomic_acceleration: &'o mut [f64],
    /// gI.
    pub holonomic_velocity: &'o mut [f64],
    /// H Z v + h.
    pub nonholonomic: &'o mut [f64],
    /// e; empty if the invariants are not used.
    pub invariants: &'o mut [f64],
    /// c.
    pub contact: &'o mut [f64],
    /// g.
    pub holonomic: &'o mut [f64],
    /// b.
    pub dynamic: &'o mut [f64],
    /// Z v.
    pub kinematics: &'o mut [f64],
}

/// Equations of motion that give only values.
pub trait BlackBox {
    /// How many variables of each kind.
    fn sizes(&self) -> Sizes;
    /// Names of variables and constraints.
    fn names(&self) -> Names {
        Names::numbered(&self.sizes())
    }
    /// All right-hand sides and constraints, hidden ones included.
    fn rows(&self, at: &Motion<f64>, out: &mut BlackBoxRows) -> Result<(), Undefined>;
    /// The mass matrix.
    fn mass(&self, at: &Position<f64>, M: &mut Matrix) -> Result<(), Undefined>;
    /// What holds everywhere, beside [`Structure::unknown`]: nobody finds it from values, and a declaration that a value refutes is an error.
    fn structure(&self) -> Structure {
        Structure::unknown()
    }
}

/// A [`BlackBox`] as a [`Mechanism`].
#[derive(Clone, Copy, Debug)]
pub struct BlackBoxMotion<B>(pub B);

impl<B: BlackBox> Mechanism for BlackBoxMotion<B> {
    fn sizes(&self) -> Sizes {
        self.0.sizes()
    }
    fn names(&self) -> Names {
        self.0.names()
    }
    fn structure(&self) -> Structure {
        // what the interface asks for is no matter of declaration
        let Structure { constraint_force_by_hand, acceleration_level_by_hand, black_box, .. } = Structure::unknown();
        Structure { constraint_force_by_hand, acceleration_level_by_hand, black_box, ..self.0.structure() }
    }
    fn formulas(&self) -> Option<Formulas> {
        None
    }
    fn array<'m>(&'m self, form: Form, with_invariants: bool) -> Box<dyn ReducedArray + 'm> {
        let layout = Layout::new(self.0.sizes(), form, with_invariants);
        Box::new(Differenced {
            system: &self.0,
            M: Matrix::zeros(layout.sizes.velocities, layout.sizes.velocities),
            constant_mass: self.0.structure().mass.is_constant(),
            mass_known: false,
            invariants: vec![0.0; layout.row_invariants().len()],
            shifted: vec![0.0; layout.dim()],
            moved: vec![0.0; layout.rows()],
            at_rest: vec![0.0; layout.sizes.holonomic + layout.sizes.nonholonomic],
            GZ: Matrix::zeros(layout.sizes.holonomic, layout.sizes.velocities),
            HZ: Matrix::zeros(layout.sizes.nonholonomic, layout.sizes.velocities),
            layout,
            mass_evaluations: 0,
            difference_evaluations: 0,
        })
    }
}

struct Differenced<'m, B> {
    system: &'m B,
    layout: Layout,
    M: Matrix,
    constant_mass: bool,
    mass_known: bool,
    invariants: Vec<f64>,
    shifted: Vec<f64>,
    moved: Vec<f64>,
    at_rest: Vec<f64>,
    GZ: Matrix,
    HZ: Matrix,
    mass_evaluations: u64,
    difference_evaluations: u64,
}

impl<B: BlackBox> Differenced<'_, B> {
    fn mass(&mut self, t: f64, x: &[f64]) -> Result<(), Undefined> {
        if !self.mass_known {
            self.M.fill(0.0);
            let at = Position { t, p: &x[self.layout.p()], s: &x[self.layout.s()] };
            self.system.mass(&at, &mut self.M)?;
            self.mass_known = self.constant_mass;
            self.mass_evaluations += 1;
        }
        Ok(())
    }
}

impl<B: BlackBox> ReducedArray for Differenced<'_, B> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn evaluate(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined> {
        self.mass(t, x)?;
        rows.fill(0.0);
        // cut the rows into their blocks, in the order of the layout
        let l = &self.layout;
        let mut rest = &mut *rows;
        let mut cut = |n: usize| {
            let (head, tail) = std::mem::take(&mut rest).split_at_mut(n);
            rest = tail;
            head
        };
        let force = cut(l.row_dynamics().len());
        let auxiliary = cut(l.row_auxiliary().len());
        let holonomic_acceleration = cut(l.row_g2().len());
        let nonholonomic_acceleration = cut(l.row_h1().len());
        let holonomic_velocity = cut(l.row_g1().len());
        let nonholonomic = cut(l.row_h().len());
        let invariants = cut(l.row_invariants().len());
        let contact = cut(l.row_contact().len());
        let holonomic = cut(l.row_g().len());
        let dynamic = cut(l.row_dynamic().len());
        let acceleration = cut(l.row_acceleration().len());
        let kinematics = cut(l.row_kinematics().len());
        let mut out = BlackBoxRows {
            force,
            auxiliary,
            holonomic_acceleration,
            nonholonomic_acceleration,
            holonomic_velocity,
            nonholonomic,
            invariants,
            contact,
            holonomic,
            dynamic,
            kinematics,
        };
        self.system.rows(&motion(l, t, x), &mut out)?;
        for (row, e) in out.invariants.iter_mut().zip(&self.invariants) {
            *row -= e;
        }
        // M a − force
        let a = &x[l.a()];
        for (i, row) in out.force.iter_mut().enumerate() {
            *row = self.M.row(i).iter().zip(a).map(|(m, a)| m * a).sum::<f64>() - *row;
        }
        acceleration.copy_from_slice(a);
        finite(rows)
    }

    fn jacobian(&mut self, t: f64, x: &[f64], rows: &[f64], F: &mut Jacobian) -> Result<(), Undefined> {
        F.clear();
        // the columns of a are known
        self.mass(t, x)?;
        let a = self.layout.a();
        for i in a.clone() {
            for j in a.clone() {
                F.put((i, j), -self.M[(i, j)]);
            }
            F.put((self.layout.row_acceleration().start + i, i), -1.0);
        }
        // the others by forward differences, one evaluation a column
        let mut shifted = std::mem::take(&mut self.shifted);
        let mut moved = std::mem::take(&mut self.moved);
        shifted.copy_from_slice(x);
        let mut result = Ok(());
        for j in a.end..x.len() {
            let delta = (f64::EPSILON * x[j].abs().max(1e-5)).sqrt();
            shifted[j] = x[j] + delta;
            let delta = shifted[j] - x[j];
            result = self.evaluate(t, &shifted, &mut moved);
            self.difference_evaluations += 1;
            if result.is_err() {
                break;
            }
            F.put_columns(&[j], |i, _| -(moved[i] - rows[i]) / delta);
            shifted[j] = x[j];
        }
        (self.shifted, self.moved) = (shifted, moved);
        result
    }

    fn matrices(&mut self, t: f64, x: &[f64]) -> Result<[JacobianRef<'_>; 3], Undefined> {
        // gI and H Z v + h are affine in v: differences with unit steps have no error but rounding
        let (v, n) = (self.layout.v(), self.layout.a().len());
        let mut shifted = std::mem::take(&mut self.shifted);
        let mut moved = std::mem::take(&mut self.moved);
        let mut result = Ok(());
        shifted.copy_from_slice(x);
        shifted[v.clone()].fill(0.0);
        for j in 0..=n {
            // the values at rest first, then one velocity after the other
            if let Some(j) = j.checked_sub(1) {
                shifted[v.start + j] = 1.0;
            }
            result = self.evaluate(t, &shifted, &mut moved);
            self.difference_evaluations += 1;
            if result.is_err() {
                break;
            }
            let (g1, h) = (&moved[self.layout.row_g1()], &moved[self.layout.row_h()]);
            match j.checked_sub(1) {
                None => {
                    self.at_rest[..g1.len()].copy_from_slice(g1);
                    self.at_rest[g1.len()..].copy_from_slice(h);
                }
                Some(j) => {
                    let (g0, h0) = self.at_rest.split_at(g1.len());
                    g1.iter().zip(g0).enumerate().for_each(|(k, (g, g0))| self.GZ[(k, j)] = g - g0);
                    h.iter().zip(h0).enumerate().for_each(|(k, (h, h0))| self.HZ[(k, j)] = h - h0);
                    shifted[v.start + j] = 0.0;
                }
            }
        }
        (self.shifted, self.moved) = (shifted, moved);
        result.map(|()| [&self.M, &self.GZ, &self.HZ].map(Jacobian::Dense))
    }

    fn forces(&mut self, t: f64, x: &[f64], _hidden: bool, rows: &mut [f64]) -> Result<(), Undefined> {
        self.evaluate(t, x, rows)
    }

    fn set_invariants(&mut self, at: &[f64]) {
        self.invariants.copy_from_slice(at);
    }
    fn mass_evaluations(&self) -> u64 {
        self.mass_evaluations
    }
    fn difference_evaluations(&self) -> u64 {
        self.difference_evaluations
    }
}
