//! The gallery: every file is read and run; some have known numbers.

use daedal::formulation::Formulation;
use daedal::motion::{Compiled, Outputs};
use daedal::{Options, Problem, Tolerance, catalogue, solve};
use daedal_model::{Model, ModelKind};
use daedal_native::Native;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../gallery")
}

fn read(name: &str, parameters: &[(&str, f64)]) -> Model {
    let text = std::fs::read_to_string(folder().join(name).with_extension("toml")).unwrap();
    of_text(name, &text, parameters)
}

fn of_text(name: &str, text: &str, parameters: &[(&str, f64)]) -> Model {
    let overrides: Vec<(String, f64)> = parameters.iter().map(|(name, value)| (name.to_string(), *value)).collect();
    Model::read(name, text, &overrides).unwrap_or_else(|mistakes| panic!("{name}: {mistakes}"))
}

/// Outputs and variables at the end, by name.
fn end(model: &Model, tend: f64, method: &str, tolerance: f64) -> impl Fn(&str) -> f64 + use<> {
    let ModelKind::Motion { formulas, initial, .. } = &model.kind else { panic!("motion") };
    let compiled = Compiled::new(formulas, Native);
    let entry = catalogue::find(method).unwrap();
    let formulation = Formulation::ALL.into_iter().find(|f| f.name() == entry.formulations[0]).unwrap();
    let options = Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() };
    let problem = Problem::new(&compiled, (**initial).clone(), tend);
    let solution = solve(&problem, &*entry.with(formulation).unwrap(), &options)
        .unwrap_or_else(|error| panic!("{} with {method}: {error}", model.name));
    let mut outputs = Outputs::new(formulas);
    let mut values = vec![0.0; outputs.names().len()];
    outputs.evaluate(tend, &solution.end.x, &mut values);
    let names = outputs.names().to_vec();
    move |name: &str| match names.iter().position(|known| known == name) {
        Some(k) => values[k],
        None => solution.end_value(name).unwrap_or_else(|| panic!("nothing is called {name}")),
    }
}

fn close(value: f64, wanted: f64, tolerance: f64) {
    assert!((value - wanted).abs() <= tolerance * wanted.abs().max(1.0), "{value:.12} instead of {wanted:.12}");
}

#[test]
fn every_file_of_the_gallery_runs() {
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert!(files.len() >= 20, "{files:?}");
    for file in files {
        let model = read(&file, &[]);
        if matches!(model.kind, ModelKind::Hybrid(_)) {
            // see `switched.rs`
            continue;
        }
        let (_, tend) = model.time.unwrap();
        let at = end(&model, tend.min(0.5), "geoms", 1e-6);
        assert!(at("energy.kinetic").is_finite(), "{file}");
        assert!(model.unused.is_empty(), "{file}: {:?}", model.unused);
        assert!(model.bodies.is_some());
    }
}

#[test]
fn the_rod_pendulum_has_its_elliptic_functions() {
    for method in ["geoms", "dop853", "radau"] {
        let at = end(&read("rod-pendulum", &[]), 3.0, method, 1e-11);
        close(at("height"), -0.7888595951914, 1e-8);
        close(at("pull"), 33.461089626212, 1e-7);
    }
}

#[test]
fn the_slider_crank_turns_as_with_one_coordinate() {
    let text = std::fs::read_to_string(folder().join("spatial-slider-crank.toml")).unwrap()
        + "\n[output]\nturned = \"main.angle\"\npush = \"ball.force.world.x\"\nrate = \"main.rate\"\n";
    let model = of_text("slider crank", &text, &[]);
    for method in ["geoms", "dop853", "radau"] {
        let at = end(&model, 1.0, method, 1e-10);
        close(at("turned"), 13.576037327936, 2e-8);
        close(at("rate"), 10.772705180258, 1e-7);
        close(at("slider.x"), 0.226542668915, 1e-8);
        close(at("push"), 2.982716952, 2e-7);
        close(at("energy.total"), 0.540037280990, 1e-8);
    }
}

#[test]
fn the_chain_has_as_many_links_as_it_is_told() {
    let at = end(&read("chain", &[]), 1.0, "dop853", 1e-10);
    close(at("tip"), -4.823083263334, 1e-8);
    let at = end(&read("chain", &[("N", 50.0)]), 0.5, "dop853", 1e-10);
    close(at("tip"), -1.22625, 1e-8);
    close(at("energy.kinetic"), 584.420508932809, 1e-8);
}

#[test]
fn the_gyroscope_precesses_at_its_rate() {
    let at = end(&read("gyroscope", &[]), 0.5, "dop853", 1e-11);
    close(at("top.x"), 0.4 * 0.6f64.sin() * 1.0f64.sin(), 1e-8);
    close(at("top.z"), 0.4 * 0.6f64.cos(), 1e-8);
}

#[test]
fn the_coin_rolls_on_its_circle() {
    let at = end(&read("rolling-coin", &[]), 2.0, "geoms", 1e-11);
    // a circle of this radius about (0, ±r), at the rate of its turn
    let radius = 1.11193472723975;
    close(at("coin.x").hypot(at("coin.y") - radius).min(at("coin.x").hypot(at("coin.y") + radius)), radius, 1e-7);
    close(at("coin.z"), 0.3 * 1.2f64.sin(), 1e-8);
}

#[test]
fn peaucelliers_point_stays_on_its_line() {
    let at = end(&read("peaucellier", &[]), 0.5, "geoms", 1e-9);
    close(at("line"), 4.875, 1e-9);
    assert!(at("height").abs() > 0.05, "{}", at("height"));
}

#[test]
fn mechanisms_have_their_freedoms() {
    let known = [
        ("four-bar", 1),
        ("stephenson", 0), // with its motor, as the next ones
        ("jansen-leg", 0),
        ("delta-robot", 0),
        ("excavator", 0),
        ("universal-joint-shaft", 0),
        ("peaucellier", 1),
        ("double-wishbone", 1),
        ("spatial-slider-crank", 1),
        ("stewart-platform", 6),
        ("bicycle", 3), // speed, lean and steer
        ("rolling-coin", 3),
        ("chain-bridge", 10),
    ];
    for (name, freedoms) in known {
        let system = read(name, &[]).bodies.unwrap();
        let found = system.mobility(0.0, &system.positions(&[]));
        assert_eq!((found.freedoms, found.dependent.len()), (freedoms, 0), "{name}");
    }
}

#[test]
fn stephensons_linkage_comes_back_after_a_turn() {
    let model = read("stephenson", &[]);
    let half = end(&model, 1.0, "geoms", 1e-8);
    assert!(half("swing").abs() > 0.1, "{}", half("swing"));
    let whole = end(&model, 2.0, "geoms", 1e-8);
    close(whole("swing"), 0.0, 1e-7);
    close(whole("crank.phi") - half("crank.phi"), std::f64::consts::PI, 1e-7);
}

/// The point at distances r from P and s from Q, on the left looking from P to Q if `side` is 1, else on the right.
fn at_distances(P: [f64; 2], r: f64, Q: [f64; 2], s: f64, side: f64) -> [f64; 2] {
    let (dx, dy) = (Q[0] - P[0], Q[1] - P[1]);
    let d = dx.hypot(dy);
    let along = (r * r - s * s + d * d) / (2.0 * d);
    let aside = side * (r * r - along * along).sqrt();
    [P[0] + (along * dx - aside * dy) / d, P[1] + (along * dy + aside * dx) / d]
}

#[test]
fn jansens_foot_is_where_his_lengths_put_it() {
    let foot = |turned: f64| {
        let (Y, C) = ([0.0, 0.0], [0.38 + 0.15 * turned.cos(), 0.078 + 0.15 * turned.sin()]);
        let T = at_distances(C, 0.5, Y, 0.415, -1.0);
        let W = at_distances(T, 0.558, Y, 0.401, -1.0);
        let V = at_distances(C, 0.619, Y, 0.393, 1.0);
        let U = at_distances(W, 0.394, V, 0.367, -1.0);
        at_distances(U, 0.657, V, 0.49, -1.0)
    };
    let text = std::fs::read_to_string(folder().join("jansen-leg.toml")).unwrap();
    let text = text.replace("[output]", "[output]\nfoot_x = \"shin.to.x\"");
    let model = of_text("jansen", &text, &[]);
    for t in [0.3, 0.9, 1.6] {
        let at = end(&model, t, "geoms", 1e-8);
        let [x, y] = foot(-std::f64::consts::PI * t);
        close(at("foot_x"), x, 1e-7);
        close(at("foot"), y, 1e-7);
    }
}

#[test]
fn the_platform_of_the_delta_robot_stays_level() {
    let at = end(&read("delta-robot", &[]), 1.0, "geoms", 1e-9);
    assert!(at("platform.x").hypot(at("platform.y")) > 0.01);
    for q in ["platform.q1", "platform.q2", "platform.q3"] {
        close(at(q), 0.0, 1e-8);
    }
    // arms that move together: l² = (reach − r)² + (height − L sin)²
    let (t, down) = (1.0f64, 0.5);
    let at = end(&read("delta-robot", &[("phase", 0.0)]), t, "geoms", 1e-9);
    let angle = down + 0.5 * (1.0 - (2.0 * t).cos()) / 2.0 * t.cos();
    let reach = 0.2 + 0.235 * angle.cos() - 0.045;
    close(at("height"), -(0.235 * angle.sin() + (0.64 - reach * reach).sqrt()), 1e-8);
    close(at("platform.x").hypot(at("platform.y")), 0.0, 1e-8);
}

#[test]
fn the_wishbones_come_to_rest_with_the_weight_on_road_and_frame() {
    let text = std::fs::read_to_string(folder().join("double-wishbone.toml")).unwrap();
    let forces = "[output]\nlow = \"low.force.z\"\nhigh = \"high.force.z\"\ntie = \"tie.force.z\"";
    let text = text.replace("[output]", forces);
    let at = end(&of_text("wishbone", &text, &[("bump", 0.0)]), 3.0, "geoms", 1e-9);
    assert!(at("energy.kinetic") < 1e-6, "{}", at("energy.kinetic"));
    // the strut as in the file, between (0, 0.45, 0.75) and the place of the lower arm that is drawn at (0, 0.62, 0.2)
    let (q0, q1) = (at("lower.q0"), at("lower.q1"));
    let (cos, sin) = (q0 * q0 - q1 * q1, 2.0 * q0 * q1);
    let (y, z) = (at("lower.y") + 0.07 * cos, at("lower.z") + 0.07 * sin);
    let (dy, dz) = (y - 0.45, z - 0.75);
    let length = dy.hypot(dz);
    let pull = 25e3 * (length - 0.17f64.hypot(0.55)) - 3500.0;
    let strut = -pull * dz / length;
    let carried = at("low") + at("high") + at("tie") + at("contact") + strut;
    close(carried, 36.5 * 9.81, 1e-4);
}

#[test]
fn the_boom_follows_its_cylinder() {
    let at = end(&read("excavator", &[]), 1.5, "geoms", 1e-8);
    // triangle of the foot of the boom, the foot of the cylinder and its head
    let (a, b) = (0.6f64.hypot(0.5), 2.3f64.hypot(1.4));
    let drawn = 1.7f64.hypot(1.9);
    let long = drawn + 0.2 * (2.0 * std::f64::consts::PI / 8.0 * 1.5f64).sin().powi(2);
    let angle = |c: f64| ((a * a + b * b - c * c) / (2.0 * a * b)).acos();
    close(at("boom"), angle(long) - angle(drawn), 1e-8);
}

#[test]
fn the_bicycle_rides_as_its_benchmark() {
    // Meijaard, Papadopoulos, Ruina and Schwab (2007): M q'' + v C₁ q' + (g K₀ + v² K₂) q = 0 with q = (lean, steer)
    let M = [[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]];
    let K0 = [[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]];
    let K2 = [[0.0, 76.59734589573222], [0.0, 2.65431523794604]];
    let C1 = [[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]];
    let (v, push, tend) = (5.0, 1e-3, 1.0);
    let rate = |x: [f64; 4]| {
        let f: Vec<f64> = (0..2)
            .map(|i| {
                (0..2).map(|j| -v * C1[i][j] * x[2 + j] - (9.81 * K0[i][j] + v * v * K2[i][j]) * x[j]).sum::<f64>()
            })
            .collect();
        let det = M[0][0] * M[1][1] - M[0][1] * M[1][0];
        [x[2], x[3], (M[1][1] * f[0] - M[0][1] * f[1]) / det, (M[0][0] * f[1] - M[1][0] * f[0]) / det]
    };
    let steps = 2000;
    let h = tend / f64::from(steps);
    let mut x = [0.0, 0.0, push, 0.0];
    for _ in 0..steps {
        let plus = |k: [f64; 4], s: f64| [0, 1, 2, 3].map(|i| x[i] + s * k[i]);
        let k1 = rate(x);
        let k2 = rate(plus(k1, h / 2.0));
        let k3 = rate(plus(k2, h / 2.0));
        let k4 = rate(plus(k3, h));
        x = [0, 1, 2, 3].map(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    let at = end(&read("bicycle", &[("push", push)]), tend, "geoms", 1e-11);
    assert!((at("lean") - x[0]).abs() < 1e-5 * push, "{} {}", at("lean"), x[0]);
    assert!((at("turned") - x[1]).abs() < 1e-5 * push, "{} {}", at("turned"), x[1]);
}

#[test]
fn the_tippe_top_keeps_what_jellett_found_and_turns_over() {
    let model = read("tippe-top", &[]);
    let (first, last) = (end(&model, 1e-6, "geoms", 1e-9), end(&model, 4.0, "geoms", 1e-9));
    close(last("Jellett") / first("Jellett"), 1.0, 1e-5);
    assert!(last("energy.total") < 0.9 * first("energy.total"), "friction takes energy");
    assert!(first("upright") > 0.99 && last("upright") < -0.9, "{}", last("upright"));
}

#[test]
fn hookes_joint_turns_unevenly() {
    let at = end(&read("universal-joint-shaft", &[]), 0.8, "geoms", 1e-9);
    // the pin of the first shaft is normal to both at the start
    let (bend, turned) = (0.5f64, 3.0 * 0.8f64);
    close(at("uneven"), 3.0 * bend.cos() / (1.0 - (bend.sin() * turned.sin()).powi(2)), 1e-7);
}

#[test]
fn a_ball_with_spin_rolls_at_last() {
    let model = read("bouncing-ball", &[]);
    let (first, last) = (end(&model, 1e-6, "geoms", 1e-7), end(&model, 1.5, "geoms", 1e-7));
    // it rolls at the end, with the moment of momentum about a point of the floor that it had: (7/5) m r v = (2/5) m r² ω₀
    close(last("ball.vx"), 2.0 / 7.0 * 0.1 * 40.0, 1e-4);
    assert!(last("energy.total") < first("energy.total") - 0.1);
}

#[test]
fn the_chain_bridge_hangs_with_one_horizontal_pull() {
    let text = std::fs::read_to_string(folder().join("chain-bridge.toml")).unwrap();
    let more = "[output]\nother = \"pin[13].force.x\"\nleft = \"pin[1].force.y\"\nright = \"pin[13].force.y\"";
    let at = end(&of_text("bridge", &text.replace("[output]", more), &[]), 8.0, "geoms", 1e-6);
    // the ground pulls the first link, the last one pulls the ground
    assert!(at("pull") < -100.0);
    close(at("other") / at("pull"), 1.0, 2e-2);
    close((at("left") - at("right")) / (12.0 * 5.0 * 9.81), 1.0, 2e-2);
}

#[test]
fn a_planar_model_moves_as_the_same_in_space() {
    // a double pendulum in both worlds
    let text = |world: &str, axis: &str, at: fn(f64, f64) -> String| {
        format!(
            "[model]\nname = \"double pendulum\"\n[world]\n{world}\n[[bodies]]\nname = \"a\"\nbar = {{ from = {o}, to = {m}, width = 0.1 }}\nmass = 1\n\
             [[bodies]]\nname = \"b\"\nbar = {{ from = {m}, to = {e}, width = 0.1 }}\nmass = 2\n\
             [[joints]]\nname = \"p\"\nkind = \"revolute\"\nbetween = [\"ground\", \"a\"]\nat = {o}\n{axis}\n\
             [[joints]]\nname = \"q\"\nkind = \"revolute\"\nbetween = [\"a\", \"b\"]\nat = {m}\n{axis}\n\
             [[forces]]\nkind = \"torsion\"\njoint = \"q\"\nstiffness = 3\ndamping = 0.1\n\
             [output]\nturned = \"q.angle\"\nforce = \"q.force.world.x\"\n",
            o = at(0.0, 0.0),
            m = at(0.8, 0.1),
            e = at(1.2, -0.6)
        )
    };
    let planar = of_text("planar", &text("plane = \"xy\"", "", |x, y| format!("[{x}, {y}]")), &[]);
    let spatial = text("gravity = [0, -9.81, 0]", "axis = [0, 0, 1]", |x, y| format!("[{x}, {y}, 0]"));
    let spatial = of_text("spatial", &spatial, &[]);
    let (flat, full) = (end(&planar, 1.0, "geoms", 1e-11), end(&spatial, 1.0, "geoms", 1e-11));
    for name in ["b.x", "b.y", "b.vx", "turned", "force", "energy.total"] {
        close(flat(name), full(name), 1e-7);
    }
}

#[test]
fn given_joint_coordinates_move_what_is_behind_them() {
    let text = std::fs::read_to_string(folder().join("rod-pendulum.toml")).unwrap()
        + "\n[initial]\nfix = { \"hinge.angle\" = \"pi/2\", \"hinge.rate\" = 0.5 }\n";
    let at = end(&of_text("turned", &text, &[]), 1e-9, "geoms", 1e-8);
    // turned about y from x to −z
    close(at("height"), -0.8, 1e-8);
    close(at("rod.vx"), -0.5 * 0.4, 1e-8);
}

#[test]
fn force_laws_have_states_and_names_of_joints() {
    let text = "[model]\nname = \"motor\"\n[parameters]\nk = 2\n[world]\nplane = \"xy\"\ngravity = [0, 0]\n\
        [[bodies]]\nname = \"wheel\"\ncylinder = { radius = 0.5, length = 0.1 }\nmass = 8\n\
        [[joints]]\nname = \"axle\"\nkind = \"revolute\"\nbetween = [\"ground\", \"wheel\"]\nat = [0, 0]\n\
        [[forces]]\nname = \"motor\"\nkind = \"actuator\"\njoint = \"axle\"\ntorque = \"k*current\"\n\
        [motion]\ndynamic = { current = \"1 - current - k*axle.rate\" }\n[initial]\nfix = { current = 0 }\n";
    let at = end(&of_text("motor", text, &[]), 2.0, "geoms", 1e-10);
    // J ω' = k i, i' = 1 − i − kω with J = 1 and k = 2: i'' + i' + 4i = 0, i(0) = 0, i'(0) = 1
    let root = 3.75f64.sqrt();
    close(at("current"), (-1.0f64).exp() * (2.0 * root).sin() / root, 1e-8);
}
