//! What a run through several modes adds to a run file: the modes, when each was active, and the switches between them.
//!
//! Columns of such a run are those of all modes together, by name. Where the active mode does not have a variable there is no value, NaN:
//! a gap in its curve. The column of kind
//! [`ColumnKind::Mode`](crate::run::ColumnKind::Mode) holds the place of the active mode in [`ModeHistory::modes`], from 0. At a switch there are two rows with
//! the same time: before and after it.

use crate::error::Inconsistent;
use crate::number::{self, absent};
use crate::run::rising;
use serde::{Deserialize, Serialize};

/// Modes, phases and switches of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModeHistory {
    /// All modes, those that were never active among them.
    pub modes: Vec<ModeRecord>,
    /// When which mode was active, in the order of time.
    pub phases: Vec<PhaseRecord>,
    /// Changes of modes, in the order of time.
    pub switches: Vec<SwitchRecord>,
}

/// A mode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModeRecord {
    /// Its name.
    pub name: String,
    /// Is it one for sliding along the surface between two others?
    #[serde(default, deserialize_with = "absent")]
    pub sliding: bool,
    /// Columns that it determines, unknowns and outputs; the others have no value in it. Empty if nobody knows.
    #[serde(default, deserialize_with = "absent")]
    pub unknowns: Vec<String>,
    /// Accepted steps in it.
    #[serde(default)]
    pub steps: Option<u64>,
    /// What the method decided by itself.
    #[serde(default)]
    pub decisions: Option<String>,
}

impl ModeRecord {
    /// Has a column a value in this mode?
    pub fn determines(&self, column: &str) -> bool {
        self.unknowns.is_empty() || self.unknowns.iter().any(|known| known == column)
    }
}

/// A time in one mode.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseRecord {
    /// Which, by its place in [`ModeHistory::modes`].
    pub mode: usize,
    /// Begin.
    #[serde(with = "number::exact")]
    pub t0: f64,
    /// End; the begin of the next phase.
    #[serde(with = "number::exact")]
    pub t1: f64,
}

/// A change of modes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SwitchRecord {
    /// When.
    #[serde(with = "number::exact")]
    pub t: f64,
    /// The mode that was left.
    pub from: usize,
    /// The mode that was entered.
    pub to: usize,
    /// What made it happen, in words.
    pub condition: String,
    /// What kind of switch it was.
    pub kind: SwitchCause,
    /// Is the state continuous?
    #[serde(default, deserialize_with = "absent", skip_serializing_if = "Continuity::is_smooth")]
    pub smoothness: Continuity,
    /// Components that jump.
    #[serde(default, deserialize_with = "absent", skip_serializing_if = "Vec::is_empty")]
    pub jumps: Vec<JumpRecord>,
    /// Impulses, the factors of δ: multiplier or unknown, impulse.
    #[serde(default, with = "number::exact_or_absent", skip_serializing_if = "Vec::is_empty")]
    pub impulses: Vec<(String, f64)>,
    /// Factors of δ', δ'', …
    #[serde(default, with = "number::exact_or_absent", skip_serializing_if = "Vec::is_empty")]
    pub higher_impulses: Vec<Vec<(String, f64)>>,
    /// What making the state consistent in the new mode changed; none if it was consistent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<RestartRecord>,
    /// Was it one of several in short succession?
    #[serde(default, deserialize_with = "absent", skip_serializing_if = "std::ops::Not::not")]
    pub chattering: bool,
}

impl SwitchRecord {
    /// All impulses: unknown, order i of δ⁽ⁱ⁾, factor.
    pub fn all_impulses(&self) -> impl Iterator<Item = (&str, usize, f64)> {
        let orders = std::iter::once(&self.impulses).chain(&self.higher_impulses);
        orders.enumerate().flat_map(|(i, all)| all.iter().map(move |(name, factor)| (name.as_str(), i, *factor)))
    }
}

/// What making a state consistent changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RestartRecord {
    /// The way, as model files call it.
    pub way: String,
    /// Kinds of variables that moved, with their largest change.
    #[serde(default, with = "number::exact")]
    pub moved: Vec<(String, f64)>,
    /// Change of the momentum that impulses of constraints cannot explain; mechanisms only.
    #[serde(default, with = "number::exact", skip_serializing_if = "Option::is_none")]
    pub momentum: Option<f64>,
    /// Change of the kinetic energy; mechanisms only.
    #[serde(default, with = "number::exact", skip_serializing_if = "Option::is_none")]
    pub energy: Option<f64>,
}

/// What kind of switch it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SwitchCause {
    /// A condition became true.
    #[serde(rename = "condition")]
    Condition,
    /// A condition was true already when the mode was entered.
    #[serde(rename = "immediate")]
    Immediate,
    /// Time of a schedule.
    #[serde(rename = "scheduled")]
    Scheduled,
    /// Sliding begins.
    #[serde(rename = "sliding begins")]
    SlidingBegins,
    /// Sliding ends.
    #[serde(rename = "sliding ends")]
    SlidingEnds,
    /// Infinitely many switches in finite time were cut short.
    #[serde(rename = "accumulation")]
    Accumulation,
}

impl SwitchCause {
    /// The word that files use.
    pub fn word(self) -> &'static str {
        match self {
            SwitchCause::Condition => "condition",
            SwitchCause::Immediate => "immediate",
            SwitchCause::Scheduled => "scheduled",
            SwitchCause::SlidingBegins => "sliding begins",
            SwitchCause::SlidingEnds => "sliding ends",
            SwitchCause::Accumulation => "accumulation",
        }
    }
}

/// Is the state continuous at a switch?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Continuity {
    /// It is.
    #[default]
    Smooth,
    /// The transition changed it.
    Transfer,
    /// It was changed to be consistent in the new mode.
    Restart,
}

impl Continuity {
    /// The word that files use.
    pub fn word(self) -> &'static str {
        match self {
            Continuity::Smooth => "smooth",
            Continuity::Transfer => "transfer",
            Continuity::Restart => "restart",
        }
    }

    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
    pub(crate) fn is_smooth(&self) -> bool {
        *self == Continuity::Smooth
    }
}

/// A component that jumps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JumpRecord {
    /// Its name.
    pub name: String,
    /// Before; NaN if the old mode does not have it.
    #[serde(with = "number::exact")]
    pub before: f64,
    /// After.
    #[serde(with = "number::exact")]
    pub after: f64,
}

/// How much of a run one mode had.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimeShare {
    /// How often it was entered, the start included.
    pub entered: usize,
    /// Time spent in it.
    pub time: f64,
}

impl ModeHistory {
    /// How often each mode was entered and how long it was active.
    pub fn shares(&self) -> Vec<TimeShare> {
        let mut shares = vec![TimeShare::default(); self.modes.len()];
        for phase in &self.phases {
            let share = &mut shares[phase.mode];
            share.entered += 1;
            share.time += phase.t1 - phase.t0;
        }
        shares
    }

    /// Do all parts belong together?
    pub(crate) fn check(&self) -> Result<(), Inconsistent> {
        let known = |what: &'static str, place: usize, mode: usize| {
            let modes = self.modes.len();
            if mode < modes { Ok(()) } else { Err(Inconsistent::UnknownMode { what, place, mode, modes }) }
        };
        let mut ends = Vec::with_capacity(2 * self.phases.len());
        for (k, phase) in self.phases.iter().enumerate() {
            known("phases", k, phase.mode)?;
            ends.extend([phase.t0, phase.t1]);
        }
        rising("phases", &ends)?;
        for (k, switch) in self.switches.iter().enumerate() {
            known("switches", k, switch.from)?;
            known("switches", k, switch.to)?;
        }
        let times: Vec<f64> = self.switches.iter().map(|switch| switch.t).collect();
        rising("switches", &times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_all_phases_of_a_mode() {
        let modes =
            ["slip", "stick", "never"].map(|name| ModeRecord { name: name.into(), ..ModeRecord::default() }).to_vec();
        let phase = |mode, t0, t1| PhaseRecord { mode, t0, t1 };
        let phases = vec![phase(0, 0.0, 1.0), phase(1, 1.0, 1.0), phase(0, 1.0, 3.0), phase(1, 3.0, 3.5)];
        let hybrid = ModeHistory { modes, phases, ..ModeHistory::default() };
        assert_eq!(hybrid.check(), Ok(()));
        let share = |entered, time| TimeShare { entered, time };
        assert_eq!(hybrid.shares(), [share(2, 3.0), share(2, 0.5), share(0, 0.0)]);
    }

    #[test]
    fn places_of_modes_that_do_not_exist_are_named() {
        let phases = vec![PhaseRecord { mode: 1, t0: 0.0, t1: 1.0 }];
        let hybrid = ModeHistory { modes: vec![ModeRecord::default()], phases, ..ModeHistory::default() };
        assert!(
            hybrid.check().unwrap_err().to_string().contains("phases: place 0 names mode 1, but there are 1 modes")
        );
        let phases = vec![PhaseRecord { mode: 0, t0: 1.0, t1: 0.0 }];
        let hybrid = ModeHistory { modes: vec![ModeRecord::default()], phases, ..ModeHistory::default() };
        assert!(hybrid.check().unwrap_err().to_string().contains("phases: the time falls"));
    }
}
