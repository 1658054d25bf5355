//! Options of runs through several modes.

use super::sliding::Combination;

/// How a state is made consistent when a mode is entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restart {
    /// The differential part is kept, only algebraic components change. Wunderlich, thesis (2008), Remark 5.27.
    #[default]
    Differential,
    /// The smallest change of all components together.
    LeastChange,
    /// The smallest change relative to the tolerances of the components.
    Weighted,
    /// As the smallest change, and what lies along the constraints at the nearest consistent state stays exactly. Wunderlich, thesis
    /// (2008), (5.21).
    Tangential,
    /// Constraints that close change velocities by impulses along their gradients: M (v⁺ − v⁻) = −Jᵀ Λ. For equations of motion.
    Momentum,
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
    /// Three switches within twice this time are chattering (TOLC).
    pub chatter_time: f64,
    /// Step δ of the difference quotient that tells where a solution leads.
    pub probe: f64,
    /// Most transitions in a row without any time in between (MAXCGN).
    pub max_immediate: u32,
    /// Most switches of a run.
    pub max_switches: u64,
    /// How exactly times of events are found; 100 units of rounding if absent (TTOL).
    pub time_tolerance: Option<f64>,
}

impl Default for HybridOptions {
    fn default() -> Self {
        HybridOptions {
            detection: Detection::default(),
            combination: Combination::default(),
            chatter_time: 1e-3,
            probe: 1e-5,
            max_immediate: 100,
            max_switches: 100_000,
            time_tolerance: None,
        }
    }
}
