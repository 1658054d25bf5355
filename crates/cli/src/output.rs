//! What a run computed, for programs: files and the object of statistics.

use crate::failure::Failure;
use crate::record::{ended, final_outputs};
use crate::solve::{Made, Run};
use crate::variables::Computed;
use daedal::{Residuals, Statistics};
use daedal_run::{Comparison, Format, WriteError};
use serde_json::{Map, Value, json};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that is open for the result.
pub struct Output {
    path: PathBuf,
    format: Format,
    content: Content,
    file: File,
    origin: Origin,
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Run,
    /// The table of switches.
    Switches,
}

/// Was the file there before?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    New,
    Existing,
}

impl Output {
    /// Open all files before anything is computed. A file that exists keeps its content until the result is there.
    /// `switches` is the file of the table of switches.
    pub fn open_all(paths: &[PathBuf], switches: Option<&PathBuf>) -> Result<Vec<Output>, Failure> {
        // the names first, so that a mistake leaves no empty files behind
        let wanted = paths.iter().map(|path| (path, Content::Run));
        let wanted: Vec<_> = wanted.chain(switches.map(|path| (path, Content::Switches))).collect();
        let mut formats = Vec::new();
        for (k, &(path, content)) in wanted.iter().enumerate() {
            if wanted[..k].iter().any(|(other, _)| *other == path) {
                return Err(Failure::SameFile { path: path.clone() });
            }
            match (Format::of(path), content) {
                (Some(Format::Csv), Content::Switches) => formats.push(Format::Csv),
                (_, Content::Switches) => return Err(Failure::NoTable { path: path.clone() }),
                (Some(format), Content::Run) => formats.push(format),
                (None, Content::Run) => return Err(Failure::Ending { path: path.clone() }),
            }
        }
        let mut outputs = Vec::new();
        for ((path, content), format) in wanted.into_iter().zip(formats) {
            match open(path) {
                Ok((file, origin)) => outputs.push(Output { path: path.clone(), format, content, file, origin }),
                Err(cause) => {
                    discard_all(outputs);
                    return Err(Failure::Unwritable { path: path.clone(), cause });
                }
            }
        }
        Ok(outputs)
    }

    /// Does the file hold the steps?
    pub fn holds_steps(&self) -> bool {
        self.format.holds_steps()
    }

    fn write(&self, content: impl Fn(&Output, &mut dyn Write) -> Result<(), WriteError>) -> Result<(), WriteError> {
        // pipes and devices have no length
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        let mut file = BufWriter::new(&self.file);
        content(self, &mut file)?;
        Ok(file.flush()?)
    }
}

fn open(path: &Path) -> io::Result<(File, Origin)> {
    match File::options().write(true).create_new(true).open(path) {
        Ok(file) => Ok((file, Origin::New)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let file = File::options().write(true).create(true).truncate(false).open(path)?;
            Ok((file, Origin::Existing))
        }
        Err(error) => Err(error),
    }
}

/// Write a run to all files; one that fails does not stop the others.
pub fn write_all(outputs: Vec<Output>, run: &daedal_run::Run) -> Result<(), Failure> {
    write_each(outputs, |output, file| match (output.content, &run.hybrid) {
        (Content::Switches, Some(hybrid)) => daedal_run::csv::write_switches(hybrid, file),
        _ => run.write(output.format, file),
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

/// There is no result: remove the files that were not there before.
pub fn discard_all(outputs: Vec<Output>) {
    for output in outputs.into_iter().filter(|output| output.origin == Origin::New) {
        // an empty file left behind does no harm
        let _ = fs::remove_file(&output.path);
    }
}

/// What a run did, as one object; the same keys in the same order in every version. Nothing but nulls if it could not start.
pub fn statistics(run: &Run, made: &Made) -> Value {
    let solution = made.solution();
    let mut object = Map::new();
    object.insert("model".into(), json!(run.setup.name));
    let formulation = solution.map_or(run.method.formulation(), |s| s.layout.formulation);
    object.insert("formulation".into(), json!(formulation));
    object.insert("method".into(), json!(run.method.name()));
    object.insert("rtol".into(), json!(run.rtol));
    object.insert("atol".into(), json!(run.atol));
    object.insert("ended".into(), json!(solution.map_or(daedal_run::Ended::Failure, |s| ended(&s.ended))));
    object.insert("t_end".into(), json!(solution.map_or(run.setup.t0(), Computed::end_time)));
    object.extend(counters(run, solution.map(|s| &s.statistics)).map(|(name, count)| (name, json!(count))));
    object.insert("seconds".into(), json!(made.seconds));
    object.insert("max_residual".into(), residuals(&solution.map_or_else(Residuals::default, |s| s.max_residuals)));
    object.insert("final".into(), solution.map_or_else(|| json!({}), |s| final_values(run, made, s)));
    Value::Object(object)
}

/// Counters by name; `None` for those that a method does not have, and without a run.
pub fn counters(run: &Run, statistics: Option<&Statistics>) -> [(String, Option<u64>); 10] {
    counters_of(run.method.name() == "geoms", statistics)
}

/// The same; those of GEOMS only where it is among the methods, or where another method counts them.
pub fn counters_of(geoms: bool, statistics: Option<&Statistics>) -> [(String, Option<u64>); 10] {
    let count = |name: &str, read: fn(&Statistics) -> u64| (name.to_string(), statistics.map(read));
    let own = |name: &str, read: fn(&Statistics) -> u64| {
        let (name, count) = count(name, read);
        (name, count.filter(|&count| geoms || count > 0))
    };
    [
        count("steps", |s| s.steps),
        count("rejected_error", |s| s.rejected_error),
        count("rejected_newton", |s| s.rejected_newton),
        count("residuals", |s| s.residuals),
        count("jacobians", |s| s.jacobians),
        own("masses", |s| s.masses),
        own("selectors", |s| s.selectors),
        own("predecompositions", |s| s.predecompositions),
        count("decompositions", |s| s.decompositions),
        count("solves", |s| s.solves),
    ]
}

pub fn residuals(residuals: &Residuals) -> Value {
    json!({
        "position": residuals.position,
        "velocity": residuals.velocity,
        "acceleration": residuals.acceleration,
        "invariant": residuals.invariant,
        "constraint": residuals.constraint,
        "hidden": residuals.hidden,
    })
}

/// All variables, then the outputs of a model file.
fn final_values(run: &Run, made: &Made, solution: &Computed) -> Value {
    let value = |&(j, _): &(usize, _)| (solution.names[j].clone(), json!(solution.end.x[j]));
    let outputs = final_outputs(run, made, solution).into_iter().map(|(name, value)| (name, json!(value)));
    Value::Object(solution.layout.shown.iter().map(value).chain(outputs).collect())
}
