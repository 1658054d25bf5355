//! Derivatives combined: the modes share their constraints and their terms with ẋ, and what is left is combined with the weights.
//!
//! F = E(t, x) ẋ + φ(t, x) in every mode, with the same E and the same rows of φ where E has none: Σ weights (E ẋ + φ) = F⁰ + Σ weights (φ − φ⁰),
//! whose leading terms do not contain α. Wunderlich, thesis (2008), (5.33).

use super::difference::difference;
use super::equal::equal;
use super::vertices::{Images, Vertices};
use super::{SlidingError, reduced};
use crate::dae::Arrangement;
use crate::graph::{Expr, Graph, Jacobian};
use std::collections::BTreeMap;

/// The combination, without surfaces.
pub(super) fn combine(mut vertices: Vertices) -> Result<Arrangement, SlidingError> {
    let (x, xdot) = (vertices.x.clone(), vertices.xdot.clone());
    let images = Images { x: &x, xdot: &xdot, parameters: None };
    let modes: Vec<Vec<Expr>> = (0..vertices.modes.len()).map(|k| vertices.equations(k, &images)).collect();
    let leading: Vec<Jacobian> = modes.iter().map(|rows| vertices.graph.jacobian(rows, &xdot)).collect();
    if let Some((mode, row)) = not_shared(&vertices.graph, &modes, &leading, &xdot) {
        let row = vertices.rows[row].clone();
        if vertices.alpha.len() > 1 {
            return Err(SlidingError::Intersection { row, modes: [0, mode] });
        }
        return reduced::combine(vertices, &leading, row);
    }
    let zero: Vec<(Expr, f64)> = xdot.iter().map(|&e| (e, 0.0)).collect();
    let rest: Vec<Vec<Expr>> = modes.iter().map(|rows| vertices.graph.bind(rows, &zero)).collect();
    let surfaces: Vec<usize> = (0..vertices.alpha.len()).collect();
    let mut rows = modes[0].clone();
    for (k, other) in rest.iter().enumerate().skip(1) {
        let weight = vertices.weight(k, &surfaces);
        for (i, row) in rows.iter_mut().enumerate() {
            let jump = difference(&mut vertices.graph, other[i], rest[0][i]);
            vertices.graph.with(|| *row += weight * jump);
        }
    }
    Ok(vertices.arrangement(rows))
}

/// The first mode and row that does not share its leading terms, or is another constraint than in mode 0.
fn not_shared(graph: &Graph, modes: &[Vec<Expr>], leading: &[Jacobian], xdot: &[Expr]) -> Option<(usize, usize)> {
    let by_row = |jacobian: &Jacobian| {
        let mut rows = vec![BTreeMap::new(); jacobian.rows];
        for (i, j, e) in jacobian.iter() {
            rows[i].insert(j, e);
        }
        rows
    };
    let first = by_row(&leading[0]);
    // terms that are not linear in ẋ are not combined
    let needs = |e: Expr| graph.needed(&[e]);
    let nonlinear = |e: Expr| needs(e).iter().any(|input| xdot.contains(input));
    if let Some(row) = first.iter().position(|row| row.values().any(|&e| nonlinear(e))) {
        return Some((1, row));
    }
    for (mode, rows) in modes.iter().enumerate().skip(1) {
        for (i, (own, other)) in first.iter().zip(by_row(&leading[mode])).enumerate() {
            let shared = own.keys().eq(other.keys())
                && own.iter().all(|(j, &e)| equal(graph, e, other[j]))
                && (!own.is_empty() || equal(graph, modes[0][i], rows[i]));
            if !shared {
                return Some((mode, i));
            }
        }
    }
    None
}
