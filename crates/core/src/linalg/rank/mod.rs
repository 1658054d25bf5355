//! How Daedal decides ranks: the rule with its thresholds, the equilibration before a decision, the numbers behind it, and the watch over
//! ranks along a run.

mod combination;
mod decomposed;
mod equilibrate;
mod gap;
mod rule;
mod subspaces;
mod watch;

pub use combination::Combination;
pub(crate) use combination::{echelon, normalised};
pub use decomposed::RankDecision;
pub(crate) use decomposed::{Decomposed, is_regular};
pub use equilibrate::scale_of;
pub(crate) use equilibrate::{Scales, Scaling, VANISHING, balance};
pub use gap::RankGap;
pub use rule::RankRule;
pub(crate) use rule::*;
pub use subspaces::{RankError, Ranks, Subspaces};
pub(crate) use watch::{RankWatch, Rows};
