//! Columns as a table of text: one line of names, one row for every time, digits that give the same number back.
//! Names with commas, quotes or line breaks are quoted. NaN and infinity are written `NaN`, `inf`, `-inf`.
//! A table knows nothing but columns: no header, no kinds, no steps.

use crate::error::{ReadError, WriteError};
use crate::run::{Column, Kind, Run};
use std::io::{Read, Write};

/// Write times and columns.
pub fn write(run: &Run, file: impl Write) -> Result<(), WriteError> {
    run.check()?;
    let mut table = ::csv::Writer::from_writer(file);
    let names = run.columns.iter().map(|column| column.name.as_str());
    table.write_record(["t"].into_iter().chain(names)).map_err(std::io::Error::from)?;
    for (k, t) in run.times.iter().enumerate() {
        let row = [*t].into_iter().chain(run.columns.iter().map(|column| column.values[k]));
        table.write_record(row.map(|x| format!("{x:?}"))).map_err(std::io::Error::from)?;
    }
    Ok(table.flush()?)
}

/// Read times and columns.
pub fn read(file: impl Read) -> Result<Run, ReadError> {
    let mut table = ::csv::Reader::from_reader(file);
    let names = table.headers()?.clone();
    match names.get(0) {
        Some("t") => {}
        other => return Err(ReadError::TimeColumn { found: other.unwrap_or_default().to_string() }),
    }
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    let mut row = ::csv::StringRecord::new();
    while table.read_record(&mut row)? {
        for ((cell, name), values) in row.iter().zip(&names).zip(&mut values) {
            let value = cell.trim().parse().map_err(|_| ReadError::Cell {
                line: row.position().map_or(0, ::csv::Position::line),
                column: name.to_string(),
                text: cell.to_string(),
            })?;
            values.push(value);
        }
    }
    let times = values.remove(0);
    let columns = names.iter().skip(1).zip(values);
    let columns = columns.map(|(name, values)| Column::new(name, Kind::Variable, values)).collect();
    let run = Run { times, columns, ..Run::default() };
    run.check()?;
    Ok(run)
}
