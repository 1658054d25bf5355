//! `[modes]`, `[[transitions]]`, `[sliding]`: systems that switch between modes.
//!
//! A mode is an ordinary model: the tables of the file that all modes share with those of the mode laid over them, read with names of
//! its own. Conditions and `set` of a transition are formulas in the graph of the mode that is left.
//!
//! | file | what |
//! | --- | --- |
//! | `model` | what is known after reading |
//! | `modes`, `merge` | `[modes]`: one model for each mode |
//! | `transitions` | `[[transitions]]` as they are written |
//! | `condition` | conditions and changes of the state as graph nodes |
//! | `sliding`, `options` | `[sliding]`, and what `[solve]` and `[initial]` say beyond ordinary models |
//! | `resolve`, `reachable` | names in the modes that are entered; modes that nothing leads to |
//! | `unknowns`, `build` | the system that can be solved |
//! | `outputs` | outputs that mean the same in several modes |

mod build;
mod condition;
mod merge;
mod model;
mod modes;
mod options;
mod outputs;
mod reachable;
mod resolve;
mod sliding;
mod transitions;

use crate::control;
use crate::diagnostic::Mistake;
use crate::document::{Section, wrong_type};
use crate::events;
use crate::picture::PictureDraft;
use crate::reader::Reader;
use crate::source::Span;
use crate::suggestion::help;
use crate::unknowns;
pub use build::Methods;
pub(crate) use condition::{Job, logic, lower};
pub use model::{HybridMode, HybridModel, HybridSliding, HybridTransition, HybridTrigger, Statement};
pub(crate) use resolve::statement;
use toml::de::{DeTable, DeValue};

/// Most modes of a file.
const MOST_MODES: usize = 200;

/// Sections of the file that all modes share.
pub(crate) struct Shared<'t, 'i> {
    pub root: &'t DeTable<'i>,
    pub t0: f64,
    pub tend: Option<f64>,
    pub overrides: &'t [(String, f64)],
    /// Formulation that [solve] wishes for.
    pub formulation: Option<String>,
    /// Events that do not switch.
    pub events: &'t [events::EventDraft],
    pub picture: &'t PictureDraft,
}

/// A mode as it is declared.
pub(crate) struct ModeDraft<'t, 'i> {
    pub name: String,
    /// "[modes.slip]"
    pub title: String,
    /// Its name in the file.
    pub span: Span,
    pub table: &'t DeTable<'i>,
}

impl<'t, 'i> ModeDraft<'t, 'i> {
    pub fn section<'s>(&'s self) -> Section<'s, 'i>
    where
        't: 's,
    {
        Section { title: &self.title, span: self.span, table: self.table }
    }
}

/// The modes that the file declares.
pub(crate) fn declared<'t, 'i>(reader: &mut Reader, root: &'t DeTable<'i>) -> Option<Vec<ModeDraft<'t, 'i>>> {
    let section = Section::find(reader, root, "modes", "[modes.NAME]")?;
    let mut modes = Vec::new();
    if section.table.is_empty() {
        reader.mistake(Mistake::Missing {
            what: "a mode".into(),
            at: section.span.into(),
            label: "this section is empty".into(),
            help: "write [modes.NAME] for each mode".into(),
        });
    }
    for (key, value) in section.table {
        let (name, span) = (key.get_ref().to_string(), Span::from(key.span()));
        if modes.len() >= MOST_MODES {
            reader.mistake(Mistake::TooLarge {
                limit: MOST_MODES,
                wanted: String::new(),
                unit: "modes".into(),
                at: span.into(),
            });
            break;
        }
        if name.is_empty() || name == "*" {
            reader.mistake(Mistake::Reserved {
                meaning: if name.is_empty() {
                    "nothing is written here".into()
                } else {
                    "`*` stands for every mode".into()
                },
                name,
                what: "a mode".into(),
                at: span.into(),
            });
            continue;
        }
        match value.get_ref() {
            DeValue::Table(table) => modes.push(ModeDraft { title: format!("[modes.{name}]"), name, span, table }),
            _ => reader.mistake(wrong_type(&format!("the mode `{name}`"), &format!("a section [modes.{name}]"), value)),
        }
    }
    (!modes.is_empty()).then_some(modes)
}

/// Names that modes have numbers of their own for: mode, name.
pub(crate) fn parameters_of_modes(modes: &[ModeDraft]) -> Vec<(String, String)> {
    let own = |mode: &ModeDraft| match mode.table.get("parameters").map(toml::Spanned::get_ref) {
        Some(DeValue::Table(table)) => {
            table.keys().map(|key| (mode.name.clone(), key.get_ref().to_string())).collect::<Vec<_>>()
        }
        _ => Vec::new(),
    };
    modes.iter().flat_map(own).collect()
}

/// Read everything that a system with modes has beyond an ordinary model. Also: names and numbers of the parameters of modes, and
/// the parameters that decided what the formulas look like.
#[allow(clippy::type_complexity)] // a model, its parameters, and which of them decide structure
pub(crate) fn read(
    reader: &mut Reader,
    shared: &Shared,
    modes: &[ModeDraft],
) -> Option<(HybridModel, Vec<(String, f64)>, Vec<String>)> {
    if modes.is_empty() {
        return None;
    }
    let initial = options::initial(reader, shared.root, modes);
    let plans = transitions::read(reader, shared.root, modes);
    let sliding = sliding::read(reader, shared.root, modes);
    let read = modes::read(reader, shared, modes, &plans, &sliding.modes, initial.mode);
    reader.tell_left_out();
    transitions::check_pairs(reader, &plans, modes);
    if shared.root.get("transitions").is_none_or(|value| value.get_ref().is_array()) {
        reachable::check(reader, modes, &plans, &sliding.modes, initial.mode);
    }
    let limits = options::limits(reader, shared.root);
    let controlled = Section::find(reader, shared.root, "control", "[control]");
    let names: Vec<&str> = modes.iter().map(|mode| mode.name.as_str()).collect();
    let sequence = control::sequence(reader, controlled, &names);
    let read = read?;
    let found = read.modes.iter().flat_map(|mode| mode.events.iter().map(|event| event.name.as_str()));
    events::check_modes(reader, shared.events, &found.collect::<Vec<_>>());
    let transitions = resolve::transitions(reader, &plans, &read.modes, &read.jobs)?;
    let slides = sliding::finish(reader, &sliding.modes, &read, plans.len())?;
    resolve::check_names(reader, &read.modes, &read.keep, &plans);
    options::check_restarts(reader, &plans, &read.modes, modes, &initial);
    let mode = initial.mode?;
    let model = HybridModel {
        initial: daedal::Initial {
            mode,
            t: shared.t0,
            states: unknowns::start(&read.modes[mode].kind),
            restart: initial.restart.map(|(restart, _)| restart),
            ..daedal::Initial::default()
        },
        options: daedal::hybrid::HybridOptions {
            detection: sliding.detection,
            combination: sliding.combination,
            hysteresis: sliding.hysteresis,
            chatter_time: sliding.chatter_time,
            probe: sliding.probe,
            ..limits
        },
        sliding: slides,
        sequence,
        modes: read.modes,
        transitions,
    };
    Some((model, read.parameters, read.structural))
}

/// The mode of this name.
fn find_mode(reader: &mut Reader, modes: &[ModeDraft], name: &str, at: Span) -> Option<usize> {
    let found = modes.iter().position(|mode| mode.name == name);
    if found.is_none() {
        let list = if modes.len() == 1 { "the only mode is" } else { "the modes are" };
        let help = help(name, modes.iter().map(|mode| mode.name.as_str()), list);
        reader.mistake(Mistake::UnknownMode { name: name.into(), at: at.into(), help });
    }
    found
}

/// The mode that a key names.
fn mode_of(reader: &mut Reader, section: Section, key: &str, modes: &[ModeDraft]) -> Option<usize> {
    let name = section.string(reader, key)?;
    let at = Span::from(section.get(key)?.span());
    find_mode(reader, modes, &name, at)
}

/// One of several words.
pub(crate) fn choice<T: Copy>(
    reader: &mut Reader,
    section: Section,
    key: &str,
    choices: &[(&str, T)],
) -> Option<(T, Span)> {
    let word = section.string(reader, key)?;
    let at = Span::from(section.get(key)?.span());
    if let Some((_, value)) = choices.iter().find(|(name, _)| *name == word) {
        return Some((*value, at));
    }
    let help = help(&word, choices.iter().map(|(name, _)| *name), "it is one of");
    reader.mistake(Mistake::Syntax {
        message: format!("`{key}` cannot be `{word}`"),
        label: "unknown word".into(),
        at: at.into(),
        help: Some(help),
    });
    None
}
