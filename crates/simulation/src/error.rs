//! Why something was not done: a mistake in the input, or a computation that could not go on.

use crate::places::EquationPlaces;
use crate::settings::EventAction;
use crate::variables::{ShownVariables, Stopped};
use daedal::analysis::AnalysisError;
use daedal::catalogue;
use daedal::hybrid::{EnterError, HybridError, HybridFailure};
use daedal::motion::consistent::InitialisationError;
use daedal::{SolveError, StepFailure, dae};
use daedal_model::Mistakes;
use daedal_problems::ParameterError;
use daedal_run::{ReadError, WriteError};
use std::io;
use std::path::PathBuf;
use std::string::FromUtf8Error;

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The input makes no sense.
    Input,
    /// The input makes sense, but the computation could not go on.
    Numerical,
    /// Somebody who watched asked for the end.
    Interrupted,
}

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum Error {
    #[error("there is no {kind} {name}{}\n  known: {}", nearest(.name, .known.iter().map(String::as_str)), .known.join(", "))]
    UnknownName { kind: &'static str, name: String, known: Vec<String> },
    #[error("cannot read the model file {}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    #[error("the model file {} is not text in UTF-8", path.display())]
    NotText {
        path: PathBuf,
        #[source]
        cause: FromUtf8Error,
    },
    #[error("{0}")]
    Model(Box<Mistakes>),
    /// Mistakes in the condition of an event that was asked for.
    #[error("{mistakes}, in the condition `{when}` of an event")]
    Event { when: String, action: EventAction, mistakes: Box<Mistakes> },
    #[error("{name} says nothing about the interval; add `time = [0.0, 1.0]` to [model], or give tend")]
    NoInterval { name: String },
    #[error("the table `{table}` covers times from {from:?} to {to:?}, the run goes from {t0:?} to {tend:?}")]
    BeyondTable { table: String, from: f64, to: f64, t0: f64, tend: f64 },
    #[error("{name} is a model file, and no program; its kernel is auto, native or tape")]
    NoProgram { name: String },
    #[error(
        "{name} is a program of its own, whose parameters and kernel are not those of a file: make it again with other numbers"
    )]
    OnlyProgram { name: String },
    #[error("{model} has no matrices whose kind could be chosen: those of modes, programs and black boxes are dense")]
    NoMatrices { model: String },
    #[error("{0}; the kernel auto runs everywhere")]
    NoNative(#[from] daedal_native::NativeError),
    #[error(
        "the method {method} is for equations of motion ([motion]); {model} is a general system ([dae]): use one of the methods {known}"
    )]
    MethodOfMotion { method: &'static str, model: String, known: String },
    #[error(
        "the method {method} is for general systems ([dae]) without modes; {model} has equations of motion or modes: choose another method"
    )]
    MethodOfSystems { method: &'static str, model: String },
    #[error(transparent)]
    Unsuitable(#[from] catalogue::Unsuitable),
    #[error(
        "the formulation {form} is one of equations of motion ([motion]); {model} is a general system ([dae]) with the forms {known}"
    )]
    FormOfMotion { form: &'static str, model: String, known: String },
    #[error(
        "the formulation {form} is one of general systems ([dae]); {model} has equations of motion ([motion]) with the formulations {known}"
    )]
    FormOfGeneral { form: &'static str, model: String, known: String },
    #[error("the method {method} does not know {}: leave out what it does not know, or choose another method", .options.join(", "))]
    OptionsOfOther { options: Vec<&'static str>, method: String },
    #[error(
        "{model} has no equations of motion ([motion]); trust_initial is for these only: fix all initial values instead"
    )]
    NothingToTrust { model: String },
    #[error("{model} has no modes; {} is for models with modes ([modes])", .settings.join(", "))]
    NoModes { settings: Vec<&'static str>, model: String },
    #[error(
        "bdf, Runge-Kutta methods beside Radau IIa and explicit methods have their own choice of step sizes; the only control they know is fixed"
    )]
    OnlyFixedControl,
    #[error(
        "{method} brings new points onto all constraints or onto none; the option projection takes all or none there"
    )]
    ProjectsAllOrNone { method: &'static str },
    #[error(
        "the output {output} contains derivative {order} of {state}, but the equations know {state} only up to derivative {highest}; make the derivative a state: add a state v and the equation v = der({state})"
    )]
    OutputDerivative { output: String, state: String, order: u32, highest: u32 },
    #[error("the problem {problem} cannot be set up")]
    Parameter {
        problem: &'static str,
        #[source]
        cause: ParameterError,
    },
    #[error("{name} is set twice; say one value")]
    SetTwice { name: String },
    #[error("{name} is given more than once among fix, guess and unknown; say one thing about it")]
    SaidTwice { name: String },
    #[error("compare makes runs from initial values; {model} {is}: {instead}")]
    NotComparable { model: String, is: &'static str, instead: &'static str },
    #[error("{spec}: {cause}")]
    BadSpec { spec: String, cause: crate::options::BadMethodOption },
    #[error("there is nothing to compare: {}", .notes.join("; "))]
    NothingToCompare { notes: Vec<String> },
    #[error("{model} has no motion, or not only one: {}", .reasons.join("; "))]
    Impossible { model: String, reasons: Vec<String> },
    #[error("{model} has no solution that could be found: {}", .reasons.join("; "))]
    Unsolvable { model: String, reasons: Vec<String> },
    #[error("nothing can be said about the control of {model}: {reason}")]
    Uncontrolled { model: String, reason: String },
    #[error("{0}")]
    Analysis(#[from] AnalysisError),
    #[error("{0}")]
    General(#[from] dae::AnalysisError),
    #[error(
        "the joints {} cannot be assembled: where they fit best, {}; change the drawing, or what drives and `fix` give",
        .open.iter().map(|(joint, _)| joint.as_str()).collect::<Vec<_>>().join(", "),
        .open.iter().map(|(joint, gap)| format!("{joint} stays open by {gap:.3e}")).collect::<Vec<_>>().join(", ")
    )]
    NotAssembled {
        open: Vec<(String, f64)>,
        #[source]
        cause: Box<Stopped>,
    },
    #[error(transparent)]
    Solve(#[from] Box<Stopped>),
    #[error(transparent)]
    Hybrid(Box<HybridError>),
    #[error("the run stopped at t = {t}")]
    Stopped {
        t: f64,
        #[source]
        cause: Box<StepFailure>,
    },
    #[error("the run stopped at t = {t}")]
    StoppedInMode {
        t: f64,
        #[source]
        cause: Box<HybridFailure>,
    },
    #[error("mode `{mode}` cannot be entered at t = {t:?}")]
    Enter {
        mode: String,
        t: f64,
        #[source]
        cause: Box<EnterError>,
    },
    #[error(transparent)]
    Boundary(Box<daedal::BoundaryError<ShownVariables>>),
    #[error(
        "{model} has conditions at its end ([final]), and is solved as a whole by collocation; leave out what does not apply to that: {}",
        .settings.join(", ")
    )]
    NotBetweenEnds { settings: Vec<&'static str>, model: String },
    #[error("nothing varies: give at least one parameter, with at least one value")]
    NothingVaries,
    #[error("the value {value:?} of {name} in run {run} is not finite")]
    SweepValue { name: String, value: f64, run: usize },
    #[error("run {run} has {found} values for {expected} parameters")]
    SweepRow { run: usize, found: usize, expected: usize },
    #[error(
        "a sweep keeps the end of every run, or its values at given times: save is end, a number of points or times"
    )]
    SweepSave,
    #[error("{} holds another sweep, {what} differ; take another folder, or remove this one", path.display())]
    OtherSweep { path: PathBuf, what: &'static str },
    #[error("the runs of a sweep cannot be kept in the folder {}", path.display())]
    SweepFolder {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    #[error("cannot read {}, which holds finished runs of the sweep; remove it, and they are made again", path.display())]
    SweepFile {
        path: PathBuf,
        #[source]
        cause: ReadError,
    },
    #[error("cannot write {}; the runs that were written before are kept", path.display())]
    SweepUnwritten {
        path: PathBuf,
        #[source]
        cause: WriteError,
    },
    #[error("interrupted at t = {t:?}")]
    Interrupted { t: f64 },
    /// Another error, in whose message equations get their lines.
    #[error("{}", .places.told(&.error.to_string()))]
    Located { error: Box<Error>, places: EquationPlaces },
}

impl Error {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        let numerical = match self {
            Error::Located { error, .. } => return error.kind(),
            Error::Interrupted { .. } => return ErrorKind::Interrupted,
            Error::Solve(error) => is_numerical(error),
            Error::Stopped { .. } => true,
            Error::Boundary(error) => !error.is_input(),
            Error::StoppedInMode { cause, .. } => is_stop(cause),
            Error::Enter { cause, .. } => is_numerical_entry(cause),
            Error::General(error) => is_not_found(error),
            Error::Impossible { .. } | Error::Unsolvable { .. } | Error::SweepUnwritten { .. } => true,
            _ => false,
        };
        if numerical { ErrorKind::Numerical } else { ErrorKind::Input }
    }
}

/// What a run that does not start says: joints of bodies that contradict each other are told as joints.
pub(crate) fn not_started(error: Stopped, bodies: Option<&daedal_multibody::System>) -> Error {
    let SolveError::Initialisation(InitialisationError::Contradictory { equations, .. }) = &error else {
        return Error::Solve(Box::new(error));
    };
    let position = |name: &str| -> Option<String> {
        let row = name.strip_prefix("holonomic constraint ")?;
        (!row.contains(" at ")).then(|| row.to_string())
    };
    let rows: Option<Vec<(String, f64)>> =
        equations.iter().map(|(name, left)| position(name).map(|row| (row, *left))).collect();
    let open = |bodies: &daedal_multibody::System| -> Option<Vec<(String, f64)>> {
        let rows = rows?;
        let open = bodies.open_joints(rows.iter().map(|(row, left)| (row.as_str(), *left)));
        (!open.is_empty()).then(|| open.into_iter().map(|(joint, gap)| (joint.to_string(), gap)).collect())
    };
    match bodies.and_then(open) {
        Some(open) => Error::NotAssembled { open, cause: Box::new(error) },
        None => Error::Solve(Box::new(error)),
    }
}

/// Could the computation not go on, with an input that makes sense?
fn is_numerical(error: &Stopped) -> bool {
    use InitialisationError::{NoConvergence, Undefined};
    match error {
        SolveError::Initialisation(NoConvergence { .. } | Undefined { .. }) => true,
        SolveError::Analysis(error) => is_not_found(error),
        _ => false,
    }
}

/// The same for a run through several modes: a start that cannot be made is a mistake where it is one without modes.
fn is_stop(cause: &HybridFailure) -> bool {
    match cause {
        HybridFailure::Enter { from: None, cause, .. } => is_numerical_entry(cause),
        _ => true,
    }
}

fn is_numerical_entry(cause: &EnterError) -> bool {
    use InitialisationError::{NoConvergence, Undefined};
    match cause {
        EnterError::Analysis(error) => is_not_found(error),
        EnterError::Initialisation(error) => matches!(error, NoConvergence { .. } | Undefined { .. }),
        EnterError::Step(_) | EnterError::NotConsistent { .. } => true,
        _ => false,
    }
}

/// Were consistent values or the index not found, though nothing is wrong with what is said?
fn is_not_found(error: &dae::AnalysisError) -> bool {
    use dae::AnalysisError::{Inconsistent, IndexNotFound, Undefined};
    matches!(error, Inconsistent { .. } | Undefined { .. } | IndexNotFound { .. })
}

/// A question behind an unknown name: is the known one meant that looks most like it?
pub(crate) fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> String {
    let likeness = |other: &str| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    known
        .map(|other| (likeness(other), other))
        .filter(|(likeness, _)| *likeness > 0.65)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(String::new(), |(_, near)| format!("; did you mean {near}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_and_no_far_one() {
        let known = ["pendulum", "truck", "lambda.rod"];
        assert_eq!(nearest("pendlum", known.into_iter()), "; did you mean pendulum?");
        assert_eq!(nearest("lambda.rood", known.into_iter()), "; did you mean lambda.rod?");
        assert_eq!(nearest("xyz", known.into_iter()), "");
    }
}
