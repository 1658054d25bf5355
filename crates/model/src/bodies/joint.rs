//! `[[joints]]`.

use super::DrawnSystem;
use super::objects::Object;
use super::switched;
use super::template::{Template, tables};
use crate::diagnostic::Mistake;
use crate::index::Bindings;
use crate::names::{Classes, Context, Quantity};
use crate::reader::Reader;
use daedal_multibody::{BodyId, Coordinate, Function, Joint, JointId};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const KINDS: [&str; 23] = [
    "weld",
    "revolute",
    "spherical",
    "cylindrical",
    "prismatic",
    "screw",
    "universal",
    "constant-velocity",
    "planar",
    "point-on-line",
    "point-on-plane",
    "parallel",
    "perpendicular",
    "orientation",
    "rod",
    "drive",
    "rate",
    "gear",
    "rack",
    "coupler",
    "rolling",
    "knife-edge",
    "fixed",
];

/// Keys of a kind beside `name`, `kind` and `for`.
fn keys(kind: &str) -> &'static [&'static str] {
    match kind {
        "weld" | "fixed" | "spherical" => &["between", "at"],
        "screw" => &["between", "at", "axis", "lead"],
        "universal" | "constant-velocity" => &["between", "at", "axes"],
        "parallel" => &["between", "axis"],
        "perpendicular" => &["between", "axes"],
        "orientation" => &["between"],
        "rod" => &["between", "at"],
        "drive" => &["joint", "angle", "travel"],
        "rate" => &["joint", "rate", "speed"],
        "gear" => &["joints", "ratio"],
        "rack" => &["joints", "radius"],
        "coupler" => &["joints", "coordinates", "function"],
        "rolling" => &["between", "plane", "disc", "sphere"],
        "knife-edge" => &["between", "at", "blade", "normal"],
        _ => &["between", "at", "axis"],
    }
}

/// Read all joints into the drawing.
pub(super) fn joints(reader: &mut Reader, root: &DeTable, drawing: &mut DrawnSystem) {
    for mut template in tables(reader, root, "joints", "[[joints]]") {
        if template.section.get("name").is_none() {
            template.missing(reader, "name", "write name = \"hinge\"");
            continue;
        }
        if template.section.get("kind").is_none() {
            template.missing(reader, "kind", &format!("kinds are {}", KINDS.join(", ")));
            continue;
        }
        let Some(kind) = template.word(reader, "kind", &KINDS) else { continue };
        template.section.check_keys(reader, &[&["name", "kind", "for", "modes"], keys(&kind)].concat());
        let is_there = switched::is_there(&template, reader, &drawing.mode);
        template.each(reader, "", &mut |template, reader, name, bindings| {
            let joint = one(template, reader, &kind, drawing, bindings);
            let Some(joint) = joint else {
                // what refers to it has no mistake of its own
                reader.scope.incomplete = true;
                return;
            };
            let number = drawing.system.joints().len();
            drawing.declare(reader, &name, Object::Joint(number));
            if joint.bodies.iter().any(|body| body.number().is_some_and(|k| k >= drawing.system.bodies().len())) {
                return;
            }
            let joint = drawing.system.joint(joint.name(&name.full));
            if !is_there {
                drawing.system.switch_off(joint);
            }
        });
    }
}

#[allow(clippy::too_many_lines)] // an arm for each kind of joint
fn one(
    template: &mut Template,
    reader: &mut Reader,
    kind: &str,
    drawing: &DrawnSystem,
    bindings: &Bindings,
) -> Option<Joint> {
    let planar = drawing.system.is_planar();
    let objects = &drawing.objects;
    match kind {
        "drive" | "rate" => {
            let joint = of_joint(template, reader, drawing, bindings)?;
            let id = JointId::of(joint);
            if kind == "rate" {
                return match template.section.get("speed") {
                    Some(_) if template.section.get("rate").is_none() => {
                        Some(Joint::speed(id, function(template, reader, "speed", "t", bindings)?))
                    }
                    _ => Some(Joint::rate(id, function(template, reader, "rate", "t", bindings)?)),
                };
            }
            return match (template.section.get("angle"), template.section.get("travel")) {
                (Some(_), None) => Some(Joint::drive_angle(id, function(template, reader, "angle", "t", bindings)?)),
                (None, Some(_)) => Some(Joint::drive_travel(id, function(template, reader, "travel", "t", bindings)?)),
                _ => {
                    template.missing(
                        reader,
                        "angle",
                        "a drive gives the `angle` or the `travel` of its joint as a formula of t",
                    );
                    None
                }
            };
        }
        "gear" | "rack" | "coupler" => return transmission(template, reader, kind, drawing, bindings),
        _ => {}
    }
    let [A, B] = template.between(reader, objects, bindings)?;
    // a joint that closes later has a place in each body
    let pair = template.section.get("at").and_then(|item| item.get_ref().as_array());
    let apart = kind != "rod" && pair.is_some_and(|items| items.first().is_some_and(|item| item.get_ref().is_array()));
    let mut second = None;
    let mut at = |template: &mut Template, reader: &mut Reader| {
        if !apart {
            return template.needed(reader, "at", planar, bindings);
        }
        let [first, other] = template.two_vectors(reader, "at", planar, bindings)?;
        second = Some(other);
        Some(first)
    };
    let axis = |template: &mut Template, reader: &mut Reader, key: &str| {
        if planar && template.section.get(key).is_none() && kind == "revolute" {
            return Some([0.0, 0.0, 1.0]);
        }
        let axis = template.needed(reader, key, planar, bindings)?;
        directed(template, reader, key, axis)
    };
    let joint = match kind {
        "weld" | "fixed" => Joint::weld(at(template, reader)?),
        "spherical" => Joint::spherical(at(template, reader)?),
        "revolute" | "cylindrical" | "prismatic" | "planar" | "point-on-line" | "point-on-plane" | "screw" => {
            let (at, axis) = (at(template, reader), axis(template, reader, "axis"));
            let (at, axis) = (at?, axis?);
            match kind {
                "revolute" => Joint::revolute(at, axis),
                "cylindrical" => Joint::cylindrical(at, axis),
                "prismatic" => Joint::prismatic(at, axis),
                "planar" => Joint::planar(at, axis),
                "point-on-line" => Joint::point_on_line(at, axis),
                "point-on-plane" => Joint::point_on_plane(at, axis),
                _ => {
                    if template.section.get("lead").is_none() {
                        template.missing(reader, "lead", "write lead = … with the travel of one turn");
                    }
                    let lead = template.number(reader, "lead", bindings)?;
                    if lead == 0.0 {
                        reader.mistake(Mistake::Syntax {
                            message: "the lead of the screw is zero".into(),
                            label: "it would not move".into(),
                            at: template.at("lead").into(),
                            help: Some("a joint that turns without moving is `revolute`".into()),
                        });
                        return None;
                    }
                    Joint::screw(at, axis, lead)
                }
            }
        }
        "universal" | "constant-velocity" => {
            let at = at(template, reader);
            let axes = two_axes(template, reader, bindings);
            let (at, axes) = (at?, axes?);
            if kind == "universal" { Joint::universal(at, axes) } else { Joint::constant_velocity(at, axes) }
        }
        "parallel" => Joint::parallel(axis(template, reader, "axis")?),
        "perpendicular" => Joint::perpendicular(two_axes(template, reader, bindings)?),
        "orientation" => Joint::orientation(),
        "rod" => {
            let [from, to] = template.two_vectors(reader, "at", planar, bindings)?;
            Joint::rod(from, to)
        }
        "knife-edge" => {
            let (at, blade, normal) =
                (at(template, reader), axis(template, reader, "blade"), axis(template, reader, "normal"));
            Joint::knife_edge(at?, blade?, normal?)
        }
        _ => rolling(template, reader, drawing, B, bindings)?,
    };
    let mut joint = joint.between(A, B);
    if let Some(second) = second {
        joint.points[1] = second;
    }
    Some(joint)
}

fn directed(template: &Template, reader: &mut Reader, key: &str, axis: [f64; 3]) -> Option<[f64; 3]> {
    if daedal_multibody::vector::unit(axis).is_some() {
        return Some(axis);
    }
    reader.mistake(Mistake::Syntax {
        message: format!("`{key}` is zero"),
        label: "it has no direction".into(),
        at: template.at(key).into(),
        help: None,
    });
    None
}

fn two_axes(template: &mut Template, reader: &mut Reader, bindings: &Bindings) -> Option<[[f64; 3]; 2]> {
    let [first, second] = template.two_vectors(reader, "axes", false, bindings)?;
    let (first, second) = (directed(template, reader, "axes", first), directed(template, reader, "axes", second));
    Some([first?, second?])
}

/// `plane = { at, normal }` and `disc = { radius, axis, at }` or `sphere = { radius, at }`; a disc is about the body's z axis unless it says another.
fn rolling(
    template: &mut Template,
    reader: &mut Reader,
    drawing: &DrawnSystem,
    B: BodyId,
    bindings: &Bindings,
) -> Option<Joint> {
    let plane = super::force::plane(template, reader, drawing.system.is_planar(), bindings)?;
    let round = match (template.table(reader, "disc"), template.table(reader, "sphere")) {
        (Some(disc), None) => disc,
        (None, Some(sphere)) => sphere,
        _ => {
            template.missing(reader, "disc", "what rolls is a `disc = { radius = … }` or a `sphere = { radius = … }`");
            return None;
        }
    };
    round.check_keys(reader, &["radius", "axis", "at"]);
    let radius = template.positive(reader, &round, "radius", bindings)?;
    let body = B.number().map(|k| &drawing.system.bodies()[k]);
    let centre = match round.get("at") {
        Some(item) => template.vector_of(reader, item, "`at`", drawing.system.is_planar(), bindings)?,
        None => body.map_or([0.0; 3], |body| body.at),
    };
    if round.title == "sphere" {
        return Some(Joint::rolling_sphere(plane, centre, radius));
    }
    let axis = match round.get("axis") {
        Some(item) => template.vector_of(reader, item, "`axis`", false, bindings)?,
        None => body.map_or([0.0, 0.0, 1.0], |body| [body.rotation[0][2], body.rotation[1][2], body.rotation[2][2]]),
    };
    Some(Joint::rolling_disc(plane, centre, axis, radius))
}

/// The joint of `joint`.
pub(super) fn of_joint(
    template: &mut Template,
    reader: &mut Reader,
    drawing: &DrawnSystem,
    bindings: &Bindings,
) -> Option<usize> {
    let Some(item) = template.section.get("joint") else {
        template.missing(reader, "joint", "write joint = \"hinge\"");
        return None;
    };
    template.joint(reader, item, &drawing.objects, bindings)
}

fn transmission(
    template: &mut Template,
    reader: &mut Reader,
    kind: &str,
    drawing: &DrawnSystem,
    bindings: &Bindings,
) -> Option<Joint> {
    let items = match template.section.get("joints").map(Spanned::get_ref) {
        Some(DeValue::Array(items)) if items.len() == 2 => items,
        _ => {
            template.missing(reader, "joints", "write joints = [\"first\", \"second\"]");
            return None;
        }
    };
    let first = template.joint(reader, &items[0], &drawing.objects, bindings);
    let second = template.joint(reader, &items[1], &drawing.objects, bindings);
    let joints = [JointId::of(first?), JointId::of(second?)];
    let need = |template: &mut Template, reader: &mut Reader, key: &str| {
        if template.section.get(key).is_none() {
            template.missing(reader, key, &format!("write {key} = …"));
        }
        template.number(reader, key, bindings)
    };
    match kind {
        "gear" => Some(Joint::gear(joints, need(template, reader, "ratio")?)),
        "rack" => Some(Joint::rack(joints[0], joints[1], need(template, reader, "radius")?)),
        _ => {
            if template.section.get("function").is_none() {
                template.missing(
                    reader,
                    "function",
                    "write function = \"…\", the second coordinate as a formula of x, the first one",
                );
                return None;
            }
            let mut coordinates = [Coordinate::Angle; 2];
            if let Some(DeValue::Array(words)) = template.section.get("coordinates").map(Spanned::get_ref) {
                for (k, word) in words.iter().enumerate().take(2) {
                    match word.get_ref().as_str() {
                        Some("angle") => {}
                        Some("travel") => coordinates[k] = Coordinate::Travel,
                        _ => {
                            reader.mistake(crate::document::wrong_type(
                                "a coordinate",
                                "\"angle\" or \"travel\"",
                                word,
                            ));
                            return None;
                        }
                    }
                }
            }
            Some(Joint::coupler(joints, coordinates, function(template, reader, "function", "x", bindings)?))
        }
    }
}

/// A function of one variable, with numbers for the parameters in it.
fn function(
    template: &mut Template,
    reader: &mut Reader,
    key: &'static str,
    variable: &'static str,
    bindings: &Bindings,
) -> Option<Function> {
    let item = template.section.get(key).or_else(|| {
        template.missing(reader, key, &format!("write {key} = \"…\", a formula of {variable}"));
        None
    })?;
    let tree = template.formula(reader, item, &format!("`{key}`"))?;
    reader.note_structural(&tree);
    let context = Context {
        place: "a prescribed motion",
        allowed: Classes::of(&[Quantity::Parameter, Quantity::Time]),
        help: if variable == "t" { "it may contain time and parameters" } else { "it may contain x and parameters" },
    };
    super::function::lower(reader, &tree, context, variable, bindings)
}
