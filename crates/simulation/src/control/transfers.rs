//! Control of a system with modes as a whole: modes that are reached, and transfers that lead to consistent states. Wunderlich, thesis (2008),
//! Theorem 5.42.

use super::facts::ControlFacts;
use super::linearised::{ControlMatrices, DrivingTerm};
use crate::model::{Model, ModelSystem, SwitchedModel};
use daedal::linalg::{Mat, RankRule};
use daedal_model::{HybridModel, HybridTransition, HybridTrigger, ModelKind};
use daedal_pencils::PencilError;
use daedal_pencils::control::{ControlError, StateSpaces, transfer_surplus};

/// Control of a system with modes as a whole.
pub struct HybridFacts {
    /// Every transition.
    pub transfers: Vec<TransferFacts>,
    /// Can every mode be left for every other in the end?
    pub connected: bool,
    /// Are all modes regular, R-controllable and, where they have outputs, R-observable?
    pub modes: bool,
}

impl HybridFacts {
    /// R-controllable as a whole: `None` where a transfer is not decided.
    pub fn is_controllable(&self) -> Option<bool> {
        if !self.modes {
            return Some(false);
        }
        let decided: Option<Vec<bool>> =
            self.transfers.iter().map(|transfer| transfer.surplus.as_ref().ok().map(|surplus| *surplus == 0)).collect();
        decided.map(|consistent| consistent.into_iter().all(|consistent| consistent))
    }
}

/// A transition between modes.
pub struct TransferFacts {
    /// The mode that is left.
    pub from: String,
    /// The mode that is entered.
    pub to: String,
    /// Dimension of what leads to states that are not consistent, or why it is not known.
    pub surplus: Result<usize, String>,
}

pub(super) fn examine(
    whole: &Model,
    modes: &SwitchedModel,
    facts: &[(String, Result<ControlFacts, String>)],
    rule: RankRule,
) -> HybridFacts {
    let model = &modes.model;
    let mut parts: Vec<Result<ControlMatrices, String>> =
        (0..model.modes.len()).map(|k| linearised(whole, modes, k)).collect();
    let spaces: Vec<Result<StateSpaces, String>> = parts
        .iter()
        .zip(&model.modes)
        .map(|(part, mode)| {
            let part = part.as_ref().map_err(Clone::clone)?;
            match &part.drive {
                DrivingTerm::Constant(b) if b.iter().all(|b| *b == 0.0) => {
                    StateSpaces::new(&part.system, rule).map_err(|error| unknown_states(&error, &mode.name))
                }
                _ => Err("the equations have terms without states and inputs".into()),
            }
        })
        .collect();
    let transfers = model.transitions.iter().map(|transition| TransferFacts {
        from: model.modes[transition.from].name.clone(),
        to: model.modes[transition.to].name.clone(),
        surplus: surplus(model, transition, &mut parts, &spaces, rule),
    });
    let is_controlled = |facts: &Result<ControlFacts, String>| {
        facts.as_ref().is_ok_and(|facts| {
            let seen = facts.observability.as_ref().is_none_or(daedal_pencils::control::Controllability::is_reachable);
            facts.free.is_regular() && facts.controllability.is_reachable() && seen
        })
    };
    HybridFacts {
        transfers: transfers.collect(),
        connected: connected(model),
        modes: facts.iter().all(|(_, facts)| is_controlled(facts)),
    }
}

/// Why the states of a mode are not known.
fn unknown_states(error: &ControlError, mode: &str) -> String {
    match error {
        ControlError::Pencil(PencilError::Singular) => format!(
            "mode {mode} has no solution for given inputs, or several; close its loop with a feedback, and look at the model that is written then"
        ),
        other => other.to_string(),
    }
}

/// One mode in matrices.
pub(super) fn linearised(whole: &Model, modes: &SwitchedModel, k: usize) -> Result<ControlMatrices, String> {
    match &whole.mode(modes, k).content.equations {
        ModelSystem::General(general) => match general.control.as_deref() {
            Some(control) => ControlMatrices::new(&general.formulas, control, &general.initial),
            None => Err("the file has no section [control]".into()),
        },
        _ => Err("equations of motion have no [control]".into()),
    }
}

fn surplus(
    model: &HybridModel,
    transition: &HybridTransition,
    parts: &mut [Result<ControlMatrices, String>],
    spaces: &[Result<StateSpaces, String>],
    rule: RankRule,
) -> Result<usize, String> {
    let (from, to) = (transition.from, transition.to);
    let (left, entered) = (spaces[from].as_ref().map_err(Clone::clone)?, spaces[to].as_ref().map_err(Clone::clone)?);
    let names = parts[to].as_ref().map_err(Clone::clone)?.states.clone();
    let part = parts[from].as_mut().map_err(|why| why.clone())?;
    let n = part.states.len();
    let mut T = Mat::zeros(names.len(), n);
    for (i, name) in names.iter().enumerate() {
        let set = transition.set.iter().find(|(other, ..)| other == name);
        let old = part.states.iter().position(|other| other == name);
        match (set, old) {
            (Some((_, _, formula)), _) => {
                let affine = part.affine(*formula).filter(|(_, offset, rate)| *offset == 0.0 && *rate == 0.0);
                let (gradient, ..) = affine.ok_or_else(|| format!("what is set for {name} is not linear"))?;
                gradient.iter().enumerate().for_each(|(j, g)| T[(i, j)] = *g);
            }
            (None, Some(j)) => T[(i, j)] = 1.0,
            (None, None) => return Err(format!("{name} is new in mode {}", model.modes[to].name)),
        }
    }
    // a surface through the origin restricts what can be handed on
    let mut surface = Mat::zeros(0, n);
    if let HybridTrigger::When { statements, .. } = &transition.trigger
        && let [statement] = &statements[..]
        && let Some((gradient, offset, rate)) = part.affine(statement.g)
        && offset == 0.0
        && rate == 0.0
    {
        surface = Mat::from_fn(1, n, |_, j| gradient[j]);
    }
    transfer_surplus(&left.admissible, &surface, &T, &entered.admissible, rule).map_err(|error| error.to_string())
}

/// Do transitions lead from every mode to every other?
fn connected(model: &HybridModel) -> bool {
    let count = model.modes.len();
    (0..count).all(|start| {
        let mut reached = vec![false; count];
        let mut open = vec![start];
        while let Some(mode) = open.pop() {
            if !std::mem::replace(&mut reached[mode], true) {
                open.extend(model.transitions.iter().filter(|way| way.from == mode).map(|way| way.to));
            }
        }
        reached.into_iter().all(|reached| reached)
    })
}

/// Is a mode a general system?
pub(super) fn is_general(model: &HybridModel) -> bool {
    model.modes.iter().all(|mode| matches!(mode.kind, ModelKind::Dae { .. }))
}
