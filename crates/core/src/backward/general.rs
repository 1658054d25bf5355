//! General systems backward in time: F(−τ, x, −x', x'', …) = 0, by formulas.

use super::mirror::{Looking, Mirror, called};
use crate::dae::{Form, Formulas, InForm, System, Unknowns, prepare, refused};
use crate::error::SolveError;
use crate::graph::{Expr, Graph, Tape};
use crate::initial::{Initial, Start};
use crate::method::Integrator;
use crate::observer::Observer;
use crate::options::Options;
use crate::problem::Problem;
use crate::solution::Solution;
use crate::solve::Solver;

/// Solve a problem whose end lies before its start.
pub fn general(
    problem: &Problem<System>,
    form: Form,
    method: &dyn Integrator,
    options: &Options,
    observers: &mut [&mut dyn Observer<Unknowns>],
) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
    // the start is that of the system itself, and what is wrong with it is told in its time
    let system = problem.system;
    let start = prepare(system, &problem.initial, form).map_err(refused)?;
    let mirror = Mirror::new(start.names.iter().map(|name| sign_of(name, &system.formulas.states)).collect());
    let reversed = system.of_the_same_kind(&reversed(&system.formulas));
    let initial = turned(system, start.at.t, &start.at.x);
    drop(start);
    let events = mirror.events(&problem.events);
    let image = Problem { system: &reversed, initial, tend: -problem.tend, events, trusted: None };
    let mut looking: Vec<Looking<_>> =
        observers.iter_mut().map(|observer| Looking { mirror: &mirror, observer: &mut **observer }).collect();
    let mut looking: Vec<&mut dyn Observer<Unknowns>> =
        looking.iter_mut().map(|one| one as &mut dyn Observer<Unknowns>).collect();
    let outcome = InForm { form, integrator: method }.solve(&image, &Mirror::options(options), &mut looking);
    outcome.map(|solution| mirror.solution(solution)).map_err(|error| mirror.error(error))
}

/// (−1)^k for derivative k of a state, which is called by its name with k strokes.
fn sign_of(name: &str, states: &[String]) -> f64 {
    let strokes = |state: &String| name.strip_prefix(state.as_str()).filter(|rest| rest.chars().all(|c| c == '\''));
    let order = states.iter().filter_map(strokes).map(str::len).min().unwrap_or(0);
    if order % 2 == 0 { 1.0 } else { -1.0 }
}

/// A consistent point as the start of the reversed system.
fn turned(system: &System, t: f64, x: &[f64]) -> Initial {
    let Formulas { states, levels, .. } = &system.formulas;
    let mut initial = Initial {
        t: -t,
        states: vec![Start::Unknown; states.len()],
        derivatives: vec![vec![Start::Unknown; states.len()]; *levels as usize],
        ..Initial::default()
    };
    for (&(state, order), &x) in system.first.origin.iter().zip(x) {
        match order.checked_sub(1) {
            None => initial.states[state] = Start::Guess(x),
            Some(k) => initial.derivatives[k as usize][state] = Start::Guess(if order % 2 == 0 { x } else { -x }),
        }
    }
    initial
}

/// The formulas of the reversed system; their inputs say what they are: `(-t)`, `(-x')`.
fn reversed(formulas: &Formulas) -> Formulas {
    let mut image = formulas.clone();
    let blocks = |image: &mut Formulas, each: &mut dyn FnMut(&mut Expr)| {
        let all = image.equations.iter_mut().chain(&mut image.outputs).chain(&mut image.invariants);
        all.chain(&mut image.hidden).for_each(|(_, e)| each(e));
    };
    let mut all: Vec<Expr> = Vec::new();
    blocks(&mut image, &mut |e| all.push(*e));
    let tape = Tape::new(&formulas.graph, &all);
    let (n, last) = (formulas.states.len(), formulas.states.len() * (formulas.levels as usize + 1));
    let is_turned = |i: usize| i == 0 || ((1..=last).contains(&i) && ((i - 1) / n) % 2 == 1);
    let mut graph = Graph::new();
    let names: Vec<String> = formulas.graph.inputs().map(|(name, _)| name.to_string()).collect();
    let named = |(i, name): (usize, String)| graph.input(if is_turned(i) { called(&name) } else { name });
    let inputs: Vec<Expr> = names.into_iter().enumerate().map(named).collect();
    let mut values = graph.with(|| {
        let seen: Vec<Expr> = inputs.iter().enumerate().map(|(i, &x)| if is_turned(i) { -x } else { x }).collect();
        tape.evaluate(&seen).into_iter()
    });
    blocks(&mut image, &mut |e| *e = values.next().unwrap_or(*e));
    Formulas { graph, ..image }
}
