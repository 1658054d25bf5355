//! That a system is Hamiltonian, at the start and along a run, and −H_q at a position and velocity.
//!
//! ```text
//! −H_q = f(q, 0) + ½ ∂_q (vᵀ M(q) v)
//! ```
//! where f(q, 0) = −U_q. The forces f(q, v) of such a system contain besides only the inertia terms ½ ∂_q (vᵀMv) − ∂_q(Mv) v.
//! ∂_q (M a) comes from the Jacobian of the rows M a − f by q, at a = v and at a = 0, both at rest.

use crate::linalg::Jacobian;
use crate::method::structural::{StructuralEquations, Trouble};
use crate::method::{StartFailure, State};
use crate::motion::{ForceTest, Form, Hamiltonian, Layout, Mechanism, Undefined};

/// ½ ∂_q (vᵀ M v), with scratch space.
pub(super) struct Inertia {
    x: Vec<f64>,
    moving: Jacobian,
    at_rest: Jacobian,
}

impl Inertia {
    pub fn new(equations: &StructuralEquations) -> Self {
        let l = equations.layout();
        Inertia { x: vec![0.0; l.dim()], moving: equations.new_jacobian(), at_rest: equations.new_jacobian() }
    }

    /// Both Jacobians at q, for velocity v.
    fn differentiate(
        &mut self,
        equations: &mut StructuralEquations,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<(), Undefined> {
        let (a, p) = (equations.layout().a(), equations.layout().p());
        self.x.fill(0.0);
        self.x[p].copy_from_slice(q);
        equations.jacobian(t, &self.x, &mut self.at_rest)?;
        self.x[a].copy_from_slice(v);
        equations.jacobian(t, &self.x, &mut self.moving)
    }

    /// ∂(Mv)ᵢ/∂qₖ after [`Inertia::differentiate`].
    fn derivative(&self, i: usize, column: usize) -> f64 {
        self.at_rest[(i, column)] - self.moving[(i, column)]
    }

    /// Add ½ ∂_q (vᵀ M v) to a force.
    pub fn add(
        &mut self,
        equations: &mut StructuralEquations,
        t: f64,
        q: &[f64],
        v: &[f64],
        force: &mut [f64],
    ) -> Result<(), Undefined> {
        self.differentiate(equations, t, q, v)?;
        for (force, column) in force.iter_mut().zip(equations.layout().p()) {
            *force += 0.5 * v.iter().enumerate().map(|(i, v)| v * self.derivative(i, column)).sum::<f64>();
        }
        Ok(())
    }
}

/// Every so many steps the identities of conservative forces are looked at again, where formulas do not prove them.
const EVERY: u32 = 64;

/// What a run goes by: the forces are conservative, and how that is known.
pub(super) struct Conservative {
    /// where it is not proved
    watch: Option<ForceTest>,
    steps: u32,
    pub told: String,
}

impl Conservative {
    /// Of a system at its start; refused if it is not Hamiltonian.
    pub fn new(method: &'static str, system: &dyn Mechanism, at: &State) -> Result<Self, StartFailure> {
        let refuse =
            |why: &str| Err(StartFailure::OutOfClass { method, why: why.to_string(), instead: "alpha or geoms" });
        let Some(formulas) = system.formulas() else {
            return refuse("it is a black box, whose forces may not be conservative");
        };
        let formulas = formulas.bound();
        let l = Layout::new(system.sizes(), Form::StrangenessFree, false);
        match formulas.hamiltonian(system.structure(), &at.x[l.p()], &at.x[l.v()]) {
            Hamiltonian::Not(why) => refuse(why),
            Hamiltonian::Proved => Ok(Conservative { watch: None, steps: 0, told: String::new() }),
            Hamiltonian::Generic { points } => {
                let told = format!(", forces conservative at {points} random points and along the run");
                Ok(Conservative { watch: Some(ForceTest::new(&formulas)), steps: 0, told })
            }
        }
    }

    /// Look at the point where a step begins, every so often.
    pub fn look(&mut self, equations: &StructuralEquations, x: &[f64]) -> Result<(), Trouble> {
        let Some(test) = &mut self.watch else { return Ok(()) };
        self.steps += 1;
        let l = equations.layout();
        match self.steps.is_multiple_of(EVERY).then(|| test.at(&x[l.p()], &x[l.v()])).flatten() {
            Some(Err(why)) => Err(Trouble::OutOfClass(why)),
            _ => Ok(()),
        }
    }
}
