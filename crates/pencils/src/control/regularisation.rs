//! Feedback u = F y + w after which (E, A + B F C) is regular with index one at most. Wunderlich, thesis (2008), Theorem 5.43;
//! Bunse-Gerstner, Mehrmann & Nichols (1992).
//!
//! With bases T of kernel E and Z of kernel Eᵀ the closed loop is regular with index ≤ 1 exactly if Zᵀ(A + B F C)T = M + N F K is regular,
//! M = ZᵀAT, N = ZᵀB, K = CT. Orthogonal bases of the range of N and of the cokernel of K give
//!
//! ```text
//! [M₁₁ + X  M₁₂]      X = N₁ F K₁ arbitrary,  M₂₂ = P₁ Σ W₁ᵀ
//! [M₂₁      M₂₂]      regular ⇔ Lᵀ(M₁₁ + X − M₁₂ W₁ Σ⁻¹ P₁ᵀ M₂₁)R regular,  Lᵀ M₁₂ W₂ = 0,  P₂ᵀ M₂₁ R = 0
//! ```
//! which X can achieve if rank [E, AT, B] = n and rank [E; ZᵀA; C] = n. Small singular values of the last matrix are raised; nothing else
//! is changed. State feedback is the case C = I.

use super::{ControlError, DescriptorSystem};
use crate::Kronecker;
use crate::blocks::{below, beside};
use daedal_linear::linalg::{Mat, RankRule, Ranks, Subspaces, Svd};
use faer::Scale;

/// Singular values below this part of the matrix are raised to its size by a feedback. A choice of conditioning, not of rank.
const RAISED: f64 = 0.1;

/// A feedback u = F y − G ẋ + w, and its closed loop E₁ ẋ = A₁ x + B w.
#[derive(Clone, Debug, PartialEq)]
pub struct RegularisingFeedback {
    /// Factor of the outputs, or of the states; zero without need.
    pub F: Mat<f64>,
    /// Factor of −ẋ.
    pub G: Mat<f64>,
    /// E + B G.
    pub E: Mat<f64>,
    /// A + B F C, with C = I for a feedback of states.
    pub A: Mat<f64>,
    /// The closed loop: regular, index one at most.
    pub pencil: Kronecker,
    /// Was the system regular with index ≤ 1 before?
    pub needless: bool,
}

/// u = F x + w.
pub fn regularise_state(system: &DescriptorSystem, rule: RankRule) -> Result<RegularisingFeedback, ControlError> {
    let n = system.dim();
    proportional(&DescriptorSystem { C: Mat::identity(n, n), ..system.clone() }, "state", rule)
}

/// u = F y + w.
pub fn regularise_output(system: &DescriptorSystem, rule: RankRule) -> Result<RegularisingFeedback, ControlError> {
    proportional(system, "output", rule)
}

fn proportional(
    system: &DescriptorSystem,
    kind: &'static str,
    rule: RankRule,
) -> Result<RegularisingFeedback, ControlError> {
    let DescriptorSystem { E, A, B, C } = &system.equilibrated();
    let (n, k, p) = (system.dim(), B.ncols(), C.nrows());
    let mut ranks = Ranks::new(rule);
    let of_E = ranks.subspaces(E, 0.0)?;
    let (T, Z) = (of_E.kernel, of_E.corange);
    let M = Z.transpose() * A * &T;
    let (N, K) = (Z.transpose() * B, C * &T);
    let q = T.ncols();
    let deficient = |condition, rank| ControlError::NotRegularisable { kind, condition, rank: of_E.rank + rank, n };
    let rank = ranks.rank(&beside(&[&M, &N]), A.norm_max().max(B.norm_max()))?;
    if rank < q {
        return Err(deficient("[E, AT, B]", rank));
    }
    let rank = ranks.rank(&below(&[&M, &K]), A.norm_max().max(C.norm_max()))?;
    if rank < q {
        return Err(deficient("[E; ZᵀA; C]", rank));
    }
    if ranks.rank(&M, A.norm_max())? == q {
        return closed_loop(system, Mat::zeros(k, p), Mat::zeros(k, n), rule);
    }
    let (of_N, of_K) = (ranks.subspaces(&N, B.norm_max())?, ranks.subspaces(&K, C.norm_max())?);
    let block = |rows: &Mat<f64>, cols: &Mat<f64>| rows.transpose() * &M * cols;
    let (M11, M12) = (block(&of_N.range, &of_K.cokernel), block(&of_N.range, &of_K.kernel));
    let (M21, M22) = (block(&of_N.corange, &of_K.cokernel), block(&of_N.corange, &of_K.kernel));
    let of_M22 = ranks.subspaces(&M22, A.norm_max())?;
    // Schur complement of the regular part of M₂₂
    let inverse =
        Mat::from_fn(of_M22.rank, of_M22.rank, |i, j| if i == j { 1.0 / of_M22.singular_values[i] } else { 0.0 });
    let through = &M12 * &of_M22.cokernel * inverse * of_M22.range.transpose() * &M21;
    let L = ranks.subspaces(&(&M12 * &of_M22.kernel), A.norm_max())?.corange;
    let R = ranks.subspaces(&(of_M22.corange.transpose() * &M21), A.norm_max())?.kernel;
    let size = largest_singular_value(&beside(&[&M, &N]))?;
    let X = &L * raising(&(L.transpose() * (M11 - through) * &R), size)? * R.transpose();
    // N F K = U₁ X V₁ᵀ
    let F = pseudo_inverse(&of_N) * &of_N.range * X * of_K.cokernel.transpose() * pseudo_inverse(&of_K);
    closed_loop(system, F, Mat::zeros(k, n), rule)
}

/// X⁺ from its subspaces.
pub(super) fn pseudo_inverse(of: &Subspaces) -> Mat<f64> {
    let inverse = Mat::from_fn(of.rank, of.rank, |i, j| if i == j { 1.0 / of.singular_values[i] } else { 0.0 });
    &of.cokernel * inverse * of.range.transpose()
}

/// What must be added to a square matrix so that its singular values are not small against `size`.
pub(super) fn raising(S: &Mat<f64>, size: f64) -> Result<Mat<f64>, ControlError> {
    let r = S.nrows();
    let mut svd = Svd::new(r, S.ncols());
    svd.A.copy_from(S);
    svd.factor()?;
    let added = Mat::from_fn(r, r, |i, j| {
        let sigma = svd.sigma(i);
        if i == j && sigma < RAISED * size { size - sigma } else { 0.0 }
    });
    Ok(&svd.U * added * svd.V.transpose())
}

/// ‖X‖₂.
pub(super) fn largest_singular_value(X: &Mat<f64>) -> Result<f64, ControlError> {
    let mut svd = Svd::new(X.nrows(), X.ncols());
    svd.A.copy_from(X);
    svd.factor()?;
    Ok(svd.sigma(0))
}

/// The closed loop, looked at.
pub(super) fn closed_loop(
    system: &DescriptorSystem,
    F: Mat<f64>,
    G: Mat<f64>,
    rule: RankRule,
) -> Result<RegularisingFeedback, ControlError> {
    let DescriptorSystem { E, A, B, C } = system;
    let (E, A) = (E + B * &G, A + B * &F * C);
    let pencil = Kronecker::new(&E, &A, rule)?;
    if !pencil.is_regular() || pencil.index() > 1 {
        return Err(ControlError::Unclear);
    }
    let needless = F.norm_max() == 0.0 && G.norm_max() == 0.0;
    let without_sign = |X: Mat<f64>| if needless { X * Scale(0.0) } else { X };
    Ok(RegularisingFeedback { F: without_sign(F), G: without_sign(G), E, A, pencil, needless })
}
