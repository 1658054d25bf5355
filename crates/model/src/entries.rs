//! Lists and tables of formulas, with their index ranges expanded.

use crate::diagnostic::Mistake;
use crate::document::{self, KeyText, TomlItem};
use crate::formula::ast::{RepeatedEntries, Term, Tree, WrittenEquation};
use crate::formula::evaluate::{Stop, full_name};
use crate::formula::parser;
use crate::index::{Bindings, each};
use crate::reader::Reader;
use crate::source::Span;
use std::fmt;
use std::rc::Rc;
use toml::de::{DeTable, DeValue};

/// A formula as its author wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The formula.
    pub formula: String,
    /// The values of its indices, where it was made by an index range.
    pub indices: Vec<(String, i64)>,
    /// Its line in the file, from 1.
    pub line: usize,
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.formula)?;
        for (k, (index, value)) in self.indices.iter().enumerate() {
            write!(f, "{}{index} = {value}", if k == 0 { "  with " } else { ", " })?;
        }
        Ok(())
    }
}

/// One formula of a list or table.
#[derive(Clone, Debug)]
pub(crate) struct FormulaEntry {
    pub equation: Rc<WrittenEquation>,
    pub bindings: Bindings,
    pub span: Span,
    text: Rc<str>,
    line: usize,
}

impl FormulaEntry {
    pub fn written(&self) -> Written {
        Written {
            formula: self.text.to_string(),
            indices: self.bindings.0.iter().map(|(name, i)| (name.to_string(), *i)).collect(),
            line: self.line,
        }
    }

    /// The formula of an entry that is not an equation.
    pub fn node(&self) -> Result<Rc<Tree>, Mistake> {
        match &self.equation.right {
            None => Ok(Rc::clone(&self.equation.left)),
            Some(right) => Err(Mistake::Syntax {
                message: "an equation is not allowed here".into(),
                label: "right side of an equation".into(),
                at: right.span.into(),
                help: Some("write a formula for one value".into()),
            }),
        }
    }
}

/// A name, expanded.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub base: String,
    pub indices: Vec<i64>,
    pub full: String,
    pub span: Span,
    /// Order of the derivative, if it is one.
    pub derivative: u32,
}

impl Name {
    /// How the unknown is called that is this variable, or this derivative of it.
    pub fn unknown(&self) -> String {
        format!("{}{}", self.full, "'".repeat(self.derivative as usize))
    }
}

/// The entries of a list of formulas, and whether all of them could be read.
pub(crate) fn list(reader: &mut Reader, items: &[TomlItem], what: &str) -> (Vec<FormulaEntry>, bool) {
    let mut entries = Vec::new();
    let (before, mut complete) = (reader.count(), true);
    for item in items {
        if reader.is_full() {
            break;
        }
        let Some(read) = read_entries(reader, item, what) else { continue };
        let text: Rc<str> = document::written(reader, item).into();
        let line = reader.line(item.span().into());
        let equations: Vec<Rc<WrittenEquation>> = read.entries.into_iter().map(Rc::new).collect();
        let result = each(&read.ranges, reader, &mut Bindings::default(), &mut |_, bindings| {
            for equation in &equations {
                let span = equation.left.span.to(equation.right.as_ref().map_or(equation.left.span, |r| r.span));
                entries.push(FormulaEntry {
                    equation: equation.clone(),
                    bindings: bindings.clone(),
                    span,
                    text: text.clone(),
                    line,
                });
            }
            Ok(())
        });
        complete &= reader.ok(result).is_some();
    }
    (entries, complete && reader.count() == before)
}

fn read_entries(reader: &mut Reader, item: &TomlItem, what: &str) -> Option<RepeatedEntries> {
    match document::text(reader, item) {
        Some(text) => {
            let parsed = parser::entries(&text);
            let known = |read: &RepeatedEntries| read.entries.iter().try_for_each(|e| reader.with_known_tables(e));
            let parsed = parsed.and_then(|read| known(&read).map(|()| read));
            reader.told(parsed)
        }
        None => {
            let left = document::number_node(reader, item, what, "a formula or a number")?;
            Some(RepeatedEntries {
                entries: vec![WrittenEquation { left: Rc::new(left), right: None }],
                ranges: vec![],
            })
        }
    }
}

/// The names of a list, and whether all of them could be read.
pub(crate) fn names(reader: &mut Reader, value: &TomlItem, what: &str) -> (Vec<Name>, bool) {
    let DeValue::Array(items) = value.get_ref() else {
        reader.mistake(document::wrong_type(&format!("`{what}`"), "a list of names", value));
        return (Vec::new(), false);
    };
    let mut names = Vec::new();
    let (before, mut complete) = (reader.count(), true);
    for item in items {
        if reader.is_full() {
            break;
        }
        let Some(text) = document::text(reader, item) else {
            reader.mistake(document::wrong_type(&format!("an entry of `{what}`"), "a name", item));
            continue;
        };
        let Some((references, ranges)) = reader.told(parser::names(&text)) else { continue };
        let result = each(&ranges, reader, &mut Bindings::default(), &mut |reader, bindings| {
            for reference in &references {
                names.push(name(reader, reference, 0, bindings)?);
            }
            Ok(())
        });
        complete &= reader.ok(result).is_some();
    }
    (names, complete && reader.count() == before)
}

pub(crate) fn name(
    reader: &mut Reader,
    reference: &crate::formula::ast::NameUse,
    derivative: u32,
    bindings: &mut Bindings,
) -> Result<Name, Stop> {
    let full = full_name(reference, reader, bindings)?.into_owned();
    let inner = full.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(inner, _)| inner);
    let indices = inner.split(',').filter_map(|i| i.parse().ok()).collect();
    Ok(Name { base: reference.base.clone(), indices, full, span: reference.span, derivative })
}

/// The keys of a table with their index ranges expanded: `visit(reader, name, bindings, value)`.
#[allow(clippy::type_complexity)] // a function, written out where it is called
pub(crate) fn keys<'t, 'i>(
    reader: &mut Reader,
    key: &KeyText,
    value: &'t TomlItem<'i>,
    visit: &mut dyn FnMut(&mut Reader, Name, &Bindings, &'t TomlItem<'i>) -> Result<(), Stop>,
) {
    let text = document::key_text(reader, key);
    let Some(key) = reader.told(parser::key(&text)) else { return };
    let result = each(&key.ranges, reader, &mut Bindings::default(), &mut |reader, bindings| {
        let order = match &key.order {
            _ if !key.derivative => 0,
            None => 1,
            Some(Tree { kind: Term::Number(k), .. }) if *k >= 1.0 && *k <= 9.0 && k.fract() == 0.0 => *k as u32,
            Some(node) => {
                return Err(Mistake::Syntax {
                    message: "the order of a derivative is a number between 1 and 9".into(),
                    label: "this order".into(),
                    at: node.span.into(),
                    help: None,
                }
                .into());
            }
        };
        let name = name(reader, &key.name, order, bindings)?;
        visit(reader, name, &bindings.clone(), value)
    });
    reader.ok(result);
}

/// The formulas of a table by name, as far as they can be read.
pub(crate) fn table(reader: &mut Reader, table: &DeTable, what: &str) -> Vec<(Name, FormulaEntry)> {
    let mut entries: Vec<(Name, FormulaEntry)> = Vec::new();
    for (key, value) in table {
        if reader.is_full() {
            break;
        }
        let Some(equation) = document::equation(reader, value, &format!("{what} `{}`", key.get_ref())) else {
            continue;
        };
        let (equation, text) = (Rc::new(equation), Rc::from(document::written(reader, value)));
        let line = reader.line(value.span().into());
        keys(reader, key, value, &mut |_, name, bindings, value| {
            if name.derivative > 0 {
                return Err(Mistake::Syntax {
                    message: format!("der({}) cannot be the name of {what}", name.full),
                    label: "a derivative".into(),
                    at: name.span.into(),
                    help: None,
                }
                .into());
            }
            let (equation, text) = (Rc::clone(&equation), Rc::clone(&text));
            entries.push((
                name,
                FormulaEntry { equation, bindings: bindings.clone(), span: Span::from(value.span()), text, line },
            ));
            Ok(())
        });
    }
    // the same name twice in this table
    let mut first: std::collections::HashMap<&str, Span> = std::collections::HashMap::new();
    let mut twice = Vec::new();
    for (name, _) in &entries {
        if let Some(before) = first.insert(&name.full, name.span) {
            let before = (before != name.span).then(|| before.into());
            twice.push(Mistake::Duplicate {
                help: None,
                name: name.full.clone(),
                what: what.into(),
                first: before,
                at: name.span.into(),
            });
        }
    }
    for mistake in twice {
        reader.mistake(mistake);
    }
    entries
}
