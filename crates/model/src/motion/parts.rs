//! What `[motion]` declares: variables, and formulas that are read but not yet understood.

use crate::dae;
use crate::diagnostic::Mistake;
use crate::document::{Section, TomlItem, wrong_type};
use crate::entries::{self, FormulaEntry, Name};
use crate::names::{Quantity, Symbol};
use crate::reader::Reader;
use crate::source::Span;
use crate::suggestion::{enumerate, nearest};
use std::collections::HashMap;
use toml::de::DeValue;

pub(super) const KEYS: [&str; 13] = [
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
    "hidden",
    "constraint_forces",
];

/// The mass matrix as it is written.
pub(super) enum MassDraft {
    Diagonal(Vec<FormulaEntry>),
    Rows(Vec<Vec<FormulaEntry>>),
}

/// What was declared in the section.
pub(super) struct MotionDraft {
    pub positions: Vec<Name>,
    pub velocities: Vec<Name>,
    pub kinematics: Option<Vec<Option<FormulaEntry>>>,
    pub mass: Option<MassDraft>,
    pub forces: Vec<Option<FormulaEntry>>,
    pub holonomic: Vec<(String, FormulaEntry)>,
    pub nonholonomic: Vec<(String, FormulaEntry)>,
    pub dynamic: Vec<(Name, FormulaEntry)>,
    pub auxiliary: Vec<(Name, FormulaEntry)>,
    pub contact: Vec<(Name, FormulaEntry)>,
    pub invariants: Vec<(Name, FormulaEntry)>,
    pub hidden: Vec<(String, FormulaEntry)>,
}

/// Declare all variables and collect the formulas.
pub(super) fn declare(reader: &mut Reader, section: Section) -> MotionDraft {
    let positions = variables(reader, section, "positions", Quantity::Position);
    let velocities = variables(reader, section, "velocities", Quantity::Velocity);
    // where names are missing, their number says nothing
    let known = positions.1 && velocities.1;
    let (positions, velocities) = (positions.0, velocities.0);

    let dynamic = named(reader, section, "dynamic", Quantity::Dynamic);
    let auxiliary = named(reader, section, "auxiliary", Quantity::Auxiliary);
    let contact = named(reader, section, "contact", Quantity::Contact);
    let holonomic = constraints(reader, section, "holonomic", "lambda", Quantity::Lambda);
    let nonholonomic = constraints(reader, section, "nonholonomic", "mu", Quantity::Mu);
    let invariants = match section.table(reader, "invariants") {
        Some(table) => entries::table(reader, table, "the invariant"),
        None => Vec::new(),
    };
    let hidden =
        section.get("hidden").map_or_else(Vec::new, |value| dae::listed(reader, value, "hidden", "hidden constraint"));

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
    MotionDraft {
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
        hidden,
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
fn variables(reader: &mut Reader, section: Section, key: &'static str, class: Quantity) -> (Vec<Name>, bool) {
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
    if names.is_empty() && read && class == Quantity::Velocity {
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
pub(crate) fn declare_variables<'n>(
    reader: &mut Reader,
    names: impl Iterator<Item = &'n Name>,
    class: Quantity,
) -> bool {
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
fn named(reader: &mut Reader, section: Section, key: &'static str, class: Quantity) -> Vec<(Name, FormulaEntry)> {
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
    class: Quantity,
) -> Vec<(String, FormulaEntry)> {
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
    value: &TomlItem,
    key: &str,
    noun: &str,
    variables: &[Name],
    kind: &str,
    known: bool,
) -> Vec<Option<FormulaEntry>> {
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

fn mass(reader: &mut Reader, section: Section, velocities: &[Name], known: bool) -> Option<MassDraft> {
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
        return rows.into_iter().collect::<Option<Vec<_>>>().map(MassDraft::Diagonal);
    };
    if !items.iter().any(|item| item.get_ref().is_array()) {
        let rows = by_name(reader, value, "mass", "mass", velocities, "velocities", known);
        return rows.into_iter().collect::<Option<Vec<_>>>().map(MassDraft::Diagonal);
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
    known.then_some(MassDraft::Rows(rows))
}
