//! A system at a point of its motion, for every scalar: states of the bodies, pairs of markers, rows of the constraints.

use crate::body::BodyId;
use crate::joint::block::{Pair, Row, Wrench};
use crate::joint::{self, Coordinate, Kind};
use crate::state::BodyState;
use crate::system::System;
use crate::vector::{Vector, add, constant, constants, cross, negative, scale, sub, times, zero};
use daedal::scalar::Scalar;

/// Where everything is, and how it moves.
#[derive(Clone, Debug)]
pub struct View<S> {
    /// Time.
    pub t: S,
    /// One for every body.
    pub states: Vec<BodyState<S>>,
    /// Angular velocities in the bodies.
    pub omega: Vec<Vector<S>>,
    /// One for every joint.
    pub pairs: Vec<Pair<S>>,
    /// Angles that count turns, where a joint has such a position.
    pub angles: Vec<Option<S>>,
}

/// One row of the constraints.
#[derive(Clone, Debug)]
pub struct Constraint<S> {
    /// Number of its joint.
    pub joint: usize,
    /// Its name in the joint.
    pub name: &'static str,
    /// Is it the derivative of g?
    pub holonomic: bool,
    /// g.
    pub g: S,
    /// k₀.
    pub k0: S,
    /// Γ.
    pub gamma: S,
    /// K by bodies; A and B of the joint first.
    pub parts: Vec<(BodyId, Wrench<S>)>,
}

impl System {
    /// The system at (t, p, v).
    pub fn view<S: Scalar>(&self, t: S, p: &[S], v: &[S]) -> View<S> {
        let (np, nv) = self.per_body();
        let mut states = Vec::with_capacity(self.bodies().len());
        let mut omega = Vec::with_capacity(self.bodies().len());
        let mut phi = Vec::new();
        for (k, body) in self.bodies().iter().enumerate() {
            match self.moving(BodyId(k)) {
                None => {
                    let fixed = BodyState { x: constant(body.at), R: constants(&body.rotation), ..BodyState::ground() };
                    states.push(fixed);
                    omega.push(zero());
                    phi.push(S::from(body.rotation[1][0].atan2(body.rotation[0][0])));
                }
                Some(m) => {
                    let (p, v) = (&p[np * m..np * (m + 1)], &v[nv * m..nv * (m + 1)]);
                    if self.is_planar() {
                        states.push(BodyState::planar(p, v));
                        omega.push([S::from(0.0), S::from(0.0), v[2]]);
                        phi.push(p[2]);
                    } else {
                        states.push(BodyState::spatial(p, v));
                        omega.push([v[3], v[4], v[5]]);
                    }
                }
            }
        }
        let state = |body: BodyId| body.number().map_or_else(BodyState::ground, |k| states[k]);
        let pairs: Vec<Pair<S>> = self
            .joints()
            .iter()
            .enumerate()
            .map(|(j, joint)| Pair::new(joint.bodies.map(state), self.markers(j)))
            .collect();
        let mut angles: Vec<Option<S>> = vec![None; pairs.len()];
        if self.is_planar() {
            let of = |body: BodyId| body.number().map_or(S::from(0.0), |k| phi[k]);
            let drawn = |body: BodyId| {
                let R = self.rotation(body);
                R[1][0].atan2(R[0][0])
            };
            for (angle, joint) in angles.iter_mut().zip(self.joints()) {
                let [A, B] = joint.bodies;
                *angle = Some(of(B) - of(A) - (drawn(B) - drawn(A)));
            }
        } else {
            let first = p.len() - self.tracked().len();
            self.tracked().iter().enumerate().for_each(|(k, joint)| angles[joint.number()] = Some(p[first + k]));
        }
        View { t, states, omega, pairs, angles }
    }

    /// All rows at a point, those of one joint after another.
    pub fn constraints<S: Scalar>(&self, at: &View<S>) -> Vec<Constraint<S>> {
        let mut rows = Vec::new();
        for (j, joint) in self.joints().iter().enumerate().filter(|(j, _)| self.is_on(*j)) {
            if let Kind::Coupling { joints, coordinates, law } = &joint.kind {
                rows.push(self.coupling(
                    at,
                    j,
                    (joints[0].number(), coordinates[0]),
                    (joints[1].number(), coordinates[1]),
                    law,
                ));
                continue;
            }
            let (pair, length) = (&at.pairs[j], joint.length());
            let of_joint = if self.is_planar() {
                let turned = at.angles[j].unwrap_or_else(|| S::from(0.0));
                joint::rows_in_plane(&joint.kind, pair, length, at.t, turned, self.rolled_at_start(j))
            } else {
                joint::rows(&joint.kind, pair, length, at.t)
            };
            for joint::NamedRow { name, holonomic, row } in of_joint {
                let Row { g, k0, gamma, parts: [A, B] } = row;
                let parts = vec![(joint.bodies[0], A), (joint.bodies[1], B)];
                rows.push(Constraint { joint: j, name, holonomic, g, k0, gamma, parts });
            }
        }
        rows
    }

    /// Where a planar wheel touches its line in the drawing.
    fn rolled_at_start(&self, j: usize) -> f64 {
        let joint = &self.joints()[j];
        let along = crate::vector::transposed(&joint.frames[0])[0];
        crate::vector::dot(along, sub(joint.points[1], joint.points[0]))
    }

    /// c₂ − F(c₁): rates are ċ₂ − F'ċ₁, accelerations c̈₂ − F'c̈₁ − F''ċ₁².
    fn coupling<S: Scalar>(
        &self,
        at: &View<S>,
        j: usize,
        first: (usize, Coordinate),
        second: (usize, Coordinate),
        law: &crate::law::Function,
    ) -> Constraint<S> {
        let coordinate = |(k, coordinate): (usize, Coordinate)| {
            let pair = &at.pairs[k];
            let axis = if self.is_planar() { constant([0.0, 0.0, 1.0]) } else { pair.axes[0][2] };
            match coordinate {
                Coordinate::Angle => {
                    let angle = at.angles[k].unwrap_or_else(|| pair.angle());
                    let rate = crate::vector::dot(axis, sub(pair.bodies[1].w, pair.bodies[0].w));
                    (angle, rate, pair.turning(axis))
                }
                Coordinate::Travel => (pair.travel(), pair.speed(), pair.along(2)),
            }
        };
        let ((c1, rate, row1), (c2, _, row2)) = (coordinate(first), coordinate(second));
        let [F, F1, F2] = law.evaluate(c1);
        let mut parts = Vec::new();
        for (k, body) in self.joints()[second.0].bodies.into_iter().enumerate() {
            parts.push((body, row2.parts[k]));
        }
        for (k, body) in self.joints()[first.0].bodies.into_iter().enumerate() {
            parts.push((body, row1.parts[k].times(-F1)));
        }
        let gamma = row2.gamma - F1 * row1.gamma - F2 * rate.square();
        let zero = S::from(0.0);
        Constraint { joint: j, name: "coupling", holonomic: true, g: c2 - F, k0: zero, gamma, parts }
    }

    /// Force and torque of every joint, A on B in the world, for all multipliers: those of holonomic rows, then the others.
    pub fn joint_forces(&self, at: &View<f64>, multipliers: &[f64]) -> Vec<[Vector<f64>; 2]> {
        let rows = self.constraints(at);
        let holonomic = rows.iter().filter(|row| row.holonomic).count();
        let mut next = [0, holonomic];
        let mut carried: Vec<Vec<(&Constraint<f64>, f64)>> = vec![Vec::new(); self.joints().len()];
        for row in &rows {
            let place = &mut next[usize::from(!row.holonomic)];
            carried[row.joint].push((row, multipliers.get(*place).copied().unwrap_or(f64::NAN)));
            *place += 1;
        }
        carried.iter().enumerate().map(|(j, own)| self.reaction(at, j, own)).collect()
    }

    /// Force and torque of A on B in the world, at the point of marker B, for the multipliers of the rows of this joint.
    pub fn reaction<S: Scalar>(&self, at: &View<S>, joint: usize, rows: &[(&Constraint<S>, S)]) -> [Vector<S>; 2] {
        let (mut force, mut torque) = (zero(), zero());
        for (row, lambda) in rows {
            let (body, part) = row.parts[1];
            let R = body.number().map_or_else(|| BodyState::ground().R, |k| at.states[k].R);
            force = add(force, scale(-*lambda, part.force));
            torque = add(torque, scale(-*lambda, times(&R, part.torque)));
        }
        let arm = at.pairs[joint].rho[1];
        [force, add(torque, negative(cross(arm, force)))]
    }
}
