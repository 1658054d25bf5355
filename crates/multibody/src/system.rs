//! A system of bodies, joints and forces, built once; what it needs to be is checked by [`System::finish`](crate::Assembled).

use crate::body::{Body, BodyId};
use crate::force::{Action, Force};
use crate::inertia::{self, BadInertia};
use crate::joint::block::Marker;
use crate::joint::{self, Coordinate, Joint, JointId, Kind};
use crate::vector::{IDENTITY, Matrix3, Vector, cross, dot, norm, sub, transposed, unit};
use daedal::motion::{Names, Sizes};
use std::collections::{HashMap, HashSet};

/// Bodies, joints and forces, as they are drawn.
#[derive(Clone, Debug)]
pub struct System {
    /// Acceleration of free fall.
    pub gravity: Vector<f64>,
    planar: bool,
    bodies: Vec<Body>,
    joints: Vec<Joint>,
    markers: Vec<[Marker; 2]>,
    forces: Vec<Force>,
    /// joints whose angle is a position of its own
    tracked: Vec<JointId>,
    /// number of a body among those that move
    moving: Vec<Option<usize>>,
    /// joints and forces that are drawn and do nothing
    off: (HashSet<usize>, HashSet<usize>),
}

impl Default for System {
    fn default() -> Self {
        System::new()
    }
}

impl System {
    /// Nothing, in space, with gravity (0, 0, −9.81).
    pub fn new() -> Self {
        System {
            gravity: [0.0, 0.0, -9.81],
            planar: false,
            bodies: Vec::new(),
            joints: Vec::new(),
            markers: Vec::new(),
            forces: Vec::new(),
            tracked: Vec::new(),
            moving: Vec::new(),
            off: Default::default(),
        }
    }

    /// Nothing, in the plane z = 0, with gravity (0, −9.81).
    pub fn in_plane() -> Self {
        System { gravity: [0.0, -9.81, 0.0], planar: true, ..System::new() }
    }

    /// One more body.
    pub fn body(&mut self, body: Body) -> BodyId {
        let number = self.moving.iter().flatten().count();
        self.moving.push((!body.fixed).then_some(number));
        self.bodies.push(body);
        BodyId(self.bodies.len() - 1)
    }

    /// One more point of a body, in world coordinates of the drawing; its number among the points of the body.
    pub fn point(&mut self, body: usize, name: &str, at: Vector<f64>) -> usize {
        let local = self.bodies[body].local(at);
        self.bodies[body].points.push((name.into(), local));
        self.bodies[body].points.len() - 1
    }

    /// One more joint; its bodies exist already.
    pub fn joint(&mut self, mut joint: Joint) -> JointId {
        match joint.of {
            Some(of) => {
                joint.bodies = self.joints[of.0].bodies;
                joint.points = self.joints[of.0].points;
                joint.frames = self.joints[of.0].frames;
                self.markers.push(self.markers[of.0]);
            }
            None => {
                if self.planar {
                    into_plane(&mut joint);
                }
                self.markers.push(self.markers_of(&joint));
            }
        }
        if let Kind::Coupling { joints, coordinates, .. } = joint.kind {
            for (joint, coordinate) in joints.into_iter().zip(coordinates) {
                if coordinate == Coordinate::Angle {
                    self.track_angle(joint);
                }
            }
        }
        self.joints.push(joint);
        JointId(self.joints.len() - 1)
    }

    /// One more force.
    pub fn force(&mut self, mut force: Force) {
        let local = |system: &System, body, at| system.local(body, at);
        match &mut force.action {
            Action::Spring { ends, .. } => ends.iter_mut().for_each(|(body, at)| *at = local(self, *body, *at)),
            Action::Wrench { body, point, .. } => *point = local(self, *body, *point),
            Action::Bushing { bodies, markers, .. } | Action::Contact { bodies, markers, .. } => {
                for k in 0..2 {
                    let R = self.rotation(bodies[k]);
                    markers[k].point = local(self, bodies[k], markers[k].point);
                    markers[k].frame = crate::vector::product(&transposed(&R), &markers[k].frame);
                }
            }
            Action::OnJoint { joint, coordinate, law } => {
                let needs_angle = match law {
                    crate::force::Law::Linear { stiffness, .. } => *stiffness != 0.0,
                    _ => true,
                };
                if *coordinate == Coordinate::Angle && needs_angle {
                    let joint = *joint;
                    self.track_angle(joint);
                }
            }
        }
        self.forces.push(force);
    }

    /// Let the angle of a joint be a position of its own, so that it counts turns. In a plane it counts them anyway.
    pub fn track_angle(&mut self, joint: JointId) {
        let has_angle = self.joints[joint.0].kind.coordinates().contains(&Coordinate::Angle);
        if !self.planar && has_angle && !self.tracked.contains(&joint) {
            self.tracked.push(joint);
        }
    }

    /// Let a joint have no rows. Its markers and coordinates stay, and so do drives and forces that refer to it.
    pub fn switch_off(&mut self, joint: JointId) {
        self.off.0.insert(joint.0);
    }
    /// Let a force do nothing.
    pub fn switch_off_force(&mut self, force: usize) {
        self.off.1.insert(force);
    }
    /// Does a joint hold?
    pub fn is_on(&self, joint: usize) -> bool {
        !self.off.0.contains(&joint)
    }
    /// Does a force act?
    pub fn acts(&self, force: usize) -> bool {
        !self.off.1.contains(&force)
    }

    /// Is it planar?
    pub fn is_planar(&self) -> bool {
        self.planar
    }
    /// All bodies.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }
    /// All joints.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }
    /// All forces.
    pub fn forces(&self) -> &[Force] {
        &self.forces
    }
    /// The markers of a joint.
    pub fn markers(&self, joint: usize) -> &[Marker; 2] {
        &self.markers[joint]
    }
    /// Joints whose angle is a position of its own, in the order of these positions.
    pub fn tracked(&self) -> &[JointId] {
        &self.tracked
    }
    /// The number of a body among those that move.
    pub fn moving(&self, body: BodyId) -> Option<usize> {
        body.number().and_then(|k| self.moving[k])
    }
    /// Bodies that move, in their order.
    pub fn movers(&self) -> impl Iterator<Item = (usize, &Body)> {
        self.bodies.iter().enumerate().filter(|(k, _)| self.moving[*k].is_some())
    }
    /// Positions and velocities of one body.
    pub fn per_body(&self) -> (usize, usize) {
        if self.planar { (3, 3) } else { (7, 6) }
    }

    /// Axes of a body in the drawing.
    pub fn rotation(&self, body: BodyId) -> Matrix3<f64> {
        body.number().map_or(IDENTITY, |k| self.bodies[k].rotation)
    }
    /// A point of the drawing in the coordinates of a body.
    pub fn local(&self, body: BodyId, at: Vector<f64>) -> Vector<f64> {
        body.number().map_or(at, |k| self.bodies[k].local(at))
    }
    /// The name of a body.
    pub fn name_of(&self, body: BodyId) -> &str {
        body.number().map_or("ground", |k| &self.bodies[k].name)
    }

    fn markers_of(&self, joint: &Joint) -> [Marker; 2] {
        joint::markers(joint, |body, at| self.local(body, at), |body| self.rotation(body))
    }

    /// How many variables of each kind, without states of force elements.
    pub fn sizes(&self) -> Sizes {
        let (n, (np, nv)) = (self.moving.iter().flatten().count(), self.per_body());
        let names = self.names();
        Sizes {
            positions: np * n + self.tracked.len(),
            velocities: nv * n,
            holonomic: names.holonomic.len(),
            nonholonomic: names.nonholonomic.len(),
            ..Sizes::default()
        }
    }

    /// Names of variables and rows: `rod.x`, `rod.q0`, `rod.vx`, `rod.omega.x`, `hinge.x`, `hinge.ry`.
    pub fn names(&self) -> Names {
        let mut names = Names::default();
        let (positions, velocities): (&[&str], &[&str]) = if self.planar {
            (&["x", "y", "phi"], &["vx", "vy", "omega"])
        } else {
            (&["x", "y", "z", "q0", "q1", "q2", "q3"], &["vx", "vy", "vz", "omega.x", "omega.y", "omega.z"])
        };
        for (_, body) in self.movers() {
            names.positions.extend(positions.iter().map(|key| format!("{}.{key}", body.name)));
            names.velocities.extend(velocities.iter().map(|key| format!("{}.{key}", body.name)));
        }
        names.positions.extend(self.tracked.iter().map(|j| format!("{}.angle", self.joints[j.0].name)));
        for (_, joint) in self.joints.iter().enumerate().filter(|(j, _)| self.is_on(*j)) {
            for (name, holonomic) in self.row_names(joint) {
                let rows = if holonomic { &mut names.holonomic } else { &mut names.nonholonomic };
                rows.push(format!("{}.{name}", joint.name));
            }
        }
        names
    }

    /// Names of the rows of a joint, and whether they are holonomic, in the order of `joint::rows`.
    fn row_names(&self, joint: &Joint) -> Vec<(&'static str, bool)> {
        if let Kind::Coupling { .. } = joint.kind {
            return vec![("coupling", true)];
        }
        let ground = crate::state::BodyState::<f64>::ground();
        let pair = joint::block::Pair::new([ground; 2], &[Marker { point: [0.0; 3], frame: IDENTITY }; 2]);
        let rows = if self.planar {
            joint::rows_in_plane(&joint.kind, &pair, 1.0, 0.0, 0.0, 0.0)
        } else {
            joint::rows(&joint.kind, &pair, 1.0, 0.0)
        };
        rows.into_iter().map(|row| (row.name, row.holonomic)).collect()
    }

    /// What is wrong with it, if anything.
    pub fn check(&self) -> Result<(), BadSystem> {
        let mut seen: HashSet<&str> = HashSet::new();
        let names = self.bodies.iter().map(|b| &b.name).chain(self.joints.iter().map(|j| &j.name));
        for name in names.chain(self.forces.iter().map(|f| &f.name).filter(|name| !name.is_empty())) {
            if name.is_empty() || !seen.insert(name) {
                return Err(BadSystem::Name { name: name.clone() });
            }
        }
        for (_, body) in self.movers() {
            check_body(body, self.planar)?;
        }
        for joint in &self.joints {
            self.check_joint(joint)?;
        }
        self.check_repetition()
    }

    fn check_joint(&self, joint: &Joint) -> Result<(), BadSystem> {
        let name = || joint.name.clone();
        if self.planar && !joint.kind.is_planar() {
            return Err(BadSystem::NotPlanar { joint: name(), kind: joint.kind.name() });
        }
        if let Kind::Coupling { joints, coordinates, .. } = &joint.kind {
            for (of, coordinate) in joints.iter().zip(coordinates) {
                self.check_coordinate(joint, *of, *coordinate)?;
            }
            return Ok(());
        }
        match (joint.of, &joint.kind) {
            (Some(of), Kind::Drive { coordinate, .. }) => self.check_coordinate(joint, of, *coordinate)?,
            (Some(of), Kind::Rate { coordinate: Coordinate::Travel, .. }) => {
                self.check_coordinate(joint, of, Coordinate::Travel)?;
            }
            _ => {}
        }
        if joint.bodies[0] == joint.bodies[1] {
            return Err(BadSystem::Itself { joint: name(), body: self.name_of(joint.bodies[0]).into() });
        }
        if joint.bodies.iter().all(|body| self.moving(*body).is_none()) {
            return Err(BadSystem::NothingMoves { joint: name() });
        }
        if joint.frames.iter().flatten().flatten().any(|x| !x.is_finite()) {
            return Err(BadSystem::NoDirection { joint: name() });
        }
        if let Kind::Universal | Kind::Perpendicular = joint.kind {
            let columns = transposed(&joint.frames[0]);
            let cosine = dot(columns[0], columns[1]);
            if cosine.abs() > 1e-9 {
                return Err(BadSystem::PinsNotNormal { joint: name(), angle: cosine.acos().to_degrees() });
            }
        }
        if let Kind::Rod = joint.kind
            && !(joint.length() > 0.0)
        {
            return Err(BadSystem::NoLength { joint: name() });
        }
        Ok(())
    }

    /// The same joint twice: of one kind, between the same bodies, at the same place.
    fn check_repetition(&self) -> Result<(), BadSystem> {
        let same = |joint: &Joint, other: &Joint| {
            std::mem::discriminant(&other.kind) == std::mem::discriminant(&joint.kind)
                && other.kind.prescribed() == joint.kind.prescribed()
                && norm(sub(other.points[0], joint.points[0])) + norm(sub(other.points[1], joint.points[1])) < 1e-12
                && norm(cross(transposed(&other.frames[0])[2], transposed(&joint.frames[0])[2])) < 1e-12
        };
        let mut between: HashMap<[Option<usize>; 2], Vec<usize>> = HashMap::new();
        for (k, joint) in self.joints.iter().enumerate() {
            if matches!(joint.kind, Kind::Coupling { .. }) || !self.is_on(k) {
                continue;
            }
            let mut bodies = joint.bodies.map(BodyId::number);
            bodies.sort_unstable();
            let before = between.entry(bodies).or_default();
            if let Some(first) = before.iter().map(|&j| &self.joints[j]).find(|first| same(joint, first)) {
                return Err(BadSystem::Twice { joint: joint.name.clone(), first: first.name.clone() });
            }
            before.push(k);
        }
        Ok(())
    }

    fn check_coordinate(&self, joint: &Joint, of: JointId, coordinate: Coordinate) -> Result<(), BadSystem> {
        let other = &self.joints[of.0];
        if other.kind.coordinates().contains(&coordinate) {
            return Ok(());
        }
        let coordinate = if coordinate == Coordinate::Angle { "angle" } else { "travel" };
        Err(BadSystem::NoCoordinate {
            joint: joint.name.clone(),
            of: other.name.clone(),
            kind: other.kind.name(),
            coordinate,
        })
    }
}

fn check_body(body: &Body, planar: bool) -> Result<(), BadSystem> {
    let name = || body.name.clone();
    if !(body.mass > 0.0) || !body.mass.is_finite() {
        return Err(BadSystem::NoMass { body: name(), mass: body.mass });
    }
    if planar {
        let J = body.inertia[2][2];
        return if J > 0.0 && J.is_finite() { Ok(()) } else { Err(BadSystem::NoExtent { body: name() }) };
    }
    if body.inertia.iter().flatten().all(|x| *x == 0.0) {
        return Err(BadSystem::NoExtent { body: name() });
    }
    inertia::check(&body.inertia).map_err(|cause| BadSystem::Inertia { body: name(), cause })
}

/// Axes of planar joints lie in the plane, or are normal to it.
fn into_plane(joint: &mut Joint) {
    joint.points.iter_mut().for_each(|at| at[2] = 0.0);
    let axis = transposed(&joint.frames[0])[2];
    match joint.kind {
        Kind::Prismatic | Kind::PointOnLine => joint.frames = [joint::frame_in_plane(Some(axis)); 2],
        Kind::RollingDisc { .. } => {
            let normal = unit([axis[0], axis[1], 0.0]).unwrap_or([0.0, 1.0, 0.0]);
            let along = cross(normal, [0.0, 0.0, 1.0]);
            joint.frames = [transposed(&[along, normal, [0.0, 0.0, 1.0]]); 2];
        }
        _ => joint.frames = [IDENTITY; 2],
    }
}

/// Why a system has no equations of motion.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadSystem {
    /// A name is missing or stands twice.
    #[error("the name `{name}` is empty or stands for two things: every body, joint and force has a name of its own")]
    Name {
        /// The name.
        name: String,
    },
    /// A body that moves needs a mass.
    #[error(
        "the mass of `{body}` is {mass}: a body that moves has a positive mass; give one, weld it into a neighbour, or use a `rod` joint for a massless link"
    )]
    NoMass {
        /// The body.
        body: String,
        /// Its mass.
        mass: f64,
    },
    /// A body that moves needs an inertia.
    #[error("`{body}` has mass without extent: give it a shape or an inertia")]
    NoExtent {
        /// The body.
        body: String,
    },
    /// No body has such an inertia.
    #[error("no body has the inertia of `{body}`: {cause}")]
    Inertia {
        /// The body.
        body: String,
        /// Why.
        cause: BadInertia,
    },
    /// A joint of a body with itself.
    #[error("the joint `{joint}` is between `{body}` and itself")]
    Itself {
        /// The joint.
        joint: String,
        /// The body.
        body: String,
    },
    /// Both bodies are part of the ground.
    #[error("the joint `{joint}` is between two things that do not move")]
    NothingMoves {
        /// The joint.
        joint: String,
    },
    /// An axis is zero.
    #[error("the axis of `{joint}` is zero: it has no direction")]
    NoDirection {
        /// The joint.
        joint: String,
    },
    /// A rod between one point and itself.
    #[error("the rod `{joint}` has no length: its two points are the same")]
    NoLength {
        /// The joint.
        joint: String,
    },
    /// Pins of a universal joint.
    #[error("the two axes of `{joint}` are at {angle:.3}°: they are normal to each other in the drawing")]
    PinsNotNormal {
        /// The joint.
        joint: String,
        /// Their angle in degrees.
        angle: f64,
    },
    /// The same joint stands twice.
    #[error("`{joint}` is the joint `{first}` once more: same kind, same bodies, same place; remove one of them")]
    Twice {
        /// The joint.
        joint: String,
        /// The one before it.
        first: String,
    },
    /// A joint of space in a plane.
    #[error("a planar model has no {kind} joint (`{joint}`)")]
    NotPlanar {
        /// The joint.
        joint: String,
        /// Its kind.
        kind: &'static str,
    },
    /// A joint does not have this coordinate.
    #[error("`{joint}` needs the {coordinate} of `{of}`, but a {kind} joint has none")]
    NoCoordinate {
        /// The joint.
        joint: String,
        /// The one it refers to.
        of: String,
        /// Its kind.
        kind: &'static str,
        /// Which.
        coordinate: &'static str,
    },
}

impl BadSystem {
    /// The body or joint that it is about.
    pub fn about(&self) -> &str {
        match self {
            BadSystem::Name { name } => name,
            BadSystem::NoMass { body, .. } | BadSystem::NoExtent { body } | BadSystem::Inertia { body, .. } => body,
            BadSystem::Itself { joint, .. }
            | BadSystem::NothingMoves { joint }
            | BadSystem::NoDirection { joint }
            | BadSystem::NoLength { joint }
            | BadSystem::PinsNotNormal { joint, .. }
            | BadSystem::Twice { joint, .. }
            | BadSystem::NotPlanar { joint, .. }
            | BadSystem::NoCoordinate { joint, .. } => joint,
        }
    }
}
