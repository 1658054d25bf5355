//! The page of a sweep: maps over two parameters, curves over one, curves over time, and what failed, in one file that needs no network.
//!
//! Text and tables are written here; maps and curves are drawn by `assets/sweep.js` from the values, which stand in the page as JSON with the digits that a picture can
//! show.

use crate::error::WriteError;
use crate::page::plots::PlotValue;
use crate::page::text::{card, escape, grouped, table};
use crate::page::{LOOKS, STYLE, fill};
use crate::run::ColumnKind;
use crate::sweep::{Sweep, SweptRun};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write;

const TEMPLATE: &str = include_str!("../../assets/sweep.html");
const COMPARISON_STYLE: &str = include_str!("../../assets/comparison.css");
const OWN_STYLE: &str = include_str!("../../assets/sweep.css");
const SCRIPT: &str = include_str!("../../assets/sweep.js");

/// Most numbers on a page: beyond, fewer times and then fewer columns are shown, so that it can still be opened.
const MOST_VALUES: usize = 500_000;
/// But no fewer times than these while columns can be left out.
const LEAST_TIMES: usize = 21;
/// Digits of a value on the page; a picture shows three or four.
const DIGITS: usize = 7;
/// Most runs in the tables of the page.
const MOST_LISTED: usize = 500;

/// What is of interest comes first.
const ORDER: [ColumnKind; 12] = [
    ColumnKind::Output,
    ColumnKind::State,
    ColumnKind::Position,
    ColumnKind::Velocity,
    ColumnKind::Dynamic,
    ColumnKind::Auxiliary,
    ColumnKind::Contact,
    ColumnKind::Variable,
    ColumnKind::Multiplier,
    ColumnKind::Acceleration,
    ColumnKind::Derivative,
    ColumnKind::Mode,
];

/// What the script draws. Values stand run by run, of a run time by time; those that are not there are `null`.
#[derive(Serialize)]
struct SweepDrawing<'s> {
    parameters: Vec<SweptParameter<'s>>,
    /// Is every combination of the values a run?
    grid: bool,
    size: usize,
    times: Option<Vec<PlotValue>>,
    columns: Vec<SweptColumn<'s>>,
}

#[derive(Serialize)]
struct SweptParameter<'s> {
    name: &'s str,
    /// The values of its axis, or of every run.
    values: Vec<PlotValue>,
}

#[derive(Serialize)]
struct SweptColumn<'s> {
    name: &'s str,
    kind: &'static str,
    values: Vec<PlotValue>,
}

/// Write the page of a sweep.
pub fn write(sweep: &Sweep, mut file: impl Write) -> Result<(), WriteError> {
    let drawing = drawing(sweep);
    let data = serde_json::to_string(&drawing).map_err(std::io::Error::from)?.replace('<', "\\u003c");
    let parts = [
        ("title", escape(&format!("{}: sweep", sweep.model))),
        ("style", STYLE.to_string()),
        ("comparison-style", COMPARISON_STYLE.to_string()),
        ("own-style", OWN_STYLE.to_string()),
        ("heading", heading(sweep)),
        ("outcome", outcome(sweep)),
        ("note", note(sweep, &drawing)),
        ("facts", facts(sweep)),
        ("failures", failures(sweep)),
        ("runs", runs(sweep)),
        ("data", data),
        ("script", format!("{LOOKS}{SCRIPT}")),
    ];
    Ok(file.write_all(fill(TEMPLATE, &parts).as_bytes())?)
}

fn drawing(sweep: &Sweep) -> SweepDrawing<'_> {
    let mut columns: Vec<usize> = (0..sweep.columns.len()).collect();
    columns.sort_by_key(|&k| ORDER.iter().position(|kind| *kind == sweep.columns[k].1));
    // first fewer times, then fewer columns
    let room = MOST_VALUES / sweep.size.max(1);
    let points = sweep.points();
    let shown = points.min((room / columns.len().max(1)).max(LEAST_TIMES));
    columns.truncate((room / shown.max(1)).max(1));
    let times: Vec<usize> = match shown {
        _ if shown == points => (0..points).collect(),
        _ => (0..shown).map(|k| k * (points - 1) / (shown - 1)).collect(),
    };
    let mut by_number: Vec<Option<&SweptRun>> = vec![None; sweep.size];
    // where a run stopped is not its end
    for run in sweep.runs.iter().filter(|run| sweep.times.is_some() || run.status.reached()) {
        if let Some(place) = by_number.get_mut(run.number) {
            *place = Some(run);
        }
    }
    let value = |run: Option<&SweptRun>, at: usize| run.and_then(|run| run.values.get(at)).copied().unwrap_or(f64::NAN);
    let of_column = |k: usize| {
        let of_run = |run: Option<&SweptRun>| {
            times.iter().map(|&i| rounded(value(run, i * sweep.columns.len() + k))).collect::<Vec<_>>()
        };
        by_number.iter().flat_map(|&run| of_run(run)).collect()
    };
    let of_parameter = |k: usize| match &sweep.grid {
        Some(grid) => grid[k].iter().map(|&x| PlotValue(x)).collect(),
        None => by_number.iter().map(|run| PlotValue(run.map_or(f64::NAN, |run| run.parameters[k]))).collect(),
    };
    let parameter = |(k, name)| SweptParameter { name, values: of_parameter(k) };
    let column =
        |&k: &usize| SweptColumn { name: &sweep.columns[k].0, kind: sweep.columns[k].1.word(), values: of_column(k) };
    SweepDrawing {
        parameters: sweep.parameters.iter().map(String::as_str).enumerate().map(parameter).collect(),
        grid: sweep.grid.is_some(),
        size: sweep.size,
        times: sweep.times.as_ref().map(|all| times.iter().map(|&i| PlotValue(all[i])).collect()),
        columns: columns.iter().map(column).collect(),
    }
}

fn rounded(x: f64) -> PlotValue {
    PlotValue(format!("{x:.*e}", DIGITS - 1).parse().unwrap_or(x))
}

fn heading(sweep: &Sweep) -> String {
    let over = escape(&sweep.parameters.join(", "));
    format!("<h1>{}</h1>\n<p class=\"description\">Runs with other values of {over}</p>\n", escape(&sweep.model))
}

fn outcome(sweep: &Sweep) -> String {
    let reached = sweep.runs.iter().filter(|run| run.status.reached()).count();
    let (stopped, absent) = (sweep.runs.len() - reached, sweep.size - sweep.runs.len().min(sweep.size));
    let class = if reached > 0 { "end" } else { "failure" };
    let mut said = format!("{reached} of {} runs reached the end", sweep.size);
    if stopped > 0 {
        let _ = write!(said, ", <a href=\"#failures\">{stopped} stopped before</a>");
    }
    if absent > 0 {
        let _ = write!(said, ", {absent} were not made");
    }
    format!("<div class=\"ending {class}\"><p class=\"said\">{said}</p></div>\n")
}

/// What the page leaves out.
fn note(sweep: &Sweep, drawing: &SweepDrawing) -> String {
    let (points, shown) = (sweep.points(), drawing.times.as_ref().map_or(1, Vec::len));
    let mut said = Vec::new();
    if shown < points {
        said.push(format!("{shown} of {points} times"));
    }
    if drawing.columns.len() < sweep.columns.len() {
        said.push(format!("{} of {} columns", drawing.columns.len(), sweep.columns.len()));
    }
    if said.is_empty() {
        return String::new();
    }
    format!("<p class=\"note\">The page shows {}. A file of NumPy arrays has them all.</p>\n", said.join(" and "))
}

fn facts(sweep: &Sweep) -> String {
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        values.for_each(|x| (low, high) = (low.min(x), high.max(x)));
        [low, high].map(|x| format!("{x:?}"))
    };
    let row = |(k, name): (usize, &String)| {
        let (count, [low, high]) = match &sweep.grid {
            Some(grid) => (grid[k].len(), range(&mut grid[k].iter().copied())),
            None => (sweep.runs.len(), range(&mut sweep.runs.iter().map(|run| run.parameters[k]))),
        };
        vec![name.clone(), count.to_string(), low, high]
    };
    let varied = table(&["parameter", "values", "from", "to"], sweep.parameters.iter().enumerate().map(row));
    let kept = match &sweep.times {
        Some(times) => match (times.first(), times.last()) {
            (Some(first), Some(last)) => format!("{} times from t = {first:?} to {last:?}", times.len()),
            _ => "no times".to_string(),
        },
        None => "the end of every run".to_string(),
    };
    let steps = sweep.runs.iter().map(|run| run.steps).sum();
    let mut rows = vec![
        vec!["runs".to_string(), grouped(sweep.size as u64)],
        vec![
            "combined".to_string(),
            if sweep.grid.is_some() { "every value with every other" } else { "row by row" }.into(),
        ],
        vec!["kept".to_string(), kept],
        vec!["accepted steps of all runs".to_string(), grouped(steps)],
    ];
    let seconds: Vec<f64> = sweep.runs.iter().filter_map(|run| run.seconds).collect();
    if !seconds.is_empty() {
        rows.push(vec!["computing time of all runs".to_string(), format!("{:.3} s", seconds.iter().sum::<f64>())]);
    }
    format!("{}{}", card("What was varied", &varied), card("What was made", &table(&[], rows.into_iter())))
}

/// Runs that stopped, with their reasons.
fn failures(sweep: &Sweep) -> String {
    let stopped: Vec<&SweptRun> = sweep.runs.iter().filter(|run| !run.status.reached()).collect();
    if stopped.is_empty() {
        return String::new();
    }
    let mut heads: Vec<&str> = sweep.parameters.iter().map(String::as_str).collect();
    heads.extend(["t", "why"]);
    let row = |run: &&SweptRun| {
        let numbers =
            run.parameters.iter().chain([&run.t_end]).map(|x| if x.is_nan() { "–".into() } else { format!("{x:?}") });
        numbers.chain([run.message.clone()]).collect()
    };
    let rows = stopped.iter().take(MOST_LISTED).map(row);
    let more = more(stopped.len());
    format!(
        "<section class=\"card\" id=\"failures\"><h2>Runs that stopped</h2><div class=\"scroll\">{}</div>{more}</section>\n",
        table(&heads, rows)
    )
}

/// All runs, folded.
fn runs(sweep: &Sweep) -> String {
    let mut heads: Vec<&str> = vec!["run"];
    heads.extend(sweep.parameters.iter().map(String::as_str));
    heads.extend(["ended", "t", "steps"]);
    let row = |run: &SweptRun| {
        let parameters = run.parameters.iter().map(|x| format!("{x:?}"));
        let told = [run.status.word().to_string(), format!("{:?}", run.t_end), grouped(run.steps)];
        [run.number.to_string()].into_iter().chain(parameters).chain(told).collect()
    };
    let rows = sweep.runs.iter().take(MOST_LISTED).map(row);
    format!(
        "<details class=\"card folded\" id=\"runs\"><summary><h2>Runs</h2> <span class=\"count\">{}</span></summary><div class=\"scroll\">{}</div>{}</details>\n",
        sweep.runs.len(),
        table(&heads, rows),
        more(sweep.runs.len())
    )
}

fn more(count: usize) -> String {
    match count.checked_sub(MOST_LISTED) {
        Some(left) if left > 0 => format!("<p class=\"note\">and {left} more</p>"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::example;

    fn page(sweep: &Sweep) -> String {
        let mut bytes = Vec::new();
        write(sweep, &mut bytes).expect("a page");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn every_place_of_the_template_has_its_part() {
        for times in [None, Some(vec![0.0, 2.5, 5.0])] {
            let page = page(&example::sweep(times));
            assert!(!page.contains("{{"), "a place is left open");
            assert!(page.contains("1 of 2 runs reached the end") && page.contains("it stopped"));
        }
        // a sweep of nothing
        assert!(!page(&Sweep::default()).contains("{{"));
    }

    #[test]
    fn outputs_come_first_and_runs_that_were_not_made_are_gaps() {
        let mut sweep = example::sweep(Some(vec![0.0, 1.0]));
        sweep.runs.remove(0);
        let drawn = drawing(&sweep);
        assert_eq!(drawn.columns.iter().map(|column| column.name).collect::<Vec<_>>(), ["steps", "x"]);
        let values = serde_json::to_string(&drawn.columns[0].values).expect("JSON");
        assert_eq!(values, "[null,null,11.0,13.0]");
        assert!(
            page(&sweep)
                .contains("0 of 2 runs reached the end, <a href=\"#failures\">1 stopped before</a>, 1 were not made")
        );
    }

    #[test]
    fn where_a_run_stopped_is_not_its_end() {
        let drawn = serde_json::to_string(&drawing(&example::sweep(None)).columns[1].values).expect("JSON");
        assert_eq!(drawn, "[0.0,null]");
    }

    #[test]
    fn large_sweeps_show_fewer_times_and_then_fewer_columns() {
        let mut sweep = example::sweep(Some((0..1000).map(f64::from).collect()));
        sweep.size = 5000;
        let drawn = drawing(&sweep);
        let times = drawn.times.as_ref().expect("times");
        assert_eq!((times.len(), times[0].0, times[times.len() - 1].0), (50, 0.0, 999.0));
        assert!(page(&sweep).contains("The page shows 50 of 1000 times."));
        sweep.size = 20_000;
        let drawn = drawing(&sweep);
        assert_eq!((drawn.times.as_ref().expect("times").len(), drawn.columns.len()), (LEAST_TIMES, 1));
    }

    #[test]
    fn no_name_can_leave_its_place() {
        let evil = "</script><img src=x onerror=alert(1)>&\"'";
        let mut sweep = example::sweep(None);
        sweep.model = evil.into();
        sweep.parameters[0] = evil.into();
        sweep.columns[0].0 = evil.into();
        sweep.runs[1].message = evil.into();
        let page = page(&sweep);
        assert!(!page.contains("<img"));
        assert_eq!(page.matches("</script").count(), TEMPLATE.matches("</script").count());
    }
}
