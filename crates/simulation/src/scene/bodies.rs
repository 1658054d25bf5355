//! The scene of bodies and joints: their shapes with a pose in each frame, joints by kind with their forces, springs and rods, planes that something
//! rolls or falls on.
//!
//! Poses are (x, y, z, q₀, q₁, q₂, q₃), or (x, y, φ) in a plane. Quaternions have length one, and q·q_next > 0: between two frames they are
//! interpolated linearly. Joint forces are those of least norm where joints are redundant, as everywhere.

use daedal::hybrid::HybridSolution;
use daedal::motion::{Form, Formulas, Layout, Outputs};
use daedal_model::{HybridModel, ModelKind};
use daedal_multibody::force::Action;
use daedal_multibody::joint::rolling;
use daedal_multibody::vector::{
    Vector, add, dot, frame_about, norm, product, quaternion_of, scale, sub, times, transposed,
};
use daedal_multibody::{BodyId, Form as BodyForm, Kind, Shape, System, View};
use daedal_run::{
    Anchor, Coordinate, DrawingKind, Pose, Scene, SceneBody, SceneDrawing, SceneForce, SceneJoint, SceneShape,
    ShapeKind, Stroke,
};

/// Joint forces are not shown of more bodies than these.
const MOST_FORCES: usize = 200;
/// Colours of bodies whose file gives none, one for each name without its indices.
const COLOURS: [&str; 8] = ["blue", "orange", "green", "purple", "teal", "yellow", "violet", "pink"];
/// A plane reaches further than what moves over it, by this part of the way.
const MARGIN: f64 = 0.3;

/// Bodies of a model, and who computes where they are.
pub struct DrawnBodies<'m> {
    system: &'m System,
    /// one for each mode
    places: Vec<StatePlaces<'m>>,
    /// joints whose forces are shown
    loaded: Vec<usize>,
    /// last quaternions
    before: Vec<[f64; 4]>,
}

/// Where positions, velocities and multipliers stand in a state.
struct StatePlaces<'m> {
    /// with the joints that hold there
    system: &'m System,
    p: Vec<usize>,
    v: Vec<usize>,
    multipliers: Multipliers,
}

/// λ and μ of a state.
enum Multipliers {
    /// Those of least norm.
    Computed(Box<Outputs>),
    /// As they stand there, while a system slides between modes.
    Places(Vec<Option<usize>>),
    /// No forces are shown.
    None,
}

impl<'m> StatePlaces<'m> {
    fn new(system: &'m System, formulas: &Formulas, loaded: bool) -> Self {
        let layout = Layout::new(formulas.sizes, Form::StrangenessFree, false);
        let multipliers = if loaded {
            let at = formulas.variables();
            let all = at.lambda().iter().chain(at.mu()).enumerate().map(|(k, e)| (format!("multiplier {k}"), *e));
            let outputs = Outputs::new(&Formulas { outputs: all.collect(), ..formulas.clone() });
            Multipliers::Computed(Box::new(outputs))
        } else {
            Multipliers::None
        };
        StatePlaces { system, p: layout.p().collect(), v: layout.v().collect(), multipliers }
    }

    /// In a mode that was generated, with these unknowns.
    fn named(systems: &[&'m System], unknowns: &[String]) -> Option<Self> {
        let place = |name: &String| unknowns.iter().position(|unknown| unknown == name);
        let all = |names: &[String]| names.iter().map(place).collect::<Option<Vec<usize>>>();
        let (system, names) = systems.iter().map(|system| (*system, system.names())).find(|(_, names)| {
            let mut rows = names.holonomic.iter().map(|row| format!("lambda.{row}"));
            rows.all(|row| unknowns.contains(&row))
        })?;
        let holonomic = names.holonomic.iter().map(|row| place(&format!("lambda.{row}")));
        let others = names.nonholonomic.iter().map(|row| place(&format!("mu.{row}")));
        let multipliers = Multipliers::Places(holonomic.chain(others).collect());
        Some(StatePlaces { system, p: all(&names.positions)?, v: all(&names.velocities)?, multipliers })
    }
}

impl<'m> DrawnBodies<'m> {
    /// Those of a model with these equations.
    pub fn new(system: &'m System, formulas: &Formulas) -> Self {
        let mut drawn = DrawnBodies::empty(system);
        drawn.places.push(StatePlaces::new(system, formulas, !drawn.loaded.is_empty()));
        drawn
    }

    /// Those of a model with modes.
    pub fn in_modes(model: &'m HybridModel, solution: &HybridSolution) -> Option<Self> {
        let mut systems = Vec::new();
        for mode in &model.modes {
            systems.push(mode.bodies.as_deref()?);
        }
        let mut drawn = DrawnBodies::empty(systems.first()?);
        for (k, mode) in solution.modes.iter().enumerate() {
            let own = model.modes.get(k).and_then(|mode| match &mode.kind {
                ModelKind::Motion { formulas, .. } => {
                    Some(StatePlaces::new(systems[k], formulas, !drawn.loaded.is_empty()))
                }
                _ => None,
            });
            drawn.places.push(own.or_else(|| StatePlaces::named(&systems, &mode.unknowns))?);
        }
        Some(drawn)
    }

    fn empty(system: &'m System) -> Self {
        let movers = system.movers().count();
        let all = 0..system.joints().len();
        let loaded: Vec<usize> =
            if movers <= MOST_FORCES { all.filter(|&j| holds(&system.joints()[j].kind)).collect() } else { Vec::new() };
        DrawnBodies { system, places: Vec::new(), loaded, before: vec![[0.0; 4]; movers] }
    }

    /// The drawing.
    pub fn system(&self) -> &System {
        self.system
    }

    /// How many numbers a frame has.
    pub fn columns(&self) -> usize {
        self.poses() + 6 * self.loaded.len()
    }

    /// How many of them are poses.
    fn poses(&self) -> usize {
        self.system.per_body().0 * self.before.len()
    }

    /// A frame: poses of the bodies that move, then the force of each joint and where it acts. Frames come one after another.
    pub fn frame(&mut self, mode: usize, t: f64, x: &[f64]) -> Vec<f64> {
        let poses = self.poses();
        let places = &mut self.places[mode];
        let at = |places: &[usize]| places.iter().map(|&k| x[k]).collect::<Vec<f64>>();
        let (p, v) = (at(&places.p), at(&places.v));
        let mut row = p[..poses].to_vec();
        if !self.system.is_planar() {
            for (pose, before) in row.chunks_exact_mut(7).zip(&mut self.before) {
                let q = &mut pose[3..];
                let sign = if q.iter().zip(&*before).map(|(a, b)| a * b).sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
                let length = sign * q.iter().map(|x| x * x).sum::<f64>().sqrt();
                for x in &mut *q {
                    *x /= length;
                }
                before.copy_from_slice(q);
            }
        }
        let multipliers = match &mut places.multipliers {
            Multipliers::Computed(outputs) => {
                let mut multipliers = vec![0.0; outputs.names().len()];
                outputs.evaluate(t, x, &mut multipliers);
                multipliers
            }
            Multipliers::Places(of) => of.iter().map(|place| place.map_or(0.0, |k| x[k])).collect(),
            Multipliers::None => return row,
        };
        let view = places.system.view(t, &p, &v);
        let forces = places.system.joint_forces(&view, &multipliers);
        for &j in &self.loaded {
            row.extend(forces[j][0]);
            row.extend(place(places.system, &view, j));
        }
        row
    }

    /// What is seen. The columns of the frames stand in the scene, from column `first` on.
    pub fn draw(&self, scene: &mut Scene, first: usize) {
        let system = self.system;
        scene.dimension = if system.is_planar() { 2 } else { 3 };
        let per_body = system.per_body().0;
        let mut families: Vec<&str> = Vec::new();
        for (k, body) in system.bodies().iter().enumerate() {
            let (pose, usual) = match system.moving(BodyId::of(k)) {
                Some(m) => {
                    let family = body.name.split('[').next().unwrap_or(&body.name);
                    let number = families.iter().position(|known| *known == family).unwrap_or_else(|| {
                        families.push(family);
                        families.len() - 1
                    });
                    let columns = (0..per_body).map(|c| first + per_body * m + c).collect();
                    (Pose::Columns(columns), COLOURS[number % COLOURS.len()])
                }
                None => (Pose::Fixed { at: body.at, rotation: body.quaternion() }, "grey"),
            };
            let color = Some(body.color.clone().unwrap_or_else(|| usual.into()));
            let shapes = body.shapes.iter().map(shape).collect();
            scene.bodies.push(SceneBody { name: body.name.clone(), pose, color, shapes });
        }
        for j in 0..system.joints().len() {
            let loaded = self.loaded.iter().position(|&k| k == j);
            self.joint(scene, j, loaded.map(|k| first + self.poses() + 6 * k), first);
        }
        for (k, force) in system.forces().iter().enumerate() {
            if self.places.iter().any(|places| !places.system.acts(k)) {
                continue;
            }
            match &force.action {
                Action::Spring { ends, .. } => {
                    let [from, to] = ends.map(|(body, point)| Anchor { body: body.number(), point });
                    scene.forces.push(SceneForce { name: force.name.clone(), kind: "spring".into(), from, to });
                }
                Action::Contact { bodies: [A, B], markers, .. } => {
                    let normal = transposed(&markers[0].frame)[2];
                    self.plane(scene, *A, (markers[0].point, normal), *B, first);
                }
                Action::OnJoint { .. } | Action::Bushing { .. } | Action::Wrench { .. } => {}
            }
        }
    }

    /// A joint in the frame of its first body. From column `loads` on stand the force on its second body and the place of it.
    fn joint(&self, scene: &mut Scene, j: usize, loads: Option<usize>, first: usize) {
        let (joint, [of_A, of_B]) = (&self.system.joints()[j], self.system.markers(j));
        let [A, B] = joint.bodies;
        let bodies = [A, B].map(BodyId::number);
        let (name, kind) = (joint.name.clone(), joint.kind.name().to_string());
        let ([e1, e2, e3], [b1, b2, b3]) = (transposed(&of_A.frame), transposed(&of_B.frame));
        let arrow = |scene: &mut Scene| {
            let Some(loads) = loads else { return };
            let column = |from| {
                (from..from + usize::from(scene.dimension)).map(|column| Coordinate::Column { column }).collect()
            };
            let mut arrow = SceneDrawing::new(DrawingKind::Arrow, vec![column(loads + 3)]);
            arrow.vector = Some(column(loads));
            scene.drawings.push(arrow);
        };
        // what comes and goes is seen by its force
        if self.places.iter().any(|places| !places.system.is_on(j)) {
            arrow(scene);
            return;
        }
        let (axis, second_axis) = match joint.kind {
            Kind::Rod => {
                let [from, to] =
                    [(bodies[0], of_A), (bodies[1], of_B)].map(|(body, at)| Anchor { body, point: at.point });
                scene.forces.push(SceneForce { name, kind, from, to });
                return;
            }
            Kind::RollingDisc { .. } | Kind::RollingSphere { .. } => {
                let normal = if self.system.is_planar() { e2 } else { e3 };
                self.plane(scene, A, (of_A.point, normal), B, first);
                // where it touches moves in both bodies
                arrow(scene);
                return;
            }
            Kind::Drive { .. } | Kind::Rate { .. } | Kind::Coupling { .. } => return,
            Kind::Parallel | Kind::Perpendicular | Kind::Orientation => return,
            Kind::Weld | Kind::Spherical => (None, None),
            Kind::Universal => (Some(e1), Some(b2)),
            Kind::ConstantVelocity => (Some(e3), Some(b3)),
            Kind::KnifeEdge => (Some(e3), Some(b1)),
            _ => (Some(e3), None),
        };
        let force = loads.map(|k| [k, k + 1, k + 2]);
        scene.joints.push(SceneJoint { name, kind, bodies, at: of_A.point, axis, second_axis, force });
    }

    /// A plane of the ground, as far as a body moves over it; planes of other bodies are seen by their shapes.
    fn plane(&self, scene: &mut Scene, of: BodyId, plane: (Vector<f64>, Vector<f64>), body: BodyId, first: usize) {
        let (Some(m), Some(k), None) = (self.system.moving(body), body.number(), self.system.moving(of)) else {
            return;
        };
        let (at, normal) = match of.number().map(|k| &self.system.bodies()[k]) {
            Some(fixed) => (fixed.drawn(plane.0), times(&fixed.rotation, plane.1)),
            None => plane,
        };
        let per_body = self.system.per_body().0;
        let column = first + per_body * m;
        let mut axes = transposed(&frame_about(normal));
        if self.system.is_planar() {
            // what does not move lies on the right of a line
            axes = [[normal[1], -normal[0], 0.0], [0.0, 0.0, -1.0], normal];
        }
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for frame in 0..scene.frames.t.len() {
            let mut x = [0.0; 3];
            (0..per_body.min(3)).for_each(|i| x[i] = scene.frames.columns[column + i][frame]);
            if self.system.is_planar() {
                x[2] = 0.0;
            }
            for i in 0..2 {
                let along = dot(axes[i], sub(x, at));
                (low[i], high[i]) = (low[i].min(along), high[i].max(along));
            }
        }
        let reach = self.system.bodies()[k].shapes.iter().map(|shape| radius(shape.form)).fold(0.0, f64::max);
        let margin = reach + MARGIN * (high[0] - low[0]).max(high[1] - low[1]);
        if !(margin > 0.0 && margin.is_finite()) {
            return;
        }
        if self.system.is_planar() {
            let end = |along: f64| add(at, scale(along, axes[0]))[..2].iter().map(|&x| Coordinate::Fixed(x)).collect();
            let mut line = SceneDrawing::new(DrawingKind::Line, vec![end(low[0] - margin), end(high[0] + margin)]);
            line.style = Stroke::Ground;
            scene.drawings.push(line);
            return;
        }
        let middle = [0, 1].map(|i| scale(0.5 * (low[i] + high[i]), axes[i]));
        let shapes = vec![SceneShape {
            kind: ShapeKind::Plane,
            size: [0, 1].map(|i| high[i] - low[i] + 2.0 * margin).to_vec(),
            at: [0.0; 3],
            rotation: [1.0, 0.0, 0.0, 0.0],
            vertices: None,
            triangles: None,
        }];
        let pose = Pose::Fixed { at: add(at, add(middle[0], middle[1])), rotation: quaternion_of(&transposed(&axes)) };
        scene.bodies.push(SceneBody { name: "plane".into(), pose, color: Some("grey".into()), shapes });
    }
}

/// Upward is against gravity, along the axis of the world that is next to it.
pub fn upward(system: &System) -> [f64; 3] {
    if system.is_planar() {
        return [0.0, 1.0, 0.0];
    }
    let mut best = 2;
    (0..2).for_each(|k| best = if system.gravity[k].abs() > system.gravity[best].abs() { k } else { best });
    let mut up = [0.0; 3];
    up[best] = if system.gravity[best] > 0.0 { -1.0 } else { 1.0 };
    up
}

/// Does a joint of this kind hold a place, so that its force can be drawn there?
fn holds(kind: &Kind) -> bool {
    !matches!(
        kind,
        Kind::Drive { .. }
            | Kind::Rate { .. }
            | Kind::Coupling { .. }
            | Kind::Parallel
            | Kind::Perpendicular
            | Kind::Orientation
            | Kind::Rod
    )
}

/// Where the force of a joint acts, in the world: at the marker of A, or where something rolls or slides.
fn place(system: &System, view: &View<f64>, j: usize) -> Vector<f64> {
    let pair = &view.pairs[j];
    let centre = add(pair.bodies[1].x, pair.rho[1]);
    match system.joints()[j].kind {
        // e₂ is the normal of a line
        Kind::RollingDisc { radius } if system.is_planar() => sub(centre, scale(radius, pair.axes[0][1])),
        Kind::RollingDisc { radius } => add(centre, rolling::arm(pair, radius)),
        Kind::RollingSphere { radius } => sub(centre, scale(radius, pair.axes[0][2])),
        Kind::PointOnLine | Kind::PointOnPlane => centre,
        _ => add(pair.bodies[0].x, pair.rho[0]),
    }
}

/// The shape of a body.
fn shape(of: &Shape) -> SceneShape {
    let (kind, size, turned) = match of.form {
        BodyForm::Box { size } => (ShapeKind::Box, size.to_vec(), of.rotation),
        BodyForm::Sphere { radius } => (ShapeKind::Sphere, vec![radius], of.rotation),
        BodyForm::Cylinder { radius, length, axis } => {
            // z is the axis of a cylinder in a scene
            let mut direction = [0.0; 3];
            direction[axis] = 1.0;
            (ShapeKind::Cylinder, vec![radius, length], product(&of.rotation, &frame_about(direction)))
        }
    };
    SceneShape { kind, size, at: of.at, rotation: quaternion_of(&turned), vertices: None, triangles: None }
}

/// How far a form reaches from its centre.
fn radius(form: BodyForm) -> f64 {
    match form {
        BodyForm::Box { size } => 0.5 * norm(size),
        BodyForm::Cylinder { radius, length, .. } => radius.hypot(0.5 * length),
        BodyForm::Sphere { radius } => radius,
    }
}
