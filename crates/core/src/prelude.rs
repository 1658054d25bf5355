//! Everything that most programs need: `use daedal::prelude::*;`.

#[doc(no_inline)]
pub use crate::auto::Auto;
pub use crate::dae::{Equations, Form, InForm, OrdinaryEquations, System};
pub use crate::error::SolveError;
pub use crate::event::{Action, Event};
pub use crate::formulation::{Formulated, Formulation};
pub use crate::hybrid::{Condition, Hybrid, HybridOptions, Mode, SwitchingFunction, Transition};
#[doc(no_inline)]
pub use crate::initial::{Initial, Start};
pub use crate::linalg::Matrix;
pub use crate::method::bdf::Bdf;
pub use crate::method::dormand_prince::DormandPrince;
pub use crate::method::geoms::Geoms;
pub use crate::method::half_explicit::Hedop5;
pub use crate::method::radau::RadauIIa;
pub use crate::motion::{EquationsOfMotion, Motion, Names, Position, Sizes, Velocity};
#[doc(no_inline)]
pub use crate::options::{Options, Save};
#[doc(no_inline)]
pub use crate::problem::Problem;
#[doc(no_inline)]
pub use crate::scalar::Scalar;
#[doc(no_inline)]
pub use crate::solution::Solution;
#[doc(no_inline)]
pub use crate::solve::solve;
pub use crate::tolerance::Tolerance;
