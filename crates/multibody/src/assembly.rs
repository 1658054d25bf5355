//! Where a system starts: the drawn position, with given joint coordinates of a spanning forest.
//!
//! Every joint is closed as it is drawn. A coordinate that is given moves everything behind its joint, seen from the ground along a spanning forest
//! found breadth first, so that loops are as short as they can be. Loops that this opens are closed by the search for consistent initial values.

use crate::body::BodyId;
use crate::joint::{Coordinate, JointId, Kind};
use crate::system::System;
use crate::vector::{Matrix3, Vector, about, add, dot, product, quaternion_of, scale, sub, times, transposed};
use std::collections::VecDeque;

/// The place of a body.
#[derive(Clone, Copy, Debug)]
struct Place {
    x: Vector<f64>,
    R: Matrix3<f64>,
    /// of a planar body
    phi: f64,
}

/// Joint coordinates that are given.
pub type Given = [(JointId, Coordinate, f64)];

impl System {
    /// Positions p with these joint coordinates, measured from the drawing.
    ///
    /// Joints that close a loop are not moved: their coordinates follow.
    pub fn positions(&self, given: &Given) -> Vec<f64> {
        let tree = self.forest();
        let mut places: Vec<Place> = self
            .bodies()
            .iter()
            .map(|body| Place { x: body.at, R: body.rotation, phi: body.rotation[1][0].atan2(body.rotation[0][0]) })
            .collect();
        for &(joint, coordinate, value) in given {
            if !tree.contains(&Some(joint.0)) {
                continue;
            }
            self.moved(&tree, joint, coordinate, value, &mut places);
        }
        let mut p = Vec::new();
        for (k, _) in self.movers() {
            let place = &places[k];
            if self.is_planar() {
                p.extend([place.x[0], place.x[1], place.phi]);
            } else {
                p.extend(place.x);
                p.extend(quaternion_of(&place.R));
            }
        }
        for joint in self.tracked() {
            let angle = given.iter().rev().find(|(j, c, _)| j == joint && *c == Coordinate::Angle);
            p.push(angle.map_or(0.0, |(_, _, value)| *value));
        }
        p
    }

    /// Move everything behind a joint of the forest.
    fn moved(&self, tree: &[Option<usize>], joint: JointId, coordinate: Coordinate, value: f64, places: &mut [Place]) {
        let drawn = &self.joints()[joint.0];
        let [A, B] = drawn.bodies;
        let behind_B = B.number().is_some_and(|k| tree[k] == Some(joint.0));
        let first = if behind_B { B } else { A };
        // axis and point where the joint is now
        let marker = &self.markers(joint.0)[0];
        let (x, R) = A.number().map_or(([0.0; 3], crate::vector::IDENTITY), |k| (places[k].x, places[k].R));
        let point = add(x, times(&R, marker.point));
        let axes = transposed(&product(&R, &marker.frame));
        let sign = if behind_B { 1.0 } else { -1.0 };
        let (axis, mut angle, mut travel) = (axes[2], 0.0, 0.0);
        match coordinate {
            Coordinate::Angle => angle = value,
            Coordinate::Travel => travel = value,
        }
        if let Kind::Screw { lead } = drawn.kind {
            let kappa = lead / std::f64::consts::TAU;
            (angle, travel) =
                if coordinate == Coordinate::Angle { (value, kappa * value) } else { (value / kappa, value) };
        }
        let turn = about(axis, sign * angle);
        for k in self.behind(tree, first) {
            let place = &mut places[k];
            place.x = add(add(point, times(&turn, sub(place.x, point))), scale(sign * travel, axis));
            place.R = product(&turn, &place.R);
            place.phi += sign * angle;
        }
    }

    /// The bodies of the branch of the forest that begins with a body.
    fn behind(&self, tree: &[Option<usize>], first: BodyId) -> Vec<usize> {
        let parent = |k: usize| -> Option<usize> {
            let [A, B] = self.joints()[tree[k]?].bodies;
            let other = if B.number() == Some(k) { A } else { B };
            other.number()
        };
        // towards the root, up to a body of which it is known
        let mut known: Vec<Option<bool>> = vec![None; self.bodies().len()];
        let mut way = Vec::new();
        for k in 0..known.len() {
            let mut at = Some(k);
            let is_behind = loop {
                match at {
                    Some(body) if Some(body) == first.number() => break true,
                    Some(body) => match known[body] {
                        Some(is_behind) => break is_behind,
                        None => way.push(body),
                    },
                    None => break false,
                }
                at = at.and_then(parent);
            };
            known[k] = Some(is_behind);
            way.drain(..).for_each(|body| known[body] = Some(is_behind));
        }
        (0..known.len()).filter(|&k| known[k] == Some(true)).collect()
    }

    /// For every body the joint towards the ground in a spanning forest, breadth first. Joints without coordinates that leave most of them open,
    /// and transmissions, are no branches: a body with a hinge and a rod is behind the hinge.
    pub fn forest(&self) -> Vec<Option<usize>> {
        let n = self.bodies().len();
        let mut edges: Vec<Vec<(usize, Option<usize>)>> = vec![Vec::new(); n];
        let mut from_ground = Vec::new();
        for (j, joint) in self.joints().iter().enumerate() {
            if !self.is_on(j) || joint.of.is_some() || !carries(&joint.kind) {
                continue;
            }
            let held = |body: BodyId| self.moving(body).is_none();
            let [A, B] = joint.bodies;
            for (from, to) in [(A, B), (B, A)] {
                if let Some(k) = to.number().filter(|_| !held(to)) {
                    if held(from) {
                        from_ground.push((j, k));
                    } else if let Some(f) = from.number() {
                        edges[f].push((j, Some(k)));
                    }
                }
            }
        }
        let (mut tree, mut seen) = (vec![None; n], vec![false; n]);
        let mut open = VecDeque::new();
        for (j, k) in from_ground {
            if !std::mem::replace(&mut seen[k], true) {
                tree[k] = Some(j);
                open.push_back(k);
            }
        }
        let mut next = 0;
        loop {
            while let Some(k) = open.pop_front() {
                for &(j, to) in &edges[k] {
                    if let Some(to) = to.filter(|&to| !std::mem::replace(&mut seen[to], true)) {
                        tree[to] = Some(j);
                        open.push_back(to);
                    }
                }
            }
            // what nothing holds floats: its first body is a root
            while next < n && (seen[next] || self.moving(BodyId(next)).is_none()) {
                next += 1;
            }
            if next == n {
                return tree;
            }
            seen[next] = true;
            open.push_back(next);
        }
    }

    /// Joints that stay open, widest first, with how far, where these rows are left of their constraints: `("pin.x", 0.1)`. Lengths and angles in radians are
    /// taken together.
    pub fn open_joints<'r>(&self, rows: impl Iterator<Item = (&'r str, f64)>) -> Vec<(&str, f64)> {
        let mut open: Vec<(&str, f64)> = Vec::new();
        for (row, left) in rows {
            let name = row.rsplit_once('.').map_or(row, |(joint, _)| joint);
            let Some(joint) = self.joints().iter().find(|joint| joint.name == name) else { continue };
            match open.iter_mut().find(|(known, _)| *known == joint.name) {
                Some((_, gap)) => *gap = gap.hypot(left),
                None => open.push((&joint.name, left.abs())),
            }
        }
        open.sort_by(|a, b| b.1.total_cmp(&a.1));
        open
    }

    /// Bodies that nothing holds.
    pub fn free_bodies(&self) -> Vec<&str> {
        let on = || self.joints().iter().enumerate().filter(|(j, _)| self.is_on(*j));
        let held = |k: usize| on().any(|(_, joint)| joint.bodies.contains(&BodyId(k)));
        self.movers().filter(|(k, _)| !held(*k)).map(|(_, body)| body.name.as_str()).collect()
    }

    /// Joints whose axes have turned by more than a right angle against where they were drawn: false solutions of their O rows.
    pub fn flipped(&self, p: &[f64]) -> Vec<&str> {
        let (_, nv) = self.per_body();
        let view = self.view(0.0, p, &vec![0.0; nv * self.movers().count()]);
        let drawn = self.view(0.0, &self.positions(&[]), &vec![0.0; nv * self.movers().count()]);
        let mut flipped = Vec::new();
        for (j, joint) in self.joints().iter().enumerate() {
            let axis: &[usize] = match joint.kind {
                Kind::Revolute | Kind::Cylindrical | Kind::Screw { .. } | Kind::Planar | Kind::Parallel => &[2],
                Kind::Weld | Kind::Prismatic | Kind::Orientation => &[0, 1, 2],
                _ => &[],
            };
            let turned = |i: &usize| {
                let now = dot(view.pairs[j].axes[0][*i], view.pairs[j].axes[1][*i]);
                let before = dot(drawn.pairs[j].axes[0][*i], drawn.pairs[j].axes[1][*i]);
                now * before < 0.0
            };
            if !self.is_planar() && self.is_on(j) && axis.iter().any(turned) {
                flipped.push(joint.name.as_str());
            }
        }
        flipped
    }
}

/// Does a joint of this kind leave so little open that one body follows the other one?
fn carries(kind: &Kind) -> bool {
    !matches!(
        kind,
        Kind::Coupling { .. }
            | Kind::Rod
            | Kind::PointOnPlane
            | Kind::Parallel
            | Kind::Perpendicular
            | Kind::Orientation
            | Kind::KnifeEdge
    )
}
