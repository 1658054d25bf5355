//! Everything that most programs need: `use daedal::prelude::*;`.

#[doc(no_inline)]
pub use crate::auto::Auto;
#[doc(no_inline)]
pub use crate::dae::{Equations, Form, InForm, OrdinaryEquations, System};
#[doc(no_inline)]
pub use crate::error::SolveError;
#[doc(no_inline)]
pub use crate::event::{Action, Event};
#[doc(no_inline)]
pub use crate::formulation::{Formulated, Formulation};
#[doc(no_inline)]
pub use crate::hybrid::{Condition, Hybrid, HybridOptions, Mode, SwitchingFunction, Transition};
#[doc(no_inline)]
pub use crate::initial::{Initial, Start};
#[doc(no_inline)]
pub use crate::linalg::Matrix;
#[doc(no_inline)]
pub use crate::method::bdf::Bdf;
#[doc(no_inline)]
pub use crate::method::dormand_prince::DormandPrince;
#[doc(no_inline)]
pub use crate::method::geoms::Geoms;
#[doc(no_inline)]
pub use crate::method::half_explicit::Hedop5;
#[doc(no_inline)]
pub use crate::method::radau::RadauIIa;
#[doc(no_inline)]
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
#[doc(no_inline)]
pub use crate::tolerance::Tolerance;
