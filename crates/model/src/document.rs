//! Sections, keys and values of a TOML file, with their places.

use crate::diagnostic::Mistake;
use crate::formula::ast::{Term, Tree, WrittenEquation};
use crate::formula::parser;
use crate::reader::Reader;
use crate::source::{DecodedText, Span};
use crate::suggestion::help;
use std::rc::Rc;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// A value with its place.
pub(crate) type TomlItem<'i> = Spanned<DeValue<'i>>;
/// A key with its place.
pub(crate) type KeyText<'i> = Spanned<DeString<'i>>;

/// A table of the file.
#[derive(Clone, Copy)]
pub(crate) struct Section<'t, 'i> {
    /// "[motion]"
    pub title: &'t str,
    /// Its name in the file.
    pub span: Span,
    pub table: &'t DeTable<'i>,
}

impl<'t, 'i> Section<'t, 'i> {
    /// The section of this name, if it is there and a table.
    pub fn find(
        reader: &mut Reader,
        root: &'t DeTable<'i>,
        name: &'static str,
        title: &'static str,
    ) -> Option<Section<'t, 'i>> {
        let (key, value) = root.get_key_value(name)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(Section { title, span: key.span().into(), table }),
            _ => {
                reader.mistake(wrong_type(&format!("`{name}`"), &format!("a section {title}"), value));
                None
            }
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&'t TomlItem<'i>> {
        self.table.get(key)
    }

    /// Keys that this section does not have are mistakes.
    pub fn check_keys(&self, reader: &mut Reader, known: &[&str]) {
        for (key, _) in self.table {
            let name = key.get_ref().as_ref();
            if known.contains(&name) {
                continue;
            }
            let help = help(name, known.iter().copied(), &format!("the keys of {} are", self.title));
            let at = Span::from(key.span()).into();
            reader.mistake(Mistake::UnknownKey { key: name.into(), section: self.title.into(), at, help });
        }
    }

    /// The text of a key that must be a string.
    pub fn string(&self, reader: &mut Reader, key: &str) -> Option<String> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            _ => {
                reader.mistake(wrong_type(&format!("`{key}`"), "a string", value));
                None
            }
        }
    }

    /// A truth value.
    pub fn truth(&self, reader: &mut Reader, key: &str) -> Option<bool> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::Boolean(truth) => Some(*truth),
            _ => {
                reader.mistake(wrong_type(&format!("`{key}`"), "true or false", value));
                None
            }
        }
    }

    /// A subtable.
    pub fn table(&self, reader: &mut Reader, key: &'static str) -> Option<&'t DeTable<'i>> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => {
                reader.mistake(wrong_type(&format!("`{key}`"), "a table { name = \"formula\", … }", value));
                None
            }
        }
    }
}

/// The mistake of a value of the wrong kind.
pub(crate) fn wrong_type(what: &str, expected: &str, value: &TomlItem) -> Mistake {
    let found = match value.get_ref() {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    };
    Mistake::WrongType {
        what: what.into(),
        expected: expected.into(),
        found: found.into(),
        at: Span::from(value.span()).into(),
    }
}

/// The number of a TOML integer or float.
pub(crate) fn number(value: &TomlItem) -> Option<f64> {
    match value.get_ref() {
        DeValue::Float(x) => x.as_str().parse().ok(),
        DeValue::Integer(n) if n.radix() == 10 => n.as_str().parse().ok(),
        DeValue::Integer(n) => i128::from_str_radix(n.as_str(), n.radix()).ok().map(|n| n as f64),
        _ => None,
    }
}

/// A number that must be positive.
pub(crate) fn positive(reader: &mut Reader, section: Section, key: &str) -> Option<f64> {
    let item = section.get(key)?;
    let node = number_node(reader, item, &format!("`{key}`"), "a number")?;
    let Term::Number(value) = node.kind else { return None };
    if value <= 0.0 {
        reader.mistake(Mistake::NotPositive { what: format!("`{key}`"), value, at: node.span.into() });
        return None;
    }
    Some(value)
}

/// A positive number below one.
pub(crate) fn part(reader: &mut Reader, section: Section, key: &str) -> Option<f64> {
    let value = positive(reader, section, key)?;
    if value >= 1.0 {
        let at = Span::from(section.get(key)?.span()).into();
        reader.mistake(Mistake::NotPart { what: format!("`{key}`"), value, at });
        return None;
    }
    Some(value)
}

/// The decoded text of a string value.
pub(crate) fn text(reader: &Reader, value: &TomlItem) -> Option<DecodedText> {
    match value.get_ref() {
        DeValue::String(s) => Some(DecodedText::new(reader.file, value.span().into(), s)),
        _ => None,
    }
}

/// The decoded text of a key.
pub(crate) fn key_text(reader: &Reader, key: &KeyText) -> DecodedText {
    DecodedText::new(reader.file, key.span().into(), key.get_ref())
}

/// A formula or a number.
pub(crate) fn formula(reader: &mut Reader, value: &TomlItem, what: &str) -> Option<Rc<Tree>> {
    let equation = read(reader, value, what, |text| {
        parser::formula(text).map(|left| WrittenEquation { left: Rc::new(left), right: None })
    })?;
    Some(equation.left)
}

/// A residual, an equation or a number.
pub(crate) fn equation(reader: &mut Reader, value: &TomlItem, what: &str) -> Option<WrittenEquation> {
    read(reader, value, what, parser::equation)
}

fn read(
    reader: &mut Reader,
    value: &TomlItem,
    what: &str,
    parse: impl Fn(&DecodedText) -> Result<WrittenEquation, Mistake>,
) -> Option<WrittenEquation> {
    if let Some(text) = text(reader, value) {
        let parsed = parse(&text).and_then(|equation| reader.with_known_tables(&equation).map(|()| equation));
        return reader.told(parsed);
    }
    let left = number_node(reader, value, what, "a formula or a number")?;
    Some(WrittenEquation { left: Rc::new(left), right: None })
}

/// A number as a formula; it must be finite.
pub(crate) fn number_node(reader: &mut Reader, value: &TomlItem, what: &str, expected: &str) -> Option<Tree> {
    let span = Span::from(value.span());
    let Some(x) = number(value) else {
        reader.mistake(wrong_type(what, expected, value));
        return None;
    };
    if !x.is_finite() {
        reader.mistake(Mistake::NotFinite { what: what.into(), value: x, at: span.into() });
        return None;
    }
    Some(Tree { kind: Term::Number(x), span })
}

/// What a value looks like in the file, for reports.
pub(crate) fn written(reader: &Reader, value: &TomlItem) -> String {
    match value.get_ref() {
        DeValue::String(s) => s.to_string(),
        _ => reader.file.get(value.span()).unwrap_or_default().to_string(),
    }
}
