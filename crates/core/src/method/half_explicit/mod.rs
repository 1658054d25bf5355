//! Half-explicit Runge-Kutta methods: explicit in positions and forces, while the constraint forces of every stage are such that the
//! velocity constraints hold at the next one.
//!
//! ```text
//! Qᵢ = q + h Σ aᵢⱼ Z(Qⱼ) Vⱼ                                                  Rᵢ = r + h Σ aᵢⱼ bⱼ
//! Vᵢ = v + h Σ aᵢⱼ V'ⱼ,     M(Qᵢ) V'ᵢ = f(Qᵢ, Vᵢ, Rᵢ) − K(Qᵢ)ᵀ Λᵢ,           0 = K(Qᵢ₊₁) Vᵢ₊₁ + k₀(Qᵢ₊₁)
//! ```
//! Each stage is one linear system, there is no iteration, and the equations may not be stiff. The formulation is that of index two: the
//! position constraints drift, and are met again by a projection after each step. Multipliers of the result come from the
//! acceleration level. Hairer, Lubich & Roche (1989); Brasey & Hairer (1993); Arnold, BIT 38 (1998).

mod brasey_hairer;
mod hedop5;
mod stages;
mod tableau;

use super::bdf::Steps;
use super::structural::{OneStep, ProjectedOnto};
use super::{Method, StartFailure, State, Stepper};
use crate::motion::Mechanism;
use crate::options::Options;
use brasey_hairer::BraseyHairer;
use hedop5::Hedop5Step;

/// Formulas of Brasey and Hairer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HalfExplicitFormula {
    /// Order 3 with three stages.
    Hem3,
    /// Order 4 with five stages.
    Hem4,
    /// Order 5 with eight stages.
    #[default]
    Hem5,
}

impl HalfExplicitFormula {
    /// Its name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            HalfExplicitFormula::Hem3 => "hem3",
            HalfExplicitFormula::Hem4 => "hem4",
            HalfExplicitFormula::Hem5 => "hem5",
        }
    }
}

/// The methods of Brasey and Hairer with their options. HEM5 has the published error estimate; those of HEM3 and HEM4 are our own.
#[derive(Clone, Debug, PartialEq)]
pub struct HalfExplicit {
    /// Which formula.
    pub formula: HalfExplicitFormula,
    /// How step sizes are chosen.
    pub steps: Steps,
    /// Which constraints is every new point brought onto?
    pub project: ProjectedOnto,
    /// Safety factor of the step sizes.
    pub safety: f64,
}

impl Default for HalfExplicit {
    fn default() -> Self {
        HalfExplicit {
            formula: HalfExplicitFormula::default(),
            steps: Steps::Variable,
            project: ProjectedOnto::All,
            safety: 0.9,
        }
    }
}

/// HEDOP5: the pair of Dormand and Prince of order 5(4) with an explicit first stage, half-explicit in the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Hedop5 {
    /// How step sizes are chosen.
    pub steps: Steps,
    /// Which constraints is every new point brought onto?
    pub project: ProjectedOnto,
    /// Safety factor of the step sizes.
    pub safety: f64,
}

impl Default for Hedop5 {
    fn default() -> Self {
        Hedop5 { steps: Steps::Variable, project: ProjectedOnto::All, safety: 0.9 }
    }
}

impl<'m> Method<dyn Mechanism + 'm> for HalfExplicit {
    fn start<'p>(
        &self,
        system: &'p (dyn Mechanism + 'm),
        at: State,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        let stepper = OneStep::start(self.formula.name(), system, at, options, |equations| {
            BraseyHairer::new(self, equations, options)
        })?;
        Ok(Box::new(stepper))
    }
}

impl<'m> Method<dyn Mechanism + 'm> for Hedop5 {
    fn start<'p>(
        &self,
        system: &'p (dyn Mechanism + 'm),
        at: State,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        let stepper =
            OneStep::start("hedop5", system, at, options, |equations| Hedop5Step::new(self, equations, options))?;
        Ok(Box::new(stepper))
    }
}
