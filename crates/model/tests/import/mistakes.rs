//! What is refused: at its place, with what was expected and what to try.

use daedal_model::{Base, import};

/// Is this refused with a line that has all of these parts, the place first?
#[track_caller]
fn refused(text: &str, parts: &[&str]) {
    refused_with(text, None, parts);
}

#[track_caller]
fn refused_with(text: &str, base: Option<Base>, parts: &[&str]) {
    let lines = match import("robot", text, base) {
        Ok(imported) => panic!("not refused: {}", imported.text),
        Err(wrong) => wrong.lines(),
    };
    let whole = |line: &str| parts.iter().all(|part| line.contains(part));
    assert!(lines.lines().any(whole), "{parts:?} are not in one line of:\n{lines}");
}

const WEIGHT: &str = "<inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial>";

fn joint(name: &str, kind: &str, parent: &str, child: &str, inside: &str) -> String {
    format!(
        "<joint name=\"{name}\" type=\"{kind}\"><parent link=\"{parent}\"/><child link=\"{child}\"/>{inside}</joint>\n"
    )
}

/// Links with weight, a line each, then joints.
fn robot(links: &[&str], joints: &[String]) -> String {
    let links: Vec<String> = links.iter().map(|name| format!("<link name=\"{name}\">{WEIGHT}</link>\n")).collect();
    format!("<robot name=\"r\">\n{}{}</robot>", links.concat(), joints.concat())
}

#[test]
fn malformed_xml_is_marked() {
    refused(
        "<robot name=\"r\">\n  <link name=\"a\">\n</robot>",
        &["robot:3:", "not valid XML", "close <link> before </robot>"],
    );
    refused("<robot name=\"r\"><link name=a/></robot>", &["robot:1:", "not valid XML"]);
    refused("", &["not valid XML"]);
    refused("<robots/>", &["robot:1:1:", "neither a robot of URDF nor a model of MJCF", "did you mean `robot`?"]);
    refused("<robot><xacro:macro name=\"m\"/></robot>", &["not valid XML", "expand the macros first"]);
    refused(
        "<robot xmlns:xacro=\"http://wiki.ros.org/xacro\"><xacro:macro name=\"m\"/></robot>",
        &["macros of xacro", "expand the macros first"],
    );
    let deep = format!("<mujoco>{}{}</mujoco>", "<default class=\"d\">".repeat(600), "</default>".repeat(600));
    refused(&deep, &["nested too deeply"]);
}

#[test]
fn numbers_that_are_none_are_marked() {
    let text = robot(&["a", "b"], &[joint("j", "revolute", "a", "b", "<axis xyz=\"0 0 one\"/>")]);
    refused(&text, &["robot:4:", "`one` in `xyz` of <axis> is not a finite number"]);
    let text = robot(&["a", "b"], &[joint("j", "revolute", "a", "b", "<axis xyz=\"0 1\"/>")]);
    refused(&text, &["robot:4:", "`xyz` of <axis> has 2 numbers, not 3"]);
    let text = robot(&["a", "b"], &[joint("j", "revolute", "a", "b", "<axis xyz=\"0 0 0\"/>")]);
    refused(&text, &["`xyz` of <axis> is zero"]);
}

#[test]
fn links_and_joints_that_make_no_tree_are_refused() {
    refused(
        &robot(&["a", "b"], &[joint("j", "revolute", "c", "b", "")]),
        &["robot:4:", "nothing is called `c`", "the links are `a` and `b`"],
    );
    refused(
        &robot(&["a", "b"], &[]),
        &["robot:3:", "the links `a` and `b` have no parent", "connect this one by a joint"],
    );
    let circle = [joint("j", "revolute", "a", "b", ""), joint("k", "revolute", "b", "a", "")];
    refused(&robot(&["a", "b"], &circle), &["every link has a parent", "close loops by [[joints]]"]);
    let beside = [joint("j", "revolute", "a", "b", ""), joint("k", "revolute", "b", "a", "")];
    refused(&robot(&["root", "a", "b"], &beside), &["the joints go round in a circle"]);
    let two = [joint("j", "revolute", "a", "b", ""), joint("k", "revolute", "a", "b", "")];
    refused(&robot(&["a", "b"], &two), &["robot:5:", "the link `b` is the child of `j` and of `k`"]);
    refused(&robot(&["a", "a"], &[]), &["robot:3:", "`a` is declared twice"]);
    refused(
        &robot(&["a", "b"], &[joint("j", "rotary", "a", "b", "")]),
        &["there is no `type` \"rotary\"", "`revolute`"],
    );
    refused(&robot(&["a"], &[]), &["nothing moves"]);
    let mimic = joint("j", "revolute", "a", "b", "<mimic joint=\"k\"/>");
    refused(&robot(&["a", "b"], &[mimic]), &["nothing is called `k`", "the joints are `j`"]);
    let itself = joint("j", "revolute", "a", "b", "<mimic joint=\"j\"/>");
    refused(&robot(&["a", "b"], &[itself]), &["this joint follows itself"]);
}

#[test]
fn bodies_that_move_need_mass_and_inertia() {
    let moving = |inside: &str| {
        format!(
            "<robot name=\"r\">\n<link name=\"a\"/>\n<link name=\"arm\">{inside}</link>\n{}</robot>",
            joint("j", "revolute", "a", "arm", "")
        )
    };
    refused(&moving(""), &["robot:3:1:", "the link `arm` moves and has no mass", "fix it to its parent"]);
    refused(&moving("<inertial><mass value=\"1\"/></inertial>"), &["the link `arm` moves and has no inertia"]);
    refused(
        &moving("<inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"3\"/></inertial>"),
        &["no body has the inertia of the link `arm`", "triangle inequality"],
    );
    refused(&moving("<inertial><mass value=\"-1\"/></inertial>"), &["robot:3:", "the mass must not be negative"]);
    refused(&moving("<inertial/>"), &["the element <mass> of <inertial> is missing"]);
    refused(
        "<mujoco><worldbody>\n<body name=\"b\"><joint/></body></worldbody></mujoco>",
        &["robot:2:1:", "the body `b` moves and has no mass"],
    );
    refused(
        "<mujoco><worldbody><body><joint/><geom type=\"mesh\" mesh=\"m\"/></body></worldbody></mujoco>",
        &["the mass of this body comes from a mesh"],
    );
    let floating = robot(&["a", "b"], &[joint("j", "fixed", "a", "b", "")]);
    assert!(import("robot", &floating, Some(Base::Floating)).is_ok());
    refused_with(&floating, Some(Base::Fixed), &["nothing moves"]);
}

/// A model of MJCF with one body that moves.
fn mjcf(before: &str, joints: &str, after: &str) -> String {
    format!(
        "<mujoco>{before}<worldbody><body name=\"b\">{joints}<geom size=\"0.1\"/></body></worldbody>\n{after}</mujoco>"
    )
}

#[test]
fn what_would_make_another_motion_is_refused() {
    refused(&mjcf("", "<joint armature=\"0.1\"/>", ""), &["armature", "a rotor is a body with a gear"]);
    refused(&mjcf("", "<joint/>", "<tendon><fixed name=\"t\"/></tendon>"), &["robot:2:", "<tendon> is not imported"]);
    refused(
        &mjcf("", "<joint name=\"j\"/>", "<actuator><muscle joint=\"j\"/></actuator>"),
        &["the actuator <muscle> is not imported"],
    );
    refused(
        &mjcf("", "<joint/>", "<contact><pair geom1=\"a\" geom2=\"b\"/></contact>"),
        &["<pair> is not imported", "kind contact"],
    );
    refused(&mjcf("", "<joint/>", "<deformable><flex name=\"f\"/></deformable>"), &["<flex> is not imported"]);
    refused(&mjcf("", "<joint/>", "<extension><plugin plugin=\"p\"/></extension>"), &["<plugin> is not imported"]);
    refused(&mjcf("<include file=\"a.xml\"/>", "<joint/>", ""), &["<include> is not imported"]);
    refused(&mjcf("<compiler coordinate=\"global\"/>", "<joint/>", ""), &["global coordinates are not imported"]);
    refused(&mjcf("<compiler eulerseq=\"abc\"/>", "<joint/>", ""), &["no sequence of Euler angles"]);
    refused(&mjcf("<compiler boundmass=\"0.1\"/>", "<joint/>", ""), &["`boundmass` is not imported"]);
    refused(&mjcf("", "<joint class=\"c\"/>", ""), &["nothing is called `c`", "the classes are"]);
    refused(&mjcf("", "<joint type=\"hing\"/>", ""), &["there is no `type` \"hing\"", "did you mean `hinge`?"]);
    refused(&mjcf("", "<joint type=\"ball\" stiffness=\"1\"/>", ""), &["no coordinate of its own"]);
    refused(&mjcf("", "<joint/>", "<equality><distance/></equality>"), &["<equality> <distance> is not imported"]);
    refused(
        &mjcf("", "<joint/>", "<equality><connect body1=\"c\" anchor=\"0 0 0\"/></equality>"),
        &["nothing is called `c`", "the bodies are `b`"],
    );
    refused(
        &mjcf("", "<joint/>", "<equality><weld body1=\"b\" relpose=\"1 0 0 1 0 0 0\"/></equality>"),
        &["not drawn as they are welded"],
    );
}

#[test]
fn joints_of_one_body_that_are_not_one_joint_are_refused() {
    let help = "give the parts between the joints as bodies";
    let hinge = |axis: &str, at: &str| format!("<joint axis=\"{axis}\" pos=\"{at}\"/>");
    let slide = |axis: &str| format!("<joint type=\"slide\" axis=\"{axis}\"/>");
    let pair = |a: String, b: String| mjcf("", &format!("{a}{b}"), "");
    refused(&pair(hinge("1 0 0", "0 0 0"), hinge("1 1 0", "0 0 0")), &["not normal to each other", help]);
    refused(&pair(hinge("1 0 0", "0 0 0"), hinge("0 1 0", "0 0 1")), &["do not cross", help]);
    refused(&pair(hinge("1 0 0", "0 0 0"), slide("0 1 0")), &["different axes", help]);
    refused(&pair(slide("1 0 0"), slide("0 1 0")), &["no joint moves like all", help]);
    let damped = "<joint axis=\"1 0 0\" damping=\"1\"/><joint axis=\"0 1 0\"/>";
    refused(&mjcf("", damped, ""), &["a spring or a damper and no coordinate of its own"]);
}

#[test]
fn free_bodies_on_the_ground_are_refused_unless_contacts_are_off() {
    let text = |flag: &str| {
        format!(
            "<mujoco>{flag}<worldbody><geom type=\"plane\" size=\"1 1 1\"/>\n<body><freejoint/><geom size=\"0.1\"/></body></worldbody></mujoco>"
        )
    };
    refused(&text(""), &["robot:2:", "a free body touches the ground", "kind contact"]);
    assert!(import("robot", &text("<option><flag contact=\"disable\"/></option>"), None).is_ok());
    // held by the ground it does not fall, and nothing else moves
    refused_with(&text(""), Some(Base::Fixed), &["nothing moves"]);
}
