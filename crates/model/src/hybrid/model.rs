//! A system with modes, read: everything that is needed to build and to describe it.

use crate::control::ControlSequence;
use crate::events::ModelEvent;
use crate::model::ModelKind;
use crate::unknowns::InputSource;
use daedal::Initial;
use daedal::graph::Expr;
use daedal::hybrid::{HybridOptions, Logic, Restart, Schedule};
use daedal_multibody::System;
use std::sync::Arc;

/// A system that switches between modes.
#[derive(Clone, Debug)]
pub struct HybridModel {
    /// The modes, in the order of the file.
    pub modes: Vec<HybridMode>,
    /// The transitions in the order of the file, one for each mode that is left.
    pub transitions: Vec<HybridTransition>,
    /// Modes for sliding that are written in the file.
    pub sliding: Vec<HybridSliding>,
    /// What `[sliding]` and `[solve]` wish for.
    pub options: HybridOptions,
    /// The order of the modes in an optimum.
    pub sequence: Option<ControlSequence>,
    /// The start.
    pub initial: Initial,
}

/// A mode.
#[derive(Clone, Debug)]
pub struct HybridMode {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// Its equations: [`ModelKind::Motion`] or [`ModelKind::Dae`]. Their initial values are those of the file in the first mode and unknown in others.
    pub kind: ModelKind,
    /// Names of its unknowns, as [`daedal::hybrid::Flow::names`] has them.
    pub unknowns: Vec<String>,
    /// The method of the catalogue that it asks for.
    pub method: Option<&'static str>,
    /// The formulation that it, or the whole file, asks for.
    pub formulation: Option<String>,
    /// How a state is made consistent on entry.
    pub restart: Restart,
    /// Names of unknowns that entering must not change.
    pub keep: Vec<String>,
    /// No transition for this long after it was entered.
    pub dwell: f64,
    /// Events that do not switch, those whose names the mode has.
    pub events: Vec<ModelEvent>,
    /// Formulas of the picture in its graph, by their numbers; those whose names the mode has.
    pub picture: Vec<(usize, Expr)>,
    /// Bodies, joints and forces as they are drawn, where the model is made of them.
    pub bodies: Option<Arc<System>>,
    /// Where the inputs of its graph come from.
    pub(crate) sources: Vec<Option<InputSource>>,
}

/// A mode that is written for sliding between two others.
#[derive(Clone, Debug, PartialEq)]
pub struct HybridSliding {
    /// The two modes.
    pub between: (usize, usize),
    /// The mode for sliding.
    pub mode: usize,
    /// Changes of the state when sliding begins: name and place of the unknown in the mode for sliding, its value as a formula in the
    /// graph of the first of the two modes, whose unknowns the second one has as well.
    pub set: Vec<(String, usize, Expr)>,
}

/// A way from one mode to another.
#[derive(Clone, Debug)]
pub struct HybridTransition {
    /// The mode that is left.
    pub from: usize,
    /// The mode that is entered.
    pub to: usize,
    /// When.
    pub trigger: HybridTrigger,
    /// Changes of the state: name and place of the unknown in the new mode, its value as a formula in the graph of the old one.
    pub set: Vec<(String, usize, Expr)>,
    /// Which one is taken if several happen at the same time: the one with the largest priority.
    pub priority: Option<i32>,
    /// How the state is made consistent; as the new mode says if absent.
    pub restart: Option<Restart>,
    /// Names of unknowns of the new mode that must not be changed, beyond those of the mode.
    pub keep: Vec<String>,
    /// The condition counts when its functions have fallen to minus this.
    pub hysteresis: f64,
    /// The mode that is entered where this transition happens infinitely often in finite time.
    pub after_accumulation: Option<usize>,
}

/// When a transition happens.
#[derive(Clone, Debug)]
pub enum HybridTrigger {
    /// When a condition becomes true.
    When {
        /// The condition as it is written.
        text: String,
        /// The comparisons in it.
        statements: Vec<Statement>,
        /// How they are joined.
        logic: Logic,
    },
    /// At given times.
    At(Schedule),
}

/// A comparison as a switching function g: g > 0 while it is false.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// As it is written.
    pub text: String,
    /// g, in the graph of the mode that is left.
    pub g: Expr,
    /// Is the statement g < 0 instead of g ≤ 0?
    pub strict: bool,
    /// Does g contain derivatives that are no unknowns?
    pub uses_derivatives: bool,
}
