//! Do the equations of contact and auxiliary variables define them? ∂c/∂s and ∂d/∂w must be regular.

use super::linearised::Linearised;
use crate::linalg::RankRule;
use crate::linalg::rank::{Combination, Decomposed, RankDecision, Scaling};
use crate::motion::Names;

/// A square block of equations for the variables of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Regularity {
    /// Its rank; the condition number is that of the scaled block.
    pub rank: RankDecision,
    /// Combinations of variables that the equations do not define.
    pub undefined: Vec<Combination>,
    /// Combinations of equations that do not contain the variables.
    pub surplus: Vec<Combination>,
}

impl Regularity {
    /// Has the block full rank?
    pub fn is_regular(&self) -> bool {
        self.undefined.is_empty()
    }

    fn of(A: &faer::Mat<f64>, names: &[String], ranks: RankRule) -> Option<Self> {
        let found = Decomposed::of(A, Scaling::Both, ranks)?;
        let told = |vectors: Vec<Vec<f64>>| vectors.iter().map(|v| Combination::of(v, names)).collect();
        Some(Regularity {
            undefined: told(found.null_vectors()),
            surplus: told(found.left_null_vectors()),
            rank: found.decision,
        })
    }
}

/// ∂c/∂s; `None` without contact variables.
pub(super) fn contact(at: &Linearised, names: &Names) -> Option<Regularity> {
    let l = &at.layout;
    if l.s().is_empty() {
        return None;
    }
    Regularity::of(&at.block(l.row_contact(), l.s()), &names.contact, at.means.ranks)
}

/// ∂d/∂w; `None` without auxiliary variables.
pub(super) fn auxiliary(at: &Linearised, names: &Names) -> Option<Regularity> {
    let l = &at.layout;
    if l.w().is_empty() {
        return None;
    }
    Regularity::of(&at.block(l.row_auxiliary(), l.w()), &names.auxiliary, at.means.ranks)
}
