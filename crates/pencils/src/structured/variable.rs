//! When does a structured reduction exist for variable coefficients? Wunderlich, thesis (2008), Assumption 4.8, Theorem 4.10 and
//! Corollary 4.13, which needs a constant kernel.
//!
//! ```text
//! kernel E constant:  rank [E; E′] = rank E
//! range of the coupling S = A₁₂W constant (W = kernel A₂₂):  rank [S, A₁₂′W − A₁₂A₂₂⁺A₂₂′W] = rank S
//! ```

use super::invariants::split;
use super::pair::sized;
use super::reduction::solve;
use super::{MatrixPair, StructuredError, StructuredInvariants, Symmetry};
use crate::blocks::{below, beside};
use daedal::linalg::{Matrix, Ranks, symmetric_eigenvalues};
use faer::Mat;

/// What holds at a point of a structured pair with variable coefficients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VariableConditions {
    /// Sizes at the point.
    pub sizes: StructuredInvariants,
    /// kernel E, and with it range E, does not move.
    pub kernel_constant: bool,
    /// The range of the coupling does not move; known where A′ is given and kernel E is constant.
    pub coupling_constant: Option<bool>,
    /// E₂₂ is regular, or d = 0.
    pub E22_regular: bool,
    /// E is symmetric and has no negative eigenvalue.
    pub semidefinite: bool,
}

impl VariableConditions {
    /// A symmetric pair can be reduced by congruences that keep its symmetry.
    pub fn symmetric_reduction_possible(&self) -> bool {
        self.kernel_constant && self.E22_regular
    }

    /// E is semidefinite with constant kernel: the strangeness index of a symmetric pair is one at most. With a moving kernel it may be
    /// higher.
    pub fn index_at_most_one_by_semidefiniteness(&self) -> bool {
        self.semidefinite && self.kernel_constant
    }
}

/// Test the conditions at a point; to be repeated over the interval. `A_rate` is A′.
pub fn variable_conditions(
    pair: &MatrixPair,
    A_rate: Option<&Mat<f64>>,
    symmetry: Symmetry,
    ranks: &mut Ranks,
) -> Result<VariableConditions, StructuredError> {
    let MatrixPair { E, A, E_rate } = pair;
    let n = E.nrows();
    sized("E′", E_rate, (n, n))?;
    let parts = split(E, A, symmetry, ranks)?;
    let sizes = parts.sizes;
    let scale = E.norm_max().max(A.norm_max());
    let kernel_constant = ranks.rank(&below(&[E, E_rate]), scale)? == sizes.r;
    let free = &parts.R * &parts.free;
    let E22_regular = ranks.rank(&(free.transpose() * E * &free), scale)? == sizes.d;
    let coupling_constant = match A_rate {
        Some(A_rate) if kernel_constant => {
            sized("A′", A_rate, (n, n))?;
            let (R, T) = (&parts.R, &parts.T);
            // W′ = −A₂₂⁺A₂₂′W
            let along = T * &parts.algebraic;
            let W = T * &parts.rest;
            let inner = along.transpose() * A * &along;
            let turned = &along * solve(&inner, &(along.transpose() * A_rate * &W));
            let S = R.transpose() * A * &W;
            let rate = R.transpose() * A_rate * &W - R.transpose() * A * turned;
            Some(ranks.rank(&beside(&[&S, &rate]), scale)? == sizes.s)
        }
        _ => None,
    };
    let semidefinite = symmetry == Symmetry::Symmetric && {
        let mut X = Matrix::zeros(n, n);
        (0..n).for_each(|i| (0..n).for_each(|j| X[(i, j)] = E[(i, j)]));
        let smallest = symmetric_eigenvalues(&X).map_err(daedal::linalg::RankError::from)?.first().copied();
        smallest.is_none_or(|smallest| smallest >= -1e-12 * E.norm_max())
    };
    Ok(VariableConditions { sizes, kernel_constant, coupling_constant, E22_regular, semidefinite })
}
