//! Controllability, by staircases: no values of λ are tried. Wunderlich, thesis (2008), Theorem 5.38; Bunse-Gerstner, Mehrmann & Nichols (1992).
//!
//! ```text
//! complete, C-      rank [αE − βA, B] = n for all (α, β) ≠ 0:  R- and rank [E, B] = n
//! reachable, R-     rank [λE − A, B] = n for all finite λ
//! impulses, I-      rank [E, A S, B] = n,  S a basis of kernel E
//! ```
//! The n × (n + k) pencil λ[E 0] − [A B] loses rank at its finite eigenvalues, and for all λ exactly if it has blocks Lᵀ: both stand in its
//! Kronecker form.

use super::{ControlError, DescriptorSystem};
use crate::Kronecker;
use crate::blocks::beside;
use daedal_linear::linalg::{Mat, RankRule, Ranks};

/// What inputs can do to a system; of its dual, what outputs tell of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Controllability {
    /// Number of states n.
    pub n: usize,
    /// rank [E, B].
    pub at_infinity: usize,
    /// rank [E, A S, B].
    pub of_impulses: usize,
    /// Finite λ at which [λE − A, B] loses rank, as often as they count: what no input moves.
    pub fixed: Vec<(f64, f64)>,
    /// Sizes of blocks Lᵀ: combinations of equations, with so many derivatives, that contain neither unknowns nor inputs.
    pub empty: Vec<usize>,
    /// Real parts above minus this are not negative.
    margin: f64,
    /// Rank decisions.
    pub ranks: Ranks,
}

impl Controllability {
    /// Of a system.
    ///
    /// ```
    /// use daedal_linear::linalg::{Mat, RankRule};
    /// use daedal_pencils::control::{Controllability, DescriptorSystem};
    /// // x₁' = u, x₂' = 3 x₂: nothing moves x₂
    /// let I = Mat::<f64>::identity(2, 2);
    /// let A = Mat::from_fn(2, 2, |i, j| if (i, j) == (1, 1) { 3.0 } else { 0.0 });
    /// let B = Mat::from_fn(2, 1, |i, _| if i == 0 { 1.0 } else { 0.0 });
    /// let system = DescriptorSystem::new(I.clone(), A, B, I).unwrap();
    /// let found = Controllability::new(&system, RankRule::default()).unwrap();
    /// assert!(!found.is_reachable() && !found.is_stabilisable());
    /// assert!((found.fixed[0].0 - 3.0).abs() < 1e-12);
    /// ```
    pub fn new(system: &DescriptorSystem, rule: RankRule) -> Result<Self, ControlError> {
        let DescriptorSystem { E, A, B, .. } = &system.equilibrated();
        let mut ranks = Ranks::new(rule);
        let (n, k) = (system.dim(), B.ncols());
        let S = ranks.subspaces(E, 0.0)?.kernel;
        let scale = E.norm_max().max(A.norm_max()).max(B.norm_max());
        let at_infinity = ranks.rank(&beside(&[E, B]), scale)?;
        let of_impulses = ranks.rank(&beside(&[E, &(A * &S), B]), scale)?;
        let found = Kronecker::new(&beside(&[E, &Mat::zeros(n, k)]), &beside(&[A, B]), rule)?;
        ranks.decisions.extend(found.ranks.decisions);
        let rates = A.norm_max() / E.norm_max().max(f64::MIN_POSITIVE);
        let largest = found.finite.iter().fold(rates, |size, (re, im)| size.max(re.hypot(*im)));
        let margin = rule.of_numbers(n, n) * largest;
        Ok(Controllability { n, at_infinity, of_impulses, fixed: found.finite, empty: found.left, margin, ranks })
    }

    /// Of the dual system: observability.
    pub fn of_outputs(system: &DescriptorSystem, rule: RankRule) -> Result<Self, ControlError> {
        Self::new(&system.dual(), rule)
    }

    /// Complete (C-): every state can be reached from every other.
    pub fn is_complete(&self) -> bool {
        self.is_reachable() && self.at_infinity == self.n
    }

    /// Within the reachable set (R-): every consistent state can be reached from every other.
    pub fn is_reachable(&self) -> bool {
        self.fixed.is_empty() && self.empty.is_empty()
    }

    /// Of impulses (I-): a feedback can remove them.
    pub fn is_impulse_free(&self) -> bool {
        self.of_impulses == self.n
    }

    /// R- and I-.
    pub fn is_strong(&self) -> bool {
        self.is_reachable() && self.is_impulse_free()
    }

    /// Does what no input moves decay? Of the dual system: is it detectable?
    pub fn is_stabilisable(&self) -> bool {
        self.empty.is_empty() && self.fixed.iter().all(|(re, _)| *re < -self.margin)
    }
}
