//! Splitting of a regular pencil into its nilpotent and its finite part by orthogonal transformations.
//!
//! With a basis Z of kernel E, A Z has full column rank, and orthogonal Q, V give QᵀEV = [0 *; 0 E'], QᵀAV = [R *; 0 A']; again for
//! (E', A') until E' is regular. The pencil is singular exactly if some A Z lacks rank. The number of steps is the index of
//! nilpotency ν. The result
//!
//! QᵀEV = [E₁₁ E₁₂; 0 E₂₂], QᵀAV = [A₁₁ A₁₂; 0 A₂₂], N = A₁₁⁻¹E₁₁ nilpotent, J = E₂₂⁻¹A₂₂
//!
//! is decoupled by A₁₁T + A₁₂ + S A₂₂ = 0, E₁₁T + E₁₂ + S E₂₂ = 0, that is T = N T J + A₁₁⁻¹(E₁₂ J − A₁₂).
//! Hairer & Wanner, Solving ODEs II, VII.1, exercises 2 and 3, there by an ordered QZ decomposition.

use super::{PencilError, RegularPencil};
use daedal_linear::linalg::{Lu, Matrix, Svd, norm, product};

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
        Self::decouple(&E, &A, P, &V, done, index)
    }

    /// From the block triangular form with `k` rows of the nilpotent part.
    fn decouple(E: &Matrix, A: &Matrix, P: Matrix, V: &Matrix, k: usize, index: usize) -> Result<Self, PencilError> {
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
}

/// A decomposed square block.
pub(super) struct Factored(pub(super) Lu<f64>);

impl Factored {
    /// A⁻¹ B.
    pub(super) fn solve(&self, B: &Matrix) -> Matrix {
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

/// I.
pub(super) fn identity(n: usize) -> Matrix {
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
