//! Is a stated invariant one? Its rate along the equations, relative to the terms of it.
//!
//! de/dt = ∂e/∂t + Σ ∂e/∂x_j ẋ_j at consistent points with their derivatives: at the start, where it may vanish by chance, at points beside it, and
//! along the accepted steps with the rates that the equations give. An invariant that is none would be enforced against the equations.

use super::System;
use super::characteristics::{AnalysisError, Characteristics, Depth, characterise_at};
use super::hidden::{MinimalArray, Role};
use super::problem::derivatives;
use crate::analysis::random::Random;
use crate::error::StepFailure;
use crate::graph::{Compiler, Expr, Kernel, Tape};

/// A rate above this part of its terms is one, at points that are consistent up to rounding.
const REMAINS: f64 = 1e-6;
/// The same at accepted steps: the rate of an invariant vanishes wherever the constraints hold, and these are corrected far below the
/// tolerance, to about its square.
const REMAINS_LATER: f64 = 1e-5;
/// Terms below this part of what the largest derivative would make are rounding.
const ROUNDING: f64 = 1e-10;
/// A drift that the rates add up to, relative to the terms of the invariant itself, that tells a rate from rounding.
const DRIFT: f64 = 1e-6;
/// Points beside the start.
const BESIDE: usize = 3;

/// Stop where a stated invariant is none, at the start or beside it.
pub(super) fn check(system: &System, found: &Characteristics) -> Result<(), AnalysisError> {
    let mut first = system.first.bound();
    let formulas: Vec<Expr> = first.invariants.iter().map(|(_, e)| *e).collect();
    if formulas.is_empty() {
        return Ok(());
    }
    let variables: Vec<Expr> = std::iter::once(first.t).chain(first.x.iter().copied()).collect();
    let slopes = first.graph.jacobian(&formulas, &variables);
    let tape = Tape::new(&first.graph, &slopes.entries);
    let mut inputs = vec![0.0; first.graph.inputs().len()];
    let mut look = |t: f64, x: &[f64], xdot: &[f64]| {
        inputs[first.place(first.t)] = t;
        let unknowns = first.x.iter().chain(&first.xdot).zip(x.iter().chain(xdot));
        unknowns.for_each(|(&e, &value)| inputs[first.place(e)] = value);
        let (mut rates, mut terms) = (vec![0.0; formulas.len()], vec![0.0; formulas.len()]);
        let mut possible = vec![0.0_f64; formulas.len()];
        let fastest = xdot.iter().fold(0.0_f64, |top, d| top.max(d.abs()));
        for ((i, j, _), slope) in slopes.iter().zip(tape.evaluate(&inputs)) {
            let term = if j == 0 { slope } else { slope * xdot[j - 1] };
            (rates[i], terms[i]) = (rates[i] + term, terms[i] + f64::abs(term));
            possible[i] += slope.abs() * if j == 0 { 1.0 } else { fastest };
        }
        let counts = |i: &usize| terms[*i] > ROUNDING * possible[*i] && rates[*i].abs() > REMAINS * terms[*i];
        let found = (0..formulas.len()).find(counts);
        let named = |i: usize| {
            let (name, rate, terms) = (system.first.invariants[i].0.clone(), rates[i].abs(), terms[i]);
            AnalysisError::NotInvariant { t, name, rate, terms }
        };
        found.map_or(Ok(()), |i| Err(named(i)))
    };
    look(found.t, found.x(), &derivatives(system, found))?;
    let (mut array, mut random) = (system.array(), Random::default());
    for _ in 0..BESIDE {
        let x: Vec<f64> = found.x().iter().map(|x| x + 1e-2 * (1.0 + x.abs()) * random.next()).collect();
        let depth = Depth { most: found.values.mu + 1, confirm: false, ranks: found.ranks };
        if let Ok(there) = characterise_at(system, &mut array, found.t, &x, depth)
            && there.values == found.values
        {
            look(found.t, there.x(), &derivatives(system, &there))?;
        }
    }
    Ok(())
}

/// Rates of invariants along the steps of a minimal reduced derivative array.
pub(super) struct Invariance {
    names: Vec<String>,
    /// terms of all rates, then of all values, and which invariant each belongs to
    terms: Box<dyn Kernel>,
    of: Vec<usize>,
    values: Vec<f64>,
    sums: Vec<Sums>,
    last: f64,
}

/// What is known about one invariant.
#[derive(Clone, Copy, Default)]
struct Sums {
    rate: f64,
    terms: f64,
    largest_terms: f64,
    /// size of the terms of its value
    size: f64,
    /// what the rates add up to
    drift: f64,
}

impl Sums {
    fn remains(&self) -> bool {
        self.rate.abs() > REMAINS_LATER * self.largest_terms
    }
}

impl Invariance {
    /// Nothing without invariants of unknowns that have rates.
    pub fn new(array: &MinimalArray, compiler: &dyn Compiler) -> Option<Self> {
        let mut graph = array.graph.clone();
        let invariants: Vec<&super::hidden::Constraint> =
            array.constraints.iter().filter(|c| c.role == Role::Invariant).collect();
        if invariants.is_empty() {
            return None;
        }
        let residuals: Vec<Expr> = invariants.iter().map(|c| c.residual).collect();
        let rates: Vec<Expr> = array.rates.iter().flatten().copied().collect();
        let bound = graph.bind(&[&residuals[..], &rates].concat(), &array.parameters);
        let (residuals, mut rates) = (bound[..residuals.len()].to_vec(), bound[residuals.len()..].iter().copied());
        let rates: Vec<Option<Expr>> = array.rates.iter().map(|rate| rate.and_then(|_| rates.next())).collect();
        let variables: Vec<Expr> = std::iter::once(array.t).chain(array.unknowns.iter().copied()).collect();
        let slopes = graph.jacobian(&residuals, &variables);
        // what contains an unknown without a rate is looked at before the run only
        let hidden = |i: usize| slopes.iter().any(|(row, j, _)| row == i && j > 0 && rates[j - 1].is_none());
        let seen: Vec<usize> = (0..invariants.len()).filter(|&i| !hidden(i)).collect();
        let (mut terms, mut sizes, mut of) = (Vec::new(), Vec::new(), Vec::new());
        graph.with(|| {
            for (i, j, slope) in slopes.iter() {
                if let Some(place) = seen.iter().position(|&k| k == i) {
                    terms.push(if j == 0 { slope } else { rates[j - 1].map_or(slope, |rate| slope * rate) });
                    sizes.push(slope * variables[j]);
                    of.push(place);
                }
            }
        });
        terms.extend(sizes);
        Some(Invariance {
            names: seen.iter().map(|&i| invariants[i].equation.clone()).collect(),
            terms: compiler.compile(&graph, &terms),
            values: vec![0.0; 2 * of.len()],
            sums: vec![Sums::default(); seen.len()],
            last: f64::NAN,
            of,
        })
    }

    /// Does the rate of an invariant seem not to vanish? The inputs are those of the array.
    pub fn suspicious(&mut self, inputs: &[f64]) -> bool {
        self.terms.call(inputs, &mut self.values);
        self.sums.iter_mut().for_each(|sum| (sum.rate, sum.terms, sum.size) = (0.0, 0.0, 0.0));
        let (terms, sizes) = self.values.split_at(self.of.len());
        for ((&i, term), size) in self.of.iter().zip(terms).zip(sizes) {
            let sum = &mut self.sums[i];
            (sum.rate, sum.terms, sum.size) = (sum.rate + term, sum.terms + term.abs(), sum.size + size.abs());
        }
        // at a turning point all terms are small
        self.sums.iter_mut().for_each(|sum| sum.largest_terms = sum.largest_terms.max(sum.terms));
        self.sums.iter().any(Sums::remains)
    }

    /// Stop where the rate of an invariant does not vanish, by the rates that were looked at last.
    pub fn step(&mut self, t: f64) -> Result<(), StepFailure> {
        let h = if self.last.is_nan() { 0.0 } else { (t - self.last).abs() };
        self.last = t;
        for (sum, name) in self.sums.iter_mut().zip(&self.names) {
            let remains = sum.remains();
            sum.drift += if remains { sum.rate.abs() * h } else { 0.0 };
            if remains && sum.drift > DRIFT * sum.size {
                return Err(StepFailure::NotInvariant {
                    t,
                    name: name.clone(),
                    rate: sum.rate.abs(),
                    terms: sum.terms,
                });
            }
        }
        Ok(())
    }
}
