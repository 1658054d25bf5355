//! Linear systems: with known answers, random ones, of second order, with structure.
#![allow(missing_docs)]

mod explicit;
#[path = "../support/random.rs"]
mod random;
mod random_systems;
mod second_order;
mod structured;
