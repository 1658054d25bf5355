//! `[definitions]`: parts of formulas with names.
//!
//! A definition of a system with modes is computed in those modes that have all names in it.

use crate::diagnostic::Mistake;
use crate::document::Section;
use crate::entries;
use crate::formula::ast::{NameUse, Term, Tree};
use crate::index::Bindings;
use crate::lower::{DEFINITION, Lowering};
use crate::names::{NamedFormula, Symbol};
use crate::reader::Reader;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Declare all definitions; gives the numbers of their items.
pub(crate) fn declare(reader: &mut Reader, section: Option<Section>) -> Vec<usize> {
    let mut numbers = Vec::new();
    let Some(section) = section else { return numbers };
    for (name, entry) in entries::table(reader, section.table, "the definition") {
        let node = entry.node();
        let Some(node) = reader.told(node) else {
            // the name stands for nothing now; that it is unknown elsewhere follows from this mistake
            reader.scope.incomplete = true;
            continue;
        };
        let number = reader.scope.items.len();
        let declared = reader.scope.declare(&name.base, &name.indices, "a definition", Symbol::Item(number), name.span);
        if reader.told(declared).is_some() {
            let item = NamedFormula { name: name.full, node, bindings: entry.bindings, context: DEFINITION };
            reader.scope.items.push(Rc::new(item));
            numbers.push(number);
        }
    }
    numbers
}

/// Compute all definitions, except those that are for other modes.
pub(crate) fn lower(lowering: &mut Lowering, definitions: &[usize]) {
    let left_out = left_out(lowering.reader, definitions);
    for k in definitions {
        let at = lowering.reader.scope.items[*k].node.span;
        let missing = left_out.get(k).cloned();
        if missing.is_none() {
            lowering.item_value(*k);
        }
        lowering.reader.note_formula(at, missing);
    }
}

/// Definitions with names that this mode does not have, by themselves or through others.
fn left_out(reader: &mut Reader, definitions: &[usize]) -> HashMap<usize, Mistake> {
    let mut left_out = HashMap::new();
    if reader.mode.is_none() || reader.scope.incomplete {
        return left_out;
    }
    let mut users: HashMap<String, Vec<usize>> = HashMap::new();
    let mut open = Vec::new();
    for &k in definitions {
        let item = Rc::clone(&reader.scope.items[k]);
        let (names, missing) = unknown(reader, &item.node, &item.bindings);
        for name in names {
            users.entry(name).or_default().push(k);
        }
        if let Some(mistake) = missing {
            left_out.insert(k, mistake);
            open.push(k);
        }
    }
    while let Some(k) = open.pop() {
        let name = reader.scope.items[k].name.clone();
        let base = name.split('[').next().unwrap_or(&name).to_string();
        let mistake = left_out[&k].clone();
        for user in users.remove(&base).unwrap_or_default() {
            left_out.entry(user).or_insert_with(|| {
                open.push(user);
                mistake.clone()
            });
        }
        reader.absent.insert(base, mistake);
    }
    left_out
}

/// The names in a formula, and the mistake of the first one that this mode does not have.
pub(crate) fn unknown(reader: &Reader, node: &Tree, bindings: &Bindings) -> (HashSet<String>, Option<Mistake>) {
    let (mut references, mut indices) = (Vec::<&NameUse>::new(), HashSet::new());
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        match &node.kind {
            Term::Reference(reference) | Term::Derivative(reference, _) => references.push(reference),
            Term::Over(_, _, ranges) => indices.extend(ranges.iter().map(|range| &*range.index)),
            _ => {}
        }
        open.extend(node.children());
    }
    let known = |name: &str| {
        let index = indices.contains(name) || bindings.get(name).is_some();
        // link[].x: which of them is asked for is told where the formula is evaluated
        let part = name.split_once("[]").zip(reader.scope.objects.as_ref());
        let part = part.is_some_and(|((family, _), objects)| objects.has_several(family));
        index || part || matches!(name, "t" | "pi") || reader.scope.knows(name).is_some()
    };
    let missing = references.iter().find_map(|reference| match reader.absent.get(&reference.base) {
        Some(mistake) => Some(mistake.clone()),
        None if known(&reference.base) => None,
        None => reader.scope.find(&reference.base, reference).err(),
    });
    (references.into_iter().map(|reference| reference.base.clone()).collect(), missing)
}
