//! What is given about the start of a general system, and consistent values from it.

use super::jet::Conditions;
use super::{FirstOrder, System};
use crate::consistent::Freedom;
use crate::graph::Expr;
use crate::initial::{BadInitial, Condition, Initial, Residual, Start};
use crate::linalg::RankRule;
use crate::linalg::rank::AT_POINT;

impl Initial {
    /// Start of a derivative of a state, the state itself having order 0.
    pub fn start(&self, state: usize, order: u32) -> Start {
        let block = if order == 0 { Some(&self.states) } else { self.derivatives.get(order as usize - 1) };
        block.and_then(|block| block.get(state)).copied().unwrap_or(Start::Unknown)
    }

    /// Write the start of a derivative of a state, the state itself having order 0.
    pub fn set(&mut self, state: usize, order: u32, start: Start) {
        let (states, order) = (self.states.len(), order as usize);
        if self.derivatives.len() < order {
            self.derivatives.resize(order, vec![Start::Unknown; states]);
        }
        let block = if order == 0 { &mut self.states } else { &mut self.derivatives[order - 1] };
        block[state] = start;
    }

    /// Starts of (x, ẋ) of the first-order form, as far as they belong to it.
    pub fn starts(&self, first: &FirstOrder) -> Vec<Start> {
        self.starts_or_mistake(first).0
    }

    /// Does all that is given belong to this system?
    pub(super) fn check(&self, first: &FirstOrder) -> Result<(), BadInitial> {
        self.is_general()?;
        self.starts_or_mistake(first).1
    }

    /// The same, of a system.
    pub(crate) fn check_names(&self, system: &System) -> Result<(), BadInitial> {
        self.check(&system.first)
    }

    fn starts_or_mistake(&self, first: &FirstOrder) -> (Vec<Start>, Result<(), BadInitial>) {
        let x = first.origin.iter().map(|&(state, order)| self.start(state, order));
        let xdot = first.origin.iter().map(|&(state, order)| self.start(state, order + 1));
        let mut starts: Vec<Start> = x.chain(xdot).collect();
        let rates = first.names.iter().map(|name| format!("{name}'"));
        let names: Vec<String> = first.names.iter().cloned().chain(rates).collect();
        let shown: Vec<usize> = (0..names.len()).collect();
        let written = self.write_single(&names, &shown, &mut starts);
        (starts, written)
    }
}

/// Values to begin an iteration with.
pub(super) fn values(starts: &[Start]) -> Vec<f64> {
    starts.iter().map(|start| if let Start::Fixed(x) | Start::Guess(x) = start { *x } else { 0.0 }).collect()
}

/// Guesses are held first, and released if that is impossible; the rest of a jet of some width is free.
pub(super) fn freedom(starts: &[Start], released: bool, width: usize, ranks: RankRule) -> Freedom {
    let (mut fixed, mut guessed, mut free) = (Vec::new(), Vec::new(), Vec::new());
    for j in 0..width {
        match starts.get(j) {
            Some(Start::Fixed(_)) => fixed.push(j),
            Some(Start::Guess(_)) if released => guessed.push(j),
            Some(Start::Guess(_)) => fixed.push(j),
            Some(Start::Unknown) | None => free.push(j),
        }
    }
    Freedom {
        fixed,
        classes: vec![guessed, free],
        units: None,
        kept: None,
        tau: ranks.or(AT_POINT),
        independent: false,
        equilibrated: true,
        damped: false,
    }
}

/// The conditions, compiled.
pub(super) fn conditions(system: &System, initial: &Initial) -> Option<Conditions> {
    if initial.conditions.is_empty() {
        return None;
    }
    let formula = |condition: &Condition| match condition.residual {
        Residual::Formula(formula) => Some(formula),
        Residual::Function(_) => None,
    };
    // the same inputs, whatever the conditions added to the graph
    let first = &system.first;
    let mut graph = first.graph.clone();
    let formulas: Vec<Expr> = initial.conditions.iter().filter_map(formula).collect();
    let formulas = graph.bind(&formulas, &first.parameters);
    let variables = [&first.x[..], &first.xdot].concat();
    let jacobian = graph.jacobian(&formulas, &variables);
    let inputs = std::iter::once(first.t).chain(variables).map(|e| first.place(e)).collect();
    Some(Conditions {
        values: system.compiler.compile(&graph, &formulas),
        entries: system.compiler.compile(&graph, &jacobian.entries),
        places: jacobian.iter().map(|(i, j, _)| (i, j)).collect(),
        slopes: vec![0.0; jacobian.entries.len()],
        count: formulas.len(),
        inputs,
        width: graph.inputs().len(),
    })
}
