//! Structured pairs of mechanics and flow. Wunderlich, thesis (2008), chapter 4, Example 4.21.

use super::pair::sized;
use super::{MatrixPair, StructuredError, Symmetry};
use crate::blocks::put;
use daedal::linalg::{RankRule, Ranks};
use faer::{Mat, Scale};

/// M p″ + C p′ + K p = f + Gᵀλ, G p = 0 with M, K symmetric and C skew, in (p, v, λ); the right-hand side is (f, 0, 0). Self-adjoint:
///
/// ```text
/// [C M 0; −M 0 0; 0 0 0] z′ = [−K 0 Gᵀ; 0 −M 0; G 0 0] z
/// ```
/// With constraints of full rank its strangeness index is two, and no reduction keeps the symmetry.
pub fn gyroscopic_pair(M: &Mat<f64>, C: &Mat<f64>, K: &Mat<f64>, G: &Mat<f64>) -> Result<MatrixPair, StructuredError> {
    let (n, k) = (M.nrows(), G.nrows());
    mechanical(M, C, K, Symmetry::Skew)?;
    sized("G", G, (k, n))?;
    let size = 2 * n + k;
    let (mut E, mut A) = (Mat::zeros(size, size), Mat::zeros(size, size));
    let negative = |X: &Mat<f64>| X * Scale(-1.0);
    put(&mut E, 0, 0, C);
    put(&mut E, 0, n, M);
    put(&mut E, n, 0, &negative(M));
    put(&mut A, 0, 0, &negative(K));
    put(&mut A, n, n, &negative(M));
    put(&mut A, 0, 2 * n, &G.transpose().to_owned());
    put(&mut A, 2 * n, 0, G);
    MatrixPair::constant(E, A)
}

/// x′ = −L x + Gᵀλ + b₁, 0 = G x + b₂ with symmetric L, as flows under a constraint have after discretisation in space.
pub fn saddle_point_pair(L: &Mat<f64>, G: &Mat<f64>) -> Result<MatrixPair, StructuredError> {
    let (n, k) = (L.nrows(), G.nrows());
    sized("L", L, (n, n))?;
    sized("G", G, (k, n))?;
    Symmetry::Symmetric.require("L", L)?;
    let (mut E, mut A) = (Mat::zeros(n + k, n + k), Mat::zeros(n + k, n + k));
    put(&mut E, 0, 0, &Mat::identity(n, n));
    put(&mut A, 0, 0, &(L * Scale(-1.0)));
    put(&mut A, 0, n, &G.transpose().to_owned());
    put(&mut A, n, 0, G);
    MatrixPair::constant(E, A)
}

/// A structured form of first order of a linearised mechanical system.
#[derive(Clone, Debug, PartialEq)]
pub struct StructuredCompanion {
    /// The pair in (p, v); the right-hand side is (f, 0).
    pub pair: MatrixPair,
    /// v = Q₁ᵀp′, Q₁ a basis of range M.
    pub Q1: Mat<f64>,
    /// Symmetry of E, that of C.
    pub symmetry: Symmetry,
}

/// M p″ + C p′ + K p = f with M, K symmetric and C = ε Cᵀ, M possibly singular: M = Q₁M₁Q₁ᵀ, v = Q₁ᵀp′ and
///
/// ```text
/// [C Q₁M₁; ε M₁Q₁ᵀ 0] (p, v)′ = [−K 0; 0 ε M₁] (p, v) + (f, 0)        size n + rank M
/// ```
/// The full form with v = p′ leaves v undetermined on kernel M; this one does not.
pub fn structured_companion(
    M: &Mat<f64>,
    C: &Mat<f64>,
    K: &Mat<f64>,
    symmetry: Symmetry,
    rule: RankRule,
) -> Result<StructuredCompanion, StructuredError> {
    mechanical(M, C, K, symmetry)?;
    let n = M.nrows();
    let scale = M.norm_max().max(C.norm_max()).max(K.norm_max());
    let of_M = Ranks::new(rule).subspaces(M, scale)?;
    let (Q1, r) = (of_M.cokernel, of_M.rank);
    let M1 = Q1.transpose() * M * &Q1;
    let M1 = (&M1 + M1.transpose()) * Scale(0.5);
    let sign = Scale(symmetry.sign());
    let (mut E, mut A) = (Mat::zeros(n + r, n + r), Mat::zeros(n + r, n + r));
    let upper = &Q1 * &M1;
    put(&mut E, 0, 0, C);
    put(&mut E, 0, n, &upper);
    put(&mut E, n, 0, &(upper.transpose() * sign));
    put(&mut A, 0, 0, &(K * Scale(-1.0)));
    put(&mut A, n, n, &(&M1 * sign));
    Ok(StructuredCompanion { pair: MatrixPair::constant(E, A)?, Q1, symmetry })
}

fn mechanical(M: &Mat<f64>, C: &Mat<f64>, K: &Mat<f64>, damping: Symmetry) -> Result<(), StructuredError> {
    let n = M.nrows();
    for (what, X, symmetry) in [("M", M, Symmetry::Symmetric), ("C", C, damping), ("K", K, Symmetry::Symmetric)] {
        sized(what, X, (n, n))?;
        symmetry.require(what, X)?;
    }
    Ok(())
}
