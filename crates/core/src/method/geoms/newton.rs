//! Simplified Newton iteration on the transformed stages Z = (T⁻¹ ⊗ I) Y. \[HW\] IV.8; Steinbrecher (2006), 5.1.3.
//!
//! ```text
//! C ΔZ₁ = Σ τ₁ⱼ k_C(Xⱼ),   (γD + hB) ΔZ₁ = −γ D Z₁ + h Σ τ₁ⱼ k_D(Xⱼ)
//! and the same with α + iβ for ΔZ₂ + iΔZ₃
//! ```

use super::constraint::ConstraintPart;
use super::differential::DifferentialPart;
use super::tableau::{ALPHA, BETA, C, GAMMA, T, T_INVERSE};
use crate::method::convergence::{Convergence, Outcome, Verdict};
use crate::method::weights::Weights;
use crate::motion::{Layout, ReducedArray};
use crate::statistics::Statistics;

/// Stages of one step, with scratch.
pub struct Stages {
    /// Yᵢ = Xᵢ − x_k.
    pub Y: [Vec<f64>; 3],
    Z: [Vec<f64>; 3],
    /// rows k(Xᵢ)
    rows: [Vec<f64>; 3],
    /// right-hand sides of the algebraic and differential rows
    bC: [Vec<f64>; 3],
    bD: [Vec<f64>; 3],
    /// increments
    dZ: [Vec<f64>; 3],
    zeta: [Vec<f64>; 2],
    X: Vec<f64>,
}

impl Stages {
    /// Room for a system.
    pub fn new(layout: &Layout) -> Self {
        let three = |n: usize| std::array::from_fn(|_| vec![0.0; n]);
        let n = layout.dim();
        Stages {
            Y: three(n),
            Z: three(n),
            rows: three(layout.rows()),
            bC: three(layout.algebraic()),
            bD: three(layout.differential()),
            dZ: three(n),
            zeta: std::array::from_fn(|_| vec![0.0; n]),
            X: vec![0.0; n],
        }
    }

    /// Z from the stages Y at hand.
    pub fn transform(&mut self) {
        for i in 0..self.X.len() {
            for r in 0..3 {
                self.Z[r][i] = (0..3).map(|j| T_INVERSE[r][j] * self.Y[j][i]).sum();
            }
        }
    }

    /// Iterate from the stages at hand; `eta` is carried from step to step.
    pub fn iterate(
        &mut self,
        array: &mut dyn ReducedArray,
        constraints: &mut ConstraintPart,
        differential: &mut DifferentialPart,
        (t, x, h): (f64, &[f64], f64),
        weights: &Weights,
        mut convergence: Convergence,
        eta: &mut f64,
        counters: &mut Statistics,
    ) -> Outcome {
        for newton in 1..=convergence.most() {
            if self.evaluate(array, t, x, h, &mut counters.residuals).is_err() {
                return Outcome::Diverged;
            }
            self.right_hand_sides(array.layout(), h);
            self.solve(constraints, differential);
            counters.solves += 1;

            // size of the increment in the transformed variables
            let size = weights.norm_of_all(&self.dZ);
            match convergence.judge(newton, size, eta) {
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

    fn evaluate(
        &mut self,
        array: &mut dyn ReducedArray,
        t: f64,
        x: &[f64],
        h: f64,
        residuals: &mut u64,
    ) -> Result<(), crate::motion::Undefined> {
        for j in 0..3 {
            for ((X, x), y) in self.X.iter_mut().zip(x).zip(&self.Y[j]) {
                *X = x + y;
            }
            *residuals += 1;
            array.evaluate(t + C[j] * h, &self.X, &mut self.rows[j])?;
        }
        Ok(())
    }

    /// bC = Σ τ k_C,  bD = h Σ τ k_D − D (Σ Z).
    fn right_hand_sides(&mut self, layout: &Layout, h: f64) {
        let algebraic = layout.algebraic();
        let [k1, k2, k3] = &self.rows;
        for r in 0..3 {
            let [t1, t2, t3] = T_INVERSE[r];
            for (i, b) in self.bC[r].iter_mut().enumerate() {
                *b = t1 * k1[i] + t2 * k2[i] + t3 * k3[i];
            }
            for (i, b) in self.bD[r].iter_mut().enumerate() {
                let k = algebraic + i;
                *b = h * (t1 * k1[k] + t2 * k2[k] + t3 * k3[k]);
            }
        }
        let [Z1, Z2, Z3] = &self.Z;
        for (i, j) in layout.r().chain(layout.v()).chain(layout.p()).enumerate() {
            self.bD[0][i] -= GAMMA * Z1[j];
            self.bD[1][i] -= ALPHA * Z2[j] - BETA * Z3[j];
            self.bD[2][i] -= BETA * Z2[j] + ALPHA * Z3[j];
        }
    }

    fn solve(&mut self, constraints: &mut ConstraintPart, differential: &mut DifferentialPart) {
        for b in &mut self.bC {
            constraints.transform(b);
        }
        let [c1, c2, c3] = &self.bC;
        let [b1, b2, b3] = &self.bD;
        let [dZ1, dZ2, dZ3] = &mut self.dZ;
        let [re, im] = &mut self.zeta;
        differential.solve_real(constraints, c1, b1, re);
        constraints.substitute(c1, re, dZ1);
        differential.solve_complex(constraints, [c2, c3], [b2, b3], re, im);
        constraints.substitute(c2, re, dZ2);
        constraints.substitute(c3, im, dZ3);
    }

    /// Z ← Z + ΔZ, Y = (T ⊗ I) Z.
    fn update(&mut self) {
        for r in 0..3 {
            for (z, d) in self.Z[r].iter_mut().zip(&self.dZ[r]) {
                *z += d;
            }
        }
        let [Z1, Z2, Z3] = &self.Z;
        for r in 0..3 {
            let [t1, t2, t3] = T[r];
            for (i, y) in self.Y[r].iter_mut().enumerate() {
                *y = t1 * Z1[i] + t2 * Z2[i] + t3 * Z3[i];
            }
        }
    }

    /// The transformed increments of the last iteration.
    #[cfg(test)]
    pub fn increments(&self) -> &[Vec<f64>; 3] {
        &self.dZ
    }
}
