//! `[tables]`: functions that are given by points, smooth between them.

use crate::columns;
use crate::diagnostic::Mistake;
use crate::document::{self, Section, TomlItem, wrong_type};
use crate::names::Symbol;
use crate::reader::Reader;
use crate::source::Span;
use crate::spline::{SMOOTHNESS, Spline};
use crate::suggestion::enumerate;
use std::fs;
use std::rc::Rc;
use toml::de::DeValue;

/// Most points of one table.
const MOST_POINTS: usize = 1000;
/// Continuous derivatives unless it is said otherwise.
const USUAL: usize = 2;

/// A function that is given by points.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub name: String,
    pub spline: Spline,
    /// Number of continuous derivatives.
    pub smoothness: usize,
    /// Its name in the file.
    pub span: Span,
}

/// A table of time, and the interval it covers.
#[derive(Clone, Debug, PartialEq)]
pub struct TableOfTime {
    /// Its name.
    pub name: String,
    /// First point.
    pub from: f64,
    /// Last point.
    pub to: f64,
}

/// Read all tables and declare their names.
pub(crate) fn read(reader: &mut Reader, section: Option<Section>) {
    let Some(section) = section else { return };
    let mut tables = Vec::new();
    for (key, value) in section.table {
        let (name, span) = (key.get_ref().to_string(), Span::from(key.span()));
        let DeValue::Table(table) = value.get_ref() else {
            reader.mistake(wrong_type(
                &format!("the table `{name}`"),
                "a section [tables.NAME] with `points` or `file`",
                value,
            ));
            reader.tables_incomplete = true;
            continue;
        };
        let valid =
            name.starts_with(|c: char| c.is_alphabetic()) && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !valid {
            reader.mistake(Mistake::Syntax {
                message: format!("`{name}` cannot be the name of a table"),
                label: "this name".into(),
                at: span.into(),
                help: Some("a name has letters, digits and _, and begins with a letter".into()),
            });
            reader.tables_incomplete = true;
            continue;
        }
        let title = format!("[tables.{name}]");
        if let Some((spline, smoothness)) = one(reader, Section { title: &title, span, table }) {
            tables.push(Table { name, spline, smoothness, span });
        } else {
            reader.tables_incomplete = true;
        }
    }
    reader.tables = Rc::new(tables);
    declare(reader);
}

/// Give the names of all tables their meaning.
pub(crate) fn declare(reader: &mut Reader) {
    let tables = Rc::clone(&reader.tables);
    for (k, table) in tables.iter().enumerate() {
        let declared = reader.scope.declare(&table.name, &[], "a table", Symbol::Table(k), table.span);
        reader.told(declared);
    }
}

fn one(reader: &mut Reader, section: Section) -> Option<(Spline, usize)> {
    section.check_keys(reader, &["points", "file", "argument", "value", "smoothness"]);
    let smoothness = match section.get("smoothness") {
        None => USUAL,
        Some(item) => {
            match document::number(item).filter(|k| SMOOTHNESS.iter().any(|(known, _)| *known as f64 == *k)) {
                Some(k) => k as usize,
                None => {
                    let known = enumerate(SMOOTHNESS.map(|(k, _)| k.to_string()).iter().map(String::as_str));
                    reader.mistake(wrong(
                        item,
                        "`smoothness` is the number of continuous derivatives",
                        &format!("it is one of {known}"),
                    ));
                    return None;
                }
            }
        }
    };
    let (item, points) = match (section.get("points"), section.get("file")) {
        (Some(item), None) => {
            for key in ["argument", "value"] {
                if let Some(item) = section.get(key) {
                    reader.mistake(wrong(item, &format!("`{key}` is the name of a column"), "it belongs to `file`"));
                    return None;
                }
            }
            (item, points(reader, item)?)
        }
        (None, Some(item)) => (item, of_file(reader, section, item)?),
        (Some(_), Some(item)) => {
            reader.mistake(wrong(item, "the points stand in this file or in another", "remove `points` or `file`"));
            return None;
        }
        (None, None) => {
            reader.mistake(Mistake::Missing {
                what: format!("the key `points` or `file` of {}", section.title),
                at: section.span.into(),
                label: "in this section".into(),
                help: "write points = [[0, 1.5], [0.5, 2], …] with arguments and values, or file = \"data.csv\"".into(),
            });
            return None;
        }
    };
    let fewest = SMOOTHNESS.iter().find(|(k, _)| *k == smoothness).map_or(2, |(_, fewest)| *fewest);
    if points.len() < fewest || points.len() > MOST_POINTS {
        reader.mistake(Mistake::Count {
            message: format!(
                "a table with {smoothness} continuous derivatives has between {fewest} and {MOST_POINTS} points"
            ),
            at: Span::from(item.span()).into(),
            found: points.len(),
            help: None,
        });
        return None;
    }
    Some((Spline::new(&points, smoothness), smoothness))
}

/// Points from a file beside the model.
fn of_file(reader: &mut Reader, section: Section, item: &TomlItem) -> Option<Vec<(f64, f64)>> {
    let path = section.string(reader, "file")?;
    // a name that is no string has been told
    let mut column = |key: &str| match section.get(key) {
        Some(_) => section.string(reader, key).map(Some),
        None => Some(None),
    };
    let (argument, value) = (column("argument")?, column("value")?);
    let Some(folder) = reader.folder.clone() else {
        let help = "read the model from a file, whose folder is where the table is looked for, or write `points`";
        reader.mistake(wrong(item, "this model is a text without a folder", help));
        return None;
    };
    let text = match fs::read(folder.join(&path)).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(_)) => {
            reader.mistake(wrong(
                item,
                &format!("`{path}` is not a text in UTF-8"),
                "write it with commas between numbers",
            ));
            return None;
        }
        Err(cause) => {
            let help = format!("it is looked for in the folder of the model file, {}", folder.display());
            reader.mistake(wrong(item, &format!("cannot read `{path}`: {cause}"), &help));
            return None;
        }
    };
    match columns::points(&text, argument.as_deref(), value.as_deref()) {
        Ok(points) => Some(points),
        Err(what) => {
            reader.mistake(wrong(
                item,
                &format!("`{path}`: {what}"),
                "columns of numbers with names in the first line",
            ));
            None
        }
    }
}

fn points(reader: &mut Reader, item: &TomlItem) -> Option<Vec<(f64, f64)>> {
    let DeValue::Array(items) = item.get_ref() else {
        reader.mistake(wrong_type("`points`", "a list [[x, y], …]", item));
        return None;
    };
    let mut points: Vec<(f64, f64)> = Vec::with_capacity(items.len());
    for item in items {
        let pair = item.get_ref().as_array().filter(|pair| pair.len() == 2);
        let numbers = pair.and_then(|pair| Some((document::number(&pair[0])?, document::number(&pair[1])?)));
        let Some((x, y)) = numbers.filter(|(x, y)| x.is_finite() && y.is_finite()) else {
            reader.mistake(wrong(item, "a point of a table is a pair of numbers", "write [x, y]"));
            return None;
        };
        if points.last().is_some_and(|(last, _)| *last >= x) {
            reader.mistake(wrong(item, "the arguments of a table rise", "this one is not above the one before"));
            return None;
        }
        points.push((x, y));
    }
    Some(points)
}

fn wrong(item: &TomlItem, message: &str, help: &str) -> Mistake {
    Mistake::Syntax {
        message: message.into(),
        label: "here".into(),
        at: Span::from(item.span()).into(),
        help: Some(help.into()),
    }
}

/// Tables of time that do not cover the interval of the model are mistakes; all of them are told to whoever runs it.
pub(crate) fn of_time(reader: &mut Reader, interval: Option<(f64, f64)>) -> Vec<TableOfTime> {
    let tables = Rc::clone(&reader.tables);
    let mut found = Vec::new();
    for (k, table) in tables.iter().enumerate() {
        if !reader.tables_of_time.contains(&k) {
            continue;
        }
        let (from, to) = table.spline.range();
        if let Some((t0, tend)) = interval.filter(|(t0, tend)| *t0 < from || *tend > to) {
            reader.mistake(Mistake::Syntax {
                message: format!(
                    "the table `{}` covers {from:?} to {to:?}, the interval of the model is {t0:?} to {tend:?}",
                    table.name
                ),
                label: "too short".into(),
                at: table.span.into(),
                help: Some("add points, or change `time` in [model]".into()),
            });
        }
        found.push(TableOfTime { name: table.name.clone(), from, to });
    }
    found
}
