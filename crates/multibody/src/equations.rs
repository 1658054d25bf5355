//! Equations of motion of a system as formulas, with K, k₀ and Γ in closed form.
//!
//! ```text
//! p = (x, q, …; θ)   v = (ẋ, ω)        M = diag(m I₃, J)        f = ( F ;  τ_body − ω×Jω )
//! ```

use crate::body::BodyId;
use crate::force::{self, Acting, Action, Law, LawArguments, Laws};
use crate::joint::Coordinate;
use crate::joint::block::{Marker, Pair};
use crate::state::BodyState;
use crate::system::System;
use crate::vector::{
    IDENTITY, Vector, add, constant, constants, cross, dot, quaternion_rate, scale, sub, times, transposed_times, zero,
};
use crate::view::{Constraint, View};
use daedal::graph::{Expr, Graph};
use daedal::motion::{ClosedForms, Formulas, Variables};

/// Formulas of all blocks, and where everything is.
pub struct Equations {
    /// Kinematics, masses, forces, constraints and their closed forms; graph, sizes and names are those of the caller.
    pub formulas: Formulas,
    /// The system as formulas.
    pub view: View<Expr>,
    /// Rows with the place of their multipliers among λ or μ.
    pub rows: Vec<(Constraint<Expr>, usize)>,
    /// Kinetic and potential energy: gravity, and springs with linear laws.
    pub energy: [Expr; 2],
    /// Sum of m ẋ, and of x×m ẋ + RJω.
    pub momentum: [Vector<Expr>; 2],
}

impl System {
    /// The equations in the current graph, inside of [`Graph::with`]; `laws` gives the values of laws that are [outside](Law::Outside).
    pub fn equations(&self, at: &Variables, laws: &mut Laws) -> Equations {
        let view = self.view(at.t(), at.p(), at.v());
        self.equations_at(view, at, laws)
    }

    /// The same where the view was made before.
    pub fn equations_at(&self, view: View<Expr>, at: &Variables, laws: &mut Laws) -> Equations {
        let (np, nv) = self.per_body();
        let n = self.movers().count();
        let mut formulas = Formulas::default();

        // kinematics
        for m in 0..n {
            let (p, v) = (&at.p()[np * m..], &at.v()[nv * m..]);
            if self.is_planar() {
                formulas.kinematics.extend(&v[..3]);
            } else {
                formulas.kinematics.extend(&v[..3]);
                formulas.kinematics.extend(quaternion_rate([p[3], p[4], p[5], p[6]], [v[3], v[4], v[5]]));
            }
        }
        formulas.kinematics.extend(self.tracked().iter().map(|joint| view.pairs[joint.number()].rate_of_angle()));

        // forces, then masses
        let mut acting: Vec<Acting<Expr>> = vec![Acting { force: zero(), torque: zero() }; self.bodies().len()];
        let mut potential = Expr::from(0.0);
        self.elements(&view, laws, &mut acting, &mut potential);
        let mut kinetic = Expr::from(0.0);
        let mut momentum = [zero(), zero()];
        for (k, body) in self.movers() {
            let (m, state, omega) = (self.moving(BodyId(k)).unwrap_or(0), &view.states[k], view.omega[k]);
            let weight = constant(self.gravity.map(|g| body.mass * g));
            let J = constants(&body.inertia);
            let spin = times(&J, omega);
            let force = add(acting[k].force, weight);
            let torque = sub(transposed_times(&state.R, acting[k].torque), cross(omega, spin));
            let mass = Expr::from(body.mass);
            kinetic += (mass * dot(state.v, state.v) + dot(omega, spin)) * 0.5;
            potential -= dot(weight, state.x);
            let linear = scale(mass, state.v);
            momentum[0] = add(momentum[0], linear);
            momentum[1] = add(momentum[1], add(cross(state.x, linear), times(&state.R, spin)));
            if self.is_planar() {
                formulas.force.extend([force[0], force[1], torque[2]]);
                formulas.mass.extend([(3 * m, 3 * m, mass), (3 * m + 1, 3 * m + 1, mass)]);
                formulas.mass.push((3 * m + 2, 3 * m + 2, J[2][2]));
            } else {
                formulas.force.extend(force);
                formulas.force.extend(torque);
                formulas.mass.extend((0..3).map(|i| (6 * m + i, 6 * m + i, mass)));
                for i in 0..3 {
                    let entries = (0..3).filter(|&j| body.inertia[i][j] != 0.0);
                    formulas.mass.extend(entries.map(|j| (6 * m + 3 + i, 6 * m + 3 + j, J[i][j])));
                }
            }
        }

        // constraints
        let mut closed = ClosedForms::default();
        let mut rows = Vec::new();
        for row in self.constraints(&view) {
            let (number, entries) = if row.holonomic {
                formulas.holonomic.push(row.g);
                closed.holonomic_rest.push(row.k0);
                closed.holonomic_gamma.push(row.gamma);
                (formulas.holonomic.len() - 1, &mut closed.GZ)
            } else {
                closed.nonholonomic_gamma.push(row.gamma);
                (closed.nonholonomic_gamma.len() - 1, &mut closed.HZ)
            };
            let begin = entries.len();
            for (j, value) in self.columns(&row) {
                entries.push((number, j, value));
            }
            if !row.holonomic {
                let v = at.v();
                let sum = entries[begin..].iter().fold(row.k0, |sum, &(_, j, K)| sum + K * v[j]);
                formulas.nonholonomic.push(sum);
            }
            rows.push((row, number));
        }
        formulas.closed = Some(closed);
        Equations { formulas, view, rows, energy: [kinetic, potential], momentum }
    }

    /// The entries of a row of K that are not zero, by velocities.
    fn columns(&self, row: &Constraint<Expr>) -> Vec<(usize, Expr)> {
        use daedal::scalar::Scalar;
        let (_, nv) = self.per_body();
        let mut entries: Vec<(usize, Expr)> = Vec::new();
        for (body, part) in &row.parts {
            let Some(m) = self.moving(*body) else { continue };
            let values = if self.is_planar() {
                vec![part.force[0], part.force[1], part.torque[2]]
            } else {
                part.force.into_iter().chain(part.torque).collect()
            };
            for (k, value) in values.into_iter().enumerate() {
                let j = nv * m + k;
                match entries.iter_mut().find(|(place, _)| *place == j) {
                    Some((_, sum)) => *sum += value,
                    None => entries.push((j, value)),
                }
            }
        }
        entries.retain(|(_, value)| value.value() != 0.0);
        entries.sort_by_key(|(j, _)| *j);
        entries
    }

    /// What all force elements do to the bodies, and the energy of those that have one.
    fn elements(&self, at: &View<Expr>, laws: &mut Laws, acting: &mut [Acting<Expr>], potential: &mut Expr) {
        let state = |body: BodyId| body.number().map_or_else(BodyState::ground, |k| at.states[k]);
        for (number, force) in self.forces().iter().enumerate().filter(|(number, _)| self.acts(*number)) {
            let mut value = |law: &Law, coordinate: Expr, rate: Expr, drawn: f64, potential: &mut Expr| {
                let arguments = LawArguments { coordinate, rate, t: at.t };
                match law {
                    Law::Linear { stiffness, damping, rest } => {
                        let stretch = coordinate - rest.unwrap_or(drawn);
                        *potential += stretch * stretch * (0.5 * stiffness);
                        stretch * *stiffness + rate * *damping
                    }
                    Law::Formula(formula) => formula(arguments),
                    Law::Outside => laws(number, 0, Some(arguments)),
                }
            };
            let (bodies, on) = match &force.action {
                Action::Spring { ends, law } => {
                    let markers = ends.map(|(_, point)| Marker { point, frame: IDENTITY });
                    let bodies = ends.map(|(body, _)| body);
                    let pair = Pair::new(bodies.map(state), &markers);
                    let length = pair.length();
                    let speed = dot(pair.D, pair.D1) / length;
                    let drawn = self.drawn_length(ends);
                    (bodies, force::pull(&pair, value(law, length, speed, drawn, potential)))
                }
                Action::OnJoint { joint, coordinate, law } => {
                    let (j, bodies) = (joint.number(), self.joints()[joint.number()].bodies);
                    let pair = &at.pairs[j];
                    let axis = match (self.is_planar(), coordinate) {
                        (true, Coordinate::Angle) => constant([0.0, 0.0, 1.0]),
                        _ => pair.axes[0][2],
                    };
                    // linear laws act against their coordinate
                    let sign = if matches!(law, Law::Linear { .. }) { -1.0 } else { 1.0 };
                    match coordinate {
                        Coordinate::Angle => {
                            // no angle is needed where nothing depends on it
                            let angle = at.angles[j].unwrap_or_else(|| Expr::from(0.0));
                            let rate = dot(axis, sub(pair.bodies[1].w, pair.bodies[0].w));
                            let torque = value(law, angle, rate, 0.0, potential) * sign;
                            (bodies, force::act(pair, zero(), pair.rho[1], scale(torque, axis)))
                        }
                        Coordinate::Travel => {
                            let size = value(law, pair.travel(), pair.speed(), 0.0, potential) * sign;
                            (bodies, force::act(pair, scale(size, axis), pair.rho[1], zero()))
                        }
                    }
                }
                Action::Bushing { bodies, markers, coefficients } => {
                    let (on, energy) = force::bushing(&Pair::new(bodies.map(state), markers), coefficients);
                    *potential += energy;
                    (*bodies, on)
                }
                Action::Contact { bodies, markers, coefficients } => {
                    (*bodies, force::contact(&Pair::new(bodies.map(state), markers), *coefficients))
                }
                Action::Wrench { body, point, in_body } => {
                    let components: Vec<Expr> = (0..6).map(|k| laws(number, k, None)).collect();
                    let B = state(*body);
                    let turn = |a: &[Expr]| {
                        let a = [a[0], a[1], a[2]];
                        if *in_body { times(&B.R, a) } else { a }
                    };
                    let (push, torque) = (turn(&components[..3]), turn(&components[3..]));
                    let arm = times(&B.R, constant(*point));
                    let on_B = Acting { force: push, torque: add(torque, cross(arm, push)) };
                    ([crate::body::GROUND, *body], [on_B, on_B])
                }
            };
            for (body, on) in bodies.into_iter().zip(on) {
                if let Some(k) = body.number() {
                    acting[k].force = add(acting[k].force, on.force);
                    acting[k].torque = add(acting[k].torque, on.torque);
                }
            }
        }
    }

    fn drawn_length(&self, ends: &[(BodyId, Vector<f64>); 2]) -> f64 {
        let at = ends.map(|(body, point)| body.number().map_or(point, |k| self.bodies()[k].drawn(point)));
        crate::vector::norm(sub(at[1], at[0]))
    }

    /// The formulas of a system whose laws are all its own, with energies and joint forces as outputs.
    pub fn formulas(&self) -> Formulas {
        let (sizes, names) = (self.sizes(), self.names());
        let mut graph = Graph::new();
        let inputs = Variables::new(&mut graph, &sizes, &names, &[]);
        let (formulas, outputs) = graph.with(|| {
            let equations = self.equations(&inputs, &mut |_, _, _| Expr::from(0.0));
            let outputs = equations.outputs(self, &inputs);
            (equations.formulas, outputs)
        });
        Formulas { graph, sizes, names, outputs, ..formulas }
    }
}

impl Equations {
    /// Outputs that every system has: energies, momenta.
    pub fn balances(&self) -> Vec<(String, Expr)> {
        let [kinetic, potential] = self.energy;
        let mut outputs = vec![
            ("energy.kinetic".to_string(), kinetic),
            ("energy.potential".to_string(), potential),
            ("energy.total".to_string(), kinetic + potential),
        ];
        for (name, value) in ["momentum", "angular_momentum"].into_iter().zip(self.momentum) {
            let components = ["x", "y", "z"].into_iter().zip(value);
            outputs.extend(components.map(|(axis, value)| (format!("{name}.{axis}"), value)));
        }
        outputs
    }

    /// Force and torque of A on B at a joint, in the world.
    pub fn reaction(&self, system: &System, at: &Variables, joint: usize) -> [Vector<Expr>; 2] {
        let rows: Vec<(&Constraint<Expr>, Expr)> = self
            .rows
            .iter()
            .filter(|(row, _)| row.joint == joint)
            .map(|(row, number)| (row, if row.holonomic { at.lambda()[*number] } else { at.mu()[*number] }))
            .collect();
        system.reaction(&self.view, joint, &rows)
    }

    /// A vector of the world along the axes that a body has had where it was drawn: for the ground those of the world.
    pub fn as_drawn(&self, system: &System, body: BodyId, a: Vector<Expr>) -> Vector<Expr> {
        match body.number() {
            None => a,
            Some(k) => times(&constants(&system.rotation(body)), transposed_times(&self.view.states[k].R, a)),
        }
    }

    /// Balances and the reactions of all joints in the world: `hinge.force.x`, `hinge.torque.z`.
    fn outputs(&self, system: &System, at: &Variables) -> Vec<(String, Expr)> {
        let mut outputs = self.balances();
        for (j, joint) in system.joints().iter().enumerate() {
            if self.rows.iter().all(|(row, _)| row.joint != j) {
                continue;
            }
            for (name, value) in ["force", "torque"].into_iter().zip(self.reaction(system, at, j)) {
                let components = ["x", "y", "z"].into_iter().zip(value);
                outputs.extend(components.map(|(axis, e)| (format!("{}.{name}.{axis}", joint.name), e)));
            }
        }
        outputs
    }
}
