//! What impulses cannot change when a mode is entered: combinations N x of the unknowns, such as charge, flux and momentum.
//!
//! A state x⁻ that is not consistent in the new mode jumps as its equations say, E ẋ = A x + b + E x⁻ δ (Wunderlich, thesis (2008),
//! (2.37)). The derivative contains the jump Δ = x⁺ − x⁻, the solution impulses c₀ δ + c₁ δ' + …, and order by order
//!
//! E Δ = (A + Ė) c₀,   E c₀ = (A + 2Ė) c₁,   …,   E c_k = 0.
//!
//! All Δ that satisfy this are the impulse space W; for constant coefficients it is the limit of Wong's sequence W₀ = {0},
//! Wᵢ₊₁ = E⁻¹(A Wᵢ), and x⁻ ↦ x⁺ along W is the consistency projector of the pencil: Berger, Ilchmann & Trenn, The quasi-Weierstraß
//! form for regular matrix pencils (2012). The rows of N span all n with n W = 0. Scaling and mixing the equations multiplies E and A from
//! the left, which leaves W as it is. Second derivatives of E and derivatives of A, which enter from index 3 on, are left out: W is that of
//! coefficients that are frozen up to Ė.

use crate::linalg::rank::AT_POINT;
use crate::linalg::{Mat, RankError, RankRule, Ranks};

/// Entries below this part of what they are summed from are rounding.
const ROUNDING: f64 = 1e-12;

/// The coefficients of a system at an instant: E = ∂F/∂ẋ, its rate Ė, and A = −∂F/∂x.
pub(super) struct CoefficientsAt {
    pub E: Mat<f64>,
    pub rate: Mat<f64>,
    pub A: Mat<f64>,
}

/// N: as many rows as there are combinations that impulses cannot change, each with a leading one.
pub(super) fn kept_by_impulses(of: &CoefficientsAt, ranks: RankRule) -> Result<Mat<f64>, RankError> {
    let (m, n) = (of.E.nrows(), of.E.ncols());
    // columns of one size; powers of two keep all digits
    let rows: Vec<f64> = (0..m).map(|i| largest(&of.E, i).max_or(|| largest(&of.A, i))).collect();
    let column = |M: &Mat<f64>, j: usize| (0..m).map(|i| M[(i, j)].abs() / rows[i]).fold(0.0, f64::max);
    let unit = |j: usize| 2.0_f64.powi(-column(&of.E, j).max_or(|| column(&of.A, j)).log2().round() as i32);
    let units: Vec<f64> = (0..n).map(unit).collect();
    let scaled = |M: &Mat<f64>| Mat::from_fn(m, n, |i, j| M[(i, j)] / rows[i] * units[j]);
    let (E, rate, A) = (scaled(&of.E), scaled(&of.rate), scaled(&of.A));
    let still = rate.norm_max() == 0.0;

    let mut ranks = Ranks::new(RankRule { tolerance: Some(ranks.or(AT_POINT)), ..ranks });
    let mut W = clean(&ranks.subspaces(&E, 0.0)?.kernel);
    for orders in 1..=n {
        // with one more order of impulses
        let mut larger = if still { W.clone() } else { clean(&ranks.subspaces(&E, 0.0)?.kernel) };
        for k in (1..=orders).rev().take(if still { 1 } else { orders }) {
            let slope = Mat::from_fn(m, n, |i, j| A[(i, j)] + k as f64 * rate[(i, j)]);
            larger = preimage(&mut ranks, &E, &slope, &larger)?;
        }
        if larger.ncols() <= W.ncols() {
            break;
        }
        W = larger;
    }
    let N = ranks.subspaces(&W.transpose().to_owned(), 0.0)?.kernel;
    let mut N = echelon(N.transpose().to_owned());
    (0..N.nrows()).for_each(|i| (0..n).for_each(|j| N[(i, j)] /= units[j]));
    Ok(N)
}

/// A basis of all x with E x ∈ A U.
fn preimage(ranks: &mut Ranks, E: &Mat<f64>, A: &Mat<f64>, U: &Mat<f64>) -> Result<Mat<f64>, RankError> {
    if U.ncols() == 0 {
        return Ok(clean(&ranks.subspaces(E, 0.0)?.kernel));
    }
    let (X, sizes) = (product(A, U), scales(A, U));
    // Zᵀ A U = 0 with rows of one size
    let balanced = Mat::from_fn(X.nrows(), X.ncols(), |i, j| X[(i, j)] / sizes[i]);
    let Z = clean(&ranks.subspaces(&balanced, 0.0)?.corange);
    let Zt = Mat::from_fn(Z.ncols(), Z.nrows(), |i, j| Z[(j, i)] / sizes[j]);
    let (M, sizes) = (product(&Zt, E), scales(&Zt, E));
    let balanced = Mat::from_fn(M.nrows(), M.ncols(), |i, j| M[(i, j)] / sizes[i]);
    Ok(clean(&ranks.subspaces(&balanced, 0.0)?.kernel))
}

/// An orthonormal basis without what is rounding: rows of products that consist of it would be scaled up.
fn clean(basis: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(basis.nrows(), basis.ncols(), |i, j| if basis[(i, j)].abs() <= ROUNDING { 0.0 } else { basis[(i, j)] })
}

/// A B, without what is rounding.
fn product(A: &Mat<f64>, B: &Mat<f64>) -> Mat<f64> {
    let P = A * B;
    Mat::from_fn(P.nrows(), P.ncols(), |i, j| {
        let terms: f64 = (0..A.ncols()).map(|k| (A[(i, k)] * B[(k, j)]).abs()).sum();
        if P[(i, j)].abs() <= ROUNDING * terms { 0.0 } else { P[(i, j)] }
    })
}

/// Largest entries of the rows of A B, one for rows of zeros.
fn scales(A: &Mat<f64>, B: &Mat<f64>) -> Vec<f64> {
    let P = product(A, B);
    (0..P.nrows()).map(|i| largest(&P, i).max_or(|| 1.0)).collect()
}

fn largest(M: &Mat<f64>, i: usize) -> f64 {
    (0..M.ncols()).map(|j| M[(i, j)].abs()).fold(0.0, f64::max)
}

trait OrElse {
    /// Itself if it is positive, else another value, and one if that is zero as well.
    fn max_or(self, other: impl FnOnce() -> f64) -> f64;
}

impl OrElse for f64 {
    fn max_or(self, other: impl FnOnce() -> f64) -> f64 {
        let value = if self > 0.0 { self } else { other() };
        if value > 0.0 { value } else { 1.0 }
    }
}

/// The same span with rows that each have a one where all others have zero: unknowns that are kept by themselves stand alone.
fn echelon(mut N: Mat<f64>) -> Mat<f64> {
    let (d, n) = (N.nrows(), N.ncols());
    for k in 0..d {
        let entries = (k..d).flat_map(|i| (0..n).map(move |j| (i, j)));
        let (i, j) = entries.max_by(|&a, &b| N[a].abs().total_cmp(&N[b].abs())).unwrap_or((k, 0));
        if N[(i, j)] == 0.0 {
            break;
        }
        for c in 0..n {
            (N[(k, c)], N[(i, c)]) = (N[(i, c)], N[(k, c)]);
        }
        let pivot = N[(k, j)];
        (0..n).for_each(|c| N[(k, c)] /= pivot);
        for i in (0..d).filter(|&i| i != k) {
            let factor = N[(i, j)];
            for c in 0..n {
                let (old, change) = (N[(i, c)], factor * N[(k, c)]);
                let new = old - change;
                N[(i, c)] = if new.abs() <= ROUNDING.max(ROUNDING * old.abs()) { 0.0 } else { new };
            }
            N[(i, j)] = 0.0;
        }
    }
    N
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: &[&[f64]]) -> Mat<f64> {
        Mat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
    }

    fn kept(E: &[&[f64]], A: &[&[f64]]) -> Mat<f64> {
        let (E, A) = (matrix(E), matrix(A));
        kept_by_impulses(&CoefficientsAt { rate: Mat::zeros(E.nrows(), E.ncols()), E, A }, RankRule::default()).unwrap()
    }

    /// The row is (entries)/(its first entry that is not zero).
    fn same(N: &Mat<f64>, row: usize, wanted: &[f64]) -> bool {
        let lead = wanted.iter().position(|w| *w != 0.0).unwrap();
        let scale = N[(row, lead)] / wanted[lead];
        scale != 0.0 && wanted.iter().enumerate().all(|(j, w)| (N[(row, j)] - scale * w).abs() < 1e-12 * scale.abs())
    }

    #[test]
    fn two_capacitors_keep_their_charge_however_their_rows_are_written() {
        // C₁u₁' = −i, C₂u₂' = i, 0 = u₁ − u₂
        let A: [&[f64]; 3] = [&[0.0, 0.0, -1.0], &[0.0, 0.0, 1.0], &[1.0, -1.0, 0.0]];
        for (e, a) in [(1.0, 1.0), (3e-12, 1e-12), (3e6, 1e6)] {
            let N = kept(&[&[1.0, 0.0, 0.0], &[0.0, 3.0 * e, 0.0], &[0.0; 3]], &[A[0], &[0.0, 0.0, a], A[2]]);
            assert_eq!(N.nrows(), 1);
            assert!(same(&N, 0, &[1.0, 3.0 * e / a, 0.0]), "{N:?}");
        }
        // sums of rows, the constraint among them
        let (E, A) = (matrix(&[&[1.0, 0.0, 0.0], &[0.0, 3.0, 0.0], &[0.0; 3]]), matrix(&A));
        let S = matrix(&[&[1.0, 2.0, -1.0], &[0.5, 1.0, 7.0], &[2.0, -1.0, 1e-3]]);
        let mixed = CoefficientsAt { E: &S * &E, A: &S * &A, rate: Mat::zeros(3, 3) };
        let N = kept_by_impulses(&mixed, RankRule::default()).unwrap();
        assert!(N.nrows() == 1 && same(&N, 0, &[1.0, 3.0, 0.0]), "{N:?}");
    }

    #[test]
    fn unknowns_that_impulses_do_not_reach_stand_alone() {
        // x' = v, v' = −λ, 0 = v − 1 and another y' = y: x and y stay
        let E: [&[f64]; 4] = [&[1.0, 0.0, 0.0, 0.0], &[0.0, 1.0, 0.0, 0.0], &[0.0; 4], &[0.0, 0.0, 0.0, 1e-9]];
        let A: [&[f64]; 4] =
            [&[0.0, 1.0, 0.0, 0.0], &[0.0, 0.0, -1.0, 0.0], &[0.0, 1.0, 0.0, 0.0], &[0.0, 0.0, 0.0, 1.0]];
        let N = kept(&E, &A);
        assert_eq!(N.nrows(), 2);
        for i in 0..2 {
            assert_eq!((0..4).filter(|&j| N[(i, j)] != 0.0).count(), 1, "{N:?}");
            assert_eq!((N[(i, 1)], N[(i, 2)]), (0.0, 0.0));
        }
    }

    #[test]
    fn rounding_is_not_scaled_up() {
        // a string of m points, y' = v, v' = 400 (y₋ − 2 y + y₊) − λ at the last one, which is held: y = 0 there
        let m = 20;
        let (n, last) = (2 * m + 1, m - 1);
        let (mut E, mut A) = (Mat::zeros(n, n), Mat::zeros(n, n));
        for i in 0..m {
            (E[(i, i)], E[(m + i, m + i)], A[(i, m + i)], A[(m + i, i)]) = (1.0, 0.3, 1.0, -800.0);
            for k in [i.wrapping_sub(1), i + 1].into_iter().filter(|&k| k < m) {
                A[(m + i, k)] = 400.0;
            }
        }
        (A[(m + last, 2 * m)], A[(2 * m, last)]) = (-1.0, 1.0);
        let N = kept_by_impulses(&CoefficientsAt { rate: Mat::zeros(n, n), E, A }, RankRule::default()).unwrap();
        // all positions and velocities but those of the last point
        assert_eq!(N.nrows(), 2 * m - 2);
    }

    #[test]
    fn moving_kernels_of_the_leading_matrix_count() {
        // 0 = −x₁ + t x₂, x₁' − t x₂' = 0 at t = 0.5: nothing is free
        let (E, rate) = (matrix(&[&[0.0, 0.0], &[1.0, -0.5]]), matrix(&[&[0.0, 0.0], &[0.0, -1.0]]));
        let A = matrix(&[&[1.0, -0.5], &[0.0, 0.0]]);
        assert_eq!(kept_by_impulses(&CoefficientsAt { E, rate, A }, RankRule::default()).unwrap().nrows(), 0);
    }
}
