//! Undetermined unknowns: what is declared free keeps its initial value, everything else is a mistake.
//!
//! Where an equation was forgotten, any course of time satisfies the others, and a run that chooses one is wrong without a sign of it. A
//! free unknown is one of which that is said: ẋ_j = 0 is added for it, so that the rest is determined.

use super::characteristics::Bases;
use super::{AnalysisError, Characteristics, System};
use crate::linalg::rank::{Decomposed, RankRule, Scaling};
use faer::Mat;

/// Entries of the basis of what is undetermined below this are rounding.
const ROUNDING: f64 = 1e-8;

/// The system with ẋ = 0 for as many free unknowns as are undetermined, and their names; nothing where all are determined.
pub(super) fn completed(
    system: &System,
    found: &Characteristics,
) -> Result<Option<(System, Vec<String>)>, AnalysisError> {
    let u = found.values.u;
    if u == 0 {
        return Ok(None);
    }
    let projections = match found.projections(system) {
        Ok(projections) => projections,
        Err(too_large) => return Err(by_pivots(system, found).unwrap_or(too_large)),
    };
    let U = &projections.U;
    let free: Vec<usize> = (0..system.formulas.states.len())
        .filter(|&j| system.formulas.free.contains(&system.formulas.states[j]))
        .collect();
    let kept = independent(U, &free, found.ranks);
    if kept.len() < u {
        return Err(undetermined(system, found, &kept));
    }
    Ok(Some((system.held(&kept), kept.iter().map(|&j| system.names()[j].clone()).collect())))
}

/// Rows of a basis among the given ones that are independent, one after the other.
fn independent(U: &Mat<f64>, among: &[usize], rule: RankRule) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    for &j in among {
        let rows: Vec<usize> = chosen.iter().copied().chain([j]).collect();
        let part = Mat::from_fn(rows.len(), U.ncols(), |i, k| U[(rows[i], k)]);
        let size = (0..U.ncols()).map(|k| U[(j, k)].abs()).fold(0.0, f64::max);
        if size > ROUNDING && Decomposed::of(&part, Scaling::Rows, rule).is_some_and(|d| d.decision.rank == rows.len())
        {
            chosen = rows;
        }
    }
    chosen
}

/// What is missing, and what would help.
pub(super) fn undetermined(system: &System, found: &Characteristics, kept: &[usize]) -> AnalysisError {
    let projections = match found.projections(system) {
        Ok(projections) => projections,
        Err(too_large) => return by_pivots(system, found).unwrap_or(too_large),
    };
    let (U, Z3) = (&projections.U, &projections.Z3);
    let size = |j: usize| (0..U.ncols()).map(|k| U[(j, k)].abs()).fold(0.0, f64::max);
    let names = system.names();
    // states without derivatives are what one leaves free, if anything
    let moves = system.structure().differentiated();
    let mut order: Vec<usize> = (0..system.formulas.states.len()).filter(|j| !kept.contains(j)).collect();
    order.sort_by(|&i, &j| moves[i].cmp(&moves[j]).then(size(j).total_cmp(&size(i))));
    let candidates: Vec<usize> = kept.iter().copied().chain(order).collect();
    let proposed = independent(U, &candidates, found.ranks);
    let rows = system.row_names();
    let top = (0..Z3.ncols()).flat_map(|k| (0..Z3.nrows()).map(move |i| Z3[(i, k)].abs())).fold(0.0, f64::max);
    let repeats = |i: usize| {
        (0..Z3.nrows()).filter(|r| r % rows.len() == i).any(|r| (0..Z3.ncols()).any(|k| Z3[(r, k)].abs() > 1e-6 * top))
    };
    AnalysisError::Undetermined {
        t: found.t,
        unknowns: (0..names.len()).filter(|&j| size(j) > ROUNDING).map(|j| names[j].clone()).collect(),
        missing: found.values.u - kept.len(),
        sizes: (system.formulas.equations.len(), system.formulas.states.len()),
        dependent: (0..rows.len()).filter(|&i| repeats(i)).map(|i| rows[i].clone()).collect(),
        free: proposed.into_iter().map(|j| names[j].clone()).collect(),
    }
}

/// The same of a large system, by unknowns and equations without pivots; nothing where bases are known.
fn by_pivots(system: &System, found: &Characteristics) -> Option<AnalysisError> {
    let Bases::Pivots(pivots) = &found.bases else { return None };
    let (names, rows) = (system.names(), system.row_names());
    let unknowns: Vec<String> = pivots.undetermined.iter().map(|&j| names[j].clone()).collect();
    let mut dependent: Vec<usize> = pivots.redundant.iter().map(|i| i % rows.len()).collect();
    dependent.sort_unstable();
    dependent.dedup();
    Some(AnalysisError::Undetermined {
        t: found.t,
        free: unknowns.clone(),
        unknowns,
        missing: found.values.u,
        sizes: (system.formulas.equations.len(), system.formulas.states.len()),
        dependent: dependent.into_iter().map(|i| rows[i].clone()).collect(),
    })
}
