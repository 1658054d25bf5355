//! URDF: `<robot>` with links and joints, a tree.

use super::frame::{Frame, MassProperties, rpy};
use super::tree::{Coupling, Holding, Link, LinkMovement, LinkTree, MovementKind};
use super::xml::{Element, Log, XACRO, elements, only, place};
use super::{Base, rgb};
use crate::diagnostic::Mistake;
use crate::source::Span;
use crate::suggestion::help;
use daedal_multibody::vector::IDENTITY;
use daedal_multibody::{Form, Shape};
use roxmltree::Node;
use std::collections::HashMap;

const TYPES: [&str; 6] = ["revolute", "continuous", "prismatic", "fixed", "planar", "floating"];

/// A joint before the order of the tree is known.
struct WrittenJoint<'d> {
    element: Element<'d>,
    name: &'d str,
    kind: &'static str,
    parent: usize,
    child: usize,
}

/// The tree of a robot.
pub(super) fn read(robot: Node, base: Option<Base>, log: &mut Log) -> LinkTree {
    let mut tree = LinkTree { name: robot.attribute("name").map(Into::into), noun: "link", ..LinkTree::default() };
    let mut colors = HashMap::new();
    for material in elements(robot).filter(|child| child.has_tag_name("material")) {
        if let (Some(name), Some(color)) = (material.attribute("name"), color(log, material)) {
            colors.insert(name, color);
        }
    }
    let (mut links, mut numbers) = (Vec::new(), HashMap::new());
    for child in elements(robot) {
        let element = Element::new(child);
        match (child.tag_name().name(), child.tag_name().namespace()) {
            ("link", None) => {
                if let Some(link) = link(&element, &colors, log) {
                    let name = link.name.clone().unwrap_or_default();
                    first_of_name(log, &mut numbers, &name, links.len(), &element, "a link", &links);
                    links.push(link);
                }
            }
            ("joint" | "material", None) => {}
            (_, Some(space)) if space.contains("xacro") => {
                log.refuse(element.place(), "this file has macros of xacro", "a macro", XACRO);
                return tree;
            }
            (other, _) => log.left_out(other),
        }
    }
    let joints = joints(robot, &links, &numbers, log);
    if log.mistakes.is_empty() {
        in_order(&mut tree, links, &joints, base, log);
    }
    tree
}

/// Give a link its number; two links of one name are a mistake.
fn first_of_name(
    log: &mut Log,
    numbers: &mut HashMap<String, usize>,
    name: &str,
    number: usize,
    element: &Element,
    what: &str,
    links: &[Link],
) {
    if let Some(first) = numbers.insert(name.into(), number) {
        log.mistakes.push(Mistake::Duplicate {
            name: name.into(),
            what: what.into(),
            first: Some(links[first].place.into()),
            at: element.place().into(),
            help: Some("every link has a name of its own".into()),
        });
    }
}

fn link(element: &Element, colors: &HashMap<&str, String>, log: &mut Log) -> Option<Link> {
    let name = element.needed(log, "name")?;
    element.leave_out_but(log, &["name"]);
    let mut link = Link {
        name: Some(name.into()),
        place: element.place(),
        parent: None,
        frame: Frame::IDENTITY,
        holding: Holding::Welded,
        mass: None,
        shapes: Vec::new(),
        color: None,
        points: Vec::new(),
    };
    for child in elements(element.node) {
        match child.tag_name().name() {
            "inertial" => {}
            "visual" => visual(child, &mut link, colors, log),
            other => log.left_out(other),
        }
    }
    link.mass = only(log, element.node, "inertial").and_then(|inertial| mass(&inertial, log));
    Some(link)
}

/// `<inertial>`: J about the centre of mass, in the axes of its origin.
fn mass(inertial: &Element, log: &mut Log) -> Option<MassProperties> {
    let X = origin(inertial.node, log);
    let Some(mass) = only(log, inertial.node, "mass") else {
        log.mistakes.push(Mistake::Missing {
            what: "the element <mass> of <inertial>".into(),
            at: inertial.place().into(),
            label: "in this element".into(),
            help: "write <mass value=\"1.5\"/>".into(),
        });
        return None;
    };
    mass.needed(log, "value")?;
    let value = mass.number(log, "value")?;
    if value < 0.0 {
        log.mistakes.push(Mistake::Negative { what: "the mass".into(), value, at: mass.at("value").into() });
        return None;
    }
    let mut J = [[0.0; 3]; 3];
    if let Some(inertia) = only(log, inertial.node, "inertia") {
        for (key, i, j) in [("ixx", 0, 0), ("iyy", 1, 1), ("izz", 2, 2), ("ixy", 0, 1), ("ixz", 0, 2), ("iyz", 1, 2)] {
            if i == j {
                inertia.needed(log, key)?;
            }
            let entry = inertia.number_or(log, key, 0.0);
            (J[i][j], J[j][i]) = (entry, entry);
        }
    }
    Some(MassProperties { mass: value, centre: [0.0; 3], J }.seen(&X))
}

/// `<origin xyz rpy>`.
fn origin(node: Node, log: &mut Log) -> Frame {
    let Some(origin) = elements(node).find(|child| child.has_tag_name("origin")) else { return Frame::IDENTITY };
    let origin = Element::new(origin);
    origin.leave_out_but(log, &["xyz", "rpy"]);
    let p = origin.vector(log, "xyz").unwrap_or_default();
    Frame { R: origin.vector(log, "rpy").map_or(IDENTITY, rpy), p }
}

fn visual(node: Node, link: &mut Link, colors: &HashMap<&str, String>, log: &mut Log) {
    let X = origin(node, log);
    let material = elements(node).find(|child| child.has_tag_name("material"));
    let given =
        material.and_then(|material| color(log, material).or_else(|| colors.get(material.attribute("name")?).cloned()));
    link.color = link.color.take().or(given);
    let geometry = elements(node).find(|child| child.has_tag_name("geometry"));
    for shape in geometry.into_iter().flat_map(elements) {
        let element = Element::new(shape);
        let form = match element.tag() {
            "box" => {
                element.needed(log, "size").and_then(|_| element.vector(log, "size")).map(|size| Form::Box { size })
            }
            "cylinder" => element
                .positive(log, "radius")
                .zip(element.positive(log, "length"))
                .map(|(radius, length)| Form::Cylinder { radius, length, axis: 2 }),
            "sphere" => element.positive(log, "radius").map(|radius| Form::Sphere { radius }),
            other => {
                log.left_out(format!("visual {other}"));
                None
            }
        };
        link.shapes.extend(form.map(|form| Shape { form, at: X.p, rotation: X.R }));
    }
}

/// The colour of a material.
fn color(log: &mut Log, material: Node) -> Option<String> {
    let color = elements(material).find(|child| child.has_tag_name("color"))?;
    Element::new(color).numbers(log, "rgba", 4..=4).map(|rgba| rgb(&rgba))
}

/// All joints between links that exist.
fn joints<'d>(
    robot: Node<'d, 'd>,
    links: &[Link],
    numbers: &HashMap<String, usize>,
    log: &mut Log,
) -> Vec<WrittenJoint<'d>> {
    let mut joints: Vec<WrittenJoint> = Vec::new();
    for node in elements(robot).filter(|child| child.has_tag_name("joint")) {
        let element = Element::new(node);
        element.leave_out_but(log, &["name", "type"]);
        let Some(name) = element.needed(log, "name") else { continue };
        if let Some(first) = joints.iter().find(|joint| joint.name == name) {
            log.mistakes.push(Mistake::Duplicate {
                name: name.into(),
                what: "a joint".into(),
                first: Some(first.element.place().into()),
                at: element.place().into(),
                help: Some("every joint has a name of its own".into()),
            });
        }
        let kind = element.needed(log, "type").and_then(|_| element.word(log, "type", &TYPES));
        let end = |tag: &str, log: &mut Log| {
            let Some(end) = only(log, node, tag) else {
                log.mistakes.push(Mistake::Missing {
                    what: format!("the element <{tag}> of the joint `{name}`"),
                    at: element.place().into(),
                    label: "in this joint".into(),
                    help: format!("write <{tag} link=\"…\"/>"),
                });
                return None;
            };
            let link = end.needed(log, "link")?;
            let number = numbers.get(link).copied();
            if number.is_none() {
                let known = links.iter().filter_map(|link| link.name.as_deref());
                let help = Some(help(link, known, "the links are"));
                log.mistakes.push(Mistake::UnknownName { name: link.into(), at: end.at("link").into(), help });
            }
            number
        };
        let (parent, child) = (end("parent", log), end("child", log));
        if let (Some(kind), Some(parent), Some(child)) = (kind, parent, child) {
            joints.push(WrittenJoint { element, name, kind, parent, child });
        }
    }
    joints
}

/// Links in an order in which parents come first: from the root along the joints.
fn in_order(tree: &mut LinkTree, mut links: Vec<Link>, joints: &[WrittenJoint], base: Option<Base>, log: &mut Log) {
    let mut above: Vec<Option<&WrittenJoint>> = vec![None; links.len()];
    for joint in joints {
        if let Some(first) = above[joint.child].replace(joint) {
            let child = links[joint.child].name.as_deref().unwrap_or_default();
            log.refuse(
                joint.element.place(),
                format!("the link `{child}` is the child of `{}` and of `{}`", first.name, joint.name),
                "the second of them",
                "URDF is a tree: close loops by [[joints]] after the import",
            );
        }
    }
    let roots: Vec<usize> = (0..links.len()).filter(|k| above[*k].is_none()).collect();
    match roots[..] {
        [_] => {}
        [] => {
            let place = joints.first().map_or(Span::default(), |joint| joint.element.place());
            let help = "the first link has no parent; close loops by [[joints]] after the import";
            log.refuse(place, "every link has a parent: the joints go round in a circle", "part of the circle", help);
        }
        [first, second, ..] => {
            let [first, second] = [first, second].map(|k| &links[k]);
            let names = [first, second].map(|link| link.name.as_deref().unwrap_or_default());
            log.refuse(
                second.place,
                format!("the links `{}` and `{}` have no parent", names[0], names[1]),
                "a second root",
                "a robot has one link without parent; connect this one by a joint, fixed or floating",
            );
        }
    }
    if !log.mistakes.is_empty() {
        return;
    }
    links[roots[0]].holding = if base == Some(Base::Floating) { Holding::Free } else { Holding::Welded };
    let mut order = roots;
    let mut next = 0;
    while let Some(&parent) = order.get(next) {
        order.extend(joints.iter().filter(|joint| joint.parent == parent).map(|joint| joint.child));
        next += 1;
    }
    if let Some(lost) = joints.iter().find(|joint| !order.contains(&joint.child)) {
        let help = "joints lead from the root to every link; close loops by [[joints]] after the import";
        log.refuse(lost.element.place(), "the joints go round in a circle", "part of the circle", help);
        return;
    }
    let new: HashMap<usize, usize> = order.iter().enumerate().map(|(new, old)| (*old, new)).collect();
    let mut by_name = HashMap::new();
    for old in order {
        let mut link = links[old].clone();
        if let Some(joint) = above[old] {
            link.parent = Some(new[&joint.parent]);
            link.frame = origin(joint.element.node, log);
            link.holding = holding(joint, log);
            by_name.insert(joint.name, tree.links.len());
        }
        tree.links.push(link);
    }
    for joint in joints {
        mimic(joint, tree, &by_name, log);
    }
}

fn holding(joint: &WrittenJoint, log: &mut Log) -> Holding {
    let node = joint.element.node;
    for child in elements(node) {
        match child.tag_name().name() {
            "origin" | "parent" | "child" | "axis" | "dynamics" | "mimic" => {}
            other => log.left_out(other),
        }
    }
    let axis = only(log, node, "axis").map_or(IDENTITY[0], |axis| axis.direction(log, "xyz", IDENTITY[0]));
    let freedom = match joint.kind {
        "fixed" => return Holding::Welded,
        "floating" => return Holding::Free,
        "prismatic" => MovementKind::Slide,
        "planar" => MovementKind::Planar,
        _ => MovementKind::Hinge,
    };
    let mut movement = LinkMovement::new(Some(joint.name.into()), joint.element.place(), freedom, [0.0; 3], axis);
    if let Some(dynamics) = only(log, node, "dynamics") {
        dynamics.leave_out_but(log, &["damping", "friction"]);
        movement.damping = dynamics.number_or(log, "damping", 0.0);
        movement.friction = dynamics.number_or(log, "friction", 0.0);
        if freedom == MovementKind::Planar && movement.damping != 0.0 {
            let help = "delete it and write [[forces]] after the import";
            log.refuse(
                dynamics.at("damping"),
                "a planar joint has three movements and one damping",
                "of which of them?",
                help,
            );
        }
    }
    Holding::By(vec![movement])
}

/// `<mimic joint multiplier offset>`.
fn mimic(joint: &WrittenJoint, tree: &mut LinkTree, by_name: &HashMap<&str, usize>, log: &mut Log) {
    let Some(mimic) = only(log, joint.element.node, "mimic") else { return };
    let Some(name) = mimic.needed(log, "joint") else { return };
    let Some(&first) = by_name.get(name) else {
        let help = Some(help(name, by_name.keys().copied(), "the joints are"));
        log.mistakes.push(Mistake::UnknownName { name: name.into(), at: mimic.at("joint").into(), help });
        return;
    };
    let second = by_name[joint.name];
    let coordinate = |k: usize| match &tree.links[k].holding {
        Holding::By(movements) => movements[0].freedom != MovementKind::Planar,
        _ => false,
    };
    if let Some(k) = [first, second].into_iter().find(|k| !coordinate(*k)) {
        let told = format!(
            "the joint of `{}` has no coordinate to follow or to be led",
            tree.links[k].name.as_deref().unwrap_or_default()
        );
        log.refuse(mimic.place(), told, "mimic", "revolute, continuous and prismatic joints mimic each other");
        return;
    }
    let (multiplier, offset) = (mimic.number_or(log, "multiplier", 1.0), mimic.number_or(log, "offset", 0.0));
    tree.couplings.push(Coupling {
        name: None,
        place: place(mimic.node),
        first: Some((first, 0)),
        second: (second, 0),
        polynomial: vec![offset, multiplier],
    });
}
