//! The phase portrait of a run through several modes: one column against another, in the colours of the modes.
//!
//! The curves of the other plots are used where they hold every point. Where they were reduced, their values do not belong to the same
//! times any more; then the portrait has points of its own, every k-th row.

use crate::page::plots::{Drawing, Value};
use crate::run::{Column, Kind, Run};
use serde::Serialize;
use std::fmt::Write;

/// Most numbers of a portrait that has points of its own.
const MOST_VALUES: usize = 200_000;
/// Its points, at least and at most.
const ROWS: (usize, usize) = (1_000, 20_000);

/// Columns to choose from, and those that are drawn at first.
#[derive(Serialize)]
pub struct Portrait {
    columns: Vec<Choice>,
    x: usize,
    y: usize,
    /// times of points of its own
    t: Option<Vec<Value>>,
    /// active mode at each point
    mode: Vec<Option<usize>>,
    /// every how many rows there is a point
    stride: usize,
}

/// A column.
#[derive(Serialize)]
struct Choice {
    name: String,
    /// plot and place of its curve
    curve: Option<(usize, usize)>,
    /// values, where the curve was reduced
    values: Option<Vec<Value>>,
}

/// The portrait of a run; none without two columns, points and modes.
pub fn portrait(run: &Run, drawing: &Drawing) -> Option<Portrait> {
    let modes = run.columns.iter().find(|column| column.kind == Kind::Mode)?;
    let columns: Vec<&Column> = run
        .columns
        .iter()
        .filter(|column| column.kind != Kind::Mode && column.values.iter().any(|x| !x.is_nan()))
        .collect();
    if columns.len() < 2 || run.times.len() < 2 || run.hybrid.is_none() {
        return None;
    }
    let most = (MOST_VALUES / columns.len()).clamp(ROWS.0, ROWS.1);
    let stride = if drawing.is_reduced() { run.times.len().div_ceil(most) } else { 1 };
    let choice = |column: &&Column| Choice {
        name: column.name.clone(),
        curve: drawing.curve(&column.name, column.kind).filter(|_| !drawing.is_reduced()),
        values: drawing.is_reduced().then(|| column.values.iter().step_by(stride).map(|&x| Value(x)).collect()),
    };
    let mode = |&x: &f64| (x >= 0.0).then_some(x as usize);
    let (x, y) = first_choice(&columns);
    let t = || run.times.iter().step_by(stride).map(|&t| Value(t)).collect();
    Some(Portrait {
        t: drawing.is_reduced().then(t),
        columns: columns.iter().map(choice).collect(),
        x,
        y,
        mode: modes.values.iter().step_by(stride).map(mode).collect(),
        stride,
    })
}

/// The first position against the first velocity, else the first two states, else the first two columns.
fn first_choice(columns: &[&Column]) -> (usize, usize) {
    let place = |kind: Kind, skip: usize| {
        let mut places = columns.iter().enumerate().filter(|(_, column)| column.kind == kind).map(|(k, _)| k);
        places.nth(skip)
    };
    let motion = place(Kind::Position, 0).zip(place(Kind::Velocity, 0));
    let states = place(Kind::State, 0).zip(place(Kind::State, 1));
    motion.or(states).unwrap_or((0, 1))
}

/// Its place in the page.
pub fn section(portrait: Option<&Portrait>) -> String {
    let Some(portrait) = portrait else { return String::new() };
    let mut html =
        "<details class=\"plot\" id=\"portrait\" open><summary><h2>Phase portrait</h2><span class=\"count\">one \
                    variable against another</span></summary>\n"
            .to_string();
    if portrait.stride > 1 {
        let _ = writeln!(
            html,
            "<p class=\"note\">Only one of {} points is drawn. The run file has them all.</p>",
            portrait.stride
        );
    }
    html.push_str("<figure></figure></details>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_choice_is_a_phase_plane() {
        let column = |kind: Kind| Column::new("x", kind, Vec::new());
        let choice = |kinds: &[Kind]| {
            let columns: Vec<Column> = kinds.iter().map(|&kind| column(kind)).collect();
            first_choice(&columns.iter().collect::<Vec<_>>())
        };
        use Kind::{Auxiliary, Position, State, Velocity};
        assert_eq!(choice(&[Position, Position, Velocity, Velocity]), (0, 2));
        assert_eq!(choice(&[Auxiliary, State, State, State]), (1, 2));
        assert_eq!(choice(&[Auxiliary, State, Auxiliary]), (0, 1));
    }
}
