//! Delta robots: one of URDF with massless rods, added after the import, and one of MJCF with six rods that weigh. The platform's place is the
//! minimal coordinate, from which the angles of the arms follow.

use crate::arms::capsule;
use crate::jet::{Jet, Motion, Place, Rigid, about, columns, constant, cross, integrated, plus, times, unit};
use crate::{assert_agrees, end, imported};
use std::f64::consts::TAU;
use std::fmt::Write;

/// Radius of the motors, length of the arms, radius of the platform's joints, depth of the drawing, half width of the pairs of rods.
const BASE: f64 = 0.2;
const ARM: f64 = 0.3;
const PLATFORM: f64 = 0.05;
const DEPTH: f64 = 0.4;
const WIDTH: f64 = 0.05;

struct Masses {
    arm: (f64, [[f64; 3]; 3]),
    platform: (f64, [[f64; 3]; 3]),
    /// In axes whose z is along the rod.
    rod: Option<(f64, [[f64; 3]; 3])>,
}

/// Cosine and sine of the angle of an arm: |elbow − platform's joint| is the length of the rods.
fn arm_angle(p: &[Jet], direction: f64) -> (Jet, Jet) {
    let (s, c) = direction.sin_cos();
    let number = Jet::from;
    let radial = p[0] * number(c) + p[1] * number(s);
    let tangential = p[1] * number(c) - p[0] * number(s);
    let (dx, dy, dz) = (number(BASE - PLATFORM) - radial, -tangential, -p[2]);
    let square = (BASE + ARM - PLATFORM).powi(2) + DEPTH * DEPTH;
    // A cos θ + B sin θ = C
    let (A, B) = (number(2.0 * ARM) * dx, number(-2.0 * ARM) * dz);
    let C = number(square - ARM * ARM) - dx * dx - dy * dy - dz * dz;
    let size = A * A + B * B;
    let root = (size - C * C).sqrt();
    ((A * C - B * root) / size, (B * C + A * root) / size)
}

fn delta(p: &[Jet], masses: &Masses) -> Motion {
    let platform = [p[0], p[1], p[2]];
    let mut bodies = vec![Rigid { mass: masses.platform.0, J: masses.platform.1, x: platform, R: Place::world().0 }];
    let mut forces = Vec::new();
    for k in 0..3 {
        let direction = TAU / 3.0 * f64::from(k);
        let (c, s) = arm_angle(p, direction);
        let zero = Jet::from(0.0);
        let turn = [[c, zero, s], [zero, Jet::from(1.0), zero], [-s, zero, c]];
        let motor = Place::world().turned(&about(2, direction)).to([BASE, 0.0, 0.0]);
        let arm = motor.turned(&turn);
        bodies.push(Rigid { mass: masses.arm.0, J: masses.arm.1, x: arm.to([ARM / 2.0, 0.0, 0.0]).1, R: arm.0 });
        // θ' = cos θ (sin θ)' − sin θ (cos θ)'
        forces.push((Jet(0.0, c.0 * s.1 - s.0 * c.1, 0.0), 0.0, 0.0, 0.2, 0.0));
        let Some((mass, J)) = masses.rod else { continue };
        let outwards = Place::world().turned(&about(2, direction));
        let joint = Place(outwards.0, platform);
        for side in [WIDTH, -WIDTH] {
            let (elbow, end) = (arm.to([ARM, side, 0.0]).1, joint.to([PLATFORM, side, 0.0]).1);
            let along = unit(plus(end, times(Jet::from(-1.0), elbow)));
            // the second pin is normal to the first, which is the axis of the motor, and to the rod
            let pin = unit(cross(Place(outwards.0, constant([0.0; 3])).to([0.0, 1.0, 0.0]).1, along));
            let x = times(Jet::from(0.5), plus(elbow, end));
            bodies.push(Rigid { mass, J, x, R: columns(pin, cross(along, pin), along) });
        }
    }
    Motion { bodies, forces }
}

const START: &str = "\n[initial]\nfix = { \"platform.vx\" = 0.3, \"platform.vy\" = -0.2, \"platform.vz\" = 0.1 }\n";

#[track_caller]
fn assert_moves(name: &str, model: &str, masses: &Masses) {
    let found = end(name, model, &["--tend", "0.3"]);
    let p = integrated(&|p: &[Jet]| delta(p, masses), &[0.0, 0.0, -DEPTH], &[0.3, -0.2, 0.1], 0.3, 1500);
    assert_agrees(&found, &[("platform.x", p[0]), ("platform.y", p[1]), ("platform.z", p[2])]);
    assert_agrees(&found, &[("platform.vx", p[3]), ("platform.vy", p[4]), ("platform.vz", p[5])]);
}

#[test]
fn a_delta_robot_of_urdf_moves_as_its_platform_says() {
    let (mut model, _) = imported("delta.urdf");
    for k in 0..3 {
        let (s, c) = (TAU / 3.0 * f64::from(k)).sin_cos();
        for (side, w) in [("a", WIDTH), ("b", -WIDTH)] {
            let point = |r: f64, z: f64| format!("[{:?}, {:?}, {z:?}]", r * c - w * s, r * s + w * c);
            let ends = [point(BASE + ARM, 0.0), point(PLATFORM, -DEPTH)].join(", ");
            let _ = write!(
                model,
                "\n[[joints]]\nname = \"rod{0}{side}\"\nkind = \"rod\"\nbetween = [\"arm{0}\", \"platform\"]\nat = [{ends}]\n",
                k + 1
            );
        }
    }
    let diagonal = |a: f64, b: f64, c: f64| [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]];
    let masses = Masses {
        arm: (0.5, diagonal(0.0005, 0.004, 0.004)),
        platform: (0.8, diagonal(0.002, 0.002, 0.003)),
        rod: None,
    };
    assert_moves("delta.urdf", &(model + START), &masses);
}

#[test]
fn a_delta_robot_of_mjcf_moves_as_its_platform_says() {
    let (model, notes) = imported("delta.xml");
    assert!(notes.contains("hard in the model file, not soft (6)"), "{notes}");
    assert_eq!(model.matches("kind = \"universal\"").count(), 6, "{model}");
    let weighed = |mass: f64, (m, J): (f64, [[f64; 3]; 3])| (mass, J.map(|row| row.map(|x| x * mass / m)));
    let length = 0.45f64.hypot(0.4);
    let mass = 3000.0 * std::f64::consts::PI * 0.06 * 0.06 * 0.02;
    let masses = Masses {
        arm: weighed(0.5, capsule(1.0, 0.02, 0.3, 0)),
        platform: (mass, [[mass, 0.0, 0.0], [0.0, mass, 0.0], [0.0, 0.0, mass]]),
        rod: Some(weighed(0.1, capsule(1.0, 0.008, length, 2))),
    };
    assert_moves("delta.xml", &(model + START), &masses);
}
