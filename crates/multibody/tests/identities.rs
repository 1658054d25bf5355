//! K, k₀ and Γ of every joint against Taylor series of its constraint along p' = Zv, v' = a.

use daedal::scalar::{Scalar, Taylor};
use daedal_multibody::vector::{Vector, quaternion_rate};
use daedal_multibody::{Body, BodyId, Coordinate, Function, GROUND, Joint, System};

/// Numbers between −1 and 1, the same in every run.
struct Random(u64);
impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    fn vector(&mut self) -> Vector<f64> {
        [self.next(), self.next(), self.next()]
    }
}

type Series = Taylor<f64, 3>;

fn series(c: [f64; 3]) -> Series {
    let mut s = Series::from(c[0]);
    s.coefficients = c;
    s
}

/// Two bodies anywhere, with joints that somebody makes.
fn two_bodies(
    planar: bool,
    random: &mut Random,
    joints: impl FnOnce(&mut System, BodyId, BodyId, &mut Random),
) -> System {
    let mut system = if planar { System::in_plane() } else { System::new() };
    let mut body = |name: &str| {
        let mut at = random.vector();
        if planar {
            at[2] = 0.0;
        }
        system.body(Body::cuboid([1.0, 0.7, 0.5]).mass(1.0).at(at).name(name))
    };
    let (a, b) = (body("a"), body("b"));
    joints(&mut system, a, b, random);
    system
}

/// Largest deviations of K v + k₀ from g' and of K a + Γ from g'' (or h'), relative to their size.
fn deviation(system: &System, random: &mut Random) -> f64 {
    let (np, nv) = system.per_body();
    let n = system.movers().count();
    let v: Vec<[f64; 2]> = (0..nv * n).map(|_| [2.0 * random.next(), 2.0 * random.next()]).collect();
    let vs: Vec<Series> = v.iter().map(|[v, a]| series([*v, *a, 0.0])).collect();
    let mut p: Vec<Series> = Vec::new();
    for m in 0..n {
        let v = &v[nv * m..];
        let line = |x: f64, k: usize| series([x, v[k][0], v[k][1] / 2.0]);
        if system.is_planar() {
            (0..3).for_each(|k| p.push(line(random.next(), k)));
            continue;
        }
        (0..3).for_each(|k| p.push(line(random.next(), k)));
        // not of length one: R does not know it
        let q = [random.next(), random.next(), random.next(), 0.3 + random.next()];
        let omega = [v[3][0], v[4][0], v[5][0]];
        let q1 = quaternion_rate(q, omega);
        let (a, b) = (quaternion_rate(q1, omega), quaternion_rate(q, [v[3][1], v[4][1], v[5][1]]));
        (0..4).for_each(|k| p.push(series([q[k], q1[k], 0.5 * (a[k] + b[k])])));
    }
    assert_eq!(p.len(), np * n);
    let t = series([0.4, 1.0, 0.0]);
    for joint in system.tracked() {
        let mut probe = p.clone();
        probe.resize(np * n + system.tracked().len(), Series::from(0.0));
        let rate = system.view(t, &probe, &vs).pairs[joint.number()].rate_of_angle().coefficients;
        p.push(series([random.next(), rate[0], rate[1] / 2.0]));
    }
    let view = system.view(t, &p, &vs);
    let mut worst = 0.0f64;
    for row in system.constraints(&view) {
        let (mut rate, mut change) = (row.k0, row.gamma.coefficients[0]);
        let (mut size, mut larger) = (row.k0.value().abs() + 1.0, change.abs() + 1.0);
        for (body, part) in &row.parts {
            let Some(m) = system.moving(*body) else { continue };
            let values: Vec<Series> = if system.is_planar() {
                vec![part.force[0], part.force[1], part.torque[2]]
            } else {
                part.force.into_iter().chain(part.torque).collect()
            };
            for (k, K) in values.into_iter().enumerate() {
                rate += K * vs[nv * m + k];
                change += K.value() * v[nv * m + k][1];
                size += (K.value() * v[nv * m + k][0]).abs();
                larger += (K.value() * v[nv * m + k][1]).abs();
            }
        }
        let [_, g1, g2] = row.g.coefficients;
        if row.holonomic {
            worst = worst.max((rate.value() - g1).abs() / size);
            worst = worst.max((change - 2.0 * g2).abs() / larger);
        } else {
            worst = worst.max((change - rate.coefficients[1]).abs() / larger);
        }
    }
    worst
}

fn hold(name: &str, planar: bool, joints: impl Fn(&mut System, BodyId, BodyId, &mut Random)) {
    let mut random = Random(7);
    for trial in 0..100 {
        let system = two_bodies(planar, &mut random, &joints);
        let worst = deviation(&system, &mut random);
        assert!(worst < 1e-12, "{name}: {worst:.2e} in trial {trial}");
    }
}

fn swing() -> Function {
    Function::new(|t| (t * 1.7).sin() * 0.8 + t * t)
}

#[test]
fn closed_forms_of_joints_in_space_are_the_derivatives_of_their_constraints() {
    type Make = fn(&mut Random) -> Joint;
    let kinds: [(&str, Make); 19] = [
        ("weld", |r| Joint::weld(r.vector())),
        ("revolute", |r| Joint::revolute(r.vector(), r.vector())),
        ("spherical", |r| Joint::spherical(r.vector())),
        ("cylindrical", |r| Joint::cylindrical(r.vector(), r.vector())),
        ("prismatic", |r| Joint::prismatic(r.vector(), r.vector())),
        ("screw", |r| Joint::screw(r.vector(), r.vector(), 0.7)),
        ("universal", |r| Joint::universal(r.vector(), [[0.0, 0.6, 0.8], [1.0, 0.0, 0.0]])),
        ("constant-velocity", |r| Joint::constant_velocity(r.vector(), [r.vector(), r.vector()])),
        ("planar", |r| Joint::planar(r.vector(), r.vector())),
        ("point-on-line", |r| Joint::point_on_line(r.vector(), r.vector())),
        ("point-on-plane", |r| Joint::point_on_plane(r.vector(), r.vector())),
        ("parallel", |r| Joint::parallel(r.vector())),
        ("perpendicular", |_| Joint::perpendicular([[0.0, 0.6, 0.8], [1.0, 0.0, 0.0]])),
        ("orientation", |_| Joint::orientation()),
        ("rod", |r| Joint::rod(r.vector(), r.vector())),
        ("rolling disc", |r| Joint::rolling_disc((r.vector(), r.vector()), r.vector(), r.vector(), 0.3)),
        ("rolling sphere", |r| Joint::rolling_sphere((r.vector(), r.vector()), r.vector(), 0.3)),
        ("knife-edge", |r| Joint::knife_edge(r.vector(), r.vector(), r.vector())),
        ("rod to the ground", |r| Joint::rod(r.vector(), r.vector())),
    ];
    for (name, make) in kinds {
        hold(name, false, |system, a, b, random| {
            let a = if name.ends_with("ground") { GROUND } else { a };
            system.joint(make(random).between(a, b).name("joint"));
        });
    }
}

#[test]
fn drives_and_transmissions_are_the_derivatives_of_theirs() {
    hold("drives", false, |system, a, b, random| {
        let joint = system.joint(Joint::cylindrical(random.vector(), random.vector()).between(a, b).name("joint"));
        system.joint(Joint::drive_angle(joint, swing()).name("angle"));
        system.joint(Joint::drive_travel(joint, swing()).name("travel"));
        system.joint(Joint::rate(joint, swing()).name("rate"));
    });
    hold("transmissions", false, |system, a, b, random| {
        let first = system.joint(Joint::cylindrical(random.vector(), random.vector()).between(a, b).name("first"));
        let second =
            system.joint(Joint::cylindrical(random.vector(), random.vector()).between(GROUND, b).name("second"));
        system.joint(Joint::gear([first, second], -2.3).name("gear"));
        system.joint(Joint::rack(first, second, 0.3).name("rack"));
        let coordinates = [Coordinate::Travel, Coordinate::Angle];
        system.joint(Joint::coupler([first, second], coordinates, swing()).name("cam"));
    });
}

#[test]
fn closed_forms_of_joints_in_a_plane_are_the_derivatives_of_their_constraints() {
    hold("planar joints", true, |system, a, b, random| {
        let mut flat = || {
            let [x, y, _] = random.vector();
            [x, y, 0.0]
        };
        let pin = system.joint(Joint::revolute(flat(), [0.0, 0.0, 1.0]).between(a, b).name("pin"));
        let slide = system.joint(Joint::prismatic(flat(), flat()).between(a, b).name("slide"));
        system.joint(Joint::weld(flat()).between(a, b).name("weld"));
        system.joint(Joint::rod(flat(), flat()).between(a, b).name("rod"));
        system.joint(Joint::point_on_line(flat(), flat()).between(a, b).name("line"));
        system.joint(Joint::rolling_disc((flat(), flat()), flat(), [0.0, 0.0, 1.0], 0.2).between(a, b).name("wheel"));
        system.joint(Joint::drive_angle(pin, swing()).name("motor"));
        system.joint(Joint::drive_travel(slide, swing()).name("piston"));
        system.joint(Joint::rate(pin, swing()).name("rate"));
        system.joint(Joint::gear([pin, pin], 0.4).name("gear"));
        system.joint(Joint::rack(pin, slide, 0.4).name("rack"));
    });
}

/// Operations to a revolute joint of K, gI and gII, in closed form and by differentiation.
#[test]
fn closed_forms_need_fewer_operations_than_derivatives() {
    use daedal::graph::{Expr, Tape};
    use daedal::motion::Formulas;
    let mut system = System::new();
    let mut before = GROUND;
    let links = 8;
    for i in 0..links {
        let (from, to) = ([f64::from(i), 0.0, 0.0], [f64::from(i) + 1.0, 0.2, 0.1]);
        let link = system.body(Body::bar(from, to, 0.1).mass(1.0).name(format!("link{i}")));
        let axis = [0.3, 1.0, 0.2 * f64::from(i)];
        system.joint(Joint::revolute(from, axis).between(before, link).name(format!("pin{i}")));
        before = link;
    }
    let closed = system.formulas();
    let derived = Formulas { closed: None, ..closed.clone() };
    let operations = |formulas: &Formulas| {
        let hidden = formulas.hidden();
        let mut graph = hidden.graph.clone();
        let mut rows: Vec<Expr> = hidden.holonomic_velocity.clone();
        rows.extend(&hidden.holonomic_acceleration);
        match &formulas.closed {
            Some(closed) => rows.extend(closed.GZ.iter().map(|(_, _, e)| *e)),
            None => rows.extend(graph.jacobian(&hidden.holonomic_velocity, formulas.variables().v()).entries),
        }
        Tape::new(&graph, &rows).len() / links as usize
    };
    let (few, many) = (operations(&closed), operations(&derived));
    println!("operations to a revolute joint and body: {few} in closed form, {many} by differentiation");
    // 766 and 1312
    assert!(3 * few < 2 * many, "{few} {many}");
}
