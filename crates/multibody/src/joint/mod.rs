//! Joints: what two bodies cannot do to each other.
//!
//! | kind | rows | equations (e of A, b of B; e₃ is the axis) |
//! | --- | --- | --- |
//! | weld | 6 | P(e₁, e₂, e₃); O(e₁,b₂), O(e₂,b₃), O(e₃,b₁) |
//! | revolute, spherical | 5, 3 | P ×3; O(e₁,b₃), O(e₂,b₃) |
//! | cylindrical, prismatic | 4, 5 | P(e₁), P(e₂); O(e₁,b₃), O(e₂,b₃); O(e₁,b₂) |
//! | screw | 5 | cylindrical and Θ, κ = lead/2π |
//! | universal, constant velocity | 4 | P ×3; O(pin of A, pin of B) or e₁·b₂ − e₂·b₁ = 0 |
//! | planar, point on line, point on plane | 3, 2, 1 | P(e₃), O(e₁,b₃), O(e₂,b₃); P(e₁), P(e₂); P(e₃) |
//! | parallel, perpendicular, orientation | 2, 1, 3 | O only |
//! | rod | 1 | L |
//! | drive, rate | 1 | Θ or T with a function of t; e₃·(w_B − w_A) = Ω(t) |
//! | gear, rack, coupler | 1 | joint coordinates c₂ = F(c₁) |
//! | rolling, knife edge | 1 + 2, 1 | [`rolling`] |
//!
//! O rows have false solutions, turned by 180°: a motion never reaches them, an assembly may.

pub mod block;
pub mod rolling;

use crate::body::BodyId;
use crate::law::Function;
use crate::vector::{IDENTITY, Matrix3, Vector, about, cross, dot, frame_about, norm, product, sub, transposed, unit};
use block::{Marker, Pair, Row};
use daedal::scalar::Scalar;

/// A joint of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JointId(pub(crate) usize);

impl JointId {
    /// The joint of this number.
    pub fn of(number: usize) -> Self {
        JointId(number)
    }
    /// Its number among the joints.
    pub fn number(self) -> usize {
        self.0
    }
}

/// Which coordinate of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coordinate {
    /// θ about e₃.
    Angle,
    /// s along e₃.
    Travel,
}

/// What a joint is.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the names of the table above
pub enum Kind {
    Weld,
    Revolute,
    Spherical,
    Cylindrical,
    Prismatic,
    Screw { lead: f64 },
    Universal,
    ConstantVelocity,
    Planar,
    PointOnLine,
    PointOnPlane,
    Parallel,
    Perpendicular,
    Orientation,
    Rod,
    Drive { coordinate: Coordinate, law: Function },
    Rate { coordinate: Coordinate, law: Function },
    Coupling { joints: [JointId; 2], coordinates: [Coordinate; 2], law: Function },
    RollingDisc { radius: f64 },
    RollingSphere { radius: f64 },
    KnifeEdge,
}

impl Kind {
    /// As it is called in model files.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Weld => "weld",
            Kind::Revolute => "revolute",
            Kind::Spherical => "spherical",
            Kind::Cylindrical => "cylindrical",
            Kind::Prismatic => "prismatic",
            Kind::Screw { .. } => "screw",
            Kind::Universal => "universal",
            Kind::ConstantVelocity => "constant-velocity",
            Kind::Planar => "planar",
            Kind::PointOnLine => "point-on-line",
            Kind::PointOnPlane => "point-on-plane",
            Kind::Parallel => "parallel",
            Kind::Perpendicular => "perpendicular",
            Kind::Orientation => "orientation",
            Kind::Rod => "rod",
            Kind::Drive { .. } => "drive",
            Kind::Rate { .. } => "rate",
            Kind::Coupling { .. } => "coupler",
            Kind::RollingDisc { .. } | Kind::RollingSphere { .. } => "rolling",
            Kind::KnifeEdge => "knife-edge",
        }
    }

    /// The coordinates that this joint leaves free, as far as they have names.
    pub fn coordinates(&self) -> &'static [Coordinate] {
        match self {
            Kind::Revolute | Kind::Planar => &[Coordinate::Angle],
            Kind::Prismatic | Kind::PointOnLine => &[Coordinate::Travel],
            Kind::Cylindrical | Kind::Screw { .. } => &[Coordinate::Angle, Coordinate::Travel],
            _ => &[],
        }
    }

    /// The coordinate that it prescribes.
    pub(crate) fn prescribed(&self) -> Option<Coordinate> {
        match self {
            Kind::Drive { coordinate, .. } | Kind::Rate { coordinate, .. } => Some(*coordinate),
            _ => None,
        }
    }

    /// Does it exist in a planar model?
    pub fn is_planar(&self) -> bool {
        matches!(
            self,
            Kind::Weld
                | Kind::Revolute
                | Kind::Prismatic
                | Kind::PointOnLine
                | Kind::Rod
                | Kind::Drive { .. }
                | Kind::Rate { .. }
                | Kind::Coupling { .. }
                | Kind::RollingDisc { .. }
        )
    }
}

/// A joint as it is drawn: points and frames of both markers in world coordinates.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// A and B.
    pub bodies: [BodyId; 2],
    /// Points of the drawing.
    pub points: [Vector<f64>; 2],
    /// Frames of the drawing, axes as columns.
    pub frames: [Matrix3<f64>; 2],
    /// A drive or a rate of another joint takes its markers.
    pub of: Option<JointId>,
}

impl Joint {
    fn new(kind: Kind, at: Vector<f64>, frame: Matrix3<f64>) -> Self {
        let ground = crate::body::GROUND;
        Joint { name: String::new(), kind, bodies: [ground; 2], points: [at; 2], frames: [frame; 2], of: None }
    }
    fn about_axis(kind: Kind, at: Vector<f64>, axis: Vector<f64>) -> Self {
        // an axis without direction is told by `System::finish`
        Joint::new(kind, at, unit(axis).map_or([[f64::NAN; 3]; 3], frame_about))
    }

    /// Nothing moves.
    pub fn weld(at: Vector<f64>) -> Self {
        Joint::new(Kind::Weld, at, IDENTITY)
    }
    /// A hinge.
    pub fn revolute(at: Vector<f64>, axis: Vector<f64>) -> Self {
        Joint::about_axis(Kind::Revolute, at, axis)
    }
    /// A ball in its socket.
    pub fn spherical(at: Vector<f64>) -> Self {
        Joint::new(Kind::Spherical, at, IDENTITY)
    }
    /// Turns about and slides along an axis.
    pub fn cylindrical(at: Vector<f64>, axis: Vector<f64>) -> Self {
        Joint::about_axis(Kind::Cylindrical, at, axis)
    }
    /// Slides along an axis.
    pub fn prismatic(at: Vector<f64>, axis: Vector<f64>) -> Self {
        Joint::about_axis(Kind::Prismatic, at, axis)
    }
    /// Slides by its lead with every turn.
    pub fn screw(at: Vector<f64>, axis: Vector<f64>, lead: f64) -> Self {
        Joint::about_axis(Kind::Screw { lead }, at, axis)
    }
    /// Hooke's joint: a pin in each body, normal to each other.
    pub fn universal(at: Vector<f64>, pins: [Vector<f64>; 2]) -> Self {
        let frame = unit(pins[0]).zip(unit(pins[1])).map_or([[f64::NAN; 3]; 3], |(a, b)| {
            // pins that are not normal to each other are told by `System::finish`
            transposed(&[a, b, cross(a, b)])
        });
        Joint::new(Kind::Universal, at, frame)
    }
    /// A homokinetic joint between two shafts.
    pub fn constant_velocity(at: Vector<f64>, shafts: [Vector<f64>; 2]) -> Self {
        let mut joint = Joint::about_axis(Kind::ConstantVelocity, at, shafts[0]);
        joint.frames[1] = match unit(shafts[0]).zip(unit(shafts[1])) {
            Some((a, b)) => {
                let angle = norm(cross(a, b)).atan2(dot(a, b));
                let turn = unit(cross(a, b)).map_or(IDENTITY, |axis| about(axis, angle));
                product(&turn, &joint.frames[0])
            }
            None => [[f64::NAN; 3]; 3],
        };
        joint
    }
    /// A plane of B stays in a plane of A.
    pub fn planar(at: Vector<f64>, normal: Vector<f64>) -> Self {
        Joint::about_axis(Kind::Planar, at, normal)
    }
    /// A point of B stays on a line of A.
    pub fn point_on_line(at: Vector<f64>, axis: Vector<f64>) -> Self {
        Joint::about_axis(Kind::PointOnLine, at, axis)
    }
    /// A point of B stays in a plane of A.
    pub fn point_on_plane(at: Vector<f64>, normal: Vector<f64>) -> Self {
        Joint::about_axis(Kind::PointOnPlane, at, normal)
    }
    /// An axis keeps its direction in both bodies.
    pub fn parallel(axis: Vector<f64>) -> Self {
        Joint::about_axis(Kind::Parallel, [0.0; 3], axis)
    }
    /// An axis of A and one of B stay normal to each other.
    pub fn perpendicular(axes: [Vector<f64>; 2]) -> Self {
        Joint { kind: Kind::Perpendicular, ..Joint::universal([0.0; 3], axes) }
    }
    /// No rotation.
    pub fn orientation() -> Self {
        Joint::new(Kind::Orientation, [0.0; 3], IDENTITY)
    }
    /// A massless rod between a point of A and one of B.
    pub fn rod(from: Vector<f64>, to: Vector<f64>) -> Self {
        Joint { points: [from, to], ..Joint::new(Kind::Rod, from, IDENTITY) }
    }
    /// The angle of a joint is a function of time, from where it is drawn.
    pub fn drive_angle(joint: JointId, law: Function) -> Self {
        let kind = Kind::Drive { coordinate: Coordinate::Angle, law };
        Joint { of: Some(joint), ..Joint::new(kind, [0.0; 3], IDENTITY) }
    }
    /// The travel of a joint is a function of time.
    pub fn drive_travel(joint: JointId, law: Function) -> Self {
        let kind = Kind::Drive { coordinate: Coordinate::Travel, law };
        Joint { of: Some(joint), ..Joint::new(kind, [0.0; 3], IDENTITY) }
    }
    /// The rate of the angle of a joint is a function of time, whatever the angle is.
    pub fn rate(joint: JointId, law: Function) -> Self {
        let kind = Kind::Rate { coordinate: Coordinate::Angle, law };
        Joint { of: Some(joint), ..Joint::new(kind, [0.0; 3], IDENTITY) }
    }
    /// The speed of the travel of a joint is a function of time, wherever it is.
    pub fn speed(joint: JointId, law: Function) -> Self {
        let kind = Kind::Rate { coordinate: Coordinate::Travel, law };
        Joint { of: Some(joint), ..Joint::new(kind, [0.0; 3], IDENTITY) }
    }
    /// θ₂ = ratio θ₁.
    pub fn gear(joints: [JointId; 2], ratio: f64) -> Self {
        Joint::coupler(joints, [Coordinate::Angle; 2], Function::linear(ratio))
    }
    /// A pinion and its rack on one carrier: θ = s/radius.
    pub fn rack(pinion: JointId, rack: JointId, radius: f64) -> Self {
        Joint::coupler([pinion, rack], [Coordinate::Angle, Coordinate::Travel], Function::linear(radius))
    }
    /// The coordinate of the second joint is a function of that of the first.
    pub fn coupler(joints: [JointId; 2], coordinates: [Coordinate; 2], law: Function) -> Self {
        Joint::new(Kind::Coupling { joints, coordinates, law }, [0.0; 3], IDENTITY)
    }
    /// A thin disc, with its centre and axis, that rolls on a plane of A.
    pub fn rolling_disc(
        plane: (Vector<f64>, Vector<f64>),
        centre: Vector<f64>,
        axis: Vector<f64>,
        radius: f64,
    ) -> Self {
        let mut joint = Joint::about_axis(Kind::RollingDisc { radius }, plane.0, plane.1);
        joint.points[1] = centre;
        joint.frames[1] = unit(axis).map_or([[f64::NAN; 3]; 3], frame_about);
        joint
    }
    /// A ball that rolls on a plane of A.
    pub fn rolling_sphere(plane: (Vector<f64>, Vector<f64>), centre: Vector<f64>, radius: f64) -> Self {
        let mut joint = Joint::about_axis(Kind::RollingSphere { radius }, plane.0, plane.1);
        joint.points[1] = centre;
        joint
    }
    /// A blade in B, at a point, that moves only along itself on planes with this normal in A.
    pub fn knife_edge(at: Vector<f64>, blade: Vector<f64>, normal: Vector<f64>) -> Self {
        let mut joint = Joint::about_axis(Kind::KnifeEdge, at, normal);
        joint.frames[1] = unit(blade).map_or([[f64::NAN; 3]; 3], |b| {
            let third = crate::vector::normal_to(b);
            transposed(&[b, cross(third, b), third])
        });
        joint
    }

    /// Between which bodies; forces are told as those of A on B.
    pub fn between(mut self, A: BodyId, B: BodyId) -> Self {
        self.bodies = [A, B];
        self
    }

    /// Its name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The length of a rod.
    pub fn length(&self) -> f64 {
        norm(sub(self.points[1], self.points[0]))
    }
}

/// A row with its name.
#[derive(Clone, Copy, Debug)]
pub struct NamedRow<S> {
    /// `x`, `y`, `z` along the axes of A's marker, `rx`, `ry`, `rz` against rotations about them.
    pub name: &'static str,
    /// Is it the derivative of g?
    pub holonomic: bool,
    /// The row.
    pub row: Row<S>,
}

fn holonomic<S>(name: &'static str, row: Row<S>) -> NamedRow<S> {
    NamedRow { name, holonomic: true, row }
}
fn nonholonomic<S>(name: &'static str, row: Row<S>) -> NamedRow<S> {
    NamedRow { name, holonomic: false, row }
}

/// The rows of a joint in space; transmissions have theirs from `System`.
pub fn rows<S: Scalar>(kind: &Kind, pair: &Pair<S>, length: f64, t: S) -> Vec<NamedRow<S>> {
    let at = |axes: &[usize]| axes.iter().map(|&i| holonomic(["x", "y", "z"][i], pair.along(i))).collect::<Vec<_>>();
    // O(e₁,b₃) holds rotations about e₂, O(e₂,b₃) those about e₁, O(e₁,b₂) those about e₃
    let tilts = || [holonomic("ry", pair.angle_between(0, 2)), holonomic("rx", pair.angle_between(1, 2))];
    let orientation = || {
        let [z, x, y] = [pair.angle_between(0, 1), pair.angle_between(1, 2), pair.angle_between(2, 0)];
        [holonomic("rz", z), holonomic("rx", x), holonomic("ry", y)]
    };
    let zero = [S::from(0.0); 3];
    match kind {
        Kind::Weld => [at(&[0, 1, 2]), orientation().to_vec()].concat(),
        Kind::Revolute => [at(&[0, 1, 2]), tilts().to_vec()].concat(),
        Kind::Spherical => at(&[0, 1, 2]),
        Kind::Cylindrical => [at(&[0, 1]), tilts().to_vec()].concat(),
        Kind::Prismatic => [at(&[0, 1]), tilts().to_vec(), vec![holonomic("rz", pair.angle_between(0, 1))]].concat(),
        Kind::Screw { lead } => {
            let lead = std::f64::consts::TAU / lead;
            [at(&[0, 1]), tilts().to_vec(), vec![holonomic("screw", pair.turned(lead, zero))]].concat()
        }
        Kind::Universal => [at(&[0, 1, 2]), vec![holonomic("rz", pair.angle_between(0, 1))]].concat(),
        Kind::ConstantVelocity => {
            let row = pair.angle_between(0, 1).plus(pair.angle_between(1, 0).times(-1.0));
            [at(&[0, 1, 2]), vec![holonomic("rz", row)]].concat()
        }
        Kind::Planar => [at(&[2]), tilts().to_vec()].concat(),
        Kind::PointOnLine => at(&[0, 1]),
        Kind::PointOnPlane => at(&[2]),
        Kind::Parallel => tilts().to_vec(),
        Kind::Perpendicular => vec![holonomic("rz", pair.angle_between(0, 1))],
        Kind::Orientation => orientation().to_vec(),
        Kind::Rod => vec![holonomic("length", pair.distance(length))],
        Kind::Drive { coordinate: Coordinate::Angle, law } => {
            vec![holonomic("rz", pair.turned(0.0, law.evaluate(t)))]
        }
        Kind::Drive { coordinate: Coordinate::Travel, law } => vec![holonomic("z", prescribed(pair.along(2), law, t))],
        Kind::Rate { coordinate, law } => vec![rate(pair, *coordinate, law, t, pair.axes[0][2])],
        Kind::Coupling { .. } => Vec::new(),
        Kind::RollingDisc { radius } | Kind::RollingSphere { radius } => {
            let ([normal], [first, second]) = match kind {
                Kind::RollingDisc { .. } => rolling::disc(pair, *radius),
                _ => rolling::sphere(pair, *radius),
            };
            vec![holonomic("z", normal), nonholonomic("x", first), nonholonomic("y", second)]
        }
        Kind::KnifeEdge => vec![nonholonomic("across", rolling::knife_edge(pair))],
    }
}

/// The rows of a joint in a plane; `turned` is the angle of B against A, from where they are drawn.
pub fn rows_in_plane<S: Scalar>(
    kind: &Kind,
    pair: &Pair<S>,
    length: f64,
    t: S,
    turned: S,
    start: f64,
) -> Vec<NamedRow<S>> {
    let z = crate::vector::constant([0.0, 0.0, 1.0]);
    let at = |axes: &[usize]| axes.iter().map(|&i| holonomic(["x", "y", "z"][i], pair.along(i))).collect::<Vec<_>>();
    let angle = || Row { g: turned, ..pair.turning(z) };
    match kind {
        Kind::Weld => [at(&[0, 1]), vec![holonomic("rz", angle())]].concat(),
        Kind::Revolute => at(&[0, 1]),
        // e₃ lies in the plane, e₁ is normal to it there
        Kind::Prismatic => [at(&[0]), vec![holonomic("rz", angle())]].concat(),
        Kind::PointOnLine => at(&[0]),
        Kind::Rod => vec![holonomic("length", pair.distance(length))],
        Kind::Drive { coordinate: Coordinate::Angle, law } => vec![holonomic("rz", prescribed(angle(), law, t))],
        Kind::Drive { coordinate: Coordinate::Travel, law } => vec![holonomic("z", prescribed(pair.along(2), law, t))],
        Kind::Rate { coordinate, law } => vec![rate(pair, *coordinate, law, t, z)],
        Kind::RollingDisc { radius } => {
            let [normal, rolled] = rolling::wheel(pair, *radius, turned, start);
            vec![holonomic("y", normal), holonomic("x", rolled)]
        }
        _ => Vec::new(),
    }
}

/// **T**: a row minus a function of time.
fn prescribed<S: Scalar>(row: Row<S>, law: &Function, t: S) -> Row<S> {
    let [value, rate, acceleration] = law.evaluate(t);
    Row { g: row.g - value, k0: row.k0 - rate, gamma: row.gamma - acceleration, ..row }
}

fn rate<S: Scalar>(pair: &Pair<S>, coordinate: Coordinate, law: &Function, t: S, axis: Vector<S>) -> NamedRow<S> {
    let [rate, acceleration, _] = law.evaluate(t);
    let (name, row) = match coordinate {
        Coordinate::Angle => ("rz", pair.turning(axis)),
        Coordinate::Travel => ("z", pair.along(2)),
    };
    nonholonomic(name, Row { k0: -rate, gamma: row.gamma - acceleration, ..row })
}

/// The frame of a joint in a plane: e₃ is the axis, where it lies in the plane; otherwise z.
pub(crate) fn frame_in_plane(axis: Option<Vector<f64>>) -> Matrix3<f64> {
    let z = [0.0, 0.0, 1.0];
    match axis.and_then(|axis| unit([axis[0], axis[1], 0.0])) {
        Some(axis) => transposed(&[cross(z, axis), z, axis]),
        None => IDENTITY,
    }
}

/// The markers of a joint, in the coordinates of its bodies.
pub(crate) fn markers(
    joint: &Joint,
    local: impl Fn(BodyId, Vector<f64>) -> Vector<f64>,
    rotation: impl Fn(BodyId) -> Matrix3<f64>,
) -> [Marker; 2] {
    [0, 1].map(|k| Marker {
        point: local(joint.bodies[k], joint.points[k]),
        frame: product(&transposed(&rotation(joint.bodies[k])), &joint.frames[k]),
    })
}
