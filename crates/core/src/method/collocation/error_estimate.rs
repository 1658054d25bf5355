//! The error estimate of RADAU5, for implicit systems, square or not. \[HW\] IV.8, (8.19), (8.20).
//!
//! An embedded formula of order s gives ẋ₀ ≈ v = −(ε₁Z₁ + … + εₛZₛ)/h, so that
//!
//! ```text
//! (γE − hA) err = −h G(t₀, x₀, v),   zero in algebraic rows
//! ```
//!
//! is of order h^(s+1). For E ẋ = k the right-hand side is h k(x₀) + E(x₀) Σ εᵢZᵢ, the formula of RADAU5, with E at x₀ however old the
//! Jacobian is. In the first step and after rejections the estimate is filtered once more, with x₀ + err for x₀.
//! RADAU5 does not know algebraic rows: what Newton's iteration of the last step left there counts as an error.

use super::{CollocationStep, Discretised, OffStage};
use crate::segment::MOST_DEGREE;

impl<E: Discretised> CollocationStep<E> {
    /// Norm of the error of the stages at hand; infinite where the system has no value.
    pub(super) fn estimate(&mut self, h: f64, after_rejection: bool) -> f64 {
        if self.equations.without_freedom() {
            return self.interpolation_error().max(1e-10);
        }
        self.collocation.stages.weighted(self.collocation.tableau().E, &mut self.rate);
        self.rate.iter_mut().for_each(|v| *v = -*v);
        let mut norm = self.corrected(OffStage::Begin, self.state.t, h);
        let filtered_again = after_rejection || self.collocation.controller.is_new();
        if norm >= 1.0 && filtered_again && self.equations.refilters() {
            for ((x, x0), e) in self.x.iter_mut().zip(&self.state.x).zip(&self.error) {
                *x = x0 + e;
            }
            let again = self.corrected(OffStage::NearBegin, self.state.t, h);
            if again.is_finite() {
                norm = again;
            }
        }
        norm.max(1e-10)
    }

    /// A system without differential equations makes no error at the ends of steps. What is controlled then is the polynomial between
    /// them: how far the polynomial through x₀ and the stages is from the one through the stages alone, at x₀.
    fn interpolation_error(&mut self) -> f64 {
        let C = self.collocation.tableau().C;
        // the Lagrange polynomials of the nodes at zero
        let mut at_begin = [1.0; MOST_DEGREE];
        for (j, l) in at_begin.iter_mut().enumerate().take(C.len()) {
            *l = (0..C.len()).filter(|&k| k != j).map(|k| C[k] / (C[k] - C[j])).product();
        }
        self.collocation.stages.weighted(&at_begin[..C.len()], &mut self.error);
        self.collocation.weights.norm(&self.error)
    }

    /// Norm of the correction at a point, the begin or `self.x`, with h ẋ in `self.rate`.
    pub(super) fn corrected(&mut self, point: OffStage, t: f64, h: f64) -> f64 {
        let x = if point == OffStage::Begin { &self.state.x } else { &self.x };
        let (at, tableau) = ((t, &x[..], &self.rate[..], h), self.collocation.tableau());
        if self.equations.correction(point, at, tableau, &mut self.counters, &mut self.error).is_err() {
            return f64::INFINITY;
        }
        let norm = self.collocation.weights.norm(&self.error);
        if norm.is_nan() { f64::INFINITY } else { norm }
    }
}

#[cfg(test)]
mod tests {
    use crate::dae::{Dae, Pencil, Point};
    use crate::error::StepFailure;
    use crate::method::Stepper;
    use crate::method::controller::Control;
    use crate::method::radau::{RadauIIa, Stages};
    use crate::motion::Undefined;
    use crate::options::Options;
    use crate::statistics::Residuals;
    use crate::tolerance::Tolerance;

    const POWERS: usize = 13;

    /// (4 + t) xᵢ' = (4 + t) i tⁱ⁻¹ for i = 1, …, 13: the powers of t.
    struct Powers;

    impl Dae for Powers {
        fn dim(&self) -> usize {
            POWERS
        }
        fn new_pencil(&self) -> Pencil {
            Pencil::dense(POWERS, POWERS)
        }
        fn algebraic(&self, _: usize) -> bool {
            false
        }
        fn quasilinear(&self) -> bool {
            true
        }
        fn residual(&mut self, _: usize, t: f64, _: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
            for (i, r) in r.iter_mut().enumerate() {
                *r = (4.0 + t) * (xdot[i] - (i + 1) as f64 * t.powi(i as i32));
            }
            Ok(())
        }
        fn pencil(&mut self, t: f64, _: &[f64], _: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
            (0..POWERS).for_each(|i| out.E.put((i, i), 4.0 + t));
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
    fn powers_up_to_the_order_are_integrated_exactly_and_powers_up_to_the_stages_have_no_error() {
        for s in [1, 3, 5, 7] {
            let tolerance: f64 = 1e-8;
            let scaled = 0.1 * tolerance.powf((s as f64 + 1.0) / (2.0 * s as f64));
            let method = RadauIIa {
                control: Control::Fixed,
                max_newton: 50,
                stages: Stages::Fixed(s),
                newton_tolerance: Some(1e-14 / scaled),
                ..RadauIIa::default()
            };
            let options = Options { h0: Some(0.5), tolerance: Tolerance::new(1e-8, 1e-8), ..Options::default() };
            let mut xdot = vec![0.0; POWERS];
            xdot[0] = 1.0;
            let at = Point { t: 0.0, x: vec![0.0; POWERS], xdot };
            let mut stepper = method.at(Box::new(Powers), at, &options).unwrap();
            stepper.advance(1.0).unwrap();
            for (i, x) in stepper.state().x.iter().enumerate() {
                let wrong = (x - 0.5_f64.powi(i as i32 + 1)).abs();
                assert_eq!(wrong < 1e-13, i < 2 * s - 1, "{s} stages, power {}: {wrong:e}", i + 1);
            }
            let errors = &stepper.formula.error;
            for (i, error) in errors.iter().enumerate() {
                assert_eq!(error.abs() < 1e-12, i < s, "{s} stages: {errors:?}");
            }
        }
    }
}
