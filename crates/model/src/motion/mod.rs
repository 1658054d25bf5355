//! `[motion]`: equations of motion.

mod formulas;
mod parts;

use crate::definitions;
use crate::document::Section;
use crate::entries::{FormulaEntry, Name, Written};
use crate::events::EventDraft;
use crate::hybrid::Job;
use crate::initial::{self, InitialDraft};
use crate::last::{self, ModelBoundary};
use crate::names::Quantity;
use crate::output;
use crate::parameters;
use crate::picture::PictureDraft;
use crate::reader::Reader;
use daedal::Initial;
use daedal::graph::{Graph, Tape};
use daedal::motion::{Formulas, Layout, Motion, Names, Sizes, Variables};
pub(crate) use parts::declare_variables;
use std::rc::Rc;

/// Formulas of the equations of motion as their author wrote them, in the order of [`Formulas`].
#[derive(Clone, Debug, Default)]
pub struct MotionTexts {
    /// Holonomic constraints.
    pub holonomic: Vec<Written>,
    /// Nonholonomic constraints.
    pub nonholonomic: Vec<Written>,
    /// Rates of the dynamic variables.
    pub dynamic: Vec<Written>,
    /// Equations of the auxiliary variables.
    pub auxiliary: Vec<Written>,
    /// Equations of the contact variables.
    pub contact: Vec<Written>,
    /// Invariants.
    pub invariants: Vec<Written>,
}

/// The sections beside [motion] that are read together with it.
#[derive(Clone, Copy)]
pub(crate) struct Beside<'t, 'i> {
    pub definitions: Option<Section<'t, 'i>>,
    pub initial: Option<Section<'t, 'i>>,
    pub last: Option<Section<'t, 'i>>,
    pub output: Option<Section<'t, 'i>>,
    pub events: &'t [EventDraft],
    pub picture: &'t PictureDraft,
    pub control: Option<Section<'t, 'i>>,
    pub t0: f64,
    pub tend: Option<f64>,
}

/// Read the section into formulas; mistakes go to the reader.
pub(crate) fn read(
    reader: &mut Reader,
    section: Section,
    beside: Beside,
    jobs: &mut [Job],
) -> (Formulas, Initial, MotionTexts, Option<ModelBoundary>) {
    section.check_keys(reader, &parts::KEYS);
    let parts = parts::declare(reader, section);
    let definitions = definitions::declare(reader, beside.definitions);
    let outputs = output::read(reader, beside.output);
    let with_forces = section.truth(reader, "constraint_forces") == Some(true);
    parameters::evaluate(reader);
    reader.scope.incomplete = reader.count() > 0;
    let mut given = initial::read(reader, beside.initial, beside.last);

    // inputs of the graph
    let sizes = Sizes {
        positions: parts.positions.len(),
        velocities: parts.velocities.len(),
        dynamic: parts.dynamic.len(),
        auxiliary: parts.auxiliary.len(),
        contact: parts.contact.len(),
        holonomic: parts.holonomic.len(),
        nonholonomic: parts.nonholonomic.len(),
        invariants: parts.invariants.len(),
    };
    let full = |names: &[(Name, FormulaEntry)]| names.iter().map(|(name, _)| name.full.clone()).collect();
    let names = Names {
        positions: parts.positions.iter().map(|name| name.full.clone()).collect(),
        velocities: parts.velocities.iter().map(|name| name.full.clone()).collect(),
        dynamic: full(&parts.dynamic),
        auxiliary: full(&parts.auxiliary),
        contact: full(&parts.contact),
        holonomic: parts.holonomic.iter().map(|(name, _)| name.clone()).collect(),
        nonholonomic: parts.nonholonomic.iter().map(|(name, _)| name.clone()).collect(),
        invariants: full(&parts.invariants),
    };
    let parameters: Vec<(String, f64)> = (0..reader.parameters.len())
        .map(|k| (reader.parameters[k].name.clone(), reader.parameter(k).unwrap_or(f64::NAN)))
        .collect();
    let mut graph = Graph::new();
    let inputs = Variables::new(&mut graph, &sizes, &names, &parameters);

    let formulas = graph.with(|| {
        formulas::lower(
            reader,
            &parts,
            &definitions,
            (&outputs, beside.events, beside.picture),
            &mut given,
            &inputs,
            jobs,
        )
    });
    let written = |entries: &[(Name, FormulaEntry)]| entries.iter().map(|(_, entry)| entry.written()).collect();
    let texts = MotionTexts {
        holonomic: parts.holonomic.iter().map(|(_, entry)| entry.written()).collect(),
        nonholonomic: parts.nonholonomic.iter().map(|(_, entry)| entry.written()).collect(),
        dynamic: written(&parts.dynamic),
        auxiliary: written(&parts.auxiliary),
        contact: written(&parts.contact),
        invariants: written(&parts.invariants),
    };
    let initial = start(&given, &sizes, beside.t0, &graph, &parameters);
    let boundary = given.last.take().map(|last| {
        let at_end = |given: &InitialDraft, t: f64| {
            let plain = InitialDraft::without_conditions(given);
            start(&plain, &sizes, t, &graph, &parameters)
        };
        let end = at_end(&last.given, beside.tend.unwrap_or(f64::NAN));
        let variables = Layout::new(sizes, daedal::motion::Form::StrangenessFree, false);
        let shown = variables.variable_names(&names);
        let classes = [
            (Quantity::Position, variables.p()),
            (Quantity::Velocity, variables.v()),
            (Quantity::Dynamic, variables.r()),
            (Quantity::Auxiliary, variables.w()),
            (Quantity::Contact, variables.s()),
            (Quantity::Lambda, variables.lambda()),
            (Quantity::Mu, variables.mu()),
        ];
        let names = classes.into_iter().map(|(class, range)| (class, shown[range].to_vec())).collect::<Vec<_>>();
        let start: Vec<_> = given.conditions().collect();
        last::lower(reader, *last, &graph, &names, &parameters, end, &start)
    });
    let formulas = Formulas { graph, sizes, names, parameters, ..formulas };
    let formulas = if with_forces && reader.count() == 0 { formulas.with_constraint_forces() } else { formulas };
    (formulas, initial, texts, boundary)
}

/// Initial values in the order of the variables; conditions run on tapes with the numbers of the parameters.
pub(crate) fn start(given: &InitialDraft, n: &Sizes, t0: f64, graph: &Graph, parameters: &[(String, f64)]) -> Initial {
    let mut initial = Initial {
        t: t0,
        p: given.block(Quantity::Position, n.positions),
        v: given.block(Quantity::Velocity, n.velocities),
        r: given.block(Quantity::Dynamic, n.dynamic),
        w: given.block(Quantity::Auxiliary, n.auxiliary),
        s: given.block(Quantity::Contact, n.contact),
        lambda: given.block(Quantity::Lambda, n.holonomic),
        mu: given.block(Quantity::Mu, n.nonholonomic),
        ..Initial::default()
    };
    let values: Rc<[f64]> = parameters.iter().map(|(_, value)| *value).collect();
    for (name, residual) in given.conditions() {
        let tape = Tape::new(graph, &[residual]);
        let (values, accelerations) = (values.to_vec(), n.velocities);
        initial = initial.condition(name, move |at: &Motion<f64>| {
            let blocks = [at.p, at.v, at.r, at.w, at.s, at.lambda, at.mu];
            let mut inputs = vec![at.t];
            inputs.extend(blocks.into_iter().flatten());
            // accelerations do not enter conditions
            inputs.resize(inputs.len() + accelerations, 0.0);
            inputs.extend_from_slice(&values);
            tape.evaluate(&inputs).first().copied().unwrap_or(f64::NAN)
        });
    }
    initial
}
