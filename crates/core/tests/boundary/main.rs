//! Boundary value problems against closed forms.

#![allow(non_snake_case)] // matrices have capitals

mod classic;
mod constrained;
mod control;
mod messages;
mod periodic;
mod random_systems;

use daedal::dae::{Formulas, System, highest_orders};
use daedal::graph::{Expr, Graph, Interpreted};
use daedal::{BoundarySolution, Options, Tolerance};

/// A first-order system with parameters: F(t, x, x', parameters) = 0.
fn system(
    states: &[&str],
    parameters: &[(&str, f64)],
    residual: impl FnOnce(Expr, &[Expr], &[Expr], &[Expr]) -> Vec<Expr>,
) -> System {
    let mut graph = Graph::new();
    let t = graph.input("t");
    let x: Vec<Expr> = states.iter().map(|name| graph.input(*name)).collect();
    let xdot: Vec<Expr> = states.iter().map(|name| graph.input(format!("{name}'"))).collect();
    let p: Vec<Expr> = parameters.iter().map(|(name, _)| graph.input(*name)).collect();
    let residuals = graph.with(|| residual(t, &x, &xdot, &p));
    let formulas = Formulas {
        orders: highest_orders(&graph, &residuals, states.len(), 1),
        graph,
        states: states.iter().map(ToString::to_string).collect(),
        levels: 1,
        equations: residuals.iter().enumerate().map(|(k, e)| (format!("equation {}", k + 1), *e)).collect(),
        parameters: parameters.iter().map(|(name, value)| (name.to_string(), *value)).collect(),
        ..Formulas::default()
    };
    System::new(&formulas, Interpreted)
}

fn options(tolerance: f64) -> Options {
    Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() }
}

/// The largest error of an unknown at the saved points.
fn error<L: Clone>(found: &BoundarySolution<L>, name: &str, exact: impl Fn(f64) -> f64) -> f64 {
    let solution = &found.solution;
    let j = solution.names.iter().position(|n| n == name).unwrap_or_else(|| panic!("no {name}"));
    (0..solution.len()).map(|k| (solution.state(k)[j] - exact(solution.times[k])).abs()).fold(0.0, f64::max)
}
