//! The stage equations, and the simplified Newton iteration on the transformed stages W = (T⁻¹ ⊗ I) Z. \[HW\] IV.8.
//!
//! With rows that contain derivatives multiplied by h, and Ĝᵣ = Σⱼ τᵣⱼ G(t₀ + cⱼh, x₀ + Zⱼ, Ẋⱼ):
//!
//! ```text
//! (γE − hA) ΔW₁ = −h Ĝ₁,   ((αₖ + iβₖ)E − hA)(ΔW₂ₖ + iΔW₂ₖ₊₁) = −h (Ĝ₂ₖ + iĜ₂ₖ₊₁)
//! ```
//!
//! Algebraic rows are −A ΔW = −Ĝ, whatever h.

use super::tableau::Tableau;
use crate::dae::{Dae, Pencil};
use crate::linalg::{IterationMatrix, Singular};
use crate::method::convergence::{Convergence, Outcome, Verdict};
use crate::method::weights::Weights;
use crate::motion::Undefined;
use crate::segment::Segment;
use crate::statistics::Statistics;
use faer::c64;

/// The decomposed matrices of a step size.
pub struct Matrices {
    /// γE − hA.
    pub real: IterationMatrix<f64>,
    /// (αₖ + iβₖ)E − hA.
    complex: Vec<IterationMatrix<c64>>,
}

impl Matrices {
    /// Room for a system and this number of stages.
    pub fn new(dae: &dyn Dae, pencil: &Pencil, stages: usize) -> Self {
        let algebraic: Vec<bool> = (0..dae.dim()).map(|i| dae.algebraic(i)).collect();
        Matrices {
            real: IterationMatrix::new(pencil, algebraic.clone()),
            complex: (0..stages / 2).map(|_| IterationMatrix::new(pencil, algebraic.clone())).collect(),
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

/// Where Newton's iteration starts.
#[derive(Clone, Copy, Debug)]
pub enum Prediction<'s> {
    /// On the extrapolated polynomial of the last step.
    Polynomial(&'s Segment),
    /// On the polynomial of the last step itself, from its begin: for making it again.
    Inside(&'s Segment),
    /// On the tangent: for systems that are not linear in ẋ, for which ẋ = 0 may be too far away.
    Line(&'s [f64]),
    /// At the last point, whatever its derivative: stiff transients do not follow their tangent.
    Zero,
}

/// Stages of one step, with scratch: vectors of n components, one behind the other.
pub struct StageVectors {
    tableau: &'static Tableau,
    n: usize,
    /// Zⱼ = Xⱼ − x₀.
    Z: Vec<f64>,
    W: Vec<f64>,
    /// rows G at the stages
    G: Vec<f64>,
    dW: Vec<f64>,
    /// ΔW₂ₖ + iΔW₂ₖ₊₁
    pair: Vec<c64>,
    X: Vec<f64>,
    Xdot: Vec<f64>,
    algebraic: Vec<bool>,
    /// Iterations of the last step, converged or not, and how fast they contracted.
    pub iterations: u32,
    /// Rate Θ.
    pub rate: f64,
}

impl StageVectors {
    /// Room for a system and up to `most` stages.
    pub fn new(dae: &dyn Dae, tableau: &'static Tableau, most: usize) -> Self {
        let n = dae.dim();
        let all = || vec![0.0; most * n];
        StageVectors {
            tableau,
            n,
            Z: all(),
            W: all(),
            G: all(),
            dW: all(),
            pair: vec![c64::new(0.0, 0.0); n],
            X: vec![0.0; n],
            Xdot: vec![0.0; n],
            algebraic: (0..n).map(|i| dae.algebraic(i)).collect(),
            iterations: 0,
            rate: 0.0,
        }
    }

    /// Go on with another number of stages.
    pub fn change(&mut self, tableau: &'static Tableau) {
        self.tableau = tableau;
    }

    /// The method.
    pub fn tableau(&self) -> &'static Tableau {
        self.tableau
    }

    /// Z of one stage.
    pub fn Z(&self, stage: usize) -> &[f64] {
        &self.Z[stage * self.n..][..self.n]
    }

    /// Σⱼ wⱼ Zⱼ.
    pub fn weighted(&self, weights: &[f64], out: &mut [f64]) {
        combine(weights, &self.Z, out);
    }

    /// Stages from the polynomial of the last step, on a line, or zero.
    pub fn predict(&mut self, from: Prediction, h: f64) {
        let (n, s) = (self.n, self.tableau.stages());
        for (j, c) in self.tableau.C.iter().enumerate() {
            let Z = &mut self.Z[j * n..][..n];
            match from {
                Prediction::Line(xdot) => Z.iter_mut().zip(xdot).for_each(|(z, d)| *z = c * h * d),
                Prediction::Polynomial(segment) => {
                    let ratio = h / (segment.t1 - segment.t0);
                    Z.iter_mut().enumerate().for_each(|(i, z)| *z = segment.increment(c * ratio, i));
                }
                Prediction::Inside(segment) => {
                    let ratio = h / (segment.t1 - segment.t0);
                    for (i, z) in Z.iter_mut().enumerate() {
                        *z = segment.increment(c * ratio - 1.0, i) - segment.increment(-1.0, i);
                    }
                }
                Prediction::Zero => Z.fill(0.0),
            }
        }
        for r in 0..s {
            combine(&self.tableau.T_INVERSE[r * s..][..s], &self.Z, &mut self.W[r * n..][..n]);
        }
    }

    /// Iterate from the stages at hand; `eta` is carried from step to step.
    pub fn iterate(
        &mut self,
        dae: &mut dyn Dae,
        matrices: &mut Matrices,
        (t, x, h): (f64, &[f64], f64),
        weights: &Weights,
        mut convergence: Convergence,
        eta: &mut f64,
        statistics: &mut Statistics,
    ) -> Outcome {
        let s = self.tableau.stages();
        for newton in 1..=convergence.most() {
            self.iterations = newton;
            self.rate = 1.0;
            if self.evaluate(dae, t, x, h, statistics).is_err() {
                return Outcome::Diverged;
            }
            self.solve(matrices, h);
            statistics.solves += 1;
            let verdict = convergence.judge(newton, weights.norm_of_stages(&self.dW[..s * self.n], s), eta);
            self.rate = convergence.rate();
            match verdict {
                Verdict::Failed(outcome) => return outcome,
                Verdict::GoOn => self.update(),
                Verdict::Enough(outcome) => {
                    self.update();
                    return outcome;
                }
            }
        }
        convergence.exhausted()
    }

    /// Ẋⱼ = Σ (A⁻¹)ⱼₖ Zₖ / h.
    pub fn derivative(&self, stage: usize, h: f64, xdot: &mut [f64]) {
        rate(self.tableau, &self.Z, stage, h, xdot);
    }

    fn evaluate(
        &mut self,
        dae: &mut dyn Dae,
        t: f64,
        x: &[f64],
        h: f64,
        statistics: &mut Statistics,
    ) -> Result<(), Undefined> {
        let n = self.n;
        for (j, c) in self.tableau.C.iter().enumerate() {
            for ((X, x), z) in self.X.iter_mut().zip(x).zip(&self.Z[j * n..]) {
                *X = x + z;
            }
            rate(self.tableau, &self.Z, j, h, &mut self.Xdot);
            statistics.residuals += 1;
            dae.residual(j, t + c * h, &self.X, &self.Xdot, &mut self.G[j * n..][..n])?;
        }
        Ok(())
    }

    fn solve(&mut self, matrices: &mut Matrices, h: f64) {
        let (n, s) = (self.n, self.tableau.stages());
        for r in 0..s {
            let dW = &mut self.dW[r * n..][..n];
            combine(&self.tableau.T_INVERSE[r * s..][..s], &self.G, dW);
            for (d, algebraic) in dW.iter_mut().zip(&self.algebraic) {
                *d *= if *algebraic { -1.0 } else { -h };
            }
        }
        let (first, pairs) = self.dW[..s * n].split_at_mut(n);
        matrices.real.solve(first);
        for (matrix, dW) in matrices.complex.iter_mut().zip(pairs.chunks_exact_mut((2 * n).max(1))) {
            let (re, im) = dW.split_at_mut(n);
            for ((z, re), im) in self.pair.iter_mut().zip(&*re).zip(&*im) {
                *z = c64::new(*re, *im);
            }
            matrix.solve(&mut self.pair);
            for ((z, re), im) in self.pair.iter().zip(re).zip(im) {
                (*re, *im) = (z.re, z.im);
            }
        }
    }

    /// W ← W + ΔW, Z = (T ⊗ I) W.
    fn update(&mut self) {
        let (n, s) = (self.n, self.tableau.stages());
        for (w, d) in self.W[..s * n].iter_mut().zip(&self.dW) {
            *w += d;
        }
        for r in 0..s {
            combine(&self.tableau.T[r * s..][..s], &self.W, &mut self.Z[r * n..][..n]);
        }
    }
}

/// Ẋⱼ = Σ (A⁻¹)ⱼₖ Zₖ / h.
fn rate(tableau: &Tableau, Z: &[f64], stage: usize, h: f64, xdot: &mut [f64]) {
    combine(tableau.a_inverse(stage), Z, xdot);
    for d in xdot {
        *d /= h;
    }
}

/// out = Σⱼ wⱼ Vⱼ of vectors that stand one behind the other; 1, 3, 5 or 7 weights.
fn combine(weights: &[f64], vectors: &[f64], out: &mut [f64]) {
    match weights.len() {
        1 => combine_of::<1>(weights, vectors, out),
        3 => combine_of::<3>(weights, vectors, out),
        5 => combine_of::<5>(weights, vectors, out),
        _ => combine_of::<7>(weights, vectors, out),
    }
}

#[inline]
fn combine_of<const S: usize>(weights: &[f64], vectors: &[f64], out: &mut [f64]) {
    let n = out.len();
    let w: [f64; S] = std::array::from_fn(|j| weights[j]);
    let V: [&[f64]; S] = std::array::from_fn(|j| &vectors[j * n..][..n]);
    for (i, out) in out.iter_mut().enumerate() {
        let mut sum = w[0] * V[0][i];
        for j in 1..S {
            sum += w[j] * V[j][i];
        }
        *out = sum;
    }
}
