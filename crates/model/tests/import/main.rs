//! Robots of URDF and MJCF: the same bodies whichever format says them, and mistakes at their places.

mod mistakes;
mod same;
mod tables;

use daedal_model::{Base, Imported, Model, import};
use daedal_multibody::System;
use std::sync::Arc;

/// What an import gives.
#[track_caller]
fn imported(name: &str, text: &str, base: Option<Base>) -> Imported {
    import(name, text, base).unwrap_or_else(|wrong| panic!("{}\n{text}", wrong.lines()))
}

/// The bodies of a model file.
#[track_caller]
fn system(text: &str) -> Arc<System> {
    let model = Model::read("model.toml", text, &[]).unwrap_or_else(|wrong| panic!("{}\n{text}", wrong.lines()));
    model.bodies.expect("bodies")
}
