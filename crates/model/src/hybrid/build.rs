//! The system that can be solved: modes with methods, conditions and changes of the state as compiled kernels.

use super::model::{HybridMode, HybridModel, HybridTransition, HybridTrigger, Statement};
use crate::model::ModelKind;
use crate::unknowns::InputSource;
use daedal::catalogue::{self, MotionMethod};
use daedal::dae::{Form, System};
use daedal::formulation::{Formulated, Formulation};
use daedal::graph::{Compiler, Expr, Graph, Kernel, Tape};
use daedal::hybrid::{Condition, Hybrid, Mode, SlidingMode, SwitchingFunction, Transfer, Transition};
use daedal::method::Integrator;
use daedal::motion::Compiled;
use daedal::{Bdf, Geoms, Problem, RadauIIa};
use std::cell::RefCell;
use std::sync::Arc;

/// Methods with their options, from which the modes take theirs.
#[derive(Clone, Debug)]
pub struct Methods {
    /// For equations of motion; a mode may ask for another formulation.
    pub geoms: Geoms,
    /// For general systems, and for formulations of equations of motion.
    pub radau: RadauIIa,
    /// The same.
    pub bdf: Bdf,
    /// What general systems take that do not ask: a method of the catalogue for them.
    pub general: &'static str,
    /// What equations of motion take that do not ask: a method of the catalogue.
    pub motion: &'static str,
}

impl Default for Methods {
    fn default() -> Self {
        let (geoms, radau, bdf) = Default::default();
        Methods { geoms, radau, bdf, general: "radau", motion: "geoms" }
    }
}

impl Methods {
    /// Name of the method of a mode.
    pub fn name(&self, mode: &HybridMode) -> &'static str {
        mode.method.unwrap_or(if matches!(mode.kind, ModelKind::Motion { .. }) { self.motion } else { self.general })
    }

    /// The formulation in which equations of motion of a mode are solved: the one it asks for, if its method takes it.
    pub fn formulation(&self, mode: &HybridMode) -> Formulation {
        let name = self.name(mode);
        let known = catalogue::find(name).map_or(&[][..], |entry| entry.formulations);
        let wish = mode.formulation.as_deref().filter(|wish| known.contains(wish));
        let usual = if name == "geoms" { Some(self.geoms.formulation.name()) } else { known.first().copied() };
        let wish = wish.or(usual);
        Formulation::ALL.into_iter().find(|formulation| Some(formulation.name()) == wish).unwrap_or_default()
    }

    /// The method of a mode with a general system.
    fn of_general(&self, mode: &HybridMode) -> Box<dyn Integrator> {
        match self.name(mode) {
            "radau" => Box::new(self.radau.clone()),
            "bdf" => Box::new(self.bdf.clone()),
            other => {
                let integrator = catalogue::find(other).and_then(|entry| entry.integrator);
                integrator.map_or_else(|| Box::new(self.radau.clone()) as Box<dyn Integrator>, |new| new())
            }
        }
    }

    /// The method of a mode with equations of motion.
    fn of_motion(&self, mode: &HybridMode) -> Box<dyn MotionMethod> {
        let formulation = self.formulation(mode);
        let entry = |name: &str| catalogue::find(name).and_then(|entry| entry.with(formulation).ok());
        match self.name(mode) {
            "radau" => Box::new(Formulated { formulation, integrator: self.radau.clone() }),
            "bdf" => Box::new(Formulated { formulation, integrator: self.bdf.clone() }),
            "geoms" => Box::new(Geoms { formulation, ..self.geoms.clone() }),
            other => entry(other).unwrap_or_else(|| Box::new(self.geoms.clone())),
        }
    }
}

impl HybridModel {
    /// The system, with kernels of a compiler.
    ///
    /// ```
    /// use daedal::graph::Interpreted;
    /// use daedal_model::{Methods, Model, ModelKind};
    /// use std::sync::Arc;
    /// let text = r#"
    ///     [model]
    ///     name = "thermostat"
    ///     time = [0, 10]
    ///     [dae]
    ///     states = ["T"]
    ///     equations = ["der(T) = heat - 0.1*T"]
    ///     [modes]
    ///     on  = { parameters = { heat = 3 } }
    ///     off = { parameters = { heat = 0 } }
    ///     [[transitions]]
    ///     from = "on"
    ///     to = "off"
    ///     when = "T > 21"
    ///     [[transitions]]
    ///     from = "off"
    ///     to = "on"
    ///     when = "T < 19"
    ///     [initial]
    ///     mode = "on"
    ///     fix = { T = 20 }
    /// "#;
    /// let model = Model::read("thermostat.toml", text, &[]).unwrap();
    /// let ModelKind::Hybrid(hybrid) = &model.kind else { unreachable!() };
    /// let system = hybrid.build(&(Arc::new(Interpreted) as _), &Methods::default());
    /// let problem = hybrid.problem(&system, 10.0);
    /// assert_eq!(problem.system.modes[problem.initial.mode].flow.names(), ["T"]);
    /// ```
    pub fn build(&self, compiler: &Arc<dyn Compiler>, methods: &Methods) -> Hybrid<'static> {
        let mut hybrid = Hybrid::new();
        for mode in &self.modes {
            hybrid.mode(mode.build(compiler, methods));
        }
        for transition in &self.transitions {
            hybrid.transition(transition.build(&self.modes, compiler));
        }
        for sliding in &self.sliding {
            let first = &self.modes[sliding.between.0];
            let transfer = (!sliding.set.is_empty()).then(|| transfer(&sliding.set, first, compiler));
            hybrid.sliding.push(SlidingMode { between: sliding.between, mode: sliding.mode, transfer });
        }
        hybrid
    }

    /// The initial value problem of the file for a system that was built.
    pub fn problem<'h>(&self, system: &'h Hybrid<'h>, tend: f64) -> Problem<'h, Hybrid<'h>> {
        Problem::new(system, self.initial.clone(), tend)
    }
}

impl HybridMode {
    fn build(&self, compiler: &Arc<dyn Compiler>, methods: &Methods) -> Mode<'static> {
        let name = self.name.clone();
        let mut mode = match &self.kind {
            ModelKind::Motion { formulas, .. } => {
                Mode::motion(name, Compiled::new(formulas, compiler.clone()), methods.of_motion(self))
            }
            ModelKind::Dae { formulas, .. } => {
                let system = System::new(formulas, compiler.clone());
                let wish = self.formulation.as_deref();
                let form = Form::ALL.into_iter().find(|form| Some(form.name()) == wish).unwrap_or_default();
                Mode::general(name, system, form, methods.of_general(self))
            }
            ModelKind::Hybrid(_) => unreachable!("a mode has equations, not modes"),
        };
        mode.restart = self.restart;
        mode.keep.clone_from(&self.keep);
        mode.dwell = self.dwell;
        mode.events = self.events.iter().map(|event| event.build(self.graph(), &self.sources, compiler)).collect();
        mode
    }

    fn graph(&self) -> &Graph {
        match &self.kind {
            ModelKind::Motion { formulas, .. } => &formulas.graph,
            ModelKind::Dae { formulas, .. } => &formulas.graph,
            ModelKind::Hybrid(_) => unreachable!("a mode has equations, not modes"),
        }
    }
}

impl HybridTransition {
    fn build(&self, modes: &[HybridMode], compiler: &Arc<dyn Compiler>) -> Transition<'static> {
        let from = &modes[self.from];
        let mut transition = match &self.trigger {
            HybridTrigger::When { text, statements, logic } => {
                let functions = statements.iter().map(|one| one.build(from.graph(), &from.sources, compiler)).collect();
                let condition = Condition { name: text.clone(), functions, logic: logic.clone() };
                Transition::on(self.from, self.to, condition)
            }
            HybridTrigger::At(schedule) => Transition::at(self.from, self.to, schedule.clone()),
        };
        transition.transfer = (!self.set.is_empty()).then(|| transfer(&self.set, from, compiler));
        transition.priority = self.priority;
        transition.restart = self.restart;
        transition.keep.clone_from(&self.keep);
        transition.hysteresis = self.hysteresis;
        transition.after_accumulation = self.after_accumulation;
        transition
    }
}

/// A change of the state.
fn transfer(set: &[(String, usize, Expr)], from: &HybridMode, compiler: &Arc<dyn Compiler>) -> Transfer<'static> {
    let formulas: Vec<Expr> = set.iter().map(|(_, _, value)| *value).collect();
    let places: Vec<usize> = set.iter().map(|(_, place, _)| *place).collect();
    let values = RefCell::new(FormulaValues::new(from.graph(), &from.sources, &formulas, compiler));
    Box::new(move |t, x, xdot, new| {
        let mut values = values.borrow_mut();
        for (place, value) in places.iter().zip(values.at(t, x, xdot)) {
            new[*place] = *value;
        }
    })
}

impl Statement {
    pub(crate) fn build(
        &self,
        graph: &Graph,
        sources: &[Option<InputSource>],
        compiler: &Arc<dyn Compiler>,
    ) -> SwitchingFunction<'static> {
        let values = RefCell::new(FormulaValues::new(graph, sources, &[self.g], compiler));
        let value = move |t: f64, x: &[f64], xdot: &[f64]| values.borrow_mut().at(t, x, xdot)[0];
        let mut function = SwitchingFunction::with_derivatives(self.text.clone(), value);
        function.strict = self.strict;
        function.uses_derivatives = self.uses_derivatives;
        function.with_formula((!self.uses_derivatives).then(|| self.formula(graph, sources)))
    }

    /// The same on formulas, with numbers for the parameters.
    #[allow(clippy::type_complexity)] // a function, written out where it is called
    fn formula(&self, graph: &Graph, sources: &[Option<InputSource>]) -> Box<dyn Fn(Expr, &[Expr]) -> Expr> {
        let tape = Tape::new(graph, &[self.g]);
        let sources = sources.to_vec();
        Box::new(move |t, x| {
            let input = |source: &Option<InputSource>| match source {
                Some(InputSource::Time) => t,
                Some(InputSource::Unknown(k)) => x[*k],
                Some(InputSource::Number(value)) => Expr::from(*value),
                // these do not enter
                Some(InputSource::Rate(_)) | None => Expr::from(0.0),
            };
            let inputs: Vec<Expr> = sources.iter().map(input).collect();
            tape.evaluate(&inputs)[0]
        })
    }
}

/// Formulas at (t, x, ẋ), with buffers that are used again.
struct FormulaValues {
    kernel: Box<dyn Kernel>,
    inputs: Vec<f64>,
    /// inputs that vary and enter: place, source
    varying: Vec<(usize, InputSource)>,
    outputs: Vec<f64>,
}

impl FormulaValues {
    fn new(graph: &Graph, sources: &[Option<InputSource>], formulas: &[Expr], compiler: &Arc<dyn Compiler>) -> Self {
        let mut inputs = vec![0.0; graph.inputs().len()];
        let mut varying = Vec::new();
        let mut needed: Vec<usize> = formulas.iter().flat_map(|&formula| graph.depends_on(formula)).collect();
        needed.sort_unstable();
        needed.dedup();
        for place in needed {
            match sources.get(place).copied().flatten() {
                Some(InputSource::Number(value)) => inputs[place] = value,
                Some(source) => varying.push((place, source)),
                None => inputs[place] = f64::NAN,
            }
        }
        FormulaValues { kernel: compiler.compile(graph, formulas), inputs, varying, outputs: vec![0.0; formulas.len()] }
    }

    fn at(&mut self, t: f64, x: &[f64], xdot: &[f64]) -> &[f64] {
        for &(place, source) in &self.varying {
            self.inputs[place] = match source {
                InputSource::Time => t,
                InputSource::Unknown(k) => x[k],
                InputSource::Rate(k) => xdot[k],
                InputSource::Number(value) => value,
            };
        }
        self.kernel.call(&self.inputs, &mut self.outputs);
        &self.outputs
    }
}
