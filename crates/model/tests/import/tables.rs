//! Every row of the tables: what becomes what.

use crate::{imported, system};
use daedal_model::{Base, Model};
use daedal_multibody::vector::{norm, sub};
use daedal_multibody::{Coordinate, Kind};
use std::f64::consts::PI;

const WEIGHT: &str = "<inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial>";

/// Two joints of URDF in a row.
fn urdf(first: &str, second: &str) -> String {
    format!(
        "<robot name=\"r\"><link name=\"a\">{WEIGHT}</link><link name=\"b\">{WEIGHT}</link><link name=\"c\">{WEIGHT}</link>
        <joint name=\"j\" {first}<parent link=\"a\"/><child link=\"b\"/></joint>
        <joint name=\"k\" {second}<origin xyz=\"1 0 0\"/><parent link=\"b\"/><child link=\"c\"/></joint></robot>"
    )
}

/// Joints of one body of MJCF, and another body on it.
fn mjcf(joints: &str, after: &str) -> String {
    format!(
        "<mujoco><worldbody><body name=\"b\" pos=\"0 0 1\">{joints}<geom size=\"0.1\"/>
        <body name=\"c\" pos=\"1 0 0\"><joint name=\"k\" axis=\"0 1 0\"/><geom type=\"box\" size=\"0.1 0.2 0.3\"/><site name=\"tip\" pos=\"0 0 0.5\"/></body></body></worldbody>{after}</mujoco>"
    )
}

#[track_caller]
fn kinds(text: &str) -> Vec<String> {
    let system = system(&imported("robot", text, None).text);
    system.joints().iter().map(|joint| joint.kind.name().to_string()).collect()
}

#[test]
fn joints_of_urdf_become_joints() {
    let kind = |kind: &str| format!("type=\"{kind}\">");
    for (name, becomes) in
        [("revolute", "revolute"), ("continuous", "revolute"), ("prismatic", "prismatic"), ("planar", "planar")]
    {
        assert_eq!(kinds(&urdf(&kind(name), &kind("continuous"))), [becomes, "revolute"]);
    }
    // fixed links are parts of their parents, floating ones are free
    let text = imported("r", &urdf(&kind("continuous"), &kind("fixed")), None).text;
    let merged = system(&text);
    assert_eq!((merged.movers().count(), merged.joints().len()), (1, 1));
    assert!(
        text.contains("# link \"b\", line 1, with c") && text.contains("name = \"c\"\nbody = \"b\"\nat = [1, 0, 0]"),
        "{text}"
    );
    assert_eq!(kinds(&urdf(&kind("floating"), &kind("continuous"))), ["revolute"]);
    let floating = imported("r", &urdf(&kind("continuous"), &kind("continuous")), Some(Base::Floating)).text;
    assert_eq!(system(&floating).movers().count(), 3);
}

#[test]
fn a_mimic_joint_is_drawn_where_its_offset_puts_it() {
    let follows = "type=\"continuous\"><axis xyz=\"0 0 1\"/><mimic joint=\"j\" multiplier=\"2\" offset=\"0.5\"/>";
    let text = imported("r", &urdf("type=\"continuous\"><axis xyz=\"0 0 1\"/>", follows), None).text;
    let read = system(&text);
    // turned by 0.5 about z: the second column of its axes
    let (_, body) = read.movers().find(|(_, body)| body.name == "c").unwrap();
    assert!((body.rotation[1][0] - 0.5f64.sin()).abs() < 1e-15, "{text}");
    let Kind::Coupling { coordinates, law, .. } = &read.joints()[2].kind else { panic!("{text}") };
    assert_eq!(*coordinates, [Coordinate::Angle; 2]);
    assert!((law.evaluate(0.25)[0] - 0.5).abs() < 1e-15);
    // lengths by angles
    let slides = "type=\"prismatic\"><axis xyz=\"0 0 1\"/><mimic joint=\"j\" multiplier=\"0.1\"/>";
    assert_eq!(kinds(&urdf("type=\"continuous\">", slides)), ["revolute", "prismatic", "coupler"]);
}

#[test]
fn joints_of_mjcf_become_joints() {
    for (joints, becomes) in [
        ("<joint/>", "revolute"),
        ("<joint type=\"slide\"/>", "prismatic"),
        ("<joint type=\"ball\" damping=\"0.1\"/>", "spherical"),
        ("<joint axis=\"1 0 0\"/><joint axis=\"0 1 0\"/>", "universal"),
        ("<joint axis=\"1 0 0\" pos=\"2 0 0\"/><joint axis=\"0 1 0\" pos=\"0 3 0\"/>", "universal"),
        ("<joint damping=\"1\"/><joint type=\"slide\" stiffness=\"2\"/>", "cylindrical"),
        (
            "<joint type=\"slide\" axis=\"1 0 0\"/><joint type=\"slide\" axis=\"0 1 0\"/><joint damping=\"1\"/>",
            "planar",
        ),
    ] {
        assert_eq!(kinds(&mjcf(joints, "")), [becomes, "revolute"], "{joints}");
    }
    let free = imported("r", &mjcf("<freejoint/>", ""), None).text;
    assert_eq!(system(&free).joints().len(), 1);
    // nothing says that it moves
    let welded = system(&imported("r", &mjcf("", ""), None).text);
    assert_eq!(welded.movers().count(), 1);
    assert_eq!(system(&imported("r", &mjcf("", ""), Some(Base::Floating)).text).movers().count(), 2);
}

#[test]
fn springs_rest_where_mjcf_says() {
    // drawn at 10 degrees of the format, at rest at 40
    let text = imported(
        "r",
        &mjcf(
            "<joint name=\"j\" stiffness=\"3\" damping=\"0.5\" ref=\"10\" springref=\"40\" frictionloss=\"0.7\"/>",
            "",
        ),
        None,
    )
    .text;
    let rest = text.split_once("stiffness = 3\nangle = ").and_then(|(_, rest)| rest.split_once("\ndamping = 0.5"));
    let rest: f64 = rest.and_then(|(rest, _)| rest.parse().ok()).unwrap_or_else(|| panic!("{text}"));
    assert!((rest - PI / 6.0).abs() < 1e-15, "{text}");
    assert!(text.contains("# torque = \"-0.7*tanh(rate/1e-3)\""), "{text}");
}

#[test]
fn equalities_and_actuators_become_joints_and_forces() {
    let after = "<equality><connect body1=\"c\" body2=\"world\" anchor=\"0 0 0.3\"/><weld site1=\"tip\" site2=\"tip\" active=\"false\"/>
        <joint joint1=\"k\" joint2=\"j\" polycoef=\"0.1 2 0 3\"/></equality>
        <actuator><motor joint=\"j\" gear=\"3\"/><position name=\"servo\" joint=\"j\" kp=\"10\" kv=\"1\"/><velocity name=\"v\" joint=\"j\" kv=\"2\"/>
        <general name=\"g\" joint=\"j\" biastype=\"affine\" gainprm=\"4\" biasprm=\"1 -2 -3\"/></actuator>";
    // without the displacement of the follower, which would open the loop
    let text = imported("r", &mjcf("<joint name=\"j\" ref=\"90\"/>", &after.replace("0.1 2", "0 2")), None).text;
    for law in [
        "torque = \"3*j_actuator_control\"".to_string(),
        // ten times a quarter of a turn
        "torque = \"10*servo_control - 15.7079632679".to_string(),
        " - 10*angle - rate\"".to_string(),
        "torque = \"2*v_control - 2*rate\"".to_string(),
        "4*g_control - ".to_string(),
        "function = \"2*x + 3*x^3\"".to_string(),
        "inactive equality weld (1)".to_string(),
    ] {
        assert!(text.contains(&law), "{law} is missing: {text}");
    }
    let model = Model::read("r.toml", &text, &[]).unwrap();
    assert_eq!(model.parameters.len(), 4);
    let read = model.bodies.unwrap();
    let closing = read.joints().iter().find(|joint| joint.kind.name() == "spherical").unwrap();
    assert!(norm(sub(closing.points[0], [1.0, 0.0, 1.3])) < 1e-15);
    let wrong = daedal_model::import("r", &mjcf("<joint name=\"j\"/>", after), None).unwrap_err();
    assert!(wrong.lines().contains("this loop is not closed where it is drawn"), "{}", wrong.lines());
}

#[test]
fn geoms_weigh_what_their_class_says() {
    let text = "<mujoco><default><geom density=\"500\"/><default class=\"light\"><geom mass=\"0.25\"/></default></default><worldbody>
        <body name=\"b\"><joint/><geom type=\"box\" size=\"0.5 0.5 0.5\"/><geom class=\"light\" size=\"0.1\" pos=\"1 0 0\"/></body></worldbody></mujoco>";
    let read = system(&imported("r", text, None).text);
    let (_, body) = read.movers().next().unwrap();
    assert!((body.mass - 500.25).abs() < 1e-12);
    assert!((body.at[0] - 0.25 / 500.25).abs() < 1e-15);
    // shapes are drawn where they are
    assert_eq!(body.shapes.len(), 2);
    assert!((body.drawn(body.shapes[1].at)[0] - 1.0).abs() < 1e-15);
    let scaled = text.replace("<default><geom", "<compiler settotalmass=\"2\"/><default><geom");
    let read = system(&imported("r", &scaled, None).text);
    assert!((read.movers().next().unwrap().1.mass - 2.0).abs() < 1e-15);
}

#[test]
fn what_is_not_understood_is_listed_by_name_with_its_count() {
    let text = urdf(
        "type=\"revolute\"><limit lower=\"0\" upper=\"1\"/><calibration/>",
        "type=\"revolute\"><limit lower=\"0\" upper=\"1\"/>",
    );
    let text = text.replace("</robot>", "<gazebo/><gazebo reference=\"a\"/><transmission name=\"t\"/></robot>");
    let notes = imported("r", &text, None).notes;
    assert_eq!(notes, ["not imported: calibration (1), gazebo (2), limit (2), transmission (1)"]);
}
