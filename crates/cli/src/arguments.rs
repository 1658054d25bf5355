//! The arguments as they are given. Values are checked one by one here, together where they are used.

mod methods;
mod values;

pub use methods::MethodArguments;
pub use values::ToleranceList;

use crate::failure::Failure;
use crate::list;
use clap::{Args, Parser, Subcommand};
use daedal::linalg::Matrices;
use daedal_model::Base;
use daedal_simulation::control::FeedbackKind;
use daedal_simulation::{
    Error, EventAction, EventSetting, KernelKind, ModelSource, SaveSetting, Settings, SlidingSetting, reference,
};
use methods::METHODS_HEADING;
use std::path::{Path, PathBuf};
use values::{
    BASES, DETECTIONS, FEEDBACKS, INIT_FORMATS, KERNELS, LIST_FORMATS, MATRICES, TABLE_FORMATS, assignment, choice,
    finite, for_one_or_all, formulation, kept, method, part, positive, positive_assignment, tolerances, varied,
};

/// Simulate constrained mechanical systems and other DAEs, and keep every constraint, the hidden ones included
#[derive(Debug, Parser)]
#[command(name = "daedal", version, arg_required_else_help = true, subcommand_required = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Reference problems that ship with the command
    List(List),
    /// Simulate a model
    Solve(Box<Solve>),
    /// Consistent initial values, printed as an `[initial]` table
    Init(Init),
    /// Formulations × methods × tolerances: what each costs, how accurate it is, how well it keeps the constraints
    Compare(Box<Compare>),
    /// What the automatic choice costs against the best method at the same error, over many models
    Study(StudyArguments),
    /// Many runs with other values of parameters, on all processors: arrays for NumPy, a table, a page
    Sweep(Box<SweepArguments>),
    /// One self-contained page with plots from a run file
    Report(Report),
    /// A robot of URDF or MJCF as a model file with bodies, joints and forces
    Import(Import),
    /// What can be known before a run: constraints, index, freedom, redundancy, consistency, time scales
    Check(CheckArguments),
    /// What can be known about the control of a model with [control]: controllability, feedback, optimal course, sliding
    Control(ControlArguments),
}

#[derive(Args, Debug)]
pub struct List {
    /// Tell everything about this problem
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Tell everything about every problem
    #[arg(long, short)]
    pub verbose: bool,
    /// Methods for equations of motion instead, with the formulations that each of them takes
    #[arg(long, conflicts_with_all = ["name", "verbose"])]
    pub methods: bool,
    /// How to print
    #[arg(long, value_name = "FORMAT", value_parser = choice(&LIST_FORMATS), default_value = "text")]
    pub format: OutputFormat,
}

#[derive(Args, Debug)]
pub struct Init {
    #[command(flatten)]
    pub model: ModelArguments,
    /// This value holds and is not moved
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub fix: Vec<(String, f64)>,
    /// This value helps: the nearest consistent values are taken
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub guess: Vec<(String, f64)>,
    /// Nothing is known about this value
    #[arg(long, value_name = "NAME")]
    pub unknown: Vec<String>,
    /// How to print
    #[arg(long, value_name = "FORMAT", value_parser = choice(&INIT_FORMATS), default_value = "toml")]
    pub format: OutputFormat,
}

#[derive(Args, Debug)]
pub struct Report {
    /// A run file that `daedal solve` wrote: json, npz or csv
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// The page (html) or the picture for papers (svg) to write [default: the name of the run file, ending in html]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct Import {
    /// A file of URDF, which begins with <robot>, or of MJCF, which begins with <mujoco>
    #[arg(value_name = "ROBOT")]
    pub robot: PathBuf,
    /// The model file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Whether the root of the robot is part of the ground [default: fixed for URDF, as the file says for MJCF]
    #[arg(long, value_name = "BASE", value_parser = choice(&BASES))]
    pub base: Option<Base>,
}

#[derive(Args, Debug)]
pub struct CheckArguments {
    #[command(flatten)]
    pub model: ModelArguments,
    /// How to print
    #[arg(long, value_name = "FORMAT", value_parser = choice(&LIST_FORMATS), default_value = "text")]
    pub format: OutputFormat,
}

#[derive(Args, Debug)]
pub struct ControlArguments {
    #[command(flatten)]
    pub model: ModelArguments,
    /// Make a feedback after which the system is regular with index one at most
    #[arg(long, value_name = "KIND", value_parser = choice(&FEEDBACKS))]
    pub feedback: Option<FeedbackKind>,
    /// End of the optimal course [default: that of the model]
    #[arg(long, value_name = "T", value_parser = finite, allow_hyphen_values = true)]
    pub tend: Option<f64>,
    /// Write the model with its loop closed (toml), or the optimal course (csv, json, npz, html, svg); may be repeated
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// How to print
    #[arg(long, value_name = "FORMAT", value_parser = choice(&LIST_FORMATS), default_value = "text")]
    pub format: OutputFormat,
}

#[derive(Args, Debug)]
pub struct Compare {
    #[command(flatten)]
    pub model: ModelArguments,
    /// End of the interval [default: that of the model]
    #[arg(long, value_name = "T", value_parser = finite, allow_hyphen_values = true)]
    pub tend: Option<f64>,
    /// Methods, apart by commas, or all [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub methods: Vec<String>,
    /// Formulations, apart by commas, or all; each method takes some of them [default: all but ode for radau and bdf, the usual one of
    /// every other method]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub formulations: Vec<String>,
    /// Tolerances, relative and absolute, apart by commas; a..b are the decades from a to b
    #[arg(long, value_name = "LIST", value_parser = tolerances, default_value = "1e-3..1e-9")]
    pub tolerances: ToleranceList,
    /// First step size [default: that of the model, else chosen]
    #[arg(long, value_name = "H", value_parser = positive, allow_hyphen_values = true)]
    pub h0: Option<f64>,
    /// Runs at the same time [default: the number of processors]; 1 gives the most reliable times
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// How often each run is timed [default: 3, and 1 for runs longer than a second]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: Option<u32>,
    /// Stop a run after this many seconds
    #[arg(long, value_name = "S", value_parser = positive, default_value = "10")]
    pub timeout: f64,
    /// Write the comparison to this file; the ending says how: html, csv, json
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// How to print
    #[arg(long, value_name = "FORMAT", value_parser = choice(&TABLE_FORMATS), default_value = "text")]
    pub format: TableFormat,
}

#[derive(Args, Debug)]
pub struct SweepArguments {
    #[command(flatten)]
    pub model: ModelArguments,
    /// A parameter and its values: L=0.5,1,2 or m=1..2/21, which are 21 values from 1 to 2; every combination is a run
    #[arg(long, value_name = "NAME=VALUES", value_parser = varied, required = true, allow_hyphen_values = true)]
    pub vary: Vec<(String, Vec<f64>)>,
    /// Runs at the same time [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Keep finished runs in this folder, and do not make those again that are there
    #[arg(long, value_name = "FOLDER")]
    pub resume: Option<PathBuf>,
    /// Write all runs to this file; the ending says how: npz, csv, html
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// What to keep of every run: the end, or this many points at equal distances
    #[arg(long, value_name = "end|N", value_parser = kept, default_value = "end")]
    pub save: SaveSetting,
    /// End of the interval [default: that of the model]
    #[arg(long, value_name = "T", value_parser = finite, allow_hyphen_values = true)]
    pub tend: Option<f64>,
    /// Numerical method, as that of `daedal solve` [default: that of the model, else auto]
    #[arg(long, value_name = "METHOD", value_parser = method())]
    pub method: Option<String>,
    /// Which equations are discretised, as in `daedal solve`
    #[arg(long, value_name = "FORM", value_parser = formulation())]
    pub formulation: Option<String>,
    /// Relative tolerance [default: that of the model, else 1e-7]
    #[arg(long, value_name = "X", value_parser = positive, allow_hyphen_values = true)]
    pub rtol: Option<f64>,
    /// Absolute tolerance, of all variables or of one; may be repeated [default: that of the model, else rtol]
    #[arg(long, value_name = "[NAME=]X", value_parser = for_one_or_all, allow_hyphen_values = true)]
    pub atol: Vec<(Option<String>, f64)>,
    /// Most attempts [default: 100000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: Option<u64>,
    /// Stop a run where this condition becomes true; may be repeated
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    pub stop_when: Vec<String>,
    #[command(flatten)]
    pub options: MethodArguments,
}

impl SweepArguments {
    /// What is asked of every run.
    pub fn settings(&self) -> Settings {
        let (for_all, of): (Vec<_>, Vec<_>) = self.atol.iter().cloned().partition(|(name, _)| name.is_none());
        Settings {
            t0: self.model.t0,
            tend: self.tend,
            method: self.method.clone(),
            formulation: self.formulation.clone(),
            rtol: self.rtol,
            atol: for_all.last().map(|(_, atol)| *atol),
            atol_of: of.into_iter().filter_map(|(name, atol)| Some((name?, atol))).collect(),
            max_steps: self.max_steps,
            rank_tolerance: self.model.rank_tolerance,
            save: self.save.clone(),
            events: self.stop_when.iter().map(|when| EventSetting::new(when.as_str(), EventAction::Stop)).collect(),
            keep_switches: Some(0),
            options: self.options.0.clone(),
            ..Settings::default()
        }
    }
}

#[derive(Args, Debug)]
pub struct StudyArguments {
    /// Model files, or names of reference problems
    #[arg(value_name = "MODEL", required_unless_present = "from")]
    pub models: Vec<String>,
    /// Tolerances, relative and absolute, apart by commas
    #[arg(long, value_name = "LIST", value_parser = tolerances, default_value = "1e-4,1e-6,1e-8")]
    pub tolerances: ToleranceList,
    /// Methods with options that compete besides, apart by commas, as radau:stages=auto
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub besides: Vec<String>,
    /// Longest time of a run, in seconds
    #[arg(long, value_name = "S", value_parser = positive, default_value = "5")]
    pub timeout: f64,
    /// Do not run anything: show what this file holds
    #[arg(long, value_name = "FILE", conflicts_with_all = ["models", "output", "besides"])]
    pub from: Option<PathBuf>,
    /// Write the study to this file, as json
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Which model, with which parameters.
#[derive(Args, Debug, Default)]
pub struct ModelArguments {
    /// A model file, or the name of a reference problem; `daedal list` shows them
    #[arg(value_name = "MODEL")]
    pub name: String,
    /// Change a parameter of the model
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, f64)>,
    /// Initial time [default: that of the model]
    #[arg(long, value_name = "T", value_parser = finite, allow_hyphen_values = true)]
    pub t0: Option<f64>,
    /// How formulas are evaluated: native code, a tape, a tape until native code pays, or the program of a reference problem
    #[arg(long, value_name = "KIND", value_parser = choice(&KERNELS), default_value = "auto")]
    pub kernel: KernelKind,
    /// Singular values and pivots below this part of the size of their matrix count as zero, in every decision about a rank [default: that
    /// of the model, else 1e-12 to 1e-8, as exactly as the matrix is known]
    #[arg(long, value_name = "X", value_parser = part, allow_hyphen_values = true)]
    pub rank_tolerance: Option<f64>,
    /// Dense matrices, sparse ones where the pattern is known, or sparse ones where they are large and have few entries [default: that of
    /// the model, else auto]
    #[arg(long, value_name = "KIND", value_parser = choice(&MATRICES))]
    pub matrices: Option<Matrices>,
}

impl ModelArguments {
    /// The model that is named, a file or a reference problem, with some parameters changed.
    pub fn load(&self) -> Result<daedal_simulation::Model, Failure> {
        let source = if self.is_file() {
            if self.kernel == KernelKind::Rust {
                return Err(Error::NoProgram { name: self.name.clone() }.into());
            }
            ModelSource::load(&self.name)?
        } else {
            let found = reference::find(&self.name)?;
            list::told(&found);
            ModelSource::Reference(found.problem)
        };
        let model = source.model(&self.set, self.kernel)?;
        let model = match self.matrices {
            Some(matrices) => model.with_matrices(matrices)?,
            None => model,
        };
        Ok(match self.rank_tolerance {
            Some(tolerance) => model.with_rank_tolerance(tolerance)?,
            None => model,
        })
    }

    /// Does the name stand for a file?
    fn is_file(&self) -> bool {
        let path = Path::new(&self.name);
        let toml = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
        toml || self.name.contains(['/', '\\']) || path.is_file()
    }
}

#[derive(Args, Debug, Default)]
pub struct Solve {
    #[command(flatten)]
    pub model: ModelArguments,
    /// End of the interval [default: that of the model]
    #[arg(long, value_name = "T", value_parser = finite, allow_hyphen_values = true)]
    pub tend: Option<f64>,
    /// Numerical method; auto decides from the equations and says why. General systems are solved by radau, bdf, rodas, trapezoidal, gauss, radau-ia and lobatto-iiic, ordinary
    /// differential equations by dopri5 and dop853 as well, linear ones with constant coefficients by exact; the others are for equations of motion, see `daedal list --methods` [default: that of the model, else auto]
    #[arg(long, value_name = "METHOD", value_parser = method())]
    pub method: Option<String>,
    /// Relative tolerance [default: that of the model, else 1e-7]
    #[arg(long, value_name = "X", value_parser = positive, allow_hyphen_values = true)]
    pub rtol: Option<f64>,
    /// Absolute tolerance, of all variables or of one; may be repeated [default: that of the model, else rtol]
    #[arg(long, value_name = "[NAME=]X", value_parser = for_one_or_all, allow_hyphen_values = true)]
    pub atol: Vec<(Option<String>, f64)>,
    /// Usual size of a variable, whose absolute tolerance is rtol times it; may be repeated
    #[arg(long, value_name = "NAME=X", value_parser = positive_assignment, allow_hyphen_values = true)]
    pub nominal: Vec<(String, f64)>,
    /// First step size [default: that of the model, else chosen]
    #[arg(long, value_name = "H", value_parser = positive, allow_hyphen_values = true)]
    pub h0: Option<f64>,
    /// Largest step size [default: that of the model, else a tenth of the interval]
    #[arg(long, value_name = "H", value_parser = positive, allow_hyphen_values = true)]
    pub hmax: Option<f64>,
    /// Most attempts [default: 100000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: Option<u64>,
    /// What to keep: every step with as many points between them as a smooth curve needs (dense), every step, the end, or this many
    /// points at equal distances [default: dense with an output file, else end]
    #[arg(long, value_name = "dense|steps|end|N", value_parser = kept)]
    pub save: Option<SaveSetting>,
    /// Write what is kept to this file; the ending says how: csv, json, npz, html, svg
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Verify the run: put the solution into the equations as they were written, between the steps, with derivatives by differences
    #[arg(long)]
    pub verify: bool,
    /// Take the initial values of equations of motion as they are, without a search for consistent ones; all must be given, accelerations follow
    /// from the dynamics
    #[arg(long)]
    pub trust_initial: bool,
    /// Print what the run did as one JSON object
    #[arg(long, value_name = "FORMAT", value_parser = ["json"])]
    pub stats: Option<String>,
    /// Stop where this condition becomes true, as in "y < -0.99 and vx > 0"; may be repeated
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    pub stop_when: Vec<String>,
    /// Write down where this condition becomes true; may be repeated
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    pub record_when: Vec<String>,
    /// Write the table of events, with modes that of switches and events, to this file, which ends in csv
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Most switches between modes [default: that of the model, else 100000]
    #[arg(long, help_heading = MODES_HEADING, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_switches: Option<u64>,
    /// How exactly times of switches are found [default: that of the model, else 100 units of rounding]
    #[arg(long, help_heading = MODES_HEADING, value_name = "T", value_parser = positive, allow_hyphen_values = true)]
    pub time_tolerance: Option<f64>,
    /// How sliding between modes is noticed: by the condition that both lead to the surface between them, by three switches in short
    /// succession, by both (auto), or not at all [default: that of the model, else auto]
    #[arg(long, help_heading = MODES_HEADING, value_name = "HOW", value_parser = choice(&DETECTIONS))]
    pub sliding: Option<SlidingSetting>,
    /// Which equations are discretised: auto, plain, quasilinear, array, linear, least-squares of general systems, the others of motion, where each
    /// method takes some of them
    #[arg(long, help_heading = METHODS_HEADING, value_name = "FORM", value_parser = formulation())]
    pub formulation: Option<String>,
    #[command(flatten)]
    pub options: MethodArguments,
}

impl Solve {
    /// What is asked for.
    pub fn settings(&self) -> Settings {
        let (for_all, of): (Vec<_>, Vec<_>) = self.atol.iter().cloned().partition(|(name, _)| name.is_none());
        let usual = if self.output.is_empty() { SaveSetting::End } else { SaveSetting::Dense };
        Settings {
            t0: self.model.t0,
            tend: self.tend,
            method: self.method.clone(),
            formulation: self.formulation.clone(),
            rtol: self.rtol,
            atol: for_all.last().map(|(_, atol)| *atol),
            atol_of: of.into_iter().filter_map(|(name, atol)| Some((name?, atol))).collect(),
            nominal: self.nominal.clone(),
            h0: self.h0,
            hmax: self.hmax,
            max_steps: self.max_steps,
            rank_tolerance: self.model.rank_tolerance,
            trust_initial: self.trust_initial,
            save: self.save.clone().unwrap_or(usual),
            verify: self.verify,
            events: self.asked_events(),
            max_switches: self.max_switches,
            time_tolerance: self.time_tolerance,
            sliding: self.sliding,
            // nothing but the summary shows them
            keep_switches: (self.output.is_empty() && self.events.is_none()).then_some(SHOWN_SWITCHES),
            options: self.options.0.clone(),
        }
    }
}

impl Solve {
    /// Those that are written down first: one that stops ends the list of what happened.
    fn asked_events(&self) -> Vec<EventSetting> {
        let record = self.record_when.iter().map(|when| EventSetting::new(when.as_str(), EventAction::Record));
        record.chain(self.stop_when.iter().map(|when| EventSetting::new(when.as_str(), EventAction::Stop))).collect()
    }
}

/// Rows of the table of switches at its begin and at its end.
pub const SHOWN_SWITCHES: usize = 10;

const MODES_HEADING: &str = "Options of models with modes";

/// How to print what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// How to print a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// For people.
    Text,
    /// For spreadsheets.
    Csv,
    /// For programs.
    Json,
}
