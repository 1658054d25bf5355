//! `[plots.NAME]`: which curves stand together on the page of a run, over time or over another curve, and in which unit.

use crate::diagnostic::Mistake;
use crate::document::{Section, wrong_type};
use crate::entries::{self, Name};
use crate::model::ModelKind;
use crate::reader::Reader;
use crate::source::Span;
use crate::suggestion::nearest;
use crate::unknowns;
use std::collections::{HashMap, HashSet};
use toml::de::{DeTable, DeValue};

/// A plot that a model asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPlot {
    /// Its heading.
    pub title: String,
    /// The variable or output that goes to the right; time if absent.
    pub x: Option<String>,
    /// Unit of that one.
    pub x_unit: Option<String>,
    /// The variables and outputs that go upward.
    pub curves: Vec<String>,
    /// Their unit.
    pub unit: Option<String>,
}

/// Read all of them; their curves are unknowns and outputs of the equations.
pub(crate) fn read(reader: &mut Reader, root: &DeTable, kind: &ModelKind) -> Vec<ModelPlot> {
    let Some(section) = Section::find(reader, root, "plots", "[plots.NAME]") else { return Vec::new() };
    let known = columns(kind);
    let mut units: HashMap<String, String> = HashMap::new();
    let mut plots = Vec::new();
    for (key, value) in section.table {
        let DeValue::Table(table) = value.get_ref() else {
            let what = format!("the plot `{}`", key.get_ref());
            reader.mistake(wrong_type(&what, &format!("a section [plots.{}]", key.get_ref()), value));
            continue;
        };
        let title = format!("[plots.{}]", key.get_ref());
        let section = Section { title: &title, span: key.span().into(), table };
        section.check_keys(reader, &["title", "x", "x_unit", "curves", "unit"]);
        let Some(curves) = section.get("curves") else {
            reader.mistake(Mistake::Missing {
                what: format!("the key `curves` of {title}"),
                at: section.span.into(),
                label: "nothing would be drawn".into(),
                help: "write curves = [\"x\", \"y\"] with names of variables and outputs".into(),
            });
            continue;
        };
        let names = entries::names(reader, curves, "curves").0;
        if names.is_empty() && curves.get_ref().as_array().is_some_and(|items| items.is_empty()) {
            reader.mistake(Mistake::Missing {
                what: format!("a curve in {title}"),
                at: Span::from(curves.span()).into(),
                label: "nothing would be drawn".into(),
                help: "write curves = [\"x\", \"y\"] with names of variables and outputs".into(),
            });
        }
        for name in &names {
            check(reader, name, &known);
        }
        let unit = section.string(reader, "unit");
        let x = section.string(reader, "x").filter(|x| x != "t");
        let x_unit = section.string(reader, "x_unit");
        let at = |key: &str| section.get(key).map_or(section.span, |value| value.span().into());
        if let Some(x) = x.as_ref().filter(|x| !known.is_empty() && !known.contains(*x)) {
            reader.mistake(unknown(x, at("x"), &known));
        }
        if x.is_none() && x_unit.is_some() {
            reader.mistake(Mistake::NotAllowed {
                what: "`x_unit`".into(),
                place: "a plot over time".into(),
                at: at("x_unit").into(),
                label: "of which curve?".into(),
                help: "write x = \"…\" with the variable or output that goes to the right".into(),
            });
        }
        let upward = names.iter().map(|name| (&name.full, &unit, at("unit")));
        for (name, unit, at) in upward.chain(x.iter().map(|x| (x, &x_unit, at("x_unit")))) {
            let Some(unit) = unit else { continue };
            let before = units.insert(name.clone(), unit.clone());
            if let Some(before) = before.filter(|before| before != unit) {
                reader.mistake(Mistake::Syntax {
                    message: format!("`{name}` has the unit {before} in another plot"),
                    label: "and another one here".into(),
                    at: at.into(),
                    help: Some("units are text and nothing is converted; give an output in the other unit".into()),
                });
            }
        }
        let title = section.string(reader, "title").unwrap_or_else(|| key.get_ref().to_string());
        plots.push(ModelPlot { title, x, x_unit, curves: names.into_iter().map(|name| name.full).collect(), unit });
    }
    plots
}

fn check(reader: &mut Reader, name: &Name, known: &HashSet<String>) {
    // where the equations have mistakes, nothing is known
    if !known.is_empty() && !known.contains(&name.full) {
        reader.mistake(unknown(&name.full, name.span, known));
    }
}

fn unknown(name: &str, at: Span, known: &HashSet<String>) -> Mistake {
    let mut sorted: Vec<&str> = known.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    let help = match nearest(name, sorted) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "curves are variables, multipliers and outputs".to_string(),
    };
    Mistake::UnknownName { name: name.into(), at: at.into(), help: Some(help) }
}

/// Names of unknowns and outputs.
fn columns(kind: &ModelKind) -> HashSet<String> {
    let outputs = match kind {
        ModelKind::Motion { formulas, .. } => &formulas.outputs,
        ModelKind::Dae { formulas, .. } => &formulas.outputs,
        ModelKind::Hybrid(model) => return model.modes.iter().flat_map(|mode| columns(&mode.kind)).collect(),
    };
    unknowns::of(kind).0.into_iter().chain(outputs.iter().map(|(name, _)| name.clone())).collect()
}
