//! Hybrid systems: modes with equations of their own, and transitions between them.
//!
//! A [`Mode`] is anything that can be integrated: a general system, equations of motion, a linear system, each of its own size and
//! index. A [`Transition`] leaves a mode when its condition becomes true, or at given times; it may change the state, which is then
//! made consistent in the new mode. Where the solutions of two modes lead back onto the surface between them, the system slides along it.
//! Wunderlich, Analysis and numerical solution of structured and switched differential-algebraic systems, thesis (2008), chapters 5 to 7.

mod condition;
mod error;
mod flow;
pub(crate) mod history;
mod impulsive;
mod jumping;
mod linearised;
mod mode;
mod options;
mod restart;
mod root;
pub(crate) mod slide;
mod sliding;
mod solution;
mod solve;
mod system;
mod transition;
pub(crate) mod watch;
mod way;

pub use condition::{Condition, Logic, Surface, SwitchingFunction};
pub use error::{EnterError, HybridError, HybridFailure};
pub(crate) use flow::GeneralFlow;
pub use flow::{Entered, Flow, Impulses, ModeEntry, Part};
pub use mode::{ActiveMode, Mode};
pub use options::{Detection, HybridOptions, Hysteresis, Restart};
pub use restart::make_consistent;
pub use slide::opposite_transition;
pub use sliding::{Combination, SlidingError, SurfaceFormula, sliding_formulas};
pub use solution::{
    HybridSolution, Jump, ModeNames, Occurrence, Phase, Repair, Smoothness, Switch, SwitchKind, Warning,
};
pub use system::{Hybrid, SlidingMode};
pub use transition::{Schedule, Transfer, Transition, Trigger};
