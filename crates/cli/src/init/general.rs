//! Consistent initial values of general systems.

use super::{key, said};
use crate::arguments::{Format, Init};
use crate::failure::{Failure, print};
use crate::setup::{General, Setup};
use daedal::dae::{Characteristics, Depth, Initial, System, characterise, derivatives};
use daedal::motion::Start;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Guesses that are moved by less than this, relative to max(1, |x|), are kept.
const KEPT: f64 = 1e-12;

/// Find them and print them.
pub fn init(setup: &Setup, general: &General, arguments: &Init) -> Result<(), Failure> {
    let system = &general.system;
    let mut initial = general.initial.clone();
    for (name, start) in said(arguments)? {
        let Some((state, order)) = find(system, &name) else {
            let known = (0..system.formulas.states.len())
                .flat_map(|j| (0..=most(system, j)).map(move |order| written(&system.formulas.states[j], order)));
            return Err(Failure::UnknownName { kind: "state", name, known: known.collect() });
        };
        change(&mut initial, system.formulas.states.len(), state, order, start);
    }
    let found = characterise(system, &initial, Depth::default())?;
    let start = Consistent::new(system, &initial, &found);
    match arguments.format {
        Format::Text => print(&start.table(setup, system, &found)),
        Format::Json => print(&format!("{:#}\n", start.object(setup, &found))),
    }
}

/// The highest derivative of a state about which something can be said.
fn most(system: &System, state: usize) -> u32 {
    system.formulas.orders[state].max(1)
}

/// How a derivative is written in a model file.
fn written(state: &str, order: u32) -> String {
    match order {
        0 => state.to_string(),
        1 => format!("der({state})"),
        k => format!("der({state}, {k})"),
    }
}

/// The state and the order of its derivative that a name means.
fn find(system: &System, name: &str) -> Option<(usize, u32)> {
    let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let name = plain(name);
    let states = system.formulas.states.iter().enumerate();
    states
        .flat_map(|(j, state)| (0..=most(system, j)).map(move |order| (j, order, state)))
        .find(|&(_, order, state)| {
            let primes = || format!("{state}{}", "'".repeat(order as usize));
            plain(&written(state, order)) == name || primes() == name
        })
        .map(|(j, order, _)| (j, order))
}

fn change(initial: &mut Initial, states: usize, state: usize, order: u32, start: Start) {
    if order == 0 {
        initial.states[state] = start;
        return;
    }
    let block = order as usize - 1;
    if initial.derivatives.len() <= block {
        initial.derivatives.resize(block + 1, vec![Start::Unknown; states]);
    }
    initial.derivatives[block][state] = start;
}

/// What is given about a derivative of a state.
fn given(initial: &Initial, state: usize, order: u32) -> Start {
    let block = if order == 0 { Some(&initial.states) } else { initial.derivatives.get(order as usize - 1) };
    block.and_then(|block| block.get(state)).copied().unwrap_or(Start::Unknown)
}

/// A consistent value.
struct Entry {
    name: String,
    value: f64,
    given: Start,
    /// Is it part of the state, or does it follow from it?
    follows: bool,
}

struct Consistent(Vec<Entry>);

impl Consistent {
    fn new(system: &System, initial: &Initial, found: &Characteristics) -> Self {
        let formulas = &system.formulas;
        let rates = derivatives(system, found);
        let entry = |state: usize, order: u32, value: f64, follows: bool| Entry {
            name: written(&formulas.states[state], order),
            value,
            given: given(initial, state, order),
            follows,
        };
        let origin = &system.first.origin;
        let unknowns = origin.iter().zip(found.x()).map(|(&(state, order), &x)| entry(state, order, x, false));
        // derivatives that the equations contain, and those that were asked for
        let rates = origin.iter().zip(&rates).filter(|&(&(state, order), _)| {
            order + 1 == formulas.orders[state] || (order == 0 && given(initial, state, 1) != Start::Unknown)
        });
        let rates = rates.filter(|&(&(state, order), _)| !origin.contains(&(state, order + 1)));
        let rates = rates.map(|(&(state, order), &rate)| entry(state, order + 1, rate, true));
        Consistent(unknowns.chain(rates).collect())
    }

    /// Guesses that were not kept.
    fn moved(&self) -> impl Iterator<Item = (&Entry, f64)> {
        self.0.iter().filter_map(|entry| match entry.given {
            Start::Guess(x) if (x - entry.value).abs() > KEPT * x.abs().max(1.0) => Some((entry, x)),
            _ => None,
        })
    }

    /// An `[initial]` table; derivatives that follow from the states as comments.
    fn table(&self, setup: &Setup, system: &System, found: &Characteristics) -> String {
        let mut text = format!("# consistent initial values of {} at t = {:?}\n", setup.name, found.t);
        let _ = writeln!(text, "# iterations: {}", found.fit.iterations);
        let _ = writeln!(text, "# {}", freedom(system, found));
        for (entry, given) in self.moved() {
            let _ = writeln!(text, "# moved: {} from {given:?} to {:?}", entry.name, entry.value);
        }
        if self.moved().next().is_none() {
            text.push_str("# moved: nothing\n");
        }
        text.push_str("[initial]\n");
        let fixed = |entry: &Entry| matches!(entry.given, Start::Fixed(_));
        let told = |entry: &&Entry| !entry.follows || entry.given != Start::Unknown;
        for what in ["fix", "guess"] {
            let entries = self.0.iter().filter(told).filter(|entry| fixed(entry) == (what == "fix"));
            let values: Vec<String> = entries.map(|e| format!("{} = {:?}", key(&e.name), e.value)).collect();
            if !values.is_empty() {
                let _ = writeln!(text, "{what} = {{ {} }}", values.join(", "));
            }
        }
        for entry in self.0.iter().filter(|entry| !told(entry)) {
            let _ = writeln!(text, "# {} = {:?}", entry.name, entry.value);
        }
        text
    }

    fn object(&self, setup: &Setup, found: &Characteristics) -> Value {
        let parameters: Map<String, Value> =
            setup.parameters.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let values = |follows: bool| -> Map<String, Value> {
            let entries = self.0.iter().filter(|entry| entry.follows == follows);
            entries.map(|entry| (entry.name.clone(), json!(entry.value))).collect()
        };
        let moved = self.moved().map(|(e, given)| json!({ "variable": e.name, "given": given, "start": e.value }));
        json!({
            "model": setup.name,
            "parameters": parameters,
            "t0": found.t,
            "iterations": found.fit.iterations,
            "free": found.values.d,
            "undetermined": found.values.u,
            "moved": moved.collect::<Value>(),
            "values": values(false),
            "derivatives": values(true),
        })
    }
}

/// How much of the start can be chosen.
fn freedom(system: &System, found: &Characteristics) -> String {
    let values = found.values;
    let mut text = format!("{} of {} unknowns can be chosen", values.d + values.u, system.dim());
    if values.u > 0 {
        let _ = write!(text, ", {} of them not only at the start", values.u);
    }
    text
}
