//! Multipliers of least norm, where constraints are redundant: what outputs show.
//!
//! Kᵀλ is unique, λ is not, and a method keeps the part that nothing determines where it began. Shown is min ½λᵀWλ with the same Kᵀλ, W = diag KD⁻¹Kᵀ with
//! the diagonal D of M, so that rows of different units are compared: with unit rows K̂ = W^{-1/2}K and λ̂ = W^{1/2}λ it is the projection of λ̂ onto the range of K̂.
//! Of few rows that is by singular values, of many by [`LeastMultipliers`].

use super::super::Formulas;
use crate::graph::{Compiler, Expr, Interpreted, Kernel};
use crate::linalg::rank::REMAINDER;
use crate::linalg::{LeastMultipliers, RowMerge, SparseMatrix, Svd};
use std::ops::Range;

/// Singular values of more rows would take too long at every point that is shown.
const MOST_DENSE: usize = 400;
/// Unit rows with singular values below this part of the largest one are dependent.
const DEPENDENT: f64 = 1e-9;

pub(super) struct LeastNorm {
    kernel: Box<dyn Kernel>,
    /// row and velocity of each output of the kernel
    entries: Vec<(usize, usize)>,
    values: Vec<f64>,
    /// λ and μ among the inputs
    multipliers: Range<usize>,
    /// 1/Mᵢᵢ
    lightness: Vec<f64>,
    projection: NormProjection,
    sizes: Vec<f64>,
    /// not before a first look
    redundant: Option<bool>,
}

/// Onto the range of K̂.
enum NormProjection {
    Dense(Box<Svd>),
    Sparse(Box<SparseConstraints>),
}

/// K with its pattern.
struct SparseConstraints {
    K: SparseMatrix,
    /// where each output of the kernel stands among the values of K
    positions: Vec<usize>,
    /// D^{-1/2}
    columns: Vec<f64>,
    least: LeastMultipliers,
}

impl LeastNorm {
    /// For formulas with closed forms whose outputs contain multipliers; the parameters are bound.
    pub fn new(formulas: &Formulas, outputs: &[Expr]) -> Option<Self> {
        let closed = formulas.closed.as_ref()?;
        let n = formulas.sizes;
        let rows = n.holonomic + n.nonholonomic;
        let at = formulas.variables();
        let needed = formulas.graph.needed(outputs);
        let shown = at.lambda().iter().chain(at.mu()).any(|e| needed.binary_search(e).is_ok());
        if !shown {
            return None;
        }
        let mut lightness = vec![0.0; n.velocities];
        for &(i, j, m) in &formulas.mass {
            if i == j {
                lightness[i] = formulas.graph.constant(m)?.recip();
            }
        }
        let below = closed.HZ.iter().map(|&(i, j, e)| (n.holonomic + i, j, e));
        let all: Vec<(usize, usize, Expr)> = closed.GZ.iter().copied().chain(below).collect();
        let projection = if rows <= MOST_DENSE {
            NormProjection::Dense(Box::new(Svd::new(rows, n.velocities)))
        } else {
            let K = SparseMatrix::new(rows, n.velocities, all.iter().map(|&(i, j, _)| (i, j)).collect());
            let positions = all.iter().map(|&(i, j, _)| K.position((i, j))).collect::<Option<_>>()?;
            let columns = lightness.iter().map(|l: &f64| l.sqrt()).collect();
            NormProjection::Sparse(Box::new(SparseConstraints {
                least: LeastMultipliers::new(&K),
                positions,
                columns,
                K,
            }))
        };
        let first = 1 + n.positions + n.velocities + n.dynamic + n.auxiliary + n.contact;
        Some(LeastNorm {
            kernel: Interpreted.compile(&formulas.graph, &all.iter().map(|(_, _, e)| *e).collect::<Vec<_>>()),
            values: vec![0.0; all.len()],
            entries: all.into_iter().map(|(i, j, _)| (i, j)).collect(),
            multipliers: first..first + rows,
            lightness,
            projection,
            sizes: vec![0.0; rows],
            redundant: None,
        })
    }

    /// Take the smallest multipliers with the same force.
    pub fn apply(&mut self, inputs: &mut [f64]) {
        if self.redundant == Some(false) {
            return;
        }
        self.kernel.call(inputs, &mut self.values);
        let multipliers = &mut inputs[self.multipliers.clone()];
        let svd = match &mut self.projection {
            NormProjection::Dense(svd) => svd,
            NormProjection::Sparse(sparse) => {
                sparse.take(&self.values);
                if *self.redundant.get_or_insert_with(|| sparse.is_redundant()) {
                    // without factors they stay as they are
                    let _ = sparse.least.project(&sparse.K, &sparse.columns, multipliers);
                }
                return;
            }
        };
        self.sizes.fill(0.0);
        for (&(i, j), K) in self.entries.iter().zip(&self.values) {
            self.sizes[i] += K * K * self.lightness[j];
        }
        self.sizes.iter_mut().for_each(|size| *size = if *size > 0.0 { size.sqrt() } else { 1.0 });
        svd.A.fill(0.0);
        for (&(i, j), K) in self.entries.iter().zip(&self.values) {
            svd.A[(i, j)] += K * self.lightness[j].sqrt() / self.sizes[i];
        }
        if svd.factor().is_err() {
            return;
        }
        let rank = svd.rank(DEPENDENT * svd.sigma(0));
        let rows = self.sizes.len();
        self.redundant.get_or_insert(rank < rows);
        if rank == rows {
            return;
        }
        let scaled: Vec<f64> = multipliers.iter().zip(&self.sizes).map(|(x, size)| x * size).collect();
        multipliers.fill(0.0);
        for k in 0..rank {
            let along: f64 = (0..rows).map(|i| svd.U[(i, k)] * scaled[i]).sum();
            (0..rows).for_each(|i| multipliers[i] += svd.U[(i, k)] * along / self.sizes[i]);
        }
    }
}

impl SparseConstraints {
    fn take(&mut self, values: &[f64]) {
        self.K.values_mut().fill(0.0);
        for (&position, value) in self.positions.iter().zip(values) {
            self.K.values_mut()[position] += value;
        }
    }

    fn is_redundant(&self) -> bool {
        let merge = RowMerge::new(&self.K);
        let order = merge.by_first_column(&self.K);
        !merge.independent(&self.K, &self.columns, &order, REMAINDER).gap.is_full()
    }
}
