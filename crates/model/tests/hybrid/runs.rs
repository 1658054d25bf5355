//! Systems with modes, solved: what their files say against closed forms and published numbers.

use daedal::graph::Interpreted;
use daedal::hybrid::{HybridError, HybridSolution, solve};
use daedal::{Options, Save, Tolerance};
use daedal_model::{Kind, Methods, Model};
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
    let Kind::Hybrid(hybrid) = &model.kind else { panic!("{name} has no modes") };
    let system = hybrid.build(&(Arc::new(Interpreted) as _), &Methods::default());
    let problem = hybrid.problem(&system, model.time.unwrap().1);
    let tolerance = Tolerance::new(1e-9, 1e-9);
    let options = Options { tolerance, hmax: model.solve.hmax, save: Save::Dense, ..Options::default() };
    solve(&problem, &options, &hybrid.options).map_err(Box::new)
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

#[test]
fn the_ball_comes_to_rest() {
    let solution = made("bouncing-ball-rest");
    let first = (2.0 / 9.81_f64).sqrt();
    near(solution.switches[0].t, first, 1e-7);
    near(solution.switches[1].t, first * 2.4, 1e-7);
    let last = solution.mode_trajectory().last().copied().unwrap();
    assert_eq!((last.1, last.2), ("flight", "rest"));
    near(last.0, first * 1.7 / 0.3, 1e-3);
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
