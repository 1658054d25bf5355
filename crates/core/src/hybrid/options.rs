//! Options of runs through several modes.

use super::sliding::Combination;
use crate::error::BadOption;

/// How a state is made consistent when a mode is entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restart {
    /// As the equations of the mode say themselves: the state jumps along what impulses can reach, and keeps what they cannot change, such
    /// as charge, flux and momentum. It does not matter how equations are scaled or combined. For equations of motion the same as
    /// [`Momentum`](Restart::Momentum). Wunderlich, thesis (2008), (2.37).
    #[default]
    Impulse,
    /// The differential part E₁x is kept, only algebraic components change; E₁ depends on how equations are scaled where constraints are
    /// hidden. Wunderlich, thesis (2008), Remark 5.27.
    Differential,
    /// The smallest change of all components together.
    LeastChange,
    /// The smallest change of the unknowns whose derivatives occur in the equations; the others follow by any amount. So generated sliding
    /// modes are entered.
    States,
    /// The smallest change relative to the tolerances of the components.
    Weighted,
    /// As the smallest change, and what lies along the constraints at the nearest consistent state stays exactly. Wunderlich, thesis
    /// (2008), (5.21).
    Tangential,
    /// Constraints that close change velocities by impulses along their gradients: M (v⁺ − v⁻) = −Jᵀ Λ. For equations of motion.
    Momentum,
}

impl Restart {
    /// The word that model files and results have for it.
    pub fn name(self) -> &'static str {
        match self {
            Restart::Impulse => "impulse",
            Restart::Differential => "differential",
            Restart::LeastChange => "least-change",
            Restart::States => "states",
            Restart::Weighted => "weighted",
            Restart::Tangential => "tangential",
            Restart::Momentum => "momentum",
        }
    }
}

/// What becomes of a hysteresis: opposite conditions of two modes with a gap between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hysteresis {
    /// The modes alternate, however narrow the gap is. Only surfaces that coincide are slid along: there the limit of switching is
    /// infinitely fast.
    #[default]
    Alternates,
    /// The system slides in the middle of the gap: the limit of a hysteresis whose width tends to zero.
    Limit,
}

/// How sliding is noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detection {
    /// At every switch: do the solutions of both modes lead to the surface between them? Three switches in short succession as well.
    #[default]
    Both,
    /// Only the first of these.
    Condition,
    /// Only the second.
    ThreePoints,
    /// Not at all: the system may chatter.
    Off,
}

/// Options of a hybrid run, beside those that every method knows.
#[derive(Clone, Debug, PartialEq)]
pub struct HybridOptions {
    /// How sliding is noticed.
    pub detection: Detection,
    /// What is combined when a system slides.
    pub combination: Combination,
    /// What becomes of a hysteresis. A mode that was written for sliding between two modes is used whatever this says.
    pub hysteresis: Hysteresis,
    /// Three switches at distances below this time are chattering (TOLC). If absent, three switches between which the switching
    /// functions rose by no more than their uncertainty: such a succession does not depend on the unit of time.
    pub chatter_time: Option<f64>,
    /// Step δ of the difference quotient that tells where a solution leads.
    pub probe: f64,
    /// Most transitions in a row without any time in between (MAXCGN).
    pub max_immediate: u32,
    /// Most switches of a run.
    pub max_switches: u64,
    /// Keep only so many switches and phases at the begin and at the end of the run; all of them if absent. What is counted counts all.
    pub keep_switches: Option<usize>,
    /// How exactly times of events are found; 100 units of rounding if absent (TTOL).
    pub time_tolerance: Option<f64>,
}

impl Default for HybridOptions {
    fn default() -> Self {
        HybridOptions {
            detection: Detection::default(),
            combination: Combination::default(),
            hysteresis: Hysteresis::default(),
            chatter_time: None,
            probe: 1e-5,
            max_immediate: 100,
            max_switches: 100_000,
            keep_switches: None,
            time_tolerance: None,
        }
    }
}

impl HybridOptions {
    /// Are lengths of time possible?
    pub(super) fn check(&self) -> Result<(), BadOption> {
        BadOption::positive("probe", self.probe)?;
        let lengths = [("chatter_time", self.chatter_time), ("time_tolerance", self.time_tolerance)];
        lengths
            .into_iter()
            .filter_map(|(name, time)| Some((name, time?)))
            .try_for_each(|(name, time)| BadOption::positive(name, time))
    }
}
