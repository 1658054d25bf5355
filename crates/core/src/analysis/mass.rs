//! The mass matrix, alone and together with the constraints.
//!
//! Accelerations and multipliers follow from
//!
//! ```text
//! [ M Kᵀ ; K 0 ] (a, λ μ) = …          K = [GZ; HZ]
//! ```
//! A singular M is allowed as long as this matrix is regular up to redundancy of the constraints: M a + Kᵀm = 0, K a = 0 must imply
//! a = 0. Otherwise a ∈ ker K is an acceleration that neither mass nor constraint determines.

use super::linearised::{Linearised, constraint_names};
use crate::linalg::rank::{Combination, Decomposed, RankDecision, Scaling, echelon, normalised};
use crate::linalg::{Matrix, symmetric_eigenvalues};
use crate::motion::{MassStructure, Names};
use faer::Mat;

/// Signs of the eigenvalues of ½(M + Mᵀ).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definiteness {
    /// All positive.
    Positive,
    /// None negative, some zero.
    Semidefinite,
    /// Some negative.
    Indefinite,
}

/// The mass matrix at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Mass {
    /// What is known about it.
    pub structure: MassStructure,
    /// max |M − Mᵀ| / max |M|.
    pub asymmetry: f64,
    /// Smallest and largest eigenvalue of ½(M + Mᵀ).
    pub eigenvalues: (f64, f64),
    /// Their signs.
    pub definiteness: Definiteness,
    /// Singular values of M, falling.
    pub singular_values: Vec<f64>,
    /// Rank of M, from its scaled form.
    pub rank: RankDecision,
    /// Rank of [M Kᵀ; K 0].
    pub with_constraints: RankDecision,
    /// Rank of the whole block that fixes a, w, λ, μ: with auxiliary variables and forces that depend on multipliers.
    pub accelerations: RankDecision,
    /// Accelerations that neither mass nor constraints determine.
    pub undetermined: Vec<Combination>,
    /// Dynamic equations that contain no acceleration which the constraints leave open: what is to blame.
    pub equations: Vec<Combination>,
    /// Constraints on the velocities of `undetermined`, which leave these combinations free.
    pub touching: Vec<String>,
    /// Combinations of multipliers that nothing determines: their constraints are redundant.
    pub undetermined_multipliers: Vec<Combination>,
    /// Other combinations of a, w, λ, μ that nothing determines.
    pub undetermined_unknowns: Vec<Combination>,
}

impl Mass {
    /// Is M symmetric up to rounding?
    pub fn is_symmetric(&self) -> bool {
        self.asymmetry <= 1e-12
    }

    /// Largest over smallest singular value; `None` if M is singular.
    pub fn condition(&self) -> Option<f64> {
        let (first, last) = (self.singular_values.first()?, self.singular_values.last()?);
        (self.rank.rank == self.rank.rows).then(|| first / last)
    }

    /// Are mass and constraints together regular, up to redundancy?
    pub fn is_regular_with_constraints(&self) -> bool {
        self.undetermined.is_empty()
    }
}

/// Analyse the mass matrix; `None` if a decomposition does not converge.
pub(super) fn mass(at: &Linearised, names: &Names, structure: MassStructure) -> Option<Mass> {
    let (M, K) = (at.mass(), at.constraints());
    let (n, m) = (M.nrows(), K.nrows());
    let largest = M.col_iter().flat_map(|c| c.iter().copied().collect::<Vec<_>>()).fold(0.0_f64, |l, x| l.max(x.abs()));
    let mut asymmetry = 0.0_f64;
    let mut symmetric = Matrix::zeros(n, n);
    for i in 0..n {
        for j in 0..n {
            asymmetry = asymmetry.max((M[(i, j)] - M[(j, i)]).abs());
            symmetric[(i, j)] = M[(i, j)];
        }
    }
    let eigenvalues = symmetric_eigenvalues(&symmetric).ok()?;
    let (low, high) = (eigenvalues.first().copied().unwrap_or(0.0), eigenvalues.last().copied().unwrap_or(0.0));
    let rank = Decomposed::of(&M, Scaling::Both, at.ranks)?;
    let definiteness = if low < -1e-12 * high.abs().max(low.abs()) {
        Definiteness::Indefinite
    } else if rank.decision.rank < n {
        Definiteness::Semidefinite
    } else {
        Definiteness::Positive
    };

    let saddle = Mat::from_fn(n + m, n + m, |i, j| match (i < n, j < n) {
        (true, true) => M[(i, j)],
        (true, false) => K[(j - n, i)],
        (false, true) => K[(i - n, j)],
        (false, false) => 0.0,
    });
    let saddle = Decomposed::of(&saddle, Scaling::Both, at.ranks)?;
    let undetermined = leading(&saddle.null_vectors(), n);
    let equations = leading(&saddle.left_null_vectors(), n);
    let moves = |j: usize| undetermined.iter().any(|a| a[j] != 0.0);
    let touches = |k: usize| (0..n).any(|j| moves(j) && K[(k, j)] != 0.0);
    let touching = constraint_names(names).into_iter().enumerate().filter(|(k, _)| touches(*k)).map(|(_, name)| name);

    let l = &at.layout;
    let block = Decomposed::of(&at.block(l.algebraic_blocks()[0].clone(), 0..l.n1()), Scaling::Both, at.ranks)?;
    let variables = l.variable_names(names);
    let (multipliers, unknowns): (Vec<_>, Vec<_>) =
        block.null_vectors().into_iter().partition(|z| z[..l.lambda().start].iter().all(|x| *x == 0.0));
    let told = |vectors: &[Vec<f64>], names: &[String]| vectors.iter().map(|v| Combination::of(v, names)).collect();
    let dynamics: Vec<String> = names.velocities.iter().map(|v| format!("dynamics of {v}")).collect();
    Some(Mass {
        structure,
        asymmetry: if largest > 0.0 { asymmetry / largest } else { 0.0 },
        eigenvalues: (low, high),
        definiteness,
        singular_values: plain_singular_values(&M)?,
        rank: rank.decision,
        touching: touching.collect(),
        undetermined: told(&undetermined, &variables[..n]),
        equations: told(&equations, &dynamics),
        with_constraints: saddle.decision,
        undetermined_multipliers: told(&multipliers, &variables),
        undetermined_unknowns: told(&unknowns, &variables),
        accelerations: block.decision,
    })
}

/// The first n entries of some vectors, in echelon form; what vanishes is left out.
fn leading(vectors: &[Vec<f64>], n: usize) -> Vec<Vec<f64>> {
    let parts: Vec<Vec<f64>> =
        vectors.iter().map(|v| v[..n].to_vec()).filter(|v| v.iter().any(|x| *x != 0.0)).collect();
    let clean =
        |v: Vec<f64>| -> Vec<f64> { normalised(v).into_iter().map(|x| if x.abs() < 1e-8 { 0.0 } else { x }).collect() };
    echelon(parts).into_iter().map(clean).collect()
}

fn plain_singular_values(M: &Mat<f64>) -> Option<Vec<f64>> {
    let mut svd = crate::linalg::Svd::new(M.nrows(), M.ncols());
    svd.A.copy_from(M);
    svd.factor().ok()?;
    Some((0..M.nrows()).map(|k| svd.sigma(k)).collect())
}
