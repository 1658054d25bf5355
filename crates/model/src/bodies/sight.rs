//! Quantities of a mechanism as formulas.

use super::objects::Mechanical;
use crate::names::{Classes, Quantity};
use daedal::graph::Expr;
use daedal::motion::Variables;
use daedal_multibody::vector::{Vector, add, constant, constants, cross, times, transposed_times};
use daedal_multibody::{BodyId, BodyState, Constraint, Coordinate, Equations, System, View};
use std::cell::RefCell;
use std::sync::Arc;

/// Kinetic and potential energy, momentum and angular momentum.
type Balances = ([Expr; 2], [Vector<Expr>; 2]);

/// A system at the inputs of a graph.
pub(crate) struct Sight {
    pub system: Arc<System>,
    pub view: View<Expr>,
    /// rows with their multipliers
    rows: Vec<(Constraint<Expr>, Expr)>,
    /// energies and momenta, when forces are known
    pub balances: RefCell<Option<Balances>>,
}

const AT_POSITION: Classes = Classes::of(&[Quantity::Position]);
const AT_VELOCITY: Classes = Classes::of(&[Quantity::Position, Quantity::Velocity]);
const AT_FORCE: Classes = Classes::of(&[Quantity::Position, Quantity::Velocity, Quantity::Lambda, Quantity::Mu]);

impl Sight {
    /// Inside of the graph.
    pub fn new(system: Arc<System>, inputs: &Variables) -> Self {
        let view = system.view(inputs.t(), inputs.p(), inputs.v());
        let (mut lambda, mut mu) = (inputs.lambda().iter(), inputs.mu().iter());
        let mut rows = Vec::new();
        for row in system.constraints(&view) {
            let multiplier = if row.holonomic { lambda.next() } else { mu.next() };
            rows.extend(multiplier.map(|multiplier| (row, *multiplier)));
        }
        Sight { system, view, rows, balances: RefCell::new(None) }
    }

    /// What is known when the equations are made.
    pub fn learn(&self, equations: &Equations) {
        *self.balances.borrow_mut() = Some((equations.energy, equations.momentum));
    }

    /// A quantity and what it contains; `None` where it is not known yet.
    pub fn value(&self, what: Mechanical) -> Option<(Expr, Classes)> {
        let arm = |body: usize, point: Option<usize>| {
            let local = point.map_or([0.0; 3], |k| self.system.bodies()[body].points[k].1);
            times(&self.view.states[body].R, constant(local))
        };
        Some(match what {
            Mechanical::Place { body, point, axis } => {
                (add(self.view.states[body].x, arm(body, point))[axis], AT_POSITION)
            }
            Mechanical::Velocity { body, point, axis } => {
                let state = &self.view.states[body];
                (add(state.v, cross(state.w, arm(body, point)))[axis], AT_VELOCITY)
            }
            Mechanical::Spin { body, axis } => (self.view.states[body].w[axis], AT_VELOCITY),
            Mechanical::Coordinate { joint, coordinate: Coordinate::Angle } => {
                let angle = self.view.angles[joint].unwrap_or_else(|| self.view.pairs[joint].angle());
                (angle, AT_POSITION)
            }
            Mechanical::Coordinate { joint, .. } => (self.view.pairs[joint].travel(), AT_POSITION),
            Mechanical::Rate { joint, coordinate: Coordinate::Angle } => {
                let pair = &self.view.pairs[joint];
                let planar = self.system.is_planar();
                let rate = if planar { pair.bodies[1].w[2] - pair.bodies[0].w[2] } else { pair.rate_of_angle() };
                (rate, AT_VELOCITY)
            }
            Mechanical::Rate { joint, .. } => (self.view.pairs[joint].speed(), AT_VELOCITY),
            Mechanical::Reaction { joint, moment, axis, in_world } => {
                let of_joint = self.rows.iter().filter(|(row, _)| row.joint == joint);
                let rows: Vec<(&Constraint<Expr>, Expr)> = of_joint.map(|(row, e)| (row, *e)).collect();
                let mut reaction = self.system.reaction(&self.view, joint, &rows)[usize::from(moment)];
                if !in_world {
                    reaction = self.as_drawn(self.system.joints()[joint].bodies[0], reaction);
                }
                (reaction[axis], AT_FORCE)
            }
            Mechanical::Energy(k) => {
                let ([kinetic, potential], _) = (*self.balances.borrow())?;
                ([kinetic, potential, kinetic + potential][k], AT_VELOCITY)
            }
            Mechanical::Momentum { angular, axis } => {
                let (_, momentum) = (*self.balances.borrow())?;
                (momentum[usize::from(angular)][axis], AT_VELOCITY)
            }
        })
    }

    /// A vector along the axes that a body had where it was drawn.
    fn as_drawn(&self, body: BodyId, a: Vector<Expr>) -> Vector<Expr> {
        match body.number() {
            None => a,
            Some(k) => {
                let BodyState { R, .. } = &self.view.states[k];
                times(&constants(&self.system.rotation(body)), transposed_times(R, a))
            }
        }
    }
}
