//! Linear theory beside the solvers: pencils, systems of second order and systems with structure, analysed and solved with as little as
//! the theory allows: no form, no method, no steps but where they are the subject.
//!
//! | what | how |
//! | --- | --- |
//! | E ẋ = A x + b with constant regular (E, A) | [`RegularPencil`]: index, projectors, explicit solution, jump and impulses of an inconsistent start; [`ExplicitFlow`] follows it in fixed buffers |
//! | invariants of a pair, and the index from those of inflated pairs | [`local_invariants`], [`invariants_by_recursion`], [`is_one_full`] |
//! | M x″ + C x′ + K x = f | [`second_order`] |
//! | Σ A_q x⁽q⁾ = f of any order | [`high_order`] |
//! | any pencil, singular or not | [`Kronecker`]: sizes of all blocks of its canonical form, finite eigenvalues |
//! | symmetric and self-adjoint pairs | [`structured`] |
//! | control of descriptor systems | [`control`]: controllability, regularising feedback, linear-quadratic optima over several modes, equivalent control |
//! | eᴬ | [`exponential`] |
//!
//! What is solved step by step, GELDA with it, is in the crate `daedal`: [`daedal_linear`] reduces E(t) ẋ = A(t) x + b(t) of any index.

mod blocks;
pub mod control;
mod exponential;
pub mod high_order;
mod invariants;
mod pencil;
pub mod second_order;
pub mod structured;

pub use exponential::exponential;
pub use invariants::{LocalInvariants, invariants_by_recursion, is_one_full, local_invariants};
pub use pencil::{
    ExplicitFlow, InconsistentStart, Kronecker, PencilError, RegularPencil, drazin_inverse, index_by_powers,
};
