//! Many runs, and values between the steps of one.

use daedal_run::{Ending, Sweep};
use daedal_simulation::{
    Error, Model, NotDense, SaveSetting, Settings, SweepSettings, Unwatched, Variation, solve, sweep,
};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

fn model(name: &str) -> Model {
    Model::load(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name)).expect("a model")
}

fn grid(name: &str, values: &[f64]) -> Variation {
    Variation::grid(vec![(name.to_string(), values.to_vec())]).expect("values")
}

fn made(model: &Model, variation: &Variation, settings: &SweepSettings) -> Sweep {
    sweep(model, variation, settings, &mut |_, _| ControlFlow::Continue(())).expect("a sweep").sweep
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

#[test]
fn a_sweep_has_the_bits_of_single_runs_on_any_number_of_threads() {
    let (model, lengths) = (model("pendulum.toml"), [0.5, 1.0, 1.5]);
    let run = Settings { save: SaveSetting::Points(4), rtol: Some(1e-8), ..Settings::default() };
    let [one, two] = [1, 2].map(|threads| {
        let settings = SweepSettings { run: run.clone(), threads: Some(threads), resume: None };
        let mut sweep = made(&model, &grid("L", &lengths), &settings);
        sweep.runs.iter_mut().for_each(|run| run.seconds = None);
        sweep
    });
    assert_eq!(one, two);
    for (made, length) in one.runs.iter().zip(lengths) {
        let times = SaveSetting::At(one.times.clone().expect("times"));
        let single = model.set(&[("L".into(), length)]).expect("a parameter");
        let outcome = solve(&single, &Settings { save: times, ..run.clone() }, &mut Unwatched).expect("a run");
        let record = outcome.record().expect("values");
        let last: Vec<f64> = record.columns.iter().map(|column| column.values[3]).collect();
        assert_eq!(made.values[3 * last.len()..], last);
        assert_eq!((made.status, made.message.as_str(), made.t_end), (Ending::End, "", 5.0));
    }
}

#[test]
fn a_run_that_fails_is_told_and_disturbs_nobody() {
    let run = Settings { method: Some("geoms".into()), ..Settings::default() };
    let settings = SweepSettings { run, ..SweepSettings::default() };
    let sweep = made(&model("slider-crank.toml"), &grid("l2", &[3.0, 1.0]), &settings);
    assert_eq!([sweep.runs[0].status, sweep.runs[1].status], [Ending::End, Ending::Failure]);
    assert!(sweep.runs[1].message.contains("stopped at t"), "{}", sweep.runs[1].message);
    assert!(sweep.runs[1].t_end < sweep.runs[0].t_end);
}

#[test]
fn runs_that_were_made_are_not_made_again() {
    let (model, folder) = (model("pendulum.toml"), folder("resume"));
    let settings = SweepSettings { resume: Some(folder.clone()), threads: Some(1), ..SweepSettings::default() };
    let values = grid("v0", &[1.0, 1.5, 2.0, 2.5]);
    let mut calls = 0;
    let first = sweep(&model, &values, &settings, &mut |_, _| {
        calls += 1;
        ControlFlow::Continue(())
    })
    .expect("a sweep");
    assert!(first.found == 0 && !first.interrupted && calls >= 1);
    let again = sweep(&model, &values, &settings, &mut |_, _| ControlFlow::Continue(())).expect("a sweep");
    assert_eq!(again.found, 4);
    let mut bytes = [Vec::new(), Vec::new()];
    first.sweep.write(&mut bytes[0]).expect("memory");
    again.sweep.write(&mut bytes[1]).expect("memory");
    assert_eq!(bytes[0], bytes[1]);
    // half of the parts is lost
    let part = fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("a file").path());
    part.filter(|path| path.extension().is_some_and(|ending| ending == "npz"))
        .for_each(|path| fs::remove_file(path).expect("removed"));
    let third = sweep(&model, &values, &settings, &mut |_, _| ControlFlow::Continue(())).expect("a sweep");
    assert_eq!(third.found, 0);
    let other = sweep(&model, &grid("v0", &[1.0]), &settings, &mut |_, _| ControlFlow::Continue(()));
    assert!(matches!(other, Err(Error::OtherSweep { what: "the values of the parameters", .. })));
    let harder = SweepSettings { run: Settings { rtol: Some(1e-3), ..Settings::default() }, ..settings };
    let other = sweep(&model, &values, &harder, &mut |_, _| ControlFlow::Continue(()));
    assert!(matches!(other, Err(Error::OtherSweep { what: "the settings of the runs", .. })));
}

#[test]
fn mistakes_of_all_runs_are_told_before_any_of_them() {
    let model = model("pendulum.toml");
    let refused = |variation: &Variation, run: Settings| {
        let settings = SweepSettings { run, ..SweepSettings::default() };
        sweep(&model, variation, &settings, &mut |_, _| ControlFlow::Continue(())).err().expect("refused").to_string()
    };
    assert!(refused(&grid("LL", &[1.0]), Settings::default()).contains("there is no parameter LL; did you mean L?"));
    let unknown = Settings { method: Some("nosuch".into()), ..Settings::default() };
    assert!(refused(&grid("L", &[1.0]), unknown).contains("nosuch"));
    let steps = Settings { save: SaveSetting::Steps, ..Settings::default() };
    assert!(refused(&grid("L", &[1.0]), steps).contains("save is end"));
}

#[test]
fn values_between_the_steps_are_those_of_the_polynomials() {
    let settings = Settings { save: SaveSetting::Dense, rtol: Some(1e-9), ..Settings::default() };
    let outcome = solve(&model("pendulum.toml"), &settings, &mut Unwatched).expect("a run");
    let record = outcome.record().expect("values");
    // the points of the run file are points of the same curves
    let rows = outcome.at(&record.times).expect("dense output");
    for (k, row) in rows.iter().enumerate() {
        for (value, column) in row.iter().zip(&record.columns) {
            assert!((value - column.values[k]).abs() < 1e-12, "{} at t = {}", column.name, record.times[k]);
        }
    }
    assert!(matches!(outcome.at(&[5.5]), Err(NotDense::Outside { .. })));
    let steps = Settings { save: SaveSetting::Steps, ..Settings::default() };
    let outcome = solve(&model("pendulum.toml"), &steps, &mut Unwatched).expect("a run");
    assert_eq!(outcome.at(&[1.0]), Err(NotDense::NotKept));
}
