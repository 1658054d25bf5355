//! What `[solve]` and `[initial]` say beyond ordinary models, and words and amounts that several sections have.

use super::model::HybridMode;
use super::transitions::TransitionDraft;
use super::{ModeDraft, choice, mode_of};
use crate::diagnostic::Mistake;
use crate::document::{self, Section, TomlItem};
use crate::entries::{self, Name};
use crate::index::Bindings;
use crate::model::{ModelKind, NUMBER};
use crate::reader::Reader;
use crate::source::Span;
use daedal::hybrid::{HybridOptions, Restart};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) const RESTARTS: [(&str, Restart); 7] = [
    ("impulse", Restart::Impulse),
    ("differential", Restart::Differential),
    ("least-change", Restart::LeastChange),
    ("states", Restart::States),
    ("weighted", Restart::Weighted),
    ("tangential", Restart::Tangential),
    ("momentum", Restart::Momentum),
];

/// What `[initial]` says beside values.
pub(super) struct First {
    pub mode: Option<usize>,
    pub restart: Option<(Restart, Span)>,
}

/// `[initial]`: the first mode, and how its state is made consistent.
pub(super) fn initial(reader: &mut Reader, root: &DeTable, modes: &[ModeDraft]) -> First {
    let only = (modes.len() == 1).then_some(0);
    let missing = |at: Span| Mistake::Missing {
        what: "the first mode".into(),
        at: at.into(),
        label: "the run begins in one of the modes".into(),
        help: format!("write mode = \"{}\" into [initial]", modes.first().map_or("NAME", |mode| mode.name.as_str())),
    };
    let Some(section) = Section::find(reader, root, "initial", "[initial]") else {
        if only.is_none() && root.get("initial").is_none() {
            let end = reader.file.trim_end().len();
            reader.mistake(missing(Span { start: end, end }));
        }
        return First { mode: only, restart: None };
    };
    if let Some((key, _)) = section.table.get_key_value("conditions") {
        reader.mistake(Mistake::NotAllowed {
            what: "`conditions`".into(),
            place: "[initial] of a system with modes".into(),
            at: Span::from(key.span()).into(),
            label: "not with modes".into(),
            help: "fix values instead; `daedal init` finds them for the equations of the first mode alone".into(),
        });
    }
    let mode = match section.get("mode") {
        Some(_) => mode_of(reader, section, "mode", modes),
        None if only.is_some() => only,
        None => {
            reader.mistake(missing(section.span));
            None
        }
    };
    First { mode, restart: choice(reader, section, "restart", &RESTARTS) }
}

/// `[solve]`: limits of a run.
pub(super) fn limits(reader: &mut Reader, root: &DeTable) -> HybridOptions {
    let mut options = HybridOptions::default();
    let Some(section) = Section::find(reader, root, "solve", "[solve]") else { return options };
    if let Some(most) = count(reader, section, "max_switches") {
        options.max_switches = most;
    }
    if let Some(most) = count(reader, section, "max_immediate") {
        options.max_immediate = u32::try_from(most).unwrap_or(u32::MAX);
    }
    options.time_tolerance = document::positive(reader, section, "time_tolerance");
    options
}

/// `keep`: names of unknowns, derivatives among them.
pub(super) fn keep(reader: &mut Reader, section: Section) -> Vec<Name> {
    let mut names = Vec::new();
    let Some(value) = section.get("keep") else { return names };
    let Some(items) = value.get_ref().as_array() else {
        reader.mistake(document::wrong_type("`keep`", "a list of names", value));
        return names;
    };
    for item in items {
        let DeValue::String(text) = item.get_ref() else {
            reader.mistake(document::wrong_type("an entry of `keep`", "a name", item));
            continue;
        };
        let key = Spanned::new(item.span(), text.clone());
        entries::keys(reader, &key, item, &mut |_, name, _, _| {
            names.push(name);
            Ok(())
        });
    }
    names
}

/// A whole number, at least one.
fn count(reader: &mut Reader, section: Section, key: &str) -> Option<u64> {
    let item = section.get(key)?;
    let what = format!("`{key}`");
    let number = integer(reader, item, &what)?;
    if number < 1 {
        let at = Span::from(item.span()).into();
        reader.mistake(Mistake::NotPositive { what, value: number as f64, at });
        return None;
    }
    Some(u64::try_from(number).unwrap_or(u64::MAX))
}

/// A whole number.
pub(super) fn integer(reader: &mut Reader, item: &TomlItem, what: &str) -> Option<i128> {
    let number = item.get_ref().as_integer().and_then(|n| i128::from_str_radix(n.as_str(), n.radix()).ok());
    if number.is_none() {
        reader.mistake(match document::number(item) {
            Some(value) => Mistake::NotAnInteger { what: what.into(), value, at: Span::from(item.span()).into() },
            None => document::wrong_type(what, "an integer", item),
        });
    }
    number
}

/// A number or a formula of parameters that is not negative.
pub(super) fn amount(reader: &mut Reader, section: Section, key: &str) -> Option<f64> {
    let item = section.get(key)?;
    let what = format!("`{key}`");
    let node = document::formula(reader, item, &what)?;
    not_negative(reader, &node, &what)
}

/// The number of a formula that must not be negative.
pub(super) fn not_negative(reader: &mut Reader, node: &crate::formula::ast::Tree, what: &str) -> Option<f64> {
    let value = finite(reader, node, &Bindings::default(), what)?;
    if value < 0.0 {
        reader.mistake(Mistake::Negative { what: what.into(), value, at: node.span.into() });
        return None;
    }
    Some(value)
}

/// The number of a formula of parameters.
pub(super) fn finite(
    reader: &mut Reader,
    node: &crate::formula::ast::Tree,
    bindings: &Bindings,
    what: &str,
) -> Option<f64> {
    let value = reader.constant(node, NUMBER, &mut bindings.clone());
    let value = reader.ok(value)?;
    if !value.is_finite() {
        reader.mistake(Mistake::NotFinite { what: what.into(), value, at: node.span.into() });
        return None;
    }
    Some(value)
}

/// Impulses are for equations of motion.
pub(super) fn check_restarts(
    reader: &mut Reader,
    plans: &[TransitionDraft],
    modes: &[HybridMode],
    declared: &[ModeDraft],
    first: &First,
) {
    let mut check = |mode: usize, restart: Option<(Restart, Span)>| {
        if let Some((Restart::Momentum, at)) = restart
            && !matches!(modes[mode].kind, ModelKind::Motion { .. })
        {
            reader.mistake(Mistake::Syntax {
                message: format!("mode `{}` cannot be entered with `momentum`", modes[mode].name),
                label: "for equations of motion".into(),
                at: at.into(),
                help: Some(
                    "a general system does not tell masses from other coefficients; `impulse` keeps what impulses cannot change, momentum among it"
                        .into(),
                ),
            });
        }
    };
    for (k, mode) in declared.iter().enumerate() {
        let at = mode.table.get("restart").map_or(mode.span, |value| value.span().into());
        check(k, Some((modes[k].restart, at)));
    }
    for plan in plans {
        if let Some(to) = plan.to {
            check(to, plan.restart);
        }
    }
    if let Some(mode) = first.mode {
        check(mode, first.restart);
    }
}
