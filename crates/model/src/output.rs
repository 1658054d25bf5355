//! `[output]`: further quantities that are wanted along the motion.

use crate::definitions;
use crate::diagnostic::Mistake;
use crate::document::Section;
use crate::entries::{self, FormulaEntry, Name};
use crate::events::{self, EventDraft};
use crate::formula::ast::Tree;
use crate::lower::Lowering;
use crate::names::{Classes, Context, NamedFormula, Symbol};
use crate::picture::{self, PictureDraft};
use crate::reader::Reader;
use daedal::graph::Expr;
use std::collections::HashSet;
use std::rc::Rc;

const OUTPUT: Context =
    Context { place: "an output", allowed: Classes::EVERYTHING, help: "outputs may contain everything" };

/// Read the outputs; their names must not be those of variables.
pub(crate) fn read(reader: &mut Reader, section: Option<Section>) -> Vec<(Name, FormulaEntry)> {
    let Some(section) = section else { return Vec::new() };
    let outputs = entries::table(reader, section.table, "the output");
    for (name, _) in &outputs {
        let variable = reader.scope.get(&name.full).filter(|d| matches!(d.symbol, Symbol::Variable(..)));
        if let Some(declared) = variable {
            let (what, first) = (declared.what.clone(), Some(declared.span.into()));
            let (name, at) = (name.full.clone(), name.span.into());
            reader.mistake(Mistake::Duplicate {
                name,
                what,
                first,
                at,
                help: Some("variables are part of the results anyway; give this output another name".into()),
            });
        }
    }
    reader.outputs = outputs.iter().map(|(name, _)| name.full.clone()).collect();
    outputs
}

/// Their formulas; in a system with modes those that have all names in this one.
///
/// An output may use other outputs, in any order: while they are lowered each is a name as definitions are, unless its name is one already.
/// They are names for events and pictures, too, and for nothing else.
pub(crate) fn lower(
    lowering: &mut Lowering,
    outputs: &[(Name, FormulaEntry)],
    events: &[EventDraft],
    picture: &PictureDraft,
) -> Vec<(String, Expr)> {
    let is_new = |(name, _): &&(Name, FormulaEntry)| lowering.reader.scope.knows(&name.base).is_none();
    let own: HashSet<&str> = outputs.iter().filter(is_new).map(|(name, _)| name.base.as_str()).collect();
    let mut open: Vec<Open> = Vec::new();
    for (name, entry) in outputs {
        let Some(node) = lowering.reader.told(entry.node()) else { continue };
        let item = if own.contains(name.base.as_str()) { declare(lowering.reader, name, entry, &node) } else { None };
        open.push(Open { name, entry, node, item, missing: None });
    }
    leave_out(lowering.reader, &mut open);
    let mut formulas = Vec::new();
    for output in &mut open {
        let missing = output.missing.clone();
        let left_out = missing.is_some();
        lowering.reader.note_formula(output.node.span, missing);
        if left_out {
            continue;
        }
        let value = match output.item {
            Some(number) => lowering.item_value(number),
            None => lowering.formula(&output.node, OUTPUT, &output.entry.bindings),
        };
        formulas.extend(value.map(|value| (output.name.full.clone(), value.expr)));
    }
    let own = || open.iter().filter(|output| output.item.is_some());
    let missing = own().filter_map(|output| Some((output.name.base.clone(), output.missing.clone()?)));
    let absent = lowering.reader.absent.clone();
    lowering.reader.absent.extend(missing);
    events::lower(lowering, events);
    picture::lower(lowering, picture);
    lowering.reader.absent = absent;
    // no other formula may contain them
    for output in own() {
        lowering.reader.scope.forget(&output.name.base, &output.name.full);
    }
    formulas
}

/// Make an output a name; its number among the items.
fn declare(reader: &mut Reader, name: &Name, entry: &FormulaEntry, node: &Rc<Tree>) -> Option<usize> {
    let number = reader.scope.items.len();
    let declared = reader.scope.declare(&name.base, &name.indices, "an output", Symbol::Item(number), name.span);
    reader.told(declared)?;
    let (node, bindings) = (Rc::clone(node), entry.bindings.clone());
    reader.scope.items.push(Rc::new(NamedFormula { name: name.full.clone(), node, bindings, context: OUTPUT }));
    Some(number)
}

/// An output while it is looked at.
struct Open<'o> {
    name: &'o Name,
    entry: &'o FormulaEntry,
    node: Rc<Tree>,
    /// its number among the items, where other outputs may use it
    item: Option<usize>,
    /// why this mode cannot compute it
    missing: Option<Mistake>,
}

/// Which outputs this mode does not have: those with unknown names, and those that use such an output. Without modes unknown names are
/// mistakes where they stand.
fn leave_out(reader: &Reader, open: &mut [Open]) {
    if reader.mode.is_none() || reader.scope.incomplete {
        return;
    }
    let mut uses: Vec<HashSet<String>> = Vec::new();
    for output in open.iter_mut() {
        let (names, missing) = definitions::unknown(reader, &output.node, &output.entry.bindings);
        output.missing = missing;
        uses.push(names);
    }
    let mut absent: Vec<usize> = (0..open.len()).filter(|&k| open[k].missing.is_some()).collect();
    while let Some(k) = absent.pop() {
        let (name, mistake) = (open[k].name.base.clone(), open[k].missing.clone());
        for user in (0..open.len()).filter(|_| open[k].item.is_some()).collect::<Vec<_>>() {
            if open[user].missing.is_none() && uses[user].contains(&name) {
                open[user].missing.clone_from(&mistake);
                absent.push(user);
            }
        }
    }
}
