//! Kronecker's canonical form of any pencil λE − A, m × n: sizes of its blocks, by staircases of orthogonal transformations.
//!
//! With a basis Z of kernel E, s₁ = dim Z, r₁ = rank A Z; rows along A Z and columns along Z are taken away, and so on until E has full
//! column rank:
//!
//! ```text
//! sᵢ − rᵢ    blocks L_{i−1} of size (i−1) × i: unknowns that stay undetermined
//! rᵢ − sᵢ₊₁  nilpotent blocks of size i
//! ```
//! What is left, transposed, gives the blocks Lᵀ_{i−1} of size i × (i−1), equations that contradict or follow, and at last a square
//! part with regular E: the finite eigenvalues. Van Dooren, Lin. Alg. Appl. 27 (1979); Gantmacher, Theory of Matrices II, XII.

use daedal_linear::linalg::{Matrix, RankError, RankRule, Ranks, eigenvalues};
use faer::Mat;
use faer::linalg::solvers::Solve;

/// Sizes of the blocks of Kronecker's canonical form.
#[derive(Clone, Debug, PartialEq)]
pub struct Kronecker {
    /// Right minimal indices ε of the blocks L_ε, ε × (ε + 1), rising.
    pub right: Vec<usize>,
    /// Left minimal indices η of the blocks Lᵀ_η, (η + 1) × η, rising.
    pub left: Vec<usize>,
    /// Sizes of the nilpotent blocks, falling: the infinite eigenvalue.
    pub nilpotent: Vec<usize>,
    /// Finite eigenvalues (real part, imaginary part), as often as they count, the largest first.
    pub finite: Vec<(f64, f64)>,
    /// Rank decisions.
    pub ranks: Ranks,
}

impl Kronecker {
    /// Of the pencil λE − A, after equilibration of its rows.
    ///
    /// ```
    /// use daedal_linear::linalg::{Mat, RankRule};
    /// use daedal_pencils::Kronecker;
    /// // x₁' = x₂: one equation for two unknowns
    /// let (E, A) = (Mat::from_fn(1, 2, |_, j| [1.0, 0.0][j]), Mat::from_fn(1, 2, |_, j| [0.0, 1.0][j]));
    /// let found = Kronecker::new(&E, &A, RankRule::default()).unwrap();
    /// assert_eq!((found.right, found.left, found.nilpotent), (vec![1], vec![], vec![]));
    /// ```
    pub fn new(E: &Mat<f64>, A: &Mat<f64>, rule: RankRule) -> Result<Self, RankError> {
        let mut ranks = Ranks::new(rule);
        let row = |X: &Mat<f64>, i: usize| (0..X.ncols()).fold(0.0_f64, |size, j| size.max(X[(i, j)].abs()));
        let scale: Vec<f64> = (0..E.nrows()).map(|i| row(E, i).max(row(A, i))).collect();
        let scaled = |X: &Mat<f64>| {
            Mat::from_fn(X.nrows(), X.ncols(), |i, j| if scale[i] > 0.0 { X[(i, j)] / scale[i] } else { 0.0 })
        };
        let first = staircase(scaled(E), scaled(A), &mut ranks)?;
        let right = lone(&first.steps);
        let mut nilpotent: Vec<usize> = Vec::new();
        for (i, &(_, r)) in first.steps.iter().enumerate() {
            let next = first.steps.get(i + 1).map_or(0, |step| step.0);
            nilpotent.extend(std::iter::repeat_n(i + 1, r.saturating_sub(next)));
        }
        nilpotent.reverse();
        let transposed = |X: &Mat<f64>| X.transpose().to_owned();
        let second = staircase(transposed(&first.E), transposed(&first.A), &mut ranks)?;
        let left = lone(&second.steps);
        let n = second.E.nrows().min(second.E.ncols());
        let mut J = Matrix::zeros(n, n);
        if n > 0 {
            let solved: Mat<f64> = second.E.partial_piv_lu().solve(&second.A);
            (0..n).for_each(|i| (0..n).for_each(|j| J[(i, j)] = solved[(i, j)]));
        }
        Ok(Kronecker { right, left, nilpotent, finite: eigenvalues(&J)?, ranks })
    }

    /// Is the pencil square with det(λE − A) ≢ 0?
    pub fn is_regular(&self) -> bool {
        self.right.is_empty() && self.left.is_empty()
    }

    /// Index of nilpotency ν of the infinite part, 0 without one.
    pub fn index(&self) -> usize {
        self.nilpotent.first().copied().unwrap_or(0)
    }

    /// How often the infinite eigenvalue counts.
    pub fn infinite(&self) -> usize {
        self.nilpotent.iter().sum()
    }
}

/// (sᵢ, rᵢ) of every step, and what is left.
struct Staircase {
    steps: Vec<(usize, usize)>,
    E: Mat<f64>,
    A: Mat<f64>,
}

fn staircase(mut E: Mat<f64>, mut A: Mat<f64>, ranks: &mut Ranks) -> Result<Staircase, RankError> {
    let (size_of_E, size_of_A) = (E.norm_max(), A.norm_max());
    let mut steps = Vec::new();
    loop {
        let of_E = ranks.subspaces(&E, size_of_E)?;
        let s = of_E.kernel.ncols();
        if s == 0 {
            return Ok(Staircase { steps, E, A });
        }
        let of_AZ = ranks.subspaces(&(&A * &of_E.kernel), size_of_A)?;
        steps.push((s, of_AZ.rank));
        let (P, X) = (of_AZ.corange.transpose().to_owned(), of_E.cokernel);
        (E, A) = (&P * &E * &X, &P * &A * &X);
    }
}

/// Indices i − 1, as often as sᵢ − rᵢ says.
fn lone(steps: &[(usize, usize)]) -> Vec<usize> {
    steps.iter().enumerate().flat_map(|(i, &(s, r))| std::iter::repeat_n(i, s - r)).collect()
}
