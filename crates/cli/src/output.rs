//! What a run computed, for programs: files and the object of statistics.

use crate::arguments::FORMULATIONS;
use crate::failure::Failure;
use crate::solve::Run;
use daedal::method::geoms::Formulation;
use daedal::motion::Layout;
use daedal::{Ended, Residuals, Solution, Statistics};
use serde_json::{Map, Value, json};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that is open for the result.
pub struct Output {
    path: PathBuf,
    format: FileFormat,
    file: File,
    origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileFormat {
    Csv,
    Json,
}

/// Was the file there before?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    New,
    Existing,
}

impl Output {
    /// Open all files before anything is computed. A file that exists keeps its content until the result is there.
    pub fn open_all(paths: &[PathBuf]) -> Result<Vec<Output>, Failure> {
        // the names first, so that a mistake leaves no empty files behind
        let mut formats = Vec::new();
        for (k, path) in paths.iter().enumerate() {
            if paths[..k].contains(path) {
                return Err(Failure::SameFile { path: path.clone() });
            }
            formats.push(FileFormat::of(path).ok_or_else(|| Failure::Ending { path: path.clone() })?);
        }
        let mut outputs = Vec::new();
        for (path, format) in paths.iter().zip(formats) {
            match open(path) {
                Ok((file, origin)) => outputs.push(Output { path: path.clone(), format, file, origin }),
                Err(cause) => {
                    discard_all(outputs);
                    return Err(Failure::Unwritable { path: path.clone(), cause });
                }
            }
        }
        Ok(outputs)
    }

    fn write(&self, run: &Run, solution: &Solution) -> io::Result<()> {
        // pipes and devices have no length
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        let mut file = BufWriter::new(&self.file);
        match self.format {
            FileFormat::Csv => write_csv(&mut file, solution)?,
            FileFormat::Json => writeln!(file, "{}", result(run, solution))?,
        }
        file.flush()
    }
}

impl FileFormat {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "csv" => Some(FileFormat::Csv),
            "json" => Some(FileFormat::Json),
            _ => None,
        }
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

/// Write all files; one that fails does not stop the others.
pub fn write_all(outputs: Vec<Output>, run: &Run, solution: &Solution) -> Result<(), Failure> {
    let mut outcome = Ok(());
    for output in outputs {
        if let Err(cause) = output.write(run, solution) {
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
pub fn statistics(run: &Run, solution: Option<&Solution>, seconds: f64) -> Value {
    let mut object = Map::new();
    object.insert("model".into(), json!(run.setup.problem.name));
    object.insert("formulation".into(), json!(formulation(run.method.formulation)));
    object.insert("method".into(), json!("geoms"));
    object.insert("rtol".into(), json!(run.rtol));
    object.insert("atol".into(), json!(run.atol));
    object.insert("ended".into(), json!(solution.map_or("failure", |s| ended(&s.ended))));
    object.insert("t_end".into(), json!(solution.map_or(run.setup.case.initial.t, Solution::end_time)));
    object.extend(counters(solution.map(|s| &s.statistics)));
    object.insert("seconds".into(), json!(seconds));
    object.insert("max_residual".into(), residuals(&solution.map_or_else(Residuals::default, |s| s.max_residuals)));
    object.insert("final".into(), solution.map_or_else(|| json!({}), final_values));
    Value::Object(object)
}

/// The whole result; the same input gives the same bytes.
fn result(run: &Run, solution: &Solution) -> Value {
    let shown = solution.layout.shown();
    let in_order = |x: &[f64]| shown.iter().map(|&j| x[j]).collect::<Vec<f64>>();
    let parameters: Map<String, Value> =
        run.setup.parameters.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let (times, states): (Vec<f64>, Vec<Vec<f64>>) = points(solution).map(|(t, x)| (t, in_order(x))).unzip();
    let events: Vec<Value> = solution
        .events
        .iter()
        .map(|event| json!({ "name": event.name, "t": event.t, "state": in_order(&event.x) }))
        .collect();
    let mut statistics: Map<String, Value> = counters(Some(&solution.statistics)).collect();
    statistics.insert("max_residual".into(), residuals(&solution.max_residuals));
    json!({
        "model": run.setup.problem.name,
        "parameters": parameters,
        "names": shown_names(&solution.layout, &solution.names),
        "times": times,
        "states": states,
        "events": events,
        "statistics": statistics,
        "ended": ended(&solution.ended),
    })
}

/// One line of names, one row for every point.
fn write_csv(file: &mut impl Write, solution: &Solution) -> io::Result<()> {
    let shown = solution.layout.shown();
    write!(file, "t")?;
    for &j in &shown {
        write!(file, ",{}", solution.names[j])?;
    }
    writeln!(file)?;
    for (t, x) in points(solution) {
        write!(file, "{t:?}")?;
        for &j in &shown {
            write!(file, ",{:?}", x[j])?;
        }
        writeln!(file)?;
    }
    Ok(())
}

/// The points that were kept; the last one if only the end was.
fn points(solution: &Solution) -> impl Iterator<Item = (f64, &[f64])> {
    let end = solution.is_empty().then(|| (solution.end.t, &*solution.end.x));
    solution.times.iter().enumerate().map(|(k, &t)| (t, solution.state(k))).chain(end)
}

/// Number of points in the files.
pub fn number_of_points(solution: &Solution) -> usize {
    points(solution).count()
}

/// Names in the order p, v, r, w, s, λ, μ, accelerations.
pub fn shown_names(layout: &Layout, names: &[String]) -> Vec<String> {
    layout.shown().into_iter().map(|j| names[j].clone()).collect()
}

/// The word for a formulation.
pub fn formulation(formulation: Formulation) -> &'static str {
    FORMULATIONS.iter().find(|(_, known)| *known == formulation).map_or("", |(word, _)| word)
}

fn ended(ended: &Ended) -> &'static str {
    match ended {
        Ended::AtEnd => "end",
        Ended::AtEvent { .. } => "event",
        Ended::ByObserver => "observer",
        Ended::ByFailure => "failure",
    }
}

fn counters(statistics: Option<&Statistics>) -> impl Iterator<Item = (String, Value)> {
    let count = |read: fn(&Statistics) -> u64| json!(statistics.map(read));
    [
        ("steps", count(|s| s.steps)),
        ("rejected_error", count(|s| s.rejected_error)),
        ("rejected_newton", count(|s| s.rejected_newton)),
        ("residuals", count(|s| s.residuals)),
        ("jacobians", count(|s| s.jacobians)),
        ("masses", count(|s| s.masses)),
        ("selectors", count(|s| s.selectors)),
        ("predecompositions", count(|s| s.predecompositions)),
        ("decompositions", count(|s| s.decompositions)),
        ("solves", count(|s| s.solves)),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_string(), value))
}

fn residuals(residuals: &Residuals) -> Value {
    json!({
        "position": residuals.position,
        "velocity": residuals.velocity,
        "acceleration": residuals.acceleration,
        "invariant": residuals.invariant,
    })
}

fn final_values(solution: &Solution) -> Value {
    let value = |j: usize| (solution.names[j].clone(), json!(solution.end.x[j]));
    Value::Object(solution.layout.shown().into_iter().map(value).collect())
}
