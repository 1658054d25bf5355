//! `[motion]`: equations of motion.

use crate::definitions;
use crate::diagnostic::Mistake;
use crate::document::{Item, Section, wrong_type};
use crate::entries::{self, Entry, Name, Written};
use crate::initial::{self, Given};
use crate::lower::{Lowering, Rate, Value};
use crate::names::{self, Class, Classes, Context, Symbol};
use crate::output;
use crate::parameters;
use crate::reader::Reader;
use crate::shape::Shape;
use crate::source::Span;
use crate::suggestion::{enumerate, nearest};
use daedal::graph::{Graph, Tape};
use daedal::motion::{Formulas, Initial, Motion, Names, Sizes, Variables};
use std::collections::HashMap;
use std::rc::Rc;
use toml::de::DeValue;

const KEYS: [&str; 11] = [
    "positions",
    "velocities",
    "kinematics",
    "mass",
    "forces",
    "holonomic",
    "nonholonomic",
    "dynamic",
    "auxiliary",
    "contact",
    "invariants",
];

const POSITION_LEVEL: Classes = Classes::of(&[Class::Parameter, Class::Time, Class::Position, Class::Contact]);
const VELOCITY_LEVEL: Classes =
    Classes::of(&[Class::Parameter, Class::Time, Class::Position, Class::Contact, Class::Velocity]);
const FORCE_LEVEL: Classes = Classes::of(&[
    Class::Parameter,
    Class::Time,
    Class::Position,
    Class::Contact,
    Class::Velocity,
    Class::Dynamic,
    Class::Auxiliary,
    Class::Lambda,
    Class::Mu,
]);

const POSITION_HELP: &str = "it may contain time, positions, contact variables and parameters";
const VELOCITY_HELP: &str = "it may contain time, positions, velocities, contact variables and parameters";
const FORCE_HELP: &str = "it may contain everything except accelerations";

const fn context(place: &'static str, allowed: Classes, help: &'static str) -> Context {
    Context { place, allowed, help }
}

const KINEMATICS: Context = context("a kinematic equation", VELOCITY_LEVEL, VELOCITY_HELP);
const MASS: Context = context("the mass matrix", POSITION_LEVEL, POSITION_HELP);
const FORCE: Context = context("a force", FORCE_LEVEL, FORCE_HELP);
const HOLONOMIC: Context = context(
    "a holonomic constraint",
    POSITION_LEVEL,
    "it may contain time, positions, contact variables and parameters; constraints on velocities belong to `nonholonomic`",
);
const NONHOLONOMIC: Context = context("a nonholonomic constraint", VELOCITY_LEVEL, VELOCITY_HELP);
const DYNAMIC: Context = context("the rate of a dynamic variable", FORCE_LEVEL, FORCE_HELP);
const AUXILIARY: Context = context("the equation of an auxiliary variable", FORCE_LEVEL, FORCE_HELP);
const CONTACT: Context = context("the equation of a contact variable", POSITION_LEVEL, POSITION_HELP);
const INVARIANT: Context = context("an invariant", VELOCITY_LEVEL, VELOCITY_HELP);
const CONDITION: Context = context("an initial condition", FORCE_LEVEL, FORCE_HELP);

/// Formulas of the equations of motion as their author wrote them, in the order of [`Formulas`].
#[derive(Clone, Debug, Default)]
pub struct MotionTexts {
    /// Holonomic constraints.
    pub holonomic: Vec<Written>,
    /// Nonholonomic constraints.
    pub nonholonomic: Vec<Written>,
    /// Rates of the dynamic variables.
    pub dynamic: Vec<Written>,
    /// Equations of the auxiliary variables.
    pub auxiliary: Vec<Written>,
    /// Equations of the contact variables.
    pub contact: Vec<Written>,
    /// Invariants.
    pub invariants: Vec<Written>,
}

/// The mass matrix as it is written.
enum Mass {
    Diagonal(Vec<Entry>),
    Rows(Vec<Vec<Entry>>),
}

/// What was declared in the section.
struct Parts {
    positions: Vec<Name>,
    velocities: Vec<Name>,
    kinematics: Option<Vec<Option<Entry>>>,
    mass: Option<Mass>,
    forces: Vec<Option<Entry>>,
    holonomic: Vec<(String, Entry)>,
    nonholonomic: Vec<(String, Entry)>,
    dynamic: Vec<(Name, Entry)>,
    auxiliary: Vec<(Name, Entry)>,
    contact: Vec<(Name, Entry)>,
    invariants: Vec<(Name, Entry)>,
}

/// The sections beside [motion] that are read together with it.
#[derive(Clone, Copy)]
pub(crate) struct Beside<'t, 'i> {
    pub definitions: Option<Section<'t, 'i>>,
    pub initial: Option<Section<'t, 'i>>,
    pub output: Option<Section<'t, 'i>>,
    pub t0: f64,
}

/// Read the section into formulas; mistakes go to the reader.
pub(crate) fn read(reader: &mut Reader, section: Section, beside: Beside) -> (Formulas, Initial, MotionTexts) {
    section.check_keys(reader, &KEYS);
    let parts = declare(reader, section);
    let definitions = definitions::declare(reader, beside.definitions);
    let outputs = output::read(reader, beside.output);
    parameters::evaluate(reader);
    reader.scope.incomplete = reader.count() > 0;
    let mut given = initial::read(reader, beside.initial);

    // inputs of the graph
    let sizes = Sizes {
        positions: parts.positions.len(),
        velocities: parts.velocities.len(),
        dynamic: parts.dynamic.len(),
        auxiliary: parts.auxiliary.len(),
        contact: parts.contact.len(),
        holonomic: parts.holonomic.len(),
        nonholonomic: parts.nonholonomic.len(),
        invariants: parts.invariants.len(),
    };
    let full = |names: &[(Name, Entry)]| names.iter().map(|(name, _)| name.full.clone()).collect();
    let names = Names {
        positions: parts.positions.iter().map(|name| name.full.clone()).collect(),
        velocities: parts.velocities.iter().map(|name| name.full.clone()).collect(),
        dynamic: full(&parts.dynamic),
        auxiliary: full(&parts.auxiliary),
        contact: full(&parts.contact),
        holonomic: parts.holonomic.iter().map(|(name, _)| name.clone()).collect(),
        nonholonomic: parts.nonholonomic.iter().map(|(name, _)| name.clone()).collect(),
        invariants: full(&parts.invariants),
    };
    let parameters: Vec<(String, f64)> = (0..reader.parameters.len())
        .map(|k| (reader.parameters[k].name.clone(), reader.parameter(k).unwrap_or(f64::NAN)))
        .collect();
    let mut graph = Graph::new();
    let inputs = Variables::new(&mut graph, &sizes, &names, &parameters);

    let formulas = graph.with(|| lower(reader, &parts, &definitions, &outputs, &mut given, &inputs));
    let written = |entries: &[(Name, Entry)]| entries.iter().map(|(_, entry)| entry.written()).collect();
    let texts = MotionTexts {
        holonomic: parts.holonomic.iter().map(|(_, entry)| entry.written()).collect(),
        nonholonomic: parts.nonholonomic.iter().map(|(_, entry)| entry.written()).collect(),
        dynamic: written(&parts.dynamic),
        auxiliary: written(&parts.auxiliary),
        contact: written(&parts.contact),
        invariants: written(&parts.invariants),
    };
    let initial = start(&given, &sizes, beside.t0, &graph, &parameters);
    (Formulas { graph, sizes, names, parameters, ..formulas }, initial, texts)
}

/// Declare all variables and collect the formulas.
fn declare(reader: &mut Reader, section: Section) -> Parts {
    let positions = variables(reader, section, "positions", Class::Position);
    let velocities = variables(reader, section, "velocities", Class::Velocity);
    // where names are missing, their number says nothing
    let known = positions.1 && velocities.1;
    let (positions, velocities) = (positions.0, velocities.0);

    let dynamic = named(reader, section, "dynamic", Class::Dynamic);
    let auxiliary = named(reader, section, "auxiliary", Class::Auxiliary);
    let contact = named(reader, section, "contact", Class::Contact);
    let holonomic = constraints(reader, section, "holonomic", "lambda", Class::Lambda);
    let nonholonomic = constraints(reader, section, "nonholonomic", "mu", Class::Mu);
    let invariants = match section.table(reader, "invariants") {
        Some(table) => entries::table(reader, table, "the invariant"),
        None => Vec::new(),
    };

    let kinematics = section.get("kinematics").map(|value| {
        let rows = by_name(reader, value, "kinematics", "kinematic equation", &positions, "positions", known);
        let missing: Vec<&str> =
            positions.iter().zip(&rows).filter(|(_, row)| row.is_none()).map(|(name, _)| name.full.as_str()).collect();
        if rows.len() == positions.len() && !missing.is_empty() && known && !reader.scope.incomplete {
            let what = format!("the kinematic equation of {}", enumerate(missing.iter().copied()));
            let (at, label) = (Span::from(value.span()).into(), "not all positions are here".into());
            let help = "every position needs its rate as a formula that is linear in the velocities".into();
            reader.mistake(Mistake::Missing { what, at, label, help });
        }
        rows
    });
    if kinematics.is_none() && known && positions.len() != velocities.len() {
        reader.mistake(Mistake::Missing {
            what: "the key `kinematics` of [motion]".into(),
            at: section.span.into(),
            label: format!("{} and {}", number(positions.len(), "position"), number(velocities.len(), "velocity")),
            help: "if there are not as many velocities as positions, give the rates of the positions: kinematics = { x = \"…\", … }".into(),
        });
    }
    let forces = match section.get("forces") {
        Some(value) => by_name(reader, value, "forces", "force", &velocities, "velocities", known),
        None => vec![None; velocities.len()],
    };
    let mass = mass(reader, section, &velocities, known);
    Parts {
        positions,
        velocities,
        kinematics,
        mass,
        forces,
        holonomic,
        nonholonomic,
        dynamic,
        auxiliary,
        contact,
        invariants,
    }
}

/// "1 position", "2 velocities".
fn number(n: usize, noun: &str) -> String {
    match (n, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (n, Some(stem)) => format!("{n} {stem}ies"),
        (n, None) if noun.ends_with('s') => format!("{n} {noun}es"),
        (n, None) => format!("{n} {noun}s"),
    }
}

/// A list of names of variables, and whether all of them could be read.
fn variables(reader: &mut Reader, section: Section, key: &'static str, class: Class) -> (Vec<Name>, bool) {
    let Some(value) = section.get(key) else {
        reader.mistake(Mistake::Missing {
            what: format!("the key `{key}` of [motion]"),
            at: section.span.into(),
            label: "in this section".into(),
            help: format!("write {key} = [\"…\", …] with a name for each {}", class.noun()),
        });
        return (Vec::new(), false);
    };
    let (names, read) = entries::names(reader, value, key);
    if names.is_empty() && read && class == Class::Velocity {
        reader.mistake(Mistake::Missing {
            what: "a velocity".into(),
            at: Span::from(value.span()).into(),
            label: "nothing moves".into(),
            help: "equations of motion have at least one velocity; other systems belong to [dae]".into(),
        });
    }
    let declared = declare_variables(reader, names.iter(), class);
    (names, read && declared)
}

/// Give variables their meaning, in the order of their names; false if some could not be declared.
pub(crate) fn declare_variables<'n>(reader: &mut Reader, names: impl Iterator<Item = &'n Name>, class: Class) -> bool {
    let before = reader.count();
    let what = format!("a {}", class.noun()).replace("a a", "an a");
    for (k, name) in names.enumerate() {
        let symbol = Symbol::Variable(class, k);
        let declared = reader.scope.declare(&name.base, &name.indices, &what, symbol, name.span);
        reader.told(declared);
    }
    reader.count() == before
}

/// A table of variables with their equations.
fn named(reader: &mut Reader, section: Section, key: &'static str, class: Class) -> Vec<(Name, Entry)> {
    let Some(table) = section.table(reader, key) else { return Vec::new() };
    let entries = entries::table(reader, table, &format!("the {}", class.noun()));
    declare_variables(reader, entries.iter().map(|(name, _)| name), class);
    entries
}

/// Constraints by name or in a list, with their multipliers.
fn constraints(
    reader: &mut Reader,
    section: Section,
    key: &'static str,
    letter: &str,
    class: Class,
) -> Vec<(String, Entry)> {
    let Some(value) = section.get(key) else { return Vec::new() };
    let mut constraints = Vec::new();
    match value.get_ref() {
        DeValue::Table(table) => {
            let entries = entries::table(reader, table, &format!("the {key} constraint"));
            for (k, (name, entry)) in entries.into_iter().enumerate() {
                let symbol = Symbol::Variable(class, k);
                let base = format!("{letter}.{}", name.base);
                let declared = reader.scope.declare(&base, &name.indices, "a multiplier", symbol, name.span);
                reader.told(declared);
                constraints.push((name.full, entry));
            }
        }
        DeValue::Array(items) => {
            let entries = entries::list(reader, items, &format!("a {key} constraint")).0;
            for (k, entry) in entries.into_iter().enumerate() {
                let symbol = Symbol::Variable(class, k);
                let base = format!("{letter}{}", k + 1);
                let declared = reader.scope.declare(&base, &[], "a multiplier", symbol, entry.span);
                reader.told(declared);
                constraints.push(((k + 1).to_string(), entry));
            }
        }
        _ => reader.mistake(wrong_type(
            &format!("`{key}`"),
            "a table { name = \"formula\", … } or a list of formulas",
            value,
        )),
    }
    constraints
}

/// Formulas in a list in the order of variables, or in a table by their names.
fn by_name(
    reader: &mut Reader,
    value: &Item,
    key: &str,
    noun: &str,
    variables: &[Name],
    kind: &str,
    known: bool,
) -> Vec<Option<Entry>> {
    let mut rows = vec![None; variables.len()];
    match value.get_ref() {
        DeValue::Array(items) => {
            let (entries, complete) = entries::list(reader, items, &format!("an entry of `{key}`"));
            let (found, wanted) = (entries.len(), variables.len());
            if found == wanted {
                return entries.into_iter().map(Some).collect();
            }
            if known && complete {
                let is = if found == 1 { "is" } else { "are" };
                let noun = number(found, noun);
                let for_what = if wanted == 1 {
                    format!(
                        "1 {}",
                        kind.strip_suffix("ies")
                            .map_or_else(|| kind.trim_end_matches('s').to_string(), |s| format!("{s}y"))
                    )
                } else {
                    format!("{wanted} {kind}")
                };
                reader.mistake(Mistake::Count {
                    message: format!("{noun} {is} given for {for_what}"),
                    at: Span::from(value.span()).into(),
                    found,
                    help: Some(format!("in this order: {}", enumerate(variables.iter().map(|v| v.full.as_str())))),
                });
            }
        }
        DeValue::Table(table) => {
            let places: HashMap<&str, usize> =
                variables.iter().enumerate().map(|(k, name)| (name.full.as_str(), k)).collect();
            for (name, entry) in entries::table(reader, table, &format!("the entry of `{key}`")) {
                if let Some(k) = places.get(name.full.as_str()) {
                    rows[*k] = Some(entry);
                } else if known {
                    let all = enumerate(variables.iter().map(|v| v.full.as_str()));
                    let help = match nearest(&name.full, variables.iter().map(|v| v.full.as_str())) {
                        Some(near) => format!("did you mean `{near}`? The {kind} are {all}"),
                        None => format!("the keys are the {kind} {all}"),
                    };
                    let section = format!("`{key}`");
                    reader.mistake(Mistake::UnknownKey { key: name.full, section, at: name.span.into(), help });
                }
            }
        }
        _ => reader.mistake(wrong_type(
            &format!("`{key}`"),
            &format!("a list in the order of the {kind} or a table by their names"),
            value,
        )),
    }
    rows
}

fn mass(reader: &mut Reader, section: Section, velocities: &[Name], known: bool) -> Option<Mass> {
    let Some(value) = section.get("mass") else {
        reader.mistake(Mistake::Missing {
            what: "the key `mass` of [motion]".into(),
            at: section.span.into(),
            label: "in this section".into(),
            help: "write mass = [\"m\", …] with the diagonal of the mass matrix, or its rows as a list of lists".into(),
        });
        return None;
    };
    let DeValue::Array(items) = value.get_ref() else {
        let before = reader.count();
        let rows = by_name(reader, value, "mass", "mass", velocities, "velocities", known);
        let missing: Vec<&str> =
            velocities.iter().zip(&rows).filter(|(_, row)| row.is_none()).map(|(name, _)| name.full.as_str()).collect();
        if !missing.is_empty() && known && reader.count() == before {
            reader.mistake(Mistake::Missing {
                what: format!("the mass of {}", enumerate(missing.iter().copied())),
                at: Span::from(value.span()).into(),
                label: "not all velocities are here".into(),
                help: "every velocity has a mass; write 0 where none is meant".into(),
            });
        }
        return rows.into_iter().collect::<Option<Vec<_>>>().map(Mass::Diagonal);
    };
    if !items.iter().any(|item| item.get_ref().is_array()) {
        let rows = by_name(reader, value, "mass", "mass", velocities, "velocities", known);
        return rows.into_iter().collect::<Option<Vec<_>>>().map(Mass::Diagonal);
    }
    let mut rows = Vec::new();
    for item in items {
        let DeValue::Array(inner) = item.get_ref() else {
            reader.mistake(wrong_type("a row of `mass`", "a list", item));
            continue;
        };
        let (row, complete) = entries::list(reader, inner, "an entry of `mass`");
        if row.len() != velocities.len() && known && complete {
            reader.mistake(Mistake::Count {
                message: format!(
                    "a row of the mass matrix has {} for {}",
                    number(row.len(), "entry"),
                    number(velocities.len(), "velocity")
                ),
                at: Span::from(item.span()).into(),
                found: row.len(),
                help: Some("the mass matrix has a row and a column for each velocity".into()),
            });
            return None;
        }
        rows.push(row);
    }
    if rows.len() != velocities.len() && known {
        reader.mistake(Mistake::Count {
            message: format!(
                "the mass matrix has {} for {}",
                number(rows.len(), "row"),
                number(velocities.len(), "velocity")
            ),
            at: Span::from(value.span()).into(),
            found: rows.len(),
            help: Some("the mass matrix has a row and a column for each velocity".into()),
        });
        return None;
    }
    known.then_some(Mass::Rows(rows))
}

/// All formulas as graph nodes. Where a formula has a mistake the model is not used, so its place does not matter.
fn lower(
    reader: &mut Reader,
    parts: &Parts,
    definitions: &[usize],
    outputs: &[(Name, Entry)],
    given: &mut Given,
    inputs: &Variables,
) -> Formulas {
    // items of rates, for der(x)
    let mut rates = HashMap::new();
    let item = |reader: &mut Reader, name: &Name, entry: &Entry, context: Context| {
        let node = entry.node();
        let node = reader.told(node).unwrap_or_else(|| Rc::clone(&entry.equation.left));
        let name = format!("der({})", name.full);
        reader.scope.items.push(Rc::new(names::Item { name, node, bindings: entry.bindings.clone(), context }));
        reader.scope.items.len() - 1
    };
    let mut kinematic_items = Vec::new();
    for (k, name) in parts.positions.iter().enumerate() {
        match parts.kinematics.as_ref().and_then(|rows| rows.get(k)) {
            Some(Some(entry)) => {
                let number = item(reader, name, entry, KINEMATICS);
                rates.insert((Class::Position, k), vec![Rate::Item(number)]);
                kinematic_items.push(Some((number, entry.span, name.full.clone())));
            }
            None if k < parts.velocities.len() && parts.kinematics.is_none() => {
                rates.insert((Class::Position, k), vec![Rate::Variable(Class::Velocity, k)]);
                kinematic_items.push(None);
            }
            _ => {}
        }
    }
    let mut dynamic_items = Vec::new();
    for (k, (name, entry)) in parts.dynamic.iter().enumerate() {
        let number = item(reader, name, entry, DYNAMIC);
        rates.insert((Class::Dynamic, k), vec![Rate::Item(number)]);
        dynamic_items.push(number);
    }
    for k in 0..parts.velocities.len() {
        rates.insert((Class::Velocity, k), vec![Rate::Variable(Class::Acceleration, k)]);
    }

    let variables = HashMap::from([
        (Class::Time, vec![inputs.t()]),
        (Class::Position, inputs.p().to_vec()),
        (Class::Velocity, inputs.v().to_vec()),
        (Class::Dynamic, inputs.r().to_vec()),
        (Class::Auxiliary, inputs.w().to_vec()),
        (Class::Contact, inputs.s().to_vec()),
        (Class::Lambda, inputs.lambda().to_vec()),
        (Class::Mu, inputs.mu().to_vec()),
        (Class::Acceleration, inputs.a().to_vec()),
        (Class::Parameter, inputs.parameters().to_vec()),
    ]);
    let mut to = Lowering::new(reader, variables);
    to.rates = rates;
    for k in definitions {
        to.item_value(*k);
    }

    let mut formulas = Formulas::default();
    for (k, row) in kinematic_items.into_iter().enumerate() {
        let Some((number, span, name)) = row else {
            formulas.kinematics.push(inputs.v()[k]);
            continue;
        };
        if let Some(value) = to.item_value(number) {
            check_linear(to.reader, value, &format!("the kinematic equation of `{name}`"), true, span);
            formulas.kinematics.push(value.expr);
        }
    }
    match &parts.mass {
        Some(Mass::Diagonal(entries)) => {
            for (i, entry) in entries.iter().enumerate() {
                add_mass(&mut to, &mut formulas, i, i, entry);
            }
        }
        Some(Mass::Rows(rows)) => {
            for (i, row) in rows.iter().enumerate() {
                for (j, entry) in row.iter().enumerate() {
                    add_mass(&mut to, &mut formulas, i, j, entry);
                }
            }
        }
        None => {}
    }
    for entry in &parts.forces {
        let value = match entry {
            Some(entry) => plain(&mut to, entry, FORCE),
            None => Some(to.zero()),
        };
        formulas.force.extend(value.map(|value| value.expr));
    }
    for (_, entry) in &parts.holonomic {
        formulas.holonomic.extend(to.residual(&entry.equation, HOLONOMIC, &entry.bindings).map(|value| value.expr));
    }
    for (name, entry) in &parts.nonholonomic {
        if let Some(value) = to.residual(&entry.equation, NONHOLONOMIC, &entry.bindings) {
            check_linear(to.reader, value, &format!("the nonholonomic constraint `{name}`"), false, entry.span);
            formulas.nonholonomic.push(value.expr);
        }
    }
    for k in dynamic_items {
        formulas.dynamic.extend(to.item_value(k).map(|value| value.expr));
    }
    for (block, entries, context) in
        [(&mut formulas.auxiliary, &parts.auxiliary, AUXILIARY), (&mut formulas.contact, &parts.contact, CONTACT)]
    {
        for (_, entry) in entries {
            block.extend(to.residual(&entry.equation, context, &entry.bindings).map(|value| value.expr));
        }
    }
    for (_, entry) in &parts.invariants {
        formulas.invariant.extend(plain(&mut to, entry, INVARIANT).map(|value| value.expr));
    }
    formulas.outputs = output::lower(&mut to, outputs);
    initial::lower(&mut to, given, CONDITION);
    formulas
}

/// A formula that is not an equation.
fn plain(to: &mut Lowering, entry: &Entry, context: Context) -> Option<Value> {
    let node = entry.node();
    let node = to.reader.told(node)?;
    to.formula(&node, context, &entry.bindings)
}

fn add_mass(to: &mut Lowering, formulas: &mut Formulas, i: usize, j: usize, entry: &Entry) {
    if let Some(value) = plain(to, entry, MASS)
        && value.shape != Shape::Zero
    {
        formulas.mass.push((i, j, value.expr));
    }
}

/// Kinematics are linear, nonholonomic constraints affine in the velocities, as far as the structure tells.
fn check_linear(reader: &mut Reader, value: Value, what: &str, homogeneous: bool, span: Span) {
    let fits = match value.shape {
        Shape::Zero | Shape::Linear => true,
        Shape::Free | Shape::Affine => !homogeneous,
        Shape::Nonlinear => false,
    };
    if fits {
        return;
    }
    let (wanted, help) = if homogeneous {
        ("linear", "every term contains one velocity as a factor: x = \"cos(phi)*v1 - sin(phi)*v2\"")
    } else {
        ("affine", "every term contains at most one velocity, as a factor: \"sin(phi)*vx - cos(phi)*vy\"")
    };
    let label = match value.shape {
        Shape::Free => "contains no velocity",
        Shape::Affine => "a term contains no velocity",
        _ => "the velocities enter nonlinearly",
    };
    reader.mistake(Mistake::NotLinear {
        what: what.into(),
        wanted: wanted.into(),
        at: span.into(),
        label: label.into(),
        help: help.into(),
    });
}

/// Initial values in the order of the variables; conditions run on tapes with the numbers of the parameters.
fn start(given: &Given, n: &Sizes, t0: f64, graph: &Graph, parameters: &[(String, f64)]) -> Initial {
    let mut initial = Initial {
        t: t0,
        p: given.block(Class::Position, n.positions),
        v: given.block(Class::Velocity, n.velocities),
        r: given.block(Class::Dynamic, n.dynamic),
        w: given.block(Class::Auxiliary, n.auxiliary),
        s: given.block(Class::Contact, n.contact),
        lambda: given.block(Class::Lambda, n.holonomic),
        mu: given.block(Class::Mu, n.nonholonomic),
        conditions: Vec::new(),
    };
    let values: Rc<[f64]> = parameters.iter().map(|(_, value)| *value).collect();
    for (name, residual) in given.conditions() {
        let tape = Tape::new(graph, &[residual]);
        let (values, accelerations) = (values.to_vec(), n.velocities);
        initial = initial.condition(name, move |at: &Motion<f64>| {
            let blocks = [at.p, at.v, at.r, at.w, at.s, at.lambda, at.mu];
            let mut inputs = vec![at.t];
            inputs.extend(blocks.into_iter().flatten());
            // accelerations do not enter conditions
            inputs.resize(inputs.len() + accelerations, 0.0);
            inputs.extend_from_slice(&values);
            tape.evaluate(&inputs).first().copied().unwrap_or(f64::NAN)
        });
    }
    initial
}
