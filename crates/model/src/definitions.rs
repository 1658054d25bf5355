//! `[definitions]`: parts of formulas with names.

use crate::document::Section;
use crate::entries;
use crate::lower::DEFINITION;
use crate::names::{Item, Symbol};
use crate::reader::Reader;
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
            let item = Item { name: name.full, node, bindings: entry.bindings, context: DEFINITION };
            reader.scope.items.push(Rc::new(item));
            numbers.push(number);
        }
    }
    numbers
}
