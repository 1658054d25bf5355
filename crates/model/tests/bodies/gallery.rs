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
    assert!(files.len() >= 10, "{files:?}");
    for file in files {
        let model = read(&file, &[]);
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
