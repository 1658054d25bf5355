//! Backward in time: a forward run of the reversed system, seen in a mirror.
//!
//! With τ = −t every derivative of odd order changes its sign. So x(t) solves F(t, x, ẋ, ẍ, …) = 0 backward where x̃(τ) = x(−τ) solves
//! F(−τ, x̃, −x̃', x̃'', …) = 0 forward: no method has to know about it. What comes out, times, states, polynomials, events and errors, is
//! mirrored back, and so is what goes in.

mod general;
mod mirror;
mod motion;

pub(crate) use general::general;
pub(crate) use motion::motion;
