//! `<joint>` and `<freejoint>` of MJCF.

use super::super::frame::Frame;
use super::super::tree::{LinkMovement, MovementKind};
use super::super::xml::{Element, Log};
use super::settings::CompilerSettings;
use daedal_multibody::vector::IDENTITY;

/// Attributes that are read, or say only how limits and friction are solved.
const KNOWN: [&str; 20] = [
    "name",
    "class",
    "type",
    "group",
    "pos",
    "axis",
    "springdamper",
    "limited",
    "solreflimit",
    "solimplimit",
    "solreffriction",
    "solimpfriction",
    "stiffness",
    "range",
    "margin",
    "ref",
    "springref",
    "armature",
    "damping",
    "frictionloss",
];

/// A joint with its name, and whether it is a free one.
pub(super) fn joint<'d>(
    element: &Element<'d>,
    around: &Frame,
    settings: &CompilerSettings,
    log: &mut Log,
) -> Option<(&'d str, LinkMovement, bool)> {
    let name = element.text("name").unwrap_or_default();
    let kind = match element.tag() {
        "freejoint" => "free",
        _ if element.has("type") => element.word(log, "type", &["free", "ball", "slide", "hinge"])?,
        _ => "hinge",
    };
    let freedom = match kind {
        "slide" => MovementKind::Slide,
        "ball" => MovementKind::Ball,
        _ => MovementKind::Hinge,
    };
    let point = around.point(element.vector(log, "pos").unwrap_or_default());
    let axis = around.direction(element.direction(log, "axis", IDENTITY[2]));
    let called = (!name.is_empty()).then(|| name.to_string());
    let mut movement = LinkMovement::new(called, element.place(), freedom, point, axis);
    if element.tag() == "joint" {
        element.leave_out_but(log, &KNOWN);
        if element.has("range") {
            log.left_out("joint range");
        }
        let unit = if kind == "hinge" { settings.angles.unit } else { 1.0 };
        movement.zero = unit * element.number_or(log, "ref", 0.0);
        movement.rest = unit * element.number_or(log, "springref", 0.0);
        movement.stiffness = linear(element, "stiffness", log);
        movement.damping = linear(element, "damping", log);
        movement.friction = element.number_or(log, "frictionloss", 0.0);
        if element.number_or(log, "armature", 0.0) != 0.0 {
            let help = "a rotor is a body with a gear: write it so, or armature=\"0\" to go without";
            log.refuse(element.at("armature"), "the armature of a joint is not imported", "inertia of a rotor", help);
        }
        if element.numbers(log, "springdamper", 2..=2).is_some_and(|x| x.iter().any(|x| *x != 0.0)) {
            let help = "give `stiffness` and `damping`, as MuJoCo writes them: mj_saveLastXML";
            log.refuse(
                element.at("springdamper"),
                "`springdamper` is not imported",
                "it needs the masses behind the joint",
                help,
            );
        }
        if kind == "free" && (movement.stiffness != 0.0 || movement.damping != 0.0) {
            let help = "delete it and write [[forces]] of kind bushing after the import";
            log.refuse(
                element.place(),
                "springs and dampers of free bodies are not imported",
                "stiffness or damping",
                help,
            );
        }
    }
    Some((name, movement, kind == "free"))
}

/// A coefficient of a linear law; newer files may have polynomials.
fn linear(element: &Element, key: &str, log: &mut Log) -> f64 {
    let Some(x) = element.numbers(log, key, 1..=3) else { return 0.0 };
    if x[1..].iter().any(|x| *x != 0.0) {
        let help = "give one number, and write [[forces]] with a formula after the import";
        log.refuse(
            element.at(key),
            format!("`{key}` is a polynomial, and only its linear part is imported"),
            "more than one number",
            help,
        );
    }
    x[0]
}
