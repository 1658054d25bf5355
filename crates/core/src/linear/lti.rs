//! Regular pencils: E ẋ = A x + b(t) with constant square E and A and det(λE − A) ≢ 0.
//!
//! Orthogonal staircase: with a basis Z of kernel E, A Z has full column rank, and orthogonal Q, V give
//! QᵀEV = [0 *; 0 E'], QᵀAV = [R *; 0 A']; again for (E', A') until E' is regular. The pencil is singular exactly if some A Z lacks
//! rank. The number of steps is the index of nilpotency ν. The result
//!
//! QᵀEV = [E₁₁ E₁₂; 0 E₂₂], QᵀAV = [A₁₁ A₁₂; 0 A₂₂], N = A₁₁⁻¹E₁₁ strictly upper triangular, J = E₂₂⁻¹A₂₂
//!
//! is decoupled by A₁₁T + A₁₂ + S A₂₂ = 0, E₁₁T + E₁₂ + S E₂₂ = 0, that is T = N T J + A₁₁⁻¹(E₁₂ J − A₁₂).
//! Hairer & Wanner, Solving ODEs II, VII.1, exercises 2 and 3 (there by QZ); Kunkel & Mehrmann (2006), 2.2.

use super::coefficients::CoefficientError;
use super::product::{dot, norm, product, times};
use crate::linalg::{Lu, Matrix, NoConvergence, Svd};

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
/// use daedal::linalg::Matrix;
/// use daedal::linear::RegularPencil;
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
    pub(crate) X: Matrix,
    X_inverse: Matrix,
    P: Matrix,
    /// N = A₁₁⁻¹ E₁₁
    pub(crate) N: Matrix,
    /// J = E₂₂⁻¹ A₂₂
    J: Matrix,
    /// (A₁₁⁻¹ P₁; E₂₂⁻¹ P₂): right-hand sides of z and y
    B: Matrix,
}

impl RegularPencil {
    /// Split (E, A). Singular values below `tolerance` times the norms of E and A, rows equilibrated, count as zero.
    pub fn new(E: &Matrix, A: &Matrix, tolerance: f64) -> Result<Self, PencilError> {
        let n = E.rows();
        if E.cols() != n || A.rows() != n || A.cols() != n {
            let (E_rows, E_cols, A_rows, A_cols) = (E.rows(), E.cols(), A.rows(), A.cols());
            return Err(PencilError::NotSquare { E_rows, E_cols, A_rows, A_cols });
        }
        let (mut E, mut A) = (E.clone(), A.clone());
        let mut P = identity(n);
        for i in 0..n {
            let size = E.row(i).iter().chain(A.row(i)).fold(0.0_f64, |y, x| y.max(x.abs()));
            if size > 0.0 {
                for row in [E.row_mut(i), A.row_mut(i), P.row_mut(i)] {
                    for x in row {
                        *x /= size;
                    }
                }
            }
        }
        let mut V = identity(n);
        let threshold = (tolerance * norm(E.data()), tolerance * norm(A.data()));

        // staircase: `done` rows and columns belong to the nilpotent part
        let (mut done, mut index) = (0, 0);
        while done < n {
            let size = n - done;
            let mut svd = Svd::new(size, size);
            for i in 0..size {
                for j in 0..size {
                    svd.A[(i, j)] = E[(done + i, done + j)];
                }
            }
            svd.factor()?;
            let rank = svd.rank(threshold.0);
            let k = size - rank;
            if k == 0 {
                break;
            }
            // columns: the kernel first
            let order = |j: usize| if j < k { rank + j } else { j - k };
            let right = |i: usize, j: usize| svd.V[(i, order(j))];
            for matrix in [&mut E, &mut A, &mut V] {
                turn_columns(matrix, done, right);
            }
            for i in done..n {
                for j in done..done + k {
                    E[(i, j)] = 0.0;
                }
            }
            // rows: A Z = Q [R; 0]
            let mut svd = Svd::new(size, k);
            for i in 0..size {
                for j in 0..k {
                    svd.A[(i, j)] = A[(done + i, done + j)];
                }
            }
            svd.factor()?;
            if svd.rank(threshold.1) < k {
                return Err(PencilError::Singular);
            }
            for matrix in [&mut E, &mut A, &mut P] {
                turn_rows(matrix, done, |i, j| svd.U[(i, j)]);
            }
            for i in done + k..n {
                for j in done..done + k {
                    A[(i, j)] = 0.0;
                }
            }
            done += k;
            index += 1;
        }
        Self::decouple(&E, &A, P, V, done, index)
    }

    /// From the block triangular form with `k` rows of the nilpotent part.
    fn decouple(E: &Matrix, A: &Matrix, P: Matrix, V: Matrix, k: usize, index: usize) -> Result<Self, PencilError> {
        let n = E.rows();
        let A11 = factored(A, 0, k)?;
        let E22 = factored(E, k, n)?;
        let N = A11.solve(&block(E, 0, k, 0, k));
        let J = E22.solve(&block(A, k, n, k, n));
        // T = N T J + A₁₁⁻¹(E₁₂ J − A₁₂): final after ν − 1 sweeps, because N is nilpotent
        let (E12, A12) = (block(E, 0, k, k, n), block(A, 0, k, k, n));
        let mut K = product(&E12, &J);
        for i in 0..k {
            for j in 0..n - k {
                K[(i, j)] -= A12[(i, j)];
            }
        }
        let K = A11.solve(&K);
        let mut T = K.clone();
        for _ in 1..index {
            let NTJ = product(&product(&N, &T), &J);
            for i in 0..k {
                for j in 0..n - k {
                    T[(i, j)] = K[(i, j)] + NTJ[(i, j)];
                }
            }
        }
        // S = −(E₁₁ T + E₁₂) E₂₂⁻¹, P ← [I S; 0 I] P, X = V [I T; 0 I]
        let E11T = product(&block(E, 0, k, 0, k), &T);
        let mut P = P;
        for i in 0..k {
            let row: Vec<f64> = (0..n - k).map(|j| -(E11T[(i, j)] + E12[(i, j)])).collect();
            let s = E22.solve_transposed(&row);
            for p in 0..n {
                let sum: f64 = (0..n - k).map(|j| s[j] * P[(k + j, p)]).sum();
                P[(i, p)] += sum;
            }
        }
        let mut X = V.clone();
        let mut X_inverse = Matrix::zeros(n, n);
        for i in 0..n {
            for j in 0..n - k {
                let sum: f64 = (0..k).map(|p| V[(i, p)] * T[(p, j)]).sum();
                X[(i, k + j)] += sum;
            }
            for j in 0..n {
                X_inverse[(i, j)] = V[(j, i)];
                if i < k {
                    X_inverse[(i, j)] -= (0..n - k).map(|p| T[(i, p)] * V[(j, k + p)]).sum::<f64>();
                }
            }
        }
        let mut B = Matrix::zeros(n, n);
        for (first, end, factor) in [(0, k, &A11), (k, n, &E22)] {
            let part = factor.solve(&block(&P, first, end, 0, n));
            for i in first..end {
                B.row_mut(i).copy_from_slice(part.row(i - first));
            }
        }
        Ok(RegularPencil { index, X, X_inverse, P, N, J, B })
    }

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
    pub(crate) fn coordinates(&self, x: &[f64]) -> Vec<f64> {
        times(&self.X_inverse, x)
    }

    /// z = −Σ Nⁱ A₁₁⁻¹(P b⁽ⁱ⁾)₁.
    pub(crate) fn nilpotent_part(&self, b: &[Vec<f64>]) -> Result<Vec<f64>, PencilError> {
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

    pub(crate) fn check_length(&self, x: &[f64]) -> Result<(), PencilError> {
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
/// For small well scaled problems and as a check; [`RegularPencil`] is more robust. Hairer & Wanner, Solving ODEs II, VII.1.
pub fn index_by_powers(E: &Matrix, A: &Matrix, c: f64, tolerance: f64) -> Result<(usize, usize), PencilError> {
    let n = E.rows();
    let mut lu = Lu::<f64>::new(n);
    for i in 0..n {
        for j in 0..n {
            lu.A[(i, j)] = c * E[(i, j)] - A[(i, j)];
        }
    }
    lu.factor().map_err(|_| PencilError::Eigenvalue { c })?;
    let mut W = Factored(lu).solve(E);
    let size = norm(W.data());
    if size > 0.0 {
        for i in 0..n {
            for x in W.row_mut(i) {
                *x /= size;
            }
        }
    }
    let mut power = identity(n);
    let mut before = n;
    for k in 0..=n {
        power = product(&power, &W);
        let mut svd = Svd::new(n, n);
        for i in 0..n {
            for j in 0..n {
                svd.A[(i, j)] = power[(i, j)];
            }
        }
        svd.factor()?;
        let rank = svd.rank(tolerance);
        if rank == before {
            return Ok((k, rank));
        }
        before = rank;
    }
    Ok((n, before))
}

/// A decomposed square block.
struct Factored(Lu<f64>);

impl Factored {
    /// A⁻¹ B.
    fn solve(&self, B: &Matrix) -> Matrix {
        let mut X = Matrix::zeros(B.rows(), B.cols());
        let mut column = vec![0.0; B.rows()];
        for j in 0..B.cols() {
            for i in 0..B.rows() {
                column[i] = B[(i, j)];
            }
            self.0.solve(&mut column);
            for i in 0..B.rows() {
                X[(i, j)] = column[i];
            }
        }
        X
    }

    /// x with xᵀ A = bᵀ.
    fn solve_transposed(&self, b: &[f64]) -> Vec<f64> {
        let n = b.len();
        let inverse = self.solve(&identity(n));
        (0..n).map(|j| (0..n).map(|i| b[i] * inverse[(i, j)]).sum()).collect()
    }
}

/// Decompose the diagonal block from `first` to `end`.
fn factored(A: &Matrix, first: usize, end: usize) -> Result<Factored, PencilError> {
    let mut lu = Lu::<f64>::new(end - first);
    for i in first..end {
        lu.A.row_mut(i - first).copy_from_slice(&A.row(i)[first..end]);
    }
    lu.factor().map_err(|_| PencilError::Singular)?;
    Ok(Factored(lu))
}

fn identity(n: usize) -> Matrix {
    let mut I = Matrix::zeros(n, n);
    for i in 0..n {
        I[(i, i)] = 1.0;
    }
    I
}

/// Rows `first..end`, columns `left..right`.
fn block(A: &Matrix, first: usize, end: usize, left: usize, right: usize) -> Matrix {
    let mut B = Matrix::zeros(end - first, right - left);
    for i in first..end {
        B.row_mut(i - first).copy_from_slice(&A.row(i)[left..right]);
    }
    B
}

/// A(:, done..) ← A(:, done..) W.
fn turn_columns(A: &mut Matrix, done: usize, W: impl Fn(usize, usize) -> f64) {
    let size = A.cols() - done;
    for i in 0..A.rows() {
        let old = A.row(i)[done..].to_vec();
        for j in 0..size {
            A[(i, done + j)] = (0..size).map(|p| old[p] * W(p, j)).sum();
        }
    }
}

/// A(done.., :) ← Wᵀ A(done.., :).
fn turn_rows(A: &mut Matrix, done: usize, W: impl Fn(usize, usize) -> f64) {
    let size = A.rows() - done;
    for j in 0..A.cols() {
        let old: Vec<f64> = (0..size).map(|i| A[(done + i, j)]).collect();
        for i in 0..size {
            A[(done + i, j)] = (0..size).map(|p| W(p, i) * old[p]).sum();
        }
    }
}
