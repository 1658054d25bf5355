//! Linear systems: with known answers and random ones.
#![allow(missing_docs)]

mod explicit;
#[path = "../support/hidden.rs"]
mod hidden;
#[path = "../support/linear.rs"]
mod linear;
mod random_systems;
