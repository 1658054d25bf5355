//! `[[transitions]]`: when a mode is left, for which other one, and what happens to the state.

use super::condition::{ChangeDraft, Job};
use super::options::{RESTARTS, finite, integer, keep, not_negative};
use super::{ModeDraft, Shared, choice, find_mode, mode_of};
use crate::diagnostic::Mistake;
use crate::document::{self, Section, TomlItem, wrong_type};
use crate::entries::{self, FormulaEntry, Name};
use crate::formula::ast::Tree;
use crate::formula::parser;
use crate::index::Bindings;
use crate::reader::Reader;
use crate::source::Span;
use daedal::hybrid::{Restart, Schedule};
use std::collections::HashMap;
use std::rc::Rc;
use toml::de::{DeTable, DeValue};

const KEYS: [&str; 12] = [
    "from",
    "to",
    "when",
    "at",
    "every",
    "first",
    "set",
    "priority",
    "hysteresis",
    "restart",
    "keep",
    "after_accumulation",
];

/// Most transitions of a file, counted for each mode that they leave.
const MOST_TRANSITIONS: usize = 20_000;

/// A transition as it is written.
pub(super) struct TransitionDraft<'t, 'i> {
    /// The modes that it leaves.
    pub from: Vec<usize>,
    pub to: Option<usize>,
    pub span: Span,
    pub when: Option<Rc<Tree>>,
    /// The condition as it is written.
    pub text: String,
    at: Option<(Vec<FormulaEntry>, Span)>,
    every: Option<Rc<Tree>>,
    first: Option<Rc<Tree>>,
    pub set: Vec<ChangeDraft<'t, 'i>>,
    pub priority: Option<i32>,
    hysteresis: Option<Rc<Tree>>,
    pub restart: Option<(Restart, Span)>,
    pub keep: Vec<Name>,
    pub after_accumulation: Option<usize>,
}

/// Read all of them; their formulas are understood later, in the modes that they leave.
pub(super) fn read<'t, 'i>(
    reader: &mut Reader,
    root: &'t DeTable<'i>,
    modes: &[ModeDraft],
) -> Vec<TransitionDraft<'t, 'i>> {
    let Some(value) = root.get("transitions") else { return Vec::new() };
    let DeValue::Array(items) = value.get_ref() else {
        reader.mistake(wrong_type("`transitions`", "a list: each one stands below its own [[transitions]]", value));
        return Vec::new();
    };
    let (mut plans, mut count) = (Vec::new(), 0);
    for item in items {
        if reader.is_full() {
            break;
        }
        match item.get_ref() {
            DeValue::Table(table) => {
                let plan = one(reader, table, item, modes);
                count += plan.from.len();
                if count > MOST_TRANSITIONS {
                    let (limit, unit) = (MOST_TRANSITIONS, "transitions".into());
                    reader.mistake(Mistake::TooLarge { limit, wanted: String::new(), unit, at: plan.span.into() });
                    break;
                }
                plans.push(plan);
            }
            _ => reader.mistake(wrong_type("a transition", "a table below [[transitions]]", item)),
        }
    }
    plans
}

fn one<'t, 'i>(
    reader: &mut Reader,
    table: &'t DeTable<'i>,
    item: &'t TomlItem<'i>,
    modes: &[ModeDraft],
) -> TransitionDraft<'t, 'i> {
    let section = Section { title: "[[transitions]]", span: item.span().into(), table };
    section.check_keys(reader, &KEYS);
    let only = (modes.len() == 1).then_some(0);
    let to = match section.get("to") {
        Some(_) => mode_of(reader, section, "to", modes),
        None => only.or_else(|| missing(reader, section, "to", "to = \"NAME\" with the mode that is entered")),
    };
    let from = match section.get("from") {
        Some(value) => sources(reader, value, to, modes),
        None => match only {
            Some(mode) => vec![mode],
            None => {
                missing(reader, section, "from", "from = \"NAME\" with the mode that is left, or a list of them");
                Vec::new()
            }
        },
    };
    triggers(reader, section);
    let formula = |reader: &mut Reader, key: &str| {
        section.get(key).and_then(|value| document::formula(reader, value, &format!("`{key}`")))
    };
    let (when, text) = when(reader, section);
    let (every, first) = (formula(reader, "every"), formula(reader, "first"));
    if let (Some(item), None) = (section.get("first"), section.get("every")) {
        reader.mistake(Mistake::Missing {
            what: "the key `every` of [[transitions]]".into(),
            at: Span::from(item.span()).into(),
            label: "first of which times?".into(),
            help: "write every = … with the period, or at = [ … ] with single times".into(),
        });
    }
    let hysteresis = formula(reader, "hysteresis");
    if let (Some(item), None) = (section.get("hysteresis"), section.get("when")) {
        reader.mistake(Mistake::NotAllowed {
            what: "`hysteresis`".into(),
            place: "a transition without `when`".into(),
            at: Span::from(item.span()).into(),
            label: "times are exact".into(),
            help: "a width belongs to a condition".into(),
        });
    }
    TransitionDraft {
        span: place(table, item),
        at: times(reader, section),
        set: changes(reader, section),
        priority: priority(reader, section),
        restart: choice(reader, section, "restart", &RESTARTS),
        keep: keep(reader, section),
        after_accumulation: mode_of(reader, section, "after_accumulation", modes),
        from,
        to,
        when,
        text,
        every,
        first,
        hysteresis,
    }
}

/// What is marked if a transition is meant as a whole.
fn place(table: &DeTable, item: &TomlItem) -> Span {
    let key = ["when", "at", "every", "to"].iter().find_map(|key| table.get(*key));
    key.map_or_else(|| item.span().into(), |value| value.span().into())
}

fn missing(reader: &mut Reader, section: Section, key: &str, help: &str) -> Option<usize> {
    reader.mistake(Mistake::Missing {
        what: format!("the key `{key}` of [[transitions]]"),
        at: section.span.into(),
        label: "in this transition".into(),
        help: format!("write {help}"),
    });
    None
}

/// The modes that are left: a name, a list of names, or "*".
fn sources(reader: &mut Reader, value: &TomlItem, to: Option<usize>, modes: &[ModeDraft]) -> Vec<usize> {
    let single = [value];
    let items: Vec<&TomlItem> = match value.get_ref() {
        DeValue::Array(items) => items.iter().collect(),
        _ => single.to_vec(),
    };
    let mut from = Vec::new();
    for item in &items {
        let Some(name) = item.get_ref().as_str() else {
            reader.mistake(wrong_type("`from`", "the name of a mode, a list of names or \"*\"", item));
            continue;
        };
        let at = Span::from(item.span());
        let found: Vec<usize> = match name {
            "*" => (0..modes.len()).filter(|mode| Some(*mode) != to).collect(),
            _ => find_mode(reader, modes, name, at).into_iter().collect(),
        };
        if name == "*" && found.is_empty() {
            reader.mistake(Mistake::Syntax {
                message: "there is no mode that this transition leaves".into(),
                label: "every mode other than `to`".into(),
                at: at.into(),
                help: Some("name the mode itself, if it is left and entered again".into()),
            });
        }
        for mode in found {
            if from.contains(&mode) {
                let name = modes[mode].name.clone();
                let what = "a mode of `from`".into();
                reader.mistake(Mistake::Duplicate { name, what, first: None, at: at.into(), help: None });
            } else {
                from.push(mode);
            }
        }
    }
    if items.is_empty() {
        reader.mistake(Mistake::Missing {
            what: "a mode that is left".into(),
            at: Span::from(value.span()).into(),
            label: "no mode".into(),
            help: "write the name of a mode, or \"*\" for every mode other than `to`".into(),
        });
    }
    from
}

/// Exactly one of `when`, `at`, `every`.
fn triggers(reader: &mut Reader, section: Section) {
    let given: Vec<(&str, Span)> = ["when", "at", "every"]
        .into_iter()
        .filter_map(|key| section.table.get_key_value(key).map(|(place, _)| (key, place.span().into())))
        .collect();
    match given.as_slice() {
        [] => reader.mistake(Mistake::Missing {
            what: "the key `when`, `at` or `every` of [[transitions]]".into(),
            at: section.span.into(),
            label: "it never happens".into(),
            help: "write when = \"x < 0\" with a condition, at = [0.5, 1.0] with times, or every = 0.5 with a period"
                .into(),
        }),
        [_] => {}
        [(one, first), (other, second), ..] => reader.mistake(Mistake::TwoTriggers {
            first: (*first).into(),
            at: (*second).into(),
            help: format!("keep either `{one}` or `{other}`; for both, write two transitions"),
        }),
    }
}

fn when(reader: &mut Reader, section: Section) -> (Option<Rc<Tree>>, String) {
    let Some(value) = section.get("when") else { return (None, String::new()) };
    let Some(text) = document::text(reader, value) else {
        reader.mistake(wrong_type("`when`", "a condition such as \"x < 0\"", value));
        return (None, String::new());
    };
    let node = reader.told(parser::condition(&text)).map(Rc::new);
    (node, text.value.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// `at`: a list of times, or one.
fn times(reader: &mut Reader, section: Section) -> Option<(Vec<FormulaEntry>, Span)> {
    let value = section.get("at")?;
    let items = match value.get_ref() {
        DeValue::Array(items) => &items[..],
        _ => std::slice::from_ref(value),
    };
    if items.is_empty() {
        reader.mistake(Mistake::Missing {
            what: "a time".into(),
            at: Span::from(value.span()).into(),
            label: "no time".into(),
            help: "write at = [0.5, 1.0]".into(),
        });
    }
    Some((entries::list(reader, items, "a time").0, value.span().into()))
}

/// `set`: new values by name; `lambda.rod` is a table inside of a table in TOML.
pub(super) fn changes<'t, 'i>(reader: &mut Reader, section: Section<'t, 'i>) -> Vec<ChangeDraft<'t, 'i>> {
    let mut changes = Vec::new();
    let Some(table) = section.table(reader, "set") else { return changes };
    let mut add = |reader: &mut Reader, prefix: &str, table: &'t DeTable<'i>| {
        for (key, value) in table {
            if prefix.is_empty() && value.get_ref().is_table() {
                continue;
            }
            let what = format!("the new value of `{}`", key.get_ref());
            if let Some(node) = document::formula(reader, value, &what) {
                changes.push(ChangeDraft { prefix: prefix.into(), key, value, node });
            }
        }
    };
    add(reader, "", table);
    for (key, value) in table {
        match (value.get_ref(), key.get_ref().as_ref()) {
            (DeValue::Table(inner), prefix @ ("lambda" | "mu")) => add(reader, prefix, inner),
            (DeValue::Table(_), name) => {
                reader.mistake(wrong_type(&format!("the new value of `{name}`"), "a formula or a number", value));
            }
            _ => {}
        }
    }
    changes
}

fn priority(reader: &mut Reader, section: Section) -> Option<i32> {
    let item = section.get("priority")?;
    let number = integer(reader, item, "`priority`")?;
    Some(i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX }))
}

impl TransitionDraft<'_, '_> {
    /// Times and widths, with the parameters of the mode that is left.
    pub fn numbers(&self, reader: &mut Reader, job: &mut Job, shared: &Shared) {
        if let Some(node) = &self.hysteresis {
            job.hysteresis = not_negative(reader, node, "`hysteresis`").unwrap_or(0.0);
        }
        if let Some((entries, span)) = &self.at {
            let mut times: Vec<f64> = Vec::new();
            for entry in entries {
                let Some(node) = reader.told(entry.node()) else { continue };
                let Some(time) = finite(reader, &node, &entry.bindings, "a time") else { continue };
                if let Some(&before) = times.last().filter(|before| time <= **before) {
                    reader.mistake(Mistake::TimesFall { before, time, at: entry.span.into() });
                }
                times.push(time);
            }
            if let (Some(tend), Some(&first)) = (shared.tend, times.first())
                && (first >= tend || times.last().is_some_and(|last| *last <= shared.t0))
            {
                reader.mistake(Mistake::Syntax {
                    message: "none of these times lies in the interval of time".into(),
                    label: format!("the run goes from {} to {tend}", shared.t0),
                    at: (*span).into(),
                    help: Some("times count from zero, not from the entry into the mode".into()),
                });
            }
            job.schedule = Some(Schedule::Times(times));
        }
        if let Some(node) = &self.every {
            let Some(period) = finite(reader, node, &Bindings::default(), "`every`") else { return };
            if period <= 0.0 {
                reader.mistake(Mistake::NotPositive { what: "`every`".into(), value: period, at: node.span.into() });
                return;
            }
            let first = self.first.as_ref().and_then(|node| finite(reader, node, &Bindings::default(), "`first`"));
            job.schedule = Some(Schedule::Every { first: first.unwrap_or(shared.t0 + period), period });
        }
    }
}

/// Two transitions of a mode with the same condition and different targets contradict each other, unless their priorities differ.
pub(super) fn check_pairs(reader: &mut Reader, plans: &[TransitionDraft], modes: &[ModeDraft]) {
    let mut first: HashMap<(String, usize, Option<i32>), &TransitionDraft> = HashMap::new();
    for plan in plans.iter().filter(|plan| plan.when.is_some() && plan.to.is_some()) {
        let text: String = plan.text.chars().filter(|c| !c.is_whitespace()).collect();
        for &mode in &plan.from {
            let other = *first.entry((text.clone(), mode, plan.priority)).or_insert(plan);
            if other.to == plan.to {
                continue;
            }
            let name = |mode: Option<usize>| mode.map_or_else(String::new, |mode| modes[mode].name.clone());
            reader.mistake(Mistake::Contradiction {
                mode: name(Some(mode)),
                one: name(other.to),
                other: name(plan.to),
                first: other.span.into(),
                at: plan.span.into(),
            });
        }
    }
}
