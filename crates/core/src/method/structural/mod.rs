//! Methods that take M, f, G and H one by one, instead of residuals: half-explicit, explicit and symplectic ones.
//!
//! ```text
//! p' = Z v,   M v' = f − Kᵀ (λ, μ),   r' = b,   0 = g,   0 = K v + k₀,   K = (GZ; HZ),   k₀ = (g_t; h)
//! ```
//! At a point the accelerations and multipliers follow from `[M Kᵀ; K 0] (v'; λ, μ) = (f; −Γ)`, the acceleration level.

mod constant_step;
mod equations;
mod hermite;
mod interpolation;
mod one_step;
mod projection;
mod redundancy;
mod saddle;
mod step_size;

pub(crate) use equations::{StructuralEquations, kinds, refuse_redundant};
pub use one_step::AtSingular;
pub(crate) use one_step::{Attempt, OneStep, Scheme, Step, Trouble};
pub use projection::ProjectedOnto;
pub(crate) use redundancy::Redundancy;
pub(crate) use saddle::Saddle;
pub(crate) use step_size::StepSize;
