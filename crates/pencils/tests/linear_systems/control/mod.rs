//! Control of descriptor systems: controllability, feedback, linear-quadratic optima, sliding.

mod controllability;
mod feedback;
mod quadratic;
mod sliding;
mod switches;

use daedal::linalg::{Mat, Svd};
use daedal_pencils::control::DescriptorSystem;

fn matrix(rows: &[&[f64]]) -> Mat<f64> {
    Mat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

fn system(E: Mat<f64>, A: Mat<f64>, B: Mat<f64>, C: Mat<f64>) -> DescriptorSystem {
    DescriptorSystem::new(E, A, B, C).unwrap()
}

/// Rank by singular values above a part of the largest: the second opinion.
fn rank(X: &Mat<f64>) -> usize {
    let mut svd = Svd::new(X.nrows(), X.ncols());
    svd.A.copy_from(X);
    svd.factor().unwrap();
    svd.rank(1e-9 * svd.sigma(0).max(1e-3))
}
