//! From the tree to the tables of a model file: places in the world, welded links merged, movements as joints, springs and motors as forces.

use super::frame::{Frame, MassProperties};
use super::kinds;
use super::names::TakenNames;
use super::tree::{Holding, Link, LinkMovement, LinkTree, MovementId, MovementKind, Placed};
use super::write::{WrittenRobot, WrittenTable, WrittenValue, is_identity};
use super::xml::Log;
use crate::source::Span;
use daedal_multibody::vector::{norm, product, sub, transposed};
use daedal_multibody::{Coordinate, Shape, inertia};
use std::collections::HashMap;

/// Speed below which friction that is offered is smooth, in rad/s or m/s.
const SLIP: &str = "1e-3";
/// Loops are closed to so much of their size; files are written with few digits.
const CLOSED: f64 = 1e-9;

/// A movement as the model file calls it.
#[derive(Clone, Debug)]
pub(super) struct Called {
    pub joint: String,
    pub coordinate: Option<Coordinate>,
}

/// The work on one tree.
pub(super) struct Draftsman<'t> {
    pub tree: &'t LinkTree,
    pub log: &'t mut Log,
    pub names: TakenNames,
    pub drawing: WrittenRobot,
    placed: Vec<Placed>,
    /// The link whose body a link belongs to; none for parts of the ground.
    roots: Vec<Option<usize>>,
    /// Names of the bodies of links.
    bodies: Vec<String>,
    pub called: HashMap<MovementId, Called>,
    /// First bytes of all lines.
    lines: Vec<usize>,
}

/// The drawing of a tree.
pub(super) fn draw(tree: &mut LinkTree, text: &str, log: &mut Log) -> Option<WrittenRobot> {
    if let Err(k) = tree.pose() {
        let place = tree.couplings[k].place;
        log.refuse(
            place,
            "this joint follows itself through others",
            "in a circle",
            "let one joint of the circle be free",
        );
        return None;
    }
    let mut lines = vec![0];
    lines.extend(text.match_indices('\n').map(|(k, _)| k + 1));
    let mut roots: Vec<Option<usize>> = Vec::new();
    for (k, link) in tree.links.iter().enumerate() {
        roots.push(match link.holding {
            Holding::Welded => link.parent.and_then(|parent| roots[parent]),
            _ => Some(k),
        });
    }
    let placed = tree.placed(true);
    let drawing = WrittenRobot { gravity: tree.gravity, ..WrittenRobot::default() };
    let (names, called, bodies) = (TakenNames::default(), HashMap::new(), Vec::new());
    let mut draftsman = Draftsman { tree, log, names, drawing, placed, roots, bodies, called, lines };
    draftsman.bodies();
    draftsman.points();
    draftsman.joints();
    draftsman.couplings();
    draftsman.closures();
    draftsman.springs();
    draftsman.actuators();
    Some(draftsman.drawing)
}

impl Draftsman<'_> {
    /// `link "elbow", line 12`
    pub fn comment(&self, what: &str, name: Option<&str>, place: Span) -> String {
        let line = self.lines.partition_point(|start| *start <= place.start);
        match name {
            Some(name) => format!("{what} \"{name}\", line {line}"),
            None => format!("{what}, line {line}"),
        }
    }

    fn bodies(&mut self) {
        if !self.tree.scenery.is_empty() {
            let name = self.names.free("world", "body");
            let table = WrittenTable::new("shapes of the world".into()).text("name", name);
            let table = table
                .with("fixed", WrittenValue::Truth(true))
                .with("shapes", WrittenValue::Shapes(self.tree.scenery.clone()));
            self.drawing.bodies.push(table);
        }
        for (k, link) in self.tree.links.iter().enumerate() {
            let name = match (self.roots[k], &link.name) {
                // merged into the body of its root
                (Some(root), _) if root != k => self.bodies[root].clone(),
                (_, Some(name)) => self.names.take(self.log, name, "body"),
                (_, None) => self.names.free(&format!("{}_{}", self.tree.noun, k + 1), "body"),
            };
            self.bodies.push(name);
        }
        if !self.roots.iter().enumerate().any(|(k, root)| *root == Some(k)) {
            let (place, noun) = (self.tree.links.first().map_or(Span::default(), |link| link.place), self.tree.noun);
            self.log.refuse(
                place,
                "nothing moves",
                "nothing behind this moves",
                &format!("give a {noun} a joint that moves"),
            );
        }
        for k in 0..self.tree.links.len() {
            match self.roots[k] {
                None => self.fixed(k),
                Some(root) if root == k => self.moving(k),
                Some(_) => {}
            }
        }
    }

    fn fixed(&mut self, k: usize) {
        let (link, frame) = (&self.tree.links[k], &self.placed[k].frame);
        let table = WrittenTable::new(self.comment(self.tree.noun, link.name.as_deref(), link.place));
        let mut table = table.text("name", &self.bodies[k]).with("fixed", WrittenValue::Truth(true));
        if norm(frame.p) > 0.0 {
            table = table.with("at", WrittenValue::Vector(frame.p));
        }
        if !is_identity(&frame.R) {
            table = table.with("rotation", WrittenValue::Rotation(frame.R));
        }
        let shapes = link.shapes.iter().map(|shape| placed_shape(frame, shape)).collect();
        self.drawing.bodies.push(look(table, shapes, link.color.as_ref()));
    }

    fn moving(&mut self, root: usize) {
        let members: Vec<usize> = (root..self.tree.links.len()).filter(|k| self.roots[*k] == Some(root)).collect();
        let X = self.placed[root].frame;
        let mut masses = Vec::new();
        let mut shapes = Vec::new();
        for &k in &members {
            let (link, frame) = (&self.tree.links[k], &self.placed[k].frame);
            masses.extend(link.mass.map(|mass| if k == root { mass } else { mass.seen(&X.inverse().then(frame)) }));
            shapes.extend(link.shapes.iter().map(|shape| placed_shape(frame, shape)));
        }
        let mass = MassProperties::joined(&masses);
        self.check_mass(root, &masses, &mass);
        let link = &self.tree.links[root];
        let mut comment = self.comment(self.tree.noun, link.name.as_deref(), link.place);
        let merged: Vec<String> = members[1..].iter().filter_map(|k| self.tree.links[*k].name.clone()).collect();
        if !merged.is_empty() {
            comment = format!("{comment}, with {}", merged.join(", "));
        }
        if matches!(link.holding, Holding::Free) {
            comment.push_str("; nothing holds it");
        }
        let mut table = WrittenTable::new(comment)
            .text("name", &self.bodies[root])
            .with("mass", WrittenValue::Number(mass.mass))
            .with("at", WrittenValue::Vector(X.point(mass.centre)));
        if !is_identity(&X.R) {
            table = table.with("rotation", WrittenValue::Rotation(X.R));
        }
        table = table.with("inertia", WrittenValue::Inertia(mass.J));
        let color = members.iter().find_map(|k| self.tree.links[*k].color.as_ref());
        self.drawing.bodies.push(look(table, shapes, color));
    }

    /// A body that moves has a mass and an inertia that bodies can have.
    fn check_mass(&mut self, root: usize, parts: &[MassProperties], mass: &MassProperties) {
        let link = &self.tree.links[root];
        let name = link.name.clone().unwrap_or_else(|| self.bodies[root].clone());
        let (noun, place) = (self.tree.noun, link.place);
        if parts.is_empty() || !(mass.mass > 0.0) {
            self.log.refuse(
                place,
                format!("the {noun} `{name}` moves and has no mass"),
                "its mass is missing",
                "give it an `inertial` with mass and inertia, or fix it to its parent",
            );
        } else if mass.J.iter().flatten().all(|x| *x == 0.0) {
            self.log.refuse(
                place,
                format!("the {noun} `{name}` moves and has no inertia"),
                "a mass without extent",
                "give its `inertial` an inertia, or fix it to its parent",
            );
        } else if let Err(bad) = inertia::check(&mass.J) {
            let help = "moments of inertia are about the centre of mass, in kg m²; look for a wrong unit or axis";
            self.log.refuse(
                place,
                format!("no body has the inertia of the {noun} `{name}`: {bad}"),
                "its inertia",
                help,
            );
        }
    }

    fn points(&mut self) {
        for (k, link) in self.tree.links.iter().enumerate() {
            let Some(root) = self.roots[k] else { continue };
            let merged =
                link.name.as_ref().filter(|_| root != k).map(|name| (name, link.place, [0.0; 3], self.tree.noun));
            let sites = link.points.iter().map(|(name, place, at)| (name, *place, *at, "site"));
            for (name, place, at, what) in merged.into_iter().chain(sites) {
                let own = self.names.take(self.log, name, "point");
                let table = WrittenTable::new(self.comment(what, Some(name), place)).text("name", own);
                let at = WrittenValue::Vector(self.placed[k].frame.point(at));
                self.drawing.points.push(table.text("body", &self.bodies[root]).with("at", at));
            }
        }
    }

    fn joints(&mut self) {
        for (k, link) in self.tree.links.iter().enumerate() {
            let Holding::By(movements) = &link.holding else { continue };
            let freedoms: Vec<MovementKind> = movements.iter().map(|movement| movement.freedom).collect();
            let joint = match kinds::joint(&freedoms, &self.placed[k]) {
                Ok(joint) => joint,
                Err(why) => {
                    self.log.refuse(
                        movements.last().map_or(link.place, |last| last.place),
                        format!(
                            "the joints of `{}` are not one joint: {why}",
                            link.name.as_deref().unwrap_or(&self.bodies[k])
                        ),
                        "the last of them",
                        "give the parts between the joints as bodies, with a mass and an inertia",
                    );
                    continue;
                }
            };
            let called: Vec<&str> = movements.iter().filter_map(|movement| movement.name.as_deref()).collect();
            let name = match called.first() {
                Some(name) => self.names.take(self.log, name, "joint"),
                None => self.names.free(&format!("{}_joint", self.bodies[k]), "joint"),
            };
            for (number, coordinate) in joint.coordinates.iter().enumerate() {
                self.called.insert((k, number), Called { joint: name.clone(), coordinate: *coordinate });
            }
            let parent = link.parent.map_or("ground".to_string(), |parent| self.bodies[parent].clone());
            let mut comment = self.comment(
                "joint",
                (!called.is_empty()).then(|| called.join("\", \"")).as_deref(),
                movements[0].place,
            );
            for movement in movements.iter().filter(|movement| movement.drawn != 0.0) {
                comment = format!("{comment}; drawn at {}", super::write::number(movement.zero + movement.drawn, 0.0));
            }
            let mut table = WrittenTable::new(comment)
                .text("name", name)
                .text("kind", joint.kind)
                .with("between", WrittenValue::Words(vec![parent, self.bodies[k].clone()]))
                .with("at", WrittenValue::Vector(joint.at));
            match joint.axes[..] {
                [axis] => table = table.with("axis", WrittenValue::Vector(axis)),
                [first, second] => table = table.with("axes", WrittenValue::Vectors([first, second])),
                _ => {}
            }
            self.drawing.joints.push(table);
        }
    }

    /// The name of the body of a link, or of the ground.
    fn body_of(&self, link: Option<usize>) -> String {
        link.map_or("ground".to_string(), |k| self.bodies[k].clone())
    }

    fn closures(&mut self) {
        let shown = self.tree.placed(false);
        for (number, closure) in self.tree.closures.iter().enumerate() {
            let frame = |of: &[Placed], k: Option<usize>| k.map_or(Frame::IDENTITY, |k| of[k].frame);
            let [(A, s), (B, r)] = closure.ends;
            let (at, other) = (frame(&self.placed, A).point(s), frame(&self.placed, B).point(r));
            let relative = |of: &[Placed]| product(&transposed(&frame(of, A).R), &frame(of, B).R);
            let turned = (0..3).any(|i| norm(sub(relative(&shown)[i], relative(&self.placed)[i])) > CLOSED);
            let gap = norm(sub(at, other));
            if gap > CLOSED * (1.0 + norm(at)) || (closure.weld && turned) {
                self.log.refuse(
                    closure.place,
                    format!("this loop is not closed where it is drawn: its ends are {gap:.3e} apart"),
                    "open",
                    "draw the bodies in a position in which all loops are closed",
                );
                continue;
            }
            let [first, second] = [A, B].map(|link| self.body_of(link));
            if first == second {
                self.log.refuse(
                    closure.place,
                    format!("both ends of this loop are on `{first}`"),
                    "one body",
                    "delete it",
                );
                continue;
            }
            let kind = if closure.weld { "weld" } else { "spherical" };
            let name = match &closure.name {
                Some(name) => self.names.take(self.log, name, "loop"),
                None => self.names.free(&format!("loop_{}", number + 1), "joint"),
            };
            let table = WrittenTable::new(self.comment(
                &format!("equality {}", if closure.weld { "weld" } else { "connect" }),
                closure.name.as_deref(),
                closure.place,
            ));
            let table =
                table.text("name", name).text("kind", kind).with("between", WrittenValue::Words(vec![first, second]));
            self.drawing.joints.push(table.with("at", WrittenValue::Vector(at)));
        }
    }

    fn springs(&mut self) {
        for (k, link) in self.tree.links.iter().enumerate() {
            let Holding::By(movements) = &link.holding else { continue };
            for (number, movement) in movements.iter().enumerate() {
                if let Some(called) = self.called.get(&(k, number)).cloned() {
                    self.spring(link, k, movement, &called);
                }
            }
        }
    }

    fn spring(&mut self, link: &Link, k: usize, movement: &LinkMovement, called: &Called) {
        let comment = |what: &str| format!("{what} of the joint `{}`", called.joint);
        if movement.friction != 0.0 {
            self.log.note("dry friction of joints is off; it stands in the file as a comment");
        }
        if let Some(coordinate) = called.coordinate {
            let about = coordinate == Coordinate::Angle;
            let kind = if about { "torsion" } else { "linear" };
            if movement.stiffness != 0.0 || movement.damping != 0.0 {
                let what = if movement.stiffness == 0.0 { "damper" } else { "spring" };
                let mut table = WrittenTable::new(comment(what)).text("kind", kind).text("joint", &called.joint);
                if movement.stiffness != 0.0 {
                    table = table.with("stiffness", WrittenValue::Number(movement.stiffness));
                    let rest = movement.rest - movement.zero - movement.drawn;
                    if rest != 0.0 {
                        table = table.with(if about { "angle" } else { "travel" }, WrittenValue::Number(rest));
                    }
                }
                if movement.damping != 0.0 {
                    table = table.with("damping", WrittenValue::Number(movement.damping));
                }
                self.drawing.forces.push(table);
            }
            if movement.friction != 0.0 {
                let (key, rate) = if about { ("torque", "rate") } else { ("force", "speed") };
                let law = format!("-{}*tanh({rate}/{SLIP})", super::write::number(movement.friction, 0.0));
                let text = format!("{}, smooth below {SLIP}, is off", comment("dry friction"));
                let table = WrittenTable::new(text).text("kind", kind).text("joint", &called.joint).text(key, law);
                self.drawing.forces.push(WrittenTable { off: true, ..table });
            }
            return;
        }
        if movement.freedom == MovementKind::Ball && movement.stiffness == 0.0 {
            if movement.damping != 0.0 {
                let parent = self.body_of(link.parent);
                let table = WrittenTable::new(comment("damper")).text("kind", "bushing");
                let table = table.with("between", WrittenValue::Words(vec![parent, self.bodies[k].clone()]));
                let at = WrittenValue::Vector(self.placed[k].movements[0].0);
                let damping = WrittenValue::Vector([movement.damping; 3]);
                self.drawing.forces.push(table.with("at", at).with("rotational_damping", damping));
            }
            return;
        }
        if movement.stiffness != 0.0 || movement.damping != 0.0 {
            self.log.refuse(
                movement.place,
                "this joint has a spring or a damper and no coordinate of its own in the model file",
                "with stiffness or damping",
                "give the parts between the joints as bodies, or delete its stiffness and damping and write [[forces]] after the import",
            );
        }
    }
}

/// A shape of a link, in the world.
fn placed_shape(frame: &Frame, shape: &Shape) -> Shape {
    let X = frame.then(&Frame { R: shape.rotation, p: shape.at });
    Shape { form: shape.form, at: X.p, rotation: X.R }
}

/// Shapes and colour of a body.
fn look(mut table: WrittenTable, shapes: Vec<Shape>, color: Option<&String>) -> WrittenTable {
    if let Some(color) = color {
        table = table.text("color", color);
    }
    if !shapes.is_empty() {
        table = table.with("shapes", WrittenValue::Shapes(shapes));
    }
    table
}
