//! Files that a result is written to: whole or not at all.
//!
//! A result goes to a temporary file beside its target, which takes the name of the target when everything is on the disk. So whoever
//! opens the target finds the old content or the new one, whatever ends the program, and two runs into one file do not mix. That the
//! directory can be written to is tried before anything is computed. Pipes and devices are written to as they are.

use crate::failure::Failure;
use daedal_run::{Comparison, Format, Sweep, SweepFormat, WriteError};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Most links from one to the next, as many as Linux follows; those that lead in a circle end nowhere.
const MOST_LINKS: usize = 40;

/// A file for the result.
pub struct Output {
    path: PathBuf,
    format: Format,
    content: FileContent,
    place: Destination,
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileContent {
    Run,
    /// The table of switches and events.
    Events,
}

/// Where the bytes go.
enum Destination {
    /// Beside this file, which is replaced then.
    Beside(PathBuf),
    /// Into a pipe or a device.
    Stream(File),
}

impl Output {
    /// See that all files can be written, before anything is computed; a file that exists keeps its content until the result is there.
    /// `events` is the file of the table of switches and events.
    pub fn open_all(paths: &[PathBuf], events: Option<&PathBuf>) -> Result<Vec<Output>, Failure> {
        let wanted = paths.iter().map(|path| (path, FileContent::Run));
        let wanted: Vec<_> = wanted.chain(events.map(|path| (path, FileContent::Events))).collect();
        let targets: Vec<PathBuf> = wanted.iter().map(|(path, _)| target(path)).collect();
        let mut formats = Vec::new();
        for (k, &(path, content)) in wanted.iter().enumerate() {
            if targets[..k].contains(&targets[k]) {
                return Err(Failure::SameFile { path: path.clone() });
            }
            match (Format::of(path), content) {
                (Some(Format::Csv), FileContent::Events) => formats.push(Format::Csv),
                (_, FileContent::Events) => return Err(Failure::NoTable { path: path.clone() }),
                (Some(format), FileContent::Run) => formats.push(format),
                (None, FileContent::Run) => return Err(Failure::Ending { path: path.clone() }),
            }
        }
        let mut outputs = Vec::new();
        for ((path, content), format) in wanted.into_iter().zip(formats) {
            let place = place(path).map_err(|cause| Failure::Unwritable { path: path.clone(), cause })?;
            outputs.push(Output { path: path.clone(), format, content, place });
        }
        Ok(outputs)
    }

    fn write(&self, content: impl Fn(&Output, &mut dyn Write) -> Result<(), WriteError>) -> Result<(), WriteError> {
        match &self.place {
            Destination::Stream(file) => {
                let mut file = BufWriter::new(file);
                content(self, &mut file)?;
                Ok(file.flush()?)
            }
            Destination::Beside(target) => {
                let (file, temporary) = temporary(target)?;
                let written = fill(&file, |file| content(self, file)).and_then(|()| {
                    // readable by those who could read it before
                    if let Ok(before) = fs::metadata(target) {
                        file.set_permissions(before.permissions())?;
                    }
                    Ok(fs::rename(&temporary, target)?)
                });
                if written.is_err() {
                    let _ = fs::remove_file(&temporary);
                }
                written
            }
        }
    }
}

/// All bytes, on the disk.
fn fill(file: &File, content: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>) -> Result<(), WriteError> {
    let mut buffer = BufWriter::new(file);
    content(&mut buffer)?;
    buffer.flush()?;
    Ok(file.sync_all()?)
}

/// Where the bytes for a path go; an error if they cannot go there.
fn place(path: &Path) -> io::Result<Destination> {
    let target = target(path);
    match fs::metadata(&target) {
        Ok(found) if !found.is_file() => return Ok(Destination::Stream(File::options().write(true).open(&target)?)),
        // a file that must not be written is not replaced either
        Ok(_) => drop(File::options().write(true).open(&target)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let (file, trial) = temporary(&target)?;
    drop(file);
    fs::remove_file(trial)?;
    Ok(Destination::Beside(target))
}

/// The file that a path means, whether it exists or not. A link stays a link: what it leads to is replaced.
fn target(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        if let Ok(found) = fs::canonicalize(&path) {
            return found;
        }
        match fs::read_link(&path) {
            // relative to the directory of the link
            Ok(next) => path = path.parent().map_or(next.clone(), |parent| parent.join(next)),
            Err(_) => break,
        }
    }
    let parent = path.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    match (parent.map(fs::canonicalize), path.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => path,
    }
}

/// A new file in the directory of the target.
fn temporary(target: &Path) -> io::Result<(File, PathBuf)> {
    let mut tries = 0;
    loop {
        let path = target.with_file_name(format!(".daedal-{}-{tries}.part", std::process::id()));
        match File::options().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < 100 => tries += 1,
            opened => return opened.map(|file| (file, path)),
        }
    }
}

/// Write a run to all files; one that fails does not stop the others.
pub fn write_all(outputs: Vec<Output>, run: &daedal_run::Run) -> Result<(), Failure> {
    write_each(outputs, |output, file| match output.content {
        FileContent::Events => daedal_run::csv::write_events(run, file),
        FileContent::Run => run.write(output.format, file),
    })
}

/// Write a text.
pub fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    let place = place(path).map_err(|cause| Failure::Unwritable { path: path.into(), cause })?;
    let output = Output { path: path.into(), format: Format::Csv, content: FileContent::Run, place };
    write_each(vec![output], |_, file| Ok(file.write_all(text.as_bytes())?))
}

/// Write a sweep to all files, whose endings are those of sweeps.
pub fn write_sweep(outputs: Vec<Output>, sweep: &Sweep) -> Result<(), Failure> {
    write_each(outputs, |output, file| match SweepFormat::of(&output.path) {
        Some(format) => sweep.write_as(format, file),
        None => sweep.write(file),
    })
}

/// Write a comparison to all files.
pub fn write_comparison(outputs: Vec<Output>, comparison: &Comparison) -> Result<(), Failure> {
    write_each(outputs, |output, file| comparison.write(output.format, file))
}

fn write_each(
    outputs: Vec<Output>,
    content: impl Fn(&Output, &mut dyn Write) -> Result<(), WriteError>,
) -> Result<(), Failure> {
    let mut outcome = Ok(());
    for output in outputs {
        if let Err(cause) = output.write(&content) {
            outcome = outcome.and(Err(Failure::Unwritten { path: output.path, cause }));
        }
    }
    outcome
}
