//! Products of small dense matrices.

use super::Matrix;

/// Sums that are made at a time.
const LANES: usize = 8;

/// A B.
pub fn product(A: &Matrix, B: &Matrix) -> Matrix {
    let mut C = Matrix::zeros(A.rows(), B.cols());
    for i in 0..A.rows() {
        for k in 0..A.cols() {
            let a = A[(i, k)];
            for (c, b) in C.row_mut(i).iter_mut().zip(B.row(k)) {
                *c += a * b;
            }
        }
    }
    C
}

/// C ← Aᵀ B, for A with at least as many rows as B: the further rows of A do not take part.
pub fn transposed_product(A: &Matrix, B: &Matrix, C: &mut Matrix) {
    C.fill(0.0);
    for k in 0..B.rows() {
        for i in 0..A.cols() {
            let a = A[(k, i)];
            for (c, b) in C.row_mut(i).iter_mut().zip(B.row(k)) {
                *c += a * b;
            }
        }
    }
}

/// y ← Aᵀ x.
pub fn transposed_times(A: &Matrix, x: &[f64], y: &mut [f64]) {
    y.fill(0.0);
    for (k, x) in x.iter().enumerate() {
        for (y, a) in y.iter_mut().zip(A.row(k)) {
            *y += a * x;
        }
    }
}

/// A x.
pub fn times(A: &Matrix, x: &[f64]) -> Vec<f64> {
    (0..A.rows()).map(|i| dot(A.row(i), x)).collect()
}

/// aᵀ b.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    // several sums at a time
    let (chunks_a, chunks_b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = chunks_a.remainder().iter().zip(chunks_b.remainder()).map(|(a, b)| a * b).sum();
    let mut sums = [0.0; LANES];
    for (a, b) in chunks_a.zip(chunks_b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// ‖x‖₂.
pub fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// Give a matrix another size; what stood in it is lost then.
pub fn resize(A: &mut Matrix, rows: usize, cols: usize) {
    if (A.rows(), A.cols()) != (rows, cols) {
        *A = Matrix::zeros(rows, cols);
    }
}

/// A ← B, without allocation when they have the same size.
pub fn copy(A: &mut Matrix, B: &Matrix) {
    resize(A, B.rows(), B.cols());
    for i in 0..B.rows() {
        A.row_mut(i).copy_from_slice(B.row(i));
    }
}
