//! Options of the methods: one table of what there is, who knows it, and which values are possible.
//!
//! Flags of the command, refusals and keys of other doors come from [`SCHEMA`]; whoever adds an option adds a row, and reads it in
//! `choice.rs`.

use crate::error::nearest;
use daedal::formulation::Baumgarte;
use daedal::method::AtSingular;
use daedal::method::Basic;
use daedal::method::Composition;
use daedal::method::Control;
use daedal::method::Stages;
use daedal::method::{
    Decomposition, Multipliers, NewtonPoint, Polish, Predictor, ProjectedOnto, Selection, SelectorUpdate, SlowNewton,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One option.
pub struct MethodOption {
    /// Its name, in words joined by `_`.
    pub key: &'static str,
    /// What stands for its value in a help text.
    pub placeholder: &'static str,
    /// What it does.
    pub help: &'static str,
    /// Which values it takes.
    pub values: OptionValues,
    /// The methods that know it.
    pub methods: &'static [&'static str],
    /// The only formulation for which they know it.
    pub formulation: Option<&'static str>,
}

/// Values that an option takes.
#[derive(Clone, Copy)]
pub enum OptionValues {
    /// It is given or not.
    Flag,
    /// A whole number from one to another.
    Count(u32, u32),
    /// A positive number.
    Positive,
    /// Any finite number.
    Finite,
    /// So many numbers that are not negative.
    Numbers(usize),
    /// One of these words.
    Words(fn() -> Vec<&'static str>),
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// It is given, or not.
    Flag(bool),
    /// A number.
    Number(f64),
    /// Several numbers.
    Numbers(Vec<f64>),
    /// A word.
    Word(String),
}

/// A word and what it stands for.
type WordTable<T, const N: usize> = [(&'static str, T); N];

pub(crate) const CONSTRAINT_DECOMPOSITIONS: WordTable<Option<Decomposition>, 4> = [
    ("auto", None),
    ("lu", Some(Decomposition::Lu)),
    ("qr", Some(Decomposition::Qr)),
    ("svd", Some(Decomposition::Svd)),
];
pub(crate) const DIFFERENTIAL_DECOMPOSITIONS: WordTable<Option<Decomposition>, 3> =
    [("auto", None), ("lu", Some(Decomposition::Lu)), ("qr", Some(Decomposition::Qr))];
pub(crate) const SELECTIONS: WordTable<Selection, 2> =
    [("blockwise", Selection::Blockwise), ("joint", Selection::Joint)];
pub(crate) const SELECTOR_UPDATES: WordTable<SelectorUpdate, 2> =
    [("adaptive", SelectorUpdate::Adaptive), ("every-jacobian", SelectorUpdate::EveryJacobian)];
pub(crate) const CONTROLS: WordTable<Control, 4> = [
    ("radau5", Control::Radau5),
    ("thesis", Control::Thesis),
    ("classical", Control::Classical),
    ("fixed", Control::Fixed),
];
pub(crate) const STAGES: WordTable<Stages, 7> = [
    ("1", Stages::Fixed(1)),
    ("2", Stages::Fixed(2)),
    ("3", Stages::Fixed(3)),
    ("4", Stages::Fixed(4)),
    ("5", Stages::Fixed(5)),
    ("7", Stages::Fixed(7)),
    ("auto", Stages::VARIABLE),
];
pub(crate) const COMPOSITIONS: WordTable<Composition, 4> = [
    ("none", Composition::None),
    ("yoshida4", Composition::Yoshida4),
    ("suzuki4", Composition::Suzuki4),
    ("kahan-li6", Composition::KahanLi6),
];
pub(crate) const PROJECTIONS: WordTable<ProjectedOnto, 5> = [
    ("all", ProjectedOnto::All),
    ("positions", ProjectedOnto::Positions),
    ("velocities", ProjectedOnto::Velocities),
    ("none", ProjectedOnto::Nothing),
    ("invariants", ProjectedOnto::Invariants),
];
pub(crate) const AT_SINGULAR: WordTable<AtSingular, 2> = [("stop", AtSingular::Stop), ("pass", AtSingular::Pass)];
pub(crate) const PREDICTORS: WordTable<Predictor, 2> =
    [("extrapolate", Predictor::Extrapolate), ("zero", Predictor::Zero)];
pub(crate) const NEWTON_POINTS: WordTable<NewtonPoint, 4> = [
    ("left", NewtonPoint::Left),
    ("1", NewtonPoint::Stage(1)),
    ("2", NewtonPoint::Stage(2)),
    ("3", NewtonPoint::Stage(3)),
];
pub(crate) const SLOW_NEWTONS: WordTable<SlowNewton, 2> =
    [("shorter-step", SlowNewton::ShorterStep), ("onto-constraints", SlowNewton::OntoConstraints)];
pub(crate) const POLISHES: WordTable<Polish, 3> =
    [("off", Polish::Off), ("once", Polish::Once), ("rounding", Polish::Rounding)];
pub(crate) const MULTIPLIERS: WordTable<Multipliers, 2> =
    [("wanted", Multipliers::Wanted), ("unwanted", Multipliers::Unwanted)];

fn words<T>(table: &'static [(&'static str, T)]) -> Vec<&'static str> {
    table.iter().map(|(word, _)| *word).collect()
}

pub(crate) const BASICS: WordTable<Basic, 2> = [("euler", Basic::Euler), ("midpoint", Basic::Midpoint)];

const IMPLICIT: &[&str] = &["geoms", "gmkssol", "radau", "bdf", "trapezoidal", "gauss", "radau-ia", "lobatto-iiic"];
const REUSING: &[&str] = &["geoms", "gmkssol", "radau", "bdf"];
const RADAU: &[&str] = &["geoms", "gmkssol", "radau"];
const PROJECTED: &[&str] = &["hem3", "hem4", "hem5", "hedop5", "dopri5", "dop853", "gauss", "radau-ia"];
#[rustfmt::skip]
const CONTROLLED: &[&str] = &[
    "geoms", "gmkssol", "radau", "bdf", "rodas", "trapezoidal", "gauss", "radau-ia", "lobatto-iiic", "hem3", "hem4", "hem5", "hedop5", "dopri5", "dop853",
    "partition", "tangent",
];
#[rustfmt::skip]
const SAFE: &[&str] = &[
    "geoms", "gmkssol", "radau", "rodas", "trapezoidal", "gauss", "radau-ia", "lobatto-iiic", "hem3", "hem4", "hem5", "hedop5", "dopri5", "dop853", "partition", "tangent",
];
const GEOMS: &[&str] = &["geoms"];

/// One row per option: key, placeholder, methods, values, help; `only` names the one formulation that has it.
macro_rules! schema {
    ($($key:literal $placeholder:literal $methods:expr, $values:expr, $help:literal $(only $formulation:literal)?;)*) => {
        [$(MethodOption {
            key: $key,
            placeholder: $placeholder,
            help: $help,
            values: $values,
            methods: $methods,
            formulation: { let only: &[&str] = &[$($formulation)?]; if only.is_empty() { None } else { Some(only[0]) } },
        }),*]
    };
}

/// All options: those of several methods, then those of GEOMS alone.
#[rustfmt::skip]
pub static SCHEMA: [MethodOption; 29] = schema! {
    "control" "RULE" CONTROLLED, OptionValues::Words(|| words(&CONTROLS)), "Step size control; fixed is the only one of bdf, of the Runge-Kutta methods beside Radau IIa and of explicit methods";
    "max_newton" "N" IMPLICIT, OptionValues::Count(3, 1000), "Most Newton iterations";
    "newton_tolerance" "X" IMPLICIT, OptionValues::Positive, "Stopping factor of Newton's iteration";
    "jacobian_reuse" "X" REUSING, OptionValues::Finite, "A Jacobian is kept while the iteration contracts faster than this; negative: never";
    "safety" "X" SAFE, OptionValues::Positive, "Safety factor of the step size control; not of bdf and mexx";
    "step_ratio" "LEAST,MOST" &["geoms", "gmkssol", "radau", "rodas"], OptionValues::Numbers(2), "Bounds on the ratio of successive step sizes [default: 0.2,8, of rodas 0.2,6]";
    "keep_step" "FROM,TO" RADAU, OptionValues::Numbers(2), "The step size is kept where the proposed ratio lies between these [default: 1,1.2]";
    "max_order" "N" &["bdf"], OptionValues::Count(1, 5), "Largest order of bdf, 1 to 5";
    "stages" "N" &["geoms", "gmkssol", "radau", "gauss", "radau-ia", "lobatto-iiic", "lobatto"], OptionValues::Words(|| words(&STAGES)), "Number of stages: 1, 3, 5, 7 or auto of geoms, gmkssol and radau, 1, 2 or 3 of gauss and radau-ia, 2, 3 or 4 of lobatto-iiic and lobatto";
    "baumgarte" "ALPHA,BETA,DELTA" &["radau", "bdf", "rodas"], OptionValues::Numbers(3), "Parameters of the formulation baumgarte [default: 10,10,10]" only "baumgarte";
    "composition" "KIND" &["rattle"], OptionValues::Words(|| words(&COMPOSITIONS)), "Composition of rattle, for a higher order";
    "rho" "RHO" &["alpha"], OptionValues::Finite, "What alpha leaves of the highest frequencies after a step, 0 to 1 [default: 0.9]";
    "selector_steps" "N" &["gmkssol"], OptionValues::Count(0, 1_000_000), "Steps after which gmkssol chooses its selectors anew; 0: never [default: 10]";
    "basic" "METHOD" &["mexx"], OptionValues::Words(|| words(&BASICS)), "What mexx extrapolates";
    "columns" "N" &["mexx"], OptionValues::Count(1, 12), "Columns of mexx, with steps of the size h0 [default: chosen with the steps]";
    "projection" "LEVELS" PROJECTED, OptionValues::Words(|| words(&PROJECTIONS)), "Which constraints new points are brought onto; invariants: all, and the invariants, with dopri5 and dop853; gauss and radau-ia know all and none [default: all]";
    "singular" "WHAT" &["dopri5", "dop853"], OptionValues::Words(|| words(&AT_SINGULAR)), "What happens where constraints lose rank, as in a flat parallelogram: the run stops in front of it, or goes on as smoothly as it came [default: stop]";
    "reproduction" "" GEOMS, OptionValues::Flag, "Start from the setting that reproduces the published counters";
    "decomposition" "KIND" GEOMS, OptionValues::Words(|| words(&CONSTRAINT_DECOMPOSITIONS)), "Decomposition of the constraints";
    "differential" "KIND" GEOMS, OptionValues::Words(|| words(&DIFFERENTIAL_DECOMPOSITIONS)), "Decomposition of the differential part";
    "selection" "HOW" GEOMS, OptionValues::Words(|| words(&SELECTIONS)), "How differential equations are selected";
    "selector_update" "WHEN" GEOMS, OptionValues::Words(|| words(&SELECTOR_UPDATES)), "When differential equations are selected anew";
    "predictor" "WHERE" GEOMS, OptionValues::Words(|| words(&PREDICTORS)), "Where Newton's iteration starts";
    "newton_point" "WHERE" GEOMS, OptionValues::Words(|| words(&NEWTON_POINTS)), "Where the Newton matrix is evaluated: left end or stage";
    "newton_updates" "N" GEOMS, OptionValues::Count(0, 1000), "Newton matrices renewed inside a step that converges slowly";
    "slow_newton" "WHAT" GEOMS, OptionValues::Words(|| words(&SLOW_NEWTONS)), "What happens in a step whose Newton iteration is given up: a shorter step, or the iteration once more on the constraints";
    "refilter" "" GEOMS, OptionValues::Flag, "Filter the error estimate once more in the first step and after rejections";
    "polish" "HOW" GEOMS, OptionValues::Words(|| words(&POLISHES)), "How exactly the constraints hold at the end of a step";
    "multipliers" "WANTED" GEOMS, OptionValues::Words(|| words(&MULTIPLIERS)), "Are the multipliers wanted as accurately as the motion?";
};

impl MethodOption {
    /// Does a method know it, in a formulation?
    pub fn is_known_to(&self, method: &str, formulation: &str) -> bool {
        self.methods.contains(&method) && self.formulation.is_none_or(|only| only == formulation)
    }

    /// Is it an option of GEOMS alone?
    pub fn is_of_geoms(&self) -> bool {
        self.methods == GEOMS
    }
}

/// An option that there is not, or a value that it does not take.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadMethodOption {
    /// There is no such option.
    #[error("no method has an option {key}{}", nearest(key, SCHEMA.iter().map(|option| option.key)))]
    Unknown {
        /// What was given.
        key: String,
    },
    /// The value is not one of those that it takes.
    #[error("the option {key} takes {expected}")]
    Value {
        /// The option.
        key: &'static str,
        /// What it takes.
        expected: String,
    },
}

/// Options of methods that are given; those that are absent keep their defaults.
///
/// ```
/// use daedal_simulation::{MethodOptions, OptionValue};
/// let mut options = MethodOptions::default();
/// options.set("stages", OptionValue::Word("5".into()))?;
/// assert!(options.set("stages", OptionValue::Word("6".into())).is_err());
/// assert!(options.set("stage", OptionValue::Word("5".into())).unwrap_err().to_string().contains("did you mean stages"));
/// # Ok::<(), daedal_simulation::BadMethodOption>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, OptionValue>", into = "BTreeMap<String, OptionValue>")]
pub struct MethodOptions(BTreeMap<&'static str, OptionValue>);

impl MethodOptions {
    /// Give an option.
    pub fn set(&mut self, key: &str, value: OptionValue) -> Result<(), BadMethodOption> {
        let option = SCHEMA.iter().find(|option| option.key == key);
        let option = option.ok_or_else(|| BadMethodOption::Unknown { key: key.to_string() })?;
        option.values.check(&value).map_err(|expected| BadMethodOption::Value { key: option.key, expected })?;
        if value == OptionValue::Flag(false) {
            self.0.remove(option.key);
        } else {
            self.0.insert(option.key, value);
        }
        Ok(())
    }

    /// The options that are given, in the order of the schema.
    pub fn given(&self) -> impl Iterator<Item = &'static MethodOption> {
        SCHEMA.iter().filter(|option| self.0.contains_key(option.key))
    }

    pub(crate) fn flag(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        match self.0.get(key) {
            Some(OptionValue::Number(x)) => Some(*x),
            _ => None,
        }
    }

    pub(crate) fn count(&self, key: &str) -> Option<u32> {
        self.number(key).map(|x| x as u32)
    }

    pub(crate) fn one_of<T: Copy>(&self, key: &str, table: &[(&str, T)]) -> Option<T> {
        let Some(OptionValue::Word(given)) = self.0.get(key) else { return None };
        table.iter().find(|(word, _)| word == given).map(|(_, value)| *value)
    }

    fn numbers<const N: usize>(&self, key: &str) -> Option<[f64; N]> {
        match self.0.get(key) {
            Some(OptionValue::Numbers(numbers)) => numbers[..].try_into().ok(),
            _ => None,
        }
    }

    pub(crate) fn pair(&self, key: &str) -> Option<(f64, f64)> {
        self.numbers(key).map(|[first, second]| (first, second))
    }

    pub(crate) fn baumgarte(&self) -> Option<Baumgarte> {
        self.numbers("baumgarte").map(|[alpha, beta, delta]| Baumgarte { alpha, beta, delta })
    }
}

impl TryFrom<BTreeMap<String, OptionValue>> for MethodOptions {
    type Error = BadMethodOption;
    fn try_from(given: BTreeMap<String, OptionValue>) -> Result<Self, BadMethodOption> {
        let mut options = MethodOptions::default();
        for (key, value) in given {
            options.set(&key, value)?;
        }
        Ok(options)
    }
}

impl From<MethodOptions> for BTreeMap<String, OptionValue> {
    fn from(options: MethodOptions) -> Self {
        options.0.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
    }
}

impl OptionValues {
    /// What is expected instead of a value that is not possible.
    fn check(self, value: &OptionValue) -> Result<(), String> {
        let possible = match (self, value) {
            (OptionValues::Flag, OptionValue::Flag(_)) => true,
            (OptionValues::Count(least, most), OptionValue::Number(x)) => {
                x.fract() == 0.0 && (f64::from(least)..=f64::from(most)).contains(x)
            }
            (OptionValues::Positive, OptionValue::Number(x)) => x.is_finite() && *x > 0.0,
            (OptionValues::Finite, OptionValue::Number(x)) => x.is_finite(),
            (OptionValues::Numbers(count), OptionValue::Numbers(x)) => {
                x.len() == count && x.iter().all(|x| x.is_finite() && *x >= 0.0)
            }
            (OptionValues::Words(words), OptionValue::Word(word)) => words().contains(&word.as_str()),
            _ => false,
        };
        if possible { Ok(()) } else { Err(self.expected()) }
    }

    fn expected(self) -> String {
        match self {
            OptionValues::Flag => "true or false".to_string(),
            OptionValues::Count(least, most) => format!("a whole number from {least} to {most}"),
            OptionValues::Positive => "a positive number".to_string(),
            OptionValues::Finite => "a finite number".to_string(),
            OptionValues::Numbers(count) => format!("{count} numbers that are not negative"),
            OptionValues::Words(words) => format!("one of {}", words().join(", ")),
        }
    }
}
