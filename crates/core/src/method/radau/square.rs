//! The stage equations of a square system, and their Newton systems.
//!
//! With rows that contain derivatives multiplied by h, and Ĝᵣ = Σⱼ τᵣⱼ G(t₀ + cⱼh, x₀ + Zⱼ, Ẋⱼ):
//!
//! ```text
//! (γE − hA) ΔW₁ = −h Ĝ₁,   ((αₖ + iβₖ)E − hA)(ΔW₂ₖ + iΔW₂ₖ₊₁) = −h (Ĝ₂ₖ + iĜ₂ₖ₊₁)
//! ```
//!
//! Algebraic rows are −A ΔW = −Ĝ, whatever h.

use crate::dae::{Dae, Pencil};
use crate::linalg::{IterationMatrix, Singular};
use crate::method::collocation::{StageEquations, StageRate, Tableau, Transformed, combine};
use crate::motion::Undefined;
use faer::c64;

/// The decomposed matrices of a step size, with rows at the stages.
pub(super) struct Matrices {
    /// γE − hA.
    pub real: IterationMatrix<f64>,
    /// (αₖ + iβₖ)E − hA.
    complex: Vec<IterationMatrix<c64>>,
    algebraic: Vec<bool>,
    /// rows G at the stages, one behind the other
    G: Vec<f64>,
    /// ΔW₂ₖ + iΔW₂ₖ₊₁
    pair: Vec<c64>,
    Xdot: Vec<f64>,
}

impl Matrices {
    /// Room for a system and this number of stages.
    pub fn new(dae: &dyn Dae, pencil: &Pencil, stages: usize) -> Self {
        let n = dae.dim();
        let algebraic: Vec<bool> = (0..n).map(|i| dae.algebraic(i)).collect();
        Matrices {
            real: IterationMatrix::new(pencil, algebraic.clone()),
            complex: (0..stages / 2).map(|_| IterationMatrix::new(pencil, algebraic.clone())).collect(),
            algebraic,
            G: vec![0.0; stages * n],
            pair: vec![c64::new(0.0, 0.0); n],
            Xdot: vec![0.0; n],
        }
    }

    /// Decompose all for a step size.
    pub fn decompose(&mut self, pencil: &Pencil, tableau: &Tableau, h: f64) -> Result<(), Singular> {
        self.real.decompose(pencil, tableau.GAMMA, h)?;
        for (matrix, &(alpha, beta)) in self.complex.iter_mut().zip(tableau.PAIRS) {
            matrix.decompose(pencil, c64::new(alpha, beta), h)?;
        }
        Ok(())
    }
}

/// A square system with its matrices.
pub(super) struct Square<'s, 'p> {
    pub dae: &'s mut (dyn Dae + 'p),
    pub matrices: &'s mut Matrices,
}

impl StageEquations for Square<'_, '_> {
    fn evaluate(&mut self, stage: usize, t: f64, X: &[f64], Xdot: StageRate) -> Result<(), Undefined> {
        let (n, matrices) = (X.len(), &mut *self.matrices);
        Xdot.write(&mut matrices.Xdot);
        self.dae.residual(stage, t, X, &matrices.Xdot, &mut matrices.G[stage * n..][..n])
    }

    fn increments(&mut self, stages: &mut Transformed, h: f64) {
        let Matrices { real, complex, algebraic, G, pair, .. } = &mut *self.matrices;
        let (n, s) = (algebraic.len(), stages.tableau.stages());
        for r in 0..s {
            let dW = &mut stages.dW[r * n..][..n];
            combine(&stages.tableau.T_INVERSE[r * s..][..s], G, dW);
            for (d, algebraic) in dW.iter_mut().zip(&*algebraic) {
                *d *= if *algebraic { -1.0 } else { -h };
            }
        }
        let (first, pairs) = stages.dW.split_at_mut(n);
        real.solve(first);
        for (matrix, dW) in complex.iter_mut().zip(pairs.chunks_exact_mut((2 * n).max(1))) {
            let (re, im) = dW.split_at_mut(n);
            for ((z, re), im) in pair.iter_mut().zip(&*re).zip(&*im) {
                *z = c64::new(*re, *im);
            }
            matrix.solve(pair);
            for ((z, re), im) in pair.iter().zip(re).zip(im) {
                (*re, *im) = (z.re, z.im);
            }
        }
    }
}
