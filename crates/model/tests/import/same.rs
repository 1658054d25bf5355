//! A random tree of bodies, written as URDF, as MJCF and as a model file.

use crate::{imported, system};
use daedal_multibody::vector::{
    IDENTITY, Matrix3, Vector, about, add, cross, norm, product, scale, sub, times, transposed,
};
use daedal_multibody::{System, inertia};
use proptest::prelude::*;
use std::fmt::Write;

/// A link: parent, place, fixed angles, axis, does it slide, mass, centre, angles of the inertia, moments.
#[derive(Clone, Debug)]
struct Part {
    parent: usize,
    xyz: Vector<f64>,
    rpy: Vector<f64>,
    axis: Vector<f64>,
    slides: bool,
    mass: f64,
    centre: Vector<f64>,
    turned: Vector<f64>,
    moments: Vector<f64>,
}

fn vector(size: f64) -> impl Strategy<Value = Vector<f64>> {
    [-size..size, -size..size, -size..size]
}

prop_compose! {
    fn part()(parent in 0..1000usize, xyz in vector(1.0), rpy in vector(3.0), axis in vector(1.0), slides in any::<bool>(),
              mass in 0.1..5.0, centre in vector(0.5), turned in vector(3.0), sides in [0.1..1.0, 0.1..1.0, 0.1..1.0f64]) -> Part {
        let [a, b, c] = sides.map(|side: f64| mass * side * side / 12.0);
        let axis = if norm(axis) < 0.1 { [0.0, 0.6, 0.8] } else { axis };
        Part { parent, xyz, rpy, axis, slides, mass, centre, turned, moments: [b + c, a + c, a + b] }
    }
}

fn words(a: Vector<f64>) -> String {
    format!("{:?} {:?} {:?}", a[0], a[1], a[2])
}

/// Roll, pitch and yaw about fixed axes.
fn fixed_angles([roll, pitch, yaw]: Vector<f64>) -> Matrix3<f64> {
    product(&about(IDENTITY[2], yaw), &product(&about(IDENTITY[1], pitch), &about(IDENTITY[0], roll)))
}

/// Which part is the parent of part k; none is the ground.
fn parent(parts: &[Part], k: usize) -> Option<usize> {
    (parts[k].parent % (k + 1)).checked_sub(1)
}

fn urdf(parts: &[Part]) -> String {
    let mut text = "<robot name=\"tree\"><link name=\"base\"/>".to_string();
    for (k, part) in parts.iter().enumerate() {
        let [x, y, z] = part.moments;
        let _ = write!(
            text,
            "<link name=\"l{k}\"><inertial><origin xyz=\"{}\" rpy=\"{}\"/><mass value=\"{:?}\"/><inertia ixx=\"{x:?}\" iyy=\"{y:?}\" izz=\"{z:?}\"/></inertial></link>",
            words(part.centre),
            words(part.turned),
            part.mass
        );
        let above = parent(parts, k).map_or("base".to_string(), |p| format!("l{p}"));
        let kind = if part.slides { "prismatic" } else { "continuous" };
        let _ = write!(
            text,
            "<joint name=\"j{k}\" type=\"{kind}\"><origin xyz=\"{}\" rpy=\"{}\"/><parent link=\"{above}\"/><child link=\"l{k}\"/><axis xyz=\"{}\"/></joint>",
            words(part.xyz),
            words(part.rpy),
            words(part.axis)
        );
    }
    text + "</robot>"
}

fn mjcf(parts: &[Part]) -> String {
    fn body(parts: &[Part], k: usize, text: &mut String) {
        let part = &parts[k];
        let kind = if part.slides { "slide" } else { "hinge" };
        let _ = write!(
            text,
            "<body name=\"l{k}\" pos=\"{}\" euler=\"{}\"><inertial pos=\"{}\" euler=\"{}\" mass=\"{:?}\" diaginertia=\"{}\"/><joint name=\"j{k}\" type=\"{kind}\" axis=\"{}\"/>",
            words(part.xyz),
            words(part.rpy),
            words(part.centre),
            words(part.turned),
            part.mass,
            words(part.moments),
            words(part.axis)
        );
        for child in k + 1..parts.len() {
            if parent(parts, child) == Some(k) {
                body(parts, child, text);
            }
        }
        text.push_str("</body>");
    }
    let mut text = "<mujoco><compiler angle=\"radian\" eulerseq=\"XYZ\"/><worldbody>".to_string();
    (0..parts.len()).filter(|k| parent(parts, *k).is_none()).for_each(|k| body(parts, k, &mut text));
    text + "</worldbody></mujoco>"
}

/// Frames in the world.
fn frames(parts: &[Part]) -> Vec<(Matrix3<f64>, Vector<f64>)> {
    let mut all: Vec<(Matrix3<f64>, Vector<f64>)> = Vec::new();
    for (k, part) in parts.iter().enumerate() {
        let (R, p) = parent(parts, k).map_or((IDENTITY, [0.0; 3]), |p| all[p]);
        all.push((product(&R, &fixed_angles(part.rpy)), add(p, times(&R, part.xyz))));
    }
    all
}

fn direct(parts: &[Part]) -> String {
    let mut text = "[model]\nname = \"tree\"\n".to_string();
    let frames = frames(parts);
    for (k, (part, (R, p))) in parts.iter().zip(&frames).enumerate() {
        let own = fixed_angles(part.turned);
        let J = product(&product(&own, &inertia::diagonal(part.moments)), &transposed(&own));
        let q = daedal_multibody::vector::quaternion_of(R);
        let _ = write!(
            text,
            "[[bodies]]\nname = \"l{k}\"\nmass = {:?}\nat = {:?}\nrotation = {{ quaternion = {q:?} }}\ninertia = [{:?}, {:?}, {:?}, {:?}, {:?}, {:?}]\n",
            part.mass,
            add(*p, times(R, part.centre)),
            J[0][0],
            J[1][1],
            J[2][2],
            J[0][1],
            J[0][2],
            J[1][2]
        );
    }
    for (k, (part, (R, p))) in parts.iter().zip(&frames).enumerate() {
        let above = parent(parts, k).map_or("ground".to_string(), |p| format!("l{p}"));
        let kind = if part.slides { "prismatic" } else { "revolute" };
        let _ = write!(
            text,
            "[[joints]]\nname = \"j{k}\"\nkind = \"{kind}\"\nbetween = [\"{above}\", \"l{k}\"]\nat = {p:?}\naxis = {:?}\n",
            times(R, part.axis)
        );
    }
    text
}

/// Mass, centre of mass, and inertia about the origin, of all that moves.
fn totals(system: &System) -> (f64, Vector<f64>, Matrix3<f64>) {
    let (mut mass, mut moment, mut J) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
    for (_, body) in system.movers() {
        mass += body.mass;
        moment = add(moment, scale(body.mass, body.at));
        let turned = product(&product(&body.rotation, &body.inertia), &transposed(&body.rotation));
        let about = inertia::about(&turned, body.mass, body.at);
        (0..3).for_each(|i| J[i] = add(J[i], about[i]));
    }
    (mass, scale(1.0 / mass, moment), J)
}

/// Numbers of size one that went through a dozen operations.
const ROUNDING: f64 = 1e-12;

fn assert_close(a: Vector<f64>, b: Vector<f64>, what: &str) {
    assert!(norm(sub(a, b)) < ROUNDING * (1.0 + norm(a)), "{what}: {a:?} {b:?}");
}

fn assert_same(one: &System, other: &System) {
    assert_eq!(one.movers().count(), other.movers().count());
    for (_, body) in one.movers() {
        let (_, twin) = other.movers().find(|(_, twin)| twin.name == body.name).expect("a body of this name");
        assert!((body.mass - twin.mass).abs() < ROUNDING * body.mass);
        assert_close(body.at, twin.at, "centre");
        for i in 0..3 {
            assert_close(body.rotation[i], twin.rotation[i], "rotation");
            assert_close(body.inertia[i], twin.inertia[i], "inertia");
        }
    }
    for joint in one.joints() {
        let twin = other.joints().iter().find(|twin| twin.name == joint.name).expect("a joint of this name");
        assert_eq!(joint.kind.name(), twin.kind.name());
        let names = |system: &System, joint: &daedal_multibody::Joint| {
            joint.bodies.map(|body| system.name_of(body).replace("base", "ground"))
        };
        assert_eq!(names(one, joint), names(other, twin));
        let axis = |joint: &daedal_multibody::Joint| transposed(&joint.frames[0])[2];
        assert!(norm(cross(axis(joint), axis(twin))) < ROUNDING);
        assert_close(joint.points[0], twin.points[0], "place");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn urdf_mjcf_and_model_file_are_the_same_bodies(parts in prop::collection::vec(part(), 1..7)) {
        let written = system(&direct(&parts));
        let from_urdf = system(&imported("tree.urdf", &urdf(&parts), None).text);
        let from_mjcf = system(&imported("tree.xml", &mjcf(&parts), None).text);
        assert_same(&written, &from_urdf);
        assert_same(&written, &from_mjcf);
        for other in [&from_urdf, &from_mjcf] {
            let (one, two) = (totals(&written), totals(other));
            prop_assert!((one.0 - two.0).abs() < ROUNDING * one.0);
            assert_close(one.1, two.1, "centre of mass");
        }
    }

    /// Links that are fixed become parts of their parents, and nothing of them gets lost.
    #[test]
    fn fixed_links_are_merged_with_all_they_weigh(parts in prop::collection::vec(part(), 2..7), fixed in 1..6usize) {
        let fixed = fixed.min(parts.len() - 1);
        // a link that hangs on the ground stays one that moves
        prop_assume!(parent(&parts, fixed).is_some());
        let apart = system(&urdf_import(&urdf(&parts)));
        let kinds = ["prismatic", "continuous"].map(|kind| format!("name=\"j{fixed}\" type=\"{kind}\""));
        let text = kinds.iter().fold(urdf(&parts), |text, kind| text.replace(kind, &format!("name=\"j{fixed}\" type=\"fixed\"")));
        let merged = system(&urdf_import(&text));
        prop_assert_eq!(merged.movers().count(), parts.len() - 1);
        let (one, two) = (totals(&apart), totals(&merged));
        prop_assert!((one.0 - two.0).abs() < ROUNDING * one.0);
        assert_close(one.1, two.1, "centre of mass");
        (0..3).for_each(|i| assert_close(one.2[i], two.2[i], "inertia"));
    }
}

fn urdf_import(text: &str) -> String {
    imported("tree.urdf", text, None).text
}
