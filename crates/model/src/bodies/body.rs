//! `[world]`, `[[bodies]]` and `[[points]]`.

use super::DrawnSystem;
use super::objects::Object;
use super::template::{Template, tables};
use crate::diagnostic::Mistake;
use crate::document::{Section, wrong_type};
use crate::entries::Name;
use crate::index::Bindings;
use crate::picture;
use crate::reader::Reader;
use crate::source::Span;
use daedal_multibody::vector::{IDENTITY, Matrix3, about, norm, product, rotation, transposed, unit};
use daedal_multibody::{Body, Shape, System};
use toml::de::{DeTable, DeValue};

const SHAPES: [&str; 4] = ["bar", "box", "cylinder", "sphere"];
const KEYS: [&str; 14] = [
    "name", "for", "mass", "density", "bar", "box", "cylinder", "sphere", "shapes", "at", "rotation", "inertia",
    "fixed", "color",
];
/// Shapes that are drawn at places of their own.
const DRAWN: [&str; 3] = ["box", "cylinder", "sphere"];

/// `[world]`.
pub(super) fn world(reader: &mut Reader, root: &DeTable) -> System {
    let Some(section) = Section::find(reader, root, "world", "[world]") else { return System::new() };
    section.check_keys(reader, &["gravity", "plane"]);
    let planar = match section.string(reader, "plane").as_deref() {
        Some("xy") => true,
        Some(other) => {
            reader.mistake(Mistake::Syntax {
                message: format!("there is no plane `{other}`"),
                label: "unknown plane".into(),
                at: section.get("plane").map_or(section.span, |item| item.span().into()).into(),
                help: Some("planar models lie in the plane \"xy\"".into()),
            });
            false
        }
        None => false,
    };
    let mut system = if planar { System::in_plane() } else { System::new() };
    if let Some(item) = section.get("gravity") {
        let mut template = Template::alone(section);
        if let Some(gravity) = template.vector_of(reader, item, "`gravity`", planar, &Bindings::default()) {
            system.gravity = gravity;
        }
    }
    system
}

/// `[[bodies]]`.
pub(super) fn bodies(reader: &mut Reader, root: &DeTable, drawing: &mut DrawnSystem) {
    for mut template in tables(reader, root, "bodies", "[[bodies]]") {
        template.section.check_keys(reader, &KEYS);
        if template.section.get("name").is_none() {
            template.missing(reader, "name", "write name = \"rod\"");
            continue;
        }
        template.each(reader, "", &mut |template, reader, name, bindings| {
            let body = body(template, reader, drawing.system.is_planar(), &name, bindings);
            // a body with mistakes keeps its name, so that joints do not complain about it
            let broken = body.is_none();
            let body = body.unwrap_or_else(|| Body::sphere(1.0).mass(1.0)).name(&name.full);
            reader.scope.incomplete |= broken;
            let number = drawing.system.bodies().len();
            drawing.declare(reader, &name, Object::Body(number));
            drawing.system.body(body);
        });
    }
}

fn body(template: &mut Template, reader: &mut Reader, planar: bool, name: &Name, bindings: &Bindings) -> Option<Body> {
    let given: Vec<&str> = SHAPES.into_iter().filter(|shape| template.section.get(shape).is_some()).collect();
    if let [_, second, ..] = given[..] {
        reader.mistake(Mistake::Syntax {
            message: format!("`{}` has two shapes", name.full),
            label: "a second one".into(),
            at: template.at(second).into(),
            help: Some("give one shape; other bodies can be welded to it".into()),
        });
        return None;
    }
    let mut body = match given.first().copied() {
        Some(shape) => {
            let table = template.table(reader, shape)?;
            shaped(template, reader, table, planar, bindings)?
        }
        None => Body::new(0.0, [[0.0; 3]; 3]),
    };
    let is_bar = given.first() == Some(&"bar");
    if let Some(key) = ["at", "rotation"].into_iter().find(|key| is_bar && template.section.get(key).is_some()) {
        reader.mistake(Mistake::Syntax {
            message: format!("a bar has no `{key}`"),
            label: "given by `from` and `to`".into(),
            at: template.at(key).into(),
            help: Some("the ends of a bar say where it is".into()),
        });
        return None;
    }
    if let Some(at) = template.vector(reader, "at", planar, bindings) {
        body = body.at(at);
    }
    if let Some(table) = template.table(reader, "rotation") {
        body = body.rotation(turned(template, reader, table, planar, bindings)?);
    } else if template.section.get("rotation").is_some() {
        return None;
    }
    body.fixed = template.section.truth(reader, "fixed").unwrap_or(false);
    body.color = picture::color(reader, template.section);
    for key in ["mass", "density"] {
        if template.section.get(key).is_some() {
            let value = template.number(reader, key, bindings)?;
            if value <= 0.0 {
                let (what, at) = (format!("the {key} of `{}`", name.full), template.at(key).into());
                reader.mistake(Mistake::NotPositive { what, value, at });
                return None;
            }
            if key == "density" && given.is_empty() {
                reader.mistake(Mistake::Syntax {
                    message: format!("`{}` has a density and no shape", name.full),
                    label: "density of what?".into(),
                    at: template.at(key).into(),
                    help: Some(format!("give one of {}, or a mass with an inertia", SHAPES.join(", "))),
                });
                return None;
            }
            body = if key == "mass" { body.mass(value) } else { body.density(value) };
        }
    }
    if template.section.get("mass").is_none() && template.section.get("density").is_none() && !body.fixed {
        template.missing(
            reader,
            "mass",
            "a body that moves has a `mass` or a `density`; `fixed = true` for parts of the ground",
        );
        return None;
    }
    if let Some(item) = template.section.get("inertia") {
        let J = inertia(template, reader, item, bindings)?;
        body = body.inertia(J);
    }
    // drawn only: they neither weigh nor have an inertia
    for shape in drawn(template, reader, planar, bindings)? {
        let (at, rotation) = (body.local(shape.at), product(&transposed(&body.rotation), &shape.rotation));
        body.shapes.push(Shape { form: shape.form, at, rotation });
    }
    Some(body)
}

/// `shapes = [{ box = { size = […] }, at = […], rotation = {…} }, …]`, in the world of the drawing.
fn drawn(template: &mut Template, reader: &mut Reader, planar: bool, bindings: &Bindings) -> Option<Vec<Shape>> {
    let Some(list) = template.section.get("shapes") else { return Some(Vec::new()) };
    let DeValue::Array(items) = list.get_ref() else {
        reader.mistake(wrong_type("`shapes`", "a list of tables", list));
        return None;
    };
    let mut shapes = Vec::new();
    for item in items {
        let DeValue::Table(table) = item.get_ref() else {
            reader.mistake(wrong_type("an entry of `shapes`", "a table { box = { … }, at = [x, y, z] }", item));
            return None;
        };
        let section = Section { title: "an entry of `shapes`", span: item.span().into(), table };
        section.check_keys(reader, &[&DRAWN[..], &["at", "rotation"]].concat());
        let subtable = |reader: &mut Reader, key: &'static str| match section.get(key)?.get_ref() {
            DeValue::Table(table) => Some(Section { title: key, span: section.get(key)?.span().into(), table }),
            _ => {
                reader.mistake(wrong_type(&format!("`{key}`"), "a table { … }", section.get(key)?));
                None
            }
        };
        let given: Vec<&'static str> = DRAWN.into_iter().filter(|key| section.get(key).is_some()).collect();
        let [kind] = given[..] else {
            reader.mistake(Mistake::Syntax {
                message: format!("an entry of `shapes` has {} shapes", given.len()),
                label: "this entry".into(),
                at: section.span.into(),
                help: Some(format!("give one of {}", DRAWN.join(", "))),
            });
            return None;
        };
        let table = subtable(reader, kind)?;
        let form = shaped(template, reader, table, planar, bindings)?.shapes.first()?.form;
        let at = match section.get("at") {
            Some(item) => template.vector_of(reader, item, "`at`", planar, bindings)?,
            None => [0.0; 3],
        };
        let rotation = match section.get("rotation") {
            Some(_) => {
                let table = subtable(reader, "rotation")?;
                turned(template, reader, table, planar, bindings)?
            }
            None => IDENTITY,
        };
        shapes.push(Shape { form, at, rotation });
    }
    Some(shapes)
}

fn shaped(
    template: &mut Template,
    reader: &mut Reader,
    table: Section,
    planar: bool,
    bindings: &Bindings,
) -> Option<Body> {
    let shape = table.title;
    let vector = |template: &mut Template, reader: &mut Reader, key: &str| match table.get(key) {
        Some(item) => template.vector_of(reader, item, &format!("`{key}`"), planar, bindings),
        None => {
            reader.mistake(Mistake::Missing {
                what: format!("the key `{key}` of `{shape}`"),
                at: table.span.into(),
                label: "in this table".into(),
                help: format!("write {key} = [x, y, z]"),
            });
            None
        }
    };
    match shape {
        "bar" => {
            table.check_keys(reader, &["from", "to", "width", "radius"]);
            let (from, to) = (vector(template, reader, "from"), vector(template, reader, "to"));
            let (from, to) = (from?, to?);
            if norm(daedal_multibody::vector::sub(to, from)) == 0.0 {
                reader.mistake(Mistake::Syntax {
                    message: "the bar has no length".into(),
                    label: "`from` and `to` are the same point".into(),
                    at: table.span.into(),
                    help: None,
                });
                return None;
            }
            if table.get("radius").is_some() {
                return Some(Body::round_bar(from, to, template.positive(reader, &table, "radius", bindings)?));
            }
            Some(Body::bar(from, to, template.positive(reader, &table, "width", bindings)?))
        }
        "box" => {
            table.check_keys(reader, &["size"]);
            let size = match table.get("size") {
                Some(item) => template.vector_of(reader, item, "`size`", false, bindings),
                None => vector(template, reader, "size"),
            }?;
            if size.iter().any(|edge| *edge <= 0.0) {
                let value = size.iter().copied().fold(f64::INFINITY, f64::min);
                reader.mistake(Mistake::NotPositive {
                    what: "an edge of the box".into(),
                    value,
                    at: table.span.into(),
                });
                return None;
            }
            Some(Body::cuboid(size))
        }
        "cylinder" => {
            table.check_keys(reader, &["radius", "length"]);
            let radius = template.positive(reader, &table, "radius", bindings);
            let length = template.positive(reader, &table, "length", bindings);
            Some(Body::cylinder(radius?, length?))
        }
        _ => {
            table.check_keys(reader, &["radius"]);
            Some(Body::sphere(template.positive(reader, &table, "radius", bindings)?))
        }
    }
}

/// `{ axis, angle }`, `{ quaternion }` or `{ rpy }`; in a plane `{ angle }`.
fn turned(
    template: &mut Template,
    reader: &mut Reader,
    table: Section,
    planar: bool,
    bindings: &Bindings,
) -> Option<Matrix3<f64>> {
    table.check_keys(reader, &["axis", "angle", "quaternion", "rpy"]);
    if let Some(item) = table.get("quaternion") {
        let q = template.numbers_of(reader, item, "`quaternion`", &[4], bindings)?;
        if q.iter().all(|x| *x == 0.0) {
            reader.mistake(no_direction("the quaternion", Span::from(item.span())));
            return None;
        }
        return Some(rotation([q[0], q[1], q[2], q[3]]));
    }
    if let Some(item) = table.get("rpy") {
        let angles = template.numbers_of(reader, item, "`rpy`", &[3], bindings)?;
        // roll about x, then pitch about y, then yaw about z, all fixed
        let [roll, pitch, yaw] = [0, 1, 2].map(|k| about(IDENTITY[k], angles[k]));
        return Some(product(&yaw, &product(&pitch, &roll)));
    }
    let angle = match table.get("angle") {
        Some(item) => template.number_of(reader, item, "`angle`", bindings)?,
        None => {
            reader.mistake(Mistake::Missing {
                what: "the key `angle` of `rotation`".into(),
                at: table.span.into(),
                label: "in this table".into(),
                help: "write rotation = { axis = [0, 0, 1], angle = \"pi/2\" }".into(),
            });
            return None;
        }
    };
    let axis = match table.get("axis") {
        Some(item) => {
            let axis = template.vector_of(reader, item, "`axis`", false, bindings)?;
            let unit = unit(axis);
            if unit.is_none() {
                reader.mistake(no_direction("the axis", Span::from(item.span())));
            }
            unit?
        }
        None if planar => [0.0, 0.0, 1.0],
        None => {
            reader.mistake(Mistake::Missing {
                what: "the key `axis` of `rotation`".into(),
                at: table.span.into(),
                label: "in this table".into(),
                help: "write rotation = { axis = [0, 0, 1], angle = \"pi/2\" }".into(),
            });
            return None;
        }
    };
    Some(about(axis, angle))
}

fn no_direction(what: &str, at: Span) -> Mistake {
    Mistake::Syntax {
        message: format!("{what} is zero"),
        label: "it has no direction".into(),
        at: at.into(),
        help: None,
    }
}

/// Three moments, six entries xx, yy, zz, xy, xz, yz, or rows.
fn inertia(
    template: &mut Template,
    reader: &mut Reader,
    item: &crate::document::TomlItem,
    bindings: &Bindings,
) -> Option<Matrix3<f64>> {
    if let DeValue::Array(rows) = item.get_ref()
        && rows.len() == 3
        && rows.iter().all(|row| row.get_ref().is_array())
    {
        let mut J = [[0.0; 3]; 3];
        for (k, row) in rows.iter().enumerate() {
            let row = template.numbers_of(reader, row, "a row of `inertia`", &[3], bindings)?;
            J[k].copy_from_slice(&row);
        }
        return Some(J);
    }
    let J = template.numbers_of(reader, item, "`inertia`", &[1, 3, 6], bindings)?;
    Some(match J[..] {
        [J] => [[J, 0.0, 0.0], [0.0, J, 0.0], [0.0, 0.0, J]],
        [x, y, z] => [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]],
        [xx, yy, zz, xy, xz, yz] => [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]],
        _ => return None,
    })
}

/// `[[points]]`.
pub(super) fn points(reader: &mut Reader, root: &DeTable, drawing: &mut DrawnSystem) {
    for mut template in tables(reader, root, "points", "[[points]]") {
        template.section.check_keys(reader, &["name", "for", "body", "at"]);
        if template.section.get("name").is_none() {
            template.missing(reader, "name", "write name = \"tip\"");
            continue;
        }
        template.each(reader, "", &mut |template, reader, name, bindings| {
            let Some(item) = template.section.get("body") else {
                template.missing(reader, "body", "write body = \"rod\"");
                return;
            };
            let planar = drawing.system.is_planar();
            let body = template.body(reader, item, &drawing.objects, bindings);
            let at = template.needed(reader, "at", planar, bindings);
            let (Some(body), Some(at)) = (body, at) else { return };
            let Some(body) = body.number() else {
                reader.mistake(wrong_type("`body`", "a body that moves", item));
                return;
            };
            let point = drawing.system.point(body, &name.full, at);
            drawing.declare(reader, &name, Object::Point { body, point });
        });
    }
}
