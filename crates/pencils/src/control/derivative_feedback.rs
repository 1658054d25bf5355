//! Feedback of derivatives, u = −G ẋ + w, after which (E + B G, A) is regular with index one at most.
//!
//! With U₁, U₂ bases of range and corange of B only U₁ᵀE can be changed, arbitrarily. Let W be a basis of kernel U₂ᵀE and Z₂ one of
//! the corange of [E B]. The closed loop has a kernel inside of W, and its left kernel contains Z₂; so Z₂ᵀAW must have full row rank:
//!
//! ```text
//! rank [E, A W, B] = n
//! ```
//! and that is enough: U₁ᵀ(E + B G) vanishes where Z₂ᵀA is regular on W, and is regular on the rest of W. If rank [E, B] = n, Z₂ is empty and E + B G
//! is regular. Kernel E lies in W, so that derivatives achieve at least what states do, and combined feedback u = F x − G ẋ no more.

use super::regularisation::{RegularisingFeedback, closed_loop, largest_singular_value, pseudo_inverse, raising};
use super::{ControlError, DescriptorSystem};
use crate::blocks::beside;
use daedal_linear::linalg::{Mat, RankRule, Ranks};

/// u = −G ẋ + w.
pub fn regularise_derivative(system: &DescriptorSystem, rule: RankRule) -> Result<RegularisingFeedback, ControlError> {
    let DescriptorSystem { E, A, B, .. } = &system.equilibrated();
    let (n, k) = (system.dim(), B.ncols());
    let mut ranks = Ranks::new(rule);
    let of_E = ranks.subspaces(E, 0.0)?;
    let system = DescriptorSystem { C: Mat::identity(n, n), ..system.clone() };
    let M = of_E.corange.transpose() * A * &of_E.kernel;
    if ranks.rank(&M, A.norm_max())? == M.nrows() {
        return closed_loop(&system, Mat::zeros(k, n), Mat::zeros(k, n), rule);
    }
    let of_B = ranks.subspaces(B, 0.0)?;
    let (U1, U2) = (&of_B.range, &of_B.corange);
    let W = ranks.subspaces(&(U2.transpose() * E), E.norm_max())?.kernel;
    let Z2 = ranks.subspaces(&beside(&[E, B]), 0.0)?.corange;
    let Y = ranks.subspaces(&(Z2.transpose() * A * &W), A.norm_max())?;
    if Y.rank < Z2.ncols() {
        let rank = n - Z2.ncols() + Y.rank;
        return Err(ControlError::NotRegularisable { kind: "derivative", condition: "[E, AW, B]", rank, n });
    }
    // zero on T̄, regular on the rest of W
    let (T, rest) = (&W * &Y.cokernel, &W * &Y.kernel);
    let E1 = U1.transpose() * E;
    let size = largest_singular_value(&beside(&[E, B]))?;
    let X = raising(&(&E1 * &rest), size)? * rest.transpose() - &E1 * &T * T.transpose();
    let G = pseudo_inverse(&of_B) * U1 * X;
    closed_loop(&system, Mat::zeros(k, n), G, rule)
}
