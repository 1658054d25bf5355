//! Output formulas of a model file at points of its solution.
//!
//! In a general system they may contain derivatives. Those that are unknowns of the solver are taken from the state, the others are
//! the derivative of the polynomial over the step: at the end of a step of Radau IIa they satisfy the equations, between the steps and at the
//! start they are less accurate than the states.

use crate::error::Error;
use crate::model::{DrawnModel, Model, ModelSystem};
use daedal::Save;
use daedal::Segment;
use daedal::dae::Formulas;
use daedal::graph::{Expr, Tape};
use daedal::hybrid::ActiveMode;
use daedal::method::State;
use daedal::motion;
use daedal::{Observer, StepView};
use std::ops::ControlFlow;

/// The outputs of a model.
pub enum ModelOutputs {
    /// There are none.
    None,
    Motion(Box<motion::Outputs>),
    General(Box<GeneralOutputs>),
}

impl ModelOutputs {
    /// Those of a model whose solution has variables with these names.
    pub fn new(model: &Model, names: &[String]) -> Self {
        // parameters that were found are variables of the solution
        let sought = model.boundary().map(|boundary| &boundary.find[..]).unwrap_or_default();
        if !sought.is_empty() {
            return match &model.content.equations {
                ModelSystem::General(general) => ModelOutputs::of_general(&general.formulas.with_sought(sought), names),
                ModelSystem::Motion(motion) => motion.formulas.as_ref().map_or(ModelOutputs::None, |formulas| {
                    ModelOutputs::of_general(&Formulas::of_motion(formulas).with_sought(sought), names)
                }),
                ModelSystem::Modes(_) => ModelOutputs::None,
            };
        }
        match &model.content.equations {
            ModelSystem::Motion(motion) => motion.formulas.as_ref().map_or(ModelOutputs::None, ModelOutputs::of_motion),
            ModelSystem::General(general) => ModelOutputs::of_general(&general.formulas, names),
            ModelSystem::Modes(_) => ModelOutputs::None,
        }
    }

    /// The formulas of the picture of a model without modes, which stand where the outputs are otherwise; `name` tells how each is called.
    pub fn of_picture(model: &Model, drawn: &DrawnModel, names: &[String], name: fn(usize) -> String) -> Self {
        let outputs: Vec<(String, Expr)> = drawn.picture.formulas.iter().map(|&(k, e)| (name(k), e)).collect();
        let sought = model.boundary().map(|boundary| &boundary.find[..]).unwrap_or_default();
        match (&model.content.equations, &drawn.general) {
            (ModelSystem::General(general), own) => {
                let formulas = Formulas { outputs, ..own.as_ref().unwrap_or(&general.formulas).clone() };
                ModelOutputs::of_general(&formulas.with_sought(sought), names)
            }
            (ModelSystem::Motion(motion), _) => motion.formulas.as_ref().map_or(ModelOutputs::None, |formulas| {
                let formulas = motion::Formulas { outputs, ..formulas.clone() };
                match sought {
                    [] => ModelOutputs::of_motion(&formulas),
                    _ => ModelOutputs::of_general(&Formulas::of_motion(&formulas).with_sought(sought), names),
                }
            }),
            (ModelSystem::Modes(_), _) => ModelOutputs::None,
        }
    }

    /// Those of equations of motion.
    pub fn of_motion(formulas: &motion::Formulas) -> Self {
        ModelOutputs::Motion(Box::new(motion::Outputs::new(formulas)))
    }

    /// Those of a general system whose solution has variables with these names.
    pub fn of_general(formulas: &Formulas, names: &[String]) -> Self {
        ModelOutputs::General(Box::new(GeneralOutputs::new(formulas, names)))
    }

    /// Their names.
    pub fn names(&self) -> &[String] {
        match self {
            ModelOutputs::None => &[],
            ModelOutputs::Motion(outputs) => outputs.names(),
            ModelOutputs::General(outputs) => &outputs.names,
        }
    }

    /// Their values at (t, x); `rates` is the derivative of x, where it is known.
    pub fn evaluate(&mut self, t: f64, x: &[f64], rates: Option<&[f64]>, values: &mut [f64]) {
        match self {
            ModelOutputs::None => {}
            ModelOutputs::Motion(outputs) => outputs.evaluate(t, x, values),
            ModelOutputs::General(outputs) => outputs.evaluate(t, x, rates, values),
        }
    }
}

/// The outputs of a general system.
pub struct GeneralOutputs {
    names: Vec<String>,
    tape: Tape,
    inputs: Vec<f64>,
    /// input of the graph, where its value comes from
    sources: Vec<(usize, OutputArgument)>,
}

#[derive(Clone, Copy)]
enum OutputArgument {
    /// Variable of the state.
    Variable(usize),
    /// Derivative of a variable of the state.
    Rate(usize),
}

impl GeneralOutputs {
    fn new(formulas: &Formulas, names: &[String]) -> Self {
        let (outputs, n) = (expressions(formulas), formulas.states.len());
        let mut inputs = vec![0.0; formulas.graph.inputs().len()];
        let first_parameter = 1 + n * (formulas.levels as usize + 1);
        for (input, (_, value)) in inputs[first_parameter..].iter_mut().zip(&formulas.parameters) {
            *input = *value;
        }
        let find = |state: usize, order: u32| {
            let name = format!("{}{}", formulas.states[state], "'".repeat(order as usize));
            names.iter().position(|known| *known == name)
        };
        let mut sources = Vec::new();
        for (state, order) in needed(formulas, &outputs) {
            let source = match (find(state, order), order) {
                (Some(j), _) => Some(OutputArgument::Variable(j)),
                (None, 0) => None,
                (None, _) => find(state, order - 1).map(OutputArgument::Rate),
            };
            let input = 1 + n * order as usize + state;
            inputs[input] = f64::NAN;
            sources.extend(source.map(|source| (input, source)));
        }
        let names = formulas.outputs.iter().map(|(name, _)| name.clone()).collect();
        GeneralOutputs { names, tape: Tape::new(&formulas.graph, &outputs), inputs, sources }
    }

    fn evaluate(&mut self, t: f64, x: &[f64], rates: Option<&[f64]>, values: &mut [f64]) {
        self.inputs[0] = t;
        for &(input, source) in &self.sources {
            self.inputs[input] = match source {
                OutputArgument::Variable(j) => x[j],
                OutputArgument::Rate(j) => rates.map_or(f64::NAN, |rates| rates.get(j).copied().unwrap_or(f64::NAN)),
            };
        }
        values.copy_from_slice(&self.tape.evaluate(&self.inputs));
    }
}

fn expressions(formulas: &Formulas) -> Vec<Expr> {
    formulas.outputs.iter().map(|(_, e)| *e).collect()
}

/// States and orders of the derivatives in formulas.
fn needed(formulas: &Formulas, outputs: &[Expr]) -> Vec<(usize, u32)> {
    let (graph, n) = (&formulas.graph, formulas.states.len());
    let last = n * (formulas.levels as usize + 1);
    let mut inputs: Vec<usize> = graph.dependencies(outputs).concat();
    inputs.sort_unstable();
    inputs.dedup();
    inputs.into_iter().filter(|i| (1..=last).contains(i)).map(|i| ((i - 1) % n, ((i - 1) / n) as u32)).collect()
}

/// Do the outputs of a general system need derivatives that are no unknowns? Those that a run does not know are refused.
pub fn needs_rates(formulas: &Formulas) -> Result<bool, Error> {
    let mut rates = false;
    for (output, e) in &formulas.outputs {
        for (state, order) in needed(formulas, &[*e]) {
            let highest = formulas.orders[state].max(1);
            if order > highest {
                let (output, state) = (output.clone(), formulas.states[state].clone());
                return Err(Error::OutputDerivative { output, state, order, highest });
            }
            rates |= order == highest;
        }
    }
    Ok(rates)
}

/// Writes down the derivatives of all unknowns at the points that are kept.
pub struct RateRecorder {
    save: Save,
    /// next time of [`Save::At`]
    next: usize,
    /// where steps are kept: their begins and ends, one after the other; otherwise the wanted times
    kept: Vec<(f64, Vec<f64>)>,
    end: Option<(f64, Vec<f64>)>,
    /// −1 backward in time
    sense: f64,
}

impl RateRecorder {
    /// Before the first step of a run over this interval.
    pub fn new(save: Save, (t0, tend): (f64, f64)) -> Self {
        RateRecorder { save, next: 0, kept: Vec::new(), end: None, sense: if tend < t0 { -1.0 } else { 1.0 } }
    }

    /// At the saved points, whose times these are. A break in time has two points, the end of a step and the begin of the next one.
    pub fn at(&self, times: &[f64]) -> Vec<Option<&[f64]>> {
        if !matches!(self.save, Save::Steps | Save::Dense) {
            return (0..times.len()).map(|k| self.kept.get(k).map(|(_, rates)| rates.as_slice())).collect();
        }
        let mut steps = self.kept.chunks_exact(2).peekable();
        let mut of_point = |t: f64| {
            let [begin, _] = steps.peek()? else { return None };
            if self.sense * t <= self.sense * begin.0 {
                return Some(begin.1.as_slice());
            }
            let [_, end] = steps.next()? else { return None };
            (t == end.0).then_some(end.1.as_slice())
        };
        times.iter().map(|&t| of_point(t)).collect()
    }

    /// At the last point, which has this time; none if no step ended there.
    pub fn end(&self, t: f64) -> Option<&[f64]> {
        self.end.as_ref().filter(|(time, _)| *time == t).map(|(_, rates)| rates.as_slice())
    }
}

impl<L> Observer<L> for RateRecorder {
    fn observe(&mut self, step: &StepView<L>) -> ControlFlow<()> {
        let at = |t: f64| (t, rates_of(step.segment, t));
        match &self.save {
            Save::Steps | Save::Dense => self.kept.extend([at(step.segment.t0), at(step.t)]),
            Save::At(times) => {
                while let Some(&t) = times.get(self.next).filter(|&&t| self.sense * t <= self.sense * step.t) {
                    self.kept.push(at(t));
                    self.next += 1;
                }
            }
            Save::End => {}
        }
        self.end = Some(at(step.t));
        ControlFlow::Continue(())
    }
}

/// The derivatives at the last point of a run through several modes.
#[derive(Default)]
pub struct LastRates {
    /// mode, state and derivative at the end of the last step
    last: Option<(usize, State, Vec<f64>)>,
}

impl LastRates {
    /// At this point; none if the last step ended elsewhere, as before a switch.
    pub fn at(&self, mode: usize, end: &State) -> Option<&[f64]> {
        let (_, _, rates) =
            self.last.as_ref().filter(|(of, at, _)| *of == mode && at.t == end.t && at.x.starts_with(&end.x))?;
        Some(rates)
    }
}

impl Observer<ActiveMode> for LastRates {
    fn observe(&mut self, step: &StepView<ActiveMode>) -> ControlFlow<()> {
        let state = State { t: step.t, x: step.x.to_vec() };
        self.last = Some((step.layout.mode, state, rates_of(step.segment, step.t)));
        ControlFlow::Continue(())
    }
}

/// The derivative of a polynomial.
pub fn rates_of(segment: &Segment, t: f64) -> Vec<f64> {
    let mut rates = vec![0.0; segment.dim()];
    segment.derivative(t, &mut rates);
    rates
}
