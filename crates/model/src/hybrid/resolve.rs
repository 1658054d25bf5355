//! Transitions between the modes that were read: one for each mode that is left, with names looked up in the mode that is entered.

use super::condition::Job;
use super::model::{HybridMode, HybridTransition, HybridTrigger, Statement};
use super::transitions::TransitionDraft;
use crate::diagnostic::Mistake;
use crate::entries::Name;
use crate::model::ModelKind;
use crate::reader::Reader;
use crate::source::Span;
use crate::suggestion::help;
use crate::unknowns::InputSource;
use daedal::graph::{Expr, Graph};
use std::collections::HashMap;

const TRANSITION: &str = "a transition";

/// Transitions, one for each mode that is left.
pub(super) fn transitions(
    reader: &mut Reader,
    plans: &[TransitionDraft],
    modes: &[HybridMode],
    jobs: &[Vec<Job>],
) -> Option<Vec<HybridTransition>> {
    let places = UnknownPlaces::new(modes);
    let mut transitions = Vec::new();
    for (number, plan) in plans.iter().enumerate() {
        for &from in &plan.from {
            let job = jobs.get(from)?.iter().find(|job| job.plan == number)?;
            let to = plan.to?;
            let set = new_values(reader, job, &modes[from], &modes[to], places.of(to));
            let trigger = match (&job.logic, &job.schedule) {
                (Some(logic), _) => {
                    let at = plan.when.as_ref().map_or(plan.span, |node| node.span);
                    let mode = &modes[from];
                    let one = |written| statement(reader, &mode.kind, &mode.sources, written, TRANSITION, at);
                    let statements = job.statements.iter().map(one).collect();
                    HybridTrigger::When { text: plan.text.clone(), statements, logic: logic.clone() }
                }
                (None, Some(schedule)) => HybridTrigger::At(schedule.clone()),
                // a mistake was told
                (None, None) => return None,
            };
            transitions.push(HybridTransition {
                from,
                to,
                trigger,
                set,
                priority: plan.priority,
                restart: plan.restart.map(|(restart, _)| restart),
                keep: plan.keep.iter().map(Name::unknown).collect(),
                hysteresis: job.hysteresis,
                after_accumulation: plan.after_accumulation,
            });
        }
    }
    Some(transitions)
}

/// Where the unknowns of each mode stand.
pub(super) struct UnknownPlaces<'m>(Vec<HashMap<&'m str, usize>>);

impl<'m> UnknownPlaces<'m> {
    pub fn new(modes: &'m [HybridMode]) -> Self {
        let of = |mode: &'m HybridMode| mode.unknowns.iter().enumerate().map(|(k, name)| (name.as_str(), k)).collect();
        UnknownPlaces(modes.iter().map(of).collect())
    }

    pub fn of(&self, mode: usize) -> &HashMap<&'m str, usize> {
        &self.0[mode]
    }
}

/// New values with the places of their unknowns in the mode that is entered.
pub(super) fn new_values(
    reader: &mut Reader,
    job: &Job,
    from: &HybridMode,
    to: &HybridMode,
    places: &HashMap<&str, usize>,
) -> Vec<(String, usize, Expr)> {
    let mut values: Vec<(String, usize, Expr)> = Vec::new();
    for (name, value) in &job.changes {
        let unknown = name.unknown();
        let Some(&place) = places.get(unknown.as_str()) else {
            reader.mistake(not_in_mode(name, to));
            continue;
        };
        if values.iter().any(|(_, other, _)| *other == place) {
            let (what, at) = ("a new value".into(), name.span.into());
            reader.mistake(Mistake::Duplicate { name: unknown, what, first: None, at, help: None });
            continue;
        }
        depends(reader, &from.kind, &from.sources, *value, TRANSITION, name.span);
        values.push((unknown, place, *value));
    }
    values
}

/// A comparison as a switching function; `place` is where it stands.
pub(crate) fn statement(
    reader: &mut Reader,
    kind: &ModelKind,
    sources: &[Option<InputSource>],
    (text, g, strict): &(String, Expr, bool),
    place: &str,
    at: Span,
) -> Statement {
    let uses_derivatives = depends(reader, kind, sources, *g, place, at);
    Statement { text: text.clone(), g: *g, strict: *strict, uses_derivatives }
}

/// Does a formula contain derivatives that are no unknowns? Those that nobody computes are mistakes.
fn depends(
    reader: &mut Reader,
    kind: &ModelKind,
    sources: &[Option<InputSource>],
    formula: Expr,
    place: &str,
    at: Span,
) -> bool {
    let graph: &Graph = match kind {
        ModelKind::Motion { formulas, .. } => &formulas.graph,
        ModelKind::Dae { formulas, .. } => &formulas.graph,
        ModelKind::Hybrid(_) => return false,
    };
    let inputs = graph.depends_on(formula);
    if let Some(&input) = inputs.iter().find(|&&input| sources.get(input).copied().flatten().is_none()) {
        let name = graph.inputs().nth(input).map_or("", |(name, _)| name).to_string();
        reader.mistake(Mistake::NotAllowed {
            what: format!("the derivative `{name}`"),
            place: place.into(),
            at: at.into(),
            label: "higher than in the equations".into(),
            help: "derivatives are known up to the highest one in the equations".into(),
        });
    }
    inputs.iter().any(|&input| matches!(sources.get(input), Some(Some(InputSource::Rate(_)))))
}

/// Names that are kept must be unknowns of the mode.
pub(super) fn check_names(reader: &mut Reader, modes: &[HybridMode], keep: &[Vec<Name>], plans: &[TransitionDraft]) {
    let of_plans = plans.iter().filter_map(|plan| plan.to.map(|to| (to, &plan.keep)));
    let all: Vec<(usize, &Vec<Name>)> = keep.iter().enumerate().chain(of_plans).collect();
    for (mode, names) in all {
        for name in names {
            if !modes[mode].unknowns.contains(&name.unknown()) {
                reader.mistake(not_in_mode(name, &modes[mode]));
            }
        }
    }
}

fn not_in_mode(name: &Name, mode: &HybridMode) -> Mistake {
    let unknown = name.unknown();
    let help = help(&unknown, mode.unknowns.iter().map(String::as_str), "its unknowns are");
    Mistake::NotInMode { name: unknown, mode: mode.name.clone(), at: name.span.into(), help }
}
