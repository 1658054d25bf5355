//! Matrix exponential by scaling and squaring with the [13/13] Padé approximant. Higham, SIAM J. Matrix Anal. Appl. 26 (2005).

use daedal_linear::linalg::NoConvergence;
use faer::Mat;
use faer::linalg::solvers::Solve;

/// Coefficients of the numerator of the [13/13] Padé approximant, rising powers.
const PADE: [f64; 14] = [
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
];
/// The approximant is exact to rounding below this norm.
const LARGEST_NORM: f64 = 5.371920351148152;

/// eᴬ of a square matrix.
///
/// ```
/// use daedal_linear::linalg::Mat;
/// use daedal_pencils::exponential;
/// let mut A = Mat::zeros(2, 2);
/// (A[(0, 1)], A[(1, 0)]) = (1.0, -1.0);
/// let E = exponential(&A).unwrap();
/// assert!((E[(0, 0)] - 1.0_f64.cos()).abs() < 1e-15 && (E[(0, 1)] - 1.0_f64.sin()).abs() < 1e-15);
/// ```
pub fn exponential(A: &Mat<f64>) -> Result<Mat<f64>, NoConvergence> {
    let n = A.nrows();
    if n == 0 {
        return Ok(Mat::zeros(0, 0));
    }
    let norm = (0..n).map(|j| (0..n).map(|i| A[(i, j)].abs()).sum::<f64>()).fold(0.0, f64::max);
    if !norm.is_finite() || A.col_iter().any(|column| column.iter().any(|x| x.is_nan())) {
        return Err(NoConvergence);
    }
    let squarings = if norm > LARGEST_NORM { (norm / LARGEST_NORM).log2().ceil() as i32 } else { 0 };
    let A = A * faer::Scale(2.0_f64.powi(-squarings));
    // even and odd parts: U = A · odd(A²), V = even(A²)
    let A2 = &A * &A;
    let (A4, one) = (&A2 * &A2, Mat::<f64>::identity(n, n));
    let A6 = &A4 * &A2;
    let part = |first: usize| {
        let b = |k: usize| faer::Scale(PADE[first + 2 * k]);
        let high = &A6 * b(6) + &A4 * b(5) + &A2 * b(4);
        &A6 * high + &A6 * b(3) + &A4 * b(2) + &A2 * b(1) + &one * b(0)
    };
    let (U, V) = (&A * part(1), part(0));
    let mut E = (&V - &U).partial_piv_lu().solve(&V + &U);
    for _ in 0..squarings {
        E = &E * &E;
    }
    if E.col_iter().any(|column| column.iter().any(|x| !x.is_finite())) {
        return Err(NoConvergence);
    }
    Ok(E)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nilpotent_block_gives_a_polynomial_and_a_large_one_is_squared() {
        let mut A = Mat::zeros(3, 3);
        (A[(0, 1)], A[(1, 2)]) = (2.0, 3.0);
        let E = exponential(&A).unwrap();
        let exact = faer::mat![[1.0, 2.0, 3.0], [0.0, 1.0, 3.0], [0.0, 0.0, 1.0]];
        assert!((E - exact).norm_max() < 1e-14);
        // rotation by 40 and decay by e^−40, mixed
        let T = faer::mat![[1.0, 0.5], [-0.25, 1.0]];
        let D = faer::mat![[-40.0, 0.0], [0.0, 2.0]];
        let inverse = T.partial_piv_lu().solve(Mat::<f64>::identity(2, 2));
        let E = exponential(&(&T * &D * &inverse)).unwrap();
        let exact = &T * faer::mat![[(-40.0_f64).exp(), 0.0], [0.0, 2.0_f64.exp()]] * &inverse;
        assert!((E - exact).norm_max() < 1e-11);
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        assert_eq!(exponential(&faer::mat![[f64::NAN]]).unwrap_err(), NoConvergence);
        assert_eq!(exponential(&faer::mat![[1e6]]).unwrap_err(), NoConvergence);
    }
}
