//! What is given about the start of a general system, and consistent values from it.

use super::jet::{Conditions, Freedom};
use super::{FirstOrder, System};
use crate::graph::Expr;
use crate::motion::Start;

/// Initial values of a general system at time t.
///
/// What is fixed holds, guesses are kept as far as the equations allow, the rest is computed.
///
/// ```
/// use daedal::dae::Initial;
/// let initial = Initial::new(0.0, &[1.0, 0.0, 0.0]).fix(0, 1.0);
/// assert_eq!(initial.states.len(), 3);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Initial {
    /// Initial time.
    pub t: f64,
    /// The states.
    pub states: Vec<Start>,
    /// Their derivatives of orders 1, 2, …; what is not given is unknown.
    pub derivatives: Vec<Vec<Start>>,
    /// Names and residuals of further equations that must hold at the start, in the graph of the formulas.
    pub conditions: Vec<(String, Expr)>,
}

impl Initial {
    /// Guesses for all states.
    pub fn new(t: f64, states: &[f64]) -> Self {
        Initial { t, states: states.iter().map(|&x| Start::Guess(x)).collect(), ..Initial::default() }
    }

    /// A state that holds.
    #[must_use]
    pub fn fix(mut self, state: usize, value: f64) -> Self {
        self.states[state] = Start::Fixed(value);
        self
    }

    /// A state that is to be computed.
    #[must_use]
    pub fn unknown(mut self, state: usize) -> Self {
        self.states[state] = Start::Unknown;
        self
    }

    /// A guess for a state.
    #[must_use]
    pub fn guess(mut self, state: usize, value: f64) -> Self {
        self.states[state] = Start::Guess(value);
        self
    }

    /// Start of a derivative of a state, the state itself having order 0.
    fn start(&self, state: usize, order: u32) -> Start {
        let block = if order == 0 { Some(&self.states) } else { self.derivatives.get(order as usize - 1) };
        block.and_then(|block| block.get(state)).copied().unwrap_or(Start::Unknown)
    }

    /// Starts of (x, ẋ) of the first-order form.
    pub(super) fn starts(&self, first: &FirstOrder) -> Vec<Start> {
        let x = first.origin.iter().map(|&(state, order)| self.start(state, order));
        let xdot = first.origin.iter().map(|&(state, order)| self.start(state, order + 1));
        x.chain(xdot).collect()
    }
}

/// Values to begin an iteration with.
pub(super) fn values(starts: &[Start]) -> Vec<f64> {
    starts.iter().map(|start| if let Start::Fixed(x) | Start::Guess(x) = start { *x } else { 0.0 }).collect()
}

/// Guesses are held first, and released if that is impossible.
pub(super) fn freedoms(starts: &[Start], released: bool) -> Vec<Freedom> {
    let guess = if released { Freedom::Protected } else { Freedom::Held };
    starts
        .iter()
        .map(|start| match start {
            Start::Fixed(_) => Freedom::Held,
            Start::Guess(_) => guess,
            Start::Unknown => Freedom::Free,
        })
        .collect()
}

/// The conditions, compiled.
pub(super) fn conditions(system: &System, initial: &Initial) -> Option<Conditions> {
    if initial.conditions.is_empty() {
        return None;
    }
    // the same inputs, whatever the conditions added to the graph
    let first = &system.first;
    let mut graph = first.graph.clone();
    let formulas: Vec<Expr> = initial.conditions.iter().map(|(_, e)| *e).collect();
    let formulas = graph.bind(&formulas, &first.parameters);
    let variables = [&first.x[..], &first.xdot].concat();
    let jacobian = graph.jacobian(&formulas, &variables);
    let inputs = std::iter::once(first.t).chain(variables).map(|e| first.place(e)).collect();
    Some(Conditions {
        values: system.compiler.compile(&graph, &formulas),
        entries: system.compiler.compile(&graph, &jacobian.entries),
        places: jacobian.iter().map(|(i, j, _)| (i, j)).collect(),
        count: formulas.len(),
        inputs,
        width: graph.inputs().len(),
    })
}
