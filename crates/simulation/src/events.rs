//! The events of a run: those of the model, and those that are asked for with it.

use crate::error::Error;
use crate::model::{Model, ModelSource, ModelSystem, MotionModel, SwitchedModel};
use crate::settings::{EventAction, EventSetting};
use daedal::Action;
use daedal::motion::Names;
use daedal_model::{GivenEvent, GivenMistakes, HybridModel, ModelEvents, ModelKind};
use std::fmt::Write;
use std::path::Path;

/// The events of a model without modes.
pub fn of_model(model: &Model, asked: &[EventSetting]) -> Result<ModelEvents, Error> {
    match (&model.source, &model.content.equations) {
        _ if asked.is_empty() => Ok(model.content.events.clone()),
        (ModelSource::Text { name, text, folder }, _) => {
            Ok(read((name, text, folder.as_deref()), &model.content.changed, asked)?.events)
        }
        (ModelSource::Reference(_) | ModelSource::Program { .. }, ModelSystem::Motion(motion)) => {
            let text = variables(motion, model.parameters());
            Ok(read((&model.source_name(), &text, None), &[], asked)?.events)
        }
        (ModelSource::Reference(_) | ModelSource::Program { .. }, _) => Ok(ModelEvents::default()),
    }
}

/// A model with modes, which have the events.
pub fn of_modes(model: &Model, modes: &SwitchedModel, asked: &[EventSetting]) -> Result<HybridModel, Error> {
    match &model.source {
        ModelSource::Text { name, text, folder } if !asked.is_empty() => {
            match read((name, text, folder.as_deref()), &model.content.changed, asked)?.kind {
                ModelKind::Hybrid(model) => Ok(*model),
                ModelKind::Motion { .. } | ModelKind::Dae { .. } => Ok(modes.model.clone()),
            }
        }
        _ => Ok(modes.model.clone()),
    }
}

/// Read a model, with further conditions in the words of its file.
pub fn read(
    (name, text, folder): (&str, &str, Option<&Path>),
    set: &[(String, f64)],
    asked: &[EventSetting],
) -> Result<daedal_model::Model, Error> {
    let given = |event: &EventSetting| GivenEvent {
        name: event.name.clone(),
        when: event.when.clone(),
        action: match event.action {
            EventAction::Record => Action::Record,
            EventAction::Stop => Action::Stop,
        },
    };
    let given: Vec<GivenEvent> = asked.iter().map(given).collect();
    let read = match folder {
        Some(folder) => daedal_model::Model::read_in(folder, (name, text), set, &given),
        None => daedal_model::Model::read_with(name, text, set, &given),
    };
    read.map_err(|mistakes| error(mistakes, asked))
}

/// The same without what only pages show.
pub fn read_numbers(
    (name, text, folder): (&str, &str, Option<&Path>),
    set: &[(String, f64)],
) -> Result<daedal_model::Model, Error> {
    daedal_model::Model::read_numbers(folder, (name, text), set).map_err(|mistakes| error(mistakes, &[]))
}

fn error(mistakes: GivenMistakes, asked: &[EventSetting]) -> Error {
    match mistakes {
        GivenMistakes::File(mistakes) => Error::Model(Box::new(mistakes)),
        GivenMistakes::Event(number, mistakes) => {
            let EventSetting { when, action, .. } = asked[number].clone();
            Error::Event { when, action, mistakes: Box::new(mistakes) }
        }
    }
}

/// A model file with the variables and parameters of a program, so that conditions can speak of them.
fn variables(motion: &MotionModel, parameters: &[(String, f64)]) -> String {
    let names = motion.mechanism().names();
    let Names { positions, velocities, dynamic, auxiliary, contact, holonomic, nonholonomic, .. } = &names;
    let list = |names: &[String]| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let declared = [positions, velocities, dynamic, auxiliary, contact];
    if velocities.is_empty() {
        // nothing moves: in a general system the same variables stand in the same places of the state, w before r
        let can_be_written = |name: &str| name.chars().all(|c| c.is_alphanumeric() || "_[],.".contains(c));
        let all = auxiliary.iter().chain(dynamic).enumerate();
        let all = all.map(|(k, name)| if can_be_written(name) { name.clone() } else { format!("unnamed_{k}") });
        let states: Vec<String> = all.collect();
        let equations: Vec<String> = states.iter().map(|name| format!("{name} = 0")).collect();
        let text = format!("[dae]\nstates = [{}]\nequations = [{}]\n", list(&states), list(&equations));
        return format!("[model]\nname = \"variables\"\n{text}{}", given(parameters, &[&states]));
    }
    let same = |names: &[String], formula: &str| {
        names.iter().map(|name| format!("{name:?} = {formula:?}")).collect::<Vec<_>>().join(", ")
    };
    let mut text = String::from("[model]\nname = \"variables\"\n[motion]\n");
    let (ones, zeros) = (vec!["1"; velocities.len()].join(", "), vec!["0"; velocities.len()].join(", "));
    let _ = writeln!(text, "positions = [{}]\nvelocities = [{}]", list(positions), list(velocities));
    let _ = writeln!(text, "mass = [{ones}]\nforces = [{zeros}]\nkinematics = {{ {} }}", same(positions, "0"));
    for (key, names) in [("dynamic", dynamic), ("auxiliary", auxiliary), ("contact", contact)] {
        if !names.is_empty() {
            let _ = writeln!(text, "{key} = {{ {} }}", same(names, "0"));
        }
    }
    for (key, names) in [("holonomic", holonomic), ("nonholonomic", nonholonomic)] {
        // constraints without names have numbers, as in a list
        if names.iter().any(|name| name.starts_with(|c: char| c.is_ascii_digit())) {
            let _ = writeln!(text, "{key} = [{}]", vec!["0"; names.len()].join(", "));
        } else if !names.is_empty() {
            let _ = writeln!(text, "{key} = {{ {} }}", same(names, "0"));
        }
    }
    text + &given(parameters, &declared)
}

/// The parameters that have no name of these variables.
fn given(parameters: &[(String, f64)], declared: &[&Vec<String>]) -> String {
    let is_new = |name: &str| !declared.iter().any(|names| names.iter().any(|known| known == name));
    let new = parameters.iter().filter(|(name, _)| is_new(name));
    new.fold(String::from("[parameters]\n"), |text, (name, value)| text + &format!("{name:?} = {value:?}\n"))
}
