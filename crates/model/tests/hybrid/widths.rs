//! Widths of a hysteresis that change: sliding lasts as long as both surfaces are the same.

use daedal::graph::Interpreted;
use daedal::hybrid::{HybridSolution, Hysteresis, SwitchKind};
use daedal::{Options, Tolerance, solve};
use daedal_model::{Methods, Model, ModelKind};
use std::sync::Arc;

fn made(text: &str, hysteresis: Option<Hysteresis>) -> HybridSolution {
    let model = Model::read("widths.toml", text, &[]).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()));
    let ModelKind::Hybrid(hybrid) = &model.kind else { panic!("no modes") };
    let system = hybrid.build(&(Arc::new(Interpreted) as _), &Methods::default());
    let problem = hybrid.problem(&system, model.time.unwrap().1);
    let options = Options { tolerance: Tolerance::new(1e-7, 1e-7), ..Options::default() };
    let mut how = hybrid.options.clone();
    how.hysteresis = hysteresis.unwrap_or(how.hysteresis);
    solve(&problem, &how, &options).unwrap_or_else(|error| panic!("{error}: {:?}", std::error::Error::source(&error)))
}

/// A thermostat whose band is `20 ± d`.
fn thermostat(d: &str) -> String {
    format!(
        r#"
[model]
name = "a band that opens"
time = [0, 10]
[definitions]
d = "{d}"
[dae]
states = ["T", "w"]
equations = ["der(w) = 1"]
[modes.on]
dae.equations = ["der(T) = 20"]
[modes.off]
dae.equations = ["der(T) = -20"]
[[transitions]]
from = "on"
to = "off"
when = "T > 20 + d"
[[transitions]]
from = "off"
to = "on"
when = "T < 20 - d"
[initial]
mode = "on"
fix = {{ T = 19, w = 0 }}
"#
    )
}

#[test]
fn a_band_that_opens_ends_sliding() {
    // in time, in an unknown, at once, and slowly
    for (d, wide) in
        [("max(0, t - 5)", 5.0), ("max(0, w - 5)", 5.0), ("if(t > 5, 0.5, 0)", 0.5), ("max(0, w - 5)^3", 125.0)]
    {
        let solution = made(&thermostat(d), None);
        let [begins, ends, rest @ ..] = &solution.switches[..] else { panic!("{d}: {:?}", solution.switches) };
        assert_eq!((begins.kind, ends.kind), (SwitchKind::SlidingBegins, SwitchKind::SlidingEnds), "{d}");
        assert!((begins.t - 0.05).abs() < 1e-6 && ends.t >= 5.0 && ends.t < 5.05, "{d}: {} {}", begins.t, ends.t);
        assert!(rest.len() > 10, "{d}: {}", rest.len());
        for switch in rest {
            let width = match d {
                "if(t > 5, 0.5, 0)" => 0.5,
                "max(0, w - 5)^3" => (switch.t - 5.0).powi(3),
                _ => switch.t - 5.0,
            };
            let (T, sign) = (switch.before[0], if solution.modes[switch.from].name == "on" { 1.0 } else { -1.0 });
            assert!((T - 20.0 - sign * width).abs() < 1e-5, "{d}: T({}) = {T}", switch.t);
            assert_eq!(switch.kind, SwitchKind::Regular, "{d}");
        }
        let T = solution.end_value("T").unwrap();
        assert!((T - 20.0).abs() <= wide + 1e-6, "{d}: {T}");
    }
}

#[test]
fn a_band_without_width_slides_to_the_end_however_it_moves() {
    for (on, off) in [
        ("T > 20 + sin(t)", "T < 20 + sin(t)"),
        ("T - 20 - w*sin(w)/10 > 0", "20 + w*sin(w)/10 > T"),
        ("T > 20 + exp(-w)*cos(w)", "T < cos(w)*exp(-w) + 20"),
    ] {
        let text = thermostat("0").replace("T > 20 + d", on).replace("T < 20 - d", off);
        let solution = made(&text, None);
        assert_eq!(solution.switches.len(), 1, "{on}: {:?}", solution.mode_trajectory());
        assert!(solution.modes[solution.end_mode].sliding);
    }
}

#[test]
fn the_limit_of_a_width_is_left_where_the_width_changes() {
    let solution = made(&thermostat("0.1 + max(0, w - 5)"), Some(Hysteresis::Limit));
    let kinds: Vec<SwitchKind> = solution.switches.iter().take(3).map(|switch| switch.kind).collect();
    assert_eq!(kinds, [SwitchKind::SlidingBegins, SwitchKind::SlidingEnds, SwitchKind::Regular]);
    assert!((solution.switches[1].t - 5.0).abs() < 1e-3);
    let same = made(&thermostat("0.1"), Some(Hysteresis::Limit));
    assert_eq!(same.switches.len(), 1);
    assert!((same.end_value("T").unwrap() - 20.0).abs() < 1e-6);
}
