//! Bodies, joints and forces: `[world]`, `[[bodies]]`, `[[points]]`, `[[joints]]`, `[[forces]]`.
//!
//! The tables are read into a [`System`], whose numbers are those of the drawing; laws of forces, outputs, events and conditions are formulas that
//! know its parts by name. Everything behind is what `[motion]` gives, too: formulas and initial values.

mod body;
mod force;
mod function;
mod joint;
mod objects;
mod sight;
mod switched;
mod template;

use crate::definitions;
use crate::diagnostic::Mistake;
use crate::document::Section;
use crate::entries::{self, FormulaEntry, Name, Written};
use crate::events::GivenEvent;
use crate::formula::ast::Tree;
use crate::hybrid::{self, Job};
use crate::index::Bindings;
use crate::initial::{self, InitialDraft};
use crate::last::ModelBoundary;
use crate::lower::{Lowering, Rate, Symbolic};
use crate::motion::{self, Beside, MotionTexts};
use crate::names::{Classes, Context, NamedFormula, Quantity};
use crate::output;
use crate::parameters;
use crate::reader::Reader;
use crate::shape::Shape;
use crate::source::Span;
use daedal::graph::{Expr, Graph};
use daedal::motion::{Formulas, Variables};
use daedal::{Initial, Start};
use daedal_multibody::force::{Action, LawArguments};
use daedal_multibody::{BodyId, Coordinate, JointId, Kind, System};
use objects::Object;
pub(crate) use objects::{Mechanical, Objects};
pub(crate) use sight::Sight;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
pub(crate) use switched::{ModeOfBodies, names};
use toml::de::DeTable;

/// Sections that make a model of bodies.
pub(crate) const SECTIONS: [&str; 5] = ["world", "bodies", "points", "joints", "forces"];

/// A law as it is written.
struct WrittenLaw {
    node: Rc<Tree>,
    bindings: Bindings,
}

/// What has been read of the drawing.
struct DrawnSystem {
    system: System,
    objects: Objects,
    /// formulas of each force
    laws: Vec<Vec<WrittenLaw>>,
    /// the mode whose joints and forces are read
    mode: ModeOfBodies,
}

fn body_id(k: usize) -> BodyId {
    BodyId::of(k)
}

impl DrawnSystem {
    /// Give an object its name.
    fn declare(&mut self, reader: &mut Reader, name: &Name, object: Object) {
        let first = self.objects.by_name.get(&name.full).map(|(_, first)| *first);
        let reserved =
            ["ground", "energy", "momentum", "angular_momentum", "lambda", "mu"].contains(&name.base.as_str());
        let known = reader.scope.knows(&name.base).map(|(span, what)| (span, what.to_string()));
        if first.is_some() || reserved || known.is_some() {
            let (first, what) = match (first, known) {
                (Some(first), _) => (Some(first), "a body, point, joint or force".to_string()),
                (None, Some((first, what))) => (Some(first), what),
                (None, None) => (None, "a word with a meaning of its own".to_string()),
            };
            reader.mistake(Mistake::Duplicate {
                name: name.full.clone(),
                what,
                first: first.filter(|first| *first != name.span).map(Into::into),
                at: name.span.into(),
                help: Some("every body, point, joint and force has a name of its own".into()),
            });
            return;
        }
        self.objects.by_name.insert(name.full.clone(), (object, name.span));
    }
}

const LAW: Context = Context {
    place: "the law of a force",
    allowed: Classes::of(&[
        Quantity::Parameter,
        Quantity::Time,
        Quantity::Position,
        Quantity::Velocity,
        Quantity::Dynamic,
        Quantity::Lambda,
        Quantity::Mu,
    ]),
    help: "it may contain everything except accelerations",
};
const DYNAMIC: Context = Context { place: "the rate of a dynamic variable", ..LAW };
const CONDITION: Context = Context { place: "an initial condition", ..LAW };

/// Is this a model of bodies?
pub(crate) fn present(root: &DeTable) -> bool {
    SECTIONS.iter().any(|section| root.contains_key(*section))
}

/// Do they lie in a plane?
pub(crate) fn is_planar(root: &DeTable) -> bool {
    root.get("world").and_then(|world| world.get_ref().get("plane")).is_some()
}

/// What was read.
pub(crate) struct ReadBodies {
    pub formulas: Formulas,
    pub initial: Initial,
    pub texts: MotionTexts,
    pub boundary: Option<ModelBoundary>,
    pub system: Arc<System>,
}

/// Read the sections; mistakes go to the reader.
pub(crate) fn read(
    reader: &mut Reader,
    root: &DeTable,
    motion: Option<Section>,
    beside: Beside,
    given: &[GivenEvent],
    mode: ModeOfBodies,
    jobs: &mut [Job],
) -> Option<ReadBodies> {
    parameters::evaluate(reader);
    let system = body::world(reader, root);
    let mut drawing = DrawnSystem { system, objects: Objects::default(), laws: Vec::new(), mode };
    body::bodies(reader, root, &mut drawing);
    if drawing.system.movers().next().is_none() && reader.count() == 0 {
        let end = reader.file.trim_end().len();
        reader.mistake(Mistake::Missing {
            what: "a body that moves".into(),
            at: Span { start: end, end }.into(),
            label: "nothing moves".into(),
            help: "write [[bodies]] with a name, a shape and a mass".into(),
        });
    }
    body::points(reader, root, &mut drawing);
    joint::joints(reader, root, &mut drawing);
    force::forces(reader, root, &mut drawing);
    switched::leave_out(reader, &mut drawing);
    if let Some(section) = beside.last {
        reader.mistake(Mistake::NotAllowed {
            what: "[final]".into(),
            place: "a file with [[bodies]]".into(),
            at: section.span.into(),
            label: "conditions at the end".into(),
            help: "boundary value problems of bodies are not solved yet; write the equations into [motion]".into(),
        });
    }
    track_angles(reader, &mut drawing, given);
    if reader.count() > 0 {
        return None;
    }
    if let Err(bad) = drawing.system.check() {
        let at = drawing.objects.by_name.get(bad.about()).map_or(Span { start: 0, end: 0 }, |(_, at)| *at);
        let label = "here".into();
        reader.mistake(Mistake::Syntax { message: bad.to_string(), label, at: at.into(), help: None });
        return None;
    }
    drawing.objects.complete(&drawing.system);
    let DrawnSystem { system, objects, laws, .. } = drawing;
    let system = Arc::new(system);
    reader.scope.objects = Some(Rc::new(objects));
    let read = equations(reader, &system, &laws, motion, beside, jobs);
    Some(read)
}

/// Angles that the file names count turns: they are positions.
fn track_angles(reader: &Reader, drawing: &mut DrawnSystem, given: &[GivenEvent]) {
    let mut bases: Vec<&str> = Vec::new();
    for text in std::iter::once(reader.file).chain(given.iter().map(|event| event.when.as_str())) {
        for (k, _) in text.match_indices(".angle") {
            let before = text[..k].trim_end();
            let before = match before.strip_suffix(']').and_then(|inner| inner.rfind('[')) {
                Some(open) => &before[..open],
                None => before,
            };
            let begin = before
                .rfind(|c: char| !c.is_alphanumeric() && c != '_')
                .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
            bases.push(&before[begin..]);
        }
    }
    // a position that only some modes had would not be known where they are entered
    let in_modes = reader.mode.is_some();
    for j in 0..drawing.system.joints().len() {
        let name = &drawing.system.joints()[j].name;
        if in_modes || bases.contains(&name.split('[').next().unwrap_or(name)) {
            drawing.system.track_angle(JointId::of(j));
        }
    }
}

/// States of force elements, from `[motion]`.
fn dynamic(reader: &mut Reader, motion: Option<Section>) -> Vec<(Name, FormulaEntry)> {
    let Some(section) = motion else { return Vec::new() };
    for (key, _) in section.table {
        if key.get_ref().as_ref() != "dynamic" {
            reader.mistake(Mistake::NotAllowed {
                what: format!("`{}`", key.get_ref()),
                place: "[motion] beside [[bodies]]".into(),
                at: Span::from(key.span()).into(),
                label: "bodies and joints have these".into(),
                help: "only `dynamic` stands there: states of force elements with their rates".into(),
            });
        }
    }
    let Some(table) = section.table(reader, "dynamic") else { return Vec::new() };
    let entries = entries::table(reader, table, "the dynamic variable");
    motion::declare_variables(reader, entries.iter().map(|(name, _)| name), Quantity::Dynamic);
    entries
}

/// Formulas and initial values.
fn equations(
    reader: &mut Reader,
    system: &Arc<System>,
    laws: &[Vec<WrittenLaw>],
    motion: Option<Section>,
    beside: Beside,
    jobs: &mut [Job],
) -> ReadBodies {
    let dynamic = dynamic(reader, motion);
    let definitions = definitions::declare(reader, beside.definitions);
    let outputs = output::read(reader, beside.output);
    reader.scope.incomplete = reader.count() > 0;
    let mut given = initial::read(reader, beside.initial, None);
    let (mut sizes, mut names) = (system.sizes(), system.names());
    sizes.dynamic = dynamic.len();
    names.dynamic = dynamic.iter().map(|(name, _)| name.full.clone()).collect();
    let parameters: Vec<(String, f64)> = (0..reader.parameters.len())
        .map(|k| (reader.parameters[k].name.clone(), reader.parameter(k).unwrap_or(f64::NAN)))
        .collect();
    let mut graph = Graph::new();
    let inputs = Variables::new(&mut graph, &sizes, &names, &parameters);
    let formulas = graph.with(|| {
        let mut to = lowering(reader, &inputs, system, &dynamic);
        let sight = Rc::new(Sight::new(Arc::clone(system), &inputs));
        to.mechanism = Some(Rc::clone(&sight));
        let mut equations = {
            let mut law = |force: usize, component: usize, arguments: Option<LawArguments>| {
                law(&mut to, system, laws, force, component, arguments)
            };
            system.equations_at(sight.view.clone(), &inputs, &mut law)
        };
        sight.learn(&equations);
        definitions::lower(&mut to, &definitions);
        let mut formulas = std::mem::take(&mut equations.formulas);
        for (_, entry) in &dynamic {
            let node = to.reader.told(entry.node());
            let value = node.and_then(|node| to.formula(&node, DYNAMIC, &entry.bindings));
            formulas.dynamic.extend(value.map(|value| value.expr));
        }
        formulas.outputs = output::lower(&mut to, &outputs, beside.events, beside.picture);
        let taken: Vec<String> = formulas.outputs.iter().map(|(name, _)| name.clone()).collect();
        formulas.outputs.extend(equations.balances().into_iter().filter(|(name, _)| !taken.contains(name)));
        refuse_guesses(to.reader, &given);
        initial::lower(&mut to, &mut given, CONDITION);
        hybrid::lower(&mut to, jobs);
        formulas
    });
    let initial = start(&given, system, &sizes, beside.t0, &graph, &parameters);
    let texts = texts(system, &dynamic, reader);
    let formulas = Formulas { graph, sizes, names, parameters, ..formulas };
    let initial = switched::found(reader, &formulas, initial, beside.initial);
    ReadBodies { formulas, initial, texts, boundary: None, system: Arc::clone(system) }
}

/// What formulas are made of.
fn lowering<'r, 'f>(
    reader: &'r mut Reader<'f>,
    inputs: &Variables,
    system: &System,
    dynamic: &[(Name, FormulaEntry)],
) -> Lowering<'r, 'f> {
    let mut rates = HashMap::new();
    let (np, nv) = system.per_body();
    for m in 0..system.movers().count() {
        // rates of the centre, and of the angle in a plane
        for k in 0..3 {
            rates.insert((Quantity::Position, np * m + k), vec![Rate::Variable(Quantity::Velocity, nv * m + k)]);
        }
        for k in nv * m..nv * (m + 1) {
            rates.insert((Quantity::Velocity, k), vec![Rate::Variable(Quantity::Acceleration, k)]);
        }
    }
    for (k, (name, entry)) in dynamic.iter().enumerate() {
        if let Ok(node) = entry.node() {
            let (name, bindings) = (format!("der({})", name.full), entry.bindings.clone());
            reader.scope.items.push(Rc::new(NamedFormula { name, node, bindings, context: DYNAMIC }));
            rates.insert((Quantity::Dynamic, k), vec![Rate::Item(reader.scope.items.len() - 1)]);
        }
    }
    let variables = HashMap::from([
        (Quantity::Time, vec![inputs.t()]),
        (Quantity::Position, inputs.p().to_vec()),
        (Quantity::Velocity, inputs.v().to_vec()),
        (Quantity::Dynamic, inputs.r().to_vec()),
        (Quantity::Lambda, inputs.lambda().to_vec()),
        (Quantity::Mu, inputs.mu().to_vec()),
        (Quantity::Acceleration, inputs.a().to_vec()),
        (Quantity::Parameter, inputs.parameters().to_vec()),
    ]);
    let mut to = Lowering::new(reader, variables);
    to.rates = rates;
    to
}

/// The value of a law of a force, where its own coordinate has a short name.
fn law(
    to: &mut Lowering,
    system: &System,
    laws: &[Vec<WrittenLaw>],
    force: usize,
    component: usize,
    arguments: Option<LawArguments>,
) -> Expr {
    if let Some(LawArguments { coordinate, rate, .. }) = arguments {
        let names = match &system.forces()[force].action {
            Action::OnJoint { coordinate: Coordinate::Angle, .. } => ["angle", "rate"],
            Action::OnJoint { .. } => ["travel", "speed"],
            _ => ["length", "speed"],
        };
        let symbol = |expr: Expr, classes: &[Quantity]| Symbolic {
            expr,
            number: None,
            uses: Classes::of(classes),
            shape: Shape::Free,
            table: None,
        };
        to.locals.insert(names[0], symbol(coordinate, &[Quantity::Position]));
        to.locals.insert(names[1], symbol(rate, &[Quantity::Position, Quantity::Velocity]));
    }
    let value = laws[force].get(component).and_then(|law| to.formula(&law.node, LAW, &law.bindings));
    to.locals.clear();
    // with a mistake the model is not used
    value.map_or_else(|| Expr::from(0.0), |value| value.expr)
}

/// Guesses of joint coordinates move the drawing; other parts of bodies have none.
fn refuse_guesses(reader: &mut Reader, given: &InitialDraft) {
    for (name, what, _, holds, at) in &given.mechanical {
        let told = match what {
            Mechanical::Coordinate { .. } => None,
            Mechanical::Reaction { .. } | Mechanical::Energy(_) | Mechanical::Momentum { .. } => {
                Some("it follows from the motion")
            }
            _ if *holds => None,
            _ => Some("give it in `fix`, or guess velocities of the bodies"),
        };
        if let Some(help) = told {
            reader.mistake(Mistake::NotAVariable {
                name: name.clone(),
                kind: "computed from the motion".into(),
                at: (*at).into(),
                help: help.into(),
            });
        }
    }
}

/// The drawing, moved by joint coordinates that are given or driven; at rest unless velocities are given.
fn start(
    given: &InitialDraft,
    system: &System,
    sizes: &daedal::motion::Sizes,
    t0: f64,
    graph: &Graph,
    parameters: &[(String, f64)],
) -> Initial {
    let mut initial = motion::start(given, sizes, t0, graph, parameters);
    let mut coordinates: Vec<(JointId, Coordinate, f64)> = Vec::new();
    for joint in system.joints() {
        if let (Some(of), Kind::Drive { coordinate, law }) = (joint.of, &joint.kind) {
            coordinates.push((of, *coordinate, law.evaluate(t0)[0]));
        }
    }
    for (_, what, value, _, _) in &given.mechanical {
        if let Mechanical::Coordinate { joint, coordinate } = *what {
            coordinates.push((JointId::of(joint), coordinate, *value));
        }
    }
    let guess = |start: &mut Start, value: f64| {
        if *start == Start::Unknown {
            *start = Start::Guess(value);
        }
    };
    initial.p.iter_mut().zip(system.positions(&coordinates)).for_each(|(start, value)| guess(start, value));
    initial.v.iter_mut().for_each(|start| guess(start, 0.0));
    initial
}

/// What the constraints are, for reports.
fn texts(system: &System, dynamic: &[(Name, FormulaEntry)], reader: &Reader) -> MotionTexts {
    let objects = reader.scope.objects.clone().unwrap_or_default();
    let written = |name: &String| {
        let joint = name.rsplit_once('.').map_or(name.as_str(), |(joint, _)| joint);
        let drawn = system.joints().iter().find(|known| known.name == joint);
        let line = objects.by_name.get(joint).map_or(0, |(_, at)| reader.line(*at));
        let formula = drawn.map_or_else(String::new, |drawn| {
            let [A, B] = drawn.bodies.map(|body| system.name_of(body));
            format!("{} joint between {A} and {B}", drawn.kind.name())
        });
        Written { formula, indices: Vec::new(), line }
    };
    let names = system.names();
    MotionTexts {
        holonomic: names.holonomic.iter().map(written).collect(),
        nonholonomic: names.nonholonomic.iter().map(written).collect(),
        dynamic: dynamic.iter().map(|(_, entry)| entry.written()).collect(),
        ..MotionTexts::default()
    }
}
