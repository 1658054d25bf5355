//! How Daedal decides ranks: the rule with its thresholds, the equilibration before a decision, the numbers behind it, and the watch over
//! ranks along a run.

mod combination;
mod decomposed;
mod eliminated;
mod elimination;
mod equilibrate;
mod gap;
mod rule;
mod subspaces;
mod watch;

pub use combination::Combination;
pub use combination::{echelon, normalised};
pub use decomposed::RankDecision;
pub use decomposed::{Decomposed, is_regular};
pub use eliminated::Eliminated;
pub use elimination::Elimination;
pub use equilibrate::scale_of;
pub use equilibrate::{Scales, Scaling, VANISHING, balance};
pub use gap::RankGap;
pub use rule::RankRule;
pub use rule::*;
pub use subspaces::{RankError, Ranks, Subspaces};
pub use watch::{RankWatch, Rows};
