//! Mechanisms with known motions: positions, velocities and joint forces by three methods, with dense and with sparse matrices.
//!
//! Numbers with twelve digits were computed twice, by a projected method of order 8 at 1e-12 and by another way, which is named.

use daedal::formulation::Formulation;
use daedal::linalg::Matrices;
use daedal::method::{AtSingular, Steps};
use daedal::motion::consistent;
use daedal::{
    Action, DormandPrince, Event, Initial, Options, Pair, Problem, SolveError, Start, StepFailure, Tolerance,
    catalogue, solve,
};
use daedal_multibody::vector::{Vector, about, add, cross, product, scale, sub, times, transposed, unit};
use daedal_multibody::{Assembled, Body, BodyId, Coordinate, Form, Function, GROUND, Joint, JointId, Linear, System};
use daedal_native::Native;

const METHODS: [(&str, &str); 5] =
    [("geoms", "psf"), ("dop853", "eom0"), ("radau", "ggl"), ("dop853", "eom0 sparse"), ("radau", "ggl sparse")];

/// The point at the end.
fn run(mechanism: &Assembled, initial: &Initial, tend: f64, (name, form): (&str, &str), tolerance: f64) -> Vec<f64> {
    let entry = catalogue::find(name).unwrap();
    let (formulation, sparse) = form.strip_suffix(" sparse").map_or((form, false), |formulation| (formulation, true));
    let of_sparse = sparse.then(|| with(mechanism, Matrices::Sparse));
    let mechanism = of_sparse.as_ref().unwrap_or(mechanism);
    let known = |f: &Formulation| f.name() == formulation && entry.formulations.contains(&f.name());
    let formulation = Formulation::ALL.into_iter().find(known);
    let formulation = formulation.or_else(|| Formulation::ALL.into_iter().find(|f| f.name() == entry.formulations[0]));
    let method = entry.with(formulation.unwrap()).unwrap();
    let options = Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() };
    solve(&Problem::new(mechanism, initial.clone(), tend), &*method, &options).unwrap().end.x
}

/// The same with matrices of this kind.
fn with(mechanism: &Assembled, matrices: Matrices) -> Assembled {
    mechanism.system().clone().finish_with(Native).unwrap().with_matrices(matrices)
}

/// Force of A on B and its torque at the start, which is made consistent.
fn force_at_start(mechanism: &Assembled, initial: &Initial, joint: JointId) -> [Vector<f64>; 2] {
    let found = consistent::initialise(mechanism, initial, daedal::motion::Form::StrangenessFree).unwrap();
    mechanism.joint_force(joint, 0.0, &found.state.x)
}

fn close(what: &str, values: &[f64], expected: &[f64], tolerance: f64) {
    for (k, (value, wanted)) in values.iter().zip(expected).enumerate() {
        let scale = wanted.abs().max(1.0);
        assert!(
            (value - wanted).abs() <= tolerance * scale,
            "{what}, component {k}: {value:.12} instead of {wanted:.12}"
        );
    }
}

fn body_p(mechanism: &Assembled, body: BodyId, x: &[f64]) -> Vec<f64> {
    let (np, _) = mechanism.system().per_body();
    let m = mechanism.system().moving(body).unwrap();
    let p = mechanism.layout().p();
    x[p.start + np * m..p.start + np * (m + 1)].to_vec()
}

fn body_v(mechanism: &Assembled, body: BodyId, x: &[f64]) -> Vec<f64> {
    let (_, nv) = mechanism.system().per_body();
    let m = mechanism.system().moving(body).unwrap();
    let v = mechanism.layout().v();
    x[v.start + nv * m..v.start + nv * (m + 1)].to_vec()
}

fn angle(mechanism: &Assembled, k: usize, x: &[f64]) -> f64 {
    let n = mechanism.system().tracked().len();
    x[mechanism.layout().p().end - n + k]
}

fn centre(mechanism: &Assembled, body: BodyId, x: &[f64]) -> Vector<f64> {
    let p = body_p(mechanism, body, x);
    [p[0], p[1], p[2]]
}

#[test]
fn a_free_body_turns_as_euler_found() {
    // 12.1: Jacobi's elliptic functions
    let mut system = System::new();
    system.gravity = [0.0; 3];
    let body = system.body(Body::new(1.0, [[0.8, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.5]]).name("body"));
    let mechanism = system.finish_with(Native).unwrap();
    let start = mechanism.with_velocity(mechanism.start(), body, [0.0; 3], [0.5, 0.0, 0.9]);
    for method in METHODS {
        let x = run(&mechanism, &start, 20.0, method, 1e-11);
        let v = body_v(&mechanism, body, &x);
        close(method.0, &v[3..], &[0.3227691217252, -0.4041268431422, 0.8825484197862], 1e-8);
        let p = body_p(&mechanism, body, &x);
        let (size, sign) = (p[3..].iter().map(|q| q * q).sum::<f64>().sqrt(), -p[3].signum());
        let q: Vec<f64> = p[3..].iter().map(|q| sign * q / size).collect();
        close(method.0, &q, &[-0.9492418847832, 0.0678682450940, -0.0039177504803, -0.3071130031639], 1e-8);
        // rescaled or not, the length drifts only as far as the error
        assert!((size - 1.0).abs() < 1e-8, "{} {size}", method.0);
        let momentum =
            ["x", "y", "z"].map(|axis| mechanism.output(&format!("angular_momentum.{axis}"), 20.0, &x).unwrap());
        close(method.0, &momentum, &[0.4, 0.0, 1.35], 1e-8);
    }
}

#[test]
fn a_rod_pendulum_swings_by_elliptic_functions() {
    // 12.2
    let mut system = System::new();
    let rod = system.body(Body::bar([0.0; 3], [0.8, 0.0, 0.0], 0.05).mass(1.4).name("rod"));
    let hinge = system.joint(Joint::revolute([0.0; 3], [0.0, 1.0, 0.0]).between(GROUND, rod).name("hinge"));
    let mechanism = system.finish_with(Native).unwrap();
    for method in METHODS {
        for (t, end, force) in [
            (1.0, [-0.7888430350532, -0.1331415263846], [5.066170542488, 4.298621378939]),
            (3.0, [-0.1330433729067, -0.7888595951914], [5.062541978225, 33.461089626212]),
        ] {
            let x = run(&mechanism, &mechanism.start(), t, method, 1e-11);
            let [cx, _, cz] = centre(&mechanism, rod, &x);
            close(method.0, &[2.0 * cx, 2.0 * cz], &end, 1e-8);
            let [f, torque] = mechanism.joint_force(hinge, t, &x);
            close(method.0, &[f[0], f[1], f[2]], &[force[0], 0.0, force[1]], 1e-7);
            close(method.0, &torque, &[0.0; 3], 1e-7);
        }
    }
}

/// The top of 12.3 with ω in the body.
fn top(omega: Vector<f64>) -> (Assembled, BodyId, JointId, Initial) {
    let (l, tilt) = (0.4, 0.6f64);
    let mut system = System::new();
    let body = Body::new(2.5, [[0.03, 0.0, 0.0], [0.0, 0.03, 0.0], [0.0, 0.0, 0.05]]);
    let at = [0.0, -l * tilt.sin(), l * tilt.cos()];
    let body = system.body(body.at(at).rotation(about([1.0, 0.0, 0.0], tilt)).name("top"));
    let tip = system.joint(Joint::spherical([0.0; 3]).between(GROUND, body).name("tip"));
    let mechanism = system.finish_with(Native).unwrap();
    let mut start = mechanism.start();
    (0..3).for_each(|k| start.v[3 + k] = Start::Fixed(omega[k]));
    (mechanism, body, tip, start)
}

#[test]
fn a_top_precesses_steadily_and_otherwise_as_computed() {
    // 12.3: precession 2, spin 112.295772576447
    let (mechanism, body, tip, start) = top([0.0, 2.0 * 0.6f64.sin(), 112.295772576447]);
    for method in METHODS {
        let x = run(&mechanism, &start, 0.5, method, 1e-11);
        let (s, c) = 1.0f64.sin_cos();
        let r = 0.4 * 0.6f64.sin();
        close(method.0, &centre(&mechanism, body, &x), &[r * s, -r * c, 0.4 * 0.6f64.cos()], 1e-8);
        let [force, _] = mechanism.joint_force(tip, 0.5, &x);
        let f = 2.25856989358;
        close(method.0, &force, &[-f * s, f * c, 24.525], 1e-7);
    }
    let (mechanism, body, tip, start) = top([0.3, 1.0, 60.0]);
    for method in METHODS {
        let x = run(&mechanism, &start, 0.5, method, 1e-11);
        close(method.0, &centre(&mechanism, body, &x), &[0.394685481373, 0.040447075783, 0.050866539630], 1e-8);
        close(method.0, &body_v(&mechanism, body, &x)[3..], &[-5.341221216, -2.101751231, 60.0], 1e-7);
        let [force, _] = mechanism.joint_force(tip, 0.5, &x);
        close(method.0, &force, &[-35.696564055, 8.315286079, 35.813081307], 1e-7);
        let x = run(&mechanism, &start, 2.0, method, 1e-11);
        close(method.0, &centre(&mechanism, body, &x), &[0.387515114987, -0.086342581264, 0.048754428698], 1e-8);
        let [force, _] = mechanism.joint_force(tip, 2.0, &x);
        close(method.0, &force, &[-36.566881266, -3.787068879, 36.184695002], 1e-7);
        close(method.0, &[mechanism.output("angular_momentum.z", 2.0, &x).unwrap()], &[2.718803108289], 1e-8);
    }
}

#[test]
fn a_coin_rolls_on_a_circle_and_otherwise_as_computed() {
    // 12.4: quasi-velocities
    let (r, m) = (0.3, 1.2);
    let A = m * r * r / 4.0;
    let coin = |tilt: f64, omega: Vector<f64>| {
        let mut system = System::new();
        let body = Body::new(m, [[A, 0.0, 0.0], [0.0, A, 0.0], [0.0, 0.0, 2.0 * A]]);
        let R = about([1.0, 0.0, 0.0], tilt);
        let body = system.body(body.at([0.0, 0.0, r * tilt.sin()]).rotation(R).name("coin"));
        let axis = times(&R, [0.0, 0.0, 1.0]);
        let plane = ([0.0; 3], [0.0, 0.0, 1.0]);
        let joint = Joint::rolling_disc(plane, [0.0, 0.0, r * tilt.sin()], axis, r).between(GROUND, body);
        let joint = system.joint(joint.name("contact"));
        let mechanism = system.finish_with(Native).unwrap();
        let mut start = mechanism.start();
        (0..3).for_each(|k| start.v[3 + k] = Start::Fixed(omega[k]));
        (mechanism, body, joint, start)
    };
    let (mechanism, body, contact, start) = coin(1.2, [0.0, 1.5 * 1.2f64.sin(), -5.55967363619874]);
    let [force, _] = force_at_start(&mechanism, &start, contact);
    close("force", &force, &[0.0, 3.002223763547, 11.772], 1e-7);
    // the centre runs on a circle of this radius, once in 2π/1.5
    let radius = 1.11193472723975;
    for method in METHODS {
        let x = run(&mechanism, &start, 1.0, method, 1e-11);
        let (s, c) = 1.5f64.sin_cos();
        let at = [radius * s, radius * (1.0 - c), r * 1.2f64.sin()];
        close(method.0, &centre(&mechanism, body, &x), &at, 1e-8);
        let [force, _] = mechanism.joint_force(contact, 1.0, &x);
        close(method.0, &force, &[-3.002223763547 * s, 3.002223763547 * c, 11.772], 1e-7);
    }
    let (mechanism, body, contact, start) = coin(1.0, [0.4, 0.7, -6.0]);
    for method in METHODS {
        let x = run(&mechanism, &start, 1.0, method, 1e-11);
        close(method.0, &centre(&mechanism, body, &x), &[0.386345543407, 1.266603420185, 0.212104962161], 1e-8);
        close(method.0, &body_v(&mechanism, body, &x)[5..], &[-6.306491304711], 1e-8);
        let [force, _] = mechanism.joint_force(contact, 1.0, &x);
        close(method.0, &force, &[-4.184489839632, -7.722542933820, 14.932031489614], 1e-7);
        close(method.0, &[mechanism.output("energy.total", 1.0, &x).unwrap()], &[5.905153929948], 1e-9);
        let x = run(&mechanism, &start, 2.0, method, 1e-11);
        close(method.0, &centre(&mechanism, body, &x), &[-0.466820288831, 0.253755857176, 0.252338963613], 1e-8);
    }
}

#[test]
fn a_ball_on_a_turntable_runs_on_a_circle() {
    // 12.4: rate 2Ω/7
    let mut system = System::new();
    let table = system.body(Body::cylinder(1.0, 0.1).mass(5.0).at([0.0, 0.0, -0.05]).name("table"));
    let ball = system.body(Body::sphere(0.1).mass(0.5).at([0.3, 0.0, 0.1]).name("ball"));
    let axle = system.joint(Joint::revolute([0.0; 3], [0.0, 0.0, 1.0]).between(GROUND, table).name("axle"));
    system.joint(Joint::drive_angle(axle, Function::linear(2.0)).name("motor"));
    let plane = ([0.0; 3], [0.0, 0.0, 1.0]);
    system.joint(Joint::rolling_sphere(plane, [0.3, 0.0, 0.1], 0.1).between(table, ball).name("contact"));
    let mechanism = system.finish_with(Native).unwrap();
    let mut start = mechanism.start();
    (start.v[6], start.v[7]) = (Start::Fixed(0.0), Start::Fixed(0.2));
    for method in METHODS {
        let x = run(&mechanism, &start, 3.0, method, 1e-11);
        close(method.0, &centre(&mechanism, ball, &x)[..2], &[-0.100049126896, 0.346403067101], 1e-8);
    }
}

#[test]
fn a_double_spherical_pendulum_moves_as_by_recursion() {
    // 12.5: relative quaternions, recursion
    let mut system = System::new();
    let rod = |x: Vector<f64>, y: Vector<f64>| transposed(&[x, y, cross(x, y)]);
    let x1 = [0.7f64.sin(), 0.0, -0.7f64.cos()];
    let x2 = [0.0, 1.1f64.sin(), -1.1f64.cos()];
    let (R1, R2) = (rod(x1, [0.0, 1.0, 0.0]), rod(x2, [1.0, 0.0, 0.0]));
    let knee = scale(0.5, x1);
    let first = Body::cuboid([0.5, 0.04, 0.06]).mass(0.8).at(scale(0.25, x1)).rotation(R1).name("first");
    let second = Body::cuboid([0.7, 0.04, 0.03]).mass(0.5).at(add(knee, scale(0.35, x2))).rotation(R2).name("second");
    let (first, second) = (system.body(first), system.body(second));
    let top = system.joint(Joint::spherical([0.0; 3]).between(GROUND, first).name("top"));
    let middle = system.joint(Joint::spherical(knee).between(first, second).name("middle"));
    let mechanism = system.finish_with(Native).unwrap();
    let mut start = mechanism.start();
    let omega = [times(&transposed(&R1), [0.4, 1.2, -0.6]), times(&transposed(&R2), [-0.5, 0.3, 2.0])];
    for (m, omega) in omega.into_iter().enumerate() {
        (0..3).for_each(|k| start.v[6 * m + 3 + k] = Start::Fixed(omega[k]));
    }
    let [force, _] = force_at_start(&mechanism, &start, top);
    close("start", &force, &[-3.886254359, 0.250587311, 6.675429486], 1e-8);
    let [force, _] = force_at_start(&mechanism, &start, middle);
    close("start", &force, &[-0.926953205, -0.502483764, 0.941767714], 1e-8);
    for method in METHODS {
        let x = run(&mechanism, &start, 2.0, method, 1e-11);
        close(method.0, &centre(&mechanism, second, &x), &[-0.194073568690, 0.190884026763, -0.788241671248], 1e-8);
        let [force, _] = mechanism.joint_force(top, 2.0, &x);
        close(method.0, &force, &[9.198785816, -0.537808661, 25.931129783], 1e-7);
        let [force, _] = mechanism.joint_force(middle, 2.0, &x);
        close(method.0, &force, &[3.385913252, -5.190155246, 16.307675847], 1e-7);
        close(method.0, &[mechanism.output("energy.total", 2.0, &x).unwrap()], &[-3.669760959851], 1e-8);
    }
}

#[test]
fn a_spatial_slider_crank_turns_as_with_one_coordinate() {
    // 12.6: M(θ)θ'' + ½M'θ'² = −V'
    let xC = (0.26f64 * 0.26 - 0.05 * 0.05 - 0.16 * 0.16).sqrt();
    let mut system = System::new();
    let (axle, pin, end) = ([0.0, 0.05, 0.09], [0.0, 0.05, 0.16], [xC, 0.0, 0.0]);
    let crank = system.body(Body::bar(axle, pin, 0.02).mass(0.15).name("crank"));
    let conrod = system.body(Body::bar(pin, end, 0.015).mass(0.4).name("conrod"));
    let slider = system.body(Body::cuboid([0.05; 3]).at(end).mass(1.2).name("slider"));
    let main = system.joint(Joint::revolute(axle, [1.0, 0.0, 0.0]).between(GROUND, crank).name("main"));
    let ball = system.joint(Joint::spherical(pin).between(crank, conrod).name("ball"));
    let axes = [[0.0, 0.0, 1.0], [-0.05, -xC, 0.0]];
    system.joint(Joint::universal(end, axes).between(slider, conrod).name("cross"));
    system.joint(Joint::prismatic(end, [1.0, 0.0, 0.0]).between(GROUND, slider).name("guide"));
    system.track_angle(main);
    let mechanism = system.finish_with(Native).unwrap();
    let start = mechanism.start_with_rate(main, Coordinate::Angle, 8.0);
    let found = consistent::initialise(&mechanism, &start, daedal::motion::Form::StrangenessFree).unwrap().state.x;
    close("start", &body_v(&mechanism, slider, &found)[..1], &[0.1408832895195], 1e-11);
    close("start", &[mechanism.output("energy.total", 0.0, &found).unwrap()], &[0.540037280990], 1e-11);
    for method in METHODS {
        for (t, turned, rate, place, force) in [
            (0.2, 2.328198184606, 26.867615107259, 0.256598941198, [-23.101727808, 7.122727556, 7.758370453]),
            (1.0, 13.576037327936, 10.772705180258, 0.226542668915, [2.982716952, 0.651578319, -0.820201794]),
        ] {
            let x = run(&mechanism, &start, t, method, 1e-10);
            close(method.0, &[angle(&mechanism, 0, &x)], &[turned], 2e-8);
            close(method.0, &centre(&mechanism, slider, &x), &[place, 0.0, 0.0], 1e-8);
            let spin = body_v(&mechanism, crank, &x);
            let size = (spin[3] * spin[3] + spin[4] * spin[4] + spin[5] * spin[5]).sqrt();
            close(method.0, &[size], &[rate], 1e-7);
            let [f, _] = mechanism.joint_force(ball, t, &x);
            close(method.0, &f, &force, 2e-7);
        }
    }
}

#[test]
fn a_spatial_four_bar_turns_as_with_one_coordinate() {
    // 12.7
    let mut system = System::new();
    let crank_end = [0.15 * 0.5f64.cos(), 0.15 * 0.5f64.sin(), 0.0];
    let (hinge, tip) = ([0.5, 0.2, 0.1], [0.431142519675, 0.2, 0.443159798641]);
    let d = unit(sub(tip, crank_end)).unwrap();
    let y = unit(cross(d, [0.0, 1.0, 0.0])).unwrap();
    let boxed = |x: Vector<f64>, y: Vector<f64>| transposed(&[x, y, cross(x, y)]);
    let middle = |a: Vector<f64>, b: Vector<f64>| scale(0.5, add(a, b));
    let crank = system.body(Body::bar([0.0; 3], crank_end, 0.03).mass(0.6).name("crank"));
    let coupler = Body::cuboid([0.55, 0.02, 0.04]).mass(0.9).at(middle(crank_end, tip)).rotation(boxed(d, y));
    let coupler = system.body(coupler.name("coupler"));
    let rocker = system.body(Body::bar(hinge, tip, 0.03).mass(1.1).name("rocker"));
    let main = system.joint(Joint::revolute([0.0; 3], [0.0, 0.0, 1.0]).between(GROUND, crank).name("main"));
    system.joint(Joint::revolute(hinge, [0.0, 1.0, 0.0]).between(GROUND, rocker).name("hinge"));
    let ball = system.joint(Joint::spherical(crank_end).between(crank, coupler).name("ball"));
    let cardan = Joint::universal(tip, [[0.0, 1.0, 0.0], y]).between(rocker, coupler);
    let cardan = system.joint(cardan.name("cardan"));
    system.track_angle(main);
    let mechanism = system.finish_with(Native).unwrap();
    let start = mechanism.start_with_rate(main, Coordinate::Angle, 12.0);
    let [force, _] = force_at_start(&mechanism, &start, ball);
    close("start", &force, &[-22.346089840, -10.720689262, -16.787969921], 1e-8);
    let [force, _] = force_at_start(&mechanism, &start, cardan);
    close("start", &force, &[3.871887561, 3.509391529, 23.313457188], 1e-8);
    for method in METHODS {
        let x = run(&mechanism, &start, 1.0, method, 1e-10);
        close(method.0, &[0.5 + angle(&mechanism, 0, &x)], &[12.537759892312], 2e-8);
        close(method.0, &[body_v(&mechanism, crank, &x)[5]], &[10.355491779653], 1e-7);
        let [f, _] = mechanism.joint_force(ball, 1.0, &x);
        close(method.0, &f, &[-12.160377622, -1.537097313, -5.998464267], 2e-7);
        let [f, _] = mechanism.joint_force(cardan, 1.0, &x);
        close(method.0, &f, &[-0.014746505, 5.940230785, 12.419557008], 2e-7);
        close(method.0, &[mechanism.output("energy.total", 1.0, &x).unwrap()], &[5.726689411424], 1e-8);
    }
}

/// 12.8: links Rz(θᵢ)Tx(aᵢ)Rx(αᵢ), the fourth being the ground.
fn bennett() -> (Assembled, Vec<BodyId>, JointId) {
    let (a, alpha, beta) = (0.4, 0.6f64, 1.1f64);
    let b = a * beta.sin() / alpha.sin();
    let half = (0.5 * (beta + alpha)).sin() / (0.5 * (beta - alpha)).sin();
    let theta1 = 1.0f64;
    let theta2 = 2.0 * (half / (theta1 / 2.0).tan()).atan();
    let sides = [(a, alpha, theta1), (b, beta, theta2), (a, alpha, -theta1), (b, beta, -theta2)];
    let mut system = System::new();
    system.gravity = [1.5, -9.0, -3.0];
    let (mut at, mut R) = ([0.0; 3], daedal_multibody::vector::IDENTITY);
    let mut joints = Vec::new();
    let mut links = Vec::new();
    for (k, (length, twist, theta)) in sides.into_iter().enumerate() {
        joints.push((at, [R[0][2], R[1][2], R[2][2]]));
        R = product(&R, &about([0.0, 0.0, 1.0], theta));
        let end = add(at, times(&R, [length, 0.0, 0.0]));
        if k < 3 {
            let middle = scale(0.5, add(at, end));
            let link =
                Body::of(Form::Box { size: [length, 0.05, 0.08] }).mass([1.0, 1.5, 1.2][k]).at(middle).rotation(R);
            links.push(system.body(link.name(format!("link{}", k + 1))));
        }
        at = end;
        R = product(&R, &about([1.0, 0.0, 0.0], twist));
    }
    assert!(at.iter().all(|x| x.abs() < 1e-14), "closed: {at:?}");
    let mut ids = Vec::new();
    for (k, (at, axis)) in joints.into_iter().enumerate() {
        let before = if k == 0 { GROUND } else { links[k - 1] };
        let after = if k == 3 { GROUND } else { links[k] };
        ids.push(system.joint(Joint::revolute(at, axis).between(before, after).name(format!("pin{}", k + 1))));
    }
    system.track_angle(ids[0]);
    (system.finish_with(Native).unwrap(), links, ids[0])
}

/// What both of its joints do to link 2: force, and torque about its centre.
fn on_link_2(mechanism: &Assembled, links: &[BodyId], t: f64, x: &[f64]) -> [Vector<f64>; 2] {
    let view = mechanism.system().view(t, &x[mechanism.layout().p()], &x[mechanism.layout().v()]);
    let mut sum = [[0.0; 3]; 2];
    for (joint, sign) in [(1, 1.0), (2, -1.0)] {
        let [force, torque] = mechanism.joint_force(JointId::of(joint), t, x).map(|part| scale(sign, part));
        let pair = &view.pairs[joint];
        let arm = sub(add(pair.bodies[1].x, pair.rho[1]), centre(mechanism, links[1], x));
        sum = [add(sum[0], force), add(sum[1], add(torque, cross(arm, force)))];
    }
    sum
}

fn bennett_at_one_second(method: (&str, &str)) {
    let (mechanism, links, first) = bennett();
    let start = mechanism.start_with_rate(first, Coordinate::Angle, 2.0);
    let found = consistent::initialise(&mechanism, &start, daedal::motion::Form::StrangenessFree).unwrap().state.x;
    let [force, torque] = on_link_2(&mechanism, &links, 0.0, &found);
    close("start", &force, &[2.333850567, 10.388586901, 2.699258779], 1e-8);
    close("start", &torque, &[0.022311126, -0.218237535, -0.631048963], 1e-8);
    let x = run(&mechanism, &start, 1.0, method, 1e-10);
    close("angle", &[1.0 + angle(&mechanism, 0, &x)], &[-2.972812323838], 2e-8);
    close("rate", &[body_v(&mechanism, links[0], &x)[5]], &[-1.607922791132], 1e-7);
    let [force, torque] = on_link_2(&mechanism, &links, 1.0, &x);
    close("force", &force, &[5.358579730, 11.851775379, 5.559474620], 1e-7);
    close("torque", &torque, &[0.047091478, -0.060777344, -0.200755501], 1e-7);
    close("energy", &[mechanism.output("energy.total", 1.0, &x).unwrap()], &[4.525197506539], 1e-8);
}

/// Methods that leave out what follows from the rest, or take it.
const REDUNDANT: [(&str, &str); 4] =
    [("geoms", "psf"), ("dop853", "eom0"), ("dop853", "eom0 sparse"), ("hedop5", "eom0 sparse")];

#[test]
fn bennetts_linkage_moves_although_three_rows_are_too_many() {
    let (mechanism, ..) = bennett();
    let mobility = mechanism.system().mobility(0.0, &mechanism.system().positions(&[]));
    assert_eq!((mobility.counted, mobility.freedoms, mobility.rows, mobility.dependent.len()), (-2, 1, 20, 3));
    REDUNDANT.into_iter().for_each(bennett_at_one_second);
}

#[test]
fn guesses_beside_bennetts_linkage_are_brought_onto_it() {
    let (mechanism, ..) = bennett();
    let value = |start: &Start| if let Start::Fixed(x) | Start::Guess(x) = *start { x } else { f64::NAN };
    let exact = mechanism.start_with_rate(JointId::of(0), Coordinate::Angle, 2.0);
    let exact = consistent::initialise(&mechanism, &exact, daedal::motion::Form::StrangenessFree).unwrap().state.x;
    let l = mechanism.layout();
    let mut beside = mechanism.start();
    for (k, (start, j)) in beside.p.iter_mut().zip(l.p()).enumerate() {
        *start = Start::Guess(exact[j] + 1e-3 * (2.3 * k as f64).sin());
    }
    for (k, (start, j)) in beside.v.iter_mut().zip(l.v()).enumerate() {
        *start = Start::Guess(exact[j] + 1e-2 * (1.7 * k as f64).cos());
    }
    for matrices in [Matrices::Dense, Matrices::Sparse] {
        let mechanism = with(&mechanism, matrices);
        let found = consistent::initialise(&mechanism, &beside, daedal::motion::Form::StrangenessFree).unwrap();
        assert_eq!(found.undetermined_multipliers, 3, "{matrices:?}");
        for (range, starts, far) in [(l.p(), &beside.p, 0.01), (l.v(), &beside.v, 0.05)] {
            for (j, start) in range.zip(starts) {
                let x = found.state.x[j];
                assert!((x - value(start)).abs() < far, "{matrices:?}: {x} from {}", value(start));
            }
        }
    }
}

#[test]
fn a_chain_of_ten_links_falls_as_by_recursion() {
    // 12.9: relative angles, dense recursion
    let mut system = System::new();
    system.gravity = [0.0, 1.0, -9.81];
    let mut before = GROUND;
    let mut pin = None;
    for i in 1..=10 {
        let (from, to) = ([f64::from(i) - 1.0, 0.0, 0.0], [f64::from(i), 0.0, 0.0]);
        let link = system.body(Body::bar(from, to, 0.1).mass(1.0).name(format!("link{i}")));
        let axis = if i % 2 == 1 { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] };
        let joint = system.joint(Joint::revolute(from, axis).between(before, link).name(format!("pin{i}")));
        pin.get_or_insert(joint);
        before = link;
    }
    let mechanism = system.finish_with(Native).unwrap();
    let [force, torque] = force_at_start(&mechanism, &mechanism.start(), pin.unwrap());
    close("start", &force, &[0.0, -1.578059639495, 5.670860305168], 1e-9);
    close("start", &torque, &[0.0, 0.0, -1.078059639495], 1e-9);
    for method in METHODS {
        chain_at_one_second(&mechanism, (before, pin.unwrap()), method);
    }
}

fn chain_at_one_second(mechanism: &Assembled, (last, pin): (BodyId, JointId), method: (&str, &str)) {
    let x = run(mechanism, &mechanism.start(), 1.0, method, 1e-10);
    let p = body_p(mechanism, last, &x);
    let R = daedal_multibody::vector::rotation([p[3], p[4], p[5], p[6]]);
    let tip = add([p[0], p[1], p[2]], times(&R, [0.5, 0.0, 0.0]));
    close("tip", &tip, &[7.506795526877, 0.488500437422, -4.823083263334], 1e-8);
    let [force, torque] = mechanism.joint_force(pin, 1.0, &x);
    close("force", &force, &[-57.024552780, -12.995700769, 119.258296169], 1e-7);
    close("torque", &torque, &[-11.167858542, 0.0, -5.618858265], 1e-7);
    close("energy", &[mechanism.output("energy.kinetic", 1.0, &x).unwrap()], &[343.183475164545], 1e-8);
}

#[test]
fn screws_drives_and_cardans_keep_their_closed_forms() {
    // 12.10
    let mut system = System::new();
    let nut = Body::new(0.7, [[0.003, 0.0, 0.0], [0.0, 0.003, 0.0], [0.0, 0.0, 0.004]]).name("nut");
    let nut = system.body(nut);
    let lead = 0.03 * std::f64::consts::TAU;
    let thread = system.joint(Joint::screw([0.0; 3], [0.0, 0.0, 1.0], lead).between(GROUND, nut).name("thread"));
    system.track_angle(thread);
    let mechanism = system.finish_with(Native).unwrap();
    for method in METHODS {
        let x = run(&mechanism, &mechanism.start(), 0.7, method, 1e-10);
        close(method.0, &[angle(&mechanism, 0, &x) / std::f64::consts::TAU], &[-1.73497622], 1e-8);
        let [force, torque] = mechanism.joint_force(thread, 0.7, &x);
        close(method.0, &[force[2], torque[2]], &[5.932613390929, -0.177978401728], 1e-8);
    }

    let mut system = System::new();
    let arm = Body::new(1.3, [[0.04, 0.0, 0.0], [0.0, 0.04, 0.0], [0.0, 0.0, 0.04]]).at([0.5, 0.0, 0.0]).name("arm");
    let arm = system.body(arm);
    let hinge = system.joint(Joint::revolute([0.0; 3], [0.0, 1.0, 0.0]).between(GROUND, arm).name("hinge"));
    let swing = Function::new(|t| daedal::scalar::Scalar::sin(t * 2.0) * 0.8);
    let motor = system.joint(Joint::drive_angle(hinge, swing).name("motor"));
    let mechanism = system.finish_with(Native).unwrap();
    for method in METHODS {
        let x = run(&mechanism, &mechanism.start(), 0.6, method, 1e-10);
        let [_, torque] = mechanism.joint_force(motor, 0.6, &x);
        close(method.0, &[torque[1]], &[-5.773179698196], 1e-8);
    }

    let beta = 0.5f64;
    let mut system = System::new();
    let shafts = [[1.0, 0.0, 0.0], [beta.cos(), beta.sin(), 0.0]];
    let first = system.body(Body::cuboid([0.2, 0.1, 0.1]).mass(1.0).at(scale(-0.1, shafts[0])).name("first"));
    let second = system.body(Body::cuboid([0.2, 0.1, 0.1]).mass(1.0).at(scale(0.1, shafts[1])).name("second"));
    let bearing = system.joint(Joint::revolute([-0.1, 0.0, 0.0], shafts[0]).between(GROUND, first).name("bearing"));
    system.joint(Joint::cylindrical(scale(0.1, shafts[1]), shafts[1]).between(GROUND, second).name("other"));
    // at the start the pin of A is normal to both shafts
    let pins = [[0.0, 0.0, 1.0], [-beta.sin(), beta.cos(), 0.0]];
    system.joint(Joint::universal([0.0; 3], pins).between(first, second).name("cardan"));
    system.joint(Joint::drive_angle(bearing, Function::linear(3.0)).name("motor"));
    system.gravity = [0.0; 3];
    let rank = system.mobility(0.0, &system.positions(&[]));
    assert_eq!(rank.freedoms, 0);
    let redundant = !rank.dependent.is_empty();
    let mechanism = system.finish_with(Native).unwrap();
    for method in METHODS.into_iter().filter(|(name, _)| !redundant || *name != "radau") {
        let x = run(&mechanism, &mechanism.start(), 0.8, method, 1e-10);
        let (p, v) = (body_p(&mechanism, second, &x), body_v(&mechanism, second, &x));
        let R = daedal_multibody::vector::rotation([p[3], p[4], p[5], p[6]]);
        let spin = daedal_multibody::vector::dot(times(&R, [v[3], v[4], v[5]]), shafts[1]);
        close(method.0, &[spin], &[2.94118588896], 1e-8);
    }
}

/// 12.11: parallelograms side by side, cranks at an angle; the pins on the ground, and the cranks and couplers.
struct Ladder {
    system: System,
    grounds: Vec<JointId>,
    cranks: Vec<BodyId>,
    couplers: Vec<BodyId>,
    angle: f64,
}

impl Ladder {
    fn new(cells: usize, angle: f64, gravity: Vector<f64>) -> Self {
        let mut system = System::new();
        system.gravity = gravity;
        let arm = [0.6 * angle.cos(), 0.6 * angle.sin(), 0.0];
        let z = [0.0, 0.0, 1.0];
        let sized = |from: Vector<f64>, to: Vector<f64>, size: Vector<f64>| {
            let x = unit(sub(to, from)).unwrap();
            Body::cuboid(size).at(scale(0.5, add(from, to))).rotation(transposed(&[x, cross(z, x), z]))
        };
        let (mut cranks, mut couplers, mut grounds) = (Vec::new(), Vec::new(), Vec::new());
        let foot = |k: usize| [0.9 * k as f64, 0.0, 0.0];
        for k in 0..=cells {
            let (at, to) = (foot(k), add(foot(k), arm));
            cranks.push(system.body(sized(at, to, [0.6, 0.04, 0.05]).mass(0.5).name(format!("crank{k}"))));
            grounds.push(system.joint(Joint::revolute(at, z).between(GROUND, cranks[k]).name(format!("ground{k}"))));
        }
        for k in 0..cells {
            let (from, to) = (add(foot(k), arm), add(foot(k + 1), arm));
            couplers.push(system.body(sized(from, to, [0.9, 0.04, 0.05]).mass(0.8).name(format!("coupler{k}"))));
            system.joint(Joint::revolute(from, z).between(cranks[k], couplers[k]).name(format!("left{k}")));
            system.joint(Joint::revolute(to, z).between(couplers[k], cranks[k + 1]).name(format!("right{k}")));
        }
        system.track_angle(grounds[0]);
        Ladder { system, grounds, cranks, couplers, angle }
    }

    /// The start with a rate of all cranks.
    fn start(&self, mechanism: &Assembled, rate: f64) -> Initial {
        let end = [-0.6 * rate * self.angle.sin(), 0.6 * rate * self.angle.cos(), 0.0];
        let turning =
            |start: Initial, crank: &BodyId| mechanism.with_velocity(start, *crank, scale(0.5, end), [0.0, 0.0, rate]);
        let start = self.cranks.iter().fold(mechanism.start(), turning);
        self.couplers.iter().fold(start, |start, coupler| mechanism.with_velocity(start, *coupler, end, [0.0; 3]))
    }
}

#[test]
fn a_ladder_of_parallelograms_falls_with_nine_rows_too_many() {
    // 12.11: Iφ'' = −gP cos φ
    let ladder = Ladder::new(3, -0.8, [0.0, -9.81, 0.0]);
    let mobility = ladder.system.mobility(0.0, &ladder.system.positions(&[]));
    assert_eq!((mobility.rows, mobility.dependent.len(), mobility.freedoms), (50, 9, 1));
    assert_eq!(mobility.not_unique.len(), 10, "{:?}", mobility.not_unique);
    for method in REDUNDANT {
        ladder_at_half_a_second(&ladder, method);
    }
}

fn ladder_at_half_a_second(ladder: &Ladder, method: (&str, &str)) {
    let mechanism = ladder.system.clone().finish_with(Native).unwrap();
    let x = run(&mechanism, &mechanism.start(), 1.0, method, 1e-10);
    close(method.0, &[-0.8 + angle(&mechanism, 0, &x)], &[-2.018010086406], 1e-8);
    let x = run(&mechanism, &mechanism.start(), 0.5, method, 1e-10);
    close(method.0, &[-0.8 + angle(&mechanism, 0, &x)], &[-1.929608353077], 1e-8);
    for (k, pin) in ladder.grounds.iter().enumerate() {
        let outer = [3.490595855664, 10.855458670291];
        let inner = [5.429984095272, 16.026510159700];
        let [x0, y0] = if k == 0 || k == 3 { outer } else { inner };
        let [force, torque] = mechanism.joint_force(*pin, 0.5, &x);
        close(method.0, &force, &[x0, y0, 0.0], 1e-7);
        close(method.0, &torque, &[0.0; 3], 1e-7);
    }
}

#[test]
fn ladders_stop_where_they_are_flat() {
    // 12.11, from φ = 1.2 with φ' = −2
    for (cells, at) in [(1, 0.31821909), (2, 0.32061363), (3, 0.32151484), (10, 0.32287896)] {
        let ladder = Ladder::new(cells, 1.2, [0.0, -9.81, 0.0]);
        let mechanism = ladder.system.clone().finish_with(Native).unwrap().with_matrices(Matrices::Sparse);
        let method = catalogue::find("dop853").unwrap().with(Formulation::Eom0).unwrap();
        let options = Options { tolerance: Tolerance::new(1e-8, 1e-8), ..Options::default() };
        let problem = Problem::new(&mechanism, ladder.start(&mechanism, -2.0), 0.5);
        let Err(SolveError::Stopped { cause, .. }) = solve(&problem, &*method, &options) else {
            panic!("{cells} cells went through")
        };
        let lost = matches!(cause, StepFailure::Singularity { .. } | StepFailure::RankLoss { .. });
        assert!(lost && (cause.time() - at).abs() < 1e-4, "{cells}: {cause} instead of {at}");
    }
}

#[test]
fn forces_in_a_ladder_of_300_cells_are_small() {
    // 12.11: 10.3 where redundant rows share the load, 12,220 where some of them carry nothing
    let ladder = Ladder::new(300, 1.2, [1.0, -9.81, 4.0]);
    let mechanism = ladder.system.clone().finish_with(Native).unwrap();
    let start = ladder.start(&mechanism, -1.0);
    let found = consistent::initialise(&mechanism, &start, daedal::motion::Form::StrangenessFree).unwrap();
    assert_eq!(found.undetermined_multipliers, 900);
    let lambda = &found.state.x[mechanism.layout().lambda()];
    let largest = lambda.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    assert!((largest - 10.3).abs() < 0.06, "{largest}");
    let x = run(&mechanism, &start, 0.01, METHODS[1], 1e-8);
    let lambda = &x[mechanism.layout().lambda()];
    assert!(lambda.iter().all(|x| x.abs() < 11.0));
}

#[test]
fn a_stiff_slider_takes_few_steps_of_radau() {
    // 12.12
    let mut system = System::new();
    system.gravity = [0.0; 3];
    let arm = system.body(Body::bar([0.0; 3], [0.9, 0.0, 0.0], 0.04).mass(1.2).name("arm"));
    let slider = system.body(Body::cuboid([0.06; 3]).mass(0.5).at([0.4, 0.0, 0.0]).name("slider"));
    let pin = system.joint(Joint::revolute([0.0; 3], [0.0, 0.0, 1.0]).between(GROUND, arm).name("pin"));
    let guide = Joint::prismatic([0.4, 0.0, 0.0], [1.0, 0.0, 0.0]).between(arm, slider).name("guide");
    let guide = system.joint(guide);
    system.force(Linear::on(guide).stiffness(2e5).damping(4e3));
    system.track_angle(pin);
    let mechanism = system.finish_with(Native).unwrap();
    let start = mechanism.start_with_rate(pin, Coordinate::Angle, 15.0);
    let radau = catalogue::find("radau").unwrap().with(Formulation::Ggl).unwrap();
    let options = Options { tolerance: Tolerance::new(1e-6, 1e-6), ..Options::default() };
    let solution = solve(&Problem::new(&mechanism, start.clone(), 0.5), &*radau, &options).unwrap();
    assert!(solution.statistics.steps <= 150, "{}", solution.statistics.steps);
    for method in [METHODS[0], METHODS[2], METHODS[4]] {
        for (t, turned, travel) in [(0.05, 0.749894461324, 0.400206723849), (0.5, 7.498397591739, 0.400225026381)] {
            let x = run(&mechanism, &start, t, method, 1e-10);
            close(method.0, &[angle(&mechanism, 0, &x)], &[turned], 1e-8);
            let c = centre(&mechanism, slider, &x);
            close(method.0, &[c[0].hypot(c[1])], &[travel], 1e-8);
        }
    }
}

/// φ of Iφ'' = −gP cos φ, by steps of Runge and Kutta.
fn ladder_angle(cells: usize, mut y: [f64; 2], tend: f64) -> f64 {
    // cranks of 0.5 kg turn about their ends, couplers of 0.8 kg move on circles
    let (cranks, couplers) = (cells as f64 + 1.0, cells as f64);
    let inertia = cranks * (0.5 * (0.36 + 0.0016) / 12.0 + 0.5 * 0.09) + couplers * 0.8 * 0.36;
    let moment = cranks * 0.5 * 0.3 + couplers * 0.8 * 0.6;
    let n = 20_000;
    let h = tend / f64::from(n);
    let f = |y: [f64; 2]| [y[1], -9.81 * moment / inertia * y[0].cos()];
    let along = |y: [f64; 2], h: f64, d: [f64; 2]| [y[0] + h * d[0], y[1] + h * d[1]];
    for _ in 0..n {
        let a = f(y);
        let b = f(along(y, 0.5 * h, a));
        let c = f(along(y, 0.5 * h, b));
        let d = f(along(y, h, c));
        y = along(y, h / 6.0, [0, 1].map(|i| a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
    }
    y[0]
}

#[test]
fn ladders_pass_where_they_are_flat_if_they_are_asked_to() {
    // 12.11 beyond its flat positions, of which there are two to a turn
    for cells in [1, 3] {
        let ladder = Ladder::new(cells, 1.2, [0.0, -9.81, 0.0]);
        let mechanism = ladder.system.clone().finish_with(Native).unwrap();
        let exact = ladder_angle(cells, [1.2, -6.0], 2.0);
        assert!(exact < -6.0, "two half turns: {exact}");
        for pair in [Pair::Order5, Pair::Order8] {
            let method = DormandPrince { singular: AtSingular::Pass, ..DormandPrince::of(pair) };
            let options = Options { tolerance: Tolerance::new(1e-8, 1e-8), ..Options::default() };
            let problem = Problem::new(&mechanism, ladder.start(&mechanism, -6.0), 2.0);
            let solution = solve(&problem, &method, &options).unwrap_or_else(|e| panic!("{cells} {pair:?}: {e}"));
            let turned = 1.2 + angle(&mechanism, 0, &solution.end.x);
            assert!((turned - exact).abs() < 1e-5, "{cells} {pair:?}: {turned} instead of {exact}");
            assert!(solution.decisions.contains("singular configurations passed"), "{}", solution.decisions);
            let most = solution.max_residuals;
            assert!(most.position.unwrap() < 1e-11 && most.velocity.unwrap() < 1e-10, "{cells} {pair:?}: {most:?}");
        }
    }
}

#[test]
fn overconstrained_linkages_turn_a_hundred_times() {
    // without gravity, so that they go on turning; all levels stay at rounding, and so does the energy at the tolerance
    let (bennett, _, first) = bennett();
    let mut system = bennett.system().clone();
    system.gravity = [0.0; 3];
    let mechanism = system.finish_with(Native).unwrap();
    let start = mechanism.start_with_rate(first, Coordinate::Angle, 6.0);
    let options = Options { tolerance: Tolerance::new(1e-8, 1e-8), ..Options::default() };
    let method = DormandPrince::of(Pair::Order8);
    let turn = std::f64::consts::TAU;
    let place = mechanism.layout().p().end - 1;
    let turned = Event::falls("turned", Action::Stop, move |_, x| 100.0 * turn - x[place]);
    let problem = Problem::new(&mechanism, start, 1e4).event(turned);
    let solution = solve(&problem, &method, &options).unwrap();
    assert!((angle(&mechanism, 0, &solution.end.x) - 100.0 * turn).abs() < 1e-6);
    let most = solution.max_residuals;
    assert!(most.position.unwrap() < 1e-12 && most.velocity.unwrap() < 1e-11, "{most:?}");
    let energy = |x: &[f64]| mechanism.output("energy.total", 0.0, x).unwrap();
    let (begin, end) = (energy(solution.state(0)), energy(&solution.end.x));
    assert!((end / begin - 1.0).abs() < 1e-5, "{begin} {end}");
}

#[test]
fn values_between_steps_are_as_accurate_as_their_ends_from_the_first_step_on() {
    // 12.3: where p' = Z v, too
    let (mechanism, body, _, start) = top([0.0, 2.0 * 0.6f64.sin(), 112.295772576447]);
    let times: Vec<f64> = (0..=400).map(|k| 0.2 * f64::from(k) / 400.0).collect();
    for (name, formulation) in
        [("dopri5", Formulation::Eom0), ("dop853", Formulation::Eom0), ("hedop5", Formulation::Eom1)]
    {
        let method = catalogue::find(name).unwrap().with(formulation).unwrap();
        let tolerance = Tolerance::new(1e-8, 1e-8);
        let options = Options { tolerance, save: daedal::Save::At(times.clone()), ..Options::default() };
        let solution = solve(&Problem::new(&mechanism, start.clone(), 0.2), &*method, &options).unwrap();
        assert_eq!(solution.len(), times.len());
        for (k, t) in times.iter().enumerate() {
            let (s, c) = (2.0 * t).sin_cos();
            let r = 0.4 * 0.6f64.sin();
            let at = centre(&mechanism, body, solution.state(k));
            let error = (at[0] - r * s).hypot(at[1] + r * c);
            assert!(error < 1e-8, "{name} at {t}: {error:e}");
        }
    }
}

#[test]
fn the_explicit_pair_has_its_order_on_bennetts_linkage() {
    // 12.13: constant steps on [0, 0.25], rows that are left out
    let (mechanism, _, first) = bennett();
    let start = mechanism.start_with_rate(first, Coordinate::Angle, 2.0);
    let exact = run(&mechanism, &start, 0.25, METHODS[1], 1e-13);
    let layout = mechanism.layout();
    let errors = |steps: u32| {
        let method = DormandPrince { steps: Steps::Fixed, ..DormandPrince::of(Pair::Order5) };
        let options = Options { h0: Some(0.25 / f64::from(steps)), ..Options::default() };
        let solution = solve(&Problem::new(&mechanism, start.clone(), 0.25), &method, &options).unwrap();
        assert_eq!(solution.statistics.steps, u64::from(steps));
        [layout.p(), layout.v(), layout.a(), layout.lambda()]
            .map(|range| range.map(|j| (solution.end.x[j] - exact[j]).abs()).fold(0.0, f64::max))
    };
    let (coarse, fine) = (errors(20), errors(40));
    for (what, (coarse, fine)) in ["p", "v", "a", "lambda"].into_iter().zip(coarse.into_iter().zip(fine)) {
        let order = (coarse / fine).log2();
        assert!(order > 4.8, "{what}: {coarse:e} {fine:e}, order {order}");
    }
}
