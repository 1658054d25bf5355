//! What a run is asked for; what is absent is taken from the model, else from the defaults of the solver.

use crate::options::MethodOptions;
use daedal::hybrid::Detection;
use serde::{Deserialize, Serialize};

/// Settings of a run.
///
/// ```
/// use daedal_simulation::{SaveSetting, Settings};
/// let settings = Settings { rtol: Some(1e-9), save: SaveSetting::Points(101), ..Settings::default() };
/// let text = serde_json::to_string(&settings)?;
/// assert_eq!(serde_json::from_str::<Settings>(&text)?, settings);
/// assert!(serde_json::from_str::<Settings>(r#"{ "tolerance": 1e-9 }"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Start of the interval.
    pub t0: Option<f64>,
    /// End of the interval; before its start, the run goes backward.
    pub tend: Option<f64>,
    /// Name of a method, or `auto`.
    pub method: Option<String>,
    /// Name of a formulation of equations of motion or of a form of general systems, or `auto`.
    pub formulation: Option<String>,
    /// Relative tolerance.
    pub rtol: Option<f64>,
    /// Absolute tolerance of all variables that have none of their own.
    pub atol: Option<f64>,
    /// Absolute tolerances of single variables; the last one for a name holds.
    pub atol_of: Vec<(String, f64)>,
    /// Usual sizes of single variables, whose absolute tolerance is rtol times that.
    pub nominal: Vec<(String, f64)>,
    /// First step size.
    pub h0: Option<f64>,
    /// Largest step size.
    pub hmax: Option<f64>,
    /// Most attempts.
    pub max_steps: Option<u64>,
    /// Singular values and pivots below this part of the size of their matrix count as zero, in every method and form.
    pub rank_tolerance: Option<f64>,
    /// Are the initial values of equations of motion taken as they are, without a search for consistent ones? All of them must be given.
    pub trust_initial: bool,
    /// What to keep.
    pub save: SaveSetting,
    /// Is the solution put into the equations as they were written?
    pub verify: bool,
    /// Events to look for, beside those of the model.
    pub events: Vec<EventSetting>,
    /// Most switches between modes.
    pub max_switches: Option<u64>,
    /// How exactly times of switches between modes are found.
    pub time_tolerance: Option<f64>,
    /// How sliding between modes is noticed.
    pub sliding: Option<SlidingSetting>,
    /// Switches that are kept at the begin and at the end of a run; all of them if absent.
    pub keep_switches: Option<usize>,
    /// Options of the methods.
    pub options: MethodOptions,
}

/// An event to look for.
///
/// ```
/// use daedal_simulation::{EventAction, EventSetting, Settings};
/// let settings: Settings = serde_json::from_str(r#"{ "events": [{ "when": "y < -0.99", "action": "stop" }] }"#)?;
/// assert_eq!(settings.events, [EventSetting::new("y < -0.99", EventAction::Stop)]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventSetting {
    /// How results call it; its condition if absent.
    #[serde(default)]
    pub name: Option<String>,
    /// A condition in the words of the model: it happens where it becomes true.
    pub when: String,
    /// What to do then.
    #[serde(default)]
    pub action: EventAction,
}

impl EventSetting {
    /// An event that is called by its condition.
    pub fn new(when: impl Into<String>, action: EventAction) -> Self {
        EventSetting { name: None, when: when.into(), action }
    }
}

/// What to do when an event happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventAction {
    /// Write it down and go on.
    #[default]
    Record,
    /// Stop the run there.
    Stop,
}

/// What to keep of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SaveSetting {
    /// Every step, with as many points between them as a smooth curve needs.
    Dense,
    /// Every step.
    Steps,
    /// The end.
    #[default]
    End,
    /// So many points at equal distances, both ends among them.
    Points(u32),
    /// The solution at these times, which rise, or fall in a run backward.
    At(Vec<f64>),
}

impl SaveSetting {
    /// As the solver knows it.
    pub(crate) fn over(&self, t0: f64, tend: f64) -> daedal::Save {
        match self {
            SaveSetting::Dense => daedal::Save::Dense,
            SaveSetting::Steps => daedal::Save::Steps,
            SaveSetting::End => daedal::Save::End,
            SaveSetting::Points(n) => daedal::Save::At(equidistant(t0, tend, (*n).max(2))),
            SaveSetting::At(times) => daedal::Save::At(times.clone()),
        }
    }
}

/// How sliding between modes is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlidingSetting {
    /// By both of the following.
    Auto,
    /// By the condition that both modes lead to the surface between them.
    Condition,
    /// By three switches in short succession.
    ThreePoints,
    /// Not at all.
    Off,
}

impl From<SlidingSetting> for Detection {
    fn from(sliding: SlidingSetting) -> Self {
        match sliding {
            SlidingSetting::Auto => Detection::Both,
            SlidingSetting::Condition => Detection::Condition,
            SlidingSetting::ThreePoints => Detection::ThreePoints,
            SlidingSetting::Off => Detection::Off,
        }
    }
}

/// n numbers from t0 to tend at equal distances, both ends among them.
pub fn equidistant(t0: f64, tend: f64, n: u32) -> Vec<f64> {
    let last = n - 1;
    (0..n).map(|k| if k == last { tend } else { t0 + (tend - t0) * f64::from(k) / f64::from(last) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equidistant_times_hold_both_ends_exactly() {
        assert_eq!(equidistant(0.0, 0.3, 4), [0.0, 0.3 / 3.0, 0.6 / 3.0, 0.3]);
        assert_eq!(equidistant(-1.0, 0.1, 2), [-1.0, 0.1]);
    }
}
