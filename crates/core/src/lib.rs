//! Daedal simulates constrained mechanical systems and differential-algebraic equations, and keeps every constraint.

pub mod linalg;
pub mod motion;
pub mod scalar;
