//! Elements of an XML file with their places; what was found wrong in them, and what was left out.

use crate::diagnostic::Mistake;
use crate::source::Span;
use crate::suggestion::help;
use daedal_multibody::vector::{Vector, unit};
use roxmltree::{Attribute, Document, Node, TextPos};
use std::collections::BTreeMap;

/// Most elements of a file: robots have hundreds, and memory is finite.
const MOST_NODES: u32 = 1_000_000;
/// Most elements inside each other.
const MOST_LEVELS: usize = 500;

/// What is told about a file: mistakes refuse it, the rest are notes.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub mistakes: Vec<Mistake>,
    /// Elements and attributes that are not imported, by name, with their count.
    left_out: BTreeMap<String, usize>,
    /// Further notes, with their count.
    notes: BTreeMap<String, usize>,
}

impl Log {
    /// Refuse something.
    pub fn refuse(&mut self, at: Span, message: impl Into<String>, label: &str, help: &str) {
        self.mistakes.push(Mistake::Syntax {
            message: message.into(),
            label: label.into(),
            at: at.into(),
            help: Some(help.into()),
        });
    }

    /// Count something that is not imported.
    pub fn left_out(&mut self, what: impl Into<String>) {
        *self.left_out.entry(what.into()).or_default() += 1;
    }

    /// Count something that a note tells.
    pub fn note(&mut self, what: impl Into<String>) {
        *self.notes.entry(what.into()).or_default() += 1;
    }

    /// All notes, those with the names of what is left out last.
    pub fn told(&self) -> Vec<String> {
        let counted =
            |(what, count): (&String, &usize)| if *count > 1 { format!("{what} ({count})") } else { what.clone() };
        let mut told: Vec<String> = self.notes.iter().map(counted).collect();
        if !self.left_out.is_empty() {
            let listed: Vec<String> = self.left_out.iter().map(|(name, count)| format!("{name} ({count})")).collect();
            told.push(format!("not imported: {}", listed.join(", ")));
        }
        told
    }
}

/// The document of a text.
pub(super) fn document(text: &str) -> Result<Document<'_>, Mistake> {
    let options = roxmltree::ParsingOptions { nodes_limit: MOST_NODES, ..Default::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let at = offset(text, error.pos());
        let message = error.to_string();
        // the place is marked
        let message = message.rsplit_once(" at ").map_or(message.clone(), |(said, _)| said.to_string());
        let help = match error {
            roxmltree::Error::UnknownNamespace(prefix, _) if prefix == "xacro" => Some(XACRO.to_string()),
            roxmltree::Error::UnexpectedCloseTag(open, close, _) => Some(format!("close <{open}> before </{close}>")),
            _ => None,
        };
        Mistake::Xml { message, at: Span { start: at, end: at }.into(), help }
    })?;
    with_depth(document)
}

/// Refuse files that are nested deeper than any robot.
fn with_depth(document: Document<'_>) -> Result<Document<'_>, Mistake> {
    let mut open = vec![(document.root_element(), 1)];
    let mut deepest = None;
    while let Some((node, depth)) = open.pop() {
        if depth > MOST_LEVELS {
            deepest = Some(place(node));
            break;
        }
        open.extend(elements(node).map(|child| (child, depth + 1)));
    }
    match deepest {
        Some(at) => Err(Mistake::Xml {
            message: format!("its elements are nested too deeply, in more than {MOST_LEVELS} levels"),
            at: at.into(),
            help: Some("no robot needs as many; look for a class or a body that contains itself".into()),
        }),
        None => Ok(document),
    }
}

/// What to do with macros.
pub(super) const XACRO: &str = "expand the macros first: xacro robot.urdf.xacro > robot.urdf";

/// The byte of a row and column, both from 1.
fn offset(text: &str, place: TextPos) -> usize {
    let row: usize = text.split_inclusive('\n').take(place.row.saturating_sub(1) as usize).map(str::len).sum();
    let line = text[row..].lines().next().unwrap_or_default();
    row + line.char_indices().nth(place.col.saturating_sub(1) as usize).map_or(line.len(), |(byte, _)| byte)
}

/// An element, and the elements whose attributes it has unless it says others.
#[derive(Clone, Debug)]
pub(super) struct Element<'d> {
    pub node: Node<'d, 'd>,
    pub defaults: Vec<Node<'d, 'd>>,
}

impl<'d> Element<'d> {
    pub fn new(node: Node<'d, 'd>) -> Self {
        Element { node, defaults: Vec::new() }
    }

    /// Its opening tag, without the last bracket.
    pub fn place(&self) -> Span {
        place(self.node)
    }

    /// Its tag.
    pub fn tag(&self) -> &'d str {
        self.node.tag_name().name()
    }

    /// An attribute, its own one or that of its defaults.
    fn attribute(&self, key: &str) -> Option<Attribute<'d, 'd>> {
        std::iter::once(&self.node).chain(&self.defaults).find_map(|node| node.attribute_node(key))
    }

    /// Is there such an attribute?
    pub fn has(&self, key: &str) -> bool {
        self.attribute(key).is_some()
    }

    /// The place of an attribute, or of the element.
    pub fn at(&self, key: &str) -> Span {
        self.attribute(key).map_or(self.place(), |attribute| attribute.range_value().into())
    }

    /// The text of an attribute.
    pub fn text(&self, key: &str) -> Option<&'d str> {
        self.attribute(key).map(|attribute| attribute.value())
    }

    /// The text of an attribute that must be there.
    pub fn needed(&self, log: &mut Log, key: &str) -> Option<&'d str> {
        let text = self.text(key);
        if text.is_none() {
            self.missing(log, key);
        }
        text
    }

    /// An attribute is missing.
    pub fn missing(&self, log: &mut Log, key: &str) {
        log.mistakes.push(Mistake::Missing {
            what: format!("the attribute `{key}` of <{}>", self.tag()),
            at: self.place().into(),
            label: "in this element".into(),
            help: format!("write {key}=\"…\""),
        });
    }

    /// Numbers apart by spaces, so many of them.
    pub fn numbers(&self, log: &mut Log, key: &str, counts: std::ops::RangeInclusive<usize>) -> Option<Vec<f64>> {
        let attribute = self.attribute(key)?;
        let text = attribute.value();
        let place = Span::from(attribute.range_value());
        let mut numbers = Vec::new();
        for word in text.split_ascii_whitespace() {
            match word.parse::<f64>() {
                Ok(number) if number.is_finite() => numbers.push(number),
                _ => {
                    log.refuse(
                        place,
                        format!("`{word}` in `{key}` of <{}> is not a finite number", self.tag()),
                        "not a number",
                        "numbers are apart by spaces: 0.1 0 1e-3",
                    );
                    return None;
                }
            }
        }
        if counts.contains(&numbers.len()) {
            return Some(numbers);
        }
        let expected = if counts.start() == counts.end() {
            counts.start().to_string()
        } else {
            format!("{} to {}", counts.start(), counts.end())
        };
        log.refuse(
            place,
            format!("`{key}` of <{}> has {} numbers, not {expected}", self.tag(), numbers.len()),
            &format!("{} here", numbers.len()),
            "numbers are apart by spaces: 0.1 0 1e-3",
        );
        None
    }

    /// One number.
    pub fn number(&self, log: &mut Log, key: &str) -> Option<f64> {
        self.numbers(log, key, 1..=1).map(|numbers| numbers[0])
    }

    /// A number, or what holds without it.
    pub fn number_or(&self, log: &mut Log, key: &str, otherwise: f64) -> f64 {
        self.number(log, key).unwrap_or(otherwise)
    }

    /// A number that must be positive.
    pub fn positive(&self, log: &mut Log, key: &str) -> Option<f64> {
        self.needed(log, key)?;
        let value = self.number(log, key)?;
        if value > 0.0 {
            return Some(value);
        }
        let (what, at) = (format!("`{key}` of <{}>", self.tag()), self.at(key).into());
        log.mistakes.push(Mistake::NotPositive { what, value, at });
        None
    }

    /// Three numbers.
    pub fn vector(&self, log: &mut Log, key: &str) -> Option<Vector<f64>> {
        self.numbers(log, key, 3..=3).map(|x| [x[0], x[1], x[2]])
    }

    /// A direction of length one.
    pub fn direction(&self, log: &mut Log, key: &str, otherwise: Vector<f64>) -> Vector<f64> {
        let axis = self.vector(log, key).unwrap_or(otherwise);
        unit(axis).unwrap_or_else(|| {
            log.refuse(
                self.at(key),
                format!("`{key}` of <{}> is zero", self.tag()),
                "it has no direction",
                "write 0 0 1",
            );
            otherwise
        })
    }

    /// One of these words.
    pub fn word(&self, log: &mut Log, key: &str, known: &[&'static str]) -> Option<&'static str> {
        let word = self.text(key)?;
        let found = known.iter().find(|known| **known == word).copied();
        if found.is_none() {
            let help = help(word, known.iter().copied(), "there are");
            log.refuse(self.at(key), format!("there is no `{key}` {word:?} of <{}>", self.tag()), "unknown", &help);
        }
        found
    }

    /// Attributes that are not read are counted.
    pub fn leave_out_but(&self, log: &mut Log, known: &[&str]) {
        for attribute in self.node.attributes().filter(|attribute| !known.contains(&attribute.name())) {
            log.left_out(format!("{} {}", self.tag(), attribute.name()));
        }
    }
}

/// The opening tag of a node, without the last bracket.
pub(super) fn place(node: Node) -> Span {
    let start = node.range().start;
    let end = node.attributes().next_back().map_or(start + 1 + qualified(node), |attribute| attribute.range().end);
    Span { start, end: end.min(node.range().end) }
}

/// Bytes of the tag with its prefix.
fn qualified(node: Node) -> usize {
    let text = &node.document().input_text()[node.range()];
    text[1..].find(|c: char| c.is_whitespace() || c == '>' || c == '/').unwrap_or(1)
}

/// Elements inside of a node.
pub(super) fn elements<'d>(node: Node<'d, 'd>) -> impl Iterator<Item = Node<'d, 'd>> {
    node.children().filter(Node::is_element)
}

/// The only element of this tag, if there is one; a second one is refused.
pub(super) fn only<'d>(log: &mut Log, node: Node<'d, 'd>, tag: &str) -> Option<Element<'d>> {
    let mut found = elements(node).filter(|child| child.tag_name().name() == tag);
    let first = found.next()?;
    if let Some(second) = found.next() {
        log.mistakes.push(Mistake::Duplicate {
            name: tag.into(),
            what: format!("an element of <{}>", node.tag_name().name()),
            first: Some(place(first).into()),
            at: place(second).into(),
            help: Some("one of them holds; delete the other".into()),
        });
    }
    Some(Element::new(first))
}
