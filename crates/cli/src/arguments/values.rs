//! Values of arguments, each checked by itself.

use super::{OutputFormat, TableFormat};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use daedal::Tolerance;
use daedal::catalogue;
use daedal::dae::Form;
use daedal::formulation::Formulation;
use daedal::linalg::Matrices;
use daedal_model::Base;
use daedal_simulation::control::FeedbackKind;
use daedal_simulation::{KernelKind, OptionValue, SaveSetting, SlidingSetting, equidistant};

/// Tolerances, the largest first.
#[derive(Clone, Debug, PartialEq)]
pub struct ToleranceList(pub Vec<f64>);

type Choices<T, const N: usize> = [(&'static str, T); N];

pub(super) const LIST_FORMATS: Choices<OutputFormat, 2> = [("text", OutputFormat::Text), ("json", OutputFormat::Json)];
pub(super) const INIT_FORMATS: Choices<OutputFormat, 2> = [("toml", OutputFormat::Text), ("json", OutputFormat::Json)];
pub(super) const TABLE_FORMATS: Choices<TableFormat, 3> =
    [("text", TableFormat::Text), ("csv", TableFormat::Csv), ("json", TableFormat::Json)];
pub(super) const FEEDBACKS: Choices<FeedbackKind, 3> =
    [("state", FeedbackKind::State), ("output", FeedbackKind::Output), ("derivative", FeedbackKind::Derivative)];
pub(super) const BASES: Choices<Base, 2> = [("fixed", Base::Fixed), ("floating", Base::Floating)];
pub(super) const KERNELS: Choices<KernelKind, 4> = [
    ("auto", KernelKind::Auto),
    ("native", KernelKind::Native),
    ("tape", KernelKind::Tape),
    ("rust", KernelKind::Rust),
];
pub(super) const MATRICES: Choices<Matrices, 3> =
    [("auto", Matrices::Auto), ("dense", Matrices::Dense), ("sparse", Matrices::Sparse)];
pub(super) const DETECTIONS: Choices<SlidingSetting, 4> = [
    ("auto", SlidingSetting::Auto),
    ("condition", SlidingSetting::Condition),
    ("three-points", SlidingSetting::ThreePoints),
    ("off", SlidingSetting::Off),
];

/// One of these words, as the value it stands for.
pub(super) fn choice<T: Copy + Send + Sync>(choices: &'static [(&'static str, T)]) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(choices.iter().map(|(word, _)| *word)).map(move |given| {
        let k = choices.iter().position(|(word, _)| *word == given).unwrap_or(0);
        choices[k].1
    })
}

/// One of the catalogue, or auto.
pub(super) fn method() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(["auto"].into_iter().chain(catalogue::names()))
}

/// A formulation of equations of motion or a form of a general system.
pub(super) fn formulation() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(Formulation::ALL.map(Formulation::name).into_iter().chain(Form::ALL.map(Form::name)))
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
    #[error("it must lie between 0 and 1")]
    NoPart,
    #[error("expected {0} numbers apart by commas")]
    NotSoMany(usize),
    #[error("negative values are not possible")]
    Negative,
    #[error("expected NAME=VALUE")]
    NoAssignment,
    #[error("expected dense, steps, end, or a number of points from 2 to {MOST_POINTS}")]
    UnknownSave,
    #[error("expected NAME=VALUES, the values apart by commas, or as FROM..TO/COUNT with at least two of them")]
    NoValues,
    #[error("a tolerance must lie between {:e} and 1", Tolerance::SMALLEST_RTOL)]
    ImpossibleTolerance,
}

/// More points than this are taken for a slip.
const MOST_POINTS: u32 = 10_000_000;

pub(super) fn finite(text: &str) -> Result<f64, BadValue> {
    let value: f64 = text.trim().parse().map_err(|_| BadValue::Unreadable)?;
    if value.is_finite() { Ok(value) } else { Err(BadValue::Infinite) }
}

/// So many numbers that are not negative.
pub(super) fn several(count: usize, text: &str) -> Result<OptionValue, BadValue> {
    let numbers: Vec<f64> = text.split(',').map(finite).collect::<Result<_, _>>()?;
    match numbers.len() == count {
        true if numbers.iter().any(|x| *x < 0.0) => Err(BadValue::Negative),
        true => Ok(OptionValue::Numbers(numbers)),
        false => Err(BadValue::NotSoMany(count)),
    }
}

/// A number between zero and one.
pub(super) fn part(text: &str) -> Result<f64, BadValue> {
    match finite(text) {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        Ok(_) | Err(BadValue::Infinite) => Err(BadValue::NoPart),
        Err(bad) => Err(bad),
    }
}

pub(super) fn positive(text: &str) -> Result<f64, BadValue> {
    match finite(text) {
        Ok(value) if value > 0.0 => Ok(value),
        Ok(_) | Err(BadValue::Infinite) => Err(BadValue::OutOfRange),
        Err(bad) => Err(bad),
    }
}

pub(super) fn assignment(text: &str) -> Result<(String, f64), BadValue> {
    let (name, value) = text.split_once('=').ok_or(BadValue::NoAssignment)?;
    Ok((name.trim().to_string(), finite(value)?))
}

/// A parameter and its values: numbers, and ranges `from..to/count`.
pub(super) fn varied(text: &str) -> Result<(String, Vec<f64>), BadValue> {
    let (name, list) = text.split_once('=').ok_or(BadValue::NoValues)?;
    let mut values = Vec::new();
    for part in list.split(',') {
        let Some((from, rest)) = part.split_once("..") else {
            values.push(finite(part)?);
            continue;
        };
        let (to, count) = rest.split_once('/').ok_or(BadValue::NoValues)?;
        let (from, to) = (finite(from)?, finite(to)?);
        let count: u32 = count.trim().parse().map_err(|_| BadValue::NoValues)?;
        if !(2..=MOST_POINTS).contains(&count) {
            return Err(BadValue::NoValues);
        }
        values.extend(equidistant(from, to, count));
    }
    Ok((name.trim().to_string(), values))
}

pub(super) fn positive_assignment(text: &str) -> Result<(String, f64), BadValue> {
    let (name, value) = text.split_once('=').ok_or(BadValue::NoAssignment)?;
    Ok((name.replace(' ', ""), positive(value)?))
}

/// A positive number, or one for a name.
pub(super) fn for_one_or_all(text: &str) -> Result<(Option<String>, f64), BadValue> {
    if text.contains('=') {
        positive_assignment(text).map(|(name, value)| (Some(name), value))
    } else {
        positive(text).map(|value| (None, value))
    }
}

/// Numbers and ranges of decades; each number once.
pub(super) fn tolerances(text: &str) -> Result<ToleranceList, BadValue> {
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
    Ok(ToleranceList(list))
}

pub(super) fn kept(text: &str) -> Result<SaveSetting, BadValue> {
    match text {
        "dense" => Ok(SaveSetting::Dense),
        "steps" => Ok(SaveSetting::Steps),
        "end" => Ok(SaveSetting::End),
        number => match number.parse() {
            Ok(points) if (2..=MOST_POINTS).contains(&points) => Ok(SaveSetting::Points(points)),
            _ => Err(BadValue::UnknownSave),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_parameter_are_numbers_and_ranges() {
        assert_eq!(varied("L = 0.5,1"), Ok(("L".to_string(), vec![0.5, 1.0])));
        assert_eq!(varied("m=1..2/3,5"), Ok(("m".to_string(), vec![1.0, 1.5, 2.0, 5.0])));
        assert_eq!(varied("m=-1..1/2"), Ok(("m".to_string(), vec![-1.0, 1.0])));
        assert_eq!(varied("m=1..2"), Err(BadValue::NoValues));
        assert_eq!(varied("m=1..2/1"), Err(BadValue::NoValues));
        assert_eq!(varied("m"), Err(BadValue::NoValues));
        assert_eq!(varied("m="), Err(BadValue::Unreadable));
        assert_eq!(varied("m=1..inf/3"), Err(BadValue::Infinite));
    }

    #[test]
    fn tolerances_are_numbers_and_decades() {
        let list = |text: &str| tolerances(text).map(|ToleranceList(list)| list);
        assert_eq!(list("1e-5,1e-3, 1e-4,1e-3"), Ok(vec![1e-3, 1e-4, 1e-5]));
        assert_eq!(list("1e-3..1e-9"), Ok(vec![1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9]));
        assert_eq!(list("1e-6..2e-4"), Ok(vec![2e-4, 2e-5, 2e-6]));
        assert_eq!(list("1e-20"), Err(BadValue::ImpossibleTolerance));
        assert_eq!(list("1e-3..2"), Err(BadValue::ImpossibleTolerance));
        assert_eq!(list("small"), Err(BadValue::Unreadable));
        assert_eq!(list(""), Err(BadValue::Unreadable));
    }
}
