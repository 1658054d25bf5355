//! Tables that stand once and are repeated: `[[bodies]]`, `[[joints]]`, `[[forces]]` with `for = "i in 1..N"`.
//!
//! Formulas are parsed once for each place of the file, and evaluated for each entry. Numbers of the drawing decide what the equations look like:
//! parameters in them are structural.

use super::objects::{Object, Objects};
use crate::diagnostic::Mistake;
use crate::document::{self, Section, TomlItem, wrong_type};
use crate::entries::{self, Name};
use crate::formula::ast::{NameUse, Range, Term, Tree};
use crate::formula::evaluate::{Stop, Truth, decide, full_name};
use crate::formula::parser;
use crate::index::{Bindings, each};
use crate::model::NUMBER;
use crate::names::Context;
use crate::reader::Reader;
use crate::source::Span;
use crate::suggestion::{enumerate, nearest};
use daedal_multibody::vector::Vector;
use daedal_multibody::{BodyId, GROUND};
use std::collections::HashMap;
use std::rc::Rc;
use toml::de::{DeTable, DeValue};

/// One table of a list, with what was parsed of it.
pub(super) struct Template<'t, 'i> {
    pub section: Section<'t, 'i>,
    ranges: Vec<Range>,
    name: Option<NameUse>,
    parsed: HashMap<Span, Rc<Tree>>,
}

/// All tables of a list.
pub(super) fn tables<'t, 'i>(
    reader: &mut Reader,
    root: &'t DeTable<'i>,
    key: &str,
    title: &'static str,
) -> Vec<Template<'t, 'i>> {
    let Some(value) = root.get(key) else { return Vec::new() };
    let DeValue::Array(items) = value.get_ref() else {
        reader.mistake(wrong_type(&format!("`{key}`"), &format!("a list of tables {title}"), value));
        return Vec::new();
    };
    let mut templates = Vec::new();
    for item in items {
        let DeValue::Table(table) = item.get_ref() else {
            reader.mistake(wrong_type(&format!("an entry of `{key}`"), &format!("a table {title}"), item));
            continue;
        };
        // the first line of the table stands for all of it
        let span = Span::from(item.span());
        let first =
            reader.file.get(span.start..span.end).and_then(|text| text.find('\n')).unwrap_or(span.end - span.start);
        let section = Section { title, span: Span { start: span.start, end: span.start + first }, table };
        templates.push(Template::new(reader, section));
    }
    templates
}

impl<'t, 'i> Template<'t, 'i> {
    fn new(reader: &mut Reader, section: Section<'t, 'i>) -> Self {
        let mut template = Template { section, ranges: Vec::new(), name: None, parsed: HashMap::new() };
        if let Some(value) = section.get("for") {
            match document::text(reader, value) {
                Some(text) => template.ranges = reader.told(parser::index_ranges(&text)).unwrap_or_default(),
                None => reader.mistake(wrong_type("`for`", "an index range \"i in 1..N\"", value)),
            }
        }
        if let Some(value) = section.get("name") {
            match document::text(reader, value) {
                Some(text) => {
                    let names = reader.told(parser::names(&text));
                    template.name = names.and_then(|(mut names, _)| names.pop());
                }
                None => reader.mistake(wrong_type("`name`", "a string", value)),
            }
        }
        template
    }

    /// A section that is not repeated.
    pub fn alone(section: Section<'t, 'i>) -> Self {
        Template { section, ranges: Vec::new(), name: None, parsed: HashMap::new() }
    }

    /// The place of a key, or of the table.
    pub fn at(&self, key: &str) -> Span {
        self.section.get(key).map_or(self.section.span, |item| item.span().into())
    }

    /// A key that must be there.
    pub fn missing(&self, reader: &mut Reader, key: &str, help: &str) {
        reader.mistake(Mistake::Missing {
            what: format!("the key `{key}` of {}", self.section.title),
            at: self.section.span.into(),
            label: "in this table".into(),
            help: help.into(),
        });
    }

    /// Call for each entry of its index ranges, with its name.
    pub fn each(
        &mut self,
        reader: &mut Reader,
        otherwise: &str,
        visit: &mut dyn FnMut(&mut Self, &mut Reader, Name, &Bindings),
    ) {
        let (ranges, name) = (std::mem::take(&mut self.ranges), self.name.take());
        let result = each(&ranges, reader, &mut Bindings::default(), &mut |reader, bindings| {
            let name = match &name {
                Some(name) => entries::name(reader, name, 0, bindings)?,
                None => Name {
                    base: otherwise.into(),
                    indices: Vec::new(),
                    full: otherwise.into(),
                    span: self.section.span,
                    derivative: 0,
                },
            };
            if name.base.contains('.') {
                return Err(Mistake::Syntax {
                    message: format!("`{}` cannot be a name here", name.full),
                    label: "a name with a dot".into(),
                    at: name.span.into(),
                    help: Some("dots stand before parts: rod.x".into()),
                }
                .into());
            }
            visit(self, reader, name, &bindings.clone());
            Ok(())
        });
        reader.ok(result);
    }

    fn tree(&mut self, reader: &mut Reader, item: &TomlItem, what: &str) -> Option<Rc<Tree>> {
        let span = Span::from(item.span());
        if let Some(tree) = self.parsed.get(&span) {
            return Some(Rc::clone(tree));
        }
        let tree = document::formula(reader, item, what)?;
        self.parsed.insert(span, Rc::clone(&tree));
        Some(tree)
    }

    /// The formula of an item that is not a number yet.
    pub fn formula(&mut self, reader: &mut Reader, item: &TomlItem, what: &str) -> Option<Rc<Tree>> {
        self.tree(reader, item, what)
    }

    /// The number of an item.
    pub fn number_of(&mut self, reader: &mut Reader, item: &TomlItem, what: &str, bindings: &Bindings) -> Option<f64> {
        let tree = self.tree(reader, item, what)?;
        let result = reader.constant(&tree, Context { place: "the drawing", ..NUMBER }, &mut bindings.clone());
        let value = reader.ok(result)?;
        if !matches!(tree.kind, Term::Number(_)) {
            reader.note_structural(&tree);
        }
        if !value.is_finite() {
            reader.mistake(Mistake::NotFinite { what: what.into(), value, at: tree.span.into() });
            return None;
        }
        Some(value)
    }

    /// The number of a key of this table.
    pub fn number(&mut self, reader: &mut Reader, key: &str, bindings: &Bindings) -> Option<f64> {
        let item = self.section.get(key)?;
        self.number_of(reader, item, &format!("`{key}`"), bindings)
    }

    /// A positive number of a key of some table.
    pub fn positive(&mut self, reader: &mut Reader, table: &Section, key: &str, bindings: &Bindings) -> Option<f64> {
        let Some(item) = table.get(key) else {
            reader.mistake(Mistake::Missing {
                what: format!("the key `{key}` of {}", table.title),
                at: table.span.into(),
                label: "in this table".into(),
                help: format!("write {key} = …"),
            });
            return None;
        };
        let value = self.number_of(reader, item, &format!("`{key}`"), bindings)?;
        if value <= 0.0 {
            let at = Span::from(item.span()).into();
            reader.mistake(Mistake::NotPositive { what: format!("`{key}`"), value, at });
            return None;
        }
        Some(value)
    }

    /// So many numbers in a list.
    pub fn numbers_of(
        &mut self,
        reader: &mut Reader,
        item: &TomlItem,
        what: &str,
        counts: &[usize],
        bindings: &Bindings,
    ) -> Option<Vec<f64>> {
        let expected =
            format!("a list of {} numbers", counts.iter().map(usize::to_string).collect::<Vec<_>>().join(" or "));
        let DeValue::Array(items) = item.get_ref() else {
            reader.mistake(wrong_type(what, &expected, item));
            return None;
        };
        if !counts.contains(&items.len()) {
            reader.mistake(Mistake::Count {
                message: format!("{what} is {expected}"),
                at: Span::from(item.span()).into(),
                found: items.len(),
                help: None,
            });
            return None;
        }
        let values: Vec<Option<f64>> = items.iter().map(|item| self.number_of(reader, item, what, bindings)).collect();
        values.into_iter().collect()
    }

    /// A vector; in a plane two numbers are enough.
    pub fn vector_of(
        &mut self,
        reader: &mut Reader,
        item: &TomlItem,
        what: &str,
        planar: bool,
        bindings: &Bindings,
    ) -> Option<Vector<f64>> {
        let counts: &[usize] = if planar { &[2, 3] } else { &[3] };
        let values = self.numbers_of(reader, item, what, counts, bindings)?;
        let z = values.get(2).copied().unwrap_or(0.0);
        Some([values[0], values[1], z])
    }

    /// The vector of a key.
    pub fn vector(&mut self, reader: &mut Reader, key: &str, planar: bool, bindings: &Bindings) -> Option<Vector<f64>> {
        let item = self.section.get(key)?;
        self.vector_of(reader, item, &format!("`{key}`"), planar, bindings)
    }

    /// The vector of a key that must be there.
    pub fn needed(&mut self, reader: &mut Reader, key: &str, planar: bool, bindings: &Bindings) -> Option<Vector<f64>> {
        if self.section.get(key).is_none() {
            self.missing(reader, key, &format!("write {key} = [x, y, z], in world coordinates of the drawing"));
        }
        self.vector(reader, key, planar, bindings)
    }

    /// Two vectors in a list.
    pub fn two_vectors(
        &mut self,
        reader: &mut Reader,
        key: &str,
        planar: bool,
        bindings: &Bindings,
    ) -> Option<[Vector<f64>; 2]> {
        let Some(item) = self.section.get(key) else {
            self.missing(reader, key, &format!("write {key} = [[…], […]], one for each body"));
            return None;
        };
        match item.get_ref() {
            DeValue::Array(items) if items.len() == 2 => {
                let what = format!("an entry of `{key}`");
                let first = self.vector_of(reader, &items[0], &what, planar, bindings);
                let second = self.vector_of(reader, &items[1], &what, planar, bindings);
                Some([first?, second?])
            }
            _ => {
                reader.mistake(wrong_type(&format!("`{key}`"), "a list of two vectors [[x, y, z], [x, y, z]]", item));
                None
            }
        }
    }

    /// A table of a key.
    pub fn table(&self, reader: &mut Reader, key: &'static str) -> Option<Section<'t, 'i>> {
        let item = self.section.get(key)?;
        match item.get_ref() {
            DeValue::Table(table) => Some(Section { title: key, span: item.span().into(), table }),
            _ => {
                reader.mistake(wrong_type(&format!("`{key}`"), "a table { … }", item));
                None
            }
        }
    }

    /// One of these words.
    pub fn word(&self, reader: &mut Reader, key: &str, known: &[&str]) -> Option<String> {
        let word = self.section.string(reader, key)?;
        if known.contains(&word.as_str()) {
            return Some(word);
        }
        let help = match nearest(&word, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"? There are {}", enumerate(known.iter().copied())),
            None => format!("there are {}", enumerate(known.iter().copied())),
        };
        reader.mistake(Mistake::Syntax {
            message: format!("there is no {key} `{word}`"),
            label: format!("unknown {key}"),
            at: self.at(key).into(),
            help: Some(help),
        });
        None
    }

    /// The object that an item names; `if(…)` chooses.
    pub fn object(
        &mut self,
        reader: &mut Reader,
        item: &TomlItem,
        objects: &Objects,
        bindings: &Bindings,
    ) -> Option<(Option<Object>, String)> {
        if document::text(reader, item).is_none() {
            reader.mistake(wrong_type("a body or joint", "its name", item));
            return None;
        }
        let tree = self.tree(reader, item, "a name")?;
        let found = named(reader, &tree, objects, &mut bindings.clone());
        reader.ok(found)
    }

    /// A body.
    pub fn body(
        &mut self,
        reader: &mut Reader,
        item: &TomlItem,
        objects: &Objects,
        bindings: &Bindings,
    ) -> Option<BodyId> {
        let (object, name) = self.object(reader, item, objects, bindings)?;
        match object {
            None => Some(GROUND),
            Some(Object::Body(k)) => Some(super::body_id(k)),
            Some(_) => {
                reader.mistake(Mistake::Syntax {
                    message: format!("`{name}` is not a body"),
                    label: "a joint, a point or a force".into(),
                    at: Span::from(item.span()).into(),
                    help: Some("name a body, or \"ground\"".into()),
                });
                None
            }
        }
    }

    /// The two bodies of `between`.
    pub fn between(&mut self, reader: &mut Reader, objects: &Objects, bindings: &Bindings) -> Option<[BodyId; 2]> {
        let Some(item) = self.section.get("between") else {
            self.missing(reader, "between", "write between = [\"ground\", \"rod\"]");
            return None;
        };
        match item.get_ref() {
            DeValue::Array(items) if items.len() == 2 => {
                let first = self.body(reader, &items[0], objects, bindings);
                let second = self.body(reader, &items[1], objects, bindings);
                Some([first?, second?])
            }
            _ => {
                reader.mistake(wrong_type("`between`", "a list of two bodies", item));
                None
            }
        }
    }

    /// A joint.
    pub fn joint(
        &mut self,
        reader: &mut Reader,
        item: &TomlItem,
        objects: &Objects,
        bindings: &Bindings,
    ) -> Option<usize> {
        let (object, name) = self.object(reader, item, objects, bindings)?;
        if let Some(Object::Joint(k)) = object {
            return Some(k);
        }
        reader.mistake(Mistake::Syntax {
            message: format!("`{name}` is not a joint"),
            label: "no joint".into(),
            at: Span::from(item.span()).into(),
            help: Some("name a joint that stands before this table".into()),
        });
        None
    }
}

/// The object of a name; `None` is the ground.
fn named(
    reader: &mut Reader,
    tree: &Tree,
    objects: &Objects,
    bindings: &mut Bindings,
) -> Result<(Option<Object>, String), Stop> {
    match &tree.kind {
        Term::If(parts) => {
            let truth = crate::memo::complete(reader, |reader| decide(&parts[0], reader, &mut bindings.clone()))?;
            reader.note_structural(&parts[0]);
            let chosen = if matches!(truth, Truth::Known(true)) { &parts[1] } else { &parts[2] };
            named(reader, chosen, objects, bindings)
        }
        Term::Reference(reference) => {
            let name = full_name(reference, reader, bindings)?.into_owned();
            if name == "ground" {
                return Ok((None, name));
            }
            match objects.by_name.get(&name) {
                Some((object, _)) => Ok((Some(*object), name)),
                None if reader.scope.incomplete => Err(Stop::Told),
                None => Err(objects.unknown(&name, tree.span).into()),
            }
        }
        _ => Err(Mistake::Syntax {
            message: "expected the name of a body or joint".into(),
            label: "a formula".into(),
            at: tree.span.into(),
            help: Some("write a name, \"ground\", or if(i == 1, ground, link[i-1])".into()),
        }
        .into()),
    }
}
