//! `[[forces]]`.

use super::joint::of_joint;
use super::objects::Object;
use super::switched;
use super::template::{Template, tables};
use super::{DrawnSystem, WrittenLaw};
use crate::diagnostic::Mistake;
use crate::index::Bindings;
use crate::reader::Reader;
use daedal_multibody::force::{Action, Law};
use daedal_multibody::vector::Vector;
use daedal_multibody::{Bushing, Contact, Coordinate, Force, JointId, Linear, Spring, Torsion};
use toml::de::{DeTable, DeValue};

const KINDS: [&str; 7] = ["spring", "torsion", "linear", "actuator", "bushing", "wrench", "contact"];

fn keys(kind: &str) -> &'static [&'static str] {
    match kind {
        "spring" => &["between", "at", "stiffness", "damping", "length", "force"],
        "torsion" => &["joint", "stiffness", "damping", "angle", "torque"],
        "linear" => &["joint", "stiffness", "damping", "travel", "force"],
        "actuator" => &["joint", "torque", "force"],
        "bushing" => &["between", "at", "stiffness", "damping", "rotational_stiffness", "rotational_damping"],
        "wrench" => &["body", "at", "force", "torque", "frame"],
        _ => &["between", "plane", "sphere", "stiffness", "damping", "friction", "slip_speed"],
    }
}

/// Read all forces into the drawing.
pub(super) fn forces(reader: &mut Reader, root: &DeTable, drawing: &mut DrawnSystem) {
    for (k, mut template) in tables(reader, root, "forces", "[[forces]]").into_iter().enumerate() {
        if template.section.get("kind").is_none() {
            template.missing(reader, "kind", &format!("kinds are {}", KINDS.join(", ")));
            continue;
        }
        let Some(kind) = template.word(reader, "kind", &KINDS) else { continue };
        template.section.check_keys(reader, &[&["name", "kind", "for", "modes"], keys(&kind)].concat());
        let is_there = switched::is_there(&template, reader, &drawing.mode);
        let named = template.section.get("name").is_some();
        template.each(reader, &format!("force {}", k + 1), &mut |template, reader, name, bindings| {
            if named {
                drawing.declare(reader, &name, Object::Force);
            }
            let mut laws = Vec::new();
            if let Some(force) = one(template, reader, &kind, drawing, bindings, &mut laws) {
                let force = if named { force.name(&name.full) } else { force };
                drawing.system.force(force);
                if !is_there {
                    drawing.system.switch_off_force(drawing.laws.len());
                }
                drawing.laws.push(laws);
            }
        });
    }
}

fn one(
    template: &mut Template,
    reader: &mut Reader,
    kind: &str,
    drawing: &DrawnSystem,
    bindings: &Bindings,
    laws: &mut Vec<WrittenLaw>,
) -> Option<Force> {
    let planar = drawing.system.is_planar();
    match kind {
        "spring" => {
            let bodies = template.between(reader, &drawing.objects, bindings);
            let points = template.two_vectors(reader, "at", planar, bindings);
            let ([A, B], [at_A, at_B]) = (bodies?, points?);
            with_law(template, reader, Spring::between(A, at_A, B, at_B), "force", "length", bindings, laws)
        }
        "torsion" | "linear" | "actuator" => {
            let joint = of_joint(template, reader, drawing, bindings)?;
            let about = match kind {
                "actuator" => template.section.get("torque").is_some(),
                _ => kind == "torsion",
            };
            let coordinate = if about { Coordinate::Angle } else { Coordinate::Travel };
            let drawn = &drawing.system.joints()[joint];
            if !drawn.kind.coordinates().contains(&coordinate) {
                let what = if about { "angle" } else { "travel" };
                reader.mistake(Mistake::Syntax {
                    message: format!("a {} joint has no {what}", drawn.kind.name()),
                    label: format!("`{}` is {}", drawn.name, drawn.kind.name()),
                    at: template.at("joint").into(),
                    help: Some("torques act on joints that turn, forces on joints that slide".into()),
                });
                return None;
            }
            let id = JointId::of(joint);
            let force = if about { Torsion::on(id) } else { Linear::on(id) };
            if kind == "actuator" && template.section.get("torque").is_none() && template.section.get("force").is_none()
            {
                template.missing(reader, "torque", "an actuator has a `torque` or a `force`, a formula");
                return None;
            }
            let (formula, rest) = if about { ("torque", "angle") } else { ("force", "travel") };
            with_law(template, reader, force, formula, rest, bindings, laws)
        }
        "bushing" => {
            let bodies = template.between(reader, &drawing.objects, bindings);
            let at = template.needed(reader, "at", planar, bindings);
            let keys = ["stiffness", "damping", "rotational_stiffness", "rotational_damping"];
            let mut coefficients = [[0.0; 3]; 4];
            for (k, key) in keys.into_iter().enumerate() {
                if let Some(item) = template.section.get(key) {
                    let values = template.numbers_of(reader, item, &format!("`{key}`"), &[3], bindings)?;
                    coefficients[k].copy_from_slice(&values);
                }
            }
            let [A, B] = bodies?;
            Some(Bushing::between(A, B, at?, coefficients))
        }
        "wrench" => wrench(template, reader, drawing, bindings, laws),
        _ => {
            let bodies = template.between(reader, &drawing.objects, bindings);
            let plane = plane(template, reader, planar, bindings);
            let Some(sphere) = template.table(reader, "sphere") else {
                template.missing(reader, "sphere", "write sphere = { radius = … }");
                return None;
            };
            sphere.check_keys(reader, &["radius", "at"]);
            let radius = template.positive(reader, &sphere, "radius", bindings)?;
            let [A, B] = bodies?;
            let centre = match sphere.get("at") {
                Some(item) => template.vector_of(reader, item, "`at`", planar, bindings)?,
                None => B.number().map_or([0.0; 3], |k| drawing.system.bodies()[k].at),
            };
            let section = template.section;
            let stiffness = template.positive(reader, &section, "stiffness", bindings)?;
            let mut other = |key: &str, default: f64| match section.get(key) {
                Some(_) => template.number(reader, key, bindings),
                None => Some(default),
            };
            let (damping, friction, slip) =
                (other("damping", 0.0)?, other("friction", 0.0)?, other("slip_speed", 1e-3)?);
            if slip <= 0.0 {
                let at = template.at("slip_speed").into();
                reader.mistake(Mistake::NotPositive { what: "`slip_speed`".into(), value: slip, at });
                return None;
            }
            Some(Contact::between(A, plane?, B, centre, [radius, stiffness, damping, friction, slip]))
        }
    }
}

/// A linear law by its coefficients, or a formula.
fn with_law(
    template: &mut Template,
    reader: &mut Reader,
    mut force: Force,
    formula: &'static str,
    rest: &str,
    bindings: &Bindings,
    laws: &mut Vec<WrittenLaw>,
) -> Option<Force> {
    if let Some(item) = template.section.get(formula) {
        for key in ["stiffness", "damping", rest] {
            if template.section.get(key).is_some() {
                reader.mistake(Mistake::Syntax {
                    message: format!("`{key}` stands beside `{formula}`"),
                    label: "which of them holds?".into(),
                    at: template.at(key).into(),
                    help: Some("give a formula or coefficients, not both".into()),
                });
                return None;
            }
        }
        let node = template.formula(reader, item, &format!("`{formula}`"))?;
        laws.push(WrittenLaw { node, bindings: bindings.clone() });
        if let Action::Spring { law, .. } | Action::OnJoint { law, .. } = &mut force.action {
            *law = Law::Outside;
        }
        return Some(force);
    }
    if template.section.get("stiffness").is_none() && template.section.get("damping").is_none() {
        template.missing(reader, "stiffness", &format!("give `stiffness`, `damping`, or `{formula}` as a formula"));
        return None;
    }
    if template.section.get("stiffness").is_some() {
        force = force.stiffness(template.number(reader, "stiffness", bindings)?);
    }
    if template.section.get("damping").is_some() {
        force = force.damping(template.number(reader, "damping", bindings)?);
    }
    if template.section.get(rest).is_some() {
        force = force.rest(template.number(reader, rest, bindings)?);
    }
    Some(force)
}

/// A force and a torque by formulas.
fn wrench(
    template: &mut Template,
    reader: &mut Reader,
    drawing: &DrawnSystem,
    bindings: &Bindings,
    laws: &mut Vec<WrittenLaw>,
) -> Option<Force> {
    let planar = drawing.system.is_planar();
    let Some(item) = template.section.get("body") else {
        template.missing(reader, "body", "write body = \"rod\"");
        return None;
    };
    let body = template.body(reader, item, &drawing.objects, bindings)?;
    let Some(number) = body.number() else {
        reader.mistake(crate::document::wrong_type("`body`", "a body that moves", item));
        return None;
    };
    let at = match template.section.get("at") {
        Some(_) => template.vector(reader, "at", planar, bindings)?,
        None => drawing.system.bodies()[number].at,
    };
    let in_body = match template.section.get("frame") {
        Some(_) => template.word(reader, "frame", &["world", "body"])? == "body",
        None => false,
    };
    let mut components = |key: &str| -> Option<Vec<Option<WrittenLaw>>> {
        let law = |node| Some(WrittenLaw { node, bindings: bindings.clone() });
        let Some(item) = template.section.get(key) else { return Some(vec![None, None, None]) };
        match item.get_ref() {
            DeValue::Array(items) if items.len() == 3 || (planar && items.len() == 2) => {
                let mut laws = Vec::new();
                for item in items {
                    laws.push(law(template.formula(reader, item, &format!("`{key}`"))?));
                }
                laws.resize_with(3, || None);
                Some(laws)
            }
            DeValue::Array(_) | DeValue::Table(_) => {
                reader.mistake(crate::document::wrong_type(&format!("`{key}`"), "a list of three formulas", item));
                None
            }
            // in a plane a torque is one formula
            _ if planar && key == "torque" => {
                Some(vec![None, None, law(template.formula(reader, item, &format!("`{key}`"))?)])
            }
            _ => {
                reader.mistake(crate::document::wrong_type(&format!("`{key}`"), "a list of three formulas", item));
                None
            }
        }
    };
    let (force, torque) = (components("force")?, components("torque")?);
    let zero = crate::formula::ast::Tree { kind: crate::formula::ast::Term::Number(0.0), span: template.section.span };
    let zero = std::rc::Rc::new(zero);
    for law in force.into_iter().chain(torque) {
        laws.push(law.unwrap_or_else(|| WrittenLaw { node: zero.clone(), bindings: Bindings::default() }));
    }
    Some(Force { name: String::new(), action: Action::Wrench { body, point: at, in_body } })
}

/// `plane = { at, normal }`.
pub(super) fn plane(
    template: &mut Template,
    reader: &mut Reader,
    planar: bool,
    bindings: &Bindings,
) -> Option<(Vector<f64>, Vector<f64>)> {
    let Some(table) = template.table(reader, "plane") else {
        template.missing(reader, "plane", "write plane = { at = [0, 0, 0], normal = [0, 0, 1] }");
        return None;
    };
    table.check_keys(reader, &["at", "normal"]);
    let at = match table.get("at") {
        Some(item) => template.vector_of(reader, item, "`at`", planar, bindings)?,
        None => [0.0; 3],
    };
    let Some(item) = table.get("normal") else {
        reader.mistake(Mistake::Missing {
            what: "the key `normal` of `plane`".into(),
            at: table.span.into(),
            label: "in this table".into(),
            help: "write plane = { at = [0, 0, 0], normal = [0, 0, 1] }".into(),
        });
        return None;
    };
    let normal = template.vector_of(reader, item, "`normal`", planar, bindings)?;
    if daedal_multibody::vector::unit(normal).is_none() {
        reader.mistake(Mistake::Syntax {
            message: "the normal of the plane is zero".into(),
            label: "it has no direction".into(),
            at: table.span.into(),
            help: None,
        });
        return None;
    }
    Some((at, normal))
}
