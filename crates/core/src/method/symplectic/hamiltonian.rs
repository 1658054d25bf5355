//! Which systems are Hamiltonian, and −H_q at a position and velocity.
//!
//! ```text
//! −H_q = f(q, 0) + ½ ∂_q (vᵀ M(q) v)
//! ```
//! where f(q, 0) = −U_q. The forces f(q, v) of such a system contain besides only the inertia terms ½ ∂_q (vᵀMv) − ∂_q(Mv) v.
//! ∂_q (M a) comes from the Jacobian of the rows M a − f by q, at a = v and at a = 0, both at rest.

use crate::linalg::Matrix;
use crate::method::structural::Structural;
use crate::method::{StartFailure, State};
use crate::motion::{Mechanism, Undefined};

/// What does not fit, relative to the size of derivatives, up to which forces are taken for conservative.
const ROUNDING: f64 = 1e-9;
/// The same, relative to the size of forces.
const ROUNDING_OF_FORCES: f64 = 1e-11;

/// ½ ∂_q (vᵀ M v), with scratch space.
pub(super) struct Inertia {
    x: Vec<f64>,
    moving: Matrix,
    at_rest: Matrix,
}

impl Inertia {
    pub fn new(equations: &Structural) -> Self {
        let l = equations.layout();
        Inertia {
            x: vec![0.0; l.dim()],
            moving: Matrix::zeros(l.rows(), l.dim()),
            at_rest: Matrix::zeros(l.rows(), l.dim()),
        }
    }

    /// Both Jacobians at q, for velocity v.
    fn differentiate(&mut self, equations: &mut Structural, t: f64, q: &[f64], v: &[f64]) -> Result<(), Undefined> {
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
        equations: &mut Structural,
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

fn refusal(method: &'static str, why: &str) -> StartFailure {
    StartFailure::OutOfClass { method, why: why.to_string(), instead: "alpha or geoms" }
}

/// Refuse what the structure of a system shows not to be Hamiltonian.
pub(super) fn check_structure(method: &'static str, system: &dyn Mechanism) -> Result<(), StartFailure> {
    let sizes = system.sizes();
    if sizes.dynamic > 0 {
        return Err(refusal(method, "it has force elements with states of their own, which have no energy"));
    }
    if sizes.nonholonomic > 0 {
        return Err(refusal(method, "it has nonholonomic constraints, so that it is not Hamiltonian"));
    }
    if !system.structure().autonomous {
        return Err(refusal(method, "time enters its equations, so that its energy is not constant"));
    }
    if sizes.positions != sizes.velocities {
        return Err(refusal(method, "it has more positions than velocities, so that M v are not the momenta of p"));
    }
    Ok(())
}

/// Refuse forces without a potential, as far as they show themselves at the start and at a point beside it, and p' ≠ v.
pub(super) fn check_forces(method: &'static str, equations: &mut Structural, at: &State) -> Result<(), StartFailure> {
    let l = equations.layout().clone();
    let mut inertia = Inertia::new(equations);
    let n = l.v().len();
    let mut x = vec![0.0; l.dim()];
    for round in 0..3 {
        // the velocity of the start may be zero: others are tried besides
        for k in 0..n {
            let beside = f64::from(round) * (0.05 + 0.01 * k as f64);
            x[l.p().start + k] = at.x[l.p().start + k] + beside;
            let some = if k % 2 == 0 { 0.7 + 0.3 * k as f64 } else { -1.1 - 0.2 * k as f64 };
            x[l.v().start + k] = if round == 0 { at.x[l.v().start + k] } else { some };
        }
        let Ok(excess) = check_point(method, equations, &mut inertia, at.t, &x)? else { continue };
        if excess {
            let why = "its forces depend on velocities beyond the inertia terms of the mass matrix, as damping does";
            return Err(refusal(method, why));
        }
    }
    Ok(())
}

/// Do forces at a point depend on velocities otherwise than by inertia? No answer where the model has no value.
fn check_point(
    method: &'static str,
    equations: &mut Structural,
    inertia: &mut Inertia,
    t: f64,
    x: &[f64],
) -> Result<Result<bool, Undefined>, StartFailure> {
    let l = equations.layout().clone();
    let (q, v) = (&x[l.p()], &x[l.v()]);
    let n = v.len();
    let mut rest = x.to_vec();
    rest[l.v()].fill(0.0);
    if equations.forces(t, x).is_err() {
        return Ok(Err(Undefined));
    }
    if equations.kinematics() != v {
        return Err(refusal(method, "its velocities are not the derivatives of its positions"));
    }
    let moving = equations.minus_force().to_vec();
    if equations.forces(t, &rest).is_err() {
        return Ok(Err(Undefined));
    }
    let resting = equations.minus_force().to_vec();
    if inertia.differentiate(equations, t, q, v).is_err() {
        return Ok(Err(Undefined));
    }
    // ∂f/∂q at rest is symmetric
    let mut largest = 0.0_f64;
    let mut skew = 0.0_f64;
    for (i, column) in l.p().enumerate() {
        for (k, other) in l.p().enumerate() {
            let (f, g) = (inertia.at_rest[(k, column)], inertia.at_rest[(i, other)]);
            largest = largest.max(f.abs());
            skew = skew.max((f - g).abs());
        }
    }
    if skew > ROUNDING * largest {
        let why = "its forces have no potential: their derivatives by the positions are not symmetric";
        return Err(refusal(method, why));
    }
    // f(q, v) − f(q, 0) = ½ ∂_q(vᵀMv) − ∂_q(Mv) v
    for i in 0..n {
        let mut size = ROUNDING_OF_FORCES / ROUNDING * (resting[i].abs() + moving[i].abs());
        let mut difference = resting[i] - moving[i];
        for k in 0..n {
            let (gradient, rate) =
                (0.5 * v[k] * inertia.derivative(k, l.p().start + i), inertia.derivative(i, l.p().start + k) * v[k]);
            difference -= gradient - rate;
            size = size.max(gradient.abs()).max(rate.abs());
        }
        if difference.abs() > ROUNDING * size {
            return Ok(Ok(true));
        }
    }
    Ok(Ok(false))
}
