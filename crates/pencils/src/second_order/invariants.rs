//! Local invariants of a triple (M, C, K). Wunderlich, thesis (2008), Lemma 3.8.
//!
//! ```text
//! V₁ = kernel Mᵀ,  V₂ = kernel M,  V₃ = kernel Mᵀ ∩ kernel Cᵀ,  V₄ = kernel M ∩ kernel V₁ᵀC
//! ```

use super::SecondOrderError;
use crate::blocks::below;
use daedal::linalg::Ranks;
use faer::Mat;

/// Invariants of a triple at one point under local equivalence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TripleInvariants {
    /// rank M.
    pub r: usize,
    /// Algebraic part.
    pub a: usize,
    /// Unknowns with equations of second, first and zeroth order.
    pub s_mck: usize,
    /// Unknowns with equations of first and zeroth order.
    pub s_ck: usize,
    /// Differential part of first order.
    pub d1: usize,
    /// Unknowns with equations of second and first order.
    pub s_mc: usize,
    /// Unknowns with equations of second and zeroth order.
    pub s_mk: usize,
    /// Differential part of second order.
    pub d2: usize,
    /// Vanishing equations.
    pub v: usize,
    /// Undetermined unknowns.
    pub u: usize,
}

impl TripleInvariants {
    /// No unknown has equations of different order.
    pub fn strangeness_free(&self) -> bool {
        self.s_mck + self.s_ck + self.s_mc + self.s_mk == 0
    }
}

/// Local invariants of (M, C, K), all of the same size. Equilibrate the rows before.
///
/// ```
/// use daedal::linalg::{Mat, Ranks};
/// use daedal_pencils::second_order::local_invariants;
/// // x₁″ + x₁′ + x₂ = f₁, x₁ = f₂: the first unknown is of second and of zeroth order
/// let (mut M, mut K) = (Mat::zeros(2, 2), Mat::zeros(2, 2));
/// M[(0, 0)] = 1.0;
/// (K[(0, 1)], K[(1, 0)]) = (1.0, 1.0);
/// let found = local_invariants(&M, &M, &K, &mut Ranks::default()).unwrap();
/// assert_eq!((found.r, found.s_mk, found.u), (1, 1, 1));
/// ```
pub fn local_invariants(
    M: &Mat<f64>,
    C: &Mat<f64>,
    K: &Mat<f64>,
    ranks: &mut Ranks,
) -> Result<TripleInvariants, SecondOrderError> {
    let (m, n) = (M.nrows(), M.ncols());
    for (what, X) in [("C", C), ("K", K)] {
        if (X.nrows(), X.ncols()) != (m, n) {
            return Err(SecondOrderError::Size { what, expected: (m, n), found: (X.nrows(), X.ncols()) });
        }
    }
    let scale = M.norm_max().max(C.norm_max()).max(K.norm_max());
    let of_M = ranks.subspaces(M, scale)?;
    let (V1, V2) = (&of_M.corange, &of_M.kernel);
    let CtV1 = C.transpose() * V1;
    let of_CtV1 = ranks.subspaces(&CtV1, scale)?;
    let V3 = V1 * &of_CtV1.kernel;
    let of_V1CV2 = ranks.subspaces(&(V1.transpose() * C * V2), scale)?;
    let V4 = V2 * &of_V1CV2.kernel;
    let KtV3 = K.transpose() * &V3;
    let of_KtV3 = ranks.subspaces(&KtV3, scale)?;

    let r = of_M.rank;
    let a = ranks.rank(&(KtV3.transpose() * &V4), scale)?;
    // dimension of an intersection: common kernel of the complementary projectors
    let away = |basis: &Mat<f64>| Mat::<f64>::identity(n, n) - basis * basis.transpose();
    let complements = below(&[&away(&of_M.cokernel), &away(&of_CtV1.range), &away(&of_KtV3.range)]);
    let s_mck = n - ranks.rank(&complements, 1.0)?;
    let s_ck = ranks.rank(&(KtV3.transpose() * V2), scale)? - a;
    let d1 = of_V1CV2.rank - s_ck;
    let s_mc = of_CtV1.rank - s_mck - s_ck - d1;
    let s_mk = of_KtV3.rank - a - s_mck - s_ck;
    Ok(TripleInvariants {
        r,
        a,
        s_mck,
        s_ck,
        d1,
        s_mc,
        s_mk,
        d2: r - s_mck - s_mc - s_mk,
        v: m - r - 2 * s_ck - d1 - 2 * s_mck - s_mc - a - s_mk,
        u: n - r - s_ck - d1 - a,
    })
}
