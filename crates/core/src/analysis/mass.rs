//! The mass matrix, alone and together with the constraints.
//!
//! Accelerations and multipliers follow from
//!
//! ```text
//! [ M Kᵀ ; K 0 ] (a, λ μ) = …          K = [GZ; HZ]
//! ```
//! A singular M is allowed as long as this matrix is regular up to redundancy of the constraints: M a + Kᵀm = 0, K a = 0 must imply
//! a = 0. Otherwise a ∈ ker K is an acceleration that neither mass nor constraint determines.

use super::decided::{MassBlocks, NullVector, entries, transposed};
use super::linearised::{Linearised, constraint_names};
use crate::linalg::rank::{Combination, Decomposed, Eliminated, RankDecision, Scaling, echelon, normalised};
use crate::linalg::{Matrix, SparseMatrix, symmetric_eigenvalues};
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
    if at.means.sparse {
        return sparse_mass(at, names, structure);
    }
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
    let rank = Decomposed::of(&M, Scaling::Both, at.means.ranks)?;
    let definiteness = definiteness((low, high), rank.decision.rank == n);

    let saddle = Mat::from_fn(n + m, n + m, |i, j| match (i < n, j < n) {
        (true, true) => M[(i, j)],
        (true, false) => K[(j - n, i)],
        (false, true) => K[(i - n, j)],
        (false, false) => 0.0,
    });
    let saddle = Decomposed::of(&saddle, Scaling::Both, at.means.ranks)?;
    let undetermined = leading(&saddle.null_vectors(), n);
    let equations = leading(&saddle.left_null_vectors(), n);
    let moves = |j: usize| undetermined.iter().any(|a| a[j] != 0.0);
    let touches = |k: usize| (0..n).any(|j| moves(j) && K[(k, j)] != 0.0);
    let touching = constraint_names(names).into_iter().enumerate().filter(|(k, _)| touches(*k)).map(|(_, name)| name);

    let l = &at.layout;
    let block = Decomposed::of(&at.block(l.algebraic_blocks()[0].clone(), 0..l.n1()), Scaling::Both, at.means.ranks)?;
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

fn definiteness((low, high): (f64, f64), is_regular: bool) -> Definiteness {
    if low < -1e-12 * high.abs().max(low.abs()) {
        Definiteness::Indefinite
    } else if is_regular {
        Definiteness::Positive
    } else {
        Definiteness::Semidefinite
    }
}

/// The same by small blocks of M and elimination of the rest.
fn sparse_mass(at: &Linearised, names: &Names, structure: MassStructure) -> Option<Mass> {
    let l = &at.layout;
    let M = at.sparse_block(l.row_dynamics(), l.a());
    let K = at.sparse_block(l.row_g1().start..l.row_h().end, l.v());
    let n = M.rows();
    let largest = M.values().iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    let turned = transposed(&M);
    let entry = |(i, j): (usize, usize)| turned.position((i, j)).map_or(0.0, |k| turned.values()[k]);
    let asymmetry = M.places().zip(M.values()).fold(0.0_f64, |most, (place, m)| most.max((m - entry(place)).abs()));
    let blocks = MassBlocks::of(&M, at.means.ranks)?;
    let eigenvalues =
        (blocks.eigenvalues.first().copied().unwrap_or(0.0), blocks.eigenvalues.last().copied().unwrap_or(0.0));

    let saddle = saddle(&M, &K);
    let found = Eliminated::of(&saddle, Scaling::Both, at.means.ranks);
    // the matrix and its transpose have one rank; what pivots lose by rounding is told by none of them
    let (left, right) = if found.decision.is_full() {
        (Vec::new(), Vec::new())
    } else {
        (found.left_null_vectors()?, null_vectors(&saddle, at)?)
    };
    let (undetermined, equations) = (accelerations(&right, n), accelerations(&left, n));
    let mut moves = vec![false; n];
    undetermined.iter().flatten().for_each(|&(j, _)| moves[j] = true);
    let touches = |k: usize| K.row(k).0.iter().zip(K.row(k).1).any(|(&j, x)| moves[j] && *x != 0.0);
    let touching = constraint_names(names).into_iter().enumerate().filter(|(k, _)| touches(*k)).map(|(_, name)| name);

    let block = at.sparse_block(l.algebraic_blocks()[0].clone(), 0..l.n1());
    let decision = Eliminated::of(&block, Scaling::Both, at.means.ranks).decision;
    let null = if decision.is_full() { Vec::new() } else { null_vectors(&block, at)? };
    let (multipliers, unknowns): (Vec<_>, Vec<_>) =
        null.into_iter().partition(|z| z.iter().all(|(j, _)| *j >= l.lambda().start));
    let variables = l.variable_names(names);
    let told = |vectors: &[NullVector], names: &[String]| {
        let combination = |v: &NullVector| v.iter().map(|&(j, x)| (names[j].clone(), x)).collect();
        vectors.iter().map(|v| Combination { terms: combination(v) }).collect::<Vec<_>>()
    };
    let dynamics: Vec<String> = names.velocities.iter().map(|v| format!("dynamics of {v}")).collect();
    Some(Mass {
        structure,
        asymmetry: if largest > 0.0 { asymmetry / largest } else { 0.0 },
        eigenvalues,
        definiteness: definiteness(eigenvalues, blocks.rank.rank == n),
        singular_values: blocks.singular_values,
        rank: blocks.rank,
        touching: touching.collect(),
        undetermined: told(&undetermined, &variables[..n]),
        equations: told(&equations, &dynamics),
        with_constraints: found.decision,
        undetermined_multipliers: told(&multipliers, &variables),
        undetermined_unknowns: told(&unknowns, &variables),
        accelerations: decision,
    })
}

/// [M Kᵀ; K 0].
fn saddle(M: &SparseMatrix, K: &SparseMatrix) -> SparseMatrix {
    let n = M.rows();
    let (of_mass, of_rows) = (M.places(), K.places().flat_map(|(i, j)| [(n + i, j), (j, n + i)]));
    let mut saddle = SparseMatrix::new(n + K.rows(), n + K.rows(), of_mass.chain(of_rows).collect());
    let mut put = |place: (usize, usize), value: f64| {
        if let Some(k) = saddle.position(place) {
            saddle.values_mut()[k] = value;
        }
    };
    M.places().zip(M.values()).for_each(|(place, &m)| put(place, m));
    for ((i, j), &k) in K.places().zip(K.values()) {
        put((n + i, j), k);
        put((j, n + i), k);
    }
    saddle
}

/// Vectors z with A z = 0.
fn null_vectors(A: &SparseMatrix, at: &Linearised) -> Option<Vec<NullVector>> {
    Eliminated::of(&transposed(A), Scaling::Both, at.means.ranks).left_null_vectors()
}

/// The parts of null vectors in the first n places, in echelon form; what vanishes is left out.
fn accelerations(vectors: &[NullVector], n: usize) -> Vec<NullVector> {
    let dense = |v: &NullVector| {
        let mut all = vec![0.0; n];
        v.iter().filter(|(j, _)| *j < n).for_each(|&(j, x)| all[j] = x);
        all
    };
    let moving = vectors.iter().filter(|v| v.iter().any(|(j, _)| *j < n));
    leading(&moving.map(dense).collect::<Vec<_>>(), n).iter().map(|v| entries(v)).collect()
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
