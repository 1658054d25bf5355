//! Boundary value problems in model files: the shipped ones, and what is said of wrong ones.

use daedal_simulation::check::check;
use daedal_simulation::{Error, ErrorKind, Model, Outcome, SaveSetting, Settings, Unwatched, solve};
use std::path::Path;

fn shipped(name: &str) -> Model {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../boundary");
    Model::load(folder.join(format!("{name}.toml"))).unwrap()
}

fn settings(rtol: f64, save: SaveSetting) -> Settings {
    Settings { rtol: Some(rtol), atol: Some(rtol), verify: true, save, ..Settings::default() }
}

fn solved(model: &Model, rtol: f64, save: SaveSetting) -> Outcome {
    let outcome = solve(model, &settings(rtol, save), &mut Unwatched).unwrap();
    assert!(outcome.error.is_none(), "{}", outcome.error.unwrap());
    assert!(outcome.computed.as_ref().unwrap().verification.as_ref().unwrap().disagreements.is_empty());
    outcome
}

fn column(outcome: &Outcome, name: &str) -> Vec<f64> {
    let run = outcome.record().unwrap();
    run.columns.iter().find(|column| column.name == name).unwrap_or_else(|| panic!("no {name}")).values.clone()
}

#[test]
fn every_shipped_problem_is_solved_and_checked() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../boundary");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let model = Model::load(&path).unwrap();
        let found = check(&model, None).unwrap();
        let account = found.object()["boundary"]["account"].clone();
        assert!(account["needed"].as_u64().unwrap() > 0, "{}", path.display());
        let why = found.into_error();
        assert!(why.is_none(), "{}: {}", path.display(), why.unwrap());
        let outcome = solved(&model, 1e-8, SaveSetting::Dense);
        assert_eq!(outcome.choice.method, "collocation");
        assert!(outcome.boundary.as_ref().unwrap().conditions.iter().all(|c| c.residual.abs() < 1e-7));
        // a page, a table and an archive hold it
        let run = outcome.record().unwrap();
        assert!(run.times.len() > 10 && run.columns.iter().all(|c| c.values.len() == run.times.len()));
        count += 1;
    }
    assert_eq!(count, 5);
}

#[test]
fn both_solutions_of_bratus_problem() {
    // y(1/2) = 2 ln cosh(θ/4) for the two solutions of θ = √2 cosh(θ/4)
    let lower = solved(&shipped("bratu"), 1e-9, SaveSetting::Points(3));
    assert!((column(&lower, "y")[1] - 0.140_539_214_400_472).abs() < 1e-8);
    let upper = shipped("bratu").set(&[("height".to_string(), 4.0)]).unwrap();
    let upper = solved(&upper, 1e-9, SaveSetting::Points(3));
    assert!((column(&upper, "y")[1] - 4.091_467_246_189_3).abs() < 1e-8);
}

#[test]
fn the_period_of_van_der_pols_oscillator() {
    let outcome = solved(&shipped("van-der-pol"), 1e-10, SaveSetting::Points(5));
    let run = outcome.record().unwrap();
    let period = run.header.tend.unwrap();
    assert!((period - 6.663_286_859_323).abs() < 1e-9, "{period}");
    // points are spread over the interval that was found
    assert_eq!((run.times.len(), run.times[4]), (5, period));
    let x = column(&outcome, "x");
    assert!((x[0] - x[4]).abs() < 1e-9 && (x[0] + x[2]).abs() < 1e-8, "{x:?}");
}

#[test]
fn the_optimal_control_of_an_integrator() {
    let outcome = solved(&shipped("linear-quadratic"), 1e-10, SaveSetting::Points(2));
    // printed values of the exercise
    assert!((column(&outcome, "y")[1] - 0.265_802_228_834).abs() < 1e-10);
    assert!((column(&outcome, "v")[0] - 0.482_013_790_038).abs() < 1e-10);
}

#[test]
fn a_parameter_and_outputs_that_contain_it() {
    // y'' + k y = 0 with two zeros and slope 1: k = π²; the output is its root
    let text = r#"
        [model]
        name = "string"
        time = [0, 1]
        [parameters]
        k = 8.0
        [dae]
        states = ["y", "v"]
        equations = ["der(y) = v", "der(v) = -k*y"]
        [initial]
        fix = { y = 0, v = 1 }
        [final]
        fix = { y = 0 }
        find = ["k"]
        curve = { y = "t*(1 - t)", v = "1 - 2*t" }
        [output]
        omega = "sqrt(k)"
        force = "der(v)"
    "#;
    let outcome = solved(&Model::read("string.toml", text).unwrap(), 1e-10, SaveSetting::Points(3));
    let pi = std::f64::consts::PI;
    for omega in column(&outcome, "omega") {
        assert!((omega - pi).abs() < 1e-9, "{omega}");
    }
    assert!((column(&outcome, "force")[1] + pi).abs() < 1e-6);
    let run = outcome.record().unwrap();
    assert!((run.header.parameters[0].1 - pi * pi).abs() < 1e-8);
    assert_eq!(outcome.boundary.as_ref().unwrap().found[0].0, "k");
}

#[test]
fn a_mechanism_with_a_parameter_conditions_at_both_ends_and_its_output() {
    // a pendulum that swings through 0.3 rad in a quarter of a given time: g is found
    let text = r#"
        [model]
        name = "clock"
        time = [0, 0.5]
        [parameters]
        g = 9.0
        [motion]
        positions = ["x", "y"]
        velocities = ["vx", "vy"]
        mass = [1, 1]
        forces = [0, "-g"]
        holonomic = { rod = "x^2 + y^2 - 1" }
        [initial]
        guess = { x = 0.29, y = -0.95 }
        conditions = ["vx = 0", "atan2(x, -y) = 0.3"]
        [final]
        conditions = { bottom = "x = 0*initial(x)" }
        guess = { y = -1 }
        find = ["g"]
        [output]
        weight = "g"
    "#;
    let outcome = solved(&Model::read("clock.toml", text).unwrap(), 1e-10, SaveSetting::Points(2));
    // quarter period K(sin(0.15))/√g = 0.5, with K by the arithmetic-geometric mean
    let (mut a, mut b) = (1.0_f64, 0.15_f64.cos());
    for _ in 0..20 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    let quarter = std::f64::consts::FRAC_PI_2 / a;
    let exact = (quarter / 0.5).powi(2);
    let g = outcome.boundary.as_ref().unwrap().found[0].1;
    assert!((g - exact).abs() < 1e-7, "{g} {exact}");
    assert!((column(&outcome, "weight")[1] - exact).abs() < 1e-7);
    let names: Vec<&str> = outcome.boundary.as_ref().unwrap().conditions.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["condition 1", "condition 2", "bottom"]);
}

const OSCILLATOR: &str = r#"
    [model]
    name = "oscillator"
    time = [0, 1]
    [parameters]
    k = 1.0
    [dae]
    states = ["x", "v"]
    equations = ["der(x) = v", "der(v) = -k*x"]
"#;

/// The mistakes of the oscillator with further lines.
fn mistakes(lines: &str) -> String {
    match Model::read("oscillator.toml", &format!("{OSCILLATOR}{lines}")) {
        Err(Error::Model(mistakes)) => mistakes.list().iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("no mistake"),
    }
}

#[test]
fn mistakes_in_the_section_are_told() {
    for (lines, told) in [
        ("[final]\nfix = { y = 1 }", "nothing is called `y`"),
        ("[final]\nfix = { x = \"v\" }", "the state `v` cannot stand in a final value"),
        ("[final]\nfix = { x = \"1/0\" }", "the final value of `x` is inf"),
        ("[final]\nfind = [\"q\"]", "nothing is called `q`"),
        ("[final]\nfind = 3", "`find` must be a list of parameters, and \"t\" for the end time, not an integer"),
        ("[final]\nperiodic = \"x\"", "`periodic` must be true, or a list of variables, not a string"),
        ("[final]\nperiodic = [\"k\"]", "`k` cannot have an initial value: it is no variable"),
        ("[final]\nconditions = [\"x = initial(y)\"]", "nothing is called `y`"),
        ("[final]\nconditions = [\"x = initial(k)\"]", "`k` cannot have an initial value: it is no variable"),
        (
            "[initial]\nconditions = [\"x = initial(v)\"]\n[final]\nfix = { x = 1 }",
            "initial(v) cannot stand in an initial condition",
        ),
        ("[final]\ncurve = { x = \"v\" }", "the state `v` cannot stand in a guess of a curve"),
        ("[final]\nends = 1", "[final] has no key `ends`"),
        (
            "[final]\nfix = { x = 1 }\n[[events]]\nname = \"zero\"\nwhen = \"x < 0\"",
            "[final] cannot stand in a file with [events]",
        ),
        ("[final]\nfix = { x = 1 }\n[modes.a]\n", "[final] cannot stand in a file with [modes]"),
    ] {
        let found = mistakes(lines);
        assert!(found.contains(told), "{lines}: {found}");
    }
}

/// What is said instead of a solution, and of which kind it is.
fn refused(lines: &str, settings: &Settings) -> (String, ErrorKind) {
    let model = Model::read("oscillator.toml", &format!("{OSCILLATOR}{lines}")).unwrap();
    let error = match solve(&model, settings, &mut Unwatched) {
        Err(error) => error,
        Ok(outcome) => outcome.error.expect("an error"),
    };
    (error.to_string(), error.kind())
}

#[test]
fn problems_without_a_solution_are_told() {
    let plain = Settings::default();
    let (text, kind) = refused("[initial]\nfix = { x = 0 }\n[final]\nguess = { x = 1 }", &plain);
    assert!(text.starts_with("1 condition for 2 that are needed (2 degrees of freedom): add 1 of them"), "{text}");
    assert_eq!(kind, ErrorKind::Input);
    let (text, kind) = refused("[initial]\nfix = { x = 0, v = 1 }\n[final]\nfix = { x = 1 }", &plain);
    assert!(text.starts_with("no solution satisfies all conditions: 3 given, 2 needed"), "{text}");
    assert_eq!(kind, ErrorKind::Numerical);
    let (text, kind) = refused("[initial]\nfix = { x = 0 }\n[final]\nconditions = [\"initial(x) = 0\"]", &plain);
    assert!(text.contains("x = 0 at the start, initial(x) = 0 depend on each other"), "{text}");
    assert_eq!(kind, ErrorKind::Numerical);
    let asked = Settings { method: Some("radau".into()), h0: Some(0.1), ..Settings::default() };
    let (text, kind) = refused("[final]\nfix = { x = 1, v = 0 }", &asked);
    assert_eq!(
        text,
        "oscillator has conditions at its end ([final]), and is solved as a whole by collocation; leave out what does not apply to that: method, h0"
    );
    assert_eq!(kind, ErrorKind::Input);
    let (text, _) = refused("[final]\nfix = { x = 1, v = 0 }", &Settings { tend: Some(0.0), ..Settings::default() });
    assert_eq!(text, "both ends of the interval are t = 0; a boundary value problem needs two different times");
}

#[test]
fn a_rest_is_called_a_rest() {
    let model = Model::read("oscillator.toml", &format!("{OSCILLATOR}[final]\nperiodic = true")).unwrap();
    let outcome = solve(&model, &Settings::default(), &mut Unwatched).unwrap();
    assert!(outcome.warnings.iter().any(|w| w.to_string().contains("nothing moves")), "{:?}", outcome.warnings);
}

#[test]
fn a_check_says_how_many_conditions_are_needed() {
    let text = format!("{OSCILLATOR}[initial]\nfix = {{ x = 0 }}\n[final]\nfind = [\"t\"]");
    let found = check(&Model::read("oscillator.toml", &text).unwrap(), None).unwrap();
    assert!(found.object()["boundary"]["account"].is_null());
    let error = found.into_error().unwrap().to_string();
    assert!(
        error.contains("1 condition for 3 that are needed (2 degrees of freedom and the end time): add 2"),
        "{error}"
    );
}

#[test]
fn a_monitor_ends_the_iteration() {
    let mut stop = |_: &daedal_simulation::Progress| std::ops::ControlFlow::Break(());
    let error = match solve(&shipped("van-der-pol"), &Settings::default(), &mut stop) {
        Err(error) => error,
        Ok(outcome) => outcome.error.unwrap(),
    };
    assert_eq!(error.kind(), ErrorKind::Interrupted);
}

#[test]
fn methods_for_runs_are_not_compared_on_it() {
    let settings = daedal_simulation::ComparisonSettings::default();
    let error = daedal_simulation::compare(&shipped("pendulum-swing"), &settings, &mut |_| ()).err().unwrap();
    assert!(error.to_string().contains("has conditions at its end ([final])"), "{error}");
}
