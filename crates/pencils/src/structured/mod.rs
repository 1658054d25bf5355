//! Pairs E x′ = A x + b with symmetry: symmetric ones, E = Eᵀ and A = Aᵀ, and self-adjoint ones, E = −Eᵀ and A = (A + E′)ᵀ, of which
//! optimal control and gyroscopic systems consist.
//!
//! The index reduction of this module keeps the symmetry, by congruences. It is possible for a strangeness index of one at most, and not
//! always then; where it is not, the reason is given, and the unstructured reduction serves. Wunderlich, thesis (2008), chapter 4.
//!
//! | what | how |
//! | --- | --- |
//! | is a pair structured? | [`MatrixPair::adjoint`], [`MatrixPair::symmetry_defect`], [`MatrixPair::self_adjointness_defect`] |
//! | sizes at a point | [`structured_invariants`] |
//! | reduction, constant coefficients | [`structured_reduce`] |
//! | variable coefficients | [`variable_conditions`], [`reduce_variable`], [`minimal_extension`] |
//! | where such pairs come from | [`OptimalControl`], [`gyroscopic_pair`], [`saddle_point_pair`], [`structured_companion`] |

mod builders;
mod error;
mod extension;
mod invariants;
mod optimal_control;
mod pair;
mod reduction;
mod variable;
mod variable_reduction;

pub use builders::{StructuredCompanion, gyroscopic_pair, saddle_point_pair, structured_companion};
pub use error::{Refusal, StructuredError};
pub use extension::{MinimalExtension, SelfAdjointBlocks, minimal_extension};
pub use invariants::{StructuredInvariants, structured_invariants};
pub use optimal_control::{BoundaryMatrices, OptimalControl};
pub(crate) use pair::sized;
pub use pair::{Defect, MatrixPair, Symmetry};
pub use reduction::{StructuredReduction, structured_reduce};
pub use variable::{VariableConditions, variable_conditions};
pub use variable_reduction::{MovingPair, VariableReduction, reduce_variable};
