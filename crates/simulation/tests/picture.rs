//! Pictures of runs: frames follow the solution, and change nothing in it.

use daedal_run::{Coordinate, DrawingKind, Pose, Run, Scene, ShapeKind};
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

fn gallery(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery");
    std::fs::read_to_string(folder.join(name).with_extension("toml")).expect("text")
}

#[test]
fn frames_of_bodies_change_nothing_in_a_run() {
    // the same run with some frames and with many
    for name in ["four-bar", "rod-pendulum"] {
        for save in [SaveSetting::Dense, SaveSetting::Steps, SaveSetting::End] {
            let text = gallery(name);
            let few = run(&format!("{text}\n[picture]\nspeed = 2\n"), &with(save.clone()));
            let many = run(&format!("{text}\n[picture]\nspeed = 0.1\n"), &with(save.clone()));
            let frames = [&few, &many].map(|run| scene(run).frames.t.len());
            assert_eq!(frames[0] < frames[1], save == SaveSetting::Dense, "{frames:?}");
            assert_eq!(
                (&few.times, &few.header.counters, &few.end, &few.steps),
                (&many.times, &many.header.counters, &many.end, &many.steps)
            );
            let values = |run: &Run| run.columns.iter().map(|column| column.values.clone()).collect::<Vec<_>>();
            assert_eq!(values(&few), values(&many));
        }
    }
}

#[test]
fn bodies_have_poses_shapes_joints_and_forces() {
    let run =
        run(&gallery("rod-pendulum"), &Settings { rtol: Some(1e-9), atol: Some(1e-9), ..with(SaveSetting::Dense) });
    let scene = scene(&run);
    assert_eq!((scene.dimension, scene.up, scene.bodies.len(), scene.joints.len()), (3, [0.0, 0.0, 1.0], 1, 1));
    let (rod, hinge) = (&scene.bodies[0], &scene.joints[0]);
    assert_eq!((rod.shapes[0].kind, &rod.shapes[0].size[..]), (ShapeKind::Box, &[0.8, 0.05, 0.05][..]));
    // the hinge is at an end of the rod, which is drawn along x
    assert_eq!((hinge.kind.as_str(), hinge.bodies, hinge.at), ("revolute", [None, Some(0)], [0.0; 3]));
    assert_eq!(hinge.axis, Some([0.0, 1.0, 0.0]));
    let Pose::Columns(pose) = &rod.pose else { panic!("it moves") };
    let force = hinge.force.expect("a force");
    let column = |k: usize| &scene.frames.columns[k];
    for k in 0..scene.frames.t.len() {
        let at: Vec<f64> = pose.iter().map(|&c| column(c)[k]).collect();
        let [x, y, z, q0, q1, q2, q3] = at[..] else { panic!("seven numbers") };
        assert!((q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3 - 1.0).abs() < 1e-12);
        // the rod turns about y: its end stays where the hinge is
        let (ex, ez) = (1.0 - 2.0 * (q2 * q2 + q3 * q3), 2.0 * (q1 * q3 - q0 * q2));
        assert!((x - 0.4 * ex).abs() < 1e-7 && y.abs() < 1e-9 && (z - 0.4 * ez).abs() < 1e-7, "{at:?}");
        if k > 0 {
            let with_last: f64 = pose[3..].iter().map(|&c| column(c)[k] * column(c)[k - 1]).sum();
            assert!(with_last > 0.0);
        }
    }
    // horizontal and at rest: m g (1 − m (L/2)²/I) with I about the hinge
    let inertia = 1.4 * (0.8 * 0.8 + 0.05 * 0.05) / 12.0 + 1.4 * 0.16;
    assert!((column(force[2])[0] - 1.4 * 9.81 * (1.0 - 1.4 * 0.16 / inertia)).abs() < 1e-9);
}

#[test]
fn a_coin_rolls_on_a_plane_with_the_force_where_it_touches() {
    let run = run(&gallery("rolling-coin"), &with(SaveSetting::Dense));
    let scene = scene(&run);
    let plane = scene.bodies.iter().find(|body| body.name == "plane").expect("a plane");
    assert_eq!(plane.shapes[0].kind, ShapeKind::Plane);
    let arrow = scene.drawings.iter().find(|drawing| drawing.kind == DrawingKind::Arrow).expect("a force");
    let up = arrow.vector.as_ref().expect("a vector")[2];
    for k in 0..scene.frames.t.len() {
        // it touches the plane, which pushes by about its weight: the rolling is steady
        assert!(scene.value(arrow.points[0][2], k).abs() < 1e-4);
        assert!((scene.value(up, k) - 11.772).abs() < 1e-2);
    }
}

#[test]
fn a_planar_mechanism_is_flat_and_follows_its_constraints() {
    let run = run(&gallery("four-bar"), &with(SaveSetting::Dense));
    let scene = scene(&run);
    assert_eq!((scene.dimension, scene.bodies.len(), scene.joints.len()), (2, 3, 4));
    let end = |body: usize, along: f64, k: usize| {
        let Pose::Columns(pose) = &scene.bodies[body].pose else { panic!("it moves") };
        let [x, y, phi] = [0, 1, 2].map(|c| scene.frames.columns[pose[c]][k]);
        [x + along * phi.cos(), y + along * phi.sin()]
    };
    for k in 0..scene.frames.t.len() {
        // crank and coupler meet at the knee
        let (a, b) = (end(0, 0.1, k), end(1, -0.25, k));
        assert!((a[0] - b[0]).abs() + (a[1] - b[1]).abs() < 1e-4, "{a:?} {b:?}");
    }
}

#[test]
fn every_mechanism_of_the_gallery_is_drawn() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("gallery") {
        let path = entry.expect("a file").path();
        let model = Model::load(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let settings = Settings { tend: Some(0.02), ..with(SaveSetting::Dense) };
        let outcome =
            solve(&model, &settings, &mut Unwatched).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let run = outcome.record().expect("points");
        let scene = scene(&run);
        assert!(!scene.bodies.is_empty() && scene.frames.t.len() > 1, "{}", path.display());
        assert!(scene.frames.columns.iter().flatten().all(|x| x.is_finite()), "{}", path.display());
        for format in [daedal_run::Format::Svg, daedal_run::Format::Html] {
            let mut written = Vec::new();
            run.write(format, &mut written).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            // three.js has the word, a picture has not
            let gaps = format == daedal_run::Format::Svg && String::from_utf8_lossy(&written).contains("NaN");
            assert!(written.len() > 1000 && !gaps, "{}", path.display());
        }
        count += 1;
    }
    assert!(count >= 15, "{count} mechanisms");
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
