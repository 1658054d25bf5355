//! Systems with modes, solved: what their files say against closed forms and published numbers.

use daedal::graph::Interpreted;
use daedal::hybrid::{HybridError, HybridSolution};
use daedal::{Options, Save, Tolerance, solve};
use daedal_model::{Methods, Model, ModelKind};
use std::path::Path;
use std::sync::Arc;

fn run(
    name: &str,
    overrides: &[(&str, f64)],
    edit: impl Fn(&str) -> String,
) -> Result<HybridSolution, Box<HybridError>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}.toml"));
    made_of(name, &edit(&std::fs::read_to_string(path).unwrap()), overrides)
}

fn made_of(name: &str, text: &str, overrides: &[(&str, f64)]) -> Result<HybridSolution, Box<HybridError>> {
    let overrides: Vec<(String, f64)> = overrides.iter().map(|(name, x)| ((*name).to_string(), *x)).collect();
    let model = Model::read(name, text, &overrides).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()));
    let ModelKind::Hybrid(hybrid) = &model.kind else { panic!("{name} has no modes") };
    let system = hybrid.build(&(Arc::new(Interpreted) as _), &Methods::default());
    let problem = hybrid.problem(&system, model.time.unwrap().1);
    let tolerance = Tolerance::new(1e-9, 1e-9);
    let options = Options { tolerance, hmax: model.solve.hmax, save: Save::Dense, ..Options::default() };
    solve(&problem, &hybrid.options, &options).map_err(Box::new)
}

#[test]
fn nothing_slides_far_from_the_belt_however_coarse_the_tolerance() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/mass-on-belt.toml");
    let model = Model::read("mass-on-belt", &std::fs::read_to_string(path).unwrap(), &[]).unwrap();
    let ModelKind::Hybrid(hybrid) = &model.kind else { panic!("it has modes") };
    let system = hybrid.build(&(Arc::new(Interpreted) as _), &Methods::default());
    let options = Options { tolerance: Tolerance::new(1e-3, 1e-3), hmax: model.solve.hmax, ..Options::default() };
    let solution = solve(&hybrid.problem(&system, 1.0), &hybrid.options, &options).unwrap();
    // it starts at rest, and is as fast as the belt at 0.26759
    let (t, _, to) = *solution.mode_trajectory().last().unwrap();
    assert_eq!(to, "stick");
    near(t, 0.267_592, 1e-3);
}

fn made(name: &str) -> HybridSolution {
    run(name, &[], str::to_string)
        .unwrap_or_else(|error| panic!("{name}: {error}: {:?}", std::error::Error::source(&error)))
}

fn near(value: f64, expected: f64, allowed: f64) {
    assert!((value - expected).abs() <= allowed, "{value} is not {expected}");
}

fn end(solution: &HybridSolution, name: &str) -> f64 {
    solution.end_value(name).unwrap()
}

/// Times and modes against a table.
fn check(solution: &HybridSolution, expected: &[(f64, &str, &str)], allowed: f64) {
    let found = solution.mode_trajectory();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (&(t, from, to), &(time, before, after)) in found.iter().zip(expected) {
        near(t, time, allowed);
        assert_eq!((from, to), (before, after), "{found:?}");
    }
}

#[test]
fn the_rope_is_cut() {
    let solution = made("rope-cut");
    check(&solution, &[(0.331_797_929, "rope", "free")], 1e-7);
    near(end(&solution, "x"), -0.216_621_234, 1e-6);
    near(end(&solution, "y"), -4.517_716_165, 1e-6);
    near(end(&solution, "vy"), -9.275_764_842, 1e-6);
}

#[test]
fn the_thermostat_follows_exponentials() {
    let solution = made("hysteresis-relay");
    let (tau, cold, warm) = (20.0_f64, 5.0, 35.0);
    let mut t = tau * ((warm - cold) / (warm - 21.0_f64)).ln();
    let mut heats = true;
    for (found, ..) in solution.mode_trajectory() {
        near(found, t, 1e-6);
        t +=
            if heats { tau * ((21.0 - cold) / (19.0 - cold)).ln() } else { tau * ((warm - 19.0) / (warm - 21.0)).ln() };
        heats = !heats;
    }
    assert!(t > 100.0 && solution.switches.len() == 32, "{} switches up to {t}", solution.switches.len());
}

/// A thermostat of ±0.5 K, with times in seconds.
const THERMOSTAT: &str = r#"
    [model]
    name = "thermostat"
    time = [0, TEND]
    [dae]
    states = ["T"]
    equations = ["3600*der(T) = 5 + heater*60 - T"]
    [modes]
    on  = { parameters = { heater = 1 } }
    off = { parameters = { heater = 0 } }
    [[transitions]]
    from = "on"
    to = "off"
    when = "T > 20.5"
    [[transitions]]
    from = "off"
    to = "on"
    when = "T < 19.5"
    [initial]
    mode = "on"
    fix = { T = 20 }
"#;

#[test]
fn a_thermostat_does_not_depend_on_the_end_of_the_run() {
    let times = |tend: &str| {
        let solution = made_of("thermostat", &THERMOSTAT.replace("TEND", tend), &[]).unwrap();
        assert!(solution.modes.len() == 2 && solution.switches.iter().all(|switch| switch.jumps.is_empty()));
        solution.switches.iter().map(|switch| switch.t).collect::<Vec<f64>>()
    };
    let (hours, day) = (times("7200"), times("86400"));
    // exponentials between the thresholds
    let (heat, cool) = (3600.0 * (45.5_f64 / 44.5).ln(), 3600.0 * (15.5_f64 / 14.5).ln());
    let mut t = 3600.0 * (45.0_f64 / 44.5).ln();
    for (k, found) in day.iter().enumerate() {
        near(*found, t, 1e-3);
        t += if k % 2 == 0 { cool } else { heat };
    }
    assert!(t > 86400.0 && day.len() > 500, "{} switches up to {t}", day.len());
    assert!(hours.len() > 40);
    hours.iter().zip(&day).for_each(|(short, long)| near(*short, *long, 1e-4));
}

#[test]
fn a_hysteretic_converter_keeps_its_ripple() {
    // 12 V to 5 V through 0.1 mH, current between 0.9 A and 1.1 A: 146 kHz
    let text = THERMOSTAT
        .replace("TEND", "1e-3")
        .replace("3600*der(T) = 5 + heater*60 - T", "1e-4*der(T) = 12*heater - 5")
        .replace("20.5", "1.1")
        .replace("19.5", "0.9")
        .replace("T = 20", "T = 1");
    let solution = made_of("converter", &text, &[]).unwrap();
    let (on, off) = (1e-4 * 0.2 / 7.0, 1e-4 * 0.2 / 5.0);
    let mut t = 0.5 * on;
    for (k, switch) in solution.switches.iter().enumerate() {
        near(switch.t, t, 1e-9);
        t += if k % 2 == 0 { off } else { on };
    }
    assert!(t > 1e-3 && solution.switches.len() == 292, "{} switches", solution.switches.len());
    // its limit, if that is what is wanted
    let limit = text.replace("[initial]", "[sliding]\n    hysteresis = \"limit\"\n    [initial]");
    let solution = made_of("converter", &limit, &[]).unwrap();
    assert!(solution.switches.len() == 1 && solution.modes[solution.end_mode].sliding);
    near(end(&solution, "T"), 1.0, 1e-9);
    near(end(&solution, "alpha"), 5.0 / 12.0, 1e-9);
}

#[test]
fn two_capacitors_meet_at_the_voltage_of_their_charge() {
    let text = r#"
        [model]
        name = "two capacitors"
        time = [0, 2]
        [dae]
        states = ["u1", "u2", "i"]
        equations = ["1*der(u1) = -i", "SECOND"]
        [modes.open]
        dae.equations = ["i = 0"]
        [modes.closed]
        dae.equations = ["u1 = u2"]
        [[transitions]]
        from = "open"
        to = "closed"
        at = [1.0]
        [initial]
        mode = "open"
        fix = { u1 = 4, u2 = 0 }
    "#;
    for second in ["3*der(u2) = i", "der(u2) = i/3", "300*der(u2) = 100*i"] {
        let solution = made_of("two capacitors", &text.replace("SECOND", second), &[]).unwrap();
        near(end(&solution, "u1"), 1.0, 1e-9);
        near(end(&solution, "u2"), 1.0, 1e-9);
    }
}

#[test]
fn coupled_wagons_keep_their_momentum() {
    let text = r#"
        [model]
        name = "wagons"
        time = [0, 2]
        [motion]
        positions = ["x", "y"]
        velocities = ["u", "v"]
        mass = ["1", "3"]
        forces = ["0", "0"]
        [modes.apart]
        [modes.coupled]
        motion = { nonholonomic = { coupling = "u - v" } }
        [[transitions]]
        from = "apart"
        to = "coupled"
        at = [1.0]
        [initial]
        mode = "apart"
        fix = { x = 0, y = 1, u = 1, v = 0 }
    "#;
    let solution = made_of("wagons", text, &[]).unwrap();
    near(end(&solution, "u") + 3.0 * end(&solution, "v"), 1.0, 1e-12);
    let other = text.replace("at = [1.0]", "at = [1.0]\n        restart = \"least-change\"");
    let solution = made_of("wagons", &other, &[]).unwrap();
    let repair = solution.switches[0].repair.as_ref().unwrap();
    near(repair.balance.unwrap().momentum, 1.0, 1e-9);
    near(repair.balance.unwrap().energy, 0.0, 1e-9);
}

#[test]
fn the_ball_comes_to_rest() {
    let solution = made("bouncing-ball-rest");
    let first = (2.0 / 9.81_f64).sqrt();
    near(solution.switches[0].t, first, 1e-7);
    near(solution.switches[1].t, first * 2.4, 1e-7);
    let last = solution.mode_trajectory().last().copied().unwrap();
    assert_eq!((last.1, last.2), ("flight", "rest"));
    near(last.0, first * 1.7 / 0.3, 1e-7);
    near(end(&solution, "lambda.floor"), 0.5 * 9.81, 1e-6);
    near(end(&solution, "y"), 0.0, 1e-9);
    // without a mode that follows, the run ends with a message
    let stopped = run("bouncing-ball", &[], str::to_string).unwrap_err();
    let cause = std::error::Error::source(&stopped).unwrap().to_string();
    assert!(cause.contains("accumulate") && cause.contains("after_accumulation"), "{cause}");
}

#[test]
fn bodies_stick_by_sliding() {
    let solution = made("friction-bodies");
    let names: Vec<String> = solution.mode_trajectory().iter().map(|s| format!("{} {}", s.1, s.2)).collect();
    let times: Vec<f64> = solution.switches.iter().map(|s| s.t).collect();
    let expected = [0.003_759, 0.927_295, 2.892_451, 4.068_888, 6.034_043, 7.210_481, 9.175_636];
    assert_eq!(times.len(), expected.len(), "{names:?} {times:?}");
    for (t, expected) in times.iter().zip(expected) {
        near(*t, expected, 1e-5);
    }
    near(end(&solution, "p1"), 6.365_901, 1e-5);
    near(end(&solution, "v1"), 0.919_536, 1e-5);
    near(end(&solution, "v2"), 0.919_536, 1e-5);
}

#[test]
fn a_mass_sticks_to_its_belt() {
    let solution = made("mass-on-belt");
    let expected = [
        (0.0, "faster", "slower"),
        (0.267_592, "slower", "stick"),
        (1.808_917, "stick", "slower"),
        (4.448_867, "slower", "stick"),
        (6.955_508, "stick", "slower"),
        (9.595_457, "slower", "stick"),
        (12.102_098, "stick", "slower"),
        (14.742_047, "slower", "stick"),
    ];
    check(&solution, &expected, 1e-5);
    near(end(&solution, "x"), -0.116_404, 1e-5);
    near(end(&solution, "share"), 0.674_607, 1e-5);
}

#[test]
fn the_converter_switches_thirteen_times() {
    let solution = made("boost-converter");
    let times: Vec<f64> = solution.switches.iter().map(|s| s.t).collect();
    assert_eq!(times.len(), 13, "{times:?}");
    near(times[2], 0.182_225_017, 1e-6);
    near(solution.value("vC", 0.0).unwrap(), 20.0 / 9.0, 1e-9);
    near(solution.switches[0].before[0], 10.181_552, 1e-5);
}

#[test]
fn sliding_depends_on_what_is_combined() {
    let solution = made("filippov");
    check(&solution, &[(1.0, "above", solution.modes.last().unwrap().name.as_str())], 1e-9);
    // one second above with slope 1, then 2/3
    near(end(&solution, "x2"), 1.0 + 2.0 * 2.0 / 3.0, 1e-8);
    let solution = made("equivalent-control");
    near(end(&solution, "x2"), 1.0, 1e-8);
    let solution = run("equivalent-control", &[], |text| text.replace("equivalent-control", "filippov")).unwrap();
    near(end(&solution, "x2"), 3.0, 1e-8);
}

/// The force is an unknown that jumps where sliding begins. Positions and velocities must not move with it.
#[test]
fn states_stay_where_sliding_begins() {
    let with_force = |text: &str| {
        let text = text.replace("[\"x\", \"v\", \"y\"]", "[\"x\", \"v\", \"y\", \"F\"]");
        text.replace("\"der(v) = u - drag*v\"", "\"der(v) = F\", \"0 = F - u + drag*v\"")
    };
    let solution = run("sliding-regulator", &[], with_force).unwrap();
    let [begins] = &solution.switches[..] else { panic!("{:?}", solution.mode_trajectory()) };
    for j in 0..2 {
        near(begins.after[j], begins.before[j], 1e-9);
    }
    // along the line v = −x/τ, and so is F = −v/τ
    near(begins.after[3], -begins.after[1] / 0.8, 1e-9);
    near(end(&solution, "x"), begins.before[0] * (-(4.0 - begins.t) / 0.8).exp(), 1e-8);
    let without = made("sliding-regulator");
    near(begins.t, without.switches[0].t, 1e-8);
    near(end(&solution, "x"), end(&without, "x"), 1e-8);
}

#[test]
fn the_examples_of_the_book_reach_their_ends() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/hybrid.md");
    let page = std::fs::read_to_string(page).unwrap().replace("\r\n", "\n");
    let example = |name: &str| {
        let text = page.split(&format!("```toml,file={name}.toml\n")).nth(1).and_then(|rest| rest.split("```").next());
        made_of(name, text.unwrap(), &[]).unwrap()
    };
    let solution = example("friction");
    // the bodies stick at once, slip when the pull exceeds friction, and stick again
    let slips: Vec<f64> = solution.mode_trajectory().iter().filter(|s| s.1.contains("sliding")).map(|s| s.0).collect();
    let pull = 0.8_f64.asin();
    assert_eq!(slips.len(), 3, "{:?}", solution.mode_trajectory());
    for (k, t) in slips.into_iter().enumerate() {
        near(t, pull + std::f64::consts::PI * k as f64, 1e-6);
    }
    assert_eq!(example("ball").mode_trajectory().last().unwrap().2, "rest");
}
