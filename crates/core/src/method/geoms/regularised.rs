//! The stage equations of a reduced derivative array, with more rows than unknowns, and their regularised Newton systems on the transformed
//! stages. \[HW\] IV.8; Steinbrecher (2006), 5.1.3.
//!
//! ```text
//! C ΔW₁ = Σ τ₁ⱼ k_C(Xⱼ),   (γD + hB) ΔW₁ = −γ D W₁ + h Σ τ₁ⱼ k_D(Xⱼ)
//! and the same with αₖ + iβₖ for ΔW₂ₖ + iΔW₂ₖ₊₁
//! ```

use super::constraint::ConstraintPart;
use super::differential::DifferentialPart;
use crate::method::collocation::{StageEquations, StageRate, Transformed, combine};
use crate::motion::{Layout, ReducedArray, Undefined};

/// Rows at the stages, and right-hand sides.
pub(super) struct StageRows {
    /// rows k(Xⱼ), one behind the other
    k: Vec<f64>,
    /// their transformation
    transformed: Vec<f64>,
    /// right-hand sides of a real system, or of both parts of a complex one, algebraic and differential
    bC: [Vec<f64>; 2],
    bD: [Vec<f64>; 2],
    zeta: [Vec<f64>; 2],
}

impl StageRows {
    /// Room for a system and up to so many stages.
    pub fn new(layout: &Layout, stages: usize) -> Self {
        let two = |n: usize| std::array::from_fn(|_| vec![0.0; n]);
        StageRows {
            k: vec![0.0; stages * layout.rows()],
            transformed: vec![0.0; layout.rows()],
            bC: two(layout.algebraic()),
            bD: two(layout.differential()),
            zeta: two(layout.dim()),
        }
    }

    /// bC = Σ τ k_C and h Σ τ k_D, for one of the transformed stages.
    fn combine(&mut self, part: usize, weights: &[f64], h: f64) {
        combine(weights, &self.k, &mut self.transformed);
        let (algebraic, differential) = self.transformed.split_at(self.bC[part].len());
        self.bC[part].copy_from_slice(algebraic);
        self.bD[part].iter_mut().zip(differential).for_each(|(b, k)| *b = h * k);
    }
}

/// A reduced derivative array with its decomposed parts.
pub(super) struct Regularised<'s, 'p> {
    pub array: &'s mut (dyn ReducedArray + 'p),
    pub constraints: &'s mut ConstraintPart,
    pub differential: &'s mut DifferentialPart,
    pub rows: &'s mut StageRows,
}

impl StageEquations for Regularised<'_, '_> {
    fn evaluate(&mut self, stage: usize, t: f64, X: &[f64], _: StageRate) -> Result<(), Undefined> {
        let rows = self.rows.transformed.len();
        self.array.evaluate(t, X, &mut self.rows.k[stage * rows..][..rows])
    }

    fn increments(&mut self, stages: &mut Transformed, h: f64) {
        let (layout, rows) = (self.array.layout(), &mut *self.rows);
        let (n, s, tableau) = (layout.dim(), stages.tableau.stages(), stages.tableau);
        let weights = |r: usize| &tableau.T_INVERSE[r * s..][..s];
        let columns = || layout.r().chain(layout.v()).chain(layout.p());

        rows.combine(0, weights(0), h);
        for (b, j) in rows.bD[0].iter_mut().zip(columns()) {
            *b -= tableau.GAMMA * stages.W[j];
        }
        let [c, _] = &mut rows.bC;
        self.constraints.transform(c);
        self.differential.solve_real(self.constraints, c, &rows.bD[0], &mut rows.zeta[0]);
        self.constraints.substitute(c, &mut rows.zeta[0], &mut stages.dW[..n]);

        for (pair, &(alpha, beta)) in tableau.PAIRS.iter().enumerate() {
            let first = 1 + 2 * pair;
            rows.combine(0, weights(first), h);
            rows.combine(1, weights(first + 1), h);
            let (W, Wi) = stages.W[first * n..].split_at(n);
            let [re, im] = &mut rows.bD;
            for ((re, im), j) in re.iter_mut().zip(im).zip(columns()) {
                *re -= alpha * W[j] - beta * Wi[j];
                *im -= beta * W[j] + alpha * Wi[j];
            }
            rows.bC.iter_mut().for_each(|c| self.constraints.transform(c));
            let ([c, ci], [b, bi], [zeta, zetai]) = (&rows.bC, &rows.bD, &mut rows.zeta);
            self.differential.solve_complex(pair, self.constraints, [c, ci], [b, bi], zeta, zetai);
            let (dW, dWi) = stages.dW[first * n..].split_at_mut(n);
            self.constraints.substitute(c, zeta, dW);
            self.constraints.substitute(ci, zetai, &mut dWi[..n]);
        }
    }
}
