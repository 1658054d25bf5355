//! Ranks of blocks of the Jacobian, dense or sparse.

use crate::linalg::rank::{AT_POINT, Decomposed, Eliminated, RankDecision, Scaling, VANISHING};
use crate::linalg::{Matrix, RankRule, SparseMatrix, Svd, symmetric_eigenvalues};
use faer::Mat;

/// Entries of a null vector that are not zero, by rising place.
pub(super) type NullVector = Vec<(usize, f64)>;

/// A block with its rank.
pub(super) enum Decided {
    /// By singular values.
    Decomposed(Box<Decomposed>),
    /// By pivots.
    Eliminated(Box<Eliminated>),
}

impl Decided {
    /// The rank, and how clear it is.
    pub fn decision(&self) -> &RankDecision {
        match self {
            Decided::Decomposed(found) => &found.decision,
            Decided::Eliminated(found) => &found.decision,
        }
    }

    /// Vectors y with yᵀ A = 0; nothing where pivots do not tell them.
    pub fn left_null_vectors(&self) -> Option<Vec<NullVector>> {
        match self {
            Decided::Decomposed(found) => Some(found.left_null_vectors().iter().map(|y| entries(y)).collect()),
            Decided::Eliminated(found) => found.left_null_vectors(),
        }
    }
}

/// The entries of a vector that are not zero.
pub(super) fn entries(vector: &[f64]) -> NullVector {
    vector.iter().copied().enumerate().filter(|(_, x)| *x != 0.0).collect()
}

/// Aᵀ.
pub(super) fn transposed(A: &SparseMatrix) -> SparseMatrix {
    let mut turned = SparseMatrix::new(A.cols(), A.rows(), A.places().map(|(i, j)| (j, i)).collect());
    for (place, &a) in A.places().zip(A.values()) {
        if let Some(k) = turned.position((place.1, place.0)) {
            turned.values_mut()[k] = a;
        }
    }
    turned
}

/// A mass matrix that falls apart into small blocks, as those of bodies do.
pub(super) struct MassBlocks {
    /// rows and columns of each block, with its decomposition
    blocks: Vec<(Vec<usize>, Decomposed)>,
    /// Its rank.
    pub rank: RankDecision,
    /// Eigenvalues of ½(M + Mᵀ), rising.
    pub eigenvalues: Vec<f64>,
    /// Singular values of M, falling.
    pub singular_values: Vec<f64>,
}

impl MassBlocks {
    /// Largest block that is decomposed. Chosen: a second for one of them.
    const MOST: usize = 400;

    /// Has the pattern small blocks only?
    pub fn are_small(M: &SparseMatrix) -> bool {
        components(M).iter().all(|block| block.len() <= Self::MOST)
    }

    /// Decompose all blocks; nothing if an iteration does not converge.
    pub fn of(M: &SparseMatrix, ranks: RankRule) -> Option<Self> {
        let n = M.rows();
        let top = M.values().iter().fold(0.0_f64, |top, a| top.max(a.abs()));
        let (mut blocks, mut scaled) = (Vec::new(), Vec::new());
        let (mut eigenvalues, mut singular_values) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let (mut rank, mut threshold) = (0, ranks.or(AT_POINT));
        for places in components(M) {
            let k = places.len();
            let entry = |i: usize, j: usize| M.position((places[i], places[j])).map_or(0.0, |at| M.values()[at]);
            let A = Mat::from_fn(k, k, entry);
            let mut symmetric = Matrix::zeros(k, k);
            (0..k).for_each(|i| symmetric.row_mut(i).iter_mut().enumerate().for_each(|(j, m)| *m = A[(i, j)]));
            eigenvalues.extend(symmetric_eigenvalues(&symmetric).ok()?);
            let mut svd = Svd::new(k, k);
            svd.A.copy_from(&A);
            svd.factor().ok()?;
            singular_values.extend((0..k).map(|i| svd.sigma(i)));
            // rounding beside the other blocks is no mass
            let found = if A.norm_max() > VANISHING * top {
                Decomposed::of(&A, Scaling::Both, ranks)?
            } else {
                Decomposed::plain(&Mat::zeros(k, k), threshold)?
            };
            rank += found.decision.rank;
            threshold = threshold.max(found.decision.threshold);
            scaled.extend_from_slice(&found.decision.singular_values);
            blocks.push((places, found));
        }
        eigenvalues.sort_by(f64::total_cmp);
        singular_values.sort_by(|a, b| b.total_cmp(a));
        scaled.sort_by(|a, b| b.total_cmp(a));
        let rank = RankDecision::by_values((n, n), scaled, rank, threshold);
        Some(MassBlocks { blocks, rank, eigenvalues, singular_values })
    }

    /// M⁺ b.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; b.len()];
        for (places, block) in &self.blocks {
            let found = block.solve(&Mat::from_fn(places.len(), 1, |i, _| b[places[i]]));
            places.iter().enumerate().for_each(|(i, &place)| x[place] = found[(i, 0)]);
        }
        x
    }
}

/// Connected components of a square pattern, each by rising place.
fn components(M: &SparseMatrix) -> Vec<Vec<usize>> {
    let mut root: Vec<usize> = (0..M.rows()).collect();
    let find = |root: &mut Vec<usize>, mut i: usize| {
        while root[i] != i {
            root[i] = root[root[i]];
            i = root[i];
        }
        i
    };
    for (i, j) in M.places() {
        let (a, b) = (find(&mut root, i), find(&mut root, j));
        // the smaller one, so that components come in the order of their first places
        root[a.max(b)] = a.min(b);
    }
    let (mut number, mut found) = (vec![usize::MAX; M.rows()], Vec::<Vec<usize>>::new());
    for i in 0..M.rows() {
        let top = find(&mut root, i);
        if number[top] == usize::MAX {
            number[top] = found.len();
            found.push(Vec::new());
        }
        found[number[top]].push(i);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_in_any_order_of_rows() {
        let mut M =
            SparseMatrix::new(5, 5, vec![(0, 0), (0, 3), (3, 0), (3, 3), (1, 1), (2, 2), (4, 4), (4, 2), (2, 4)]);
        for ((i, j), k) in [((0, 0), 2.0), ((3, 3), 2.0), ((0, 3), 1.0), ((3, 0), 1.0), ((1, 1), 4.0), ((2, 2), 1.0)] {
            let at = M.position((i, j)).unwrap();
            M.values_mut()[at] = k;
        }
        assert_eq!(components(&M), [vec![0, 3], vec![1], vec![2, 4]]);
        let found = MassBlocks::of(&M, RankRule::default()).unwrap();
        assert_eq!((found.rank.rank, found.eigenvalues.len()), (4, 5));
        assert!((found.eigenvalues[4] - 4.0).abs() < 1e-12 && (found.eigenvalues[3] - 3.0).abs() < 1e-12);
        let x = found.solve(&[3.0, 4.0, 5.0, 3.0, 0.0]);
        assert!(x.iter().zip([1.0, 1.0, 5.0, 1.0, 0.0]).all(|(x, exact)| (x - exact).abs() < 1e-12), "{x:?}");
    }

    #[test]
    fn transposing_twice_changes_nothing() {
        let mut A = SparseMatrix::new(2, 3, vec![(0, 2), (1, 0), (0, 0)]);
        A.values_mut().copy_from_slice(&[1.0, 2.0, 3.0]);
        assert_eq!(transposed(&A).row(0), (&[0, 1][..], &[1.0, 3.0][..]));
        assert_eq!(transposed(&transposed(&A)), A);
    }
}
