//! Parameters and definitions that nothing uses: a slip of the pen, or what is left of an older equation.
//!
//! A name is used where it stands in any formula of the file, or in the index range of a key; that a formula is itself not used does not
//! matter. So nothing is called unused that has an influence.

use crate::reader::Reader;
use std::collections::HashSet;
use std::fmt;
use toml::de::{DeTable, DeValue};

/// A name that nothing uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// "parameter" or "definition".
    pub what: &'static str,
    /// The name.
    pub name: String,
    /// Its line in the file, from 1.
    pub line: usize,
}

impl fmt::Display for Unused {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "the {} `{}` (line {}) is not used in any formula", self.what, self.name, self.line)
    }
}

/// Tables whose keys declare names.
const DECLARING: [(&str, &str); 2] = [("parameters", "parameter"), ("definitions", "definition")];
/// Keys of [model] whose values are text for people.
const TEXTS: [&str; 3] = ["name", "description", "source"];

/// All of them, in the order of the file.
pub(crate) fn find(reader: &Reader, root: &DeTable) -> Vec<Unused> {
    let mut found = UsedWords { reader, declared: Vec::new(), used: HashSet::new() };
    for (key, value) in root {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("model", DeValue::Table(table)) => {
                let rest = table.iter().filter(|(key, _)| !TEXTS.contains(&key.get_ref().as_ref()));
                rest.for_each(|(_, value)| found.value(value.get_ref()));
            }
            ("modes", DeValue::Table(modes)) => {
                for (_, mode) in modes {
                    found.declaring_or_not(mode.get_ref());
                }
            }
            (name, value) => found.section(name, value),
        }
    }
    let UsedWords { declared, used, .. } = found;
    let mut unused: Vec<Unused> = declared.into_iter().filter(|unused| !used.contains(&unused.name)).collect();
    unused.sort_by_key(|unused| unused.line);
    unused.dedup();
    unused
}

struct UsedWords<'r, 'f> {
    reader: &'r Reader<'f>,
    declared: Vec<Unused>,
    used: HashSet<String>,
}

impl UsedWords<'_, '_> {
    /// A section, or a table of that name in a mode.
    fn section(&mut self, name: &str, value: &DeValue) {
        match (DECLARING.iter().find(|(section, _)| *section == name), value) {
            (Some((_, what)), DeValue::Table(table)) => {
                for (key, value) in table {
                    let mut words = words(key.get_ref());
                    if let Some(name) = words.next() {
                        let line = self.reader.line(key.span().into());
                        self.declared.push(Unused { what, name: name.to_string(), line });
                    }
                    // the bounds of its index range
                    self.used.extend(words.map(str::to_string));
                    self.value(value.get_ref());
                }
            }
            _ => self.value(value),
        }
    }

    /// A mode: some of its tables declare names.
    fn declaring_or_not(&mut self, mode: &DeValue) {
        if let DeValue::Table(table) = mode {
            table.iter().for_each(|(key, value)| self.section(key.get_ref(), value.get_ref()));
        }
    }

    fn value(&mut self, value: &DeValue) {
        match value {
            DeValue::String(text) => self.used.extend(words(text).map(str::to_string)),
            DeValue::Array(items) => items.iter().for_each(|item| self.value(item.get_ref())),
            DeValue::Table(table) => {
                for (key, value) in table {
                    self.used.extend(words(key.get_ref()).map(str::to_string));
                    self.value(value.get_ref());
                }
            }
            _ => {}
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.starts_with(|c: char| !c.is_numeric()))
}
