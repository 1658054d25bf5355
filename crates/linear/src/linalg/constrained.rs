//! Least squares under linear equations: δ with C δ = c, ‖B δ − b‖ smallest, and ‖δ‖ smallest where that leaves a choice.
//!
//! Null space method: δ = C⁺c + N z with N an orthonormal basis of kernel C and z the smallest solution of ‖B N z − (b − B C⁺c)‖ = min.
//! Golub & Van Loan, 6.2.3.

use super::rank::{Scales, Scaling};
use super::{RankRule, Svd};
use faer::Mat;

/// The rows of C depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rows} equations have rank {rank} only")]
pub struct Dependent {
    /// Number of equations.
    pub rows: usize,
    /// Their rank.
    pub rank: usize,
}

/// δ. C has full row rank; B may have any rank and no rows at all.
pub fn constrained_least_squares(C: &Mat<f64>, c: &[f64], B: &Mat<f64>, b: &[f64]) -> Result<Vec<f64>, Dependent> {
    let (a, n) = (C.nrows(), C.ncols());
    let (scales, rule) = (Scales::of(C, Scaling::Rows), RankRule::default());
    let mut svd = Svd::new(a, n);
    svd.A.copy_from(&scales.scaled(C));
    svd.factor().map_err(|_| Dependent { rows: a, rank: 0 })?;
    let rank = svd.rank(rule.of_numbers(a, n) * svd.sigma(0));
    if rank < a {
        return Err(Dependent { rows: a, rank });
    }
    let mut delta = vec![0.0; n];
    for k in 0..a {
        let w = (0..a).map(|i| svd.U[(i, k)] * scales.rows[i] * c[i]).sum::<f64>() / svd.sigma(k);
        delta.iter_mut().enumerate().for_each(|(j, delta)| *delta += svd.V[(j, k)] * w);
    }
    if B.nrows() == 0 || a == n {
        return Ok(delta);
    }
    let N = svd.V.get(.., a..n);
    let left = |i: usize| b[i] - (0..n).map(|j| B[(i, j)] * delta[j]).sum::<f64>();
    let left: Vec<f64> = (0..B.nrows()).map(left).collect();
    let mut inner = Svd::new(B.nrows(), n - a);
    inner.A.copy_from(B * N);
    inner.factor().map_err(|_| Dependent { rows: a, rank: 0 })?;
    for k in 0..inner.rank(rule.of_numbers(B.nrows(), n) * B.norm_l2()) {
        let w = (0..B.nrows()).map(|i| inner.U[(i, k)] * left[i]).sum::<f64>() / inner.sigma(k);
        for (j, delta) in delta.iter_mut().enumerate() {
            *delta += w * (0..n - a).map(|l| N[(j, l)] * inner.V[(l, k)]).sum::<f64>();
        }
    }
    Ok(delta)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_hold_and_the_rest_is_as_near_as_possible() {
        let C = faer::mat![[1.0, 2.0, 0.0, -1.0], [1e5, 0.0, 3e5, 0.0]];
        let B = faer::mat![[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0]];
        let (c, b) = ([1.0, -2e5], [1.0, 2.0, 0.0]);
        let x = constrained_least_squares(&C, &c, &B, &b).unwrap();
        let x = Mat::from_fn(4, 1, |j, _| x[j]);
        let error = &C * &x - Mat::from_fn(2, 1, |i, _| c[i]);
        assert!(error[(0, 0)].abs() < 1e-14 && error[(1, 0)].abs() < 1e-9);
        // the gradient of ‖B x − b‖²/2 lies in the range of Cᵀ
        let gradient = B.transpose() * (&B * &x - Mat::from_fn(3, 1, |i, _| b[i]));
        let mut svd = Svd::new(2, 4);
        svd.A.copy_from(&C);
        svd.factor().unwrap();
        assert!((svd.V.get(.., 2..4).transpose() * gradient).norm_max() < 1e-13);
    }

    #[test]
    fn without_a_wish_the_smallest_solution_is_taken_and_dependent_equations_are_refused() {
        let none = Mat::zeros(0, 2);
        let x = constrained_least_squares(&faer::mat![[3.0, 4.0]], &[5.0], &none, &[]).unwrap();
        assert!((x[0] - 0.6).abs() < 1e-15 && (x[1] - 0.8).abs() < 1e-15);
        let twice = faer::mat![[1.0, 1.0], [2.0, 2.0]];
        let refused = constrained_least_squares(&twice, &[1.0, 2.0], &none, &[]);
        assert_eq!(refused, Err(Dependent { rows: 2, rank: 1 }));
    }
}
