//! GMKSSOL: three-stage Radau IIa on the projected strangeness-free equations of motion, with selectors that are kept for some steps.
//!
//! ```text
//! p' = v,   v' = f_d(t, p, v, r, λ),   r' = b(t, p, v, r, λ),   0 = g(t, p),      f_d = M⁻¹ (f − Gᵀλ)
//! ```
//!
//! With the singular value decomposition of G at some point of the motion, V₂ᵀ selects n_f = n_p − rank G of the kinematic and of the dynamic
//! equations, U₁ᵀ independent constraints of all levels. Both are kept until so many steps have been accepted, or a step has failed. One
//! decomposition every few steps handles redundant constraints, where [GEOMS](super::geoms) needs three at every Jacobian. Accelerations
//! are unknowns here, so that M is not inverted. Three modes of operation follow from n_f: without constraints the equations are ordinary; with
//! n_f = 0 the constraints alone determine the motion, and the step size follows the polynomial between points; otherwise both have their part.
//!
//! Steinbrecher, thesis (2006), 5.2, with Ebert.

use super::radau::RadauIIa;
use super::{Method, StartFailure, State, Stepper};
use crate::error::StepFailure;
use crate::formulation::{Formulated, Formulation, Selectors};
use crate::linalg::Lu;
use crate::motion::{Form, Mechanism};
use crate::options::Options;

/// GMKSSOL with its options.
#[derive(Clone, Debug, PartialEq)]
pub struct Gmkssol {
    /// How long selectors are kept, for ten steps unless told otherwise.
    pub selectors: Selectors,
    /// Options of Radau IIa.
    pub integrator: RadauIIa,
}

impl Default for Gmkssol {
    fn default() -> Self {
        Gmkssol { selectors: Selectors::EverySteps(10), integrator: RadauIIa::default() }
    }
}

impl<'m> Method<dyn Mechanism + 'm> for Gmkssol {
    fn start<'p>(
        &self,
        system: &'p (dyn Mechanism + 'm),
        at: State,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        check_class(system, &at)?;
        let formulation = Formulation::ProjectedBy(self.selectors);
        Formulated { formulation, integrator: self.integrator.clone() }.start(system, at, options)
    }
}

/// Only p, v, r and λ; Z = I and a regular M.
fn check_class(system: &(dyn Mechanism + '_), at: &State) -> Result<(), StartFailure> {
    let refuse = |why: &str| {
        let (method, instead) = ("gmkssol", "geoms, or radau with the formulation psf");
        Err(StartFailure::OutOfClass { method, why: why.to_string(), instead })
    };
    let sizes = system.sizes();
    if sizes.auxiliary > 0 {
        return refuse("it has auxiliary variables");
    }
    if sizes.contact > 0 {
        return refuse("it has contact variables");
    }
    if sizes.nonholonomic > 0 {
        return refuse("it has nonholonomic constraints");
    }
    if !system.structure().kinematics.is_plain() {
        return refuse("the derivatives of its positions are not its velocities");
    }
    let mut array = system.array(Form::StrangenessFree, false);
    let [M, ..] = array.matrices(at.t, &at.x).map_err(|_| StepFailure::Undefined { t: at.t })?;
    let mut lu = Lu::new(M.rows());
    M.copy_to(&mut lu.A, 0);
    if lu.factor().is_err() {
        return refuse("its mass matrix is singular");
    }
    Ok(())
}
