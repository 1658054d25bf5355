//! The arguments as they are given. Values are checked one by one here, together where they are used.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use daedal::Tolerance;
use daedal::catalogue;
use daedal::dae::Form;
use daedal::formulation::{Baumgarte, Formulation};
use daedal::hybrid::Detection;
use daedal::method::controller::Control;
use daedal::method::geoms::{Decomposition, Multipliers, NewtonPoint, Polish, Predictor, Selection, SelectorUpdate};
use daedal::method::radau::Stages;
use daedal::method::symplectic::Composition;
use std::path::PathBuf;

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
    /// One self-contained page with plots from a run file
    Report(Report),
    /// What can be known before a run: constraints, index, freedom, redundancy, consistency, time scales
    Check(Check),
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
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct Init {
    #[command(flatten)]
    pub model: Model,
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
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct Report {
    /// A run file that `daedal solve` wrote: json, npz or csv
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// The page to write [default: the name of the run file, ending in html]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct Check {
    #[command(flatten)]
    pub model: Model,
    /// How to print
    #[arg(long, value_name = "FORMAT", value_parser = choice(&LIST_FORMATS), default_value = "text")]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct Compare {
    #[command(flatten)]
    pub model: Model,
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
    pub tolerances: Tolerances,
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

/// Which model, with which parameters.
#[derive(Args, Debug, Default)]
pub struct Model {
    /// A model file, or the name of a reference problem; `daedal list` shows them
    #[arg(value_name = "MODEL")]
    pub name: String,
    /// Change a parameter of the model
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, f64)>,
    /// Initial time [default: that of the model]
    #[arg(long, value_name = "T", value_parser = finite, allow_hyphen_values = true)]
    pub t0: Option<f64>,
    /// How formulas are evaluated: native code, a tape, or the program of a reference problem
    #[arg(long, value_name = "KIND", value_parser = choice(&KERNELS), default_value = "native")]
    pub kernel: Kernel,
}

#[derive(Args, Debug, Default)]
pub struct Solve {
    #[command(flatten)]
    pub model: Model,
    /// End of the interval [default: that of the model]
    #[arg(long, value_name = "T", value_parser = finite, allow_hyphen_values = true)]
    pub tend: Option<f64>,
    /// Numerical method; auto decides from the equations and says why. General systems are solved by radau and bdf; the others are for
    /// equations of motion, see `daedal list --methods` [default: that of the model, else auto]
    #[arg(long, value_name = "METHOD", value_parser = method())]
    pub method: Option<MethodName>,
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
    pub save: Option<Kept>,
    /// Write what is kept to this file; the ending says how: csv, json, npz, html
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Verify the run: put the solution into the equations as they were written, between the steps, with derivatives by differences
    #[arg(long)]
    pub verify: bool,
    /// Print what the run did as one JSON object
    #[arg(long, value_name = "FORMAT", value_parser = ["json"])]
    pub stats: Option<String>,
    /// Most switches between modes [default: that of the model, else 100000]
    #[arg(long, help_heading = MODES_HEADING, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_switches: Option<u64>,
    /// How sliding between modes is noticed: by the condition that both lead to the surface between them, by three switches in short
    /// succession, by both (auto), or not at all [default: that of the model, else auto]
    #[arg(long, help_heading = MODES_HEADING, value_name = "HOW", value_parser = choice(&DETECTIONS))]
    pub sliding: Option<Detection>,
    /// Write the table of switches to this file, which ends in csv
    #[arg(long, help_heading = MODES_HEADING, value_name = "FILE")]
    pub events: Option<PathBuf>,
    #[command(flatten)]
    pub options: MethodArguments,
}

/// Options of methods; those that are absent keep their defaults.
#[derive(Args, Debug, Default)]
pub struct MethodArguments {
    /// Which equations are discretised: auto, plain, quasilinear, array, linear of general systems, the others of motion, where each
    /// method takes some of them
    #[arg(long, help_heading = METHODS_HEADING, value_name = "FORM", value_parser = formulation())]
    pub formulation: Option<FormName>,
    /// Step size control; fixed is the only one of bdf
    #[arg(long, help_heading = METHODS_HEADING, value_name = "RULE", value_parser = choice(&CONTROLS))]
    pub control: Option<Control>,
    /// Most Newton iterations
    #[arg(long, help_heading = METHODS_HEADING, value_name = "N", value_parser = clap::value_parser!(u32).range(3..=1000))]
    pub max_newton: Option<u32>,
    /// Stopping factor of Newton's iteration
    #[arg(long, help_heading = METHODS_HEADING, value_name = "X", value_parser = positive, allow_hyphen_values = true)]
    pub newton_tolerance: Option<f64>,
    /// A Jacobian is kept while the iteration contracts faster than this; negative: never
    #[arg(long, help_heading = METHODS_HEADING, value_name = "X", value_parser = finite, allow_hyphen_values = true)]
    pub jacobian_reuse: Option<f64>,
    /// Safety factor of the step size control; not of bdf
    #[arg(long, help_heading = METHODS_HEADING, value_name = "X", value_parser = positive, allow_hyphen_values = true)]
    pub safety: Option<f64>,
    /// Largest order of bdf, 1 to 5
    #[arg(long, help_heading = METHODS_HEADING, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=5))]
    pub max_order: Option<u8>,
    /// Number of stages: 1, 3, 5, 7 or auto of radau, 2, 3 or 4 of lobatto
    #[arg(long, help_heading = METHODS_HEADING, value_name = "N", value_parser = choice(&STAGES))]
    pub stages: Option<Stages>,
    /// Parameters of the formulation baumgarte [default: 10,10,10]
    #[arg(long, help_heading = METHODS_HEADING, value_name = "ALPHA,BETA,DELTA", value_parser = baumgarte, allow_hyphen_values = true)]
    pub baumgarte: Option<Baumgarte>,
    /// Composition of rattle, for a higher order
    #[arg(long, help_heading = METHODS_HEADING, value_name = "KIND", value_parser = choice(&COMPOSITIONS))]
    pub composition: Option<Composition>,
    /// What alpha leaves of the highest frequencies after a step, 0 to 1 [default: 0.9]
    #[arg(long, help_heading = METHODS_HEADING, value_name = "RHO", value_parser = finite, allow_hyphen_values = true)]
    pub rho: Option<f64>,
    /// Start from the setting that reproduces the published counters
    #[arg(long, help_heading = GEOMS_HEADING)]
    pub reproduction: bool,
    /// Decomposition of the constraints
    #[arg(long, help_heading = GEOMS_HEADING, value_name = "KIND", value_parser = choice(&CONSTRAINT_DECOMPOSITIONS))]
    pub decomposition: Option<Chosen>,
    /// Decomposition of the differential part
    #[arg(long, help_heading = GEOMS_HEADING, value_name = "KIND", value_parser = choice(&DIFFERENTIAL_DECOMPOSITIONS))]
    pub differential: Option<Chosen>,
    /// How differential equations are selected
    #[arg(long, help_heading = GEOMS_HEADING, value_name = "HOW", value_parser = choice(&SELECTIONS))]
    pub selection: Option<Selection>,
    /// When differential equations are selected anew
    #[arg(long, help_heading = GEOMS_HEADING, value_name = "WHEN", value_parser = choice(&SELECTOR_UPDATES))]
    pub selector_update: Option<SelectorUpdate>,
    /// Where Newton's iteration starts
    #[arg(long, help_heading = GEOMS_HEADING, value_name = "WHERE", value_parser = choice(&PREDICTORS))]
    pub predictor: Option<Predictor>,
    /// Where the Newton matrix is evaluated: left end or stage
    #[arg(long, help_heading = GEOMS_HEADING, value_name = "WHERE", value_parser = choice(&NEWTON_POINTS))]
    pub newton_point: Option<NewtonPoint>,
    /// Newton matrices renewed inside a step that converges slowly
    #[arg(long, help_heading = GEOMS_HEADING, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub newton_updates: Option<u32>,
    /// Filter the error estimate once more in the first step and after rejections
    #[arg(long, help_heading = GEOMS_HEADING)]
    pub refilter: bool,
    /// Relative pivots below this count as zero
    #[arg(long, help_heading = GEOMS_HEADING, value_name = "X", value_parser = positive, allow_hyphen_values = true)]
    pub rank_tolerance: Option<f64>,
    /// How exactly the constraints hold at the end of a step
    #[arg(long, help_heading = GEOMS_HEADING, value_name = "HOW", value_parser = choice(&POLISHES))]
    pub polish: Option<Polish>,
    /// Are the multipliers wanted as accurately as the motion?
    #[arg(long, help_heading = GEOMS_HEADING, value_name = "WANTED", value_parser = choice(&MULTIPLIERS))]
    pub multipliers: Option<Multipliers>,
}

const MODES_HEADING: &str = "Options of models with modes";
const METHODS_HEADING: &str = "Options of the methods";
const GEOMS_HEADING: &str = "Options of GEOMS";

/// How to print what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
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

/// Tolerances, the largest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Tolerances(pub Vec<f64>);

/// How formulas are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kernel {
    /// Machine code.
    #[default]
    Native,
    /// Instructions that are interpreted.
    Tape,
    /// The program that a reference problem is written as.
    Rust,
}

/// A numerical method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodName {
    /// The usual one for the model.
    Auto,
    /// One of the catalogue; radau and bdf are for general systems as well.
    Named(&'static str),
}

/// Which equations are discretised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FormName {
    /// Of motion.
    Motion(Formulation),
    /// Of a general system.
    General(Form),
}

/// What to keep of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Every step, with points between them.
    Dense,
    /// Every step.
    Steps,
    /// The end.
    End,
    /// Points at equal distances, both ends among them.
    Points(u32),
}

/// A decomposition; `None` leaves the choice to the solver.
pub type Chosen = Option<Decomposition>;

type Choices<T, const N: usize> = [(&'static str, T); N];

const LIST_FORMATS: Choices<Format, 2> = [("text", Format::Text), ("json", Format::Json)];
const INIT_FORMATS: Choices<Format, 2> = [("toml", Format::Text), ("json", Format::Json)];
const TABLE_FORMATS: Choices<TableFormat, 3> =
    [("text", TableFormat::Text), ("csv", TableFormat::Csv), ("json", TableFormat::Json)];
const KERNELS: Choices<Kernel, 3> = [("native", Kernel::Native), ("tape", Kernel::Tape), ("rust", Kernel::Rust)];
const CONSTRAINT_DECOMPOSITIONS: Choices<Chosen, 4> = [
    ("auto", None),
    ("lu", Some(Decomposition::Lu)),
    ("qr", Some(Decomposition::Qr)),
    ("svd", Some(Decomposition::Svd)),
];
const DIFFERENTIAL_DECOMPOSITIONS: Choices<Chosen, 3> =
    [("auto", None), ("lu", Some(Decomposition::Lu)), ("qr", Some(Decomposition::Qr))];
const SELECTIONS: Choices<Selection, 2> = [("blockwise", Selection::Blockwise), ("joint", Selection::Joint)];
const SELECTOR_UPDATES: Choices<SelectorUpdate, 2> =
    [("adaptive", SelectorUpdate::Adaptive), ("every-jacobian", SelectorUpdate::EveryJacobian)];
const CONTROLS: Choices<Control, 4> = [
    ("radau5", Control::Radau5),
    ("thesis", Control::Thesis),
    ("classical", Control::Classical),
    ("fixed", Control::Fixed),
];
const DETECTIONS: Choices<Detection, 4> = [
    ("auto", Detection::Both),
    ("condition", Detection::Condition),
    ("three-points", Detection::ThreePoints),
    ("off", Detection::Off),
];
const STAGES: Choices<Stages, 7> = [
    ("1", Stages::Fixed(1)),
    ("2", Stages::Fixed(2)),
    ("3", Stages::Fixed(3)),
    ("4", Stages::Fixed(4)),
    ("5", Stages::Fixed(5)),
    ("7", Stages::Fixed(7)),
    ("auto", Stages::VARIABLE),
];
const COMPOSITIONS: Choices<Composition, 4> = [
    ("none", Composition::None),
    ("yoshida4", Composition::Yoshida4),
    ("suzuki4", Composition::Suzuki4),
    ("kahan-li6", Composition::KahanLi6),
];
const PREDICTORS: Choices<Predictor, 2> = [("extrapolate", Predictor::Extrapolate), ("zero", Predictor::Zero)];
const NEWTON_POINTS: Choices<NewtonPoint, 4> = [
    ("left", NewtonPoint::Left),
    ("1", NewtonPoint::Stage(1)),
    ("2", NewtonPoint::Stage(2)),
    ("3", NewtonPoint::Stage(3)),
];
const POLISHES: Choices<Polish, 3> = [("off", Polish::Off), ("once", Polish::Once), ("rounding", Polish::Rounding)];
const MULTIPLIERS: Choices<Multipliers, 2> = [("wanted", Multipliers::Wanted), ("unwanted", Multipliers::Unwanted)];

/// One of these words, as the value it stands for.
fn choice<T: Copy + Send + Sync>(choices: &'static [(&'static str, T)]) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(choices.iter().map(|(word, _)| *word)).map(move |given| {
        let k = choices.iter().position(|(word, _)| *word == given).unwrap_or(0);
        choices[k].1
    })
}

/// One of the catalogue, or auto.
fn method() -> impl TypedValueParser<Value = MethodName> {
    let names = || catalogue::all().iter().map(|entry| entry.name);
    PossibleValuesParser::new(["auto"].into_iter().chain(names()))
        .map(move |given| names().find(|name| *name == given).map_or(MethodName::Auto, MethodName::Named))
}

/// A formulation of equations of motion or a form of a general system.
fn formulation() -> impl TypedValueParser<Value = FormName> {
    let motion = Formulation::ALL.into_iter().map(|one| (one.name(), FormName::Motion(one)));
    let general = Form::ALL.into_iter().map(|form| (form.name(), FormName::General(form)));
    let known: Vec<(&'static str, FormName)> = motion.chain(general).collect();
    PossibleValuesParser::new(known.iter().map(|(word, _)| *word)).map(move |given| {
        let k = known.iter().position(|(word, _)| *word == given).unwrap_or(0);
        known[k].1
    })
}

/// A value that is not possible on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadValue {
    #[error("expected a number")]
    Unreadable,
    #[error("it must be finite")]
    Infinite,
    #[error("it must be positive and finite")]
    OutOfRange,
    #[error("expected three numbers: ALPHA,BETA,DELTA")]
    NotThree,
    #[error("negative values make residuals grow")]
    Negative,
    #[error("expected NAME=VALUE")]
    NoAssignment,
    #[error("expected dense, steps, end, or a number of points from 2 to {MOST_POINTS}")]
    UnknownSave,
    #[error("a tolerance must lie between {:e} and 1", Tolerance::SMALLEST_RTOL)]
    ImpossibleTolerance,
}

/// More points than this are taken for a slip.
const MOST_POINTS: u32 = 10_000_000;

fn finite(text: &str) -> Result<f64, BadValue> {
    let value: f64 = text.trim().parse().map_err(|_| BadValue::Unreadable)?;
    if value.is_finite() { Ok(value) } else { Err(BadValue::Infinite) }
}

fn baumgarte(text: &str) -> Result<Baumgarte, BadValue> {
    let numbers: Vec<f64> = text.split(',').map(finite).collect::<Result<_, _>>()?;
    let [alpha, beta, delta] = numbers[..] else { return Err(BadValue::NotThree) };
    if numbers.iter().any(|x| *x < 0.0) {
        return Err(BadValue::Negative);
    }
    Ok(Baumgarte { alpha, beta, delta })
}

fn positive(text: &str) -> Result<f64, BadValue> {
    match finite(text) {
        Ok(value) if value > 0.0 => Ok(value),
        Ok(_) | Err(BadValue::Infinite) => Err(BadValue::OutOfRange),
        Err(bad) => Err(bad),
    }
}

fn assignment(text: &str) -> Result<(String, f64), BadValue> {
    let (name, value) = text.split_once('=').ok_or(BadValue::NoAssignment)?;
    Ok((name.trim().to_string(), finite(value)?))
}

fn positive_assignment(text: &str) -> Result<(String, f64), BadValue> {
    let (name, value) = text.split_once('=').ok_or(BadValue::NoAssignment)?;
    Ok((name.replace(' ', ""), positive(value)?))
}

/// A positive number, or one for a name.
fn for_one_or_all(text: &str) -> Result<(Option<String>, f64), BadValue> {
    if text.contains('=') {
        positive_assignment(text).map(|(name, value)| (Some(name), value))
    } else {
        positive(text).map(|value| (None, value))
    }
}

/// Numbers and ranges of decades; each number once.
fn tolerances(text: &str) -> Result<Tolerances, BadValue> {
    let tolerance = |text: &str| match positive(text)? {
        x if x > Tolerance::SMALLEST_RTOL && x <= 1.0 => Ok(x),
        _ => Err(BadValue::ImpossibleTolerance),
    };
    let mut list: Vec<f64> = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            None => list.push(tolerance(part)?),
            Some((one, other)) => {
                let (one, other) = (tolerance(one)?, tolerance(other)?);
                let (largest, smallest) = (one.max(other), one.min(other));
                // the decimal number is meant, not the product
                let decade = |k: i32| format!("{:.6e}", largest * 10.0_f64.powi(-k)).parse().unwrap_or(largest);
                list.extend((0..).map(decade).take_while(|x: &f64| *x > smallest * (1.0 - 1e-6)));
            }
        }
    }
    list.sort_by(|a, b| b.total_cmp(a));
    list.dedup();
    Ok(Tolerances(list))
}

fn kept(text: &str) -> Result<Kept, BadValue> {
    match text {
        "dense" => Ok(Kept::Dense),
        "steps" => Ok(Kept::Steps),
        "end" => Ok(Kept::End),
        number => match number.parse() {
            Ok(points) if (2..=MOST_POINTS).contains(&points) => Ok(Kept::Points(points)),
            _ => Err(BadValue::UnknownSave),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_are_numbers_and_decades() {
        let list = |text: &str| tolerances(text).map(|Tolerances(list)| list);
        assert_eq!(list("1e-5,1e-3, 1e-4,1e-3"), Ok(vec![1e-3, 1e-4, 1e-5]));
        assert_eq!(list("1e-3..1e-9"), Ok(vec![1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9]));
        assert_eq!(list("1e-6..2e-4"), Ok(vec![2e-4, 2e-5, 2e-6]));
        assert_eq!(list("1e-20"), Err(BadValue::ImpossibleTolerance));
        assert_eq!(list("1e-3..2"), Err(BadValue::ImpossibleTolerance));
        assert_eq!(list("small"), Err(BadValue::Unreadable));
        assert_eq!(list(""), Err(BadValue::Unreadable));
    }
}
