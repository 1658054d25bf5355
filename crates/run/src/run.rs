//! One run as plain data: a header that says what was solved and how, columns over the times that were kept, the
//! accepted steps, events, and the last point.

use crate::error::Inconsistent;
use crate::hybrid::ModeHistory;
use crate::number;
use crate::scene::Scene;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is known about a run. Everything but times and columns may be absent: a table of columns is a run as well.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// What was solved, how, and how it ended.
    pub header: Header,
    /// Times of the points that were kept, in the order of the run: they do not fall, or, in a run backward, do not rise.
    pub times: Vec<f64>,
    /// Variables and outputs, one value for each time.
    pub columns: Vec<Column>,
    /// The accepted steps, if they were recorded.
    pub steps: Option<StepRecords>,
    /// Events, in the order of the run.
    pub events: Vec<EventRecord>,
    /// The last point, whether it is among those that were kept or not.
    pub end: Option<LastPoint>,
    /// Modes and switches, if there were several modes.
    pub hybrid: Option<ModeHistory>,
    /// Plots that the model asks for.
    pub plots: Vec<ChosenPlot>,
    /// The moving picture, if the model has one.
    pub scene: Option<Box<Scene>>,
}

/// A plot that a model asks for. Curves that the run does not have are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChosenPlot {
    /// Its heading.
    pub title: String,
    /// The column that goes to the right; time if absent.
    #[serde(default)]
    pub x: Option<String>,
    /// The columns that go upward.
    pub curves: Vec<String>,
}

/// What was solved, how, and how it ended; `None` where a file does not say it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// Name of the model.
    pub model: Option<String>,
    /// What the model is.
    pub description: Option<String>,
    /// Where the model comes from.
    pub source: Option<String>,
    /// Parameters with their values, in the order of the model.
    pub parameters: Vec<(String, f64)>,
    /// Which equations were discretised.
    pub formulation: Option<String>,
    /// The numerical method.
    pub method: Option<String>,
    /// Relative tolerance.
    pub rtol: Option<f64>,
    /// Absolute tolerance of all variables that have none of their own.
    pub atol: Option<f64>,
    /// Absolute tolerances of single variables.
    pub atol_of: Vec<(String, f64)>,
    /// Start of the interval.
    pub t0: Option<f64>,
    /// End of the interval that was asked for.
    pub tend: Option<f64>,
    /// How it ended.
    pub ended: Option<Ending>,
    /// Why it stopped, if it did.
    pub message: Option<String>,
    /// How long it took. Never written to a run file: the same input gives the same bytes.
    pub seconds: Option<f64>,
    /// Counters by name; `None` where one does not apply.
    pub counters: Vec<(String, Option<u64>)>,
    /// Largest residual of each level at any accepted point.
    pub max_residual: ResidualRecord,
    /// Combinations of multipliers that redundant constraints leave open: (name, factor) each.
    pub undetermined: Vec<Vec<(String, f64)>>,
    /// What the method decided by itself.
    pub decisions: Option<String>,
    /// What a reader should know although the run went on: the one place for all that is uncertain about its values.
    pub warnings: Vec<WarningRecord>,
}

/// What a reader should know although the run went on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WarningRecord {
    /// When it was first seen; `None` if it is about the run as a whole.
    #[serde(default, with = "number::exact")]
    pub t: Option<f64>,
    /// What, and what to try.
    pub message: String,
}

impl WarningRecord {
    /// A warning about the run as a whole.
    pub fn new(message: impl Into<String>) -> Self {
        WarningRecord { t: None, message: message.into() }
    }

    /// A warning about what was first seen at a time.
    pub fn at(t: f64, message: impl Into<String>) -> Self {
        WarningRecord { t: Some(t), message: message.into() }
    }
}

impl fmt::Display for WarningRecord {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.t {
            Some(t) => write!(f, "first at t = {}: {}", time(t), self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// A time in ten digits, with an exponent where it is very small or very large.
pub fn time(t: f64) -> String {
    let size = if t == 0.0 { 0.0 } else { t.abs().log10().floor() };
    let digits = (9.0 - size).clamp(0.0, 12.0) as usize;
    if (-5.0..=15.0).contains(&size) { format!("{t:.digits$}") } else { format!("{t:.9e}") }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// At the end of the interval.
    End,
    /// At an event that stops.
    Event,
    /// Somebody who watched asked for it.
    Observer,
    /// By a failure.
    Failure,
}

impl Ending {
    /// The word that files use.
    pub fn word(self) -> &'static str {
        match self {
            Ending::End => "end",
            Ending::Event => "event",
            Ending::Observer => "observer",
            Ending::Failure => "failure",
        }
    }

    /// Did the run come where it should: to the end, or to an event that ends it?
    pub fn reached(self) -> bool {
        matches!(self, Ending::End | Ending::Event)
    }
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// Position coordinate p.
    Position,
    /// Velocity v.
    Velocity,
    /// State of a dynamic force element, r.
    Dynamic,
    /// Auxiliary variable w.
    Auxiliary,
    /// Contact variable s.
    Contact,
    /// Multiplier of a constraint, λ or μ.
    Multiplier,
    /// Acceleration v'.
    Acceleration,
    /// State of a general system.
    State,
    /// Derivative of such a state, where it is an unknown of its own.
    Derivative,
    /// Named formula of a model.
    Output,
    /// Place of the active mode in the list of modes, from 0.
    Mode,
    /// The file does not say which.
    Variable,
}

impl ColumnKind {
    /// The word that files use.
    pub fn word(self) -> &'static str {
        match self {
            ColumnKind::Position => "position",
            ColumnKind::Velocity => "velocity",
            ColumnKind::Dynamic => "dynamic",
            ColumnKind::Auxiliary => "auxiliary",
            ColumnKind::Contact => "contact",
            ColumnKind::Multiplier => "multiplier",
            ColumnKind::Acceleration => "acceleration",
            ColumnKind::State => "state",
            ColumnKind::Derivative => "derivative",
            ColumnKind::Output => "output",
            ColumnKind::Mode => "mode",
            ColumnKind::Variable => "variable",
        }
    }
}

/// One variable or output over the times of a run. Values may be NaN or infinite.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: ColumnKind,
    /// Its unit as text, where known; units are not checked anywhere.
    pub unit: Option<String>,
    /// One value for each time.
    pub values: Vec<f64>,
}

impl Column {
    /// A column without a unit.
    pub fn new(name: impl Into<String>, kind: ColumnKind, values: Vec<f64>) -> Self {
        Column { name: name.into(), kind, unit: None, values }
    }
}

/// The accepted steps, one entry of each list per step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepRecords {
    /// Time at the end of the step.
    #[serde(with = "number::exact")]
    pub t: Vec<f64>,
    /// Step size.
    #[serde(with = "number::exact")]
    pub h: Vec<f64>,
    /// Order of the method in this step; `None` if it is not known.
    #[serde(default)]
    pub order: Option<Vec<u32>>,
    /// Newton iterations since the step before, those of rejected attempts included; `None` if they were not counted.
    #[serde(default)]
    pub newton: Option<Vec<u64>>,
    /// Residual at the end of the step: position level; `None` where a run has no such level.
    #[serde(default, rename = "residual_position", with = "number::exact")]
    pub position: Option<Vec<f64>>,
    /// Velocity level.
    #[serde(default, rename = "residual_velocity", with = "number::exact")]
    pub velocity: Option<Vec<f64>>,
    /// Acceleration level.
    #[serde(default, rename = "residual_acceleration", with = "number::exact")]
    pub acceleration: Option<Vec<f64>>,
    /// Invariants.
    #[serde(default, rename = "residual_invariant", with = "number::exact")]
    pub invariant: Option<Vec<f64>>,
    /// Constraints that a general system states.
    #[serde(default, rename = "residual_constraint", with = "number::exact")]
    pub constraint: Option<Vec<f64>>,
    /// Constraints that are hidden in a general system.
    #[serde(default, rename = "residual_hidden", with = "number::exact")]
    pub hidden: Option<Vec<f64>>,
}

impl StepRecords {
    /// The residuals with the name of their level.
    pub fn levels(&self) -> [(&'static str, Option<&Vec<f64>>); 6] {
        [
            ("position", self.position.as_ref()),
            ("velocity", self.velocity.as_ref()),
            ("acceleration", self.acceleration.as_ref()),
            ("invariant", self.invariant.as_ref()),
            ("constraint", self.constraint.as_ref()),
            ("hidden", self.hidden.as_ref()),
        ]
    }
}

/// Largest residual of each level; `None` where a run has no such level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResidualRecord {
    /// Position level.
    #[serde(default, with = "number::exact")]
    pub position: Option<f64>,
    /// Velocity level.
    #[serde(default, with = "number::exact")]
    pub velocity: Option<f64>,
    /// Acceleration level.
    #[serde(default, with = "number::exact")]
    pub acceleration: Option<f64>,
    /// Invariants.
    #[serde(default, with = "number::exact")]
    pub invariant: Option<f64>,
    /// Constraints that a general system states.
    #[serde(default, with = "number::exact")]
    pub constraint: Option<f64>,
    /// Constraints that are hidden in a general system.
    #[serde(default, with = "number::exact")]
    pub hidden: Option<f64>,
}

/// An event that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// Which.
    pub name: String,
    /// When.
    #[serde(with = "number::exact")]
    pub t: f64,
    /// The values of all columns there.
    #[serde(with = "number::exact")]
    pub state: Vec<f64>,
}

/// The last point of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct LastPoint {
    /// When.
    pub t: f64,
    /// The values of all columns there.
    pub values: Vec<f64>,
}

impl Run {
    /// Do all parts have the lengths that belong together, and do the times rise?
    pub fn check(&self) -> Result<(), Inconsistent> {
        ordered("times", &self.times)?;
        for column in &self.columns {
            same_length(&format!("the column {}", column.name), column.values.len(), "times", self.times.len())?;
        }
        for event in &self.events {
            let what = format!("the state of the event {} at t = {:?}", event.name, event.t);
            same_length(&what, event.state.len(), "columns", self.columns.len())?;
        }
        if let Some(end) = &self.end {
            same_length("the last point", end.values.len(), "columns", self.columns.len())?;
        }
        self.hybrid.as_ref().map_or(Ok(()), ModeHistory::check)?;
        self.scene.as_ref().map_or(Ok(()), |scene| scene.check())?;
        self.steps.as_ref().map_or(Ok(()), StepRecords::check)
    }
}

impl StepRecords {
    fn check(&self) -> Result<(), Inconsistent> {
        ordered("steps", &self.t)?;
        let n = self.t.len();
        same_length("the list of step sizes", self.h.len(), "steps", n)?;
        if let Some(order) = &self.order {
            same_length("the list of orders", order.len(), "steps", n)?;
        }
        if let Some(newton) = &self.newton {
            same_length("the list of Newton iterations", newton.len(), "steps", n)?;
        }
        for (level, residuals) in self.levels() {
            if let Some(residuals) = residuals {
                same_length(&format!("the list of residuals of level {level}"), residuals.len(), "steps", n)?;
            }
        }
        Ok(())
    }
}

pub(crate) fn same_length(what: &str, found: usize, of: &'static str, expected: usize) -> Result<(), Inconsistent> {
    if found == expected { Ok(()) } else { Err(Inconsistent::Length { what: what.to_string(), found, of, expected }) }
}

/// Finite times that do not fall, or that do not rise where the last one lies before the first.
pub(crate) fn ordered(list: &'static str, times: &[f64]) -> Result<(), Inconsistent> {
    match (times.first(), times.last()) {
        (Some(first), Some(last)) if last < first => {
            let back: Vec<f64> = times.iter().map(|t| -t).collect();
            rising(list, &back).map_err(|error| match error {
                Inconsistent::TimeFalls { list, place, before, value } => {
                    Inconsistent::TimeRises { list, place, before: -before, value: -value }
                }
                Inconsistent::TimeWithoutValue { list, place, value } => {
                    Inconsistent::TimeWithoutValue { list, place, value: -value }
                }
                other => other,
            })
        }
        _ => rising(list, times),
    }
}

/// Finite times that do not fall.
pub(crate) fn rising(list: &'static str, times: &[f64]) -> Result<(), Inconsistent> {
    for (k, &value) in times.iter().enumerate() {
        if !value.is_finite() {
            return Err(Inconsistent::TimeWithoutValue { list, place: k, value });
        }
        if k > 0 && value < times[k - 1] {
            return Err(Inconsistent::TimeFalls { list, place: k, before: times[k - 1], value });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        let column = Column::new("x", ColumnKind::Position, vec![1.0, f64::NAN]);
        let steps = StepRecords { t: vec![1.0], h: vec![1.0], order: Some(vec![5]), ..StepRecords::default() };
        Run { times: vec![0.0, 1.0], columns: vec![column], steps: Some(steps), ..Run::default() }
    }

    #[test]
    fn parts_of_other_lengths_are_named() {
        assert_eq!(run().check(), Ok(()));
        let mut short = run();
        short.columns[0].values.pop();
        assert!(short.check().unwrap_err().to_string().contains("the column x has 1 values, but there are 2 times"));
        let mut event = run();
        event.events.push(EventRecord { name: "hit".into(), t: 0.5, state: vec![] });
        assert!(event.check().unwrap_err().to_string().contains("event hit"));
        let mut end = run();
        end.end = Some(LastPoint { t: 1.0, values: vec![1.0, 2.0] });
        assert!(end.check().unwrap_err().to_string().contains("last point"));
        let mut steps = run();
        if let Some(steps) = &mut steps.steps {
            steps.velocity = Some(vec![]);
        }
        assert!(steps.check().unwrap_err().to_string().contains("level velocity"));
    }

    #[test]
    fn times_have_ten_digits_and_no_rows_of_zeros() {
        assert_eq!(
            [0.0, 0.018_833_4, 12.5, 1e-9, -1.18e-150, 3e200].map(time),
            ["0.000000000", "0.01883340000", "12.50000000", "1.000000000e-9", "-1.180000000e-150", "3.000000000e200"]
        );
    }

    #[test]
    fn times_that_fall_or_are_no_numbers_are_refused() {
        let times = |times: &[f64]| rising("times", times).err().map(|error| error.to_string());
        assert_eq!(times(&[0.0, 0.0, 1.0]), None);
        assert!(times(&[0.0, 2.0, 1.0]).is_some_and(|said| said.contains("2.0 to 1.0")));
        assert!(times(&[0.0, f64::NAN]).is_some_and(|said| said.contains("NaN")));
        // a run backward
        assert_eq!(ordered("times", &[1.0, 0.5, 0.5, -1.0]), Ok(()));
        let turns = ordered("times", &[1.0, 0.5, 0.75, -1.0]).err().map(|error| error.to_string());
        assert!(turns.is_some_and(|said| said.contains("rises from 0.5 to 0.75")));
    }
}
