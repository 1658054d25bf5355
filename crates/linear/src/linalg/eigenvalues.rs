//! Eigenvalues, by faer. Allocates: for reports, not for steps.

use super::{Matrix, NoConvergence};
use faer::{Mat, Side};

/// Eigenvalues (real part, imaginary part) of a square matrix, the largest first; of a pair the one above the real axis first.
pub fn eigenvalues(A: &Matrix) -> Result<Vec<(f64, f64)>, NoConvergence> {
    if A.rows() == 0 {
        return Ok(Vec::new());
    }
    if A.data().iter().any(|x| !x.is_finite()) {
        return Err(NoConvergence);
    }
    let matrix = Mat::from_fn(A.rows(), A.rows(), |i, j| A[(i, j)]);
    let values = matrix.eigenvalues().map_err(|_| NoConvergence)?;
    let mut values: Vec<(f64, f64)> = values.iter().map(|z| (z.re, z.im)).collect();
    let key = |z: &(f64, f64)| (z.0.hypot(z.1), z.0, z.1);
    values.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        b.0.total_cmp(&a.0).then(a.1.total_cmp(&b.1)).then(b.2.total_cmp(&a.2))
    });
    Ok(values)
}

/// Eigenvalues of the symmetric part ½(A + Aᵀ), rising.
pub fn symmetric_eigenvalues(A: &Matrix) -> Result<Vec<f64>, NoConvergence> {
    if A.rows() == 0 {
        return Ok(Vec::new());
    }
    if A.data().iter().any(|x| !x.is_finite()) {
        return Err(NoConvergence);
    }
    let matrix = Mat::from_fn(A.rows(), A.rows(), |i, j| 0.5 * (A[(i, j)] + A[(j, i)]));
    matrix.self_adjoint_eigenvalues(Side::Lower).map_err(|_| NoConvergence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: &[&[f64]]) -> Matrix {
        let mut A = Matrix::zeros(rows.len(), rows.len());
        for (i, row) in rows.iter().enumerate() {
            A.row_mut(i).copy_from_slice(row);
        }
        A
    }

    #[test]
    fn an_oscillator_beside_a_decay() {
        // x'' = −x' · 2 − 5 x: −1 ± 2i; y' = −7 y
        let found = eigenvalues(&matrix(&[&[0.0, 1.0, 0.0], &[-5.0, -2.0, 0.0], &[0.0, 0.0, -7.0]])).unwrap();
        for (found, exact) in found.iter().zip([(-7.0, 0.0), (-1.0, 2.0), (-1.0, -2.0)]) {
            assert!((found.0 - exact.0).hypot(found.1 - exact.1) < 1e-13, "{found:?} is not {exact:?}");
        }
    }

    #[test]
    fn the_symmetric_part_counts() {
        let found = symmetric_eigenvalues(&matrix(&[&[2.0, 3.0], &[-1.0, 2.0]])).unwrap();
        assert!((found[0] - 1.0).abs() < 1e-14 && (found[1] - 3.0).abs() < 1e-14);
        assert_eq!(symmetric_eigenvalues(&matrix(&[])).unwrap(), []);
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        assert_eq!(eigenvalues(&matrix(&[&[f64::NAN]])), Err(NoConvergence));
    }
}
