//! Local invariants of a structured pair under congruence. Wunderlich, thesis (2008), Theorems 4.3, 4.6 and 4.24.
//!
//! ```text
//! T = kernel E,  R = range E,  V = corange TᵀAT:    r = rank E,  a = rank TᵀAT,  s = rank VᵀTᵀAR
//! ```

use super::{StructuredError, Symmetry, pair::sized};
use daedal_linear::linalg::Ranks;
use faer::Mat;

/// Sizes of the blocks (s, d, a, s, u) of a structured pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StructuredInvariants {
    /// rank E.
    pub r: usize,
    /// Algebraic part.
    pub a: usize,
    /// Rank of the coupling of differential and algebraic part: strangeness.
    pub s: usize,
    /// Differential part r − s.
    pub d: usize,
    /// Common null directions.
    pub u: usize,
}

/// Local invariants of E = ε Eᵀ, A; of A only the parts on kernel E have to be symmetric.
pub fn structured_invariants(
    E: &Mat<f64>,
    A: &Mat<f64>,
    symmetry: Symmetry,
    ranks: &mut Ranks,
) -> Result<StructuredInvariants, StructuredError> {
    Ok(split(E, A, symmetry, ranks)?.sizes)
}

/// Bases behind the invariants.
pub(super) struct Split {
    pub sizes: StructuredInvariants,
    /// range E
    pub R: Mat<f64>,
    /// kernel E
    pub T: Mat<f64>,
    /// range and kernel of TᵀAT, in the coordinates of T
    pub algebraic: Mat<f64>,
    pub rest: Mat<f64>,
    /// range and corange of the coupling, in the coordinates of R
    pub coupled: Mat<f64>,
    pub free: Mat<f64>,
    /// cokernel and kernel of the coupling, in the coordinates of `rest`
    pub coupling: Mat<f64>,
    pub null: Mat<f64>,
}

pub(super) fn split(
    E: &Mat<f64>,
    A: &Mat<f64>,
    symmetry: Symmetry,
    ranks: &mut Ranks,
) -> Result<Split, StructuredError> {
    let n = E.nrows();
    sized("E", E, (n, n))?;
    sized("A", A, (n, n))?;
    symmetry.require("E", E)?;
    let scale = E.norm_max().max(A.norm_max());
    let of_E = ranks.subspaces(E, scale)?;
    // one orthogonal matrix [R T]: the bases of range Eᵀ and kernel E
    let (R, T) = (of_E.cokernel, of_E.kernel);
    let of_A22 = ranks.subspaces(&(T.transpose() * A * &T), scale)?;
    let of_coupling = ranks.subspaces(&((&T * &of_A22.kernel).transpose() * A * &R).transpose().to_owned(), scale)?;
    let (r, a, s) = (of_E.rank, of_A22.rank, of_coupling.rank);
    let sizes = StructuredInvariants { r, a, s, d: r - s, u: n - r - a - s };
    Ok(Split {
        sizes,
        R,
        T,
        algebraic: of_A22.cokernel,
        rest: of_A22.kernel,
        coupled: of_coupling.range,
        free: of_coupling.corange,
        coupling: of_coupling.cokernel,
        null: of_coupling.kernel,
    })
}
