//! Daedal simulates constrained mechanical systems and differential-algebraic equations, and keeps every constraint,
//! the hidden ones included.
//!
//! Write the equations you know as [`motion::EquationsOfMotion`], say what you know about the start as [`Initial`],
//! and [`solve`]. Jacobians, hidden constraints and consistent initial values are derived. See [`solve`] for a complete example.
//!
//! | module | what |
//! | --- | --- |
//! | [`scalar`] | numbers that models are written for |
//! | [`graph`] | formulas as expression graphs |
//! | [`dae`] | general differential-algebraic equations of any index |
//! | [`hybrid`] | systems that switch between modes, and slide |
//! | [`motion`] | equations of motion, their reduced derivative array, consistent initial values |
//! | [`analysis`] | what can be known before a run: index, freedom, redundancy, consistency, time scales |
//! | [`formulation`] | equations of motion as systems of index 0 to 3: which constraint levels are solved |
//! | [`method`] | GEOMS; Radau IIa and BDF for general systems and formulations; GMKSSOL; half-explicit, extrapolation, symplectic and generalized-α methods |
//! | [`catalogue`] | all methods for equations of motion by name |
//! | [`linear`] | linear differential-algebraic equations of any index, reduced |
//! | [`linalg`] | decompositions in fixed buffers |

pub mod analysis;
mod auto;
mod backward;
mod boundary;
pub mod catalogue;
mod consistent;
pub mod dae;
mod error;
mod event;
mod explicit_time;
mod family;
pub mod formulation;
pub mod hybrid;
mod initial;
mod lookout;
#[allow(clippy::too_many_arguments, clippy::too_many_lines, clippy::type_complexity)]
// an iteration takes what a step has
pub mod method;
pub mod motion;
mod observer;
mod options;
pub mod prelude;
mod problem;
mod run;
mod segment;
mod solution;
mod solve;
mod statistics;
mod tolerance;
mod verify;

// tests inside share systems with those outside
#[cfg(test)]
extern crate self as daedal;

pub use daedal_graph as graph;
pub use daedal_linear as linear;
#[doc(no_inline)]
pub use daedal_linear::linalg;
pub use daedal_scalar as scalar;

pub use auto::Auto;
pub use boundary::{
    BoundaryAccount, BoundaryError, BoundaryProblem, BoundarySolution, Bounded, Divergence, EndCondition, GuessCurve,
    Periodic, Unmet, solve_boundary,
};
pub use error::{BadOption, ConstraintBlock, SolveError, StepFailure};
pub use event::{Action, Event, Happened};
pub use family::families;
pub use initial::{BadInitial, Condition, Initial, Residual, Start, Unknown, WrongLength};
pub use method::bdf::Bdf;
pub use method::dormand_prince::DormandPrince;
pub use method::exact::Exact;
pub use method::explicit::Pair;
pub use method::extrapolation::Mexx;
pub use method::generalized_alpha::GeneralizedAlpha;
pub use method::geoms::Geoms;
pub use method::gmkssol::Gmkssol;
pub use method::half_explicit::{HalfExplicit, Hedop5};
pub use method::local_state_space::LocalStateSpace;
pub use method::radau::RadauIIa;
pub use method::rosenbrock::Rodas;
pub use method::runge_kutta::ImplicitRungeKutta;
pub use method::symplectic::{Lobatto, Rattle};
pub use observer::{Observer, StepView};
pub use options::{Options, Save};
pub use problem::{Class, Problem, Solvable};
pub use segment::Segment;
pub use solution::{Ended, Solution};
pub use solve::{Solver, solve, solve_observed};
pub use statistics::{Residuals, Statistics};
pub use tolerance::{BadTolerance, Tolerance};
pub use verify::{Disagreement, Verification};

/// The example of the README.
#[cfg(doctest)]
#[allow(rustdoc::invalid_codeblock_attributes)] // names of files
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples of the book.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/rust.md")]
struct Book;
