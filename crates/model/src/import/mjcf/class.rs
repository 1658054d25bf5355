//! Default classes of MJCF: what attributes are where an element does not give them.

use super::super::xml::{Element, Log, elements, place};
use crate::diagnostic::Mistake;
use crate::suggestion::help;
use roxmltree::Node;
use std::collections::BTreeMap;

/// The class without name.
const MAIN: &str = "main";

/// Classes, each with its `<default>` elements, its own one first, that of the outermost class last.
#[derive(Debug, Default)]
pub(super) struct DefaultClasses<'d> {
    classes: BTreeMap<&'d str, Vec<Node<'d, 'd>>>,
}

impl<'d> DefaultClasses<'d> {
    /// All classes of a file.
    pub fn read(model: Node<'d, 'd>, log: &mut Log) -> Self {
        let mut classes = DefaultClasses::default();
        classes.classes.insert(MAIN, Vec::new());
        for outermost in elements(model).filter(|child| child.has_tag_name("default")) {
            let name = outermost.attribute("class").unwrap_or(MAIN);
            classes.add(outermost, name, &[], log);
            // whatever the outermost class is called, elements without class are in it
            let chain = classes.classes[name].clone();
            classes.classes.insert(MAIN, chain);
        }
        classes
    }

    fn add(&mut self, node: Node<'d, 'd>, name: &'d str, outer: &[Node<'d, 'd>], log: &mut Log) {
        let mut chain = vec![node];
        chain.extend(outer);
        for child in elements(node).filter(|child| child.has_tag_name("default")) {
            match child.attribute("class") {
                Some(name) => self.add(child, name, &chain, log),
                None => Element::new(child).missing(log, "class"),
            }
        }
        if let Some(first) = self.classes.insert(name, chain).filter(|chain| !chain.is_empty()) {
            log.mistakes.push(Mistake::Duplicate {
                name: name.into(),
                what: "a class".into(),
                first: Some(place(first[0]).into()),
                at: place(node).into(),
                help: Some("every class has a name of its own".into()),
            });
        }
    }

    /// An element with the attributes of its class; `inherited` is the `childclass` around it.
    pub fn element(&self, node: Node<'d, 'd>, inherited: Option<&str>, log: &mut Log) -> Element<'d> {
        let mut element = Element::new(node);
        let name = node.attribute("class").or(inherited).unwrap_or(MAIN);
        match self.classes.get(name) {
            Some(chain) => {
                let same = |class: &Node<'d, 'd>| elements(*class).find(|child| child.tag_name() == node.tag_name());
                element.defaults = chain.iter().filter_map(same).collect();
            }
            None => {
                let help = Some(help(name, self.classes.keys().copied(), "the classes are"));
                log.mistakes.push(Mistake::UnknownName { name: name.into(), at: element.at("class").into(), help });
            }
        }
        element
    }
}
