//! Symplectic methods for constrained Hamiltonian systems: RATTLE, its compositions, and the pairs Lobatto IIIA-IIIB.
//!
//! ```text
//! q' = H_p,   p' = −H_q − Gᵀλ,   0 = g(q),   0 = G H_p,      H = ½ pᵀ M(q)⁻¹ p + U(q),   p = M v
//! ```
//! They keep the constraints of position and velocity to rounding, the symplectic form exactly, and the energy up to oscillations
//! that do not grow over exponentially long times. All steps of a run have one size: [`Options::h0`] or, without it, the size for which the error of the run
//! is about the tolerance as far as one can tell at the start. Hairer, Lubich & Wanner, Geometric Numerical Integration, VII.1.

mod composition;
mod hamiltonian;
mod lobatto;
mod rattle;
mod tableau;

pub use composition::Composition;

use crate::error::BadOption;
use crate::method::structural::{Attempt, OneStep, ProjectedOnto, Scheme, Step, StructuralEquations, Trouble};
use crate::method::weights::Weights;
use crate::method::{Method, StartFailure, State, Stepper};
use crate::motion::Mechanism;
use crate::options::Options;
use hamiltonian::Conservative;
use lobatto::Implicit;
use rattle::Explicit;

/// RATTLE, of order 2, or a symmetric composition of it.
///
/// Explicit up to the multipliers where the mass matrix is constant, the pair Lobatto IIIA-IIIB with two stages otherwise.
/// Andersen, J. Comput. Phys. 52 (1983); Leimkuhler & Skeel, J. Comput. Phys. 112 (1994).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rattle {
    /// Which composition.
    pub composition: Composition,
}

/// The pair Lobatto IIIA-IIIB of order 2s − 2. Jay, SIAM J. Numer. Anal. 33 (1996).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lobatto {
    /// Number of stages s: 2, 3 or 4.
    pub stages: usize,
}

impl Default for Lobatto {
    fn default() -> Self {
        Lobatto { stages: 3 }
    }
}

impl<'m> Method<dyn Mechanism + 'm> for Rattle {
    fn start<'p>(
        &self,
        system: &'p (dyn Mechanism + 'm),
        at: State,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        let (factors, order) = (self.composition.factors(), self.composition.order());
        let explicit = system.structure().mass.is_constant();
        start("rattle", system, at, options, |equations, conservative| {
            let (kernel, told) = if explicit {
                (Substep::Explicit(Explicit::new(equations)), "explicit, as M is constant")
            } else {
                (
                    Substep::Implicit(Box::new(Implicit::new(equations, &tableau::LobattoTableau::TWO, false))),
                    "implicit, as M varies",
                )
            };
            let decisions = format!("RATTLE, {told}, {} to a step{}", factors.len(), conservative.told);
            Symplectic { kernel, conservative, factors, order, decisions }
        })
    }
}

impl<'m> Method<dyn Mechanism + 'm> for Lobatto {
    fn start<'p>(
        &self,
        system: &'p (dyn Mechanism + 'm),
        at: State,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        let Some(tableau) = tableau::LobattoTableau::of(self.stages) else {
            let expected = "there are pairs with 2, 3 and 4 stages";
            return Err(BadOption::OutOfRange { name: "stages", value: self.stages as f64, expected }.into());
        };
        let constant = system.structure().mass.is_constant();
        start("lobatto", system, at, options, |equations, conservative| Symplectic {
            kernel: Substep::Implicit(Box::new(Implicit::new(equations, tableau, constant))),
            factors: vec![1.0],
            order: 2 * self.stages as u32 - 2,
            decisions: format!("Lobatto IIIA-IIIB with {} stages{}", self.stages, conservative.told),
            conservative,
        })
    }
}

/// Is a system Hamiltonian, as far as its formulas and points around a state tell?
pub(crate) fn is_hamiltonian(system: &dyn Mechanism, at: &State) -> bool {
    Conservative::new("a symplectic method", system, at).is_ok()
}

/// Start a scheme on a system of the class.
fn start<'p>(
    method: &'static str,
    system: &'p (dyn Mechanism + '_),
    at: State,
    options: &Options,
    scheme: impl FnOnce(&StructuralEquations, Conservative) -> Symplectic,
) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
    let conservative = Conservative::new(method, system, &at)?;
    let stepper = OneStep::start(method, system, at, options, |equations| Ok(scheme(equations, conservative)))?;
    Ok(Box::new(stepper))
}

/// What makes one substep.
enum Substep {
    Explicit(Explicit),
    Implicit(Box<Implicit>),
}

/// A symplectic scheme: substeps of a kernel.
struct Symplectic {
    kernel: Substep,
    conservative: Conservative,
    /// sizes of the substeps, in steps
    factors: Vec<f64>,
    order: u32,
    decisions: String,
}

impl Scheme for Symplectic {
    fn attempt(
        &mut self,
        equations: &mut StructuralEquations,
        _weights: &Weights,
        step: Step,
        x1: &mut [f64],
    ) -> Result<Attempt, Trouble> {
        self.conservative.look(equations, step.x)?;
        for factor in &self.factors {
            match &mut self.kernel {
                Substep::Explicit(kernel) => kernel.step(equations, step.t1, factor * step.h, x1)?,
                Substep::Implicit(kernel) => kernel.step(equations, step.t1, factor * step.h, x1)?,
            }
        }
        Ok(Attempt { accepted: true, next: step.h })
    }

    fn projects(&self) -> ProjectedOnto {
        ProjectedOnto::Nothing
    }

    fn fixed(&self) -> bool {
        true
    }

    fn order(&self) -> u32 {
        self.order
    }

    fn decisions(&self) -> String {
        self.decisions.clone()
    }
}
