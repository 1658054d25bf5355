//! `[sliding]`: how sliding is noticed, and modes that are written for it.

use super::condition::ChangeDraft;
use super::model::{HybridMode, HybridSliding};
use super::modes::ReadModes;
use super::resolve::{UnknownPlaces, new_values};
use super::transitions::changes;
use super::{ModeDraft, choice, find_mode, mode_of};
use crate::diagnostic::Mistake;
use crate::document::{self, Section, TomlItem, wrong_type};
use crate::reader::Reader;
use crate::source::Span;
use daedal::hybrid::{Combination, Detection, HybridOptions, Hysteresis};
use toml::de::{DeTable, DeValue};

const DETECTIONS: [(&str, Detection); 4] = [
    ("both", Detection::Both),
    ("condition", Detection::Condition),
    ("three-points", Detection::ThreePoints),
    ("off", Detection::Off),
];

const METHODS: [(&str, Combination); 2] =
    [("filippov", Combination::Filippov), ("equivalent-control", Combination::EquivalentControl)];

const HYSTERESES: [(&str, Hysteresis); 2] = [("alternates", Hysteresis::Alternates), ("limit", Hysteresis::Limit)];

/// What the section says.
pub(super) struct SlidingDraft<'t, 'i> {
    pub detection: Detection,
    pub combination: Combination,
    pub hysteresis: Hysteresis,
    pub chatter_time: Option<f64>,
    pub probe: f64,
    /// Modes that are written for sliding, with their places.
    pub modes: Vec<SlidingModeDraft<'t, 'i>>,
}

/// A mode that is written for sliding between two others.
pub(super) struct SlidingModeDraft<'t, 'i> {
    pub between: (usize, usize),
    pub mode: usize,
    pub set: Vec<ChangeDraft<'t, 'i>>,
    pub span: Span,
}

/// Read the section, if there is one.
pub(super) fn read<'t, 'i>(reader: &mut Reader, root: &'t DeTable<'i>, modes: &[ModeDraft]) -> SlidingDraft<'t, 'i> {
    let defaults = HybridOptions::default();
    let mut sliding = SlidingDraft {
        detection: defaults.detection,
        combination: defaults.combination,
        hysteresis: defaults.hysteresis,
        chatter_time: defaults.chatter_time,
        probe: defaults.probe,
        modes: Vec::new(),
    };
    let Some(section) = Section::find(reader, root, "sliding", "[sliding]") else { return sliding };
    section.check_keys(reader, &["detection", "hysteresis", "method", "chatter_time", "probe", "modes"]);
    if let Some((detection, _)) = choice(reader, section, "detection", &DETECTIONS) {
        sliding.detection = detection;
    }
    if let Some((combination, _)) = choice(reader, section, "method", &METHODS) {
        sliding.combination = combination;
    }
    if let Some((hysteresis, _)) = choice(reader, section, "hysteresis", &HYSTERESES) {
        sliding.hysteresis = hysteresis;
    }
    if let Some(time) = document::positive(reader, section, "chatter_time") {
        sliding.chatter_time = Some(time);
    }
    if let Some(step) = document::positive(reader, section, "probe") {
        sliding.probe = step;
    }
    match section.get("modes").map(|value| (value, value.get_ref())) {
        Some((_, DeValue::Array(items))) => {
            for item in items {
                if let Some(mode) = written(reader, item, modes, &sliding.modes) {
                    sliding.modes.push(mode);
                }
            }
        }
        Some((value, _)) => {
            reader.mistake(wrong_type("`modes`", "a list of tables { between = [\"a\", \"b\"], mode = \"c\" }", value));
        }
        None => {}
    }
    sliding
}

/// A mode that is written for sliding between two others.
fn written<'t, 'i>(
    reader: &mut Reader,
    item: &'t TomlItem<'i>,
    modes: &[ModeDraft],
    others: &[SlidingModeDraft],
) -> Option<SlidingModeDraft<'t, 'i>> {
    let span = Span::from(item.span());
    let DeValue::Table(table) = item.get_ref() else {
        reader.mistake(wrong_type("a sliding mode", "a table { between = [\"a\", \"b\"], mode = \"c\" }", item));
        return None;
    };
    let section = Section { title: "`modes` of [sliding]", span, table };
    section.check_keys(reader, &["between", "mode", "set"]);
    for key in ["between", "mode"] {
        if section.get(key).is_none() {
            reader.mistake(Mistake::Missing {
                what: format!("the key `{key}` of a sliding mode"),
                at: span.into(),
                label: "in this table".into(),
                help: "write { between = [\"a\", \"b\"], mode = \"c\" }; without such a table sliding modes are generated from the equations"
                    .into(),
            });
        }
    }
    let mode = mode_of(reader, section, "mode", modes);
    let value = section.get("between")?;
    let Some(items) = value.get_ref().as_array() else {
        reader.mistake(wrong_type("`between`", "a list of two modes", value));
        return None;
    };
    let [first, second] = &items[..] else {
        reader.mistake(Mistake::Count {
            message: "`between` has two entries, the modes on both sides of the surface".into(),
            at: Span::from(value.span()).into(),
            found: items.len(),
            help: Some("write between = [\"a\", \"b\"]".into()),
        });
        return None;
    };
    let mut find = |item: &TomlItem| match item.get_ref().as_str() {
        Some(name) => find_mode(reader, modes, name, item.span().into()),
        None => {
            reader.mistake(wrong_type("an entry of `between`", "the name of a mode", item));
            None
        }
    };
    let (first, second) = (find(first), find(second));
    let (between, mode) = ((first?, second?), mode?);
    let same_pair = |other: (usize, usize)| other == between || other == (between.1, between.0);
    let wrong = if between.0 == between.1 {
        Some("a surface lies between two different modes")
    } else if mode == between.0 || mode == between.1 {
        Some("the mode for sliding is a third one")
    } else if others.iter().any(|other| same_pair(other.between)) {
        Some("there is a sliding mode between these two already")
    } else {
        None
    };
    if let Some(message) = wrong {
        reader.mistake(Mistake::Syntax {
            message: message.into(),
            label: "this sliding mode".into(),
            at: span.into(),
            help: Some("write { between = [\"a\", \"b\"], mode = \"c\" } with three modes, once for each pair".into()),
        });
        return None;
    }
    Some(SlidingModeDraft { between, mode, set: changes(reader, section), span })
}

/// Modes for sliding with the changes of the state, which were made in the graphs of the first modes; their jobs stand behind those of
/// `transitions` transitions.
pub(super) fn finish(
    reader: &mut Reader,
    written: &[SlidingModeDraft],
    read: &ReadModes,
    transitions: usize,
) -> Option<Vec<HybridSliding>> {
    let modes: &[HybridMode] = &read.modes;
    let places = UnknownPlaces::new(modes);
    let mut all = Vec::new();
    for (k, sliding) in written.iter().enumerate() {
        let (first, second) = sliding.between;
        let known = places.of(second);
        if !sliding.set.is_empty() && !modes[first].unknowns.iter().all(|name| known.contains_key(name.as_str())) {
            reader.mistake(Mistake::Syntax {
                message: format!("`{}` does not have the unknowns of `{}`", modes[second].name, modes[first].name),
                label: "`set` needs the same in both".into(),
                at: sliding.span.into(),
                help: Some("exchange the two modes, or give both the same unknowns".into()),
            });
        }
        let job = read.jobs.get(first)?.iter().find(|job| job.plan == transitions + k)?;
        let set = new_values(reader, job, &modes[first], &modes[sliding.mode], places.of(sliding.mode));
        all.push(HybridSliding { between: sliding.between, mode: sliding.mode, set });
    }
    Some(all)
}
