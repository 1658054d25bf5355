//! States that a mode can be in, and transfers between modes. Wunderlich, thesis (2008), Definition 5.40 and Theorem 5.42.
//!
//! With the split x = X (z, y) of a regular pencil, N ż = z + B₁u and ẏ = J y + B₂u:
//!
//! ```text
//! admissible   y arbitrary, z ∈ Σ range NⁱB₁        consistent for some smooth input
//! reachable    y ∈ Σ range JⁱB₂, the same z         from zero
//! ```

use super::system::{columns, rows};
use super::{ControlError, DescriptorSystem};
use crate::RegularPencil;
use crate::blocks::beside;
use daedal_linear::linalg::{Mat, RankRule, Ranks};

/// Subspaces of the states of a regular mode, with orthonormal bases.
#[derive(Clone, Debug)]
pub struct StateSpaces {
    /// Consistent for some smooth input.
    pub admissible: Mat<f64>,
    /// Reached from zero.
    pub reachable: Mat<f64>,
}

impl StateSpaces {
    /// Of a mode.
    pub fn new(system: &DescriptorSystem, rule: RankRule) -> Result<Self, ControlError> {
        let n = system.dim();
        let pencil = RegularPencil::new(&rows(&system.E), &rows(&system.A), rule.of_numbers(n, n))?;
        let parts = pencil.parts();
        let mut ranks = Ranks::new(rule);
        let mut reached =
            |J: &Mat<f64>, of: &Mat<f64>| krylov(J, &(of * &system.B), of.norm_max() * system.B.norm_max(), &mut ranks);
        let infinite = reached(&columns(parts.N), &parts.of_infinite)?;
        let finite = reached(&columns(parts.J), &parts.of_finite)?;
        let z = &parts.infinite * infinite;
        let span = |ranks: &mut Ranks, y: &Mat<f64>| -> Result<Mat<f64>, ControlError> {
            Ok(ranks.subspaces(&beside(&[&z, y]), 0.0)?.range)
        };
        let admissible = span(&mut ranks, &parts.finite)?;
        let reachable = span(&mut ranks, &(&parts.finite * finite))?;
        Ok(StateSpaces { admissible, reachable })
    }
}

/// Orthonormal basis of Σ range JⁱB, each step orthogonal to the ones before.
fn krylov(J: &Mat<f64>, B: &Mat<f64>, size_of_B: f64, ranks: &mut Ranks) -> Result<Mat<f64>, ControlError> {
    let scale = J.norm_max();
    let mut basis = ranks.subspaces(B, size_of_B)?.range;
    let mut new = basis.clone();
    while new.ncols() > 0 && basis.ncols() < J.nrows() {
        let next = J * &new;
        let outside = &next - &basis * (basis.transpose() * &next);
        new = ranks.subspaces(&outside, scale)?.range;
        basis = beside(&[&basis, &new]);
    }
    Ok(basis)
}

/// Dimension of what a transfer x ↦ T x carries from these states, restricted to the kernel of `surface`, out of the admissible states of the
/// mode that is entered: zero if the transfer is consistent.
pub fn transfer_surplus(
    from: &Mat<f64>,
    surface: &Mat<f64>,
    T: &Mat<f64>,
    admissible: &Mat<f64>,
    rule: RankRule,
) -> Result<usize, ControlError> {
    let mut ranks = Ranks::new(rule);
    let on = from * ranks.subspaces(&(surface * from), surface.norm_max())?.kernel;
    let outside = ranks.subspaces(admissible, 0.0)?.corange;
    Ok(ranks.rank(&(outside.transpose() * T * on), T.norm_max())?)
}
