//! Local invariants of a pair (E, A) under local equivalence, and the strangeness index from the local invariants of the inflated
//! pairs (M, [N 0]): a way to the characteristic values that shares nothing with the projections but the derivative array.
//! Kunkel & Mehrmann (2006), Theorem 3.7 and 3.2; Wunderlich, thesis (2008), Theorem 2.34.

use daedal_linear::CharacteristicValues;
use daedal_linear::linalg::{Matrix, NoConvergence, Svd};
use daedal_linear::{Coefficients, DerivativeArray, RankOptions, ReductionError, TaylorData};
use faer::Mat;

/// What of a pair (E, A) with m rows and n columns does not change under (P E Q, P A Q − P E R).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalInvariants {
    /// rank E.
    pub r: usize,
    /// Algebraic part, rank ZᵀAT.
    pub a: usize,
    /// Strangeness.
    pub s: usize,
    /// Differential part, r − s.
    pub d: usize,
    /// Undetermined unknowns, n − r − a.
    pub u: usize,
    /// Vanishing equations, m − r − a − s.
    pub v: usize,
}

/// Local invariants of (E, A): with T = kernel E, Z = corange E, Tc = cokernel E and V = corange ZᵀAT,
/// r = rank E, a = rank ZᵀAT, s = rank VᵀZᵀA Tc. Singular values below `tolerance` times the norm of [E A] count as zero.
pub fn local_invariants(E: &Matrix, A: &Matrix, tolerance: f64) -> Result<LocalInvariants, NoConvergence> {
    let convert = |X: &Matrix| Mat::from_fn(X.rows(), X.cols(), |i, j| X[(i, j)]);
    let (E, A) = (&convert(E), &convert(A));
    let (m, n) = (E.nrows(), E.ncols());
    let size = E.norm_l2().hypot(A.norm_l2());
    let threshold = tolerance * if size > 0.0 { size } else { 1.0 };
    let (r, U, W) = decompose(E, threshold)?;
    let (Z, T, Tc) = (U.subcols(r, m - r), W.subcols(r, n - r), W.subcols(0, r));
    let B = Z.transpose() * A * T;
    let (a, UB, _) = decompose(&B, threshold)?;
    let V = UB.subcols(a, m - r - a);
    let S = V.transpose() * Z.transpose() * A * Tc;
    let (s, _, _) = decompose(&S, threshold)?;
    Ok(LocalInvariants { r, a, s, d: r - s, u: n - r - a, v: m - r - a - s })
}

/// Rank, left and right singular vectors, complete bases also of empty matrices.
fn decompose(X: &Mat<f64>, threshold: f64) -> Result<(usize, Mat<f64>, Mat<f64>), NoConvergence> {
    let (m, n) = (X.nrows(), X.ncols());
    let mut svd = Svd::new(m, n);
    svd.A.copy_from(X);
    svd.factor()?;
    Ok((svd.rank(threshold), svd.U, svd.V))
}

/// Characteristic values from the local invariants (r̃, ã, s̃) of the inflated pairs of level i = 0, 1, …:
/// c₀ + … + cᵢ = ãᵢ + s̃ᵢ, sᵢ = cᵢ − ãᵢ, vᵢ = m − cᵢ − (r̃ᵢ − r̃ᵢ₋₁); μ is the first i with sᵢ = 0, and a = c₀ + … + c_μ.
pub fn invariants_by_recursion<C: Coefficients + ?Sized>(
    coefficients: &mut C,
    t: f64,
    options: &RankOptions,
) -> Result<CharacteristicValues, ReductionError> {
    let (m, n) = (coefficients.rows(), coefficients.dim());
    let failed = |_: NoConvergence| ReductionError::SvdFailed { t };
    let mut data = TaylorData::new(m, n, 0);
    let (mut sum_before, mut rank_before) = (0, 0);
    let mut last = CharacteristicValues { mu: 0, d: 0, a: 0, v: 0, u: 0 };
    for level in 0..=options.max_index {
        data.extend(level);
        coefficients.taylor(t, level, &mut data)?;
        let mut array = DerivativeArray::new(m, n, level);
        array.build(&data);
        // P and Q of the local equivalence are scales of rows and columns
        let (M, N) = array.inflated_pair(&data);
        let local = local_invariants(&M, &N, options.rule.of_numbers(M.rows(), M.cols())).map_err(failed)?;
        let sum = local.a + local.s;
        let c = sum as isize - sum_before;
        let v = m as isize - c - (local.r as isize - rank_before);
        let d = m as isize - sum as isize - v;
        let u = n as isize - sum as isize - d;
        let count = |x: isize| usize::try_from(x).unwrap_or(0);
        last = CharacteristicValues { mu: level, d: count(d), a: sum, v: count(v), u: count(u) };
        if c == local.a as isize {
            return Ok(last);
        }
        sum_before = sum as isize;
        rank_before = local.r as isize;
    }
    Err(ReductionError::IndexNotFound { t, max_index: options.max_index, last })
}

/// Do the rows X y = c fix the first `n` entries of y? X Δy = 0 ⇒ Δy₁ = … = Δyₙ = 0, that is
/// rank X = n + rank of the other columns. Hairer & Wanner, Solving ODEs II, VII.2, assumption (A1).
pub fn is_one_full(X: &Matrix, n: usize, tolerance: f64) -> Result<bool, NoConvergence> {
    let all = Mat::from_fn(X.rows(), X.cols(), |i, j| X[(i, j)]);
    let rest = Mat::from_fn(X.rows(), X.cols() - n, |i, j| X[(i, n + j)]);
    let threshold = tolerance * all.norm_l2();
    Ok(decompose(&all, threshold)?.0 == n + decompose(&rest, threshold)?.0)
}
