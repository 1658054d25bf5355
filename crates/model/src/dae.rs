//! `[dae]`: a general system of differential-algebraic equations, F(t, x, x', x'', …) = 0.

use crate::control::{self, ModelControl};
use crate::definitions;
use crate::diagnostic::Mistake;
use crate::document::{Section, TomlItem, wrong_type};
use crate::entries::{self, FormulaEntry, Name, Written};
use crate::formula::ast::{Term, Tree, WrittenEquation};
use crate::formula::evaluate::{Domain, MOST_DERIVATIVES};
use crate::hybrid::{self, Job};
use crate::index::Bindings;
use crate::initial::{self, InitialDraft};
use crate::last::{self, ModelBoundary};
use crate::lower::{Lowering, Rate};
use crate::model::ModelKind;
use crate::motion::{Beside, declare_variables};
use crate::names::{Classes, Context, Quantity};
use crate::output;
use crate::parameters;
use crate::reader::Reader;
use crate::source::Span;
use crate::suggestion::nearest;
use daedal::Initial;
use daedal::dae::{Formulas, highest_orders};
use daedal::graph::{Expr, Graph};
use std::collections::HashMap;
use toml::de::{DeTable, DeValue};

const EQUATION: Context =
    Context { place: "an equation", allowed: Classes::EVERYTHING, help: "equations may contain everything" };

const HIDDEN: Context = Context {
    place: "a hidden constraint",
    allowed: Classes::EVERYTHING,
    help: "hidden constraints may contain states and time",
};

const INVARIANT: Context =
    Context { place: "an invariant", allowed: Classes::EVERYTHING, help: "invariants may contain states and time" };

/// A general system, and what the sections beside it say.
pub(crate) struct GeneralSystem {
    formulas: Formulas,
    initial: Initial,
    texts: Vec<Written>,
    control: Option<ModelControl>,
    boundary: Option<ModelBoundary>,
}

impl GeneralSystem {
    /// The system as a model, with conditions at its ends.
    pub(crate) fn into_kind(self) -> (ModelKind, Option<ModelBoundary>) {
        let GeneralSystem { formulas, initial, texts, control, boundary } = self;
        let control = control.map(Box::new);
        (ModelKind::Dae { formulas: Box::new(formulas), initial: Box::new(initial), texts, control }, boundary)
    }
}

/// Read the section into formulas; mistakes go to the reader.
#[allow(clippy::too_many_lines)] // the keys of a section in their order
pub(crate) fn read(reader: &mut Reader, section: Section, beside: Beside, jobs: &mut [Job]) -> GeneralSystem {
    section.check_keys(reader, &["states", "equations", "invariants", "free", "hidden"]);
    let states = match section.get("states") {
        Some(value) => entries::names(reader, value, "states").0,
        None => {
            reader.mistake(missing(section, "states", "write states = [\"x\", …] with the names of all unknowns"));
            Vec::new()
        }
    };
    if let Some(value) = section.get("states").filter(|value| value.get_ref().as_array().is_some_and(|a| a.is_empty()))
    {
        reader.mistake(Mistake::Missing {
            what: "a state".into(),
            at: Span::from(value.span()).into(),
            label: "nothing is unknown".into(),
            help: "a system has at least one state".into(),
        });
    }
    declare_variables(reader, states.iter(), Quantity::State);
    let free = free(reader, section, &states);
    let equations = match section.get("equations") {
        Some(value) => listed(reader, value, "equations", "equation"),
        None => {
            let help = "write equations = [\"der(x) = …\", \"0 = …\"] or a table with their names";
            reader.mistake(missing(section, "equations", help));
            Vec::new()
        }
    };
    let hidden =
        section.get("hidden").map_or_else(Vec::new, |value| listed(reader, value, "hidden", "hidden constraint"));
    let invariants = match section.table(reader, "invariants") {
        Some(table) => entries::table(reader, table, "the invariant"),
        None => Vec::new(),
    };
    let definitions = definitions::declare(reader, beside.definitions);
    let outputs = output::read(reader, beside.output);
    let control = control::read(reader, beside.control);
    parameters::evaluate(reader);
    reader.scope.incomplete = reader.count() > 0;
    let mut given = initial::read(reader, beside.initial, beside.last);

    // the highest derivative anywhere
    let mut levels = given.highest();
    let all = equations.iter().map(|(_, e)| e).chain(outputs.iter().map(|(_, e)| e));
    let all = all.chain(invariants.iter().map(|(_, e)| e)).chain(hidden.iter().map(|(_, e)| e));
    for entry in all.chain(given.entries()) {
        let WrittenEquation { left, right } = entry.equation.as_ref();
        levels = levels.max(highest(left, reader)).max(right.as_ref().map_or(0, |right| highest(right, reader)));
    }
    for k in &definitions {
        let node = reader.scope.items[*k].node.clone();
        levels = levels.max(highest(&node, reader));
    }

    for node in control.iter().flat_map(control::ControlDraft::nodes) {
        levels = levels.max(highest(&node, reader));
    }
    let beside_outputs = beside.events.iter().map(|event| &event.when).chain(beside.picture.nodes());
    for node in jobs.iter().flat_map(Job::nodes).chain(beside_outputs) {
        levels = levels.max(highest(node, reader));
    }

    // inputs of the graph
    let n = states.len();
    let names: Vec<String> = states.iter().map(|name| name.full.clone()).collect();
    let parameters: Vec<(String, f64)> = (0..reader.parameters.len())
        .map(|k| (reader.parameters[k].name.clone(), reader.parameter(k).unwrap_or(f64::NAN)))
        .collect();
    let mut graph = Graph::new();
    let t = graph.input("t");
    let block = |graph: &mut Graph, order: u32| -> Vec<Expr> {
        names.iter().map(|name| graph.input(format!("{name}{}", "'".repeat(order as usize)))).collect()
    };
    let x = block(&mut graph, 0);
    let derivatives: Vec<Expr> = (1..=levels).flat_map(|order| block(&mut graph, order)).collect();
    let inputs: Vec<Expr> = parameters.iter().map(|(name, _)| graph.input(name)).collect();
    let variables = HashMap::from([
        (Quantity::Time, vec![t]),
        (Quantity::State, x),
        (Quantity::StateDerivative, derivatives),
        (Quantity::Parameter, inputs),
    ]);

    let mut tables = Vec::new();
    let (equation_formulas, output_formulas, invariant_formulas, hidden_formulas, controlled) = graph.with(|| {
        let mut to = Lowering::new(reader, variables);
        for k in 0..n {
            let rates = (0..levels as usize).map(|level| Rate::Variable(Quantity::StateDerivative, level * n + k));
            to.rates.insert((Quantity::State, k), rates.collect());
        }
        definitions::lower(&mut to, &definitions);
        let mut formulas = Vec::new();
        for (name, entry) in &equations {
            if let Some(value) = to.residual(&entry.equation, EQUATION, &entry.bindings) {
                formulas.push((name.clone(), value.expr));
                tables.extend(value.table.map(|k| (to.reader.tables[k].name.clone(), to.reader.tables[k].smoothness)));
            }
        }
        let outputs = output::lower(&mut to, &outputs, beside.events, beside.picture);
        initial::lower(&mut to, &mut given, Context { place: "an initial condition", ..EQUATION });
        hybrid::lower(&mut to, jobs);
        let mut kept = Vec::new();
        for (name, entry) in &invariants {
            let node = to.reader.told(entry.node());
            if let Some(value) = node.and_then(|node| to.formula(&node, INVARIANT, &entry.bindings)) {
                kept.push((name.full.clone(), value.expr));
            }
        }
        let mut follow = Vec::new();
        for (name, entry) in &hidden {
            if let Some(value) = to.residual(&entry.equation, HIDDEN, &entry.bindings) {
                follow.push((name.clone(), value.expr));
            }
        }
        let controlled = control.as_ref().map(|draft| draft.lower(&mut to));
        (formulas, outputs, kept, follow, controlled)
    });
    let residuals: Vec<Expr> = equation_formulas.iter().map(|(_, residual)| *residual).collect();
    let orders = highest_orders(&graph, &residuals, n, levels);
    // derivatives that are unknowns of their own may enter, others not
    let mut only_unknowns = |formula: Expr, at: Span, place: String, what: &str| {
        let entering = highest_orders(&graph, &[formula], n, levels);
        if let Some(j) = (0..n).find(|&j| entering[j] >= orders[j].max(1)) {
            reader.mistake(Mistake::NotAllowed {
                what: format!("the derivative of order {} of `{}`", entering[j], names[j]),
                place,
                at: at.into(),
                label: "in this formula".into(),
                help: format!(
                    "{what} may contain states, and derivatives that are lower than the highest one in the equations"
                ),
            });
        }
    };
    for ((_, formula), (name, entry)) in invariant_formulas.iter().zip(&invariants) {
        only_unknowns(*formula, entry.span, format!("the invariant `{}`", name.full), "an invariant");
    }
    for ((_, formula), (name, entry)) in hidden_formulas.iter().zip(&hidden) {
        only_unknowns(*formula, entry.span, format!("the hidden constraint `{name}`"), "a hidden constraint");
    }
    for one in controlled.iter().flat_map(ModelControl::formulas) {
        only_unknowns(one.formula, one.span, "[control]".into(), "[control]");
    }
    if let Some(draft) = &control {
        draft.check_structural(reader);
    }
    if reader.mode.is_some() {
        for (k, order, span) in given.derivatives().into_iter().filter(|&(k, order, _)| order >= orders[k].max(1)) {
            reader.mistake(Mistake::NotAVariable {
                name: if order == 1 { format!("der({})", names[k]) } else { format!("der({}, {order})", names[k]) },
                kind: "the highest derivative".into(),
                at: span.into(),
                help: "in a system with modes it follows from the equations; give the states".into(),
            });
        }
    }
    let values = |given: &InitialDraft, t: f64| Initial {
        t,
        states: given.block(Quantity::State, n),
        derivatives: (1..=levels)
            .map(|order| (0..n).map(|k| given.start(Quantity::State, k, order)).collect())
            .collect(),
        ..Initial::default()
    };
    let initial = values(&given, beside.t0);
    let boundary = given.last.take().map(|last| {
        let end = values(&last.given, beside.tend.unwrap_or(f64::NAN));
        let named = |order: usize| names.iter().map(move |name| format!("{name}{}", "'".repeat(order)));
        let all = [
            (Quantity::State, named(0).collect::<Vec<_>>()),
            (Quantity::StateDerivative, (1..=levels as usize).flat_map(named).collect()),
        ];
        // conditions at the start are among the initial values
        last::lower(reader, *last, &graph, &all, &parameters, end, &[])
    });
    let initial = given.conditions().fold(initial, |initial, (name, residual)| initial.formula(name, residual));
    let texts = equations.iter().map(|(_, entry)| entry.written()).collect();
    let formulas = Formulas {
        graph,
        states: names,
        orders,
        levels,
        equations: equation_formulas,
        parameters,
        outputs: output_formulas,
        invariants: invariant_formulas,
        free,
        tables,
        hidden: hidden_formulas,
    };
    GeneralSystem { formulas, initial, texts, control: controlled, boundary }
}

fn missing(section: Section, key: &str, help: &str) -> Mistake {
    Mistake::Missing {
        what: format!("the key `{key}` of [dae]"),
        at: section.span.into(),
        label: "in this section".into(),
        help: help.into(),
    }
}

/// States that may stay undetermined.
fn free(reader: &mut Reader, section: Section, states: &[Name]) -> Vec<String> {
    let Some(value) = section.get("free") else { return Vec::new() };
    let names = entries::names(reader, value, "free").0;
    let known = || states.iter().map(|state| state.full.as_str());
    for name in names.iter().filter(|name| !known().any(|state| state == name.full)) {
        let help = match nearest(&name.full, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "only states can be left free: unknowns that the equations need not determine".into(),
        };
        reader.mistake(Mistake::UnknownName { name: name.full.clone(), at: name.span.into(), help: Some(help) });
    }
    names.into_iter().map(|name| name.full).collect()
}

/// Equations in a list, in a table with their names, or in a list with such tables in it.
pub(crate) fn listed(reader: &mut Reader, value: &TomlItem, key: &str, what: &str) -> Vec<(String, FormulaEntry)> {
    let named = |reader: &mut Reader, table: &DeTable| {
        let entries = entries::table(reader, table, &format!("the {what}"));
        entries.into_iter().map(|(name, entry)| (name.full, entry)).collect::<Vec<_>>()
    };
    match value.get_ref() {
        DeValue::Array(items) => {
            let mut equations: Vec<(String, FormulaEntry)> = Vec::new();
            let mut unnamed = 0;
            let article = if what == "equation" { "an equation".to_string() } else { format!("a {what}") };
            for item in items {
                if let DeValue::Table(table) = item.get_ref() {
                    equations.extend(named(reader, table));
                    continue;
                }
                for entry in entries::list(reader, std::slice::from_ref(item), &article).0 {
                    unnamed += 1;
                    equations.push((unnamed.to_string(), entry));
                }
            }
            equations
        }
        DeValue::Table(table) => named(reader, table),
        _ => {
            reader.mistake(wrong_type(
                &format!("`{key}`"),
                &format!("a list of {what}s or a table {{ name = \"{what}\", … }}"),
                value,
            ));
            Vec::new()
        }
    }
}

/// The highest derivative in a formula.
fn highest(node: &Tree, reader: &mut Reader) -> u32 {
    let mut most = 0;
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        match &node.kind {
            Term::Derivative(_, None) => most = most.max(1),
            Term::Derivative(_, Some(order)) => {
                // an order that is made of indices is only known later
                let k = reader.integer(order, "the order of a derivative", &mut Bindings::default());
                let k = k.ok().and_then(|k| u32::try_from(k).ok()).unwrap_or(MOST_DERIVATIVES);
                most = most.max(k.min(MOST_DERIVATIVES));
            }
            _ => {}
        }
        open.extend(node.children());
    }
    most
}
