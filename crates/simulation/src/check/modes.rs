//! What can be known about a model with modes before it is solved: each mode by itself, the transitions, and where it may slide.
//!
//! The first mode is looked at where the run starts. The others are looked at in their consistent state nearest to it, by the names of the
//! unknowns; a run enters them somewhere else, so that nothing that is found there is fatal.

use super::mode_change::{self, ModeChange};
use super::{Check, Examined, examine as examine_mode, short};
use crate::error::Error;
use crate::model::{Model, SwitchedModel};
use crate::start::{KEPT, first_state};
use daedal::Start;
use daedal::hybrid::{Hybrid, Schedule, opposite_transition};
use daedal_model::{HybridModel, HybridTransition, HybridTrigger, Methods, ModelKind};

/// Most times of a schedule.
const MOST_TIMES: usize = 5;

/// What was found about a model with modes.
pub struct ModesCheck {
    /// Modes and transitions as they are written.
    pub model: HybridModel,
    /// What was found about every mode.
    pub modes: Vec<ModeCheck>,
    /// What every transition does to the kinds of unknowns, where both modes could be looked at.
    pub changes: Vec<Option<ModeChange>>,
    /// Where it may slide.
    pub pairs: Vec<SlidingPair>,
    /// Why a run cannot start.
    start: Option<Error>,
}

impl ModesCheck {
    /// Why the first mode cannot be started.
    pub(super) fn into_error(self) -> Option<Error> {
        let first = self.modes.into_iter().nth(self.model.initial.mode)?;
        first.examined.map_or_else(Some, Check::into_own_error).or(self.start)
    }

    /// What should be looked at in the modes.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (mode, found) in self.model.modes.iter().zip(&self.modes) {
            if !found.reachable {
                all.push(format!("mode {} is never entered: no transition leads there", mode.name));
            }
            if let Ok(check) = &found.examined {
                all.extend(check.warnings().iter().map(|warning| format!("mode {}: {warning}", mode.name)));
            }
        }
        all
    }
}

/// What was found about a mode.
pub struct ModeCheck {
    /// Can it be entered?
    pub reachable: bool,
    /// Why nothing is known, or what is.
    pub examined: Result<Check, Error>,
}

impl ModeCheck {
    /// Why no solution was found here.
    pub fn fault(&self) -> Option<String> {
        match &self.examined {
            Ok(check) => check.own_error().map(|error| error.to_string()),
            Err(error) => Some(error.to_string()),
        }
    }
}

/// Two modes between which the system may slide.
pub struct SlidingPair {
    /// The two modes.
    pub between: (usize, usize),
    /// The mode that is written for it.
    pub written: Option<usize>,
    /// Conditions of the transitions there and back, and the width of the hysteresis between them.
    pub surface: Option<(String, String, f64)>,
}

/// Look at all modes.
pub(super) fn examine(whole: &Model, modes: &SwitchedModel, t0: f64) -> ModesCheck {
    let model = &modes.model;
    let system = model.build(&modes.kernel.compiler(), &Methods::default());
    let start = first_state(model, &system, t0, &model.initial.states, whole.rank_tolerance());
    let first = &model.modes[model.initial.mode];
    let known: Vec<(&String, f64)> = match &start {
        Ok(x) => first.unknowns.iter().zip(x.iter().copied()).collect(),
        // at least what the file says
        Err(_) => {
            let given = first.unknowns.iter().zip(&model.initial.states);
            given.filter_map(|(name, start)| Some((name, value(*start)?))).collect()
        }
    };
    let reachable = reachable(model);
    // the state from which a run starts, if the file says how guesses of a general system become one
    let is_general = matches!(first.kind, ModelKind::Dae { .. });
    let restarted = is_general && model.initial.restart.is_some() && start.is_ok();
    let found = (0..model.modes.len()).map(|k| {
        let is_first = k == model.initial.mode;
        let nearby = (!is_first || restarted).then_some(&known[..]);
        let mut examined = examine_mode(&whole.mode(modes, k), t0, Vec::new(), nearby);
        if is_first
            && restarted
            && let Ok(check) = &mut examined
        {
            tell_what_moved(check, &model.initial.states, &known);
        }
        ModeCheck { reachable: reachable[k], examined }
    });
    let found: Vec<ModeCheck> = found.collect();
    let values: Vec<_> = found.iter().map(|mode| mode.examined.as_ref().ok().and_then(mode_change::values)).collect();
    let changes = model
        .transitions
        .iter()
        .map(|transition| Some(ModeChange::new(values[transition.from].as_ref()?, values[transition.to].as_ref()?)));
    let changes = changes.collect();
    let pairs = pairs(model, &system, t0, &known);
    ModesCheck { model: model.clone(), modes: found, changes, pairs, start: start.err() }
}

/// Guesses of the file that a restart does not keep.
fn tell_what_moved(check: &mut Check, given: &[Start], known: &[(&String, f64)]) {
    let Examined::General(general) = &mut check.examined else { return };
    let Ok(found) = &mut general.found else { return };
    let moved = given.iter().zip(known).filter_map(|(given, (name, start))| match given {
        Start::Guess(given) if (given - start).abs() > KEPT * given.abs().max(1.0) => {
            Some(((*name).clone(), *given, *start))
        }
        _ => None,
    });
    found.analysis.moved = moved.collect();
}

fn value(start: Start) -> Option<f64> {
    match start {
        Start::Fixed(x) | Start::Guess(x) => Some(x),
        Start::Unknown => None,
    }
}

/// Modes that transitions lead to, from the first one on.
fn reachable(model: &HybridModel) -> Vec<bool> {
    let mut reached = vec![false; model.modes.len()];
    let mut open = vec![model.initial.mode];
    while let Some(mode) = open.pop() {
        if std::mem::replace(&mut reached[mode], true) {
            continue;
        }
        for transition in model.transitions.iter().filter(|transition| transition.from == mode) {
            open.push(transition.to);
            open.extend(transition.after_accumulation);
        }
        for sliding in &model.sliding {
            if sliding.between.0 == mode || sliding.between.1 == mode {
                open.push(sliding.mode);
            }
        }
    }
    reached
}

/// Pairs of modes with a mode for sliding between them, or with transitions there and back over the same surface.
fn pairs(model: &HybridModel, system: &Hybrid, t0: f64, known: &[(&String, f64)]) -> Vec<SlidingPair> {
    let mut pairs: Vec<SlidingPair> = model
        .sliding
        .iter()
        .map(|sliding| SlidingPair { between: sliding.between, written: Some(sliding.mode), surface: None })
        .collect();
    for (j, transition) in model.transitions.iter().enumerate() {
        // any point serves to see that two functions are opposite
        let x: Vec<f64> = model.modes[transition.from]
            .unknowns
            .iter()
            .map(|name| known.iter().find(|(other, _)| *other == name).map_or(0.5, |(_, x)| *x))
            .collect();
        let Some((back, width)) = opposite_transition(system, j, t0, &x) else { continue };
        let (a, b) = (transition.from, transition.to);
        let (there, back) = (&system.transitions[j], &system.transitions[back]);
        let surface = Some((there.name(), back.name(), width + there.hysteresis + back.hysteresis));
        match pairs.iter_mut().find(|pair| pair.between == (a, b) || pair.between == (b, a)) {
            Some(pair) if pair.surface.is_none() => pair.surface = surface,
            Some(_) => {}
            None => pairs.push(SlidingPair { between: (a, b), written: None, surface }),
        }
    }
    pairs
}

/// When a transition happens.
pub fn condition(transition: &HybridTransition) -> String {
    match &transition.trigger {
        HybridTrigger::When { text, .. } => text.clone(),
        HybridTrigger::At(Schedule::Every { first, period }) => {
            format!("every {}, first at {}", short(*period), short(*first))
        }
        HybridTrigger::At(Schedule::Times(times)) => {
            let told: Vec<String> = times.iter().take(MOST_TIMES).map(|t| short(*t)).collect();
            let more = if times.len() > MOST_TIMES { ", …" } else { "" };
            format!("at {}{more}", told.join(", "))
        }
    }
}
