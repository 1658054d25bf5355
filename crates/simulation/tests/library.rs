//! Each function of the library without the command.

use daedal_run::comparison::{ComparedRun, Comparison};
use daedal_simulation::check::check;
use daedal_simulation::{
    ComparisonSettings, Error, ErrorKind, KernelKind, MethodOptions, Model, ModelSource, OptionValue, Progress,
    SaveSetting, Settings, SlidingSetting, StartSettings, Unwatched, choose, compare, initialise, solve,
};
use std::ops::ControlFlow;

const PENDULUM: &str = r#"
    [model]
    name = "pendulum"
    time = [0, 2]
    [parameters]
    L = 1.0
    g = 9.81
    [motion]
    positions = ["x", "y"]
    velocities = ["vx", "vy"]
    mass = [1, 1]
    forces = [0, "-g"]
    holonomic = { rod = "x^2 + y^2 - L^2" }
    [initial]
    fix = { x = "L", vx = 0 }
    guess = { y = 0, vy = 0 }
    [output]
    height = "y + L"
"#;

const CIRCUIT: &str = r#"
    [model]
    name = "circuit"
    time = [0, 1]
    [dae]
    states = ["u", "i"]
    equations = ["der(u) = -i", "0 = u - 2*i"]
    [initial]
    fix = { u = 1 }
"#;

/// Oscillations of van der Pol, with the force as an unknown.
const OSCILLATOR: &str = r#"
    [model]
    name = "oscillator"
    time = [0, 20]
    [dae]
    states = ["x", "v", "f"]
    equations = ["der(x) = v", "der(v) = f", "0 = f - (1 - x^2)*v + x"]
    [initial]
    fix = { x = 2, v = 0 }
"#;

const THERMOSTAT: &str = r#"
    [model]
    name = "thermostat"
    time = [0, 10]
    [dae]
    states = ["T"]
    equations = ["der(T) = heat - 0.1*T"]
    [modes]
    on  = { parameters = { heat = 3 } }
    off = { parameters = { heat = 0 } }
    [[transitions]]
    from = "on"
    to = "off"
    when = "T > 21"
    [[transitions]]
    from = "off"
    to = "on"
    when = "T < 19"
    [initial]
    mode = "on"
    fix = { T = 20 }
"#;

fn read(text: &str) -> Model {
    Model::read("model.toml", text).expect("a model")
}

fn refusal(model: &Model, settings: &Settings) -> String {
    let error = choose(model, settings).expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Input);
    error.to_string()
}

#[test]
fn a_model_is_a_value_that_threads_share() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Model>();
    let model = read(PENDULUM);
    let settings = Settings { rtol: Some(1e-8), ..Settings::default() };
    let run = || solve(&model, &settings, &mut Unwatched).expect("a run").record().expect("values");
    let (one, other) = std::thread::scope(|scope| {
        let (one, other) = (scope.spawn(run), scope.spawn(run));
        (one.join().expect("no panic"), other.join().expect("no panic"))
    });
    assert_eq!((one.end, one.header.counters), (other.end, other.header.counters));
}

#[test]
fn parameters_are_set_and_kept() {
    let long = read(PENDULUM).set(&[("L".into(), 2.0)]).expect("a parameter");
    let other = long.set(&[("g".into(), 1.6)]).expect("a parameter").with_kernel(KernelKind::Tape).expect("a kernel");
    assert_eq!(other.parameters(), [("L".to_string(), 2.0), ("g".to_string(), 1.6)]);
    let twice = [("L".to_string(), 2.0), ("L ".to_string(), 3.0)];
    assert!(matches!(long.set(&twice), Err(Error::SetTwice { .. })));
    assert!(matches!(long.set(&[("M".into(), 1.0)]), Err(Error::Model(_))));
    assert!(matches!(long.with_kernel(KernelKind::Rust), Err(Error::NoProgram { .. })));
    assert!(matches!(Model::load("no-such-file.toml"), Err(Error::Unreadable { .. })));
    assert!(matches!(ModelSource::load("no-such-file.toml"), Err(Error::Unreadable { .. })));
}

#[test]
fn three_kinds_of_systems_are_solved_by_one_function() {
    for (text, method, columns) in [
        (PENDULUM, "dop853", vec!["x", "y", "vx", "vy", "lambda.rod", "vx'", "vy'", "height"]),
        (CIRCUIT, "radau", vec!["u", "i"]),
        (THERMOSTAT, "radau", vec!["T", "mode"]),
    ] {
        let model = read(text);
        let settings = Settings { save: SaveSetting::Points(3), verify: true, ..Settings::default() };
        let outcome = solve(&model, &settings, &mut Unwatched).expect("a run");
        assert!(outcome.error.is_none() && outcome.warnings.is_empty(), "{:?}", outcome.warnings);
        assert_eq!(outcome.choice, choose(&model, &settings).expect("a choice"));
        assert_eq!(outcome.choice.method, method);
        let run = outcome.record().expect("values");
        run.check().expect("columns of the same length");
        assert!(run.times.len() >= 3 && run.steps.is_some());
        let names: Vec<&str> = run.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, columns);
        assert_eq!(outcome.computed.expect("values").switching.is_some(), text == THERMOSTAT);
    }
}

#[test]
fn values_are_kept_at_given_times() {
    let settings = Settings { save: SaveSetting::At(vec![0.0, 0.25, 1.0]), ..Settings::default() };
    let run = solve(&read(CIRCUIT), &settings, &mut Unwatched).expect("a run").record().expect("values");
    assert_eq!(run.times, [0.0, 0.25, 1.0]);
    for (t, u) in run.times.iter().zip(&run.columns[0].values) {
        assert!((u - (-0.5 * t).exp()).abs() < 1e-6);
    }
    let backward = Settings { save: SaveSetting::At(vec![0.5, 0.25]), ..Settings::default() };
    let error = solve(&read(CIRCUIT), &backward, &mut Unwatched).err().expect("refused");
    assert_eq!(error.kind(), ErrorKind::Input);
}

#[test]
fn wrong_settings_are_refused_in_words() {
    let (motion, general, modes) = (read(PENDULUM), read(CIRCUIT), read(THERMOSTAT));
    let asked = |method: &str, formulation: Option<&str>| Settings {
        method: Some(method.into()),
        formulation: formulation.map(String::from),
        ..Settings::default()
    };
    assert!(refusal(&motion, &asked("gems", None)).contains("there is no method gems; did you mean geoms?"));
    assert!(refusal(&general, &asked("geoms", None)).contains("is for equations of motion"));
    assert!(refusal(&modes, &asked("mexx", None)).contains("is for equations of motion"));
    assert!(refusal(&motion, &asked("geoms", Some("ggl"))).contains("does not take the formulation ggl"));
    assert!(refusal(&general, &asked("radau", Some("ggl"))).contains("is one of equations of motion"));
    let mut options = MethodOptions::default();
    options.set("safety", OptionValue::Number(0.8)).expect("an option");
    let bdf = Settings { options, ..asked("bdf", None) };
    assert!(refusal(&general, &bdf).contains("the method bdf does not know safety"));
    let sliding = Settings { sliding: Some(SlidingSetting::Off), ..Settings::default() };
    assert!(refusal(&motion, &sliding).contains("pendulum has no modes; sliding is for models with modes"));
    let named = Settings { atol_of: vec![("z".into(), 1e-9)], ..Settings::default() };
    assert!(refusal(&motion, &named).contains("there is no variable for the setting atol z"));
    let without = Model::read("x.toml", &PENDULUM.replace("time = [0, 2]", "")).expect("a model");
    assert!(refusal(&without, &Settings::default()).contains("says nothing about the interval"));
}

#[test]
fn a_formulation_of_a_mode_is_solved_or_refused() {
    let rope = |mode: &str| {
        format!(
            r#"
            [model]
            name = "rope"
            time = [0, 1]
            [motion]
            positions = ["x", "y"]
            velocities = ["vx", "vy"]
            mass = [1, 1]
            forces = [0, -9.81]
            [modes.rope]
            motion = {{ holonomic = {{ rope = "x^2 + y^2 - 1" }} }}
            {mode}
            [modes.free]
            [[transitions]]
            from = "rope"
            to = "free"
            at = 0.5
            [initial]
            mode = "rope"
            fix = {{ x = 1, vx = 0 }}
            guess = {{ y = 0, vy = 0 }}
            "#
        )
    };
    let made = |mode: &str, settings: &Settings| {
        let outcome = solve(&read(&rope(mode)), settings, &mut Unwatched).expect("a run");
        (outcome.choice.method.clone(), outcome.choice.formulation.clone())
    };
    let two = |first: &str, second: &str| format!("{first}, {second}");
    // no method is asked for: the one that takes it, as without modes
    assert_eq!(made(r#"formulation = "ggl""#, &Settings::default()), (two("radau", "geoms"), two("ggl", "psf")));
    assert_eq!(made(r#"formulation = "p1""#, &Settings::default()), ("geoms".into(), two("p1", "psf")));
    let bdf = Settings { method: Some("bdf".into()), ..Settings::default() };
    assert_eq!(made(r#"formulation = "ggl""#, &bdf), ("bdf".into(), two("ggl", "psf")));
    let both = rope("method = \"hedop5\"\n            formulation = \"ggl\"");
    assert!(refusal(&read(&both), &Settings::default()).contains("hedop5 does not take the formulation ggl"));
}

#[test]
fn an_interruption_keeps_what_was_computed() {
    for text in [PENDULUM, CIRCUIT, THERMOSTAT] {
        let mut last = 0.0;
        let mut steps = 0;
        let mut monitor = |progress: &Progress| {
            (last, steps) = (progress.t, steps + 1);
            assert!((0.0..=1.0).contains(&progress.fraction));
            if steps == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let settings = Settings { save: SaveSetting::Steps, hmax: Some(0.1), ..Settings::default() };
        let outcome = solve(&read(text), &settings, &mut monitor).expect("an outcome");
        assert_eq!(outcome.error.as_ref().map(Error::kind), Some(ErrorKind::Interrupted));
        let run = outcome.record().expect("what was computed");
        assert_eq!((run.times.last(), steps), (Some(&last), 2));
    }
}

#[test]
fn a_numerical_stop_keeps_what_was_computed() {
    let settings = Settings { max_steps: Some(5), save: SaveSetting::Steps, ..Settings::default() };
    let outcome = solve(&read(PENDULUM), &settings, &mut Unwatched).expect("an outcome");
    assert_eq!(outcome.error.as_ref().map(Error::kind), Some(ErrorKind::Numerical));
    let run = outcome.record().expect("what was computed");
    assert!(run.times.len() > 1 && run.header.message.is_some_and(|message| message.contains("max_steps")));
}

#[test]
fn starts_are_consistent_and_data() {
    let guess =
        StartSettings { guess: vec![("vy".into(), 1.0)], unknown: vec!["y".into()], ..StartSettings::default() };
    for text in [PENDULUM, CIRCUIT, THERMOSTAT] {
        let settings = if text == PENDULUM { guess.clone() } else { StartSettings::default() };
        let start = initialise(&read(text), &settings).expect("a start");
        let text = serde_json::to_string(&start).expect("text");
        assert_eq!(serde_json::from_str::<daedal_simulation::ConsistentStart>(&text).expect("a start"), start);
    }
    let twice = StartSettings { fix: vec![("x".into(), 1.0)], unknown: vec!["x".into()], ..StartSettings::default() };
    assert!(matches!(initialise(&read(PENDULUM), &twice), Err(Error::SaidTwice { .. })));
    let strange = StartSettings { unknown: vec!["z".into()], ..StartSettings::default() };
    assert!(initialise(&read(CIRCUIT), &strange).is_err_and(|error| error.to_string().contains("no state z")));
}

#[test]
fn checks_are_data() {
    for (text, index) in [(PENDULUM, Some(3)), (CIRCUIT, Some(1)), (THERMOSTAT, None)] {
        let found = check(&read(text), None).expect("a check");
        let object = found.object();
        assert_eq!(object["possible"], true);
        assert_eq!(object["index"]["differentiation"].as_u64(), index);
        assert_eq!(object["trial"]["error"], serde_json::Value::Null);
        let again: serde_json::Value =
            serde_json::from_str(&serde_json::to_string(&found).expect("text")).expect("data");
        assert_eq!(again, object);
        assert!(found.warnings().is_empty() && found.into_error().is_none());
    }
    let impossible = PENDULUM.replace("fix = { x = \"L\"", "fix = { x = \"2*L\"");
    let error = check(&read(&impossible), None).expect("a check").into_error().expect("no start");
    assert_eq!(error.kind(), ErrorKind::Numerical);
}

#[test]
fn comparisons_are_data() {
    let settings = ComparisonSettings {
        methods: vec!["geoms".into(), "hedop5".into()],
        tolerances: vec![1e-4, 1e-6],
        repeat: Some(1),
        ..ComparisonSettings::default()
    };
    let mut passes = Vec::new();
    let made = compare(&read(PENDULUM), &settings, &mut |pass| passes.push(pass)).expect("a comparison");
    assert_eq!(made.runs.len(), 4);
    assert!(made.runs.iter().all(|run| run.failure.is_none()), "{:?}", made.runs);
    assert_eq!(passes.iter().filter(|pass| pass.done == pass.runs).count(), 2);
    let general = compare(&read(CIRCUIT), &settings, &mut |_| {});
    assert!(general.is_err_and(|error| error.to_string().contains("there is no method geoms")));
}

/// Errors of each kind fall with the tolerance, as the row of the method says them.
fn fall(made: &Comparison, method: &str, error: fn(&ComparedRun) -> Option<f64>) {
    let runs: Vec<&ComparedRun> = made.runs.iter().filter(|run| run.method == method).collect();
    let errors: Vec<f64> = runs.iter().map(|run| error(run).unwrap_or_else(|| panic!("{run:?}"))).collect();
    assert_eq!(errors.len(), 2);
    assert!(errors[1] < 0.1 * errors[0] && errors[0] < 1e-2, "{method}: {errors:?}");
    assert!(runs.iter().all(|run| run.seconds.is_some_and(|seconds| seconds > 0.0)));
}

#[test]
fn general_systems_are_compared_in_all_forms() {
    let tolerances = vec![1e-4, 1e-7];
    let settings = ComparisonSettings { tolerances, repeat: Some(1), ..ComparisonSettings::default() };
    let made = compare(&read(OSCILLATOR), &settings, &mut |_| {}).expect("a comparison");
    for method in ["auto", "trapezoidal", "lobatto-iiic"] {
        fall(&made, method, |run| run.error.state);
    }
    let forms = |method: &str| -> Vec<String> {
        let mut forms: Vec<String> =
            made.succeeded().filter(|run| run.method == method).map(|run| run.formulation.clone()).collect();
        forms.dedup();
        forms
    };
    assert_eq!(forms("radau"), ["auto", "plain", "quasilinear", "array"]);
    assert!(forms("dop853").is_empty(), "it has a constraint");
    let why = made.failed().find(|(run, _)| run.method == "dop853").expect("it is told").1;
    assert!(why.contains(": "), "the cause is told: {why}");
    let reference = &made.reference;
    assert_eq!(reference.source, "radau with tolerance 1e-13");
    assert!(reference.check.as_ref().is_some_and(|check| check.starts_with("checked by bdf")));
    assert!(reference.accuracy.state.is_some_and(|accuracy| accuracy < 1e-8));
    let notes = &made.notes;
    assert!(notes.iter().any(|note| note == "the form auto is plain"), "{notes:?}");
    assert!(notes.iter().any(|note| note.starts_with("auto is ")), "{notes:?}");
}

#[test]
fn systems_with_modes_are_compared_with_the_times_of_their_switches() {
    let settings = ComparisonSettings {
        methods: ["auto", "radau", "bdf"].map(String::from).to_vec(),
        tolerances: vec![1e-4, 1e-7],
        repeat: Some(1),
        ..ComparisonSettings::default()
    };
    let made = compare(&read(THERMOSTAT), &settings, &mut |_| {}).expect("a comparison");
    fall(&made, "bdf", |run| run.error.state);
    fall(&made, "bdf", |run| run.error.switch);
    let close = |error: Option<f64>| error.is_some_and(|error| error < 1e-6);
    assert!(made.runs[..4].iter().all(|run| close(run.error.state) && close(run.error.switch)), "{:?}", made.runs);
    assert!(made.reference.accuracy.switch.is_some_and(|accuracy| accuracy < 1e-9), "{:?}", made.reference);
    assert!(!made.notes.iter().any(|note| note.contains("other switches")), "{:?}", made.notes);
}

#[test]
fn methods_with_options_are_compared() {
    let settings = ComparisonSettings {
        methods: ["radau", "radau:stages=5"].map(String::from).to_vec(),
        tolerances: vec![1e-6, 1e-9],
        repeat: Some(1),
        ..ComparisonSettings::default()
    };
    let made = compare(&read(OSCILLATOR), &settings, &mut |_| {}).expect("a comparison");
    let steps = |label: &str| {
        let run = made.succeeded().filter(|run| run.method == label).last().expect("a run");
        run.counters.expect("counters").steps
    };
    assert!(steps("radau:stages=5") < steps("radau"));
    let wrong = ComparisonSettings { methods: vec!["radau:stages=6".into()], ..settings };
    let error = compare(&read(OSCILLATOR), &wrong, &mut |_| {}).expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Input);
    assert!(error.to_string().contains("radau:stages=6"), "{error}");
}

#[test]
fn settings_are_data_and_unknown_ones_are_refused() {
    let mut options = MethodOptions::default();
    options.set("stages", OptionValue::Word("auto".into())).expect("an option");
    options.set("baumgarte", OptionValue::Numbers(vec![1.0, 2.0, 3.0])).expect("an option");
    let settings = Settings {
        rtol: Some(1e-9),
        atol_of: vec![("x".into(), 1e-12)],
        save: SaveSetting::At(vec![0.5]),
        sliding: Some(SlidingSetting::ThreePoints),
        options,
        ..Settings::default()
    };
    let text = serde_json::to_string(&settings).expect("text");
    assert_eq!(serde_json::from_str::<Settings>(&text).expect("settings"), settings);
    for (wrong, said) in [
        (r#"{ "rtoll": 1e-9 }"#, "unknown field `rtoll`"),
        (r#"{ "options": { "stage": "3" } }"#, "did you mean stages?"),
        (r#"{ "options": { "stages": "6" } }"#, "takes one of 1, 2, 3, 4, 5, 7, auto"),
        (r#"{ "options": { "max_newton": 2 } }"#, "a whole number from 3 to 1000"),
    ] {
        let error = serde_json::from_str::<Settings>(wrong).expect_err("refused").to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn trusted_initial_values_are_taken_as_they_are() {
    // a little off the rod, and with a force in it
    let given = PENDULUM.replace("fix = { x = \"L\", vx = 0 }", "fix = { x = 1.001, vx = 0, lambda.rod = 0.25 }");
    let (model, save) = (read(&given), SaveSetting::Steps);
    let first = |trust_initial: bool| {
        let settings = Settings { tend: Some(0.01), trust_initial, save: save.clone(), ..Settings::default() };
        let run = solve(&model, &settings, &mut Unwatched).expect("a run").record().expect("values");
        let value = |name: &str| run.columns.iter().find(|column| column.name == name).expect("a column").values[0];
        (value("y"), value("lambda.rod"), value("vx'"))
    };
    // a_x = −2 x λ
    assert_eq!(first(true), (0.0, 0.25, -2.0 * 1.001 * 0.25));
    let mistrusted = solve(&model, &Settings::default(), &mut Unwatched).err().expect("refused");
    assert!(format!("{mistrusted:?}").contains("constraint rod"), "{mistrusted:?}");

    let settings = Settings { trust_initial: true, ..Settings::default() };
    let causes = |model: &Model| format!("{:?}", choose(model, &settings).expect_err("refused"));
    let told = causes(&read(PENDULUM));
    assert!(told.contains("Underdetermined") && told.contains("lambda.rod"), "{told}");
    let conditions = given.replace("[output]", "conditions = { level = \"y\" }\n[output]");
    let told = causes(&read(&conditions));
    assert!(told.contains("TrustedCondition") && told.contains("level"), "{told}");
    assert!(refusal(&read(CIRCUIT), &settings).contains("fix all initial values"));
    // the file can say it as well
    let at_rest = given.replace("1.001", "1").replace("0.25", "0");
    let file = read(&at_rest.replace("[initial]", "[solve]\ntrust_initial = true\n[initial]"));
    assert!(solve(&file, &Settings::default(), &mut Unwatched).expect("a run").error.is_none());
    let mistake = Model::read("model.toml", &given.replace("[initial]", "[solve]\ntrust_initial = 1\n[initial]"));
    let mistake = mistake.err().expect("a mistake");
    assert!(format!("{mistake:?}").contains("true or false"), "{mistake:?}");
}
