//! Events and runs backward, through settings, for every kind of model.

use daedal_run::{Ending, Run};
use daedal_simulation::{Error, ErrorKind, EventAction, EventSetting, Model, SaveSetting, Settings, Unwatched, solve};
use std::f64::consts::PI;

/// x = cos t.
const MOTION: &str = r#"
    [model]
    name = "oscillator"
    time = [0, 10]
    [parameters]
    low = -0.5
    [motion]
    positions = ["x"]
    velocities = ["v"]
    mass = [1]
    forces = ["-x"]
    [initial]
    fix = { x = 1, v = 0 }
    [output]
    energy = "(x^2 + v^2)/2"
    below = "low - x"
    [[events]]
    name = "low"
    when = "below > 0"
"#;

/// The same, as one equation of second order.
const GENERAL: &str = r#"
    [model]
    name = "oscillator"
    time = [0, 10]
    [dae]
    states = ["x"]
    equations = ["der(x, 2) = -x"]
    [initial]
    fix = { x = 1, "der(x)" = 0 }
    [output]
    v = "der(x)"
    a = "der(x, 2)"
    [[events]]
    name = "low"
    when = "x < -0.5"
"#;

/// The same between two walls, which it does not touch; in one mode there is a further state.
const MODES: &str = r#"
    [model]
    name = "oscillator"
    time = [0, 10]
    [dae]
    states = ["x", "v"]
    equations = ["der(x) = v", "der(v) = -x"]
    [modes.right]
    [modes.left]
    dae = { states = ["s"], equations = ["der(s) = 1"] }
    [[transitions]]
    from = "right"
    to = "left"
    when = "x < 0"
    set = { s = 0 }
    [[transitions]]
    from = "left"
    to = "right"
    when = "x > 0"
    [initial]
    mode = "right"
    fix = { x = 1, v = 0 }
    [[events]]
    name = "low"
    when = "x < -0.5"
    [[events]]
    name = "long on the left"
    when = "s > 1"
"#;

fn run(text: &str, settings: &Settings) -> Run {
    let model = Model::read("model.toml", text).expect("a model");
    let run = solve(&model, settings, &mut Unwatched).expect("a run").record().expect("values");
    run.check().expect("a run that can be written");
    run
}

fn happened(run: &Run) -> Vec<(&str, f64)> {
    run.events.iter().map(|event| (event.name.as_str(), event.t)).collect()
}

fn close(run: &Run, expected: &[(&str, f64)]) {
    let found = happened(run);
    let fits = |(a, b): (&(&str, f64), &(&str, f64))| a.0 == b.0 && (a.1 - b.1).abs() < 1e-5;
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(fits), "{found:?} instead of {expected:?}");
}

#[test]
fn events_of_files_and_of_settings_happen_in_every_kind_of_model() {
    let stop = EventSetting::new("x > 0.5 and t > 2", EventAction::Stop);
    let record = EventSetting { name: Some("centre".into()), ..EventSetting::new("x <= 0", EventAction::Record) };
    let settings = Settings { events: vec![record, stop], save: SaveSetting::Steps, ..Settings::default() };
    let expected = [("centre", PI / 2.0), ("low", 2.0 * PI / 3.0), ("x > 0.5 and t > 2", 5.0 * PI / 3.0)];
    for text in [MOTION, GENERAL] {
        let run = run(text, &settings);
        close(&run, &expected);
        assert_eq!(run.header.ended, Some(Ending::Event));
        assert_eq!(run.times.last(), Some(&run.events[2].t));
        assert_eq!(run.header.message.as_deref(), Some("the event x > 0.5 and t > 2 stopped the run"));
        assert!((run.events[0].state[0]).abs() < 1e-6, "{:?}", run.events[0]);
    }
    let run = run(MODES, &settings);
    let modes = [expected[0], expected[1], ("long on the left", PI / 2.0 + 1.0), expected[2]];
    close(&run, &modes);
    assert_eq!(run.events[2].state.len(), run.columns.len());
}

#[test]
fn conditions_of_settings_that_make_no_sense_are_refused_with_their_place() {
    for (text, when, said) in [
        (MOTION, "y < 0", "nothing is called `y`"),
        (GENERAL, "x", "expected a condition"),
        (GENERAL, "der(x, 3) < 0", "the derivative `x'''` cannot stand in the condition of an event"),
        (MODES, "z < 0", "nothing is called `z`"),
        (MOTION, "low < 0", "the condition is always true"),
    ] {
        let model = Model::read("model.toml", text).expect("a model");
        let settings = Settings { events: vec![EventSetting::new(when, EventAction::Stop)], ..Settings::default() };
        let error = solve(&model, &settings, &mut Unwatched).err().expect("refused");
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(matches!(error, Error::Event { .. }) && error.to_string().contains(said), "{when}: {error}");
    }
}

#[test]
fn reference_problems_know_their_variables_and_parameters() {
    for name in ["pendulum", "andrews", "skateboard-1", "wheelset", "truck", "lolly", "flexible-slider-crank"] {
        let model = Model::reference(name).expect("a problem");
        let settings =
            Settings { events: vec![EventSetting::new("t > 1e-6", EventAction::Stop)], ..Settings::default() };
        let outcome = solve(&model, &settings, &mut Unwatched).unwrap_or_else(|error| panic!("{name}: {error}"));
        let run = outcome.record().expect("values");
        assert!(run.header.ended == Some(Ending::Event) && (run.events[0].t - 1e-6).abs() < 1e-12, "{name}");
    }
}

#[test]
fn models_without_modes_run_backward() {
    for text in [MOTION, GENERAL] {
        for save in [
            SaveSetting::Dense,
            SaveSetting::Steps,
            SaveSetting::Points(11),
            SaveSetting::End,
            SaveSetting::At(vec![0.0, -1.0, -3.5]),
        ] {
            let settings = Settings { tend: Some(-4.0), rtol: Some(1e-9), verify: true, save, ..Settings::default() };
            let run = run(text, &settings);
            assert_eq!((run.header.ended, run.end.as_ref().map(|end| end.t)), (Some(Ending::End), Some(-4.0)));
            assert!(run.times.windows(2).all(|t| t[1] < t[0]), "{:?}", run.times);
            for (k, t) in run.times.iter().enumerate() {
                assert!((run.columns[0].values[k] - t.cos()).abs() < 1e-6, "{t}");
                assert!((run.columns[1].values[k] + t.sin()).abs() < 1e-6, "{t}");
            }
            close(&run, &[("low", -2.0 * PI / 3.0)]);
            assert_eq!(run.header.warnings, []);
            if let Some(steps) = &run.steps {
                assert!(steps.h.iter().all(|h| *h > 0.0));
            }
            let mut page = Vec::new();
            run.write(daedal_run::Format::Html, &mut page).expect("a page");
        }
    }
    // outputs that are derivatives
    let run =
        run(GENERAL, &Settings { tend: Some(-4.0), rtol: Some(1e-9), save: SaveSetting::Dense, ..Settings::default() });
    let a = run.columns.iter().find(|column| column.name == "a").expect("an output");
    assert!(run.times.iter().zip(&a.values).skip(1).all(|(t, a)| (a + t.cos()).abs() < 1e-3));
}

#[test]
fn models_with_modes_run_forward_only() {
    let model = Model::read("model.toml", MODES).expect("a model");
    let settings = Settings { tend: Some(-1.0), ..Settings::default() };
    let error = solve(&model, &settings, &mut Unwatched).err().expect("refused");
    assert_eq!(error.kind(), ErrorKind::Input);
    assert!(error.to_string().contains("forward in time only"), "{error}");
}
