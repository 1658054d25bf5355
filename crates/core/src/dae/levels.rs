//! Ranks of the derivative array at a jet, level by level, and the projections that belong to them.
//!
//! With J = ∂𝔉_ℓ/∂(X_0, …, X_{ℓ+1}) = (N, M), M without the columns of X_0: Z spans the left null space of M, ZᵀN = (Z₂ Z₃)ᵀN has
//! rank a, T₂ spans ker Z₂ᵀN, F_ẋT₂ has rank d, v is what the corank of J grows by. The strangeness hypothesis holds where
//! d = m − a − v. Kunkel & Mehrmann (2006), Hypothesis 4.2; Steinbrecher (2006), 3.2.7.
//!
//! Everything is equilibrated before ranks are decided, and products are judged by the size of their factors.

use super::CharacteristicValues;
use crate::analysis::rank::{Decomposed, Scaling, scales};
use crate::linalg::Matrix;
use faer::Mat;

/// Singular values below this, in equilibrated matrices, count as zero.
pub const RANK_TOLERANCE: f64 = 1e-9;
/// A gap between kept and dropped singular values below this is undecided.
pub const CLEAR_GAP: f64 = 1e3;

/// Ranks at one level.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// How often the equations were differentiated.
    pub level: usize,
    /// Rank of the array with respect to all variables, r.
    pub rank: usize,
    /// Independent constraints on x up to this level, a.
    pub a: usize,
    /// Equations that become redundant at this level, v.
    pub v: usize,
    /// Rank of F_ẋ on the kernel of the constraints.
    pub d: usize,
    /// Does the strangeness hypothesis hold: d = m − a − v?
    pub holds: bool,
    /// Is ẋ determined by the array, (F_ẋ, …) being 1-full?
    pub one_full: bool,
    /// Smallest ratio of the smallest kept to the largest dropped singular value among the decisions.
    pub gap: f64,
}

/// Bases at a level where the hypothesis holds.
#[derive(Clone, Debug)]
pub struct Projections {
    /// m × d, Z₁ᵀF_ẋT₂ is regular.
    pub Z1: Mat<f64>,
    /// (ℓ+1)m × a: Z₂ᵀM = 0.
    pub Z2: Mat<f64>,
    /// (ℓ+1)m × rest: Z₃ᵀ(N, M) = 0; redundant combinations.
    pub Z3: Mat<f64>,
    /// Z₂ᵀN, a × n: the gradients of all constraints.
    pub constraints: Mat<f64>,
    /// n × u: what neither the constraints nor the differential equations determine.
    pub U: Mat<f64>,
}

/// Ranks and bases of an array at a point. `J` is its Jacobian, `before` the corank one level below.
pub fn analyse(J: &Matrix, m: usize, n: usize, level: usize, before: usize) -> Option<(Level, Projections, usize)> {
    let rows = m * (level + 1);
    let full = Mat::from_fn(rows, J.cols(), |i, j| J[(i, j)]);
    let (r, c) = scales(&full, Scaling::Both);
    let scaled = Mat::from_fn(rows, J.cols(), |i, j| r[i] * full[(i, j)] * c[j]);
    let mut gap = f64::INFINITY;
    let mut decide = |A: &Mat<f64>| -> Option<Decomposed> {
        let found = Decomposed::plain(A, RANK_TOLERANCE)?;
        gap = found.decision.gap().map_or(gap, |g| g.min(gap));
        Some(found)
    };
    let rank = decide(&scaled)?.decision.rank;
    let derivatives = scaled.subcols(n, J.cols() - n).to_owned();
    let by_derivatives = decide(&derivatives)?;
    let rank_K = by_derivatives.decision.rank;
    let higher = scaled.subcols(2 * n, J.cols() - 2 * n).to_owned();
    let rank_higher = decide(&higher)?.decision.rank;

    // left null space of M, split by ZᵀN
    let Z = by_derivatives.left_basis();
    let N = scaled.subcols(0, n).to_owned();
    let gradients = Z.transpose() * &N;
    let split = decide(&gradients)?;
    let a = split.decision.rank;
    let rotated = &Z * split.left_vectors();
    let (Z2, Z3) = (rotated.subcols(0, a).to_owned(), rotated.subcols(a, rotated.ncols() - a).to_owned());
    let T2 = split.null_basis();

    // F_ẋ T₂ in the units of the first rows and of x
    let E = Mat::from_fn(m, n, |i, j| r[i] * full[(i, n + j)] * c[j]);
    let (rE, _) = scales(&E, Scaling::Rows);
    let ET2 = Mat::from_fn(m, n, |i, j| rE[i] * E[(i, j)]) * &T2;
    let moving = decide(&ET2)?;
    let d = moving.decision.rank;
    let corank = rows - rank;
    let v = corank - before;
    let found = Level { level, rank, a, v, d, holds: a + d + v == m, one_full: rank_K == n + rank_higher, gap };

    // back to the units of the equations and unknowns
    let Z1 = moving.left_vectors();
    let Z1 = Mat::from_fn(m, d, |i, k| r[i] * rE[i] * Z1[(i, k)]);
    let Z2 = Mat::from_fn(rows, a, |i, k| r[i] * Z2[(i, k)]);
    let Z3 = Mat::from_fn(rows, Z3.ncols(), |i, k| r[i] * Z3[(i, k)]);
    let constraints = Z2.transpose() * full.subcols(0, n);
    let undetermined = &T2 * moving.null_basis();
    let U = Mat::from_fn(n, undetermined.ncols(), |j, k| c[j] * undetermined[(j, k)]);
    Some((found, Projections { Z1, Z2, Z3, constraints, U: orthonormal(&U) }, corank))
}

/// An orthonormal basis of the span of independent columns.
fn orthonormal(A: &Mat<f64>) -> Mat<f64> {
    if A.ncols() == 0 { A.clone() } else { A.qr().compute_thin_Q() }
}

/// Characteristic values at the first level where the hypothesis holds.
pub fn characteristic(level: &Level, m: usize, n: usize) -> CharacteristicValues {
    CharacteristicValues { mu: level.level, d: level.d, a: level.a, v: m - level.a - level.d, u: n - level.a - level.d }
}
