//! Linear differential-algebraic equations of any order, Σ_q A_q(t) x⁽q⁾ = f(t), q = 0, …, k: characteristic values without order
//! reduction, and what forms of first order make of them. For k = 2 the numbers are those of [`second_order`](crate::second_order), for
//! k = 1 those of Kunkel and Mehrmann. Wunderlich, thesis (2008), chapter 3, there proved for k = 2 and μ ≤ 2.
//!
//! | what | how |
//! | --- | --- |
//! | data at a point | [`OrderExpansion`]: Taylor coefficients of all A_q and of f |
//! | derivative array | [`OrderArray`] |
//! | index, characteristic values, strangeness-free system with the same unknowns | [`reduce_order`] |
//! | forms of first order to compare with | [`OrderExpansion::with_derivatives`] |
//! | trimmed form of first order | [`ReducedOrder::trimmed`] |
//!
//! A nonlinear system is looked at along a curve that solves it: linearising and differentiating commute.

mod array;
mod expansion;
mod forms;
mod reduction;
mod trimmed;

pub use array::OrderArray;
pub use expansion::OrderExpansion;
pub use reduction::{OrderRows, OrderValues, ReducedOrder, reduce_order};
