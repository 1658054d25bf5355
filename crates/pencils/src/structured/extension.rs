//! Index reduction of self-adjoint pairs with variable coefficients by minimal extension. Wunderlich, thesis (2008), 4.4.
//!
//! Given the block form of Theorem 4.25 with sizes (s, d, a, s, u),
//!
//! ```text
//! E = [E₁₁ E₁₂ 0 0 0; −E₁₂ᵀ E₂₂ 0 0 0; 0],   A = [A₁₁ A₁₂ 0 Σₛ 0; 0 A₂₂ 0 0 0; 0 0 Σₐ 0 0; Σₛᵀ 0 0 0 0; 0],   A₁₂ = −E₁₂′
//! ```
//! the congruence x = P x̃ with W = E₂₂⁻¹E₂₁ removes E₁₂; the s equations 0 = Σₛᵀx̃₁ + b̃₄ are differentiated, and their derivatives are
//! new unknowns x₆. The result has size n + s, is self-adjoint and strangeness-free. x₆ is decoupled: without its row and column it is
//! the system that the structured reduction gives for constant coefficients.

use super::pair::sized;
use super::reduction::solve;
use super::{MatrixPair, StructuredError, Symmetry};
use crate::blocks::put;
use daedal::linalg::{RankRule, Ranks};
use faer::{Col, Mat, Scale};

/// Blocks of a self-adjoint pair at a point, with the derivatives that are needed.
#[derive(Clone, Debug, PartialEq)]
pub struct SelfAdjointBlocks {
    /// s × s, skew.
    pub E11: Mat<f64>,
    /// s × d.
    pub E12: Mat<f64>,
    /// d × d, skew and regular.
    pub E22: Mat<f64>,
    /// E₁₁′.
    pub E11_rate: Mat<f64>,
    /// E₁₂′.
    pub E12_rate: Mat<f64>,
    /// E₂₂′.
    pub E22_rate: Mat<f64>,
    /// s × s, A₁₁ = A₁₁ᵀ − E₁₁′.
    pub A11: Mat<f64>,
    /// d × d, A₂₂ = A₂₂ᵀ − E₂₂′.
    pub A22: Mat<f64>,
    /// Σₐ, a × a, symmetric and regular.
    pub algebraic: Mat<f64>,
    /// Σₛ, s × s, regular.
    pub coupling: Mat<f64>,
    /// Σₛ′.
    pub coupling_rate: Mat<f64>,
    /// Size u of the null block.
    pub u: usize,
}

/// The extended pair, and what it was made of.
#[derive(Clone, Debug, PartialEq)]
pub struct MinimalExtension {
    /// Congruence x = P x̃ of the first n unknowns.
    pub P: Mat<f64>,
    /// diag(0, E₂₂, 0, 0, 0, 0) and A, of size n + s, with the derivative of E.
    pub pair: MatrixPair,
    /// b̂.
    pub b: Vec<f64>,
    /// Ẽ₁₁ = E₁₁ − E₁₂E₂₂⁻¹E₂₁, skew.
    pub E11: Mat<f64>,
    /// Ã₁₁ with Ã₁₁ = (Ã₁₁ + Ẽ₁₁′)ᵀ.
    pub A11: Mat<f64>,
    /// Ã₁₂ = Ã₂₁ᵀ.
    pub A12: Mat<f64>,
    /// Ã₂₁ = −A₂₂W + E₂₂W′.
    pub A21: Mat<f64>,
}

/// Extend and reduce at a point where b and b′ are given, ordered as the blocks.
pub fn minimal_extension(
    blocks: &SelfAdjointBlocks,
    b: &[f64],
    b_rate: &[f64],
    rule: RankRule,
) -> Result<MinimalExtension, StructuredError> {
    let (s, d, a, u) = check(blocks, rule)?;
    let n = 2 * s + d + a + u;
    for (what, x) in [("b", b), ("b′", b_rate)] {
        sized(what, &Mat::from_fn(x.len(), 1, |i, _| x[i]), (n, 1))?;
    }
    let SelfAdjointBlocks { E11, E12, E22, E12_rate, E22_rate, A11, A22, coupling, coupling_rate, .. } = blocks;
    let negative = |X: &Mat<f64>| X * Scale(-1.0);
    let (E21, E21_rate) = (negative(&E12.transpose().to_owned()), negative(&E12_rate.transpose().to_owned()));
    let A12 = negative(E12_rate);

    // W = E₂₂⁻¹E₂₁, W′ = E₂₂⁻¹(E₂₁′ − E₂₂′W)
    let W = solve(E22, &E21);
    let W_rate = solve(E22, &(&E21_rate - E22_rate * &W));
    // E₁₂E₂₂⁻¹ = Wᵀ for skew E
    let E11 = E11 - E12 * &W;
    let A12 = &A12 - W.transpose() * A22;
    let A11 = A11 - &A12 * &W;
    let A21 = E22 * &W_rate - A22 * &W;
    let mut P = Mat::identity(n, n);
    put(&mut P, s, 0, &negative(&W));

    // b̃ = Pᵀb, and b̃₆ = (Σₛ⁻ᵀb̃₄)′
    let column = |x: &[f64], from: usize, to: usize| x[from..to].iter().copied().collect::<Col<f64>>();
    let mut right = P.transpose() * column(b, 0, n);
    let transposed = coupling.transpose().to_owned();
    let invert = solve(&transposed, &Mat::identity(s, s));
    let fourth = s + d + a;
    let value = &invert * column(b, fourth, fourth + s);
    let rate = &invert * (column(b_rate, fourth, fourth + s) - coupling_rate.transpose() * &value);
    let change = &E11 * &rate - &A11 * &value;
    for (i, x) in change.iter().enumerate() {
        right[i] += x;
    }
    let b = right.iter().chain(rate.iter()).copied().collect();

    let size = n + s;
    let (mut E, mut E_rate, mut A) = (Mat::zeros(size, size), Mat::zeros(size, size), Mat::zeros(size, size));
    put(&mut E, s, s, E22);
    put(&mut E_rate, s, s, E22_rate);
    put(&mut A, 0, s, &A12);
    put(&mut A, s, 0, &A21);
    put(&mut A, 0, fourth, coupling);
    put(&mut A, fourth, 0, &transposed);
    put(&mut A, s, s, A22);
    put(&mut A, s + d, s + d, &blocks.algebraic);
    put(&mut A, n, n, &Mat::identity(s, s));
    Ok(MinimalExtension { P, pair: MatrixPair { E, A, E_rate }, b, E11, A11, A12, A21 })
}

/// Sizes, symmetry and regularity of the blocks.
fn check(blocks: &SelfAdjointBlocks, rule: RankRule) -> Result<(usize, usize, usize, usize), StructuredError> {
    let (s, d, a) = (blocks.E11.nrows(), blocks.E22.nrows(), blocks.algebraic.nrows());
    let expected = [
        ("E₁₁", &blocks.E11, (s, s)),
        ("E₁₂", &blocks.E12, (s, d)),
        ("E₂₂", &blocks.E22, (d, d)),
        ("E₁₁′", &blocks.E11_rate, (s, s)),
        ("E₁₂′", &blocks.E12_rate, (s, d)),
        ("E₂₂′", &blocks.E22_rate, (d, d)),
        ("A₁₁", &blocks.A11, (s, s)),
        ("A₂₂", &blocks.A22, (d, d)),
        ("Σₐ", &blocks.algebraic, (a, a)),
        ("Σₛ", &blocks.coupling, (s, s)),
        ("Σₛ′", &blocks.coupling_rate, (s, s)),
    ];
    for (what, X, size) in expected {
        sized(what, X, size)?;
    }
    Symmetry::Skew.require("E₁₁", &blocks.E11)?;
    Symmetry::Skew.require("E₂₂", &blocks.E22)?;
    Symmetry::Symmetric.require("Σₐ", &blocks.algebraic)?;
    // A = (A + E′)ᵀ: A + ½E′ is symmetric
    let half = |A: &Mat<f64>, rate: &Mat<f64>| A + rate * Scale(0.5);
    Symmetry::Symmetric.require("A₁₁ + ½E₁₁′", &half(&blocks.A11, &blocks.E11_rate))?;
    Symmetry::Symmetric.require("A₂₂ + ½E₂₂′", &half(&blocks.A22, &blocks.E22_rate))?;
    let mut ranks = Ranks::new(rule);
    for (what, X) in [("E₂₂", &blocks.E22), ("Σₐ", &blocks.algebraic), ("Σₛ", &blocks.coupling)] {
        if ranks.rank(X, 0.0)? < X.nrows() {
            return Err(StructuredError::Singular { what });
        }
    }
    Ok((s, d, a, blocks.u))
}
