//! Arms with grippers: one of URDF whose loops are closed after the import, one of MJCF with a parallelogram and fingers that follow each other.

use crate::jet::{Jet, Motion, Place, Rigid, about, constant, integrated, product};
use crate::{assert_agrees, end, imported};
use std::fmt::Write;

fn diagonal([a, b, c]: [f64; 3]) -> [[f64; 3]; 3] {
    [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]]
}

/// A body with its centre at a point of a frame.
fn rigid(mass: f64, J: [[f64; 3]; 3], frame: &Place, centre: [f64; 3]) -> Rigid {
    let at = frame.to(centre);
    Rigid { mass, J, x: at.1, R: at.0 }
}

/// `arm.urdf`: yaw, shoulder, elbow, and the angle of the left crank.
fn with_gripper(q: &[Jet]) -> Motion {
    let turret = Place::world().turned(&about(2, q[0]));
    let upper = turret.to([0.0, 0.0, 0.2]).turned(&about(1, q[1] + Jet::from(-0.4)));
    let fore = upper.to([0.4, 0.0, 0.0]).turned(&about(1, q[2] + Jet::from(0.9)));
    let palm = palm(&fore);
    // R = Rz(0.3) Rx(0.1) of the inertia's own axes
    let own = Place(product(&about(2, 0.3), &about(0, 0.1)), constant([0.0; 3]));
    let upper_inertia = Place(product(&upper.0, &own.0), upper.1);
    let mut bodies = vec![
        rigid(3.0, diagonal([0.02, 0.02, 0.015]), &turret, [0.0, 0.0, 0.1]),
        Rigid {
            mass: 2.0,
            J: [[0.004, 0.001, 0.0], [0.001, 0.03, 0.0005], [0.0, 0.0005, 0.031]],
            x: upper.to([0.2, 0.0, 0.0]).1,
            R: upper_inertia.0,
        },
        rigid(1.2, diagonal([0.001, 0.01, 0.0105]), &fore, [0.15, 0.0, 0.01]),
        rigid(0.4, diagonal([0.0004, 0.0003, 0.0005]), &palm, [0.02, 0.0, 0.0]),
    ];
    for side in [1.0, -1.0] {
        let angle = Jet::from(side) * q[3];
        let crank = palm.to([0.05, side * 0.02, 0.0]).turned(&about(2, angle));
        let follower = palm.to([0.05, side * 0.05, 0.0]).turned(&about(2, angle));
        // the tip does not turn against the palm
        let tip = Place(palm.0, crank.to([0.06, 0.0, 0.0]).1);
        bodies.push(rigid(0.05, diagonal([1e-6, 2e-5, 2e-5]), &crank, [0.03, 0.0, 0.0]));
        bodies.push(rigid(0.08, diagonal([1e-5, 3e-5, 3e-5]), &tip, [0.03, side * 0.015, 0.0]));
        bodies.push(rigid(0.04, diagonal([1e-6, 1.5e-5, 1.5e-5]), &follower, [0.03, 0.0, 0.0]));
    }
    let damped = [0.5, 1.0, 0.8, 0.01];
    Motion { bodies, forces: (0..4).map(|k| (q[k], 0.0, 0.0, damped[k], 0.0)).collect() }
}

fn palm(fore: &Place) -> Place {
    fore.to([0.3, 0.0, 0.0]).turned(&about(0, 1.2))
}

#[test]
fn an_arm_of_urdf_with_a_gripper_moves_as_its_four_coordinates_say() {
    let (mut model, notes) = imported("arm.urdf");
    for told in [
        "collision (1)",
        "limit (3)",
        "transmission (1)",
        "visual mesh (1)",
        "dry friction of joints is off",
        "names are changed",
    ] {
        assert!(notes.contains(told), "{told}: {notes}");
    }
    // both parallelograms: the ends of the followers, on axes of the palm, two rows each
    let fore = Place::world().to([0.0, 0.0, 0.2]).turned(&about(1, -0.4)).to([0.4, 0.0, 0.0]).turned(&about(1, 0.9));
    let palm = palm(&fore);
    let numbers = |v: [Jet; 3]| format!("[{:?}, {:?}, {:?}]", v[0].0, v[1].0, v[2].0);
    let axis = numbers([0, 1, 2].map(|i| palm.0[i][2]));
    for (side, sign) in [("left", 1.0), ("right", -1.0)] {
        let at = numbers(palm.to([0.11, sign * 0.05, 0.0]).1);
        let _ = write!(
            model,
            "\n[[joints]]\nname = \"{side}_loop\"\nkind = \"point-on-line\"\nbetween = [\"{side}_tip\", \"{side}_follower\"]\nat = {at}\naxis = {axis}\n"
        );
    }
    model +=
        "\n[initial]\nfix = { \"yaw.rate\" = 2, \"shoulder.rate\" = 0, \"elbow.rate\" = 0, \"grip.rate\" = 1.5 }\n";
    model +=
        "\n[output]\nyaw_angle = \"yaw.angle\"\nshoulder_angle = \"shoulder.angle\"\nelbow_angle = \"elbow.angle\"\n";
    model += "grip_angle = \"grip.angle\"\ncamera_height = \"camera.z\"\n";
    let found = end("arm.urdf", &model, &["--tend", "0.5"]);
    let q = integrated(&with_gripper, &[0.0; 4], &[2.0, 0.0, 0.0, 1.5], 0.5, 2500);
    assert_agrees(
        &found,
        &[("yaw_angle", q[0]), ("shoulder_angle", q[1]), ("elbow_angle", q[2]), ("grip_angle", q[3])],
    );
    // the camera is a point of the forearm, to which the palm is fixed
    let upper = Place::world().turned(&about(2, q[0])).to([0.0, 0.0, 0.2]).turned(&about(1, q[1] - 0.4));
    let camera = crate::arms::palm(&upper.to([0.4, 0.0, 0.0]).turned(&about(1, q[2] + 0.9))).to([0.1, 0.0, 0.05]);
    assert_agrees(&found, &[("camera_height", camera.1[2].0)]);
}

/// Solids by their volumes, about their centres.
fn boxed(density: f64, [a, b, c]: [f64; 3]) -> (f64, [[f64; 3]; 3]) {
    let m = density * 8.0 * a * b * c;
    (m, diagonal([b * b + c * c, a * a + c * c, a * a + b * b].map(|x| m * x / 3.0)))
}

/// A capsule about an axis, from its cylinder and its two half balls.
pub fn capsule(density: f64, r: f64, length: f64, axis: usize) -> (f64, [[f64; 3]; 3]) {
    use std::f64::consts::PI;
    let (cylinder, half) = (density * PI * r * r * length, density * 2.0 / 3.0 * PI * r.powi(3));
    let along = cylinder * r * r / 2.0 + 2.0 * half * 0.4 * r * r;
    // a half ball about its own centre of mass has 83/320 m r² across
    let arm = length / 2.0 + 3.0 / 8.0 * r;
    let across = cylinder * (r * r / 4.0 + length * length / 12.0) + 2.0 * half * (83.0 / 320.0 * r * r + arm * arm);
    let mut J = [across; 3];
    J[axis] = along;
    (cylinder + 2.0 * half, diagonal(J))
}

/// `arm.xml`: turn, shoulder, lever, and the way of the left finger; `lift` and `squeeze` are controls.
fn palletiser(q: &[Jet], lift: f64, squeeze: f64) -> Motion {
    let column = Place::world().to([0.0, 0.0, 0.05]).turned(&about(2, q[0]));
    let shoulder = column.to([0.0, 0.0, 0.25]);
    let (upper, lever) = (shoulder.turned(&about(1, q[1])), shoulder.turned(&about(1, q[2])));
    // a parallelogram: the rod is parallel to the upper arm, the forearm to the lever
    let rod = Place(upper.0, lever.to([-0.1, 0.0, 0.0]).1);
    let fore = Place(lever.0, upper.to([0.0, 0.0, 0.4]).1);
    let hand = fore.to([0.35, 0.0, 0.0]).turned(&about(1, 20.0f64.to_radians()));
    let mass = 2000.0 * std::f64::consts::PI * 0.08 * 0.08 * 0.2;
    let across = mass * (3.0 * 0.08 * 0.08 + 0.2 * 0.2) / 12.0;
    let of = |(m, J): (f64, [[f64; 3]; 3]), frame: &Place, centre: [f64; 3]| rigid(m, J, frame, centre);
    let finger = boxed(1000.0, [0.03, 0.005, 0.01]);
    let zero = Jet::from(0.0);
    let [left, right] =
        [1.0, -1.0].map(|side| hand.moved([Jet::from(0.1), Jet::from(side) * (q[3] + Jet::from(0.03)), zero]));
    let ellipsoid = diagonal(
        [0.03f64.powi(2) + 0.04f64.powi(2), 0.02f64.powi(2) + 0.04f64.powi(2), 0.02f64.powi(2) + 0.03f64.powi(2)]
            .map(|x| 0.3 * x / 5.0),
    );
    let bodies = vec![
        rigid(mass, diagonal([across, across, mass * 0.08 * 0.08 / 2.0]), &column, [0.0, 0.0, 0.1]),
        of(capsule(2000.0, 0.03, 0.4, 2), &upper, [0.0, 0.0, 0.2]),
        of(boxed(2000.0, [0.05, 0.01, 0.02]), &lever, [-0.05, 0.05, 0.0]),
        of(capsule(2000.0, 0.015, 0.4, 2), &rod, [0.0, 0.0, 0.2]),
        of(capsule(2000.0, 0.025, 0.45, 0), &fore, [0.125, 0.0, 0.0]),
        of(boxed(2000.0, [0.03, 0.06, 0.02]), &hand, [0.03, 0.0, 0.0]),
        rigid(0.3, ellipsoid, &hand, [0.02, 0.0, -0.05]),
        of(finger, &left, [0.0; 3]),
        of(finger, &right, [0.0; 3]),
    ];
    let forces = vec![
        (q[0], 0.0, 0.0, 0.3, 0.0),
        (q[1], 0.0, 0.0, 1.0, 2.0 * lift),
        (q[2], 5.0, 20.0f64.to_radians(), 0.5, 0.0),
        (q[1] - q[2], 0.0, 0.0, 0.3 + 0.3, 0.0),
        (q[3], 50.0, squeeze, 2.0 + 0.3 + 0.3, 0.0),
    ];
    Motion { bodies, forces }
}

#[test]
fn an_arm_of_mjcf_with_a_parallelogram_moves_as_its_four_coordinates_say() {
    let (mut model, notes) = imported("arm.xml");
    for told in [
        "joint range (1)",
        "light (1)",
        "motor ctrlrange (1)",
        "keyframe key (1)",
        "hard in the model file, not soft (2)",
        "contacts between geoms",
    ] {
        assert!(notes.contains(told), "{told}: {notes}");
    }
    model += "\n[initial]\nfix = { \"turn.rate\" = 1.5, \"shoulder.rate\" = 0, \"lever_joint.rate\" = 0, \"left_joint.speed\" = 0 }\n";
    model += "\n[output]\nturn_angle = \"turn.angle\"\nshoulder_angle = \"shoulder.angle\"\nlever_angle = \"lever_joint.angle\"\n";
    model += "left_travel = \"left_joint.travel\"\nright_travel = \"right_joint.travel\"\n";
    let controls = ["--set", "lift_control=1.5", "--set", "squeeze_control=0.01", "--tend", "0.4"];
    let found = end("arm.xml", &model, &controls);
    let q = integrated(&|q: &[Jet]| palletiser(q, 1.5, 0.01), &[0.0; 4], &[1.5, 0.0, 0.0, 0.0], 0.4, 4000);
    assert_agrees(
        &found,
        &[
            ("turn_angle", q[0]),
            ("shoulder_angle", q[1]),
            ("lever_angle", q[2]),
            ("left_travel", q[3]),
            ("right_travel", -q[3]),
        ],
    );
}
