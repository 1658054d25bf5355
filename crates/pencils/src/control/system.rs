//! A descriptor system with inputs and outputs.

use super::ControlError;
use crate::structured::sized;
use daedal_linear::linalg::{Mat, Matrix};

/// E ẋ = A x + B u, y = C x with constant square E and A.
#[derive(Clone, Debug, PartialEq)]
pub struct DescriptorSystem {
    /// Factor of ẋ, n × n.
    pub E: Mat<f64>,
    /// Factor of x, n × n.
    pub A: Mat<f64>,
    /// Factor of u, n × k.
    pub B: Mat<f64>,
    /// y = C x, p × n.
    pub C: Mat<f64>,
}

impl DescriptorSystem {
    /// Of matrices that fit, with finite entries.
    pub fn new(E: Mat<f64>, A: Mat<f64>, B: Mat<f64>, C: Mat<f64>) -> Result<Self, ControlError> {
        let (m, n) = (E.nrows(), E.ncols());
        if m != n {
            return Err(ControlError::NotSquare { equations: m, states: n });
        }
        sized("E", &E, (n, n))?;
        sized("A", &A, (n, n))?;
        sized("B", &B, (n, B.ncols()))?;
        sized("C", &C, (C.nrows(), n))?;
        Ok(DescriptorSystem { E, A, B, C })
    }

    /// Number of states.
    pub fn dim(&self) -> usize {
        self.E.nrows()
    }

    /// With rows divided by their largest entries.
    pub(super) fn equilibrated(&self) -> Self {
        let largest = |X: &Mat<f64>, i: usize| (0..X.ncols()).fold(0.0_f64, |size, j| size.max(X[(i, j)].abs()));
        let scale: Vec<f64> = (0..self.dim())
            .map(|i| largest(&self.E, i).max(largest(&self.A, i)).max(largest(&self.B, i)))
            .map(|size| if size > 0.0 { size } else { 1.0 })
            .collect();
        let scaled = |X: &Mat<f64>| Mat::from_fn(X.nrows(), X.ncols(), |i, j| X[(i, j)] / scale[i]);
        DescriptorSystem { E: scaled(&self.E), A: scaled(&self.A), B: scaled(&self.B), C: self.C.clone() }
    }

    /// (Eᵀ, Aᵀ, Cᵀ, Bᵀ): its controllability is the observability of this system.
    pub fn dual(&self) -> Self {
        let turned = |X: &Mat<f64>| X.transpose().to_owned();
        DescriptorSystem { E: turned(&self.E), A: turned(&self.A), B: turned(&self.C), C: turned(&self.B) }
    }
}

/// The same matrix in rows.
pub(super) fn rows(X: &Mat<f64>) -> Matrix {
    let mut matrix = Matrix::zeros(X.nrows(), X.ncols());
    (0..X.nrows()).for_each(|i| (0..X.ncols()).for_each(|j| matrix[(i, j)] = X[(i, j)]));
    matrix
}

/// And back.
pub(super) fn columns(X: &Matrix) -> Mat<f64> {
    Mat::from_fn(X.rows(), X.cols(), |i, j| X[(i, j)])
}
