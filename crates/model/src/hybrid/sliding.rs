//! `[sliding]`: how sliding is noticed, and modes that are written for it.

use super::model::SlidingMethod;
use super::{Declared, choice, find_mode, mode_of};
use crate::diagnostic::Mistake;
use crate::document::{self, Item, Section, wrong_type};
use crate::reader::Reader;
use crate::source::Span;
use daedal::hybrid::{Detection, HybridOptions, SlidingMode};
use toml::de::{DeTable, DeValue};

const DETECTIONS: [(&str, Detection); 4] = [
    ("both", Detection::Both),
    ("condition", Detection::Condition),
    ("three-points", Detection::ThreePoints),
    ("off", Detection::Off),
];

const METHODS: [(&str, SlidingMethod); 2] =
    [("filippov", SlidingMethod::Filippov), ("equivalent-control", SlidingMethod::EquivalentControl)];

/// What the section says.
pub(super) struct Sliding {
    pub detection: Detection,
    pub method: SlidingMethod,
    pub chatter_time: f64,
    pub probe: f64,
    /// Modes that are written for sliding, with their places.
    pub modes: Vec<(SlidingMode, Span)>,
}

/// Read the section, if there is one.
pub(super) fn read(reader: &mut Reader, root: &DeTable, modes: &[Declared]) -> Sliding {
    let defaults = HybridOptions::default();
    let mut sliding = Sliding {
        detection: defaults.detection,
        method: SlidingMethod::default(),
        chatter_time: defaults.chatter_time,
        probe: defaults.probe,
        modes: Vec::new(),
    };
    let Some(section) = Section::find(reader, root, "sliding", "[sliding]") else { return sliding };
    section.check_keys(reader, &["detection", "method", "chatter_time", "probe", "modes"]);
    if let Some((detection, _)) = choice(reader, section, "detection", &DETECTIONS) {
        sliding.detection = detection;
    }
    if let Some((method, _)) = choice(reader, section, "method", &METHODS) {
        sliding.method = method;
    }
    if let Some(time) = document::positive(reader, section, "chatter_time") {
        sliding.chatter_time = time;
    }
    if let Some(step) = document::positive(reader, section, "probe") {
        sliding.probe = step;
    }
    match section.get("modes").map(|value| (value, value.get_ref())) {
        Some((_, DeValue::Array(items))) => {
            for item in items.iter() {
                if let Some(mode) = written(reader, item, modes, &sliding.modes) {
                    sliding.modes.push((mode, item.span().into()));
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
fn written(
    reader: &mut Reader,
    item: &Item,
    modes: &[Declared],
    others: &[(SlidingMode, Span)],
) -> Option<SlidingMode> {
    let span = Span::from(item.span());
    let DeValue::Table(table) = item.get_ref() else {
        reader.mistake(wrong_type("a sliding mode", "a table { between = [\"a\", \"b\"], mode = \"c\" }", item));
        return None;
    };
    let section = Section { title: "`modes` of [sliding]", span, table };
    section.check_keys(reader, &["between", "mode"]);
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
    let Some([first, second]) = value.get_ref().as_array().map(|items| &items[..]) else {
        reader.mistake(wrong_type("`between`", "a list of two modes", value));
        return None;
    };
    let mut find = |item: &Item| match item.get_ref().as_str() {
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
    } else if others.iter().any(|(other, _)| same_pair(other.between)) {
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
    Some(SlidingMode { between, mode })
}
