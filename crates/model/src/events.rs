//! `[[events]]`: conditions that are written down where they become true, or that stop the run. More of them may be given with a run, in
//! the same words as in the file.
//!
//! In a system with modes an event belongs to all modes that have the names in it.

use crate::definitions;
use crate::diagnostic::{Mistake, Mistakes};
use crate::document::{self, Section, wrong_type};
use crate::formula::ast::Tree;
use crate::formula::evaluate::Truth;
use crate::formula::parser;
use crate::hybrid::{Statement, choice, logic, statement};
use crate::index::Bindings;
use crate::lower::Lowering;
use crate::model::ModelKind;
use crate::names::{Classes, Context};
use crate::reader::{Reader, Told};
use crate::source::{DecodedText, Span};
use crate::unknowns::InputSource;
use daedal::graph::{Compiler, Expr, Graph};
use daedal::hybrid::{Condition, Logic};
use daedal::{Action, Event};
use std::rc::Rc;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

const KEYS: [&str; 3] = ["name", "when", "action"];
const ACTIONS: [(&str, Action); 2] = [("record", Action::Record), ("stop", Action::Stop)];
/// Most events of a file.
const MOST_EVENTS: usize = 1000;

const WHEN: Context = Context {
    place: "the condition of an event",
    allowed: Classes::EVERYTHING,
    help: "conditions may contain everything, outputs included",
};

/// An event that is given with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenEvent {
    /// How results call it; its condition if absent.
    pub name: Option<String>,
    /// The condition: "y < -0.99".
    pub when: String,
    /// What to do.
    pub action: Action,
}

/// An event, read.
#[derive(Clone, Debug)]
pub struct ModelEvent {
    /// How results call it.
    pub name: String,
    /// What to do.
    pub action: Action,
    /// The condition as it is written.
    pub text: String,
    /// The comparisons in it, in the graph of the equations.
    pub statements: Vec<Statement>,
    /// How they are joined.
    pub logic: Logic,
}

/// The events of a model without modes, with all that is needed to evaluate them.
#[derive(Clone, Debug, Default)]
pub struct ModelEvents {
    /// The events in the order of the file; those that were given with the run behind them.
    pub list: Vec<ModelEvent>,
    graph: Graph,
    sources: Vec<Option<InputSource>>,
}

impl ModelEvents {
    /// As the solver knows them.
    ///
    /// ```
    /// use daedal::graph::Interpreted;
    /// use daedal_model::Model;
    /// use std::sync::Arc;
    /// let text = r#"
    ///     [model]
    ///     name = "oscillator"
    ///     [motion]
    ///     positions = ["x"]
    ///     velocities = ["v"]
    ///     mass = [1]
    ///     forces = ["-x"]
    ///     [[events]]
    ///     name = "to the left"
    ///     when = "x < 0"
    /// "#;
    /// let model = Model::read("oscillator.toml", text, &[]).unwrap();
    /// let events = model.events.build(&(Arc::new(Interpreted) as _));
    /// assert_eq!(events[0].name, "to the left");
    /// // a state has the acceleration first, then v, then x
    /// assert_eq!((events[0].condition.functions[0].value)(0.0, &[0.0, -1.0, 0.5], &[]), 0.5);
    /// ```
    pub fn build(&self, compiler: &Arc<dyn Compiler>) -> Vec<Event<'static>> {
        self.list.iter().map(|event| event.build(&self.graph, &self.sources, compiler)).collect()
    }
}

impl ModelEvent {
    pub(crate) fn build(
        &self,
        graph: &Graph,
        sources: &[Option<InputSource>],
        compiler: &Arc<dyn Compiler>,
    ) -> Event<'static> {
        let functions = self.statements.iter().map(|one| one.build(graph, sources, compiler)).collect();
        let condition = Condition { name: self.text.clone(), functions, logic: self.logic.clone() };
        Event::when(self.name.clone(), self.action, condition)
    }
}

/// An event as it is written.
pub(crate) struct EventDraft {
    pub name: String,
    action: Action,
    pub when: Tree,
    text: String,
    /// Its number among those that were given with the run, and its text.
    given: Option<(usize, Rc<str>)>,
}

/// An event in the graph of some equations.
pub(crate) struct Lowered {
    /// Its number among the plans.
    plan: usize,
    /// Its comparisons (text, g, strict) and how they are joined; otherwise the name that this mode does not have.
    #[allow(clippy::type_complexity)] // comparisons as they come out of a condition
    found: Result<(Vec<(String, Expr, bool)>, Logic), Mistake>,
}

/// Read all of them.
pub(crate) fn read(reader: &mut Reader, root: &DeTable, given: &[GivenEvent]) -> Vec<EventDraft> {
    let mut plans: Vec<EventDraft> = Vec::new();
    match root.get("events").map(|value| (value, value.get_ref())) {
        Some((_, DeValue::Array(items))) => {
            for item in items.iter().take(MOST_EVENTS) {
                match item.get_ref() {
                    DeValue::Table(table) => {
                        let section = Section { title: "[[events]]", span: item.span().into(), table };
                        if let Some((plan, at)) = one(reader, section) {
                            if plans.iter().any(|other| other.name == plan.name) {
                                let (name, what) = (plan.name.clone(), "an event".into());
                                let help = Some("results tell events apart by their names".into());
                                reader.mistake(Mistake::Duplicate { name, what, first: None, at: at.into(), help });
                            }
                            plans.push(plan);
                        }
                    }
                    _ => reader.mistake(wrong_type("an event", "a table below [[events]]", item)),
                }
            }
            if let Some(item) = items.get(MOST_EVENTS) {
                let (limit, unit, at) = (MOST_EVENTS, "events".into(), Span::from(item.span()).into());
                reader.mistake(Mistake::TooLarge { limit, wanted: String::new(), unit, at });
            }
        }
        Some((value, _)) => {
            reader.mistake(wrong_type("`events`", "a list: each one stands below its own [[events]]", value));
        }
        None => {}
    }
    for (number, event) in given.iter().enumerate() {
        let text = joined(&event.when);
        let name = event.name.clone().unwrap_or_else(|| text.clone());
        let beside: Rc<str> = Rc::from(event.when.as_str());
        let told = reader.begin_beside(&beside);
        let node = reader.told(parser::condition(&DecodedText::bare(&event.when)));
        reader.end_beside(number, told);
        let given = Some((number, beside));
        plans.extend(node.map(|when| EventDraft { name, action: event.action, when, text, given }));
    }
    plans
}

/// One event, and where it stands.
fn one(reader: &mut Reader, section: Section) -> Option<(EventDraft, Span)> {
    section.check_keys(reader, &KEYS);
    let action = match section.get("action") {
        Some(_) => choice(reader, section, "action", &ACTIONS).map(|(action, _)| action),
        None => Some(Action::Record),
    };
    let Some(value) = section.get("when") else {
        reader.mistake(Mistake::Missing {
            what: "the key `when` of [[events]]".into(),
            at: section.span.into(),
            label: "it never happens".into(),
            help: "write when = \"x < 0\" with a condition".into(),
        });
        return None;
    };
    let Some(text) = document::text(reader, value) else {
        reader.mistake(wrong_type("`when`", "a condition such as \"x < 0\"", value));
        return None;
    };
    let when = reader.told(parser::condition(&text))?;
    let text = joined(&text.value);
    let name = section.string(reader, "name").unwrap_or_else(|| text.clone());
    let at = section.get("name").unwrap_or(value).span().into();
    Some((EventDraft { name, action: action?, when, text, given: None }, at))
}

/// In one line.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Their conditions; the results are kept by the reader.
pub(crate) fn lower(to: &mut Lowering, plans: &[EventDraft]) {
    for (plan, event) in plans.iter().enumerate() {
        let told = event.begin(to.reader);
        let found = condition(to, &event.when);
        event.end(to.reader, told);
        to.reader.events.extend(found.map(|found| Lowered { plan, found }));
    }
}

impl EventDraft {
    /// Places are those of its own text, if it does not stand in the file.
    fn begin(&self, reader: &mut Reader) -> Option<Told> {
        self.given.as_ref().map(|(_, text)| reader.begin_beside(text))
    }

    fn end(&self, reader: &mut Reader, told: Option<Told>) {
        if let (Some((number, _)), Some(told)) = (&self.given, told) {
            reader.end_beside(*number, told);
        }
    }
}

#[allow(clippy::type_complexity)] // as `Lowered` has it
fn condition(to: &mut Lowering, when: &Tree) -> Option<Result<(Vec<(String, Expr, bool)>, Logic), Mistake>> {
    if to.reader.mode.is_some()
        && !to.reader.scope.incomplete
        && let (_, Some(missing)) = definitions::unknown(to.reader, when, &Bindings::default())
    {
        return Some(Err(missing));
    }
    let truth = to.condition(when, WHEN)?;
    if let Truth::Known(known) = truth {
        to.reader.mistake(Mistake::Syntax {
            message: format!("the condition is always {known}"),
            label: "this does not vary".into(),
            at: when.span.into(),
            help: Some("with the values of the parameters nothing in it varies; compare unknowns or `t`".into()),
        });
        return None;
    }
    let mut statements = Vec::new();
    let logic = logic(to, truth, &mut statements);
    Some(Ok((statements, logic)))
}

/// The events of equations that were read.
pub(crate) fn finish(
    reader: &mut Reader,
    plans: &[EventDraft],
    kind: &ModelKind,
    sources: &[Option<InputSource>],
) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    for Lowered { plan, found } in std::mem::take(&mut reader.events) {
        let event = &plans[plan];
        let (statements, logic) = match found {
            Ok(found) => found,
            Err(missing) => {
                reader.absent_events.push((plan, missing));
                continue;
            }
        };
        let told = event.begin(reader);
        let one = |written: &(String, Expr, bool)| {
            statement(reader, kind, sources, written, "the condition of an event", event.when.span)
        };
        let statements = statements.iter().map(one).collect();
        event.end(reader, told);
        let (name, text) = (event.name.clone(), event.text.clone());
        events.push(ModelEvent { name, action: event.action, text, statements, logic });
    }
    events
}

/// The events of a model without modes.
pub(crate) fn of_model(reader: &mut Reader, plans: &[EventDraft], kind: &ModelKind) -> ModelEvents {
    if plans.is_empty() {
        return ModelEvents::default();
    }
    let (_, sources) = crate::unknowns::of(kind);
    let list = finish(reader, plans, kind, &sources);
    let graph = match kind {
        ModelKind::Motion { formulas, .. } => formulas.graph.clone(),
        ModelKind::Dae { formulas, .. } => formulas.graph.clone(),
        ModelKind::Hybrid(_) => Graph::new(),
    };
    ModelEvents { list, graph, sources }
}

/// Events with names that no mode has are mistakes. `found` are the names of those that some mode has.
pub(crate) fn check_modes(reader: &mut Reader, plans: &[EventDraft], found: &[&str]) {
    let mut absent = std::mem::take(&mut reader.absent_events);
    // one mode is enough to say what is missing
    absent.sort_by_key(|(plan, _)| *plan);
    absent.dedup_by_key(|(plan, _)| *plan);
    for (plan, missing) in absent {
        let event = &plans[plan];
        if found.contains(&event.name.as_str()) {
            continue;
        }
        let told = event.begin(reader);
        reader.mistake(missing);
        event.end(reader, told);
    }
}

/// Why the events that were given with a run could not be read: mistakes in the file, or in the condition of one of them.
#[derive(Clone, Debug)]
pub enum GivenMistakes {
    /// Of the file.
    File(Mistakes),
    /// Of an event, by its number.
    Event(usize, Mistakes),
}
