//! The error estimate of RADAU5, for implicit systems. \[HW\] IV.8, (8.19), (8.20).
//!
//! An embedded formula of order 3 gives ẋ₀ ≈ v = −(ε₁Z₁ + ε₂Z₂ + ε₃Z₃)/h, so that
//!
//! ```text
//! (γE − hA) err = −h G(t₀, x₀, v),   zero in algebraic rows
//! ```
//!
//! is of order h⁴. For E ẋ = k the right-hand side is h k(x₀) + E(x₀) Σ εᵢZᵢ, the formula of RADAU5, with E at x₀ however old the
//! Jacobian is. In the first step and after rejections the estimate is filtered once more, with x₀ + err for x₀.

use super::stepper::RadauStepper;
use super::tableau::E;

/// Number of the point at the left end of a step, behind the stages.
const LEFT_END: usize = 3;

impl RadauStepper<'_> {
    /// Norm of the error of the stages at hand; infinite where the system has no value.
    pub(super) fn estimate(&mut self, h: f64) -> f64 {
        let [Z1, Z2, Z3] = &self.stages.Z;
        for (i, v) in self.v.iter_mut().enumerate() {
            *v = -(E[0] * Z1[i] + E[1] * Z2[i] + E[2] * Z3[i]) / h;
        }
        self.x.copy_from_slice(&self.state.x);
        let mut norm = self.filter(h);
        if norm >= 1.0 && (self.after_rejection || self.controller.is_new()) {
            for ((x, x0), e) in self.x.iter_mut().zip(&self.state.x).zip(&self.error) {
                *x = x0 + e;
            }
            let again = self.filter(h);
            if again.is_finite() {
                norm = again;
            }
        }
        norm.max(1e-10)
    }

    /// err from G(t₀, x, v) with the x in scratch.
    fn filter(&mut self, h: f64) -> f64 {
        self.statistics.residuals += 1;
        if self.dae.residual(LEFT_END, self.state.t, &self.x, &self.v, &mut self.error).is_err() {
            return f64::INFINITY;
        }
        for (i, e) in self.error.iter_mut().enumerate() {
            *e *= if self.dae.algebraic(i) { 0.0 } else { -h };
        }
        self.matrices.real.solve(&mut self.error);
        let norm = self.weights.norm(&self.error);
        if norm.is_nan() { f64::INFINITY } else { norm }
    }
}
