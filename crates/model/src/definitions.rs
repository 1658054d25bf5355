//! `[definitions]`: parts of formulas with names.

use crate::document::Section;
use crate::entries;
use crate::lower::DEFINITION;
use crate::names::{Item, Symbol};
use crate::reader::Reader;

/// Declare all definitions; gives the numbers of their items.
pub(crate) fn declare(reader: &mut Reader, section: Option<Section>) -> Vec<usize> {
    let mut numbers = Vec::new();
    let Some(section) = section else { return numbers };
    for (name, entry) in entries::table(reader, section.table, "the definition") {
        let number = reader.scope.items.len();
        let declared = reader.scope.declare(&name.base, &name.indices, "a definition", Symbol::Item(number), name.span);
        let node = entry.node();
        if let (Some(()), Some(node)) = (reader.told(declared), reader.told(node)) {
            reader.scope.items.push(Item { name: name.full, node, bindings: entry.bindings, context: DEFINITION });
            numbers.push(number);
        }
    }
    numbers
}
