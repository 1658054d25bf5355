//! Rosenbrock method RODAS of order 4(3), L-stable and stiffly accurate, for E ẋ = f(t, x) with a constant E and index at most one.
//!
//! ```text
//! (E/(γh) − A) Uᵢ = f(t₀ + αᵢh, x₀ + Σ aᵢⱼ Uⱼ) + E Σ (cᵢⱼ/h) Uⱼ + h γᵢ ∂f/∂t,   A = ∂f/∂x at (t₀, x₀)
//! ```
//!
//! Six linear systems with one matrix take the place of Newton's iteration: nothing has to converge, and at loose tolerances a step costs less
//! than that of an implicit Runge–Kutta method. A and ∂f/∂t must be those of the point. Where E depends on the unknowns the stages would need
//! further terms and the method other conditions (Lubich & Roche, 1990): such systems are refused. Hairer & Wanner, Solving ODEs II, IV.7, VI.4.

mod step;
mod tableau;

use super::controller::Control;
use super::{Integrator, StartFailure, Stepper};
use crate::dae::{Dae, Point};
use crate::error::BadOption;
use crate::options::Options;
use step::RosenbrockStep;

/// RODAS with its options.
#[derive(Clone, Debug, PartialEq)]
pub struct Rodas {
    /// Step size control.
    pub control: Control,
    /// Safety factor of the step sizes.
    pub safety: f64,
    /// Bounds on the ratio of successive step sizes.
    pub ratio: (f64, f64),
}

impl Default for Rodas {
    fn default() -> Self {
        Rodas { control: Control::Radau5, safety: 0.9, ratio: (0.2, 6.0) }
    }
}

impl Rodas {
    fn check(&self, options: &Options) -> Result<(), BadOption> {
        options.check()?;
        let between = BadOption::between;
        between("safety", self.safety, 0.001, 1.0, "it must lie between 0.001 and 1")?;
        between("smallest ratio", self.ratio.0, 0.0, 1.0, "it must lie between 0 and 1")?;
        between("largest ratio", self.ratio.1, 1.0, f64::INFINITY, "it must be larger than 1")
    }
}

/// What lies outside of the class, if something does.
fn outside(system: &dyn Dae) -> Option<&'static str> {
    if !system.constant_leading() {
        Some("the matrix in front of the derivatives is not made of numbers")
    } else if (0..system.dim()).any(|i| system.index(i) > 1) {
        Some("it has unknowns of index two or more")
    } else {
        None
    }
}

impl Integrator for Rodas {
    fn start<'p>(
        &self,
        system: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        self.check(options)?;
        if let Some(why) = outside(&*system) {
            return Err(StartFailure::OutOfClass { method: "rodas", why: why.into(), instead: "radau" });
        }
        Ok(Box::new(RosenbrockStep::start(self, system, at, options)?))
    }

    fn largest_index(&self) -> u8 {
        1
    }
}
