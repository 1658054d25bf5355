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
use super::tableau::{C, E};

/// Number of the point at the left end of a step, behind the stages.
const LEFT_END: usize = 3;

impl RadauStepper<'_> {
    /// Norm of the error of the stages at hand; infinite where the system has no value.
    pub(super) fn estimate(&mut self, h: f64) -> f64 {
        if self.without_freedom {
            return self.interpolation_error().max(1e-10);
        }
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

    /// A system without differential equations makes no error at the ends of steps. What is controlled then is the polynomial between
    /// them: how far the cubic through x₀ and the stages is from the parabola through the stages, at x₀.
    fn interpolation_error(&mut self) -> f64 {
        let [c1, c2, _] = C;
        let [Z1, Z2, Z3] = &self.stages.Z;
        let at_begin =
            [c2 / ((c1 - c2) * (c1 - 1.0)), c1 / ((c2 - c1) * (c2 - 1.0)), c1 * c2 / ((1.0 - c1) * (1.0 - c2))];
        for (i, e) in self.error.iter_mut().enumerate() {
            *e = at_begin[0] * Z1[i] + at_begin[1] * Z2[i] + at_begin[2] * Z3[i];
        }
        self.weights.norm(&self.error)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dae::{Dae, Pencil, Point};
    use crate::error::StepFailure;
    use crate::linalg::Matrix;
    use crate::method::Stepper;
    use crate::method::controller::Control;
    use crate::method::radau::RadauIIa;
    use crate::motion::Undefined;
    use crate::options::Options;
    use crate::statistics::Residuals;
    use crate::tolerance::Tolerance;

    /// (1 + t) xᵢ' = (1 + t) i tⁱ⁻¹ for i = 1, …, 5: the powers of t.
    struct Powers;

    impl Dae for Powers {
        fn dim(&self) -> usize {
            5
        }
        fn new_pencil(&self) -> Pencil {
            Pencil::Dense { E: Matrix::zeros(5, 5), A: Matrix::zeros(5, 5) }
        }
        fn algebraic(&self, _: usize) -> bool {
            false
        }
        fn quasilinear(&self) -> bool {
            true
        }
        fn residual(&mut self, _: usize, t: f64, _: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
            for (i, r) in r.iter_mut().enumerate() {
                *r = (1.0 + t) * (xdot[i] - (i + 1) as f64 * t.powi(i as i32));
            }
            Ok(())
        }
        fn pencil(&mut self, t: f64, _: &[f64], _: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
            if let Pencil::Dense { E: leading, .. } = out {
                (0..5).for_each(|i| leading[(i, i)] = 1.0 + t);
            }
            Ok(())
        }
        fn accepted(&mut self, _: usize, _: f64, _: &mut [f64], _: &[f64]) -> Result<(), StepFailure> {
            Ok(())
        }
        fn residuals(&self) -> Residuals {
            Residuals::default()
        }
    }

    #[test]
    fn powers_up_to_five_are_integrated_exactly_and_powers_up_to_three_have_no_error() {
        let method = RadauIIa { control: Control::Fixed, max_newton: 50, ..RadauIIa::default() };
        let options = Options { h0: Some(0.5), tolerance: Tolerance::new(1e-13, 1e-13), ..Options::default() };
        let at = Point { t: 0.0, x: vec![0.0; 5], xdot: vec![1.0, 0.0, 0.0, 0.0, 0.0] };
        let mut stepper = RadauStepper::new(&method, Box::new(Powers), at, &options).unwrap();
        stepper.advance(1.0).unwrap();
        for (i, x) in stepper.state.x.iter().enumerate() {
            assert!((x - 0.5_f64.powi(i as i32 + 1)).abs() < 1e-12, "power {}: {x}", i + 1);
        }
        let errors = &stepper.error;
        assert!(errors[..3].iter().all(|e| e.abs() < 1e-12), "{errors:?}");
        assert!(errors[3].abs() > 1e-4 && errors[4].abs() > 1e-4, "{errors:?}");
    }
}
