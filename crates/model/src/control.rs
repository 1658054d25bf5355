//! `[control]`: which parameters or states are inputs, what is measured, what control costs, along which surfaces a system shall slide.

use crate::dae::listed;
use crate::diagnostic::Mistake;
use crate::document::{self, Section, wrong_type};
use crate::entries::{self, FormulaEntry, Name};
use crate::formula::ast::Tree;
use crate::index::Bindings;
use crate::lower::Lowering;
use crate::model::NUMBER;
use crate::names::{Classes, Context, Quantity, Symbol};
use crate::reader::Reader;
use crate::source::Span;
use crate::suggestion::help;
use daedal::graph::Expr;
use std::rc::Rc;
use toml::de::DeValue;

const KEYS: [&str; 8] =
    ["inputs", "outputs", "cost", "final_cost", "surfaces", "sequence", "switches", "free_switches"];

const ALLOWED: Classes = Classes::of(&[Quantity::Parameter, Quantity::State, Quantity::StateDerivative]);
const OUTPUT: Context = Context {
    place: "an output of [control]",
    allowed: ALLOWED,
    help: "outputs contain states and parameters, not time",
};
const COST: Context = Context {
    place: "a cost",
    allowed: ALLOWED,
    help: "costs are quadratic in states and inputs, and do not contain time",
};
const SURFACE: Context =
    Context { place: "a surface", allowed: ALLOWED, help: "surfaces contain states and parameters, not time" };

/// Where an input stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputPlace {
    /// A state, by its number.
    State(usize),
    /// A parameter, by its number.
    Parameter(usize),
}

/// A formula of `[control]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlFormula {
    /// Its name; a number in lists.
    pub name: String,
    /// As it is written.
    pub text: String,
    /// In the graph of the equations.
    pub formula: Expr,
    /// Where it stands.
    pub span: Span,
}

/// `[control]` of a general system, or of one of its modes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelControl {
    /// Names and places of the inputs u.
    pub inputs: Vec<(String, InputPlace)>,
    /// Outputs y.
    pub outputs: Vec<ControlFormula>,
    /// Integrand of the cost.
    pub cost: Option<ControlFormula>,
    /// Cost of the end.
    pub final_cost: Option<ControlFormula>,
    /// s = 0 along which it shall slide.
    pub surfaces: Vec<ControlFormula>,
}

impl ModelControl {
    /// All formulas.
    pub(crate) fn formulas(&self) -> impl Iterator<Item = &ControlFormula> {
        self.outputs.iter().chain(&self.surfaces).chain(&self.cost).chain(&self.final_cost)
    }
}

/// In which order modes follow each other in an optimum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControlSequence {
    /// Numbers of the modes.
    pub modes: Vec<usize>,
    /// Times of the switches.
    pub switches: Vec<f64>,
    /// Are these times a first guess?
    pub free: bool,
}

/// The section as it is written.
#[derive(Default)]
pub(crate) struct ControlDraft {
    inputs: Vec<(Name, InputPlace)>,
    outputs: Vec<(String, FormulaEntry)>,
    cost: Option<(Rc<Tree>, String)>,
    final_cost: Option<(Rc<Tree>, String)>,
    surfaces: Vec<(String, FormulaEntry)>,
}

/// Read the section, when states and parameters have been declared.
pub(crate) fn read(reader: &mut Reader, section: Option<Section>) -> Option<ControlDraft> {
    let section = section?;
    section.check_keys(reader, &KEYS);
    let Some(value) = section.get("inputs") else {
        reader.mistake(Mistake::Missing {
            what: "the key `inputs` of [control]".into(),
            at: section.span.into(),
            label: "in this section".into(),
            help: "write inputs = [\"u\", …] with names of parameters, or of states that the equations leave open"
                .into(),
        });
        return None;
    };
    let mut draft = ControlDraft::default();
    for name in entries::names(reader, value, "inputs").0 {
        let place = match reader.scope.get(&name.full).map(|declared| declared.symbol) {
            Some(Symbol::Parameter(k)) => InputPlace::Parameter(k),
            Some(Symbol::Variable(Quantity::State, k)) => InputPlace::State(k),
            found => {
                unknown_input(reader, &name, found.is_some());
                continue;
            }
        };
        if let Some((first, _)) = draft.inputs.iter().find(|(other, _)| other.full == name.full) {
            reader.mistake(Mistake::Duplicate {
                name: name.full.clone(),
                what: "an input".into(),
                first: Some(first.span.into()),
                at: name.span.into(),
                help: None,
            });
            continue;
        }
        draft.inputs.push((name, place));
    }
    if value.get_ref().as_array().is_some_and(|inputs| inputs.is_empty()) {
        reader.mistake(Mistake::Missing {
            what: "an input".into(),
            at: Span::from(value.span()).into(),
            label: "nothing is controlled".into(),
            help: "name a parameter or a state".into(),
        });
    }
    let list = |reader: &mut Reader, key: &str, what: &str| {
        section.get(key).map_or_else(Vec::new, |value| listed(reader, value, key, what))
    };
    draft.outputs = list(reader, "outputs", "output");
    draft.surfaces = list(reader, "surfaces", "surface");
    let mut single = |key: &str| {
        let value = section.get(key)?;
        Some((document::formula(reader, value, &format!("`{key}`"))?, document::written(reader, value)))
    };
    (draft.cost, draft.final_cost) = (single("cost"), single("final_cost"));
    if draft.cost.is_none()
        && let (Some(value), None) = (section.get("final_cost"), section.get("cost"))
    {
        reader.mistake(Mistake::Missing {
            what: "the key `cost` of [control]".into(),
            at: Span::from(value.span()).into(),
            label: "the cost of the end alone".into(),
            help: "write cost = \"…\", the integrand, as well".into(),
        });
    }
    Some(draft)
}

fn unknown_input(reader: &mut Reader, name: &Name, known: bool) {
    if known {
        return reader.mistake(Mistake::NotAllowed {
            what: format!("`{}`, which is neither a parameter nor a state,", name.full),
            place: "the inputs of [control]".into(),
            at: name.span.into(),
            label: "neither a parameter nor a state".into(),
            help: "only parameters and states can be inputs".into(),
        });
    }
    let mut names: Vec<String> = reader.parameters.iter().map(|parameter| parameter.name.clone()).collect();
    names.sort();
    let list = "inputs are parameters or states; the parameters are";
    let help = help(&name.full, names.iter().map(String::as_str), list);
    reader.mistake(Mistake::UnknownName { name: name.full.clone(), at: name.span.into(), help: Some(help) });
}

impl ControlDraft {
    /// All formulas.
    pub fn nodes(&self) -> Vec<Rc<Tree>> {
        let listed = self.outputs.iter().chain(&self.surfaces).map(|(_, entry)| Rc::clone(&entry.equation.left));
        listed.chain(self.cost.iter().chain(&self.final_cost).map(|(node, _)| Rc::clone(node))).collect()
    }

    /// Formulas in the graph of the equations.
    pub fn lower(&self, to: &mut Lowering) -> ModelControl {
        let mut listed = |all: &[(String, FormulaEntry)], context: Context| -> Vec<ControlFormula> {
            let mut formulas = Vec::new();
            for (name, entry) in all {
                let node = to.reader.told(entry.node());
                let value = node.and_then(|node| to.formula(&node, context, &entry.bindings));
                let text = entry.written().to_string();
                formulas.extend(value.map(|value| ControlFormula {
                    name: name.clone(),
                    text,
                    formula: value.expr,
                    span: entry.span,
                }));
            }
            formulas
        };
        let (outputs, surfaces) = (listed(&self.outputs, OUTPUT), listed(&self.surfaces, SURFACE));
        let mut single = |written: &Option<(Rc<Tree>, String)>, name: &str| {
            let (node, text) = written.as_ref()?;
            let value = to.formula(node, COST, &Bindings::default())?;
            Some(ControlFormula { name: name.into(), text: text.clone(), formula: value.expr, span: node.span })
        };
        let (cost, final_cost) = (single(&self.cost, "cost"), single(&self.final_cost, "final_cost"));
        let inputs = self.inputs.iter().map(|(name, place)| (name.full.clone(), *place)).collect();
        ModelControl { inputs, outputs, cost, final_cost, surfaces }
    }

    /// Inputs whose values decided what the equations look like are none.
    pub fn check_structural(&self, reader: &mut Reader) {
        let structural = reader.structural();
        for (name, _) in self.inputs.iter().filter(|(name, _)| structural.contains(&name.full)) {
            reader.mistake(Mistake::NotAllowed {
                what: format!("the parameter `{}`, which is an input,", name.full),
                place: "an exponent, an index or a condition between constants".into(),
                at: name.span.into(),
                label: "its value decides what the formulas look like".into(),
                help: "inputs enter formulas as numbers that vary".into(),
            });
        }
    }
}

/// `[control]` beside equations of motion, or keys of modes without modes.
pub(crate) fn refuse(reader: &mut Reader, section: Option<Section>, has_modes: bool, is_general: bool) {
    let Some(section) = section else { return };
    if !is_general {
        reader.mistake(Mistake::Missing {
            what: "the section [dae]".into(),
            at: section.span.into(),
            label: "control of what?".into(),
            help: "[control] is for general systems: write the equations of motion as equations of [dae]".into(),
        });
    }
    for key in ["sequence", "switches", "free_switches"].into_iter().filter(|_| !has_modes) {
        if let Some((key, _)) = section.table.get_key_value(key) {
            reader.mistake(Mistake::Missing {
                what: "the section [modes]".into(),
                at: Span::from(key.span()).into(),
                label: "between which modes?".into(),
                help: "without modes an optimum has no switches".into(),
            });
        }
    }
}

/// `sequence`, `switches` and `free_switches`; `names` are those of the modes.
pub(crate) fn sequence(reader: &mut Reader, section: Option<Section>, names: &[&str]) -> Option<ControlSequence> {
    let section = section?;
    let value = section.get("sequence");
    let Some(value) = value else {
        for key in ["switches", "free_switches"] {
            if let Some((key, _)) = section.table.get_key_value(key) {
                reader.mistake(Mistake::Missing {
                    what: "the key `sequence` of [control]".into(),
                    at: Span::from(key.span()).into(),
                    label: "between which modes?".into(),
                    help: "write sequence = [\"first mode\", \"second mode\", …]".into(),
                });
            }
        }
        return None;
    };
    let DeValue::Array(items) = value.get_ref() else {
        reader.mistake(wrong_type("`sequence`", "a list of modes", value));
        return None;
    };
    let mut found =
        ControlSequence { free: section.truth(reader, "free_switches").unwrap_or(false), ..Default::default() };
    for item in items {
        let Some(text) = item.get_ref().as_str() else {
            reader.mistake(wrong_type("an entry of `sequence`", "the name of a mode", item));
            return None;
        };
        match names.iter().position(|name| *name == text) {
            Some(k) => found.modes.push(k),
            None => reader.mistake(Mistake::UnknownMode {
                name: text.into(),
                at: Span::from(item.span()).into(),
                help: help(text, names.iter().copied(), "the modes are"),
            }),
        }
    }
    let times = match section.get("switches").map(|value| (value, value.get_ref())) {
        Some((_, DeValue::Array(times))) => times.iter().collect(),
        Some((value, _)) => {
            reader.mistake(wrong_type("`switches`", "a list of times", value));
            return None;
        }
        None => Vec::new(),
    };
    for item in &times {
        let node = document::formula(reader, item, "the time of a switch")?;
        let context = Context { place: "the time of a switch", ..NUMBER };
        let result = reader.constant(&node, context, &mut Bindings::default());
        found.switches.push(reader.ok(result)?);
    }
    let at = section.get("switches").unwrap_or(value);
    if found.switches.len() + 1 != items.len() {
        reader.mistake(Mistake::Count {
            message: format!("{} modes in `sequence` have {} switches", items.len(), items.len().saturating_sub(1)),
            at: Span::from(at.span()).into(),
            found: found.switches.len(),
            help: Some("write switches = [time, …], one time between two modes".into()),
        });
    }
    Some(found)
}
