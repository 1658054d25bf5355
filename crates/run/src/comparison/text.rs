//! A comparison as text for a terminal: an aligned table, then what did not reach the end.

use super::{ComparedRun, Comparison, Counters, KINDS, Timing};
use std::fmt::Write;

/// A column of the table.
struct TextColumn {
    head: &'static str,
    /// without any value the column is not shown
    optional: bool,
    cell: fn(&Comparison, &ComparedRun) -> Option<String>,
}

const fn column(head: &'static str, cell: fn(&Comparison, &ComparedRun) -> Option<String>) -> TextColumn {
    TextColumn { head, optional: false, cell }
}

const fn optional(head: &'static str, cell: fn(&Comparison, &ComparedRun) -> Option<String>) -> TextColumn {
    TextColumn { head, optional: true, cell }
}

const COLUMNS: [TextColumn; 20] = [
    column("method", |_, run| Some(run.method.clone())),
    column("formulation", |_, run| Some(run.formulation.clone())),
    column("tolerance", |_, run| Some(format!("{:e}", run.tolerance))),
    column("steps", |_, run| count(run, |c| c.steps)),
    column("rejected", |_, run| count(run, |c| c.rejected_error + c.rejected_newton)),
    column("evaluations", |_, run| count(run, |c| c.residuals)),
    column("Jacobians", |_, run| count(run, |c| c.jacobians)),
    column("time", |_, run| run.seconds.map(duration)),
    column("spread", |_, run| run.spread.filter(|_| run.repeats > 1).map(|spread| format!("{:.0} %", 100.0 * spread))),
    optional("error p", |all, run| error(all, run, 0)),
    optional("error v", |all, run| error(all, run, 1)),
    optional("error λ", |all, run| error(all, run, 2)),
    optional("error x", |all, run| error(all, run, 3)),
    optional("error switches", |all, run| error(all, run, 4)),
    optional("max g", |_, run| run.max_residual.position.map(short)),
    optional("max gI", |_, run| run.max_residual.velocity.map(short)),
    optional("max gII", |_, run| run.max_residual.acceleration.map(short)),
    optional("max stated", |_, run| run.max_residual.constraint.map(short)),
    optional("max hidden", |_, run| run.max_residual.hidden.map(short)),
    optional("drift", |_, run| run.drift.map(short)),
];

/// The table with all that belongs to it.
pub fn text(comparison: &Comparison) -> String {
    let mut text = heading(comparison);
    let (heads, rows) = table(comparison);
    if !rows.is_empty() {
        text.push('\n');
        lines(&mut text, &heads, &rows);
    }
    if comparison.succeeded().any(|run| (0..KINDS.len()).any(|kind| unresolved(comparison, run, kind))) {
        text.push_str("* not resolved: below the accuracy of the reference\n");
    }
    let failures = failures(comparison);
    if !failures.is_empty() {
        let _ = writeln!(text, "\ndid not reach the end");
        let width = failures.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, why) in failures {
            let _ = writeln!(text, "  {name:<width$}  {why}");
        }
    }
    text
}

/// Heads and cells of the runs that reached the end.
pub fn table(comparison: &Comparison) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let runs: Vec<&ComparedRun> = comparison.succeeded().collect();
    let there =
        |column: &&TextColumn| !column.optional || runs.iter().any(|run| (column.cell)(comparison, run).is_some());
    let columns: Vec<&TextColumn> = COLUMNS.iter().filter(there).collect();
    let cell =
        |column: &&TextColumn, run: &ComparedRun| (column.cell)(comparison, run).unwrap_or_else(|| "–".to_string());
    let rows = runs.iter().map(|run| columns.iter().map(|column| cell(column, run)).collect()).collect();
    (columns.iter().map(|column| column.head).collect(), rows)
}

/// Runs that did not reach the end, with the reason; those of a method and formulation that failed alike stand together.
pub fn failures(comparison: &Comparison) -> Vec<(String, &str)> {
    let mut list: Vec<(&ComparedRun, String, &str)> = Vec::new();
    for (run, why) in comparison.failed() {
        match list.last_mut() {
            Some((last, said, reason))
                if *reason == why && last.method == run.method && last.formulation == run.formulation =>
            {
                let _ = write!(said, ", {:e}", run.tolerance);
            }
            _ => list.push((run, name(run), why)),
        }
    }
    list.into_iter().map(|(_, said, why)| (said, why)).collect()
}

/// What errors and times are.
pub fn explanation(comparison: &Comparison) -> Vec<String> {
    let reference = &comparison.reference;
    let mut said = Vec::new();
    if reference.source.is_empty() {
        said.push("there is no reference: errors are not known".to_string());
    } else {
        let trusted: Vec<String> = KINDS
            .into_iter()
            .zip(reference.accuracy.list())
            .filter_map(|((_, kind), accuracy)| Some(format!("{kind} {}", short(accuracy?))))
            .collect();
        let there = |kind: usize| comparison.runs.iter().any(|run| run.error.list()[kind].is_some());
        let kinds: Vec<&str> = (0..KINDS.len()).filter(|&kind| there(kind)).map(|kind| KINDS[kind].0).collect();
        let kinds = if kinds.is_empty() { String::new() } else { format!(" of {}", kinds.join(", ")) };
        let trusted = if trusted.is_empty() { String::new() } else { format!(", trusted to {}", trusted.join(", ")) };
        let check = reference.check.as_ref().map_or(String::new(), |check| format!("; {check}"));
        said.push(format!(
            "errors at t = {:?}: largest |x − x̂| / max(1, |x̂|){kinds}; reference: {}{trusted}{check}",
            comparison.tend, reference.source
        ));
    }
    if !reference.undetermined.is_empty() {
        let names = reference.undetermined.join(", ");
        said.push(format!("undetermined multipliers are left out of the errors: {names}"));
    }
    let Timing { jobs, timeout } = comparison.timing;
    let beside = if jobs == 1 { "one run at a time".to_string() } else { format!("{jobs} runs at the same time") };
    said.push(format!(
        "times: shortest of some repetitions on one thread each, {beside}, without initial values; a run is stopped after {timeout:?} s"
    ));
    said
}

fn heading(comparison: &Comparison) -> String {
    let colon = if comparison.description.is_empty() { "" } else { ": " };
    let mut text = format!("{}{colon}{}\n", comparison.model, comparison.description);
    for said in explanation(comparison).iter().chain(&comparison.notes) {
        let _ = writeln!(text, "{said}");
    }
    text
}

fn lines(text: &mut String, heads: &[&str], rows: &[Vec<String>]) {
    let width = |k: usize| rows.iter().map(|row| row[k].chars().count()).chain([heads[k].chars().count()]).max();
    let widths: Vec<usize> = (0..heads.len()).map(|k| width(k).unwrap_or(0)).collect();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::new();
        for (k, (cell, &width)) in cells.zip(&widths).enumerate() {
            // names stand left, numbers right
            let _ = match k {
                0 => write!(line, "{cell:<width$}"),
                1 => write!(line, "  {cell:<width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    };
    line(&mut heads.iter().copied());
    for row in rows {
        line(&mut row.iter().map(String::as_str));
    }
}

/// A run in words.
pub fn name(run: &ComparedRun) -> String {
    format!("{} {} {:e}", run.method, run.formulation, run.tolerance)
}

fn count(run: &ComparedRun, read: fn(&Counters) -> u64) -> Option<String> {
    run.counters.as_ref().map(|counters| read(counters).to_string())
}

fn error(comparison: &Comparison, run: &ComparedRun, kind: usize) -> Option<String> {
    let mark = if unresolved(comparison, run, kind) { "*" } else { "" };
    run.error.list()[kind].map(|error| format!("{}{mark}", short(error)))
}

fn unresolved(comparison: &Comparison, run: &ComparedRun, kind: usize) -> bool {
    run.error.list()[kind].is_some_and(|error| !comparison.resolves(kind, error))
}

/// Two digits.
pub fn short(x: f64) -> String {
    if x == 0.0 { "0".to_string() } else { format!("{x:.1e}") }
}

/// Seconds with a prefix.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::example::comparison;

    #[test]
    fn the_table_is_aligned_and_marks_what_is_not_resolved() {
        let text = text(&comparison());
        let table: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("method")).take(6).collect();
        assert!(table.iter().all(|line| line.chars().count() == table[0].chars().count()), "{text}");
        assert!(table[3].contains("1.0e-6*") && !table[1].contains('*'), "{text}");
        assert!(!table[0].contains("λ"), "no run has errors of multipliers: {text}");
        assert!(text.contains("* not resolved"));
    }

    #[test]
    fn failures_stand_below_with_their_reason() {
        let text = text(&comparison());
        assert!(text.contains("radau ggl 1e-4  stopped after 10 s at t = 0.5"), "{text}");
        let mut more = comparison();
        more.runs[5].failure = more.runs[4].failure.clone();
        more.runs[0].failure = more.runs[4].failure.clone();
        let failures = failures(&more);
        let names: Vec<&str> = failures.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["geoms psf 1e-3", "radau ggl 1e-4, 1e-5"]);
    }

    #[test]
    fn times_have_a_prefix() {
        assert_eq!(duration(2.5e-5), "25.0 µs");
        assert_eq!(duration(0.25), "250.00 ms");
        assert_eq!(duration(12.0), "12.00 s");
    }
}
