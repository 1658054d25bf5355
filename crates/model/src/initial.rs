//! `[initial]`: values that hold, values that help, and further equations that must hold at the start. `[final]` says the same about the end
//! (`last.rs`).

use crate::bodies::Mechanical;
use crate::diagnostic::Mistake;
use crate::document::{Section, TomlItem, wrong_type};
use crate::entries::{self, FormulaEntry, Name};
use crate::formula::ast::Tree;
use crate::index::Bindings;
use crate::last::{self, KnownVariables, LastDraft};
use crate::lower::Lowering;
use crate::names::{Classes, Context, Quantity, Symbol};
use crate::reader::Reader;
use crate::source::Span;
use daedal::Start;
use daedal::graph::Expr;
use std::collections::HashMap;
use toml::de::{DeTable, DeValue};

const VALUE: Context = Context {
    place: "an initial value",
    allowed: Classes::of(&[Quantity::Parameter]),
    help: "initial values are made of numbers and parameters; relations between variables belong to `conditions`",
};

const FINAL_VALUE: Context = Context {
    place: "a final value",
    help: "final values are made of numbers and parameters; relations between variables belong to `conditions`",
    ..VALUE
};

/// What is given about the start.
#[derive(Default)]
pub(crate) struct InitialDraft {
    /// By class, number of the variable and order of the derivative.
    values: HashMap<(Quantity, usize, u32), (Start, Span)>,
    conditions: Vec<(String, FormulaEntry)>,
    lowered: Vec<(String, Expr)>,
    /// What is said about parts of bodies and joints: name, what, value, does it hold, place.
    pub mechanical: Vec<(String, Mechanical, f64, bool, Span)>,
    /// `[final]`
    pub last: Option<Box<LastDraft>>,
    /// is this about the end of a run?
    pub is_last: bool,
}

impl InitialDraft {
    /// The values of a class of n variables.
    pub fn block(&self, class: Quantity, n: usize) -> Vec<Start> {
        (0..n).map(|k| self.start(class, k, 0)).collect()
    }

    /// The value of a variable or of a derivative.
    pub fn start(&self, class: Quantity, k: usize, order: u32) -> Start {
        self.values.get(&(class, k, order)).map_or(Start::Unknown, |(start, _)| *start)
    }

    /// Highest derivative that is given.
    pub fn highest(&self) -> u32 {
        let last = self.last.as_ref().map_or(0, |last| last.given.highest());
        self.values.keys().map(|(_, _, order)| *order).max().unwrap_or(0).max(last)
    }

    /// What its values are.
    fn word(&self) -> &'static str {
        if self.is_last { "final" } else { "initial" }
    }

    /// Derivatives that are given: number of the state, order, place.
    pub fn derivatives(&self) -> Vec<(usize, u32, Span)> {
        let given = self.values.iter().filter(|((_, _, order), _)| *order > 0);
        let mut given: Vec<_> = given.map(|(&(_, k, order), &(_, span))| (k, order, span)).collect();
        given.sort_unstable_by_key(|&(k, order, _)| (k, order));
        given
    }

    /// The values alone.
    pub fn without_conditions(&self) -> Self {
        InitialDraft { values: self.values.clone(), is_last: self.is_last, ..Default::default() }
    }

    /// Names and residuals of the conditions.
    pub fn conditions(&self) -> impl Iterator<Item = (String, Expr)> {
        self.lowered.iter().cloned()
    }

    /// The conditions as they are written, those of the end included.
    pub fn entries(&self) -> impl Iterator<Item = &FormulaEntry> {
        let last = self.last.iter().flat_map(|last| &last.conditions);
        self.conditions.iter().chain(last).map(|(_, entry)| entry)
    }
}

/// Read the sections about the start and the end.
pub(crate) fn read(reader: &mut Reader, section: Option<Section>, last: Option<Section>) -> InitialDraft {
    let mut given = InitialDraft { last: last.map(|last| Box::new(last::read(reader, last))), ..Default::default() };
    let Some(section) = section else { return given };
    if reader.mode.is_none() {
        section.check_keys(reader, &["fix", "guess", "conditions"]);
    } else {
        section.check_keys(reader, &["mode", "restart", "fix", "guess"]);
    }
    given_values(reader, section, &mut given);
    if let Some(value) = section.get("conditions").filter(|_| reader.mode.is_none()) {
        given.conditions = conditions(reader, value, "condition");
    }
    given
}

/// Values that hold, and values that help.
pub(crate) fn given_values(reader: &mut Reader, section: Section, given: &mut InitialDraft) {
    for (key, holds) in [("fix", true), ("guess", false)] {
        let Some(table) = section.table(reader, key) else { continue };
        values(reader, table, "", holds, given);
    }
}

/// Values by name; `lambda.rod` is a table inside of a table in TOML.
fn values(reader: &mut Reader, table: &DeTable, prefix: &str, holds: bool, given: &mut InitialDraft) {
    for (key, value) in table {
        if reader.is_full() {
            return;
        }
        if let (DeValue::Table(inner), "lambda" | "mu", "") = (value.get_ref(), key.get_ref().as_ref(), prefix) {
            values(reader, inner, key.get_ref(), holds, given);
            continue;
        }
        // so is crank.omega
        if let (DeValue::Table(inner), true) = (value.get_ref(), reader.scope.objects.is_some()) {
            let prefix =
                if prefix.is_empty() { key.get_ref().to_string() } else { format!("{prefix}.{}", key.get_ref()) };
            values(reader, inner, &prefix, holds, given);
            continue;
        }
        let what = format!("the {} value of `{}`", given.word(), key.get_ref());
        let Some(node) = crate::document::formula(reader, value, &what) else { continue };
        entries::keys(reader, key, value, &mut |reader, mut name, bindings, _| {
            if !prefix.is_empty() {
                name.base = format!("{prefix}.{}", name.base);
                name.full = format!("{prefix}.{}", name.full);
            }
            one(reader, &name, &node, bindings, holds, given);
            Ok(())
        });
    }
}

fn one(reader: &mut Reader, name: &Name, node: &Tree, bindings: &Bindings, holds: bool, given: &mut InitialDraft) {
    let reference = crate::formula::ast::NameUse {
        base: name.base.clone(),
        // only their number matters
        indices: name.indices.iter().map(|_| node.clone()).collect(),
        span: name.span,
    };
    let place = match reader.scope.find(&name.full, &reference) {
        Ok(Symbol::Variable(class, k)) => Some((class, k, name.derivative)),
        Ok(Symbol::Mechanical(what)) => {
            let value = reader.constant(node, VALUE, &mut bindings.clone());
            if let Some(value) = reader.ok(value) {
                given.mechanical.push((name.full.clone(), what, value, holds, name.span));
            }
            return;
        }
        Ok(Symbol::Parameter(_)) => {
            let help = "its value stands in [parameters]".to_string();
            reader.mistake(not_a_variable(name, "a parameter", help));
            None
        }
        Ok(Symbol::Item(_)) => {
            let help = "to prescribe it, write an equation into `conditions`".to_string();
            reader.mistake(not_a_variable(name, "a definition", help));
            None
        }
        Ok(Symbol::Table(_)) => {
            reader.mistake(not_a_variable(name, "a table", "its points stand in [tables]".to_string()));
            None
        }
        Err(_) if name.base == "t" || name.base == "pi" => {
            let help = match name.base.as_str() {
                "t" => "the interval of time stands in [model]: time = [begin, end]".to_string(),
                _ => "choose another name for a variable".to_string(),
            };
            reader.mistake(not_a_variable(name, if name.base == "t" { "time" } else { "a constant" }, help));
            None
        }
        Err(_) if reader.outputs.contains(&name.full) => {
            let help = "to prescribe an output, write its formula as an equation into `conditions`".to_string();
            reader.mistake(not_a_variable(name, "an output", help));
            None
        }
        Err(mistake) => {
            if !reader.scope.incomplete {
                reader.mistake(mistake);
            }
            None
        }
    };
    let value = reader.constant(node, if given.is_last { FINAL_VALUE } else { VALUE }, &mut bindings.clone());
    let (Some(place), Some(value)) = (place, reader.ok(value)) else { return };
    if name.derivative > 0 && place.0 != Quantity::State {
        let help = match place.0 {
            Quantity::Position => "fix the velocities instead",
            _ => "it follows from the equations",
        };
        let full = Name { full: format!("der({})", name.full), ..name.clone() };
        reader.mistake(not_a_variable(&full, "a derivative", help.to_string()));
        return;
    }
    if !value.is_finite() {
        let what = format!("the {} value of `{}`", given.word(), name.full);
        reader.mistake(Mistake::NotFinite { what, value, at: node.span.into() });
        return;
    }
    let start = if holds { Start::Fixed(value) } else { Start::Guess(value) };
    if let Some((before, first)) = given.values.insert(place, (start, name.span)) {
        let what = name.full.clone();
        reader.mistake(match (before, start) {
            (Start::Fixed(_), Start::Guess(_)) => {
                Mistake::FixedAndGuessed { name: what, fix: first.into(), guess: name.span.into() }
            }
            _ => Mistake::Duplicate {
                help: None,
                name: what,
                what: if given.is_last { "a final value" } else { "an initial value" }.into(),
                first: (first != name.span).then(|| first.into()),
                at: name.span.into(),
            },
        });
    }
}

fn not_a_variable(name: &Name, kind: &str, help: String) -> Mistake {
    Mistake::NotAVariable { name: name.full.clone(), kind: kind.into(), at: name.span.into(), help }
}

pub(crate) fn conditions(reader: &mut Reader, value: &TomlItem, what: &str) -> Vec<(String, FormulaEntry)> {
    match value.get_ref() {
        DeValue::Array(items) => {
            let entries = entries::list(reader, items, "a condition").0;
            entries.into_iter().enumerate().map(|(k, entry)| (format!("{what} {}", k + 1), entry)).collect()
        }
        DeValue::Table(table) => {
            let entries = entries::table(reader, table, "the condition");
            entries.into_iter().map(|(name, entry)| (name.full, entry)).collect()
        }
        _ => {
            reader.mistake(wrong_type(
                "`conditions`",
                "a list of equations or a table { name = \"equation\", … }",
                value,
            ));
            Vec::new()
        }
    }
}

/// The residuals of the conditions.
pub(crate) fn lower(lowering: &mut Lowering, given: &mut InitialDraft, context: Context) {
    for (name, entry) in &given.conditions {
        if let Some(value) = lowering.residual(&entry.equation, context, &entry.bindings) {
            given.lowered.push((name.clone(), value.expr));
        }
    }
    for (name, what, value, holds, _) in &given.mechanical {
        // coordinates that are guessed have moved the drawing
        if let (Some(now), true) = (lowering.mechanical(*what), *holds) {
            given.lowered.push((name.clone(), now.expr - *value));
        }
    }
    if let Some(last) = &mut given.last {
        last.known = KnownVariables { variables: lowering.variables.clone(), rates: lowering.rates.clone() };
        last.context = context;
    }
}
