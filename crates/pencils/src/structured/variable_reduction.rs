//! Index reduction of symmetric and self-adjoint pairs with variable coefficients, where kernel E and the range of the coupling do not move.
//! Wunderlich, thesis (2008), Theorems 4.10 and 4.25, (4.11)–(4.16) and (4.23)–(4.26).
//!
//! With constant bases of kernel E and of the range of the coupling, x = P y, y = (η, ξ, y₃, y₄, y₅) of sizes (s, d, a, s, u), the pair
//! becomes the strangeness-free one of the same symmetry
//!
//! ```text
//! E₂₂ ξ′ = A₂₂ ξ + b̃₂          b̃₂ = b₂ + E₂₁ g′ − A₂₁ g
//! 0 = Σₛ y₄ + b̃₁               b̃₁ = b₁ + E₁₁ g′ − A₁₁ g − E₁₂E₂₂⁻¹b̃₂
//! 0 = Σₐ y₃ + b₃
//! 0 = Σₛᵀ η + b₄                g = Σₛ⁻ᵀ b₄,  η = −g,  η′ = −g′
//! 0 = b₅
//! ```
//! One differentiation of the s equations in the fourth row is all that is needed: A, A′, b and b′ at the point. y₄ differs from the kernel
//! part of x by Σₛ⁻¹(A₁₂ − E₁₂E₂₂⁻¹A₂₂) ξ; what A and b are after the algebraic part was taken away stands above.

use super::invariants::split;
use super::pair::sized;
use super::reduction::solve;
use super::{MatrixPair, Refusal, StructuredError, StructuredInvariants, Symmetry, variable_conditions};
use crate::blocks::{beside, put};
use daedal_linear::linalg::{RankRule, Ranks};
use faer::{Col, Mat, Scale};

/// A pair with variable coefficients at a point, with the derivatives that a reduction needs.
#[derive(Clone, Debug, PartialEq)]
pub struct MovingPair {
    /// E, A and E′.
    pub pair: MatrixPair,
    /// A′.
    pub A_rate: Mat<f64>,
    /// b.
    pub b: Vec<f64>,
    /// b′.
    pub b_rate: Vec<f64>,
}

/// A strangeness-free pair of the symmetry of the original one at a point.
#[derive(Clone, Debug)]
pub struct VariableReduction {
    /// Sizes of the blocks.
    pub sizes: StructuredInvariants,
    /// x = P y at the point; the columns of η and ξ are constant in time up to the kernel of E.
    pub P: Mat<f64>,
    /// diag(0, E₂₂, 0, 0, 0).
    pub E: Mat<f64>,
    /// With the blocks A₂₂, Σₐ, Σₛ and Σₛᵀ.
    pub A: Mat<f64>,
    /// Right-hand side.
    pub b: Vec<f64>,
    /// Rank decisions.
    pub ranks: Ranks,
}

/// Reduce a symmetric or self-adjoint pair at a point, or tell why no reduction keeps the symmetry.
pub fn reduce_variable(
    at: &MovingPair,
    symmetry: Symmetry,
    rule: RankRule,
) -> Result<VariableReduction, StructuredError> {
    let mut ranks = Ranks::new(rule);
    let MatrixPair { E, A, E_rate } = &at.pair;
    let n = E.nrows();
    let column = |what: &'static str, x: &[f64]| {
        sized(what, &Mat::from_fn(x.len(), 1, |i, _| x[i]), (n, 1))?;
        Ok::<_, StructuredError>(Col::from_fn(n, |i| x[i]))
    };
    let (b, b_rate) = (column("b", &at.b)?, column("b′", &at.b_rate)?);
    // A for symmetric E, A + ½E′ for skew E
    let half = if symmetry == Symmetry::Skew { A + E_rate * Scale(0.5) } else { A.clone() };
    Symmetry::Symmetric.require("A, or A + ½E′ for a skew E,", &half)?;
    let conditions = variable_conditions(&at.pair, Some(&at.A_rate), symmetry, &mut ranks)?;
    if !conditions.kernel_constant {
        return Err(Refusal::MovingKernel.into());
    }
    if conditions.coupling_constant != Some(true) {
        return Err(Refusal::MovingCoupling.into());
    }
    let parts = split(E, A, symmetry, &mut ranks)?;
    let sizes = parts.sizes;
    let StructuredInvariants { a, s, d, .. } = sizes;

    // bases: range of E split by the coupling, constant; kernel of E split by A and the coupling
    let (U1, U2) = (&parts.R * &parts.coupled, &parts.R * &parts.free);
    let (Va, W) = (&parts.T * &parts.algebraic, &parts.T * &parts.rest);
    let (W1, W2) = (&W * &parts.coupling, &W * &parts.null);
    let E11 = U1.transpose() * E * &U1;
    let E12 = U1.transpose() * E * &U2;
    let E21 = U2.transpose() * E * &U1;
    let E22 = U2.transpose() * E * &U2;
    if symmetry == Symmetry::Skew && s % 2 == 1 {
        return Err(Refusal::OddCoupling { s }.into());
    }
    let rank = ranks.rank(&E22, E.norm_max())?;
    if rank < d {
        return Err(Refusal::SingularE22 { d, rank }.into());
    }

    // without the algebraic part: A − A Va Σa⁻¹ Vaᵀ A on range E
    let algebraic = Va.transpose() * A * &Va;
    let reduced = A - A * &Va * solve(&algebraic, &(Va.transpose() * A));
    let through = Va.transpose() * &b;
    let b_reduced = &b - A * &Va * solve(&algebraic, &as_matrix(&through)).col(0);
    let block = |X: &Mat<f64>, Y: &Mat<f64>| X.transpose() * &reduced * Y;
    let (A11, A12, A21, A22) = (block(&U1, &U1), block(&U1, &U2), block(&U2, &U1), block(&U2, &U2));
    let coupling = U1.transpose() * A * &W1;

    // g = N⁻¹S₁c with S₁ = U₁ᵀA W, c = Wᵀb, N = S₁S₁ᵀ, and its derivative with W′ = −Va Σa⁻¹Vaᵀ A′W
    let W_rate = &Va * solve(&algebraic, &(Va.transpose() * &at.A_rate * &W)) * Scale(-1.0);
    let S1 = U1.transpose() * A * &W;
    let S1_rate = U1.transpose() * &at.A_rate * &W + U1.transpose() * A * &W_rate;
    let (c, c_rate) = (W.transpose() * &b, W_rate.transpose() * &b + W.transpose() * &b_rate);
    let N = &S1 * S1.transpose();
    let N_rate = &S1_rate * S1.transpose() + &S1 * S1_rate.transpose();
    let g = solve_column(&N, &(&S1 * &c));
    let g_rate = solve_column(&N, &(&S1_rate * &c + &S1 * &c_rate - N_rate * &g));

    // right-hand sides
    let eliminated = |X: &Col<f64>| &E12 * solve_column(&E22, X);
    let b2 = U2.transpose() * &b_reduced + &E21 * &g_rate - &A21 * &g;
    let b1 = U1.transpose() * &b_reduced + &E11 * &g_rate - &A11 * &g - eliminated(&b2);
    let right = [b1, b2, through, W1.transpose() * &b, W2.transpose() * &b];

    let (mut reduced_E, mut reduced_A) = (Mat::zeros(n, n), Mat::zeros(n, n));
    let [two, three, four] = [s, s + d, s + d + a];
    put(&mut reduced_E, two, two, &E22);
    put(&mut reduced_A, two, two, &A22);
    put(&mut reduced_A, three, three, &algebraic);
    put(&mut reduced_A, 0, four, &coupling);
    put(&mut reduced_A, four, 0, &coupling.transpose().to_owned());

    // x = U₁η + U₂ξ + Va(y₃ − Σa⁻¹VaᵀA(U₁η + U₂ξ)) + W₁(y₄ − Σs⁻¹(A₁₂ − E₁₂E₂₂⁻¹A₂₂)ξ) + W₂y₅
    let follow = |U: &Mat<f64>| U - &Va * solve(&algebraic, &(Va.transpose() * A * U));
    let shift = solve(&coupling, &(&A12 - &E12 * solve(&E22, &A22)));
    let P = beside(&[&follow(&U1), &(follow(&U2) - &W1 * shift), &Va, &W1, &W2]);
    Ok(VariableReduction {
        sizes,
        P,
        E: reduced_E,
        A: reduced_A,
        b: right.iter().flat_map(|part| part.iter().copied()).collect(),
        ranks,
    })
}

fn as_matrix(x: &Col<f64>) -> Mat<f64> {
    Mat::from_fn(x.nrows(), 1, |i, _| x[i])
}

fn solve_column(X: &Mat<f64>, y: &Col<f64>) -> Col<f64> {
    solve(X, &as_matrix(y)).col(0).to_owned()
}
