//! `[output]`: further quantities that are wanted along the motion.

use crate::definitions;
use crate::diagnostic::Mistake;
use crate::document::Section;
use crate::entries::{self, Entry, Name};
use crate::formula::ast::Node;
use crate::lower::Lowering;
use crate::names::{Classes, Context, Symbol};
use crate::reader::Reader;
use daedal::graph::Expr;

const OUTPUT: Context =
    Context { place: "an output", allowed: Classes::EVERYTHING, help: "outputs may contain everything" };

/// Read the outputs; their names must not be those of variables.
pub(crate) fn read(reader: &mut Reader, section: Option<Section>) -> Vec<(Name, Entry)> {
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
pub(crate) fn lower(lowering: &mut Lowering, outputs: &[(Name, Entry)]) -> Vec<(String, Expr)> {
    let mut formulas = Vec::new();
    for (name, entry) in outputs {
        let node = entry.node();
        let Some(node) = lowering.reader.told(node) else { continue };
        if let Some(missing) = missing(lowering, &node, entry) {
            lowering.reader.note_formula(node.span, Some(missing));
            continue;
        }
        lowering.reader.note_formula(node.span, None);
        if let Some(value) = lowering.formula(&node, OUTPUT, &entry.bindings) {
            formulas.push((name.full.clone(), value.expr));
        }
    }
    formulas
}

fn missing(lowering: &Lowering, node: &Node, entry: &Entry) -> Option<Mistake> {
    let reader = &*lowering.reader;
    if reader.mode.is_none() || reader.scope.incomplete {
        return None;
    }
    definitions::unknown(reader, node, &entry.bindings).1
}
