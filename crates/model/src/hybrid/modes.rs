//! `[modes.NAME]`: an ordinary model for each mode, read with names of its own.

use super::condition::Job;
use super::model::HybridMode;
use super::options::{RESTARTS, amount, keep};
use super::sliding::SlidingModeDraft;
use super::transitions::TransitionDraft;
use super::{ModeDraft, Shared, choice, merge};
use crate::bodies::{self, ModeOfBodies};
use crate::control;
use crate::dae;
use crate::diagnostic::Mistake;
use crate::document::{self, Section};
use crate::entries::Name;
use crate::events;
use crate::model::ModelKind;
use crate::motion::{self, Beside};
use crate::parameters;
use crate::reader::Reader;
use crate::source::Span;
use crate::suggestion::{enumerate, help};
use crate::unknowns;
use daedal::catalogue;
use daedal::dae::Form;
use daedal::formulation::Formulation;
use toml::de::DeTable;

const KEYS: [&str; 11] = [
    "description",
    "parameters",
    "definitions",
    "motion",
    "dae",
    "without",
    "method",
    "formulation",
    "restart",
    "keep",
    "dwell",
];

/// All modes.
#[derive(Default)]
pub(super) struct ReadModes<'p, 't, 'i> {
    pub modes: Vec<HybridMode>,
    /// What leaves each mode.
    pub jobs: Vec<Vec<Job<'p, 't, 'i>>>,
    /// Names that each mode keeps, with their places.
    pub keep: Vec<Vec<Name>>,
    /// Numbers that modes have for themselves.
    pub parameters: Vec<(String, f64)>,
    /// Parameters that decided what the formulas look like.
    pub structural: Vec<String>,
}

/// Read all modes; nothing if one of them has no equations.
pub(super) fn read<'p, 't, 'i>(
    reader: &mut Reader,
    shared: &Shared,
    declared: &[ModeDraft],
    plans: &'p [TransitionDraft<'t, 'i>],
    sliding: &'p [SlidingModeDraft<'t, 'i>],
    initial: Option<usize>,
) -> Option<ReadModes<'p, 't, 'i>> {
    let mut all = ReadModes::default();
    let mut complete = true;
    for (k, mode) in declared.iter().enumerate() {
        if reader.is_full() {
            return None;
        }
        let leaving = plans.iter().enumerate().filter(|(_, plan)| plan.from.contains(&k));
        let mut jobs: Vec<Job> =
            leaving.map(|(number, plan)| Job::new(number, plan.when.as_deref(), &plan.set)).collect();
        let slides = sliding.iter().enumerate().filter(|(_, sliding)| sliding.between.0 == k);
        jobs.extend(slides.map(|(number, sliding)| Job::new(plans.len() + number, None, &sliding.set)));
        let mut own = reader.for_mode(&mode.name);
        let read = one(&mut own, shared, mode, &mut jobs, plans, initial == Some(k));
        let names_of_its_own = |name: &str| {
            let base = name.split('[').next().unwrap_or(name);
            table(mode.table, "parameters").is_some_and(|table| table.contains_key(base))
        };
        for name in own.structural() {
            let name = if names_of_its_own(&name) { format!("{}.{name}", mode.name) } else { name };
            if !all.structural.contains(&name) {
                all.structural.push(name);
            }
        }
        for number in 0..own.parameters.len() {
            let name = own.parameters[number].name.clone();
            if names_of_its_own(&name) {
                let value = own.parameter(number).unwrap_or(f64::NAN);
                all.parameters.push((format!("{}.{name}", mode.name), value));
            }
        }
        reader.resume(own);
        match read {
            Some((read, keep)) => {
                all.modes.push(read);
                all.jobs.push(jobs);
                all.keep.push(keep);
            }
            None => complete = false,
        }
    }
    complete.then_some(all)
}

/// A table inside of a table, if it is one.
fn table<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<&'t DeTable<'i>> {
    table.get(key).and_then(|value| value.get_ref().as_table())
}

#[allow(clippy::too_many_lines)] // one table after the other
fn one(
    reader: &mut Reader,
    shared: &Shared,
    mode: &ModeDraft,
    jobs: &mut [Job],
    plans: &[TransitionDraft],
    is_first: bool,
) -> Option<(HybridMode, Vec<Name>)> {
    let (section, root) = (mode.section(), shared.root);
    section.check_keys(reader, &KEYS);
    for key in ["parameters", "definitions", "motion", "dae"] {
        if let Some(value) = section.get(key).filter(|value| !value.get_ref().is_table()) {
            reader.mistake(document::wrong_type(&format!("`{key}`"), "a table { name = value, … }", value));
        }
    }
    // the tables of the file with those of the mode over them
    let numbers = merge::replaced(table(root, "parameters"), table(mode.table, "parameters"));
    let definitions = merge::replaced(table(root, "definitions"), table(mode.table, "definitions"));
    let place = |key: &str| {
        let found = root.get_key_value(key).or_else(|| mode.table.get_key_value(key));
        found.map_or(mode.span, |(key, _)| Span::from(key.span()))
    };
    let over = |title, key, table| Section { title, span: place(key), table };
    let own = table(mode.table, "parameters");
    parameters::read_mode(reader, over("[parameters]", "parameters", &numbers), own, &mode.name, shared.overrides);
    let beside = Beside {
        definitions: Some(over("[definitions]", "definitions", &definitions)),
        last: None,
        initial: is_first.then(|| Section::find(reader, root, "initial", "[initial]")).flatten(),
        output: Section::find(reader, root, "output", "[output]"),
        events: shared.events,
        picture: shared.picture,
        control: Section::find(reader, root, "control", "[control]"),
        t0: shared.t0,
        tend: None,
    };
    let is_there = |key: &str| table(root, key).is_some() || table(mode.table, key).is_some();
    let of_bodies = bodies::present(root);
    if let Some((key, _)) = mode.table.get_key_value("without").filter(|_| !of_bodies) {
        reader.mistake(Mistake::NotAllowed {
            what: "`without`".into(),
            place: "a file without [[bodies]]".into(),
            at: Span::from(key.span()).into(),
            label: "joints and forces that a mode does not have".into(),
            help: "constraints that only some modes have stand in these modes: motion = { holonomic = { … } }".into(),
        });
    }
    let mut drawn = None;
    let kind = match (is_there("motion"), is_there("dae")) {
        (with_motion, false) if of_bodies => {
            control::refuse(reader, beside.control, true, false);
            let merged = merge::motion(table(root, "motion"), table(mode.table, "motion"));
            let motion = with_motion.then(|| over("[motion]", "motion", &merged));
            let left_out = section.get("without");
            let without = left_out.map(|item| bodies::names(reader, item, "without", "the name of a joint or a force"));
            let all = table(root, "modes").into_iter().flatten().map(|(key, _)| key.get_ref().to_string()).collect();
            let of = ModeOfBodies { name: mode.name.clone(), all, without: without.unwrap_or_default() };
            let read = bodies::read(reader, root, motion, beside, &[], of, jobs)?;
            drawn = Some(read.system);
            let (formulas, initial) = (Box::new(read.formulas), Box::new(read.initial));
            ModelKind::Motion { formulas, initial, texts: read.texts }
        }
        (_, true) if of_bodies => {
            reader.mistake(Mistake::NotAllowed {
                what: "`dae`".into(),
                place: "a file with [[bodies]]".into(),
                at: place("dae").into(),
                label: "other equations".into(),
                help: "bodies have equations of motion; states of force elements stand in [motion] as `dynamic`".into(),
            });
            return None;
        }
        (true, true) => {
            reader.mistake(Mistake::BothKinds { motion: place("motion").into(), dae: place("dae").into() });
            return None;
        }
        (true, false) => {
            control::refuse(reader, beside.control, true, false);
            let merged = merge::motion(table(root, "motion"), table(mode.table, "motion"));
            let (formulas, initial, texts, _) = motion::read(reader, over("[motion]", "motion", &merged), beside, jobs);
            ModelKind::Motion { formulas: Box::new(formulas), initial: Box::new(initial), texts }
        }
        (false, true) => {
            let merged = merge::dae(table(root, "dae"), table(mode.table, "dae"));
            let read = dae::read(reader, over("[dae]", "dae", &merged), beside, jobs);
            read.into_kind().0
        }
        (false, false) => {
            reader.mistake(Mistake::Missing {
                what: format!("a table with the equations of mode `{}`", mode.name),
                at: mode.span.into(),
                label: "this mode has none".into(),
                help: "write [dae] or [motion] for what all modes share, or `dae` or `motion` into the mode".into(),
            });
            return None;
        }
    };
    for job in jobs {
        if let Some(plan) = plans.get(job.plan) {
            plan.numbers(reader, job, shared);
        }
    }
    let keep = keep(reader, section);
    let (names, sources) = unknowns::of(&kind);
    let events = events::finish(reader, shared.events, &kind, &sources);
    let read = HybridMode {
        name: mode.name.clone(),
        description: section.string(reader, "description"),
        unknowns: names,
        method: method(reader, section, &kind),
        formulation: formulation(reader, section, &kind, shared),
        restart: choice(reader, section, "restart", &RESTARTS).map(|(restart, _)| restart).unwrap_or_default(),
        keep: keep.iter().map(Name::unknown).collect(),
        dwell: amount(reader, section, "dwell").unwrap_or(0.0),
        events,
        picture: std::mem::take(&mut reader.picture),
        sources,
        kind,
        bodies: drawn,
    };
    Some((read, keep))
}

fn method(reader: &mut Reader, section: Section, kind: &ModelKind) -> Option<&'static str> {
    // what solves other equations is known, too, where it is written
    let written = section.get("method").and_then(|item| item.get_ref().as_str());
    let of_motion = matches!(kind, ModelKind::Motion { .. });
    let general: Vec<&str> = catalogue::general().collect();
    let fits = |name: &str| of_motion || general.contains(&name) || written == Some(name);
    let named = catalogue::all().iter().map(|entry| entry.name).filter(|name| fits(name));
    let known: Vec<_> = [("auto", None)].into_iter().chain(named.map(|name| (name, Some(name)))).collect();
    let (method, at) = choice(reader, section, "method", &known)?;
    let name = method?;
    if !of_motion && !general.contains(&name) {
        reader.mistake(Mistake::Syntax {
            message: format!("the method `{name}` does not solve this mode"),
            label: "for other equations".into(),
            at: at.into(),
            help: Some(format!(
                "`{name}` is for equations of motion; general systems take {}",
                enumerate(general.iter().copied())
            )),
        });
    }
    Some(name)
}

fn formulation(reader: &mut Reader, section: Section, kind: &ModelKind, shared: &Shared) -> Option<String> {
    let forms = Form::ALL.map(Form::name);
    let of_motion = Formulation::ALL.map(Formulation::name);
    let known: &[&str] = if matches!(kind, ModelKind::Motion { .. }) { &of_motion } else { &forms };
    let Some(formulation) = section.string(reader, "formulation") else {
        // that of the file, where it is for such equations
        return shared.formulation.clone().filter(|formulation| known.contains(&formulation.as_str()));
    };
    if !known.contains(&formulation.as_str()) {
        let at = section.get("formulation").map_or(section.span, |item| item.span().into());
        reader.mistake(Mistake::Syntax {
            message: format!("there is no formulation `{formulation}` of such equations"),
            label: "unknown formulation".into(),
            at: at.into(),
            help: Some(help(&formulation, known.iter().copied(), "the formulations are")),
        });
    }
    Some(formulation)
}
