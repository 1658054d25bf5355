//! Regular pencils: E ẋ = A x + b(t) with constant square E and A and det(λE − A) ≢ 0.
//!
//! With P E X = diag(E₁₁, E₂₂), P A X = diag(A₁₁, A₂₂), N = A₁₁⁻¹E₁₁ nilpotent and J = E₂₂⁻¹A₂₂, the unknowns x = X (z, y) satisfy
//! N ż = z + A₁₁⁻¹(Pb)₁ and ẏ = J y + E₂₂⁻¹(Pb)₂. With Ê = (λE − A)⁻¹E, Â = (λE − A)⁻¹A this is Êᴰ Ê = X diag(0, I) X⁻¹,
//! Êᴰ Â = X diag(0, J) X⁻¹ and (I − Êᴰ Ê) Ê Âᴰ = X diag(N, 0) X⁻¹, whatever λ. Kunkel & Mehrmann (2006), 2.2; Wunderlich, thesis
//! (2008), Theorem 2.31, where ν is the index of Ê.

mod flow;
mod impulses;
mod kronecker;
mod parts;
mod staircase;

pub use flow::ExplicitFlow;
pub use impulses::InconsistentStart;
pub use kronecker::Kronecker;

use daedal_linear::CoefficientError;
use daedal_linear::linalg::{Lu, Matrix, NoConvergence, Svd, dot, norm, product, times};
use staircase::{Factored, identity};

/// Why a pencil has no solution formula.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PencilError {
    /// det(λE − A) vanishes for all λ.
    #[error(
        "the pencil is singular: det(λE − A) = 0 for all λ, so solutions do not exist or are not unique; analyse it as a rectangular problem"
    )]
    Singular,
    /// E and A are not square matrices of one size.
    #[error("a pencil must be square: E is {E_rows} × {E_cols}, A is {A_rows} × {A_cols}")]
    NotSquare {
        /// Rows of E.
        E_rows: usize,
        /// Columns of E.
        E_cols: usize,
        /// Rows of A.
        A_rows: usize,
        /// Columns of A.
        A_cols: usize,
    },
    /// The given number is an eigenvalue of the pencil.
    #[error("cE − A is singular for c = {c}; choose another c")]
    Eigenvalue {
        /// The number.
        c: f64,
    },
    /// Derivatives of b are missing.
    #[error(transparent)]
    Coefficients(#[from] CoefficientError),
    /// A vector of another length than the unknowns.
    #[error("{given} values given for {wanted} unknowns")]
    WrongLength {
        /// How many were given.
        given: usize,
        /// How many unknowns there are.
        wanted: usize,
    },
    /// The singular value decomposition did not converge.
    #[error("the singular value decomposition did not converge: the pencil has entries that are not finite")]
    SvdFailed,
}

impl From<NoConvergence> for PencilError {
    fn from(_: NoConvergence) -> Self {
        PencilError::SvdFailed
    }
}

/// A regular pencil, split into its nilpotent and its finite part: P E X = diag(E₁₁, E₂₂), P A X = diag(A₁₁, A₂₂).
///
/// ```
/// use daedal_linear::linalg::Matrix;
/// use daedal_pencils::RegularPencil;
/// // x₂' = x₁ + b₁, 0 = x₂ + b₂
/// let (mut E, mut A) = (Matrix::zeros(2, 2), Matrix::zeros(2, 2));
/// E[(0, 1)] = 1.0;
/// A[(0, 0)] = 1.0;
/// A[(1, 1)] = 1.0;
/// let pencil = RegularPencil::new(&E, &A, 1e-12).unwrap();
/// assert_eq!((pencil.index(), pencil.finite_dimension()), (2, 0));
/// ```
#[derive(Clone, Debug)]
pub struct RegularPencil {
    index: usize,
    /// columns: nilpotent part first, then the finite part
    X: Matrix,
    X_inverse: Matrix,
    P: Matrix,
    /// N = A₁₁⁻¹ E₁₁
    N: Matrix,
    /// J = E₂₂⁻¹ A₂₂
    J: Matrix,
    /// (A₁₁⁻¹ P₁; E₂₂⁻¹ P₂): right-hand sides of z and y
    B: Matrix,
}

impl RegularPencil {
    /// Index of nilpotency ν, 0 for regular E.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Number of finite eigenvalues: the dimension of the differential part.
    pub fn finite_dimension(&self) -> usize {
        self.J.rows()
    }

    /// Number of unknowns.
    pub fn dim(&self) -> usize {
        self.X.rows()
    }

    /// Π = Êᴰ Ê, the projector onto the finite deflating subspace along the infinite one.
    pub fn projector(&self) -> Matrix {
        self.spectral(&Matrix::zeros(self.N.rows(), self.N.rows()), &identity(self.J.rows()))
    }

    /// Êᴰ Â = X diag(0, J) X⁻¹: the flow of the finite part.
    pub fn flow(&self) -> Matrix {
        self.spectral(&Matrix::zeros(self.N.rows(), self.N.rows()), &self.J)
    }

    /// (I − Π) Ê Âᴰ = X diag(N, 0) X⁻¹.
    pub fn nilpotent(&self) -> Matrix {
        self.spectral(&self.N, &Matrix::zeros(self.J.rows(), self.J.rows()))
    }

    /// Left and right transformations with P E X = diag(E₁₁, E₂₂), P A X = diag(A₁₁, A₂₂), nilpotent part first.
    pub fn transformations(&self) -> (&Matrix, &Matrix) {
        (&self.P, &self.X)
    }

    /// The value consistent with b at a time that keeps the finite part of x: Πx − (I − Π) Σᵢ (Ê Âᴰ)ⁱ Âᴰ b̂⁽ⁱ⁾. `b[i]` is the i-th
    /// derivative there, ν of them are needed.
    pub fn consistent(&self, x: &[f64], b: &[Vec<f64>]) -> Result<Vec<f64>, PencilError> {
        self.check_length(x)?;
        let k = self.N.rows();
        let mut w = times(&self.X_inverse, x);
        w[..k].copy_from_slice(&self.nilpotent_part(b)?);
        Ok(times(&self.X, &w))
    }

    /// Coordinates (z, y) of x in the nilpotent and the finite part.
    fn coordinates(&self, x: &[f64]) -> Vec<f64> {
        times(&self.X_inverse, x)
    }

    /// z = −Σ Nⁱ A₁₁⁻¹(P b⁽ⁱ⁾)₁.
    fn nilpotent_part(&self, b: &[Vec<f64>]) -> Result<Vec<f64>, PencilError> {
        let k = self.N.rows();
        if b.len() < self.index {
            let (wanted, available) = (self.index.saturating_sub(1), b.len().saturating_sub(1));
            return Err(CoefficientError::Order { wanted, available }.into());
        }
        let mut z = vec![0.0; k];
        for i in (0..self.index).rev() {
            self.check_length(&b[i])?;
            // z ← −A₁₁⁻¹(P b⁽ⁱ⁾)₁ + N z
            z = (0..k).map(|p| dot(self.N.row(p), &z) - dot(self.B.row(p), &b[i])).collect();
        }
        Ok(z)
    }

    /// x(t) for a consistent value or any x₀ whose finite part counts, by the explicit formula
    /// x = e^{ÊᴰÂ(t−t₀)} Π x₀ + ∫ e^{ÊᴰÂ(t−s)} Êᴰ b̂(s) ds − (I − Π) Σ (ÊÂᴰ)ⁱ Âᴰ b̂⁽ⁱ⁾(t).
    ///
    /// `derivatives(s, k)` returns b, b', …, b⁽ᵏ⁾ at s. The finite part is summed as a Taylor series of order `ORDER` over short pieces,
    /// to rounding for smooth b.
    pub fn solution(
        &self,
        t0: f64,
        x0: &[f64],
        t: f64,
        mut derivatives: impl FnMut(f64, usize) -> Result<Vec<Vec<f64>>, CoefficientError>,
    ) -> Result<Vec<f64>, PencilError> {
        self.check_length(x0)?;
        let (k, n) = (self.N.rows(), self.dim());
        let mut w = self.coordinates(x0);
        let mut now = t0;
        while now != t && n > k {
            // y_[j+1] = (J y_[j] + β_[j])/(j+1)
            let b = derivatives(now, ORDER)?;
            let mut series = vec![w[k..].to_vec()];
            let mut inverse_factorial = 1.0;
            for j in 0..ORDER {
                if j > 0 {
                    inverse_factorial /= j as f64;
                }
                let y = &series[j];
                let next = (0..n - k)
                    .map(|i| {
                        let beta = dot(self.B.row(k + i), &b[j]) * inverse_factorial;
                        (dot(self.J.row(i), y) + beta) / (j + 1) as f64
                    })
                    .collect();
                series.push(next);
            }
            // the last two terms stay below rounding
            let size = norm(&series[0]).max(norm(&series[1])).max(f64::MIN_POSITIVE);
            let mut h = (t - now).abs();
            for j in [ORDER - 1, ORDER] {
                let term = norm(&series[j]);
                if term > 0.0 {
                    h = h.min((0.1 * f64::EPSILON * size / term).powf(1.0 / j as f64));
                }
            }
            let h = if h >= (t - now).abs() { t - now } else { h.copysign(t - now) };
            for i in 0..n - k {
                w[k + i] = series.iter().rev().fold(0.0, |sum, y| sum * h + y[i]);
            }
            now = if h == t - now { t } else { now + h };
        }
        let b = derivatives(t, self.index.saturating_sub(1))?;
        w[..k].copy_from_slice(&self.nilpotent_part(&b)?);
        Ok(times(&self.X, &w))
    }

    /// X diag(infinite, finite) X⁻¹.
    fn spectral(&self, infinite: &Matrix, finite: &Matrix) -> Matrix {
        let (k, n) = (self.N.rows(), self.dim());
        let mut D = Matrix::zeros(n, n);
        for i in 0..k {
            D.row_mut(i)[..k].copy_from_slice(infinite.row(i));
        }
        for i in k..n {
            D.row_mut(i)[k..].copy_from_slice(finite.row(i - k));
        }
        product(&product(&self.X, &D), &self.X_inverse)
    }

    fn check_length(&self, x: &[f64]) -> Result<(), PencilError> {
        let (given, wanted) = (x.len(), self.dim());
        if given == wanted { Ok(()) } else { Err(PencilError::WrongLength { given, wanted }) }
    }
}

/// Order of the Taylor series of the explicit solution.
const ORDER: usize = 14;

/// The Drazin inverse Wᴰ of a square matrix: W Wᴰ = Wᴰ W, Wᴰ W Wᴰ = Wᴰ, Wᴰ W^{ν+1} = W^ν.
pub fn drazin_inverse(W: &Matrix, tolerance: f64) -> Result<Matrix, PencilError> {
    // W = X diag(N, J⁻¹) X⁻¹ for the pencil (W, I)
    let pencil = RegularPencil::new(W, &identity(W.rows()), tolerance)?;
    Ok(pencil.flow())
}

/// Index and dimension of the finite part by ranks of powers: W = (cE − A)⁻¹E, the smallest k with rank Wᵏ = rank Wᵏ⁺¹, and that rank.
/// The range of Wᵏ⁺¹ is found from an orthonormal basis of that of Wᵏ. For small well scaled problems and as a check; [`RegularPencil`] is more robust. Hairer & Wanner, Solving ODEs II, VII.1.
pub fn index_by_powers(E: &Matrix, A: &Matrix, c: f64, tolerance: f64) -> Result<(usize, usize), PencilError> {
    let n = E.rows();
    let mut lu = Lu::<f64>::new(n);
    for i in 0..n {
        for j in 0..n {
            lu.A[(i, j)] = c * E[(i, j)] - A[(i, j)];
        }
    }
    lu.factor().map_err(|_| PencilError::Eigenvalue { c })?;
    let W = Factored(lu).solve(E);
    let threshold = tolerance * norm(W.data());
    // Y: orthonormal basis of the range of Wᵏ
    let mut Y = identity(n);
    for k in 0..=n {
        let WY = product(&W, &Y);
        let mut svd = Svd::new(n, Y.cols());
        for i in 0..n {
            for j in 0..Y.cols() {
                svd.A[(i, j)] = WY[(i, j)];
            }
        }
        svd.factor()?;
        let rank = svd.rank(threshold);
        if rank == Y.cols() {
            return Ok((k, rank));
        }
        Y = Matrix::zeros(n, rank);
        for i in 0..n {
            for j in 0..rank {
                Y[(i, j)] = svd.U[(i, j)];
            }
        }
    }
    Ok((n, 0))
}
