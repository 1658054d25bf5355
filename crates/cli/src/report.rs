//! One self-contained page from a run file, or its picture for papers.

use crate::arguments::Report;
use crate::failure::{Failure, print};
use crate::files::{self, Output};
use daedal_run::{Format, Run};

/// Read a run file and write its page or its picture.
pub fn report(arguments: &Report) -> Result<(), Failure> {
    let path = arguments.output.clone().unwrap_or_else(|| arguments.run.with_extension(Format::Html.ending()));
    if !matches!(Format::of(&path), Some(Format::Html | Format::Svg)) {
        return Err(Failure::NoPage { path });
    }
    // a page needs its run first: nothing is opened if there is none
    let run = Run::read(&arguments.run).map_err(|cause| Failure::RunFile { path: arguments.run.clone(), cause })?;
    let outputs = Output::open_all(std::slice::from_ref(&path), None)?;
    files::write_all(outputs, &run)?;
    print(&format!("{} points in {}\n", run.times.len(), path.display()))
}
