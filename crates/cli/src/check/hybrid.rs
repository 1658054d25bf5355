//! What can be known about a model with modes before it is solved: each mode by itself, the transitions, and where it may slide.
//!
//! The first mode is looked at where the run starts. The others are looked at in their consistent state nearest to it, by the names of the
//! unknowns; a run enters them somewhere else, so that nothing that is found there is fatal.

mod object;
mod text;

use crate::check::{Examined, examine as examine_mode};
use crate::failure::Failure;
use crate::init::hybrid::consistent;
use crate::setup::{Equations, Setup, Switched};
use daedal::hybrid::{Hybrid, opposite_transition};
use daedal::motion::{Form, Layout, Start};
use daedal_model::{HybridModel, Methods};

/// What was found.
struct Checked<'s> {
    setup: &'s Setup,
    model: &'s HybridModel,
    tend: f64,
    modes: Vec<Found>,
    pairs: Vec<Pair>,
}

impl Checked<'_> {
    /// What should be looked at: in the file as a whole and in every mode.
    fn warnings(&self) -> Vec<String> {
        let mut all: Vec<String> = self.setup.told().map(|(_, warning)| warning.to_string()).collect();
        for (mode, found) in self.model.modes.iter().zip(&self.modes) {
            if !found.reachable {
                all.push(format!("mode {} is never entered: no transition leads there", mode.name));
            }
            if let Ok(examined) = &found.examined {
                all.extend(examined.warnings.iter().map(|warning| format!("mode {}: {warning}", mode.name)));
            }
        }
        all
    }
}

/// What was found about a mode.
struct Found {
    /// Can it be entered?
    reachable: bool,
    /// Why nothing is known, or what is.
    examined: Result<Examined, Failure>,
}

impl Found {
    /// Why no solution was found here.
    fn fault(&self) -> Option<&Failure> {
        match &self.examined {
            Ok(examined) => examined.impossible.as_ref(),
            Err(failure) => Some(failure),
        }
    }
}

/// Two modes between which the system may slide.
struct Pair {
    between: (usize, usize),
    /// The mode that is written for it.
    written: Option<usize>,
    /// Conditions of the transitions there and back, and the width of the hysteresis between them.
    surface: Option<(String, String, f64)>,
}

/// Look at all modes.
pub fn examine(setup: &Setup, switched: &Switched) -> Examined {
    let model = &switched.model;
    let start = consistent(switched, &model.initial.start);
    let first = &model.modes[model.initial.mode];
    let known: Vec<(&String, f64)> = match &start {
        Ok(x) => first.unknowns.iter().zip(x.iter().copied()).collect(),
        // at least what the file says
        Err(_) => {
            let given = first.unknowns.iter().zip(&model.initial.start);
            given.filter_map(|(name, start)| Some((name, value(*start)?))).collect()
        }
    };
    let reachable = reachable(model);
    let modes = (0..model.modes.len()).map(|k| {
        let mut alone = switched.mode(setup, k);
        if k != model.initial.mode {
            start_near(&mut alone, model.initial.t, &known);
        }
        Found { reachable: reachable[k], examined: examine_mode(&alone) }
    });
    let modes: Vec<Found> = modes.collect();
    let system = model.build(&switched.compiler(), &Methods::default());
    let pairs = pairs(model, &system, &known);
    let checked = Checked { setup, model, tend: switched.tend, modes, pairs };
    let (text, object, warnings) = (text::text(&checked), object::object(&checked), checked.warnings());
    let impossible = match checked.modes.into_iter().nth(model.initial.mode).map(|found| found.examined) {
        Some(Ok(examined)) => examined.impossible,
        Some(Err(failure)) => Some(failure),
        None => None,
    };
    Examined { text, object, impossible: impossible.or(start.err()), warnings }
}

fn value(start: Start) -> Option<f64> {
    match start {
        Start::Fixed(x) | Start::Guess(x) => Some(x),
        Start::Unknown => None,
    }
}

/// Guesses by name for a mode that is not the first.
fn start_near(setup: &mut Setup, t: f64, known: &[(&String, f64)]) {
    let guess = |name: &str| {
        let found = known.iter().find(|(other, _)| *other == name);
        found.map_or(Start::Unknown, |(_, x)| Start::Guess(*x))
    };
    match &mut setup.equations {
        Equations::Motion(motion) => {
            let mechanism = &*motion.case.mechanism;
            let layout = Layout::new(mechanism.sizes(), Form::StrangenessFree, false);
            let names = layout.variable_names(&mechanism.names());
            let block = |range: std::ops::Range<usize>| names[range].iter().map(|name| guess(name)).collect::<Vec<_>>();
            let initial = &mut motion.case.initial;
            initial.t = t;
            (initial.p, initial.v, initial.r) = (block(layout.p()), block(layout.v()), block(layout.r()));
            (initial.w, initial.s) = (block(layout.w()), block(layout.s()));
        }
        Equations::General(general) => {
            let formulas = &general.system.formulas;
            general.initial.t = t;
            general.initial.states = formulas.states.iter().map(|name| guess(name)).collect();
            let highest = formulas.orders.iter().copied().max().unwrap_or(0);
            // derivatives that are unknowns
            let derivatives = (1..highest).map(|order| {
                formulas.states.iter().map(|name| guess(&format!("{name}{}", "'".repeat(order as usize)))).collect()
            });
            general.initial.derivatives = derivatives.collect();
        }
        Equations::Hybrid(_) => {}
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
fn pairs(model: &HybridModel, system: &Hybrid, known: &[(&String, f64)]) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = model
        .sliding
        .iter()
        .map(|sliding| Pair { between: sliding.between, written: Some(sliding.mode), surface: None })
        .collect();
    for (j, transition) in model.transitions.iter().enumerate() {
        // any point serves to see that two functions are opposite
        let x: Vec<f64> = model.modes[transition.from]
            .unknowns
            .iter()
            .map(|name| known.iter().find(|(other, _)| *other == name).map_or(0.5, |(_, x)| *x))
            .collect();
        let Some((back, width)) = opposite_transition(system, j, model.initial.t, &x) else { continue };
        let (a, b) = (transition.from, transition.to);
        let (there, back) = (&system.transitions[j], &system.transitions[back]);
        let surface = Some((there.name(), back.name(), width + there.hysteresis + back.hysteresis));
        match pairs.iter_mut().find(|pair| pair.between == (a, b) || pair.between == (b, a)) {
            Some(pair) if pair.surface.is_none() => pair.surface = surface,
            Some(_) => {}
            None => pairs.push(Pair { between: (a, b), written: None, surface }),
        }
    }
    pairs
}
