//! Initial values that are not given, of systems whose equations show all constraints.
//!
//! Where every row with derivatives belongs to an unknown with a derivative, and the other rows determine the other unknowns, nothing has to be
//! analysed: a missing differential unknown is free, and is taken as zero; missing algebraic ones follow as after a jump, the differential
//! part being kept. What is given is kept: if it cannot be, the general search decides.

use super::initial::values;
use super::ready::{Ready, ready, solve};
use super::{Dae, Plain, System};
use crate::graph::{Compiler, Interpreted};
use crate::hybrid::{Restart, make_consistent};
use crate::initial::{Initial, Start};
use crate::linalg::RankRule;
use crate::linalg::rank::AT_POINT;
use std::sync::Arc;

/// Most iterations for algebraic unknowns of large systems, and how often one of them is halved. Chosen: Newton's iteration doubles digits.
const MOST: usize = 30;
const HALVED: usize = 8;
/// Newton's iteration has ended where it moves unknowns by less, relative to 1 + |x|.
const SETTLED: f64 = 1e-13;
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
        if system.is_large() {
            solve_algebraic(&mut plain, initial.t, &mut solved, &differential, ranks)?;
        } else {
            make_consistent(&mut plain, initial.t, &mut solved, &mut zeros, keep, &[], &weights, ranks).ok()?;
        }
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

/// Unknowns without derivatives from the rows without, by Newton's iteration with sparse matrices; the others stay. Nothing where these rows do not
/// determine them, or where the iteration does not converge.
fn solve_algebraic(plain: &mut Plain, t: f64, x: &mut [f64], differential: &[bool], ranks: RankRule) -> Option<()> {
    let n = x.len();
    let (zeros, mut G) = (vec![0.0; n], vec![0.0; n]);
    let rows: Vec<usize> = (0..n).filter(|&i| plain.algebraic(i)).collect();
    let columns: Vec<usize> = (0..n).filter(|&j| !differential[j]).collect();
    let mut place = vec![usize::MAX; n];
    columns.iter().enumerate().for_each(|(k, &j)| place[j] = k);
    plain.residual(0, t, x, &zeros, &mut G).ok()?;
    for _ in 0..MOST {
        let [_, slopes] = plain.slopes_by_row(t, x, &zeros).ok()?;
        let own = |i: usize| {
            let known = slopes[i].iter().map(|&(j, slope)| (place[j], slope));
            known.filter(|(k, _)| *k != usize::MAX).collect::<Vec<_>>()
        };
        // rows of one size, so that what is left of them can be compared
        let sizes: Vec<f64> =
            rows.iter().map(|&i| own(i).iter().fold(f64::MIN_POSITIVE, |top, e| top.max(e.1.abs()))).collect();
        let left = |G: &[f64]| rows.iter().zip(&sizes).fold(0.0, |top: f64, (&i, size)| top.max((G[i] / size).abs()));
        let before = left(&G);
        let mut step: Vec<f64> = rows.iter().map(|&i| -G[i]).collect();
        solve(rows.iter().map(|&i| own(i)).collect(), &mut step, true, ranks.or(AT_POINT))?;
        let start: Vec<f64> = columns.iter().map(|&j| x[j]).collect();
        let mut part = 1.0;
        for halved in 0..=HALVED {
            columns.iter().zip(&start).zip(&step).for_each(|((&j, start), step)| x[j] = start + part * step);
            let defined = plain.residual(0, t, x, &zeros, &mut G).is_ok();
            if defined && (left(&G) <= before || halved == HALVED) {
                break;
            }
            part *= 0.5;
        }
        let moved = columns.iter().zip(&step).all(|(&j, step)| step.abs() <= SETTLED * (1.0 + x[j].abs()));
        if moved || left(&G) == 0.0 {
            return Some(());
        }
    }
    None
}
