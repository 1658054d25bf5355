//! Bodies in a system with modes: joints and forces that a mode does not have, and where its first mode starts.

use super::DrawnSystem;
use super::template::Template;
use crate::diagnostic::Mistake;
use crate::document::{Section, TomlItem, wrong_type};
use crate::reader::Reader;
use crate::source::Span;
use crate::suggestion::{enumerate, help, nearest};
use daedal::graph::Interpreted;
use daedal::linalg::RankRule;
use daedal::motion::{Compiled, Form, Formulas, Layout, consistent};
use daedal::{Initial, Start};
use daedal_multibody::JointId;
use toml::de::DeValue;

/// The mode in which bodies are read; an ordinary model has none.
#[derive(Default)]
pub(crate) struct ModeOfBodies {
    /// Its name.
    pub name: String,
    /// All modes of the file.
    pub all: Vec<String>,
    /// Joints and forces that it does not have.
    pub without: Vec<(String, Span)>,
}

/// Names in a list, or a single one.
pub(crate) fn names(reader: &mut Reader, item: &TomlItem, key: &str, what: &str) -> Vec<(String, Span)> {
    let items: Vec<&TomlItem> = match item.get_ref() {
        DeValue::Array(items) => items.iter().collect(),
        _ => vec![item],
    };
    let mut names = Vec::new();
    for item in items {
        match item.get_ref() {
            DeValue::String(text) => names.push((text.to_string(), Span::from(item.span()))),
            _ => reader.mistake(wrong_type(&format!("an entry of `{key}`"), what, item)),
        }
    }
    names
}

/// Does a joint or a force exist in the mode that is read? `modes` names those that have it.
pub(super) fn is_there(template: &Template, reader: &mut Reader, mode: &ModeOfBodies) -> bool {
    let Some(item) = template.section.get("modes") else { return true };
    let at = Span::from(item.span());
    if reader.mode.is_none() {
        reader.mistake(Mistake::NotAllowed {
            what: "`modes`".into(),
            place: "a file without [modes]".into(),
            at: at.into(),
            label: "there are none".into(),
            help: "write [modes.NAME] for each mode, or remove this key".into(),
        });
        return true;
    }
    let named = names(reader, item, "modes", "the name of a mode");
    for (name, at) in named.iter().filter(|(name, _)| !mode.all.contains(name)) {
        let help = help(name, mode.all.iter().map(String::as_str), "the modes are");
        reader.mistake(Mistake::UnknownMode { name: name.clone(), at: (*at).into(), help });
    }
    named.iter().any(|(name, _)| *name == mode.name)
}

/// Switch off what the mode does not have: single joints and forces, or all of one name.
pub(super) fn leave_out(reader: &mut Reader, drawing: &mut DrawnSystem) {
    let system = &mut drawing.system;
    for (name, at) in &drawing.mode.without {
        let of = |other: &str| other == name || other.split('[').next() == Some(name);
        let joints: Vec<usize> = (0..system.joints().len()).filter(|&j| of(&system.joints()[j].name)).collect();
        let forces: Vec<usize> = (0..system.forces().len()).filter(|&k| of(&system.forces()[k].name)).collect();
        if joints.is_empty() && forces.is_empty() && !reader.scope.incomplete {
            let known = system.joints().iter().map(|joint| joint.name.as_str());
            let known = known.chain(system.forces().iter().map(|force| force.name.as_str()));
            let known: Vec<&str> = known.filter(|name| !name.is_empty()).collect();
            let help = match nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if known.is_empty() => "no joint and no force has a name".to_string(),
                None => format!("joints and forces are {}", enumerate(known)),
            };
            let message = if drawing.objects.by_name.contains_key(name) {
                format!("`{name}` is neither a joint nor a force")
            } else {
                format!("no joint and no force is called `{name}`")
            };
            let label = "a mode leaves out joints and forces".into();
            reader.mistake(Mistake::Syntax { message, label, at: (*at).into(), help: Some(help) });
        }
        for joint in joints {
            system.switch_off(JointId::of(joint));
        }
        for force in forces {
            system.switch_off_force(force);
        }
    }
}

/// Initial values of the first mode, where joint coordinates and their rates are given: a system with modes starts from values of its unknowns alone.
pub(super) fn found(reader: &mut Reader, formulas: &Formulas, initial: Initial, section: Option<Section>) -> Initial {
    if reader.mode.is_none() || initial.conditions.is_empty() || reader.count() > 0 {
        return initial;
    }
    let layout = Layout::new(formulas.sizes, Form::StrangenessFree, false);
    let compiled = Compiled::new(formulas, Interpreted);
    match consistent::initialise_by(&compiled, &initial, Form::StrangenessFree, RankRule::default()) {
        Ok(found) => {
            let mut plain = Initial { conditions: Vec::new(), ..initial };
            let take = |starts: &mut Vec<Start>, values: &[f64]| {
                for (start, value) in starts.iter_mut().zip(values) {
                    if !matches!(start, Start::Fixed(_)) {
                        *start = Start::Guess(*value);
                    }
                }
            };
            take(&mut plain.p, &found.state.x[layout.p()]);
            take(&mut plain.v, &found.state.x[layout.v()]);
            plain
        }
        Err(error) => {
            reader.mistake(Mistake::Syntax {
                message: format!("the first mode cannot start so: {error}"),
                label: "from these values".into(),
                at: section.map_or(Span { start: 0, end: 0 }, |section| section.span).into(),
                help: Some("give fewer values in `fix`, or let them be guesses".into()),
            });
            initial
        }
    }
}
