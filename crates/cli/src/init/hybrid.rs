//! Consistent initial values of the first mode of a model with modes: those from which a run starts.

use super::{key, said};
use crate::arguments::{Format, Init};
use crate::failure::{Failure, print};
use crate::hybrid::shown;
use crate::setup::{Setup, Switched};
use daedal::Options;
use daedal::hybrid::Entry;
use daedal::motion::Start;
use daedal_model::{Kind, Methods};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Guesses that are moved by less than this, relative to max(1, |x|), are kept.
const KEPT: f64 = 1e-12;

/// Find them and print them.
pub fn init(setup: &Setup, switched: &Switched, arguments: &Init) -> Result<(), Failure> {
    let initial = &switched.model.initial;
    let mode = &switched.model.modes[initial.mode];
    let mut start = initial.start.clone();
    for (name, given) in said(arguments)? {
        match mode.unknowns.iter().position(|known| *known == name) {
            Some(j) => start[j] = given,
            None => {
                return Err(Failure::UnknownName {
                    kind: "unknown of the first mode",
                    name,
                    known: mode.unknowns.clone(),
                });
            }
        }
    }
    let x = consistent(switched, &start)?;
    let entered = |j: usize| Entered { name: mode.unknowns[j].clone(), given: start[j], value: x[j] };
    let values: Vec<Entered> = shown(&mode.kind, start.len()).into_iter().map(|(j, _)| entered(j)).collect();
    match arguments.format {
        Format::Text => print(&table(setup, switched, &values)),
        Format::Json => print(&format!("{:#}\n", object(setup, switched, &values))),
    }
}

/// A consistent state of the first mode.
pub fn consistent(switched: &Switched, start: &[Start]) -> Result<Vec<f64>, Failure> {
    let (model, initial) = (&switched.model, &switched.model.initial);
    let system = model.build(&switched.compiler(), &Methods::default());
    let entry = Entry { t: initial.t, start: start.to_vec(), restart: initial.restart };
    let flow = &system.modes[initial.mode].flow;
    let entered = flow.enter(&entry, &Options::default()).map_err(|cause| Failure::Enter {
        mode: model.modes[initial.mode].name.clone(),
        t: initial.t,
        cause: Box::new(cause),
    })?;
    let mut x = entered.0.state().x.clone();
    x.truncate(start.len());
    Ok(x)
}

struct Entered {
    name: String,
    given: Start,
    value: f64,
}

impl Entered {
    /// The guess, if it was not kept.
    fn moved(&self) -> Option<f64> {
        match self.given {
            Start::Guess(x) if (x - self.value).abs() > KEPT * x.abs().max(1.0) => Some(x),
            _ => None,
        }
    }
}

/// An `[initial]` table; what is computed anyway as comments.
fn table(setup: &Setup, switched: &Switched, values: &[Entered]) -> String {
    let initial = &switched.model.initial;
    let mode = &switched.model.modes[initial.mode];
    let mut text =
        format!("# consistent initial values of {} at t = {:?}, in mode {}\n", setup.name, initial.t, mode.name);
    for entered in values {
        if let Some(given) = entered.moved() {
            let _ = writeln!(text, "# moved: {} from {given:?} to {:?}", entered.name, entered.value);
        }
    }
    let _ = writeln!(text, "[initial]\nmode = {:?}", mode.name);
    let follows = |name: &str| follows(&mode.kind, name);
    for what in ["fix", "guess"] {
        let fixed = |entered: &&Entered| matches!(entered.given, Start::Fixed(_)) == (what == "fix");
        let told = values.iter().filter(fixed).filter(|entered| !follows(&entered.name));
        let told: Vec<String> = told.map(|e| format!("{} = {:?}", key(&written(&e.name)), e.value)).collect();
        if !told.is_empty() {
            let _ = writeln!(text, "{what} = {{ {} }}", told.join(", "));
        }
    }
    for entered in values.iter().filter(|entered| follows(&entered.name)) {
        let _ = writeln!(text, "# {} = {:?}", entered.name, entered.value);
    }
    text
}

/// Is it computed anew in every run? Multipliers and accelerations of a mechanism are.
fn follows(kind: &Kind, name: &str) -> bool {
    match kind {
        Kind::Motion { formulas, .. } => {
            let names = &formulas.names;
            let states = [&names.positions, &names.velocities, &names.dynamic, &names.auxiliary, &names.contact];
            !states.iter().any(|block| block.iter().any(|known| known == name))
        }
        Kind::Dae { .. } | Kind::Hybrid(_) => false,
    }
}

/// A derivative as a model file writes it.
fn written(name: &str) -> String {
    let state = name.trim_end_matches('\'');
    match name.len() - state.len() {
        0 => name.to_string(),
        1 => format!("der({state})"),
        order => format!("der({state}, {order})"),
    }
}

fn object(setup: &Setup, switched: &Switched, values: &[Entered]) -> Value {
    let initial = &switched.model.initial;
    let parameters: Map<String, Value> =
        setup.parameters.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let moved = values.iter().filter_map(|entered| {
        let given = entered.moved()?;
        Some(json!({ "variable": entered.name, "given": given, "start": entered.value }))
    });
    let told: Map<String, Value> = values.iter().map(|e| (e.name.clone(), json!(e.value))).collect();
    json!({
        "model": setup.name,
        "parameters": parameters,
        "t0": initial.t,
        "mode": switched.model.modes[initial.mode].name,
        "moved": moved.collect::<Value>(),
        "values": told,
    })
}
