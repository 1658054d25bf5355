//! Consistent jets: 𝔉_ℓ(t, X_0, …, X_{ℓ+1}) = 0, and conditions at the start, by corrections of least change ([`crate::consistent`]).
//!
//! The system is underdetermined and may be rank-deficient. The state is held first; only if that is impossible it may move, after everything
//! else.

use super::DerivativeArray;
use super::initial::freedom;
use crate::consistent::{Fit, Requirements, Terms, solve};
use crate::graph::Kernel;
use crate::initial::Start;
use crate::linalg::{Jacobian, Mat, Matrix, RankRule, SparseMatrix};
use crate::motion::Undefined;

/// Further equations 0 = c(t, X_0, X_1) that must hold, compiled: values, and derivatives with their places (row, column of (X_0, X_1)).
pub struct Conditions {
    /// Values of all conditions; inputs are those of the system's graph.
    pub values: Box<dyn Kernel>,
    /// Entries of their Jacobian.
    pub entries: Box<dyn Kernel>,
    /// Places of the entries.
    pub places: Vec<(usize, usize)>,
    /// Number of conditions.
    pub count: usize,
    /// Where t, X_0 and X_1 stand among the inputs.
    pub inputs: Vec<usize>,
    /// Number of inputs.
    pub width: usize,
    /// Values of the entries where they were last differentiated.
    pub slopes: Vec<f64>,
}

/// Find the derivatives X_1, …, X_{ℓ+1} in a jet whose state X_0 is held.
pub fn fit_derivatives(
    array: &mut DerivativeArray,
    level: usize,
    t: f64,
    jet: &mut [f64],
    ranks: RankRule,
) -> Result<Fit, Undefined> {
    let held: Vec<Start> = jet[..array.dim()].iter().map(|&x| Start::Fixed(x)).collect();
    let freedom = freedom(&held, false, jet.len(), ranks);
    solve(&mut OnJet::new(array, None, level, t), &freedom, jet)
}

/// 𝔉_ℓ and conditions at a jet.
pub(super) struct OnJet<'a> {
    array: &'a mut DerivativeArray,
    conditions: Option<&'a mut Conditions>,
    level: usize,
    t: f64,
    F: Vec<f64>,
    /// of the array; of all equations where it is sparse
    J: Jacobian,
    sizes: Vec<f64>,
}

impl<'a> OnJet<'a> {
    pub fn new(array: &'a mut DerivativeArray, conditions: Option<&'a mut Conditions>, level: usize, t: f64) -> Self {
        let (m, n) = (array.rows() * (level + 1), array.dim() * (level + 2));
        let rows = m + conditions.as_ref().map_or(0, |c| c.count);
        let J = if array.is_sparse() {
            let further = conditions.iter().flat_map(|c| c.places.iter().map(|&(i, j)| (m + i, j)));
            Jacobian::Sparse(SparseMatrix::new(rows, n, array.places(level).into_iter().chain(further).collect()))
        } else {
            Jacobian::Dense(Matrix::zeros(m, n))
        };
        OnJet { array, conditions, level, t, F: vec![0.0; rows], J, sizes: vec![1.0; rows] }
    }

    /// Number of equations.
    pub fn rows(&self) -> usize {
        self.F.len()
    }

    /// Rows of the array.
    fn of_array(&self) -> usize {
        self.array.rows() * (self.level + 1)
    }
}

impl Requirements for OnJet<'_> {
    type Failure = Undefined;

    fn evaluate(&mut self, jet: &[f64]) -> bool {
        let m = self.of_array();
        let (array, conditions) = self.F.split_at_mut(m);
        self.array.evaluate(self.level, self.t, jet, array).is_ok()
            && self.conditions.as_mut().is_none_or(|c| c.evaluate(self.t, jet, conditions).is_ok())
    }

    fn linearise(&mut self, jet: &[f64]) -> Result<(), Undefined> {
        if !self.evaluate(jet) {
            return Err(Undefined);
        }
        match &mut self.J {
            Jacobian::Dense(J) => self.array.jacobian(self.level, self.t, jet, J)?,
            Jacobian::Sparse(J) => self.array.sparse_jacobian(self.level, self.t, jet, J)?,
        }
        if let Some(conditions) = &mut self.conditions {
            conditions.differentiate(self.t, jet)?;
            if let Jacobian::Sparse(_) = self.J {
                let m = self.array.rows() * (self.level + 1);
                let entries = conditions.places.iter().zip(&conditions.slopes);
                entries.for_each(|(&(i, j), &slope)| self.J.put((m + i, j), slope));
            }
        }
        if let Jacobian::Sparse(J) = &self.J {
            for (i, size) in self.sizes.iter_mut().enumerate() {
                let (columns, slopes) = J.row(i);
                let mut terms = Terms::default();
                columns.iter().zip(slopes).for_each(|(&j, &slope)| terms.add(slope, jet[j]));
                *size = terms.size(self.F[i]);
            }
            return Ok(());
        }
        let slopes = self.slopes();
        for (i, size) in self.sizes.iter_mut().enumerate() {
            let mut terms = Terms::default();
            jet.iter().enumerate().for_each(|(j, x)| terms.add(slopes[(i, j)], *x));
            *size = terms.size(self.F[i]);
        }
        Ok(())
    }

    fn values(&self) -> &[f64] {
        &self.F
    }

    fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    fn slopes(&self) -> Mat<f64> {
        let (m, J) = (self.of_array(), &self.J);
        if J.is_sparse() {
            return Mat::from_fn(J.rows(), J.cols(), |i, j| J[(i, j)]);
        }
        let mut slopes = Mat::from_fn(self.F.len(), J.cols(), |i, j| if i < m { J[(i, j)] } else { 0.0 });
        if let Some(conditions) = &self.conditions {
            for (&(i, j), slope) in conditions.places.iter().zip(&conditions.slopes) {
                slopes[(m + i, j)] = *slope;
            }
        }
        slopes
    }

    fn sparse_slopes(&self) -> Option<&SparseMatrix> {
        if let Jacobian::Sparse(J) = &self.J { Some(J) } else { None }
    }
}

impl Conditions {
    fn fill(&self, t: f64, jet: &[f64]) -> Vec<f64> {
        let mut inputs = vec![0.0; self.width];
        for (value, &place) in std::iter::once(&t).chain(jet).zip(&self.inputs) {
            inputs[place] = *value;
        }
        inputs
    }

    fn evaluate(&mut self, t: f64, jet: &[f64], values: &mut [f64]) -> Result<(), Undefined> {
        let inputs = self.fill(t, jet);
        self.values.call(&inputs, values);
        if values.iter().all(|c| c.is_finite()) { Ok(()) } else { Err(Undefined) }
    }

    fn differentiate(&mut self, t: f64, jet: &[f64]) -> Result<(), Undefined> {
        let inputs = self.fill(t, jet);
        self.entries.call(&inputs, &mut self.slopes);
        if self.slopes.iter().all(|e| e.is_finite()) { Ok(()) } else { Err(Undefined) }
    }
}
