//! The reduced derivative array from its rows, with the accelerations eliminated where that is cheap.
//!
//! Where the mass matrix is constant and regular, the accelerations are eliminated: with ρ = M a − f + … the rows gII, hI and v' are
//! taken at a − M⁻¹ρ instead of a, which is the original form of GEOMS. They are affine in a, so that this is the row operation
//! gII − GZ M⁻¹ρ, on values and on Jacobians.

use super::array::finite;
use super::{Form, InvariantSlopes, Layout, ReducedArray, Solved, Structure, Undefined};
use crate::linalg::{Jacobian, JacobianRef, Lu, Matrix, SparseMatrix};

/// Rows of the reduced derivative array with the accelerations as unknowns.
///
/// The contract of an implementation:
/// 1. nothing is allocated after construction;
/// 2. after `evaluate` and `jacobian`, `mass`, `GZ` and `HZ` are those of the point, if accelerations are eliminated.
pub(super) trait ArrayRows {
    /// All rows at (t, x); invariants without their initial values.
    fn evaluate(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined>;
    /// −∂k/∂x with room for the elimination, where it is sparse; nothing for all entries.
    fn pattern(&self) -> Option<&Jacobian> {
        None
    }
    /// Zeros of the kinds of M, GZ and HZ; nothing for all entries.
    fn kinds(&self) -> Option<[Jacobian; 3]> {
        None
    }
    /// −∂k/∂x, dense or of the pattern; F is zero on entry.
    fn jacobian(&mut self, t: f64, x: &[f64], F: &mut Jacobian) -> Result<(), Undefined>;
    /// Evaluate M, GZ and HZ alone.
    fn evaluate_matrices(&mut self, t: f64, x: &[f64]) -> Result<(), Undefined>;
    /// M, GZ, HZ and at least the rows g, gI and H Z v + h; x is at rest and has no contact variables.
    fn at_rest(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined>;
    /// At least the rows M a − f + …, b, Z v and, if `hidden`, gII and hI; a, λ and μ are zero, and there are no contact variables.
    fn forces(&mut self, t: f64, x: &[f64], hidden: bool, rows: &mut [f64]) -> Result<(), Undefined>;
    /// As [`ReducedArray::know_solutions`].
    fn know_solutions(&mut self, _t: f64, _x: &[f64], _what: &[Solved]) -> Result<bool, Undefined> {
        Ok(false)
    }
    /// As [`ReducedArray::accelerations`].
    fn accelerations(&mut self, _t: f64, _x: &mut [f64], _rows: &mut [f64]) -> bool {
        false
    }
    /// As [`ReducedArray::correction`].
    fn correction(&mut self, _what: Solved, _t: f64, _x: &[f64], _correction: &mut [f64]) -> bool {
        false
    }
    /// As [`ReducedArray::invariant_slopes`].
    fn invariant_slopes(&mut self, _t: f64, _x: &[f64], _at: &mut InvariantSlopes) -> bool {
        false
    }
    /// M, GZ and HZ.
    fn matrices(&self) -> [JacobianRef<'_>; 3];
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

impl<R: ArrayRows> Eliminated<R> {
    /// `wanted` if accelerations are eliminated where M is regular, `diagonal` if M is.
    pub fn new(rows: R, layout: Layout, wanted: bool, diagonal: bool) -> Self {
        Eliminated {
            rows,
            wanted,
            diagonal,
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
                matrix.subtract_times(&self.y, &mut rows[range]);
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
                        F[(i, j)] -= matrix.row_times(k, &self.y);
                    }
                }
            }
        }
    }

    /// The same row by row, where few entries differ from zero: M⁻ᵀeᵢ and M⁻ᵀ(GZ)ᵀeₖ are the factors of the dynamic rows.
    fn eliminate_acceleration_rows(&mut self, F: &mut SparseMatrix) {
        let Some(inverse) = &self.inverse else { return };
        let (l, y) = (&self.layout, &mut self.y);
        let [_, GZ, HZ] = self.rows.matrices();
        let mut eliminate = |row: usize, entries: &mut dyn Iterator<Item = (usize, f64)>| {
            if let Inverse::Diagonal(inverse) = inverse {
                let factors = entries.map(|(j, entry)| (j, entry * inverse[j])).filter(|(_, y)| *y != 0.0);
                return factors.for_each(|(j, y)| F.add_own_row(row, -y, l.row_dynamics().start + j));
            }
            y.fill(0.0);
            entries.for_each(|(j, entry)| y[j] = entry);
            inverse.solve_transposed(y);
            for (k, y) in l.row_dynamics().zip(&*y).filter(|(_, y)| **y != 0.0) {
                F.add_own_row(row, -y, k);
            }
        };
        for (i, row) in l.row_acceleration().enumerate() {
            eliminate(row, &mut std::iter::once((i, 1.0)));
        }
        for (matrix, range) in [(GZ, l.row_g2()), (HZ, l.row_h1())] {
            range.enumerate().for_each(|(k, row)| eliminate(row, &mut matrix.row(k)));
        }
    }
}

/// Places that the elimination adds to a pattern, where M is diagonal: every row takes those of the dynamic rows that are subtracted.
pub(super) fn filled(layout: &Layout, places: &mut Vec<(usize, usize)>, GZ: &[(usize, usize)], HZ: &[(usize, usize)]) {
    let mut dynamics = vec![Vec::new(); layout.a().len()];
    places.iter().filter(|(i, _)| layout.row_dynamics().contains(i)).for_each(|&(i, j)| dynamics[i].push(j));
    let own = (0..dynamics.len()).map(|i| (layout.row_acceleration().start + i, i));
    let levels = [(GZ, layout.row_g2()), (HZ, layout.row_h1())];
    let hidden = levels.into_iter().filter(|(_, rows)| !rows.is_empty());
    let hidden = hidden.flat_map(|(matrix, rows)| matrix.iter().map(move |&(k, i)| (rows.start + k, i)));
    let added: Vec<_> = own.chain(hidden).flat_map(|(row, i)| dynamics[i].iter().map(move |&j| (row, j))).collect();
    places.extend(added);
    places.sort_unstable();
    places.dedup();
}

impl<R: ArrayRows> ReducedArray for Eliminated<R> {
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

    fn new_jacobian(&self) -> Jacobian {
        let dense = || Jacobian::dense(self.layout.rows(), self.layout.dim());
        self.rows.pattern().cloned().unwrap_or_else(dense)
    }

    fn new_matrices(&self) -> [Jacobian; 3] {
        let n = self.layout.sizes;
        let dense = |rows: usize| Jacobian::dense(rows, n.velocities);
        self.rows.kinds().unwrap_or_else(|| [n.velocities, n.holonomic, n.nonholonomic].map(dense))
    }

    fn jacobian(&mut self, t: f64, x: &[f64], _rows: &[f64], F: &mut Jacobian) -> Result<(), Undefined> {
        F.clear();
        self.rows.jacobian(t, x, F)?;
        self.know_inverse();
        match F {
            Jacobian::Dense(F) => self.eliminate_acceleration_columns(F),
            Jacobian::Sparse(F) => self.eliminate_acceleration_rows(F),
        }
        finite(F.values())
    }

    fn matrices(&mut self, t: f64, x: &[f64]) -> Result<[JacobianRef<'_>; 3], Undefined> {
        self.rows.evaluate_matrices(t, x)?;
        let matrices = self.rows.matrices();
        matrices.iter().try_for_each(|matrix| finite(matrix.values()))?;
        Ok(matrices)
    }

    fn at_rest(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<[JacobianRef<'_>; 3], Undefined> {
        if self.layout.sizes.contact > 0 {
            self.rows.evaluate(t, x, rows)?;
            self.rows.evaluate_matrices(t, x)?;
        } else {
            self.rows.at_rest(t, x, rows)?;
        }
        let matrices = self.rows.matrices();
        matrices.iter().try_for_each(|matrix| finite(matrix.values()))?;
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

    fn know_solutions(&mut self, t: f64, x: &[f64], what: &[Solved]) -> Result<bool, Undefined> {
        self.rows.know_solutions(t, x, what)
    }

    fn accelerations(&mut self, t: f64, x: &mut [f64], rows: &mut [f64]) -> bool {
        self.rows.accelerations(t, x, rows)
    }

    fn correction(&mut self, what: Solved, t: f64, x: &[f64], correction: &mut [f64]) -> bool {
        self.rows.correction(what, t, x, correction)
    }

    fn invariant_slopes(&mut self, t: f64, x: &[f64], at: &mut InvariantSlopes) -> bool {
        self.rows.invariant_slopes(t, x, at)
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
    /// factors of M and of Mᵀ
    Full(Box<[Lu<f64>; 2]>),
}

impl Inverse {
    /// `None` if M is singular.
    fn of(M: JacobianRef, diagonal: bool) -> Option<Self> {
        if diagonal {
            let inverse: Vec<f64> = (0..M.rows()).map(|i| 1.0 / M[(i, i)]).collect();
            return inverse.iter().all(|x| x.is_finite()).then_some(Inverse::Diagonal(inverse));
        }
        let n = M.rows();
        let mut factors = [Lu::new(n), Lu::new(n)];
        M.copy_to(&mut factors[0].A, 0);
        (0..n).for_each(|i| (0..n).for_each(|j| factors[1].A[(j, i)] = M[(i, j)]));
        factors.iter_mut().all(|lu| lu.factor().is_ok()).then(|| Inverse::Full(Box::new(factors)))
    }

    /// y ← M⁻¹ y.
    #[inline]
    fn solve(&self, y: &mut [f64]) {
        match self {
            Inverse::Diagonal(inverse) => y.iter_mut().zip(inverse).for_each(|(y, m)| *y *= m),
            Inverse::Full(factors) => factors[0].solve(y),
        }
    }

    /// y ← M⁻ᵀ y.
    fn solve_transposed(&self, y: &mut [f64]) {
        match self {
            Inverse::Diagonal(_) => self.solve(y),
            Inverse::Full(factors) => factors[1].solve(y),
        }
    }
}
