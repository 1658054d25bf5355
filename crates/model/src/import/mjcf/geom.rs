//! Geoms of MJCF: what bodies weigh and look like.

use super::super::frame::{Frame, MassProperties};
use super::super::rgb;
use super::super::tree::Link;
use super::super::xml::{Element, Log};
use super::orientation::{Angles, frame, z_along};
use daedal_multibody::inertia::{diagonal, of_box, of_cylinder, of_sphere};
use daedal_multibody::vector::{Matrix3, Vector, add, norm, scale, sub, unit};
use daedal_multibody::{Form, Shape};
use std::f64::consts::PI;

const TYPES: [&str; 9] = ["plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"];
/// Of water, in kg/m³: that of MuJoCo.
const DENSITY: f64 = 1000.0;
/// Attributes that say how it looks or touches; others change the motion.
const KNOWN: [&str; 20] = [
    "name",
    "class",
    "type",
    "size",
    "pos",
    "quat",
    "axisangle",
    "euler",
    "xyaxes",
    "zaxis",
    "fromto",
    "mass",
    "density",
    "group",
    "rgba",
    "contype",
    "conaffinity",
    "shellinertia",
    "mesh",
    "material",
];

/// A solid about the origin of its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Solid {
    Sphere(f64),
    /// Radius and half of the length of its cylinder, along z.
    Capsule(f64, f64),
    Ellipsoid(Vector<f64>),
    Cylinder(f64, f64),
    Box(Vector<f64>),
}

impl Solid {
    fn volume(self) -> f64 {
        match self {
            Solid::Sphere(r) => 4.0 / 3.0 * PI * r.powi(3),
            Solid::Capsule(r, half) => PI * r * r * (2.0 * half + 4.0 / 3.0 * r),
            Solid::Ellipsoid([a, b, c]) => 4.0 / 3.0 * PI * a * b * c,
            Solid::Cylinder(r, half) => PI * r * r * 2.0 * half,
            Solid::Box([a, b, c]) => 8.0 * a * b * c,
        }
    }

    /// J about its centre, for mass 1.
    fn inertia(self) -> Matrix3<f64> {
        match self {
            Solid::Sphere(r) => of_sphere(r),
            Solid::Cylinder(r, half) => of_cylinder(r, 2.0 * half, 2),
            Solid::Box(half) => of_box(half.map(|x| 2.0 * x)),
            Solid::Ellipsoid([a, b, c]) => diagonal([b * b + c * c, a * a + c * c, a * a + b * b].map(|x| x / 5.0)),
            Solid::Capsule(r, half) => {
                // two halves of a ball, each with its centre of mass 3r/8 behind its end of the cylinder
                let h = 2.0 * half;
                let ball = 4.0 * r / (4.0 * r + 3.0 * h);
                let cylinder = of_cylinder(r, h, 2);
                let along = (1.0 - ball) * cylinder[2][2] + ball * 0.4 * r * r;
                let across = (1.0 - ball) * cylinder[0][0] + ball * (0.4 * r * r + h * h / 4.0 + 3.0 * h * r / 8.0);
                diagonal([across, across, along])
            }
        }
    }

    /// What a picture shows; an ellipsoid has no shape there.
    fn shapes(self, X: &Frame) -> Vec<Shape> {
        let shape = |form, at| Shape { form, at, rotation: X.R };
        match self {
            Solid::Sphere(radius) => vec![shape(Form::Sphere { radius }, X.p)],
            Solid::Cylinder(radius, half) => vec![shape(Form::Cylinder { radius, length: 2.0 * half, axis: 2 }, X.p)],
            Solid::Box(half) => vec![shape(Form::Box { size: half.map(|x| 2.0 * x) }, X.p)],
            Solid::Ellipsoid(_) => Vec::new(),
            Solid::Capsule(radius, half) => {
                let ball = |z: f64| shape(Form::Sphere { radius }, X.point([0.0, 0.0, z]));
                vec![shape(Form::Cylinder { radius, length: 2.0 * half, axis: 2 }, X.p), ball(half), ball(-half)]
            }
        }
    }
}

/// What is needed of the settings of the file.
pub(super) struct Weighing {
    /// Do geoms of this body say its mass?
    pub weighs: bool,
    /// Groups that count.
    pub groups: (f64, f64),
}

/// Add a geom to its body.
pub(super) fn geom(
    element: &Element,
    around: &Frame,
    angles: &Angles,
    weighing: &Weighing,
    link: &mut Link,
    masses: &mut Vec<MassProperties>,
    log: &mut Log,
) {
    let kind = if element.has("type") { element.word(log, "type", &TYPES) } else { Some("sphere") };
    let Some(kind) = kind else { return };
    for attribute in element.node.attributes().filter(|attribute| !KNOWN.contains(&attribute.name())) {
        match attribute.name() {
            "plugin" => {
                log.refuse(element.place(), "plugins are not imported", "a plugin", "describe the shape by itself");
            }
            // how contacts are, and how things look
            "friction" | "condim" | "solref" | "solimp" | "margin" | "gap" | "priority" | "solmix" | "fitscale"
            | "hfield" => {}
            "fluidshape" | "fluidcoef" => log.left_out(format!("geom {}", attribute.name())),
            other => log.left_out(format!("geom {other}")),
        }
    }
    if element.has("mesh") && kind != "mesh" {
        log.refuse(
            element.at("mesh"),
            format!("a {kind} fitted to a mesh is not imported"),
            "meshes are not read",
            "give its size and place",
        );
        return;
    }
    if element.text("shellinertia") == Some("true") {
        log.refuse(element.at("shellinertia"), "shells are not imported", "a shell", "give the body an `inertial`");
    }
    let X = match ends(element, log) {
        Some((from, to)) => {
            let axis = unit(sub(from, to)).unwrap_or([0.0, 0.0, 1.0]);
            Frame { R: z_along(axis), p: scale(0.5, add(from, to)) }
        }
        None => frame(element, angles, log),
    };
    let X = around.then(&X);
    let group = element.number_or(log, "group", 0.0);
    let counts = weighing.weighs && (weighing.groups.0..=weighing.groups.1).contains(&group);
    let solid = match kind {
        "plane" | "hfield" | "mesh" | "sdf" => None,
        _ => solid(element, kind, log),
    };
    if let Some(solid) = solid {
        let shapes = solid.shapes(&X);
        if shapes.is_empty() {
            log.left_out(format!("picture of geom {kind}"));
        }
        link.shapes.extend(shapes);
        if link.color.is_none() {
            link.color = element.numbers(log, "rgba", 4..=4).map(|rgba| rgb(&rgba));
        }
    } else {
        log.left_out(format!("picture of geom {kind}"));
    }
    if !counts {
        return;
    }
    let given = element.number(log, "mass");
    let density = element.number_or(log, "density", DENSITY);
    let Some(solid) = solid else {
        let weightless = given.map_or(density == 0.0, |mass| mass == 0.0);
        if kind == "mesh" && !weightless {
            log.refuse(
                element.place(),
                "the mass of this body comes from a mesh, and meshes are not read",
                "a mesh that weighs",
                "give the body an `inertial` with its mass and inertia, as MuJoCo prints them, or the geom density=\"0\"",
            );
        }
        return;
    };
    let mass = given.unwrap_or_else(|| density * solid.volume());
    if mass < 0.0 {
        log.refuse(element.place(), "the mass of this geom is negative", "negative", "masses are not negative");
        return;
    }
    let J = solid.inertia().map(|row| row.map(|x| mass * x));
    masses.push(MassProperties { mass, centre: [0.0; 3], J }.seen(&X));
}

/// `fromto`.
fn ends(element: &Element, log: &mut Log) -> Option<(Vector<f64>, Vector<f64>)> {
    let x = element.numbers(log, "fromto", 6..=6)?;
    let (from, to) = ([x[0], x[1], x[2]], [x[3], x[4], x[5]]);
    if norm(sub(to, from)) == 0.0 {
        log.refuse(element.at("fromto"), "both ends of `fromto` are one point", "no length", "give two points");
    }
    Some((from, to))
}

/// `size`, whose meaning depends on the type; with `fromto` the length is that of the line.
fn solid(element: &Element, kind: &str, log: &mut Log) -> Option<Solid> {
    let line = ends(element, log).map(|(from, to)| norm(sub(to, from)) / 2.0);
    let needed = match (kind, line) {
        ("sphere", Some(_)) => {
            log.refuse(element.at("fromto"), "a sphere has no ends", "fromto of a sphere", "give `pos`");
            return None;
        }
        ("sphere", None) | (_, Some(_)) => 1,
        ("capsule" | "cylinder", None) => 2,
        _ => 3,
    };
    if !element.has("size") {
        element.missing(log, "size");
        return None;
    }
    let size = element.numbers(log, "size", needed..=3)?;
    if size[..needed].iter().any(|x| *x <= 0.0) {
        log.refuse(
            element.at("size"),
            format!("a size of this {kind} is not positive"),
            "not positive",
            "sizes are halves of lengths, and positive",
        );
        return None;
    }
    Some(match (kind, line) {
        ("sphere", _) => Solid::Sphere(size[0]),
        ("capsule", line) => Solid::Capsule(size[0], line.unwrap_or_else(|| size[1])),
        ("cylinder", line) => Solid::Cylinder(size[0], line.unwrap_or_else(|| size[1])),
        ("ellipsoid", Some(half)) => Solid::Ellipsoid([size[0], size[0], half]),
        ("ellipsoid", None) => Solid::Ellipsoid([size[0], size[1], size[2]]),
        (_, Some(half)) => Solid::Box([size[0], size[0], half]),
        (_, None) => Solid::Box([size[0], size[1], size[2]]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∫ over the solid, by the midpoint rule in cylinder coordinates about z.
    fn integrated(radius: impl Fn(f64) -> f64, half: f64) -> (f64, f64, f64) {
        let n = 20_000u32;
        let (mut volume, mut along, mut across) = (0.0, 0.0, 0.0);
        for k in 0..n {
            let z = half * (2.0 * (f64::from(k) + 0.5) / f64::from(n) - 1.0);
            let (r, dz) = (radius(z), 2.0 * half / f64::from(n));
            let disc = PI * r * r * dz;
            volume += disc;
            along += disc * r * r / 2.0;
            across += disc * (r * r / 4.0 + z * z);
        }
        (volume, along, across)
    }

    #[test]
    fn capsules_and_ellipsoids_weigh_what_they_enclose() {
        let (r, half) = (0.3, 0.5);
        let profile = |z: f64| {
            let beyond = (z.abs() - half).max(0.0);
            (r * r - beyond * beyond).max(0.0).sqrt()
        };
        let (volume, along, across) = integrated(profile, half + r);
        let capsule = Solid::Capsule(r, half);
        assert!((capsule.volume() / volume - 1.0).abs() < 1e-8);
        assert!((capsule.inertia()[2][2] * volume / along - 1.0).abs() < 1e-8);
        assert!((capsule.inertia()[0][0] * volume / across - 1.0).abs() < 1e-8);

        let (volume, along, across) = integrated(|z: f64| r * (1.0 - z * z / (half * half)).max(0.0).sqrt(), half);
        let ellipsoid = Solid::Ellipsoid([r, r, half]);
        assert!((ellipsoid.volume() / volume - 1.0).abs() < 1e-8);
        assert!((ellipsoid.inertia()[2][2] * volume / along - 1.0).abs() < 1e-8);
        assert!((ellipsoid.inertia()[1][1] * volume / across - 1.0).abs() < 1e-8);
    }
}
