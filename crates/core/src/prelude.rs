//! Everything that most programs need: `use daedal::prelude::*;`.

pub use crate::auto::Auto;
pub use crate::dae::{Equations, Form, InForm, OrdinaryEquations, System};
pub use crate::error::SolveError;
pub use crate::formulation::{Formulated, Formulation};
pub use crate::hybrid::{Hybrid, HybridOptions, Mode, Transition};
pub use crate::initial::{Initial, Start};
pub use crate::linalg::Matrix;
pub use crate::method::bdf::Bdf;
pub use crate::method::dormand_prince::DormandPrince;
pub use crate::method::geoms::Geoms;
pub use crate::method::half_explicit::Hedop5;
pub use crate::method::radau::RadauIIa;
pub use crate::motion::{EquationsOfMotion, Motion, Names, Position, Sizes, Velocity};
pub use crate::options::{Options, Save};
pub use crate::problem::Problem;
pub use crate::scalar::Scalar;
pub use crate::solution::Solution;
pub use crate::solve::solve;
pub use crate::tolerance::Tolerance;
