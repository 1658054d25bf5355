//! The stage equations, and the simplified Newton iteration on the transformed stages W = (T⁻¹ ⊗ I) Z. \[HW\] IV.8.
//!
//! With rows that contain derivatives multiplied by h, and Ĝᵣ = Σⱼ τᵣⱼ G(t₀ + cⱼh, x₀ + Zⱼ, Ẋⱼ):
//!
//! ```text
//! (γE − hA) ΔW₁ = −h Ĝ₁,   ((α + iβ)E − hA)(ΔW₂ + iΔW₃) = −h (Ĝ₂ + iĜ₃)
//! ```
//!
//! Algebraic rows are −A ΔW = −Ĝ, whatever h.

use super::tableau::{A_INVERSE, ALPHA, BETA, C, GAMMA, T, T_INVERSE};
use crate::dae::{Dae, Pencil};
use crate::linalg::{IterationMatrix, Singular};
use crate::method::convergence::{Convergence, Limits, Outcome, Verdict};
use crate::method::weights::Weights;
use crate::motion::Undefined;
use crate::segment::Segment;
use crate::statistics::Statistics;
use faer::c64;

/// The two decomposed matrices of a step size.
pub struct Matrices {
    /// γE − hA.
    pub real: IterationMatrix<f64>,
    /// (α + iβ)E − hA.
    pub complex: IterationMatrix<c64>,
}

impl Matrices {
    /// Room for a system.
    pub fn new(dae: &dyn Dae, pencil: &Pencil) -> Self {
        let algebraic: Vec<bool> = (0..dae.dim()).map(|i| dae.algebraic(i)).collect();
        Matrices {
            real: IterationMatrix::new(pencil, algebraic.clone()),
            complex: IterationMatrix::new(pencil, algebraic),
        }
    }

    /// Decompose both for a step size.
    pub fn decompose(&mut self, pencil: &Pencil, h: f64) -> Result<(), Singular> {
        self.real.decompose(pencil, GAMMA, h)?;
        self.complex.decompose(pencil, c64::new(ALPHA, BETA), h)
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

/// Stages of one step, with scratch.
pub struct Stages {
    /// Zⱼ = Xⱼ − x₀.
    pub Z: [Vec<f64>; 3],
    W: [Vec<f64>; 3],
    /// rows G at the stages
    G: [Vec<f64>; 3],
    dW: [Vec<f64>; 3],
    dW23: Vec<c64>,
    X: Vec<f64>,
    Xdot: Vec<f64>,
}

impl Stages {
    /// Room for n unknowns.
    pub fn new(n: usize) -> Self {
        let three = || std::array::from_fn(|_| vec![0.0; n]);
        let (X, Xdot) = (vec![0.0; n], vec![0.0; n]);
        Stages { Z: three(), W: three(), G: three(), dW: three(), dW23: vec![c64::new(0.0, 0.0); n], X, Xdot }
    }

    /// Stages from the polynomial of the last step, on a line, or zero.
    pub fn predict(&mut self, from: Prediction, h: f64) {
        match from {
            Prediction::Line(xdot) => {
                for (c, Z) in C.iter().zip(&mut self.Z) {
                    for (z, d) in Z.iter_mut().zip(xdot) {
                        *z = c * h * d;
                    }
                }
            }
            Prediction::Polynomial(segment) => {
                let ratio = h / (segment.t1 - segment.t0);
                for (c, Z) in C.iter().zip(&mut self.Z) {
                    for (i, z) in Z.iter_mut().enumerate() {
                        *z = segment.increment(c * ratio, i);
                    }
                }
            }
            Prediction::Inside(segment) => {
                let ratio = h / (segment.t1 - segment.t0);
                for (c, Z) in C.iter().zip(&mut self.Z) {
                    for (i, z) in Z.iter_mut().enumerate() {
                        *z = segment.increment(c * ratio - 1.0, i) - segment.increment(-1.0, i);
                    }
                }
            }
            Prediction::Zero => self.Z.iter_mut().for_each(|Z| Z.fill(0.0)),
        }
        for i in 0..self.X.len() {
            for r in 0..3 {
                self.W[r][i] = (0..3).map(|j| T_INVERSE[r][j] * self.Z[j][i]).sum();
            }
        }
    }

    /// Iterate from the stages at hand; `eta` is carried from step to step.
    pub fn iterate(
        &mut self,
        dae: &mut dyn Dae,
        matrices: &mut Matrices,
        (t, x, h): (f64, &[f64], f64),
        weights: &Weights,
        limits: Limits,
        eta: &mut f64,
        statistics: &mut Statistics,
    ) -> Outcome {
        let mut convergence = Convergence::cautious(limits, eta);
        for newton in 1..=limits.most {
            if self.evaluate(dae, t, x, h, statistics).is_err() {
                return Outcome::Diverged;
            }
            self.solve(dae, matrices, h);
            statistics.solves += 1;
            match convergence.judge(newton, weights.norm_of_stages(&self.dW), eta) {
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
        let [a1, a2, a3] = A_INVERSE[stage];
        let [Z1, Z2, Z3] = &self.Z;
        for (i, d) in xdot.iter_mut().enumerate() {
            *d = (a1 * Z1[i] + a2 * Z2[i] + a3 * Z3[i]) / h;
        }
    }

    fn evaluate(
        &mut self,
        dae: &mut dyn Dae,
        t: f64,
        x: &[f64],
        h: f64,
        statistics: &mut Statistics,
    ) -> Result<(), Undefined> {
        let mut Xdot = std::mem::take(&mut self.Xdot);
        let mut defined = Ok(());
        for j in 0..3 {
            for ((X, x), z) in self.X.iter_mut().zip(x).zip(&self.Z[j]) {
                *X = x + z;
            }
            self.derivative(j, h, &mut Xdot);
            statistics.residuals += 1;
            defined = dae.residual(j, t + C[j] * h, &self.X, &Xdot, &mut self.G[j]);
            if defined.is_err() {
                break;
            }
        }
        self.Xdot = Xdot;
        defined
    }

    fn solve(&mut self, dae: &dyn Dae, matrices: &mut Matrices, h: f64) {
        let [G1, G2, G3] = &self.G;
        let [dW1, dW2, dW3] = &mut self.dW;
        let combine = |r: usize, i: usize| T_INVERSE[r][0] * G1[i] + T_INVERSE[r][1] * G2[i] + T_INVERSE[r][2] * G3[i];
        for i in 0..dW1.len() {
            let scale = if dae.algebraic(i) { -1.0 } else { -h };
            dW1[i] = scale * combine(0, i);
            self.dW23[i] = c64::new(scale * combine(1, i), scale * combine(2, i));
        }
        matrices.real.solve(dW1);
        matrices.complex.solve(&mut self.dW23);
        for ((re, im), z) in dW2.iter_mut().zip(dW3).zip(&self.dW23) {
            (*re, *im) = (z.re, z.im);
        }
    }

    /// W ← W + ΔW, Z = (T ⊗ I) W.
    fn update(&mut self) {
        for r in 0..3 {
            for (w, d) in self.W[r].iter_mut().zip(&self.dW[r]) {
                *w += d;
            }
        }
        let [W1, W2, W3] = &self.W;
        for r in 0..3 {
            let [t1, t2, t3] = T[r];
            for (i, z) in self.Z[r].iter_mut().enumerate() {
                *z = t1 * W1[i] + t2 * W2[i] + t3 * W3[i];
            }
        }
    }
}
