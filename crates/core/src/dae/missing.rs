//! Initial values that are not given, of systems whose equations show all constraints.
//!
//! Where every row with derivatives belongs to an unknown with a derivative, and the other rows determine the other unknowns, nothing has to be
//! analysed: a missing differential unknown is free, and is taken as zero; missing algebraic ones follow by Newton's iteration with the
//! pencil of the system, sparse where that is sparse. What is given is kept: if it cannot be, the general search decides.

use super::initial::values;
use super::ready::{Ready, ready};
use super::{Dae, Plain, Structure, System};
use crate::graph::Interpreted;
use crate::initial::{Initial, Start};
use crate::linalg::{IterationMatrix, RankRule};

/// Most iterations; starting values are zeros.
const MOST_ITERATIONS: usize = 30;
/// Relative steps below this are the last.
const SMALL_STEP: f64 = 1e-12;
/// Given values that move by more, relative to 1 + |x|, are not consistent.
const KEPT: f64 = 1e-9;

/// The same initial values with nothing missing, and the system that is ready there; nothing where more must be known.
pub(super) fn complete(system: &System, initial: &Initial, ranks: RankRule) -> Option<(Initial, Ready)> {
    let (n, first) = (system.dim(), &system.first);
    if initial.states.len() != system.formulas.states.len() || system.rows() != n {
        return None;
    }
    let starts = initial.starts(first);
    let missing: Vec<usize> = (0..n).filter(|&j| starts[j] == Start::Unknown).collect();
    if missing.is_empty() || !initial.conditions.is_empty() || !first.invariants.is_empty() {
        return None;
    }
    let structure = system.structure();
    let differential = structure.differentiated();
    let count = |flags: &[bool]| flags.iter().filter(|flag| **flag).count();
    if !structure.quasilinear() || count(&differential) + count(&structure.algebraic()) != n {
        return None;
    }
    let mut x = values(&starts[..n]);
    if missing.iter().any(|&j| !differential[j]) {
        let solved = algebraic(structure, initial.t, &x)?;
        let kept = |j: usize| starts[j] == Start::Unknown || (solved[j] - x[j]).abs() <= KEPT * (1.0 + x[j].abs());
        if !(0..n).all(kept) {
            return None;
        }
        for &j in &missing {
            x[j] = solved[j];
        }
    }
    let mut completed = Initial { single: Vec::new(), ..initial.clone() };
    for (j, &(state, order)) in first.origin.iter().enumerate() {
        let start = if starts[j] == Start::Unknown { Start::Guess(x[j]) } else { starts[j] };
        completed.set(state, order, start);
        if starts[n + j] != Start::Unknown {
            completed.set(state, order + 1, starts[n + j]);
        }
    }
    let ready = ready(system, &completed, ranks)?;
    Some((completed, ready))
}

/// Newton's iteration for the unknowns without derivatives from the rows without derivatives; the others stay.
fn algebraic(structure: &Structure, t: f64, x: &[f64]) -> Option<Vec<f64>> {
    let (n, without) = (x.len(), structure.algebraic());
    let mut plain = Plain::new(structure, &Interpreted, RankRule::default());
    let (mut x, zeros, mut step) = (x.to_vec(), vec![0.0; n], vec![0.0; n]);
    let mut pencil = plain.new_pencil();
    let mut matrix = IterationMatrix::<f64>::new(&pencil, without.clone());
    for _ in 0..MOST_ITERATIONS {
        plain.residual(0, t, &x, &zeros, &mut step).ok()?;
        plain.pencil(t, &x, &zeros, &mut pencil).ok()?;
        // E₁ δ = 0, F₂ + (∂F₂/∂x) δ = 0
        matrix.decompose(&pencil, 1.0, 0.0).ok()?;
        step.iter_mut().zip(&without).for_each(|(r, &algebraic)| *r = if algebraic { -*r } else { 0.0 });
        matrix.solve(&mut step);
        let mut largest = 0.0_f64;
        for (x, step) in x.iter_mut().zip(&step) {
            *x += step;
            largest = largest.max(step.abs() / (1.0 + x.abs()));
        }
        if !largest.is_finite() {
            return None;
        }
        if largest <= SMALL_STEP {
            return Some(x);
        }
    }
    None
}
