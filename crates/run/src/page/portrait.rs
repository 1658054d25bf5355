//! The phase portrait of a run through several modes: one column against another, in the colours of the modes.
//!
//! The curves of the other plots are used where they hold every point. Where they were reduced, their values do not belong to the same
//! times any more; then the portrait has fewer points of its own.

use crate::decimate::Buckets;
use crate::page::plots::{PageDrawing, PlotValue};
use crate::run::{Column, ColumnKind, Run};
use serde::Serialize;
use std::fmt::Write;

/// Most numbers of a portrait that has points of its own.
const MOST_VALUES: usize = 200_000;
/// Its points, at least and at most.
const ROWS: (usize, usize) = (1_000, 20_000);

/// Columns to choose from, and those that are drawn at first.
#[derive(Serialize)]
pub struct Portrait {
    columns: Vec<PortraitColumn>,
    x: usize,
    y: usize,
    /// times of points of its own
    t: Option<Vec<PlotValue>>,
    /// active mode at each point
    mode: Vec<Option<usize>>,
    /// number of rows of the run
    rows: usize,
}

/// A column.
#[derive(Serialize)]
struct PortraitColumn {
    name: String,
    /// plot and place of its curve
    curve: Option<(usize, usize)>,
    /// values, where the curve was reduced
    values: Option<Vec<PlotValue>>,
}

/// The portrait of a run; none without two columns, points and modes.
pub fn portrait(run: &Run, drawing: &PageDrawing) -> Option<Portrait> {
    let modes = run.columns.iter().find(|column| column.kind == ColumnKind::Mode)?;
    let columns: Vec<&Column> = run
        .columns
        .iter()
        .filter(|column| column.kind != ColumnKind::Mode && column.values.iter().any(|x| !x.is_nan()))
        .collect();
    if columns.len() < 2 || run.times.len() < 2 || run.hybrid.is_none() {
        return None;
    }
    let most = (MOST_VALUES / columns.len()).clamp(ROWS.0, ROWS.1);
    let rows = if drawing.is_reduced() {
        // two rows of each bucket
        Buckets::crowded(&run.times, 2 * most).ends(run.times.len())
    } else {
        (0..run.times.len()).collect()
    };
    let kept = |values: &[f64]| -> Vec<PlotValue> { rows.iter().map(|&k| PlotValue(values[k])).collect() };
    let choice = |column: &&Column| PortraitColumn {
        name: column.name.clone(),
        curve: drawing.curve(&column.name, column.kind).filter(|_| !drawing.is_reduced()),
        values: drawing.is_reduced().then(|| kept(&column.values)),
    };
    let mode = |&k: &usize| (modes.values[k] >= 0.0).then_some(modes.values[k] as usize);
    let (x, y) = first_choice(&columns);
    Some(Portrait {
        t: drawing.is_reduced().then(|| kept(&run.times)),
        columns: columns.iter().map(choice).collect(),
        x,
        y,
        mode: rows.iter().map(mode).collect(),
        rows: run.times.len(),
    })
}

/// The first position against the first velocity, else the first two states, else the first two columns.
fn first_choice(columns: &[&Column]) -> (usize, usize) {
    let place = |kind: ColumnKind, skip: usize| {
        let mut places = columns.iter().enumerate().filter(|(_, column)| column.kind == kind).map(|(k, _)| k);
        places.nth(skip)
    };
    let motion = place(ColumnKind::Position, 0).zip(place(ColumnKind::Velocity, 0));
    let states = place(ColumnKind::State, 0).zip(place(ColumnKind::State, 1));
    motion.or(states).unwrap_or((0, 1))
}

/// Its place in the page.
pub fn section(portrait: Option<&Portrait>) -> String {
    let Some(portrait) = portrait else { return String::new() };
    let mut html =
        "<details class=\"plot\" id=\"portrait\" open><summary><h2>Phase portrait</h2><span class=\"count\">one \
                    variable against another</span></summary>\n"
            .to_string();
    let (drawn, rows) = (portrait.mode.len(), portrait.rows);
    if drawn < rows {
        let _ = writeln!(html, "<p class=\"note\">{drawn} of {rows} points are drawn. The run file has them all.</p>");
    }
    html.push_str("<figure></figure></details>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_choice_is_a_phase_plane() {
        use ColumnKind::{Auxiliary, Position, State, Velocity};
        let column = |kind: ColumnKind| Column::new("x", kind, Vec::new());
        let choice = |kinds: &[ColumnKind]| {
            let columns: Vec<Column> = kinds.iter().map(|&kind| column(kind)).collect();
            first_choice(&columns.iter().collect::<Vec<_>>())
        };
        assert_eq!(choice(&[Position, Position, Velocity, Velocity]), (0, 2));
        assert_eq!(choice(&[Auxiliary, State, State, State]), (1, 2));
        assert_eq!(choice(&[Auxiliary, State, Auxiliary]), (0, 1));
    }
}
