//! Why the command did not do what was asked: what is printed, and with which code it exits.

use crate::interrupt;
use crate::places::Places;
use crate::plain::{is_control, plain};
use crate::variables::Stopped;
use daedal::analysis::AnalysisError;
use daedal::catalogue;
use daedal::hybrid::{EnterError, HybridError, HybridFailure};
use daedal::motion::consistent::InitialisationError;
use daedal::{SolveError, dae};
use daedal_model::Mistakes;
use daedal_problems::ParameterError;
use daedal_run::{Format, ReadError, WriteError};
use miette::{GraphicalReportHandler, GraphicalTheme};
use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::path::PathBuf;
use std::string::FromUtf8Error;

/// Why the command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("there is no {kind} {name}{}\n  known: {}", question(.name, .known), .known.join(", "))]
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
    #[error("{} says nothing about the interval; add `time = [0.0, 1.0]` to [model], or give --tend", path.display())]
    NoInterval { path: PathBuf },
    #[error("{} is a model file, and no program; --kernel native and --kernel tape are for model files", path.display())]
    NoRust { path: PathBuf },
    #[error(
        "the method {method} is for equations of motion ([motion]); {model} is a general system ([dae]): use --method radau or --method bdf"
    )]
    MethodOfMotion { method: &'static str, model: String },
    #[error(
        "the method {method} is for general systems ([dae]) where there are modes; {model} has equations of motion ([motion]): use --method geoms"
    )]
    MethodOfGeneral { method: &'static str, model: String },
    #[error(
        "the method {method} does not switch between modes, which {model} has; those that do are geoms, radau and bdf"
    )]
    MethodWithoutModes { method: &'static str, model: String },
    #[error("{model}: modes are solved in the formulations {known}, and not in {form}")]
    FormWithoutModes { form: &'static str, model: String, known: String },
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
    #[error("the method {method} does not know {options}: leave out what it does not know, or choose another method")]
    OptionsOfOther { options: String, method: String },
    #[error("{model} has no modes; {options} is for models with modes ([modes])")]
    NoModes { options: String, model: String },
    #[error("the table of switches is text: the name {} must end in csv", path.display())]
    NoTable { path: PathBuf },
    #[error("the method bdf has its own choice of step sizes and orders; the only --control it knows is fixed")]
    ControlOfBdf,
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
    #[error("{name} is set twice by --set; say one value")]
    SetTwice { name: String },
    #[error("{name} is given more than once among --fix, --guess and --unknown; say one thing about it")]
    SaidTwice { name: String },
    #[error("the output file {} is given twice", path.display())]
    SameFile { path: PathBuf },
    #[error("cannot write {}: {}", path.display(), ending(.path))]
    Ending { path: PathBuf },
    #[error("cannot open {} for writing; nothing was computed", path.display())]
    Unwritable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    #[error("cannot write {}", path.display())]
    Unwritten {
        path: PathBuf,
        #[source]
        cause: WriteError,
    },
    #[error("cannot read the run file {}", path.display())]
    RunFile {
        path: PathBuf,
        #[source]
        cause: ReadError,
    },
    #[error("a comparison is written as html, csv or json: the name {} must end in one of them", path.display())]
    NoComparison { path: PathBuf },
    #[error("compare is for equations of motion ([motion]); {model} {is}")]
    NotComparable { model: String, is: &'static str },
    #[error("there is nothing to compare: {}", .notes.join("; "))]
    NothingToCompare { notes: Vec<String> },
    #[error("none of {runs} runs reached the end")]
    NoneReached { runs: usize },
    #[error("a report is a page: the name {} must end in html", path.display())]
    NoPage { path: PathBuf },
    #[error("cannot write to standard output")]
    Unprinted {
        #[source]
        cause: io::Error,
    },
    #[error("{model} has no motion, or not only one: {}", .reasons.join("; "))]
    Impossible { model: String, reasons: Vec<String> },
    #[error("{model} has no solution that could be found: {}", .reasons.join("; "))]
    Unsolvable { model: String, reasons: Vec<String> },
    #[error("{0}")]
    Analysis(#[from] AnalysisError),
    #[error("{0}")]
    General(#[from] dae::AnalysisError),
    #[error(
        "interrupted by {} at t = {t:?}; everything computed until then {}",
        interrupt::name(*.signal), if *.kept { "is in the files" } else { "was not kept: no output file was named" }
    )]
    Interrupted { signal: i32, t: f64, kept: bool },
    #[error(transparent)]
    Solve(#[from] Stopped),
    /// Another failure, in whose message equations get their lines.
    #[error("{failure}")]
    Located { failure: Box<Failure>, places: Places },
    #[error(transparent)]
    Hybrid(Box<HybridError>),
    #[error("mode `{mode}` cannot be entered at t = {t:?}")]
    Enter {
        mode: String,
        t: f64,
        #[source]
        cause: Box<EnterError>,
    },
}

impl Failure {
    /// 2 for a mistake in the input, 1 for a stop on the way, 128 and the number of the signal for an interruption.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Located { failure, .. } => failure.exit_code(),
            Failure::Solve(error) if is_numerical(error) => 1,
            Failure::Hybrid(error) if is_stop(error) => 1,
            Failure::Enter { cause, .. } if is_numerical_entry(cause) => 1,
            Failure::General(error) if is_not_found(error) => 1,
            Failure::Unwritten { .. } | Failure::Unprinted { .. } => 1,
            Failure::Interrupted { signal, .. } => interrupt::code(*signal),
            Failure::NoneReached { .. } | Failure::Impossible { .. } | Failure::Unsolvable { .. } => 1,
            _ => 2,
        }
    }

    /// The same with lines and texts of the equations that it speaks of.
    pub fn at(self, places: &Places) -> Self {
        Failure::Located { failure: Box::new(self), places: places.clone() }
    }

    /// Print it once, causes below.
    pub fn report(&self) {
        let text = self.told();
        // nobody is left to tell if this fails
        let _ = io::stderr().write_all(text.as_bytes());
    }

    fn told(&self) -> String {
        match self {
            // lines with colours
            Failure::Model(mistakes) => marked(mistakes),
            Failure::Located { failure, places } => places.told(&failure.told()),
            failure => {
                let mut text = format!("error: {failure}\n");
                let (mut above, mut cause) = (failure.to_string(), failure.source());
                while let Some(error) = cause {
                    let message = error.to_string();
                    // an error may only pass on its cause
                    if message != above {
                        let _ = writeln!(text, "  because: {message}");
                    }
                    (above, cause) = (message, error.source());
                }
                plain(&text).into_owned()
            }
        }
    }
}

/// Mistakes in a model file, each with the lines where it stands.
fn marked(mistakes: &Mistakes) -> String {
    let mut text = String::new();
    let terminal = io::stderr().is_terminal();
    let theme = match (terminal, std::env::var_os("NO_COLOR").is_none()) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::unicode_nocolor(),
        (false, _) => GraphicalTheme::none(),
    };
    let render = |theme, text: &mut String| {
        let handler = GraphicalReportHandler::new_themed(theme).with_width(100).with_links(false);
        if handler.render_report(text, mistakes).is_err() {
            *text = mistakes.to_string();
        }
    };
    let mut bare = String::new();
    render(GraphicalTheme::none(), &mut bare);
    // colours are control sequences: names that hold some get none beside them
    if bare.contains(is_control) {
        return plain(&bare).into_owned();
    }
    render(theme, &mut text);
    text
}

/// Could the computation not go on, with an input that makes sense?
pub fn is_numerical(error: &Stopped) -> bool {
    use InitialisationError::{NoConvergence, Undefined};
    match error {
        SolveError::Stopped { .. } | SolveError::Initialisation(NoConvergence { .. } | Undefined { .. }) => true,
        SolveError::Analysis(error) => is_not_found(error),
        _ => false,
    }
}

/// The same for a run through several modes: a start that cannot be made is a mistake where it is one without modes.
pub fn is_stop(error: &HybridError) -> bool {
    match error {
        HybridError::Stopped { cause, .. } => match &**cause {
            HybridFailure::Enter { from: None, cause, .. } => is_numerical_entry(cause),
            _ => true,
        },
        HybridError::Options(_) | HybridError::System(_) => false,
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

/// Print to standard output, control characters told instead of sent. A reader that went away is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(plain(text).as_bytes()).and_then(|()| out.flush()) {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Unprinted { cause }),
        _ => Ok(()),
    }
}

fn question(name: &str, known: &[String]) -> String {
    nearest(name, known).map_or(String::new(), |near| format!("; did you mean {near}?"))
}

/// The known name that looks most like this one, if one does.
fn nearest<'k>(name: &str, known: &'k [String]) -> Option<&'k String> {
    let likeness = |other: &str| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    known
        .iter()
        .map(|other| (likeness(other), other))
        .filter(|(likeness, _)| *likeness > 0.65)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, other)| other)
}

fn ending(path: &std::path::Path) -> String {
    let known = Format::ALL.map(Format::ending).join(", ");
    match path.extension().and_then(|ending| ending.to_str()) {
        Some(other) => format!("the ending {other} is not known; use one of {known}"),
        None => format!("the name has no ending that says the format; use one of {known}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_and_no_far_one() {
        let known = ["pendulum", "truck", "lambda.rod"].map(String::from);
        assert_eq!(question("pendlum", &known), "; did you mean pendulum?");
        assert_eq!(question("lambda.rood", &known), "; did you mean lambda.rod?");
        assert_eq!(question("xyz", &known), "");
    }
}
