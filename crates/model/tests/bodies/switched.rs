//! Bodies in systems with modes, against closed forms.

use daedal::graph::Interpreted;
use daedal::hybrid::HybridSolution;
use daedal::{Options, Save, Tolerance, solve};
use daedal_model::{HybridModel, Methods, Model, ModelKind};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, TAU};
use std::path::Path;
use std::sync::Arc;

const G: f64 = 9.81;

fn gallery(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../gallery/{name}.toml"));
    std::fs::read_to_string(path).unwrap()
}

fn read(text: &str) -> (HybridModel, f64) {
    let model = Model::read("model.toml", text, &[]).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()));
    assert!(model.unused.is_empty(), "{:?}", model.unused);
    assert!(model.bodies.is_some());
    let ModelKind::Hybrid(hybrid) = model.kind else { panic!("it has modes") };
    (*hybrid, model.time.unwrap().1)
}

fn run_with(text: &str, motion: &'static str, tend: Option<f64>) -> HybridSolution {
    let (hybrid, end) = read(text);
    let system = hybrid.build(&(Arc::new(Interpreted) as _), &Methods { motion, ..Methods::default() });
    let problem = hybrid.problem(&system, tend.unwrap_or(end));
    let options = Options { tolerance: Tolerance::new(1e-9, 1e-9), save: Save::Dense, ..Options::default() };
    solve(&problem, &hybrid.options, &options)
        .unwrap_or_else(|error| panic!("{error}: {:?}", std::error::Error::source(&error)))
}

fn run(text: &str) -> HybridSolution {
    run_with(text, "geoms", None)
}

#[track_caller]
fn near(value: f64, expected: f64, allowed: f64) {
    assert!((value - expected).abs() <= allowed, "{value} is not {expected}");
}

#[track_caller]
fn switches(solution: &HybridSolution, expected: &[(f64, &str)], allowed: f64) {
    let found = solution.mode_trajectory();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((t, _, to), (at, mode)) in found.iter().zip(expected) {
        assert_eq!(to, mode, "{found:?}");
        near(*t, *at, allowed);
    }
}

/// The zero of a function between a and b.
fn zero(mut a: f64, mut b: f64, f: impl Fn(f64) -> f64) -> f64 {
    assert!(f(a) * f(b) < 0.0, "{} {}", f(a), f(b));
    for _ in 0..80 {
        let c = 0.5 * (a + b);
        if f(a) * f(c) <= 0.0 {
            b = c;
        } else {
            a = c;
        }
    }
    0.5 * (a + b)
}

#[test]
fn a_block_sticks_and_slides_on_its_slope() {
    let (m, slope, mu, mu0, pull) = (2.0, 0.2_f64, 0.3, 0.4, 14.0);
    let (down, normal) = (m * G * slope.sin(), m * G * slope.cos());
    // it slides from t₀ on, with friction against it, until it stops
    let speed =
        |sense: f64, t0: f64, t: f64| (pull * (t0.cos() - t.cos()) - (down + sense * mu * normal) * (t - t0)) / m;
    let stops = |sense: f64, t0: f64, before: f64| zero(t0 + 0.2, before, |t| speed(sense, t0, t));
    let t1 = ((down + mu0 * normal) / pull).asin();
    let t2 = stops(1.0, t1, 3.4);
    let t3 = PI - ((down - mu0 * normal) / pull).asin();
    let t4 = stops(-1.0, t3, 8.5);
    let t5 = stops(1.0, t4, 9.5);
    let expected =
        [(t1, "up"), (t2, "sticks"), (t3, "down"), (t4, "sticks"), (t4, "up"), (t5, "sticks"), (t3 + TAU, "down")];
    for method in ["geoms", "radau"] {
        let solution = run_with(&gallery("dry-friction"), method, None);
        switches(&solution, &expected, 1e-6);
        let speed = speed(-1.0, t3 + TAU, 10.0);
        near(solution.end_value("block.vx").unwrap(), speed * slope.cos(), 1e-6);
    }
}

const PENDULUM: &str = r#"
[model]
name = "pendulum with a stiff hinge"
time = [0, 20]
[parameters]
T = 1
[[bodies]]
name = "rod"
bar = { from = [0, 0, 0], to = [1, 0, 0], width = 0.05 }
mass = 1
[[joints]]
name = "hinge"
kind = "revolute"
between = ["ground", "rod"]
at = [0, 0, 0]
axis = [0, 1, 0]
[[forces]]
name = "friction"
kind = "torsion"
joint = "hinge"
torque = "-sense*T"
[modes]
forward  = { parameters = { sense = 1 } }
backward = { parameters = { sense = -1 } }
[[transitions]]
from = "forward"
to = "backward"
when = "hinge.rate < 0"
[[transitions]]
from = "backward"
to = "forward"
when = "hinge.rate > 0"
[initial]
mode = "forward"
[output]
angle = "hinge.angle"
"#;

/// Where it turns: friction takes what gravity gives.
fn turns() -> Vec<f64> {
    let (weight, T) = (0.5 * G, 1.0);
    let mut angles = vec![0.0];
    // it sticks where gravity is weaker than friction
    while weight * f64::cos(angles[angles.len() - 1]).abs() > T {
        let from = angles[angles.len() - 1];
        let sense = f64::signum(FRAC_PI_2 - from);
        let energy = |angle: f64| weight * (angle.sin() - from.sin()) - T * sense * (angle - from);
        // where it is fastest, and beyond
        let fastest = FRAC_PI_2 - sense * (T / weight).asin();
        let far = fastest + sense * (fastest - from).abs() * 1.2;
        angles.push(zero(fastest, far, energy));
    }
    angles
}

#[test]
fn a_pendulum_with_dry_friction_comes_to_rest_where_energy_says() {
    let turns = turns();
    let solution = run(PENDULUM);
    let found: Vec<&str> = solution.switches.iter().map(|switch| solution.modes[switch.to].name.as_str()).collect();
    assert_eq!(found.len(), turns.len() - 1, "{found:?}");
    // it stays there, in a mode that was generated
    near(solution.end_value("hinge.angle").unwrap(), turns[turns.len() - 1], 1e-6);
    assert!(solution.modes[solution.end_mode].sliding);
    for (switch, angle) in solution.switches.iter().zip(&turns[1..]) {
        let place = solution.modes[switch.from].unknowns.iter().position(|name| name == "hinge.angle").unwrap();
        near(switch.before[place], *angle, 1e-6);
    }
}

#[test]
fn sticking_may_be_a_mode_of_its_own() {
    let grip = "[[joints]]\nname = \"grip\"\nkind = \"rate\"\njoint = \"hinge\"\nrate = \"0\"\nmodes = \"sticks\"\n";
    let text = PENDULUM
        .replace("[[forces]]", &format!("{grip}[[forces]]"))
        .replace("[initial]", "[[transitions]]\nfrom = \"sticks\"\nto = \"forward\"\nwhen = \"grip.torque.y < -T\"\n[[transitions]]\nfrom = \"sticks\"\nto = \"backward\"\nwhen = \"grip.torque.y > T\"\n[initial]")
        .replace("to = \"backward\"\nwhen = \"hinge.rate < 0\"", "to = \"sticks\"\nwhen = \"hinge.rate < 0\"")
        .replace("to = \"forward\"\nwhen = \"hinge.rate > 0\"", "to = \"sticks\"\nwhen = \"hinge.rate > 0\"")
        .replace("[[transitions]]\nfrom = \"forward\"", "sticks = { without = [\"friction\"], parameters = { sense = 0 } }\n[[transitions]]\nfrom = \"forward\"");
    let (solution, turns) = (run(&text), turns());
    assert_eq!(solution.modes[solution.end_mode].name, "sticks");
    near(solution.end_value("hinge.angle").unwrap(), turns[turns.len() - 1], 1e-6);
    // every turn but the last goes on at once
    assert_eq!(solution.switches.len(), 2 * (turns.len() - 1) - 1);
    // the grip carries the weight of the rod
    near(solution.end_value("mu.grip.rz").unwrap().abs(), 0.5 * G * turns[turns.len() - 1].cos().abs(), 1e-5);
}

const CAUGHT: &str = r#"
[model]
name = "a rod that is caught at its end"
time = [0, 1.5]
[world]
plane = "xy"
gravity = [0, 0]
[[bodies]]
name = "rod"
bar = { from = [-1, 0], to = [-1, 1], width = 0.01 }
inertia = [1, 1, "1/12"]
mass = 1
[[joints]]
name = "pin"
kind = "revolute"
between = ["ground", "rod"]
at = [[0, 0], [-1, 0]]
modes = ["caught"]
[modes.free]
[modes.caught]
[[transitions]]
from = "free"
to = "caught"
when = "rod.from.x > 0"
[initial]
mode = "free"
fix = { "rod.vx" = 1 }
[output]
pull = "pin.force.y"
"#;

#[test]
fn a_joint_that_closes_keeps_the_angular_momentum_about_it() {
    let solution = run(CAUGHT);
    switches(&solution, &[(1.0, "caught")], 1e-9);
    // m v l/2 = (m l²/3) ω
    near(solution.end_value("rod.omega").unwrap(), -1.5, 1e-8);
    near(solution.end_value("rod.phi").unwrap() - FRAC_PI_2, -0.75, 1e-7);
    let impulses = &solution.switches[0].impulses;
    let of = |row: &str| impulses.iter().find(|(name, _)| name.ends_with(row)).map_or(0.0, |(_, impulse)| *impulse);
    near(of("pin.x").abs(), 0.25, 1e-8);
    near(of("pin.y"), 0.0, 1e-8);
}

#[test]
fn joint_rates_hold_at_the_start_of_the_first_mode() {
    let text = PENDULUM
        .replace("[output]", "fix = { \"hinge.angle\" = 0.5, \"hinge.rate\" = 2 }\n[output]")
        .replace("time = [0, 20]", "time = [0, 0.001]");
    let (hybrid, _) = read(&text);
    let solution = run(&text);
    let first = solution.phases[0].state(0);
    let at = |name: &str| {
        let place = hybrid.modes[0].unknowns.iter().position(|unknown| unknown == name).unwrap();
        first[place]
    };
    near(at("hinge.angle"), 0.5, 1e-12);
    near(at("rod.omega.y"), 2.0, 1e-12);
    near(at("rod.x"), 0.5 * f64::cos(0.5), 1e-12);
}

#[test]
fn the_geneva_wheel_turns_by_quarters() {
    let (C, r) = (0.1, 0.1 / f64::sqrt(2.0));
    // turned in its slot, where the crank stands at this angle from the line of centres
    let turned = |theta: f64| -(FRAC_PI_4 + f64::atan2(r * theta.sin(), C - r * theta.cos()));
    let rest = [(0.25, "locked"), (1.0, "second"), (1.25, "locked"), (2.0, "third"), (2.25, "locked")];
    let later = [(3.0, "fourth"), (3.25, "locked"), (4.0, "first")];
    let solution = run(&gallery("geneva"));
    switches(&solution, &[&rest[..], &later[..]].concat(), 1e-6);
    near(solution.end_value("wheel.phi").unwrap(), turned(0.2 * TAU - FRAC_PI_4) - TAU, 1e-6);
    // nothing is hit: the pin enters along the slot
    for switch in &solution.switches {
        let largest = switch.impulses.iter().fold(0.0_f64, |most, (_, impulse)| most.max(impulse.abs()));
        assert!(largest < 1e-6, "{:?}", switch.impulses);
    }
    let held = run_with(&gallery("geneva"), "geoms", Some(2.7));
    near(held.end_value("wheel.phi").unwrap(), -1.5 * PI, 1e-6);
    near(held.end_value("wheel.omega").unwrap(), 0.0, 1e-9);
}
