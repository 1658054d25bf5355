//! What can be wrong in a model file: every mistake marks its place and says what was expected.
//!
//! [`Mistakes`] implements [`miette::Diagnostic`], so that the command shows the lines of the file; [`Mistakes::lines`]
//! gives the same as plain text, one line each.

use miette::{Diagnostic, NamedSource, SourceCode, SourceSpan};
use std::fmt;
use std::fmt::Write;
use std::sync::Arc;

/// One mistake in a model file.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Diagnostic)]
#[non_exhaustive]
pub enum Mistake {
    /// The file is not TOML.
    #[error("this is not valid TOML: {message}")]
    Toml {
        /// What the TOML parser says.
        message: String,
        /// Where.
        #[label("here")]
        at: SourceSpan,
        /// What to try.
        #[help]
        help: Option<String>,
    },
    /// The file of a robot is not XML.
    #[error("this is not valid XML: {message}")]
    Xml {
        /// What the XML parser says.
        message: String,
        /// Where.
        #[label("here")]
        at: SourceSpan,
        /// What to try.
        #[help]
        help: Option<String>,
    },
    /// A formula cannot be read.
    #[error("{message}")]
    Syntax {
        /// What is wrong.
        message: String,
        /// What is marked.
        label: String,
        /// Where.
        #[label("{label}")]
        at: SourceSpan,
        /// What to try.
        #[help]
        help: Option<String>,
    },
    /// Brackets or other constructions inside each other, too many for the parser.
    #[error("the formula is nested too deeply")]
    #[diagnostic(help("at most {limit} levels are read; give parts of the formula a name in [definitions]"))]
    TooDeep {
        /// The limit.
        limit: usize,
        /// Where it is exceeded.
        #[label("level {limit} begins here")]
        at: SourceSpan,
    },
    /// A name that nothing has.
    #[error("nothing is called `{name}`")]
    UnknownName {
        /// The name.
        name: String,
        /// Where.
        #[label("unknown name")]
        at: SourceSpan,
        /// What to try.
        #[help]
        help: Option<String>,
    },
    /// A function that does not exist.
    #[error("there is no function `{name}`")]
    UnknownFunction {
        /// The name.
        name: String,
        /// Where.
        #[label("unknown function")]
        at: SourceSpan,
        /// What to try.
        #[help]
        help: Option<String>,
    },
    /// Too many or too few arguments.
    #[error("`{function}` takes {expected}, but has {found}")]
    Arguments {
        /// The function.
        function: String,
        /// "1 argument".
        expected: String,
        /// How many are written.
        found: usize,
        /// Where.
        #[label("{found} given")]
        at: SourceSpan,
    },
    /// The same name twice.
    #[error("`{name}` is declared twice")]
    Duplicate {
        /// The name.
        name: String,
        /// What the first one is.
        what: String,
        /// The first place, where it is in the file.
        #[label("first, as {what}")]
        first: Option<SourceSpan>,
        /// The second place.
        #[label("again here")]
        at: SourceSpan,
        /// What to try.
        #[help]
        help: Option<String>,
    },
    /// A list of the wrong length.
    #[error("{message}")]
    Count {
        /// "3 forces are given for 2 velocities".
        message: String,
        /// The list.
        #[label("{found} here")]
        at: SourceSpan,
        /// How many entries it has.
        found: usize,
        /// What to try.
        #[help]
        help: Option<String>,
    },
    /// A key that the section does not have.
    #[error("{section} has no key `{key}`")]
    UnknownKey {
        /// The key.
        key: String,
        /// "\[motion\]".
        section: String,
        /// Where.
        #[label("unknown key")]
        at: SourceSpan,
        /// What to try.
        #[help]
        help: String,
    },
    /// A section that does not exist.
    #[error("there is no section [{section}]")]
    UnknownSection {
        /// The section.
        section: String,
        /// Where.
        #[label("unknown section")]
        at: SourceSpan,
        /// What to try.
        #[help]
        help: String,
    },
    /// A section or key that must be there.
    #[error("{what} is missing")]
    Missing {
        /// "the key `mass` of \[motion\]".
        what: String,
        /// Where it could stand.
        #[label("{label}")]
        at: SourceSpan,
        /// What is marked.
        label: String,
        /// What to try.
        #[help]
        help: String,
    },
    /// A TOML value of the wrong kind.
    #[error("{what} must be {expected}, not {found}")]
    WrongType {
        /// "`name`".
        what: String,
        /// "a string".
        expected: String,
        /// "an integer".
        found: String,
        /// Where.
        #[label("{found}")]
        at: SourceSpan,
    },
    /// A name that has a meaning already.
    #[error("`{name}` cannot be the name of {what}")]
    Reserved {
        /// The name.
        name: String,
        /// "a parameter".
        what: String,
        /// "`pi` is the constant 3.14159…".
        meaning: String,
        /// Where.
        #[label("{meaning}")]
        at: SourceSpan,
    },
    /// An initial value of something that has none.
    #[error("`{name}` cannot have an initial value: it is {kind}")]
    NotAVariable {
        /// The name.
        name: String,
        /// "a parameter".
        kind: String,
        /// Where.
        #[label("{kind}")]
        at: SourceSpan,
        /// What to try.
        #[help]
        help: String,
    },
    /// A number that is infinite or not a number.
    #[error("{what} is {}, which is not a finite number", plain(*value))]
    NotFinite {
        /// "the parameter `m`".
        what: String,
        /// Its value.
        value: f64,
        /// Where.
        #[label("this is {}", plain(*value))]
        at: SourceSpan,
    },
    /// A number that must be positive.
    #[error("{what} must be positive, not {}", plain(*value))]
    NotPositive {
        /// "`rtol`".
        what: String,
        /// Its value.
        value: f64,
        /// Where.
        #[label("not positive")]
        at: SourceSpan,
    },
    /// A number that must lie between zero and one.
    #[error("{what} must lie between 0 and 1, not {}", plain(*value))]
    NotPart {
        /// "`rank_tolerance`".
        what: String,
        /// Its value.
        value: f64,
        /// Where.
        #[label("not below 1")]
        at: SourceSpan,
    },
    /// Definitions that need each other.
    #[error("`{name}` is defined by itself: {circle}")]
    #[diagnostic(help("one of them must be given without the others"))]
    Cycle {
        /// The name.
        name: String,
        /// "a → b → a".
        circle: String,
        /// Where.
        #[label("this needs `{name}` again")]
        at: SourceSpan,
    },
    /// An index that nothing has.
    #[error("there is no `{name}`")]
    IndexOutOfRange {
        /// The name with its index.
        name: String,
        /// Where.
        #[label("{label}")]
        at: SourceSpan,
        /// What is marked.
        label: String,
        /// What to try.
        #[help]
        help: String,
    },
    /// An index or the end of a range that is not an integer.
    #[error("{what} must be an integer, but is {}", plain(*value))]
    NotAnInteger {
        /// "an index".
        what: String,
        /// Its value.
        value: f64,
        /// Where.
        #[label("this is {}", plain(*value))]
        at: SourceSpan,
    },
    /// An indexed name without index or the other way round.
    #[error("{message}")]
    Indices {
        /// What is wrong.
        message: String,
        /// Where.
        #[label("{label}")]
        at: SourceSpan,
        /// What is marked.
        label: String,
        /// What to try.
        #[help]
        help: String,
    },
    /// A variable where formulas must not contain it.
    #[error("{what} cannot stand in {place}")]
    NotAllowed {
        /// "the velocity `vx`".
        what: String,
        /// "a holonomic constraint".
        place: String,
        /// Where.
        #[label("{label}")]
        at: SourceSpan,
        /// What is marked.
        label: String,
        /// What may stand there.
        #[help]
        help: String,
    },
    /// A derivative that nothing has.
    #[error("there is no derivative {derivative}")]
    NoDerivative {
        /// "der(m)".
        derivative: String,
        /// Where.
        #[label("no such derivative")]
        at: SourceSpan,
        /// What to try.
        #[help]
        help: String,
    },
    /// A formula that must be linear or affine in the velocities.
    #[error("{what} must be {wanted} in the velocities")]
    NotLinear {
        /// "the kinematic equation of `x`".
        what: String,
        /// "linear" or "affine".
        wanted: String,
        /// Where.
        #[label("{label}")]
        at: SourceSpan,
        /// What is marked.
        label: String,
        /// What to try.
        #[help]
        help: String,
    },
    /// == or != between quantities that vary.
    #[error("`{sign}` compares constants only")]
    #[diagnostic(help(
        "quantities that vary are never exactly equal in a computation; compare with <, <=, > or >=, for example abs(a - b) <= 1e-6"
    ))]
    EqualityOfVariables {
        /// `==` or `!=`.
        sign: String,
        /// Where.
        #[label("this varies during the motion")]
        at: SourceSpan,
    },
    /// An initial value that is to hold and to be a guess.
    #[error("`{name}` is both fixed and guessed")]
    #[diagnostic(help("keep it in `fix` if the value must hold, in `guess` if it only helps to find the start"))]
    FixedAndGuessed {
        /// The variable.
        name: String,
        /// Where it is fixed.
        #[label("fixed here")]
        fix: SourceSpan,
        /// Where it is guessed.
        #[label("guessed here")]
        guess: SourceSpan,
    },
    /// `[motion]` and `[dae]` in one file.
    #[error("a model has either [motion] or [dae], not both")]
    #[diagnostic(help(
        "equations of motion belong to [motion]; a system that is not mechanical goes completely into [dae]"
    ))]
    BothKinds {
        /// The one.
        #[label("equations of motion")]
        motion: SourceSpan,
        /// The other.
        #[label("a general system")]
        dae: SourceSpan,
    },
    /// The interval of time ends before it begins.
    #[error("the interval of time ends at {}, but begins at {}", plain(*tend), plain(*t0))]
    #[diagnostic(help(
        "write time = [begin, end] with begin < end; a run backward is asked for with t0 and tend of the run"
    ))]
    TimeBackward {
        /// Begin.
        t0: f64,
        /// End.
        tend: f64,
        /// Where.
        #[label("not an interval forward in time")]
        at: SourceSpan,
    },
    /// Index ranges with too many entries.
    #[error("the index ranges of this file have too many entries")]
    #[diagnostic(help("at most {limit} {unit} are made{wanted}; is a bound of this range wrong?"))]
    TooLarge {
        /// The limit.
        limit: usize,
        /// What the range asks for where the limit is exceeded, with an estimate; empty where it is no range.
        wanted: String,
        /// "entries".
        unit: String,
        /// Where it is exceeded.
        #[label("here the limit is exceeded")]
        at: SourceSpan,
    },
    /// A mode that does not exist.
    #[error("there is no mode `{name}`")]
    UnknownMode {
        /// The name.
        name: String,
        /// Where.
        #[label("unknown mode")]
        at: SourceSpan,
        /// What to try.
        #[help]
        help: String,
    },
    /// A mode that no transition leads to.
    #[error("mode `{mode}` is never entered")]
    #[diagnostic(help(
        "no transition and no [sliding] leads from `{first}`, where the run begins, to it; add a transition with to = \"{mode}\", or remove the mode"
    ))]
    Unreachable {
        /// The mode.
        mode: String,
        /// The first mode.
        first: String,
        /// Where.
        #[label("nothing leads here")]
        at: SourceSpan,
    },
    /// A name that is no unknown of a mode.
    #[error("mode `{mode}` has no unknown `{name}`")]
    NotInMode {
        /// The name.
        name: String,
        /// The mode.
        mode: String,
        /// Where.
        #[label("not in mode `{mode}`")]
        at: SourceSpan,
        /// What to try.
        #[help]
        help: String,
    },
    /// A condition of a transition that never changes.
    #[error("the condition is always {known}")]
    #[diagnostic(help(
        "with the values of the parameters nothing in it varies; compare unknowns or `t`, or give times with `at` or `every`"
    ))]
    ConstantCondition {
        /// What it is.
        known: bool,
        /// Where.
        #[label("this does not vary")]
        at: SourceSpan,
    },
    /// A transition that happens in two ways.
    #[error("a transition happens either when a condition becomes true or at given times")]
    TwoTriggers {
        /// The one.
        #[label("this")]
        first: SourceSpan,
        /// The other.
        #[label("or this")]
        at: SourceSpan,
        /// What to try.
        #[help]
        help: String,
    },
    /// Two transitions at the same time into different modes.
    #[error("the same condition leads from mode `{mode}` to `{one}` and to `{other}`")]
    #[diagnostic(help("change one of the conditions, or give one transition the larger `priority`"))]
    Contradiction {
        /// The mode that is left.
        mode: String,
        /// One of the modes that are entered.
        one: String,
        /// The other.
        other: String,
        /// The first condition.
        #[label("to `{one}`")]
        first: SourceSpan,
        /// The second one.
        #[label("to `{other}`")]
        at: SourceSpan,
    },
    /// Times that do not rise.
    #[error("times must rise, but {} follows {}", plain(*time), plain(*before))]
    #[diagnostic(help("write every time once, the earliest first"))]
    TimesFall {
        /// The time before.
        before: f64,
        /// This one.
        time: f64,
        /// Where.
        #[label("not later than the one before")]
        at: SourceSpan,
    },
    /// A number that must not be negative.
    #[error("{what} must not be negative, but is {}", plain(*value))]
    Negative {
        /// "`dwell`".
        what: String,
        /// Its value.
        value: f64,
        /// Where.
        #[label("negative")]
        at: SourceSpan,
    },
    /// A value that was set from outside for something that is not a parameter.
    #[error("`{name}` cannot be set: {reason}")]
    Override {
        /// The name.
        name: String,
        /// Why.
        reason: String,
        /// What to try.
        #[help]
        help: Option<String>,
    },
}

/// A number as people write it: no long rows of zeros.
pub(crate) fn plain(x: f64) -> String {
    if x == 0.0 || !x.is_finite() || (1e-5..1e15).contains(&x.abs()) { x.to_string() } else { format!("{x:e}") }
}

impl Mistake {
    /// What to try, where that is known.
    pub fn advice(&self) -> Option<String> {
        self.help().map(|help| help.to_string())
    }

    /// The first marked place.
    pub fn place(&self) -> Option<SourceSpan> {
        let labels: Vec<_> = self.labels().into_iter().flatten().collect();
        // of two places the second one is where the contradiction arises
        labels.last().map(|label| *label.inner())
    }
}

/// All mistakes that were found in a file.
#[derive(Clone, Debug)]
pub struct Mistakes {
    file: NamedSource<Arc<str>>,
    list: Vec<Mistake>,
}

impl Mistakes {
    /// Mistakes found in a text; there is at least one.
    pub(crate) fn new(name: &str, text: Arc<str>, list: Vec<Mistake>) -> Self {
        Mistakes { file: NamedSource::new(name, text), list }
    }

    /// The mistakes in the order in which they were found.
    pub fn list(&self) -> &[Mistake] {
        &self.list
    }

    /// How messages call the file.
    pub fn file(&self) -> &str {
        self.file.name()
    }

    /// One line for each mistake: `file:line:column: message (help)`.
    pub fn lines(&self) -> String {
        let mut lines = String::new();
        for mistake in &self.list {
            if !lines.is_empty() {
                lines.push('\n');
            }
            // writing to a string cannot fail
            let _ = write!(lines, "{}:", self.file.name());
            if let Some((line, column)) = self.line_of(mistake) {
                let _ = write!(lines, "{line}:{column}:");
            }
            let _ = write!(lines, " {mistake}");
            if let Some(help) = mistake.help() {
                let _ = write!(lines, " ({help})");
            }
        }
        lines
    }

    /// Line and column of a mistake, from 1, where it marks a place.
    pub fn line_of(&self, mistake: &Mistake) -> Option<(usize, usize)> {
        let text = self.file.inner();
        let before = text.get(..mistake.place()?.offset()).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        Some((line, before.rsplit('\n').next().unwrap_or("").chars().count() + 1))
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.list.as_slice() {
            [one] => one.fmt(f),
            several => write!(f, "{} mistakes in {}", several.len(), self.file.name()),
        }
    }
}

impl std::error::Error for Mistakes {}

impl Diagnostic for Mistakes {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.file)
    }
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.one()?.help()
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        self.one()?.labels()
    }
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        if self.one().is_some() {
            return None;
        }
        Some(Box::new(self.list.iter().map(|mistake| mistake as &dyn Diagnostic)))
    }
}

impl Mistakes {
    /// The only mistake, which then speaks for itself.
    fn one(&self) -> Option<&Mistake> {
        match self.list.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }
}
