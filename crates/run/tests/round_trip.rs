//! What is written is read back to the last bit, whatever the names and numbers; the same run gives the same bytes.

use daedal_run::*;
use proptest::prelude::*;
use std::io::Cursor;

fn read(format: Format, file: &[u8]) -> Result<Run, ReadError> {
    match format {
        Format::Csv => csv::read(file),
        Format::Json => json::read(file),
        Format::Npz => npz::read(Cursor::new(file)),
        Format::Html | Format::Svg => Err(ReadError::Ending),
    }
}

fn write(format: Format, run: &Run) -> Vec<u8> {
    let mut file = Vec::new();
    run.write(format, &mut file).expect("memory takes everything");
    file
}

/// All numbers, those that are none included, and every kind of rounding.
fn number() -> impl Strategy<Value = f64> {
    let odd = prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324, f64::MAX]);
    prop_oneof![3 => any::<f64>(), 1 => odd]
}

fn name() -> impl Strategy<Value = String> {
    let odd =
        ["t", "", "a,b", "\"q\"", "two\nlines", "</script>", "lambda.rod", "step_h", "../x", "header", "λ'", " x "];
    prop_oneof![any::<String>(), prop::sample::select(odd.map(String::from).to_vec())]
}

fn kind() -> impl Strategy<Value = ColumnKind> {
    use ColumnKind::*;
    prop::sample::select(vec![
        Position,
        Velocity,
        Dynamic,
        Auxiliary,
        Contact,
        Multiplier,
        Acceleration,
        State,
        Derivative,
        Output,
        Mode,
        Variable,
    ])
}

fn times(n: usize) -> Vec<f64> {
    (0..n).map(|k| k as f64 * 0.1).collect()
}

fn header() -> impl Strategy<Value = Header> {
    let text = || prop::option::of(name());
    let number_or_none = || prop::option::of(number());
    let ended =
        prop::option::of(prop::sample::select(vec![Ending::End, Ending::Event, Ending::Observer, Ending::Failure]));
    let counters = prop::collection::vec(("[a-z]{3,9}", prop::option::of(any::<u64>())), 0..4);
    let pairs = || prop::collection::vec((name(), number()), 0..4);
    let warning = (prop::option::of(number()), name()).prop_map(|(t, message)| WarningRecord { t, message });
    (
        (text(), text(), text(), text(), text(), text(), text()),
        (number_or_none(), number_or_none(), number_or_none(), number_or_none()),
        (pairs(), counters, prop::collection::vec(pairs(), 0..3), ended),
        (prop::collection::vec(warning, 0..3), pairs()),
    )
        .prop_map(|(texts, numbers, (parameters, counters, undetermined, ended), (warnings, atol_of))| Header {
            model: texts.0,
            description: texts.1,
            source: texts.2,
            formulation: texts.3,
            method: texts.4,
            message: texts.5,
            decisions: texts.6,
            rtol: numbers.0,
            atol: numbers.1,
            t0: numbers.2,
            tend: numbers.3,
            parameters,
            ended,
            seconds: None,
            counters,
            max_residual: ResidualRecord {
                position: numbers.0,
                velocity: numbers.1,
                acceleration: None,
                invariant: numbers.3,
                constraint: numbers.2,
                hidden: numbers.0,
            },
            undetermined,
            warnings,
            atol_of,
        })
}

fn steps() -> impl Strategy<Value = StepRecords> {
    (0_usize..5).prop_flat_map(|n| {
        let level = move || prop::option::of(prop::collection::vec(number(), n));
        let counts = (
            prop::option::of(prop::collection::vec(any::<u32>(), n)),
            prop::option::of(prop::collection::vec(any::<u64>(), n)),
        );
        let general = (level(), level());
        (prop::collection::vec(number(), n), counts, level(), level(), level(), level(), general).prop_map(
            move |(h, (order, newton), position, velocity, acceleration, invariant, (constraint, hidden))| {
                StepRecords {
                    t: times(n),
                    h,
                    order,
                    newton,
                    position,
                    velocity,
                    acceleration,
                    invariant,
                    constraint,
                    hidden,
                }
            },
        )
    })
}

fn hybrid() -> impl Strategy<Value = ModeHistory> {
    let mode = (name(), any::<bool>(), prop::collection::vec(name(), 0..3), prop::option::of(any::<u64>()));
    let mode = (mode, prop::option::of(name())).prop_map(|((name, sliding, unknowns, steps), decisions)| ModeRecord {
        name,
        sliding,
        unknowns,
        steps,
        decisions,
    });
    let kinds = {
        use SwitchCause::*;
        vec![Condition, Immediate, Scheduled, SlidingBegins, SlidingEnds, Accumulation]
    };
    let smoothness = vec![Continuity::Smooth, Continuity::Transfer, Continuity::Restart];
    let jump = (name(), number(), number()).prop_map(|(name, before, after)| JumpRecord { name, before, after });
    let moved = prop::collection::vec((name(), number()), 0..3);
    let restart = (name(), moved, prop::option::of(number()), prop::option::of(number()))
        .prop_map(|(way, moved, momentum, energy)| RestartRecord { way, moved, momentum, energy });
    let event = (
        (0_usize..2, 0_usize..2, name(), any::<bool>()),
        (prop::sample::select(kinds), prop::sample::select(smoothness)),
        prop::collection::vec(jump, 0..3),
        prop::collection::vec(prop::collection::vec((name(), number()), 0..3), 0..3),
        prop::option::of(restart),
    );
    (prop::collection::vec(mode, 2..4), prop::collection::vec(event, 0..5)).prop_map(|(modes, events)| {
        let phase = |k: usize| PhaseRecord { mode: k % 2, t0: k as f64 * 0.1, t1: (k + 1) as f64 * 0.1 };
        let phases = (0..=events.len()).map(phase).collect();
        let switches = events.into_iter().enumerate().map(|(k, event)| {
            let ((from, to, condition, chattering), (kind, smoothness), jumps, mut orders, restart) = event;
            let (t, impulses) = (k as f64 * 0.1, orders.pop().unwrap_or_default());
            SwitchRecord {
                t,
                from,
                to,
                condition,
                kind,
                smoothness,
                jumps,
                impulses,
                higher_impulses: orders,
                restart,
                chattering,
            }
        });
        ModeHistory { modes, switches: switches.collect(), phases }
    })
}

fn run() -> impl Strategy<Value = Run> {
    (0_usize..6, 0_usize..5).prop_flat_map(|(points, columns)| {
        let column = (name(), kind(), prop::option::of(name()), prop::collection::vec(number(), points))
            .prop_map(|(name, kind, unit, values)| Column { name, kind, unit, values });
        let state = || prop::collection::vec(number(), columns);
        let event = (name(), number(), state()).prop_map(|(name, t, state)| EventRecord { name, t, state });
        let end = (number(), state()).prop_map(|(t, values)| LastPoint { t, values });
        (
            header(),
            prop::collection::vec(column, columns),
            prop::option::of(steps()),
            prop::collection::vec(event, 0..3),
            prop::option::of(end),
            prop::option::of(hybrid()),
            prop::option::of(scene().prop_map(Box::new)),
            prop::collection::vec(plot(), 0..2),
        )
            .prop_map(move |(header, columns, steps, events, end, hybrid, scene, plots)| Run {
                header,
                times: times(points),
                columns,
                steps,
                events,
                end,
                hybrid,
                plots,
                scene,
            })
    })
}

fn plot() -> impl Strategy<Value = ChosenPlot> {
    (name(), prop::option::of(name()), prop::collection::vec(name(), 0..3)).prop_map(|(title, x, curves)| ChosenPlot {
        title,
        x,
        curves,
    })
}

/// A body and some shapes, with gaps and infinities in their columns.
fn scene() -> impl Strategy<Value = Scene> {
    (1_usize..4).prop_flat_map(|frames| {
        let columns = prop::collection::vec(prop::collection::vec(number(), frames), 7);
        (columns, name(), -1e3..1e3_f64, prop::option::of(name())).prop_map(move |(columns, name, x, color)| {
            let column = |column| Coordinate::Column { column };
            let point = vec![Coordinate::Fixed(x), column(3), column(6)];
            let mut circle = SceneDrawing::new(DrawingKind::Circle, vec![point.clone()]);
            (circle.radius, circle.axis) = (Some(column(0)), Some(point.clone()));
            let shape = SceneShape {
                kind: ShapeKind::Box,
                size: vec![1.0, x, 0.5],
                at: [x; 3],
                rotation: [1.0, 0.0, 0.0, 0.0],
                vertices: None,
                triangles: None,
            };
            let pose = Pose::Columns((0..7).collect());
            let body = SceneBody { name: name.clone(), pose, color: color.clone(), shapes: vec![shape] };
            let joint = SceneJoint {
                name,
                kind: "revolute".into(),
                bodies: [None, Some(0)],
                at: [x; 3],
                axis: None,
                second_axis: Some([x, 0.0, 1.0]),
                force: Some([1, 2, 3]),
            };
            Scene {
                bodies: vec![body],
                joints: vec![joint],
                traces: vec![SceneTrace { body: Some(0), point, color, width: Some(2.0) }],
                drawings: vec![circle],
                frames: SceneFrames { t: times(frames), columns },
                ..Scene::default()
            }
        })
    })
}

/// Equal to the last bit; NaN equals itself, as no comparison of numbers says. Digits of Debug give the number back.
fn same(a: &Run, b: &Run) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

#[test]
fn files_from_before_there_were_general_systems_are_read() {
    let file = r#"{"format":"daedal run","version":1,"names":["x"],"kinds":["position"],"times":[0.0,1.0],"states":[[1.0],[2.0]],
        "statistics":{"steps":1,"max_residual":{"position":1e-9,"velocity":null,"acceleration":null,"invariant":null}},
        "steps":{"t":[1.0],"h":[1.0],"order":[5],"newton":[3],"residual_position":[1e-9]}}"#;
    let run = json::read(file.as_bytes()).expect("a run");
    assert_eq!(run.header.max_residual, ResidualRecord { position: Some(1e-9), ..ResidualRecord::default() });
    let steps = run.steps.expect("steps");
    assert_eq!((steps.position, steps.constraint, steps.hidden), (Some(vec![1e-9]), None, None));
    assert_eq!(run.hybrid, None);
}

#[test]
fn warnings_of_older_files_of_modes_are_those_of_the_run() {
    let file = r#"{"format":"daedal run","version":1,"names":[],"times":[],"states":[],"warnings":[{"message":"late"}],
        "hybrid":{"modes":[{"name":"slip"}],"warnings":[{"t":0.5,"message":"chattering"}]}}"#;
    let run = json::read(file.as_bytes()).expect("a run");
    assert_eq!(run.header.warnings, [WarningRecord::new("late"), WarningRecord::at(0.5, "chattering")]);
    let told: Vec<String> = run.header.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["late", "first at t = 0.5000000000: chattering"]);
    let page = String::from_utf8(write(Format::Html, &run)).expect("text");
    assert!(page.contains("Warning: late") && page.contains("first at t = 0.5000000000: chattering"));
}

#[test]
fn what_a_mode_does_not_have_is_an_empty_cell() {
    let mode = |name: &str, unknowns: &[&str]| ModeRecord {
        name: name.into(),
        unknowns: unknowns.iter().map(ToString::to_string).collect(),
        ..ModeRecord::default()
    };
    let modes = vec![mode("hanging", &["x", "force"]), mode("flying", &["x"])];
    let columns = vec![
        Column::new("x", ColumnKind::Position, vec![1.0, 1.0, f64::NAN]),
        Column::new("force", ColumnKind::Multiplier, vec![9.81, f64::NAN, f64::NAN]),
        Column::new("mode", ColumnKind::Mode, vec![0.0, 1.0, 1.0]),
    ];
    let hybrid = Some(ModeHistory { modes, ..ModeHistory::default() });
    let run = Run { times: vec![0.0, 0.0, 1.0], columns, hybrid, ..Run::default() };
    let file = write(Format::Csv, &run);
    // what a mode has and cannot compute is not the same
    assert_eq!(String::from_utf8_lossy(&file), "t,x,force,mode\n0.0,1.0,9.81,0.0\n0.0,1.0,,1.0\n1.0,NaN,,1.0\n");
    let back = read(Format::Csv, &file).expect("a table");
    assert!(back.columns[1].values[1].is_nan() && back.times == run.times);
}

#[test]
fn a_run_of_one_mode_says_nothing_about_modes() {
    let text = String::from_utf8(write(Format::Json, &Run::default())).expect("text");
    assert!(!text.contains("hybrid"), "{text}");
}

#[test]
fn modes_that_do_not_exist_are_refused() {
    let file = r#"{"format":"daedal run","version":1,"names":[],"times":[],"states":[],
        "hybrid":{"modes":[{"name":"slip"}],"switches":[{"t":0.5,"from":0,"to":1,"condition":"v <= 0","kind":"condition"}]}}"#;
    let said = json::read(file.as_bytes()).expect_err("one mode only").to_string();
    assert!(said.contains("switches: place 0 names mode 1"), "{said}");
}

proptest! {
    #[test]
    fn json_and_npz_give_the_whole_run_back(run in run()) {
        for format in [Format::Json, Format::Npz] {
            let file = write(format, &run);
            let back = read(format, &file);
            prop_assert!(back.as_ref().is_ok_and(|back| same(back, &run)), "{format:?}: {back:#?} is not {run:#?}");
            // the same bytes from what was read
            if let Ok(back) = back {
                prop_assert_eq!(write(format, &back), file);
            }
        }
    }

    #[test]
    fn csv_gives_times_names_and_values_back(run in run()) {
        let back = read(Format::Csv, &write(Format::Csv, &run));
        let bare = Run {
            columns: run.columns.iter().map(|c| Column::new(c.name.clone(), ColumnKind::Variable, c.values.clone())).collect(),
            times: run.times,
            ..Run::default()
        };
        prop_assert!(back.as_ref().is_ok_and(|back| same(back, &bare)), "{back:#?} is not {bare:#?}");
    }

    #[test]
    fn every_run_has_a_page(run in run()) {
        let page = String::from_utf8(write(Format::Html, &run)).expect("text");
        prop_assert!(page.ends_with("</html>\n"));
        // a scene has its data beside those of the plots
        prop_assert_eq!(page.matches("</script").count(), 3 + usize::from(run.scene.is_some()));
        let mut still = Vec::new();
        let drawn = run.write(Format::Svg, &mut still);
        prop_assert!(drawn.is_ok() == still.ends_with(b"</svg>\n"), "{drawn:?}");
    }

    #[test]
    fn a_file_that_is_cut_off_is_refused(run in run(), part in 0.0..1.0_f64) {
        for format in [Format::Json, Format::Npz] {
            let file = write(format, &run);
            // the line break at the end of a text may be absent
            let length = ((file.len() - 2) as f64 * part) as usize;
            prop_assert!(read(format, &file[..length]).is_err(), "{format:?} {length} of {}", file.len());
        }
    }

    #[test]
    fn no_bytes_are_a_reason_to_panic(run in run(), place in 0.0..1.0_f64, byte in any::<u8>(), noise in any::<Vec<u8>>()) {
        for format in [Format::Csv, Format::Json, Format::Npz] {
            let mut file = write(format, &run);
            let place = (file.len() as f64 * place) as usize;
            file[place] = byte;
            let _ = read(format, &file);
            let _ = read(format, &noise);
        }
    }
}
