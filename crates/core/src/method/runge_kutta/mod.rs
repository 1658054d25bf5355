//! Implicit Runge–Kutta methods by their families: the trapezoidal rule, Gauss, Radau IA and Lobatto IIIC, for square systems G(t, x, ẋ) = 0.
//!
//! ```text
//! G(t₀ + cⱼh, Xⱼ, Ẋⱼ) = 0,   Xⱼ = x₀ + h Σ aⱼₖ Ẋₖ,   x₁ = x₀ + h Σ bⱼ Ẋⱼ
//! ```
//!
//! For comparison with Radau IIa, which keeps its order on constraints as none of them does. Orders on semi-explicit systems of index 1 and 2, \[HW\]
//! VI.1, VII.4 and table 3.2 of Steinbrecher (2006):
//!
//! | family | ordinary | index 1: y, z | index 2: y, z |
//! | --- | --- | --- | --- |
//! | trapezoidal | 2 | 2, 2 | 2, – |
//! | Gauss, s odd | 2s | 2s, s + 1 | s + 1, s − 1 |
//! | Gauss, s even | 2s | 2s, s | s, s − 2 |
//! | Radau IA | 2s − 1 | 2s − 1, s | s, s − 1 |
//! | Lobatto IIIC | 2s − 2 | 2s − 2, 2s − 2 | 2s − 2, s − 1 |
//!
//! The new point of Gauss and Radau IA lies beside the constraints. With index 1 it is brought there unless that is unwanted (Ascher & Petzold 1991), which
//! gives back the order of ordinary equations. Gauss and the trapezoidal rule keep errors of unknowns of index 2 for ever, with a sign that may change from
//! step to step: they take such systems with steps of one size only. Errors are estimated by doubling: two halves of a step against the whole.

mod formula;
mod stages;
mod step;
mod tableau;

use super::bdf::Steps;
use super::{Integrator, StartFailure, Stepper};
use crate::dae::{Dae, Point};
use crate::error::BadOption;
use crate::options::Options;
use step::RungeKuttaStep;

/// A family of implicit Runge–Kutta methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RungeKuttaFamily {
    /// Rows with derivatives are averaged over both ends, others hold at the new one.
    Trapezoidal,
    /// Of the largest order, 2s; beside the constraints.
    Gauss,
    /// Order 2s − 1, L-stable; beside the constraints.
    RadauIA,
    /// Order 2s − 2, L-stable, on the constraints.
    LobattoIIIC,
}

impl RungeKuttaFamily {
    /// Its name in the catalogue.
    pub fn name(self) -> &'static str {
        match self {
            RungeKuttaFamily::Trapezoidal => "trapezoidal",
            RungeKuttaFamily::Gauss => "gauss",
            RungeKuttaFamily::RadauIA => "radau-ia",
            RungeKuttaFamily::LobattoIIIC => "lobatto-iiic",
        }
    }

    /// Fewest stages.
    pub fn fewest(self) -> usize {
        if self == RungeKuttaFamily::LobattoIIIC { 2 } else { 1 }
    }

    /// Most stages.
    pub fn most(self) -> usize {
        match self {
            RungeKuttaFamily::Trapezoidal => 1,
            RungeKuttaFamily::Gauss | RungeKuttaFamily::RadauIA => 3,
            RungeKuttaFamily::LobattoIIIC => 4,
        }
    }

    /// Is R(∞) = 0?
    fn is_damped(self) -> bool {
        matches!(self, RungeKuttaFamily::RadauIA | RungeKuttaFamily::LobattoIIIC)
    }

    /// Order on ordinary differential equations.
    pub fn order(self, stages: usize) -> i32 {
        let s = stages as i32;
        match self {
            RungeKuttaFamily::Trapezoidal => 2,
            RungeKuttaFamily::Gauss => 2 * s,
            RungeKuttaFamily::RadauIA => 2 * s - 1,
            RungeKuttaFamily::LobattoIIIC => 2 * s - 2,
        }
    }

    /// Order on systems with constraints, which all of their unknowns have.
    pub fn order_on_constraints(self, stages: usize) -> i32 {
        let s = stages as i32;
        match self {
            RungeKuttaFamily::Gauss => s + s % 2,
            RungeKuttaFamily::RadauIA => s,
            RungeKuttaFamily::Trapezoidal | RungeKuttaFamily::LobattoIIIC => self.order(stages),
        }
    }
}

/// A method of a family, with its options.
#[derive(Clone, Debug, PartialEq)]
pub struct ImplicitRungeKutta {
    /// The family.
    pub family: RungeKuttaFamily,
    /// Number of stages; the trapezoidal rule has one that is not known.
    pub stages: usize,
    /// How step sizes are chosen.
    pub steps: Steps,
    /// Bring new points that lie beside the constraints onto them?
    pub project: bool,
    /// Safety factor of the step sizes.
    pub safety: f64,
    /// Most Newton iterations.
    pub max_newton: u32,
    /// Newton's iteration stops when its error is this part of the tolerance: far below what the comparison of two solutions is to show.
    pub newton_tolerance: f64,
}

impl ImplicitRungeKutta {
    /// A family with its usual number of stages.
    pub fn of(family: RungeKuttaFamily) -> Self {
        ImplicitRungeKutta {
            family,
            stages: family.most().min(3),
            steps: Steps::Variable,
            project: true,
            safety: 0.9,
            max_newton: 10,
            newton_tolerance: 1e-3,
        }
    }

    fn check(&self, options: &Options) -> Result<(), BadOption> {
        options.check()?;
        BadOption::positive("newton_tolerance", self.newton_tolerance)?;
        BadOption::between("max_newton", f64::from(self.max_newton), 2.5, 1000.5, "3 to 1000 iterations")?;
        let expected = match self.family {
            RungeKuttaFamily::Trapezoidal => "the trapezoidal rule has one",
            RungeKuttaFamily::Gauss | RungeKuttaFamily::RadauIA => "1, 2 or 3",
            RungeKuttaFamily::LobattoIIIC => "2, 3 or 4",
        };
        if (self.family.fewest()..=self.family.most()).contains(&self.stages) {
            Ok(())
        } else {
            Err(BadOption::OutOfRange { name: "stages", value: self.stages as f64, expected })
        }
    }
}

impl Integrator for ImplicitRungeKutta {
    fn start<'p>(
        &self,
        system: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        self.check(options)?;
        if self.steps == Steps::Variable && !self.family.is_damped() && (0..system.dim()).any(|i| system.index(i) > 1) {
            let why =
                "it never forgets errors of unknowns of index two and more, so that steps must have one size".into();
            return Err(StartFailure::OutOfClass { method: self.family.name(), why, instead: "radau" });
        }
        Ok(Box::new(RungeKuttaStep::start(self, system, at, options)?))
    }

    fn largest_index(&self) -> u8 {
        match self.steps {
            Steps::Fixed => 3,
            Steps::Variable if self.family.is_damped() => 2,
            Steps::Variable => 1,
        }
    }
}
