//! Linear-quadratic optimal control of a descriptor system. Wunderlich, thesis (2008), chapter 4.
//!
//! Minimise ∫ (x, u)ᵀ[Q S; Sᵀ R](x, u) dt under E x′ = A x + B u, x(t₀) = x₀. Necessary conditions in (λ, x, u):
//!
//! ```text
//! [0 E 0; −Eᵀ 0 0; 0 0 0] z′ = [0 A B; (A + E′)ᵀ Q S; Bᵀ Sᵀ R] z,    x(t₀) = x₀,   E(t_f)ᵀ λ(t_f) = 0
//! ```

use super::pair::sized;
use super::{MatrixPair, StructuredError, Symmetry};
use crate::blocks::put;
use faer::{Mat, Scale};

/// A plant with its cost at a point in time.
#[derive(Clone, Debug, PartialEq)]
pub struct OptimalControl {
    /// Factor of x′, m × n.
    pub E: Mat<f64>,
    /// Factor of x, m × n.
    pub A: Mat<f64>,
    /// Factor of u, m × k.
    pub B: Mat<f64>,
    /// Weight of x, symmetric n × n.
    pub Q: Mat<f64>,
    /// Weight of u, symmetric k × k.
    pub R: Mat<f64>,
    /// Mixed weight, n × k.
    pub S: Mat<f64>,
    /// E′; `None` for constant E.
    pub E_rate: Option<Mat<f64>>,
}

/// Boundary conditions `start` z(t₀) = x₀ and `end` z(t_f) = 0.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundaryMatrices {
    /// [0 I 0].
    pub start: Mat<f64>,
    /// [Eᵀ 0 0] with E at the end.
    pub end: Mat<f64>,
}

impl OptimalControl {
    /// The self-adjoint pair of the necessary conditions.
    pub fn pair(&self) -> Result<MatrixPair, StructuredError> {
        let (m, n, k) = self.sizes()?;
        let size = m + n + k;
        let zeros = || Mat::<f64>::zeros(size, size);
        let rate = self.E_rate.clone().unwrap_or_else(|| Mat::zeros(m, n));
        let skew = |X: &Mat<f64>| {
            let mut all = zeros();
            put(&mut all, 0, m, X);
            put(&mut all, m, 0, &(X.transpose() * Scale(-1.0)));
            all
        };
        let mut A = zeros();
        put(&mut A, 0, m, &self.A);
        put(&mut A, 0, m + n, &self.B);
        put(&mut A, m, 0, &(&self.A + &rate).transpose().to_owned());
        put(&mut A, m, m, &self.Q);
        put(&mut A, m, m + n, &self.S);
        put(&mut A, m + n, 0, &self.B.transpose().to_owned());
        put(&mut A, m + n, m, &self.S.transpose().to_owned());
        put(&mut A, m + n, m + n, &self.R);
        MatrixPair::new(skew(&self.E), A, skew(&rate))
    }

    /// Boundary conditions; `E_end` is E at the end of the interval.
    pub fn boundary(&self, E_end: &Mat<f64>) -> Result<BoundaryMatrices, StructuredError> {
        let (m, n, k) = self.sizes()?;
        sized("E at the end", E_end, (m, n))?;
        let (mut start, mut end) = (Mat::zeros(n, m + n + k), Mat::zeros(n, m + n + k));
        put(&mut start, 0, m, &Mat::identity(n, n));
        put(&mut end, 0, 0, &E_end.transpose().to_owned());
        Ok(BoundaryMatrices { start, end })
    }

    fn sizes(&self) -> Result<(usize, usize, usize), StructuredError> {
        let (m, n, k) = (self.E.nrows(), self.E.ncols(), self.B.ncols());
        sized("E", &self.E, (m, n))?;
        sized("A", &self.A, (m, n))?;
        sized("B", &self.B, (m, k))?;
        sized("Q", &self.Q, (n, n))?;
        sized("R", &self.R, (k, k))?;
        sized("S", &self.S, (n, k))?;
        if let Some(rate) = &self.E_rate {
            sized("E′", rate, (m, n))?;
        }
        Symmetry::Symmetric.require("Q", &self.Q)?;
        Symmetry::Symmetric.require("R", &self.R)?;
        Ok((m, n, k))
    }
}
