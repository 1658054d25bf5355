//! Transitions by the clock: none of their times is lost at a break in time or at the end of a dwell.

use daedal::graph::Interpreted;
use daedal::hybrid::{HybridSolution, SwitchKind};
use daedal::{Options, Tolerance, solve};
use daedal_model::{Methods, Model, ModelKind};
use std::sync::Arc;

fn made(text: &str, general: &'static str) -> HybridSolution {
    let model = Model::read("times.toml", text, &[]).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()));
    let ModelKind::Hybrid(hybrid) = &model.kind else { panic!("no modes") };
    let system = hybrid.build(&(Arc::new(Interpreted) as _), &Methods { general, ..Methods::default() });
    let problem = hybrid.problem(&system, model.time.unwrap().1);
    let options = Options { tolerance: Tolerance::new(1e-8, 1e-8), ..Options::default() };
    solve(&problem, &hybrid.options, &options)
        .unwrap_or_else(|error| panic!("{error}: {:?}", std::error::Error::source(&error)))
}

fn breaking(at: &str, dwell: f64) -> String {
    format!(
        r#"
[model]
name = "a time within rounding of a break"
time = [0, 1]
[parameters]
T = "{at}"
[dae]
states = ["x"]
[modes.a]
dwell = {dwell}
dae.equations = ["der(x) = if(t > 0.3, 2, 1)"]
[modes.b]
dae.equations = ["der(x) = 0"]
[[transitions]]
from = "a"
to = "b"
at = ["T"]
[initial]
mode = "a"
fix = {{ x = 0 }}
"#
    )
}

#[test]
fn a_time_within_rounding_of_a_break_counts() {
    for method in ["radau", "bdf"] {
        for at in ["0.1*3", "0.3", "0.3*(1 - 1e-16)", "0.3*(1 + 5e-16)"] {
            for dwell in [0.0, 0.2, 0.3] {
                let solution = made(&breaking(at, dwell), method);
                let case = format!("{method:?}, {at}, dwell {dwell}");
                assert_eq!(solution.switches.len(), 1, "{case}");
                assert_eq!(solution.switches[0].kind, SwitchKind::Scheduled, "{case}");
                let (t, x) = (solution.switches[0].t, solution.end_value("x").unwrap());
                assert!((t - 0.3).abs() < 1e-14 && (x - 0.3).abs() < 1e-9, "{case}: {t} {x}");
                assert!(solution.warnings.is_empty(), "{case}: {:?}", solution.warnings);
            }
        }
    }
}

#[test]
fn times_that_differ_by_rounding_are_passed_without_a_step() {
    // 0.30000000000000004 comes after 0.3, the end of the run after the last time
    for method in ["radau", "bdf"] {
        let text = breaking("0.1*3", 0.0).replace("if(t > 0.3, 2, 1)", "1");
        let first = "[[transitions]]\nfrom = \"a\"\nto = \"a\"\nat = [0.3]\nset = { x = \"x + 1\" }\n[initial]";
        let text = text.replace("[initial]", first);
        let solution = made(&text, method);
        assert_eq!(solution.switches.len(), 2, "{method:?}");
        assert!((solution.end_value("x").unwrap() - 1.3).abs() < 1e-9, "{method:?}");
        let solution = made(&breaking("1 - 2e-16", 0.0).replace("if(t > 0.3, 2, 1)", "1"), method);
        assert_eq!((solution.switches.len(), solution.end.t), (1, 1.0), "{method:?}");
    }
}

fn alternating(every: f64, dwell: f64) -> String {
    format!(
        r#"
[model]
name = "by the clock"
time = [0, 6.05]
[dae]
states = ["x"]
[modes.a]
dwell = {dwell}
dae.equations = ["der(x) = 1"]
[modes.b]
dwell = {dwell}
dae.equations = ["der(x) = -1"]
[[transitions]]
from = "a"
to = "b"
every = {every}
[[transitions]]
from = "b"
to = "a"
every = {every}
[initial]
mode = "a"
fix = {{ x = 0 }}
"#
    )
}

#[test]
fn a_time_at_the_end_of_a_dwell_counts() {
    for method in ["radau", "bdf"] {
        for (every, dwell, apart) in [(1.0, 1.0, 1.0), (0.1, 0.1, 0.1), (0.1, 0.3, 0.3), (0.7, 0.7, 0.7)] {
            let solution = made(&alternating(every, dwell), method);
            let count = (6.05_f64 / apart).floor() as usize;
            assert_eq!(solution.switches.len(), count, "{method:?}, every {every}, dwell {dwell}");
            for (k, switch) in solution.switches.iter().enumerate() {
                let exact = apart * (k + 1) as f64;
                assert!((switch.t - exact).abs() < 1e-12, "{method:?}, every {every}, dwell {dwell}: {}", switch.t);
            }
        }
    }
}

#[test]
fn times_within_a_dwell_are_dropped_and_that_is_told_once() {
    let solution = made(&alternating(0.1, 0.25), "radau");
    // 0.3, 0.6, …
    assert_eq!(solution.switches.len(), 20);
    assert!(solution.switches.iter().enumerate().all(|(k, s)| (s.t - 0.3 * (k + 1) as f64).abs() < 1e-12));
    assert_eq!(solution.warnings.len(), 2, "{:?}", solution.warnings);
    for (warning, part) in solution.warnings.iter().zip(["`a` must not be left before 0.25", "`b` must not be left"]) {
        assert!(warning.message.contains(part) && warning.message.contains("every 0.1"), "{warning:?}");
    }
    assert!(made(&alternating(0.1, 0.1), "radau").warnings.is_empty());
}

#[test]
fn a_time_and_a_condition_at_the_end_of_a_dwell_need_priorities() {
    let text = |priorities: [&str; 2]| {
        let mut text = breaking("0.5", 0.5).replace("if(t > 0.3, 2, 1)", "1");
        let [first, second] = priorities;
        text = text.replace("at = [\"T\"]", &format!("at = [\"T\"]\n{first}"));
        text.replace("[modes.b]", "[modes.c]\ndae.equations = [\"der(x) = 1\"]\n[modes.b]").replace(
            "[initial]",
            &format!("[[transitions]]\nfrom = \"a\"\nto = \"c\"\nwhen = \"x >= 0.2\"\n{second}\n[initial]"),
        )
    };
    for (priorities, x) in [(["priority = 2", "priority = 1"], 0.5), (["priority = 1", "priority = 2"], 1.0)] {
        let solution = made(&text(priorities), "radau");
        assert_eq!(solution.switches.len(), 1);
        let (t, end) = (solution.switches[0].t, solution.end_value("x").unwrap());
        assert!((t - 0.5).abs() < 1e-14 && (end - x).abs() < 1e-9, "{priorities:?}: {t} {end}");
    }
}

#[test]
fn a_pulse_of_time_in_a_condition_does_not_lie_between_steps() {
    for (when, t) in [
        ("if(t > 5 and t < 5.001, 1, 0) > 0.5", 5.0),
        // exp(−s²) = 1/2 at s = −√ln 2
        ("exp(-((t - 5.003)/0.002)^2) > 0.5", 5.003 - 0.002 * 2.0_f64.ln().sqrt()),
    ] {
        let text = format!(
            r#"
[model]
name = "a pulse in a condition"
time = [0, 10]
[dae]
states = ["x"]
[modes.a]
dae.equations = ["der(x) = 1"]
[modes.b]
dae.equations = ["der(x) = 0"]
[[transitions]]
from = "a"
to = "b"
when = "{when}"
[initial]
mode = "a"
fix = {{ x = 0 }}
"#
        );
        for method in ["radau", "bdf"] {
            let solution = made(&text, method);
            assert_eq!(solution.switches.len(), 1, "{when}");
            assert!((solution.end.x[0] - t).abs() < 1e-6, "{when}: {:?}", solution.end);
        }
    }
}
