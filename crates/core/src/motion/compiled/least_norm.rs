//! Multipliers of least norm, where constraints are redundant: what outputs show.
//!
//! Kᵀλ is unique, λ is not, and a method keeps the part that nothing determines where it began. Shown is min ½λᵀWλ with the same Kᵀλ, W = diag KD⁻¹Kᵀ with
//! the diagonal D of M, so that rows of different units are compared: with unit rows K̂ = W^{-1/2}K and λ̂ = W^{1/2}λ it is the projection of λ̂ onto the range of K̂.

use super::super::Formulas;
use crate::graph::{Compiler, Expr, Interpreted, Kernel};
use crate::linalg::Svd;
use std::ops::Range;

/// Larger systems are not looked at: a decomposition at every point that is shown would take too long.
const MOST_ROWS: usize = 400;
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
    svd: Svd,
    sizes: Vec<f64>,
    /// not before a first look
    redundant: Option<bool>,
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
        if !shown || rows > MOST_ROWS {
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
        let first = 1 + n.positions + n.velocities + n.dynamic + n.auxiliary + n.contact;
        Some(LeastNorm {
            kernel: Interpreted.compile(&formulas.graph, &all.iter().map(|(_, _, e)| *e).collect::<Vec<_>>()),
            values: vec![0.0; all.len()],
            entries: all.into_iter().map(|(i, j, _)| (i, j)).collect(),
            multipliers: first..first + rows,
            lightness,
            svd: Svd::new(rows, n.velocities),
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
        self.sizes.fill(0.0);
        for (&(i, j), K) in self.entries.iter().zip(&self.values) {
            self.sizes[i] += K * K * self.lightness[j];
        }
        self.sizes.iter_mut().for_each(|size| *size = if *size > 0.0 { size.sqrt() } else { 1.0 });
        self.svd.A.fill(0.0);
        for (&(i, j), K) in self.entries.iter().zip(&self.values) {
            self.svd.A[(i, j)] += K * self.lightness[j].sqrt() / self.sizes[i];
        }
        if self.svd.factor().is_err() {
            return;
        }
        let rank = self.svd.rank(DEPENDENT * self.svd.sigma(0));
        let rows = self.sizes.len();
        self.redundant.get_or_insert(rank < rows);
        if rank == rows {
            return;
        }
        let multipliers = &mut inputs[self.multipliers.clone()];
        let scaled: Vec<f64> = multipliers.iter().zip(&self.sizes).map(|(x, size)| x * size).collect();
        multipliers.fill(0.0);
        for k in 0..rank {
            let along: f64 = (0..rows).map(|i| self.svd.U[(i, k)] * scaled[i]).sum();
            (0..rows).for_each(|i| multipliers[i] += self.svd.U[(i, k)] * along / self.sizes[i]);
        }
    }
}
