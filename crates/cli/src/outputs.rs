//! Output formulas of a model file at points of its solution.
//!
//! In a general system they may contain derivatives. Those that are unknowns of the solver are taken from the state, the others are
//! the derivative of the polynomial over the step: at the end of a step of Radau IIa they satisfy the equations, between the steps and at the
//! start they are less accurate than the states.

use crate::failure::Failure;
use crate::setup::{Equations, Setup};
use daedal::Save;
use daedal::dae::Formulas;
use daedal::graph::{Expr, Tape};
use daedal::motion;
use daedal::observer::{Observer, StepView};
use std::ops::ControlFlow;

/// The outputs of a model.
pub enum Outputs {
    /// There are none.
    None,
    Motion(Box<motion::Outputs>),
    General(Box<General>),
}

impl Outputs {
    /// Those of a model whose solution has variables with these names.
    pub fn new(setup: &Setup, names: &[String]) -> Self {
        match &setup.equations {
            Equations::Motion(motion) => motion.formulas.as_ref().map_or(Outputs::None, Outputs::of_motion),
            Equations::General(general) => Outputs::of_general(&general.system.formulas, names),
            Equations::Hybrid(_) => Outputs::None,
        }
    }

    /// Those of equations of motion.
    pub fn of_motion(formulas: &motion::Formulas) -> Self {
        Outputs::Motion(Box::new(motion::Outputs::new(formulas)))
    }

    /// Those of a general system whose solution has variables with these names.
    pub fn of_general(formulas: &Formulas, names: &[String]) -> Self {
        Outputs::General(Box::new(General::new(formulas, names)))
    }

    /// Their names.
    pub fn names(&self) -> &[String] {
        match self {
            Outputs::None => &[],
            Outputs::Motion(outputs) => outputs.names(),
            Outputs::General(outputs) => &outputs.names,
        }
    }

    /// Their values at (t, x); `rates` is the derivative of x, where it is known.
    pub fn evaluate(&mut self, t: f64, x: &[f64], rates: Option<&[f64]>, values: &mut [f64]) {
        match self {
            Outputs::None => {}
            Outputs::Motion(outputs) => outputs.evaluate(t, x, values),
            Outputs::General(outputs) => outputs.evaluate(t, x, rates, values),
        }
    }
}

/// The outputs of a general system.
pub struct General {
    names: Vec<String>,
    tape: Tape,
    inputs: Vec<f64>,
    /// input of the graph, where its value comes from
    sources: Vec<(usize, Source)>,
}

#[derive(Clone, Copy)]
enum Source {
    /// Variable of the state.
    Variable(usize),
    /// Derivative of a variable of the state.
    Rate(usize),
}

impl General {
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
                (Some(j), _) => Some(Source::Variable(j)),
                (None, 0) => None,
                (None, _) => find(state, order - 1).map(Source::Rate),
            };
            let input = 1 + n * order as usize + state;
            inputs[input] = f64::NAN;
            sources.extend(source.map(|source| (input, source)));
        }
        let names = formulas.outputs.iter().map(|(name, _)| name.clone()).collect();
        General { names, tape: Tape::new(&formulas.graph, &outputs), inputs, sources }
    }

    fn evaluate(&mut self, t: f64, x: &[f64], rates: Option<&[f64]>, values: &mut [f64]) {
        self.inputs[0] = t;
        for &(input, source) in &self.sources {
            self.inputs[input] = match source {
                Source::Variable(j) => x[j],
                Source::Rate(j) => rates.map_or(f64::NAN, |rates| rates[j]),
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
    let mut inputs: Vec<usize> = outputs.iter().flat_map(|&e| graph.depends_on(e)).collect();
    inputs.sort_unstable();
    inputs.dedup();
    inputs.into_iter().filter(|i| (1..=last).contains(i)).map(|i| ((i - 1) % n, ((i - 1) / n) as u32)).collect()
}

/// Do the outputs of a general system need derivatives that are no unknowns? Those that a run does not know are refused.
pub fn needs_rates(formulas: &Formulas) -> Result<bool, Failure> {
    let mut rates = false;
    for (output, e) in &formulas.outputs {
        for (state, order) in needed(formulas, &[*e]) {
            let highest = formulas.orders[state].max(1);
            if order > highest {
                let (output, state) = (output.clone(), formulas.states[state].clone());
                return Err(Failure::OutputDerivative { output, state, order, highest });
            }
            rates |= order == highest;
        }
    }
    Ok(rates)
}

/// Writes down the derivatives of all unknowns at the points that are kept.
pub struct Rates {
    save: Save,
    /// next time of [`Save::At`]
    next: usize,
    kept: Vec<Vec<f64>>,
    end: Option<Vec<f64>>,
}

impl Rates {
    /// Before the first step.
    pub fn new(save: Save) -> Self {
        Rates { save, next: 0, kept: Vec::new(), end: None }
    }

    /// At saved point k.
    pub fn at(&self, k: usize) -> Option<&[f64]> {
        self.kept.get(k).map(Vec::as_slice)
    }

    /// At the last point.
    pub fn end(&self) -> Option<&[f64]> {
        self.end.as_deref()
    }
}

impl<L> Observer<L> for Rates {
    fn observe(&mut self, step: &StepView<L>) -> ControlFlow<()> {
        let at = |t: f64| {
            let mut rates = vec![0.0; step.segment.dim()];
            step.segment.derivative(t, &mut rates);
            rates
        };
        match &self.save {
            Save::Steps | Save::Dense => {
                if self.kept.is_empty() {
                    self.kept.push(at(step.segment.t0));
                }
                self.kept.push(at(step.t));
            }
            Save::At(times) => {
                while let Some(&t) = times.get(self.next).filter(|&&t| t <= step.t) {
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
