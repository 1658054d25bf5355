//! Compare methods, formulations and tolerances on one model: the table of the comparison, as text and in files.

use crate::arguments::{Compare, TableFormat, ToleranceList};
use crate::failure::{Failure, print};
use crate::files::{self, Output};
use crate::progress::Tally;
use daedal_run::comparison::{Comparison, text};
use daedal_run::{Format, WriteError};
use daedal_simulation::ComparisonSettings;
use daedal_simulation::compare::{Pass, PlannedComparison};
use std::ffi::OsString;
use std::fmt::Write;

/// Compare.
pub fn compare(arguments: &Compare, said: &[OsString]) -> Result<(), Failure> {
    let model = arguments.model.load()?;
    let settings = arguments.settings();
    let planned = PlannedComparison::new(&model, &settings)?;
    if let Some(path) = arguments.output.iter().find(|path| matches!(Format::of(path), Some(Format::Npz | Format::Svg)))
    {
        return Err(Failure::NoComparison { path: path.clone() });
    }
    let outputs = Output::open_all(&arguments.output, None)?;
    // what goes wrong in a run is told in the table
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut tally: Option<Tally> = None;
    let made = planned.run(&mut |pass: Pass| {
        if pass.done == 0 {
            // the bar of the first pass goes before that of the second comes
            tally = None;
            tally = Some(Tally::new(pass.runs, if pass.timed { "timed" } else { "runs" }));
        } else if let Some(tally) = &tally {
            tally.count();
        }
    });
    drop(tally);
    std::panic::set_hook(hook);
    let made = Comparison { command: command(said), ..made? };
    let written = files::write_comparison(outputs, &made);
    let printed = print(&printed(&made, arguments)?);
    written.and(printed)?;
    if made.succeeded().next().is_some() { Ok(()) } else { Err(Failure::NoneReached { runs: made.runs.len() }) }
}

impl Compare {
    fn settings(&self) -> ComparisonSettings {
        let ToleranceList(tolerances) = self.tolerances.clone();
        ComparisonSettings {
            t0: self.model.t0,
            tend: self.tend,
            methods: self.methods.clone(),
            formulations: self.formulations.clone(),
            tolerances,
            h0: self.h0,
            jobs: self.jobs.map(usize::from),
            repeat: self.repeat,
            timeout: self.timeout,
            reference_time: None,
        }
    }
}

fn printed(made: &Comparison, arguments: &Compare) -> Result<String, Failure> {
    let format = match arguments.format {
        TableFormat::Text => {
            let mut said = text::text(made);
            for path in &arguments.output {
                let _ = write!(said, "\n{} runs in {}\n", made.runs.len(), path.display());
            }
            return Ok(said);
        }
        TableFormat::Csv => Format::Csv,
        TableFormat::Json => Format::Json,
    };
    let mut bytes = Vec::new();
    let unprinted = |cause: WriteError| Failure::Unprinted { cause: std::io::Error::other(cause) };
    made.write(format, &mut bytes).map_err(unprinted)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The command as it was given, for a shell.
pub fn command(given: &[OsString]) -> String {
    let mut said = "daedal".to_string();
    for argument in given.iter().skip(1).map(|argument| argument.to_string_lossy()) {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,:".contains(c);
        said.push(' ');
        if !argument.is_empty() && argument.chars().all(plain) {
            said.push_str(&argument);
        } else {
            let _ = write!(said, "'{}'", argument.replace('\'', "'\\''"));
        }
    }
    said
}
