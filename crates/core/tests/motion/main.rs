//! Equations of motion: initial values, analysis, events, failures, black boxes, compiled formulas; integrators for systems
//! of index one.
#![allow(missing_docs)]

mod analysis;
mod black_box;
#[path = "../support/chain.rs"]
mod chain;
mod compiled;
mod event;
mod explicit_time;
mod failure;
mod initial;
mod integrators;
mod solved;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/systems.rs"]
mod systems;
