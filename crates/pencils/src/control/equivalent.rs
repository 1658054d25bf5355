//! Sliding-mode control: the input that holds a system on surfaces C x = 0. Wunderlich, thesis (2008), 5.6.4, (5.76) and Theorem 5.49.
//!
//! With index ≤ 1, ẏ = J y + B₂(B u + b) and z = −B₁(B u + b), x = X₁z + X₂y. For u̇ = 0 the surface s = C x has
//!
//! ```text
//! ṡ = C X₂(J y + B₂b) − C X₁B₁ḃ + Q u,        Q = C X₂B₂B        (C₁B₁₂ of the thesis)
//! u_eq = −Q⁻¹(C X₂J y + C X₂B₂b − C X₁B₁ḃ)
//! ```
//! so that ṡ = Q(u − u_eq): a single surface is reached if Q(u − u_eq) < 0 where s > 0, and > 0 where s < 0.

use super::system::{columns, rows};
use super::{ControlError, DescriptorSystem};
use crate::{Kronecker, RegularPencil};
use daedal_linear::linalg::{Mat, RankRule, Ranks};
use faer::Scale;
use faer::linalg::solvers::Solve;

/// u_eq = K x + K_b b + K_r ḃ.
#[derive(Clone, Debug, PartialEq)]
pub struct EquivalentControl {
    /// Factor of the states, k × n.
    pub of_states: Mat<f64>,
    /// Factor of b in E ẋ = A x + B u + b, k × n.
    pub of_b: Mat<f64>,
    /// Factor of ḃ, k × n.
    pub of_rate: Mat<f64>,
    /// Q with ṡ = Q(u − u_eq).
    pub crossing: Mat<f64>,
    /// The system while it slides: regular, index one at most.
    pub sliding: Kronecker,
}

impl EquivalentControl {
    /// For surfaces C x = const, the C of the system, as many as there are inputs.
    pub fn new(system: &DescriptorSystem, rule: RankRule) -> Result<Self, ControlError> {
        let DescriptorSystem { E, A, B, C } = system;
        let (n, k, s) = (system.dim(), B.ncols(), C.nrows());
        if s != k {
            return Err(ControlError::Count { what: "surfaces, one for each input", found: s, wanted: k });
        }
        let pencil = RegularPencil::new(&rows(E), &rows(A), rule.of_numbers(n, n))?;
        if pencil.index() > 1 {
            return Err(ControlError::HighIndex { index: pencil.index() });
        }
        let parts = pencil.parts();
        let along = C * &parts.finite;
        let of_b = &along * &parts.of_finite;
        let of_rate = C * &parts.infinite * &parts.of_infinite * Scale(-1.0);
        let Q = &of_b * B;
        let rank = Ranks::new(rule).rank(&Q, of_b.norm_max() * B.norm_max())?;
        if rank < k {
            return Err(ControlError::NotTransversal { rank, size: k });
        }
        let lu = Q.partial_piv_lu();
        let solved = |X: &Mat<f64>| -> Mat<f64> { lu.solve(X) * Scale(-1.0) };
        let of_states = solved(&(along * columns(parts.J) * &parts.coordinates));
        let sliding = Kronecker::new(E, &(A + B * &of_states), rule)?;
        if !sliding.is_regular() || sliding.index() > 1 {
            return Err(ControlError::Unclear);
        }
        Ok(EquivalentControl { of_b: solved(&of_b), of_rate: solved(&of_rate), of_states, crossing: Q, sliding })
    }
}
