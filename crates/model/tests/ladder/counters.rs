//! Frozen counters: what every way does with every shipped model at one tolerance.
//!
//! A change of the program that is none of its numerics changes no line of `counters.txt`: `DAEDAL_COUNTERS=exact` asserts it. Where numerics
//! change on purpose, `DAEDAL_BLESS=1` writes the table anew, and the difference is to be explained.

use super::rows::{ROWS, Row};
use super::run::{CHOSEN, Case, ways};
use super::{at_work, read};
use daedal::Statistics;
use daedal_model::ModelKind;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const TOLERANCE: f64 = 1e-6;
/// Differences that are shown.
const MOST_SHOWN: usize = 30;
/// Part of the ways that may differ from machine to machine: kernels of large matrices round as their processor does.
const OTHER_MACHINE: f64 = 0.02;

fn table() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ladder/counters.txt")
}

fn line(counters: &Statistics) -> String {
    let Statistics { steps, rejected_error, rejected_newton, residuals, jacobians, selectors, .. } = counters;
    let Statistics { predecompositions, decompositions, solves, .. } = counters;
    format!(
        "{steps} steps, {rejected_error} + {rejected_newton} rejected, {residuals} evaluations, {jacobians} Jacobians, {selectors} selectors, {predecompositions} + {decompositions} decompositions, {solves} solves"
    )
}

/// What all ways do with a model, by their names.
fn counters(row: &Row) -> Vec<(String, String)> {
    let model = read(row);
    let tend = row.until.map_or_else(|| model.time.expect("an interval").1, |(tend, _)| tend);
    let unknowns = match &model.kind {
        ModelKind::Dae { formulas, .. } => formulas.states.len(),
        ModelKind::Motion { .. } | ModelKind::Hybrid(_) => 0,
    };
    let done = |way| {
        let max_steps = Row::attempts_of(&way, unknowns);
        let case = Case { model: model.clone(), tend, accumulates: row.accumulates, max_steps };
        let what = match case.solve(&way, TOLERANCE) {
            Ok(found) => line(&found.statistics),
            Err(_) => "stops".to_string(),
        };
        (format!("{} {}", row.model, way.name()), what)
    };
    // what is chosen has its counters under its name
    let affordable = ways(&model.kind).into_iter().filter(|way| *way != CHOSEN && Row::attempts_of(way, unknowns) > 0);
    affordable.map(done).collect()
}

#[test]
fn counters_are_those_that_were_frozen() {
    let found = Mutex::new(BTreeMap::new());
    at_work(ROWS.len(), |k| found.lock().expect("no panic").extend(counters(&ROWS[k])));
    let found = found.into_inner().expect("no panic");
    if std::env::var("DAEDAL_BLESS").is_ok() {
        let text = found.iter().fold(String::new(), |mut text, (way, what)| {
            let _ = writeln!(text, "{way}: {what}");
            text
        });
        fs::write(table(), text).expect("the table can be written");
        return;
    }
    let text = fs::read_to_string(table()).expect("the table of counters");
    let frozen: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once(": ")).collect();
    let mut differences = Vec::new();
    for (way, what) in &found {
        match frozen.get(way.as_str()) {
            Some(was) if was == what => {}
            Some(was) => differences.push(format!("{way}\n  was {was}\n  is  {what}")),
            None => differences.push(format!("{way} is new: {what}")),
        }
    }
    differences.extend(frozen.keys().filter(|way| !found.contains_key(**way)).map(|way| format!("{way} is gone")));
    let shown = differences.iter().take(MOST_SHOWN).cloned().collect::<Vec<_>>().join("\n");
    let exact = std::env::var("DAEDAL_COUNTERS").is_ok_and(|how| how == "exact");
    let most = if exact { 0.0 } else { OTHER_MACHINE * found.len() as f64 };
    assert!(differences.len() as f64 <= most, "{} of {} ways differ\n{shown}", differences.len(), found.len());
}
