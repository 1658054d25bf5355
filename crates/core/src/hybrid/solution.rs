//! What a hybrid run computed: phases in one mode each, and the switches between them.

use super::flow::{Impulses, Part};
use super::options::Restart;
use crate::event::Happened;
use crate::method::State;
use crate::motion::Balance;
use crate::segment::Segment;
use crate::solution::Ended;
use crate::statistics::{Residuals, Statistics};
use crate::verify::Verification;

/// A mode as results know it; those that were generated for sliding stand after those of the system.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeNames {
    /// Its name.
    pub name: String,
    /// Names of its unknowns.
    pub unknowns: Vec<String>,
    /// Was it generated for sliding, or written for it?
    pub sliding: bool,
    /// The modes between which it slides.
    pub between: Vec<usize>,
    /// What was integrated and with which decisions.
    pub decisions: String,
    /// What its steps cost, all phases together.
    pub statistics: Statistics,
    /// Largest |x_j| of its unknowns at any point, all phases together; empty if it was never entered.
    pub largest: Vec<f64>,
    /// How often it was entered, the start included.
    pub entered: u64,
    /// Time spent in it.
    pub time: f64,
}

/// A time in one mode.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Which mode, by its place in [`HybridSolution::modes`].
    pub mode: usize,
    /// Begin.
    pub t0: f64,
    /// End; the same as the begin for modes that are left at once.
    pub t1: f64,
    /// Times of the saved points.
    pub times: Vec<f64>,
    /// Saved states, one after the other.
    pub(crate) states: Vec<f64>,
    /// Polynomials, if asked for; the last one may reach beyond the end.
    pub segments: Vec<Segment>,
    /// Number of unknowns that are saved.
    pub(crate) n: usize,
}

impl Phase {
    /// Saved state k.
    pub fn state(&self, k: usize) -> &[f64] {
        &self.states[k * self.n..(k + 1) * self.n]
    }

    /// Number of saved points.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Are there no saved points?
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }
}

/// What kind of switch it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchKind {
    /// A transition whose condition became true.
    Regular,
    /// A transition whose condition was true already when the mode was entered.
    Immediate,
    /// Time of a schedule.
    Scheduled,
    /// Sliding begins.
    SlidingBegins,
    /// Sliding ends.
    SlidingEnds,
    /// Infinitely many switches in finite time were cut short.
    Accumulation,
}

impl SwitchKind {
    /// A word for tables.
    pub fn name(self) -> &'static str {
        match self {
            SwitchKind::Regular => "condition",
            SwitchKind::Immediate => "immediate",
            SwitchKind::Scheduled => "scheduled",
            SwitchKind::SlidingBegins => "sliding begins",
            SwitchKind::SlidingEnds => "sliding ends",
            SwitchKind::Accumulation => "accumulation",
        }
    }
}

/// Is the state continuous at a switch? (ISMTH)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Smoothness {
    /// It is.
    Smooth,
    /// The transition changed it.
    Transfer,
    /// It was changed to be consistent in the new mode.
    Restart,
}

/// A component that jumps.
#[derive(Clone, Debug, PartialEq)]
pub struct Jump {
    /// Its name.
    pub name: String,
    /// Before; not a number if the old mode does not have it.
    pub before: f64,
    /// After.
    pub after: f64,
}

/// What making a state consistent changed, beyond what the transition did to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair {
    /// The way.
    pub restart: Restart,
    /// Kinds of unknowns that moved by more than the tolerance, with their largest change; unknowns that the old mode does not have are
    /// not counted.
    pub moved: Vec<(Part, f64)>,
    /// What happened to momentum and energy of a mechanism.
    pub balance: Option<Balance>,
}

/// A change of modes.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// When.
    pub t: f64,
    /// The mode that was left.
    pub from: usize,
    /// The mode that was entered.
    pub to: usize,
    /// The transition of the system, if it was one.
    pub transition: Option<usize>,
    /// Its condition in words.
    pub condition: String,
    /// What kind of switch it was.
    pub kind: SwitchKind,
    /// Is the state continuous?
    pub smoothness: Smoothness,
    /// Components that both modes have and that jump by more than the tolerance.
    pub jumps: Vec<Jump>,
    /// Impulses, the factors of δ: of multipliers where constraints of a mechanism closed, of unknowns where a linear mode with constant
    /// coefficients was entered.
    pub impulses: Impulses,
    /// Factors of δ', δ'', … in the unknowns of a linear mode.
    pub higher_impulses: Vec<Impulses>,
    /// What making the state consistent changed; none if it was consistent up to the tolerance.
    pub repair: Option<Repair>,
    /// Was it one of three switches in short succession?
    pub chattering: bool,
    /// The state before, in the old mode.
    pub before: Vec<f64>,
    /// The state after, in the new mode.
    pub after: Vec<f64>,
}

/// An event that did not switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Occurrence {
    /// The mode in which it happened.
    pub mode: usize,
    /// What happened; the state is that of the mode.
    pub event: Happened,
}

/// What a user should know although the run went on.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// When it was first seen.
    pub t: f64,
    /// What.
    pub message: String,
}

/// What a hybrid run computed.
#[derive(Clone, Debug)]
pub struct HybridSolution {
    /// All modes, generated ones at the end.
    pub modes: Vec<ModeNames>,
    /// Phases in the order of time, those that are kept ([`HybridOptions::keep_switches`](super::HybridOptions::keep_switches)).
    pub phases: Vec<Phase>,
    /// Switches in the order of time, those that are kept.
    pub switches: Vec<Switch>,
    /// Events that did not switch, in the order of time, those that are kept.
    pub events: Vec<Occurrence>,
    /// How many of them there were.
    pub event_count: u64,
    /// How many switches there were.
    pub switch_count: u64,
    /// How many of them in short succession.
    pub chattering_count: u64,
    /// The last point.
    pub end: State,
    /// Its mode.
    pub end_mode: usize,
    /// How it ended.
    pub ended: Ended,
    /// Counters, all modes together.
    pub statistics: Statistics,
    /// Largest residuals at any accepted point.
    pub max_residuals: Residuals,
    /// Chattering and the like.
    pub warnings: Vec<Warning>,
    /// What the independent check found, if it was asked for.
    pub verification: Option<Verification>,
}

impl HybridSolution {
    /// Value of an unknown of the last mode at the last point.
    pub fn end_value(&self, name: &str) -> Option<f64> {
        self.modes[self.end_mode].unknowns.iter().position(|n| n == name).map(|j| self.end.x[j])
    }

    /// Time, mode left and mode entered of every switch.
    pub fn mode_trajectory(&self) -> Vec<(f64, &str, &str)> {
        self.switches.iter().map(|s| (s.t, &*self.modes[s.from].name, &*self.modes[s.to].name)).collect()
    }

    /// Value of an unknown at any time of the run; needs [`Save::Dense`](crate::options::Save::Dense). At a switch: behind it.
    pub fn value(&self, name: &str, t: f64) -> Option<f64> {
        let phase = self.phases.iter().rev().find(|phase| phase.t0 <= t && t <= phase.t1)?;
        let j = self.modes[phase.mode].unknowns.iter().position(|n| n == name)?;
        let k = phase.segments.partition_point(|s| s.t1 < t);
        let segment = phase.segments.get(k).filter(|s| s.t0 <= t)?;
        Some(segment.component(t, j))
    }
}
