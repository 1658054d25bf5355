//! Tolerance ladder: all shipped models, all methods, from 1e-3 to 1e-12.
//!
//! Errors against trusted values fall with the tolerance, up to a factor, and stay below a multiple of it that is stated; or the run refuses.
//! A model without a row in `rows.rs` makes the tests fail.

mod climb;
mod counters;
mod promise;
mod reference;
#[allow(dead_code)]
#[path = "../dae/references.rs"]
mod references;
mod rows;
mod run;
#[path = "../dae/solutions.rs"]
mod solutions;

use climb::{Climb, Trusted};
use daedal_model::{Model, ModelKind};
use rows::{ROWS, Row};
use run::{Case, ways};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Powers of ten of the whole ladder.
const WHOLE: std::ops::RangeInclusive<i32> = 3..=12;
/// What some way must reach for a row to say anything.
const REACHED: f64 = 1e-9;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

fn read(row: &Row) -> Model {
    let name = row.model;
    let text =
        fs::read_to_string(folder().join(format!("{name}.toml"))).unwrap_or_else(|error| panic!("{name}: {error}"));
    let changes: Vec<(String, f64)> = row.changes.iter().map(|(name, x)| ((*name).to_string(), *x)).collect();
    Model::read(name, &text, &changes).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()))
}

/// The table of a row, and what is wrong.
fn look(row: &Row, tolerances: &[f64]) -> (String, Vec<String>) {
    let start = Instant::now();
    let model = read(row);
    let tend = row.until.map_or_else(|| model.time.expect("an interval").1, |(tend, _)| tend);
    let case = Case { model, tend, accumulates: row.accumulates, max_steps: 0 };
    let mut table = format!("{} up to {tend}", row.model);
    if let Some((_, why)) = row.until {
        let _ = write!(table, " ({why})");
    }
    if row.grows.0 > 1.0 {
        let _ = write!(table, " (errors grow {} times: {})", row.grows.0, row.grows.1);
    }
    if let Some(why) = row.motion_only {
        let _ = write!(table, " (multipliers do not count: {why})");
    }
    let unknowns = match &case.model.kind {
        ModelKind::Dae { formulas, .. } => formulas.states.len(),
        ModelKind::Motion { .. } | ModelKind::Hybrid(_) => 0,
    };
    let mut wrong = Vec::new();
    if let Some(why) = row.stops {
        let _ = writeln!(table, ": every run stops, {why}");
        for way in ways(&case.model.kind) {
            for &tolerance in tolerances {
                let case = Case { model: case.model.clone(), max_steps: Row::attempts_of(&way, unknowns), ..case };
                if row.promise(&way).stops && case.solve(&way, tolerance).is_ok() {
                    wrong.push(format!("{} {} at {tolerance:e} does not stop: {why}", row.model, way.name()));
                }
            }
        }
        return (table, wrong);
    }
    if let Some(why) = row.untrusted {
        return (format!("{table}: nothing to trust, {why}\n"), wrong);
    }
    let trusted = match Trusted::new(&case, row.counts()) {
        Ok(trusted) => trusted,
        Err(why) => return (table + "\n", vec![format!("{}: nothing to trust: {why}", row.model)]),
    };
    let _ = writeln!(table, ": trusted to {:.0e}", trusted.doubt);
    let mut reached: f64 = 1.0;
    for way in ways(&case.model.kind) {
        if Row::attempts_of(&way, unknowns) == 0 {
            let _ = writeln!(table, "  {}: too dear", way.name());
            continue;
        }
        let patience = Case { model: case.model.clone(), max_steps: Row::attempts_of(&way, unknowns), ..case };
        let climb = Climb::new(&patience, way, row.promise(&way), &trusted, tolerances);
        let _ = writeln!(table, "  {climb}");
        wrong.extend(climb.broken().iter().map(|what| format!("{} {}: {what}", row.model, way.name())));
        reached = reached.min(climb.reached());
    }
    let wanted = REACHED.max(tolerances[tolerances.len() - 1]);
    if reached > wanted {
        wrong.push(format!("{}: no way answers below {reached:e}", row.model));
    }
    let _ = writeln!(table, "  {:.1} s", start.elapsed().as_secs_f64());
    (table, wrong)
}

/// Do some work for every number below `count`, on all cores.
fn at_work(count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(|| {
                while let k = next.fetch_add(1, Ordering::Relaxed)
                    && k < count
                {
                    work(k);
                }
            });
        }
    });
}

/// Rows on all cores.
fn look_at(rows: &[&Row], powers: &[i32]) {
    let tolerances: Vec<f64> = powers.iter().map(|k| 10_f64.powi(-k)).collect();
    let looks = Mutex::new(Vec::new());
    at_work(rows.len(), |k| {
        let (table, wrong) = look(rows[k], &tolerances);
        print!("{table}");
        for what in &wrong {
            println!("  broken: {what}");
        }
        looks.lock().expect("no panic").extend(wrong);
    });
    let wrong = looks.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{} promises are broken\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_model_has_a_row() {
    let files = fs::read_dir(folder()).expect("models").map(|entry| entry.expect("a file").path());
    let files: BTreeSet<String> =
        files.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    let rows: BTreeSet<String> = ROWS.iter().map(|row| row.model.to_string()).collect();
    assert_eq!(rows.len(), ROWS.len(), "a model has two rows");
    let (without, gone): (Vec<_>, Vec<_>) = (files.difference(&rows).collect(), rows.difference(&files).collect());
    assert!(without.is_empty() && gone.is_empty(), "without a row: {without:?}; without a file: {gone:?}");
}

#[test]
fn errors_fall_with_the_tolerance() {
    look_at(&ROWS.iter().filter(|row| row.quick).collect::<Vec<_>>(), &[3, 6, 9]);
}

#[test]
#[ignore = "minutes in release"]
fn errors_of_all_models_fall_with_the_tolerance() {
    // some models alone, to look at them
    let only = std::env::var("LADDER").ok();
    let rows: Vec<&Row> = ROWS
        .iter()
        .filter(|row| only.as_ref().is_none_or(|only| only.split(',').any(|name| name == row.model)))
        .collect();
    look_at(&rows, &WHOLE.collect::<Vec<_>>());
}
