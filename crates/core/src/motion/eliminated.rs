//! The reduced derivative array from its rows, with the accelerations eliminated where that is cheap.
//!
//! Where the mass matrix is constant and regular, the accelerations are eliminated: with ρ = M a − f + … the rows gII, hI and v' are
//! taken at a − M⁻¹ρ instead of a, which is the original form of GEOMS. They are affine in a, so that this is the row operation
//! gII − GZ M⁻¹ρ, on values and on Jacobians.

use super::array::finite;
use super::{Form, Layout, ReducedArray, Structure, Undefined};
use crate::linalg::{Lu, Matrix};

/// Rows of the reduced derivative array with the accelerations as unknowns.
///
/// The contract of an implementation:
/// 1. nothing is allocated after construction;
/// 2. after `evaluate` and `jacobian`, `mass`, `GZ` and `HZ` are those of the point, if accelerations are eliminated.
pub(super) trait Rows {
    /// All rows at (t, x); invariants without their initial values.
    fn evaluate(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined>;
    /// −∂k/∂x; F is zero on entry.
    fn jacobian(&mut self, t: f64, x: &[f64], F: &mut Matrix) -> Result<(), Undefined>;
    /// Evaluate M, GZ and HZ alone.
    fn evaluate_matrices(&mut self, t: f64, x: &[f64]) -> Result<(), Undefined>;
    /// M, GZ, HZ and at least the rows g, gI and H Z v + h; x is at rest and has no contact variables.
    fn at_rest(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined>;
    /// At least the rows M a − f + …, b, Z v and, if `hidden`, gII and hI; a, λ and μ are zero, and there are no contact variables.
    fn forces(&mut self, t: f64, x: &[f64], hidden: bool, rows: &mut [f64]) -> Result<(), Undefined>;
    /// M, GZ and HZ.
    fn matrices(&self) -> [&Matrix; 3];
    /// How often M has been evaluated.
    fn mass_evaluations(&self) -> u64;
}

/// The array made of rows.
pub(super) struct Eliminated<R> {
    rows: R,
    layout: Layout,
    /// may accelerations be eliminated, if M turns out to be regular?
    wanted: bool,
    diagonal: bool,
    inverse: Option<Inverse>,
    y: Vec<f64>,
    invariants: Vec<f64>,
}

/// Are the accelerations eliminated, if M is regular?
pub(super) fn eliminates(structure: Structure) -> bool {
    structure.mass.is_constant() && !structure.constraint_force_by_hand && !structure.acceleration_level_by_hand
}

impl<R: Rows> Eliminated<R> {
    pub fn new(rows: R, layout: Layout, structure: Structure) -> Self {
        Eliminated {
            rows,
            wanted: eliminates(structure),
            diagonal: structure.mass.is_diagonal(),
            inverse: None,
            y: vec![0.0; layout.a().len()],
            invariants: vec![0.0; layout.row_invariants().len()],
            layout,
        }
    }

    /// A constant mass matrix is inverted once.
    fn know_inverse(&mut self) {
        if std::mem::take(&mut self.wanted) {
            let [M, _, _] = self.rows.matrices();
            self.inverse = Inverse::of(M, self.diagonal);
        }
    }

    /// Rows gII, hI and v' at a − M⁻¹ρ.
    fn eliminate_accelerations(&mut self, rows: &mut [f64]) {
        let Some(inverse) = &self.inverse else { return };
        self.y.copy_from_slice(&rows[self.layout.row_dynamics()]);
        inverse.solve(&mut self.y);
        for (row, y) in rows[self.layout.row_acceleration()].iter_mut().zip(&self.y) {
            *row -= y;
        }
        if self.layout.form == Form::StrangenessFree {
            let [_, GZ, HZ] = self.rows.matrices();
            for (matrix, range) in [(GZ, self.layout.row_g2()), (HZ, self.layout.row_h1())] {
                for (k, row) in rows[range].iter_mut().enumerate() {
                    *row -= matrix.row(k).iter().zip(&self.y).map(|(m, y)| m * y).sum::<f64>();
                }
            }
        }
    }

    /// The same for the Jacobian, column by column.
    fn eliminate_acceleration_columns(&mut self, F: &mut Matrix) {
        let Some(inverse) = &self.inverse else { return };
        let (dynamics, acceleration) = (self.layout.row_dynamics(), self.layout.row_acceleration());
        let [_, GZ, HZ] = self.rows.matrices();
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
                for (matrix, range) in [(GZ, self.layout.row_g2()), (HZ, self.layout.row_h1())] {
                    for (k, i) in range.enumerate() {
                        F[(i, j)] -= matrix.row(k).iter().zip(&self.y).map(|(m, y)| m * y).sum::<f64>();
                    }
                }
            }
        }
    }
}

impl<R: Rows> ReducedArray for Eliminated<R> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn evaluate(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined> {
        self.rows.evaluate(t, x, rows)?;
        self.know_inverse();
        for (row, e) in rows[self.layout.row_invariants()].iter_mut().zip(&self.invariants) {
            *row -= e;
        }
        self.eliminate_accelerations(rows);
        finite(rows)
    }

    fn jacobian(&mut self, t: f64, x: &[f64], _rows: &[f64], F: &mut Matrix) -> Result<(), Undefined> {
        F.fill(0.0);
        self.rows.jacobian(t, x, F)?;
        self.know_inverse();
        self.eliminate_acceleration_columns(F);
        finite(F.data())
    }

    fn matrices(&mut self, t: f64, x: &[f64]) -> Result<[&Matrix; 3], Undefined> {
        self.rows.evaluate_matrices(t, x)?;
        let matrices = self.rows.matrices();
        matrices.iter().try_for_each(|matrix| finite(matrix.data()))?;
        Ok(matrices)
    }

    fn at_rest(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<[&Matrix; 3], Undefined> {
        if self.layout.sizes.contact > 0 {
            self.rows.evaluate(t, x, rows)?;
            self.rows.evaluate_matrices(t, x)?;
        } else {
            self.rows.at_rest(t, x, rows)?;
        }
        let matrices = self.rows.matrices();
        matrices.iter().try_for_each(|matrix| finite(matrix.data()))?;
        for range in [self.layout.row_g1(), self.layout.row_h(), self.layout.row_g()] {
            finite(&rows[range])?;
        }
        Ok(matrices)
    }

    fn forces(&mut self, t: f64, x: &[f64], hidden: bool, rows: &mut [f64]) -> Result<(), Undefined> {
        if self.layout.sizes.contact > 0 {
            self.rows.evaluate(t, x, rows)?;
        } else {
            self.rows.forces(t, x, hidden, rows)?;
        }
        let l = &self.layout;
        for range in [l.row_dynamics(), l.row_g2().start..l.row_h1().end, l.row_dynamic(), l.row_kinematics()] {
            finite(&rows[range])?;
        }
        Ok(())
    }

    fn set_invariants(&mut self, at: &[f64]) {
        self.invariants.copy_from_slice(at);
    }

    fn mass_evaluations(&self) -> u64 {
        self.rows.mass_evaluations()
    }
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
