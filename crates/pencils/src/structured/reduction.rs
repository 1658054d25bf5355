//! Index reduction of constant structured pairs by congruence. Wunderlich, thesis (2008), 4.2 and 4.3.
//!
//! With x = P y, sizes (s, d, a, s, u) and E₂₂ regular, E x′ = A x + b becomes the strangeness-free pair of the same symmetry
//!
//! ```text
//! 0       = Ã₁₂ y₂ + Σₛ y₄ + b̂₁          b̂₁ = b̃₁ + Ẽ₁₁ (Σₛ⁻ᵀb̃₄)′ − Ã₁₁ Σₛ⁻ᵀb̃₄
//! E₂₂ y₂′ = Ã₂₁ y₁ + A₂₂ y₂ + b̃₂
//! 0       = Σₐ y₃ + b̃₃
//! 0       = Σₛᵀ y₁ + b̃₄
//! 0       = b̃₅                            b̃ = Pᵀb
//! ```
//! One differentiation of s equations suffices.

use super::invariants::split;
use super::pair::sized;
use super::{Refusal, StructuredError, StructuredInvariants, Symmetry};
use crate::blocks::{beside, put};
use daedal_linear::linalg::{RankRule, Ranks};
use faer::linalg::solvers::Solve;
use faer::{Col, Mat, Scale};
use std::ops::Range;

/// A strangeness-free pair of the symmetry of the original one, in y with x = P y.
#[derive(Clone, Debug)]
pub struct StructuredReduction {
    /// Symmetry of E.
    pub symmetry: Symmetry,
    /// Sizes of the blocks; the reduced pair has d differential and a + 2s algebraic equations, u that vanish and u free unknowns.
    pub sizes: StructuredInvariants,
    /// Congruence x = P y.
    pub P: Mat<f64>,
    /// diag(0, E₂₂, 0, 0, 0).
    pub E: Mat<f64>,
    /// Symmetric.
    pub A: Mat<f64>,
    /// Ẽ₁₁ and Ã₁₁, which go into the right-hand side.
    E11: Mat<f64>,
    A11: Mat<f64>,
    /// Σₛ⁻ᵀ.
    inverse_coupling: Mat<f64>,
    /// Rank decisions.
    pub ranks: Ranks,
}

/// Reduce a pair E = ε Eᵀ, A = Aᵀ, or tell why no reduction keeps the symmetry.
///
/// ```
/// use daedal_linear::linalg::{Mat, RankRule};
/// use daedal_pencils::structured::{Symmetry, saddle_point_pair, structured_reduce};
/// // flow under one constraint: x′ = −x + λ, 0 = x
/// let pair = saddle_point_pair(&Mat::identity(1, 1), &Mat::identity(1, 1)).unwrap();
/// let found = structured_reduce(&pair.E, &pair.A, Symmetry::Symmetric, RankRule::default()).unwrap();
/// assert_eq!((found.sizes.s, found.sizes.d), (1, 0));
/// ```
pub fn structured_reduce(
    E: &Mat<f64>,
    A: &Mat<f64>,
    symmetry: Symmetry,
    rule: RankRule,
) -> Result<StructuredReduction, StructuredError> {
    let mut ranks = Ranks::new(rule);
    let n = E.nrows();
    let parts = split(E, A, symmetry, &mut ranks)?;
    Symmetry::Symmetric.require("A", A)?;
    let sizes = parts.sizes;
    let StructuredInvariants { a, s, d, u, .. } = sizes;
    let [one, two, three, four] = blocks(sizes);

    // orthogonal part: range E split by the coupling, kernel E split by A and the coupling
    let rest = &parts.T * &parts.rest;
    let mut P = beside(&[
        &(&parts.R * &parts.coupled),
        &(&parts.R * &parts.free),
        &(&parts.T * &parts.algebraic),
        &(&rest * &parts.coupling),
        &(&rest * &parts.null),
    ]);
    let congruent = |X: &Mat<f64>, P: &Mat<f64>| P.transpose() * X * P;
    let block = |X: &Mat<f64>, i: &Range<usize>, j: &Range<usize>| X.get(i.clone(), j.clone()).to_owned();

    // the algebraic part does not touch the others any more
    let A1 = congruent(A, &P);
    let mut step = Mat::identity(n, n);
    let solved = solve(&block(&A1, &three, &three), &block(&A1, &three, &(0..s + d)));
    put(&mut step, three.start, 0, &(solved * Scale(-1.0)));
    P = &P * &step;

    // A₁₁, A₁₂ vanish against the coupling
    let A2 = congruent(A, &P);
    let coupling = block(&A2, &one, &four);
    let mut step = Mat::identity(n, n);
    put(&mut step, four.start, one.start, &(solve(&coupling, &block(&A2, &one, &one)) * Scale(-0.5)));
    put(&mut step, four.start, two.start, &(solve(&coupling, &block(&A2, &one, &two)) * Scale(-1.0)));
    P = &P * &step;

    // E₂₁ vanishes against E₂₂
    let E3 = congruent(E, &P);
    let E22 = block(&E3, &two, &two);
    if symmetry == Symmetry::Skew && s % 2 == 1 {
        return Err(Refusal::OddCoupling { s }.into());
    }
    let rank = ranks.rank(&E22, E.norm_max())?;
    if rank < d {
        return Err(Refusal::SingularE22 { d, rank }.into());
    }
    let mut step = Mat::identity(n, n);
    put(&mut step, two.start, one.start, &(solve(&E22, &block(&E3, &two, &one)) * Scale(-1.0)));
    P = &P * &step;

    // what remains, with exact symmetry
    let (E4, A4) = (congruent(E, &P), congruent(A, &P));
    let sign = symmetry.sign();
    let exact = |X: &Mat<f64>, sign: f64| (X + X.transpose() * Scale(sign)) * Scale(0.5);
    let (mut reduced_E, mut reduced_A) = (Mat::zeros(n, n), Mat::zeros(n, n));
    put(&mut reduced_E, two.start, two.start, &exact(&block(&E4, &two, &two), sign));
    let coupling = block(&A4, &one, &four);
    let A12 = block(&A4, &one, &two);
    put(&mut reduced_A, one.start, two.start, &A12);
    put(&mut reduced_A, two.start, one.start, &A12.transpose().to_owned());
    put(&mut reduced_A, one.start, four.start, &coupling);
    put(&mut reduced_A, four.start, one.start, &coupling.transpose().to_owned());
    put(&mut reduced_A, two.start, two.start, &exact(&block(&A4, &two, &two), 1.0));
    put(&mut reduced_A, three.start, three.start, &exact(&block(&A4, &three, &three), 1.0));
    debug_assert_eq!(s + d + a + s + u, n);
    Ok(StructuredReduction {
        symmetry,
        sizes,
        P,
        E: reduced_E,
        A: reduced_A,
        E11: block(&E4, &one, &one),
        A11: block(&A4, &one, &one),
        inverse_coupling: solve(&coupling.transpose().to_owned(), &Mat::identity(s, s)),
        ranks,
    })
}

impl StructuredReduction {
    /// b̂ from b and b′ at the same time.
    pub fn right_hand_side(&self, b: &[f64], b_rate: &[f64]) -> Result<Vec<f64>, StructuredError> {
        let n = self.P.nrows();
        let column = |what: &'static str, x: &[f64]| {
            sized(what, &Mat::from_fn(x.len(), 1, |i, _| x[i]), (n, 1))?;
            Ok::<_, StructuredError>(self.P.transpose() * Col::from_fn(n, |i| x[i]))
        };
        let (mut b, rate) = (column("b", b)?, column("b′", b_rate)?);
        let [one, _, _, four] = blocks(self.sizes);
        let value = &self.inverse_coupling * b.get(four.clone());
        let slope = &self.inverse_coupling * rate.get(four);
        let change = &self.E11 * slope - &self.A11 * value;
        for (i, x) in one.zip(change.iter()) {
            b[i] += x;
        }
        Ok(b.iter().copied().collect())
    }

    /// E₂₂⁻¹A₂₂ with the finite eigenvalues of the pair, d × d; of Hamiltonian type for a skew E.
    pub fn state_matrix(&self) -> Mat<f64> {
        let [_, two, _, _] = blocks(self.sizes);
        let block = |X: &Mat<f64>| X.get(two.clone(), two.clone()).to_owned();
        solve(&block(&self.E), &block(&self.A))
    }

    /// Where y₂, the differential unknowns, stand in y.
    pub fn state(&self) -> Range<usize> {
        blocks(self.sizes)[1].clone()
    }
}

/// Ranges of the first four blocks.
fn blocks(sizes: StructuredInvariants) -> [Range<usize>; 4] {
    let StructuredInvariants { a, s, d, .. } = sizes;
    [0..s, s..s + d, s + d..s + d + a, s + d + a..2 * s + d + a]
}

/// X⁻¹Y for a block that was found regular.
pub(super) fn solve(X: &Mat<f64>, Y: &Mat<f64>) -> Mat<f64> {
    if X.nrows() == 0 { Mat::zeros(0, Y.ncols()) } else { X.partial_piv_lu().solve(Y) }
}
