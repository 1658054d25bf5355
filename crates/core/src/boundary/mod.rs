//! Boundary value problems: conditions at both ends of an interval, periodic solutions, unknown end times and parameters.
//!
//! The system is brought into the form without hidden constraints, y' = rates, 0 = constraints ([`crate::dae::hidden`]); only its degrees of
//! freedom are to be found at the ends. Whole curves are the unknowns, so that solutions which grow in both directions of time are found as well.
//!
//! | file | what |
//! | --- | --- |
//! | `problem.rs` | what is to be solved |
//! | `ends.rs` | conditions at the ends, with their derivatives |
//! | `guess.rs` | curves to begin with |
//! | `scheme.rs` | nodes of symmetric collocation |
//! | `curve.rs` | a curve in pieces, and the size of its corrections |
//! | `interval.rs` | one interval, linearised |
//! | `linearised.rs` | all of them, condensed and eliminated with the conditions |
//! | `orthogonal.rs` | the decomposition that this needs |
//! | `newton.rs` | damped iteration on one mesh |
//! | `mesh.rs` | errors and meshes |
//! | `solve.rs` | the whole way |
//! | `solution.rs` | what was found, and how |
//! | `error.rs`, `failure.rs` | why nothing was, and how that is told |

mod curve;
mod ends;
mod error;
mod failure;
mod guess;
mod interval;
mod linearised;
mod mesh;
mod newton;
mod orthogonal;
mod problem;
mod scheme;
mod solution;
mod solve;

pub use ends::EndCondition;
pub use error::{BoundaryError, Divergence, Unmet};
pub use problem::{BoundaryProblem, GuessCurve, Periodic};
pub use solution::{BoundaryAccount, BoundarySolution};
pub use solve::{Bounded, solve_boundary};
