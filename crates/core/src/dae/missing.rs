//! Initial values that are not given, of systems whose equations show all constraints.
//!
//! Where every row with derivatives belongs to an unknown with a derivative, and the other rows determine the other unknowns, nothing has to be
//! analysed: a missing differential unknown is free, and is taken as zero; missing algebraic ones follow as after a jump, the differential
//! part being kept. What is given is kept: if it cannot be, the general search decides.

use super::initial::values;
use super::ready::{Ready, ready};
use super::{Plain, System};
use crate::graph::{Compiler, Interpreted};
use crate::hybrid::{Restart, make_consistent};
use crate::initial::{Initial, Start};
use crate::linalg::RankRule;
use std::sync::Arc;

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
        let compiler: Arc<dyn Compiler> = Arc::new(Interpreted);
        let (mut solved, mut plain) = (x.clone(), Plain::new(structure, &compiler, ranks, system.matrices));
        let (mut zeros, weights) = (vec![0.0; n], vec![1.0; n]);
        let keep = Restart::Differential;
        make_consistent(&mut plain, initial.t, &mut solved, &mut zeros, keep, &[], &weights, ranks).ok()?;
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
