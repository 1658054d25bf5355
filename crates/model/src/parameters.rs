//! `[parameters]`: numbers, formulas of other parameters, and arrays of them; values set from outside replace them.

use crate::diagnostic::Mistake;
use crate::document::{self, Section, TomlItem};
use crate::entries;
use crate::formula::ast::{Term, Tree};
use crate::formula::parser;
use crate::index::Bindings;
use crate::names::{self, Symbol};
use crate::reader::{Origin, PARAMETER, Parameter, Reader};
use crate::source::Span;
use crate::suggestion::{enumerate, nearest};
use std::rc::Rc;
use toml::de::{DeTable, DeValue};

/// Declare all parameters.
///
/// `of_modes` are the names that modes have for themselves: mode, name.
pub(crate) fn read(
    reader: &mut Reader,
    section: Option<Section>,
    overrides: &[(String, f64)],
    of_modes: &[(String, String)],
) {
    reader.overrides = overrides.iter().map(|(name, value)| (name.replace(' ', ""), *value)).collect();
    if let Some(section) = section {
        declare(reader, section);
    }
    check_overrides(reader, of_modes);
}

/// Declare the parameters of a mode, those of all modes among them. Values from outside for this mode have its name and a dot before
/// theirs; where the mode has a value of its own, that of all modes is not looked at.
pub(crate) fn read_mode(
    reader: &mut Reader,
    section: Section,
    own: Option<&DeTable>,
    mode: &str,
    overrides: &[(String, f64)],
) {
    let base = |name: &str| name.split('[').next().unwrap_or(name).to_string();
    let is_own = |name: &str| own.is_some_and(|own| own.contains_key(base(name).as_str()));
    for (name, value) in overrides {
        let name = name.replace(' ', "");
        match name.strip_prefix(mode).and_then(|rest| rest.strip_prefix('.')) {
            Some(inner) if is_own(inner) => reader.overrides.insert(inner.to_string(), *value),
            None if !is_own(&name) => reader.overrides.insert(name, *value),
            _ => None,
        };
    }
    declare(reader, section);
    for (name, value) in reader.overrides.clone().into_iter().filter(|(name, _)| is_own(name)) {
        let known = reader.parameters.iter().any(|p| p.name == name);
        if known && value.is_finite() {
            continue;
        }
        let reason =
            if known { format!("{value} is not a finite number") } else { format!("mode `{mode}` has no such entry") };
        reader.mistake(Mistake::Override { name: format!("{mode}.{name}"), reason, help: None });
    }
}

/// Find the numbers of all parameters.
pub(crate) fn evaluate(reader: &mut Reader) {
    for k in 0..reader.parameters.len() {
        if reader.is_full() {
            break;
        }
        let value = reader.parameter(k);
        let Some(value) = reader.ok(value) else { continue };
        let Parameter { name, span, .. } = reader.parameters[k].clone();
        if value.is_finite() {
            reader.parameters[k].origin = Origin::Number(value);
        } else {
            reader.mistake(Mistake::NotFinite { what: format!("the parameter `{name}`"), value, at: span.into() });
        }
    }
}

fn declare(reader: &mut Reader, section: Section) {
    let mut ranges = Vec::new();
    for (key, value) in section.table {
        let text = document::key_text(reader, key);
        let Some(name) = reader.told(parser::key(&text)) else { continue };
        let span = Span::from(key.span());
        if !name.name.indices.is_empty() || !name.ranges.is_empty() || name.derivative {
            reader.mistake(Mistake::Syntax {
                message: format!("`{}` cannot be the name of a parameter", key.get_ref()),
                label: "a plain name is expected".into(),
                at: span.into(),
                help: Some("indexed parameters are arrays: m = [1.0, 2.0] gives m[1] and m[2]".into()),
            });
            continue;
        }
        if let DeValue::Array(items) = value.get_ref() {
            // arrays whose length depends on other parameters come last
            if has_ranges(items) {
                ranges.push((name.name.base, span, items));
            } else {
                array(reader, &name.name.base, span, items, &mut Vec::new());
            }
        } else if let Some(node) = document::formula(reader, value, &format!("the parameter `{}`", name.name.base)) {
            add(reader, &name.name.base, &[], span, node, Bindings::default(), value.span().into());
        }
    }
    for (base, span, items) in ranges {
        array(reader, &base, span, items, &mut Vec::new());
    }
}

fn has_ranges(items: &[TomlItem]) -> bool {
    items.iter().any(|item| match item.get_ref() {
        DeValue::Array(inner) => has_ranges(inner),
        DeValue::String(text) => text.contains("for"),
        _ => false,
    })
}

/// Entries m[1], m[2], … or P[1,1], P[1,2], ….
fn array(reader: &mut Reader, base: &str, span: Span, items: &[TomlItem], indices: &mut Vec<i64>) {
    if items.is_empty() && indices.is_empty() {
        reader.mistake(Mistake::WrongType {
            what: format!("the parameter `{base}`"),
            expected: "a number, a formula or a list of them".into(),
            found: "an empty list".into(),
            at: span.into(),
        });
        return;
    }
    if items.iter().any(|item| item.get_ref().is_array()) {
        for (k, item) in items.iter().enumerate() {
            let DeValue::Array(inner) = item.get_ref() else {
                reader.mistake(document::wrong_type(&format!("row {} of `{base}`", k + 1), "a list", item));
                continue;
            };
            indices.push(k as i64 + 1);
            array(reader, base, span, inner, indices);
            indices.pop();
        }
        return;
    }
    let (entries, _) = entries::list(reader, items, &format!("an entry of `{base}`"));
    for (k, entry) in entries.into_iter().enumerate() {
        let Some(node) = reader.told(entry.node()) else { continue };
        indices.push(k as i64 + 1);
        add(reader, base, indices, span, node, entry.bindings, entry.span);
        indices.pop();
    }
}

fn add(reader: &mut Reader, base: &str, indices: &[i64], span: Span, node: Rc<Tree>, bindings: Bindings, place: Span) {
    let number = reader.parameters.len();
    let declared = reader.scope.declare(base, indices, "a parameter", Symbol::Parameter(number), span);
    if reader.told(declared).is_none() {
        return;
    }
    let name = crate::formula::evaluate::indexed(base, indices);
    let origin = match (reader.overrides.get(&name).filter(|x| x.is_finite()), &node.kind) {
        (Some(x), _) | (None, Term::Number(x)) => Origin::Number(*x),
        _ => {
            reader.scope.items.push(Rc::new(names::NamedFormula {
                name: name.clone(),
                node,
                bindings,
                context: PARAMETER,
            }));
            Origin::Formula(reader.scope.items.len() - 1)
        }
    };
    reader.parameters.push(Parameter { name, origin, span: place });
}

/// Values from outside win; they must be numbers of parameters that exist.
fn check_overrides(reader: &mut Reader, of_modes: &[(String, String)]) {
    let mut names: Vec<(String, f64)> = reader.overrides.iter().map(|(name, value)| (name.clone(), *value)).collect();
    names.sort_by(|a, b| a.0.cmp(&b.0));
    for (name, value) in names {
        let known = || reader.parameters.iter().map(|p| p.name.as_str());
        let base = name.split('[').next().unwrap_or(&name);
        if of_modes.iter().any(|(mode, own)| base.strip_prefix(mode.as_str()) == Some(&format!(".{own}"))) {
            // it is looked at again where the mode is read
            continue;
        }
        let in_modes = || of_modes.iter().filter(|(_, own)| own == base).map(|(mode, own)| format!("{mode}.{own}"));
        let (reason, help) = if known().any(|p| p == name) {
            if value.is_finite() {
                continue;
            }
            (format!("{value} is not a finite number"), None)
        } else if known().any(|p| p.starts_with(&format!("{name}["))) {
            let entries = known().filter(|p| p.starts_with(&format!("{name}[")));
            ("it is a list".to_string(), Some(format!("set its entries: {}", enumerate(entries))))
        } else if in_modes().next().is_some() {
            let all: Vec<String> = in_modes().collect();
            let help = format!("set {}", enumerate(all.iter().map(String::as_str)));
            ("modes have numbers of their own for it".to_string(), Some(help))
        } else {
            let of_modes: Vec<String> = of_modes.iter().map(|(mode, own)| format!("{mode}.{own}")).collect();
            let near = nearest(&name, known().chain(of_modes.iter().map(String::as_str)));
            let help = match (near, reader.parameters.is_empty()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, false) => format!("the parameters are {}", enumerate(known())),
                (None, true) => "it has no parameters".to_string(),
            };
            ("the model has no such parameter".to_string(), Some(help))
        };
        reader.mistake(Mistake::Override { name, reason, help });
    }
}
