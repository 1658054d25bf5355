//! Columns as a table of text: one line of names, one row for every time, digits that give the same number back.
//! Names with commas, quotes or line breaks are quoted. NaN and infinity are written `NaN`, `inf`, `-inf`; a value that the active mode
//! does not have is an empty cell, which is read as NaN.
//! A table knows nothing but columns: no header, no kinds, no steps.

use crate::error::{ReadError, WriteError};
use crate::hybrid::{Continuity, ModeHistory};
use crate::run::{Column, ColumnKind, EventRecord, Run};
use std::io::{Read, Write};

/// Write times and columns.
pub fn write(run: &Run, file: impl Write) -> Result<(), WriteError> {
    run.check()?;
    let mut table = ::csv::Writer::from_writer(file);
    let names = run.columns.iter().map(|column| column.name.as_str());
    table.write_record(["t"].into_iter().chain(names)).map_err(std::io::Error::from)?;
    let modes = run.columns.iter().find(|column| column.kind == ColumnKind::Mode);
    for (k, t) in run.times.iter().enumerate() {
        let mode = modes.and_then(|modes| run.hybrid.as_ref()?.modes.get(modes.values[k] as usize));
        let cell = |column: &Column| match (column.values[k], mode) {
            (x, Some(mode)) if x.is_nan() && !mode.determines(&column.name) => String::new(),
            (x, _) => format!("{x:?}"),
        };
        let row = [format!("{t:?}")].into_iter().chain(run.columns.iter().map(cell));
        table.write_record(row).map_err(std::io::Error::from)?;
    }
    Ok(table.flush()?)
}

/// Write what happened, one row each. With modes these are the switches, modes by their names; jumps are `name:before:after`, impulses
/// `name:value`, or `name:value:order` for derivatives of δ, apart by spaces; an event that does not switch has the kind `event`. Without modes these are the events, with the values of
/// all columns.
pub fn write_events(run: &Run, file: impl Write) -> Result<(), WriteError> {
    run.check()?;
    let mut table = ::csv::Writer::from_writer(file);
    let mut rows = match &run.hybrid {
        Some(hybrid) => {
            let heads = ["time", "from", "to", "condition", "kind", "smoothness", "chattering", "jumps", "impulses"];
            table.write_record(heads).map_err(std::io::Error::from)?;
            switches(run, hybrid)
        }
        None => {
            let names = run.columns.iter().map(|column| column.name.as_str());
            table.write_record(["time", "event"].into_iter().chain(names)).map_err(std::io::Error::from)?;
            let row = |event: &EventRecord| {
                let values = event.state.iter().map(|x| format!("{x:?}"));
                (event.t, [format!("{:?}", event.t), event.name.clone()].into_iter().chain(values).collect())
            };
            run.events.iter().map(row).collect()
        }
    };
    // in the order of the run
    let backward = run.header.t0.zip(run.header.tend).is_some_and(|(t0, tend)| tend < t0);
    rows.sort_by(|a, b| if backward { b.0.total_cmp(&a.0) } else { a.0.total_cmp(&b.0) });
    for (_, row) in &rows {
        table.write_record(row).map_err(std::io::Error::from)?;
    }
    Ok(table.flush()?)
}

/// Events and switches with their times; an event stands before the switch of the same time.
fn switches(run: &Run, hybrid: &ModeHistory) -> Vec<(f64, Vec<String>)> {
    let mut rows = Vec::new();
    let modes = run.columns.iter().position(|column| column.kind == ColumnKind::Mode);
    for event in &run.events {
        let mode = modes.and_then(|k| hybrid.modes.get(event.state[k] as usize));
        let mode = mode.map_or_else(String::new, |mode| mode.name.clone());
        let (smooth, empty) = (Continuity::Smooth.word().to_string(), String::new());
        let time = format!("{:?}", event.t);
        let cells = [
            time,
            mode.clone(),
            mode,
            event.name.clone(),
            "event".into(),
            smooth,
            "false".into(),
            empty.clone(),
            empty,
        ];
        rows.push((event.t, cells.into()));
    }
    for switch in &hybrid.switches {
        let jumps: Vec<String> =
            switch.jumps.iter().map(|j| format!("{}:{:?}:{:?}", j.name, j.before, j.after)).collect();
        let impulse = |(name, order, factor): (&str, usize, f64)| match order {
            0 => format!("{name}:{factor:?}"),
            order => format!("{name}:{factor:?}:{order}"),
        };
        let impulses: Vec<String> = switch.all_impulses().map(impulse).collect();
        let cells = [
            format!("{:?}", switch.t),
            hybrid.modes[switch.from].name.clone(),
            hybrid.modes[switch.to].name.clone(),
            switch.condition.clone(),
            switch.kind.word().into(),
            switch.smoothness.word().into(),
            if switch.chattering { "true" } else { "false" }.into(),
            jumps.join(" "),
            impulses.join(" "),
        ];
        rows.push((switch.t, cells.into()));
    }
    rows
}

/// Read times and columns.
pub fn read(file: impl Read) -> Result<Run, ReadError> {
    let mut table = ::csv::Reader::from_reader(Quotes { file, line: 1, opened: None });
    let names = table.headers()?.clone();
    match names.get(0) {
        Some("t") => {}
        other => return Err(ReadError::TimeColumn { found: other.unwrap_or_default().to_string() }),
    }
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    let mut row = ::csv::StringRecord::new();
    while table.read_record(&mut row)? {
        for (k, ((cell, name), values)) in row.iter().zip(&names).zip(&mut values).enumerate() {
            if cell.trim().is_empty() && k > 0 {
                values.push(f64::NAN);
                continue;
            }
            let value = cell.trim().parse().map_err(|_| ReadError::Cell {
                line: row.position().map_or(0, ::csv::Position::line),
                column: name.to_string(),
                text: cell.to_string(),
            })?;
            values.push(value);
        }
    }
    if let Some(line) = table.get_ref().opened {
        return Err(ReadError::OpenQuote { line });
    }
    let times = values.remove(0);
    let columns = names.iter().skip(1).zip(values);
    let columns = columns.map(|(name, values)| Column::new(name, ColumnKind::Variable, values)).collect();
    let run = Run { times, columns, ..Run::default() };
    run.check()?;
    Ok(run)
}

/// A file whose quotes are counted while it is read: a table ends outside of quotes, which the reader of tables does not look at.
struct Quotes<R> {
    file: R,
    line: u64,
    /// line of the quote that is open
    opened: Option<u64>,
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let n = self.file.read(bytes)?;
        for byte in &bytes[..n] {
            match byte {
                // a quote inside of quotes is written twice
                b'"' => self.opened = if self.opened.is_some() { None } else { Some(self.line) },
                b'\n' => self.line += 1,
                _ => {}
            }
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hybrid::{JumpRecord, ModeRecord, SwitchCause, SwitchRecord};

    #[test]
    fn switches_are_rows_with_jumps_and_impulses() {
        let jump = |name: &str, before, after| JumpRecord { name: name.into(), before, after };
        let switch = SwitchRecord {
            t: 0.5,
            from: 0,
            to: 1,
            condition: "y <= 0, falling".into(),
            kind: SwitchCause::Condition,
            smoothness: Continuity::Transfer,
            jumps: vec![jump("v", -1.5, 1.0), jump("lambda", f64::NAN, 2.0)],
            impulses: vec![("lambda.wall".into(), 0.25)],
            higher_impulses: vec![vec![("z".into(), -3.0)]],
            restart: None,
            chattering: false,
        };
        let modes =
            ["falling", "rising"].map(|name| ModeRecord { name: name.into(), ..ModeRecord::default() }).to_vec();
        let mut file = Vec::new();
        let hybrid = Some(ModeHistory { modes, switches: vec![switch], ..ModeHistory::default() });
        write_events(&Run { hybrid, ..Run::default() }, &mut file).expect("a table");
        let text = String::from_utf8(file).expect("text");
        let row = "0.5,falling,rising,\"y <= 0, falling\",condition,transfer,false,v:-1.5:1.0 lambda:NaN:2.0,lambda.wall:0.25 z:-3.0:1\n";
        assert_eq!(text, format!("time,from,to,condition,kind,smoothness,chattering,jumps,impulses\n{row}"));
    }
}
