//! Pictures of runs: frames follow the solution, and change nothing in it.

use daedal_run::{Coordinate, DrawingKind, Run, Scene};
use daedal_simulation::{Model, SaveSetting, Settings, Unwatched, solve};
use std::path::Path;

/// x = cos t, with a point that does not move and one that does.
const OSCILLATOR: &str = r#"
    [model]
    name = "oscillator"
    time = [0, 10]
    [parameters]
    a = 2
    [motion]
    positions = ["x"]
    velocities = ["v"]
    mass = [1]
    forces = ["-x"]
    [initial]
    fix = { x = 1, v = 0 }
    [output]
    double = "2*x"
"#;
const PICTURE: &str = r#"
    [picture]
    unit = "m"
    lines = [{ from = ["a", 0], to = ["x", "double"] }]
    points = [{ for = "i in 1..3", at = ["i*x", "i"] }, { at = ["x", 0] }]
    traces = [{ at = ["x", "v"] }]
    [plots.way]
    x = "x"
    x_unit = "m"
    curves = ["v"]
    unit = "m/s"
"#;

fn run(text: &str, settings: &Settings) -> Run {
    let model = Model::read("test.toml", text).unwrap_or_else(|error| panic!("{error}"));
    let outcome = solve(&model, settings, &mut Unwatched).unwrap_or_else(|error| panic!("{error}"));
    outcome.record().expect("points")
}

fn with(save: SaveSetting) -> Settings {
    Settings { save, ..Settings::default() }
}

fn scene(run: &Run) -> &Scene {
    run.scene.as_deref().expect("a picture")
}

#[test]
fn frames_stand_at_equal_times_and_follow_the_solution() {
    let text = [OSCILLATOR, PICTURE].concat();
    let run = run(&text, &Settings { rtol: Some(1e-9), atol: Some(1e-9), ..with(SaveSetting::Dense) });
    let scene = scene(&run);
    // ten seconds in real time
    assert_eq!((scene.frames.t.len(), scene.speed, scene.dimension), (601, 1.0, 2));
    let line = &scene.drawings[0];
    assert_eq!((line.kind, line.points[0][0]), (DrawingKind::Line, Coordinate::Fixed(2.0)));
    for (k, t) in scene.frames.t.iter().enumerate() {
        assert!((t - 10.0 * k as f64 / 600.0).abs() < 1e-14);
        assert!((scene.value(line.points[1][0], k) - t.cos()).abs() < 1e-7);
        assert!((scene.value(line.points[1][1], k) - 2.0 * t.cos()).abs() < 1e-7);
    }
    // the point with i = 1 shares the column of x, as do the last point and the trace
    let first = scene.drawings[1].points[0][0];
    assert_eq!([line.points[1][0], scene.drawings[4].points[0][0], scene.traces[0].point[0]], [first; 3]);
    assert_eq!(scene.frames.columns.len(), 4, "x, 2 x, 3 x and v");
}

#[test]
fn plots_and_their_units_are_part_of_the_run() {
    let run = run(&[OSCILLATOR, PICTURE].concat(), &with(SaveSetting::Dense));
    assert_eq!((run.plots[0].title.as_str(), run.plots[0].x.as_deref()), ("way", Some("x")));
    let units: Vec<Option<&str>> = run.columns.iter().map(|column| column.unit.as_deref()).collect();
    assert_eq!(units[..2], [Some("m"), Some("m/s")]);
}

#[test]
fn a_picture_changes_nothing_in_a_run() {
    for save in [SaveSetting::Dense, SaveSetting::Steps, SaveSetting::Points(7), SaveSetting::End] {
        let plain = run(OSCILLATOR, &with(save.clone()));
        let drawn = run(&[OSCILLATOR, PICTURE].concat(), &with(save.clone()));
        assert_eq!(
            (&plain.times, &plain.header.counters, &plain.end),
            (&drawn.times, &drawn.header.counters, &drawn.end)
        );
        assert_eq!(plain.steps, drawn.steps);
        let values = |run: &Run| run.columns.iter().map(|column| column.values.clone()).collect::<Vec<_>>();
        assert_eq!(values(&plain), values(&drawn));
        // without polynomials the frames are the points that were kept
        if save != SaveSetting::Dense {
            assert_eq!(scene(&drawn).frames.t, drawn.times);
        }
    }
}

#[test]
fn a_shape_is_drawn_while_the_mode_has_its_names() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let model = Model::load(folder.join("rope-cut.toml")).expect("a model");
    let outcome = solve(&model, &with(SaveSetting::Dense), &mut Unwatched).expect("a run");
    let run = outcome.record().expect("points");
    let scene = scene(&run);
    let rope = scene.drawings.iter().filter(|drawing| drawing.kind == DrawingKind::Line).nth(1).expect("the rope");
    for (k, t) in scene.frames.t.iter().enumerate() {
        let (drawn, held) = (scene.value(rope.points[1][0], k).is_finite(), *t < 0.331797929);
        assert!(drawn == held || (t - 0.331797929).abs() < 1e-6, "at {t}: {drawn}");
    }
}

#[test]
fn runs_backward_have_frames_backward() {
    let text = [OSCILLATOR, PICTURE].concat();
    let settings = Settings { t0: Some(0.0), tend: Some(-5.0), ..with(SaveSetting::Dense) };
    let run = run(&text, &settings);
    let scene = scene(&run);
    assert_eq!((scene.frames.t.first(), scene.frames.t.last()), (Some(&0.0), Some(&-5.0)));
    let last = scene.frames.t.len() - 1;
    assert!((scene.value(scene.drawings[0].points[1][0], last) - 5.0_f64.cos()).abs() < 1e-4);
}

#[test]
fn every_picture_of_the_shipped_models_is_read_and_has_a_place() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut pictures = 0;
    for entry in std::fs::read_dir(folder).expect("models") {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("text");
        if !text.contains("\n[picture]") {
            continue;
        }
        pictures += 1;
        let model = Model::load(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // a short run is enough to see that all formulas have values at the start
        let (t0, tend) = model.interval();
        let tend = tend.map(|tend| t0 + 1e-3 * (tend - t0));
        let settings = Settings { tend, ..with(SaveSetting::Dense) };
        let outcome =
            solve(&model, &settings, &mut Unwatched).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let run = outcome.record().expect("points");
        let scene = scene(&run);
        assert!(!scene.is_empty() && scene.frames.t.len() > 1, "{}", path.display());
        let mut still = Vec::new();
        run.write(daedal_run::Format::Svg, &mut still).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(
            String::from_utf8_lossy(&still).matches("<path").count()
                + String::from_utf8_lossy(&still).matches("<circle").count()
                > 1
        );
    }
    assert!(pictures >= 60, "{pictures} models have pictures");
}
