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
        let number = reader.scope.items.len();
        let declared = reader.scope.declare(&name.base, &name.indices, "a definition", Symbol::Item(number), name.span);
        let node = entry.node();
        if let (Some(()), Some(node)) = (reader.told(declared), reader.told(node)) {
            let item = Item { name: name.full, node, bindings: entry.bindings, context: DEFINITION };
            reader.scope.items.push(Rc::new(item));
            numbers.push(number);
        }
    }
    numbers
}
