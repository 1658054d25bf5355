//! The generalised-α method for constrained mechanical systems, on vector spaces and on Lie groups.
//!
//! ```text
//! Δq = vₙ + h ((½ − β) aₙ + β aₙ₊₁) − (GZ)(pₙ)ᵀ η             η only in the stabilised form
//! pₙ₊₁: the flow of p' = Z(p) Δq from pₙ over h               pₙ + h Δq if p' = v
//! vₙ₊₁ = vₙ + h ((1 − γ) aₙ + γ aₙ₊₁)
//! (1 − α_m) aₙ₊₁ + α_m aₙ = (1 − α_f) v'ₙ₊₁ + α_f v'ₙ
//! M v'ₙ₊₁ = f − (GZ)ᵀλₙ₊₁ − (HZ)ᵀμₙ₊₁,   0 = g,   0 = HZv + h,   in the stabilised form also 0 = GZv + g_t,   at tₙ₊₁
//! ```
//! a is an auxiliary acceleration, aₙ ≈ v'(tₙ + (α_m − α_f) h). Order 2 in all variables, with the damping ρ of the highest frequencies.
//! States of force elements, r' = b, take the trapezoidal rule. All steps of a run have one size: [`Options::h0`] or, without
//! it, the size for which the error of the run is about the tolerance as far as one can tell at the start; the last multipliers and
//! accelerations are those of the method. Arnold & Brüls, Multibody Syst. Dyn. 18 (2007); Brüls, Cardona & Arnold, Mech. Mach. Theory 48
//! (2012); Arnold, Brüls & Cardona, Numer. Math. 129 (2015).

mod lie_group;
mod newton;
mod start;

use crate::error::BadOption;
use crate::method::structural::{Attempt, OneStep, ProjectedOnto, Scheme, Step, StructuralEquations, Trouble};
use crate::method::weights::Weights;
use crate::method::{Method, StartFailure, State, Stepper};
use crate::motion::Mechanism;
use crate::options::Options;
use lie_group::KinematicFlow;
use newton::{Newton, Old};
use start::Starter;

/// Which constraints are discretised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AlphaForm {
    /// Those of position: index 3. Velocities satisfy theirs up to O(h²).
    Index3,
    /// Those of position and velocity: index 2, stabilised as by Gear, Gupta & Leimkuhler.
    #[default]
    Stabilised,
}

/// How the auxiliary acceleration and the velocity of the first step are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlphaStart {
    /// a₀ = v'(t₀): multipliers are of first order in the first steps.
    Naive,
    /// a₀ = v'(t₀ + (α_m − α_f) h): second order from the first step in the stabilised form.
    Shifted,
    /// a₀ = v'(t₀), and v₀ perturbed by O(h²) along M⁻¹(GZ)ᵀ.
    Perturbed,
    /// a₀ shifted and v₀ perturbed: second order from the first step in the index-3 form.
    Both,
}

/// The generalised-α method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneralizedAlpha {
    /// ρ∞ between 0 and 1, how much of the highest frequencies is left after a step; 0.9 by default.
    pub rho: f64,
    /// Which constraints.
    pub form: AlphaForm,
    /// How it is started; without a choice [`AlphaStart::Both`] in the index-3 form and [`AlphaStart::Shifted`] in the stabilised form.
    pub start: Option<AlphaStart>,
}

impl Default for GeneralizedAlpha {
    fn default() -> Self {
        GeneralizedAlpha { rho: 0.9, form: AlphaForm::default(), start: None }
    }
}

/// α_m, α_f, β, γ. Chung & Hulbert (1993).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Parameters {
    alpha_m: f64,
    alpha_f: f64,
    beta: f64,
    gamma: f64,
}

impl Parameters {
    fn of(rho: f64) -> Self {
        let (alpha_m, alpha_f) = ((2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0));
        let gamma = 0.5 + alpha_f - alpha_m;
        Parameters { alpha_m, alpha_f, beta: 0.25 * (gamma + 0.5).powi(2), gamma }
    }

    /// α_m − α_f, not positive.
    fn shift(self) -> f64 {
        self.alpha_m - self.alpha_f
    }
}

impl GeneralizedAlpha {
    fn check(&self) -> Result<(), BadOption> {
        let index3 = self.form == AlphaForm::Index3;
        if (0.0..=1.0).contains(&self.rho) && !(index3 && self.rho == 1.0) {
            return Ok(());
        }
        let expected = "it lies between 0 and 1, and below 1 in the index-3 form";
        Err(BadOption::OutOfRange { name: "rho", value: self.rho, expected })
    }
}

impl<'m> Method<dyn Mechanism + 'm> for GeneralizedAlpha {
    fn start<'p>(
        &self,
        system: &'p (dyn Mechanism + 'm),
        at: State,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        self.check()?;
        let first = at.clone();
        let variant = self.start.unwrap_or(match self.form {
            AlphaForm::Index3 => AlphaStart::Both,
            AlphaForm::Stabilised => AlphaStart::Shifted,
        });
        let stepper = OneStep::start("alpha", system, at, options, |equations| {
            let n = equations.layout().v().len();
            let flow = KinematicFlow::of(equations, first.t, &first.x);
            Ok(Alpha {
                parameters: Parameters::of(self.rho),
                form: self.form,
                variant,
                newton: Newton::new(equations, self.form),
                starter: Starter::new(equations),
                flow,
                old: Old::new(equations),
                a1: vec![0.0; n],
                last: None,
                tried: 0.0,
            })
        })?;
        Ok(Box::new(stepper))
    }
}

/// Step sizes that differ by less than this part are the same.
const SAME: f64 = 1e-6;

/// The scheme at work.
struct Alpha {
    parameters: Parameters,
    form: AlphaForm,
    variant: AlphaStart,
    newton: Newton,
    starter: Starter,
    flow: KinematicFlow,
    /// where the step begins, with aₙ
    old: Old,
    /// aₙ₊₁
    a1: Vec<f64>,
    /// size of the last accepted step; none before the first
    last: Option<f64>,
    tried: f64,
}

impl Scheme for Alpha {
    fn attempt(
        &mut self,
        equations: &mut StructuralEquations,
        _weights: &Weights,
        step: Step,
        x1: &mut [f64],
    ) -> Result<Attempt, Trouble> {
        let h = step.h;
        self.old.take(equations, self.form, step.t, step.x)?;
        match self.last {
            Some(last) if (h - last).abs() <= SAME * h => {}
            Some(last) if self.form == AlphaForm::Stabilised => {
                // a lies (α_m − α_f) h beside v'
                let v_dot = &step.x[equations.layout().a()];
                self.old.a.iter_mut().zip(v_dot).for_each(|(a, v)| *a = v + h / last * (*a - v));
            }
            _ => {
                // velocities of the index-3 form lie O(h²) off their constraints, as it fits the step size: it starts anew
                let perturb = self.form == AlphaForm::Index3;
                let how = (self.parameters, self.variant, perturb);
                self.starter.values(equations, how, (step.t, step.x, h), &mut self.old)?;
            }
        }
        self.newton.solve(equations, self.parameters, (&mut self.flow, &self.old, step), &mut self.a1, x1)?;
        self.tried = h;
        Ok(Attempt { accepted: true, next: h })
    }

    fn projects(&self) -> ProjectedOnto {
        ProjectedOnto::Nothing
    }

    fn fixed(&self) -> bool {
        true
    }

    fn order(&self) -> u32 {
        2
    }

    fn own_multipliers(&self) -> bool {
        true
    }

    fn accepted(&mut self, _equations: &StructuralEquations, _x: &[f64]) {
        std::mem::swap(&mut self.old.a, &mut self.a1);
        self.last = Some(self.tried);
    }

    fn forget(&mut self) {
        self.last = None;
        self.newton.forget();
    }

    fn decisions(&self) -> String {
        let form = match self.form {
            AlphaForm::Index3 => "index 3",
            AlphaForm::Stabilised => "stabilised index 2",
        };
        format!("{form}, {}, start {:?}", self.flow.told(), self.variant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_give_order_two_and_the_damping_asked_for() {
        for rho in [0.0, 0.5, 0.8, 0.9, 1.0] {
            let Parameters { alpha_m, alpha_f, beta, gamma } = Parameters::of(rho);
            assert!((gamma - (0.5 + alpha_f - alpha_m)).abs() < 1e-15);
            // the eigenvalues at infinite frequency are −ρ
            let eigenvalue = 1.0 - (gamma + 0.5) / (2.0 * beta);
            assert!((eigenvalue + rho).abs() < 1e-14, "{rho}: {eigenvalue}");
            assert!((alpha_f / (1.0 - alpha_f) - rho).abs() < 1e-14);
        }
    }
}
