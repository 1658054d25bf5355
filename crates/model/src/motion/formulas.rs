//! The formulas of `[motion]` as graph nodes, each checked against the place where it stands.

use super::parts::{MassDraft, MotionDraft};
use crate::definitions;
use crate::diagnostic::Mistake;
use crate::entries::{FormulaEntry, Name};
use crate::events::EventDraft;
use crate::hybrid::{self, Job};
use crate::initial::{self, InitialDraft};
use crate::lower::{Lowering, Rate, Symbolic};
use crate::names::{Classes, Context, NamedFormula, Quantity};
use crate::output;
use crate::picture::PictureDraft;
use crate::reader::Reader;
use crate::shape::Shape;
use crate::source::Span;
use daedal::motion::{Formulas, Variables};
use std::collections::HashMap;
use std::rc::Rc;

const POSITION_LEVEL: Classes =
    Classes::of(&[Quantity::Parameter, Quantity::Time, Quantity::Position, Quantity::Contact]);
const VELOCITY_LEVEL: Classes =
    Classes::of(&[Quantity::Parameter, Quantity::Time, Quantity::Position, Quantity::Contact, Quantity::Velocity]);
const FORCE_LEVEL: Classes = Classes::of(&[
    Quantity::Parameter,
    Quantity::Time,
    Quantity::Position,
    Quantity::Contact,
    Quantity::Velocity,
    Quantity::Dynamic,
    Quantity::Auxiliary,
    Quantity::Lambda,
    Quantity::Mu,
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
const HIDDEN: Context = context("a hidden constraint", FORCE_LEVEL, FORCE_HELP);
const CONDITION: Context = context("an initial condition", FORCE_LEVEL, FORCE_HELP);

/// All formulas as graph nodes. Where a formula has a mistake the model is not used, so its place does not matter.
#[allow(clippy::too_many_lines)] // the blocks of the equations of motion in their order
pub(super) fn lower(
    reader: &mut Reader,
    parts: &MotionDraft,
    numbers: &[usize],
    (outputs, events, picture): (&[(Name, FormulaEntry)], &[EventDraft], &PictureDraft),
    given: &mut InitialDraft,
    inputs: &Variables,
    jobs: &mut [Job],
) -> Formulas {
    // items of rates, for der(x)
    let mut rates = HashMap::new();
    let item = |reader: &mut Reader, name: &Name, entry: &FormulaEntry, context: Context| {
        let node = entry.node();
        let node = reader.told(node).unwrap_or_else(|| Rc::clone(&entry.equation.left));
        let name = format!("der({})", name.full);
        reader.scope.items.push(Rc::new(NamedFormula { name, node, bindings: entry.bindings.clone(), context }));
        reader.scope.items.len() - 1
    };
    let mut kinematic_items = Vec::new();
    for (k, name) in parts.positions.iter().enumerate() {
        match parts.kinematics.as_ref().and_then(|rows| rows.get(k)) {
            Some(Some(entry)) => {
                let number = item(reader, name, entry, KINEMATICS);
                rates.insert((Quantity::Position, k), vec![Rate::Item(number)]);
                kinematic_items.push(Some((number, entry.span, name.full.clone())));
            }
            None if k < parts.velocities.len() && parts.kinematics.is_none() => {
                rates.insert((Quantity::Position, k), vec![Rate::Variable(Quantity::Velocity, k)]);
                kinematic_items.push(None);
            }
            _ => {}
        }
    }
    let mut dynamic_items = Vec::new();
    for (k, (name, entry)) in parts.dynamic.iter().enumerate() {
        let number = item(reader, name, entry, DYNAMIC);
        rates.insert((Quantity::Dynamic, k), vec![Rate::Item(number)]);
        dynamic_items.push(number);
    }
    for k in 0..parts.velocities.len() {
        rates.insert((Quantity::Velocity, k), vec![Rate::Variable(Quantity::Acceleration, k)]);
    }

    let variables = HashMap::from([
        (Quantity::Time, vec![inputs.t()]),
        (Quantity::Position, inputs.p().to_vec()),
        (Quantity::Velocity, inputs.v().to_vec()),
        (Quantity::Dynamic, inputs.r().to_vec()),
        (Quantity::Auxiliary, inputs.w().to_vec()),
        (Quantity::Contact, inputs.s().to_vec()),
        (Quantity::Lambda, inputs.lambda().to_vec()),
        (Quantity::Mu, inputs.mu().to_vec()),
        (Quantity::Acceleration, inputs.a().to_vec()),
        (Quantity::Parameter, inputs.parameters().to_vec()),
    ]);
    let mut to = Lowering::new(reader, variables);
    to.rates = rates;
    definitions::lower(&mut to, numbers);

    let mut formulas = Formulas::default();
    for (k, row) in kinematic_items.into_iter().enumerate() {
        let Some((number, span, name)) = row else {
            formulas.kinematics.push(inputs.v()[k]);
            continue;
        };
        let value = to.item_value(number);
        if let Some(value) = to.differentiated(value, 1, span) {
            check_linear(to.reader, value, &format!("the kinematic equation of `{name}`"), true, span);
            formulas.kinematics.push(value.expr);
        }
    }
    match &parts.mass {
        Some(MassDraft::Diagonal(entries)) => {
            for (i, entry) in entries.iter().enumerate() {
                add_mass(&mut to, &mut formulas, i, i, entry);
            }
        }
        Some(MassDraft::Rows(rows)) => {
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
        let value = to.residual(&entry.equation, HOLONOMIC, &entry.bindings);
        formulas.holonomic.extend(to.differentiated(value, 2, entry.span).map(|value| value.expr));
    }
    for (name, entry) in &parts.nonholonomic {
        let value = to.residual(&entry.equation, NONHOLONOMIC, &entry.bindings);
        if let Some(value) = to.differentiated(value, 1, entry.span) {
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
            let value = to.residual(&entry.equation, context, &entry.bindings);
            let times = if context == CONTACT { 2 } else { 0 };
            block.extend(to.differentiated(value, times, entry.span).map(|value| value.expr));
        }
    }
    for (_, entry) in &parts.invariants {
        formulas.invariant.extend(plain(&mut to, entry, INVARIANT).map(|value| value.expr));
    }
    for (name, entry) in &parts.hidden {
        let value = to.residual(&entry.equation, HIDDEN, &entry.bindings);
        formulas.hidden.extend(value.map(|value| (name.clone(), value.expr)));
    }
    formulas.outputs = output::lower(&mut to, outputs, events, picture);
    initial::lower(&mut to, given, CONDITION);
    hybrid::lower(&mut to, jobs);
    formulas
}

/// A formula that is not an equation.
fn plain(to: &mut Lowering, entry: &FormulaEntry, context: Context) -> Option<Symbolic> {
    let node = entry.node();
    let node = to.reader.told(node)?;
    to.formula(&node, context, &entry.bindings)
}

fn add_mass(to: &mut Lowering, formulas: &mut Formulas, i: usize, j: usize, entry: &FormulaEntry) {
    if let Some(value) = plain(to, entry, MASS)
        && value.shape != Shape::Zero
    {
        formulas.mass.push((i, j, value.expr));
    }
}

/// Kinematics are linear, nonholonomic constraints affine in the velocities, as far as the structure tells.
fn check_linear(reader: &mut Reader, value: Symbolic, what: &str, homogeneous: bool, span: Span) {
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
