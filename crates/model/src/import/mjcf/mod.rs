//! MJCF: `<mujoco>` with bodies inside of bodies, classes of defaults, loops by `<equality>`.

mod actuator;
mod class;
mod equality;
mod geom;
mod joint;
mod orientation;
mod settings;

use super::Base;
use super::frame::{Frame, MassProperties};
use super::tree::{Holding, Link, LinkMovement, LinkTree, MovementId};
use super::xml::{Element, Log, elements, place};
use crate::diagnostic::Mistake;
use crate::source::Span;
use class::DefaultClasses;
use daedal_multibody::vector::Vector;
use geom::Weighing;
use roxmltree::Node;
use settings::CompilerSettings;
use std::collections::HashMap;

/// Elements that make another motion than the rest of the file, with what to try instead.
const REFUSED: [(&str, &str); 9] = [
    ("include", "let MuJoCo write one file: mj_saveLastXML"),
    ("replicate", "let MuJoCo write it out: mj_saveLastXML"),
    ("attach", "let MuJoCo write it out: mj_saveLastXML"),
    ("composite", "write its bodies one by one"),
    ("flexcomp", "bodies are rigid; chain links by springs"),
    ("flex", "bodies are rigid; chain links by springs"),
    ("plugin", "describe what it does by forces of the model file"),
    ("tendon", "delete it and write [[forces]] of kind spring between points of bodies after the import"),
    ("pair", "delete it and write [[forces]] of kind contact after the import"),
];
/// Elements of a body that do not move it.
const SCENERY: [&str; 2] = ["camera", "light"];

/// A geom that may touch others.
struct Touch {
    link: Option<usize>,
    types: (u32, u32),
    place: Span,
}

/// What has been read so far.
struct Reading<'d, 'l> {
    settings: CompilerSettings,
    classes: DefaultClasses<'d>,
    base: Option<Base>,
    log: &'l mut Log,
    tree: LinkTree,
    bodies: HashMap<&'d str, (usize, Span)>,
    joints: HashMap<&'d str, (MovementId, Span)>,
    sites: HashMap<&'d str, (Option<usize>, Vector<f64>)>,
    touches: Vec<Touch>,
}

/// A body that waits to be read: its parent, the frame around it there, and the class around it.
struct Waiting<'d> {
    node: Node<'d, 'd>,
    parent: Option<usize>,
    around: Frame,
    class: Option<&'d str>,
}

/// The tree of a model.
pub(super) fn read(model: Node, base: Option<Base>, log: &mut Log) -> LinkTree {
    for node in model.descendants().filter(Node::is_element) {
        let tag = node.tag_name().name();
        // classes may hold defaults of what nobody uses
        let unused = node.ancestors().any(|above| above.has_tag_name("default"));
        let empty = tag == "tendon" && elements(node).next().is_none();
        if let Some((_, help)) = REFUSED.iter().find(|(name, _)| *name == tag && !unused && !empty) {
            log.refuse(place(node), format!("<{tag}> is not imported"), "not imported", help);
        }
    }
    let settings = settings::read(model, log);
    let classes = DefaultClasses::read(model, log);
    let name = model.attribute("model").map(Into::into);
    let tree = LinkTree { name, noun: "body", gravity: Some(settings.gravity), ..LinkTree::default() };
    let mut reading = Reading {
        settings,
        classes,
        base,
        log,
        tree,
        bodies: HashMap::new(),
        joints: HashMap::new(),
        sites: HashMap::new(),
        touches: Vec::new(),
    };
    for section in elements(model) {
        match section.tag_name().name() {
            "worldbody" => reading.world(section),
            "compiler" | "option" | "default" | "equality" | "actuator" => {}
            // refused above
            "tendon" => {}
            other => elements(section).for_each(|child| {
                if child.tag_name().name() != "pair" {
                    reading.log.left_out(format!("{other} {}", child.tag_name().name()));
                }
            }),
        }
    }
    for section in elements(model) {
        match section.tag_name().name() {
            "equality" => elements(section).for_each(|child| reading.equality(child)),
            "actuator" => elements(section).for_each(|child| reading.actuator(child)),
            _ => {}
        }
    }
    reading.contacts();
    reading.total_mass();
    reading.tree
}

impl<'d> Reading<'d, '_> {
    fn world(&mut self, node: Node<'d, 'd>) {
        let mut world = empty_link(None, place(node));
        let class = node.attribute("childclass");
        let here = Waiting { node, parent: None, around: Frame::IDENTITY, class };
        let mut open = self.contents(&here, None, &mut world);
        for movement in world.1.drain(..) {
            self.log.refuse(movement.1.place, "the world does not move", "a joint of the world", "put it into a body");
        }
        self.tree.scenery.append(&mut world.0.shapes);
        open.reverse();
        while let Some(waiting) = open.pop() {
            let mut inside = self.body(&waiting);
            inside.reverse();
            open.append(&mut inside);
        }
    }

    /// One body; gives those inside of it.
    fn body(&mut self, waiting: &Waiting<'d>) -> Vec<Waiting<'d>> {
        let element = Element::new(waiting.node);
        let number = self.tree.links.len();
        element.leave_out_but(
            self.log,
            &[
                "name",
                "childclass",
                "pos",
                "quat",
                "axisangle",
                "euler",
                "xyaxes",
                "zaxis",
                "gravcomp",
                "mocap",
                "user",
                "sleep",
            ],
        );
        if element.number_or(self.log, "gravcomp", 0.0) != 0.0 {
            let help = "delete it and write [[forces]] of kind wrench after the import";
            self.log.refuse(element.at("gravcomp"), "compensation of gravity is not imported", "gravcomp", help);
        }
        if element.text("mocap") == Some("true") {
            let help = "give it a joint with [[joints]] of kind drive after the import";
            self.log.refuse(element.at("mocap"), "bodies that are moved from outside are not imported", "mocap", help);
        }
        let name = element.text("name").filter(|name| !name.is_empty());
        if let Some((_, first)) = name.and_then(|name| self.bodies.insert(name, (number, element.place()))) {
            self.twice(name.unwrap_or_default(), "a body", first, element.place());
        }
        let mut link = empty_link(name.map(Into::into), element.place());
        link.0.parent = waiting.parent;
        link.0.frame = waiting.around.then(&orientation::frame(&element, &self.settings.angles, self.log));
        let class = waiting.node.attribute("childclass").or(waiting.class);
        let here = Waiting { node: waiting.node, parent: Some(number), around: Frame::IDENTITY, class };
        let inside = self.contents(&here, Some(number), &mut link);
        let (mut link, movements) = link;
        link.holding = self.holding(waiting.parent, movements, number);
        self.tree.links.push(link);
        inside
    }

    /// Joints of a body as what holds it.
    fn holding(&mut self, parent: Option<usize>, joints: Vec<(&'d str, LinkMovement, bool)>, number: usize) -> Holding {
        let free = joints.iter().any(|(_, _, free)| *free);
        if let (true, [_, (_, second, _), ..]) = (free, &joints[..]) {
            let help = "a free body has no other joints";
            self.log.refuse(second.place, "this body is free and has another joint", "a second joint", help);
        }
        if let (true, Some(_), [(_, first, _), ..]) = (free, parent, &joints[..]) {
            let help = "MuJoCo allows free joints in bodies of the world only; put it there";
            self.log.refuse(first.place, "a body inside of another one is free", "a free joint", help);
        }
        let movements: Vec<LinkMovement> = joints
            .into_iter()
            .filter(|(_, _, free)| !free)
            .enumerate()
            .map(|(k, (name, movement, _))| {
                if !name.is_empty()
                    && let Some((_, first)) = self.joints.insert(name, ((number, k), movement.place))
                {
                    self.twice(name, "a joint", first, movement.place);
                }
                movement
            })
            .collect();
        match (self.base, free, parent) {
            (Some(Base::Fixed), true, None) => Holding::Welded,
            (_, true, _) => Holding::Free,
            (Some(Base::Floating), false, None) if movements.is_empty() => Holding::Free,
            _ if movements.is_empty() => Holding::Welded,
            _ => Holding::By(movements),
        }
    }

    fn twice(&mut self, name: &str, what: &str, first: Span, at: Span) {
        self.log.mistakes.push(Mistake::Duplicate {
            name: name.into(),
            what: what.into(),
            first: Some(first.into()),
            at: at.into(),
            help: Some("names are different from each other".into()),
        });
    }

    /// What stands inside of a body and inside of the `<frame>`s there; gives the bodies.
    fn contents(&mut self, here: &Waiting<'d>, number: Option<usize>, link: &mut Draft<'d>) -> Vec<Waiting<'d>> {
        let weighing = Weighing { weighs: self.settings.weighs(has_inertial(here.node)), groups: self.settings.groups };
        let (mut masses, mut bodies) = (Vec::new(), Vec::new());
        // elements of a frame stand where the frame stands
        let mut open = vec![(elements(here.node).collect::<Vec<_>>().into_iter(), here.around, here.class)];
        while let Some((nodes, around, class)) = open.last_mut() {
            let (around, class) = (*around, *class);
            let Some(node) = nodes.next() else {
                open.pop();
                continue;
            };
            match node.tag_name().name() {
                "body" => bodies.push(Waiting { node, parent: number, around, class }),
                "frame" => {
                    let X = orientation::frame(&Element::new(node), &self.settings.angles, self.log);
                    let class = node.attribute("childclass").or(class);
                    open.push((elements(node).collect::<Vec<_>>().into_iter(), around.then(&X), class));
                }
                "inertial" => self.inertial(node, &around, &mut link.0),
                "joint" | "freejoint" => {
                    let element = self.classes.element(node, class, self.log);
                    link.1.extend(joint::joint(&element, &around, &self.settings, self.log));
                }
                "geom" => {
                    let element = self.classes.element(node, class, self.log);
                    geom::geom(&element, &around, &self.settings.angles, &weighing, &mut link.0, &mut masses, self.log);
                    let bits = |key: &str, log: &mut Log| element.number_or(log, key, 1.0) as u32;
                    let types = (bits("contype", self.log), bits("conaffinity", self.log));
                    self.touches.push(Touch { link: number, types, place: element.place() });
                }
                "site" => {
                    let element = self.classes.element(node, class, self.log);
                    self.site(&element, &around, number, &mut link.0);
                }
                other if SCENERY.contains(&other) => self.log.left_out(other),
                // refused with its place, or unknown
                other if REFUSED.iter().any(|(name, _)| *name == other) => {}
                other => self.log.left_out(other),
            }
        }
        if weighing.weighs && !masses.is_empty() {
            link.0.mass = Some(MassProperties::joined(&masses));
        }
        bodies
    }

    fn inertial(&mut self, node: Node<'d, 'd>, around: &Frame, link: &mut Link) {
        let element = Element::new(node);
        let X = around.then(&orientation::frame(&element, &self.settings.angles, self.log));
        let Some(mass) = element.positive(self.log, "mass") else { return };
        let J = match (element.vector(self.log, "diaginertia"), element.numbers(self.log, "fullinertia", 6..=6)) {
            (None, Some(x)) => [[x[0], x[3], x[4]], [x[3], x[1], x[5]], [x[4], x[5], x[2]]],
            (diagonal, _) => daedal_multibody::inertia::diagonal(diagonal.unwrap_or_default()),
        };
        link.mass = Some(MassProperties { mass, centre: [0.0; 3], J }.seen(&X));
    }

    fn site(&mut self, element: &Element<'d>, around: &Frame, number: Option<usize>, link: &mut Link) {
        let at = match element.numbers(self.log, "fromto", 6..=6) {
            Some(x) => [0, 1, 2].map(|k| 0.5 * (x[k] + x[k + 3])),
            None => element.vector(self.log, "pos").unwrap_or_default(),
        };
        let at = around.point(at);
        if let Some(name) = element.text("name") {
            self.sites.insert(name, (number, at));
            link.points.push((name.into(), element.place(), at));
        }
    }

    /// A body that would fall through what it lies on is refused; other contacts are a note.
    fn contacts(&mut self) {
        if !self.settings.contacts {
            return;
        }
        // what a link hangs on: nothing, the ground, or joints
        let mut held: Vec<Option<bool>> = Vec::new();
        for link in &self.tree.links {
            let above = link.parent.map_or(Some(true), |k| held[k]);
            held.push(match link.holding {
                Holding::Welded => above,
                Holding::Free => Some(false),
                Holding::By(_) if above == Some(false) => Some(false),
                Holding::By(_) => None,
            });
        }
        let state = |touch: &Touch| touch.link.map_or(Some(true), |k| held[k]);
        let meet = |a: &Touch, b: &Touch| a.types.0 & b.types.1 != 0 || b.types.0 & a.types.1 != 0;
        let ground: Vec<&Touch> = self.touches.iter().filter(|touch| state(touch) == Some(true)).collect();
        let free = self.touches.iter().filter(|touch| state(touch) == Some(false));
        let lies = free.clone().find(|touch| ground.iter().any(|other| meet(touch, other)));
        if let Some(touch) = lies {
            self.log.refuse(
                touch.place,
                "a free body touches the ground by this geom, and contacts are not imported",
                "it would fall through the ground",
                "write <option><flag contact=\"disable\"/></option>, and [[forces]] of kind contact after the import",
            );
        } else if self.touches.iter().any(|touch| state(touch) != Some(true) && touch.types != (0, 0)) {
            self.log.note("contacts between geoms are not imported: bodies go through each other");
        }
    }

    /// `settotalmass`: all masses by one factor.
    fn total_mass(&mut self) {
        let Some(wanted) = self.settings.total_mass else { return };
        let total: f64 = self.tree.links.iter().filter_map(|link| link.mass).map(|mass| mass.mass).sum();
        for mass in self.tree.links.iter_mut().filter_map(|link| link.mass.as_mut()) {
            let factor = wanted / total;
            mass.mass *= factor;
            mass.J = mass.J.map(|row| row.map(|x| factor * x));
        }
    }
}

/// Does a body have an `inertial`, itself or in its frames?
fn has_inertial(body: Node) -> bool {
    let of_frame = |child: Node| child.has_tag_name("frame") && has_inertial(child);
    elements(body).any(|child| child.has_tag_name("inertial") || of_frame(child))
}

/// A body and its joints, each with its name and whether it is a free one.
type Draft<'d> = (Link, Vec<(&'d str, LinkMovement, bool)>);

fn empty_link<'d>(name: Option<String>, place: Span) -> Draft<'d> {
    let link = Link {
        name,
        place,
        parent: None,
        frame: Frame::IDENTITY,
        holding: Holding::Welded,
        mass: None,
        shapes: Vec::new(),
        color: None,
        points: Vec::new(),
    };
    (link, Vec::new())
}
