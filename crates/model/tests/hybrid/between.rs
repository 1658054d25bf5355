//! Events on algebraic unknowns: they happen as often as they should, and where they should.

use daedal::graph::Interpreted;
use daedal::hybrid::HybridSolution;
use daedal::{Options, Tolerance, solve};
use daedal_model::{Methods, Model, ModelKind};
use std::f64::consts::PI;
use std::sync::Arc;

const MAINS: &str = r#"
[model]
name = "zero crossings of the mains"
time = [0, 0.995]
[dae]
states = ["u", "uc", "n"]
equations = ["u = 325*sin(100*pi*t)", "1e4*der(uc) = u - uc", "der(n) = 0"]
[modes.neg]
[modes.pos]
[[transitions]]
from = "neg"
to = "pos"
when = "u > 0"
set = { n = "n + 1" }
[[transitions]]
from = "pos"
to = "neg"
when = "u < 0"
[initial]
mode = "pos"
fix = { uc = 0, n = 0 }
"#;

const THRESHOLD: &str = r#"
[model]
name = "events on an algebraic unknown"
time = [0, 3]
[dae]
states = ["x", "y", "n"]
equations = ["der(x) = 1", "y = sin(20*x)", "der(n) = 0"]
[modes.low]
[modes.high]
[[transitions]]
from = "low"
to = "high"
when = "y > 0.5"
set = { n = "n + 1" }
[[transitions]]
from = "high"
to = "low"
when = "y < 0.5"
[initial]
mode = "low"
fix = { x = 0, n = 0 }
"#;

fn made(text: &str, general: &'static str, tolerance: f64) -> HybridSolution {
    let model = Model::read("between.toml", text, &[]).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()));
    let ModelKind::Hybrid(hybrid) = &model.kind else { panic!("no modes") };
    let system = hybrid.build(&(Arc::new(Interpreted) as _), &Methods { general, ..Methods::default() });
    let problem = hybrid.problem(&system, model.time.unwrap().1);
    let options = Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() };
    solve(&problem, &hybrid.options, &options)
        .unwrap_or_else(|error| panic!("{error}: {:?}", std::error::Error::source(&error)))
}

/// BDF begins with order one, whose polynomial is too far from the solution for events at 1e-4.
const RUNS: [(&str, f64); 5] = [("radau", 1e-4), ("radau", 1e-7), ("radau", 1e-10), ("bdf", 1e-7), ("bdf", 1e-10)];

fn check(text: &str, times: &[f64], slope: f64, counted: f64) {
    for (method, tolerance) in RUNS {
        let solution = made(text, method, tolerance);
        let found: Vec<f64> = solution.switches.iter().map(|switch| switch.t).collect();
        println!("{method:?}, {tolerance:e}: {} switches, {} steps", found.len(), solution.statistics.steps);
        assert_eq!(found.len(), times.len(), "{method:?}, {tolerance:e}: {found:?}");
        for (found, exact) in found.iter().zip(times) {
            let allowed = 100.0 * tolerance / slope + 1e-12;
            assert!((found - exact).abs() < allowed, "{method:?}, {tolerance:e}: {found} {exact}");
        }
        assert_eq!(solution.end_value("n"), Some(counted));
    }
}

#[test]
fn the_mains_cross_zero_ninety_nine_times_in_a_second() {
    let times: Vec<f64> = (1..100).map(|k| 0.01 * f64::from(k)).collect();
    check(MAINS, &times, 100.0 * PI, 49.0);
}

#[test]
fn a_threshold_of_an_algebraic_unknown_is_crossed_twice_in_a_period() {
    let all = (0..10).flat_map(|k| [1.0, 5.0].map(|sixth| (sixth / 6.0 + 2.0 * f64::from(k)) * PI / 20.0));
    let times: Vec<f64> = all.filter(|t| *t < 3.0).collect();
    check(THRESHOLD, &times, 10.0, 10.0);
}
