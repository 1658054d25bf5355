//! The runs of a comparison as a table of text; cells of numbers that do not exist are empty.

use super::{ComparedRun, Comparison};
use crate::error::WriteError;
use std::io::Write;

/// Names of the columns.
pub const HEADS: [&str; 27] = [
    "method",
    "formulation",
    "tolerance",
    "t_end",
    "steps",
    "rejected_error",
    "rejected_newton",
    "residuals",
    "jacobians",
    "decompositions",
    "solves",
    "seconds",
    "spread",
    "repeats",
    "error_position",
    "error_velocity",
    "error_multiplier",
    "error_state",
    "error_switch",
    "residual_position",
    "residual_velocity",
    "residual_acceleration",
    "residual_constraint",
    "residual_hidden",
    "drift",
    "ended",
    "failure",
];

/// Write a comparison.
pub fn write(comparison: &Comparison, file: impl Write) -> Result<(), WriteError> {
    let mut table = ::csv::Writer::from_writer(file);
    table.write_record(HEADS).map_err(std::io::Error::from)?;
    for run in &comparison.runs {
        table.write_record(row(run)).map_err(std::io::Error::from)?;
    }
    Ok(table.flush()?)
}

fn row(run: &ComparedRun) -> Vec<String> {
    let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:?}"));
    let c = run.counters;
    let counts = [
        c.map(|c| c.steps),
        c.map(|c| c.rejected_error),
        c.map(|c| c.rejected_newton),
        c.map(|c| c.residuals),
        c.map(|c| c.jacobians),
        c.map(|c| c.decompositions),
        c.map(|c| c.solves),
    ];
    let mut row = vec![run.method.clone(), run.formulation.clone(), format!("{:e}", run.tolerance), number(run.t_end)];
    row.extend(counts.map(|count| count.map_or(String::new(), |count| count.to_string())));
    row.extend([number(run.seconds), number(run.spread), run.repeats.to_string()]);
    row.extend(run.error.list().map(number));
    row.extend(run.max_residual.list().map(number));
    row.push(number(run.drift));
    row.push(if run.failure.is_none() { "end" } else { "failure" }.to_string());
    row.push(run.failure.clone().unwrap_or_default());
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::example::comparison;

    #[test]
    fn every_run_is_a_row_with_all_columns() {
        let mut bytes = Vec::new();
        write(&comparison(), &mut bytes).expect("a table");
        let mut table = ::csv::Reader::from_reader(&*bytes);
        assert_eq!(table.headers().expect("heads").iter().collect::<Vec<_>>(), HEADS);
        let rows: Vec<::csv::StringRecord> = table.records().map(|row| row.expect("a row")).collect();
        assert_eq!(rows.len(), 6);
        assert_eq!(&rows[0][2], "1e-3");
        assert_eq!((&rows[4][11], &rows[4][25], &rows[4][26]), ("", "failure", "stopped after 10 s at t = 0.5"));
    }
}
