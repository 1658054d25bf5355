//! Ranks of the derivative array at a jet, level by level, and the projections that belong to them.
//!
//! With J = ∂𝔉_ℓ/∂(X_0, …, X_{ℓ+1}) = (N, M), M without the columns of X_0: Z spans the left null space of M, ZᵀN = (Z₂ Z₃)ᵀN has
//! rank a, T₂ spans ker Z₂ᵀN, F_ẋT₂ has rank d, v is what the corank of J grows by. The strangeness hypothesis holds where
//! d = m − a − v. Kunkel & Mehrmann (2006), Hypothesis 4.2; Steinbrecher (2006), 3.2.7.
//!
//! Everything is equilibrated before ranks are decided, and products are judged by the size of their factors. Singular values decide about dense arrays,
//! pivots about sparse ones ([`analyse_sparse`]).

use super::CharacteristicValues;
use crate::linalg::rank::{CLEARLY_DIFFERENT, Decomposed, Elimination, ON_JET, RankRule, Scales, Scaling};
use crate::linalg::{Matrix, SparseMatrix};
use faer::Mat;

/// Entries of orthonormal bases below this are rounding.
const ROUNDING: f64 = 1e-12;

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

/// Scales of a row may grow so much while it becomes smaller: a row that vanishes on the way is not scaled up.
pub(crate) const MOST_GROWTH: f64 = 16.0;

/// What is known from points before. At points that satisfy the equations only to a tolerance, redundant rows look independent.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// Of M.
    pub derivatives: usize,
    /// Of ZᵀN.
    pub a: usize,
    /// Of F_ẋT₂.
    pub d: usize,
    /// Largest entries so far of the rows of F_ẋ.
    pub sizes: Vec<f64>,
}

/// Ranks and bases of an array at a point. `J` is its Jacobian, `before` the corank one level below, `known` ranks that are kept as
/// long as the singular values do not clearly contradict.
pub fn analyse(
    J: &Matrix,
    (m, n): (usize, usize),
    level: usize,
    before: usize,
    known: Option<&Known>,
    rule: RankRule,
) -> Option<(Level, Projections, Known)> {
    let rows = m * (level + 1);
    let mut gap = f64::INFINITY;
    let mut decide = |A: &Mat<f64>, known: Option<usize>| -> Option<Decomposed> {
        let mut found = Decomposed::plain(A, rule.or(ON_JET))?;
        if let Some(known) = known {
            found.keep_rank(known, CLEARLY_DIFFERENT);
        }
        gap = found.decision.gap().between().map_or(gap, |g| g.min(gap));
        Some(found)
    };

    // M with scales of its own: large coefficients of x do not hide small ones of its derivatives
    let M = Mat::from_fn(rows, J.cols() - n, |i, j| J[(i, n + j)]);
    let of_M = Scales::of(&M, Scaling::Both);
    let by_derivatives = decide(&of_M.scaled(&M), known.map(|k| k.derivatives))?;
    let rank_M = by_derivatives.decision.rank;
    let higher = Mat::from_fn(rows, J.cols() - 2 * n, |i, j| J[(i, 2 * n + j)]);
    let rank_higher = decide(&Scales::of(&higher, Scaling::Both).scaled(&higher), None)?.decision.rank;

    // left null space of M, split by ZᵀN; its entries are judged by the sizes they are summed from
    let basis = by_derivatives.left_basis();
    // what is only rounded stays out, or it would be scaled up
    let clean = |z: f64| if z.abs() < ROUNDING { 0.0 } else { z };
    let Z = Mat::from_fn(rows, basis.ncols(), |i, k| of_M.rows[i] * clean(basis[(i, k)]));
    let N = Mat::from_fn(rows, n, |i, j| J[(i, j)]);
    let gradients = Z.transpose() * &N;
    let sizes = absolute(&Z).transpose() * absolute(&N);
    let by_sizes = Scales::of(&sizes, Scaling::Both);
    let split = decide(&by_sizes.scaled(&gradients), known.map(|k| k.a))?;
    let Scales { rows: rz, columns: cx, .. } = by_sizes;
    let a = split.decision.rank;
    let balanced = Mat::from_fn(rows, Z.ncols(), |i, k| Z[(i, k)] * rz[k]);
    let rotated = balanced * split.left_vectors();
    let (Z2, Z3) = (rotated.subcols(0, a).to_owned(), rotated.subcols(a, rotated.ncols() - a).to_owned());
    let T2 = split.null_basis();

    // F_ẋT₂ in the units of x; T₂ is orthonormal there, and its rounding must not be scaled up
    let E = Mat::from_fn(m, n, |i, j| J[(i, n + j)] * cx[j]);
    let mut re = Scales::of(&E, Scaling::Rows).rows;
    let largest = |i: usize| (0..n).map(|j| J[(i, n + j)].abs()).fold(0.0, f64::max);
    let mut sizes: Vec<f64> = (0..m).map(largest).collect();
    if let Some(known) = known {
        for ((size, before), scale) in sizes.iter_mut().zip(&known.sizes).zip(&mut re) {
            *scale *= (MOST_GROWTH * *size / before).min(1.0);
            *size = size.max(*before);
        }
    }
    let ET2 = Mat::from_fn(m, n, |i, j| re[i] * E[(i, j)]) * &T2;
    let moving = decide(&ET2, known.map(|k| k.d))?;
    let d = moving.decision.rank;

    let rank = rank_M + a;
    let v = (rows - rank).saturating_sub(before);
    let one_full = rank_M == n + rank_higher;
    let found = Level { level, rank, a, v, d, holds: a + d + v == m, one_full, gap };
    let left = moving.left_vectors();
    let Z1 = Mat::from_fn(m, d, |i, k| re[i] * left[(i, k)]);
    // rows of size one
    let leading = Z1.transpose() * Mat::from_fn(m, n, |i, j| J[(i, n + j)]);
    let Z1 = normalised(&Z1, &leading);
    let Z2 = normalised(&Z2, &(Z2.transpose() * &N));
    let constraints = Z2.transpose() * &N;
    let undetermined = &T2 * moving.null_basis();
    let U = Mat::from_fn(n, undetermined.ncols(), |j, k| cx[j] * undetermined[(j, k)]);
    let known = Known { derivatives: rank_M, a, d, sizes };
    Some((found, Projections { Z1, Z2, Z3, constraints, U: orthonormal(&U) }, known))
}

/// What is known of a level where the hypothesis holds, without bases: rows and columns that have no pivots.
#[derive(Clone, Debug, PartialEq)]
pub struct Pivots {
    /// Gradients of all constraints, Z₂ᵀN, as (unknown, slope).
    pub constraints: Vec<Vec<(usize, f64)>>,
    /// Unknowns that neither the constraints nor the differential equations give a pivot.
    pub undetermined: Vec<usize>,
    /// Rows of the array that depend on others.
    pub redundant: Vec<usize>,
}

/// The same ranks of a sparse array. Derivatives are eliminated, the highest first; what is left are the gradients Z₂ᵀN of the constraints; F_ẋ below
/// them has rank a + d.
pub fn analyse_sparse(
    J: &SparseMatrix,
    (m, n): (usize, usize),
    level: usize,
    before: usize,
    rule: RankRule,
) -> (Level, Pivots) {
    let (rows, tau) = (m * (level + 1), rule.or(ON_JET));
    let mut array = Elimination::new(J, tau);
    array.eliminate(|_| true, |j| j >= 2 * n);
    let rank_higher = array.rank();
    array.eliminate(|_| true, |j| j >= n);
    let rank_M = array.rank();
    let mut gap = array.take_gap();
    let left: Vec<usize> = (0..rows).filter(|&i| !array.has_pivot(i)).collect();
    let gradients: Vec<Vec<(usize, f64)>> = left.iter().map(|&i| array.row(i).collect()).collect();
    array.eliminate(|_| true, |_| true);
    gap = gap.min(array.take_gap());
    let kept = left.iter().zip(gradients).filter(|(i, _)| array.has_pivot(**i));
    let constraints: Vec<_> = kept.map(|(_, row)| row).collect();
    let (a, rank) = (array.rank() - rank_M, array.rank());
    let leading = (0..m).map(|i| {
        let (columns, values) = J.row(i);
        let entries = columns.iter().zip(values).filter(|(j, _)| (n..2 * n).contains(*j));
        entries.map(|(&j, &e)| (j - n, e)).collect::<Vec<_>>()
    });
    let mut moving = Elimination::of_rows(constraints.iter().cloned().chain(leading), n, tau);
    moving.eliminate(|i| i < a, |_| true);
    moving.eliminate(|_| true, |_| true);
    gap = gap.min(moving.take_gap());
    let d = moving.rank() - a;
    let v = (rows - rank).saturating_sub(before);
    let one_full = rank_M == n + rank_higher;
    let found = Level { level, rank, a, v, d, holds: a + d + v == m, one_full, gap };
    let undetermined = (0..n).filter(|&j| !moving.is_taken(j)).collect();
    let redundant = left.into_iter().filter(|&i| !array.has_pivot(i)).collect();
    (found, Pivots { constraints, undetermined, redundant })
}

/// Columns of Z divided by the largest entries of the rows they make.
fn normalised(Z: &Mat<f64>, rows: &Mat<f64>) -> Mat<f64> {
    let size = |k: usize| (0..rows.ncols()).map(|j| rows[(k, j)].abs()).fold(f64::MIN_POSITIVE, f64::max);
    let sizes: Vec<f64> = (0..Z.ncols()).map(size).collect();
    Mat::from_fn(Z.nrows(), Z.ncols(), |i, k| Z[(i, k)] / sizes[k])
}

fn absolute(A: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(A.nrows(), A.ncols(), |i, j| A[(i, j)].abs())
}

/// An orthonormal basis of the span of independent columns.
fn orthonormal(A: &Mat<f64>) -> Mat<f64> {
    if A.ncols() == 0 { A.clone() } else { A.qr().compute_thin_Q() }
}

/// Characteristic values at the first level where the hypothesis holds.
pub(crate) fn characteristic(level: &Level, m: usize, n: usize) -> CharacteristicValues {
    CharacteristicValues { mu: level.level, d: level.d, a: level.a, v: m - level.a - level.d, u: n - level.a - level.d }
}
