//! The stage equations of a reduced derivative array, with more rows than unknowns, and their regularised Newton systems on the transformed
//! stages. \[HW\] IV.8; Steinbrecher (2006), 5.1.3.
//!
//! ```text
//! C ΔW₁ = Σ τ₁ⱼ k_C(Xⱼ),   (γD + hB) ΔW₁ = −γ D W₁ + h Σ τ₁ⱼ k_D(Xⱼ)
//! and the same with αₖ + iβₖ for ΔW₂ₖ + iΔW₂ₖ₊₁
//! ```

use super::constraint::ConstraintPart;
use super::differential::DifferentialPart;
use crate::method::collocation::{StageEquations, StageRate, Transformed};
use crate::method::sums::transform;
use crate::motion::{Layout, ReducedArray, Undefined};

/// Rows at the stages, and right-hand sides.
pub(super) struct StageRows {
    /// rows k(Xⱼ), one behind the other
    k: Vec<f64>,
    /// their transformation, algebraic and differential right-hand sides then
    transformed: Vec<f64>,
    /// the same at one point
    b: Vec<f64>,
    /// unknowns of a real system, or of both parts of a complex one
    zeta: [Vec<f64>; 2],
}

impl StageRows {
    /// Room for a system and up to so many stages.
    pub fn new(layout: &Layout, stages: usize) -> Self {
        StageRows {
            k: vec![0.0; stages * layout.rows()],
            transformed: vec![0.0; stages * layout.rows()],
            b: vec![0.0; layout.rows()],
            zeta: std::array::from_fn(|_| vec![0.0; layout.dim()]),
        }
    }
}

/// A reduced derivative array with its decomposed parts.
pub(super) struct Regularised<'p> {
    pub array: Box<dyn ReducedArray + 'p>,
    pub constraints: ConstraintPart,
    pub differential: DifferentialPart,
    pub rows: StageRows,
}

impl Regularised<'_> {
    /// (γD + hB) ξ = h k_D − D h ẋ, with C ξ = k_C or zero.
    pub fn correction(&mut self, k_C: Option<&[f64]>, k_D: &[f64], rate: &[f64], h: f64, xi: &mut [f64]) {
        let StageRows { b, zeta: [zeta, _], .. } = &mut self.rows;
        let layout = self.array.layout();
        let (c, d) = b.split_at_mut(layout.algebraic());
        for ((d, k), j) in d.iter_mut().zip(k_D).zip(differential_columns(layout)) {
            *d = h * k - rate[j];
        }
        match k_C {
            Some(k_C) => {
                c.copy_from_slice(k_C);
                self.constraints.transform(c);
            }
            None => c.fill(0.0),
        }
        self.differential.solve_real(&self.constraints, c, d, zeta);
        self.constraints.substitute(c, zeta, xi);
    }

    /// C ξ = k_C, free unknowns kept.
    pub fn onto_constraints(&mut self, k_C: &[f64], xi: &mut [f64]) {
        let StageRows { b, zeta: [zeta, _], .. } = &mut self.rows;
        let c = &mut b[..k_C.len()];
        c.copy_from_slice(k_C);
        self.constraints.transform(c);
        zeta.fill(0.0);
        self.constraints.substitute(c, zeta, xi);
    }

    /// A residual above a bound of constraints that were dropped as redundant, with the number of its block.
    pub fn disagreement(&mut self, k_C: &[f64], most: f64) -> Option<(usize, f64)> {
        let c = &mut self.rows.b[..k_C.len()];
        c.copy_from_slice(k_C);
        self.constraints.transform(c);
        self.constraints.neglected(c).find(|(_, r)| r.abs() > most)
    }
}

/// Columns of r, v, p, in the order of the differential rows.
pub(super) fn differential_columns(layout: &Layout) -> impl Iterator<Item = usize> + use<> {
    layout.r().chain(layout.v()).chain(layout.p())
}

impl StageEquations for Regularised<'_> {
    fn evaluate(&mut self, stage: usize, t: f64, X: &[f64], _: StageRate) -> Result<(), Undefined> {
        let rows = self.rows.b.len();
        self.array.evaluate(t, X, &mut self.rows.k[stage * rows..][..rows])
    }

    fn beside_constraints(&mut self, stage: usize, xi: &mut [f64]) {
        let (algebraic, rows) = (self.array.layout().algebraic(), self.rows.b.len());
        let StageRows { k, b, zeta: [zeta, _], .. } = &mut self.rows;
        let c = &mut b[..algebraic];
        c.copy_from_slice(&k[stage * rows..][..algebraic]);
        self.constraints.transform(c);
        zeta.fill(0.0);
        self.constraints.substitute(c, zeta, xi);
    }

    fn increments(&mut self, stages: &mut Transformed, h: f64) {
        let (layout, tableau) = (self.array.layout(), stages.tableau);
        let StageRows { k, transformed, b, zeta: [zeta, zetai] } = &mut self.rows;
        let (n, m, algebraic) = (layout.dim(), b.len(), layout.algebraic());
        let columns = || differential_columns(layout);
        let used = tableau.stages() * m;
        transform(tableau.T_INVERSE, &k[..used], &mut transformed[..used]);

        let (first, pairs) = transformed[..used].split_at_mut(m);
        let (c, d) = first.split_at_mut(algebraic);
        for (d, j) in d.iter_mut().zip(columns()) {
            *d = h * *d - tableau.GAMMA * stages.W[j];
        }
        self.constraints.transform(c);
        self.differential.solve_real(&self.constraints, c, d, zeta);
        self.constraints.substitute(c, zeta, &mut stages.dW[..n]);

        for (pair, (&(alpha, beta), both)) in tableau.PAIRS.iter().zip(pairs.chunks_exact_mut(2 * m)).enumerate() {
            let (of_re, of_im) = both.split_at_mut(m);
            let ((c, d), (ci, di)) = (of_re.split_at_mut(algebraic), of_im.split_at_mut(algebraic));
            let first = (1 + 2 * pair) * n;
            let (W, Wi) = stages.W[first..].split_at(n);
            for ((re, im), j) in d.iter_mut().zip(di.iter_mut()).zip(columns()) {
                *re = h * *re - (alpha * W[j] - beta * Wi[j]);
                *im = h * *im - (beta * W[j] + alpha * Wi[j]);
            }
            self.constraints.transform(c);
            self.constraints.transform(ci);
            self.differential.solve_complex(pair, &self.constraints, [c, ci], [d, di], zeta, zetai);
            let (dW, dWi) = stages.dW[first..].split_at_mut(n);
            self.constraints.substitute(c, zeta, dW);
            self.constraints.substitute(ci, zetai, &mut dWi[..n]);
        }
    }
}
