//! Hybrid models as files and as Rust problems have the same switches.

use daedal::graph::Interpreted;
use daedal::hybrid::{Detection, Hybrid, HybridOptions, HybridSolution, Hysteresis, Restart};
use daedal::{Initial, Options, Problem, Save, Tolerance, solve};
use daedal_model::{Methods, Model, ModelKind};
use daedal_problems::hybrid::{
    ModeIntegrator, SlidingBy, belt, boost_converter, bowed_string, clutch, diode_bridge, friction_bodies,
    newtons_cradle, rope_cut,
};
use std::path::Path;
use std::sync::Arc;

fn options(hmax: Option<f64>) -> Options {
    Options { tolerance: Tolerance::new(1e-9, 1e-9), hmax, save: Save::Dense, ..Options::default() }
}

/// The file, solved with Radau IIa or GEOMS.
#[track_caller]
fn file(name: &str, overrides: &[(&str, f64)]) -> HybridSolution {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}.toml"));
    let text = std::fs::read_to_string(path).unwrap();
    let overrides: Vec<(String, f64)> = overrides.iter().map(|(name, x)| ((*name).to_string(), *x)).collect();
    let model = Model::read(name, &text, &overrides).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()));
    let ModelKind::Hybrid(hybrid) = &model.kind else { panic!("{name} has no modes") };
    let system = hybrid.build(&(Arc::new(Interpreted) as _), &Methods::default());
    let problem = hybrid.problem(&system, model.time.unwrap().1);
    made(&problem, model.solve.hmax, &hybrid.options)
}

#[track_caller]
fn made(problem: &Problem<Hybrid>, hmax: Option<f64>, hybrid: &HybridOptions) -> HybridSolution {
    solve(problem, hybrid, &options(hmax))
        .unwrap_or_else(|error| panic!("{error}: {:?}", std::error::Error::source(&error).map(ToString::to_string)))
}

#[track_caller]
fn rust(hybrid: &Hybrid, x0: &[f64], tend: f64) -> HybridSolution {
    made(&Problem::new(hybrid, Initial::new(0.0, x0), tend), None, &HybridOptions::default())
}

/// The same number of switches, at the same times, between modes of the same numbers.
#[track_caller]
fn same(file: &HybridSolution, rust: &HybridSolution, accuracy: f64) {
    let list = |s: &HybridSolution| s.switches.iter().map(|s| (s.t, s.from, s.to, s.kind)).collect::<Vec<_>>();
    let (found, wanted) = (list(file), list(rust));
    assert_eq!(found.len(), wanted.len(), "\n{found:?}\n{wanted:?}");
    for (a, b) in found.iter().zip(&wanted) {
        assert!((a.0 - b.0).abs() <= accuracy && (a.1, a.2, a.3) == (b.1, b.2, b.3), "\n{a:?}\n{b:?}");
    }
    assert!(!found.is_empty());
}

/// The same values at the end, by name.
#[track_caller]
fn ends(file: &HybridSolution, rust: &HybridSolution, names: &[(&str, &str)], accuracy: f64) {
    for (left, right) in names {
        let (a, b) = (file.end_value(left).unwrap(), rust.end_value(right).unwrap());
        assert!((a - b).abs() <= accuracy, "{left}: {a} and {b}");
    }
}

#[test]
fn the_boost_converter_is_the_same() {
    let hybrid = boost_converter::BoostConverter::default()
        .system(boost_converter::ConverterForm::Equations, ModeIntegrator::Radau);
    let problem = Problem::new(
        &hybrid,
        Initial::new(0.0, &boost_converter::GUESS).restart(Restart::LeastChange),
        boost_converter::TEND,
    );
    let reference = made(&problem, None, &HybridOptions::default());
    let file = file("boost-converter", &[]);
    same(&file, &reference, 1e-9);
    ends(&file, &reference, &boost_converter::NAMES.map(|name| (name, name)), 1e-7);
}

#[test]
fn the_friction_bodies_are_the_same() {
    let bodies = friction_bodies::FrictionBodies::default();
    let hybrid = bodies.system(SlidingBy::Generated, friction_bodies::FrictionForm::Equations, ModeIntegrator::Radau);
    let problem = Problem::new(&hybrid, Initial::new(0.0, &friction_bodies::START), friction_bodies::TEND);
    let options = HybridOptions { hysteresis: Hysteresis::Limit, ..HybridOptions::default() };
    let reference = made(&problem, None, &options);
    let file = file("friction-bodies", &[]);
    same(&file, &reference, 1e-7);
    ends(&file, &reference, &["p1", "p2", "v1", "v2"].map(|name| (name, name)), 1e-6);
}

#[test]
fn the_mass_on_the_belt_is_the_same() {
    let hybrid = belt::Belt::default().system(SlidingBy::ByHand, ModeIntegrator::Radau);
    let problem = Problem::new(&hybrid, Initial::new(0.0, &belt::START), belt::TEND);
    let reference = made(&problem, Some(belt::HMAX), &HybridOptions::default());
    let file = file("mass-on-belt", &[]);
    same(&file, &reference, 1e-7);
    ends(&file, &reference, &[("x", "x"), ("v", "v"), ("share", "lambda")], 1e-6);
}

#[test]
fn the_cut_rope_is_the_same() {
    let of = rope_cut::RopeCut::default();
    let hybrid = of.system(rope_cut::RopeSolver::Geoms, rope_cut::RopeSolver::Geoms);
    let start = of.start(rope_cut::RopeSolver::Geoms);
    let problem = Problem::new(&hybrid, Initial { states: start, ..Initial::default() }, rope_cut::TEND);
    let reference = made(&problem, None, &HybridOptions::default());
    let file = file("rope-cut", &[]);
    same(&file, &reference, 1e-8);
    ends(&file, &reference, &["x", "y", "vx", "vy"].map(|name| (name, name)), 1e-7);
}

#[test]
fn the_diode_bridge_is_the_same() {
    let hybrid = diode_bridge::DiodeBridge::default().system(ModeIntegrator::Radau);
    let reference = rust(&hybrid, &[0.0, 0.0], 0.1);
    let file = file("diode-bridge", &[]);
    same(&file, &reference, 1e-9);
    ends(&file, &reference, &[("v", "v"), ("i", "i")], 1e-7);
}

#[test]
fn the_friction_clutch_is_the_same() {
    let of = clutch::Clutch { start: [20.0, 0.0], ..clutch::Clutch::default() };
    let hybrid = of.system(clutch::ClutchKind::Friction);
    let problem = Problem::new(&hybrid, Initial { states: of.start(), ..Initial::default() }, 6.0);
    let reference = made(&problem, None, &HybridOptions::default());
    let file = file("clutch", &[]);
    same(&file, &reference, 1e-7);
    ends(&file, &reference, &["phi1", "phi2", "w1", "w2"].map(|name| (name, name)), 1e-6);
}

#[test]
fn the_dog_clutch_is_the_same() {
    let of = clutch::Clutch::default();
    let hybrid = of.system(clutch::ClutchKind::Dog);
    let problem = Problem::new(&hybrid, Initial { states: of.start(), ..Initial::default() }, 2.0);
    let reference = made(&problem, None, &HybridOptions::default());
    let file = file("dog-clutch", &[]);
    same(&file, &reference, 0.0);
    ends(&file, &reference, &["phi1", "phi2", "w1", "w2"].map(|name| (name, name)), 1e-6);
    let impulse = |solution: &HybridSolution| solution.switches[0].impulses.clone();
    assert_eq!(impulse(&file).len(), 1);
    assert_eq!(impulse(&file)[0].0, impulse(&reference)[0].0);
    assert!((impulse(&file)[0].1 - impulse(&reference)[0].1).abs() < 1e-9);
}

#[test]
fn newtons_cradle_is_the_same() {
    let cradle = newtons_cradle::NewtonsCradle::default();
    let hybrid = cradle.system(ModeIntegrator::Radau);
    let reference = rust(&hybrid, &cradle.start(), 3.0);
    let file = file("newtons-cradle", &[]);
    same(&file, &reference, 1e-7);
    ends(&file, &reference, &[("phi[1]", "phi1"), ("phi[5]", "phi5"), ("w[5]", "w5")], 1e-5);
}

#[test]
fn the_bowed_string_is_the_same() {
    // ten pieces are enough to compare
    let string = bowed_string::BowedString { pieces: 10, node: 1, ..bowed_string::BowedString::default() };
    let hybrid = string.system(bowed_string::Sticking::Sliding, ModeIntegrator::Radau);
    let problem = Problem::new(&hybrid, Initial::new(0.0, &string.start()), bowed_string::TEND);
    let options = HybridOptions { detection: Detection::Condition, ..HybridOptions::default() };
    let reference = made(&problem, None, &options);
    let file = file("bowed-string", &[("N", 10.0), ("c", 1.0)]);
    same(&file, &reference, 1e-6);
    ends(&file, &reference, &[("yb", "yb"), ("vb", "vb"), ("y[1]", "y.1")], 1e-6);
}
