//! The explicit solution of linear systems with constant coefficients: `method = "exact"`.
#![allow(missing_docs)]

#[path = "../../core/tests/support/random.rs"]
#[allow(dead_code)]
mod random;

use daedal_simulation::{EventAction, EventSetting, Model, Outcome, SaveSetting, Settings, Unwatched, solve};
use random::Random;

fn shipped(name: &str) -> Model {
    Model::load(format!("{}/../../models/{name}.toml", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn exact() -> Settings {
    Settings { method: Some("exact".into()), ..Settings::default() }
}

/// Times and values of a column.
fn column(outcome: &Outcome, name: &str) -> (Vec<f64>, Vec<f64>) {
    let run = outcome.record().unwrap();
    let column = run.columns.iter().find(|column| column.name == name).unwrap_or_else(|| panic!("no {name}"));
    (run.times.clone(), column.values.clone())
}

fn solved(model: &Model, settings: &Settings) -> Outcome {
    let outcome = solve(model, settings, &mut Unwatched).unwrap();
    assert!(outcome.error.is_none(), "{}", outcome.error.unwrap());
    outcome
}

/// What a variable is at a time.
type Solution<'s> = &'s dyn Fn(f64) -> f64;

#[test]
fn shipped_models_are_solved_at_chosen_times() {
    let settings = Settings { save: SaveSetting::At(vec![0.0, 0.3, 1.7, 2.9]), tend: Some(2.9), ..exact() };
    let decay = |rate: f64| move |t: f64| (-rate * t).exp();
    let cases: [(&str, &str, Solution); 6] = [
        ("saddle-point", "x1", &|t| decay(2.0)(t) + decay(10.0 / 3.0)(t)),
        ("saddle-point", "p", &|t| 2.0 / 3.0 * decay(10.0 / 3.0)(t)),
        ("gyroscopic-chain", "force", &decay(1.0)),
        ("gyroscopic-chain", "p2'", &|t| -2.0 * (2.0 * t).sin()),
        ("prescribed-jerk", "jerk", &|t| -t.cos()),
        ("nilpotent", "z1", &|t| t.sin() + 2.0 * (2.0 * t).sin() + (-t).exp()),
    ];
    for (model, name, solution) in cases {
        let (times, values) = column(&solved(&shipped(model), &settings), name);
        assert_eq!(times, [0.0, 0.3, 1.7, 2.9]);
        for (t, x) in times.iter().zip(&values) {
            assert!((x - solution(*t)).abs() < 1e-10, "{model} {name} at {t}: {x} {}", solution(*t));
        }
    }
}

#[test]
fn dense_output_is_as_accurate_as_the_tolerance() {
    let settings = Settings { save: SaveSetting::Dense, rtol: Some(1e-9), atol: Some(1e-9), ..exact() };
    let (times, values) = column(&solved(&shipped("gyroscopic-chain"), &settings), "p1");
    assert!(times.len() > 20);
    assert!(times.iter().zip(&values).all(|(t, x)| (x - t.sin()).abs() < 2e-9));
}

#[test]
fn a_run_backward_and_an_event() {
    let settings = Settings { tend: Some(-1.0), ..exact() };
    let (_, x) = column(&solved(&shipped("saddle-point"), &settings), "x2");
    assert!((x[0] + 2.0 * (10.0_f64 / 3.0).exp()).abs() < 1e-9);
    let events = vec![EventSetting::new("p1 > 0.5", EventAction::Stop)];
    let stopped = solved(&shipped("gyroscopic-chain"), &Settings { events, ..exact() });
    let t = stopped.computed.as_ref().unwrap().t;
    assert!((t - 0.5_f64.asin()).abs() < 1e-7, "{t}");
}

fn read(states: &str, equations: &str, time: &str, initial: &str) -> Model {
    let text = format!(
        "[model]\nname = \"made\"\ntime = {time}\n[dae]\nstates = {states}\nequations = {equations}\n[initial]\nfix = {{ {initial} }}\n"
    );
    Model::read("made.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn stiff_modes_cost_no_more_than_slow_ones() {
    // x' = −10⁶ (x − y), y' = −y
    let stiff = read(r#"["x", "y"]"#, r#"["der(x) = -1e6*(x - y)", "der(y) = -y"]"#, "[0, 10]", "x = 0, y = 1");
    let outcome = solved(&stiff, &exact());
    let exactly = (-10.0_f64).exp() * 1e6 / (1e6 - 1.0);
    assert!((column(&outcome, "x").1[0] - exactly).abs() < 1e-12);
    let steps = outcome.computed.as_ref().unwrap().statistics.steps;
    assert!(steps < 100, "{steps}");
}

#[test]
fn a_right_side_that_breaks_and_one_that_hides() {
    // a step at t = 1; a pulse of width 0.05 in a long quiet interval
    let step = read(r#"["x"]"#, r#"["der(x) = -x + if(t < 1, 0, 1)"]"#, "[0, 3]", "x = 1");
    let (_, x) = column(&solved(&step, &exact()), "x");
    let exactly = (-3.0_f64).exp() + 1.0 - (-2.0_f64).exp();
    assert!((x[0] - exactly).abs() < 1e-9, "{} {exactly}", x[0]);
    let pulse = read(r#"["x"]"#, r#"["der(x) = exp(-((t - 7)/0.05)^2)"]"#, "[0, 10]", "x = 0");
    let (_, x) = column(&solved(&pulse, &exact()), "x");
    let exactly = 0.05 * std::f64::consts::PI.sqrt();
    assert!((x[0] - exactly).abs() < 1e-9, "{} {exactly}", x[0]);
}

#[test]
fn other_systems_are_refused_with_a_reason() {
    for (name, why) in [
        ("second-order-linear", "its coefficients depend on time"),
        ("pendulum-dae", "its equations are not linear"),
        ("kronecker-blocks", "its pencil is singular"),
        ("pendulum", "is for general systems"),
        ("thermostat", "is for general systems"),
    ] {
        let refused = solve(&shipped(name), &exact(), &mut Unwatched);
        let text = format!(
            "{:?} {}",
            refused.as_ref().err(),
            refused.as_ref().err().map_or(String::new(), ToString::to_string)
        );
        assert!(text.contains(why), "{name}: {text}");
    }
    let settings = Settings { formulation: Some("quasilinear".into()), ..exact() };
    assert!(solve(&shipped("saddle-point"), &settings, &mut Unwatched).is_err());
}

/// Σ factor · x as a file writes it.
fn sum(terms: impl Iterator<Item = (f64, String)>) -> String {
    let terms: Vec<String> = terms.filter(|(c, _)| *c != 0.0).map(|(c, x)| format!("({c:?})*{x}")).collect();
    if terms.is_empty() { "0".into() } else { terms.join(" + ") }
}

#[test]
fn one_hundred_random_pencils_follow_the_solution_they_were_made_for() {
    let mut random = Random(11);
    let mut indices = [0; 5];
    for case in 0..100 {
        // finite part with decaying modes, nilpotent blocks, behind orthogonal matrices
        let finite = random.below(4);
        let blocks: Vec<usize> = (0..random.below(3)).map(|_| 1 + random.below(3)).collect();
        let n = finite + blocks.iter().sum::<usize>();
        if n == 0 {
            continue;
        }
        let (mut E, mut A) = (vec![vec![0.0; n]; n], vec![vec![0.0; n]; n]);
        for i in 0..finite {
            (E[i][i], A[i][i]) = (1.0, -1.0 - random.below(30) as f64 / 10.0);
            (0..i).for_each(|j| A[i][j] = random.real());
        }
        let mut at = finite;
        for &size in &blocks {
            for i in 0..size {
                A[at + i][at + i] = 1.0;
                if i > 0 {
                    E[at + i - 1][at + i] = 1.0;
                }
            }
            at += size;
        }
        let (P, Q) = (random.orthogonal(n), random.orthogonal(n));
        let turned = |X: &Vec<Vec<f64>>, i: usize, j: usize| -> f64 {
            (0..n).flat_map(|p| (0..n).map(move |q| (p, q))).map(|(p, q)| P[(i, p)] * X[p][q] * Q[(q, j)]).sum()
        };
        let frequencies: Vec<f64> = (0..n).map(|_| 0.5 + random.below(20) as f64 / 10.0).collect();
        let mut equations = Vec::new();
        for i in 0..n {
            let unknowns =
                |X: &Vec<Vec<f64>>, what: &dyn Fn(usize) -> String| sum((0..n).map(|j| (turned(X, i, j), what(j))));
            // x_j = sin ω_j t
            let left = unknowns(&E, &|j| format!("(der(x{j}) - {w:?}*cos({w:?}*t))", w = frequencies[j]));
            let right = unknowns(&A, &|j| format!("(x{j} - sin({:?}*t))", frequencies[j]));
            equations.push(format!("{left} = {right}"));
        }
        let states: Vec<String> = (0..n).map(|j| format!("x{j}")).collect();
        let text = format!(
            "[model]\nname = \"made\"\ntime = [0, 4]\n[dae]\nstates = {states:?}\nequations = {equations:?}\n[initial]\nguess = {{ {} }}\n",
            states.iter().map(|name| format!("{name} = 0")).collect::<Vec<_>>().join(", ")
        );
        let model = Model::read("made.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let outcome = solved(&model, &exact());
        for (j, w) in frequencies.iter().enumerate() {
            let x = column(&outcome, &format!("x{j}")).1[0];
            assert!((x - (4.0 * w).sin()).abs() < 1e-9, "case {case}, x{j}: {x} {}", (4.0 * w).sin());
        }
        indices[blocks.iter().copied().max().unwrap_or(0)] += 1;
        let decisions = &outcome.computed.as_ref().unwrap().decisions;
        let told = format!(
            "{finite} finite eigenvalues by matrix exponentials, index {}",
            blocks.iter().copied().max().unwrap_or(0)
        );
        assert!(decisions.contains(&told), "case {case}: {decisions}");
    }
    assert!(indices.iter().take(4).all(|count| *count > 5), "{indices:?}");
}

#[test]
fn derivatives_that_enter_together_are_one_unknown_where_that_lowers_the_index() {
    let outcome = solved(
        &shipped("second-order-linear"),
        &Settings { save: SaveSetting::At(vec![1.0, 1.5, 2.0]), ..Settings::default() },
    );
    let why = outcome.choice.unknowns.as_deref().unwrap();
    assert_eq!(
        why,
        "highest derivatives of x2, x3 enter together only: with der(x2 + x3) as unknown the strangeness index is 2 instead of 3"
    );
    for (name, solution) in [
        ("x1", (|t| t.sin()) as fn(f64) -> f64),
        ("x1'", |t| t.cos()),
        ("x2", |t| (2.0 * t).cos()),
        ("x3", |t| (-t).exp()),
        ("der(x2 + x3)", |t| -2.0 * (2.0 * t).sin() - (-t).exp()),
    ] {
        let (times, values) = column(&outcome, name);
        assert!(times.iter().zip(&values).all(|(t, x)| (x - solution(*t)).abs() < 1e-6), "{name}");
    }
    // whoever asks for a form, an event or a tolerance of a derivative has the usual unknowns
    let linear = Settings { formulation: Some("linear".into()), ..Settings::default() };
    let outcome = solved(&shipped("second-order-linear"), &linear);
    assert!(outcome.choice.unknowns.is_none());
    assert!((column(&outcome, "x3'").1[0] + (-2.0_f64).exp()).abs() < 1e-6);
    // other systems keep theirs
    for name in ["gyroscopic-chain", "second-order-mixed", "pendulum-second-order", "prescribed-jerk"] {
        assert!(solved(&shipped(name), &Settings::default()).choice.unknowns.is_none(), "{name}");
    }
}
