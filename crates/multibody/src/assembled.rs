//! A system that is ready: checked, compiled, with its start.

use crate::joint::{Coordinate, JointId};
use crate::system::{BadSystem, System};
use crate::vector::Vector;
use daedal::graph::{Compiler, Interpreted};
use daedal::linalg::Matrices;
use daedal::motion::{Compiled, Form, Formulas, Layout, Mechanism, Names, Outputs, ReducedArray, Sizes, Structure};
use daedal::{Initial, Start};

/// Equations of motion of a system: a [`Mechanism`] for every method.
pub struct Assembled {
    system: System,
    formulas: Formulas,
    compiled: Compiled,
}

impl System {
    /// Check everything and make the equations.
    pub fn finish(self) -> Result<Assembled, BadSystem> {
        self.finish_with(Interpreted)
    }

    /// The same with a compiler.
    pub fn finish_with(self, compiler: impl Compiler + 'static) -> Result<Assembled, BadSystem> {
        self.check()?;
        let formulas = self.formulas();
        Ok(Assembled { compiled: Compiled::new(&formulas, compiler), formulas, system: self })
    }
}

impl Assembled {
    /// The same with dense or sparse matrices, instead of those that suit its size.
    #[must_use]
    pub fn with_matrices(self, matrices: Matrices) -> Self {
        Assembled { compiled: self.compiled.with_matrices(matrices), ..self }
    }

    /// What is drawn.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// The formulas, with energies, momenta and joint forces as outputs.
    pub fn formulas(&self) -> &Formulas {
        &self.formulas
    }

    /// The start as it is drawn, at rest.
    pub fn start(&self) -> Initial {
        self.start_at(&[])
    }

    /// The start with joint coordinates; those of a spanning forest move everything behind them.
    pub fn start_at(&self, given: &[(JointId, Coordinate, f64)]) -> Initial {
        let p = self.system.positions(given);
        Initial::motion(0.0, &p, &vec![0.0; self.system.sizes().velocities])
    }

    /// The start with the rate of a joint, which all velocities follow as far as they must.
    pub fn start_with_rate(&self, joint: JointId, coordinate: Coordinate, rate: f64) -> Initial {
        let (system, name) = (self.system.clone(), self.system.joints()[joint.number()].name.clone());
        self.start().condition(format!("rate of {name}"), move |at| {
            let pair = system.view(at.t, at.p, at.v).pairs[joint.number()];
            let value = if coordinate == Coordinate::Angle { pair.rate_of_angle() } else { pair.speed() };
            value - rate
        })
    }

    /// Velocities in the world for one body of a start: ẋ, and ω in the body.
    pub fn with_velocity(
        &self,
        mut start: Initial,
        body: crate::BodyId,
        v: Vector<f64>,
        omega: Vector<f64>,
    ) -> Initial {
        if let Some(m) = self.system.moving(body) {
            let values = if self.system.is_planar() { vec![v[0], v[1], omega[2]] } else { [v, omega].concat() };
            let (_, nv) = self.system.per_body();
            values.into_iter().enumerate().for_each(|(k, x)| start.v[nv * m + k] = Start::Guess(x));
        }
        start
    }

    /// Force and torque of A on B in the world, at the point of marker B, at a point x of the motion in the order of [`Layout`]. Where joints are
    /// redundant, those of least norm.
    pub fn joint_force(&self, joint: JointId, t: f64, x: &[f64]) -> [Vector<f64>; 2] {
        let name = &self.system.joints()[joint.number()].name;
        let component =
            |kind: &str, axis: &str| self.output(&format!("{name}.{kind}.{axis}"), t, x).unwrap_or(f64::NAN);
        ["force", "torque"].map(|kind| ["x", "y", "z"].map(|axis| component(kind, axis)))
    }

    /// One of the outputs: `energy.total`, `momentum.x`, `hinge.force.z`, …
    pub fn output(&self, name: &str, t: f64, x: &[f64]) -> Option<f64> {
        let mut outputs = Outputs::new(&self.formulas);
        let place = outputs.names().iter().position(|known| known == name)?;
        let mut values = vec![0.0; outputs.names().len()];
        outputs.evaluate(t, x, &mut values);
        Some(values[place])
    }

    /// Where unknowns stand in x.
    pub fn layout(&self) -> Layout {
        Layout::new(self.formulas.sizes, Form::StrangenessFree, false)
    }
}

impl Mechanism for Assembled {
    fn sizes(&self) -> Sizes {
        self.compiled.sizes()
    }
    fn names(&self) -> Names {
        self.compiled.names()
    }
    fn structure(&self) -> Structure {
        self.compiled.structure()
    }
    fn matrices(&self) -> Matrices {
        self.compiled.matrices()
    }
    fn formulas(&self) -> Option<Formulas> {
        self.compiled.formulas()
    }
    fn array<'m>(&'m self, form: Form, with_invariants: bool) -> Box<dyn ReducedArray + 'm> {
        self.compiled.array(form, with_invariants)
    }
    fn sparse_array<'m>(&'m self, form: Form) -> Option<Box<dyn ReducedArray + 'm>> {
        self.compiled.sparse_array(form)
    }
}
