//! Why the command did not do what was asked: what is printed, and with which code it exits.

use crate::interrupt;
use daedal_model::Mistakes;
use daedal_run::{Format, ReadError, WriteError};
use daedal_simulation::{Error, ErrorKind, EventAction, is_control, plain};
use miette::{GraphicalReportHandler, GraphicalTheme};
use std::error::Error as _;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::path::PathBuf;

/// Why the command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The library did not do it; where it speaks of settings, the command says its flags.
    #[error("{}", worded(.0))]
    Simulation(Error),
    #[error("the table of events is text: the name {} must end in csv", path.display())]
    NoTable { path: PathBuf },
    #[error(
        "nothing to write to {}: {model} has neither modes nor events; write [[events]] into the model, or give --record-when or --stop-when",
        path.display()
    )]
    NoEvents { model: String, path: PathBuf },
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
    #[error("cannot read the study {}: {cause}", path.display())]
    BadStudy { path: PathBuf, cause: String },
    #[error("cannot read the run file {}", path.display())]
    RunFile {
        path: PathBuf,
        #[source]
        cause: ReadError,
    },
    #[error("a comparison is written as html, csv or json: the name {} must end in one of them", path.display())]
    NoComparison { path: PathBuf },
    #[error("the runs of a sweep are written as npz, csv or html: the name {} must end in one of them", path.display())]
    NoSweep { path: PathBuf },
    #[error("interrupted by {} after {made} of {of} runs; those are in the files, and --resume FOLDER keeps them for the next time", interrupt::name(*.signal))]
    SweepInterrupted { signal: i32, made: usize, of: usize },
    #[error("none of {runs} runs reached the end")]
    NoneReached { runs: usize },
    #[error("a model with its loop closed needs a feedback: say --feedback state, output or derivative to write {}", path.display())]
    NoFeedback { path: PathBuf },
    #[error("nothing to write to {}: no mode needs a feedback", path.display())]
    NothingClosed { path: PathBuf },
    #[error("nothing to write to {}: the model has no cost; write cost = \"…\" into [control]", path.display())]
    NoCost { path: PathBuf },
    #[error("there is no optimal course to write: {reason}")]
    NoOptimum { reason: String },
    #[error("a report is a page or a picture: the name {} must end in html or svg", path.display())]
    NoPage { path: PathBuf },
    #[error("cannot write to standard output")]
    Unprinted {
        #[source]
        cause: io::Error,
    },
    #[error(
        "interrupted by {} at t = {t:?}; everything computed until then {}",
        interrupt::name(*.signal), if *.kept { "is in the files" } else { "was not kept: no output file was named" }
    )]
    Interrupted { signal: i32, t: f64, kept: bool },
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Simulation(error)
    }
}

/// A message of the library in the words of the command.
fn worded(error: &Error) -> String {
    let flags =
        |keys: &[&str]| keys.iter().map(|key| format!("--{}", key.replace('_', "-"))).collect::<Vec<_>>().join(", ");
    match error {
        Error::Located { error, .. } => worded(error),
        Error::OptionsOfOther { options, method } => {
            format!(
                "the method {method} does not know {}: leave out what it does not know, or choose another method",
                flags(options)
            )
        }
        Error::NoModes { settings, model } => {
            format!("{model} has no modes; {} is for models with modes ([modes])", flags(settings))
        }
        Error::NotBetweenEnds { settings, model } => {
            let given: Vec<&str> =
                settings.iter().map(|key| if *key == "events" { "record_when" } else { *key }).collect();
            format!(
                "{model} has conditions at its end ([final]), and is solved as a whole by collocation; leave out what does not apply to that: {}",
                flags(&given)
            )
        }
        Error::NoProgram { name } => {
            format!("{name} is a model file, and no program; --kernel native and --kernel tape are for model files")
        }
        // single settings
        error => {
            let text = error.to_string();
            let (words, flags) = match error {
                Error::NoInterval { .. } => ("or give tend", "or give --tend"),
                Error::MethodOfMotion { .. } => ("use one of the methods", "use --method with one of"),
                Error::OnlyFixedControl => ("the only control they", "the only --control they"),
                Error::SetTwice { .. } => ("set twice;", "set twice by --set;"),
                Error::SaidTwice { .. } => ("fix, guess and unknown;", "--fix, --guess and --unknown;"),
                Error::UnknownName { .. } => ("for the setting ", "for --"),
                _ => return text,
            };
            text.replacen(words, flags, 1)
        }
    }
}

impl Failure {
    /// 2 for a mistake in the input, 1 for a stop on the way, 128 and the number of the signal for an interruption.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Simulation(error) => match error.kind() {
                ErrorKind::Input => 2,
                ErrorKind::Numerical | ErrorKind::Interrupted => 1,
            },
            Failure::Unwritten { .. } | Failure::Unprinted { .. } | Failure::NoneReached { .. } => 1,
            Failure::Interrupted { signal, .. } | Failure::SweepInterrupted { signal, .. } => interrupt::code(*signal),
            _ => 2,
        }
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
            Failure::Simulation(Error::Model(mistakes)) => marked(mistakes),
            Failure::Simulation(Error::Event { action, mistakes, .. }) => {
                let flag = match action {
                    EventAction::Record => "--record-when",
                    EventAction::Stop => "--stop-when",
                };
                format!("error: in the condition of {flag}\n{}", marked(mistakes))
            }
            Failure::Simulation(Error::Located { error, places }) => places.told(&chain(worded(error), error.source())),
            Failure::Simulation(error) => chain(worded(error), error.source()),
            failure => chain(failure.to_string(), failure.source()),
        }
    }
}

/// A message with its causes below it.
fn chain(message: String, mut cause: Option<&(dyn std::error::Error + 'static)>) -> String {
    let mut text = format!("error: {message}\n");
    let mut above = message;
    while let Some(error) = cause {
        let message = error.to_string();
        // an error may only pass on its cause
        if message != above {
            let _ = writeln!(text, "  because: {message}");
        }
        (above, cause) = (message, error.source());
    }
    // messages of the solver name settings by their keys
    plain(&text.replace("set rank_tolerance", "set --rank-tolerance")).into_owned()
}

/// Mistakes in a model file, each with the lines where it stands.
fn marked(mistakes: &Mistakes) -> String {
    let terminal = io::stderr().is_terminal();
    let theme = match (terminal, std::env::var_os("NO_COLOR").is_none()) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::unicode_nocolor(),
        (false, _) => GraphicalTheme::none(),
    };
    let bare = rendered(mistakes, GraphicalTheme::none());
    // colours are control sequences: names that hold some get none beside them
    if bare.contains(is_control) { plain(&bare).into_owned() } else { rendered(mistakes, theme) }
}

/// The same in plain letters, whoever reads it.
pub fn marked_plainly(mistakes: &Mistakes) -> String {
    plain(&rendered(mistakes, GraphicalTheme::none())).into_owned()
}

fn rendered(mistakes: &Mistakes, theme: GraphicalTheme) -> String {
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme).with_width(100).with_links(false);
    if handler.render_report(&mut text, mistakes).is_err() {
        text = mistakes.to_string();
    }
    text
}

/// The message of an error of the library with its causes, a line each, in the words of the library.
pub fn causes(error: &Error) -> String {
    let (error, told): (&Error, Box<dyn Fn(&str) -> String>) = match error {
        Error::Located { error, places } => (error, Box::new(|text| places.told(text))),
        error => (error, Box::new(ToString::to_string)),
    };
    let mut text = error.to_string();
    let (mut above, mut cause) = (text.clone(), error.source());
    while let Some(below) = cause {
        let message = below.to_string();
        // an error may only pass on its cause
        if message != above {
            let _ = write!(text, "\n  because: {message}");
        }
        (above, cause) = (message, below.source());
    }
    plain(&told(&text)).into_owned()
}

/// Print to standard output, control characters told instead of sent. A reader that went away is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(plain(text).as_bytes()).and_then(|()| out.flush()) {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Unprinted { cause }),
        _ => Ok(()),
    }
}

fn ending(path: &std::path::Path) -> String {
    let known = Format::ALL.map(Format::ending).join(", ");
    match path.extension().and_then(|ending| ending.to_str()) {
        Some(other @ ("png" | "gif" | "pdf" | "mp4")) => {
            format!("pictures are not written as {other}; use svg for stills, or html for the moving picture")
        }
        Some(other) => format!("the ending {other} is not known; use one of {known}"),
        None => format!("the name has no ending that says the format; use one of {known}"),
    }
}
